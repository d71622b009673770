"""Plots by matplotlib, as SVG to stand in a page.

Lines and letters take the page's own colour, so that they can be read on a light and on a dark ground, and on paper.
Each plot carries its numbers as text for those who do not see it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any, Final

import numpy as np

from pigenv.errors import MissingExtraError
from pigenv.evaluate.charts import ordinal, percent, place_colour

__all__ = ["cross_play", "placements", "ratings", "win_shares"]

_WIDTH: Final = 4.6  # inches: what a phone shows without making the letters smaller
_ROW: Final = 0.34
_INK: Final = "#010203"  # stands for the page's own colour until the SVG is written
_BLUE: Final = "#2f6db5"
_LONGEST_NAME: Final = 24


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"


@contextmanager
def _drawn(rows: int, extra: float, title: str, told: str) -> Iterator[tuple[Any, Any, Callable[[], str]]]:
    """A figure, its axes, and what to call for its SVG in the end."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "evaluate") from None
    style: dict[Any, Any] = {
        "svg.fonttype": "none", "svg.hashsalt": "pigenv", "font.size": 9.0, "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"], "axes.spines.top": False, "axes.spines.right": False,
        **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK),
        # A name between two dollar signs is a name, not a formula.
        "text.parse_math": False,
    }  # fmt: skip
    with mpl.rc_context(style):
        figure = Figure(figsize=(_WIDTH, extra + _ROW * rows), layout="constrained")
        figure.patch.set_alpha(0.0)
        axes = figure.add_subplot()
        axes.patch.set_alpha(0.0)

        def svg() -> str:
            out = io.StringIO()
            figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
            return _inline(out.getvalue(), title, told)

        yield figure, axes, svg


def _inline(text: str, title: str, told: str) -> str:
    """An SVG file as an element of a page: as wide as the column, with words for those who do not see it."""
    body = text[text.index("<svg") :]
    head, rest = body.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None  # matplotlib writes one
    name = re.sub(r"\W+", "-", title.lower())
    # Its metadata names addresses, and its ids must not meet those of the next plot.
    rest = re.sub(r"<metadata>.*?</metadata>", "", rest, flags=re.DOTALL).replace(_INK, "currentColor")
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", rest).replace("xlink:href", "href")
    return (
        f'<svg class="plot" role="img" aria-labelledby="{name}-t {name}-d" {box[0]}>'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(told)}</desc>{rest.strip()}'
    )


def _names(axes: Any, names: Sequence[str]) -> None:
    """The agents from top to bottom."""
    axes.set_yticks(range(len(names)), [_short(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def win_shares(standings: Sequence[Mapping[str, Any]]) -> str:
    """Win share at the mixed tables with its interval, and the chance level."""
    names = [each["agent"] for each in standings]
    shares = 100 * np.array([each["win_share"] for each in standings])
    ends = 100 * np.array([each["win_share_ci"] for each in standings])
    chance = 100 * standings[0]["chance"]
    told = "; ".join(
        f"{n} {s:.1f} %, {low:.1f} to {high:.1f}" for n, s, (low, high) in zip(names, shares, ends, strict=True)
    )
    with _drawn(len(names), 0.75, "Win share at mixed tables", f"Chance {chance:.1f} %. {told}.") as (_, axes, svg):
        axes.axvline(chance, color=_INK, linestyle=(0, (4, 3)), linewidth=1)
        axes.errorbar(
            shares,
            range(len(names)),
            xerr=_off(shares, ends),
            fmt="o",
            color=_BLUE,
            ecolor=_INK,
            capsize=3,
            markersize=5,
        )
        _names(axes, names)
        axes.set_xlabel("win share in %, 95 % interval; dashed: chance")
        axes.set_xlim(left=0)
        return svg()


def _off(middle: np.ndarray, ends: np.ndarray) -> np.ndarray:
    return np.maximum(np.stack([middle - ends[:, 0], ends[:, 1] - middle]), 0.0)


def ratings(standings: Sequence[Mapping[str, Any]]) -> str:
    """Skill with error bars of two standard deviations."""
    names = [each["agent"] for each in standings]
    mu = np.array([each["rating"]["mu"] for each in standings])
    sigma = np.array([each["rating"]["sigma"] for each in standings])
    told = "; ".join(f"{n} {m:.1f} ± {2 * s:.1f}" for n, m, s in zip(names, mu, sigma, strict=True))
    with _drawn(len(names), 0.75, "Rating", f"Skill and two standard deviations. {told}.") as (_, axes, svg):
        axes.errorbar(mu, range(len(names)), xerr=2 * sigma, fmt="D", color=_BLUE, ecolor=_INK, capsize=3, markersize=5)
        _names(axes, names)
        axes.set_xlabel("OpenSkill μ ± 2σ")
        return svg()


def placements(standings: Sequence[Mapping[str, Any]]) -> str:
    """How often each agent came in which place."""
    names = [each["agent"] for each in standings]
    shares = np.array([each["placements"] for each in standings])
    places = shares.shape[1]
    told = "; ".join(
        f"{name} " + ", ".join(f"{ordinal(k + 1)} {percent(share)}" for k, share in enumerate(row))
        for name, row in zip(names, shares, strict=True)
    )
    with _drawn(len(names), 0.95, "Placements", f"{told}.") as (_, axes, svg):
        before = np.zeros(len(names))
        for place in range(places):
            fill, ink = place_colour(place, places)
            axes.barh(range(len(names)), shares[:, place], 0.72, before, color=fill, label=ordinal(place + 1))
            for row, share in enumerate(shares[:, place]):
                if share >= 0.09:
                    axes.text(before[row] + share / 2, row, f"{100 * share:.0f}", color=ink, ha="center", va="center")
            before += shares[:, place]
        _names(axes, names)
        axes.set_xlim(0, 1)
        axes.set_xticks([])
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.legend(loc="upper center", bbox_to_anchor=(0.4, 0.0), ncols=min(places, 4), frameon=False, handlelength=1)
        return svg()


def cross_play(matrix: Mapping[str, Any]) -> str:
    """Win share of each row's agent among copies of each column's, as a heat map."""
    names, chance = list(matrix["agents"]), matrix["chance"]
    shares = np.array(matrix["win_share"])
    told = "; ".join(
        f"{a} among {b} {percent(shares[i, j])}" for i, a in enumerate(names) for j, b in enumerate(names) if i != j
    )
    with _drawn(len(names), 1.25, "Cross-play", f"Chance {percent(chance)}. {told}.") as (_, axes, svg):
        from matplotlib.colors import TwoSlopeNorm

        # Squares, not a picture: the page may load nothing, not even from itself.
        norm = TwoSlopeNorm(chance, 0.0, max(1.0, chance + 1e-9))
        axes.pcolormesh(shares, cmap="PuOr", norm=norm, edgecolors="face", linewidth=0.2)
        for i in range(len(names)):
            for j in range(len(names)):
                value = shares[i, j]
                dark = abs(float(norm(value)) - 0.5) > 0.33
                axes.text(
                    j + 0.5,
                    i + 0.5,
                    f"{100 * value:.0f}",
                    ha="center",
                    va="center",
                    color="#ffffff" if dark else "#101418",
                )
        axes.set_yticks(np.arange(len(names)) + 0.5, [_short(name) for name in names])
        axes.set_xticks(np.arange(len(names)) + 0.5, [_short(name) for name in names], rotation=35, ha="right")
        axes.tick_params(length=0)
        axes.invert_yaxis()
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        return svg()
