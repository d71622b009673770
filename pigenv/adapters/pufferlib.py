"""PufferLib: one seat at many tables as a native `PufferEnv`, writing into PufferLib's own buffers.

    env = SeatPufferEnv("pig10", num_envs=1024)

PufferLib has no place for action masks (its `masks` says which agents live), so the mask is the tail of each
observation: the last `num_actions` numbers, 1 for legal, by which a policy of yours masks its logits. Its emulation
takes our environments too: `GymnasiumPufferEnv` the one-seat environment, `PettingZooPufferEnv` the parallel one, each
with `mask="info"`, and `illegal="random"` where the policy knows no masks.

Written against the interface that PufferLib 3 documents. Its releases download parts while they are built and could not
be installed where this was tested: the tests run against a stand-in of that interface.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from pigenv import registry
from pigenv.envs.learner import Learners, Opponents
from pigenv.envs.options import checked_policy
from pigenv.envs.vector import spread_seeds
from pigenv.errors import PigenvError
from pigenv.game import RUNNING, TERMINATED, TRUNCATED, Game

try:
    import pufferlib  # type: ignore[import-not-found]
except ImportError as _error:

    class MissingPufferLibError(PigenvError, ImportError):
        """PufferLib is not installed."""

    raise MissingPufferLibError(
        "pufferlib is needed here and is not installed; pigenv has no extra for it, since its build downloads parts of "
        "its own: install it as its documentation says"
    ) from _error

__all__ = ["SeatPufferEnv"]


class SeatPufferEnv(pufferlib.PufferEnv):  # type: ignore[misc]
    """`num_envs` tables; each is one agent of PufferLib's, agents of ours have the other seats.

    Observations are float32, `(num_envs, layout.size + num_actions)`: what the seat sees, then its mask. A finished
    game begins anew in the same step; its return and length are in an info of that step.

    Args:
        game: The game's name, or a `Game`.
        num_envs: How many tables.
        opponents, learner_seat, illegal: See `SeatEnv`.
        buf: PufferLib's buffers, where it brings its own.
        seed: Of the first table, until `reset` gives another; None draws one.
        settings: See `pigenv.registry.make`.
    """

    def __init__(
        self,
        game: str | Game = "pig10",
        num_envs: int = 1,
        *,
        opponents: Opponents = "uniform",
        learner_seat: str | int = "random",
        illegal: str = "forfeit",
        buf: Any = None,
        seed: int | None = None,
        **settings: Any,
    ) -> None:
        self.game: Game = registry.make(game, **settings)
        self.learners: Learners = Learners(self.game, num_envs, opponents, learner_seat, checked_policy(illegal))
        self._size = self.game.layout.size
        self.single_observation_space = spaces.Box(0.0, 1.0, (self._size + self.game.num_actions,), np.float32)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.num_agents: int = self.learners.num_envs
        self._seed = seed
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)
        super().__init__(buf)

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, list[dict[str, Any]]]:
        """Begin anew at every table; table i plays the episodes of seed + i."""
        first = self._seed if seed is None else seed
        self.learners.seed(spread_seeds(first, self.num_agents))
        self._seed = None
        self.learners.start(np.ones(self.num_agents, bool))
        self._returns[:], self._lengths[:] = 0, 0
        self.rewards[:], self.terminals[:], self.truncations[:] = 0, False, False
        self.masks[:] = True
        self._write()
        return self.observations, []

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play the learner's action at every table."""
        learners = self.learners
        learners.step(np.asarray(actions).reshape(-1), same_step=True)
        over = learners.over != RUNNING
        self.rewards[:] = learners.rewards
        self.terminals[:], self.truncations[:] = learners.over == TERMINATED, learners.over == TRUNCATED
        self._returns += learners.rewards
        self._lengths += 1
        infos = [
            {"episode_return": float(self._returns[i]), "episode_length": int(self._lengths[i])}
            for i in np.flatnonzero(over)
        ]
        self._returns[over], self._lengths[over] = 0, 0
        learners.over[over] = RUNNING
        self._write()
        return self.observations, self.rewards, self.terminals, self.truncations, infos

    def _write(self) -> None:
        self.observations[:, : self._size] = self.learners.observations
        self.observations[:, self._size :] = self.learners.masks

    def render(self) -> None:
        """Nothing: tables of a vector are not drawn."""

    def close(self) -> None:
        """Nothing to release."""
