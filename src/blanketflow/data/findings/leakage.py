"""How well one column alone predicts the target, by leave-one-out; nearly perfect columns are suspected leaks."""

from __future__ import annotations

import numpy as np

from ...core.cards import CATEGORICAL
from ...core.column_checks import tokens
from ...core.printable import listed
from ...core.table import Column
from ..column_roles import RawTable
from .finding import Finding, most_related, n_rows_examined, some_rows

#: A column that alone explains a larger share of the target is suspected.
SUSPECT_SHARE = {"classification": 0.98, "regression": 0.99}
#: The fewest rows from which leakage is concluded, and leaks that are told one by one.
_FEWEST_ROWS, _ONE_BY_ONE = 10, 10
_ADVICE = "If it is known only with or after the target, drop it; otherwise no search is needed."


def suspected_leaks(raw: RawTable) -> list[Finding]:
    """Return the columns that alone determine the target, the strongest first, and those that are named after it.

    Of a large table at most `MOST_COLUMNS` columns are examined, and so many rows that this takes about a second.
    """
    told = _told(raw)
    limit = SUSPECT_SHARE[raw.task.name]
    leaks = sorted((name for name, share in told.items() if share > limit), key=lambda name: -told[name])
    found = []
    for name in leaks[:_ONE_BY_ONE]:
        what = "all" if told[name] == 1 else f"{told[name]:.1%}"
        message = f"{listed([name])} alone explains {what} of the target"
        found.append(Finding("leakage", (name,), message, _ADVICE))
    if rest := leaks[_ONE_BY_ONE:]:
        message = f"each of {listed(rest)} alone explains more than {limit:.0%} of the target"
        found.append(Finding("leakage", tuple(rest), message, _ADVICE))
    named = [name for name in _named_after(raw) if name not in leaks]
    if named:
        are, them = ("is", "it if it was") if len(named) == 1 else ("are", "those that were")
        message = f"{listed(named)} {are} named after the target"
        found.append(Finding("leakage", tuple(named), message, f"Drop {them} made from the target."))
    return found


def _told(raw: RawTable) -> dict[str, float]:
    """Return the share of the target that each examined column explains."""
    n_rows = raw.features.n_rows
    if n_rows < _FEWEST_ROWS:
        return {}
    rows = some_rows(n_rows, n_rows_examined(n_rows, len(raw.features)))
    target = raw.target.take(rows)
    columns = (raw.features.columns[at].take(rows) for at in most_related(raw))
    return {column.name: told_by(column, target) for column in columns}


def _named_after(raw: RawTable) -> list[str]:
    words = tokens(raw.target.name)
    if not words or max(map(len, words)) < 3:
        return []
    one = max(words, key=len)
    return [name for name in raw.features.names if one in name.lower() and words <= tokens(name)]


def told_by(column: Column, target: Column) -> float:
    """Return the share of the target that one column explains: 1 for all of it, 0 or less for nothing.

    Each row is predicted from others with the same value or, without any, from the nearest value. For classes the share
    is (accuracy - b) / (1 - b), with b the share of the largest class; for numbers it is R2. Missing cells are a value,
    since they can be informative.

    >>> y = Column("y", "categorical", np.arange(40) % 2, ("no", "yes"))
    >>> told_by(Column("x", "numeric", np.arange(40) % 2 + np.linspace(0, 0.1, 40)), y)
    1.0
    """
    values = column.numbers()
    missing = values < 0 if column.kind == CATEGORICAL else np.isnan(values)
    distinct, code = np.unique(values[~missing], return_inverse=True)
    groups = np.full(len(values), len(distinct), dtype=np.int64)  # missing cells come last
    groups[~missing] = code
    nearest = None if column.kind == CATEGORICAL else _nearest(distinct)
    if target.kind == CATEGORICAL:
        return _classes_told(groups, nearest, np.asarray(target.values), len(target.levels))
    return _numbers_told(groups, nearest, target.numbers())


def _nearest(distinct: np.ndarray) -> np.ndarray:
    """Return the position of the nearest other value for each of k ascending values, shape (k,); -1 if k is 1."""
    if len(distinct) < 2:
        return np.full(len(distinct), -1)
    gaps = np.diff(distinct)
    before, after = np.concatenate(([np.inf], gaps)), np.concatenate((gaps, [np.inf]))
    return np.arange(len(distinct)) + np.where(before <= after, -1, 1)


def _classes_told(groups: np.ndarray, nearest: np.ndarray | None, y: np.ndarray, n_classes: int) -> float:
    shape = (int(groups.max()) + 1, n_classes)
    counts = np.bincount(groups * n_classes + y, minlength=shape[0] * shape[1]).reshape(shape)
    first, top = counts.argmax(axis=1), counts.max(axis=1)
    rival = np.where(np.arange(n_classes) == first[:, None], -1, counts).max(axis=1, initial=0)
    right = (first[groups] == y) & (top[groups] - 1 > rival[groups])
    if nearest is not None:
        alone = np.flatnonzero((counts.sum(axis=1) == 1)[groups] & (groups < len(nearest)))
        by = nearest[groups[alone]]
        right[alone] = (by >= 0) & (first[by] == y[alone])
    largest = np.bincount(y).max() / len(y)
    return float((right.mean() - largest) / (1 - largest)) if largest < 1 else 0.0


def _numbers_told(groups: np.ndarray, nearest: np.ndarray | None, y: np.ndarray) -> float:
    sums, sizes = np.bincount(groups, weights=y), np.bincount(groups)
    total = float(((y - y.mean()) ** 2).sum())
    predicted = np.full(len(y), y.mean())
    shared = sizes[groups] > 1
    predicted[shared] = (sums[groups[shared]] - y[shared]) / (sizes[groups[shared]] - 1)
    if nearest is not None:
        alone = np.flatnonzero(~shared & (groups < len(nearest)))
        by = nearest[groups[alone]]
        known = by >= 0
        predicted[alone[known]] = sums[by[known]] / sizes[by[known]]
    return 1 - float(((y - predicted) ** 2).sum()) / total if total else 0.0
