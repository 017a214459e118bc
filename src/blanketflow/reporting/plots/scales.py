"""Scales whose positions are known before a chart is drawn, so that labels can be placed; what an axis shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd

#: An axis is logarithmic if the largest value is more than this many times the smallest.
_LOG_RATIO = 10
#: With at most this many powers of ten, 2 and 5 times them are marked too.
_FEW_POWERS = 4
#: Short labels: 100, 1k, 10k.
_SHORT = "datum.value < 1000 ? '' + datum.value : format(datum.value, '~s')"
#: An interval may make the axis longer than what it has to show by at most this share at each end.
_MOST = 0.5


def in_order(names: Iterable[str]) -> alt.Scale:
    """Return a scale of names that keeps their order.

    The order is set by the domain, because `sort` writes the names into an expression, where Vega cannot parse the
    name ``if``.
    """
    return alt.Scale(domain=list(dict.fromkeys(names)))


@dataclass(frozen=True)
class Scale:
    """A scale of `kind` linear, log, or symlog, which is logarithmic above `constant` and reaches 0."""

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
        """Return the scale as Altair's."""
        more = {"constant": self.constant} if self.kind == "symlog" else {}
        return alt.Scale(type=self.kind, domain=[self.low, self.high], nice=False, **more)

    def axis(self) -> alt.Axis:
        """Return its axis. Logarithmic axes mark powers of ten, and 2 and 5 times them if there are few."""
        if self.kind == "linear":
            return alt.Axis(tickCount=6, format="~g")
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
    """Return a logarithmic scale of values >= 0 if their range is wide or `always` is set, else a linear one."""
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

    It holds all means and the references, such as the scores of all features and of none, so that small differences are
    not magnified; and the intervals, unless one is so wide that the rest could not be told apart.

    Examples
    --------
    >>> window([0.8, 0.9], [0.5], pd.Series([0.7, -3.0]), pd.Series([0.9, 1.0])) == (0.5 - 0.2, 1.0)
    True
    """
    shown = [value for value in (*means, *references) if value == value]
    least, most = min(shown, default=0.0), max(shown, default=1.0)
    air = _MOST * (most - least)
    return max(min(least, *low.dropna(), least), least - air), min(max(most, *high.dropna(), most), most + air)
