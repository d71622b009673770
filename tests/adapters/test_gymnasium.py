"""Gymnasium's own vectors and wrappers over the one-seat environment, and the native vector beside them."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics
from gymnasium.wrappers.vector import RecordEpisodeStatistics as VectorStatistics

import pigenv  # noqa: F401 (makes the names known)
from pigenv.envs.seat import SeatEnv
from pigenv.envs.vector import SeatVectorEnv
from pigenv.game import TRUNCATED
from pigenv.table import Table
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY

GAMES = pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])


def legal(generator, masks):
    """A random legal action in each row."""
    return np.array([generator.choice(np.flatnonzero(mask)) for mask in masks])


def by_async(settings, count, **kwargs):
    # Forked children would inherit threads of compiled code.
    return AsyncVectorEnv([lambda: SeatEnv(**settings, **kwargs)] * count, context="forkserver")


def test_masks_are_obeyed_for_1000_games():
    """Sampling by the mask in the info is legal in 1,000 games; the environment would refuse another action."""
    env = gymnasium.make("pigenv/Pig10-v0", preset="mini", illegal="raise")
    env.action_space.seed(1)
    _, info = env.reset(seed=1)
    for _ in range(1000):
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            over = terminated or truncated
        assert info["illegal"] == 0
        _, info = env.reset()


@GAMES
def test_returns_go_to_the_right_seat(settings):
    """`RecordEpisodeStatistics` sums up, for a learner at any seat, what a plain table pays that seat."""
    generator = np.random.default_rng(2)
    for seat in range(2):
        env = RecordEpisodeStatistics(SeatEnv(**settings, learner_seat=seat))
        # The same seat of a table whose other seats nobody compiled plays, read off its scores.
        for seed in range(5):
            _, info = env.reset(seed=seed)
            over = False
            while not over:
                _, _, terminated, truncated, info = env.step(int(legal(generator, [info["action_mask"]])[0]))
                over = terminated or truncated
            scores = env.unwrapped.scores()
            assert info["episode"]["r"] == pytest.approx(expected(env.unwrapped.game, scores, seat), abs=1e-5)


def expected(game, scores, seat):
    """A seat's return from the final points, by the definition of the reward."""
    if game.reward == "score":
        sign = -1 if game.row["lowest_wins"][0] else 1
        return sign * (scores[seat] - scores.mean()) / float(game.row["score_scale"][0])
    best = scores.min() if game.row["lowest_wins"][0] else scores.max()
    share = (scores[seat] == best) / (scores == best).sum()
    return (len(scores) * share - 1) / (len(scores) - 1)


def test_rewards_on_others_turns_are_kept():
    """The statistics of the native vector are those of Gymnasium's vector of one-seat environments, two rounds long."""
    generator = np.random.default_rng(3)
    ours, theirs = SeatVectorEnv(num_envs=4, **ROUNDS), SyncVectorEnv([lambda: SeatEnv(**ROUNDS)] * 4)
    one, two = VectorStatistics(ours), VectorStatistics(theirs)
    (_, infos), _ = one.reset(seed=1), two.reset(seed=1)
    ended, between = 0, 0
    for _ in range(150):
        actions = legal(generator, infos["action_mask"])
        _, rewards, terminated, _, infos = one.step(actions)
        _, rewards_2, terminated_2, _, infos_2 = two.step(actions)
        np.testing.assert_allclose(rewards, rewards_2, atol=1e-6)
        np.testing.assert_array_equal(terminated, terminated_2)
        between += int((rewards[~terminated] != 0).sum())
        if terminated.any():
            np.testing.assert_allclose(infos["episode"]["r"], infos_2["episode"]["r"], atol=1e-5)
            ended += int(terminated.sum())
    assert ended >= 4
    assert between >= 4


def test_async_vector_is_the_native_one():
    """Gymnasium's processes, with any seed, play what the native vector plays; the masks come through `call` too."""
    generator = np.random.default_rng(4)
    theirs, ours = by_async(SMALL, 2), gymnasium.make_vec("pigenv/Pig10-v0", num_envs=2, preset="small")
    try:
        (first, infos), (second, _) = ours.reset(seed=9), theirs.reset(seed=9)
        np.testing.assert_array_equal(first, second)
        for _ in range(30):
            np.testing.assert_array_equal(np.stack(theirs.call("action_masks")), infos["action_mask"] == 1)
            actions = legal(generator, infos["action_mask"])
            first, *rest, infos = ours.step(actions)
            second, *rest_2, _ = theirs.step(actions)
            np.testing.assert_array_equal(first, second)
            for mine, other in zip(rest, rest_2, strict=True):
                np.testing.assert_allclose(mine, other, atol=1e-6)
    finally:
        theirs.close()


def test_seeds_reproduce():
    """The same seed gives the same games in both vectors, table by table other ones; another seed others."""

    def first(seed):
        return gymnasium.make_vec("pigenv/Pig10-v0", num_envs=8).reset(seed=seed)[0].tolist()

    assert first(1) == first(1)
    assert first(1)[1:] == first(2)[:-1]
    assert len({tuple(row) for row in first(1)}) > 1


@pytest.mark.parametrize("mode", AutoresetMode)
def test_cut_games_are_truncated_and_not_terminated(mode):
    """A game cut short is truncated, never terminated, in every mode of auto-reset."""
    env = SeatVectorEnv(num_envs=2, autoreset_mode=mode, **CUT)
    _, infos = env.reset(seed=1)
    for _ in range(3):
        _, _, terminated, truncated, infos = env.step(legal(np.random.default_rng(1), infos["action_mask"]))
        assert not terminated.any()
        if truncated.any():
            break
    assert truncated.any()
    table = Table(env.game)
    table.start(1)
    while table.over == 0:
        table.step(table.legal_actions()[0])
    assert table.over == TRUNCATED


def test_recorded_as_a_film(tmp_path):
    """`RecordVideo` writes a film of a game."""
    pytest.importorskip("moviepy")
    env = gymnasium.wrappers.RecordVideo(SeatEnv(**TINY, render_mode="rgb_array"), str(tmp_path))
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(int(np.argmax(info["action_mask"])))
        over = terminated or truncated
    env.close()
    assert [path.suffix for path in tmp_path.iterdir()] == [".mp4"]
