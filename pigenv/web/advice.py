"""What an agent thinks of the moves in a position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pigenv.agent import Agent, Decisions, KernelAgent
from pigenv.errors import AgentError, PigenvError
from pigenv.kernel import seed_keys
from pigenv.table import Table, loops

__all__ = ["Advice", "advise", "decide"]

ASKED: Final = 256
"""How often a player without a policy of its own is asked, to see how often it makes each move."""


@dataclass(frozen=True)
class Advice:
    """An agent's ranking of the legal moves.

    Attributes:
        agent: Its name.
        ranking: Every legal action's text with its probability, best first.
        value: What it expects to be paid, where it says so.
        asked: 0 where the probabilities are the agent's own; else how often it was asked.
    """

    agent: str
    ranking: list[tuple[str, float]]
    value: float | None
    asked: int

    def to_json(self) -> dict[str, Any]:
        ranking = [{"action": action, "probability": round(chance, 4)} for action, chance in self.ranking]
        return {"agent": self.agent, "ranking": ranking, "value": self.value, "asked": self.asked}


def _decision(table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """View, seat, mask and key of the seat to move, each with one row."""
    views, masks = table.states.copy(), table.masks.copy()
    seats, keys = np.full(1, -1, np.int8), np.zeros(1, np.uint64)
    loops(table.game.definition).view_tables(
        table.states, table.game.row, table.episodes, np.zeros(1, np.int64), seats, views, masks, keys
    )
    return views, seats, masks, keys


def decide(table: Table, agent: Agent) -> int:
    """The agent's choice for the seat to move.

    Raises:
        AgentError: It failed, or chose something that is not legal.
    """
    views, seats, masks, keys = _decision(table)
    return int(_answers(agent, Decisions(table.game, views, seats, masks.copy(), keys), masks)[0])


def _answers(agent: Agent, decisions: Decisions, masks: np.ndarray) -> np.ndarray:
    try:
        actions = np.asarray(agent.act(decisions))
    except PigenvError:
        raise
    except Exception as error:
        # Anybody's class may sit here; whatever it raises ends in a sentence.
        raise AgentError(f"agent {agent.name!r} failed: {type(error).__name__}: {error}") from error
    rows = np.arange(len(decisions))
    fits = actions.shape == rows.shape and actions.dtype.kind in "iu"
    if not fits or (actions < 0).any() or (actions >= masks.shape[1]).any() or not masks[rows, actions].all():
        raise AgentError(f"agent {agent.name!r} answered {actions!r}, which is not legal")
    return actions


def advise(table: Table, agent: Agent) -> Advice:
    """An agent's ranking of the moves that the seat to move has, from what that seat knows.

    An agent with a method `policy(decisions)` (probabilities, float, `(n, num_actions)`) is taken at its word, and one
    with `value(decisions)` (float, `(n,)`, or None) too; of a search (`analyse`) count the shares of its visits, and
    the worth of the action it visited most; a hand-written player is asked many times with other chance; any other
    agent once.
    """
    views, seats, masks, keys = _decision(table)
    decisions = Decisions(table.game, views, seats, masks.copy(), keys)
    policy, value, analyse = (getattr(agent, name, None) for name in ("policy", "value", "analyse"))
    told = value(decisions) if callable(value) else None
    worth = None if told is None else float(np.asarray(told)[0])
    if callable(policy):
        shares, asked = np.asarray(policy(decisions), np.float64)[0], 0
    elif callable(analyse):
        found: Any = analyse(decisions)
        asked = 0
        # Where only one action is legal, nothing was searched.
        shares = masks[0] * found.visits[0] if found.visits[0].any() else masks[0].astype(np.float64)
        shares = shares / shares.sum()
        worth = float(found.worths[0][shares.argmax()]) if found.visits[0].any() else None
    else:
        asked = ASKED if isinstance(agent, KernelAgent) else 1
        chances = _keys(keys[0], asked)
        many = Decisions(table.game, views.repeat(asked), seats.repeat(asked), masks.repeat(asked, axis=0), chances)
        chosen = _answers(agent, many, masks.repeat(asked, axis=0))
        shares = np.bincount(chosen, minlength=table.game.num_actions) / asked
    legal = np.flatnonzero(masks[0])
    order = sorted(legal.tolist(), key=lambda action: -shares[action])
    return Advice(agent.name, [(table.game.action_texts[a], float(shares[a])) for a in order], worth, asked)


def _keys(first: np.uint64, count: int) -> np.ndarray:
    """So many keys of decisions; the first is that of the decision itself."""
    found = np.array([seed_keys(k)[1] ^ first for k in range(count)], np.uint64)
    found[0] = first
    return found
