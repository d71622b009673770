"""Pig's Tail: turn over the ring's cards; one that matches the card before it brings you the whole pile.

The children's game ぶたのしっぽ (Buta no Shippo, also ぶたのけつ, ドーナツ), for 2 to 6 players and a pack of 52
cards, or two packs and up to 12 players.

Course of the game. All cards lie face down in a ring; nobody holds any. In turn, clockwise, a player flips a card of
the ring onto the pile in the middle, or plays a card from hand. When the last card of the ring has been flipped and
dealt with, whoever holds fewest cards wins.

    Pick-up      a card of the same suit or the same rank as the card it covers: its player takes the whole pile,
                 that card included. The next player begins a new pile; on the empty middle nothing matches.
    Hand         instead of flipping, a player may play a hand card that is no pick-up.
    Jokers       (option) by their role: always a pick-up; or their player names the suit that the next card is
                 compared with; or puts the whole hand back on the pile; or, in attack, always a reason to slap.
    Attack       (option) no player takes a pick-up alone: all slap the pile, and the slowest takes it. Who slaps
                 without a reason takes it instead (or loses a turn).
    Trigger      (option) fixed ranks are the pick-up, whatever they cover: 7-5-3, or Ikkyu's 1-9-3.

Reactions are a model: before a card is shown, each player commits to *wait* (slow, but slaps only with a reason) or to
*anticipate* (fast, and slaps whatever comes).

Where tables differ, the default here and the option that changes it: what matches (`match`, `trigger`); hand cards may
be played, not must (`hand_play`); a matching hand card may not be played (`allow_matching_hand_play`); chance picks
the first player (`first_player`), in later rounds it is the left neighbour of the last one; the left neighbour of
whoever laid a card is next, whoever took the pile; leftover cards in the middle belong to nobody; equal hands share
the place. A joker on top matches nothing, except as a suit was named for it, and that holds for the next card only.

By these rules alone a round of one pack ends within 52 + (1 + … + 51) = 1,378 turns: a hand card played lowers the
cards held, and only a flip can raise them. Where matching cards are played from hand, or a foul takes back what was
played, only `max_turns` is sure to end it.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
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

RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"
SUIT_NAMES: Final = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
RED: Final = "DH"
JOKER_TEXT: Final = "X"

ONE_PACK_PLAYERS: Final = 6
MAX_PLAYERS: Final = 12
MAX_KINDS: Final = len(RANKS) * len(SUITS) + 1  # the joker is a kind
MAX_CARDS: Final = 2 * (len(RANKS) * len(SUITS) + 2)

MATCH = ("suit_or_rank", "suit", "color_or_rank", "rank", "color")
HAND_PLAY = ("optional", "off", "forced")
HAND_PLAY_OFF, HAND_PLAY_FORCED = 1, 2
FORCED_FALLBACK = ("play", "flip")
FALLBACK_PLAY = 0
JOKER_ROLE = ("pickup", "choose_suit", "return_hand", "attack")
ROLE_CHOOSE_SUIT, ROLE_RETURN_HAND = 1, 2
TRIGGER = ("match", "753", "193")
TAKER = ("slowest", "fastest")
TAKER_SLOWEST = 0
FOUL = ("take", "skip")
FOUL_TAKE = 0
LONGEST_MS: Final = 10_000


@dataclass(frozen=True)
class Rules(AnyRules):
    """The options of Pig's Tail."""

    match: str = option("suit_or_rank", "What of a card must equal the card it covers to be a pick-up.", choices=MATCH)
    hand_play: str = option("optional", "Whether hand cards may, never or must be played.", choices=HAND_PLAY)
    forced_fallback: str = option(
        "play", "With hand_play forced and no safe card: play one all the same, or flip.", choices=FORCED_FALLBACK
    )
    allow_matching_hand_play: bool = option(False, "A hand card that is a pick-up may be played, and is one.")
    first_player: str | int = option("random", "Who begins.", choices=("random",), low=0, high=MAX_PLAYERS - 1)
    num_decks: int = option(1, "Packs mixed together; two allow up to twelve players.", low=1, high=2)
    ranks: str = option(RANKS, "The ranks that a pack has.", letters=RANKS)
    suits: str = option(SUITS, "The suits that a pack has.", letters=SUITS)
    num_jokers: int = option(0, "Jokers in a pack.", low=0, high=2)
    joker_role: str = option("pickup", "What a joker does.", choices=JOKER_ROLE)
    attack: bool = option(False, "A pick-up is slapped for by all players.")
    trigger: str = option(
        "match", "What a pick-up is: a card that matches, or one of these ranks.", choices=TRIGGER, letters="1" + RANKS
    )
    taker: str = option("slowest", "Who takes the pile when all slap.", choices=TAKER)
    foul: str = option("take", "Who slaps without a reason takes the pile, or loses a turn.", choices=FOUL)
    multi_foul: str = option("earliest", "Of several who slap without a reason, who takes.", choices=("earliest",))
    flipper_slaps: bool = option(True, "Whoever lays the card slaps too, after drawing back the hand.")
    flipper_delay_ms: int = option(150, "How much later that is, in milliseconds.", low=0, high=LONGEST_MS)
    wait_ms: int = option(450, "Mean reaction of a player who waits, in milliseconds.", low=0, high=LONGEST_MS)
    anticipate_ms: int = option(200, "Mean reaction of one who anticipates.", low=0, high=LONGEST_MS)
    reaction_std_ms: int = option(80, "Standard deviation of reactions.", low=0, high=1_000)
    rounds: int = option(1, "Rounds in a match; scores are added up.", low=1, high=100)
    most_wins: bool = option(False, "Most cards win, as some children play it.")
    tie_break: str = option("shared", "Equal scores share the place.", choices=("shared",))
    max_turns: int = option(6000, "Turns after which a round is cut short, scored as it stands.", low=1, high=30_000)

    def check(self) -> None:
        if self.joker_role == "attack" and not self.attack:
            raise OptionError("joker_role 'attack' is a reason to slap, and nobody slaps without attack; set attack")

    def check_seats(self, num_players: int) -> None:
        if not isinstance(self.first_player, str) and self.first_player >= num_players:
            raise OptionError(f"first_player must be 'random' or 0 … {num_players - 1}; got {self.first_player}")


ATTACK: Final = {"attack": True, "hand_play": "off"}
PRESETS = {
    "standard": Preset(4, "One pack; same suit or same rank is a pick-up."),
    "suit": Preset(4, "Same suit alone is a pick-up: larger piles.", {"match": "suit"}),
    "color": Preset(4, "Same colour or same rank is a pick-up: many small piles.", {"match": "color_or_rank"}),
    "flip_only": Preset(4, "No hand cards are played: a short game of luck.", {"hand_play": "off"}),
    "attack": Preset(4, "All slap when a card matches; the slowest takes the pile.", ATTACK),
    "attack_753": Preset(4, "All slap at each 7, 5 and 3.", {**ATTACK, "trigger": "753"}),
    "attack_193": Preset(4, "All slap at each ace, 9 and 3 (Ikkyu-san).", {**ATTACK, "trigger": "193"}),
    "two_decks": Preset(6, "Two packs, for many players.", {"num_decks": 2}),
    "jokers": Preset(4, "Two jokers, which are always a pick-up.", {"num_jokers": 2}),
    "mini": Preset(
        2,
        "Small enough to be solved exactly: 33,121 histories, from the root through 2 x 720 deals to every end.",
        {"ranks": "A23", "suits": "CD"},
    ),
    "small": Preset(3, "Learned in seconds: sixteen cards.", {"ranks": "A234"}),
}


def seats(rules: Rules) -> tuple[int, int]:
    """One pack is enough for six."""
    return 2, ONE_PACK_PLAYERS * rules.num_decks


# --- cards ------------------------------------------------------------------------------------------------------------


def kinds_of(rules: Rules) -> list[str]:
    """The cards that differ, in the order of their texts; a card's place here is its number, the joker's the last."""
    kinds = [rank + suit for rank in rules.ranks for suit in rules.suits]
    return sorted(kinds) + [JOKER_TEXT] * (rules.num_jokers > 0)


def copies_of(rules: Rules, kind: str) -> int:
    """How many cards of a kind there are."""
    return rules.num_decks * (rules.num_jokers if kind == JOKER_TEXT else 1)


def possible_tops(rules: Rules) -> list[str]:
    """The cards that can lie on top when a turn begins: not those always taken at once, unless they were returned."""
    kinds = kinds_of(rules)
    returned = kinds if asks(rules) == "return_hand" else []
    return [kind for kind in kinds if kind in returned or not is_pickup(rules, kind, "")]


def asks(rules: Rules) -> str:
    """What a joker asks for in this game: "choose_suit", "return_hand" or nothing."""
    return rules.joker_role if rules.num_jokers and rules.joker_role in ("choose_suit", "return_hand") else ""


def possible_phases(rules: Rules) -> list[int]:
    """The phases that a turn can have."""
    extra = {COMMIT: rules.attack, NAME_SUIT: asks(rules) == "choose_suit", RETURN: asks(rules) == "return_hand"}
    return [PLAY, *(phase for phase, there in extra.items() if there)]


def is_pickup(rules: Rules, card: str, top: str) -> bool:
    """Whether a card is a pick-up on this top: a card, "" for the empty middle, or "X" and the suit named for it."""
    if card == JOKER_TEXT:
        return rules.joker_role in ("pickup", "attack")
    rank, suit = card[0], card[1]
    if rules.trigger != "match":
        return rank in rules.trigger.replace("1", "A")
    if not top or top == JOKER_TEXT:
        return False
    if top[0] == JOKER_TEXT:
        return suit == top[1]
    same = {"suit": suit == top[1], "rank": rank == top[0], "color": (suit in RED) == (top[1] in RED)}
    return any(same[each] for each in rules.match.split("_or_"))


# --- state ------------------------------------------------------------------------------------------------------------

UNKNOWN: Final = -1  # a card or a choice that whoever looks has not seen; also a place without a card
NOBODY: Final = -1
NO_SUIT: Final = -1
NO_SLAP: Final = -1

PLAY, COMMIT, NAME_SUIT, RETURN = range(4)  # phases
PHASES: Final = ("lay a card", "commit", "name a suit", "return the hand")
UNDECIDED: Final = -2
FLIPS: Final = -3  # a decision; others are the card played from hand
OPEN, WAIT, ANTICIPATE = range(3)  # commitments

STATE = state_dtype(
    [
        ("held", np.int8, (MAX_PLAYERS, MAX_KINDS)),  # how many of each kind a seat holds; public
        ("hand_size", np.int8, (MAX_PLAYERS,)),
        ("in_ring", np.int8, (MAX_KINDS,)),  # how many of each kind still lie in the ring; public
        # The pile from place 0 on, bottom to top; from `flipped` on the ring, in the order its cards are flipped. What
        # lies on the pile was flipped once, so there is room for both, and UNKNOWN between them.
        ("cards", np.int8, (MAX_CARDS,)),
        ("flipped", np.int8),  # how many were; cards[flipped] is the next
        ("pile_size", np.int8),
        ("named", np.int8),  # suit that the next card is compared with, or NO_SUIT
        ("phase", np.int8),
        ("mover", np.int8),  # whose turn it is; `seat` is whose decision
        ("first_player", np.int8),  # who began this round
        ("decision", np.int8),  # what the mover does, before it is shown: a card, FLIPS or UNDECIDED
        ("commitment", np.int8, (MAX_PLAYERS,)),  # by seat
        ("owed", np.int16, (MAX_PLAYERS,)),  # turns that a seat must sit out
        ("points", np.int16, (MAX_PLAYERS,)),  # cards held at the end of the rounds done
        # What the last step brought to light.
        ("slapped", np.int8),  # 1: it showed a card that could be slapped, at the times of `reaction`
        ("reaction", np.int16, (MAX_PLAYERS,)),  # in milliseconds, or NO_SLAP
        ("given", np.int8),  # 1: `reaction` holds the times of the slaps to come, not drawn but given
        ("taker", np.int8),  # the seat that took the pile in it, or NOBODY
    ]
)

EMPTY: Final = MAX_KINDS  # as a top: nothing lies there
NAMED: Final = MAX_KINDS + 1  # as a top: a joker with suit 0 named for it; other suits follow
NUM_TOPS: Final = NAMED + len(SUITS)

RULES = rules_dtype(
    Rules,
    [
        ("pack", np.int8, (MAX_CARDS,)),  # the cards before shuffling
        ("pack_size", np.int16),
        ("num_kinds", np.int16),  # uncompiled, what is counted in it must fit: the length of an observation
        ("num_suits", np.int32),
        ("joker", np.int8),  # the joker's kind, or −1
        ("letters", np.uint8, (MAX_KINDS, 2)),  # each kind's text
        ("suit_letters", np.uint8, (len(SUITS),)),
        ("copies", np.int8, (MAX_KINDS,)),
        ("pickup", np.int8, (NUM_TOPS, MAX_KINDS)),  # 1: this card is a pick-up on this top
        # Where groups of actions begin, −1 where there are none; 0 is to flip.
        ("play_at", np.int16),
        ("suit_at", np.int16),
        ("keep_at", np.int16),
        ("commit_at", np.int16),
        # Places in the observation, −1 for what never is.
        ("place_of_top", np.int8, (MAX_KINDS,)),
        ("num_tops", np.int32),
        ("place_of_phase", np.int8, (len(PHASES),)),
        ("num_phases", np.int32),
        ("share_of_kind", np.float32, (MAX_KINDS,)),  # 1 / copies: to multiply is faster than to divide
        ("share_of_pack", np.float32),
    ],
)


def derive(rules: Rules, num_players: int) -> dict[str, Any]:
    """The row's derived fields."""
    kinds, tops, phases = kinds_of(rules), possible_tops(rules), possible_phases(rules)
    copies = [copies_of(rules, kind) for kind in kinds]
    pack = [number for number, count in enumerate(copies) for _ in range(count)]
    groups, at = {}, 1
    for name, texts in action_groups(rules).items():
        groups[name] = at if texts else -1
        at += len(texts)
    return {
        "pack": np.pad(pack, (0, MAX_CARDS - len(pack)), constant_values=UNKNOWN),
        "pack_size": len(pack),
        "num_kinds": len(kinds),
        "num_suits": len(rules.suits),
        "joker": len(kinds) - 1 if rules.num_jokers else -1,
        "letters": [[*kind.encode().ljust(2, b"\0")] for kind in kinds] + [[0, 0]] * (MAX_KINDS - len(kinds)),
        "suit_letters": np.pad([*rules.suits.encode()], (0, len(SUITS) - len(rules.suits))),
        "copies": np.pad(copies, (0, MAX_KINDS - len(copies))),
        "pickup": pickup_table(rules),
        **groups,
        "place_of_top": [tops.index(kind) if kind in tops else -1 for kind in kinds] + [-1] * (MAX_KINDS - len(kinds)),
        "num_tops": len(tops),
        "place_of_phase": [phases.index(each) if each in phases else -1 for each in range(len(PHASES))],
        "num_phases": len(phases),
        "share_of_kind": np.pad([1 / count for count in copies], (0, MAX_KINDS - len(copies))),
        "share_of_pack": 1 / len(pack),
    }


def pickup_table(rules: Rules) -> np.ndarray:
    """`is_pickup` by number of the top and of the card."""
    kinds = kinds_of(rules)
    tops = dict(enumerate(kinds)) | {EMPTY: ""}
    tops |= {NAMED + number: JOKER_TEXT + suit for number, suit in enumerate(rules.suits)}
    table = np.zeros((NUM_TOPS, MAX_KINDS), np.int8)
    for top, text in tops.items():
        table[top, : len(kinds)] = [is_pickup(rules, kind, text) for kind in kinds]
    return table


# --- deal -------------------------------------------------------------------------------------------------------------


@kernel
def deal(state: Row, rules: Row) -> None:
    """Lay out the ring; in the first round chance or the rules say who begins, then the left neighbour of the last."""
    key = draw(state["key"], state["round"])
    if state["round"] > 0:
        state["first_player"] = next_seat(rules, state["first_player"])
    elif rules["first_player"] < 0:
        state["first_player"] = below(draw(key, 0), rules["num_players"])
    else:
        state["first_player"] = rules["first_player"]
    if state["round"] == 0:
        # Later rounds keep what the last step of the round before brought to light.
        state["taker"] = NOBODY
        for seat in range(MAX_PLAYERS):
            state["reaction"][seat] = NO_SLAP
    for place in range(MAX_CARDS):
        state["cards"][place] = rules["pack"][place]
    shuffle(state["cards"], 0, rules["pack_size"], key)
    clear_table(state, rules)
    begin_turn(state, state["first_player"])


@kernel
def clear_table(state: Row, rules: Row) -> None:
    """The whole ring is face down, nobody holds a card, nothing lies in the middle, no turn is owed."""
    for seat in range(MAX_PLAYERS):
        state["hand_size"][seat] = 0
        state["owed"][seat] = 0
        for kind in range(MAX_KINDS):
            state["held"][seat, kind] = 0
    for kind in range(MAX_KINDS):
        state["in_ring"][kind] = rules["copies"][kind]
    state["flipped"] = 0
    state["pile_size"] = 0
    state["named"] = NO_SUIT
    state["turn"] = 0


@kernel
def begin_turn(state: Row, seat: int) -> None:
    """It is a seat's turn: nothing is decided yet."""
    state["mover"] = seat
    state["seat"] = seat
    state["phase"] = PLAY
    state["decision"] = UNDECIDED
    for each in range(MAX_PLAYERS):
        state["commitment"][each] = OPEN


@kernel
def next_seat(rules: Row, seat: int) -> int:
    """The left neighbour."""
    return seat + 1 if seat + 1 < rules["num_players"] else 0


# --- legal actions ----------------------------------------------------------------------------------------------------

FLIP: Final = 0


def action_groups(rules: Rules) -> dict[str, list[str]]:
    """The texts of all actions but to flip, by the row's field that says where they begin."""
    kinds = kinds_of(rules)
    return {
        "play_at": kinds if rules.hand_play != "off" else [],
        "suit_at": [f"suit {suit}" for suit in rules.suits] if asks(rules) == "choose_suit" else [],
        "keep_at": ["keep", *(f"return {kind}" for kind in kinds)] if asks(rules) == "return_hand" else [],
        "commit_at": ["wait", "anticipate"] if rules.attack else [],
    }


def action_texts(rules: Rules, max_players: int) -> list[str]:
    """`flip` turns a ring card, `9H` plays it from hand; `suit S`, `return 9H`, `keep`, `wait`, `anticipate` decide."""
    return ["flip", *(text for group in action_groups(rules).values() for text in group)]


@kernel
def legal(state: Row, rules: Row, mask: np.ndarray) -> int:
    """What the phase asks the seat for."""
    for action in range(len(mask)):
        mask[action] = 0
    phase = state["phase"]
    if phase == PLAY:
        return legal_plays(state, rules, mask)
    if phase == COMMIT:
        mask[rules["commit_at"]] = 1
        if not may_slap(state, rules, state["seat"]):
            return 1
        mask[rules["commit_at"] + 1] = 1
        return 2
    if phase == NAME_SUIT:
        for suit in range(rules["num_suits"]):
            mask[rules["suit_at"] + suit] = 1
        return rules["num_suits"]
    return legal_returns(state, rules, mask)


@kernel
def legal_plays(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Flip, or play one of the hand cards that are allowed."""
    allowed = hand_cards_allowed(state, rules)
    count = 0
    if may_flip(rules, allowed):
        mask[FLIP] = 1
        count = 1
    if allowed == NO_CARD:
        return count
    seat, top, at = state["mover"], top_of(state), rules["play_at"]
    safe_only = 1 if allowed == SAFE_CARDS else 0
    for kind in range(rules["num_kinds"]):
        fits = (state["held"][seat, kind] > 0) & (rules["pickup"][top, kind] * safe_only == 0)
        mask[at + kind] = fits
        count += fits
    return count


NO_CARD, SAFE_CARDS, ANY_CARD = range(3)


@kernel
def hand_cards_allowed(state: Row, rules: Row) -> int:
    """Which cards the mover may play from hand: none, those that are no pick-up, or any."""
    seat = state["mover"]
    if rules["hand_play"] == HAND_PLAY_OFF or state["hand_size"][seat] == 0:
        return NO_CARD
    if rules["allow_matching_hand_play"] == 1:
        return ANY_CARD
    if rules["hand_play"] == HAND_PLAY_FORCED and num_safe(state, rules, seat) == 0:
        return ANY_CARD if rules["forced_fallback"] == FALLBACK_PLAY else NO_CARD
    return SAFE_CARDS


@kernel
def may_flip(rules: Row, allowed: int) -> bool:
    """Where hand cards must be played, only who has none to play may flip."""
    return rules["hand_play"] != HAND_PLAY_FORCED or allowed == NO_CARD


@kernel
def num_safe(state: Row, rules: Row, seat: int) -> int:
    """How many kinds in a seat's hand are no pick-up now."""
    top, count = top_of(state), 0
    for kind in range(rules["num_kinds"]):
        count += (state["held"][seat, kind] > 0) & (rules["pickup"][top, kind] == 0)
    return count


@kernel
def top_of(state: Row) -> int:
    """What the next card is compared with: a card, EMPTY, or a joker with a suit named for it."""
    if state["pile_size"] == 0:
        return EMPTY
    if state["named"] != NO_SUIT:
        return NAMED + state["named"]
    return state["cards"][state["pile_size"] - 1]


@kernel
def legal_returns(state: Row, rules: Row, mask: np.ndarray) -> int:
    """Keep the hand, or put it back with one of its cards on top; a joker only where there is nothing else."""
    seat, at = state["mover"], rules["keep_at"]
    mask[at] = 1
    count = 1
    for kind in range(rules["num_kinds"]):
        if state["held"][seat, kind] > 0 and kind != rules["joker"]:
            mask[at + 1 + kind] = 1
            count += 1
    if count == 1:
        mask[at + 1 + rules["joker"]] = 1
        count = 2
    return count


@kernel
def may_slap(state: Row, rules: Row, seat: int) -> bool:
    """Whoever lays the card may be asked to keep out of it."""
    return seat != state["mover"] or rules["flipper_slaps"] == 1


# --- a turn -----------------------------------------------------------------------------------------------------------


@kernel
def step(state: Row, rules: Row, action: int) -> None:
    """One decision: what to lay, how to react, which suit to name, whether to return the hand."""
    phase = state["phase"]
    state["slapped"] = 0
    state["taker"] = NOBODY
    if phase == PLAY:
        state["decision"] = FLIPS if action == FLIP else action - rules["play_at"]
        if rules["attack"] == 1:
            state["phase"] = COMMIT
        else:
            lay_card(state, rules)
    elif phase == COMMIT:
        commit(state, rules, WAIT if action == rules["commit_at"] else ANTICIPATE)
    elif phase == NAME_SUIT:
        state["named"] = action - rules["suit_at"]
        end_turn(state, rules)
    else:
        if action != rules["keep_at"]:
            return_hand(state, rules, action - rules["keep_at"] - 1)
        end_turn(state, rules)


@kernel
def commit(state: Row, rules: Row, level: int) -> None:
    """Each in turn, from the mover on, decides how to react; when all have, the card is shown."""
    seat = state["seat"]
    state["commitment"][seat] = level
    state["seat"] = next_seat(rules, seat)
    if state["seat"] == state["mover"]:
        lay_card(state, rules)


@kernel
def lay_card(state: Row, rules: Row) -> None:
    """Show the card decided upon, on the pile, and see who takes it."""
    seat, flips = state["mover"], state["decision"] == FLIPS
    top = top_of(state)
    if flips:
        card = state["cards"][state["flipped"]]
        state["cards"][state["flipped"]] = UNKNOWN
        state["flipped"] += 1
        state["in_ring"][card] -= 1
    else:
        card = state["decision"]
        state["held"][seat, card] -= 1
        state["hand_size"][seat] -= 1
    state["decision"] = UNDECIDED
    state["cards"][state["pile_size"]] = card
    state["pile_size"] += 1
    state["named"] = NO_SUIT
    pickup = rules["pickup"][top, card] == 1
    if rules["attack"] == 1:
        slap(state, rules, pickup)
    elif pickup:
        take_pile(state, seat)
    ask_joker(state, rules, card, flips)


@kernel
def take_pile(state: Row, seat: int) -> None:
    """A seat takes the whole pile into its hand; the middle is empty."""
    for place in range(state["pile_size"]):
        state["held"][seat, state["cards"][place]] += 1
        state["cards"][place] = UNKNOWN
    state["hand_size"][seat] += state["pile_size"]
    state["pile_size"] = 0
    state["taker"] = seat


@kernel
def ask_joker(state: Row, rules: Row, card: int, flipped: bool) -> None:
    """A joker that still lies there asks who laid it for a suit, or (when flipped) whether to return the hand."""
    seat, role = state["mover"], rules["joker_role"]
    lies = card == rules["joker"] and state["pile_size"] > 0
    if lies and role == ROLE_CHOOSE_SUIT:
        state["phase"] = NAME_SUIT
    elif lies and role == ROLE_RETURN_HAND and flipped and state["hand_size"][seat] > 0:
        state["phase"] = RETURN
    else:
        end_turn(state, rules)


@kernel
def return_hand(state: Row, rules: Row, top: int) -> None:
    """The whole hand goes back on the pile, the chosen card on top, and is compared with nothing."""
    seat = state["mover"]
    state["held"][seat, top] -= 1
    for kind in range(rules["num_kinds"]):
        for _ in range(state["held"][seat, kind]):
            state["cards"][state["pile_size"]] = kind
            state["pile_size"] += 1
        state["held"][seat, kind] = 0
    state["cards"][state["pile_size"]] = top
    state["pile_size"] += 1
    state["hand_size"][seat] = 0


@kernel
def end_turn(state: Row, rules: Row) -> None:
    """The round ends with the ring's last card; otherwise the left neighbour is next, unless it owes a turn."""
    state["turn"] += 1
    if state["flipped"] == rules["pack_size"]:
        end_round(state, rules)
        return
    if state["turn"] >= rules["max_turns"]:
        state["over"] = TRUNCATED
        return
    seat = next_seat(rules, state["mover"])
    while state["owed"][seat] > 0:
        state["owed"][seat] -= 1
        seat = next_seat(rules, seat)
    begin_turn(state, seat)


@kernel
def end_round(state: Row, rules: Row) -> None:
    """Count the hands and lay out the next ring, or end the match."""
    if state["round"] + 1 >= rules["rounds"]:
        state["over"] = TERMINATED
        return
    for seat in range(rules["num_players"]):
        state["points"][seat] += state["hand_size"][seat]
    state["round"] += 1
    deal(state, rules)


# --- slapping ---------------------------------------------------------------------------------------------------------

NEVER: Final = 1 << 20  # later than any slap
EARLIEST_MS: Final = 50
NUM_QUANTILES: Final = 1024
QUANTILES: Final = np.array(
    [round(1000 * statistics.NormalDist().inv_cdf((each + 0.5) / NUM_QUANTILES)) for each in range(NUM_QUANTILES)],
    np.int16,
)
"""The standard normal distribution in equal steps of probability, in thousandths: the same on every machine."""
REACTIONS: Final = 1_000  # counters of a round's key below this are the deal's


@kernel
def slap(state: Row, rules: Row, pickup: bool) -> None:
    """With a reason all slap and one takes the pile; without, those who anticipated it have fouled."""
    react(state, rules, pickup)
    state["slapped"] = 1
    if pickup:
        take_pile(state, last_or_first(state, rules, rules["taker"] == TAKER_SLOWEST))
        return
    for seat in range(rules["num_players"]):
        if state["reaction"][seat] != NO_SLAP:
            if rules["foul"] == FOUL_TAKE:
                take_pile(state, last_or_first(state, rules, False))
                return
            state["owed"][seat] += 1


@kernel
def last_or_first(state: Row, rules: Row, last: bool) -> int:
    """The seat that slapped last (or first); of equals the nearer to the mover was faster, who never did is last."""
    seat, found, found_time = state["mover"], NOBODY, 0
    for _ in range(rules["num_players"]):
        if may_slap(state, rules, seat):
            time = state["reaction"][seat] if state["reaction"][seat] != NO_SLAP else NEVER
            if found == NOBODY or (time >= found_time if last else time < found_time):
                found, found_time = seat, time
        seat = next_seat(rules, seat)
    return found


@kernel
def react(state: Row, rules: Row, pickup: bool) -> None:
    """When each hand comes down: with a reason that of everybody who may, else of those who anticipate."""
    key = draw(draw(state["key"], state["round"]), REACTIONS + state["turn"])
    for seat in range(rules["num_players"]):
        anticipates = state["commitment"][seat] == ANTICIPATE
        if not may_slap(state, rules, seat) or not (pickup or anticipates):
            state["reaction"][seat] = NO_SLAP
        elif state["given"] == 0 or (state["reaction"][seat] == NO_SLAP and not pickup):
            quantile = QUANTILES[below(draw(key, seat), NUM_QUANTILES)]
            state["reaction"][seat] = reaction_time(rules, anticipates, seat == state["mover"], quantile)
    state["given"] = 0


@kernel
def reaction_time(rules: Row, anticipates: bool, lays: bool, quantile: int) -> int:
    """Mean of the level plus deviation times the quantile (in thousandths), whole milliseconds; later for who lays."""
    mean = rules["anticipate_ms"] if anticipates else rules["wait_ms"]
    time = mean + (rules["reaction_std_ms"] * quantile + 500) // 1000
    if lays:
        time += rules["flipper_delay_ms"]
    return max(time, EARLIEST_MS)


# --- scores -----------------------------------------------------------------------------------------------------------


@kernel
def scores(state: Row, rules: Row, out: np.ndarray) -> None:
    """A point for each card held at the end of a round."""
    for seat in range(rules["num_players"]):
        out[seat] = state["points"][seat] + state["hand_size"][seat]


def lowest_wins(rules: Rules) -> bool:
    """Fewest cards win, as a rule."""
    return not rules.most_wins


def score_scale(rules: Rules, num_players: int) -> float:
    """One fair share of the pack."""
    return sum(copies_of(rules, kind) for kind in kinds_of(rules)) / num_players


# --- what a seat knows ------------------------------------------------------------------------------------------------


@kernel
def hide(view: Row, rules: Row, seat: int) -> None:
    """Nobody knows the order of the ring; and until the card is shown, each knows its own decision alone."""
    for place in range(view["flipped"], rules["pack_size"]):
        view["cards"][place] = UNKNOWN
    if view["given"] == 1:
        view["given"] = 0
        for each in range(MAX_PLAYERS):
            view["reaction"][each] = NO_SLAP
    if view["phase"] == COMMIT and seat != ANYBODY:
        if seat != view["mover"]:
            view["decision"] = UNKNOWN
        for other in range(rules["num_players"]):
            if other != seat and view["commitment"][other] != OPEN:
                view["commitment"][other] = UNKNOWN


@kernel
def determinize(view: Row, rules: Row, key: np.uint64) -> None:
    """Any order of the ring is equally likely; what others decided, and nobody has seen, any way that was legal."""
    place = view["flipped"]
    for kind in range(rules["num_kinds"]):
        for _ in range(view["in_ring"][kind]):
            view["cards"][place] = kind
            place += 1
    shuffle(view["cards"], view["flipped"], rules["pack_size"], draw(key, 0))
    if view["decision"] == UNKNOWN:
        view["decision"] = any_play(view, rules, draw(key, 1))
    for seat in range(rules["num_players"]):
        if view["commitment"][seat] == UNKNOWN:
            view["commitment"][seat] = WAIT
            if may_slap(view, rules, seat) and below(draw(key, 2 + seat), 2) == 1:
                view["commitment"][seat] = ANTICIPATE
    view["key"] = key


@kernel
def any_play(view: Row, rules: Row, bits: np.uint64) -> int:
    """One of the decisions that the mover could make, each equally likely."""
    allowed, top, seat = hand_cards_allowed(view, rules), top_of(view), view["mover"]
    count = 0
    chosen = FLIPS
    if may_flip(rules, allowed):
        count = 1
    for kind in range(rules["num_kinds"]):
        if view["held"][seat, kind] > 0 and (
            allowed == ANY_CARD or (allowed == SAFE_CARDS and rules["pickup"][top, kind] == 0)
        ):
            count += 1
            if below(draw(bits, kind), count) == 0:
                chosen = kind
    return chosen


def layout(rules: Rules, seating: Seating) -> Layout:
    """The observation: own hand, top card and counts; with memory every hand and what the ring still holds."""
    kinds, seats = kinds_of(rules), seating.max_players
    cards, num = f"{kinds[0]} … {kinds[-1]} in the order of their texts", len(kinds)
    never = [kind for kind in kinds if kind not in possible_tops(rules)]
    top_cards = f"{cards} without {' '.join(never)}" if never else cards
    tops, phases = possible_tops(rules), possible_phases(rules)
    around = "oneself first, clockwise"
    parts = [
        Part("hand", num, f"own cards, {cards}; share of that card's copies"),
        Part("pile_top", len(tops) + 1, f"one-hot: middle empty, then the card on top, {top_cards}"),
        Part("pile_size", 1, "cards in the pile; share of the pack"),
        Part("ring_size", 1, "cards left in the ring; share of the pack"),
        Part("hand_size", seats, f"cards held by each seat, {around}; share of the pack"),
    ]
    if asks(rules) == "choose_suit":
        parts.append(Part("named_suit", len(rules.suits), f"one-hot: suit named for the joker on top, {rules.suits}"))
    if len(phases) > 1:
        parts.append(Part("phase", len(phases), f"one-hot: {', '.join(PHASES[phase] for phase in phases)}"))
    if rules.attack:
        parts.append(Part("mover", seats, f"one-hot: whose turn it is, {around}"))
        if rules.hand_play != "off":
            parts.append(Part("decision", num, f"one-hot: the hand card that oneself is about to lay, {cards}"))
        if rules.foul == "skip":
            parts.append(Part("owed", seats, f"turns each seat sits out, {around}; share of {OWED_CAP}, 1 for more"))
    if rules.rounds > 1:
        parts.append(Part("round", 1, "rounds done; share of the match"))
        parts.append(Part("points", seats, f"cards from the rounds done, {around}; share of all cards of the match"))
    if seating.mixed:
        parts.append(Part("num_players", seats - 1, f"one-hot: how many play, 2 … {seats}"))
    if seating.memory:
        parts.append(Part("pickup_chance", 1, "probability that the next ring card is a pick-up now"))
        parts.append(Part("ring", num, f"cards that the ring still holds, {cards}; share of that card's copies"))
        parts.append(Part("others", (seats - 1) * num, f"cards in each other hand, clockwise, {cards}; likewise"))
    return Layout(tuple(part for part in parts if part.size))


OWED_CAP: Final = 4


@kernel
def observe(view: Row, rules: Row, seat: int, out: np.ndarray) -> int:
    """Write the parts in the order of `layout`."""
    players, kinds, seats = rules["num_players"], rules["num_kinds"], rules["max_players"]
    share = rules["share_of_pack"]
    for each in range(len(out)):
        out[each] = 0.0
    write_cards(view["held"][seat], rules, out, 0)
    at = kinds
    if view["pile_size"] == 0:
        out[at] = 1.0
    else:
        out[at + 1 + rules["place_of_top"][view["cards"][view["pile_size"] - 1]]] = 1.0
    at += rules["num_tops"] + 1
    left = rules["pack_size"] - view["flipped"]
    out[at] = view["pile_size"] * share
    out[at + 1] = left * share
    at += 2
    for place in range(players):
        out[at + place] = view["hand_size"][relative(rules, seat, place)] * share
    at += seats
    at = observe_options(view, rules, seat, out, at)
    if rules["mixed"] == 1:
        out[at + players - 2] = 1.0
        at += seats - 1
    if rules["memory"] == 1:
        if left > 0:
            out[at] = pickups_left(view, rules) / left
        at += 1
        write_cards(view["in_ring"], rules, out, at)
        at += kinds
        for place in range(1, players):
            other = relative(rules, seat, place)
            write_cards(view["held"][other], rules, out, at + (place - 1) * kinds)
        at += (seats - 1) * kinds
    return at


@kernel
def write_cards(cards: np.ndarray, rules: Row, out: np.ndarray, at: int) -> None:
    """How many there are of each kind, as shares of its copies."""
    part, share = out[at : at + rules["num_kinds"]], rules["share_of_kind"]
    for kind in range(len(part)):
        part[kind] = cards[kind] * share[kind]


@kernel
def observe_options(view: Row, rules: Row, seat: int, out: np.ndarray, at: int) -> int:
    """Write the parts that only some options bring."""
    players, seats = rules["num_players"], rules["max_players"]
    if rules["suit_at"] > 0:
        if view["named"] != NO_SUIT:
            out[at + view["named"]] = 1.0
        at += rules["num_suits"]
    if rules["num_phases"] > 1:
        out[at + rules["place_of_phase"][view["phase"]]] = 1.0
        at += rules["num_phases"]
    if rules["attack"] == 1:
        out[at + (view["mover"] - seat + players) % players] = 1.0
        at += seats
        if rules["play_at"] > 0:
            if seat == view["mover"] and view["decision"] >= 0:
                out[at + view["decision"]] = 1.0
            at += rules["num_kinds"]
        if rules["foul"] != FOUL_TAKE:
            for place in range(players):
                out[at + place] = min(view["owed"][relative(rules, seat, place)] / OWED_CAP, 1.0)
            at += seats
    if rules["rounds"] > 1:
        out[at] = view["round"] / rules["rounds"]
        at += 1
        for place in range(players):
            points = view["points"][relative(rules, seat, place)]
            out[at + place] = points * rules["share_of_pack"] / rules["rounds"]
        at += seats
    return at


@kernel
def relative(rules: Row, seat: int, place: int) -> int:
    """The seat so many places clockwise from another."""
    other = seat + place
    return other if other < rules["num_players"] else other - rules["num_players"]


@kernel
def pickups_left(view: Row, rules: Row) -> int:
    """How many cards of the ring would be a pick-up now."""
    top, count = top_of(view), 0
    for kind in range(rules["num_kinds"]):
        count += view["in_ring"][kind] * rules["pickup"][top, kind]
    return count


# --- hints ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hints:
    """What a player who remembers every card would look at before laying one.

    Attributes:
        safe: Own hand cards that are no pick-up now; None where no hand card can be played now.
        good: Those of them that whoever plays next has no safe card to follow with.
        pickups: How many cards of the ring would be a pick-up now.
        ring_size: How many cards the ring still holds.
        suits: While a suit is named: each suit, and how many cards of the ring would be a pick-up on it.
    """

    safe: tuple[str, ...] | None
    good: tuple[str, ...]
    pickups: int
    ring_size: int
    suits: tuple[tuple[str, int], ...] = ()

    def sentences(self) -> tuple[str, ...]:
        """The same in words."""
        left = f"of the {self.ring_size} ring cards would be a pick-up"
        if self.suits:
            return (f"{', '.join(f'{SUIT_NAMES[suit]} {count}' for suit, count in self.suits)} {left}",)
        if self.safe is None:
            return (f"{self.pickups} {left}",)
        cards = f"safe to play: {', '.join(self.safe) or 'no card'}"
        if self.good:
            cards += f"; the next seat cannot follow {', '.join(self.good)}"
        return cards, f"{self.pickups} {left}"


def hints(view: Row, rules: Row, seat: int) -> Hints:
    """Hints for a seat, from what it knows."""
    kinds, top = kind_texts(rules), top_of(view)
    hand = view["held"][seat] if view["phase"] == PLAY and rules["hand_play"] != HAND_PLAY_OFF else None
    held = [] if hand is None else [kind for kind in range(len(kinds)) if hand[kind] > 0]
    safe = [kind for kind in held if not rules["pickup"][top, kind]]
    following = view["held"][plays_after(view, rules, seat)]
    theirs = [kind for kind in range(len(kinds)) if following[kind] > 0]
    good = [card for card in safe if all(rules["pickup"][card, other] for other in theirs)]
    ring, suits = view["in_ring"][: len(kinds)], range(rules["num_suits"] if view["phase"] == NAME_SUIT else 0)
    return Hints(
        None if hand is None else tuple(kinds[kind] for kind in safe),
        tuple(kinds[kind] for kind in good),
        int(pickups_left(view, rules)),
        int(rules["pack_size"]) - int(view["flipped"]),
        tuple(
            (suit_text(rules, suit), int((ring * rules["pickup"][NAMED + suit, : len(kinds)]).sum())) for suit in suits
        ),
    )


def plays_after(view: Row, rules: Row, seat: int) -> int:
    """Whose turn comes after a seat's, turns that are sat out left aside."""
    owed, seat = view["owed"].copy(), int(next_seat(rules, seat))
    while owed[seat] > 0:
        owed[seat] -= 1
        seat = int(next_seat(rules, seat))
    return seat


# --- text -------------------------------------------------------------------------------------------------------------


def kind_texts(rules: Row) -> list[str]:
    """The cards by their numbers, from a row of rules."""
    return [bytes(letters).rstrip(b"\0").decode() for letters in rules["letters"][: rules["num_kinds"]]]


def suit_text(rules: Row, suit: int) -> str:
    """A suit by its number, from a row of rules."""
    return chr(rules["suit_letters"][suit])


def read_deal(state: Row, rules: Row) -> dict[str, Any]:
    """Who begins, and the ring, next card first."""
    kinds = kind_texts(rules)
    return {
        "first_player": int(state["first_player"]),
        "ring": [kinds[card] for card in state["cards"][: rules["pack_size"]]],
    }


def write_deal(state: Row, rules: Row, given: Mapping[str, Any]) -> None:
    """Lay out a deal given by hand: first player, and a ring of exactly the pack."""
    if not isinstance(given, Mapping) or set(given) != {"first_player", "ring"}:
        raise DealError(f"a deal of Pig's Tail has first_player and ring; got {given!r}")
    first, ring, players = given["first_player"], given["ring"], int(rules["num_players"])
    if not is_whole(first) or not 0 <= first < players:
        raise DealError(f"first_player must be a seat 0 … {players - 1}; got {first!r}")
    if not isinstance(ring, list) or not all(isinstance(card, str) for card in ring):
        raise DealError(f"ring must be a list of cards such as '9H'; got {ring!r}")
    kinds, found = kind_texts(rules), Counter(ring)
    pack = Counter({kind: int(rules["copies"][number]) for number, kind in enumerate(kinds)})
    if found != pack:
        differ = [card for card in sorted(found | pack) if found[card] != pack[card]]
        wrong = [f"{card}: {found[card]} for {pack[card]}" for card in differ]
        raise DealError(f"ring must be exactly the pack of these rules; wrong: {', '.join(wrong)}")
    state["cards"][: len(ring)] = [kinds.index(card) for card in ring]
    state["first_player"] = first
    begin_turn(state, first)


def is_whole(value: object) -> bool:
    """Whether a value from JSON is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)


def read_chance(state: Row, rules: Row) -> dict[str, Any] | None:
    """The times of the slaps at the card just shown."""
    if state["slapped"] == 0:
        return None
    times = [int(time) for time in state["reaction"][: rules["num_players"]]]
    return {"reactions": [None if time == NO_SLAP else time for time in times]}


def give_chance(state: Row, rules: Row, chance: Mapping[str, Any]) -> None:
    """Fix the times of the slaps at the card about to be shown."""
    players = int(rules["num_players"])
    if set(chance) != {"reactions"}:
        raise DealError(f"chance decides nothing but reactions here; got {', '.join(map(repr, chance))}")
    times = chance["reactions"]
    if not isinstance(times, list) or len(times) != players:
        raise DealError(f"reactions must be a list of {players} times or nulls, one a seat; got {times!r}")
    for time in times:
        if time is not None and not (is_whole(time) and 0 <= time <= LATEST_MS):
            raise DealError(f"a reaction must be null or whole milliseconds 0 … {LATEST_MS}; got {time!r}")
    if state["phase"] != COMMIT or next_seat(rules, state["seat"]) != state["mover"]:
        raise DealError("reactions belong to the last commitment before a card is shown, and to no other step")
    state["reaction"][:players] = [NO_SLAP if time is None else time for time in times]
    state["given"] = 1


LATEST_MS: Final = int(np.iinfo(np.int16).max)


def call_out(before: Row, after: Row, rules: Row, action: str) -> str:
    """The card that comes to light, and who takes the pile; or what was decided where all can hear it."""
    if before["phase"] == NAME_SUIT:
        return f"{SUIT_NAMES[action[-1]]}!"
    if before["phase"] == RETURN:
        return "" if action == "keep" else "the hand goes back"
    if rules["attack"] == 1 and after["slapped"] == 0:
        return ""
    kinds = kind_texts(rules)
    flips = before["decision"] == FLIPS if rules["attack"] == 1 else action == "flip"
    if flips:
        card = kinds[before["cards"][before["flipped"]]]
    else:
        card = kinds[before["decision"]] if rules["attack"] == 1 else action
    taker = int(after["taker"])
    return card if taker == NOBODY else f"{card}: seat {taker} takes {int(before['pile_size']) + 1}"


def scene(view: Row, rules: Row, looking: int) -> Scene:
    """Ring and pile in the middle, each player's hand; others' hands lie open to whoever may remember them."""
    kinds, players = kind_texts(rules), int(rules["num_players"])
    pile = tuple(kinds[card] for card in view["cards"][: view["pile_size"]])
    named = int(view["named"])
    note = f"{SUIT_NAMES[suit_text(rules, named)]} named" if named != NO_SUIT else ""
    ring: tuple[str | None, ...] = (None,) * (int(rules["pack_size"]) - int(view["flipped"]))
    zones = [Zone("pile", None, pile, note), Zone("ring", None, ring)]
    running = view["over"] == RUNNING
    for seat in range(players):
        cards = [kinds[kind] for kind in shown_in_order(kinds) for _ in range(view["held"][seat, kind])]
        hidden = rules["memory"] == 0 and looking not in (seat, ANYBODY)
        notes = []
        if running and seat == view["mover"]:
            notes.append(PHASE_NOTES[view["phase"]])
        if running and view["phase"] == COMMIT and view["commitment"][seat] != OPEN:
            notes.append(COMMITMENT_NOTES.get(int(view["commitment"][seat]), "has committed"))
        if view["owed"][seat] > 0:
            notes.append(f"sits out {int(view['owed'][seat])}")
        zones.append(
            Zone("hand", seat, (None,) * len(cards) if hidden else tuple(cards), ", ".join(filter(None, notes)))
        )
    taker = int(view["taker"])
    return Scene(
        num_players=players,
        to_move=int(view["seat"]) if running else None,
        looking=looking,
        zones=tuple(zones),
        scores=tuple(float(view["points"][seat] + view["hand_size"][seat]) for seat in range(players)),
        called="" if taker == NOBODY else f"seat {taker} took the pile",
        hints=hints(view, rules, looking).sentences() if running and looking == view["seat"] else (),
    )


def shown_in_order(kinds: Sequence[str]) -> list[int]:
    """The cards by their numbers as a hand is held: by rank, from the ace up, the joker last."""
    return sorted(range(len(kinds)), key=lambda kind: ((RANKS + JOKER_TEXT).index(kinds[kind][0]), kinds[kind]))


PHASE_NOTES: Final = ("", "has decided", "names a suit", "may return the hand")
COMMITMENT_NOTES: Final = {WAIT: "waits", ANTICIPATE: "anticipates"}

DEFINITION = Definition(
    id="pigs_tail_v0",
    name="Pig's Tail",
    rulebook=__doc__ or "",
    rules=Rules,
    presets=PRESETS,
    seats=seats,
    state=STATE,
    row=RULES,
    derive=derive,
    actions=action_texts,
    layout=layout,
    score_scale=score_scale,
    lowest_wins=lowest_wins,
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
