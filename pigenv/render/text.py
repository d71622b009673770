"""A scene as text for a terminal: what `env.render()` and `pigenv replay` show."""

from __future__ import annotations

import textwrap
from typing import Final

from pigenv.scene import Scene, Zone

__all__ = ["FACE_DOWN", "WIDTH", "draw_text"]

FACE_DOWN: Final = "▮"
WIDTH: Final = 80
_FEW: Final = 6  # so many cards of a kind in a row are drawn one by one, more are counted


def draw_text(scene: Scene, width: int = WIDTH) -> str:
    """Draw a scene, the middle first, then a line or more for each seat; `>` marks the seat to move.

    Args:
        scene: What lies where, as one seat or everybody sees it.
        width: Columns; longer lines are broken between cards.

    Returns:
        Lines joined by line ends, none at the end.
    """
    lines: list[str] = []
    if scene.called:
        lines += _wrapped("  ", scene.called, width)
    for zone in scene.zones:
        if zone.seat is None:
            lines += _wrapped(f"  {_name(zone):<8}", _contents(zone), width)
    for seat in range(scene.num_players):
        mark = ">" if seat == scene.to_move else " "
        you = " (you)" if seat == scene.looking else " " * 6 * (scene.looking >= 0)
        points = f"{scene.scores[seat]:g}"
        head = f"{mark} seat {seat:<2}{you} {points:>4} point{' ' if points == '1' else 's'}  "
        zones = [f"{_name(zone)} {_contents(zone)}" for zone in scene.zones if zone.seat == seat]
        lines += _wrapped(head, " | ".join(zones), width)
    if scene.to_move is None:
        lines.append("  the game is over")
    return "\n".join(lines)


def _name(zone: Zone) -> str:
    return zone.name.replace("_", " ")


def _contents(zone: Zone) -> str:
    """The cards bottom to top, runs of face-down ones counted, and the note."""
    words: list[str] = []
    run = 0
    for card in (*zone.cards, ""):
        if card is None:
            run += 1
            continue
        if run:
            words += [f"{FACE_DOWN}×{run}"] if run > _FEW else [FACE_DOWN] * run
            run = 0
        if card:
            words.append(card)
    cards = " ".join(words) or "–"
    return f"{cards}  ({zone.note})" if zone.note else cards


def _wrapped(head: str, text: str, width: int) -> list[str]:
    """Head and text, further lines indented to where the text began."""
    # A narrow terminal would leave no room beside the head.
    indent = " " * min(len(head), width // 2)
    return textwrap.wrap(head + text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
