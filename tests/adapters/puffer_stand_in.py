"""The part of PufferLib 3's documented interface that a native environment is written against.

A `PufferEnv` sets its spaces and `num_agents`, then calls `super().__init__(buf)`, which gives it `observations`,
`rewards`, `terminals`, `truncations`, `masks` and `actions`: its own, or views of a vector's. It writes into them.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class PufferEnv:
    """See the module."""

    single_observation_space: Any
    single_action_space: Any
    num_agents: int

    def __init__(self, buf: dict[str, np.ndarray] | None = None) -> None:
        n, space = self.num_agents, self.single_observation_space
        given = buf or {
            "observations": np.zeros((n, *space.shape), space.dtype),
            "rewards": np.zeros(n, np.float32),
            "terminals": np.zeros(n, bool),
            "truncations": np.zeros(n, bool),
            "masks": np.ones(n, bool),
            "actions": np.zeros(n, np.int32),
        }
        for name, array in given.items():
            setattr(self, name, array)
