"""The tables that a learner plays at: of one size or of several, against itself, past selves and other agents.

At most tables every seat is the learner's. At a share of them only one is, and a rival has all the others for a whole
game: a hand-written player, or the learner as it was some time ago. Who that is follows from how the games went: the
better a rival does against the learner, the more often it comes (prioritised fictitious self-play, Vinyals et al.,
"Grandmaster level in StarCraft II", Nature 2019, with weight (1 − win rate)²).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pigenv import registry
from pigenv.agent import Agent, Decisions, find_agent
from pigenv.envs.selfplay import SelfPlay
from pigenv.errors import OptionError
from pigenv.game import RUNNING, Game

__all__ = ["Mixture", "Tables", "table_sizes"]

RESULTS_KEPT: Final = 0.99  # of a rival's running result when a new one comes
LEAST_WEIGHT: Final = 0.05  # of a rival that always loses, so that it is not forgotten
SELF: Final = -1

Act = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""The choice of a past self: actions from observations and masks."""


@dataclass(frozen=True)
class Mixture:
    """Who else sits at the tables.

    Attributes:
        opponents: Agents of the catalog.
        opponent_share: The share of tables at which one of them has all seats but one.
        past_share: The share of tables at which a past self has.
        past_size: How many past selves are kept.
    """

    opponents: Sequence[str] = ()
    opponent_share: float = 0.0
    past_share: float = 0.0
    past_size: int = 8

    def check(self) -> None:
        """Refuse shares that do not add up.

        Raises:
            OptionError: They do not.
        """
        if self.opponent_share + self.past_share > 1:
            raise OptionError(
                f"algo.opponent_share and algo.past_share must add up to 1 at most; "
                f"got {self.opponent_share} and {self.past_share}"
            )
        if (self.opponent_share > 0) != bool(self.opponents):
            raise OptionError("algo.opponents and algo.opponent_share go together; give both or neither")


def table_sizes(game: Game) -> list[Game]:
    """The games to train on: of every size that the layout has room for, if it was made for several."""
    if not game.mixed:
        return [game]
    least, _ = game.definition.seats(game.rules)
    sizes = []
    for size in range(least, game.max_players + 1):
        try:
            sizes.append(registry.make(game.definition, **{**_options(game), "num_players": size}))
        except OptionError:
            # Some rules cannot be dealt for every number of players between the least and the most.
            if size == game.num_players:
                raise
    return sizes


def _options(game: Game) -> dict[str, Any]:
    return {name: value for name, value in game.settings().items() if name != "game"}


class Tables:
    """Many tables, each step of which plays the seat to move at every one.

    Args:
        game: The game; one laid out for several sizes is played at all of them, equally many tables each.
        num_tables: How many tables.
        mixture: Who else sits there.
        seed: Of cards, rivals and seats.
        threads: How many threads step them.

    Attributes:
        observations: Of the seats to move, float32, `(num_tables, layout.size)`.
        masks: Their legal actions, int8, `(num_tables, num_actions)`.
        seats: The seats to move, int8, `(num_tables,)`.
        learning: 1 where that is the learner, int8, `(num_tables,)`.
        rewards: What the last step paid each seat, float32, `(num_tables, most seats)`.
        over: How the last step left each table, int8, `(num_tables,)`.
    """

    def __init__(self, game: Game, num_tables: int, mixture: Mixture, seed: int, threads: int = 1) -> None:
        mixture.check()
        self.game: Game = game
        self.num_tables: int = num_tables
        self.mixture: Mixture = mixture
        games = table_sizes(game)
        if num_tables < len(games):
            raise OptionError(f"algo.num_tables must be at least {len(games)}, one a table size; got {num_tables}")
        self.most: int = max(each.num_players for each in games)
        self.observations: np.ndarray = np.zeros((num_tables, game.layout.size), np.float32)
        self.masks: np.ndarray = np.zeros((num_tables, game.num_actions), np.int8)
        self.seats: np.ndarray = np.zeros(num_tables, np.int8)
        self.over: np.ndarray = np.zeros(num_tables, np.int8)
        self.learning: np.ndarray = np.zeros(num_tables, np.int8)
        self.rewards: np.ndarray = np.zeros((num_tables, self.most), np.float32)
        self.groups: list[tuple[slice, SelfPlay]] = []
        # A hash of the seed: the tables of seeds that follow each other have nothing in common.
        first = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        self._generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed).spawn(1)[0]))
        for number, each in enumerate(games):
            part = slice(num_tables * number // len(games), num_tables * (number + 1) // len(games))
            group = SelfPlay(each, part.stop - part.start, threads=threads)
            # One array for all sizes: each group writes its stretch.
            for name in ("observations", "masks", "seats", "rewards", "over"):
                setattr(group, name, getattr(self, name)[part])
            group.reset((first + part.start) % 2**64)
            self.groups.append((part, group))
        self.opponents: list[Agent] = [find_agent(name, game) for name in mixture.opponents]
        self.past: list[Act | None] = [None] * mixture.past_size
        rivals = len(self.opponents) + mixture.past_size
        self.results: np.ndarray = np.full(rivals, 0.5)
        """Running result of the learner against each rival: 1 for all won, 0.5 for what chance would bring."""
        self._rivals_of = np.full(num_tables, SELF, np.int64)
        self._learner_seat = np.zeros(num_tables, np.int8)
        self._earned = np.zeros(num_tables)
        self._kind = np.zeros(num_tables, np.int8)  # 0 against itself, 1 with an opponent, 2 with a past self
        for part, _ in self.groups:
            count = part.stop - part.start
            opponents, past = round(count * mixture.opponent_share), round(count * mixture.past_share)
            self._kind[part.start : part.start + opponents] = 1
            self._kind[part.start + opponents : part.start + opponents + past] = 2
        self._mixed = np.flatnonzero(self._kind)
        self._players = np.zeros(num_tables, np.int8)
        for part, group in self.groups:
            self._players[part] = group.game.num_players
        self._seat_rivals(self._mixed)
        self._mark()

    # --- playing -----------------------------------------------------------------------------------------------------

    def step(self, actions: np.ndarray) -> None:
        """Play actions for the learner's seats, and what the rivals choose for theirs.

        Args:
            actions: int64, `(num_tables,)`; those of rivals' seats are overwritten with what was played.
        """
        if len(self._mixed):
            self._ask_rivals(actions)
        for part, group in self.groups:
            group.step(actions[part])
        if len(self._mixed):
            self._count_results()
        self._mark()

    def _mark(self) -> None:
        """Write who is to learn from the next decision."""
        self.learning[:] = 1
        mixed = self._mixed
        rival = (self._rivals_of[mixed] != SELF) & (self.seats[mixed] != self._learner_seat[mixed])
        self.learning[mixed[rival]] = 0

    def _ask_rivals(self, actions: np.ndarray) -> None:
        waiting = self._mixed[self.learning[self._mixed] == 0]
        for rival in np.unique(self._rivals_of[waiting]):
            rows = waiting[self._rivals_of[waiting] == rival]
            if rival >= len(self.opponents):
                act = self.past[rival - len(self.opponents)]
                assert act is not None  # only past selves that there are get a table
                actions[rows] = act(self.observations[rows], self.masks[rows])
                continue
            for part, group in self.groups:
                here = rows[(rows >= part.start) & (rows < part.stop)]
                if len(here):
                    actions[here] = self.opponents[rival].act(decisions_at(group, here - part.start))

    def _count_results(self) -> None:
        """Note what the games that ended say of the rivals, and seat new ones."""
        mixed = self._mixed
        self._earned[mixed] += self.rewards[mixed, self._learner_seat[mixed]]
        ended = mixed[self.over[mixed] != RUNNING]
        if not len(ended):
            return
        for table in ended:
            rival = self._rivals_of[table]
            if rival != SELF:
                # Rewards go from −1/(n−1) or −1 to 1; half way is what chance would bring.
                result = min(max((1 + self._earned[table]) / 2, 0.0), 1.0)
                self.results[rival] += (1 - RESULTS_KEPT) * (result - self.results[rival])
        self._seat_rivals(ended)

    def _seat_rivals(self, tables: np.ndarray) -> None:
        """Give tables at which a game begins their rival and the learner's seat."""
        self._earned[tables] = 0
        chance = self._generator.random((len(tables), 2))
        self._learner_seat[tables] = (chance[:, 0] * self._players[tables]).astype(np.int8)
        there = [k for k, act in enumerate(self.past) if act is not None]
        pools = {1: np.arange(len(self.opponents)), 2: len(self.opponents) + np.array(there, np.int64)}
        for kind, pool in pools.items():
            rows = np.flatnonzero(self._kind[tables] == kind)
            if len(pool):
                weights = np.maximum((1 - self.results[pool]) ** 2, LEAST_WEIGHT)
                places = np.searchsorted(weights.cumsum() / weights.sum(), chance[rows, 1], side="right")
                self._rivals_of[tables[rows]] = pool[np.minimum(places, len(pool) - 1)]
            else:
                self._rivals_of[tables[rows]] = SELF

    def remember(self, place: int, act: Act, result: float = 0.5) -> None:
        """Let a past self take its place among the rivals.

        Args:
            place: Which of the `past_size` places.
            act: Its choice.
            result: The learner's running result against it.
        """
        self.past[place] = act
        self.results[len(self.opponents) + place] = result

    def everything(self, fill: np.ndarray) -> None:
        """Write what all seats of each table see: the seat to move first, the others after it clockwise.

        Between them the seats see all that is not in the stock. A critic may be fed with it, nobody who acts.

        Args:
            fill: float32, `(num_tables, most seats, layout.size)`; seats that a table does not have are zero.
        """
        for part, group in self.groups:
            count, game = group.num_tables, group.game
            views, which = np.zeros(count, game.definition.state), np.arange(count)
            masks, keys = np.zeros((count, game.num_actions), np.int8), np.zeros(count, np.uint64)
            seen = np.zeros((count, game.layout.size), np.float32)
            for offset in range(self.most):
                if offset >= game.num_players:
                    fill[part, offset] = 0
                    continue
                seats = ((self.seats[part] + offset) % game.num_players).astype(np.int8)
                group.loops.view_tables(group.states, game.row, group.episodes, which, seats, views, masks, keys)
                group.loops.observe_views(views, game.row, seats, seen)
                fill[part, offset] = seen

    # --- saving ------------------------------------------------------------------------------------------------------

    _ARRAYS: Final = (
        "observations", "masks", "seats", "learning", "rewards", "over", "results",
        "_rivals_of", "_learner_seat", "_earned",
    )  # fmt: skip

    def save(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """All that changes, as arrays and as JSON; past selves apart."""
        arrays = {name.strip("_"): getattr(self, name).copy() for name in self._ARRAYS}
        for number, (_, group) in enumerate(self.groups):
            arrays[f"states_{number}"] = group.states.view(np.uint8).copy()
            arrays[f"episodes_{number}"] = group.episodes.view(np.uint8).copy()
        return arrays, {"generator": self._generator.bit_generator.state}

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Become what was saved, past selves apart."""
        for name in self._ARRAYS:
            getattr(self, name)[:] = arrays[name.strip("_")]
        for number, (_, group) in enumerate(self.groups):
            group.states.view(np.uint8)[:] = arrays[f"states_{number}"]
            group.episodes.view(np.uint8)[:] = arrays[f"episodes_{number}"]
        self._generator.bit_generator.state = about["generator"]


def decisions_at(group: SelfPlay, tables: np.ndarray) -> Decisions:
    """What the seats to move at some tables are asked."""
    count, game = len(tables), group.game
    views, seats = np.zeros(count, game.definition.state), np.full(count, -1, np.int8)
    masks, keys = np.zeros((count, game.num_actions), np.int8), np.zeros(count, np.uint64)
    group.loops.view_tables(group.states, game.row, group.episodes, tables, seats, views, masks, keys)
    return Decisions(game, views, seats, masks, keys)
