"""The contract: what a game file provides, and what the rest of the suite makes of it.

A game is a `Definition`: its options, the NumPy record that one running game is, and a handful of kernels. A `Game` is
a definition at a table: rules chosen, seats counted, observation laid out. Everything else in the suite (batch loops,
environments, records, agents, evaluation) is written against these two and takes a new game from them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import NoneType
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypeVar

import numpy as np

from pigenv.errors import OptionError, closest, one_of
from pigenv.kernel import Row
from pigenv.layout import Layout
from pigenv.scene import Scene

__all__ = [
    "ANYBODY",
    "MAX_SEATS",
    "REWARDS",
    "RUNNING",
    "TERMINATED",
    "TRUNCATED",
    "Definition",
    "Game",
    "Preset",
    "Rules",
    "Seating",
    "option",
    "record_dtype",
    "rules_dtype",
    "state_dtype",
]

Fields: TypeAlias = Sequence[tuple[str, Any] | tuple[str, Any, tuple[int, ...]]]

MAX_SEATS: Final = 12
"""The most seats that any game of the suite may have."""

RUNNING, TERMINATED, TRUNCATED = 0, 1, 2
"""Values of a state's `over`: still going on, ended by the rules, cut short by `max_turns`."""

ANYBODY: Final = -1
"""As a seat to `hide` for: what at least one seat knows stays, what nobody has seen is wiped."""

REWARDS: Final = ("win", "rank", "score")
"""Ways to turn scores into rewards; a table holds the index."""


# --- options ----------------------------------------------------------------------------------------------------------

_RulesT = TypeVar("_RulesT", bound="Rules")


def option(
    default: Any,
    meaning: str,
    *,
    choices: tuple[str, ...] = (),
    low: int | None = None,
    high: int | None = None,
    length: int | None = None,
    letters: str = "",
) -> Any:
    """A rule option with its default, meaning and set of values.

    Args:
        default: Its type is the option's type: bool, int, float, str, or a tuple of ints. None is an option that is an
            integer in `low … high`, or None where something else decides.
        meaning: What it does, for the printed rules.
        choices: The words it may be. With `low` given too, an integer in `low … high` will do as well.
        low: The least integer it may be (each one, for a tuple).
        high: The greatest.
        length: How many integers a tuple must have; None for any number.
        letters: A text of some of these, each at most once, will do as well (or a list of them); it is kept in their
            order. Such an option has no field of its own in the kernels' record.
    """
    about = {
        "meaning": meaning, "choices": choices, "low": low, "high": high, "length": length, "letters": letters,
    }  # fmt: skip
    return field(default=default, metadata=about)


@dataclass(frozen=True)
class Rules:
    """The options of a game: frozen, checked, written whole into every record.

    A subclass lists its options with `option` and refuses contradictions in `check`.
    """

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            object.__setattr__(self, each.name, _checked(each, getattr(self, each.name)))
        self.check()

    def check(self) -> None:
        """Refuse options that contradict each other, with the reason."""

    def check_seats(self, num_players: int) -> None:
        """Refuse options that a table of this size cannot be dealt with, with the reason."""

    @classmethod
    def made(cls: type[_RulesT], given: Mapping[str, Any]) -> _RulesT:
        """Rules from names and values, as they stand in a record, a config or on a command line.

        Raises:
            OptionError: A name is unknown, or a value unusable.
        """
        names = [each.name for each in dataclasses.fields(cls)]
        for name in given:
            if name not in names:
                raise OptionError(f"unknown rule {name!r}; {closest(name, names)}")
        return cls(**given)

    def to_json(self) -> dict[str, Any]:
        """Every option with its value, in the order of the rules, as JSON has it."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in dataclasses.asdict(self).items()}


def _kind(each: dataclasses.Field[Any]) -> type[Any]:
    """The type of an option: that of its default."""
    default: Any = each.default
    return type(default)


def _checked(each: dataclasses.Field[Any], value: Any) -> Any:
    """The value of an option in its own type, or an error that says what it may be."""
    about, kind = each.metadata, _kind(each)
    low, high, choices, letters = about["low"], about["high"], about["choices"], about["letters"]
    whole = int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_) else None

    def fits(number: int) -> bool:
        return (low is None or number >= low) and (high is None or number <= high)

    if kind is NoneType and value is None:
        return None
    if one_of(value, choices):
        return value
    if letters and (text := _letters(value, letters)):
        return text
    if kind is bool and isinstance(value, bool | np.bool_):
        return bool(value)
    if (kind in (int, NoneType) or (choices and low is not None)) and whole is not None and fits(whole):
        return whole
    if kind is float and isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return float(value)
    if kind is tuple and (isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)):
        items = [v for v in value if isinstance(v, int | np.integer) and not isinstance(v, bool) and fits(int(v))]
        if len(items) == len(value) and about["length"] in (None, len(value)):
            return tuple(int(v) for v in items)
    raise OptionError(f"rule {each.name!r} must be {describe(each)}; got {value!r}")


def _letters(value: Any, letters: str) -> str:
    """The letters given, in their order; empty where some are not among these, or come twice."""
    given = value if isinstance(value, str | list | tuple) else ()
    known = [each for each in given if one_of(each, list(letters))]
    fits = bool(known) and len(known) == len(given) == len(set(known))
    return "".join(sorted(known, key=letters.index)) if fits else ""


def describe(each: dataclasses.Field[Any]) -> str:
    """The set of values of an option, in words."""
    about, kind = each.metadata, _kind(each)
    low, high, choices = about["low"], about["high"], about["choices"]
    span = "" if low is None else f"{low} … {high}" if high is not None else f"{low} or more"
    words = " or ".join(repr(c) for c in choices)
    if kind is bool:
        return "true or false"
    if kind is tuple:
        count = about["length"]
        return f"a list of {count if count is not None else 'any number of'} integers, each {span}"
    if about["letters"]:
        return f"{words + ', or ' if words else ''}a text of some of the letters {about['letters']}"
    if kind is NoneType:
        return f"null, or an integer {span}"
    if words and span:
        return f"{words}, or an integer {span}"
    return words or (f"an integer {span}" if kind is int else "a number" if kind is float else "a text")


@dataclass(frozen=True)
class Preset:
    """A named edition or table rule.

    Attributes:
        num_players: How many sit down when nobody says.
        meaning: One sentence for `pigenv info`.
        rules: The options it sets otherwise than their defaults.
    """

    num_players: int
    meaning: str
    rules: Mapping[str, Any] = field(default_factory=dict)


# --- records in memory ------------------------------------------------------------------------------------------------

_STATE_FIELDS: Final[Fields] = [
    ("key", np.uint64),  # random numbers of this episode; 0 in a view
    ("turn", np.int32),  # steps of this round so far that `max_turns` counts
    ("round", np.int16),  # 0 for the first round
    ("seat", np.int8),  # whose decision it is
    ("over", np.int8),  # RUNNING, TERMINATED or TRUNCATED
]

_ROW_FIELDS: Final[Fields] = [
    ("num_players", np.int32),
    ("max_players", np.int32),  # seats that the observation is laid out for
    ("mixed", np.int8),  # 1: tables of several sizes share the layout, so the observation says how many play
    ("memory", np.int8),  # 1: the observation holds what a perfect memory of public events knows
    ("reward", np.int8),  # index in REWARDS
    ("lowest_wins", np.int8),  # 1: fewest points win
    ("score_scale", np.float32),  # what the reward "score" divides by
]


def record_dtype(fields: Fields) -> np.dtype[np.void]:
    """An aligned record without holes: equal records are equal bytes, and a copy copies them all."""
    widest_first = sorted(fields, key=lambda each: -np.dtype(each[1]).itemsize)
    size = np.dtype(list(widest_first)).itemsize
    filler: Fields = [("filler", np.int8, (-size % 8,))] if size % 8 else []
    return np.dtype([*widest_first, *filler], align=True)


def state_dtype(fields: Fields) -> np.dtype[np.void]:
    """The record of one running game: the fields every game has, and its own."""
    return record_dtype([*_STATE_FIELDS, *fields])


def rules_dtype(rules: type[Rules], derived: Fields) -> np.dtype[np.void]:
    """The record of rules that kernels read: the table's settings, every option, then what is derived from them.

    An option that is a text or a tuple of any length has no field of its own here; a word out of `choices` becomes its
    index there, or −1 − index where integers will do as well; None becomes −1.
    """
    options: list[Any] = []
    for each in dataclasses.fields(rules):
        kind, about = _kind(each), each.metadata
        if about["letters"]:
            continue
        if kind is bool:
            options.append((each.name, np.int8))
        elif kind is float:
            options.append((each.name, np.float32))
        elif kind in (int, NoneType) or about["choices"]:
            options.append((each.name, np.int32))
        elif kind is tuple and about["length"] is not None:
            options.append((each.name, np.int32, (about["length"],)))
    return record_dtype([*_ROW_FIELDS, *options, *derived])


# --- kernels ----------------------------------------------------------------------------------------------------------


class Deal(Protocol):
    def __call__(self, state: Row, rules: Row) -> None:
        """Deal round `state["round"]` from `state["key"]`; the state is all zeros but for the common fields."""
        ...


class Legal(Protocol):
    def __call__(self, state: Row, rules: Row, mask: np.ndarray) -> int:
        """Write 1 for each action legal for the seat to move, 0 for the others; return how many are legal.

        Reads nothing that the seat to move does not know, so that it gives the same for its view. `mask` is int8,
        shape `(num_actions,)`.
        """
        ...


class Step(Protocol):
    def __call__(self, state: Row, rules: Row, action: int) -> None:
        """Play a legal action; deal the next round where one ends, set `over` where the match does."""
        ...


class Hide(Protocol):
    def __call__(self, view: Row, rules: Row, seat: int) -> None:
        """Turn a copy of a state into what one seat knows (or `ANYBODY`): wipe the rest, sort away orders."""
        ...


class Determinize(Protocol):
    def __call__(self, view: Row, rules: Row, key: np.uint64) -> None:
        """Fill a view with one world, drawn uniformly from all deals that would have shown its seat the same."""
        ...


class Observe(Protocol):
    def __call__(self, view: Row, rules: Row, seat: int, out: np.ndarray) -> int:
        """Write the observation from a view, float32 in [0, 1]; return how many numbers were written."""
        ...


class Scores(Protocol):
    def __call__(self, state: Row, rules: Row, out: np.ndarray) -> None:
        """Write each seat's points, float64: of the rounds done, plus how the present one stands."""
        ...


class Act(Protocol):
    def __call__(self, view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
        """A player: choose a legal action from what the seat to move knows; `key` is its own chance."""
        ...


# --- a game -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seating:
    """What an observation is laid out for.

    Attributes:
        max_players: How many seats have a place in it.
        mixed: Whether tables of several sizes share the layout; it then says how many play.
        memory: Whether it holds what a perfect memory of public events knows.
    """

    max_players: int
    mixed: bool
    memory: bool


@dataclass(frozen=True, eq=False)
class Definition:
    """What a game file provides, and all that the suite knows of a game.

    Attributes:
        id: Name with version, as in `pig10_v0`; the version goes up when behaviour or observation changes.
        name: The game's name as printed.
        rulebook: The rules in words: the game file's docstring.
        rules: Its options.
        presets: Its editions by name; the first is the default.
        seats: The least and the most players under given rules.
        state: Record of one running game, made with `state_dtype`.
        row: Record of rules, made with `rules_dtype`.
        derive: Values of the row's derived fields, from rules and number of players.
        actions: The text of each action under given rules and most players; its index is the action.
        layout: The observation's parts under given rules, at a given table.
        score_scale: What the reward "score" divides by, from rules and number of players.
        lowest_wins: Whether fewest points win, under given rules.
        read_deal: The deal of the round just dealt, as JSON, from a state in which nothing was played.
        write_deal: Puts a deal given as JSON into a freshly dealt state; raises `DealError`, leaving the state.
        call_out: What is said at the table when an action is played: from states before and after, the rules and the
            action; empty where nothing is said.
        scene: What lies where, from a view or a state, the rules and the seat that looks (or `ANYBODY`).
        read_chance: What chance decided in the step just played, as JSON to stand in the record, or None.
        give_chance: Fixes what chance will decide in the next step, from a record; None where nothing is drawn after
            the deal.
    """

    id: str
    name: str
    rulebook: str
    rules: type[Rules]
    presets: Mapping[str, Preset]
    seats: Callable[[Any], tuple[int, int]]
    state: np.dtype[np.void]
    row: np.dtype[np.void]
    derive: Callable[[Any, int], Mapping[str, Any]]
    actions: Callable[[Any, int], Sequence[str]]
    layout: Callable[[Any, Seating], Layout]
    score_scale: Callable[[Any, int], float]
    deal: Deal
    legal: Legal
    step: Step
    hide: Hide
    determinize: Determinize
    observe: Observe
    scores: Scores
    read_deal: Callable[[Row, Row], dict[str, Any]]
    write_deal: Callable[[Row, Row, Mapping[str, Any]], None]
    call_out: Callable[[Row, Row, Row, str], str]
    scene: Callable[[Row, Row, int], Scene]
    lowest_wins: Callable[[Any], bool] = lambda rules: False
    read_chance: Callable[[Row, Row], dict[str, Any] | None] = lambda state, rules: None
    give_chance: Callable[[Row, Row, Mapping[str, Any]], None] | None = None

    KERNELS: ClassVar = ("deal", "legal", "step", "hide", "determinize", "observe", "scores")

    @property
    def base(self) -> str:
        """The id without its version, as typed on the command line: `pig10`."""
        return self.id.rpartition("_v")[0]

    @property
    def version(self) -> int:
        return int(self.id.rpartition("_v")[2])

    @cached_property
    def kernels(self) -> dict[str, Callable[..., Any]]:
        """The kernels by the names that generic loops call them by."""
        return {name: getattr(self, name) for name in self.KERNELS}


class Game:
    """A definition at a table: rules chosen, seats counted, observation laid out. Holds no running game.

    Args:
        definition: What the game file provides.
        num_players: How many sit down; the preset's number where None.
        preset: Name of an edition; the game's first where None.
        rules: Options set otherwise than the preset has them, or a whole `Rules`.
        memory: Whether observations hold what a perfect memory of public events knows.
        max_players: Seats that observation and actions are laid out for, so that one policy fits all table sizes up to
            it; None for tables of `num_players` only.
        reward: One of `REWARDS`.

    Attributes:
        row: The rules as the kernels read them, one record of `definition.row`, shape `(1,)`.
        layout: The observation's parts.
        action_texts: The text of each action; `num_actions` of them.

    Raises:
        OptionError: An option is unknown, unusable, or contradicts another one.
    """

    def __init__(
        self,
        definition: Definition,
        *,
        num_players: int | None = None,
        preset: str | None = None,
        rules: Mapping[str, Any] | Rules | None = None,
        memory: bool = True,
        max_players: int | None = None,
        reward: str = "win",
    ) -> None:
        self.definition = definition
        self.id: str = definition.id
        names = list(definition.presets)
        self.preset: str = names[0] if preset is None else preset
        if not one_of(self.preset, names):
            raise OptionError(f"{self.id} has no preset {preset!r}; {closest(preset, names)}")
        edition = definition.presets[self.preset]
        if isinstance(rules, Rules):
            if not isinstance(rules, definition.rules):
                raise OptionError(f"rules of {self.id} must be {definition.rules!r}; got {type(rules)!r}")
            self.rules: Rules = rules
        elif rules is None or isinstance(rules, Mapping):
            self.rules = definition.rules.made({**edition.rules, **(rules or {})})
        else:
            raise OptionError(f"rules must map option names to values; got {rules!r}")
        low, high = definition.seats(self.rules)
        seated = edition.num_players if num_players is None else num_players
        self.num_players: int = _whole("num_players", seated, low, high)
        self.mixed: bool = max_players is not None
        self.max_players: int = self.num_players
        if max_players is not None:
            self.max_players = _whole("max_players", max_players, self.num_players, high)
        self.rules.check_seats(self.num_players)
        if not isinstance(memory, bool | np.bool_):
            raise OptionError(f"memory must be True or False; got {memory!r}")
        if not one_of(reward, REWARDS):
            raise OptionError(f"unknown reward {reward!r}; {closest(reward, REWARDS)}")
        self.memory: bool = bool(memory)
        self.reward: str = reward
        self.layout: Layout = definition.layout(self.rules, Seating(self.max_players, self.mixed, self.memory))
        self.action_texts: tuple[str, ...] = tuple(definition.actions(self.rules, self.max_players))
        self.num_actions: int = len(self.action_texts)
        self._numbers = {text: action for action, text in enumerate(self.action_texts)}
        self.row: np.ndarray = self._make_row()

    def _make_row(self) -> np.ndarray:
        """The rules as the kernels read them, shape `(1,)`."""
        d = self.definition
        row = np.zeros(1, d.row)
        settings = {
            "num_players": self.num_players,
            "max_players": self.max_players,
            "mixed": self.mixed,
            "memory": self.memory,
            "reward": REWARDS.index(self.reward),
            "lowest_wins": d.lowest_wins(self.rules),
            "score_scale": d.score_scale(self.rules, self.num_players),
        }
        options = {e.name: self._encoded(e) for e in dataclasses.fields(self.rules) if e.name in (d.row.names or ())}
        for name, value in {**settings, **options, **d.derive(self.rules, self.num_players)}.items():
            row[name][0] = value
        return row

    def _encoded(self, each: dataclasses.Field[Any]) -> Any:
        value, choices = getattr(self.rules, each.name), each.metadata["choices"]
        if value is None:
            return -1
        if not isinstance(value, str):
            return value
        return choices.index(value) if each.metadata["low"] is None else -1 - choices.index(value)

    @cached_property
    def digest(self) -> str:
        """A short name for this observation layout and these actions; a checkpoint is bound to it."""
        described = json.dumps([self.id, self.layout.digest, self.action_texts])
        return hashlib.sha256(described.encode()).hexdigest()[:16]

    def action_number(self, text: object) -> int | None:
        """The action with this text, or None."""
        return self._numbers.get(text) if isinstance(text, str) else None

    def settings(self) -> dict[str, Any]:
        """Everything needed to make an equal `Game`, as JSON; `registry.make(**settings)` does."""
        return {
            "game": self.id,
            "num_players": self.num_players,
            "rules": self.rules.to_json(),
            "memory": self.memory,
            "max_players": self.max_players if self.mixed else None,
            "reward": self.reward,
        }

    def options(self) -> Iterator[tuple[str, Any, Any, str, str]]:
        """Name, default, value here, set of values and meaning of each rule option."""
        for each in dataclasses.fields(self.rules):
            yield each.name, each.default, getattr(self.rules, each.name), describe(each), each.metadata["meaning"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.settings() == other.settings()

    def __hash__(self) -> int:
        return hash(json.dumps(self.settings()))

    def __repr__(self) -> str:
        return f"Game({self.id!r}, num_players={self.num_players}, rules={self.rules!r})"


def _whole(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= value <= high:
        return int(value)
    raise OptionError(f"{name} must be an integer {low} … {high} under these rules; got {value!r}")
