"""Tournaments: tables, ratings, cross-play and what is told of them."""

from __future__ import annotations

import io
import json
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest
from rich.console import Console

from pigenv.errors import OptionError
from pigenv.evaluate import plots
from pigenv.evaluate.evaluation import evaluate
from pigenv.evaluate.match import play_match
from pigenv.evaluate.orders import seat_orders
from pigenv.evaluate.ratings import rate
from pigenv.evaluate.tournament import beats, cycles, mixed_tables, tournament
from pigenv.evaluate.tournament_report import print_tournament, write_tournament_page
from pigenv.records import play_games
from tests.evaluate.players import BENCH, FIRST, LAST, NEVER, PIG10, UNIFORM

pytest.importorskip("openskill")

AGENTS = [FIRST, LAST, NEVER, UNIFORM]


@pytest.fixture(scope="module")
def document():
    return tournament(AGENTS, PIG10, deals=10, seed=2)


def test_the_payoff_matrix_is_what_evaluate_finds(document):
    """An entry is the win share, with interval, of the row's agent among copies of the column's."""
    matrix = document["payoff_matrix"]
    assert matrix["agents"] == ["first", "last", "never", "uniform"]
    entry = evaluate(FIRST, PIG10, LAST, deals=10, seed=2)["results"][0]
    assert matrix["win_share"][0][1] == entry["win_share"]
    assert [matrix["low"][0][1], matrix["high"][0][1]] == entry["win_share_ci"]
    assert [matrix["win_share"][k][k] for k in range(4)] == [0.25] * 4


def test_standings_are_of_the_mixed_tables(document):
    """Placements, scores, seat effect and illegal rate are those of all seat orders of the table of all four."""
    orders = seat_orders("ABCD")
    games = play_match(PIG10, AGENTS, 10, 2, bench=BENCH, orders=orders)
    for place, agent in enumerate(AGENTS):
        found = next(each for each in document["standings"] if each["agent"] == agent.name)
        assert found["win_share"] == pytest.approx(games.win_shares[..., place].mean())
        assert found["placements"] == pytest.approx(games.placements[:, :, place].mean(axis=(0, 1)))
        assert found["mean_score"] == pytest.approx(games.scores[..., place].mean())
        assert found["illegal_rate"] == pytest.approx((games.offenders == place).mean())
        by_seat = [games.win_shares[:, orders[:, place] == seat, place].mean() for seat in range(4)]
        assert found["seat_effect"] == pytest.approx(by_seat)
    assert [each["agent"] for each in document["forfeits"]] == ["never"]
    ratings = [each["rating"]["mu"] for each in document["standings"]]
    assert ratings == sorted(ratings, reverse=True)
    assert document["standings"][-1]["agent"] == "never"


def test_processes_do_not_change_a_tournament():
    """Two processes give the bytes of one, timing apart."""
    names = ["uniform", "pig10/greedy", "tests.evaluate.players:OwnChance"]
    texts = set()
    for workers in (1, 2):
        found = tournament(names, PIG10, deals=8, seed=2, workers=workers)
        assert found.pop("timing")["workers"] == workers
        texts.add(json.dumps(found))
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("agents", "seats"), [(2, 2), (2, 4), (3, 4), (4, 4), (6, 3), (8, 4), (12, 4), (20, 5), (13, 8)]
)
def test_everybody_is_at_equally_many_tables(agents, seats):
    """Whatever the numbers, each agent has as many places at the mixed tables as every other."""
    tables = mixed_tables(agents, seats)
    counts = Counter(agent for table in tables for agent in table)
    assert len(counts) == agents
    assert len(set(counts.values())) == 1
    if agents >= seats:
        assert all(len(set(table)) == seats for table in tables)
        assert len(set(tables)) == len(tables)


def test_ratings_agree_with_the_library_game_by_game():
    """One game is rated exactly as OpenSkill rates it, ties as ties."""
    from openskill.models import PlackettLuce

    games = play_match(PIG10, AGENTS, 1, 3, bench=BENCH, orders=np.array([[0, 1, 2, 3]]))
    model = PlackettLuce(tau=0.0)
    expected = model.rate([[model.rating()] for _ in AGENTS], ranks=games.places[0, 0].tolist())
    found = rate(4, [(range(4), games)], 0)
    assert [each.mu for each in found] == pytest.approx([team[0].mu for team in expected])
    assert [each.sigma for each in found] == pytest.approx([team[0].sigma for team in expected])
    assert [each.games for each in found] == [1] * 4
    assert found[0].ordinal == pytest.approx(found[0].mu - 3 * found[0].sigma)


def test_copies_of_an_agent_are_rated_once_a_game():
    """Two agents at a table of four are two sides; the one that always forfeits ends below."""
    games = play_match(PIG10, [NEVER, FIRST, NEVER, FIRST], 5, 3, bench=BENCH)
    worse, better = rate(2, [([0, 1, 0, 1], games)], 0)
    assert worse.mu < 25 < better.mu
    assert worse.games == better.games == 20


def test_rings_are_found():
    """A ring of three and one of four are shown once each; what only points at them is in none."""
    assert cycles(4, [(0, 1), (1, 2), (2, 0), (3, 0)]) == [[0, 1, 2]]
    assert cycles(5, [(1, 2), (2, 3), (3, 4), (4, 1), (0, 1)]) == [[1, 2, 3, 4]]
    assert cycles(3, [(0, 1), (1, 2), (0, 2)]) == []


def test_beating_needs_both_ways():
    """One beats another only if it wins among its copies and the other loses among one's own, beyond the intervals."""
    matrix = {"chance": 0.5, "low": [[0.5, 0.6], [0.3, 0.5]], "high": [[0.5, 0.7], [0.4, 0.5]]}
    assert beats(matrix) == [(0, 1)]
    matrix["high"][1][0] = 0.55
    assert beats(matrix) == []


@pytest.mark.parametrize("agents", [["uniform"], ["uniform", "uniform"], []])
def test_a_tournament_needs_two(agents):
    """Fewer than two agents, or one twice, is refused."""
    with pytest.raises(OptionError, match="needs two agents or more, each once"):
        tournament(agents, PIG10)


# --- the report -------------------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Notes tags and ids, and that what is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in ("meta", "link", "br", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def written(document, tmp_path):
    path = tmp_path / "page.html"
    records = list(play_games(PIG10, ["uniform"], seed=1, games=2))
    write_tournament_page(path, document, title="<Cup>", records=records)
    return path.read_text(encoding="utf-8")


def test_the_page_is_whole_and_loads_nothing(document, tmp_path):
    """Tags are closed, ids unique, every reference leads to one of them, and nothing comes from an address."""
    text = written(document, tmp_path)
    page = Tags()
    page.feed(text)
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    links = [attrs["href"] for _, attrs in page.tags if "href" in attrs]
    assert {link[1:] for link in links if link.startswith("#")} <= set(page.ids)
    assert all(link.startswith(("#", "data:application/jsonl;base64,")) for link in links)
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "image"}
    assert "<Cup>" not in text
    assert "http:" not in text
    assert "https:" not in text


def test_the_page_has_all_figures(document, tmp_path):
    """Four plots, each with its numbers in words, every agent with its win share, and who beats whom."""
    text = written(document, tmp_path)
    page = Tags()
    page.feed(text)
    drawn = [attrs for tag, attrs in page.tags if tag == "svg" and attrs.get("role") == "img"]
    assert len(drawn) == 4
    assert all(set(attrs["aria-labelledby"].split()) <= set(page.ids) for attrs in drawn)
    for each in document["standings"]:
        assert each["agent"] in text
        assert f"{100 * each['win_share']:.1f} %" in text
    assert "There is no cycle" in text
    assert "never forfeited" in text


def test_names_are_no_formulas_and_no_code(document):
    """Dollar signs and tags in a name are printed as they are, in every plot."""
    evil = "$a$ <b>&"
    copy = json.loads(json.dumps(document))
    copy["payoff_matrix"]["agents"][0] = copy["standings"][0]["agent"] = evil
    drawn = [plots.ratings(copy["standings"]), plots.win_shares(copy["standings"])]
    drawn += [plots.placements(copy["standings"]), plots.cross_play(copy["payoff_matrix"])]
    for svg in drawn:
        assert "<b>" not in svg
        assert "$a$ &lt;b&gt;&amp;" in svg


def test_a_cycle_is_told(document, tmp_path):
    """A ring is on the page and on the terminal."""
    copy = json.loads(json.dumps(document)) | {"cycles": [["first", "last", "never"]]}
    line = "first beats last beats never beats first"
    assert line in written(copy, tmp_path)
    console = Console(width=100, file=io.StringIO())
    print_tournament(copy, console)
    assert line in console.file.getvalue()
    assert "Cross-play" in console.file.getvalue()


def test_another_document_is_refused(tmp_path):
    """A report of a tournament is made of a tournament."""
    with pytest.raises(OptionError, match=r"pigenv.tournament/1"):
        write_tournament_page(tmp_path / "x.html", {"format": "other"}, title="x")
