"""Records: written, read, replayed, checked; and what is wrong with one is said where it is wrong."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pigenv import records, registry
from pigenv.agent import Decisions
from pigenv.errors import AgentError, DealError, OptionError, RecordError, SeedError, UnknownNameError
from pigenv.game import REWARDS, RUNNING, TERMINATED, Definition, Game
from pigenv.games import pig10
from pigenv.kernel import Row, kernel
from pigenv.records import Record, play_games, read_records, replay, verify, verify_file, write_records
from pigenv.table import Table
from tests.naive.pig10 import NaivePig10
from tests.naive.pigs_tail import NaivePigsTail
from tests.strategies import pigs_tail_rules

GOLDEN = Path(__file__).parent / "golden"


class Chooser:
    """Plays any legal action, by the key of the decision; independent of the catalog."""

    name = "chooser"

    def reset(self, seed: int) -> None:
        self.seed = seed

    def act(self, decisions: Decisions) -> np.ndarray:
        legal = [np.flatnonzero(mask) for mask in decisions.action_masks]
        return np.array([each[int(key) % len(each)] for each, key in zip(legal, decisions.keys, strict=True)])


class Saying(Chooser):
    """Says whatever it was told to."""

    name = "saying"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, decisions: Decisions) -> Any:  # noqa: ARG002
        return self.answer


def random_game(generator: random.Random, reward: str | None = None) -> Game:
    """Pig 10 with rules drawn at random, each option set or left as it is."""
    deck = [generator.randint(0, 9) for _ in range(generator.randint(3, 11))]
    rules: dict[str, Any] = {
        "deck_counts": deck + [0] * (11 - len(deck)),
        "target": max(1, len(deck) - 1),
        "hand_size": generator.randint(1, 4),
        "winner_leads": generator.random() < 0.5,
        "five_clamp": generator.random() < 0.5,
        "leftover": generator.choice(["none", "last_player", "last_winner"]),
        "same_rule": generator.choice(["both", "value", "previous", "off"]),
        "first_player": generator.choice(["random", 1]),
        "max_turns": generator.choice([200, 200, 7]),
    }
    try:
        return registry.make("pig10", generator.randint(2, 8), rules=rules, reward=reward or generator.choice(REWARDS))
    except OptionError:  # too few cards for so many
        return random_game(generator, reward)


def games(count: int, seed: int = 11, **options: Any) -> list[Record]:
    """Games of the smallest preset."""
    return list(play_games(registry.make("pig10", preset="small"), [Chooser()], seed, count, **options))


HAND_MADE: dict[str, Any] = {
    "format": "pigenv.record/1",
    "game": "pig10_v0",
    "num_players": 2,
    "seed": None,
    "episode": None,
    "rules": {
        "deck_counts": [0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0],
        "hand_size": 2,
        "target": 10,
        "winner_leads": False,
        "leftover": "none",
        "five_clamp": False,
        "same_rule": "both",
        "tie_break": "shared",
        "first_player": "random",
        "max_turns": 200,
    },
    "reward": "win",
    "agents": ["Ada", "Grace [of]"],
    "rounds": [
        {
            "deal": {"first_player": 0, "hands": [[4, 8], [3, 5]], "stock": [7]},
            "steps": [
                {"seat": 0, "action": "4", "legal": ["4", "8"]},
                {"seat": 1, "action": "3", "legal": ["3", "5"]},
                {"seat": 0, "action": "7=", "legal": ["7", "7=", "8"]},
                {"seat": 1, "action": "5-", "legal": ["5", "5-"]},
                {"seat": 0, "action": "8"},
            ],
            "scores": [5, 0],
        }
    ],
    "scores": [5, 0],
    "returns": [1.0, -1.0],
    "outcome": "terminated",
}
"""Worked out by hand: 4, 3 makes seven, 7 set to seven, 5 subtracted makes two, 8 makes PIG 10."""


def hand_made() -> dict[str, Any]:
    return copy.deepcopy(HAND_MADE)


# --- playing and writing ----------------------------------------------------------------------------------------------


def test_round_trip(tmp_path: Path) -> None:
    """What is written is read as it was, and written again in the same bytes."""
    written = games(5, legal=True)
    path = tmp_path / "games.jsonl"
    assert write_records(path, iter(written)) == 5
    assert list(read_records(path)) == written
    assert path.read_text(encoding="utf-8") == "".join(each.to_line() + "\n" for each in written)
    assert [each.name for each in tmp_path.iterdir()] == ["games.jsonl"]


def test_keys_stand_in_their_order() -> None:
    """A line has the keys of the format in its order, and names the game it is of."""
    found = json.loads(games(1)[0].to_line())
    assert list(found) == list(HAND_MADE)
    assert list(found["rounds"][0]) == ["deal", "steps", "scores"]
    assert found["rules"] == registry.make("pig10", preset="small").rules.to_json()
    assert (found["seed"], found["episode"], found["agents"]) == (11, 0, ["chooser"] * 3)


def test_batch_does_not_matter() -> None:
    """A game is the same bytes whether played alone, in small batches or in one, and from whichever episode on."""
    many = [each.to_line() for each in games(12)]
    assert [each.to_line() for each in games(12, batch=5)] == many
    assert [games(1, first_episode=k)[0].to_line() for k in range(12)] == many
    assert [each.to_line() for each in games(4, first_episode=8)] == many[8:]
    assert games(1, seed=12)[0].rounds != games(1)[0].rounds


def test_mixed_agents_sit_in_order() -> None:
    """The list of agents is repeated round the table, and each is asked for its own seats only."""

    class Noting(Chooser):
        def __init__(self, name: str) -> None:
            self.name, self.asked = name, set[int]()

        def act(self, decisions: Decisions) -> np.ndarray:
            self.asked |= set(decisions.seats.tolist())
            return super().act(decisions)

    one, two = Noting("one"), Noting("two")
    played = list(play_games(registry.make("pig10", 5, "small"), [one, two], 3, 3))
    assert played[0].agents == ["one", "two", "one", "two", "one"]
    assert (one.asked, two.asked) == ({0, 2, 4}, {1, 3})
    assert one.seed != two.seed


def test_progress_counts_finished_games() -> None:
    """Progress grows to the number of games."""
    seen: list[int] = []
    games(7, batch=3, progress=seen.append)
    assert seen == sorted(set(seen))
    assert seen[-1] == 7


@pytest.mark.parametrize("answer", [np.array([99]), np.array([-1]), np.array([0.5]), np.array([0, 1]), None, [[1]]])
def test_agents_answers_are_checked(answer: Any) -> None:
    """An agent that does not answer with one legal action for each decision is named, and nothing else breaks."""
    with pytest.raises(AgentError, match="agent 'saying'"):
        list(play_games(registry.make("pig10"), [Saying(answer)], 0, 1))


def test_agent_that_fails_is_named() -> None:
    """An exception in somebody's own agent comes out as an AgentError that says whose it is."""

    class Failing(Chooser):
        name = "failing"

        def act(self, decisions: Decisions) -> np.ndarray:  # noqa: ARG002
            raise KeyError("ace")

    with pytest.raises(AgentError, match="agent 'failing' failed: KeyError: 'ace'"):
        list(play_games(registry.make("pig10"), [Failing()], 0, 1))


def test_wrong_calls_are_refused_at_once() -> None:
    """Unusable arguments are refused before anything is played."""
    game = registry.make("pig10")
    for wrong in (-1, 2**64, 1.5, True):
        with pytest.raises(SeedError):
            play_games(game, [Chooser()], wrong, 1)  # type: ignore[arg-type]
    for agents, count in (([], 1), (["uniform"] * 5, 1), ([Chooser()], 0), ("uniform", 1)):
        with pytest.raises(OptionError):
            play_games(game, agents, 0, count)  # type: ignore[arg-type]


def test_writing_leaves_the_old_file_where_it_fails(tmp_path: Path) -> None:
    """A file is replaced whole or not at all, and no other file stays behind."""
    path = tmp_path / "games.jsonl"
    write_records(path, games(1))
    before = path.read_bytes()

    def breaking_off() -> Any:
        yield games(1)[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_records(path, breaking_off())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OptionError, match=r"cannot write .*Is a directory"):
        write_records(tmp_path, games(1))
    with pytest.raises(OptionError, match=r"cannot write .*No such file"):
        write_records(tmp_path / "none" / "games.jsonl", games(1))


def test_writing_goes_through_a_link(tmp_path: Path) -> None:
    """A link stays a link, and the file it stands for is replaced."""
    link, file = tmp_path / "link", tmp_path / "file"
    file.touch()
    link.symlink_to(file)
    write_records(link, games(1))
    assert link.is_symlink()
    assert len(list(read_records(file))) == 1


# --- against the rules, without our kernels ---------------------------------------------------------------------------


def check_naively(record: Record) -> None:
    """Play a record of Pig 10 once more with the slow twin, and hold every claim against it."""
    (only,) = record.rounds
    naive = NaivePig10(record.num_players, record.rules, only["deal"])
    for step in only["steps"]:
        assert naive.over is None
        assert step["seat"] == naive.seat
        assert step.get("legal", naive.legal()) == naive.legal()
        naive.step(step["action"])
    assert naive.over == record.outcome
    assert naive.scores() == record.scores == only["scores"]
    scale = sum(record.rules["deck_counts"]) / record.num_players
    assert record.returns == pytest.approx(naive.returns(record.reward, scale), abs=5.1e-7)
    assert all(value == round(value, 6) for value in record.returns)


def check_pigs_tail_naively(record: Record) -> None:
    """Play a record of Pig's Tail once more with the slow twin, and hold every claim against it."""
    naive = NaivePigsTail(record.num_players, record.rules, padded(record))
    for number, each in enumerate(record.rounds):
        for step in each["steps"]:
            assert naive.over is None
            assert (naive.round, naive.seat) == (number, step["seat"])
            assert sorted(step.get("legal", naive.legal())) == naive.legal()
            naive.step(step["action"], step.get("reactions"))
        assert naive.round_scores[number] == each["scores"]
    assert naive.over == record.outcome
    assert naive.scores() == record.scores
    scale = len(record.rounds[0]["deal"]["ring"]) / record.num_players
    assert record.returns == pytest.approx(naive.returns(record.reward, scale), abs=5.1e-7 * len(record.rounds))


def padded(record: Record) -> list[dict[str, Any]]:
    """The deals of a record, the last one again for rounds that a cut match did not reach."""
    found = [each["deal"] for each in record.rounds]
    return found + found[-1:] * (record.rules["rounds"] - len(found))


def test_random_rules_of_pigs_tail_against_the_naive_twin() -> None:
    """The same for Pig's Tail: rounds, and slaps whose times stand in the last commitment before a card is shown."""
    generator = random.Random(5)
    slaps = rounds = 0
    for seed in range(60):
        num_players = generator.randint(2, 6)
        rules = pigs_tail_rules(generator, num_players)
        game = registry.make("pigs_tail", num_players, rules=rules, reward=REWARDS[seed % 3])
        for record in play_games(game, [Chooser()], seed, 2, legal=True):
            check_pigs_tail_naively(record)
            steps = [step for each in record.rounds for step in each["steps"]]
            assert verify(Record.from_line(record.to_line())) == len(steps)
            by_hand = dataclasses.replace(record, seed=None, episode=None)
            assert verify(Record.from_line(by_hand.to_line())) == len(steps)
            slaps += sum("reactions" in step for step in steps)
            rounds = max(rounds, len(record.rounds))
    assert slaps > 100
    assert rounds == 3


def test_reactions_of_a_record_are_held_to_the_seed_and_to_the_rules() -> None:
    """A time changed in a record is refused where a seed drew it; given by hand, where nobody could have slapped."""
    game = registry.make("pigs_tail", preset="attack", rules={"ranks": "A2"})
    (record,) = play_games(game, [Chooser()], 4, 1)
    steps = record.rounds[0]["steps"]
    at = next(k for k, step in enumerate(steps) if None in step.get("reactions", [])[:1])
    changed = copy.deepcopy(record)
    changed.rounds[0]["steps"][at]["reactions"][0] = 444
    with pytest.raises(RecordError, match=rf"round 0, step {at}: seed 4 gives .*reactions.*444"):
        verify(changed)
    with pytest.raises(RecordError, match=rf"round 0, step {at}: chance in this step must be .*reactions.*444"):
        verify(dataclasses.replace(changed, seed=None, episode=None))
    changed.rounds[0]["steps"][at]["reactions"][0] = 4.5
    with pytest.raises(RecordError, match=rf"round 0, step {at}: a reaction must be null or whole milliseconds"):
        verify(dataclasses.replace(changed, seed=None, episode=None))
    del changed.rounds[0]["steps"][at]["reactions"]
    with pytest.raises(RecordError, match=rf"round 0, step {at} lacks 'reactions', which chance decided in it"):
        verify(dataclasses.replace(changed, seed=None, episode=None))


def test_random_rules_against_the_naive_twin() -> None:
    """Records of any rules, table size and reward hold before the slow twin, and before `verify`."""
    generator = random.Random(5)
    for seed in range(60):
        game = random_game(generator, REWARDS[seed % 3])
        for record in play_games(game, [Chooser()], seed, 2, legal=True):
            check_naively(record)
            assert verify(Record.from_line(record.to_line())) == len(record.rounds[0]["steps"])
            assert not re.search(r"-0\.0\b", record.to_line())


@pytest.mark.parametrize("reward", REWARDS)
def test_returns_are_what_the_environment_pays(reward: str) -> None:
    """`returns` is the sum of a table's payments."""
    for players in (2, 3, 7):
        game = registry.make("pig10", players, reward=reward)
        for record in play_games(game, [Chooser()], players, 3):
            table = Table(game)
            table.start(players, record.episode or 0)
            paid = np.zeros(players)
            for step in record.rounds[0]["steps"]:
                paid += table.step(game.action_number(step["action"]))
            assert record.returns == pytest.approx(paid, abs=1e-6)


def test_hand_made_record_replays() -> None:
    """A record that was worked out on paper replays, with what is called out and where the cards lie."""
    record = Record.from_line(json.dumps(hand_made()))
    assert verify(record) == 5
    steps = list(replay(record))
    assert [each.called for each in steps] == ["four", "seven", "seven", "two", "PIG 10"]
    assert [each.seat for each in steps] == [0, 1, 0, 1, 0]
    assert steps[2].legal == ["7", "7=", "8"]
    assert steps[3].scene.zones[0].cards == ("4", "3", "7", "5")
    assert steps[4].scene_before.zones[0].cards == ("4", "3", "7", "5")
    assert [each.ends_round for each in steps] == [False] * 4 + [True]
    assert steps[4].scores.tolist() == [5, 0]
    game = record.table_game()
    assert all(each.observation.shape == (game.layout.size,) for each in steps)
    assert [game.action_texts[each.action_number] for each in steps] == ["4", "3", "7=", "5-", "8"]


def test_replay_believes_claims_and_verify_does_not() -> None:
    """A replay shows a game whose claims are wrong; `verify` refuses them."""
    wrong = hand_made() | {"scores": [4, 1]}
    record = Record.from_line(json.dumps(wrong))
    assert len(list(replay(record))) == 5
    with pytest.raises(RecordError, match=r"^scores must be \[5, 0\]; got \[4, 1\]$"):
        verify(record)


def test_any_name_can_be_written(tmp_path: Path) -> None:
    """An agent's name survives writing and reading whatever its characters, even those that UTF-8 does not have."""
    for name in ("Pig’s Tail ぴっぐ", "two\nlines\u2028", "\ud800"):
        record = Record(**hand_made() | {"agents": [name, "x"]})
        write_records(tmp_path / "games.jsonl", [record, record])
        assert list(read_records(tmp_path / "games.jsonl")) == [record, record]


def test_keys_may_stand_in_any_order() -> None:
    """JSON objects have no order, so a record from elsewhere may have its own."""
    shuffled = dict(reversed(hand_made().items()))
    assert verify(Record.from_line(json.dumps(shuffled))) == 5


# --- faults -----------------------------------------------------------------------------------------------------------

Edit = Callable[[dict[str, Any]], Any]


def round_0(record: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = record["rounds"][0]
    return found


def step_2(record: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = round_0(record)["steps"][2]
    return found


FAULTS: dict[str, tuple[Edit, str]] = {
    "action of another seat's card": (
        lambda r: step_2(r).update(action="5"),
        r"round 0, step 2: seat 0 must play one of '7', '7=', '8'; got \"5\"",
    ),
    "action that is none": (lambda r: step_2(r).update(action="flip"), "round 0, step 2: seat 0 must play one of"),
    "another legal action": (
        lambda r: step_2(r).update(action="8"),  # goes bust, so that seat 1 finds the middle empty
        "round 0, step 3: seat 1 must play one of '5'; got \"5-\"",
    ),
    "wrong seat": (lambda r: step_2(r).update(seat=1), "round 0, step 2: seat 0 must play .*; got seat 1"),
    "seat outside": (lambda r: step_2(r).update(seat=2), "round 0, step 2: seat must be a whole number 0 … 1; got 2"),
    "seat with a point": (lambda r: step_2(r).update(seat=0.0), "round 0, step 2: seat must be"),
    "seat true": (lambda r: step_2(r).update(seat=False), "round 0, step 2: seat must be"),
    "action a number": (lambda r: step_2(r).update(action=7), "round 0, step 2: action must be a text; got 7"),
    "legal list short": (
        lambda r: step_2(r).update(legal=["7", "8"]),
        r"round 0, step 2: legal must be \[\"7\", \"7=\"",
    ),
    "legal list unsorted": (lambda r: step_2(r).update(legal=["8", "7=", "7"]), "round 0, step 2: legal must be"),
    "legal no list": (lambda r: step_2(r).update(legal="7"), "round 0, step 2: legal must be a list of texts"),
    "extra key in a step": (lambda r: step_2(r).update(time=3), "round 0, step 2 has unknown 'time'"),
    "missing key in a step": (lambda r: step_2(r).pop("seat"), "round 0, step 2 lacks 'seat'"),
    "step no object": (lambda r: round_0(r)["steps"].insert(2, "7="), "round 0, step 2 must be an object"),
    "chance in a game without": (
        lambda r: round_0(r)["steps"].insert(2, {"chance": "6"}),
        "round 0, step 1 has unknown 'chance'",
    ),
    "chance before the first step": (
        lambda r: round_0(r)["steps"].insert(0, {"chance": "6"}),
        "round 0, step 0: seat 0 must play",
    ),
    "step left out": (lambda r: round_0(r)["steps"].pop(2), "round 0, step 2: seat 0 must play"),
    "last step left out": (
        lambda r: round_0(r)["steps"].pop(),
        "round 0 stops after 4 steps; seat 0 must play one of '8'",
    ),
    "step too many": (
        lambda r: round_0(r)["steps"].append({"seat": 1, "action": "8"}),
        "round 0, step 5: the round is over",
    ),
    "no steps": (lambda r: round_0(r)["steps"].clear(), "round 0 stops after 0 steps"),
    "round too many": (lambda r: r["rounds"].append(round_0(hand_made())), "round 1: the match is over after round 0"),
    "no rounds": (lambda r: r["rounds"].clear(), "rounds must be a list of at least one round"),
    "round's scores": (lambda r: round_0(r).update(scores=[4, 1]), r"round 0: scores must be \[5, 0\]; got \[4, 1\]"),
    "scores": (lambda r: r.update(scores=[5, 1]), r"scores must be \[5, 0\]; got \[5, 1\]"),
    "scores of three": (lambda r: r.update(scores=[5, 0, 0]), "scores must be a list of 2 numbers"),
    "score a text": (lambda r: r.update(scores=["5", 0]), "scores must be a list of 2 numbers"),
    "score true": (lambda r: r.update(scores=[5, False]), "scores must be a list of 2 numbers"),
    "score huge": (lambda r: r.update(scores=[10**400, 0]), "scores must be a list of 2 numbers"),
    "returns": (lambda r: r.update(returns=[1.0, -0.999999]), r"returns must be \[1.0, -1.0\]"),
    "outcome": (lambda r: r.update(outcome="truncated"), 'outcome must be "terminated"'),
    "outcome unknown": (lambda r: r.update(outcome="won"), "outcome must be 'terminated' or 'truncated'; got \"won\""),
    "card twice": (lambda r: round_0(r)["deal"].update(stock=[8]), "deal of round 0: .*pack"),
    "card none": (lambda r: round_0(r)["deal"].update(stock=[["7"]]), "deal of round 0: "),
    "cards swapped": (lambda r: round_0(r)["deal"].update(hands=[[4, 5], [3, 8]]), "round 0, step 0: legal must be"),
    "deal without stock": (lambda r: round_0(r)["deal"].pop("stock"), "deal of round 0: "),
    "deal no object": (lambda r: round_0(r).update(deal=[]), "round 0: deal must be an object"),
    "game unknown": (lambda r: r.update(game="pig11_v0"), "there is no game 'pig11_v0'"),
    "game of another version": (lambda r: r.update(game="pig10_v99"), "there is no game 'pig10_v99'"),
    "game without version": (lambda r: r.update(game="pig10"), "game must be an id with its version"),
    "game a number": (lambda r: r.update(game=10), "game must be a text"),
    "rule missing": (lambda r: r["rules"].pop("target"), "rules must hold every option of pig10_v0; missing: target"),
    "rule unknown": (lambda r: r["rules"].update(pigs=3), "unknown rule 'pigs'"),
    "rule unusable": (lambda r: r["rules"].update(hand_size=11), "rule 'hand_size' must be"),
    "rules no object": (lambda r: r.update(rules=None), "rules must be an object"),
    "too many players": (lambda r: r.update(num_players=9), "agents must be a list of 9 names"),
    "players a text": (lambda r: r.update(num_players="2"), "num_players must be a whole number"),
    "agent missing": (lambda r: r["agents"].pop(), "agents must be a list of 2 names, one a seat"),
    "agent a number": (lambda r: r.update(agents=["Ada", 7]), "agents must be a list of 2 names"),
    "reward unknown": (lambda r: r.update(reward="money"), "reward must be one of win, rank, score"),
    "reward a list": (lambda r: r.update(reward=[]), "reward must be one of win, rank, score"),
    "seed negative": (lambda r: r.update(seed=-1, episode=0), "seed must be null or a whole number"),
    "seed with a point": (lambda r: r.update(seed=7.0, episode=0), "seed must be null or a whole number"),
    "seed alone": (lambda r: r.update(seed=7), "episode must be null exactly where seed is"),
    "episode huge": (lambda r: r.update(seed=7, episode=2**63), "episode must be null or a whole number"),
    "deal not of that seed": (
        lambda r: r.update(seed=7, episode=0),
        "round 0: deal is not the one of seed 7, episode 0: deal",
    ),
    "format": (lambda r: r.update(format="pigenv.record/2"), "format must be 'pigenv.record/1'"),
    "extra key": (lambda r: r.update(winner=0), 'the record has unknown "winner"; its keys are format, game'),
    "missing key": (lambda r: r.pop("returns"), "the record lacks 'returns'"),
    "extra key in a round": (lambda r: round_0(r).update(winner=0), 'round 0 has unknown "winner"'),
    "missing key in a round": (lambda r: round_0(r).pop("scores"), "round 0 lacks 'scores'"),
    "round no object": (lambda r: r["rounds"].append(None), "round 1 must be an object; got null"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_named_where_it_is(name: str, tmp_path: Path) -> None:
    """Each fault is a RecordError that names file, line and place, what was expected and what came."""
    edit, sentence = FAULTS[name]
    wrong = hand_made()
    edit(wrong)
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(hand_made()) + "\n" + json.dumps(wrong) + "\n", encoding="utf-8")
    with pytest.raises(RecordError, match=rf"^\S*games\.jsonl, line 2: {sentence}"):
        verify_file(path)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "not JSON"),
        ("[]", r"a record must be a JSON object; got \[\]"),
        ("7", "a record must be a JSON object"),
        ('{"format": NaN}', "not JSON: NaN is no number there"),
        ('{"a": -Infinity}', "not JSON: -Infinity"),
        ('{"a": 1, "a": 2}', "key 'a' stands twice"),
        ('{"a": ' + "9" * 5000 + "}", "not JSON that can be read"),
        ("[" * 200_000, "not JSON that can be read: nested too deeply"),
        ("\ufeff{}", "not JSON"),
        ("{} {}", "not JSON"),
        ("{}", "the record lacks 'format', 'game'"),
    ],
)
def test_lines_that_are_no_record(line: str, sentence: str, tmp_path: Path) -> None:
    """Whatever a line holds, the error says that it is no record and where."""
    path = tmp_path / "games.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(RecordError, match=f"line 1: {sentence}"):
        list(read_records(path))


def test_infinite_score_is_refused() -> None:
    """A number beyond a float's range does not become infinite in a record."""
    line = json.dumps(hand_made()).replace('"returns": [1.0', '"returns": [1e999')
    with pytest.raises(RecordError, match="returns must be a list of 2 numbers"):
        Record.from_line(line)


def test_deal_true_is_not_one() -> None:
    """In a deal of a seed, `true` does not pass for a 1 nor 1.0 for it."""
    record = json.loads(games(1)[0].to_line())
    for other in (True, 1.0):
        changed = copy.deepcopy(record)
        stock = round_0(changed)["deal"]["stock"]
        stock[stock.index(1)] = other
        with pytest.raises(RecordError, match="round 0: deal is not the one of seed 11, episode 0"):
            verify(Record.from_line(json.dumps(changed)))


def test_cards_swapped_in_the_deal_of_a_seed() -> None:
    """Where a record names its seed, not one card may lie elsewhere, even where nobody would notice."""
    record = json.loads(games(1)[0].to_line())
    stock = round_0(record)["deal"]["stock"]
    place = next(i for i in range(len(stock) - 1, 0, -1) if stock[i] != stock[i - 1])
    stock[place], stock[place - 1] = stock[place - 1], stock[place]
    wrong = rf"episode 0: deal.stock\[{place - 1}\] must be {stock[place]}; got {stock[place - 1]}$"
    with pytest.raises(RecordError, match=f"round 0: deal is not the one of seed 11, {wrong}"):
        verify(Record.from_line(json.dumps(record)))


def test_file_cut_off_anywhere(tmp_path: Path) -> None:
    """A file cut off within a record is refused, naming the line that is broken."""
    whole = "".join(each.to_line() + "\n" for each in games(2)).encode()
    path = tmp_path / "games.jsonl"
    ends = {len(whole), len(whole) - 1, whole.index(b"\n") + 1, whole.index(b"\n")}
    for size in range(0, len(whole), 50):
        path.write_bytes(whole[:size])
        line = whole[:size].count(b"\n") + 1
        if size in ends:
            continue
        with pytest.raises(RecordError, match="is empty" if size == 0 else f"line {line}: not JSON"):
            verify_file(path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """A file that is no text is refused with the line and the byte."""
    path = tmp_path / "games.jsonl"
    path.write_bytes(json.dumps(hand_made()).encode() + b"\n{\xff}\n")
    with pytest.raises(RecordError, match="line 2: not UTF-8 at byte 1"):
        verify_file(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """A missing file or a folder is no record's fault, but a wrong name."""
    for path in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(UnknownNameError, match="cannot read"):
            list(read_records(path))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value within a JSON document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(way for key, each in inside for way in leaves(each, (*path, key)))]


def test_any_damage_is_a_record_error() -> None:
    """Whatever single value is replaced by whatever other, the record still holds or a RecordError says why not."""
    generator = random.Random(3)
    junk = [None, True, False, 0, 1, -1, 3, 2**70, 0.5, 1e300, "", "4", "x" * 200, "\ud800", [], [1], {}, {"a": 1}]
    refused = 0
    for original in (hand_made(), json.loads(games(1, legal=True)[0].to_line())):
        ways = leaves(original)[1:]
        for _ in range(700):
            changed = copy.deepcopy(original)
            *above, last = generator.choice(ways)
            holder = changed
            for key in above:
                holder = holder[key]
            holder[last] = generator.choice(junk)
            try:
                verify(Record.from_line(json.dumps(changed)))
            except RecordError:
                refused += 1
    assert refused > 1000


def test_record_made_in_python_is_checked_too() -> None:
    """`verify` also refuses a record that never was a line."""
    good = Record(**hand_made())
    assert verify(good) == 5
    with pytest.raises(RecordError, match="scores must be a list of 2 numbers"):
        verify(dataclasses.replace(good, scores=[float("nan"), 0]))


# --- chance after the deal --------------------------------------------------------------------------------------------


def with_chance(monkeypatch: pytest.MonkeyPatch, key: str) -> tuple[Definition, list[Any]]:
    """Pig 10 as if chance had decided something in every second turn, under a key of the step; and what was given."""
    given: list[Any] = []

    def read_chance(state: Any, row: Any) -> dict[str, Any] | None:
        turn = int(state["turn"])
        return {key: turn} if turn % 2 else None

    def give_chance(state: Any, row: Any, chance: Any) -> None:
        if not isinstance(chance.get(key), int):
            raise DealError(f"{key} must be a number")
        given.append(chance)

    plain = registry.definition("pig10")
    changed = dataclasses.replace(plain, read_chance=read_chance, give_chance=give_chance)
    monkeypatch.setattr(registry, "definition", lambda _: changed)
    monkeypatch.setattr(records, "_table_game", records._table_game.__wrapped__)
    return changed, given


@pytest.mark.parametrize("key", ["chance", "reactions"])
def test_chance_is_written_and_given_back(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What chance decided stands in its step, or as a step of its own; it is given to a replay, or held to the seed."""
    definition, given = with_chance(monkeypatch, key)
    (record,) = play_games(Game(definition, preset="mini"), [Chooser()], 4, 1)
    steps = record.rounds[0]["steps"]
    if key == "chance":
        assert steps[1] == {"chance": 1}
        assert set(steps[2]) == {"seat", "action"}
    else:
        assert set(steps[0]) == {"seat", "action", "reactions"}
        assert set(steps[1]) == {"seat", "action"}
    assert verify(record) == len(steps)
    assert not given
    by_hand = dataclasses.replace(record, seed=None, episode=None)
    assert [each.chance for each in replay(by_hand)][:3] == [{key: 1}, None, {key: 3}]
    assert given[:2] == [{key: 1}, {key: 3}]
    assert verify(by_hand) == len(steps)
    line = record.to_line()
    with pytest.raises(RecordError, match=rf"round 0, step 0: seed 4 gives .*{key}.*: 1.; got .*2"):
        verify(Record.from_line(line.replace(f'"{key}": 1}}', f'"{key}": 2}}')))
    with pytest.raises(RecordError, match=f"round 0, step 0: {key} must be a number"):
        list(replay(Record.from_line(by_hand.to_line().replace(f'"{key}": 1}}', f'"{key}": "x"}}'))))
    without = by_hand.to_line().replace(f', "{key}": 1}}', "}").replace('{"chance": 1}, ', "")
    with pytest.raises(RecordError, match=f"round 0, step 0 lacks '{key}', which chance decided in it"):
        list(replay(Record.from_line(without)))


# --- matches of several rounds ----------------------------------------------------------------------------------------


@kernel
def step_of_match(state: Row, rules: Row, action: int) -> None:
    """A step of Pig 10 as a match of two rounds: the points are kept, everything else is dealt anew."""
    pig10.step(state, rules, action)
    if state["over"] == TERMINATED and state["round"] == 0:
        state["round"] = 1
        state["over"] = RUNNING
        state["turn"] = 0
        state["pile_size"] = 0
        for value in range(pig10.NUM_VALUES):
            state["played"][value] = 0
        pig10.deal(state, rules)


@cache
def match_definition() -> Definition:
    """Pig 10 as such a match, under an id of its own, since compiled loops are kept by it."""
    return dataclasses.replace(pig10.DEFINITION, id="pig10_v1", step=step_of_match)


@pytest.mark.parametrize("reward", REWARDS)
def test_match_of_two_rounds(reward: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round has its own deal, steps and scores; faults are named in the round they are in."""
    definition = match_definition()
    monkeypatch.setattr(registry, "definition", lambda _: definition)
    monkeypatch.setattr(records, "_table_game", records._table_game.__wrapped__)
    game = Game(definition, preset="small", reward=reward)
    for record in play_games(game, [Chooser()], 8, 3, legal=True):
        one, two = record.rounds
        assert one["deal"] != two["deal"]
        assert record.scores == [a + b for a, b in zip(one["scores"], two["scores"], strict=True)]
        for each in record.rounds:
            naive = NaivePig10(3, record.rules, each["deal"])
            for step in each["steps"]:
                assert step["legal"] == naive.legal()
                naive.step(step["action"])
            assert naive.scores() == each["scores"]
        assert verify(record) == 40
        by_hand = dataclasses.replace(record, seed=None, episode=None)
        assert verify(by_hand) == 40
        shown = list(replay(by_hand))
        assert [each.round for each in shown] == [0] * 20 + [1] * 20
        assert [k for k, each in enumerate(shown) if each.ends_round] == [19, 39]
        swapped = by_hand.to_line().replace(json.dumps(one["deal"]), json.dumps(two["deal"]))
        with pytest.raises(RecordError, match="round 0, step 0: "):
            verify(Record.from_line(swapped))
        other = json.loads(record.to_line())
        other["rounds"][1]["deal"] = one["deal"]
        with pytest.raises(RecordError, match="round 1: deal is not the one of seed 8, episode"):
            verify(Record.from_line(json.dumps(other)))
        with pytest.raises(RecordError, match="the record ends with round 0; the match goes on"):
            verify(dataclasses.replace(record, rounds=[one]))
        with pytest.raises(RecordError, match="round 0 stops after 19 steps; seat"):
            verify(dataclasses.replace(record, rounds=[{**one, "steps": one["steps"][:-1]}, two]))
        with pytest.raises(RecordError, match="round 0, step 20: the round is over"):
            verify(dataclasses.replace(record, rounds=[{**one, "steps": one["steps"] + two["steps"][:1]}, two]))
        with pytest.raises(RecordError, match="round 1: scores must be"):
            verify(dataclasses.replace(record, rounds=[one, {**two, "scores": [50, 0, 0]}]))


# --- golden records ---------------------------------------------------------------------------------------------------

ODD_RULES: dict[str, dict[str, Any]] = {
    "pig10_v0": {
        "deck_counts": [3, 2, 9, 4, 0, 12, 6, 2, 5, 0, 7],
        "hand_size": 4,
        "winner_leads": True,
        "leftover": "last_winner",
        "five_clamp": True,
        "same_rule": "previous",
        "first_player": 2,
    },
    "pigs_tail_v0": {
        "match": "color_or_rank",
        "hand_play": "forced",
        "allow_matching_hand_play": True,
        "first_player": 2,
        "num_decks": 2,
        "ranks": "A379",
        "suits": "CDH",
        "num_jokers": 2,
        "joker_role": "choose_suit",
        "attack": True,
        "trigger": "19",
        "taker": "fastest",
        "foul": "skip",
        "flipper_delay_ms": 40,
        "wait_ms": 300,
        "anticipate_ms": 250,
        "reaction_std_ms": 20,
        "rounds": 2,
        "most_wins": True,
        "max_turns": 60,
    },
    "pig_pile_v0": {
        "hand_size": 5,
        "face_up": "greased",
        "refill": "one",
        "refill_after_wash": False,
        "reduce_deck": False,
        "copies": 5,
        "num_wilds": 10,
        "ranks": [1, 2, 4, 5, 6, 8, 9, 10, 11, 12],
        "table_cards": 2,
        "wild_in_play": True,
        "wild_in_run": True,
        "skip_stacking": "per_card",
        "reverse_stacking": "per_card",
        "eight_always": True,
        "voluntary_pickup": True,
        "face_up_penalty": False,
        "cross_zone": True,
        "three_player_third_scores": True,
        "rounds": "until_empty",
        "pig_supply": 11,
        "first_dealer": 2,
        "show_in_order": True,
        "max_turns": 500,
    },
}
"""Rules of each game that differ from the default in as much as possible."""


def golden_games(definition: Definition) -> list[Game]:
    """What a game's golden records are of: every preset, the smallest and the largest table, odd rules; all rewards."""
    first = next(iter(definition.presets))
    least, most = definition.seats(registry.make(definition).rules)
    tables: list[tuple[str, int | None, dict[str, Any]]] = [
        *((preset, None, {}) for preset in definition.presets),
        *((first, players, {}) for players in (least, most)),
        (first, None, ODD_RULES.get(definition.id, {})),
    ]
    rewards = [REWARDS[k % len(REWARDS)] for k in range(len(tables))]
    return [
        registry.make(definition, players, preset, rules, reward=reward)
        for (preset, players, rules), reward in zip(tables, rewards, strict=True)
    ]


def golden_records(definition: Definition) -> list[Record]:
    """One game at each of these tables, played by chance."""
    return [
        next(play_games(game, ["uniform"], 2010 + k, 1, legal=True, first_episode=k))
        for k, game in enumerate(golden_games(definition))
    ]


@pytest.mark.parametrize("base", registry.names())
def test_golden_records_replay(base: str) -> None:
    """Every game has records that were written once and hold for ever, until its version goes up.

    They are written by `python -m tests.test_records pig10`, which needs the folder of the project as its own.
    """
    path = GOLDEN / f"{registry.definition(base).id}.jsonl"
    assert path.exists(), f"write it with: python -m tests.test_records {base}"
    count, steps = verify_file(path)
    assert count >= 3
    assert steps > 50


@pytest.mark.parametrize("base", registry.names())
def test_golden_records_are_played_again(base: str) -> None:
    """The same seeds deal and choose the same on every machine and in every release of this version of the game."""
    definition = registry.definition(base)
    kept = (GOLDEN / f"{definition.id}.jsonl").read_text(encoding="utf-8").splitlines()
    assert [each.to_line() for each in golden_records(definition)] == kept


@pytest.mark.parametrize(("name", "check"), [("pig10_v0", check_naively), ("pigs_tail_v0", check_pigs_tail_naively)])
def test_golden_records_hold_before_the_naive_twin(name: str, check: Callable[[Record], None]) -> None:
    """The golden records are right by the rules, not only as they always were."""
    for record in read_records(GOLDEN / f"{name}.jsonl"):
        check(record)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        chosen = registry.definition(name)
        write_records(GOLDEN / f"{chosen.id}.jsonl", golden_records(chosen))
