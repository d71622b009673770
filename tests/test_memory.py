"""Memory stays flat however long an environment is played: 50,000 decisions here, ten million by `make nightly`."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pigenv import registry
from pigenv.envs.aec import PigAECEnv, PigParallelEnv
from pigenv.envs.learner import Learners
from pigenv.envs.seat import SeatEnv
from pigenv.envs.selfplay import SelfPlay
from pigenv.envs.vector import SeatVectorEnv

STATM = Path("/proc/self/statm")
SINGLE, MANY, LONG = 50_000, 400_000, 10_000_000  # decisions at one table, at many, and by night
WARM = 0.3  # the share played before memory is looked at for the first time
GROWTH = 3 * 2**19  # bytes that may come and go by chance; an object kept of each decision is more
TABLES = 256


def memory() -> int:
    """The memory that this process has, bytes."""
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def play_aec(game: str) -> Iterator[int]:
    env, seed = PigAECEnv(game), 0
    while True:
        env.reset(seed=seed)
        seed += 1
        while env.agents:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            env.step(int(legal[seed % len(legal)]))
            yield 1


def play_parallel(game: str) -> Iterator[int]:
    env, seed = PigParallelEnv(game), 0
    while True:
        observations, _ = env.reset(seed=seed)
        seed += 1
        while env.agents:
            # All ones for a seat that is not to move: the first legal action of the one that is.
            mover = env.aec.agent_selection
            action = int(observations[mover]["action_mask"].argmax())
            observations = env.step({mover: action})[0]
            yield 1


def play_seat(game: str) -> Iterator[int]:
    env, seed = SeatEnv(game), 0
    while True:
        _, info = env.reset(seed=seed)
        seed, over = seed + 1, False
        while not over:
            legal = np.flatnonzero(info["action_mask"])
            _, _, terminated, truncated, info = env.step(int(legal[seed % len(legal)]))
            over = terminated or truncated
            yield 1


def play_vector(game: str) -> Iterator[int]:
    env = SeatVectorEnv(game, TABLES, autoreset_mode="SAME_STEP")
    env.reset(seed=0)
    while True:
        env.step(env.learners.sample())
        yield TABLES


def play_learners(game: str) -> Iterator[int]:
    learners = Learners(registry.make(game), TABLES)
    learners.seed(range(TABLES))
    learners.start(np.ones(TABLES, bool))
    while True:
        learners.step(learners.sample(), same_step=True)
        yield TABLES


def play_self(game: str) -> Iterator[int]:
    tables = SelfPlay(registry.make(game), TABLES)
    tables.reset(seed=0)
    while True:
        tables.step(tables.sample())
        yield TABLES


PLAYS = {
    "aec": play_aec, "parallel": play_parallel, "seat": play_seat, "vector": play_vector, "learners": play_learners,
    "self-play": play_self,
}  # fmt: skip


def grown(kind: str, game: str, count: int) -> int:
    """By how many bytes memory grew from the end of the warm-up to the end of so many decisions."""
    made, before = 0, None
    for decisions in PLAYS[kind](game):
        made += decisions
        if before is None and made >= WARM * count:
            before = memory()
        if made >= count:
            break
    assert before is not None
    return memory() - before


@pytest.mark.skipif(not STATM.exists(), reason="asks Linux for the memory in use")
@pytest.mark.parametrize("game", registry.names())
@pytest.mark.parametrize("kind", PLAYS)
def test_memory_stays(kind: str, game: str) -> None:
    """Tens of thousands of decisions leave nothing behind."""
    assert grown(kind, game, SINGLE if kind in ("aec", "parallel", "seat") else MANY) < GROWTH


@pytest.mark.nightly
@pytest.mark.skipif(not STATM.exists(), reason="asks Linux for the memory in use")
@pytest.mark.parametrize("game", registry.names())
@pytest.mark.parametrize("kind", PLAYS)
def test_memory_stays_for_long(kind: str, game: str) -> None:
    """Ten million decisions leave nothing behind."""
    assert grown(kind, game, LONG) < GROWTH


def test_a_leak_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps a small object of each decision is noticed."""
    if not STATM.exists():
        pytest.skip("asks Linux for the memory in use")
    kept: list[bytes] = []

    def leaking(game: str) -> Iterator[int]:
        for number in range(SINGLE):
            kept.append(number.to_bytes(99, "little"))
            yield 1

    monkeypatch.setitem(PLAYS, "leaking", leaking)
    assert grown("leaking", "", SINGLE) > GROWTH
