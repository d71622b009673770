"""The one-file PPO: it learns, its masks hold, and its ratios begin at one."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pigenv import registry
from pigenv.agents.foreign import ForeignAgent
from pigenv.evaluate.evaluation import evaluate
from pigenv.table import Table
from tests.adapters.reference import CUT
from tests.interop.libraries import ROOT


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("cleanrl_ppo", ROOT / "examples" / "cleanrl_ppo.py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def trained(script, *given):
    return script.main(script.arguments(list(given)))


def test_returns_rise_above_chance(script):
    """After 60,000 decisions on small Pig 10 it wins more than its third against uniform players, in our matches."""
    agent, curve = trained(script, "--total-steps", "60000", "--seed", "1")
    assert np.mean(curve[-3:]) > np.mean(curve[:3]) + 0.1
    game = registry.make("pig10", preset="small")

    def worth(observations, masks):
        with torch.no_grad():
            return agent.actor(torch.as_tensor(observations)).numpy()

    player = ForeignAgent("cleanrl", worth, game.layout.size, game.num_actions)
    result = evaluate(player, game, against=["uniform"], deals=200)["results"][0]
    assert result["chance"] == pytest.approx(1 / 3)
    assert result["win_share_ci"][0] > 0.36
    assert result["illegal"] == 0


def test_masks_are_obeyed_for_1000_games(script, monkeypatch):
    """Tables that refuse illegal actions are played 1,000 games of training long; the policy gives them no chance."""
    ended = []
    monkeypatch.setattr(script.np, "mean", lambda values: ended.extend(values) or 0.0)
    trained(script, "--preset", "mini", "--total-steps", "8000", "--num-envs", "50", "--num-steps", "20")
    assert len(ended) >= 1000
    masks = torch.zeros((3, 6), dtype=torch.bool)
    masks[[0, 1, 2], [2, 4, 5]] = True
    small = script.Agent(4, 6)
    assert (small.policy(torch.rand(3, 4), masks).probs == masks.float()).all()


def test_rewards_on_others_turns_are_kept(script):
    """With nothing but others' last plays to end a game, returns are still the game's own: their mean is near zero."""
    _, curve = trained(script, "--total-steps", "20000", "--learning-rate", "0", "--num-envs", "64")
    # Uniform against uniform is worth 0; some 2,500 games of deviation below 1.
    assert abs(np.mean(curve)) < 0.1


def test_ratios_begin_at_one(script, monkeypatch):
    """On the first minibatch of an update the policy is the one that acted, masks included: every ratio is one."""
    ratios, clamp = [], torch.Tensor.clamp

    def spied(self, low, high):
        ratios.append(self.detach().clone())
        return clamp(self, low, high)

    monkeypatch.setattr(torch.Tensor, "clamp", spied)
    trained(script, "--total-steps", "256", "--num-envs", "8", "--num-steps", "32")
    np.testing.assert_allclose(ratios[0].numpy(), 1, atol=1e-5)
    assert not np.allclose(ratios[-1].numpy(), 1, atol=1e-5)


def test_seeds_reproduce(script):
    """The same seed learns the same weights, another one others."""

    def weights(seed):
        agent, _ = trained(script, "--total-steps", "512", "--num-envs", "8", "--num-steps", "32", "--seed", seed)
        return torch.cat([each.detach().ravel() for each in agent.parameters()])

    torch.set_num_threads(1)
    assert torch.equal(weights("1"), weights("1"))
    assert not torch.equal(weights("1"), weights("2"))


def test_cut_games_end_for_the_learner():
    """A game cut short is paid what it stands at, so that the script may take it for ended: the rewards sum to zero."""
    table = Table(registry.make(**CUT))
    for seed in range(20):
        table.start(seed)
        rewards = []
        while table.over == 0:
            rewards.append(table.step(table.legal_actions()[0]).copy())
        scores = table.scores()
        winners = scores == scores.max()
        expected = np.where(winners, 2 / winners.sum() - 1, -1.0)
        np.testing.assert_allclose(np.sum(rewards, axis=0), expected, atol=1e-6)


def test_code_runs_from_the_command_line():
    """The script runs as the recipe says, and says how it is getting on."""
    command = [sys.executable, "examples/cleanrl_ppo.py", "--total-steps", "128", "--num-envs", "8", "--num-steps", "8"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("128 steps, return ")
