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
from scipy import stats

from pigenv import registry
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
from tests.naive.pig_pile import CARDS, NaivePigPile, sorted_cards
from tests.naive.pig_pile_cases import CASES, DECKS, EN, JP, Case, Deck
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
