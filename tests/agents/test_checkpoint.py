"""Trained policies on disk: what is saved is what acts, and what does not fit is refused."""

from __future__ import annotations

import builtins
import copy
import itertools
import json
import pickle
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pigenv import registry
from pigenv.agent import Agent, Decisions
from pigenv.agents import checkpoint
from pigenv.agents.checkpoint import PolicyAgent, load_checkpoint, save_checkpoint
from pigenv.envs.selfplay import SelfPlay
from pigenv.errors import CheckpointError, MissingExtraError
from pigenv.game import Game

pytest.importorskip("safetensors")

ABOUT = {"layers": ["hidden", "logits"], "activation": "tanh", "steps": 1000}


def weights(game: Game, seed: int = 0, hidden: int = 3) -> dict[str, np.ndarray]:
    """Tensors of a network with one hidden layer."""
    random = np.random.default_rng(seed)
    shapes = {
        "hidden.weight": (hidden, game.layout.size),
        "hidden.bias": (hidden,),
        "logits.weight": (game.num_actions, hidden),
        "logits.bias": (game.num_actions,),
    }
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def saved(folder: Path, game: Game, **about: Any) -> Path:
    """A checkpoint of random weights."""
    path = folder / "policy.safetensors"
    save_checkpoint(path, weights(game), game, {**ABOUT, **about})
    return path


def decisions_of(game: Game, tables: int = 64, steps: int = 9, seed: int = 1) -> Decisions:
    """Decisions that come up in random play."""
    play = SelfPlay(game, tables)
    play.reset(seed=seed)
    play.run(steps)
    which, seats = np.arange(tables), play.seats.copy()
    views, keys, masks = np.zeros(tables, game.definition.state), np.zeros(tables, np.uint64), np.zeros_like(play.masks)
    play.loops.view_tables(play.states, game.row, play.episodes, which, seats, views, masks, keys)
    return Decisions(game, views, seats, masks, keys)


def rewrite(path: Path, **changes: Any) -> None:
    """Change entries of a checkpoint's header and make its hash right again, as a forger would."""
    library = checkpoint._safetensors()
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])["__metadata__"]
    header |= {name: json.dumps(value) for name, value in changes.items()} | {"sha256": checkpoint.NO_HASH}
    data = library.save(library.load(data), header)
    place = checkpoint._HASH_PLACE.search(data)
    assert place is not None
    digest = checkpoint.hashlib.sha256(data).hexdigest().encode()
    path.write_bytes(data[: place.start(1)] + digest + data[place.end(1) :])


@pytest.fixture
def game() -> Game:
    return registry.make("pig10", preset="mini")


def test_saved_policy_acts_the_same(tmp_path: Path, game: Game) -> None:
    """A policy that was saved and loaded plays as it did before, always legally, and is an agent."""
    before = PolicyAgent("before", game, weights(game), ABOUT)
    after = load_checkpoint(saved(tmp_path, game), game)
    assert isinstance(after, Agent)
    assert after.name == str(tmp_path / "policy.safetensors")
    assert after.about["steps"] == ABOUT["steps"]
    decisions = decisions_of(game, steps=5)
    actions = after.act(decisions)
    assert actions.tolist() == before.act(decisions).tolist()
    assert actions.dtype == np.int64
    assert (decisions.action_masks[np.arange(len(decisions)), actions] == 1).all()


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_equals_torch(activation: str) -> None:
    """The logits are those that PyTorch computes from the same weights."""
    torch = pytest.importorskip("torch")
    table = registry.make("pig10")
    layer = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[activation]
    sizes = [table.layout.size, 64, 32, table.num_actions]
    torch.manual_seed(0)
    linear = [torch.nn.Linear(a, b) for a, b in itertools.pairwise(sizes)]
    network = torch.nn.Sequential(linear[0], layer(), linear[1], layer(), linear[2])
    tensors = {
        f"{number}.{kind}": getattr(each, kind).detach().numpy()
        for number, each in enumerate(linear)
        for kind in ("weight", "bias")
    }
    agent = PolicyAgent("torch", table, tensors, {"layers": ["0", "1", "2"], "activation": activation})
    observations = np.random.default_rng(0).random((500, table.layout.size), np.float32)
    with torch.no_grad():
        expected = network(torch.from_numpy(observations)).numpy()
    np.testing.assert_allclose(agent.logits(observations), expected, atol=1e-5)


@pytest.mark.parametrize("sample", [False, True])
def test_batch_is_one_by_one(sample: bool) -> None:
    """A policy chooses the same for a batch of decisions as for each of them alone."""
    table = registry.make("pig10")
    agent = PolicyAgent("policy", table, weights(table, hidden=100), ABOUT, sample)
    d = decisions_of(table)
    alone = [
        int(agent.act(Decisions(table, *(each[i : i + 1] for each in (d.views, d.seats, d.action_masks, d.keys))))[0])
        for i in range(len(d))
    ]
    assert agent.act(d).tolist() == alone


def test_samples_by_probability(game: Game) -> None:
    """With `sample` actions come as often as the policy says, and illegal ones never."""
    agent = PolicyAgent("policy", game, weights(game), ABOUT, sample=True)
    one, count = decisions_of(game, tables=1, steps=2), 20_000
    keys = np.random.default_rng(0).integers(0, 2**64, count, np.uint64)
    many = Decisions(game, *(np.repeat(each, count, axis=0) for each in (one.views, one.seats, one.action_masks)), keys)
    frequency = np.bincount(agent.act(many), minlength=game.num_actions) / count
    odds = np.where(one.action_masks[0] == 1, np.exp(agent.logits(one.observations)[0].astype(np.float64)), 0)
    np.testing.assert_allclose(frequency, odds / odds.sum(), atol=0.02)
    assert (frequency[one.action_masks[0] == 0] == 0).all()


def test_policy_is_what_it_samples_by(game: Game) -> None:
    """`policy` gives the softmax of the legal logits, none to what is not legal, and peaks where `act` goes."""
    agent, several = PolicyAgent("policy", game, weights(game), ABOUT), decisions_of(game)
    shares = agent.policy(several)
    assert shares.shape == several.action_masks.shape
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert not shares[several.action_masks == 0].any()
    odds = np.where(several.action_masks == 1, np.exp(agent.logits(several.observations).astype(np.float64)), 0)
    np.testing.assert_allclose(shares, odds / odds.sum(axis=1, keepdims=True), rtol=1e-9)
    assert np.array_equal(shares.argmax(axis=1), agent.act(several))


def test_plays_every_table_size_of_its_layout(tmp_path: Path) -> None:
    """A policy laid out for six seats plays at tables of two to six, however those are laid out themselves."""
    trained = registry.make("pig10", num_players=4, max_players=6)
    agent = load_checkpoint(saved(tmp_path, trained))
    for num_players in range(2, 7):
        same = registry.make("pig10", num_players=num_players, max_players=6)
        own = registry.make("pig10", num_players=num_players, memory=False)
        at_same, at_own = decisions_of(same), decisions_of(own)
        assert at_own.observed(same).tolist() == at_same.observations.tolist()
        assert agent.act(at_own).tolist() == agent.act(at_same).tolist()
    with pytest.raises(CheckpointError, match="trained for up to 6 players; this table has 7"):
        agent.act(decisions_of(registry.make("pig10", num_players=7)))


def test_copies_and_pickles(tmp_path: Path, game: Game) -> None:
    """A copy, a pickled one and one loaded again are equal and play alike; other weights make another agent."""
    agent = load_checkpoint(saved(tmp_path, game))
    decisions = decisions_of(game, steps=5)
    for other in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent)), load_checkpoint(agent.name)):
        assert other == agent
        assert hash(other) == hash(agent)
        assert other.act(decisions).tolist() == agent.act(decisions).tolist()
    save_checkpoint(agent.name, weights(game, seed=1), game, ABOUT)
    assert load_checkpoint(agent.name) != agent


def test_every_flipped_byte_is_noticed(tmp_path: Path, game: Game) -> None:
    """A file with any one byte changed is refused, whichever byte it is, and with one sentence."""
    path = saved(tmp_path, game)
    data = bytearray(path.read_bytes())
    random = np.random.default_rng(0)
    for at in range(len(data)):
        kept = data[at]
        # Bit patterns that text and JSON readers might overlook come first: another space, another case.
        for flip in {0x01, 0x20, int(random.integers(1, 256))}:
            data[at] = kept ^ flip
            path.write_bytes(data)
            with pytest.raises(CheckpointError):
                load_checkpoint(path)
        data[at] = kept
    path.write_bytes(data)
    load_checkpoint(path)


def test_truncated_is_said(tmp_path: Path, game: Game) -> None:
    """A file that ends too early is refused wherever it ends; one that goes on too long is refused too."""
    path = saved(tmp_path, game)
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(CheckpointError, match=r"cut short|not a checkpoint"):
            load_checkpoint(path)
    path.write_bytes(data + b"\0")
    with pytest.raises(CheckpointError, match="damaged"):
        load_checkpoint(path)


def test_not_a_checkpoint(tmp_path: Path, game: Game) -> None:
    """Any other file, a tensor file of somebody else's included, and a file that is not there are refused."""
    path = tmp_path / "other.safetensors"
    for data in (
        b"",
        b"{}",
        b"hello",
        bytes(100),
        pickle.dumps(weights(game)),
        checkpoint._safetensors().save(weights(game)),
    ):
        path.write_bytes(data)
        with pytest.raises(CheckpointError, match="not a checkpoint"):
            load_checkpoint(path)
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(tmp_path / "nowhere.safetensors")
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(tmp_path)


def test_other_game_and_version(tmp_path: Path, game: Game) -> None:
    """A policy of another game, or of another version of the game, is refused by name."""
    path = saved(tmp_path, game)
    other, newer = replace(game.definition, id="other_v0"), replace(game.definition, id="pig10_v1")
    with pytest.raises(CheckpointError, match="trained on pig10_v0; it cannot play other_v0"):
        load_checkpoint(path, other)
    with pytest.raises(CheckpointError, match="trained on pig10_v0; this version of the project has pig10_v1"):
        load_checkpoint(path, Game(newer, preset="mini"))
    with pytest.raises(CheckpointError, match="cannot play other_v0"):
        load_checkpoint(path).act(Decisions(Game(other, preset="mini"), *[np.zeros(0)] * 4))
    rewrite(path, game="gone_v0")
    with pytest.raises(CheckpointError, match="gone_v0, a game that is not installed"):
        load_checkpoint(path)


def test_other_rules(tmp_path: Path, game: Game) -> None:
    """A table of other rules is refused, naming the option and both values."""
    path = saved(tmp_path, game)
    table = registry.make("pig10", preset="mini", rules={"same_rule": "value"})
    with pytest.raises(CheckpointError, match="same_rule was 'both', at this table it is 'value'"):
        load_checkpoint(path, table)
    with pytest.raises(CheckpointError, match="same_rule"):
        load_checkpoint(path).act(decisions_of(table, steps=3))
    with pytest.raises(CheckpointError, match="trained for 2 players; this table has 3"):
        load_checkpoint(path, registry.make("pig10", preset="mini", num_players=3))
    rules = game.rules.to_json()
    del rules["five_clamp"]
    rewrite(path, rules=rules)
    with pytest.raises(CheckpointError, match="other rule options"):
        load_checkpoint(path)


def test_other_layout(tmp_path: Path, game: Game) -> None:
    """A policy whose observation was laid out otherwise than it would be today is refused."""
    path = saved(tmp_path, game)
    rewrite(path, game_digest="0123456789abcdef")
    with pytest.raises(CheckpointError, match="another observation layout .* 0123456789abcdef; here " + game.digest):
        load_checkpoint(path, game)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"about": {**ABOUT, "activation": "gelu"}}, "activation must be tanh or relu; got 'gelu'"),
        ({"about": {**ABOUT, "activation": []}}, "activation must be"),
        ({"about": {**ABOUT, "layers": "hidden"}}, "layers must be a list"),
        ({"about": {**ABOUT, "layers": ["hidden", "nothing"]}}, "layer 'nothing' must have a weight and a bias"),
        ({"about": {**ABOUT, "layers": ["logits"]}}, "layer 'logits' must take"),
        ({"about": {**ABOUT, "layers": ["hidden"]}}, "the last layer must give"),
        ({"about": 3}, "cannot be used"),
        ({"game": 3}, "cannot be used"),
        ({"num_players": "two"}, "cannot be used"),
        ({"rules": {"targets": 5}}, "cannot be used"),
        ({"rules": 5}, "cannot be used"),
    ],
)
def test_well_hashed_nonsense(tmp_path: Path, game: Game, change: dict[str, Any], message: str) -> None:
    """A file whose hash is right and whose contents make no sense is refused as well."""
    path = saved(tmp_path, game)
    rewrite(path, **change)
    with pytest.raises(CheckpointError, match=re.escape(message)):
        load_checkpoint(path)


def test_unusable_is_not_saved(tmp_path: Path, game: Game) -> None:
    """What could not be loaded is refused when it is saved, and the old file stays as it was."""
    path = saved(tmp_path, game)
    before = path.read_bytes()
    tensors = weights(game)
    cases: list[tuple[dict[str, np.ndarray], dict[str, Any], str]] = [
        (tensors, {"activation": "tanh"}, "layers"),
        (tensors, {**ABOUT, "more": object()}, "JSON"),
        ({**tensors, "logits.bias": tensors["logits.bias"].astype(np.float64)}, ABOUT, "float32"),
        ({**tensors, "logits.bias": np.full_like(tensors["logits.bias"], np.nan)}, ABOUT, "finite"),
        ({**tensors, "hidden.bias": tensors["hidden.bias"][1:]}, ABOUT, "layer 'hidden'"),
        (tensors, {**ABOUT, "value": "value"}, "layer 'value'"),
        (tensors, {**ABOUT, "value": "logits"}, "must give one number"),
    ]
    for given, about, message in cases:
        with pytest.raises(CheckpointError, match=message):
            save_checkpoint(path, given, game, about)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_worth_of_a_position(tmp_path: Path, game: Game) -> None:
    """A checkpoint with a value layer says what it expects to be paid, one without says nothing."""
    path, tensors = tmp_path / "policy.safetensors", weights(game)
    size = tensors["logits.weight"].shape[1]
    tensors["value.weight"], tensors["value.bias"] = np.zeros((1, size), np.float32), np.array([0.25], np.float32)
    save_checkpoint(path, tensors, game, {**ABOUT, "value": "value"})
    decisions = decisions_of(game)
    worth = load_checkpoint(path, game).value(decisions)
    assert worth is not None
    assert worth.tolist() == [0.25] * len(decisions)
    assert load_checkpoint(saved(tmp_path, game), game).value(decisions) is None


def test_other_tensors_and_texts_are_kept(tmp_path: Path, game: Game) -> None:
    """More tensors than the actor's, and texts that look like the file's own hash, do no harm."""
    path = tmp_path / "policy.safetensors"
    about = {**ABOUT, "note": '"sha256":"' + checkpoint.NO_HASH + '"', "zeros": checkpoint.NO_HASH}
    save_checkpoint(path, {**weights(game), "critic.weight": np.zeros((1, 8), np.float64)}, game, about)
    assert load_checkpoint(path, game).about == about


def test_only_saving_needs_safetensors(tmp_path: Path, game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package a checkpoint still loads and plays; to save one, the error says what to install."""
    path = saved(tmp_path, game)
    before = load_checkpoint(path)
    imported = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("safetensors"):
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    assert load_checkpoint(path) == before
    with pytest.raises(MissingExtraError, match=re.escape("pigenv[train]")):
        saved(tmp_path, game)
