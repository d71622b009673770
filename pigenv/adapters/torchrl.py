"""TorchRL: all seats of many tables as a native `EnvBase`, and the settings with which its wrapper takes our games.

    env = SelfPlayEnv("pig10", num_tables=64, seed=1)
    rollout = env.rollout(200, policy, break_when_any_done=False)

`SelfPlayEnv` asks at each step the seat to move of every table; which one that is differs from table to table and is
in `seat`. What is paid, is paid for all seats: `reward` has a column for each. `returns_to_go` adds up for each
decision what its own seat was paid from then on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pigenv import registry
from pigenv.adapters.versions import check_version
from pigenv.envs.aec import PigParallelEnv
from pigenv.envs.selfplay import SelfPlay
from pigenv.errors import MissingExtraError
from pigenv.game import RUNNING, TERMINATED, TRUNCATED, Game

try:
    import torch
    from tensordict import TensorDict, TensorDictBase  # type: ignore[import-not-found]
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded  # type: ignore[import-not-found]
    from torchrl.envs import EnvBase, PettingZooWrapper  # type: ignore[import-not-found]
except ImportError as _error:
    raise MissingExtraError("torchrl", "torchrl") from _error
check_version("torchrl", "0.14", "the specs of older releases have other names")

__all__ = ["SelfPlayEnv", "returns_to_go", "wrapped"]


class SelfPlayEnv(EnvBase):  # type: ignore[misc]
    """`num_tables` games as one batch; `batch_size` is `[num_tables]`.

    Keys: `observation` float32 `(n, layout.size)` and `action_mask` bool `(n, num_actions)` of the seat to move, all
    true where the game is over; `seat` int64 `(n, 1)`; next `reward` float32 `(n, num_players)`, `terminated`,
    `truncated` (cut short by `max_turns`; scored as it stands) and `done`, bool `(n, 1)`.

    Args:
        game: The game's name, or a `Game`.
        num_tables: How many tables.
        seed: Table i plays the episodes of seed + i. None draws one.
        settings: See `pigenv.registry.make`.
    """

    def __init__(self, game: str | Game, num_tables: int, seed: int | None = None, **settings: Any) -> None:
        super().__init__(device="cpu", batch_size=torch.Size([num_tables]))
        self.game: Game = registry.make(game, **settings)
        self.tables: SelfPlay = SelfPlay(self.game, num_tables, autoreset=False)
        self._first, self._fresh = seed, True
        n, players, actions = num_tables, self.game.num_players, self.game.num_actions
        self.observation_spec = Composite(
            observation=Bounded(0.0, 1.0, (n, self.game.layout.size), dtype=torch.float32),
            action_mask=Binary(actions, (n, actions), dtype=torch.bool),
            seat=Categorical(players, (n, 1), dtype=torch.int64),
            shape=(n,),
        )
        self.action_spec = Categorical(actions, (n,), dtype=torch.int64)
        self.reward_spec = Unbounded((n, players), dtype=torch.float32)
        flag = Binary(1, (n, 1), dtype=torch.bool)
        self.done_spec = Composite(done=flag, terminated=flag.clone(), truncated=flag.clone(), shape=(n,))

    def _set_seed(self, seed: int | None) -> None:
        self._first, self._fresh = seed, True

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:
        if self._fresh:
            self.tables.reset(self._first)
            self._fresh = False
        else:
            which = None if tensordict is None else tensordict.get("_reset", None)
            self.tables.begin(np.ones(self.tables.num_tables, bool) if which is None else which.numpy().reshape(-1))
        return TensorDict({**self._seen(), **self._ended()}, self.batch_size)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        self.tables.step(tensordict["action"].numpy().reshape(-1))
        rewards = torch.from_numpy(self.tables.rewards.copy())
        return TensorDict({**self._seen(), "reward": rewards, **self._ended()}, self.batch_size)

    def _seen(self) -> dict[str, Any]:
        tables = self.tables
        over = (tables.over != RUNNING)[:, None]
        return {
            "observation": torch.from_numpy(tables.observations.copy()),
            "action_mask": torch.from_numpy((tables.masks == 1) | over),
            "seat": torch.from_numpy(tables.seats.astype(np.int64)[:, None]),
        }

    def _ended(self) -> dict[str, Any]:
        over = torch.from_numpy(self.tables.over.copy())[:, None]
        return {"done": over != RUNNING, "terminated": over == TERMINATED, "truncated": over == TRUNCATED}


def returns_to_go(rollout: TensorDictBase) -> tuple[torch.Tensor, torch.Tensor]:
    """What the seat that decided was paid from its decision to the end of the game, without discount.

    Args:
        rollout: Of a `SelfPlayEnv`, shape `[n, steps]`.

    Returns:
        The sums, float32 `(n, steps)`, and bool `(n, steps)`: whether the game ended within the rollout.
    """
    reward, done = rollout["next", "reward"], rollout["next", "done"].squeeze(-1)
    to_go, known = torch.zeros_like(reward), torch.zeros_like(done)
    total, ended = torch.zeros_like(reward[:, 0]), torch.zeros_like(done[:, 0])
    for step in range(reward.shape[1] - 1, -1, -1):
        over = done[:, step]
        total = reward[:, step] + total * ~over[:, None]
        ended = ended | over
        to_go[:, step], known[:, step] = total, ended
    return to_go.gather(-1, rollout["seat"]).squeeze(-1), known


def wrapped(game: str | Game, seed: int | None = None, **settings: Any) -> PettingZooWrapper:
    """A game in TorchRL's own wrapper: one group `players`, every seat at each step.

    The seat to move is the one with `("players", "info", "active")`; the masks of the others are all true and their
    actions are ignored.

    Args:
        game: The game's name, or a `Game`.
        seed: Games come from it; the wrapper itself uses up the first. `reset(seed=…)` begins with episode 0.
        settings: See `PigParallelEnv`.
    """
    env = PigParallelEnv(game, **settings)
    return PettingZooWrapper(env, group_map={"players": env.possible_agents}, use_mask=True, seed=seed)
