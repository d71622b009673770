"""Duplicate deals: what a match plays, and what it does with agents that misbehave."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from pigenv import registry
from pigenv.agent import KernelAgent
from pigenv.agents.uniform import UNIFORM
from pigenv.errors import AgentError, OptionError, SeedError
from pigenv.evaluate.match import _Hall, play_match, warm_up
from pigenv.kernel import COMPILED
from pigenv.table import Table, player_loops
from tests.evaluate.players import BENCH, FIRST, LAST, NEVER, PIG10, Answers, OwnChance, Wrapped, raises_on_tens

ARRAYS = ("returns", "scores", "places", "win_shares", "placements", "steps", "offenders", "truncated")


def match(line_up, deals=20, seed=7, game=PIG10, **more):
    return play_match(game, line_up, deals, seed, bench=BENCH, **more)


def raising(error):
    def answer(decisions, good):
        raise error

    return answer


def raising_on_tens(decisions, good):
    """Fails where the first card in hand is a 10, and thereby for the whole batch that it is in."""
    if any(decisions.views["hand"][k, seat, 0] == 10 for k, seat in enumerate(decisions.seats)):
        raise ZeroDivisionError("a ten")
    return good


# --- fairness ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", [FIRST, UNIFORM, Wrapped(LAST), OwnChance()], ids=lambda each: each.name)
def test_equal_agents_come_out_exactly_even(agent):
    """An agent against copies of itself has exactly the chance level on every single deal."""
    games = match([agent] * 4)
    assert games.win_shares.mean(axis=1) == pytest.approx(0.25)
    assert games.places.mean(axis=1) == pytest.approx(2.5)
    assert (games.steps == games.steps[:, :1]).all()


@pytest.mark.parametrize("players", [2, 3, 5])
def test_every_table_size_is_even_too(players):
    """The rotations are as many as there are seats."""
    games = match([UNIFORM] * players, deals=5, game=registry.make("pig10", players))
    assert games.win_shares.shape == (5, players, players)
    assert games.win_shares.mean(axis=1) == pytest.approx(1 / players)


def test_every_copy_of_a_deal_has_the_same_cards():
    """In every rotation each seat's hand at its first decision is the one that the seed deals for that episode."""
    seen = []

    def note(decisions, good):
        for seat, view in zip(decisions.seats.tolist(), decisions.views, strict=True):
            if view["turn"] < 4:
                seen.append((seat, sorted(view["hand"][seat, :3].tolist())))
        return good

    agent = Answers("notes", note)
    for deal in (0, 5):
        table = Table(PIG10)
        table.start(7, deal)
        hands = table.deal()["hands"]
        seen.clear()
        match([agent, FIRST, LAST, UNIFORM], deals=[deal])
        assert sorted(seen) == [(seat, sorted(hand)) for seat, hand in enumerate(hands)]


def test_each_place_sits_on_each_seat_once():
    """The seats of a place over the rotations are all seats."""
    games = match([FIRST, LAST, LAST, LAST], deals=1)
    assert sorted(games.orders[:, 2].tolist()) == [0, 1, 2, 3]


def test_an_agent_is_reset_to_the_same_seed_before_each_rotation():
    """Random numbers of its own favour no rotation, and two agents do not get the same ones."""
    one, other = Wrapped(FIRST), Wrapped(LAST)
    match([one, other, other, FIRST], deals=3)
    assert len(one.seeds) == len(other.seeds) == 4
    assert len(set(one.seeds)) == len(set(other.seeds)) == 1
    assert one.seeds[0] != other.seeds[0]


def test_no_batch_holds_two_hands_of_one_deal():
    """An agent cannot read a deal from several seats at once."""

    def check(decisions, good):
        deals = decisions.keys.tolist()
        assert len(set(deals)) == len(deals)
        return good

    agent = Answers("watches", check)
    assert match([agent] * 4).faults == ()


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line_up",
    [(FIRST, LAST, UNIFORM, FIRST), (UNIFORM, NEVER, LAST, LAST)],
    ids=["legal", "with forfeits"],
)
def test_compiled_and_general_paths_give_the_same_games(line_up):
    """Asked in Python, all or some of them, kernels play what they play inside the compiled loops."""
    fast = match(line_up)
    wrapped = {id(agent): Wrapped(agent) for agent in line_up}
    for slow_line_up in ([wrapped[id(each)] for each in line_up], [wrapped[id(line_up[0])], *line_up[1:]]):
        slow = match(slow_line_up)
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name), err_msg=name)


def test_batches_do_not_matter(monkeypatch):
    """The same games come out however many are played at once, and whichever deals are asked for."""
    line_up = [FIRST, LAST, UNIFORM, UNIFORM]
    whole = match(line_up)
    monkeypatch.setattr("pigenv.evaluate.match.COMPILED_BATCH", 3)
    parts, some = match(line_up), match(line_up, deals=[11, 4])
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))
        np.testing.assert_array_equal(getattr(whole, name)[[11, 4]], getattr(some, name))


def test_shares_and_places_of_a_game_add_up():
    """Win shares sum to 1 in each game, places to 1 + … + n, returns to 0, and the first place's share is the win's."""
    games = match([FIRST, LAST, UNIFORM, NEVER])
    assert games.win_shares.sum(axis=-1) == pytest.approx(1.0)
    assert games.places.sum(axis=-1) == pytest.approx(10.0)
    assert games.placements.sum(axis=-1) == pytest.approx(1.0)
    assert games.returns.sum(axis=-1) == pytest.approx(0.0, abs=1e-6)


def test_returns_follow_from_win_shares():
    """With the reward "win" a game's returns are n·share − 1 over n − 1, and the scores decide the shares."""
    games = match([FIRST, LAST, UNIFORM, UNIFORM])
    np.testing.assert_allclose(games.returns, (4 * games.win_shares - 1) / 3, atol=1e-6)
    best = games.scores == games.scores.max(axis=-1, keepdims=True)
    np.testing.assert_allclose(games.win_shares, best / best.sum(axis=-1, keepdims=True))


def test_games_cut_short_are_counted():
    """A game that reaches the rules' limit is marked, and scored as it stands."""
    games = match([FIRST] * 4, deals=3, game=registry.make("pig10", rules={"max_turns": 6}))
    assert games.truncated.all()
    assert (games.steps == 6).all()


def test_progress_counts_every_game():
    """Progress only grows and ends at the number of games, with compiled agents and others."""
    for line_up in ([FIRST] * 4, [OwnChance(), FIRST, LAST, UNIFORM]):
        told = []
        match(line_up, deals=5, progress=told.append)
        assert told == sorted(told)
        assert told[-1] == 20


# --- agents that misbehave --------------------------------------------------------------------------------------------

ILL = {
    "illegal": (lambda d, good: np.full(len(d), d.game.num_actions), f"illegal action {PIG10.num_actions}; legal: '"),
    "huge": (lambda d, good: np.full(len(d), 2**64 - 1, np.uint64), "illegal action"),
    "raises": (raising(RuntimeError("no\nidea")), "RuntimeError: no idea"),
    "exits": (raising(SystemExit(3)), "SystemExit: 3"),
    "too few": (lambda d, good: good[:0], "AgentError: act must return an integer for each decision"),
    "floats": (lambda d, good: good + 0.5, "AgentError: act must return an integer"),
    "nothing": (lambda d, good: None, "AgentError: act must return an integer"),
}


@pytest.mark.parametrize("kind", ILL)
def test_a_misbehaving_agent_forfeits_by_name(kind):
    """Whatever an agent does instead of answering costs it the game, is reported by its name, and stops nothing."""
    answer, reason = ILL[kind]
    games = match([Answers(kind, answer), FIRST, LAST, UNIFORM], deals=3)
    assert (games.offenders == 0).all()
    assert games.win_shares[..., 0].max() == 0.0
    assert games.win_shares[..., 1:] == pytest.approx(1 / 3)
    assert (games.places[..., 0] == 4.0).all()
    assert games.returns[..., 0] == pytest.approx(-1.0)
    assert {fault.agent for fault in games.faults} == {kind}
    assert len(games.faults) == 12
    assert all(fault.reason.startswith(reason) for fault in games.faults)


def test_a_compiled_agent_forfeits_too():
    """An illegal action of a kernel is reported like any other."""
    games = match([FIRST, NEVER, LAST, UNIFORM], deals=3)
    assert (games.offenders == 1).all()
    assert {(fault.agent, fault.place, fault.reason) for fault in games.faults} == {("never", 1, "illegal action")}


def test_a_kernel_that_raises_forfeits_its_games():
    """An exception out of a compiled loop stops no match either: the games are played again, decision by decision."""
    broken = KernelAgent("fails", raises_on_tens)
    games = play_match(PIG10, [broken, FIRST, FIRST, FIRST], 10, 7)
    forfeited = games.offenders == 0
    assert 0 < forfeited.sum() < forfeited.size
    assert {fault.agent for fault in games.faults} == {"fails"}
    assert "ZeroDivisionError" in games.faults[0].reason


def test_an_agent_that_cannot_be_reset_forfeits():
    """An exception in `reset` loses the games, not the match."""
    broken = Answers("broken", lambda d, good: good, reset=ValueError("no seed"))
    games = match([FIRST, broken, LAST, UNIFORM], deals=2)
    assert (games.offenders == 1).all()
    assert games.faults[0].reason == "reset raised ValueError: no seed"


def test_an_exception_costs_only_the_games_it_was_raised_for():
    """Where one decision spoils a batch, the others in it are asked again and played on."""
    games = match([Answers("dislikes tens", raising_on_tens), FIRST, FIRST, FIRST], deals=30)
    forfeited = games.offenders == 0
    assert 0 < forfeited.sum() < forfeited.size
    assert {fault.reason for fault in games.faults} == {"ZeroDivisionError: a ten"}
    # The games that were not forfeited went as with an agent that never fails.
    calm = match([Answers("calm", lambda d, good: good), FIRST, FIRST, FIRST], deals=30)
    np.testing.assert_array_equal(games.scores[~forfeited], calm.scores[~forfeited])


def test_an_agent_cannot_change_the_game_through_its_decisions():
    """What an agent writes into its views and masks stays with it."""

    def vandal(decisions, good):
        decisions.views["hand"][:] = 10
        decisions.action_masks[:] = 1
        return good

    clean = match([Answers("clean", lambda d, good: good), FIRST, LAST, LAST])
    spoilt = match([Answers("vandal", vandal), FIRST, LAST, LAST])
    np.testing.assert_array_equal(clean.scores, spoilt.scores)


def test_interrupting_is_left_to_the_user():
    """A KeyboardInterrupt ends the match."""
    with pytest.raises(KeyboardInterrupt):
        match([Answers("slow", raising(KeyboardInterrupt())), FIRST, LAST, UNIFORM])


# --- wrong use --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deals", [0, -1, 2.5, True, [], [-1], "10"])
def test_deals_must_be_counted(deals):
    """Deals are a positive integer or episode numbers."""
    with pytest.raises(OptionError, match="must be"):
        match([FIRST] * 4, deals=deals)


def test_a_line_up_must_fill_the_table():
    """Too few agents, an agent of another game and a seed that is none are refused with a sentence."""
    with pytest.raises(OptionError, match="has 4 agents; got 3"):
        match([FIRST] * 3)
    with pytest.raises(AgentError, match="plays chess, not pig10"):
        match([KernelAgent("chess/bot", FIRST.kernel, "chess")] * 4)
    with pytest.raises(SeedError, match="seed must be"):
        match([FIRST] * 4, seed=-1)


def test_every_array_is_compared():
    """The list of arrays in this file is complete."""
    named = {each.name for each in fields(match([FIRST] * 4, deals=1))}
    assert named == {*ARRAYS, "names", "deals", "orders", "corrections", "faults"}


def test_warming_up_compiles_all_that_a_match_calls():
    """After it, nothing is left to compile in the measured time, and no agent was asked."""
    asked = []
    agent = Answers("counts", lambda decisions, good: asked.append(1) or good)
    line_up = [agent, FIRST, LAST, UNIFORM]
    warm_up(PIG10, line_up, BENCH)
    assert not asked
    hall = _Hall(PIG10, line_up, BENCH, 0)
    together = player_loops(PIG10.definition, hall.players)
    loops = [hall.loops.start_tables, hall.loops.view_tables, hall.loops.score_tables, hall.loops.observe_views]
    called = [*loops, together.settle_tables, together.step_seats]
    if not COMPILED:
        pytest.skip("kernels run uncompiled")
    before = [len(each.signatures) for each in called]
    agent.answer = lambda decisions, good: good[: decisions.observations.shape[0]]
    match(line_up, deals=2)
    assert [len(each.signatures) for each in called] == before
    assert min(before) >= 1
