"""From what each step paid to what each decision was worth: one trajectory for each seat of each table.

Who moves changes from step to step, and a seat is paid while others move, so the steps of a table are not the steps of
a trajectory. The loops here walk a table's steps backwards and keep, for each seat, what it has been paid since its
decision and what came of its next one. Arrays are by step, then table, then seat.
"""

from __future__ import annotations

import numpy as np

from pigenv.game import RUNNING
from pigenv.kernel import kernel

__all__ = ["advantages", "returns", "sample_actions"]


@kernel
def advantages(
    rewards: np.ndarray,
    over: np.ndarray,
    seats: np.ndarray,
    learning: np.ndarray,
    values: np.ndarray,
    gamma: float,
    gae_lambda: float,
    owed: np.ndarray,
    found: np.ndarray,
    known: np.ndarray,
) -> None:
    """Generalised advantage estimates (Schulman et al., 2016) along each seat's own decisions.

    With V the value of a seat's decision, V' that of its next and r what it was paid in between, δ = r + γV' − V and
    A = δ + γλA'. Beyond the end of a game, by the rules or by its limit, there is nothing: a cut game is paid as it
    stands. A seat's last decision before the end of the steps has no next one yet; it is not known, and only lends its
    value to the one before. The seat to move after the last step is known to come to a decision: that one's value is
    given as the last row.

    Args:
        rewards: What each step paid each seat, float32, `(steps, tables, seats)`.
        over: How each step left its table, int8, `(steps, tables)`: RUNNING, TERMINATED or TRUNCATED.
        seats: Who moved, int8, `(steps + 1, tables)`.
        learning: 1 where that was the learner, int8, `(steps + 1, tables)`.
        values: The learner's values, float32, `(steps + 1, tables)`.
        gamma: γ, counted by a seat's own decisions.
        gae_lambda: λ, likewise.
        owed: Scratch, float64, `(seats, 4)`.
        found: Where the advantages go, float32, `(steps, tables)`.
        known: Where 1 goes for each decision whose advantage is known, int8, `(steps, tables)`.
    """
    steps, tables, players = rewards.shape
    for i in range(tables):
        for seat in range(players):
            owed[seat, 0] = 0.0  # paid since
            owed[seat, 1] = 0.0  # value of the next decision
            owed[seat, 2] = 0.0  # advantage of the next decision
            owed[seat, 3] = 0.0  # 1 where what comes next is known
        if learning[steps, i] == 1:
            owed[seats[steps, i], 1] = values[steps, i]
            owed[seats[steps, i], 3] = 1.0
        for t in range(steps - 1, -1, -1):
            for seat in range(players):
                if over[t, i] != RUNNING:
                    owed[seat, 0] = 0.0
                    owed[seat, 1] = 0.0
                    owed[seat, 2] = 0.0
                    owed[seat, 3] = 1.0
                owed[seat, 0] += rewards[t, i, seat]
            found[t, i] = 0.0
            known[t, i] = 0
            if learning[t, i] == 1:
                seat = seats[t, i]
                if owed[seat, 3] == 1.0:
                    delta = owed[seat, 0] + gamma * owed[seat, 1] - values[t, i]
                    found[t, i] = delta + gamma * gae_lambda * owed[seat, 2]
                    known[t, i] = 1
                owed[seat, 0] = 0.0
                owed[seat, 1] = values[t, i]
                owed[seat, 2] = found[t, i]
                owed[seat, 3] = 1.0


@kernel
def returns(
    rewards: np.ndarray,
    over: np.ndarray,
    seats: np.ndarray,
    learning: np.ndarray,
    gamma: float,
    owed: np.ndarray,
    found: np.ndarray,
    known: np.ndarray,
) -> None:
    """What each decision of the learner came to in the end: the discounted sum of all its seat was paid after it.

    Known once its game has ended. Arguments as for `advantages`, `seats` and `learning` of shape `(steps, tables)`,
    `owed` float64 of shape `(seats, 2)`.
    """
    steps, tables, players = rewards.shape
    for i in range(tables):
        ended = 0
        for t in range(steps - 1, -1, -1):
            if over[t, i] != RUNNING:
                ended = 1
                for seat in range(players):
                    owed[seat, 0] = 0.0  # paid since
                    owed[seat, 1] = 0.0  # what the next decision came to
            for seat in range(players):
                owed[seat, 0] += rewards[t, i, seat]
            found[t, i] = 0.0
            known[t, i] = 0
            if learning[t, i] == 1 and ended == 1:
                seat = seats[t, i]
                owed[seat, 1] = owed[seat, 0] + gamma * owed[seat, 1]
                owed[seat, 0] = 0.0
                found[t, i] = owed[seat, 1]
                known[t, i] = 1


@kernel
def sample_actions(
    logits: np.ndarray, masks: np.ndarray, chance: np.ndarray, actions: np.ndarray, log_probabilities: np.ndarray
) -> None:
    """Draw a legal action for each row with the policy's probabilities, and write the logarithm of its probability.

    Args:
        logits: float32, `(n, num_actions)`.
        masks: 1 for each legal action, int8, `(n, num_actions)`.
        chance: A number in [0, 1) for each row, float64.
        actions: Where the actions go, int64.
        log_probabilities: Where the logarithms go, float32.
    """
    for i in range(len(actions)):
        best = -np.inf
        for action in range(masks.shape[1]):
            if masks[i, action] == 1 and logits[i, action] > best:
                best = logits[i, action]
        total = 0.0
        for action in range(masks.shape[1]):
            if masks[i, action] == 1:
                total += np.exp(np.float64(logits[i, action]) - best)
        left = chance[i] * total
        for action in range(masks.shape[1]):
            if masks[i, action] == 1:
                actions[i] = action  # rounding may leave a rest behind the last one
                left -= np.exp(np.float64(logits[i, action]) - best)
                if left < 0.0:
                    break
        log_probabilities[i] = logits[i, actions[i]] - best - np.log(total)
