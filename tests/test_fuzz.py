"""Fuzzing finds what is planted, shrinks it, and finds nothing where nothing is."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pigenv import registry
from pigenv.kernel import COMPILED
from pigenv.records import Record, verify
from tests import fuzz
from tests.naive.pig10 import NaivePig10


class FiveOnlyAboveFive(NaivePig10):
    """Has one rule wrong: a 5 may be subtracted from more than 5 only."""

    def ways(self, card: int) -> dict[str, int]:
        found = super().ways(card)
        if self.value == 5:
            found.pop("5-", None)
        return found


class LeftoverToTheFirst(NaivePig10):
    """Has another one wrong: cards left at the end go to seat 0."""

    def scores(self) -> list[int]:
        extra = len(self.pile) if self.over == "terminated" else 0
        return [taken + extra * (seat == 0) for seat, taken in enumerate(self.taken)]


def planted(twin: type[NaivePig10]) -> fuzz.Found:
    """The first disagreement of rounds of Pig 10 with a twin."""
    for seed in range(100):
        found = fuzz.fuzz_round("pig10", seed, 20, twin)[2]
        if found is not None:
            return found
    pytest.fail("a hundred rounds found nothing")


def test_a_planted_disagreement_is_found_and_shrunk() -> None:
    """A wrong rule is found, and shrunk to two players who need one step to get there, with the default options."""
    short = fuzz.shrunk(planted(FiveOnlyAboveFive), FiveOnlyAboveFive, seeds=400 if COMPILED else 150)
    assert short.steps == 1
    assert short.record.num_players == 2
    assert "'5-'" in short.message
    rules = registry.make("pig10", 2).rules.to_json()
    assert {name for name, value in short.record.rules.items() if value != rules[name]} <= {"max_turns"}
    assert len(short.record.rounds[0]["steps"]) == 2
    # It is a record like any other, in which a 5 lies on the pile and another one is to be played.
    again = Record.from_line(short.record.to_line())
    assert verify(again) == 2
    assert again.rounds[0]["steps"][0]["action"] == "5"
    assert "5-" in again.rounds[0]["steps"][1]["legal"]
    assert fuzz.disagreement(again, FiveOnlyAboveFive) == (1, short.message)
    assert fuzz.disagreement(again, NaivePig10) is None


def test_a_wrong_score_is_found_and_shrunk() -> None:
    """What shows only in the scores is found too; a short game is the simplest that shows it."""
    found = planted(LeftoverToTheFirst)
    assert found.message.startswith("scores")
    short = fuzz.shrunk(found, LeftoverToTheFirst, seeds=50)
    assert short.steps <= found.steps
    assert short.message.startswith("scores")
    assert fuzz.disagreement(short.record, NaivePig10) is None


def test_a_twin_that_raises_disagrees() -> None:
    """A twin that refuses an action of the game counts as a disagreement, and says what it refused."""

    class Refuses(NaivePig10):
        def step(self, action: str) -> None:
            raise ValueError(f"no {action}")

    found = planted(Refuses)
    assert found.steps == 0
    assert found.message.startswith("the twin refuses what the game did: ValueError: no ")


@pytest.mark.parametrize("name", fuzz.games_with_twins())
def test_games_agree_with_their_twins(name: str) -> None:
    """Every game that has a twin is drawn under random options, and agrees with it."""
    sizes, seen = set(), 0
    for seed in range(12 if COMPILED else 2):
        games, decisions, found = fuzz.fuzz_round(name, seed, 5)
        assert found is None, found
        seen += decisions
        sizes.add(fuzz.random_game(name, random.Random(f"{name} {seed}")).num_players)
        assert games == 5
    assert seen > 0
    assert len(sizes) > 1


def test_every_game_has_a_twin() -> None:
    """No game of the suite goes without a slow twin, and none is forgotten here."""
    own = [name for name in registry.names() if registry.definition(name).step.__module__.startswith("pigenv.games.")]
    assert fuzz.games_with_twins() == own


def test_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The command plays the games asked for, says how many, and ends with 1 and a record where twins disagree."""

    def round_of(name: str, seed: int, games: int, twin_class: Any = None) -> Any:
        return real(name, seed, games, FiveOnlyAboveFive)

    real = fuzz.fuzz_round
    for wrong in (False, True):
        monkeypatch.setattr(fuzz, "ProcessPoolExecutor", AtOnce)
        if wrong:
            monkeypatch.setattr(fuzz, "fuzz_round", round_of)
            monkeypatch.setattr(fuzz, "twin_of", lambda name: FiveOnlyAboveFive)
            monkeypatch.setattr(fuzz, "SHRINK_SEEDS", 5)
        status = fuzz.main(["--game", "pig10", "--games", "200", "--seed", "3", "--workers", "1"])
        shown = capsys.readouterr().out
        assert status == int(wrong)
        assert "from seed 3" in shown
        if wrong:
            verify(Record.from_line(shown.strip().splitlines()[-1]))


class AtOnce:
    """Runs what it is given at once, in this process."""

    def __init__(self, workers: int, **settings: object) -> None:
        assert (workers, list(settings)) == (1, ["mp_context"])

    def __enter__(self) -> AtOnce:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, function: Any, *arguments: Any) -> Any:
        from concurrent.futures import Future

        future: Any = Future()
        future.set_result(function(*arguments))
        return future
