"""Pictures as SVG: text that a browser, a notebook or a paper shows at any size. Needs no extra package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from pigenv.render.drawing import CARD_RATIO, Drawing, draw_card, draw_table
from pigenv.render.faces import card_name
from pigenv.render.shapes import Ellipse, Polygon, Rect, Shape, Text
from pigenv.scene import Scene

__all__ = ["card_svg", "draw_svg", "to_svg"]

FONT: Final = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_CARD: Final = 100.0


def draw_svg(scene: Scene, game: str = "", names: Sequence[str] = ()) -> str:
    """Draw a position as an SVG document of 800 × 600.

    Args:
        scene: What lies where, as one seat or everybody sees it.
        game: The game's name without version (`pig10`), for the pictures and names on its cards.
        names: Who sits where, by seat; empty where nobody says.
    """
    return to_svg(draw_table(scene, game, names))


def card_svg(card: str | None, game: str = "") -> str:
    """Draw a single card, None for its back, as an SVG document of 100 × 140."""
    edge = 1.5
    sheet = Drawing(_CARD + 2 * edge, _CARD * CARD_RATIO + 2 * edge, card_name(card, game))
    draw_card(sheet, card, game, edge, edge, _CARD)
    return to_svg(sheet)


def to_svg(drawing: Drawing) -> str:
    """A drawing as an SVG document."""
    width, height = _number(drawing.width), _number(drawing.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="{FONT}">',
        f"<title>{escape(drawing.title)}</title>",
        *map(_element, drawing.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """A number in as few characters as a picture needs."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if "." in f"{value:.2f}" else f"{value:.2f}"


def _element(shape: Shape) -> str:
    if isinstance(shape, Text):
        anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
        bold = ' font-weight="bold"' if shape.bold else ""
        place = f'x="{_number(shape.x)}" y="{_number(shape.y)}" font-size="{_number(shape.size)}"'
        return f'<text {place} fill="{shape.fill}"{anchor}{bold}>{escape(shape.text)}</text>'
    stroke = ""
    if shape.stroke != "none":
        stroke = f' stroke="{shape.stroke}" stroke-width="{_number(shape.stroke_width)}"'
    paint = f'fill="{shape.fill}"{stroke}'
    if isinstance(shape, Rect):
        turn = ""
        if shape.turn:
            middle = f"{_number(shape.x + shape.w / 2)} {_number(shape.y + shape.h / 2)}"
            turn = f' transform="rotate({_number(shape.turn)} {middle})"'
        place = f'x="{_number(shape.x)}" y="{_number(shape.y)}" width="{_number(shape.w)}" height="{_number(shape.h)}"'
        return f'<rect {place} rx="{_number(shape.radius)}" {paint}{turn}/>'
    if isinstance(shape, Ellipse):
        place = f'cx="{_number(shape.x)}" cy="{_number(shape.y)}" rx="{_number(shape.rx)}" ry="{_number(shape.ry)}"'
        return f"<ellipse {place} {paint}/>"
    assert isinstance(shape, Polygon)
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
    if shape.fill == "none":
        return f'<polyline points={quoteattr(points)} {paint} stroke-linecap="round" stroke-linejoin="round"/>'
    return f'<polygon points={quoteattr(points)} {paint} stroke-linejoin="round"/>'
