"""Score an agent: against copies of each opponent, then against all of them at one table.

The result is a JSON document. What takes time, and how long, stands apart under `timing`; the rest is the same for the
same input on any machine with the same versions.
"""

from __future__ import annotations

import datetime
import platform
import time
from collections.abc import Sequence
from importlib import metadata
from typing import Any, Final

import numpy as np

from pigenv import __version__, registry
from pigenv.agent import Agent, find_agent
from pigenv.errors import OptionError
from pigenv.evaluate.intervals import CONFIDENCE, RESAMPLES, bootstrap_interval
from pigenv.evaluate.match import Fault, Games, Progress, is_compiled, play_match, warm_up, whole_number
from pigenv.game import Game
from pigenv.table import checked_seed

__all__ = ["ALL", "FORMAT", "evaluate", "verdict"]

FORMAT: Final = "pigenv.evaluation/1"
ALL: Final = "all"
"""What an entry is against whose line-up mixes all opponents."""

_DIGITS: Final = 12  # sums in another order differ only beyond
_EQUAL: Final = 1e-9  # less than any two different win shares differ by
_REASONS_KEPT: Final = 3


def evaluate(
    agent: Agent | str,
    game: Game | str,
    against: Sequence[Agent | str] | Agent | str | None = None,
    deals: int = 200,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Score an agent on duplicate deals (see `pigenv.evaluate.match`).

    Args:
        agent: The agent, or its name.
        game: The game, or its name.
        against: The opponents; every player of the catalog for this game where None. There is one line-up for each,
            the agent and copies of it, and where there are several one more, `all`, that mixes them.
        deals: Deals a line-up, each played in as many games as there are seats.
        seed: Of the cards and of the agents' own chance; also that of the intervals.
        progress: Called with the number of games done so far, of all line-ups together.

    Returns:
        The document. Under `results` one entry a line-up:

        - `agent`, `against`, `num_players`, `deals`, `games`;
        - `win_share`: 0 … 1, ties split; `win_share_ci`: its 95 % interval over deals; `chance`: 1 / num_players;
        - `mean_score` in the game's points; `placements`: share of games in each place, ties spread over theirs;
        - `seat_effect`: win share by seat;
        - `illegal`: games that the agent forfeited; `truncated`: games cut short by the rules' limit.

        Under `forfeits` who forfeited games, opponents too, and why.

    Raises:
        OptionError: `deals` is no positive integer, or there is no opponent.
        SeedError: The seed is no seed.
        UnknownNameError, AgentError, CheckpointError: An agent cannot be found or does not play this game.
    """
    deals, seed = whole_number("deals", deals), checked_seed(seed)
    game = registry.make(game)
    agent = find_agent(agent, game)
    opponents = _opponents(against, game)
    lone = game.num_players - 1
    line_ups = [(each.name, [[agent] + [each] * lone]) for each in opponents]
    if len(opponents) > 1:
        line_ups.append((ALL, [[agent, *others] for others in _mixed(opponents, lone)]))
    bench = _bench(agent, opponents, game)
    results, forfeits, timing = [], [], []
    done = 0
    for name, rounds in line_ups:
        for line_up in rounds:
            warm_up(game, line_up, bench)
        start = time.perf_counter()
        parts = []
        for first, line_up in enumerate(rounds):
            numbers = np.arange(first, deals, len(rounds))
            if len(numbers):
                parts.append(play_match(game, line_up, numbers, seed, _after(done, progress), bench=bench))
                done += len(numbers) * game.num_players
        seconds = time.perf_counter() - start
        decisions = sum(int(part.steps.sum()) for part in parts)
        results.append(_entry(game, agent.name, name, parts, seed))
        forfeits += _forfeits(name, [fault for part in parts for fault in part.faults])
        timing.append(
            {
                "against": name,
                "decisions": decisions,
                "seconds": seconds,
                "decisions_per_second": decisions / max(seconds, 1e-9),
            }
        )
    return {
        "format": FORMAT,
        "game": game.settings(),
        "observation": game.digest,
        "agent": agent.name,
        "opponents": [each.name for each in opponents],
        "seed": seed,
        "method": {
            "seats": "every deal in every rotation of the line-up",
            "interval": f"percentile bootstrap over deals, {CONFIDENCE:.0%}, {RESAMPLES} resamples",
        },
        "results": results,
        "forfeits": forfeits,
        "versions": {"pigenv": __version__, **{name: metadata.version(name) for name in ("numpy", "numba")}},
        "timing": {
            "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
            "seconds": sum(each["seconds"] for each in timing),
            "results": timing,
        },
    }


def verdict(entry: dict[str, Any]) -> str:
    """Whether the agent "beats" who is named in an entry, "loses" to them, or is "even".

    It beats them if the whole interval of its win share is above chance, and loses if it is all below.
    """
    low, high = entry["win_share_ci"]
    if low > entry["chance"] + _EQUAL:
        return "beats"
    return "loses" if high < entry["chance"] - _EQUAL else "even"


def _opponents(against: Sequence[Agent | str] | Agent | str | None, game: Game) -> list[Agent]:
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
    return [find_agent(each, game) for each in once.values()]


def _mixed(opponents: Sequence[Agent], seats: int) -> list[list[Agent]]:
    """Who sits at the table with all opponents, deal after deal: the list goes round, and starts one further each deal.

    There are often more opponents than seats, or they do not fill the table evenly; so everybody plays equally often,
    and at every distance from the agent.
    """
    count = len(opponents)
    return [[opponents[(k + i) % count] for i in range(seats)] for k in range(count)]


def _bench(agent: Agent, opponents: Sequence[Agent], game: Game) -> list[Agent]:
    """For whom the loops are compiled: the same for all line-ups, and for all evaluations of the catalog's players."""
    from pigenv.agents import catalog

    here = [each for each in (agent, *opponents) if is_compiled(each)]
    known = [find_agent(name, game) for name in catalog.names(game)]
    # Compiling takes seconds and is kept on disk; that of the whole catalog serves whoever is chosen from it next.
    return known if all(any(each is one for one in known) for each in here) else here


def _after(done: int, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda more: progress(done + more)


def _entry(game: Game, agent: str, against: str, parts: Sequence[Games], seed: int) -> dict[str, Any]:
    """The figures of a line-up, for the agent at its first place."""
    shares = np.concatenate([part.win_shares[..., 0] for part in parts])
    scores = np.concatenate([part.scores[..., 0] for part in parts])
    placements = np.concatenate([part.placements[:, :, 0] for part in parts])
    # At the first place of the line-up, an agent's seat is the number of the rotation.
    by_seat = shares.mean(axis=0)
    return {
        "agent": agent,
        "against": against,
        "num_players": game.num_players,
        "deals": len(shares),
        "games": int(shares.size),
        "win_share": _rounded(shares.mean()),
        "win_share_ci": [_rounded(end) for end in bootstrap_interval(shares, seed, bounds=(0.0, 1.0))],
        "chance": _rounded(1.0 / game.num_players),
        "mean_score": _rounded(scores.mean()),
        "placements": [_rounded(share) for share in placements.mean(axis=(0, 1))],
        "illegal": int(sum((part.offenders == 0).sum() for part in parts)),
        "truncated": int(sum(part.truncated.sum() for part in parts)),
        "seat_effect": [_rounded(share) for share in by_seat],
    }


def _rounded(value: Any) -> float:
    return round(float(value), _DIGITS)


def _forfeits(against: str, faults: Sequence[Fault]) -> list[dict[str, Any]]:
    """Who forfeited games of a line-up, how many, and the first reasons."""
    by_name: dict[str, list[Fault]] = {}
    for fault in faults:
        by_name.setdefault(fault.agent, []).append(fault)
    return [
        {
            "against": against,
            "agent": name,
            "games": len(found),
            "reasons": list(dict.fromkeys(fault.reason for fault in found))[:_REASONS_KEPT],
        }
        for name, found in by_name.items()
    ]
