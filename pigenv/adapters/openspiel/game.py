"""Our games as OpenSpiel takes games."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pyspiel  # type: ignore[import-not-found]

from pigenv import registry
from pigenv.adapters.openspiel.house import House
from pigenv.adapters.openspiel.observer import MOST_FLOATS, Observer
from pigenv.adapters.openspiel.state import OpenSpielState
from pigenv.errors import OptionError
from pigenv.game import Game

__all__ = ["OpenSpielGame", "load_game"]


def _game_type(tensor: bool) -> pyspiel.GameType:
    return pyspiel.GameType(
        short_name="pigenv",
        long_name="Card games of pigenv",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=12,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=tensor,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={
            "game": "pig10", "preset": "", "num_players": 0, "rules": "{}", "reward": "win", "max_length": 0,
        },
    )  # fmt: skip


class OpenSpielGame(pyspiel.Game):  # type: ignore[misc]
    """One of our games at a table, as OpenSpiel takes games.

    Args:
        params: `game`, `preset`, `num_players` (0: the preset's), `rules` (JSON text), `reward` ("win" or "rank"), and
            `max_length`: the most decisions of a game (0: reckoned from the rules' limit and from random games).

    Raises:
        OptionError, UnknownNameError: There is no such game.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = dict(params or {})
        try:
            rules = json.loads(given.get("rules") or "{}")
        except ValueError as error:
            raise OptionError(f"rules must be JSON; got {given['rules']!r}: {error}") from None
        table = registry.make(
            given.get("game", "pig10"), given.get("num_players") or None, given.get("preset") or None, rules,
            reward=given.get("reward") or "win",
        )  # fmt: skip
        self.house: House = _house(table, given.get("max_length") or 0)
        house = self.house
        # One row of an information state for the deal and one for each step.
        tensor = house.row_size * (house.max_length + 1) <= MOST_FLOATS
        info = pyspiel.GameInfo(
            num_distinct_actions=table.num_actions,
            max_chance_outcomes=house.outcomes,
            num_players=table.num_players,
            min_utility=-1.0 if table.reward == "rank" else -1.0 / (table.num_players - 1),
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=house.max_length,
        )
        super().__init__(_game_type(tensor), info, given)

    def new_initial_state(self, state_or_str: Any = None) -> OpenSpielState:
        return OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None) -> Observer | None:
        wanted = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if params:
            raise OptionError(f"an observer has no parameters; got {dict(params)!r}")
        if not wanted.public_info or wanted.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        return Observer(self.house, wanted.perfect_recall)


@cache
def _house(table: Game, max_length: int) -> House:
    return House(table, max_length)


def load_game(
    game: str,
    *,
    preset: str | None = None,
    num_players: int | None = None,
    rules: Mapping[str, Any] | None = None,
    reward: str = "win",
    max_length: int | None = None,
) -> OpenSpielGame:
    """One of our games as an OpenSpiel game; the arguments are those of `pigenv.registry.make`.

    Args:
        game: Its name, such as `pig10`.
        preset: An edition.
        num_players: How many sit down.
        rules: Options set otherwise than the preset has them.
        reward: "win" or "rank".
        max_length: The most decisions of a game, for the size of information state tensors.
    """
    given = {"preset": preset, "num_players": num_players, "max_length": max_length}
    params = {name: value for name, value in given.items() if value is not None}
    if rules:
        params["rules"] = json.dumps(dict(rules))
    return OpenSpielGame({"game": game, "reward": reward, **params})


pyspiel.register_game(_game_type(tensor=True), OpenSpielGame)
