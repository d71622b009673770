"""Policies that other programs trained: Stable-Baselines3 archives and ONNX files.

Neither says what its observations were, so the layout is found by size: that of the table, else with or without memory,
else laid out for more seats, the first that fits. The likeliest legal action is played.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from pigenv import registry
from pigenv.agent import Decisions
from pigenv.errors import CheckpointError, MissingExtraError, OptionError
from pigenv.game import Game

__all__ = ["ONNX", "SB3", "ForeignAgent", "load_onnx", "load_sb3"]

SB3: Final = ".zip"
ONNX: Final = ".onnx"


class ForeignAgent:
    """A network from elsewhere.

    Args:
        name: Its name, the file's path.
        worth: From observations, float32 `(n, size)`, and masks, int8 `(n, num_actions)`, to a worth of each action.
        size: How many numbers its observations have.
        actions: How many actions it knows.
    """

    def __init__(
        self, name: str, worth: Callable[[np.ndarray, np.ndarray], np.ndarray], size: int, actions: int
    ) -> None:
        self.name: str = name
        self.size: int = size
        self.actions: int = actions
        self._worth = worth
        self._fitting = cache(self._found)

    def reset(self, seed: int) -> None:
        """Nothing to forget: it draws nothing."""

    def act(self, decisions: Decisions) -> np.ndarray:
        """See `Agent.act`.

        Raises:
            CheckpointError: No layout of this table's game fits it.
        """
        worth = self._worth(decisions.observed(self.check(decisions.game)), decisions.action_masks)
        masked = np.where(decisions.action_masks == 1, np.asarray(worth, np.float64), -np.inf)
        return np.asarray(masked.argmax(axis=1), np.int64)

    def check(self, table: Game) -> Game:
        """The layout of a table's game that it was trained on.

        Raises:
            CheckpointError: There is none.
        """
        found: Game = self._fitting(table)
        return found

    def _found(self, table: Game) -> Game:
        if table.num_actions == self.actions:
            settings = table.settings()
            most = table.definition.seats(table.rules)[1]
            for seats in (settings["max_players"], None, *range(table.num_players, most + 1)):
                for memory in (table.memory, not table.memory):
                    try:
                        own = registry.make(**{**settings, "memory": memory, "max_players": seats})
                    except OptionError:
                        continue
                    if (own.layout.size, own.num_actions) == (self.size, self.actions):
                        return own
        raise CheckpointError(
            f"{self.name}: takes {self.size} numbers and knows {self.actions} actions; no observation of {table.id} "
            f"for {table.num_players} players fits (here {table.layout.size} and {table.num_actions})"
        )


def load_sb3(path: str) -> ForeignAgent:
    """Read an archive of Stable-Baselines3 or sb3-contrib: MaskablePPO, PPO, A2C or DQN. Runs code that is in it.

    Raises:
        CheckpointError: The file is none, or its algorithm or observation is another.
        MissingExtraError: The packages are not installed.
    """
    try:
        import stable_baselines3 as sb3
        import torch
        from sb3_contrib import MaskablePPO
    except ImportError as error:
        raise MissingExtraError(error.name or "sb3_contrib", "sb3") from None
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))
        policy = f"{data['policy_class']['__module__']}"
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        raise CheckpointError(f"{path}: not an archive of Stable-Baselines3") from None
    warnings.warn(f"{path}: reading a Stable-Baselines3 archive runs code in it; trust whoever made it", stacklevel=2)
    maskable, values = "maskable" in policy, ".dqn." in policy
    kind: Any = MaskablePPO if maskable else sb3.DQN if values else sb3.PPO if "clip_range" in data else sb3.A2C
    try:
        model = kind.load(path, device="cpu")
        (size,) = model.observation_space.shape
        actions = int(model.action_space.n)
    except Exception as error:  # a pickle may raise anything
        text = f"{type(error).__name__}: {error}"
        raise CheckpointError(f"{path}: no policy over a flat observation and numbered actions: {text}") from None

    def worth(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            given = torch.as_tensor(observations)
            policy = model.policy
            found = policy.q_net(given) if values else policy.get_distribution(given).distribution.logits
        logits: np.ndarray = found.numpy()
        return logits

    model.policy.set_training_mode(False)
    return ForeignAgent(path, worth, size, actions)


def load_onnx(path: str) -> ForeignAgent:
    """Read an ONNX file: from observations `(n, size)` to logits or values `(n, num_actions)`, its first output.

    A second input, if there is one, is given the action masks.

    Raises:
        CheckpointError: The file is none, or its inputs and outputs are others.
        MissingExtraError: onnxruntime is not installed.
    """
    try:
        import onnxruntime as library
    except ImportError:
        raise MissingExtraError("onnxruntime", "onnx") from None
    onnxruntime: Any = library  # its names are made at run time
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own classes, one for each kind of damage
        raise CheckpointError(f"{path}: cannot be read: {' '.join(str(error).split())}") from None
    inputs, output = session.get_inputs(), session.get_outputs()[0]
    shapes = [inputs[0].shape, output.shape]
    if len(inputs) > 2 or not all(len(shape) == 2 and isinstance(shape[1], int) for shape in shapes):
        raise CheckpointError(f"{path}: must lead from (n, observation) to (n, actions); has {shapes}")
    kinds: dict[str, Any] = {
        "tensor(float)": np.float32,
        "tensor(bool)": np.bool_,
        "tensor(int8)": np.int8,
        "tensor(int64)": np.int64,
    }
    if any(each.type not in kinds for each in inputs):
        raise CheckpointError(f"{path}: inputs must be float, bool or int; got {[each.type for each in inputs]}")

    def worth(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        arrays = zip(inputs, (observations, masks), strict=False)
        fed: dict[str, np.ndarray] = {each.name: array.astype(kinds[each.type]) for each, array in arrays}
        found: np.ndarray = session.run([output.name], fed)[0]
        return found

    return ForeignAgent(path, worth, shapes[0][1], shapes[1][1])
