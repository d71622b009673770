"""What is measured is what is said to be measured; how fast anything is, no test says."""

from __future__ import annotations

import pytest

from pigenv import registry
from pigenv.bench import LAYERS, first_choice, measure
from pigenv.errors import OptionError, UnknownNameError

PRESETS = [(name, preset) for name in registry.names() for preset in registry.definition(name).presets]


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_searches_are_measured_where_there_is_a_choice(name: str, preset: str) -> None:
    """A search has something to do at the decision where it is measured; only who always flips never has a choice."""
    table = first_choice(registry.make(name, preset=preset))
    if preset == "flip_only":
        assert table is None
    else:
        assert table is not None
        assert len(table.legal_actions()) > 1


def test_a_game_without_choices_is_measured_but_for_search() -> None:
    """Where nobody ever has a choice, search is left out, and asked for by name it is refused."""
    game = registry.make("pigs_tail", preset="flip_only")
    found = measure(game, batch=2, repeats=1, seconds=0.001, threads=1)
    assert [each["layer"] for each in found["results"]] == [each for each in LAYERS if each != "search"]
    assert all(each["per_second"] > 0 for each in found["results"])
    with pytest.raises(OptionError, match="choice"):
        measure(game, ("search",), repeats=1)


def test_layers_are_checked_before_anything_is_measured() -> None:
    """An unknown layer is refused with the closest name, before the first measurement."""
    begun: list[str] = []
    with pytest.raises(UnknownNameError, match="playout"):
        measure(registry.make("pig10"), ("playout", "playot"), progress=begun.append)
    assert begun == []
