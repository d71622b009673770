"""Our own PPO and deep Monte-Carlo: the first step is on policy, both learn, whatever sits at the tables."""

import numpy as np
import pytest
import torch

from pigenv import registry
from pigenv.agents.checkpoint import PolicyAgent
from pigenv.errors import OptionError, TrainingError
from pigenv.evaluate.evaluation import evaluate
from pigenv.train.config import DMCConfig, PPOConfig
from pigenv.train.dmc import DMC
from pigenv.train.network import masked_log_probabilities
from pigenv.train.ppo import FIGURES, PPO

TINY = {"num_tables": 48, "n_steps": 32, "batch_size": 512, "hidden": [32, 32], "threads": 1, "device": "cpu"}


def small():
    return registry.make("pig10", preset="small")


@pytest.mark.parametrize("critic", ["own", "full"])
def test_the_first_minibatch_is_on_policy(critic):
    """Before anything is learned the ratio is 1, nothing is clipped, and the loss is that of an advantage of mean 0."""
    learner = PPO(small(), PPOConfig(**TINY, critic=critic), 1)
    learner.play()
    batch, rows = learner._batch(), torch.from_numpy(np.flatnonzero(learner.known))
    logits = learner.actor(batch["observations"])[:, : learner.game.num_actions]
    logs = masked_log_probabilities(logits, batch["masks"] == 1).gather(1, batch["actions"])[:, 0]
    ratio = (logs - batch["logs"]).exp()[rows]
    assert torch.allclose(ratio, torch.ones_like(ratio), atol=1e-5)
    batch["returns"] = batch["advantages"] + batch["values"]
    figures = dict(zip(FIGURES, learner.gradients(batch, rows, len(rows), 0.0)[1].tolist(), strict=True))
    assert figures["clipped"] == 0
    assert abs(figures["kl"]) < 1e-6
    assert np.isclose(figures["policy_loss"], -batch["advantages"][rows].mean(), atol=1e-5)


def test_a_policy_is_saved_with_its_worth_of_positions():
    """What the agent made from the weights expects to be paid is what the learner's network says."""
    learner = PPO(small(), PPOConfig(**TINY), 1)
    learner.update(0.0)
    tensors, about = learner.policy()
    agent, tables = PolicyAgent("learned", learner.game, tensors, about), learner.tables
    learner._look(0)
    expected = agent._hidden(tables.observations) @ agent._value[0] + agent._value[1]
    assert np.allclose(expected[:, 0], learner.values[0], atol=1e-5)
    assert np.ptp(expected) > 0
    full = PPO(small(), PPOConfig(**TINY, critic="full"), 1).policy()
    assert PolicyAgent("full", learner.game, *full)._value is None


def test_every_decision_counts_once():
    """An update learns from every decision but each seat's last that is still open, once."""
    learner = PPO(small(), PPOConfig(**TINY), 1)
    learner.update(0.0)
    assert learner.steps == learner.known.sum()
    still_open = learner.known.size - learner.steps
    assert 0 < still_open <= 48 * learner.tables.most


def test_what_two_threads_make_of_a_minibatch_is_its_gradient():
    """The shares of two workers add up to the gradient of the whole."""
    learner = PPO(small(), PPOConfig(**TINY), 1)
    learner.play()
    batch, rows = learner._batch(), torch.from_numpy(np.flatnonzero(learner.known))
    batch["returns"] = batch["advantages"] + batch["values"]
    whole, figures = learner.gradients(batch, rows, len(rows), 0.01)
    one, first = learner.gradients(batch, rows[:300], len(rows), 0.01)
    two, second = learner.gradients(batch, rows[300:], len(rows), 0.01)
    for all_of_it, a, b in zip(whole, one, two, strict=True):
        assert torch.allclose(all_of_it, a + b, atol=1e-6)
    assert np.allclose(figures, first + second, atol=1e-5)


def test_settings_fall_in_a_straight_line():
    """Learning rate and entropy weight begin at the first value and end at the last."""
    config = PPOConfig(**TINY, learning_rate=1e-3, final_learning_rate=1e-4, ent_coef=0.1, final_ent_coef=0.0)
    learner = PPO(small(), config, 1)
    for done, rate, weight in ((0.0, 1e-3, 0.1), (0.5, 5.5e-4, 0.05), (1.0, 1e-4, 0.0)):
        figures = learner.update(done)
        assert np.isclose(figures["learning_rate"], rate)
        assert np.isclose(figures["ent_coef"], weight)


CONFIGS = {
    "ppo": (PPO, PPOConfig(**TINY, learning_rate=3e-3)),
    "ppo, full critic": (PPO, PPOConfig(**TINY, learning_rate=3e-3, critic="full")),
    "ppo, bfloat16": (PPO, PPOConfig(**TINY, learning_rate=3e-3, precision="bfloat16")),
    "ppo, rivals": (
        PPO,
        PPOConfig(
            **TINY, learning_rate=3e-3, past_share=0.2, past_every=5, opponents=["pig10/greedy"], opponent_share=0.2
        ),
    ),
    "dmc": (DMC, DMCConfig(**{**TINY, "n_epochs": 2}, learning_rate=3e-3)),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_it_learns(name):
    """After a minute's worth of decisions at most, the policy beats `uniform` at two table sizes, clear of chance."""
    algorithm, config = CONFIGS[name]
    game = registry.make("pig10", preset="small", num_players=3, max_players=3)
    learner = algorithm(game, config, 2)
    while learner.steps < 80_000:
        learner.update(learner.steps / 80_000)
    tensors, network = learner.policy()
    agent = PolicyAgent(name, game, tensors, network)
    for players in (2, 3):
        table = registry.make("pig10", preset="small", num_players=players, max_players=3)
        (entry,) = evaluate(agent, table, against="uniform", deals=150, seed=5)["results"]
        assert entry["win_share_ci"][0] > entry["chance"]
        assert entry["illegal"] == 0


def test_past_selves_take_their_places():
    """They join one after another; when all places are taken, the easiest to beat goes."""
    learner = PPO(small(), PPOConfig(**TINY, past_share=0.5, past_size=2, past_every=1), 3)
    learner.remember()
    assert [act is None for act in learner.tables.past] == [False, True]
    learner.remember()
    first = learner._past[1]["logits.weight"]
    learner.tables.results[:] = 0.2, 0.8
    learner.update(0.0)
    assert (learner._past[1]["logits.weight"] != first).any()
    assert (learner._past[0]["logits.weight"] == first).all()


def test_monte_carlo_learns_from_each_decision_once():
    """Decisions wait until their game is over; none is lost and none is learned from twice."""
    learner = DMC(small(), DMCConfig(**{**TINY, "n_steps": 7}), 1)
    for update in range(1, 9):
        learner.update(0.0)
        waiting = int((learner.played["learned"] == 0).sum())
        assert learner.steps + waiting == 48 * 7 * update
    assert learner.steps > 48 * 7


def test_monte_carlo_is_greedy_but_for_its_share_of_chance():
    """With ε = 0 the action of greatest value among the legal is played; with ε = 1 each legal one equally often."""
    learner = DMC(small(), DMCConfig(**TINY), 1)
    outputs = np.tile(np.array([0.1, 0.9, 0.3, 0.2], np.float32), (40_000, 1))
    masks = np.tile(np.array([1, 0, 1, 1], np.int8), (40_000, 1))
    learner.epsilon = 0.0
    assert (learner.choose(outputs, masks)[0] == 2).all()
    learner.epsilon = 1.0
    shares = np.bincount(learner.choose(outputs, masks)[0], minlength=4) / 40_000
    assert np.allclose(shares, [1 / 3, 0, 1 / 3, 1 / 3], atol=0.01)


@pytest.mark.parametrize("algorithm", [PPO, DMC])
def test_a_loss_that_is_no_number_stops_the_run(algorithm):
    """It is an error that says so, and the weights stay what they were."""
    config = (PPOConfig if algorithm is PPO else DMCConfig)(**TINY)
    learner = algorithm(small(), config, 1)
    learner.update(0.0)
    before = [each.detach().clone() for each in learner.parameters]
    learner.play()
    if algorithm is PPO:
        learner.advantages[3, 4] = np.nan
    else:
        learner.played["rewards"][:] = np.nan
    with pytest.raises(TrainingError, match="no finite number"):
        learner.learn(0.0)
    assert all(torch.equal(a, b) for a, b in zip(before, learner.parameters, strict=True))


def test_a_device_that_is_not_there_is_refused():
    """The error names the setting."""
    with pytest.raises(OptionError, match=r"algo\.device"):
        PPO(small(), PPOConfig(**{**TINY, "device": "cuda:7"}), 0)
