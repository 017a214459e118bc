"""What tests need of rows that they do not see: tables of counts, or means and centred sums of products."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..core.errors import DataError
from .agreement import Agreement

#: The columns of a table, in the order of the agreement.
Columns = tuple[str, ...]


class TablesNotCounted(DataError):
    """A search needs tables that were not counted; `column_sets` says which."""

    def __init__(self, column_sets: Sequence[Columns]) -> None:
        self.column_sets = tuple(dict.fromkeys(column_sets))
        first = ", ".join(self.column_sets[0])
        super().__init__(
            f"{len(self.column_sets)} tables were not counted, such as that of {first}. Count them in another exchange "
            "(blanketflow merge --ask), or choose tables that hold them: relevance, pairs or triples."
        )


@dataclass(frozen=True)
class CrossProducts:
    """Means, shape (d,), and centred sums of products of every two columns, shape (d, d); NaN where refused.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [3.0, 2.0], [2.0, 5.0]])
    >>> whole, parts = CrossProducts.of(rows), [CrossProducts.of(rows[:1]), CrossProducts.of(rows[1:])]
    >>> np.allclose(whole.products, parts[0].merged(parts[1]).products)
    True
    """

    n_rows: int
    means: np.ndarray
    products: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> CrossProducts:
        """Return those of some rows, shape (n, d)."""
        centre = rows.mean(axis=0)
        centred = rows - centre
        rest = centred.mean(axis=0)  # what rounding left of a mean that is much larger than the spread
        centred -= rest
        return cls(len(rows), centre + rest, centred.T @ centred)

    def merged(self, other: CrossProducts) -> CrossProducts:
        """Return those of the rows of both.

        Chan, Golub, LeVeque (1983) Algorithms for computing the sample variance, The American Statistician 37,
        242-247, doi:10.1080/00031305.1983.10483115.
        """
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        n = self.n_rows + other.n_rows
        apart = other.means - self.means
        between = np.outer(apart, apart) * (self.n_rows * other.n_rows / n)
        return CrossProducts(n, self.means + apart * (other.n_rows / n), self.products + other.products + between)


@dataclass(frozen=True)
class SufficientStatistics:
    """What was counted of some rows, by an agreement.

    Parameters
    ----------
    agreement : Agreement
        What was agreed on.
    n_rows : int
        How many rows were counted.
    counts : mapping of tuples of str to ndarray of int64
        Tables by their columns, one axis a column, as long as it has levels.
    cross_products : CrossProducts or None
        Those of all columns in the order of the agreement, of labels those of the indicators of all levels but the
        first, see `Agreement.places`. None if tables were counted.
    refused : tuple of tuples of str
        Tables that are not told because a cell is smaller than the agreement allows.

    Examples
    --------
    >>> import blanketflow as bf
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [0, 0, 1, 1] * 10, "b": [0, 1] * 20, "y": [0, 0, 1, 1] * 10})
    >>> counted = bf.count(X, bf.agree(X, "y", tables="pairs"))
    >>> counted.n_rows, sorted(counted.counts)
    (40, [('a', 'b'), ('a', 'y'), ('b', 'y')])
    """

    agreement: Agreement
    n_rows: int
    counts: Mapping[Columns, np.ndarray] = field(default_factory=dict)
    cross_products: CrossProducts | None = None
    refused: tuple[Columns, ...] = ()

    @cached_property
    def _holding(self) -> dict[str, set[Columns]]:
        found: dict[str, set[Columns]] = defaultdict(set)
        for columns in self.counts:
            for name in columns:
                found[name].add(columns)
        return found

    def told(self) -> str:
        """Return in words what is known."""
        what = "no tables" if self.cross_products is None else f"products of {len(self.cross_products.means)} columns"
        what = f"{len(self.counts)} tables" if self.counts else what
        return what + (f", {len(self.refused)} refused" if self.refused else "")

    def in_order(self, names: Iterable[str]) -> Columns:
        """Return different columns in the order of the agreement."""
        return tuple(sorted(set(names), key=self.agreement.names.index))

    def counted(self, names: Columns) -> np.ndarray | None:
        """Return the table of some columns, with their axes as asked, from the smallest that holds it.

        None if it was refused. Raises `TablesNotCounted` if no table holds it.
        """
        holding = set.intersection(*(self._holding[name] for name in names)) if names else {*self.counts}
        if not holding:
            wanted = self.in_order(names)
            if wanted in self._refused:
                return None
            raise TablesNotCounted([wanted])
        columns = min(holding, key=lambda one: (self.counts[one].size, one))
        place = {name: at for at, name in enumerate(columns)}
        left_out = tuple(at for name, at in place.items() if name not in names)
        kept = [name for name in columns if name in names]
        return self.counts[columns].sum(axis=left_out).transpose([kept.index(name) for name in names])

    def counted_each(self, sets: Sequence[Columns]) -> list[np.ndarray | None]:
        """Return the table of each of some sets, as `counted` does; raises `TablesNotCounted` with all that lack."""
        found, missing = [], []
        for names in sets:
            try:
                found.append(self.counted(names))
            except TablesNotCounted as error:
                missing += error.column_sets
        if missing:
            raise TablesNotCounted(missing)
        return found

    @cached_property
    def _refused(self) -> set[Columns]:
        return {*self.refused}

    def merged(self, other: SufficientStatistics) -> SufficientStatistics:
        """Return the statistics of the rows of both; what one refuses, or does not have, is refused.

        Raises `DataError` if they come from different agreements.
        """
        if not self.agreement.is_like(other.agreement):
            raise DataError(
                "these statistics were counted by different agreements: target, levels, borders and min_cell must be "
                "equal. Count again with one agreement."
            )
        if (self.cross_products is None) != (other.cross_products is None):
            raise DataError("tables of counts and cross products do not add up. Count the same tables everywhere.")
        products = None
        if self.cross_products is not None and other.cross_products is not None:
            products = self.cross_products.merged(other.cross_products)
        refused, counts = {*self.refused, *other.refused}, {}
        for columns in dict.fromkeys([*self.counts, *other.counts]):
            mine, yours = (one._if_counted(columns) for one in (self, other))
            if mine is None or yours is None:
                refused.add(columns)
            else:
                counts[columns] = mine + yours
        n_rows = self.n_rows + other.n_rows
        ordered = tuple(sorted(columns for columns in refused if columns not in counts))
        return replace(self, n_rows=n_rows, counts=counts, cross_products=products, refused=ordered)

    def _if_counted(self, columns: Columns) -> np.ndarray | None:
        try:
            return self.counted(columns)
        except TablesNotCounted:
            return None

    def joined(self, more: SufficientStatistics) -> SufficientStatistics:
        """Return these with further tables of the same rows, counted in a later exchange.

        Parameters
        ----------
        more : SufficientStatistics
            What all places counted by an agreement `asking` for more tables.

        Returns
        -------
        SufficientStatistics
            With the tables of both.

        Raises
        ------
        DataError
            If these are not of the same rows, or the agreement is another one.

        Examples
        --------
        >>> import blanketflow as bf
        >>> import pandas as pd
        >>> X = pd.DataFrame({"a": [0, 0, 1, 1] * 10, "b": [0, 1] * 20, "y": [0, 0, 1, 1] * 10})
        >>> first = bf.count(X, bf.agree(X, "y", tables="relevance"))
        >>> sorted(first.joined(bf.count(X, first.agreement.asking([("a", "b")]))).counts)
        [('a', 'b'), ('a', 'y'), ('b', 'y')]
        """
        if not self.agreement.is_like(more.agreement) or self.n_rows != more.n_rows:
            raise DataError(
                f"the tables of a later exchange must be of the same rows: {self.n_rows:,} rows were counted before, "
                f"now {more.n_rows:,}, or the agreement changed. Count all exchanges on one table."
            )
        refused = {*self.refused, *more.refused}
        return replace(self, counts={**self.counts, **more.counts}, refused=tuple(sorted(refused)))
