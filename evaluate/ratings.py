"""Ratings of agents from the placements of their games.

The model is Plackett and Luce's as Weng and Lin fit it ("A Bayesian approximation method for online ranking", Journal
of Machine Learning Research 12, 2011), by the library OpenSkill: each agent has a skill μ with a standard deviation σ.
The result of a fit that sees one game after another depends a little on their order, so they come in an order drawn by
the seed. Agents here do not change, so nothing is added to σ between games.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pigenv.errors import MissingExtraError
from pigenv.evaluate.match import Games

__all__ = ["METHOD", "MOST_GAMES", "Rating", "rate"]

METHOD: Final = "OpenSkill, Plackett-Luce, one game after another in an order drawn by the seed"
MOST_GAMES: Final = 20_000
"""Games that are rated at most; σ is far below any difference that matters before that."""


@dataclass(frozen=True)
class Rating:
    """An agent's skill.

    Attributes:
        mu, sigma: Mean and standard deviation of the skill; everybody begins with 25 and 25 / 3.
        games: Games that it was rated by.
    """

    mu: float
    sigma: float
    games: int

    @property
    def ordinal(self) -> float:
        """What the skill very probably is at least, μ − 3σ."""
        return self.mu - 3.0 * self.sigma


def rate(agents: int, tables: Sequence[tuple[Sequence[int], Games]], seed: int) -> list[Rating]:
    """Rate agents by games.

    Args:
        agents: How many there are.
        tables: Line-ups, by place the number of an agent, with the games they played. An agent with several places
            in a game is ranked there by the mean of its placements.
        seed: Of the order of the games.

    Raises:
        MissingExtraError: OpenSkill is not installed.
    """
    try:
        from openskill.models import PlackettLuce
    except ImportError:
        raise MissingExtraError("openskill", "evaluate") from None
    model = PlackettLuce(tau=0.0)
    skills = [model.rating() for _ in range(agents)]
    counts = [0] * agents
    played = []
    for table, (line_up, games) in enumerate(tables):
        seated = list(dict.fromkeys(line_up))
        places = np.stack([games.places[..., np.array(line_up) == agent].mean(axis=-1) for agent in seated], axis=-1)
        if len(seated) > 1:
            played += [(table, seated, row) for row in places.reshape(-1, len(seated)).round(9).tolist()]
    order = np.random.default_rng(seed).permutation(len(played))[:MOST_GAMES]
    for number in order.tolist():
        _, seated, ranks = played[number]
        after = model.rate([[skills[agent]] for agent in seated], ranks=ranks)
        for agent, (skill,) in zip(seated, after, strict=True):
            skills[agent] = skill
            counts[agent] += 1
    return [Rating(float(s.mu), float(s.sigma), count) for s, count in zip(skills, counts, strict=True)]
