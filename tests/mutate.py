"""Mutations planted in the rules, and which of them the tests notice: `python -m tests.mutate`.

A mutation changes one operator or one constant in one kernel of a game file: `<` becomes `<=`, `+` becomes `-`, `and`
becomes `or`, 1 becomes 2. Only kernels that `legal`, `deal`, `step` and `scores` reach are changed: what a seat knows
and observes has tests of another kind. The list is made from the syntax tree, so it is the same each time.

Each mutation is tried in a copy of the project, whose rules tests run uncompiled and stop at the first failure. A test
run that takes too long counts as noticed: a game that does not end is a failure too.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).resolve().parent.parent
COPIED: Final = ("pigenv", "agents", "train", "evaluate", "configs", "tests", "examples", "pyproject.toml", "Makefile")
STARTS: Final = ("deal", "legal", "step", "scores")
COUNT: Final = 40
Place: TypeAlias = Callable[[int | None, int | None], int]
"""Where a line and column of the syntax tree are in the file's text."""
WANTED: Final = 0.95  # share that the tests must notice
SECONDS: Final = 900

_OPERATORS: Final[dict[type[ast.AST], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}


@dataclass(frozen=True)
class Mutation:
    """One change of one game file.

    Attributes:
        game: The file's name without suffix.
        function: The kernel it is in.
        line: Its line, from 1.
        start, stop: The characters of the file that are replaced.
        old, new: By what.
    """

    game: str
    function: str
    line: int
    start: int
    stop: int
    old: str
    new: str

    def applied(self, source: str) -> str:
        """The file with the mutation in it."""
        assert source[self.start : self.stop] == self.old
        return source[: self.start] + self.new + source[self.stop :]

    def __str__(self) -> str:
        return f"{self.game}.py:{self.line} {self.function}: {self.old} -> {self.new}"


# --- which there are --------------------------------------------------------------------------------------------------


def mutations_of(game: str, source: str) -> list[Mutation]:
    """Every mutation of a game file, in the order of its text."""
    tree = ast.parse(source)
    kernels = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any(ast.unparse(each) == "kernel" for each in node.decorator_list)
    }
    # Positions of the syntax tree are bytes within a line; the file is read as text.
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def at(line: int | None, column: int | None) -> int:
        assert line is not None
        assert column is not None
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    found = []
    for name in _reached(kernels):
        for node in ast.walk(kernels[name]):
            for first, last, old, new in _changes(node, source, at):
                line = source.count("\n", 0, first) + 1
                found.append(Mutation(game, name, line, first, last, old, new))
    return sorted(found, key=lambda each: (each.start, each.new))


def _reached(kernels: dict[str, ast.FunctionDef]) -> list[str]:
    """The kernels that play the game: those at the start and all that they call."""
    found: list[str] = []
    waiting = [name for name in STARTS if name in kernels]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.append(name)
            called = {ast.unparse(node.func) for node in ast.walk(kernels[name]) if isinstance(node, ast.Call)}
            waiting += sorted(called & kernels.keys())
    return found


def _changes(node: ast.AST, source: str, at: Place) -> Iterator[tuple[int, int, str, str]]:
    """The changes of one node: from, to, what stands there, what is to."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        first, last = at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)
        yield first, last, source[first:last], str(node.value + 1)
        return
    gaps: list[tuple[ast.expr, ast.AST, ast.expr]] = []
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        gaps = list(zip(sides, node.ops, sides[1:], strict=False))
    elif isinstance(node, ast.BinOp):
        gaps = [(node.left, node.op, node.right)]
    elif isinstance(node, ast.BoolOp):
        gaps = [(left, node.op, right) for left, right in zip(node.values, node.values[1:], strict=False)]
    elif isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        gaps = [(node.target, node.op, node.value)]
    for left, operator, right in gaps:
        if type(operator) not in _OPERATORS:
            continue
        old, new = _OPERATORS[type(operator)]
        first = at(left.end_lineno, left.end_col_offset)
        gap = source[first : at(right.lineno, right.col_offset)]
        place = re.search(rf"(?<![<>=!\w]){re.escape(old)}", gap)
        assert place is not None, (ast.unparse(node), gap)
        yield first + place.start(), first + place.end(), old, new


def planted(count: int = COUNT, games: Sequence[str] | None = None) -> list[Mutation]:
    """So many mutations, as many of each game, drawn evenly over its file; the same each time."""
    folder = ROOT / "pigenv" / "games"
    names = sorted(path.stem for path in folder.glob("[!_]*.py")) if games is None else list(games)
    found = []
    for place, name in enumerate(names):
        possible = mutations_of(name, (folder / f"{name}.py").read_text(encoding="utf-8"))
        share = (place + 1) * count // len(names) - place * count // len(names)
        chosen = random.Random(name).sample(possible, min(share, len(possible)))
        found += sorted(chosen, key=lambda each: each.start)
    return found


# --- trying them ------------------------------------------------------------------------------------------------------


def rules_tests(game: str) -> list[str]:
    """The command that must notice a mutation of a game."""
    return [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"tests/games/test_{game}.py"]


def copied(target: Path) -> Path:
    """A copy of the project's code and tests in a folder, which is made where it is missing."""
    target.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy(source, target / name)
    return target


def noticed(mutation: Mutation, command: Sequence[str] | None = None, seconds: float = SECONDS) -> bool:
    """Whether a command, by default the rules tests of the game, fails in a copy with the mutation in it."""
    with tempfile.TemporaryDirectory() as folder:
        root = copied(Path(folder).resolve())
        path = root / "pigenv" / "games" / f"{mutation.game}.py"
        path.write_text(mutation.applied(path.read_text(encoding="utf-8")), encoding="utf-8")
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                command or rules_tests(mutation.game), cwd=root, env=environment, capture_output=True, timeout=seconds,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant mutations as the command line says; 1 where too many go unnoticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description="Mutations planted in the rules.")
    parser.add_argument("--count", type=int, default=COUNT, help="how many, over all games")
    parser.add_argument("--game", action="append", help="only this one; repeatable")
    parser.add_argument("--list", action="store_true", help="only say which")
    parser.add_argument("--workers", type=int, default=2, help="test runs at a time")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a test run may take")
    options = parser.parse_args(arguments)
    console = Console(highlight=False, markup=False)
    found = planted(options.count, options.game)
    if options.list:
        for each in found:
            console.print(str(each), soft_wrap=True)
        return 0
    # On the code as it is every test must pass, or nothing below means anything.
    for game in sorted({each.game for each in found}):
        same = Mutation(game, "", 0, 0, 0, "", "")
        if noticed(same, seconds=options.seconds):
            console.print(f"the rules tests of {game} fail on the game as it is, or take too long")
            return 2
    table = Table("mutation", "noticed")
    kept = 0
    with ThreadPoolExecutor(max(1, options.workers)) as pool:
        tried = pool.map(lambda each: (each, noticed(each, seconds=options.seconds)), found)
        for mutation, by_tests in tried:
            kept += by_tests
            table.add_row(str(mutation), "yes" if by_tests else "NO")
            console.print(f"{mutation}: {'noticed' if by_tests else 'NOT NOTICED'}", soft_wrap=True)
    console.print(table)
    share = kept / max(1, len(found))
    console.print(f"{kept} of {len(found)} noticed ({share:.0%}); {WANTED:.0%} wanted")
    return int(share < WANTED)


if __name__ == "__main__":
    sys.exit(main())
