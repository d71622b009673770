"""`algo=rllib`: a run like the others, also on a Ray cluster of two nodes. Needs RLlib."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from pigenv import registry
from pigenv.agent import find_agent
from pigenv.agents.checkpoint import load_checkpoint
from pigenv.cli import app
from pigenv.errors import MissingExtraError, OptionError
from pigenv.evaluate.evaluation import evaluate
from pigenv.train.config import composed
from pigenv.train.run import resume, run

MINI = registry.make("pig10", preset="mini")
SHORT = [
    "algo=rllib", "game.preset=mini", "algo.num_env_runners=0", "algo.hidden=[32,32]", "algo.eval_every=4096",
    "algo.eval_deals=20", "algo.eval_against=uniform", "algo.checkpoint_seconds=0", "seed=3",
]  # fmt: skip
TINY = [*SHORT, "algo.num_envs=4", "algo.n_steps=16", "algo.batch_size=32", "algo.n_epochs=1", "algo.hidden=[8]"]


def lines(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def outputs(path):
    agent = load_checkpoint(path, MINI)
    return agent.logits(np.eye(agent.game.layout.size, dtype=np.float32))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of a minute on the smallest game."""
    pytest.importorskip("ray.rllib")
    out = tmp_path_factory.mktemp("run") / "here"
    return run(composed([*SHORT, "algo.total_steps=12_000", f"out='{out}'"]))


def test_training_beats_uniform(trained):
    """After a minute on the smallest game the agent beats `uniform`, its interval clear of chance."""
    _, checkpoint = trained
    entry = evaluate(find_agent(checkpoint, MINI), MINI, against="uniform", deals=600, seed=1)["results"][0]
    assert entry["win_share_ci"][0] > entry["chance"]
    assert entry["illegal"] == 0


def test_training_leaves_a_run_like_the_others(trained):
    """The folder holds settings, versions, seed, digest, metrics, curve, TensorBoard events, state and checkpoint."""
    folder, checkpoint = trained
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert about["digest"] == MINI.digest
    assert about["settings"]["seed"] == 3
    assert {"ray", "torch", "pigenv", "python"} <= {name for name, found in about["versions"].items() if found}
    rows = lines(folder)
    assert {"policy_loss", "value_loss", "entropy", "learning_rate"} <= set(rows[1])
    assert [row["learning_rate"] for row in rows[1:-1]] == sorted(
        (r["learning_rate"] for r in rows[1:-1]), reverse=True
    )
    values = [row["value"] for row in rows if "value" in row]
    assert values[-1] > values[0]
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert list((folder / "tensorboard").iterdir())
    assert (folder / "state.safetensors").is_file()
    assert load_checkpoint(checkpoint, MINI).about["algorithm"] == "rllib"
    names = {"run.json", "metrics.jsonl", "curve.png", "tensorboard", "state.safetensors", "policy.safetensors"}
    assert {path.name for path in folder.iterdir()} == names


def test_checkpoint_acts_as_the_module_it_came_from(tmp_path, monkeypatch):
    """With NumPy alone the checkpoint gives the logits that RLlib's module gives, masks apart."""
    pytest.importorskip("ray.rllib")
    import torch

    from pigenv.train import rllib

    kept = {}
    close = rllib.RLlib.close

    def keep(learner):
        module = learner.algorithm.get_module(rllib.SHARED)
        seen = torch.rand(50, MINI.layout.size, generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            found = module.forward_inference(
                {"obs": {"observations": seen, "action_mask": torch.ones(50, MINI.num_actions)}}
            )
        kept["seen"], kept["logits"] = seen.numpy(), found["action_dist_inputs"].numpy()
        close(learner)

    monkeypatch.setattr(rllib.RLlib, "close", keep)
    _, checkpoint = run(composed([*TINY, "algo.total_steps=64", f"out='{tmp_path / 'run'}'"]))
    np.testing.assert_allclose(load_checkpoint(checkpoint, MINI).logits(kept["seen"]), kept["logits"], atol=1e-5)


def test_training_resumes(tmp_path):
    """Stopped by the clock and resumed, it goes on from the steps, the weights and the optimizer that it had."""
    pytest.importorskip("ray.rllib")
    from safetensors.numpy import load_file

    folder, checkpoint = run(
        composed([*TINY, "algo.total_steps=256", "algo.max_seconds=0.0001", f"out='{tmp_path / 'run'}'"])
    )
    stopped, before = lines(folder)[-1]["steps"], outputs(checkpoint)
    assert 0 < stopped < 256
    kept = {}
    from pigenv.train.rllib import RLlib

    restore = RLlib.restore

    def watch(learner, arrays, about):
        restore(learner, arrays, about)
        kept.update(learner.save()[0])

    about = json.loads((folder / "run.json").read_text())
    about["settings"]["algo"]["max_seconds"] = None
    (folder / "run.json").write_text(json.dumps(about))
    saved = load_file(folder / "state.safetensors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RLlib, "restore", watch)
        resume(folder)
    assert kept.keys() == saved.keys()
    assert any("exp_avg_sq" in name for name in saved)
    for name, array in saved.items():
        np.testing.assert_array_equal(kept[name], array, err_msg=name)
    steps = [row["steps"] for row in lines(folder)]
    assert steps == sorted(steps)
    assert steps[-1] >= 256
    assert (outputs(checkpoint) != before).any()


def test_cluster_trains(tmp_path):
    """By the address of a cluster of two nodes: tables are played on both, and the run is one like the others."""
    pytest.importorskip("ray.rllib")
    import ray
    from ray.cluster_utils import Cluster

    from pigenv.train.rllib import RLlib

    cluster, nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1}), set()
    close = RLlib.close

    def watch(learner):
        here = learner.algorithm.env_runner_group.foreach_env_runner(
            lambda runner: ray.get_runtime_context().get_node_id(), local_env_runner=False
        )
        nodes.update(here)
        close(learner)

    try:
        cluster.add_node(num_cpus=1)
        settings = [*TINY, "algo.total_steps=256", "algo.num_env_runners=2", f"algo.address='{cluster.address}'"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RLlib, "close", watch)
            folder, checkpoint = run(composed([*settings, f"out='{tmp_path / 'run'}'"]))
        assert len(nodes) == 2
        assert not ray.is_initialized()
        assert lines(folder)[-1]["steps"] >= 256
        assert find_agent(checkpoint, MINI).about["steps"] >= 256
        with pytest.raises(OptionError, match=r"algo.batch_size must be at most .* = 128; got 200"):
            run(composed([*settings, "algo.batch_size=200", f"out='{tmp_path / 'large'}'"]))
        with pytest.raises(OptionError, match=r"the Ray cluster has 2 processors.*want 3"):
            run(composed([*settings, "algo.num_env_runners=3", f"out='{tmp_path / 'wide'}'"]))
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_without_ray_the_extra_is_named(tmp_path, monkeypatch):
    """Where RLlib is missing, `pigenv train` says in one sentence what brings it, and leaves nothing behind."""
    for module in ["ray", *(each for each in sys.modules if each.startswith("ray."))]:
        monkeypatch.setitem(sys.modules, module, None)
    for module in ("pigenv.adapters.rllib", "pigenv.train.rllib"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingExtraError, match=r"pip install 'pigenv\[rllib\]'"):
        run(composed(["algo=rllib"]))
    done = CliRunner().invoke(app, ["train", "pig10", "algo=rllib"])
    assert done.exit_code == 2
    assert "pigenv[rllib]" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
