"""The one result type of every CI test and dependence measure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np


class CIResult(NamedTuple):
    """The outcome of one test of X independent of Y given Z.

    Attributes
    ----------
    statistic : float
        Effect on the test's own scale; larger is stronger.
    p_value : float
        In 0..1, never NaN. 1.0 where the test was not reliable and its rule says ``independent``.
    log_p : float
        Natural logarithm of the p-value, kept where the p-value itself underflows to 0.
    dof : float
        Degrees of freedom (1 for tests that have none).
    n : int
        Rows used.
    reliable : bool
        False when the test's own sample-size rule is violated, or rounding has destroyed a column that it is about.

    Examples
    --------
    >>> CIResult(statistic=3.0, p_value=0.05, log_p=-3.0, dof=1.0, n=100, reliable=True).p_value
    0.05
    """

    statistic: float
    p_value: float
    log_p: float
    dof: float
    n: int
    reliable: bool


@dataclass(slots=True)
class CIResults:
    """Arrays of outcomes over m candidates, in the order asked; each has shape (m,).

    Parameters
    ----------
    statistic, p_value, log_p, dof : ndarray of float
        As in `CIResult`.
    n : ndarray of int
        Rows used.
    reliable : ndarray of bool
        False where the test's own sample-size rule is violated, or rounding has destroyed a column.

    Examples
    --------
    >>> results = CIResults.from_rows([CIResult(3.0, 0.05, -3.0, 1.0, 100, True)])
    >>> len(results), results[0].n
    (1, 100)
    """

    statistic: np.ndarray
    p_value: np.ndarray
    log_p: np.ndarray
    dof: np.ndarray
    n: np.ndarray
    reliable: np.ndarray

    @classmethod
    def from_rows(cls, rows: Iterable[CIResult]) -> CIResults:
        """Stack single outcomes."""
        columns = list(zip(*rows, strict=True)) or [()] * 6
        kinds = (float, float, float, float, np.int64, bool)
        return cls(*(np.asarray(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)))

    @classmethod
    def joined(cls, parts: Sequence[CIResults]) -> CIResults:
        """Put results on neighbouring candidates one behind the other."""
        return cls(*map(np.concatenate, zip(*(part.arrays for part in parts), strict=True)))

    def take(self, positions: np.ndarray) -> CIResults:
        """Return the results at some positions."""
        return CIResults(*(values[positions] for values in self.arrays))

    def __len__(self) -> int:
        return len(self.statistic)

    def __getitem__(self, i: int) -> CIResult:
        numbers = self.statistic.item(i), self.p_value.item(i), self.log_p.item(i), self.dof.item(i)
        return CIResult(*numbers, self.n.item(i), self.reliable.item(i))

    def __iter__(self) -> Iterator[CIResult]:
        return map(CIResult, *(array.tolist() for array in self.arrays))

    def locked(self) -> CIResults:
        """Return these results with arrays that cannot be written to."""
        for array in self.arrays:
            array.flags.writeable = False
        return self

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays, in the order of the ci_test artefact."""
        return self.statistic, self.p_value, self.log_p, self.dof, self.n, self.reliable

    def columns(self) -> dict[str, np.ndarray]:
        """Return the arrays by name."""
        return dict(zip((f.name for f in fields(self)), self.arrays, strict=True))
