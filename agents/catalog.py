"""Which agents there are, and how one is found by its name.

A name is, in this order: `uniform`; `search` or `flat`, with settings after a colon (see `pigenv.agents.search`);
`game/player`, a hand-written player of a game; `game/trained`, the policy that comes with it; the path of a checkpoint,
with `:sample` after it for one that draws its actions, or of an SB3 archive or ONNX file; `module:Class`, anybody's own
agent.

Hand-written players are found by themselves: those of the game `pig10` are the `PLAYERS` of the module
`pigenv.agents.pig10`, and those of a game in another package the `PLAYERS` of the module that its entry point of the
group `pigenv.agents` names (`name = "their.players"`). Its `SEARCH_DEPTH`, if it has one, is after how many decisions
searches break off their playouts at this game.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from copy import copy
from functools import cache
from importlib import import_module, metadata
from importlib.machinery import PathFinder
from importlib.util import find_spec
from os.path import isfile as is_file  # unlike pathlib's, false for a name that no file could have
from pathlib import Path
from types import ModuleType
from typing import Final, cast

from pigenv import registry
from pigenv.agent import Agent, KernelAgent
from pigenv.agents import search
from pigenv.agents.checkpoint import SAMPLE, SUFFIX, PolicyAgent, load_checkpoint
from pigenv.agents.foreign import ONNX, SB3, ForeignAgent, load_onnx, load_sb3
from pigenv.agents.uniform import UNIFORM
from pigenv.errors import AgentError, CheckpointError, UnknownNameError, closest
from pigenv.game import Act, Definition, Game

__all__ = ["PRETRAINED", "TRAINED", "find", "names", "players"]

ENTRY_POINTS: Final = "pigenv.agents"
TRAINED: Final = "trained"
_PACKAGE: Final = "pigenv.agents"
PRETRAINED: Final = Path(__file__).resolve().parent / "pretrained"
"""The folder of the policies that come with the suite: checkpoints named after their games, a card beside each."""


def names(game: Game | Definition | None = None) -> list[str]:
    """The names of the agents that come with the suite, weakest first: of one game, or of all.

    A trained policy is named where it can play: of a `Game`, at that table.
    """
    games = registry.definitions() if game is None else [_definition(game)]
    found = [UNIFORM.name]
    for each in games:
        found += [f"{each.base}/{player}" for player in players(each.base)]
        if is_file(_trained_path(each)) and (not isinstance(game, Game) or _can_play(each, game)):  # noqa: PTH113
            found.append(f"{each.base}/{TRAINED}")
    return found


def find(name: str, game: Game | Definition | None = None) -> Agent:
    """The agent of a name.

    Hand-written players and policies hold no state, and the same name gives the same or an equal one. A class is
    instantiated each time, so that what it remembers at one table is not mixed up with another.

    Args:
        name: See above.
        game: The game it is to play; None to take an agent of any game.

    Raises:
        UnknownNameError: Nothing goes by that name.
        AgentError: It is an agent of another game, or no agent.
        CheckpointError: It is a file, but no checkpoint that can play this game.
    """
    if name == UNIFORM.name:
        return UNIFORM
    if search.is_search(name):
        return search.made(name, lambda playout: find(playout, game))
    base, slash, player = name.partition("/")
    if slash and player in players(base):
        return _hand_written(base, player, game)
    if slash and player.removesuffix(SAMPLE) == TRAINED and base in registry.names():
        trained = _trained_path(registry.definition(base))
        if is_file(trained):  # noqa: PTH113
            return _trained(name, trained, game)
    path = name.removesuffix(SAMPLE)
    if is_file(path):  # noqa: PTH113
        return _policy(path, name != path, game)
    module, colon, attribute = name.partition(":")
    if colon and attribute.isidentifier() and _exists(module):
        return _own(name, module, attribute)
    hint = closest(name, names(game))
    others = "search:sims=1000, the path of a checkpoint, or module:Class"
    raise UnknownNameError(f"there is no agent {name!r}; {hint}, {others}")


def _definition(game: Game | Definition) -> Definition:
    return game.definition if isinstance(game, Game) else game


# --- hand-written players ---------------------------------------------------------------------------------------------


def _module(base: str) -> ModuleType | None:
    """The module with the players of a game, or None."""
    if not base.isidentifier():
        return None
    own = f"{_PACKAGE}.{base}"
    if base in registry.names() and find_spec(own):
        return import_module(own)
    found: ModuleType | None = None
    for point in metadata.entry_points(group=ENTRY_POINTS, name=base):
        found = point.load()
    return found


@cache
def players(base: str) -> Mapping[str, Act]:
    """The hand-written players of a game (`pig10`), weakest first; none where there are none."""
    module = _module(base)
    return {} if module is None else module.PLAYERS


@cache
def search_depth(base: str) -> int:
    """The decisions after which playouts at a game are broken off; 0, never, where its players say nothing."""
    return int(getattr(_module(base), "SEARCH_DEPTH", 0))


def best(game: Game | Definition) -> str:
    """The name of a game's best hand-written player; `uniform` where it has none."""
    base = _definition(game).base
    return f"{base}/{list(players(base))[-1]}" if players(base) else UNIFORM.name


@cache
def _player(base: str, player: str) -> KernelAgent:
    return KernelAgent(f"{base}/{player}", players(base)[player], base)


def _hand_written(base: str, player: str, game: Game | Definition | None) -> Agent:
    """A player of a game, which must be the one wanted."""
    if game is not None and _definition(game).base != base:
        wanted = _definition(game)
        raise AgentError(f"{base}/{player} plays {base}, not {wanted.base}; valid here: {', '.join(names(wanted))}")
    return _player(base, player)


# --- files ------------------------------------------------------------------------------------------------------------

_policies: dict[
    tuple[str, Definition | None], tuple[tuple[int, int], PolicyAgent | ForeignAgent]
] = {}  # with time and size of the file


def _loaded(path: str, wanted: Definition | None, sample: bool) -> PolicyAgent | ForeignAgent:
    """The policy in a file, by the file's suffix."""
    suffix = Path(path).suffix.lower()
    if suffix in (SB3, ONNX):
        if sample:
            raise CheckpointError(f"{path}: only checkpoints can draw their actions; leave out {SAMPLE!r}")
        return load_sb3(path) if suffix == SB3 else load_onnx(path)
    return load_checkpoint(path, wanted, sample)


def _policy(path: str, sample: bool, game: Game | Definition | None) -> Agent:
    """The policy in a file, read again if the file has changed."""
    about = Path(path).stat()
    stamp = (about.st_mtime_ns, about.st_size)
    wanted = None if game is None else _definition(game)
    key = (f"{path}{SAMPLE}" if sample else path, wanted)
    if key not in _policies or _policies[key][0] != stamp:
        _policies[key] = (stamp, _loaded(path, wanted, sample))
    agent = _policies[key][1]
    if isinstance(game, Game):
        agent.check(game)
    return agent


def _trained_path(definition: Definition) -> Path:
    """Where the policy that comes with a game lies, if there is one for its version."""
    return PRETRAINED / f"{definition.id}{SUFFIX}"


def _trained(name: str, path: Path, game: Game | Definition | None) -> Agent:
    """The policy that comes with a game, under its name in the catalog."""
    return _renamed(cast(PolicyAgent, _policy(str(path), name.endswith(SAMPLE), game)), name)


@cache
def _renamed(agent: PolicyAgent, name: str) -> PolicyAgent:
    other = copy(agent)
    other.name = name
    return other


def _can_play(definition: Definition, table: Game) -> bool:
    try:
        _policy(str(_trained_path(definition)), False, table)
    except CheckpointError:
        return False
    return True


# --- anybody's own ----------------------------------------------------------------------------------------------------


def _own(name: str, module: str, attribute: str) -> Agent:
    """An agent of somebody's own class, from a module that can be imported here or stands in the current folder."""
    try:
        made: object = getattr(_imported(module), attribute)()
    except Exception as error:
        # Whatever somebody else's code raises, the reader of the message wants to know where and what.
        raise AgentError(f"agent {name!r} cannot be made: {type(error).__name__}: {error}") from error
    lacking = [each for each in ("name", "reset", "act") if not hasattr(made, each)]
    if not isinstance(made, Agent):
        raise AgentError(f"agent {name!r} must have name, reset and act; it lacks {' and '.join(lacking)}")
    return made


def _imported(module: str) -> ModuleType:
    """A module; a command started from its own script does not look into the current folder by itself."""
    here = str(Path.cwd())
    if here in sys.path or "" in sys.path:
        return import_module(module)
    sys.path.insert(0, here)
    try:
        return import_module(module)
    finally:
        sys.path.remove(here)


def _exists(module: str) -> bool:
    """Whether the first part of a module's name can be imported here or stands in the current folder."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        return False
    return parts[0] in sys.modules or find_spec(parts[0]) is not None or _stands_here(parts[0])


def _stands_here(module: str) -> bool:
    return PathFinder.find_spec(module, [str(Path.cwd())]) is not None
