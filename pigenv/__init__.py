"""pigenv: Pig 10, Pig's Tail and Pig Pile as reinforcement-learning environments.

    from pigenv import pig10_v0

    env = pig10_v0.env(num_players=4)

Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pigenv.registration import register_gymnasium, register_pettingzoo

__version__ = "0.1.0"

register_gymnasium()
register_pettingzoo()

_LAZY = {
    "Agent": "pigenv.agent",
    "Decisions": "pigenv.agent",
    "Game": "pigenv.game",
    "find_agent": "pigenv.agent",
    "make": "pigenv.registry",
    "pig10_v0": "",
    "pig_pile_v0": "",
}
# pyright: reportUnsupportedDunderAll=false
# (found on demand by __getattr__)
__all__ = ["Agent", "Decisions", "Game", "__version__", "find_agent", "make", "pig10_v0", "pig_pile_v0"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'pigenv' has no attribute {name!r}")
    home = _LAZY[name]
    return getattr(import_module(home), name) if home else import_module(f"pigenv.{name}")
