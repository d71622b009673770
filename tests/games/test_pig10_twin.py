"""Pig 10 against its naive twin: random games over random options, compared at every step."""

import random

import numpy as np
import pytest

from pigenv import registry
from pigenv.game import REWARDS
from pigenv.games.pig10 import DEFINITION, EMPTY, UNKNOWN
from pigenv.kernel import COMPILED
from pigenv.table import Table
from tests.naive.pig10 import NaivePig10

pytestmark = pytest.mark.rules

GAMES = 20_000 if COMPILED else 400
CHUNKS = 20
OVER = {0: None, 1: "terminated", 2: "truncated"}


def random_rules(rng):
    """Options and players of one game: any option may take any of its values, the pack most of all."""
    players = rng.randint(2, 8)
    target = rng.choice([10, 10, 10, rng.randint(1, 9)])
    hand_size = rng.randint(1, 4)
    counts = [rng.choice([0, 1, 1, 2, 3, 4]) if value <= target else 0 for value in range(11)]
    while sum(counts) < players * hand_size:
        counts[rng.randint(0, target)] += 1
    return players, {
        "deck_counts": counts,
        "hand_size": hand_size,
        "target": target,
        "winner_leads": rng.random() < 0.5,
        "leftover": rng.choice(["none", "last_player", "last_winner"]),
        "five_clamp": rng.random() < 0.5,
        "same_rule": rng.choice(["both", "value", "previous", "off"]),
        "first_player": rng.choice(["random", rng.randrange(players)]),
        "max_turns": rng.choice([200, 200, rng.randint(1, 30)]),
    }


def compare(table, twin, reward):
    """Everything that both sides know of the position is the same."""
    state, players = table.states[0], table.game.num_players
    texts = table.game.action_texts
    assert OVER[table.over] == twin.over
    assert sorted(texts[action] for action in table.legal_actions()) == twin.legal()
    assert state["pile"][: state["pile_size"]].tolist() == twin.pile
    assert (None if state["value"] == EMPTY else int(state["value"])) == twin.value
    assert state["taken"][:players].tolist() == twin.taken
    assert int(state["turn"]) == twin.turn
    hands = [sorted(state["hand"][seat, : state["hand_size"][seat]].tolist()) for seat in range(players)]
    assert hands == [sorted(hand) for hand in twin.hands]
    if twin.over is None:
        assert table.seat == twin.seat
        compare_view(table, twin)
    assert table.scores().tolist() == twin.scores()
    if twin.over:
        assert np.allclose(table.rewards[0], twin.returns(reward, float(table.game.row["score_scale"][0])), atol=1e-6)


def compare_view(table, twin):
    """The view and the observation of the seat to move hold exactly what the twin says it can know."""
    seat, game = table.seat, table.game
    known, view = twin.known_to(seat), table.view(seat)[0]
    for other in range(game.num_players):
        hand = view["hand"][other, : view["hand_size"][other]].tolist()
        assert sorted(hand) == (known["hand"] if other == seat else [UNKNOWN] * len(twin.hands[other]))
    assert (view["pack"] == UNKNOWN).all()
    assert view["key"] == 0
    seen = dict(zip(game.layout.slices, (table.observations[0, where] for where in game.layout.slices.values())))
    kinds = [value for value, count in enumerate(game.rules.deck_counts) if count]
    hand_size, counts = game.rules.hand_size, game.rules.deck_counts
    assert np.allclose(seen["hand"], [known["hand"].count(value) / hand_size for value in kinds])
    called = [-1, *range(game.rules.target)]
    assert seen["pile_value"].tolist() == [float(v == (-1 if twin.value is None else twin.value)) for v in called]
    assert np.allclose(seen["pile_size"], min(1, len(twin.pile) / 20))
    if "pile_top" in seen:
        assert seen["pile_top"].sum() == (1 if twin.pile else 0)
    places = [(seat + k) % game.num_players for k in range(game.num_players)]
    assert np.allclose(seen["taken"][: len(places)], [twin.taken[p] / sum(counts) for p in places])
    assert np.allclose(seen["hand_size"][: len(places)], [len(twin.hands[p]) / hand_size for p in places])
    assert not seen["taken"][len(places) :].any()
    if game.mixed:
        assert seen["num_players"].tolist() == [float(n == game.num_players) for n in range(2, game.max_players + 1)]
    stock = sum(counts) - game.num_players * hand_size
    assert np.allclose(seen["stock_size"], len(twin.stock) / stock if stock else 0)
    if game.memory:
        assert np.allclose(seen["unseen"], [known["unseen"][value] / counts[value] for value in kinds], atol=1e-6)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_step_is_the_twins(chunk):
    """Random games over random options, players, rewards and layouts agree with the naive twin at every step."""
    rng = random.Random(chunk)
    for number in range(GAMES // CHUNKS):
        players, rules = random_rules(rng)
        reward = rng.choice(REWARDS)
        memory, max_players = rng.random() < 0.7, rng.choice([None, None, 8])
        game = registry.make("pig10", players, None, rules, memory, max_players, reward)
        table = Table(game)
        table.start(rng.getrandbits(64), number)
        twin = NaivePig10(players, game.rules.to_json(), table.deal())
        # Looking at all of a long game costs more than it tells; the rules are compared at every step all the same.
        while not table.over:
            compare(table, twin, reward)
            action = rng.choice(table.legal_actions())
            table.step(action)
            twin.step(game.action_texts[action])
        compare(table, twin, reward)


def test_the_default_pack_is_played_in_eighty_turns():
    """Whatever is played, 2 to 8 players take 80 turns, and scores and the middle add up to 80 cards."""
    rng = random.Random(5)
    for players in range(2, 9):
        for seed in range(20 if COMPILED else 2):
            table = Table(registry.make("pig10", players))
            table.start(seed)
            assert len(table.game.action_texts) == 21
            while not table.over:
                assert len(table.legal_actions()) <= 6
                table.step(rng.choice(table.legal_actions()))
            assert table.steps == 80
            assert table.scores().sum() + table.states["pile_size"][0] == 80


def test_the_state_is_small():
    """A table's state takes at most 512 bytes."""
    assert DEFINITION.state.itemsize <= 512
