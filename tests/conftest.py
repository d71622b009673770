"""What several test files share."""

from __future__ import annotations

import importlib
import sys
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


def forget_games() -> None:
    """Let the registry look for games again."""
    importlib.invalidate_caches()
    registry._sources.cache_clear()
    registry._load.cache_clear()
