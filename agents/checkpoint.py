"""A trained policy on disk, and the agent that plays it with NumPy alone.

A checkpoint is one safetensors file: tensors, and a header of JSON texts that says what they are and which game, rules
and observation layout they were trained on. Loading one never runs code, and needs no package but NumPy. A SHA-256
over the whole file stands in the header, so that a file changed in any byte is refused before anything in it is
believed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from pigenv import registry
from pigenv.agent import Decisions
from pigenv.errors import CheckpointError, MissingExtraError, PigenvError
from pigenv.game import Definition, Game

__all__ = ["FORMAT", "SAMPLE", "SUFFIX", "PolicyAgent", "load_checkpoint", "save_checkpoint", "write_whole"]

FORMAT: Final = "pigenv.checkpoint/1"
SUFFIX: Final = ".safetensors"
SAMPLE: Final = ":sample"
"""After a path: the policy draws its actions instead of playing the likeliest."""

ACTIVATIONS: Final[dict[str, Callable[[np.ndarray], np.ndarray]]] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
}
"""What may follow each hidden layer."""

# The file's hash is taken with zeros where the hash itself will stand.
NO_HASH: Final = "0" * 64
_HASH_PLACE: Final = re.compile(rb'"sha256":"([0-9a-f]{64})"')
_LENGTH_BYTES: Final = 8  # a safetensors file begins with the length of its header
_KINDS: Final[dict[str, np.dtype[Any]]] = {
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
}
_READABLE: Final = 0o644
_BIT_SHARE: Final = 2.0**-32
_HALF_WORD: Final = np.uint64(32)


# --- saving -----------------------------------------------------------------------------------------------------------


def save_checkpoint(
    path: str | os.PathLike[str], tensors: Mapping[str, np.ndarray], game: Game, about: Mapping[str, Any]
) -> None:
    """Write a policy; a reader sees the old file or the new one whole, never half of one.

    Args:
        path: Where to; the suffix is by custom `.safetensors`.
        tensors: By name, as PyTorch names them: each layer has `{layer}.weight`, shape `(outputs, inputs)`, and
            `{layer}.bias`. There may be more, which the actor does not use.
        game: The game that the policy was trained on.
        about: `layers` (the actor's layers, first to last), `activation` (one of `ACTIVATIONS`), if there is one
            `value` (the layer on the last hidden one that says what a position is worth), and whatever else is worth
            knowing; all of it JSON.

    Raises:
        CheckpointError: The tensors are not those of such a network for this game, or `about` is not JSON.
        MissingExtraError: The package safetensors is not installed.
    """
    library = _safetensors()
    arrays = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    if not {"layers", "activation"} <= set(about):
        raise CheckpointError("about must have layers and activation, which say what the network is")
    network = _network(str(path), arrays, about, game)
    _value_layer(str(path), arrays, about, network[-1][0].shape[1])
    described = {"game_digest": game.digest, "version": game.definition.version, **game.settings(), "about": about}
    try:
        header = {name: json.dumps(value) for name, value in described.items()}
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"about must be JSON; {error}") from None
    data: bytes = library.save(arrays, {"format": FORMAT, "sha256": NO_HASH, **header})
    write_whole(Path(path), sealed(data))


def sealed(data: bytes) -> bytes:
    """A safetensors file, in whose header `sha256` is `NO_HASH`, with its hash in that place."""
    place = _HASH_PLACE.search(data)
    assert place is not None  # the library writes the header as JSON without spaces
    at, end = place.span(1)
    return data[:at] + hashlib.sha256(data).hexdigest().encode() + data[end:]


def seal_holds(data: bytes) -> bool:
    """Whether the hash in the header of a file is that of the file; there must be exactly one."""
    header = data[: _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")]
    places = list(_HASH_PLACE.finditer(header))
    if len(places) != 1:
        return False
    at, end = places[0].span(1)
    digest = hashlib.sha256(data[:at])
    digest.update(NO_HASH.encode())
    digest.update(memoryview(data)[end:])
    return digest.hexdigest().encode() == data[at:end]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside its place, then put it there in one go."""
    handle, beside = tempfile.mkstemp(prefix=path.name, suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).chmod(_READABLE)  # a temporary file is its owner's alone
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _safetensors() -> Any:
    """The package that writes the tensors; the light core does without it."""
    try:
        import safetensors.numpy
    except ImportError:
        raise MissingExtraError("safetensors", "train") from None
    return safetensors.numpy


# --- loading ----------------------------------------------------------------------------------------------------------


def load_checkpoint(
    path: str | os.PathLike[str], game: Game | Definition | None = None, sample: bool = False
) -> PolicyAgent:
    """Read a policy.

    Args:
        path: The file.
        game: The game it is to play; None if that is seen at the table.
        sample: Whether it draws its actions with the policy's probabilities, instead of playing the likeliest.

    Raises:
        CheckpointError: The file is no checkpoint, is damaged, or was made for another game, version, rules, number of
            players or layout.
    """
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise CheckpointError(f"{name}: cannot be read: {error.strerror}") from None
    header, entries, start = _verified_header(name, data)
    try:
        described = {key: json.loads(text) for key, text in header.items() if key not in ("format", "sha256")}
        tensors = _tensors(entries, data[start:])
    except Exception as error:
        # The hash is right, so whoever wrote this file wrote nonsense; whatever is wrong in it is one error.
        raise CheckpointError(f"{name}: cannot be read: {error}") from None
    trained = _trained_game(name, described, game)
    agent = PolicyAgent(f"{name}{SAMPLE}" if sample else name, trained, tensors, described["about"], sample)
    if isinstance(game, Game):
        agent.check(game)
    return agent


def _tensors(entries: Mapping[str, Any], data: bytes) -> dict[str, np.ndarray]:
    """The tensors that a header describes; by the library's own format, so that playing needs NumPy alone."""
    tensors = {}
    for name, entry in entries.items():
        start, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[start:end], _KINDS[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def _verified_header(name: str, data: bytes) -> tuple[dict[str, str], dict[str, Any], int]:
    """The header's texts, what it says of each tensor, and where these begin, of a file that is whole and unchanged."""
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    start = _LENGTH_BYTES + length
    if FORMAT.encode() not in data or not data[_LENGTH_BYTES:].startswith(b"{"):
        raise CheckpointError(f"{name}: not a checkpoint of this project ({FORMAT})")
    try:
        entries: dict[str, Any] = json.loads(data[_LENGTH_BYTES:start])
        header: dict[str, str] = entries.pop("__metadata__")
        ends = [each["data_offsets"][1] for each in entries.values()]
        whole = start + max(ends, default=0)
        marked = header["format"] == FORMAT
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        cut = start > len(data)
        raise CheckpointError(f"{name}: {'cut short' if cut else 'damaged'}: its header cannot be read") from None
    if len(data) < whole:
        raise CheckpointError(f"{name}: cut short: {len(data)} of {whole} bytes are there")
    if not marked:
        raise CheckpointError(f"{name}: damaged: its header is not that of a {FORMAT}")
    if not seal_holds(data):
        raise CheckpointError(f"{name}: damaged: its contents do not match its SHA-256")
    return header, entries, start


def _trained_game(name: str, described: dict[str, Any], wanted: Game | Definition | None) -> Game:
    """The game that the policy was trained on, which must be the one wanted, and the same today as it was then."""
    try:
        kind, version, about = described["game"], described["version"], described["about"]
        if not isinstance(kind, str) or not isinstance(about, dict):
            raise TypeError("its game must be a name and its description a mapping")
        definition = _definition(name, kind, wanted)
        if definition.version != version:
            raise CheckpointError(f"{name}: trained on {kind}; this version of the project has {definition.id}")
        settings = {key: described[key] for key in ("num_players", "memory", "max_players", "reward")}
        trained = registry.make(definition, rules=described["rules"], **settings)
    except CheckpointError:
        raise
    except (KeyError, TypeError, ValueError, PigenvError) as error:
        raise CheckpointError(f"{name}: its description of the game cannot be used: {error}") from None
    if trained.rules.to_json() != described["rules"]:
        raise CheckpointError(f"{name}: {kind} has got other rule options since it was trained")
    if trained.digest != described.get("game_digest"):
        raise CheckpointError(
            f"{name}: trained on another observation layout or other actions of {kind} "
            f"(digest {described.get('game_digest')}; here {trained.digest})"
        )
    return trained


def _definition(name: str, kind: str, wanted: Game | Definition | None) -> Definition:
    """The game of this name as it is here, which must be the one wanted."""
    base = kind.rpartition("_v")[0]
    if wanted is None:
        if base not in registry.names():
            raise CheckpointError(f"{name}: trained on {kind}, a game that is not installed")
        return registry.definition(base)
    definition = wanted.definition if isinstance(wanted, Game) else wanted
    if definition.base != base:
        raise CheckpointError(f"{name}: trained on {kind}; it cannot play {definition.id}")
    return definition


# --- playing ----------------------------------------------------------------------------------------------------------


def _network(
    name: str, tensors: Mapping[str, np.ndarray], about: Mapping[str, Any], game: Game
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and biases of the actor's layers, float32, which must lead from observation to actions."""
    layers, activation = about.get("layers"), about.get("activation")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise CheckpointError(f"{name}: activation must be {' or '.join(ACTIVATIONS)}; got {activation!r}")
    if not isinstance(layers, Sequence) or isinstance(layers, str) or not layers:
        raise CheckpointError(f"{name}: layers must be a list of names; got {layers!r}")
    network, size = [], game.layout.size
    for layer in layers:
        network.append(_layer(name, tensors, layer, size))
        size = len(network[-1][1])
    if size != game.num_actions:
        raise CheckpointError(f"{name}: the last layer must give {game.num_actions} numbers; gives {size}")
    return network


def _layer(name: str, tensors: Mapping[str, np.ndarray], layer: Any, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Weight and bias of a layer, which must take so many numbers."""
    weight, bias = tensors.get(f"{layer}.weight"), tensors.get(f"{layer}.bias")
    if weight is None or bias is None:
        raise CheckpointError(f"{name}: layer {layer!r} must have a weight and a bias; has {sorted(tensors)}")
    if weight.dtype != np.float32 or bias.dtype != np.float32:
        raise CheckpointError(f"{name}: layer {layer!r} must be float32; got {weight.dtype} and {bias.dtype}")
    if weight.ndim != 2 or weight.shape[1] != size or bias.shape != weight.shape[:1]:
        raise CheckpointError(
            f"{name}: layer {layer!r} must take {size} numbers; got weight {weight.shape}, bias {bias.shape}"
        )
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise CheckpointError(f"{name}: layer {layer!r} has weights that are not finite numbers")
    return weight, bias


def _value_layer(
    name: str, tensors: Mapping[str, np.ndarray], about: Mapping[str, Any], size: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """The layer that gives the worth of a position, if there is one; it sits on the last hidden layer."""
    if about.get("value") is None:
        return None
    weight, bias = _layer(name, tensors, about["value"], size)
    if len(bias) != 1:
        raise CheckpointError(f"{name}: layer {about['value']!r} must give one number; gives {len(bias)}")
    return weight, bias


class PolicyAgent:
    """A trained policy: a multi-layer perceptron from observation to logits, in NumPy.

    It plays at every table of the game and rules it was trained on, as long as its layout has a place for each seat.

    Args:
        name: Its name, the checkpoint's path.
        game: The game it was trained on.
        tensors: The weights, see `save_checkpoint`.
        about: The network's description, see `save_checkpoint`.
        sample: Whether it draws its actions with the policy's probabilities, instead of playing the likeliest.

    Raises:
        CheckpointError: The tensors are not those of such a network for this game.
    """

    def __init__(
        self, name: str, game: Game, tensors: Mapping[str, np.ndarray], about: Mapping[str, Any], sample: bool = False
    ) -> None:
        self.name: str = name
        self.game: Game = game
        self.about: dict[str, Any] = dict(about)
        self.sample: bool = sample
        network = _network(name, tensors, about, game)
        # Sums in double precision, rounded once at the end: the order of summation depends on the size of the batch,
        # and in single precision it would sometimes decide between two actions of nearly equal worth.
        self._layers = [(weight.T.astype(np.float64), bias.astype(np.float64)) for weight, bias in network]
        value = _value_layer(name, tensors, about, network[-1][0].shape[1])
        self._value = None if value is None else (value[0].T.astype(np.float64), value[1].astype(np.float64))
        self._tables: dict[Game, tuple[Game, np.ndarray]] = {}

    def reset(self, seed: int) -> None:
        """Nothing to forget: its chance comes with each decision."""

    @property
    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Weight, shape `(inputs, outputs)`, and bias of each layer, float64."""
        return list(self._layers)

    def logits(self, observations: np.ndarray) -> np.ndarray:
        """The network's output for observations of its own layout, float32, shape `(n, game.num_actions)`."""
        weight, bias = self._layers[-1]
        return (self._hidden(observations) @ weight + bias).astype(np.float32)

    def _hidden(self, observations: np.ndarray) -> np.ndarray:
        """What the last layer is given, float64."""
        activation = ACTIVATIONS[self.about["activation"]]
        values = observations.astype(np.float64)
        for weight, bias in self._layers[:-1]:
            values = activation(values @ weight + bias)
        return values

    def act(self, decisions: Decisions) -> np.ndarray:
        """See `Agent.act`.

        Raises:
            CheckpointError: The table is not one it can play at.
        """
        own_game, columns = self.check(decisions.game)
        logits = self.logits(decisions.observed(own_game))[:, columns]
        masked = np.where(decisions.action_masks == 1, logits, -np.inf)
        if self.sample:
            return _drawn(masked, decisions.keys)
        return np.asarray(masked.argmax(axis=1), np.int64)

    def policy(self, decisions: Decisions) -> np.ndarray:
        """Its probability of each action, float64, shape `(n, num_actions)`; what is not legal has none.

        Raises:
            CheckpointError: The table is not one it can play at.
        """
        own_game, columns = self.check(decisions.game)
        logits = self.logits(decisions.observed(own_game))[:, columns].astype(np.float64)
        masked = np.where(decisions.action_masks == 1, logits, -np.inf)
        weights = np.exp(masked - masked.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def value(self, decisions: Decisions) -> np.ndarray | None:
        """What the seat of each decision expects to be paid, float64, shape `(n,)`; None where the file does not say.

        Raises:
            CheckpointError: The table is not one it can play at.
        """
        if self._value is None:
            return None
        own_game, _ = self.check(decisions.game)
        weight, bias = self._value
        return np.asarray((self._hidden(decisions.observed(own_game)) @ weight + bias)[:, 0])

    def check(self, table: Game) -> tuple[Game, np.ndarray]:
        """Its own layout at a table, and its index of each of the table's actions.

        Raises:
            CheckpointError: The table is of another game, version, rules or size than it can play.
        """
        if table not in self._tables:
            self._tables[table] = self._seated(table)
        return self._tables[table]

    def _seated(self, table: Game) -> tuple[Game, np.ndarray]:
        if table.id != self.game.id:
            raise CheckpointError(f"{self.name}: trained on {self.game.id}; it cannot play {table.id}")
        _same_rules(self.name, self.game, table)
        size, most = table.num_players, self.game.max_players
        if size != self.game.num_players and not (self.game.mixed and size <= most):
            trained = f"up to {most}" if self.game.mixed else f"{most}"
            raise CheckpointError(f"{self.name}: trained for {trained} players; this table has {size}")
        own_game = registry.make(self.game.definition, **{**_options(self.game), "num_players": size})
        numbers = [own_game.action_number(text) for text in table.action_texts]
        if None in numbers:
            missing = table.action_texts[numbers.index(None)]
            raise CheckpointError(f"{self.name}: trained without the action {missing!r}, which this table has")
        return own_game, np.array(numbers, np.int64)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PolicyAgent)
            and (self.name, self.game, self.about, self.sample) == (other.name, other.game, other.about, other.sample)
            and all(
                np.array_equal(a, b)
                for mine, theirs in zip(self._layers, other._layers, strict=True)
                for a, b in zip(mine, theirs, strict=True)
            )
        )

    def __hash__(self) -> int:
        return hash((self.name, self.game, self.sample))

    def __repr__(self) -> str:
        return f"PolicyAgent({self.name!r})"


def _options(game: Game) -> dict[str, Any]:
    """A game's settings without its name."""
    return {name: value for name, value in game.settings().items() if name != "game"}


def _same_rules(name: str, trained: Game, table: Game) -> None:
    """Refuse a table of other rules, naming the first option that differs."""
    theirs = table.rules.to_json()
    for option, value in trained.rules.to_json().items():
        if theirs[option] != value:
            raise CheckpointError(
                f"{name}: trained with other rules: {option} was {value!r}, at this table it is {theirs[option]!r}"
            )


def _drawn(masked: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """An action for each row of masked logits with the policy's probabilities, decided by the decisions' keys."""
    weights = np.exp((masked - masked.max(axis=1, keepdims=True)).astype(np.float64))
    sums = weights.cumsum(axis=1)
    # 32 bits keep the share clear of 1 after rounding, so that an action with some probability is always found.
    shares = (keys >> _HALF_WORD) * _BIT_SHARE
    return np.asarray((sums <= shares[:, None] * sums[:, -1:]).sum(axis=1), np.int64)
