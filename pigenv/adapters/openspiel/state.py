"""A running game as OpenSpiel takes it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyspiel  # type: ignore[import-not-found]

from pigenv.adapters.openspiel.house import BITS, House
from pigenv.game import RUNNING
from pigenv.information_state import InformationState
from pigenv.render.text import draw_text

__all__ = ["OpenSpielState"]

_KEY: Final = 1  # of states whose deals are laid out by hand
_KEY_NODES: Final = 4


class OpenSpielState(pyspiel.State):  # type: ignore[misc]
    """A running game: at a chance node while a round is being dealt, then at the seat to move."""

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self._house: House = game.house
        self._state: np.ndarray = np.zeros(1, game.house.game.definition.state)
        self._key: int | None = 0  # bits of the deal's key so far; None once the round is dealt
        self._key_nodes = 0
        self.seen: tuple[InformationState, ...] = ()
        self._last: tuple[int | None, int | None] = (None, None)  # who played last, and what

    # --- what OpenSpiel asks

    def current_player(self) -> int:
        if self._key is not None:
            return pyspiel.PlayerId.CHANCE
        if self._state["over"][0] != RUNNING:
            return pyspiel.PlayerId.TERMINAL
        return int(self._state["seat"][0])

    def is_terminal(self) -> bool:
        return self._key is None and bool(self._state["over"][0] != RUNNING)

    def _legal_actions(self, player: int) -> list[int]:
        return np.flatnonzero(self._house.mask(self._state)).tolist()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        if self._house.deals:
            return [(number, probability) for number, (_, probability) in enumerate(self._house.deals)]
        return [(number, 1 / (1 << BITS)) for number in range(1 << BITS)]

    def _apply_action(self, action: int) -> None:
        if self._key is not None:
            self._deal(action)
            return
        before = int(self._state["round"][0])
        self._last = (int(self._state["seat"][0]), action)
        definition = self._house.game.definition
        definition.step(self._state[0], self._house.row, action)
        new_round = self._state["round"][0] != before and self._state["over"][0] == RUNNING
        if new_round and self._house.deals:
            # The kernel has dealt it from a key that means nothing here; nobody sees that deal.
            self._key = 0
            return
        self._look()

    def _deal(self, outcome: int) -> None:
        house, definition = self._house, self._house.game.definition
        if house.deals:
            if self._state["key"][0] == 0:
                self._state[:] = house.dealt(_KEY)
            definition.write_deal(self._state[0], house.row, copy.deepcopy(house.deals[outcome][0]))
        else:
            self._key = (self._key or 0) << BITS | outcome
            self._key_nodes += 1
            if self._key_nodes < _KEY_NODES:
                return
            # Key 0 would be a view's.
            self._state[:] = house.dealt(self._key + 1)
        self._key = None
        self._look()

    def _look(self) -> None:
        """Every seat sees what has happened."""
        house, (actor, action) = self._house, self._last
        views = [house.view(self._state, seat) for seat in range(house.game.num_players)]
        if not self.seen:
            self.seen = tuple(InformationState(seat, view) for seat, view in enumerate(views))
        else:
            self.seen = tuple(
                each.after(view, action if seat == actor else None)
                for seat, (each, view) in enumerate(zip(self.seen, views, strict=True))
            )

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"deal {action}"
        return self._house.game.action_texts[action]

    def returns(self) -> list[float]:
        if not self.is_terminal():
            return [0.0] * self._house.game.num_players
        return self._house.returns(self._state)

    def __str__(self) -> str:
        if self._key is not None:
            return "to be dealt"
        game = self._house.game
        return draw_text(game.definition.scene(self._state[0], self._house.row, -1))

    # --- what a seat knows

    def information_state(self, seat: int) -> InformationState:
        """All that a seat has seen and done."""
        return self.seen[seat]

    def view(self, seat: int) -> np.ndarray:
        """What a seat knows now, a record in an array of shape `(1,)`."""
        return self._house.view(self._state, seat)

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> OpenSpielState:
        """A state that is the same to a player, drawn from what it knows alone (see the module).

        Args:
            player: The seat.
            sampler: Gives a number in [0, 1).
        """
        key = int(sampler() * 2**53) + 1
        drawn = OpenSpielState(self.get_game())
        drawn.imagine(self.seen[player], self.view(player), key)
        return drawn

    def imagine(self, known: InformationState, view: np.ndarray, key: int) -> None:
        """Become a world drawn from a view."""
        house = self._house
        self._state[:] = view
        house.game.definition.determinize(self._state[0], house.row, np.uint64(key))
        self._key = None
        self.seen = tuple(
            known if seat == known.seat else InformationState(seat, house.view(self._state, seat))
            for seat in range(house.game.num_players)
        )
