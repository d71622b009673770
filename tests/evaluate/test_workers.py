"""Several processes: the same games, and none lost."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

from pigenv.agent import find_agent
from pigenv.errors import AgentError, OptionError
from pigenv.evaluate.evaluation import evaluate
from pigenv.evaluate.match import play_match
from pigenv.evaluate.orders import every_order
from pigenv.evaluate.workers import Crowd, merged, tasks_of, whole_limits
from tests.evaluate.players import FIRST, LAST, PIG10, Answers

OWN = "tests.evaluate.players:OwnChance"
DIES = "tests.evaluate.test_workers:DiesOnce"


class DiesOnce:
    """An agent that ends its process the first time it is asked, wherever that is."""

    name = "dies once"

    def reset(self, seed):
        pass

    def act(self, decisions):
        mark = Path(os.environ["PIGENV_TEST_MARK"])
        if not mark.exists():
            mark.touch()
            os._exit(7)
        return decisions.action_masks.argmax(axis=1)


class DiesAlways(DiesOnce):
    """An agent that ends its process whenever it is asked."""

    def act(self, decisions):
        if len(decisions):
            os._exit(7)


def without_time(document):
    """A document as text, without what it says about time."""
    return json.dumps({name: value for name, value in document.items() if name != "timing"})


def test_processes_do_not_change_the_document():
    """One process, two or three: every byte but the timing is the same, also with agents that draw for themselves."""
    options = {"against": ["uniform", "pig10/greedy"], "deals": 90, "seed": 4, "line_ups": ("lone", "half", "mixed")}
    documents = [evaluate(OWN, PIG10, **options, workers=workers) for workers in (1, 2, 3)]
    assert [each["timing"]["workers"] for each in documents] == [1, 2, 3]
    assert len({without_time(each) for each in documents}) == 1


def test_tasks_played_in_any_order_are_the_match():
    """Cut into tasks, played backwards and put together, a match is what it is in one go."""
    agents = [find_agent(OWN), LAST]
    orders = every_order("ABAB")
    limits = [None, None]
    tasks = tasks_of(agents, (0, 1, 0, 1), range(150), orders, limits, 0)
    assert len(tasks) == 3 * 6
    with Crowd(PIG10, agents, [OWN, None], limits, 6, [], 1) as crowd:
        parts = crowd.play(tasks[::-1])[::-1]
    whole = play_match(PIG10, [agents[0], LAST, agents[0], LAST], 150, 6, orders=orders)
    together = merged(tasks, parts)
    for name in ("deals", "orders", "returns", "scores", "placements", "steps", "offenders"):
        np.testing.assert_array_equal(getattr(together, name), getattr(whole, name), err_msg=name)


def test_a_process_that_dies_loses_no_game(tmp_path, monkeypatch):
    """What a dead process had not handed back is played again, and nothing is counted twice."""
    monkeypatch.setenv("PIGENV_TEST_MARK", str(tmp_path / "mark"))
    told = []
    found = evaluate(DIES, PIG10, "uniform", deals=70, workers=2, progress=told.append)
    assert (tmp_path / "mark").exists()
    assert (found["timing"]["workers"], told[-1]) == (2, 70 * 4)
    # With the mark there it lives, so this process may play it for comparison.
    assert without_time(evaluate(DIES, PIG10, "uniform", deals=70, workers=1)) == without_time(found)


def test_a_process_that_always_dies_is_reported_by_its_agents():
    """An agent that ends every process it is asked in is named, and the evaluation ends."""
    with pytest.raises(AgentError, match="process that plays dies once, uniform died 3 times"):
        evaluate("tests.evaluate.test_workers:DiesAlways", PIG10, "uniform", deals=2, workers=2)


def test_agents_that_cannot_travel_stay():
    """An agent made in this process, which no other could find, is played here whatever is asked for."""
    found = evaluate(Answers("local", lambda d, good: good), PIG10, LAST, deals=3, workers=2)
    assert found["timing"]["workers"] == 1
    assert found["forfeits"] == []


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_workers_are_counted(workers):
    """Workers are a whole number, one or more."""
    with pytest.raises(OptionError, match="workers must be an integer, 1 or more"):
        evaluate(FIRST, PIG10, LAST, deals=2, workers=workers)


# --- time limits ------------------------------------------------------------------------------------------------------


def test_a_slow_decision_costs_its_game_alone():
    """An agent that takes too long for a decision forfeits that game by name; others that it answers in time count."""

    def slow_on_ten(decisions, good):
        view = decisions.views[0]
        if view["turn"] < 4 and (view["hand"][decisions.seats[0]] == 10).any():
            time.sleep(0.6)
        return good

    games = play_match(PIG10, [Answers("slow", slow_on_ten), FIRST, FIRST, FIRST], 6, 7, limits=[0.4, None, None, None])
    forfeited = games.offenders == 0
    assert 0 < forfeited.sum() < forfeited.size
    assert {fault.agent for fault in games.faults} == {"slow"}
    reasons = {fault.reason.split(":")[0] for fault in games.faults}
    assert reasons == {"TimeoutError"}


def test_an_agent_with_a_limit_is_asked_one_by_one():
    """Its limit is for a decision, so it gets one at a time, and within the limit nothing changes."""
    sizes = set()

    def note(decisions, good):
        sizes.add(len(decisions))
        return good

    line_up = [Answers("notes", note), FIRST, LAST, LAST]
    limited = play_match(PIG10, line_up, 3, 7, limits=[30.0, None, None, None])
    assert sizes == {1}
    np.testing.assert_array_equal(limited.scores, play_match(PIG10, line_up, 3, 7).scores)


def test_a_compiled_agent_with_a_limit_plays_the_same():
    """A limit takes an agent out of the compiled loop, and changes nothing else."""
    line_up = [FIRST, LAST, LAST, LAST]
    limited = play_match(PIG10, line_up, 3, 7, limits=[30.0, None, None, None])
    np.testing.assert_array_equal(limited.scores, play_match(PIG10, line_up, 3, 7).scores)


def test_limits_are_given_by_name_or_for_all():
    """One number is everybody's; names pick out some; an unknown name or a limit of nothing is refused."""
    assert whole_limits(0.5, [FIRST, LAST]) == [0.5, 0.5]
    assert whole_limits({"last": 2.0}, [FIRST, LAST]) == [None, 2.0]
    assert whole_limits(None, [FIRST]) == [None]
    with pytest.raises(OptionError, match="'nobody', which does not play"):
        whole_limits({"nobody": 1.0}, [FIRST])
    with pytest.raises(OptionError, match="seconds above zero"):
        whole_limits(0, [FIRST])
    document = evaluate(FIRST, PIG10, LAST, deals=2, limits={"first": 30.0})
    assert document["method"]["time limits"] == "first: 30 s a decision"
