"""Players of Pig 10, weakest first: what each thinks a play is worth.

A player looks at what it may know (its hand, what was played, pile and value, how many cards everybody holds), gives
every legal play a worth, and makes the best; chance decides among the equally good.

    greedy    makes the target where it can, and goes bust only where it must.
    careful   besides, leaves the pile value from which the next seat is least likely to make the target.
    counting  reckons in cards: what a play wins or gives away, what the next seat will probably make of the pile it
              is left (it may make the target, or be forced to go bust), and what the cards kept are good for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from pigenv.game import Act
from pigenv.games.pig10 import FROG, NUM_VALUES, PIGMAID, new_value
from pigenv.kernel import Row, below, draw, kernel, specialize

__all__ = ["PLAYERS", "SEARCH_DEPTH"]

# --- choosing ---------------------------------------------------------------------------------------------------------


def worth(view: Row, rules: Row, card: int, way: int) -> float:
    """What it is worth to play a card in a way: each player has its own (see `player`)."""
    raise NotImplementedError


def best_action(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    """The legal action of greatest worth, each of the equally good equally likely."""
    best, best_worth, equals = -1, -np.inf, 0
    for action in range(len(mask)):
        if mask[action] == 1:
            here = worth(view, rules, rules["action_card"][action], rules["action_way"][action])
            if here > best_worth:
                best, best_worth, equals = action, here, 1
            elif here == best_worth:
                # The k-th of the equals replaces the one before with probability 1/k: all end up equally likely.
                equals += 1
                if below(draw(key, equals), equals) == 0:
                    best = action
    return best


def player(name: str, its_worth: Callable[[Row, Row, int, int], float]) -> Act:
    """The player that goes by a worth of its own."""
    act: Act = specialize(best_action, {"worth": its_worth}, name)
    return act


# --- greedy -----------------------------------------------------------------------------------------------------------

MAKES, SAFE, BUSTS = 2.0, 1.0, 0.0


@kernel
def greedy(view: Row, rules: Row, card: int, way: int) -> float:
    """The target is best, any value below it will do, a bust is bad."""
    value = new_value(view["value"], card, way)
    if value == rules["target"]:
        return MAKES
    return SAFE if value < rules["target"] else BUSTS


# --- careful ----------------------------------------------------------------------------------------------------------


@kernel
def careful(view: Row, rules: Row, card: int, way: int) -> float:
    """As greedy; the safe value from which the next seat makes the target least; if it must bust, the highest card."""
    value = new_value(view["value"], card, way)
    if value == rules["target"]:
        return MAKES
    if value < rules["target"]:
        return SAFE - chance_to_make(view, rules, seat_after(view, rules, view["seat"]), value)
    return BUSTS - 1.0 / card


@kernel
def chance_to_make(view: Row, rules: Row, seat: int, value: int) -> float:
    """Probability that another seat holds the one card that makes the target from a pile value."""
    wanted = unseen(view, rules, rules["target"] - value)
    return 1.0 - chance_of_none(wanted, all_unseen(view, rules), view["hand_size"][seat])


# --- counting ---------------------------------------------------------------------------------------------------------

# How much things count beside a card won, found by matches on duplicate deals at 2, 3, 4 and 6 seats against `careful`.
BUST_COUNTS: Final = 0.5  # a card that one's own bust gives away: the next seat then finds nothing to take
LOSS_COUNTS: Final = 0.9  # a card that the next seat takes
LATER_COUNTS: Final = 0.12  # a card that the next seat leaves lying: some later seat may take it
GIFT_COUNTS: Final = 1.8  # a card that a forced bust of the next seat brings: found to be worth more than itself

# What a card kept for later is worth, in cards.
KIND_KEPT: Final = 0.23  # each kind makes the target from another value
HIGH_KEPT: Final = -0.25  # a card as high as the target, others in proportion: high cards go bust
PIGMAID_KEPT: Final = 0.36  # is always safe, and takes the value up or down
TARGET_KEPT: Final = 0.16  # makes the target from nothing, as nothing else does
FROG_KEPT: Final = -0.42  # never makes the target: it is good for being played


@kernel
def counting(view: Row, rules: Row, card: int, way: int) -> float:
    """Cards won less cards lost, as far as they can be foreseen, and what the cards kept are good for."""
    value = new_value(view["value"], card, way)
    size: int = view["pile_size"] + 1
    hand = worth_of_kept(view, rules, card)
    if value == rules["target"]:
        return hand + size
    if value > rules["target"]:
        return hand - BUST_COUNTS * cost(rules, size)
    return hand + prospects(view, rules, card, value, size)


@kernel
def cost(rules: Row, cards: float) -> float:
    """What it costs that one of the others takes cards: nothing is lost to the rest of them."""
    others: int = rules["num_players"] - 1
    return cards / others


@kernel
def prospects(view: Row, rules: Row, card: int, value: int, size: int) -> float:
    """What a pile that is left to the next seat will probably bring."""
    me = view["seat"]
    following = seat_after(view, rules, me)
    if following == me:
        return 0.0
    makes = chance_to_make(view, rules, following, value)
    busts = chance_to_bust(view, rules, following, card, value)
    stays = max(1.0 - makes - busts, 0.0)
    taker = following - 1 if following > 0 else rules["num_players"] - 1
    gain = GIFT_COUNTS * busts if taker == me else -cost(rules, busts)
    gain -= cost(rules, LOSS_COUNTS * makes + LATER_COUNTS * stays)
    return gain * (size + 1)


@kernel
def chance_to_bust(view: Row, rules: Row, seat: int, top: int, value: int) -> float:
    """Probability that a seat holds nothing but cards that go bust."""
    harmless = 0
    for card in range(NUM_VALUES):
        if value + card <= rules["target"] or card == FROG or rules["ways"][value + 1, top + 1, card] != 0:
            harmless += unseen(view, rules, card)
    return chance_of_none(harmless, all_unseen(view, rules), view["hand_size"][seat])


@kernel
def worth_of_kept(view: Row, rules: Row, played: int) -> float:
    """What the cards are good for that stay in hand when one is played, in cards."""
    total = 0.0
    for card in range(NUM_VALUES):
        if kept(view, card, played) > 0:
            total += KIND_KEPT + HIGH_KEPT * card / rules["target"]
            if card == FROG:
                total += FROG_KEPT
            elif card == PIGMAID:
                total += PIGMAID_KEPT
            elif card == rules["target"]:
                total += TARGET_KEPT
    return total


# --- what a seat can know ---------------------------------------------------------------------------------------------


@kernel
def held(view: Row, card: int) -> int:
    """How many cards of a value the seat to move holds."""
    seat, count = view["seat"], 0
    for place in range(view["hand_size"][seat]):
        if view["hand"][seat, place] == card:
            count += 1
    return count


@kernel
def kept(view: Row, card: int, played: int) -> int:
    """How many cards of a value stay in its hand when it plays one."""
    return held(view, card) - (1 if card == played else 0)


@kernel
def unseen(view: Row, rules: Row, card: int) -> int:
    """How many cards of a value lie in the stock or in the hands of others."""
    count: int = rules["deck_counts"][card] - view["played"][card] - held(view, card)
    return count


@kernel
def all_unseen(view: Row, rules: Row) -> int:
    """How many cards lie in the stock or in the hands of others."""
    count: int = rules["pack_size"] - view["dealt"]
    for seat in range(rules["num_players"]):
        if seat != view["seat"]:
            count += view["hand_size"][seat]
    return count


@kernel
def chance_of_none(marked: int, cards: int, hand: int) -> float:
    """Probability that a hand drawn from so many cards has none of the marked ones (hypergeometric)."""
    chance = 1.0
    for drawn in range(min(hand, cards)):
        chance *= max(cards - marked - drawn, 0) / (cards - drawn)
    return chance


@kernel
def seat_after(view: Row, rules: Row, seat: int) -> int:
    """The next seat in turn that holds cards; the one to move, if nobody else does."""
    for _ in range(rules["num_players"]):
        seat = seat + 1 if seat + 1 < rules["num_players"] else 0
        if view["hand_size"][seat] > 0:
            break
    return seat


SEARCH_DEPTH: Final = 12
"""Piles are short: what a play brings is seen within a few turns, and all that comes later is noise."""

PLAYERS: Final[dict[str, Act]] = {
    "greedy": player("greedy", greedy),
    "careful": player("careful", careful),
    "counting": player("counting", counting),
}
"""The players by name, weakest first."""
