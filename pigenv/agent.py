"""What an agent is, and how one is found by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from pigenv.errors import AgentError
from pigenv.game import Act, Definition, Game
from pigenv.table import loops, player_loops

__all__ = ["Agent", "Decisions", "KernelAgent", "find_agent", "label"]


@dataclass(frozen=True)
class Decisions:
    """A batch of decisions at tables of one game. Holds nothing that the deciding seats may not know.

    Attributes:
        game: The game at these tables.
        views: What each deciding seat knows, records of `game.definition.state`, shape `(n,)`.
        seats: The deciding seat of each, int8, shape `(n,)`.
        action_masks: 1 for each legal action, int8, shape `(n, num_actions)`.
        keys: Random bits for each decision, uint64, shape `(n,)`. An agent that takes all its chance from them plays
            the same whatever the batch.
    """

    game: Game
    views: np.ndarray
    seats: np.ndarray
    action_masks: np.ndarray
    keys: np.ndarray

    def __len__(self) -> int:
        return len(self.views)

    @cached_property
    def observations(self) -> np.ndarray:
        """The observations as `game` lays them out, float32, shape `(n, game.layout.size)`."""
        return self.observed(self.game)

    def observed(self, game: Game) -> np.ndarray:
        """The observations in another layout of the same game, such as the one that a policy was trained on."""
        out = np.zeros((len(self), game.layout.size), np.float32)
        loops(game.definition).observe_views(self.views, game.row, self.seats, out)
        return out


@runtime_checkable
class Agent(Protocol):
    """Whatever can decide for a seat."""

    name: str

    def reset(self, seed: int) -> None:
        """Forget everything and start over from a seed in 0 … 2^64−1."""

    def act(self, decisions: Decisions) -> np.ndarray:
        """Choose an action for each decision, int64, shape `(n,)`; each must be legal."""
        ...


class KernelAgent:
    """An agent that is a kernel over views, so that compiled loops can play it without leaving them.

    Args:
        name: Its name in the catalog.
        kernel: The choice itself.
        base: The game it plays (`pig10`), or None for one that plays any game.
    """

    def __init__(self, name: str, kernel: Act, base: str | None = None) -> None:
        self.name: str = name
        self.kernel: Act = kernel
        self.base: str | None = base

    def reset(self, seed: int) -> None:
        """Nothing to forget: its chance comes with each decision."""

    def act(self, decisions: Decisions) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.zeros(len(decisions), np.int64)
        choose = player_loops(decisions.game.definition, (self.player,)).choose_actions
        choose(decisions.views, decisions.game.row, decisions.action_masks, decisions.keys, actions)
        return actions

    @property
    def player(self) -> tuple[str, Act]:
        """Name and kernel, as the compiled loops take players."""
        return self.name, self.kernel

    def __repr__(self) -> str:
        return f"KernelAgent({self.name!r})"

    def __deepcopy__(self, memo: dict[int, object]) -> KernelAgent:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        # By name: a compiled kernel belongs to its process.
        return _restore_kernel_agent, (self.name, self.base)


def _restore_kernel_agent(name: str, base: str | None) -> Agent:
    from pigenv import registry

    return find_agent(name, registry.make(base) if base else None)


def find_agent(name: str | Agent, game: Game | Definition | None = None) -> Agent:
    """An agent from its name: a catalog name (`uniform`, `pig10/careful`), a file, or `module:Class`.

    Args:
        name: The name, or an agent, which is returned as it is.
        game: The game it is to play; an agent of another game is refused.

    Raises:
        UnknownNameError: Nothing goes by that name.
        AgentError: It exists but cannot play this game, or is no agent.
    """
    if not isinstance(name, str):
        if not isinstance(name, Agent):
            raise AgentError(f"an agent must be a name, or have name, reset and act; got {name!r}")
        return name
    from importlib import import_module

    # The catalog stands above this module; it is looked up only when a name is used, so that nothing here needs it.
    found: Agent = import_module("pigenv.agents.catalog").find(name, game)
    return found


def label(agent: str | Agent) -> str:
    """How an agent is called in records and tables."""
    return agent if isinstance(agent, str) else agent.name
