"""The table that tests, methods and models read: columns, their order and levels, and the sampling design."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from functools import cached_property
from itertools import pairwise
from operator import eq
from typing import Any, ClassVar

import numpy as np

from .cards import BOOLEAN, CATEGORICAL, INTEGER, NUMERIC
from .column import Column, SparseValues, TargetColumn, WideColumns
from .errors import DataError, UnknownNameError, did_you_mean
from .mapped_file import kept_like

__all__ = [
    "Column",
    "SparseValues",
    "Table",
    "categorical",
    "column_from_array",
    "is_missing",
    "labelled",
    "sort_labels",
]

#: Rows per block of labels.
LABELLED = 2**20


class Table:
    """Columns of equal length, found by name or position.

    Parameters
    ----------
    columns : sequence of Column
        At least one, with unique names. `WideColumns` are stored unchanged, others as a tuple.
    design : Design, optional
        Sampling weights and clusters of the rows, which selections of rows and columns keep.

    Raises
    ------
    DataError
        If two columns share a name.

    Examples
    --------
    >>> table = Table([Column("a", "numeric", np.array([1.0, 2.0])), Column("b", "integer", np.array([3, 4]))])
    >>> table.names, table.n_rows
    (['a', 'b'], 2)
    """

    #: Whether cells are known; a table without rows has `engine_of`, which returns the engine of a test.
    has_rows: ClassVar[bool] = True
    #: Whether the rows of a table without cells can be read instead, if anything raises `RowsNeeded`.
    rows_at_hand: bool = False

    def __init__(self, columns: Sequence[Column], design: Design | None = None) -> None:
        self.design = design
        self.columns: Sequence[Column] = columns if isinstance(columns, WideColumns) else tuple(columns)
        if isinstance(columns, WideColumns):
            self.names = [*columns.names, *(column.name for column in columns.more)]
        else:
            self.names = [column.name for column in self.columns]
        if len(set(self.names)) != len(self.names):
            twice = sorted(name for name, count in Counter(self.names).items() if count > 1)[:5]
            raise DataError(f"column names must differ, but these occur more than once: {twice}. Rename them.")
        self.n_rows = self.columns[0].n_rows if self.columns else 0

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def _positions(self) -> dict[str | int, int]:
        return dict(zip(self.names, range(len(self.names)), strict=True))

    def position(self, key: str | int) -> int:
        """Return the position of a column, given its name or position."""
        if type(key) is not int:
            # The target is last and used most; for it alone a wide table needs no dictionary.
            is_last = bool(self.names) and key == self.names[-1]
            position = len(self.names) - 1 if is_last else self._positions.get(key)
            if position is not None:
                return position
            if isinstance(key, str):
                raise UnknownNameError(f"no column {key!r} in the table. {did_you_mean(key, self.names)}")
        if 0 <= key < len(self.names):
            return int(key)
        raise UnknownNameError(f"no column {key} in a table of {len(self.columns)} columns, counted from 0.")

    def places(self, keys: Sequence[str | int]) -> list[int]:
        """Return the positions of columns, given names or positions; fastest for names only."""
        try:
            return [*map(self._positions.__getitem__, keys)]
        except KeyError:
            return [*map(self.position, keys)]

    def positions(self, names: Sequence[str]) -> np.ndarray:
        """Return the positions of named columns, (number of names,)."""
        if self.names[: len(names)] == list(names):
            return np.arange(len(names))
        return np.array(self.places(names), dtype=np.int64)

    def one_of_each(self) -> Iterable[Column]:
        """Return columns that cover all kinds and sets of levels."""
        return self.columns.one_of_each() if isinstance(self.columns, WideColumns) else self.columns

    def first_incomplete(self) -> Column | None:
        """Return the first column with a missing or infinite cell, or None."""
        if isinstance(self.columns, WideColumns):
            return self.columns.first_incomplete()
        return next((column for column in self.columns if column.n_missing() or column.n_infinite()), None)

    def varying(self) -> np.ndarray:
        """Return which columns have two values besides missing cells, (d,)."""
        if isinstance(self.columns, WideColumns):
            return self.columns.varying()
        return np.array([not column.is_constant() for column in self.columns], dtype=bool)

    def with_column(self, column: Column) -> Table:
        """Return the table with another column at the end."""
        if not isinstance(self.columns, WideColumns):
            return Table([*self.columns, column], self.design)
        if column.name in self.names:
            raise DataError(f"the table has a column {column.name!r} already. Rename one of the two.")
        longer = copy(self)
        longer.__dict__.pop("_positions", None)
        longer.columns = replace(self.columns, more=(*self.columns.more, column))
        longer.names = [*self.names, column.name]
        return longer

    def __getitem__(self, key: str | int) -> Column:
        return self.columns[self.position(key)]

    def take(self, rows: np.ndarray) -> Table:
        """Return the table with the rows at some positions, in any order."""
        rows = np.asarray(rows)
        if len(rows) == self.n_rows and np.array_equal(rows, np.arange(self.n_rows)):
            return self
        design = None if self.design is None else self.design.take(rows)
        if isinstance(self.columns, WideColumns):
            shorter = copy(self)  # the names are known to differ, which takes a while to see of a million
            shorter.columns, shorter.n_rows, shorter.design = self.columns.take(rows), len(rows), design
            return shorter
        return Table(kept_like(self.columns, (column.take(rows) for column in self.columns), len(rows)), design)

    def select(self, keys: Iterable[str | int]) -> Table:
        """Return the table with some columns."""
        return Table([self[key] for key in keys], self.design)

    def in_order_of_names(self, n_last: int = 0) -> Table:
        """Return the table with columns in the order of `by_names`; the same table if already ordered.

        The last `n_last` columns, such as a target, stay last. The block of a wide table comes before single columns.

        >>> columns = [Column(name, "numeric", np.zeros(2)) for name in ("b10", "b9", "a")]
        >>> Table(columns).in_order_of_names(n_last=1).names
        ['b9', 'b10', 'a']
        """
        if not isinstance(self.columns, WideColumns):
            order = by_names(self.names[: len(self) - n_last])
            return self if order is None else self.select([*order.tolist(), *range(len(order), len(self))])
        order = self._order_held_together
        more = by_names([column.name for column in self.columns.more[: len(self.columns.more) - n_last]])
        if order is None and more is None:
            return self
        columns = self.columns if order is None else self.columns.at(order)
        if more is not None:
            singles = columns.more
            columns = replace(columns, more=(*(singles[at] for at in more.tolist()), *singles[len(more) :]))
        return Table(columns, self.design)

    @cached_property
    def _order_held_together(self) -> np.ndarray | None:
        """Order of the columns of a wide table's block, cached because it is slow for a million."""
        return by_names(self.columns.names) if isinstance(self.columns, WideColumns) else None

    def with_design(self, design: Design | None) -> Table:
        """Return the table with another design."""
        designed = copy(self)
        designed.design = design
        return designed

    def matrix(self, keys: Iterable[str | int] | None = None) -> np.ndarray:
        """Return columns as float64, (n, number of columns), in Fortran order."""
        columns = self.columns if keys is None else [self[key] for key in keys]
        out = np.empty((self.n_rows, len(columns)), dtype=np.float64, order="F")
        for j, column in enumerate(columns):
            out[:, j] = column.numbers()
        return out


def column_from_array(name: str, values: np.ndarray) -> Column:
    """Create a column from a 1-D array, with the kind of its dtype.

    Objects, strings and pandas categoricals become categorical with sorted levels; None and NaN are missing. Raises
    `DataError` for complex numbers, dates, times, containers, and labels that are not Unicode.
    """
    values = np.asarray(values)
    if values.dtype.kind == "b":
        return Column(name, BOOLEAN, values.astype(np.int8))
    if values.dtype.kind in "iu":
        return Column(name, INTEGER, values)
    if values.dtype.kind == "f":
        return Column(name, NUMERIC, values)
    if values.dtype.kind == "c":
        raise DataError(f"column {name!r}: {_COMPLEX}")
    if values.dtype.kind in "mM":
        raise DataError(f"column {name!r} holds {_TIMES}")
    if values.dtype.kind == "O":
        _check_objects(name, values)
    labels = np.array([None if is_missing(v) else str(v) for v in values.tolist()], dtype=object)
    column = categorical(name, labels)
    check_unicode(f"column {name!r} holds", column.levels)
    return column


_COMPLEX = "Complex data not supported. Split it into its real and imaginary parts."
_TIMES = "dates or times. Make numbers of them, such as days since a start, or drop it."


def _check_objects(name: str, values: np.ndarray) -> None:
    """Raise `DataError` if an object array has a cell that is not a label."""
    for value in values.tolist():
        kind = type(value)
        if (isinstance(value, _CLOCK) or kind.__name__ == "Period") and not is_missing(value):  # pandas' Period
            raise DataError(f"column {name!r} holds {_TIMES}")
        if isinstance(value, complex):
            raise DataError(f"column {name!r}: {_COMPLEX}")
        if isinstance(value, (list, dict, set, np.ndarray)):
            raise DataError(
                f"column {name!r} holds {kind.__name__!r} objects, but cells must be numbers, texts or truth values. "
                "Make one column of each part."
            )


_CLOCK = (date, time, timedelta, np.datetime64, np.timedelta64)


def is_missing(value: object) -> bool:
    """Return whether a cell is None, NaN or pandas' NA or NaT."""
    # pandas' NA answers comparisons with itself, so types come first.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except ArithmeticError:  # a Decimal that is a signalling NaN
        return True


def categorical(name: str, labels: np.ndarray) -> Column:
    """Create a categorical column from text labels, None where missing. Levels are sorted, numbers by value."""
    present = [label for label in labels if label is not None]
    levels = sort_labels(set(present))
    codes = {label: code for code, label in enumerate(levels)}
    values = np.fromiter((-1 if v is None else codes[v] for v in labels), dtype=np.int32, count=len(labels))
    return Column(name, CATEGORICAL, values, tuple(levels))


def labelled(column: Column, label: Callable[[Any], str]) -> Column:
    """Return a column of numbers as categorical, given a label per value; missing cells stay missing.

    Only distinct values are labelled, in blocks of rows: a text per row would take 60 bytes.

    >>> labelled(Column("a", "numeric", np.array([10.0, np.nan, 9.0])), "{:g}".format).values.tolist()
    [1, -1, 0]
    """
    values = column.cells()
    distinct = np.unique(values)
    distinct = distinct[~np.isnan(distinct)]
    labels = [label(value) for value in distinct.tolist()]
    levels = sort_labels(set(labels))
    code = {level: at for at, level in enumerate(levels)}
    of_place = np.array([*(code[one] for one in labels), -1], dtype=np.int32)
    codes = np.empty(len(values), dtype=np.int32)
    for start in range(0, len(values), LABELLED):
        block = slice(start, start + LABELLED)
        codes[block] = of_place[np.searchsorted(distinct, values[block])]  # NaN is behind all of them
    return Column(column.name, CATEGORICAL, codes, tuple(levels))


def sort_labels(labels: Iterable[str]) -> list[str]:
    """Sort text labels, by value if all are numbers.

    >>> sort_labels({"10", "9"})
    ['9', '10']
    """
    labels = sorted(labels)
    try:
        values = [float(label) for label in labels]
    except ValueError:
        return labels
    if any(value != value for value in values):
        return labels  # NaN has no order: the order of the set would remain, which differs between processes
    return [label for _, label in sorted(zip(values, labels, strict=True))]


#: Kinds of weights: numbers of equal rows, or population members per row.
COUNTS, SAMPLING = WEIGHTS_ARE = ("counts", "sampling")
#: With fewer clusters, p-values of design-based tests may be too small; see docs/sample-design.md.
ENOUGH_CLUSTERS = 40


@dataclass(frozen=True)
class Design:
    """Sampling weights and clusters of the rows of a table.

    Parameters
    ----------
    weights : ndarray of shape (n,), or None
        Positive numbers, proportional to the population members that a row represents; None if equal.
    clusters : ndarray of int of shape (n,), or None
        Rows with equal numbers were sampled together, such as those of a patient; None for independent rows.
    within : ndarray of int of shape (n,), or None
        Strata within which CI tests are made, such as sites; None for none.

    Examples
    --------
    >>> design = Design(np.array([1.0, 3.0, 2.0]), np.array([7, 7, 4]))
    >>> design.shares(), design.numbers()
    (array([0.5, 1.5, 1. ]), array([1, 1, 0]))
    >>> design.take(np.array([0, 1])).n_clusters
    1
    """

    weights: np.ndarray | None = None
    clusters: np.ndarray | None = None
    within: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Design:
        """Return the design of some of the rows."""
        parts = (self.weights, self.clusters, self.within)
        return Design(*(None if part is None else part[rows] for part in parts))

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters; None for independent rows."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    def shares(self) -> np.ndarray | None:
        """Return the weights divided by their mean, (n,); None if equal."""
        return None if self.weights is None else self.weights / self.weights.mean()

    def numbers(self) -> np.ndarray | None:
        """Return the clusters as integers from 0 without gaps, (n,); None for independent rows.

        None also for a single cluster, such as the only site of a fold: its effect cannot be estimated, and given it
        rows are independent.
        """
        if self.clusters is None:
            return None
        kinds, numbers = np.unique(self.clusters, return_inverse=True)
        return numbers if len(kinds) > 1 else None


def effective_rows(weights: np.ndarray) -> float:
    """Return Kish's effective sample size of weights (Kish 1965, Survey sampling, Wiley).

    >>> effective_rows(np.array([1.0, 1.0, 1.0])), effective_rows(np.array([3.0, 1.0]))
    (3.0, 1.6)
    """
    return float(weights.sum() ** 2 / np.sum(weights**2))


def is_complex(design: Design | None) -> bool:
    """Whether rows have clusters or sampling weights, so that tests for independent, equal rows do not apply.

    >>> is_complex(Design(weights=np.array([1.0, 2.0]))), is_complex(Design(within=np.array([0, 1]))), is_complex(None)
    (True, False, False)
    """
    return design is not None and (design.weights is not None or design.numbers() is not None)


_DIGITS = re.compile("([0-9]+)")


def by_names(names: Sequence[str]) -> np.ndarray | None:
    """Return the positions of names in natural order, int64 (d,); None if already ordered.

    Numbers within names are compared by value: ``x2`` comes before ``x10``. Methods and models see features in this
    order, so random draws, ties and sums do not depend on the order of the table.

    >>> by_names(["x0", "x2", "x10"]) is None
    True
    >>> by_names(["size", "x10", "age", "x9"]).tolist()
    [2, 0, 3, 1]
    """
    # The names of an array's columns, of which there may be a million, are compared without making keys.
    if all(map(eq, names, map("x{}".format, range(len(names))))) or all(
        one < other for one, other in pairwise(map(natural_key, names))
    ):
        return None
    return np.array(sorted(range(len(names)), key=[*map(natural_key, names)].__getitem__), dtype=np.int64)


def natural_key(name: str) -> tuple[list[str | tuple[int, str]], str]:
    """Return the sort key of a name: texts and numbers in turn, then the name, to separate ``01`` and ``1``.

    >>> natural_key("x10") > natural_key("x9"), natural_key("x09") < natural_key("x9")
    (True, True)
    """
    parts: list[str | tuple[int, str]] = list(_DIGITS.split(name))
    # A number without leading zeros is greater if it is longer, or as long and greater as text: of any length.
    parts[1::2] = [(len(digits), digits) for digits in (str(part).lstrip("0") for part in parts[1::2])]
    return parts, name


#: Numbers with at most this many distinct values are levels: neither binned nor imputed by residuals.
FEW_VALUES = 10


def column_of_codes(name: str, codes: np.ndarray, labels: Sequence[str | None]) -> Column:
    """Create a categorical column from positions in `labels`, which may repeat or be unused; -1 and None are missing.

    >>> column_of_codes("a", np.array([0, 1, 2, -1]), ["b", None, "a"]).values
    array([ 1, -1,  0, -1], dtype=int32)
    """
    levels = sort_labels({label for label in labels if label is not None})
    place = {level: code for code, level in enumerate(levels)}
    lookup = np.array([place.get(label, -1) for label in labels] + [-1], dtype=np.int32)
    return Column(name, CATEGORICAL, lookup[codes], tuple(levels))  # code -1 finds the last entry


def used_levels(column: Column) -> Column:
    """Return a categorical column with only the levels that occur, sorted; any other column unchanged."""
    if column.kind != CATEGORICAL or isinstance(column, TargetColumn):  # whose levels have an order
        return column
    present = np.flatnonzero(np.bincount(column.values[column.values >= 0], minlength=len(column.levels)))
    if sort_labels([column.levels[code] for code in present]) == [*column.levels]:
        return column
    occurring = set(present.tolist())
    labels = [level if code in occurring else None for code, level in enumerate(column.levels)]
    return column_of_codes(column.name, column.values, labels)


def with_used_levels(table: Table) -> Table:
    """Return the table with only the levels that occur."""
    if isinstance(table.columns, WideColumns):
        return table
    return Table([used_levels(column) for column in table.columns], table.design)


def check_unicode(what: str, texts: Collection[str]) -> None:
    r"""Raise `DataError`, starting with `what`, if a text has a lone surrogate.

    >>> check_unicode("column 'a' holds", ["größe"])
    >>> check_unicode("column 'a' holds", ["gr\udcf6sse"])
    Traceback (most recent call last):
    ...
    blanketflow.core.errors.DataError: column 'a' holds 'gr\udcf6sse', which is not valid Unicode text. ...
    """
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        wrong = next(text for text in texts if not _is_unicode(text))
        raise DataError(
            f"{what} {wrong[:40]!a}, which is not valid Unicode text. Read it again in its right encoding, or replace "
            "what cannot be read."
        ) from None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
