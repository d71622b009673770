"""A scene as text for a terminal."""

from __future__ import annotations

from pigenv.scene import Scene, Zone

__all__ = ["draw_text"]

FACE_DOWN = "▮"
MOST_FACE_DOWN = 12  # a longer row of hidden cards is given as a number


def draw_text(scene: Scene) -> str:
    """Draw what lies where, the middle first, then seat by seat; "›" marks the seat to move.

    Returns:
        Lines without an ending newline; no colours, so that it reads the same in a log.
    """
    lines = [f"  {zone.name:<6}{_cards(zone)}" for zone in scene.zones if zone.seat is None]
    for seat in range(scene.num_players):
        mark = "›" if seat == scene.to_move else " "
        own = " (you)" if seat == scene.looking else ""
        held = "   ".join(f"{zone.name} {_cards(zone)}" for zone in scene.zones if zone.seat == seat)
        lines.append(f"{mark} seat {seat}  score {scene.scores[seat]:g}   {held}{own}")
    if scene.to_move is None:
        lines.append("  the game is over")
    return "\n".join(lines)


def _cards(zone: Zone) -> str:
    hidden = sum(card is None for card in zone.cards)
    if hidden == len(zone.cards) and hidden > MOST_FACE_DOWN:
        row = f"{FACE_DOWN}×{hidden}"
    else:
        row = " ".join(FACE_DOWN if card is None else card for card in zone.cards) or "–"
    return f"{row}  ({zone.note})" if zone.note else row
