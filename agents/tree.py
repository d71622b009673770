"""The kernels of search, written once for all games: worlds drawn from a view, a tree over them, playouts.

The tree is that of single-observer information-set Monte-Carlo tree search (Cowling, Powley and Whitehouse,
"Information Set Monte Carlo Tree Search", IEEE TCIAIG 4(2), 2012) for any number of seats. Each simulation draws a
world from the view of the seat that decides, and goes down the one tree by actions that are legal in that world. A node
is what this observer has seen since the root: nodes are found by a hash over its views along the way, so a card that it
draws tells nodes apart and what others do in secret does not. Each node keeps for each action how often it was legal in
a world that came by, how often it was chosen, and what it brought the seat that moved.

Why one observer: with an own tree for each seat, others would act on cards that differ from world to world, and a few
thousand simulations would not visit any of their nodes twice. Here they act on what the observer knows of them, which
is where all their moves in open games are; they are taken for a bit less informed than they are.

A playout ends with the round: later rounds are dealt anew and would only add noise. The last round of a match pays
what the game's reward says and, besides, the points that it brings, as the reward "score" counts them: one play seldom
changes who wins often enough for a few hundred playouts to tell. A round that is not the last, and a playout that is
broken off, pays these points alone.

Trees hold no references and are bounded: see `tree_for`. A `view` comes in, never a state; the worlds in a tree are
drawn from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from pigenv.game import MAX_SEATS, RUNNING, Act, Definition, Determinize, Game, Legal, Scores, Step
from pigenv.kernel import Row, below, draw, mix, specialize
from pigenv.table import loops

__all__ = ["MOST_BYTES", "Tree", "tree_for", "tree_loops"]

MOST_BYTES: Final = 64 * 2**20
"""What the nodes of one tree may take up. A tree that is full goes on being searched, but does not grow."""

_NODES, _DEPTH, _ROUND, _LIMIT = range(4)
_WORLD, _SEEN, _KEPT = range(3)
_REWARD_SCORE: Final = 2  # index in pigenv.game.REWARDS
_MARGIN: Final = 1.0  # how much the points of the last round count beside what the match pays
_SLOTS_A_NODE: Final = 2
_HASH_START: Final = np.uint64(0x9E3779B97F4A7C15)
_HASH_FACTOR: Final = np.uint64(0xD6E8FEB86659FD93)
_HASH_SHIFT: Final = np.uint64(32)
_FREE: Final = np.uint64(0)


class Tree(NamedTuple):
    """A tree and the scratch space of one simulation; m nodes at most.

    Attributes:
        counts: Nodes in use, length of the present path, the round at the root, most decisions of a playout; int64,
            `(4,)`.
        bounds: The least and the greatest reward seen, float64, `(2,)`.
        slots: Hashes of the nodes by open addressing, 0 for a free place; uint64, a power of two.
        places: The node of each slot, int32.
        visits, available: How often each action was chosen, and was legal; int32, `(m, num_actions)`.
        worth: What it brought in all the seat that moved, float64, `(m, num_actions)`.
        prior: Weights of the actions by a policy, float32, `(m, num_actions)`; `(0, num_actions)` without one.
        path: Node, action and seat of each choice of the present simulation, int32, `(m + 1, 3)`.
        states: The present world, a view of it, and a world kept; records, `(3,)`.
        words: The same memory as `states`, uint64, `(3, words of a record)`.
        masks: Legal in the present world, and at the root; int8, `(2, num_actions)`.
        points: Scores at the end and at the beginning of a simulation, float64, `(2, MAX_SEATS)`.
        rewards: What the present simulation pays each seat, float64, `(1, MAX_SEATS)`.
    """

    counts: np.ndarray
    bounds: np.ndarray
    slots: np.ndarray
    places: np.ndarray
    visits: np.ndarray
    available: np.ndarray
    worth: np.ndarray
    prior: np.ndarray
    path: np.ndarray
    states: np.ndarray
    words: np.ndarray
    masks: np.ndarray
    points: np.ndarray
    rewards: np.ndarray


def tree_for(game: Game, simulations: int | None, with_prior: bool = False) -> Tree:
    """An empty tree with room for a node a simulation, as far as its nodes fit into `MOST_BYTES`.

    Args:
        game: The game.
        simulations: How many there will be at most; None where nobody knows.
        with_prior: Whether nodes keep a policy's weights.
    """
    actions = game.num_actions
    node_bytes = actions * (4 + 4 + 8 + 4 * with_prior) + 3 * 4 + 2 * _SLOTS_A_NODE * (8 + 4)
    most = max(1, MOST_BYTES // node_bytes)
    nodes = most if simulations is None else min(simulations + 1, most)
    slots = 1 << (nodes * _SLOTS_A_NODE - 1).bit_length()
    states = np.zeros(3, game.definition.state)
    # Rows of nodes are cleared when they come into use.
    return Tree(
        counts=np.zeros(4, np.int64),
        bounds=np.zeros(2),
        slots=np.zeros(slots, np.uint64),
        places=np.empty(slots, np.int32),
        visits=np.empty((nodes, actions), np.int32),
        available=np.empty((nodes, actions), np.int32),
        worth=np.empty((nodes, actions)),
        prior=np.empty((nodes if with_prior else 0, actions), np.float32),
        path=np.empty((nodes + 1, 3), np.int32),
        states=states,
        words=states.view(np.uint64).reshape(3, -1),
        masks=np.zeros((2, actions), np.int8),
        points=np.zeros((2, MAX_SEATS)),
        rewards=np.zeros((1, MAX_SEATS)),
    )


F = TypeVar("F", bound=Callable[..., Any])
_TEMPLATES: list[Callable[..., Any]] = []


def template(function: F) -> F:
    """Mark a function to be compiled for each game and playout, in the order of this file."""
    _TEMPLATES.append(function)
    return function


# What a template may call: filled in for each game and playout (see `tree_loops`).
legal: Legal
step: Step
determinize: Determinize
scores: Scores
act: Act
any_legal: Callable[[np.ndarray, int, np.uint64], int]
standing: Callable[[np.ndarray, Row, np.ndarray, int], None]
look: Callable[[np.ndarray, int, np.ndarray, int, np.ndarray, int], None]
pick: Callable[[Tree, np.ndarray, int, np.uint64], int]


# --- nodes ------------------------------------------------------------------------------------------------------------


@template
def start_tree(tree: Tree, views: np.ndarray, at: int, limit: int) -> None:
    """Empty a tree, for a search from a view with playouts of `limit` decisions at most."""
    for slot in range(len(tree.slots)):
        tree.slots[slot] = _FREE
    tree.counts[_NODES] = 0
    tree.counts[_DEPTH] = 0
    tree.counts[_ROUND] = views[at]["round"]
    tree.counts[_LIMIT] = limit
    tree.bounds[0] = np.inf
    tree.bounds[1] = -np.inf


@template
def fingerprint(tree: Tree, before: np.uint64) -> np.uint64:
    """Hash of all that the observer has seen: of what it saw before, and of the view just taken."""
    hashed = before
    for word in range(tree.words.shape[1]):
        hashed = (hashed ^ tree.words[_SEEN, word]) * _HASH_FACTOR
        hashed ^= hashed >> _HASH_SHIFT
    return mix(hashed) | np.uint64(1)


@template
def node_of(tree: Tree, hashed: np.uint64) -> tuple[int, bool]:
    """The node of a hash and whether it is new; −1 where there is none and no room for one."""
    last = len(tree.slots) - 1
    slot = np.int64(hashed >> np.uint64(1)) & last
    while tree.slots[slot] != _FREE:
        if tree.slots[slot] == hashed:
            return tree.places[slot], False
        slot = (slot + 1) & last
    node = tree.counts[_NODES]
    if node == len(tree.visits):
        return -1, True
    tree.counts[_NODES] = node + 1
    tree.slots[slot] = hashed
    tree.places[slot] = node
    for action in range(tree.visits.shape[1]):
        tree.visits[node, action] = 0
        tree.available[node, action] = 0
        tree.worth[node, action] = 0.0
    return node, True


@template
def choose_edge(tree: Tree, node: int, exploration: float, bits: np.uint64) -> int:
    """The action to try next among those legal in this world.

    One that was never tried comes first, each equally likely. Then the greatest upper confidence bound, in which the
    times that an action was legal stand in for visits to the node, and rewards count as shares of their range so far.
    With a policy's weights instead: its bound (PUCT), in which an action never tried counts as the mean of rewards, 0.
    """
    weighted = len(tree.prior) > 0
    spread = exploration * max(tree.bounds[1] - tree.bounds[0], 1e-9)
    total = 1e-9
    if weighted:
        for action in range(tree.visits.shape[1]):
            total += tree.prior[node, action] * tree.masks[0, action]
    best, best_bound, untried = -1, -np.inf, 0
    for action in range(tree.visits.shape[1]):
        if tree.masks[0, action] == 0:
            continue
        tree.available[node, action] += 1
        tries, chances = tree.visits[node, action], tree.available[node, action]
        if weighted:
            mean = tree.worth[node, action] / max(tries, 1)
            bound = mean + spread * tree.prior[node, action] / total * math.sqrt(chances) / (1 + tries)
        elif tries == 0:
            untried += 1
            if below(draw(bits, untried), untried) == 0:
                best = action
            continue
        else:
            bound = tree.worth[node, action] / tries + spread * math.sqrt(math.log(chances) / tries)
        if untried == 0 and bound > best_bound:
            best, best_bound = action, bound
    return best


# --- a simulation -----------------------------------------------------------------------------------------------------


@template
def ended(tree: Tree) -> bool:
    """Whether the present world has come to the end of the round in which the search began."""
    world = tree.states[_WORLD]
    return world["over"] != RUNNING or world["round"] != tree.counts[_ROUND]


@template
def enter_world(tree: Tree, rules: np.ndarray, views: np.ndarray, at: int, key: np.uint64) -> None:
    """Draw a world from a view."""
    tree.states[_WORLD] = views[at]
    determinize(tree.states[_WORLD], rules[0], key)
    scores(tree.states[_WORLD], rules[0], tree.points[1])


@template
def descend(
    tree: Tree,
    rules: np.ndarray,
    views: np.ndarray,
    at: int,
    observer: int,
    alone: bool,
    exploration: float,
    key: np.uint64,
) -> int:
    """Draw a world and go down the tree to a leaf; returns the new node there, or −1 at an end or without room.

    If the observer searches alone, the others play as in playouts.
    """
    enter_world(tree, rules, views, at, draw(key, 0))
    tree.counts[_DEPTH] = 0
    hashed, steps = _HASH_START, 1
    while True:
        count = legal(tree.states[_WORLD], rules[0], tree.masks[0])
        if count == 1:
            action = any_legal(tree.masks[0], count, np.uint64(0))
        elif alone and tree.states[_WORLD]["seat"] != observer:
            action = pick(tree, rules, count, draw(key, steps))
        else:
            node, new = node_of(tree, hashed)
            # The root is no leaf: the first simulation already tries an action.
            if new and (node != 0 or len(tree.prior) > 0):
                return node
            action = choose_edge(tree, node, exploration, draw(key, steps))
            depth = tree.counts[_DEPTH]
            tree.path[depth, 0] = node
            tree.path[depth, 1] = action
            tree.path[depth, 2] = tree.states[_WORLD]["seat"]
            tree.counts[_DEPTH] = depth + 1
        step(tree.states[_WORLD], rules[0], action)
        steps += 1
        if ended(tree):
            return -1
        look(tree.states, _WORLD, rules, observer, tree.states, _SEEN)
        hashed = fingerprint(tree, hashed)


def pick_uniform(tree: Tree, rules: np.ndarray, count: int, bits: np.uint64) -> int:
    """Any legal action."""
    return any_legal(tree.masks[0], count, bits)


def pick_as_player(tree: Tree, rules: np.ndarray, count: int, bits: np.uint64) -> int:
    """What a player does who sees what the seat to move would see in this world."""
    if count == 1:
        return any_legal(tree.masks[0], count, bits)
    look(tree.states, _WORLD, rules, tree.states[_WORLD]["seat"], tree.states, _SEEN)
    return act(tree.states[_SEEN], rules[0], tree.masks[0], bits)


@template
def play_out(tree: Tree, rules: np.ndarray, key: np.uint64) -> None:
    """Play the present world to the end of its round, or as far as the search looks."""
    steps = 0
    while not ended(tree) and steps < tree.counts[_LIMIT]:
        count = legal(tree.states[_WORLD], rules[0], tree.masks[0])
        step(tree.states[_WORLD], rules[0], pick(tree, rules, count, draw(key, steps)))
        steps += 1


@template
def reckon(tree: Tree, rules: np.ndarray) -> None:
    """Write what the simulation pays each seat, from the scores that it ended with."""
    players = rules[0]["num_players"]
    scores(tree.states[_WORLD], rules[0], tree.points[0])
    for seat in range(players):
        tree.rewards[0, seat] = 0.0
    weight = 1.0
    if tree.states[_WORLD]["over"] != RUNNING and rules[0]["reward"] != _REWARD_SCORE:
        standing(tree.points[0], rules[0], tree.rewards, 0)
        weight = _MARGIN
    mean = 0.0
    for seat in range(players):
        mean += (tree.points[0, seat] - tree.points[1, seat]) / players
    scale = -rules[0]["score_scale"] if rules[0]["lowest_wins"] == 1 else rules[0]["score_scale"]
    for seat in range(players):
        tree.rewards[0, seat] += weight * (tree.points[0, seat] - tree.points[1, seat] - mean) / scale


@template
def back_up(tree: Tree, players: int) -> None:
    """Credit each choice on the path with what the simulation paid the seat that made it."""
    for seat in range(players):
        tree.bounds[0] = min(tree.bounds[0], tree.rewards[0, seat])
        tree.bounds[1] = max(tree.bounds[1], tree.rewards[0, seat])
    for depth in range(tree.counts[_DEPTH]):
        node, action = tree.path[depth, 0], tree.path[depth, 1]
        tree.visits[node, action] += 1
        tree.worth[node, action] += tree.rewards[0, tree.path[depth, 2]]


@template
def write_leaf(tree: Tree, rules: np.ndarray, views: np.ndarray, seats: np.ndarray, masks: np.ndarray, at: int) -> None:
    """Write what the seat to move at the leaf would know there, and its mask."""
    seats[at] = tree.states[_WORLD]["seat"]
    look(tree.states, _WORLD, rules, seats[at], views, at)
    for action in range(masks.shape[1]):
        masks[at, action] = tree.masks[0, action]


# --- searches ---------------------------------------------------------------------------------------------------------


@template
def run_tree(
    tree: Tree,
    rules: np.ndarray,
    views: np.ndarray,
    at: int,
    observer: int,
    alone: bool,
    exploration: float,
    key: np.uint64,
    start: int,
    stop: int,
) -> None:
    """Simulations `start` … `stop`−1 of the search from view `at`, a tree grown by one node each."""
    for number in range(start, stop):
        own = draw(key, number)
        descend(tree, rules, views, at, observer, alone, exploration, own)
        play_out(tree, rules, mix(own))
        reckon(tree, rules)
        back_up(tree, rules[0]["num_players"])


@template
def run_flat(
    tree: Tree,
    rules: np.ndarray,
    views: np.ndarray,
    at: int,
    observer: int,
    alone: bool,
    exploration: float,
    key: np.uint64,
    start: int,
    stop: int,
) -> None:
    """Playouts `start` … `stop`−1, each legal action in turn; every world serves all actions before the next is drawn.

    The counts stand in node 0 of the tree.
    """
    count = legal(views[at], rules[0], tree.masks[1])
    if tree.counts[_NODES] == 0:
        node_of(tree, _HASH_START)
    for number in range(start, stop):
        own = draw(key, number // count)
        if number % count == 0 or number == start:
            enter_world(tree, rules, views, at, draw(own, 0))
            tree.states[_KEPT] = tree.states[_WORLD]
        else:
            tree.states[_WORLD] = tree.states[_KEPT]
        action, left = -1, number % count + 1
        while left > 0:
            action += 1
            left -= tree.masks[1, action]
        tree.path[0, 0] = 0
        tree.path[0, 1] = action
        tree.path[0, 2] = observer
        tree.counts[_DEPTH] = 1
        step(tree.states[_WORLD], rules[0], action)
        play_out(tree, rules, mix(own))
        reckon(tree, rules)
        back_up(tree, rules[0]["num_players"])


@cache
def tree_loops(definition: Definition, name: str, playout: Act | None) -> SimpleNamespace:
    """The functions of this file for one game and one playout player (None: uniform), compiled when first called."""
    names: dict[str, Any] = dict(vars(loops(definition)))
    tag = f"{definition.id}: {name}"
    if playout is None:
        names["pick"] = specialize(pick_uniform, names, tag)
    else:
        names["pick"] = specialize(pick_as_player, {**names, "act": playout}, tag)
    for each in _TEMPLATES:
        names[each.__name__] = specialize(each, names, tag)
    return SimpleNamespace(**names)
