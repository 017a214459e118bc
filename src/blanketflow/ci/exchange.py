"""What a permutation exchanges: single rows, whole clusters of rows, or rows within their cluster.

Winkler, Webster, Vidaurre, Nichols, Smith (2015), Multi-level block permutation, NeuroImage 123, 253-268,
doi:10.1016/j.neuroimage.2015.05.092.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import DataError, UnsupportedError
from ..core.parameters import choice
from ..core.table import Table

ROWS, CLUSTERS, WITHIN_CLUSTERS = ("rows", "clusters", "within-clusters")


def permute_option() -> Any:
    """Declare the option `permute` of tests that permute rows."""
    return choice(
        ROWS,
        "What a permutation exchanges, of data sets with groups: rows, as if each were by itself; clusters, whole "
        "groups, which must be of equal size; within-clusters, rows of one group among themselves.",
        (ROWS, CLUSTERS, WITHIN_CLUSTERS),
    )


def clusters_of(test_id: str, table: Table, permute: str) -> np.ndarray | None:
    """Return the clusters of a table's rows as numbers from 0 on, shape (n,); None where `permute` is ``rows``.

    Raises
    ------
    UnsupportedError
        If there are no groups.
    DataError
        If groups to be exchanged as wholes differ in size, or there is one only.
    """
    if permute == ROWS:
        return None
    if table.design is None or table.design.clusters is None:
        raise UnsupportedError(f"{test_id}: permute: {permute} needs groups. Give groups, or set permute: {ROWS}.")
    numbers = np.unique(table.design.clusters, return_inverse=True)[1]
    sizes = np.bincount(numbers)
    if permute == CLUSTERS and sizes.min() < sizes.max():
        raise DataError(
            f"{test_id}: permute: {permute} exchanges whole groups, which must be of equal size, but they have "
            f"{sizes.min()} to {sizes.max()} rows. Take as many rows of each, or set permute: {WITHIN_CLUSTERS}."
        )
    if permute == CLUSTERS and len(sizes) < 2:
        raise DataError(f"{test_id}: permute: {permute} needs at least 2 groups, but all rows are of one.")
    return numbers


def strata_of(table: Table) -> np.ndarray | None:
    """Return the strata within which tests are made, as numbers from 0 on, shape (n,); None if there are none."""
    within = None if table.design is None else table.design.within
    return None if within is None else np.unique(within, return_inverse=True)[1]


@dataclass(frozen=True)
class Exchange:
    """Units of rows, of which those in one block can take each other's place.

    Parameters
    ----------
    members : int ndarray of shape (u, s)
        The s rows of each of the u units, in the order in which they take the place of another unit's rows.
    blocks : int ndarray of shape (u,)
        The block of each unit, from 0 on.
    """

    members: np.ndarray
    blocks: np.ndarray

    @classmethod
    def of(
        cls, permute: str, n_rows: int, clusters: np.ndarray | None = None, strata: np.ndarray | None = None
    ) -> Exchange:
        """Return the units and blocks of `n_rows` rows.

        Parameters
        ----------
        permute : {"rows", "clusters", "within-clusters"}
        n_rows : int
        clusters : int ndarray of shape (n_rows,), optional
            As `clusters_of` returns them.
        strata : int ndarray of shape (n_rows,), optional
            Rows change places only with rows of the same stratum: whole clusters, if they have equally many in each.

        Examples
        --------
        >>> Exchange.of("clusters", 4, np.array([0, 1, 1, 0])).members.tolist()
        [[0, 3], [1, 2]]
        >>> Exchange.of("within-clusters", 4, np.array([0, 1, 1, 0])).blocks.tolist()
        [0, 1, 1, 0]
        """
        strata = np.zeros(n_rows, dtype=np.int64) if strata is None else np.asarray(strata, dtype=np.int64)
        rows = np.arange(n_rows)
        if clusters is None:
            return cls(rows[:, np.newaxis], strata)
        if permute == WITHIN_CLUSTERS:
            pairs = np.column_stack([strata, clusters])
            return cls(rows[:, np.newaxis], np.unique(pairs, axis=0, return_inverse=True)[1].ravel())
        members = np.lexsort((rows, strata, clusters)).reshape(len(np.unique(clusters)), -1)
        return cls(members, np.unique(strata[members], axis=0, return_inverse=True)[1].ravel())

    def permutation(self, rng: np.random.Generator) -> np.ndarray:
        """Return from which row each row has its value after a random exchange, shape (n,).

        Examples
        --------
        >>> moved = Exchange.of("clusters", 4, np.array([0, 0, 1, 1])).permutation(np.random.default_rng(0))
        >>> moved.tolist() in ([0, 1, 2, 3], [2, 3, 0, 1])
        True
        """
        places = np.argsort(self.blocks, kind="stable")
        sources = np.empty(len(self.blocks), dtype=np.int64)
        sources[places] = np.lexsort((rng.random(len(self.blocks)), self.blocks))
        moved = np.empty(self.members.size, dtype=np.int64)
        moved[self.members] = self.members[sources]
        return moved

    @property
    def has_some(self) -> bool:
        """Whether at least half of the units have another one to change places with."""
        sizes = np.bincount(self.blocks)
        return bool(sizes[sizes > 1].sum() * 2 >= len(self.blocks))
