"""Tianshou: all seats for its multi-agent algorithms, and one seat for its others, masks where its DQN family looks.

Only Tianshou's DQN family reads masks (DQN, C51, QRDQN, IQN, FQF, BDQN); its PPO, A2C and SAC would play illegally.
Its multi-agent buffer holds the steps of all seats in a row, so a one-step target of one seat looks at what another
sees, and what is paid on others' turns falls on their steps. With `n_step_return_horizon` as long as a game and
`gamma=1` the target is the seat's own return, exactly; or train one seat, with `LearnerEnv`.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from pigenv.adapters.versions import check_version
from pigenv.envs.aec import PigAECEnv
from pigenv.envs.seat import SeatEnv
from pigenv.errors import MissingExtraError
from pigenv.game import Game

try:
    from tianshou.env import PettingZooEnv  # type: ignore[import-not-found]
except ImportError as _error:
    raise MissingExtraError("tianshou", "tianshou") from _error
check_version("tianshou", "2.0.1", "its algorithms have other names and its environments another interface")

__all__ = ["AllSeatsEnv", "LearnerEnv"]


class AllSeatsEnv(PettingZooEnv):  # type: ignore[misc]
    """All seats of a table: `obs` has `agent_id`, `obs` and `mask` (bool); rewards are float32, one for each seat.

    Args:
        game: The game's name, or a `Game`.
        settings: See `PigAECEnv`.
    """

    def __init__(self, game: str | Game, **settings: Any) -> None:
        super().__init__(PigAECEnv(game, **{**settings, "mask": "obs"}))

    def reset(self, *args: Any, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        observation, info = super().reset(*args, **kwargs)
        return _as_arrays(observation), info

    def step(self, action: Any) -> tuple[dict[str, Any], np.ndarray, bool, bool, dict[str, Any]]:
        """Play the action of the seat to move."""
        observation, rewards, terminated, truncated, info = super().step(action)
        # A new array: Tianshou's own would change under whoever kept it.
        return _as_arrays(observation), np.array(rewards, np.float32), terminated, truncated, info


def _as_arrays(observation: dict[str, Any]) -> dict[str, Any]:
    return {**observation, "mask": np.asarray(observation["mask"], bool)}


class LearnerEnv(gymnasium.ObservationWrapper[Any, Any, Any]):
    """One seat of a table, agents at the others: `obs` and `mask`, as Tianshou's DQN reads them.

    Args:
        game: The game's name, or a `Game`.
        settings: See `SeatEnv`.
    """

    def __init__(self, game: str | Game, **settings: Any) -> None:
        env = SeatEnv(game, **{**settings, "mask": "obs"})
        super().__init__(env)
        inner: Any = env.observation_space
        self.observation_space = spaces.Dict({"obs": inner["observation"], "mask": inner["action_mask"]})

    def observation(self, observation: Any) -> dict[str, np.ndarray]:
        return {"obs": observation["observation"], "mask": observation["action_mask"] == 1}
