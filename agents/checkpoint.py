"""A trained policy on disk, and the agent that plays it with NumPy alone.

A checkpoint is one safetensors file: numbers and text, nothing that loading it could run. Its header names the game,
version, rules and observation layout that the policy was trained on, and a checksum of all that is in it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pigenv import __version__, registry
from pigenv.agent import Decisions
from pigenv.errors import CheckpointError, MissingExtraError, PigenvError
from pigenv.game import Game
from pigenv.kernel import draw

__all__ = ["PolicyAgent", "load_checkpoint", "save_checkpoint"]

FORMAT = "pigenv.checkpoint/1"
ACTIVATIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}


def save_checkpoint(
    path: Path | str, tensors: Mapping[str, np.ndarray], game: Game, about: Mapping[str, Any]
) -> None:
    """Write a policy, whole or not at all.

    Args:
        path: The file; ends in `.safetensors`.
        tensors: `layers.0.weight` (float32, `(out, in)`), `layers.0.bias` and so on, from observation to logits.
        game: What it was trained for.
        about: Further facts as JSON; `activation` ("tanh" or "relu") is needed.

    Raises:
        CheckpointError: The file cannot be written.
    """
    save = _safetensors().save
    arrays = {name: np.ascontiguousarray(array, np.float32) for name, array in tensors.items()}
    header = {
        "format": FORMAT,
        "pigenv": __version__,
        "game": game.settings(),
        "digest": game.digest,
        "about": dict(about),
    }
    text = json.dumps(header, sort_keys=True)
    whole = save(arrays, metadata={"header": text, "checksum": _checksum(arrays, text)})
    target = Path(path)
    part = target.with_name(f".{target.name}.part")
    try:
        part.write_bytes(whole)
        os.replace(part, target)
    except OSError as error:
        raise CheckpointError(f"cannot write the checkpoint {target}: {error.strerror}") from None


def load_checkpoint(path: Path | str, game: Game | None = None) -> PolicyAgent:
    """Read a policy.

    Args:
        path: The file.
        game: The game it is to play; checked against what it was trained for.

    Raises:
        CheckpointError: It is no checkpoint, is damaged, or was made for another game, version, rules or layout.
    """
    tensors, header = _read(Path(path))
    settings = header["game"]
    try:
        trained = registry.make(**settings)
    except PigenvError as error:
        raise CheckpointError(f"{path} was trained for a game that cannot be made here: {error}") from None
    if trained.digest != header["digest"]:
        raise CheckpointError(f"{path} was trained on another observation or action layout of {trained.id}")
    agent = PolicyAgent(str(path), tensors, trained, header["about"])
    if game is not None:
        agent.check(game)
    return agent


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Tensors and header of a file that is whole."""
    library = _safetensors()
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror}") from None
    damaged = CheckpointError(f"{path} is no checkpoint of ours, or is damaged")
    try:
        size = int.from_bytes(raw[:8], "little")
        if size > len(raw):
            raise damaged
        metadata = json.loads(raw[8 : 8 + size]).get("__metadata__", {})
        text, checksum = metadata["header"], metadata["checksum"]
        tensors = library.load(raw)
        header = json.loads(text)
    except CheckpointError:
        raise
    except Exception:
        # The library has many ways to say that bytes are wrong, and the header's own text may be anything.
        raise damaged from None
    if header.get("format") != FORMAT or checksum != _checksum(tensors, text):
        raise damaged
    # The same tensors written anew must give the same file: a flipped byte that no reader looks at is a flaw too.
    if library.save(tensors, metadata={"header": text, "checksum": checksum}) != raw:
        raise damaged
    return tensors, header


def _checksum(tensors: Mapping[str, np.ndarray], header: str) -> str:
    digest = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).tobytes())
    return digest.hexdigest()


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise MissingExtraError("safetensors", "train") from error
    return safetensors.numpy


class PolicyAgent:
    """A policy network, played with NumPy.

    Args:
        name: Its path.
        tensors: See `save_checkpoint`.
        trained: The game it was trained for.
        about: Facts about it; `activation` is used.
        sample: Whether actions are drawn by their probabilities instead of taking the likeliest.
    """

    def __init__(
        self,
        name: str,
        tensors: Mapping[str, np.ndarray],
        trained: Game,
        about: Mapping[str, Any],
        sample: bool = False,
    ) -> None:
        self.name, self.trained, self.about, self.sample = name, trained, dict(about), sample
        count = len(tensors) // 2
        activation = self.about.get("activation")
        if activation not in ACTIVATIONS:
            raise CheckpointError(f"{name} has the activation {activation!r}; known: {', '.join(ACTIVATIONS)}")
        try:
            self.layers = [(tensors[f"layers.{i}.weight"].T.copy(), tensors[f"layers.{i}.bias"]) for i in range(count)]
            sizes = [weight.shape for weight, _ in self.layers]
            joined = all(a[1] == b[0] for a, b in zip(sizes, sizes[1:], strict=False))
            fits = sizes[0][0] == trained.layout.size and sizes[-1][1] == trained.num_actions and joined
        except (KeyError, IndexError):
            fits = False
        if not fits:
            raise CheckpointError(f"{name} holds no network from {trained.layout.size} inputs to {trained.num_actions}")
        self._activation = ACTIVATIONS[activation]
        self._games: dict[int, Game] = {}

    def reset(self, seed: int) -> None:
        """Nothing to forget: its chance comes with each decision."""

    def check(self, game: Game) -> None:
        """Refuse a game that it was not trained for.

        Raises:
            CheckpointError: With the first thing that differs.
        """
        trained = self.trained
        if game.id != trained.id:
            raise CheckpointError(f"{self.name} was trained for {trained.id}, not for {game.id}")
        ours, theirs = trained.rules.to_json(), game.rules.to_json()
        for rule, value in ours.items():
            if value != theirs[rule]:
                raise CheckpointError(f"{self.name} was trained with {rule} = {value!r}; here it is {theirs[rule]!r}")
        most = trained.max_players
        if game.num_players != trained.num_players and (not trained.mixed or game.num_players > most):
            sizes = f"up to {most}" if trained.mixed else f"{trained.num_players}"
            raise CheckpointError(f"{self.name} was trained for {sizes} players; here are {game.num_players}")

    def logits(self, observations: np.ndarray) -> np.ndarray:
        """Unmasked logits, float32, shape `(n, num_actions)`, of observations `(n, layout.size)`."""
        hidden = observations
        for weight, bias in self.layers[:-1]:
            hidden = self._activation(hidden @ weight + bias)
        weight, bias = self.layers[-1]
        return np.asarray(hidden @ weight + bias, np.float32)

    def act(self, decisions: Decisions) -> np.ndarray:
        """See `Agent.act`."""
        self.check(decisions.game)
        logits = self.logits(decisions.observed(self._layout_for(decisions.game)))
        logits = np.where(decisions.action_masks == 1, logits, -np.inf)
        if self.sample:
            # Adding Gumbel noise and taking the largest draws from the softmax.
            bits = np.array([[int(draw(key, a)) for a in range(logits.shape[1])] for key in decisions.keys], np.float64)
            logits = logits - np.log(-np.log((bits + 0.5) / 2.0**64))
        return logits.argmax(axis=1).astype(np.int64)

    def _layout_for(self, game: Game) -> Game:
        """The game at a table of this size, observed as the policy learned to see it."""
        if game.num_players not in self._games:
            settings = {**self.trained.settings(), "num_players": game.num_players}
            self._games[game.num_players] = registry.make(**settings)
        return self._games[game.num_players]
