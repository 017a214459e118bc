"""Whether columns are a function of the given ones: then nothing is left of them that could depend on anything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.table import Column
from ..linear.regressed import predictors

#: The most rows that are looked at.
MOST_ROWS = 2000
#: The share of a function's variance that is left at half of the rows, and on average: rows beside a jump have more.
LEFT_AT_HALF, LEFT = 1e-4, 0.05
#: Between the levels of a given label, where one standard deviation of a number is 1.
FAR = 100.0


def is_function(columns: Sequence[Column], given: Sequence[Column]) -> bool:
    """Return whether some columns are a function of others, smooth or with some jumps, as far as these rows show.

    Each row is predicted from its nearest neighbours in the given columns, by a linear function of these. At most
    `MOST_ROWS` rows are looked at, the first ones.

    Parameters
    ----------
    columns, given : sequence of Column
        Columns of n rows without missing cells: those that may be functions, and one or more that are given.

    Examples
    --------
    >>> from blanketflow.core.convert import as_table
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=200)
    >>> square, noisy, given = as_table(np.column_stack([z**2, z**2 + 0.1 * rng.normal(size=200), z])).columns
    >>> is_function([square], [given]), is_function([noisy], [given])
    (True, False)
    """
    from scipy.spatial import KDTree

    rows = np.arange(min(given[0].n_rows, MOST_ROWS))
    places = _scaled([column.take(rows) for column in given], FAR)
    values = _scaled([column.take(rows) for column in columns], 1.0)
    n_near = 2 * (places.shape[1] + 1)
    if len(rows) <= n_near:
        return False
    distances, near = KDTree(places).query(places, k=n_near + 1)
    # A row among equal ones need not be its own nearest neighbour: then the farthest one is left out.
    is_self = near == rows[:, np.newaxis]
    is_self[~is_self.any(axis=1), -1] = True
    near = near[~is_self].reshape(len(rows), n_near)
    away = places[near] - places[:, np.newaxis]
    weights = np.linalg.pinv(np.concatenate([np.ones((len(rows), n_near, 1)), away], axis=2))[:, 0]
    errors = ((values - np.einsum("ik,ikj->ij", weights, values[near])) ** 2).mean(axis=1)
    errors = (errors / (1.0 + (weights**2).sum(axis=1)))[distances[:, -1] < FAR / 2]
    return len(errors) > 0 and bool(np.median(errors) <= LEFT_AT_HALF and errors.mean() <= LEFT)


def _scaled(columns: Sequence[Column], of_labels: float) -> np.ndarray:
    """Return columns with variance 1, shape (n, q): numbers, and indicators of labels times a factor."""
    parts = [predictors(column) * (of_labels if column.is_discrete else 1.0) for column in columns]
    return np.vstack(parts).T * np.sqrt(columns[0].n_rows)
