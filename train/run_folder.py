"""The folder that a training run leaves behind: settings, versions, metrics, curve, checkpoint, and where it stands.

    run.json             settings, versions, digest of the observation layout, the command; each resumption
    metrics.jsonl        one line an update; those with a `value` are the learning curve
    tensorboard/         the same for TensorBoard
    curve.png            the learning curve
    policy.safetensors   the policy, as an agent
    state.safetensors    all that the run needs to go on: weights, optimizer, counters, random numbers, tables

Everything appears whole or not at all. A line of the metrics that was written after the last state is taken back when
the run resumes, so the curve of a run that was killed is that of one that was not.
"""

from __future__ import annotations

import dataclasses
import json
import platform
import shlex
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import numpy as np

from pigenv.agents.checkpoint import NO_HASH, seal_holds, sealed, write_whole
from pigenv.errors import MissingExtraError, OptionError, TrainingError
from pigenv.game import Game

__all__ = ["ABOUT", "CURVE", "METRICS", "POLICY", "STATE", "RunFolder", "command_line"]

PACKAGES: Final = (
    "pigenv", "numpy", "numba", "gymnasium", "torch", "stable-baselines3", "sb3-contrib", "ray", "safetensors",
)  # fmt: skip
ABOUT, METRICS, CURVE = "run.json", "metrics.jsonl", "curve.png"
POLICY, STATE = "policy.safetensors", "state.safetensors"
FORMAT: Final = "pigenv.run/1"
STATE_FORMAT: Final = "pigenv.training_state/1"
UNUSABLE: Final = (
    OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError,
)  # fmt: skip
"""What reading a damaged state may raise, or going on from one."""


class RunFolder:
    """The folder of one run: a new one, or with `resume` that of a run to go on with.

    Args:
        path: The folder; made if missing.
        game: What is trained for.
        settings: The run's settings, a dataclass.
        command: The command that made it.
        resume: Whether the run is there already.

    Raises:
        OptionError: The folder cannot be written, or holds a run already.
    """

    def __init__(self, path: Path, game: Game, settings: Any, command: str, resume: bool = False) -> None:
        self.path = path
        self.curve: list[tuple[int, float, float]] = []
        self.last_measured: int = -1
        self._lines = 0
        self._writer: Any = None
        now = {
            "command": command,
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "versions": {name: _version(name) for name in PACKAGES} | {"python": platform.python_version()},
        }
        if resume:
            about = read_about(path)
            if about["digest"] != game.digest:
                raise TrainingError(
                    f"{path}: the run was begun with another observation layout or other actions of {game.id} "
                    f"(digest {about['digest']}; here {game.digest}); begin a new one"
                )
            about["resumed"] = [*about.get("resumed", []), now]
        else:
            about = {
                "format": FORMAT,
                **now,
                "seed": settings.seed,
                "game": game.settings(),
                "layout_digest": game.layout.digest,
                "digest": game.digest,
                "settings": dataclasses.asdict(settings),
            }
            if (path / ABOUT).exists():
                raise OptionError(f"{path} holds a run already; go on with it by --resume, or choose another --out")
        try:
            path.mkdir(parents=True, exist_ok=True)
            write_whole(path / ABOUT, json.dumps(about, indent=1).encode())
            if not resume:
                write_whole(path / METRICS, b"")
        except OSError as error:
            raise OptionError(f"cannot write the run's folder {path}: {error.strerror}") from None

    @staticmethod
    def default_path(game: Game, algorithm: str) -> Path:
        """A new folder under runs/, named after the time, the game and the algorithm."""
        base = Path("runs") / f"{time.strftime('%Y%m%d-%H%M%S')}-{game.definition.base}-{algorithm}"
        path, number = base, 1
        while path.exists():
            number += 1
            path = base.with_name(f"{base.name}-{number}")
        return path

    def guard(self, name: str, write: Callable[[Path], None]) -> None:
        """Write a file of the run.

        Raises:
            TrainingError: The disk is full, or the folder cannot be written any more.
        """
        try:
            write(self.path / name)
        except OSError as error:
            last = self.path / STATE
            kept = (
                f"what was saved before in {last} is whole: go on with --resume" if last.exists() else "nothing saved"
            )
            raise TrainingError(f"cannot write {self.path / name}: {error.strerror}; {kept}") from None

    # --- where the run stands ----------------------------------------------------------------------------------------

    def save_state(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Save all that the run needs to go on, in place of what was saved before.

        Raises:
            TrainingError: It cannot be written; what was saved before is whole.
        """
        import safetensors.numpy

        described = json.dumps({**about, "lines": self._lines, "curve": self.curve})
        header = {"format": STATE_FORMAT, "sha256": NO_HASH, "about": described}
        data = safetensors.numpy.save({name: np.ascontiguousarray(each) for name, each in arrays.items()}, header)
        self.guard(STATE, lambda path: write_whole(path, sealed(data)))

    def load_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """What was saved last, metrics put back to that moment; None where nothing was.

        Raises:
            TrainingError: The file is damaged.
        """
        import safetensors

        path = self.path / STATE
        if not path.exists():
            self._put_back(0)
            return None
        try:
            with safetensors.safe_open(path, "np") as file:
                header = file.metadata() or {}
                if header.get("format") != STATE_FORMAT:
                    raise ValueError("it is not the state of a training run")
                if "sha256" in header and not seal_holds(path.read_bytes()):
                    raise ValueError("its contents do not match its SHA-256")
                about = json.loads(header["about"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            curve = [(int(steps), float(seconds), float(value)) for steps, seconds, value in about["curve"]]
            lines = int(about["lines"])
        except (*UNUSABLE, safetensors.SafetensorError) as error:
            raise TrainingError(f"{path} cannot be read: {error}; begin the run again") from None
        self.curve = curve
        self.last_measured = self.curve[-1][0] if self.curve else -1
        self._put_back(lines)
        return arrays, about

    def _put_back(self, lines: int) -> None:
        kept = (self.path / METRICS).read_bytes().splitlines(keepends=True)[:lines]
        write_whole(self.path / METRICS, b"".join(kept))
        self._lines = lines

    # --- figures -----------------------------------------------------------------------------------------------------

    def metrics(self, steps: int, seconds: float, value: float | None, **more: float) -> None:
        """Note where the run stands: one JSON line, TensorBoard's, and with a value a point of the learning curve.

        Raises:
            TrainingError: The disk is full, or the folder cannot be written any more.
        """
        line: dict[str, float] = {"steps": steps, "seconds": round(seconds, 3)}
        if value is not None:
            self.curve.append((steps, seconds, value))
            self.last_measured = steps
            line["value"] = value
        line |= {name: float(f"{figure:.6g}") for name, figure in more.items()}

        def append(path: Path) -> None:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

        self.guard(METRICS, append)
        self._lines += 1
        self.guard("tensorboard", lambda path: self._to_tensorboard(path, steps, line))

    def _to_tensorboard(self, path: Path, steps: int, line: dict[str, float]) -> None:
        if self._writer is None:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError as error:
                raise MissingExtraError("tensorboard", "train") from error
            self._writer = SummaryWriter(str(path), purge_step=steps)
        for name, figure in line.items():
            if name not in ("steps", "seconds"):
                self._writer.add_scalar(f"train/{name}", figure, steps)

    def close(self) -> None:
        """Write out what TensorBoard still holds."""
        if self._writer is not None:
            self.guard("tensorboard", lambda _: self._writer.close())

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
        part = self.path / ".curve.part.png"

        def draw(path: Path) -> None:
            figure.savefig(part, dpi=120)
            part.replace(path)

        self.guard(CURVE, draw)
        return self.path / CURVE


def read_about(path: Path) -> dict[str, Any]:
    """The `run.json` of a run.

    Raises:
        TrainingError: There is none, or it cannot be read.
    """
    try:
        about: dict[str, Any] = json.loads((path / ABOUT).read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']!r}, not {FORMAT!r}")
        for name, kind in {"settings": dict, "digest": str}.items():
            if not isinstance(about[name], kind):
                raise ValueError(f"its {name} are {about[name]!r}")
    except OSError as error:
        raise TrainingError(f"{path} is not the folder of a run: {ABOUT}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TrainingError(f"{path / ABOUT} cannot be read: {error}") from None
    return about


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def command_line() -> str:
    """The command that started this process, for a person to run again."""
    name = Path(sys.argv[0]).name
    return shlex.join(["pigenv" if name == "cli.py" else name, *sys.argv[1:]])
