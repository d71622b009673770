"""How fast each layer is, measured: decisions a second at uniformly random legal play."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np

from pigenv.agent import Decisions, find_agent
from pigenv.errors import OptionError, UnknownNameError, closest
from pigenv.game import RUNNING, Game
from pigenv.table import EPISODE, Table, loops, set_seed

__all__ = ["LAYERS", "measure"]

LAYERS: Final = ("playout", "kernel", "batch", "aec", "seat", "vector", "search")
BATCH: Final = 4096
REPEATS: Final = 7
SECONDS: Final = 0.4  # of each repeat
SIMULATIONS: Final = 1000  # of each search
SINGLE_BLOCK: Final = 2000  # decisions between two looks at the clock at a single table
_WARM_UP: Final = 0.1
_GAMES_TRIED: Final = 100


def measure(
    game: Game,
    layers: tuple[str, ...] | None = None,
    *,
    batch: int = BATCH,
    repeats: int = REPEATS,
    seconds: float = SECONDS,
    threads: int | None = None,
    progress: Callable[[str], None] = lambda layer: None,
) -> dict[str, Any]:
    """Measure layers of a game.

    Args:
        game: The game at the table.
        layers: Some of `LAYERS`, all that the game has where None: "playout" (whole games in the kernel, nothing
            written), "kernel" (many steps of a batch in one call, observation and mask written), "batch" (one call a
            step, from Python), "aec", "seat" (one-seat environment, each step of which is a decision of the learner
            and those of its opponents; the learner's are counted), "vector" (the same at many tables), "search"
            (simulations of the tree search from the first decision with a choice, played out uniformly to the end of
            the round).
        batch: Tables of the layers that have many.
        repeats: How often each is measured; the median counts.
        seconds: How long each repeat takes.
        threads: More than one thread is measured besides one; all there are where None.
        progress: Called with what is measured next.

    Returns:
        One entry a layer under `results`, and the machine.

    Raises:
        UnknownNameError: There is no such layer.
        OptionError: "search" was asked for and the game has no choices.
    """
    if layers is None:
        layers = LAYERS if first_choice(game) else tuple(each for each in LAYERS if each != "search")
    for layer in layers:
        if layer not in LAYERS:
            raise UnknownNameError(f"there is no layer {layer!r}; {closest(layer, LAYERS)}")
    most = threads or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
    results = []
    for layer in layers:
        several = layer in ("playout", "kernel", "batch", "vector")  # the others are of one table
        for count in (1, most) if several and most > 1 else (1,):
            progress(f"{layer}, {count} thread{'s' if count > 1 else ''}")
            rates = list(_rates(_WORK[layer](game, batch, count), repeats, seconds))
            results.append(
                {
                    "game": game.id,
                    "layer": layer,
                    "num_players": game.num_players,
                    "batch": batch if several and layer != "playout" else 1,
                    "threads": count,
                    "per_second": round(statistics.median(rates)),
                    "lowest": round(min(rates)),
                    "highest": round(max(rates)),
                    "repeats": repeats,
                }
            )
    return {"format": "pigenv.bench/1", "machine": machine(), "results": results}


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _processor() -> str:
    """What the processor calls itself, where the platform says so; else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _rates(work: Callable[[], int], repeats: int, seconds: float) -> Iterator[float]:
    """Decisions a second in each repeat, after a warm-up that compiles."""
    _run(work, _WARM_UP)
    for _ in range(repeats):
        yield _run(work, seconds)


def _run(work: Callable[[], int], seconds: float) -> float:
    done, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds or not done:
        done += work()
    return done / passed


def _playout(game: Game, batch: int, threads: int) -> Callable[[], int]:
    run = loops(game.definition).playouts
    corners = []
    for thread in range(threads):
        states, episodes = np.zeros(1, game.definition.state), np.zeros(1, EPISODE)
        set_seed(episodes[0], thread)
        corners.append((states, game.row, episodes, 2000, np.zeros((1, game.num_actions), np.int8)))
    pool = ThreadPoolExecutor(threads)
    return lambda: sum(pool.map(lambda corner: int(run(*corner)), corners))


def _selfplay(game: Game, batch: int, threads: int) -> Any:
    from pigenv.envs.selfplay import SelfPlay

    tables = SelfPlay(game, batch, illegal="forfeit", threads=threads)
    tables.reset(0)
    return tables


def _kernel(game: Game, batch: int, threads: int) -> Callable[[], int]:
    tables = _selfplay(game, batch, threads)

    def work() -> int:
        tables.run(50)
        return 50 * batch

    return work


def _batch(game: Game, batch: int, threads: int) -> Callable[[], int]:
    tables = _selfplay(game, batch, threads)

    def work() -> int:
        tables.step(tables.sample())
        return batch

    return work


def _aec(game: Game, batch: int, threads: int) -> Callable[[], int]:
    from pigenv.envs.aec import PigAECEnv

    env = PigAECEnv(game)
    env.reset(seed=0)
    pick = _quick_choice()

    def work() -> int:
        for _ in range(SINGLE_BLOCK):
            observation: Any
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                observation = env.last()[0]
            env.step(pick(observation["action_mask"]))
        return SINGLE_BLOCK

    return work


def _seat(game: Game, batch: int, threads: int) -> Callable[[], int]:
    from pigenv.envs.seat import SeatEnv

    env = SeatEnv(game, opponents=find_agent("uniform", game))
    _, info = env.reset(seed=0)
    pick = _quick_choice()
    mask = [info["action_mask"]]

    def work() -> int:
        for _ in range(SINGLE_BLOCK):
            _, _, terminated, truncated, info = env.step(pick(mask[0]))
            if terminated or truncated:
                _, info = env.reset()
            mask[0] = info["action_mask"]
        return SINGLE_BLOCK

    return work


def _quick_choice() -> Callable[[np.ndarray], int]:
    """A legal action by chance, cheap enough not to hide what is measured: the first from a random place on."""
    places = np.random.default_rng(0).integers(0, 1 << 30, 4096).tolist()
    turn = [0]

    def pick(mask: np.ndarray) -> int:
        turn[0] = (turn[0] + 1) % 4096
        start = places[turn[0]] % len(mask)
        action = start + int(mask[start:].argmax())
        return action if mask[action] else int(mask.argmax())

    return pick


def _vector(game: Game, batch: int, threads: int) -> Callable[[], int]:
    from pigenv.envs.vector import SeatVectorEnv

    env = SeatVectorEnv(game, batch, opponents=find_agent("uniform", game), threads=threads)
    env.reset(seed=0)
    sample = env.learners.sample

    def work() -> int:
        env.step(sample())
        return batch

    return work


def first_choice(game: Game) -> Table | None:
    """A table at the first decision where there is something to choose, so that a search has work; None without one."""
    table = Table(game)
    for number in range(_GAMES_TRIED):
        table.start(0, number)
        while table.over == RUNNING:
            legal = table.legal_actions()
            if len(legal) > 1:
                return table
            table.step(legal[0])
    return None


def _search(game: Game, batch: int, threads: int) -> Callable[[], int]:
    agent = find_agent(f"search:sims={SIMULATIONS};playout=uniform;depth=0;threads=1", game)
    table = first_choice(game)
    if table is None:
        raise OptionError("nobody ever has a choice under these rules, so there is nothing to search")
    decisions = Decisions(
        game, table.view(table.seat), np.full(1, table.seat, np.int8), table.masks.copy(), np.ones(1, np.uint64)
    )

    def work() -> int:
        agent.act(decisions)
        return SIMULATIONS

    return work


_WORK: Final[dict[str, Callable[[Game, int, int], Callable[[], int]]]] = {
    "playout": _playout,
    "kernel": _kernel,
    "batch": _batch,
    "aec": _aec,
    "seat": _seat,
    "vector": _vector,
    "search": _search,
}
