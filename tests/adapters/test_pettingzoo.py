"""PettingZoo: both environments and its registry; more of the same is in tests/envs/test_aec.py."""

from __future__ import annotations

import numpy as np
import pettingzoo
import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from pigenv.envs.aec import PigAECEnv, PigParallelEnv
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY, replayed

GAMES = pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])


def played(env, seed=None):
    """A game by random legal actions: what `last` gave each agent in all, the actions, and how it ended."""
    env.reset(seed=seed)
    for agent in env.possible_agents:
        env.action_space(agent).seed(seed)
    returns, actions, ends = dict.fromkeys(env.possible_agents, 0.0), [], {}
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        returns[agent] += reward
        if terminated or truncated:
            ends[agent] = (terminated, truncated)
            env.step(None)
        else:
            actions.append(int(env.action_space(agent).sample(observation["action_mask"])))
            env.step(actions[-1])
    return list(returns.values()), actions, ends


def test_masks_are_obeyed_for_1000_games():
    """Sampling by the mask is legal in 1,000 games of the registry's environment; it would refuse another action."""
    env = pettingzoo.make("aec", "pigenv/pig10_v0", preset="mini")
    env.reset(seed=1)
    for _ in range(1000):
        played(env)


@GAMES
def test_returns_go_to_the_right_seat(settings):
    """The rewards that `last` gives an agent add up to what a plain table pays its seat."""
    env = PigAECEnv(**settings)
    for seed in range(5):
        returns, actions, _ = played(env, seed)
        np.testing.assert_allclose(returns, replayed(settings, seed, actions).returns, atol=1e-6)


def test_rewards_on_others_turns_are_kept():
    """In both parallel views each agent gets at each step what a plain table pays it, whoever moved."""
    _, actions, _ = played(PigAECEnv(**ROUNDS), 3)
    replay = replayed(ROUNDS, 3, actions)
    ours, theirs = PigParallelEnv(**ROUNDS), turn_based_aec_to_parallel(PigAECEnv(**ROUNDS))
    for env in (ours, theirs):
        env.reset(seed=3)
        paid = [list(env.step(dict.fromkeys(env.agents, action))[1].values()) for action in actions]
        np.testing.assert_allclose(paid, replay.rewards, atol=1e-6)
    assert any(np.delete(replay.rewards[step], seat).any() for step, seat in enumerate(replay.seats))


def test_seeds_reproduce():
    """The same seed gives the same game, another one another, an unseeded reset the seed's next."""
    env = PigAECEnv(**SMALL)
    one, two, other = played(env, 1), played(env, 1), played(env, 2)
    assert one[1] == two[1]
    assert one[1] != other[1]


def test_cut_games_are_truncated_and_not_terminated():
    """Every agent of a game cut short is truncated; of one that ended, terminated."""
    assert set(played(PigAECEnv(**CUT), 1)[2].values()) == {(False, True)}
    assert set(played(PigAECEnv(**TINY), 1)[2].values()) == {(True, False)}
