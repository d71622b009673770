"""How strong a search is at each budget: its win share on duplicate deals, and a plot of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pigenv import registry
from pigenv.agents import catalog
from pigenv.errors import MissingExtraError, OptionError
from pigenv.evaluate.evaluation import evaluate
from pigenv.evaluate.match import Progress, whole_number
from pigenv.game import Game

__all__ = ["BEST", "BUDGETS", "FORMAT", "PLOTS", "plot", "strength"]

FORMAT: Final = "pigenv.strength/1"
BEST: Final = "best"
"""As an opponent: the game's best hand-written player."""
BUDGETS: Final = (100, 1000, 10_000)
PLOTS: Final = (".png", ".svg")


def strength(
    game: Game | str,
    budgets: Sequence[int] = BUDGETS,
    against: str = BEST,
    agent: str = "search",
    deals: int = 50,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Score a search at several budgets against copies of one opponent, on the same deals.

    Args:
        game: The game, or its name.
        budgets: Simulations a decision, each 1 or more.
        against: The opponent, or `BEST`.
        agent: The search without its budget, such as `search` or `flat:playout=uniform`.
        deals: Deals a budget, each played from every seat.
        seed: Of cards and agents.
        progress: Called with the number of games done so far.

    Returns:
        The document: `game`, `against`, `chance`, and under `results` for each budget `sims`, `agent`, `win_share`,
        `win_share_ci` (95 %), `mean_score` and `games`; time stands apart under `timing`.

    Raises:
        OptionError: There is no budget, or one is not a positive integer.
        UnknownNameError, AgentError: An agent cannot be found or does not play this game.
    """
    game = registry.make(game)
    numbers = [whole_number("a budget", each) for each in budgets]
    if not numbers:
        raise OptionError("budgets must name at least one number of simulations; got none")
    opponent = catalog.best(game) if against == BEST else against
    # Every name is tried before the first game, which may take long.
    names = [with_budget(agent, each) for each in numbers]
    for name in (*names, opponent):
        catalog.find(name, game)
    results, timing, done = [], [], 0
    for number, name in zip(numbers, names, strict=True):
        told = None if progress is None else _after(done, progress)
        document = evaluate(name, game, opponent, deals, seed, told)
        (entry,), (spent,) = document["results"], document["timing"]["results"]
        done += entry["games"]
        kept = ("agent", "games", "win_share", "win_share_ci", "mean_score", "illegal")
        results.append({"sims": number, **{key: entry[key] for key in kept}})
        timing.append({"sims": number, "seconds": spent["seconds"]})
    return {
        "format": FORMAT,
        "game": game.settings(),
        "against": opponent,
        "chance": 1 / game.num_players,
        "deals": deals,
        "seed": seed,
        "results": results,
        "timing": timing,
    }


def with_budget(agent: str, sims: int) -> str:
    """The name of a search with a budget."""
    kind, colon, settings = agent.partition(":")
    return f"{kind}:sims={sims}{';' if colon and settings else ''}{settings}"


def _after(done: int, progress: Progress) -> Progress:
    return lambda more: progress(done + more)


def plot(document: dict[str, Any], path: Path) -> None:
    """Draw win share against budget, with intervals and the chance level.

    Args:
        document: From `strength`.
        path: A file of one of `PLOTS`.

    Raises:
        OptionError: The file's ending is another.
        MissingExtraError: Matplotlib is not installed.
    """
    if path.suffix not in PLOTS:
        raise OptionError(f"a plot must end in {' or '.join(PLOTS)}; got {path.name!r}")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "evaluate") from None
    results = document["results"]
    sims = [each["sims"] for each in results]
    shares = [100 * each["win_share"] for each in results]
    below = [100 * (each["win_share"] - each["win_share_ci"][0]) for each in results]
    above = [100 * (each["win_share_ci"][1] - each["win_share"]) for each in results]
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.errorbar(sims, shares, yerr=[below, above], marker="o", capsize=4, label="search, 95 % interval over deals")
    axes.axhline(100 * document["chance"], color="gray", linestyle="--", label="chance")
    axes.set_xscale("log")
    axes.set_xticks(sims, [f"{each:,}" for each in sims])
    axes.minorticks_off()
    axes.set_xlabel("simulations a decision")
    axes.set_ylabel("win share, %")
    seats = document["game"]["num_players"]
    axes.set_title(f"{document['game']['game']}, {seats} seats, against {document['against']}")
    axes.legend()
    figure.savefig(path, dpi=150)
