"""The one-seat Gymnasium environment."""

import copy
import itertools
import pickle
from dataclasses import dataclass

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_of_sb3

import pigenv  # noqa: F401  (registers the environments)
from pigenv.agent import Decisions, find_agent
from pigenv.envs.seat import SeatEnv
from pigenv.errors import AgentError, IllegalActionError, OptionError, SeedError, UnknownNameError, UsageError
from pigenv.table import Table


class FirstLegal:
    """A Python agent: the first legal action. Notes how often it was asked and seeded."""

    name = "first"

    def __init__(self):
        self.asked, self.seeds = 0, []

    def reset(self, seed):
        self.seeds.append(seed)

    def act(self, decisions: Decisions):
        self.asked += len(decisions)
        return decisions.action_masks.argmax(axis=1)


class Wrong(FirstLegal):
    """An agent that always chooses an action that is not legal."""

    name = "wrong"

    def act(self, decisions):
        return (decisions.action_masks == 0).argmax(axis=1)


def episode(env, seed, rng):
    """Play one episode with random legal actions; returns observations, rewards and last info."""
    observation, info = env.reset(seed=seed)
    seen, rewards, done = [observation], [], False
    while not done:
        action = int(rng.choice(np.flatnonzero(env.unwrapped.action_masks())))
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(observation)
        rewards.append(reward)
        done = terminated or truncated
    return np.array([s if not isinstance(s, dict) else s["observation"] for s in seen]), rewards, info


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("pig10", {}),
        ("pig10", {"mask": "obs"}),
        ("pig10", {"mask": "both"}),
        ("pig10", {"opponents": "pig10/counting"}),
        ("pigs_tail", {}),
        ("pigs_tail", {"mask": "both", "preset": "attack_753", "memory": False}),
    ],
)
def test_passes_the_checkers_of_gymnasium_and_sb3(game, settings):
    """Gymnasium's and SB3's environment checkers pass, which play illegal actions too."""
    env = SeatEnv(game, **settings)
    check_env(env, skip_render_check=True)
    check_env_of_sb3(SeatEnv(game, **settings))


def test_made_by_gymnasium():
    """`gymnasium.make` knows the environment and hands our options on."""
    env = gymnasium.make("pigenv/Pig10-v0", opponents="pig10/careful", num_players=3)
    observation, info = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert info["action_mask"].any()
    assert env.unwrapped.game.num_players == 3
    assert env.get_wrapper_attr("action_masks")().dtype == bool


def test_the_learner_is_credited_with_what_is_paid_while_others_move():
    """The rewards of an episode add up to the learner's returns by the final scores, whoever played last."""
    rng = np.random.default_rng(0)
    for reward in ("win", "rank", "score"):
        for learner_seat in range(4):
            env = SeatEnv("pig10", reward=reward, learner_seat=learner_seat)
            for seed in range(10):
                _, rewards, info = episode(env, seed, rng)
                scores = env.scores()
                mine = scores[learner_seat]
                share = (mine == scores.max()) / (scores == scores.max()).sum()
                place = (scores > mine).sum() + ((scores == mine).sum() + 1) / 2
                expected = {
                    "win": (4 * share - 1) / 3,
                    "rank": (5 - 2 * place) / 3,
                    "score": (mine - scores.mean()) / 20,
                }[reward]
                assert abs(sum(rewards) - expected) < 1e-6
                assert info["seat"] == learner_seat


def test_a_python_opponent_plays_what_the_compiled_one_does():
    """Whether opponents are asked from Python or compiled into the loop makes no difference to any observation."""

    class Asked:
        name = "asked"

        def __init__(self):
            self.inner = find_agent("pig10/careful")

        def reset(self, seed):
            pass

        def act(self, decisions):
            return self.inner.act(decisions)

    compiled = episode(SeatEnv("pig10", opponents="pig10/careful"), 5, np.random.default_rng(3))
    asked = episode(SeatEnv("pig10", opponents=Asked()), 5, np.random.default_rng(3))
    mixed = episode(SeatEnv("pig10", opponents=["pig10/careful", Asked()]), 5, np.random.default_rng(3))
    assert (compiled[0] == asked[0]).all()
    assert (compiled[0] == mixed[0]).all()
    assert compiled[1] == asked[1] == mixed[1]


def test_the_learner_sits_where_it_was_told():
    """A fixed seat stays, "rotate" goes one seat further each episode, "random" comes to every seat."""
    fixed, rotating, by_chance = (SeatEnv("pig10", learner_seat=s) for s in (2, "rotate", "random"))
    assert [fixed.reset(seed=s)[1]["seat"] for s in range(5)] == [2] * 5
    rotating.reset(seed=1)
    seats = [rotating.reset()[1]["seat"] for _ in range(8)]
    assert all((b - a) % 4 == 1 for a, b in itertools.pairwise(seats))
    counts = np.bincount([by_chance.reset(seed=s)[1]["seat"] for s in range(400)], minlength=4)
    assert counts.min() > 60


def test_reset_seeds_the_opponents():
    """The same seed gives the same episode, chance of the opponents included; Python agents are told a seed."""
    env = SeatEnv("pig10", opponents="uniform")
    one = episode(env, 7, np.random.default_rng(0))
    episode(env, 8, np.random.default_rng(0))
    two = episode(env, 7, np.random.default_rng(0))
    assert (one[0] == two[0]).all()
    agent = FirstLegal()
    env = SeatEnv("pig10", opponents=agent)
    env.reset(seed=7)
    env.reset(seed=7)
    env.reset(seed=8)
    assert agent.seeds[0] == agent.seeds[1] != agent.seeds[2]
    assert agent.asked > 0


def test_an_illegal_opponent_is_named():
    """An opponent whose answer is not legal raises an error that names it and what was legal."""
    env = SeatEnv("pig10", opponents=Wrong(), learner_seat=0, rules={"first_player": 1})
    with pytest.raises(AgentError, match="wrong chose action"):
        env.reset(seed=1)


def test_illegal_actions_of_the_learner():
    """A "forfeit" ends with −1 and says so, "raise" refuses and changes nothing, "random" plays on and counts."""
    env = SeatEnv("pig10")
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(int((~env.action_masks()).argmax()))
    assert (reward, terminated, info["illegal"]) == (-1.0, True, 1)
    assert info["action_mask"].all()
    env = SeatEnv("pig10", illegal="raise")
    env.reset(seed=1)
    before = env.learners.states.tobytes()
    with pytest.raises(IllegalActionError, match="is not legal for seat"):
        env.step(int((~env.action_masks()).argmax()))
    assert env.learners.states.tobytes() == before
    env = SeatEnv("pig10", illegal="random")
    env.reset(seed=1)
    for expected in (1, 2, 3):
        info = env.step(int((~env.action_masks()).argmax()))[4]
        assert (info["replaced"], info["illegal"]) == (expected, 0)


@pytest.mark.parametrize("action", [21, -1, 1.5, float("nan"), "4", None, True, [3]])
def test_an_action_that_is_none_changes_nothing(action):
    """What is no integer of the space is refused, under every policy; the state stays."""
    for illegal in ("forfeit", "raise", "random"):
        env = SeatEnv("pig10", illegal=illegal)
        env.reset(seed=1)
        before = env.learners.states.tobytes()
        with pytest.raises(IllegalActionError, match="must be an integer 0 … 20"):
            env.step(action)
        assert env.learners.states.tobytes() == before


def test_calls_out_of_order_and_bad_seeds():
    """A step before reset or after the end is refused, and so is a bad seed; nothing changes."""
    env = SeatEnv("pig10")
    with pytest.raises(UsageError, match="call reset first"):
        env.step(0)
    episode(env, 1, np.random.default_rng(0))
    with pytest.raises(UsageError, match="call reset first"):
        env.step(0)
    env.reset(seed=1)
    before = env.learners.states.tobytes()
    for seed in (-1, 2**64, 1.5, "x"):
        with pytest.raises(SeedError):
            env.reset(seed=seed)
    assert env.learners.states.tobytes() == before
    env.reset(seed=np.int64(3))
    env.reset(seed=2**64 - 1)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("opponents", ["pig10/greedy", ["uniform", "pig10/careful"]])
def test_copies_play_on_identically(copied, opponents):
    """A deep copy and a pickle of a running episode play on as the original does."""
    env = SeatEnv("pig10", opponents=opponents)
    env.reset(seed=1)
    for _ in range(5):
        env.step(int(env.action_masks().argmax()))
    other = copied(env)
    for _ in range(10):
        action = int(env.action_masks().argmax())
        ours, theirs = env.step(action), other.step(action)
        assert (ours[0] == theirs[0]).all()
        assert ours[1:4] == theirs[1:4]


def test_a_deal_can_be_given():
    """The learner's hand is the one of the deal given, and the options stay as they are."""
    table = Table(SeatEnv("pig10").game)
    table.start(11)
    deal = table.deal()
    env = SeatEnv("pig10", learner_seat=deal["first_player"])
    options = {"deal": deal}
    env.reset(seed=1, options=options)
    seat = deal["first_player"]
    assert sorted(env.learners.states["hand"][0, seat, :3]) == sorted(deal["hands"][seat])
    assert options == {"deal": deal}
    env.reset(seed=1)
    other = SeatEnv("pig10", learner_seat=seat)
    other.reset(seed=1)
    assert env.learners.states.tobytes() == other.learners.states.tobytes()


@pytest.mark.parametrize(
    ("settings", "error", "named"),
    [
        ({"opponents": "pig10/carefull"}, UnknownNameError, "careful"),
        ({"opponents": []}, OptionError, "1 … 3"),
        ({"opponents": ["uniform"] * 4}, OptionError, "1 … 3"),
        ({"learner_seat": 4}, OptionError, "0 … 3"),
        ({"learner_seat": "rotating"}, OptionError, "rotate"),
        ({"illegal": "forfait"}, OptionError, "forfeit"),
        ({"mask": "inf"}, OptionError, "info"),
    ],
)
def test_an_unusable_option_names_a_usable_one(settings, error, named):
    """Each wrong option raises at once, and the message holds the nearest valid name or the range."""
    with pytest.raises(error, match=named):
        SeatEnv("pig10", **settings)


def test_a_learner_that_never_moves_is_refused():
    """Rules under which the learner's seat never comes to move are refused at reset instead of dealing for ever."""
    env = SeatEnv("pig10", learner_seat=1, rules={"first_player": 0, "max_turns": 1})
    with pytest.raises(OptionError, match="never comes to move"):
        env.reset(seed=1)


def test_rendered_from_the_learners_seat():
    """The picture shows the learner's hand and hides the others'."""
    env = SeatEnv("pig10", render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert text.count("(you)") == 1
    assert "▮ ▮ ▮" in text


def test_opponents_need_no_hash():
    """An agent that cannot be hashed, such as a dataclass, plays; what is no agent is refused."""

    @dataclass
    class First:
        name: str = "first"

        def reset(self, seed):
            pass

        def act(self, decisions):
            return decisions.action_masks.argmax(axis=1)

    env = SeatEnv("pig10", preset="mini", opponents=First())
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))
    for wrong in ({"a": 1}, 3, [None], object()):
        with pytest.raises(AgentError, match="an agent must be a name"):
            SeatEnv("pig10", preset="mini", opponents=wrong)
