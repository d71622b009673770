"""Our games as OpenSpiel games: its own checks pass, its exact algorithms run, and search is held against them."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import policy as policies
from open_spiel.python.algorithms import best_response, expected_game_score, exploitability, ismcts, mcts
from open_spiel.python.bots import uniform_random

from pigenv import registry
from pigenv.adapters import openspiel
from pigenv.agent import Agent, Decisions, find_agent
from pigenv.agents.search import Search
from pigenv.errors import OptionError, UnknownNameError
from pigenv.evaluate.exploitability import nash_conv
from pigenv.evaluate.match import play_match
from pigenv.game import RUNNING
from pigenv.render.text import draw_text
from pigenv.table import Table

TINY: dict[str, Any] = {
    "num_players": 2,
    "rules": {"deck_counts": [1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0], "hand_size": 2, "target": 5, "max_turns": 5},
}
"""Pig 10 with five cards: some two thousand histories, the stock of one card among them."""


@pytest.fixture(scope="module")
def tiny() -> openspiel.OpenSpielGame:
    return openspiel.load_game("pig10", **TINY)


def walk(state: Any, visit: Callable[[Any], None]) -> None:
    """Visit every history."""
    visit(state)
    if not state.is_terminal():
        actions = [action for action, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
        for action in actions:
            walk(state.child(action), visit)


def random_state(game: Any, generator: random.Random, steps: int) -> Any:
    """A state some steps after the deal, at random; at an end if the game is shorter."""
    state = game.new_initial_state()
    while state.is_chance_node() or (steps > 0 and not state.is_terminal()):
        if state.is_chance_node():
            state.apply_action(generator.choices(*zip(*state.chance_outcomes(), strict=True))[0])
        else:
            steps -= 1
            state.apply_action(generator.choice(state.legal_actions()))
    return state


def one_round(preset: tuple[str, str]) -> openspiel.OpenSpielGame:
    """The game of a preset, a single round of it: their checks take the square of its length."""
    rules = {"rounds": 1} if registry.make(preset[0], preset=preset[1]).rules.to_json().get("rounds", 1) != 1 else {}
    return openspiel.load_game(preset[0], preset=preset[1], rules=rules)


# --- as a game --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", [(d.id, p) for d in registry.definitions() for p in d.presets], ids="-".join)
def test_their_own_checks(preset: tuple[str, str]) -> None:
    """OpenSpiel's random simulations, which compare clones, histories, returns and tensors, pass for every preset."""
    pyspiel.random_sim_test(one_round(preset), num_sims=2, serialize=False, verbose=False)


def test_found_by_name() -> None:
    """The game is registered with OpenSpiel, and its parameters say which one it is."""
    game = pyspiel.load_game("pigenv(game=pig10,preset=mini)")
    assert game.num_players() == 2
    rules = {"hand_size": 2, "max_turns": 9}
    game = pyspiel.load_game("pigenv", {"game": "pig10", "num_players": 3, "rules": json.dumps(rules)})
    assert game.house.game == registry.make("pig10", 3, rules=rules)
    assert game.max_game_length() == 9


def test_deals_are_all_and_as_likely_as_they_are(tiny: openspiel.OpenSpielGame) -> None:
    """Two hands of two and a card left, from five different cards, and either seat first: 60 deals, equally likely."""
    outcomes = tiny.new_initial_state().chance_outcomes()
    assert len(outcomes) == 2 * 10 * 3
    assert {probability for _, probability in outcomes} == {1 / 60}


def test_equal_cards_make_likelier_deals() -> None:
    """A deal is as likely as the orders of the pack that lead to it are many: a pair in a hand halves it."""
    rules = {"deck_counts": [1, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0], "hand_size": 2, "target": 5, "first_player": 0}
    game = openspiel.load_game("pig10", num_players=2, rules=rules)
    exact = {json.dumps(deal): probability for deal, probability in game.house.deals}
    assert sum(exact.values()) == pytest.approx(1)
    table, counts, n = Table(registry.make("pig10", 2, rules=rules)), defaultdict(int), 6000
    for number in range(n):
        table.start(5, number)
        deal = table.deal()
        counts[json.dumps({**deal, "hands": [sorted(hand) for hand in deal["hands"]]})] += 1
    assert set(counts) == set(exact)
    assert min(exact.values()) < max(exact.values())
    for deal, probability in exact.items():
        assert abs(counts[deal] / n - probability) < 5 * np.sqrt(probability / n)


def test_history_replays_as_our_table_plays(tiny: openspiel.OpenSpielGame) -> None:
    """A game ends with the returns, and on the way shows the pictures and masks, of our own table dealt the same."""
    generator = random.Random(3)
    table = Table(tiny.house.game)
    for _ in range(30):
        state = random_state(tiny, generator, 99)
        history = state.full_history()
        table.start(1, 0, [tiny.house.deals[history[0].action][0]])
        again = tiny.new_initial_state()
        again.apply_action(history[0].action)
        for each in history[1:]:
            assert again.current_player() == table.seat == each.player
            assert again.legal_actions() == table.legal_actions()
            for seat in range(2):
                assert again.observation_string(seat) == draw_text(table.scene(seat))
                assert (np.array(again.observation_tensor(seat), np.float32) == table.observe(seat)).all()
            table.step(each.action)
            again.apply_action(each.action)
        assert table.over != RUNNING
        assert state.returns() == table.rewards[0].tolist()


def test_large_games_are_dealt_by_keys() -> None:
    """A game with too many deals to list has four chance nodes, and differs from deal to deal."""
    game = openspiel.load_game("pig10")
    state = game.new_initial_state()
    for _ in range(4):
        assert len(state.chance_outcomes()) == 256
        state.apply_action(7)
    assert not state.is_chance_node()
    generator = random.Random(1)
    assert len({random_state(game, generator, 0).information_state_string(0) for _ in range(10)}) == 10


def test_dice_are_no_shuffle(toy: str) -> None:
    """A game whose deals are no orders of one pack is dealt by keys too, and a game from elsewhere works."""
    game = openspiel.load_game(toy)
    assert not game.house.deals
    pyspiel.random_sim_test(game, num_sims=2, serialize=False, verbose=False)


def test_wrong_use() -> None:
    """An unknown game, rules that are no JSON, and a reward without bounds are refused."""
    with pytest.raises(UnknownNameError):
        openspiel.load_game("pig11")
    with pytest.raises(OptionError, match="JSON"):
        openspiel.OpenSpielGame({"game": "pig10", "rules": "{"})
    with pytest.raises(OptionError, match="win or rank"):
        openspiel.load_game("pig10", reward="score")
    game = openspiel.load_game("pig10", **TINY, max_length=2)
    with pytest.raises(OptionError, match="max_length"):
        random_state(game, random.Random(0), 99).information_state_tensor(0)


# --- information states -----------------------------------------------------------------------------------------------


def test_information_states_are_what_was_seen(tiny: openspiel.OpenSpielGame) -> None:
    """Two histories are one information state of a seat exactly if it saw and heard the same and played the same.

    What was seen is taken from the pictures that the seat would have been shown, and what was heard from what is called
    out at the table, not from the views.
    """
    house = tiny.house
    by_string: dict[tuple[int, str], set[Any]] = defaultdict(set)
    by_seen: dict[tuple[int, Any], set[str]] = defaultdict(set)
    tensors: dict[tuple[int, str], set[bytes]] = defaultdict(set)

    def visit(state: Any) -> None:
        if state.is_chance_node():
            return
        before = tiny.new_initial_state()
        seen: list[list[Any]] = [[], []]
        for each in state.full_history():
            then = before._state.copy()
            before.apply_action(each.action)
            called = ""
            if each.player >= 0:
                text = house.game.action_texts[each.action]
                called = house.game.definition.call_out(then[0], before._state[0], house.row, text)
            for seat in range(2):
                own = each.action if each.player == seat else None
                seen[seat].append((own, called, before.observation_string(seat)))
        for seat in range(2):
            name, what = state.information_state_string(seat), tuple(seen[seat])
            by_string[seat, name].add(what)
            by_seen[seat, what].add(name)
            tensors[seat, name].add(np.array(state.information_state_tensor(seat), np.float32).tobytes())

    walk(tiny.new_initial_state(), visit)
    assert len(by_string) > 1000
    assert {len(each) for each in by_string.values()} == {1}
    assert {len(each) for each in by_seen.values()} == {1}
    assert {len(each) for each in tensors.values()} == {1}
    for seat in range(2):
        distinct = [tensor for (owner, _), (tensor,) in tensors.items() if owner == seat]
        assert len(set(distinct)) == len(distinct)


@pytest.mark.parametrize("preset", [(d.id, p) for d in registry.definitions() for p in d.presets], ids="-".join)
def test_resampled_states_are_the_same_to_the_player(preset: tuple[str, str]) -> None:
    """A resampled state shows the player the same, is not always the truth, and can be played to its end."""
    game, generator = one_round(preset), random.Random(5)
    for steps in (0, 1, 2, 3):
        state = random_state(game, generator, steps)
        if state.is_terminal():
            continue
        player = state.current_player()
        drawn = [state.resample_from_infostate(player, generator.random) for _ in range(8)]
        for each in drawn:
            assert each.information_state_string(player) == state.information_state_string(player)
            assert each.observation_string(player) == state.observation_string(player)
            assert each.legal_actions() == state.legal_actions()
            assert each.history() == []
            while not each.is_terminal():
                each.apply_action(
                    each.chance_outcomes()[0][0] if each.is_chance_node() else generator.choice(each.legal_actions())
                )


def test_resampling_varies(tiny: openspiel.OpenSpielGame) -> None:
    """At the first decision every hand that the other may hold is drawn."""
    state = tiny.new_initial_state()
    state.apply_action(0)
    player, generator = state.current_player(), random.Random(0)
    drawn = [state.resample_from_infostate(player, generator.random) for _ in range(200)]
    assert len({each.observation_string(1 - player) for each in drawn}) == 3


def test_their_information_set_search_runs(tiny: openspiel.OpenSpielGame) -> None:
    """OpenSpiel's own information-set search plays the game with our resampler."""
    chance = np.random.RandomState(0)
    bot = ismcts.ISMCTSBot(tiny, mcts.RandomRolloutEvaluator(1, chance), 1.0, 50, random_state=chance)
    state = random_state(tiny, random.Random(2), 0)
    assert bot.step(state) in state.legal_actions()


def test_a_bot_as_an_agent() -> None:
    """An OpenSpiel bot plays a match of ours without a fault."""
    agent = openspiel.BotAgent(
        lambda game, seat: uniform_random.UniformRandomBot(seat, np.random.RandomState(seat)), "their uniform"
    )
    games = play_match(registry.make("pig10", preset="mini"), [agent, find_agent("uniform")], 3, 1)
    assert games.faults == ()


# --- exact values -----------------------------------------------------------------------------------------------------


class AgentPolicy(policies.Policy):
    """One of our agents as OpenSpiel takes policies: the action that it chooses has probability 1."""

    def __init__(self, game: openspiel.OpenSpielGame, agent: Agent) -> None:
        super().__init__(game, [0, 1])
        self.agent, self.known = agent, {}

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        player = state.current_player() if player_id is None else player_id
        name = state.information_state_string(player)
        if name not in self.known:
            legal = state.legal_actions(player)
            mask = np.zeros((1, self.game.num_distinct_actions()), np.int8)
            mask[0, legal] = 1
            key = np.array([len(self.known) + 1], np.uint64)
            decisions = Decisions(self.game.house.game, state.view(player), np.array([player], np.int8), mask, key)
            chosen = int(self.agent.act(decisions)[0])
            self.known[name] = {action: float(action == chosen) for action in legal}
        return self.known[name]


def value(game: openspiel.OpenSpielGame, line_up: list[Any], seat: int) -> float:
    """What a seat gets on average, exactly."""
    return float(expected_game_score.policy_value(game.new_initial_state(), line_up)[seat])


def test_search_finds_the_exact_best_response(tiny: openspiel.OpenSpielGame) -> None:
    """Against uniform play, search that takes the other to play so gets what OpenSpiel's best response gets."""
    uniform = policies.UniformRandomPolicy(tiny)
    search = AgentPolicy(tiny, Search(sims=3000, others="playout", playout=find_agent("uniform"), depth=0, threads=1))
    for seat in range(2):
        best = best_response.BestResponsePolicy(tiny, seat, uniform).value(tiny.new_initial_state())
        line_up: list[Any] = [uniform, uniform]
        line_up[seat] = search
        found = value(tiny, line_up, seat)
        assert value(tiny, [uniform, uniform], seat) < best - 0.2
        assert best - 0.01 < found < best + 1e-9


def test_search_is_hard_to_exploit(tiny: openspiel.OpenSpielGame) -> None:
    """What a best response gains on search is a small part of what it gains on uniform or on hand-written play."""
    search = AgentPolicy(tiny, Search(sims=3000, others="search", playout=find_agent("uniform"), depth=0, threads=1))
    gains = {
        name: exploitability.nash_conv(tiny, policy)
        for name, policy in {
            "search": search,
            "uniform": policies.UniformRandomPolicy(tiny),
            "greedy": AgentPolicy(tiny, find_agent("pig10/greedy")),
        }.items()
    }
    assert gains["search"] < 0.5 * gains["uniform"]
    assert gains["search"] < gains["greedy"]


class ByCalls:
    """An odd policy that OpenSpiel can have too: how likely an action is depends on its number and the legal ones."""

    name = "odd"

    @staticmethod
    def shares(legal: list[int]) -> dict[int, float]:
        weights = {action: 1 + (3 * action + len(legal)) % 5 for action in legal}
        return {action: weight / sum(weights.values()) for action, weight in weights.items()}

    def reset(self, seed: int) -> None:
        """Remembers nothing."""

    def act(self, decisions: Decisions) -> np.ndarray:
        return decisions.action_masks.argmax(axis=1)

    def probabilities(self, decisions: Decisions) -> np.ndarray:
        found = np.zeros(decisions.action_masks.shape)
        for row, mask in zip(found, decisions.action_masks, strict=True):
            for action, share in self.shares(np.flatnonzero(mask).tolist()).items():
                row[action] = share
        return found


class ByCallsThere(policies.Policy):
    """The same policy as OpenSpiel takes policies."""

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        legal = state.legal_actions(state.current_player() if player_id is None else player_id)
        return ByCalls.shares(legal)


def assert_same_nash_conv(base: str, **settings: Any) -> None:
    """Our NashConv of two policies is OpenSpiel's to 1e-9, and so is what each seat gets."""
    game, house = openspiel.load_game(base, **settings), registry.make(base, **settings)
    players = list(range(house.num_players))
    theirs = {"uniform": policies.UniformRandomPolicy(game), "odd": ByCallsThere(game, players)}
    for name, ours in {"uniform": find_agent("uniform"), "odd": ByCalls()}.items():
        found = nash_conv(ours, house)
        assert found["nash_conv"] == pytest.approx(exploitability.nash_conv(game, theirs[name]), abs=1e-9)
        for seat in players:
            expected = value(game, [theirs[name]] * len(players), seat)
            assert found["value"][seat] == pytest.approx(expected, abs=1e-9)
        assert found["nash_conv"] > 0.01


@pytest.mark.parametrize("num_players", [2, 3])
def test_nash_conv_is_theirs(num_players: int) -> None:
    """Exploitability computed here is what OpenSpiel computes, for even and for odd play, at two and three seats."""
    rules = {"deck_counts": [1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0], "hand_size": 1, "target": 5, "max_turns": 4}
    assert_same_nash_conv("pig10", num_players=num_players, rules=rules)


@pytest.mark.nightly
@pytest.mark.parametrize("base", ["pig10", "pigs_tail", "pig_pile"])
def test_nash_conv_of_mini_is_theirs(base: str) -> None:
    """The same on the mini preset of each game."""
    assert_same_nash_conv(base, preset="mini")


@pytest.mark.nightly
def test_mini_has_the_histories_it_says() -> None:
    """Each `mini` preset of the game with listed deals has at most about a million histories, the number it states."""
    game = openspiel.load_game("pig10", preset="mini")
    count = [0]

    def visit(state: Any) -> None:
        count[0] += 1

    walk(game.new_initial_state(), visit)
    assert f"{count[0]:,}" in registry.definition("pig10").presets["mini"].meaning


@pytest.mark.nightly
def test_search_finds_the_exact_best_response_of_mini() -> None:
    """The same on the mini preset, whose tree is a hundred times as large."""
    game = openspiel.load_game("pig10", preset="mini")
    uniform = policies.UniformRandomPolicy(game)
    search = AgentPolicy(game, Search(sims=3000, others="playout", playout=find_agent("uniform"), depth=0, threads=1))
    best = best_response.BestResponsePolicy(game, 0, uniform).value(game.new_initial_state())
    found = value(game, [search, uniform], 0)
    assert best - 0.02 < found < best + 1e-9


# --- what every adapter must keep -------------------------------------------------------------------------------------


def random_game(game: Any, seed: int) -> tuple[Any, list[int]]:
    """A game at random, and its actions after the deal."""
    generator, actions = random.Random(seed), []
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(generator.choices(*zip(*state.chance_outcomes(), strict=True))[0])
        else:
            actions.append(generator.choice(state.legal_actions()))
            state.apply_action(actions[-1])
    return state, actions


def test_masks_are_obeyed_for_1000_games(tiny: openspiel.OpenSpielGame) -> None:
    """OpenSpiel's legal actions are what our kernels say, in every position of 1,000 games."""
    for seed in range(1000):
        generator, state = random.Random(seed), tiny.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(generator.choices(*zip(*state.chance_outcomes(), strict=True))[0])
                continue
            view = state.view(state.current_player())
            mask = np.zeros(tiny.num_distinct_actions(), np.int8)
            tiny.house.game.definition.legal(view[0], tiny.house.row, mask)
            assert state.legal_actions() == np.flatnonzero(mask).tolist()
            state.apply_action(generator.choice(state.legal_actions()))


def test_seeds_reproduce() -> None:
    """The same choices at the chance nodes and the table give the same game, others another."""
    game = openspiel.load_game("pig10", preset="small")
    assert random_game(game, 1)[1] == random_game(game, 1)[1]
    assert random_game(game, 1)[1] != random_game(game, 2)[1]
