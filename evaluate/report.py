"""What came of an evaluation, to read: a table on the terminal, JSON, and a page that is one file."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pigenv import registry
from pigenv.errors import MissingExtraError, OptionError, UnknownNameError
from pigenv.evaluate import charts
from pigenv.evaluate.charts import Row, percent
from pigenv.evaluate.evaluation import ALL, FORMAT, HALF, verdict

__all__ = [
    "exploited",
    "facts_of",
    "game_name",
    "markup",
    "print_table",
    "recorded",
    "reduced",
    "render",
    "sentence",
    "write_json",
    "write_page",
]

_SIGNS: Final = {"beats": "▲", "even": "●", "loses": "▼"}
_STYLES: Final = {"beats": "bold", "even": "", "loses": "bold yellow"}
_RECORDS_SHOWN: Final = 20
_POINTS_SHOWN: Final = 2000
_TEMPLATE: Final = "report.html.j2"


def sentence(entry: Mapping[str, Any]) -> str:
    """What an entry says, plainly: `does not beat pig10/counting: 21.3 % where chance is 25 %`."""
    found = verdict(dict(entry))
    tail = {"beats": "", "even": "; no difference shown", "loses": "; it loses"}[found]
    verb = "beats" if found == "beats" else "does not beat"
    return f"{verb} {_name(entry)}: {percent(entry['win_share'])} where chance is {_chance(entry)}{tail}"


def print_table(document: Mapping[str, Any], console: Console) -> None:
    """Print the entries as a table, and below it in words whom the agent does not beat."""
    results = _results(document)
    table = Table(
        title=Text(_heading(document)), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    table.add_column("against", overflow="fold")
    # Two lines for the heads, so that the table stays within 80 columns.
    for head in ("win\nshare", "95 %\ninterval", "chance\nlevel", "mean\nscore", "decisions\na second"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("verdict")
    for entry, speed in zip(results, _speeds(document), strict=True):
        found = verdict(entry)
        # Text, not markup: a name may hold square brackets.
        table.add_row(
            Text(_name(entry)),
            percent(entry["win_share"]),
            _interval(entry),
            _chance(entry),
            f"{entry['mean_score']:.2f}",
            speed,
            Text(found, style=_STYLES[found]),
        )
    console.print(table)
    for entry in results:
        if verdict(entry) != "beats":
            console.print(Text(f"{document['agent']} {sentence(entry)}"))
    for line in (*reduced(document), *exploited(document)):
        console.print(Text(line))
    for line in _warnings(document):
        console.print(Text(line, style="bold yellow"))


def reduced(document: Mapping[str, Any]) -> list[str]:
    """The win shares without luck with the cards, where it was reckoned, in words."""
    lines = []
    for entry in _results(document):
        if found := entry.get("reduced"):
            low, high = found["win_share_ci"]
            lines.append(
                f"without luck with the cards, against {_name(entry)}: {percent(found['win_share'])} "
                f"({100 * low:.1f} – {100 * high:.1f} %), worth {found['saving']:.2f} times as many games"
            )
    return lines


def exploited(document: Mapping[str, Any]) -> list[str]:
    """How much can be won from the agent, where that was measured, in words."""
    lines = []
    if found := document.get("exploitability"):
        told = ", ".join(f"{value:.4f}" for value in found["best_response"])
        lines.append(
            f"exploitability {found['exploitability']:.4f} (NashConv {found['nash_conv']:.4f}; best responses by seat "
            f"{told}), exact for its policy ({found['policy'][document['agent']]})"
        )
    if found := document.get("probe"):
        low, high = found["gain_ci"]
        gain = f"{found['gain']:.3f} ({low:.3f} – {high:.3f}) a game"
        trained = f"a best response trained for {found['budget_seconds']:g} s"
        bound = f"gains {gain} against it: a lower bound of what can be gained"
        lines.append(f"{trained} {bound if found['gain'] > 0 else f'found nothing to gain: {gain}'}")
    return lines


def write_json(document: Mapping[str, Any], path: str | Path) -> None:
    """Write the document.

    Raises:
        OptionError: The file cannot be written.
    """
    _write(path, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n", "backslashreplace")


def write_page(
    path: str | Path,
    document: Mapping[str, Any],
    *,
    title: str,
    curve: Sequence[tuple[float, float]] | None = None,
    records: Sequence[Any] | None = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write the evaluation as one HTML page that loads nothing from anywhere.

    Args:
        path: The file.
        document: What `evaluate` returned.
        title: The page's heading.
        curve: Learning curve: decisions learned from, and the value reached.
        records: Games to list, as `Record` or as their JSON.
        about: Further facts to print, by name.

    Raises:
        MissingExtraError: Jinja2 is not installed.
        OptionError: The document is of another format, or the file cannot be written.
    """
    results = _results(document)
    rows = [_row(entry) for entry in results]
    points = _thinned([(float(x), float(y)) for x, y in curve or () if math.isfinite(float(y))])
    places = len(rows[0].placements)
    highest = max(max(row.seats) for row in rows)
    wins = document["game"]["reward"] == "win"
    drawn = {
        "win": markup(charts.win_shares(rows)),
        "places": markup(charts.placements(rows)),
        "seats": [(row, markup(charts.seat_effect(row, k, highest))) for k, row in enumerate(rows)],
        "curve": markup(charts.learning_curve(points, rows[0].chance if wins else None)) if points else None,
    }
    render(
        path,
        _TEMPLATE,
        title=title,
        heading=_heading(document),
        agent=document["agent"],
        game=game_name(document),
        entries=[
            {
                "name": row.name,
                "sentence": sentence(entry),
                "verdict": row.verdict,
                "sign": _SIGNS[row.verdict],
                "share": percent(row.share),
                "interval": _interval(entry),
                "chance": _chance(entry),
                "score": f"{entry['mean_score']:.2f}",
                "games": f"{entry['games']:,}",
                "speed": speed,
            }
            for entry, row, speed in zip(results, rows, _speeds(document), strict=True)
        ],
        exploited=exploited(document),
        reduced=reduced(document),
        mixed=", ".join(document.get("opponents", ())) if results[-1]["against"] == ALL else "",
        warnings=_warnings(document),
        forfeits=document.get("forfeits", []),
        charts=drawn,
        curve_label="Win share" if wins else "Mean reward",
        legend=[(charts.ordinal(k + 1), charts.place_colour(k, places)[0]) for k in range(places)],
        about=dict(about or {}),
        facts=facts_of(document),
        rules=document["game"]["rules"],
        **recorded(records),
    )


# --- what all pages share ---------------------------------------------------------------------------------------------


def markup(svg: str) -> Any:
    """A drawing that has escaped what it was given; everything else is escaped by the templates.

    Raises:
        MissingExtraError: Jinja2 is not installed.
    """
    try:
        from markupsafe import Markup
    except ImportError:
        raise MissingExtraError("jinja2", "evaluate") from None
    return Markup(svg)


def render(path: str | Path, template: str, **values: Any) -> None:
    """Write a page of a template.

    Raises:
        MissingExtraError: Jinja2 is not installed.
        OptionError: The file cannot be written.
    """
    try:
        import jinja2
    except ImportError:
        raise MissingExtraError("jinja2", "evaluate") from None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    _write(path, environment.get_template(template).render(**values), "replace")


def recorded(records: Sequence[Any] | None) -> dict[str, Any]:
    """Games as pages list them: the first ones, how many more there are, and all of them as a file to download."""
    games = list(records or ())
    lines = "".join(_line(each) for each in games)
    encoded = base64.b64encode(lines.encode("utf-8", "backslashreplace")).decode()
    return {
        "records": [_game(record) for record in games[:_RECORDS_SHOWN]],
        "more_records": max(len(games) - _RECORDS_SHOWN, 0),
        "file": f"data:application/jsonl;base64,{encoded}",
    }


def _line(record: Any) -> str:
    line = json.dumps(dict(record)) if isinstance(record, Mapping) else record.to_line()
    return f"{line}\n"


# --- pieces -----------------------------------------------------------------------------------------------------------


def _results(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    if document.get("format") != FORMAT or not document.get("results"):
        raise OptionError(f"a report needs an evaluation in the format {FORMAT!r}; got {document.get('format')!r}")
    found: list[dict[str, Any]] = document["results"]
    return found


def _name(entry: Mapping[str, Any]) -> str:
    """Whom an entry is against, as printed."""
    name = "all together" if entry["against"] == ALL else str(entry["against"])
    return f"{name}, half the table" if entry["line_up"] == HALF else name


def _chance(entry: Mapping[str, Any]) -> str:
    return f"{round(100 * entry['chance'], 1):g} %"


def _interval(entry: Mapping[str, Any]) -> str:
    low, high = entry["win_share_ci"]
    return f"{100 * low:.1f} – {100 * high:.1f} %"


def _speeds(document: Mapping[str, Any]) -> list[str]:
    """Decisions a second of each line-up, as printed."""
    timed = document.get("timing", {}).get("results", [])
    return [f"{each['decisions_per_second']:,.0f}" for each in timed] or ["–"] * len(document["results"])


def game_name(document: Mapping[str, Any]) -> str:
    """The game's name, or its id where this installation does not have it."""
    name = str(document["game"]["game"])
    try:
        return registry.definition(name).name
    except UnknownNameError:
        return name


def _heading(document: Mapping[str, Any]) -> str:
    first = document["results"][0]
    deals, players = first["deals"], first["num_players"]
    most = max(entry["deals"] for entry in document["results"])
    counted = f"{deals:,} deal{'' if deals == 1 else 's'}" if most == deals else f"up to {most:,} deals"
    return f"{document['agent']} at {game_name(document)}, {players} players, {counted} from every seat"


def _warnings(document: Mapping[str, Any]) -> list[str]:
    """What a reader must know before believing the figures."""
    lines = []
    for each in document.get("forfeits", ()):
        against = _name(each)
        games = f"{each['games']} game{'' if each['games'] == 1 else 's'}"
        lines.append(f"{each['agent']} forfeited {games} of the line-up against {against}: {each['reasons'][0]}")
    lines += [
        f"against {_name(entry)}, {entry['truncated']} of {entry['games']} games were cut short"
        for entry in document["results"]
        if entry["truncated"]
    ]
    return lines


def _row(entry: Mapping[str, Any]) -> Row:
    return Row(
        name=_name(entry),
        verdict=verdict(dict(entry)),
        share=entry["win_share"],
        low=entry["win_share_ci"][0],
        high=entry["win_share_ci"][1],
        chance=entry["chance"],
        placements=entry["placements"],
        seats=entry["seat_effect"],
    )


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """No more points than can be seen; the last one always."""
    step = max(1, len(points) // _POINTS_SHOWN)
    return list(points[:-1:step]) + list(points[-1:])


def _game(record: Any) -> dict[str, Any]:
    """A recorded game as the page lists it."""
    found = record if isinstance(record, Mapping) else vars(record)
    best = max(found["returns"])
    return {
        "episode": found["episode"],
        "outcome": found["outcome"],
        "seats": [
            {"name": name, "score": f"{score:g}", "best": paid == best}
            for name, score, paid in zip(found["agents"], found["scores"], found["returns"], strict=True)
        ],
        "rounds": [
            [(step["seat"], step["action"]) for step in each["steps"] if "action" in step] for each in found["rounds"]
        ],
    }


def facts_of(document: Mapping[str, Any]) -> dict[str, str]:
    """What is needed to get the same figures again."""
    game, timing = document["game"], document.get("timing", {})
    facts = {
        "game": f"{game['game']}, {game['num_players']} players",
        "seed": str(document["seed"]),
        "observation and actions": str(document.get("observation", "")),
        "versions": ", ".join(f"{name} {version}" for name, version in document.get("versions", {}).items()),
        "machine": str(timing.get("machine", "")),
        "finished": str(timing.get("finished", "")),
        "playing time": f"{timing['seconds']:.1f} seconds" if "seconds" in timing else "",
        **{f"method: {name}": str(text) for name, text in document.get("method", {}).items()},
    }
    return {name: text for name, text in facts.items() if text}


def _write(path: str | Path, text: str, errors: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", errors=errors)
    except OSError as error:
        raise OptionError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
