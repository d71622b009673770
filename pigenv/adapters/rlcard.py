"""RLCard: our games as its `Env`, our players as its agents, and its agents as our players.

    env = RLCardEnv("pig10")
    env.set_agents([DQNAgent(num_actions=…, state_shape=…), PlayerAgent("pig10/careful", env), …])
    trajectories, payoffs = env.run(is_training=True)

RLCard's DMC keeps observations as int8, in which our fractions of 1 would all be 0. Observations are therefore given
as whole percents, int8, 0 … 100.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from pigenv import registry
from pigenv.agent import Agent, Decisions, find_agent
from pigenv.errors import AgentError, MissingExtraError
from pigenv.game import RUNNING, TRUNCATED, Game
from pigenv.kernel import mix
from pigenv.table import Table, checked_seed

try:
    from rlcard.envs.env import Env  # type: ignore[import-not-found]
except ImportError as _error:
    raise MissingExtraError("rlcard", "rlcard") from _error

__all__ = ["PlayerAgent", "RLCardAgent", "RLCardEnv", "state_of"]


def state_of(game: Game, observation: np.ndarray, mask: np.ndarray) -> dict[str, Any]:
    """A decision as RLCard's agents are given it; raw actions are the texts of ours."""
    legal = np.flatnonzero(mask).tolist()
    return {
        "obs": np.rint(observation * 100).astype(np.int8),
        "legal_actions": OrderedDict.fromkeys(legal),
        "raw_obs": {name: observation[part] for name, part in game.layout.slices.items()},
        "raw_legal_actions": [game.action_texts[action] for action in legal],
        "action_record": [],
    }


class RLCardEnv(Env):  # type: ignore[misc]
    """One table as an RLCard environment. Payoffs are the sums of our rewards; a game cut short is paid as it stands.

    Args:
        game: The game's name, or a `Game`.
        seed: Of the first game; the next ones follow. None draws one.
        settings: See `pigenv.registry.make`.

    Attributes:
        truncated: Whether the last game was cut short.
    """

    def __init__(self, game: str | Game, seed: int | None = None, **settings: Any) -> None:
        # Env's own constructor asks for a game engine of RLCard's make; nothing else is in it.
        self.table_game: Game = registry.make(game, **settings)
        self.name: str = self.table_game.id
        self.num_players: int = self.table_game.num_players
        self.num_actions: int = self.table_game.num_actions
        self.state_shape: list[list[int]] = [[self.table_game.layout.size] for _ in range(self.num_players)]
        self.action_shape: list[None] = [None for _ in range(self.num_players)]  # one hot, as RLCard does by itself
        self.allow_step_back = False
        self.table: Table = Table(self.table_game)
        self.game = self  # RLCard asks `env.game.is_over()`
        self.timestep: int = 0
        self.seed(seed)

    def seed(self, seed: int | None = None) -> int:
        """Let the next games come from a seed."""
        self._first = secrets.randbits(64) if seed is None else checked_seed(seed)
        self._number = -1
        return self._first

    def reset(self) -> tuple[dict[str, Any], int]:
        """Deal the next game: what the first seat sees, and which one it is."""
        self._number += 1
        self.table.start(self._first, self._number)
        self._returns = np.zeros(self.num_players)
        self.action_recorder: list[tuple[int, str]] = []
        return self.get_state(self.table.seat), self.table.seat

    def step(self, action: Any, raw_action: bool = False) -> tuple[dict[str, Any], int]:
        """Play an action, a number or with `raw_action` its text.

        Raises:
            IllegalActionError: It is not legal; nothing has changed.
        """
        number = self.table_game.action_texts.index(action) if raw_action else action
        seat = self.table.seat
        self._returns += self.table.step(number)
        self.action_recorder.append((seat, self.table_game.action_texts[number]))
        self.timestep += 1
        return self.get_state(self.table.seat), self.table.seat

    def get_state(self, player_id: int) -> dict[str, Any]:
        """What a seat sees now; only the seat to move has legal actions."""
        mask = (
            self.table.masks[0] if player_id == self.table.seat and not self.is_over() else np.zeros(self.num_actions)
        )
        state = state_of(self.table_game, self.table.observe(player_id), mask)
        return {**state, "action_record": self.action_recorder}

    def is_over(self) -> bool:
        return self.table.over != RUNNING

    def get_player_id(self) -> int:
        return self.table.seat

    def get_payoffs(self) -> np.ndarray:
        """What each seat was paid in this game, float64."""
        return self._returns.copy()

    @property
    def truncated(self) -> bool:
        return self.table.over == TRUNCATED


class PlayerAgent:
    """One of our players at a table of `RLCardEnv`, through the interface of RLCard's rule agents.

    Args:
        player: An agent of ours, or its name.
        env: The table it sits at: it is asked with what its seat knows there, never with the state.
        seed: Of its chance.
    """

    use_raw = False

    def __init__(self, player: str | Agent, env: RLCardEnv, seed: int = 0) -> None:
        self.player: Agent = find_agent(player, env.table_game)
        self.env: RLCardEnv = env
        self.player.reset(seed)
        self._key = np.uint64(seed)

    def step(self, state: Mapping[str, Any]) -> int:
        """An action for the seat to move."""
        table = self.env.table
        self._key = mix(self._key + np.uint64(1))
        seats, keys = np.full(1, table.seat, np.int8), np.full(1, self._key, np.uint64)
        decisions = Decisions(table.game, table.view(table.seat), seats, table.masks.copy(), keys)
        return int(self.player.act(decisions)[0])

    def eval_step(self, state: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """The same, and an empty info."""
        return self.step(state), {}


class RLCardAgent:
    """An agent of RLCard's, trained or by rule, as one of our players: for matches, records and the page.

    Args:
        agent: What has `eval_step` and `use_raw`.
        name: What it is called in tables and records.
    """

    def __init__(self, agent: Any, name: str = "rlcard") -> None:
        self.agent: Any = agent
        self.name: str = name

    def reset(self, seed: int) -> None:
        """Nothing to forget; whatever chance it uses is RLCard's."""

    def act(self, decisions: Decisions) -> np.ndarray:
        """See `Agent.act`.

        Raises:
            AgentError: It chose what is not legal.
        """
        game, actions = decisions.game, np.zeros(len(decisions), np.int64)
        for i, (observation, mask) in enumerate(zip(decisions.observations, decisions.action_masks, strict=True)):
            chosen, _ = self.agent.eval_step(state_of(game, observation, mask))
            number = game.action_texts.index(chosen) if self.agent.use_raw else int(chosen)
            if not mask[number]:
                raise AgentError(f"{self.name} chose {game.action_texts[number]!r}, which is not legal")
            actions[i] = number
        return actions
