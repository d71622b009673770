"""MaskablePPO of sb3-contrib on one seat of many tables, all stepped in one compiled call.

The learner plays one seat, agents of the catalog the others. Games are short and paid at their end, so nothing is
discounted (gamma 1). A game that was cut short is paid as it stands and nothing is bootstrapped beyond it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pigenv.agents.checkpoint import save_checkpoint
from pigenv.errors import MissingExtraError, OptionError
from pigenv.game import Game
from pigenv.train.config import MaskablePPOConfig
from pigenv.train.progress import Progress
from pigenv.train.run_folder import POLICY, RunFolder
from pigenv.train.score import Scorer

__all__ = ["make_model", "policy_tensors", "train"]

MODEL = "model.zip"


def make_model(env: Any, config: MaskablePPOConfig, seed: int, policy_kwargs: dict[str, Any] | None = None) -> Any:
    """The model as the settings want it; `policy_kwargs` describe another network than `config.hidden` does."""
    try:
        import torch
        from sb3_contrib import MaskablePPO
    except ImportError as error:
        raise MissingExtraError("sb3-contrib with torch", "train") from error
    torch.set_num_threads(config.torch_threads)
    batch = config.num_envs * config.n_steps
    if batch % config.batch_size:
        raise OptionError(f"algo.batch_size must divide num_envs × n_steps = {batch}; got {config.batch_size}")
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        learning_rate=lambda left: config.learning_rate * left,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        ent_coef=config.ent_coef,
        clip_range=config.clip_range,
        policy_kwargs={"net_arch": list(config.hidden)} if policy_kwargs is None else policy_kwargs,
        # SB3 hands the seed to NumPy's old generator, which takes 32 bits.
        seed=seed % 2**32,
        device="cpu",
    )


def train(game: Game, config: MaskablePPOConfig, folder: RunFolder, seed: int, progress: Progress) -> str:
    """Train, or go on with a run that was saved, writing metrics as it goes; returns the path of the checkpoint.

    SB3 saves weights, optimizer and counters, so a run that goes on keeps learning, but not with the same games.

    Raises:
        OptionError: The game is laid out for several table sizes: SB3's tables are all of one.
    """
    from pigenv.adapters.sb3 import SeatVecEnv

    try:
        from sb3_contrib import MaskablePPO
        from stable_baselines3.common.logger import configure
    except ImportError as error:
        raise MissingExtraError("stable-baselines3", "train") from error
    saved = folder.load_state()
    steps = int(saved[1]["steps"]) if saved else 0
    # A run that goes on plays other games than it began with.
    env = SeatVecEnv(game, config.num_envs, seed=(seed + steps) % 2**64, opponents=list(config.opponents))
    model = make_model(env, config, seed)
    if saved:
        model.set_parameters(MaskablePPO.load(folder.path / MODEL, device="cpu").get_parameters(), device="cpu")
        model.num_timesteps = steps
    model.set_logger(configure(str(folder.path / "tensorboard"), ["tensorboard"]))
    watch = _watcher(game, config, folder, seed, progress, float(saved[1]["seconds"]) if saved else 0.0)
    if steps < config.total_steps:
        model.learn(total_timesteps=config.total_steps - steps, callback=watch, reset_num_timesteps=not saved)
    return str(folder.path / POLICY)


def policy_tensors(model: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Weights and biases of the policy network, float32, and the description that a checkpoint needs of it."""
    import torch

    linear = [m for m in model.policy.mlp_extractor.policy_net if isinstance(m, torch.nn.Linear)]
    layers = {f"hidden_{number}": layer for number, layer in enumerate(linear)} | {"logits": model.policy.action_net}
    tensors = {
        f"{name}.{kind}": getattr(layer, kind).detach().cpu().numpy().astype(np.float32)
        for name, layer in layers.items()
        for kind in ("weight", "bias")
    }
    return tensors, {"layers": list(layers), "activation": "tanh"}


def _watcher(
    game: Game, config: MaskablePPOConfig, folder: RunFolder, seed: int, progress: Progress, before: float
) -> Any:
    """The callback that measures the win share, saves, ends the run in time, and moves the progress bar."""
    from stable_baselines3.common.callbacks import BaseCallback

    score = Scorer(game, config.eval_against, config.eval_deals)

    class Watch(BaseCallback):
        def _on_training_start(self) -> None:
            self.start = time.perf_counter() - before
            self.first, self.value = self.num_timesteps, 0.0
            self.measured = -1 if not before else self.num_timesteps // config.eval_every
            self.seen = 0

        def _on_step(self) -> bool:
            seconds = time.perf_counter() - self.start
            progress.update(self.num_timesteps, seconds, self.value)
            return config.max_seconds is None or seconds <= config.max_seconds

        def _on_rollout_start(self) -> None:
            # Once an update, after it; SB3 has no other hook there.
            self.note()

        def _on_training_end(self) -> None:
            self.note(done=True)

        def note(self, done: bool = False) -> None:
            seconds = time.perf_counter() - self.start
            due = self.num_timesteps // config.eval_every
            if config.max_seconds is not None:
                # The last share of the run by the clock, so that the learning rate has fallen when time is up.
                left = max(0.0, 1 - seconds / config.max_seconds)
                self.model._current_progress_remaining = min(self.model._current_progress_remaining, left)
            if due == self.measured and not done:
                return
            tensors, network = policy_tensors(self.model)
            self.measured = due
            if folder.last_measured != self.num_timesteps:
                self.value = score(tensors, network)
                rate = (self.num_timesteps - self.first) / max(seconds - before, 1e-9)
                folder.metrics(self.num_timesteps, seconds, self.value, steps_per_second=rate)
            about = {
                "algorithm": config.name, "steps": int(self.num_timesteps), "seed": seed,
                "seconds": round(seconds, 1), "opponents": list(config.opponents),
            }  # fmt: skip
            folder.guard(POLICY, lambda path: save_checkpoint(path, tensors, game, {**about, **network}))
            folder.guard(MODEL, self.save_model)
            folder.save_state({}, {"steps": int(self.num_timesteps), "seconds": seconds})

        def save_model(self, path: Path) -> None:
            part = path.with_name(f".part.{path.name}")
            self.model.save(part)
            part.replace(path)

    return Watch()
