"""The hand-written players of Pig 10: legal, as good as their grades say, and each with its defining behaviour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from pigenv import registry
from pigenv.agent import Agent, Decisions, find_agent
from pigenv.agents.pig10 import PLAYERS
from pigenv.agents.uniform import uniform
from pigenv.game import RUNNING, Game
from pigenv.games.pig10 import EMPTY, MAX_HAND, NUM_VALUES, UNKNOWN
from pigenv.kernel import COMPILED
from pigenv.table import EPISODE, player_loops, set_seed

GRADES = tuple(PLAYERS)
ALL_PLAYERS = (("uniform", uniform), *PLAYERS.items())
INTERVAL = 1.96  # standard errors in half a 95 % interval

RULES: list[tuple[int, str, dict[str, Any]]] = [
    (2, "standard", {}),
    (5, "standard", {"five_clamp": True, "winner_leads": True, "leftover": "last_player"}),
    (3, "standard", {"same_rule": "off", "hand_size": 1}),
    (4, "standard", {"same_rule": "previous", "hand_size": MAX_HAND}),
    (6, "standard", {"same_rule": "value", "target": 10, "first_player": 2, "max_turns": 17}),
    (8, "standard", {"hand_size": 5, "leftover": "last_winner"}),
    (2, "mini", {}),
    (3, "small", {"five_clamp": True}),
    (3, "small", {"five_clamp": True, "same_rule": "previous", "winner_leads": True}),
    (2, "standard", {"target": 1, "deck_counts": [5, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0]}),
    (4, "standard", {"deck_counts": [0, 0, 0, 0, 0, 0, 0, 0, 0, 40, 3], "hand_size": 10}),
    (3, "standard", {"target": 7, "deck_counts": [3, 0, 9, 0, 5, 9, 2, 1, 0, 0, 0], "winner_leads": True}),
    (4, "standard", {"deck_counts": [0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0], "hand_size": 1, "winner_leads": True}),
]


def play_games(game: Game, line_ups: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Play a game for each row of `line_ups` (indices in ALL_PLAYERS by seat); returns states and episodes.

    Games of the same seed have the same deals.
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
    """An agent's share of the win in each deal, mean over all its seats, the others being copies of another."""
    shares = np.zeros((deals, game.num_players))
    for seat in range(game.num_players):
        line_ups = np.full((deals, game.num_players), others)
        line_ups[:, seat] = agent
        taken = play_games(game, line_ups, seed=7)[0]["taken"][:, : game.num_players]
        best = taken == taken.max(axis=1, keepdims=True)
        shares[:, seat] = best[:, seat] / best.sum(axis=1)
    return shares.mean(axis=1)


def decisions_at(
    game: Game, hand: Sequence[int], pile: Sequence[int], value: int, gone: Mapping[int, int], keys: int
) -> Decisions:
    """The same decision of seat 0 with different keys; `gone` says which cards were played before the pile."""
    view = np.zeros(1, game.definition.state)
    row = game.row[0]
    played = [gone.get(card, 0) + list(pile).count(card) for card in range(NUM_VALUES)]
    view["hand"] = view["pack"] = UNKNOWN
    view["hand"][0, 0, : len(hand)] = hand
    left = int(row["pack_size"]) - sum(played) - len(hand)
    others = min(len(hand), left // (game.num_players - 1))
    view["hand_size"][0, : game.num_players] = [len(hand), *[others] * (game.num_players - 1)]
    view["played"][0] = played
    view["pile"][0, : len(pile)] = pile
    view["pile_size"], view["value"] = len(pile), value if pile else EMPTY
    view["dealt"] = sum(played) + int(view["hand_size"].sum())
    mask = np.zeros((1, game.num_actions), np.int8)
    game.definition.legal(view[0], row, mask[0])
    random = np.random.default_rng(3).integers(0, 2**64, keys, np.uint64)
    return Decisions(game, np.repeat(view, keys), np.zeros(keys, np.int8), np.repeat(mask, keys, axis=0), random)


def choices(
    player: str,
    hand: Sequence[int],
    pile: Sequence[int] = (),
    value: int = EMPTY,
    gone: Mapping[int, int] | None = None,
) -> set[str]:
    """The texts of all actions that a player chooses in a position at a table of four."""
    game = registry.make("pig10")
    actions = agent_of(player).act(decisions_at(game, hand, pile, value, gone or {}, keys=200))
    return {game.action_texts[action] for action in actions}


def agent_of(player: str) -> Agent:
    return find_agent(f"pig10/{player}")


@pytest.mark.parametrize(("num_players", "preset", "rules"), RULES, ids=[str(i) for i in range(len(RULES))])
def test_legal_under_all_rules(num_players: int, preset: str, rules: dict[str, Any]) -> None:
    """No player ever chooses an illegal action, whatever the rules, and every game comes to its end."""
    game = registry.make("pig10", num_players=num_players, preset=preset, rules=rules)
    line_ups = np.random.default_rng(1).integers(0, len(ALL_PLAYERS), (20 if COMPILED else 2, num_players))
    states, episodes = play_games(game, line_ups, seed=5)
    assert (episodes["offender"] == -1).all()
    assert (states["over"] != RUNNING).all()


def test_legal_under_random_rules() -> None:
    """No player ever chooses an illegal action under rules and packs drawn at random."""
    random = np.random.default_rng(11)
    for seed in range(60 if COMPILED else 5):
        target = int(random.integers(1, 11))
        counts = [int(random.integers(1, 9)) if card <= target else 0 for card in range(NUM_VALUES)]
        players = int(random.integers(2, 9))
        rules = {
            "deck_counts": counts,
            "target": target,
            "hand_size": int(random.integers(1, 1 + min(MAX_HAND, max(1, sum(counts) // players)))),
            "winner_leads": bool(random.integers(2)),
            "five_clamp": bool(random.integers(2)),
            "same_rule": str(random.choice(["both", "value", "previous", "off"])),
        }
        if sum(counts) < players:
            continue
        game = registry.make("pig10", num_players=players, rules=rules)
        line_ups = random.integers(0, len(ALL_PLAYERS), (4, players))
        states, episodes = play_games(game, line_ups, seed)
        assert (episodes["offender"] == -1).all(), rules
        assert (states["over"] != RUNNING).all(), rules


@pytest.mark.parametrize("player", GRADES)
def test_makes_ten(player: str) -> None:
    """Every player makes ten where it can, also by opening with a 10's like on a value of 0."""
    assert choices(player, [3, 0, 1], [4, 3], 7) == {"3"}
    assert choices(player, [10, 1, 2], [4, 3, 0], 0) == {"10"}
    assert choices(player, [5, 1, 2], [1, 4], 5) == {"5"}


@pytest.mark.parametrize("player", GRADES[:2])
def test_does_not_bust_if_it_can_avoid_it(player: str) -> None:
    """Greedy and careful play the one card that stays below ten, in whatever way that is."""
    assert choices(player, [9, 4, 1], [5, 3], 8) == {"1"}
    assert choices(player, [9, 4, 8], [5, 3], 8) == {"8="}
    assert choices(player, [9, 7, 5], [5, 3], 8) == {"5-"}
    assert choices(player, [9, 7, 0], [5, 3], 8) == {"0"}


def test_greedy_is_indifferent() -> None:
    """Greedy chooses among all safe plays, and among all busts, by chance."""
    assert choices("greedy", [1, 2, 3], [0], 0) == {"1", "2", "3"}
    assert choices("greedy", [6, 7, 8], [4, 5], 9) == {"6", "7", "8"}


def test_careful_counts() -> None:
    """Careful leaves the value from which fewest unseen cards make ten, whichever cards those are."""
    assert choices("careful", [1, 2, 3], gone={9: 8}) == {"1"}
    assert choices("careful", [1, 2, 3], gone={8: 7}) == {"2"}
    assert choices("careful", [1, 2, 3], gone={7: 1}) == {"3"}
    assert choices("careful", [1, 2, 3], gone={7: 1, 8: 1}) == {"2", "3"}


def test_careful_throws_the_highest_card_away() -> None:
    """Where careful must go bust, it does so with its highest card."""
    assert choices("careful", [6, 7, 8], [4, 5], 9) == {"8"}


def test_counting_forces_a_bust() -> None:
    """Counting sees that the next seat can only go bust, where careful sees no difference."""
    only_nines = {card: count for card, count in enumerate((5, 8, 7, 8, 8, 5, 8, 8, 8, 0, 4)) if count}
    assert choices("careful", [0, 2, 9], [0], 0, gone=only_nines) == {"0", "2", "9"}
    assert choices("counting", [0, 2, 9], [0], 0, gone=only_nines) == {"2"}


@pytest.mark.parametrize("player", ["uniform", *GRADES])
def test_batch_is_one_by_one(player: str) -> None:
    """A player chooses the same for a batch of decisions as for each of them alone."""
    game = registry.make("pig10")
    agent = find_agent("uniform") if player == "uniform" else agent_of(player)
    batch = decisions_at(game, [1, 2, 5], [5], 5, {}, keys=50)
    alone = [
        agent.act(
            Decisions(game, batch.views[i : i + 1], batch.seats[:1], batch.action_masks[:1], batch.keys[i : i + 1])
        )
        for i in range(len(batch))
    ]
    assert agent.act(batch).tolist() == np.concatenate(alone).tolist()


@pytest.mark.skipif(not COMPILED, reason="needs thousands of games")
@pytest.mark.parametrize("grade", range(1, len(ALL_PLAYERS)))
@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_each_grade_beats_the_one_before(grade: int, num_players: int) -> None:
    """One of a grade among copies of the grade below wins more than its share, with a 95 % interval clear of chance."""
    game = registry.make("pig10", num_players=num_players)
    shares = win_shares(game, grade, grade - 1, deals=400)
    half = INTERVAL * shares.std(ddof=1) / np.sqrt(len(shares))
    assert shares.mean() - half > 1 / num_players


def test_uniform_is_uniform() -> None:
    """The uniform player chooses each legal action equally often."""
    game = registry.make("pig10")
    decisions = decisions_at(game, [1, 5, 7], [5], 5, {}, keys=6000)
    actions = find_agent("uniform").act(decisions)
    legal = np.flatnonzero(decisions.action_masks[0])
    counts = np.bincount(actions, minlength=game.num_actions)
    assert counts.sum() == counts[legal].sum()
    # Five standard deviations.
    expected = len(actions) / len(legal)
    assert np.abs(counts[legal] - expected).max() < 5 * np.sqrt(expected)
