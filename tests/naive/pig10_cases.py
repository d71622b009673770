"""The rulebook cases of Pig 10 as data, one or more a row, named by the row's id.

P10-19 (any game lasts 80 steps and loses no card) is a property of whole games, not a case: random play tests it.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """A position, the actions played from it, and what must hold.

    Seats not named in ``other_hands`` hold any cards. ``expected`` may hold

    - before the first step: "legal" (all action texts, sorted), "legal_for_card" (card to its action texts, sorted);
    - after the last step: "pile", "value", "taken" (seat to cards won, all others 0), "next seat",
      "hand size" (of the mover).
    """

    id: str
    num_players: int
    pile: list[int]
    value: int | None
    mover: int
    hand: list[int]
    steps: list[str]
    expected: dict[str, Any]
    stock: list[int] = field(default_factory=lambda: [1, 2, 3, 4])
    rules: dict[str, Any] = field(default_factory=dict)
    other_hands: dict[int, list[int]] = field(default_factory=dict)


def won(seat: int, cards: int, next_seat: int) -> dict[str, Any]:
    """Expect that a seat won so many cards and the middle is empty."""
    return {"pile": [], "value": None, "taken": {seat: cards}, "next seat": next_seat, "hand size": 3}


def stays(pile: list[int], value: int, next_seat: int) -> dict[str, Any]:
    """Expect that the pile stays in the middle and nobody won anything."""
    return {"pile": pile, "value": value, "taken": {}, "next seat": next_seat, "hand size": 3}


CASES: list[Case] = [
    # Adding up from an empty middle.
    Case("P10-1 first", 4, [], None, 0, [4, 6, 9], ["4"], stays([4], 4, 1)),
    Case("P10-1 second", 4, [], None, 0, [4, 6, 9], ["4", "3"], stays([4, 3], 7, 2), other_hands={1: [3, 6, 9]}),
    Case(
        "P10-1 third",
        4,
        [],
        None,
        0,
        [4, 6, 9],
        ["4", "3", "2"],
        stays([4, 3, 2], 9, 3),
        other_hands={1: [3, 6, 9], 2: [2, 6, 9]},
    ),
    # Above ten the right neighbour wins the pile, at ten the mover.
    Case("P10-2", 4, [4, 3, 2], 9, 3, [6, 1, 0], ["6"], won(2, 4, 0)),
    Case("P10-3", 4, [4, 3, 2], 9, 3, [6, 1, 0], ["1"], won(3, 4, 0)),
    # A five.
    Case("P10-4", 4, [], None, 0, [5, 5, 5], ["5"], {"legal": ["5"], **stays([5], 5, 1)}),
    Case("P10-5 options", 4, [5, 1], 6, 2, [5, 5, 5], [], {"legal": ["5", "5-"]}),
    Case("P10-5 sub", 4, [5, 1], 6, 2, [5, 8, 9], ["5-"], stays([5, 1, 5], 1, 3)),
    Case("P10-5 add", 4, [5, 1], 6, 2, [5, 8, 9], ["5"], won(1, 3, 3)),
    # A frog on an empty middle.
    Case("P10-6", 4, [], None, 0, [0, 0, 0], ["0"], {"legal": ["0"], **stays([0], 0, 1)}),
    # Same card, same number.
    Case("P10-7 options", 4, [3, 4], 7, 1, [4, 1, 9], [], {"legal_for_card": {4: ["4", "4="]}}),
    Case("P10-7 set", 4, [3, 4], 7, 1, [4, 1, 9], ["4="], stays([3, 4, 4], 4, 2)),
    Case("P10-7 add", 4, [3, 4], 7, 1, [4, 1, 9], ["4"], won(0, 3, 2)),
    Case("P10-8 options", 4, [3, 4, 4], 4, 2, [4, 1, 9], [], {"legal_for_card": {4: ["4", "4="]}}),
    Case("P10-8 add", 4, [3, 4, 4], 4, 2, [4, 1, 9], ["4"], stays([3, 4, 4, 4], 8, 3)),
    Case("P10-8 set", 4, [3, 4, 4], 4, 2, [4, 1, 9], ["4="], stays([3, 4, 4, 4], 4, 3)),
    Case("P10-9 options", 4, [3, 4, 4, 4], 8, 3, [8, 1, 9], [], {"legal_for_card": {8: ["8", "8="]}}),
    Case("P10-9 set", 4, [3, 4, 4, 4], 8, 3, [8, 1, 9], ["8="], stays([3, 4, 4, 4, 8], 8, 0)),
    Case("P10-9 add", 4, [3, 4, 4, 4], 8, 3, [8, 1, 9], ["8"], won(2, 5, 0)),
    # A ten.
    Case("P10-10", 4, [], None, 2, [10, 10, 10], ["10"], {"legal": ["10"], **won(2, 1, 3)}),
    Case("P10-11", 4, [4, 3, 0], 0, 1, [10, 10, 10], ["10"], {"legal": ["10"], **won(1, 4, 2)}),
    # Which options there are.
    Case("P10-12 options", 4, [7], 7, 1, [7, 7, 7], [], {"legal": ["7", "7="]}),
    Case("P10-12 add", 4, [7], 7, 1, [7, 7, 7], ["7"], won(0, 2, 2)),
    Case("P10-12 set", 4, [7], 7, 1, [7, 7, 7], ["7="], stays([7, 7], 7, 2)),
    Case("P10-13 options", 4, [5], 5, 3, [5, 5, 5], [], {"legal": ["5", "5-", "5="]}),
    Case("P10-13 add", 4, [5], 5, 3, [5, 5, 5], ["5"], won(3, 2, 0)),
    Case("P10-13 sub", 4, [5], 5, 3, [5, 5, 5], ["5-"], stays([5, 5], 0, 0)),
    Case("P10-13 set", 4, [5], 5, 3, [5, 5, 5], ["5="], stays([5, 5], 5, 0)),
    Case("P10-14 options", 4, [2, 3], 5, 2, [5, 5, 5], [], {"legal": ["5", "5-", "5="]}),
    Case("P10-14 add", 4, [2, 3], 5, 2, [5, 5, 5], ["5"], won(2, 3, 3)),
    Case("P10-14 sub", 4, [2, 3], 5, 2, [5, 5, 5], ["5-"], stays([2, 3, 5], 0, 3)),
    Case("P10-14 set", 4, [2, 3], 5, 2, [5, 5, 5], ["5="], stays([2, 3, 5], 5, 3)),
    Case("P10-15", 4, [2], 2, 0, [5, 5, 5], ["5"], {"legal": ["5"], **stays([2, 5], 7, 1)}),
    Case("P10-16", 4, [5, 5], 0, 1, [5, 5, 5], ["5"], {"legal": ["5"], **stays([5, 5, 5], 5, 2)}),
    # With two players the right neighbour is the opponent.
    Case("P10-17", 2, [6], 6, 0, [6, 1, 2], ["6"], won(1, 2, 1)),
    # Nothing to draw.
    Case("P10-18 add", 4, [6], 6, 0, [1, 7], ["1"], {"hand size": 1, "pile": [6, 1], "value": 7}, stock=[]),
    Case("P10-18 set", 4, [6], 6, 0, [6, 7], ["6="], {"hand size": 1, "pile": [6, 6], "value": 6}, stock=[]),
    Case("P10-18 sub", 4, [6], 6, 0, [5, 7], ["5-"], {"hand size": 1, "pile": [6, 5], "value": 1}, stock=[]),
    Case("P10-18 frog", 4, [6], 6, 0, [0, 7], ["0"], {"hand size": 1, "pile": [6, 0], "value": 0}, stock=[]),
    Case("P10-18 win", 4, [6], 6, 0, [4, 7], ["4"], {"hand size": 1, "pile": [], "taken": {0: 2}}, stock=[]),
    Case("P10-18 bust", 4, [6], 6, 0, [9, 7], ["9"], {"hand size": 1, "pile": [], "taken": {3: 2}}, stock=[]),
]
