"""The kinds of shapes that a drawing is made of, and how each is moved and written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

__all__ = ["Ellipse", "Polygon", "Rect", "Shape", "Text"]


@dataclass(frozen=True)
class Rect:
    """A rectangle with round corners, turned about its middle by degrees clockwise."""

    x: float
    y: float
    w: float
    h: float
    radius: float = 0.0
    fill: str = "none"
    stroke: str = "none"
    stroke_width: float = 1.0
    turn: float = 0.0

    def moved(self, x: float, y: float, scale: float) -> Rect:
        """The same shape in a corner at (x, y), scaled."""
        return replace(
            self,
            x=x + self.x * scale,
            y=y + self.y * scale,
            w=self.w * scale,
            h=self.h * scale,
            radius=self.radius * scale,
            stroke_width=self.stroke_width * scale,
        )


@dataclass(frozen=True)
class Ellipse:
    """An ellipse by its middle and half axes."""

    x: float
    y: float
    rx: float
    ry: float
    fill: str = "none"
    stroke: str = "none"
    stroke_width: float = 1.0

    def moved(self, x: float, y: float, scale: float) -> Ellipse:
        """See `Rect.moved`."""
        return replace(
            self,
            x=x + self.x * scale,
            y=y + self.y * scale,
            rx=self.rx * scale,
            ry=self.ry * scale,
            stroke_width=self.stroke_width * scale,
        )


@dataclass(frozen=True)
class Polygon:
    """A filled outline; without fill an open line."""

    points: tuple[tuple[float, float], ...]
    fill: str = "none"
    stroke: str = "none"
    stroke_width: float = 1.0

    def moved(self, x: float, y: float, scale: float) -> Polygon:
        """See `Rect.moved`."""
        points = tuple((x + px * scale, y + py * scale) for px, py in self.points)
        return replace(self, points=points, stroke_width=self.stroke_width * scale)


@dataclass(frozen=True)
class Text:
    """A line of text; (x, y) is on its baseline, at its start, middle or end."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: str = "start"
    bold: bool = False

    def moved(self, x: float, y: float, scale: float) -> Text:
        """See `Rect.moved`."""
        return replace(self, x=x + self.x * scale, y=y + self.y * scale, size=self.size * scale)


Shape: TypeAlias = Rect | Ellipse | Polygon | Text
