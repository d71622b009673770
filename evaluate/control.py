"""Taking out the luck of the cards: a control variate for games of any number of seats.

Whatever chance decides during a game (which card is drawn, how the next round is dealt) moves what each seat may expect
to win, for better or worse, and on average not at all. With any function V that guesses a seat's win share from the
full state,

    luck = Σ over steps  V(state after the step) − E[ V(state after the same action, unseen cards drawn anew) ]

has mean 0, whoever plays and however well, because each term has. So the win share minus this luck has the same mean as
the win share, and the better V guesses, the less it varies (White and Bowling, "Learning a value analysis tool for
agent evaluation", IJCAI 2009; Burch, Schmid, Moravčík, Morrill and Bowling, "AIVAT: a new variance reduction technique
for agent evaluation in imperfect information games", AAAI 2018, of which these are the terms at chance's decisions).

The expectation is estimated by `REDRAWS` draws of `determinize` from what at least one seat knows. That adds noise and
no bias: a draw is distributed as the cards themselves were. How much of the luck is taken out is reckoned from the
deals too, so that bad guesses cost next to nothing (`pigenv.evaluate.intervals.without_luck`). The first deal needs no
term: every deal is played from every seat, and over these the guesses for one agent add up to the same number whatever
the cards are.

V is a small network on the observations of all seats, those of the guessed-for seat first and then clockwise, so it
needs nothing of a game but the contract. `pigenv.evaluate.fit_value` fits one from games of the suite's own players.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from importlib import resources
from typing import Any, Final

import numpy as np

from pigenv import registry
from pigenv.errors import OptionError
from pigenv.game import ANYBODY, Game
from pigenv.table import EPISODE, RAISE, loops, set_seed

__all__ = ["FORMAT", "REDRAWS", "Value", "features", "value_of"]

FORMAT: Final = "pigenv.value/1"
REDRAWS: Final = 4


def features(game: Game, states: np.ndarray) -> np.ndarray:
    """What V looks at: for each seat all observations, its own first, and who is to move.

    Args:
        game: The game, with memory.
        states: Records, shape `(n,)`.

    Returns:
        float32, shape `(n, seats, seats * layout.size + seats)`.
    """
    count, seats, size = len(states), game.num_players, game.layout.size
    seen = np.zeros((seats, count, size), np.float32)
    for seat in range(seats):
        views, masks = np.zeros(count, game.definition.state), np.zeros((count, game.num_actions), np.int8)
        here, keys = np.full(count, seat, np.int8), np.zeros(count, np.uint64)
        episodes = np.zeros(count, EPISODE)
        loops(game.definition).view_tables(states, game.row, episodes, np.arange(count), here, views, masks, keys)
        loops(game.definition).observe_views(views, game.row, here, seen[seat])
    found = np.zeros((count, seats, seats * size + seats), np.float32)
    for seat in range(seats):
        for k in range(seats):
            found[:, seat, k * size : (k + 1) * size] = seen[(seat + k) % seats]
        found[np.arange(count), seat, seats * size + (states["seat"].astype(np.int64) - seat) % seats] = 1.0
    return found


class Value:
    """A guess of everybody's win share from the full state.

    Args:
        about: What it was fitted on: `game`, `num_players`, `rules`, `observation`, and more to read.
        weights: The network's layers: `w1` `(features, hidden)`, `b1`, `w2` `(hidden,)`.

    Raises:
        OptionError: The weights do not fit the game that they are said to be for.
    """

    def __init__(self, about: Mapping[str, Any], weights: Mapping[str, np.ndarray]) -> None:
        self.about: dict[str, Any] = dict(about)
        self.weights: dict[str, np.ndarray] = {name: np.asarray(array, np.float32) for name, array in weights.items()}
        game, hidden = self.game, len(self.weights["b1"])
        size = game.num_players * (game.layout.size + 1)
        shapes = {name: array.shape for name, array in self.weights.items()}
        if shapes != {"w1": (size, hidden), "b1": (hidden,), "w2": (hidden,)} or game.digest != about["observation"]:
            raise OptionError(f"these weights are for another observation of {game.id}; fit them again")

    @cached_property
    def game(self) -> Game:
        """The table that it was fitted on."""
        return registry.make(self.about["game"], self.about["num_players"], rules=self.about["rules"])

    def check(self, table: Game) -> None:
        """Refuse another game, table size or other rules.

        Raises:
            OptionError: The table is another one.
        """
        mine = self.game
        if (table.id, table.num_players, table.rules) != (mine.id, mine.num_players, mine.rules):
            raise OptionError(f"this value function is for {mine!r}, not for {table!r}")

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """The guessed win shares, float64, shape `(n, seats)`; each row adds up to 1."""
        seen = features(self.game, states)
        shape = seen.shape
        hidden = np.maximum(seen.reshape(-1, shape[-1]) @ self.weights["w1"] + self.weights["b1"], 0.0)
        worth = (hidden @ self.weights["w2"]).reshape(shape[:2]).astype(np.float64)
        odds = np.exp(worth - worth.max(axis=1, keepdims=True))
        shares: np.ndarray = odds / odds.sum(axis=1, keepdims=True)
        return shares

    def redrawn(self, states: np.ndarray) -> list[tuple[float, np.ndarray]]:
        """States with all that nobody has seen drawn anew, and the weight of each draw."""
        game = self.game
        views = states.copy()
        views["key"] = 0
        for view in views:
            game.definition.hide(view, game.row[0], ANYBODY)
        found = []
        for k in range(REDRAWS):
            drawn = views.copy()
            # From the state's own key, which no agent knows: the same game gives the same draws anywhere.
            keys = (states["key"] ^ np.uint64(0xA5A5_5A5A_0F0F_F0F0)) + (
                states["turn"].astype(np.uint64) * np.uint64(REDRAWS) + np.uint64(k + 1)
            ) * np.uint64(0xD134_2543_DE82_EF95)
            loops(game.definition).determinize_views(drawn, game.row, keys)
            found.append((1.0 / REDRAWS, drawn))
        return found

    def luck(self, game: Game, before: np.ndarray, actions: np.ndarray, after: np.ndarray) -> np.ndarray:
        """See `pigenv.evaluate.match.Variate`."""
        self.check(game)
        draws = self.redrawn(before)
        # All in one call: a call costs more than the few numbers in it.
        reached = np.concatenate([after, *(self._stepped(drawn, actions) for _, drawn in draws)])
        guessed = self(reached).reshape(1 + len(draws), len(before), self.game.num_players)
        weights = np.array([1.0, *(-weight for weight, _ in draws)])
        found: np.ndarray = np.tensordot(weights, guessed, axes=1)
        return found

    def _stepped(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        game, count = self.game, len(states)
        masks, episodes = np.ones((count, game.num_actions), np.int8), np.zeros(count, EPISODE)
        set_seed(episodes, 0)
        loops(game.definition).step_tables(
            states, game.row, episodes, actions, RAISE, False, np.zeros(count, np.int8),
            np.zeros(1, game.definition.state), np.zeros((count, game.layout.size), np.float32), masks,
            np.zeros((count, game.num_players)), np.zeros(count, np.int8),
        )  # fmt: skip
        return states

    def to_json(self) -> dict[str, Any]:
        """The file's contents."""
        rounded = {name: np.round(array.astype(np.float64), 4).tolist() for name, array in self.weights.items()}
        return {"format": FORMAT, "about": self.about, "weights": rounded}


def value_of(game: Game) -> Value:
    """The value function that comes with a game.

    Raises:
        OptionError: None comes with it for this table size and these rules.
    """
    name = f"{game.id}-{game.num_players}.json"
    file = resources.files("pigenv.evaluate").joinpath("values", name)
    if not file.is_file():
        raise OptionError(
            f"no value function comes with {game.id} for {game.num_players} players; fit one with "
            f"python -m pigenv.evaluate.fit_value {game.definition.base} --players {game.num_players}"
        )
    found = json.loads(file.read_text(encoding="utf-8"))
    value = Value(found["about"], {name: np.array(array) for name, array in found["weights"].items()})
    value.check(game)
    return value
