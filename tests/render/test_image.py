"""Scenes as pixels, and the window."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from pigenv.render import faces
from pigenv.render.drawing import draw_table
from pigenv.render.image import draw_image
from pigenv.render.shapes import Rect
from tests.render import scenes

pytest.importorskip("PIL")


def colour(text: str) -> np.ndarray:
    return np.array([int(text[at : at + 2], 16) for at in (1, 3, 5)])


@pytest.mark.parametrize("game", scenes.SCENES)
def test_pixels_have_the_places_of_the_drawing(game: str) -> None:
    """Where the drawing has a card, the picture has its paper; a picture twice as large has it twice as far."""
    scene = scenes.SCENES[game]
    pixels = draw_image(scene, game)
    assert (pixels.shape, pixels.dtype) == ((600, 800, 3), np.uint8)
    large = draw_image(scene, game, scale=2)
    assert large.shape == (1200, 1600, 3)
    cards = [shape for shape in draw_table(scene, game).shapes if isinstance(shape, Rect) and shape.fill == faces.PAPER]
    assert cards
    for card in cards:
        # Below the index, at the left edge of the card: nothing is printed there, and nothing covers it.
        x, y = card.x + card.w * 0.09, card.y + card.w * 0.78
        for picture, scale in ((pixels, 1), (large, 2)):
            found = picture[round(y * scale), round(x * scale)]
            assert np.abs(found - colour(faces.PAPER)).max() < 100 or card.w < 40


def test_equal_scenes_equal_pixels() -> None:
    """A picture depends on the scene alone."""
    assert np.array_equal(draw_image(scenes.pig10(), "pig10"), draw_image(scenes.pig10(), "pig10"))
    assert not np.array_equal(
        draw_image(scenes.pig10(looking=0), "pig10"), draw_image(scenes.pig10(looking=1), "pig10")
    )


def test_a_missing_package_is_named() -> None:
    """Without Pillow the error names the extra to install."""
    script = (
        "import sys; sys.modules['PIL'] = None\n"
        "from pigenv.errors import MissingExtraError\n"
        "from pigenv.render.image import draw_image\n"
        "from pigenv.scene import Scene\n"
        "try:\n    draw_image(Scene(2, 0, 0, (), (0.0, 0.0)))\n"
        "except MissingExtraError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "pigenv[play]" in done.stdout
