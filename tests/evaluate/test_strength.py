"""Strength against budget: what the document says, the plot, and that stronger is what a larger budget is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pigenv import registry
from pigenv.cli import app
from pigenv.errors import AgentError, OptionError, UnknownNameError
from pigenv.evaluate.evaluation import evaluate
from pigenv.evaluate.strength import plot, strength, with_budget


def run(*args: object, status: int = 0) -> Any:
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == status, result.output
    return result


def test_document() -> None:
    """Each budget has the figures that `evaluate` gives the search of its name, against the best player by default."""
    game = registry.make("pig10", preset="mini")
    told: list[int] = []
    document = strength(game, (5, 50), deals=4, seed=2, progress=told.append)
    assert document["against"] == "pig10/counting"
    assert document["chance"] == 1 / 2
    for entry, sims in zip(document["results"], (5, 50), strict=True):
        (wanted,) = evaluate(f"search:sims={sims}", game, "pig10/counting", 4, 2)["results"]
        assert entry["sims"] == sims
        assert {key: entry[key] for key in ("win_share", "win_share_ci", "games")} == {
            key: wanted[key] for key in ("win_share", "win_share_ci", "games")
        }
    assert told[-1] == 16
    assert told == sorted(told)
    again = strength(game, (5, 50), deals=4, seed=2)
    assert {k: v for k, v in again.items() if k != "timing"} == {k: v for k, v in document.items() if k != "timing"}


def test_a_larger_budget_is_stronger() -> None:
    """On the mini game two hundred simulations get more from uniform play than two do."""
    game = registry.make("pig10", preset="mini")
    few, many = strength(game, (2, 200), "uniform", "search:playout=uniform", deals=60)["results"]
    assert many["win_share"] > few["win_share"]


def test_names_with_budgets() -> None:
    """The budget goes before the other settings."""
    assert with_budget("search", 7) == "search:sims=7"
    assert with_budget("flat:playout=uniform", 7) == "flat:sims=7;playout=uniform"


def test_wrong_use() -> None:
    """No budget, a budget of nothing, or an agent that takes none is refused."""
    with pytest.raises(OptionError, match="budgets"):
        strength("pig10", ())
    with pytest.raises(OptionError, match="a budget must be an integer"):
        strength("pig10", (0,))
    with pytest.raises(UnknownNameError):
        strength("pig10", (5,), agent="pig10/greedy")
    with pytest.raises(AgentError, match="seconds is given after sims"):
        strength("pig10", (5,), agent="search:20ms")
    with pytest.raises(OptionError, match="must end in"):
        plot({}, Path("plot.txt"))


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_command(tmp_path: Path, suffix: str) -> None:
    """The command prints a table and leaves the plot, and its numbers beside it."""
    pytest.importorskip("matplotlib")
    out = tmp_path / f"strength{suffix}"
    args = ("strength", "pig10", "--preset", "mini", "--budgets", "2,8", "--deals", 2, "--out", out)
    shown = run(*args).stdout
    assert "95 % interval" in shown
    beginning = out.read_bytes()[:300]
    assert (
        beginning.startswith(b"\x89PNG") if suffix == ".png" else b"<svg" in beginning or b"<!DOCTYPE svg" in beginning
    )
    document = json.loads(out.with_suffix(".json").read_text())
    assert [each["sims"] for each in document["results"]] == [2, 8]
    printed = json.loads(run(*args, "--json").stdout)
    assert printed["results"] == document["results"]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("--budgets", "x"), "a budget must be an integer"),
        (("--budgets", ""), "a budget must be an integer"),
        (("--out", "plot.gif"), "--out must be"),
        (("--against", "nobody"), "there is no agent 'nobody'"),
        (("--deals", 0), "deals must be"),
    ],
)
def test_wrong_commands(args: tuple[object, ...], sentence: str) -> None:
    """A wrong option gets one sentence and exit status 2."""
    result = run("strength", "pig10", "--preset", "mini", *args, status=2)
    assert sentence in result.stderr
    assert result.stdout == ""


def test_search_on_the_command_line(tmp_path: Path) -> None:
    """`evaluate` and `record` take searches by name, and a wrong setting gets one sentence."""
    document = json.loads(
        run("evaluate", "search:sims=4", "pig10", "--against", "pig10/counting", "--deals", 2, "--json").stdout
    )
    assert document["results"][0]["illegal"] == 0
    out = tmp_path / "games.jsonl"
    run("record", "pig10", "--agents", "search:sims=4;playout=uniform,uniform", "--games", 2, "--out", out)
    assert json.loads(out.read_text().splitlines()[0])["agents"][0] == "search:sims=4;playout=uniform"
    assert "'sim=4' is no setting" in run("evaluate", "search:sim=4", "pig10", status=2).stderr
