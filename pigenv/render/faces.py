"""What is printed on a card: playing cards with suits, and the numbers and animals of the pig games.

A face is drawn on a card of 100 × 140 units. Its index in the upper left corner stays in sight where cards overlap.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from pigenv.render.shapes import Ellipse, Polygon, Rect, Shape, Text

__all__ = ["BACK", "Face", "card_name", "face_of"]

INK, RED, BLUE, GREEN, PURPLE, ORANGE = "#1b2a41", "#c8430a", "#005a94", "#00664b", "#8a3d78", "#a8480a"
PINK, SNOUT, DARK_PINK, SAGE = "#f4b6c6", "#e58ba5", "#a8466a", "#7fc4a4"
PAPER, EDGE = "#fffdf6", "#6d6a5f"


@dataclass(frozen=True)
class Face:
    """One side of a card.

    Attributes:
        paper, edge: Colours of the card itself.
        shapes: What is printed on it, in units of a hundredth of its width.
        small: The same for a card too small for pictures.
    """

    paper: str
    edge: str
    shapes: tuple[Shape, ...]
    small: tuple[Shape, ...]


SUITS: Final = {"C": ("clubs", INK), "D": ("diamonds", RED), "H": ("hearts", RED), "S": ("spades", INK)}
RANKS: Final = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
_PLAYING_CARD: Final = re.compile(r"([A2-9TJQK])([CDHS])")

NAMED: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "pig10": {"0": ("Frog", GREEN), "5": ("Pigmaid", PURPLE), "10": ("Pig 10", ORANGE)},
    "pig_pile": {
        "4": ("Hog Tied", BLUE),
        "8": ("Hog Wash", GREEN),
        "11": ("Ewe-Turn", PURPLE),
        "W": ("Hog Wild", ORANGE),
    },
    "pigs_tail": {"X": ("Joker", PURPLE)},
}
"""Cards with a name of their own, by game: name and colour."""


def card_name(card: str | None, game: str = "") -> str:
    """What a card is called, for whoever hears it: "9 of hearts", "8, Hog Wash"."""
    if card is None:
        return "face-down card"
    if found := _PLAYING_CARD.fullmatch(card):
        rank, suit = found.groups()
        return f"{RANKS.get(rank, rank)} of {SUITS[suit][0]}"
    name = NAMED.get(game, {}).get(card)
    if name is None:
        return card
    return f"{card}, {name[0]}" if card.isdigit() else name[0]


@cache
def face_of(card: str, game: str = "") -> Face:
    """The face of a card by its text; `game` without version, for the named cards."""
    if found := _PLAYING_CARD.fullmatch(card):
        return _playing_card(*found.groups())
    name, ink = NAMED.get(game, {}).get(card, ("", INK))
    picture = _PICTURES.get((game, card))
    return _number_card(card, name, ink, picture() if picture else ())


def _playing_card(rank: str, suit: str) -> Face:
    ink = SUITS[suit][1]
    index = "10" if rank == "T" else rank
    shapes: tuple[Shape, ...] = (
        Text(8, 38, index, 38, ink, bold=True),
        *_suit(suit, 21, 57, 27, ink),
        *_suit(suit, 62, 98, 60, ink),
    )
    small = (Text(5, 58, index, 60 if len(index) == 1 else 44, ink, bold=True), *_suit(suit, 36, 100, 62, ink))
    return Face(PAPER, EDGE, shapes, small)


def _number_card(card: str, name: str, ink: str, picture: Sequence[Shape]) -> Face:
    index = Text(8, 38, card, 36 if len(card) < 3 else 24, ink, bold=True)
    low = 78.0 if name else 86.0
    center: tuple[Shape, ...]
    if picture:
        center = tuple(shape.moved(0, 0, 1) for shape in picture)
    else:
        size = 64.0 if len(card) < 3 else 100 / len(card)
        center = (Text(52, low + 22, card, size, ink, "middle", True), *_snout(52, 118, 11))
    frame = (Rect(4, 4, 92, 132, 8, "none", ink, 2.5),) if name else ()
    words = (Text(50, 130, name, 17 if len(name) < 8 else 16, ink, "middle", True),) if name else ()
    size = 66.0 if len(card) == 1 else 45.0 if len(card) == 2 else 150 / len(card)
    small: tuple[Shape, ...] = (Text(6, 66, card, size, ink, bold=True),)
    if name:
        small = (Rect(5, 5, 90, 130, 8, "none", ink, 7), *small, Rect(16, 98, 68, 20, 6, ink))
    return Face(PAPER, EDGE, (*frame, index, *center, *words), small)


# --- suits ------------------------------------------------------------------------------------------------------------


def _suit(suit: str, x: float, y: float, size: float, ink: str) -> tuple[Shape, ...]:
    """A suit's sign about a middle, so high."""
    r = size / 2

    def at(*points: tuple[float, float]) -> Polygon:
        return Polygon(tuple((x + px * r, y + py * r) for px, py in points), ink)

    def disc(px: float, py: float, radius: float) -> Ellipse:
        return Ellipse(x + px * r, y + py * r, radius * r, radius * r, ink)

    stem = at((0.0, 0.1), (0.32, 1.0), (-0.32, 1.0))
    if suit == "D":
        return (at((0, -1), (0.74, 0), (0, 1), (-0.74, 0)),)
    if suit == "H":
        return (disc(-0.43, -0.42, 0.47), disc(0.43, -0.42, 0.47), at((-0.84, -0.18), (0, 1), (0.84, -0.18), (0, -0.5)))
    if suit == "S":
        upper = at((-0.82, 0.08), (0, -1), (0.82, 0.08), (0, 0.4))
        return (upper, disc(-0.43, 0.26, 0.45), disc(0.43, 0.26, 0.45), stem)
    return (disc(0, -0.52, 0.45), disc(-0.48, 0.2, 0.45), disc(0.48, 0.2, 0.45), stem)


# --- animals ----------------------------------------------------------------------------------------------------------


def _snout(x: float, y: float, r: float, fill: str = SNOUT) -> tuple[Shape, ...]:
    return (
        Ellipse(x, y, r, r * 0.72, fill, DARK_PINK, r * 0.1),
        Ellipse(x - r * 0.36, y, r * 0.16, r * 0.28, DARK_PINK),
        Ellipse(x + r * 0.36, y, r * 0.16, r * 0.28, DARK_PINK),
    )


def _pig(x: float = 50, y: float = 80, r: float = 31) -> tuple[Shape, ...]:
    """A pig's head about a middle."""

    def ear(side: float) -> Polygon:
        corners = ((0.42, -0.82), (1.02, -1.12), (0.92, -0.36))
        return Polygon(tuple((x + side * px * r, y + py * r) for px, py in corners), SNOUT, DARK_PINK, 2)

    return (
        ear(-1),
        ear(1),
        Ellipse(x, y, r, r * 0.92, PINK, DARK_PINK, 2),
        Ellipse(x - r * 0.4, y - r * 0.28, r * 0.1, r * 0.14, INK),
        Ellipse(x + r * 0.4, y - r * 0.28, r * 0.1, r * 0.14, INK),
        *_snout(x, y + r * 0.24, r * 0.42),
    )


def _frog() -> tuple[Shape, ...]:
    smile = tuple((50 + 20 * math.cos(a), 86 + 11 * math.sin(a)) for a in [math.pi * k / 12 for k in range(13)])
    return (
        *(
            shape
            for x in (34, 66)
            for shape in (
                Ellipse(x, 58, 13, 13, SAGE, GREEN, 2),
                Ellipse(x, 57, 6, 7, "#ffffff", GREEN, 1),
                Ellipse(x, 58, 2.6, 3.6, INK),
            )
        ),
        Ellipse(50, 84, 35, 27, SAGE, GREEN, 2),
        Polygon(smile, "none", GREEN, 3),
        Ellipse(44, 76, 1.6, 1.6, GREEN),
        Ellipse(56, 76, 1.6, 1.6, GREEN),
    )


def _pigmaid() -> tuple[Shape, ...]:
    """The pig with a ribbon."""
    bow: tuple[Shape, ...] = (
        Polygon(((66, 46), (86, 34), (86, 58)), PURPLE),
        Polygon(((66, 46), (46, 34), (46, 58)), PURPLE),
        Ellipse(66, 46, 6, 6, "#d9a7cb", PURPLE, 1.5),
    )
    return (*_pig(50, 84, 28), *bow)


def _crowned() -> tuple[Shape, ...]:
    crown = Polygon(((36, 60), (33, 42), (45, 50), (55, 38), (65, 50), (77, 42), (74, 60)), "#e8b33a", "#7a5200", 2)
    return (*_pig(55, 87, 26), crown)


def _tied() -> tuple[Shape, ...]:
    """The pig behind a rope."""
    rope = [Rect(16, y, 68, 6, 3, "#d2b48c", BLUE, 1.5, turn) for y, turn in ((76, -22), (76, 22))]
    return (*_pig(50, 78, 30), *rope, Ellipse(50, 79, 6, 6, "#d2b48c", BLUE, 1.5))


def _washed() -> tuple[Shape, ...]:
    """The pig in bubbles."""
    bubbles = [(24, 60, 9), (78, 56, 7), (18, 92, 7), (84, 88, 10), (64, 104, 8), (34, 104, 10), (50, 109, 7)]
    return (*_pig(50, 78, 27), *(Ellipse(x, y, r, r, "#dff3ee", GREEN, 1.5) for x, y, r in bubbles))


def _turned() -> tuple[Shape, ...]:
    """A ewe's head under an arrow that turns back."""
    arc = tuple((50 + 30 * math.cos(a), 62 + 22 * math.sin(a)) for a in [math.pi + math.pi * k / 16 for k in range(17)])
    wool = [(50, 72, 12), (36, 76, 11), (64, 76, 11), (31, 89, 11), (69, 89, 11), (38, 101, 11), (62, 101, 11)]
    return (
        Polygon(arc, "none", PURPLE, 6),
        Polygon(((70, 58), (90, 58), (80, 72)), PURPLE),
        *(Ellipse(x, y, r, r, "#f1edf4", PURPLE, 1.5) for x, y, r in wool),
        Ellipse(50, 91, 15, 19, "#5b4a5e"),
        Ellipse(44, 86, 2.2, 2.8, "#ffffff"),
        Ellipse(56, 86, 2.2, 2.8, "#ffffff"),
        Polygon(((45, 99), (50, 103), (55, 99)), "none", "#f1edf4", 2),
    )


def _wild() -> tuple[Shape, ...]:
    """The pig before a burst."""
    rays = tuple(
        (50 + radius * math.cos(math.pi * k / 12), 78 + radius * math.sin(math.pi * k / 12))
        for k, radius in ((k, 45 if k % 2 else 31) for k in range(24))
    )
    return (Polygon(rays, "#f5c04a", ORANGE, 2), *_pig(50, 80, 24))


def _joker() -> tuple[Shape, ...]:
    """The pig in a fool's cap."""
    cap: tuple[Shape, ...] = (
        Polygon(((26, 62), (12, 38), (38, 46), (50, 24), (62, 46), (88, 38), (74, 62)), "#d9a7cb", PURPLE, 2),
        *(Ellipse(x, y, 5, 5, "#e8b33a", PURPLE, 1.5) for x, y in ((12, 38), (50, 24), (88, 38))),
    )
    return (*_pig(50, 86, 27), *cap)


_PICTURES: Final = {
    ("pig10", "0"): _frog,
    ("pig10", "5"): _pigmaid,
    ("pig10", "10"): _crowned,
    ("pig_pile", "4"): _tied,
    ("pig_pile", "8"): _washed,
    ("pig_pile", "11"): _turned,
    ("pig_pile", "W"): _wild,
    ("pigs_tail", "X"): _joker,
}

_BACK_SHAPES: Final[tuple[Shape, ...]] = (
    Rect(9, 9, 82, 122, 6, "none", "#fbe4ec", 3),
    Ellipse(50, 70, 27, 20, "#e9a3ba", "#fbe4ec", 3),
    Ellipse(41, 70, 4, 8, DARK_PINK),
    Ellipse(59, 70, 4, 8, DARK_PINK),
)
BACK: Final = Face("#b85a80", "#5f2440", _BACK_SHAPES, _BACK_SHAPES)
"""The back of every card: a snout."""
