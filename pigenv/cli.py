"""The command `pigenv`.

A command imports what it needs when it runs, so that `pigenv --help` answers at once.

Exit status: 0 done, 1 the answer is no (a record does not verify), 2 wrong use. A mistake is answered with one sentence
on standard error. With `--json` a command prints one JSON document on standard output and nothing else there.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer
from typer.core import TyperGroup

from pigenv import __version__
from pigenv.errors import OptionError, PigenvError, RecordError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from pigenv.agent import Agent
    from pigenv.game import Definition, Game
    from pigenv.records import Record, Replayed

__all__ = ["app", "main"]

NO, WRONG_USE, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141
_INDENTED: Final[dict[str, Any]] = {"initial_indent": " " * 6, "subsequent_indent": " " * 6}
_GAMES_SHOWN: Final = 3  # recorded games on a page
_PROGRESS_FROM: Final = 2  # games; a single one is over before a bar is drawn


# --- mistakes ---------------------------------------------------------------------------------------------------------


class _Commands(TyperGroup):
    """The group of commands; whatever goes wrong in one ends in a sentence and an exit status, never a traceback."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A terminal that cannot show a character gets a question mark instead of a traceback.
            sys.stdout.reconfigure(errors="replace")
        try:
            # Standing alone, Typer would draw a box around its errors and exit by itself.
            with warnings.catch_warnings():
                warnings.showwarning = cast(Any, _warn)
                status = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except (KeyboardInterrupt, typer.Abort):
            status = INTERRUPTED
        except PigenvError as error:
            _complain(str(error))
            status = WRONG_USE
        except Exception as error:
            # Typer's own usage errors; their class lives in another place from one release to the next.
            message = getattr(error, "format_message", None)
            if message is None:
                raise
            _complain(message())
            status = WRONG_USE
        if status == INTERRUPTED:
            _complain("interrupted")
        if not standalone_mode:
            return status
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:  # it is None where it was closed before we began
                sys.stdout.flush()
        except OSError as error:
            # Python must not try to flush the rest at its end.
            if sys.stdout is not None:
                with contextlib.suppress(OSError, ValueError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):  # whoever read our output has seen enough
                raise typer.Exit(PIPE_CLOSED) from None
            what = "the output" if error.filename is None else repr(error.filename)
            raise OptionError(f"cannot read or write {what}: {error.strerror or error}") from None
        return result


def _warn(message: Warning | str, category: type[Warning], *_: object) -> None:
    """A warning of ours is a sentence; whatever others warn of is their user's, not ours."""
    if category is UserWarning:
        _complain(f"warning: {message}")


def _complain(message: str) -> None:
    typer.echo(f"pigenv: {' '.join(message.split())}", err=True)


app: typer.Typer = typer.Typer(
    name="pigenv",
    cls=_Commands,
    help="Card games with hidden cards for reinforcement learning: Pig 10, Pig's Tail, Pig Pile.",
    epilog="Example: pigenv record pig10 --agents uniform --games 10 --out games.jsonl",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _pigenv(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"pigenv {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


# --- options that commands share --------------------------------------------------------------------------------------

GameArgument = Annotated[str, typer.Argument(metavar="GAME", help="A game, such as pig10; `pigenv list` names them.")]
PresetOption = Annotated[str | None, typer.Option("--preset", help="An edition of the game; its first one by default.")]
PlayersOption = Annotated[int | None, typer.Option("--players", help="How many sit down; the preset's number.")]
RuleOption = Annotated[
    list[str] | None,
    typer.Option("--rule", metavar="NAME=VALUE", help="Set a rule otherwise; VALUE is JSON or a word. Repeatable."),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Where all chance comes from, 0 … 2^64-1.")]
AgentsOption = Annotated[
    str, typer.Option("--agents", metavar="A,B,…", help="Who sits down, by seat; the list repeats to fill the table.")
]
OutOption = Annotated[str, typer.Option("--out", metavar="FILE", help="The file to write.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]


def chosen_game(
    name: str,
    preset: str | None = None,
    players: int | None = None,
    rules: Sequence[str] | None = None,
    **settings: Any,
) -> Game:
    """The game that `GAME --preset --players --rule` describe; `settings` are the rest of what a `Game` takes.

    Raises:
        UnknownNameError, OptionError: One of them is wrong.
    """
    from pigenv import registry

    return registry.make(name, players, preset, parsed_rules(rules or ()), **settings)


def parsed_rules(given: Sequence[str]) -> dict[str, Any]:
    """Rules from `NAME=VALUE`; the value is read as JSON where it parses, else as text.

    Raises:
        OptionError: One has no `=`, or a name is given twice.
    """
    rules: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise OptionError(f"--rule must be NAME=VALUE, such as hand_size=2; got {each!r}")
        if name in rules:
            raise OptionError(f"rule {name!r} is given twice")
        rules[name] = _value(value)
    return rules


def _value(text: str) -> Any:
    def refuse(constant: str) -> float:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return text


def agent_names(text: str) -> list[str]:
    """The agents of `A,B,…`.

    Raises:
        OptionError: A name is empty.
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise OptionError(f"agents must be names with commas between them, such as uniform,uniform; got {text!r}")
    return names


def print_json(document: Any) -> None:
    """Print the one JSON document of a command."""
    # Plain ASCII, so that it is the same document whatever the terminal's character set.
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


@contextlib.contextmanager
def progress_bar(total: int | None, what: str) -> Iterator[Callable[[int], None] | None]:
    """A bar on standard error where that is a terminal: gives a function to call with the number done so far, or None.

    Args:
        total: How many there are to do; None where nobody knows.
        what: What is done, such as "games".
    """
    if not sys.stderr.isatty() or (total is not None and total < _PROGRESS_FROM):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def _console() -> Console:
    from rich.console import Console

    # Names of agents and files may hold square brackets, which are no markup here.
    return Console(markup=False, highlight=False, emoji=False)


def _print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(*heads, title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        column.overflow = "fold"
    for row in rows:
        table.add_row(*map(str, row))
    _console().print(table)


# --- list, info -------------------------------------------------------------------------------------------------------


@app.command("list", epilog="Example: pigenv list --json")
def list_(as_json: JsonOption = False) -> None:
    """Name the games, their presets and the agents that play them."""
    from pigenv import registry

    games = [_listed(definition) for definition in registry.definitions()]
    if as_json:
        print_json({"games": games})
        return
    for game in games:
        least, most = game["num_players"]
        typer.echo(f"{game['game']}  {game['name']}, {least} to {most} players ({game['id']})")
        presets = [(name, each["num_players"], each["meaning"]) for name, each in game["presets"].items()]
        _print_table("", ("preset", "players", "what it is"), presets)
        typer.echo(f"agents: {', '.join(game['agents'])}\n")


def _listed(definition: Definition) -> dict[str, Any]:
    from importlib import import_module

    presets = {
        name: {"num_players": each.num_players, "meaning": each.meaning, "rules": dict(each.rules)}
        for name, each in definition.presets.items()
    }
    first = definition.rules.made(next(iter(definition.presets.values())).rules)
    return {
        "game": definition.base,
        "id": definition.id,
        "name": definition.name,
        "num_players": list(definition.seats(first)),
        "presets": presets,
        "agents": list(import_module("pigenv.agents.catalog").names(definition)),
    }


@app.command(epilog="Example: pigenv info pig10 --preset small")
def info(
    game: GameArgument,
    preset: PresetOption = None,
    players: PlayersOption = None,
    rule: RuleOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a game's rules, options, presets, actions and observation."""
    from pigenv.game import REWARDS

    table = chosen_game(game, preset, players, rule)
    definition = table.definition
    least, most = definition.seats(table.rules)
    options = [
        {"name": name, "default": _json(default), "value": _json(value), "values": values, "meaning": meaning}
        for name, default, value, values, meaning in table.options()
    ]
    parts: list[dict[str, Any]] = [
        {"name": name, "start": start, "stop": stop, "meaning": meaning}
        for name, start, stop, meaning in table.layout.rows()
    ]
    if as_json:
        listed = _listed(definition)
        del listed["agents"]
        print_json(
            {
                **listed,
                "num_players": [least, most],
                "here": {"preset": table.preset, "num_players": table.num_players, "rules": table.rules.to_json()},
                "rulebook": definition.rulebook,
                "options": options,
                "actions": list(table.action_texts),
                "observation": {"size": table.layout.size, "parts": parts},
                "rewards": list(REWARDS),
            }
        )
        return
    typer.echo(definition.rulebook.strip() + "\n")
    typer.echo(f"{definition.id}: {least} to {most} players; here {table.num_players}, preset {table.preset}.\n")
    presets = [
        (name, each.num_players, each.meaning, _assigned(dict(each.rules))) for name, each in definition.presets.items()
    ]
    _print_table("Presets", ("name", "players", "what it is", "rules"), presets)
    typer.echo("Rules (--rule NAME=VALUE)\n")
    for each in options:
        here = "" if each["value"] == each["default"] else f"  (default {json.dumps(each['default'])})"
        typer.echo(
            textwrap.fill(f"  {each['name']} = {json.dumps(each['value'])}{here}", 78, subsequent_indent=" " * 6)
        )
        typer.echo(textwrap.fill(f"{each['meaning']} May be {each['values']}.", 78, **_INDENTED))
    typer.echo()
    actions = list(enumerate(table.action_texts))
    _print_table(f"Actions ({table.num_actions})", ("action", "text"), actions)
    shown = [(each["name"], f"{each['start']}:{each['stop']}", each["meaning"]) for each in parts]
    _print_table(f"Observation ({table.layout.size} numbers)", ("part", "slice", "meaning"), shown)


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _assigned(rules: dict[str, Any]) -> str:
    return ", ".join(f"{name}={json.dumps(_json(value))}" for name, value in rules.items())


# --- record, replay ---------------------------------------------------------------------------------------------------


@app.command(epilog="Example: pigenv record pig10 --agents uniform --games 9 --out games.jsonl")
def record(
    game: GameArgument,
    out: OutOption,
    agents: AgentsOption = "uniform",
    games: Annotated[int, typer.Option("--games", help="How many games.")] = 1,
    legal: Annotated[bool, typer.Option("--legal", help="Also write what was legal at each step.")] = False,
    first_episode: Annotated[int, typer.Option("--first-episode", help="Which game of the seed comes first.")] = 0,
    reward: Annotated[str, typer.Option("--reward", help="What pays: win, rank or score.")] = "win",
    preset: PresetOption = None,
    players: PlayersOption = None,
    rule: RuleOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Let agents play games and write them down, one line of JSON each."""
    from pigenv.records import play_games, write_records

    table = chosen_game(game, preset, players, rule, reward=reward)
    with progress_bar(games, "games") as progress:
        played = play_games(
            table, agent_names(agents), seed, games, legal=legal, first_episode=first_episode, progress=progress
        )
        count = write_records(out, played)
    if as_json:
        print_json({"game": table.id, "seed": seed, "first_episode": first_episode, "games": count, "out": out})
    else:
        typer.echo(f"{_counted(count, 'game')} of {table.definition.name} written to {out}")


@app.command(epilog="Examples: pigenv replay games.jsonl --line 1 --table, or pigenv replay games.jsonl --verify")
def replay(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of records.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Only check every step of every record; exit status 1 at a fault.")
    ] = False,
    line: Annotated[int | None, typer.Option("--line", min=1, help="Only the game on this line, from 1.")] = None,
    table: Annotated[bool, typer.Option("--table", help="Draw the table after every step.")] = False,
    picture: Annotated[
        str | None, typer.Option("--picture", metavar="FILE", help="Only draw one position, as .svg or .png.")
    ] = None,
    step: Annotated[
        int | None, typer.Option("--step", min=0, help="With --picture: after how many decisions; the end if not said.")
    ] = None,
    seat: Annotated[
        int | None, typer.Option("--seat", min=0, help="With --picture: whose view; the open table if not said.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show recorded games step by step, with what is called out, or check them, or draw a position."""
    if picture is None and (step is not None or seat is not None):
        raise OptionError("--step and --seat go with --picture")
    if verify:
        if line is not None or table or picture is not None:
            raise OptionError("--verify checks the whole file and draws nothing; leave out --line, --table, --picture")
        _verify(file, as_json)
        return
    if picture is not None:
        _draw(file, line, step, seat, picture)
        return
    from pigenv.records import numbered_records
    from pigenv.records import replay as replayed

    shown: list[dict[str, Any]] = []
    last = 0
    for number, each in numbered_records(file):
        last = number
        if line is not None and number != line:
            continue
        try:
            if as_json:
                shown.append({"line": number, **_replay_document(each, replayed(each))})
            else:
                _print_game(number, each, replayed(each), table)
        except RecordError as error:
            raise RecordError(f"{file}, line {number}: {error}") from None
        if number == line:
            break
    if line is not None and last < line:
        raise OptionError(f"--line must be a line of {file}, which has {last}; got {line}")
    if as_json:
        print_json({"file": file, "games": shown})


def _draw(file: str, line: int | None, step: int | None, seat: int | None, picture: str) -> None:
    """Write a picture of one position of a game."""
    from pathlib import Path

    from pigenv.records import numbered_records, scene_of
    from pigenv.records import replay as replayed
    from pigenv.render.svg import draw_svg

    path = Path(picture)
    if path.suffix not in (".svg", ".png"):
        raise OptionError(f"--picture must be a file that ends in .svg or .png; got {picture!r}")
    found = next((each for number, each in numbered_records(file) if number == (line or number)), None)
    if found is None:
        raise OptionError(f"--line must be a line of {file}; got {line}")
    steps = list(replayed(found))
    at = len(steps) if step is None else step
    if at > len(steps):
        raise OptionError(f"--step must be 0 … {len(steps)}; got {step}")
    if seat is not None and seat >= found.num_players:
        raise OptionError(f"--seat must be 0 … {found.num_players - 1}; got {seat}")
    game = steps[0].game
    shown = steps[0].before if at == 0 else steps[at - 1].after
    scene = scene_of(game, shown, seat)
    if path.suffix == ".svg":
        path.write_text(draw_svg(scene, game.definition.base, found.agents), encoding="utf-8")
    else:
        from pigenv.render.image import save_png

        save_png(path, scene, game.definition.base, found.agents)
    typer.echo(f"{picture}: {game.definition.name} after {at} of {len(steps)} steps")


def _verify(file: str, as_json: bool) -> None:
    from pigenv.records import verify_file

    records = steps = 0
    fault = None
    try:
        with progress_bar(None, "records") as progress:
            records, steps = verify_file(file, progress)
    except RecordError as error:
        fault = str(error)
        _complain(fault)
    if as_json:
        print_json({"file": file, "verified": fault is None, "records": records, "steps": steps, "fault": fault})
    elif fault is None:
        typer.echo(f"{file}: {_counted(records, 'record')} and {_counted(steps, 'step')} verified")
    if fault is not None:
        raise typer.Exit(NO)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _replay_document(record: Record, steps: Iterator[Replayed]) -> dict[str, Any]:
    """A game as JSON: the record's head and results, and each step with what is called out."""
    head = {name: getattr(record, name) for name in ("game", "num_players", "seed", "episode", "rules", "agents")}
    played = []
    for each in steps:
        step = {"round": each.round, "step": each.step, "seat": each.seat, "action": each.action, "called": each.called}
        played.append({**step, **(each.chance or {})})
    results = {name: getattr(record, name) for name in ("scores", "returns", "outcome")}
    return {**head, "steps": played, **results}


def _print_game(line: int, record: Record, steps: Iterator[Replayed], table: bool) -> None:
    """A game as text: who plays, each step with what is called out, the table at the beginning and at the end."""
    from pigenv.render.text import draw_text

    game = record.table_game()
    source = "" if record.seed is None else f", seed {record.seed}, episode {record.episode}"
    typer.echo(f"Line {line}: {game.definition.name}, {record.num_players} players{source}")
    for seat, name in enumerate(record.agents):
        typer.echo(f"  seat {seat:<2} {name}")
    changed = {name: value for name, default, value, *_ in game.options() if value != default}
    if changed:
        typer.echo(textwrap.fill(f"  rules: {_assigned(changed)}", 80, subsequent_indent=" " * 9))
    round_shown, end = -1, ""
    widest = max(map(len, game.action_texts))
    for each in steps:
        if each.round != round_shown:
            round_shown = each.round
            typer.echo(f"\nRound {each.round}\n{draw_text(each.scene_before)}\n")
        called = f'  "{each.called}"' if each.called else ""
        chance = f"  {json.dumps(each.chance, ensure_ascii=False)}" if each.chance else ""
        typer.echo(f"{each.step:4}  seat {each.seat:<2} {each.action:<{widest}}{called}{chance}".rstrip())
        if table:
            typer.echo(draw_text(each.scene) + "\n")
        if each.ends_round:
            typer.echo(f"\n  scores of round {each.round}: {_listing(record.rounds[each.round]['scores'])}")
            end = draw_text(each.scene)
    if not table:
        typer.echo(end)
    typer.echo(f"  {record.outcome}; scores {_listing(record.scores)}; returns {_listing(record.returns)}\n")


def _listing(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


# --- play, watch ------------------------------------------------------------------------------------------------------

HostOption = Annotated[
    str, typer.Option("--host", help="The address of the page; others may reach it if not loopback.")
]
PortOption = Annotated[
    int | None, typer.Option("--port", help="Its port, 0 for any; the first free one from 8765.", min=0, max=65535)
]
BrowserOption = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")]
KeepOption = Annotated[
    str | None, typer.Option("--keep", metavar="DIR", help="Where unfinished games are kept; the user's own folder.")
]


@app.command(epilog="Examples: pigenv play pig10 --agents pig10/counting, or pigenv play pig10 --text")
def play(
    game: GameArgument,
    agents: Annotated[
        str | None,
        typer.Option("--agents", metavar="A,B,…", help="Opponents, clockwise from your left; repeated."),
    ] = None,
    seat: Annotated[int | None, typer.Option("--seat", min=0, help="Your seat; by chance if not said.")] = None,
    preset: PresetOption = None,
    players: PlayersOption = None,
    rule: RuleOption = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of the deal, 0 … 2^64-1; by chance if not said.")] = None,
    text: Annotated[bool, typer.Option("--text", help="Play in the terminal instead of on a page.")] = False,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="With --text: where to write the game's record.")
    ] = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    browser: BrowserOption = True,
    keep: KeepOption = None,
) -> None:
    """Play against agents, on a page served on this machine or in the terminal."""
    from importlib import import_module

    from pigenv.agent import find_agent
    from pigenv.table import checked_seed

    table = chosen_game(game, preset, players, rule)
    catalog = import_module("pigenv.agents.catalog")
    opponents = agent_names(agents) if agents is not None else list(catalog.names(table))[-1:]
    if len(opponents) >= table.num_players:
        raise OptionError(f"there are {table.num_players - 1} seats beside yours for {len(opponents)} agents")
    for name in opponents:
        find_agent(name, table)
    if seat is not None and seat >= table.num_players:
        raise OptionError(f"--seat must be 0 … {table.num_players - 1}; got {seat}")
    if seed is not None:
        checked_seed(seed)
    if out is not None and not text:
        raise OptionError("--out goes with --text; on the page, the record is downloaded at the end")
    if text:
        from pigenv.web.terminal import play_in_terminal

        play_in_terminal(table, opponents, seat, seed, out, _console())
        return
    start = {
        "game": table.definition.base,
        "preset": table.preset,
        "num_players": table.num_players,
        "agents": opponents,
        "seat": seat,
        "seed": "" if seed is None else str(seed),
        "rules": {name: _json(value) for name, value in parsed_rules(rule or ()).items()},
    }
    _serve(host, port, browser, keep, start=start)


@app.command(epilog="Example: pigenv watch games.jsonl, or pigenv watch games.jsonl --line 1 --export game.html")
def watch(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of records.")],
    agent: Annotated[
        str | None, typer.Option("--agent", help="Whose ranking stands beside each move; that of whoever played.")
    ] = None,
    line: Annotated[int | None, typer.Option("--line", min=1, help="With --export: which game, from 1.")] = None,
    export: Annotated[
        str | None, typer.Option("--export", metavar="FILE", help="Write one game as a page of its own, and no more.")
    ] = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    browser: BrowserOption = True,
    keep: KeepOption = None,
) -> None:
    """Watch recorded games on a page: step, jump, any seat's view, and play on from any position."""
    from pathlib import Path

    from pigenv.agent import find_agent
    from pigenv.records import verify
    from pigenv.web.viewer import Library, write_export

    library = Library(file)
    with progress_bar(len(library.records), "records") as progress:
        for done, (number, each) in enumerate(library.records.items()):
            try:
                verify(each)
            except RecordError as error:
                raise RecordError(f"{file}, line {number}: {error}") from None
            if agent is not None:
                find_agent(agent, each.table_game())
            if progress is not None:
                progress(done + 1)
    if export is None:
        if line is not None:
            raise OptionError("--line goes with --export; the page shows every game of the file")
        _serve(host, port, browser, keep, library=library, agent=agent)
        return
    number = line or min(library.records)
    write_export(Path(export), library.record(number), number, agent)
    typer.echo(f"line {number} of {file} written to {export}")


def _serve(host: str, port: int | None, browser: bool, keep: str | None, **settings: Any) -> None:
    """Serve the page until Ctrl-C."""
    import webbrowser
    from importlib import import_module
    from pathlib import Path

    from pigenv.web.app import Server, make_app
    from pigenv.web.store import default_folder

    folder = default_folder() if keep is None else Path(keep)
    server = Server(make_app(folder, import_module("pigenv.agents.catalog").names, host=host, **settings), host, port)
    typer.echo(f"{server.url}\nCtrl-C ends it; a game goes on where it was when it is started again.")
    sys.stdout.flush()
    if browser:
        webbrowser.open(server.url)
    server.run()


# --- train, evaluate, bench, demo -------------------------------------------------------------------------------------


@app.command(
    epilog="Examples: pigenv train pig10 algo=dmc algo.max_seconds=60, or pigenv train --resume runs/…",
    context_settings={"ignore_unknown_options": False},
)
def train(
    game: Annotated[
        str | None, typer.Argument(metavar="GAME", help="A game, such as pig10; `pigenv list` names them.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE]…", help="Settings of the run, such as algo=dmc algo.n_steps=32."),
    ] = None,
    preset: PresetOption = None,
    players: PlayersOption = None,
    rule: RuleOption = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Where all chance comes from, 0 … 2^64-1; 0 by default.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="The run's folder; a new one in runs/.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="DIR", help="Go on with the run of this folder instead.")
    ] = None,
    multirun: Annotated[
        bool, typer.Option("--multirun", help="One run for each combination of values, as in algo.n_steps=32,64.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Only print the settings that the run would have.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Train an agent; leaves settings, metrics, learning curve and checkpoint in a folder."""
    from dataclasses import asdict
    from pathlib import Path

    from pigenv.train.config import composed
    from pigenv.train.run import resume as run_on
    from pigenv.train.run import run, sweep

    if resume is not None:
        if any(given is not None for given in (game, overrides, preset, players, rule, seed, out)) or multirun or show:
            raise OptionError("--resume takes no other settings: a run goes on with those that it began with")
        folder, checkpoint = run_on(Path(resume))
    elif game is None:
        raise OptionError("name the game to train for, such as: pigenv train pig10")
    else:
        table = chosen_game(game, preset, players, rule)
        given = {"name": table.definition.base, "preset": preset, "num_players": players}
        if multirun:
            if out is not None or show or rule:
                raise OptionError("--multirun takes no --out, --show or --rule; give rules as game.rules.NAME=VALUE")
            wanted = [f"game.{name}={value}" for name, value in given.items() if value is not None]
            sweep([*wanted, *([f"seed={seed}"] if seed is not None else []), *(overrides or [])])
            return
        config = composed(overrides or [])
        for name, value in given.items():
            if value is not None:
                setattr(config.game, name, value)
        config.game.rules.update(parsed_rules(rule or ()))
        config.seed = config.seed if seed is None else seed
        config.out = out or config.out
        if show:
            print_json(asdict(config))
            return
        folder, checkpoint = run(config)
    if as_json:
        print_json({"folder": str(folder), "checkpoint": checkpoint})
    else:
        typer.echo(f"run folder  {folder}\ncheckpoint  {checkpoint}")


AgainstOption = Annotated[
    str | None, typer.Option("--against", metavar="A,B", help="Opponents; all of the game's players by default.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Processes that play; by default one a core where it pays. Same results."),
]
BackendOption = Annotated[
    str, typer.Option("--backend", metavar="processes|ray", help="Who plays: processes here, or a Ray cluster.")
]
LimitOption = Annotated[
    list[str] | None,
    typer.Option("--time-limit", metavar="[AGENT=]SECONDS", help="Longest time for a decision. Repeatable."),
]
ResultOption = Annotated[
    str | None,
    typer.Option("--out", metavar="FILE", help="Also write it: a page for .html, with JSON beside; or JSON."),
]


@app.command(epilog="Example: pigenv evaluate pig10/careful pig10 --against uniform,pig10/greedy --until 0.5")
def evaluate(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="A name, a checkpoint's path, or module:Class.")],
    game: GameArgument,
    against: AgainstOption = None,
    deals: Annotated[
        int | None, typer.Option("--deals", help="Deals a line-up, each in all its seat orders; 200 by default.")
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(
            "--until", metavar="POINTS", help="Play until the 95 % interval is ± so many points of win share."
        ),
    ] = None,
    line_ups: Annotated[
        str, typer.Option("--line-ups", metavar="A,B", help="lone, half, mixed: which tables to sit down at.")
    ] = "lone,mixed",
    workers: WorkersOption = None,
    backend: BackendOption = "processes",
    time_limit: LimitOption = None,
    reduce: Annotated[
        bool, typer.Option("--reduce", help="Also take out luck with the cards: slower, but worth more games.")
    ] = False,
    exploitability: Annotated[
        bool, typer.Option("--exploitability", help="Also how much can be won from it, exactly; small games only.")
    ] = False,
    probe: Annotated[
        float | None,
        typer.Option("--probe", metavar="SECONDS", help="Also train against it so long: a lower bound of the same."),
    ] = None,
    preset: PresetOption = None,
    players: PlayersOption = None,
    rule: RuleOption = None,
    seed: SeedOption = 0,
    out: ResultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score an agent against others on duplicate deals, from every seat."""
    from pigenv.evaluate.evaluation import evaluate as scored
    from pigenv.evaluate.report import print_table, write_page

    if deals is not None and until is not None:
        raise OptionError("--deals fixes how much is played and --until lets the interval decide; give one of them")
    table = chosen_game(game, preset, players, rule)
    names = agent_names(against) if against is not None else None
    _writable(out)
    with _evaluation_bar() as (expect, progress, watch):
        document = scored(
            agent, table, names, 200 if deals is None else deals, seed, progress,
            until=until, line_ups=agent_names(line_ups), workers=workers, limits=_limits(time_limit),
            backend=backend, reduce=reduce, expect=expect, watch=watch,
        )  # fmt: skip
    if exploitability:
        from pigenv.evaluate.exploitability import nash_conv

        with progress_bar(None, "histories") as walked:
            document["exploitability"] = nash_conv(agent, table, walked)
    if probe is not None:
        from pigenv.evaluate.exploitability import probe as probed

        document["probe"] = probed(_best_response, agent, table, probe, seed=seed)
    title = f"{agent} at {table.definition.name}"
    _finish(document, out, as_json, print_table, lambda path: write_page(path, document, title=title))


def _best_response(game: Game, opponents: Sequence[Agent], budget: float) -> Agent:
    """Train against agents with the default algorithm, for a budget in seconds."""
    from pigenv.agent import find_agent
    from pigenv.train.config import composed
    from pigenv.train.run import run

    config = composed([f"algo.max_seconds={budget}", "algo.total_steps=1_000_000_000"])
    config.game.name, config.game.num_players = game.definition.base, game.num_players
    config.game.preset = game.preset
    config.game.rules.update(game.rules.to_json())
    config.algo.opponents = list(dict.fromkeys(each.name for each in opponents))
    _, checkpoint = run(config)
    return find_agent(checkpoint, game)


def _writable(out: str | None) -> None:
    """Refuse an output file before the work whose result it would hold."""
    from pathlib import Path

    if out is not None and not Path(out).resolve().parent.is_dir():
        raise OptionError(f"--out must be a file in a folder that exists; got {out!r}")


def _limits(given: Sequence[str] | None) -> dict[str, float] | float | None:
    """Time limits by agent from `AGENT=SECONDS`, or one for all."""
    found: dict[str, float] = {}
    for each in given or ():
        name, _, seconds = each.rpartition("=")
        try:
            found[name] = float(seconds)
        except ValueError:
            raise OptionError(f"--time-limit must be SECONDS or AGENT=SECONDS, such as 0.5; got {each!r}") from None
    if "" in found and len(found) > 1:
        raise OptionError("--time-limit is either one for all agents or AGENT=SECONDS for each that has one")
    return found.get("", found) if found else None


def _finish(
    document: dict[str, Any],
    out: str | None,
    as_json: bool,
    show: Callable[[dict[str, Any], Console], None],
    write: Callable[[Path], None],
) -> None:
    """Write a result where it was asked for, and print it."""
    from pathlib import Path

    from pigenv.evaluate.report import write_json

    written = []
    if out is not None:
        path = Path(out)
        if path.suffix == ".html":
            write(path)
            written.append(path)
            path = path.with_suffix(".json")
        write_json(document, path)
        written.append(path)
    if as_json:
        print_json(document)
        return
    show(document, _console())
    if written:
        typer.echo(f"written to {', '.join(map(str, written))}")


@contextlib.contextmanager
def _evaluation_bar() -> Iterator[tuple[Any, Any, Any]]:
    """A bar on standard error where that is a terminal: what to call with the games expected, those done, and looks.

    Where nobody knows how many games there will be, it shows how far the interval of the line-up has shrunk.
    """
    if not sys.stderr.isatty():
        yield None, None, None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[told]}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("games", total=None, told="")
        known = False

        def expect(total: int | None) -> None:
            nonlocal known
            known = total is not None
            bar.update(task, total=total if known else 1.0)

        def progress(done: int) -> None:
            bar.update(task, told=f"{done:,} games", completed=done if known else None)

        def watch(look: Any) -> None:
            half = (look.high - look.low) / 2
            told = f"{100 * (look.low + half):.1f} ± {100 * half:.2f} points (to ± {100 * look.target:g})"
            # The width shrinks with the root of the games, so its square says how much of the way is done.
            bar.update(task, description=f"against {look.against}", completed=min(1.0, (look.target / half) ** 2))
            bar.update(task, told=f"{told}, {look.games:,} games")

        yield expect, progress, watch


@app.command(epilog="Example: pigenv tournament pig10 uniform pig10/greedy pig10/careful --deals 500")
def tournament(
    game: GameArgument,
    agents: Annotated[list[str], typer.Argument(metavar="AGENT…", help="Two agents or more.")],
    deals: Annotated[int, typer.Option("--deals", help="Deals of each pair, and at the mixed tables.")] = 200,
    workers: WorkersOption = None,
    backend: BackendOption = "processes",
    time_limit: LimitOption = None,
    preset: PresetOption = None,
    players: PlayersOption = None,
    rule: RuleOption = None,
    seed: SeedOption = 0,
    out: ResultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play everybody against everybody: ratings, placements, cross-play."""
    from pigenv.evaluate.tournament import tournament as played
    from pigenv.evaluate.tournament_report import print_tournament, write_tournament_page
    from pigenv.records import play_games

    table = chosen_game(game, preset, players, rule)
    _writable(out)
    with _evaluation_bar() as (expect, progress, _):
        document = played(
            agents,
            table,
            deals,
            seed,
            progress,
            workers=workers,
            limits=_limits(time_limit),
            backend=backend,
            expect=expect,
        )

    def write(path: Path) -> None:
        # The best sit down once more, so that a reader sees them play.
        best = [each["agent"] for each in document["standings"]][: table.num_players]
        records = list(play_games(table, best, seed, _GAMES_SHOWN))
        write_tournament_page(path, document, title=f"Tournament at {table.definition.name}", records=records)

    _finish(document, out, as_json, print_tournament, write)


@app.command(epilog="Example: pigenv benchmark pig10 --agents runs/mine/policy.safetensors --out results")
def benchmark(
    game: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="A game; all of the benchmark's by default.")
    ] = None,
    agents: Annotated[
        str | None, typer.Option("--agents", metavar="A,B,…", help="Whom to score; the suite's own by default.")
    ] = None,
    workers: WorkersOption = None,
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The folder for the results.")] = "results",
    as_json: JsonOption = False,
) -> None:
    """Play the standing benchmark; leaves one JSON result for each agent and game."""
    from pathlib import Path

    from pigenv.agent import find_agent
    from pigenv.evaluate import benchmark as standing
    from pigenv.evaluate.report import write_json

    games = [chosen_game(game).definition.base] if game is not None else standing.games()
    wanted = [
        (name, agent) for name in games for agent in (agent_names(agents) if agents else standing.own_agents(name))
    ]
    for name, agent in wanted:
        for table in standing.protocol(name)["tables"]:
            find_agent(agent, chosen_game(name, table["preset"], table["num_players"]))
    folder = Path(out)
    if not folder.is_dir():
        folder.mkdir(parents=True)
    results = []
    for name, agent in wanted:
        with _evaluation_bar() as (expect, progress, _):
            result = standing.benchmark(agent, name, progress, workers=workers, expect=expect)
        path = folder / standing.file_name(agent, result["game"])
        write_json(result, path)
        results.append(result)
        if not as_json:
            low, high = result["score_ci"]
            typer.echo(f"{name}  {agent}  score {result['score']:.3f} ({low:.3f} – {high:.3f})  {path}")
    if as_json:
        print_json({"results": results})


@app.command(epilog="Example: pigenv leaderboard results/*.json --out page.html")
def leaderboard(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Results of `pigenv benchmark`.")],
    out: Annotated[str | None, typer.Option("--out", metavar="FILE", help="Also write a page.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Put results of the benchmark into one table."""
    from pathlib import Path

    from pigenv.evaluate import benchmark as standing

    board = standing.leaderboard([standing.read_result(file) for file in files])
    _writable(out)
    if out is not None:
        standing.write_leaderboard_page(Path(out), board, title="Leaderboard")
    if as_json:
        print_json(board)
        return
    standing.print_leaderboard(board, _console())
    if out is not None:
        typer.echo(f"written to {out}")


@app.command(epilog="Example: pigenv strength pig10 --budgets 100,1000 --deals 20 --out strength.png")
def strength(
    game: GameArgument,
    budgets: Annotated[
        str, typer.Option("--budgets", metavar="N,N,…", help="Simulations a decision.")
    ] = "100,1000,10000",
    against: Annotated[str, typer.Option("--against", metavar="A", help="The opponent at all other seats.")] = "best",
    agent: Annotated[str, typer.Option("--agent", metavar="A", help="The search, without its budget.")] = "search",
    deals: Annotated[int, typer.Option("--deals", help="Deals a budget; each is played from every seat.")] = 50,
    preset: PresetOption = None,
    players: PlayersOption = None,
    rule: RuleOption = None,
    seed: SeedOption = 0,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="A plot, .png or .svg, and its numbers beside it, .json."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Plot the strength of search against its budget, on duplicate deals."""
    from pathlib import Path

    from pigenv.evaluate.report import write_json
    from pigenv.evaluate.strength import PLOTS, plot
    from pigenv.evaluate.strength import strength as measured

    table = chosen_game(game, preset, players, rule)
    path = None if out is None else Path(out)
    if path is not None and (path.suffix not in PLOTS or not path.resolve().parent.is_dir()):
        raise OptionError(f"--out must be a {' or '.join(PLOTS)} file in a folder that exists; got {out!r}")
    numbers = [_value(each) for each in budgets.split(",")]
    with progress_bar(len(numbers) * deals * table.num_players, "games") as progress:
        document = measured(table, numbers, against, agent, deals, seed, progress)
    if path is not None:
        plot(document, path)
        write_json(document, path.with_suffix(".json"))
    if as_json:
        print_json(document)
        return
    rows = [
        (
            f"{each['sims']:,}",
            f"{100 * each['win_share']:.1f} %",
            " – ".join(f"{100 * end:.1f}" for end in each["win_share_ci"]),
            f"{each['mean_score']:.2f}",
            f"{spent['seconds']:.1f}",
        )
        for each, spent in zip(document["results"], document["timing"], strict=True)
    ]
    title = f"{agent} at {table.definition.name} against {document['against']}, chance {100 * document['chance']:.1f} %"
    _print_table(title, ("simulations", "win share", "95 % interval", "mean score", "seconds"), rows)
    if path is not None:
        typer.echo(f"written to {path} and {path.with_suffix('.json')}")


@app.command(epilog="Example: pigenv export runs/…/policy.safetensors policy.onnx")
def export(
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="A checkpoint's path, or the name of a trained policy.")
    ],
    out: Annotated[str, typer.Argument(metavar="FILE", help="The ONNX file to write.")],
) -> None:
    """Write a trained policy as an ONNX file."""
    from pigenv.agent import find_agent
    from pigenv.agents.checkpoint import PolicyAgent
    from pigenv.agents.onnx_export import export_onnx

    found = find_agent(agent)
    if not isinstance(found, PolicyAgent):
        raise OptionError(f"only a trained policy can be exported; {agent!r} is none")
    export_onnx(found, out)
    typer.echo(f"written to {out}")


@app.command(epilog="Example: pigenv bench batch --json, or pigenv bench training")
def bench(
    layer: Annotated[
        str | None,
        typer.Argument(metavar="[LAYER]", help="playout, kernel, batch, aec, seat, vector, search, or training."),
    ] = None,
    game: Annotated[str, typer.Option("--game", help="The game.")] = "pig10",
    preset: PresetOption = None,
    players: PlayersOption = None,
    rule: RuleOption = None,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Tables of the layers that have many.")] = 4096,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Measurements of each; the median counts.")] = 7,
    as_json: JsonOption = False,
) -> None:
    """Measure decisions a second, layer by layer; `training` compares learners."""
    from pigenv import bench as speed
    from pigenv.errors import UnknownNameError, closest

    table = chosen_game(game, preset, players, rule)
    if layer is not None and layer not in (*speed.LAYERS, "training"):
        raise UnknownNameError(f"there is no layer {layer!r}; {closest(layer, (*speed.LAYERS, 'training'))}")

    def note(what: str) -> None:
        typer.echo(f"measuring {what} …", err=True)

    if layer == "training":
        from pigenv.train.speed import measure_training

        document = measure_training(table, repeats=min(repeats, 5), progress=note)
    else:
        layers = (layer,) if layer else None
        document = speed.measure(table, layers, batch=batch, repeats=repeats, progress=note)
    if as_json:
        print_json(document)
        return
    rows = [
        (
            f"{each['layer']}, {each['side']}" if "side" in each else each["layer"],
            each["num_players"],
            each["batch"],
            each["threads"],
            f"{each['per_second']:,}",
            f"{each['lowest']:,} – {each['highest']:,}",
        )
        for each in document["results"]
    ]
    # Of search it is simulations, each played to the end of the round.
    heads = ("layer", "seats", "tables", "threads", "decisions/s", "lowest – highest")
    _print_table(f"{table.definition.name}, median of {document['results'][0]['repeats']}", heads, rows)
    for side, ratio in document.get("ratios", {}).items():
        typer.echo(f"{side}: {ratio} times as fast as {document['results'][-1]['side']}")


@app.command(epilog="Example: pigenv demo --seconds 60")
def demo(
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="How long to train.")] = 75,
    deals: Annotated[int, typer.Option("--deals", min=2, help="Deals a line-up.")] = 1000,
    seed: SeedOption = 0,
    out: Annotated[str | None, typer.Option("--out", metavar="DIR", help="The folder; a new one in runs/.")] = None,
) -> None:
    """Train a Pig 10 agent, score it against every player, and write a report."""
    from pathlib import Path

    from pigenv.table import checked_seed
    from pigenv.train.demo import demo as run

    run(None if out is None else Path(out), checked_seed(seed), seconds, deals, _console())


def main() -> None:
    """The entry point: run a command and exit."""
    app(prog_name="pigenv")


if __name__ == "__main__":
    main()
