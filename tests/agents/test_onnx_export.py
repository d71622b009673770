"""A policy as an ONNX file says what torch says."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pigenv import registry
from pigenv.agents.checkpoint import PolicyAgent, save_checkpoint
from pigenv.agents.onnx_export import export_onnx
from pigenv.cli import app
from pigenv.envs.selfplay import SelfPlay

onnxruntime = pytest.importorskip("onnxruntime")
torch = pytest.importorskip("torch")


def policy(activation):
    """Random weights for a table of three, and the same network in torch."""
    game = registry.make("pig10", num_players=3)
    torch.manual_seed(4)
    sizes, names = [game.layout.size, 64, 32, game.num_actions], ["one", "two", "logits"]
    linear = [torch.nn.Linear(a, b) for a, b in pairwise(sizes)]
    between = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}[activation]
    network = torch.nn.Sequential(linear[0], between(), linear[1], between(), linear[2])
    tensors = {
        f"{name}.{kind}": getattr(layer, kind).detach().numpy()
        for name, layer in zip(names, linear, strict=True)
        for kind in ("weight", "bias")
    }
    return game, network, tensors, {"layers": names, "activation": activation}


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_it_agrees_with_torch_on_10000_observations(activation, tmp_path):
    """On observations of real games, in batches of any size, the logits are torch's, and so is the choice."""
    game, network, tensors, about = policy(activation)
    export_onnx(PolicyAgent("policy", game, tensors, about), tmp_path / "policy.onnx")
    tables = SelfPlay(game, 500)
    tables.reset(1)
    seen, masks = [], []
    for _ in range(20):
        seen.append(tables.observations.copy())
        masks.append(tables.masks.copy())
        tables.step(tables.sample())
    observations, legal = np.concatenate(seen), np.concatenate(masks) == 1
    assert len(observations) == 10_000
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(["logits"], {"observation": observations})
    with torch.no_grad():
        wanted = network(torch.from_numpy(observations)).numpy()
    assert np.abs(found - wanted).max() < 1e-5
    choices = [np.where(legal, logits, -np.inf).argmax(axis=1) for logits in (found, wanted)]
    # Two actions of nearly equal worth may fall either way in the last bit.
    assert (choices[0] == choices[1]).mean() > 0.9999
    (one,) = session.run(["logits"], {"observation": observations[:1]})
    assert np.allclose(one, wanted[:1], atol=1e-5)
    metadata = session.get_modelmeta().custom_metadata_map
    assert json.loads(metadata["game_digest"]) == game.digest


def test_export_on_the_command_line(tmp_path: Path):
    """`pigenv export` writes a checkpoint as ONNX; what is no policy is refused with a sentence."""
    game, _, tensors, about = policy("relu")
    save_checkpoint(tmp_path / "policy.safetensors", tensors, game, about)
    out = tmp_path / "policy.onnx"
    done = CliRunner().invoke(app, ["export", str(tmp_path / "policy.safetensors"), str(out)])
    assert done.exit_code == 0, done.stderr
    assert onnxruntime.InferenceSession(out, providers=["CPUExecutionProvider"]).get_inputs()[0].name == "observation"
    done = CliRunner().invoke(app, ["export", "uniform", str(out)])
    assert done.exit_code == 2
    assert "only a trained policy" in done.stderr
