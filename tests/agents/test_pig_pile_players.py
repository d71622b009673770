"""The hand-written players of Pig Pile: legal, as good as their grades say, and each with its defining behaviour."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from pigenv import registry
from pigenv.agent import Decisions, find_agent
from pigenv.agents.pig_pile import PLAYERS
from pigenv.agents.uniform import uniform
from pigenv.errors import AgentError
from pigenv.game import RUNNING, Game
from pigenv.kernel import COMPILED
from pigenv.table import EPISODE, Table, player_loops, set_seed
from tests.strategies import pig_pile_rules

GRADES = tuple(PLAYERS)
ALL_PLAYERS = (("uniform", uniform), *PLAYERS.items())
INTERVAL = 1.96  # standard errors in half a 95 % interval


def play_games(game: Game, line_ups: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Play a match for each row of `line_ups` (indices in ALL_PLAYERS by seat); returns states and episodes.

    Matches of the same seed have the same deals.
    """
    loops = player_loops(game.definition, ALL_PLAYERS)
    count = len(line_ups)
    states, views = np.zeros(count, game.definition.state), np.zeros(1, game.definition.state)
    masks, rewards = np.zeros((count, game.num_actions), np.int8), np.zeros((count, game.num_players), np.float32)
    episodes = np.zeros(count, EPISODE)
    for number in range(count):
        set_seed(episodes[number], seed, number)
    episodes["player"][:, : game.num_players] = line_ups
    loops.start_tables(states, game.row, episodes, np.ones(count, bool))
    loops.settle_tables(states, game.row, episodes, views, masks, rewards)
    return states, episodes


def win_shares(game: Game, agent: int, others: int, deals: int) -> np.ndarray:
    """An agent's share of the win in each match, mean over all its seats, the others being copies of another."""
    shares = np.zeros((deals, game.num_players))
    for seat in range(game.num_players):
        line_ups = np.full((deals, game.num_players), others)
        line_ups[:, seat] = agent
        won = play_games(game, line_ups, seed=7)[0]["won"][:, : game.num_players]
        best = won == won.max(axis=1, keepdims=True)
        shares[:, seat] = best[:, seat] / best.sum(axis=1)
    return shares.mean(axis=1)


def test_legal_under_random_rules() -> None:
    """No player ever chooses an illegal action under rules drawn at random, and every match comes to its end."""
    generator = random.Random(11)
    for seed in range(60 if COMPILED else 3):
        num_players = generator.randint(2, 6)
        game = registry.make("pig_pile", num_players, rules=pig_pile_rules(generator, num_players))
        line_ups = np.random.default_rng(seed).integers(0, len(ALL_PLAYERS), (4, num_players))
        states, episodes = play_games(game, line_ups, seed)
        assert (episodes["offender"] == -1).all()
        assert (states["over"] != RUNNING).all()


def choices(player: str, hands: list[list[str]], pile: list[str], keys: int = 50, **rules: Any) -> set[str]:
    """All that a player at seat 0 chooses with these hands and this pile, nothing on the table and no stock."""
    game = registry.make("pig_pile", len(hands), rules={"face_up": "random", **rules})
    row, state = game.row[0], np.zeros(1, game.definition.state)
    game.definition.deal(state[0], row)
    names = ["W" if number == 0 else str(number) for number in row["number"][: row["num_kinds"]]]
    for name in ("hand", "known", "up", "up_size", "down_size", "seen", "unknown", "proved", "proofs"):
        state[name] = 0
    state["dealt"], state["seat"], state["turn"] = row["pack_size"], 0, 1
    for seat, hand in enumerate(hands):
        state["hand_size"][0, seat] = len(hand)
        for card in hand:
            state["hand"][0, seat, names.index(card)] += 1
            state["seen"][0, names.index(card)] += 1
    # Everybody saw all cards where they are.
    state["known"] = state["hand"]
    for place, card in enumerate(pile):
        state["pile"][0, place] = names.index(card)
        state["in_pile"][0, names.index(card)] += 1
        state["seen"][0, names.index(card)] += 1
    state["pile_size"] = len(pile)
    mask = np.zeros((1, game.num_actions), np.int8)
    game.definition.legal(state[0], row, mask[0])
    bits = np.random.default_rng(3).integers(0, 2**64, keys, np.uint64)
    decisions = Decisions(
        game, np.repeat(state, keys), np.zeros(keys, np.int8), np.repeat(mask, keys, axis=0), bits
    )  # fmt: skip
    return {game.action_texts[action] for action in find_agent(f"pig_pile/{player}").act(decisions)}


OTHERS = [["1", "2", "3"], ["1", "2", "3"], ["1", "2", "3"]]


@pytest.mark.parametrize("player", GRADES)
def test_plays_low_cards_and_all_of_them(player: str) -> None:
    """Every player lays the lowest number that fits, all it has of it, and keeps its Hog Wild."""
    assert choices(player, [["2", "2", "9", "12", "W"], *OTHERS], ["1"]) == {"2x2"}


@pytest.mark.parametrize("player", GRADES)
def test_hog_wild_is_for_need(player: str) -> None:
    """A Hog Wild is laid where nothing else fits, and only there."""
    assert choices(player, [["2", "W"], *OTHERS], ["9"]) == {"Wx1"}
    assert choices(player, [["9", "W"], *OTHERS], ["9"]) == {"9x1"}


def test_low_does_not_care_for_washes() -> None:
    """Low plays a 7 on two 9s' place where careful would wash: it looks at the number alone."""
    assert choices("low", [["9", "10", "12"], *OTHERS], ["9", "9"]) == {"9x1"}
    assert choices("low", [["6", "8"], *OTHERS], ["1", "2", "3", "4", "5", "6"]) == {"6x1"}


def test_careful_washes_a_large_pile() -> None:
    """Careful washes a large pile with a third equal card rather than lay a lower number."""
    pile = ["1", "2", "3", "4", "5", "6", "1", "2", "3", "7", "7"]
    assert choices("careful", [["7", "8"], *OTHERS], pile) == {"7x1"}


def test_careful_lays_its_best_cards_face_up() -> None:
    """Careful lays Hog Wilds and high numbers face up, not low ones."""
    table = Table(registry.make("pig_pile"))
    table.start(4)
    shown: list[str] = []
    kept: list[str] = []
    for _ in range(3):
        view, mask = table.view(table.seat), table.masks.copy()
        decisions = Decisions(table.game, view, np.array([table.seat], np.int8), mask, np.ones(1, np.uint64))
        action = int(find_agent("pig_pile/careful").act(decisions)[0])
        shown.append(table.game.action_texts[action].removeprefix("show "))
        kept = [text.removeprefix("show ") for text in map(table.game.action_texts.__getitem__, table.legal_actions())]
        table.step(action)
    ranks = [*map(str, range(1, 13)), "W"]
    assert min(map(ranks.index, shown)) >= min(map(ranks.index, kept))


def test_other_games_are_refused() -> None:
    """A player of Pig Pile does not sit down to another game."""
    with pytest.raises(AgentError, match="plays pig_pile, not pig10"):
        find_agent("pig_pile/low", registry.make("pig10"))


@pytest.mark.skipif(not COMPILED, reason="needs thousands of matches")
@pytest.mark.parametrize("grade", range(1, len(ALL_PLAYERS)))
@pytest.mark.parametrize("num_players", [3, 4, 6])
def test_each_grade_beats_the_one_before(grade: int, num_players: int) -> None:
    """One of a grade among copies of the grade below wins more than its share, with a 95 % interval clear of chance."""
    game = registry.make("pig_pile", num_players=num_players)
    shares = win_shares(game, grade, grade - 1, deals=300 if grade < len(ALL_PLAYERS) - 1 else 4000)
    half = INTERVAL * shares.std(ddof=1) / np.sqrt(len(shares))
    assert shares.mean() - half > 1 / num_players


@pytest.mark.skipif(not COMPILED, reason="needs thousands of rounds")
@pytest.mark.parametrize(
    ("preset", "player", "least", "most"),
    [("jp", "uniform", 167, 233), ("jp", "low", 78, 102), ("en", "uniform", 178, 273), ("en", "low", 95, 100)],
)
def test_rounds_are_as_long_as_they_should_be(preset: str, player: str, least: int, most: int) -> None:
    """Mean turns of a round at 3 to 6 seats are those of an independent simulation, which left Hog Wilds apart."""
    index = [name for name, _ in ALL_PLAYERS].index(player)
    for num_players in range(3, 7):
        game = registry.make("pig_pile", num_players, preset, rules={"rounds": 1})
        states, _ = play_games(game, np.full((1000, num_players), index), seed=3)
        assert least - 10 < states["turn"].mean() < most + 10, num_players
