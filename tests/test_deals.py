"""Every deal of a small game."""

from __future__ import annotations

import json
from collections import Counter
from itertools import permutations

import pytest

from pigenv import registry
from pigenv.deals import all_deals
from pigenv.errors import OptionError
from pigenv.table import Table

# The pack 0, 1, 2, 3, 3.
RULES = {"deck_counts": (1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0), "hand_size": 1, "target": 3, "max_turns": 3}
GAME = registry.make("pig10", 2, rules=RULES)


def test_deals_are_all_and_equally_likely() -> None:
    """Each deal that the game shuffles is listed, once, and comes as often as the others."""
    texts = [json.dumps(deal) for deal in all_deals(GAME, 120)]
    # Every order of the pack, whoever begins.
    assert len(set(texts)) == len(texts) == len(set(permutations([0, 1, 2, 3, 3]))) * 2
    table, seen = Table(GAME), Counter[str]()
    for number in range(6000):
        table.start(5, number)
        seen[json.dumps(table.deal())] += 1
    assert set(seen) == set(texts)
    # Mean 50; a deal twice as likely as another would be far outside.
    assert 20 < min(seen.values()) <= max(seen.values()) < 85


def test_what_cannot_be_listed_is_refused() -> None:
    """More deals than asked for are refused with their number."""
    with pytest.raises(OptionError, match="pig10_v0 has 120 deals under these rules; at most 119"):
        all_deals(GAME, 119)


@pytest.mark.parametrize("name", registry.names())
def test_listed_deals_can_be_dealt(name: str) -> None:
    """The edition `mini` of every game can be listed; what is dealt as listed comes back as it was given."""
    table = Table(registry.make(name, preset="mini"))
    for deal in all_deals(table.game, 10_000)[::97]:
        table.start(0, 0, [deal])
        assert table.deal() == deal
