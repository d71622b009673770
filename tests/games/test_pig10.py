"""Pig 10: the rule book's cases, the slow twin, what each seat knows, and the options."""

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
from pigenv.games.pig10 import DEFINITION, PRESETS, STATE, deal, hide, legal, observe, step
from pigenv.kernel import COMPILED, below, draw, kernel
from pigenv.table import EPISODE, Table, loops
from tests.naive.pig10 import NaivePig10
from tests.naive.pig10_cases import CASES, Case
from tests.strategies import PIG10_DEFAULTS, pig10_rules

pytestmark = pytest.mark.rules

FAST = COMPILED and not os.environ.get("NUMBA_BOUNDSCHECK")
CHUNKS = 20 if COMPILED else 4
GAMES_A_CHUNK = 1_000 if FAST else 200 if COMPILED else 20
GAMES_A_RULES = 25 if COMPILED else 5
LONGEST = 121


# --- the rule book's cases --------------------------------------------------------------------------------------------


def position(
    num_players: int,
    pile: list[int],
    value: int | None,
    seat: int,
    hands: list[list[int]],
    stock: list[int],
    **rules: Any,
) -> tuple[Game, np.ndarray]:
    """A game and a state with these cards where they lie; the pack holds just them."""
    cards = Counter([*pile, *stock, *(card for hand in hands for card in hand)])
    game = registry.make("pig10", num_players, rules={"deck_counts": [cards[card] for card in range(11)], **rules})
    state = np.zeros(1, STATE)
    row = state[0]
    row["hand"], row["pack"] = -1, -1
    for holder, hand in enumerate(hands):
        row["hand"][holder, : len(hand)] = hand
        row["hand_size"][holder] = len(hand)
    size = sum(cards.values())
    row["dealt"] = size - len(stock)
    row["pack"][row["dealt"] : size] = stock
    row["pile"][: len(pile)] = pile
    row["pile_size"], row["value"], row["seat"] = len(pile), -1 if value is None else value, seat
    row["last_player"] = (seat - 1) % num_players if pile else -1
    row["last_winner"] = -1
    for card in pile:
        row["played"][card] += 1
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
    hands = [case.other_hands.get(seat, [1, 2, 3]) for seat in range(case.num_players)]
    hands[case.mover] = case.hand
    game, state = position(case.num_players, case.pile, case.value, case.mover, hands, case.stock, **case.rules)
    row, expected = state[0], case.expected
    if "legal" in expected:
        assert legal_texts(game, state) == expected["legal"]
    for card, texts in expected.get("legal_for_card", {}).items():
        assert [text for text in legal_texts(game, state) if text.rstrip("-=") == str(card)] == texts
    for text in case.steps:
        play(game, state, text)
    if "pile" in expected:
        assert row["pile"][: row["pile_size"]].tolist() == expected["pile"]
    if "value" in expected:
        assert row["value"] == (-1 if expected["value"] is None else expected["value"])
    if "taken" in expected:
        assert row["taken"][: case.num_players].tolist() == [
            expected["taken"].get(seat, 0) for seat in range(case.num_players)
        ]
    if "next seat" in expected:
        assert row["seat"] == expected["next seat"]
    if "hand size" in expected:
        assert row["hand_size"][case.mover] == expected["hand size"]


def test_every_row_has_its_case() -> None:
    """The rows P10-1 to P10-18 are all among the cases; P10-19 is `test_p10_19`."""
    assert {case.id.split()[0] for case in CASES} == {f"P10-{row}" for row in range(1, 19)}


@pytest.mark.parametrize("num_players", range(2, 9))
def test_p10_19(num_players: int) -> None:
    """P10-19: whatever is played, a game takes 80 turns, and cards won plus the middle make 80."""
    game = registry.make("pig10", num_players)
    for number in range(200 if COMPILED else 5):
        log = Log(game, number, policy=number % 3)
        assert log.steps == 80
        end = log.states[80]
        assert end["over"] == 1
        assert end["taken"][:num_players].sum() + end["pile_size"] == 80
        assert end["played"].tolist() == PIG10_DEFAULTS["deck_counts"]
        held = log.states["hand_size"][:80, :num_players].sum(axis=1) + 80 - log.states["dealt"][:80]
        assert (held + log.states["taken"][:80].sum(axis=1) + log.states["pile_size"][:80] == 80).all()


# --- whole games, logged ----------------------------------------------------------------------------------------------


@kernel
def play_logged(
    states: np.ndarray,
    rules: np.ndarray,
    key: np.uint64,
    policy: int,
    actions: np.ndarray,
    masks: np.ndarray,
    counts: np.ndarray,
    lookers: np.ndarray,
    views: np.ndarray,
    observations: np.ndarray,
) -> int:
    """Play a whole game and keep everything; policy 0 is random, 1 plays the first and 2 the last legal action."""
    states[0]["key"] = key
    deal(states[0], rules[0])
    at = 0
    while True:
        views[at] = states[at]
        views[at]["key"] = 0
        hide(views[at], rules[0], lookers[at])
        observe(views[at], rules[0], lookers[at], observations[at])
        if states[at]["over"] != 0:
            return at
        counts[at] = legal(states[at], rules[0], masks[at])
        place = 0
        if policy == 0:
            place = below(draw(key + np.uint64(1), at), counts[at])
        elif policy == 2:
            place = counts[at] - 1
        for action in range(masks.shape[1]):
            if masks[at, action] == 1:
                if place == 0:
                    actions[at] = action
                place -= 1
        states[at + 1] = states[at]
        step(states[at + 1], rules[0], actions[at])
        at += 1


class Log:
    """A whole game: states, actions, masks, and what one seat after another saw."""

    def __init__(self, game: Game, key: int, policy: int = 0) -> None:
        self.game = game
        self.states = np.zeros(LONGEST, STATE)
        self.views = np.zeros(LONGEST, STATE)
        self.actions = np.zeros(LONGEST, np.int64)
        self.counts = np.zeros(LONGEST, np.int64)
        self.masks = np.zeros((LONGEST, game.num_actions), np.int8)
        self.observations = np.zeros((LONGEST, game.layout.size), np.float32)
        # Every seat in turn, out of step with who moves.
        self.lookers = (np.arange(LONGEST) * 3 // 2 + key) % game.num_players
        self.steps = int(
            play_logged(
                self.states, game.row, np.uint64(key), policy, self.actions, self.masks, self.counts, self.lookers,
                self.views, self.observations,
            )
        )  # fmt: skip

    def twin(self) -> NaivePig10:
        """The slow twin at the start of the same game."""
        given = DEFINITION.read_deal(self.states[0], self.game.row[0])
        return NaivePig10(self.game.num_players, self.game.rules.to_json(), given)

    def texts(self) -> list[str]:
        """The actions played."""
        return [self.game.action_texts[action] for action in self.actions[: self.steps]]


def random_games(seed: int, count: int, **options: Any) -> list[Game]:
    """Tables of 2 to 8 players with random rules."""
    generator = random.Random(seed)
    found = []
    for _ in range(count):
        num_players = generator.randint(2, 8)
        rules = pig10_rules(generator, num_players)
        found.append(registry.make("pig10", num_players, rules=rules, **options))
    return found


def hand_of(row: list[int], size: int) -> list[int]:
    assert all(card == -1 for card in row[size:])
    return sorted(row[:size])


def compare_game(log: Log) -> None:
    """Everything in every position of a logged game is what the twin has."""
    twin, n, end = log.twin(), log.game.num_players, log.steps + 1
    states, views = log.states[:end], log.views[:end]
    size = int(log.game.row["pack_size"][0])
    deck = log.game.rules.deck_counts  # type: ignore[attr-defined]
    texts = log.game.action_texts
    column = {name: states[name].tolist() for name in ("seat", "value", "pile_size", "dealt", "turn", "last_winner")}
    over, taken, sizes = states["over"].tolist(), states["taken"][:, :n].tolist(), states["hand_size"][:, :n].tolist()
    hands, piles, packs = states["hand"][:, :n].tolist(), states["pile"].tolist(), states["pack"][:, :size].tolist()
    seen_hands, seen_piles = views["hand"][:, :n].tolist(), views["pile"].tolist()
    seen_played, lookers = views["played"].tolist(), log.lookers.tolist()
    seen = {name: views[name].tolist() for name in ("value", "seat", "pile_size", "dealt")}
    seen_taken, seen_sizes = views["taken"][:, :n].tolist(), views["hand_size"][:, :n].tolist()
    masks, actions = log.masks.tolist(), log.actions.tolist()
    assert (views["pack"] == -1).all()
    assert (views["key"] == 0).all()
    assert (log.counts[: log.steps] == log.masks[: log.steps].sum(axis=1)).all()
    for at in range(end):
        value = -1 if twin.value is None else twin.value
        assert over[at] == {None: 0, "terminated": 1, "truncated": 2}[twin.over]
        assert (column["value"][at], column["turn"][at]) == (value, twin.turn)
        assert piles[at][: column["pile_size"][at]] == twin.pile
        assert taken[at] == twin.taken
        assert packs[at][column["dealt"][at] :] == twin.stock
        assert [hand_of(hand, held) for hand, held in zip(hands[at], sizes[at], strict=True)] == [
            sorted(hand) for hand in twin.hands
        ]
        looker = lookers[at]
        known = twin.known_to(looker)
        assert hand_of(seen_hands[at][looker], seen_sizes[at][looker]) == known["hand"]
        assert all(set(hand) == {-1} for seat, hand in enumerate(seen_hands[at]) if seat != looker)
        assert seen_piles[at][: seen["pile_size"][at]] == known["pile"]
        assert (seen["value"][at], seen_taken[at]) == (value, known["taken"])
        assert (seen_sizes[at], size - seen["dealt"][at]) == (known["hand_sizes"], known["stock_size"])
        own = known["hand"]
        assert {v: deck[v] - seen_played[at][v] - own.count(v) for v in range(11)} == known["unseen"]
        if over[at]:
            break
        assert column["seat"][at] == seen["seat"][at] == twin.seat
        # At the end it no longer means anything: leftover cards are no pile that was won.
        assert column["last_winner"][at] == (-1 if twin.last_winner is None else twin.last_winner)
        assert sorted(text for text, bit in zip(texts, masks[at], strict=True) if bit) == twin.legal()
        twin.step(texts[actions[at]])
    compare_payment(log, twin)


def compare_payment(log: Log, twin: NaivePig10) -> None:
    """Final scores and all three rewards are the twin's."""
    n, end = log.game.num_players, log.states[log.steps : log.steps + 1]
    points = np.zeros((1, n))
    loops(DEFINITION).score_tables(end, log.game.row, points)
    assert points[0].tolist() == twin.scores()
    scale = sum(log.game.rules.deck_counts) / n  # type: ignore[attr-defined]
    row, episodes = log.game.row.copy(), np.zeros(1, EPISODE)
    for index, reward in enumerate(REWARDS):
        row["reward"], episodes["points"] = index, 0
        rewards = np.zeros((1, n), np.float32)
        loops(DEFINITION).pay(end[0], row[0], episodes[0], rewards, 0)
        assert rewards[0].tolist() == pytest.approx(twin.returns(reward, scale), abs=1e-6)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_twin(chunk: int) -> None:
    """Over random games under random options the twin agrees at every step about everything."""
    for number, game in enumerate(random_games(chunk, GAMES_A_CHUNK // GAMES_A_RULES)):
        for key in range(GAMES_A_RULES):
            compare_game(Log(game, 1_000_000 * chunk + 1_000 * number + key))


# --- observations -----------------------------------------------------------------------------------------------------


def expected_observation(game: Game, known: dict[str, Any], seat: int) -> dict[str, list[float]]:
    """Every part of an observation as the documentation of the layout words it, from what the twin says is known."""
    rules: Any = game.rules
    n, deck, hand_size = game.num_players, rules.deck_counts, rules.hand_size
    kinds = [value for value in range(11) if deck[value]]
    tops = [value for value in kinds if value < rules.target or (value == 5 and rules.five_clamp)]
    clockwise = [(seat + k) % n for k in range(n)]
    absent = [0.0] * (game.max_players - n)
    top = known["pile"][-1] if known["pile"] else None
    parts = {
        "hand": [known["hand"].count(value) / hand_size for value in kinds],
        "pile_value": [float(known["value"] == value) for value in [None, *range(rules.target)]],
        "pile_top": [float(top == value) for value in tops],
        "pile_size": [min(1.0, len(known["pile"]) / 20)],
        "stock_size": [known["stock_size"] / max(1, sum(deck) - n * hand_size)],
        "taken": [known["taken"][each] / sum(deck) for each in clockwise] + absent,
        "hand_size": [known["hand_sizes"][each] / hand_size for each in clockwise] + absent,
    }
    if game.mixed:
        parts["num_players"] = [float(count == n) for count in range(2, game.max_players + 1)]
    if game.memory:
        parts["unseen"] = [known["unseen"][value] / deck[value] for value in kinds]
    return {name: numbers for name, numbers in parts.items() if numbers}


@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize("max_players", [None, 8])
def test_observation(memory: bool, max_players: int | None) -> None:
    """Every part of every observation is what its documentation says about what the twin knows."""
    for number, game in enumerate(random_games(77, 60 if COMPILED else 8, memory=memory, max_players=max_players)):
        log = Log(game, 31 * number)
        twin = log.twin()
        for at, text in enumerate([*log.texts(), ""]):
            seat = int(log.lookers[at])
            parts = expected_observation(game, twin.known_to(seat), seat)
            assert list(parts) == [part.name for part in game.layout.parts]
            for name, numbers in parts.items():
                seen = log.observations[at][game.layout.slices[name]].tolist()
                assert seen == pytest.approx(numbers, abs=1e-6), (name, at, game)
            if text:
                twin.step(text)


@pytest.mark.skipif(not COMPILED, reason="ten thousand plies are for the compiled kernels")
@pytest.mark.parametrize("preset", PRESETS)
def test_no_feature_is_constant(preset: str) -> None:
    """Over ten thousand random plies no number of an observation stays the same."""
    game = registry.make("pig10", preset=preset)
    seen: list[np.ndarray] = []
    plies, key = 0, 0
    while plies < 10_000:
        log = Log(game, key)
        seen.append(log.observations[: log.steps])
        plies, key = plies + log.steps, key + 1
    spread = np.ptp(np.concatenate(seen), axis=0)
    constant = [f"{name}[{i}]" for name, part in game.layout.slices.items() for i in np.flatnonzero(spread[part] == 0)]
    assert constant == []


# --- what a seat knows ------------------------------------------------------------------------------------------------

TINY: dict[str, Any] = {"deck_counts": [1, 2, 0, 2, 0, 2, 0, 0, 0, 0, 0], "hand_size": 2, "first_player": 0}
"""Seven cards: 630 deals by value, so that all of them can be gone through."""


@cache
def tiny_deals() -> list[tuple[int, ...]]:
    """Every order of the tiny pack, by value."""
    pack = [value for value, count in enumerate(TINY["deck_counts"]) for _ in range(count)]
    return sorted(set(itertools.permutations(pack)))


def replayed(order: tuple[int, ...], texts: list[str], seat: int) -> tuple[NaivePig10, list[Any]] | None:
    """The twin after these actions, and all that a seat saw on the way; None where they are not legal."""
    given = {"first_player": 0, "hands": [list(order[:2]), list(order[2:4])], "stock": list(order[4:])}
    twin = NaivePig10(2, {**PIG10_DEFAULTS, **TINY}, given)
    seen = [twin.known_to(seat)] if seat >= 0 else []
    for text in texts:
        if text not in twin.legal():
            return None
        twin.step(text)
        if seat >= 0:
            seen.append(twin.known_to(seat))
    return twin, seen


def hidden_from(twin: NaivePig10, seat: int) -> tuple[Any, ...]:
    """What a seat does not see: the other hand, and the stock in order."""
    return tuple(sorted(twin.hands[1 - seat])), tuple(twin.stock)


def tiny_position(order: tuple[int, ...], texts: list[str]) -> tuple[Game, np.ndarray]:
    """The state after these actions from this order of the pack."""
    game = registry.make("pig10", 2, rules=TINY)
    table = Table(game)
    given = {"first_player": 0, "hands": [list(order[:2]), list(order[2:4])], "stock": list(order[4:])}
    table.start(0, deals=[given])
    for text in texts:
        table.step(game.action_number(text))
    return game, table.states.copy()


def drawn_worlds(game: Game, state: np.ndarray, seat: int, count: int) -> np.ndarray:
    """Worlds drawn from what a seat knows, keys 1, 2, 3 and so on."""
    view = state.copy()
    view["key"] = 0
    hide(view[0], game.row[0], seat)
    worlds = np.repeat(view, count)
    loops(DEFINITION).determinize_views(worlds, game.row, np.arange(1, count + 1).astype(np.uint64))
    return worlds


POSITIONS = [
    pytest.param((5, 3, 1, 0, 3, 5, 1), [], 0, id="deal, seat 0"),
    pytest.param((5, 3, 1, 0, 3, 5, 1), [], 1, id="deal, seat 1"),
    pytest.param((5, 3, 1, 0, 3, 5, 1), ["3"], 0, id="after own play"),
    pytest.param((5, 3, 1, 0, 3, 5, 1), ["3"], 1, id="after the other's play"),
    pytest.param((1, 1, 3, 5, 0, 3, 5), ["1", "3"], 0, id="one each, seat 0"),
    pytest.param((1, 1, 3, 5, 0, 3, 5), ["1", "3"], 1, id="one each, seat 1"),
    pytest.param((3, 0, 5, 3, 1, 5, 1), ["0"], 1, id="after a card that there is only one of"),
]


@pytest.mark.parametrize(("order", "texts", "seat"), POSITIONS)
def test_determinize_is_uniform(order: tuple[int, ...], texts: list[str], seat: int) -> None:
    """Worlds come as often as there are deals that would have allowed the same actions and shown the seat the same."""
    truth = replayed(order, texts, seat)
    assert truth is not None
    wanted: Counter[Any] = Counter()
    for other in tiny_deals():
        found = replayed(other, texts, seat)
        if found is not None and found[1] == truth[1]:
            wanted[hidden_from(found[0], seat)] += 1
    assert len(wanted) > 1
    game, state = tiny_position(order, texts)
    worlds = drawn_worlds(game, state, seat, 40_000 if FAST else 4_000)
    size = sum(TINY["deck_counts"])
    drawn = Counter(
        (
            tuple(sorted(world["hand"][1 - seat, : world["hand_size"][1 - seat]].tolist())),
            tuple(world["pack"][world["dealt"] : size].tolist()),
        )
        for world in worlds
    )
    assert set(drawn) <= set(wanted)
    total = sum(wanted.values())
    expected = [len(worlds) * each / total for each in wanted.values()]
    assert stats.chisquare([drawn[each] for each in wanted], expected).pvalue > 1e-4


@pytest.mark.parametrize("texts", [[], ["5"]])
def test_redraw_of_what_nobody_saw_is_uniform(texts: list[str]) -> None:
    """With the hands known, every order of the stock is equally likely."""
    game, state = tiny_position((5, 3, 1, 0, 3, 5, 1), texts)
    worlds = drawn_worlds(game, state, ANYBODY, 6_000 if COMPILED else 600)
    at, size = int(state["dealt"][0]), sum(TINY["deck_counts"])
    assert (worlds["hand"] == state["hand"]).all()
    orders = set(itertools.permutations(state["pack"][0, at:size].tolist()))
    drawn = Counter(tuple(world["pack"][at:size].tolist()) for world in worlds)
    assert set(drawn) == orders
    assert stats.chisquare([drawn[each] for each in orders]).pvalue > 1e-4


def test_same_view_same_worlds() -> None:
    """Two truths that a seat cannot tell apart give it equal views, and equal worlds for equal keys."""
    for number, game in enumerate(random_games(5, 30 if COMPILED else 5)):
        log = Log(game, number)
        for at in range(0, log.steps, 5):
            seat = int(log.lookers[at])
            others = drawn_worlds(game, log.states[at : at + 1], seat, 3)
            again = [drawn_worlds(game, others[i : i + 1], seat, 4).tobytes() for i in range(3)]
            assert len(set(again)) == 1
            assert again[0] == drawn_worlds(game, log.states[at : at + 1], seat, 4).tobytes()


def test_worlds_keep_every_card() -> None:
    """A drawn world holds exactly the pack, and differs from the truth in nothing that is open."""
    for number, game in enumerate(random_games(6, 40 if COMPILED else 5)):
        log, n = Log(game, number), game.num_players
        deck = list(game.rules.deck_counts)  # type: ignore[attr-defined]
        for at in range(0, log.steps, 4):
            state, seat = log.states[at : at + 1], int(log.lookers[at])
            for world in drawn_worlds(game, state, seat, 3):
                held = world["hand"][:n]
                stock = world["pack"][world["dealt"] : sum(deck)]
                cards = Counter([*held[held >= 0].tolist(), *stock.tolist()])
                assert [cards[value] + int(world["played"][value]) for value in range(11)] == deck
                assert sorted(held[seat].tolist()) == sorted(state["hand"][0, seat].tolist())
                for name in ("hand_size", "taken", "played", "value", "pile", "pile_size", "seat", "turn", "dealt"):
                    assert (world[name] == state[name][0]).all()


def test_hide_wipes_every_secret() -> None:
    """However other hands and the stock are exchanged in the state itself, a seat's view keeps its bytes."""
    generator = np.random.default_rng(9)
    for number, game in enumerate(random_games(8, 40 if COMPILED else 5)):
        log, n = Log(game, number), game.num_players
        for at in range(0, log.steps, 4):
            seat = int(log.lookers[at])
            other, changed = log.states[at : at + 1].copy(), log.views[at : at + 1].copy()
            row, size = other[0], sum(game.rules.deck_counts)  # type: ignore[attr-defined]
            others = [s for s in range(n) if s != seat]
            hidden = np.concatenate(
                [row["pack"][row["dealt"] : size], *(row["hand"][s, : row["hand_size"][s]] for s in others)]
            )
            generator.shuffle(hidden)
            row["pack"][row["dealt"] : size], rest = np.split(hidden, [size - row["dealt"]])
            row["pack"][: row["dealt"]] = generator.permutation(row["pack"][: row["dealt"]])
            for s in others:
                row["hand"][s, : row["hand_size"][s]], rest = np.split(rest, [int(row["hand_size"][s])])
            row["key"] = 0
            hide(row, game.row[0], seat)
            assert other.tobytes() == changed.tobytes()


# --- the smallest game ------------------------------------------------------------------------------------------------


def count_histories(rules: dict[str, Any]) -> tuple[int, int]:
    """All histories of a game of two, and those that are finished: the root, each deal by value, and all plays of it.

    A deal is who begins, the two hands, and the stock in order.
    """
    deck = Counter({value: count for value, count in enumerate(rules["deck_counts"]) if count})
    size = rules["hand_size"]

    @cache
    def below_here(hands: tuple[tuple[int, ...], ...], stock: tuple[int, ...], pile: Any, seat: int) -> tuple[int, int]:
        twin = NaivePig10(2, rules, {"first_player": seat, "hands": [list(h) for h in hands], "stock": list(stock)})
        twin.value, twin.pile = pile[0], list(pile[1])
        positions, finished = 1, 0
        for text in twin.legal():
            after = NaivePig10(
                2, rules, {"first_player": seat, "hands": [list(h) for h in hands], "stock": list(stock)}
            )
            after.value, after.pile = pile[0], list(pile[1])
            after.step(text)
            if after.over is not None:
                positions, finished = positions + 1, finished + 1
                continue
            # Only value and top matter for what may be played later.
            next_hands = tuple(tuple(sorted(hand)) for hand in after.hands)
            found = below_here(next_hands, tuple(after.stock), (after.value, tuple(after.pile[-1:])), after.seat)
            positions, finished = positions + found[0], finished + found[1]
        return positions, finished

    positions, finished = 1, 0
    firsts = [0, 1] if rules["first_player"] == "random" else [rules["first_player"]]
    for one in sorted(set(itertools.combinations(sorted(deck.elements()), size))):
        left = deck - Counter(one)
        for two in sorted(set(itertools.combinations(sorted(left.elements()), size))):
            rest = left - Counter(two)
            for stock in sorted(set(itertools.permutations(sorted(rest.elements())))):
                for first in firsts:
                    found = below_here((one, two), stock, (None, ()), first)
                    positions, finished = positions + found[0], finished + found[1]
    return positions, finished


@pytest.mark.skipif(not COMPILED, reason="counts with the twin alone, once is enough")
def test_mini_is_as_small_as_it_says() -> None:
    """The whole tree of `mini` has the number of histories that its meaning states, at most a million."""
    game = registry.make("pig10", preset="mini")
    assert game.num_players == 2
    rules = game.rules.to_json()
    # No game is cut short, so turns need not be counted in the tree.
    assert rules["max_turns"] >= sum(rules["deck_counts"])
    positions, _ = count_histories(rules)
    assert positions <= 1_000_000
    assert f"{positions:,}" in PRESETS["mini"].meaning


def test_mini_has_choices_that_matter() -> None:
    """In `mini` a five is sometimes subtracted and a number sometimes set."""
    game = registry.make("pig10", preset="mini")
    played = {text[1:] for key in range(50) for text in Log(game, key).texts()}
    assert {"", "-", "="} <= played


# --- options ----------------------------------------------------------------------------------------------------------

DECK = PIG10_DEFAULTS["deck_counts"]

BAD_VALUES = [
    ("deck_counts", [1] * 10, "a list of 11 integers, each 0 … 40"),
    ("deck_counts", [1] * 12, "a list of 11 integers"),
    ("deck_counts", [-1, *DECK[1:]], "each 0 … 40"),
    ("deck_counts", [41, *DECK[1:]], "each 0 … 40"),
    ("deck_counts", [7.0, *DECK[1:]], "integers"),
    ("deck_counts", [True, *DECK[1:]], "integers"),
    ("deck_counts", "78888588884", "a list"),
    ("deck_counts", 80, "a list"),
    ("deck_counts", None, "a list"),
    ("deck_counts", {0: 7}, "a list"),
    ("deck_counts", [0] * 11, "1 … 120 cards; got 0"),
    ("deck_counts", [11] * 11, "1 … 120 cards; got 121"),
    ("hand_size", 0, "an integer 1 … 10"),
    ("hand_size", 11, "an integer 1 … 10"),
    ("hand_size", 3.0, "an integer 1 … 10"),
    ("hand_size", True, "an integer 1 … 10"),
    ("hand_size", "3", "an integer 1 … 10"),
    ("hand_size", None, "an integer 1 … 10"),
    ("target", 0, "an integer 1 … 10"),
    ("target", 11, "an integer 1 … 10"),
    ("target", float("nan"), "an integer 1 … 10"),
    ("winner_leads", 1, "true or false"),
    ("winner_leads", "true", "true or false"),
    ("winner_leads", None, "true or false"),
    ("leftover", "everybody", "'none' or 'last_player' or 'last_winner'"),
    ("leftover", None, "'none' or 'last_player' or 'last_winner'"),
    ("leftover", 1, "'none' or 'last_player' or 'last_winner'"),
    ("leftover", "NONE", "'none' or 'last_player' or 'last_winner'"),
    ("five_clamp", 0, "true or false"),
    ("five_clamp", 1.0, "true or false"),
    ("same_rule", "all", "'both' or 'value' or 'previous' or 'off'"),
    ("same_rule", False, "'both' or 'value' or 'previous' or 'off'"),
    ("tie_break", "first", "'shared'"),
    ("first_player", "left", "'random', or an integer 0 … 7"),
    ("first_player", -1, "'random', or an integer 0 … 7"),
    ("first_player", 8, "'random', or an integer 0 … 7"),
    ("first_player", True, "'random', or an integer 0 … 7"),
    ("first_player", 1.0, "'random', or an integer 0 … 7"),
    ("max_turns", 0, "an integer 1 … 10000"),
    ("max_turns", 10_001, "an integer 1 … 10000"),
    ("max_turns", 200.0, "an integer 1 … 10000"),
]


@pytest.mark.parametrize(("name", "value", "wanted"), BAD_VALUES)
def test_bad_value(name: str, value: Any, wanted: str) -> None:
    """A value that an option cannot have is refused, naming the option, what it may be and what came."""
    with pytest.raises(OptionError) as raised:
        registry.make("pig10", rules={name: value})
    assert isinstance(raised.value, ValueError)
    message = str(raised.value)
    assert name in message
    assert wanted in message
    if name != "deck_counts":
        assert repr(value) in message


def test_every_option_has_a_bad_value() -> None:
    """The list above leaves out no option."""
    assert {name for name, _, _ in BAD_VALUES} == set(PIG10_DEFAULTS)


def test_defaults() -> None:
    """Every option has the default that the rules give it."""
    assert registry.make("pig10").rules.to_json() == PIG10_DEFAULTS


def test_unknown_rule() -> None:
    """An unknown option is refused, and the nearest one named."""
    with pytest.raises(OptionError, match=r"unknown rule 'hand_sice'; did you mean 'hand_size'\? Valid: deck_counts"):
        registry.make("pig10", rules={"hand_sice": 3})


@pytest.mark.parametrize(
    ("num_players", "rules", "message"),
    [
        (2, {"target": 9}, "no card may be above target 9"),
        (8, {"deck_counts": [23] + [0] * 10}, "8 players of 3 cards need 24; the pack has 23"),
        (4, {"first_player": 4}, r"first_player must be 'random' or 0 … 3; got 4"),
        (2, {"hand_size": 10, "deck_counts": [19] + [0] * 10}, "2 players of 10 cards need 20; the pack has 19"),
    ],
)
def test_contradiction(num_players: int, rules: dict[str, Any], message: str) -> None:
    """Options that contradict each other, or the number of players, are refused with the reason."""
    with pytest.raises(OptionError, match=message):
        registry.make("pig10", num_players, rules=rules)


@pytest.mark.parametrize("num_players", [0, 1, 9, -2, 2.0, "4", True, float("nan")])
def test_bad_number_of_players(num_players: Any) -> None:
    """Pig 10 is for 2 to 8 players, and nothing but an integer is a number of them."""
    with pytest.raises(OptionError, match=r"num_players must be an integer 2 … 8 under these rules; got"):
        registry.make("pig10", num_players)


@pytest.mark.parametrize("rules", [{"deck_counts": [20] + [0] * 10}, {"hand_size": 1}, {"target": 10, "max_turns": 1}])
def test_edge_of_what_is_allowed(rules: dict[str, Any]) -> None:
    """The least and the most of what the options allow can be played to the end."""
    game = registry.make("pig10", 2, rules=rules)
    for key in range(5):
        compare_game(Log(game, key))


# --- deals ------------------------------------------------------------------------------------------------------------

GOOD_DEAL: dict[str, Any] = {"first_player": 1, "hands": [[1, 2], [2, 0]], "stock": [5, 1]}
DEAL_RULES: dict[str, Any] = {"deck_counts": [1, 2, 2, 0, 0, 1, 0, 0, 0, 0, 0], "hand_size": 2}


def test_given_deal_is_laid_out() -> None:
    """A deal given by hand is on the table as given: who begins, the hands, the stock card by card."""
    table = Table(registry.make("pig10", 2, rules=DEAL_RULES))
    table.start(0, deals=[GOOD_DEAL])
    assert table.deal() == GOOD_DEAL
    assert table.seat == 1
    table.step(table.game.action_number("0"))
    assert sorted(table.states["hand"][0, 1, :2].tolist()) == [2, 5]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first_player": 2}, r"first_player must be a seat 0 … 1; got 2"),
        ({"first_player": -1}, r"first_player must be a seat"),
        ({"first_player": True}, r"first_player must be a seat"),
        ({"first_player": 1.0}, r"first_player must be a seat"),
        ({"first_player": None}, r"first_player must be a seat"),
        ({"hands": [[1, 2]]}, r"hands must be 2 lists of 2 cards"),
        ({"hands": [[1, 2, 2], [0]]}, r"hands must be 2 lists of 2 cards"),
        ({"hands": "1220"}, r"hands must be 2 lists of 2 cards"),
        ({"hands": [1, 2]}, r"hands must be 2 lists of 2 cards"),
        ({"stock": None}, r"stock must be a list of cards"),
        ({"stock": "51"}, r"stock must be a list of cards"),
        ({"stock": [5]}, r"exactly the pack of these rules; wrong: \['1: 1 for 2'\]"),
        ({"stock": [5, 1, 1]}, r"exactly the pack .*1: 3 for 2"),
        ({"stock": [5, 7]}, r"exactly the pack .*7: 1 for 0"),
        ({"stock": [5, 1.0]}, r"exactly the pack .*1\.0"),
        ({"stock": [5, True]}, r"exactly the pack .*True"),
        ({"stock": [5, "1"]}, r"exactly the pack .*'1'"),
        ({"stock": [5, [1]]}, r"exactly the pack"),
        ({"stock": [5, None]}, r"exactly the pack .*None"),
        ({"stock": [5, 10**30]}, r"exactly the pack"),
        ({"extra": 1}, r"has first_player, hands and stock"),
    ],
)
def test_bad_deal(change: dict[str, Any], message: str) -> None:
    """A deal that the rules do not allow is refused with what is wrong, and the table is what it was."""
    table = Table(registry.make("pig10", 2, rules=DEAL_RULES))
    table.start(3)
    before = table.states.tobytes(), table.episodes.tobytes()
    with pytest.raises(DealError, match=message):
        table.start(0, deals=[{**GOOD_DEAL, **change}])
    assert (table.states.tobytes(), table.episodes.tobytes()) == before


@pytest.mark.parametrize("missing", list(GOOD_DEAL))
def test_deal_with_a_part_missing(missing: str) -> None:
    """A deal without one of its parts is refused, and so is what is no deal at all."""
    table = Table(registry.make("pig10", 2, rules=DEAL_RULES))
    for given in ({k: v for k, v in GOOD_DEAL.items() if k != missing}, None, [], "deal", 5):
        with pytest.raises(DealError, match="has first_player, hands and stock"):
            table.start(0, deals=[given])  # type: ignore[list-item]


# --- what is called out -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pile", "value", "seat", "text", "called"),
    [
        ([], None, 0, "4", "four"),
        ([4], 4, 1, "3", "seven"),
        ([4, 3], 7, 2, "2", "nine"),
        ([4, 3, 2], 9, 3, "6", "fifteen"),
        ([4, 3, 2], 9, 3, "1", "PIG 10"),
        ([5, 1], 6, 2, "5-", "one"),
        ([4], 4, 1, "0", "ZERO"),
        ([5], 5, 1, "5-", "ZERO"),
        ([3, 4], 7, 1, "4=", "four"),
        ([9], 9, 0, "10", "nineteen"),
    ],
)
def test_call_out(pile: list[int], value: int | None, seat: int, text: str, called: str) -> None:
    """The player calls out the pile value as in the rule book's examples."""
    hands = [[1, 2, 3] for _ in range(4)]
    hands[seat] = [int(text.rstrip("-=")), 2, 3]
    game, before = position(4, pile, value, seat, hands, [1, 2])
    after = before.copy()
    play(game, after, text)
    assert DEFINITION.call_out(before[0], after[0], game.row[0], text) == called
