"""An observation as a list of named parts, from which its size, slices and documentation follow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Layout", "Part"]


@dataclass(frozen=True)
class Part:
    """One named stretch of an observation.

    Attributes:
        name: What it is, in the words of the glossary.
        size: How many numbers it takes.
        meaning: What each number says, and what 0 and 1 mean.
    """

    name: str
    size: int
    meaning: str


@dataclass(frozen=True)
class Layout:
    """The parts of an observation, in order. Every number is a float32 in [0, 1]."""

    parts: tuple[Part, ...]

    @cached_property
    def size(self) -> int:
        """How many numbers an observation has."""
        return sum(part.size for part in self.parts)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where each part lies: `observation[layout.slices["hand"]]`."""
        return {name: slice(start, stop) for name, start, stop, _ in self.rows()}

    def rows(self) -> Iterator[tuple[str, int, int, str]]:
        """Name, first index, index after the last, and meaning of each part, for a table in the documentation."""
        start = 0
        for part in self.parts:
            yield part.name, start, start + part.size, part.meaning
            start += part.size

    @cached_property
    def digest(self) -> str:
        """A short name for exactly this layout; a checkpoint trained on another one is refused."""
        described = json.dumps([[part.name, part.size] for part in self.parts])
        return hashlib.sha256(described.encode()).hexdigest()[:16]
