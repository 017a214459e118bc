"""The agreement of sites before each counts its own rows: levels, bin borders, tables, and the smallest cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ..core.cards import CATEGORICAL, CLASSIFICATION, CROSS_PRODUCTS, KINDS, REGRESSION, TRIPLES
from ..core.errors import ConfigError, DataError, did_you_mean
from ..core.table import Column, sort_labels

#: What is counted: each feature with the target; every two columns; the target with every two features; the sums of
#: products of every two columns; or only the tables that a search asked for.
RELEVANCE, PAIRS, ASKED = "relevance", "pairs", "asked"
TABLES = (RELEVANCE, PAIRS, TRIPLES, CROSS_PRODUCTS, ASKED)


@dataclass(frozen=True)
class Coding:
    """Maps the cells of one column to codes.

    `levels` are the labels of a categorical column, or all values of another one, ascending; empty for a binned column,
    whose codes are the number of ascending inner `borders` below the value.

    >>> age = Coding("age", "numeric", borders=(40.0, 60.0))
    >>> age.codes(Column("age", "numeric", np.array([40.0, 41.0, 80.0]))).tolist(), age.n_levels
    ([0, 1, 2], 3)
    """

    name: str
    kind: str
    levels: tuple[Any, ...] = ()
    borders: tuple[float, ...] = ()

    @property
    def n_levels(self) -> int:
        """Number of codes."""
        return len(self.levels) or len(self.borders) + 1

    @property
    def n_parts(self) -> int:
        """Number of columns of `parts`."""
        return max(len(self.levels) - 1, 1) if self.kind == CATEGORICAL else 1

    def parts(self, column: Column) -> np.ndarray:
        """Return the summed columns, (n, n_parts): numbers, or indicators of all labels but the first.

        A column of one label is 0. Raises `DataError` like `codes`.
        """
        if self.kind != CATEGORICAL:
            self.check(column)
            return column.numbers()[:, np.newaxis]
        return (self.codes(column)[:, np.newaxis] == np.arange(1, self.n_parts + 1)).astype(np.float64)

    def codes(self, column: Column) -> np.ndarray:
        """Return the codes 0 .. n_levels - 1 of some cells, shape (n,).

        Raises `DataError` if a cell is missing, infinite, or of an unknown level, or if the column is of another kind.
        """
        self.check(column)
        if self.kind == CATEGORICAL:
            place = {level: code for code, level in enumerate(self.levels)}
            codes = np.array([place.get(level, -1) for level in column.levels], dtype=np.int32)[column.values]
        else:
            values = column.cells()
            if values.dtype.itemsize == 1:  # few values, whose codes are looked up
                codes = self._codes(np.arange(256, dtype=np.uint8).view(values.dtype))[values.view(np.uint8)]
            else:
                codes = self._codes(values)
        if (codes < 0).any():
            cell = column.cells()[int(np.argmin(codes))]
            level = column.levels[cell] if self.kind == CATEGORICAL else cell.item()
            raise DataError(
                f"column {self.name!r} holds {level!r}, which is not among the {len(self.levels)} agreed levels. "
                "Extend the agreement by this table (blanketflow count --agree), and count everywhere anew."
            )
        return codes

    def _codes(self, values: np.ndarray) -> np.ndarray:
        """Return the codes of numbers, -1 for an unknown value."""
        borders = np.array(self.levels[:-1] or self.borders, dtype=np.float64)
        codes = np.searchsorted(borders, values).astype(np.int32)
        if self.levels:
            codes[np.array(self.levels)[codes] != values] = -1
        return codes

    def check(self, column: Column) -> None:
        """Raise `DataError` if a column is of another kind, or has missing or infinite cells."""
        if (column.kind == CATEGORICAL) != (self.kind == CATEGORICAL):
            raise DataError(
                f"column {self.name!r} is {column.kind}, but {self.kind} was agreed on. Set categorical for this "
                "data set, or write the column as it is elsewhere."
            )
        gaps = column.n_missing() + column.n_infinite()
        if gaps:
            raise DataError(f"column {self.name!r} has {gaps} missing or infinite cells. Impute or drop them first.")

    def extended(self, other: Coding) -> Coding:
        """Return the coding with the levels of another one added; borders are unchanged."""
        if self.borders or not self.levels:
            return self
        if (other.kind == CATEGORICAL) != (self.kind == CATEGORICAL):
            raise DataError(f"column {self.name!r} is {other.kind}, but {self.kind} was agreed on. Write it as there.")
        if not other.levels:
            return other  # more values than levels are kept of
        both = {*self.levels, *other.levels}
        return replace(self, levels=tuple(sort_labels(both) if self.kind == CATEGORICAL else sorted(both)))


@dataclass(frozen=True)
class Agreement:
    """What every site counts, and how.

    Parameters
    ----------
    target : str
        Name of the target.
    codings : tuple of Coding
        Features in order, then the target.
    tables : {"relevance", "pairs", "triples", "cross-products", "asked"}
        What is counted: each feature with the target; every two columns; the target with every two features; the sums
        of products of every two columns; or only the tables in `asked`.
    min_cell : int
        A table with a cell of 1 .. min_cell - 1 rows is refused; 0 and 1 refuse nothing.
    asked : tuple of tuples of str
        Further tables, by the names of their columns, requested by a search after an earlier exchange.

    Examples
    --------
    >>> both = (Coding("a", "boolean", (0, 1)), Coding("t", "boolean", (0, 1)))
    >>> Agreement.from_dict(Agreement("t", both, "pairs").as_dict()).column_sets()
    [('a', 't')]
    """

    target: str
    codings: tuple[Coding, ...]
    tables: str = TRIPLES
    min_cell: int = 0
    asked: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.tables not in TABLES:
            raise ConfigError(f"agreement: tables is {self.tables!r}. {did_you_mean(self.tables, TABLES)}")
        if not isinstance(self.min_cell, int) or self.min_cell < 0:
            raise ConfigError(f"agreement: min_cell is {self.min_cell!r}, but must be a whole number of at least 0.")
        names = self.names
        if self.target not in names or len(set(names)) < len(names) or len(names) < 2:
            raise ConfigError(
                f"agreement: the columns must differ, and be the target {self.target!r} and at least one feature. "
                "Make the agreement anew."
            )
        for name in (name for one in self.asked for name in one):
            if name not in names:
                raise ConfigError(f"agreement: asked names the column {name!r}. {did_you_mean(name, names)}")

    @property
    def names(self) -> list[str]:
        """All columns in order."""
        return [coding.name for coding in self.codings]

    def places(self) -> dict[str, slice]:
        """Return the positions of each column's parts among those of all columns."""
        ends = [0, *accumulate(coding.n_parts for coding in self.codings)]
        return {name: slice(*of) for name, of in zip(self.names, pairwise(ends), strict=True)}

    @property
    def task(self) -> str:
        """Task by the kind of the target: classification or regression."""
        kind = self.codings[self.names.index(self.target)].kind
        return CLASSIFICATION if kind == CATEGORICAL else REGRESSION

    def column_sets(self) -> list[tuple[str, ...]]:
        """Return the columns of each counted table, in the order of the agreement; none for products."""
        others = [name for name in self.names if name != self.target]
        two = [(a, b) for i, a in enumerate(others) for b in others[i + 1 :]]
        sets = {
            RELEVANCE: [(a,) for a in others],
            PAIRS: [*((a,) for a in others), *two],
            TRIPLES: two or [(a,) for a in others],
        }.get(self.tables, [])
        with_target = [one if self.tables == PAIRS and len(one) == 2 else (*one, self.target) for one in sets]
        place = {name: at for at, name in enumerate(self.names)}
        found = [*with_target, *self.asked]
        return list(dict.fromkeys(tuple(sorted(set(one), key=place.__getitem__)) for one in found))

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain types."""
        plain = asdict(self)
        columns = [{key: value for key, value in coding.items() if value} for coding in plain.pop("codings")]
        return {**plain, "columns": columns}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Agreement:
        """Return the agreement from `as_dict`; raises `ConfigError` for anything else."""
        try:
            codings = tuple(map(_coding, plain["columns"]))
            asked = tuple(tuple(one) for one in plain.get("asked", ()))
            return cls(plain["target"], codings, plain["tables"], plain["min_cell"], asked)
        except (KeyError, TypeError, AttributeError) as error:
            raise ConfigError(f"this is not an agreement ({error!r}). blanketflow count --agree writes one.") from error

    def asking(self, column_sets: Iterable[tuple[str, ...]]) -> Agreement:
        """Return the agreement for a further exchange, which counts only these tables.

        Parameters
        ----------
        column_sets : iterable of tuples of str
            The columns of each table, from `TablesNotCounted`.

        Returns
        -------
        Agreement
            With the same levels and borders.

        Examples
        --------
        >>> both = (Coding("a", "boolean", (0, 1)), Coding("t", "boolean", (0, 1)))
        >>> Agreement("t", both).asking([("t", "a")]).column_sets()
        [('a', 't')]
        """
        return replace(self, tables=ASKED, asked=tuple(column_sets))

    def is_like(self, other: Agreement) -> bool:
        """Whether counts by both can be added: all fields but the tables are equal."""
        return (self.target, self.codings, self.min_cell) == (other.target, other.codings, other.min_cell)


def _coding(told: Mapping[str, Any]) -> Coding:
    name, kind = told["name"], told["kind"]
    if kind not in KINDS:
        raise ConfigError(f"agreement: column {name!r} has the kind {kind!r}. {did_you_mean(kind, KINDS)}")
    return Coding(name, kind, tuple(told.get("levels", ())), tuple(told.get("borders", ())))
