"""SuperSuit's wrappers over our environments: with the mask in the infos, observations are the plain ones they take."""

from __future__ import annotations

import numpy as np
import pytest

ss = pytest.importorskip("supersuit")

from pettingzoo.test import api_test, parallel_api_test

from pigenv.envs.aec import PigAECEnv, PigParallelEnv
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY, replayed

WRAPPERS = {
    "agent_indicator": ss.agent_indicator_v0,
    "dtype": lambda env: ss.dtype_v0(env, np.float64),
    "flatten": ss.flatten_v0,
    "frame_stack": lambda env: ss.frame_stack_v1(env, 3),
    "pad": lambda env: ss.pad_observations_v0(ss.pad_action_space_v0(env)),
}


def tables(settings, count=1, **kwargs):
    env = PigParallelEnv(**{"mask": "info", **settings, **kwargs})
    return ss.concat_vec_envs_v1(ss.pettingzoo_env_to_vec_env_v1(env), count, num_cpus=0, base_class="gymnasium")


def played(settings, seed, steps=200, count=1):
    """One table's first game by random legal actions of the mover."""
    env, generator = tables(settings, count), np.random.default_rng(seed)
    _, infos = env.reset(seed=seed)
    rewards, actions, seen = [], [], []
    for _ in range(steps):
        chosen = [int(generator.choice(np.flatnonzero(info["action_mask"]))) for info in infos]
        actions.append(next(a for a, info in zip(chosen, infos, strict=True) if info["active"]))
        observation, reward, terminated, truncated, infos = env.step(np.array(chosen))
        rewards.append(reward)
        seen.append(observation.tolist())
        if terminated.any() or truncated.any():
            return np.array(rewards), actions, terminated, truncated, seen
    raise AssertionError("the game did not end")


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_pass_pettingzoos_tests(name):
    """Under each wrapper both environments still pass PettingZoo's own tests."""
    api_test(WRAPPERS[name](PigAECEnv(**SMALL, mask="info", illegal="random")), num_cycles=50)
    parallel_api_test(WRAPPERS[name](PigParallelEnv(**SMALL, mask="info", illegal="random")), num_cycles=50)


def test_masks_are_obeyed_for_1000_games():
    """Actions taken from the masks that come through the vector are legal in 1,000 games; the tables refuse others."""
    env, generator, ended = tables(TINY, 20), np.random.default_rng(1), 0
    _, infos = env.reset(seed=1)
    while ended < 2 * 1000:
        chosen = [int(generator.choice(np.flatnonzero(info["action_mask"]))) for info in infos]
        _, _, terminated, _, infos = env.step(np.array(chosen))
        ended += int(np.sum(terminated))


@pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])
def test_returns_go_to_the_right_seat(settings):
    """Row i of the vector is seat i, and is paid what a plain table pays that seat."""
    rewards, actions, *_ = played(settings, 4)
    np.testing.assert_allclose(rewards, replayed(settings, 4, actions).rewards, atol=1e-6)


def test_rewards_on_others_turns_are_kept():
    """What is paid to a seat while another moves is in its row."""
    rewards, actions, *_ = played(ROUNDS, 2)
    replay = replayed(ROUNDS, 2, actions)
    late = [step for step, mover in enumerate(replay.seats) if np.delete(replay.rewards[step], mover).any()]
    assert len(late) == 2
    np.testing.assert_allclose(rewards[late], replay.rewards[late], atol=1e-6)


def test_seeds_reproduce():
    """The same seed gives the same games, another one others."""
    assert played(SMALL, 1)[4] == played(SMALL, 1)[4]
    env = tables(SMALL)
    assert (env.reset(seed=1)[0] != env.reset(seed=2)[0]).any()


def test_cut_games_are_truncated_and_not_terminated():
    """A game cut short is truncated in the vector; one that ended is terminated."""
    _, _, terminated, truncated, _ = played(CUT, 1)
    assert np.all(truncated)
    assert not np.any(terminated)
    _, _, terminated, truncated, _ = played(TINY, 1)
    assert np.all(terminated)
    assert not np.any(truncated)
