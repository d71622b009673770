"""The commands evaluate, tournament, benchmark and leaderboard."""

from __future__ import annotations

import json

import pytest

from pigenv.evaluate.evaluation import evaluate
from pigenv.evaluate.tournament import tournament
from tests.evaluate.players import PIG10
from tests.evaluate.test_benchmark import FILES
from tests.test_cli import complaint, pigenv_

SOME = ["--deals", 8, "--seed", 3]


@pytest.mark.parametrize("command", ["evaluate", "tournament", "benchmark", "leaderboard"])
def test_every_help_has_an_example(command):
    """`--help` shows how the command is typed."""
    text = pigenv_(command, "--help").stdout
    assert "Example" in text
    assert f"pigenv {command}" in text


def test_evaluate_prints_what_the_library_finds():
    """With `--json` standard output is the document, timing apart, whatever number of processes plays."""
    expected = evaluate("uniform", PIG10, ["pig10/greedy", "uniform"], 8, 3, line_ups=("half", "mixed"))
    for workers in (1, 2):
        options = ["--against", "pig10/greedy,uniform", "--line-ups", "half,mixed", "--workers", workers]
        found = json.loads(pigenv_("evaluate", "uniform", "pig10", *options, *SOME, "--json").stdout)
        assert found.pop("timing")["workers"] == workers
        assert found == {name: value for name, value in expected.items() if name != "timing"}


def test_evaluate_until(tmp_path):
    """`--until` plays until the interval is that narrow; a page comes with its JSON beside it."""
    pytest.importorskip("jinja2")
    page = tmp_path / "page.html"
    options = ["--against", "pig10/greedy", "--until", 2.5, "--out", page]
    text = pigenv_("evaluate", "uniform", "pig10", *options).stdout
    assert f"written to {page}, {tmp_path / 'page.json'}" in text.replace("\n", " ")
    (entry,) = json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))["results"]
    low, high = entry["win_share_ci"]
    assert high - low <= 0.05 + 1e-9
    assert "confidence sequence" in page.read_text(encoding="utf-8")


def test_evaluate_with_exploitability():
    """`--exploitability` adds the exact NashConv, in words and in the document."""
    rules = ["--players", 2, "--rule", "deck_counts=[1,1,1,1,0,0,0,0,0,0,0]", "--rule", "target=3"]
    options = [*rules, "--rule", "hand_size=1", "--against", "uniform", "--exploitability", *SOME]
    assert "exploitability 0" in pigenv_("evaluate", "uniform", "pig10", *options).stdout
    found = json.loads(pigenv_("evaluate", "uniform", "pig10", *options, "--json").stdout)["exploitability"]
    assert found["policy"] == {"uniform": "exact"}
    assert found["nash_conv"] >= 0


def test_evaluate_without_luck():
    """`--reduce` adds what is left when luck with the cards is taken out, in words and in the document."""
    options = ["--against", "pig10/greedy", *SOME, "--reduce"]
    assert (
        "without luck with the cards, against pig10/greedy" in pigenv_("evaluate", "uniform", "pig10", *options).stdout
    )
    found = json.loads(pigenv_("evaluate", "uniform", "pig10", *options, "--json").stdout)["results"][0]
    assert set(found["reduced"]) == {"win_share", "win_share_ci", "saving"}


def test_tournament(tmp_path):
    """The document is the library's; page and JSON are written, sample games with them."""
    pytest.importorskip("openskill")
    page = tmp_path / "t.html"
    agents = ["uniform", "pig10/greedy", "pig10/careful"]
    text = pigenv_("tournament", "pig10", *agents, *SOME, "--out", page).stdout
    assert "Cross-play" in text
    found = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    expected = tournament(agents, PIG10, 8, 3)
    assert found["standings"] == expected["standings"]
    assert found["payoff_matrix"] == expected["payoff_matrix"]
    assert "Recorded games" in page.read_text(encoding="utf-8")


def test_leaderboard(tmp_path):
    """The kept results make a table and a page."""
    text = pigenv_("leaderboard", *FILES, "--out", tmp_path / "l.html").stdout
    assert "pig10/counting" in text
    assert "pig10/counting" in (tmp_path / "l.html").read_text(encoding="utf-8")
    found = json.loads(pigenv_("leaderboard", *FILES, "--json").stdout)
    assert found["games"][0]["rows"][0]["rank"] == 1


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["evaluate", "uniform", "pig10", "--deals", 0], "deals must be an integer, 1 or more; got 0"),
        (["evaluate", "uniform", "pig10", "--deals", 5, "--until", 1], "--deals fixes how much is played"),
        (["evaluate", "uniform", "pig10", "--until", 0], "until must be points of win share above 0"),
        (["evaluate", "uniform", "pig10", "--line-ups", "lonely"], "there is no line-up 'lonely'; did you mean 'lone'"),
        (["evaluate", "uniform", "pig10", "--workers", 0], "Invalid value for '--workers'"),
        (["evaluate", "uniform", "pig10", "--backend", "rai"], "there is no backend 'rai'; did you mean 'ray'"),
        (["evaluate", "uniform", "pig10", "--time-limit", "soon"], "--time-limit must be SECONDS or AGENT=SECONDS"),
        (["evaluate", "uniform", "pig10", "--time-limit", "x=1"], "a time limit is for 'x', which does not play"),
        (["evaluate", "uniform", "pig10", "--time-limit", 0], "a time limit must be seconds above zero"),
        (["evaluate", "uniform", "pig10", "--against", "nobody"], "there is no agent 'nobody'"),
        (["evaluate", "uniform", "pig10", "--out", "no/folder/x.json"], "--out must be a file in a folder that exists"),
        (["evaluate", "uniform", "pig10", "--deals", 1, "--exploitability"], "pig10_v0 has"),
        (["tournament", "pig10"], "Missing argument 'AGENT…'"),
        (["tournament", "pig10", "uniform"], "a tournament needs two agents or more"),
        (["benchmark", "pig11"], "there is no game 'pig11'"),
        (["benchmark", "pig10", "--agents", "nobody"], "there is no agent 'nobody'"),
        (["leaderboard"], "Missing argument 'FILE…'"),
        (["leaderboard", "nowhere.json"], "cannot read 'nowhere.json'"),
    ],
)
def test_wrong_use(args, sentence, tmp_path, monkeypatch):
    """A wrong option, name or file is one clear sentence on standard error and exit status 2."""
    monkeypatch.chdir(tmp_path)
    assert complaint(*args).startswith(sentence)
    assert list(tmp_path.iterdir()) == []
