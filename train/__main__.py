"""`python -m pigenv.train game.name=pig10 algo=maskable_ppo`: a Hydra main, for sweeps (`--multirun`) and launchers."""

from __future__ import annotations

from typing import Any

import hydra

from pigenv.train.config import register, typed
from pigenv.train.run import run

register()


@hydra.main(config_path="pkg://pigenv.configs", config_name="train", version_base="1.3")
def main(config: Any) -> None:
    """Train once with a composed config."""
    folder, checkpoint = run(typed(config))
    print(f"run folder {folder}\ncheckpoint {checkpoint}")  # noqa: T201


if __name__ == "__main__":
    main()
