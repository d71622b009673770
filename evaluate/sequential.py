"""Intervals that may be looked at after every deal: for stopping as soon as one is narrow enough.

A bootstrap or normal interval covers the truth 95 times in 100 for a number of deals fixed beforehand. Stopping at the
first narrow one chooses among many intervals, and the choice spoils that. A confidence sequence holds the truth at
*all* looks at once with 95 %, so it may be stopped whenever one likes.

This is the predictable plug-in empirical Bernstein confidence sequence of Waudby-Smith and Ramdas ("Estimating means of
bounded random variables by betting", Journal of the Royal Statistical Society B 86, 2024, theorem 2), for numbers
x_1, x_2, … in 0 … 1, here the win share on each deal:

    m_t     = (1/2 + x_1 + … + x_t) / (t + 1)                   running mean
    v_t     = (1/4 + Σ_i≤t (x_i − m_i)²) / (t + 1)              running variance
    l_t     any function of x_1 … x_(t−1) in 0 … 1              the stake on deal t
    ψ(l)    = (−log(1 − l) − l) / 4
    C_t     = Σ l_i x_i / Σ l_i  ±  (log(2/α) + Σ 4 (x_i − m_(i−1))² ψ(l_i)) / Σ l_i

Any stake known beforehand is valid; it decides only at which width the sequence is at its best. With half width w asked
for, l_t = w / v_(t−1), at most 3/4, minimises the deals until it is reached: about 1.9 times as many as a fixed number
of deals would need for a normal interval of that width.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pigenv.errors import OptionError
from pigenv.evaluate.intervals import CONFIDENCE, deal_means

__all__ = ["METHOD", "confidence_sequence", "looks"]

METHOD: Final = "empirical Bernstein confidence sequence over deals (Waudby-Smith and Ramdas 2024), valid at every look"
_MOST_STAKE: Final = 0.75
_FIRST_LOOK: Final = 256
_GROWTH: Final = 1.25


def looks(multiple: int) -> list[int]:
    """After how many deals to look, each a quarter more than the one before, in multiples of a batch."""
    found: list[int] = []
    deals = float(_FIRST_LOOK)
    while deals < 2**40:
        rounded = -(-int(deals) // multiple) * multiple
        if not found or rounded > found[-1]:
            found.append(rounded)
        deals *= _GROWTH
    return found


def confidence_sequence(
    values: np.ndarray, half_width: float, *, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The interval after the deals so far; it may be asked for after any number of them.

    Args:
        values: 0 … 1, one a deal in the order played, shape `(deals,)`, or one for each game, shape `(deals, …)`.
        half_width: The half width that is aimed at; it must be the same at every look.
        confidence: The probability that all intervals of the sequence hold the true mean.

    Returns:
        Low and high, within 0 … 1.

    Raises:
        OptionError: A value is outside 0 … 1, there is none, or `half_width` is not above zero.
    """
    if not half_width > 0:
        raise OptionError(f"the half width aimed at must be above 0; got {half_width!r}")
    if len(values) == 0:
        raise OptionError("an interval needs at least one deal; got none")
    x = deal_means(values)
    if (x < -1e-9).any() or (x > 1 + 1e-9).any():
        raise OptionError(f"a confidence sequence is for values in 0 … 1; got {x.min():g} … {x.max():g}")
    t = np.arange(1.0, len(x) + 1.0)
    mean = (0.5 + x.cumsum()) / (t + 1.0)
    variance = (0.25 + ((x - mean) ** 2).cumsum()) / (t + 1.0)
    mean_before = np.concatenate([[0.5], mean[:-1]])
    stake = np.minimum(half_width / np.concatenate([[0.25], variance[:-1]]), _MOST_STAKE)
    cost = 4.0 * (x - mean_before) ** 2 * (-np.log1p(-stake) - stake) / 4.0
    total = stake.sum()
    centre = float((stake * x).sum() / total)
    width = float((np.log(2.0 / (1.0 - confidence)) + cost.sum()) / total)
    return max(0.0, centre - width), min(1.0, centre + width)
