"""Parts of matches, played by several processes.

A `Task` is a part of a match: a line-up, some deals and one or more of its seat orders. Tasks are cut at bounds that do
not depend on who plays them (see `pigenv.evaluate.match`) and put together in the order in which they were made, so the
games are the same, byte for byte, with any number of processes and in whatever order they finish.

A process that dies takes no game with it: what it had not handed back is played again, by others.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import numpy as np

from pigenv.agent import Agent, find_agent
from pigenv.errors import AgentError, OptionError, UnknownNameError, closest
from pigenv.evaluate.cluster import connected
from pigenv.evaluate.match import (
    COMPILED_BATCH,
    Games,
    Progress,
    Variate,
    batch_size,
    is_compiled,
    joined,
    play_match,
    whole_number,
)
from pigenv.game import Game

__all__ = ["BACKENDS", "PROCESSES", "RAY", "Crowd", "Task", "merged", "tasks_of", "useful_workers", "whole_limits"]

PROCESSES, RAY = "processes", "ray"
BACKENDS: Final = (PROCESSES, RAY)

_ATTEMPTS: Final = 3
_RETRIES: Final = 3  # of a task of a cluster, whose nodes may come and go
_WORTH_STARTING: Final = 200_000  # games of compiled agents
_GAMES_A_TASK: Final = 4 * COMPILED_BATCH  # of compiled agents: a tenth of a second's work


@dataclass(frozen=True)
class Task:
    """A part of a match.

    Attributes:
        line_up: By place, the number of an agent among those of the crowd.
        deals: First episode number, the one after the last, and the step between them.
        orders: Seat by order and place, int64.
        match: What it is a part of: equal for parts that are put together.
    """

    line_up: tuple[int, ...]
    deals: tuple[int, int, int]
    orders: np.ndarray
    match: int

    @property
    def games(self) -> int:
        """How many games are in it."""
        return len(range(*self.deals)) * len(self.orders)


def tasks_of(
    agents: Sequence[Agent],
    line_up: Sequence[int],
    deals: range,
    orders: np.ndarray,
    limits: Sequence[float | None],
    match: int,
    variate: Variate | None = None,
) -> list[Task]:
    """Cut a match into tasks."""
    size = batch_size([agents[each] for each in line_up], [limits[each] for each in line_up], variate)
    # Compiled agents need no more than a few seconds for anything; others may think for long over a single deal.
    together = max(1, _GAMES_A_TASK // size) if size == COMPILED_BATCH else 1
    return [
        Task(tuple(line_up), (part.start, part.stop, part.step), orders[first : first + together], match)
        for start in range(0, len(deals), size)
        for part in [deals[start : start + size]]
        for first in range(0, len(orders), together)
    ]


def merged(tasks: Sequence[Task], parts: Sequence[Games]) -> Games:
    """The match whose tasks these were, in the order of `tasks_of`."""
    rows = []
    for _, found in groupby(zip(tasks, parts, strict=True), key=lambda each: each[0].deals):
        rows.append(joined([part for _, part in found], axis=1))
    return joined(rows)


class Crowd:
    """Whoever plays tasks: this process alone, or others that it starts. Use it in a `with` statement.

    Args:
        game: The game.
        agents: The agents, to which the tasks' line-ups refer by number.
        names: Their names as given; an agent that was given as an object is None here.
        limits: Seconds a decision by agent, or None.
        seed: Of all matches.
        bench: See `play_match`.
        variate: See `play_match`.
        backend: One of `BACKENDS`: processes of this machine, or tasks of the Ray cluster that is found (a local one is
            started where none is).
        workers: Processes. Agents that cannot be sent to another process are played in this one.

    Attributes:
        variate: As given.
        workers: How many processes play in fact; 1 is this process alone.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent],
        names: Sequence[str | None],
        limits: Sequence[float | None],
        seed: int,
        bench: Sequence[Agent],
        workers: int = 1,
        variate: Variate | None = None,
        backend: str = PROCESSES,
    ) -> None:
        if backend not in BACKENDS:
            raise UnknownNameError(f"there is no backend {backend!r}; {closest(backend, BACKENDS)}")
        self.variate, self.backend = variate, backend
        self.game: Game = game
        self.agents: list[Agent] = list(agents)
        self.limits: list[float | None] = list(limits)
        self.bench: list[Agent] = list(bench)
        sent = [name or agent for name, agent in zip(names, agents, strict=True)]
        self._kit = _Kit(game, sent, self.limits, seed, variate, self.bench, uuid.uuid4().hex)
        workers = whole_number("workers", workers)
        self.workers: int = workers if workers > 1 and self._portable() else 1
        self._pool: ProcessPoolExecutor | None = None

    def _portable(self) -> bool:
        try:
            pickle.loads(pickle.dumps(self._kit))
        except Exception:  # whatever somebody's class makes of being pickled
            return False
        return True

    def __enter__(self) -> Crowd:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Not forked: a forked child may hold a lock of a thread that it does not have.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, context, _enter, (self._kit,))
        return self._pool

    def play(self, tasks: Sequence[Task], progress: Progress | None = None) -> list[Games]:
        """Play tasks; what came of each, in the same order.

        Args:
            tasks: The tasks.
            progress: Told how many games of these tasks are done.

        Raises:
            AgentError: A process died again and again over the same tasks.
        """
        if self.backend == RAY and self._portable():
            return _played_by_ray(self._kit, self.agents, tasks, progress)
        if self.workers == 1:
            return list(self._alone(tasks, progress))
        found: dict[int, Games] = {}
        for _ in range(_ATTEMPTS):
            waiting = [number for number in range(len(tasks)) if number not in found]
            if not waiting:
                break
            self._together(tasks, waiting, found, progress)
        if len(found) < len(tasks):
            lost = next(task for number, task in enumerate(tasks) if number not in found)
            raise _given_up([self.agents[each] for each in lost.line_up], _ATTEMPTS)
        return [found[number] for number in range(len(tasks))]

    def _alone(self, tasks: Iterable[Task], progress: Progress | None) -> Iterator[Games]:
        done = 0
        for task in tasks:
            before = done
            told = None if progress is None else _after(progress, before)
            yield _played(self._kit, self.agents, task, told)
            done += task.games

    def _together(
        self, tasks: Sequence[Task], waiting: Sequence[int], found: dict[int, Games], progress: Progress | None
    ) -> None:
        try:
            pool = self._started()
            futures: dict[Future[Games], int] = {pool.submit(_work, tasks[number]): number for number in waiting}
            for future in as_completed(futures):
                found[futures[future]] = future.result()
                if progress is not None:
                    progress(sum(tasks[number].games for number in found))
        except BrokenProcessPool:
            self._stop()
        except BaseException:
            self._stop()
            raise


def _given_up(line_up: Sequence[Agent], times: int) -> AgentError:
    who = ", ".join(dict.fromkeys(agent.name for agent in line_up))
    return AgentError(f"the process that plays {who} died {times} times; does one of them end its process?")


def _after(progress: Progress, before: int) -> Callable[[int], None]:
    return lambda more: progress(before + more)


def _played(kit: _Kit, agents: Sequence[Agent], task: Task, progress: Progress | None = None) -> Games:
    line_up = [agents[each] for each in task.line_up]
    clocks = [kit.limits[each] for each in task.line_up]
    return play_match(
        kit.game, line_up, np.arange(*task.deals), kit.seed, progress,
        bench=kit.bench, orders=task.orders, limits=clocks, variate=kit.variate,
    )  # fmt: skip


# --- in the other process ---------------------------------------------------------------------------------------------


@dataclass
class _Kit:
    """What a process needs to play: as it is sent there. The mark tells one crowd's from another's."""

    game: Game
    agents: list[str | Agent]
    limits: list[float | None]
    seed: int
    variate: Variate | None
    bench: list[Agent]
    mark: str = ""


_here: list[tuple[_Kit, list[Agent]]] = []


def _enter(kit: _Kit) -> None:
    """Called once in each process: find the agents."""
    # Two networks that each want all cores are slower than two that have one; results do not depend on it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    _here[:] = [(kit, [find_agent(each, kit.game) for each in kit.agents])]


def _work(task: Task) -> Games:
    kit, agents = _here[0]
    return _played(kit, agents, task)


def useful_workers(
    given: int | None, agents: Sequence[Agent], games: int | None, variate: Variate | None = None
) -> int:
    """How many processes to start: what is given, else as many as there are cores where that saves time.

    A process needs seconds to start, in which compiled agents play a hundred thousand games.
    """
    if given is not None:
        return given
    quick = variate is None and all(map(is_compiled, agents)) and (games is None or games < _WORTH_STARTING)
    return 1 if quick else os.cpu_count() or 1


# --- Ray --------------------------------------------------------------------------------------------------------------


def _work_for(kit: _Kit, task: Task) -> Games:
    """A task on whatever node of the cluster it has come to."""
    if not _here or _here[0][0].mark != kit.mark:
        _enter(kit)
    return _work(task)


def _played_by_ray(kit: _Kit, agents: Sequence[Agent], tasks: Sequence[Task], progress: Progress | None) -> list[Games]:
    """Play tasks on a Ray cluster; one whose node dies is begun again elsewhere, and each is taken once.

    Raises:
        AgentError: What plays a task died again and again.
        PigenvError: Whatever an agent raised, as a process of this machine would hand it on.
    """
    ray = connected("auto")
    work = ray.remote(num_cpus=1, max_retries=_RETRIES)(_work_for)
    sent = ray.put(kit)
    waiting = {work.remote(sent, task): number for number, task in enumerate(tasks)}
    found: dict[int, Games] = {}
    number = 0
    try:
        while waiting:
            (done, *_), _ = ray.wait(list(waiting))
            number = waiting.pop(done)
            found[number] = ray.get(done)
            if progress is not None:
                progress(sum(tasks[each].games for each in found))
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, Exception):
            raise error.cause from None
        raise
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.ObjectLostError):
        raise _given_up([agents[each] for each in tasks[number].line_up], 1 + _RETRIES) from None
    finally:
        for each in waiting:
            ray.cancel(each, force=True)
    return [found[number] for number in range(len(tasks))]


def whole_limits(limits: dict[str, float] | float | None, agents: Sequence[Agent]) -> list[float | None]:
    """Seconds a decision by agent: one number for all, or by name.

    Raises:
        OptionError: A limit is not above zero, or a name is none of the agents'.
    """
    given: dict[str, Any] = limits if isinstance(limits, dict) else {}
    names = [each.name for each in agents]
    for name, seconds in given.items() if isinstance(limits, dict) else [("", limits)]:
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (number and 0 < seconds < float("inf")):
            raise OptionError(f"a time limit must be seconds above zero; got {seconds!r}")
        if name and name not in names:
            raise OptionError(f"a time limit is for {name!r}, which does not play; playing: {', '.join(names)}")
    if isinstance(limits, dict):
        return [given.get(name) for name in names]
    return [limits] * len(agents)
