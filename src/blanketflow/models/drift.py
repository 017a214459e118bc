"""How features change from period to period: their distribution, and the sign of their association with the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.cards import CATEGORICAL
from ..core.table import Column, Table

#: Bins of numbers, at the deciles of the first period.
BINS = 10
#: Most features of which the drift is told.
MOST_FEATURES = 2_000
#: Normal quantile of a 95 % interval.
_Z = 1.959964


def feature_drift(
    features: Table, target: Column, period: np.ndarray, described: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what is told of features in each period, 1 .. P: the periods as `described`, and P numbers by feature.

    The numbers are `psi` against the first period, `by_chance` (what PSI exceeds once in 20 times without drift) and
    `sign`; None where there is none.
    """
    rows = [np.flatnonzero(period == at) for at in range(1, len(described) + 1)]
    found: dict[str, dict[str, list[float | None]]] = {"psi": {}, "by_chance": {}, "sign": {}}
    y = _numbers(target)
    for column in features.columns:
        cells = binned(column, rows[0])
        told = [stability_index(cells[rows[0]], cells[own]) for own in rows]
        found["psi"][column.name] = [psi for psi, _ in told]
        found["by_chance"][column.name] = [None, *(chance for _, chance in told[1:])]
        x = _numbers(column)
        found["sign"][column.name] = [None if x is None or y is None else sign(x[own], y[own]) for own in rows]
    return {"periods": list(described), **found}


def binned(column: Column, reference: np.ndarray) -> np.ndarray:
    """Return the bin of each cell, (n,): the code of a label, or for numbers the part between the deciles of the
    reference rows, a decile being the largest number of its bin; -1 for missing cells.
    """
    if column.kind == CATEGORICAL:
        return column.cells()
    values = column.numbers()
    known = values[reference]
    known = known[~np.isnan(known)]
    shares = np.arange(1, BINS) / BINS
    edges = np.unique(np.quantile(known, shares, method="inverted_cdf")) if len(known) else known
    return np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="left"))


def stability_index(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """Return the population stability index of two samples of bins, and what it exceeds once in 20 times by chance.

    PSI is the sum over bins of (q - p) ln(q / p) for the shares p before and q after; an empty bin counts as half a
    row. If nothing changed, PSI is about (1/n + 1/m) times chi-squared with one degree of freedom less than bins.

    Yurdakul and Naranjo (2020), Statistical properties of the population stability index, Journal of Risk Model
    Validation 14(4), 89-100.

    >>> [round(number, 3) for number in stability_index(np.repeat([0, 1], 50), np.repeat([0, 1], [30, 70]))]
    [0.169, 0.077]
    """
    from scipy.special import chdtri

    bins, numbers = np.unique(np.concatenate([before, after]), return_inverse=True)
    counts = [np.bincount(own, minlength=len(bins)) for own in (numbers[: len(before)], numbers[len(before) :])]
    p, q = (np.maximum(own, 0.5) / own.sum() for own in counts)
    noise = 1 / len(before) + 1 / len(after)
    by_chance = noise * float(chdtri(len(bins) - 1, 0.05)) if len(bins) > 1 else 0.0
    return float(np.sum((q - p) * np.log(q / p))), by_chance


def sign(x: np.ndarray, y: np.ndarray) -> float | None:
    """Return the sign of the correlation over rows without missing cells: 1, -1, or 0 if it may be zero.

    That is, |r| is below 1.96 / sqrt(n). None if x or y is constant.

    >>> sign(np.array([1.0, 2, 3, 4, 5, 6]), np.array([0.0, 0, 0, 1, 1, 1]))
    1.0
    """
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if len(x) < 2 or not (np.ptp(x) and np.ptp(y)):
        return None
    r = float(np.corrcoef(x, y)[0, 1])
    return float(np.sign(r)) if abs(r) >= _Z / np.sqrt(len(x)) else 0.0


def _numbers(column: Column) -> np.ndarray | None:
    """Return a column as numbers, the second of two labels as 1; None for more labels."""
    if column.kind != CATEGORICAL:
        return column.numbers()
    if len(column.levels) > 2:
        return None
    codes = column.cells().astype(np.float64)
    return np.where(codes < 0, np.nan, codes)
