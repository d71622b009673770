"""Contract checks for anybody's game: what every environment, record and agent of the suite relies on.

    from pigenv import registry, testing

    testing.check_game(registry.make("my_game", num_players=3))

Each check is a function of its own, listed in `CHECKS`; it plays games at random and raises an `AssertionError` with a
sentence that says what does not hold, and where.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import numpy as np

from pigenv.errors import DealError
from pigenv.game import ANYBODY, REWARDS, RUNNING, TERMINATED, TRUNCATED, Game
from pigenv.render.text import draw_text
from pigenv.scene import Scene, Zone
from pigenv.table import Table

__all__ = ["CHECKS", "check_game", "env_leak_check", "leak_check"]

_STEP_LIMIT: Final = 100_000
_TOLERANCE: Final = 1e-4
_OPEN_PARTS: Final = ("face_up",)
_TURNING: Final = "flip"  # how actions begin by which a card is turned over for all to see

Check = Callable[[Game, int, int], None]


def check_game(game: Game, games: int = 20, seed: int = 0) -> None:
    """Run every check on a game.

    Args:
        game: The game at the table to be checked; its presets, table sizes and options are worth a call each.
        games: How many random games each check plays.
        seed: Where its chance comes from.

    Raises:
        AssertionError: The game breaks the contract; the sentence says how.
    """
    for check in CHECKS:
        check(game, games, seed)


# --- playing ----------------------------------------------------------------------------------------------------------


def _hold(condition: Any, sentence: str) -> None:
    """Raise the sentence unless the condition holds. Not `assert`, which `python -O` leaves out."""
    if not condition:
        raise AssertionError(sentence)


def _dealt(game: Game, key: int) -> np.ndarray:
    """The first round dealt from a key, a record in an array of shape `(1,)`."""
    state = np.zeros(1, game.definition.state)
    state["key"] = key
    game.definition.deal(state[0], game.row[0])
    return state


def _mask(game: Game, state: np.ndarray) -> tuple[np.ndarray, int]:
    """The mask of the seat to move, and how many actions the kernel says are legal."""
    # Filled with rubbish first: a kernel must write every entry.
    mask = np.full(game.num_actions, 7, np.int8)
    return mask, int(game.definition.legal(state[0], game.row[0], mask))


def _view(game: Game, state: np.ndarray, seat: int) -> np.ndarray:
    """What a seat knows of a state."""
    view = state.copy()
    view["key"] = 0
    game.definition.hide(view[0], game.row[0], seat)
    return view


def _world(game: Game, view: np.ndarray, key: int) -> np.ndarray:
    """A world that could be the truth behind a view."""
    world = view.copy()
    game.definition.determinize(world[0], game.row[0], np.uint64(key))
    return world


def _observation(game: Game, view: np.ndarray, seat: int) -> tuple[np.ndarray, int]:
    """A seat's observation, and how many numbers the kernel says it wrote."""
    out = np.full(game.layout.size, np.nan, np.float32)
    return out, int(game.definition.observe(view[0], game.row[0], seat, out))


def _stepped(game: Game, state: np.ndarray, action: int) -> np.ndarray:
    """The state after an action."""
    after = state.copy()
    game.definition.step(after[0], game.row[0], action)
    return after


def _key(generator: np.random.Generator) -> int:
    return int(generator.integers(1, 2**63))


def _positions(game: Game, games: int, seed: int) -> Iterator[tuple[np.ndarray, np.random.Generator]]:
    """Every position of random games in which somebody is to move, and a source of chance."""
    generator = np.random.default_rng(seed)
    for _ in range(games):
        state = _dealt(game, _key(generator))
        for _ in range(_STEP_LIMIT):
            if state["over"][0] != RUNNING:
                break
            yield state.copy(), generator
            mask, _ = _mask(game, state)
            state = _stepped(game, state, int(generator.choice(np.flatnonzero(mask))))


def _some_positions(game: Game, games: int, seed: int) -> Iterator[tuple[np.ndarray, np.random.Generator]]:
    """About a fifth of the positions of random games, fewer of those late in long ones; the first one always."""
    number = 0
    for place, (state, generator) in enumerate(_positions(game, games, seed)):
        # Counted from the start of each game, of which there may be several rounds.
        number = 0 if state["round"][0] == 0 and state["turn"][0] == 0 else number + 1
        if place == 0 or generator.random() < min(0.2, 10 / (1 + number)):
            yield state, generator


def _played(game: Game, seed: int, chance: int, number: int = 0) -> tuple[Table, np.ndarray, list[bytes]]:
    """A table after a whole random game, what each seat was paid in it, and its state after each step."""
    table = Table(game)
    table.start(seed, number)
    return table, *_play_on(table, np.random.default_rng(chance))


def _play_on(table: Table, generator: np.random.Generator) -> tuple[np.ndarray, list[bytes]]:
    """Play a table to the end at random."""
    paid, trace = np.zeros(table.game.num_players), [table.states.tobytes()]
    for _ in range(_STEP_LIMIT):
        if table.over != RUNNING:
            break
        paid += table.step(generator.choice(table.legal_actions()))
        trace.append(table.states.tobytes() + table.observations.tobytes() + table.masks.tobytes())
    return paid, trace


def _where(game: Game, state: np.ndarray) -> str:
    """A position in a few words."""
    row = state[0]
    return f"{game.id}, {game.num_players} players, round {row['round']}, turn {row['turn']}, seat {row['seat']}"


# --- actions ----------------------------------------------------------------------------------------------------------


def check_action_texts(game: Game, games: int = 20, seed: int = 0) -> None:  # noqa: ARG001
    """Each action has a text of its own, from which it is found again."""
    _hold(game.num_actions > 0, f"{game.id} has no actions")
    for action, text in enumerate(game.action_texts):
        _hold(isinstance(text, str) and text, f"action {action} of {game.id} has no text; got {text!r}")
        found = game.action_number(text)
        _hold(found == action, f"actions {action} and {found} of {game.id} have the same text {text!r}")


def check_mask(game: Game, games: int = 20, seed: int = 0) -> None:
    """The mask is 0 and 1, never all 0 for the seat to move, and as many as the kernel returned are 1."""
    for state, _ in _positions(game, games, seed):
        mask, count = _mask(game, state)
        where = _where(game, state)
        _hold(set(mask.tolist()) <= {0, 1}, f"a mask must be 0 and 1 everywhere; got {mask.tolist()} ({where})")
        _hold(mask.any(), f"the seat to move must have a legal action ({where})")
        _hold(count == mask.sum(), f"legal returned {count}, but {mask.sum()} actions are legal ({where})")


def check_mask_of_view(game: Game, games: int = 20, seed: int = 0) -> None:
    """The mask is the same from the state and from what the seat to move knows."""
    for state, _ in _positions(game, games, seed):
        of_state, count = _mask(game, state)
        of_view, count_of_view = _mask(game, _view(game, state, int(state["seat"][0])))
        same = count == count_of_view and (of_state == of_view).all()
        _hold(
            same,
            f"legal reads what the seat to move does not know: other actions from its view ({_where(game, state)})",
        )


def check_reading_changes_nothing(game: Game, games: int = 20, seed: int = 0) -> None:
    """Asking for the mask, an observation, the scores or a picture leaves the state as it is."""
    for state, _ in _some_positions(game, games, seed):
        before, seat = state.tobytes(), int(state["seat"][0])
        _mask(game, state)
        _hold(state.tobytes() == before, f"legal changes the state ({_where(game, state)})")
        _observation(game, state, seat)
        _hold(state.tobytes() == before, f"observe changes the state ({_where(game, state)})")
        game.definition.scores(state[0], game.row[0], np.zeros(game.num_players))
        _hold(state.tobytes() == before, f"scores changes the state ({_where(game, state)})")
        game.definition.scene(state[0], game.row[0], seat)
        _hold(state.tobytes() == before, f"scene changes the state ({_where(game, state)})")


def check_legal_actions_apply(game: Game, games: int = 20, seed: int = 0) -> None:
    """Every legal action can be played, leads somewhere, and the same place each time."""
    for state, _ in _some_positions(game, games, seed):
        mask, _ = _mask(game, state)
        for action in np.flatnonzero(mask).tolist():
            after = _stepped(game, state, action)
            where = f"action {game.action_texts[action]!r}, {_where(game, state)}"
            _hold(after.tobytes() != state.tobytes(), f"a legal action changed nothing ({where})")
            _hold(after.tobytes() == _stepped(game, state, action).tobytes(), f"an action has two outcomes ({where})")
            over, seat = int(after["over"][0]), int(after["seat"][0])
            _hold(over in (RUNNING, TERMINATED, TRUNCATED), f"over must be 0, 1 or 2; got {over} ({where})")
            _hold(0 <= seat < game.num_players, f"there is no seat {seat} to move next ({where})")


def check_end(game: Game, games: int = 20, seed: int = 0) -> None:
    """Every game ends, with no more turns a round than the option `max_turns` allows."""
    limit = getattr(game.rules, "max_turns", _STEP_LIMIT)
    generator = np.random.default_rng(seed)
    for _ in range(games):
        state = _dealt(game, _key(generator))
        steps = 0
        while state["over"][0] == RUNNING:
            _hold(steps < _STEP_LIMIT, f"a game did not end within {_STEP_LIMIT} steps ({_where(game, state)})")
            turn = int(state["turn"][0])
            _hold(turn < limit, f"max_turns is {limit}, but turn {turn} goes on ({_where(game, state)})")
            mask, _ = _mask(game, state)
            state = _stepped(game, state, int(generator.choice(np.flatnonzero(mask))))
            steps += 1


# --- rewards ----------------------------------------------------------------------------------------------------------


def check_rewards(game: Game, games: int = 20, seed: int = 0) -> None:
    """Under each kind of reward a step pays zero in sum, and a game pays what its final scores say."""
    for kind in REWARDS:
        settings = {**game.settings(), "reward": kind}
        table = Table(Game(game.definition, **{k: v for k, v in settings.items() if k != "game"}))
        generator = np.random.default_rng(seed)
        for number in range(games):
            table.start(seed, number)
            paid = np.zeros(game.num_players)
            while table.over == RUNNING:
                rewards = table.step(generator.choice(table.legal_actions()))
                _hold(
                    abs(rewards.sum()) < _TOLERANCE, f"reward {kind!r} is not zero-sum: a step paid {rewards.tolist()}"
                )
                paid += rewards
            due = _returns(table, kind)
            _hold(
                np.abs(paid - due).max() < _TOLERANCE,
                f"reward {kind!r} paid {paid.tolist()}; scores {table.scores().tolist()} make {due}",
            )


def _returns(table: Table, kind: str) -> list[float]:
    """What final scores are worth, by the published formulas."""
    game, scores = table.game, table.scores().tolist()
    lowest = game.definition.lowest_wins(game.rules)
    points = [-score for score in scores] if lowest else scores
    n, best = len(points), max(points)
    if kind == "win":
        winners = points.count(best)
        return [(n / winners * (point == best) - 1) / (n - 1) for point in points]
    if kind == "score":
        scale = game.definition.score_scale(game.rules, n)
        return [(point - sum(points) / n) / scale for point in points]
    places = [sum(other > point for other in points) + (points.count(point) + 1) / 2 for point in points]
    return [(n + 1 - 2 * place) / (n - 1) for place in places]


# --- observations -----------------------------------------------------------------------------------------------------


def check_layout(game: Game, games: int = 20, seed: int = 0) -> None:  # noqa: ARG001
    """The layout has named parts without gaps, and the same game made again has the same digest."""
    names = [part.name for part in game.layout.parts]
    _hold(len(set(names)) == len(names), f"two parts of the observation of {game.id} have one name: {names}")
    at = 0
    for name, start, stop, meaning in game.layout.rows():
        _hold(start == at and stop > start, f"part {name!r} lies at {start} … {stop} of the observation of {game.id}")
        _hold(meaning, f"part {name!r} of the observation of {game.id} has no meaning written down")
        at = stop
    again = Game(game.definition, **{k: v for k, v in game.settings().items() if k != "game"})
    _hold(again == game, f"a game made from its own settings is another one: {again!r}")
    _hold(again.digest == game.digest, f"the layout digest of {game.id} changes from one making to the next")


def check_observation(game: Game, games: int = 20, seed: int = 0) -> None:
    """An observation is as long as the layout says, written to its end, and between 0 and 1 for every seat."""
    for state, _ in _some_positions(game, games, seed):
        for seat in range(game.num_players):
            out, written = _observation(game, _view(game, state, seat), seat)
            where = f"for seat {seat}, {_where(game, state)}"
            size = game.layout.size
            _hold(written == size, f"observe returned {written}, but the layout has {size} numbers ({where})")
            _hold(not np.isnan(out).any(), f"observe left {_named(game, np.isnan(out))} unwritten ({where})")
            bad = (out < 0) | (out > 1)
            _hold(not bad.any(), f"observation outside 0 … 1 in {_named(game, bad)} ({where})")


def _named(game: Game, which: np.ndarray) -> str:
    """The parts of an observation to which some indices belong."""
    return ", ".join(name for name, part in game.layout.slices.items() if which[part].any())


# --- what a seat knows ------------------------------------------------------------------------------------------------


def check_hide(game: Game, games: int = 20, seed: int = 0) -> None:
    """A view holds no key, and hiding a second time changes nothing; for each seat and for anybody."""
    table = Table(game)
    table.start(seed)
    for seat in range(-1, game.num_players):
        _hold(table.view(seat)["key"][0] == 0, f"the view of seat {seat} of {game.id} holds the key of all chance")
    for state, _ in _some_positions(game, games, seed):
        for seat in (ANYBODY, *range(game.num_players)):
            view = _view(game, state, seat)
            again = _view(game, view, seat)
            _hold(view.tobytes() == again.tobytes(), f"hide is not idempotent for seat {seat} ({_where(game, state)})")


def check_determinize(game: Game, games: int = 20, seed: int = 0) -> None:
    """A world drawn for a seat shows it the same view, the same observation and the same mask."""
    for state, generator in _some_positions(game, games, seed):
        mover = int(state["seat"][0])
        for seat in range(game.num_players):
            view, key = _view(game, state, seat), _key(generator)
            world = _world(game, view, key)
            where = f"for seat {seat}, {_where(game, state)}"
            same_key = _world(game, view, key).tobytes() == world.tobytes()
            _hold(same_key, f"determinize draws two worlds from one key ({where})")
            shown = _view(game, world, seat)
            _hold(shown.tobytes() == view.tobytes(), f"a world drawn for a seat shows it another view ({where})")
            before, after = _observation(game, view, seat)[0], _observation(game, shown, seat)[0]
            _hold(before.tobytes() == after.tobytes(), f"a world drawn for a seat shows it otherwise ({where})")
            if seat == mover:
                same = _mask(game, world)[0].tobytes() == _mask(game, view)[0].tobytes()
                _hold(same, f"a world drawn for a seat allows it other actions ({where})")


def check_worlds_play_on(game: Game, games: int = 20, seed: int = 0) -> None:
    """A world drawn for a seat can be played to the end."""
    for state, generator in _some_positions(game, 1 + games // 10, seed):
        world = _world(game, _view(game, state, int(state["seat"][0])), _key(generator))
        for _ in range(_STEP_LIMIT):
            if world["over"][0] != RUNNING:
                break
            mask, count = _mask(game, world)
            _hold(count > 0, f"a world drawn for a seat got stuck without a legal action ({_where(game, world)})")
            world = _stepped(game, world, int(generator.choice(np.flatnonzero(mask))))
        _hold(world["over"][0] != RUNNING, f"a world drawn for a seat did not end ({_where(game, world)})")


def leak_check(
    game: Game,
    games: int = 20,
    seed: int = 0,
    public: Collection[str] = _OPEN_PARTS,
    pictures: Sequence[Callable[[Scene], Any]] = (draw_text,),
) -> None:
    """No byte of what a seat is given depends on what it may not know.

    Two truths are held against each other that a seat cannot tell apart, got in two ways:

    - At random positions all that the seat does not know is drawn anew by the game's own `determinize`.
    - Cards that the seat has not seen change places in the deal, two of them or all, and both games are played on alike
      for as long as they differ only where cards lie face down to the seat. This way asks neither `determinize` nor,
      after the deal, `hide`.

    View, observation, mask, scene, every picture drawn from it and what is called out must be the same to the byte.
    What environments give besides is for `env_leak_check`.

    Args:
        game: The game to be checked.
        games: How many random games.
        seed: Where its chance comes from.
        public: Parts of the deal that lie open from the start.
        pictures: Draw a scene: text, image or anything else that can be compared.

    Raises:
        AssertionError: Something changed; the sentence says what, to whom and where.
    """
    for state, generator in _some_positions(game, games, seed):
        for seat in range(game.num_players):
            world = _world(game, _view(game, state, seat), _key(generator))
            _same_to_seat(game, state, world, seat, pictures)
    for twins in _twins(game, games, seed, public):
        _same_to_seat(game, twins.one.states, twins.other.states, twins.seat, pictures)
        said = f"{twins.said[0]!r} and {twins.said[1]!r}, {_where(game, twins.one.states)}"
        _hold(
            twins.said[0] == twins.said[1], f"what is called out leaks what is hidden from seat {twins.seat} ({said})"
        )


def env_leak_check(env: Any, games: int = 20, seed: int = 0, public: Collection[str] = _OPEN_PARTS) -> None:
    """Nothing that an environment gives an agent depends on what its seat may not know.

    Two copies of the environment are dealt two truths that the agent's seat cannot tell apart, and are played alike
    (see `leak_check`, the second way). Observation, mask, info, reward, ends and whose turn it is must be the same.

    Args:
        env: A PettingZoo AEC environment of the suite, with `game`, and deals in the options of `reset`. It is not
            played itself.
        games: How many random games.
        seed: Where its chance comes from.
        public: Parts of the deal that lie open from the start.

    Raises:
        AssertionError: Something differed; the sentence says what, to whom and where.
    """
    one, other = copy.deepcopy(env), copy.deepcopy(env)
    for twins in _twins(env.game, games, seed, public):
        for each, deal in ((one, twins.deals[0]), (other, twins.deals[1])):
            if twins.action is None:
                each.reset(seed=twins.seed, options={"deal": copy.deepcopy(deal)})
            else:
                each.step(twins.action)
        agent, where = env.possible_agents[twins.seat], _where(env.game, twins.one.states)
        for what in ("observe", "infos", "rewards", "terminations", "truncations", "agent_selection"):
            given = [_given(each, what, agent) for each in (one, other)]
            told = f"{given[0]} and {given[1]} ({where})"
            _hold(given[0] == given[1], f"{what} of the environment leaks to {agent} what is hidden: {told}")


def _given(env: Any, what: str, agent: str) -> str:
    """One of the things that an environment gives an agent, exactly, as text."""
    if what == "observe":
        return _exact(env.observe(agent))
    value = getattr(env, what)
    return _exact(value if what == "agent_selection" else value.get(agent))


def _exact(value: Any) -> str:
    """A value as text that is the same only for the same bytes."""
    if isinstance(value, dict):
        return str({name: _exact(each) for name, each in value.items()})
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape} {value.tobytes().hex()}"
    return repr(value)


@dataclasses.dataclass(frozen=True)
class _Twins:
    """Two games that a seat cannot tell apart, after the same play.

    Attributes:
        one, other: The tables.
        seat: Whose eyes they are the same to.
        seed: What both were started from.
        deals: How the first round was dealt.
        action: What was played last; None right after the deal.
        said: What was called out at it, at each table.
    """

    one: Table
    other: Table
    seat: int
    seed: int
    deals: tuple[dict[str, Any], dict[str, Any]]
    action: int | None = None
    said: tuple[str, str] = ("", "")


def _twins(game: Game, games: int, seed: int, public: Collection[str]) -> Iterator[_Twins]:
    """Pairs of games for each seat, from the deal on until the seat comes to see where they differ."""
    generator = np.random.default_rng(seed)
    one, other = Table(game), Table(game)
    for number in range(games):
        for seat in range(game.num_players):
            start = _key(generator)
            one.start(start)
            given = copy.deepcopy(one.deal())
            changed = _redealt(game, given, seat, generator, public, wholesale=number % 2 == 1)
            if changed is None:
                continue
            one.start(start, 0, [given])
            other.start(start, 0, [changed])
            face_down = _face_down(one, seat)
            yield _Twins(one, other, seat, start, (given, changed))
            while one.over == RUNNING and other.over == RUNNING:
                common = sorted(set(one.legal_actions()) & set(other.legal_actions()))
                # Whoever could not have played the same has shown something by its play.
                if one.seat != other.seat or not common:
                    break
                action = int(generator.choice(common))
                turning = game.action_texts[action].startswith(_TURNING)
                apart = _apart(one, other) if turning else None
                said = _called(one, action), _called(other, action)
                # A card turned over may end up face down to the seat again, or be put away with the whole round, and
                # has been seen and called nevertheless.
                turned = turning and (said[0] != said[1] or _apart(one, other) != apart)
                if turned or _come_to_light(one, other, seat, face_down):
                    break
                yield _Twins(one, other, seat, start, (given, changed), action, said)


def _called(table: Table, action: int) -> str:
    """Play an action at a table; returns what is called out."""
    before, game = table.states.copy(), table.game
    table.step(action)
    return game.definition.call_out(before[0], table.states[0], game.row[0], game.action_texts[action])


def _side(zone: Zone, seat: int) -> str:
    """Where a zone lies as a seat sees it."""
    return "middle" if zone.seat is None else "own" if zone.seat == seat else "other"


def _face_down(table: Table, seat: int) -> set[tuple[str, str]]:
    """The zones in which all cards lie face down to a seat right after the deal."""
    zones = table.scene(seat).zones
    return {(zone.name, _side(zone, seat)) for zone in zones if zone.cards and all(card is None for card in zone.cards)}


def _apart(one: Table, other: Table) -> set[tuple[str, int | None]]:
    """The zones in which two tables differ, all cards open."""
    scenes = [table.scene(ANYBODY) for table in (one, other)]
    return {
        (here.name, here.seat) for here, there in zip(scenes[0].zones, scenes[1].zones, strict=False) if here != there
    }


def _come_to_light(one: Table, other: Table, seat: int, face_down: set[tuple[str, str]]) -> bool:
    """Whether two tables, all cards open, differ elsewhere than where cards lie face down to a seat."""
    scenes = [table.scene(ANYBODY) for table in (one, other)]
    bare = [dataclasses.replace(scene, zones=()) for scene in scenes]
    if bare[0] != bare[1] or len(scenes[0].zones) != len(scenes[1].zones) or one.over != other.over:
        return True
    for here, there in zip(scenes[0].zones, scenes[1].zones, strict=True):
        hidden = (here.name, _side(here, seat)) in face_down
        same_place = (here.name, here.seat, len(here.cards)) == (there.name, there.seat, len(there.cards))
        if not same_place or (here != there and not hidden):
            return True
    return False


def _check_leaks(game: Game, games: int = 20, seed: int = 0) -> None:
    """See `leak_check`."""
    leak_check(game, games, seed)


def _same_to_seat(
    game: Game,
    state: np.ndarray,
    other: np.ndarray,
    seat: int,
    pictures: Sequence[Callable[[Scene], Any]] = (draw_text,),
) -> None:
    """Two truths that a seat cannot tell apart give it the same bytes."""
    where = f"to seat {seat}, {_where(game, state)}"
    view, other_view = _view(game, state, seat), _view(game, other, seat)
    observed, other_observed = _observation(game, view, seat)[0], _observation(game, other_view, seat)[0]
    wrong = observed.view(np.uint32) != other_observed.view(np.uint32)
    _hold(not wrong.any(), f"the observation leaks what is hidden in {_named(game, wrong)} ({where})")
    if seat == int(state["seat"][0]):
        same = _mask(game, state)[0].tobytes() == _mask(game, other)[0].tobytes()
        _hold(same, f"the mask leaks what is hidden ({where})")
    scene, other_scene = (game.definition.scene(each[0], game.row[0], seat) for each in (view, other_view))
    for draw in pictures:
        name = getattr(draw, "__name__", repr(draw))
        _hold(_exact(draw(scene)) == _exact(draw(other_scene)), f"the picture leaks what is hidden, {name} ({where})")
    _hold(scene == other_scene, f"the scene leaks what is hidden ({where})")
    _hold(
        view.tobytes() == other_view.tobytes(),
        f"the view leaks what is hidden in {_fields(view, other_view)} ({where})",
    )


def _fields(one: np.ndarray, other: np.ndarray) -> str:
    """The fields in which two records differ."""
    return ", ".join(name for name in one.dtype.names or () if one[name].tobytes() != other[name].tobytes())


def _redealt(
    game: Game,
    given: dict[str, Any],
    seat: int,
    generator: np.random.Generator,
    public: Collection[str],
    wholesale: bool,
) -> dict[str, Any] | None:
    """A deal with two cards, or all, exchanged that a seat cannot have seen; None where there are none."""
    for _ in range(20):
        changed = copy.deepcopy(given)
        places = [place for name, part in changed.items() if name not in public for place in _places(part, seat, game)]
        if len(places) < 2:
            return None
        chosen = generator.permutation(len(places))[: None if wholesale else 2].tolist()
        cards = [places[each][0][places[each][1]] for each in chosen]
        # Each card goes to the next chosen place, the last one to the first.
        for each, card in zip(chosen, cards[-1:] + cards[:-1], strict=True):
            part, i = places[each]
            part[i] = card
        if changed == given:
            continue
        table = Table(game)
        try:
            table.start(0, 0, [changed])
        except DealError:
            continue
        return changed
    return None


def _places(part: Any, seat: int, game: Game) -> list[tuple[list[Any], int]]:
    """Where cards lie in a part of a deal, a list for all or one for each seat, without the seat's own places."""
    if not isinstance(part, list):
        return []
    if len(part) == game.num_players and all(isinstance(each, list) for each in part):
        return [(each, i) for other, each in enumerate(part) if other != seat for i in range(len(each))]
    return [(part, i) for i in range(len(part))]


# --- chance and copies ------------------------------------------------------------------------------------------------


def check_seeds(game: Game, games: int = 20, seed: int = 0) -> None:
    """One seed gives the same bytes each time, episodes differ, and the least and the greatest seed work."""
    for each in (seed, 0, 2**64 - 1):
        traces = [_played(game, each, chance=1)[2] for _ in range(2)]
        _hold(traces[0] == traces[1], f"{game.id} played twice from seed {each} gives two games")
    table, starts = Table(game), set()
    for number in range(max(games, 10)):
        table.start(seed, number)
        starts.add(table.states.tobytes())
    _hold(len(starts) > 1, f"all episodes of a seed of {game.id} are dealt alike")


def check_copies(game: Game, games: int = 20, seed: int = 0) -> None:
    """A clone, a deep copy and a pickled table play on like the original, which they do not touch."""
    makers: Sequence[Callable[[Table], Table]] = (
        lambda table: table.clone(),
        copy.deepcopy,
        lambda table: pickle.loads(pickle.dumps(table)),
    )
    # A definition that is not registered under its name cannot be found again by another process.
    from pigenv import registry

    registered = game.definition.base in registry.names() and registry.definition(game.id) is game.definition
    generator = np.random.default_rng(seed)
    for number in range(games):
        table = Table(game)
        table.start(seed, number)
        for _ in range(int(generator.integers(0, 30))):
            if table.over == RUNNING:
                table.step(generator.choice(table.legal_actions()))
        before = table.states.tobytes()
        traces = []
        for make in makers if registered else makers[:1]:
            twin = make(table)
            traces.append(_play_on(twin, np.random.default_rng(number))[1])
            _hold(table.states.tobytes() == before, f"playing a copy of a table of {game.id} changes the original")
        traces.append(_play_on(table, np.random.default_rng(number))[1])
        _hold(all(trace == traces[-1] for trace in traces), f"a copy of a table of {game.id} plays on otherwise")


# --- deals and texts --------------------------------------------------------------------------------------------------


def check_deal(game: Game, games: int = 20, seed: int = 0) -> None:
    """A deal read, written as JSON and laid out again gives the same state, whatever was dealt before it."""
    generator = np.random.default_rng(seed)
    for _ in range(games):
        state, other = _dealt(game, _key(generator)), _dealt(game, _key(generator))
        given = json.loads(json.dumps(game.definition.read_deal(state[0], game.row[0])))
        game.definition.write_deal(other[0], game.row[0], given)
        other["key"] = state["key"]
        same = other.tobytes() == state.tobytes()
        _hold(same, f"a deal of {game.id} laid out again differs in {_fields(state, other)}: {given}")


def check_texts(game: Game, games: int = 20, seed: int = 0) -> None:
    """Each step has words to call out, and each position a picture, for each seat and for anybody."""
    for state, _ in _some_positions(game, games, seed):
        mask, _ = _mask(game, state)
        for action in np.flatnonzero(mask).tolist():
            after, text = _stepped(game, state, action), game.action_texts[action]
            called = game.definition.call_out(state[0], after[0], game.row[0], text)
            _hold(isinstance(called, str), f"call_out must give a text; got {called!r} ({_where(game, state)})")
        for seat in (ANYBODY, *range(game.num_players)):
            shown = state if seat == ANYBODY else _view(game, state, seat)
            scene = game.definition.scene(shown[0], game.row[0], seat)
            _hold(isinstance(scene, Scene), f"scene must give a Scene; got {scene!r}")
            _hold(scene.num_players == game.num_players, f"a scene of {game.id} shows {scene.num_players} players")
            _hold(
                scene.to_move == state["seat"][0], f"a scene shows seat {scene.to_move} to move ({_where(game, state)})"
            )
            _hold(len(scene.scores) == game.num_players, f"a scene of {game.id} has scores {scene.scores}")
            _hold(draw_text(scene), "a picture must not be empty")


def check_options(game: Game, games: int = 20, seed: int = 0) -> None:  # noqa: ARG001
    """Every option has a meaning, and the rules are made again from their JSON."""
    for each in dataclasses.fields(game.rules):
        _hold(each.metadata.get("meaning"), f"option {each.name!r} of {game.id} has no meaning written down")
    again = game.definition.rules.made(json.loads(json.dumps(game.rules.to_json())))
    _hold(again == game.rules, f"rules of {game.id} made from their JSON are others: {again!r}")


CHECKS: Final[tuple[Check, ...]] = (
    check_options,
    check_action_texts,
    check_layout,
    check_mask,
    check_mask_of_view,
    check_reading_changes_nothing,
    check_legal_actions_apply,
    check_end,
    check_observation,
    check_hide,
    check_determinize,
    check_worlds_play_on,
    _check_leaks,
    check_deal,
    check_texts,
    check_seeds,
    check_copies,
    check_rewards,
)
"""Every check, those of the kernels first: what they find is nearer to its cause."""
