"""Intervals that may be looked at after every deal."""

from __future__ import annotations

import numpy as np
import pytest

from pigenv.errors import OptionError
from pigenv.evaluate.evaluation import evaluate
from pigenv.evaluate.sequential import METHOD, confidence_sequence, looks
from tests.evaluate.players import FIRST, LAST, PIG10

SHARES, ODDS = np.array([0.0, 0.25, 0.5, 1.0]), np.array([0.5, 0.3, 0.15, 0.05])


def test_the_whole_sequence_holds_the_truth():
    """Looked at after every deal, all intervals of a run hold the true mean in at least 95 % of 300 runs."""
    generator = np.random.default_rng(1)
    missed = 0
    for _ in range(300):
        values = generator.choice(SHARES, size=400, p=ODDS)
        ends = np.array([confidence_sequence(values[:n], 0.05) for n in range(1, 400, 7)])
        missed += bool(((ends[:, 0] > SHARES @ ODDS) | (ends[:, 1] < SHARES @ ODDS)).any())
    assert missed <= 15


def test_it_narrows_to_the_width_asked_for():
    """With enough deals any width is reached, at two to three and a half times the deals of a normal interval."""
    values = np.random.default_rng(2).choice(SHARES, size=60_000, p=ODDS)
    for width in (0.02, 0.005):
        reached = next(n for n in looks(64) if np.diff(confidence_sequence(values[:n], width))[0] <= 2 * width)
        assert 1.5 < reached / (1.96**2 * values.var() / width**2) < 3.6


def test_the_interval_agrees_with_the_formula_step_by_step():
    """The vectorised sums are those of the theorem, written out."""
    values, width = np.random.default_rng(3).choice(SHARES, size=50, p=ODDS), 0.1
    mean, variance, total, weighted, cost = 0.5, 0.25, 0.0, 0.0, 0.0
    squares, summed = 0.25, 0.5
    for t, x in enumerate(values, 1):
        stake = min(width / variance, 0.75)
        total, weighted = total + stake, weighted + stake * x
        cost += 4 * (x - mean) ** 2 * (-np.log(1 - stake) - stake) / 4
        summed += x
        mean = summed / (t + 1)
        squares += (x - mean) ** 2
        variance = squares / (t + 1)
    half = (np.log(2 / 0.05) + cost) / total
    expected = max(0, weighted / total - half), min(1, weighted / total + half)
    assert confidence_sequence(values, width) == pytest.approx(expected)


def test_an_evaluation_stops_at_the_width_asked_for():
    """With `until` a line-up is played until its interval is that narrow, told at every look, and no further."""
    seen = []
    document = evaluate(FIRST, PIG10, LAST, until=2.5, seed=3, watch=seen.append)
    (entry,) = document["results"]
    low, high = entry["win_share_ci"]
    assert low <= entry["win_share"] <= high
    assert high - low <= 0.05 + 1e-9
    assert [look.high - look.low > 0.05 for look in seen] == [True] * (len(seen) - 1) + [False]
    assert (seen[-1].deals, seen[-1].games) == (entry["deals"], entry["games"])
    assert document["method"]["interval"] == f"{METHOD}; stopped at a half width of 2.5 points"
    again = evaluate(FIRST, PIG10, LAST, until=2.5, seed=3)
    assert again["results"] == document["results"]


@pytest.mark.parametrize("until", [0, -1, 51, "x", True])
def test_a_width_must_be_points(until):
    """Anything but points above 0, at most 50, is refused."""
    with pytest.raises(OptionError, match="until must be points"):
        evaluate(FIRST, PIG10, LAST, until=until)


def test_values_must_be_shares():
    """A confidence sequence for bounded values refuses others, no value, and no width."""
    with pytest.raises(OptionError, match=r"values in 0 … 1"):
        confidence_sequence(np.array([2.0]), 0.1)
    with pytest.raises(OptionError, match="at least one deal"):
        confidence_sequence(np.zeros(0), 0.1)
    with pytest.raises(OptionError, match="half width"):
        confidence_sequence(np.zeros(3), 0.0)
