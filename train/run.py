"""One training run, from settings to a checkpoint."""

from __future__ import annotations

from pathlib import Path

from pigenv import registry
from pigenv.table import checked_seed
from pigenv.train import maskable_ppo
from pigenv.train.config import TrainConfig
from pigenv.train.progress import Progress
from pigenv.train.run_folder import RunFolder, command_line

__all__ = ["run"]

ALGORITHMS = {"maskable_ppo": maskable_ppo.train}


def run(config: TrainConfig) -> tuple[Path, str]:
    """Train as the settings say.

    Returns:
        The run's folder and the path of the checkpoint.

    Raises:
        OptionError, UnknownNameError, SeedError: A setting is wrong; nothing was trained.
    """
    wanted, algo = config.game, config.algo
    game = registry.make(
        wanted.name,
        num_players=wanted.num_players,
        preset=wanted.preset,
        rules=wanted.rules,
        memory=wanted.memory,
        max_players=wanted.max_players,
        reward=wanted.reward,
    )
    seed = checked_seed(config.seed)
    path = Path(config.out) if config.out else RunFolder.default_path(game, algo.name)
    folder = RunFolder(path, game, config, command_line())
    label = "win share" if game.reward == "win" else "mean reward"
    with Progress(algo.total_steps, algo.max_seconds, label) as progress:
        checkpoint = ALGORITHMS[algo.name](game, algo, folder, seed, progress)
    folder.draw_curve(label, 1 / game.num_players if game.reward == "win" else 0.0)
    return folder.path, checkpoint
