"""Intervals over deals."""

from __future__ import annotations

import numpy as np
import pytest

from pigenv import registry
from pigenv.agents.uniform import UNIFORM
from pigenv.errors import OptionError
from pigenv.evaluate.intervals import bootstrap_interval, deal_means, without_luck
from pigenv.evaluate.match import play_match


def test_the_interval_covers_the_true_mean_as_often_as_it_says():
    """Of 95 % intervals of shares with a known mean, about 95 % hold it."""
    generator = np.random.default_rng(3)
    shares = np.array([0.0, 0.25, 0.5, 1.0])
    odds = np.array([0.4, 0.3, 0.2, 0.1])
    mean, trials, held = shares @ odds, 400, 0
    for trial in range(trials):
        low, high = bootstrap_interval(generator.choice(shares, size=150, p=odds), trial, resamples=1000)
        held += low <= mean <= high
    assert 0.92 <= held / trials <= 0.98


def test_the_interval_agrees_with_the_textbook_resampling():
    """Drawing counts of distinct numbers is the same as drawing deals with replacement."""
    generator = np.random.default_rng(4)
    values = generator.random(60).round(2)
    means = values[generator.integers(60, size=(20_000, 60))].mean(axis=1)
    np.testing.assert_allclose(bootstrap_interval(values, 5), np.quantile(means, [0.025, 0.975]), atol=4e-3)


def test_the_interval_is_the_same_for_the_same_input():
    """Another seed gives another interval, the same seed the same one, in any order of the deals."""
    values = np.random.default_rng(6).random(50)
    assert bootstrap_interval(values, 1) == bootstrap_interval(values[::-1], 1)
    assert bootstrap_interval(values, 1) != bootstrap_interval(values, 2)


def test_deals_count_not_games():
    """Games that replay a deal are averaged first: copies of the same result make no interval narrower."""
    values = np.random.default_rng(8).random(40)
    repeated = np.repeat(values[:, None], 6, axis=1)
    assert deal_means(repeated) == pytest.approx(values)
    assert bootstrap_interval(repeated, 1) == pytest.approx(bootstrap_interval(values, 1))


def test_many_distinct_numbers_fit_into_memory(monkeypatch):
    """Resampling in parts gives an interval around the mean as well."""
    monkeypatch.setattr("pigenv.evaluate.intervals._ROOM", 1000)
    values = np.random.default_rng(9).random(300)
    low, high = bootstrap_interval(values)
    assert low < values.mean() < high


def test_extremes():
    """A single deal says nothing, equal deals leave no doubt, and no deal is a mistake."""
    assert bootstrap_interval(np.array([0.7]), bounds=(0.0, 1.0)) == (0.0, 1.0)
    assert bootstrap_interval(np.full(9, 0.25)) == (0.25, 0.25)
    with pytest.raises(OptionError, match="at least one deal"):
        bootstrap_interval(np.zeros(0))
    with pytest.raises(OptionError, match="confidence"):
        bootstrap_interval(np.ones(3), confidence=95)


def test_evaluations_cover_a_known_truth():
    """Of the intervals of 1,000 evaluations, 93 to 97 % hold the true win share.

    The truth is known by symmetry: two seats, an agent against its own twin, whose win share is exactly a half. The
    deals are real ones, played in one order alone: in both, copies of one agent come out even on every deal.
    """
    game, deals = registry.make("pig10", 2), 60
    orders = np.array([[0, 1]])
    held, runs = 0, 1000
    games = play_match(game, [UNIFORM, UNIFORM], runs * deals, 11, orders=orders)
    for run in range(runs):
        low, high = bootstrap_interval(games.win_shares[run * deals : (run + 1) * deals, 0, 0], run, resamples=2000)
        held += low <= 0.5 <= high
    assert 0.93 <= held / runs <= 0.97


def test_taking_out_luck_leaves_the_mean():
    """Over many evaluations of six deals the mean without luck is the true one, though rare luck decides nearly all.

    A part reckoned from the deals that it is taken out of would leave a mean too low here: it is the greater, the
    luckier they were.
    """
    generator = np.random.default_rng(5)
    luck = generator.exponential(1, (20_000, 6)) - 1
    values = 0.3 + 0.3 * luck + 0.1 * (luck**2 - 1) + generator.normal(0, 0.1, luck.shape)
    means = np.array([without_luck(*each).mean() for each in zip(values, luck, strict=True)])
    assert abs(means.mean() - 0.3) < 4 * means.std() / np.sqrt(len(means))


def test_luck_that_was_reckoned_well_is_taken_out_and_noise_is_not():
    """What explains the values leaves nothing of them but the mean; what has nothing to do with them leaves them be."""
    generator = np.random.default_rng(6)
    luck, noise = generator.normal(0, 1, 2000), generator.normal(0, 1, 2000)
    np.testing.assert_allclose(without_luck(0.3 + luck, luck), 0.3, atol=1e-9)
    assert without_luck(0.3 + luck, noise).var() < 1.01 * luck.var()
    for few in (0, 1, 2, 3):
        assert without_luck(luck[:few], noise[:few]).shape == (few,)
