"""The example of a game of one's own: the dice game Pig, held against its exact solution."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from pigenv import registry
from pigenv.agent import Decisions
from pigenv.envs.aec import PigAECEnv
from pigenv.evaluate.evaluation import evaluate
from pigenv.game import RUNNING, Game
from pigenv.kernel import COMPILED
from pigenv.records import Record, play_games, replay, verify
from pigenv.table import Table
from pigenv.testing import check_game

ROLL, HOLD = 0, 1
FACES = range(2, 7)

pytestmark = pytest.mark.usefixtures("dice_pig")


@cache
def solution(target: int) -> np.ndarray:
    """Probability that the seat to move wins with both playing best, by own score, other's score and turn total.

    Value iteration over all states at once, until nothing changes by more than 1e-12.
    """
    own, total = np.arange(target)[:, None, None], np.arange(target)[None, None, :]
    wins = np.zeros((target, target, target))
    reached = np.broadcast_to(own + total >= target, wins.shape)
    while True:
        before = wins
        fresh = wins[:, :, 0].T  # of the other seat, at the beginning of its turn
        after_hold = np.ones_like(wins)
        banked = np.minimum(own + total, target - 1)
        held = 1 - fresh[banked[:, 0, :], :].transpose(0, 2, 1)
        after_hold = np.where(reached, 1.0, held)
        further = [np.where(own + total + d >= target, 1.0, np.roll(wins, -d, axis=2)) for d in FACES]
        after_roll = ((1 - fresh)[:, :, None] + sum(further)) / 6
        wins = np.maximum(after_roll, np.where(total > 0, after_hold, 0.0))
        if np.abs(wins - before).max() < 1e-12:
            return wins


def best_action(target: int, own: int, other: int, total: int) -> int:
    """The better action in a state; to win at once is never worse."""
    wins = solution(target)
    if own + total >= target:
        return HOLD
    held = 1 - wins[other, own + total, 0] if total else -1.0
    further = [1.0 if own + total + d >= target else wins[own, other, total + d] for d in FACES]
    rolled = (1 - wins[other, own, 0] + sum(further)) / 6
    return HOLD if held >= rolled else ROLL


class Optimal:
    """Plays by the exact solution."""

    name = "optimal"

    def __init__(self, game: Game) -> None:
        self.target = game.rules.target  # type: ignore[attr-defined]

    def reset(self, seed: int) -> None:
        """Nothing to forget."""

    def act(self, decisions: Decisions) -> np.ndarray:
        rows = zip(decisions.views, decisions.seats, strict=True)
        return np.array(
            [
                best_action(self.target, int(v["score"][seat]), int(v["score"][1 - seat]), int(v["total"]))
                for v, seat in rows
            ]
        )


def test_contract() -> None:
    """The example passes every contract check, at two seats and at five."""
    for num_players in (2, 5):
        check_game(registry.make("dice_pig", num_players, preset="small"), games=3)


def test_rolls_stand_in_the_record() -> None:
    """Each roll is a step of its own in the record, which verifies, replays, and refuses a changed roll."""
    record = next(play_games(registry.make("dice_pig", preset="small"), ["uniform"], seed=3, games=1))
    verify(record)
    steps = record.rounds[0]["steps"]
    rolls = [place for place, step in enumerate(steps) if step.get("action") == "roll"]
    assert all(set(steps[place + 1]) == {"chance"} for place in rolls)
    points, total = [0, 0], 0
    for place, step in enumerate(steps):
        if step.get("action") == "roll":
            face = int(steps[place + 1]["chance"])
            total = total + face if face > 1 else 0
        elif step.get("action") == "hold":
            points[step["seat"]] += total
            total = 0
    assert record.scores == points
    by_hand = Record(**{**vars(record), "seed": None, "episode": None})
    assert [each.chance for each in replay(by_hand)] == [each.chance for each in replay(record)]
    verify(by_hand)


def test_environment() -> None:
    """A game of it plays to its end in an AEC environment, and pays zero in sum."""
    env = PigAECEnv("dice_pig", num_players=3, preset="small")
    env.reset(seed=1)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        paid[agent] += reward
        env.step(None if terminated or truncated else int(np.flatnonzero(observation["action_mask"])[-1]))
    assert max(paid.values()) == 1.0
    assert sum(paid.values()) == pytest.approx(0)


def test_solution_is_the_published_one() -> None:
    """To a hundred, the first of two best players wins 53.06 % (Neller and Presser, 2004)."""
    assert solution(100)[0, 0, 0] == pytest.approx(0.5306, abs=5e-5)


def test_the_game_is_the_one_that_is_solved() -> None:
    """Two best players at the table win as often as the solution says, within four standard errors."""
    target, games = 20, 4000 if COMPILED else 100
    game = registry.make("dice_pig", rules={"target": target, "first_player": 0})
    first = sum(r.returns[0] == 1.0 for r in play_games(game, [Optimal(game)], seed=5, games=games)) / games
    expected = solution(target)[0, 0, 0]
    assert abs(first - expected) < 4 * np.sqrt(expected * (1 - expected) / games)


@pytest.mark.skipif(not COMPILED, reason="needs thousands of games")
@pytest.mark.parametrize("other", ["uniform", "dice_pig/hold_20", "dice_pig/racing"])
def test_nobody_beats_the_solution(other: str) -> None:
    """No player of the example wins more than half of its games against the exact solution."""
    game = registry.make("dice_pig", rules={"target": 50})
    entry = evaluate(Optimal(game), game, against=other, deals=600, seed=2, workers=1)["results"][0]
    assert entry["win_share_ci"][1] > 0.5


def test_given_rolls_are_used_once() -> None:
    """A roll that is given decides the next step alone."""
    game = registry.make("dice_pig")
    table = Table(game)
    table.start(4)
    seat = table.seat
    for face in (6, 5):
        game.definition.give_chance(table.states[0], game.row[0], {"chance": str(face)})  # type: ignore[misc]
        table.step(ROLL)
    assert (table.seat, int(table.states["total"][0]), table.over) == (seat, 11, RUNNING)
    assert table.states["given"][0] == 0
