"""What a game pays whom, found by playing the same actions on a plain table: what adapters are held against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pigenv import registry
from pigenv.table import Table

TINY: dict[str, Any] = {"game": "pig10", "preset": "mini"}
"""A game of a few decisions for two."""

SMALL: dict[str, Any] = {"game": "pig10", "preset": "small"}
"""A short game for three."""

ROUNDS: dict[str, Any] = {
    "game": "pig_pile",
    "preset": "mini",
    "num_players": 3,
    "rules": {"rounds": 2, "copies": 3, "max_turns": 1000},
    "reward": "score",
}
"""Three players, paid at the end of each of two rounds; a seat may move twice running, or be paid on another's turn."""

CUT: dict[str, Any] = {"game": "pig10", "preset": "mini", "rules": {"max_turns": 2}}
"""A game that is always cut short after two turns."""


@dataclass(frozen=True)
class Replay:
    """A game from its seed and its actions.

    Attributes:
        seats: Who moved at each step.
        rewards: What each step paid each seat, `(steps, num_players)`.
        over: How it stands at the end.
        scores: Each seat's points.
    """

    seats: list[int]
    rewards: np.ndarray
    over: int
    scores: np.ndarray

    @property
    def returns(self) -> np.ndarray:
        """What each seat was paid in all."""
        return np.asarray(self.rewards.sum(axis=0))


def replayed(settings: dict[str, Any], seed: int, actions: Iterable[int], number: int = 0) -> Replay:
    """Play actions on a plain table, which refuses illegal ones."""
    table = Table(registry.make(**settings))
    table.start(seed, number)
    seats, rewards = [], []
    for action in actions:
        seats.append(table.seat)
        rewards.append(table.step(action).copy())
    return Replay(seats, np.array(rewards), table.over, table.scores())


def credited(replay: Replay, seat: int) -> Sequence[float]:
    """What a seat is to be paid for each of its decisions: everything up to its next one."""
    starts = [step for step, mover in enumerate(replay.seats) if mover == seat]
    stops = [*starts[1:], len(replay.seats)]
    return [float(replay.rewards[start:stop, seat].sum()) for start, stop in zip(starts, stops, strict=True)]
