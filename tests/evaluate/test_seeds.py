"""What several training runs say together."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from pigenv.errors import OptionError
from pigenv.evaluate.seeds import compared, interquartile_mean, probability_of_improvement, summary

GENERATOR = np.random.default_rng(5)
OURS, THEIRS = GENERATOR.normal(0.4, 0.1, (10, 3)), GENERATOR.normal(0.3, 0.1, (8, 3)).round(2)


def test_the_interquartile_mean_is_the_trimmed_mean():
    """It is SciPy's mean with a quarter cut off at each end, over all runs and tasks together."""
    for shape in ((3, 1), (5, 4), (10, 3)):
        scores = GENERATOR.normal(size=shape)
        assert interquartile_mean(scores) == pytest.approx(stats.trim_mean(scores, 0.25, axis=None))


def test_one_wild_run_does_not_move_it():
    """The best and the worst quarter have no say."""
    scores = OURS.copy()
    before = interquartile_mean(scores)
    scores[scores.argmax() // 3, scores.argmax() % 3] = 1e9
    assert interquartile_mean(scores) == pytest.approx(before)


def test_the_probability_of_improvement_counts_pairs():
    """It is the share of pairs of runs that we win, ties half, and SciPy's Mann-Whitney statistic."""
    pairs = [
        [(a > b) + 0.5 * (a == b) for a, b in product(OURS[:, task], THEIRS[:, task])] for task in range(OURS.shape[1])
    ]
    assert probability_of_improvement(OURS, THEIRS) == pytest.approx(np.mean(pairs))
    ranked = [stats.mannwhitneyu(OURS[:, t], THEIRS[:, t]).statistic / 80 for t in range(3)]
    assert probability_of_improvement(OURS, THEIRS) == pytest.approx(np.mean(ranked))
    assert probability_of_improvement(OURS, OURS) == pytest.approx(0.5)


def test_intervals_hold_the_truth():
    """Of 200 sets of ten runs with a known interquartile mean, most intervals hold it."""
    generator, held = np.random.default_rng(6), 0
    for seed in range(200):
        low, high = summary(generator.normal(size=(10, 3)), seed)["interval"]
        held += low <= 0.0 <= high
    assert held / 200 > 0.85


def test_a_comparison_has_its_interval():
    """Clearly better runs have an interval above a half, the same runs one around it."""
    found = compared(OURS, THEIRS)
    low, high = found["interval"]
    assert 0.5 < low <= found["probability_of_improvement"] <= high <= 1
    low, high = compared(OURS, OURS)["interval"]
    assert low < 0.5 < high


@pytest.mark.parametrize("scores", [[1.0, 2.0, 3.0], [[1.0], [2.0]], [[1.0], [np.nan], [2.0]]])
def test_scores_must_be_runs_by_tasks(scores):
    """One dimension, two runs or a missing score are refused."""
    with pytest.raises(OptionError, match=r"shape \(runs, tasks\)"):
        summary(scores)
    with pytest.raises(OptionError, match="same tasks"):
        compared(OURS, THEIRS[:, :2])
