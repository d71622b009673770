"""A game in which moves are made in secret and hands come down on the table: its source, as somebody else's package.

Slap: a ring of twelve cards, 1 to 6 twice. In turn a seat flips; before the card is shown everybody commits `wait` or
`anticipate`. On an even card all slap, the slowest takes it; on an odd one the earliest who anticipated does.
"""

from __future__ import annotations

SOURCE = '''
"""Slap: even cards are slapped at; the slowest takes the card, and so does who slaps at an odd one."""

from dataclasses import dataclass

import numpy as np

from pigenv.errors import DealError
from pigenv.game import (
    ANYBODY, RUNNING, TERMINATED, TRUNCATED, Definition, Preset, Rules as AnyRules, option, rules_dtype, state_dtype,
)
from pigenv.kernel import draw, kernel, shuffle, below
from pigenv.layout import Layout, Part
from pigenv.scene import Scene, Zone

SEATS, CARDS = 4, 12
FLIP, WAIT, ANTICIPATE = range(3)


@dataclass(frozen=True)
class Rules(AnyRules):
    max_turns: int = option(200, "Turns after which a game is cut short.", low=1, high=1000)


STATE = state_dtype([("ring", np.int8, (CARDS,)), ("left", np.int8), ("mover", np.int8), ("committed", np.int8),
                     ("choice", np.int8, (SEATS,)), ("points", np.int16, (SEATS,)), ("shown", np.int8),
                     ("given", np.int8), ("time", np.int32, (SEATS,))])
ROW = rules_dtype(Rules, [("cards", np.int8)])


@kernel
def deal(state, rules):
    key = draw(state["key"], state["round"])
    for place in range(CARDS):
        state["ring"][place] = 1 + place % 6
    shuffle(state["ring"], 0, CARDS, key)
    state["left"] = CARDS
    state["mover"] = 0
    state["committed"] = -1


@kernel
def legal(state, rules, mask):
    flips = state["committed"] < 0
    mask[FLIP] = flips
    mask[WAIT] = not flips
    mask[ANTICIPATE] = not flips
    return 1 if flips else 2


@kernel
def step(state, rules, action):
    players = rules["num_players"]
    if state["committed"] < 0:
        state["committed"] = 0
        for seat in range(players):
            state["time"][seat] = 0 if state["given"] == 0 else state["time"][seat]
        return
    state["choice"][state["seat"]] = action
    state["committed"] += 1
    state["seat"] = (state["seat"] + 1) % players
    if state["committed"] < players:
        return
    state["left"] -= 1
    card = state["ring"][state["left"]]
    state["ring"][state["left"]] = 0
    state["shown"] = card
    if state["given"] == 0:
        for seat in range(players):
            slaps = card % 2 == 0 or state["choice"][seat] == ANTICIPATE
            base = 200 if state["choice"][seat] == ANTICIPATE else 450
            noise = below(draw(draw(state["key"], 77 + state["left"]), seat), 100)
            state["time"][seat] = base + noise if slaps else 0
    loser = -1
    for seat in range(players):
        time = state["time"][seat]
        if card % 2 == 0:
            time = 100000 if time == 0 else time
            if loser < 0 or time > (100000 if state["time"][loser] == 0 else state["time"][loser]):
                loser = seat
        elif time > 0 and (loser < 0 or time < state["time"][loser]):
            loser = seat
    if loser >= 0:
        state["points"][loser] += 1
    state["given"] = 0
    state["committed"] = -1
    for seat in range(players):
        state["choice"][seat] = 0
    state["turn"] += 1
    state["mover"] = (state["mover"] + 1) % players
    state["seat"] = state["mover"]
    if state["left"] == 0:
        state["over"] = TERMINATED
    elif state["turn"] >= rules["max_turns"]:
        state["over"] = TRUNCATED


@kernel
def hide(view, rules, seat):
    for place in range(CARDS):
        view["ring"][place] = 0
    for other in range(rules["num_players"]):
        if other != seat:
            view["choice"][other] = 0


@kernel
def determinize(view, rules, key):
    for place in range(view["left"]):
        view["ring"][place] = 1 + below(draw(key, place), 6)
    for seat in range(rules["num_players"]):
        if view["committed"] > 0 and view["choice"][seat] == 0:
            view["choice"][seat] = WAIT
    view["key"] = key


@kernel
def observe(view, rules, seat, out):
    out[0] = view["left"] / CARDS
    return 1


@kernel
def scores(state, rules, out):
    for seat in range(rules["num_players"]):
        out[seat] = state["points"][seat]


def read_deal(state, rules):
    return {"ring": state["ring"][: state["left"]].tolist()}


def write_deal(state, rules, given):
    if not isinstance(given, dict) or sorted(given.get("ring", [])) != sorted([1, 2, 3, 4, 5, 6] * 2):
        raise DealError(f"a deal of Slap has a ring of twelve cards; got {given!r}")
    state["ring"][:] = given["ring"]


def read_chance(state, rules):
    if state["committed"] >= 0 or state["turn"] == 0:
        return None
    times = [int(t) or None for t in state["time"][: rules["num_players"]]]
    return {"reactions": times}


def give_chance(state, rules, given):
    times = given.get("reactions")
    if not isinstance(times, list) or len(times) != rules["num_players"]:
        raise DealError(f"reactions must be a list, one a seat; got {times!r}")
    state["given"] = 1
    state["time"][: len(times)] = [t or 0 for t in times]


def scene(view, rules, looking):
    n = int(rules["num_players"])
    pile = (str(view["shown"]),) if view["shown"] else ()
    zones = [Zone("ring", None, (None,) * int(view["left"])), Zone("pile", None, pile)]
    zones += [Zone("hand", seat, ()) for seat in range(n)]
    to_move = int(view["seat"]) if view["over"] == RUNNING else None
    return Scene(n, to_move, looking, tuple(zones), tuple(float(p) for p in view["points"][:n]),
                 hints=(f"{int(view['left'])} cards are left in the ring",) if looking == to_move else ())


def call_out(before, after, rules, action):
    return "" if after["committed"] >= 0 else f"{int(after['shown'])}!"


DEFINITION = Definition(
    id="slap_v0", name="Slap", rulebook=__doc__, rules=Rules, presets={"standard": Preset(3, "Twelve cards.")},
    seats=lambda rules: (2, SEATS), state=STATE, row=ROW, derive=lambda rules, num_players: {"cards": CARDS},
    actions=lambda rules, max_players: ["flip", "wait", "anticipate"],
    layout=lambda rules, seating: Layout((Part("left", 1, "share of the ring that is left"),)),
    score_scale=lambda rules, num_players: 4.0, lowest_wins=lambda rules: True,
    deal=deal, legal=legal, step=step, hide=hide, determinize=determinize, observe=observe, scores=scores,
    read_deal=read_deal, write_deal=write_deal, call_out=call_out, scene=scene, read_chance=read_chance,
    give_chance=give_chance,
)
'''
