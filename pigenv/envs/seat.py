"""A Gymnasium environment: one seat to play, agents at the others."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from pigenv import registry
from pigenv.envs.learner import Learners, Opponents
from pigenv.envs.options import checked_mask, checked_policy, checked_render_mode, deals_of
from pigenv.envs.pictures import RENDER_FPS, RENDER_MODES, Pictures
from pigenv.errors import UsageError
from pigenv.game import RUNNING, TERMINATED, TRUNCATED, Game
from pigenv.render.svg import draw_svg
from pigenv.scene import Scene
from pigenv.table import checked_seed, whole_action

__all__ = ["SeatEnv", "single_spaces"]


def single_spaces(game: Game, mask: str) -> tuple[spaces.Space[Any], spaces.Discrete]:
    """Observation and action space of one seat."""
    box = spaces.Box(0.0, 1.0, (game.layout.size,), np.float32)
    actions = spaces.Discrete(game.num_actions)
    if mask == "info":
        return box, actions
    return spaces.Dict({"observation": box, "action_mask": spaces.MultiBinary(game.num_actions)}), actions


class SeatEnv(gymnasium.Env[Any, Any]):
    """One seat of a game; whatever is paid while the others move is credited to the learner's last step.

    Args:
        game: The game's name, or a `Game`.
        num_players, preset, rules, memory, max_players, reward: See `pigenv.game.Game`.
        opponents: Who plays the other seats: an agent or its name, or a list that fills them clockwise from the learner
            and is repeated.
        learner_seat: A seat, "random" (the default), or "rotate" (one further each episode).
        mask: Where the action mask is: "info" (the observation is a plain Box; `info["action_mask"]`), "obs" (a dict of
            `observation` and `action_mask`), or "both". `action_masks()` gives it in any case, as sb3-contrib asks.
        illegal: What happens to an illegal action: "forfeit" (the game ends, the learner gets −1), "raise"
            (`IllegalActionError`, the state unchanged), or "random" (a legal one is played instead).
        render_mode: What `render` gives of the table as the learner sees it: "ansi" (text), "svg" (an SVG document),
            "rgb_array" (uint8, `(600, 800, 3)`), "human" (a window, drawn at each step), or None. The last two need the
            extra `play`.

    Infos always hold `seat` (the learner's), `illegal` (1 where its illegal action ended the game), `replaced` (illegal
    actions replaced in this episode), and `action_mask` with `mask="info"` or "both". At the end the mask is all ones.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game,
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
    ) -> None:
        self.game: Game = registry.make(game, num_players, preset, rules, memory, max_players, reward)
        self._in_obs, self._in_info = checked_mask(mask) != "info", mask != "obs"
        self.render_mode: str | None = checked_render_mode(render_mode, RENDER_MODES)
        self._pictures = Pictures(self.game, render_mode)
        self.learners: Learners = Learners(self.game, 1, opponents, learner_seat, checked_policy(illegal))
        spaces: tuple[Any, Any] = single_spaces(self.game, mask)
        self.observation_space: Any = spaces[0]
        self.action_space: Any = spaces[1]
        self._over = TERMINATED

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode, up to the learner's first decision.

        Args:
            seed: Episode 0 of this seed, in 0 … 2^64−1; also seeds the opponents. None goes on with the next episode.
            options: `{"deal": …}` deals the first rounds by hand: a record's deal, or a list of one a round.

        Raises:
            SeedError, DealError, OptionError: Nothing has changed.
        """
        deals = deals_of(options)
        self._check_deals(deals)
        if seed is not None:
            super().reset(seed=checked_seed(seed))
        self.learners.seed([seed])
        self.learners.start(np.ones(1, bool), deals)
        self._over = RUNNING
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def _check_deals(self, deals: list[Mapping[str, Any]]) -> None:
        if deals:
            from pigenv.table import Table

            Table(self.game).start(0, 0, deals)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action and let the others move up to the learner's next decision.

        Raises:
            UsageError: There was no reset, or the episode is over.
            IllegalActionError: The action is none of the space, or not legal with `illegal="raise"`; nothing changed.
        """
        if self._over != RUNNING:
            raise UsageError("the episode is over, or there was none; call reset first")
        reward, self._over = self.learners.step_single(whole_action(action, self.game))
        if self.render_mode == "human":
            self.render()
        return self._observation(), reward, self._over == TERMINATED, self._over == TRUNCATED, self._info()

    def action_masks(self) -> np.ndarray:
        """The actions legal now, bool, shape `(num_actions,)`; all true when the episode is over."""
        return self.learners.masks[0] == 1

    def _observation(self) -> Any:
        observation = self.learners.observations[0].copy()
        if not self._in_obs:
            return observation
        return {"observation": observation, "action_mask": self.learners.masks[0].copy()}

    def _info(self) -> dict[str, Any]:
        learner, replaced, offender = self.learners.learner_news()
        info: dict[str, Any] = {"seat": learner, "illegal": int(offender == learner), "replaced": replaced}
        if self._in_info:
            info["action_mask"] = self.learners.masks[0].copy()
        return info

    def scores(self) -> np.ndarray:
        """Every seat's points as they stand, float64, shape `(num_players,)`."""
        return self.learners.scores()[0]

    def render(self) -> Any:
        """The table as the learner sees it, as `render_mode` says; the final position too."""
        if self.render_mode is None:
            return None
        if not self.learners.started:
            raise UsageError("nothing to draw before the first reset")
        return self._pictures.show(self._scene())

    def _scene(self) -> Scene:
        seat = int(self.learners.episodes["learner"][0])
        return self.game.definition.scene(self.learners.view(0, seat)[0], self.game.row[0], seat)

    def _repr_html_(self) -> str:
        """The table as the learner sees it, in a notebook."""
        return draw_svg(self._scene(), self.game.definition.base) if self.learners.started else escape(repr(self))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._pictures.close()
