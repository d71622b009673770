"""Players of Pig 10, weakest first: what each thinks a card is worth.

A player looks at what it may know (its hand, what was played, pile and value, how many cards everybody holds), gives
every legal way to play a card a worth, and plays the best; chance decides among the equally good.

greedy    makes the target where it can, and does not go bust where it can avoid it.
careful   besides, leaves the pile value at which the next seat is least likely to hold the card that makes the target.
counting  reckons in cards: what a play wins or gives away, what the next seat and the one after it will probably win,
          the pile that a forced bust of the next seat would bring, and what the cards kept are good for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from pigenv.game import Act
from pigenv.games.pig10 import (
    ADD,
    EMPTY,
    FROG,
    MAX_HAND,
    MAY_SET,
    MAY_SUBTRACT,
    NOBODY,
    NUM_VALUES,
    PIGMAID,
    SET,
    SUBTRACT,
    new_value,
)
from pigenv.kernel import Row, below, draw, kernel, specialize

__all__ = ["PLAYERS"]

# --- choosing ---------------------------------------------------------------------------------------------------------

worth: Callable[[Row, Row, int, int], float]  # filled in for each player: what playing a card in a way is worth to it


def best_action(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    """The legal action of greatest worth, each of the equally good equally likely."""
    best, best_worth, equals = -1, -np.inf, 0
    for action in range(len(mask)):
        if mask[action] == 1:
            here = worth(view, rules, rules["action_card"][action], rules["action_way"][action])
            if here > best_worth:
                best, best_worth, equals = action, here, 1
            elif here == best_worth:
                # The k-th of equals replaces the one before with probability 1/k: all end up equally likely.
                equals += 1
                if below(draw(key, equals), equals) == 0:
                    best = action
    return best


def player(name: str, its_worth: Callable[[Row, Row, int, int], float]) -> Act:
    """The player that goes by a worth of its own."""
    act: Act = specialize(best_action, {"worth": its_worth}, name)
    return act


# --- what a seat can know ---------------------------------------------------------------------------------------------


@kernel
def held(view: Row, card: int) -> int:
    """How many cards of a value the seat to move holds."""
    seat, count = view["seat"], 0
    for place in range(view["hand_size"][seat]):
        count += view["hand"][seat, place] == card
    return count


@kernel
def unseen(view: Row, rules: Row, card: int) -> int:
    """How many cards of a value lie in the stock or in other hands."""
    if card < 0 or card >= NUM_VALUES:
        return 0
    return rules["deck_counts"][card] - view["played"][card] - held(view, card)


@kernel
def all_unseen(view: Row, rules: Row) -> int:
    """How many cards lie in the stock or in other hands: all that was dealt is in a hand or was played."""
    count = rules["pack_size"] - view["hand_size"][view["seat"]]
    for card in range(NUM_VALUES):
        count -= view["played"][card]
    return count


@kernel
def chance_of_none(marked: int, cards: int, hand: int) -> float:
    """Probability that a hand of so many out of `cards` has none of the `marked` among them."""
    chance = 1.0
    for drawn in range(min(hand, cards)):
        chance *= max(cards - marked - drawn, 0) / (cards - drawn)
    return chance


@kernel
def seat_after(view: Row, rules: Row, seat: int) -> int:
    """The next seat in turn that has cards; the one that moves now, if nobody else has."""
    for _ in range(rules["num_players"]):
        seat = seat + 1 if seat + 1 < rules["num_players"] else 0
        if view["hand_size"][seat] > 0:
            return seat
    return seat


@kernel
def right_neighbour(rules: Row, seat: int) -> int:
    """Who takes the pile when a seat goes bust."""
    return seat - 1 if seat > 0 else rules["num_players"] - 1


@kernel
def called_out(view: Row, card: int, way: int) -> int:
    """The pile value when the seat to move plays a card in a way."""
    return new_value(view["value"], card, way)
