"""What several test files share."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from pigenv import registry
from tests.toy_game import SOURCE


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[str]:
    """A fourth game in a package of its own, offered by an entry point; gives its id."""
    name = "odd_dice_elsewhere"
    (tmp_path / f"{name}.py").write_text(SOURCE, encoding="utf-8")
    real = metadata.entry_points

    def entry_points(**wanted: str) -> object:
        if wanted == {"group": registry.ENTRY_POINTS}:
            point = metadata.EntryPoint("odd_dice_v0", f"{name}:DEFINITION", registry.ENTRY_POINTS)
            return [*real(**wanted), point]
        return real(**wanted)

    known = registry.definition("pig10")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        patch.setattr(metadata, "entry_points", entry_points)
        forget_games()
        yield "odd_dice_v0"
    sys.modules.pop(name, None)
    forget_games()
    assert registry.definition("pig10") is known
    assert "odd_dice" not in registry.names()


DICE_PIG = Path(__file__).parent.parent / "examples" / "dice_pig"


@pytest.fixture
def dice_pig(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the example's folder had been installed: its entry points are those of its `pyproject.toml`."""
    project = tomllib.loads((DICE_PIG / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    real = metadata.entry_points

    def entry_points(**wanted: str) -> object:
        if wanted.get("group") not in project["entry-points"]:
            return real(**wanted)
        offered = project["entry-points"][wanted["group"]]
        name = wanted.get("name")
        points = [
            metadata.EntryPoint(each, value, wanted["group"]) for each, value in offered.items() if name in (None, each)
        ]
        return [*real(**wanted), *points]

    monkeypatch.syspath_prepend(str(DICE_PIG))
    monkeypatch.setattr(metadata, "entry_points", entry_points)
    forget_games()
    yield
    for name in ("dice_pig", "dice_pig_players"):
        sys.modules.pop(name, None)
    forget_games()


def forget_games() -> None:
    """Let the registry look for games again."""
    importlib.invalidate_caches()
    registry._sources.cache_clear()
    registry._load.cache_clear()
