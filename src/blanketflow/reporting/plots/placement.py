"""Positions in charts: labels that cover no point or other label, and the scales needed for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import altair as alt
import pandas as pd

from ..formatting import text_width

#: Width of a character, height of a line, and gap between a point and its label, in pixels.
CHARACTER, LINE, GAP = 6.6, 15.0, 8.0
#: Heights at which a label may be placed, in lines above or below its point, in order of preference.
_LINES_AWAY = (0, 0.75, -0.75, 1.5, -1.5, 2.5, -2.5, 3.5, -3.5)


class Place(NamedTuple):
    """The place of a label: the side of its point (left or right) and the height in pixels."""

    side: str
    height: float


class _Box(NamedTuple):
    """A line of text, or a point, in pixels."""

    start: float
    end: float
    height: float

    def is_free(self, taken: Sequence[_Box], width: float, height: float) -> bool:
        inside = self.start >= 0 and self.end <= width and 0 <= self.height <= height
        return inside and not any(
            other.start < self.end and self.start < other.end and abs(other.height - self.height) < 0.7 * LINE
            for other in taken
        )


def place_labels(
    points: Sequence[tuple[float, float, str]], width: float, height: float, longest: float
) -> list[Place | None]:
    """Put each label next to its point, at the nearest free place; None if there is none.

    `points` are (x, y, label) in pixels in a panel of `width` by `height`; labels are cut to `longest` pixels.
    """
    taken = [_Box(x - GAP / 2, x + GAP / 2, y) for x, y, _ in points]
    places: list[Place | None] = []
    for x, y, label in points:
        length = min(text_width(label) * CHARACTER, longest)
        candidates = [
            (side, _Box(start, start + length, y + lines * LINE))
            for lines in _LINES_AWAY
            for side, start in (("right", x + GAP), ("left", x - GAP - length))
        ]
        free = ((side, box) for side, box in candidates if box.is_free(taken, width, height))
        side, box = next(free, ("", None))
        if box is not None:
            taken.append(box)
        places.append(None if box is None else Place(side, box.height))
    return places


# --- scales with positions known before drawing, so that labels can be placed; contents of an axis --------------------

#: An axis is logarithmic if the ratio of the largest to the smallest value is higher.
_LOG_RATIO = 10
#: Most powers of ten for which 2 and 5 times them are marked too.
_FEW_POWERS = 4
#: Short labels: 100, 1k, 10k.
_SHORT = "datum.value < 1000 ? '' + datum.value : format(datum.value, '~s')"
#: Most by which an interval may extend the axis at each end, as a share.
_MOST = 0.5


def in_order(names: Iterable[str]) -> alt.Scale:
    """Return a scale of names in their given order.

    The domain sets the order, because `sort` writes the names into an expression, where Vega cannot parse ``if``.
    """
    return alt.Scale(domain=list(dict.fromkeys(names)))


@dataclass(frozen=True)
class Scale:
    """A scale of `kind` linear, log or symlog (logarithmic above `constant`, with 0)."""

    kind: str
    low: float
    high: float
    constant: float = 1.0

    def position(self, value: float) -> float:
        """Return the position of a value: 0 at the lower end, 1 at the upper end."""
        low, at, high = (self._even(v) for v in (self.low, value, self.high))
        return (at - low) / (high - low)

    def _even(self, value: float) -> float:
        if self.kind == "linear":
            return value
        return math.log(value) if self.kind == "log" else math.log1p(value / self.constant)

    def of_chart(self) -> alt.Scale:
        """Return the scale as an Altair scale."""
        more = {"constant": self.constant} if self.kind == "symlog" else {}
        return alt.Scale(type=self.kind, domain=[self.low, self.high], nice=False, **more)

    def axis(self) -> alt.Axis:
        """Return the axis. Logarithmic axes mark powers of ten, and 2 and 5 times them if there are few."""
        if self.kind == "linear":
            return alt.Axis(tickCount=6, format="~r")
        lowest = self.constant if self.kind == "symlog" else self.low
        exponents = range(math.floor(math.log10(lowest)), math.floor(math.log10(self.high)) + 1)
        steps = (1, 2, 5) if len(exponents) <= _FEW_POWERS else (1,)
        marks = [step * 10.0**p for p in exponents for step in steps]
        zero = [0.0] if self.kind == "symlog" else []
        values = [*zero, *(mark for mark in marks if lowest <= mark <= self.high)]
        return alt.Axis(labelExpr=_SHORT, **({"values": values} if len(values) > 1 else {"tickCount": 6}))


def linear(values: pd.Series, at_least: float | None = None) -> Scale:
    """Return a linear scale of the values with a margin at both ends."""
    if not len(values):
        return Scale("linear", 0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    air = 0.08 * (high - low) or 0.05 * abs(high) or 0.5
    low -= air
    return Scale("linear", low if at_least is None else max(low, at_least - air / 2), high + air)


def wide(values: pd.Series, always: bool = False) -> Scale:
    """Return a logarithmic scale of values >= 0 if their range is wide or with `always`, else a linear one."""
    positive = values[values > 0]
    if not len(positive):
        return linear(values, 0.0)
    low, high = float(positive.min()), float(positive.max())
    if len(positive) < len(values):
        return Scale("symlog", -low / 3, high * 1.3, constant=low) if always else linear(values, 0.0)
    needed = always or (low >= 1 and high > _LOG_RATIO * low)
    return Scale("log", low / 1.3, high * 1.3) if needed else linear(values, 0.0)


def window(means: Sequence[float], references: Iterable[float], low: pd.Series, high: pd.Series) -> tuple[float, float]:
    """Return the ends of an axis of scores.

    It includes all means and the references (all features, none), so that small differences are not magnified, and
    intervals unless one is so wide that it would hide other differences.

    >>> window([0.8, 0.9], [0.5], pd.Series([0.7, -3.0]), pd.Series([0.9, 1.0])) == (0.5 - 0.2, 1.0)
    True
    """
    shown = [value for value in (*means, *references) if value == value]
    least, most = min(shown, default=0.0), max(shown, default=1.0)
    air = _MOST * (most - least)
    return max(min(least, *low.dropna(), least), least - air), min(max(most, *high.dropna(), most), most + air)
