"""The commands `play`, `watch` and `replay --picture`: what they refuse, write and serve."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pigenv import registry
from pigenv.records import play_games, write_records
from tests.test_cli import complaint, pigenv_

httpx = pytest.importorskip("httpx")
pytest.importorskip("starlette")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of two games."""
    path = tmp_path / "games.jsonl"
    write_records(path, play_games(registry.make("pig10", 3), ["uniform", "pig10/careful"], 1, 2))
    return path


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["pig11"], "there is no game 'pig11'"),
        (["pig10", "--agents", "pig10/nobody"], "there is no agent 'pig10/nobody'"),
        (["pig10", "--agents", "uniform,uniform,uniform,uniform"], "3 seats beside yours for 4 agents"),
        (["pig10", "--seat", "4"], "--seat must be 0 … 3; got 4"),
        (["pig10", "--seed", "-1"], "a seed must be an integer in 0 … 2^64-1"),
        (["pig10", "--rule", "hand_size=99"], "rule 'hand_size' must be"),
        (["pig10", "--out", "x.jsonl"], "--out goes with --text"),
        (["pig10", "--host", "203.0.113.9"], "cannot serve at 203.0.113.9"),
        (["pig10", "--host", "no such host"], "cannot serve at no such host"),
        (["pig10", "--keep", "pyproject.toml/x"], "cannot keep games in"),
        (["pig10", "--port", "70000"], "Invalid value for '--port'"),
    ],
)
def test_play_that_cannot_be(args: list[str], sentence: str) -> None:
    """What is wrong with the command is said in one sentence, before anything is served."""
    assert sentence in complaint("play", *args, "--no-browser")


def test_watch_that_cannot_be(file: Path, tmp_path: Path) -> None:
    """A file that cannot be shown, or that does not verify, is refused with file and line."""
    assert "cannot read" in complaint("watch", tmp_path / "none.jsonl")
    assert "there is no agent" in complaint("watch", file, "--agent", "pig10/nobody")
    assert "--line goes with --export" in complaint("watch", file, "--line", 1)
    assert "lines 1 … 2; got 3" in complaint("watch", file, "--line", 3, "--export", tmp_path / "x.html")
    assert "cannot write" in complaint("watch", file, "--export", tmp_path / "none" / "x.html")
    file.write_text(file.read_text(encoding="utf-8").replace('"outcome": "terminated"', '"outcome": "truncated"'))
    assert f"{file}, line 1: outcome must be" in complaint("watch", file)


def test_watch_exports(file: Path, tmp_path: Path) -> None:
    """`--export` writes one game as a page, with the ranking of the agent asked for."""
    page = tmp_path / "game.html"
    assert "line 2" in pigenv_("watch", file, "--line", 2, "--export", page, "--agent", "pig10/greedy").stdout
    text = page.read_text(encoding="utf-8")
    assert '"agent": "pig10/greedy"' in text
    assert '"line": 2' in text


@pytest.mark.parametrize(("command", "mode"), [(["play", "pig10", "--seat", "1"], "play"), (["watch"], "watch")])
def test_served_until_interrupted(file: Path, tmp_path: Path, command: list[str], mode: str) -> None:
    """The page's address is printed first; Ctrl-C ends it with status 0 and nothing on standard error."""
    more = [str(file)] if mode == "watch" else []
    whole = [
        sys.executable,
        "-m",
        "pigenv.cli",
        *command,
        *more,
        "--no-browser",
        "--port",
        "0",
        "--keep",
        str(tmp_path),
    ]
    with subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        found = httpx.get(running.stdout.readline().strip() + "api/setup", timeout=60).json()
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 0
        assert running.stderr.read() == ""
    assert found["mode"] == mode
    if mode == "play":
        assert found["start"]["seat"] == 1
        assert found["start"]["agents"] == ["pig10/trained"]


def test_pictures_of_a_record(file: Path, tmp_path: Path) -> None:
    """`replay --picture` draws any position from any seat, as SVG or PNG."""
    shown = {}
    for name, more in {
        "end": [],
        "start": ["--step", 0],
        "seat": ["--step", 0, "--seat", 1],
        "second": ["--line", 2],
    }.items():
        path = tmp_path / f"{name}.svg"
        pigenv_("replay", file, "--picture", path, *more)
        shown[name] = path.read_text(encoding="utf-8")
        assert ElementTree.fromstring(shown[name]).get("width") == "800"
    assert len(set(shown.values())) == 4
    assert "the game is over" in shown["end"]
    pytest.importorskip("PIL")
    pigenv_("replay", file, "--picture", tmp_path / "end.png")
    assert (tmp_path / "end.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_that_cannot_be(file: Path, tmp_path: Path) -> None:
    """A wrong step, seat, line or kind of file is said."""
    picture = tmp_path / "x.svg"
    assert "--step must be 0 … 80; got 81" in complaint("replay", file, "--picture", picture, "--step", 81)
    assert "--seat must be 0 … 2; got 3" in complaint("replay", file, "--picture", picture, "--seat", 3)
    assert "--line must be a line" in complaint("replay", file, "--picture", picture, "--line", 9)
    assert ".svg or .png" in complaint("replay", file, "--picture", tmp_path / "x.gif")
    assert "go with --picture" in complaint("replay", file, "--step", 1)
    assert "cannot read or write" in complaint("replay", file, "--picture", tmp_path / "none" / "x.svg")
