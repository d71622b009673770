"""What an action means to a person: its words, the cards it is played with, and why a card cannot be played.

All of it is read from the texts of actions and cards, which are the same in records; so a game of its own needs nothing
here, and is played with the action's text where it is none of those known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pigenv.render.faces import SUITS, card_name
from pigenv.scene import Scene, Zone

__all__ = ["COMMITMENTS", "Move", "described", "own_zone", "why_not"]

COMMITMENTS: Final = frozenset({"wait", "anticipate"})
"""Actions that say, before a card is shown, how a seat will react to it."""

_SEVERAL: Final = re.compile(r"(\d+|W)x(\d+)(?:\+Wx(\d+))?")
_WAY: Final = re.compile(r"(\d+)([-=])")
_COUNTS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
_WORDS: Final = {
    "pickup": "Take the pile",
    "keep": "Keep the hand",
    "wait": "Wait and see",
    "anticipate": "Slap whatever comes",
}


@dataclass(frozen=True)
class Move:
    """A legal action as a person is offered it.

    Attributes:
        action: Its text, as in records.
        label: What it does, in words.
        targets: The cards that a person may touch to choose it: name of the zone, whether it is the seat's own, and the
            card's text (None for any card there).
        count: How many cards are played at once.
    """

    action: str
    label: str
    targets: tuple[tuple[str, bool, str | None], ...] = ()
    count: int = 1


def own_zone(scene: Scene, name: str) -> Zone | None:
    """A zone of the seat that looks, or None."""
    return next((zone for zone in scene.zones if zone.seat == scene.looking and zone.name == name), None)


def _plural(card: str, count: int, game: str) -> str:
    name = card_name(card, game).split(",")[0]
    if count == 1:
        return name
    return f"{_COUNTS[count] if count < len(_COUNTS) else count} {name}s"


def described(action: str, scene: Scene, game: str) -> Move:
    """An action's words and targets in a position, as the seat that looks sees it."""
    hand = own_zone(scene, "hand")
    source = "hand" if hand is None or hand.cards else "face_up"
    if found := _SEVERAL.fullmatch(action):
        card, count, wild = found[1], int(found[2]), int(found[3] or 0)
        label = f"Play {_plural(card, count, game)}" + (f" on {_plural('W', wild, game)}" if wild else "")
        cards = [card, "W"] if wild else [card]
        zones = [source]
        # More than the hand holds: the rest lies face up.
        if source == "hand" and hand is not None and hand.cards.count(card) < count:
            zones.append("face_up")
        return Move(action, label, tuple((zone, True, each) for zone in zones for each in cards), count + wild)
    if found := _WAY.fullmatch(action):
        label = f"Subtract {found[1]}" if found[2] == "-" else f"Make the pile value {found[1]}"
        return Move(action, label, (("hand", True, found[1]),))
    word, _, rest = action.partition(" ")
    if word == "show" and rest:
        return Move(action, f"Lay {_plural(rest, 1, game)} face up", (("hand", True, rest),))
    if word == "return" and rest:
        return Move(action, f"Put the hand back, {card_name(rest, game)} on top", (("hand", True, rest),))
    if word == "suit" and rest in SUITS:
        return Move(action, f"Name {SUITS[rest][0]}")
    if action == "flip":
        ring = any(zone.name == "ring" for zone in scene.zones)
        zone = ("ring", False, None) if ring else ("face_down", True, None)
        return Move(action, "Turn a card of the ring" if ring else "Turn a face-down card", (zone,))
    if action.startswith("pickup"):
        card = action.partition("+")[2]
        if card:
            return Move(action, f"Take the pile and your face-up {_plural(card, 1, game)}", (("face_up", True, card),))
        return Move(action, _WORDS["pickup"], (("pile", False, None),))
    if action in _WORDS:
        return Move(action, _WORDS[action])
    if hand is not None and action in hand.cards:
        return Move(action, f"Play {_plural(action, 1, game)}", (("hand", True, action),))
    return Move(action, action)


def why_not(scene: Scene, zone: Zone, card: str | None, game: str, moves: Sequence[Move]) -> str:
    """Why a card of the seat that looks cannot be played now, in a sentence for that person."""
    if scene.to_move is None:
        return "The game is over."
    if scene.to_move != scene.looking:
        return f"It is seat {scene.to_move}'s turn."
    hand, face_up = own_zone(scene, "hand"), own_zone(scene, "face_up")
    if any(move.action.startswith("show ") for move in moves) and zone.name != "hand":
        return "First choose the cards of your hand to lay face up."
    if zone.name == "face_up" and hand is not None and hand.cards:
        return "The cards of your hand must be played first."
    if zone.name == "face_down" and any(other is not None and other.cards for other in (hand, face_up)):
        return "Face-down cards are turned last, when hand and face-up cards are gone."
    pile = next((each for each in scene.zones if each.seat is None and each.name == "pile"), None)
    top = pile.cards[-1] if pile is not None and pile.cards else None
    if card is not None and top is not None:
        if card.isdigit() and top.isdigit() and int(card) < int(top):
            return f"{card_name(card, game)} is lower than the {card_name(top, game)} on the pile."
        if len(card) == len(top) == 2 and card[1] in SUITS and top[1] in SUITS:
            return f"{card_name(card, game)} would match {card_name(top, game)}: you would take the pile."
    return "This card cannot be played now."
