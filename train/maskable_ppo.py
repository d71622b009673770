"""MaskablePPO of sb3-contrib on one seat of many tables, all stepped in one compiled call.

The learner plays one seat, agents of the catalog the others. Games are short and paid at their end, so nothing is
discounted (gamma 1). A game that was cut short is paid as it stands and nothing is bootstrapped beyond it.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np

from pigenv.agents.checkpoint import save_checkpoint
from pigenv.errors import MissingExtraError, OptionError
from pigenv.game import Game
from pigenv.train.config import MaskablePPOConfig
from pigenv.train.progress import Progress
from pigenv.train.run_folder import RunFolder

__all__ = ["make_model", "policy_tensors", "train"]

WINDOW = 2000  # finished games that the running figure is the mean of


def make_model(env: Any, config: MaskablePPOConfig, seed: int) -> Any:
    """The model as the settings want it."""
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
        policy_kwargs={"net_arch": list(config.hidden)},
        # SB3 hands the seed to NumPy's old generator, which takes 32 bits.
        seed=seed % 2**32,
        device="cpu",
    )


def train(game: Game, config: MaskablePPOConfig, folder: RunFolder, seed: int, progress: Progress) -> str:
    """Train, writing metrics as it goes; returns the path of the checkpoint."""
    from pigenv.adapters.sb3 import SeatVecEnv

    try:
        from stable_baselines3.common.logger import configure
    except ImportError as error:
        raise MissingExtraError("stable-baselines3", "train") from error
    env = SeatVecEnv(game, config.num_envs, seed=seed, opponents=list(config.opponents))
    model = make_model(env, config, seed)
    model.set_logger(configure(str(folder.path / "tensorboard"), ["tensorboard"]))
    watch = _watcher(game, config, folder, progress)
    model.learn(total_timesteps=config.total_steps, callback=watch)
    path = folder.path / "policy.safetensors"
    about = {"algorithm": config.name, "steps": int(model.num_timesteps), "seed": seed, "opponents": config.opponents}
    tensors, network = policy_tensors(model)
    save_checkpoint(path, tensors, game, {**about, **network})
    model.save(folder.path / "model.zip")
    return str(path)


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


def _watcher(game: Game, config: MaskablePPOConfig, folder: RunFolder, progress: Progress) -> Any:
    """The callback that keeps the running figure, ends the run in time, and moves the progress bar."""
    from stable_baselines3.common.callbacks import BaseCallback

    class Watch(BaseCallback):
        def _on_training_start(self) -> None:
            self.start = time.perf_counter()
            self.finished: deque[float] = deque(maxlen=WINDOW)

        def _on_step(self) -> bool:
            dones = self.locals["dones"]
            self.finished.extend(self.locals["rewards"][dones].tolist())
            seconds = time.perf_counter() - self.start
            if config.max_seconds is not None and seconds > config.max_seconds:
                return False
            progress.update(self.num_timesteps, seconds, self._figure())
            return True

        def _on_rollout_end(self) -> None:
            if not self.finished:
                return
            seconds = time.perf_counter() - self.start
            rate = self.num_timesteps / seconds
            folder.metrics(self.num_timesteps, seconds, self._figure(), steps_per_second=round(rate))
            self.logger.record("rollout/value", self._figure())
            # The last share of the run by the clock, so that the learning rate has fallen when time is up.
            if config.max_seconds is not None:
                left = max(0.0, 1 - seconds / config.max_seconds)
                self.model._current_progress_remaining = min(self.model._current_progress_remaining, left)

        def _figure(self) -> float:
            """Win share of the last games, or their mean reward where the reward does not say who won."""
            mean = float(np.mean(self.finished)) if self.finished else 0.0
            return win_share(mean, game) if game.reward == "win" else mean

    return Watch()


def win_share(reward: float, game: Game) -> float:
    """The win share that a mean reward "win" stands for: n·share − 1 over n − 1, solved for the share."""
    players = game.num_players
    return (reward * (players - 1) + 1) / players
