"""The PettingZoo environments."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils import wrappers

import pigenv
from pigenv import pig10_v0, pigs_tail_v0
from pigenv.errors import DealError, IllegalActionError, OptionError, SeedError, UsageError


def random_legal(env, rng):
    """A legal action for the agent to move, or None when its game is over."""
    observation, _, terminated, truncated, info = env.last()
    if terminated or truncated:
        return None
    mask = observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]
    return int(rng.choice(np.flatnonzero(mask)))


def play_on(env, rng, steps=10**6):
    """Play random legal actions until every agent has left, or so many steps; returns what each agent saw paid."""
    paid = dict.fromkeys(env.possible_agents, 0.0)
    for _ in range(steps):
        if not env.agents:
            break
        agent = env.agent_selection
        paid[agent] += env.last(observe=False)[1]
        env.step(random_legal(env, rng))
    return paid


MODULES = pytest.mark.parametrize("module", [pig10_v0, pigs_tail_v0], ids=["pig10", "pigs_tail"])


@MODULES
@pytest.mark.parametrize("mask", ["obs", "info", "both"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_passes_pettingzoo_api_test(module, mask, wrapped):
    """PettingZoo's API test passes, with its stock wrappers around the environment or not."""
    env = module.env(mask=mask, illegal="raise" if mask != "info" else "random")
    if wrapped:
        env = wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))
    api_test(env, num_cycles=300)


@pytest.mark.parametrize(
    ("module", "preset"), [(pig10_v0, "standard"), (pigs_tail_v0, "standard"), (pigs_tail_v0, "attack")]
)
def test_passes_pettingzoo_seed_test(module, preset):
    """PettingZoo's seed test passes: one seed, one game, also where chance goes on after the deal."""
    seed_test(lambda: module.env(preset=preset), num_cycles=100)


def test_passes_pettingzoo_max_cycles_test():
    """PettingZoo's max-cycles test passes with `max_turns` as the limit: one turn of each seat a cycle."""

    class Module:
        @staticmethod
        def env(max_cycles):
            return pig10_v0.env(illegal="random", rules={"max_turns": 4 * max_cycles})

        @staticmethod
        def parallel_env(max_cycles):
            return pig10_v0.parallel_env(illegal="random", rules={"max_turns": max_cycles})

    max_cycles_test(Module)


@MODULES
def test_parallel_view_passes_pettingzoo_tests(module):
    """The parallel view passes PettingZoo's parallel API and seed tests."""
    parallel_api_test(module.parallel_env(illegal="random"), num_cycles=200)
    parallel_seed_test(lambda: module.parallel_env(illegal="random"), num_cycles=100)


@pytest.mark.parametrize("num_players", range(2, 9))
@pytest.mark.parametrize("reward", ["win", "rank", "score"])
def test_rewards_seen_by_each_agent_sum_to_zero_and_arrive_once(num_players, reward):
    """What `last()` shows an agent adds up to its returns; all together that is nothing."""
    env = pig10_v0.env(num_players=num_players, reward=reward)
    env.reset(seed=3)
    paid = play_on(env, np.random.default_rng(0))
    scores = np.array(list(env.scores().values()))
    if reward == "score":
        expected = (scores - scores.mean()) / (80 / num_players)
    elif reward == "win":
        share = (scores == scores.max()) / (scores == scores.max()).sum()
        expected = (num_players * share - 1) / (num_players - 1)
    else:
        place = np.array([(scores > s).sum() + ((scores == s).sum() + 1) / 2 for s in scores])
        expected = (num_players + 1 - 2 * place) / (num_players - 1)
    assert np.allclose(list(paid.values()), expected, atol=1e-6)
    assert abs(sum(paid.values())) < 1e-5


def test_all_agents_end_on_the_same_step_and_leave_one_by_one():
    """At the last play every agent is terminated; each then takes one dead step, and the list is empty."""
    env = pig10_v0.env()
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(80):
        env.step(random_legal(env, rng))
    assert env.agents == env.possible_agents
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    for left in (3, 2, 1, 0):
        env.step(None)
        assert len(env.agents) == left


def test_limit_truncates_all_and_pays_as_it_stands():
    """A game cut by `max_turns` truncates every agent, and its rewards are paid."""
    env = pig10_v0.env(rules={"max_turns": 7, "deck_counts": [7, 8, 8, 8, 8, 5, 8, 8, 8, 8, 4]})
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(7):
        env.step(random_legal(env, rng))
    assert all(env.truncations.values())
    assert not any(env.terminations.values())


def test_mask_of_a_seat_not_to_move_is_zeros():
    """Only the agent to move has legal actions, wherever the mask is."""
    env = pig10_v0.env(mask="both")
    env.reset(seed=1)
    for agent in env.possible_agents:
        here = env.observe(agent)["action_mask"]
        assert here.dtype == np.int8
        assert here.any() == (agent == env.agent_selection)
        assert (here == env.infos[agent]["action_mask"]).all()


def test_observe_has_no_side_effects_and_works_at_the_end():
    """Observing any agent at any time changes nothing, the final position included."""
    env, twin = pig10_v0.env(), pig10_v0.env()
    for each in (env, twin):
        each.reset(seed=5)
    rng, same = np.random.default_rng(1), np.random.default_rng(1)
    while not env.table.over:
        for agent in env.possible_agents:
            assert env.observation_space(agent).contains(env.observe(agent))
        env.step(random_legal(env, rng))
        twin.step(random_legal(twin, same))
    for agent in env.possible_agents:
        assert (env.observe(agent)["observation"] == twin.observe(agent)["observation"]).all()


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), lambda env: env.clone()]
)
@pytest.mark.parametrize("steps", [0, 37, 80, 82])
def test_copies_play_on_identically(copied, steps):
    """A deep copy, a pickle and a clone play on as the original does, mid-game and at the end, wrapped too."""
    env = pig10_v0.env()
    env.reset(seed=9)
    play_on(env, np.random.default_rng(0), steps)
    other = copied(env)
    assert play_on(env, np.random.default_rng(7)) == play_on(other, np.random.default_rng(7))
    assert env.table.states.tobytes() == other.table.states.tobytes()
    assert env.scores() == other.scores()
    # Reset goes on with the same seed's next episode in both.
    env.reset()
    other.reset()
    assert env.table.states.tobytes() == other.table.states.tobytes()


def test_wrapped_environment_can_be_copied():
    """A deep copy of the environment in PettingZoo's wrappers plays on identically."""
    env = wrappers.OrderEnforcingWrapper(pig10_v0.env())
    env.reset(seed=9)
    play_on(env, np.random.default_rng(0), 11)
    other = copy.deepcopy(env)
    assert play_on(env, np.random.default_rng(7)) == play_on(other, np.random.default_rng(7))


def test_clone_does_not_share():
    """Playing on in a clone leaves the original as it was."""
    env = pig10_v0.env()
    env.reset(seed=9)
    before, infos = env.table.states.tobytes(), copy.deepcopy(env.infos)
    play_on(env.clone(), np.random.default_rng(0))
    assert env.table.states.tobytes() == before
    assert env.infos == infos
    assert env.agents == env.possible_agents


def test_redrawn_clone_keeps_all_that_somebody_knows():
    """A clone with `redraw` has the same hands and observations; another stock."""
    env = pig10_v0.env()
    env.reset(seed=9)
    play_on(env, np.random.default_rng(0), 11)
    other = env.clone(redraw=1)
    for agent in env.possible_agents:
        assert (env.observe(agent)["observation"] == other.observe(agent)["observation"]).all()
    assert (env.table.states["hand"] == other.table.states["hand"]).all()
    drawn = int(env.table.states["dealt"][0])
    stock, redrawn = env.table.states["pack"][0, drawn:80], other.table.states["pack"][0, drawn:80]
    assert sorted(stock) == sorted(redrawn)
    assert (stock != redrawn).any()


@pytest.mark.parametrize(
    "action", [21, -1, 10**9, 2.0, float("nan"), "4", None, True, np.float32(1), [1], np.array([1]), np.bool_(True)]
)
def test_an_action_that_is_none_is_refused_and_changes_nothing(action):
    """What is no integer of the space is refused with a sentence that says what was expected; the state stays."""
    env = pig10_v0.env()
    env.reset(seed=1)
    before = env.table.states.tobytes(), dict(env.rewards), env.agent_selection
    with pytest.raises(IllegalActionError, match=r"must be an integer 0 … 20; got"):
        env.step(action)
    assert before == (env.table.states.tobytes(), dict(env.rewards), env.agent_selection)


def test_an_illegal_action_names_seat_action_and_legal_ones():
    """The error of an illegal action says which seat, which action, and what would have been legal."""
    env = pig10_v0.env()
    env.reset(seed=1)
    mask = env.last()[0]["action_mask"]
    wrong = int(np.flatnonzero(mask == 0)[0])
    before = env.table.states.tobytes()
    with pytest.raises(IllegalActionError) as error:
        env.step(wrong)
    text = str(error.value)
    assert f"action {wrong} " in text
    assert f"seat {env.table.seat}" in text
    assert all(str(action) in text for action in np.flatnonzero(mask))
    assert env.table.states.tobytes() == before


def test_forfeit_ends_the_game_and_the_others_share():
    """With `illegal="forfeit"` the offender gets −1, each other 1/(n−1), and the infos say who it was."""
    env = pig10_v0.env(illegal="forfeit")
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0]))
    assert all(env.terminations.values())
    assert env.rewards[offender] == -1
    assert all(abs(r - 1 / 3) < 1e-6 for agent, r in env.rewards.items() if agent != offender)
    assert [agent for agent in env.agents if env.infos[agent]["illegal"]] == [offender]


def test_random_replacement_is_legal_and_said():
    """With `illegal="random"` a legal action is played, the count of replacements goes up, the game goes on."""
    env = pig10_v0.env(illegal="random")
    env.reset(seed=1)
    for expected in range(1, 6):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0]))
        assert {info["replaced"] for info in env.infos.values()} == {expected}
    assert env.table.states["turn"][0] == 5


def test_calls_out_of_order_are_refused():
    """A step before the first reset, after the end, or with an action for an agent that is done is refused."""
    env = pig10_v0.env()
    with pytest.raises(UsageError, match="call reset first"):
        env.step(0)
    with pytest.raises(UsageError, match="before the first reset"):
        env.observe("player_0")
    env.reset(seed=1)
    play_on(env, np.random.default_rng(0), 80)
    with pytest.raises(IllegalActionError, match="the only valid action is None"):
        env.step(0)
    play_on(env, np.random.default_rng(0))
    with pytest.raises(UsageError, match="call reset first"):
        env.step(None)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", float("nan"), True, [1], np.float64(3)])
def test_a_bad_seed_is_refused_and_changes_nothing(seed):
    """A seed that is no integer in 0 … 2^64−1 is refused; the episode goes on as it was."""
    env = pig10_v0.env()
    env.reset(seed=1)
    before = env.table.states.tobytes()
    with pytest.raises(SeedError, match=r"0 … 2\^64-1; got"):
        env.reset(seed=seed)
    assert env.table.states.tobytes() == before


def test_any_good_seed_works_whatever_its_type():
    """Seeds are numbers: 7 and NumPy's 7 deal the same cards, the largest one works, different ones differ."""
    dealt = {}
    for seed in (0, 7, np.int64(7), np.uint8(7), 2**64 - 1, np.uint64(2**64 - 1)):
        env = pig10_v0.env()
        env.reset(seed=seed)
        dealt.setdefault(int(seed), set()).add(env.table.states.tobytes())
    assert all(len(states) == 1 for states in dealt.values())
    assert len(set.union(*dealt.values())) == 3


def test_unseeded_resets_go_on_with_the_seed_and_keep_the_options():
    """`reset()` deals the seed's next episode under the same rules; without any seed two environments differ."""
    one, two = pig10_v0.env(num_players=3, reward="rank"), pig10_v0.env(num_players=3, reward="rank")
    for env in (one, two):
        env.reset(seed=4)
    first = one.table.states.tobytes()
    for env in (one, two):
        env.reset()
    assert one.table.states.tobytes() == two.table.states.tobytes() != first
    assert one.game.reward == "rank"
    fresh = [pig10_v0.env(), pig10_v0.env()]
    for env in fresh:
        env.reset()
    assert fresh[0].table.states.tobytes() != fresh[1].table.states.tobytes()


def test_a_deal_can_be_given():
    """`reset(options={"deal": …})` deals exactly that, and reading the deal gives it back."""
    env = pig10_v0.env()
    env.reset(seed=4)
    deal = env.table.deal()
    other = pig10_v0.env()
    other.reset(seed=99, options={"deal": deal})
    assert other.table.deal() == deal
    assert other.agent_selection == f"player_{deal['first_player']}"
    listed = pig10_v0.env()
    options = {"deal": [deal]}
    listed.reset(seed=99, options=options)
    assert listed.table.deal() == deal
    assert options == {"deal": [deal]}


@pytest.mark.parametrize("deal", [{}, {"first_player": 9}, 3, "x", [3], [{}]])
def test_a_bad_deal_is_refused_and_changes_nothing(deal):
    """A deal that the rules do not allow is refused; the episode goes on as it was."""
    env = pig10_v0.env()
    env.reset(seed=4)
    before = env.table.states.tobytes()
    with pytest.raises(DealError):
        env.reset(seed=5, options={"deal": deal})
    assert env.table.states.tobytes() == before


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"preset": "standart"}, "standard"),
        ({"rules": {"deck_count": 3}}, "deck_counts"),
        ({"rules": {"target": 11}}, "1 … 10"),
        ({"num_players": 9}, "2 … 8"),
        ({"num_players": 2.0}, "2 … 8"),
        ({"max_players": 3}, "4 … 8"),
        ({"reward": "wins"}, "win"),
        ({"mask": "observation"}, "obs"),
        ({"illegal": "rais"}, "raise"),
        ({"render_mode": "ansii"}, "ansi"),
        ({"memory": 1}, "True or False"),
        ({"rules": {"first_player": 4}}, "0 … 3"),
        ({"rules": {"deck_counts": [1] * 11}, "num_players": 4}, "need 12"),
    ],
)
def test_an_unusable_option_names_a_usable_one(settings, named):
    """Each wrong option raises at once, and the message holds the nearest valid name or the range."""
    with pytest.raises(OptionError) as error:
        pig10_v0.env(**settings)
    assert named in str(error.value)


def test_spaces_are_the_same_objects_at_each_call():
    """PettingZoo's libraries compare spaces by identity."""
    env = pig10_v0.env()
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)


def test_infos_are_fresh_and_of_constant_shape():
    """Infos are new dicts each step with the same numeric keys from the first reset to the end."""
    env = pig10_v0.env(mask="info")
    env.reset(seed=1)
    keys = {agent: set(info) for agent, info in env.infos.items()}
    before = env.infos
    env.step(random_legal(env, np.random.default_rng(0)))
    assert env.infos is not before
    assert all(env.infos[agent] is not before[agent] for agent in env.agents)
    play_on(env, np.random.default_rng(0), 79)
    assert {agent: set(info) for agent, info in env.infos.items()} == keys


def test_state_tells_apart_what_no_seat_can():
    """`state()` differs where the stock does though no observation does, and its size never changes."""
    env = pig10_v0.env()
    env.reset(seed=1)
    other = env.clone(redraw=2)
    assert (env.state() != other.state()).any()
    size = env.state().shape
    play_on(env, np.random.default_rng(0), 80)
    assert env.state().shape == size
    assert env.state().min() >= 0
    assert env.state().max() <= 1


def test_parallel_view_ignores_all_but_the_mover():
    """In the parallel view any action of a seat not to move is ignored, and its mask is all ones."""
    parallel, serial = pig10_v0.parallel_env(), pig10_v0.env()
    observations, infos = parallel.reset(seed=2)
    serial.reset(seed=2)
    rng = np.random.default_rng(0)
    while parallel.agents:
        mover = next(agent for agent in parallel.agents if infos[agent]["active"])
        assert mover == serial.agent_selection
        assert all(observations[a]["action_mask"].all() for a in parallel.agents if a != mover)
        action = random_legal(serial, rng)
        assert observations[mover]["action_mask"][action] == 1
        serial.step(action)
        actions = {agent: int(rng.integers(21)) for agent in parallel.agents} | {mover: action}
        observations, rewards, terminated, _, infos = parallel.step(actions)
    assert rewards == serial.rewards
    assert all(terminated.values())
    with pytest.raises(UsageError):
        parallel.step({})


def test_parallel_view_needs_the_movers_action():
    """A step without the mover's action is refused, and says who is to move."""
    env = pig10_v0.parallel_env()
    env.reset(seed=2)
    mover = env.aec.agent_selection
    with pytest.raises(IllegalActionError, match=mover):
        env.step({agent: 0 for agent in env.agents if agent != mover})


def test_registered_with_pettingzoo():
    """The registry of PettingZoo makes our environments by name, where it has one."""
    import pettingzoo

    assert pigenv.__version__
    if not hasattr(pettingzoo, "make"):
        pytest.skip("this release of PettingZoo has no registry")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = pettingzoo.make("aec", "pigenv/pig10_v0", num_players=3)
    env.reset(seed=1)
    assert env.num_agents == 3
