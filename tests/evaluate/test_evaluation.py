"""The document that an evaluation is."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pigenv import registry
from pigenv.agents import catalog
from pigenv.errors import AgentError, OptionError, SeedError, UnknownNameError
from pigenv.evaluate.evaluation import ALL, FORMAT, _mixed, evaluate, verdict
from pigenv.evaluate.match import play_match
from tests.evaluate.players import FIRST, LAST, NEVER, PIG10, Answers, OwnChance

FIELDS = [
    "agent", "against", "line_up", "num_players", "deals", "games", "win_share", "win_share_ci", "chance", "mean_score",
    "placements", "illegal", "truncated", "seat_effect",
]  # fmt: skip


@pytest.fixture(scope="module")
def document():
    return evaluate(FIRST, PIG10, against=[LAST, NEVER], deals=12, seed=5)


def test_there_is_an_entry_for_each_opponent_and_one_for_all(document):
    """Every entry has exactly the fields promised, and the document's head says what was played."""
    assert document["format"] == FORMAT
    assert [entry["against"] for entry in document["results"]] == ["last", "never", ALL]
    assert all(list(entry) == FIELDS for entry in document["results"])
    assert registry.make(**document["game"]) == PIG10
    assert (document["agent"], document["seed"]) == ("first", 5)


def test_an_entry_says_what_the_match_gave(document):
    """The figures are the means over the match's games, the agent at the first place."""
    games = play_match(PIG10, [FIRST, LAST, LAST, LAST], 12, 5)
    entry = document["results"][0]
    assert (entry["num_players"], entry["deals"], entry["games"], entry["chance"]) == (4, 12, 48, 0.25)
    assert entry["win_share"] == pytest.approx(games.win_shares[..., 0].mean())
    assert entry["mean_score"] == pytest.approx(games.scores[..., 0].mean())
    assert entry["seat_effect"] == pytest.approx(games.win_shares[..., 0].mean(axis=0))
    assert entry["placements"] == pytest.approx(games.placements[:, :, 0].mean(axis=(0, 1)))
    assert entry["placements"][0] == pytest.approx(entry["win_share"])
    low, high = entry["win_share_ci"]
    assert 0 <= low <= entry["win_share"] <= high <= 1


def test_the_same_input_gives_the_same_document(document):
    """Apart from timing, and as JSON: also for agents with chance of their own."""
    for line_up in ([LAST, NEVER], [OwnChance(), "uniform"]):
        first, second = (evaluate(FIRST, PIG10, against=line_up, deals=12, seed=5) for _ in range(2))
        first.pop("timing")
        second.pop("timing")
        assert json.dumps(first) == json.dumps(second)
    assert evaluate(FIRST, PIG10, against=LAST, deals=12, seed=6)["results"] != document["results"][:1]


def test_time_stands_apart(document):
    """Each line-up has its decisions a second, under timing and nowhere else."""
    timing = document["timing"]
    assert [each["against"] for each in timing["results"]] == ["last", "never", ALL]
    assert all(each["decisions_per_second"] > 0 and each["seconds"] > 0 for each in timing["results"])
    rest = json.dumps({name: value for name, value in document.items() if name != "timing"})
    assert "second" not in rest


def test_forfeits_are_counted_and_named(document):
    """`illegal` counts the agent's own forfeits; `forfeits` names everybody's, with the reason."""
    assert [entry["illegal"] for entry in document["results"]] == [0, 0, 0]
    assert {(each["against"], each["agent"]) for each in document["forfeits"]} == {("never", "never"), (ALL, "never")}
    raising = Answers("bad", lambda decisions, good: good.nothing)
    bad = evaluate(raising, PIG10, against="uniform", deals=3)
    assert bad["results"][0]["illegal"] == 12
    assert bad["forfeits"][0]["agent"] == "bad"
    assert bad["forfeits"][0]["games"] == 12
    assert bad["results"][0]["win_share"] == 0.0


def test_the_default_opponents_are_the_catalog():
    """Without `against`, every player of the game is met, in the catalog's order."""
    found = evaluate("uniform", PIG10, deals=2)
    assert found["opponents"] == catalog.names(PIG10)
    assert [entry["against"] for entry in found["results"]] == [*catalog.names(PIG10), ALL]


def test_a_single_opponent_makes_a_single_entry():
    """A mixed table of one opponent would be the same line-up again; a name said twice is one opponent."""
    assert len(evaluate("uniform", "pig10", against=["uniform", "uniform"], deals=2)["results"]) == 1


@pytest.mark.parametrize(("opponents", "seats"), [(4, 3), (2, 3), (2, 2), (3, 1), (5, 3)])
def test_in_the_mixed_line_up_everybody_sits_everywhere_equally_often(opponents, seats):
    """Over the line-ups that take turns, each opponent has each place the same number of times."""
    line_ups = np.array(_mixed(list(range(opponents)), seats))
    assert line_ups.shape == (opponents, seats)
    assert (np.sort(line_ups, axis=0) == np.arange(opponents)[:, None]).all()


@pytest.mark.parametrize(
    ("interval", "word"),
    [((0.26, 0.3), "beats"), ((0.2, 0.24), "loses"), ((0.24, 0.3), "even"), ((0.25, 0.25), "even")],
)
def test_a_verdict_needs_the_whole_interval(interval, word):
    """The agent beats or loses only if the whole interval is on one side of chance."""
    assert verdict({"win_share_ci": list(interval), "chance": 0.25}) == word


@pytest.mark.parametrize("players", [3, 5])
def test_an_agent_is_even_with_itself(players):
    """Against its own copies an agent gets no verdict, although thirds and fifths have no exact binary form."""
    game = registry.make("pig10", players)
    entry = evaluate(FIRST, game, against=FIRST, deals=9)["results"][0]
    assert verdict(entry) == "even"
    assert entry["win_share"] == pytest.approx(1 / players)


def test_progress_counts_all_line_ups():
    """Progress ends at the games of all line-ups together."""
    told = []
    evaluate(FIRST, PIG10, against=[LAST, OwnChance()], deals=2, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 2 * 4 + 2 * 4 + 2 * 12


@pytest.mark.parametrize("deals", [0, -5, 1.5, "20", None, True])
def test_deals_must_be_a_positive_integer(deals):
    """Anything else is refused before a card is dealt."""
    with pytest.raises(OptionError, match="deals must be an integer, 1 or more"):
        evaluate("uniform", PIG10, deals=deals)


def test_other_wrong_use_is_refused_with_a_sentence():
    """No opponent, an unknown one, one of another game, and a seed that is none."""
    with pytest.raises(OptionError, match="at least one opponent"):
        evaluate("uniform", PIG10, against=[])
    with pytest.raises(UnknownNameError, match="no agent 'nobody'"):
        evaluate("uniform", PIG10, against=["nobody"])
    with pytest.raises(AgentError, match="plays chess"):
        evaluate("uniform", PIG10, against=type(FIRST)("chess/bot", FIRST.kernel, "chess"))
    with pytest.raises(SeedError):
        evaluate("uniform", PIG10, seed=-1)
