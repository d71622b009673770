"""The game in the terminal, played through a pseudo-terminal as a person would."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pigenv.records import read_records, verify

pexpect = pytest.importorskip("pexpect")

PROMPT = "your move> "
COMMAND = ["-m", "pigenv.cli", "play", "pig10", "--preset", "mini", "--text", "--seed", "3", "--seat", "0"]


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, *more: str, columns: int = 80) -> None:
        self.child = pexpect.spawn(
            sys.executable, [*COMMAND, *more], dimensions=(40, columns), encoding="utf-8", timeout=120
        )
        self.shown = ""

    def prompt(self) -> bool:
        """Wait until it asks, or ends; returns whether it asks."""
        asked = self.child.expect_exact([PROMPT, pexpect.EOF]) == 0
        self.shown = self.child.before
        return asked

    def moves(self) -> list[str]:
        """The moves offered: what stands in the first column under "type"."""
        table = re.split(r"type +move +called", self.shown)[-1]
        return [line.split()[0] for line in table.splitlines() if re.match(r" *\S+ +(Play|Subtract|Make)", line)]

    def status(self) -> int:
        self.child.expect_exact(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -self.child.signalstatus


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.child.close(force=True)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_whole_game(tmp_path: Path, columns: int) -> None:
    """Typing an offered move each time plays to the end, in a terminal of any width; the record verifies."""
    out = tmp_path / "game.jsonl"
    terminal = Terminal("--out", str(out), columns=columns)
    typed = []
    while terminal.prompt():
        typed.append(terminal.moves()[-1])
        terminal.child.sendline(typed[-1])
    assert terminal.status() == 0
    assert "The end" in terminal.shown
    assert "the game is over" in terminal.shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", terminal.shown.partition("record written")[0])
    assert max(map(len, plain.splitlines())) <= columns
    (record,) = read_records(out)
    verify(record)
    own = [step["action"] for step in record.rounds[0]["steps"] if step["seat"] == 0]
    assert own == typed
    assert record.agents[0] == "person"


def test_hints_table_and_taking_back(terminal: Terminal) -> None:
    """`h` ranks the offered moves, `t` shows the table again, `u` leads back to the last own move."""
    assert terminal.prompt()
    first, moves = terminal.shown, terminal.moves()
    terminal.child.sendline("h")
    assert terminal.prompt()
    ranked = re.findall(r"([\d.]+)% +(\S+)", terminal.shown)
    assert {action for _, action in ranked} == set(moves)
    assert sum(float(share) for share, _ in ranked) == pytest.approx(100, abs=0.5)
    terminal.child.sendline("t")
    assert terminal.prompt()
    assert terminal.moves() == moves
    terminal.child.sendline(moves[0])
    assert terminal.prompt()
    terminal.child.sendline("u")
    assert terminal.prompt()
    assert terminal.moves() == moves
    assert "hand" in first


def test_slips_of_the_keyboard(terminal: Terminal) -> None:
    """What is no move is answered with the moves there are, and asked again; nothing typed gives a traceback."""
    assert terminal.prompt()
    for typed in ("99", "hello", "-", "[bold]", "4 4", "u", "é漢"):
        terminal.child.sendline(typed)
        assert terminal.prompt()
        assert "Traceback" not in terminal.shown
        assert "legal: " in terminal.shown or "no move of yours" in terminal.shown
    terminal.child.sendline("q")
    assert terminal.status() == 0


def test_the_input_ends(terminal: Terminal) -> None:
    """Ctrl-D ends the game quietly."""
    assert terminal.prompt()
    terminal.child.sendeof()
    assert terminal.status() == 0


def test_ctrl_c(terminal: Terminal) -> None:
    """Ctrl-C ends it with status 130 and no traceback."""
    assert terminal.prompt()
    terminal.child.sendintr()
    terminal.child.expect_exact("interrupted")
    assert terminal.status() == 130


def test_only_the_seats_view_is_printed(terminal: Terminal) -> None:
    """The opponent's hand is never printed: its cards lie face down."""
    assert terminal.prompt()
    hands = [line for line in terminal.shown.splitlines() if "hand" in line]
    assert "▮ ▮" in hands[1]
    assert "▮" not in hands[0]
