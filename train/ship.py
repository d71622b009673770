"""Put a run's policy among those that come with the suite, with a card: where it comes from and what it is worth.

python -m pigenv.train.ship runs/…
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from pigenv import registry
from pigenv.agents.catalog import PRETRAINED, TRAINED
from pigenv.agents.checkpoint import SUFFIX, PolicyAgent, load_checkpoint, write_whole
from pigenv.evaluate.evaluation import evaluate, verdict
from pigenv.train.run_folder import POLICY, read_about
from pigenv.train.score import strongest
from pigenv.train.tables import table_sizes

__all__ = ["card", "ship"]

SEED = 2**62 + 1
"""Of the deals that a policy is scored on: none that it was trained on or picked by."""


def ship(run: Path, deals: int, folder: Path = PRETRAINED) -> dict[str, Any]:
    """Score a run's policy at every table size it plays at, and copy it and its card into a folder.

    Args:
        run: The run's folder.
        deals: Deals at each table size, each played from every seat.
        folder: Where to.

    Returns:
        The card.

    Raises:
        TrainingError, CheckpointError: The folder holds no run, or no policy.
    """
    agent = load_checkpoint(run / POLICY)
    about = card(agent, read_about(run), deals)
    folder.mkdir(exist_ok=True)
    write_whole(folder / f"{agent.game.id}{SUFFIX}", (run / POLICY).read_bytes())
    write_whole(folder / f"{agent.game.id}.json", (json.dumps(about, indent=1) + "\n").encode())
    return about


def card(agent: PolicyAgent, about: dict[str, Any], deals: int) -> dict[str, Any]:
    """What there is to know of a policy: its command, seed, hours, and results against the strongest player."""
    game = agent.game
    name = f"{game.definition.base}/{TRAINED}"
    results = []
    for sized in table_sizes(game):
        table = registry.make(game.definition, num_players=sized.num_players, rules=game.rules)
        (entry,) = evaluate(agent, table, against=strongest(table), deals=deals, seed=SEED)["results"]
        kept = ("against", "num_players", "deals", "win_share", "win_share_ci", "chance", "mean_score", "illegal")
        results.append({**{each: entry[each] for each in kept}, "verdict": verdict(entry)})
    return {
        "name": name,
        "game": game.settings(),
        "command": _without_out(about["command"]),
        "seed": about["seed"],
        "algorithm": agent.about["algorithm"],
        "decisions": agent.about["steps"],
        "hours": round(agent.about["seconds"] / 3600, 2),
        "layers": agent.about["layers"],
        "versions": about["versions"],
        "results": results,
    }


def _without_out(command: str) -> str:
    """A run's command without the folder that it was to write into."""
    words = [word for word in shlex.split(command) if not word.startswith("out=")]
    if "--out" in words:
        place = words.index("--out")
        del words[place : place + 2]
    if Path(words[0]).name == "cli.py":
        words[0] = "pigenv"
    return shlex.join(words)


def main(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    deals: Annotated[int, typer.Option(help="Deals at each table size.")] = 2000,
) -> None:
    """Ship a run's policy, and print its results."""
    for entry in ship(run, deals)["results"]:
        low, high = entry["win_share_ci"]
        typer.echo(
            f"{entry['num_players']} seats, against {entry['against']}: {entry['win_share']:.1%} "
            f"({low:.1%} – {high:.1%}), chance {entry['chance']:.1%}: {entry['verdict']}"
        )


if __name__ == "__main__":
    typer.run(main)
