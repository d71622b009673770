"""Fit a value function for `pigenv.evaluate.control`: `python -m pigenv.evaluate.fit_value pig10 --players 4`.

Games of the suite's own players, every line-up of them drawn by chance; from each game a few positions, and who won in
the end. The network learns the win shares by cross-entropy (Adam; Kingma and Ba, 2015). Kept is what guessed best in
games held out: a network that has learned its games by heart adds noise instead of taking it out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

from pigenv import registry
from pigenv.agent import Agent, find_agent
from pigenv.agents import catalog
from pigenv.evaluate.control import Value, features
from pigenv.evaluate.match import play_match
from pigenv.game import Game

__all__ = ["fit", "main"]

_RATE, _FIRST, _SECOND, _TINY = 2e-3, 0.9, 0.999, 1e-8
_BATCH: Final = 512
_LINE_UPS: Final = 40
_POSITIONS: Final = 10  # of a game
_ONE_HELD_OUT: Final = 10  # games


class _Noting:
    """A control variate that reckons nothing and notes positions, from which one is fitted."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.states: list[np.ndarray] = []

    def luck(self, game: Game, before: np.ndarray, actions: np.ndarray, after: np.ndarray) -> np.ndarray:  # noqa: ARG002
        self.states.append(after.copy())
        return np.zeros((len(before), game.num_players))


def positions(game: Game, games: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, the win shares that they led to, and which are held out.

    Returns:
        Records, `(n,)`; float64, `(n, seats)`; bool, `(n,)`, the same for all positions of a game.
    """
    generator = np.random.default_rng(seed)
    known: list[Agent] = [find_agent(name, game) for name in catalog.names(game)]
    states, shares, held = [], [], []
    each = max(1, games // _LINE_UPS)
    for number in range(_LINE_UPS):
        line_up = [known[k] for k in generator.integers(len(known), size=game.num_players)]
        noting = _Noting(seed)
        order = np.arange(game.num_players)[None]
        for first in range(number * each, (number + 1) * each, 64):
            noting.states.clear()
            deals = np.arange(first, min(first + 64, (number + 1) * each))
            played = play_match(game, line_up, deals, seed, orders=order, variate=noting)
            # Every state carries the key of its deal, by which it finds what it led to.
            found = np.concatenate(noting.states)
            wins = {int(key): played.win_shares[k, 0] for k, key in enumerate(noting.states[0]["key"])}
            kept = generator.permutation(len(found))[: _POSITIONS * len(deals)]
            states.append(found[kept])
            shares.append(np.array([wins[int(key)] for key in found[kept]["key"]]))
            # Games of every line-up.
            apart = {int(key): k % _ONE_HELD_OUT == 0 for k, key in zip(deals, noting.states[0]["key"], strict=True)}
            held.append(np.array([apart[int(key)] for key in found[kept]["key"]]))
    return np.concatenate(states), np.concatenate(shares), np.concatenate(held)


def fit(game: Game, games: int = 20_000, epochs: int = 12, hidden: int = 48, seed: int = 1) -> Value:
    """Fit a value function.

    Args:
        game: The table.
        games: How many games to learn from.
        epochs: How often each position is seen.
        hidden: Units of the hidden layer.
        seed: Of games and learning.
    """
    states, shares, held = positions(game, games, seed)
    seen = features(game, states)
    generator = np.random.default_rng(seed)
    size = seen.shape[-1]
    weights = {
        "w1": generator.normal(0, np.sqrt(2 / size), (size, hidden)).astype(np.float32),
        "b1": np.zeros(hidden, np.float32),
        "w2": generator.normal(0, 0.1, hidden).astype(np.float32),
    }
    first = {name: np.zeros_like(array) for name, array in weights.items()}
    second = {name: np.zeros_like(array) for name, array in weights.items()}
    train, test = np.flatnonzero(~held), np.flatnonzero(held)
    count, best, least = 0, weights, np.inf
    for epoch in range(epochs):
        rate = _RATE * (1 - epoch / epochs)
        for _ in range(0, len(train), _BATCH):
            rows = generator.choice(train, _BATCH)
            _, slope = _loss(weights, seen[rows], shares[rows])
            count += 1
            for name, change in slope.items():
                first[name] += (1 - _FIRST) * (change - first[name])
                second[name] += (1 - _SECOND) * (change**2 - second[name])
                step = first[name] / (1 - _FIRST**count)
                weights[name] -= rate * step / (np.sqrt(second[name] / (1 - _SECOND**count)) + _TINY)
        loss, _ = _loss(weights, seen[test], shares[test])
        if loss < least:
            best, least = {name: array.copy() for name, array in weights.items()}, loss
    about: dict[str, Any] = {
        "game": game.id,
        "num_players": game.num_players,
        "rules": game.rules.to_json(),
        "observation": game.digest,
        "fitted_on": f"{games:,} games of {', '.join(catalog.names(game))}, seed {seed}, {epochs} epochs",
        "cross_entropy": round(float(least), 4),
        "cross_entropy_of_chance": round(float(np.log(game.num_players)), 4),
        "use": "a guess of win shares between these players, for taking luck out of evaluations; not for acting",
    }
    return Value(about, best)


def _loss(weights: dict[str, np.ndarray], seen: np.ndarray, shares: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
    """Cross-entropy of the win shares, and its slope."""
    count, seats, size = seen.shape
    flat = seen.reshape(-1, size)
    hidden = np.maximum(flat @ weights["w1"] + weights["b1"], 0.0)
    worth = (hidden @ weights["w2"]).reshape(count, seats)
    worth = worth - worth.max(axis=1, keepdims=True)
    log = worth - np.log(np.exp(worth).sum(axis=1, keepdims=True))
    off = ((np.exp(log) - shares) / count).astype(np.float32).reshape(-1)
    back = off[:, None] * weights["w2"] * (hidden > 0)
    return float(-(shares * log).sum() / count), {"w1": flat.T @ back, "b1": back.sum(axis=0), "w2": hidden.T @ off}


def main(
    game: Annotated[str, typer.Argument(help="The game.")],
    players: Annotated[int | None, typer.Option(help="How many sit down; the preset's number.")] = None,
    games: Annotated[int, typer.Option(help="Games to learn from.")] = 20_000,
    out: Annotated[Path | None, typer.Option(help="The file; by default its place in the package.")] = None,
) -> None:
    """Fit a value function and write it."""
    table = registry.make(game, players)
    value = fit(table, games)
    path = out or Path(__file__).parent / "values" / f"{table.id}-{table.num_players}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value.to_json(), separators=(",", ":")) + "\n", encoding="utf-8")
    about = value.about
    typer.echo(f"{path}: cross-entropy {about['cross_entropy']} (chance {about['cross_entropy_of_chance']})")


if __name__ == "__main__":
    typer.run(main)
