"""Reports: a table, JSON, and a page that needs nothing else."""

from __future__ import annotations

import builtins
import io
import json
import re
from html.parser import HTMLParser

import pytest
from rich.console import Console

from pigenv.errors import MissingExtraError, OptionError
from pigenv.evaluate import charts
from pigenv.evaluate.evaluation import evaluate
from pigenv.evaluate.report import print_table, sentence, write_json, write_page
from pigenv.records import play_games
from tests.evaluate.players import FIRST, LAST, NEVER, PIG10

pytest.importorskip("jinja2")

EVIL = "<script>alert('x')</script>\"&[bold]"
VOID = {"meta", "link", "img", "br", "hr", "input"}


@pytest.fixture(scope="module")
def document():
    return evaluate(FIRST, PIG10, against=[LAST, "uniform", NEVER], deals=10, seed=1)


@pytest.fixture
def page(document, tmp_path):
    records = list(play_games(PIG10, ["uniform"], seed=1, games=2))
    curve = [(0, 0.2), (1000, 0.35), (2000, 0.5)]
    path = tmp_path / "page.html"
    write_page(path, document, title="A report", curve=curve, records=records, about={"command": "pigenv demo"})
    return path.read_text(encoding="utf-8")


def renamed(document, name):
    """The document as if agent and opponents had another name."""
    copy = json.loads(json.dumps(document))
    copy["agent"] = name
    copy["opponents"] = [name]
    for entry in copy["results"]:
        entry["agent"] = entry["against"] = name
    for entry in copy["forfeits"]:
        entry.update(agent=name, against=name, reasons=[name])
    return copy


def printed(document, width=100):
    console = Console(width=width, file=io.StringIO())
    print_table(document, console)
    return console.file.getvalue()


class Checker(HTMLParser):
    """Notes every tag, and that each is closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(text):
    found = Checker()
    found.feed(text)
    assert found.open == []
    assert len(set(found.ids)) == len(found.ids)
    return found.tags


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_is_whole_and_loads_nothing(page):
    """Tags are closed, ids unique, and no address, script, style sheet or picture is fetched from anywhere."""
    tags = checked(page)
    assert "http://" not in page
    assert "https://" not in page
    assert not {tag for tag, _ in tags} & {"script", "link", "img", "iframe", "object"}
    links = [attrs["href"] for _, attrs in tags if "href" in attrs]
    assert all(link.startswith(("#", "data:application/jsonl;base64,")) for link in links)
    assert not [attrs for _, attrs in tags if {"src", "xlink:href"} & set(attrs)]
    assert "url(" not in page
    assert "@import" not in page


def test_every_chart_says_its_numbers_in_words(page):
    """Each chart is an image with a title and a description, for whoever does not see it."""
    tags = checked(page)
    drawn = [attrs for tag, attrs in tags if tag == "svg" and attrs.get("role") == "img"]
    assert len(drawn) == 3 + 4  # win share, placements, learning curve; seat effect of four line-ups
    for attrs in drawn:
        for name in attrs["aria-labelledby"].split():
            assert re.search(rf'id="{name}">[^<]+<', page)
    assert ("html", {"lang": "en"}) in tags


def test_the_page_says_plainly_whom_the_agent_does_not_beat(page, document):
    """Every entry's sentence stands on the page, with its share and the chance level."""
    for entry in document["results"]:
        assert sentence(entry) in page


def test_names_are_escaped_everywhere(document, tmp_path):
    """Nothing that an agent, a title or a fact is called becomes part of the page's code."""
    evil = renamed(document, EVIL)
    record = vars(next(play_games(PIG10, ["uniform"], seed=1, games=1))) | {"agents": [EVIL] * 4}
    path = tmp_path / "page.html"
    write_page(path, evil, title=EVIL, records=[record], about={EVIL: EVIL}, curve=[(1, 0.5)])
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "alert(" in text
    assert not {tag for tag, _ in checked(text)} & {"script"}


def test_names_that_are_no_text_can_be_written(document, tmp_path):
    """Half a surrogate pair, as a file's name may hold, spoils neither page nor JSON."""
    odd = renamed(document, "run\udc80.safetensors")
    write_page(tmp_path / "page.html", odd, title="odd")
    write_json(odd, tmp_path / "page.json")
    assert json.loads((tmp_path / "page.json").read_text(encoding="utf-8")) == odd


def test_a_page_without_extras_has_no_empty_sections(document, tmp_path):
    """Without curve and records there is no heading for them."""
    path = tmp_path / "page.html"
    write_page(path, document, title="short", curve=[], records=[])
    text = path.read_text(encoding="utf-8")
    assert "Learning curve" not in text
    assert "Recorded games" not in text


@pytest.mark.parametrize(
    "curve", [[(5, 0.5)], [(0, 0.0), (9, 0.0)], [(1, -2.0), (2, 3e6)], [(k, k) for k in range(9999)]]
)
def test_any_learning_curve_can_be_drawn(curve):
    """One point, a flat line, large and negative numbers: all coordinates stay within the picture."""
    drawn = charts.learning_curve(curve, 0.25)
    points = re.search(r'points="([^"]*)"', drawn)[1].split()
    assert len(points) == len(curve)
    for point in points:
        x, y = map(float, point.split(","))
        assert 0 <= x <= 1000
        assert 0 <= y <= 220


def test_what_a_reader_must_know_is_on_page_and_table(document, page):
    """Forfeits are named with their reason in both."""
    line = "never forfeited 40 games of the line-up against never: illegal action"
    assert line in page
    assert line in " ".join(printed(document).split())


def test_jinja_is_asked_for_by_name(document, tmp_path, monkeypatch):
    """Without Jinja2 the error says what to install."""
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name == "jinja2":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"pigenv\[evaluate\]"):
        write_page(tmp_path / "page.html", document, title="none")


# --- table and JSON ---------------------------------------------------------------------------------------------------


def test_the_table_has_every_line_up_and_fits_a_terminal(document):
    """Opponent, share, chance, interval, score, speed and verdict, in no more than 80 columns."""
    text = printed(document, 80)
    assert max(map(len, text.splitlines())) <= 80
    for entry in document["results"]:
        assert f"{100 * entry['win_share']:.1f} %" in text
    for word in ("last", "uniform", "never", "all together", "25 %", "beats"):
        assert word in text


def test_square_brackets_in_names_are_no_markup(document):
    """A name is printed as it is, on any console."""
    assert EVIL in "".join(line.strip() for line in printed(renamed(document, EVIL), 200).splitlines())


def test_a_sentence_is_plain():
    """It names the opponent, the share and the chance level."""
    entry = {
        "against": "pig10/counting",
        "line_up": "lone",
        "win_share": 0.213,
        "win_share_ci": [0.19, 0.24],
        "chance": 0.25,
    }
    assert sentence(entry) == "does not beat pig10/counting: 21.3 % where chance is 25 %; it loses"
    assert sentence(entry | {"win_share": 0.6, "win_share_ci": [0.5, 0.7], "chance": 1 / 3}) == (
        "beats pig10/counting: 60.0 % where chance is 33.3 %"
    )


def test_json_is_the_document(document, tmp_path):
    """What is written is what was measured."""
    write_json(document, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == document


def test_a_report_that_cannot_be_made_says_why(document, tmp_path):
    """A folder that is not there and a document of another kind are refused with a sentence."""
    with pytest.raises(OptionError, match="cannot write"):
        write_json(document, tmp_path / "nowhere" / "out.json")
    with pytest.raises(OptionError, match=r"pigenv.evaluation/1"):
        write_page(tmp_path / "page.html", {"format": "other"}, title="other")
