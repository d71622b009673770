"""Pig Pile: the rule book's cases, the slow twin, what each seat knows, and the options."""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test
from scipy import stats

from pigenv import pig_pile_v0, registry
from pigenv.errors import DealError, OptionError
from pigenv.game import ANYBODY, REWARDS, Game
from pigenv.games.pig_pile import (
    DEFINITION,
    MAX_HISTORY,
    PRESETS,
    STATE,
    deal,
    hide,
    legal,
    observe,
    pack_counts,
    step,
)
from pigenv.kernel import COMPILED, below, draw, kernel
from pigenv.table import EPISODE, Table, loops
from tests.naive.pig_pile import NaivePigPile, sorted_cards
from tests.naive.pig_pile_cases import CASES, DECKS, JP, Case, Deck
from tests.naive.pig_pile_cases import PRESETS as RULES_OF
from tests.strategies import pig_pile_rules

pytestmark = pytest.mark.rules

FAST = COMPILED and not os.environ.get("NUMBA_BOUNDSCHECK")
CHUNKS = 20 if COMPILED else 4
ROUNDS_A_CHUNK = 1_000 if FAST else 100 if COMPILED else 5
GAMES_A_RULES = 10 if COMPILED else 2
CHECKED = 0.15  # share of positions in which everything is compared; legal actions, hands and pile always are
LONGEST = 400


def names_of(game: Game) -> list[str]:
    """The text of each kind of card."""
    row = game.row[0]
    return ["W" if number == 0 else str(number) for number in row["number"][: row["num_kinds"]]]


def cards_in(counts: Any, names: list[str]) -> list[str]:
    """Cards by kind as a sorted list of texts."""
    return [name for name, count in zip(names, counts, strict=False) for _ in range(count)]


def counted(cards: list[str], names: list[str]) -> list[int]:
    """A list of cards by kind, as long as the game's fields."""
    return [cards.count(name) for name in names] + [0] * (13 - len(names))


# --- the rule book's cases --------------------------------------------------------------------------------------------


def position(case: Case) -> tuple[Game, np.ndarray]:
    """A game and a state with the cards of a case where they lie."""
    game = registry.make("pig_pile", case.num_players, rules={**case.all_rules(), "rounds": 1, "min_players": 3})
    state = np.zeros(1, STATE)
    state["key"] = 1
    deal(state[0], game.row[0])
    row, names, kind = state[0], names_of(game), names_of(game).index
    table = game.rules.table_cards  # type: ignore[attr-defined]
    row["pack"], row["showing"], row["history_size"], row["history"] = -1, 0, 0, 0
    row["hand"], row["up"], row["known"], row["seen"], row["washed"] = 0, 0, 0, 0, 0
    for seat in range(case.num_players):
        row["hand"][seat] = row["known"][seat] = counted(case.hands[seat], names)
        row["up"][seat] = counted(case.face_up[seat], names)
        down = case.face_down[seat]
        row["pack"][(seat + 1) * table - len(down) : (seat + 1) * table] = [kind(card) for card in down]
        sizes = len(case.hands[seat]), len(case.face_up[seat]), len(down)
        row["hand_size"][seat], row["up_size"][seat], row["down_size"][seat] = sizes
        row["unknown"][seat] = 0
    size = int(game.row["pack_size"][0])
    row["dealt"] = size - len(case.stock)
    row["pack"][row["dealt"] : size] = [kind(card) for card in case.stock]
    row["pile"][: len(case.pile)] = [kind(card) for card in case.pile]
    row["pile_size"], row["in_pile"] = len(case.pile), counted(case.pile, names)
    row["washed"] = counted(case.washed, names)
    for place, seat in enumerate(case.out):
        row["out"][seat] = place + 1
    row["outs"], row["seat"], row["direction"], row["dealer"] = len(case.out), case.mover, case.direction, case.dealer
    row["turn"] = 1
    return game, state


def legal_texts(game: Game, state: np.ndarray) -> list[str]:
    """The texts of the legal actions, sorted."""
    mask = np.zeros(game.num_actions, np.int8)
    count = legal(state[0], game.row[0], mask)
    assert count == mask.sum()
    return sorted(game.action_texts[action] for action in np.flatnonzero(mask))


def play(game: Game, state: np.ndarray, text: str) -> None:
    """Play an action by its text; it must be legal."""
    assert text in legal_texts(game, state)
    action = game.action_number(text)
    assert action is not None
    step(state[0], game.row[0], action)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_rulebook_case(case: Case) -> None:
    """Every case of the rule book ends as the rule book says."""
    game, state = position(case)
    row, expected, names = state[0], case.expected, names_of(game)
    before = legal_texts(game, state)
    washed = row["washed"].copy()
    if "legal" in expected:
        assert before == expected["legal"]
    assert set(expected.get("legal has", [])) <= set(before)
    assert not set(expected.get("legal lacks", [])) & set(before)
    for text in case.steps:
        play(game, state, text)
    assert expected.keys() <= {
        "legal", "legal has", "legal lacks", "pile", "set aside", "hand", "face_up", "face_down", "hand size",
        "stock size", "next seat", "direction", "out", "next legal has", "next legal lacks", "scores",
    }  # fmt: skip
    size, seat, table = int(game.row["pack_size"][0]), case.mover, game.rules.table_cards  # type: ignore[attr-defined]
    down = row["pack"][(seat + 1) * table - row["down_size"][seat] : (seat + 1) * table]
    outs = sorted((place, other) for other, place in enumerate(row["out"].tolist()) if place)
    found = {
        "pile": [names[kind] for kind in row["pile"][: row["pile_size"]]],
        "set aside": cards_in(row["washed"] - washed, names),
        "hand": cards_in(row["hand"][seat], names),
        "face_up": cards_in(row["up"][seat], names),
        "face_down": [names[kind] for kind in down],
        "hand size": row["hand_size"][seat],
        "stock size": size - row["dealt"],
        "next seat": row["seat"],
        "direction": row["direction"],
        "out": [other for _, other in outs],
        "scores": row["won"][: case.num_players].tolist(),
    }
    for name, value in found.items():
        if name in expected:
            assert value == expected[name], name
    if "scores" in expected:
        assert row["over"] == 1
    after = legal_texts(game, state) if row["over"] == 0 else []
    assert set(expected.get("next legal has", [])) <= set(after)
    assert not set(expected.get("next legal lacks", [])) & set(after)


@pytest.mark.parametrize("case", DECKS, ids=[case.id for case in DECKS])
def test_deck(case: Deck) -> None:
    """PP-27: the pack of each edition at each number of players."""
    game = registry.make("pig_pile", case.num_players, case.preset)
    row = game.row[0]
    assert (row["pack_size"], row["copies_at"][case.num_players]) == (case.size, case.copies)
    assert row["count"][row["wild"]] == case.wilds
    table = Table(game)
    table.start(0)
    assert len(table.deal()["stock"]) == case.stock


def test_every_row_has_its_case() -> None:
    """The rows PP-1 to PP-27 are all among the cases."""
    assert {case.id.split()[0] for case in [*CASES, *DECKS]} == {f"PP-{row}" for row in range(1, 28)}


# --- whole rounds, logged ---------------------------------------------------------------------------------------------


@kernel
def play_logged(
    states: np.ndarray,
    rules: np.ndarray,
    key: np.uint64,
    policy: int,
    actions: np.ndarray,
    masks: np.ndarray,
    lookers: np.ndarray,
    views: np.ndarray,
    observations: np.ndarray,
    start: bool,
) -> int:
    """Play on, to the end or until the log is full, and keep everything; policy 0 is random, 1 low cards mostly."""
    if start:
        states[0]["key"] = key
        deal(states[0], rules[0])
    at = 0
    while True:
        views[at] = states[at]
        views[at]["key"] = 0
        hide(views[at], rules[0], lookers[at])
        observe(views[at], rules[0], lookers[at], observations[at])
        if states[at]["over"] != 0 or at == len(states) - 1:
            return at
        count = legal(states[at], rules[0], masks[at])
        place = below(draw(key + np.uint64(1), states[at]["turn"] * 7919 + states[at]["round"] * 31 + at), count)
        if policy == 1 and place % 4 > 0:
            place = 0
        for action in range(masks.shape[1]):
            if masks[at, action] == 1:
                if place == 0:
                    actions[at] = action
                place -= 1
        states[at + 1] = states[at]
        step(states[at + 1], rules[0], actions[at])
        at += 1


class Log:
    """A piece of a match: states, actions, masks, and what one seat after another saw."""

    def __init__(self, game: Game, key: int, policy: int = 0, before: Log | None = None) -> None:
        self.game, self.key, self.policy = game, key, policy
        self.states = np.zeros(LONGEST, STATE)
        if before is not None:
            self.states[0] = before.states[before.steps]
        self.views = np.zeros(LONGEST, STATE)
        self.actions = np.zeros(LONGEST, np.int64)
        self.masks = np.zeros((LONGEST, game.num_actions), np.int8)
        self.observations = np.zeros((LONGEST, game.layout.size), np.float32)
        # Every seat in turn, out of step with who moves.
        self.lookers = (np.arange(LONGEST) * 3 // 2 + key) % game.num_players
        self.steps = int(
            play_logged(
                self.states, game.row, np.uint64(key), policy, self.actions, self.masks, self.lookers, self.views,
                self.observations, before is None,
            )
        )  # fmt: skip
        self.over = int(self.states[self.steps]["over"])

    def texts(self) -> list[str]:
        """The actions played."""
        return [self.game.action_texts[action] for action in self.actions[: self.steps]]

    def pieces(self) -> Any:
        """This piece and those after it, to the end of the match."""
        log = self
        yield log
        while log.over == 0:
            log = Log(self.game, self.key, self.policy, log)
            yield log


def twin_of(game: Game, state: np.ndarray) -> NaivePigPile:
    """The slow twin at the start of the same match."""
    return NaivePigPile(game.num_players, game.rules.to_json(), [DEFINITION.read_deal(state[0], game.row[0])])


def random_games(seed: int, count: int, **options: Any) -> list[Game]:
    """Tables of 2 to 6 players with random rules, every fifth a preset."""
    generator = random.Random(seed)
    found = []
    for number in range(count):
        if number % 5 == 4:
            preset = generator.choice(list(PRESETS))
            players = 2 if preset == "mini" else generator.randint(3, 4 if preset == "small" else 6)
            found.append(registry.make("pig_pile", players, preset, **options))
            continue
        num_players = generator.randint(2, 6)
        rules = pig_pile_rules(generator, num_players)
        found.append(registry.make("pig_pile", num_players, rules=rules, **options))
    return found


def proofs(state: Any, seat: int, names: list[str], eight_always: bool) -> list[tuple[int, list[str]]]:
    """What is proved of a hand, as the twin words it; equal lists of cards are one."""
    found: Counter[tuple[str, ...]] = Counter()
    for bound, count in enumerate(state["proved"][seat].tolist()):
        if count:
            below_it = [name for name in names[:bound] if not (eight_always and name == "8")]
            found[tuple(sorted_cards(below_it))] += count
    return sorted(((count, list(cards)) for cards, count in found.items()), key=lambda each: len(each[1]))


def compare_position(log: Log, at: int, twin: NaivePigPile, names: list[str]) -> None:
    """Everything in a position, and what a seat knows of it, is what the twin has."""
    game, state, view, looker = log.game, log.states[at], log.views[at], int(log.lookers[at])
    n, size = game.num_players, int(game.row["pack_size"][0])
    table = game.rules.table_cards  # type: ignore[attr-defined]
    assert [cards_in(state["up"][seat], names) for seat in range(n)] == [sorted_cards(each) for each in twin.face_up]
    downs = [
        [names[kind] for kind in state["pack"][(s + 1) * table - state["down_size"][s] : (s + 1) * table]]
        for s in range(n)
    ]
    assert downs == twin.face_down
    assert [names[kind] for kind in state["pack"][state["dealt"] : size]] == twin.stock
    assert cards_in(state["washed"], names) == sorted_cards(twin.washed)
    assert state["won"][:n].tolist() == twin.scores()
    outs = sorted((place, seat) for seat, place in enumerate(state["out"][:n].tolist()) if place)
    assert ([seat for _, seat in outs], state["supply"], state["turn"]) == (twin.out, twin.pigs, twin.turn)
    # No card is lost, and none is there twice.
    places = [state["hand"], state["up"], state["washed"][None], state["in_pile"][None]]
    held = sum(each.astype(int).sum(axis=0) for each in places)
    held += np.bincount(state["pack"][state["dealt"] : size], minlength=13)[:13]
    held += np.bincount([names.index(card) for each in downs for card in each], minlength=13)[:13]
    assert held.tolist() == game.row["count"][0].tolist()
    known = twin.known_to(looker)
    eight = game.rules.eight_always  # type: ignore[attr-defined]
    assert (view["pack"] == -1).all()
    assert view["key"] == 0
    for seat in range(n):
        assert cards_in(view["hand"][seat], names) == known["known"][seat]
        assert view["hand_size"][seat] == known["hand_sizes"][seat]
        assert cards_in(view["up"][seat], names) == known["face_up"][seat]
        assert view["up_size"][seat] == known["face_up_sizes"][seat]
        assert view["down_size"][seat] == known["face_down_sizes"][seat]
        if seat != looker:
            assert view["unknown"][seat] == known["unknown"][seat]
            assert view["proofs"][seat] == view["proved"][seat].sum()
            expected: Counter[tuple[str, ...]] = Counter()
            for count, cards in known["proved"][seat]:
                expected[tuple(cards)] += count
            assert {tuple(c): k for k, c in proofs(view, seat, names, eight)} == expected
    assert size - view["dealt"] == known["stock_size"]
    assert bool(view["showing"]) == (known["phase"] == "show")
    own = view["hand"][looker] - view["known"][looker] + view["showing"] * view["up"][looker]
    unseen = game.row["count"][0] - view["seen"] - own
    assert dict(zip(names, unseen.tolist(), strict=False)) == {card: known["unseen"][card] for card in names}


def compare_match(game: Game, key: int, policy: int) -> int:
    """Everything in a logged match is what the twin has; returns how many rounds it was."""
    names, texts, chooser = names_of(game), game.action_texts, random.Random(key)
    twin, n = None, game.num_players
    for log in Log(game, key, policy).pieces():
        if twin is None:
            twin = twin_of(game, log.states[:1])
        for at in range(log.steps + 1):
            state = log.states[at]
            over = {None: 0, "terminated": 1, "truncated": 2}[twin.over]
            assert state["over"] == over
            assert [cards_in(state["hand"][seat], names) for seat in range(n)] == [sorted_cards(h) for h in twin.hands]
            assert [names[kind] for kind in state["pile"][: state["pile_size"]]] == twin.pile
            if chooser.random() < CHECKED or over:
                compare_position(log, at, twin, names)
            if over:
                break
            assert (state["seat"], state["direction"]) == (twin.seat, twin.direction)
            assert (state["round"], state["dealer"]) == (twin.round, twin.dealer)
            if at == log.steps:
                break
            assert sorted(text for text, bit in zip(texts, log.masks[at], strict=True) if bit) == twin.legal()
            after = log.states[at + 1 : at + 2]
            if after["round"][0] != state["round"] and after["over"][0] == 0:
                twin.deals.append(DEFINITION.read_deal(after[0], game.row[0]))
            twin.step(texts[log.actions[at]])
    assert twin is not None
    compare_payment(log, twin)
    return len(twin.round_scores)


def compare_payment(log: Log, twin: NaivePigPile) -> None:
    """Final scores and all three rewards are the twin's."""
    n, end = log.game.num_players, log.states[log.steps : log.steps + 1]
    points = np.zeros((1, n))
    loops(DEFINITION).score_tables(end, log.game.row, points)
    assert points[0].tolist() == twin.scores()
    row, episodes = log.game.row.copy(), np.zeros(1, EPISODE)
    for index, reward in enumerate(REWARDS):
        row["reward"], episodes["points"] = index, 0
        rewards = np.zeros((1, n), np.float32)
        loops(DEFINITION).pay(end[0], row[0], episodes[0], rewards, 0)
        assert rewards[0].tolist() == pytest.approx(twin.returns(reward, 3.0), abs=1e-5)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_twin(chunk: int) -> None:
    """Over random rounds under random options the twin agrees at every step about everything."""
    rounds, number = 0, 0
    games = random_games(chunk, 400)
    while rounds < ROUNDS_A_CHUNK:
        for key in range(GAMES_A_RULES):
            rounds += compare_match(games[number % len(games)], 1_000_000 * chunk + 1_000 * number + key, key % 2)
        number += 1


# --- observations -----------------------------------------------------------------------------------------------------


def expected_observation(game: Game, known: dict[str, Any], seat: int) -> dict[str, list[float]]:
    """Every part of an observation as the documentation of the layout words it, from what the twin says is known."""
    rules: Any = game.rules
    n, most, names = game.num_players, game.max_players, names_of(game)
    pack, table = known["pack"], rules.table_cards
    clockwise = [(seat + k) % n for k in range(n)]
    absent = [0.0] * (most - n)

    def by_kind(cards: list[str] | dict[str, int]) -> list[float]:
        counts = cards if isinstance(cards, dict) else Counter(cards)
        return [counts.get(name, 0) / max(1, pack[name]) for name in names]

    top = known["pile"][-1] if known["pile"] else None
    # The longest end of the pile that is one number, Hog Wilds being any or not.
    run = 0
    for length in range(1, len(known["pile"]) + 1):
        numbers = {card for card in known["pile"][-length:] if not (rules.wild_in_run and card == "W")}
        run = length if len(numbers) <= 1 else run
    parts = {
        "hand": by_kind(known["hand"]),
        "pile_top": [float(top == name) for name in [None, *names] if name != "8"],
        "pile_run": [min(2, run) / 2],
        "pile_size": [min(1.0, len(known["pile"]) / 30)],
        "stock_size": [known["stock_size"] / max(1, sum(pack.values()) - n * (2 * table + rules.hand_size))],
        "hand_size": [min(1.0, known["hand_sizes"][each] / 30) for each in clockwise] + absent,
        "out": [
            [1.0, 0.5][known["out"].index(each)] if each in known["out"] else 0.0 for each in clockwise
        ] + absent,
    }  # fmt: skip
    if most == 2:
        del parts["out"]
    if table:
        parts["face_up"] = [share for each in clockwise for share in by_kind(known["face_up"][each])]
        parts["face_up"] += absent * len(names)
        parts["face_down"] = [known["face_down_sizes"][each] / table for each in clockwise] + absent
    if 11 in rules.ranks:
        parts["direction"] = [float(known["direction"] == 1)]
    if table and rules.face_up != "random":
        parts["choosing"] = [float(known["phase"] == "show")]
    if rules.rounds != 1:
        least = 3 if n == 2 else 5
        rounds = {"per_player": n, "until_empty": 10**6}.get(rules.rounds, rules.rounds)
        longest = min(rounds, (rules.pig_supply + least - 1) // least)
        parts["round"] = [min(1.0, known["round"] / longest)]
        parts["pigs"] = [known["scores"][each] / rules.pig_supply for each in clockwise] + absent
        parts["supply"] = [known["pigs"] / rules.pig_supply]
    if game.mixed:
        parts["num_players"] = [float(count == n) for count in range(rules.min_players, most + 1)]
    if game.memory:
        others = clockwise[1:]
        parts["pile"] = [s for s, name in zip(by_kind(known["pile"]), names, strict=True) if name != "8"]
        parts["unseen"] = by_kind(known["unseen"])
        parts["known"] = [s for each in others for s in by_kind(known["known"][each])] + absent * len(names)
        if not rules.voluntary_pickup:
            proved = {each: known["proved"][each] for each in others}
            parts["proved"] = [min(1.0, sum(c for c, _ in proved[each]) / 30) for each in others] + absent
            # The twin lists the cards that are possible; below the next higher card is what they are.
            higher = []
            for each in others:
                longest_list = max((cards for _, cards in proved[each]), key=len, default=[])
                above = [r for r in rules.ranks if longest_list and r > max(int(c) for c in longest_list)]
                if rules.eight_always and above and above[0] == 8:
                    higher.append((8, above[1] if len(above) > 1 else 8))
                else:
                    higher.append((above[0] if above else 0,) * 2)
            parts["proved_below"] = [low / 12 for low, _ in higher] + absent
    return parts


@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize("max_players", [None, 6])
def test_observation(memory: bool, max_players: int | None) -> None:
    """Every part of every observation is what its documentation says about what the twin knows."""
    for number, game in enumerate(random_games(77, 40 if COMPILED else 8, memory=memory, max_players=max_players)):
        if game.rules.eight_always:  # type: ignore[attr-defined]
            continue  # the twin's lists do not say whether an 8 stood in the way
        log = Log(game, 31 * number, policy=number % 2)
        twin = twin_of(game, log.states[:1])
        for at, text in enumerate([*log.texts(), ""]):
            seat = int(log.lookers[at])
            parts = expected_observation(game, twin.known_to(seat), seat)
            assert list(parts) == [part.name for part in game.layout.parts]
            for name, numbers in parts.items():
                seen = log.observations[at][game.layout.slices[name]].tolist()
                assert seen == pytest.approx(numbers, abs=1e-6), (name, at, game)
            if text:
                after = log.states[at + 1 : at + 2]
                if after["round"][0] != twin.round and after["over"][0] == 0:
                    twin.deals.append(DEFINITION.read_deal(after[0], game.row[0]))
                twin.step(text)


@pytest.mark.skipif(not COMPILED, reason="ten thousand plies are for the compiled kernels")
@pytest.mark.parametrize("preset", PRESETS)
def test_no_feature_is_constant(preset: str) -> None:
    """Over many random plies no number of an observation stays the same."""
    game = registry.make("pig_pile", preset=preset)
    low, high = np.ones(game.layout.size), np.zeros(game.layout.size)
    for key in range(60):
        for log in Log(game, key, policy=key % 2).pieces():
            low = np.minimum(low, log.observations[: log.steps].min(axis=0))
            high = np.maximum(high, log.observations[: log.steps].max(axis=0))
    same = low == high
    constant = [f"{name}[{i}]" for name, part in game.layout.slices.items() for i in np.flatnonzero(same[part])]
    assert constant == []


# --- what a seat knows ------------------------------------------------------------------------------------------------

TINY: dict[str, Any] = {
    "hand_size": 2, "table_cards": 1, "ranks": [3, 5, 9], "copies": 2, "num_wilds": 3, "min_players": 2, "rounds": 1,
    "show_in_order": True, "first_dealer": 0, "refill": "one", "max_turns": 30,
}  # fmt: skip
"""Nine cards, drawn one by one: 7,560 deals by value, so that all of them can be gone through."""

MINI: dict[str, Any] = {**PRESETS["mini"].rules, "first_dealer": 0}


@cache
def all_orders(name: str) -> list[tuple[str, ...]]:
    """Every order of a tiny pack, by value."""
    game = tiny_game(name)
    pack = cards_in(pack_counts(game.rules, 2), names_of(game))  # type: ignore[arg-type]
    orders: list[tuple[str, ...]] = []

    def extend(done: tuple[str, ...], left: Counter[str]) -> None:
        if len(done) == len(pack):
            orders.append(done)
        for card in sorted(left):
            if left[card] > 0:
                extend((*done, card), left - Counter([card]))

    extend((), Counter(pack))
    return orders


def tiny_game(name: str) -> Game:
    """The game `mini`, or a tiny one with more in hand."""
    return registry.make("pig_pile", 2, rules={"tiny": TINY, "mini": MINI}[name])


def deal_of(order: tuple[str, ...], held: int) -> dict[str, Any]:
    """A deal for two, with a face-down card each, from an order of the pack."""
    hands = [list(order[2 : 2 + held]), list(order[2 + held : 2 + 2 * held])]
    return {"dealer": 0, "face_down": [[order[0]], [order[1]]], "hands": hands, "stock": list(order[2 + 2 * held :])}


def replayed(game: Game, order: tuple[str, ...], texts: list[str], seat: int, truth: Any) -> Any:
    """The twin after these actions, and all that a seat saw; None where they are not legal or show something else."""
    rules: Any = game.rules
    twin = NaivePigPile(2, rules.to_json(), [deal_of(order, rules.hand_size + rules.table_cards)])
    seen = [twin.known_to(seat)]
    for text in [*texts, None]:
        if truth is not None and seen[-1] != truth[len(seen) - 1]:
            return None
        if text is not None:
            if text not in twin.legal():
                return None
            twin.step(text)
            seen.append(twin.known_to(seat))
    return twin, seen


def drawn_worlds(game: Game, state: np.ndarray, seat: int, count: int) -> np.ndarray:
    """Worlds drawn from what a seat knows, keys 1, 2, 3 and so on."""
    view = state.copy()
    view["key"] = 0
    hide(view[0], game.row[0], seat)
    worlds = np.repeat(view, count)
    loops(DEFINITION).determinize_views(worlds, game.row, np.arange(1, count + 1).astype(np.uint64))
    return worlds


def hidden_of(world: Any, game: Game) -> tuple[Any, ...]:
    """What lies where, of all that may be hidden."""
    size = int(game.row["pack_size"][0])
    downs = tuple(int(world["pack"][seat]) if world["down_size"][seat] else -1 for seat in range(2))
    return (
        tuple(world["hand"][:2].ravel().tolist()),
        tuple(world["up"][:2].ravel().tolist()),
        downs,
        tuple(world["pack"][world["dealt"] : size].tolist()),
    )


def hidden_of_twin(twin: NaivePigPile, game: Game) -> tuple[Any, ...]:
    """The same of the twin."""
    names = names_of(game)
    hands, ups = ([count for cards in zone for count in counted(cards, names)] for zone in (twin.hands, twin.face_up))
    downs = tuple(names.index(cards[0]) if cards else -1 for cards in twin.face_down)
    return tuple(hands), tuple(ups), downs, tuple(names.index(card) for card in twin.stock)


def fits_chance(worlds: np.ndarray, wanted: Counter[Any], game: Game) -> None:
    """Worlds come as often as they should, and no others do."""
    drawn = Counter(hidden_of(world, game) for world in worlds)
    assert set(drawn) <= set(wanted)
    total = sum(wanted.values())
    # The rarest are taken together: the test needs some of each.
    rare = [each for each in wanted if len(worlds) * wanted[each] / total < 5]
    often = [each for each in wanted if each not in set(rare)]
    observed = [drawn[each] for each in often] + ([sum(drawn[each] for each in rare)] if rare else [])
    expected = [wanted[each] for each in often] + ([sum(wanted[each] for each in rare)] if rare else [])
    assert len(observed) > 1
    share = np.array(expected) * len(worlds) / total
    assert stats.chisquare(observed, share).pvalue > 1e-4


@pytest.mark.skipif(not COMPILED, reason="needs many thousand worlds")
@pytest.mark.parametrize("key", range(16))
@pytest.mark.parametrize("name", ["mini", "tiny"])
def test_determinize_is_uniform(name: str, key: int) -> None:
    """Worlds come as often as there are deals that would have allowed the same actions and shown the seat the same."""
    game = tiny_game(name)
    log, seat = Log(game, key, policy=key % 2), key // 2 % 2
    place = dict(enumerate(names_of(game)))
    order = tuple(place[kind] for kind in log.states[0]["pack"][: game.row["pack_size"][0]].tolist())
    # As late as something is still hidden, which is where most has been seen.
    for at in range(min(log.steps - 1, 6 + key // 2), 1, -1):
        if log.states[at]["showing"]:
            break
        texts = log.texts()[:at]
        truth = replayed(game, order, texts, seat, None)
        wanted: Counter[Any] = Counter()
        for other in all_orders(name):
            found = replayed(game, other, texts, seat, truth[1])
            if found is not None:
                wanted[hidden_of_twin(found[0], game)] += 1
        if len(wanted) > 3:
            worlds = drawn_worlds(game, log.states[at : at + 1], seat, 30_000 if FAST else 3_000)
            fits_chance(worlds, wanted, game)
            return
    raise AssertionError("nothing was hidden in this game")


@pytest.mark.skipif(not COMPILED, reason="needs many thousand worlds")
@pytest.mark.parametrize("name", ["mini", "tiny"])
@pytest.mark.parametrize(("steps", "seat"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_determinize_is_uniform_while_choosing(name: str, steps: int, seat: int) -> None:
    """While face-up cards are chosen, any cards dealt and any choice of one of them are equally likely."""
    game = tiny_game(name)
    held = game.rules.hand_size + 1  # type: ignore[attr-defined]
    log = Log(game, 5)
    state = log.states[steps : steps + 1]
    assert state["showing"][0]
    names, order = names_of(game), log.states[0]["pack"][: game.row["pack_size"][0]].tolist()
    own = order[2 + seat * held : 2 + (seat + 1) * held]
    wanted: Counter[Any] = Counter()
    for other in all_orders(name):
        kinds = [names.index(card) for card in other]
        hands = [kinds[2 : 2 + held], kinds[2 + held : 2 + 2 * held]]
        if hands[seat] != own:
            continue
        # Seat 0, the dealer, has chosen first: any of its places.
        shown = [log.actions[0]] if seat == 0 else hands[0]
        for card in shown if steps else [None]:
            zones = np.zeros((2, 2, 13), int)
            for each, hand in enumerate(hands):
                for kind in hand:
                    zones[0, each, kind] += 1
            if card is not None:
                zones[0, 0, card] -= 1
                zones[1, 0, card] += 1
            hidden = tuple(zones[0].ravel().tolist()), tuple(zones[1].ravel().tolist()), tuple(kinds[:2])
            wanted[(*hidden, tuple(kinds[2 + 2 * held :]))] += 1
    fits_chance(drawn_worlds(game, state, seat, 40_000), wanted, game)


def rebuilt_deal(game: Game, log: Log, at: int, seat: int, world: Any) -> dict[str, Any]:
    """The deal behind a world: what the seat saw of the true one, and what was drawn for the rest."""
    first, table = log.states[0], game.rules.table_cards  # type: ignore[attr-defined]
    size, n = int(game.row["pack_size"][0]), game.num_players
    pack = world["pack"][:size].copy()
    for other in range(n):
        flipped = slice(other * table, (other + 1) * table - world["down_size"][other])
        pack[flipped] = first["pack"][flipped]
    opened = DEFINITION.read_deal(first, game.row[0]).get("face_up") is not None
    start = n * table * (2 if opened else 1)
    pack[n * table : start] = first["pack"][n * table : start]
    held = int(first["hand_size"][0])
    mine = slice(start + seat * held, start + (seat + 1) * held)
    pack[mine] = first["pack"][mine]
    for other in range(n):
        if world["unknown"][other] == 0:
            # All that came to this hand has been seen: nothing was drawn for it.
            came = slice(start + other * held, start + (other + 1) * held)
            pack[came] = first["pack"][came]
    if world["showing"]:
        for other in range(n):
            cards = cards_of_kinds(world["hand"][other] + world["up"][other])
            pack[start + other * held : start + (other + 1) * held] = cards
    for before in range(at):
        mover = log.states[before]["seat"]
        if mover == seat or world["unknown"][mover] == 0:
            drawn = slice(log.states[before]["dealt"], log.states[before + 1]["dealt"])
            pack[drawn] = first["pack"][drawn]
    state = log.states[:1].copy()
    state["pack"][0, :size] = pack
    return DEFINITION.read_deal(state[0], game.row[0])


def cards_of_kinds(counts: Any) -> list[int]:
    """Counts by kind as a list of kinds."""
    return [kind for kind, count in enumerate(counts.tolist()) for _ in range(count)]


def test_worlds_could_have_been() -> None:
    """In the deal behind a drawn world the whole history is legal again, and the seat sees the same at every step."""
    checked = 0
    for number, game in enumerate(random_games(12, 150 if FAST else 20 if COMPILED else 4)):
        log = Log(game, number, policy=number % 2)
        last = int(np.argmax(log.states[: log.steps + 1]["round"] > 0)) or log.steps
        for at in range(number % 7, last, 7 if last < 100 else 29):
            seat = int(log.lookers[at])
            (world,) = drawn_worlds(game, log.states[at : at + 1], seat, 1)
            state = log.states[:1].copy()
            DEFINITION.write_deal(state[0], game.row[0], rebuilt_deal(game, log, at, seat, world))
            for before in range(at + 1):
                seen, wanted = state.copy(), log.states[before : before + 1].copy()
                for each in (seen, wanted):
                    each["key"] = 0
                    hide(each[0], game.row[0], seat)
                assert seen.tobytes() == wanted.tobytes(), (number, at, before)
                if before < at:
                    action = int(log.actions[before])
                    if state["showing"][0] and world["showing"] and state["seat"][0] != seat:
                        # A choice that the seat has not seen yet: any that is one of the world's.
                        left = world["up"][state["seat"][0]] - state["up"][0, state["seat"][0]]
                        action = int(np.flatnonzero(left)[0])
                    mask = np.zeros(game.num_actions, np.int8)
                    legal(state[0], game.row[0], mask)
                    assert mask[action] == 1, (number, at, before)
                    step(state[0], game.row[0], action)
            for name in ("hand", "up", "hand_size", "proved"):
                assert (state[name][0] == world[name]).all(), name
            checked += 1
    assert checked > (500 if FAST else 10)


@pytest.mark.parametrize("at", [0, 3])
def test_redraw_of_what_nobody_saw(at: int) -> None:
    """With the hands known, face-down cards and stock are dealt anew, each order equally likely."""
    game = tiny_game("mini")
    log = Log(game, 3)
    state = log.states[at : at + 1]
    worlds = drawn_worlds(game, state, ANYBODY, 6_000 if COMPILED else 600)
    assert (worlds["hand"] == state["hand"]).all()
    assert (worlds["up"] == state["up"]).all()
    downs = [seat for seat in range(2) if state["down_size"][0, seat]]
    stock = range(int(state["dealt"][0]), int(game.row["pack_size"][0]))
    places = [*downs, *stock]
    orders = set(itertools.permutations(state["pack"][0, places].tolist()))
    drawn = Counter(tuple(world["pack"][places].tolist()) for world in worlds)
    assert set(drawn) == orders
    assert len(orders) > 1
    assert stats.chisquare([drawn[each] for each in orders]).pvalue > 1e-4


def test_no_card_is_lost() -> None:
    """After every step of random games hands, tables, pile, wash and stock hold exactly the pack, kind by kind."""
    for number, game in enumerate(random_games(23, 60 if COMPILED else 5)):
        log, row = Log(game, number + 1), game.row[0]
        states, kinds = log.states[: log.steps + 1], int(row["num_kinds"])
        table, size, players = int(row["table_cards"]), int(row["pack_size"]), game.num_players
        packed = np.bincount(row["pack"][:size], minlength=kinds)[:kinds]
        for state in states:
            counts = (state["hand"].sum(axis=0) + state["up"].sum(axis=0) + state["in_pile"] + state["washed"])[:kinds]
            hidden = [*state["pack"][state["dealt"] : size]]
            for seat in range(players):
                stop = (seat + 1) * table
                hidden += [*state["pack"][stop - state["down_size"][seat] : stop]]
            counts = counts + np.bincount(np.array(hidden, int), minlength=kinds)[:kinds]
            assert counts.tolist() == packed.tolist()


def test_history_has_room() -> None:
    """However long a round, what is noted of unknown cards fits into the state."""
    for number, game in enumerate(random_games(4, 60 if COMPILED else 5)):
        for log in Log(game, number).pieces():
            assert log.states["history_size"].max() < MAX_HISTORY
            assert (log.states["work"] == 0).all()


def test_state_is_small() -> None:
    """The state of a table takes at most a kibibyte."""
    assert STATE.itemsize <= 1024


# --- the smallest game ------------------------------------------------------------------------------------------------


@kernel
def count_below(states: np.ndarray, rules: np.ndarray, masks: np.ndarray, depth: int) -> int:
    """How many histories there are from a state on, itself among them."""
    if states[depth]["over"] != 0:
        return 1
    legal(states[depth], rules[0], masks[depth])
    count = 1
    for action in range(masks.shape[1]):
        if masks[depth, action] == 1:
            states[depth + 1] = states[depth]
            step(states[depth + 1], rules[0], action)
            count += count_below(states, rules, masks, depth + 1)
    return count


@pytest.mark.skipif(not COMPILED, reason="a quarter of a million states are for the compiled kernels")
def test_mini_is_as_small_as_it_says() -> None:
    """The whole tree of `mini` has the number of histories that its meaning states, at most a million.

    A deal is who deals, each seat's face-down card, its hand in no order, and the stock in order.
    """
    game = registry.make("pig_pile", preset="mini")
    assert game.num_players == 2
    states, masks = np.zeros(40, STATE), np.zeros((40, game.num_actions), np.int8)
    deals = {
        (order[:2], tuple(sorted(order[2:4])), tuple(sorted(order[4:6])), order[6:]) for order in all_orders("mini")
    }
    total = 1
    for downs, one, two, stock in deals:
        for dealer in range(2):
            states[0] = np.zeros(1, STATE)[0]
            deal(states[0], game.row[0])
            given = {**deal_of((*downs, *one, *two, *stock), 2), "dealer": dealer}
            DEFINITION.write_deal(states[0], game.row[0], given)
            total += count_below(states, game.row, masks, 0)
    assert total <= 1_000_000
    assert f"{total:,} histories, from the root through 2 x {len(deals)} deals" in PRESETS["mini"].meaning


# --- options ----------------------------------------------------------------------------------------------------------

BAD_VALUES = [
    ("hand_size", 0, "an integer 1 … 10"),
    ("hand_size", 11, "an integer 1 … 10"),
    ("face_up", "chosen", "'choose' or 'random' or 'greased'"),
    ("refill", "two", "'to_hand_size' or 'one'"),
    ("refill_after_wash", 1, "true or false"),
    ("reduce_deck", None, "true or false"),
    ("copies", 0, "null, or an integer 1 … 12"),
    ("copies", 13, "null, or an integer 1 … 12"),
    ("copies", "4", "null, or an integer 1 … 12"),
    ("copies", True, "null, or an integer 1 … 12"),
    ("copies", 2.0, "null, or an integer 1 … 12"),
    ("num_wilds", -1, "null, or an integer 0 … 12"),
    ("ranks", [0, 1], "each 1 … 12"),
    ("ranks", [13], "each 1 … 12"),
    ("ranks", "all", "a list"),
    ("ranks", [], "different numbers in rising order"),
    ("ranks", [3, 2], "different numbers in rising order"),
    ("ranks", [2, 2], "different numbers in rising order"),
    ("table_cards", -1, "an integer 0 … 5"),
    ("table_cards", 6, "an integer 0 … 5"),
    ("min_players", 1, "an integer 2 … 6"),
    ("min_players", 7, "an integer 2 … 6"),
    ("wild_in_play", "yes", "true or false"),
    ("wild_in_run", 0, "true or false"),
    ("skip_stacking", "two", "'one' or 'per_card'"),
    ("reverse_stacking", "one", "'once' or 'per_card'"),
    ("eight_always", None, "true or false"),
    ("voluntary_pickup", "no", "true or false"),
    ("face_up_penalty", 1, "true or false"),
    ("cross_zone", 1, "true or false"),
    ("three_player_third_scores", None, "true or false"),
    ("rounds", 0, "'per_player' or 'until_empty', or an integer 1 … 1000"),
    ("rounds", "all", "'per_player' or 'until_empty', or an integer 1 … 1000"),
    ("rounds", None, "'per_player' or 'until_empty', or an integer 1 … 1000"),
    ("pig_supply", 0, "an integer 1 … 1000"),
    ("first_dealer", 6, "'random', or an integer 0 … 5"),
    ("first_dealer", "left", "'random', or an integer 0 … 5"),
    ("tie_break", "first", "'shared'"),
    ("show_in_order", "rising", "true or false"),
    ("max_turns", 0, "an integer 1 … 100000"),
]


@pytest.mark.parametrize(("name", "value", "wanted"), BAD_VALUES)
def test_bad_value(name: str, value: Any, wanted: str) -> None:
    """A value that an option cannot have is refused, naming the option, what it may be and what came."""
    with pytest.raises(OptionError) as raised:
        registry.make("pig_pile", rules={name: value})
    message = str(raised.value)
    assert name in message
    assert wanted in message
    assert repr(value) in message


def test_every_option_has_a_bad_value() -> None:
    """The list above leaves out no option."""
    assert {name for name, _, _ in BAD_VALUES} == set(JP)


@pytest.mark.parametrize("preset", list(RULES_OF))
def test_editions(preset: str) -> None:
    """Every option of every edition is what the rule book's tables say."""
    assert registry.make("pig_pile", preset=preset).rules.to_json() == RULES_OF[preset]
    assert next(iter(PRESETS)) == "jp"


@pytest.mark.parametrize(
    ("num_players", "rules", "message"),
    [
        (2, {}, "num_players must be an integer 3 … 6"),
        (7, {}, "num_players must be an integer 3 … 6"),
        (6, {"hand_size": 10}, "6 players of 6 cards on the table and 10 in hand need 96; the pack has 80"),
        (4, {"copies": 6, "num_wilds": 9}, "at most 80 cards; they make 81"),
        (4, {"first_dealer": 4}, r"first_dealer must be 'random' or 0 … 3; got 4"),
    ],
)
def test_contradiction(num_players: int, rules: dict[str, Any], message: str) -> None:
    """Options that contradict each other, or the number of players, are refused with the reason."""
    with pytest.raises(OptionError, match=message):
        registry.make("pig_pile", num_players, rules=rules)


def test_actions_are_as_few_as_the_options_allow() -> None:
    """The action space holds what can ever be legal, and nothing else."""
    texts = registry.make("pig_pile").action_texts
    plays = [f"{number}x{count}" for number in range(1, 13) for count in range(1, 5)]
    cards = [*map(str, range(1, 13)), "W"]
    wilds = [f"Wx{count}" for count in range(1, 7)]
    taken = [f"pickup+{number}" for number in range(1, 12)]
    assert list(texts) == [*(f"show {card}" for card in cards), *plays, *wilds, "pickup", *taken, "flip"]
    quick = registry.make("pig_pile", preset="en_quick").action_texts
    assert not any(text.startswith("show") for text in quick)
    bare = registry.make("pig_pile", rules={"table_cards": 0, "num_wilds": 0, "copies": 1}).action_texts
    assert list(bare) == [*(f"{number}x1" for number in range(1, 13)), "pickup"]
    assert len(registry.make("pig_pile", max_players=6).action_texts) == 13 + 72 + 8 + 13
    mixed = registry.make("pig_pile", rules={"wild_in_play": True}).action_texts
    assert len(mixed) == len(texts) + 48 * 6


# --- deals and what is called out -------------------------------------------------------------------------------------

GOOD_DEAL = deal_of(("4", "8", "9", "W", "4", "8", "9", "W"), 2)


def test_given_deal_is_laid_out() -> None:
    """A deal given by hand is on the table as given."""
    table = Table(registry.make("pig_pile", preset="mini"))
    table.start(0, deals=[{**GOOD_DEAL, "dealer": 1}])
    assert table.deal() == {**GOOD_DEAL, "dealer": 1}
    assert table.seat == 1
    assert [table.game.action_texts[action] for action in table.legal_actions()] == ["show 4", "show 8"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dealer": 2}, r"dealer must be a seat 0 … 1; got 2"),
        ({"dealer": True}, r"dealer must be a seat"),
        ({"dealer": None}, r"dealer must be a seat"),
        ({"hands": [["9", "W"]]}, r"hands must be 2 lists of 2 cards"),
        ({"hands": [["9"], ["W", "4", "8"]]}, r"hands must be 2 lists of 2 cards"),
        ({"hands": 5}, r"hands must be 2 lists of 2 cards"),
        ({"face_down": [["4"], "8"]}, r"face_down must be 2 lists of 1 cards"),
        ({"stock": "9W"}, r"stock must be a list of cards"),
        ({"stock": ["9"]}, r"exactly the pack of these rules; wrong: \['W: 1 for 2'\]"),
        ({"stock": ["9", "9"]}, r"exactly the pack .*9: 3 for 2"),
        ({"stock": ["9", "5"]}, r"exactly the pack .*5"),
        ({"stock": [9, "W"]}, r"exactly the pack .*9"),
        ({"stock": [["9"], "W"]}, r"exactly the pack"),
        ({"extra": 1}, r"has dealer, face_down, hands, stock"),
        ({"face_up": [["4"], ["8"]]}, r"has dealer, face_down, hands, stock"),
    ],
)
def test_bad_deal(change: dict[str, Any], message: str) -> None:
    """A deal that the rules do not allow is refused with what is wrong, and the table is what it was."""
    table = Table(registry.make("pig_pile", preset="mini"))
    table.start(3)
    before = table.states.tobytes()
    for given in ({**GOOD_DEAL, **change},):
        with pytest.raises(DealError, match=message):
            table.start(0, deals=[given])
    assert table.states.tobytes() == before


def test_deals_of_several_rounds() -> None:
    """A greased match takes an open deal for the first round and one to choose from for the next."""
    rules = {"face_up": "greased", "rounds": 2, "first_dealer": 0}
    game = registry.make("pig_pile", preset="mini", rules=rules)
    first = {
        "dealer": 0, "face_down": [["8"], ["4"]], "face_up": [["8"], ["4"]], "hands": [["W"], ["9"]],
        "stock": ["9", "W"],
    }  # fmt: skip
    table = Table(game)
    table.start(0, deals=[first, GOOD_DEAL])
    assert table.deal() == first
    while table.round == 0:
        table.step(table.legal_actions()[-1])
    assert table.deal() == GOOD_DEAL
    with pytest.raises(DealError, match=r"deal of round 1: .*has dealer, face_down, hands, stock"):
        table.start(0, deals=[first, first])


@pytest.mark.parametrize(
    ("name", "text", "called"),
    [
        ("PP-1", "8x1", "Hog Wash"),
        ("PP-2", "5x2", "Hog Wash"),
        ("PP-7", "4x1", "Hog Wash"),
        ("PP-8", "11x1", "Ewe-Turn"),
        ("PP-9", "pickup", ""),
        ("PP-10", "9x1", "nine"),
        ("PP-11", "Wx1", "Hog Wild"),
        ("PP-12", "pickup+2", ""),
        ("PP-13", "flip", "three"),
        ("PP-14", "flip", "seven"),
        ("PP-15", "4x1", "Hog Tied"),
        ("PP-22 default", "5x1", "five"),
        ("PP-22 wild", "5x1", "Hog Wash"),
    ],
)
def test_call_out(name: str, text: str, called: str) -> None:
    """The player calls out the card's name or number, or the wash."""
    game, before = position(next(case for case in CASES if case.id == name))
    after = before.copy()
    play(game, after, text)
    assert DEFINITION.call_out(before[0], after[0], game.row[0], text) == called


# --- environments -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not COMPILED, reason="PettingZoo's tests play many games")
@pytest.mark.parametrize("preset", ["jp", "mini"])
def test_pettingzoo_api(preset: str) -> None:
    """PettingZoo's own tests find nothing wrong, neither turn by turn nor with all seats at once."""
    api_test(pig_pile_v0.env(preset=preset), num_cycles=500)
    parallel_api_test(pig_pile_v0.parallel_env(preset=preset, illegal="random"), num_cycles=100)


def test_rewards_of_rounds() -> None:
    """Under the reward "score" each round pays when it ends, a third for each pig above the mean."""
    game = registry.make("pig_pile", preset="mini", rules={"rounds": 2, "max_turns": 2000}, reward="score")
    table, paid = Table(game), []
    table.start(3)
    while table.over == 0:
        rewards = table.step(table.legal_actions()[0])
        if rewards.any():
            paid.append(np.round(np.abs(rewards).astype(float), 6).tolist())
    # Three pigs to none: half of three above the mean, and half of three below.
    assert paid == [[0.5, 0.5], [0.5, 0.5]]
