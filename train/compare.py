"""Runs of several algorithms held against each other: win share against wall clock, as a picture.

python -m pigenv.train.compare pig10 --seconds 120        trains each in turn on this machine, then draws
python -m pigenv.train.compare --runs runs/a,runs/b       draws runs that there are
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from pigenv.errors import MissingExtraError, OptionError
from pigenv.train.config import composed
from pigenv.train.run import run
from pigenv.train.run_folder import METRICS, read_about

__all__ = ["curve_of", "draw", "train_all"]

MEASUREMENTS: Final = 30  # of the win share, about, in each run
DECISIONS_A_SECOND: Final = {"ppo": 50_000, "dmc": 100_000, "maskable_ppo": 10_000}
"""Of a middling machine: only for how often the win share is measured. `rllib` is for more than one machine."""


def train_all(
    game: str, seconds: float, out: Path, seed: int = 0, algorithms: Sequence[str] = tuple(DECISIONS_A_SECOND)
) -> None:
    """Train with each algorithm for as long, one after another, each in a folder of its own under `out`."""
    for name in algorithms:
        every = max(1, int(seconds * DECISIONS_A_SECOND[name] / MEASUREMENTS))
        settings = [f"algo={name}", f"game.name={game}", f"algo.max_seconds={seconds}", f"algo.eval_every={every}"]
        config = composed([*settings, "algo.total_steps=1_000_000_000", f"seed={seed}"])
        config.out = str(out / name)
        run(config)


def curve_of(folder: Path) -> tuple[str, list[tuple[float, float]]]:
    """A run's algorithm, and its seconds and win shares.

    Raises:
        TrainingError: The folder holds no run.
    """
    about: dict[str, Any] = read_about(folder)
    rows = [json.loads(line) for line in (folder / METRICS).read_text(encoding="utf-8").splitlines()]
    return about["settings"]["algo"]["name"], [(row["seconds"], row["value"]) for row in rows if "value" in row]


def draw(folders: Sequence[Path], path: Path) -> None:
    """Draw the win shares of runs against the wall clock, and the chance level, into a PNG file.

    Raises:
        OptionError: There is nothing to draw, or the runs are of several games or table sizes.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "train") from error
    games = {(about["game"]["game"], about["game"]["num_players"]) for about in map(read_about, folders)}
    if len(games) != 1:
        raise OptionError(f"runs of one game and table size can be compared; got {sorted(games) or 'none'}")
    ((game, players),) = games
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for folder in folders:
        name, curve = curve_of(folder)
        axes.plot(*zip(*curve, strict=True), label=name)
    axes.axhline(1 / players, color="#555555", linestyle="--", label="chance")
    axes.set(xlabel="seconds", ylabel="win share", title=f"{game}, {players} seats")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main(
    game: Annotated[str | None, typer.Argument(help="The game to train for.")] = None,
    seconds: Annotated[float, typer.Option(help="How long each algorithm trains.")] = 120,
    runs: Annotated[str | None, typer.Option(help="Folders of runs that there are, with commas between them.")] = None,
    out: Annotated[Path, typer.Option(help="The folder for runs and picture.")] = Path("runs/compare"),
    seed: Annotated[int, typer.Option(help="Of the runs.")] = 0,
) -> None:
    """Compare algorithms on the same machine."""
    if (game is None) == (runs is None):
        raise typer.BadParameter("give a game to train for, or --runs")
    folders = [Path(each) for each in runs.split(",")] if runs else [out / name for name in DECISIONS_A_SECOND]
    if game is not None:
        train_all(game, seconds, out, seed)
    out.mkdir(parents=True, exist_ok=True)
    draw(folders, out / "compare.png")
    typer.echo(f"written to {out / 'compare.png'}")


if __name__ == "__main__":
    typer.run(main)
