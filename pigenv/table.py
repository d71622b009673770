"""Many games at once: the loops that every environment, match and benchmark runs on, written once for all games.

The functions marked as templates call the kernels of the contract by their bare names; `loops` compiles a copy of each
for one game, `player_loops` one for a game and the agents that sit at it. `Table` is a single game of these.

Arrays have the same meaning everywhere: `states` (records, `(n,)`), `rules` (one record, `(1,)`), `episodes` (records
of `EPISODE`, `(n,)`), `observations` (float32, `(n, size)`), `masks` (int8, `(n, num_actions)`), `rewards` (float32),
`over` (int8: RUNNING, TERMINATED or TRUNCATED), and `views` (records like states: scratch, one row).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from pigenv.errors import DealError, IllegalActionError, OptionError, SeedError, UsageError, closest, one_of
from pigenv.game import (
    ANYBODY,
    MAX_SEATS,
    RUNNING,
    TERMINATED,
    Act,
    Deal,
    Definition,
    Determinize,
    Game,
    Hide,
    Legal,
    Observe,
    Scores,
    Step,
)
from pigenv.kernel import Row, below, draw, mix, seed_keys, specialize
from pigenv.scene import Scene

__all__ = [
    "EPISODE",
    "FORFEIT",
    "ILLEGAL",
    "OUTSIDE",
    "RAISE",
    "RANDOM",
    "Table",
    "checked_seed",
    "loops",
    "player_loops",
]

ILLEGAL: Final = ("raise", "forfeit", "random")
"""What happens to an illegal action; kernels take the index."""
RAISE, FORFEIT, RANDOM = range(3)

OUTSIDE: Final = -1
"""As the player of a seat: nobody whom the compiled loop could ask. Lower numbers are Python agents, −2 the first."""

_WIN, _RANK, _SCORE = range(3)
_DEAL_LIMIT = 10_000

EPISODE: Final = np.dtype(
    [
        # What every step reads comes first, in one cache line.
        ("deal_key", np.uint64),  # of the seed; the episode's own key follows from it and `number`
        ("agent_key", np.uint64),  # of the seed, for the agents' own chance
        ("number", np.int64),  # which episode of the seed this is
        ("steps", np.int32),  # decisions made in it
        ("replaced", np.int32),  # illegal actions for which a random legal one was played
        ("offender", np.int8),  # seat whose illegal action ended it, or −1
        ("learner", np.int8),  # the seat that is played from outside, in one-seat environments
        ("player", np.int8, (MAX_SEATS,)),  # by seat: index of the compiled player, or OUTSIDE, or lower
        ("filler", np.int8, (2,)),
        ("points", np.float64, (MAX_SEATS,)),  # scores at the last payment
        ("now", np.float64, (MAX_SEATS,)),  # scores at this one
    ],
    align=True,
)

F = TypeVar("F", bound=Callable[..., Any])
Player: TypeAlias = tuple[str, Act]

_TEMPLATES: list[Callable[..., Any]] = []
_PLAYER_TEMPLATES: list[Callable[..., Any]] = []

# What a template may call: filled in for each game, and for the agents at it.
deal: Deal
legal: Legal
step: Step
hide: Hide
determinize: Determinize
observe: Observe
scores: Scores
choose: Callable[[Row, Row, np.ndarray, np.uint64, int], int]
BLANK: np.ndarray


def template(function: F) -> F:
    """Mark a loop to be compiled for each game, in the order of this file."""
    _TEMPLATES.append(function)
    return function


def player_template(function: F) -> F:
    """Mark a loop to be compiled for each game and group of players."""
    _PLAYER_TEMPLATES.append(function)
    return function


# --- one game ---------------------------------------------------------------------------------------------------------


@template
def begin(states: np.ndarray, i: int, rules: np.ndarray, episodes: np.ndarray) -> None:
    """Start the episode that `episodes[i]["number"]` says."""
    states[i] = BLANK[0]
    states[i]["key"] = draw(episodes[i]["deal_key"], episodes[i]["number"])
    deal(states[i], rules[0])
    episodes[i]["steps"] = 0
    episodes[i]["replaced"] = 0
    episodes[i]["offender"] = -1
    for seat in range(MAX_SEATS):
        episodes[i]["points"][seat] = 0.0


@template
def standing(points: np.ndarray, rules: Row, rewards: np.ndarray, i: int) -> None:
    """Add each seat's reward for how it stands, best points first: "win" or "rank" (see `Game.reward`)."""
    players = rules["num_players"]
    sign = -1.0 if rules["lowest_wins"] == 1 else 1.0
    for seat in range(players):
        better, equal = 0, 0
        for other in range(players):
            difference = sign * (points[other] - points[seat])
            if difference > 0:
                better += 1
            elif difference == 0:
                equal += 1
        if rules["reward"] == _RANK:
            place = better + (equal + 1) / 2
            rewards[i, seat] += (players + 1 - 2 * place) / (players - 1)
        else:
            share = 1.0 / equal if better == 0 else 0.0
            rewards[i, seat] += (players * share - 1.0) / (players - 1)


@template
def pay(state: Row, rules: Row, episode: Row, rewards: np.ndarray, i: int) -> None:
    """Add what the end of a round, or of the match, brings each seat."""
    players = rules["num_players"]
    points = episode["now"]
    scores(state, rules, points)
    if rules["reward"] == _SCORE:
        mean = 0.0
        for seat in range(players):
            mean += (points[seat] - episode["points"][seat]) / players
        scale = -rules["score_scale"] if rules["lowest_wins"] == 1 else rules["score_scale"]
        for seat in range(players):
            rewards[i, seat] += (points[seat] - episode["points"][seat] - mean) / scale
    elif state["over"] != RUNNING:
        standing(points, rules, rewards, i)
    for seat in range(players):
        episode["points"][seat] = points[seat]


@template
def forfeit(state: Row, rules: Row, episode: Row, rewards: np.ndarray, i: int) -> None:
    """End the game for all: the seat to move loses 1, the others share it."""
    players, offender = rules["num_players"], state["seat"]
    state["over"] = TERMINATED
    episode["offender"] = offender
    for seat in range(players):
        rewards[i, seat] += -1.0 if seat == offender else 1.0 / (players - 1)


@template
def any_legal(mask: np.ndarray, count: int, bits: np.uint64) -> int:
    """One of the legal actions, each equally likely."""
    place = below(bits, count)
    action, seen = 0, 0
    # Counting instead of stopping: a loop without a branch that cannot be foreseen is twice as fast.
    for each in range(len(mask)):
        seen += mask[each]
        action += seen <= place
    return action


@template
def decision_key(episode: Row) -> np.uint64:
    """The random bits that whoever decides now may use."""
    return draw(draw(episode["agent_key"], episode["number"]), episode["steps"])


@template
def play(
    state: Row, rules: Row, episode: Row, mask: np.ndarray, action: int, policy: int, rewards: np.ndarray, i: int
) -> None:
    """Play an action and pay what it brings; one that is not legal is treated by the policy (see `ILLEGAL`)."""
    if action < 0 or action >= len(mask) or mask[action] == 0:
        if policy != RANDOM:
            forfeit(state, rules, episode, rewards, i)
            episode["steps"] += 1
            return
        # Apart from the numbers that agents are given for the same step.
        bits = draw(mix(decision_key(episode)), 0)
        action = any_legal(mask, legal(state, rules, mask), bits)
        episode["replaced"] += 1
    round_before = state["round"]
    step(state, rules, action)
    episode["steps"] += 1
    if state["over"] != RUNNING or state["round"] != round_before:
        pay(state, rules, episode, rewards, i)


@template
def look(states: np.ndarray, i: int, rules: np.ndarray, seat: int, views: np.ndarray, at: int) -> None:
    """Write what a seat knows of a state."""
    views[at] = states[i]
    views[at]["key"] = 0
    hide(views[at], rules[0], seat)


# --- many games, every seat played from outside -----------------------------------------------------------------------


@template
def start_tables(states: np.ndarray, rules: np.ndarray, episodes: np.ndarray, which: np.ndarray) -> None:
    """Begin the episode that each table of `which` (bool, `(n,)`) has come to."""
    for i in range(len(states)):
        if which[i]:
            begin(states, i, rules, episodes)


@template
def write_decision(
    states: np.ndarray,
    i: int,
    rules: np.ndarray,
    seats: np.ndarray,
    views: np.ndarray,
    at: int,
    observations: np.ndarray,
    masks: np.ndarray,
) -> None:
    """Write seat to move, its observation and its mask of one table."""
    seat = states[i]["seat"]
    seats[i] = seat
    look(states, i, rules, seat, views, at)
    observe(views[at], rules[0], seat, observations[i])
    if states[i]["over"] == RUNNING:
        legal(views[at], rules[0], masks[i])
    else:
        masks[i, :] = 0


@template
def decide_tables(
    states: np.ndarray,
    rules: np.ndarray,
    seats: np.ndarray,
    views: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
) -> None:
    """Write seat to move, observation and mask of each table; a finished game has no legal action."""
    for i in range(len(states)):
        write_decision(states, i, rules, seats, views, 0, observations, masks)


@template
def step_tables(
    states: np.ndarray,
    rules: np.ndarray,
    episodes: np.ndarray,
    actions: np.ndarray,
    policy: int,
    auto_reset: bool,
    seats: np.ndarray,
    views: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    rewards: np.ndarray,
    over: np.ndarray,
) -> None:
    """Play the seat to move at every table; with `auto_reset` a finished table begins its next episode at once.

    `rewards` has shape `(n, num_players)`. A table that is over, without `auto_reset`, stays as it is.
    """
    for i in range(len(states)):
        for seat in range(rules[0]["num_players"]):
            rewards[i, seat] = 0.0
        if states[i]["over"] == RUNNING:
            play(states[i], rules[0], episodes[i], masks[i], actions[i], policy, rewards, i)
        over[i] = states[i]["over"]
        if auto_reset and over[i] != RUNNING:
            episodes[i]["number"] += 1
            begin(states, i, rules, episodes)
        write_decision(states, i, rules, seats, views, 0, observations, masks)


@template
def step_table(desks: np.ndarray, action: int, policy: int, observations: np.ndarray, masks: np.ndarray) -> None:
    """Play the seat to move at a single table (an action below 0: nobody moves) and say how it stands in its `news`.

    `desks` is one record of `desk_dtype`. One argument instead of six: at one table a call costs more than its work.
    """
    desk = desks[0]
    states, rules, episodes, rewards, news = (
        desk["states"], desk["rules"], desk["episodes"], desk["rewards"], desk["news"],
    )  # fmt: skip
    paid = False
    for seat in range(rules[0]["num_players"]):
        rewards[0, seat] = 0.0
    if action >= 0:
        play(states[0], rules[0], episodes[0], masks[0], action, policy, rewards, 0)
        for seat in range(rules[0]["num_players"]):
            paid |= rewards[0, seat] != 0.0
    seat = states[0]["seat"]
    look(states, 0, rules, seat, desk["views"], 0)
    observe(desk["views"][0], rules[0], seat, observations[0])
    if states[0]["over"] == RUNNING:
        legal(desk["views"][0], rules[0], masks[0])
    else:
        for each in range(masks.shape[1]):
            masks[0, each] = 0
    news[0], news[1], news[2] = seat, states[0]["over"], states[0]["round"]
    news[3], news[4], news[5] = episodes[0]["replaced"], episodes[0]["offender"], paid


@template
def run_tables(
    states: np.ndarray,
    rules: np.ndarray,
    episodes: np.ndarray,
    count: int,
    seats: np.ndarray,
    views: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    rewards: np.ndarray,
) -> None:
    """Make `count` uniformly random decisions at every table, writing all that `step_tables` writes, in one call."""
    for _ in range(count):
        for i in range(len(states)):
            for seat in range(rules[0]["num_players"]):
                rewards[i, seat] = 0.0
            legal_here = 0
            for action in range(masks.shape[1]):
                legal_here += masks[i, action]
            action = any_legal(masks[i], legal_here, decision_key(episodes[i]))
            play(states[i], rules[0], episodes[i], masks[i], action, FORFEIT, rewards, i)
            if states[i]["over"] != RUNNING:
                episodes[i]["number"] += 1
                begin(states, i, rules, episodes)
            write_decision(states, i, rules, seats, views, 0, observations, masks)


@template
def playouts(states: np.ndarray, rules: np.ndarray, episodes: np.ndarray, games: int, masks: np.ndarray) -> int:
    """Play whole games uniformly at random, nothing but the rules; returns the number of decisions.

    One game after another on the first row of `states`, `episodes` and `masks`.
    """
    decisions = 0
    for _ in range(games):
        begin(states, 0, rules, episodes)
        key = draw(episodes[0]["agent_key"], episodes[0]["number"])
        steps = 0
        while states[0]["over"] == RUNNING:
            count = legal(states[0], rules[0], masks[0])
            step(states[0], rules[0], any_legal(masks[0], count, draw(key, steps)))
            steps += 1
        episodes[0]["number"] += 1
        decisions += steps
    return decisions


@template
def random_actions(masks: np.ndarray, episodes: np.ndarray, actions: np.ndarray) -> None:
    """Choose a legal action at every table, uniformly."""
    for i in range(len(masks)):
        count = 0
        for action in range(masks.shape[1]):
            count += masks[i, action]
        actions[i] = any_legal(masks[i], count, decision_key(episodes[i]))


@template
def first_illegal(masks: np.ndarray, actions: np.ndarray) -> int:
    """The first table whose action is not legal, or −1."""
    for i in range(len(actions)):
        if actions[i] < 0 or actions[i] >= masks.shape[1] or masks[i, actions[i]] == 0:
            return i
    return -1


@template
def view_tables(
    states: np.ndarray,
    rules: np.ndarray,
    episodes: np.ndarray,
    which: np.ndarray,
    seats: np.ndarray,
    views: np.ndarray,
    masks: np.ndarray,
    keys: np.ndarray,
) -> None:
    """Write view, mask and key of the seats to move (or of the `seats` given, where ≥ 0) at the tables `which`."""
    for k in range(len(which)):
        i = which[k]
        if seats[k] < 0:
            seats[k] = states[i]["seat"]
        look(states, i, rules, seats[k], views, k)
        keys[k] = decision_key(episodes[i])
        if states[i]["over"] == RUNNING and seats[k] == states[i]["seat"]:
            legal(views[k], rules[0], masks[k])
        else:
            masks[k, :] = 0


@template
def observe_views(views: np.ndarray, rules: np.ndarray, seats: np.ndarray, observations: np.ndarray) -> None:
    """Write the observations of views, each from its own seat."""
    for i in range(len(views)):
        observe(views[i], rules[0], seats[i], observations[i])


@template
def determinize_views(views: np.ndarray, rules: np.ndarray, keys: np.ndarray) -> None:
    """Fill each view with a world drawn from its key."""
    for i in range(len(views)):
        determinize(views[i], rules[0], keys[i])


@template
def score_tables(states: np.ndarray, rules: np.ndarray, points: np.ndarray) -> None:
    """Write the scores, float64, shape `(n, num_players)`."""
    for i in range(len(states)):
        scores(states[i], rules[0], points[i])


# --- many games with compiled players ---------------------------------------------------------------------------------


def _first(view: Row, rules: Row, mask: np.ndarray, key: np.uint64, index: int) -> int:
    return act(view, rules, mask, key)


def _one_of(view: Row, rules: Row, mask: np.ndarray, key: np.uint64, index: int) -> int:
    if index == 0:
        return act(view, rules, mask, key)
    return others(view, rules, mask, key, index - 1)


act: Act
others: Callable[[Row, Row, np.ndarray, np.uint64, int], int]


@player_template
def choose_actions(
    views: np.ndarray, rules: np.ndarray, masks: np.ndarray, keys: np.ndarray, actions: np.ndarray
) -> None:
    """Let the first player choose for each view."""
    for i in range(len(views)):
        actions[i] = choose(views[i], rules[0], masks[i], keys[i], 0)


@player_template
def settle(
    states: np.ndarray,
    i: int,
    rules: np.ndarray,
    episodes: np.ndarray,
    views: np.ndarray,
    at: int,
    masks: np.ndarray,
    rewards: np.ndarray,
) -> None:
    """Let the compiled players go on until somebody outside must decide, or the game is over."""
    while states[i]["over"] == RUNNING:
        index = episodes[i]["player"][states[i]["seat"]]
        if index < 0:
            return
        look(states, i, rules, states[i]["seat"], views, at)
        legal(views[at], rules[0], masks[i])
        action = choose(views[at], rules[0], masks[i], decision_key(episodes[i]), index)
        play(states[i], rules[0], episodes[i], masks[i], action, FORFEIT, rewards, i)


@player_template
def settle_tables(
    states: np.ndarray,
    rules: np.ndarray,
    episodes: np.ndarray,
    views: np.ndarray,
    masks: np.ndarray,
    rewards: np.ndarray,
) -> None:
    """`settle` at every table; `rewards`, shape `(n, num_players)`, is added to."""
    for i in range(len(states)):
        settle(states, i, rules, episodes, views, 0, masks, rewards)


@player_template
def seat_players(episodes: np.ndarray, i: int, rules: np.ndarray, seating: int, line_up: np.ndarray) -> None:
    """Give the learner its seat (`seating`: a seat, or −1 for chance, −2 for turns) and the others theirs after it."""
    players = rules[0]["num_players"]
    seat = seating
    if seating == -1:
        seat = below(draw(mix(episodes[i]["agent_key"]), episodes[i]["number"]), players)
    elif seating == -2:
        seat = episodes[i]["number"] % players
    episodes[i]["learner"] = seat
    episodes[i]["player"][seat] = OUTSIDE
    for k in range(players - 1):
        episodes[i]["player"][(seat + 1 + k) % players] = line_up[k]


@player_template
def seat_tables(episodes: np.ndarray, rules: np.ndarray, which: np.ndarray, seating: int, line_up: np.ndarray) -> None:
    """`seat_players` at the tables `which` (bool)."""
    for i in range(len(episodes)):
        if which[i]:
            seat_players(episodes, i, rules, seating, line_up)


@player_template
def begin_seat(
    states: np.ndarray,
    i: int,
    rules: np.ndarray,
    episodes: np.ndarray,
    seating: int,
    line_up: np.ndarray,
    views: np.ndarray,
    at: int,
    masks: np.ndarray,
    rewards: np.ndarray,
) -> None:
    """Begin an episode and play up to the first decision from outside; a game that ends before it is passed over."""
    for _ in range(_DEAL_LIMIT):
        begin(states, i, rules, episodes)
        seat_players(episodes, i, rules, seating, line_up)
        for seat in range(rules[0]["num_players"]):
            rewards[i, seat] = 0.0
        settle(states, i, rules, episodes, views, at, masks, rewards)
        if states[i]["over"] == RUNNING:
            return
        episodes[i]["number"] += 1


@player_template
def step_seats(
    states: np.ndarray,
    rules: np.ndarray,
    episodes: np.ndarray,
    actions: np.ndarray,
    acting: np.ndarray,
    policy: int,
    views: np.ndarray,
    masks: np.ndarray,
    rewards: np.ndarray,
) -> None:
    """Play an action from outside where `acting` (bool), then let the compiled players go on."""
    for i in range(len(states)):
        if acting[i]:
            legal(states[i], rules[0], masks[i])
            play(states[i], rules[0], episodes[i], masks[i], actions[i], policy, rewards, i)
            settle(states, i, rules, episodes, views, 0, masks, rewards)


@player_template
def start_seats(
    states: np.ndarray,
    rules: np.ndarray,
    episodes: np.ndarray,
    starting: np.ndarray,
    seating: int,
    line_up: np.ndarray,
    views: np.ndarray,
    masks: np.ndarray,
    rewards: np.ndarray,
) -> None:
    """`begin_seat` where `starting` (bool)."""
    for i in range(len(states)):
        if starting[i]:
            begin_seat(states, i, rules, episodes, seating, line_up, views, 0, masks, rewards)


@player_template
def write_seats(
    states: np.ndarray,
    rules: np.ndarray,
    episodes: np.ndarray,
    which: np.ndarray,
    views: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
) -> None:
    """Write the learner's observation and mask at the tables `which` (bool); all ones where the game is over."""
    for i in range(len(states)):
        if which[i]:
            seat = episodes[i]["learner"]
            look(states, i, rules, seat, views, 0)
            observe(views[0], rules[0], seat, observations[i])
            if states[i]["over"] == RUNNING:
                legal(views[0], rules[0], masks[i])
            else:
                masks[i, :] = 1


@player_template
def turn_seat(desks: np.ndarray, action: int, policy: int, observations: np.ndarray, masks: np.ndarray) -> float:
    """A step of the learner at a single table (see `step_table`), all other players compiled; returns its reward.

    `news`, int64: the learner's seat, over, round, illegal actions replaced, and offender.
    """
    desk = desks[0]
    states, rules, episodes, paid, news = (
        desk["states"], desk["rules"], desk["episodes"], desk["rewards"], desk["news"],
    )  # fmt: skip
    play(states[0], rules[0], episodes[0], masks[0], action, policy, paid, 0)
    settle(states, 0, rules, episodes, desk["views"], 0, masks, paid)
    learner = episodes[0]["learner"]
    reward = paid[0, learner]
    for seat in range(rules[0]["num_players"]):
        paid[0, seat] = 0.0
    look(states, 0, rules, learner, desk["views"], 0)
    observe(desk["views"][0], rules[0], learner, observations[0])
    if states[0]["over"] == RUNNING:
        legal(desk["views"][0], rules[0], masks[0])
    else:
        for each in range(masks.shape[1]):
            masks[0, each] = 1
    news[0], news[1], news[2] = learner, states[0]["over"], states[0]["round"]
    news[3], news[4] = episodes[0]["replaced"], episodes[0]["offender"]
    return reward


@player_template
def turn_seats(
    states: np.ndarray,
    rules: np.ndarray,
    episodes: np.ndarray,
    actions: np.ndarray,
    policy: int,
    same_step: bool,
    seating: int,
    line_up: np.ndarray,
    views: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    final: np.ndarray,
    ended: np.ndarray,
    paid: np.ndarray,
    rewards: np.ndarray,
    over: np.ndarray,
) -> None:
    """A whole step of the learner at every table, all other players compiled.

    With `same_step` a finished game writes its last observation to `final` and its bookkeeping to `ended` (records of
    `EPISODE`), and the next one begins at once; without,
    a table that was over before this call begins its next episode in it, and its action is ignored. `rewards` has shape
    `(n,)`; `paid`, shape `(n, num_players)`, keeps what was paid before the learner's first decision for that decision.
    """
    for i in range(len(states)):
        if over[i] != RUNNING and not same_step:
            episodes[i]["number"] += 1
            begin_seat(states, i, rules, episodes, seating, line_up, views, 0, masks, paid)
            rewards[i] = 0.0
        else:
            play(states[i], rules[0], episodes[i], masks[i], actions[i], policy, paid, i)
            settle(states, i, rules, episodes, views, 0, masks, paid)
            rewards[i] = paid[i, episodes[i]["learner"]]
            for seat in range(rules[0]["num_players"]):
                paid[i, seat] = 0.0
        over[i] = states[i]["over"]
        if same_step and over[i] != RUNNING:
            look(states, i, rules, episodes[i]["learner"], views, 0)
            observe(views[0], rules[0], episodes[i]["learner"], final[i])
            ended[i] = episodes[i]
            episodes[i]["number"] += 1
            begin_seat(states, i, rules, episodes, seating, line_up, views, 0, masks, paid)
        learner = episodes[i]["learner"]
        look(states, i, rules, learner, views, 0)
        observe(views[0], rules[0], learner, observations[i])
        if states[i]["over"] == RUNNING:
            legal(views[0], rules[0], masks[i])
        else:
            masks[i, :] = 1


# --- compiling --------------------------------------------------------------------------------------------------------


@cache
def loops(definition: Definition) -> SimpleNamespace:
    """The loops of this file for one game; each is compiled when it is first called."""
    names: dict[str, Any] = {**definition.kernels, "BLANK": np.zeros(1, definition.state)}
    for each in _TEMPLATES:
        names[each.__name__] = specialize(each, names, definition.id)
    return SimpleNamespace(**names)


@cache
def player_loops(definition: Definition, players: tuple[Player, ...]) -> SimpleNamespace:
    """The loops in which compiled players sit at the table, by their index in `players`."""
    names: dict[str, Any] = dict(vars(loops(definition)))
    tag = f"{definition.id}: {', '.join(name for name, _ in players)}"
    for place, (name, player) in reversed(list(enumerate(players))):
        last = place == len(players) - 1
        found = {"act": player} if last else {"act": player, "others": names["choose"]}
        names["choose"] = specialize(
            _first if last else _one_of, found, ", ".join([definition.id, *(name for name, _ in players[place:])])
        )
    if not players:
        names["choose"] = specialize(_nobody, {}, definition.id)
    for each in _PLAYER_TEMPLATES:
        names[each.__name__] = specialize(each, names, tag)
    return SimpleNamespace(**names)


def _nobody(view: Row, rules: Row, mask: np.ndarray, key: np.uint64, index: int) -> int:
    """The choice at a table without compiled players, where none is ever asked."""
    return -1


def checked_seed(seed: Any) -> int:
    """A seed as a Python int.

    Raises:
        SeedError: It is not an integer in 0 … 2^64−1.
    """
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool | np.bool_) and 0 <= int(seed) < 2**64:
        return int(seed)
    raise SeedError(f"a seed must be an integer in 0 … 2^64-1; got {seed!r}")


def set_seed(episode: Row, seed: int, number: int = 0) -> None:
    """Let a table's next episodes come from a seed, counted from `number`."""
    episode["deal_key"], episode["agent_key"] = seed_keys(seed)
    episode["number"] = number


@cache
def desk_dtype(definition: Definition) -> np.dtype[np.void]:
    """All that a single table has but its observation and mask, whose sizes the rules decide."""
    return np.dtype(
        [
            ("states", definition.state, (1,)),
            ("views", definition.state, (1,)),
            ("rules", definition.row, (1,)),
            ("episodes", EPISODE, (1,)),
            # Seat to move, over, round, illegal actions replaced, offender, and 1 where the last step paid anybody.
            ("news", np.int64, (6,)),
            ("rewards", np.float32, (1, MAX_SEATS)),
        ],
        align=True,
    )


# --- one table --------------------------------------------------------------------------------------------------------


class Table:
    """One game, everything open: what records, environments and tests play on.

    Args:
        game: The game at this table.
        policy: What happens to an illegal action (see `ILLEGAL`).

    Attributes:
        seat: The seat whose decision it is.
        over: `RUNNING`, `TERMINATED` or `TRUNCATED`.
        round: 0 for the first round.
        replaced: Illegal actions of this episode for which a random one was played.
        offender: The seat whose illegal action ended the game, or −1.
        paid: Whether the last step paid anybody.
        observations, masks: Of the seat to move, float32 `(1, layout.size)` and int8 `(1, num_actions)`.
        rewards: What the last step paid each seat, float32, `(1, num_players)`.
    """

    def __init__(self, game: Game, policy: str = "raise") -> None:
        if not one_of(policy, ILLEGAL):
            raise OptionError(f"unknown policy for illegal actions {policy!r}; {closest(policy, ILLEGAL)}")
        self.game = game
        self.policy: int = ILLEGAL.index(policy)
        self.loops: Any = loops(game.definition)
        self._step = self.loops.step_table
        self._desks = np.zeros(1, desk_dtype(game.definition))
        self._desks["rules"][0] = game.row
        self.states: np.ndarray = self._desks["states"][0]
        self.episodes: np.ndarray = self._desks["episodes"][0]
        self._news = self._desks["news"][0]
        self.rewards: np.ndarray = self._desks["rewards"][0][:, : game.num_players]
        self.observations: np.ndarray = np.zeros((1, game.layout.size), np.float32)
        self.masks: np.ndarray = np.zeros((1, game.num_actions), np.int8)
        self._mask = self.masks[0]
        self.seat: int = 0
        self.over: int = RUNNING
        self.round: int = 0
        self.replaced: int = 0
        self.offender: int = -1
        self.paid: bool = False
        self.deals: tuple[Mapping[str, Any], ...] = ()
        self.started: bool = False

    def start(self, seed: int, number: int = 0, deals: Sequence[Mapping[str, Any]] = ()) -> None:
        """Begin episode `number` of a seed, the first rounds dealt as given.

        Raises:
            DealError: A deal given is not one that the rules allow; the table is what it was.
        """
        self._check_deals(deals)
        set_seed(self.episodes[0], checked_seed(seed), number)
        self.loops.start_tables(self.states, self.game.row, self.episodes, np.ones(1, bool))
        self.deals = tuple(deals)
        self.started = True
        self._given_deal()
        self._play(-1)

    def _check_deals(self, deals: Sequence[Mapping[str, Any]]) -> None:
        if not isinstance(deals, list | tuple):
            raise DealError(f"deals must be a list of one a round; got {deals!r}")
        for round_number, given in enumerate(deals):
            trial, episode = self.states.copy(), self.episodes.copy()
            set_seed(episode[0], 0)
            self.loops.start_tables(trial, self.game.row, episode, np.ones(1, bool))
            # Some rules deal one round otherwise than another.
            trial["round"] = round_number
            try:
                self.game.definition.write_deal(trial[0], self.game.row[0], given)
            except DealError as error:
                raise DealError(f"deal of round {round_number}: {error}") from None

    def _given_deal(self) -> None:
        """Lay out the deal given for the round just begun, if there is one."""
        number = int(self.states["round"][0])
        if number < len(self.deals):
            self.game.definition.write_deal(self.states[0], self.game.row[0], self.deals[number])

    def _play(self, action: int) -> None:
        """Play an action, or with −1 only see how things stand."""
        self._step(self._desks, action, self.policy, self.observations, self.masks)
        self.seat, self.over, self.round, self.replaced, self.offender, self.paid = self._news.tolist()

    @property
    def steps(self) -> int:
        """Decisions made in this episode."""
        return int(self.episodes["steps"][0])

    def legal_actions(self) -> list[int]:
        """The actions legal now, ascending; none when the game is over."""
        return [int(action) for action in np.flatnonzero(self.masks[0])]

    def check(self, action: Any) -> int:
        """An action as a Python int.

        Raises:
            UsageError: No game is going on.
            IllegalActionError: It is not an integer of the action space, or not legal now where that is refused.
        """
        if not self.started or self.over != RUNNING:
            raise UsageError(f"{'the game is over' if self.started else 'no game was begun'}; call reset first")
        number = whole_action(action, self.game)
        if self.policy == RAISE and not self._mask.item(number):
            raise self.illegal(number)
        return number

    def illegal(self, action: int) -> IllegalActionError:
        """The error that says what would have been legal."""
        legal_here = self.legal_actions()
        texts = ", ".join(repr(self.game.action_texts[each]) for each in legal_here)
        return IllegalActionError(
            f"action {action} ({self.game.action_texts[action]!r}) is not legal for seat {self.seat}; "
            f"legal: {', '.join(map(str, legal_here))} ({texts})"
        )

    def step(self, action: Any) -> np.ndarray:
        """Play an action for the seat to move.

        Returns:
            What each seat was paid for it, float32, shape `(num_players,)`; overwritten by the next step.

        Raises:
            UsageError, IllegalActionError: See `check`; the state is what it was.
        """
        round_before = self.round
        self._play(self.check(action))
        if self.deals and self.round != round_before:
            rewards = self.rewards.copy()
            self._given_deal()
            self._play(-1)
            self.rewards[:] = rewards
        return self.rewards[0]

    def view(self, seat: int) -> np.ndarray:
        """What a seat knows (or `ANYBODY`), a record in an array of shape `(1,)`."""
        views, masks, keys = self.states.copy(), self.masks.copy(), np.zeros(1, np.uint64)
        if seat == ANYBODY:
            views["key"] = 0
            self.game.definition.hide(views[0], self.game.row[0], ANYBODY)
            return views
        self.loops.view_tables(
            self.states,
            self.game.row,
            self.episodes,
            np.zeros(1, np.int64),
            np.full(1, seat, np.int8),
            views,
            masks,
            keys,
        )
        return views

    def observe(self, seat: int) -> np.ndarray:
        """A seat's observation, float32, shape `(layout.size,)`."""
        out = np.zeros_like(self.observations)
        self.loops.observe_views(self.view(seat), self.game.row, np.full(1, seat, np.int8), out)
        return out[0]

    def scores(self) -> np.ndarray:
        """Each seat's points as they stand, float64, shape `(num_players,)`."""
        points = np.zeros((1, self.game.num_players))
        self.loops.score_tables(self.states, self.game.row, points)
        return points[0]

    def deal(self) -> dict[str, Any]:
        """The deal of the round just begun, as a record has it."""
        return self.game.definition.read_deal(self.states[0], self.game.row[0])

    def scene(self, seat: int) -> Scene:
        """What lies where, as a seat sees it, or all of it (`ANYBODY`)."""
        shown = self.states if seat == ANYBODY else self.view(seat)
        return self.game.definition.scene(shown[0], self.game.row[0], seat)

    def _repr_html_(self) -> str:
        """The open table, in a notebook."""
        from pigenv.render.svg import draw_svg

        return draw_svg(self.scene(ANYBODY), self.game.definition.base) if self.started else f"<p>{self.game.id}</p>"

    def clone(self, redraw: int | None = None) -> Table:
        """A copy that plays on identically; with `redraw`, a seed, what nobody has seen is drawn anew."""
        copy = Table(self.game, ILLEGAL[self.policy])
        copy.restore(self.save())
        if redraw is not None:
            key = draw(seed_keys(checked_seed(redraw))[0], 0)
            copy.states[:] = self.view(ANYBODY)
            self.loops.determinize_views(copy.states, self.game.row, np.full(1, key, np.uint64))
            copy.episodes["deal_key"], copy.episodes["agent_key"] = seed_keys(checked_seed(redraw))
            copy.deals = copy.deals[: self.round + 1]
        return copy

    def save(self) -> dict[str, Any]:
        """All of the table that changes, as copies."""
        arrays = ("states", "episodes", "observations", "masks", "rewards")
        plain = ("deals", "started", "seat", "over", "round", "replaced", "offender", "paid")
        return {
            **{name: getattr(self, name) for name in plain},
            **{name: getattr(self, name).copy() for name in arrays},
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Become what was saved."""
        for name, value in saved.items():
            if isinstance(value, np.ndarray):
                getattr(self, name)[:] = value
            else:
                setattr(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {"game": self.game, "policy": ILLEGAL[self.policy], "saved": self.save()}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        self.__init__(pickled["game"], pickled["policy"])  # type: ignore[misc]
        self.restore(pickled["saved"])


def whole_action(action: Any, game: Game) -> int:
    """An action as a Python int.

    Raises:
        IllegalActionError: It is not an integer of the action space.
    """
    if type(action) is int or (isinstance(action, int | np.integer) and not isinstance(action, bool)):
        number = int(action)
        if 0 <= number < game.num_actions:
            return number
    elif isinstance(action, np.ndarray) and action.shape == () and action.dtype.kind in "iu":
        return whole_action(action[()], game)
    raise IllegalActionError(f"an action of {game.id} must be an integer 0 … {game.num_actions - 1}; got {action!r}")


def whole_actions(actions: Any, count: int, game: Game) -> np.ndarray:
    """Actions for so many tables as an array of integers; whether they are legal is for the caller to see.

    Raises:
        IllegalActionError: They are not so many integers.
    """
    try:
        given = np.asarray(actions)
        if given.shape == (count,) and given.dtype.kind in "iu":
            return given
        found = f"shape {given.shape} of {given.dtype}"
    except (TypeError, ValueError, OverflowError):  # lists of different lengths, and what else makes no array
        found = repr(actions)
    raise IllegalActionError(f"actions must be {count} integers 0 … {game.num_actions - 1}; got {found}")
