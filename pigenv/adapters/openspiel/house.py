"""What all states of a game as OpenSpiel takes it share: its deals, its length, and how a seat sees it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pigenv.deals import Deal, all_deals
from pigenv.errors import OptionError
from pigenv.game import RUNNING, Game
from pigenv.table import loops

__all__ = ["BITS", "MOST_DEALS", "House"]

MOST_DEALS: Final = 100_000
"""Where there are more, they are not listed."""

BITS: Final = 8  # of the deal's key at each chance node
_PROBES: Final = 20  # random games that say whether anything is drawn after the deal, and how long games get
_HANDS: Final = "hands"  # the part of a deal in which order means nothing


class House:
    """What all states of one game share: the game, its deals, its length."""

    def __init__(self, game: Game, max_length: int | None = None) -> None:
        if game.reward == "score":
            raise OptionError("OpenSpiel wants bounds of the returns, which reward 'score' has not; take win or rank")
        self.game: Game = game
        self.loops: Any = loops(game.definition)
        self.row: Any = game.row[0]
        steps, rounds, chance = self._probe()
        limit = getattr(game.rules, "max_turns", steps)
        self.max_length: int = max_length or rounds * max(limit, 1) * math.ceil(self._steps_a_turn)
        self.deals: list[tuple[Deal, float]] = [] if chance else self._listed()
        self.outcomes: int = len(self.deals) or 1 << BITS
        self.row_size: int = game.layout.size + game.num_players + game.num_actions

    def __deepcopy__(self, memo: dict[int, object]) -> House:
        return self

    def _probe(self) -> tuple[int, int, bool]:
        """The most steps and rounds of random games, and whether anything is drawn after the deal."""
        definition, most, rounds, chance = self.game.definition, 1, 1, False
        generator = np.random.default_rng(0)
        self._steps_a_turn = 1.0
        for key in range(1, _PROBES + 1):
            state = self.dealt(key)
            steps, first = 0, 0
            while state["over"][0] == RUNNING:
                legal = np.flatnonzero(self.mask(state))
                round_now = int(state["round"][0])
                definition.step(state[0], self.row, int(generator.choice(legal)))
                chance = chance or definition.read_chance(state[0], self.row) is not None
                steps += 1
                if state["round"][0] != round_now:
                    first = steps
                else:
                    turns = max(1, int(state["turn"][0]))
                    self._steps_a_turn = max(self._steps_a_turn, (steps - first) / turns)
            most, rounds = max(most, steps), max(rounds, int(state["round"][0]) + 1)
        return most, rounds, chance

    def _listed(self) -> list[tuple[Deal, float]]:
        """Every deal with its probability; none where they cannot be listed, or are too many."""
        try:
            return _weighted(all_deals(self.game, MOST_DEALS))
        except OptionError:
            return []

    def dealt(self, key: int) -> np.ndarray:
        """The first round as a key deals it."""
        state = np.zeros(1, self.game.definition.state)
        state["key"] = key
        self.game.definition.deal(state[0], self.row)
        return state

    def mask(self, state: np.ndarray) -> np.ndarray:
        """What is legal for the seat to move."""
        mask = np.zeros(self.game.num_actions, np.int8)
        self.game.definition.legal(state[0], self.row, mask)
        return mask

    def view(self, state: np.ndarray, seat: int) -> np.ndarray:
        """What a seat knows."""
        view = np.zeros_like(state)
        self.loops.look(state, 0, self.game.row, seat, view, 0)
        return view

    def observation(self, view: np.ndarray, seat: int) -> np.ndarray:
        """A seat's observation, as the game lays it out."""
        out = np.zeros(self.game.layout.size, np.float32)
        self.game.definition.observe(view[0], self.row, seat, out)
        return out

    def returns(self, state: np.ndarray) -> list[float]:
        """What the end of a game pays each seat."""
        points, rewards = np.zeros(self.game.num_players), np.zeros((1, self.game.num_players))
        self.game.definition.scores(state[0], self.row, points)
        self.loops.standing(points, self.row, rewards, 0)
        return rewards[0].tolist()


def _weighted(deals: Sequence[Deal]) -> list[tuple[Deal, float]]:
    """Equally likely deals with their probabilities, those taken together that differ by the order in a hand alone."""
    cards = {card for deal in deals for hand in deal.get(_HANDS, ()) for card in hand}
    rank = {card: place for place, card in enumerate(sorted(cards, key=lambda card: (str(type(card)), card)))}
    found: dict[str, tuple[Deal, int]] = {}
    for deal in deals:
        if _HANDS in deal:
            deal = {**deal, _HANDS: [sorted(hand, key=rank.__getitem__) for hand in deal[_HANDS]]}
        name = json.dumps(deal)
        found[name] = (deal, found.get(name, (deal, 0))[1] + 1)
    return [(deal, count / len(deals)) for deal, count in found.values()]
