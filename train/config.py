"""What a training run can be told, as typed settings that Hydra checks against the files in `configs/`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pigenv.errors import MissingExtraError, OptionError, closest

__all__ = [
    "SCHEMAS", "DMCConfig", "GameConfig", "MaskablePPOConfig", "PPOConfig", "RLlibConfig", "SelfPlayConfig",
    "TrainConfig", "checked", "composed", "from_settings", "register", "typed",
]  # fmt: skip


def within(
    low: float | None = None, high: float | None = None, choices: tuple[str, ...] = (), above: bool = False
) -> dict[str, Any]:
    """What a setting may be, as its field's metadata; see `setting`."""
    return {"low": low, "high": high, "choices": choices, "above": above}


def setting(
    default: Any,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    above: bool = False,
) -> Any:
    """A setting with its default and what it may be: a number (or None) from `low` to `high`, or one of `choices`.

    Args:
        default: Its default.
        low: The least number it may be.
        high: The greatest.
        choices: The words it may be.
        above: Whether it must be greater than `low`.
    """
    return field(default=default, metadata=within(low, high, choices, above))


@dataclass
class GameConfig:
    """The game to train for; see `pigenv.registry.make`."""

    name: str = "pig10"
    preset: str | None = None
    num_players: int | None = None
    rules: dict[str, Any] = field(default_factory=dict)
    memory: bool = True
    max_players: int | None = None
    """Lays the observation out for so many seats; `ppo` and `dmc` then train at tables of every size up to it."""
    reward: str = "win"


@dataclass
class CommonConfig:
    """What every algorithm can be told."""

    name: str = ""
    total_steps: int = setting(20_000_000, 1)
    """Decisions of the learner to train for."""
    max_seconds: float | None = setting(None, 0, above=True)
    """Wall clock after which training ends early; no limit where null. Rates that fall with the share of the run that
    is done then depend on the clock, and so does what is learned."""
    learning_rate: float = setting(1e-3, 0, above=True)
    """At the start; falls in a straight line with the share of the run that is done."""
    gamma: float = setting(1.0, 0, 1)
    """Discount by a seat's own decisions: games are short and paid at their end, so nothing is."""
    hidden: list[int] = field(default_factory=lambda: [128, 128], metadata=within(1))
    """Units of each hidden layer."""
    eval_every: int = setting(1_000_000, 1)
    """Decisions between two measurements of the win share for the learning curve."""
    eval_deals: int = setting(100, 1)
    """Deals of each, every one played from every seat."""
    eval_against: str | None = None
    """Against copies of whom; the game's strongest hand-written player where null."""


@dataclass
class SelfPlayConfig(CommonConfig):
    """What both of our own algorithms, which play all seats themselves, can be told."""

    num_tables: int = setting(1024, 1)
    """Tables stepped together."""
    n_steps: int = setting(64, 1)
    """Steps of each table between two updates."""
    batch_size: int = setting(4096, 1)
    """Decisions of a minibatch, at most."""
    n_epochs: int = setting(4, 1)
    """Passes over the decisions of an update."""
    final_learning_rate: float = setting(0.0, 0)
    max_grad_norm: float = setting(0.5, 0, above=True)
    """Longer gradients are cut to this length."""
    threads: int = setting(2, 1)
    """Threads that learn. With one, and no `max_seconds`, a seed gives the same weights bit for bit."""
    device: str = "auto"
    """auto (a GPU where there is one), cpu, cuda, …"""
    precision: str = setting("float32", choices=("float32", "bfloat16"))
    """Of the hidden layers' arithmetic; bfloat16 is several times as fast on processors that have it."""
    opponents: list[str] = field(default_factory=list)
    """Agents of the catalog that have all seats but one at a share of the tables."""
    opponent_share: float = setting(0.0, 0, 1)
    """That share."""
    past_share: float = setting(0.0, 0, 1)
    """The share of tables at which a past self has all seats but one; the harder to beat, the more often it comes."""
    past_size: int = setting(8, 1)
    """How many past selves are kept."""
    past_every: int = setting(50, 1)
    """Updates after which the present one joins them, in the place of the one that is easiest to beat."""
    checkpoint_seconds: float = setting(20.0, 0)
    """Seconds between two checkpoints; 0: after every update. A run resumes from its last."""


@dataclass
class PPOConfig(SelfPlayConfig):
    """Our own PPO by self-play: all seats of all tables learn."""

    name: str = "ppo"
    gae_lambda: float = setting(0.95, 0, 1)
    clip_range: float = setting(0.2, 0, above=True)
    ent_coef: float = setting(0.02, 0)
    """Weight of the entropy at the start; falls in a straight line to `final_ent_coef`."""
    final_ent_coef: float = setting(0.002, 0)
    value_coef: float = setting(0.5, 0)
    critic: str = setting("own", choices=("own", "full"))
    """own: values from the seat's observation, by the policy's network; full: by a network of its own from what all
    seats see together."""


@dataclass
class DMCConfig(SelfPlayConfig):
    """Deep Monte-Carlo by self-play, as in DouZero: a network learns what each action comes to in the end."""

    name: str = "dmc"
    learning_rate: float = setting(1e-3, 0, above=True)
    n_epochs: int = setting(1, 1)
    epsilon: float = setting(0.1, 0, 1)
    """Share of actions by chance at the start; falls in a straight line to `final_epsilon`."""
    final_epsilon: float = setting(0.01, 0, 1)


@dataclass
class MaskablePPOConfig(CommonConfig):
    """sb3-contrib's MaskablePPO on one seat of many tables."""

    name: str = "maskable_ppo"
    total_steps: int = setting(2_000_000, 1)
    eval_every: int = setting(200_000, 1)
    opponents: list[str] = field(default_factory=lambda: ["uniform"])
    """Who plays the other seats: agents by name, filling them clockwise from the learner, repeated."""
    num_envs: int = setting(256, 1)
    """Tables stepped together."""
    n_steps: int = setting(64, 1)
    """Steps of each table between two updates."""
    batch_size: int = setting(2048, 1)
    n_epochs: int = setting(4, 1)
    gae_lambda: float = setting(0.95, 0, 1)
    ent_coef: float = setting(0.01, 0)
    clip_range: float = setting(0.2, 0, above=True)
    torch_threads: int = setting(2, 1)


@dataclass
class RLlibConfig(CommonConfig):
    """RLlib's PPO with its masked module: all seats learn, and tables may stand on many machines."""

    name: str = "rllib"
    total_steps: int = setting(1_000_000, 1)
    learning_rate: float = setting(5e-4, 0, above=True)
    eval_every: int = setting(20_000, 1)
    address: str | None = None
    """Of the Ray cluster to train on, as `host:port`; pigenv must be installed on each of its machines. Where null, the
    one that the variable RAY_ADDRESS names, or processes of this machine."""
    num_env_runners: int = setting(2, 0)
    """Processes that play; with 0 this one does."""
    num_learners: int = setting(0, 0)
    """Processes that learn, each from as many decisions; with 0 this one does."""
    num_envs: int = setting(16, 1)
    """Tables of each process that plays."""
    n_steps: int = setting(64, 1)
    """Steps of each table between two updates."""
    batch_size: int = setting(256, 1)
    """Decisions of a minibatch."""
    n_epochs: int = setting(4, 1)
    gae_lambda: float = setting(0.95, 0, 1)
    ent_coef: float = setting(0.01, 0)
    clip_range: float = setting(0.2, 0, above=True)
    max_grad_norm: float = setting(0.5, 0, above=True)
    torch_threads: int = setting(1, 1)
    """Of this process; where cores are shared, torch's threads wait for each other."""
    checkpoint_seconds: float = setting(20.0, 0)
    """Seconds between two checkpoints; 0: after every update. A run resumes from its last."""


@dataclass
class TrainConfig:
    """A whole run."""

    game: GameConfig = field(default_factory=GameConfig)
    algo: Any = None
    seed: int = 0
    """Of deals, opponents and network, in 0 … 2^64−1."""
    out: str | None = None
    """The folder of the run; one named after date, game and algorithm under runs/ where null."""


SCHEMAS: dict[str, type[CommonConfig]] = {
    "ppo": PPOConfig,
    "dmc": DMCConfig,
    "maskable_ppo": MaskablePPOConfig,
    "rllib": RLlibConfig,
}
"""The settings of each algorithm, by the name that `algo=` takes."""

GROUPS = ("algo", "recipe")


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
    # The groups first: what the other keys may be follows from them.
    groups = [each for each in overrides if each.partition("=")[0] in GROUPS]
    for override in overrides:
        if problem := _problem(override):
            raise OptionError(problem)
        try:
            _composed([*groups, *([override] if override not in groups else [])])
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
    """A Hydra config as plain dataclasses, every number looked at.

    Raises:
        OptionError: A number is too small or too great, or a word unknown.
    """
    from omegaconf import OmegaConf

    made = OmegaConf.to_object(config)
    assert isinstance(made, TrainConfig)
    checked(made.algo)
    return made


def checked(algo: Any) -> Any:
    """The settings of an algorithm, if each is what it may be.

    Raises:
        OptionError: One is not.
    """
    for each in dataclasses.fields(algo):
        value, about = getattr(algo, each.name), each.metadata
        if about.get("choices") and value not in about["choices"]:
            raise OptionError(f"algo.{each.name}: {closest(value, about['choices'])}; got {value!r}")
        low, high = about.get("low"), about.get("high")
        for number in value if isinstance(value, list) else [value]:
            if number is None or low is None or isinstance(number, str):
                continue
            # Written so that a NaN fits nowhere.
            fits = (number > low if about["above"] else number >= low) and (high is None or number <= high)
            if not fits:
                least = f"greater than {low:g}" if about["above"] else f"{low:g} or more"
                span = least if high is None else f"{low:g} … {high:g}"
                raise OptionError(f"algo.{each.name} must be {span}; got {value!r}")
    return algo


def from_settings(settings: dict[str, Any]) -> TrainConfig:
    """The settings of a run from those that its folder holds.

    Raises:
        OptionError: They are not those of this version.
    """
    try:
        from omegaconf import OmegaConf
        from omegaconf.errors import OmegaConfBaseException
    except ImportError as error:
        raise MissingExtraError("hydra-core", "train") from error
    try:
        # Through the schema, which looks at the kind of every value.
        schema = OmegaConf.structured(TrainConfig(algo=SCHEMAS[settings["algo"]["name"]]()))
        return typed(OmegaConf.merge(schema, settings))
    except OptionError:
        raise
    except (OmegaConfBaseException, KeyError, TypeError, ValueError, AttributeError, AssertionError) as error:
        told = " ".join(str(error).split()).partition(" full_key")[0]
        raise OptionError(f"the run's settings are not those of this version of pigenv: {told}") from None


def _problem(override: str) -> str | None:
    """What is wrong with a setting's form or name, in one sentence with the names that would have been right."""
    key, equals, value = override.lstrip("+~").partition("=")
    group, _, name = key.rpartition(".")
    if not equals or not key:
        return f"a setting must be key=value, such as algo.n_steps=32; got {override!r}"
    if key == "algo":
        return None if value in SCHEMAS else f"there is no algorithm {value!r}; {closest(value, SCHEMAS)}"
    if key == "recipe":
        return None if value in recipes() else f"there is no recipe {value!r}; {closest(value, recipes())}"
    if group.startswith("game.rules"):
        return None
    known = _known(group)
    if not known:
        return f"unknown setting {key!r}; {closest(group, ['game', 'algo'])}"
    return None if name in known else f"unknown setting {key!r}; {closest(name, known)}"


def recipes() -> list[str]:
    """The names of whole settings that come with the suite: what the shipped policies were trained with."""
    from importlib.resources import files

    folder = files("pigenv.configs") / "recipe"
    return sorted(each.name.removesuffix(".yaml") for each in folder.iterdir() if each.name.endswith(".yaml"))


def _known(group: str) -> list[str]:
    if group == "":
        return [*TrainConfig.__dataclass_fields__, "recipe"]
    if group == "game":
        return list(GameConfig.__dataclass_fields__)
    if group == "algo":
        return sorted({name for schema in SCHEMAS.values() for name in schema.__dataclass_fields__})
    return []
