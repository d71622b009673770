"""The native PufferEnv against a stand-in of PufferLib's documented interface: its releases download while built."""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np
import pytest

from pigenv.envs.vector import SeatVectorEnv
from tests.adapters import puffer_stand_in
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY

GAMES = pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])


@pytest.fixture
def make(monkeypatch):
    monkeypatch.setitem(sys.modules, "pufferlib", puffer_stand_in)
    monkeypatch.delitem(sys.modules, "pigenv.adapters.pufferlib", raising=False)
    module = import_module("pigenv.adapters.pufferlib")
    yield module.SeatPufferEnv
    sys.modules.pop("pigenv.adapters.pufferlib", None)


def legal(generator, env):
    masks = env.observations[:, env.game.layout.size :]
    return np.array([generator.choice(np.flatnonzero(mask)) for mask in masks])


def test_missing_says_how_to_get_it(monkeypatch):
    """Without PufferLib the adapter says in one sentence that there is no extra, and why."""
    monkeypatch.setitem(sys.modules, "pufferlib", None)
    monkeypatch.delitem(sys.modules, "pigenv.adapters.pufferlib", raising=False)
    with pytest.raises(ImportError, match="no extra for it"):
        import_module("pigenv.adapters.pufferlib")


def test_writes_into_the_buffers_it_is_given(make):
    """Every step writes into PufferLib's own arrays, which stay the same objects."""
    own = make(num_envs=3, **TINY)
    buffers = {
        name: getattr(own, name).copy()
        for name in ("observations", "rewards", "terminals", "truncations", "masks", "actions")
    }
    env = make(num_envs=3, buf=buffers, seed=1, **TINY)
    observations, infos = env.reset()
    assert observations is buffers["observations"]
    assert infos == []
    assert env.single_observation_space.contains(observations[0])
    for _ in range(10):
        result = env.step(legal(np.random.default_rng(1), env))
        for array, name in zip(result, ("observations", "rewards", "terminals", "truncations"), strict=False):
            assert array is buffers[name]


def test_masks_are_obeyed_for_1000_games(make):
    """Actions from the tail of the observation are legal in 1,000 games; the tables would refuse others."""
    env, generator, games = make(num_envs=20, illegal="raise", seed=1, **TINY), np.random.default_rng(1), 0
    env.reset()
    while games < 1000:
        games += len(env.step(legal(generator, env))[4])


@GAMES
def test_returns_go_to_the_right_seat(make, settings):
    """Observations, rewards and returns are those of Gymnasium's vector over the same seeds and actions."""
    env, plain = make(num_envs=4, **settings), SeatVectorEnv(num_envs=4, autoreset_mode="SAME_STEP", **settings)
    env.reset(seed=3)
    first, _ = plain.reset(seed=3)
    np.testing.assert_array_equal(env.observations[:, : env.game.layout.size], first)
    generator, sums, games = np.random.default_rng(1), np.zeros(4), 0
    for _ in range(60):
        actions = legal(generator, env)
        _, rewards, terminals, _, infos = env.step(actions)
        seen, rewards_2, terminated, *_ = plain.step(actions)
        np.testing.assert_array_equal(env.observations[:, : env.game.layout.size], seen)
        np.testing.assert_allclose(rewards, rewards_2, atol=1e-6)
        np.testing.assert_array_equal(terminals, terminated)
        sums += rewards_2
        np.testing.assert_allclose([info["episode_return"] for info in infos], sums[terminated], atol=1e-5)
        sums[terminated], games = 0, games + len(infos)
    assert games >= 4


def test_rewards_on_others_turns_are_kept(make):
    """A round that another seat ends is paid to the learner at its own last step, in the middle of the game."""
    env = make(num_envs=8, seed=1, **ROUNDS)
    env.reset()
    between, generator = 0, np.random.default_rng(1)
    for _ in range(60):
        _, rewards, terminals, *_ = env.step(legal(generator, env))
        between += int((rewards[~terminals] != 0).sum())
    assert between >= 8


def test_seeds_reproduce(make):
    """The same seed gives the same games, another one others."""

    def first(seed):
        return make(num_envs=4, **SMALL).reset(seed=seed)[0].tolist()

    assert first(1) == first(1)
    assert first(1)[1:] == first(2)[:-1]
    assert first(1) != first(2)


def test_cut_games_are_truncated_and_not_terminated(make):
    """A game cut short sets `truncations` alone, one that ended `terminals` alone."""
    for settings, cut in ((CUT, True), (TINY, False)):
        env = make(num_envs=2, seed=1, **settings)
        env.reset()
        terminals = truncations = np.zeros(2, bool)
        while not (terminals | truncations).any():
            _, _, terminals, truncations, _ = env.step(legal(np.random.default_rng(1), env))
        assert truncations.any() == cut
        assert terminals.any() != cut
