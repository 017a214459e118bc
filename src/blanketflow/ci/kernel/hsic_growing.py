"""The HSICs of a growing list of columns with one column: their features stand side by side, for one product."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .hsic_null import FEWEST_ROWS

if TYPE_CHECKING:
    from .hsic import BoundHSIC

#: Largest size in bytes of the features that stand side by side; those of later columns are multiplied one by one.
BESIDE_BYTES = 2**26


class GrowingColumns:
    """Columns that are added one by one, and the `statistics` of all of them with another column.

    Small products cost more in calls than in operations: with 80 rows and 1,000 columns one product takes a tenth of
    the time.

    Examples
    --------
    >>> from blanketflow.ci import get_ci_test
    >>> bound = get_ci_test("hsic").bind(np.random.default_rng(0).normal(size=(50, 3)))
    >>> columns = bound.growing()
    >>> columns.add("x0"), columns.add("x1")
    (None, None)
    >>> np.allclose(columns.statistics("x2"), bound.statistics(["x0", "x1"], "x2"))
    True
    """

    def __init__(self, bound: BoundHSIC) -> None:
        self._bound = bound
        self._rows = np.empty((0, bound.table.n_rows))  # the features, one below the other
        self._starts, self._end, self._others = list[int](), 0, list[int]()

    def __len__(self) -> int:
        return len(self._starts) + len(self._others)

    def add(self, column: str | int) -> None:
        """Add a column."""
        position = self._bound.table.position(column)
        side = self._bound.engine.side((position,))
        features = side.features.T[:1] * 0.0 if side.is_constant else side.features.T
        start, end = self._end, self._end + len(features)
        if self._others or 8 * end * self._rows.shape[1] > BESIDE_BYTES:
            self._others.append(position)
            return
        if end > len(self._rows):
            grown = np.empty((2 * end, self._rows.shape[1]))
            grown[:start] = self._rows[:start]
            self._rows = grown
        self._rows[start:end] = features
        self._starts.append(start)
        self._end = end

    def statistics(self, y: str | int) -> np.ndarray:
        """Return the HSIC of each column with another one, in the order of their addition; each counts as a test."""
        bound, target = self._bound, self._bound.table.position(y)
        bound.spend(len(self))
        side = bound.engine.side((target,))
        if side.is_constant or bound.table.n_rows < FEWEST_ROWS:
            return np.zeros(len(self))
        products = self._rows[: self._end] @ side.features
        crosses = np.add.reduceat(np.einsum("ij,ij->i", products, products), np.array(self._starts, dtype=np.intp))
        others = [bound.engine.statistic(column, target) for column in self._others]
        return np.concatenate([bound.engine.scaled(crosses), others])
