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

__all__ = ["CONFIDENCE", "RESAMPLES", "bootstrap_interval", "deal_means"]

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
