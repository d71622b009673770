"""A scene as a drawing: a few kinds of shapes at their places, from which every picture format is made.

The sheet is always 800 × 600 units; who paints it may scale it to any size. Colours are those of Okabe and Ito, or
darker ones of the same hue, so that they are told apart without full colour vision; whatever a colour says, a shape or
a word says too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from pigenv.render.faces import BACK, Face, face_of
from pigenv.render.shapes import Ellipse, Polygon, Rect, Shape, Text
from pigenv.scene import Scene, Zone

__all__ = ["HEIGHT", "WIDTH", "Drawing", "draw_card", "draw_table"]

WIDTH: Final = 800
HEIGHT: Final = 600
CARD_RATIO: Final = 1.4  # height of a card by its width

FELT, FELT_EDGE, PANEL, PANEL_EDGE = "#17494f", "#0d3439", "#0f3a40", "#2d6268"
CREAM, MUTED, BRIGHT = "#f6f2e7", "#b4cfd0", "#f0e442"
_MARGIN: Final = 10.0
_BOTTOM: Final = 432.0  # where the place of the seat at the bottom begins
_TOP: Final = 142.0  # where the middle of the table begins
_STRIP: Final = 0.55  # of a card's width that its index needs to be read
_LETTER: Final = 0.56  # mean width of a letter by its size
_SHOWN_IN_PILE: Final = 7
_ONE_ROW: Final = 4  # so few cards are never laid in rows


@dataclass
class Drawing:
    """Shapes on a sheet, those behind first.

    Attributes:
        width, height: The sheet, in units.
        shapes: What is drawn.
        title: What it shows, in words.
    """

    width: float
    height: float
    title: str = ""
    shapes: list[Shape] = field(default_factory=list)

    def add(self, *shapes: Shape) -> None:
        self.shapes.extend(shapes)


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    w: float
    h: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2


# --- a table ----------------------------------------------------------------------------------------------------------


def draw_table(scene: Scene, game: str = "", names: Sequence[str] = ()) -> Drawing:
    """Draw a position: the middle of the table, the seat that looks (or seat 0) at the bottom, the others clockwise.

    Args:
        scene: What lies where, as one seat or everybody sees it.
        game: The game's name without version (`pig10`), for the pictures and names on its cards.
        names: Who sits where, by seat; empty where nobody says.
    """
    sheet = Drawing(WIDTH, HEIGHT, describe(scene))
    sheet.add(
        Rect(0, 0, WIDTH, HEIGHT, 0, FELT_EDGE),
        Rect(4, 4, WIDTH - 8, HEIGHT - 8, 18, FELT, "#0a282c", 2),
        Ellipse(WIDTH / 2, (_TOP + _BOTTOM) / 2, 300, 138, "#1b545b"),
    )
    bottom = max(scene.looking, 0)
    boxes = _places(scene.num_players - 1)
    for place, box in enumerate(boxes):
        _draw_seat(sheet, scene, (bottom + 1 + place) % scene.num_players, box, game, names)
    _draw_own_seat(sheet, scene, bottom, game, names)
    side = 190.0 if len(boxes) > 2 else _MARGIN
    _draw_middle(sheet, scene, _Box(side, _TOP, WIDTH - 2 * side, _BOTTOM - _TOP - 6), game)
    return sheet


def describe(scene: Scene) -> str:
    """A position in one sentence, for whoever cannot see the picture."""
    middle = []
    for zone in scene.zones:
        if zone.seat is None:
            top = f", top {zone.cards[-1]}" if zone.cards and zone.cards[-1] is not None else ""
            middle.append(f"{_label(zone)} {len(zone.cards)} cards{top}{f', {zone.note}' if zone.note else ''}")
    turn = "the game is over" if scene.to_move is None else f"seat {scene.to_move} to move"
    points = ", ".join(f"{points:g}" for points in scene.scores)
    return f"{'; '.join([*middle, turn])}; points {points}"


def _places(others: int) -> list[_Box]:
    """Where the other seats are, clockwise from the left of the one at the bottom."""
    at_side = 0 if others <= 2 else 1 if others <= 5 else 2
    at_top = others - 2 * at_side
    side_width = 172.0
    height = (_BOTTOM - _TOP - 6 * (at_side - 1)) / at_side - 6 if at_side else 0.0
    left = [_Box(_MARGIN, _BOTTOM - 6 - height - place * (height + 6), side_width, height) for place in range(at_side)]
    right = [_Box(WIDTH - _MARGIN - side_width, box.y, side_width, height) for box in reversed(left)]
    width = (WIDTH - 2 * _MARGIN - 6 * (at_top - 1)) / at_top
    narrow = min(width, 380.0)
    start = WIDTH / 2 - (at_top * narrow + 6 * (at_top - 1)) / 2
    top = [_Box(start + place * (narrow + 6), _MARGIN, narrow, _TOP - _MARGIN - 6) for place in range(at_top)]
    return [*left, *top, *right]


def _label(zone: Zone) -> str:
    return zone.name.replace("_", " ")


def _points(scene: Scene, seat: int) -> str:
    points = f"{scene.scores[seat]:g}"
    return f"{points} point{'' if points == '1' else 's'}"


def _cut(text: str, width: float, size: float) -> str:
    """A text that is no wider than its place."""
    room = max(1, int(width / (size * _LETTER)))
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _draw_panel(sheet: Drawing, scene: Scene, seat: int, box: _Box) -> None:
    moves = seat == scene.to_move
    edge, width = (BRIGHT, 3.0) if moves else (PANEL_EDGE, 1.0)
    sheet.add(Rect(box.x, box.y, box.w, box.h, 10, PANEL, edge, width))


def _turn_mark(sheet: Drawing, x: float, y: float) -> None:
    sheet.add(Polygon(((x, y - 6), (x + 10, y), (x, y + 6)), BRIGHT))


def _draw_seat(sheet: Drawing, scene: Scene, seat: int, box: _Box, game: str, names: Sequence[str]) -> None:
    """The panel of another seat: its name and points above its cards."""
    _draw_panel(sheet, scene, seat, box)
    x, right, size = box.x + 9, box.x + box.w - 9, 13.0
    if seat == scene.to_move:
        _turn_mark(sheet, x, box.y + 13)
        x += 15
    points = _points(scene, seat) if box.w > 150 else f"{scene.scores[seat]:g}"
    sheet.add(
        Text(x, box.y + 18, f"seat {seat}", size, CREAM, bold=True),
        Text(right, box.y + 18, points, size, MUTED, "end"),
    )
    head = 25.0
    if names:
        after = x + 7 * size * _LETTER
        if box.w > 250:
            sheet.add(Text(after, box.y + 18, _cut(names[seat], right - after - 80, 12), 12, MUTED))
        else:
            head = 39.0
            sheet.add(Text(box.x + 9, box.y + 33, _cut(names[seat], box.w - 18, 12), 12, MUTED))
    zones = [zone for zone in scene.zones if zone.seat == seat]
    inside = _Box(box.x + 8, box.y + head, box.w - 16, box.h - head - 6)
    main, rest = zones[:1], zones[1:]
    if not rest:
        for zone in main:
            _draw_zone(sheet, zone, inside, game, 50.0, len(zones) > 1)
        return
    # The hand above, the other cards side by side below it.
    upper = inside.h * 0.52
    for zone in main:
        _draw_zone(sheet, zone, _Box(inside.x, inside.y, inside.w, upper), game, 44.0, True)
    share = inside.w / len(rest)
    for place, zone in enumerate(rest):
        below = _Box(inside.x + place * share, inside.y + upper + 2, share - 4, inside.h - upper - 2)
        _draw_zone(sheet, zone, below, game, 36.0, True)


def _draw_own_seat(sheet: Drawing, scene: Scene, seat: int, game: str, names: Sequence[str]) -> None:
    """The place at the bottom: name and points at the left, cards large beside them."""
    box = _Box(_MARGIN, _BOTTOM, WIDTH - 2 * _MARGIN, HEIGHT - _BOTTOM - _MARGIN)
    _draw_panel(sheet, scene, seat, box)
    x, y = box.x + 12, box.y + 26
    if seat == scene.to_move:
        _turn_mark(sheet, x, y - 5)
    sheet.add(Text(x + (15 if seat == scene.to_move else 0), y, f"seat {seat}", 16, CREAM, bold=True))
    lines = [names[seat]] if names else []
    lines += ["you"] if seat == scene.looking and "you" not in lines else []
    lines.append(_points(scene, seat))
    for place, line in enumerate(lines):
        sheet.add(Text(x, y + 20 + 18 * place, _cut(line, 106, 13), 13, MUTED))
    zones = [zone for zone in scene.zones if zone.seat == seat]
    inside = _Box(box.x + 124, box.y + 8, box.w - 132, box.h - 16)
    rest = zones[1:]
    aside = 136.0 if len(rest) <= 2 else inside.w * 0.5 / len(rest)
    at = inside.x
    for place, zone in enumerate(zones):
        width = inside.w - aside * len(rest) if place == 0 else aside
        _draw_zone(sheet, zone, _Box(at, inside.y, width - 8, inside.h), game, 84.0, len(zones) > 1)
        at += width


def _draw_zone(sheet: Drawing, zone: Zone, box: _Box, game: str, widest: float, named: bool) -> None:
    """A seat's cards in one place, large enough for every index to be read as long as there is room at all."""
    hidden = bool(zone.cards) and all(card is None for card in zone.cards)
    count = len(zone.cards)
    words = [_label(zone)] if named else []
    words += [f"×{count}"] if count > 5 else []
    words += [zone.note] if zone.note else []
    label_height = 0.0
    if words:
        label_height = 14.0
        sheet.add(Text(box.x, box.y + 10, _cut(" ".join(words), box.w, 11), 11, MUTED))
    area = _Box(box.x, box.y + label_height, box.w, box.h - label_height)
    if not count:
        size = min(widest, area.h / CARD_RATIO) * 0.8
        x, y = area.x + (area.w - size) / 2, area.y + min(6.0, (area.h - size * CARD_RATIO) / 2)
        sheet.add(Rect(x, y, size, size * CARD_RATIO, size * 0.1, "none", PANEL_EDGE, 1))
        return
    for card, (x, y, size) in zip(zone.cards, _spread(count, area, widest, 0.14 if hidden else _STRIP), strict=True):
        draw_card(sheet, card, game, x, y, size)


def _spread(count: int, area: _Box, widest: float, strip: float) -> list[tuple[float, float, float]]:
    """Left, top and width of so many cards in an area: as large as they fit, in rows that may overlap."""
    size, lowest = min(widest, area.h / CARD_RATIO, area.w), 9.0
    while True:
        height = size * CARD_RATIO
        rows = 1 + int(max(0.0, area.h - height) / (height * 0.62)) if count > _ONE_ROW else 1
        a_row = 1 + int(max(0.0, area.w - size) / (size * strip))
        if rows * a_row >= count or size <= lowest:
            break
        size = max(lowest, size * 0.95)
    rows = min(rows, math.ceil(count / a_row)) if rows * a_row >= count else rows
    a_row = math.ceil(count / rows)
    across = min(size * 1.08, (area.w - size) / max(1, a_row - 1))
    down = min(size * CARD_RATIO * 1.06, (area.h - size * CARD_RATIO) / max(1, rows - 1))
    left = area.x + (area.w - size - across * (a_row - 1)) / 2
    top = area.y + min(6.0, (area.h - size * CARD_RATIO - down * (rows - 1)) / 2)
    return [(left + (k % a_row) * across, top + (k // a_row) * down, size) for k in range(count)]


# --- the middle -------------------------------------------------------------------------------------------------------


def _draw_middle(sheet: Drawing, scene: Scene, area: _Box, game: str) -> None:
    """The ring, the pile, and whatever else lies in the middle."""
    zones = [zone for zone in scene.zones if zone.seat is None]
    ring = next((zone for zone in zones if zone.name == "ring"), None)
    others = [zone for zone in zones if zone is not ring]
    pile = next((zone for zone in others if zone.name == "pile"), None)
    if pile is None:
        pile = next((zone for zone in others if zone.cards and zone.cards[-1] is not None), None)
    stacks = [zone for zone in others if zone is not pile]
    x, y = area.middle
    if ring is not None:
        _draw_ring(sheet, ring, x, y, min(area.w / 2 - 28, 250), area.h / 2 - 26, game)
    if pile is not None:
        room = min(area.w * (0.5 if stacks else 0.62), 330.0)
        _draw_pile(sheet, pile, x, y - 6, room, 66.0, game)
    for place, stack in enumerate(stacks):
        side = -1 if place % 2 == 0 else 1
        away = area.w / 2 - 44 if area.w < 500 else 215.0
        _draw_stack(sheet, stack, x + side * away, y + 70 * (place // 2) - 6, 50.0, game)
    called = scene.called if pile is None or not pile.note or pile.note not in scene.called else ""
    if scene.to_move is None:
        called = f"{called} · the game is over" if called else "the game is over"
    if called:
        _draw_banner(sheet, called, x, y + 74 if ring is not None else area.y + area.h - 16)


def _draw_banner(sheet: Drawing, text: str, x: float, y: float) -> None:
    text = _cut(text, 380, 15)
    width = len(text) * 15 * _LETTER + 28
    sheet.add(
        Rect(x - width / 2, y - 14, width, 26, 13, CREAM, "#0a282c", 1),
        Text(x, y + 4.5, text, 15, "#1b2a2e", "middle", True),
    )


def _draw_ring(sheet: Drawing, ring: Zone, x: float, y: float, rx: float, ry: float, game: str) -> None:
    """Cards in an ellipse, each turned towards the middle, at equal distances along it."""
    count = len(ring.cards)
    steps = 720
    angles = [2 * math.pi * k / steps - math.pi / 2 for k in range(steps + 1)]
    run = [0.0]
    for a, b in pairwise(angles):
        run.append(run[-1] + math.hypot(rx * (math.cos(b) - math.cos(a)), ry * (math.sin(b) - math.sin(a))))
    place = 0
    size = 26.0
    for k, card in enumerate(ring.cards):
        while run[place + 1] < run[-1] * k / count:
            place += 1
        angle = angles[place]
        cx, cy = x + rx * math.cos(angle), y + ry * math.sin(angle)
        turn = math.degrees(math.atan2(ry * math.sin(angle) * rx / ry, rx * math.cos(angle) * ry / rx)) + 90
        if card is None:
            sheet.add(
                Rect(cx - size / 2, cy - size * 0.7, size, size * CARD_RATIO, 3, BACK.paper, BACK.edge, 1, turn),
                Rect(cx - size * 0.36, cy - size * 0.54, size * 0.72, size * 1.08, 2, "none", "#fbe4ec", 1, turn),
            )
        else:
            draw_card(sheet, card, game, cx - size / 2, cy - size * 0.7, size)
    sheet.add(Text(x, y - ry * 0.6, f"ring ×{count}" if count else "ring empty", 13, MUTED, "middle"))


def _draw_pile(sheet: Drawing, pile: Zone, x: float, y: float, room: float, size: float, game: str) -> None:
    """The pile, the last cards side by side, the top one whole."""
    height = size * CARD_RATIO
    step = size * 0.5
    shown = pile.cards[-min(_SHOWN_IN_PILE, 1 + int((room - size) / step)) :]
    under = len(pile.cards) - len(shown)
    left = x - (size + step * (len(shown) - 1)) / 2
    if not shown:
        sheet.add(
            Rect(x - size / 2, y - height / 2, size, height, 6, "none", "#5d9298", 1.5),
            Text(x, y + 4, _label(pile), 12, MUTED, "middle"),
        )
    for place, card in enumerate(shown):
        draw_card(sheet, card, game, left + place * step, y - height / 2, size)
    words = [f"{_label(pile)} ×{len(pile.cards)}" if pile.cards else "", f"{under} more below" if under else ""]
    sheet.add(Text(x, y + height / 2 + 15, ", ".join(word for word in words if word), 12, MUTED, "middle"))
    if pile.note and pile.cards:
        text = _cut(pile.note, room, 20)
        sheet.add(Text(x, y - height / 2 - 11, text, 20, BRIGHT, "middle", True))


def _draw_stack(sheet: Drawing, stack: Zone, x: float, y: float, size: float, game: str) -> None:
    """Cards that lie on each other, with their number."""
    height = size * CARD_RATIO
    count = len(stack.cards)
    left, top = x - size / 2, y - height / 2
    if not count:
        sheet.add(Rect(left, top, size, height, 5, "none", "#5d9298", 1.5))
    for layer in range(min(count, 1 + count // 12, 5) if count else 0):
        draw_card(sheet, stack.cards[-1], game, left + 2 * layer, top - 2 * layer, size)
    words = f"{_label(stack)} ×{count}" if count else f"{_label(stack)} empty"
    sheet.add(Text(x, top + height + 16, words, 12, MUTED, "middle"))
    if stack.note:
        sheet.add(Text(x, top + height + 30, _cut(stack.note, 110, 11), 11, MUTED, "middle"))


# --- a card -----------------------------------------------------------------------------------------------------------


def draw_card(sheet: Drawing, card: str | None, game: str, x: float, y: float, size: float) -> None:
    """Draw a card by its text, None for its back, with its upper left corner at a place and of a width."""
    height = size * CARD_RATIO
    face: Face = BACK if card is None else face_of(card, game)
    sheet.add(Rect(x, y, size, height, size * 0.1, face.paper, face.edge, max(0.7, size * 0.016)))
    for shape in face.shapes if size >= 30 or card is None else face.small:
        sheet.add(shape.moved(x, y, size / 100))
