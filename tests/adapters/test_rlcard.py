"""RLCard: its environment and agent interfaces over our tables, its agents as our players, its trainers at work."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("rlcard")

from rlcard.agents import RandomAgent
from rlcard.utils import reorganize

from pigenv import registry
from pigenv.adapters.rlcard import PlayerAgent, RLCardAgent, RLCardEnv, state_of
from pigenv.agent import find_agent
from pigenv.errors import IllegalActionError, OptionError
from pigenv.evaluate.match import play_match
from pigenv.game import TERMINATED, TRUNCATED
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY, replayed

GAMES = pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])


def table_of_random(settings, seed=5):
    env = RLCardEnv(seed=seed, **settings)
    np.random.seed(1)  # noqa: NPY002 (RLCard's agents draw from it)
    env.set_agents([RandomAgent(env.num_actions) for _ in range(env.num_players)])
    return env


def numbers(env):
    """The actions of the last game."""
    return [env.table_game.action_texts.index(text) for _, text in env.action_recorder]


def test_masks_are_obeyed_for_1000_games():
    """RLCard's random agents play 1,000 games by `legal_actions`; the table would refuse what is not legal."""
    env = table_of_random(TINY)
    for _ in range(1000):
        trajectories, _ = env.run()
        state = trajectories[0][0]
        assert [env.table_game.action_texts[action] for action in state["legal_actions"]] == state["raw_legal_actions"]


def test_an_illegal_action_is_refused():
    """An action that is not legal raises, and the game goes on as if it had not been tried."""
    env = RLCardEnv(seed=1, **TINY)
    state, seat = env.reset()
    illegal = next(action for action in range(env.num_actions) if action not in state["legal_actions"])
    with pytest.raises(IllegalActionError):
        env.step(illegal)
    assert env.get_player_id() == seat
    np.testing.assert_array_equal(env.get_state(seat)["obs"], state["obs"])
    with pytest.raises(OptionError, match="hand_size"):
        RLCardEnv("pig10", rules={"handsize": 3})


@GAMES
def test_returns_go_to_the_right_seat(settings):
    """Payoffs are what a plain table pays each seat for the same actions, summed over the game."""
    env = table_of_random(settings)
    for number in range(10):
        _, payoffs = env.run()
        replay = replayed(settings, 5, numbers(env), number)
        assert replay.over == TERMINATED
        np.testing.assert_allclose(payoffs, replay.returns, atol=1e-6)
        assert [seat for seat, _ in env.action_recorder] == replay.seats


def test_rewards_on_others_turns_are_kept():
    """A seat whose reward came while others moved has it in its payoff, and RLCard's transitions end with it."""
    env = table_of_random(ROUNDS)
    paid_by_others = 0
    for number in range(5):
        trajectories, payoffs = env.run(is_training=True)
        replay = replayed(ROUNDS, 5, numbers(env), number)
        for seat, transitions in enumerate(reorganize(trajectories, payoffs)):
            assert len(transitions) == replay.seats.count(seat)
            assert sum(reward for _, _, reward, _, _ in transitions) == pytest.approx(replay.returns[seat], abs=1e-6)
            own = sum(replay.rewards[step, seat] for step, mover in enumerate(replay.seats) if mover == seat)
            paid_by_others += bool(abs(own - replay.returns[seat]) > 1e-3)
    assert paid_by_others


def test_observations_survive_int8():
    """Observations are whole percents of ours: int8, as RLCard's DMC keeps them, and no fraction is lost to 0."""
    env = RLCardEnv(seed=3, **SMALL)
    state, seat = env.reset()
    assert state["obs"].dtype == np.int8
    np.testing.assert_allclose(state["obs"] / 100, env.table.observe(seat), atol=0.005)
    assert set(state["raw_obs"]) == set(env.table_game.layout.slices)


def test_seeds_reproduce():
    """The same seed deals the same games one after another; another seed deals others; a pickle plays on alike."""

    def deals(env):
        return [env.reset()[0]["obs"].tolist() for _ in range(10)]

    assert deals(RLCardEnv(seed=4, **SMALL)) == deals(RLCardEnv(seed=4, **SMALL))
    assert deals(RLCardEnv(seed=4, **SMALL)) != deals(RLCardEnv(seed=5, **SMALL))
    env = RLCardEnv(seed=4, **SMALL)
    env.reset()
    copy = pickle.loads(pickle.dumps(env))
    assert copy.get_state(0)["obs"].tolist() == env.get_state(0)["obs"].tolist()
    assert deals(copy) == deals(env)


def test_cut_games_say_so():
    """A game cut short is over and marked; one that ended by the rules is not marked."""
    env = table_of_random(CUT)
    _, payoffs = env.run()
    assert env.truncated
    assert replayed(CUT, 5, numbers(env)).over == TRUNCATED
    np.testing.assert_allclose(payoffs, replayed(CUT, 5, numbers(env)).returns, atol=1e-6)
    env = table_of_random(TINY)
    env.run()
    assert not env.truncated


def test_our_players_sit_at_its_tables():
    """A player of ours chooses at an RLCard table what it chooses in a match, knowing what its seat knows alone."""
    env = RLCardEnv(seed=2, **SMALL)
    env.set_agents([PlayerAgent("pig10/careful", env), RandomAgent(env.num_actions), PlayerAgent("uniform", env)])
    wins = np.mean([env.run()[1] for _ in range(200)], axis=0)
    # Zero is chance; over 200 games the standard error is 0.05.
    assert wins[0] > 0.2
    _, payoffs = env.run()
    assert payoffs.sum() == pytest.approx(0, abs=1e-6)


def test_its_agents_play_our_matches():
    """RLCard's random agent wins its share of our matches, by number and by text; illegal answers are refused."""
    game = registry.make(**SMALL)

    class ByText:
        use_raw = True

        def eval_step(self, state):
            return state["raw_legal_actions"][0], {}

    class Wrong:
        use_raw = False

        def eval_step(self, state):
            return next(action for action in range(game.num_actions) if action not in state["legal_actions"]), {}

    players = [RLCardAgent(RandomAgent(game.num_actions)), find_agent("uniform", game), RLCardAgent(ByText(), "text")]
    games = play_match(game, players, 50, 1)
    assert (games.offenders == -1).all()
    # Chance is a third; over 150 games the standard error is 0.04.
    assert 0.2 < games.win_shares[..., 0].mean() < 0.47
    wrong = play_match(game, [RLCardAgent(Wrong(), "wrong"), *players[1:]], 1, 1)
    assert (wrong.offenders == 0).all()
    assert "not legal" in str(wrong.faults[0])


def test_state_of_lists_the_legal_actions_in_order():
    """The decision handed to RLCard's agents names exactly the legal actions, ascending."""
    game = registry.make(**TINY)
    mask = np.zeros(game.num_actions, np.int8)
    mask[[1, 3]] = 1
    state = state_of(game, np.linspace(0, 1, game.layout.size, dtype=np.float32), mask)
    assert list(state["legal_actions"]) == [1, 3]
    assert state["raw_legal_actions"] == [game.action_texts[1], game.action_texts[3]]
    assert state["obs"].max() == 100
