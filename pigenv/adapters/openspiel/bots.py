"""OpenSpiel's bots as our agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pigenv.adapters.openspiel.game import OpenSpielGame, load_game
from pigenv.adapters.openspiel.state import OpenSpielState
from pigenv.agent import Decisions
from pigenv.errors import AgentError
from pigenv.game import Game
from pigenv.information_state import InformationState

__all__ = ["BotAgent"]


class BotAgent:
    """An OpenSpiel bot as an agent of ours.

    OpenSpiel hands its bots the whole state. Here a bot is given a world drawn from what the deciding seat knows, so
    that one that looks at the others' cards sees imagined ones; what it remembers begins with this decision.

    Args:
        bot: Makes the bot for a game and a seat, for example
            `lambda game, seat: uniform_random.UniformRandomBot(seat, np.random.RandomState(0))`.
        name: What it is called in tables and records.
    """

    def __init__(self, bot: Callable[[OpenSpielGame, int], Any], name: str = "openspiel") -> None:
        self.name: str = name
        self._make = bot
        self._games: dict[Game, OpenSpielGame] = {}

    def reset(self, seed: int) -> None:
        """The bots are made anew for each decision; whatever chance they use is theirs."""

    def act(self, decisions: Decisions) -> np.ndarray:
        """See `Agent.act`."""
        if decisions.game not in self._games:
            self._games[decisions.game] = _game_of(decisions.game)
        game = self._games[decisions.game]
        actions = np.zeros(len(decisions), np.int64)
        for i in range(len(decisions)):
            seat, view = int(decisions.seats[i]), decisions.views[i : i + 1]
            state = OpenSpielState(game)
            # The key of a world must not be 0, which is a view's.
            state.imagine(InformationState(seat, view), view, int(decisions.keys[i] >> np.uint64(1)) + 1)
            actions[i] = self._make(game, seat).step(state)
            if not decisions.action_masks[i, actions[i]]:
                raise AgentError(f"{self.name} chose {actions[i]}, which is not legal")
        return actions


def _game_of(game: Game) -> OpenSpielGame:
    """A game at a table as OpenSpiel takes it, reward "win" where ours has no bounds."""
    return load_game(
        game.id, num_players=game.num_players, rules=game.rules.to_json(),
        reward="win" if game.reward == "score" else game.reward,
    )  # fmt: skip
