"""The same seed gives the same bytes: at any batch size and number of threads, in any process, compiled or not."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from pigenv import registry
from pigenv.agent import Decisions, find_agent
from pigenv.agents import catalog
from pigenv.envs.selfplay import SelfPlay
from pigenv.envs.vector import SeatVectorEnv
from pigenv.game import RUNNING, Game
from pigenv.records import Recorder, play_games

ROOT = Path(__file__).resolve().parent.parent
SEED = 2**64 - 3  # the seeds of later tables wrap around
MANY = 4096


class Sitting(NamedTuple):
    """A table: game, preset, number of players, and after how many turns a game is cut where thousands are played."""

    game: str
    preset: str
    num_players: int
    turns: int

    def made(self, short: bool = False) -> Game:
        rules = {"max_turns": self.turns} if short else {}
        return registry.make(self.game, self.num_players, self.preset, rules)


SITTINGS = [
    Sitting("pig10", "standard", 4, 12),
    Sitting("pigs_tail", "standard", 3, 12),
    Sitting("pigs_tail", "attack", 3, 16),
    Sitting("pig_pile", "jp", 4, 20),
    Sitting("pig_pile", "en", 3, 20),
]
AT = pytest.mark.parametrize("sitting", SITTINGS, ids=[f"{each.game}-{each.preset}" for each in SITTINGS])


def agents_of(game: Game) -> list[str]:
    """Chance beside the strongest player of the game."""
    return ["uniform", [name for name in catalog.names(game.definition) if "trained" not in name][-1]]


@cache
def alone(sitting: Sitting, count: int, short: bool = False, seed: int = SEED) -> list[str]:
    """The first games of a seed, played one at a time."""
    game = sitting.made(short)
    return [each.to_line() for each in play_games(game, agents_of(game), seed, count, batch=1, legal=True)]


def test_every_game_is_held_to_it() -> None:
    """The tables below are of every game, the slapping variant and both editions among them."""
    assert {each.game for each in SITTINGS} == set(registry.names())


@AT
def test_batch_of_thousands(sitting: Sitting) -> None:
    """Games played thousands at a time are, byte for byte, those played one at a time."""
    game = sitting.made(short=True)
    lines = [each.to_line() for each in play_games(game, agents_of(game), SEED, MANY, batch=MANY, legal=True)]
    assert len(lines) == MANY
    assert lines[:40] == alone(sitting, 40, short=True)
    last = play_games(game, agents_of(game), SEED, 1, first_episode=MANY - 1, batch=1, legal=True)
    assert lines[-1] == next(last).to_line()


@AT
@pytest.mark.parametrize(("num_tables", "threads"), [(1, 1), (MANY, 1), (MANY, 2)])
def test_tables_and_threads(sitting: Sitting, num_tables: int, threads: int) -> None:
    """What is written down at a table of many, on one thread or two, is what its seed gives when played alone."""
    game = sitting.made(short=True)
    tables = SelfPlay(game, num_tables, threads=threads, autoreset=False)
    assert tables.crew.threads == threads
    tables.reset(SEED)
    # Those at both ends of each thread's stretch.
    watched = sorted({0, 1, MANY // 2 - 1, MANY // 2, MANY - 1} & set(range(num_tables)))
    seeds = [(SEED + i) % 2**64 for i in watched]
    recorders = [
        Recorder(game, ["uniform"] * game.num_players, seed, 0, tables.states[i])
        for i, seed in zip(watched, seeds, strict=True)
    ]
    going_on = dict(zip(watched, recorders, strict=True))
    uniform, rows = find_agent("uniform", game), np.arange(num_tables)
    views, keys = np.zeros(num_tables, game.definition.state), np.zeros(num_tables, np.uint64)
    while going_on:
        seats, masks = tables.seats.copy(), tables.masks.copy()
        tables.loops.view_tables(tables.states, game.row, tables.episodes, rows, seats, views, masks, keys)
        actions = uniform.act(Decisions(game, views, seats, masks, keys))
        tables.step(actions)
        for i in list(going_on):
            legal = np.flatnonzero(masks[i])
            going_on[i].step(int(seats[i]), int(actions[i]), tables.states[i], legal)
            if tables.over[i] != RUNNING:
                del going_on[i]
        if going_on and (tables.over != RUNNING).any():
            tables.begin(tables.over != RUNNING)
    for seed, recorder in zip(seeds, recorders, strict=True):
        (played,) = play_games(game, ["uniform"], seed, 1, batch=1, legal=True)
        assert recorder.record().to_line() == played.to_line()


@AT
def test_seats_and_threads(sitting: Sitting) -> None:
    """Tables with agents at the other seats play on alike, on one thread or two, alone or among thousands."""
    game = sitting.made()
    opponents = agents_of(game)[-1]
    envs = [
        SeatVectorEnv(game, num_envs, opponents=opponents, threads=threads)
        for num_envs, threads in [(1, 1), (MANY, 1), (MANY, 2)]
    ]
    given = [env.reset(seed=SEED)[0] for env in envs]
    for _ in range(40):
        for one, other in pairwise(given):
            assert (one == other[: len(one)]).all()
        given = [env.step(env.learners.sample())[0] for env in envs]
    # The single table lies elsewhere in memory; its fields are the same.
    for one, other in pairwise(envs):
        rows = len(one.learners.states)
        assert one.learners.states.tobytes() == other.learners.states[:rows].tobytes()
        assert (one.learners.rewards == other.learners.rewards[:rows]).all()


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "uncompiled"])
def test_another_process(compiled: bool, tmp_path: Path) -> None:
    """A process of its own, compiled or not, writes the very bytes that this one plays."""
    commands, count = [], 20 if compiled else 2
    for place, sitting in enumerate(SITTINGS):
        commands.append(
            [
                "record", sitting.game, "--preset", sitting.preset, "--players", str(sitting.num_players),
                "--agents", ",".join(agents_of(sitting.made())), "--games", str(count), "--seed", str(SEED), "--legal",
                "--out", str(tmp_path / f"{place}.jsonl"),
            ]
        )  # fmt: skip
    script = f"from pigenv.cli import app\nfor each in {commands!r}: app(each, standalone_mode=False)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "0" if compiled else "1"}
    # What else Python orders by chance must not matter.
    environment["PYTHONHASHSEED"] = "1" if compiled else "2"
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, capture_output=True)
    for place, sitting in enumerate(SITTINGS):
        wanted = "".join(line + "\n" for line in alone(sitting, count)).encode()
        assert (tmp_path / f"{place}.jsonl").read_bytes() == wanted, sitting
