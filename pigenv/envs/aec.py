"""PettingZoo environments: one seat after another (AEC), and the parallel view of it.

`env()` returns the environment itself. It checks order and legality on its own, with better messages than PettingZoo's
three stock wrappers, which would slow it down eightfold; they may still be put around it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from pigenv import registry
from pigenv.envs.options import checked_mask, checked_policy, checked_render_mode, deals_of
from pigenv.envs.pictures import RENDER_FPS, RENDER_MODES, Pictures
from pigenv.errors import IllegalActionError, UsageError
from pigenv.game import ANYBODY, RUNNING, TRUNCATED, Game
from pigenv.table import Table, checked_seed

__all__ = ["PigAECEnv", "PigParallelEnv", "constructors"]


class PigAECEnv(AECEnv[str, Any, Any]):
    """A game with every seat played from outside, one at a time.

    Args:
        game: The game's name, or a `Game`.
        num_players, preset, rules, memory, max_players, reward: See `pigenv.game.Game`.
        mask: Where the action mask is: "obs" (the observation is a dict of `observation` and `action_mask`), "info"
            (a plain Box; `infos[agent]["action_mask"]`), or "both".
        illegal: What happens to an illegal action: "raise" (`IllegalActionError`, the state unchanged), "forfeit" (the
            game ends, the offender gets −1, the others share it), or "random" (a legal one is played instead).
        render_mode: What `render` gives of the open table: "ansi" (text), "svg" (an SVG document), "rgb_array" (uint8,
            `(600, 800, 3)`), "human" (a window, drawn at each step), or None. The last two need the extra `play`.

    Agents are `player_0` … in seat order, clockwise. A seat that is not to move has a mask of zeros. Rewards are paid
    on the last step (`reward="score"`: at the end of each round). Where the game ends, all agents end on the same step.

    Infos are new dicts after each step, with these keys always: `seat` (whose turn it is), `illegal` (1 where this
    agent's illegal action ended the game), `replaced` (illegal actions replaced in this episode),
    and `action_mask` with `mask="info"` or "both".
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "is_parallelizable": False, "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game,
        num_players: int | None = None,
        preset: str | None = None,
        rules: Mapping[str, Any] | None = None,
        memory: bool = True,
        max_players: int | None = None,
        reward: str = "win",
        mask: str = "obs",
        illegal: str = "raise",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.game: Game = registry.make(game, num_players, preset, rules, memory, max_players, reward)
        self.mask_place: str = checked_mask(mask)
        self.illegal: str = checked_policy(illegal)
        self.render_mode: str | None = checked_render_mode(render_mode, RENDER_MODES)
        self.metadata = {**type(self).metadata, "name": self.game.id}
        self._pictures = Pictures(self.game, render_mode)
        self.table: Table = Table(self.game, self.illegal)
        self.possible_agents: list[str] = [f"player_{seat}" for seat in range(self.game.num_players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self._in_obs, self._in_info = mask != "info", mask != "obs"
        self._action_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Discrete(self.game.num_actions) for agent in self.possible_agents
        }
        self._observation_spaces = {agent: self._space() for agent in self.possible_agents}
        self._no_rewards = dict.fromkeys(self.possible_agents, 0.0)
        self._seed: int | None = None
        self._number = -1

    def _space(self) -> spaces.Space[Any]:
        box = spaces.Box(0.0, 1.0, (self.game.layout.size,), np.float32)
        if not self._in_obs:
            return box
        return spaces.Dict({"observation": box, "action_mask": spaces.MultiBinary(self.game.num_actions)})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same object at each call."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same object at each call."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new episode.

        Args:
            seed: Episode 0 of this seed, in 0 … 2^64−1. None goes on with the next episode of the seed given last, or
                draws a seed where none was given.
            options: `{"deal": …}` deals the first rounds by hand: a record's deal, or a list of one a round.

        Raises:
            SeedError, DealError, OptionError: Nothing has changed.
        """
        deals = deals_of(options)
        if seed is not None:
            first, number = checked_seed(seed), 0
        elif self._seed is None:
            first, number = secrets.randbits(64), 0
        else:
            first, number = self._seed, self._number + 1
        self.table.start(first, number, deals)
        self._seed, self._number = first, number
        self.agents = self.possible_agents[:]
        self.rewards, self._paid_before = self._no_rewards.copy(), False
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection: Any = None
        self.agent_selection = self.possible_agents[self.table.seat]
        self._refresh_infos()
        if self.render_mode == "human":
            self.render()

    def step(self, action: Any) -> None:
        """Play an action for `agent_selection`; None for an agent whose game is over.

        Raises:
            IllegalActionError: The action is no action, or not legal and `illegal="raise"`. Nothing has changed.
            UsageError: There was no reset, or all agents are done.
        """
        agent, table = self.agent_selection if self.agents else "", self.table
        if table.over != RUNNING or not agent:
            self._step_after_the_end(agent, action)
            return
        table.step(action)
        self._cumulative_rewards[agent] = 0.0
        if self._paid_before:
            self.rewards = self._no_rewards.copy()
        self._paid_before = table.paid
        if table.paid:
            self.rewards: dict[str, float] = dict(zip(self.possible_agents, table.rewards[0].tolist(), strict=True))
            self._accumulate_rewards()
        if table.over != RUNNING:
            cut = bool(table.over == TRUNCATED)
            self.terminations: dict[str, bool] = dict.fromkeys(self.agents, not cut)
            self.truncations: dict[str, bool] = dict.fromkeys(self.agents, cut)
            # Who comes next after the end decides nothing; from seat 0 on, each agent takes its leave.
            self.agent_selection = self.possible_agents[0]
        else:
            self.agent_selection: str = self.possible_agents[table.seat]
        self._refresh_infos()
        if self.render_mode == "human":
            self.render()

    def _step_after_the_end(self, agent: str, action: Any) -> None:
        """An agent takes its leave."""
        if not agent:
            raise UsageError("the episode is over for every agent, or there was none; call reset first")
        if action is not None:
            raise IllegalActionError(f"the game is over for {agent}; the only valid action is None, got {action!r}")
        self._was_dead_step(action)

    def _refresh_infos(self) -> None:
        table = self.table
        seat, replaced, offender = table.seat, table.replaced, table.offender
        info = {"seat": seat, "illegal": 0, "replaced": replaced}
        self.infos: dict[str, dict[str, Any]] = {agent: info.copy() for agent in self.possible_agents}
        if offender >= 0:
            self.infos[self.possible_agents[offender]]["illegal"] = 1
        if self._in_info:
            for place, agent in enumerate(self.possible_agents):
                self.infos[agent]["action_mask"] = self._mask(place)

    def _mask(self, seat: int) -> np.ndarray:
        return self.table.masks[0].copy() if seat == self.table.seat else np.zeros(self.game.num_actions, np.int8)

    def observe(self, agent: str) -> Any:
        """What an agent sees now; valid at any time after a reset, for the final position too."""
        seat, table = self._seat_of[agent], self.table
        if not table.started:
            raise UsageError("nothing to observe before the first reset")
        if seat == table.seat:
            observation, mask = table.observations[0].copy(), table.masks[0].copy()
        else:
            observation, mask = table.observe(seat), np.zeros(self.game.num_actions, np.int8)
        return {"observation": observation, "action_mask": mask} if self._in_obs else observation

    def state(self) -> np.ndarray:
        """Everything, for a critic that may see all. Unfit for acting: it holds what no seat may know.

        Each seat's observation in seat order, then the bytes that the true state is, scaled to [0, 1].

        Returns:
            float32, shape `(num_players · layout.size + state's bytes,)`.
        """
        seen = [self.table.observe(seat) for seat in range(self.game.num_players)]
        return np.concatenate([*seen, self.table.states.view(np.uint8).astype(np.float32) / 255])

    def scores(self) -> dict[str, float]:
        """Each agent's points as they stand."""
        return dict(zip(self.possible_agents, self.table.scores().tolist(), strict=True))

    def clone(self, redraw: int | None = None) -> PigAECEnv:
        """A copy that plays on identically; with `redraw`, a seed, what nobody has seen is drawn anew."""
        copy: PigAECEnv = type(self).__new__(type(self))
        copy.__setstate__(self.__getstate__())
        copy._pictures = Pictures(self.game, self.render_mode)
        if redraw is not None:
            copy.table = self.table.clone(redraw)
        return copy

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "table": self.table.clone()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in ("agents", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos"):
            if name in self.__dict__:
                setattr(self, name, self.__dict__[name].copy())

    def render(self) -> Any:
        """The open table, as `render_mode` says; the final position too."""
        if self.render_mode is None:
            return None
        if not self.table.started:
            raise UsageError("nothing to draw before the first reset")
        return self._pictures.show(self.table.scene(ANYBODY))

    def _repr_html_(self) -> str:
        """The open table, in a notebook."""
        return self.table._repr_html_()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._pictures.close()

    @property
    def unwrapped(self) -> PigAECEnv:
        return self


class PigParallelEnv(ParallelEnv[str, Any, Any]):
    """The same games for libraries that step all agents at once.

    Every agent gives an action at every step; only that of the seat to move counts. The mask of a seat that is not to
    move is all ones: whatever it gives is ignored. `infos[agent]["active"]` is 1 for the seat to move.

    Args:
        game and keyword arguments: As for `PigAECEnv`.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(self, game: str | Game, **settings: Any) -> None:
        self.aec: PigAECEnv = PigAECEnv(game, **settings)
        self.metadata = {**type(self).metadata, "name": self.aec.game.id}
        self.render_mode: str | None = self.aec.render_mode
        self.possible_agents: list[str] = self.aec.possible_agents[:]
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.aec.observation_space(agent)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.aec.action_space(agent)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a new episode; see `PigAECEnv.reset`."""
        self.aec.reset(seed, options)
        self.agents = self.possible_agents[:]
        return self._observations(), self._infos()

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play the action of the seat to move.

        Raises:
            UsageError: There was no reset, or the episode is over.
            IllegalActionError: The seat to move gave no action, or one that is not legal.
        """
        if not self.agents:
            raise UsageError("the episode is over, or there was none; call reset first")
        mover = self.aec.agent_selection
        if not isinstance(actions, Mapping):
            raise IllegalActionError(f"actions must be a dict with that of {mover}; got {actions!r}")
        if mover not in actions:
            raise IllegalActionError(
                f"{mover} is to move and gave no action; actions came for {sorted(map(str, actions))}"
            )
        self.aec.step(actions[mover])
        results = (
            self._observations(),
            dict(self.aec.rewards),
            dict(self.aec.terminations),
            dict(self.aec.truncations),
            self._infos(),
        )
        if self.aec.table.over != RUNNING:
            self.agents = []
        return results

    def _observations(self) -> dict[str, Any]:
        observations = {agent: self.aec.observe(agent) for agent in self.possible_agents}
        if self.aec.mask_place != "info":
            for agent, observation in observations.items():
                observation["action_mask"] = self._mask(agent, observation["action_mask"])
        return observations

    def _infos(self) -> dict[str, dict[str, Any]]:
        infos = {agent: dict(info) for agent, info in self.aec.infos.items()}
        for agent, info in infos.items():
            info["active"] = int(self._active(agent))
            if "action_mask" in info:
                info["action_mask"] = self._mask(agent, info["action_mask"])
        return infos

    def _active(self, agent: str) -> bool:
        return self.aec.table.over == RUNNING and agent == self.aec.agent_selection

    def _mask(self, agent: str, mask: np.ndarray) -> np.ndarray:
        return mask if self._active(agent) else np.ones_like(mask)

    def state(self) -> np.ndarray:
        """See `PigAECEnv.state`."""
        return self.aec.state()

    def render(self) -> Any:
        """See `PigAECEnv.render`."""
        return self.aec.render()

    def _repr_html_(self) -> str:
        """The open table, in a notebook."""
        return self.aec._repr_html_()

    def close(self) -> None:
        self.aec.close()


def constructors(game: str) -> tuple[Callable[..., PigAECEnv], Callable[..., PigAECEnv], Callable[..., PigParallelEnv]]:
    """`env`, `raw_env` and `parallel_env` of a game, as PettingZoo's modules offer them."""

    def env(**settings: Any) -> PigAECEnv:
        return PigAECEnv(game, **settings)

    def parallel_env(**settings: Any) -> PigParallelEnv:
        return PigParallelEnv(game, **settings)

    env.__doc__ = PigAECEnv.__doc__
    parallel_env.__doc__ = PigParallelEnv.__doc__
    return env, env, parallel_env
