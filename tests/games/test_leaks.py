"""The leak checker: it passes every game, and finds a leak of each kind that is planted in a copy of one."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from pigenv import registry, testing
from pigenv.envs.aec import PigAECEnv
from pigenv.game import ANYBODY, Definition, Game
from pigenv.games import pig10
from pigenv.kernel import Row, kernel
from pigenv.scene import Scene
from tests.strategies import every_table

TABLES = [
    registry.make(definition, None, preset) for definition in registry.definitions() for preset in definition.presets
]


@pytest.mark.parametrize("game", TABLES, ids=lambda game: f"{game.id}-{game.preset}")
def test_no_game_leaks(game: Game) -> None:
    """In no preset of any game does anything that a seat is given depend on what it may not know."""
    testing.leak_check(game, games=10, seed=11)


@pytest.mark.parametrize("game", TABLES, ids=lambda game: f"{game.id}-{game.preset}")
@pytest.mark.parametrize("mask", ["obs", "both"])
def test_no_environment_leaks(game: Game, mask: str) -> None:
    """Nor does anything that the environment gives an agent, infos among it."""
    testing.env_leak_check(PigAECEnv(game, mask=mask), games=4, seed=12)


def test_no_leak_at_any_table_size() -> None:
    """Nothing leaks at the smallest and at the largest table either."""
    for settings in every_table():
        sizes = [each["num_players"] for each in every_table() if each["preset"] == settings["preset"]]
        if settings["num_players"] in (min(sizes), max(sizes)):
            testing.leak_check(registry.make(**settings), games=2, seed=13)


def test_twins_are_played_on() -> None:
    """Pairs of truths are held against each other far beyond the deal, and they do differ."""
    game = registry.make("pig10")
    turns, steps = [], 0
    for twins in testing._twins(game, 6, 0, ()):
        steps += 1
        turns.append(int(twins.one.states["turn"][0]))
        assert twins.one.states.tobytes() != twins.other.states.tobytes()
    assert max(turns) > 10
    assert steps > 200


# --- planted leaks ----------------------------------------------------------------------------------------------------


@kernel
def hide_late(view: Row, rules: Row, seat: int) -> None:
    """Leaves one card of the next hand open from the fourth turn on, so that the deal itself shows nothing."""
    other = (seat + 1) % rules["num_players"]
    held = view["hand"][other, 0]
    pig10.hide(view, rules, seat)
    if seat != ANYBODY and view["turn"] >= 4:
        view["hand"][other, 0] = held


@kernel
def hide_in_filler(view: Row, rules: Row, seat: int) -> None:
    """Leaves the next card of the stock in a field that the observation reads as the number of cards taken."""
    held = view["pack"][view["dealt"]]
    pig10.hide(view, rules, seat)
    view["pack"][0] = held


@kernel
def observe_the_stock(view: Row, rules: Row, seat: int, out: np.ndarray) -> int:
    """Shows what such a view leaves open."""
    written = pig10.observe(view, rules, seat, out)
    out[0] = (view["pack"][0] + 1) / 16
    return written


@kernel
def legal_by_the_stock(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Forbids a card when the next one of the stock is even."""
    count = pig10.legal(state, rules, mask)
    if count > 1 and state["pack"][state["dealt"]] % 2 == 0:
        for action in range(len(mask)):
            if mask[action] == 1:
                mask[action] = 0
                return count - 1
    return count


def scene_of_the_stock(view: Row, rules: Row, looking: int) -> Scene:
    """Notes what such a view leaves open beside the stock."""
    scene = pig10.scene(view, rules, looking)
    if looking == ANYBODY:
        return scene
    zones = [
        dataclasses.replace(each, note=str(view["pack"][0])) if each.name == "stock" else each for each in scene.zones
    ]
    return dataclasses.replace(scene, zones=tuple(zones))


def call_out_the_stock(before: Row, after: Row, rules: Row, action: str) -> str:
    """Calls out the card drawn."""
    return f"{pig10.call_out(before, after, rules, action)} and {before['pack'][before['dealt']]}"


def leaky(name: str, **changes: Any) -> Game:
    """Pig 10 with a leak, under a name of its own, as compiled loops are cached by it."""
    definition: Definition = dataclasses.replace(pig10.DEFINITION, id=f"{name}_v0", **changes)
    return Game(definition, num_players=3)


@pytest.mark.parametrize(
    ("name", "changes", "sentence"),
    [
        ("view_leak", {"hide": hide_late}, "the (view|picture|observation) leaks"),
        ("filler_leak", {"hide": hide_in_filler}, "the view leaks what is hidden in pack"),
        ("observation_leak", {"hide": hide_in_filler, "observe": observe_the_stock}, "the observation leaks"),
        ("mask_leak", {"legal": legal_by_the_stock}, "the mask leaks"),
        ("text_leak", {"hide": hide_in_filler, "scene": scene_of_the_stock}, "the picture leaks what is hidden, draw"),
        ("call_leak", {"call_out": call_out_the_stock}, "what is called out leaks"),
    ],
)  # fmt: skip
def test_planted_leak_is_found(name: str, changes: dict[str, Any], sentence: str) -> None:
    """A leak in view, observation, mask, picture or what is called out is found, and named."""
    with pytest.raises(AssertionError, match=sentence):
        testing.leak_check(leaky(name, **changes), games=6)


@pytest.mark.parametrize(
    ("name", "changes"), [("twin_view", {"hide": hide_late}), ("twin_mask", {"legal": legal_by_the_stock})]
)
def test_found_without_determinize(name: str, changes: dict[str, Any]) -> None:
    """Truths that are not drawn by `determinize` show a leak that begins after the deal by themselves."""
    game = leaky(name, **changes)

    def check() -> None:
        for twins in testing._twins(game, 6, 0, ()):
            testing._same_to_seat(game, twins.one.states, twins.other.states, twins.seat)

    with pytest.raises(AssertionError, match="leaks"):
        check()


def test_a_picture_of_its_own_is_checked() -> None:
    """Whatever draws a scene can be checked with it, an image too."""

    def image(scene: Scene) -> np.ndarray:
        (stock,) = [zone for zone in scene.zones if zone.name == "stock"]
        return np.full((2, 2), int(stock.note), np.uint8)

    game = leaky("image_leak", hide=hide_in_filler, scene=scene_of_the_stock)
    with pytest.raises(AssertionError, match="the picture leaks what is hidden, image"):
        testing.leak_check(game, games=3, pictures=(image,))


class TellingInfo(PigAECEnv):
    """Tells every agent how many frogs are in somebody's hand."""

    def _refresh_infos(self) -> None:
        super()._refresh_infos()
        for info in self.infos.values():
            info["frogs"] = int((self.table.states["hand"] == 0).sum())


class TellingObservation(PigAECEnv):
    """Shows the next card of the stock in the observation."""

    def observe(self, agent: str) -> Any:
        observation = super().observe(agent)
        state = self.table.states[0]
        observation["observation"][0] = (state["pack"][state["dealt"]] + 1) / 16
        return observation


class TellingReward(PigAECEnv):
    """Pays for what nobody has seen."""

    def step(self, action: Any) -> None:
        super().step(action)
        state = self.table.states[0]
        self.rewards = dict.fromkeys(self.possible_agents, float(state["pack"][state["dealt"]]))


@pytest.mark.parametrize(
    ("env", "what"), [(TellingInfo, "infos"), (TellingObservation, "observe"), (TellingReward, "rewards")]
)
def test_leaky_environment_is_found(env: type[PigAECEnv], what: str) -> None:
    """An environment whose infos, observations or rewards tell what is hidden is found."""
    with pytest.raises(AssertionError, match=f"{what} of the environment leaks to player_"):
        testing.env_leak_check(env("pig10", num_players=3), games=3)
