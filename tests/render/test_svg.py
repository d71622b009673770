"""Scenes as SVG: everything is drawn, at a place of its own, to be read, and nothing that is hidden."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from pigenv import registry
from pigenv.game import ANYBODY
from pigenv.records import play_games, replay
from pigenv.render import drawing, faces
from pigenv.render.drawing import CARD_RATIO, HEIGHT, WIDTH, draw_table
from pigenv.render.shapes import Rect, Text
from pigenv.render.svg import card_svg, draw_svg
from pigenv.scene import Scene, Zone
from pigenv.table import Table
from tests.render import scenes

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> Counter[str]:
    """Every text in a picture, how often."""
    return Counter(element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text"))


def cards_of(scene: Scene, game: str) -> list[Rect]:
    """The cards that are drawn, by their paper."""
    papers = {faces.PAPER, faces.BACK.paper}
    return [shape for shape in draw_table(scene, game).shapes if isinstance(shape, Rect) and shape.fill in papers]


@pytest.mark.parametrize("game", scenes.SCENES)
def test_a_document_of_the_size_said(game: str) -> None:
    """The picture is one well-formed SVG element of 800 × 600 with a title that tells the position."""
    root = ElementTree.fromstring(draw_svg(scenes.SCENES[game], game))
    assert root.tag == f"{SVG}svg"
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("800", "600", "0 0 800 600")
    title = root.find(f"{SVG}title")
    assert title is not None
    assert "pile" in str(title.text)
    assert "to move" in str(title.text)


def test_every_open_card_is_named() -> None:
    """Each card that lies open can be read: its index stands there once for each, its name on the named ones."""
    shown = texts(draw_svg(scenes.pig_pile(3, ANYBODY, hand=13), "pig_pile"))
    for card in [*map(str, range(1, 13)), "W"]:
        assert shown[card] >= 3
    for name in ("Hog Wild", "Ewe-Turn", "Hog Wash", "Hog Tied"):
        assert shown[name] >= 1
    shown = texts(draw_svg(scenes.pigs_tail(4, hand=12)))
    assert [shown[rank] >= 3 for rank in ("A", "2", "10", "K", "Q")] == [True] * 5
    shown = texts(draw_svg(scenes.pig10(2), "pig10"))
    assert [shown[name] for name in ("Frog", "Pigmaid", "Pig 10")] == [2, 2, 1]


def test_suits_are_shapes() -> None:
    """Two cards of one rank are told apart without their colours: each suit is drawn from other shapes."""
    kinds = set()
    for suit in "CDHS":
        found = re.findall(r"<(ellipse|polygon|polyline)", card_svg(f"9{suit}"))
        points = re.findall(r'points="([^"]*)"', card_svg(f"9{suit}"))
        kinds.add((tuple(found), tuple(points)))
    assert len(kinds) == 4


def test_hidden_cards_are_not_in_the_picture() -> None:
    """From a seat, other hands are backs: the picture of two deals that differ only there is the same."""
    table = Table(registry.make("pig10", 3))
    table.start(5)
    for seat in range(3):
        other = table.clone(redraw=seat)
        scene = other.game.definition.scene
        view = table.view(seat)
        table.loops.determinize_views(view, table.game.row, view["key"] + 7)
        view["key"] = 0
        table.game.definition.hide(view[0], table.game.row[0], seat)
        assert draw_svg(scene(view[0], table.game.row[0], seat)) == draw_svg(table.scene(seat))
    assert draw_svg(table.scene(0)) != draw_svg(table.scene(ANYBODY))


@pytest.mark.parametrize("num_players", range(2, 13))
@pytest.mark.parametrize("hand", [0, 1, 6, 20, 38])
def test_nothing_lies_outside_or_hides_an_index(num_players: int, hand: int) -> None:
    """At any table, with any hand, every card lies on the sheet and leaves its neighbour's index in sight."""
    for scene, game in (
        (scenes.pigs_tail(num_players, 104 - 5, hand), "pigs_tail"),
        (scenes.pig_pile(min(num_players, 6), ANYBODY, hand), "pig_pile"),
    ):
        cards = cards_of(scene, game)
        for card in cards:
            assert card.x >= 0
            assert card.y >= 0
            assert card.x + card.w <= WIDTH
            assert card.y + card.w * CARD_RATIO <= HEIGHT
        hands = [card for card in cards if not card.turn and card.fill == faces.PAPER]
        assert len({(card.x, card.y) for card in hands}) == len(hands)
        for one, after in pairwise(hands):
            same_row = one.y == after.y and one.w == after.w and after.x > one.x
            if same_row and hand <= 20 and num_players <= 6:
                assert after.x - one.x >= 0.49 * one.w


@pytest.mark.parametrize("looking", [ANYBODY, 0, 3])
def test_the_seat_that_looks_sits_at_the_bottom(looking: int) -> None:
    """The seat that looks, or seat 0, lies lowest, and its left neighbour on the left."""
    named = [shape for shape in draw_table(scenes.pig10(4, looking)).shapes if isinstance(shape, Text)]
    places = {text.text: text for text in named if text.text.startswith("seat ")}
    bottom = max(looking, 0)
    assert max(places.values(), key=lambda text: text.y).text == f"seat {bottom}"
    assert min(places.values(), key=lambda text: (text.x, text.y)).x < WIDTH / 4
    left, right = places[f"seat {(bottom + 1) % 4}"], places[f"seat {(bottom + 3) % 4}"]
    assert left.x < WIDTH / 4 < 3 * WIDTH / 4 < right.x


def test_names_cannot_break_the_picture() -> None:
    """A name with signs of markup is text; one too long for its place is cut."""
    svg = draw_svg(scenes.pig10(2), "pig10", ["<script>&", "x" * 200])
    assert "<script>" not in svg
    assert texts(svg)["<script>&"] == 1
    assert max(map(len, texts(svg))) < 100


def test_the_end_is_drawn() -> None:
    """The final position says that the game is over, and marks nobody."""
    (record,) = play_games(registry.make("pig10", 3), ["uniform"], 1, 1)
    *_, last = replay(record)
    svg = draw_svg(last.scene, "pig10", record.agents)
    assert any("the game is over" in text for text in texts(svg))
    mark = f'stroke="{drawing.BRIGHT}"'
    assert mark not in svg
    assert svg != draw_svg(last.scene_before, "pig10")
    assert mark in draw_svg(last.scene_before, "pig10")


def test_a_game_that_nobody_knows() -> None:
    """Zones and cards of any name are drawn."""
    zones = (Zone("shown", None, ("north wind",)), Zone("hand", 0, ("a", "bcd", None)), Zone("odd_place", 1, ("e",)))
    shown = texts(draw_svg(Scene(2, 0, 0, zones, (0.5, 1.0))))
    assert shown["north wind"] >= 1
    assert {"a", "bcd", "e", "0.5 points", "1 point"} <= set(shown)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio as WCAG 2 defines it."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_everything_written_can_be_read() -> None:
    """Inks on cards and words on the table have the contrast that WCAG asks of small text, 4.5 to 1."""
    inks = {ink for _, ink in faces.SUITS.values()} | {
        ink for named in faces.NAMED.values() for _, ink in named.values()
    }
    assert min(contrast(ink, faces.PAPER) for ink in inks) >= 4.5
    for words in (drawing.CREAM, drawing.MUTED, drawing.BRIGHT):
        assert min(contrast(words, ground) for ground in (drawing.PANEL, drawing.FELT)) >= 4.5


def test_names_of_cards_are_spoken() -> None:
    """A card has a name to be read out."""
    assert faces.card_name("TH") == "10 of hearts"
    assert faces.card_name("AS") == "ace of spades"
    assert faces.card_name("8", "pig_pile") == "8, Hog Wash"
    assert faces.card_name("W", "pig_pile") == "Hog Wild"
    assert faces.card_name("4", "pig10") == "4"
    assert faces.card_name(None) == "face-down card"
