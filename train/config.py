"""What a training run can be told, as typed settings that Hydra checks against the files in `configs/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pigenv.errors import MissingExtraError, OptionError, closest

__all__ = ["GameConfig", "MaskablePPOConfig", "TrainConfig", "composed"]


@dataclass
class GameConfig:
    """The game to train for; see `pigenv.registry.make`."""

    name: str = "pig10"
    preset: str | None = None
    num_players: int | None = None
    rules: dict[str, Any] = field(default_factory=dict)
    memory: bool = True
    max_players: int | None = None
    reward: str = "win"


@dataclass
class MaskablePPOConfig:
    """sb3-contrib's MaskablePPO on one seat of many tables."""

    name: str = "maskable_ppo"
    total_steps: int = 2_000_000
    """Decisions of the learner to train for."""
    max_seconds: float | None = None
    """Wall clock after which training ends early; no limit where null."""
    opponents: list[str] = field(default_factory=lambda: ["uniform"])
    """Who plays the other seats: agents by name, filling them clockwise from the learner, repeated."""
    num_envs: int = 256
    """Tables stepped together."""
    n_steps: int = 64
    """Steps of each table between two updates."""
    batch_size: int = 2048
    n_epochs: int = 4
    learning_rate: float = 1e-3
    """At the start; falls to zero with the share of the run that is done."""
    gamma: float = 1.0
    gae_lambda: float = 0.95
    ent_coef: float = 0.01
    clip_range: float = 0.2
    hidden: list[int] = field(default_factory=lambda: [128, 128])
    """Units of each hidden layer, of policy and value network alike."""
    torch_threads: int = 2


@dataclass
class TrainConfig:
    """A whole run."""

    game: GameConfig = field(default_factory=GameConfig)
    algo: Any = None
    seed: int = 0
    """Of deals, opponents and network, in 0 … 2^64−1."""
    out: str | None = None
    """The folder of the run; one named after date, game and algorithm under runs/ where null."""


SCHEMAS = {"maskable_ppo": MaskablePPOConfig}
"""The settings of each algorithm, by the name that `algo=` takes."""


def register() -> None:
    """Tell Hydra the types."""
    try:
        from hydra.core.config_store import ConfigStore
    except ImportError as error:
        raise MissingExtraError("hydra-core", "train") from error
    store = ConfigStore.instance()
    store.store("train_schema", TrainConfig)
    for name, schema in SCHEMAS.items():
        store.store(f"{name}_schema", schema, group="algo")


def composed(overrides: Sequence[str]) -> TrainConfig:
    """The settings from `configs/train.yaml` and overrides such as `algo.learning_rate=3e-4`.

    Raises:
        OptionError: A key or value is wrong; the message names the right ones.
    """
    register()
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    wrong = (HydraException, OmegaConfBaseException)
    for override in overrides:
        if problem := _problem(override):
            raise OptionError(problem)
        try:
            _composed([override])
        except wrong as error:
            cause = str(error.__cause__ or error)
            raise OptionError(f"{override}: {' '.join(cause.split()).partition(' full_key')[0]}") from None
    try:
        return _composed(overrides)
    except wrong as error:
        raise OptionError(f"these settings do not go together: {' '.join(str(error).split())}") from None


def _composed(overrides: Sequence[str]) -> TrainConfig:
    from hydra import compose, initialize_config_module

    with initialize_config_module("pigenv.configs", version_base="1.3"):
        return typed(compose("train", list(overrides)))


def typed(config: Any) -> TrainConfig:
    """A Hydra config as plain dataclasses."""
    from omegaconf import OmegaConf

    made = OmegaConf.to_object(config)
    assert isinstance(made, TrainConfig)
    return made


def _problem(override: str) -> str | None:
    """What is wrong with a setting's form or name, in one sentence with the names that would have been right."""
    key, equals, value = override.lstrip("+~").partition("=")
    group, _, name = key.rpartition(".")
    if not equals or not key:
        return f"a setting must be key=value, such as algo.n_steps=32; got {override!r}"
    if key == "algo" and value not in SCHEMAS:
        return f"there is no algorithm {value!r}; {closest(value, SCHEMAS)}"
    if group.startswith("game.rules"):
        return None
    known = _known(group)
    if not known:
        return f"unknown setting {key!r}; {closest(group, ['game', 'algo'])}"
    return None if name in known else f"unknown setting {key!r}; {closest(name, known)}"


def _known(group: str) -> list[str]:
    if group == "":
        return list(TrainConfig.__dataclass_fields__)
    if group == "game":
        return list(GameConfig.__dataclass_fields__)
    if group == "algo":
        return sorted({name for schema in SCHEMAS.values() for name in schema.__dataclass_fields__})
    return []
