"""Policies that other programs trained."""

from __future__ import annotations

import numpy as np
import pytest

from pigenv import registry
from pigenv.adapters.sb3 import SeatVecEnv
from pigenv.agent import find_agent
from pigenv.errors import CheckpointError
from pigenv.evaluate.match import play_match
from pigenv.records import play_games

sb3 = pytest.importorskip("stable_baselines3")
contrib = pytest.importorskip("sb3_contrib")
onnx = pytest.importorskip("onnx")

GAME = registry.make("pig10", preset="small")
ALGORITHMS = {"MaskablePPO": contrib.MaskablePPO, "PPO": sb3.PPO, "A2C": sb3.A2C, "DQN": sb3.DQN}


def archive(tmp_path, name, memory=True):
    """An untrained policy, saved by its library."""
    env = SeatVecEnv("pig10", 2, preset="small", memory=memory)
    model = ALGORITHMS[name]("MlpPolicy", env, seed=3, device="cpu")
    path = tmp_path / f"{name}.zip"
    model.save(path)
    return str(path), model


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_archive_plays_whole_games_legally(name, tmp_path):
    """Also policies that were never told masks play legal actions alone, and loading warns that it runs code."""
    path, _ = archive(tmp_path, name)
    with pytest.warns(UserWarning, match="runs code"):
        agent = find_agent(path, GAME)
    games = play_match(GAME, [agent, agent, agent], 3, 5)
    assert games.faults == ()
    assert agent.name == path


def test_an_archive_plays_what_its_library_predicts(tmp_path):
    """The action is the one that `predict` gives for the same observation and mask."""
    path, model = archive(tmp_path, "MaskablePPO")
    with pytest.warns(UserWarning, match="runs code"):
        agent = find_agent(path, GAME)

    class Asked:
        name, reset = "asked", staticmethod(lambda seed: None)

        def act(self, decisions):
            expected, _ = model.predict(decisions.observations, action_masks=decisions.action_masks, deterministic=True)
            np.testing.assert_array_equal(agent.act(decisions), expected)
            return expected.astype(np.int64)

    assert play_match(GAME, [Asked(), agent, agent], 4, 5).faults == ()


@pytest.mark.parametrize("table_memory", [True, False])
def test_the_layout_is_found_by_size(table_memory, tmp_path):
    """A policy trained without memory plays at tables with and without it, with its own observation."""
    path, _ = archive(tmp_path, "PPO", memory=False)
    table = registry.make("pig10", preset="small", memory=table_memory)
    with pytest.warns(UserWarning, match="runs code"):
        agent = find_agent(path, table)
    assert agent.check(table).memory is False
    with pytest.raises(CheckpointError, match="no observation of pig10_v0 for 3 players fits"):
        find_agent(path, registry.make("pig10", 3))


def exported(tmp_path, size, actions, mask=False):
    """A linear policy as an ONNX file, and its weights."""
    weights = np.random.default_rng(0).normal(size=(size, actions)).astype(np.float32)
    helper, kind = onnx.helper, onnx.TensorProto
    given = [helper.make_tensor_value_info("observation", kind.FLOAT, ["n", size])]
    nodes = [helper.make_node("MatMul", ["observation", "w"], ["linear"])]
    if mask:
        given.append(helper.make_tensor_value_info("action_mask", kind.BOOL, ["n", actions]))
        nodes.append(helper.make_node("Where", ["action_mask", "linear", "low"], ["logits"]))
    else:
        nodes.append(helper.make_node("Identity", ["linear"], ["logits"]))
    out = [helper.make_tensor_value_info("logits", kind.FLOAT, ["n", actions])]
    fixed = [onnx.numpy_helper.from_array(weights, "w"), onnx.numpy_helper.from_array(np.float32(-1e9), "low")]
    graph = helper.make_graph(nodes, "policy", given, out, fixed[: 1 + mask])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "policy.onnx"
    onnx.save(model, path)
    return str(path), weights


@pytest.mark.parametrize("mask", [False, True])
def test_an_onnx_file_plays_its_network(mask, tmp_path):
    """The likeliest legal action of the network is played, with one input or with masks as the second."""
    pytest.importorskip("onnxruntime")
    path, weights = exported(tmp_path, GAME.layout.size, GAME.num_actions, mask)
    agent = find_agent(path, GAME)

    class Asked:
        name, reset = "asked", staticmethod(lambda seed: None)

        def act(self, decisions):
            logits = np.where(decisions.action_masks == 1, decisions.observations @ weights, -np.inf)
            np.testing.assert_array_equal(agent.act(decisions), logits.argmax(axis=1))
            return logits.argmax(axis=1)

    assert play_match(GAME, [Asked(), agent, agent], 4, 5).faults == ()


def test_files_that_are_none_are_refused(tmp_path):
    """Other bytes under these suffixes, a network of another size and a path with `:sample` get one sentence."""
    pytest.importorskip("onnxruntime")
    for suffix in (".zip", ".onnx"):
        (tmp_path / f"x{suffix}").write_bytes(b"nothing of the kind")
        with pytest.raises(CheckpointError, match=r"not an archive|cannot be read"):
            find_agent(str(tmp_path / f"x{suffix}"), GAME)
    path, _ = exported(tmp_path, 7, GAME.num_actions)
    with pytest.raises(CheckpointError, match="takes 7 numbers"):
        find_agent(path, GAME)
    with pytest.raises(CheckpointError, match="only checkpoints can draw"):
        find_agent(f"{path}:sample", GAME)


def test_games_with_it_can_be_recorded(tmp_path):
    """An ONNX file sits down wherever an agent's name is asked for."""
    pytest.importorskip("onnxruntime")
    path, _ = exported(tmp_path, GAME.layout.size, GAME.num_actions)
    (record,) = play_games(GAME, [path, "uniform"], seed=1, games=1)
    assert record.agents[0] == path
