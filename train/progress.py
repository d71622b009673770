"""A live line on the terminal while something long runs."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

__all__ = ["Progress"]


class Progress:
    """A progress bar for training, on standard error; silent where that is not a terminal.

    Args:
        total_steps: Decisions to learn from.
        max_seconds: The time limit, if there is one; the bar then shows whichever is nearer its end.
        label: What the running figure is.
    """

    def __init__(self, total_steps: int, max_seconds: float | None, label: str, console: Console | None = None) -> None:
        self.total_steps: int = total_steps
        self.max_seconds: float | None = max_seconds
        self._bar = Bar(
            TextColumn("training"),
            BarColumn(bar_width=30),
            TextColumn("{task.percentage:3.0f} %"),
            TextColumn(
                "{task.fields[steps]:,} decisions, {task.fields[rate]:,.0f}/s, " + label + " {task.fields[value]:.3f}"
            ),
            TimeRemainingColumn(),
            console=console or Console(stderr=True),
            transient=False,
        )
        self._task = self._bar.add_task("training", total=1.0, steps=0, rate=0.0, value=0.0)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._bar.update(self._task, completed=1.0)
        self._bar.stop()

    def update(self, steps: int, seconds: float, value: float) -> None:
        """Say where the run stands."""
        done = steps / self.total_steps
        if self.max_seconds is not None:
            done = max(done, seconds / self.max_seconds)
        self._bar.update(
            self._task, completed=min(done, 1.0), steps=steps, rate=steps / max(seconds, 1e-9), value=value
        )
