"""What several test files draw at random: rules, deals and prefixes of games."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from pigenv import registry
from pigenv.errors import OptionError
from pigenv.game import RUNNING, Game
from pigenv.table import Table
from tests.naive.test_pigs_tail_naive import DEFAULT_RULES as PIGS_TAIL_DEFAULTS

# --- Pig 10 -----------------------------------------------------------------------------------------------------------

PIG10_DEFAULTS: dict[str, Any] = {
    "deck_counts": [7, 8, 8, 8, 8, 5, 8, 8, 8, 8, 4],
    "hand_size": 3,
    "target": 10,
    "winner_leads": False,
    "leftover": "none",
    "five_clamp": False,
    "same_rule": "both",
    "tie_break": "shared",
    "first_player": "random",
    "max_turns": 200,
}
"""Written from the rule book's tables, not read from the code."""


def pig10_rules(generator: random.Random, num_players: int) -> dict[str, Any]:
    """Every option of Pig 10 drawn at random, so that a table of this size can be dealt; small packs mostly."""
    hand_size = generator.choice([1, 2, 3, 3, 3, 4, 10 if num_players < 5 else 5])
    target = generator.choice([10, 10, 10, 9, 8, 7, 6, 5, 4, 2, 1])
    kinds = generator.sample(range(target + 1), generator.randint(1, target + 1))
    if target >= 5 and generator.random() < 0.7:
        kinds = sorted({*kinds, 5})
    counts = [0] * 11
    # A few cards beyond what is dealt: the stock runs out early, so the end game is half of the game.
    total = min(120, num_players * hand_size + generator.choice([0, 1, 5, 10, 20, 40]))
    for _ in range(total):
        free = [kind for kind in kinds if counts[kind] < 40]
        counts[generator.choice(free or [k for k in range(target + 1) if counts[k] < 40])] += 1
    rules = {
        "deck_counts": counts,
        "hand_size": hand_size,
        "target": target,
        "winner_leads": generator.random() < 0.5,
        "leftover": generator.choice(["none", "last_player", "last_winner"]),
        "five_clamp": generator.random() < 0.5,
        "same_rule": generator.choice(["both", "both", "value", "previous", "off"]),
        "tie_break": "shared",
        "first_player": generator.choice(["random", generator.randrange(num_players)]),
        "max_turns": generator.choice([200, 200, 200, total, max(1, total - 1), generator.randint(1, total)]),
    }
    if generator.random() < 0.1:
        full = {**PIG10_DEFAULTS, "max_turns": 200}
        return {**full, **{k: v for k, v in rules.items() if k in ("winner_leads", "leftover", "same_rule")}}
    return rules


def a_table(
    draw: st.DrawFn,
    name: str,
    seats: tuple[int, int],
    rules_for: Callable[[random.Random, int], dict[str, Any]],
    most: Callable[[dict[str, Any]], int],
) -> Game:
    """A table of a game: how many sit there, its rules, what is remembered, and how it is paid, drawn at random."""
    num_players = draw(st.integers(*seats))
    rules = rules_for(random.Random(draw(st.integers(0, 2**32))), num_players)
    return registry.make(
        name,
        num_players,
        rules=rules,
        memory=draw(st.booleans()),
        max_players=draw(st.sampled_from([None, most(rules)])),
        reward=draw(st.sampled_from(["win", "rank", "score"])),
    )


@st.composite
def pig10_games(draw: st.DrawFn) -> Game:
    """A table of Pig 10 with options drawn at random."""
    return a_table(draw, "pig10", (2, 8), pig10_rules, lambda _: 8)


# --- Pig's Tail -------------------------------------------------------------------------------------------------------

RANKS = PIGS_TAIL_DEFAULTS["ranks"]
SUITS = PIGS_TAIL_DEFAULTS["suits"]


def letters(generator: random.Random, among: str, least: int, most: int) -> str | list[str]:
    """Some letters in any order, as a text or as a list."""
    found = generator.sample(among, generator.randint(least, most))
    return found if generator.random() < 0.5 else "".join(found)


def pigs_tail_rules(generator: random.Random, num_players: int) -> dict[str, Any]:
    """Every option of Pig's Tail drawn at random, for a table of this size; small packs and short matches mostly."""
    full = generator.random() < 0.02
    attack = generator.random() < 0.5
    num_decks = 2 if num_players > 6 else generator.choice([1, 1, 2])
    roles = ["pickup", "choose_suit", "return_hand"] + (["attack"] if attack else [])
    rules = {
        "match": generator.choice(["suit_or_rank", "suit_or_rank", "suit", "color_or_rank", "rank", "color"]),
        "hand_play": generator.choice(["optional", "optional", "off", "forced"]),
        "forced_fallback": generator.choice(["play", "flip"]),
        "allow_matching_hand_play": generator.random() < 0.3,
        "first_player": generator.choice(["random", generator.randrange(num_players)]),
        "num_decks": num_decks,
        "ranks": RANKS if full else letters(generator, RANKS, 1, 4 // num_decks),
        "suits": SUITS if full else letters(generator, SUITS, 1, 4),
        "num_jokers": generator.choice([0, 1, 2]),
        "joker_role": generator.choice(roles),
        "attack": attack,
        "trigger": generator.choice(["match"] * 4 + ["753", "193", letters(generator, "1" + RANKS, 1, 6)]),
        "taker": generator.choice(["slowest", "fastest"]),
        "foul": generator.choice(["take", "skip"]),
        "multi_foul": "earliest",
        "flipper_slaps": generator.random() < 0.7,
        "flipper_delay_ms": generator.choice([150, 0, 3, 10_000]),
        "wait_ms": generator.choice([450, 200, 0, 10_000]),
        "anticipate_ms": generator.choice([200, 200, 0, 10_000]),
        "reaction_std_ms": generator.choice([80, 80, 0, 3, 1_000]),
        "rounds": 1 if full else generator.choice([1, 1, 1, 2, 3]),
        "most_wins": generator.random() < 0.3,
        "tie_break": "shared",
        "max_turns": generator.choice([6000, 6000, generator.randint(1, 40)]),
    }
    if goes_in_circles(rules):
        rules["max_turns"] = generator.choice([1, 5, 25, 40])
    elif full and attack:
        rules["max_turns"] = 60
    return rules


def goes_in_circles(rules: Mapping[str, Any]) -> bool:
    """Whether a card played from hand may bring cards back: it matches, or somebody slaps without a reason."""
    if rules["hand_play"] == "off":
        return False
    forced = rules["hand_play"] == "forced" and rules["forced_fallback"] == "play"
    return rules["allow_matching_hand_play"] or forced or (rules["attack"] and rules["foul"] == "take")


@st.composite
def pigs_tail_games(draw: st.DrawFn) -> Game:
    """A table of Pig's Tail with options drawn at random."""
    return a_table(draw, "pigs_tail", (2, 12), pigs_tail_rules, lambda rules: 6 * rules["num_decks"])


# --- Pig Pile ---------------------------------------------------------------------------------------------------------


def pig_pile_rules(generator: random.Random, num_players: int) -> dict[str, Any]:
    """Every option of Pig Pile drawn at random, so that a table of this size can be dealt; small packs mostly."""
    table, hand = generator.choice([0, 1, 1, 2, 3, 3, 5]), generator.choice([1, 2, 3, 3, 4, 6])
    numbers = sorted(generator.sample(range(1, 13), generator.choice([1, 3, 5, 7, 9, 12, 12])))
    if generator.random() < 0.6:
        numbers = sorted({*numbers, *generator.sample([4, 8, 11], 2)})
    most = 80 // len(numbers)
    copies = generator.choice([None, min(2, most), min(4, most), min(6, most)])
    wilds = generator.choice([None, 0, 1, 3, min(8, 80 - len(numbers) * (copies or 6))])
    rules = {
        "hand_size": hand,
        "face_up": generator.choice(["choose", "choose", "random", "greased"]),
        "refill": generator.choice(["to_hand_size", "one"]),
        "refill_after_wash": generator.random() < 0.7,
        "reduce_deck": generator.random() < 0.5,
        "copies": copies,
        "num_wilds": wilds,
        "ranks": numbers,
        "table_cards": table,
        "min_players": generator.randint(2, num_players),
        "wild_in_play": generator.random() < 0.3,
        "wild_in_run": generator.random() < 0.3,
        "skip_stacking": generator.choice(["one", "per_card"]),
        "reverse_stacking": generator.choice(["once", "per_card"]),
        "eight_always": generator.random() < 0.3,
        "voluntary_pickup": generator.random() < 0.2,
        "face_up_penalty": generator.random() < 0.7,
        "cross_zone": generator.random() < 0.4,
        "three_player_third_scores": generator.random() < 0.5,
        "rounds": generator.choice([1, 1, 2, 3, "per_player", "until_empty"]),
        "pig_supply": generator.choice([40, 40, 12, 7, 1]),
        "first_dealer": generator.choice(["random", generator.randrange(num_players)]),
        "tie_break": "shared",
        "show_in_order": generator.random() < 0.3,
        "max_turns": generator.choice([2000, 2000, 300, generator.randint(1, 60)]),
    }
    copies_dealt, wilds_dealt = copies, wilds
    if copies is None or wilds is None:
        left_out = max(0, min(2, 6 - num_players)) if rules["reduce_deck"] else 0
        copies_dealt = 6 - left_out if copies is None else copies
        wilds_dealt = 8 - left_out if wilds is None else wilds
    total = len(numbers) * int(copies_dealt or 0) + int(wilds_dealt or 0)
    if total > 80 or total < num_players * (2 * table + hand):
        full = {"copies": None, "num_wilds": None, "ranks": list(range(1, 13)), "hand_size": 3, "table_cards": 3}
        rules.update(full)
    return rules


@st.composite
def pig_pile_games(draw: st.DrawFn) -> Game:
    """A table of Pig Pile with options drawn at random."""
    return a_table(draw, "pig_pile", (2, 6), pig_pile_rules, lambda _: 6)


# --- any game ---------------------------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn, games: st.SearchStrategy[Game] | None = None) -> Table:
    """A table somewhere in a game, at its start or at its end too; shrinks to the fewest steps."""
    game = draw(games if games is not None else st.one_of(pig10_games(), pigs_tail_games(), pig_pile_games()))
    table = Table(game)
    table.start(draw(st.integers(0, 2**64 - 1)))
    for place in draw(st.lists(st.integers(0, 1_000), max_size=200)):
        if table.over != RUNNING:
            break
        legal = table.legal_actions()
        table.step(legal[place % len(legal)])
    return table


def every_table(names: list[str] | None = None) -> list[dict[str, Any]]:
    """Arguments of `registry.make` for each game, preset and number of players."""
    found = []
    for definition in registry.definitions() if names is None else map(registry.definition, names):
        for preset in definition.presets:
            for num_players in range(2, 13):
                try:
                    registry.make(definition, num_players, preset)
                except OptionError:
                    continue
                found.append({"game": definition.id, "preset": preset, "num_players": num_players})
    return found
