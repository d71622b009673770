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


def measure_training(
    game: Game, *, repeats: int = REPEATS, progress: Callable[[str], None] = lambda layer: None
) -> dict[str, Any]:
    """Decisions learned from a second: the native tables, then `COPIES` one-seat environments, side by side.

    Both have the same network, the same decisions between two updates, the same minibatch and epochs. The two take
    turns, so that a machine whose speed drifts treats them alike.

    Returns:
        One entry for each under `results`, in the form of `pigenv.bench.measure`, and their `ratio`.
    """
    from stable_baselines3.common.vec_env import DummyVecEnv

    from pigenv.adapters.sb3 import SeatVecEnv

    config = MaskablePPOConfig(hidden=[64, 64])
    batch = config.num_envs * config.n_steps
    copies = replace(config, num_envs=COPIES, n_steps=batch // COPIES)
    opponents = "uniform"
    native = make_model(SeatVecEnv(game, config.num_envs, seed=0, opponents=opponents), config, 0)
    plain = make_model(DummyVecEnv([lambda: SeatEnv(game, opponents=opponents)] * COPIES), copies, 0)
    sides = {"native tables": (native, config), "DummyVecEnv": (plain, copies)}
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for name, (model, _) in sides.items():
        progress(f"training, {name}: warm-up")
        model.learn(batch)
    for repeat in range(repeats):
        for name, (model, _) in sides.items():
            progress(f"training, {name}: {repeat + 1} of {repeats}")
            start = time.perf_counter()
            model.learn(batch)
            rates[name].append(batch / (time.perf_counter() - start))
    results = [
        {
            "game": game.id,
            "layer": "training",
            "side": name,
            "num_players": game.num_players,
            "batch": settings.num_envs,
            "threads": settings.torch_threads,
            "per_second": round(statistics.median(rates[name])),
            "lowest": round(min(rates[name])),
            "highest": round(max(rates[name])),
            "repeats": repeats,
        }
        for name, (_, settings) in sides.items()
    ]
    ratios = [a / b for a, b in zip(rates["native tables"], rates["DummyVecEnv"], strict=True)]
    return {
        "format": "pigenv.bench/1",
        "machine": machine(),
        "results": results,
        "ratio": round(statistics.median(ratios), 2),
    }
