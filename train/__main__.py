"""`python -m pigenv.train game.name=pig10 algo=maskable_ppo`: a Hydra main, for sweeps (`--multirun`) and launchers."""

from __future__ import annotations

from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode

from pigenv.train.config import register, typed
from pigenv.train.run import run

register()


@hydra.main(config_path="pkg://pigenv.configs", config_name="train", version_base="1.3")
def main(config: Any) -> None:
    """Train once with a composed config; a job of a sweep in a folder of the sweep's."""
    settings = typed(config)
    job = HydraConfig.get()
    if job.mode == RunMode.MULTIRUN and settings.out is None:
        settings.out = job.runtime.output_dir
    folder, checkpoint = run(settings)
    print(f"run folder {folder}\ncheckpoint {checkpoint}")  # noqa: T201


if __name__ == "__main__":
    main()
