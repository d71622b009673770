"""The mutations that are planted in the rules are what they say, and a test run notices one."""

from __future__ import annotations

import ast
import sys

import pytest

from tests import mutate

SOURCE = '''
from pigenv.kernel import kernel

LIMIT = 3


@kernel
def step(state, rules, action):
    """Adds 1."""
    if state["turn"] + 1 >= rules["max_turns"] and action != 0:
        raise_score(state)


@kernel
def raise_score(state):
    state["score"] += 2


@kernel
def observe(view, rules, seat, out):
    return 7


def helper():
    return 8
'''


def test_mutations_of_a_source() -> None:
    """Each operator and each whole number of the kernels that play is changed once, and nothing else."""
    found = mutate.mutations_of("toy", SOURCE)
    assert [(each.function, each.old, each.new) for each in found] == [
        ("step", "+", "-"),
        ("step", "1", "2"),
        ("step", ">=", ">"),
        ("step", "and", "or"),
        ("step", "!=", "=="),
        ("step", "0", "1"),
        ("raise_score", "+", "-"),
        ("raise_score", "2", "3"),
    ]
    for each in found:
        changed = each.applied(SOURCE)
        line = changed.splitlines()[each.line - 1]
        assert line != SOURCE.splitlines()[each.line - 1]
        assert changed.splitlines()[: each.line - 1] == SOURCE.splitlines()[: each.line - 1]


def test_planted_mutations() -> None:
    """Forty are planted, the same each time, in every game, all different, and each leaves a file that parses."""
    found = mutate.planted()
    assert found == mutate.planted()
    assert len(found) == len(set(found)) == mutate.COUNT
    folder = mutate.ROOT / "pigenv" / "games"
    games = {path.stem for path in folder.glob("[!_]*.py")}
    assert {each.game for each in found} == games
    for each in found:
        source = (folder / f"{each.game}.py").read_text(encoding="utf-8")
        assert ast.dump(ast.parse(each.applied(source))) != ast.dump(ast.parse(source))


SCRIPT = """
from pigenv import registry
from pigenv.table import Table
table = Table(registry.make("pig10", 2, rules={"deck_counts": [0] * 5 + [4] + [0] * 5, "hand_size": 2}))
table.start(0)
table.step(table.game.action_number("5"))
assert [table.game.action_texts[each] for each in table.legal_actions()] == ["5", "5-", "5="]
table.step(table.game.action_number("5"))
assert table.scores().max() == 2
"""


@pytest.mark.parametrize(("function", "seen"), [("resolve_pile", True), ("clear_middle", False)])
def test_a_mutation_is_noticed(function: str, seen: bool) -> None:
    """What a script would notice it does in the copy; what it does not play, it does not notice."""
    source = (mutate.ROOT / "pigenv" / "games" / "pig10.py").read_text(encoding="utf-8")
    mutation = next(each for each in mutate.mutations_of("pig10", source) if each.function == function)
    assert mutate.noticed(mutation, [sys.executable, "-c", SCRIPT]) == seen
