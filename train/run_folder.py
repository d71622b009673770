"""The folder that a training run leaves behind: settings, versions, metrics, curve, checkpoint."""

from __future__ import annotations

import dataclasses
import json
import platform
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from pigenv.errors import MissingExtraError, OptionError
from pigenv.game import Game

__all__ = ["RunFolder"]

PACKAGES = ("pigenv", "numpy", "numba", "gymnasium", "torch", "stable-baselines3", "sb3-contrib")


class RunFolder:
    """A new folder for one run; everything written into it appears whole or not at all.

    Args:
        path: The folder; made if missing.
        game: What is trained for.
        settings: The run's settings, a dataclass.
        command: The command that made it.

    Raises:
        OptionError: The folder cannot be written.
    """

    def __init__(self, path: Path, game: Game, settings: Any, command: str) -> None:
        self.path = path
        about = {
            "format": "pigenv.run/1",
            "command": command,
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "game": game.settings(),
            "layout_digest": game.layout.digest,
            "digest": game.digest,
            "settings": dataclasses.asdict(settings),
            "versions": {name: _version(name) for name in PACKAGES} | {"python": platform.python_version()},
        }
        try:
            path.mkdir(parents=True, exist_ok=True)
            self.write("run.json", json.dumps(about, indent=1))
            (path / "metrics.jsonl").write_text("")
        except OSError as error:
            raise OptionError(f"cannot write the run's folder {path}: {error.strerror}") from None
        self.curve: list[tuple[int, float, float]] = []

    @staticmethod
    def default_path(game: Game, algorithm: str) -> Path:
        """A new folder under runs/, named after the time, the game and the algorithm."""
        base = Path("runs") / f"{time.strftime('%Y%m%d-%H%M%S')}-{game.definition.base}-{algorithm}"
        path, number = base, 1
        while path.exists():
            number += 1
            path = base.with_name(f"{base.name}-{number}")
        return path

    def write(self, name: str, text: str) -> Path:
        """Write a text file whole."""
        target = self.path / name
        part = target.with_name(f".{name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(target)
        return target

    def metrics(self, steps: int, seconds: float, value: float, **more: float) -> None:
        """Note where the run stands: one JSON line, and a point of the learning curve."""
        self.curve.append((steps, seconds, value))
        line = {"steps": steps, "seconds": round(seconds, 3), "value": value, **more}
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def draw_curve(self, label: str, chance: float | None) -> Path | None:
        """The learning curve as a picture; None where there is nothing to draw yet."""
        if not self.curve:
            return None
        try:
            import matplotlib
        except ImportError as error:
            raise MissingExtraError("matplotlib", "train") from error
        matplotlib.use("Agg", force=False)
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        axes.plot([row[0] for row in self.curve], [row[2] for row in self.curve], color="#0072B2", label=label)
        if chance is not None:
            axes.axhline(chance, color="#555555", linestyle="--", label="chance")
        axes.set_xlabel("decisions learned from")
        axes.set_ylabel(label)
        axes.legend()
        axes.grid(alpha=0.3)
        target = self.path / "curve.png"
        part = self.path / ".curve.part.png"
        figure.savefig(part, dpi=120)
        part.replace(target)
        return target


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def command_line() -> str:
    """The command that started this process, for a person to run again."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
