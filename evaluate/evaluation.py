"""Score an agent: against copies of each opponent, as half of a table, and against all of them at one table.

The result is a JSON document. What takes time, and how long, stands apart under `timing`; the rest is the same for the
same input on any machine with the same versions, whatever number of processes plays.
"""

from __future__ import annotations

import datetime
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Final, TypeAlias

import numpy as np

from pigenv import __version__, registry
from pigenv.agent import Agent, find_agent
from pigenv.errors import OptionError, UnknownNameError, closest
from pigenv.evaluate.control import value_of
from pigenv.evaluate.intervals import CONFIDENCE, RESAMPLES, bootstrap_interval, without_luck
from pigenv.evaluate.match import (
    BATCH,
    COMPILED_BATCH,
    Fault,
    Games,
    Progress,
    Variate,
    is_compiled,
    warm_up,
    whole_number,
)
from pigenv.evaluate.orders import seat_orders
from pigenv.evaluate.sequential import METHOD, confidence_sequence, looks
from pigenv.evaluate.workers import PROCESSES, Crowd, Task, merged, tasks_of, useful_workers, whole_limits
from pigenv.game import Game
from pigenv.table import checked_seed

__all__ = [
    "ALL",
    "FORMAT",
    "HALF",
    "LINE_UPS",
    "LONE",
    "MIXED",
    "LineUp",
    "Look",
    "bench_of",
    "evaluate",
    "forfeits_of",
    "found_agents",
    "line_ups_for",
    "play_line_ups",
    "rounded",
    "stamp",
    "verdict",
]

FORMAT: Final = "pigenv.evaluation/1"
ALL: Final = "all"
"""What an entry is against whose line-up mixes all opponents."""

LONE, HALF, MIXED = "lone", "half", "mixed"
LINE_UPS: Final = (LONE, HALF, MIXED)
"""One against copies, half of the table against the other half, one against a table that mixes all opponents."""

_DIGITS: Final = 12  # sums in another order differ only beyond
_EQUAL: Final = 1e-9  # less than any two different win shares differ by
_REASONS_KEPT: Final = 3


@dataclass(frozen=True)
class LineUp:
    """Who sits at a table, deal after deal.

    Attributes:
        against: Whom the agent plays against: a name, or `ALL`.
        kind: One of `LINE_UPS`.
        tables: By place, the number of an agent; the tables take turns from deal to deal.
        own: How many places, from the first on, are the agent's.
    """

    against: str
    kind: str
    tables: tuple[tuple[int, ...], ...]
    own: int = 1

    @property
    def orders(self) -> list[np.ndarray]:
        """The seat orders of each table."""
        # The agent's own places are told apart from an opponent that happens to be the same agent.
        return [seat_orders(["own" if k < self.own else each for k, each in enumerate(t)]) for t in self.tables]

    def games(self, deals: int) -> int:
        """How many games so many deals are."""
        count = len(self.tables)
        return sum(len(range(k, deals, count)) * len(orders) for k, orders in enumerate(self.orders))


@dataclass(frozen=True)
class Look:
    """How narrow the interval of a line-up is so far.

    Attributes:
        against, kind: The line-up.
        deals, games: Played so far.
        low, high: The interval of the win share.
        target: The half width asked for.
    """

    against: str
    kind: str
    deals: int
    games: int
    low: float
    high: float
    target: float


Watch: TypeAlias = Callable[[Look], None]


def evaluate(
    agent: Agent | str,
    game: Game | str,
    against: Sequence[Agent | str] | Agent | str | None = None,
    deals: int = 200,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    until: float | None = None,
    line_ups: Sequence[str] = (LONE, MIXED),
    workers: int | None = None,
    limits: dict[str, float] | float | None = None,
    reduce: bool | Variate = False,
    backend: str = PROCESSES,
    watch: Watch | None = None,
    expect: Callable[[int | None], None] | None = None,
) -> dict[str, Any]:
    """Score an agent on duplicate deals (see `pigenv.evaluate.match`).

    Args:
        agent: The agent, or its name.
        game: The game, or its name.
        against: The opponents; every player of the catalog for this game where None. There is one line-up for each,
            the agent and copies of it, and where there are several one more, `all`, that mixes them.
        deals: Deals a line-up, each played in all its seat orders (see `pigenv.evaluate.orders`).
        seed: Of the cards and of the agents' own chance; also that of the intervals.
        progress: Called with the number of games done so far, of all line-ups together.
        until: Instead of a number of deals: play each line-up until the half width of its 95 % interval is at most so
            many points of win share, 0 … 50. Interval and stopping are those of `pigenv.evaluate.sequential`.
        line_ups: Which of `LINE_UPS` to play.
        workers: Processes that play; the document is the same for any number. None: one for each core where that pays.
        limits: Seconds that an agent may take for a decision: one number for all, or by agent's name.
        backend: Who plays: processes of this machine, or "ray", the tasks of a Ray cluster.
        reduce: Whether to take out luck with the cards by a control variate (see `pigenv.evaluate.control`), with the
            value function that comes with the game or with one of your own. Costs time, saves games.
        watch: With `until`, called with a `Look` after each.
        expect: Called once before the first game with how many there will be, or None where nobody knows.

    Returns:
        The document. Under `results` one entry a line-up:

        - `agent`, `against`, `line_up`, `num_players`, `deals`, `games`;
        - `win_share`: 0 … 1, ties split, of all the agent's places together; `win_share_ci`: its 95 % interval over
          deals; `chance`: the agent's share of the places;
        - `mean_score` in the game's points; `placements`: share of games in each place, ties spread over theirs;
        - `seat_effect`: win share by seat, of a single place;
        - `illegal`: games that the agent forfeited; `truncated`: games cut short by the rules' limit;
        - with `reduce`, `reduced`: `win_share` and `win_share_ci` without the luck with the cards, and `saving`, how
          many times as many games would give an interval as narrow without it.

        Under `forfeits` who forfeited games, opponents too, and why.

    Raises:
        OptionError: `deals`, `until`, `line_ups`, `workers` or `limits` is unusable, or there is no opponent.
        SeedError: The seed is no seed.
        UnknownNameError, AgentError, CheckpointError: An agent cannot be found or does not play this game.
    """
    deals, seed = whole_number("deals", deals), checked_seed(seed)
    width = None if until is None else _half_width(until)
    game = registry.make(game)
    agents, names = found_agents([agent, *_opponents(against, game)], game)
    opponents = list(range(1, len(agents)))
    variate = value_of(game) if reduce is True else reduce or None
    bench = bench_of(agents, game)
    seconds = whole_limits(limits, agents)
    wanted = line_ups_for(agents, opponents, game.num_players, line_ups)
    results, forfeits, timing = [], [], []
    seconds_taken: list[float] = []
    done = 0
    expected = None if width is not None else sum(each.games(deals) for each in wanted)
    if expect is not None:
        expect(expected)
    workers = useful_workers(workers, agents, expected, variate)
    with Crowd(game, agents, names, seconds, seed, bench, workers, variate, backend) as crowd:
        for line_up in wanted:
            start = time.perf_counter()
            told = _after(done, progress)
            if width is None:
                parts, interval = play_line_ups(crowd, [line_up], deals, told)[0], None
            else:
                parts, interval = _played_until(crowd, line_up, width, told, watch)
            took = time.perf_counter() - start
            seconds_taken.append(took)
            decisions = sum(int(part.steps.sum()) for part in parts)
            results.append(_entry(game, agents[0].name, line_up, parts, seed, interval))
            done += results[-1]["games"]
            forfeits += forfeits_of(line_up, [fault for part in parts for fault in part.faults])
            timing.append(
                {
                    "against": line_up.against,
                    "line_up": line_up.kind,
                    "decisions": decisions,
                    "seconds": took,
                    "decisions_per_second": decisions / max(took, 1e-9),
                }
            )
    fixed = f"percentile bootstrap over deals, {CONFIDENCE:.0%}, {RESAMPLES} resamples"
    return {
        "format": FORMAT,
        "game": game.settings(),
        "observation": game.digest,
        "agent": agents[0].name,
        "opponents": [agents[each].name for each in opponents],
        "seed": seed,
        "method": {
            "seats": "every deal in all rotations of a lone agent; all seat orders of up to 24, else balanced ones",
            "interval": fixed if until is None else f"{METHOD}; stopped at a half width of {until:g} points",
            **_limits_told(agents, seconds),
        },
        "results": results,
        "forfeits": forfeits,
        **stamp(sum(seconds_taken), crowd.workers, {"results": timing}),
    }


def stamp(seconds: float, workers: int, more: dict[str, Any] | None = None) -> dict[str, Any]:
    """The end of a document: the versions that it depends on, and all about time, which it does not."""
    return {
        "versions": {"pigenv": __version__, **{name: metadata.version(name) for name in ("numpy", "numba")}},
        "timing": {
            "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
            "workers": workers,
            "seconds": seconds,
            **(more or {}),
        },
    }


def _half_width(until: Any) -> float:
    if isinstance(until, int | float) and not isinstance(until, bool) and 0 < until <= 50:
        return float(until) / 100.0
    raise OptionError(f"until must be points of win share above 0, at most 50; got {until!r}")


def _limits_told(agents: Sequence[Agent], seconds: Sequence[float | None]) -> dict[str, str]:
    told = [f"{each.name}: {s:g} s a decision" for each, s in zip(agents, seconds, strict=True) if s is not None]
    return {"time limits": "; ".join(told)} if told else {}


def play_line_ups(
    crowd: Crowd, line_ups: Sequence[LineUp], deals: int, progress: Progress | None = None, first: int = 0
) -> list[list[Games]]:
    """Play deals `first` … `deals`−1 of several line-ups; for each, what came of each of its tables."""
    tasks: list[Task] = []
    matches: list[list[int]] = []
    for line_up in line_ups:
        matches.append([])
        for number, (table, orders) in enumerate(zip(line_up.tables, line_up.orders, strict=True)):
            count = len(line_up.tables)
            mine = range(first + (number - first) % count, deals, count)
            if len(mine):
                match = len(matches) * 10_000 + number
                matches[-1].append(match)
                tasks += tasks_of(crowd.agents, table, mine, orders, crowd.limits, match, crowd.variate)
    if crowd.workers == 1:
        for table in dict.fromkeys(task.line_up for task in tasks):
            warm_up(crowd.game, [crowd.agents[each] for each in table], crowd.bench)
    played = crowd.play(tasks, progress)
    found = []
    for mine_of in matches:
        parts = []
        for match in mine_of:
            rows = [k for k, task in enumerate(tasks) if task.match == match]
            parts.append(merged([tasks[k] for k in rows], [played[k] for k in rows]))
        found.append(parts)
    return found


def _played_until(
    crowd: Crowd, line_up: LineUp, width: float, progress: Progress | None, watch: Watch | None
) -> tuple[list[Games], tuple[float, float]]:
    """Play a line-up until its interval is narrow enough: what came of it, by table and look, and the interval."""
    parts: list[Games] = []
    before, games = 0, 0
    multiple = (COMPILED_BATCH if all(map(is_compiled, crowd.agents)) and crowd.variate is None else BATCH) * len(
        line_up.tables
    )
    for deals in looks(multiple):
        parts += play_line_ups(crowd, [line_up], deals, _after(games, progress), before)[0]
        before, games = deals, sum(part.steps.size for part in parts)
        numbers = np.concatenate([part.deals for part in parts])
        shares = np.concatenate([_own_shares(part, line_up.own).mean(axis=1) for part in parts])
        low, high = confidence_sequence(shares[np.argsort(numbers)], width)
        if watch is not None:
            watch(Look(line_up.against, line_up.kind, deals, games, low, high, width))
        if high - low <= 2.0 * width:
            # The centre of the sequence weighs deals unequally; the mean that is printed is to lie inside.
            mean = float(shares.mean())
            return parts, (min(low, mean), max(high, mean))
    raise AssertionError("the looks go on for ever")


def verdict(entry: dict[str, Any]) -> str:
    """Whether the agent "beats" who is named in an entry, "loses" to them, or is "even".

    It beats them if the whole interval of its win share is above chance, and loses if it is all below.
    """
    low, high = entry["win_share_ci"]
    if low > entry["chance"] + _EQUAL:
        return "beats"
    return "loses" if high < entry["chance"] - _EQUAL else "even"


def _opponents(against: Sequence[Agent | str] | Agent | str | None, game: Game) -> list[Agent | str]:
    """The opponents, each once."""
    if against is None:
        from pigenv.agents import catalog

        named: list[Agent | str] = list(catalog.names(game))
    elif isinstance(against, str) or not isinstance(against, Sequence):
        named = [against]
    else:
        named = list(against)
    if not named:
        raise OptionError("against must name at least one opponent; got none")
    once = {each if isinstance(each, str) else id(each): each for each in named}
    return list(once.values())


def found_agents(given: Sequence[Agent | str], game: Game) -> tuple[list[Agent], list[str | None]]:
    """The agents, and the names that they were given by; None for one that was given as an object."""
    return [find_agent(each, game) for each in given], [each if isinstance(each, str) else None for each in given]


def line_ups_for(agents: Sequence[Agent], opponents: Sequence[int], seats: int, kinds: Sequence[str]) -> list[LineUp]:
    """The line-ups of agent 0 against the opponents.

    Raises:
        UnknownNameError: A kind is none of `LINE_UPS`.
        OptionError: There is no kind.
    """
    for kind in kinds:
        if kind not in LINE_UPS:
            raise UnknownNameError(f"there is no line-up {kind!r}; {closest(kind, LINE_UPS)}")
    if not kinds:
        raise OptionError(f"line_ups must name at least one of {', '.join(LINE_UPS)}; got none")
    found = []
    if LONE in kinds:
        found += [LineUp(agents[each].name, LONE, ((0, *[each] * (seats - 1)),)) for each in opponents]
    half = seats // 2
    # At two seats half a table is one seat: the same line-up again.
    if HALF in kinds and (half > 1 or LONE not in kinds):
        found += [
            LineUp(agents[each].name, HALF, ((*[0] * half, *[each] * (seats - half)),), half) for each in opponents
        ]
    if MIXED in kinds and len(opponents) > 1:
        found.append(LineUp(ALL, MIXED, tuple((0, *others) for others in _mixed(opponents, seats - 1))))
    if not found:
        raise OptionError("a mixed table needs at least two opponents")
    return found


def _mixed(opponents: Sequence[int], seats: int) -> list[list[int]]:
    """Who sits at the table with all opponents, deal after deal: the list goes round, and starts one further each deal.

    There are often more opponents than seats, or they do not fill the table evenly; so everybody plays equally often,
    and at every distance from the agent.
    """
    count = len(opponents)
    return [[opponents[(k + i) % count] for i in range(seats)] for k in range(count)]


def bench_of(agents: Sequence[Agent], game: Game) -> list[Agent]:
    """For whom the loops are compiled: the same for all line-ups, and for all evaluations of the catalog's players."""
    from pigenv.agents import catalog

    here = [each for each in agents if is_compiled(each)]
    known = [find_agent(name, game) for name in catalog.names(game)]
    # Compiling takes seconds and is kept on disk; that of the whole catalog serves whoever is chosen from it next.
    return known if all(any(each is one for one in known) for each in here) else here


def _after(done: int, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda more: progress(done + more)


def _own_shares(part: Games, own: int) -> np.ndarray:
    """Win share of the agent's places together, shape `(deals, orders)`."""
    shares: np.ndarray = part.win_shares[..., :own].sum(axis=-1)
    return shares


def _entry(
    game: Game,
    agent: str,
    line_up: LineUp,
    parts: Sequence[Games],
    seed: int,
    interval: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """The figures of a line-up, for the agent at its first places."""
    own = line_up.own
    shares = np.concatenate([_own_shares(part, own).mean(axis=1) for part in parts])
    games = sum(part.steps.size for part in parts)
    low, high = interval or bootstrap_interval(shares, seed, bounds=(0.0, 1.0))
    return {
        "agent": agent,
        "against": line_up.against,
        "line_up": line_up.kind,
        "num_players": game.num_players,
        "deals": len(shares),
        "games": games,
        "win_share": rounded(shares.mean()),
        "win_share_ci": [rounded(low), rounded(high)],
        "chance": rounded(own / game.num_players),
        "mean_score": rounded(np.concatenate([part.scores[..., :own].ravel() for part in parts]).mean()),
        "placements": [
            rounded(share)
            for share in np.concatenate([p.placements[:, :, :own].reshape(-1, game.num_players) for p in parts]).mean(0)
        ],
        "illegal": int(sum(((part.offenders >= 0) & (part.offenders < own)).sum() for part in parts)),
        "truncated": int(sum(part.truncated.sum() for part in parts)),
        "seat_effect": _seat_effect(parts, own, game.num_players),
        **_reduced(parts, own, shares, seed),
    }


def _reduced(parts: Sequence[Games], own: int, shares: np.ndarray, seed: int) -> dict[str, Any]:
    """The same win share without the luck with the cards, where that was reckoned."""
    lucks = [part.corrections[..., :own].sum(axis=-1).mean(axis=1) for part in parts if part.corrections is not None]
    if not lucks:
        return {}
    fair = without_luck(shares, np.concatenate(lucks))
    low, high = bootstrap_interval(fair, seed, bounds=(0.0, 1.0))
    saving = shares.var() / fair.var() if fair.var() > 0 else 1.0
    found = {"win_share": rounded(fair.mean()), "win_share_ci": [rounded(low), rounded(high)]}
    return {"reduced": {**found, "saving": rounded(saving)}}


def _seat_effect(parts: Sequence[Games], own: int, seats: int) -> list[float]:
    """Win share of one of the agent's places by the seat it sits on."""
    total, count = np.zeros(seats), np.zeros(seats)
    for part in parts:
        for place in range(own):
            np.add.at(total, part.orders[:, place], part.win_shares[..., place].sum(axis=0))
            np.add.at(count, part.orders[:, place], len(part.deals))
    return [rounded(share) for share in total / np.maximum(count, 1)]


def rounded(value: Any) -> float:
    """A figure as it stands in a document: sums in another order differ only beyond."""
    return round(float(value), _DIGITS)


def forfeits_of(line_up: LineUp, faults: Sequence[Fault]) -> list[dict[str, Any]]:
    """Who forfeited games of a line-up, how many, and the first reasons."""
    by_name: dict[str, list[Fault]] = {}
    for fault in faults:
        by_name.setdefault(fault.agent, []).append(fault)
    return [
        {
            "against": line_up.against,
            "line_up": line_up.kind,
            "agent": name,
            "games": len(found),
            "reasons": list(dict.fromkeys(fault.reason for fault in found))[:_REASONS_KEPT],
        }
        for name, found in by_name.items()
    ]
