"""A Gymnasium vector environment: one seat at each of many tables, stepped in one compiled call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from pigenv import registry
from pigenv.envs.learner import Learners, Opponents
from pigenv.envs.options import checked_mask, checked_policy, checked_render_mode
from pigenv.envs.pictures import RENDER_FPS, RENDER_MODES, Pictures
from pigenv.envs.seat import single_spaces
from pigenv.errors import OptionError, SeedError, UsageError, closest, one_of
from pigenv.game import RUNNING, TERMINATED, TRUNCATED, Game
from pigenv.scene import Scene
from pigenv.table import checked_seed

__all__ = ["SeatVectorEnv", "spread_seeds"]


def spread_seeds(seed: int | Sequence[int | None] | None, num_envs: int) -> list[int | None]:
    """A seed for each table: `seed + i` (mod 2^64), as Gymnasium's vector environments do; or the list given."""
    if seed is None:
        return [None] * num_envs
    if (isinstance(seed, Sequence) and not isinstance(seed, str)) or (isinstance(seed, np.ndarray) and seed.ndim):
        if len(seed) != num_envs:
            raise SeedError(f"a list of seeds must have one for each of {num_envs} tables; got {len(seed)}")
        return [None if each is None else checked_seed(each) for each in seed]
    first = checked_seed(seed)
    return [(first + i) % 2**64 for i in range(num_envs)]


class SeatVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` copies of `SeatEnv`; table i with seed s plays exactly what a `SeatEnv` with seed s + i plays.

    Args:
        game: The game's name, or a `Game`.
        num_envs: How many tables.
        autoreset_mode: How a finished table goes on, one of Gymnasium's: NEXT_STEP (the next step ignores the action,
            begins a new episode and pays 0), SAME_STEP (the new episode begins at once; the last observation is in
            `infos["final_obs"]`, the last info in `infos["final_info"]`), DISABLED (call
            `reset(options={"reset_mask": bool[num_envs]})`).
        threads: How many threads step the tables; more than one pays from about a thousand tables.
        copy: Whether the arrays returned are the caller's to keep; without, the next step overwrites them.
        other arguments: See `SeatEnv`.
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        num_players: int | None = None,
        preset: str | None = None,
        rules: Mapping[str, Any] | None = None,
        memory: bool = True,
        max_players: int | None = None,
        reward: str = "win",
        opponents: Opponents = "uniform",
        learner_seat: str | int = "random",
        mask: str = "info",
        illegal: str = "forfeit",
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        copy: bool = True,
    ) -> None:
        self.game: Game = registry.make(game, num_players, preset, rules, memory, max_players, reward)
        self._in_obs, self._in_info = checked_mask(mask) != "info", mask != "obs"
        self.render_mode: str | None = checked_render_mode(render_mode, RENDER_MODES)
        self.autoreset_mode: AutoresetMode = _mode(autoreset_mode)
        self.metadata: dict[str, Any] = {
            "render_modes": RENDER_MODES,
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self._pictures = Pictures(self.game, render_mode)
        self.learners: Learners = Learners(
            self.game, num_envs, opponents, learner_seat, checked_policy(illegal), threads
        )
        self.num_envs: int = self.learners.num_envs
        self._copy = copy
        spaces: tuple[Any, Any] = single_spaces(self.game, mask)
        self.single_observation_space: Any = spaces[0]
        self.single_action_space: Any = spaces[1]
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._all = np.ones(self.num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes, at all tables or, with `options={"reset_mask": …}`, at those alone.

        Raises:
            SeedError, OptionError: Nothing has changed.
        """
        which = self._which(options)
        seeds = spread_seeds(seed, self.num_envs)
        self.learners.seed([each if chosen else None for each, chosen in zip(seeds, which, strict=True)])
        self.learners.start(which)
        self._show()
        return self._observations(), self._infos(which)

    def _which(self, options: Mapping[str, Any] | None) -> np.ndarray:
        if options is not None and not isinstance(options, Mapping):
            raise OptionError(f"options must be a dict or None; got {options!r}")
        for name in options or {}:
            if name != "reset_mask":
                raise OptionError(f"unknown reset option {name!r}; {closest(name, ['reset_mask'])}")
        if not options:
            return self._all
        which = options["reset_mask"]
        if not isinstance(which, np.ndarray) or which.shape != (self.num_envs,) or which.dtype != np.bool_:
            raise OptionError(f"reset_mask must be a bool array of shape ({self.num_envs},); got {which!r}")
        if not which.any():
            raise OptionError("reset_mask must name at least one table")
        if not self.learners.started and not which.all():
            raise UsageError("the first reset must begin every table")
        return which

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play the learner's action at every table.

        Raises:
            UsageError: There was no reset, or a table is over and nothing resets it.
            IllegalActionError: Actions of the wrong shape or type, outside the space, or refused; nothing has changed.
        """
        learners = self.learners
        if self.autoreset_mode == AutoresetMode.DISABLED and (learners.over != RUNNING).any():
            over = np.flatnonzero(learners.over != RUNNING).tolist()
            raise UsageError(f"tables {over} are over; reset them with reset(options={{'reset_mask': …}})")
        same_step = self.autoreset_mode == AutoresetMode.SAME_STEP
        learners.step(actions, same_step)
        infos = self._infos(self._all)
        ended = learners.over != RUNNING
        terminated, truncated = learners.over == TERMINATED, learners.over == TRUNCATED
        if same_step and ended.any():
            infos.update(self._final(ended))
            learners.over[ended] = RUNNING
        self._show()
        return self._observations(), learners.rewards.astype(np.float64), terminated, truncated, infos

    def _observations(self) -> Any:
        observations, masks = self.learners.observations, self.learners.masks
        if self._copy:
            observations = observations.copy()
        if not self._in_obs:
            return observations
        return {"action_mask": masks.copy() if self._copy else masks, "observation": observations}

    def _infos(self, which: np.ndarray) -> dict[str, Any]:
        """An array of each info, and beside it under `_key` which tables have one."""
        episodes = self.learners.episodes
        learner = episodes["learner"].astype(np.int64)
        infos: dict[str, Any] = {
            "seat": learner,
            "illegal": (episodes["offender"] == learner).astype(np.int64),
            "replaced": episodes["replaced"].astype(np.int64),
        }
        if self._in_info:
            infos["action_mask"] = self.learners.masks.copy() if self._copy else self.learners.masks
        return {**infos, **{f"_{name}": which.copy() for name in infos}}

    def _final(self, ended: np.ndarray) -> dict[str, Any]:
        """The last observation and info of the episodes that ended in this step."""
        last = np.full(self.num_envs, None, object)
        ones = np.ones(self.game.num_actions, np.int8)
        for i in np.flatnonzero(ended):
            observation = self.learners.final[i].copy()
            last[i] = {"observation": observation, "action_mask": ones.copy()} if self._in_obs else observation
        final = self.learners.ended
        info: dict[str, Any] = {
            "seat": np.where(ended, final["learner"], 0).astype(np.int64),
            "illegal": np.where(ended, final["offender"] == final["learner"], 0).astype(np.int64),
            "replaced": np.where(ended, final["replaced"], 0).astype(np.int64),
        }
        if self._in_info:
            info["action_mask"] = np.where(ended[:, None], ones, 0).astype(np.int8)
        info.update({f"_{name}": ended.copy() for name in list(info)})
        return {"final_obs": last, "_final_obs": ended.copy(), "final_info": info, "_final_info": ended.copy()}

    def action_masks(self) -> np.ndarray:
        """The actions legal now at each table, bool, shape `(num_envs, num_actions)`."""
        return self.learners.masks == 1

    def scores(self) -> np.ndarray:
        """Every seat's points as they stand, float64, shape `(num_envs, num_players)`."""
        return self.learners.scores()

    def render(self) -> tuple[Any, ...] | None:
        """Each table as its learner sees it (see `SeatEnv.render`); with "human" the window shows the first one."""
        if self.render_mode is None:
            return None
        if not self.learners.started:
            raise UsageError("nothing to draw before the first reset")
        if self.render_mode == "human":
            self._pictures.show(self._scene(0))
            return None
        return tuple(self._pictures.show(self._scene(i)) for i in range(self.num_envs))

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _scene(self, i: int) -> Scene:
        seat = int(self.learners.episodes["learner"][i])
        return self.game.definition.scene(self.learners.view(i, seat)[0], self.game.row[0], seat)

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Close the window, if there is one."""
        self._pictures.close()


def _mode(mode: str | AutoresetMode) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    for each in AutoresetMode:
        if one_of(mode, (each.name, each.value)):
            return each
    raise OptionError(f"unknown autoreset_mode {mode!r}; {closest(mode, [each.name for each in AutoresetMode])}")
