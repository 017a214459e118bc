"""The columns of a wide table as a sequence: single columns are made on demand, operations on all work on arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, overload

import numpy as np

if TYPE_CHECKING:
    from .table import Column


@dataclass(frozen=True, kw_only=True)
class WideColumns(Sequence["Column"]):
    """Columns of one kind that are held together, followed by single columns.

    Parameters
    ----------
    more : tuple of Column
        Columns that follow, such as a target.
    """

    names: Sequence[str] = field(init=False)
    more: tuple[Column, ...] = ()

    @property
    @abstractmethod
    def kind(self) -> str:
        """The kind of the columns that are held together."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Length of every column."""

    @abstractmethod
    def column(self, at: int) -> Column:
        """Return one of the columns that are held together."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> Self:
        """Return all columns at some rows (distinct, any order)."""

    @abstractmethod
    def first_with_gaps(self) -> int | None:
        """Return which of the columns held together is the first with a missing or infinite cell."""

    def __len__(self) -> int:
        return len(self.names) + len(self.more)

    @overload
    def __getitem__(self, at: int) -> Column: ...

    @overload
    def __getitem__(self, at: slice) -> list[Column]: ...

    def __getitem__(self, at: int | slice) -> Column | list[Column]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        return self.column(at) if at < len(self.names) else self.more[at - len(self.names)]

    def one_of_each(self) -> Iterator[Column]:
        """Yield columns that represent all: one of the columns held together, and every single column."""
        if len(self.names):
            yield self.column(0)
        yield from self.more

    def first_incomplete(self) -> Column | None:
        """Return the first column with a missing or infinite cell."""
        at = self.first_with_gaps()
        if at is not None:
            return self[at]
        return next((column for column in self.more if column.n_missing() or column.n_infinite()), None)
