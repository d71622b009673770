"""Tianshou's collectors and multi-agent DQN over our tables: masks, credit, seeds, cut games."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("tianshou")

from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, ReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.utils.net.common import Net

from pigenv.adapters.tianshou import AllSeatsEnv, LearnerEnv
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY, replayed

GAMES = pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])
HORIZON = 100


def random_seats(env):
    players = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=env.action_space) for _ in env.agents]
    return MultiAgentOffPolicyAlgorithm(algorithms=players, env=env)


def dqn(env, size, actions, **kwargs):
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=size, action_shape=actions, hidden_sizes=[16]), action_space=env.action_space, **kwargs
    )
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, n_step_return_horizon=HORIZON)


def dqn_seats(env, **kwargs):
    size, actions = env.observation_space["observation"].shape[0], int(env.action_space.n)
    return MultiAgentOffPolicyAlgorithm(algorithms=[dqn(env, size, actions, **kwargs) for _ in env.agents], env=env)


def one_game(settings, seed):
    """A game that Tianshou collected, and the same on a plain table."""
    np.random.seed(seed)  # noqa: NPY002 (Tianshou draws from it)
    env, buffer = AllSeatsEnv(**settings), ReplayBuffer(1000)
    collector = Collector(random_seats(env), DummyVectorEnv([lambda: AllSeatsEnv(**settings)]), buffer)
    stats = collector.collect(n_episode=1, reset_before_collect=True, gym_reset_kwargs={"seed": seed})
    return stats, buffer, replayed(settings, seed, buffer.act[: len(buffer)].tolist())


def test_masks_are_obeyed_for_1000_games():
    """Tianshou's DQN, greedy and exploring, plays 1,000 games; the table would refuse what is not legal."""
    env = AllSeatsEnv(**TINY)
    for kwargs in ({}, {"eps_training": 0.5, "eps_inference": 0.5}):
        tables = DummyVectorEnv([lambda: AllSeatsEnv(**TINY) for _ in range(20)])
        collector = Collector(dqn_seats(env, **kwargs), tables, exploration_noise=bool(kwargs))
        assert collector.collect(n_episode=500, reset_before_collect=True).n_collected_episodes == 500


@GAMES
def test_returns_go_to_the_right_seat(settings):
    """The collector's return of each seat is what a plain table pays it for the same actions."""
    for seed in range(3):
        stats, buffer, replay = one_game(settings, seed)
        np.testing.assert_allclose(stats.returns[0], replay.returns, atol=1e-6)
        assert [f"player_{seat}" for seat in replay.seats] == buffer.obs.agent_id[: len(buffer)].tolist()
        np.testing.assert_allclose(buffer.rew[: len(buffer)], replay.rewards, atol=1e-6)


@GAMES
def test_rewards_on_others_turns_are_kept(settings):
    """With a horizon as long as a game, each decision's target is all that its own seat is still to be paid."""
    _, buffer, replay = one_game(settings, 4)
    algorithm, indices = dqn_seats(AllSeatsEnv(**settings)), np.arange(len(buffer))
    batch = algorithm._preprocess_batch(buffer[indices], buffer, indices)
    left = replay.rewards[::-1].cumsum(axis=0)[::-1]
    for seat in set(replay.seats):
        wanted = [left[step, seat] for step, mover in enumerate(replay.seats) if mover == seat]
        np.testing.assert_allclose(batch[f"player_{seat}"].returns.flatten().numpy(), wanted, atol=1e-5)


def test_rewards_kept_do_not_change():
    """The rewards of a step stay what they were when the next one is made."""
    env = AllSeatsEnv(**TINY)
    observation, _ = env.reset(seed=1)
    kept, over = [], False
    while not over:
        observation, rewards, terminated, truncated, _ = env.step(int(np.flatnonzero(observation["mask"])[0]))
        kept.append(rewards)
        over = terminated or truncated
    assert not any(each.any() for each in kept[:-1])
    assert kept[-1].any() or (kept[-1] == 0).all()
    assert len({id(each) for each in kept}) == len(kept)


def test_seeds_reproduce():
    """The same seed collects the same game, another one another."""

    def observations(seed):
        return one_game(SMALL, seed)[1].obs.obs.tolist()

    assert observations(1) == observations(1)
    assert observations(1) != observations(2)


def test_cut_games_are_truncated_and_not_terminated():
    """A game cut short is truncated for Tianshou; one that ended by the rules is terminated."""
    for settings, cut in ((CUT, True), (TINY, False)):
        _, buffer, _ = one_game(settings, 1)
        last = len(buffer) - 1
        assert bool(buffer.truncated[last]) is cut
        assert bool(buffer.terminated[last]) is not cut


def test_one_seat_obeys_its_mask():
    """A DQN of one seat, as Tianshou makes it, never forfeits in 1,000 games, and its mask is that of the table."""
    env = LearnerEnv(**TINY, learner_seat="rotate")
    algorithm = dqn(env, env.observation_space["obs"].shape[0], int(env.action_space.n), eps_training=0.5)
    tables = DummyVectorEnv([lambda: LearnerEnv(**TINY, illegal="raise") for _ in range(20)])
    collector = Collector(algorithm, tables, exploration_noise=True)
    assert collector.collect(n_episode=1000, reset_before_collect=True).n_collected_episodes == 1000
