"""Agents by name: what is found, and what the errors say."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pigenv import registry
from pigenv.agent import Agent, Decisions, KernelAgent, find_agent
from pigenv.agents import catalog
from pigenv.agents.checkpoint import save_checkpoint
from pigenv.errors import AgentError, CheckpointError, PigenvError, UnknownNameError

OWN_AGENT = """
class Own:
    name = "own"
    def reset(self, seed): pass
    def act(self, decisions): return decisions.action_masks.argmax(axis=1)

class NoAct:
    name = "no act"
    def reset(self, seed): pass

class Broken:
    def __init__(self): raise RuntimeError("no weights")
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder that has the module `own_agents`."""
    (tmp_path / "own_agents.py").write_text(OWN_AGENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_agents", raising=False)
    return tmp_path


def saved(folder: Path) -> str:
    """A checkpoint of the mini game whose weights are all zero."""
    game = registry.make("pig10", preset="mini")
    shape = (game.num_actions, game.layout.size)
    tensors = {"only.weight": np.zeros(shape, np.float32), "only.bias": np.zeros(shape[0], np.float32)}
    path = folder / "policy.safetensors"
    save_checkpoint(path, tensors, game, {"layers": ["only"], "activation": "relu"})
    return str(path)


def test_names() -> None:
    """All names come weakest first, each game's players under the game's name, and each is found."""
    names = catalog.names(registry.definition("pig10"))
    assert names == ["uniform", "pig10/greedy", "pig10/careful", "pig10/counting", "pig10/trained"]
    assert set(names) <= set(catalog.names())
    for name in catalog.names():
        agent = find_agent(name)
        assert isinstance(agent, Agent)
        assert agent.name == name


def test_same_name_same_agent() -> None:
    """A hand-written player is the same object each time, also with a game, and after pickling."""
    game = registry.make("pig10")
    for name in ("uniform", *(f"pig10/{player}" for player in catalog.players("pig10"))):
        agent = find_agent(name, game)
        assert isinstance(agent, KernelAgent)
        assert find_agent(name) is agent
        assert pickle.loads(pickle.dumps(agent)) is agent


def test_uniform_plays_any_game() -> None:
    """The uniform player is found for every game."""
    for definition in registry.definitions():
        assert find_agent("uniform", definition).name == "uniform"


@pytest.mark.parametrize(
    "name",
    [
        "", "/", ":", "a:b", "pig10", "pig10/", "/greedy", "uniform/", "nothing/greedy", "checkpoint/greedy",
        "../pig10/x", "pig10/greedy:sample", "no_such_module:Class", "policy.safetensors", "a\0b", "x" * 5000,
        "x" * 300 + ":Y", "os.path/x:y", "__main__:Nothing", "ü:ü", ".:x", "..os:x",
    ],
)  # fmt: skip
def test_unknown_name(name: str) -> None:
    """Whatever is typed, an error of the project comes back; where nothing is found at all, an unknown name."""
    expected = AgentError if name == "__main__:Nothing" else UnknownNameError
    with pytest.raises(expected):
        find_agent(name)


def test_closest_name_is_said() -> None:
    """The error about an unknown name says the nearest valid one and what else would be a name."""
    with pytest.raises(UnknownNameError, match=r"did you mean 'pig10/careful'.*checkpoint.*module:Class"):
        find_agent("pig10/carefull", registry.definition("pig10"))
    with pytest.raises(UnknownNameError, match="did you mean 'uniform'"):
        find_agent("Uniform")


def test_agent_of_another_game() -> None:
    """A player of another game is refused, and the valid ones are named."""
    other = replace(registry.definition("pig10"), id="other_v0")
    with pytest.raises(AgentError, match="pig10/greedy plays pig10, not other; valid here: uniform"):
        find_agent("pig10/greedy", other)


def test_players_from_another_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game in another package brings its players through an entry point, without an edit here."""
    kernels = catalog.players("pig10")
    point = SimpleNamespace(load=lambda: SimpleNamespace(PLAYERS={"timid": kernels["greedy"]}))
    monkeypatch.setattr(
        catalog.metadata,
        "entry_points",
        lambda group, name: [point] if (group, name) == ("pigenv.agents", "toy") else [],
    )
    catalog.players.cache_clear()
    toy = replace(registry.definition("pig10"), id="toy_v3")
    assert catalog.names(toy) == ["uniform", "toy/timid"]
    assert find_agent("toy/timid", toy).name == "toy/timid"
    catalog.players.cache_clear()


def test_checkpoint_by_path(tmp_path: Path) -> None:
    """A checkpoint goes by its path; the same file gives the same agent, a changed one a new one."""
    pytest.importorskip("safetensors")
    path, game = saved(tmp_path), registry.make("pig10", preset="mini")
    agent = find_agent(path, game)
    assert agent.name == path
    assert find_agent(path, game) is agent
    drawn = find_agent(f"{path}:sample", game)
    assert drawn.name == f"{path}:sample"
    assert drawn != agent
    with pytest.raises(CheckpointError, match="deck_counts"):
        find_agent(path, registry.make("pig10"))
    Path(path).write_bytes(b"something else")
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        find_agent(path, game)


def test_own_class(here: Path) -> None:
    """`module:Class` is looked for in the current folder too, and gives a fresh agent each time."""
    agent = find_agent("own_agents:Own")
    assert agent.name == "own"
    assert find_agent("own_agents:Own") is not agent
    assert str(here) not in sys.path
    masks = np.array([[0, 1, 1]], np.int8)
    game = registry.make("pig10")
    assert agent.act(Decisions(game, np.zeros(1), np.zeros(1), masks, np.zeros(1))).tolist() == [1]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("own_agents:NoAct", "must have name, reset and act; it lacks act"),
        ("own_agents:Broken", "RuntimeError: no weights"),
        ("own_agents:Missing", "has no attribute 'Missing'"),
        ("own_agents.inner:Own", "ModuleNotFoundError"),
    ],
)
def test_own_class_that_is_no_agent(here: Path, name: str, message: str) -> None:
    """A class that cannot be made, or makes no agent, is an error that says why."""
    with pytest.raises(AgentError, match=message):
        find_agent(name)


def test_an_agent_is_its_own_name() -> None:
    """An agent given instead of a name is returned as it is."""
    agent = find_agent("uniform")
    assert find_agent(agent) is agent  # type: ignore[arg-type]


def test_every_error_is_ours() -> None:
    """All that finding an agent may raise can be caught as the project's own."""
    assert issubclass(UnknownNameError, PigenvError)
    assert issubclass(AgentError, PigenvError)


def test_light_import() -> None:
    """Finding the hand-written players needs neither torch nor safetensors."""
    code = (
        "import sys; from pigenv.agent import find_agent; find_agent('pig10/counting'); "
        "assert not {'torch', 'safetensors'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
