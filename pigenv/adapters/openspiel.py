"""Our games as OpenSpiel games, and OpenSpiel's bots as our agents.

    from pigenv.adapters import openspiel

    game = openspiel.load_game("pig10", preset="mini")

Once this module is imported, `pyspiel.load_game("pigenv(game=pig10,preset=mini)")` does the same.

**Chance is explicit.** Where a game's deals are shuffles of a pack and few enough (the `mini` presets), the deal is one
chance node with every distinct deal as an outcome, each with its probability, so that OpenSpiel's exact algorithms
run. Hands are taken as the sets of cards they are. Elsewhere the deal is four chance nodes of 256 outcomes that name
one of 2^32 deals, all equally likely: the sample that a seed would draw from.

**Perfect recall.** `information_state_string` is the text of `InformationState`; `information_state_tensor` stacks, for
the deal and for each step after it, the observation then, the seat to move and the seat's own action. Observations are
what the seat sees now: text as drawn for a terminal, tensor as laid out by the game.

`resample_from_infostate` draws a world for a seat as our own search does, from its view alone. The history of such a
state is unknown and therefore empty, and the other seats' information states begin where it was drawn.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from pigenv import registry
from pigenv.agent import Decisions
from pigenv.deals import Deal, all_deals
from pigenv.errors import AgentError, MissingExtraError, OptionError
from pigenv.game import RUNNING, Game
from pigenv.information_state import InformationState
from pigenv.render.text import draw_text
from pigenv.table import loops

try:
    import pyspiel  # type: ignore[import-not-found]
except ImportError:
    raise MissingExtraError("open_spiel", "openspiel") from None

__all__ = ["MOST_DEALS", "BotAgent", "OpenSpielGame", "OpenSpielState", "load_game"]

MOST_DEALS: Final = 100_000
"""Where there are more, they are not listed."""

_MOST_FLOATS: Final = 2**22  # of an information state tensor; above, the game has none
_BITS: Final = 8  # of the deal's key at each chance node
_KEY_NODES: Final = 4
_PROBES: Final = 20  # random games that say whether anything is drawn after the deal, and how long games get
_KEY: Final = 1  # of states whose deals are laid out by hand
_HANDS: Final = "hands"  # the part of a deal in which order means nothing


# --- deals ------------------------------------------------------------------------------------------------------------


class _House:
    """What all states of one game share: the game, its deals, its length."""

    def __init__(self, game: Game, max_length: int | None = None) -> None:
        if game.reward == "score":
            raise OptionError("OpenSpiel wants bounds of the returns, which reward 'score' has not; take win or rank")
        self.game: Game = game
        self.loops: Any = loops(game.definition)
        self.row: Any = game.row[0]
        steps, rounds, chance = self._probe()
        limit = getattr(game.rules, "max_turns", steps)
        self.max_length: int = max_length or rounds * max(limit, 1) * math.ceil(self._steps_a_turn)
        self.deals: list[tuple[Deal, float]] = [] if chance else self._listed()
        self.nodes_a_deal = 1 if self.deals else _KEY_NODES
        self.outcomes: int = len(self.deals) or 1 << _BITS
        self.row_size: int = game.layout.size + game.num_players + game.num_actions

    def __deepcopy__(self, memo: dict[int, object]) -> _House:
        return self

    def _probe(self) -> tuple[int, int, bool]:
        """The most steps and rounds of random games, and whether anything is drawn after the deal."""
        definition, most, rounds, chance = self.game.definition, 1, 1, False
        generator = np.random.default_rng(0)
        self._steps_a_turn = 1.0
        for key in range(1, _PROBES + 1):
            state = self.dealt(key)
            steps, first = 0, 0
            while state["over"][0] == RUNNING:
                legal = np.flatnonzero(self.mask(state))
                round_now = int(state["round"][0])
                definition.step(state[0], self.row, int(generator.choice(legal)))
                chance = chance or definition.read_chance(state[0], self.row) is not None
                steps += 1
                if state["round"][0] != round_now:
                    first = steps
                else:
                    turns = max(1, int(state["turn"][0]))
                    self._steps_a_turn = max(self._steps_a_turn, (steps - first) / turns)
            most, rounds = max(most, steps), max(rounds, int(state["round"][0]) + 1)
        return most, rounds, chance

    def _listed(self) -> list[tuple[Deal, float]]:
        """Every deal with its probability; none where they cannot be listed, or are too many."""
        try:
            return _weighted(all_deals(self.game, MOST_DEALS))
        except OptionError:
            return []

    def dealt(self, key: int) -> np.ndarray:
        """The first round as a key deals it."""
        state = np.zeros(1, self.game.definition.state)
        state["key"] = key
        self.game.definition.deal(state[0], self.row)
        return state

    def mask(self, state: np.ndarray) -> np.ndarray:
        """What is legal for the seat to move."""
        mask = np.zeros(self.game.num_actions, np.int8)
        self.game.definition.legal(state[0], self.row, mask)
        return mask

    def view(self, state: np.ndarray, seat: int) -> np.ndarray:
        """What a seat knows."""
        view = np.zeros_like(state)
        self.loops.look(state, 0, self.game.row, seat, view, 0)
        return view

    def observation(self, view: np.ndarray, seat: int) -> np.ndarray:
        """A seat's observation, as the game lays it out."""
        out = np.zeros(self.game.layout.size, np.float32)
        self.game.definition.observe(view[0], self.row, seat, out)
        return out

    def returns(self, state: np.ndarray) -> list[float]:
        """What the end of a game pays each seat."""
        points, rewards = np.zeros(self.game.num_players), np.zeros((1, self.game.num_players))
        self.game.definition.scores(state[0], self.row, points)
        self.loops.standing(points, self.row, rewards, 0)
        return rewards[0].tolist()


def _weighted(deals: Sequence[Deal]) -> list[tuple[Deal, float]]:
    """Equally likely deals with their probabilities, those taken together that differ by the order in a hand alone."""
    cards = {card for deal in deals for hand in deal.get(_HANDS, ()) for card in hand}
    rank = {card: place for place, card in enumerate(sorted(cards, key=lambda card: (str(type(card)), card)))}
    found: dict[str, tuple[Deal, int]] = {}
    for deal in deals:
        if _HANDS in deal:
            deal = {**deal, _HANDS: [sorted(hand, key=rank.__getitem__) for hand in deal[_HANDS]]}
        name = json.dumps(deal)
        found[name] = (deal, found.get(name, (deal, 0))[1] + 1)
    return [(deal, count / len(deals)) for deal, count in found.values()]


# --- the game ---------------------------------------------------------------------------------------------------------


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
        self.house: _House = _house(table, given.get("max_length") or 0)
        house = self.house
        # One row of an information state for the deal and one for each step.
        tensor = house.row_size * (house.max_length + 1) <= _MOST_FLOATS
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

    def make_py_observer(self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None) -> _Observer | None:
        wanted = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if params:
            raise OptionError(f"an observer has no parameters; got {dict(params)!r}")
        if not wanted.public_info or wanted.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        return _Observer(self.house, wanted.perfect_recall)


@cache
def _house(table: Game, max_length: int) -> _House:
    return _House(table, max_length)


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


class OpenSpielState(pyspiel.State):  # type: ignore[misc]
    """A running game: at a chance node while a round is being dealt, then at the seat to move."""

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self._house = game.house
        self._state = np.zeros(1, game.house.game.definition.state)
        self._key: int | None = 0  # bits of the deal's key so far; None once the round is dealt
        self._key_nodes = 0
        self._seen: tuple[InformationState, ...] = ()
        self._last: tuple[int | None, int | None] = (None, None)  # who played last, and what

    # --- what OpenSpiel asks

    def current_player(self) -> int:
        if self._key is not None:
            return pyspiel.PlayerId.CHANCE
        if self._state["over"][0] != RUNNING:
            return pyspiel.PlayerId.TERMINAL
        return int(self._state["seat"][0])

    def is_terminal(self) -> bool:
        return self._key is None and bool(self._state["over"][0] != RUNNING)

    def _legal_actions(self, player: int) -> list[int]:
        return np.flatnonzero(self._house.mask(self._state)).tolist()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        if self._house.deals:
            return [(number, probability) for number, (_, probability) in enumerate(self._house.deals)]
        return [(number, 1 / (1 << _BITS)) for number in range(1 << _BITS)]

    def _apply_action(self, action: int) -> None:
        if self._key is not None:
            self._deal(action)
            return
        before = int(self._state["round"][0])
        self._last = (int(self._state["seat"][0]), action)
        definition = self._house.game.definition
        definition.step(self._state[0], self._house.row, action)
        new_round = self._state["round"][0] != before and self._state["over"][0] == RUNNING
        if new_round and self._house.deals:
            # The kernel has dealt it from a key that means nothing here; nobody sees that deal.
            self._key = 0
            return
        self._look()

    def _deal(self, outcome: int) -> None:
        house, definition = self._house, self._house.game.definition
        if house.deals:
            if self._state["key"][0] == 0:
                self._state[:] = house.dealt(_KEY)
            definition.write_deal(self._state[0], house.row, copy.deepcopy(house.deals[outcome][0]))
        else:
            self._key = (self._key or 0) << _BITS | outcome
            self._key_nodes += 1
            if self._key_nodes < _KEY_NODES:
                return
            # Key 0 would be a view's.
            self._state[:] = house.dealt(self._key + 1)
        self._key = None
        self._look()

    def _look(self) -> None:
        """Every seat sees what has happened."""
        house, (actor, action) = self._house, self._last
        views = [house.view(self._state, seat) for seat in range(house.game.num_players)]
        if not self._seen:
            self._seen = tuple(InformationState(seat, view) for seat, view in enumerate(views))
        else:
            self._seen = tuple(
                each.after(view, action if seat == actor else None)
                for seat, (each, view) in enumerate(zip(self._seen, views, strict=True))
            )

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"deal {action}"
        return self._house.game.action_texts[action]

    def returns(self) -> list[float]:
        if not self.is_terminal():
            return [0.0] * self._house.game.num_players
        return self._house.returns(self._state)

    def __str__(self) -> str:
        if self._key is not None:
            return "to be dealt"
        game = self._house.game
        return draw_text(game.definition.scene(self._state[0], self._house.row, -1))

    # --- what a seat knows

    def information_state(self, seat: int) -> InformationState:
        """All that a seat has seen and done."""
        return self._seen[seat]

    def view(self, seat: int) -> np.ndarray:
        """What a seat knows now, a record in an array of shape `(1,)`."""
        return self._house.view(self._state, seat)

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> OpenSpielState:
        """A state that is the same to a player, drawn from what it knows alone (see the module).

        Args:
            player: The seat.
            sampler: Gives a number in [0, 1).
        """
        key = int(sampler() * 2**53) + 1
        drawn = OpenSpielState(self.get_game())
        drawn._imagine(self._seen[player], self.view(player), key)
        return drawn

    def _imagine(self, known: InformationState, view: np.ndarray, key: int) -> None:
        """Become a world drawn from a view."""
        house = self._house
        self._state[:] = view
        house.game.definition.determinize(self._state[0], house.row, np.uint64(key))
        self._key = None
        self._seen = tuple(
            known if seat == known.seat else InformationState(seat, house.view(self._state, seat))
            for seat in range(house.game.num_players)
        )


class _Observer:
    """What a seat sees, as OpenSpiel asks for it: `tensor`, `dict` with its parts, and a text."""

    def __init__(self, house: _House, perfect_recall: bool) -> None:
        self._house, self._perfect_recall = house, perfect_recall
        self._rows = house.max_length + 1 if perfect_recall else 1
        size = house.row_size if perfect_recall else house.game.layout.size
        fits = self._rows * size <= _MOST_FLOATS
        self.tensor: np.ndarray = np.zeros(self._rows * size if fits else 0, np.float32)
        rows = self.tensor.reshape(self._rows if fits else 0, size)
        self.dict: dict[str, np.ndarray] = {name: rows[:, part] for name, part in house.game.layout.slices.items()}
        if perfect_recall:
            at = house.game.layout.size
            self.dict["seat_to_move"] = rows[:, at : at + house.game.num_players]
            self.dict["own_action"] = rows[:, at + house.game.num_players :]
        self._table = rows

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Write `tensor` for a state as a player sees it; zeros before the deal."""
        self.tensor.fill(0)
        if not state._seen or not len(self.tensor):
            return
        house, game = self._house, self._house.game
        if not self._perfect_recall:
            self._table[0] = house.observation(state.view(player), player)
            return
        history = state.information_state(player).history()
        if len(history) > self._rows:
            raise OptionError(
                f"this game took {len(history) - 1} steps, more than max_length {house.max_length}; load it with more"
            )
        for row, (action, seen) in zip(self._table, history, strict=False):
            view = np.frombuffer(seen, game.definition.state).copy()
            row[: game.layout.size] = house.observation(view, player)
            row[game.layout.size + (int(view["seat"][0]) - player) % game.num_players] = 1
            if action is not None:
                row[game.layout.size + game.num_players + action] = 1

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """A state as a player sees it, as text; empty before the deal."""
        if not state._seen:
            return ""
        if self._perfect_recall:
            return str(state.information_state(player))
        game = self._house.game
        return draw_text(game.definition.scene(state.view(player)[0], self._house.row, player))


pyspiel.register_game(_game_type(tensor=True), OpenSpielGame)


# --- their bots as our agents -----------------------------------------------------------------------------------------


class BotAgent:
    """An OpenSpiel bot as an agent of ours.

    OpenSpiel hands its bots the whole state. Here a bot is given a world drawn from what the deciding seat knows, so
    that one that looks at the others' cards sees imagined ones; what it remembers begins with this decision.

    Args:
        bot: Makes the bot for a game and a seat, for example
            `lambda game, seat: uniform_random.UniformRandomBot(seat, np.random.RandomState(0))`.
        name: What it is called in tables and records.
    """

    def __init__(self, bot: Callable[[OpenSpielGame, int], Any], name: str = "openspiel") -> None:
        self.name: str = name
        self._make = bot
        self._games: dict[Game, OpenSpielGame] = {}

    def reset(self, seed: int) -> None:
        """The bots are made anew for each decision; whatever chance they use is theirs."""

    def act(self, decisions: Decisions) -> np.ndarray:
        """See `Agent.act`."""
        if decisions.game not in self._games:
            self._games[decisions.game] = _game_of(decisions.game)
        game = self._games[decisions.game]
        actions = np.zeros(len(decisions), np.int64)
        for i in range(len(decisions)):
            seat, view = int(decisions.seats[i]), decisions.views[i : i + 1]
            state = OpenSpielState(game)
            # The key of a world must not be 0, which is a view's.
            state._imagine(InformationState(seat, view), view, int(decisions.keys[i] >> np.uint64(1)) + 1)
            actions[i] = self._make(game, seat).step(state)
            if not decisions.action_masks[i, actions[i]]:
                raise AgentError(f"{self.name} chose {actions[i]}, which is not legal")
        return actions


def _game_of(game: Game) -> OpenSpielGame:
    """A game at a table as OpenSpiel takes it, reward "win" where ours has no bounds."""
    return load_game(
        game.id, num_players=game.num_players, rules=game.rules.to_json(),
        reward="win" if game.reward == "score" else game.reward,
    )  # fmt: skip
