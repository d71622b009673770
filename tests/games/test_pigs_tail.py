"""Pig's Tail: the rule book's cases, the slow twin, reactions, what each seat knows, hints, and the options."""

from __future__ import annotations

import copy
import itertools
import math
import os
import random
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pigenv import registry
from pigenv.errors import DealError, OptionError
from pigenv.game import ANYBODY, REWARDS, RUNNING, TERMINATED, TRUNCATED, Game
from pigenv.games.pigs_tail import (
    COMMIT,
    DEFINITION,
    EARLIEST_MS,
    EMPTY,
    FLIPS,
    NO_SLAP,
    NO_SUIT,
    NOBODY,
    NUM_QUANTILES,
    OPEN,
    PLAY,
    PRESETS,
    QUANTILES,
    STATE,
    UNDECIDED,
    UNKNOWN,
    Hints,
    begin_turn,
    deal,
    hide,
    hints,
    legal,
    observe,
    reaction_time,
    step,
)
from pigenv.kernel import COMPILED, below, draw, kernel
from pigenv.table import EPISODE, Table, loops, set_seed
from tests.naive.pigs_tail import NaivePigsTail
from tests.naive.pigs_tail_cases import CASES, Case
from tests.naive.test_pigs_tail_naive import Times, random_deals, random_times
from tests.strategies import PIGS_TAIL_DEFAULTS, RANKS, SUITS, goes_in_circles, pigs_tail_rules

pytestmark = pytest.mark.rules

FAST = COMPILED and not os.environ.get("NUMBA_BOUNDSCHECK")
CHUNKS = 20 if COMPILED else 4
GAMES_A_CHUNK = 1_000 if FAST else 200 if COMPILED else 15
GAMES_A_RULES = 5
PHASES = ("play", "commit", "name_suit", "return")
COMMITMENTS = {None: 0, "wait": 1, "anticipate": 2}


# --- the rule book's cases --------------------------------------------------------------------------------------------


def position(
    ring: str, pile: str = "", hands: dict[int, str] | None = None, num_players: int = 4, seat: int = 0, **rules: Any
) -> tuple[Game, np.ndarray]:
    """A game and a state in which a seat's turn begins, with these cards where they lie; the others are out of play."""
    game = registry.make("pigs_tail", num_players, rules={"max_turns": 6000, **rules})
    kinds = kinds_of(game)
    state = np.zeros(1, STATE)
    row, face_down = state[0], [kinds.index(card) for card in ring.split()]
    row["cards"], row["named"], row["taker"] = UNKNOWN, NO_SUIT, NOBODY
    size = int(game.row["pack_size"][0])
    row["flipped"] = size - len(face_down)
    row["cards"][row["flipped"] : size] = face_down
    for kind in face_down:
        row["in_ring"][kind] += 1
    row["pile_size"] = len(pile.split())
    row["cards"][: row["pile_size"]] = [kinds.index(card) for card in pile.split()]
    for holder, hand in (hands or {}).items():
        row["hand_size"][holder] = len(hand.split())
        for card in hand.split():
            row["held"][holder, kinds.index(card)] += 1
    begin_turn(row, seat)
    return game, state


def kinds_of(game: Game) -> list[str]:
    """The cards that differ, sorted by their texts."""
    rules: Any = game.rules
    cards = [rank + suit for rank in rules.ranks for suit in rules.suits]
    return sorted(cards) + ["X"] * (rules.num_jokers > 0)


def legal_texts(game: Game, state: np.ndarray) -> list[str]:
    """The texts of the legal actions, sorted."""
    mask = np.full(game.num_actions, 7, np.int8)
    count = legal(state[0], game.row[0], mask)
    assert count == mask.sum()
    return sorted(game.action_texts[action] for action in np.flatnonzero(mask))


def play(game: Game, state: np.ndarray, *steps: str | tuple[str, Times]) -> None:
    """Play actions by their texts, the last commitments of turns with reactions; they must be legal."""
    for each in steps:
        text, times = (each, None) if isinstance(each, str) else each
        assert text in legal_texts(game, state)
        if times is not None:
            DEFINITION.give_chance(state[0], game.row[0], {"reactions": times})  # type: ignore[misc]
        action = game.action_number(text)
        assert action is not None
        step(state[0], game.row[0], action)
        if times is not None:
            assert DEFINITION.read_chance(state[0], game.row[0]) == {"reactions": times}


def held_by(game: Game, state: np.ndarray, seat: int) -> list[str]:
    """A hand, sorted."""
    held = state["held"][0, seat]
    return [card for kind, card in enumerate(kinds_of(game)) for _ in range(held[kind])]


def pile_of(game: Game, state: np.ndarray) -> list[str]:
    """The pile, bottom to top."""
    kinds = kinds_of(game)
    return [kinds[kind] for kind in state["cards"][0, : state["pile_size"][0]]]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_rulebook_case(case: Case) -> None:
    """Every case of the rule book ends as the rule book says."""
    hands = {seat: " ".join(hand) for seat, hand in case.hands.items()}
    game, state = position(" ".join(case.ring), " ".join(case.pile), hands, case.num_players, case.mover, **case.rules)
    row, expected = state[0], case.expected
    if "legal" in expected:
        assert legal_texts(game, state) == expected["legal"]
    play(game, state, *case.steps)
    if "pile" in expected:
        assert pile_of(game, state) == expected["pile"]
    if "hands" in expected:
        wanted = [expected["hands"].get(seat, []) for seat in range(case.num_players)]
        assert [held_by(game, state, seat) for seat in range(case.num_players)] == wanted
        assert row["hand_size"][: case.num_players].tolist() == [len(hand) for hand in wanted]
    if "ring" in expected:
        assert game.row["pack_size"][0] - row["flipped"] == row["in_ring"].sum() == expected["ring"]
    if "next seat" in expected:
        assert (row["seat"], row["mover"], row["phase"]) == (expected["next seat"], expected["next seat"], PLAY)
    if "over" in expected:
        assert row["over"] == {None: RUNNING, "terminated": TERMINATED}[expected["over"]]
    if "scores" in expected:
        assert row["hand_size"][: case.num_players].tolist() == expected["scores"]
    if "ranks" in expected:
        game.row["reward"] = REWARDS.index("rank")
        n, wanted_places = case.num_players, expected["ranks"]
        places = [place + (wanted_places.count(place) - 1) / 2 for place in wanted_places]
        assert paid(game, state)[0].tolist() == pytest.approx([(n + 1 - 2 * place) / (n - 1) for place in places])


def test_every_row_has_its_case() -> None:
    """The rows of the rule book are all among the cases, but for the two that speak of whole games."""
    whole_games = {"BU-13", "BU-21"}
    assert {case.id.split()[0] for case in CASES} == {f"BU-{row}" for row in range(1, 22)} - whole_games


@pytest.mark.parametrize(
    ("rules", "size", "copies"),
    [
        ({}, 52, {1}),
        ({"num_decks": 2}, 104, {2}),
        ({"num_jokers": 2}, 54, {1, 2}),
        ({"num_decks": 2, "num_jokers": 2}, 108, {2, 4}),
        ({"ranks": "A9T", "suits": "DS", "num_jokers": 1}, 7, {1}),
    ],
)
def test_bu_13(rules: dict[str, Any], size: int, copies: set[int]) -> None:
    """BU-13: two packs make a ring of 104, jokers are counted a pack, a smaller pack has its ranks and suits alone."""
    game = registry.make("pigs_tail", 4, rules=rules)
    table = Table(game)
    table.start(1)
    ring = table.deal()["ring"]
    assert len(ring) == size
    counts = Counter(ring)
    assert sorted(counts) == kinds_of(game)
    assert set(counts.values()) == copies
    assert counts["X"] == game.rules.num_jokers * game.rules.num_decks  # type: ignore[attr-defined]


# --- whole games, logged ----------------------------------------------------------------------------------------------

BY_CHANCE, FIRST, LAST, NEVER_FLIPS = range(4)


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
    """Play a whole match and keep everything.

    The policies: any legal action, the first, the last, or any but to flip where there is another.
    """
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
        if policy == BY_CHANCE:
            place = below(draw(key + np.uint64(1), at), counts[at])
        elif policy == LAST:
            place = counts[at] - 1
        elif policy == NEVER_FLIPS and counts[at] > 1:
            place = below(draw(key + np.uint64(1), at), counts[at] - masks[at, 0]) + masks[at, 0]
        for action in range(masks.shape[1]):
            if masks[at, action] == 1:
                if place == 0:
                    actions[at] = action
                place -= 1
        states[at + 1] = states[at]
        step(states[at + 1], rules[0], actions[at])
        at += 1


def most_turns(num_cards: int) -> int:
    """Turns of a round in which nobody may play a matching card: each flip, and once each card out after each flip."""
    return num_cards + sum(range(1, num_cards))


class Log:
    """A whole match: states, actions, masks, and what one seat after another saw."""

    def __init__(self, game: Game, key: int, policy: int = BY_CHANCE) -> None:
        self.game = game
        rules: Any = game.rules
        turns = rules.max_turns
        if not goes_in_circles(rules.to_json()):
            turns = min(turns, most_turns(int(game.row["pack_size"][0])))
        longest = 1 + rules.rounds * turns * (game.num_players + 2 if rules.attack else 2)
        self.states = np.zeros(longest, STATE)
        self.views = np.zeros(longest, STATE)
        self.actions = np.zeros(longest, np.int64)
        self.counts = np.zeros(longest, np.int64)
        self.masks = np.zeros((longest, game.num_actions), np.int8)
        self.observations = np.zeros((longest, game.layout.size), np.float32)
        # Every seat in turn, out of step with who moves.
        self.lookers = (np.arange(longest) * 3 // 2 + key) % game.num_players
        self.steps = int(
            play_logged(
                self.states, game.row, np.uint64(key), policy, self.actions, self.masks, self.counts, self.lookers,
                self.views, self.observations,
            )
        )  # fmt: skip
        self.states, self.views = self.states[: self.steps + 1], self.views[: self.steps + 1]

    def starts(self) -> list[int]:
        """Where in the log each round begins."""
        return [0, *(int(at) + 1 for at in np.flatnonzero(np.diff(self.states["round"])))]

    def deals(self) -> list[dict[str, Any]]:
        """The deal of each round; those of rounds that were not reached are like the last one."""
        found = [DEFINITION.read_deal(self.states[at], self.game.row[0]) for at in self.starts()]
        return found + found[-1:] * (self.game.rules.rounds - len(found))  # type: ignore[attr-defined]

    def twin(self, rules: dict[str, Any] | None = None) -> Watched:
        """The slow twin at the start of the same match, under the rules as they were given."""
        given = self.game.rules.to_json() if rules is None else rules
        return Watched(self.game.num_players, {**PIGS_TAIL_DEFAULTS, **given}, self.deals())

    def texts(self) -> list[str]:
        """The actions played."""
        return [self.game.action_texts[action] for action in self.actions[: self.steps]]

    def times(self, at: int) -> Times | None:
        """The reactions drawn in a step."""
        drawn = DEFINITION.read_chance(self.states[at + 1], self.game.row[0])
        return None if drawn is None else drawn["reactions"]


class Watched(NaivePigsTail):
    """The twin, telling who took the pile in the last step."""

    taker = NOBODY

    def step(self, action: str, reactions: list[int | None] | None = None) -> None:
        self.taker = NOBODY
        super().step(action, reactions)

    def take_pile(self, seat: int) -> None:
        self.taker = seat
        super().take_pile(seat)


def random_tables(seed: int, count: int, **options: Any) -> list[tuple[Game, dict[str, Any]]]:
    """Tables of 2 to 12 players with random rules, and the rules as they were given; up to six more often."""
    generator = random.Random(seed)
    found = []
    for _ in range(count):
        num_players = generator.choice([2, 2, 3, 3, 4, 4, 5, 6, generator.randint(7, 12)])
        rules = pigs_tail_rules(generator, num_players)
        found.append((registry.make("pigs_tail", num_players, rules=rules, **options), rules))
    return found


def random_games(seed: int, count: int, **options: Any) -> list[Game]:
    """The tables of `random_tables`."""
    return [game for game, _ in random_tables(seed, count, **options)]


def compare_game(log: Log, rules: dict[str, Any]) -> None:
    """Everything in every position of a logged match is what the twin has."""
    twin, game, n, end = log.twin(rules), log.game, log.game.num_players, log.steps + 1
    states, views, kinds, suits = log.states, log.views, kinds_of(game), game.rules.suits  # type: ignore[attr-defined]
    num, size, texts = len(kinds), int(game.row["pack_size"][0]), game.action_texts
    of_seats = ("hand_size", "owed", "points", "commitment")
    plain = ("turn", "round", "seat", "over", "flipped", "pile_size", "named", "phase", "mover", "first_player",
             "decision", "slapped", "taker")  # fmt: skip
    column = {name: states[name].tolist() for name in plain} | {name: states[name][:, :n].tolist() for name in of_seats}
    seen = {name: views[name].tolist() for name in plain} | {name: views[name][:, :n].tolist() for name in of_seats}
    held, cards, seen_cards = states["held"][:, :n, :num].tolist(), states["cards"].tolist(), views["cards"].tolist()
    in_ring, lookers = views["in_ring"][:, :num].tolist(), log.lookers.tolist()
    masks, actions = log.masks[:end].tolist(), log.actions.tolist()
    points = np.zeros((end, n))
    loops(DEFINITION).score_tables(states, game.row, points)
    scores = points.tolist()
    assert (views["key"] == 0).all()
    assert (views["held"] == states["held"]).all()
    assert (log.counts[: log.steps] == log.masks[: log.steps].sum(axis=1)).all()
    assert log.deals()[0]["first_player"] == (rules["first_player"] if rules["first_player"] != "random" else twin.seat)
    for at in range(end):
        over, looker = column["over"][at], lookers[at]
        assert over == {None: RUNNING, "terminated": TERMINATED, "truncated": TRUNCATED}[twin.over]
        assert (column["turn"][at], column["round"][at]) == (twin.turn, twin.round)
        assert [kinds[card] for card in cards[at][: column["pile_size"][at]]] == twin.pile
        assert [kinds[card] for card in cards[at][column["flipped"][at] : size]] == twin.ring
        assert held[at] == [[hand.count(kind) for kind in kinds] for hand in twin.hands]
        assert column["hand_size"][at] == [len(hand) for hand in twin.hands]
        assert column["owed"][at] == twin.owed_turns
        assert (None if column["named"][at] == NO_SUIT else suits[column["named"][at]]) == twin.named_suit
        assert column["taker"][at] == twin.taker
        assert scores[at] == twin.scores()
        known = twin.known_to(looker)
        assert seen_cards[at][: seen["pile_size"][at]] == cards[at][: column["pile_size"][at]]
        assert set(seen_cards[at][seen["pile_size"][at] :]) <= {UNKNOWN}
        assert {kind: count for kind, count in zip(kinds, in_ring[at], strict=True) if count} == known["unseen"]
        assert size - seen["flipped"][at] == known["ring_size"]
        for name in ("hand_size", "owed", "points", "named", "turn", "round", "first_player", "mover", "seat", "phase"):
            assert seen[name][at] == column[name][at]
        if over:
            break
        assert column["points"][at] == [sum(each[seat] for each in twin.round_scores) for seat in range(n)]
        assert (column["seat"][at], column["mover"][at]) == (twin.seat, twin.mover)
        assert (PHASES[column["phase"][at]], column["first_player"][at]) == (twin.phase, twin.first_player)
        decisions = {None: UNDECIDED, "flip": FLIPS} | {kind: number for number, kind in enumerate(kinds)}
        if column["phase"][at] in (PLAY, COMMIT):
            assert column["decision"][at] == decisions[twin.decision]
            assert column["commitment"][at] == [COMMITMENTS[twin.commitments.get(seat)] for seat in range(n)]
        if column["phase"][at] == COMMIT:
            mine = known["decision"]
            assert seen["decision"][at] == (UNKNOWN if looker != twin.mover else decisions[mine])
            wanted = [UNKNOWN if seat in twin.commitments else OPEN for seat in range(n)]
            wanted[looker] = COMMITMENTS[known["commitment"]]
            assert seen["commitment"][at] == wanted
        assert sorted(text for text, bit in zip(texts, masks[at], strict=True) if bit) == twin.legal()
        twin.step(texts[actions[at]], log.times(at) if column["slapped"][at + 1] else None)
    assert len(log.deals()) == len(twin.deals)
    for number, each in enumerate(log.deals()[: twin.round + 1]):
        assert each["first_player"] == (log.deals()[0]["first_player"] + number) % n
    compare_payment(log, twin)


def paid(game: Game, *ends: np.ndarray) -> np.ndarray:
    """What the ends of a match's rounds, each a state in an array of shape `(1,)`, pay together, shape `(1, n)`."""
    episodes, rewards = np.zeros(1, EPISODE), np.zeros((1, game.num_players), np.float32)
    for state in ends:
        loops(DEFINITION).pay(state[0], game.row[0], episodes[0], rewards, 0)
    return rewards


def compare_payment(log: Log, twin: NaivePigsTail) -> None:
    """All three rewards are the twin's."""
    game, scale = log.game, int(log.game.row["pack_size"][0]) / log.game.num_players
    ends = [log.states[at : at + 1] for at in (*log.starts()[1:], log.steps)]
    for index, reward in enumerate(REWARDS):
        game.row["reward"] = index
        assert paid(game, *ends)[0].tolist() == pytest.approx(twin.returns(reward, scale), abs=1e-5)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_twin(chunk: int) -> None:
    """Over random games under random options the twin agrees at every step about everything."""
    for number, (game, rules) in enumerate(random_tables(chunk, GAMES_A_CHUNK // GAMES_A_RULES)):
        for key in range(GAMES_A_RULES):
            compare_game(Log(game, 1_000_000 * chunk + 1_000 * number + key), rules)


def play_given(game: Game, rules: dict[str, Any], seed: int) -> int:
    """Play a match with slaps at given times through game and twin; returns how many turns had them."""
    generator, definition, n = random.Random(seed), game.definition, game.num_players
    twin = Watched(n, {**PIGS_TAIL_DEFAULTS, **rules}, random_deals(generator, rules, n))
    table, given = Table(game), 0
    table.start(seed, deals=twin.deals)
    row = game.row[0]
    while twin.over is None:
        texts = twin.legal()
        assert [game.action_texts[action] for action in table.legal_actions()] == sorted(
            texts, key=game.action_texts.index
        )
        text = generator.choice(texts)
        times = random_times(generator, twin, text)
        if times is not None:
            given += 1
            looker = generator.randrange(n)
            before = table.view(looker)["reaction"] * 0, table.observe(looker).tobytes()
            definition.give_chance(table.states[0], row, {"reactions": times})  # type: ignore[misc]
            assert (table.view(looker)["reaction"] < 0).all()
            assert (table.view(looker)["given"], table.observe(looker).tobytes()) == (before[0][0, 0], before[1])
        table.step(game.action_number(text))
        twin.step(text, times)
        assert definition.read_chance(table.states[0], row) == (None if times is None else {"reactions": times})
        state = table.states
        assert [held_by(game, state, seat) for seat in range(n)] == [sorted(hand) for hand in twin.hands]
        assert (pile_of(game, state), state["taker"][0]) == (twin.pile, twin.taker)
        assert (state["owed"][0, :n].tolist(), int(state["turn"][0])) == (twin.owed_turns, twin.turn)
        assert twin.over is not None or table.seat == twin.seat
    assert table.over == {"terminated": TERMINATED, "truncated": TRUNCATED}[twin.over]
    assert table.scores().tolist() == twin.scores()
    return given


@pytest.mark.parametrize("chunk", range(4))
def test_twin_with_given_reactions(chunk: int) -> None:
    """With reactions given from outside, equal and missing ones among them, game and twin still agree."""
    given = 0
    for number, (game, rules) in enumerate(random_tables(100 + chunk, 200 if FAST else 60 if COMPILED else 8)):
        given += play_given(game, rules, number)
    assert given > (1_000 if FAST else 20)


# --- what holds in every game -----------------------------------------------------------------------------------------

FULL_TABLES: list[tuple[int, str, dict[str, Any]]] = [
    (2, "standard", {}),
    (4, "standard", {"hand_play": "forced", "forced_fallback": "flip"}),
    (6, "suit", {"num_jokers": 2, "joker_role": "return_hand"}),
    (3, "color", {"num_jokers": 1, "joker_role": "choose_suit"}),
    (4, "attack", {}),
    (5, "attack_753", {"hand_play": "optional", "foul": "skip"}),
    (6, "two_decks", {}),
    (12, "two_decks", {"num_jokers": 2}),
    (4, "standard", {"hand_play": "forced", "max_turns": 300}),
]


@pytest.mark.parametrize(("num_players", "preset", "rules"), FULL_TABLES)
def test_bu_21(num_players: int, preset: str, rules: dict[str, Any]) -> None:
    """BU-21: at any time ring, pile and hands make up the pack, kind by kind, and all sizes are what they say."""
    game = registry.make("pigs_tail", num_players, preset, rules)
    row, size = game.row[0], int(game.row["pack_size"][0])
    for key in range(40 if FAST else 10 if COMPILED else 1):
        states = Log(game, key, policy=key % 4).states
        places = np.arange(states["cards"].shape[1])
        in_pile = np.where(places < states["pile_size"][:, None], states["cards"], UNKNOWN)
        face_down = (places >= states["flipped"][:, None]) & (places < size)
        in_ring = np.where(face_down, states["cards"], UNKNOWN)
        for kind in range(row["num_kinds"]):
            assert ((in_ring == kind).sum(axis=1) == states["in_ring"][:, kind]).all()
            found = states["held"][:, :, kind].sum(axis=1) + (in_pile == kind).sum(axis=1) + states["in_ring"][:, kind]
            assert (found == row["copies"][kind]).all()
        assert (states["held"].sum(axis=2) == states["hand_size"]).all()
        total = states["hand_size"].sum(axis=1) + states["pile_size"] + size - states["flipped"]
        assert (total == size).all()
        assert (states["held"][:, num_players:] == 0).all()


def potential(states: np.ndarray, size: int) -> np.ndarray:
    """At most so many turns are left: for each card held, each in the ring, and each out after each flip to come."""
    held = states["hand_size"].sum(axis=1, dtype=np.int64)
    flipped = states["flipped"].astype(np.int64)
    out_later = size * (size - 1) // 2 - flipped * (flipped + 1) // 2
    return np.where(states["over"] == TERMINATED, 0, held + size - flipped + out_later)


@pytest.mark.parametrize(("num_decks", "bound"), [(1, 1378), (2, 5460)])
def test_no_game_is_longer(num_decks: int, bound: int) -> None:
    """Without matching cards from hand every turn uses up some of a number that begins at 1,378 (two packs: 5,460).

    A card played from hand lowers the cards held, and only a flip raises them: to no more than the cards then out of
    the ring. So after the first flip at most one card can be played from hand, after the second at most two, and so on
    up to the last but one; and each card is flipped once.
    """
    size = 52 * num_decks
    assert most_turns(size) == size + size * (size - 1) // 2 == bound
    assert PIGS_TAIL_DEFAULTS["max_turns"] > most_turns(108) > bound
    generator = random.Random(num_decks)
    for key in range(60 if FAST else 10 if COMPILED else 2):
        rules = {
            "num_decks": num_decks,
            "match": generator.choice(["suit_or_rank", "suit", "color_or_rank", "rank", "color"]),
            "hand_play": generator.choice(["optional", "forced"]),
            "forced_fallback": "flip",
            "attack": generator.random() < 0.3,
            "foul": "skip",  # who takes the pile for a foul may take back what was played from hand
        }
        game = registry.make("pigs_tail", generator.randint(2, 6), rules=rules)
        log = Log(game, key, policy=generator.choice([BY_CHANCE, LAST, NEVER_FLIPS]))
        assert log.states[-1]["over"] == TERMINATED
        done = np.flatnonzero(np.diff(log.states["turn"])) + 1
        left = potential(log.states, size)[[0, *done]]
        assert left[0] == bound
        assert (np.diff(left) <= -1).all()
        assert left[-1] == 0
        assert len(done) == log.states[-1]["turn"] <= bound


@kernel
def play_long(
    states: np.ndarray, blank: np.ndarray, rules: np.ndarray, games: int, mask: np.ndarray, turns: np.ndarray
) -> None:
    """Play games made long: no flip while a hand card may be played, and of those what the next seat can best follow.

    Each game writes its number of turns.
    """
    for key in range(games):
        states[0] = blank[0]
        states[0]["key"] = np.uint64(key)
        deal(states[0], rules[0])
        while states[0]["over"] == 0:
            state = states[0]
            legal(state, rules[0], mask)
            chosen, most = 0, -1
            following = (state["seat"] + 1) % rules[0]["num_players"]
            for kind in range(rules[0]["num_kinds"]):
                if mask[rules[0]["play_at"] + kind] == 1:
                    able = 0
                    for other in range(rules[0]["num_kinds"]):
                        able += (state["held"][following, other] > 0) & (rules[0]["pickup"][kind, other] == 0)
                    if able > most:
                        chosen, most = rules[0]["play_at"] + kind, able
            step(states[0], rules[0], chosen)
        turns[key] = states[0]["turn"]


@pytest.mark.parametrize(("num_players", "num_decks"), [(2, 1), (3, 1), (6, 1), (2, 2)])
def test_longest_play(num_players: int, num_decks: int) -> None:
    """Players who do all they can to go on for ever play far longer than others, and yet end within the bound."""
    game = registry.make("pigs_tail", num_players, rules={"num_decks": num_decks})
    games = 2_000 if FAST else 200 if COMPILED else 1
    blank, turns = np.zeros(1, STATE), np.zeros(games, np.int64)
    play_long(blank.copy(), blank, game.row, games, np.zeros(game.num_actions, np.int8), turns)
    assert turns.min() >= 52 * num_decks
    assert turns.max() <= most_turns(52 * num_decks)
    if FAST:
        assert turns.max() > 4 * 52 * num_decks if num_players == 2 else turns.max() > 2 * 52 * num_decks


# --- how long games are -----------------------------------------------------------------------------------------------


@kernel
def play_shares(
    states: np.ndarray,
    blank: np.ndarray,
    rules: np.ndarray,
    shares: np.ndarray,
    mask: np.ndarray,
    turns: np.ndarray,
    pickups: np.ndarray,
    points: np.ndarray,
) -> None:
    """Play games in which each seat plays a hand card in so many of a hundred turns in which it can."""
    for game in range(len(turns)):
        states[0] = blank[0]
        states[0]["key"] = mix_of(game)
        deal(states[0], rules[0])
        while states[0]["over"] == 0:
            state = states[0]
            count, bits = legal(state, rules[0], mask), draw(mix_of(game), 10_000 + state["turn"])
            place = 0
            if count > 1 and below(draw(bits, 0), 100) < shares[state["seat"]]:
                place = 1 + below(draw(bits, 1), count - 1)
            chosen = 0
            for action in range(len(mask)):
                if mask[action] == 1:
                    if place == 0:
                        chosen = action
                    place -= 1
            step(states[0], rules[0], chosen)
            pickups[game] += states[0]["taker"] >= 0
        turns[game] = states[0]["turn"]
        for seat in range(rules[0]["num_players"]):
            points[game, seat] = states[0]["hand_size"][seat]


@kernel
def mix_of(game: int) -> np.uint64:
    """A key for a game by its number."""
    return draw(np.uint64(2010), game)


def shares_played(game: Game, shares: list[int], games: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Turns and pick-ups of games with such players, and the cards they ended with."""
    turns, pickups = np.zeros(games, np.int64), np.zeros(games, np.int64)
    points, blank = np.zeros((games, game.num_players), np.int64), np.zeros(1, STATE)
    mask = np.zeros(game.num_actions, np.int8)
    play_shares(blank.copy(), blank, game.row, np.array(shares), mask, turns, pickups, points)
    return turns, pickups, points


LENGTHS = [
    # Players, preset, turns where hand cards are never, half the time, always played; pick-ups a game.
    (2, "standard", (52, 89, 254), (11, 15)),
    (4, "standard", (52, 79, 156), (11, 14)),
    (6, "standard", (52, 73, 120), (11, 14)),
    (4, "suit", (52, 76, 137), (9, 12)),
    (4, "color", (52, 83, 210), (17, 26)),
    (4, "two_decks", (104, 178, 543), (23, 31)),
]


@pytest.mark.skipif(not COMPILED, reason="thousands of games are for the compiled kernels")
@pytest.mark.parametrize(("num_players", "preset", "turns", "span"), LENGTHS)
def test_lengths(num_players: int, preset: str, turns: tuple[int, ...], span: tuple[int, int]) -> None:
    """Random games take as many turns, and bring as many pick-ups, as another program has found."""
    game = registry.make("pigs_tail", num_players, preset)
    for share, wanted in zip((0, 50, 100), turns, strict=True):
        found, pickups, points = shares_played(game, [share] * num_players, 3_000)
        error = found.std() / len(found) ** 0.5
        # The figures were rounded, and are of some thousand games themselves.
        assert abs(found.mean() - wanted) <= 0.5 + 4 * error + 0.01 * wanted * (share > 0)
        assert span[0] < pickups.mean() < span[1]
        assert (points.sum(axis=1) <= game.row["pack_size"][0]).all()


@pytest.mark.skipif(not COMPILED, reason="thousands of games are for the compiled kernels")
@pytest.mark.parametrize(("num_players", "others", "wins"), [(2, 0, 1.0), (2, 50, 0.96), (4, 0, 0.85), (4, 50, 0.59)])
def test_hand_cards_are_worth_playing(num_players: int, others: int, wins: float) -> None:
    """Whoever plays a hand card whenever possible wins against those who do not as often as another program found."""
    game = registry.make("pigs_tail", num_players)
    _, _, points = shares_played(game, [100] + [others] * (num_players - 1), 4_000)
    best = points == points.min(axis=1, keepdims=True)
    share = best[:, 0] / best.sum(axis=1)
    assert share.mean() == pytest.approx(wins, abs=0.03)


# --- reactions --------------------------------------------------------------------------------------------------------


def test_quantiles() -> None:
    """The table is the standard normal law in equal steps of probability, in thousandths, symmetric and ascending."""
    middle = (np.arange(NUM_QUANTILES) + 0.5) / NUM_QUANTILES
    assert QUANTILES.tolist() == np.rint(1000 * stats.norm.ppf(middle)).astype(int).tolist()
    assert (QUANTILES + QUANTILES[::-1] == 0).all()
    assert (np.diff(QUANTILES) >= 0).all()


def test_reaction_time() -> None:
    """Mean, deviation times quantile rounded to a whole millisecond, the flipper's delay, and at least 50."""
    generator = random.Random(4)
    for _ in range(400 if COMPILED else 100):
        figures = {
            "wait_ms": generator.choice([0, 450, 10_000, generator.randint(0, 10_000)]),
            "anticipate_ms": generator.choice([0, 200, 10_000, generator.randint(0, 10_000)]),
            "reaction_std_ms": generator.choice([0, 80, 1_000, generator.randint(0, 1_000)]),
            "flipper_delay_ms": generator.choice([0, 150, 10_000, generator.randint(0, 10_000)]),
        }
        row = registry.make("pigs_tail", 4, "attack", figures).row[0]
        for anticipates, lays in itertools.product([False, True], repeat=2):
            quantile = int(QUANTILES[generator.randrange(NUM_QUANTILES)])
            exact = Fraction(figures["reaction_std_ms"] * quantile, 1000)
            exact += figures["anticipate_ms" if anticipates else "wait_ms"] + figures["flipper_delay_ms"] * lays
            rounded = math.floor(exact + Fraction(1, 2))
            assert reaction_time(row, anticipates, lays, quantile) == max(50, rounded)
    assert EARLIEST_MS == 50


def drawn_times(num_players: int, turns: int, commitments: str = "w", **rules: Any) -> np.ndarray:
    """Times of slaps at triggers, −1 where there is none, shape `(turns, num_players)`; each turn of a game of its own.

    Seat k commits the letter k of `commitments`, w(ait) or a(nticipate), which is repeated; seat 0 flips.
    """
    game, state = position("AC AD", "", {}, num_players, **{"attack": True, "trigger": "A", "hand_play": "off"} | rules)
    actions = [0]
    for seat in range(num_players):
        text = "anticipate" if commitments[seat % len(commitments)] == "a" else "wait"
        action = game.action_number(text)
        assert action is not None
        actions.append(action)
    times = np.zeros((turns, num_players), np.int64)
    play_turns(np.repeat(state, 2), game.row, np.array(actions), times)
    return times


@kernel
def play_turns(states: np.ndarray, rules: np.ndarray, actions: np.ndarray, times: np.ndarray) -> None:
    """Play the same turn once for each row of times, of a key of its own."""
    for turn in range(len(times)):
        states[1] = states[0]
        states[1]["key"] = draw(np.uint64(7), turn)
        for each in range(len(actions)):
            step(states[1], rules[0], actions[each])
        for seat in range(times.shape[1]):
            times[turn, seat] = states[1]["reaction"][seat]


MANY = 20_000 if FAST else 2_000 if COMPILED else 200


@pytest.mark.parametrize(("letter", "mean"), [("w", 3_000), ("a", 1_500)])
def test_times_are_normal(letter: str, mean: int) -> None:
    """Each level's times follow the normal law of its mean and of the deviation, for every seat alike."""
    figures = {"wait_ms": 3_000, "anticipate_ms": 1_500, "reaction_std_ms": 400, "flipper_delay_ms": 0}
    times = drawn_times(4, MANY, letter, **figures)
    # Sixteen equally likely stretches; each holds 64 of the 1,024 quantiles, so that the table adds no error.
    edges = [mean + 400 * stats.norm.ppf(k / 16) for k in range(1, 16)]
    for seat in range(4):
        found = np.bincount(np.searchsorted(edges, times[:, seat]), minlength=16)
        assert stats.chisquare(found).pvalue > 1e-4
        assert stats.kstest((times[:, seat] - mean) / 400, "norm").pvalue > 1e-4
        assert times[:, seat].mean() == pytest.approx(mean, abs=5 * 400 / MANY**0.5)
        assert times[:, seat].std() == pytest.approx(400, abs=5 * 400 / (2 * MANY) ** 0.5)


def test_times_of_seats_are_independent() -> None:
    """What one seat's time is says nothing about another's, nor about the next turn's."""
    times = drawn_times(3, MANY, wait_ms=5_000, reaction_std_ms=1_000, flipper_delay_ms=0)
    quarter = np.searchsorted([5_000 + 1_000 * stats.norm.ppf(k / 4) for k in (1, 2, 3)], times)
    for one, other in [
        (quarter[:, 0], quarter[:, 1]),
        (quarter[:, 1], quarter[:, 2]),
        (quarter[:-1, 0], quarter[1:, 0]),
    ]:
        table = np.zeros((4, 4))
        np.add.at(table, (one, other), 1)
        assert stats.chi2_contingency(table).pvalue > 1e-4


def test_times_are_never_below_50() -> None:
    """However small mean and however great deviation, nobody is faster than 50 ms, and some are just as fast."""
    times = drawn_times(
        3, min(MANY, 2_000), "aw", wait_ms=0, anticipate_ms=0, reaction_std_ms=1_000, flipper_delay_ms=0
    )
    assert times.min() == 50
    assert 0.4 < (times == 50).mean() < 0.6


def test_flipper_delay() -> None:
    """Whoever lays the card is later by just the delay; nobody else's time depends on it."""
    without = drawn_times(4, min(MANY, 500), flipper_delay_ms=0)
    late = drawn_times(4, min(MANY, 500), flipper_delay_ms=150)
    assert (late - without == [150, 0, 0, 0]).all()
    assert (drawn_times(4, 50, flipper_slaps=False)[:, 0] == -1).all()
    assert (drawn_times(4, 50, flipper_slaps=False)[:, 1:] == late[:50, 1:]).all()


def test_levels_differ_by_their_means() -> None:
    """A seat that anticipates is faster than it would have been waiting by the difference of the means, no other is."""
    figures = {"wait_ms": 1_000, "anticipate_ms": 750}
    waiting, mixed = (drawn_times(4, min(MANY, 500), letters, **figures) for letters in ("wwww", "wawa"))
    assert (waiting - mixed == [0, 250, 0, 250]).all()


def test_who_has_a_time() -> None:
    """With a reason everybody has a time who may slap; without one exactly those who anticipate."""
    assert (drawn_times(4, 20, "wwaa") >= 50).all()
    without = drawn_times(4, 20, "aaww", trigger="K")
    assert (without[:, :2] >= 50).all()
    assert (without[:, 2:] == NO_SLAP).all()
    may_not = drawn_times(4, 20, "wwaa", flipper_slaps=False)
    assert (may_not[:, 0] == NO_SLAP).all()
    assert (may_not[:, 1:] >= 50).all()


def reactions_of(game: Game, deals: list[dict[str, Any]], seed: int, commit: str) -> dict[tuple[int, int], list[Any]]:
    """Times by round and turn of a match in which everybody commits the same and all flip."""
    table, found = Table(game), {}
    table.start(seed, deals=deals)
    while table.over == RUNNING:
        at = (table.round, int(table.states["turn"][0]))
        table.step(game.action_number("flip" if game.action_number("flip") in table.legal_actions() else commit))
        drawn = DEFINITION.read_chance(table.states[0], game.row[0])
        if drawn is not None:
            found[at] = drawn["reactions"]
    return found


def test_times_depend_on_round_turn_and_seat_alone() -> None:
    """Under one key a seat's chance in a turn is the same whatever the cards and whatever was decided before."""
    rules = {"ranks": "A23", "suits": "CD", "rounds": 3, "trigger": "A23", "wait_ms": 1_000, "anticipate_ms": 750}
    game = registry.make("pigs_tail", 3, "attack", rules)
    generator = random.Random(6)
    deals = [random_deals(generator, {**PIGS_TAIL_DEFAULTS, **rules}, 3) for _ in range(3)]
    times = reactions_of(game, deals[0], 5, "wait")
    assert len(times) == 18
    assert times == reactions_of(game, deals[0], 5, "wait")
    faster = {at: [time - 250 for time in each] for at, each in times.items()}
    for other in deals:
        assert reactions_of(game, other, 5, "wait") == times
        assert reactions_of(game, other, 5, "anticipate") == faster
    # Rounds, turns and seats have chances of their own, and so have seeds.
    assert len({time for each in times.values() for time in each}) > 40
    assert reactions_of(game, deals[0], 6, "wait") != times


def test_batch_does_not_matter() -> None:
    """A match, reactions included, is the same bytes at one table as among many, whatever the others' keys."""
    game, count, steps = registry.make("pigs_tail", 3, "attack", {"ranks": "A234", "rounds": 2}), 9, 150
    run = loops(DEFINITION)

    def played(numbers: list[int]) -> np.ndarray:
        n = len(numbers)
        states, episodes, views = np.zeros(n, STATE), np.zeros(n, EPISODE), np.zeros(1, STATE)
        for episode, number in zip(episodes, numbers, strict=True):
            set_seed(episode, 3, number)
        seats, masks = np.zeros(n, np.int8), np.zeros((n, game.num_actions), np.int8)
        seen, rewards = np.zeros((n, game.layout.size), np.float32), np.zeros((n, 3), np.float32)
        run.start_tables(states, game.row, episodes, np.ones(n, bool))
        run.decide_tables(states, game.row, seats, views, seen, masks)
        run.run_tables(states, game.row, episodes, steps, seats, views, seen, masks, rewards)
        return states

    together = played(list(range(count)))
    alone = np.concatenate([played([number]) for number in range(count)])
    assert together.tobytes() == alone.tobytes()
    assert together.tobytes() != played(list(range(1, count + 1))).tobytes()


# --- observations -----------------------------------------------------------------------------------------------------


def expected_observation(game: Game, twin: NaivePigsTail, seat: int) -> dict[str, list[float]]:
    """Every part of an observation as the documentation of the layout words it, from what the twin says is known."""
    rules: Any = game.rules
    n, kinds, known = game.num_players, kinds_of(game), twin.known_to(seat)
    copies = {kind: rules.num_decks * (rules.num_jokers if kind == "X" else 1) for kind in kinds}
    size = sum(copies.values())
    clockwise = [(seat + k) % n for k in range(n)]
    absent = [0.0] * (game.max_players - n)
    asks = rules.joker_role if rules.num_jokers else None

    def shares(cards: list[str] | dict[str, int]) -> list[float]:
        return [Counter(cards)[kind] / copies[kind] for kind in kinds]

    def one_hot(found: object, among: Any) -> list[float]:
        return [float(each == found) for each in among]

    top = known["pile"][-1] if known["pile"] else None
    parts = {
        "hand": shares(known["hands"][seat]),
        "pile_top": one_hot(top, [None, *(kind for kind in kinds if may_be_on_top(game, kind))]),
        "pile_size": [len(known["pile"]) / size],
        "ring_size": [known["ring_size"] / size],
        "hand_size": [known["hand_sizes"][each] / size for each in clockwise] + absent,
    }
    if asks == "choose_suit":
        parts["named_suit"] = one_hot(known["named_suit"], rules.suits)
    if rules.attack or asks in ("choose_suit", "return_hand"):
        there = {"commit": rules.attack, "name_suit": asks == "choose_suit", "return": asks == "return_hand"}
        parts["phase"] = one_hot(known["phase"], ["play", *(phase for phase, found in there.items() if found)])
    if rules.attack:
        parts["mover"] = one_hot(known["mover"], clockwise) + absent
        if rules.hand_play != "off":
            parts["decision"] = one_hot(known["decision"] if twin.over is None else None, kinds)
        if rules.foul == "skip":
            parts["owed"] = [min(1.0, known["owed_turns"][each] / 4) for each in clockwise] + absent
    if rules.rounds > 1:
        parts["round"] = [known["round"] / rules.rounds]
        done = known["round_scores"][: known["round"]]
        parts["points"] = [sum(each[s] for each in done) / size / rules.rounds for s in clockwise] + absent
    if game.mixed:
        parts["num_players"] = one_hot(n, range(2, game.max_players + 1))
    if game.memory:
        left = known["ring_size"]
        parts["pickup_chance"] = [twin.pickup_cards(seat) / left if left else 0.0]
        parts["ring"] = shares(known["unseen"])
        parts["others"] = [each for other in clockwise[1:] for each in shares(known["hands"][other])]
        parts["others"] += [0.0] * (len(absent) * len(kinds))
    return {name: numbers for name, numbers in parts.items() if numbers}


def may_be_on_top(game: Game, card: str) -> bool:
    """Whether a card may lie there when a turn begins: a trigger is taken at once, unless a hand was returned."""
    rules: Any = game.rules
    if rules.num_jokers and rules.joker_role == "return_hand":
        return True
    if card == "X":
        return rules.joker_role == "choose_suit"
    return rules.trigger == "match" or card[0] not in rules.trigger.replace("1", "A")


@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize("mixed", [True, False])
def test_observation(memory: bool, mixed: bool) -> None:
    """Every part of every observation is what its documentation says about what the twin knows."""
    for number, (plain, rules) in enumerate(random_tables(77, 80 if FAST else 30 if COMPILED else 8)):
        most = DEFINITION.seats(plain.rules)[1] if mixed else None
        game = registry.make("pigs_tail", plain.num_players, rules=rules, memory=memory, max_players=most)
        log = Log(game, 31 * number)
        twin = log.twin(rules)
        for at, text in enumerate([*log.texts(), ""]):
            seat = int(log.lookers[at])
            parts = expected_observation(game, twin, seat)
            assert list(parts) == [part.name for part in game.layout.parts]
            for name, numbers in parts.items():
                seen = log.observations[at][game.layout.slices[name]].tolist()
                assert seen == pytest.approx(numbers, abs=1e-6), (name, at, game)
            if text:
                twin.step(text, log.times(at))


def observed(game: Game, state: np.ndarray, seat: int) -> dict[str, list[float]]:
    """The parts of what a seat observes, rounded."""
    view, out = view_of(game, state, seat), np.full(game.layout.size, np.nan, np.float32)
    assert observe(view[0], game.row[0], seat, out) == game.layout.size
    return {name: [round(each, 4) for each in out[part].tolist()] for name, part in game.layout.slices.items()}


def view_of(game: Game, state: np.ndarray, seat: int) -> np.ndarray:
    """What a seat knows of a state."""
    view = state.copy()
    view["key"] = 0
    hide(view[0], game.row[0], seat)
    return view


def test_observation_by_hand() -> None:
    """A position of nine cards, worked out on paper: 2D of them is no pick-up on 3C, 2C and the 3s are."""
    rules = {"ranks": "A23", "suits": "CDH"}
    game, state = position("2C 2D 3D AH", "AD 3C", {0: "AC", 1: "2H 3H"}, 3, seat=1, **rules)
    found = observed(game, state, 0)
    # Kinds: 2C 2D 2H 3C 3D 3H AC AD AH.
    assert found == {
        "hand": [0, 0, 0, 0, 0, 0, 1, 0, 0],
        "pile_top": [0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
        "pile_size": [0.2222],
        "ring_size": [0.4444],
        "hand_size": [0.1111, 0.2222, 0],
        "pickup_chance": [0.5],
        "ring": [1, 1, 0, 0, 1, 0, 0, 0, 1],
        "others": [0, 0, 1, 0, 0, 1, 0, 0, 0] + [0] * 9,
    }
    assert observed(game, state, 1)["others"] == [0] * 9 + [0, 0, 0, 0, 0, 0, 1, 0, 0]
    assert observed(game, state, 2)["hand_size"] == [0, 0.1111, 0.2222]


def test_observation_by_hand_without_memory() -> None:
    """Without memory a table of up to six seats shows own hand, top and counts, and how many play."""
    rules = {"ranks": "A23", "suits": "CDH"}
    plain, state = position("2C 2D 3D AH", "AD 3C", {0: "AC", 1: "2H 3H"}, 3, seat=1, **rules)
    game = registry.make("pigs_tail", 3, rules=rules, memory=False, max_players=6)
    assert game.action_texts == plain.action_texts
    assert observed(game, state, 1) == {
        "hand": [0, 0, 1, 0, 0, 1, 0, 0, 0],
        "pile_top": [0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
        "pile_size": [0.2222],
        "ring_size": [0.4444],
        "hand_size": [0.2222, 0, 0.1111, 0, 0, 0],
        "num_players": [0, 1, 0, 0, 0],
    }


def test_observation_by_hand_of_attack() -> None:
    """In attack the mover sees the card it is about to lay, the others only that it has decided; owed turns show."""
    rules = {"ranks": "A23", "suits": "CD", "attack": True, "foul": "skip", "rounds": 2}
    game, state = position("2C 3D", "AD", {0: "2D 3C"}, 3, **rules)
    state["owed"][0, :3], state["points"][0, :3], state["round"] = [0, 1, 6], [2, 0, 3], 1
    play(game, state, "3C", "anticipate")
    # Kinds: 2C 2D 3C 3D AC AD.
    mover, other = observed(game, state, 0), observed(game, state, 1)
    assert (mover["phase"], mover["mover"], mover["decision"]) == ([0, 1], [1, 0, 0], [0, 0, 1, 0, 0, 0])
    assert (other["phase"], other["mover"], other["decision"]) == ([0, 1], [0, 0, 1], [0] * 6)
    assert (mover["owed"], other["owed"]) == ([0, 0.25, 1], [0.25, 1, 0])
    assert (mover["round"], mover["points"]) == ([0.5], [0.1667, 0, 0.25])
    assert other["points"] == [0, 0.25, 0.1667]
    assert mover["pickup_chance"] == [0.5]


def test_decision_is_over_once_the_card_is_shown() -> None:
    """A joker that was laid from hand is nothing that its player is about to lay, while it names a suit."""
    game, state = position(
        "2C 3D", "AD", {0: "X"}, 3, attack=True, num_jokers=1, joker_role="choose_suit", hand_play="optional"
    )
    play(game, state, "X", "wait", "wait", ("wait", [None] * 3))
    found = observed(game, state, 0)
    assert found["phase"] == [0, 0, 1]
    assert set(found["decision"]) == {0}
    play(game, state, "suit D")
    assert observed(game, state, 0)["named_suit"] == [0, 1, 0, 0]


@pytest.mark.skipif(not COMPILED, reason="tens of thousands of plies are for the compiled kernels")
@pytest.mark.parametrize("preset", PRESETS)
def test_no_feature_is_constant(preset: str) -> None:
    """Over thirty thousand plies, hand cards often played and often not, no number of an observation stays the same."""
    game = registry.make("pigs_tail", preset=preset)
    seen: list[np.ndarray] = []
    plies, key = 0, 0
    while plies < 30_000:
        log = Log(game, key, policy=NEVER_FLIPS if key % 2 else BY_CHANCE)
        seen.append(log.observations[: log.steps])
        plies, key = plies + log.steps, key + 1
    spread = np.ptp(np.concatenate(seen), axis=0)
    constant = [f"{name}[{i}]" for name, part in game.layout.slices.items() for i in np.flatnonzero(spread[part] == 0)]
    assert constant == []


# --- what a seat knows ------------------------------------------------------------------------------------------------


def drawn_worlds(game: Game, state: np.ndarray, seat: int, count: int) -> np.ndarray:
    """Worlds drawn from what a seat knows, keys 1, 2, 3 and so on."""
    worlds = np.repeat(view_of(game, state, seat), count)
    loops(DEFINITION).determinize_views(worlds, game.row, np.arange(1, count + 1).astype(np.uint64))
    return worlds


TINY: dict[str, Any] = {"ranks": "A2", "suits": "CH", "num_jokers": 1, "first_player": 0}
TWICE: dict[str, Any] = {"ranks": "A2", "suits": "C", "num_decks": 2, "num_jokers": 1, "first_player": 0}


@cache
def orders_of(cards: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every order of some cards, by kind."""
    return sorted(set(itertools.permutations(cards)))


def replayed(
    rules: dict[str, Any], order: tuple[str, ...], texts: list[str], seat: int
) -> tuple[Any, list[Any]] | None:
    """The twin after these actions, and all that a seat saw on the way; None where they are not legal."""
    deals = [{"first_player": 0, "ring": list(order)}]
    twin = NaivePigsTail(2, {**PIGS_TAIL_DEFAULTS, **rules}, deals)
    seen = [twin.known_to(seat)]
    for text in texts:
        if text not in twin.legal():
            return None
        twin.step(text)
        seen.append(twin.known_to(seat))
    return twin, seen


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("rules", "order", "texts"),
    [
        pytest.param(TINY, "AC X 2H AH 2C", [], id="deal"),
        pytest.param(TINY, "AC X 2H AH 2C", ["flip"], id="a card is out"),
        pytest.param(TINY, "AC X 2H AH 2C", ["flip", "flip", "flip", "AC"], id="a hand was taken"),
        pytest.param(TWICE, "AC 2C X 2C X AC", [], id="equal cards"),
        pytest.param(TWICE, "AC 2C X 2C X AC", ["flip", "flip", "flip", "2C"], id="equal cards, one is out"),
    ],
)
def test_determinize_is_uniform(rules: dict[str, Any], order: str, texts: list[str], seat: int) -> None:
    """Worlds come as often as there are deals that would have allowed the same actions and shown the seat the same."""
    dealt = tuple(order.split())
    truth = replayed(rules, dealt, texts, seat)
    assert truth is not None
    wanted: Counter[Any] = Counter()
    for other in orders_of(dealt):
        found = replayed(rules, other, texts, seat)
        if found is not None and found[1] == truth[1]:
            wanted[tuple(found[0].ring)] += 1
    assert len(wanted) > 1
    game = registry.make("pigs_tail", 2, rules=rules)
    table = Table(game)
    table.start(0, deals=[{"first_player": 0, "ring": list(dealt)}])
    for text in texts:
        table.step(game.action_number(text))
    kinds, at = kinds_of(game), int(table.states["flipped"][0])
    worlds = drawn_worlds(game, table.states, seat, 20_000 if FAST else 3_000 if COMPILED else 1_500)
    drawn = Counter(tuple(kinds[card] for card in ring[at : len(dealt)]) for ring in worlds["cards"].tolist())
    assert set(drawn) <= set(wanted)
    total = sum(wanted.values())
    expected = [len(worlds) * each / total for each in wanted.values()]
    assert stats.chisquare([drawn[each] for each in wanted], expected).pvalue > 1e-4


COMMITTED: list[tuple[dict[str, Any], list[str], list[str]]] = [
    # Rules, what was played, what the mover might have decided.
    ({}, ["2C", "anticipate", "wait"], ["2C", "flip"]),
    ({"allow_matching_hand_play": True}, ["KH", "wait"], ["2C", "3C", "KH", "flip"]),
    ({"hand_play": "forced"}, ["2C", "wait", "wait"], ["2C"]),
    ({"hand_play": "off"}, ["flip", "wait", "wait"], ["flip"]),
    ({"flipper_slaps": False}, ["flip", "wait", "wait", "anticipate"], ["2C", "flip"]),
]


@pytest.mark.parametrize(("rules", "texts", "decisions"), COMMITTED)
def test_worlds_of_an_attack(rules: dict[str, Any], texts: list[str], decisions: list[str]) -> None:
    """What is not shown yet is drawn from all that was legal, each as often, and independently; what is known stays."""
    options = {"attack": True, **rules}
    game, state = position("5H QD 7S", "9D 3H", {0: "2C 3C KH"}, 4, **options)
    play(game, state, *texts)
    kinds, number = kinds_of(game), len(texts) - 1
    for seat in range(4):
        worlds = drawn_worlds(game, state, seat, 6_000 if FAST else 1_500 if COMPILED else 600)
        commitments = worlds["commitment"][:, :4]
        assert (commitments[:, number:] == OPEN).all()
        laid = ["flip" if card == FLIPS else kinds[card] for card in worlds["decision"].tolist()]
        if seat == 0:
            assert set(laid) == {texts[0]}
        choices = [[texts[0]] if seat == 0 else decisions]
        for other in range(number):
            may = ["wait"] if other == 0 and not game.rules.flipper_slaps else ["wait", "anticipate"]  # type: ignore[attr-defined]
            choices.append([texts[1 + other]] if other == seat else may)
        wanted = list(itertools.product(*choices))
        words = {number: text for text, number in COMMITMENTS.items()}
        drawn = Counter(
            (card, *(words[each] for each in row[:number]))
            for card, row in zip(laid, commitments.tolist(), strict=True)
        )
        assert set(drawn) <= set(wanted)
        if len(wanted) > 1:
            assert stats.chisquare([drawn[each] for each in wanted]).pvalue > 1e-4


def test_redraw_keeps_what_anybody_knows() -> None:
    """With all seats looking, hands, decisions and commitments stay, and every order of the ring is equally likely."""
    game, state = position("5H QD 7S 8C", "9D 3H", {0: "2C 3C KH"}, 4, attack=True)
    play(game, state, "2C", "anticipate", "wait")
    worlds = drawn_worlds(game, state, ANYBODY, 6_000 if FAST else 1_200 if COMPILED else 400)
    for name in STATE.names or ():
        if name not in ("cards", "key"):
            assert (worlds[name] == state[name]).all()
    at = int(state["flipped"][0])
    assert (worlds["cards"][:, :at] == state["cards"][:, :at]).all()
    orders = set(itertools.permutations(state["cards"][0, at:52].tolist()))
    drawn = Counter(tuple(ring[at:52]) for ring in worlds["cards"].tolist())
    assert set(drawn) == orders
    assert stats.chisquare([drawn[each] for each in orders]).pvalue > 1e-4


def exchanged(game: Game, state: np.ndarray, seat: int, generator: random.Random) -> np.ndarray:
    """Another truth that a seat cannot tell from this one: the ring, others' decisions and commitments, the key."""
    other = state.copy()
    row, size = other[0], int(game.row["pack_size"][0])
    rest = row["cards"][row["flipped"] : size].tolist()
    row["cards"][row["flipped"] : size] = generator.sample(rest, len(rest))
    row["key"] = generator.getrandbits(64)
    if row["phase"] == COMMIT and row["over"] == RUNNING:
        if row["mover"] != seat:
            again = state.copy()
            begin_turn(again[0], row["mover"])
            decided = generator.choice(legal_texts(game, again))
            row["decision"] = FLIPS if decided == "flip" else kinds_of(game).index(decided)
        for each in range(game.num_players):
            if each != seat and row["commitment"][each] != OPEN:
                row["commitment"][each] = generator.choice([1, 2])
    return other


def test_hide_wipes_every_secret() -> None:
    """However the ring, others' decisions and commitments are exchanged in the state, a seat is shown the same bytes.

    So it is drawn the same worlds, and the picture of the table is the same.
    """
    generator = random.Random(9)
    differed = 0
    for number, game in enumerate(random_games(8, 120 if FAST else 40 if COMPILED else 6)):
        log = Log(game, number)
        for at in range(0, log.steps, 3):
            seat, state = int(log.lookers[at]), log.states[at : at + 1]
            other = exchanged(game, state, seat, generator)
            differed += other["decision"][0] != state["decision"][0]
            assert view_of(game, other, seat).tobytes() == log.views[at].tobytes()
            assert drawn_worlds(game, other, seat, 2).tobytes() == drawn_worlds(game, state, seat, 2).tobytes()
            scenes = [DEFINITION.scene(view_of(game, each, seat)[0], game.row[0], seat) for each in (state, other)]
            assert scenes[0] == scenes[1]
    assert differed > 0


def test_worlds_are_consistent() -> None:
    """A drawn world holds exactly the pack, differs in nothing that is open, and shows its seat the same again."""
    hidden = {"cards", "key", "decision", "commitment"}
    for number, game in enumerate(random_games(6, 100 if FAST else 40 if COMPILED else 6)):
        log, size = Log(game, number), int(game.row["pack_size"][0])
        for at in range(0, log.steps, 4):
            state, seat = log.states[at : at + 1], int(log.lookers[at])
            for world in np.split(drawn_worlds(game, state, seat, 3), 3):
                for name in set(STATE.names or ()) - hidden:
                    assert (world[name] == state[name]).all()
                at_ring = int(world["flipped"][0])
                assert (world["cards"][0, :at_ring] == state["cards"][0, :at_ring]).all()
                ring = world["cards"][0, at_ring:size]
                assert np.bincount(ring, minlength=53).tolist() == state["in_ring"][0].tolist()
                assert view_of(game, world, seat).tobytes() == log.views[at].tobytes()


def test_given_reactions_are_no_news() -> None:
    """Times laid down for the slaps to come are seen by nobody before the card is shown, and drawn anew in a world."""
    game, state = position("5H QD", "9H", {}, 3, attack=True)
    play(game, state, "flip", "wait", "wait")
    plain = [view_of(game, state, seat) for seat in (ANYBODY, 0, 1, 2)]
    DEFINITION.give_chance(state[0], game.row[0], {"reactions": [333, 444, 555]})  # type: ignore[misc]
    for seat, before in zip((ANYBODY, 0, 1, 2), plain, strict=True):
        after = view_of(game, state, seat)
        assert (after["reaction"] == NO_SLAP).all()
        before["reaction"] = NO_SLAP
        assert after.tobytes() == before.tobytes()
    worlds = drawn_worlds(game, state, 1, 50)
    for world in np.split(worlds, 50):
        step(world[0], game.row[0], game.action_number("wait") or 0)
    times = {tuple(each) for each in worlds["reaction"][:, :3].tolist()}
    assert (333, 444, 555) not in times
    assert len(times) > 20


# --- the smallest game ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not COMPILED, reason="counts with the twin alone, once is enough")
def test_mini_is_as_small_as_it_says() -> None:
    """The whole tree of `mini`, counted by the twin and by the game, has as many histories as its meaning says."""
    game = registry.make("pigs_tail", preset="mini")
    assert (game.num_players, game.row["pack_size"][0]) == (2, 6)
    rules = game.rules.to_json()

    def below_twin(twin: NaivePigsTail) -> int:
        count = 1
        for text in twin.legal():
            after = copy.copy(twin)
            after.ring, after.pile, after.commitments = list(twin.ring), list(twin.pile), {}
            after.hands, after.round_scores = [list(hand) for hand in twin.hands], []
            after.step(text)
            count += below_twin(after)
        return count

    longest = 0

    def below_state(state: np.ndarray) -> int:
        nonlocal longest
        longest = max(longest, int(state["turn"][0]))
        if state["over"][0] != RUNNING:
            assert state["over"][0] == TERMINATED
            return 1
        count, mask = 1, np.zeros(game.num_actions, np.int8)
        legal(state[0], game.row[0], mask)
        for action in np.flatnonzero(mask).tolist():
            after = state.copy()
            step(after[0], game.row[0], action)
            count += below_state(after)
        return count

    by_twin, by_game = 1, 1
    start = np.zeros(1, STATE)
    deal(start[0], game.row[0])
    for ring in itertools.permutations(["2C", "2D", "3C", "3D", "AC", "AD"]):
        for first in (0, 1):
            given = {"first_player": first, "ring": list(ring)}
            by_twin += below_twin(NaivePigsTail(2, rules, [given]))
            DEFINITION.write_deal(start[0], game.row[0], given)
            by_game += below_state(start)
    assert by_twin == by_game <= 1_000_000
    assert f"{by_twin:,} histories" in PRESETS["mini"].meaning
    assert 6 < longest <= most_turns(6)


def test_mini_has_choices_that_matter() -> None:
    """In `mini` hand cards are played, piles are taken, and both seats win."""
    game = registry.make("pigs_tail", preset="mini")
    logs = [Log(game, key) for key in range(50)]
    assert any(text != "flip" for log in logs for text in log.texts())
    winners = {int(np.argmin(log.states[-1]["hand_size"][:2])) for log in logs if log.states[-1]["hand_size"].any()}
    assert winners == {0, 1}


# --- options ----------------------------------------------------------------------------------------------------------

A_RANKS = f"a text of some of the letters {RANKS}"
A_SUITS = f"a text of some of the letters {SUITS}"
A_TRIGGER = f"'match' or '753' or '193', or a text of some of the letters 1{RANKS}"

BAD_VALUES: list[tuple[str, Any, str]] = [
    ("match", "number", "'suit_or_rank' or 'suit' or 'color_or_rank' or 'rank' or 'color'"),
    ("match", "", "'suit_or_rank'"),
    ("match", None, "'suit_or_rank'"),
    ("match", 0, "'suit_or_rank'"),
    ("match", ["suit"], "'suit_or_rank'"),
    ("hand_play", True, "'optional' or 'off' or 'forced'"),
    ("hand_play", "on", "'optional' or 'off' or 'forced'"),
    ("forced_fallback", "none", "'play' or 'flip'"),
    ("allow_matching_hand_play", 1, "true or false"),
    ("allow_matching_hand_play", "true", "true or false"),
    ("first_player", "left", "'random', or an integer 0 … 11"),
    ("first_player", -1, "'random', or an integer 0 … 11"),
    ("first_player", 12, "'random', or an integer 0 … 11"),
    ("first_player", True, "'random', or an integer 0 … 11"),
    ("first_player", 1.0, "'random', or an integer 0 … 11"),
    ("num_decks", 0, "an integer 1 … 2"),
    ("num_decks", 3, "an integer 1 … 2"),
    ("num_decks", 2.0, "an integer 1 … 2"),
    ("ranks", "", A_RANKS),
    ("ranks", "A1", A_RANKS),
    ("ranks", "AA2", A_RANKS),
    ("ranks", "a2", A_RANKS),
    ("ranks", "10", A_RANKS),
    ("ranks", [], A_RANKS),
    ("ranks", ["10"], A_RANKS),
    ("ranks", ["A", "A"], A_RANKS),
    ("ranks", [2, 3], A_RANKS),
    ("ranks", 23, A_RANKS),
    ("ranks", None, A_RANKS),
    ("suits", "", A_SUITS),
    ("suits", "SX", A_SUITS),
    ("suits", "SS", A_SUITS),
    ("suits", "♠", A_SUITS),
    ("suits", ["spades"], A_SUITS),
    ("suits", None, A_SUITS),
    ("num_jokers", -1, "an integer 0 … 2"),
    ("num_jokers", 3, "an integer 0 … 2"),
    ("num_jokers", True, "an integer 0 … 2"),
    ("joker_role", "wild", "'pickup' or 'choose_suit' or 'return_hand' or 'attack'"),
    ("joker_role", None, "'pickup' or 'choose_suit'"),
    ("attack", "yes", "true or false"),
    ("attack", None, "true or false"),
    ("trigger", "", A_TRIGGER),
    ("trigger", "7-5-3", A_TRIGGER),
    ("trigger", "755", A_TRIGGER),
    ("trigger", "10", A_TRIGGER),
    ("trigger", "X", A_TRIGGER),
    ("trigger", [], A_TRIGGER),
    ("trigger", ["7", "5", "5"], A_TRIGGER),
    ("trigger", [7, 5, 3], A_TRIGGER),
    ("trigger", ["match"], A_TRIGGER),
    ("trigger", 753, A_TRIGGER),
    ("trigger", None, A_TRIGGER),
    ("taker", "last", "'slowest' or 'fastest'"),
    ("foul", "none", "'take' or 'skip'"),
    ("multi_foul", "all", "'earliest'"),
    ("flipper_slaps", 0, "true or false"),
    ("flipper_delay_ms", -1, "an integer 0 … 10000"),
    ("flipper_delay_ms", 10_001, "an integer 0 … 10000"),
    ("wait_ms", 450.0, "an integer 0 … 10000"),
    ("wait_ms", "450", "an integer 0 … 10000"),
    ("anticipate_ms", -1, "an integer 0 … 10000"),
    ("anticipate_ms", float("nan"), "an integer 0 … 10000"),
    ("reaction_std_ms", 1_001, "an integer 0 … 1000"),
    ("reaction_std_ms", -80, "an integer 0 … 1000"),
    ("rounds", 0, "an integer 1 … 100"),
    ("rounds", 101, "an integer 1 … 100"),
    ("rounds", "per_player", "an integer 1 … 100"),
    ("most_wins", 1, "true or false"),
    ("tie_break", "first", "'shared'"),
    ("max_turns", 0, "an integer 1 … 30000"),
    ("max_turns", 30_001, "an integer 1 … 30000"),
    ("max_turns", None, "an integer 1 … 30000"),
]


@pytest.mark.parametrize(("name", "value", "wanted"), BAD_VALUES)
def test_bad_value(name: str, value: Any, wanted: str) -> None:
    """A value that an option cannot have is refused, naming the option, what it may be and what came."""
    with pytest.raises(OptionError) as raised:
        registry.make("pigs_tail", rules={name: value})
    assert isinstance(raised.value, ValueError)
    message = str(raised.value)
    assert f"rule '{name}' must be {wanted}" in message
    assert message.endswith(f"; got {value!r}")


def test_every_option_has_a_bad_value() -> None:
    """The list above leaves out no option."""
    assert {name for name, _, _ in BAD_VALUES} == set(PIGS_TAIL_DEFAULTS)


def test_defaults() -> None:
    """Every option has the default that the rules give it."""
    assert registry.make("pigs_tail").rules.to_json() == PIGS_TAIL_DEFAULTS


ATTACK = {"attack": True, "hand_play": "off"}
EDITIONS: dict[str, tuple[int, dict[str, Any]]] = {
    "standard": (4, {}),
    "suit": (4, {"match": "suit"}),
    "color": (4, {"match": "color_or_rank"}),
    "flip_only": (4, {"hand_play": "off"}),
    "attack": (4, ATTACK),
    "attack_753": (4, {**ATTACK, "trigger": "753"}),
    "attack_193": (4, {**ATTACK, "trigger": "193"}),
    "two_decks": (6, {"num_decks": 2}),
    "jokers": (4, {"num_jokers": 2, "joker_role": "pickup"}),
    "mini": (2, {"ranks": "A23", "suits": "CD"}),
    "small": (3, {"ranks": "A234"}),
}


def test_presets() -> None:
    """The presets are those of the rules, the first is the default, and each sets nothing but what it says."""
    assert list(PRESETS) == list(EDITIONS)
    for name, (num_players, rules) in EDITIONS.items():
        game = registry.make("pigs_tail", preset=name)
        assert game.num_players == num_players
        assert game.rules.to_json() == {**PIGS_TAIL_DEFAULTS, **rules}
    assert registry.make("pigs_tail").preset == "standard"


def test_unknown_rule() -> None:
    """An unknown option is refused, and the nearest one named."""
    with pytest.raises(OptionError, match=r"unknown rule 'num_deck'; did you mean 'num_decks'\? Valid: match"):
        registry.make("pigs_tail", rules={"num_deck": 2})


@pytest.mark.parametrize(
    ("num_players", "rules", "message"),
    [
        (4, {"joker_role": "attack"}, "joker_role 'attack' is a reason to slap, .* without attack; set attack"),
        (4, {"joker_role": "attack", "num_jokers": 2}, "joker_role 'attack'"),
        (4, {"first_player": 4}, r"first_player must be 'random' or 0 … 3; got 4"),
        (2, {"first_player": 11}, r"first_player must be 'random' or 0 … 1; got 11"),
        (7, {}, r"num_players must be an integer 2 … 6 under these rules; got 7"),
        (13, {"num_decks": 2}, r"num_players must be an integer 2 … 12 under these rules; got 13"),
    ],
)
def test_contradiction(num_players: int, rules: dict[str, Any], message: str) -> None:
    """Options that contradict each other, or the number of players, are refused with the reason."""
    with pytest.raises(OptionError, match=message):
        registry.make("pigs_tail", num_players, rules=rules)


@pytest.mark.parametrize("num_players", [0, 1, 7, -2, 2.0, "4", True, float("nan")])
def test_bad_number_of_players(num_players: Any) -> None:
    """One pack is for 2 to 6 players, and nothing but an integer is a number of them."""
    with pytest.raises(OptionError, match=r"num_players must be an integer 2 … 6 under these rules; got"):
        registry.make("pigs_tail", num_players)


@pytest.mark.parametrize("letters", ["2A3", ["3", "A", "2"], ("A", "2", "3"), "A23"])
def test_ranks_in_any_order(letters: Any) -> None:
    """Ranks and suits are a set of letters, as a text or a list, in any order."""
    game = registry.make("pigs_tail", 2, rules={"ranks": letters, "suits": ["S", "C"]})
    assert (game.rules.to_json()["ranks"], game.rules.to_json()["suits"]) == ("A23", "CS")
    assert game == registry.make("pigs_tail", 2, rules={"ranks": "A23", "suits": "CS"})
    assert game.action_texts[1:] == ("2C", "2S", "3C", "3S", "AC", "AS")


@pytest.mark.parametrize(
    ("trigger", "ranks"),
    [
        ("753", "357"),
        (["7", "5", "3"], "357"),
        ("193", "A39"),
        (["1", "9", "3"], "A39"),
        ("A", "A"),
        ("1A", "A"),
        ("KT", "TK"),
    ],
)
def test_trigger_ranks(trigger: Any, ranks: str) -> None:
    """A card of a trigger rank is a pick-up on whatever it lies, no other is; `1` is the ace."""
    game = registry.make("pigs_tail", 3, rules={"trigger": trigger})
    kinds, row = kinds_of(game), game.row[0]
    for number, card in enumerate(kinds):
        column = {int(row["pickup"][top, number]) for top in (*range(len(kinds)), EMPTY)}
        assert column == {int(card[0] in ranks)}


@pytest.mark.parametrize(
    "rules",
    [
        {"ranks": "K", "suits": "H"},
        {"ranks": "K", "suits": "H", "num_decks": 2, "num_jokers": 2},
        {"max_turns": 1},
        {"rounds": 100, "ranks": "A", "suits": "CD"},
        {"num_decks": 2, "num_jokers": 2, "joker_role": "return_hand"},
        {"attack": True, "hand_play": "off", "wait_ms": 10_000, "flipper_delay_ms": 10_000, "reaction_std_ms": 1_000},
        {"attack": True, "hand_play": "off", "wait_ms": 0, "anticipate_ms": 0, "reaction_std_ms": 0},
    ],
)
def test_edge_of_what_is_allowed(rules: dict[str, Any]) -> None:
    """The least and the most of what the options allow can be played to the end, as the twin plays it."""
    for num_players in (2, 6 * rules.get("num_decks", 1)):
        game = registry.make("pigs_tail", num_players, rules=rules)
        for key in range(3 if COMPILED else 1):
            compare_game(Log(game, key), {**PIGS_TAIL_DEFAULTS, **rules})


def test_owed_turns_add_up() -> None:
    """Who fouls in every turn of a long game owes as many turns as it fouled and was not yet passed over."""
    rules = {"attack": True, "foul": "skip", "num_decks": 2, "hand_play": "optional"}
    game = registry.make("pigs_tail", 5, rules=rules)
    table = Table(game)
    table.start(4)
    twin = NaivePigsTail(5, {**PIGS_TAIL_DEFAULTS, **rules}, [table.deal()])
    most = 0
    while table.over == RUNNING and most < 200:
        texts = twin.legal()
        text = texts[0] if twin.phase == "play" else "anticipate" if twin.seat == 2 else "wait"
        table.step(game.action_number(text))
        drawn = DEFINITION.read_chance(table.states[0], game.row[0])
        twin.step(text, None if drawn is None else drawn["reactions"])
        assert table.states["owed"][0, :5].tolist() == twin.owed_turns
        most = max(most, *twin.owed_turns)
    assert most == 200


# --- deals and chance -------------------------------------------------------------------------------------------------

DEAL_RULES: dict[str, Any] = {"ranks": "A2", "suits": "CD", "num_jokers": 1}
GOOD_DEAL: dict[str, Any] = {"first_player": 1, "ring": ["2D", "X", "AC", "AD", "2C"]}


def test_given_deal_is_laid_out() -> None:
    """A deal given by hand is on the table as given: who begins, and the ring card by card."""
    table = Table(registry.make("pigs_tail", 2, rules=DEAL_RULES))
    table.start(0, deals=[GOOD_DEAL])
    assert table.deal() == GOOD_DEAL
    for seat, card in [(1, "2D"), (0, "X"), (1, "AC"), (0, "AD")]:
        assert table.seat == seat
        before = table.states.copy()
        table.step(table.game.action_number("flip"))
        called = DEFINITION.call_out(before[0], table.states[0], table.game.row[0], "flip")
        assert called.split(":")[0] == card


def test_given_deals_of_several_rounds() -> None:
    """Each round of a match can be given its deal; where there are no more, chance deals and the next seat begins."""
    game = registry.make("pigs_tail", 3, rules={**DEAL_RULES, "rounds": 3, "hand_play": "off"})
    deals = [{**GOOD_DEAL, "first_player": first} for first in (2, 2)]
    table = Table(game)
    table.start(9, deals=deals)
    begun = [table.deal()]
    while table.over == RUNNING:
        number = table.round
        table.step(game.action_number("flip"))
        if table.round != number:
            begun.append(table.deal())
    assert begun[:2] == deals
    assert begun[2]["first_player"] == 0
    assert sorted(begun[2]["ring"]) == sorted(GOOD_DEAL["ring"])


RING = GOOD_DEAL["ring"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first_player": 2}, r"first_player must be a seat 0 … 1; got 2"),
        ({"first_player": -1}, r"first_player must be a seat 0 … 1; got -1"),
        ({"first_player": True}, r"first_player must be a seat 0 … 1; got True"),
        ({"first_player": 1.0}, r"first_player must be a seat 0 … 1; got 1\.0"),
        ({"first_player": "1"}, r"first_player must be a seat 0 … 1; got '1'"),
        ({"first_player": None}, r"first_player must be a seat 0 … 1; got None"),
        ({"ring": None}, r"ring must be a list of cards such as '9H'; got None"),
        ({"ring": "2D X AC AD 2C"}, r"ring must be a list of cards such as '9H'; got '2D"),
        ({"ring": tuple(RING)}, r"ring must be a list of cards such as '9H'; got \("),
        ({"ring": [*RING[:-1], 2]}, r"ring must be a list of cards such as '9H'; got \["),
        ({"ring": [*RING[:-1], ["2C"]]}, r"ring must be a list of cards such as '9H'"),
        (
            {"ring": []},
            r"exactly the pack of these rules; wrong: 2C: 0 for 1, 2D: 0 for 1, AC: 0 for 1, AD: 0 for 1, X: ",
        ),
        ({"ring": RING[:-1]}, r"exactly the pack of these rules; wrong: 2C: 0 for 1$"),
        ({"ring": [*RING, "2C"]}, r"exactly the pack of these rules; wrong: 2C: 2 for 1$"),
        ({"ring": [*RING[:-1], "2H"]}, r"exactly the pack of these rules; wrong: 2C: 0 for 1, 2H: 1 for 0$"),
        ({"ring": [*RING[:-1], "2c"]}, r"exactly the pack of these rules; wrong: 2C: 0 for 1, 2c: 1 for 0$"),
        ({"ring": [*RING[:-1], "C2"]}, r"exactly the pack .* C2: 1 for 0$"),
        ({"ring": [*RING[:-1], ""]}, r"exactly the pack"),
        ({"ring": [*RING[:-1], "X"]}, r"exactly the pack .* X: 2 for 1$"),
        ({"extra": 1}, r"a deal of Pig's Tail has first_player and ring; got"),
    ],
)
def test_bad_deal(change: dict[str, Any], message: str) -> None:
    """A deal that the rules do not allow is refused with what is wrong, and the table is what it was."""
    table = Table(registry.make("pigs_tail", 2, rules=DEAL_RULES))
    table.start(3)
    before = table.states.tobytes(), table.episodes.tobytes()
    with pytest.raises(DealError, match=message):
        table.start(0, deals=[{**GOOD_DEAL, **change}])
    assert (table.states.tobytes(), table.episodes.tobytes()) == before
    state = table.states.copy()
    with pytest.raises(DealError, match=message):
        DEFINITION.write_deal(state[0], table.game.row[0], {**GOOD_DEAL, **change})
    assert state.tobytes() == before[0]


@pytest.mark.parametrize("missing", list(GOOD_DEAL))
def test_deal_with_a_part_missing(missing: str) -> None:
    """A deal without one of its parts is refused, and so is what is no deal at all."""
    table = Table(registry.make("pigs_tail", 2, rules=DEAL_RULES))
    for given in ({k: v for k, v in GOOD_DEAL.items() if k != missing}, None, [], "deal", 5):
        with pytest.raises(DealError, match="a deal of Pig's Tail has first_player and ring"):
            table.start(0, deals=[given])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("chance", "message"),
    [
        ({}, "chance decides nothing but reactions here; got "),
        ({"chance": 5}, "chance decides nothing but reactions here; got 'chance'"),
        ({"reactions": [1, 2, 3], "more": 1}, "nothing but reactions here; got 'reactions', 'more'"),
        ({"reactions": None}, "reactions must be a list of 3 times or nulls, one a seat; got None"),
        ({"reactions": [300, 400]}, r"a list of 3 times or nulls, one a seat; got \[300, 400\]"),
        ({"reactions": [300, 400, 500, 600]}, "a list of 3 times or nulls"),
        ({"reactions": (300, 400, 500)}, "a list of 3 times or nulls"),
        ({"reactions": {"0": 300}}, "a list of 3 times or nulls"),
        ({"reactions": "abc"}, "a list of 3 times or nulls"),
        ({"reactions": [300, -1, 500]}, r"a reaction must be null or whole milliseconds 0 … 32767; got -1"),
        ({"reactions": [300, 32_768, 500]}, r"whole milliseconds 0 … 32767; got 32768"),
        ({"reactions": [300, 10**30, 500]}, r"whole milliseconds 0 … 32767; got 10000"),
        ({"reactions": [300, 400.0, 500]}, r"whole milliseconds 0 … 32767; got 400\.0"),
        ({"reactions": [300, True, 500]}, r"whole milliseconds 0 … 32767; got True"),
        ({"reactions": [300, "400", 500]}, r"whole milliseconds 0 … 32767; got '400'"),
        ({"reactions": [300, [400], 500]}, r"whole milliseconds 0 … 32767; got \[400\]"),
    ],
)
def test_bad_chance(chance: dict[str, Any], message: str) -> None:
    """Reactions that are none are refused with what is wrong, and the state is what it was."""
    game, state = position("5H QD", "9H", {}, 3, attack=True)
    play(game, state, "flip", "wait", "wait")
    before = state.tobytes()
    with pytest.raises(DealError, match=message):
        DEFINITION.give_chance(state[0], game.row[0], chance)  # type: ignore[misc]
    assert state.tobytes() == before


def test_chance_at_another_step() -> None:
    """Reactions are refused in every step but the last commitment, and in a game without slapping in all."""
    times = {"reactions": [300, 400, 500]}
    message = "reactions belong to the last commitment before a card is shown, and to no other step"
    game, state = position("5H QD", "9H", {}, 3, seat=2, attack=True)
    for text in ("flip", "wait", "anticipate"):
        before = state.tobytes()
        with pytest.raises(DealError, match=message):
            DEFINITION.give_chance(state[0], game.row[0], times)  # type: ignore[misc]
        assert state.tobytes() == before
        play(game, state, text)
    play(game, state, ("wait", [300, 400, 500]))
    with pytest.raises(DealError, match=message):
        DEFINITION.give_chance(state[0], game.row[0], times)  # type: ignore[misc]
    plain, state = position("5H QD", "9H", {}, 3)
    with pytest.raises(DealError, match=message):
        DEFINITION.give_chance(state[0], plain.row[0], times)  # type: ignore[misc]
    assert DEFINITION.read_chance(state[0], plain.row[0]) is None


# --- hints ------------------------------------------------------------------------------------------------------------


def expected_hints(twin: NaivePigsTail, seat: int) -> Hints:
    """The hints from the twin: to find the good cards, each safe one is laid and whoever plays next is asked."""
    pickups, ring, suits = twin.pickup_cards(seat), len(twin.ring), []
    if twin.phase == "name_suit":
        for suit in sorted(twin.rules["suits"]):
            after = copy.copy(twin)
            after.named_suit = suit
            suits.append((suit, after.pickup_cards(seat)))
    if twin.phase != "play" or twin.rules["hand_play"] == "off":
        return Hints(None, (), pickups, ring, tuple(suits))
    owed, following = list(twin.owed_turns), (seat + 1) % twin.num_players
    while owed[following] > 0:
        owed[following] -= 1
        following = (following + 1) % twin.num_players
    good = []
    for card in sorted(set(twin.safe_cards(seat))):
        after = copy.copy(twin)
        after.pile, after.named_suit = [*twin.pile, card], None
        if not after.safe_cards(following):
            good.append(card)
    return Hints(tuple(sorted(set(twin.safe_cards(seat)))), tuple(good), pickups, ring)


def test_hints() -> None:
    """Safe cards, good cards and the number of pick-ups in the ring are what the twin says, from each seat's view."""
    good = named = 0
    for number, (game, rules) in enumerate(random_tables(12, 150 if FAST else 60 if COMPILED else 10)):
        log = Log(game, number)
        twin = log.twin(rules)
        for at, text in enumerate(log.texts()):
            seat = int(log.lookers[at])
            found = hints(log.views[at], game.row[0], seat)
            assert found == expected_hints(twin, seat)
            good += bool(found.good)
            named += bool(found.suits)
            twin.step(text, log.times(at))
    assert good > 20
    assert named > 2


def test_hints_by_hand() -> None:
    """On 9H: 2H and 9S match, 4C and KS are safe; seat 1 with 4D and QC can follow a king, but no four of clubs."""
    game, state = position("5H QD 9D 7S", "KC 9H", {0: "2H 9S 4C KS", 1: "4D QC"}, 3)
    found = hints(view_of(game, state, 0)[0], game.row[0], 0)
    assert found == Hints(safe=("4C", "KS"), good=("4C",), pickups=2, ring_size=4)
    assert found.sentences() == (
        "safe to play: 4C, KS; the next seat cannot follow 4C",
        "2 of the 4 ring cards would be a pick-up",
    )
    game, state = position("5H QD", "", {}, 3)
    assert hints(state[0], game.row[0], 0).sentences() == (
        "safe to play: no card",
        "0 of the 2 ring cards would be a pick-up",
    )


# --- what is called out -----------------------------------------------------------------------------------------------

JOKER_RULES = {"num_jokers": 1}


@pytest.mark.parametrize(
    ("ring", "pile", "hand", "rules", "steps", "called"),
    [
        ("5H QD", "KC 9H", "", {}, ["flip"], "5H: seat 0 takes 3"),
        ("4C QD", "KC 9H", "", {}, ["flip"], "4C"),
        ("4C QD", "", "", {}, ["flip"], "4C"),
        ("QD 5H", "KC 9H", "4C", {}, ["4C"], "4C"),
        ("QD 5H", "9H", "2H", {"allow_matching_hand_play": True}, ["2H"], "2H: seat 0 takes 2"),
        ("5H", "KC 9H", "", {}, ["flip"], "5H: seat 0 takes 3"),
        ("5H", "KC 9H", "", {"rounds": 2}, ["flip"], "5H: seat 0 takes 3"),
        ("X QD", "9H", "", JOKER_RULES, ["flip"], "X: seat 0 takes 2"),
        ("X QD", "9H", "", {**JOKER_RULES, "joker_role": "choose_suit"}, ["flip"], "X"),
        ("X QD", "9H", "", {**JOKER_RULES, "joker_role": "choose_suit"}, ["flip", "suit S"], "spades!"),
        ("X QD", "9H", "", {**JOKER_RULES, "joker_role": "choose_suit"}, ["flip", "suit D"], "diamonds!"),
        ("X QD", "9H", "2H", {**JOKER_RULES, "joker_role": "return_hand"}, ["flip"], "X"),
        ("X QD", "9H", "2H", {**JOKER_RULES, "joker_role": "return_hand"}, ["flip", "keep"], ""),
        ("X QD", "9H", "2H", {**JOKER_RULES, "joker_role": "return_hand"}, ["flip", "return 2H"], "the hand goes back"),
        # In attack nothing is heard before the card is shown.
        ("5H QD", "9H", "", {"attack": True}, ["flip"], ""),
        ("5H QD", "9H", "4C", {"attack": True}, ["4C"], ""),
        ("5H QD", "9H", "", {"attack": True}, ["flip", "wait"], ""),
        ("5H QD", "9H", "", {"attack": True}, ["flip", "wait", "anticipate"], ""),
        ("5H QD", "9H", "", {"attack": True}, ["flip", "wait", "wait", ("wait", [3, 5, 4])], "5H: seat 1 takes 2"),
        ("4C QD", "9H", "", {"attack": True}, ["flip", "wait", "wait", ("wait", [None] * 3)], "4C"),
        (
            "4C QD",
            "9H",
            "",
            {"attack": True},
            ["flip", "wait", "wait", ("anticipate", [None, None, 9])],
            "4C: seat 2 takes 2",
        ),
        ("QD", "9H", "4C", {"attack": True}, ["4C", "wait", "wait", ("wait", [None] * 3)], "4C"),
    ],
)
def test_call_out(ring: str, pile: str, hand: str, rules: dict[str, Any], steps: list[Any], called: str) -> None:
    """The card that comes to light and who takes the pile are called out, and nothing that is still a secret."""
    game, state = position(ring, pile, {0: hand}, 3, **rules)
    play(game, state, *steps[:-1])
    before = state.copy()
    play(game, state, steps[-1])
    text = steps[-1] if isinstance(steps[-1], str) else steps[-1][0]
    assert DEFINITION.call_out(before[0], state[0], game.row[0], text) == called


# --- the picture ------------------------------------------------------------------------------------------------------


def scene_of(game: Game, state: np.ndarray, looking: int) -> Any:
    """The table as a seat sees it."""
    shown = state if looking == ANYBODY else view_of(game, state, looking)
    return DEFINITION.scene(shown[0], game.row[0], looking)


def test_scene() -> None:
    """Ring face down, pile and hands open to all who remember, points as they stand, hints for the seat to move."""
    game, state = position("5H QD 9D 7S", "KC 9H", {0: "2H 9S 4C KS", 1: "4D QC"}, 3)
    state["points"][0, 1] = 7
    for looking in (ANYBODY, 0, 1, 2):
        scene = scene_of(game, state, looking)
        assert [(zone.name, zone.seat, zone.cards) for zone in scene.zones] == [
            ("pile", None, ("KC", "9H")),
            ("ring", None, (None,) * 4),
            ("hand", 0, ("2H", "4C", "9S", "KS")),
            ("hand", 1, ("4D", "QC")),
            ("hand", 2, ()),
        ]
        assert (scene.num_players, scene.to_move, scene.looking) == (3, 0, looking)
        assert (scene.scores, scene.called) == ((4.0, 9.0, 0.0), "")
        assert bool(scene.hints) == (looking == 0)
    assert scene_of(game, state, 0).hints == hints(state[0], game.row[0], 0).sentences()


def test_scene_without_memory() -> None:
    """Without memory a seat sees its own hand, and of the others how many cards; an open table shows all."""
    rules = {"ranks": "A2345", "suits": "CDHS"}
    _, state = position("5H 3D", "4C 2H", {0: "2S AC", 1: "4D"}, 3, **rules)
    game = registry.make("pigs_tail", 3, rules=rules, memory=False)
    hands = [[zone.cards for zone in scene_of(game, state, looking).zones[2:]] for looking in (0, 1, 2, ANYBODY)]
    assert hands[0] == [("AC", "2S"), (None,), ()]
    assert hands[1] == [(None, None), ("4D",), ()]
    assert hands[2] == [(None, None), (None,), ()]
    assert hands[3] == [("AC", "2S"), ("4D",), ()]


def test_scene_of_a_fresh_table() -> None:
    """At the start nobody has taken anything; after a pick-up the picture says who took the pile, for one step."""
    game = registry.make("pigs_tail", 2, rules=DEAL_RULES)
    table = Table(game)
    table.start(0, deals=[GOOD_DEAL])
    assert table.scene(0).called == ""
    called = []
    for _ in range(3):
        table.step(game.action_number("flip"))
        called.append(table.scene(1).called)
    assert called == ["", "seat 0 took the pile", ""]


def test_scene_of_an_attack() -> None:
    """Who has committed is to be seen, what is not; only the own commitment, and all of them on an open table."""
    game, state = position("5H QD", "9H", {1: "4C"}, 4, seat=1, attack=True, foul="skip")
    state["owed"][0, 0] = 2
    play(game, state, "4C", "anticipate", "wait")

    def notes(looking: int) -> list[str]:
        return [zone.note for zone in scene_of(game, state, looking).zones[2:]]

    assert notes(0) == ["sits out 2", "has decided, has committed", "has committed", ""]
    assert notes(1) == ["sits out 2", "has decided, anticipates", "has committed", ""]
    assert notes(2) == ["sits out 2", "has decided, has committed", "waits", ""]
    assert notes(ANYBODY) == ["sits out 2", "has decided, anticipates", "waits", ""]
    assert [bool(scene_of(game, state, looking).hints) for looking in range(4)] == [False, False, False, True]


def test_scene_of_a_joker() -> None:
    """A seat that names a suit or may return its hand, and the suit that was named, are to be seen."""
    game, state = position("X QD", "9H", {}, 2, num_jokers=1, joker_role="choose_suit")
    play(game, state, "flip")
    assert scene_of(game, state, 1).zones[2].note == "names a suit"
    play(game, state, "suit H")
    assert scene_of(game, state, 0).zones[0].note == "hearts named"
    game, state = position("X QD", "9H", {0: "2H"}, 2, num_jokers=1, joker_role="return_hand")
    play(game, state, "flip")
    assert scene_of(game, state, 1).zones[2].note == "may return the hand"


def test_scene_at_the_end() -> None:
    """A finished game has nobody to move, no hints and no notes."""
    game, state = position("5H", "9H", {}, 2)
    play(game, state, "flip")
    scene = scene_of(game, state, 0)
    assert (scene.to_move, scene.hints, scene.scores) == (None, (), (2.0, 0.0))
    assert [zone.note for zone in scene.zones] == [""] * 4
