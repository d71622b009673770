"""The dice game Pig: roll as often as you like, but a one costs you all that this turn has brought.

A game of your own, in a package of your own: this file and the entry point in `pyproject.toml` beside it are all that
pigenv needs to know. (John Scarne, "Scarne on Dice", 1945; solved for two players by Neller and Presser, "Optimal play
of the dice game Pig", The UMAP Journal 25(1), 2004.)

    Roll    2 … 6 are added to the turn's total, and the player may go on; a 1 loses the total and the turn.
    Hold    the total is added to the player's score, and the next player's turn begins.

Whoever first reaches the target (100) by holding wins. Unlike in the card games, chance goes on deciding after the
start: each roll is drawn from the episode's key and its own number, and stands in a record as a step of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pigenv.errors import DealError, OptionError
from pigenv.game import (
    RUNNING,
    TERMINATED,
    TRUNCATED,
    Definition,
    Preset,
    Seating,
    option,
    rules_dtype,
    state_dtype,
)
from pigenv.game import Rules as AnyRules
from pigenv.kernel import Row, below, draw, kernel
from pigenv.layout import Layout, Part
from pigenv.scene import Scene, Zone

# --- options ----------------------------------------------------------------------------------------------------------

MAX_PLAYERS: Final = 10
FACES: Final = 6
PIG: Final = 1  # the face that loses the turn


@dataclass(frozen=True)
class Rules(AnyRules):
    """The options of Pig."""

    target: int = option(100, "The score that wins.", low=2, high=1_000)
    first_player: str | int = option("random", "Who begins.", choices=("random",), low=0, high=MAX_PLAYERS - 1)
    max_turns: int = option(10_000, "Rolls and holds after which a game is cut short.", low=1, high=1_000_000)

    def check_seats(self, num_players: int) -> None:
        if not isinstance(self.first_player, str) and self.first_player >= num_players:
            raise OptionError(f"first_player must be 'random' or 0 … {num_players - 1}; got {self.first_player}")


PRESETS = {
    "standard": Preset(2, "Two players to a hundred."),
    "small": Preset(2, "To twenty: learned in seconds.", {"target": 20}),
}

# --- state ------------------------------------------------------------------------------------------------------------

NO_ROLL: Final = 0

STATE = state_dtype(
    [
        ("score", np.int16, (MAX_PLAYERS,)),
        ("total", np.int16),  # what this turn has brought so far
        ("rolled", np.int8),  # the face of the last step's roll, or NO_ROLL
        ("given", np.int8),  # the face that the next roll will show, or NO_ROLL where it is drawn
    ]
)
RULES = rules_dtype(Rules, [("share_of_target", np.float32)])


def derive(rules: Rules, num_players: int) -> dict[str, Any]:
    """The row's derived fields."""
    return {"share_of_target": 1 / rules.target}


@kernel
def deal(state: Row, rules: Row) -> None:
    """Nobody has a point; chance or the rules say who begins."""
    state["seat"] = rules["first_player"]
    if rules["first_player"] < 0:
        state["seat"] = below(draw(draw(state["key"], state["round"]), 0), rules["num_players"])


# --- a step -----------------------------------------------------------------------------------------------------------

ROLL, HOLD = 0, 1
ACTION_TEXTS = ("roll", "hold")


@kernel
def legal(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Both, but there must be something to hold."""
    mask[ROLL] = 1
    mask[HOLD] = 1 if state["total"] > 0 else 0
    return 2 if state["total"] > 0 else 1


@kernel
def step(state: Row, rules: Row, action: int) -> None:
    """Roll or hold."""
    state["rolled"] = NO_ROLL
    if action == ROLL:
        roll(state, rules)
    else:
        hold(state, rules)
    state["given"] = NO_ROLL
    state["turn"] += 1
    if state["over"] == RUNNING and state["turn"] >= rules["max_turns"]:
        state["over"] = TRUNCATED


@kernel
def roll(state: Row, rules: Row) -> None:
    """A one loses the turn, anything else adds to its total."""
    face = state["given"]
    if face == NO_ROLL:
        face = 1 + below(draw(draw(state["key"], state["round"]), 1 + state["turn"]), FACES)
    state["rolled"] = face
    if face == PIG:
        pass_turn(state, rules)
    else:
        state["total"] += face


@kernel
def hold(state: Row, rules: Row) -> None:
    """Bank the total; the target wins."""
    seat = state["seat"]
    state["score"][seat] += state["total"]
    if state["score"][seat] >= rules["target"]:
        state["over"] = TERMINATED
    else:
        pass_turn(state, rules)


@kernel
def pass_turn(state: Row, rules: Row) -> None:
    """The left neighbour begins with nothing."""
    state["total"] = 0
    state["seat"] = state["seat"] + 1 if state["seat"] + 1 < rules["num_players"] else 0


@kernel
def scores(state: Row, rules: Row, out: np.ndarray) -> None:
    """Points banked."""
    for seat in range(rules["num_players"]):
        out[seat] = state["score"][seat]


# --- what a seat knows: everything but the rolls to come --------------------------------------------------------------


@kernel
def hide(view: Row, rules: Row, seat: int) -> None:
    """A roll that is fixed beforehand, in a replay, is known to nobody."""
    view["given"] = NO_ROLL


@kernel
def determinize(view: Row, rules: Row, key: np.uint64) -> None:
    """Any rolls may come."""
    view["key"] = key


def layout(rules: Rules, seating: Seating) -> Layout:
    """Scores and the turn's total."""
    seats = seating.max_players
    parts = [
        Part("score", seats, "points of each seat, oneself first, clockwise; share of the target, at most 1"),
        Part("total", 1, "points of the turn that goes on; share of the target, at most 1"),
        Part("mover", seats, "one-hot: whose turn it is, oneself first, clockwise"),
    ]
    if seating.mixed:
        parts.append(Part("num_players", seats - 1, f"one-hot: how many play, 2 … {seats}"))
    return Layout(tuple(parts))


@kernel
def observe(view: Row, rules: Row, seat: int, out: np.ndarray) -> int:
    """Write the parts in the order of `layout`."""
    players, seats = rules["num_players"], rules["max_players"]
    for each in range(len(out)):
        out[each] = 0.0
    for place in range(players):
        out[place] = min(view["score"][(seat + place) % players] * rules["share_of_target"], np.float32(1))
    out[seats] = min(view["total"] * rules["share_of_target"], np.float32(1))
    out[seats + 1 + (view["seat"] - seat + players) % players] = 1.0
    at = 2 * seats + 1
    if rules["mixed"] == 1:
        out[at + players - 2] = 1.0
        at += seats - 1
    return at


# --- text -------------------------------------------------------------------------------------------------------------


def read_deal(state: Row, rules: Row) -> dict[str, Any]:
    """Who begins."""
    return {"first_player": int(state["seat"])}


def write_deal(state: Row, rules: Row, given: Mapping[str, Any]) -> None:
    """Let somebody begin."""
    first = given.get("first_player") if isinstance(given, Mapping) else None
    players = int(rules["num_players"])
    if set(given) != {"first_player"} or not isinstance(first, int) or isinstance(first, bool):
        raise DealError(f"a deal of Pig has first_player, a seat; got {given!r}")
    if not 0 <= first < players:
        raise DealError(f"first_player must be a seat 0 … {players - 1}; got {first!r}")
    state["seat"] = first


def read_chance(state: Row, rules: Row) -> dict[str, Any] | None:
    """The face of the roll just made."""
    return None if state["rolled"] == NO_ROLL else {"chance": str(int(state["rolled"]))}


def give_chance(state: Row, rules: Row, chance: Mapping[str, Any]) -> None:
    """Fix the next roll."""
    if set(chance) != {"chance"} or chance["chance"] not in [str(face) for face in range(1, FACES + 1)]:
        raise DealError(f"a roll is a text '1' … '{FACES}' under 'chance'; got {dict(chance)!r}")
    state["given"] = int(chance["chance"])


def call_out(before: Row, after: Row, rules: Row, action: str) -> str:
    """The face rolled, or the score held."""
    if action == "hold":
        return f"{int(after['score'][before['seat']])} points"
    return "PIG" if after["rolled"] == PIG else str(int(after["rolled"]))


def scene(view: Row, rules: Row, looking: int) -> Scene:
    """The last roll and the turn's total in the middle."""
    players, rolled = int(rules["num_players"]), int(view["rolled"])
    die = () if rolled == NO_ROLL else (str(rolled),)
    return Scene(
        num_players=players,
        to_move=int(view["seat"]) if view["over"] == RUNNING else None,
        looking=looking,
        zones=(Zone("die", None, die, f"this turn {int(view['total'])}"),),
        scores=tuple(float(view["score"][seat]) for seat in range(players)),
    )


DEFINITION = Definition(
    id="dice_pig_v0",
    name="Pig (dice)",
    rulebook=__doc__ or "",
    rules=Rules,
    presets=PRESETS,
    seats=lambda rules: (2, MAX_PLAYERS),
    state=STATE,
    row=RULES,
    derive=derive,
    actions=lambda rules, max_players: ACTION_TEXTS,
    layout=layout,
    score_scale=lambda rules, num_players: float(rules.target),
    deal=deal,
    legal=legal,
    step=step,
    hide=hide,
    determinize=determinize,
    observe=observe,
    scores=scores,
    read_deal=read_deal,
    write_deal=write_deal,
    read_chance=read_chance,
    give_chance=give_chance,
    call_out=call_out,
    scene=scene,
)
