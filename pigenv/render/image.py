"""Pictures as pixels, painted from the same drawing as SVG, and a window that shows them. Need the extra `play`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from math import cos, radians, sin
from pathlib import Path
from typing import Any, Final

import numpy as np

from pigenv.errors import MissingExtraError, UsageError
from pigenv.render.drawing import HEIGHT, WIDTH, Drawing, draw_table
from pigenv.render.shapes import Ellipse, Rect, Shape, Text
from pigenv.scene import Scene

__all__ = ["Window", "draw_image", "save_png", "to_pixels"]

# The font that comes with Pillow has few signs beyond ASCII.
_PLAIN: Final = str.maketrans({"×": "x", "·": "-", "…": "...", "–": "-"})
_FINER: Final = 2  # painted so much larger, then made smaller: edges come out smooth


def draw_image(scene: Scene, game: str = "", names: Sequence[str] = (), scale: float = 1.0) -> np.ndarray:
    """Draw a position as pixels.

    Args:
        scene: What lies where, as one seat or everybody sees it.
        game: The game's name without version (`pig10`), for the pictures and names on its cards.
        names: Who sits where, by seat; empty where nobody says.
        scale: 1 for 800 × 600.

    Returns:
        uint8, shape `(height, width, 3)`.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    return to_pixels(draw_table(scene, game, names), scale)


def save_png(path: Path, scene: Scene, game: str = "", names: Sequence[str] = (), scale: float = 2.0) -> None:
    """Write `draw_image` to a PNG file."""
    _pillow().Image.fromarray(draw_image(scene, game, names, scale)).save(path, "PNG", optimize=True)


def to_pixels(drawing: Drawing, scale: float = 1.0) -> np.ndarray:
    """A drawing as pixels, uint8, shape `(height, width, 3)`."""
    pillow = _pillow()
    width, height = round(drawing.width * scale), round(drawing.height * scale)
    finer = scale * _FINER
    sheet = pillow.Image.new("RGB", (width * _FINER, height * _FINER), "white")
    brush = pillow.ImageDraw.Draw(sheet)
    for shape in drawing.shapes:
        _paint(brush, shape.moved(0, 0, finer))
    return np.asarray(sheet.resize((width, height), pillow.Image.Resampling.BOX))


def _pillow() -> Any:
    """The package that paints."""
    try:
        import PIL
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont
    except ImportError:
        raise MissingExtraError("Pillow", "play") from None
    return PIL


@cache
def _font(size: int) -> Any:
    # The one that comes with Pillow: pictures are the same wherever they are made.
    return _pillow().ImageFont.load_default(size)


def _paint(brush: Any, shape: Shape) -> None:
    if isinstance(shape, Text):
        font = _font(max(1, round(shape.size)))
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
        bold = max(1, round(shape.size * 0.03)) if shape.bold else 0
        brush.text(
            (shape.x, shape.y),
            shape.text.translate(_PLAIN),
            shape.fill,
            font,
            anchor,
            stroke_width=bold,
            stroke_fill=shape.fill,
        )
        return
    fill = None if shape.fill == "none" else shape.fill
    line = None if shape.stroke == "none" else shape.stroke
    width = max(1, round(shape.stroke_width))
    if isinstance(shape, Rect) and not shape.turn:
        corners = (shape.x, shape.y, shape.x + shape.w, shape.y + shape.h)
        brush.rounded_rectangle(corners, min(shape.radius, shape.w / 2, shape.h / 2), fill, line, width)
    elif isinstance(shape, Ellipse):
        corners = (shape.x - shape.rx, shape.y - shape.ry, shape.x + shape.rx, shape.y + shape.ry)
        brush.ellipse(corners, fill, line, width)
    else:
        points = list(_turned(shape) if isinstance(shape, Rect) else shape.points)
        if fill is not None or isinstance(shape, Rect):
            brush.polygon(points, fill, line, width)
        else:
            brush.line(points, line, width, "curve")


def _turned(rect: Rect) -> list[tuple[float, float]]:
    """The corners of a turned rectangle; at the size of a ring's card its round corners cannot be seen."""
    x, y = rect.x + rect.w / 2, rect.y + rect.h / 2
    c, s = cos(radians(rect.turn)), sin(radians(rect.turn))
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    return [(x + (i * rect.w * c - j * rect.h * s) / 2, y + (i * rect.w * s + j * rect.h * c) / 2) for i, j in corners]


class Window:
    """A window that shows a picture after each step.

    Args:
        title: What stands above it.

    Raises:
        MissingExtraError: pygame-ce or Pillow is not installed.
        UsageError: There is no screen.
    """

    def __init__(self, title: str) -> None:
        _pillow()
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ImportError:
            raise MissingExtraError("pygame-ce", "play") from None
        self._pygame: Any = pygame
        try:
            pygame.display.init()
            self._screen = pygame.display.set_mode((WIDTH, HEIGHT))
        except pygame.error as error:
            raise UsageError(
                f"no window can be opened ({error}); use render_mode 'ansi', 'svg' or 'rgb_array'"
            ) from None
        pygame.display.set_caption(title)
        self.is_open: bool = True
        self._next = 0.0

    def show(self, pixels: np.ndarray, fps: float) -> None:
        """Show a picture, not sooner than the one before has had its time; once closed by hand, nothing is shown."""
        pygame = self._pygame
        while self.is_open:
            if any(event.type == pygame.QUIT for event in pygame.event.get()):
                self.close()
            elif pygame.time.get_ticks() < self._next:
                pygame.time.wait(10)
            else:
                self._screen.blit(pygame.surfarray.make_surface(pixels.swapaxes(0, 1)), (0, 0))
                pygame.display.flip()
                self._next = pygame.time.get_ticks() + 1000 / fps
                return

    def close(self) -> None:
        """Close it; once is enough."""
        if self.is_open:
            self.is_open = False
            self._pygame.display.quit()
