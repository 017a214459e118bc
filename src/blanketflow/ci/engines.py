"""Interfaces of engines: a CI test prepares one engine per table, which computes results by column position.

Results of engines from outside the package are checked before use (`CheckedEngine`). Besides `evaluate`, an engine may
have these methods, which are used if they exist:

- `evaluate_sets`, if the card has `column_sets` (`SetEngine`);
- `evaluate_pair(x, y, given)`, which tests two sets of columns as joint variables, in results of one row;
- `marginal_differences(candidates, target, first_repeat=0)` and `judge(differences)`, for tests of one risk difference
  per repeat. The former returns marginal differences of the repeats from `first_repeat` on, (m, B - first_repeat),
  which depend only on the seed and the repeat's number. The latter returns the marginal results from all B, (m, B);
- `backward_elimination(members, target)`, which makes testing each member given the others cheap. It returns an object
  with `test(column)`, which tests a member given the others, and `drop(column)`, which removes one;
- `information(candidates, target, given)` and `entropy(candidates, given)`, which return I(X;Y|Z) and H(X, Z) in nats
  for each candidate, without p-values;
- `chance(candidates, target, given)`, the `information` expected of independent columns (`Chance`), and
  `information_and_chance`, which returns both;
- `n_levels(column)`, `n_cells(columns)` and `most_reliable_cells`, for a test that counts cells of tables;
- `samples_per_cell(columns)` and `n_complete(columns)`, where rows with missing cells are left out;
- `rows_needed(x, target, given)`, the number of rows for a reliable test of a column or a set of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core.cards import Card
from ..core.errors import ParameterError, UnsupportedError, WrongAnswerError, shown
from ..core.results import CIResults
from ..core.table import Table

#: A set of columns, by name or position.
Columns = list[str | int] | tuple[str | int, ...] | set[str | int] | frozenset[str | int]
#: A column's position, or the ascending positions of a set of columns.
Candidate = int | tuple[int, ...]


class Engine(Protocol):
    """Computes results for one table by column position; a CI test prepares it once.

    If the engine has an attribute `takes_arrays`, queries for all features pass an array of positions instead of a
    list.

    Examples
    --------
    >>> class NeverDependent:
    ...     def evaluate(self, candidates, target, given):
    ...         return constant_results(len(candidates), n_rows=100)
    >>> from blanketflow.plugins import constant_results
    >>> NeverDependent().evaluate([0, 1], 2, ()).p_value.tolist()
    [1.0, 1.0]
    """

    def evaluate(self, candidates: Sequence[int] | np.ndarray, target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate against the target given the same conditioning set.

        Parameters
        ----------
        candidates : sequence of int, m of them
            Positions of columns, none of which is the target or in `given`.
        target : int
            Position of the other column.
        given : tuple of int
            Positions of the conditioning set, ascending.

        Returns
        -------
        CIResults
            Arrays of shape (m,), in the order of the candidates.

        Examples
        --------
        >>> import numpy as np
        >>> from blanketflow.ci import get_ci_test
        >>> bound = get_ci_test("fisher-z").bind(np.random.default_rng(0).normal(size=(50, 3)))
        >>> bound.engine.evaluate([0, 1], 2, ()).p_value.shape
        (2,)
        """
        ...


class SetEngine(Engine, Protocol):
    """The engine of a test whose card has `column_sets`."""

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of two or more columns (ascending positions) as one joint variable."""
        ...


def columns_of(candidate: Candidate) -> tuple[int, ...]:
    """Return the positions of a column or a set of columns."""
    return candidate if isinstance(candidate, tuple) else (candidate,)


def constant_results(n_candidates: int, n_rows: int) -> CIResults:
    """Return results without anything to compare: statistic 0, p = 1, no degrees of freedom."""
    zeros = np.zeros(n_candidates)
    return CIResults(
        zeros, zeros + 1.0, zeros.copy(), zeros.copy(), np.full(n_candidates, n_rows), np.ones(n_candidates, dtype=bool)
    )


class Counts(Protocol):
    """Contingency tables or sums of products in place of rows, counted before or on demand."""

    @property
    def n_rows(self) -> int:
        """Number of counted rows."""
        ...

    @property
    def cross_products(self) -> Any:
        """Means and sums of products; None if tables are counted."""
        ...

    def counted_each(self, sets: Sequence[tuple[str, ...]]) -> list[np.ndarray | None]:
        """Return the table of each set of columns, with axes in the order of the query; None where there is none."""
        ...

    def in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return distinct columns in the order of the agreement."""
        ...


class CheckedEngine:
    """Checks the results of another engine, and raises `WrongAnswerError` if they are invalid."""

    #: Results of single tests are checked too.
    evaluate_one = None

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine, self._name = engine, name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._engine, name)

    def evaluate(self, candidates: Sequence[int] | np.ndarray, target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate against the target given the same conditioning set."""
        return self._checked(self._engine.evaluate(candidates, target, given), len(candidates))

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test sets of columns."""
        return self._checked(self._engine.evaluate_sets(candidates, target, given), len(candidates))

    def judge(self, differences: np.ndarray) -> CIResults:
        """Return the results for the differences of all repeats."""
        return self._checked(self._engine.judge(differences), len(differences))

    def _checked(self, results: Any, n: int) -> CIResults:
        if not isinstance(results, CIResults):
            raise WrongAnswerError(f"CI test {self._name} returned {shown(results)}, but must return CIResults")
        for name, values in results.columns().items():
            if not isinstance(values, np.ndarray) or values.shape != (n,) or values.dtype.kind not in "biuf":
                found = f"shape {values.shape} of {values.dtype}" if isinstance(values, np.ndarray) else shown(values)
                raise WrongAnswerError(
                    f"CI test {self._name} returned {name} as {found}, but must return {n} numbers in an array"
                )
            if np.isnan(values).any():
                raise WrongAnswerError(f"CI test {self._name} returned {name} nan")
        outside = (results.p_value < 0) | (results.p_value > 1)
        if outside.any():
            first = results.p_value[outside][0]
            raise WrongAnswerError(f"CI test {self._name} returned the p-value {first:g}, which is not between 0 and 1")
        if (results.log_p > 0).any():
            first = results.log_p[results.log_p > 0][0]
            raise WrongAnswerError(f"CI test {self._name} returned log_p {first:g}, which is above 0")
        return results


def candidates_of(table: Table, xs: Iterable[str | int | Columns], card: Card) -> list[Candidate]:
    """Return the position of each column, and the ascending positions of each set.

    Raises `ParameterError` for an empty set, and `UnsupportedError` for sets if the card does not have `column_sets`.
    """
    if are_positions(xs):
        return in_range(table, xs).tolist()
    xs = list(xs)
    kinds = set(map(type, xs))
    if kinds <= {int, str}:  # the usual case, and the fast one
        return table.places(xs)
    if kinds == {tuple} and card.column_sets and len(size := set(map(len, xs))) == 1 and min(size) > 1:
        positions = np.sort(np.reshape(table.places([*chain(*xs)]), (-1, *size)))
        if np.diff(positions).all():  # of columns that are different, as the many sets of a search are
            return [*map(tuple, positions.tolist())]
    return [candidate_of(table, x, card) for x in xs]


def candidate_of(table: Table, x: str | int | Columns, card: Card) -> Candidate:
    """Return the position of a column, or the positions of a set."""
    if type(x) is int or type(x) is str or not isinstance(x, list | tuple | set | frozenset):
        return table.position(x)
    positions = tuple(sorted({table.position(column) for column in x}))
    if not positions:
        raise ParameterError("a test needs at least one column as X, but the set is empty.")
    if len(positions) > 1 and not card.column_sets:
        raise UnsupportedError(
            f"{card.id} tests one column at a time, not a set. Tests for sets have column_sets in "
            "blanketflow.list_ci_tests()."
        )
    return positions if len(positions) > 1 else positions[0]


def are_positions(xs: object) -> bool:
    """Return whether columns are given by an array of positions."""
    return isinstance(xs, np.ndarray) and xs.dtype.kind == "i"


def in_range(table: Table, positions: np.ndarray) -> np.ndarray:
    """Return the positions after checking that the table has all of them."""
    if len(positions) and not 0 <= positions.min() <= positions.max() < len(table):
        table.position(int(positions.min() if positions.min() < 0 else positions.max()))  # which raises
    return positions


class Chance(NamedTuple):
    """Mutual information of independent columns with the same counts, in nats: mean and standard deviation, (m,).

    The mean is exact over all permutations of one column within the strata. The standard deviation is that of a
    chi-square distribution with this mean, the large-sample law of G2.
    """

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, mean: np.ndarray, dof: np.ndarray) -> Chance:
        """Return an instance from the mean and the degrees of freedom.

        >>> Chance.of(np.array([0.1, 0.0]), np.array([8, 0])).deviation
        array([0.05, 0.  ])
        """
        return cls(mean, mean * np.sqrt(2.0 / np.maximum(dof, 1.0)))

    @classmethod
    def none(cls, m: int) -> Chance:
        """Return zeros, for estimates that are not computed from counts."""
        return cls(np.zeros(m), np.zeros(m))

    @classmethod
    def joined(cls, parts: Sequence[Chance]) -> Chance:
        """Concatenate instances for consecutive columns."""
        return cls(*map(np.concatenate, zip(*parts, strict=True))) if parts else cls.none(0)

    def taken_from(self, information: np.ndarray, deviations: float) -> np.ndarray:
        """Return estimates minus the mean and some standard deviations."""
        return information - self.mean - deviations * self.deviation
