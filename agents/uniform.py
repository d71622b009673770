"""The player that chooses any legal action, each equally likely: the floor of every comparison."""

from __future__ import annotations

import numpy as np

from pigenv.agent import KernelAgent
from pigenv.kernel import Row, below, draw, kernel

__all__ = ["UNIFORM", "uniform"]


@kernel
def uniform(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    """Any legal action."""
    count = 0
    for action in range(len(mask)):
        count += mask[action]
    place = below(draw(key, 0), count)
    chosen, seen = 0, 0
    for action in range(len(mask)):
        seen += mask[action]
        chosen += seen <= place
    return chosen


UNIFORM = KernelAgent("uniform", uniform)
