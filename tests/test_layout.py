"""An observation as named parts."""

from __future__ import annotations

import numpy as np
import pytest

from pigenv import registry
from pigenv.layout import Layout, Part

LAYOUT = Layout((Part("hand", 3, "own cards"), Part("value", 1, "pile value"), Part("taken", 2, "cards taken")))


def test_size_and_slices() -> None:
    """Parts lie one after another without gaps; the size is their sum."""
    assert LAYOUT.size == 6
    assert LAYOUT.slices == {"hand": slice(0, 3), "value": slice(3, 4), "taken": slice(4, 6)}
    assert np.arange(6)[LAYOUT.slices["taken"]].tolist() == [4, 5]


def test_rows() -> None:
    """The table for the documentation has name, first index, index after the last, and meaning."""
    assert list(LAYOUT.rows()) == [
        ("hand", 0, 3, "own cards"),
        ("value", 3, 4, "pile value"),
        ("taken", 4, 6, "cards taken"),
    ]


def test_empty() -> None:
    """A layout without parts has no size."""
    assert (Layout(()).size, Layout(()).slices) == (0, {})


def test_digest_is_of_names_sizes_and_order() -> None:
    """The digest changes with a name, a size or the order of parts, not with the wording of a meaning."""
    hand, value, taken = LAYOUT.parts
    same = Layout((Part("hand", 3, "the cards one holds"), value, taken))
    assert same.digest == LAYOUT.digest
    others = [
        Layout((Part("cards", 3, "own cards"), value, taken)),
        Layout((Part("hand", 4, "own cards"), value, taken)),
        Layout((value, hand, taken)),
        Layout((hand, value)),
    ]
    assert len({LAYOUT.digest, *(other.digest for other in others)}) == 5


def test_digest_stays_between_releases() -> None:
    """The digest of Pig 10's observation is a promise to every checkpoint: a change means a new version of the game."""
    # sha256 of the JSON of names and sizes, worked out by hand: 11 kinds of card, 11 pile values, 10 tops, 4 seats.
    import hashlib

    parts = '[["hand", 11], ["pile_value", 11], ["pile_top", 10], ["pile_size", 1], ["stock_size", 1], '
    parts += '["taken", 4], ["hand_size", 4], ["unseen", 11]]'
    game = registry.make("pig10", 4)
    assert game.layout.digest == hashlib.sha256(parts.encode()).hexdigest()[:16]
    assert game.layout.size == 11 + 11 + 10 + 1 + 1 + 4 + 4 + 11


@pytest.mark.parametrize(
    "options",
    [
        {"memory": False},
        {"max_players": 8},
        {"rules": {"target": 9, "deck_counts": [8] * 10 + [0]}},
        {"num_players": 5},
    ],
)
def test_options_change_the_digest(options: dict[str, object]) -> None:
    """Whatever changes the observation changes the game's digest."""
    assert registry.make("pig10", **options).digest != registry.make("pig10").digest  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [{"reward": "rank"}, {"rules": {"max_turns": 90}}, {"rules": {"winner_leads": True}}]
)
def test_other_options_keep_the_digest(options: dict[str, object]) -> None:
    """Options that leave observation and actions alone keep the digest."""
    assert registry.make("pig10", **options).digest == registry.make("pig10").digest  # type: ignore[arg-type]


def test_one_layout_for_all_table_sizes() -> None:
    """With `max_players` every number of players has the same layout and the same actions."""
    games = [registry.make("pig10", n, max_players=8) for n in range(2, 9)]
    assert len({game.digest for game in games}) == 1
    assert len({game.layout.size for game in games}) == 1
