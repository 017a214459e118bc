"""Features and target as centred columns, of which the products X'Y tell how alike they make the rows."""

from __future__ import annotations

import numpy as np

from ...core.cards import CATEGORICAL
from ...core.table import Column
from ...models.encode import design
from ..base import Problem


def feature_columns(problem: Problem, unit: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return each feature as one or more centred columns, (n, m), and the first column of each feature, (d,).

    A number, a boolean and a feature of two levels are one column. A feature of more levels has one column per level,
    such that rows of different levels are 1 apart, as they are for two. With `unit` each feature's columns are divided
    by the root of their sum of squares; the columns of constant features stay 0. A group has the columns of all of its
    own.
    """
    encoded = design(problem.table.select(problem.columns(problem.features)))
    widths = np.array([block.stop - block.start for block in encoded.blocks])
    starts = np.array([block.start for block in encoded.joined(problem.column_counts).blocks], dtype=np.int64)
    columns = encoded.matrix
    columns *= 0.5 if unit else 1.0  # so that the range of any two finite numbers is finite
    low = columns.min(axis=0)
    spread = columns.max(axis=0) - low
    columns -= low
    columns /= np.where(spread > 0, spread, 1.0) if unit else np.where(np.repeat(widths, widths) > 1, np.sqrt(2), 1.0)
    columns -= columns.mean(axis=0)
    columns[:, spread == 0] = 0.0
    if unit:
        norms = np.sqrt(over_features(columns**2, starts))
        columns /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(np.append(starts, columns.shape[1])))
    return columns, starts


def target_columns(target: Column) -> np.ndarray:
    """Return the target as centred columns Y, (n, c); all 0 if it is constant.

    For classification there is one column per class, 1 / sqrt(n_c) in its n_c rows before centring, so that YY' is how
    alike the classes make rows. For regression it is the target itself, of unit norm.
    """
    y = target.numbers()
    if target.kind == CATEGORICAL:
        classes, counts = np.unique(y, return_counts=True)
        columns = (y[:, None] == classes) / np.sqrt(counts)
    else:
        columns = (y * 0.5)[:, None]
        columns -= columns.min()
        columns /= columns.max() or 1.0
    if (columns == columns[0]).all():
        return np.zeros_like(columns)
    columns -= columns.mean(axis=0)
    return columns if target.kind == CATEGORICAL else columns / np.linalg.norm(columns)


def over_features(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the sums over each feature's columns, shape (d,), of values of shape (n, m)."""
    return np.add.reduceat(values.sum(axis=0), starts)
