"""Deep Monte-Carlo by self-play: a network learns what each action comes to in the end, and the best is played.

After DouZero (Zha et al., "DouZero: Mastering DouDizhu with self-play deep reinforcement learning", ICML 2021). Nothing
is bootstrapped: a decision is learned from when its game has ended, with what its seat was paid from then on. Where
DouZero describes an action to its network by features, because there are tens of thousands, the actions here are
few, and the network gives a value for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pigenv.game import Game
from pigenv.train.config import DMCConfig
from pigenv.train.network import FORBIDDEN
from pigenv.train.progress import Progress
from pigenv.train.run_folder import RunFolder
from pigenv.train.selfplay import Arrays, SelfPlayLearner, learn
from pigenv.train.trajectories import returns

__all__ = ["DMC", "train"]


class DMC(SelfPlayLearner):
    """Deep Monte-Carlo at work.

    Args:
        game: The game.
        config: Its settings.
        seed: Of everything.

    Attributes:
        played: By name, an array of each thing that was noted, by step and table, from the earliest decision on whose
            game goes on; `learned` is 1 for those that were learned from.
    """

    def __init__(self, game: Game, config: DMCConfig, seed: int) -> None:
        self.config = config
        super().__init__(game, config, seed, game.num_actions)
        self.optimizer_of([self.actor])
        self.epsilon: float = config.epsilon
        self.played: Arrays = self._blank(0)
        self._owed = np.zeros((self.tables.most, 2))

    def _blank(self, steps: int) -> Arrays:
        game, tables = self.game, self.tables
        kinds: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
            "observations": ((game.layout.size,), np.float32),
            "actions": ((), np.int64),
            "seats": ((), np.int8),
            "learning": ((), np.int8),
            "learned": ((), np.int8),
            "rewards": ((tables.most,), np.float32),
            "over": ((), np.int8),
        }
        return {name: np.zeros((steps, tables.num_tables, *shape), kind) for name, (shape, kind) in kinds.items()}

    def update(self, done: float) -> dict[str, float]:
        """Play, and learn from the games that ended; `done` is the share of the run that is behind.

        Returns:
            Figures to note.

        Raises:
            TrainingError: The loss is no finite number.
        """
        self.epsilon = self.falling(self.config.epsilon, self.config.final_epsilon, done)
        self.play()
        figures = self.learn(done)
        self.remember()
        return figures

    def play(self) -> None:
        """Play `n_steps` at every table."""
        tables, new = self.tables, self._blank(self.config.n_steps)
        for t in range(self.config.n_steps):
            for name in ("observations", "seats", "learning"):
                new[name][t] = getattr(tables, name)
            new["actions"][t] = self.choose(self.outputs_of(self.actor, tables.observations), tables.masks)[0]
            tables.step(new["actions"][t])
            new["rewards"][t], new["over"][t] = tables.rewards, tables.over
        self.played = {name: np.concatenate([old, new[name]]) for name, old in self.played.items()}

    def choose(self, outputs: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The action of greatest value, int64, or with probability ε any legal one; and its value, float32."""
        legal = masks == 1
        best = np.where(legal, outputs, FORBIDDEN).argmax(axis=1)
        dice = self.chance.random((len(masks), 2))
        place = (dice[:, 1] * legal.sum(axis=1)).astype(np.int64)
        any_legal = (legal.cumsum(axis=1) > place[:, None]).argmax(axis=1)
        actions = np.where(dice[:, 0] < self.epsilon, any_legal, best)
        return actions, np.take_along_axis(outputs, actions[:, None], 1)[:, 0]

    def learn(self, done: float) -> dict[str, float]:
        """Pass over the decisions whose game has ended since the last time; returns mean figures."""
        config, played = self.config, self.played
        steps = played["over"].shape
        found, known = np.zeros(steps, np.float32), np.zeros(steps, np.int8)
        returns(
            played["rewards"], played["over"], played["seats"], played["learning"], config.gamma, self._owed,
            found, known,
        )  # fmt: skip
        rows = torch.from_numpy(np.flatnonzero((known == 1) & (played["learned"] == 0)))
        batch = {
            name: torch.from_numpy(array).flatten(0, 1).to(self.device)
            for name, array in (
                ("observations", played["observations"]), ("actions", played["actions"][..., None]), ("returns", found),
            )
        }  # fmt: skip
        learning_rate = self.falling(config.learning_rate, config.final_learning_rate, done)
        count = -(-len(rows) // config.batch_size)
        losses: list[float] = []
        for _ in range(config.n_epochs if len(rows) else 0):
            order = rows[torch.randperm(len(rows), generator=self.generator)].to(self.device)
            for minibatch in order.tensor_split(count):
                shares = self.workers.run(
                    lambda share, part=minibatch: self.gradients(batch, part[share], len(part)),  # type: ignore[misc]
                    len(minibatch),
                )
                self.descend([gradient for gradient, _ in shares], learning_rate)
                losses.append(sum(loss for _, loss in shares))
        self.steps += len(rows)
        self._forget(known)
        figures = {"learning_rate": learning_rate, "epsilon": self.epsilon}
        return {"value_loss": float(np.mean(losses)), **figures} if losses else figures

    def gradients(self, batch: dict[str, Tensor], rows: Tensor, total: int) -> tuple[list[Tensor], float]:
        """A share's part in the gradient of a minibatch of `total` decisions, and in its loss."""
        taken = {name: tensor.index_select(0, rows) for name, tensor in batch.items()}
        values = self.actor(taken["observations"]).gather(1, taken["actions"])[:, 0]
        loss = (values - taken["returns"]).square().sum() / total
        return list(torch.autograd.grad(loss, self.parameters)), float(loss.detach())

    def _forget(self, known: np.ndarray) -> None:
        """Mark what was learned from, and drop the steps before the earliest decision whose game goes on."""
        self.played["learned"] |= known
        waiting = ((self.played["learning"] == 1) & (self.played["learned"] == 0)).any(axis=1)
        first = int(waiting.argmax()) if waiting.any() else len(waiting)
        self.played = {name: array[first:].copy() for name, array in self.played.items()}

    # --- saving ------------------------------------------------------------------------------------------------------

    def save(self) -> tuple[Arrays, dict[str, Any]]:
        """All that changes, as arrays and as JSON."""
        arrays, about = super().save()
        return arrays | {f"played.{name}": array for name, array in self.played.items()}, about

    def restore(self, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
        """Become what was saved."""
        super().restore(arrays, about)
        self.played = {name: arrays[f"played.{name}"].copy() for name in self.played}


def train(game: Game, config: DMCConfig, folder: RunFolder, seed: int, progress: Progress) -> str:
    """Train, or go on with a run that was saved; returns the path of the checkpoint."""
    learner = DMC(game, config, seed)
    try:
        return learn(learner, game, config, folder, seed, progress)
    finally:
        learner.close()
