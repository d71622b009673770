"""What the recipes' page claims is what was run; adapters say what is missing and what is broken."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import tomllib
from importlib import metadata

import pytest

from pigenv.adapters import versions
from pigenv.errors import MissingExtraError, UnsupportedVersionError
from tests.interop.libraries import LIBRARIES, PAGE, ROOT, last_results, pages, pins, requirements

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
ADAPTERS = [name for name, library in LIBRARIES.items() if library.adapter]
IMPORTED = {"sb3": "stable_baselines3", "openspiel": "pyspiel", "rllib": "ray"}


def test_every_library_has_its_parts() -> None:
    """A library has a recipe, a test file, an extra that exists, and an adapter exactly where it says so."""
    modules = {each.name for each in pkgutil.iter_modules([str(ROOT / "pigenv" / "adapters")])} - {"versions"}
    assert modules == set(ADAPTERS)
    recipes = {path.stem for path in PAGE.parent.glob("*.md")} - {"index"}
    assert recipes == set(LIBRARIES)
    for name, library in LIBRARIES.items():
        for test in (f"tests/adapters/test_{name}.py", *library.tests):
            assert (ROOT / test).exists(), test
        assert not library.venv or requirements(library.venv).exists(), name
        assert not library.extra or library.extra in EXTRAS, name


def test_the_tables_are_what_was_run() -> None:
    """The pages have the tables of the last runs, made with the versions that the requirements ask for today."""
    results = last_results()
    for path, page in pages(results).items():
        assert page == path.read_text(encoding="utf-8"), path
    for name, library in LIBRARIES.items():
        assert results[name]["passed"], f"{name} was not run; make test-interop"
        for package, version in pins(name).items():
            if package in library.packages:
                assert results[name]["versions"][package] == version, name


def test_requirements_are_pinned() -> None:
    """Every requirement of a library's environment is pinned to one version."""
    for name in LIBRARIES:
        if requirements(name).exists():
            lines = requirements(name).read_text(encoding="utf-8").splitlines()
            assert all(re.fullmatch(r"#.*|[\w.-]+(\[\w+\])?==[\w.]+", line) for line in lines), name


@pytest.mark.parametrize("name", [name for name in ADAPTERS if LIBRARIES[name].extra])
def test_a_missing_library_is_named_with_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the library is missing, importing the adapter says in one sentence what brings it."""
    library = IMPORTED.get(name, name)
    for module in [library, *(each for each in sys.modules if each.startswith(f"{library}."))]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"pigenv.adapters.{name}", raising=False)
    with pytest.raises(MissingExtraError, match=re.escape(f"pip install 'pigenv[{LIBRARIES[name].extra}]'")):
        importlib.import_module(f"pigenv.adapters.{name}")


def test_a_broken_release_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release known to be broken is refused with the reason and the one to get; later ones are not."""
    for found, works in (("2.9.1", False), ("2.10.0a1", True), ("2.9.2", True), ("1.99", False), ("2.9.2+cpu", True)):
        monkeypatch.setattr(metadata, "version", lambda package, found=found: found)
        if works:
            versions.check_version("somelib", "2.9.2", "it forgets masks")
        else:
            with pytest.raises(UnsupportedVersionError, match=r"somelib .* it forgets masks; .*'somelib>=2\.9\.2'"):
                versions.check_version("somelib", "2.9.2", "it forgets masks")
