"""AgileRL's PPO over our tables: masks, credit, seeds, cut games, and its evolution of a population."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("agilerl")

from agilerl.algorithms import PPO
from agilerl.hpo.mutation import Mutations
from agilerl.hpo.tournament import TournamentSelection
from agilerl.rollouts import collect_rollouts
from agilerl.training.train_on_policy import train_on_policy

from pigenv import registry
from pigenv.adapters.agilerl import LearnerTables, learners
from pigenv.game import RUNNING
from pigenv.table import Table
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY, credited, replayed

GAMES = pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])


class Others:
    """Random players at the other seats; they add what they play to a list."""

    name = "others"

    def __init__(self):
        self.played = []

    def reset(self, seed):
        self.chance = np.random.default_rng(seed)

    def act(self, decisions):
        actions = np.array([self.chance.choice(np.flatnonzero(mask)) for mask in decisions.action_masks])
        self.played.extend(actions.tolist())
        return actions


class NotedTables(LearnerTables):
    """A single table that notes down what every seat plays, in order."""

    def __init__(self, settings, seat):
        self.others = Others()
        super().__init__(num_envs=1, **settings, opponents=self.others, learner_seat=seat, illegal="raise")

    def step(self, actions):
        self.others.played.append(int(actions[0]))
        return super().step(actions)


def kept(agent, name):
    """What the agent's rollout buffer keeps under a name, `(steps, num_envs, …)`."""
    return agent.rollout_buffer.buffer[name].numpy()


def learned(settings, seat, seed, steps):
    """A rollout of AgileRL's PPO at one table, and its whole games on a plain table."""
    torch.manual_seed(seed)
    tables = NotedTables(settings, seat)
    tables.reset(seed=seed)
    tables.others.played.clear()
    (agent,) = learners(tables, learn_step=steps)
    scores = collect_rollouts(agent, tables)[0]
    return agent, scores, whole_games(settings, seed, tables.others.played)


def whole_games(settings, seed, actions):
    """The games that a row of actions plays to their ends, from the seed's second on: the first reset took one."""
    table, number, games, game = Table(registry.make(**settings)), 1, [], []
    table.start(seed, number)
    for action in actions:
        table.step(action)
        game.append(action)
        if table.over != RUNNING:
            games.append(replayed(settings, seed, game, number))
            number, game = number + 1, []
            table.start(seed, number)
    return games


def test_masks_are_obeyed_for_1000_games():
    """PPO plays and learns 1,000 games at tables that would refuse what is not legal; its buffer keeps the masks."""
    tables = LearnerTables(num_envs=32, **TINY, learner_seat="rotate", illegal="raise")
    (agent,) = learners(tables, learn_step=2048, batch_size=256)
    games, state = 0, {}
    while games < 1000:
        scores, *last = collect_rollouts(agent, tables, **state)
        state = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), last, strict=True))
        games += len(scores)
        masks, actions = kept(agent, "action_masks"), kept(agent, "actions").astype(int)
        assert np.take_along_axis(masks, actions, axis=-1).all()
        assert not masks.all()
        agent.learn()
    assert np.isfinite(agent.test(tables, loop=1))


@GAMES
def test_returns_go_to_the_right_seat(settings):
    """At any seat, each decision's return in the buffer is what a plain table is still to pay that seat."""
    for seat in range(registry.make(**settings).num_players):
        agent, scores, games = learned(settings, seat, 3 + seat, 100)
        paid = [np.cumsum(credited(game, seat)[::-1])[::-1] for game in games]
        assert len(paid) >= 2
        wanted = np.concatenate(paid)
        np.testing.assert_allclose(kept(agent, "returns")[: len(wanted), 0], wanted, atol=1e-5)
        own = [game.returns[seat] for game, each in zip(games, paid, strict=True) if len(each)]
        np.testing.assert_allclose(scores, own, atol=1e-5)


def test_rewards_on_others_turns_are_kept():
    """What others' moves pay is in the reward of the learner's decision before them, two rounds long."""
    others = 0
    for seed in range(3):
        agent, _, games = learned(ROUNDS, 0, seed, 60)
        wanted = np.concatenate([credited(game, 0) for game in games])
        np.testing.assert_allclose(kept(agent, "rewards")[: len(wanted), 0], wanted, atol=1e-6)
        others += sum(
            bool(pay[0]) and mover != 0 for game in games for mover, pay in zip(game.seats, game.rewards, strict=True)
        )
    assert others


def test_seeds_reproduce():
    """The same seeds learn the same weights, other ones others."""

    def weights(seed):
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002 (AgileRL draws from it)
        tables = LearnerTables(num_envs=4, **SMALL)
        tables.reset(seed=seed)
        (agent,) = learners(tables, learn_step=128, batch_size=32)
        collect_rollouts(agent, tables)
        agent.learn()
        return torch.nn.utils.parameters_to_vector(agent.actor.parameters()).detach().numpy()

    np.testing.assert_array_equal(weights(1), weights(1))
    assert not np.array_equal(weights(1), weights(2))


def test_cut_games_are_truncated_and_not_terminated():
    """A game cut short is truncated; its end is paid and nothing estimated beyond it, where a rollout ends too."""
    tables = LearnerTables(num_envs=8, **CUT)
    tables.reset(seed=1)
    (agent,) = learners(tables, learn_step=8)
    cut, state = 0, {}
    for _ in range(4):
        _, *last = collect_rollouts(agent, tables, **state)
        state = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), last, strict=True))
        done = kept(agent, "dones")
        assert kept(agent, "values")[done].all()
        np.testing.assert_array_equal(kept(agent, "returns")[done], kept(agent, "rewards")[done])
        cut += done.sum()
    assert cut >= 8
    for settings, short in ((CUT, True), (TINY, False)):
        tables = LearnerTables(num_envs=1, **settings)
        _, infos = tables.reset(seed=1)
        terminated = truncated = np.zeros(1, bool)
        while not (terminated | truncated).any():
            _, _, terminated, truncated, infos = tables.step(infos["action_mask"].argmax(axis=1))
        assert bool(truncated[0]) is short
        assert bool(terminated[0]) is not short


@pytest.mark.parametrize(("use_gae", "wanted"), [(False, [1, 1, -1, -1]), (True, [0, 1, 0, -1])])
def test_its_own_advantages_miss_the_end(use_gae, wanted):
    """Why `learners` counts returns: by AgileRL's advantages, only the last of a game's decisions is paid."""
    tables = LearnerTables(num_envs=1, **TINY)
    space, actions = tables.single_observation_space, tables.single_action_space
    exact = {"gamma": 1.0, "gae_lambda": 1.0, "rollout_buffer_config": {"use_gae": use_gae}}
    buffer = PPO(space, actions, learn_step=4, **exact).rollout_buffer
    # Two games of two decisions each, one won and one lost; nothing is expected of any position.
    for reward, done in ((0.0, False), (1.0, True), (0.0, False), (-1.0, True)):
        buffer.add(np.zeros((1, *space.shape), np.float32), np.zeros(1), reward, done, 0.0, 0.0)
    buffer.compute_returns_and_advantages(np.zeros(1), np.ones(1))
    assert buffer.buffer["returns"][:, 0].tolist() == wanted


def test_a_population_evolves():
    """Agents that AgileRL selects and mutates still count returns, still obey masks, and are handed back."""
    tables = LearnerTables(num_envs=8, **TINY, illegal="raise")
    population, fitness = train_on_policy(
        tables,
        "pig10",
        "PPO",
        learners(tables, size=2, learn_step=64, batch_size=32),
        max_steps=512,
        evo_steps=128,
        selection_strategy=TournamentSelection(tournament_size=2, elitism=True, population_size=2),
        mutation=Mutations(0.0, 0.5, 0.5, 0.0, 0.0, 0.5, rand_seed=1),
        verbose=False,
    )
    assert len(population) == len(fitness) == 2
    assert not any(agent.rollout_buffer.use_gae for agent in population)
