"""Pig 10: reach ten exactly and take the pile; go beyond it and your right neighbour does.

The game by Ayelet Pnueli (Zoch, 2010), for 2 to 8 players and a pack of 80 cards: seven 0, five 5, four 10, and eight
of each other number from 1 to 9.

Course of the game. Everybody holds three cards, the rest is the stock. In turn, clockwise, a player plays one card
and calls out the new pile value, then draws a card while the stock lasts. When all hands are empty, whoever has taken
most cards wins.

    Into the empty middle   the card's number is the pile value, also for 5 and 0.
    Add                     any card adds its number to the pile value; always allowed.
    The frog (0)            sets the pile value to 0. The cards stay.
    The pigmaid (5)         may be subtracted instead, never below zero.
    Same card, same number  a card equal to the card before it or to the pile value may be made the pile value instead.
    PIG 10                  pile value ten: the player takes the whole pile, the played card included.
    Bust                    pile value above ten: the right neighbour, who played before, takes it.

Where the printed rules are silent, the default here and the option that changes it: the next player leads after a pile
was taken (`winner_leads`); cards left in the middle at the end belong to nobody (`leftover`); a 5 that would fall
below zero cannot be subtracted (`five_clamp`); "same" means the card before or the pile value (`same_rule`); equal
scores share the win (`tie_break`); chance picks the first player (`first_player`); a 10 may open a pile and takes
itself; going bust although another card is safe is allowed. Ways of playing a card that give the same pile value are
one action: the first of add, subtract, set.

With the default pack every game takes exactly 80 turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pigenv.errors import DealError, OptionError
from pigenv.game import (
    ANYBODY,
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
from pigenv.kernel import Row, below, draw, kernel, shuffle
from pigenv.layout import Layout, Part
from pigenv.scene import Scene, Zone

# --- options ----------------------------------------------------------------------------------------------------------

NUM_VALUES: Final = 11  # cards 0 … 10
FROG: Final = 0
PIGMAID: Final = 5
MAX_PLAYERS: Final = 8
MAX_HAND: Final = 10
MAX_CARDS: Final = 120
MAX_ACTIONS: Final = 2 * NUM_VALUES + 1

LEFTOVER = ("none", "last_player", "last_winner")
LEFTOVER_LAST_PLAYER, LEFTOVER_LAST_WINNER = 1, 2
SAME_RULE = ("both", "value", "previous", "off")


@dataclass(frozen=True)
class Rules(AnyRules):
    """The options of Pig 10."""

    deck_counts: tuple[int, ...] = option(
        (7, 8, 8, 8, 8, 5, 8, 8, 8, 8, 4), "How many of each card 0 … 10 the pack has.", low=0, high=40, length=11
    )
    hand_size: int = option(3, "Cards dealt to each player, and held while the stock lasts.", low=1, high=MAX_HAND)
    target: int = option(10, "The pile value that takes the pile; no card may be higher.", low=1, high=10)
    winner_leads: bool = option(False, "Whoever took a pile leads the next one, instead of the next player in turn.")
    leftover: str = option("none", "Who gets the cards left in the middle at the end.", choices=LEFTOVER)
    five_clamp: bool = option(False, "A 5 may also be subtracted from a pile value below 5, which then is 0.")
    same_rule: str = option("both", "What a card must equal to be made the pile value.", choices=SAME_RULE)
    tie_break: str = option("shared", "Equal scores share the place.", choices=("shared",))
    first_player: str | int = option("random", "Who begins.", choices=("random",), low=0, high=MAX_PLAYERS - 1)
    max_turns: int = option(200, "Turns after which a game is cut short, scored as it stands.", low=1, high=10_000)

    def check(self) -> None:
        total = sum(self.deck_counts)
        if any(self.deck_counts[self.target + 1 :]):
            raise OptionError(f"no card may be above target {self.target}; deck_counts is {list(self.deck_counts)}")
        if not 1 <= total <= MAX_CARDS:
            raise OptionError(f"deck_counts must add up to 1 … {MAX_CARDS} cards; got {total}")

    def check_seats(self, num_players: int) -> None:
        needed, total = num_players * self.hand_size, sum(self.deck_counts)
        if needed > total:
            raise OptionError(f"{num_players} players of {self.hand_size} cards need {needed}; the pack has {total}")
        if not isinstance(self.first_player, str) and self.first_player >= num_players:
            raise OptionError(f"first_player must be 'random' or 0 … {num_players - 1}; got {self.first_player}")


PRESETS = {
    "standard": Preset(4, "The printed game."),
    "mini": Preset(
        2,
        "Small enough to be solved exactly: 250,661 histories, from the root through 2 x 690 deals to every end.",
        {"deck_counts": (1, 1, 1, 1, 0, 2, 1, 0, 0, 0, 0), "hand_size": 2, "target": 7, "max_turns": 7},
    ),
    "small": Preset(
        3,
        "Learned in seconds: twenty cards up to five, hands of two.",
        {"deck_counts": (2, 4, 4, 4, 3, 3, 0, 0, 0, 0, 0), "hand_size": 2, "target": 5},
    ),
}

# --- state ------------------------------------------------------------------------------------------------------------

EMPTY: Final = -1  # pile value of an empty middle
UNKNOWN: Final = -1  # a card that whoever looks has not seen; also a place without a card
NOBODY: Final = -1

STATE = state_dtype(
    [
        ("hand", np.int8, (MAX_PLAYERS, MAX_HAND)),  # cards held, by seat; the places from hand_size on are UNKNOWN
        ("hand_size", np.int8, (MAX_PLAYERS,)),  # cards held, by seat; public
        ("taken", np.int16, (MAX_PLAYERS,)),  # cards won, by seat
        ("played", np.int8, (NUM_VALUES,)),  # cards of each value played so far
        ("value", np.int8),  # pile value, EMPTY where the middle is
        ("last_player", np.int8),  # seat that played last, or NOBODY
        ("last_winner", np.int8),  # seat that took a pile last, or NOBODY
        ("pile_size", np.int16),
        ("dealt", np.int16),  # cards that have left the pack; pack[dealt] is the next to be drawn
        ("pile", np.int8, (MAX_CARDS,)),  # bottom to top
        ("pack", np.int8, (MAX_CARDS,)),  # the whole pack in the order dealt: hands by seat, then the stock
        ("history", np.int8, (MAX_CARDS,)),  # what was played in each turn so far: card + SEAT_STEP * seat
    ]
)
SEAT_STEP: Final = 16

RULES = rules_dtype(
    Rules,
    [
        ("pack", np.int8, (MAX_CARDS,)),  # the pack before shuffling
        ("pack_size", np.int16),
        ("num_kinds", np.int32),  # how many values occur
        ("kinds", np.int8, (NUM_VALUES,)),  # the values that occur, ascending
        ("num_actions", np.int8),
        ("action_card", np.int8, (MAX_ACTIONS,)),
        ("action_way", np.int8, (MAX_ACTIONS,)),
        ("action_of", np.int8, (NUM_VALUES, 3)),  # action by card and way of playing it
        ("ways", np.int8, (NUM_VALUES + 1, NUM_VALUES + 1, NUM_VALUES)),  # see `open_ways`
        ("place_of", np.int8, (NUM_VALUES + 1,)),  # where a value stands among those that occur; by value plus one
        ("top_of", np.int8, (NUM_VALUES + 1,)),  # where it stands among those that can be a pile's top, or −1; likewise
        ("num_tops", np.int32),
        ("share_of_hand", np.float32),  # 1 / hand_size, and so on: to multiply is faster than to divide
        ("share_of_pack", np.float32),
        ("share_of_stock", np.float32),
        ("share_of_kind", np.float32, (NUM_VALUES,)),  # by place among the values that occur
    ],
)


def derive(rules: Rules, num_players: int) -> dict[str, Any]:
    """The row's derived fields."""
    kinds = occurring(rules)
    pack = [value for value in kinds for _ in range(rules.deck_counts[value])]
    tops = possible_tops(rules)
    actions = list_actions(rules)
    action_of = np.zeros((NUM_VALUES, len(WAY_TEXTS)), np.int8)
    for action, (card, way) in enumerate(actions):
        action_of[card, way] = action
    return {
        "pack": np.pad(pack, (0, MAX_CARDS - len(pack)), constant_values=UNKNOWN),
        "pack_size": len(pack),
        "num_kinds": len(kinds),
        "kinds": np.pad(kinds, (0, NUM_VALUES - len(kinds))),
        "num_actions": len(actions),
        "action_card": np.pad([card for card, _ in actions], (0, MAX_ACTIONS - len(actions))),
        "action_way": np.pad([way for _, way in actions], (0, MAX_ACTIONS - len(actions))),
        "action_of": action_of,
        "ways": open_ways(rules),
        "place_of": [-1, *(kinds.index(value) if value in kinds else -1 for value in range(NUM_VALUES))],
        "top_of": [-1, *(tops.index(value) if value in tops else -1 for value in range(NUM_VALUES))],
        "num_tops": len(tops),
        "share_of_hand": 1 / rules.hand_size,
        "share_of_pack": 1 / len(pack),
        "share_of_stock": 1 / max(1, len(pack) - num_players * rules.hand_size),
        "share_of_kind": np.pad([1 / rules.deck_counts[value] for value in kinds], (0, NUM_VALUES - len(kinds))),
    }


def occurring(rules: Rules) -> list[int]:
    """The values that the pack has, ascending."""
    return [value for value, count in enumerate(rules.deck_counts) if count]


# --- deal -------------------------------------------------------------------------------------------------------------


@kernel
def deal(state: Row, rules: Row) -> None:
    """Shuffle, give each player a hand, and let chance or the rules say who begins."""
    key = draw(state["key"], state["round"])
    size = rules["pack_size"]
    for place in range(MAX_CARDS):
        state["pack"][place] = rules["pack"][place]
    shuffle(state["pack"], 0, size, key)
    state["seat"] = rules["first_player"]
    if rules["first_player"] < 0:
        state["seat"] = below(draw(key, 0), rules["num_players"])
    state["value"] = EMPTY
    state["last_player"] = NOBODY
    state["last_winner"] = NOBODY
    give_hands(state, rules)


@kernel
def give_hands(state: Row, rules: Row) -> None:
    """Each player takes a hand from the top of the pack, seat by seat."""
    state["dealt"] = 0
    for seat in range(MAX_PLAYERS):
        state["hand_size"][seat] = 0
        for place in range(MAX_HAND):
            state["hand"][seat, place] = UNKNOWN
    for seat in range(rules["num_players"]):
        for _ in range(rules["hand_size"]):
            draw_card(state, seat)


@kernel
def draw_card(state: Row, seat: int) -> None:
    """Take the next card of the pack into a hand."""
    state["hand"][seat, state["hand_size"][seat]] = state["pack"][state["dealt"]]
    state["hand_size"][seat] += 1
    state["dealt"] += 1


# --- legal actions ----------------------------------------------------------------------------------------------------

ADD, SUBTRACT, SET = 0, 1, 2
WAY_TEXTS = ("", "-", "=")
MAY_SUBTRACT, MAY_SET = 1, 2  # bits


def list_actions(rules: Rules) -> list[tuple[int, int]]:
    """Card and way of playing it, for each action that can ever be legal."""
    actions = []
    for card in occurring(rules):
        actions.append((card, ADD))
        if card == PIGMAID and (rules.target > PIGMAID or rules.five_clamp):
            actions.append((card, SUBTRACT))
        # A frog adds nothing else than it sets; the target's own card never meets its like in a pile.
        if card not in (FROG, rules.target) and rules.same_rule != "off":
            actions.append((card, SET))
    return actions


def action_texts(rules: Rules, max_players: int) -> list[str]:
    """`4` adds the four (the 0 too, and any card into an empty middle), `5-` subtracts the five, `4=` sets four."""
    return [f"{card}{WAY_TEXTS[way]}" for card, way in list_actions(rules)]


@kernel
def legal(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Any card held may be added; the other ways are looked up by pile value and top card (see `open_ways`)."""
    seat, value = state["seat"], state["value"]
    top = state["pile"][state["pile_size"] - 1] if value != EMPTY else UNKNOWN
    ways = rules["ways"][value + 1, top + 1]
    count = 0
    for action in range(len(mask)):
        mask[action] = 0
    for place in range(state["hand_size"][seat]):
        card = state["hand"][seat, place]
        count += allow(mask, rules["action_of"][card, ADD])
        if ways[card] & MAY_SUBTRACT:
            count += allow(mask, rules["action_of"][card, SUBTRACT])
        if ways[card] & MAY_SET:
            count += allow(mask, rules["action_of"][card, SET])
    return count


@kernel
def allow(mask: np.ndarray, action: int) -> int:
    """Mark an action as legal; returns 1 if it was not already, as it is with two equal cards in hand."""
    new = 1 - mask[action]
    mask[action] = 1
    return new


def open_ways(rules: Rules) -> np.ndarray:
    """Which ways the pile leaves open besides adding, by pile value, top card (both plus one, 0 for none) and card."""
    ways = np.zeros((NUM_VALUES + 1, NUM_VALUES + 1, NUM_VALUES), np.int8)
    for value in range(EMPTY, rules.target):
        for top in range(UNKNOWN, NUM_VALUES):
            for card, way in list_actions(rules):
                if way == SUBTRACT and may_subtract(value, rules):
                    ways[value + 1, top + 1, card] |= MAY_SUBTRACT
                if way == SET and may_set(card, value, top, rules):
                    ways[value + 1, top + 1, card] |= MAY_SET
    return ways


def may_subtract(value: int, rules: Rules) -> bool:
    """The pigmaid: the pile value may never be less than zero."""
    return value >= PIGMAID or (value != EMPTY and rules.five_clamp)


def may_set(card: int, value: int, top: int, rules: Rules) -> bool:
    """Same card, same number; into an empty middle or on a pile value of 0 it would give what adding gives."""
    same_value = card == value and rules.same_rule in ("both", "value")
    same_card = card == top and rules.same_rule in ("both", "previous")
    return value > 0 and (same_value or same_card)


# --- a turn -----------------------------------------------------------------------------------------------------------


@kernel
def step(state: Row, rules: Row, action: int) -> None:
    """Play a card, call out the value, resolve the pile, draw, and let the next player go."""
    seat = state["seat"]
    card = rules["action_card"][action]
    value = new_value(state["value"], card, rules["action_way"][action])
    lay_card(state, seat, card)
    state["value"] = value
    winner = resolve_pile(state, rules, seat)
    if state["dealt"] < rules["pack_size"]:
        draw_card(state, seat)
    state["turn"] += 1
    pass_turn(state, rules, winner)


@kernel
def new_value(value: int, card: int, way: int) -> int:
    """The pile value that is called out."""
    if value == EMPTY or card == FROG or way == SET:
        return card
    if way == SUBTRACT:
        return max(value - card, 0)
    return value + card


@kernel
def lay_card(state: Row, seat: int, card: int) -> None:
    """Put a card from the hand on the pile; the last card of the hand takes its place."""
    last = state["hand_size"][seat] - 1
    place = 0
    while state["hand"][seat, place] != card:
        place += 1
    state["hand"][seat, place] = state["hand"][seat, last]
    state["hand"][seat, last] = UNKNOWN
    state["hand_size"][seat] = last
    state["played"][card] += 1
    state["history"][state["turn"]] = card + SEAT_STEP * seat
    state["pile"][state["pile_size"]] = card
    state["pile_size"] += 1
    state["last_player"] = seat


@kernel
def resolve_pile(state: Row, rules: Row, seat: int) -> int:
    """PIG 10 takes the pile, a bust gives it to the right neighbour; returns the taker or `NOBODY`."""
    if state["value"] < rules["target"]:
        return NOBODY
    winner = seat
    if state["value"] > rules["target"]:
        winner = seat - 1 if seat > 0 else rules["num_players"] - 1
    take_pile(state, winner)
    return winner


@kernel
def take_pile(state: Row, seat: int) -> None:
    """Lay the pile down in front of a player; the middle is empty."""
    state["taken"][seat] += state["pile_size"]
    for place in range(state["pile_size"]):
        state["pile"][place] = 0
    state["pile_size"] = 0
    state["value"] = EMPTY
    state["last_winner"] = seat


@kernel
def pass_turn(state: Row, rules: Row, winner: int) -> None:
    """The left neighbour is next (or the winner leads); seats without cards are passed over; no cards, no game."""
    players = rules["num_players"]
    seat = state["seat"] + 1
    if winner != NOBODY and rules["winner_leads"] == 1:
        seat = winner
    for _ in range(players):
        if seat >= players:
            seat = 0
        if state["hand_size"][seat] > 0:
            state["seat"] = seat
            if state["turn"] >= rules["max_turns"]:
                state["over"] = TRUNCATED
            return
        seat += 1
    state["over"] = TERMINATED
    clear_middle(state, rules)


@kernel
def clear_middle(state: Row, rules: Row) -> None:
    """The end: the cards left in the middle go to nobody, or as the option `leftover` says."""
    heir = NOBODY
    if rules["leftover"] == LEFTOVER_LAST_PLAYER:
        heir = state["last_player"]
    elif rules["leftover"] == LEFTOVER_LAST_WINNER:
        heir = state["last_winner"]
    if heir != NOBODY and state["pile_size"] > 0:
        take_pile(state, heir)


# --- scores -----------------------------------------------------------------------------------------------------------


@kernel
def scores(state: Row, rules: Row, out: np.ndarray) -> None:
    """A point for each card taken."""
    for seat in range(rules["num_players"]):
        out[seat] = state["taken"][seat]


def score_scale(rules: Rules, num_players: int) -> float:
    """One fair share of the pack."""
    return sum(rules.deck_counts) / num_players


# --- what a seat knows ------------------------------------------------------------------------------------------------


@kernel
def hide(view: Row, rules: Row, seat: int) -> None:
    """A seat knows its own hand, all that was played, and how many cards everybody holds."""
    for place in range(MAX_CARDS):
        view["pack"][place] = UNKNOWN
    if seat != ANYBODY:
        for other in range(rules["num_players"]):
            if other != seat:
                for place in range(MAX_HAND):
                    view["hand"][other, place] = UNKNOWN


@kernel
def unseen_cards(view: Row, rules: Row, value: int) -> int:
    """How many cards of a value are in no known hand and were never played."""
    count = rules["deck_counts"][value] - view["played"][value]
    for seat in range(rules["num_players"]):
        for place in range(view["hand_size"][seat]):
            if view["hand"][seat, place] == value:
                count -= 1
    return count


@kernel
def determinize(view: Row, rules: Row, key: np.uint64) -> None:
    """Shuffle the unseen cards into the unknown hands and the stock, each deal that fits being equally likely.

    Any card can always be played, so a play proves only that its card was held. But a seat that may have held two
    equal cards is a case that fewer deals lead to: whoever played a 3 is less likely to hold another one than chance
    alone would say. Drawing the unseen cards by chance finds a deal once for each way to tell apart the equal cards
    that its plays chose from; so a draw is kept with one over that number (see `fits_history`), and repeated otherwise.
    """
    size, players = rules["pack_size"], rules["num_players"]
    start = size
    for value in range(NUM_VALUES):
        for _ in range(unseen_cards(view, rules, value)):
            start -= 1
            view["pack"][start] = value
    hidden = 0  # bits: seats whose hand is unknown
    for seat in range(players):
        if view["hand_size"][seat] > 0 and view["hand"][seat, 0] == UNKNOWN:
            hidden |= 1 << seat
    counter = 0
    for _ in range(MOST_DRAWS):
        counter = draw_hands(view, players, hidden, start, size, key, counter)
        kept = True
        for seat in range(players):
            if kept and hidden & (1 << seat):
                counter, kept = fits_history(view, rules, seat, key, counter)
        if kept:
            break
    place = start
    for seat in range(players):
        if hidden & (1 << seat):
            for held in range(view["hand_size"][seat]):
                view["hand"][seat, held] = view["pack"][place]
                view["pack"][place] = UNKNOWN
                place += 1
            for held in range(view["hand_size"][seat], MAX_HAND):
                view["hand"][seat, held] = UNKNOWN
    shuffle(view["pack"], place, size, draw(key, counter))
    view["key"] = key


MOST_DRAWS: Final = 4096  # with the printed pack fewer than one draw in a million needs more


@kernel
def draw_hands(view: Row, players: int, hidden: int, start: int, size: int, key: np.uint64, counter: int) -> int:
    """Draw the unknown hands by chance from the unseen cards, which lie from `start` on; returns the next counter."""
    place = start
    for seat in range(players):
        if hidden & (1 << seat):
            for held in range(view["hand_size"][seat]):
                other = place + below(draw(key, counter), size - place)
                counter += 1
                card = view["pack"][other]
                view["pack"][other] = view["pack"][place]
                view["pack"][place] = card
                view["hand"][seat, held] = card
                place += 1
    return counter


@kernel
def fits_history(view: Row, rules: Row, seat: int, key: np.uint64, counter: int) -> tuple[int, bool]:
    """Take a drawn hand back to the deal, play by play, and decide whether the draw is kept; spends the hand.

    Before each play the card drawn after it, any of the hand by chance, goes back, and the card played returns. Where
    the hand then holds m cards equal to the one played, the draw is kept with probability 1/m.
    """
    hand, size = view["hand"][seat], view["hand_size"][seat]
    stock = rules["pack_size"] - rules["num_players"] * rules["hand_size"]
    for turn in range(view["turn"] - 1, -1, -1):
        played = view["history"][turn]
        if played // SEAT_STEP != seat:
            continue
        if turn < stock:
            size -= 1
            hand[below(draw(key, counter), size + 1)] = hand[size]
            counter += 1
        card = played % SEAT_STEP
        hand[size] = card
        size += 1
        equal = 0
        for place in range(size):
            equal += hand[place] == card
        if equal > 1:
            counter += 1
            if below(draw(key, counter - 1), equal) > 0:
                return counter, False
    return counter, True


def possible_tops(rules: Rules) -> list[int]:
    """The values that can be a pile's top card: the target's own card takes the pile, unless it is subtracted."""
    return [v for v in occurring(rules) if v < rules.target or (v == PIGMAID and rules.five_clamp)]


PILE_SIZE_CAP: Final = 20  # larger piles are rarer than one in ten thousand
PILE_SIZE_SHARE: Final = np.float32(1 / PILE_SIZE_CAP)
ONE: Final = np.float32(1)


def layout(rules: Rules, seating: Seating) -> Layout:
    """The observation: the bare table and, with memory, which cards are still unseen."""
    kinds, seats = occurring(rules), seating.max_players
    values = ", ".join(str(value) for value in kinds)
    tops = possible_tops(rules)
    parts = [
        Part("hand", len(kinds), f"own cards of value {values}; share of the hand size {rules.hand_size}"),
        Part("pile_value", rules.target + 1, f"one-hot: middle empty, then pile value 0 … {rules.target - 1}"),
        Part("pile_top", len(tops), f"one-hot: value of the card played last, {', '.join(map(str, tops))}"),
        Part("pile_size", 1, f"cards in the pile; share of {PILE_SIZE_CAP}, 1 for more"),
        Part("stock_size", 1, "cards left in the stock; share of the stock at the start"),
        Part("taken", seats, "cards taken by each seat, oneself first, clockwise; share of the pack"),
        Part("hand_size", seats, "cards held by each seat, oneself first, clockwise; share of the hand size"),
    ]
    if seating.mixed:
        parts.append(Part("num_players", seats - 1, f"one-hot: how many play, 2 … {seats}"))
    if seating.memory:
        parts.append(Part("unseen", len(kinds), f"cards of value {values} not in hand and never played; share of all"))
    return Layout(tuple(part for part in parts if part.size))


@kernel
def observe(view: Row, rules: Row, seat: int, out: np.ndarray) -> int:
    """Write the parts in the order of `layout`."""
    players, kinds, seats = rules["num_players"], rules["num_kinds"], rules["max_players"]
    for each in range(len(out)):
        out[each] = 0.0
    at = kinds
    for place in range(view["hand_size"][seat]):
        out[rules["place_of"][view["hand"][seat, place] + 1]] += ONE  # counted now, made shares of below
    out[at + view["value"] + 1] = 1.0
    at += rules["target"] + 1
    if view["value"] != EMPTY:
        out[at + rules["top_of"][view["pile"][view["pile_size"] - 1] + 1]] = 1.0
    at += rules["num_tops"]
    out[at] = min(view["pile_size"] * PILE_SIZE_SHARE, ONE)
    out[at + 1] = (rules["pack_size"] - view["dealt"]) * rules["share_of_stock"]
    at += 2
    other = seat
    for place in range(players):
        out[at + place] = view["taken"][other] * rules["share_of_pack"]
        out[at + seats + place] = view["hand_size"][other] * rules["share_of_hand"]
        other = other + 1 if other + 1 < players else 0
    at += 2 * seats
    if rules["mixed"] == 1:
        out[at + players - 2] = 1.0
        at += seats - 1
    if rules["memory"] == 1:
        for kind in range(kinds):
            value = rules["kinds"][kind]
            unseen = np.float32(rules["deck_counts"][value] - view["played"][value]) - out[kind]
            out[at + kind] = unseen * rules["share_of_kind"][kind]
        at += kinds
    for kind in range(kinds):
        out[kind] *= rules["share_of_hand"]
    return at


# --- text -------------------------------------------------------------------------------------------------------------


def read_deal(state: Row, rules: Row) -> dict[str, Any]:
    """Who begins, the hands in the order dealt, and the stock, next card first."""
    size, players = int(rules["hand_size"]), int(rules["num_players"])
    pack = [int(card) for card in state["pack"][: rules["pack_size"]]]
    return {
        "first_player": int(state["seat"]),
        "hands": [pack[seat * size : (seat + 1) * size] for seat in range(players)],
        "stock": pack[players * size :],
    }


def write_deal(state: Row, rules: Row, given: Mapping[str, Any]) -> None:
    """Lay out a deal given by hand: first player, hands and stock must make up exactly the pack."""
    size, players = int(rules["hand_size"]), int(rules["num_players"])
    if not isinstance(given, Mapping) or set(given) != {"first_player", "hands", "stock"}:
        raise DealError(f"a deal of Pig 10 has first_player, hands and stock; got {given!r}")
    first, hands, stock = given["first_player"], given["hands"], given["stock"]
    if not is_whole(first) or not 0 <= first < players:
        raise DealError(f"first_player must be a seat 0 … {players - 1}; got {first!r}")
    if not isinstance(hands, list) or [len(h) if isinstance(h, list) else -1 for h in hands] != [size] * players:
        raise DealError(f"hands must be {players} lists of {size} cards; got {hands!r}")
    if not isinstance(stock, list):
        raise DealError(f"stock must be a list of cards; got {stock!r}")
    cards = [card for hand in hands for card in hand] + stock
    pack = Counter(int(card) for card in rules["pack"][: rules["pack_size"]])
    if not all(is_whole(card) for card in cards) or Counter(cards) != pack:
        wrong = [card for card in cards if not is_whole(card)] or [
            f"{card}: {cards.count(card)} for {pack[card]}"
            for card in sorted(set(cards) | set(pack))
            if cards.count(card) != pack[card]
        ]
        raise DealError(f"hands and stock must be exactly the pack of these rules; wrong: {wrong}")
    state["pack"][: len(cards)] = cards
    state["seat"] = first
    give_hands(state, rules)


def is_whole(value: object) -> bool:
    """Whether a value from JSON is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)


# A call is at most 19: a 10 on a pile value of 9.
LOW_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
HIGH_WORDS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
NUMBER_WORDS = LOW_WORDS + HIGH_WORDS


def call_out(before: Row, after: Row, rules: Row, action: str) -> str:
    """The pile value, as the player shouts it: "seven", "ZERO", "PIG 10"; a bust by its number."""
    card, way = int(action.rstrip("-=")), WAY_TEXTS.index(action.lstrip("0123456789"))
    value = int(new_value(int(before["value"]), card, way))
    target = int(rules["target"])
    if value == target:
        return f"PIG {target}"
    return "ZERO" if value == 0 else NUMBER_WORDS[value]


def scene(view: Row, rules: Row, looking: int) -> Scene:
    """The pile and the stock in the middle, each player's hand and the number of cards taken."""
    size, players = int(rules["pack_size"]), int(rules["num_players"])
    pile = tuple(str(card) for card in view["pile"][: view["pile_size"]])
    value = int(view["value"])
    stock = (None,) * (size - int(view["dealt"]))
    zones = [Zone("pile", None, pile, "empty" if value == EMPTY else f"value {value}"), Zone("stock", None, stock)]
    for seat in range(players):
        hand = sorted(int(card) for card in view["hand"][seat, : view["hand_size"][seat]])
        zones.append(Zone("hand", seat, tuple(None if card == UNKNOWN else str(card) for card in hand)))
    return Scene(
        num_players=players,
        to_move=int(view["seat"]) if view["over"] == RUNNING else None,
        looking=looking,
        zones=tuple(zones),
        scores=tuple(float(view["taken"][seat]) for seat in range(players)),
        called="" if value == EMPTY else f"pile value {value}",
    )


DEFINITION = Definition(
    id="pig10_v0",
    name="Pig 10",
    rulebook=__doc__ or "",
    rules=Rules,
    presets=PRESETS,
    seats=lambda rules: (2, MAX_PLAYERS),
    state=STATE,
    row=RULES,
    derive=derive,
    actions=action_texts,
    layout=layout,
    score_scale=score_scale,
    deal=deal,
    legal=legal,
    step=step,
    hide=hide,
    determinize=determinize,
    observe=observe,
    scores=scores,
    read_deal=read_deal,
    write_deal=write_deal,
    call_out=call_out,
    scene=scene,
)
