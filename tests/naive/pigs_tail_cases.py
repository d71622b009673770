"""The rulebook cases of Pig's Tail as data, one or more a row, named by the row's id.

BU-13 (two packs make a ring of 104) and BU-21 (ring, pile and hands always make up the pack) are properties of whole
games, not cases: tests of whole games hold them.
"""

from dataclasses import dataclass, field
from typing import Any

Step = str | tuple[str, list[int | None]]
"""An action text, or, for the last commitment of a turn with slapping, the text and the reactions by seat."""


@dataclass(frozen=True)
class Case:
    """A position, the actions played from it, and what must hold.

    A position is one in which ``mover`` is about to flip or play a card. Cards are texts: rank and suit, or "X". Cards
    named nowhere are out of play; no card stands in two places. ``expected`` may hold

    - before the first step: "legal" (all action texts, sorted);
    - after the last step: "pile" (bottom to top), "hands" (seat to its cards, sorted; all other seats hold none),
      "ring" (number of cards left), "next seat" (whose turn it then is), "over" (None or "terminated"), "scores" (by
      seat), "ranks" (places by seat).

    Attributes:
        id: The row of the rulebook, and which of its outcomes.
        ring: Face-down cards, next card first.
        pile: Cards in the middle, bottom to top.
        steps: What is done, in order, whoever's step it is.
        hands: Seat to its cards; all other seats hold none.
        rules: The options that are not at their defaults.
    """

    id: str
    ring: list[str]
    pile: list[str]
    steps: list[Step]
    expected: dict[str, Any]
    hands: dict[int, list[str]] = field(default_factory=dict)
    rules: dict[str, Any] = field(default_factory=dict)
    mover: int = 0
    num_players: int = 4


def taken(seat: int, *cards: str) -> dict[str, Any]:
    """Expect that a seat took the pile and holds just these cards, all others none, and seat 1 goes on."""
    return {"pile": [], "hands": {seat: sorted(cards)}, "next seat": 1, "over": None}


def stays(*pile: str) -> dict[str, Any]:
    """Expect that the pile stays in the middle, nobody holds a card, and seat 1 goes on."""
    return {"pile": list(pile), "hands": {}, "next seat": 1, "over": None}


ATTACK: dict[str, Any] = {"attack": True, "hand_play": "off"}
JOKER: dict[str, Any] = {"num_jokers": 1}
CHOOSE: dict[str, Any] = {**JOKER, "joker_role": "choose_suit"}
RETURN: dict[str, Any] = {**JOKER, "joker_role": "return_hand"}
FINAL_HANDS: dict[int, list[str]] = {
    0: ["2C", "3C", "5C"],
    1: ["2D", "3D", "4D", "5D", "6D"],
    2: ["2H", "3H", "4H", "5H", "6H"],
    3: ["2S", "3S", "4S", "5S", "6S", "7S", "8S", "TS"],
}


def slap(*times: int | None) -> list[Step]:
    """Flip a card; all four seats wait, and these are their times."""
    return ["flip", "wait", "wait", "wait", ("wait", list(times))]


CASES: list[Case] = [
    # A flipped card of the same suit or rank takes the whole pile, any other stays.
    Case("BU-1", ["5H", "QD"], ["KC", "4S", "9H"], ["flip"], taken(0, "KC", "4S", "9H", "5H")),
    Case("BU-2", ["9S", "QD"], ["KC", "4S", "9H"], ["flip"], taken(0, "KC", "4S", "9H", "9S")),
    Case("BU-3", ["4C", "QD"], ["KC", "4S", "9H"], ["flip"], stays("KC", "4S", "9H", "4C")),
    # On an empty pile nothing matches.
    Case("BU-4 flip", ["5H", "QD"], [], ["flip"], stays("5H")),
    Case("BU-4 hand", ["5H", "QD"], [], ["9H"], stays("9H"), hands={0: ["9H"]}),
    Case("BU-4 legal", ["5H", "QD"], [], [], {"legal": ["2H", "4C", "9S", "flip"]}, hands={0: ["2H", "9S", "4C"]}),
    # After a pick-up the next seat starts on an empty pile, also from hand.
    Case(
        "BU-5",
        ["5H", "QD"],
        ["KC", "9H"],
        ["flip", "AH"],
        {
            "pile": ["AH"],
            "hands": {0: ["5H", "9H", "KC"], 1: ["2H"]},
            "ring": 1,
            "next seat": 2,
            "over": None,
        },
        hands={1: ["2H", "AH"]},
    ),
    # Only safe cards may be played from hand, unless matching ones are allowed.
    Case("BU-6 options", ["5H", "QD"], ["9H"], [], {"legal": ["4C", "flip"]}, hands={0: ["2H", "9S", "4C"]}),
    Case(
        "BU-6 safe",
        ["5H", "QD"],
        ["9H"],
        ["4C"],
        {"pile": ["9H", "4C"], "hands": {0: ["2H", "9S"]}, "ring": 2, "next seat": 1},
        hands={0: ["2H", "9S", "4C"]},
    ),
    Case(
        "BU-6 allowed options",
        ["5H", "QD"],
        ["9H"],
        [],
        {"legal": ["2H", "4C", "9S", "flip"]},
        hands={0: ["2H", "9S", "4C"]},
        rules={"allow_matching_hand_play": True},
    ),
    Case(
        "BU-6 allowed",
        ["5H", "QD"],
        ["9H"],
        ["2H"],
        taken(0, "2H", "9S", "4C", "9H"),
        hands={0: ["2H", "9S", "4C"]},
        rules={"allow_matching_hand_play": True},
    ),
    # The last ring card ends the game, after its pick-up.
    Case(
        "BU-7",
        ["5H"],
        ["KC", "9H"],
        ["flip"],
        {"pile": [], "hands": {0: ["5H", "9H", "KC"]}, "ring": 0, "over": "terminated", "scores": [3, 0, 0, 0]},
    ),
    Case(
        "BU-8",
        ["4C"],
        ["9H"],
        ["flip"],
        {"pile": ["9H", "4C"], "hands": {}, "ring": 0, "over": "terminated", "scores": [0, 0, 0, 0]},
    ),
    # Fewest cards win, equal counts share a place.
    Case(
        "BU-9",
        ["4C"],
        ["9H"],
        ["flip"],
        {"pile": ["9H", "4C"], "over": "terminated", "scores": [3, 5, 5, 8], "ranks": [1, 2, 2, 4]},
        hands=FINAL_HANDS,
    ),
    # Other match rules.
    Case("BU-10 rank", ["9S", "QD"], ["KC", "9H"], ["flip"], stays("KC", "9H", "9S"), rules={"match": "suit"}),
    Case("BU-10 suit", ["5H", "QD"], ["KC", "9H"], ["flip"], taken(0, "KC", "9H", "5H"), rules={"match": "suit"}),
    Case(
        "BU-11 color",
        ["2D", "QD"],
        ["KC", "9H"],
        ["flip"],
        taken(0, "KC", "9H", "2D"),
        rules={"match": "color_or_rank"},
    ),
    Case(
        "BU-11 rank", ["9S", "QD"], ["KC", "9H"], ["flip"], taken(0, "KC", "9H", "9S"), rules={"match": "color_or_rank"}
    ),
    Case(
        "BU-11 neither",
        ["2S", "QD"],
        ["KC", "9H"],
        ["flip"],
        stays("KC", "9H", "2S"),
        rules={"match": "color_or_rank"},
    ),
    # Without cards in hand there is only the flip.
    Case("BU-12", ["5H", "QD"], ["9H"], [], {"legal": ["flip"]}, hands={1: ["4C"]}),
    # Slapping: the slowest takes, a foul takes instead.
    Case("BU-14", ["5H", "QD"], ["KC", "9H"], slap(300, 500, 900, 400), taken(2, "KC", "9H", "5H"), rules=ATTACK),
    Case(
        "BU-15",
        ["4C", "QD"],
        ["KC", "9H"],
        ["flip", "wait", "wait", "wait", ("anticipate", [None, None, None, 250])],
        taken(3, "KC", "9H", "4C"),
        rules=ATTACK,
    ),
    Case(
        "BU-16 slap",
        ["7S", "QD"],
        ["9H"],
        slap(300, 900, 500, 400),
        taken(1, "9H", "7S"),
        rules={**ATTACK, "trigger": "753"},
    ),
    Case(
        "BU-16 no slap",
        ["2H", "QD"],
        ["9H"],
        slap(None, None, None, None),
        stays("9H", "2H"),
        rules={**ATTACK, "trigger": "753"},
    ),
    Case(
        "BU-17",
        ["AD", "QD"],
        [],
        slap(300, 400, 500, 900),
        taken(3, "AD"),
        rules={**ATTACK, "trigger": "193"},
    ),
    # Jokers.
    Case("BU-18", ["X", "QD"], ["9H", "4C"], ["flip"], taken(0, "9H", "4C", "X"), rules=JOKER),
    Case(
        "BU-19 pick-up",
        ["X", "3S", "QD"],
        ["9H"],
        ["flip", "suit S", "flip"],
        {"pile": [], "hands": {1: ["3S", "9H", "X"]}, "ring": 1, "next seat": 2, "over": None},
        rules=CHOOSE,
    ),
    Case(
        "BU-19 stays",
        ["X", "3H", "QD"],
        ["9H"],
        ["flip", "suit S", "flip"],
        {"pile": ["9H", "X", "3H"], "hands": {}, "ring": 1, "next seat": 2, "over": None},
        rules=CHOOSE,
    ),
    Case(
        "BU-20",
        ["X", "QD"],
        ["4C"],
        ["flip", "return KS"],
        stays("4C", "X", "2H", "KS"),
        hands={0: ["2H", "KS"]},
        rules=RETURN,
    ),
]
