"""What the tests of the page share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pigenv.game import Definition
from tests.web.slap_game import SOURCE


@pytest.fixture
def slap(tmp_path: Path) -> Iterator[Definition]:
    """A game of reflexes and secret choices, in a module of its own."""
    name = "slap_elsewhere"
    (tmp_path / f"{name}.py").write_text(SOURCE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        module: Any = __import__(name)
        yield module.DEFINITION
    sys.modules.pop(name, None)
