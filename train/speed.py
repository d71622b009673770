"""How fast MaskablePPO learns on the native tables, against copies of the one-seat environment in SB3's own wrapper."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from pigenv.bench import machine
from pigenv.envs.seat import SeatEnv
from pigenv.game import Game
from pigenv.train.config import MaskablePPOConfig
from pigenv.train.maskable_ppo import make_model

__all__ = ["measure_training"]

COPIES: Final = 8  # environments in SB3's DummyVecEnv
REPEATS: Final = 3
EPOCHS: Final = (4, 1)
"""Passes over each decision. The more of them, the larger the share of the network, which costs both sides the same."""


def measure_training(
    game: Game, *, repeats: int = REPEATS, progress: Callable[[str], None] = lambda layer: None
) -> dict[str, Any]:
    """Measure decisions learned from a second: the native tables, then `COPIES` one-seat environments, side by side.

    Both have the same network, the same decisions between two updates, the same minibatch and epochs. The two take
    turns, so that a machine whose speed drifts treats them alike.

    Returns:
        One entry for each, at each of `EPOCHS`, under `results`, in the form of `pigenv.bench.measure`, and their
        `ratios` by epochs.
    """
    results, ratios = [], {}
    for epochs in EPOCHS:
        config = MaskablePPOConfig(hidden=[64, 64], n_epochs=epochs)
        sides = _sides(game, config)
        rates = _rates(sides, repeats, epochs, progress)
        results += [
            {
                "game": game.id,
                "layer": "training",
                "side": name,
                "epochs": epochs,
                "num_players": game.num_players,
                "batch": model.n_envs,
                "threads": config.torch_threads,
                "per_second": round(statistics.median(rates[name])),
                "lowest": round(min(rates[name])),
                "highest": round(max(rates[name])),
                "repeats": repeats,
            }
            for name, model in sides.items()
        ]
        native, plain = rates.values()
        ratios[str(epochs)] = round(statistics.median(a / b for a, b in zip(native, plain, strict=True)), 2)
    return {"format": "pigenv.bench/1", "machine": machine(), "results": results, "ratios": ratios}


def _sides(game: Game, config: MaskablePPOConfig) -> dict[str, Any]:
    """The two models that are held against each other."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    from pigenv.adapters.sb3 import SeatVecEnv

    batch, opponents = config.num_envs * config.n_steps, "uniform"
    copies = replace(config, num_envs=COPIES, n_steps=batch // COPIES)
    return {
        "native tables": make_model(SeatVecEnv(game, config.num_envs, seed=0, opponents=opponents), config, 0),
        "DummyVecEnv": make_model(DummyVecEnv([lambda: SeatEnv(game, opponents=opponents)] * COPIES), copies, 0),
    }


def _rates(sides: dict[str, Any], repeats: int, epochs: int, progress: Callable[[str], None]) -> dict[str, list[float]]:
    """Decisions a second of each side in each repeat, after one that warms up."""
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for repeat in range(repeats + 1):
        for name, model in sides.items():
            progress(f"training, {name}, epochs {epochs}: {f'{repeat} of {repeats}' if repeat else 'warm-up'}")
            batch, start = model.n_envs * model.n_steps, time.perf_counter()
            model.learn(batch)
            if repeat:
                rates[name].append(batch / (time.perf_counter() - start))
    return rates
