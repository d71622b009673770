"""The vector environment, SB3's view of it, and the self-play table."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import pigenv  # noqa: F401  (registers the environments)
from pigenv.adapters.sb3 import SeatVecEnv
from pigenv.envs.aec import PigAECEnv
from pigenv.envs.seat import SeatEnv
from pigenv.envs.selfplay import SelfPlay
from pigenv.envs.vector import SeatVectorEnv
from pigenv.errors import IllegalActionError, OptionError, SeedError, UsageError
from pigenv.registry import make

SETTINGS = {
    "pig10": {"num_players": 3, "opponents": ["uniform", "pig10/greedy"], "preset": "small"},
    "pigs_tail": {"num_players": 3, "opponents": "uniform", "preset": "attack", "rules": {"ranks": "A23", "rounds": 2}},
}


def same(ours, theirs, path=""):
    """Whether two nests of dicts and arrays are equal; object arrays by their items."""
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs), path
        for key in theirs:
            same(ours[key], theirs[key], f"{path}/{key}")
    elif isinstance(theirs, np.ndarray) and theirs.dtype.kind == "O":
        for a, b in zip(ours, theirs, strict=True):
            assert (a is None) == (b is None), path
            if b is not None:
                same(a, b, path)
    else:
        assert np.array_equal(ours, theirs), path


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED])
@pytest.mark.parametrize("mask", ["info", "obs", "both"])
@pytest.mark.parametrize("illegal", [False, True])
@pytest.mark.parametrize("game", SETTINGS)
def test_row_i_is_what_a_single_environment_plays(game, mode, mask, illegal):
    """In every auto-reset mode all five results equal those of Gymnasium's own vector of single environments."""
    count = 5
    ours = SeatVectorEnv(game, count, mask=mask, autoreset_mode=mode, **SETTINGS[game])
    theirs = SyncVectorEnv([lambda: SeatEnv(game, mask=mask, **SETTINGS[game])] * count, autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    rng = np.random.default_rng(0)
    for a, b in zip(ours.reset(seed=3), theirs.reset(seed=3), strict=True):
        same(a, b)
    done = np.zeros(count, bool)
    for _ in range(60):
        if mode == AutoresetMode.DISABLED and done.any():
            same(ours.reset(options={"reset_mask": done})[0], theirs.reset(options={"reset_mask": done.copy()})[0])
        masks = ours.action_masks()
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in masks])
        if illegal and rng.random() < 0.1:
            actions[:] = rng.integers(ours.game.num_actions, size=count)
        one, two = ours.step(actions), theirs.step(actions)
        for a, b in zip(one, two, strict=True):
            same(a, b)
        done = one[2] | one[3]


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_and_batch_size_make_no_difference(threads):
    """A table plays the same among 3 or 64, on one thread or two."""
    few, many = SeatVectorEnv("pig10", 3), SeatVectorEnv("pig10", 64, threads=threads)
    few.reset(seed=9)
    many.reset(seed=9)
    for _ in range(50):
        a, b = few.step(few.learners.sample()), many.step(many.learners.sample())
        assert (a[0] == b[0][:3]).all()
        assert (a[1] == b[1][:3]).all()


def test_made_by_gymnasium():
    """`gymnasium.make_vec` makes the native vector environment, and the mode is declared."""
    env = gymnasium.make_vec("pigenv/Pig10-v0", num_envs=64, opponents="pig10/greedy")
    assert isinstance(env.unwrapped, SeatVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observations, infos = env.reset(seed=1)
    assert env.observation_space.contains(observations)
    assert infos["action_mask"].shape == (64, 21)


def test_tables_deal_different_cards_also_without_a_seed():
    """No two tables have the same hands, with a seed or without."""
    for seed in (None, 1):
        env = SeatVectorEnv("pig10", 100)
        env.reset(seed=seed)
        assert len({state.tobytes() for state in env.learners.states}) == 100


def test_returned_arrays_are_the_callers():
    """Results stay as they were when the environment goes on."""
    env = SeatVectorEnv("pig10", 4)
    observations, infos = env.reset(seed=1)
    before, mask = observations.copy(), infos["action_mask"].copy()
    env.step(env.learners.sample())
    assert (observations == before).all()
    assert (infos["action_mask"] == mask).all()


@pytest.mark.parametrize(
    "actions",
    [[0, 0], np.zeros(4), np.full(4, np.nan), [0, 0, 0, 99], [0, 0, 0, -1], np.zeros((4, 1), int), "abcd", None,
     np.zeros(4, bool)],
)  # fmt: skip
def test_a_bad_batch_is_refused_and_changes_nothing(actions):
    """A batch of wrong length, type or range is refused with a sentence; no table moves."""
    env = SeatVectorEnv("pig10", 4)
    env.reset(seed=1)
    before = env.learners.states.tobytes()
    with pytest.raises(IllegalActionError):
        env.step(actions)
    assert env.learners.states.tobytes() == before


def test_raise_names_the_table():
    """With `illegal="raise"` one illegal action refuses the whole batch and says at which table."""
    env = SeatVectorEnv("pig10", 4, illegal="raise")
    env.reset(seed=1)
    actions = env.learners.sample().copy()
    actions[2] = (~env.action_masks())[2].argmax()
    before = env.learners.states.tobytes()
    with pytest.raises(IllegalActionError, match="at table 2; legal"):
        env.step(actions)
    assert env.learners.states.tobytes() == before


def test_calls_out_of_order():
    """A step before reset, a finished table in DISABLED mode, bad masks, seeds and options are refused."""
    env = SeatVectorEnv("pig10", 2, autoreset_mode="DISABLED")
    with pytest.raises(UsageError):
        env.step([0, 0])
    with pytest.raises(UsageError, match="first reset"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset(seed=1)
    env.step((~env.action_masks()).argmax(axis=1))
    with pytest.raises(UsageError, match=r"tables \[0, 1\] are over"):
        env.step([0, 0])
    for which in ([True, False], np.array([1, 0]), np.array([True]), np.zeros(2, bool)):
        with pytest.raises(OptionError, match="reset_mask"):
            env.reset(options={"reset_mask": which})
    for seed in (-1, 2**64, 0.5, [1], [1, -1]):
        with pytest.raises(SeedError):
            env.reset(seed=seed)
    with pytest.raises(OptionError, match="NEXT_STEP"):
        SeatVectorEnv("pig10", 2, autoreset_mode="NEXT")
    for count in (0, -1, 1.5, True):
        with pytest.raises(OptionError, match="num_envs"):
            SeatVectorEnv("pig10", count)


def test_sb3_view_is_same_step_and_never_bootstraps_beyond_a_cut_game():
    """SB3's view gives the last observation, marks cut games, and does not call them truncated."""
    env = SeatVecEnv("pig10", 8, seed=1, rules={"max_turns": 9})
    plain = SeatVectorEnv("pig10", 8, rules={"max_turns": 9}, autoreset_mode="SAME_STEP")
    first, _ = plain.reset(seed=1)
    assert (env.reset() == first).all()
    cut = 0
    for _ in range(30):
        actions = env.learners.sample()
        observations, rewards, dones, infos = env.step(actions)
        theirs = plain.step(actions)
        assert (observations == theirs[0]).all()
        assert np.allclose(rewards, theirs[1])
        assert (dones == theirs[2] | theirs[3]).all()
        assert (np.stack(env.env_method("action_masks")) == plain.action_masks()).all()
        for i in np.flatnonzero(dones):
            assert (infos[i]["terminal_observation"] == theirs[4]["final_obs"][i]).all()
            assert infos[i]["TimeLimit.truncated"] is False
            cut += infos[i]["cut"]
    assert cut > 0


def test_sb3_seeds_take_effect_at_the_next_reset():
    """`seed` then `reset` deals the seed's games, as SB3's own environments do."""
    env = SeatVecEnv("pig10", 4, seed=1)
    first = env.reset()
    env.seed(1)
    assert (env.reset() == first).all()
    assert (env.reset() != first).any()


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_self_play_is_what_the_aec_environment_plays(num_players):
    """Every table of the self-play view is an AEC game: same seats, observations, masks, rewards, one after another."""
    game = make("pig10", num_players=num_players, preset="small" if num_players == 2 else None)
    tables = SelfPlay(game, 3)
    tables.reset(seed=5)
    envs = [PigAECEnv(game) for _ in range(3)]
    for i, env in enumerate(envs):
        env.reset(seed=5 + i)
    for _ in range(200):
        actions = tables.sample().copy()
        for i, env in enumerate(envs):
            observation = env.last()[0]
            assert env.agent_selection == f"player_{tables.seats[i]}"
            assert (observation["observation"] == tables.observations[i]).all()
            assert (observation["action_mask"] == tables.masks[i]).all()
            env.step(int(actions[i]))
        tables.step(actions)
        for i, env in enumerate(envs):
            assert np.allclose(list(env.rewards.values()), tables.rewards[i])
            assert (tables.over[i] != 0) == any(env.terminations.values())
            if tables.over[i]:
                env.reset()


def test_self_play_refuses_bad_batches():
    """Wrong length, type, or an illegal action: refused, and nothing changes."""
    tables = SelfPlay(make("pig10"), 4)
    with pytest.raises(UsageError):
        tables.step([0, 0, 0, 0])
    tables.reset(seed=1)
    before = tables.states.tobytes()
    for actions in ([0], np.zeros(4), [99, 0, 0, 0], (tables.masks == 0).argmax(axis=1)):
        with pytest.raises(IllegalActionError):
            tables.step(actions)
    assert tables.states.tobytes() == before
