"""The hand-written players of Pig's Tail: legal, as good as their grades say, and each with its defining behaviour."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from pigenv import registry
from pigenv.agent import Decisions, find_agent
from pigenv.agents.pigs_tail import PLAYERS
from pigenv.agents.uniform import uniform
from pigenv.errors import OptionError
from pigenv.game import RUNNING, Game
from pigenv.games.pigs_tail import COMMIT, FLIPS, HAND_PLAY, JOKER_ROLE, MATCH, TRIGGER, kind_texts
from pigenv.kernel import COMPILED
from pigenv.table import EPISODE, player_loops, set_seed

ALL_PLAYERS = (("uniform", uniform), *PLAYERS.items())
GRADES = [name for name, _ in ALL_PLAYERS]
INTERVAL = 1.96  # standard errors in half a 95 % interval


def play_games(game: Game, line_ups: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Play a game for each row of `line_ups` (indices in ALL_PLAYERS by seat); returns states and episodes.

    Games of the same seed have the same deals.
    """
    loops = player_loops(game.definition, ALL_PLAYERS)
    count = len(line_ups)
    states, views = np.zeros(count, game.definition.state), np.zeros(1, game.definition.state)
    masks, rewards = np.zeros((count, game.num_actions), np.int8), np.zeros((count, game.num_players), np.float32)
    episodes = np.zeros(count, EPISODE)
    for number in range(count):
        set_seed(episodes[number], seed, number)
    episodes["player"][:, : game.num_players] = line_ups
    loops.start_tables(states, game.row, episodes, np.ones(count, bool))
    loops.settle_tables(states, game.row, episodes, views, masks, rewards)
    return states, episodes


def win_shares(game: Game, agent: str, others: str, deals: int) -> np.ndarray:
    """An agent's share of the win in each deal, mean over all its seats, the others being copies of another."""
    shares = np.zeros((deals, game.num_players))
    for seat in range(game.num_players):
        line_ups = np.full((deals, game.num_players), GRADES.index(others))
        line_ups[:, seat] = GRADES.index(agent)
        held = play_games(game, line_ups, seed=7)[0]["hand_size"][:, : game.num_players]
        best = held == held.min(axis=1, keepdims=True)
        shares[:, seat] = best[:, seat] / best.sum(axis=1)
    return shares.mean(axis=1)


def choices(
    player: str,
    hands: Mapping[int, Sequence[str]],
    pile: Sequence[str],
    ring: Sequence[str],
    keys: int = 100,
    decision: str | None = None,
    seat: int = 0,
    **settings: Any,
) -> set[str]:
    """The texts of all actions that a player chooses for a seat when it is seat 0's turn; other cards are gone."""
    game = registry.make("pigs_tail", **settings)
    kinds, row = kind_texts(game.row[0]), game.row[0]
    view = np.zeros(1, game.definition.state)
    game.definition.deal(view[0], row)
    game.definition.hide(view[0], row, seat)
    view["key"] = view["in_ring"] = 0
    for card in ring:
        view["in_ring"][0, kinds.index(card)] += 1
    view["flipped"] = row["pack_size"] - len(ring)
    view["cards"][0, : len(pile)] = [kinds.index(card) for card in pile]
    view["pile_size"] = len(pile)
    for holder, hand in hands.items():
        view["hand_size"][0, holder] = len(hand)
        for card in hand:
            view["held"][0, holder, kinds.index(card)] += 1
    view["mover"], view["seat"] = 0, seat
    if decision is not None:
        view["phase"] = COMMIT
        hidden = FLIPS if decision == "flip" else kinds.index(decision)
        view["decision"] = hidden if seat == 0 else -1
    mask = np.zeros((1, game.num_actions), np.int8)
    game.definition.legal(view[0], row, mask[0])
    bits = np.random.default_rng(3).integers(0, 2**64, keys, np.uint64)
    decisions = Decisions(
        game, np.repeat(view, keys), np.full(keys, seat, np.int8), np.repeat(mask, keys, axis=0), bits
    )
    return {game.action_texts[action] for action in find_agent(f"pigs_tail/{player}").act(decisions)}


def any_rules(generator: random.Random) -> dict[str, Any]:
    """Options drawn at random."""
    attack = generator.random() < 0.4
    return {
        "match": generator.choice(MATCH),
        "hand_play": generator.choice(HAND_PLAY),
        "forced_fallback": generator.choice(["play", "flip"]),
        "allow_matching_hand_play": generator.random() < 0.3,
        "num_decks": generator.choice([1, 2]),
        "ranks": generator.choice(["A23456789TJQK", "A2345", "79"]),
        "suits": generator.choice(["CDHS", "CS", "H"]),
        "num_jokers": generator.choice([0, 1, 2]),
        "joker_role": generator.choice(JOKER_ROLE if attack else JOKER_ROLE[:3]),
        "attack": attack,
        "trigger": generator.choice([*TRIGGER, "A7K"]),
        "taker": generator.choice(["slowest", "fastest"]),
        "foul": generator.choice(["take", "skip"]),
        "flipper_slaps": generator.random() < 0.5,
        "reaction_std_ms": generator.choice([0, 80, 500]),
        "rounds": generator.choice([1, 2]),
        "most_wins": generator.random() < 0.3,
        "max_turns": 150,
    }


def test_legal_under_random_rules() -> None:
    """No player ever chooses an illegal action, whatever the rules, and every game comes to its end."""
    generator, done = random.Random(5), 0
    while done < (80 if COMPILED else 4):
        try:
            game = registry.make("pigs_tail", generator.randint(2, 12), rules=any_rules(generator))
        except OptionError:  # more players than one pack allows
            continue
        line_ups = np.random.default_rng(done).integers(0, len(ALL_PLAYERS), (4, game.num_players))
        states, episodes = play_games(game, line_ups, seed=done)
        assert (episodes["offender"] == -1).all(), game.rules
        assert (states["over"] != RUNNING).all(), game.rules
        done += 1


def test_flipper_flips() -> None:
    """The flipper flips whatever it holds, and waits in attack."""
    assert choices("flipper", {0: ["4C", "5C"]}, ["9H"], ["2C", "3C"]) == {"flip"}
    assert choices("flipper", {}, ["9H"], ["9C"], decision="flip", preset="attack") == {"wait"}


def test_tidy_plays_any_safe_card() -> None:
    """Tidy plays one of its safe cards by chance, and flips where it has none."""
    assert choices("tidy", {0: ["4C", "5S", "2H", "9S"]}, ["9H"], ["2C", "3C"]) == {"4C", "5S"}
    assert choices("tidy", {0: ["2H", "9S"]}, ["9H"], ["2C", "3C"]) == {"flip"}
    allowed = {"rules": {"allow_matching_hand_play": True}}
    assert choices("tidy", {0: ["2H", "9S"]}, ["9H"], ["2C", "3C"], **allowed) == {"flip"}


def test_counting_blocks_the_next_seat() -> None:
    """Counting plays the card that the next seat's hand cannot follow and that the ring may well match."""
    hands = {0: ["4C", "5S"], 1: ["KC", "4D"]}
    assert choices("counting", hands, ["9H"], ["2C", "3C", "6C", "7D", "8D"]) == {"4C"}


@pytest.mark.parametrize(
    ("held", "last", "chosen"),
    [
        # It holds fewest and the last card is safe: it ends the game.
        ({0: ["4C"], 1: ["KC", "KD"], 2: ["QC", "QD"], 3: ["JC", "JD"]}, "7S", {"flip"}),
        # The last card would bring it the pile: it goes on with its hand.
        ({0: ["4C"], 1: ["KC", "KD"], 2: ["QC", "QD"], 3: ["JC", "JD"]}, "7H", {"4C"}),
        # Somebody else holds less: it goes on with its hand.
        ({0: ["4C", "5C", "6C"], 1: ["KC"], 2: ["QC", "QD"], 3: ["JC", "JD"]}, "7S", {"4C", "5C", "6C"}),
    ],
)
def test_counting_ends_the_game_that_it_leads(held: dict[int, list[str]], last: str, chosen: set[str]) -> None:
    """With one known card left in the ring, counting flips it exactly where that wins."""
    assert choices("counting", held, ["9H"], [last]) <= chosen


def test_reflex_anticipates_where_it_pays() -> None:
    """Reflex anticipates a sure reason to slap, waits where there is surely none, and where there rarely is."""
    for seat in range(4):
        sure = {"preset": "attack", "decision": "flip", "seat": seat}
        assert choices("reflex", {}, ["9H"], ["2H", "9C"], **sure) == {"anticipate"}
        assert choices("reflex", {}, ["9H"], ["2C", "3C"], **sure) == {"wait"}
        assert choices("reflex", {}, ["9H"], ["2C", "3C", "4C", "5H"], **sure) == {"wait"}


def test_reflex_knows_its_own_card() -> None:
    """A mover that lays a safe card from hand waits, where the others must reckon with a flip."""
    rules = {"attack": True}
    table = {"hands": {0: ["4C"]}, "pile": ["9H"], "ring": ["2H", "9C"], "decision": "4C", "rules": rules}
    assert choices("reflex", **table, seat=0) == {"wait"}


def test_reflex_turns_round_where_the_fastest_takes() -> None:
    """Where the fastest takes the pile and fewest cards win, reflex never anticipates; where most win, it does."""
    sure = {"preset": "attack", "decision": "flip", "seat": 1}
    assert choices("reflex", {}, ["9H"], ["2H"], rules={"taker": "fastest"}, **sure) == {"wait"}
    assert choices("reflex", {}, ["9H"], ["2H"], rules={"taker": "fastest", "most_wins": True}, **sure) == {
        "anticipate"
    }


@pytest.mark.skipif(not COMPILED, reason="needs thousands of games")
@pytest.mark.parametrize(
    ("better", "worse", "num_players"),
    # At six seats most hands are empty at the end and half of the wins are shared: `counting` gains half a point there.
    [*(("tidy", "flipper", n) for n in (2, 4, 6)), *(("counting", "tidy", n) for n in (2, 3, 4))],
)
def test_each_grade_beats_the_one_before(better: str, worse: str, num_players: int) -> None:
    """One of a grade among copies of the grade below wins more than its share, with a 95 % interval clear of chance."""
    shares = win_shares(registry.make("pigs_tail", num_players), better, worse, deals=600)
    half = INTERVAL * shares.std(ddof=1) / np.sqrt(len(shares))
    assert shares.mean() - half > 1 / num_players


@pytest.mark.skipif(not COMPILED, reason="needs thousands of games")
@pytest.mark.parametrize("preset", ["attack", "attack_753", "attack_193"])
def test_reflex_beats_counting_where_cards_are_slapped(preset: str) -> None:
    """One reflex among counting players wins more than its share, with a 95 % interval clear of chance."""
    shares = win_shares(registry.make("pigs_tail", preset=preset), "reflex", "counting", deals=2000)
    half = INTERVAL * shares.std(ddof=1) / np.sqrt(len(shares))
    assert shares.mean() - half > 1 / 4
