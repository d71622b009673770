"""A tournament: everybody against everybody, ratings, and who beats whom.

Two kinds of tables are played on the same deals. In *cross-play* one agent sits among copies of another, for every
ordered pair: that makes the payoff matrix. At *mixed* tables as many distinct agents sit down as there are seats, every
group of them equally often, or spread evenly where there are many: ratings, placements and the seat effect are theirs.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb
from typing import Any, Final

import numpy as np

from pigenv import registry
from pigenv.agent import Agent
from pigenv.errors import OptionError
from pigenv.evaluate.evaluation import (
    ALL,
    LONE,
    MIXED,
    LineUp,
    bench_of,
    forfeits_of,
    found_agents,
    play_line_ups,
    rounded,
    stamp,
)
from pigenv.evaluate.intervals import CONFIDENCE, RESAMPLES, bootstrap_interval
from pigenv.evaluate.match import Games, Progress, whole_number
from pigenv.evaluate.ratings import METHOD, MOST_GAMES, rate
from pigenv.evaluate.workers import PROCESSES, Crowd, useful_workers, whole_limits
from pigenv.game import Game
from pigenv.table import checked_seed

__all__ = ["FORMAT", "beats", "cycles", "mixed_tables", "tournament"]

FORMAT: Final = "pigenv.tournament/1"
_MOST_GROUPS: Final = 70  # four of eight


def tournament(
    agents: Sequence[Agent | str],
    game: Game | str,
    deals: int = 200,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    workers: int | None = None,
    limits: dict[str, float] | float | None = None,
    backend: str = PROCESSES,
    expect: Callable[[int | None], None] | None = None,
) -> dict[str, Any]:
    """Play a tournament on duplicate deals.

    Args:
        agents: At least two, or their names.
        game: The game, or its name.
        deals: Deals of each pair in cross-play, and as many for each agent at the mixed tables or more.
        seed: Of cards, agents, intervals and the order in which games are rated.
        progress: Called with the number of games done so far.
        workers: See `pigenv.evaluate.evaluation.evaluate`.
        limits: Likewise.
        backend: Likewise.
        expect: Likewise.

    Returns:
        The document:

        - `standings`, best rating first: `agent`, `rating` (`mu`, `sigma`, `ordinal`, `games`), and of the mixed
          tables `games`, `win_share`, `win_share_ci`, `chance`, `mean_score`, `placements`, `seat_effect`,
          `illegal_rate` and `truncation_rate`;
        - `payoff_matrix`: `agents`, and by row and column `win_share`, `low` and `high` of the row's agent among copies
          of the column's; on the diagonal chance;
        - `beats`: pairs of which the first wins more than chance among copies of the second and the second less among
          copies of the first, both with their whole interval; `cycles`: rings of agents each of which beats the next;
        - `forfeits`: who forfeited games, and why.

    Raises:
        OptionError: There are fewer than two agents, one is named twice, or another argument is unusable.
        MissingExtraError: OpenSkill is not installed.
        UnknownNameError, AgentError, CheckpointError: An agent cannot be found or does not play this game.
    """
    deals, seed = whole_number("deals", deals), checked_seed(seed)
    game = registry.make(game)
    found, names = found_agents(agents, game)
    called = [each.name for each in found]
    if len(found) < 2 or len(set(called)) < len(called):
        raise OptionError(f"a tournament needs two agents or more, each once; got {', '.join(called) or 'none'}")
    seats = game.num_players
    pairs = [(a, b) for a in range(len(found)) for b in range(len(found)) if a != b]
    cross = [LineUp(called[b], LONE, ((a, *[b] * (seats - 1)),)) for a, b in pairs]
    tables = mixed_tables(len(found), seats)
    # Every place of a mixed table is somebody's own: nobody is there as an opponent only.
    mixed = [LineUp(ALL, MIXED, (table,), 0) for table in tables]
    each = max(1, -(-deals * len(found) // (seats * len(tables))))
    seconds = whole_limits(limits, found)
    expected = sum(one.games(deals) for one in cross) + sum(one.games(each) for one in mixed)
    if expect is not None:
        expect(expected)
    start = time.perf_counter()
    workers, bench = useful_workers(workers, found, expected), bench_of(found, game)
    with Crowd(game, found, names, seconds, seed, bench, workers, backend=backend) as c:
        duels = [parts[0] for parts in play_line_ups(c, cross, deals, progress)]
        before = sum(part.steps.size for part in duels)
        told = None if progress is None else (lambda done: progress(before + done))
        games = [parts[0] for parts in play_line_ups(c, mixed, each, told)]
    took = time.perf_counter() - start
    matrix = _matrix(called, pairs, duels, seed)
    ratings = rate(len(found), list(zip(tables, games, strict=True)), seed)
    standings = [
        {
            "agent": name,
            "rating": {
                "mu": rounded(rating.mu),
                "sigma": rounded(rating.sigma),
                "ordinal": rounded(rating.ordinal),
                "games": rating.games,
            },
            **_figures(number, tables, games, seats, seed),
        }
        for number, (name, rating) in enumerate(zip(called, ratings, strict=True))
    ]
    won = beats(matrix)
    faults = [fault for part in (*duels, *games) for fault in part.faults]
    decisions = sum(int(part.steps.sum()) for part in (*duels, *games))
    return {
        "format": FORMAT,
        "game": game.settings(),
        "observation": game.digest,
        "agents": called,
        "seed": seed,
        "deals": {"cross_play": deals, "mixed_table": each, "mixed_tables": len(tables)},
        "method": {
            "seats": "cross-play in all rotations; mixed tables in all seat orders of up to 24, else balanced ones",
            "interval": f"percentile bootstrap over deals, {CONFIDENCE:.0%}, {RESAMPLES} resamples",
            "rating": f"{METHOD}, at most {MOST_GAMES} of them",
        },
        "standings": sorted(standings, key=lambda each: -each["rating"]["mu"]),
        "payoff_matrix": matrix,
        "beats": [[called[a], called[b]] for a, b in won],
        "cycles": [[called[each] for each in ring] for ring in cycles(len(found), won)],
        "forfeits": forfeits_of(LineUp("the others", MIXED, ()), faults),
        **stamp(took, c.workers, {"decisions": decisions, "games_per_second": expected / max(took, 1e-9)}),
    }


def mixed_tables(agents: int, seats: int) -> list[tuple[int, ...]]:
    """Who sits together: every group of distinct agents, or spread ones where those are many, or all in turn.

    Everybody is at equally many tables in each case.
    """
    if agents < seats:
        return [tuple((first + k) % agents for k in range(seats)) for first in range(agents)]
    if comb(agents, seats) <= _MOST_GROUPS:
        return list(combinations(range(agents), seats))
    # Each step apart gives a ring of tables on which everybody sits as often as there are seats; those that would
    # seat somebody twice are left out.
    found: dict[tuple[int, ...], None] = {}
    for step in range(1, agents):
        ring = [tuple(sorted((first + k * step) % agents for k in range(seats))) for first in range(agents)]
        if all(len(set(table)) == seats for table in ring) and len(set(ring)) == agents and ring[0] not in found:
            if found and len(found) + agents > _MOST_GROUPS:
                break
            found.update(dict.fromkeys(ring))
    return list(found)


def _matrix(
    names: Sequence[str], pairs: Sequence[tuple[int, int]], duels: Sequence[Games], seed: int
) -> dict[str, Any]:
    """The payoff matrix with its intervals."""
    count, seats = len(names), len(duels[0].names)
    share, low, high = (np.full((count, count), 1.0 / seats) for _ in range(3))
    for (a, b), part in zip(pairs, duels, strict=True):
        values = part.win_shares[..., 0].mean(axis=1)
        share[a, b] = values.mean()
        low[a, b], high[a, b] = bootstrap_interval(values, seed, bounds=(0.0, 1.0))
    tables = {"win_share": share, "low": low, "high": high}
    return {
        "agents": list(names),
        "chance": rounded(1.0 / seats),
        **{name: [[rounded(value) for value in row] for row in table] for name, table in tables.items()},
    }


def _figures(
    agent: int, tables: Sequence[tuple[int, ...]], games: Sequence[Games], seats: int, seed: int
) -> dict[str, Any]:
    """What an agent did at the mixed tables; the unit of its interval is the deal, whoever else sat there."""
    by_deal: dict[int, list[float]] = {}
    scores: list[np.ndarray] = []
    places: list[np.ndarray] = []
    total, count = np.zeros(seats), np.zeros(seats)
    illegal = truncated = played = 0
    for table, part in zip(tables, games, strict=True):
        for place in [k for k, each in enumerate(table) if each == agent]:
            for deal, value in zip(part.deals.tolist(), part.win_shares[..., place].mean(axis=1).tolist(), strict=True):
                by_deal.setdefault(deal, []).append(value)
            scores.append(part.scores[..., place].ravel())
            places.append(part.placements[:, :, place].reshape(-1, seats))
            np.add.at(total, part.orders[:, place], part.win_shares[..., place].sum(axis=0))
            np.add.at(count, part.orders[:, place], len(part.deals))
            illegal += int((part.offenders == place).sum())
            truncated += int(part.truncated.sum())
            played += part.steps.size
    values = np.array([np.mean(each) for each in by_deal.values()])
    return {
        "games": played,
        "win_share": rounded(total.sum() / played),
        "win_share_ci": [rounded(end) for end in bootstrap_interval(values, seed, bounds=(0.0, 1.0))],
        "chance": rounded(1.0 / seats),
        "mean_score": rounded(np.concatenate(scores).mean()),
        "placements": [rounded(share) for share in np.concatenate(places).mean(axis=0)],
        "seat_effect": [rounded(share) for share in total / count],
        "illegal_rate": rounded(illegal / played),
        "truncation_rate": rounded(truncated / played),
    }


# --- who beats whom ---------------------------------------------------------------------------------------------------


def beats(matrix: dict[str, Any]) -> list[tuple[int, int]]:
    """Pairs of numbers of agents of which the first beats the second, both ways round, beyond doubt."""
    low, high, chance = np.array(matrix["low"]), np.array(matrix["high"]), matrix["chance"]
    count = len(low)
    return [
        (a, b)
        for a in range(count)
        for b in range(count)
        if a != b and low[a, b] > chance + 1e-9 and high[b, a] < chance - 1e-9
    ]


def cycles(count: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """A shortest ring through each agent that is in one, each ring once, beginning with its lowest number."""
    after: dict[int, list[int]] = {a: [b for x, b in pairs if x == a] for a in range(count)}
    rings: dict[tuple[int, ...], None] = {}
    for start in range(count):
        ways: deque[tuple[int, ...]] = deque([(start,)])
        seen: set[int] = set()
        while ways:
            way = ways.popleft()
            if start in after[way[-1]]:
                at = way.index(min(way))
                rings[way[at:] + way[:at]] = None
                break
            for following in after[way[-1]]:
                if following not in seen:
                    seen.add(following)
                    ways.append((*way, following))
    return [list(ring) for ring in rings]
