"""What lies where on the table, as plain data: a game says it once, and every picture is drawn from it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Scene", "Zone"]


@dataclass(frozen=True)
class Zone:
    """One place where cards lie.

    Attributes:
        name: What the place is called: "hand", "pile", "stock".
        seat: Whose it is; None for the middle of the table.
        cards: The cards by their text, bottom to top; None for a card that lies face down to whoever looks.
        note: What else is to be seen there, such as the pile's value.
    """

    name: str
    seat: int | None
    cards: tuple[str | None, ...]
    note: str = ""


@dataclass(frozen=True)
class Scene:
    """A position as somebody sees it.

    Attributes:
        num_players: How many sit at the table.
        to_move: The seat whose decision it is; None when the game is over.
        looking: The seat that looks, or −1 for an open table.
        zones: Every place where cards lie, the middle first, then seat by seat.
        scores: Each seat's points as they stand.
        called: The pile value or event last called out; empty where there is none.
        hints: What a good player would look at, in sentences, where the seat that looks is to move; shown on demand.
    """

    num_players: int
    to_move: int | None
    looking: int
    zones: tuple[Zone, ...]
    scores: tuple[float, ...]
    called: str = ""
    hints: tuple[str, ...] = ()
