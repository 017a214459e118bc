"""Results of CI tests, and stand-ins: features that could replace a member of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from .printable import printable


class CIResult(NamedTuple):
    """The result of one test of X independent of Y given Z.

    Attributes
    ----------
    statistic : float
        Effect on the test's own scale; larger is stronger.
    p_value : float
        In 0..1, never NaN. 1.0 for an unreliable test whose rule is ``independent``.
    log_p : float
        Natural logarithm of the p-value, also where the p-value underflows to 0.
    dof : float
        Degrees of freedom, 1 for tests without.
    n : int
        Rows used.
    reliable : bool
        False if the test's sample-size rule is violated, or rounding destroyed a column.

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
    """Results for m candidates in the given order; each array has shape (m,).

    Parameters
    ----------
    statistic, p_value, log_p, dof : ndarray of float
        As in `CIResult`.
    n : ndarray of int
        Rows used.
    reliable : ndarray of bool
        As in `CIResult`.

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
        """Stack single results."""
        columns = list(zip(*rows, strict=True)) or [()] * 6
        kinds = (float, float, float, float, np.int64, bool)
        return cls(*(np.asarray(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)))

    @classmethod
    def joined(cls, parts: Sequence[CIResults]) -> CIResults:
        """Concatenate results."""
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
        """Return the results with read-only arrays."""
        for array in self.arrays:
            array.flags.writeable = False
        return self

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Arrays in the order of the ci_test artefact."""
        return self.statistic, self.p_value, self.log_p, self.dof, self.n, self.reliable

    def columns(self) -> dict[str, np.ndarray]:
        """Arrays by name."""
        return dict(zip((f.name for f in fields(self)), self.arrays, strict=True))


#: Share of a feature's information that a substitute must keep.
STANDS_IN = 0.95
#: Lower end of the interval from which a stand-in is reported, and its votes in folds count.
SURE = 0.8
#: Numbers of sets, and of features of each, that are named.
MOST_SETS, MOST_NAMED = 3, 5


class StandIn(NamedTuple):
    """A feature with most of the information of another one about the target.

    `share`, 0 to 1, is the part of the other feature's information that remains if it is replaced; at least 0.95 makes
    it a substitute. `low` and `high` are its 95 % interval.

    Examples
    --------
    >>> StandIn("temp_f", 0.97, 0.93, 1.0).is_sure, StandIn("near", 1.0, 0.3, 1.0).is_sure
    (True, False)
    """

    feature: str
    share: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether it can replace the other feature, also at the lower end of the interval."""
        return self.share >= STANDS_IN and self.low >= SURE


def in_words(rows: Sequence[StandIn], most: int = MOST_NAMED) -> str:
    """Return stand-ins as text, with shares and intervals, and the number of others.

    >>> in_words([StandIn("temp_f", 0.97, 0.93, 1.0), StandIn("near", 0.9, 0.8, 0.95)], 1)
    'temp_f 0.97 (0.93 to 1.00) and 1 more'
    """
    shown = [f"{printable(row.feature)} {row.share:.2f} ({row.low:.2f} to {row.high:.2f})" for row in rows[:most]]
    return ", ".join(shown) + (f" and {len(rows) - most} more" if len(rows) > most else "")


def one_is_enough(stand_ins: Mapping[str, Sequence[StandIn]]) -> str:
    """Return, by member, a text that lists the features of which one is enough; empty if there are none.

    >>> copies = {"temp_c": [StandIn("temp_f", 1.0, 1.0, 1.0)], "b": [StandIn("c", 0.9, 0.8, 0.94)]}
    >>> one_is_enough(copies)
    'One of temp_c and temp_f is enough.'
    >>> more = {"a": [StandIn(f"a{i}", 1.0, 1.0, 1.0) for i in range(9)], **copies}
    >>> one_is_enough(more)
    'One of a, a0, a1, a2, a3 and 5 more is enough. One of temp_c and temp_f is enough.'
    """
    sets: list[list[str]] = []
    for member, rows in stand_ins.items():
        names = [member, *(row.feature for row in rows if row.is_sure)]
        if len(names) > 1 and not any(set(names) <= set(others) for others in sets):
            sets.append(names)
    said = [f"One of {_listed(names)} is enough." for names in sets[:MOST_SETS]]
    more = len(sets) - MOST_SETS
    return " ".join([*said, *([f"So it is with {more} more of the features kept."] if more > 0 else [])])


def _listed(names: Sequence[str]) -> str:
    shown = list(map(printable, names[:MOST_NAMED]))
    *first, last = [*shown, *([f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else [])]
    return f"{', '.join(first)} and {last}"
