"""Threads that share the tables of a loop.

The loops hold no Python lock and tables have nothing in common, so each thread runs a loop on a stretch of the tables,
and no result depends on how many there are.

A step of some thousand tables takes a fraction of a millisecond, and a thread that sleeps takes a tenth of one to wake
up, twice: the helper to begin, the caller to go on. So helpers that have been called before for the same loop on the
same arrays stay in compiled code and look for the next call without pause, for a while (`_LOOKS`); called again in
that time, they begin within a microsecond. Only then do they go to sleep. Two loops can take turns so: of choosing
and of stepping, say.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from operator import is_
from typing import Any, Final

import numpy as np

from pigenv.kernel import COMPILED, load, specialize, store

__all__ = ["Crew"]

_TABLES_A_THREAD: Final = 256  # a stretch shorter than this is over before a second thread has begun
_LOOKS: Final = 300_000  # how often a thread looks before it sleeps: about half a millisecond

# The board, int64, a row a thread: what is written by different threads is never in one cache line. Row 0 is the
# caller's: how many calls it has made, which loop the last is for, and whether the helpers may go home. Each helper
# has a row for how many calls it has answered, and whether it sleeps.
_ROW: Final = 16
_CALLS, _WHICH, _OVER = 0, 1, 2
_ANSWERED, _ASLEEP = 0, 1
_LOOPS: Final = 2

# What the template below calls: filled in for each pair of loops.
first: Callable[..., None]
second: Callable[..., None]


def answer_calls(
    board: np.ndarray, helper: int, looks: int, of_first: tuple[Any, ...], of_second: tuple[Any, ...]
) -> None:
    """Run a loop each time the caller calls, until it has not for so many looks, or sends the helpers home."""
    own = helper * _ROW
    store(board, own + _ASLEEP, 0)
    answered = load(board, own + _ANSWERED)
    looked = 0
    while load(board, _OVER) == 0:
        if load(board, _CALLS) != answered:
            if looked > looks:
                store(board, own + _ASLEEP, 0)
            if load(board, _WHICH) == 0:
                first(*of_first)
            else:
                second(*of_second)
            answered += 1
            store(board, own + _ANSWERED, answered)
            looked = 0
        elif looked > looks:
            return
        else:
            looked += 1
            if looked > looks:
                # One more look after this: a caller that did not see it has called before.
                store(board, own + _ASLEEP, 1)


def call(board: np.ndarray, helpers: int, which: int) -> bool:
    """Call the helpers for a loop; whether one of them sleeps and must be woken."""
    store(board, _WHICH, which)
    store(board, _CALLS, load(board, _CALLS) + 1)
    sleeping = False
    for helper in range(1, helpers + 1):
        sleeping |= load(board, helper * _ROW + _ASLEEP) != 0
    return sleeping


def all_answered(board: np.ndarray, helpers: int, looks: int) -> bool:
    """Whether all helpers have answered all calls before so many looks."""
    calls = load(board, _CALLS)
    for helper in range(1, helpers + 1):
        while load(board, helper * _ROW + _ANSWERED) != calls:
            looks -= 1
            if looks < 0:
                return False
    return True


def send_home(board: np.ndarray) -> None:
    """Let the helpers end."""
    store(board, _OVER, 1)


@cache
def _compiled() -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    return specialize(call, {}, "crew"), specialize(all_answered, {}, "crew"), specialize(send_home, {}, "crew")


@cache
def _pool(threads: int, _process: int) -> ThreadPoolExecutor:
    """Helpers beside the calling thread; a forked process has none of its parent's and makes its own."""
    return ThreadPoolExecutor(threads - 1)


Job = tuple[Any, ...]
"""A loop and all that it is called with."""


def _same(job: Job, other: Job) -> bool:
    return len(job) == len(other) and all(map(is_, job, other))


class _Standing:
    """Helpers that wait for one of some jobs to be done again.

    Args:
        jobs: The jobs, at most `_LOOPS`.
        stretches: For each the arguments of each thread, the caller's first.
    """

    def __init__(self, jobs: Sequence[Job], stretches: Sequence[Sequence[tuple[Any, ...]]]) -> None:
        self.jobs = jobs
        self.process: int = os.getpid()
        self._own = [each[0] for each in stretches]
        self._call, self._all_answered, send_home = _compiled()
        helpers = range(1, len(stretches[0]))
        self._board = np.zeros((1 + len(helpers)) * _ROW, np.int64)
        self._alarms = [threading.Event() for _ in helpers]
        loops = jobs[0][0], jobs[-1][0]
        tag = ", ".join(getattr(each, "__qualname__", repr(each)) for each in loops)
        answer: Any = specialize(answer_calls, {"first": loops[0], "second": loops[1]}, tag)
        weakref.finalize(self, _dismiss, self.process, send_home, self._board, self._alarms)
        # Compiled here, where somebody hears of an error: sent home beforehand, it returns at once.
        send_home(self._board)
        answer(self._board, 1, 0, stretches[0][1], stretches[-1][1])
        self._board[_OVER] = 0
        for number, alarm in zip(helpers, self._alarms, strict=True):
            # Not to be waited for at the end of the process: it may sleep then. It must not hold `self` either.
            given = answer, self._board, number, alarm, stretches[0][number], stretches[-1][number]
            threading.Thread(target=_help, args=given, name="pigenv", daemon=True).start()

    def place(self, job: Job) -> int:
        """Which of the jobs this is, −1 if none, or if these are the helpers of another process."""
        for place, each in enumerate(self.jobs):
            if _same(job, each) and os.getpid() == self.process:
                return place
        return -1

    def run(self, place: int) -> None:
        """Do a job once."""
        # Helpers may still be at work where a caller was interrupted.
        self._wait()
        if self._call(self._board, len(self._alarms), place):
            for alarm in self._alarms:
                alarm.set()
        self.jobs[place][0](*self._own[place])
        self._wait()

    def _wait(self) -> None:
        while not self._all_answered(self._board, len(self._alarms), _LOOKS):
            time.sleep(0)  # there may be fewer cores than threads


def _help(
    answer: Callable[..., None],
    board: np.ndarray,
    number: int,
    alarm: threading.Event,
    of_first: tuple[Any, ...],
    of_second: tuple[Any, ...],
) -> None:
    """The life of a helper."""
    while not board[_OVER]:
        answer(board, number, _LOOKS, of_first, of_second)
        if not board[_OVER]:
            alarm.wait()
            alarm.clear()


def _dismiss(process: int, send_home: Callable[..., None], board: np.ndarray, alarms: list[threading.Event]) -> None:
    if os.getpid() != process:
        return  # a forked process has a copy of all this, but no helpers
    send_home(board)
    for alarm in alarms:
        alarm.set()


class Crew:
    """Some threads, the calling one among them.

    Args:
        threads: How many at most; one costs nothing.
        tables: How many tables there are.
        state: The record of a state.

    Attributes:
        views: The scratch row to hand to a loop; each thread gets one of its own for it.
    """

    def __init__(self, threads: int, tables: int, state: np.dtype[np.void]) -> None:
        self.threads: int = max(1, min(threads, tables // _TABLES_A_THREAD))
        self.tables = tables
        # Each between rows that nobody writes: two threads writing to one cache line would wait for each other.
        self._scratch = [np.zeros(3, state)[1:2] for _ in range(self.threads)]
        self.views: np.ndarray = self._scratch[0]
        self._recent: list[Job] = []
        self._standing: _Standing | None = None

    def run(self, loop: Callable[..., Any], *arguments: Any) -> None:
        """Run a loop; each array with a row for each table is given in stretches.

        Quickest where a loop, or two in turn, are run again and again on the same arrays.
        """
        if self.threads == 1:
            loop(*arguments)
            return
        job = (loop, *arguments)
        place = -1 if self._standing is None else self._standing.place(job)
        if self._standing is None or place < 0:
            known = any(_same(job, each) for each in self._recent)
            if not (known and COMPILED):
                if not known:
                    self._recent = [*self._recent[1 - _LOOPS :], job]
                self._run_once(job)
                return
            self._standing = _Standing(self._recent, [self._stretches(each) for each in self._recent])
            place = self._standing.place(job)
        self._standing.run(place)

    def _run_once(self, job: Job) -> None:
        pool = _pool(self.threads, os.getpid())
        own, *others = self._stretches(job)
        waiting = [pool.submit(job[0], *each) for each in others]
        job[0](*own)
        for each in waiting:
            each.result()

    def _stretches(self, job: Job) -> list[tuple[Any, ...]]:
        return [tuple(self._stretch(job[1:], thread)) for thread in range(self.threads)]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_recent": [], "_standing": None}  # a copy calls helpers of its own

    def _stretch(self, arguments: Sequence[Any], thread: int) -> Iterator[Any]:
        start, stop = (self.tables * place // self.threads for place in (thread, thread + 1))
        for each in arguments:
            if each is self.views:
                yield self._scratch[thread]
            elif isinstance(each, np.ndarray) and len(each) == self.tables:
                yield each[start:stop]
            else:
                yield each
