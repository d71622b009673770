"""TorchRL's own checks pass, and both ways to it keep masks, rewards and seeds."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from torchrl.envs import PettingZooWrapper
from torchrl.envs.utils import check_env_specs

from pigenv.adapters.torchrl import SelfPlayEnv, returns_to_go, wrapped
from pigenv.envs.aec import PigAECEnv
from pigenv.game import TERMINATED, TRUNCATED
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY, replayed

GAMES = pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])


def choose(tensordict):
    """A random legal action at each table."""
    tensordict["action"] = torch.multinomial(tensordict["action_mask"].float(), 1).squeeze(-1)
    return tensordict


def played(settings, seed=5, steps=60, num_tables=4):
    torch.manual_seed(1)
    env = SelfPlayEnv(num_tables=num_tables, seed=seed, **settings)
    return env.rollout(steps, choose, auto_cast_to_device=False, break_when_any_done=False)


def episodes(row):
    """Slices of a table's steps, one for each whole game, in order."""
    ends = (torch.nonzero(row["next", "done"].squeeze(-1)).squeeze(-1) + 1).tolist()
    return [slice(start, stop) for start, stop in zip([0, *ends], ends, strict=False)]


@GAMES
def test_passes_its_checker(settings):
    """TorchRL's checker finds specs and data of both environments to agree."""
    check_env_specs(SelfPlayEnv(num_tables=3, seed=1, **settings).append_transform(_masked()))
    check_env_specs(wrapped(**settings, seed=1, illegal="random"))


def _masked():
    from torchrl.envs import ActionMask

    return ActionMask()


def test_masks_are_obeyed_for_1000_games():
    """TorchRL's masked random actions are legal in 1,000 games; the tables would refuse any other."""
    env = SelfPlayEnv(num_tables=50, seed=1, **TINY).append_transform(_masked())
    rollout = env.rollout(250, break_when_any_done=False)
    assert rollout["next", "done"].sum() >= 1000
    chosen = rollout["action_mask"].gather(-1, rollout["action"].unsqueeze(-1))
    assert chosen.all()
    assert not rollout["action_mask"].all(-1).all()


@pytest.mark.parametrize("seed", range(3))
def test_masks_of_the_wrapper(seed):
    """Under TorchRL's own wrapper the seat to move plays only legal actions; the game would refuse another."""
    env = wrapped(**SMALL, seed=seed)
    for _ in range(20):
        rollout = env.rollout(200)
        assert rollout["next", "done"][-1].all()
        active = rollout["players", "info", "active"].squeeze(-1) == 1
        assert (active.sum(-1) == 1).all()
        assert rollout["players", "action_mask"][~active].all()


@GAMES
def test_returns_go_to_the_right_seat(settings):
    """Each game's rewards are those of a plain table on which the same actions are played."""
    rollout, games = played(settings), 0
    for i, row in enumerate(rollout):
        for number, part in enumerate(episodes(row)):
            replay = replayed(settings, 5 + i, row["action"][part].tolist(), number)
            assert row["seat"][part].squeeze(-1).tolist() == replay.seats
            np.testing.assert_array_equal(row["next", "reward"][part].numpy(), replay.rewards)
            assert replay.over == TERMINATED
            games += 1
    assert games >= 4


@GAMES
def test_rewards_on_others_turns_are_kept(settings):
    """A decision is credited with all that its seat is paid to the end of the game, whoever moved then."""
    rollout = played(settings)
    to_go, known = returns_to_go(rollout)
    paid_by_others = 0
    for i, row in enumerate(rollout):
        whole = 0
        for number, part in enumerate(episodes(row)):
            replay = replayed(settings, 5 + i, row["action"][part].tolist(), number)
            left = replay.rewards[::-1].cumsum(axis=0)[::-1]
            wanted = [left[step, seat] for step, seat in enumerate(replay.seats)]
            np.testing.assert_allclose(to_go[i, part].numpy(), wanted, atol=1e-6)
            paid_by_others += sum(
                bool(reward[seat]) for mover, reward in zip(replay.seats, replay.rewards, strict=True)
                for seat in range(len(reward)) if seat != mover
            )  # fmt: skip
            whole = part.stop
        assert known[i, :whole].all()
        assert not known[i, whole:].any()
    assert paid_by_others


def test_returns_under_the_wrapper():
    """TorchRL's wrapper hands each player its own rewards, those on others' turns too."""
    env = wrapped(**ROUNDS)
    rollout = env.rollout(400, tensordict=env.reset(seed=3), auto_reset=False)
    active = (rollout["players", "info", "active"].squeeze(-1) == 1).int().argmax(-1)
    actions = rollout["players", "action"].gather(-1, active.unsqueeze(-1)).squeeze(-1)
    replay = replayed(ROUNDS, 3, actions.tolist())
    np.testing.assert_allclose(rollout["next", "players", "reward"].squeeze(-1).numpy(), replay.rewards, atol=1e-6)
    assert (replay.rewards.any(axis=1)).sum() == 2


def test_turns_under_the_wrapper():
    """The environment of one seat after another runs in TorchRL's wrapper too: `mask` is true for the seat to move."""
    env = PettingZooWrapper(PigAECEnv(**TINY), use_mask=True, group_map={"players": ["player_0", "player_1"]}, seed=2)
    rollout = env.rollout(50)
    assert rollout["next", "done"][-1].all()
    assert (rollout["players", "mask"].sum(-1) == 1).all()


def test_seeds_reproduce():
    """The same seed gives the same games, another one other games; a resumed reset goes on with the next games."""
    one, two, other = played(TINY, seed=5), played(TINY, seed=5), played(TINY, seed=99)
    assert (one == two).all()
    assert not (one["observation"] == other["observation"]).all()
    env = SelfPlayEnv(num_tables=2, **TINY)
    env.set_seed(7)
    first, second = env.reset()["observation"], env.reset()["observation"]
    assert not (first == second).all()
    env.set_seed(7)
    assert (env.reset()["observation"] == first).all()


def test_cut_games_are_truncated_and_not_terminated():
    """A game cut short is truncated; one that ended by the rules is terminated; never both."""
    cut, ended = played(CUT), played(TINY)
    assert cut["next", "truncated"].any()
    assert not cut["next", "terminated"].any()
    assert ended["next", "terminated"].any()
    assert not ended["next", "truncated"].any()
    actions = cut[0]["action"][episodes(cut[0])[0]].tolist()
    assert replayed(CUT, 5, actions).over == TRUNCATED
