"""Agents by name.

A game's own players are found by themselves: the module `pigenv.agents.<game>`, or for a game in another package the
module behind the entry point of that name in the group `pigenv.agents`, has a dict `PLAYERS` of kernels, weakest first.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from importlib import metadata
from pathlib import Path

from pigenv.agent import Agent, KernelAgent
from pigenv.agents.uniform import UNIFORM
from pigenv.errors import AgentError, UnknownNameError, closest
from pigenv.game import Act, Definition, Game

__all__ = ["find", "names"]

ENTRY_POINTS = "pigenv.agents"
CHECKPOINT_ENDING = ".safetensors"


@cache
def _players(base: str) -> dict[str, Act]:
    """The kernels of a game's hand-written players by name, weakest first; none if it has none."""
    module = f"pigenv.agents.{base}"
    for point in metadata.entry_points(group=ENTRY_POINTS):
        if point.name == base:
            module = point.value.partition(":")[0]
    if importlib.util.find_spec(module) is None:
        return {}
    players: dict[str, Act] = getattr(importlib.import_module(module), "PLAYERS", {})
    return players


def names(definition: Definition | None = None) -> list[str]:
    """The names of all agents that need no file: `uniform`, then the game's own, weakest first."""
    if definition is None:
        return [UNIFORM.name]
    return [UNIFORM.name, *(f"{definition.base}/{player}" for player in _players(definition.base))]


@cache
def _own(base: str, player: str) -> KernelAgent | None:
    kernel = _players(base).get(player)
    return None if kernel is None else KernelAgent(f"{base}/{player}", kernel, base)


def find(name: str, game: Game | Definition | None = None) -> Agent:
    """The agent of this name: from the catalog, then a file, then `module:Class`.

    Args:
        name: `uniform`, `pig10/careful`, a checkpoint's path, or `module:Class`.
        game: The game it is to play; an agent of another one is refused.

    Raises:
        UnknownNameError: There is no such agent.
        AgentError: There is, but it cannot be built, or plays another game.
        CheckpointError: It is a checkpoint that does not fit.
    """
    definition = game.definition if isinstance(game, Game) else game
    if name == UNIFORM.name:
        return UNIFORM
    base, slash, player = name.partition("/")
    if slash and (found := _own(base, player)) is not None:
        if definition is not None and definition.base != base:
            raise AgentError(f"{name} plays {base}, not {definition.base}; {closest(player, names(definition))}")
        return found
    path = Path(name)
    if path.is_file():
        if path.suffix != CHECKPOINT_ENDING:
            raise AgentError(f"{name} is no checkpoint of ours; they end in {CHECKPOINT_ENDING}")
        from pigenv.agents.checkpoint import load_checkpoint

        return load_checkpoint(path, game if isinstance(game, Game) else None)
    if ":" in name and not path.suffix:
        return _imported(name)
    raise UnknownNameError(
        f"there is no agent {name!r}; {closest(name, names(definition))}, or a checkpoint's path, or module:Class"
    )


def _imported(name: str) -> Agent:
    """An agent from anybody's module."""
    module, _, attribute = name.partition(":")
    try:
        made = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise AgentError(f"cannot build the agent {name}: {error}") from error
    if not isinstance(made, Agent):
        raise AgentError(f"{name} is no agent: it needs name, reset(seed) and act(decisions)")
    return made
