"""The command line: what it prints, its exit status, and that nothing a person types gives a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import pigenv
from pigenv import records, registry
from pigenv.cli import app
from pigenv.records import read_records, verify_file
from tests.test_records import HAND_MADE, hand_made

NO, WRONG_USE = 1, 2


def pigenv_(*args: object, status: int = 0) -> Any:
    """Run a command in this process; the result has `stdout` and `stderr`."""
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == status, result.output
    return result


def complaint(*args: object, status: int = WRONG_USE) -> str:
    """The one sentence on standard error of a command that fails; nothing may be on standard output."""
    result = pigenv_(*args, status=status)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("pigenv: ")
    return str(line.removeprefix("pigenv: "))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of two records, the first made by hand."""
    path = tmp_path / "games.jsonl"
    (other,) = records.play_games(registry.make("pig10", preset="mini"), ["uniform"], 3, 1)
    path.write_text(f"{json.dumps(HAND_MADE)}\n{other.to_line()}\n", encoding="utf-8")
    return path


def spoiled(file: Path, **changes: Any) -> Path:
    """The same file with its second record made wrong."""
    lines = file.read_text(encoding="utf-8").splitlines()
    path = file.with_name("spoiled.jsonl")
    path.write_text(f"{lines[0]}\n{json.dumps(json.loads(lines[1]) | changes)}\n", encoding="utf-8")
    return path


# --- help, version ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", "list", "info", "record", "replay", "play", "watch"])
def test_every_help_has_an_example(command: str) -> None:
    """`--help` shows how the command is typed."""
    text = pigenv_(*command.split(), "--help").stdout
    assert "Example" in text
    assert f"pigenv {command}" in text


def test_help_without_anything() -> None:
    """`pigenv` alone shows its commands."""
    assert "replay" in pigenv_().stdout


def test_version() -> None:
    """`--version` prints the version."""
    assert pigenv_("--version").stdout == f"pigenv {pigenv.__version__}\n"


def test_help_is_light() -> None:
    """To print its help, the command loads nothing that takes long."""
    heavy = ["numba", "torch", "rich.progress"]
    code = f"import sys, pigenv.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# --- list, info -------------------------------------------------------------------------------------------------------


def test_list_names_everything() -> None:
    """Every game, preset and agent is listed."""
    text = pigenv_("list").stdout
    found = json.loads(pigenv_("list", "--json").stdout)["games"]
    assert [each["game"] for each in found] == registry.names()
    for game in found:
        assert "uniform" in game["agents"]
        for word in (game["id"], game["name"], *game["presets"], *game["agents"]):
            assert word in text


@pytest.mark.parametrize("name", registry.names())
def test_info_tells_everything(name: str) -> None:
    """The rulebook, every option, every action and every part of the observation are told, from the code."""
    text, game = pigenv_("info", name).stdout, registry.make(name)
    found = json.loads(pigenv_("info", name, "--json").stdout)
    assert game.definition.rulebook.strip() in text
    assert found["rulebook"] == game.definition.rulebook
    assert [each["name"] for each in found["options"]] == list(game.rules.to_json())
    assert found["actions"] == list(game.action_texts)
    assert found["observation"]["size"] == game.layout.size
    assert [each["name"] for each in found["observation"]["parts"]] == list(game.layout.slices)
    for word in (*game.rules.to_json(), *game.action_texts, *game.layout.slices, *game.definition.presets):
        assert word in text


def test_info_shows_the_table_described() -> None:
    """Preset, players and rules change what is told; a rule's value is JSON where it parses, else a word."""
    options = ["--preset", "small", "--players", 5, "--rule", "same_rule=off", "--rule", "winner_leads=true"]
    found = json.loads(pigenv_("info", "pig10_v0", *options, "--json").stdout)
    assert (found["here"]["preset"], found["here"]["num_players"]) == ("small", 5)
    rules = found["here"]["rules"]
    assert (rules["same_rule"], rules["winner_leads"], rules["hand_size"]) == ("off", True, 2)
    assert 'same_rule = "off"  (default "both")' in pigenv_("info", "pig10", *options).stdout


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["lst"], "No such command 'lst'"),
        (["--nope"], "No such option"),
        (["info"], "Missing argument 'GAME'"),
        (["info", "pig11"], "there is no game 'pig11'; did you mean 'pig10'?"),
        (["info", "pig10_v7"], "there is no game 'pig10_v7'"),
        (["info", "pig10", "--preset", "smal"], "pig10_v0 has no preset 'smal'; did you mean 'small'?"),
        (["info", "pig10", "--players", "9"], "num_players must be an integer 2 … 8"),
        (["info", "pig10", "--players", "two"], "Invalid value for '--players'"),
        (["info", "pig10", "--rule", "hand_size"], "--rule must be NAME=VALUE, such as hand_size=2; got 'hand_size'"),
        (["info", "pig10", "--rule", "=2"], "--rule must be NAME=VALUE"),
        (["info", "pig10", "--rule", "hand_siz=2"], "unknown rule 'hand_siz'; did you mean 'hand_size'?"),
        (["info", "pig10", "--rule", "hand_size=99"], "rule 'hand_size' must be an integer 1 … 10; got 99"),
        (["info", "pig10", "--rule", "hand_size=NaN"], "rule 'hand_size' must be an integer 1 … 10; got 'NaN'"),
        (["info", "pig10", "--rule", "hand_size=2", "--rule", "hand_size=3"], "rule 'hand_size' is given twice"),
        (["record", "pig10"], "Missing option '--out'"),
        (["record", "pig10", "--out", "x", "--games", "0"], "games must be a whole number of at least 1; got 0"),
        (["record", "pig10", "--out", "x", "--games", "many"], "Invalid value for '--games'"),
        (["record", "pig10", "--out", "x", "--seed", "-1"], "a seed must be an integer in 0 … 2^64-1; got -1"),
        (["record", "pig10", "--out", "x", "--seed", str(2**64)], "a seed must be an integer in 0 … 2^64-1"),
        (["record", "pig10", "--out", "x", "--seed", "1.5"], "Invalid value for '--seed'"),
        (["record", "pig10", "--out", "x", "--agents", "unifrm"], "there is no agent 'unifrm'; did you mean 'uniform'"),
        (["record", "pig10", "--out", "x", "--agents", "uniform,,uniform"], "agents must be names with commas"),
        (["record", "pig10", "--out", "x", "--agents", ",".join(["uniform"] * 5)], "there are 4 seats for 5 agents"),
        (["record", "pig10", "--out", "x", "--reward", "money"], "unknown reward 'money'"),
        (["record", "pig10", "--out", "/"], "cannot write '/': Is a directory"),
        (
            ["record", "pig10", "--out", "no/such/folder/x"],
            "cannot write 'no/such/folder/x': No such file or directory",
        ),
        (["replay"], "Missing argument 'FILE'"),
        (["replay", "no-such-file"], "cannot read 'no-such-file': No such file or directory"),
        (["replay", "no-such-file", "--verify"], "cannot read 'no-such-file': No such file or directory"),
        (["replay", "/", "--verify"], "cannot read '/': Is a directory"),
        (["replay", "x", "--line", "0"], "Invalid value for '--line'"),
        (["replay", "x", "--verify", "--line", "1"], "--verify checks the whole file"),
    ],
)
def test_wrong_use(args: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong option, file or name is one clear sentence on standard error and exit status 2."""
    monkeypatch.chdir(tmp_path)
    assert complaint(*args).startswith(sentence)
    assert list(tmp_path.iterdir()) == []


# --- record, replay ---------------------------------------------------------------------------------------------------


def test_record_writes_games(tmp_path: Path) -> None:
    """Games are written with the agents, seed and rules asked for, and are what the library plays."""
    out = tmp_path / "games.jsonl"
    options = ["--preset", "small", "--rule", "hand_size=3", "--seed", 9, "--games", 3, "--reward", "rank", "--legal"]
    text = pigenv_("record", "pig10", "--agents", "uniform", *options, "--out", out).stdout
    assert text == f"3 games of Pig 10 written to {out}\n"
    game = registry.make("pig10", preset="small", rules={"hand_size": 3}, reward="rank")
    assert list(read_records(out)) == list(records.play_games(game, ["uniform"], 9, 3, legal=True))
    assert verify_file(out)[0] == 3


def test_record_json(tmp_path: Path) -> None:
    """With `--json` standard output is one document."""
    out = tmp_path / "games.jsonl"
    found = json.loads(pigenv_("record", "pig10", "--preset", "mini", "--out", out, "--json").stdout)
    assert found == {"game": "pig10_v0", "seed": 0, "first_episode": 0, "games": 1, "out": str(out)}


def test_replay_calls_out_the_values(file: Path) -> None:
    """A game is shown step by step, with what is called out, the cards, the names and the scores."""
    text = pigenv_("replay", file).stdout
    assert "Grace [of]" in text
    assert '   2  seat 0  7=  "seven"\n' in text
    assert '   4  seat 0  8   "PIG 10"\n' in text
    assert "> seat 0     0 points  hand 4 8" in text
    assert "terminated; scores 5, 0; returns 1, -1" in text
    assert "Line 2: Pig 10, 2 players, seed 3, episode 0" in text
    assert max(map(len, text.splitlines())) <= 80


def test_replay_one_line_with_tables(file: Path) -> None:
    """`--line` shows that game only; `--table` draws the table after every step."""
    text = pigenv_("replay", file, "--line", 1, "--table").stdout
    assert "Line 2" not in text
    assert "  pile    4 3 7 5  (value 2)" in text
    assert complaint("replay", file, "--line", 3) == f"--line must be a line of {file}, which has 2; got 3"


def test_replay_json(file: Path) -> None:
    """With `--json` the games are one document, with what is called out in each step."""
    found = json.loads(pigenv_("replay", file, "--json").stdout)
    assert [each["line"] for each in found["games"]] == [1, 2]
    first = found["games"][0]
    assert [each["called"] for each in first["steps"]] == ["four", "seven", "seven", "two", "PIG 10"]
    assert first["scores"] == [5, 0]


def test_verify(file: Path) -> None:
    """`--verify` says how much was checked, or names the first fault and exits with 1."""
    good = pigenv_("replay", file, "--verify").stdout
    steps = verify_file(file)[1]
    assert good == f"{file}: 2 records and {steps} steps verified\n"
    wrong = spoiled(file, scores=[9, 9])
    fault = complaint("replay", wrong, "--verify", status=NO)
    assert fault.startswith(f"{wrong}, line 2: scores must be")
    found = json.loads(pigenv_("replay", file, "--verify", "--json").stdout)
    assert found == {"file": str(file), "verified": True, "records": 2, "steps": steps, "fault": None}
    found = json.loads(pigenv_("replay", wrong, "--verify", "--json", status=NO).stdout)
    assert (found["verified"], found["fault"]) == (False, fault)


def test_broken_records_are_no_traceback(file: Path) -> None:
    """A file that is not one of records is wrong use to a replay and a fault to `--verify`."""
    file.write_bytes(b"\x7fELF\xff\n")
    assert "line 1: not UTF-8" in complaint("replay", file)
    assert "line 1: not UTF-8" in complaint("replay", file, "--verify", status=NO)
    file.write_bytes(b"")
    assert (
        complaint("replay", file, "--verify", status=NO) == f"{file} is empty; a file of records has one on each line"
    )
    wrong = hand_made()
    wrong["rounds"][0]["steps"][3]["action"] = "10"
    file.write_text(json.dumps(wrong), encoding="utf-8")
    result = pigenv_("replay", file, status=WRONG_USE)
    assert f"{file}, line 1: round 0, step 3: seat 1 must play one of '5', '5-'; got \"10\"" in result.stderr


def test_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a command with status 130 and leaves no file."""

    def interrupted(*args: object, **options: object) -> Any:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(records, "play_games", interrupted)
    assert complaint("record", "pig10", "--out", tmp_path / "x", status=130) == "interrupted"
    assert list(tmp_path.iterdir()) == []


def test_closed_pipe(file: Path) -> None:
    """Whoever reads only the beginning of the output gets it, and no traceback."""
    file.write_text(f"{json.dumps(HAND_MADE)}\n" * 300, encoding="utf-8")
    command = [sys.executable, "-m", "pigenv.cli", "replay", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline().startswith(b"Line 1: Pig 10")
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 141
