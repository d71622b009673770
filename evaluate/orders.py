"""Seat orders: where the places of a line-up sit in each copy of a deal.

A seat order is an array that gives each place of a line-up its seat. Which orders a deal is played in:

    rotations    a lone agent among copies: it needs to sit everywhere once, and the copies are all alike.
    all          every order in which the line-up looks different, where there are at most 24 of them. That is every
                 order of up to four distinct agents.
    balanced     above that the rows of a Williams square: everybody sits on every seat equally often, and everybody
                 follows everybody else directly equally often, counted along the seats from 0 to n−1. A square has n
                 rows; for an odd n there are two of them, each the other's mirror (E. J. Williams, "Experimental
                 designs balanced for the estimation of residual effects of treatments", Australian Journal of
                 Scientific Research 2, 1949).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from math import factorial, prod
from typing import Final

import numpy as np

__all__ = ["MOST_ORDERS", "balanced", "every_order", "rotations", "seat_orders"]

MOST_ORDERS: Final = 24
"""Up to so many orders of a line-up all are played: those of four distinct agents."""


def rotations(players: int) -> np.ndarray:
    """Every place one seat further each time, int64, shape `(players, players)`: seat by order and place."""
    return (np.arange(players)[:, None] + np.arange(players)) % players


def balanced(players: int) -> np.ndarray:
    """A Williams design: place by order and seat turned round, so seat by order and place; int64.

    Shape `(players, players)` for an even number of players, `(2 * players, players)` for an odd one.
    """
    zigzag = [(k + 1) // 2 if k % 2 else players - k // 2 for k in range(players)]
    first = (np.array(zigzag)[None, :] + np.arange(players)[:, None]) % players
    who_sits = first if players % 2 == 0 else np.concatenate([first, first[:, ::-1]])
    return np.argsort(who_sits, axis=1)


def every_order(places: Sequence[Hashable]) -> np.ndarray:
    """Every order in which the line-up looks different, int64, shape `(orders, places)`; equal places are alike."""
    kinds = list(dict.fromkeys(places))
    members = {kind: [place for place, each in enumerate(places) if each == kind] for kind in kinds}
    orders = []
    for arrangement in _arrangements([kinds.index(each) for each in places]):
        waiting = {kind: iter(found) for kind, found in members.items()}
        order = [0] * len(places)
        for seat, kind in enumerate(arrangement):
            order[next(waiting[kinds[kind]])] = seat
        orders.append(order)
    return np.array(orders, np.int64)


def _arrangements(kinds: list[int]) -> Iterator[list[int]]:
    """The distinct arrangements of a multiset, in lexical order."""
    if not kinds:
        yield []
        return
    for kind in sorted(set(kinds)):
        rest = kinds.copy()
        rest.remove(kind)
        yield from ([kind, *each] for each in _arrangements(rest))


def seat_orders(places: Sequence[Hashable]) -> np.ndarray:
    """The orders that a line-up's deals are played in, int64, shape `(orders, places)`: seat by order and place.

    Args:
        places: Who has each place; equal values are copies of one agent.
    """
    players = len(places)
    counts = [list(places).count(kind) for kind in dict.fromkeys(places)]
    if counts[1:] == [players - 1] or players <= 2:
        return rotations(players)
    looks = factorial(players) // prod(map(factorial, counts))
    return every_order(places) if looks <= MOST_ORDERS else balanced(players)
