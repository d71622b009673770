"""Intervals for what was measured on deals of cards.

The unit of independence is the deal. The games that replay one deal from every seat share its luck, so they are first
averaged within the deal; only the means of deals are resampled.

The interval is the percentile bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13):

    x_1 … x_N      one number a deal
    m*_b           mean of N of them, drawn with replacement; b = 1 … B
    low, high      the (1−c)/2 and (1+c)/2 quantiles of m*_1 … m*_B, c = 0.95

Drawing N deals with replacement is drawing how often each deal comes, so deals with the same number may be drawn
together: the count of each distinct number is multinomial. That gives the same distribution and costs a fraction where
few numbers occur, as with win shares.

With few deals the interval is too narrow: the bootstrap knows no deal but those that were played. From about thirty
on that no longer matters here; a single deal says nothing, and its interval is everything that is possible.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pigenv.errors import OptionError

__all__ = ["CONFIDENCE", "RESAMPLES", "bootstrap_interval", "deal_means", "without_luck"]

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 10_000
_ROOM: Final = 4_000_000  # counts held at once: 32 MB


def deal_means(values: np.ndarray) -> np.ndarray:
    """One number a deal: the mean over whatever was played with its cards.

    Args:
        values: Float, shape `(deals, …)`.

    Returns:
        float64, shape `(deals,)`.
    """
    return np.asarray(values, np.float64).reshape(len(values), -1).mean(axis=1)


def without_luck(values: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Values less the part of a control variate that takes most of their variance away.

    That part is cov(values, luck) / var(luck), of 0 … 1 here: luck that was reckoned well is taken out whole, and what
    is mere noise hardly at all (Lavenberg and Welch, "A perspective on the use of control variables", Management
    Science 27, 1981). For the deals of even number it is reckoned from those of odd number, and the other way round: it
    does not depend on the luck that it is multiplied with, so the mean stays unbiased however few deals there are.

    Args:
        values: One number a deal, shape `(deals,)`.
        luck: What luck is reckoned to have added to each, with mean 0, shape `(deals,)`.

    Returns:
        float64, shape `(deals,)`.
    """
    found = np.array(values, np.float64)
    for half, other in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
        off = luck[other] - luck[other].mean() if len(luck[other]) else luck[other]
        varies = float(off @ off)
        part = float(off @ values[other]) / varies if varies > 0 else 0.0
        found[half] -= min(max(part, 0.0), 1.0) * luck[half]
    return found


def bootstrap_interval(
    values: np.ndarray,
    seed: int = 0,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[float, float]:
    """The percentile bootstrap interval of a mean; the same for the same arguments.

    Args:
        values: One number a deal, shape `(deals,)`, or one for each game, shape `(deals, …)`, which are averaged first.
        seed: Of the resampling.
        confidence: The share of intervals that should hold the true mean.
        resamples: How many means are drawn.
        bounds: The least and the greatest mean possible: the interval of a single deal.

    Returns:
        Low and high.

    Raises:
        OptionError: There is no deal, or `confidence` or `resamples` is unusable.
    """
    if len(values) == 0:
        raise OptionError("an interval needs at least one deal; got none")
    if not 0.0 < confidence < 1.0 or resamples < 1:
        raise OptionError(f"confidence must be in 0 … 1 and resamples 1 or more; got {confidence!r}, {resamples!r}")
    means = deal_means(values)
    if len(means) == 1:
        return bounds
    # Sums of the same shares in another order differ in the last bit; they are the same number.
    distinct, counts = np.unique(means.round(12), return_counts=True)
    if len(distinct) == 1:
        return float(distinct[0]), float(distinct[0])
    generator = np.random.default_rng(seed)
    drawn = np.empty(resamples)
    step = max(1, _ROOM // len(distinct))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        times = generator.multinomial(len(means), counts / len(means), size=size)
        drawn[start : start + size] = times @ distinct / len(means)
    low, high = np.quantile(drawn, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return float(low), float(high)
