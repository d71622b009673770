"""Which games there are, and how one is made from its name.

A game is found by itself: each file in `pigenv/games/` is one, and so is each entry point of the group `pigenv.games`
that another package offers (`name_v0 = "their.module:DEFINITION"`).
"""

from __future__ import annotations

import copyreg
import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any

from pigenv.errors import UnknownNameError, closest
from pigenv.game import Definition, Game, Rules

__all__ = ["definition", "definitions", "make", "names"]

ENTRY_POINTS = "pigenv.games"
_PACKAGE = "pigenv.games"


@cache
def _sources() -> dict[str, str]:
    """Where each game is defined, as `module:attribute` by its name without version. Imports no game."""
    folder = importlib.import_module(_PACKAGE).__path__
    found = {info.name: f"{_PACKAGE}.{info.name}:DEFINITION" for info in pkgutil.iter_modules(folder)}
    for point in metadata.entry_points(group=ENTRY_POINTS):
        found.setdefault(point.name.rpartition("_v")[0] or point.name, point.value)
    return dict(sorted(found.items()))


def names() -> list[str]:
    """The games' names without versions, as typed on the command line: `pig10`."""
    return list(_sources())


@cache
def _load(base: str) -> Definition:
    module, _, attribute = _sources()[base].partition(":")
    found: Definition = getattr(importlib.import_module(module), attribute or "DEFINITION")
    return found


def definition(name: str | Definition) -> Definition:
    """The game of this name, with version (`pig10_v0`) or without.

    Raises:
        UnknownNameError: There is none.
    """
    if isinstance(name, Definition):
        return name
    base = str(name)
    if base not in _sources() and "_v" in base:
        base = base.rpartition("_v")[0]
    if base not in _sources():
        raise UnknownNameError(f"there is no game {name!r}; {closest(name, names())}")
    found = _load(base)
    if name not in (found.base, found.id):
        raise UnknownNameError(f"there is no game {name!r}; this version of pigenv has {found.id}")
    return found


def definitions() -> list[Definition]:
    """Every game there is."""
    return [definition(name) for name in names()]


def make(
    game: str | Definition | Game,
    num_players: int | None = None,
    preset: str | None = None,
    rules: Mapping[str, Any] | Rules | None = None,
    memory: bool = True,
    max_players: int | None = None,
    reward: str = "win",
) -> Game:
    """A game at a table. See `Game` for the arguments; a `Game` is returned as it is.

    Raises:
        UnknownNameError: There is no such game.
        OptionError: An option is unknown, unusable, or contradicts another one.
    """
    if isinstance(game, Game):
        return game
    return Game(
        definition(game),
        num_players=num_players,
        preset=preset,
        rules=rules,
        memory=memory,
        max_players=max_players,
        reward=reward,
    )


# A copy of a game in another process is made from its name there, so that it uses that process's compiled kernels.
copyreg.pickle(Game, lambda game: (_restore, (game.preset, game.settings())))  # type: ignore[arg-type]


def _restore(preset: str, settings: dict[str, Any]) -> Game:
    return make(preset=preset, **settings)
