"""The rulebook cases of Pig Pile as data, one or more a row, named by the row's id.

``CASES`` are positions with a few steps, ``DECKS`` (PP-27) is about the pack alone. Every position holds exactly the
cards of its pack, so it can be set up in any implementation: `position` takes what matters and deals the rest out.
"""

from dataclasses import dataclass, field
from typing import Any

JP: dict[str, Any] = {
    "hand_size": 3,
    "face_up": "choose",
    "refill": "to_hand_size",
    "refill_after_wash": True,
    "reduce_deck": True,
    "copies": None,
    "num_wilds": None,
    "ranks": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    "table_cards": 3,
    "min_players": 3,
    "wild_in_play": False,
    "wild_in_run": False,
    "skip_stacking": "one",
    "reverse_stacking": "once",
    "eight_always": False,
    "voluntary_pickup": False,
    "face_up_penalty": True,
    "cross_zone": False,
    "three_player_third_scores": False,
    "rounds": 5,
    "pig_supply": 40,
    "first_dealer": "random",
    "tie_break": "shared",
    "show_in_order": False,
    "max_turns": 2000,
}
"""All options as the Japanese edition has them; written from the rulebook's tables, not read from the code."""

EN: dict[str, Any] = {
    **JP,
    "hand_size": 4,
    "refill": "one",
    "reduce_deck": False,
    "rounds": 4,
    "three_player_third_scores": True,
}

PRESETS: dict[str, dict[str, Any]] = {
    "jp": JP,
    "en": EN,
    "en_quick": {**EN, "face_up": "random"},
    "en_greased": {**EN, "face_up": "greased"},
}


@dataclass(frozen=True)
class Case:
    """A position after the choice of face-up cards, the actions played from it, and what must hold.

    Attributes:
        id: The row's name, with a word more where a row has several cases.
        steps: Action texts, one after another.
        expected: What must hold. Cards of hands, face-up cards and cards set aside are sorted from 1 to 12, then W.

            Before the first step:
            - "legal": all action texts, sorted as text;
            - "legal has": texts that are among them; "legal lacks": texts that are not.

            After the last step, while the round goes on:
            - "pile": bottom to top; "set aside": the cards washed away by the steps;
            - "hand", "face_up", "face_down" (next one flipped first), "hand size": of the mover of the first step;
            - "stock size", "next seat", "direction", "out" (seats in finishing order);
            - "next legal has", "next legal lacks": as above, for the next seat.

            After the last step, the round being over:
            - "scores": pigs of the round, a number a seat.
        num_players: How many sit at the table.
        preset: Name of the options the rules start from.
        rules: Options that differ from the preset.
        mover: Whose turn it is.
        direction: +1 or -1.
        hands: A list of cards a seat.
        face_up: A list of cards a seat.
        face_down: A list of cards a seat, the next one flipped first.
        stock: Cards to draw, next card first.
        pile: Bottom to top.
        washed: Cards set aside earlier in the round.
        out: Seats that are out already, in finishing order.
        dealer: Who dealt.
    """

    id: str
    steps: list[str]
    expected: dict[str, Any]
    num_players: int
    preset: str
    rules: dict[str, Any]
    mover: int
    direction: int
    hands: list[list[str]]
    face_up: list[list[str]]
    face_down: list[list[str]]
    stock: list[str]
    pile: list[str]
    washed: list[str] = field(default_factory=list)
    out: list[int] = field(default_factory=list)
    dealer: int = 0

    def all_rules(self) -> dict[str, Any]:
        """Return every option with its value."""
        return {**PRESETS[self.preset], **self.rules}


def cards(text: str) -> list[str]:
    """Read cards from a text with spaces between them."""
    return text.split()


def pack_of(num_players: int, rules: dict[str, Any]) -> list[str]:
    """Return all cards of a pack: one of each kind, again one of each kind, and so on."""
    copies, wilds = 6, 8
    if rules["reduce_deck"]:
        copies, wilds = {2: (4, 6), 3: (4, 6), 4: (4, 6), 5: (5, 7), 6: (6, 8)}[num_players]
    if rules["copies"] is not None:
        copies = rules["copies"]
    if rules["num_wilds"] is not None:
        wilds = rules["num_wilds"]
    left = {str(number): copies for number in rules["ranks"]}
    left["W"] = wilds
    result: list[str] = []
    while sum(left.values()) > 0:
        for card in left:
            if left[card] > 0:
                left[card] -= 1
                result.append(card)
    return result


def position(
    id: str,  # noqa: A002
    pile: str,
    hand: str,
    steps: list[str],
    expected: dict[str, Any],
    *,
    num_players: int = 4,
    preset: str = "jp",
    rules: dict[str, Any] | None = None,
    mover: int = 0,
    direction: int = 1,
    face_up: str | None = None,
    face_down: str | None = None,
    stock: str | None = None,
    draw_empty: bool = False,
    other_hands: dict[int, str] | None = None,
    other_face_up: dict[int, str] | None = None,
    other_face_down: dict[int, str] | None = None,
    out: list[int] | None = None,
) -> Case:
    """Make a case of what matters; the other cards of the pack fill the places nothing is said about.

    ``hand``, ``face_up`` and ``face_down`` are the mover's. Seats that are out have no cards. ``stock`` are the next
    cards to draw, those left over lie below them; with ``draw_empty`` there is no stock and they were washed before.
    """
    difference = rules or {}
    rest = pack_of(num_players, {**PRESETS[preset], **difference})
    said: dict[str, dict[int, str]] = {
        "hands": {**(other_hands or {}), mover: hand},
        "face_up": dict(other_face_up or {}),
        "face_down": dict(other_face_down or {}),
    }
    if face_up is not None:
        said["face_up"][mover] = face_up
    if face_down is not None:
        said["face_down"][mover] = face_down
    for seat in out or []:
        for zone in said.values():
            zone[seat] = ""
    next_cards = cards(stock or "")

    # Take out of the pack what is named.
    for zone in said.values():
        for text in zone.values():
            for card in cards(text):
                rest.remove(card)
    for card in cards(pile) + next_cards:
        rest.remove(card)
    # Deal the rest: three cards to each place that is not named.
    zones: dict[str, list[list[str]]] = {"hands": [], "face_up": [], "face_down": []}
    for name in zones:
        for seat in range(num_players):
            if seat in said[name]:
                zones[name].append(cards(said[name][seat]))
            else:
                zones[name].append(rest[:3])
                rest = rest[3:]
    return Case(
        id=id,
        steps=steps,
        expected=expected,
        num_players=num_players,
        preset=preset,
        rules=difference,
        mover=mover,
        direction=direction,
        hands=zones["hands"],
        face_up=zones["face_up"],
        face_down=zones["face_down"],
        stock=[] if draw_empty else next_cards + rest,
        pile=cards(pile),
        washed=rest if draw_empty else [],
        out=list(out or []),
    )


def again(set_aside: str, **more: Any) -> dict[str, Any]:
    """Expect that seat 0 washed these cards and goes on clockwise."""
    return {"pile": [], "set aside": cards(set_aside), "next seat": 0, "direction": 1, **more}


def lies(pile: str, next_seat: int, direction: int = 1, **more: Any) -> dict[str, Any]:
    """Expect that the pile lies in the middle and nothing was washed."""
    return {"pile": cards(pile), "set aside": [], "next seat": next_seat, "direction": direction, **more}


def ending(
    id: str,  # noqa: A002
    sizes: dict[int, tuple[str, str]],
    out: list[int],
    scores: list[int],
    num_players: int,
    preset: str = "jp",
) -> Case:
    """Make a case in which seat 0 goes out with its last card and ends the round; others have (hand, face-up) cards."""
    return position(
        id,
        "9",
        "10",
        ["10x1"],
        {"scores": scores},
        num_players=num_players,
        preset=preset,
        face_up="",
        face_down="",
        draw_empty=True,
        other_hands={seat: hand for seat, (hand, _) in sizes.items()},
        other_face_up={seat: face_up for seat, (_, face_up) in sizes.items()},
        other_face_down=dict.fromkeys(sizes, ""),
        out=out,
    )


CASES: list[Case] = [
    # Washes.
    position("PP-1", "5", "8 1 2", ["8x1"], again("5 8", hand=cards("1 2 3")), stock="3 6 7"),
    position("PP-2", "5", "5 5 2", ["5x2"], again("5 5 5", hand=cards("1 2 3")), stock="3 1 7"),
    position("PP-3 one", "5 5", "5 1 2", ["5x1"], again("5 5 5", hand=cards("1 2 3")), stock="3 6 7"),
    position("PP-3 two", "5 5", "5 5 2", ["5x2"], again("5 5 5 5", hand=cards("2 3 6")), stock="3 6 7"),
    position("PP-4", "3", "5 5 5", ["5x3"], again("3 5 5 5", hand=cards("3 6 7")), stock="3 6 7"),
    position(
        "PP-5",
        "5",
        "",
        ["5x2"],
        again("5 5 5", hand=[], face_up=["9"]),
        face_up="5 5 9",
        face_down="1 2 3",
        draw_empty=True,
    ),
    position("PP-6", "11", "11 11 2", ["11x2"], again("11 11 11", hand=cards("2 3 6")), stock="3 6 7"),
    position("PP-7", "4 4", "4 1 2", ["4x1"], again("4 4 4", hand=cards("1 2 3")), stock="3 6 7"),
    # A reversal.
    position("PP-8", "", "11 1 2", ["11x1"], lies("11", 3, -1)),
    # Picking up.
    position("PP-9 legal", "9", "3 6 7", [], {"legal": ["pickup"]}),
    position("PP-9", "9", "3 6 7", ["pickup"], lies("", 1, hand=cards("3 6 7 9"), out=[])),
    # What is legal.
    position("PP-10 legal", "9", "9 1 2", [], {"legal": ["9x1"]}),
    position("PP-10", "9", "9 1 2", ["9x1"], lies("9 9", 1, hand=cards("1 2 3")), stock="3 6 7"),
    position(
        "PP-11", "12", "W 1 2", ["Wx1"], {**lies("12 W", 1), "next legal has": ["1x1"]}, other_hands={1: "1 6 10"}
    ),
    # From the table.
    position(
        "PP-12 legal", "10", "", [], {"legal": ["pickup+2", "pickup+3"]}, face_up="2 3", face_down="6", draw_empty=True
    ),
    position(
        "PP-12",
        "10",
        "",
        ["pickup+2"],
        lies("", 1, hand=cards("2 10"), face_up=["3"], face_down=["6"]),
        face_up="2 3",
        face_down="6",
        draw_empty=True,
    ),
    position("PP-13 legal", "7", "", [], {"legal": ["flip"]}, face_up="", face_down="3 10", draw_empty=True),
    position(
        "PP-13",
        "7",
        "",
        ["flip"],
        lies("", 1, hand=cards("3 7"), face_up=[], face_down=["10"]),
        face_up="",
        face_down="3 10",
        draw_empty=True,
    ),
    position(
        "PP-14",
        "7",
        "",
        ["flip"],
        lies("7 7", 1, hand=[], face_up=[], face_down=["10"]),
        face_up="",
        face_down="7 10",
        draw_empty=True,
    ),
    # Somebody is skipped.
    position("PP-15", "", "4 1 2", ["4x1"], lies("4", 2)),
    # Refilling the hand. The stock is long enough; its size tells how many cards were drawn.
    position("PP-16 pair", "", "1 1 9", ["1x2"], lies("1 1", 1, hand=cards("3 6 9")), stock="3 6 7"),
    position("PP-16 five", "", "1 2 9 9 10", ["1x1"], lies("1", 1, hand=cards("2 9 9 10")), stock="3 6 7"),
    position("PP-17 pair", "", "1 1 9 10", ["1x2"], lies("1 1", 1, hand=cards("3 9 10")), preset="en", stock="3 6 7"),
    position(
        "PP-17 nine",
        "",
        "1 2 2 6 7 9 9 10 12",
        ["1x1"],
        {**lies("1", 1, hand=cards("2 2 3 6 7 9 9 10 12")), "hand size": 9},
        preset="en",
        stock="3 6 7",
    ),
    # Pigs: seat 0 goes out and ends the round.
    ending("PP-18 second", {1: ("1 2 3", "6 7"), 2: ("1 2 3 6", "7 9 12")}, [3], [2, 1, 0, 3], 4),
    ending("PP-18 tie", {1: ("1 2 3", "6 7 9"), 2: ("1 2 3 6", "7 12")}, [3], [2, 0, 0, 3], 4),
    ending(
        "PP-19",
        {1: ("1 2", ""), 2: ("1 2 3 6 7 12", "1 2 3"), 3: ("6 7 9 12 12 1 2 3 6", ""), 4: ("7", "1 2 3")},
        [5],
        [2, 1, 0, 0, 1, 3],
        6,
    ),
    ending("PP-20 en", {1: ("1 2", "3")}, [2], [2, 1, 3], 3, "en"),
    ending("PP-20 jp", {1: ("1 2", "3")}, [2], [2, 0, 3], 3),
    # An eight has to reach the top.
    position("PP-21", "9", "8 1 2", [], {"legal": ["pickup"], "legal lacks": ["8x1"]}),
    # Hog Wilds in a row.
    position("PP-22 default", "5 W", "5 1 2", ["5x1"], lies("5 W 5", 1)),
    position("PP-22 wild", "5 W", "5 1 2", ["5x1"], again("5 5 W"), rules={"wild_in_run": True}),
    position("PP-23 default", "W W", "W 1 2", ["Wx1"], again("W W W")),
    position("PP-23 wild", "W W", "W 1 2", ["Wx1"], again("W W W"), rules={"wild_in_run": True}),
    # Out by a wash.
    position(
        "PP-24",
        "6",
        "8",
        ["8x1"],
        {"pile": [], "set aside": cards("6 8"), "next seat": 1, "direction": 1, "out": [0], "hand size": 0},
        face_up="",
        face_down="",
        draw_empty=True,
    ),
    # Two special cards at once.
    position("PP-25 one", "", "4 4 1", ["4x2"], lies("4 4", 2)),
    position("PP-25 per card", "", "4 4 1", ["4x2"], lies("4 4", 3), rules={"skip_stacking": "per_card"}),
    position("PP-26 once", "", "11 11 1", ["11x2"], lies("11 11", 3, -1)),
    position("PP-26 per card", "", "11 11 1", ["11x2"], lies("11 11", 1), rules={"reverse_stacking": "per_card"}),
]


@dataclass(frozen=True)
class Deck:
    """What a pack is made of, and what is left of it to draw from once all cards are dealt."""

    id: str
    preset: str
    num_players: int
    size: int
    copies: int
    wilds: int
    stock: int


DECKS: list[Deck] = [
    Deck("PP-27 jp 3", "jp", 3, 54, 4, 6, 27),
    Deck("PP-27 jp 4", "jp", 4, 54, 4, 6, 18),
    Deck("PP-27 jp 5", "jp", 5, 67, 5, 7, 22),
    Deck("PP-27 jp 6", "jp", 6, 80, 6, 8, 26),
    Deck("PP-27 en 3", "en", 3, 80, 6, 8, 50),
    Deck("PP-27 en 4", "en", 4, 80, 6, 8, 40),
    Deck("PP-27 en 5", "en", 5, 80, 6, 8, 30),
    Deck("PP-27 en 6", "en", 6, 80, 6, 8, 20),
]
