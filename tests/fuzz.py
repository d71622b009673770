"""Compiled games against their slow twins, at random and for as long as there is time: `python -m tests.fuzz`.

Each round draws options, a number of players, a reward and a seed, lets the compiled game play a few games at random
and write them down, and lets the twin check every line of the records: whose decision it was, what was legal, scores,
returns and how it ended. A disagreement is shrunk to a short record that still shows it.

Games are found by name: the twin of `NAME` is the class `Naive…` of `tests/naive/NAME.py`; options are drawn by
`NAME_rules` of `tests/strategies.py`, or by `random_rules` of the twin's own tests, or else from the presets.
"""

from __future__ import annotations

import argparse
import inspect
import multiprocessing
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from pigenv import registry
from pigenv.errors import OptionError
from pigenv.game import MAX_SEATS, REWARDS, Game
from pigenv.records import Record, play_games

GAMES_A_RULES: Final = 40  # games under the same options
SHRINK_SEEDS: Final = 400  # games tried at each simplification
_TOLERANCE: Final = 1e-6
_DECISION: Final = ("seat", "action", "legal")

Twin = Callable[[int, dict[str, Any], Any], Any]


# --- what is found by name --------------------------------------------------------------------------------------------


def games_with_twins() -> list[str]:
    """The games that have a slow twin."""
    return [name for name in registry.names() if find_spec(f"tests.naive.{name}")]


def twin_of(name: str) -> Twin:
    """The slow twin of a game: its class, called with number of players, rules and deal or deals."""
    module = import_module(f"tests.naive.{name}")
    (found,) = [value for key, value in vars(module).items() if key.startswith("Naive") and inspect.isclass(value)]
    return found  # type: ignore[no-any-return]


def random_rules(name: str, generator: random.Random, num_players: int) -> dict[str, Any]:
    """Options of a game, drawn at random for a table of this size."""
    drawn: Any = getattr(import_module("tests.strategies"), f"{name}_rules", None)
    if drawn is not None:
        return dict(drawn(generator, num_players))
    tests = f"tests.naive.test_{name}_naive"
    if find_spec(tests) and hasattr(import_module(tests), "random_rules"):
        return dict(import_module(tests).random_rules(generator))
    return dict(generator.choice(list(registry.definition(name).presets.values())).rules)


def random_game(name: str, generator: random.Random) -> Game:
    """A game at a table of random size under random options."""
    while True:
        num_players = generator.randint(2, MAX_SEATS)
        try:
            rules = random_rules(name, generator, num_players)
            return registry.make(name, num_players, rules=rules, reward=generator.choice(REWARDS))
        except (OptionError, IndexError, ValueError):
            continue  # so many cannot sit down, or not under these options


# --- holding a record against a twin ----------------------------------------------------------------------------------


def disagreement(record: Record, twin_class: Twin) -> tuple[int, str] | None:
    """Where a twin first contradicts a record, with every legal action in it.

    Returns:
        How many steps were made before, and what differs; None where they agree.
    """
    steps = [step for each in record.rounds for step in each["steps"] if set(step) != {"chance"}]
    made = 0
    try:
        twin = _seated(record, twin_class)
        for made, step in enumerate(steps):
            here = (twin.over, twin.seat, twin.legal())
            if here != (None, step["seat"], step["legal"]):
                theirs = f"seat {step['seat']}, legal {step['legal']}"
                ours = f"the game over ({here[0]})" if here[0] else f"seat {here[1]}, legal {here[2]}"
                return made, f"the game has {theirs}; the twin has {ours}"
            twin.step(step["action"], **{name: value for name, value in step.items() if name not in _DECISION})
        made = len(steps)
        found = {"outcome": twin.over, "scores": list(twin.scores())}
        for name, value in found.items():
            if value != getattr(record, name):
                return made, f"{name}: the game has {getattr(record, name)}, the twin has {value}"
        game = record.table_game()
        scale = game.definition.score_scale(game.rules, game.num_players)
        returns = twin.returns(record.reward, scale)
        if any(abs(one - other) > _TOLERANCE for one, other in zip(returns, record.returns, strict=True)):
            return made, f"returns: the game has {record.returns}, the twin has {returns}"
    except Exception as error:
        return made, f"the twin refuses what the game did: {type(error).__name__}: {error}"
    return None


def _seated(record: Record, twin_class: Twin) -> Any:
    """The twin at the beginning of the game that was recorded."""
    deals = [each["deal"] for each in record.rounds]
    if "deal" in inspect.signature(twin_class).parameters:
        return twin_class(record.num_players, record.rules, deals[0])
    # A match that was cut short has fewer rounds than a twin may ask for; those beyond are never played.
    rounds = record.rules.get("rounds", 1)
    missing = rounds - len(deals) if isinstance(rounds, int) and record.outcome == "truncated" else 0
    return twin_class(record.num_players, record.rules, deals + deals[-1:] * missing)


@dataclass(frozen=True)
class Found:
    """A disagreement.

    Attributes:
        record: The game in which it shows.
        steps: How many steps were made before it.
        message: What differs.
    """

    record: Record
    steps: int
    message: str


def search(game: Game, twin_class: Twin, seed: int, games: int) -> tuple[int, Found | None]:
    """Play some games of a seed.

    Returns:
        How many decisions were checked, and the disagreement with the fewest steps before it.
    """
    checked, best = 0, None
    for record in play_games(game, ["uniform"], seed, games, legal=True):
        checked += sum(len(each["steps"]) for each in record.rounds)
        fault = disagreement(record, twin_class)
        if fault is not None and (best is None or fault[0] < best.steps):
            best = Found(record, *fault)
    return checked, best


# --- shrinking --------------------------------------------------------------------------------------------------------


def shrunk(found: Found, twin_class: Twin, seeds: int = SHRINK_SEEDS) -> Found:
    """The same disagreement in as few steps, as many default options and as few players as can be found.

    What is tried each time is `seeds` new games under simpler options; what takes more steps is not simpler.
    """
    best: Found | None = found
    while best is not None:
        found, best = best, None
        for candidate in _simpler(found):
            _, other = search(candidate, twin_class, 0, seeds)
            if other is not None and _size(other) < _size(found):
                best = other
                break
    return found


def _size(found: Found) -> tuple[int, int, int, int]:
    """Steps before the disagreement, options otherwise than by default but for the cut, players, and all steps."""
    changed = len(_changed(found.record) - {"max_turns"})
    whole = sum(len(each["steps"]) for each in found.record.rounds)
    return found.steps, changed, found.record.num_players, whole


def _changed(record: Record) -> set[str]:
    return {name for name, default, value, *_ in record.table_game().options() if value != default}


def _simpler(found: Found) -> Iterator[Game]:
    """Games like that of a disagreement, with one thing simpler."""
    record = found.record
    # First a limit right behind the disagreement: the record ends there, and what follows plays short games.
    for turns in sorted({found.steps // 2 + 1, found.steps, found.steps + 1}):
        if turns < record.rules["max_turns"]:
            yield from _made(record, record.num_players, {**record.rules, "max_turns": turns})
    yield from _made(record, record.num_players, record.rules)
    for num_players in range(2, record.num_players):
        yield from _made(record, num_players, record.rules)
    for name in sorted(_changed(record) - {"max_turns"}):
        for num_players in {2, record.num_players}:
            yield from _made(record, num_players, {k: v for k, v in record.rules.items() if k != name})


def _made(record: Record, num_players: int, rules: Mapping[str, Any]) -> Iterator[Game]:
    try:
        yield registry.make(record.game, num_players, rules=rules, reward=record.reward)
    except OptionError:
        return  # these options do not go together


# --- running ----------------------------------------------------------------------------------------------------------


def fuzz_round(name: str, seed: int, games: int, twin_class: Twin | None = None) -> tuple[int, int, Found | None]:
    """One round: games under options drawn from a seed.

    Returns:
        Games and decisions checked, and a disagreement, not shrunk.
    """
    game = random_game(name, random.Random(f"{name} {seed}"))
    decisions, found = search(game, twin_class or twin_of(name), seed, games)
    return games, decisions, found


def fuzz(
    names: Sequence[str], seconds: float, games: int | None, seed: int, workers: int, console: Console
) -> tuple[dict[str, list[int]], dict[str, Found]]:
    """Fuzz games in turn until the time is over, or each has been played often enough.

    Returns:
        Games and decisions checked by game, and by game its first disagreement, which ends its fuzzing.
    """
    done = {name: [0, 0] for name in names}
    found: dict[str, Found] = {}
    start, number = time.monotonic(), seed
    running: dict[Future[tuple[int, int, Found | None]], str] = {}
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(workers, mp_context=context) as pool,
        Progress(console=console, transient=True, disable=not console.is_terminal) as progress,
    ):
        task = progress.add_task("games", total=len(names) * games if games else None)
        given = dict.fromkeys(names, 0)
        while True:
            while len(running) < 2 * workers and time.monotonic() - start < seconds:
                wanted = [each for each in names if each not in found and (games is None or given[each] < games)]
                if not wanted:
                    break
                name = min(wanted, key=lambda each: given[each])
                count = GAMES_A_RULES if games is None else min(GAMES_A_RULES, games - given[name])
                running[pool.submit(fuzz_round, name, number, count)] = name
                given[name] += count
                number += 1
            if not running:
                return done, found
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                played, decisions, fault = future.result()
                done[name][0] += played
                done[name][1] += decisions
                if fault is not None:
                    found.setdefault(name, fault)
                progress.update(task, completed=sum(each[0] for each in done.values()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz as the command line says; 1 where a game and its twin disagree."""
    known = games_with_twins()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Compiled games against slow twins.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long, at most")
    parser.add_argument("--games", type=int, help="how many games of each, at most")
    parser.add_argument("--game", action="append", choices=known, help="only this one; repeatable")
    parser.add_argument("--seed", type=int, help="of the first round; by default another one each time")
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count(), help="processes")
    options = parser.parse_args(arguments)
    console = Console(markup=False, highlight=False)
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    done, found = fuzz(
        options.game or known, 60 * options.minutes, options.games, seed, max(1, options.workers), console
    )
    table = Table("game", "games", "decisions", "disagreements", title=f"from seed {seed}")
    for name, (games, decisions) in done.items():
        table.add_row(name, f"{games:,}", f"{decisions:,}", "1" if name in found else "0")
    console.print(table)
    for name, fault in found.items():
        console.print(f"{name}: shrinking a disagreement after {fault.steps} steps: {fault.message}", soft_wrap=True)
        short = shrunk(fault, twin_of(name), SHRINK_SEEDS)
        changed = ", ".join(sorted(_changed(short.record))) or "none"
        console.print(f"after {short.steps} steps, options changed: {changed}: {short.message}", soft_wrap=True)
        # The line alone on standard output's last line, as it goes into a file.
        console.print(short.record.to_line(), soft_wrap=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
