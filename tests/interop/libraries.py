"""Which libraries the environments are tried with, and what was tried with which versions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = [
    "LIBRARIES",
    "PROPERTIES",
    "README",
    "ROOT",
    "TESTED",
    "Library",
    "last_results",
    "pages",
    "pins",
    "requirements",
]

ROOT: Final = Path(__file__).resolve().parent.parent.parent
HERE: Final = Path(__file__).resolve().parent
TESTED: Final = HERE / "tested.json"
PAGE: Final = ROOT / "docs" / "recipes" / "index.md"
README: Final = ROOT / "README.md"
ABREAST: Final = 3  # libraries in a line of README's table
START, STOP = "<!-- made by: make test-interop -->\n", "<!-- end -->\n"

PROPERTIES: Final = {
    "test_code_runs": "recipe",
    "test_masks": "masks",
    "test_returns": "returns",
    "test_rewards": "others' turns",
    "test_seeds": "seeds",
    "test_cut": "cut games",
    "test_cluster": "two nodes",
}
"""How the tests begin that show a property, and the column it has in the table."""


@dataclass(frozen=True)
class Library:
    """One library.

    Attributes:
        title: How it is called.
        packages: Whose versions are stated; the first is the library itself.
        extra: What brings it, where pigenv has an extra for it.
        adapter: Whether `pigenv.adapters` has a module by its name.
        venv: The library whose virtual environment it is tried in; its own where empty.
        tests: Files of tests beside `tests/adapters/test_NAME.py`.
    """

    title: str
    packages: tuple[str, ...]
    extra: str = ""
    adapter: bool = False
    venv: str = ""
    tests: tuple[str, ...] = ()


LIBRARIES: Final = {
    "gymnasium": Library("Gymnasium", ("gymnasium",)),
    "pettingzoo": Library("PettingZoo", ("pettingzoo",)),
    "sb3": Library("Stable-Baselines3, sb3-contrib", ("stable-baselines3", "sb3-contrib"), "sb3", True),
    "torchrl": Library("TorchRL", ("torchrl", "tensordict"), "torchrl", True),
    "tianshou": Library("Tianshou", ("tianshou",), "tianshou", True),
    "agilerl": Library("AgileRL", ("agilerl", "pettingzoo", "tensordict"), "agilerl", True),
    "rllib": Library("RLlib", ("ray", "gymnasium"), "rllib", True, tests=("tests/train/test_rllib.py",)),
    "pufferlib": Library("PufferLib", (), "", True),
    "supersuit": Library("SuperSuit", ("supersuit",), "supersuit"),
    "openspiel": Library("OpenSpiel", ("open_spiel",), "openspiel", True),
    "rlcard": Library("RLCard", ("rlcard",), "rlcard", True),
    "cleanrl": Library("CleanRL's way, one file", ("torch",), "train"),
    "optuna": Library("Optuna", ("optuna",), "optuna"),
    "ray": Library("Ray: Tune, clusters", ("ray",), "ray", venv="rllib", tests=("tests/evaluate/test_ray.py",)),
    "minari": Library("Minari", ("minari",), "minari", True),
}


def requirements(name: str) -> Path:
    """What a library's virtual environment holds beside the developer's own; no file: nothing."""
    return HERE / f"{LIBRARIES[name].venv or name}.txt"


def pins(name: str) -> dict[str, str]:
    """The versions that a library's requirements ask for."""
    path = requirements(name)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return dict(re.match(r"([\w.-]+)(?:\[[\w,]+\])?==(\S+)", line).groups() for line in lines if "==" in line)  # type: ignore[union-attr,misc]


def last_results() -> dict[str, Any]:
    """What the last runs found: for each library, its versions and the tests that passed."""
    return dict(json.loads(TESTED.read_text(encoding="utf-8"))) if TESTED.exists() else {}


def table(results: dict[str, Any]) -> str:
    """The table of the recipes' page: what was tried with which version."""
    columns = list(PROPERTIES.values())
    lines = [
        f"| library | tested with | extra | {' | '.join(columns)} |",
        f"| --- | --- | --- | {' | '.join(':-:' for _ in columns)} |",
    ]
    for name, library in LIBRARIES.items():
        result = results.get(name, {"versions": {"not": "run"}, "passed": []})
        versions = ", ".join(f"{package} {version}" for package, version in result["versions"].items())
        marks = ["✓" if any(test.startswith(start) for test in result["passed"]) else "" for start in PROPERTIES]
        extra = f"`{library.extra}`" if library.extra else ""
        lines.append(f"| [{library.title}]({name}.md) | {versions or 'a stand-in'} | {extra} | {' | '.join(marks)} |")
    return "\n".join(lines) + "\n"


def short_table(results: dict[str, Any]) -> str:
    """The table of README: the version of each library, several libraries a line."""
    cells = []
    for name, library in LIBRARIES.items():
        versions = results.get(name, {"versions": {"not": "run"}})["versions"]
        first = next((f"{package} {version}" for package, version in versions.items()), "a stand-in")
        cells.append(f"[{library.title}](docs/recipes/{name}.md) | {first.removeprefix(f'{name} ')}")
    cells += [" | "] * (-len(cells) % ABREAST)
    lines = [" | ".join(["library | tested with"] * ABREAST), " | ".join(["---"] * 2 * ABREAST)]
    lines += [" | ".join(cells[start : start + ABREAST]) for start in range(0, len(cells), ABREAST)]
    return "".join(f"| {line} |\n" for line in lines)


def pages(results: dict[str, Any]) -> dict[Path, str]:
    """The pages that say what was tried, each with its table in its place."""
    made = {}
    for path, lines in ((PAGE, f"\n{table(results)}\n"), (README, short_table(results))):
        before, start, rest = path.read_text(encoding="utf-8").partition(START)
        _, stop, after = rest.partition(STOP)
        if not start or not stop:
            raise ValueError(f"{path.name} has no place for the table: {START!r} … {STOP!r}")
        made[path] = before + start + lines + stop + after
    return made
