"""Stable-Baselines3 and sb3-contrib: one seat at many tables as a `VecEnv`, masks included.

env = SeatVecEnv("pig10", num_envs=256, opponents="pig10/careful")
MaskablePPO("MlpPolicy", env).learn(1_000_000)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pigenv import registry
from pigenv.adapters.versions import check_version
from pigenv.envs.learner import Learners, Opponents
from pigenv.envs.options import checked_policy
from pigenv.envs.seat import single_spaces
from pigenv.envs.vector import spread_seeds
from pigenv.errors import MissingExtraError, UnknownNameError
from pigenv.game import RUNNING, TRUNCATED, Game

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as _error:
    raise MissingExtraError("stable-baselines3", "sb3") from _error
check_version("stable-baselines3", "2.9.2", "before, masked distributions keep stale probabilities and learning stops")

__all__ = ["SeatVecEnv"]


class SeatVecEnv(VecEnv):
    """`num_envs` tables, one seat of each played by the learner, stepped in one compiled call.

    A finished game begins anew in the same step, as SB3 demands: the last observation is in
    `infos[i]["terminal_observation"]`. A game that was cut short is scored and paid like one that ended, so it is
    marked `infos[i]["cut"]` and not `TimeLimit.truncated`: nothing may be bootstrapped beyond it.

    Args:
        game: The game's name, or a `Game`.
        num_envs: How many tables.
        seed: Of the first table; the others follow (see `SeatVectorEnv`). None draws one.
        opponents, learner_seat, illegal: See `SeatEnv`.
        threads: How many threads step the tables.
        settings: See `pigenv.registry.make`.
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int,
        *,
        seed: int | None = None,
        opponents: Opponents = "uniform",
        learner_seat: str | int = "random",
        illegal: str = "forfeit",
        threads: int = 1,
        **settings: Any,
    ) -> None:
        self.game: Game = registry.make(game, **settings)
        policy = checked_policy(illegal)
        self.learners: Learners = Learners(self.game, num_envs, opponents, learner_seat, policy, threads)
        self.render_mode: str | None = None
        observations, actions = single_spaces(self.game, "info")
        super().__init__(self.learners.num_envs, observations, actions)
        self._actions = np.zeros(num_envs, np.int64)
        self._seeds = spread_seeds(seed, num_envs)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the tables; takes effect at the next reset."""
        self._seeds = spread_seeds(seed, self.num_envs)
        return self._seeds

    def reset(self) -> np.ndarray:
        """Begin anew at every table; float32, shape `(num_envs, layout.size)`."""
        self.learners.seed(self._seeds)
        self._seeds = [None] * self.num_envs
        self.learners.start(np.ones(self.num_envs, bool))
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        return self.learners.observations.copy()

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards, dones and infos of one step of the learner."""
        learners = self.learners
        learners.step(self._actions, same_step=True)
        dones = learners.over != RUNNING
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones):
            infos[i] = {
                "terminal_observation": learners.final[i].copy(),
                "TimeLimit.truncated": False,
                "cut": bool(learners.over[i] == TRUNCATED),
                "illegal": bool(learners.ended["offender"][i] == learners.ended["learner"][i]),
            }
        learners.over[:] = RUNNING
        return learners.observations.copy(), learners.rewards.copy(), dones, infos

    def action_masks(self) -> np.ndarray:
        """The actions legal now, bool, shape `(num_envs, num_actions)`."""
        return self.learners.masks == 1

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """`action_masks` alone: the tables are rows of arrays, there are no environments to call."""
        if method_name != "action_masks":
            raise UnknownNameError(f"a table has no method {method_name!r}; it has action_masks")
        return list(self.action_masks()[list(self._get_indices(indices))])

    def has_attr(self, attr_name: str) -> bool:
        return attr_name in ("action_masks", "render_mode") or hasattr(self.game, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the game, for each table; an `AttributeError` where it has none."""
        owner = self if attr_name in ("render_mode", "action_masks") else self.game
        return [getattr(owner, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise UnknownNameError(f"a table's {attr_name!r} cannot be set; make a new environment")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        return [False for _ in self._indices_of(indices)]

    def _indices_of(self, indices: Any) -> Iterable[int]:
        return self._get_indices(indices)

    def get_images(self) -> Sequence[np.ndarray | None]:
        return [None] * self.num_envs

    def close(self) -> None:
        """Nothing to release."""
