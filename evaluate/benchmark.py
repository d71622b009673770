"""The standing benchmark: a fixed protocol, one result for an agent and a game, and the table of results.

The protocol (`pigenv/configs/benchmark/standing.yaml`) fixes seed, deals, table sizes, line-ups and opponents of each
game. A result holds the digest of what was played, so that results of another version are not mixed in.

The score of a result is the mean, over all tables and line-ups, of

    (n · w − 1) / (n − 1)        w the win share of the agent's one place among n

which is its mean return under the reward "win": 1 for winning everything, 0 for chance, −1/(n−1) for nothing. The
interval of the score has the means of the line-ups' ends. That is no narrower than 95 %: line-ups err independently, or
together at worst.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pigenv import registry
from pigenv.agent import Agent
from pigenv.errors import MissingExtraError, OptionError, UnknownNameError, closest
from pigenv.evaluate.charts import percent
from pigenv.evaluate.evaluation import HALF, evaluate, rounded, stamp
from pigenv.evaluate.match import Progress
from pigenv.evaluate.report import game_name, render

__all__ = [
    "FORMAT",
    "benchmark",
    "file_name",
    "games",
    "leaderboard",
    "own_agents",
    "print_leaderboard",
    "protocol",
    "read_result",
    "write_leaderboard_page",
]

FORMAT: Final = "pigenv.benchmark/1"
_TIME: Final = "timing"


def protocol(game: str) -> dict[str, Any]:
    """What the standing benchmark plays at a game: `version`, `seed`, `deals`, `line_ups`, `opponents`, `tables`.

    Raises:
        UnknownNameError: It has no section for this game.
        MissingExtraError: PyYAML is not installed.
    """
    sections = _sections()
    base = registry.definition(game).base
    if base not in sections["games"]:
        raise UnknownNameError(f"the benchmark has no section for {base}; {closest(base, sections['games'])}")
    found: dict[str, Any] = {"seed": sections["seed"], **sections["games"][base]}
    if HALF in found["line_ups"]:
        raise OptionError("the benchmark's score is of a single place; its line_ups are lone and mixed")
    return found


def _sections() -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("pyyaml", "evaluate") from None
    text = resources.files("pigenv.configs").joinpath("benchmark", "standing.yaml").read_text(encoding="utf-8")
    library: Any = yaml  # it has no types of its own
    found: dict[str, Any] = library.safe_load(text)
    return found


def games() -> list[str]:
    """The games that the benchmark has a section for and that are installed."""
    return [name for name in _sections()["games"] if name in registry.names()]


def _digest(played: Mapping[str, Any]) -> str:
    """A short name for a protocol."""
    return hashlib.sha256(json.dumps(played, sort_keys=True).encode()).hexdigest()[:16]


def benchmark(
    agent: Agent | str,
    game: str,
    progress: Progress | None = None,
    *,
    workers: int | None = None,
    expect: Callable[[int | None], None] | None = None,
    tables: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Play the standing benchmark with an agent.

    Args:
        agent: The agent, or its name.
        game: The game's name.
        progress: Called with the number of games done so far.
        workers: See `pigenv.evaluate.evaluation.evaluate`.
        expect: Likewise, called for each table anew.
        tables: Which of the protocol's tables to play; all where None. A result of some has no score.

    Returns:
        The result: `agent`, `game`, `protocol` (with `digest`), `score`, `score_ci`, and by table under `tables` the
        game's settings, the `results` of `evaluate` and the `forfeits`; versions, and all about time under `timing`.

    Raises:
        UnknownNameError, AgentError, CheckpointError: The game has no section, or an agent cannot be found.
    """
    played = protocol(game)
    wanted = range(len(played["tables"])) if tables is None else tables
    found, seconds, done, workers_used = [], [], 0, 1
    for number in wanted:
        table = registry.make(game, **played["tables"][number])
        told = None if progress is None else _after(progress, done)
        document = evaluate(
            agent, table, played["opponents"], played["deals"], played["seed"], told,
            line_ups=played["line_ups"], workers=workers, expect=expect,
        )  # fmt: skip
        seconds.append(document[_TIME]["seconds"])
        workers_used = document[_TIME]["workers"]
        done += sum(entry["games"] for entry in document["results"])
        found.append({name: document[name] for name in ("game", "observation", "results", "forfeits")})
    result = {
        "format": FORMAT,
        "agent": agent if isinstance(agent, str) else agent.name,
        "game": registry.definition(game).id,
        "protocol": {**played, "digest": _digest(played)},
        **(_scored(found) if tables is None else {}),
        "tables": found,
    }
    return {**result, **stamp(sum(seconds), workers_used)}


def _after(progress: Progress, done: int) -> Progress:
    return lambda more: progress(done + more)


def _scored(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    entries = [entry for table in tables for entry in table["results"]]

    def scaled(entry: Mapping[str, Any], share: float) -> float:
        n = int(entry["num_players"])
        return (n * share - 1.0) / (n - 1.0)

    means = np.mean(
        [[scaled(entry, share) for share in (entry["win_share"], *entry["win_share_ci"])] for entry in entries], axis=0
    )
    return {"score": rounded(means[0]), "score_ci": [rounded(means[1]), rounded(means[2])]}


def file_name(agent: str, game: str) -> str:
    """What the file of a result is called: `pig10_v0--pig10-greedy.json`."""
    return f"{game}--{re.sub(r'[^A-Za-z0-9._]+', '-', agent).strip('-.') or 'agent'}.json"


# --- the table of results ---------------------------------------------------------------------------------------------


def read_result(path: str | Path) -> dict[str, Any]:
    """A result from its file.

    Raises:
        OptionError: The file cannot be read, or is no whole result of the benchmark.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise OptionError(f"{path}: not JSON: {error}") from None
    try:
        good = found["format"] == FORMAT and isinstance(found["agent"], str)
        good = good and found["protocol"]["digest"] == _digest(
            {k: v for k, v in found["protocol"].items() if k != "digest"}
        )
        good = good and _scored(found["tables"]) == {name: found[name] for name in ("score", "score_ci")}
        if good:
            # All that a table of results shows must be there.
            print_leaderboard(leaderboard([found]), Console(file=io.StringIO()))
    except OptionError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        good = False
    if not good:
        raise OptionError(f"{path}: not a whole result of the benchmark ({FORMAT}), or changed by hand")
    result: dict[str, Any] = found
    return result


def leaderboard(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The results by game, best score first.

    Returns:
        Under `games` for each: `game`, `protocol` and `rows` with `rank`, `agent`, `score`, `score_ci`, `win_shares`
        (against all opponents at one table, by table), `illegal` and `truncated`. Agents whose intervals overlap with
        that of the rank's first share its rank.

    Raises:
        OptionError: There is no result, one agent has two for a game, or they are of different versions.
    """
    if not results:
        raise OptionError("a leaderboard needs at least one result; got none")
    by_game: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        by_game.setdefault(result["game"], []).append(result)
    listed = []
    for name, found in sorted(by_game.items()):
        digests = {result["protocol"]["digest"]: result["agent"] for result in found}
        if len(digests) > 1:
            told = ", ".join(f"{agent} by {digest}" for digest, agent in digests.items())
            raise OptionError(f"results of {name} are of different versions of the benchmark: {told}; run it again")
        agents = [result["agent"] for result in found]
        if twice := {agent for agent in agents if agents.count(agent) > 1}:
            raise OptionError(f"there are two results of {', '.join(sorted(twice))} at {name}; keep one")
        rows = [_row(result) for result in sorted(found, key=lambda each: (-each["score"], each["agent"]))]
        first = rows[0]
        for place, row in enumerate(rows, 1):
            if row["score_ci"][1] < first["score_ci"][0] or place == 1:
                first, row["rank"] = row, place
            else:
                row["rank"] = first["rank"]
        listed.append({"game": name, "protocol": dict(found[0]["protocol"]), "rows": rows})
    return {"format": "pigenv.leaderboard/1", "games": listed}


def _row(result: Mapping[str, Any]) -> dict[str, Any]:
    entries = [table["results"] for table in result["tables"]]
    return {
        "rank": 0,
        "agent": result["agent"],
        "score": result["score"],
        "score_ci": result["score_ci"],
        "win_shares": [
            {"num_players": each[-1]["num_players"], "win_share": each[-1]["win_share"]} for each in entries
        ],
        "illegal": sum(entry["illegal"] for table in entries for entry in table),
        "truncated": sum(entry["truncated"] for table in entries for entry in table),
    }


def print_leaderboard(board: Mapping[str, Any], console: Console) -> None:
    """Print a table for each game."""
    for game in board["games"]:
        table = Table(
            title=Text(_heading(game)), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
        )
        table.add_column("rank", justify="right")
        table.add_column("agent", overflow="fold")
        for head in ("score", "95 %", *(f"{each['num_players']} seats" for each in game["rows"][0]["win_shares"])):
            table.add_column(head, justify="right", no_wrap=True)
        for row in game["rows"]:
            table.add_row(str(row["rank"]), Text(row["agent"]), *_cells(row))
        console.print(table)


def write_leaderboard_page(path: str | Path, board: Mapping[str, Any], *, title: str) -> None:
    """Write the leaderboard as one HTML page that loads nothing from anywhere.

    Raises:
        MissingExtraError: Jinja2 is not installed.
        OptionError: The file cannot be written.
    """
    games_shown = [
        {
            "heading": _heading(game),
            "sizes": [each["num_players"] for each in game["rows"][0]["win_shares"]],
            "rows": [
                {
                    "rank": row["rank"],
                    "agent": row["agent"],
                    "cells": _cells(row),
                    "illegal": f"{row['illegal']:,}",
                    "truncated": f"{row['truncated']:,}",
                }
                for row in game["rows"]
            ],
            "opponents": ", ".join(game["protocol"]["opponents"]),
        }
        for game in board["games"]
    ]
    render(
        path,
        "leaderboard.html.j2",
        title=title,
        heading="Results of the standing benchmark",
        games=games_shown,
        about={"results": "pigenv benchmark", "this page": "pigenv leaderboard results/*.json --out page.html"},
        facts={},
        rules={},
        forfeits=[],
    )


def _heading(game: Mapping[str, Any]) -> str:
    played = game["protocol"]
    sizes = ", ".join(str(table["num_players"]) for table in played["tables"])
    name = game_name({"game": {"game": game["game"]}})
    return f"{name}, benchmark version {played['version']}: {played['deals']:,} deals at tables of {sizes}"


def _cells(row: Mapping[str, Any]) -> list[str]:
    low, high = row["score_ci"]
    shares = [percent(each["win_share"]) for each in row["win_shares"]]
    return [f"{row['score']:.3f}", f"{low:.3f} – {high:.3f}", *shares]


def own_agents(game: str) -> list[str]:
    """The agents that come with the suite for a game."""
    from pigenv.agents import catalog

    return catalog.names(registry.definition(game))
