"""Taking out the luck of the cards: without bias, whatever the value function guesses."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from pigenv import registry
from pigenv.deals import all_deals
from pigenv.errors import OptionError
from pigenv.evaluate.control import Value, features, value_of
from pigenv.evaluate.evaluation import evaluate
from pigenv.evaluate.fit_value import positions
from pigenv.evaluate.match import play_match
from pigenv.table import Table
from tests.evaluate.players import FIRST, LAST

RULES = {"deck_counts": (1, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0), "hand_size": 1, "target": 4, "max_turns": 6}
GAME = registry.make("pig10", 2, rules=RULES)
THREE = registry.make("pig10", 3, rules=RULES)


def guessing(game, kind=Value, seed=0):
    """A value function of random weights: it guesses badly."""
    size, generator = game.num_players * (game.layout.size + 1), np.random.default_rng(seed)
    about = {
        "game": game.id,
        "num_players": game.num_players,
        "rules": game.rules.to_json(),
        "observation": game.digest,
    }
    weights = {"w1": generator.normal(size=(size, 5)), "b1": np.ones(5), "w2": generator.normal(size=5)}
    return kind(about, weights)


class Exact(Value):
    """Instead of draws, every order that the stock may lie in: the expectation itself."""

    def redrawn(self, states):
        (state,) = states
        start, stop = int(state["dealt"]), int(self.game.row["pack_size"][0])
        orders = sorted(set(permutations(state["pack"][start:stop].tolist())))
        found = []
        for order in orders:
            drawn = states.copy()
            drawn["pack"][0, start:stop] = order
            found.append((1 / len(orders), drawn))
        return found


@pytest.mark.parametrize("game", [GAME, THREE], ids=["two seats", "three seats"])
def test_luck_has_mean_zero_over_all_deals(game):
    """Summed over every deal of a small game, what is taken out is nothing, though the guesses are arbitrary."""
    value = guessing(game, Exact)
    deals = all_deals(game, 2000)
    table, lucks = Table(game), np.zeros((len(deals), game.num_players))
    for number, deal in enumerate(deals):
        table.start(0, 0, [deal])
        while not table.over:
            action = table.legal_actions()[-1]
            before = table.states.copy()
            table.step(action)
            lucks[number] += value.luck(game, before, np.array([action]), table.states)[0]
    assert lucks.std() > 0.01
    assert lucks.mean(axis=0) == pytest.approx(0.0, abs=1e-6)
    # Everybody's luck together is none.
    assert lucks.sum(axis=1) == pytest.approx(0.0, abs=1e-6)


def test_drawn_luck_has_mean_zero_too():
    """With draws instead of the expectation the mean over many deals is nothing beyond its standard error."""
    games = play_match(GAME, [FIRST, LAST], 1500, 3, variate=guessing(GAME))
    means = games.corrections[..., 0].mean(axis=1)
    assert means.std() > 0.01
    assert abs(means.mean()) < 4 * means.std() / np.sqrt(len(means))


def test_reckoning_luck_changes_no_game():
    """The games are the ones that are played without."""
    plain = play_match(GAME, [FIRST, LAST], 100, 3)
    games = play_match(GAME, [FIRST, LAST], 100, 3, variate=guessing(GAME))
    np.testing.assert_array_equal(games.scores, plain.scores)
    assert plain.corrections is None


def test_an_evaluation_reports_both():
    """Raw and reduced win share with their intervals, and how many times as many games the raw one would need."""
    value = guessing(GAME)
    entry = evaluate(FIRST, GAME, LAST, deals=100, seed=3, reduce=value)["results"][0]
    raw = evaluate(FIRST, GAME, LAST, deals=100, seed=3)["results"][0]
    reduced = entry.pop("reduced")
    assert entry == raw
    games = play_match(GAME, [FIRST, LAST], 100, 3, variate=value)
    shares = games.win_shares[..., 0].mean(axis=1)
    luck, fair = games.corrections[..., 0].mean(axis=1), shares.copy()
    for half in (0, 1):
        (varies, both), _ = np.cov(luck[1 - half :: 2], shares[1 - half :: 2])
        fair[half::2] -= np.clip(both / varies, 0, 1) * luck[half::2]
    assert reduced["win_share"] == pytest.approx(fair.mean())
    assert reduced["saving"] == pytest.approx(shares.var() / fair.var())
    low, high = reduced["win_share_ci"]
    assert low < reduced["win_share"] < high


def test_processes_do_not_change_the_luck():
    """Two processes reckon what one does, byte for byte."""
    value = guessing(GAME)
    found = [evaluate("uniform", GAME, "uniform", deals=70, reduce=value, workers=w)["results"] for w in (1, 2)]
    assert found[0] == found[1]
    assert "reduced" in found[0][0]


def test_a_seat_is_guessed_for_from_its_own_place():
    """The features of a seat are all observations from its place on, and where the seat to move is from there."""
    table = Table(THREE)
    table.start(4)
    seen = features(THREE, table.states)
    size = THREE.layout.size
    for seat in range(3):
        own = np.concatenate([table.observe((seat + k) % 3) for k in range(3)])
        np.testing.assert_array_equal(seen[0, seat, : 3 * size], own)
        assert seen[0, seat, 3 * size :].tolist() == [float((seat + k) % 3 == table.seat) for k in range(3)]


@pytest.mark.parametrize("name", registry.names())
def test_the_shipped_ones_guess_better_than_chance(name):
    """In games that it was not fitted on, a value function knows more than that all are equal."""
    game = registry.make(name, 4)
    states, shares, _ = positions(game, 400, seed=77)
    off = ((value_of(game)(states) - shares) ** 2).mean()
    assert off < 0.95 * ((1 / 4 - shares) ** 2).mean()


def test_another_table_is_refused():
    """Where none comes with the game, or it was fitted on other rules, one sentence says so."""
    with pytest.raises(OptionError, match="no value function comes with pig10_v0 for 7 players"):
        value_of(registry.make("pig10", 7))
    with pytest.raises(OptionError, match="this value function is for"):
        value_of(registry.make("pig10", 4, rules={"winner_leads": True}))
    wrong = guessing(GAME)
    with pytest.raises(OptionError, match="another observation"):
        Value(wrong.about | {"num_players": 3}, wrong.weights)
