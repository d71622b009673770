"""The standing benchmark: its results, the ones kept in the repository, and their table."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from pigenv import registry
from pigenv.agents import catalog
from pigenv.errors import OptionError, UnknownNameError
from pigenv.evaluate import benchmark as standing
from pigenv.evaluate.benchmark import (
    benchmark,
    file_name,
    leaderboard,
    print_leaderboard,
    protocol,
    read_result,
    write_leaderboard_page,
)

pytest.importorskip("yaml")

RESULTS = Path(__file__).resolve().parents[2] / "results"
FILES = sorted(RESULTS.glob("*.json"))


def kept():
    return [read_result(path) for path in FILES]


def test_every_own_agent_has_its_result():
    """The repository keeps a result of each agent of the catalog for each game of the benchmark, and no other."""
    wanted = {
        file_name(agent, f"{game}_v0") for game in standing.games() for agent in catalog.names(registry.make(game))
    }
    assert {path.name for path in FILES} == wanted


@pytest.mark.parametrize("game", standing.games())
def test_results_are_of_the_present_protocol(game):
    """What is kept was played by the protocol as it is now."""
    for result in kept():
        if result["game"] == f"{game}_v0":
            assert {name: value for name, value in result["protocol"].items() if name != "digest"} == protocol(game)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_sample_of_the_results_replays(path):
    """The first table of each result, played again, gives every figure again."""
    result = read_result(path)
    again = benchmark(result["agent"], registry.definition(result["game"]).base, workers=1, tables=[0])
    assert again["tables"] == result["tables"][:1]
    assert "score" not in again


def test_the_score_is_the_mean_return():
    """Over all tables and line-ups, n·w − 1 over n − 1; an agent at chance everywhere would have 0."""
    for result in kept():
        entries = [entry for table in result["tables"] for entry in table["results"]]
        scaled = [(e["num_players"] * e["win_share"] - 1) / (e["num_players"] - 1) for e in entries]
        assert result["score"] == pytest.approx(sum(scaled) / len(scaled))
        low, high = result["score_ci"]
        assert low < result["score"] < high


def test_the_leaderboard_is_in_order_of_score():
    """The best is first, and whoever the intervals do not tell apart from it shares its rank."""
    results = [json.loads(json.dumps(each)) for each in kept() if each["game"] == "pig10_v0"]
    (game,) = leaderboard(results)["games"]
    order = ["pig10/trained", "pig10/counting", "pig10/careful", "pig10/greedy", "uniform"]
    assert [row["agent"] for row in game["rows"]] == order
    (by_hand,) = leaderboard([each for each in results if each["agent"] != "pig10/trained"])["games"]
    assert [row["rank"] for row in by_hand["rows"]] == [1, 2, 3, 4]
    twin = json.loads(json.dumps(results[0])) | {"agent": "twin"}
    rows = leaderboard([*results, twin])["games"][0]["rows"]
    ranks = {row["agent"]: row["rank"] for row in rows}
    assert ranks["twin"] == ranks[results[0]["agent"]]
    assert sorted(ranks.values()) != [1, 2, 3, 4, 5]


def test_results_that_do_not_belong_together_are_refused():
    """Two results of one agent, results of two versions, and none at all."""
    one = kept()[0]
    other = json.loads(json.dumps(one)) | {"agent": "other"}
    other["protocol"]["digest"] = "0" * 16
    with pytest.raises(OptionError, match="two results of"):
        leaderboard([one, one])
    with pytest.raises(OptionError, match="different versions of the benchmark"):
        leaderboard([one, other])
    with pytest.raises(OptionError, match="at least one result"):
        leaderboard([])


@pytest.mark.parametrize("change", ["score", "digest", "format", "half", "text"])
def test_a_result_changed_by_hand_is_refused(change, tmp_path):
    """A result must be whole: its score follows from its tables, its digest from its protocol."""
    found = json.loads(FILES[0].read_text(encoding="utf-8"))
    if change == "score":
        found["score"] += 0.1
    elif change == "digest":
        found["protocol"]["deals"] = 10
    elif change == "format":
        found["format"] = "pigenv.evaluation/1"
    elif change == "half":
        del found["tables"][0]["results"]
    path = tmp_path / "x.json"
    path.write_text("no" if change == "text" else json.dumps(found), encoding="utf-8")
    with pytest.raises(OptionError, match=r"changed by hand|not JSON"):
        read_result(path)


def test_an_unknown_game_has_no_section(toy):
    """A game that the protocol does not name is refused with those that it does."""
    with pytest.raises(UnknownNameError, match=r"no section for odd_dice; Valid: pig10"):
        protocol(toy)


def test_the_table_is_printed_and_written(tmp_path):
    """Every agent with its score is on the terminal, within 80 columns, and on the page, which loads nothing."""
    pytest.importorskip("jinja2")
    board = leaderboard(kept())
    console = Console(width=80, file=io.StringIO())
    print_leaderboard(board, console)
    write_leaderboard_page(tmp_path / "page.html", board, title="<Board>")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for game in board["games"]:
        for row in game["rows"]:
            for text in (console.file.getvalue(), page):
                assert row["agent"] in text
                assert f"{row['score']:.3f}" in text
    assert "<Board>" not in page
    assert "http:" not in page
    assert "<script" not in page


def test_names_of_files_hold_no_path():
    """Whatever an agent is called, its file lies in the folder."""
    assert file_name("pig10/greedy", "pig10_v0") == "pig10_v0--pig10-greedy.json"
    assert file_name("../../a b.zip", "g_v0") == "g_v0--a-b.zip.json"
