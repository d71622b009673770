"""Threads that share tables: every table is worked on once a call, by whichever thread, whatever happens between."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from pigenv import registry
from pigenv.crew import Crew
from pigenv.envs.selfplay import SelfPlay
from pigenv.kernel import COMPILED, specialize

STATE = np.dtype([("word", np.int64)])
TABLES = 2048


def count_up(views: np.ndarray, words: np.ndarray, by: int) -> None:
    for i in range(len(words)):
        words[i] += by
        views[0]["word"] += 1


def double(words: np.ndarray) -> None:
    for i in range(len(words)):
        words[i] *= 2


COUNT_UP, DOUBLE = specialize(count_up, {}, "test"), specialize(double, {}, "test")


def helpers() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "pigenv"]


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_every_table_once_a_call(threads: int) -> None:
    """However many threads, more than cores too, each call does its work at each table once."""
    crew, words = Crew(threads, TABLES, STATE), np.arange(TABLES)
    assert crew.threads == threads
    for _ in range(50):
        crew.run(COUNT_UP, crew.views, words, 3)
    assert (words == np.arange(TABLES) + 150).all()


def test_loops_in_turn() -> None:
    """Two loops in turn, a third between, and other arrays each do what they do alone."""
    crew, words, others = Crew(2, TABLES, STATE), np.arange(TABLES), np.zeros(TABLES, np.int64)
    wanted = np.arange(TABLES)
    for number in range(40):
        crew.run(COUNT_UP, crew.views, words, 1)
        crew.run(DOUBLE, words)
        wanted = (wanted + 1) * 2 % 1000
        if number % 7 == 0:
            crew.run(COUNT_UP, crew.views, others, 5)
        np.mod(words, 1000, out=words)
    assert (words == wanted).all()
    assert (others == 30).all()


def test_helpers_that_fell_asleep() -> None:
    """A call long after the last one, or just when helpers go to sleep, is answered too."""
    crew, words = Crew(2, TABLES, STATE), np.zeros(TABLES, np.int64)
    pauses = [0, 0, 0, *(step * 1e-4 for step in range(40)), 0.05, 0]
    for pause in pauses:
        time.sleep(pause)
        crew.run(COUNT_UP, crew.views, words, 1)
    assert (words == len(pauses)).all()


@pytest.mark.skipif(not COMPILED, reason="uncompiled, no helper is kept")
def test_helpers_end_with_their_crew() -> None:
    """No thread is left of a crew that nobody has any more."""
    before = set(helpers())
    crew, words = Crew(3, TABLES, STATE), np.zeros(TABLES, np.int64)
    for _ in range(3):
        crew.run(COUNT_UP, crew.views, words, 1)
    mine = set(helpers()) - before
    assert len(mine) == 2
    del crew
    gc.collect()
    for each in mine:
        each.join(10)
        assert not each.is_alive()


def played(tables: SelfPlay, steps: int) -> tuple[bytes, ...]:
    for _ in range(steps):
        tables.step(tables.sample())
    names = ("states", "episodes", "observations", "masks", "seats", "rewards", "over")
    return tuple(getattr(tables, name).tobytes() for name in names)


def started(threads: int) -> SelfPlay:
    tables = SelfPlay(registry.make("pig10"), TABLES, threads=threads)
    tables.reset(5)
    return tables


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda tables: pickle.loads(pickle.dumps(tables))])
def test_copies_call_helpers_of_their_own(copied: Any) -> None:
    """A copy made between two steps plays on like the original, and neither touches the other."""
    tables, alone = started(2), started(1)
    played(tables, 20), played(alone, 20)
    other = copied(tables)
    wanted = played(alone, 20)
    assert played(other, 20) == wanted
    assert played(tables, 20) == wanted


FORK = """
import os, sys
from tests.test_crew import played, started
alone = played(started(1), 40)
tables = started(2)
played(tables, 20)
child = os.fork()
right = played(tables, 20) == alone
if child == 0:
    os._exit(0 if right else 1)
sys.exit(0 if right and os.waitpid(child, 0)[1] == 0 else 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_process() -> None:
    """A process forked while helpers wait, and its parent, both play on; and both end."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
