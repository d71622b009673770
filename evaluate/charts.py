"""Charts as inline SVG, drawn without a library.

Widths are per cent of the page's column and heights are pixels, so that letters keep their size on a phone. Colours
are classes of the page's style sheet, which has a light and a dark set; nothing is said by colour alone. Every chart
carries its numbers as text for those who do not see it. Names come from anywhere and are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

__all__ = ["Row", "learning_curve", "ordinal", "percent", "placements", "seat_effect", "win_shares"]

_ROW: Final = 52  # pixels for a name and a bar
_BAR: Final = 18
_TOP: Final = 24
_DARKEST, _LIGHTEST = (22, 70, 122), (205, 222, 240)  # ends of the scale of places: one hue, told apart by lightness
_LONGEST_NAME: Final = 34  # characters beside a figure, on a phone
_ROOM_FOR_TEXT: Final = 0.11  # share of the width below which a label does not fit into a segment, on a phone


@dataclass(frozen=True)
class Row:
    """What the charts show of one line-up.

    Attributes:
        name: Whom the agent played against, as printed.
        verdict: "beats", "even" or "loses".
        share, low, high, chance: Win share, its interval and the chance level, 0 … 1.
        placements: Share of games in each place.
        seats: Win share by seat.
    """

    name: str
    verdict: str
    share: float
    low: float
    high: float
    chance: float
    placements: Sequence[float]
    seats: Sequence[float]


def percent(share: float) -> str:
    """A share of 1 as printed: `21.3 %`."""
    return f"{100 * share:.1f} %"


def ordinal(place: int) -> str:
    """1st, 2nd, 3rd, 4th, … 11th."""
    ending = "th" if place in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


# --- SVG --------------------------------------------------------------------------------------------------------------


def _svg(name: str, height: float, title: str, description: str, parts: Sequence[str]) -> str:
    """A chart with its text for those who do not see it."""
    return (
        f'<svg class="chart" role="img" width="100%" height="{height:g}" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{_x(x)}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{_x(x1)}" y1="{y1:g}" x2="{_x(x2)}" y2="{y2:g}" class="{kind}"/>'


def _rect(x: float, y: float, width: float, height: float, kind: str, more: str = "") -> str:
    return f'<rect x="{_x(x)}" y="{y:g}" width="{_x(max(width, 0))}" height="{height:g}" class="{kind}"{more}/>'


def _x(share: float) -> str:
    return f"{100 * share:.3f}".rstrip("0").rstrip(".") + "%"


def _shortened(name: str) -> str:
    """A name that fits beside a figure; of a path, the end tells most."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:8]}…{name[9 - _LONGEST_NAME :]}"


def _edge(share: float) -> str:
    """How a text at this place is anchored so that it stays inside."""
    return "start" if share < 0.08 else "end" if share > 0.92 else "middle"


# --- charts -----------------------------------------------------------------------------------------------------------


def win_shares(rows: Sequence[Row]) -> str:
    """A bar a line-up, with the interval on it and the chance level through it."""
    bottom = _TOP + _ROW * len(rows)
    chance = rows[0].chance
    parts = [_line(tick / 4, _TOP - 4, tick / 4, bottom, "grid") for tick in range(5)]
    labels: list[str] = []
    for number, row in enumerate(rows):
        y = _TOP + _ROW * number + 22
        middle = y + _BAR / 2
        parts += [
            _rect(0, y, 1, _BAR, "track"),
            _rect(0, y, row.share, _BAR, row.verdict),
            _line(row.low, middle, row.high, middle, "interval"),
            _line(row.low, middle - 5, row.low, middle + 5, "interval"),
            _line(row.high, middle - 5, row.high, middle + 5, "interval"),
        ]
        labels += [
            _text(0, y - 6, _shortened(row.name), "name over"),
            _text(1, y - 6, percent(row.share), "value over", "end"),
        ]
    for number, row in enumerate(rows):
        top = _TOP + _ROW * number
        parts.append(_line(row.chance, top + (14 if number else -4), row.chance, top + _ROW, "chance"))
    parts += labels
    parts.append(_text(chance, _TOP - 9, f"chance {_short(chance)}", "small", _edge(chance)))
    parts += [
        _text(tick / 4, bottom + 16, f"{25 * tick} %", "small", ("start", "middle", "end")[(tick > 0) + (tick > 3)])
        for tick in range(5)
    ]
    told = "; ".join(
        f"against {row.name} {percent(row.share)}, interval {percent(row.low)} to {percent(row.high)}, "
        f"chance {_short(row.chance)}"
        for row in rows
    )
    return _svg("win", bottom + 22, "Win share by opponent", f"{told}.", parts)


def placements(rows: Sequence[Row]) -> str:
    """A bar a line-up, divided by the places that the agent came in."""
    count = len(rows[0].placements)
    parts = []
    for number, row in enumerate(rows):
        y, x = _ROW * number + 22, 0.0
        parts.append(_text(0, y - 6, _shortened(row.name), "name"))
        for place, share in enumerate(row.placements):
            fill, ink = place_colour(place, count)
            parts.append(_rect(x, y, share, _BAR + 4, "segment", f' style="fill:{fill}"'))
            if share >= _ROOM_FOR_TEXT:
                label = f"{100 * share:.0f} %"
                parts.append(
                    f'<text x="{_x(x + share / 2)}" y="{y + 16:g}" class="small" style="fill:{ink}" '
                    f'text-anchor="middle">{label}</text>'
                )
            x += share
    told = "; ".join(
        f"against {row.name} "
        + ", ".join(f"{ordinal(place + 1)} {percent(share)}" for place, share in enumerate(row.placements))
        for row in rows
    )
    return _svg("places", _ROW * len(rows), "Placements by opponent", f"{told}.", parts)


def place_colour(place: int, count: int) -> tuple[str, str]:
    """The fill of a place, darkest for the first, and a colour of letters that can be read on it."""
    at = place / max(count - 1, 1)
    rgb = [round(dark + (light - dark) * at) for dark, light in zip(_DARKEST, _LIGHTEST, strict=True)]
    linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # White and black contrast equally at 0.179 (WCAG 2's formula).
    return "#" + "".join(f"{c:02x}" for c in rgb), "#ffffff" if luminance < 0.179 else "#101418"


def seat_effect(row: Row, number: int, highest: float) -> str:
    """A column a seat: the agent's win share there, all charts on the same scale."""
    height, base, count = 132, 112, len(row.seats)
    scale = (base - 22) / max(highest, 1e-9)
    parts, labels = [], []
    for seat, share in enumerate(row.seats):
        x, tall = (seat + 0.14) / count, share * scale
        middle = (seat + 0.5) / count
        parts += [
            _rect(x, base - tall, 0.72 / count, tall, "column"),
            _text(middle, base + 15, str(seat), "small", "middle"),
        ]
        labels.append(_text(middle, base - tall - 5, f"{100 * share:.0f}", "small over", "middle"))
    parts.append(_line(0, base, 1, base, "axis"))
    mean = base - row.share * scale
    parts += [_line(0, mean, 1, mean, "mean"), *labels]
    told = ", ".join(f"seat {seat} {percent(share)}" for seat, share in enumerate(row.seats))
    return _svg(f"seat{number}", height, f"Win share by seat against {row.name}", f"{told}.", parts)


def learning_curve(points: Sequence[tuple[float, float]], chance: float | None = None) -> str:
    """A line over the decisions learned from, and where `chance` is."""
    height, top, base = 220, 14, 190
    xs, ys = [x for x, _ in points], [y for _, y in points]
    level = [] if chance is None else [chance]
    ticks = _ticks(min(*ys, *level, ys[0]), max(*ys, *level, ys[0]))
    low, high = ticks[0], ticks[-1]
    left, right = min(0, *xs), max(*xs, 1)

    def down(value: float) -> float:
        return base - (base - top) * (value - low) / (high - low)

    parts = []
    for tick in ticks:
        parts += [_line(0, down(tick), 1, down(tick), "grid"), _text(0, down(tick) - 4, f"{tick:g}", "small")]
    # Only this part is stretched with the page; its line keeps its width, and no text is in it.
    line = " ".join(f"{1000 * (x - left) / (right - left):.1f},{down(y):.1f}" for x, y in points)
    parts.append(
        f'<svg x="0" y="0" width="100%" height="{height}" viewBox="0 0 1000 {height}" preserveAspectRatio="none">'
        f'<polyline points="{line}" class="curve" vector-effect="non-scaling-stroke"/></svg>'
    )
    if chance is not None:
        parts += [
            _line(0, down(chance), 1, down(chance), "chance"),
            _text(1, down(chance) - 4, f"chance {_short(chance)}", "small over", "end"),
        ]
    if len(points) == 1:
        parts.append(f'<circle cx="{_x((xs[0] - left) / (right - left))}" cy="{down(ys[0]):g}" r="4" class="dot"/>')
    parts += [
        _line(0, base, 1, base, "axis"),
        _text(0, base + 18, f"{left:,.0f}", "small"),
        _text(1, base + 18, f"{right:,.0f} decisions", "small", "end"),
    ]
    told = f"From {ys[0]:.3f} to {ys[-1]:.3f} over {right:,.0f} decisions; highest {max(ys):.3f}."
    return _svg("curve", height, "Learning curve", told, parts)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from just below the lowest to just above the highest, about four steps apart."""
    span = high - low or abs(high) or 1.0
    raw = span / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return [round(k * step, 10) for k in range(first, last + 1)]


def _short(share: float) -> str:
    """Without decimals where there are none to show: 25 %, 33.3 %."""
    return f"{round(100 * share, 1):g} %"
