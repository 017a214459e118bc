"""A table known only by sufficient statistics: names, kinds and number of rows, but no cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from ..ci.engines import Counts, Engine
from ..core.cards import CATEGORICAL
from ..core.errors import RowsNeeded
from ..core.table import Column, Table
from .agreement import Agreement
from .without_rows import engine_without_rows

if TYPE_CHECKING:
    from ..ci.unbound import UnboundTest


class Statistics(Counts, Protocol):
    """Counts with an agreement, such as `SufficientStatistics`."""

    @property
    def agreement(self) -> Agreement:
        """Levels and borders of the columns."""
        ...


class NoCells:
    """Placeholder for the cells of a column without rows; any access raises an error."""

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
    """All or some of the columns of statistics, to which CI tests that need no rows are bound.

    >>> from blanketflow.counts.agreement import Agreement, Coding
    >>> from blanketflow.counts.sufficient_statistics import SufficientStatistics
    >>> both = Coding("a", "boolean", (0, 1)), Coding("t", "boolean", (0, 1))
    >>> counted = {("a", "t"): np.array([[30, 10], [10, 30]])}
    >>> table = SummedTable(SufficientStatistics(Agreement("t", both), 80, counted))
    >>> from blanketflow.ci import get_ci_test
    >>> round(float(get_ci_test("g2").bind(table).test("a", "t").statistic), 2)
    20.93
    """

    has_rows: ClassVar[bool] = False

    def __init__(
        self, statistics: Statistics, names: Iterable[str] | None = None, rows_at_hand: bool | None = None
    ) -> None:
        codings = {coding.name: coding for coding in statistics.agreement.codings}
        cells: Any = NoCells(statistics.n_rows)
        chosen = [codings[name] for name in (codings if names is None else names)]
        labels = [coding.levels if coding.kind == CATEGORICAL else () for coding in chosen]
        super().__init__(
            [Column(one.name, one.kind, cells, levels) for one, levels in zip(chosen, labels, strict=True)]
        )
        self.statistics = statistics
        self.rows_at_hand = getattr(statistics, "rows_at_hand", False) if rows_at_hand is None else rows_at_hand

    def engine_of(self, test: UnboundTest) -> Engine:
        """Return the engine of a test that needs no rows; raises `RowsNeeded` for others."""
        return engine_without_rows(test, self)

    def first_incomplete(self) -> Column | None:
        """Return None: counted cells are complete."""
        return None

    def varying(self) -> np.ndarray:
        """Return which columns vary according to the counts, shape (d,); refused columns are assumed to vary."""
        products = self.statistics.cross_products
        if products is not None:
            place = {name: at for at, name in enumerate(self.statistics.agreement.names)}
            return products.products.diagonal()[[place[name] for name in self.names]] != 0.0
        tables = self.statistics.counted_each([(name,) for name in self.names])
        return np.array([table is None or np.count_nonzero(table) > 1 for table in tables], dtype=bool)

    def select(self, keys: Iterable[str | int]) -> SummedTable:
        """Return the table of the given columns."""
        return SummedTable(self.statistics, [self.names[self.position(key)] for key in keys], self.rows_at_hand)

    def with_column(self, column: Column) -> SummedTable:
        """Return the table with one more column of the same statistics at the end."""
        return SummedTable(self.statistics, [*self.names, column.name], self.rows_at_hand)

    def take(self, rows: np.ndarray) -> Table:
        """Raise `RowsNeeded`."""
        raise NoCells._refusal()
