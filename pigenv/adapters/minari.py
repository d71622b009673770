"""Minari: records of games as a data set for offline learning, one episode for each seat of each game.

    create_dataset("pig10/careful-v0", read_records("games.jsonl"))

An episode has a seat's decisions in a game: what it saw, what it did, and what it was paid up to its next decision,
whoever moved in between. `infos` hold `action_mask` (all ones at the end) and `seat`.
"""

# The library stands in an environment of its own.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false, reportCallIssue=false
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from pigenv.envs.seat import single_spaces
from pigenv.errors import MissingExtraError, OptionError
from pigenv.game import Game
from pigenv.records import Record, replay
from pigenv.table import EPISODE, loops

try:
    import minari as library  # type: ignore[import-not-found]
    from minari.data_collector import EpisodeBuffer  # type: ignore[import-not-found]
except ImportError as _error:
    raise MissingExtraError("minari", "minari") from _error

__all__ = ["create_dataset", "episodes_of"]


def create_dataset(
    dataset_id: str, records: Iterable[Record], agents: Sequence[str] | None = None, **about: Any
) -> Any:
    """Write a data set where Minari keeps its own.

    Args:
        dataset_id: Its name with version, such as `pig10/careful-v0`.
        records: The games; all must have the same observation and the same actions.
        agents: Only the seats of the agents of these names; None: every seat.
        about: What else Minari's `create_dataset_from_buffers` takes: `author`, `description`, ….

    Returns:
        A `minari.MinariDataset`.

    Raises:
        OptionError: There is no such episode, or games of different shapes.
        RecordError: A record does not replay.
    """
    buffers: list[EpisodeBuffer] = []
    first: Game | None = None
    for record in records:
        game = record.table_game()
        first = first or game
        if (game.id, game.layout.digest, game.num_actions) != (first.id, first.layout.digest, first.num_actions):
            raise OptionError(f"a data set has games of one shape; got {first.id} and {game.id} laid out differently")
        buffers += [each for each in episodes_of(record) if agents is None or record.agents[_seat(each)] in agents]
    if first is None or not buffers:
        raise OptionError(f"there is no game in which {'anybody' if agents is None else ' or '.join(agents)} plays")
    for number, buffer in enumerate(buffers):
        object.__setattr__(buffer, "id", number)
    observations, actions = single_spaces(first, "info")
    given = {"algorithm_name": ", ".join(agents) if agents else None, "data_format": "hdf5", **about}
    minari: Any = library  # a type checker takes the name for this very file
    return minari.create_dataset_from_buffers(
        dataset_id, buffers, observation_space=observations, action_space=actions, **given
    )


def _seat(buffer: EpisodeBuffer) -> int:
    return int(buffer.infos["seat"][0])  # type: ignore[index]


def episodes_of(record: Record) -> Iterator[EpisodeBuffer]:
    """The episodes of each seat that decided anything in a game.

    Raises:
        RecordError: It does not replay.
    """
    game = record.table_game()
    kernels, episode = loops(game.definition), np.zeros(1, EPISODE)
    steps = list(replay(record))
    paid = np.zeros((len(steps), game.num_players))
    for number, each in enumerate(steps):
        if each.ends_round:
            kernels.pay(each.after[0], game.row[0], episode[0], paid, number)
    for seat in range(game.num_players):
        places = [number for number, each in enumerate(steps) if each.seat == seat]
        if not places:
            continue
        view, last = np.zeros_like(steps[-1].after), np.zeros(game.layout.size, np.float32)
        kernels.look(steps[-1].after, 0, game.row, seat, view, 0)
        game.definition.observe(view[0], game.row[0], seat, last)
        masks = [steps[place].action_mask for place in places]
        ends = [False] * (len(places) - 1)
        yield EpisodeBuffer(
            seed=record.seed if record.seed is not None and record.seed < 2**63 else None,
            observations=[*(steps[place].observation for place in places), last],
            actions=[steps[place].action_number for place in places],
            rewards=[
                float(paid[start:stop, seat].sum())
                for start, stop in zip(places, [*places[1:], len(steps)], strict=True)
            ],
            terminations=[*ends, record.outcome == "terminated"],
            truncations=[*ends, record.outcome == "truncated"],
            infos={
                "action_mask": np.stack([*masks, np.ones_like(masks[0])]),
                "seat": np.full(len(places) + 1, seat, np.int64),
            },
        )
