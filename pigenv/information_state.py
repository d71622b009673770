"""All that a seat has seen and done since the game began: what perfect recall means, exactly.

An observation says what a seat sees now. The information state says how it came to that: every view that the seat was
ever given, one after each step of anybody, and the actions that it took itself. Two histories of a game are the same
information state of a seat if, and only if, they gave it the same views byte for byte and it acted alike. Tabular
algorithms need it; an agent that learns is better served by observations.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

__all__ = ["InformationState"]


class InformationState:
    """What one seat has seen and done; never changed, so that histories share their beginnings.

    `str(…)` is its text: for each step the seat's own action, if it was one, and the bytes of the view that changed,
    from which the views can be told again.

    Args:
        seat: Whose it is.
        view: What it knows right after the deal, a record in an array of shape `(1,)` (see `Table.view`).

    Attributes:
        steps: Steps of anybody since then.
        action: The last step's action, if the seat itself played it.
    """

    def __init__(self, seat: int, view: np.ndarray) -> None:
        self.seat = seat
        self.steps = 0
        self.action: int | None = None
        self._before: InformationState | None = None
        self._view = view.tobytes()

    def after(self, view: np.ndarray, action: int | None = None) -> InformationState:
        """The information state after one more step.

        Args:
            view: What the seat knows then.
            action: What was played, if the seat itself played it; None for a step of another.
        """
        later = object.__new__(InformationState)
        later.seat, later.steps, later.action = self.seat, self.steps + 1, action
        later._before, later._view = self, view.tobytes()
        return later

    def history(self) -> list[tuple[int | None, bytes]]:
        """For the deal and each step: the seat's own action, if it was one, and the bytes of the view after it."""
        steps, at = [], self
        while True:
            steps.append((at.action, at._view))
            if at._before is None:
                return steps[::-1]
            at = at._before

    @property
    def _part(self) -> str:
        """What the last step adds to the text."""
        if self._before is None:
            return f"seat {self.seat}{_changes(bytes(len(self._view)), self._view)}"
        own = "" if self.action is None else f"|{self.action}"
        return f"{own};{_changes(self._before._view, self._view)}"

    @cached_property
    def _text(self) -> str:
        parts, at = [], self
        while at._before is not None and "_text" not in vars(at._before):
            parts.append(at._part)
            at = at._before
        parts.append(at._part if at._before is None else at._before._text + at._part)
        return "".join(reversed(parts))

    def __str__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InformationState) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __deepcopy__(self, memo: dict[int, object]) -> InformationState:
        return self

    def __repr__(self) -> str:
        return f"InformationState(seat={self.seat}, steps={self.steps})"


def _changes(before: bytes, after: bytes) -> str:
    """The runs of bytes that differ, each with its place, in hexadecimal."""
    changed = np.flatnonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8))
    if len(changed) == 0:
        return ""
    breaks = np.flatnonzero(np.diff(changed) > 1) + 1
    starts = changed[np.concatenate(([0], breaks))].tolist()
    stops = (changed[np.concatenate((breaks - 1, [-1]))] + 1).tolist()
    return "".join(f" {start:x}:{after[start:stop].hex()}" for start, stop in zip(starts, stops, strict=True))
