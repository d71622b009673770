"""What a seat sees, as OpenSpiel asks for it."""

from __future__ import annotations

from typing import Final

import numpy as np

from pigenv.adapters.openspiel.house import House
from pigenv.adapters.openspiel.state import OpenSpielState
from pigenv.errors import OptionError
from pigenv.render.text import draw_text

__all__ = ["MOST_FLOATS", "Observer"]

MOST_FLOATS: Final = 2**22
"""Of an information state tensor; above, the game has none."""


class Observer:
    """What a seat sees, as OpenSpiel asks for it: `tensor`, `dict` with its parts, and a text."""

    def __init__(self, house: House, perfect_recall: bool) -> None:
        self._house, self._perfect_recall = house, perfect_recall
        self._rows = house.max_length + 1 if perfect_recall else 1
        size = house.row_size if perfect_recall else house.game.layout.size
        fits = self._rows * size <= MOST_FLOATS
        self.tensor: np.ndarray = np.zeros(self._rows * size if fits else 0, np.float32)
        rows = self.tensor.reshape(self._rows if fits else 0, size)
        self.dict: dict[str, np.ndarray] = {name: rows[:, part] for name, part in house.game.layout.slices.items()}
        if perfect_recall:
            at = house.game.layout.size
            self.dict["seat_to_move"] = rows[:, at : at + house.game.num_players]
            self.dict["own_action"] = rows[:, at + house.game.num_players :]
        self._table = rows

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Write `tensor` for a state as a player sees it; zeros before the deal."""
        self.tensor.fill(0)
        if not state.seen or not len(self.tensor):
            return
        house, game = self._house, self._house.game
        if not self._perfect_recall:
            self._table[0] = house.observation(state.view(player), player)
            return
        history = state.information_state(player).history()
        if len(history) > self._rows:
            raise OptionError(
                f"this game took {len(history) - 1} steps, more than max_length {house.max_length}; load it with more"
            )
        for row, (action, seen) in zip(self._table, history, strict=False):
            view = np.frombuffer(seen, game.definition.state).copy()
            row[: game.layout.size] = house.observation(view, player)
            row[game.layout.size + (int(view["seat"][0]) - player) % game.num_players] = 1
            if action is not None:
                row[game.layout.size + game.num_players + action] = 1

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """A state as a player sees it, as text; empty before the deal."""
        if not state.seen:
            return ""
        if self._perfect_recall:
            return str(state.information_state(player))
        game = self._house.game
        return draw_text(game.definition.scene(state.view(player)[0], self._house.row, player))
