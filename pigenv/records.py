"""Whole games as lines of JSON: play and write them, read, replay and check them.

One played game is one line of a `.jsonl` file, complete in itself: the deal, every decision, the scores and what they
paid. A record may come from anywhere; its deals and whatever else chance decided are input, not drawn again.

Rounds, steps, seats and episodes are counted from 0, as the lists of the record are; lines of a file from 1.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import math
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from pigenv import registry
from pigenv.agent import Agent, Decisions, find_agent, label
from pigenv.errors import AgentError, DealError, OptionError, PigenvError, RecordError, UnknownNameError
from pigenv.game import ANYBODY, REWARDS, RUNNING, TRUNCATED, Game
from pigenv.kernel import Row
from pigenv.scene import Scene
from pigenv.table import EPISODE, RAISE, Table, checked_seed, loops, set_seed

__all__ = [
    "FORMAT",
    "Record",
    "Recorder",
    "Replayed",
    "numbered_records",
    "play_games",
    "read_records",
    "replay",
    "scene_of",
    "verify",
    "verify_file",
    "write_records",
]

FORMAT: Final = "pigenv.record/1"
DECIMALS: Final = 6  # of returns, and of scores that are not whole

_BATCH: Final = 256  # games played at a time: enough for the loops to be fast, few enough for progress to be seen
_LONGEST_LINE: Final = 2**28  # bytes; a file without line ends, such as a device, must not fill the memory
_ROUND_KEYS: Final = ("deal", "steps", "scores")
_STEP_KEYS: Final = ("seat", "action", "legal")


# --- a record ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """One played game, with the names and the order of its JSON.

    Attributes:
        format: `FORMAT`.
        game: Id with version.
        num_players: How many sat at the table.
        seed: Where the deals came from; None where they were given by hand or a person's reactions were played.
        episode: Which game of that seed it is; None together with `seed`.
        rules: Every option with its value.
        reward: One of `REWARDS`.
        agents: Who sat there, by seat.
        rounds: For each round its `deal`, its `steps` and its `scores`. A step is `{"seat", "action"}`, with `legal`
            where that was asked for and with what chance decided in it; or `{"chance"}` alone.
        scores: Each seat's points over the match.
        returns: What the environment paid each seat, rounded to six decimals.
        outcome: "terminated" or "truncated".
    """

    format: str
    game: str
    num_players: int
    seed: int | None
    episode: int | None
    rules: dict[str, Any]
    reward: str
    agents: list[str]
    rounds: list[dict[str, Any]]
    scores: list[int | float]
    returns: list[float]
    outcome: str

    def to_line(self) -> str:
        """The record as one line of JSON, without the line end."""
        fields = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        line = json.dumps(fields, ensure_ascii=False, allow_nan=False)
        try:
            line.encode()
        except UnicodeEncodeError:  # half a surrogate pair, from a file's name: only its escape can be written
            return json.dumps(fields, allow_nan=False)
        return line

    @classmethod
    def from_line(cls, line: str) -> Record:
        """A record from a line of JSON, its shape checked; whether it replays is for `verify` to say.

        Raises:
            RecordError: It is not JSON, or not a record.
        """
        found = _parsed(line)
        _check_shape(found)
        return cls(**found)

    def _repr_html_(self) -> str:
        """The final position and what was called out, in a notebook."""
        from html import escape

        from pigenv.render.svg import draw_svg

        calls, last = [], None
        for last in replay(self):
            calls.append(f"<li>seat {last.seat}: {escape(last.action)} {escape(last.called)}</li>")
        picture = draw_svg(last.scene, last.game.definition.base, self.agents) if last is not None else ""
        results = f"{self.outcome}; scores {self.scores}; returns {self.returns}"
        steps = f"<details><summary>{len(calls)} steps</summary><ol>{''.join(calls)}</ol></details>"
        return f"<p>{escape(self.game)}: {escape(results)}</p>{picture}{steps}"

    def table_game(self) -> Game:
        """The game that was played, at its table.

        Raises:
            RecordError: There is no such game, or it has no such rules.
        """
        try:
            return _table_game(self.game, self.num_players, json.dumps(self.rules), self.reward)
        except (UnknownNameError, OptionError) as error:
            raise RecordError(str(error)) from None


@lru_cache(maxsize=64)  # the records of a file mostly have the same rules
def _table_game(name: str, num_players: int, rules_json: str, reward: str) -> Game:
    definition, given = registry.definition(name), json.loads(rules_json)
    if name != definition.id:
        raise RecordError(f"game must be an id with its version, such as {definition.id!r}; got {name!r}")
    options = [each.name for each in dataclasses.fields(definition.rules)]
    if missing := [option for option in options if option not in given]:
        raise RecordError(f"rules must hold every option of {name}; missing: {', '.join(missing)}")
    return registry.make(definition, num_players, rules=definition.rules.made(given), reward=reward)


def _parsed(line: str) -> dict[str, Any]:
    """The JSON object on a line; every key once, every number finite."""

    def refuse(constant: str) -> float:
        raise RecordError(f"not JSON: {constant} is no number there")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            keys = [key for key, _ in pairs]
            raise RecordError(f"key {next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object")
        return found

    try:
        found = json.loads(line, parse_constant=refuse, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise RecordError(f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise RecordError("not JSON that can be read: nested too deeply") from None
    except RecordError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise RecordError(f"not JSON that can be read: {error}") from None
    if not isinstance(found, dict):
        raise RecordError(f"a record must be a JSON object; got {_short(found)}")
    return found


def _check_shape(found: Mapping[str, Any]) -> None:
    """Refuse whatever is not built like a record, saying where."""
    if "format" in found and found["format"] != FORMAT:
        raise RecordError(f"format must be {FORMAT!r}; got {_short(found['format'])}")
    _check_keys("the record", found, [each.name for each in dataclasses.fields(Record)])
    players = found["num_players"]
    _demand(_is_whole(players) and players >= 1, "num_players", "a whole number of at least 1", players)
    seed, episode = found["seed"], found["episode"]
    fits = seed is None or (_is_whole(seed) and 0 <= seed < 2**64)
    _demand(fits, "seed", "null or a whole number 0 … 2^64-1", seed)
    fits = episode is None or (_is_whole(episode) and 0 <= episode < 2**63)
    _demand(fits, "episode", "null or a whole number 0 … 2^63-1", episode)
    _demand((seed is None) == (episode is None), "episode", "null exactly where seed is", episode)
    _demand(isinstance(found["game"], str), "game", "a text", found["game"])
    _demand(isinstance(found["rules"], dict), "rules", "an object", found["rules"])
    _demand(found["reward"] in REWARDS, "reward", f"one of {', '.join(REWARDS)}", found["reward"])
    outcomes = ("terminated", "truncated")
    _demand(found["outcome"] in outcomes, "outcome", " or ".join(map(repr, outcomes)), found["outcome"])
    agents, rounds = found["agents"], found["rounds"]
    fits = isinstance(agents, list) and len(agents) == players and all(isinstance(name, str) for name in agents)
    _demand(fits, "agents", f"a list of {players} names, one a seat", agents)
    _check_numbers("scores", found["scores"], players)
    _check_numbers("returns", found["returns"], players)
    _demand(isinstance(rounds, list) and bool(rounds), "rounds", "a list of at least one round", rounds)
    for number, each in enumerate(rounds):
        where = f"round {number}"
        _demand(isinstance(each, dict), where, "an object", each)
        _check_keys(where, each, _ROUND_KEYS)
        _demand(isinstance(each["deal"], dict), f"{where}: deal", "an object", each["deal"])
        _demand(isinstance(each["steps"], list), f"{where}: steps", "a list", each["steps"])
        _check_numbers(f"{where}: scores", each["scores"], players)
        for place, step in enumerate(each["steps"]):
            _check_step(f"{where}, step {place}", step, players)


def _check_step(where: str, step: Any, players: int) -> None:
    _demand(isinstance(step, dict), where, "an object", step)
    if set(step) == {"chance"}:
        return
    _check_keys(where, step, ("seat", "action"), exactly=False)
    seat, legal = step["seat"], step.get("legal", [])
    _demand(_is_whole(seat) and 0 <= seat < players, f"{where}: seat", f"a whole number 0 … {players - 1}", seat)
    _demand(isinstance(step["action"], str), f"{where}: action", "a text", step["action"])
    fits = isinstance(legal, list) and all(isinstance(text, str) for text in legal)
    _demand(fits, f"{where}: legal", "a list of texts", legal)


def _check_keys(where: str, found: Mapping[str, Any], keys: Sequence[str], exactly: bool = True) -> None:
    if missing := [key for key in keys if key not in found]:
        raise RecordError(f"{where} lacks {', '.join(map(repr, missing))}")
    if exactly and (unknown := [key for key in found if key not in keys]):
        raise RecordError(f"{where} has unknown {', '.join(map(_short, unknown))}; its keys are {', '.join(keys)}")


def _check_numbers(where: str, numbers: Any, players: int) -> None:
    fits = isinstance(numbers, list) and len(numbers) == players and all(map(_is_number, numbers))
    _demand(fits, where, f"a list of {players} numbers, one a seat", numbers)


def _demand(fits: bool, where: str, expected: str, got: Any) -> None:
    if not fits:
        raise RecordError(f"{where} must be {expected}; got {_short(got)}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    # An integer beyond a float's range is no score either, and would fail later.
    return (_is_whole(value) and abs(value) < 2**63) or (isinstance(value, float) and math.isfinite(value))


def _short(value: Any) -> str:
    """A value as an error shows it, cut where it would fill the screen."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}…"


# --- files ------------------------------------------------------------------------------------------------------------


def write_records(path: str | os.PathLike[str], records: Iterable[Record]) -> int:
    """Write records as a file of lines; it appears under its name only when all are written.

    Args:
        path: The file; one that is there already is replaced. A device or a pipe is written to as the records come.
        records: They may be played while they are written: that the file can be written is seen before the first one.

    Returns:
        How many were written.

    Raises:
        OptionError: The file cannot be written.
    """
    try:
        if Path(path).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if Path(path).exists() and not Path(path).is_file():
            return _write_lines(Path(path), "w", records)
        # Through a link to the file that it stands for: replacing must not turn the link into a file.
        target = Path(path).resolve()
        temporary = target.with_name(f".{target.name[:80]}.{secrets.token_hex(4)}.tmp")
        try:
            count = _write_lines(temporary, "x", records)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OptionError(f"cannot write {os.fspath(path)!r}: {error.strerror or error}") from None
    return count


def _write_lines(path: Path, mode: str, records: Iterable[Record]) -> int:
    count = 0
    with path.open(mode, encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(record.to_line() + "\n")
            count += 1
    return count


def read_records(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The records of a file, one after another.

    Raises:
        UnknownNameError: There is no such file, or it cannot be read.
        RecordError: A line is not a record, or the file holds none; names file, line and what is wrong.
    """
    for _, record in numbered_records(path):
        yield record


def numbered_records(path: str | os.PathLike[str]) -> Iterator[tuple[int, Record]]:
    """The records of a file with the numbers of their lines, from 1. Raises as `read_records` does."""
    name, number = os.fspath(path), 0
    try:
        with Path(path).open("rb") as file:
            while line := file.readline(_LONGEST_LINE):
                number += 1
                try:
                    if len(line) == _LONGEST_LINE:
                        raise RecordError(f"longer than {_LONGEST_LINE} bytes")
                    record = Record.from_line(line.decode("utf-8"))
                except UnicodeDecodeError as error:
                    raise RecordError(f"{name}, line {number}: not UTF-8 at byte {error.start}") from None
                except RecordError as error:
                    raise RecordError(f"{name}, line {number}: {error}") from None
                yield number, record
    except OSError as error:
        raise UnknownNameError(f"cannot read {name!r}: {error.strerror or error}") from None
    if number == 0:
        raise RecordError(f"{name} is empty; a file of records has one on each line")


# --- writing a game down ----------------------------------------------------------------------------------------------


class Recorder:
    """Writes one game down while it is played.

    Args:
        game: The game.
        agents: Who plays, by seat.
        seed: Where the deals come from; None where they are given by hand or a person's reactions are played.
        episode: Which episode of the seed this is; None together with `seed`.
        state: The game just begun, one record.
    """

    def __init__(self, game: Game, agents: Sequence[str], seed: int | None, episode: int | None, state: Row) -> None:
        self.game: Game = game
        self.agents: list[str] = list(agents)
        self.seed: int | None = seed
        self.episode: int | None = episode
        self.rounds: list[dict[str, Any]] = []
        self._outcome = ""
        self._points = np.zeros(game.num_players)
        self._begin_round(state)

    def _begin_round(self, state: Row) -> None:
        deal = self.game.definition.read_deal(state, self.game.row[0])
        self._steps: list[dict[str, Any]] = []
        self.rounds.append({"deal": deal, "steps": self._steps, "scores": []})
        self._round = int(state["round"])

    def step(self, seat: int, action: int, after: Row, legal: Sequence[int] | np.ndarray | None = None) -> None:
        """Write a decision down.

        Args:
            seat: Whose it was.
            action: What was played.
            after: The state it led to, one record; where a round ended in it, the next one dealt.
            legal: The actions that were legal, to be written too.
        """
        definition, texts = self.game.definition, self.game.action_texts
        entry: dict[str, Any] = {"seat": int(seat), "action": texts[action]}
        if legal is not None:
            entry["legal"] = sorted(texts[each] for each in legal)
        self._steps.append(entry)
        if definition.give_chance is not None:
            _enter_chance(self._steps, definition.read_chance(after, self.game.row[0]))
        if after["over"] != RUNNING or after["round"] != self._round:
            points = np.zeros(self.game.num_players)
            definition.scores(after, self.game.row[0], points)
            self.rounds[-1]["scores"] = [_plain(each) for each in points - self._points]
            self._points = points
            if after["over"] == RUNNING:
                self._begin_round(after)
            else:
                self._outcome = _outcome(int(after["over"]))

    def record(self) -> Record:
        """The record of the game, which must be over."""
        if not self._outcome:
            raise RecordError("the game is still going on; a record is of a whole game")
        return Record(
            format=FORMAT,
            game=self.game.id,
            num_players=self.game.num_players,
            seed=self.seed,
            episode=self.episode,
            rules=self.game.rules.to_json(),
            reward=self.game.reward,
            agents=self.agents,
            rounds=self.rounds,
            scores=[_plain(each) for each in self._points],
            returns=_returns(self.game, self._points),
            outcome=self._outcome,
        )


def _enter_chance(steps: list[dict[str, Any]], chance: Mapping[str, Any] | None) -> None:
    """Write what chance decided after the deal: into the step it belongs to, or as a step of its own."""
    if chance is None:
        return
    if set(chance) == {"chance"}:
        steps.append(dict(chance))
    else:
        steps[-1].update(chance)


def _outcome(over: int) -> str:
    return "truncated" if over == TRUNCATED else "terminated"


def _plain(number: float) -> int | float:
    """A number as JSON has it: whole ones as integers, others rounded, never −0."""
    value = round(float(number), DECIMALS)
    return int(value) if value.is_integer() else value


def _returns(game: Game, points: np.ndarray) -> list[float]:
    """What a match with these scores pays each seat.

    Computed from the scores and not added up from the payments, which are in single precision: so it agrees in all
    six decimals with whoever works it out by hand.
    """
    players, best_first = game.num_players, np.array(points)
    if game.definition.lowest_wins(game.rules):
        best_first = -best_first
    paid = []
    for own in best_first:
        better, equal = int((best_first > own).sum()), int((best_first == own).sum())
        if game.reward == "rank":
            value = (players + 1 - (2 * better + equal + 1)) / (players - 1)
        elif game.reward == "win":
            value = (players / equal - 1 if better == 0 else -1) / (players - 1)
        else:
            scale = game.definition.score_scale(game.rules, players)
            value = (float(own) - float(best_first.sum()) / players) / scale
        paid.append(round(float(value), DECIMALS) + 0.0)  # + 0.0: no −0
    return paid


# --- playing ----------------------------------------------------------------------------------------------------------


def play_games(
    game: Game,
    agents: Sequence[str | Agent],
    seed: int,
    games: int,
    *,
    legal: bool = False,
    first_episode: int = 0,
    progress: Callable[[int], None] | None = None,
    batch: int = _BATCH,
) -> Iterator[Record]:
    """Let agents play whole games.

    The records do not depend on `batch`, nor on which of a seed's games are played, with agents that take all their
    chance from the keys of their decisions.

    Args:
        game: The game they play.
        agents: Who sits at the table, by seat; the list is repeated until every seat is filled.
        seed: Where deals and the agents' own chance come from.
        games: How many episodes of the seed.
        legal: Whether each step also lists what was legal.
        first_episode: The first one.
        progress: Called with the number of games finished so far, whenever it grows.
        batch: How many games are played at a time.

    Yields:
        A record of each game, in the order of the episodes.

    Raises:
        AgentError: An agent cannot play this game, or chose something that is not legal.
        UnknownNameError: Nothing goes by an agent's name.
        SeedError, OptionError: The seed or a number is unusable.
    """
    checked_seed(seed)
    for name, value, low in (("games", games, 1), ("first_episode", first_episode, 0), ("batch", batch, 1)):
        if not _is_whole(value) or value < low or value >= 2**62:
            raise OptionError(f"{name} must be a whole number of at least {low}; got {value!r}")
    if not agents or isinstance(agents, str):
        raise OptionError(f"agents must be a list of at least one agent; got {agents!r}")
    if len(agents) > game.num_players:
        raise OptionError(f"there are {game.num_players} seats for {len(agents)} agents")
    line_up = _Line(game, agents, seed)
    return _played(line_up, seed, games, legal, first_episode, progress, batch)


class _Line:
    """The agents at the tables and who sits where."""

    def __init__(self, game: Game, agents: Sequence[str | Agent], seed: int) -> None:
        self.game = game
        seated = [agents[seat % len(agents)] for seat in range(game.num_players)]
        # A player without memory is found as one and the same object for all its seats and asked for them together; a
        # class of somebody's own gets an instance for each.
        found = [find_agent(each, game) for each in seated]
        self.names = [label(each) for each in seated]
        self.agents = list({id(agent): agent for agent in found}.values())
        places = {id(agent): place for place, agent in enumerate(self.agents)}
        self.agent_of = np.array([places[id(agent)] for agent in found])
        for place, agent in enumerate(self.agents):
            agent.reset(int(np.random.SeedSequence([seed, place]).generate_state(1, np.uint64)[0]))

    def act(self, decisions: Decisions) -> np.ndarray:
        """An action for each decision, int64, `(n,)`."""
        if len(self.agents) == 1:
            return self._answer(0, decisions)
        asked = self.agent_of[decisions.seats]
        actions = np.zeros(len(decisions), np.int64)
        for place in np.unique(asked):
            rows = np.flatnonzero(asked == place)
            part = Decisions(
                self.game,
                decisions.views[rows],
                decisions.seats[rows],
                decisions.action_masks[rows],
                decisions.keys[rows],
            )
            actions[rows] = self._answer(int(place), part)
        return actions

    def _answer(self, place: int, decisions: Decisions) -> np.ndarray:
        """What an agent says, made sure of: anybody's class can sit here."""
        agent = self.agents[place]
        try:
            actions = np.asarray(agent.act(decisions))
        except PigenvError:
            raise
        except Exception as error:
            raise AgentError(f"agent {agent.name!r} failed: {type(error).__name__}: {error}") from error
        if actions.shape != (len(decisions),) or actions.dtype.kind not in "iu":
            raise AgentError(
                f"agent {agent.name!r} must answer {len(decisions)} decisions with as many integers; "
                f"got shape {actions.shape} of {actions.dtype}"
            )
        masks, texts = decisions.action_masks, self.game.action_texts
        inside = (actions >= 0) & (actions < len(texts))
        wrong = ~inside | (masks[np.arange(len(actions)), np.where(inside, actions, 0)] == 0)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            text = f" ({texts[actions[row]]!r})" if inside[row] else ""
            allowed = ", ".join(repr(texts[each]) for each in np.flatnonzero(masks[row]))
            raise AgentError(
                f"agent {agent.name!r} played action {actions[row]}{text} for seat {decisions.seats[row]}; "
                f"legal: {allowed}"
            )
        return actions.astype(np.int64, copy=False)


def _played(
    line: _Line,
    seed: int,
    games: int,
    legal: bool,
    first_episode: int,
    progress: Callable[[int], None] | None,
    batch: int,
) -> Iterator[Record]:
    done = 0
    while done < games:
        count = min(batch, games - done)
        wave = _Wave(line, seed, range(first_episode + done, first_episode + done + count), legal)
        while wave.running.size:
            finished = wave.step()
            if finished and progress is not None:
                progress(done + count - len(wave.running))
        for recorder in wave.recorders:
            yield recorder.record()
        done += count


class _Wave:
    """Games that are played side by side until all are over."""

    def __init__(self, line: _Line, seed: int, numbers: range, legal: bool) -> None:
        game, count = line.game, len(numbers)
        self.line, self.game, self.legal, self.loops = line, game, legal, loops(game.definition)
        self.states = np.zeros(count, game.definition.state)
        self.episodes = np.zeros(count, EPISODE)
        self.seats = np.zeros(count, np.int8)
        self.masks = np.zeros((count, game.num_actions), np.int8)
        self._observations = np.zeros((count, game.layout.size), np.float32)
        self._scratch = np.zeros(1, game.definition.state)
        self._rewards = np.zeros((count, game.num_players), np.float32)
        self._over = np.zeros(count, np.int8)
        for i, number in enumerate(numbers):
            set_seed(self.episodes[i], seed, number)
        self.loops.start_tables(self.states, game.row, self.episodes, np.ones(count, bool))
        self.loops.decide_tables(self.states, game.row, self.seats, self._scratch, self._observations, self.masks)
        self.recorders = [Recorder(game, line.names, seed, number, self.states[i]) for i, number in enumerate(numbers)]
        self.running = np.flatnonzero(self.states["over"] == RUNNING)

    def step(self) -> bool:
        """Make a decision at every table that goes on; returns whether a game ended."""
        rows, game = self.running, self.game
        views = np.zeros(len(rows), game.definition.state)
        masks = np.zeros((len(rows), game.num_actions), np.int8)
        seats, keys = np.full(len(rows), -1, np.int8), np.zeros(len(rows), np.uint64)
        self.loops.view_tables(self.states, game.row, self.episodes, rows, seats, views, masks, keys)
        chosen = self.line.act(Decisions(game, views, seats.copy(), masks.copy(), keys))
        actions = np.zeros(len(self.states), np.int64)
        actions[rows] = chosen
        self.loops.step_tables(
            self.states, game.row, self.episodes, actions, RAISE, False,
            self.seats, self._scratch, self._observations, self.masks, self._rewards, self._over,
        )  # fmt: skip
        for k, i in enumerate(rows.tolist()):
            allowed = np.flatnonzero(masks[k]) if self.legal else None
            self.recorders[i].step(int(seats[k]), int(chosen[k]), self.states[i], allowed)
        self.running = rows[self._over[rows] == RUNNING]
        return len(self.running) < len(rows)


# --- replaying --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Replayed:
    """One decision of a game that is replayed.

    Attributes:
        game: The game.
        round: Which round it is in.
        step: Where it stands in the round's list of steps.
        seat: Whose decision it was.
        action: What was played, as text.
        action_number: What was played, as the environments take it.
        observation: What the seat saw, float32, `(layout.size,)`.
        action_mask: What it might have played, int8, `(num_actions,)`.
        before: The state it was played in, one record in an array of shape `(1,)`.
        after: The state it led to; where it ended a round, the next one dealt.
        chance: What chance decided in it, as it stands in the record, or None.
    """

    game: Game
    round: int
    step: int
    seat: int
    action: str
    action_number: int
    observation: np.ndarray
    action_mask: np.ndarray
    before: np.ndarray
    after: np.ndarray
    chance: dict[str, Any] | None

    @cached_property
    def called(self) -> str:
        """What is said at the table; empty where nothing is."""
        row = self.game.row[0]
        return self.game.definition.call_out(self.before[0], self.after[0], row, self.action)

    @cached_property
    def scene(self) -> Scene:
        """The open table after it."""
        return self.game.definition.scene(self.after[0], self.game.row[0], ANYBODY)

    @cached_property
    def scene_before(self) -> Scene:
        """The open table as it was."""
        return self.game.definition.scene(self.before[0], self.game.row[0], ANYBODY)

    def _repr_html_(self) -> str:
        """The open table after it, in a notebook."""
        from pigenv.render.svg import draw_svg

        return draw_svg(self.scene, self.game.definition.base)

    @cached_property
    def scores(self) -> np.ndarray:
        """Each seat's points as they stand after it, float64, `(num_players,)`."""
        points = np.zeros(self.game.num_players)
        self.game.definition.scores(self.after[0], self.game.row[0], points)
        return points

    @property
    def legal(self) -> list[str]:
        """What might have been played, sorted as text."""
        return _texts(self.game, self.action_mask)

    @property
    def ends_round(self) -> bool:
        """Whether the round, or the match, ended with it."""
        return bool(self.after["over"][0] != RUNNING or self.after["round"][0] != self.before["round"][0])


def scene_of(game: Game, state: np.ndarray, seat: int | None = None) -> Scene:
    """What lies where in a state, one record in an array of shape `(1,)`, as a seat sees it; None for all of it."""
    row = game.row[0]
    if seat is None:
        return game.definition.scene(state[0], row, ANYBODY)
    view = state.copy()
    view["key"] = 0
    game.definition.hide(view[0], row, seat)
    return game.definition.scene(view[0], row, seat)


def replay(record: Record) -> Iterator[Replayed]:
    """A game once more, decision by decision, from the deals in the record.

    What the record claims about it (scores, returns, that its seed deals these cards) is not checked: see `verify`.

    Raises:
        RecordError: A deal or an action is not one that the rules allow; names round and step.
    """
    return _Replay(record, strict=False).steps()


def verify(record: Record) -> int:
    """Check everything that a record says: deals, seats, actions, legal actions, scores, returns, outcome.

    Returns:
        How many steps it has.

    Raises:
        RecordError: The first fault; names round and step, what was expected, and what came.
    """
    check = _Replay(record, strict=True)
    for _ in check.steps():
        pass
    return sum(len(each["steps"]) for each in record.rounds)


def verify_file(path: str | os.PathLike[str], progress: Callable[[int], None] | None = None) -> tuple[int, int]:
    """`verify` every record of a file.

    Args:
        path: The file.
        progress: Called with the number of records checked so far, after each.

    Returns:
        How many records and how many steps were checked.

    Raises:
        UnknownNameError: There is no such file, or it cannot be read.
        RecordError: The first fault; names file, line, round and step.
    """
    records = steps = 0
    for line, record in numbered_records(path):
        try:
            steps += verify(record)
        except RecordError as error:
            raise RecordError(f"{os.fspath(path)}, line {line}: {error}") from None
        records += 1
        if progress is not None:
            progress(records)
    return records, steps


class _Replay:
    """A table on which a record is played again; `strict` also holds all its claims against the game."""

    def __init__(self, record: Record, strict: bool) -> None:
        # A record made by hand has not been through `from_line`.
        _check_shape({each.name: getattr(record, each.name) for each in dataclasses.fields(record)})
        self.record, self.strict = record, strict
        self.game = record.table_game()
        self.definition = self.game.definition
        self.table = Table(self.game)
        # Where chance is claimed to come from the seed, the seed draws it and the record must agree.
        self.drawn = strict and record.seed is not None
        deals = [] if self.drawn else [each["deal"] for each in record.rounds]
        try:
            self.table.start(record.seed or 0, record.episode or 0, deals)
        except DealError as error:
            raise RecordError(str(error)) from None
        self.points = np.zeros(self.game.num_players)

    def steps(self) -> Iterator[Replayed]:
        rounds = self.record.rounds
        for number, each in enumerate(rounds):
            if self.table.over != RUNNING:
                raise RecordError(f"round {number}: the match is over after round {number - 1}")
            self._check_deal(number, each["deal"])
            yield from self._round(number, each["steps"])
            self._check_scores(number, each["scores"])
        if self.table.over == RUNNING:
            raise RecordError(f"the record ends with round {len(rounds) - 1}; the match goes on")
        self._check_end()

    def _round(self, number: int, steps: Sequence[Mapping[str, Any]]) -> Iterator[Replayed]:
        place, going_on = 0, True
        while place < len(steps):
            where = f"round {number}, step {place}"
            if not going_on:
                raise RecordError(f"{where}: the round is over; got {_short(steps[place])}")
            if set(steps[place]) == {"chance"}:
                raise RecordError(f"{where}: {self._expected()}; got {_short(steps[place])}")
            chance = {key: value for key, value in steps[place].items() if key not in _STEP_KEYS}
            after = place + 1
            if after < len(steps) and set(steps[after]) == {"chance"}:
                chance.update(steps[after])
                after += 1
            replayed = self._step(number, place, steps[place], chance)
            if replayed is not None:
                yield replayed
            going_on = self.table.over == RUNNING and self.table.round == number
            place = after
        if going_on:
            raise RecordError(f"round {number} stops after {len(steps)} steps; {self._expected()}")

    def _expected(self) -> str:
        legal = ", ".join(map(repr, _texts(self.game, self.table.masks[0])))
        return f"seat {self.table.seat} must play one of {legal}"

    def _step(self, number: int, place: int, step: Mapping[str, Any], chance: dict[str, Any]) -> Replayed | None:
        """Play a step; returns it where somebody is there to look at it."""
        where, table = f"round {number}, step {place}", self.table
        seat, text = step["seat"], step["action"]
        if seat != table.seat:
            raise RecordError(f"{where}: {self._expected()}; got seat {seat} playing {text!r}")
        action = self.game.action_number(text)
        if action is None or not table.masks[0, action]:
            raise RecordError(f"{where}: {self._expected()}; got {_short(text)}")
        if self.strict and "legal" in step and step["legal"] != (legal := _texts(self.game, table.masks[0])):
            raise RecordError(f"{where}: legal must be {json.dumps(legal)}; got {_short(step['legal'])}")
        if chance and self.definition.give_chance is None:
            known = ", ".join(_STEP_KEYS)
            raise RecordError(
                f"{where} has unknown {', '.join(map(repr, chance))}; a step of {self.game.id} has {known}"
            )
        if self.strict:
            self._play(where, action, chance)
            return None
        before, mask, observation = table.states.copy(), table.masks[0].copy(), table.observations[0].copy()
        self._play(where, action, chance)
        return Replayed(
            game=self.game,
            round=number,
            step=place,
            seat=seat,
            action=text,
            action_number=action,
            observation=observation,
            action_mask=mask,
            before=before,
            after=table.states.copy(),
            chance=chance or None,
        )

    def _play(self, where: str, action: int, chance: dict[str, Any]) -> None:
        definition, row, states = self.definition, self.game.row[0], self.table.states
        if definition.give_chance is None:
            self.table.step(action)
            return
        if chance and not self.drawn:
            try:
                definition.give_chance(states[0], row, chance)
            except DealError as error:
                raise RecordError(f"{where}: {error}") from None
        self.table.step(action)
        found = definition.read_chance(states[0], row) or {}
        if found and not chance:
            raise RecordError(f"{where} lacks {', '.join(map(repr, found))}, which chance decided in it")
        if not _same(found, chance):
            source = f"seed {self.record.seed} gives" if self.drawn else "chance in this step must be"
            raise RecordError(f"{where}: {source} {_short(found)}; got {_short(chance)}")

    def _check_deal(self, number: int, deal: Mapping[str, Any]) -> None:
        if self.drawn and not _same(dealt := self.table.deal(), deal):
            raise RecordError(
                f"round {number}: deal is not the one of seed {self.record.seed}, episode {self.record.episode}: "
                f"{_difference('deal', dealt, deal)}"
            )

    def _check_scores(self, number: int, scores: Sequence[float]) -> None:
        points = self.table.scores()
        expected = [_plain(each) for each in points - self.points]
        self.points = points
        self._claim(f"round {number}: scores", expected, scores)

    def _check_end(self) -> None:
        self._claim("outcome", _outcome(self.table.over), self.record.outcome)
        self._claim("scores", [_plain(each) for each in self.points], self.record.scores)
        self._claim("returns", _returns(self.game, self.points), self.record.returns)

    def _claim(self, where: str, expected: Any, got: Any) -> None:
        if self.strict and expected != got:
            raise RecordError(f"{where} must be {_short(expected)}; got {_short(got)}")


def _texts(game: Game, mask: np.ndarray) -> list[str]:
    """The texts of the legal actions, sorted as text."""
    return sorted(game.action_texts[each] for each in np.flatnonzero(mask))


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; to Python, true, 1 and 1.0 are equal."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _difference(where: str, expected: Any, got: Any) -> str:
    """The first place in which two values that are not the same JSON differ."""
    if isinstance(expected, dict) and isinstance(got, dict) and set(expected) == set(got):
        key = next(key for key in expected if not _same(expected[key], got[key]))
        return _difference(f"{where}.{key}", expected[key], got[key])
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        place = next(place for place in range(len(got)) if not _same(expected[place], got[place]))
        return _difference(f"{where}[{place}]", expected[place], got[place])
    return f"{where} must be {_short(expected)}; got {_short(got)}"
