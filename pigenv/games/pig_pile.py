"""Pig Pile: get rid of your cards before the others do, or take the pile.

The game by Richard Borg (R&R Games, 2001), for 3 to 6 players and a pack of 80 cards: six of each number from 1 to 12,
and eight Hog Wilds (W). With fewer than six players the Japanese edition leaves some of them out (`reduce_deck`).

Course of a round. Each player has three face-down cards, which nobody has seen, three face-up cards, which each player
chooses in secret from the cards dealt, and a hand; the rest is the stock. The dealer begins, then clockwise. A player
plays one or more cards of one number, as high as the top of the pile or higher, then draws while the stock lasts.

    Nothing that fits      the player takes the whole pile into the hand, draws nothing, and the next begins a new one.
    Without a hand         cards are played from the face-up ones; to take the pile is to take one of those as well.
    Without these too      a face-down card is turned over: if it does not fit, it is taken with the pile.
    Hog Wild (W)           fits on everything; anything fits on it.
    Hog Tied (4)           the next player loses a turn.
    Ewe-Turn (11)          the direction of play turns round.
    Hog Wash (8)           the pile is set aside for the rest of the round, and the player goes on.
    Three equal in a row   on top of the pile, whoever played them, wash it too; a 4 or an 11 then does nothing else.

Whoever is rid of all cards is out. The round ends when the second player goes out: three pigs for the first, two for
the second, one for each other player but for those with the most cards. After some rounds (`rounds`), the deal moving
on to the left, most pigs win.

Where the printed rules are silent or differ, the default here is what the Japanese edition has, the preset `en` what
the English one has, and each option says what it changes. Besides: an 8 and three equal cards must fit like any other
card; a run counts across players and turns, and a W only equals a W (`wild_in_run`); two 4s skip one player and two
11s turn round once (`skip_stacking`, `reverse_stacking`); whoever washes draws before going on (`refill_after_wash`);
whoever goes out by a wash leaves an empty pile to the next player; one with cards that fit must play
(`voluntary_pickup`); if no pigs are left, the match is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pigenv.errors import DealError, OptionError
from pigenv.game import (
    ANYBODY,
    RUNNING,
    TERMINATED,
    TRUNCATED,
    Definition,
    Preset,
    Seating,
    option,
    rules_dtype,
    state_dtype,
)
from pigenv.game import Rules as AnyRules
from pigenv.kernel import Row, below, draw, kernel, shuffle
from pigenv.layout import Layout, Part
from pigenv.scene import Scene, Zone

# --- options ----------------------------------------------------------------------------------------------------------

HIGHEST: Final = 12  # numbers are 1 … 12
HOG_TIED: Final = 4
HOG_WASH: Final = 8
EWE_TURN: Final = 11
MAX_PLAYERS: Final = 6
MAX_KINDS: Final = HIGHEST + 1  # the numbers and the Hog Wild
MAX_CARDS: Final = 80
MAX_TABLE: Final = 5
MAX_HAND: Final = 10
MAX_COPIES: Final = 12
MAX_PIGS: Final = 1000

FACE_UP = ("choose", "random", "greased")
FACE_UP_CHOOSE, FACE_UP_GREASED = 0, 2
REFILL = ("to_hand_size", "one")
REFILL_ONE: Final = 1
SKIPS = ("one", "per_card")
REVERSES = ("once", "per_card")
PER_CARD: Final = 1
ROUNDS = ("per_player", "until_empty")


@dataclass(frozen=True)
class Rules(AnyRules):
    """The options of Pig Pile."""

    hand_size: int = option(3, "Cards dealt to each hand besides those for the table.", low=1, high=MAX_HAND)
    face_up: str = option("choose", "Who picks the face-up cards; greased: chance, in round 1 only.", choices=FACE_UP)
    refill: str = option("to_hand_size", "How far a player draws after a play.", choices=REFILL)
    refill_after_wash: bool = option(True, "A player draws also between a wash and the turn that follows it.")
    reduce_deck: bool = option(True, "With 5 players one of each number and one Hog Wild are left out, with fewer two.")
    copies: int | None = option(None, "Cards of each number; null: by players.", low=1, high=MAX_COPIES)
    num_wilds: int | None = option(None, "Hog Wilds; null: by players.", low=0, high=MAX_COPIES)
    ranks: tuple[int, ...] = option(tuple(range(1, HIGHEST + 1)), "The numbers in the pack.", low=1, high=HIGHEST)
    table_cards: int = option(3, "Face-down cards of each player, and face-up ones.", low=0, high=MAX_TABLE)
    min_players: int = option(3, "The fewest players; a round of two ends when one goes out.", low=2, high=MAX_PLAYERS)
    wild_in_play: bool = option(False, "Hog Wilds may be played together with a number, lying under it.")
    wild_in_run: bool = option(False, "A Hog Wild fits any run of equal cards.")
    skip_stacking: str = option("one", "Turns lost by a play of several 4s: one, or one a card.", choices=SKIPS)
    reverse_stacking: str = option("once", "Turns of direction by a play of several 11s.", choices=REVERSES)
    eight_always: bool = option(False, "An 8 fits on everything.")
    voluntary_pickup: bool = option(False, "The pile may be taken although a card fits.")
    face_up_penalty: bool = option(True, "Whoever plays from the face-up cards takes one with the pile.")
    cross_zone: bool = option(False, "The last of the hand may be played together with face-up cards equal to it.")
    three_player_third_scores: bool = option(False, "With three players the third always gets a pig.")
    rounds: int | str = option(5, "How many rounds.", choices=ROUNDS, low=1, high=1000)
    pig_supply: int = option(40, "Pigs there are; with the last one the match is over.", low=1, high=MAX_PIGS)
    first_dealer: str | int = option("random", "Who deals first.", choices=("random",), low=0, high=MAX_PLAYERS - 1)
    tie_break: str = option("shared", "Equal scores share the place.", choices=("shared",))
    show_in_order: bool = option(False, "Face-up cards are chosen in rising order only, so that no order counts twice.")
    max_turns: int = option(2000, "Turns after which a round is cut short, scored as it stands.", low=1, high=100_000)

    def check(self) -> None:
        if list(self.ranks) != sorted(set(self.ranks)) or not self.ranks:
            raise OptionError(f"ranks must be different numbers in rising order; got {list(self.ranks)}")

    def check_seats(self, num_players: int) -> None:
        needed, total = num_players * (2 * self.table_cards + self.hand_size), sum(pack_counts(self, num_players))
        if total > MAX_CARDS:
            raise OptionError(f"ranks, copies and num_wilds must make at most {MAX_CARDS} cards; they make {total}")
        if needed > total:
            raise OptionError(
                f"{num_players} players of {2 * self.table_cards} cards on the table and {self.hand_size} in hand "
                f"need {needed}; the pack has {total}"
            )
        if not isinstance(self.first_dealer, str) and self.first_dealer >= num_players:
            raise OptionError(f"first_dealer must be 'random' or 0 … {num_players - 1}; got {self.first_dealer}")


ENGLISH: dict[str, Any] = {
    "hand_size": 4,
    "refill": "one",
    "reduce_deck": False,
    "rounds": 4,
    "three_player_third_scores": True,
}

PRESETS = {
    "jp": Preset(4, "The Japanese edition: hands of 3, drawn up to 3, five rounds."),
    "en": Preset(4, "The English edition: hands of 4, one card drawn, the whole pack, four rounds.", ENGLISH),
    "en_quick": Preset(4, "As en, the face-up cards dealt at random.", {**ENGLISH, "face_up": "random"}),
    "en_greased": Preset(
        4, "As en, the face-up cards of the first round dealt at random.", {**ENGLISH, "face_up": "greased"}
    ),
    "mini": Preset(
        2,
        "Small enough to be solved exactly: 275,981 histories, from the root through 2 x 828 deals to every end.",
        {
            "hand_size": 1,
            "table_cards": 1,
            "ranks": (4, 8, 9),
            "copies": 2,
            "num_wilds": 2,
            "min_players": 2,
            "rounds": 1,
            "show_in_order": True,
            "max_turns": 16,
        },
    ),
    "small": Preset(
        3,
        "Learned in seconds: twenty-four cards, two on the table twice and two in hand, one round.",
        {
            "hand_size": 2,
            "table_cards": 2,
            "ranks": (2, 4, 6, 8, 10, 11, 12),
            "copies": 3,
            "num_wilds": 3,
            "rounds": 1,
            "max_turns": 1000,
        },
    ),
}

# --- the pack ---------------------------------------------------------------------------------------------------------
#
# A kind is a place in the list of what the pack has: the numbers rising, then the Hog Wild. Kernels count in kinds.

WILD: Final = 0  # the number of a Hog Wild: anything fits on it


def kinds_of(rules: Rules) -> list[int]:
    """The number of each kind, 0 for the Hog Wild."""
    return [*rules.ranks, *([WILD] if rules.num_wilds != 0 else [])]


def copies_of(rules: Rules, num_players: int) -> tuple[int, int]:
    """How many cards of each number the pack has for so many players, and how many Hog Wilds."""
    left_out = (2 if num_players <= 4 else 6 - num_players) if rules.reduce_deck else 0
    copies = 6 - left_out if rules.copies is None else rules.copies
    wilds = 8 - left_out if rules.num_wilds is None else rules.num_wilds
    return copies, wilds


def pack_counts(rules: Rules, num_players: int) -> list[int]:
    """How many cards of each kind the pack has."""
    copies, wilds = copies_of(rules, num_players)
    return [wilds if number == WILD else copies for number in kinds_of(rules)]


def card_text(number: int) -> str:
    """A card as it is written: its number, or W."""
    return "W" if number == WILD else str(number)


# --- state ------------------------------------------------------------------------------------------------------------

UNKNOWN: Final = -1  # a card that whoever looks has not seen; also a place without a card
MAX_HISTORY: Final = 2 * MAX_CARDS  # each card leaves the stock or the deal once, and is played from the unknown once
CLOCKWISE: Final = 1

STATE = state_dtype(
    [
        ("history", np.int16, (MAX_HISTORY,)),  # what is public about unknown cards in hands; see there
        ("last_event", np.int16, (MAX_PLAYERS,)),  # place of each seat's latest entry in it
        ("history_size", np.int16),
        ("won", np.int16, (MAX_PLAYERS,)),  # pigs of the rounds done, by seat
        ("supply", np.int16),  # pigs left
        ("dealer", np.int8),
        ("direction", np.int8),  # 1 clockwise, -1 the other way
        ("showing", np.int8),  # 1 while face-up cards are chosen
        ("outs", np.int8),  # seats that are out
        ("out", np.int8, (MAX_PLAYERS,)),  # 0 still in, 1 went out first, 2 second
        ("hand_size", np.int8, (MAX_PLAYERS,)),  # public, like all sizes
        ("up_size", np.int8, (MAX_PLAYERS,)),
        ("down_size", np.int8, (MAX_PLAYERS,)),
        ("unknown", np.int8, (MAX_PLAYERS,)),  # cards in hand that not everybody has seen
        ("proofs", np.int8, (MAX_PLAYERS,)),  # of these, cards of which something is proved
        ("hand", np.int8, (MAX_PLAYERS, MAX_KINDS)),  # cards in hand by kind; of others only those that are known
        ("known", np.int8, (MAX_PLAYERS, MAX_KINDS)),  # of these, cards that everybody saw go there
        ("proved", np.int8, (MAX_PLAYERS, MAX_KINDS)),  # unknown cards in hand proved to be below a kind
        ("up", np.int8, (MAX_PLAYERS, MAX_KINDS)),  # face-up cards by kind
        ("seen", np.int8, (MAX_KINDS,)),  # cards that everybody has seen in this round, wherever they are now
        ("washed", np.int8, (MAX_KINDS,)),  # cards set aside
        ("in_pile", np.int8, (MAX_KINDS,)),  # cards in the pile
        ("pile_size", np.int8),
        ("dealt", np.int8),  # cards that have left the pack; pack[dealt] is the next to be drawn
        ("pile", np.int8, (MAX_CARDS,)),  # bottom to top
        ("pack", np.int8, (MAX_CARDS,)),  # all cards as dealt: face down, face up if dealt so, hands, then the stock
        ("work", np.int8, (2, MAX_KINDS + 1)),  # room for `determinize`, 0 at all other times
    ]
)

RULES = rules_dtype(
    Rules,
    [
        ("pack", np.int8, (MAX_CARDS,)),  # the pack before shuffling
        ("pack_size", np.int8),
        ("num_kinds", np.int32),
        ("num_ranks", np.int32),  # kinds that are numbers
        ("count", np.int8, (MAX_KINDS,)),  # cards of each kind
        ("number", np.int8, (MAX_KINDS,)),  # number of each kind
        ("wild", np.int8),  # the kinds with names, or -1 where the pack has none
        ("hog_tied", np.int8),
        ("hog_wash", np.int8),
        ("ewe_turn", np.int8),
        ("enough_out", np.int8),  # seats that must go out to end a round
        ("num_rounds", np.int16),  # 0: until the pigs are gone
        # Actions, by the most players they are laid out for: of every sort the first, and how many there are of a card.
        ("copies_at", np.int16, (MAX_PLAYERS + 1,)),
        ("wilds_at", np.int16, (MAX_PLAYERS + 1,)),
        ("play_at", np.int16, (MAX_PLAYERS + 1,)),
        ("wild_at", np.int16, (MAX_PLAYERS + 1,)),
        ("mixed_at", np.int16, (MAX_PLAYERS + 1,)),
        ("pickup_at", np.int16, (MAX_PLAYERS + 1,)),
        ("penalty", np.int8, (MAX_KINDS,)),  # place of `pickup+KIND` after `pickup`; 0 where it can never be legal
        ("penalties", np.int8),
        ("taken", np.int8, (MAX_KINDS + 1,)),  # the other way round: kind by place
        # What observations multiply by; to multiply is faster than to divide.
        ("share_of_kind", np.float32, (MAX_KINDS,)),
        ("share_of_stock", np.float32),
        ("share_of_table", np.float32),
        ("share_of_rounds", np.float32),
        ("share_of_supply", np.float32),
        ("turns_round", np.int8),  # 1: the pack has a card that turns play round, so the observation says which way
        ("may_choose", np.int8),  # 1: some face-up cards are chosen
        ("proves", np.int8),  # 1: picking up proves something
    ],
)


def derive(rules: Rules, num_players: int) -> dict[str, Any]:
    """The row's derived fields."""
    numbers, counts = kinds_of(rules), pack_counts(rules, num_players)
    pack = [kind for kind, count in enumerate(counts) for _ in range(count)]
    filled = MAX_KINDS - len(numbers)
    tables = [list_actions(rules, max(most, 2)) for most in range(MAX_PLAYERS + 1)]
    firsts = {sort: [first_of(actions, sort) for actions in tables] for sort in ("play", "wild", "mixed", "pickup")}
    penalties = [number for sort, number, _, _ in tables[0] if sort == "penalty"]
    stock = len(pack) - num_players * (2 * rules.table_cards + rules.hand_size)
    rounds = count_rounds(rules, num_players)

    def kind_of(number: int) -> int:
        return numbers.index(number) if number in numbers else UNKNOWN

    return {
        "pack": np.pad(pack, (0, MAX_CARDS - len(pack)), constant_values=UNKNOWN),
        "pack_size": len(pack),
        "num_kinds": len(numbers),
        "num_ranks": len(rules.ranks),
        "count": np.pad(counts, (0, filled)),
        "number": np.pad(numbers, (0, filled)),
        "wild": kind_of(WILD),
        "hog_tied": kind_of(HOG_TIED),
        "hog_wash": kind_of(HOG_WASH),
        "ewe_turn": kind_of(EWE_TURN),
        "enough_out": 1 if num_players == 2 else 2,
        "num_rounds": rounds,
        "copies_at": [copies_of(rules, max(most, 2))[0] for most in range(MAX_PLAYERS + 1)],
        "wilds_at": [copies_of(rules, max(most, 2))[1] for most in range(MAX_PLAYERS + 1)],
        **{f"{sort}_at": places for sort, places in firsts.items()},
        "penalty": np.pad([penalties.index(n) + 1 if n in penalties else 0 for n in numbers], (0, filled)),
        "penalties": len(penalties),
        "taken": np.pad([0, *(numbers.index(n) for n in penalties)], (0, MAX_KINDS - len(penalties))),
        "share_of_kind": np.pad([1 / max(1, count) for count in counts], (0, filled)),
        "share_of_stock": 1 / max(1, stock),
        "share_of_table": 1 / max(1, rules.table_cards),
        "share_of_rounds": 1 / most_rounds(rules, num_players),
        "share_of_supply": 1 / rules.pig_supply,
        "turns_round": EWE_TURN in numbers,
        "may_choose": may_choose(rules),
        "proves": not rules.voluntary_pickup,
    }


def may_choose(rules: Rules) -> bool:
    """Whether in some round players choose their face-up cards."""
    return rules.table_cards > 0 and rules.face_up != "random"


def count_rounds(rules: Rules, num_players: int) -> int:
    """After how many rounds a match ends; 0 where only the pigs limit it."""
    if isinstance(rules.rounds, str):
        return num_players if rules.rounds == "per_player" else 0
    return rules.rounds


def most_rounds(rules: Rules, num_players: int) -> int:
    """How many rounds a match can have: each but the last pays at least the pigs of those who went out."""
    least = 3 if num_players == 2 else 5
    by_supply = -(-rules.pig_supply // least)
    return min(by_supply, count_rounds(rules, num_players) or by_supply)


# --- deal -------------------------------------------------------------------------------------------------------------


@kernel
def deal(state: Row, rules: Row) -> None:
    """Begin a match at the round the state says: no pigs won yet, the dealer by chance or by the rules."""
    dealer = rules["first_dealer"]
    if dealer < 0:
        dealer = below(draw(draw(state["key"], 0), 0), rules["num_players"])
    state["dealer"] = (dealer + state["round"]) % rules["num_players"]
    state["supply"] = rules["pig_supply"]
    shuffle_pack(state, rules)
    lay_out(state, rules)


@kernel
def shuffle_pack(state: Row, rules: Row) -> None:
    """Shuffle the pack for the round."""
    for place in range(MAX_CARDS):
        state["pack"][place] = rules["pack"][place]
    shuffle(state["pack"], 0, rules["pack_size"], draw(state["key"], state["round"]))


@kernel
def lay_out(state: Row, rules: Row) -> None:
    """Give out the pack in its order: face-down cards by seat, face-up ones if dealt so, hands; the rest is stock."""
    players, table = rules["num_players"], rules["table_cards"]
    clear_table(state)
    state["seat"] = state["dealer"]
    state["direction"] = CLOCKWISE
    state["dealt"] = players * table
    held = rules["hand_size"]
    if dealt_open(state, rules):
        for seat in range(players):
            for _ in range(table):
                card = state["pack"][state["dealt"]]
                state["up"][seat, card] += 1
                state["seen"][card] += 1
                state["dealt"] += 1
            state["up_size"][seat] = table
    else:
        held += table
        state["showing"] = table > 0
    for seat in range(players):
        state["down_size"][seat] = table
        draw_cards(state, seat, held)


@kernel
def dealt_open(state: Row, rules: Row) -> bool:
    """Whether chance picks the face-up cards of this round."""
    if rules["face_up"] == FACE_UP_GREASED:
        return state["round"] == 0
    return rules["face_up"] != FACE_UP_CHOOSE


@kernel
def clear_table(state: Row) -> None:
    """Take away everything that belongs to one round, but for the pack."""
    state["turn"] = 0
    state["showing"] = 0
    state["outs"] = 0
    state["pile_size"] = 0
    state["history_size"] = 0
    for seat in range(MAX_PLAYERS):
        state["out"][seat] = 0
        state["hand_size"][seat] = 0
        state["up_size"][seat] = 0
        state["down_size"][seat] = 0
        state["unknown"][seat] = 0
        state["proofs"][seat] = 0
        state["last_event"][seat] = 0
        for kind in range(MAX_KINDS):
            state["hand"][seat, kind] = 0
            state["known"][seat, kind] = 0
            state["proved"][seat, kind] = 0
            state["up"][seat, kind] = 0
    for kind in range(MAX_KINDS):
        state["seen"][kind] = 0
        state["washed"][kind] = 0
        state["in_pile"][kind] = 0
    for place in range(MAX_CARDS):
        state["pile"][place] = 0
    for place in range(MAX_HISTORY):
        state["history"][place] = 0


@kernel
def draw_cards(state: Row, seat: int, count: int) -> None:
    """Take the next cards of the pack into a hand."""
    if count == 0:
        return
    for _ in range(count):
        state["hand"][seat, state["pack"][state["dealt"]]] += 1
        state["dealt"] += 1
    state["hand_size"][seat] += count
    state["unknown"][seat] += count
    note(state, seat, DRAWN, count)


# --- history ----------------------------------------------------------------------------------------------------------
#
# What everybody can tell of the unknown cards of a hand, in order. An entry is a seat and either so many cards drawn or
# so many cards of a kind played that were not known to be there; besides, a kind below which all unknown cards in the
# hand turned out to be, where the seat had to pick up after it.

DRAWN: Final = 15  # stands for a kind
KIND_STEP, COUNT_STEP, BOUND_STEP = 8, 128, 2048  # seat + 8 * kind + 128 * count + 2048 * bound
MOST_IN_ENTRY: Final = 15


@kernel
def note(state: Row, seat: int, kind: int, count: int) -> None:
    """Write down that a seat has drawn cards, or played unknown ones of a kind."""
    # As plain numbers: uncompiled, small integers would overflow.
    seat, kind, count = int(seat), int(kind), int(count)
    last = state["last_event"][seat]
    if kind != DRAWN:
        # Plays of one kind with nothing drawn or proved between them are one.
        entry = state["history"][last]
        same = entry % COUNT_STEP == seat + KIND_STEP * kind
        if same and entry < BOUND_STEP and entry // COUNT_STEP + count <= MOST_IN_ENTRY:
            state["history"][last] += COUNT_STEP * count
            return
    state["history"][state["history_size"]] = seat + KIND_STEP * kind + COUNT_STEP * count
    state["last_event"][seat] = state["history_size"]
    state["history_size"] += 1


@kernel
def prove(state: Row, rules: Row, seat: int, bound: int) -> None:
    """A seat that had to pick up shows that no card in its hand fits on a kind: all its unknown cards are below it."""
    if state["unknown"][seat] == 0:
        return
    place = state["last_event"][seat]
    entry = state["history"][place]
    before = entry // BOUND_STEP
    if before == 0 or bound < before:
        state["history"][place] = entry % BOUND_STEP + BOUND_STEP * int(bound)
    state["proofs"][seat] = state["unknown"][seat]
    proved = state["unknown"][seat]
    for kind in range(bound):
        proved -= state["proved"][seat, kind]
    state["proved"][seat, bound] = proved
    for kind in range(bound + 1, MAX_KINDS):
        state["proved"][seat, kind] = 0


@kernel
def may_be(rules: Row, kind: int, bound: int) -> bool:
    """Whether a card proved to be below a kind may be of another."""
    return kind < bound and not (rules["eight_always"] == 1 and kind == rules["hog_wash"])


@kernel
def leave_unknown(state: Row, rules: Row, seat: int, kind: int, count: int) -> None:
    """Cards of a kind, of which nobody else knew, leave a hand for everybody to see.

    Which of several sorts of unknown cards they were, nobody can tell. To take them from those of which most is proved
    leaves possible what any other choice leaves possible: a card that is below 5 is also below 7.
    """
    state["unknown"][seat] -= count
    state["seen"][kind] += count
    note(state, seat, kind, count)
    left = count
    for bound in range(kind + 1, rules["num_ranks"]):
        if left > 0 and may_be(rules, kind, bound):
            taken = min(left, state["proved"][seat, bound])
            state["proved"][seat, bound] -= taken
            state["proofs"][seat] -= taken
            left -= taken


# --- actions ----------------------------------------------------------------------------------------------------------


def list_actions(rules: Rules, max_players: int) -> list[tuple[str, int, int, int]]:
    """Every action that can ever be legal: its sort, a number, how many cards of it, how many Hog Wilds with them.

    Nobody has to pick up a face-up card that fits on anything.
    """
    copies, wilds = copies_of(rules, max_players)
    numbers, counts = kinds_of(rules), range(1, copies + 1)
    actions = [("show", number, 1, 0) for number in numbers if may_choose(rules)]
    actions += [("play", number, count, 0) for number in rules.ranks for count in counts]
    actions += [("wild", WILD, count, 0) for count in range(1, wilds + 1)]
    if rules.wild_in_play:
        actions += [
            ("mixed", number, count, more)
            for number in rules.ranks
            for count in counts
            for more in range(1, wilds + 1)
        ]  # fmt: skip
    actions.append(("pickup", 0, 0, 0))
    if rules.table_cards > 0:
        if rules.face_up_penalty:
            actions += [("penalty", number, 1, 0) for number in numbers if may_be_taken(rules, number)]
        actions.append(("flip", 0, 0, 0))
    return actions


def may_be_taken(rules: Rules, number: int) -> bool:
    """Whether a face-up card may ever be taken with the pile: unless at will, none of those face up fits then."""
    fits_always = number in (WILD, rules.ranks[-1]) or (number == HOG_WASH and rules.eight_always)
    return rules.voluntary_pickup or not fits_always


def first_of(actions: list[tuple[str, int, int, int]], sort: str) -> int:
    """The first action of a sort, or where it would be."""
    order = ("show", "play", "wild", "mixed", "pickup", "penalty", "flip")
    return sum(order.index(each[0]) < order.index(sort) for each in actions)


def action_texts(rules: Rules, max_players: int) -> list[str]:
    """`show 7` lays a 7 face up, `5x2+Wx1` plays two fives on top of a Hog Wild, `pickup+7` takes the pile and a 7."""
    texts = []
    for sort, number, count, wilds in list_actions(rules, max_players):
        card = card_text(number)
        texts.append(
            {
                "show": f"show {card}",
                "play": f"{card}x{count}",
                "wild": f"{card}x{count}",
                "mixed": f"{card}x{count}+Wx{wilds}",
                "penalty": f"pickup+{card}",
            }.get(sort, sort)
        )
    return texts


@kernel
def legal(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Cards that fit are played from the hand, else from the face-up cards, else a face-down card is turned over."""
    for action in range(len(mask)):
        mask[action] = 0
    seat, most = state["seat"], rules["max_players"]
    if state["showing"] == 1:
        return legal_shows(state, rules, mask)
    pickup = rules["pickup_at"][most]
    if state["hand_size"][seat] > 0:
        count = legal_plays(state["hand"][seat], state, rules, mask)
        if rules["cross_zone"] == 1 and state["dealt"] == rules["pack_size"] and state["up_size"][seat] > 0:
            count += legal_across(state, rules, mask)
        if count == 0 or may_pick_up(state, rules):
            mask[pickup] = 1
            count += 1
        return count
    if state["up_size"][seat] > 0:
        count = legal_plays(state["up"][seat], state, rules, mask)
        if count == 0 or may_pick_up(state, rules):
            if rules["face_up_penalty"] == 0:
                mask[pickup] = 1
                return count + 1
            for kind in range(rules["num_kinds"]):
                if state["up"][seat, kind] > 0:
                    mask[pickup + rules["penalty"][kind]] = 1
                    count += 1
        return count
    mask[pickup + rules["penalties"] + 1] = 1
    return 1


@kernel
def may_pick_up(state: Row, rules: Row) -> bool:
    """Whether the pile may be taken by somebody who could play."""
    return rules["voluntary_pickup"] == 1 and state["pile_size"] > 0


@kernel
def legal_shows(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Any card in hand; in order only those not below the last one, with enough above them to go on."""
    seat, count = state["seat"], 0
    first, needed = 0, rules["table_cards"] - state["up_size"][seat]
    if rules["show_in_order"] == 1:
        for kind in range(rules["num_kinds"]):
            if state["up"][seat, kind] > 0:
                first = kind
    above = 0
    for kind in range(rules["num_kinds"] - 1, first - 1, -1):
        held = state["hand"][seat, kind]
        above += held
        if held > 0 and (rules["show_in_order"] == 0 or above >= needed):
            mask[kind] = 1
            count += 1
    return count


@kernel
def top_kind(state: Row) -> int:
    """The kind on top of the pile, or −1."""
    return int(state["pile"][state["pile_size"] - 1]) if state["pile_size"] > 0 else -1


@kernel
def lowest_that_fits(rules: Row, top: int) -> int:
    """The first kind that fits on another: anything on a Hog Wild or on nothing."""
    return 0 if top < 0 or top == int(rules["wild"]) else int(top)


@kernel
def fits(rules: Row, kind: int, top: int) -> bool:
    """Whether a card may be laid on another: as high or higher; a Hog Wild always."""
    if kind == rules["hog_wash"] and rules["eight_always"] == 1:
        return True
    return kind >= lowest_that_fits(rules, top)


@kernel
def legal_plays(cards: np.ndarray, state: Row, rules: Row, mask: np.ndarray) -> int:
    """Any number of cards of one kind that fits, from cards that lie together."""
    most = rules["max_players"]
    copies, play = rules["copies_at"][most], rules["play_at"][most]
    first = lowest_that_fits(rules, top_kind(state))
    count: int = 0
    for kind in range(first, rules["num_ranks"]):
        held = int(cards[kind])
        count += held
        # Not as far as `held`: a loop whose length cannot be foreseen costs more than writing zeros.
        for place in range(copies):
            mask[play + kind * copies + place] = place < held
    eight = int(rules["hog_wash"])
    if rules["eight_always"] == 1 and 0 <= eight < first:
        held = int(cards[eight])
        count += held
        for place in range(held):
            mask[play + eight * copies + place] = 1
    wild = rules["wild"]
    if wild >= 0:
        held = int(cards[wild])
        count += held
        for place in range(held):
            mask[rules["wild_at"][most] + place] = 1
        if rules["wild_in_play"] == 1 and held > 0:
            top = top_kind(state)
            for kind in range(rules["num_ranks"]):
                if fits(rules, kind, top):
                    for place in range(cards[kind]):
                        for more in range(held):
                            count += allow(mask, mixed_action(rules, kind, place + 1, more + 1))
    return int(count)


@kernel
def mixed_action(rules: Row, kind: int, count: int, wilds: int) -> int:
    """The action of playing some cards of a number on top of Hog Wilds; a plain play where there is only one sort."""
    most = rules["max_players"]
    copies = rules["copies_at"][most]
    if count == 0:
        action: int = rules["wild_at"][most] + wilds - 1
    elif wilds == 0:
        action = rules["play_at"][most] + kind * copies + count - 1
    else:
        action = rules["mixed_at"][most] + (kind * copies + count - 1) * rules["wilds_at"][most] + wilds - 1
    return action


@kernel
def allow(mask: np.ndarray, action: int) -> int:
    """Mark an action as legal; returns 1 if it was not already."""
    new = 1 - mask[action]
    mask[action] = 1
    return new


@kernel
def legal_across(state: Row, rules: Row, mask: np.ndarray) -> int:
    """The whole hand together with face-up cards, as one play that could be made of cards lying together."""
    seat, count, top = state["seat"], 0, top_kind(state)
    size, wild = state["hand_size"][seat], rules["wild"]
    hand_wilds, up_wilds = 0, 0
    if wild >= 0:
        hand_wilds, up_wilds = state["hand"][seat, wild], state["up"][seat, wild]
    if hand_wilds == size:
        for more in range(1, up_wilds + 1):
            count += allow(mask, mixed_action(rules, 0, 0, size + more))
    for kind in range(rules["num_ranks"]):
        held = state["hand"][seat, kind]
        if held + hand_wilds != size or not fits(rules, kind, top):
            continue
        for number in range(held, held + state["up"][seat, kind] + 1):
            for wilds in range(hand_wilds, hand_wilds + up_wilds + 1):
                mixed = number > 0 and wilds > 0
                if number > 0 and number + wilds > size and (rules["wild_in_play"] == 1 or not mixed):
                    count += allow(mask, mixed_action(rules, kind, number, wilds))
    return count


# --- a turn -----------------------------------------------------------------------------------------------------------


SHOW, PLAY, PICK_UP, FLIP = range(4)


@kernel
def read_action(rules: Row, action: int) -> tuple[int, int, int, int]:
    """What an action is: its sort, a kind, how many cards of it, how many Hog Wilds under them.

    Without a face-up card that is taken with the pile, the kind of a pick-up is −1.
    """
    most = rules["max_players"]
    copies, wilds = rules["copies_at"][most], rules["wilds_at"][most]
    pickup = rules["pickup_at"][most]
    if action < rules["play_at"][most]:
        return SHOW, action, 1, 0
    if action < rules["wild_at"][most]:
        place = action - rules["play_at"][most]
        return PLAY, place // copies, place % copies + 1, 0
    if action < rules["mixed_at"][most]:
        return PLAY, rules["wild"], action - rules["wild_at"][most] + 1, 0
    if action < pickup:
        place = action - rules["mixed_at"][most]
        return PLAY, place // wilds // copies, place // wilds % copies + 1, place % wilds + 1
    if action == pickup:
        return PICK_UP, -1, 0, 0
    if action <= pickup + rules["penalties"]:
        return PICK_UP, rules["taken"][action - pickup], 1, 0
    return FLIP, -1, 0, 0


@kernel
def step(state: Row, rules: Row, action: int) -> None:
    """Show a card, play some, pick up or flip; then see whether the round is over."""
    sort, kind, count, wilds = read_action(rules, action)
    if sort == SHOW:
        show(state, rules, kind)
        return
    state["turn"] += 1
    if sort == PLAY:
        play(state, rules, kind, count, wilds)
    elif sort == PICK_UP:
        pick_up(state, rules, kind)
    else:
        flip(state, rules)
    end_turn(state, rules)


@kernel
def show(state: Row, rules: Row, kind: int) -> None:
    """Choose a face-up card; when all have chosen, the cards are laid open and the dealer begins."""
    seat = state["seat"]
    state["hand"][seat, kind] -= 1
    state["hand_size"][seat] -= 1
    state["unknown"][seat] -= 1
    state["up"][seat, kind] += 1
    state["up_size"][seat] += 1
    if state["up_size"][seat] < rules["table_cards"]:
        return
    state["seat"] = seat + 1 if seat + 1 < rules["num_players"] else 0
    if state["seat"] == state["dealer"]:
        state["showing"] = 0
        for other in range(rules["num_players"]):
            for each in range(rules["num_kinds"]):
                count = state["up"][other, each]
                if count > 0:
                    state["unknown"][other] += count
                    leave_unknown(state, rules, other, each, count)


@kernel
def play(state: Row, rules: Row, kind: int, count: int, wilds: int) -> None:
    """Play cards of one kind on top of Hog Wilds, from the hand or, without one, from the face-up cards."""
    seat = state["seat"]
    size = state["hand_size"][seat]
    across = count + wilds > size > 0
    if wilds > 0:
        take_for_play(state, rules, seat, rules["wild"], wilds, across)
    take_for_play(state, rules, seat, kind, count, across)
    lay_cards(state, rules["wild"], wilds)
    lay_cards(state, kind, count)
    after_play(state, rules, kind, count)


@kernel
def take_for_play(state: Row, rules: Row, seat: int, kind: int, count: int, across: bool) -> None:
    """Take cards of a kind out of the hand; across zones all that it has of them, and the rest from the table."""
    from_hand = count
    if across:
        from_hand = min(count, state["hand"][seat, kind])
    elif state["hand_size"][seat] == 0:
        from_hand = 0
    if from_hand > 0:
        known = min(from_hand, state["known"][seat, kind])
        state["known"][seat, kind] -= known
        state["hand"][seat, kind] -= from_hand
        state["hand_size"][seat] -= from_hand
        if from_hand > known:
            leave_unknown(state, rules, seat, kind, from_hand - known)
    if count > from_hand:
        state["up"][seat, kind] -= count - from_hand
        state["up_size"][seat] -= count - from_hand


@kernel
def lay_cards(state: Row, kind: int, count: int) -> None:
    """Put cards of a kind on the pile."""
    for _ in range(count):
        state["pile"][state["pile_size"]] = kind
        state["pile_size"] += 1
    if count > 0:
        state["in_pile"][kind] += count


@kernel
def after_play(state: Row, rules: Row, kind: int, count: int) -> None:
    """Wash the pile or not, draw, go out or not, and pass the turn on."""
    seat = state["seat"]
    washes = kind == rules["hog_wash"] or run_on_top(state, rules) >= 3
    if washes:
        wash(state)
    if not washes or rules["refill_after_wash"] == 1:
        refill(state, rules, seat)
    if cards_left(state, seat) == 0:
        state["outs"] += 1
        state["out"][seat] = state["outs"]
    if washes:
        if state["out"][seat] > 0:
            pass_turn(state, rules, 0)
        return
    skips = 0
    if kind == rules["hog_tied"]:
        skips = count if rules["skip_stacking"] == PER_CARD else 1
    elif kind == rules["ewe_turn"] and (rules["reverse_stacking"] != PER_CARD or count % 2 == 1):
        state["direction"] = -state["direction"]
    pass_turn(state, rules, skips)


@kernel
def run_on_top(state: Row, rules: Row) -> int:
    """How many equal cards lie in a row on top of the pile, as far as 3; a Hog Wild fits or not (`wild_in_run`)."""
    length, number = 0, -1
    for place in range(state["pile_size"] - 1, -1, -1):
        card = state["pile"][place]
        joker = rules["wild_in_run"] == 1 and card == rules["wild"]
        if not joker:
            if number >= 0 and card != number:
                break
            number = card
        length += 1
        if length == 3:
            break
    return length


@kernel
def wash(state: Row) -> None:
    """Set the pile aside for the rest of the round."""
    for kind in range(MAX_KINDS):
        state["washed"][kind] += state["in_pile"][kind]
    clear_pile(state)


@kernel
def clear_pile(state: Row) -> None:
    """Leave the middle empty."""
    for place in range(state["pile_size"]):
        state["pile"][place] = 0
    for kind in range(MAX_KINDS):
        state["in_pile"][kind] = 0
    state["pile_size"] = 0


@kernel
def refill(state: Row, rules: Row, seat: int) -> None:
    """Draw after a play: one card, or up to the hand size, while the stock lasts."""
    wanted = 1
    if rules["refill"] != REFILL_ONE:
        wanted = rules["hand_size"] - state["hand_size"][seat]
    draw_cards(state, seat, min(max(wanted, 0), rules["pack_size"] - state["dealt"]))


@kernel
def cards_left(state: Row, seat: int) -> int:
    """How many cards a seat has, in hand and on the table."""
    count: int = state["hand_size"][seat] + state["up_size"][seat] + state["down_size"][seat]
    return count


@kernel
def pick_up(state: Row, rules: Row, kind: int) -> None:
    """Take the pile into the hand, with a face-up card or without; the next seat begins a new one."""
    seat = state["seat"]
    if rules["voluntary_pickup"] == 0:
        prove(state, rules, seat, top_kind(state))
    if kind >= 0:
        state["up"][seat, kind] -= 1
        state["up_size"][seat] -= 1
        take_openly(state, seat, kind, 1)
    take_pile(state, rules, seat)
    pass_turn(state, rules, 0)


@kernel
def take_openly(state: Row, seat: int, kind: int, count: int) -> None:
    """Cards that everybody sees go into a hand."""
    state["hand"][seat, kind] += count
    state["known"][seat, kind] += count
    state["hand_size"][seat] += count


@kernel
def take_pile(state: Row, rules: Row, seat: int) -> None:
    """The whole pile goes into a hand."""
    for kind in range(rules["num_kinds"]):
        take_openly(state, seat, kind, state["in_pile"][kind])
    clear_pile(state)


@kernel
def flip(state: Row, rules: Row) -> None:
    """Turn over a face-down card: it counts as played if it fits, else it is taken with the pile."""
    seat = state["seat"]
    card = state["pack"][seat * rules["table_cards"] + rules["table_cards"] - state["down_size"][seat]]
    state["down_size"][seat] -= 1
    state["seen"][card] += 1
    if fits(rules, card, top_kind(state)):
        lay_cards(state, card, 1)
        after_play(state, rules, card, 1)
        return
    take_openly(state, seat, card, 1)
    take_pile(state, rules, seat)
    pass_turn(state, rules, 0)


@kernel
def pass_turn(state: Row, rules: Row, skips: int) -> None:
    """The next seat in the direction of play that is not out, past as many others as lose their turn."""
    players = rules["num_players"]
    if state["outs"] == players:
        return
    seat = state["seat"]
    for _ in range(1 + skips):
        seat = next_seat(state, players, seat)
    state["seat"] = seat


@kernel
def next_seat(state: Row, players: int, seat: int) -> int:
    """The seat after one in the direction of play, of those that are not out."""
    for _ in range(players):
        seat += state["direction"]
        if seat >= players:
            seat = 0
        elif seat < 0:
            seat = players - 1
        if state["out"][seat] == 0:
            break
    return seat


# --- rounds and pigs --------------------------------------------------------------------------------------------------


@kernel
def end_turn(state: Row, rules: Row) -> None:
    """A round ends when enough are out, the match with its last round or its last pig; or it is cut short."""
    if state["outs"] >= rules["enough_out"]:
        state["supply"] = give_pigs(state, rules, False, state["won"])
        if state["supply"] == 0 or state["round"] + 1 == rules["num_rounds"]:
            state["over"] = TERMINATED
            return
        state["round"] += 1
        state["dealer"] = state["dealer"] + 1 if state["dealer"] + 1 < rules["num_players"] else 0
        shuffle_pack(state, rules)
        lay_out(state, rules)
    elif state["turn"] >= rules["max_turns"]:
        state["supply"] = give_pigs(state, rules, True, state["won"])
        state["over"] = TRUNCATED


@kernel
def give_pigs(state: Row, rules: Row, cut: bool, pigs: np.ndarray) -> int:
    """Add each seat's pigs of the round; returns how many are left.

    While they last: first those who went out, in order, then the others by fewest cards, then by seat.
    """
    players, supply = rules["num_players"], state["supply"]
    most = 0
    for seat in range(players):
        most = max(most, cards_left(state, seat))
    for place in range(1, state["outs"] + 1):
        for seat in range(players):
            if state["out"][seat] == place:
                due = 3 if place == 1 else 2
                pigs[seat] += min(due, supply)
                supply -= min(due, supply)
    third_scores = rules["three_player_third_scores"] == 1 and players == 3 and not cut
    size, last = -1, players
    for _ in range(players - state["outs"]):
        # The next in order of cards and seats after the one before.
        best = -1
        for seat in range(players):
            cards = cards_left(state, seat)
            later = cards > size or (cards == size and seat > last)
            if state["out"][seat] == 0 and later and (best < 0 or cards < cards_left(state, best)):
                best = seat
        size, last = cards_left(state, best), best
        if size < most or third_scores:
            pigs[best] += min(1, supply)
            supply -= min(1, supply)
    return supply


@kernel
def scores(state: Row, rules: Row, out: np.ndarray) -> None:
    """The pigs of the rounds done, and what the present one would bring if it were cut short now."""
    for seat in range(rules["num_players"]):
        out[seat] = state["won"][seat]
    if state["over"] == RUNNING:
        give_pigs(state, rules, True, out)


def score_scale(rules: Rules, num_players: int) -> float:
    """What the first to go out gets in a round."""
    return 3.0


# --- what a seat knows ------------------------------------------------------------------------------------------------


@kernel
def hide(view: Row, rules: Row, seat: int) -> None:
    """A seat knows its own hand, what lies open, and of other hands what it saw going there."""
    for place in range(MAX_CARDS):
        view["pack"][place] = UNKNOWN
    if seat == ANYBODY:
        return
    for other in range(rules["num_players"]):
        if other != seat:
            for kind in range(MAX_KINDS):
                view["hand"][other, kind] = view["known"][other, kind]
            if view["showing"] == 1:
                for kind in range(MAX_KINDS):
                    view["up"][other, kind] = 0


@kernel
def is_hidden(view: Row, seat: int) -> bool:
    """Whether a view leaves out cards of a hand."""
    count = 0
    for kind in range(MAX_KINDS):
        count += view["hand"][seat, kind]
    return count < view["hand_size"][seat]


@kernel
def unseen_cards(view: Row, rules: Row, kind: int) -> int:
    """How many cards of a kind may lie where this view does not show them."""
    count = rules["count"][kind] - view["seen"][kind]
    for seat in range(rules["num_players"]):
        count -= view["hand"][seat, kind] - view["known"][seat, kind]
        if view["showing"] == 1:
            count -= view["up"][seat, kind]
    return count


@kernel
def determinize(view: Row, rules: Row, key: np.uint64) -> None:
    """Deal the unseen cards out anew, each deal that fits what was seen being equally likely.

    Fitting means: every card that a seat played was in its hand, and where a seat had to pick up, none of its cards
    could be played. To find such a deal, the cards in the order they came to a hand are taken as places. First chance
    decides which places held the cards that were played since; the others must then be below the tops on which their
    seat had to pick up, and are filled by chance, those of which most is proved first: as any card below 5 is also
    below 7, the number of ways to fill them does not depend on the choices made. What remains is uneven is made even by
    keeping a draw only with a probability: places may be taken by plays, or filled, in fewer ways than at best, and a
    deal in which m equal cards could each have been the one played would be found m times as often as another.
    """
    counter = 0
    if view["showing"] == 1:
        counter = draw_choices(view, rules, key)
    else:
        first, draws, kept = first_place(view, rules), 0, False
        while not kept:
            return_hands(view, rules, first)
            counter, kept = draw_hands(view, rules, first, key, counter, draws >= MOST_DRAWS)
            draws += 1
        take_hands(view, rules, first)
    for seat in range(rules["num_players"]):
        last = (seat + 1) * rules["table_cards"]
        for place in range(last - view["down_size"][seat], last):
            view["pack"][place] = draw_unseen(view, rules, rules["num_kinds"], draw(key, counter))
            counter += 1
    for place in range(view["dealt"], rules["pack_size"]):
        view["pack"][place] = draw_unseen(view, rules, rules["num_kinds"], draw(key, counter))
        counter += 1
    for kind in range(MAX_KINDS + 1):
        view["work"][TIGHT, kind] = 0
    view["key"] = key


MOST_DRAWS: Final = 10_000  # draws until one that is merely possible is kept
POOL, TIGHT = 0, 1  # rows of `work`: unseen cards by kind; places by what is proved of them
_TWO_TO_53: Final = 2.0**-53
_S11: Final = np.uint64(11)


@kernel
def happens(bits: np.uint64, chance: float) -> bool:
    """Whether something of this probability happens."""
    return float(bits >> _S11) * _TWO_TO_53 < chance


@kernel
def choose(of: int, count: int) -> float:
    """In how many ways so many can be chosen of some."""
    ways = 1.0
    for taken in range(count):
        ways *= (of - taken) / (taken + 1)
    return ways


@kernel
def draw_unseen(view: Row, rules: Row, bound: int, bits: np.uint64) -> int:
    """One of the unseen cards proved to be below a kind (any, where the bound is the number of kinds)."""
    kinds = rules["num_kinds"]
    count = 0
    for kind in range(kinds):
        if bound == kinds or may_be(rules, kind, bound):
            count += view["work"][POOL, kind]
    place = below(bits, count)
    for kind in range(kinds):
        if bound == kinds or may_be(rules, kind, bound):
            place -= view["work"][POOL, kind]
            if place < 0:
                view["work"][POOL, kind] -= 1
                return kind
    return 0


@kernel
def draw_choices(view: Row, rules: Row, key: np.uint64) -> int:
    """While face-up cards are chosen: any cards dealt, and any choice of them; returns the next counter."""
    counter, kinds = 0, rules["num_kinds"]
    for kind in range(kinds):
        view["work"][POOL, kind] = unseen_cards(view, rules, kind)
    for seat in range(rules["num_players"]):
        if not is_hidden(view, seat):
            continue
        shown = view["up_size"][seat]
        chosen = rules["table_cards"] if rules["show_in_order"] == 1 and shown > 0 else shown
        for _ in range(chosen):
            view["up"][seat, draw_unseen(view, rules, kinds, draw(key, counter))] += 1
            counter += 1
        # In order, the highest of the cards chosen have not been shown yet.
        kind = kinds - 1
        for _ in range(chosen - shown):
            while view["up"][seat, kind] == 0:
                kind -= 1
            view["up"][seat, kind] -= 1
            view["hand"][seat, kind] += 1
        for _ in range(view["hand_size"][seat] - (chosen - shown)):
            view["hand"][seat, draw_unseen(view, rules, kinds, draw(key, counter))] += 1
            counter += 1
    return counter


@kernel
def first_place(view: Row, rules: Row) -> int:
    """The first place in the pack that was dealt to a hand."""
    place = rules["num_players"] * rules["table_cards"]
    if dealt_open(view, rules):
        place *= 2
    return place


# While a world is drawn, a place of a hand in the pack holds a card, or what is known of one that is still to be drawn:
# −1 − (seat + 8 * bound), the bound being the kind below which it must be; the number of kinds where it may be any.


@kernel
def bound_of(code: int) -> int:
    """The bound of a place without a card; 0 of a place that is not to be filled."""
    return (-1 - code) // 8 if code < 0 else 0


@kernel
def draw_hands(view: Row, rules: Row, first: int, key: np.uint64, counter: int, lenient: bool) -> tuple[int, bool]:
    """Draw every unknown hand once; returns the next counter and whether the draw is kept (lenient: if possible)."""
    ways_before, ways = 1.0, 1.0
    for seat in range(rules["num_players"]):
        if is_hidden(view, seat):
            # What concerns a single hand is decided for each by itself: fewer draws are in vain.
            kept, here = False, 1.0
            while not kept:
                counter, chance = place_plays(view, rules, seat, first, key, counter)
                here = ways_to_play(view, seat, first) if chance > 0.0 else 1.0
                kept = happens(draw(key, counter), chance / here)
                counter += 1
            ways_before *= here
    chance = ways_to_fill(view, rules, first)
    counter += 1
    if chance == 0.0 or not (lenient or happens(draw(key, counter - 1), chance)):
        return counter, False
    for bound in range(1, rules["num_kinds"] + 1):
        if view["work"][TIGHT, bound] > 0:
            for place in range(first, view["dealt"]):
                if bound_of(view["pack"][place]) == bound:
                    view["pack"][place] = draw_unseen(view, rules, bound, draw(key, counter))
                    counter += 1
    for seat in range(rules["num_players"]):
        if is_hidden(view, seat):
            ways *= ways_to_play(view, seat, first)
    counter += 1
    return counter, lenient or happens(draw(key, counter - 1), ways_before / ways)


@kernel
def place_plays(view: Row, rules: Row, seat: int, first: int, key: np.uint64, counter: int) -> tuple[int, float]:
    """Choose by chance which places of a hand held the cards it played, and mark what is proved of the others.

    Returns the next counter, and in how many ways this could be done, as a share of the most ways there can be: those
    if each card played had been one of which most was proved (see `leave_unknown`).
    """
    kinds, place, share = rules["num_kinds"], first, 1.0
    pack, tight = view["pack"], view["work"][TIGHT]
    for bound in range(MAX_KINDS + 1):
        tight[bound] = 0
    for event in range(view["history_size"]):
        entry = view["history"][event]
        kind, count, bound = entry // KIND_STEP % 16, entry // COUNT_STEP % 16, entry // BOUND_STEP
        if kind == DRAWN:
            if entry % KIND_STEP == seat:
                for each in range(place, place + count):
                    pack[each] = -1 - (seat + 8 * kinds)
                tight[kinds] += count
            place += count
        elif entry % KIND_STEP == seat:
            most = 0
            for each in range(kind + 1, kinds + 1):
                if each == kinds or may_be(rules, kind, each):
                    most += tight[each]
            able = 0
            for each in range(first, place):
                able += may_hold(rules, pack[each], seat, kind)
            if able < count:
                return counter, 0.0
            share *= choose(able, count) / choose(most, count)
            for taken in range(count):
                left = below(draw(key, counter), able - taken)
                counter += 1
                for each in range(first, place):
                    if may_hold(rules, pack[each], seat, kind):
                        if left == 0:
                            pack[each] = kind
                            break
                        left -= 1
            left = count
            for each in range(kind + 1, kinds + 1):
                if each == kinds or may_be(rules, kind, each):
                    now = min(left, tight[each])
                    tight[each] -= now
                    left -= now
        if bound > 0 and entry % KIND_STEP == seat:
            for each in range(first, place):
                if pack[each] < -1 and (-1 - pack[each]) % 8 == seat and bound_of(pack[each]) > bound:
                    pack[each] = -1 - (seat + 8 * bound)
            for each in range(bound + 1, kinds + 1):
                tight[bound] += tight[each]
                tight[each] = 0
    return counter, share


@kernel
def may_hold(rules: Row, code: int, seat: int, kind: int) -> bool:
    """Whether a place is one of a seat's that are still to be filled, and may be filled with a kind."""
    if code >= -1 or (-1 - code) % 8 != seat:
        return False
    bound = bound_of(code)
    return bound == rules["num_kinds"] or may_be(rules, kind, bound)


@kernel
def ways_to_fill(view: Row, rules: Row, first: int) -> float:
    """In how many ways the places can be filled, as a share of the most; leaves in TIGHT how many there are of each."""
    kinds, tight = rules["num_kinds"], view["work"][TIGHT]
    for bound in range(MAX_KINDS + 1):
        tight[bound] = 0
    for place in range(first, view["dealt"]):
        bound = bound_of(view["pack"][place])
        if bound > 0:
            tight[bound] += 1
    # The loosest places there can be, one by one beside these, both by rising bounds.
    share, filled, loose, loose_left = 1.0, 0, 0, 0
    for bound in range(1, kinds + 1):
        for _ in range(tight[bound]):
            while loose_left == 0:
                loose += 1
                loose_left = proved_in_all(view, rules, loose)
            loose_left -= 1
            if bound != loose:
                share *= max(0, pool_below(view, rules, bound) - filled) / (pool_below(view, rules, loose) - filled)
            elif bound < kinds and pool_below(view, rules, bound) <= filled:
                share = 0.0
            filled += 1
    return share


@kernel
def pool_below(view: Row, rules: Row, bound: int) -> int:
    """How many of the unseen cards are below a kind."""
    count = 0
    for kind in range(rules["num_kinds"]):
        if bound == rules["num_kinds"] or may_be(rules, kind, bound):
            count += view["work"][POOL, kind]
    return count


@kernel
def proved_in_all(view: Row, rules: Row, bound: int) -> int:
    """How many unknown cards of the hidden hands are proved to be below a kind, and below no lower one."""
    count = 0
    for seat in range(rules["num_players"]):
        if is_hidden(view, seat):
            if bound < rules["num_kinds"]:
                count += view["proved"][seat, bound]
            else:
                count += view["unknown"][seat] - view["proofs"][seat]
    return count


@kernel
def ways_to_play(view: Row, seat: int, first: int) -> float:
    """From how many choices of equal cards the plays of a seat can have come, going back from its last one.

    Places that are still to be filled do not count.
    """
    cards, place, ways = view["work"][TIGHT], view["dealt"], 1.0
    for kind in range(MAX_KINDS + 1):
        cards[kind] = 0
    hold_places(view, seat, first, cards)
    for event in range(view["history_size"] - 1, -1, -1):
        entry = view["history"][event]
        kind, count = entry // KIND_STEP % 16, entry // COUNT_STEP % 16
        if kind == DRAWN:
            place -= count
            if entry % KIND_STEP == seat:
                for each in range(place, place + count):
                    if view["pack"][each] >= 0:
                        cards[view["pack"][each]] -= 1
        elif entry % KIND_STEP == seat:
            cards[kind] += count
            ways *= choose(cards[kind], count)
    return ways


@kernel
def hold_places(view: Row, seat: int, first: int, cards: np.ndarray) -> None:
    """Add the cards of a hand that lie in its places: all that came to it, less all that was played."""
    place = first
    for event in range(view["history_size"]):
        entry = view["history"][event]
        kind, count = entry // KIND_STEP % 16, entry // COUNT_STEP % 16
        if kind == DRAWN:
            if entry % KIND_STEP == seat:
                for each in range(place, place + count):
                    if view["pack"][each] >= 0:
                        cards[view["pack"][each]] += 1
            place += count
        elif entry % KIND_STEP == seat:
            cards[kind] -= count


@kernel
def return_hands(view: Row, rules: Row, first: int) -> None:
    """All cards drawn for hidden hands are among the unseen ones again."""
    for kind in range(rules["num_kinds"]):
        view["work"][POOL, kind] = unseen_cards(view, rules, kind)
    for place in range(first, view["dealt"]):
        view["pack"][place] = UNKNOWN


@kernel
def take_hands(view: Row, rules: Row, first: int) -> None:
    """Give the cards drawn to the hidden hands; the pack keeps them as they would have been dealt."""
    for seat in range(rules["num_players"]):
        if is_hidden(view, seat):
            hold_places(view, seat, first, view["hand"][seat])


# --- observation ------------------------------------------------------------------------------------------------------

PILE_CAP: Final = 30  # larger piles and hands are rare
HAND_CAP: Final = 30
PILE_SHARE: Final = np.float32(1 / PILE_CAP)
HAND_SHARE: Final = np.float32(1 / HAND_CAP)
KIND_SHARE: Final = np.float32(1 / HIGHEST)
HALF: Final = np.float32(0.5)
ONE: Final = np.float32(1)


def layout(rules: Rules, seating: Seating) -> Layout:
    """The observation: the bare table and, with memory, what was seen of cards that are hidden now."""
    numbers, seats = kinds_of(rules), seating.max_players
    kinds, cards = len(numbers), ", ".join(card_text(number) for number in numbers)
    # An 8 never lies in the pile.
    lying = [card_text(number) for number in numbers if number != HOG_WASH]
    by_seat, others = "by seat, oneself first, clockwise", "by seat, from the left neighbour on, clockwise"
    parts = [
        Part("hand", kinds, f"own cards {cards}; share of all of the kind"),
        Part("pile_top", len(lying) + 1, f"one-hot: pile empty, or the card on top {', '.join(lying)}"),
        Part("pile_run", 1, "equal cards on top of the pile, as a wash counts them; share of 2"),
        Part("pile_size", 1, f"cards in the pile; share of {PILE_CAP}, 1 for more"),
        Part("stock_size", 1, "cards left in the stock; share of the stock at the start"),
        Part("hand_size", seats, f"cards in hand {by_seat}; share of {HAND_CAP}, 1 for more"),
    ]
    if seats > 2:
        parts.append(Part("out", seats, f"who is out {by_seat}: 1 went out first, 0.5 second, 0 still in"))
    if rules.table_cards > 0:
        parts += [
            Part("face_up", seats * kinds, f"face-up cards {cards} {by_seat}; share of all of the kind"),
            Part("face_down", seats, f"face-down cards {by_seat}; share of those at the start"),
        ]
    if EWE_TURN in numbers:
        parts.append(Part("direction", 1, "1 where play goes clockwise, 0 the other way"))
    if may_choose(rules):
        parts.append(Part("choosing", 1, "1 while face-up cards are chosen"))
    if rules.rounds != 1:
        parts += [
            Part("round", 1, "rounds done; share of the most there can be"),
            Part("pigs", seats, f"pigs won in the rounds done {by_seat}; share of the supply"),
            Part("supply", 1, "pigs left; share of the supply"),
        ]
    if seating.mixed:
        least = rules.min_players
        parts.append(Part("num_players", seats - least + 1, f"one-hot: how many play, {least} … {seats}"))
    if seating.memory:
        parts.append(Part("pile", len(lying), f"cards {', '.join(lying)} in the pile; share of all of the kind"))
        parts.append(Part("unseen", kinds, f"cards {cards} that are hidden from oneself; share of all of the kind"))
        known = f"cards {cards} that everybody saw go into the hand, of the others {others}; share of all of the kind"
        parts.append(Part("known", (seats - 1) * kinds, known))
        if not rules.voluntary_pickup:
            proved = f"unknown cards in hand proved to be too low to play once, of the others {others}"
            parts += [
                Part("proved", seats - 1, f"{proved}; share of {HAND_CAP}, 1 for more"),
                Part("proved_below", seats - 1, f"highest number they are proved to be below, {others}; share of 12"),
            ]
    return Layout(tuple(parts))


@kernel
def observe(view: Row, rules: Row, seat: int, out: np.ndarray) -> int:
    """Write the parts in the order of `layout`."""
    players, kinds, seats = int(rules["num_players"]), int(rules["num_kinds"]), int(rules["max_players"])
    share = rules["share_of_kind"]
    for each in range(len(out)):
        out[each] = 0.0
    write_counts(view["hand"][seat], share, kinds, out)
    at = kinds
    top, eights = top_kind(view), rules["hog_wash"] >= 0
    out[at + top + (0 if eights and top > rules["hog_wash"] else 1)] = 1.0
    at += kinds + (0 if eights else 1)
    out[at] = min(run_on_top(view, rules), 2) * HALF
    out[at + 1] = min(view["pile_size"] * PILE_SHARE, ONE)
    out[at + 2] = (rules["pack_size"] - view["dealt"]) * rules["share_of_stock"]
    at += 3
    other = seat
    for place in range(players):
        out[at + place] = min(view["hand_size"][other] * HAND_SHARE, ONE)
        if seats > 2 and view["out"][other] > 0:
            out[at + seats + place] = ONE if view["out"][other] == 1 else HALF
        other = other + 1 if other + 1 < players else 0
    at += 2 * seats if seats > 2 else seats
    if rules["table_cards"] > 0:
        for _ in range(players):
            write_counts(view["up"][other], share, kinds, out[at:])
            at += kinds
            other = other + 1 if other + 1 < players else 0
        at += (seats - players) * kinds
        for place in range(players):
            out[at + place] = view["down_size"][other] * rules["share_of_table"]
            other = other + 1 if other + 1 < players else 0
        at += seats
    if rules["turns_round"] == 1:
        out[at] = ONE if view["direction"] == CLOCKWISE else 0.0
        at += 1
    if rules["may_choose"] == 1:
        out[at] = view["showing"]
        at += 1
    if rules["rounds"] != 1:
        out[at] = min(view["round"] * rules["share_of_rounds"], ONE)
        for place in range(players):
            out[at + 1 + place] = view["won"][other] * rules["share_of_supply"]
            other = other + 1 if other + 1 < players else 0
        out[at + 1 + seats] = view["supply"] * rules["share_of_supply"]
        at += seats + 2
    if rules["mixed"] == 1:
        out[at + players - rules["min_players"]] = 1.0
        at += seats - rules["min_players"] + 1
    if rules["memory"] == 1:
        at = observe_memory(view, rules, seat, out, at)
    return at


@kernel
def write_counts(counts: np.ndarray, share: np.ndarray, kinds: int, out: np.ndarray) -> None:
    """Write cards by kind as shares. On arrays of its own, so that the loop can be done many kinds at once."""
    for kind in range(kinds):
        out[kind] = np.float32(counts[kind]) * share[kind]


@kernel
def write_unseen(view: Row, rules: Row, seat: int, out: np.ndarray) -> None:
    """Write the cards by kind that a seat has not seen."""
    count, seen, share = rules["count"], view["seen"], rules["share_of_kind"]
    hand, known, up, showing = view["hand"][seat], view["known"][seat], view["up"][seat], view["showing"]
    for kind in range(rules["num_kinds"]):
        own = hand[kind] - known[kind] + showing * up[kind]
        out[kind] = np.float32(count[kind] - seen[kind] - own) * share[kind]


@kernel
def observe_memory(view: Row, rules: Row, seat: int, out: np.ndarray, at: int) -> int:
    """Write what a perfect memory adds; returns where it ends."""
    players, kinds, seats = int(rules["num_players"]), int(rules["num_kinds"]), int(rules["max_players"])
    share = rules["share_of_kind"]
    eight = int(rules["hog_wash"])
    if eight < 0:
        write_counts(view["in_pile"], share, kinds, out[at:])
        at += kinds
    else:
        write_counts(view["in_pile"], share, eight, out[at:])
        write_counts(view["in_pile"][eight + 1 :], share[eight + 1 :], kinds - eight - 1, out[at + eight :])
        at += kinds - 1
    write_unseen(view, rules, seat, out[at:])
    at += kinds
    other = seat
    for _ in range(players - 1):
        other = other + 1 if other + 1 < players else 0
        write_counts(view["known"][other], share, kinds, out[at:])
        at += kinds
    at += (seats - players) * kinds
    if rules["proves"] == 1:
        for place in range(players - 1):
            other = other + 1 if other + 1 < players else 0
            if other == seat:
                other = other + 1 if other + 1 < players else 0
            if view["proofs"][other] > 0:
                out[at + place] = min(view["proofs"][other] * HAND_SHARE, ONE)
                highest = rules["num_ranks"] - 1
                while view["proved"][other, highest] == 0:
                    highest -= 1
                out[at + seats - 1 + place] = rules["number"][highest] * KIND_SHARE
        at += 2 * (seats - 1)
    return at


# --- text -------------------------------------------------------------------------------------------------------------


def read_deal(state: Row, rules: Row) -> dict[str, Any]:
    """The dealer, each seat's face-down cards, its face-up ones if dealt so, its hand as dealt, and the stock."""
    players = int(rules["num_players"])
    cards = [card_text(int(rules["number"][kind])) for kind in state["pack"][: rules["pack_size"]]]
    found: dict[str, Any] = {"dealer": int(state["dealer"])}
    at = 0
    for part, held in deal_parts(state, rules).items():
        found[part] = [cards[at + seat * held : at + (seat + 1) * held] for seat in range(players)]
        at += players * held
    return {**found, "stock": cards[at:]}


def deal_parts(state: Row, rules: Row) -> dict[str, int]:
    """What is dealt to each seat in this round, in order, and how many cards."""
    table, held = int(rules["table_cards"]), int(rules["hand_size"])
    if dealt_open(state, rules):
        return {"face_down": table, "face_up": table, "hands": held}
    return {"face_down": table, "hands": held + table}


def write_deal(state: Row, rules: Row, given: Mapping[str, Any]) -> None:
    """Lay out a deal given by hand: its cards must make up exactly the pack."""
    players, parts = int(rules["num_players"]), deal_parts(state, rules)
    names = ["dealer", *parts, "stock"]
    if not isinstance(given, Mapping) or set(given) != set(names):
        raise DealError(f"a deal of this round of Pig Pile has {', '.join(names)}; got {given!r}")
    dealer, stock = given["dealer"], given["stock"]
    if not isinstance(dealer, int) or isinstance(dealer, bool) or not 0 <= dealer < players:
        raise DealError(f"dealer must be a seat 0 … {players - 1}; got {dealer!r}")
    cards: list[Any] = []
    for part, held in parts.items():
        lists = given[part]
        sizes = [len(each) if isinstance(each, list) else -1 for each in lists] if isinstance(lists, list) else []
        if sizes != [held] * players:
            raise DealError(f"{part} must be {players} lists of {held} cards; got {lists!r}")
        cards += [card for each in lists for card in each]
    if not isinstance(stock, list):
        raise DealError(f"stock must be a list of cards; got {stock!r}")
    cards += stock
    kinds = {card_text(int(rules["number"][kind])): kind for kind in range(rules["num_kinds"])}
    pack = {card: int(rules["count"][kind]) for card, kind in kinds.items()}
    wrong = [card for card in cards if not isinstance(card, str) or card not in kinds]
    if not wrong:
        found = Counter(cards)
        wrong = [f"{card}: {found[card]} for {pack[card]}" for card in pack if found[card] != pack[card]]
    if wrong:
        raise DealError(f"the cards dealt must be exactly the pack of these rules; wrong: {wrong}")
    state["pack"][: len(cards)] = [kinds[card] for card in cards]
    state["dealer"] = dealer
    lay_out(state, rules)


NAMES: Final = {WILD: "Hog Wild", HOG_TIED: "Hog Tied", EWE_TURN: "Ewe-Turn"}
LOW_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def call_out(before: Row, after: Row, rules: Row, action: str) -> str:
    """What is shouted: "Hog Wash", "Hog Tied", "Ewe-Turn", "Hog Wild", or the number; nothing where none is played."""
    if action.startswith(("show", "pickup")):
        return ""
    table = np.array([before], before.dtype)[0]
    if action == "flip":
        seat, size = int(before["seat"]), int(rules["table_cards"])
        kind, count = int(before["pack"][seat * size + size - before["down_size"][seat]]), 1
        if not fits(rules, kind, top_kind(table)):
            return LOW_WORDS[rules["number"][kind] - 1]
    else:
        cards, _, wilds = action.partition("+Wx")
        card, _, times = cards.partition("x")
        number, count = WILD if card == "W" else int(card), int(times)
        kind = rules["number"][: rules["num_kinds"]].tolist().index(number)
        lay_cards(table, rules["wild"], int(wilds or 0))
    lay_cards(table, kind, count)
    if kind == rules["hog_wash"] or run_on_top(table, rules) >= 3:
        return "Hog Wash"
    number = int(rules["number"][kind])
    return NAMES[number] if number in NAMES else LOW_WORDS[number - 1]


def scene(view: Row, rules: Row, looking: int) -> Scene:
    """Pile, stock and what was set aside in the middle; each seat's hand, face-up and face-down cards."""
    players, texts = int(rules["num_players"]), [card_text(int(each)) for each in rules["number"]]

    def cards(counts: np.ndarray, size: int | None = None) -> tuple[str | None, ...]:
        shown = [texts[kind] for kind in range(rules["num_kinds"]) for _ in range(counts[kind])]
        return (*shown, *[None] * (0 if size is None else int(size) - len(shown)))

    way = "clockwise" if view["direction"] == CLOCKWISE else "anticlockwise"
    zones = [
        Zone("pile", None, tuple(texts[kind] for kind in view["pile"][: view["pile_size"]]), way),
        Zone("stock", None, (None,) * int(rules["pack_size"] - view["dealt"])),
        Zone("washed", None, cards(view["washed"])),
    ]
    for seat in range(players):
        place = int(view["out"][seat])
        zones += [
            Zone("hand", seat, cards(view["hand"][seat], view["hand_size"][seat]), ("", "out 1st", "out 2nd")[place]),
            Zone("face_up", seat, cards(view["up"][seat], view["up_size"][seat])),
            Zone("face_down", seat, (None,) * int(view["down_size"][seat])),
        ]
    points = np.zeros(players)
    scores(view, rules, points)
    stage = "choosing" if view["showing"] else f"turn {int(view['turn']) + 1}"
    return Scene(
        num_players=players,
        to_move=int(view["seat"]) if view["over"] == RUNNING else None,
        looking=looking,
        zones=tuple(zones),
        scores=tuple(points.tolist()),
        called=f"round {int(view['round']) + 1}, {stage}",
    )


DEFINITION = Definition(
    id="pig_pile_v0",
    name="Pig Pile",
    rulebook=__doc__ or "",
    rules=Rules,
    presets=PRESETS,
    seats=lambda rules: (rules.min_players, MAX_PLAYERS),
    state=STATE,
    row=RULES,
    derive=derive,
    actions=action_texts,
    layout=layout,
    score_scale=score_scale,
    deal=deal,
    legal=legal,
    step=step,
    hide=hide,
    determinize=determinize,
    observe=observe,
    scores=scores,
    read_deal=read_deal,
    write_deal=write_deal,
    call_out=call_out,
    scene=scene,
)
