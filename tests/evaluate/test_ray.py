"""A Ray cluster of two nodes: the same games and records as in a process, also where a node dies. Needs Ray."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from pigenv import registry
from pigenv.errors import AgentError, MissingExtraError, OptionError, UnknownNameError
from pigenv.evaluate import cluster as clusters
from pigenv.evaluate.evaluation import evaluate
from pigenv.records import play_games
from tests.evaluate.players import FIRST, LAST, PIG10

ROOT = Path(__file__).resolve().parents[2]
OWN = "tests.evaluate.players:OwnChance"


class Slow:
    """An agent that takes its time, so that a node can die in the middle."""

    name = "slow"

    def reset(self, seed):
        pass

    def act(self, decisions):
        time.sleep(0.005)
        return decisions.action_masks.argmax(axis=1)


class Lost:
    """An agent that cannot be had where it is to play, by our own error."""

    name = "lost"

    def __init__(self):
        if os.environ.get("PIGENV_TEST_DRIVER") != str(os.getpid()):
            raise AgentError("lost: no way home")

    def reset(self, seed):
        pass

    def act(self, decisions):
        return decisions.action_masks.argmax(axis=1)


def without_time(document):
    return json.dumps({name: value for name, value in document.items() if name != "timing"})


def records_of(seed):
    """Games as the lines of a file of records."""
    line_up = ["uniform", "pig10/careful", "pig10/greedy"]
    return "".join(each.to_line() + "\n" for each in play_games(registry.make("pig10"), line_up, seed, 20, legal=True))


@pytest.fixture
def two_nodes():
    """Two nodes on this machine, each with a core for tasks; the driver is at the first."""
    pytest.importorskip("ray")
    import ray
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    found.other = found.add_node(num_cpus=1)
    ray.init(address=found.address, logging_level="ERROR", log_to_driver=False)
    yield found
    ray.shutdown()
    found.shutdown()


def test_cluster_plays_what_processes_play(two_nodes):
    """The document is the same, byte for byte, timing apart."""
    options = {"against": ["uniform", "pig10/greedy"], "deals": 70, "seed": 4}
    there = evaluate(OWN, PIG10, **options, backend="ray")
    assert without_time(there) == without_time(evaluate(OWN, PIG10, **options, workers=2))


def test_cluster_writes_the_records_of_a_process(two_nodes):
    """A worker on each node writes, byte for byte, what a plain Python writes for the same seed."""
    import ray

    script = "from tests.evaluate.test_ray import records_of; print(records_of(2**64 - 5), end='')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    plain = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, check=True)

    def work():
        return ray.get_runtime_context().get_node_id(), records_of(2**64 - 5).encode()

    spread = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(work)
    written = dict(ray.get([spread.remote() for _ in range(2)]))
    assert len(written) == 2
    assert set(written.values()) == {plain.stdout}
    assert plain.stdout.count(b"\n") == 20


def test_cluster_that_loses_a_node_loses_no_game(two_nodes):
    """A node killed in the middle: every game is there once, and the document is what processes play."""
    slow, told = "tests.evaluate.test_ray:Slow", []
    killer = threading.Timer(0.0, lambda: two_nodes.remove_node(two_nodes.other, allow_graceful=False))

    def progress(done):
        if not told:
            killer.start()
        told.append(done)

    there = evaluate(slow, PIG10, "uniform", deals=300, seed=4, backend="ray", progress=progress)
    killer.join()
    import ray

    deadline = time.monotonic() + 60
    while sum(node["Alive"] for node in ray.nodes()) > 1 and time.monotonic() < deadline:
        time.sleep(0.2)  # the cluster notices a little later
    assert sum(node["Alive"] for node in ray.nodes()) == 1
    assert told == sorted(told)
    assert told[0] < told[-1] / 4
    assert Counter(told)[told[-1]] == 1
    assert told[-1] == there["results"][0]["games"] == 1200
    assert without_time(there) == without_time(evaluate(slow, PIG10, "uniform", deals=300, seed=4, workers=2))


def test_cluster_hands_on_what_an_agent_does(two_nodes, monkeypatch):
    """An agent that ends every process it is asked in is named; an error of ours comes back as it was raised."""
    with pytest.raises(AgentError, match="process that plays dies once, uniform died 4 times"):
        evaluate("tests.evaluate.test_workers:DiesAlways", PIG10, "uniform", deals=2, backend="ray")
    monkeypatch.setenv("PIGENV_TEST_DRIVER", str(os.getpid()))
    with pytest.raises(AgentError, match=r"lost: no way home$"):
        evaluate("tests.evaluate.test_ray:Lost", PIG10, "uniform", deals=2, backend="ray")


def test_an_unknown_backend_is_refused():
    """The backends there are, are named."""
    with pytest.raises(UnknownNameError, match="no backend 'rai'; did you mean 'ray'"):
        evaluate(FIRST, PIG10, LAST, deals=2, backend="rai")


def test_ray_is_asked_for_by_name(monkeypatch):
    """Without Ray the error says what to install."""

    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(clusters, "import_module", refuse)
    with pytest.raises(MissingExtraError, match=r"pigenv\[ray\]"):
        evaluate("uniform", PIG10, "uniform", deals=2, backend="ray")


def test_a_cluster_that_is_not_there_is_one_sentence(monkeypatch):
    """Where nobody listens, and where Ray says that it cannot connect, the error names the address."""

    class Nobody:
        @staticmethod
        def is_initialized():
            return False

        @staticmethod
        def init(address, **kwargs):
            raise ConnectionError("could not connect\nto the head")

    monkeypatch.setattr(clusters, "import_module", lambda name: Nobody)
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"127.0.0.1:{there.getsockname()[1]}"
        with pytest.raises(OptionError, match=f"joined at '{address}': could not connect$"):
            clusters.connected(address)
    with pytest.raises(OptionError, match=f"joined at 'ray://{address}': .*refused"):
        clusters.connected(f"ray://{address}")
