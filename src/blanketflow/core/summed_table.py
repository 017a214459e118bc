"""A table of which only sufficient statistics are known: names, kinds and number of rows, but no cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from .agreement import Agreement
from .cards import CATEGORICAL
from .errors import RowsNeeded
from .sufficient_statistics import Columns, CrossProducts
from .table import Column, Table


class Counts(Protocol):
    """What tests ask of rows that they do not see: tables that were counted, or are counted on demand."""

    @property
    def n_rows(self) -> int:
        """How many rows are counted."""
        ...

    @property
    def cross_products(self) -> CrossProducts | None:
        """Means and sums of products, None if tables are counted."""
        ...

    def counted_each(self, sets: Sequence[Columns]) -> list[np.ndarray | None]:
        """Return the table of each of some sets of columns, with their axes as asked; None if there is none."""
        ...

    def in_order(self, names: Iterable[str]) -> Columns:
        """Return different columns in the order of the agreement."""
        ...


class Statistics(Counts, Protocol):
    """The same with what was agreed on, such as `SufficientStatistics`."""

    @property
    def agreement(self) -> Agreement:
        """Levels and borders of the columns."""
        ...


class NoCells:
    """Stands for the cells of a column that nobody has: whatever asks for one is refused."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows

    def __len__(self) -> int:
        return self._n_rows

    def __iter__(self) -> Iterator[Any]:
        raise self._refusal()

    def __array__(self, *args: Any, **options: Any) -> np.ndarray:
        raise self._refusal()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._refusal()

    def __getitem__(self, rows: Any) -> Any:
        raise self._refusal()

    @staticmethod
    def _refusal() -> RowsNeeded:
        return RowsNeeded(
            "this method or test needs rows, and only counts or cross products of them are known. Take a method that "
            "asks its CI test alone, such as mrmr, jmi, iamb or hiton-mb, with g2, chi2, fisher-z or lr-mixed."
        )


class SummedTable(Table):
    """The columns of some statistics, or some of them. CI tests that need no rows are bound to it.

    Examples
    --------
    >>> from blanketflow.core.agreement import Agreement, Coding
    >>> from blanketflow.core.sufficient_statistics import SufficientStatistics
    >>> both = Coding("a", "boolean", (0, 1)), Coding("t", "boolean", (0, 1))
    >>> counted = {("a", "t"): np.array([[30, 10], [10, 30]])}
    >>> table = SummedTable(SufficientStatistics(Agreement("t", both), 80, counted))
    >>> from blanketflow.ci import get_ci_test
    >>> round(float(get_ci_test("g2").bind(table).test("a", "t").statistic), 2)
    20.93
    """

    def __init__(self, statistics: Statistics, names: Iterable[str] | None = None) -> None:
        codings = {coding.name: coding for coding in statistics.agreement.codings}
        cells: Any = NoCells(statistics.n_rows)
        chosen = [codings[name] for name in (codings if names is None else names)]
        labels = [coding.levels if coding.kind == CATEGORICAL else () for coding in chosen]
        super().__init__(
            [Column(one.name, one.kind, cells, levels) for one, levels in zip(chosen, labels, strict=True)]
        )
        self.statistics = statistics

    def first_incomplete(self) -> Column | None:
        """Return None: cells that were counted were complete."""
        return None

    def varying(self) -> np.ndarray:
        """Return which columns vary by what was counted, shape (d,); a column that was refused may."""
        products = self.statistics.cross_products
        if products is not None:
            place = {name: at for at, name in enumerate(self.statistics.agreement.names)}
            return products.products.diagonal()[[place[name] for name in self.names]] != 0.0
        tables = self.statistics.counted_each([(name,) for name in self.names])
        return np.array([table is None or np.count_nonzero(table) > 1 for table in tables], dtype=bool)

    def select(self, keys: Iterable[str | int]) -> SummedTable:
        """Return the table of the given columns."""
        return SummedTable(self.statistics, [self.names[self.position(key)] for key in keys])

    def with_column(self, column: Column) -> SummedTable:
        """Return the table with one more column of the same statistics at the end."""
        return SummedTable(self.statistics, [*self.names, column.name])

    def take(self, rows: np.ndarray) -> Table:
        """Raise `RowsNeeded`: there are no rows to take."""
        raise NoCells._refusal()
