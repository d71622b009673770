"""Our environments' names in the registries of Gymnasium and PettingZoo.

Done when pigenv is imported, so it imports no game and nothing compiled. Gymnasium 1 has no plugins any more: without
an import of pigenv before, `gymnasium.make("pigenv:pigenv/Pig10-v0")` names the module to import.
"""

from __future__ import annotations

import importlib
import pkgutil
from importlib import metadata

__all__ = ["register_gymnasium", "register_pettingzoo"]

ENTRY_POINTS = "pigenv.games"


def _offered() -> list[tuple[str, str, str]]:
    """Game's name, id and Gymnasium's name for it, of every environment, without importing a game."""
    package = importlib.import_module("pigenv").__path__
    versions = {i.name.rpartition("_v")[0]: i.name for i in pkgutil.iter_modules(package) if "_v" in i.name}
    for point in metadata.entry_points(group=ENTRY_POINTS):
        versions.setdefault(point.name.rpartition("_v")[0], point.name)
    rows = []
    for base, name in sorted(versions.items()):
        words = "".join(word.capitalize() for word in base.split("_"))
        rows.append((base, name, f"{words}-v{name.rpartition('_v')[2]}"))
    return rows


def register_gymnasium() -> None:
    """Make the one-seat environments known to Gymnasium as `pigenv/Pig10-v0` and so on."""
    from gymnasium.envs.registration import register, registry

    for base, _, name in _offered():
        if f"pigenv/{name}" not in registry:
            register(
                id=f"pigenv/{name}",
                entry_point="pigenv.envs.seat:SeatEnv",
                vector_entry_point="pigenv.envs.vector:SeatVectorEnv",
                kwargs={"game": base},
            )


def register_pettingzoo() -> None:
    """Make the environments known to PettingZoo's registry, in the releases that have one."""
    import pettingzoo

    if not hasattr(pettingzoo, "register"):
        return
    for name in (name for _, name, _ in _offered()):
        if f"pigenv/{name}" not in pettingzoo.aec_registry:
            pettingzoo.register("aec", f"pigenv/{name}", f"pigenv.{name}:env")
            pettingzoo.register("parallel", f"pigenv/{name}", f"pigenv.{name}:parallel_env")
