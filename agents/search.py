"""Agents that think: information-set tree search and flat Monte-Carlo, for every game.

    search                                   1000 simulations a decision
    search:sims=5000;playout=uniform         more of them, played out uniformly at random
    search:200ms                             as many as fit into 200 milliseconds
    flat:sims=500                            no tree: each legal action is played out equally often

Settings, with `;` between them: `sims` or a duration (`200ms`, `1.5s`); `playout`, the name of a compiled player
(otherwise the game's best hand-written one); `depth`, the decisions after which a playout is broken off and counts as
it stands (0: never; otherwise as the game's players say); of
`search` alone `others=playout`, which lets the other seats play as in playouts instead of searching for themselves,
and `c`, how much is explored; `threads` that share the decisions of a batch, all cores by default.

A search is handed views and nothing else. With a budget in simulations its choice follows from view and key of the
decision alone, whatever the batch and the threads; with one in time it depends on the machine.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Protocol, cast

import numpy as np

from pigenv.agent import Agent, Decisions, KernelAgent
from pigenv.agents.tree import Tree, tree_for, tree_loops
from pigenv.agents.uniform import UNIFORM
from pigenv.errors import AgentError, closest
from pigenv.kernel import draw, mix

__all__ = ["FLAT", "TREE", "Analysis", "Evaluator", "Search", "is_search", "made"]

TREE: Final = "search"
FLAT: Final = "flat"
SIMS: Final = 1000
EXPLORATION: Final = 0.7  # of the range of rewards; sqrt(2) / 2, as UCB1 has it for rewards in [0, 1]

OTHERS: Final = ("search", "playout")

_MOST_SIMS: Final = 10**9
_FIRST_BLOCK: Final = 16  # simulations between two looks at the clock, at first
_BLOCK_SHARE: Final = 0.25  # of the time left, later on
_GROUP: Final = 256  # decisions searched in step with each other, where an evaluator judges their leaves together
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s)")
_KEYS: Final = {
    TREE: ("sims", "playout", "depth", "others", "c", "threads"),
    FLAT: ("sims", "playout", "depth", "threads"),
}


class Evaluator(Protocol):
    """Judges the leaves of search trees instead of playouts: a value network, with or without a policy."""

    def __call__(self, leaves: Decisions) -> tuple[np.ndarray, np.ndarray | None]:
        """Judge positions in which somebody is to move.

        Args:
            leaves: What the seats to move know in worlds that the search imagined.

        Returns:
            The rewards that each seat may expect, by seat, shape `(n, num_players)`; and a policy's weights for all
            actions, 0 or more, shape `(n, num_actions)`, or None, the same each time. An action that is not legal in
            the world of the leaf needs a weight as well: a node serves other worlds, too.
        """
        ...


@dataclass(frozen=True)
class Analysis:
    """What searches found, one for each decision.

    Attributes:
        visits: How often each action was tried at the root, int64, shape `(n, num_actions)`.
        worths: The mean reward that followed it for the deciding seat, float64, shape `(n, num_actions)`; 0 where it
            was never tried.
        simulations: Int64, shape `(n,)`; none where only one action was legal.
    """

    visits: np.ndarray
    worths: np.ndarray
    simulations: np.ndarray


class Search:
    """An agent that tries its actions in imagined worlds.

    Args:
        kind: `TREE` (see `pigenv.agents.tree`) or `FLAT`.
        sims: Simulations a decision; None with `seconds`.
        seconds: Time a decision; None with `sims`.
        playout: The compiled player that plays a simulation from the leaf on; the game's best hand-written one where
            None.
        others: What the other seats do in the tree: "search" for themselves too, or play as in "playout"s.
        depth: Decisions after which a playout is broken off and counts as it stands; 0 for never, None for what the
            game's players say.
        exploration: How much is explored, in units of the range of rewards.
        threads: How many share the decisions of a batch; all cores where None.
        evaluator: Judges leaves instead of playouts, all of a batch together; needs `sims`.
        name: Its name; made from the settings where None.

    Raises:
        AgentError: The settings contradict each other.
    """

    def __init__(
        self,
        kind: str = TREE,
        *,
        sims: int | None = SIMS,
        seconds: float | None = None,
        playout: KernelAgent | None = None,
        others: str = OTHERS[0],
        depth: int | None = None,
        exploration: float = EXPLORATION,
        threads: int | None = None,
        evaluator: Evaluator | None = None,
        name: str | None = None,
    ) -> None:
        if kind not in _KEYS:
            raise AgentError(f"there is no search {kind!r}; {closest(kind, _KEYS)}")
        if others not in OTHERS:
            raise AgentError(f"others must be search or playout; got {others!r}")
        if (sims is None) == (seconds is None):
            raise AgentError(f"a search needs sims or seconds, one of them; got {sims!r} and {seconds!r}")
        if evaluator is not None and (kind == FLAT or sims is None):
            raise AgentError(f"an evaluator judges the leaves of a {TREE} with a number of simulations")
        self.kind: str = kind
        self.sims: int | None = sims
        self.seconds: float | None = seconds
        self.playout: KernelAgent | None = playout
        self.exploration: float = exploration
        self.evaluator: Evaluator | None = evaluator
        self.others = others
        self.depth: int | None = depth
        self.threads: int | None = threads
        self.name: str = name if name is not None else self._named()

    def _named(self) -> str:
        budget = f"sims={self.sims}" if self.seconds is None else f"{self.seconds * 1000:g}ms"
        playout = "" if self.playout is None else f";playout={self.playout.name}"
        return f"{self.kind}:{budget}{playout}"

    def reset(self, seed: int) -> None:
        """Nothing to forget: its chance comes with each decision."""

    def act(self, decisions: Decisions) -> np.ndarray:
        """See `Agent.act`: the action tried most often, or of greatest worth with `FLAT`; of equals the worthier."""
        found = self.analyse(decisions)
        legal = decisions.action_masks == 1
        if self.kind == FLAT:
            return np.where(legal, found.worths, -np.inf).argmax(axis=1)
        most = np.where(legal, found.visits, -1)
        best = most == most.max(axis=1, keepdims=True)
        return np.where(best, found.worths, -np.inf).argmax(axis=1)

    def analyse(self, decisions: Decisions) -> Analysis:
        """Search each decision that leaves a choice.

        Raises:
            AgentError: The playout's player plays another game.
        """
        wanted = None if self.playout is None else self.playout.base
        base = decisions.game.definition.base
        if wanted not in (None, base):
            raise AgentError(f"{self.name}: its playout plays {wanted}, not {base}")
        shape = decisions.action_masks.shape
        found = Analysis(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(len(decisions), np.int64))
        open_choices = np.flatnonzero(decisions.action_masks.sum(axis=1) > 1)
        if self.evaluator is not None:
            for start in range(0, len(open_choices), _GROUP):
                self._judge(decisions, open_choices[start : start + _GROUP], found)
            return found
        self._warm_up(decisions)
        # One queue for all threads: the next() of a shared iterator is the lock.
        queue = iter(open_choices.tolist())
        helpers = min(self.threads or _cores(), len(open_choices)) - 1
        if helpers > 0:
            pool = _pool(helpers, os.getpid())
            others = [pool.submit(self._work, decisions, queue, found) for _ in range(helpers)]
            self._work(decisions, queue, found)
            for other in others:
                other.result()
        else:
            self._work(decisions, queue, found)
        return found

    @property
    def alone(self) -> bool:
        """Whether the deciding seat alone searches."""
        return self.others != OTHERS[0]

    @property
    def _run(self) -> str:
        return "run_tree" if self.kind == TREE else "run_flat"

    def _loops(self, decisions: Decisions) -> Any:
        from pigenv.agents import catalog

        definition = decisions.game.definition
        player = self.playout or cast(KernelAgent, catalog.find(catalog.best(definition), definition))
        # The uniform player is played by a loop of its own, which needs no view.
        kernel = None if player.name == UNIFORM.name else player.kernel
        return tree_loops(definition, player.name, cast(Any, kernel))

    def _limit(self, decisions: Decisions) -> int:
        """The most decisions of a playout."""
        from pigenv.agents import catalog

        return (
            catalog.search_depth(decisions.game.definition.base) if self.depth is None else self.depth
        ) or _MOST_SIMS

    def _warm_up(self, decisions: Decisions) -> None:
        """Compile, so that no budget in time is spent on it."""
        if len(decisions):
            tree, loops = tree_for(decisions.game, 0), self._loops(decisions)
            loops.start_tree(tree, decisions.views, 0, self._limit(decisions))
            getattr(loops, self._run)(
                tree, decisions.game.row, decisions.views, 0, 0, self.alone, self.exploration, decisions.keys[0], 0, 0
            )

    def _work(self, decisions: Decisions, queue: Iterator[int], found: Analysis) -> None:
        """Search decisions of the queue until it is empty, in a tree of one's own."""
        tree, loops, game = tree_for(decisions.game, self.sims), self._loops(decisions), decisions.game
        run = getattr(loops, self._run)
        for i in queue:
            seat, key = int(decisions.seats[i]), own_key(decisions, i)
            loops.start_tree(tree, decisions.views, i, self._limit(decisions))

            def block(start: int, stop: int, i: int = i, seat: int = seat, key: np.uint64 = key) -> None:
                run(tree, game.row, decisions.views, i, seat, self.alone, self.exploration, key, start, stop)

            done = self._spend(block)
            _write(tree, found, i, done)

    def _spend(self, block: Callable[[int, int], None]) -> int:
        """Run blocks of simulations until the budget is spent; returns how many there were."""
        if self.sims is not None:
            block(0, self.sims)
            return self.sims
        assert self.seconds is not None
        start = time.perf_counter()
        done, size = 0, _FIRST_BLOCK
        while True:
            block(done, done + size)
            done += size
            passed = time.perf_counter() - start
            left = self.seconds - passed
            if left <= 0:
                return done
            size = max(1, int(done / passed * left * _BLOCK_SHARE))

    def _judge(self, decisions: Decisions, which: np.ndarray, found: Analysis) -> None:
        """Search some decisions in step: one simulation in each tree, then all their leaves are judged together."""
        assert self.evaluator is not None
        assert self.sims is not None
        game, loops, row = decisions.game, self._loops(decisions), decisions.game.row
        trees = [tree_for(game, self.sims, with_prior=True) for _ in which]
        keys = [own_key(decisions, i) for i in which]
        for tree, i in zip(trees, which, strict=True):
            loops.start_tree(tree, decisions.views, i, self._limit(decisions))
        for number in range(self.sims):
            waiting, nodes = [], []
            for tree, i, key in zip(trees, which, keys, strict=True):
                own = np.uint64(draw(key, number))
                node = loops.descend(
                    tree, row, decisions.views, i, decisions.seats[i], self.alone, self.exploration, own
                )
                if loops.ended(tree):
                    loops.reckon(tree, row)
                    loops.back_up(tree, game.num_players)
                else:
                    waiting.append(tree)
                    nodes.append(node)
            if not waiting:
                continue
            leaves = Decisions(
                game,
                np.zeros(len(waiting), game.definition.state),
                np.zeros(len(waiting), np.int8),
                np.zeros((len(waiting), game.num_actions), np.int8),
                np.array([draw(keys[0], self.sims + number * _GROUP + k) for k in range(len(waiting))], np.uint64),
            )
            for k, tree in enumerate(waiting):
                loops.write_leaf(tree, row, leaves.views, leaves.seats, leaves.action_masks, k)
            values, weights = self._judged(leaves)
            for k, (tree, node) in enumerate(zip(waiting, nodes, strict=True)):
                if node >= 0:
                    tree.prior[node] = weights[k]
                tree.rewards[0, : game.num_players] = values[k]
                loops.back_up(tree, game.num_players)
        for tree, i in zip(trees, which, strict=True):
            _write(tree, found, i, self.sims)

    def _judged(self, leaves: Decisions) -> tuple[np.ndarray, np.ndarray]:
        """What the evaluator answers, checked for its form; equal weights where it has no policy."""
        assert self.evaluator is not None
        values, weights = self.evaluator(leaves)
        count, game = len(leaves), leaves.game
        wanted = [("values", np.asarray(values), (count, game.num_players))]
        weights = np.ones((count, game.num_actions)) if weights is None else np.asarray(weights)
        wanted.append(("weights", weights, (count, game.num_actions)))
        for what, array, shape in wanted:
            if array.shape != shape or not np.isfinite(array).all():
                raise AgentError(f"an evaluator's {what} must be finite, of shape {shape}; got shape {array.shape}")
        if (weights < 0).any():
            raise AgentError(f"an evaluator's weights must be 0 or more; got {weights.min()}")
        return np.asarray(values), weights

    def __repr__(self) -> str:
        return f"Search({self.name!r})"


def own_key(decisions: Decisions, i: int) -> np.uint64:
    """The key of a search: not the decision's own, from which whoever plays out draws as well."""
    # Compiled code gives a Python int, which it would take back as a signed one.
    return np.uint64(mix(decisions.keys[i]))


def _write(tree: Tree, found: Analysis, i: int, simulations: int) -> None:
    """Write what stands at the root of a tree."""
    visits = tree.visits[0].astype(np.int64)
    found.visits[i] = visits
    found.worths[i] = np.divide(tree.worth[0], visits, out=np.zeros(len(visits)), where=visits > 0)
    found.simulations[i] = simulations


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(helpers: int, process: int) -> ThreadPoolExecutor:
    """Helpers beside the calling thread; a forked process has none of its parent's and makes its own."""
    return ThreadPoolExecutor(helpers)


# --- names ------------------------------------------------------------------------------------------------------------


def is_search(name: str) -> bool:
    """Whether a name is that of a search: `search` or `flat`, alone or with settings after a colon."""
    return name.partition(":")[0] in _KEYS


def made(name: str, find: Callable[[str], Agent]) -> Search:
    """The search of a name (see above).

    Args:
        name: Such as `search:sims=5000;playout=pig10/careful`.
        find: Finds the player of `playout`.

    Raises:
        AgentError: A setting is unknown, unusable, or given twice; the sentence names it.
        UnknownNameError: Nobody goes by the name of the playout.
    """
    kind, _, text = name.partition(":")
    given: dict[str, Any] = {}
    for part in text.split(";") if text else ():
        key, value = _setting(name, kind, part)
        taken = {"sims", "seconds"} & {*given} if key in ("sims", "seconds") else {key} & {*given}
        if taken:
            raise AgentError(f"{name!r}: {key} is given after {taken.pop()}; a search has one budget, each key once")
        given[key] = value
    if "seconds" in given:
        given["sims"] = None
    if "playout" in given:
        player = find(given["playout"])
        if not isinstance(player, KernelAgent):
            raise AgentError(f"{name!r}: playout must be a compiled player; {given['playout']!r} is none")
        given["playout"] = player
    return Search(kind, name=name, **given)


def _setting(name: str, kind: str, part: str) -> tuple[str, Any]:
    """Key and value of one setting of a name, as `Search` takes them."""
    if duration := _DURATION.fullmatch(part):
        seconds = float(duration[1]) / (1000 if duration[2] == "ms" else 1)
        if not 0 < seconds < np.inf:
            raise AgentError(f"{name!r}: a duration must be above 0; got {part!r}")
        return "seconds", seconds
    key, equals, value = part.partition("=")
    if not equals or key not in _KEYS[kind]:
        raise AgentError(
            f"{name!r}: {part!r} is no setting; {closest(key, _KEYS[kind])}, as in sims=1000, or a duration like 200ms"
        )
    if key == "others" and value not in OTHERS:
        raise AgentError(f"{name!r}: others must be {' or '.join(OTHERS)}; got {value!r}")
    if key in ("playout", "others"):
        return key, value
    try:
        number = float(value) if key == "c" else int(value)
    except ValueError:
        number = -1
    least, most = {"sims": (1, _MOST_SIMS), "depth": (0, _MOST_SIMS), "threads": (1, 1024), "c": (0, 1e6)}[key]
    if not least <= number <= most:
        kind_of = "a number" if key == "c" else "an integer"
        raise AgentError(f"{name!r}: {key} must be {kind_of} {least:g} … {most:g}; got {value!r}")
    return ("exploration" if key == "c" else key), number
