"""What an environment's `render` gives, in each of its modes."""

from __future__ import annotations

from typing import Any, Final

from pigenv.game import Game
from pigenv.render.image import Window, draw_image
from pigenv.render.svg import draw_svg
from pigenv.render.text import draw_text
from pigenv.scene import Scene

__all__ = ["RENDER_FPS", "RENDER_MODES", "Pictures"]

RENDER_MODES: Final = ["human", "ansi", "rgb_array", "svg"]
RENDER_FPS: Final = 4


class Pictures:
    """Draws the positions of one environment.

    Args:
        game: The game.
        mode: "ansi" (text), "svg" (an SVG document), "rgb_array" (uint8, `(600, 800, 3)`), "human" (a window, which
            shows each position for at least 1 / `RENDER_FPS` seconds), or None.
    """

    def __init__(self, game: Game, mode: str | None) -> None:
        self.game: Game = game
        self.mode: str | None = mode
        self._window: Window | None = None

    def show(self, scene: Scene) -> Any:
        """The picture of a position; with "human" it is shown and None returned.

        Raises:
            MissingExtraError: The mode needs a package that is not installed.
            UsageError: A window is asked for where there is no screen.
        """
        base = self.game.definition.base
        if self.mode == "ansi":
            return draw_text(scene)
        if self.mode == "svg":
            return draw_svg(scene, base)
        if self.mode == "rgb_array":
            return draw_image(scene, base)
        if self.mode == "human":
            if self._window is None:
                self._window = Window(self.game.definition.name)
            self._window.show(draw_image(scene, base), RENDER_FPS)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        # A window belongs to its process; a copy opens its own.
        return {**self.__dict__, "_window": None}
