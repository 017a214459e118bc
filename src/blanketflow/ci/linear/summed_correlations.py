"""Correlations of numbers and of indicators of labels from sums of products, and what columns add to others in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...core.errors import UnsupportedError
from ...core.spread import SMALLEST_SPREAD

if TYPE_CHECKING:
    from ...core.summed_table import SummedTable

#: An unexplained share of variance up to this is 0: sums of products have lost its digits.
VANISHING = 1e-8


class SummedCorrelations:
    """Correlations from cross products, with the methods of `fisher_z.Correlations` that need no rows.

    They are between the parts of columns: a number is one part, a label has the indicators of all levels but the first.

    Attributes
    ----------
    rounded : set of int
        The positions of columns that vary, but that rounding has destroyed.
    """

    def __init__(self, table: SummedTable, test: str) -> None:
        found = table.statistics.cross_products
        if found is None:
            raise UnsupportedError(
                f"{test} needs cross products, and tables were counted. Set tables: cross-products in the agreement, "
                "or ci_test to g2."
            )
        places = table.statistics.agreement.places()
        at = [np.arange(places[name].start, places[name].stop) for name in table.names]
        ends = np.cumsum([0, *map(len, at)]).tolist()
        self._parts = [np.arange(*of) for of in pairwise(ends)]
        owners, together = np.repeat(np.arange(len(at)), [*map(len, at)]), np.concatenate(at)
        products, means = found.products[np.ix_(together, together)], found.means[together]
        spread = np.sqrt(np.diagonal(products) / table.n_rows)
        is_numeric = np.array([not column.is_discrete for column in table.columns])[owners]
        is_lost = is_numeric & (spread <= 2.0 * SMALLEST_SPREAD * np.abs(means))
        varies = spread > 4.0 * np.finfo(np.float64).eps * np.abs(means)  # else constant but for rounding
        self.rounded = {*owners[is_lost & varies].tolist()}
        scale = np.where(is_lost | (spread == 0), np.inf, spread * math.sqrt(table.n_rows))
        self._matrix = products / np.outer(scale, scale)
        self._variances = np.where(np.isinf(scale), 0.0, 1.0 + 0.0 * spread)
        self._is_refused = np.isnan(self._matrix)
        self._is_whole = not self._is_refused.any()

    def between(self, pivots: Sequence[int], columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return correlations, shape (pivots, columns), and the columns' variances, 0 or 1; of columns of one part."""
        return self._matrix[np.ix_(np.asarray(pivots), columns)], self._variances[columns]

    def parts(self, columns: Sequence[int]) -> np.ndarray:
        """Return the positions of the parts of some columns."""
        return np.concatenate([np.empty(0, dtype=np.intp), *(self._parts[column] for column in columns)])

    def are_told(self, columns: Sequence[int]) -> bool:
        """Whether no product of some columns was refused."""
        if self._is_whole:
            return True
        parts = self.parts(columns)
        return not self._is_refused[np.ix_(parts, parts)].any()

    def left(self, parts: np.ndarray, basis: np.ndarray) -> np.ndarray:
        """Return the shares of the variance of parts that a basis does not explain."""
        return self._variances[parts] - np.sum(basis[:, parts] ** 2, axis=0)

    def directions(self, columns: Sequence[int], basis: np.ndarray | None = None) -> np.ndarray:
        """Return orthonormal directions of what columns add to a basis of others.

        As `orthonormal_basis` finds them on rows: the part of which most is left comes next, and those of which at most
        `VANISHING` is left add nothing.

        Parameters
        ----------
        columns : sequence of int
            Positions of the columns.
        basis : ndarray of shape (rank, d), optional
            Directions of the others.

        Returns
        -------
        ndarray of shape (q, d)
            The product of each direction with each of the d parts of the table.
        """
        found = np.empty((0, len(self._matrix))) if basis is None else basis
        parts, rank = self.parts(columns), len(found)
        left = self.left(parts, found)
        for _ in range(len(parts)):
            largest = int(np.argmax(left))
            if not left[largest] > VANISHING:
                break
            part = parts[largest]
            direction = (self._matrix[part] - found[:, part] @ found) / math.sqrt(left[largest])
            found = np.vstack([found, direction])
            left -= direction[parts] ** 2
        return found[rank:]
