"""Three hand-written players of Pig 10, each better than the one before it.

All look only at a view: the own hand, what was played, the pile, how many cards everybody holds.

    greedy    makes ten if it can, else does not bust, else plays anything.
    careful   also leaves the next seat the least chance of ten, by counting the cards it has not seen.
    counting  weighs the cards that each way to play is expected to win and to give away until it is its turn again.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pigenv.game import Act
from pigenv.games.pig10 import (
    EMPTY,
    FROG,
    MAY_SET,
    MAY_SUBTRACT,
    NUM_VALUES,
    PIGMAID,
    new_value,
    unseen_cards,
)
from pigenv.kernel import Row, below, draw, kernel

__all__ = ["PLAYERS", "careful", "counting", "greedy"]

NEVER: Final = -1e9
CLOSE: Final = 1e-9  # values this near are equal, whatever rounding did

# What `counting` holds for true of the play after the next seat's. Found by matches on duplicate deals at 2 to 6 seats;
# the results hardly change within a fifth of these values.
RIVAL_SHARE: Final = 0.5  # what a card in another's heap costs, in cards of one's own
LATER_LOSS: Final = 0.15  # chance that a seat after the next takes a pile that the next one left
FROG_KEPT: Final = 0.6  # what holding a card on for later is worth, in cards: it is always safe to play
PIGMAID_KEPT: Final = 0.3  # it can go up or down
LOW_KEPT: Final = 0.04  # for each point below five: low cards rarely bust
HIGH_KEPT: Final = -0.02  # for each point above five


@kernel
def greedy(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    """Ten if possible, else no bust, else anything; chance among equals."""
    best, count, chosen = NEVER, 0, -1
    for action in range(len(mask)):
        if mask[action] == 1:
            value = called(view, rules, action)
            worth = 2.0 if value == rules["target"] else 1.0 if value < rules["target"] else 0.0
            best, count, chosen = keep_best(worth, action, best, count, chosen, key)
    return chosen


@kernel
def careful(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    """As greedy; among the plays that leave the pile, the one after which the next seat least likely makes ten."""
    best, count, chosen = NEVER, 0, -1
    for action in range(len(mask)):
        if mask[action] == 1:
            value = called(view, rules, action)
            if value == rules["target"]:
                worth = 2.0
            elif value < rules["target"]:
                worth = 1.0 - chance_to_hold(view, rules, rules["target"] - value)
            else:
                worth = -1.0
            best, count, chosen = keep_best(worth, action, best, count, chosen, key)
    return chosen


@kernel
def counting(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    """The play with the most cards expected, won less given away, and the best cards kept."""
    best, count, chosen = NEVER, 0, -1
    for action in range(len(mask)):
        if mask[action] == 1:
            worth = expected_cards(view, rules, action) - kept(rules["action_card"][action])
            best, count, chosen = keep_best(worth, action, best, count, chosen, key)
    return chosen


# --- what the players count -------------------------------------------------------------------------------------------


@kernel
def called(view: Row, rules: Row, action: int) -> int:
    """The pile value that an action calls."""
    return new_value(view["value"], rules["action_card"][action], rules["action_way"][action])


@kernel
def keep_best(
    worth: float, action: int, best: float, count: int, chosen: int, key: np.uint64
) -> tuple[float, int, int]:
    """The best worth so far, how many share it, and one of them, each equally likely."""
    if worth > best + CLOSE:
        return worth, 1, action
    if worth < best - CLOSE:
        return best, count, chosen
    count += 1
    if below(draw(key, action), count) == 0:
        chosen = action
    return best, count, chosen


@kernel
def next_hand(view: Row, rules: Row) -> int:
    """How many cards the next seat holds."""
    seat = view["seat"] + 1
    return view["hand_size"][seat if seat < rules["num_players"] else 0]


@kernel
def all_unseen(view: Row, rules: Row) -> int:
    """How many cards are in others' hands and in the stock."""
    total = 0
    for value in range(NUM_VALUES):
        total += unseen_cards(view, rules, value)
    return total


@kernel
def chance_none(special: int, total: int, drawn: int) -> float:
    """Chance that none of `special` cards is among `drawn` of `total` (hypergeometric)."""
    chance = 1.0
    for card in range(drawn):
        if total - card <= 0:
            return chance
        chance *= max(total - special - card, 0) / (total - card)
    return chance


@kernel
def chance_to_hold(view: Row, rules: Row, card: int) -> float:
    """Chance that the next seat holds a card of this value."""
    if card < 0 or card >= NUM_VALUES:
        return 0.0
    return 1.0 - chance_none(unseen_cards(view, rules, card), all_unseen(view, rules), next_hand(view, rules))


@kernel
def chance_to_bust(view: Row, rules: Row, value: int, top: int) -> float:
    """Chance that each card of the next seat goes beyond the target, whatever way it is played."""
    harmless, total = 0, 0
    for card in range(NUM_VALUES):
        unseen = unseen_cards(view, rules, card)
        total += unseen
        ways = rules["ways"][value + 1, top + 1, card]
        if card == FROG or value + card <= rules["target"] or ways & MAY_SET or ways & MAY_SUBTRACT:
            harmless += unseen
    hand = next_hand(view, rules)
    return chance_none(harmless, total, hand) if hand > 0 else 0.0


@kernel
def expected_cards(view: Row, rules: Row, action: int) -> float:
    """Cards won less cards given away, now and by the seats that follow."""
    value, size = called(view, rules, action), view["pile_size"] + 1
    if value == rules["target"]:
        return size
    if value > rules["target"]:
        return -RIVAL_SHARE * size
    top = rules["action_card"][action]
    lost = chance_to_hold(view, rules, rules["target"] - value)
    won = chance_to_bust(view, rules, value, top)
    later = (1.0 - lost - won) * LATER_LOSS * (rules["num_players"] - 2)
    return (won - RIVAL_SHARE * (lost + later)) * (size + 1)


@kernel
def kept(card: int) -> float:
    """What is given up by playing a card now instead of later."""
    if card == FROG:
        return FROG_KEPT
    if card == PIGMAID:
        return PIGMAID_KEPT
    return LOW_KEPT * (PIGMAID - card) if card < PIGMAID else HIGH_KEPT * (card - PIGMAID)


PLAYERS: Final[dict[str, Act]] = {"greedy": greedy, "careful": careful, "counting": counting}
"""Weakest first."""
