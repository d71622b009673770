"""What several training runs of one algorithm say together.

A score from one training seed says little about the algorithm: seeds differ more than deals do. These are the figures
that Agarwal et al. recommend for a handful of runs ("Deep reinforcement learning at the edge of the statistical
precipice", NeurIPS 2021), whose definitions they follow:

    interquartile mean         the mean of the middle half of all runs' scores, over all tasks together
    probability of improvement how likely a run of one algorithm scores better than a run of another on the same task,
                               averaged over tasks; a tie counts half (the Mann-Whitney statistic)
    interval                   bootstrap in which the runs of each task are resampled by themselves

Scores have shape `(runs, tasks)`: a task is a game, a table size or an opponent, a score its win share, say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pigenv.errors import OptionError
from pigenv.evaluate.intervals import CONFIDENCE

__all__ = ["compared", "interquartile_mean", "probability_of_improvement", "stratified_interval", "summary"]

RESAMPLES: Final = 2_000
_FEWEST: Final = 3


def interquartile_mean(scores: np.ndarray) -> float:
    """The mean of the middle half of all scores; where a quarter is no whole number of them, the next lower is cut.

    Args:
        scores: Shape `(runs, tasks)`.
    """
    ordered = np.sort(np.asarray(scores, np.float64), axis=None)
    cut = len(ordered) // 4
    return float(ordered[cut : len(ordered) - cut].mean())


def probability_of_improvement(ours: np.ndarray, theirs: np.ndarray) -> float:
    """How likely one of our runs beats one of theirs on a task, ties half, averaged over tasks.

    Args:
        ours: Shape `(runs, tasks)`.
        theirs: Shape `(other runs, tasks)`.
    """
    better = (ours[:, None] > theirs[None, :]) + 0.5 * (ours[:, None] == theirs[None, :])
    return float(better.mean())


def stratified_interval(
    figure: Callable[..., float], *scores: np.ndarray, seed: int = 0, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Percentile bootstrap interval of a figure, the runs of each task resampled by themselves.

    Args:
        figure: From resampled scores to a number.
        scores: What it takes, each of shape `(runs, tasks)`.
        seed: Of the resampling.
        confidence: The share of intervals that should hold the truth.
    """
    generator = np.random.default_rng(seed)
    drawn = np.empty(RESAMPLES)
    for k in range(RESAMPLES):
        again = [np.take_along_axis(each, generator.integers(len(each), size=each.shape), axis=0) for each in scores]
        drawn[k] = figure(*again)
    low, high = np.quantile(drawn, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return float(low), float(high)


def _checked(scores: Any) -> np.ndarray:
    found = np.asarray(scores, np.float64)
    if found.ndim != 2 or len(found) < _FEWEST or found.shape[1] < 1 or not np.isfinite(found).all():
        raise OptionError(
            f"scores must be finite numbers of shape (runs, tasks) with {_FEWEST} runs or more; got shape {found.shape}"
        )
    return found


def summary(scores: Any, seed: int = 0) -> dict[str, Any]:
    """Interquartile mean of several runs with its interval.

    Raises:
        OptionError: The scores are not of shape `(runs, tasks)`, or there are fewer than three runs.
    """
    found = _checked(scores)
    interval = stratified_interval(interquartile_mean, found, seed=seed)
    return {"runs": len(found), "interquartile_mean": interquartile_mean(found), "interval": list(interval)}


def compared(ours: Any, theirs: Any, seed: int = 0) -> dict[str, Any]:
    """Probability that a run of ours is better than one of theirs, with its interval.

    Raises:
        OptionError: The scores are not of shape `(runs, tasks)`, or not of the same tasks.
    """
    one, other = _checked(ours), _checked(theirs)
    if one.shape[1] != other.shape[1]:
        raise OptionError(f"both must have the same tasks; got {one.shape[1]} and {other.shape[1]}")
    interval = stratified_interval(probability_of_improvement, one, other, seed=seed)
    return {"probability_of_improvement": probability_of_improvement(one, other), "interval": list(interval)}
