"""What came of a tournament, to read: tables on the terminal, and a page that is one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pigenv.errors import OptionError
from pigenv.evaluate import plots
from pigenv.evaluate.charts import percent
from pigenv.evaluate.report import facts_of, game_name, markup, recorded, render
from pigenv.evaluate.tournament import FORMAT

__all__ = ["print_tournament", "write_tournament_page"]


def print_tournament(document: Mapping[str, Any], console: Console) -> None:
    """Print standings and cross-play, and who beats whom in a ring."""
    standings = _standings(document)
    table = Table(title=Text(_heading(document)), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("agent", overflow="fold")
    for head in ("rating", "± σ", "win share", "95 % interval", "mean score"):
        table.add_column(head, justify="right", no_wrap=True)
    for each in standings:
        low, high = each["win_share_ci"]
        table.add_row(
            Text(each["agent"]), f"{each['rating']['mu']:.2f}", f"{each['rating']['sigma']:.2f}",
            percent(each["win_share"]), f"{100 * low:.1f} – {100 * high:.1f} %", f"{each['mean_score']:.2f}",
        )  # fmt: skip
    console.print(table)
    matrix = document["payoff_matrix"]
    chance = percent(matrix["chance"])
    cross = Table(
        title=Text(f"Cross-play: win share of the row among copies of the column; chance is {chance}"),
        title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
    )  # fmt: skip
    cross.add_column("agent", overflow="fold")
    for number in range(len(matrix["agents"])):
        cross.add_column(f"{number + 1}", justify="right", no_wrap=True)
    for number, name in enumerate(matrix["agents"]):
        row = [f"{100 * share:.1f}" for share in matrix["win_share"][number]]
        row[number] = "–"
        cross.add_row(Text(f"{number + 1} {name}"), *row)
    console.print(cross)
    for ring in document["cycles"]:
        console.print(Text(f"cycle: {_ring(ring)}"))
    for line in _warnings(document):
        console.print(Text(line, style="bold yellow"))


def write_tournament_page(
    path: str | Path,
    document: Mapping[str, Any],
    *,
    title: str,
    records: Sequence[Any] | None = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write a tournament as one HTML page that loads nothing from anywhere.

    Args:
        path: The file.
        document: What `tournament` returned.
        title: The page's heading.
        records: Games to list, as `Record` or as their JSON.
        about: Further facts to print, by name.

    Raises:
        MissingExtraError: Jinja2 or matplotlib is not installed.
        OptionError: The document is of another format, or the file cannot be written.
    """
    standings = _standings(document)
    render(
        path,
        "tournament.html.j2",
        title=title,
        heading=_heading(document),
        warnings=_warnings(document),
        standings=[_row(each) for each in standings],
        chance=percent(document["payoff_matrix"]["chance"]),
        seats=document["game"]["num_players"],
        plots={
            "ratings": markup(plots.ratings(standings)),
            "wins": markup(plots.win_shares(standings)),
            "places": markup(plots.placements(standings)),
            "cross": markup(plots.cross_play(document["payoff_matrix"])),
        },
        cycles=[_ring(ring) for ring in document["cycles"]],
        beats=[f"{a} beats {b}" for a, b in document["beats"]],
        forfeits=document["forfeits"],
        about=dict(about or {}),
        facts=facts_of(document),
        rules=document["game"]["rules"],
        **recorded(records),
    )


def _standings(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    if document.get("format") != FORMAT:
        raise OptionError(f"this report needs a tournament in the format {FORMAT!r}; got {document.get('format')!r}")
    found: list[dict[str, Any]] = document["standings"]
    return found


def _heading(document: Mapping[str, Any]) -> str:
    deals = document["deals"]
    players = document["game"]["num_players"]
    return (
        f"{game_name(document)}, {players} players: {deals['cross_play']:,} deals a pair, "
        f"{deals['mixed_table']:,} a mixed table, from every seat"
    )


def _row(each: Mapping[str, Any]) -> dict[str, Any]:
    low, high = each["win_share_ci"]
    return {
        "agent": each["agent"],
        "rating": f"{each['rating']['mu']:.2f} ± {each['rating']['sigma']:.2f}",
        "share": percent(each["win_share"]),
        "interval": f"{100 * low:.1f} – {100 * high:.1f} %",
        "score": f"{each['mean_score']:.2f}",
        "games": f"{each['games']:,}",
        "illegal": percent(each["illegal_rate"]),
        "truncated": percent(each["truncation_rate"]),
        "seats": [f"{100 * share:.1f}" for share in each["seat_effect"]],
    }


def _ring(ring: Sequence[str]) -> str:
    return " beats ".join([*ring, ring[0]])


def _warnings(document: Mapping[str, Any]) -> list[str]:
    """What a reader must know before believing the figures."""
    return [f"{each['agent']} forfeited {each['games']:,} games: {each['reasons'][0]}" for each in document["forfeits"]]
