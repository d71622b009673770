"""The pages that are made from code when the site is built, and the check of its links: a hook of MkDocs.

A page for each registered game, one for each public module, and one for the command line. Nothing on them is written
by hand for one game, so a new game has its page as soon as the registry knows it.
"""

from __future__ import annotations

import inspect
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import numpy as np

from pigenv import __version__, registry
from pigenv.game import REWARDS, RUNNING, Definition, Game
from pigenv.records import play_games, replay
from pigenv.render.text import draw_text
from pigenv.scene import Scene
from pigenv.table import Table

ROOT: Final = Path(__file__).resolve().parent.parent
log = logging.getLogger("mkdocs.hooks.pigenv")  # a warning below this name fails a strict build

ENVIRONMENTS, REFERENCE = "environments", "reference"
LONG_TABLE: Final = 30  # rows from which a table is folded up
STEPS_SHOWN: Final = 8
SEED: Final = 2


# --- MkDocs' events ---------------------------------------------------------------------------------------------------


def on_config(config: Any) -> Any:
    """Fill the two lists of the navigation that depend on what the package holds."""
    listed = {"Environments": environment_nav(), "API reference": reference_nav()}
    config.nav = [
        {title: listed.get(title, pages) for title, pages in entry.items()} if isinstance(entry, dict) else entry
        for entry in config.nav
    ]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages and pictures."""
    from mkdocs.structure.files import File

    for path, content in generated():
        files.append(File.generated(config, path, content=content))
    return files


def on_post_build(config: Any) -> None:
    """Warn of each link that leads nowhere and of whatever a reader's browser would have to fetch from elsewhere."""
    for fault in link_faults(Path(config.site_dir)):
        log.warning(fault)


def generated() -> Iterator[tuple[str, str]]:
    """Path below the documentation's folder and content of every generated file."""
    definitions = registry.definitions()
    yield f"{ENVIRONMENTS}/index.md", environments_page(definitions)
    for definition in definitions:
        picture = svg_of(definition)
        if picture:
            yield f"{ENVIRONMENTS}/{definition.base}.svg", picture
        yield f"{ENVIRONMENTS}/{definition.base}.md", environment_page(definition)
    yield f"{REFERENCE}/index.md", reference_page()
    for module in public_modules():
        yield f"{REFERENCE}/{module}.md", f"# {module}\n\n::: {module}\n"
    yield "commands.md", commands_page()
    for name in ("CHANGELOG", "CONTRIBUTING"):
        # Their links are those of the repository; here they lead to the site's own pages.
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        yield f"{name.lower()}.md", re.sub(r"\]\(docs/", "](", text)


# --- a page for each game ---------------------------------------------------------------------------------------------


def environment_nav() -> list[Any]:
    """The entries of the navigation."""
    pages = [{each.name: f"{ENVIRONMENTS}/{each.base}.md"} for each in registry.definitions()]
    return [f"{ENVIRONMENTS}/index.md", *pages]


def environments_page(definitions: Sequence[Definition]) -> str:
    """All games at a glance."""
    rows = []
    for each in definitions:
        game = registry.make(each)
        least, most = each.seats(game.rules)
        rows.append(
            (f"[{each.name}]({each.base}.md)", code(each.id), f"{least} – {most}", game.num_actions, game.layout.size,
             ", ".join(map(code, each.presets)))
        )  # fmt: skip
    heads = ("game", "id", "players", "actions", "observation", "presets")
    return (
        "# Environments\n\nActions and observation are counted at each game's first preset, with perfect memory.\n\n"
        + table(heads, rows)
        + "\nEach has a PettingZoo environment (all seats from outside, one after another or in parallel), a Gymnasium "
        "environment (one seat, agents at the others) and a native vector of those; what they have in common is said "
        "under [rewards and episodes](../how/episodes.md).\n"
    )


def environment_page(definition: Definition) -> str:
    """All there is to know about a game's environments."""
    game = registry.make(definition)
    sections: dict[str, Callable[[Game], str]] = {
        "": _summary,
        "Rules": lambda game: f"{inspect.cleandoc(game.definition.rulebook)}\n",
        "Import": _imports,
        "Actions": _actions,
        "Observation": _observation,
        "Rewards": _rewards,
        "Presets": _presets,
        "Rule options": _options,
        "Players": _players,
        "A game": _example,
        "A deal": _deal,
        "Version history": _history,
    }
    text = f"# {definition.name}\n\n"
    for title, section in sections.items():
        text += (f"## {title}\n\n" if title else "") + section(game) + "\n"
    return text


def _summary(game: Game) -> str:
    d = game.definition
    least, most = d.seats(game.rules)
    widest = [registry.make(d, preset=name) for name in d.presets]
    most_seats = max(d.seats(each.rules)[1] for each in widest)
    above = "" if most_seats == most else f" ({most_seats} in some presets)"
    rows = [
        ("players", f"{least} to {most}{above}; {game.num_players} where nobody says"),
        ("agents", code([f"player_{seat}" for seat in range(game.num_players)])),
        ("action space", code(f"Discrete({game.num_actions})")),
        ("observation space", code(f"Box(0.0, 1.0, ({game.layout.size},), float32)")),
        ("action mask", "int8, 1 = legal, never all zero for the seat to move"),
        ("who wins", "fewest points" if d.lowest_wins(game.rules) else "most points"),
        ("chance after the deal", "none" if d.give_chance is None else "under some options; it stands in the record"),
    ]
    return f"{_picture(d)}\n\n" + table(("id", code(d.id)), rows)


def _picture(definition: Definition) -> str:
    """The table in the middle of a game: drawn where the package draws, else as text."""
    if svg_of(definition):
        return f"![{definition.name}: the table in the middle of a game]({definition.base}.svg){{ width=640 }}"
    return fenced(draw_text(middle_of_a_game(definition)))


@cache
def svg_of(definition: Definition) -> str | None:
    """The table in the middle of a game as an SVG document; None where there is no module that draws one."""
    if find_spec("pigenv.render.svg") is None:
        return None
    drawn: str = import_module("pigenv.render.svg").draw_svg(middle_of_a_game(definition), definition.base)
    return drawn


def middle_of_a_game(definition: Definition) -> Scene:
    """A position half way through a random game, as seat 0 sees it."""
    game = registry.make(definition)
    length = len(next(play_games(game, ["uniform"], SEED, 1)).rounds[0]["steps"])
    desk = Table(game)
    desk.start(SEED)
    chance = np.random.default_rng(SEED)
    for _ in range(length // 2):
        if desk.over == RUNNING and desk.round == 0:
            desk.step(int(chance.choice(desk.legal_actions())))
    return desk.scene(0)


def _imports(game: Game) -> str:
    d = game.definition
    words = "".join(word.capitalize() for word in d.base.split("_"))
    lines = []
    if find_spec(f"pigenv.{d.id}"):
        lines += [
            f"from pigenv import {d.id}",
            "",
            f"env = {d.id}.env()  # PettingZoo, one seat after another",
            f"env = {d.id}.parallel_env()  # PettingZoo, parallel",
        ]
    else:
        lines += ["from pigenv.envs.aec import PigAECEnv", "", f'env = PigAECEnv("{d.base}")  # PettingZoo']
    lines += [
        "",
        "import gymnasium",
        "import pigenv",
        "",
        f'env = gymnasium.make("pigenv/{words}-v{d.version}")  # one seat, agents at the others',
        f'envs = gymnasium.make_vec("pigenv/{words}-v{d.version}", num_envs=256)  # the same at many tables',
    ]
    return fenced("\n".join(lines), "python") + (
        "\nThe arguments of [PettingZoo's](../reference/pigenv.envs.aec.md), "
        "[Gymnasium's](../reference/pigenv.envs.seat.md) and the "
        "[vector](../reference/pigenv.envs.vector.md) environment are the same for every game.\n"
    )


def _actions(game: Game) -> str:
    d = game.definition
    about = inspect.cleandoc(d.actions.__doc__) + "\n\n" if d.actions.__doc__ else ""
    rows = [(number, code(text)) for number, text in enumerate(game.action_texts)]
    return about + folded(f"All {game.num_actions} actions", table(("action", "text"), rows), len(rows))


def _observation(game: Game) -> str:
    d = game.definition
    bare = {part.name for part in registry.make(d, memory=False).layout.parts}
    _, most = d.seats(game.rules)
    wide = registry.make(d, max_players=most)
    rows = [
        (code(f"{start}:{stop}"), code(name), stop - start, meaning, "" if name in bare else "yes")
        for name, start, stop, meaning in game.layout.rows()
    ]
    added = [part for part in wide.layout.parts if part.name not in {each.name for each in game.layout.parts}]
    text = (
        f"{game.layout.size} numbers of type float32 in [0, 1], at {game.num_players} players. Seats are relative to "
        "whoever looks. `memory=False` leaves out what only a perfect memory of public events would know.\n\n"
    )
    text += table(("index", "part", "size", "meaning", "memory only"), rows)
    text += f"\n`max_players={most}` lays it out for every table up to {most} seats: {wide.layout.size} numbers"
    text += "".join(f", with `{part.name}` ({part.meaning})" for part in added) + ".\n"
    return text


def _rewards(game: Game) -> str:
    d, n = game.definition, game.num_players
    scale = d.score_scale(game.rules, n)
    sign = "fewer are better, so the sign is turned" if d.lowest_wins(game.rules) else "more are better"
    meaning = {
        "win": "(n · share − 1) / (n − 1), share = 1/k for each of k winners: 1 for the only winner, "
        f"{-1 / (n - 1):.3g} for the others at {n} players",
        "rank": "(n + 1 − 2 · place) / (n − 1): 1 for the first, −1 for the last, ties share the mean of their places",
        "score": f"(points − mean of all) / {scale:g}, at the end of each round; {sign}",
    }
    return table(("`reward`", "what each seat is paid"), [(code(name), meaning[name]) for name in REWARDS]) + (
        "\nEach adds up to zero over the table. See [rewards and episodes](../how/episodes.md).\n"
    )


def _presets(game: Game) -> str:
    rows = []
    for name, preset in game.definition.presets.items():
        made = registry.make(game.definition, preset=name)
        rules = ", ".join(code(f"{rule}={json.dumps(value)}") for rule, value in preset.rules.items())
        rows.append((code(name), preset.num_players, preset.meaning, rules, made.num_actions, made.layout.size))
    return table(("preset", "players", "what it is", "rules", "actions", "observation"), rows)


def _options(game: Game) -> str:
    rows = [
        (code(name), code(json.dumps(list(default) if isinstance(default, tuple) else default)), values, meaning)
        for name, default, _, values, meaning in game.options()
    ]
    return "Given as `rules={name: value}`, on the command line as `--rule name=value`.\n\n" + table(
        ("option", "default", "may be", "meaning"), rows
    )


def _players(game: Game) -> str:
    names = import_module("pigenv.agents.catalog").names(game.definition)
    own = f"pigenv.agents.{game.definition.base}"
    more = f" How they play is said in [{own}](../reference/{own}.md)." if own in public_modules() else ""
    return f"Weakest first: {', '.join(map(code, names))}.{more}\n"


def _example(game: Game) -> str:
    record = next(play_games(game, ["uniform"], SEED, 1))
    lines = [draw_text(next(iter(replay(record))).scene_before), ""]
    widest = max(map(len, game.action_texts))
    for each in islice(replay(record), STEPS_SHOWN):
        called = f'  "{each.called}"' if each.called else ""
        lines.append(f"{each.step:4}  seat {each.seat:<2} {each.action:<{widest}}{called}".rstrip())
    lines += ["   …", f"{record.outcome}; scores {record.scores}; returns {record.returns}"]
    command = f"pigenv record {game.definition.base} --seed {SEED} --out game.jsonl\npigenv replay game.jsonl"
    return fenced(command, "console") + "\n" + fenced("\n".join(lines))


def _deal(game: Game) -> str:
    desk = Table(game)
    desk.start(SEED)
    lines = [f" {json.dumps(name)}: {json.dumps(part)}" for name, part in desk.deal().items()]
    return 'As it stands in a record and as `reset(options={"deal": …})` takes it:\n\n' + fenced(
        "{\n" + ",\n".join(lines) + "\n}", "json"
    )


def _history(game: Game) -> str:
    """What the changelog says about any version of this game."""
    entries = list(history(game.definition, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    return "".join(f"- {release}: {entry}\n" for release, entry in entries) or (
        f"- {__version__}: `{game.id}`, the first version.\n" if game.definition.version == 0 else ""
    )


def history(definition: Definition, changelog: str) -> Iterator[tuple[str, str]]:
    """Release and text of each entry of the changelog that names a version of a game."""
    release = ""
    for block in re.split(r"\n(?=#|- )|\n\n", changelog):
        if block.startswith("## "):
            release = block.removeprefix("## ").strip()
        elif block.startswith("- ") and re.search(rf"\b{definition.base}_v\d+\b", block):
            yield release, " ".join(block.removeprefix("- ").split())


# --- the package ------------------------------------------------------------------------------------------------------

TOP_FOLDERS: Final = ("agents", "evaluate", "train")
NOT_LISTED: Final = re.compile(r"pigenv(\.(games|configs)(\..*)?|\.cli|\.registration|\.\w+_v\d+)?")
"""Modules without a page: games have one of another kind, and nobody imports the command line."""


def public_modules() -> list[str]:
    """Every public module of the package that says what it offers."""
    found = []
    for folder, prefix in [("pigenv", "pigenv"), *((top, f"pigenv.{top}") for top in TOP_FOLDERS)]:
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            # pigenv/agents and its like are links to the folders at the top.
            if (folder == "pigenv" and parts[0] in TOP_FOLDERS) or any(part.startswith("_") for part in parts):
                continue
            name = ".".join([prefix, *parts])
            if not NOT_LISTED.fullmatch(name):
                found.append(name)
    return sorted(found)


def reference_nav() -> list[Any]:
    """The entries of the navigation, by room."""
    rooms: dict[str, list[Any]] = {}
    for module in public_modules():
        parts = module.split(".")
        rooms.setdefault(".".join(parts[:2]) if len(parts) > 2 else "pigenv", []).append(
            {module.rpartition(".")[2]: f"{REFERENCE}/{module}.md"}
        )
    return [f"{REFERENCE}/index.md", *({room: pages} for room, pages in rooms.items())]


def reference_page() -> str:
    """Every module with the first sentence of its docstring."""
    rows = []
    for module in public_modules():
        source = _source(module).read_text(encoding="utf-8")
        first = source.partition('"""')[2].partition('"""')[0].strip().partition("\n\n")[0]
        rows.append((f"[{module}]({module}.md)", " ".join(first.split())))
    return "# API reference\n\nWhat each module offers, from its docstrings.\n\n" + table(("module", ""), rows)


def _source(module: str) -> Path:
    parts = module.split(".")[1:]
    folder = ROOT if parts[0] in TOP_FOLDERS else ROOT / "pigenv"
    return folder.joinpath(*parts).with_suffix(".py")


def commands_page() -> str:
    """The command line, from its own help."""
    import typer
    from typer.testing import CliRunner

    from pigenv.cli import app

    runner = CliRunner()
    group = typer.main.get_command(app)
    text = (
        "# Command line\n\nA wrong option, file or name gets one sentence and exit status 2; 1 means that the answer "
        "is no (a record does not verify), 0 that all is done. With `--json` a command prints one JSON document on "
        "standard output and nothing else there.\n"
    )
    for name in group.commands:  # type: ignore[attr-defined]
        shown = runner.invoke(app, [name, "--help"], env={"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"})
        lines = [line.rstrip() for line in shown.stdout.strip().splitlines()]
        text += f"\n## {name}\n\n" + fenced("\n".join(lines))
    return text


# --- Markdown ---------------------------------------------------------------------------------------------------------


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(_cell(each) for each in line) + " |\n" for line in lines)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def code(value: object) -> str:
    """A value as code."""
    return f"`{value}`"


def fenced(text: str, language: str = "text") -> str:
    """A block of code."""
    return f"```{language}\n{text}\n```\n"


def folded(title: str, block: str, rows: int) -> str:
    """A block that is folded up where it is long."""
    if rows < LONG_TABLE:
        return block
    return f'??? note "{title}"\n\n' + "".join(f"    {line}\n" for line in block.splitlines())


# --- links ------------------------------------------------------------------------------------------------------------

_FETCHED: Final[Mapping[str, str]] = {
    "script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "object": "data",
}  # fmt: skip


class _Page(HTMLParser):
    """What a page links to, what it has a browser fetch, and the names that links may lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.names.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif _FETCHED.get(tag) in found:
            self.fetched.append(found[_FETCHED[tag]])


def link_faults(site: Path) -> Iterator[str]:
    """What is wrong with the links of a built site.

    Args:
        site: Its folder.

    Yields:
        A sentence for each link within the site that leads nowhere, and for each picture, script or style that would
        be fetched from elsewhere. Links to other sites are not followed.
    """
    pages = {path: _Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        here = path.relative_to(site)
        for url in page.fetched:
            if urlsplit(url).netloc:
                yield f"{here}: {url} would be fetched from elsewhere"
        for url in [*page.links, *page.fetched]:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            start = site if parts.path.startswith("/") else path.parent
            target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                yield f"{here}: {url} leads nowhere"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                yield f"{here}: {url} leads to a page without that heading"
