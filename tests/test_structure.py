"""Who imports whom, what `import pigenv` loads, and what the package list says: read from the sources."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOP_FOLDERS = ("agents", "configs", "evaluate", "train")
BASE = {"pigenv.errors", "pigenv.kernel", "pigenv.layout", "pigenv.scene"}
LOWEST = {"pigenv.errors", "pigenv.kernel", "pigenv.layout", "pigenv.scene", "pigenv.game"}


class Import(NamedTuple):
    """One import: who, whom, and whether it happens only when a function is called or for types alone."""

    module: str
    target: str
    lazy: bool


def sources() -> dict[str, Path]:
    """Every module of the installed package by its dotted name."""
    found = {}
    for folder, prefix in [("pigenv", "pigenv"), *((top, f"pigenv.{top}") for top in TOP_FOLDERS)]:
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT / folder).with_suffix("").parts
            # pigenv/agents and its like are links to the folders at the top.
            if folder == "pigenv" and inside[0] in TOP_FOLDERS:
                continue
            found[".".join([prefix, *(part for part in inside if part != "__init__")])] = path
    return found


SOURCES = sources()


def _nodes(tree: ast.AST, lazy: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    for node in ast.iter_child_nodes(tree):
        guarded = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        inside = lazy or guarded or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield node, inside
        yield from _nodes(node, inside)


def imports_of(module: str) -> Iterator[Import]:
    """Every import of a module, `importlib.import_module` with a constant name too."""
    for node, lazy in _nodes(ast.parse(SOURCES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (Import(module, alias.name, lazy) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield Import(module, whole if whole in SOURCES else str(node.module), lazy)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = [each.value for each in node.args if isinstance(each, ast.Constant)]
            yield from (Import(module, str(name), lazy) for name in names)


IMPORTS = [each for module in SOURCES for each in imports_of(module)]
OWN = [each for each in IMPORTS if each.target.split(".")[0] == "pigenv"]


def within(name: str, package: str) -> bool:
    """Whether a module is a package or stands below it."""
    return name == package or name.startswith(package + ".")


def test_the_sources_are_read() -> None:
    """The reading below sees the modules and imports that there certainly are."""
    assert {"pigenv.games.pig10", "pigenv.table", "pigenv.agents.catalog", "pigenv.train.run", "pigenv"} <= set(SOURCES)
    assert Import("pigenv.table", "pigenv.kernel", False) in OWN
    assert Import("pigenv.agent", "pigenv.agents.catalog", True) in OWN


def test_the_lowest_import_errors_alone() -> None:
    """Errors, kernel, layout and scene import nothing of the project but errors."""
    for each in OWN:
        if each.module in BASE:
            assert each.target == "pigenv.errors", each


def test_game_imports_the_lowest_alone() -> None:
    """The contract imports only errors, kernel, layout and scene."""
    for each in OWN:
        if each.module == "pigenv.game":
            assert each.target in BASE, each


def test_games_stand_alone() -> None:
    """A game imports the contract and what is below it, never another game, and no library beyond NumPy."""
    for each in IMPORTS:
        if within(each.module, "pigenv.games"):
            top = each.target.split(".")[0]
            allowed = each.target in LOWEST if top == "pigenv" else top in {*sys.stdlib_module_names, "numpy"}
            assert allowed, each


def level(name: str) -> int:
    """How high a module stands; it may import what is not above it."""
    heights = [
        (0, {"pigenv.errors", "pigenv.kernel", "pigenv.layout", "pigenv.scene"}),
        (1, {"pigenv.game"}),
        (2, {"pigenv.games"}),
        (3, {"pigenv.registry"}),
        (
            4,
            {
                "pigenv.crew",
                "pigenv.table",
                "pigenv.agent",
                "pigenv.deals",
                "pigenv.records",
                "pigenv.render",
                "pigenv.testing",
                "pigenv.information_state",
            },
        ),
        (5, {"pigenv.envs", "pigenv.bench"}),
        (6, {"pigenv.adapters", "pigenv.web"}),
        (7, {"pigenv.agents"}),
        (8, {"pigenv.evaluate"}),
        (9, {"pigenv.train"}),
        (10, {"pigenv.cli"}),
    ]
    for height, packages in heights:
        if any(within(name, package) for package in packages):
            return height
    if name in ("pigenv", "pigenv.registration"):
        return -1
    if re.fullmatch(r"pigenv\.\w+_v\d+", name):
        return 5
    return 0 if within(name, "pigenv.configs") else 99


def test_every_module_has_its_place() -> None:
    """A new module is given a place in the order of the layers."""
    assert [module for module in SOURCES if level(module) == 99] == []


def test_arrows_point_down() -> None:
    """Nothing imports what stands above it, but for names that are looked up at call time in three places."""
    for each in OWN:
        if level(each.target) <= level(each.module) or each.target == "pigenv":
            continue
        # Package names are looked up lazily: the catalog by the agents' finder, everything by the package itself.
        by_name = each.lazy and each.module == "pigenv.agent" and each.target == "pigenv.agents.catalog"
        assert by_name or (each.module == "pigenv" and each.target == "pigenv.registration"), each


def test_nobody_imports_train() -> None:
    """Training is imported by itself and, lazily, by the command line alone."""
    for each in OWN:
        if within(each.target, "pigenv.train") and not within(each.module, "pigenv.train"):
            assert each.module == "pigenv.cli", each
            assert each.lazy, each


def test_the_core_reaches_agents_by_name_only() -> None:
    """The core imports agents, evaluation and training only lazily, in the agents' finder and the command line."""
    for each in OWN:
        above = any(within(each.target, f"pigenv.{top}") for top in ("agents", "evaluate", "train"))
        if above and not any(within(each.module, f"pigenv.{top}") for top in ("agents", "evaluate", "train")):
            assert each.module in ("pigenv.agent", "pigenv.cli"), each
            assert each.lazy, each


def test_command_line_imports_lazily() -> None:
    """The command line loads at its start only what its help needs."""
    for each in OWN:
        if each.module == "pigenv.cli" and not each.lazy:
            assert each.target in ("pigenv", "pigenv.errors"), each


def test_one_file_imports_numba() -> None:
    """Numba is imported by `kernel` alone; agents, games and loops take the decorator from there."""
    users = {each.module for each in IMPORTS if each.target.split(".")[0] == "numba"}
    # The benchmark only asks for its version, by name.
    assert users == {"pigenv.kernel"}


def test_heavy_libraries_stay_in_their_rooms() -> None:
    """Torch and the learners' libraries are imported only where learners are, and never at the top of the core."""
    rooms = {
        "torch": (
            "pigenv.train",
            "pigenv.agents.checkpoint",
            "pigenv.agents.foreign",
            "pigenv.bench",
            "pigenv.adapters.torchrl",
        ),
        "torchrl": ("pigenv.adapters.torchrl",),
        "tensordict": ("pigenv.adapters.torchrl",),
        "rlcard": ("pigenv.adapters.rlcard",),
        "tianshou": ("pigenv.adapters.tianshou",),
        "agilerl": ("pigenv.adapters.agilerl",),
        "pufferlib": ("pigenv.adapters.pufferlib",),
        "minari": ("pigenv.adapters.minari",),
        "stable_baselines3": ("pigenv.train", "pigenv.adapters.sb3", "pigenv.agents.foreign"),
        "sb3_contrib": ("pigenv.train", "pigenv.agents.foreign"),
        "hydra": ("pigenv.train",),
        "pyspiel": ("pigenv.adapters.openspiel",),
        "matplotlib": ("pigenv.evaluate", "pigenv.train"),
        "ray": ("pigenv.evaluate.cluster", "pigenv.adapters.rllib", "pigenv.train.rllib"),
        "onnxruntime": ("pigenv.agents.foreign",),
        "openskill": ("pigenv.evaluate.ratings",),
        "pygame": ("pigenv.render.image",),
        "PIL": ("pigenv.render.image",),
        "starlette": ("pigenv.web",),
        "uvicorn": ("pigenv.web",),
    }
    for each in IMPORTS:
        top = each.target.split(".")[0]
        if top in rooms:
            assert any(within(each.module, room) for room in rooms[top]), each


def test_packages_are_the_folders() -> None:
    """The package list in pyproject.toml is exactly the folders with an `__init__.py`."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folders = {name for name, path in SOURCES.items() if path.name == "__init__.py"}
    assert sorted(settings["packages"]) == settings["packages"] == sorted(folders)
    assert settings["package-dir"] == {"pigenv": "pigenv", **{f"pigenv.{top}": top for top in TOP_FOLDERS}}


def test_links_lead_to_the_folders() -> None:
    """Each folder at the top is also reached through a relative link in the package."""
    for top in TOP_FOLDERS:
        link = ROOT / "pigenv" / top
        assert link.is_symlink()
        assert link.readlink() == Path("..") / top


@pytest.mark.parametrize("top", TOP_FOLDERS)
def test_the_wrong_name_is_refused(top: str) -> None:
    """`import agents` instead of `pigenv.agents` is refused with a sentence."""
    done = subprocess.run(
        [sys.executable, "-c", f"import {top}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"import pigenv.{top} instead of {top}" in done.stderr


def test_no_file_is_named_like_the_standard_library() -> None:
    """No module in the folders at the top has a name that would hide one of Python's own."""
    for top in TOP_FOLDERS:
        for path in (ROOT / top).glob("*.py"):
            assert path.stem not in sys.stdlib_module_names, path


def tracked_files() -> list[Path]:
    """The files under version control, or those that would be; none outside a checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    files = [ROOT / name for name in listed.stdout.splitlines()]
    return [path for path in files if path.is_file() and not path.is_symlink()]


def test_no_tools_under_version_control() -> None:
    """No virtual environment, cache or build is under version control."""
    if not tracked_files():
        pytest.skip("not a git checkout")
    places = {path.relative_to(ROOT).parts[0] for path in tracked_files()}
    assert places & {".venv", ".venvs", "build", "dist", "runs", ".mypy_cache", ".ruff_cache", ".pytest_cache"} == set()
    assert [path for path in tracked_files() if "__pycache__" in path.parts] == []


def test_no_paths_of_one_machine() -> None:
    """No text file under version control names a folder of somebody's machine."""
    if not tracked_files():
        pytest.skip("not a git checkout")
    here = re.compile(r"(?<![\w.~])/(?:home|root|Users|work|mnt|private)/\w")
    found = []
    for path in tracked_files():
        if path.relative_to(ROOT).parts[0] in (".venv", ".venvs") or path == Path(__file__).resolve():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {line.strip()}" for line in text.splitlines() if here.search(line)]
    assert found == []


def test_import_is_light() -> None:
    """`import pigenv` loads no torch, no numba, no pygame and no learners' library, and compiles nothing."""
    heavy = ("torch", "numba", "pygame", "stable_baselines3", "sb3_contrib", "scipy", "matplotlib", "hydra", "typer")
    script = f"import sys, pigenv; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
