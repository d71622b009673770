"""A match: the same deals, played from every seat.

Deal `d` of a match is episode `d` of its seed. It is played once in each seat order of the line-up (see
`pigenv.evaluate.orders`), by default in its rotations, so that everybody holds every hand once: in rotation `r` the
agent at place `p` of the line-up sits at seat `(p + r) mod n`. What is left of luck is how the agents' play meets the
cards, and a line-up of equal agents comes out exactly even.

Chance of the agents' own is shared out evenly too: the decision keys of a deal are the same in each of its orders,
and an agent that keeps random numbers of its own is reset to the same seed before each order of the same deals. Orders
are played one after another, because in one batch with its copies a deal could be read from several hands at once.

Deals are played in batches whose bounds depend on the line-up alone, so a match may be cut into parts at multiples of
`batch_size` and between orders, and the parts played anywhere: together they are the same games.

Line-ups of compiled agents are played inside the compiled loops. Otherwise the compiled agents go on until somebody
else must decide, and everybody who waits for the same agent is put to it in one batch. Both ways give the same games.

An agent that plays an illegal action, raises an exception, takes too long, or answers in another form than `Agent.act`
says, forfeits that game: it ends at once, the offender is last and has no share of the win, the others share the rest.
An agent with a time limit is asked one decision at a time. Python cannot stop it; while it still thinks about an old
decision it forfeits every further one that it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from pigenv.agent import Agent, Decisions, KernelAgent
from pigenv.errors import AgentError, OptionError
from pigenv.evaluate.orders import rotations
from pigenv.game import RUNNING, TRUNCATED, Game
from pigenv.table import EPISODE, FORFEIT, OUTSIDE, Player, checked_seed, loops, player_loops, set_seed

__all__ = [
    "Fault",
    "Games",
    "Progress",
    "Variate",
    "batch_size",
    "is_compiled",
    "joined",
    "play_match",
    "warm_up",
    "whole_number",
]

Progress: TypeAlias = Callable[[int], None]
"""Called now and then with the number of games done so far."""

BATCH: Final = 64
"""Deals played at once: enough to feed a network, few enough to hand parts of a match to several processes."""

COMPILED_BATCH: Final = 1024
"""The same where all agents are compiled and remember nothing."""

_NO_ACTION: Final = -1  # never legal, so the table's rule for illegal actions applies
_FAILURES: Final = (Exception, SystemExit)  # a KeyboardInterrupt is the user's, and passes


@dataclass(frozen=True)
class Fault:
    """A game that an agent forfeited.

    Attributes:
        agent: Its name.
        deal: The episode number.
        order: Which of the match's seat orders.
        place: The agent's place in the line-up.
        reason: What it did, in words.
    """

    agent: str
    deal: int
    order: int
    place: int
    reason: str


@dataclass(frozen=True)
class Games:
    """What came of a match. Arrays are by deal, then order, then place in the line-up, which has n places.

    Attributes:
        names: The agents' names by place.
        deals: Episode numbers, int64, shape `(deals,)`.
        orders: Seat by order and place, int64, shape `(orders, n)`.
        returns: Sum of rewards, float64, shape `(deals, orders, n)`.
        scores: Points in the game's own unit, as they stood at the end, float64, shape `(deals, orders, n)`.
        places: 1 for the best; ties share the mean of their places; float64, shape `(deals, orders, n)`.
        win_shares: 1/k for each of k winners, else 0; float64, shape `(deals, orders, n)`.
        placements: Share of each place 1 … n, a tie spread evenly over its places; float64, shape
            `(deals, orders, n, n)`.
        steps: Decisions made, int64, shape `(deals, orders)`.
        offenders: Place of the agent that forfeited, or −1; int64, shape `(deals, orders)`.
        truncated: Whether the game was cut short by the rules' limit; bool, shape `(deals, orders)`.
        corrections: With a control variate, what luck with the cards is reckoned to have added to each win share,
            float64, shape `(deals, orders, n)`; else None.
        faults: The games forfeited, in order.
    """

    names: tuple[str, ...]
    deals: np.ndarray
    orders: np.ndarray
    returns: np.ndarray
    scores: np.ndarray
    places: np.ndarray
    win_shares: np.ndarray
    placements: np.ndarray
    steps: np.ndarray
    offenders: np.ndarray
    truncated: np.ndarray
    corrections: np.ndarray | None = None
    faults: tuple[Fault, ...] = ()


class Variate(Protocol):
    """A control variate (see `pigenv.evaluate.control`)."""

    def luck(self, game: Game, before: np.ndarray, actions: np.ndarray, after: np.ndarray) -> np.ndarray:
        """By seat, what chance changed in a step of each table, float64, shape `(tables, seats)`; its mean is 0."""
        ...


def joined(parts: Sequence[Games], axis: int = 0) -> Games:
    """Parts of a match put together again: along the deals (0) or along the seat orders (1)."""
    along: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=axis)
        for name in ("returns", "scores", "places", "win_shares", "placements", "steps", "offenders", "truncated")
    }
    first, faults, before = parts[0], [], 0
    for part in parts:
        shift = before if axis == 1 else 0
        faults += [Fault(each.agent, each.deal, each.order + shift, each.place, each.reason) for each in part.faults]
        before += len(part.orders)
    return Games(
        names=first.names,
        deals=first.deals if axis == 1 else np.concatenate([part.deals for part in parts]),
        orders=first.orders if axis == 0 else np.concatenate([part.orders for part in parts]),
        corrections=None
        if first.corrections is None
        else np.concatenate([part.corrections for part in parts if part.corrections is not None], axis=axis),
        faults=tuple(faults),
        **along,
    )


def is_compiled(agent: Agent) -> bool:
    """Whether a compiled loop can play this agent: it is a kernel and nothing else."""
    return isinstance(agent, KernelAgent) and type(agent).act is KernelAgent.act


def whole_number(name: str, value: Any, low: int = 1) -> int:
    """An option that counts something, as a Python int.

    Raises:
        OptionError: It is not an integer, or below `low`.
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_) and low <= value < 2**62:
        return int(value)
    raise OptionError(f"{name} must be an integer, {low} or more; got {value!r}")


def batch_size(
    line_up: Sequence[Agent], limits: Sequence[float | None] | None = None, variate: Variate | None = None
) -> int:
    """How many deals of this line-up are played at once; a match may be cut at its multiples."""
    limited = limits is not None and any(each is not None for each in limits)
    asked = limited or variate is not None or not all(map(is_compiled, line_up))
    return BATCH if asked else COMPILED_BATCH


def play_match(
    game: Game,
    line_up: Sequence[Agent],
    deals: int | Sequence[int] | np.ndarray,
    seed: int,
    progress: Progress | None = None,
    *,
    bench: Sequence[Agent] = (),
    orders: np.ndarray | None = None,
    limits: Sequence[float | None] | None = None,
    variate: Variate | None = None,
) -> Games:
    """Play deals from every seat.

    Args:
        game: The game.
        line_up: An agent for each seat; the same one may sit at several.
        deals: How many deals: episodes 0 … deals−1 of the seed; or the episodes' numbers.
        seed: Of cards and agents, 0 … 2^64−1.
        progress: Told how many games are done.
        bench: Agents that sit in other line-ups of the same evaluation. The loops are compiled for the compiled ones
            among them as well, so that all line-ups share them; the games are the same without.
        orders: The seat orders that each deal is played in, shape `(orders, places)`; the rotations where None.
        limits: By place, the seconds that an agent may take for a decision, or None.
        variate: Reckons how lucky everybody was. All agents are then asked decision by decision.

    Raises:
        OptionError: The line-up does not fill the table, `deals` is unusable, or an order seats two at one seat.
        SeedError: The seed is no seed.
        AgentError: An agent plays another game.
    """
    players = game.num_players
    if len(line_up) != players:
        raise OptionError(f"a line-up for this table has {players} agents; got {len(line_up)}")
    for agent in line_up:
        if isinstance(agent, KernelAgent) and agent.base not in (None, game.definition.base):
            raise AgentError(f"{agent.name} plays {agent.base}, not {game.definition.base}")
    if isinstance(deals, int | np.integer | float):
        numbers = np.arange(whole_number("deals", deals))
    else:
        numbers = np.array([whole_number("a deal's number", each, 0) for each in deals], np.int64)
        if len(numbers) == 0:
            raise OptionError("deals must be 1 or more; got none")
    seats = rotations(players) if orders is None else np.asarray(orders, np.int64)
    if seats.ndim != 2 or len(seats) == 0 or (np.sort(seats, axis=1) != np.arange(players)).any():
        raise OptionError(f"a seat order gives each of {players} places another seat; got {orders!r}")
    hall = _Hall(game, line_up, bench, checked_seed(seed), limits, variate)
    points = np.zeros((len(numbers), len(seats), players))
    returns = np.zeros_like(points)
    steps = np.zeros((len(numbers), len(seats)), np.int64)
    offenders = np.zeros_like(steps)
    truncated = np.zeros((len(numbers), len(seats)), bool)
    corrections = None if variate is None else np.zeros_like(points)
    faults: list[Fault] = []
    done = 0
    size = batch_size(line_up, limits, variate)
    for start in range(0, len(numbers), size):
        rows = slice(start, min(start + size, len(numbers)))
        for order, seating in enumerate(seats):
            hall.seat(seating, int(numbers[start]))
            batch = hall.play(numbers[rows], _after(done, progress))
            points[rows, order] = batch.points[:, seating]
            returns[rows, order] = batch.returns[:, seating]
            if corrections is not None:
                corrections[rows, order] = batch.luck[:, seating]
            steps[rows, order] = batch.episodes["steps"]
            truncated[rows, order] = batch.over == TRUNCATED
            offender = batch.episodes["offender"].astype(np.int64)
            offenders[rows, order] = np.where(offender < 0, -1, np.argsort(seating)[offender])
            faults += [
                Fault(line_up[place].name, int(numbers[start + i]), order, place, batch.reasons.get(i, _ILLEGAL))
                for i, place in enumerate(offenders[rows, order].tolist())
                if place >= 0
            ]
            done += rows.stop - rows.start
            if progress is not None:
                progress(done)
    placements = _placements(points, offenders, bool(game.row["lowest_wins"][0]))
    return Games(
        names=tuple(agent.name for agent in line_up),
        deals=numbers,
        orders=seats,
        returns=returns,
        scores=points,
        places=placements @ np.arange(1.0, players + 1.0),
        win_shares=placements[..., 0],
        placements=placements,
        steps=steps,
        offenders=offenders,
        truncated=truncated,
        corrections=corrections,
        faults=tuple(faults),
    )


def warm_up(game: Game, line_up: Sequence[Agent], bench: Sequence[Agent] = ()) -> None:
    """Compile what a match of this line-up will be played with; nobody is asked for a decision."""
    # What cannot be compiled is dealt with where it is played.
    with suppress(Exception):
        _Hall(game, line_up, bench, 0).warm_up()


def _after(done: int, progress: Progress | None) -> Progress | None:
    """The progress of a part, told to the progress of the whole."""
    return None if progress is None else lambda more: progress(done + more)


def _placements(points: np.ndarray, offenders: np.ndarray, lowest_wins: bool) -> np.ndarray:
    """Share of each place for each agent: shape of `points`, then the n places.

    Equal points share the places that they fill; whoever forfeited is last and the others share all places before.
    """
    players = points.shape[-1]
    standing = -points if lowest_wins else points.copy()
    forfeited = offenders >= 0
    standing[forfeited] = 1.0
    standing[forfeited, offenders[forfeited]] = 0.0
    better = (standing[..., None, :] > standing[..., :, None]).sum(axis=-1)
    equal = (standing[..., None, :] == standing[..., :, None]).sum(axis=-1)
    place = np.arange(players)
    taken = (place >= better[..., None]) & (place < (better + equal)[..., None])
    shares: np.ndarray = taken / equal[..., None]
    return shares


# --- playing ----------------------------------------------------------------------------------------------------------

_ILLEGAL: Final = "illegal action"


@dataclass
class _Batch:
    """Games of one seat order: seats are seats here, not places."""

    over: np.ndarray
    episodes: np.ndarray
    points: np.ndarray
    returns: np.ndarray
    luck: np.ndarray
    reasons: dict[int, str]


class _Hall:
    """Where the games of a match are played: the line-up, and the loops compiled for it."""

    def __init__(
        self,
        game: Game,
        line_up: Sequence[Agent],
        bench: Sequence[Agent],
        seed: int,
        limits: Sequence[float | None] | None = None,
        variate: Variate | None = None,
    ) -> None:
        self.game, self.line_up, self.seed, self.variate = game, list(line_up), seed, variate
        self.loops = loops(game.definition)
        distinct = {id(agent): agent for agent in line_up}
        self.agents = list(distinct.values())
        self.indices = [list(distinct).index(id(agent)) for agent in line_up]
        clocks = [None] * len(line_up) if limits is None else limits
        # By agent: where copies of one have different limits, that of its first place.
        self.clocks = [
            None if (seconds := clocks[self.indices.index(index)]) is None else _Clock(agent, seconds)
            for index, agent in enumerate(self.agents)
        ]
        # By kernel: two agents of one name may be different ones. Sorted, so that one set of agents is compiled once.
        kernels = {
            id(agent.kernel): agent.player
            for agent in [*bench, *line_up]
            if isinstance(agent, KernelAgent) and is_compiled(agent)
        }
        ranked = sorted(kernels.items(), key=lambda each: each[1][0])
        self.players: tuple[Player, ...] = tuple(player for _, player in ranked)
        places = {kernel: index for index, (kernel, _) in enumerate(ranked)}
        self.compiled = [
            places[id(agent.kernel)]
            if isinstance(agent, KernelAgent) and is_compiled(agent) and clock is None and variate is None
            else None
            for agent, clock in zip(self.agents, self.clocks, strict=True)
        ]
        self.broken: dict[int, str] = {}
        self.who = self.indices

    def seat(self, seating: np.ndarray, first_deal: int) -> None:
        """Seat the line-up for a batch of deals; every agent forgets what it saw before."""
        self.who = [self.indices[place] for place in np.argsort(seating)]
        self.broken = {}
        for index, agent in enumerate(self.agents):
            seed = int(np.random.SeedSequence([self.seed, index, first_deal]).generate_state(1, np.uint64)[0])
            try:
                agent.reset(seed)
            except _FAILURES as error:
                self.broken[index] = f"reset raised {_worded(error)}"

    def play(self, numbers: np.ndarray, progress: Progress | None) -> _Batch:
        """Play one game of each episode given, int64, shape `(n,)`."""
        try:
            return self._play(numbers, self.compiled, progress)
        except Exception:
            if not any(index is not None for index in self.compiled):
                raise
        # A kernel that raises, or cannot be compiled, stops the whole compiled loop. Asked decision by decision, it
        # forfeits only its own games.
        self.compiled = [None] * len(self.agents)
        return self._play(numbers, self.compiled, progress)

    def warm_up(self) -> None:
        """Call everything that `play` may call, for no table at all."""
        game = self.game
        states, views = np.zeros(0, game.definition.state), np.zeros(1, game.definition.state)
        masks, points = np.zeros((0, game.num_actions), np.int8), np.zeros((0, game.num_players))
        episodes, which = np.zeros(0, EPISODE), np.zeros(0, bool)
        self.loops.start_tables(states, game.row, episodes, which)
        self.loops.score_tables(states, game.row, points)
        compiled = [index is not None for index in self.compiled]
        together = player_loops(game.definition, self.players if any(compiled) else ())
        together.settle_tables(states, game.row, episodes, views, masks, points)
        if not all(compiled):
            actions = np.zeros(0, np.int64)
            together.step_seats(states, game.row, episodes, actions, which, FORFEIT, views, masks, points)
            self._decide(states, episodes, actions, {})
            seats, observations = np.zeros(0, np.int8), np.zeros((0, game.layout.size), np.float32)
            self.loops.observe_views(states, game.row, seats, observations)

    def _play(self, numbers: np.ndarray, compiled: Sequence[int | None], progress: Progress | None) -> _Batch:
        game, tables = self.game, len(numbers)
        seated = [OUTSIDE - 1 - k if (index := compiled[k]) is None else index for k in self.who]
        used = self.players if max(seated) >= 0 else ()
        together = player_loops(game.definition, used)
        states, views = np.zeros(tables, game.definition.state), np.zeros(1, game.definition.state)
        masks = np.zeros((tables, game.num_actions), np.int8)
        rewards = np.zeros((tables, game.num_players))
        episodes = np.zeros(tables, EPISODE)
        set_seed(episodes, self.seed)
        episodes["number"] = numbers
        episodes["player"] = OUTSIDE
        episodes["player"][:, : game.num_players] = seated
        self.loops.start_tables(states, game.row, episodes, np.ones(tables, bool))
        luck = np.zeros((tables, game.num_players))
        reasons: dict[int, str] = {}
        together.settle_tables(states, game.row, episodes, views, masks, rewards)
        while len(waiting := np.flatnonzero(states["over"] == RUNNING)):
            actions = self._decide(states, episodes, waiting, reasons)
            acting = states["over"] == RUNNING
            before = states.copy() if self.variate is not None else states
            together.step_seats(states, game.row, episodes, actions, acting, FORFEIT, views, masks, rewards)
            if self.variate is not None:
                # A forfeit ends a game without a card being turned.
                played = np.flatnonzero(acting & (episodes["offender"] < 0))
                luck[played] += self.variate.luck(game, before[played], actions[played], states[played])
            if progress is not None:
                progress(int((states["over"] != RUNNING).sum()))
        points = np.zeros((tables, game.num_players))
        self.loops.score_tables(states, game.row, points)
        return _Batch(states["over"].copy(), episodes, points, rewards, luck, reasons)

    def _decide(
        self, states: np.ndarray, episodes: np.ndarray, waiting: np.ndarray, reasons: dict[int, str]
    ) -> np.ndarray:
        """An action for each table that waits for one, int64, shape `(n,)`; says in `reasons` why there is none."""
        game, count = self.game, len(waiting)
        seats = np.full(count, -1, np.int8)
        views = np.zeros(count, game.definition.state)
        masks = np.zeros((count, game.num_actions), np.int8)
        keys = np.zeros(count, np.uint64)
        self.loops.view_tables(states, game.row, episodes, waiting, seats, views, masks, keys)
        asked = OUTSIDE - 1 - episodes["player"][waiting, seats].astype(np.int64)
        actions = np.full(len(states), _NO_ACTION, np.int64)
        for index, agent in enumerate(self.agents):
            rows = np.flatnonzero(asked == index)
            if len(rows) == 0:
                continue
            if index in self.broken:
                reasons.update((int(i), self.broken[index]) for i in waiting[rows])
                continue
            # Indexing copies: whatever an agent does to its decisions, the game does not see it.
            batch = Decisions(game, views[rows], seats[rows], masks[rows], keys[rows])
            clock = self.clocks[index]
            chosen, problems = _ask(agent.act if clock is None else clock.act, batch, alone=clock is not None)
            legal_here = masks[rows]
            for k, i in enumerate(waiting[rows].tolist()):
                action = actions[i] = chosen[k]
                if k in problems:
                    reasons[i] = problems[k]
                elif not 0 <= action < game.num_actions or not legal_here[k, action]:
                    reasons[i] = _illegal(game, int(action), legal_here[k])
        return actions


def _ask(
    act: Callable[[Decisions], np.ndarray], decisions: Decisions, alone: bool = False
) -> tuple[np.ndarray, dict[int, str]]:
    """An agent's actions, int64, shape `(n,)`, and by decision why it has none; `alone` asks one at a time."""
    count = len(decisions)
    if not alone or count == 1:
        try:
            return _answer(act, decisions), {}
        except _FAILURES as error:
            if count == 1:
                return np.full(1, _NO_ACTION), {0: _worded(error)}
    # One decision spoils a batch; the others are asked again alone, so that only its game is lost.
    actions, problems = np.full(count, _NO_ACTION), {}
    for k in range(count):
        one = slice(k, k + 1)
        single = Decisions(
            decisions.game, decisions.views[one].copy(), decisions.seats[one].copy(),
            decisions.action_masks[one].copy(), decisions.keys[one].copy(),
        )  # fmt: skip
        try:
            actions[k] = _answer(act, single)[0]
        except _FAILURES as error:
            problems[k] = _worded(error)
    return actions, problems


def _answer(act: Callable[[Decisions], np.ndarray], decisions: Decisions) -> np.ndarray:
    """What an agent answers, checked for its form."""
    given = np.asarray(act(decisions))
    if given.shape != (len(decisions),) or given.dtype.kind not in "iu":
        raise AgentError(
            f"act must return an integer for each decision, shape ({len(decisions)},); "
            f"got {given.dtype} of shape {given.shape}"
        )
    if given.dtype == np.uint64:
        # A number too large for a signed integer must not come round as another one.
        given = np.minimum(given, np.uint64(np.iinfo(np.int64).max))
    return given.astype(np.int64)


@dataclass
class _Clock:
    """Asks an agent in a thread of its own and waits no longer than its limit, in seconds."""

    agent: Agent
    limit: float
    thread: Thread | None = None

    def act(self, decisions: Decisions) -> np.ndarray:
        """See `Agent.act`; a `TimeoutError` where the agent takes too long."""
        if self.thread is not None and self.thread.is_alive():
            self.thread.join(self.limit)
            if self.thread.is_alive():
                raise TimeoutError(f"still busy with an earlier decision after {self.limit:g} s more")
        answers: SimpleQueue[Any] = SimpleQueue()

        def think() -> None:
            try:
                answers.put((self.agent.act(decisions), None))
            except BaseException as error:  # whatever it is, it is raised where the answer is waited for
                answers.put((None, error))

        self.thread = Thread(target=think, daemon=True)
        self.thread.start()
        try:
            given, error = answers.get(timeout=self.limit)
        except Empty:
            raise TimeoutError(f"took more than {self.limit:g} s for a decision") from None
        if error is not None:
            raise error
        return np.asarray(given)


def _worded(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _illegal(game: Game, action: int, mask: np.ndarray) -> str:
    texts = ", ".join(repr(game.action_texts[each]) for each in np.flatnonzero(mask))
    known = f" ({game.action_texts[action]!r})" if 0 <= action < game.num_actions else ""
    return f"{_ILLEGAL} {action}{known}; legal: {texts}"
