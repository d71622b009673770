"""AgileRL: one seat at many tables, masks where its PPO looks for them, and a PPO whose returns are the games' own.

    tables = LearnerTables("pig10", num_envs=64, opponents="pig10/greedy")
    population = learners(tables, size=4)
    train_on_policy(tables, "pig10", "PPO", population, max_steps=1_000_000)

PPO obeys `info["action_mask"]`, playing and learning alike; its DQN plays by it, but learns from the best action of the
next decision, legal or not. `learners` counts returns to a game's end, since the advantages that PPO estimates
otherwise (in 2.58, as in 2.4) look for the end one step late: the last decision is credited with the next game, and no
earlier one with how its own game ended.
"""

from __future__ import annotations

from typing import Any

from gymnasium.vector import AutoresetMode

from pigenv.adapters.versions import check_version
from pigenv.envs.vector import SeatVectorEnv
from pigenv.errors import MissingExtraError
from pigenv.game import Game

try:
    from agilerl.algorithms import PPO  # type: ignore[import-not-found]
except ImportError as _error:
    raise MissingExtraError("agilerl", "agilerl") from _error
check_version("agilerl", "2.58", "older ones (2.4, for one) play by masks and forget them when they learn")

__all__ = ["LearnerTables", "learners"]


class LearnerTables(SeatVectorEnv):
    """`num_envs` tables, one seat of each played by the learner, agents at the others.

    A finished game begins anew in the same step: AgileRL keeps every step as a decision, and one that only resets a
    table is none. A game that was cut short is truncated; it is scored and paid like one that ended.

    Args:
        game: The game's name, or a `Game`.
        num_envs: How many tables.
        settings: See `SeatVectorEnv`; `mask` and `autoreset_mode` are given.
    """

    def __init__(self, game: str | Game, num_envs: int, **settings: Any) -> None:
        super().__init__(game, num_envs, **{**settings, "mask": "info", "autoreset_mode": AutoresetMode.SAME_STEP})


def learners(tables: LearnerTables, size: int = 1, **settings: Any) -> list[PPO]:
    """A population of AgileRL's PPO for these tables.

    Args:
        tables: Where they are to learn.
        size: How many.
        settings: See AgileRL's `PPO`. Nothing is discounted unless `gamma` says so; where a rollout ends within a game,
            the rest of it is estimated.
    """
    buffer = {**settings.pop("rollout_buffer_config", {}), "use_gae": False}
    settings = {"gamma": 1.0, **settings, "num_envs": tables.num_envs, "rollout_buffer_config": buffer}
    return list(PPO.population(size, tables.single_observation_space, tables.single_action_space, **settings))
