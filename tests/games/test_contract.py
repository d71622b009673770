"""Every game keeps the contract, and the checks of the contract find what is broken."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pigenv import registry, testing
from pigenv.game import Definition, Game
from pigenv.games import pig10
from pigenv.games.pig10 import DEFINITION, MAX_CARDS, MAX_HAND, UNKNOWN
from pigenv.kernel import Row, kernel
from pigenv.layout import Layout, Part
from tests.strategies import every_table, pig10_rules, pig_pile_rules, pigs_tail_rules

TABLES = every_table()


@pytest.mark.parametrize("table", TABLES, ids=[f"{t['game']}-{t['preset']}-{t['num_players']}" for t in TABLES])
def test_contract(table: dict[str, Any]) -> None:
    """Every game in every preset and at every number of players keeps the contract, however it is observed."""
    most = registry.definition(table["game"]).seats(registry.make(**table).rules)[1]
    for memory, max_players in [(True, None), (False, None), (True, most), (False, table["num_players"])]:
        testing.check_game(registry.make(**table, memory=memory, max_players=max_players), games=2, seed=len(TABLES))


LARGEST = {(table["game"], table["preset"]): table for table in TABLES}  # of each preset: they come by size


@pytest.mark.rules
@pytest.mark.parametrize("table", LARGEST.values(), ids=lambda table: f"{table['game']}-{table['preset']}")
def test_largest_tables(table: dict[str, Any]) -> None:
    """At its largest table every preset is played and observed for some turns, uncompiled too: no integer runs over."""
    game = registry.make(**table, rules={"max_turns": 20}, max_players=table["num_players"])
    testing.check_observation(game, games=1)


@pytest.mark.parametrize("table", [t for t in TABLES if t["num_players"] == 4], ids=lambda t: t["preset"])
def test_no_leaks(table: dict[str, Any]) -> None:
    """Nothing that a seat is given depends on what it may not know, in many games."""
    testing.leak_check(registry.make(**table), games=15, seed=3)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(
    ("base", "draw"), [("pig10", pig10_rules), ("pigs_tail", pigs_tail_rules), ("pig_pile", pig_pile_rules)]
)
def test_contract_under_random_rules(
    base: str, draw: Callable[[random.Random, int], dict[str, Any]], number: int
) -> None:
    """Options that no preset has, such as jokers that ask and matches of several rounds, keep the contract too."""
    generator = random.Random(number)
    num_players = generator.randint(3, 6)
    rules, most = draw(generator, num_players), 6 if number % 2 else None
    if base == "pig_pile":
        # Matches of many rounds take minutes; what a second round brings is there in a short one.
        rules |= {"rounds": 1 + number % 2, "max_turns": min(rules["max_turns"], 60)}
    game = registry.make(base, num_players, rules=rules, memory=number % 3 > 0, max_players=most)
    testing.check_game(game, games=3, seed=number)


def test_fourth_game(toy: str) -> None:
    """A game from another package is found by its entry point, and keeps the contract too."""
    assert "odd_dice" in registry.names()
    for preset in ("standard", "single"):
        for num_players in (2, 4):
            testing.check_game(registry.make(toy, num_players, preset), games=4)


def test_every_check_is_listed() -> None:
    """No check of the module is forgotten in the list that `check_game` goes through."""
    named = {value for name, value in vars(testing).items() if name.startswith("check_") and name != "check_game"}
    assert named <= set(testing.CHECKS)


# --- planted faults ---------------------------------------------------------------------------------------------------


@kernel
def hide_but_one_hand(view: Row, rules: Row, seat: int) -> None:
    """Leaves the next seat's hand open."""
    for place in range(MAX_CARDS):
        view["pack"][place] = UNKNOWN
    for other in range(rules["num_players"]):
        if seat >= 0 and other != seat and other != (seat + 1) % rules["num_players"]:
            for place in range(MAX_HAND):
                view["hand"][other, place] = UNKNOWN


@kernel
def hide_but_the_next_card(view: Row, rules: Row, seat: int) -> None:
    """Leaves the top card of the stock."""
    held = view["pack"][view["dealt"]]
    pig10.hide(view, rules, seat)
    view["pack"][view["dealt"]] = held


@kernel
def hide_by_counting(view: Row, rules: Row, seat: int) -> None:
    """Leaves a trace of how often it was called."""
    pig10.hide(view, rules, seat)
    view["turn"] += 1


@kernel
def hide_also_own(view: Row, rules: Row, seat: int) -> None:
    """Wipes the seat's own hand as well."""
    pig10.hide(view, rules, seat)
    for place in range(MAX_HAND):
        view["hand"][seat, place] = UNKNOWN


@kernel
def legal_counts_wrong(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Counts equal cards twice."""
    pig10.legal(state, rules, mask)
    return state["hand_size"][state["seat"]] + 1


@kernel
def legal_never(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Allows nothing late in the game."""
    count = pig10.legal(state, rules, mask)
    if state["turn"] > 20:
        for action in range(len(mask)):
            mask[action] = 0
        count = 0
    return count


@kernel
def legal_by_the_stock(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Looks at a card that nobody knows."""
    count = pig10.legal(state, rules, mask)
    if state["pack"][state["dealt"]] == 0 and count > 1:
        for action in range(len(mask)):
            if mask[action] == 1:
                mask[action] = 0
                return count - 1
    return count


@kernel
def legal_changes(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Writes to the state."""
    state["turn"] += 1
    return pig10.legal(state, rules, mask)


@kernel
def step_for_ever(state: Row, rules: Row, action: int) -> None:
    """Overlooks the limit of turns."""
    pig10.step(state, rules, action)
    if state["over"] == 2:
        state["over"] = 0


@kernel
def step_off_the_table(state: Row, rules: Row, action: int) -> None:
    """Lets a seat move that is not there."""
    pig10.step(state, rules, action)
    if state["turn"] > 5:
        state["seat"] = rules["num_players"]


@kernel
def determinize_and_turn(view: Row, rules: Row, key: np.uint64) -> None:
    """Changes what everybody sees."""
    pig10.determinize(view, rules, key)
    view["taken"][0] += 1


@kernel
def determinize_own_too(view: Row, rules: Row, key: np.uint64) -> None:
    """Turns the mover's own cards into frogs."""
    pig10.determinize(view, rules, key)
    view["hand"][view["seat"], 0] = 0


@kernel
def observe_too_much(view: Row, rules: Row, seat: int, out: np.ndarray) -> int:
    """Goes beyond 1."""
    written = pig10.observe(view, rules, seat, out)
    out[0] = 1.5
    return written


@kernel
def observe_too_little(view: Row, rules: Row, seat: int, out: np.ndarray) -> int:
    """Stops before the end."""
    return pig10.observe(view, rules, seat, out) - 1


@kernel
def observe_with_a_hole(view: Row, rules: Row, seat: int, out: np.ndarray) -> int:
    """Leaves a number as it was before."""
    held = out[3]
    written = pig10.observe(view, rules, seat, out)
    out[3] = held
    return written


@kernel
def deal_always_alike(state: Row, rules: Row) -> None:
    """Ignores the key."""
    state["key"] = 0
    pig10.deal(state, rules)


def write_other_deal(state: Row, rules: Row, given: Any) -> None:
    """Lets another seat begin."""
    pig10.write_deal(state, rules, given)
    state["seat"] = (state["seat"] + 1) % rules["num_players"]


def texts_twice(rules: Any, max_players: int) -> list[str]:
    """Gives two actions one text."""
    texts = pig10.action_texts(rules, max_players)
    return [*texts[:-1], texts[0]]


def layout_twice(rules: Any, seating: Any) -> Layout:
    """Gives two parts one name."""
    parts = pig10.layout(rules, seating).parts
    return Layout((*parts[:-1], Part("hand", parts[-1].size, "again")))


NUMBERS = itertools.count()


def layout_by_chance(rules: Any, seating: Any) -> Layout:
    """Is another one each time."""
    parts = pig10.layout(rules, seating).parts
    return Layout((Part(f"hand{next(NUMBERS)}", parts[0].size, "own cards"), *parts[1:]))


def scene_of_another(view: Row, rules: Row, looking: int) -> Any:
    """Shows one player too few."""
    return dataclasses.replace(pig10.scene(view, rules, looking), num_players=int(rules["num_players"]) - 1)


FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("leaky_hand", {"hide": hide_but_one_hand}, "leaks what is hidden"),
    ("leaky_stock", {"hide": hide_but_the_next_card}, "another view|leaks what is hidden"),
    ("counting_hide", {"hide": hide_by_counting}, "hide is not idempotent"),
    ("blind_hide", {"hide": hide_also_own}, "other actions"),
    ("wrong_count", {"legal": legal_counts_wrong}, "legal returned"),
    ("no_action", {"legal": legal_never}, "must have a legal action"),
    ("peeping_mask", {"legal": legal_by_the_stock}, "legal reads what the seat to move does not know"),
    ("writing_mask", {"legal": legal_changes}, "legal changes the state|max_turns"),
    ("endless", {"step": step_for_ever}, "max_turns is 30"),
    ("no_seat", {"step": step_off_the_table}, "seat"),
    ("open_world", {"determinize": determinize_and_turn}, "another view"),
    ("own_world", {"determinize": determinize_own_too}, "another view"),
    ("large_number", {"observe": observe_too_much}, r"outside 0 … 1 in hand"),
    ("short", {"observe": observe_too_little}, "observe returned"),
    ("hole", {"observe": observe_with_a_hole}, "left hand unwritten"),
    ("alike", {"deal": deal_always_alike}, "dealt alike|leaks|differs"),
    ("other_deal", {"write_deal": write_other_deal}, "leaks what is hidden|laid out again differs"),
    ("two_texts", {"actions": texts_twice}, "have the same text '0'"),
    ("two_names", {"layout": layout_twice}, "have one name"),
    ("unstable", {"layout": layout_by_chance}, "digest"),
    ("bad_scene", {"scene": scene_of_another}, "players"),
]


def broken(name: str, changes: dict[str, Any]) -> Game:
    """Pig 10 with a fault, under a name of its own, as compiled loops are cached by it."""
    definition: Definition = dataclasses.replace(DEFINITION, id=f"{name}_v0", **changes)
    return Game(definition, num_players=3, rules={"max_turns": 30})


@pytest.mark.parametrize(("name", "changes", "sentence"), FAULTS, ids=[name for name, _, _ in FAULTS])
def test_fault_is_found(name: str, changes: dict[str, Any], sentence: str) -> None:
    """A game with a planted fault is refused, with a sentence that says what is wrong."""
    with pytest.raises(AssertionError, match=sentence):
        testing.check_game(broken(name, changes), games=6)


@pytest.mark.parametrize("name", ["leaky_hand", "leaky_stock"])
def test_leak_check_alone_finds_leaks(name: str) -> None:
    """The leak check finds a leak by itself."""
    changes = next(changes for each, changes, _ in FAULTS if each == name)
    with pytest.raises(AssertionError, match="leaks"):
        testing.leak_check(broken(name, changes), games=3)


def test_sound_copy_passes() -> None:
    """The same game under another name, with no fault, passes: what is found above is the fault."""
    testing.check_game(broken("sound", {}), games=3)


@pytest.mark.parametrize(("name", "most"), [("pig10", 512), ("pigs_tail", 1_024)])
def test_a_table_is_small(name: str, most: int) -> None:
    """The state of a table takes no more bytes than it was meant to, so that a batch fits the cache."""
    assert registry.definition(name).state.itemsize <= most
