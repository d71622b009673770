"""One training run, from settings to a checkpoint."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pigenv import registry
from pigenv.errors import MissingExtraError, TrainingError
from pigenv.game import Game
from pigenv.table import checked_seed
from pigenv.train.config import TrainConfig, composed, from_settings
from pigenv.train.progress import Progress
from pigenv.train.run_folder import RunFolder, command_line, read_about

__all__ = ["resume", "run", "sweep"]

ALGORITHMS = {name: f"pigenv.train.{name}" for name in ("ppo", "dmc", "maskable_ppo", "rllib")}


def run(config: TrainConfig) -> tuple[Path, str]:
    """Train as the settings say.

    Returns:
        The run's folder and the path of the checkpoint.

    Raises:
        OptionError, UnknownNameError, SeedError: A setting is wrong; nothing was trained.
        TrainingError: Training had to stop; what was saved last is whole.
    """
    game, seed = wanted_game(config), checked_seed(config.seed)
    module = _algorithm(config.algo.name)
    path = Path(config.out) if config.out else RunFolder.default_path(game, config.algo.name)
    return _train(module, game, config, RunFolder(path, game, config, command_line()), seed)


def resume(path: Path) -> tuple[Path, str]:
    """Go on with a run that was stopped or killed, from what it saved last.

    Returns, Raises: See `run`.
    """
    about = read_about(path)
    config = from_settings(about["settings"])
    if config.algo.name == "maskable_ppo" and not (path / "model.zip").exists():
        raise TrainingError(f"{path}: nothing was saved to go on from; begin the run again")
    game, seed = wanted_game(config), checked_seed(config.seed)
    module = _algorithm(config.algo.name)
    return _train(module, game, config, RunFolder(path, game, config, command_line(), resume=True), seed)


def sweep(overrides: Sequence[str]) -> None:
    """One run after another for each combination of settings, where values with commas between them are choices.

    Raises:
        OptionError: A setting is wrong.
    """
    from pigenv.train.__main__ import main

    for each in overrides:
        # What stands between the commas is looked at when its turn comes; a wrong name is told at once.
        key, equals, value = each.partition("=")
        composed([f"{key}{equals}{value.split(',')[0] if value[:1] not in '[{' else value}"])
    before = sys.argv
    sys.argv = ["pigenv", *overrides, "--multirun"]
    try:
        main()
    finally:
        sys.argv = before


def wanted_game(config: TrainConfig) -> Game:
    """The game of a run.

    Raises:
        OptionError, UnknownNameError: There is none like it.
    """
    wanted = config.game
    return registry.make(
        wanted.name,
        num_players=wanted.num_players,
        preset=wanted.preset,
        rules=wanted.rules,
        memory=wanted.memory,
        max_players=wanted.max_players,
        reward=wanted.reward,
    )


def _algorithm(name: str) -> Any:
    """The module of an algorithm; asked for before anything is written, for it may need what is not installed."""
    try:
        return import_module(ALGORITHMS[name])
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "train") from error


def _train(module: Any, game: Game, config: TrainConfig, folder: RunFolder, seed: int) -> tuple[Path, str]:
    algo = config.algo
    try:
        with Progress(algo.total_steps, algo.max_seconds, "win share") as progress:
            checkpoint: str = module.train(game, algo, folder, seed, progress)
    finally:
        folder.close()
    folder.draw_curve("win share", 1 / game.num_players)
    return folder.path, checkpoint
