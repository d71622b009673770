"""Proximal policy optimisation by self-play: all seats of all tables share one network and learn.

The algorithm is that of Schulman et al., "Proximal policy optimization algorithms" (2017). An update
plays `n_steps` at every table with the policy of the moment, estimates for each decision how much better it came out
than expected (`trajectories.advantages`), and passes over these decisions `n_epochs` times in minibatches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from pigenv.game import Game
from pigenv.train.config import PPOConfig
from pigenv.train.network import entropy_of, masked_log_probabilities
from pigenv.train.progress import Progress
from pigenv.train.run_folder import RunFolder
from pigenv.train.selfplay import Arrays, SelfPlayLearner, learn
from pigenv.train.trajectories import advantages

__all__ = ["PPO", "train"]

FIGURES = ("policy_loss", "value_loss", "entropy", "kl", "clipped")


class PPO(SelfPlayLearner):
    """PPO at work.

    With `critic="own"` one network gives the logits and, as its last output, the value. With "full" the value comes
    from a network of its own, which is fed with what all seats see together, the one to move first.

    Args:
        game: The game.
        config: Its settings.
        seed: Of everything.
    """

    def __init__(self, game: Game, config: PPOConfig, seed: int) -> None:
        self.config: PPOConfig = config
        self.full: bool = config.critic == "full"
        super().__init__(game, config, seed, game.num_actions + (not self.full))
        steps, tables, most = config.n_steps, config.num_tables, self.tables.most
        if self.full:
            seen = most * game.layout.size
            self.critic = self.network(seen, 1)
            self.networks["critic"] = self.critic
            self.everything: np.ndarray = np.zeros((steps + 1, tables, most, game.layout.size), np.float32)
        self.optimizer_of(list(self.networks.values()))
        self.observations: np.ndarray = np.zeros((steps, tables, game.layout.size), np.float32)
        self.masks: np.ndarray = np.zeros((steps, tables, game.num_actions), np.int8)
        self.seats: np.ndarray = np.zeros((steps + 1, tables), np.int8)
        self.learning: np.ndarray = np.zeros((steps + 1, tables), np.int8)
        self.values: np.ndarray = np.zeros((steps + 1, tables), np.float32)
        self.actions: np.ndarray = np.zeros((steps, tables), np.int64)
        self.logs: np.ndarray = np.zeros((steps, tables), np.float32)
        self.advantages: np.ndarray = np.zeros((steps, tables), np.float32)
        self.rewards: np.ndarray = np.zeros((steps, tables, most), np.float32)
        self.over: np.ndarray = np.zeros((steps, tables), np.int8)
        self.known: np.ndarray = np.zeros((steps, tables), np.int8)
        self._owed = np.zeros((most, 4))

    def update(self, done: float) -> dict[str, float]:
        """Play, and learn from it once; `done` is the share of the run that is behind. Returns figures to note.

        Raises:
            TrainingError: The loss is no finite number.
        """
        self.play()
        figures = self.learn(done)
        self.remember()
        return figures

    def policy(self) -> tuple[Arrays, dict[str, Any]]:
        """See `SelfPlayLearner.policy`; with a critic that sees what the actor sees, its worth of a position too."""
        tensors, about = super().policy()
        if self.full:
            return tensors, about
        whole = self.actor.tensors(self.layers)
        worth = {f"value.{kind}": whole[f"logits.{kind}"][-1:].copy() for kind in ("weight", "bias")}
        return {**tensors, **worth}, {**about, "value": "value"}

    # --- playing -----------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play `n_steps` at every table, and estimate the advantages."""
        tables = self.tables
        for t in range(self.config.n_steps):
            outputs = self._look(t)
            self.observations[t], self.masks[t] = tables.observations, tables.masks
            self.actions[t], self.logs[t] = self.choose(outputs, tables.masks)
            tables.step(self.actions[t])
            self.rewards[t], self.over[t] = tables.rewards, tables.over
        self._look(self.config.n_steps)
        advantages(
            self.rewards, self.over, self.seats, self.learning, self.values, self.config.gamma, self.config.gae_lambda,
            self._owed, self.advantages, self.known,
        )  # fmt: skip

    def _look(self, t: int) -> np.ndarray:
        """Note who is to move at step `t` and what that is worth; returns the actor's outputs."""
        tables = self.tables
        self.seats[t], self.learning[t] = tables.seats, tables.learning
        outputs = self.outputs_of(self.actor, tables.observations)
        if self.full:
            tables.everything(self.everything[t])
            seen = self.everything[t].reshape(tables.num_tables, -1)
            self.values[t] = self.outputs_of(self.critic, seen)[:, 0]
        else:
            self.values[t] = outputs[:, -1]
        return outputs

    # --- learning ----------------------------------------------------------------------------------------------------

    def learn(self, done: float) -> dict[str, float]:
        """Pass over the decisions whose advantage is known; returns the mean figures of the last pass."""
        config = self.config
        rows = torch.from_numpy(np.flatnonzero(self.known))
        batch = self._batch()
        chosen = batch["advantages"][rows.to(self.device)]
        batch["returns"] = batch["advantages"] + batch["values"]
        batch["advantages"] = (batch["advantages"] - chosen.mean()) / (chosen.std() + 1e-8)
        learning_rate = self.falling(config.learning_rate, config.final_learning_rate, done)
        ent_coef = self.falling(config.ent_coef, config.final_ent_coef, done)
        count = -(-len(rows) // config.batch_size)
        figures: list[np.ndarray] = []
        for epoch in range(config.n_epochs):
            order = rows[torch.randperm(len(rows), generator=self.generator)].to(self.device)
            for minibatch in order.tensor_split(count):
                shares = self.workers.run(
                    lambda share, part=minibatch: self.gradients(batch, part[share], len(part), ent_coef),  # type: ignore[misc]
                    len(minibatch),
                )
                self.descend([gradient for gradient, _ in shares], learning_rate)
                if epoch == config.n_epochs - 1:
                    figures.append(np.sum([each for _, each in shares], axis=0))
        self.steps += len(rows)
        named = dict(zip(FIGURES, np.mean(figures, axis=0).tolist(), strict=True))
        return {**named, "learning_rate": learning_rate, "ent_coef": ent_coef}

    def _batch(self) -> dict[str, Tensor]:
        """What was played, a row for each decision, on the device that learns."""
        arrays = {
            "observations": self.observations,
            "masks": self.masks,
            "actions": self.actions[..., None],
            "logs": self.logs,
            "advantages": self.advantages,
            "values": self.values[:-1],
        }
        if self.full:
            steps, tables = self.actions.shape
            arrays["everything"] = self.everything[:-1].reshape(steps, tables, -1)
        return {name: torch.from_numpy(a).flatten(0, 1).to(self.device) for name, a in arrays.items()}

    def gradients(
        self, batch: dict[str, Tensor], rows: Tensor, total: int, ent_coef: float
    ) -> tuple[list[Tensor], np.ndarray]:
        """A share's part in the gradient of a minibatch of `total` decisions, and in its `FIGURES`."""
        config = self.config
        taken = {name: tensor.index_select(0, rows) for name, tensor in batch.items()}
        outputs = self.actor(taken["observations"])
        if self.full:
            logits, values = outputs, self.critic(taken["everything"])[:, 0]
        else:
            logits, values = outputs[:, :-1], outputs[:, -1]
        logs = masked_log_probabilities(logits, taken["masks"] == 1)
        difference = logs.gather(1, taken["actions"])[:, 0] - taken["logs"]
        ratio = difference.exp()
        clipped = ratio.clamp(1 - config.clip_range, 1 + config.clip_range)
        policy_loss = -torch.minimum(ratio * taken["advantages"], clipped * taken["advantages"]).sum() / total
        value_loss = (values - taken["returns"]).square().sum() / total
        entropy = entropy_of(logs).sum() / total
        loss = policy_loss + config.value_coef * value_loss - ent_coef * entropy
        gradient = torch.autograd.grad(loss, self.parameters)
        with torch.no_grad():
            # The estimate of http://joschu.net/blog/kl-approx.html that is never negative.
            kl = (ratio - 1 - difference).sum() / total
            share = (ratio != clipped).sum() / total
            figures = torch.stack([policy_loss, value_loss, entropy, kl, share]).cpu().numpy()
        return list(gradient), figures


def train(game: Game, config: PPOConfig, folder: RunFolder, seed: int, progress: Progress) -> str:
    """Train, or go on with a run that was saved; returns the path of the checkpoint."""
    learner = PPO(game, config, seed)
    try:
        return learn(learner, game, config, folder, seed, progress)
    finally:
        learner.close()
