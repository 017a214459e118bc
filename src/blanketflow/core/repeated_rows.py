"""Rows that are taken several times, of columns that hold only some of their cells."""

from __future__ import annotations

import numpy as np


def are_repeated(rows: np.ndarray) -> bool:
    """Return whether rows are ascending, and some of them come several times."""
    steps = np.diff(rows)
    return bool(len(steps) and (steps >= 0).all() and not steps.all())


def places_of(cells: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for every place that a cell's row has among ascending rows which cell it is, and the place.

    Examples
    --------
    >>> which, at = places_of(np.array([1, 4]), np.array([0, 1, 1, 2, 4]))
    >>> which.tolist(), at.tolist()
    ([0, 0, 1], [1, 2, 4])
    """
    first = np.searchsorted(rows, cells)
    counts = np.searchsorted(rows, cells, side="right") - first
    which = np.repeat(np.arange(len(cells)), counts)
    return which, first[which] + np.arange(len(which)) - (np.cumsum(counts) - counts)[which]
