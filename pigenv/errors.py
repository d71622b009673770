"""Every exception of the project.

Each is also a `ValueError` or a `RuntimeError`, so that calling code need not import ours. A message says what was
expected, what came, and what to do about it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "AgentError",
    "CheckpointError",
    "DealError",
    "IllegalActionError",
    "MissingExtraError",
    "OptionError",
    "PigenvError",
    "RecordError",
    "SeedError",
    "TrainingError",
    "UnknownNameError",
    "UnsupportedVersionError",
    "UsageError",
    "closest",
    "one_of",
]


class PigenvError(Exception):
    """Anything this project raises on purpose."""


class OptionError(PigenvError, ValueError):
    """An option has an unknown name, an unusable value, or contradicts another one."""


class UnknownNameError(PigenvError, ValueError):
    """No game, preset, agent or file goes by that name."""


class SeedError(PigenvError, ValueError):
    """A seed is not an integer in 0 … 2^64−1."""


class DealError(PigenvError, ValueError):
    """A deal given by hand is not one that the rules allow."""


class IllegalActionError(PigenvError, ValueError):
    """An action is no action of the game, or not legal now. The state is what it was."""


class UsageError(PigenvError, RuntimeError):
    """Calls came in an order that makes no sense, such as a step before the first reset."""


class RecordError(PigenvError, ValueError):
    """A record cannot be read, or does not replay."""


class CheckpointError(PigenvError, ValueError):
    """A checkpoint cannot be read, or was made for another game, version, rules or observation layout."""


class AgentError(PigenvError, RuntimeError):
    """An agent cannot be built, or did not answer as an agent must."""


class TrainingError(PigenvError, RuntimeError):
    """A training run cannot go on, or cannot be taken up again. What it saved last is whole."""


class MissingExtraError(PigenvError, ImportError):
    """A part of the project needs a package that the light core does not bring."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is needed here and is not installed; get it with: pip install 'pigenv[{extra}]'")


class UnsupportedVersionError(PigenvError, ImportError):
    """A package is installed in a release that is known not to work here."""

    def __init__(self, package: str, found: str, at_least: str, because: str) -> None:
        super().__init__(
            f"{package} {found} is known not to work here: {because}; "
            f"get a newer one with: pip install '{package}>={at_least}'"
        )


def closest(name: object, names: Iterable[str]) -> str:
    """The tail of an error about an unknown name: the nearest valid one, and all of them."""
    known = list(names)
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}Valid: {', '.join(known) if known else 'none'}"


def one_of(value: object, names: Iterable[str]) -> bool:
    """Whether a value is one of these names; what is no text, such as an array, is none and is not compared."""
    return isinstance(value, str) and value in names
