"""Many tables with one seat played from outside: what the two Gymnasium environments and SB3's view are made of."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from pigenv.agent import Agent, Decisions, KernelAgent, find_agent
from pigenv.crew import Crew
from pigenv.errors import AgentError, IllegalActionError, OptionError, UsageError
from pigenv.game import RUNNING, Game
from pigenv.kernel import mix
from pigenv.table import (
    EPISODE,
    FORFEIT,
    ILLEGAL,
    OUTSIDE,
    RAISE,
    checked_seed,
    desk_dtype,
    player_loops,
    set_seed,
    whole_actions,
)

__all__ = ["Learners"]

SEATINGS: Final = ("random", "rotate")
"""Besides a fixed seat: by chance, or one seat further each episode. Kernels take −1 and −2."""

Opponents = str | Agent | Sequence[str | Agent]


class Learners:
    """`num_envs` tables at each of which one seat is the learner's and agents play the others.

    Args:
        game: The game at every table.
        num_envs: How many tables.
        opponents: Who plays the other seats: an agent or its name, or a list that fills the seats clockwise from the
            learner and is repeated.
        learner_seat: A seat, "random", or "rotate".
        policy: What happens to the learner's illegal actions (see `ILLEGAL`).
        threads: How many threads step the tables; 1 costs least below a thousand tables.

    Attributes:
        observations: float32, `(num_envs, layout.size)`; masks: int8, `(num_envs, num_actions)`; rewards: float32,
            `(num_envs,)`; over: int8, `(num_envs,)`; final, ended: last observations and `EPISODE` records of the games
            that ended in a same-step reset. All are overwritten by the next call.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        opponents: Opponents = "uniform",
        learner_seat: str | int = "random",
        policy: str = "forfeit",
        threads: int = 1,
    ) -> None:
        if not isinstance(num_envs, int | np.integer) or isinstance(num_envs, bool) or num_envs < 1:
            raise OptionError(f"num_envs must be an integer of at least 1; got {num_envs!r}")
        if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
            raise OptionError(f"threads must be an integer of at least 1; got {threads!r}")
        self.game: Game = game
        self.num_envs: int = int(num_envs)
        self.threads: int = threads
        self.policy: int = ILLEGAL.index(policy)
        self.seating: int = _seating(learner_seat, game.num_players)
        self.opponents: list[Agent] = _line_up(opponents, game)
        self.agents: list[Agent] = list({id(agent): agent for agent in self.opponents}.values())
        self._allocate()
        self.observations: np.ndarray = np.zeros((num_envs, game.layout.size), np.float32)
        self.final: np.ndarray = np.zeros_like(self.observations)
        self.ended: np.ndarray = np.zeros(num_envs, EPISODE)
        self.masks: np.ndarray = np.zeros((num_envs, game.num_actions), np.int8)
        self.rewards: np.ndarray = np.zeros(num_envs, np.float32)
        self.over: np.ndarray = np.zeros(num_envs, np.int8)
        self.started: bool = False
        self.deals: tuple[Mapping[str, Any], ...] = ()
        self._actions = np.zeros(num_envs, np.int64)
        self._bind()

    def _allocate(self) -> None:
        """The records; those of a single table lie on one desk, which a single call takes as one argument."""
        self.crew: Crew = Crew(self.threads, self.num_envs, self.game.definition.state)
        if self.num_envs == 1:
            self._desks = np.zeros(1, desk_dtype(self.game.definition))
            self._desks["rules"][0] = self.game.row
            self.states: np.ndarray = self._desks["states"][0]
            self.episodes: np.ndarray = self._desks["episodes"][0]
            self._views, self._paid = self._desks["views"][0], self._desks["rewards"][0]
            self._news = self._desks["news"][0]
        else:
            self.states = np.zeros(self.num_envs, self.game.definition.state)
            self.episodes = np.zeros(self.num_envs, EPISODE)
            self._views = self.crew.views
            self._paid = np.zeros((self.num_envs, self.game.num_players), np.float32)

    def _bind(self) -> None:
        """Look up the compiled loops and number the opponents for them: kernels from 0 on, others from −2 down."""
        kernels = [agent for agent in self.agents if isinstance(agent, KernelAgent) and not self.stepwise]
        places = {id(agent): place for place, agent in enumerate(kernels)}
        numbers = {id(agent): places.get(id(agent), OUTSIDE - 1 - i) for i, agent in enumerate(self.agents)}
        self._line_up = np.array([numbers[id(agent)] for agent in self.opponents], np.int64)
        self._all_compiled = bool((self._line_up >= 0).all())
        players = tuple(agent.player for agent in kernels)
        self.loops: Any = player_loops(self.game.definition, players)

    @property
    def stepwise(self) -> bool:
        """Whether every decision is made from Python, so that a later round can be dealt by hand."""
        return len(self.deals) > 1

    # --- beginning ---------------------------------------------------------------------------------------------------

    def seed(self, seeds: Iterable[int | None]) -> None:
        """Let each table's next episodes come from a seed of its own; None keeps the present one, or draws one."""
        for i, seed in enumerate(seeds):
            if seed is not None or not self.episodes["deal_key"][i]:
                set_seed(self.episodes[i], secrets.randbits(64) if seed is None else checked_seed(seed), -1)
        for agent in self.agents:
            if not isinstance(agent, KernelAgent):
                agent.reset(int(mix(self.episodes["agent_key"][0])))

    def start(self, which: np.ndarray, deals: Sequence[Mapping[str, Any]] = ()) -> None:
        """Begin the next episode at the tables `which` (bool), up to the learner's first decision.

        Raises:
            OptionError: The learner never comes to move under these rules.
        """
        if bool(deals) or self.deals:
            self.deals = tuple(deals)
            self._bind()
        self.episodes["number"][which] += 1
        if deals:
            self._start_dealt()
        else:
            self._start_tables(which)
        self.rewards[which] = 0
        self.over[which] = RUNNING
        self._write(which)
        self.started = True

    def _start_tables(self, which: np.ndarray) -> None:
        pending = which.copy()
        for _ in range(_ATTEMPTS):
            self.crew.run(
                self.loops.start_seats,
                self.states, self.game.row, self.episodes, pending, self.seating, self._line_up, self._views,
                self.masks, self._paid,
            )  # fmt: skip
            if not self._all_compiled:
                self._ask(pending)
            # A game may be over before the learner's first decision; then the next one is dealt.
            pending &= self.states["over"] != RUNNING
            if not pending.any():
                return
            self.episodes["number"][pending] += 1
        raise OptionError("the learner's seat never comes to move under these rules; choose another learner_seat")

    def _start_dealt(self) -> None:
        """Begin with the first rounds dealt by hand, at every table alike."""
        every = np.ones(self.num_envs, bool)
        self._paid[:] = 0
        self.loops.start_tables(self.states, self.game.row, self.episodes, every)
        self.loops.seat_tables(self.episodes, self.game.row, every, self.seating, self._line_up)
        self._deal_round(every)
        self.loops.settle_tables(self.states, self.game.row, self.episodes, self._views, self.masks, self._paid)
        self._ask(every)
        if (self.states["over"] != RUNNING).any():
            raise OptionError("with this deal the game is over before the learner's first decision")

    def _deal_round(self, which: np.ndarray) -> None:
        for i in np.flatnonzero(which):
            number = int(self.states["round"][i])
            if number < len(self.deals):
                self.game.definition.write_deal(self.states[i], self.game.row[0], self.deals[number])

    # --- playing -----------------------------------------------------------------------------------------------------

    def check(self, actions: Any, acting: np.ndarray) -> np.ndarray:
        """Actions as int64, shape `(num_envs,)`.

        Raises:
            IllegalActionError: They are not `num_envs` integers of the action space, or one is not legal and that is
                refused. Tables outside `acting` (bool) may have any integer.
        """
        given = whole_actions(actions, self.num_envs, self.game)
        outside = acting & ((given < 0) | (given >= self.game.num_actions))
        if outside.any():
            i = int(np.flatnonzero(outside)[0])
            raise IllegalActionError(
                f"action {given[i]} of table {i} is none of {self.game.id}; they are 0 … {self.game.num_actions - 1}"
            )
        self._actions[:] = given
        if self.policy == RAISE:
            held = self.masks[np.arange(self.num_envs), np.where(acting, self._actions, 0)]
            for i in np.flatnonzero(acting & (held == 0))[:1]:
                legal = np.flatnonzero(self.masks[i])
                texts = ", ".join(repr(self.game.action_texts[action]) for action in legal)
                raise IllegalActionError(
                    f"action {given[i]} ({self.game.action_texts[given[i]]!r}) is not legal for seat "
                    f"{self.episodes['learner'][i]} at table {i}; legal: {', '.join(map(str, legal))} ({texts})"
                )
        return self._actions

    def step(self, actions: Any, same_step: bool) -> None:
        """A step of the learner at every table, and the opponents up to its next decision.

        With `same_step` a finished game gives its last observation in `final` and the next one begins at once; without,
        a table that was over begins its next game in this call and its action is ignored.

        Raises:
            UsageError: Nothing was begun.
            IllegalActionError: See `check`; nothing has changed.
            AgentError: An opponent's answer was not a legal action.
        """
        if not self.started:
            raise UsageError("no episode was begun; call reset first")
        acting = self.over == RUNNING
        actions = self.check(actions, acting)
        if self._all_compiled:
            self.crew.run(
                self.loops.turn_seats,
                self.states, self.game.row, self.episodes, actions, self.policy, same_step, self.seating,
                self._line_up, self._views, self.observations, self.masks, self.final, self.ended, self._paid,
                self.rewards, self.over,
            )  # fmt: skip
            return
        self._advance(actions, acting, self.policy)
        self._ask(acting)
        learner = self._paid[np.arange(self.num_envs), self.episodes["learner"]]
        self.rewards[:] = np.where(acting, learner, 0)
        self._paid[acting] = 0
        self.over[:] = self.states["over"]
        ended = self.over != RUNNING
        if same_step and ended.any():
            self._write(ended)
            self.final[ended], self.ended[ended] = self.observations[ended], self.episodes[ended]
            self.episodes["number"][ended] += 1
            self._start_tables(ended)
        elif not same_step and not acting.all():
            self.episodes["number"][~acting] += 1
            self._start_tables(~acting)
            self.over[~acting] = RUNNING
        self._write(np.ones(self.num_envs, bool))

    def step_single(self, action: int) -> tuple[float, int]:
        """`step` at a single table, without beginning a new game; an action as `whole_action` gives it.

        Returns:
            The learner's reward, and RUNNING, TERMINATED or TRUNCATED.
        """
        if self.policy == RAISE or not self._all_compiled:
            self._actions[0] = action
            self.step(self._actions, same_step=False)
            return float(self.rewards[0]), int(self.over[0])
        reward = self.loops.turn_seat(self._desks, action, self.policy, self.observations, self.masks)
        over = self._news.item(1)
        self.rewards[0], self.over[0] = reward, over
        return reward, over

    def learner_news(self) -> tuple[int, int, int]:
        """The learner's seat at a single table, illegal actions replaced there, and the offender's seat or −1."""
        learner, _, _, replaced, offender, _ = self._news.tolist()
        return learner, replaced, offender

    def _advance(self, actions: np.ndarray, acting: np.ndarray, policy: int) -> None:
        rounds = self.states["round"].copy() if self.deals else None
        self.crew.run(
            self.loops.step_seats,
            self.states,
            self.game.row,
            self.episodes,
            actions,
            acting,
            policy,
            self._views,
            self.masks,
            self._paid,
        )
        if rounds is not None:
            self._deal_round(acting & (self.states["round"] != rounds))

    def _ask(self, which: np.ndarray) -> None:
        """Let the agents that no loop can call decide, until the learner is to move at every table of `which`."""
        while True:
            mover = self.episodes["player"][np.arange(self.num_envs), self.states["seat"]]
            waiting = which & (self.states["over"] == RUNNING) & (mover < OUTSIDE)
            if not waiting.any():
                return
            actions = np.zeros(self.num_envs, np.int64)
            for index in np.unique(mover[waiting]):
                tables = np.flatnonzero(waiting & (mover == index))
                actions[tables] = self._decided(self.agents[OUTSIDE - 1 - int(index)], tables)
            self._advance(actions, waiting, FORFEIT)

    def _decided(self, agent: Agent, tables: np.ndarray) -> np.ndarray:
        decisions = self.decisions(tables)
        actions = np.asarray(agent.act(decisions))
        if actions.shape != (len(tables),) or actions.dtype.kind not in "iu":
            raise AgentError(
                f"{agent.name} must answer {len(tables)} decisions with as many integers; "
                f"got shape {actions.shape} of {actions.dtype}"
            )
        fits = (actions >= 0) & (actions < self.game.num_actions)
        legal = decisions.action_masks[np.arange(len(tables)), np.where(fits, actions, 0)] == 1
        if not (fits & legal).all():
            k = int(np.flatnonzero(~(fits & legal))[0])
            raise AgentError(
                f"{agent.name} chose action {actions[k]} at seat {decisions.seats[k]}; "
                f"legal: {', '.join(map(str, np.flatnonzero(decisions.action_masks[k])))}"
            )
        return actions

    def sample(self) -> np.ndarray:
        """A uniformly random legal action for each table, int64, shape `(num_envs,)`."""
        actions = np.zeros(self.num_envs, np.int64)
        self.loops.random_actions(self.masks, self.episodes, actions)
        return actions

    def decisions(self, tables: np.ndarray) -> Decisions:
        """What the seats to move at some tables are asked."""
        count = len(tables)
        views, seats = np.zeros(count, self.game.definition.state), np.full(count, -1, np.int8)
        masks, keys = np.zeros((count, self.game.num_actions), np.int8), np.zeros(count, np.uint64)
        self.loops.view_tables(self.states, self.game.row, self.episodes, tables, seats, views, masks, keys)
        return Decisions(self.game, views, seats, masks, keys)

    def view(self, i: int, seat: int) -> np.ndarray:
        """What a seat at a table knows, a record in an array of shape `(1,)`."""
        views, masks = np.zeros(1, self.game.definition.state), np.zeros((1, self.game.num_actions), np.int8)
        keys, which = np.zeros(1, np.uint64), np.full(1, i, np.int64)
        self.loops.view_tables(
            self.states, self.game.row, self.episodes, which, np.full(1, seat, np.int8), views, masks, keys
        )
        return views

    def _write(self, which: np.ndarray) -> None:
        self.crew.run(
            self.loops.write_seats,
            self.states,
            self.game.row,
            self.episodes,
            which,
            self._views,
            self.observations,
            self.masks,
        )
        if self.num_envs == 1:
            episode, state = self.episodes[0], self.states[0]
            seen = (episode["learner"], state["over"], state["round"], episode["replaced"], episode["offender"], 0)
            self._news[:] = seen

    def scores(self) -> np.ndarray:
        """Every seat's points as they stand, float64, shape `(num_envs, num_players)`."""
        points = np.zeros((self.num_envs, self.game.num_players))
        self.loops.score_tables(self.states, self.game.row, points)
        return points

    def __getstate__(self) -> dict[str, Any]:
        kept = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in self.__dict__.items()}
        for name in ("loops", "crew", "_desks", "_news"):
            kept.pop(name, None)
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        records = {name: state.pop(name) for name in ("states", "episodes", "_views", "_paid")}
        self.__dict__.update(state)
        self._allocate()
        for name, values in records.items():
            getattr(self, name)[:] = values
        self._bind()
        if self.started:
            self._write(np.ones(self.num_envs, bool))


_ATTEMPTS: Final = 1000


def _seating(learner_seat: str | int, num_players: int) -> int:
    if isinstance(learner_seat, str) and learner_seat in SEATINGS:
        return -1 - SEATINGS.index(learner_seat)
    if isinstance(learner_seat, int) and not isinstance(learner_seat, bool) and 0 <= learner_seat < num_players:
        return learner_seat
    raise OptionError(f"learner_seat must be a seat 0 … {num_players - 1}, 'random' or 'rotate'; got {learner_seat!r}")


def _line_up(opponents: Opponents, game: Game) -> list[Agent]:
    """An agent for each seat after the learner's, clockwise; equal names are one agent."""
    given = [opponents] if isinstance(opponents, str) or not isinstance(opponents, Sequence) else list(opponents)
    if not given or len(given) > game.num_players - 1:
        raise OptionError(f"opponents must be 1 … {game.num_players - 1} agents; got {len(given)}")
    found = {id(each) if not isinstance(each, str) else each: find_agent(each, game) for each in given}
    agents = [found[id(each) if not isinstance(each, str) else each] for each in given]
    return [agents[place % len(agents)] for place in range(game.num_players - 1)]
