"""Ray Tune over training runs: reproducible, and every trial is a run of its own that is scored."""

from __future__ import annotations

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("torch")
tune = pytest.importorskip("ray.tune")

from ray.tune.search import BasicVariantGenerator

from pigenv import registry
from pigenv.agents.checkpoint import load_checkpoint
from pigenv.evaluate.evaluation import evaluate
from pigenv.train.config import composed
from pigenv.train.run import run


def trial(params):
    """A short run and its score."""
    _, checkpoint = run(
        composed(
            [
                "game.preset=small", "algo=ppo", f"algo.learning_rate={params['learning_rate']}",
                "algo.total_steps=256", "algo.num_tables=16", "algo.n_steps=8", "algo.batch_size=64", "algo.threads=1",
                "algo.eval_deals=1", f"out='{tune.get_context().get_trial_dir()}/run'",
            ]
        )
    )  # fmt: skip
    game = registry.make("pig10", preset="small")
    result = evaluate(checkpoint, game, against=["uniform"], deals=4, workers=1)["results"][0]
    tune.report({"win_share": result["win_share"], "illegal": result["illegal"]})


def swept(folder, seed):
    """Two short trials."""
    tuner = tune.Tuner(
        tune.with_resources(trial, {"cpu": 1}),
        param_space={"learning_rate": tune.loguniform(1e-4, 1e-2)},
        tune_config=tune.TuneConfig(
            metric="win_share", mode="max", num_samples=2, search_alg=BasicVariantGenerator(random_state=seed)
        ),
        run_config=tune.RunConfig(name="sweep", storage_path=str(folder), verbose=0),
    )
    return tuner.fit()


def test_seeds_reproduce(tmp_path):
    """The same seed tries the same settings and finds the same scores; each trial leaves a run of its own."""
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        one, two = swept(tmp_path / "one", 1), swept(tmp_path / "two", 1)
    finally:
        ray.shutdown()
    assert not one.errors
    assert not two.errors
    assert [each.config for each in one] == [each.config for each in two]
    assert len({each.config["learning_rate"] for each in one}) == 2
    assert [each.metrics["win_share"] for each in one] == [each.metrics["win_share"] for each in two]
    assert [each.metrics["illegal"] for each in one] == [0, 0]
    policies = list((tmp_path / "one").glob("sweep/*/run/policy.safetensors"))
    assert len(policies) == 2
    for path in policies:
        load_checkpoint(path, registry.make("pig10", preset="small"))
