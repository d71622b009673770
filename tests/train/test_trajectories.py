"""What decisions were worth, against hand-worked examples; actions drawn with the right probabilities."""

import numpy as np
import pytest

from pigenv import registry
from pigenv.game import TERMINATED, TRUNCATED
from pigenv.train.tables import Mixture, Tables
from pigenv.train.trajectories import advantages, returns, sample_actions

GAMMA, LAMBDA = 0.9, 0.5


def toy(over, learning=None):
    """One table, two seats. A game of four steps, and the first two of the next one."""
    seats = np.array([0, 1, 0, 0, 1, 0, 0], np.int8)[:, None]
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.2], np.float32)[:, None]
    rewards = np.zeros((6, 1, 2), np.float32)
    rewards[1, 0, 0] = 1.0  # paid to seat 0 while seat 1 moved
    rewards[2, 0, 1] = 0.25  # and the other way round
    rewards[3, 0] = 0.5, -0.5  # the game's end pays both
    rewards[5, 0, 0] = 0.1
    ends = np.zeros((6, 1), np.int8)
    ends[3] = over
    if learning is None:
        learning = np.ones((7, 1), np.int8)
    return rewards, ends, seats, learning, values


@pytest.mark.parametrize("over", [TERMINATED, TRUNCATED])
def test_advantages_by_hand(over):
    """Each seat's decisions form a trajectory of their own; what is paid while others move belongs to the last one."""
    rewards, ends, seats, learning, values = toy(over)
    found, known = np.zeros((6, 1), np.float32), np.zeros((6, 1), np.int8)
    advantages(rewards, ends, seats, learning, values, GAMMA, LAMBDA, np.zeros((2, 4)), found, known)
    third = 0.5 - 0.4  # seat 0, step 3: nothing comes after
    second = (0.0 + 0.9 * 0.4 - 0.3) + 0.45 * third  # step 2
    first = (1.0 + 0.9 * 0.3 - 0.1) + 0.45 * second  # step 0: the 1 was paid at step 1
    other = 0.25 - 0.5 - 0.2  # seat 1, step 1: paid at steps 2 and 3
    bootstrapped = 0.1 + 0.9 * 0.2 - 0.6  # seat 0, step 5: moves again after the last step
    assert known[:, 0].tolist() == [1, 1, 1, 1, 0, 1]  # what comes of seat 1's step 4 nobody knows yet
    assert np.allclose(found[:, 0], [first, other, second, third, 0, bootstrapped], atol=1e-6)


def test_a_rivals_decisions_are_no_part_of_it():
    """Where a rival moved nothing is known, and the learner's trajectories are what they were."""
    learning = np.array([1, 0, 1, 1, 0, 1, 1], np.int8)[:, None]
    rewards, ends, seats, learning, values = toy(TERMINATED, learning)
    found, known = np.zeros((6, 1), np.float32), np.zeros((6, 1), np.int8)
    advantages(rewards, ends, seats, learning, values, GAMMA, LAMBDA, np.zeros((2, 4)), found, known)
    assert known[:, 0].tolist() == [1, 0, 1, 1, 0, 1]
    assert np.isclose(found[2, 0], 0.06 + 0.45 * 0.1)


def test_returns_by_hand():
    """A decision comes to the discounted sum of what its seat was paid after it, known once the game is over."""
    rewards, ends, seats, learning, _ = toy(TERMINATED)
    found, known = np.zeros((6, 1), np.float32), np.zeros((6, 1), np.int8)
    returns(rewards, ends, seats[:6], learning[:6], GAMMA, np.zeros((2, 2)), found, known)
    assert known[:, 0].tolist() == [1, 1, 1, 1, 0, 0]
    assert np.allclose(found[:4, 0], [1.0 + 0.9 * 0.9 * 0.5, 0.25 - 0.5, 0.9 * 0.5, 0.5])


def test_returns_of_real_games_are_what_the_seats_were_paid():
    """At γ = 1 every decision's return is its seat's sum of rewards from then on, game by game, counted apart."""
    game = registry.make("pig10", preset="small", reward="rank")
    tables = Tables(game, 8, Mixture(), 5)
    steps, chance = 150, np.random.default_rng(1)
    rewards = np.zeros((steps, 8, tables.most), np.float32)
    over, seats = np.zeros((steps, 8), np.int8), np.zeros((steps, 8), np.int8)
    for t in range(steps):
        seats[t] = tables.seats
        tables.step((tables.masks * chance.random(tables.masks.shape)).argmax(axis=1))
        rewards[t], over[t] = tables.rewards, tables.over
    found, known = np.zeros((steps, 8), np.float32), np.zeros((steps, 8), np.int8)
    returns(rewards, over, seats, np.ones_like(seats), 1.0, np.zeros((tables.most, 2)), found, known)
    for i in range(8):
        end = -1
        ends = np.flatnonzero(over[:, i])
        assert len(ends) >= 2
        for t in range(steps):
            later = ends[ends >= t]
            assert known[t, i] == (len(later) > 0)
            if len(later):
                end = later[0]
                assert np.isclose(found[t, i], rewards[t : end + 1, i, seats[t, i]].sum(), atol=1e-5)


def test_actions_are_drawn_with_the_policys_probabilities():
    """Shares of 200,000 draws are the softmax over the legal actions; an illegal one is never drawn."""
    logits = np.array([0.5, 3.0, -1.0, 1.0, 0.0], np.float32)
    mask = np.array([1, 0, 1, 1, 0], np.int8)
    n = 200_000
    actions, logs = np.zeros(n, np.int64), np.zeros(n, np.float32)
    chance = np.random.default_rng(0).random(n)
    sample_actions(np.tile(logits, (n, 1)), np.tile(mask, (n, 1)), chance, actions, logs)
    weights = np.where(mask == 1, np.exp(logits.astype(float)), 0)
    wanted = weights / weights.sum()
    assert np.allclose(np.bincount(actions, minlength=5) / n, wanted, atol=0.005)
    assert np.allclose(logs, np.log(wanted[actions]), atol=1e-6)


def test_the_greatest_chance_still_gives_a_legal_action():
    """A chance next to 1, and logits far apart, give the last legal action that has a share."""
    logits = np.array([[80.0, -80.0, 5.0]], np.float32)
    actions, logs = np.zeros(1, np.int64), np.zeros(1, np.float32)
    sample_actions(logits, np.array([[0, 1, 1]], np.int8), np.array([np.nextafter(1.0, 0)]), actions, logs)
    assert actions[0] == 2
    assert np.isfinite(logs[0])
