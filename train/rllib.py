"""RLlib's PPO by self-play, with its masked module: all seats of every table share one network and learn.

Tables are stepped one by one in Python, so on one machine our own `ppo` learns far more in a minute; this is for a Ray
cluster, whose machines play and learn together. The policy and the state of the run are our own files: nothing that
RLlib pickles is ever loaded.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from pigenv.adapters.rllib import TurnsEnv
from pigenv.errors import MissingExtraError, OptionError, TrainingError
from pigenv.evaluate.cluster import connected
from pigenv.game import Game
from pigenv.train.config import RLlibConfig
from pigenv.train.progress import Progress
from pigenv.train.run_folder import RunFolder
from pigenv.train.selfplay import learn

try:
    import ray  # type: ignore[import-not-found]
    import torch
    from ray.exceptions import RayError  # type: ignore[import-not-found]
    from ray.rllib.algorithms.ppo import PPOConfig  # type: ignore[import-not-found]
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec  # type: ignore[import-not-found]
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec  # type: ignore[import-not-found]
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule  # type: ignore[import-not-found]
except ModuleNotFoundError as error:
    raise MissingExtraError("ray[rllib] with torch", "rllib") from error

__all__ = ["RLlib", "configured", "policy_tensors", "train"]

SHARED: Final = "shared"
"""The name of the one module that plays and learns for all seats."""

FIGURES: Final = {"policy_loss": "policy_loss", "vf_loss": "value_loss", "entropy": "entropy"}
"""What RLlib's learner calls the figures that we note."""

ACTIVATION: Final = "tanh"
_SEEDS: Final = 2**31  # RLlib hands its seed, plus a small number, to NumPy's old generator, which takes 32 bits


class _Tables(TurnsEnv):
    """A table of a run: RLlib numbers the seeds of neighbouring processes so that they overlap."""

    def __init__(self, config: Any) -> None:
        settings = dict(config)
        self._stream: list[int] = [settings.pop("seed"), getattr(config, "worker_index", 0) or 0]
        super().__init__({**settings, "illegal": "raise", "bootstrap": False})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """See `TurnsEnv.reset`; a seed deals other games in each process."""
        if seed is not None:
            seed = int(np.random.SeedSequence([*self._stream, seed]).generate_state(1, np.uint64)[0])
        return super().reset(seed=seed, options=options)


def configured(game: Game, config: RLlibConfig, seed: int) -> Any:
    """RLlib's own settings for a run, to build its algorithm from.

    Raises:
        OptionError: A minibatch is larger than what is played between two updates.
    """
    played = max(1, config.num_env_runners) * config.num_envs * config.n_steps // max(1, config.num_learners)
    if config.batch_size > played:
        raise OptionError(
            f"algo.batch_size must be at most num_env_runners × num_envs × n_steps / num_learners = {played}; "
            f"got {config.batch_size}"
        )
    table = TurnsEnv({"game": game})
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        observation_space=table.observation_spaces["player_0"],
        action_space=table.action_spaces["player_0"],
        model_config={
            "fcnet_hiddens": list(config.hidden),
            "fcnet_activation": ACTIVATION,
            "head_fcnet_hiddens": [],
            "vf_share_layers": False,
        },
    )
    return (
        PPOConfig()
        .environment(_Tables, env_config={"game": game, "seed": seed}, disable_env_checking=True)
        .env_runners(
            num_env_runners=config.num_env_runners,
            num_envs_per_env_runner=config.num_envs,
            rollout_fragment_length=config.n_steps,
        )
        .learners(num_learners=config.num_learners)
        .multi_agent(policies={SHARED}, policy_mapping_fn=_shared)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={SHARED: module}))
        .training(
            train_batch_size_per_learner=played,
            minibatch_size=config.batch_size,
            num_epochs=config.n_epochs,
            lr=config.learning_rate,
            gamma=config.gamma,
            lambda_=config.gae_lambda,
            entropy_coeff=config.ent_coef,
            clip_param=config.clip_range,
            grad_clip=config.max_grad_norm,
            grad_clip_by="global_norm",
            use_kl_loss=False,
        )
        .debugging(seed=seed % _SEEDS, log_level="ERROR")
    )


def _shared(*_: Any, **__: Any) -> str:
    return SHARED


def policy_tensors(weights: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Weights and biases of the policy network, float32, and the description that a checkpoint needs of it.

    Args:
        weights: Those of RLlib's module, by its own names.

    Raises:
        TrainingError: This release of RLlib builds another network.
    """
    hidden = [name for name in weights if name.startswith("encoder.actor_encoder.net.mlp.")]
    found = [name.removesuffix(".weight") for name in hidden if name.endswith(".weight")]
    found.sort(key=lambda name: int(name.rpartition(".")[2]))
    layers = {f"hidden_{number}": name for number, name in enumerate(found)} | {"logits": "pi.net.mlp.0"}
    try:
        tensors = {
            f"{layer}.{kind}": np.array(weights[f"{name}.{kind}"], np.float32)
            for layer, name in layers.items()
            for kind in ("weight", "bias")
        }
    except KeyError as error:
        raise TrainingError(f"RLlib's module has no {error}; has {sorted(weights)}") from None
    return tensors, {"layers": list(layers), "activation": ACTIVATION}


class RLlib:
    """RLlib at work, as one of our learners.

    Args:
        game: The game.
        config: Its settings.
        seed: Of everything; RLlib's processes finish in any order, so runs of one seed differ.
        steps: Decisions that were learned from before, by a run that goes on: it is dealt other games than at first.

    Attributes:
        steps: Decisions learned from.
    """

    def __init__(self, game: Game, config: RLlibConfig, seed: int, steps: int = 0) -> None:
        self.config, self.steps = config, steps
        torch.set_num_threads(config.torch_threads)
        self.algorithm: Any = configured(game, config, (seed + steps) % 2**64).build_algo()

    def update(self, done: float) -> dict[str, float]:
        """Play, and learn from it once; `done` is the share of the run that is behind. Returns figures to note.

        Raises:
            TrainingError: The loss is no finite number.
        """
        rate = self.config.learning_rate * (1 - done)
        self.algorithm.learner_group.foreach_learner(lambda learner: _set_rate(learner, rate))
        found = self.algorithm.train()
        self.steps += int(found["env_runners"]["num_env_steps_sampled"])
        learned = found["learners"][SHARED]
        figures = {ours: float(learned[theirs]) for theirs, ours in FIGURES.items() if theirs in learned}
        if not np.isfinite(list(figures.values())).all():
            raise TrainingError(f"the loss is no finite number after {self.steps:,} decisions: {figures}")
        return {**figures, "learning_rate": rate}

    def _learned(self) -> dict[str, Any]:
        state: dict[str, Any] = self.algorithm.learner_group.get_state(
            components=["learner/rl_module", "learner/optimizer"]
        )
        return state["learner"]

    def policy(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The actor's tensors and their description, see `save_checkpoint`."""
        return policy_tensors(self._learned()["rl_module"][SHARED])

    def save(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """All that changes but for the games being played, as arrays and as JSON."""
        state = self._learned()
        arrays = {f"module.{name}": np.asarray(array) for name, array in state["rl_module"][SHARED].items()}
        groups = {}
        for name, optimizer in state["optimizer"].items():
            groups[name] = optimizer["state"]["param_groups"]
            for number, moments in optimizer["state"]["state"].items():
                arrays |= {f"{name}.{number}.{each}": np.asarray(array) for each, array in moments.items()}
        return arrays, {"steps": self.steps, "optimizers": groups}

    def restore(self, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
        """Become what was saved."""
        self.steps = about["steps"]
        optimizers: dict[str, Any] = {}
        for name, groups in about["optimizers"].items():
            moments: dict[int, dict[str, np.ndarray]] = {}
            for key, array in arrays.items():
                if key.startswith(f"{name}."):
                    number, each = key.removeprefix(f"{name}.").split(".")
                    moments.setdefault(int(number), {})[each] = array.copy()
            optimizers[name] = {"module_id": SHARED, "state": {"state": moments, "param_groups": groups}}
        weights = {name.removeprefix("module."): a.copy() for name, a in arrays.items() if name.startswith("module.")}
        learner = {"rl_module": {SHARED: weights}, "optimizer": optimizers}
        self.algorithm.learner_group.set_state({"learner": learner})
        self.algorithm.env_runner_group.sync_weights(
            from_worker_or_learner_group=self.algorithm.learner_group, inference_only=True
        )

    def close(self) -> None:
        """End the processes."""
        self.algorithm.stop()
        with suppress(OSError):
            # A folder for logs in the user's own, which nothing was written into.
            Path(self.algorithm.logdir).rmdir()


def _set_rate(learner: Any, rate: float) -> None:
    for _, optimizer in learner.get_optimizers_for_module(SHARED):
        for group in optimizer.param_groups:
            group["lr"] = rate


def train(game: Game, config: RLlibConfig, folder: RunFolder, seed: int, progress: Progress) -> str:
    """Train, or go on with a run that was saved; returns the path of the checkpoint.

    A run that goes on keeps weights and optimizer, and begins new games.

    Raises:
        OptionError: No cluster answers at the address, it has too few processors for the processes wanted, or a
            minibatch is too large.
        TrainingError: Ray broke down; what was saved last is whole.
    """
    wanted = config.num_env_runners + config.num_learners
    address = config.address or os.environ.get("RAY_ADDRESS") or "local"
    for name in ("ray", "ray.rllib"):
        logging.getLogger(name).setLevel(logging.ERROR)
    ours = not ray.is_initialized()
    connected(address, max(wanted, os.cpu_count() or 1), "rllib")
    try:
        there = int(ray.cluster_resources().get("CPU", 0))
        if wanted > there:
            raise OptionError(
                f"the Ray cluster has {there} processors; algo.num_env_runners and algo.num_learners want {wanted}"
            )
        saved = folder.load_state()
        learner = RLlib(game, config, seed, int(saved[1]["learner"]["steps"]) if saved else 0)
        try:
            return learn(learner, game, config, folder, seed, progress)
        finally:
            learner.close()
    except RayError as error:
        raise TrainingError(f"Ray broke down: {str(error).strip().splitlines()[-1]}; go on with --resume") from error
    finally:
        if ours:
            ray.shutdown()
