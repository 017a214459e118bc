"""Sufficient statistics in place of rows, and their files: agreements as JSON, counts and sums as Parquet."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import ArtefactError, ConfigError, DataError
from ..data.artefact_columns import ARTEFACTS
from ..data.artefacts import read_columns, write_rows, write_text
from ..data.provenance import Provenance
from .agreement import Agreement

#: The columns of a table, in the order of the agreement.
Columns = tuple[str, ...]


class TablesNotCounted(DataError):
    """Raised if a search needs tables that were not counted: `column_sets`."""

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
        """Return the cross products of rows, shape (n, d)."""
        centre = rows.mean(axis=0)
        centred = rows - centre
        rest = centred.mean(axis=0)  # what rounding left of a mean that is much larger than the spread
        centred -= rest
        return cls(len(rows), centre + rest, centred.T @ centred)

    def merged(self, other: CrossProducts) -> CrossProducts:
        """Return the cross products of the rows of both.

        Chan, Golub, LeVeque (1983), The American Statistician 37, 242-247, doi:10.1080/00031305.1983.10483115.
        """
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        n = self.n_rows + other.n_rows
        apart = other.means - self.means
        between = np.outer(apart, apart) * (self.n_rows * other.n_rows / n)
        return CrossProducts(n, self.means + apart * (other.n_rows / n), self.products + other.products + between)


@dataclass(frozen=True)
class SufficientStatistics:
    """Counts or sums of products of some rows, by an agreement.

    Parameters
    ----------
    agreement : Agreement
        What is counted, and how.
    n_rows : int
        Number of rows counted.
    counts : mapping of tuples of str to ndarray of int64
        Tables by their columns, with one axis per column, of as many entries as it has levels.
    cross_products : CrossProducts or None
        Those of all columns in the order of the agreement, for labels of the indicators of all levels but the first,
        see `Agreement.places`. None if tables were counted.
    refused : tuple of tuples of str
        Tables left out because a cell is smaller than the agreement allows.

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
        """Return in words what was counted."""
        what = "no tables" if self.cross_products is None else f"products of {len(self.cross_products.means)} columns"
        what = f"{len(self.counts)} tables" if self.counts else what
        return what + (f", {len(self.refused)} refused" if self.refused else "")

    def in_order(self, names: Iterable[str]) -> Columns:
        """Return distinct columns in the order of the agreement."""
        return tuple(sorted(set(names), key=self.agreement.names.index))

    def counted(self, names: Columns) -> np.ndarray | None:
        """Return the table of columns as queried from the smallest that contains it; None if refused.

        Raises `TablesNotCounted` if no table contains it.
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
        """Return `counted` of each of some sets; raises `TablesNotCounted` with all that are missing."""
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
        """Return the statistics of the rows of both, refusing tables missing in one; raises `DataError` if agreements
        differ.
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
        """Return these statistics with further tables of the same rows, counted in a later exchange.

        Parameters
        ----------
        more : SufficientStatistics
            What all sites counted by an agreement `asking` for more tables.

        Returns
        -------
        SufficientStatistics
            With the tables of both.

        Raises
        ------
        DataError
            If they do not count the same rows, or the agreements differ.

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


#: Kinds of rows of the file.
COUNTS, REFUSED, MEAN, PRODUCT = "counts", "refused", "mean", "cross-product"
_NO_CELLS = np.empty(0, dtype=np.int64)


def write_agreement(path: str | Path, agreement: Agreement) -> None:
    """Write an agreement as JSON, one column per line."""
    plain = agreement.as_dict()
    columns = ",\n".join(f"    {json.dumps(told, ensure_ascii=False)}" for told in plain.pop("columns"))
    rest = "".join(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n" for key, value in plain.items())
    write_text(path, f'{{\n{rest}  "columns": [\n{columns}\n  ]\n}}\n')


def read_agreement(path: str | Path) -> Agreement:
    """Read an agreement; raises `ConfigError` if the file is missing or invalid."""
    try:
        return Agreement.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not a readable agreement ({error}).") from error


def write_statistics(path: str | Path, statistics: SufficientStatistics, provenance: Provenance | None = None) -> None:
    """Write statistics with one row per table, refused table, mean, and product of two columns.

    A label of more than two levels has one column per level in its name, in the order of the levels.
    """
    sums = statistics.cross_products
    rows: list[tuple[str, Columns, np.ndarray, float | None]] = []
    rows += [(COUNTS, columns, table.ravel(), None) for columns, table in statistics.counts.items()]
    rows += [(REFUSED, columns, _NO_CELLS, None) for columns in statistics.refused]
    if sums is not None:
        names = _names_of_parts(statistics.agreement)
        rows += [(MEAN, (name,), _NO_CELLS, value) for name, value in zip(names, sums.means.tolist(), strict=True)]
        products = sums.products[np.triu_indices(len(names))].tolist()
        pairs = combinations_with_replacement(names, 2)
        rows += [(PRODUCT, pair, _NO_CELLS, value) for pair, value in zip(pairs, products, strict=True)]
    told = {"agreement": statistics.agreement.as_dict(), "n_rows": statistics.n_rows, "has_products": sums is not None}
    provenance = provenance or Provenance(what={"artefact": "counts"})
    write_rows(path, rows, ARTEFACTS["counts"].types(), replace(provenance, extra={**provenance.extra, **told}))


def read_statistics_of(path: str | Path) -> SufficientStatistics:
    """Read statistics; raises `ArtefactError` for a damaged or other file, `DataError` if its tables do not fit its
    agreement.
    """
    rows, provenance = read_columns(path)
    told: Mapping[str, Any] = provenance.extra
    if "agreement" not in told:
        raise ArtefactError(f"{path} is an artefact, but not of counts. blanketflow count writes one.")
    agreement = Agreement.from_dict(told["agreement"])
    levels = {coding.name: coding.n_levels for coding in agreement.codings}
    counts: dict[Columns, np.ndarray] = {}
    refused: list[Columns] = []
    summed: dict[str, list[tuple[Columns, float]]] = {MEAN: [], PRODUCT: []}
    try:
        for kind, columns, cells, value in zip(*rows.values(), strict=True):
            if kind == COUNTS:
                shape = [levels[name] for name in columns]
                counts[tuple(columns)] = np.array(cells, dtype=np.int64).reshape(shape)
            elif kind == REFUSED:
                refused.append(tuple(columns))
            else:
                summed[kind].append((tuple(columns), np.nan if value is None else value))
        sums = _sums(agreement, told["n_rows"], summed) if told["has_products"] else None
    except (KeyError, ValueError) as error:
        raise DataError(f"{path}: its tables do not fit its agreement ({error}). Count again.") from error
    return SufficientStatistics(agreement, told["n_rows"], counts, sums, tuple(refused))


def _names_of_parts(agreement: Agreement) -> list[str]:
    """Return the column name of each summed number and indicator."""
    return [coding.name for coding in agreement.codings for _ in range(coding.n_parts)]


def _sums(agreement: Agreement, n_rows: int, summed: Mapping[str, list[tuple[Columns, float]]]) -> CrossProducts:
    """Return cross products from rows of a file; raises `ValueError` if they do not fit the agreement."""
    names = _names_of_parts(agreement)
    expected = [*((name,) for name in names), *combinations_with_replacement(names, 2)]
    found = [*summed[MEAN], *summed[PRODUCT]]
    if [columns for columns, _ in found] != expected:
        raise ValueError("means and products are of other columns")
    values = np.array([value for _, value in found])
    products = np.empty((len(names), len(names)))
    products[np.triu_indices(len(names))] = values[len(names) :]
    return CrossProducts(n_rows, values[: len(names)], np.triu(products) + np.triu(products, 1).T)
