"""Records to look at: every position from every seat, what was called, and how an agent ranks the moves."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from pigenv.agent import find_agent
from pigenv.errors import OptionError, PigenvError
from pigenv.game import RUNNING
from pigenv.records import Record, Replayed, numbered_records, replay, scene_of
from pigenv.render.faces import card_name
from pigenv.render.svg import card_svg
from pigenv.table import Table
from pigenv.web.advice import advise
from pigenv.web.moves import described
from pigenv.web.session import PERSON, Session

__all__ = ["Library", "card_table", "document_of", "exported", "write_export"]

PAGE_FILES: Final = {"page.css": "text/css", "page.js": "text/javascript"}
_SUITED: Final = tuple(rank + suit for suit in "CDHS" for rank in "A23456789TJQK")
_NUMBERS: Final = tuple(map(str, range(13)))


def card_table(game: str) -> dict[str, dict[str, str]]:
    """Picture and name of every card that a game may have, by its text; `""` is the back."""
    texts: dict[str, str | None] = {"": None, **{text: text for text in (*_NUMBERS, "W", "X", *_SUITED)}}
    return {key: {"svg": card_svg(card, game), "name": card_name(card, game)} for key, card in texts.items()}


class Library:
    """The records of a file.

    Args:
        path: The file.

    Raises:
        UnknownNameError, RecordError: It cannot be read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.records: dict[int, Record] = dict(numbered_records(path))

    def record(self, line: int) -> Record:
        """The record on a line.

        Raises:
            OptionError: There is none.
        """
        if line not in self.records:
            raise OptionError(f"{self.path} has lines {min(self.records)} … {max(self.records)}; got {line}")
        return self.records[line]

    def contents(self) -> list[dict[str, Any]]:
        """What a page lists: line, game, who played, how it ended."""
        return [
            {
                "line": line,
                "game": each.game,
                "agents": each.agents,
                "scores": each.scores,
                "steps": sum(len(played["steps"]) for played in each.rounds),
            }
            for line, each in self.records.items()
        ]

    @lru_cache(maxsize=8)  # noqa: B019 (a library lives as long as its server)
    def document(self, line: int) -> dict[str, Any]:
        """See `document_of`."""
        return document_of(self.record(line), line)

    def ranking(self, line: int, step: int, agent: str | None) -> dict[str, Any]:
        """How an agent, or the one that played, ranks the moves before a step.

        Raises:
            OptionError: There is no such step.
            UnknownNameError, AgentError: The agent cannot be found, or cannot play this game.
        """
        record = self.record(line)
        each = _step(record, step)
        return _ranking(each, agent or record.agents[each.seat])

    def branch(self, line: int, step: int, seat: int, agents: Sequence[str]) -> Session:
        """A game to play on from the position before a step.

        Args:
            line: Which record.
            step: How many of its decisions were made, over all rounds.
            seat: Where the person sits.
            agents: Who plays the other seats, from the left of the person on, repeated.

        Raises:
            OptionError: There is no such step or seat.
        """
        record = self.record(line)
        game = record.table_game()
        if not 0 <= seat < game.num_players:
            raise OptionError(f"seat must be 0 … {game.num_players - 1}; got {seat}")
        moves = [_as_move(each) for each in replay(record)]
        if not 0 <= step < len(moves):
            raise OptionError(f"step must be 0 … {len(moves) - 1}; got {step}")
        names = list(agents) or ["uniform"]
        line_up = [PERSON] * game.num_players
        for place in range(1, game.num_players):
            line_up[(seat + place) % game.num_players] = names[(place - 1) % len(names)]
        deals = [each["deal"] for each in record.rounds]
        return Session(game, line_up, secrets.randbits(64), 0, deals, moves[:step])


def _as_move(each: Replayed) -> dict[str, Any]:
    return {"seat": each.seat, "action": each.action, **(each.chance or {})}


def _step(record: Record, step: int) -> Replayed:
    for place, each in enumerate(replay(record)):
        if place == step:
            return each
    raise OptionError(f"the game has fewer than {step + 1} steps")


def _ranking(each: Replayed, agent: str) -> dict[str, Any]:
    game = each.game
    table = Table(game)
    table.start(0)
    table.states[:] = each.before
    table.seat, table.over = each.seat, RUNNING
    table.masks[0] = each.action_mask
    found = advise(table, find_agent(agent, game)).to_json()
    scene, base = table.scene(each.seat), game.definition.base
    for entry in found["ranking"]:
        entry["label"] = described(entry["action"], scene, base).label
    return found


def document_of(record: Record, line: int = 1) -> dict[str, Any]:
    """A game for the page: every zone once, and for each position from each seat which zones it is made of.

    `frames[k]` is the position after k decisions: `views` gives for the open table and each seat the numbers of its
    zones, its scores and what is called; `played` what led to it.
    """
    game = record.table_game()
    zones: dict[str, int] = {}

    def numbered(state: Any) -> list[dict[str, Any]]:
        views = []
        for seat in (None, *range(game.num_players)):
            scene = scene_of(game, state, seat)
            places = [zones.setdefault(json.dumps(asdict(zone)), len(zones)) for zone in scene.zones]
            views.append({"zones": places, "to_move": scene.to_move, "scores": scene.scores, "called": scene.called})
        return views

    frames: list[dict[str, Any]] = []
    for each in replay(record):
        if not frames:
            frames.append({"views": numbered(each.before), "round": 0, "played": None})
        before = scene_of(game, each.before, each.seat)
        played = {
            "seat": each.seat,
            "action": each.action,
            "label": described(each.action, before, game.definition.base).label,
            "called": each.called,
            "chance": each.chance,
        }
        frames.append({"views": numbered(each.after), "round": each.round, "played": played})
    sign = 1 if game.definition.lowest_wins(game.rules) else -1
    return {
        "line": line,
        "game": game.definition.base,
        "title": game.definition.name,
        "num_players": record.num_players,
        "agents": record.agents,
        "seed": None if record.seed is None else str(record.seed),
        "episode": record.episode,
        "rules": {name: value for name, default, value, *_ in game.options() if value != default},
        "sheet": [each["scores"] for each in record.rounds],
        "result": {
            "scores": record.scores,
            "places": [1 + sum(sign * other < sign * own for other in record.scores) for own in record.scores],
            "returns": record.returns,
            "outcome": record.outcome,
        },
        "zones": [json.loads(zone) for zone in zones],
        "frames": frames,
    }


def exported(record: Record, line: int, agent: str | None = None) -> str:
    """One game as a page that needs nothing beside it, with the rankings of the agents that can be found here.

    Args:
        record: The game.
        line: Its line in the file, for the title.
        agent: Whose ranking stands beside each move; that of whoever played it where None.

    Raises:
        UnknownNameError, AgentError: The agent named cannot be found, or cannot play this game.
    """
    document = document_of(record, line)
    rankings: list[dict[str, Any] | None] = []
    for each in replay(record):
        try:
            rankings.append(_ranking(each, agent or record.agents[each.seat]))
        except PigenvError:
            if agent is not None:
                raise
            rankings.append(None)
    document["rankings"] = rankings
    page = resources.files("pigenv.web").joinpath("page")
    html = page.joinpath("index.html").read_text(encoding="utf-8")
    style, script = (page.joinpath(name).read_text(encoding="utf-8") for name in PAGE_FILES)
    used = {card or "" for zone in document["zones"] for card in zone["cards"]}
    cards = {key: value for key, value in card_table(document["game"]).items() if key in used | {""}}
    data = json.dumps({"record": document, "cards": cards}, ensure_ascii=True).replace("<", "\\u003c")
    html = html.replace('<link rel="stylesheet" href="page.css">', f"<style>\n{style}</style>")
    return html.replace(
        '<script src="page.js" defer></script>',
        f'<script type="application/json" id="data">{data}</script>',
    ).replace("</body>", f"<script>\n{script}</script>\n</body>")


def write_export(path: Path, record: Record, line: int, agent: str | None = None) -> None:
    """Write `exported` to a file.

    Raises:
        OptionError: It cannot be written.
    """
    text = exported(record, line, agent)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OptionError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
