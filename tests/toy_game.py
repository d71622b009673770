"""A fourth game, as somebody else would write it: its source, which tests put into a package of its own.

Odd Dice: everybody rolls three dice in secret; in turn each shows one of its own, and an odd one scores a point, two
if the die shown before was odd as well. When all are shown, the fewest points win.
"""

from __future__ import annotations

SOURCE = '''
"""Odd Dice: everybody rolls three dice in secret; in turn each shows one; odd ones score, and the fewest points win."""

from dataclasses import dataclass

import numpy as np

from pigenv.errors import DealError
from pigenv.game import (
    ANYBODY, RUNNING, TERMINATED, TRUNCATED, Definition, Preset, Rules as AnyRules, option, rules_dtype, state_dtype,
)
from pigenv.kernel import below, draw, kernel
from pigenv.layout import Layout, Part
from pigenv.scene import Scene, Zone

SEATS, DICE, FACES = 4, 3, 6


@dataclass(frozen=True)
class Rules(AnyRules):
    double: bool = option(True, "Whether an odd die after an odd one scores two.")
    max_turns: int = option(50, "Turns after which a game is cut short.", low=1, high=100)


STATE = state_dtype([("dice", np.int8, (SEATS, DICE)), ("left", np.int8, (SEATS,)), ("last", np.int8),
                     ("points", np.int16, (SEATS,))])
ROW = rules_dtype(Rules, [("faces", np.int8)])


@kernel
def deal(state, rules):
    key = draw(state["key"], state["round"])
    for seat in range(rules["num_players"]):
        state["left"][seat] = DICE
        for place in range(DICE):
            state["dice"][seat, place] = 1 + below(draw(key, 1 + seat * DICE + place), FACES)
    state["seat"] = below(draw(key, 0), rules["num_players"])


@kernel
def legal(state, rules, mask):
    count = 0
    for action in range(len(mask)):
        mask[action] = 0
    for place in range(state["left"][state["seat"]]):
        action = state["dice"][state["seat"], place] - 1
        count += 1 - mask[action]
        mask[action] = 1
    return count


@kernel
def step(state, rules, action):
    seat, die = state["seat"], action + 1
    last = state["left"][seat] - 1
    place = 0
    while state["dice"][seat, place] != die:
        place += 1
    state["dice"][seat, place] = state["dice"][seat, last]
    state["dice"][seat, last] = 0
    state["left"][seat] = last
    if die % 2 == 1:
        state["points"][seat] += 2 if rules["double"] == 1 and state["last"] % 2 == 1 else 1
    state["last"] = die
    state["turn"] += 1
    state["seat"] = (seat + 1) % rules["num_players"]
    if state["left"][state["seat"]] == 0:
        state["over"] = TERMINATED
    elif state["turn"] >= rules["max_turns"]:
        state["over"] = TRUNCATED


@kernel
def hide(view, rules, seat):
    if seat != ANYBODY:
        for other in range(rules["num_players"]):
            if other != seat:
                for place in range(DICE):
                    view["dice"][other, place] = 0


@kernel
def determinize(view, rules, key):
    for seat in range(rules["num_players"]):
        for place in range(view["left"][seat]):
            if view["dice"][seat, place] == 0:
                view["dice"][seat, place] = 1 + below(draw(key, seat * DICE + place), FACES)
    view["key"] = key


@kernel
def observe(view, rules, seat, out):
    for each in range(len(out)):
        out[each] = 0.0
    for place in range(view["left"][seat]):
        out[view["dice"][seat, place] - 1] += np.float32(1 / DICE)
    out[FACES] = view["last"] / FACES
    for place in range(rules["num_players"]):
        other = (seat + place) % rules["num_players"]
        out[FACES + 1 + place] = view["left"][other] / DICE
    return FACES + 1 + rules["max_players"]


@kernel
def scores(state, rules, out):
    for seat in range(rules["num_players"]):
        out[seat] = state["points"][seat]


def read_deal(state, rules):
    return {"first_player": int(state["seat"]), "hands": state["dice"][: rules["num_players"]].tolist()}


def write_deal(state, rules, given):
    n = int(rules["num_players"])
    if not isinstance(given, dict) or set(given) != {"first_player", "hands"}:
        raise DealError(f"a deal of Odd Dice has first_player and hands; got {given!r}")
    hands = given["hands"]
    if not isinstance(hands, list) or [len(h) if isinstance(h, list) else -1 for h in hands] != [DICE] * n:
        raise DealError(f"hands must be {n} lists of {DICE} dice; got {hands!r}")
    if any(type(die) is not int or not 1 <= die <= FACES for hand in hands for die in hand):
        raise DealError(f"a die shows 1 to {FACES}; got {hands!r}")
    if type(given["first_player"]) is not int or not 0 <= given["first_player"] < n:
        raise DealError(f"first_player must be a seat; got {given['first_player']!r}")
    state["dice"][:n] = hands
    state["seat"] = given["first_player"]


def scene(view, rules, looking):
    n = int(rules["num_players"])
    zones = [Zone("shown", None, (str(view["last"]),) if view["last"] else ())]
    for seat in range(n):
        dice = sorted(view["dice"][seat, : view["left"][seat]].tolist())
        zones.append(Zone("hand", seat, tuple(str(die) if die else None for die in dice)))
    to_move = int(view["seat"]) if view["over"] == RUNNING else None
    return Scene(n, to_move, looking, tuple(zones), tuple(float(p) for p in view["points"][:n]))


DEFINITION = Definition(
    id="odd_dice_v0",
    name="Odd Dice",
    rulebook=__doc__,
    rules=Rules,
    presets={"standard": Preset(3, "Three dice each."), "single": Preset(2, "Odd is one point.", {"double": False})},
    seats=lambda rules: (2, SEATS),
    state=STATE,
    row=ROW,
    derive=lambda rules, num_players: {"faces": FACES},
    actions=lambda rules, max_players: [str(face + 1) for face in range(FACES)],
    layout=lambda rules, seating: Layout((
        Part("hand", FACES, "own dice that show 1 to 6; share of three"),
        Part("last", 1, "the die shown last; share of six"),
        Part("left", seating.max_players, "dice left to each seat, oneself first; share of three"),
    )),
    score_scale=lambda rules, num_players: 3.0,
    lowest_wins=lambda rules: True,
    deal=deal, legal=legal, step=step, hide=hide, determinize=determinize, observe=observe, scores=scores,
    read_deal=read_deal, write_deal=write_deal,
    call_out=lambda before, after, rules, action: "odd!" if int(action) % 2 else "",
    scene=scene,
)
'''

TWIN = '''
"""A slow and obvious Odd Dice, made of lists."""


class NaiveOddDice:
    """One game of Odd Dice."""

    def __init__(self, num_players, rules, deal):
        self.num_players, self.rules = num_players, rules
        self.seat, self.dice = deal["first_player"], [list(hand) for hand in deal["hands"]]
        self.shown, self.points, self.over = [], [0] * num_players, None

    def legal(self):
        return sorted({str(die) for die in self.dice[self.seat]})

    def step(self, action):
        die = int(action)
        self.dice[self.seat].remove(die)
        if die % 2 == 1:
            after_odd = bool(self.shown) and self.shown[-1] % 2 == 1
            self.points[self.seat] += 2 if after_odd and self.rules["double"] else 1
        self.shown.append(die)
        self.seat = (self.seat + 1) % self.num_players
        if not self.dice[self.seat]:
            self.over = "terminated"
        elif len(self.shown) >= self.rules["max_turns"]:
            self.over = "truncated"

    def scores(self):
        return list(self.points)

    def returns(self, reward, score_scale=1.0):
        n, paid = self.num_players, []
        for own in self.points:
            fewer = sum(other < own for other in self.points)
            equal = self.points.count(own)
            if reward == "win":
                paid.append(((n / equal if fewer == 0 else 0) - 1) / (n - 1))
            elif reward == "rank":
                paid.append((n + 1 - 2 * (fewer + (equal + 1) / 2)) / (n - 1))
            else:
                paid.append((sum(self.points) / n - own) / score_scale)
        return paid
'''
