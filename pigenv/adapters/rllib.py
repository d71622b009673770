"""RLlib, new API stack: the seats of a table as a `MultiAgentEnv`, masks under the key that its masked module wants.

    config = PPOConfig().environment(TurnsEnv, env_config={"game": "pig10", "preset": "small"}) …

Observations are `{"observations", "action_mask"}`, both float32, as `ActionMaskingTorchRLModule` reads them. At each
step the seat to move alone has an observation, and with it what it was paid since its own last step; at the end every
seat has both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from pigenv.adapters.versions import check_version
from pigenv.envs.aec import PigAECEnv
from pigenv.errors import IllegalActionError, MissingExtraError

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv  # type: ignore[import-not-found]
except ImportError as _error:
    raise MissingExtraError("ray[rllib]", "rllib") from _error
check_version("ray", "2.40", "its new API stack is not whole yet")

__all__ = ["TurnsEnv"]


class TurnsEnv(MultiAgentEnv):  # type: ignore[misc]
    """One table, all seats.

    Args:
        config: `game`, and what `PigAECEnv` takes beside it. An illegal action forfeits the game unless `illegal` says
            otherwise: RLlib's check of the environment samples actions without their masks. With `bootstrap=False` a
            game that is cut short ends like any other, for it is paid as it stands; otherwise it is truncated, and
            RLlib adds the value of its last observation.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        settings = {"game": "pig10", "illegal": "forfeit", "bootstrap": True, **(config or {}), "mask": "obs"}
        self.bootstrap: bool = settings.pop("bootstrap")
        self.aec: PigAECEnv = PigAECEnv(**settings)
        self.possible_agents: list[str] = list(self.aec.possible_agents)
        self.agents: list[str] = list(self.possible_agents)
        inner, actions = self.aec.game.layout.size, self.aec.game.num_actions
        space: spaces.Space[Any] = spaces.Dict(
            {
                "observations": spaces.Box(0.0, 1.0, (inner,), np.float32),
                "action_mask": spaces.Box(0.0, 1.0, (actions,), np.float32),
            }
        )
        self.observation_spaces: dict[str, spaces.Space[Any]] = dict.fromkeys(self.possible_agents, space)
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Discrete(actions) for agent in self.possible_agents
        }
        self.observation_space = spaces.Dict(self.observation_spaces)
        self.action_space = spaces.Dict(self.action_spaces)
        self._owed: dict[str, float] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a new episode; see `PigAECEnv.reset`."""
        self.aec.reset(seed, options)
        self._owed = dict.fromkeys(self.possible_agents, 0.0)
        mover = self.aec.agent_selection
        return {mover: self._seen(mover)}, {mover: {}}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Play the action of the seat to move.

        Raises:
            IllegalActionError: It gave none, or with `illegal="raise"` one that is not legal.
        """
        mover = self.aec.agent_selection
        if mover not in action_dict:
            raise IllegalActionError(f"{mover} is to move and gave no action; actions came for {sorted(action_dict)}")
        self.aec.step(action_dict[mover])
        for agent, reward in self.aec.rewards.items():
            self._owed[agent] += reward
        terminated, truncated = self.aec.terminations[mover], self.aec.truncations[mover]
        over = terminated or truncated
        if over and not self.bootstrap:
            terminated, truncated = True, False
        asked = self.possible_agents if over else [self.aec.agent_selection]
        rewards = {agent: self._owed[agent] for agent in asked}
        self._owed.update(dict.fromkeys(asked, 0.0))
        return (
            {agent: self._seen(agent, over) for agent in asked},
            rewards,
            {**dict.fromkeys(asked, terminated), "__all__": terminated},
            {**dict.fromkeys(asked, truncated), "__all__": truncated},
            {agent: {} for agent in asked},
        )

    def _seen(self, agent: str, over: bool = False) -> dict[str, np.ndarray]:
        seen = self.aec.observe(agent)
        mask = np.ones(len(seen["action_mask"])) if over else seen["action_mask"]
        return {"observations": seen["observation"], "action_mask": mask.astype(np.float32)}

    def render(self) -> Any:
        """See `PigAECEnv.render`."""
        return self.aec.render()

    def close(self) -> None:
        self.aec.close()
