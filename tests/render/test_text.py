"""Scenes as text."""

import pytest

from pigenv import registry
from pigenv.game import ANYBODY
from pigenv.render.text import FACE_DOWN, draw_text
from pigenv.scene import Scene, Zone
from pigenv.table import Table

SCENE = Scene(
    num_players=3,
    to_move=1,
    looking=0,
    zones=(
        Zone("pile", None, ("4", "3"), "value 7"),
        Zone("stock", None, (None,) * 30),
        Zone("hand", 0, ("1", "W")),
        Zone("face_up", 0, ("7",)),
        Zone("face_down", 0, (None, None, None)),
        Zone("hand", 1, (None, None)),
        Zone("hand", 2, ()),
    ),
    scores=(12.0, 1.0, 0.5),
    called="pile value 7",
)


def test_everything_is_drawn() -> None:
    """The middle comes first, then every seat with its points and cards; who moves and who looks is marked."""
    assert draw_text(SCENE).splitlines() == [
        "  pile value 7",
        "  pile    4 3  (value 7)",
        f"  stock   {FACE_DOWN}×30",
        f"  seat 0  (you)   12 points  hand 1 W | face up 7 | face down {FACE_DOWN} {FACE_DOWN} {FACE_DOWN}",
        f"> seat 1           1 point   hand {FACE_DOWN} {FACE_DOWN}",
        "  seat 2         0.5 points  hand –",
    ]


def test_finished_game_says_so() -> None:
    """Where nobody is to move, no seat is marked and the end is said."""
    over = Scene(2, None, ANYBODY, (), (1.0, 2.0))
    text = draw_text(over)
    assert text.endswith("the game is over")
    assert ">" not in text


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_fit(width: int) -> None:
    """However many cards lie there, no line is wider than asked for, and no card is lost or cut in two."""
    cards = tuple(f"{k % 13 + 1}x" for k in range(120))
    scene = Scene(2, 0, ANYBODY, (Zone("pile", None, cards), Zone("hand", 1, cards)), (0.0, 0.0), "value " * 40)
    text = draw_text(scene, width)
    assert max(map(len, text.splitlines())) <= width
    assert [word for word in text.split() if word.endswith("x")] == [*cards, *cards]


@pytest.mark.parametrize("seat", range(3))
def test_a_seat_sees_its_own_hand_only(seat: int) -> None:
    """Drawn from a seat, every other hand lies face down."""
    table = Table(registry.make("pig10", 3))
    table.start(5)
    hands = [line.split("hand ")[1] for line in draw_text(table.scene(seat)).splitlines() if "hand " in line]
    assert [hand == " ".join([FACE_DOWN] * 3) for hand in hands] == [other != seat for other in range(3)]
    assert FACE_DOWN not in "".join(draw_text(table.scene(ANYBODY)).splitlines()[2:])
