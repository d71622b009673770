"""Stable-Baselines3 and sb3-contrib: our VecEnv, and theirs of the one-seat environment."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
contrib = pytest.importorskip("sb3_contrib")

from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor, VecNormalize

from pigenv.adapters.sb3 import SeatVecEnv
from pigenv.envs.seat import SeatEnv
from pigenv.envs.vector import SeatVectorEnv
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY


def learner(env, **kwargs):
    return contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=1, **kwargs)


def legal(generator, masks):
    return np.array([generator.choice(np.flatnonzero(mask)) for mask in masks])


def test_masks_are_obeyed_for_1000_games():
    """MaskablePPO learns and is then scored by `evaluate_policy` over 1,000 games without one illegal action."""
    env = SeatVecEnv(num_envs=16, seed=1, illegal="raise", **TINY)
    model = learner(env)
    model.learn(2048)
    returns, lengths = evaluate_policy(model, env, n_eval_episodes=1000, return_episode_rewards=True)
    assert len(returns) == 1000
    assert set(np.unique(returns)) <= {-1.0, 0.0, 1.0}
    assert max(lengths) <= 7


@pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])
def test_returns_go_to_the_right_seat(settings):
    """`VecMonitor` reports for each game the return that Gymnasium's environments give the learner."""
    generator, plain = np.random.default_rng(2), SeatVectorEnv(num_envs=4, autoreset_mode="SAME_STEP", **settings)
    env = VecMonitor(SeatVecEnv(num_envs=4, seed=5, **settings))
    env.reset()
    plain.reset(seed=5)
    sums, games = np.zeros(4), 0
    for _ in range(60):
        actions = legal(generator, env.env_method("action_masks"))
        _, _, dones, infos = env.step(actions)
        sums += plain.step(actions)[1]
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["r"] == pytest.approx(sums[i], abs=1e-5)
            sums[i], games = 0, games + 1
    assert games >= 4


def test_rewards_on_others_turns_are_kept():
    """Theirs, of one-seat environments, and ours give the learner the same rewards step by step, two rounds long."""
    generator, games = np.random.default_rng(3), 0
    for seed in range(3):
        ours, theirs = SeatVecEnv(num_envs=1, seed=seed, **ROUNDS), DummyVecEnv([lambda: SeatEnv(**ROUNDS)])
        theirs.seed(seed)
        np.testing.assert_array_equal(ours.reset(), theirs.reset())
        between, done = 0, [False]
        while not done[0]:
            actions = legal(generator, ours.action_masks())
            _, reward, done, _ = ours.step(actions)
            _, reward_2, done_2, _ = theirs.step(actions)
            assert reward == pytest.approx(reward_2, abs=1e-6)
            assert done[0] == done_2[0]
            between += bool(reward[0]) and not done[0]
        games += between
    assert games


def test_seeds_reproduce():
    """The same seed learns the same weights, with our VecEnv and with theirs."""

    def weights(make):
        model = learner(make())
        model.learn(256)
        return np.concatenate([each.detach().numpy().ravel() for each in model.policy.parameters()])

    for make in (
        lambda: SeatVecEnv(num_envs=4, seed=1, **SMALL),
        lambda: DummyVecEnv([lambda: SeatEnv(**SMALL)] * 2),
    ):
        np.testing.assert_array_equal(weights(make), weights(make))


def test_cut_games_say_so_and_are_not_bootstrapped():
    """A game cut short is done and marked `cut`; SB3 adds the value of the last observation only where told to."""
    env = SeatVecEnv(num_envs=2, seed=1, **CUT)
    env.reset()
    for _ in range(3):
        _, _, dones, infos = env.step(legal(np.random.default_rng(1), env.action_masks()))
        if dones.any():
            break
    for i in np.flatnonzero(dones):
        assert infos[i]["cut"] is True
        assert infos[i]["TimeLimit.truncated"] is False
    ended = SeatVecEnv(num_envs=2, seed=1, **TINY)
    ended.reset()
    dones = np.zeros(2, bool)
    while not dones.any():
        _, _, dones, infos = ended.step(legal(np.random.default_rng(1), ended.action_masks()))
    assert not infos[int(np.argmax(dones))]["cut"]


def test_processes_and_normalising():
    """`SubprocVecEnv` and `VecNormalize` let masks through; MaskablePPO learns on them without one illegal action."""
    env = SubprocVecEnv([lambda: SeatEnv(**TINY, illegal="raise")] * 2, start_method="forkserver")
    try:
        assert np.stack(env.env_method("action_masks")).shape == (2, env.action_space.n)
        learner(env).learn(128)
    finally:
        env.close()
    normal = VecNormalize(SeatVecEnv(num_envs=4, seed=1, illegal="raise", **TINY), norm_reward=False)
    learner(normal).learn(256)


@pytest.mark.parametrize("algorithm", [PPO, DQN])
def test_without_masks_the_offender_forfeits(algorithm):
    """PPO and DQN, which know no masks, learn where an illegal action forfeits the game and costs 1."""
    kwargs = {"n_steps": 32, "batch_size": 64} if algorithm is PPO else {"learning_starts": 50}
    env = SeatVecEnv(num_envs=4, seed=1, illegal="forfeit", **TINY)
    model = algorithm("MlpPolicy", env, seed=1, **kwargs)
    model.learn(512)
    observations, offences, games = env.reset(), 0, 0
    for _ in range(200):
        observations, rewards, dones, infos = env.step(model.predict(observations)[0])
        for i in np.flatnonzero(dones):
            games += 1
            if infos[i]["illegal"]:
                offences += 1
                assert rewards[i] == -1
    assert 0 < offences <= games
