"""Players of Pig Pile, weakest first: what each thinks an action is worth.

A player looks at what it may know (its cards, what lies open, what it saw going into other hands), gives every legal
action a worth, and does the best; chance decides among the equally good.

    low       plays the lowest number that fits, as many of it as it can, and keeps its Hog Wilds.
    careful   besides, lays its best cards face up for the end game, keeps washes and high cards while it can do
              without, and washes where that saves it cards.
    counting  besides, remembers what it saw going into other hands, and lays nothing that the next seat is known to
              complete to a wash; late in a round it plays for washes, each of which is a turn more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from pigenv.game import Act
from pigenv.games.pig_pile import (
    FLIP,
    HIGHEST,
    HOG_TIED,
    HOG_WASH,
    PICK_UP,
    PLAY,
    SHOW,
    WILD,
    next_seat,
    read_action,
)
from pigenv.kernel import Row, below, draw, kernel, specialize

__all__ = ["PLAYERS"]

# --- choosing ---------------------------------------------------------------------------------------------------------


def worth(view: Row, rules: Row, sort: int, kind: int, count: int, wilds: int) -> float:
    """What an action is worth: each player has its own (see `player`)."""
    raise NotImplementedError


def best_action(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    """The legal action of greatest worth, each of the equally good equally likely."""
    best, best_worth, equals = -1, -np.inf, 0
    for action in range(len(mask)):
        if mask[action] == 1:
            sort, kind, count, wilds = read_action(rules, action)
            here = worth(view, rules, sort, kind, count, wilds)
            if here > best_worth:
                best, best_worth, equals = action, here, 1
            elif here == best_worth:
                # The k-th of the equals replaces the one before with probability 1/k: all end up equally likely.
                equals += 1
                if below(draw(key, equals), equals) == 0:
                    best = action
    return best


def player(name: str, its_worth: Callable[[Row, Row, int, int, int, int], float]) -> Act:
    """The player that goes by a worth of its own."""
    act: Act = specialize(best_action, {"worth": its_worth}, name)
    return act


# --- low --------------------------------------------------------------------------------------------------------------

NEVER: Final = -1000.0  # worse than any play


@kernel
def low(view: Row, rules: Row, sort: int, kind: int, count: int, wilds: int) -> float:
    """The lowest number, most cards of it; Hog Wilds only where nothing else fits, and one at a time."""
    if sort == PICK_UP:
        return NEVER
    if sort != PLAY:
        return 0.0
    if rules["number"][kind] == WILD:
        return -500.0 - count
    return -20.0 * rules["number"][kind] + count - 100.0 * wilds


# --- careful ----------------------------------------------------------------------------------------------------------

# What it is worth to keep a card, about its number: a high card fits more often. Found by matches on duplicate deals at
# 3, 4 and 6 seats against `low`.
HIGH_KEPT: Final = 0.85  # high cards more than in proportion: so much more for a 12 as 12 is of its number
WILD_KEPT: Final = 19.0
WASH_KEPT: Final = 3.0  # an 8 beyond its number
TIED_KEPT: Final = -2.0  # a 4 likewise
EQUAL_KEPT: Final = 0.2  # each further card of a play, as a share of the first: alone it is worth little
PAIR_SHOWN: Final = 3.5  # equal cards face up are played together
WASH_GAIN: Final = 4.0  # another turn
WASH_PILE: Final = 0.5  # for each card of a pile set aside
CARD_GAIN: Final = 1.2  # for each card played that is drawn anew
LAST_GAIN: Final = 5.0  # for each that is not


@kernel
def kept(rules: Row, kind: int) -> float:
    """What a card is worth where it is kept."""
    number = rules["number"][kind]
    if number == WILD:
        return WILD_KEPT
    value = number + HIGH_KEPT * number * number / HIGHEST
    if number == HOG_WASH:
        value += WASH_KEPT
    elif number == HOG_TIED:
        value += TIED_KEPT
    return value


@kernel
def careful(view: Row, rules: Row, sort: int, kind: int, count: int, wilds: int) -> float:
    """Best cards face up; then what is worth least kept, with something for washes and for each card played."""
    if sort == FLIP:
        return 0.0
    if sort == SHOW:
        return kept(rules, kind) + PAIR_SHOWN * view["up"][view["seat"], kind]
    if sort == PICK_UP:
        return NEVER - (kept(rules, kind) if kind >= 0 else 0.0)
    gain = gain_of_cards(view, rules, count + wilds)
    if will_wash(view, rules, kind, count, wilds):
        gain += WASH_GAIN + WASH_PILE * view["pile_size"]
    return gain - kept(rules, kind) * (1.0 + EQUAL_KEPT * (count - 1)) - WILD_KEPT * wilds


@kernel
def gain_of_cards(view: Row, rules: Row, count: int) -> float:
    """What it brings to be rid of so many cards: more where none will be drawn for them."""
    drawn = rules["hand_size"] - view["hand_size"][view["seat"]] + count
    drawn = min(max(drawn, 0), count, rules["pack_size"] - view["dealt"])
    return CARD_GAIN * drawn + LAST_GAIN * (count - drawn)


@kernel
def will_wash(view: Row, rules: Row, kind: int, count: int, wilds: int) -> bool:
    """Whether a play sets the pile aside."""
    if kind == rules["hog_wash"] or count >= 3:
        return True
    run, joker = count, rules["wild_in_run"] == 1
    if joker:
        run += wilds
    elif wilds > 0:
        return False
    for place in range(view["pile_size"] - 1, -1, -1):
        card = view["pile"][place]
        if card != kind and not (joker and card == rules["wild"]):
            break
        run += 1
    return run >= 3


# --- counting ---------------------------------------------------------------------------------------------------------

# Found by matches on duplicate deals at 3, 4 and 6 seats against `careful`. That the next seat must pick up turned out
# to be worth nothing by itself: it leaves an empty pile to the seat after that.
LATE_WASH_GAIN: Final = 8.0  # another turn where nothing is drawn any more
TABLE_WASH_GAIN: Final = 6.0  # and from the face-up cards
TURN_ROUND_GAIN: Final = 2.0  # those who played before answer now
GIFT_COST: Final = 4.0  # a run that the next seat is known to complete: it washes and goes on


@kernel
def counting(view: Row, rules: Row, sort: int, kind: int, count: int, wilds: int) -> float:
    """As careful, and besides: turns gained late, and what the next seat is known to hold."""
    here = careful(view, rules, sort, kind, count, wilds)
    if sort != PLAY:
        return here
    if will_wash(view, rules, kind, count, wilds):
        if view["dealt"] == rules["pack_size"]:
            here += LATE_WASH_GAIN
            if view["hand_size"][view["seat"]] == 0:
                here += TABLE_WASH_GAIN
        return here
    if kind == rules["ewe_turn"]:
        here += TURN_ROUND_GAIN
    following = seat_to_answer(view, rules, kind)
    if following != view["seat"] and shown(view, following, kind) >= 3 - run_with(view, kind, count):
        here -= GIFT_COST
    return here


@kernel
def shown(view: Row, seat: int, kind: int) -> int:
    """How many cards of a kind another seat is known to be able to play."""
    cards: int = view["known"][seat, kind] if view["hand_size"][seat] > 0 else view["up"][seat, kind]
    return cards


@kernel
def run_with(view: Row, kind: int, count: int) -> int:
    """How many equal cards lie on top when some more are played."""
    run = count
    for place in range(view["pile_size"] - 1, -1, -1):
        if view["pile"][place] != kind:
            break
        run += 1
    return run


@kernel
def seat_to_answer(view: Row, rules: Row, kind: int) -> int:
    """Who has to answer a card that does not wash."""
    players, seat = rules["num_players"], view["seat"]
    if kind == rules["ewe_turn"]:
        for _ in range(players):
            seat = (seat - view["direction"]) % players
            if view["out"][seat] == 0:
                break
        return seat
    seat = next_seat(view, players, seat)
    if kind == rules["hog_tied"]:
        seat = next_seat(view, players, seat)
    return seat


PLAYERS: Final[dict[str, Act]] = {
    "low": player("low", low),
    "careful": player("careful", careful),
    "counting": player("counting", counting),
}
"""The players by name, weakest first."""
