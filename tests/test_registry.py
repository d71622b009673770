"""Which games there are, and how one is made, named, compared and copied."""

from __future__ import annotations

import copy
import json
import pickle
import pkgutil
from typing import Any

import numpy as np
import pytest

import pigenv.games
from pigenv import registry
from pigenv.errors import OptionError, PigenvError, UnknownNameError
from pigenv.game import Game
from pigenv.games.pig10 import Rules


def test_every_file_is_a_game() -> None:
    """Each file in the folder of games is found, under its name without version, which its id begins with."""
    files = sorted(info.name for info in pkgutil.iter_modules(pigenv.games.__path__))
    assert set(files) <= set(registry.names())
    assert registry.names() == sorted(registry.names())
    for name in files:
        definition = registry.definition(name)
        assert (definition.base, definition.id) == (name, f"{name}_v{definition.version}")
        assert registry.definition(definition.id) is definition
        assert registry.definition(definition) is definition
    assert [each.base for each in registry.definitions()] == registry.names()


@pytest.mark.parametrize("name", ["pig11", "pig10_v1", "pig10_v", "PIG10", "", "pig10_v0_v0", "poker", None, 5])
def test_unknown_game(name: Any) -> None:
    """A game that there is not is refused, and what there is is named."""
    with pytest.raises(UnknownNameError, match=r"there is no game .*pig10") as raised:
        registry.make(name)
    assert isinstance(raised.value, ValueError)
    assert isinstance(raised.value, PigenvError)


def test_misspelt_game() -> None:
    """A misspelt name is answered with the nearest one, a version that is gone with the one that is here."""
    with pytest.raises(UnknownNameError, match="did you mean 'pig10'"):
        registry.definition("pig_10")
    with pytest.raises(UnknownNameError, match="this version of pigenv has pig10_v0"):
        registry.definition("pig10_v7")


def test_defaults() -> None:
    """Without options the first preset is played, by its number of players."""
    game = registry.make("pig10")
    assert (game.id, game.preset, game.num_players, game.max_players) == ("pig10_v0", "standard", 4, 4)
    assert (game.memory, game.mixed, game.reward) == (True, False, "win")
    assert registry.make(game) is game


def test_presets_and_rules() -> None:
    """Rules are set over the preset's, which are set over the defaults."""
    small = registry.make("pig10", preset="small")
    assert (small.num_players, small.rules.to_json()["target"]) == (3, 5)
    mixed = registry.make("pig10", preset="small", rules={"hand_size": 4, "winner_leads": True})
    assert mixed.rules.to_json() == {**small.rules.to_json(), "hand_size": 4, "winner_leads": True}
    whole = registry.make("pig10", rules=Rules(hand_size=5))
    assert whole.rules.to_json()["hand_size"] == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "smal"}, "pig10_v0 has no preset 'smal'; did you mean 'small'"),
        ({"preset": 1}, "pig10_v0 has no preset 1"),
        ({"rules": {"hands": 1}}, "unknown rule 'hands'"),
        ({"rules": [("hand_size", 1)]}, "rules must map option names to values"),
        ({"rules": "hand_size=1"}, "rules must map option names to values"),
        ({"memory": 1}, "memory must be True or False; got 1"),
        ({"memory": "no"}, "memory must be True or False; got 'no'"),
        ({"reward": "wins"}, "unknown reward 'wins'; did you mean 'win'"),
        ({"reward": None}, "unknown reward None"),
        ({"reward": 0}, "unknown reward 0"),
        ({"max_players": 3}, "max_players must be an integer 4 … 8 under these rules; got 3"),
        ({"max_players": 9}, "max_players must be an integer 4 … 8"),
        ({"max_players": 8.0}, "max_players must be an integer 4 … 8"),
        ({"max_players": True}, "max_players must be an integer 4 … 8"),
        ({"max_players": "8"}, "max_players must be an integer 4 … 8"),
    ],
)
def test_bad_option(options: dict[str, Any], message: str) -> None:
    """An option that is unknown or unusable is refused with what it may be."""
    with pytest.raises(OptionError, match=message):
        registry.make("pig10", **options)


def test_unhashable_preset_and_reward() -> None:
    """A list where a name belongs is refused as any other wrong name."""
    for options in ({"preset": ["small"]}, {"reward": ["win"]}):
        with pytest.raises((OptionError, TypeError)):
            registry.make("pig10", **options)  # type: ignore[arg-type]


def test_arguments_are_not_changed() -> None:
    """Making a game leaves the rules that were handed over as they are, and what comes out is the game's own."""
    rules = {"deck_counts": [8] * 11, "hand_size": 2}
    game = registry.make("pig10", rules=rules)
    assert rules == {"deck_counts": [8] * 11, "hand_size": 2}
    game.rules.to_json()["deck_counts"][0] = 0
    game.settings()["rules"]["hand_size"] = 9
    assert game.rules.to_json()["deck_counts"] == [8] * 11
    assert game.settings()["rules"]["hand_size"] == 2


OPTIONS: list[dict[str, Any]] = [
    {},
    {"num_players": 2},
    {"preset": "mini"},
    {"preset": "small", "rules": {"first_player": 1, "leftover": "last_winner"}},
    {"memory": False, "max_players": 8, "reward": "score"},
    {"num_players": 8, "max_players": 8},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_settings_make_an_equal_game(options: dict[str, Any]) -> None:
    """A game is made again from its settings, as JSON, and from a pickle or copy, and is equal to the byte."""
    game = registry.make("pig10", **options)
    settings = json.loads(json.dumps(game.settings()))
    again = [registry.make(**settings), pickle.loads(pickle.dumps(game)), copy.deepcopy(game), copy.copy(game)]
    for other in again:
        assert other == game
        assert hash(other) == hash(game)
        assert other.row.tobytes() == game.row.tobytes()
        assert (other.digest, other.action_texts) == (game.digest, game.action_texts)
        assert other.definition is game.definition
    assert again[1].preset == game.preset


def test_different_games_differ() -> None:
    """Games with different options are not equal, nor is a game equal to anything else."""
    games = [registry.make("pig10", **options) for options in OPTIONS]
    assert len(set(games)) == len(games)
    assert games[0] != "pig10"


def test_numpy_values_are_values() -> None:
    """NumPy's integers, booleans and arrays are taken where Python's are, and come out as JSON."""
    rules = {"deck_counts": np.full(11, 8), "hand_size": np.int8(4), "winner_leads": np.bool_(True)}
    game = registry.make("pig10", np.int64(5), rules=rules, memory=np.bool_(False), max_players=np.int32(6))
    plain = {"deck_counts": [8] * 11, "hand_size": 4, "winner_leads": True}
    assert game == registry.make("pig10", 5, rules=plain, memory=False, max_players=6)
    json.dumps(game.settings())


def test_action_texts_and_numbers() -> None:
    """Pig 10 has 21 actions, each found by its text; anything else is none."""
    game = registry.make("pig10")
    adds_and_sets = {f"{card}{way}" for card in (1, 2, 3, 4, 6, 7, 8, 9) for way in ("", "=")}
    assert set(game.action_texts) == {"0", "10", "5", "5-", "5=", *adds_and_sets}
    assert game.num_actions == 21
    assert [game.action_number(text) for text in game.action_texts] == list(range(21))
    for text in ("", "11", "0=", "10=", " 4", "4 ", 4, None, ["4"]):
        assert game.action_number(text) is None


def test_options_are_told() -> None:
    """Every option is listed with default, value here, set of values and meaning."""
    rows = {row[0]: row[1:] for row in registry.make("pig10", rules={"hand_size": 5}).options()}
    assert rows["hand_size"][:3] == (3, 5, "an integer 1 … 10")
    assert rows["leftover"][2] == "'none' or 'last_player' or 'last_winner'"
    assert all(meaning for *_, meaning in rows.values())


def test_game_from_another_package(toy: str) -> None:
    """An entry point makes a game known, with and without its version, and its options are checked like ours."""
    assert registry.names() == sorted({*registry.names(), "odd_dice"})
    game = registry.make("odd_dice")
    assert (game.id, game.num_players) == (toy, 3)
    assert registry.make(toy, 2, "single").rules.to_json() == {"double": False, "max_turns": 50}
    with pytest.raises(OptionError, match="unknown rule 'tripple'"):
        registry.make(toy, rules={"tripple": True})
    with pytest.raises(UnknownNameError, match="this version of pigenv has odd_dice_v0"):
        registry.make("odd_dice_v1")
    assert pickle.loads(pickle.dumps(game)) == game


def test_ours_come_first(toy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point cannot take the name of one of our own games."""
    from importlib import metadata

    def entry_points(**wanted: str) -> list[metadata.EntryPoint]:
        return [metadata.EntryPoint("pig10_v0", "odd_dice_elsewhere:DEFINITION", registry.ENTRY_POINTS)]

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    registry._sources.cache_clear()
    assert registry.definition("pig10").name == "Pig 10"


def test_rules_of_another_game(toy: str) -> None:
    """Rules of one game are refused by another."""
    with pytest.raises(OptionError, match="rules of pig10_v0 must be"):
        Game(registry.definition("pig10"), rules=registry.make(toy).rules)
