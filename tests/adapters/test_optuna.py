"""Optuna over training runs: reproducible, and every trial is a run of its own that is scored."""

from __future__ import annotations

import pytest

optuna = pytest.importorskip("optuna")
pytest.importorskip("torch")

from pigenv import registry
from pigenv.evaluate.evaluation import evaluate
from pigenv.train.config import composed
from pigenv.train.run import run


def study_of(folder, seed):
    """Two short trials."""

    def objective(trial):
        rate = trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True)
        _, checkpoint = run(
            composed(
                [
                    "game.preset=small", "algo=ppo", f"algo.learning_rate={rate}", "algo.total_steps=256",
                    "algo.num_tables=16", "algo.n_steps=8", "algo.batch_size=64", "algo.threads=1", "algo.eval_deals=1",
                    f"out={folder / str(trial.number)}",
                ]
            )
        )  # fmt: skip
        result = evaluate(checkpoint, registry.make("pig10", preset="small"), against=["uniform"], deals=2)["results"][
            0
        ]
        assert result["illegal"] == 0
        return result["win_share"]

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=2)
    return study


def test_seeds_reproduce(tmp_path):
    """The same seed tries the same settings and finds the same scores; each trial leaves a run of its own."""
    one, two = study_of(tmp_path / "one", 1), study_of(tmp_path / "two", 1)
    assert [trial.params for trial in one.trials] == [trial.params for trial in two.trials]
    assert [trial.value for trial in one.trials] == [trial.value for trial in two.trials]
    assert all(0 <= trial.value <= 1 for trial in one.trials)
    assert len(list((tmp_path / "one").iterdir())) == 2
