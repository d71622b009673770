"""Positions of all three games, put together by hand."""

from __future__ import annotations

from pigenv.game import ANYBODY
from pigenv.scene import Scene, Zone

RANKS, SUITS = "A23456789TJQK", "CDHS"
PACK = tuple(rank + suit for suit in SUITS for rank in RANKS)


def pig10(num_players: int = 4, looking: int = 0) -> Scene:
    """Three cards each, a pile of six."""
    hands = [("0", "5", "10") if looking in (ANYBODY, seat) else (None,) * 3 for seat in range(num_players)]
    middle = (Zone("pile", None, ("4", "3", "0", "1", "5", "2"), "value 8"), Zone("stock", None, (None,) * 38))
    zones = middle + tuple(Zone("hand", seat, hand) for seat, hand in enumerate(hands))
    return Scene(num_players, 1, looking, zones, tuple(map(float, range(num_players))), "pile value 8")


def pig_pile(num_players: int = 4, looking: int = 0, hand: int = 9) -> Scene:
    """Three face-up and three face-down cards each, and a hand."""
    zones = [
        Zone("pile", None, ("1", "4", "7", "7", "8", "W", "W", "11")),
        Zone("stock", None, (None,) * 20),
        Zone("washed", None, ("8", "9", "9")),
    ]
    cards = tuple([*map(str, range(1, 13)), "W"][k % 13] for k in range(hand))
    for seat in range(num_players):
        zones.append(Zone("hand", seat, cards if looking in (ANYBODY, seat) else (None,) * hand))
        zones += [Zone("face_up", seat, ("4", "8", "W")), Zone("face_down", seat, (None,) * 3)]
    return Scene(num_players, 2, looking, tuple(zones), (0.0,) * num_players, "Hog Wild")


def pigs_tail(num_players: int = 4, ring: int = 30, hand: int = 5, over: bool = False) -> Scene:
    """A ring, a pile, and open hands."""
    zones = [Zone("ring", None, (None,) * ring), Zone("pile", None, (*PACK[:4], "X"))]
    zones += [
        Zone("hand", seat, tuple(PACK[(4 + seat * hand + k) % 52] for k in range(hand))) for seat in range(num_players)
    ]
    return Scene(num_players, None if over else 0, 0, tuple(zones), (float(hand),) * num_players)


SCENES = {
    "pig10": pig10(),
    "pig_pile": pig_pile(),
    "pigs_tail": pigs_tail(),
}
