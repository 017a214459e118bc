"""How the values of a column are spread, for a small chart beside its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.cards import CATEGORICAL, NUMERIC
from ...core.column import EVENT, TargetColumn
from ...core.table import Column
from .finding import n_rows_examined, some_rows

#: Bars of numbers, and of labels.
_BINS, _LABELS = 20, 6
#: Columns of a table that are drawn.
MOST_DRAWN = 300
#: Numbers further outside the middle half than this many times its width are counted apart.
_FAR = 6.0


@dataclass(frozen=True)
class Distribution:
    """The counts of a column's values: a bar for each label or value, or for each range of numbers.

    `labels` names the bars, those of numbers in their order; it is empty where `edges` has the bounds of ranges.
    `n_below` and `n_above` cells lie far outside the ranges, `n_others` rows have labels without a bar. Counts are of
    the rows looked at. `events`, of times to an event, has the rows of each bar with the event.
    """

    name: str
    counts: tuple[int, ...]
    labels: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    n_below: int = 0
    n_above: int = 0
    n_others: int = 0
    is_number: bool = False
    events: tuple[int, ...] = ()


def distributions(columns: Sequence[Column], n_columns: int) -> list[Distribution]:
    """Return how the values of the first `MOST_DRAWN` columns are spread; of many rows, some are looked at."""
    if not columns:
        return []
    n_rows = columns[0].n_rows
    rows = some_rows(n_rows, n_rows_examined(n_rows, n_columns))
    return [distribution(column if len(rows) == n_rows else column.take(rows)) for column in columns[:MOST_DRAWN]]


def distribution(column: Column) -> Distribution:
    """Return how the values of a column are spread.

    Examples
    --------
    >>> found = distribution(Column("x", "integer", np.array([1, 2, 2, 5])))
    >>> found.labels, found.counts
    (('1', '2', '5'), (1, 2, 1))
    """
    if column.kind == CATEGORICAL:
        codes = np.asarray(column.values)
        counts = np.bincount(codes[codes >= 0], minlength=len(column.levels))
        most = np.argsort(-counts, kind="stable")[:_LABELS]
        most = most[counts[most] > 0]
        others = int(counts.sum() - counts[most].sum())
        labels = tuple(column.levels[at] for at in most.tolist())
        return Distribution(column.name, tuple(counts[most].tolist()), labels, n_others=others)
    values = column.numbers()
    values = values[np.isfinite(values)]
    if not len(values):
        return Distribution(column.name, ())
    if column.kind != NUMERIC and not (isinstance(column, TargetColumn) and EVENT in column.parts):
        found, counts = np.unique(values, return_counts=True)
        if len(found) <= _BINS // 2:
            labels = tuple(f"{value:.6g}" for value in found.tolist())
            return Distribution(column.name, tuple(counts.tolist()), labels, is_number=True)
    low, high = _bounds(values)
    below, above = int((values < low).sum()), int((values > high).sum())
    counts, edges = _histogram(values[(values >= low) & (values <= high)], low, high)
    events: tuple[int, ...] = ()
    if isinstance(column, TargetColumn) and EVENT in column.parts:
        of_event = values[(values >= low) & (values <= high) & column.parts[EVENT].astype(bool)]
        events = _histogram(of_event, low, high)[0]
    return Distribution(column.name, counts, (), edges, below, above, 0, True, events)


def _histogram(values: np.ndarray, low: float, high: float) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the counts in ranges of equal width, and their bounds; of one value, or of almost one, a single range."""
    half = high / 2 - low / 2  # the whole may be infinite
    if half <= _BINS * np.spacing(max(abs(low), abs(high))):
        return (len(values),), (low, high)
    places = np.minimum((_BINS * ((values / 2 - low / 2) / half)).astype(int), _BINS - 1)
    counts = np.bincount(places, minlength=_BINS)
    with np.errstate(over="ignore"):
        edges = np.clip(2 * (low / 2 + half * np.arange(_BINS + 1) / _BINS), low, high)
    return tuple(counts.tolist()), tuple(edges.tolist())


def _bounds(values: np.ndarray) -> tuple[float, float]:
    """Return the range that is drawn: of all values but those far outside the middle half."""
    q1, q3 = np.quantile(values, (0.25, 0.75), method="nearest").tolist()
    low, high = float(values.min()), float(values.max())
    far = _FAR * (q3 - q1)
    if far > 0:
        near = values[(values >= q1 - far) & (values <= q3 + far)]
        low, high = float(near.min()), float(near.max())
    return low, high
