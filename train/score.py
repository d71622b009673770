"""The figure of the learning curve: how often the policy of the moment wins against a fixed opponent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch

from pigenv.agent import find_agent
from pigenv.agents import catalog
from pigenv.agents.checkpoint import PolicyAgent
from pigenv.agents.uniform import UNIFORM
from pigenv.evaluate.match import play_match
from pigenv.game import Game
from pigenv.train.network import forward

__all__ = ["Scorer", "strongest"]

SEED: Final = 2**63 + 1
"""Of the deals: always the same, and none that anybody trains on."""


def strongest(game: Game) -> str:
    """The name of a game's strongest hand-written player; `uniform` where it has none."""
    players = list(catalog.players(game.definition.base))
    return f"{game.definition.base}/{players[-1]}" if players else UNIFORM.name


class _Policy(PolicyAgent):
    """The same policy by torch, whose threads are the run's: NumPy's would spin beside them."""

    def __init__(self, game: Game, tensors: Mapping[str, np.ndarray], network: Mapping[str, Any]) -> None:
        super().__init__("policy", game, tensors, network)
        names = [f"{layer}.{kind}" for layer in network["layers"] for kind in ("weight", "bias")]
        self._parameters = [torch.from_numpy(tensors[name]) for name in names]
        self._activation = getattr(torch, network["activation"])

    def logits(self, observations: np.ndarray) -> np.ndarray:
        """See `PolicyAgent.logits`."""
        with torch.no_grad():
            return np.asarray(forward(self._parameters, torch.from_numpy(observations), self._activation).numpy())


class Scorer:
    """Plays a policy's likeliest actions on duplicate deals, each from every seat, against copies of one opponent.

    Args:
        game: The game, at its own number of players.
        against: The opponent; the game's strongest hand-written player where None.
        deals: How many deals.
    """

    def __init__(self, game: Game, against: str | None, deals: int) -> None:
        self.game: Game = game
        self.deals: int = deals
        self.name: str = strongest(game) if against is None else against
        self._opponent = find_agent(self.name, game)

    def __call__(self, tensors: Mapping[str, np.ndarray], network: Mapping[str, Any]) -> float:
        """The win share, 0 … 1, ties split."""
        agent = _Policy(self.game, tensors, network)
        games = play_match(self.game, [agent] + [self._opponent] * (self.game.num_players - 1), self.deals, SEED)
        return float(games.win_shares[..., 0].mean())
