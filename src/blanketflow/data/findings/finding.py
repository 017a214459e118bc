"""One finding about a table, what kinds are called, and how much of a table is examined."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...core.cards import CATEGORICAL
from ...core.column import SparseColumns, WideColumns
from ...core.table import Column
from ..column_roles import RawTable
from ..columns import blocks_of

#: Names that a message lists.
SHOWN = 5
#: A class with fewer rows is small: with five outer folds a test part has one or two of them.
FEW_OF_A_CLASS = 10
#: Columns of one finding that a card stores.
_KEPT = 50
#: The kinds after which scores or names may mean something else than they seem to, the most serious first.
SERIOUS = (
    "follow-up",
    "leakage",
    "identifier",
    "near-copy",
    "duplicate",
    "rounding",
    "number",
    "suspected-marker",
    "count-as-classes",
    "date",
    "text",
    "group",
    "spelling",
    "row-order",
)
#: What they are called.
IN_WORDS = {
    "follow-up": "follow-up times",
    "leakage": "suspected leakage",
    "identifier": "suspected identifiers",
    "near-copy": "near-copies of other columns",
    "duplicate": "copies of other columns",
    "rounding": "numbers destroyed by rounding",
    "number": "numbers read as labels",
    "missing-marker": "missing cells",
    "suspected-marker": "cells that may be missing",
    "count-as-classes": "a count read as classes",
    "date": "dates as text",
    "text": "free text",
    "group": "rows that may belong together",
    "spelling": "labels that look alike",
    "few-rows": "small classes or few events",
    "weights": "unequal weights",
    "row-order": "neighbouring rows that are alike",
    "outlier": "outliers",
}


@dataclass(frozen=True)
class Finding:
    """One possible problem: the columns concerned, what was seen, and what to do about it.

    `kind` is ``follow-up``, ``leakage``, ``near-copy``, ``number``, ``spelling``, ``identifier``, ``date``, ``text``,
    ``group``, ``place``, ``code``, ``constant``, ``count-as-classes``, ``rounding``, ``outlier``, ``duplicate``,
    ``equal-rows``, ``row-order``, ``missing``, ``missing-marker``, ``suspected-marker``, ``below-detection``,
    ``above-detection``, ``few-rows``, ``imbalance``, ``bent``, ``weights``, ``wide``, ``reading`` or ``note``.
    """

    kind: str
    columns: tuple[str, ...]
    message: str
    advice: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as a card stores it, with at most its first 50 columns."""
        return asdict(self) | {"columns": list(self.columns[:_KEPT]), "n_columns": len(self.columns)}


# --- how much of a table is examined, so that findings cost about a second at most, however large it is ---------------

#: Columns that are examined one by one, and cells of them; so many rows are looked at in any case.
MOST_COLUMNS, MOST_CELLS, FEWEST_ROWS = 2_000, 2_000_000, 1_000


def n_rows_examined(n_rows: int, n_columns: int) -> int:
    """Return the number of rows that are examined.

    Examples
    --------
    >>> n_rows_examined(500, 10), n_rows_examined(10**6, 10), n_rows_examined(10**6, 10**5)
    (500, 200000, 1000)
    """
    return min(n_rows, max(FEWEST_ROWS, MOST_CELLS // max(1, min(n_columns, MOST_COLUMNS))))


def some_rows(n_rows: int, n_wanted: int) -> np.ndarray:
    """Return some rows drawn at random, in their order; the same ones each time."""
    if n_rows <= n_wanted:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, n_wanted, replace=False))


def most_related(raw: RawTable) -> list[int]:
    """Return the positions of the columns that are examined for leakage, in table order.

    Of more than `MOST_COLUMNS` these are the columns of labels, and the ones with the largest correlation with the
    target, or with one of its classes, on `FEWEST_ROWS` rows.
    """
    columns = raw.features.columns
    if len(columns) <= MOST_COLUMNS:
        return list(range(len(columns)))
    rows = some_rows(raw.features.n_rows, FEWEST_ROWS)
    y = _indicators(raw.target.take(rows))
    is_wide = isinstance(columns, WideColumns)
    strength = _correlations(columns.take(rows), y) if is_wide else np.zeros(0)
    singles = columns.more if is_wide else columns
    strength = np.concatenate([strength, [_correlation(column.take(rows), y) for column in singles]])
    return np.sort(np.argsort(-strength, kind="stable")[:MOST_COLUMNS]).tolist()


def _correlation(column: Column, y: np.ndarray) -> float:
    """Return the largest absolute correlation of a single column with any column of y; infinity for labels."""
    if column.kind == CATEGORICAL:
        return np.inf
    products, squares = _centred_products(column.numbers()[:, np.newaxis], y)
    return float(np.abs(products).max() / np.sqrt(squares[0])) if squares[0] > 0 else 0.0


def _indicators(target: Column) -> np.ndarray:
    """Return the target centred, or one centred indicator per class, shape (n, k)."""
    if target.kind == CATEGORICAL:
        y = (np.asarray(target.values)[:, np.newaxis] == np.arange(len(target.levels))).astype(np.float64)
    else:
        y = target.numbers()[:, np.newaxis]
        y = y / (np.abs(y).max() or 1.0)
    y = y - y.mean(axis=0)
    return y / np.where((length := np.sqrt((y**2).sum(axis=0))) > 0, length, 1.0)


def _correlations(columns: WideColumns, y: np.ndarray) -> np.ndarray:
    """Return the largest absolute correlation of each column held together with any column of y, shape (d,)."""
    found = np.zeros(len(columns.names))
    for block in blocks_of(columns):
        products, squares = _products(columns, block, y)
        with np.errstate(all="ignore"):
            r = np.abs(products) / np.sqrt(squares)[:, np.newaxis]
        found[block] = np.where(np.isfinite(r), r, 0.0).max(axis=1, initial=0.0)
    return found


def _products(columns: WideColumns, block: slice, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the products of centred columns with y, shape (block, k), and the sums of their squares, (block,)."""
    if isinstance(columns, SparseColumns):
        cells = slice(int(columns.starts[block.start]), int(columns.starts[block.stop]))
        n = block.stop - block.start
        of_column = np.repeat(np.arange(n), np.diff(columns.starts[block.start : block.stop + 1]))
        values = np.nan_to_num(np.asarray(columns.values[cells], dtype=np.float64))
        rows = columns.rows[cells]
        products = np.stack([np.bincount(of_column, values * own[rows], minlength=n) for own in y.T], axis=1)
        sums = np.bincount(of_column, values, minlength=n)
        return products, np.bincount(of_column, values**2, minlength=n) - sums**2 / columns.n_rows
    return _centred_products(np.asarray(columns.matrix[:, block], dtype=np.float64), y)


def _centred_products(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = ~np.isnan(X)
    sizes = np.maximum(known.sum(axis=0), 1)
    with np.errstate(over="ignore", invalid="ignore"):
        X = np.where(known, X - np.where(known, X, 0.0).sum(axis=0) / sizes, 0.0)
        return X.T @ y, (X**2).sum(axis=0)


def only_some(n_columns: int, n_examined: int, n_rows: int, n_rows_looked_at: int) -> str:
    """Return in words that not all of a table was examined; empty if it was."""
    parts = []
    if n_examined < n_columns:
        parts.append(f"{n_examined:,} of {n_columns:,} columns")
    if n_rows_looked_at < n_rows:
        parts.append(f"{n_rows_looked_at:,} of {n_rows:,} rows")
    return " and ".join(parts)
