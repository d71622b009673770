"""How fast learning goes: our own PPO, and MaskablePPO on native tables and on copies of an environment."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from pigenv.bench import machine
from pigenv.envs.seat import SeatEnv
from pigenv.errors import MissingExtraError
from pigenv.game import Game
from pigenv.train.config import MaskablePPOConfig, PPOConfig

__all__ = ["measure_training"]

COPIES: Final = 8  # environments in SB3's DummyVecEnv
REPEATS: Final = 3
EPOCHS: Final = 4
BATCH: Final = 4096  # of ppo; MaskablePPO's, on copies, is smaller, which it needs to learn from as few decisions
COPIES_BATCH: Final = 512
PPO_SIDE, HALF, NATIVE = "ppo", "ppo, bfloat16", "MaskablePPO, native tables"
PLAIN: Final = f"MaskablePPO, {COPIES} copies"


@dataclass(frozen=True)
class _Side:
    """One of the learners: how many tables and threads it has, and what makes an update and says how many decisions."""

    tables: int
    threads: int
    update: Callable[[], int]


def measure_training(
    game: Game, *, repeats: int = REPEATS, progress: Callable[[str], None] = lambda layer: None
) -> dict[str, Any]:
    """Measure decisions learned from a second, each counted once.

    All have the same network, one of `PPOConfig.hidden` units that gives logits and value, and pass over each decision
    `EPOCHS` times. They take turns, so that a machine whose speed drifts treats them alike.

    Returns:
        One entry for each under `results`, in the form of `pigenv.bench.measure`, and under `ratios` how many times as
        fast as `PLAIN` the others are.

    Raises:
        MissingExtraError: Torch or sb3-contrib is not installed.
    """
    threads = min(2, os.cpu_count() or 1)
    sides = _sides(game, threads)
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for repeat in range(repeats + 1):
        for name, side in sides.items():
            progress(f"training, {name}: {f'{repeat} of {repeats}' if repeat else 'warm-up'}")
            start = time.perf_counter()
            count = side.update()
            if repeat:
                rates[name].append(count / (time.perf_counter() - start))
    results = [
        {
            "game": game.id,
            "layer": "training",
            "side": name,
            "epochs": EPOCHS,
            "num_players": game.num_players,
            "batch": side.tables,
            "threads": side.threads,
            "per_second": round(statistics.median(rates[name])),
            "lowest": round(min(rates[name])),
            "highest": round(max(rates[name])),
            "repeats": repeats,
        }
        for name, side in sides.items()
    ]
    ratios = {
        name: round(statistics.median(a / b for a, b in zip(rates[name], rates[PLAIN], strict=True)), 2)
        for name in (PPO_SIDE, HALF, NATIVE)
    }
    return {"format": "pigenv.bench/1", "machine": machine(), "results": results, "ratios": ratios}


def _sides(game: Game, threads: int) -> dict[str, _Side]:
    """The learners that are held against each other."""
    try:
        from stable_baselines3.common.vec_env import DummyVecEnv

        from pigenv.adapters.sb3 import SeatVecEnv
        from pigenv.train.maskable_ppo import make_model
        from pigenv.train.ppo import PPO
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "train") from error
    native = MaskablePPOConfig(n_epochs=EPOCHS, torch_threads=threads)
    decisions = native.num_envs * native.n_steps
    # A second thread makes SB3 slower where its batches are small.
    plain = MaskablePPOConfig(
        n_epochs=EPOCHS, torch_threads=1, num_envs=COPIES, n_steps=decisions // COPIES, batch_size=COPIES_BATCH
    )
    network = _same_network(native.hidden)
    tables = SeatVecEnv(game, native.num_envs, seed=0, opponents="uniform")
    copies = DummyVecEnv([lambda: SeatEnv(game, opponents="uniform")] * COPIES)

    def ours(precision: str) -> _Side:
        config = PPOConfig(threads=threads, n_epochs=EPOCHS, batch_size=BATCH, precision=precision)
        learner = PPO(game, config, 0)

        def update() -> int:
            before = learner.steps
            learner.update(0.0)
            return learner.steps - before

        return _Side(config.num_tables, threads, update)

    def sb3(env: Any, config: MaskablePPOConfig) -> Callable[[], int]:
        model = make_model(env, config, 0, network)

        def learn() -> int:
            import torch

            torch.set_num_threads(config.torch_threads)  # ours has threads of its own
            model.learn(decisions)
            torch.set_num_threads(1)
            return decisions

        return learn

    return {
        PPO_SIDE: ours("float32"),
        HALF: ours("bfloat16"),
        NATIVE: _Side(native.num_envs, threads, sb3(tables, native)),
        PLAIN: _Side(COPIES, 1, sb3(copies, plain)),
    }


def _same_network(hidden: list[int]) -> dict[str, Any]:
    """SB3's policy with the network of `ppo`: one for logits and value alike, where its own would have two."""
    import torch
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    class Trunk(BaseFeaturesExtractor):
        def __init__(self, observation_space: Any) -> None:
            super().__init__(observation_space, hidden[-1])
            sizes = [observation_space.shape[0], *hidden]
            layers = [
                module for size, units in pairwise(sizes) for module in (torch.nn.Linear(size, units), torch.nn.ReLU())
            ]
            self.layers = torch.nn.Sequential(*layers)

        def forward(self, observations: Any) -> Any:
            return self.layers(observations)

    return {"features_extractor_class": Trunk, "net_arch": []}
