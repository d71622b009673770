"""Seat orders: who sits where in the copies of a deal."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest

from pigenv.errors import OptionError
from pigenv.evaluate.match import play_match
from pigenv.evaluate.orders import balanced, every_order, rotations, seat_orders
from tests.evaluate.players import BENCH, FIRST, LAST, PIG10


@pytest.mark.parametrize(
    "places", ["AB", "ABBB", "AABB", "ABC", "ABCD", "ABCB", "AABBB", "ABBBBBBB", "ABCDE", "AAABBBCC"]
)
def test_everybody_sits_everywhere_equally_often(places):
    """Over the orders of any line-up, copies of an agent together have every seat equally often."""
    orders = seat_orders(places)
    assert (np.sort(orders, axis=1) == np.arange(len(places))).all()
    for kind in set(places):
        mine = [k for k, each in enumerate(places) if each == kind]
        assert len(set(Counter(orders[:, mine].ravel().tolist()).values())) == 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_distinct_agents_sit_in_all_orders_up_to_four(players):
    """The orders of up to four distinct agents are all permutations, each once."""
    orders = seat_orders("ABCD"[:players])
    assert sorted(map(tuple, orders.tolist())) == sorted(permutations(range(players)))


def test_orders_that_look_alike_are_played_once():
    """Half and half at four seats looks different in six ways, a lone agent in as many as there are seats."""
    looks = {tuple("AABB"[place] for place in np.argsort(order)) for order in every_order("AABB")}
    assert len(every_order("AABB")) == len(looks) == 6
    np.testing.assert_array_equal(seat_orders("ABBBB"), rotations(5))


@pytest.mark.parametrize("players", [3, 4, 5, 6, 7, 8])
def test_a_balanced_design_has_every_neighbour_equally_often(players):
    """Everybody has every seat equally often, and follows everybody else directly equally often."""
    orders = balanced(players)
    assert len(orders) == (players if players % 2 == 0 else 2 * players)
    who_sits = np.argsort(orders, axis=1)
    for seat in range(players):
        assert set(Counter(who_sits[:, seat].tolist()).values()) == {len(orders) // players}
    follows = Counter(pair for row in who_sits.tolist() for pair in pairwise(row))
    assert len(follows) == players * (players - 1)
    assert len(set(follows.values())) == 1


def test_a_match_sits_in_the_orders_it_is_given():
    """A place plays from the seat that the order names: swapped places and seats are the same game."""
    one = play_match(PIG10, [FIRST, LAST, LAST, LAST], 6, 3, bench=BENCH, orders=np.array([[2, 0, 1, 3]]))
    other = play_match(PIG10, [LAST, LAST, FIRST, LAST], 6, 3, bench=BENCH, orders=np.array([[0, 1, 2, 3]]))
    np.testing.assert_array_equal(one.scores[..., 0], other.scores[..., 2])
    assert one.scores.shape == (6, 1, 4)


def test_an_order_seats_everybody_once():
    """Two agents on one seat are refused."""
    with pytest.raises(OptionError, match="seat order gives each of 4 places another seat"):
        play_match(PIG10, [FIRST] * 4, 2, 3, bench=BENCH, orders=np.array([[0, 1, 1, 3]]))
