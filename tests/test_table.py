"""One game at a table: seeds, refused calls, copies, deals, what happens to illegal actions, and what is paid."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pigenv import registry
from pigenv.errors import DealError, IllegalActionError, OptionError, SeedError, UsageError
from pigenv.game import ANYBODY, REWARDS, RUNNING, TERMINATED, TRUNCATED
from pigenv.table import EPISODE, ILLEGAL, Table, loops
from tests.naive.pig10 import NaivePig10
from tests.strategies import pig10_games, pig10_rules, tables

QUIET = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def started(policy: str = "raise", seed: int = 1, **options: Any) -> Table:
    """A table of Pig 10 with a game just begun."""
    table = Table(registry.make("pig10", **options), policy)
    table.start(seed)
    return table


def everything(table: Table) -> bytes:
    """All bytes of a table that a step may change and that mean anything between two steps."""
    episodes = table.episodes.copy()
    episodes["now"] = 0  # scratch room of the payment
    arrays = (table.states, episodes, table.observations, table.masks, table.rewards)
    numbers = (table.seat, table.over, table.round, table.replaced, table.offender, table.paid, table.steps)
    return b"".join(array.tobytes() for array in arrays) + repr(numbers).encode()


def play_out(table: Table, chance: int = 0) -> list[bytes]:
    """Play to the end at random; everything after each step."""
    generator, trace = random.Random(chance), [everything(table)]
    while table.over == RUNNING:
        table.step(generator.choice(table.legal_actions()))
        trace.append(everything(table))
    return trace


def illegal_action(table: Table) -> int:
    """An action of the space that is not legal now."""
    return next(action for action in range(table.game.num_actions) if action not in table.legal_actions())


# --- refused calls ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ILLEGAL)
@pytest.mark.parametrize(
    "action",
    [-1, -21, 21, 10**30, -(10**30), 0.0, 1.5, float("nan"), float("inf"), True, False, "4", "", None, [0], (0,),
     {}, np.float64(1), np.bool_(True), np.nan, np.array([0]), np.array(0.0), np.array(True), np.int64(-1),
     np.uint64(2**63), b"4", 1j, object],
    ids=repr,
)  # fmt: skip
def test_no_action_at_all(policy: str, action: Any) -> None:
    """What is no integer of the action space is refused under every policy, and nothing changes."""
    table = started(policy)
    before = everything(table)
    with pytest.raises(IllegalActionError, match=r"an action of pig10_v0 must be an integer 0 … 20; got ") as raised:
        table.step(action)
    assert isinstance(raised.value, ValueError)
    assert everything(table) == before
    assert play_out(table) == play_out(started(policy))


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint8, np.uint64, lambda number: np.array(number)])
def test_integers_of_any_kind_are_actions(kind: Any) -> None:
    """Python's and NumPy's integers, and arrays that are one, mean the same action."""
    one, other = started(), started()
    action = one.legal_actions()[-1]
    one.step(action)
    other.step(kind(action))
    assert everything(one) == everything(other)


def test_illegal_action_is_refused() -> None:
    """The error names action, text, seat and what would have been legal, and nothing changes."""
    generator = random.Random(4)
    table = started(num_players=3)
    while table.over == RUNNING:
        wrong, legal, before = illegal_action(table), table.legal_actions(), everything(table)
        with pytest.raises(IllegalActionError) as raised:
            table.step(wrong)
        message = str(raised.value)
        assert f"action {wrong} ('{table.game.action_texts[wrong]}') is not legal for seat {table.seat}" in message
        assert f"legal: {', '.join(map(str, legal))} (" in message
        assert all(f"'{table.game.action_texts[action]}'" in message for action in legal)
        assert everything(table) == before
        table.step(generator.choice(legal))


@pytest.mark.parametrize("policy", ILLEGAL)
def test_step_before_start_and_after_end(policy: str) -> None:
    """Without a game going on a step is refused, whatever the action, and nothing changes."""
    table = Table(registry.make("pig10", preset="small"), policy)
    before = everything(table)
    for action in (0, -1, "4", None):
        with pytest.raises(UsageError, match="no game was begun; call reset first"):
            table.step(action)
    assert everything(table) == before
    table.start(1)
    play_out(table)
    before = everything(table)
    for action in (0, -1, "4", None):
        with pytest.raises(UsageError, match="the game is over; call reset first"):
            table.step(action)
    assert everything(table) == before
    assert table.legal_actions() == []
    table.start(1)
    assert table.over == RUNNING


def test_unknown_policy() -> None:
    """A policy for illegal actions that there is not is refused by name."""
    with pytest.raises(OptionError, match="perhaps"):
        Table(registry.make("pig10"), "perhaps")


# --- illegal actions under other policies -----------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3, 8])
def test_forfeit(num_players: int) -> None:
    """An illegal action ends the game for all: the offender gets −1, the others share it, and the table says who."""
    table = started("forfeit", num_players=num_players)
    for _ in range(5):
        table.step(table.legal_actions()[0])
    offender, state = table.seat, table.states.copy()
    rewards = table.step(illegal_action(table))
    assert table.over == TERMINATED
    assert (table.offender, table.steps, table.replaced) == (offender, 6, 0)
    assert rewards.tolist() == pytest.approx(
        [-1.0 if seat == offender else 1 / (num_players - 1) for seat in range(num_players)]
    )
    assert table.legal_actions() == []
    state["over"] = TERMINATED
    assert table.states.tobytes() == state.tobytes()


def test_random_policy() -> None:
    """An illegal action is replaced by a legal one, evenly, the same for the same seed, and counted."""
    played: Counter[str] = Counter()
    for seed in range(600):
        table = started("random", seed, num_players=2)
        legal = [table.game.action_texts[action] for action in table.legal_actions()]
        before = table.states["played"][0].copy()
        table.step(illegal_action(table))
        assert (table.replaced, table.offender, table.over) == (1, -1, RUNNING)
        card = int(np.flatnonzero(table.states["played"][0] - before)[0]) if table.states["value"][0] != -1 else 10
        assert str(card) in legal
        played[str(legal.index(str(card)) if len(legal) == 3 else "few")] += 1
        again = started("random", seed, num_players=2)
        again.step(illegal_action(again))
        assert everything(again) == everything(table)
    counts = [played[place] for place in "012"]
    assert sum(counts) > 300
    assert min(counts) > sum(counts) / 4


# --- seeds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seed",
    [
        -1,
        2**64,
        10**30,
        1.0,
        0.5,
        float("nan"),
        True,
        False,
        np.bool_(True),
        "1",
        None,
        [1],
        np.float64(1),
        np.int64(-1),
    ],
    ids=repr,
)
def test_bad_seed(seed: Any) -> None:
    """What is no integer in 0 … 2^64−1 is no seed, and the table is what it was."""
    table = started()
    before = everything(table)
    with pytest.raises(SeedError, match=r"a seed must be an integer in 0 … 2\^64-1; got"):
        table.start(seed)
    assert everything(table) == before
    with pytest.raises(SeedError):
        table.clone(redraw=-1)


@pytest.mark.parametrize(
    ("seed", "same"), [(7, np.int64(7)), (7, np.uint8(7)), (2**64 - 1, np.uint64(2**64 - 1)), (0, np.int32(0))]
)
def test_numpy_seeds(seed: int, same: Any) -> None:
    """An integer of NumPy's is the same seed as Python's; the least and the greatest work."""
    assert play_out(started(seed=seed)) == play_out(started(seed=same))


def test_seeds_and_episodes_differ() -> None:
    """Different seeds, and different episodes of a seed, are dealt differently, however near they are."""
    deals = set()
    for seed in [*range(20), *(2**64 - 1 - k for k in range(20)), *(2**k for k in range(5, 64))]:
        for number in range(5):
            table = Table(registry.make("pig10"))
            table.start(seed, number)
            deals.add(table.states["pack"].tobytes())
    assert len(deals) == (40 + 59) * 5


def test_cards_do_not_depend_on_play() -> None:
    """Episode k of a seed deals the same cards whatever was played before it, at any table."""
    one, other = started(seed=5), Table(registry.make("pig10"), "forfeit")
    play_out(one)
    one.start(5, 1)
    other.start(5, 1)
    assert one.states.tobytes() == other.states.tobytes()


def test_first_seat_is_even() -> None:
    """Chance lets each seat begin equally often."""
    table, begins = Table(registry.make("pig10", 5)), Counter[int]()
    for number in range(2_000):
        table.start(3, number)
        begins[table.seat] += 1
    assert set(begins) == set(range(5))
    assert max(abs(count - 400) for count in begins.values()) < 100


# --- copies -----------------------------------------------------------------------------------------------------------

COPIES = {
    "clone": lambda table: table.clone(),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda table: pickle.loads(pickle.dumps(table)),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES.keys())
@QUIET
@given(table=tables(), chance=st.integers(0, 99))
def test_copies_play_on_identically(make: Any, table: Table, chance: int) -> None:
    """A copy, made anywhere in a game, is equal, plays on identically, and does not touch the original."""
    before = everything(table)
    twin = make(table)
    assert everything(twin) == before
    assert twin.game == table.game
    trace = play_out(twin, chance)
    assert everything(table) == before
    assert play_out(table, chance) == trace


def test_copies_at_the_end() -> None:
    """A copy of a finished game is finished, and can begin anew."""
    table = started(preset="small")
    play_out(table)
    for make in COPIES.values():
        twin = make(table)
        assert (twin.over, everything(twin)) == (TERMINATED, everything(table))
        twin.start(9)
        assert play_out(twin) == play_out(started(preset="small", seed=9))


@QUIET
@given(table=tables(pig10_games()), seed=st.integers(0, 2**64 - 1))
def test_redraw_keeps_what_anybody_saw(table: Table, seed: int) -> None:
    """With `redraw` a clone keeps every hand and all that is open, draws only the stock anew, and is repeatable."""
    before = everything(table)
    twin = table.clone(redraw=seed)
    assert everything(table) == before
    for name in ("hand", "hand_size", "taken", "played", "value", "pile", "seat", "turn", "over", "dealt"):
        assert twin.states[name].tobytes() == table.states[name].tobytes()
    at = int(table.states["dealt"][0])
    assert sorted(twin.states["pack"][0, at:].tolist()) == sorted(table.states["pack"][0, at:].tolist())
    for seat in range(table.game.num_players):
        assert twin.view(seat).tobytes() == table.view(seat).tobytes()
    assert everything(table.clone(redraw=seed)) == everything(twin)


def test_redraws_differ() -> None:
    """Different seeds of `redraw` give different stocks."""
    table = started()
    assert len({table.clone(redraw=seed).states["pack"].tobytes() for seed in range(20)}) == 20


def test_save_and_restore() -> None:
    """What was saved comes back, also after a whole game was played in between."""
    table = started(num_players=3)
    for _ in range(10):
        table.step(table.legal_actions()[0])
    saved, before = table.save(), everything(table)
    trace = play_out(table)
    table.restore(saved)
    assert everything(table) == before
    assert play_out(table) == trace


# --- looking ----------------------------------------------------------------------------------------------------------


@QUIET
@given(table=tables())
def test_looking_changes_nothing(table: Table) -> None:
    """Views, observations, scores and pictures, for every seat and for anybody, leave the table as it is."""
    before = everything(table)
    for seat in range(table.game.num_players):
        view = table.view(seat)
        assert view["key"][0] == 0
        assert table.observe(seat).dtype == np.float32
        table.scene(seat)
        view["turn"] = 9
    table.view(ANYBODY)
    table.scene(ANYBODY)
    table.scores()[:] = -1
    table.save()["states"]["seat"] = 5
    assert everything(table) == before


@QUIET
@given(table=tables())
def test_observations_of_the_mover(table: Table) -> None:
    """What the table keeps ready for the seat to move is what that seat observes, and its mask is legal."""
    assert table.observe(table.seat).tobytes() == table.observations[0].tobytes()
    assert table.masks.dtype == np.int8
    assert bool(table.legal_actions()) == (table.over == RUNNING)


# --- deals ------------------------------------------------------------------------------------------------------------


def test_deal_round_trip() -> None:
    """A game dealt from the deal of another one goes the same way, whatever its seed."""
    one = started(seed=4, num_players=3)
    other = Table(one.game)
    other.start(77, deals=[one.deal()])
    assert other.deal() == one.deal()
    generator = random.Random(1)
    while one.over == RUNNING:
        assert (one.seat, one.legal_actions()) == (other.seat, other.legal_actions())
        assert one.observations.tobytes() == other.observations.tobytes()
        action = generator.choice(one.legal_actions())
        assert one.step(action).tobytes() == other.step(action).tobytes()
    assert other.over == TERMINATED


@pytest.mark.parametrize(
    "given", [None, 5, "deal", {}, [], {"hands": []}, {"first_player": 0, "hands": [], "stock": []}]
)
def test_bad_deal_leaves_the_table(given: Any) -> None:
    """A deal that is none is refused, saying of which round, and the table is what it was."""
    table = started()
    before = everything(table), table.deals
    with pytest.raises(DealError, match="deal of round 0: "):
        table.start(2, deals=[given])
    assert (everything(table), table.deals) == before
    with pytest.raises(DealError, match="deal of round 1: "):
        table.start(2, deals=[table.deal(), given])
    assert (everything(table), table.deals) == before


def test_deal_given_is_not_changed() -> None:
    """Playing leaves the deal that was handed over as it is."""
    table = started()
    given = table.deal()
    kept = copy.deepcopy(given)
    table.start(2, deals=[given])
    play_out(table)
    assert given == kept


# --- what is paid -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_against_the_twin(reward: str) -> None:
    """Every game pays what the twin says, all of it on the last step, and zero in sum."""
    generator = random.Random(8)
    for seed in range(60):
        num_players = generator.randint(2, 8)
        rules = pig10_rules(generator, num_players)
        table = Table(registry.make("pig10", num_players, rules=rules, reward=reward))
        table.start(seed)
        twin = NaivePig10(num_players, rules, table.deal())
        while table.over == RUNNING:
            action = generator.choice(table.legal_actions())
            rewards = table.step(action).tolist()
            twin.step(table.game.action_texts[action])
            assert table.paid == any(rewards)
            if table.over == RUNNING:
                assert rewards == [0.0] * num_players
        assert table.over == (TERMINATED if twin.over == "terminated" else TRUNCATED)
        assert rewards == pytest.approx(twin.returns(reward, sum(rules["deck_counts"]) / num_players), abs=1e-5)
        assert sum(rewards) == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(
    ("points", "reward", "lowest_wins", "wanted"),
    [
        # Places 3, 1, 4, 2; the mean is 20 and the scale 20.
        ([15, 30, 10, 25], "win", False, [-1 / 3, 1.0, -1 / 3, -1 / 3]),
        ([15, 30, 10, 25], "rank", False, [-1 / 3, 1.0, -1.0, 1 / 3]),
        ([15, 30, 10, 25], "score", False, [-0.25, 0.5, -0.5, 0.25]),
        ([15, 30, 10, 25], "win", True, [-1 / 3, -1 / 3, 1.0, -1 / 3]),
        ([15, 30, 10, 25], "rank", True, [1 / 3, -1.0, 1.0, -1 / 3]),
        ([15, 30, 10, 25], "score", True, [0.25, -0.5, 0.5, -0.25]),
        # Two share the first place: (4 / 2 − 1) / 3 each; places 1.5, 1.5, 3, 4.
        ([30, 30, 15, 5], "win", False, [1 / 3, 1 / 3, -1 / 3, -1 / 3]),
        ([30, 30, 15, 5], "rank", False, [2 / 3, 2 / 3, -1 / 3, -1.0]),
        # Three share the second to fourth place: place 3 each.
        ([50, 10, 10, 10], "rank", False, [1.0, -1 / 3, -1 / 3, -1 / 3]),
        ([20, 20, 20, 20], "win", False, [0.0] * 4),
        ([20, 20, 20, 20], "rank", False, [0.0] * 4),
        ([20, 20, 20, 20], "score", False, [0.0] * 4),
    ],
)
def test_reward_formulas(points: list[int], reward: str, lowest_wins: bool, wanted: list[float]) -> None:
    """Rewards follow the published formulas, worked out by hand, with the sign turned where fewest points win."""
    game = registry.make("pig10", 4, reward=reward)
    row, state, episodes = game.row.copy(), np.zeros(1, game.definition.state), np.zeros(1, EPISODE)
    row["lowest_wins"] = lowest_wins
    state["taken"][0, :4], state["over"] = points, TERMINATED
    rewards = np.zeros((1, 4), np.float32)
    loops(game.definition).pay(state[0], row[0], episodes[0], rewards, 0)
    assert rewards[0].tolist() == pytest.approx(wanted, abs=1e-6)


def test_rounds_are_paid_by_what_they_brought() -> None:
    """The reward "score" pays a round by the points since the last payment; "win" and "rank" pay at the very end."""
    for reward, wanted in [("score", [0.5, -0.5]), ("win", [0.0, 0.0]), ("rank", [0.0, 0.0])]:
        game = registry.make("pig10", 2, reward=reward)
        state, episodes = np.zeros(1, game.definition.state), np.zeros(1, EPISODE)
        # 30 to 10 since 20 to 40: 40 more for the first; a fair share of the pack is 40.
        state["taken"][0, :2], episodes["points"][0, :2] = [50, 40], [20, 50]
        rewards = np.zeros((1, 2), np.float32)
        loops(game.definition).pay(state[0], game.row[0], episodes[0], rewards, 0)
        assert rewards[0].tolist() == pytest.approx(wanted)
        assert episodes["points"][0, :2].tolist() == ([50.0, 40.0])


# --- many tables ------------------------------------------------------------------------------------------------------


def test_batch_is_many_single_tables() -> None:
    """Table i of a batch goes exactly as a single table with its seed, whatever its neighbours do."""
    from pigenv.table import RAISE, set_seed

    game, count = registry.make("pig10", 3), 7
    run = loops(game.definition)
    states, episodes = np.zeros(count, game.definition.state), np.zeros(count, EPISODE)
    for i in range(count):
        set_seed(episodes[i], 100 + i)
    run.start_tables(states, game.row, episodes, np.ones(count, bool))
    seats, views = np.zeros(count, np.int8), np.zeros(1, game.definition.state)
    observations = np.zeros((count, game.layout.size), np.float32)
    masks, rewards = np.zeros((count, game.num_actions), np.int8), np.zeros((count, 3), np.float32)
    over, actions = np.zeros(count, np.int8), np.zeros(count, np.int64)
    run.decide_tables(states, game.row, seats, views, observations, masks)
    singles = [started(seed=100 + i, num_players=3) for i in range(count)]
    generator = random.Random(0)
    for _ in range(80):
        for i, table in enumerate(singles):
            assert states[i].tobytes() == table.states[0].tobytes()
            assert observations[i].tobytes() == table.observations[0].tobytes()
            assert masks[i].tobytes() == table.masks[0].tobytes()
            actions[i] = generator.choice(table.legal_actions())
            table.step(int(actions[i]))
        run.step_tables(
            states, game.row, episodes, actions, RAISE, False, seats, views, observations, masks, rewards, over
        )
        for i, table in enumerate(singles):
            assert rewards[i].tobytes() == table.rewards[0].tobytes()
            assert over[i] == table.over
    assert set(over.tolist()) == {TERMINATED}


def test_fourth_game_at_a_table(toy: str) -> None:
    """A game from another package plays at a table, is copied, and takes deals like our own."""
    table = Table(registry.make(toy, 4, reward="rank"))
    table.start(3)
    assert sorted(map(len, table.deal()["hands"])) == [3] * 4
    for make in COPIES.values():
        assert play_out(make(table), 5) == play_out(table.clone(), 5)
    play_out(table)
    scores = table.scores().tolist()
    # Fewest points win here.
    assert table.rewards[0].tolist().index(max(table.rewards[0])) == scores.index(min(scores))
    with pytest.raises(DealError, match="a die shows 1 to 6"):
        table.start(0, deals=[{"first_player": 0, "hands": [[7, 1, 1]] * 4}])
    with pytest.raises(OptionError, match="max_turns"):
        registry.make(toy, rules={"max_turns": 0})
