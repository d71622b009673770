"""Every deal of a game, where there are few enough to be listed.

A deal is taken to be an arrangement of one pack, each equally likely, and what stands beside the cards (who begins),
each value that occurs equally likely. That the pack is the same in every deal, and lies in places of the same shape, is
checked on a sample; a game whose chance is of another kind is refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from pigenv.errors import OptionError
from pigenv.game import Game
from pigenv.table import EPISODE, loops, set_seed

__all__ = ["Deal", "all_deals"]

Deal = dict[str, Any]
"""A deal of one round as its record holds it."""

_SAMPLED: Final = 400


def all_deals(game: Game, most: int) -> list[Deal]:
    """Every deal of a game's first round, each equally likely.

    Args:
        game: The game.
        most: How many there may be.

    Raises:
        OptionError: The game's chance is of another kind, or there are more deals.
    """
    sample = _sampled(game)
    shape = _shape(sample[0])
    packs = {tuple(sorted(Counter(map(_text, _cards(each))).items())) for each in sample}
    beside: dict[str, list[Any]] = {}
    for name, value in sample[0].items():
        if not isinstance(value, list):
            beside[name] = sorted({each[name] for each in sample}, key=_text)
    if len(packs) > 1 or any(_shape(each) != shape for each in sample):
        raise OptionError(f"the deals of {game.id} are not arrangements of one pack; they cannot be listed")
    cards = sorted(_cards(sample[0]), key=_text)
    count = math.factorial(len(cards)) * math.prod(map(len, beside.values()))
    for times in Counter(map(_text, cards)).values():
        count //= math.factorial(times)
    if count > most:
        raise OptionError(f"{game.id} has {count:,} deals under these rules; at most {most:,} can be walked through")
    choices = [dict(zip(beside, values, strict=True)) for values in product(*beside.values())]
    return [
        {name: choice.get(name, part) for name, part in _filled(sample[0], iter(arrangement)).items()}
        for arrangement in _arranged(cards)
        for choice in choices
    ]


def _sampled(game: Game) -> list[Deal]:
    d = game.definition
    states, episodes = np.zeros(_SAMPLED, d.state), np.zeros(_SAMPLED, EPISODE)
    set_seed(episodes, 0)
    episodes["number"] = np.arange(_SAMPLED)
    loops(d).start_tables(states, game.row, episodes, np.ones(_SAMPLED, bool))
    return [d.read_deal(state, game.row[0]) for state in states]


def _text(card: Any) -> str:
    return f"{type(card).__name__} {card!r}"


def _cards(deal: Any) -> list[Any]:
    """All that lies in lists, in order."""
    if isinstance(deal, Mapping):
        return [card for value in deal.values() if isinstance(value, list | Mapping) for card in _cards(value)]
    if isinstance(deal, list):
        return [card for each in deal for card in _cards(each)]
    return [deal]


def _shape(deal: Any) -> Any:
    """How a deal is made of lists."""
    if isinstance(deal, Mapping):
        return {name: _shape(value) for name, value in deal.items()}
    return [_shape(each) for each in deal] if isinstance(deal, list) else None


def _filled(part: Any, cards: Iterator[Any]) -> Any:
    """A part of a deal with other cards in its lists; what stands beside them is left as it is."""
    if isinstance(part, Mapping):
        return {
            name: _filled(value, cards) if isinstance(value, list | Mapping) else value for name, value in part.items()
        }
    return [_filled(each, cards) for each in part] if isinstance(part, list) else next(cards)


def _arranged(cards: Sequence[Any]) -> Iterator[list[Any]]:
    """Every distinct arrangement of cards that come sorted."""
    if not cards:
        yield []
    for place, card in enumerate(cards):
        if place == 0 or _text(card) != _text(cards[place - 1]):
            yield from ([card, *rest] for rest in _arranged([*cards[:place], *cards[place + 1 :]]))
