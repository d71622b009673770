"""All seats of many tables, for learners that play against themselves."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from pigenv.crew import Crew
from pigenv.envs.options import checked_policy
from pigenv.errors import IllegalActionError, OptionError, UsageError
from pigenv.game import RUNNING, Game
from pigenv.table import EPISODE, ILLEGAL, RAISE, checked_seed, loops, set_seed, whole_actions

__all__ = ["SelfPlay"]


class SelfPlay:
    """`num_tables` games; each step plays the seat to move at every one, and a finished game begins anew at once.

    Which seat that is differs from table to table: `seats` says it. Rewards come for all seats at each step, so a
    learner adds up what each seat was paid since its own last decision. All arrays are overwritten by the next step.

    Args:
        game: The game at every table.
        num_tables: How many.
        illegal: What happens to an illegal action (see `ILLEGAL`); "raise" checks all before any is played.
        threads: How many threads step the tables; more than one pays from about a thousand tables.
        autoreset: Whether a finished game begins anew at once. Otherwise it stays as it is, with no action legal, until
            `begin`.

    Attributes:
        observations: Of the seats to move, float32, `(num_tables, layout.size)`.
        masks: Their legal actions, int8, `(num_tables, num_actions)`.
        seats: The seats to move, int8, `(num_tables,)`.
        rewards: What the last step paid each seat, float32, `(num_tables, num_players)`.
        over: Whether the last step ended a game, int8, `(num_tables,)`: RUNNING, TERMINATED or TRUNCATED. The
            observation is then the next game's first (without `autoreset`: what the last seat sees of the end).
    """

    def __init__(
        self, game: Game, num_tables: int, illegal: str = "raise", threads: int = 1, autoreset: bool = True
    ) -> None:
        if not isinstance(num_tables, int) or isinstance(num_tables, bool) or num_tables < 1:
            raise OptionError(f"num_tables must be an integer of at least 1; got {num_tables!r}")
        if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
            raise OptionError(f"threads must be an integer of at least 1; got {threads!r}")
        self.game: Game = game
        self.num_tables: int = num_tables
        self.autoreset: bool = autoreset
        self.policy: int = ILLEGAL.index(checked_policy(illegal))
        self.loops: Any = loops(game.definition)
        self.crew: Crew = Crew(threads, num_tables, game.definition.state)
        self.states: np.ndarray = np.zeros(num_tables, game.definition.state)
        self.episodes: np.ndarray = np.zeros(num_tables, EPISODE)
        self.observations: np.ndarray = np.zeros((num_tables, game.layout.size), np.float32)
        self.masks: np.ndarray = np.zeros((num_tables, game.num_actions), np.int8)
        self.seats: np.ndarray = np.zeros(num_tables, np.int8)
        self.rewards: np.ndarray = np.zeros((num_tables, game.num_players), np.float32)
        self.over: np.ndarray = np.zeros(num_tables, np.int8)
        self._views = self.crew.views
        self._rows = np.arange(num_tables)
        self._sampled = np.zeros(num_tables, np.int64)
        self._actions = np.zeros(num_tables, np.int64)
        self._started = False

    def reset(self, seed: int | None = None) -> None:
        """Begin anew at every table: table i deals episodes 0, 1, … of seed + i (mod 2^64).

        Raises:
            SeedError: The seed is not an integer in 0 … 2^64−1.
        """
        first = secrets.randbits(64) if seed is None else checked_seed(seed)
        for i in range(self.num_tables):
            set_seed(self.episodes[i], (first + i) % 2**64)
        self.loops.start_tables(self.states, self.game.row, self.episodes, np.ones(self.num_tables, bool))
        self.loops.decide_tables(self.states, self.game.row, self.seats, self._views, self.observations, self.masks)
        self.rewards[:] = 0
        self.over[:] = 0
        self._started = True

    def begin(self, which: np.ndarray) -> None:
        """Begin the next episode at some tables.

        Args:
            which: The tables, bool, shape `(num_tables,)`.

        Raises:
            UsageError: There was no reset.
        """
        if not self._started:
            raise UsageError("no game was begun; call reset first")
        self.episodes["number"][which] += 1
        self.loops.start_tables(self.states, self.game.row, self.episodes, which)
        self.loops.decide_tables(self.states, self.game.row, self.seats, self._views, self.observations, self.masks)
        self.rewards[which] = 0
        self.over[which] = RUNNING

    def step(self, actions: Any) -> None:
        """Play an action for the seat to move at every table.

        Raises:
            UsageError: There was no reset.
            IllegalActionError: Not `num_tables` integers, or with `illegal="raise"` one that is not legal; nothing has
                changed.
        """
        if not self._started:
            raise UsageError("no game was begun; call reset first")
        given = whole_actions(actions, self.num_tables, self.game)
        if not self.autoreset and (self.over != RUNNING).any():
            raise UsageError(f"tables {np.flatnonzero(self.over).tolist()} are over; begin their next games first")
        # Always the same arrays: a crew is quickest then.
        np.copyto(self._actions, given, casting="unsafe")
        if self.policy == RAISE:
            self._refuse(given)
        self.crew.run(
            self.loops.step_tables,
            self.states, self.game.row, self.episodes, self._actions, self.policy, self.autoreset, self.seats,
            self._views, self.observations, self.masks, self.rewards, self.over,
        )  # fmt: skip

    def _refuse(self, given: np.ndarray) -> None:
        i = int(self.loops.first_illegal(self.masks, self._actions))
        if i >= 0:
            legal = ", ".join(map(str, np.flatnonzero(self.masks[i])))
            raise IllegalActionError(
                f"action {given[i]} is not legal for seat {self.seats[i]} at table {i}; legal: {legal}"
            )

    def sample(self) -> np.ndarray:
        """A uniformly random legal action for each table, int64, shape `(num_tables,)`; overwritten by the next call.

        The chance is each table's own, so it does not depend on how many tables there are.
        """
        self.crew.run(self.loops.random_actions, self.masks, self.episodes, self._sampled)
        return self._sampled

    def run(self, count: int) -> None:
        """Make `count` uniformly random decisions at every table in one call, writing all that `step` writes."""
        self.crew.run(
            self.loops.run_tables,
            self.states, self.game.row, self.episodes, count, self.seats, self._views, self.observations, self.masks,
            self.rewards,
        )  # fmt: skip

    def scores(self) -> np.ndarray:
        """Every seat's points as they stand, float64, shape `(num_tables, num_players)`."""
        points = np.zeros((self.num_tables, self.game.num_players))
        self.loops.score_tables(self.states, self.game.row, points)
        return points
