"""A Ray cluster as backend: the same games, also where a node dies. Runs where Ray is installed."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter

import pytest

from pigenv.errors import MissingExtraError, UnknownNameError
from pigenv.evaluate import workers
from pigenv.evaluate.evaluation import evaluate
from tests.evaluate.players import FIRST, LAST, PIG10

OWN = "tests.evaluate.players:OwnChance"


class Slow:
    """An agent that takes its time, so that a node can die in the middle."""

    name = "slow"

    def reset(self, seed):
        pass

    def act(self, decisions):
        time.sleep(0.005)
        return decisions.action_masks.argmax(axis=1)


def without_time(document):
    return json.dumps({name: value for name, value in document.items() if name != "timing"})


@pytest.fixture
def cluster():
    """Two nodes on this machine: the driver's, without a core for tasks, and two that play."""
    pytest.importorskip("ray")
    import ray
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    found.other = found.add_node(num_cpus=1)
    ray.init(address=found.address, logging_level="ERROR", log_to_driver=False)
    yield found
    ray.shutdown()
    found.shutdown()


def test_a_cluster_plays_what_one_process_plays(cluster):
    """The document is the same, byte for byte, timing apart."""
    options = {"against": ["uniform", "pig10/greedy"], "deals": 70, "seed": 4}
    there = evaluate(OWN, PIG10, **options, backend="ray")
    assert without_time(there) == without_time(evaluate(OWN, PIG10, **options, workers=1))


def test_a_node_that_dies_loses_no_game_and_none_counts_twice(cluster):
    """A node killed in the middle: every game is there once, and the document is what one process plays."""
    slow, told = "tests.evaluate.test_ray:Slow", []
    killer = threading.Timer(0.0, lambda: cluster.remove_node(cluster.other, allow_graceful=False))

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
    assert without_time(there) == without_time(evaluate(slow, PIG10, "uniform", deals=300, seed=4, workers=1))


def test_an_unknown_backend_is_refused():
    """The backends there are, are named."""
    with pytest.raises(UnknownNameError, match="no backend 'rai'; did you mean 'ray'"):
        evaluate(FIRST, PIG10, LAST, deals=2, backend="rai")


def test_ray_is_asked_for_by_name(monkeypatch):
    """Without Ray the error says what to install."""

    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(workers, "import_module", refuse)
    with pytest.raises(MissingExtraError, match=r"pigenv\[ray\]"):
        evaluate("uniform", PIG10, "uniform", deals=2, backend="ray")
