"""From nothing to a scored agent: train, score against every hand-written player, write it all down."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from pigenv import registry
from pigenv.agent import find_agent
from pigenv.evaluate.evaluation import evaluate
from pigenv.evaluate.report import print_table, write_json, write_page
from pigenv.records import play_games, write_records
from pigenv.train.config import composed
from pigenv.train.run import run

__all__ = ["demo"]

GAME: Final = "pig10"
TRAINING_SECONDS: Final = 75
ALGORITHM: Final = "ppo"
"""The one that comes furthest in the time; `pigenv.train.compare` holds them against each other."""
DEALS: Final = 1000
RECORDED_GAMES: Final = 5
RECORDED_AGAINST: Final = ("pig10/counting", "pig10/careful", "pig10/greedy")


def demo(out: Path | None, seed: int, seconds: float, deals: int, console: Console) -> dict[str, Any]:
    """Train a Pig 10 agent at a table of four, score it, and leave everything in one folder.

    Args:
        out: The folder; a new one under runs/ where None.
        seed: Of the training, the deals and the recorded games.
        seconds: How long to train.
        deals: Deals against each line-up, each played from every seat.
        console: Where the table goes.

    Returns:
        The evaluation, and under `files` where everything is.
    """
    start = time.perf_counter()
    console.print(f"Training at a table of four by self-play ({ALGORITHM}) for {seconds:g} seconds.")
    overrides = [
        f"game.name={GAME}", f"algo={ALGORITHM}", f"algo.max_seconds={seconds}", "algo.total_steps=1_000_000_000",
        "algo.eval_every=250_000", f"seed={seed}",
    ]  # fmt: skip
    folder, checkpoint = run(composed([*overrides, *([f"out={_quoted(out)}"] if out else [])]))
    trained = time.perf_counter() - start
    game = registry.make(GAME)
    console.print(f"Scoring on {deals} deals, each played from every seat, against every player of the catalog.")
    document = evaluate(find_agent(checkpoint, game), game, deals=deals, seed=seed + 1)
    records = list(play_games(game, [checkpoint, *RECORDED_AGAINST], seed=seed, games=RECORDED_GAMES))
    files = {
        "checkpoint": Path(checkpoint),
        "evaluation": folder / "evaluation.json",
        "records": folder / "games.jsonl",
        "curve": folder / "curve.png",
        "report": folder / "report.html",
    }
    write_json(document, files["evaluation"])
    write_records(files["records"], records)
    write_page(
        files["report"],
        document,
        title="Pig 10: a trained agent against the hand-written players",
        curve=_curve(folder),
        records=records,
        about={
            "training": f"{ALGORITHM} by self-play, {trained:.0f} seconds",
            "seed": seed,
            "command": f"pigenv demo --seed {seed} --seconds {seconds:g} --deals {deals}",
        },
    )
    print_table(document, console)
    console.print(f"Done in {time.perf_counter() - start:.0f} seconds. What is where:")
    for name, path in files.items():
        console.print(f"  {name:<11}{path}", highlight=False, soft_wrap=True)
    console.print("\nWatch its games, or play against it:", highlight=False)
    console.print(f"  pigenv watch {files['records']}", highlight=False, soft_wrap=True)
    console.print(f"  pigenv play pig10 --agents {files['checkpoint']}", highlight=False, soft_wrap=True)
    return {**document, "files": {name: str(path) for name, path in files.items()}}


def _curve(folder: Path) -> list[tuple[int, float]]:
    """Decisions and win share from the run's metrics."""
    import json

    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [(row["steps"], row["value"]) for row in map(json.loads, lines) if "value" in row]


def _quoted(path: Path) -> str:
    """A path as Hydra reads it, whatever characters it has."""
    return "'" + str(path).replace("\\", "\\\\").replace("'", "\\'") + "'"
