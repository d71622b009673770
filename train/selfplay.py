"""What our own algorithms have in common: tables, chance, optimizer, past selves, and all of it as one saved state."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
import torch
from torch import Tensor

from pigenv.agents.checkpoint import save_checkpoint
from pigenv.errors import TrainingError
from pigenv.game import Game
from pigenv.train.config import RLlibConfig, SelfPlayConfig
from pigenv.train.network import Mlp, Workers, chosen_device, forward
from pigenv.train.progress import Progress
from pigenv.train.run_folder import POLICY, STATE, UNUSABLE, RunFolder
from pigenv.train.score import Scorer
from pigenv.train.tables import Mixture, Tables
from pigenv.train.trajectories import sample_actions

__all__ = ["Learner", "SelfPlayLearner", "learn"]

Arrays = dict[str, np.ndarray]
_MOMENTS: Final = ("step", "exp_avg", "exp_avg_sq")


class Learner(Protocol):
    """An algorithm at work."""

    steps: int
    """Decisions learned from."""

    def update(self, done: float) -> dict[str, float]:
        """Play, and learn from it once; `done` is the share of the run that is behind. Returns figures to note."""
        ...

    def policy(self) -> tuple[Arrays, dict[str, Any]]:
        """The actor's tensors and their description, see `save_checkpoint`."""
        ...

    def save(self) -> tuple[Arrays, dict[str, Any]]:
        """All that changes, as arrays and as JSON."""
        ...

    def restore(self, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
        """Become what was saved."""
        ...


class SelfPlayLearner:
    """The part of an algorithm that does not depend on what it learns.

    Args:
        game: The game.
        config: Its settings.
        seed: Of everything.
        outputs: Numbers that the actor's network gives: one an action, and what else the algorithm wants.
    """

    def __init__(self, game: Game, config: SelfPlayConfig, seed: int, outputs: int) -> None:
        self.game: Game = game
        self.settings: SelfPlayConfig = config
        self.device: torch.device = chosen_device(config.device)
        self.workers: Workers = Workers(config.threads if self.device.type == "cpu" else 1)
        mixture = Mixture(config.opponents, config.opponent_share, config.past_share, config.past_size)
        self.tables: Tables = Tables(game, config.num_tables, mixture, seed, config.threads)
        words = np.random.SeedSequence(seed).spawn(3)
        self.chance: np.random.Generator = np.random.Generator(np.random.PCG64(words[1]))
        self.generator: torch.Generator = torch.Generator().manual_seed(
            int(words[2].generate_state(1, np.uint64)[0] >> 1)
        )
        self.layers: list[str] = [*(f"hidden_{number}" for number in range(len(config.hidden))), "logits"]
        self.actor: Mlp = self.network(game.layout.size, outputs)
        self.networks: dict[str, Mlp] = {"actor": self.actor}
        self.steps = self.updates = 0
        self._past: dict[int, Arrays] = {}

    # --- networks ----------------------------------------------------------------------------------------------------

    def network(self, inputs: int, outputs: int) -> Mlp:
        """A network with the settings' hidden layers."""
        config = self.settings
        return Mlp(inputs, config.hidden, outputs, self.generator, device=self.device, precision=config.precision)

    def optimizer_of(self, networks: Sequence[Mlp]) -> torch.optim.Adam:
        """Adam over all parameters of some networks."""
        self.parameters: list[Tensor] = [each for network in networks for each in network.parameters]
        self.optimizer: torch.optim.Adam = torch.optim.Adam(
            self.parameters, self.settings.learning_rate, eps=1e-5, fused=True
        )
        return self.optimizer

    def outputs_of(self, network: Mlp, inputs: np.ndarray) -> np.ndarray:
        """A network's outputs for a batch, nothing learned from it, float32."""

        def work(share: slice) -> np.ndarray:
            with torch.no_grad():
                given = torch.from_numpy(inputs[share]).to(self.device)
                return np.asarray(network(given).cpu().numpy())

        return np.concatenate(self.workers.run(work, len(inputs)))

    def descend(self, gradients: Sequence[Sequence[Tensor]], learning_rate: float) -> float:
        """One step of the optimizer along gradients that the workers' shares add up to; returns their length.

        Raises:
            TrainingError: They are not finite numbers; the parameters are what they were.
        """
        for parameter, *shares in zip(self.parameters, *gradients, strict=True):
            parameter.grad = shares[0]
            for other in shares[1:]:
                parameter.grad = parameter.grad + other
        length = float(torch.nn.utils.clip_grad_norm_(self.parameters, self.settings.max_grad_norm))
        if not np.isfinite(length):
            raise TrainingError(
                f"update {self.updates + 1}: the loss or its gradient is no finite number; "
                f"a lower algo.learning_rate may help"
            )
        self.optimizer.param_groups[0]["lr"] = learning_rate
        self.optimizer.step()
        return length

    def falling(self, first: float, last: float, done: float) -> float:
        """What a setting has come to that goes from one value to another in a straight line."""
        return last + (first - last) * (1 - min(done, 1.0))

    def policy(self) -> tuple[Arrays, dict[str, Any]]:
        """The actor's tensors and their description, see `save_checkpoint`."""
        tensors = self.actor.tensors(self.layers)
        for kind in ("weight", "bias"):
            tensors[f"logits.{kind}"] = np.ascontiguousarray(tensors[f"logits.{kind}"][: self.game.num_actions])
        return tensors, {"layers": self.layers, "activation": "relu"}

    # --- past selves -------------------------------------------------------------------------------------------------

    def remember(self) -> None:
        """Let the present policy join the past selves when it is time; call once an update, after it."""
        self.updates += 1
        config, tables = self.settings, self.tables
        if config.past_share == 0 or self.updates % config.past_every:
            return
        free = [place for place, act in enumerate(tables.past) if act is None]
        easiest = int(tables.results[len(tables.opponents) :].argmax())
        self._sit_down(free[0] if free else easiest, self.policy()[0], 0.5)

    def _sit_down(self, place: int, weights: Arrays, result: float) -> None:
        parameters = [
            torch.from_numpy(weights[f"{name}.{kind}"]) for name in self.layers for kind in ("weight", "bias")
        ]

        def act(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
            with torch.no_grad():
                logits = forward(parameters, torch.from_numpy(observations)).numpy()
            return self.choose(logits, masks)[0]

        self._past[place] = weights
        self.tables.remember(place, act, result)

    def choose(self, outputs: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Actions drawn with the probabilities of logits, int64, and the logarithms of those, float32."""
        actions, logs = np.zeros(len(masks), np.int64), np.zeros(len(masks), np.float32)
        sample_actions(outputs, masks, self.chance.random(len(masks)), actions, logs)
        return actions, logs

    # --- saving ------------------------------------------------------------------------------------------------------

    def save(self) -> tuple[Arrays, dict[str, Any]]:
        """All that changes, as arrays and as JSON."""
        arrays: Arrays = {"generator": self.generator.get_state().numpy().copy()}
        for name, network in self.networks.items():
            arrays |= {f"{name}.{k}": each.detach().cpu().numpy() for k, each in enumerate(network.parameters)}
        for k, parameter in enumerate(self.parameters):
            for moment, tensor in self.optimizer.state.get(parameter, {}).items():
                arrays[f"adam.{k}.{moment}"] = tensor.cpu().numpy()
        for place, weights in self._past.items():
            arrays |= {f"past.{place}.{name}": array for name, array in weights.items()}
        own, about = self.tables.save()
        arrays |= {f"tables.{name}": array for name, array in own.items()}
        described = {"steps": self.steps, "updates": self.updates, "past": sorted(self._past), "tables": about}
        return arrays, {**described, "chance": self.chance.bit_generator.state}

    def restore(self, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
        """Become what was saved."""
        self.steps, self.updates = about["steps"], about["updates"]
        self.generator.set_state(torch.from_numpy(arrays["generator"].copy()))
        with torch.no_grad():
            for name, network in self.networks.items():
                for k, parameter in enumerate(network.parameters):
                    parameter.copy_(torch.from_numpy(arrays[f"{name}.{k}"].copy()))
        for k, parameter in enumerate(self.parameters):
            if f"adam.{k}.step" in arrays:
                self.optimizer.state[parameter] = {
                    moment: torch.from_numpy(arrays[f"adam.{k}.{moment}"].copy()).to(self.device) for moment in _MOMENTS
                }
        for place in about["past"]:
            start = f"past.{place}."
            weights = {name.removeprefix(start): a.copy() for name, a in arrays.items() if name.startswith(start)}
            self._sit_down(place, weights, 0.5)
        own = {name.removeprefix("tables."): a for name, a in arrays.items() if name.startswith("tables.")}
        self.tables.restore(own, about["tables"])
        self.chance.bit_generator.state = about["chance"]

    def close(self) -> None:
        """End the threads."""
        self.workers.close()


def learn(
    learner: Learner,
    game: Game,
    config: SelfPlayConfig | RLlibConfig,
    folder: RunFolder,
    seed: int,
    progress: Progress,
) -> str:
    """Update until the run is over, noting figures, measuring the win share and saving; returns the checkpoint's path.

    What is measured and when it is saved changes nothing of what is learned.

    Raises:
        TrainingError: The loss is no finite number, or the folder cannot be written any more; what was saved last is
            whole.
    """
    score = Scorer(game, config.eval_against, config.eval_deals)
    before, measured = 0.0, -1
    saved = folder.load_state()
    if saved is not None:
        arrays, about = saved
        try:
            learner.restore(arrays, about["learner"])
            before, measured = float(about["seconds"]), int(about["measured"])
        except UNUSABLE as error:
            raise TrainingError(f"{folder.path / STATE} does not fit this run: {error}; begin it again") from None
    start = time.perf_counter() - before
    saved_at, first_steps, value = time.perf_counter(), learner.steps, 0.0

    def note(figures: dict[str, float], done: bool = False) -> None:
        nonlocal measured, value
        seconds = time.perf_counter() - start
        due = learner.steps // config.eval_every
        figures = {**figures, "steps_per_second": (learner.steps - first_steps) / max(seconds - before, 1e-9)}
        if due > measured or (done and folder.last_measured != learner.steps):
            tensors, network = learner.policy()
            measured, value = due, score(tensors, network)
            folder.metrics(learner.steps, seconds, value, **figures)
        elif not done:
            folder.metrics(learner.steps, seconds, None, **figures)
        progress.update(learner.steps, seconds, value)

    def save() -> None:
        arrays, about = learner.save()
        seconds = time.perf_counter() - start
        folder.save_state(arrays, {"learner": about, "seconds": seconds, "measured": measured})
        tensors, network = learner.policy()
        trained = {"algorithm": config.name, "steps": learner.steps, "seed": seed, "seconds": round(seconds, 1)}
        folder.guard(POLICY, lambda path: save_checkpoint(path, tensors, game, {**trained, **network}))

    if saved is None:
        note({})
        save()
    # Once at least: on a slow machine the first measurement may take all the time there is.
    while (done := share_done(learner.steps, time.perf_counter() - start, config)) < 1 or learner.steps == 0:
        note(learner.update(min(done, 1.0)))
        if time.perf_counter() - saved_at >= config.checkpoint_seconds:
            save()
            saved_at = time.perf_counter()
    note({}, done=True)
    save()
    return str(folder.path / POLICY)


def share_done(steps: int, seconds: float, config: SelfPlayConfig | RLlibConfig) -> float:
    """How much of a run is behind, by decisions or by the clock."""
    done = steps / config.total_steps
    return done if config.max_seconds is None else max(done, seconds / config.max_seconds)
