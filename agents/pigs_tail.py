"""Players of Pig's Tail, weakest first: what each thinks an action is worth.

A player looks at what it may know (all hands, the pile, what the ring still holds), gives every legal action a worth,
in cards that it will hold less, and takes the best; chance decides among the equally good. Where most cards win, all
worths are turned round.

    flipper   always flips, and waits where cards are slapped.
    tidy      plays a safe hand card whenever it can, any of them, and returns its hand where it may.
    counting  weighs the chance of a pick-up, and leaves the next seat a card that its hand cannot follow; it flips to
              end a game that it leads.
    reflex    as counting; where cards are slapped it anticipates when, by the reaction figures, that costs less.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from pigenv.game import Act
from pigenv.games.pigs_tail import (
    ANTICIPATE,
    COMMIT,
    EMPTY,
    FLIP,
    FLIPS,
    FOUL_TAKE,
    HAND_PLAY_OFF,
    NAME_SUIT,
    NAMED,
    NO_CARD,
    PLAY,
    TAKER_SLOWEST,
    WAIT,
    hand_cards_allowed,
    may_slap,
    next_seat,
    pickups_left,
    top_of,
)
from pigenv.kernel import Row, below, draw, kernel, specialize

__all__ = ["PLAYERS"]

# --- choosing ---------------------------------------------------------------------------------------------------------


def worth(view: Row, rules: Row, action: int) -> float:
    """What an action is worth: each player has its own (see `player`)."""
    raise NotImplementedError


def best_action(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    """The legal action of greatest worth (least, where most cards win), each of the equally good equally likely."""
    sign = 1.0 if rules["lowest_wins"] == 1 else -1.0
    best, best_worth, equals = -1, -np.inf, 0
    for action in range(len(mask)):
        if mask[action] == 1:
            here = sign * worth(view, rules, action)
            if here > best_worth:
                best, best_worth, equals = action, here, 1
            elif here == best_worth:
                # The k-th of the equals replaces the one before with probability 1/k: all end up equally likely.
                equals += 1
                if below(draw(key, equals), equals) == 0:
                    best = action
    return best


def player(name: str, its_worth: Callable[[Row, Row, int], float]) -> Act:
    """The player that goes by a worth of its own."""
    act: Act = specialize(best_action, {"worth": its_worth}, f"pigs_tail/{name}")
    return act


# --- flipper ----------------------------------------------------------------------------------------------------------


@kernel
def flipper(view: Row, rules: Row, action: int) -> float:
    """To flip and to wait, whoever wins by it."""
    quiet = action == FLIP if view["phase"] == PLAY else action == rules["commit_at"]
    return lowest_sign(rules) if quiet else 0.0


@kernel
def lowest_sign(rules: Row) -> float:
    """1 where fewest cards win, −1 where most do."""
    return 1.0 if rules["lowest_wins"] == 1 else -1.0


# --- tidy -------------------------------------------------------------------------------------------------------------


@kernel
def tidy(view: Row, rules: Row, action: int) -> float:
    """A safe card leaves the hand, a pick-up brings cards back, a flip may do either."""
    phase = view["phase"]
    if phase == PLAY:
        if action == FLIP:
            return 0.0
        return 1.0 if rules["pickup"][top_of(view), action - rules["play_at"]] == 0 else -1.0
    if phase == COMMIT:
        return lowest_sign(rules) if action == rules["commit_at"] else 0.0
    if phase == NAME_SUIT:
        return 0.0
    return 0.0 if action == rules["keep_at"] else 1.0


# --- counting ---------------------------------------------------------------------------------------------------------

# Found by matches on duplicate deals against `tidy`; but for the second they hardly matter within a factor of two.
ALIKE_COUNTS: Final = 0.2  # each own card that the played one matches: what is kept should differ
TEMPO_COUNTS: Final = 25.0  # the last ring card, for the seat that leads; earlier ones in proportion
RISK_COUNTS: Final = 0.3  # a card that a flip may bring, beside one that is got rid of
LAST_COUNTS: Final = 100.0  # to end the game as its winner, or not


@kernel
def counting(view: Row, rules: Row, action: int) -> float:
    """Cards got rid of, less cards taken, and what the next seat will probably make of what it is left."""
    phase, pile = view["phase"], view["pile_size"]
    if phase == PLAY:
        if action == FLIP:
            return worth_of_flip(view, rules)
        return worth_of_card(view, rules, action - rules["play_at"])
    if phase == COMMIT:
        return lowest_sign(rules) if action == rules["commit_at"] else 0.0
    if phase == NAME_SUIT:
        return prospects(view, rules, NAMED + action - rules["suit_at"], pile)
    if action == rules["keep_at"]:
        return prospects(view, rules, rules["joker"], pile)
    held = view["hand_size"][view["mover"]]
    return held + prospects(view, rules, action - rules["keep_at"] - 1, pile + held)


@kernel
def worth_of_card(view: Row, rules: Row, card: int) -> float:
    """A safe card is one less; a pick-up brings the pile with it."""
    seat, pile = view["mover"], view["pile_size"]
    if rules["pickup"][top_of(view), card] == 1:
        return -float(pile) + prospects(view, rules, EMPTY, 0)
    alike = 0
    for kind in range(rules["num_kinds"]):
        alike += (view["held"][seat, kind] > 0) & (rules["pickup"][card, kind] == 1)
    return 1.0 + prospects(view, rules, card, pile + 1) + ALIKE_COUNTS * alike


@kernel
def worth_of_flip(view: Row, rules: Row) -> float:
    """The mean over the cards that the ring still holds."""
    top, pile, left = top_of(view), view["pile_size"], rules["pack_size"] - view["flipped"]
    if left == 1:
        taken = pile + 1 if pickups_left(view, rules) == 1 else 0
        return LAST_COUNTS * lead(view, rules, taken)
    total = 0.0
    after_pickup = prospects(view, rules, EMPTY, 0) - RISK_COUNTS * (pile + 1)
    for card in range(rules["num_kinds"]):
        count = view["in_ring"][card]
        if count > 0:
            if rules["pickup"][top, card] == 1:
                total += count * after_pickup
            else:
                total += count * prospects(view, rules, card, pile + 1)
    return total / left + TEMPO_COUNTS * lead(view, rules, 0) / left


@kernel
def prospects(view: Row, rules: Row, top: int, pile: int) -> float:
    """What it brings to leave the next seat this top on so large a pile."""
    following = next_seat(rules, view["mover"])
    if rules["hand_play"] != HAND_PLAY_OFF and can_follow(view, rules, following, top):
        return 0.0
    left = rules["pack_size"] - view["flipped"]
    if left == 0:
        return 0.0
    matching = 0
    for kind in range(rules["num_kinds"]):
        matching += view["in_ring"][kind] * rules["pickup"][top, kind]
    return matching / left * (pile + 1)


@kernel
def can_follow(view: Row, rules: Row, seat: int, top: int) -> bool:
    """Whether a seat holds a card that is no pick-up on a top."""
    found = 0
    for kind in range(rules["num_kinds"]):
        found += (view["held"][seat, kind] > 0) & (rules["pickup"][top, kind] == 0)
    return found > 0


@kernel
def lead(view: Row, rules: Row, taken: int) -> float:
    """1 where the mover, with so many cards more, holds fewest; −1 where another does; 0 where they share the least."""
    seat, least = view["mover"], 1 << 20
    own = view["points"][seat] + view["hand_size"][seat] + taken
    for other in range(rules["num_players"]):
        if other != seat:
            least = min(least, view["points"][other] + view["hand_size"][other])
    return 1.0 if own < least else -1.0 if own > least else 0.0


# --- reflex -----------------------------------------------------------------------------------------------------------

HAND_CARD_CHANCE: Final = 0.5  # that a mover who may lay a hand card does, for those who cannot know
TURN_COUNTS: Final = 0.25  # a turn that must be sat out, in cards
STEPS: Final = 32  # points at which the distribution of one's own time is looked at


@kernel
def reflex(view: Row, rules: Row, action: int) -> float:
    """As counting; of waiting and anticipating, what is likely to cost fewer cards, the others waiting."""
    if view["phase"] != COMMIT:
        return counting(view, rules, action)
    level = WAIT if action == rules["commit_at"] else ANTICIPATE
    chance, cards = chance_of_reason(view, rules), view["pile_size"] + 1
    cost = chance * chance_to_take(view, rules, view["seat"], level) * cards
    if level == ANTICIPATE:
        foul = cards if rules["foul"] == FOUL_TAKE else TURN_COUNTS
        cost += (1.0 - chance) * foul
    return -cost


@kernel
def chance_of_reason(view: Row, rules: Row) -> float:
    """Probability that the card about to be shown is a pick-up, as far as the seat can know."""
    left = rules["pack_size"] - view["flipped"]
    chance = pickups_left(view, rules) / left
    if view["seat"] == view["mover"]:
        decision = view["decision"]
        return chance if decision == FLIPS else float(rules["pickup"][top_of(view), decision])
    # A hand card is hardly ever a pick-up.
    return chance if hand_cards_allowed(view, rules) == NO_CARD else chance * HAND_CARD_CHANCE


@kernel
def chance_to_take(view: Row, rules: Row, seat: int, level: int) -> float:
    """Probability that a seat that reacts so takes the pile, all others waiting.

    The mean, over equally likely times of its own, of the probability that all others are faster (or slower).
    """
    if not may_slap(view, rules, seat):
        return 0.0
    deviation = max(float(rules["reaction_std_ms"]), 1.0)
    own = mean_time(view, rules, seat, level)
    total = 0.0
    for each in range(STEPS):
        time = own + deviation * normal_quantile((each + 0.5) / STEPS)
        chance = 1.0
        for other in range(rules["num_players"]):
            if other != seat and may_slap(view, rules, other):
                faster = 0.5 * math.erfc((mean_time(view, rules, other, WAIT) - time) / (deviation * math.sqrt(2.0)))
                chance *= faster if rules["taker"] == TAKER_SLOWEST else 1.0 - faster
        total += chance
    return total / STEPS


@kernel
def mean_time(view: Row, rules: Row, seat: int, level: int) -> float:
    """A seat's mean reaction in milliseconds."""
    mean = rules["wait_ms"] if level == WAIT else rules["anticipate_ms"]
    if seat == view["mover"]:
        mean += rules["flipper_delay_ms"]
    return float(mean)


@kernel
def normal_quantile(share: float) -> float:
    """The standard normal quantile by the logistic approximation, close enough for a mean over all of them."""
    return math.log(share / (1.0 - share)) / LOGISTIC


LOGISTIC: Final = 1.702  # with which the logistic distribution function is nowhere 0.01 from the normal one

PLAYERS: Final[dict[str, Act]] = {
    "flipper": player("flipper", flipper),
    "tidy": player("tidy", tidy),
    "counting": player("counting", counting),
    "reflex": player("reflex", reflex),
}
"""The players by name, weakest first."""
