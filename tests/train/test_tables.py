"""The learner's tables: sizes, rivals, and that a saved one plays on identically."""

import numpy as np
import pytest

from pigenv import registry
from pigenv.errors import OptionError
from pigenv.table import loops
from pigenv.train.tables import Mixture, Tables, table_sizes


def play(tables, steps, chance):
    """Random legal play; the actions as they were played."""
    played = []
    for _ in range(steps):
        actions = (tables.masks * chance.random(tables.masks.shape)).argmax(axis=1)
        tables.step(actions)
        played.append(actions)
    return played


def test_tables_of_every_size():
    """A game laid out for several sizes is played at each of them, and by as many tables each."""
    game = registry.make("pig10", num_players=4, max_players=6)
    assert [each.num_players for each in table_sizes(game)] == [2, 3, 4, 5, 6]
    tables = Tables(game, 50, Mixture(), 1)
    seen = [set() for _ in range(50)]
    for _ in range(30):
        for table, seat in enumerate(tables.seats):
            seen[table].add(int(seat))
        play(tables, 1, np.random.default_rng(0))
    assert sorted(len(seats) for seats in seen) == [size for size in (2, 3, 4, 5, 6) for _ in range(10)]
    with pytest.raises(OptionError, match="num_tables"):
        Tables(game, 4, Mixture(), 1)


def test_a_game_of_one_size_has_tables_of_that():
    """Without `max_players` there is one size."""
    game = registry.make("pig10", num_players=3)
    assert table_sizes(game) == [game]


def test_rivals_have_all_seats_but_one():
    """At its share of the tables an opponent decides for all seats but the learner's, which changes; nowhere else."""
    game = registry.make("pig10", num_players=4)
    tables = Tables(game, 100, Mixture(["pig10/greedy"], 0.3), 2)
    shares, moved, steps = np.zeros(100), [set() for _ in range(100)], 77 * 4
    for _ in range(steps):
        shares += tables.learning
        for table in np.flatnonzero(tables.learning):
            moved[table].add(int(tables.seats[table]))
        play(tables, 1, np.random.default_rng(1))
    assert (shares[30:] == steps).all()
    assert (np.abs(shares[:30] / steps - 0.25) < 0.05).all()
    assert all(len(seats) > 1 for seats in moved[:30])
    # Greedy beats random play, so the learner's running result is below what chance would bring.
    assert tables.results[0] < 0.5


def test_an_opponent_plays_as_it_does():
    """What is played for an opponent's seats is what it chooses itself: greedy never misses a chance of ten."""
    game = registry.make("pig10", num_players=3)
    tables = Tables(game, 40, Mixture(["pig10/greedy"], 1.0), 3)
    targets = 0
    for _ in range(60):
        states = tables.groups[0][1].states.copy()
        rival, masks = tables.learning == 0, tables.masks.copy()
        (actions,) = play(tables, 1, np.random.default_rng(4))
        for table in np.flatnonzero(rival):
            made = {
                action: _value_after(game, states[table : table + 1], action) for action in np.flatnonzero(masks[table])
            }
            if any(made.values()):
                targets += 1
                assert made[int(actions[table])]
    assert targets > 50


def _value_after(game, state, action):
    """Whether an action makes the target: its seat then has the pile, and it is empty."""
    after, row = state.copy(), game.row
    before = loops(game.definition)
    points = np.zeros((2, 1, game.num_players))
    before.score_tables(after, row, points[0])
    seat = int(after["seat"][0])
    game.definition.step(after[0], row[0], int(action))
    before.score_tables(after, row, points[1])
    return points[1, 0, seat] > points[0, 0, seat]


def test_the_harder_past_self_comes_more_often():
    """A past self that wins against the learner gets more tables than one that loses."""
    game = registry.make("pig10", num_players=2, preset="mini")
    tables = Tables(game, 400, Mixture(past_share=1.0, past_size=2), 4)

    def first(observations, masks):
        return masks.argmax(axis=1)

    tables.remember(0, first, 0.9)
    tables.remember(1, first, 0.1)
    tables._seat_rivals(np.arange(400))
    games = np.bincount(tables._rivals_of, minlength=2)
    assert games.sum() == 400
    assert games[1] > 4 * games[0]


def test_shares_must_add_up():
    """Shares above 1, and opponents without a share, are refused."""
    with pytest.raises(OptionError, match="add up"):
        Mixture(["uniform"], 0.7, 0.7).check()
    with pytest.raises(OptionError, match="go together"):
        Mixture(["uniform"]).check()
    with pytest.raises(OptionError, match="go together"):
        Mixture([], 0.5).check()


def test_a_saved_table_plays_on_identically():
    """Restored into new tables, the state gives the same observations, rivals and rewards from then on."""
    game = registry.make("pig10", num_players=3, max_players=4)
    mixture = Mixture(["pig10/greedy", "uniform"], 0.4)
    tables, other = Tables(game, 30, mixture, 6), Tables(game, 30, mixture, 7)
    play(tables, 50, np.random.default_rng(8))
    arrays, about = tables.save()
    other.restore(arrays, about)
    for each in (tables, other):
        play(each, 200, np.random.default_rng(9))
    for name in ("observations", "masks", "seats", "rewards", "over", "learning", "results"):
        assert (getattr(tables, name) == getattr(other, name)).all(), name


def test_everything_is_what_all_seats_see():
    """The critic's input is the mover's own observation, then those of the others clockwise, seen from their seats."""
    game = registry.make("pig10", num_players=2, max_players=3)
    tables = Tables(game, 20, Mixture(), 1)
    play(tables, 9, np.random.default_rng(3))
    fill = np.ones((20, 3, game.layout.size), np.float32)
    tables.everything(fill)
    assert (fill[:, 0] == tables.observations).all()
    hand = game.layout.slices["hand"]
    for part, group in tables.groups:
        players = group.game.num_players
        for table in range(part.start, part.stop):
            state = group.states[table - part.start]
            for offset in range(players):
                seat = (tables.seats[table] + offset) % players
                cards = state["hand"][seat, : state["hand_size"][seat]]
                counts = np.bincount(cards, minlength=11)
                assert np.allclose(fill[table, offset, hand] * 3, counts, atol=1e-6)
            assert (fill[table, players:] == 0).all()
