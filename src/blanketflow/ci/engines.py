"""The interfaces of engines: a CI test prepares one engine per table, which answers queries by column position.

The results of engines that are not ours are checked before a search uses them (`CheckedEngine`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..core.errors import WrongAnswerError, shown
from ..core.results import CIResult, CIResults

#: A set of columns, by name or position.
Columns = list[str | int] | tuple[str | int, ...] | set[str | int] | frozenset[str | int]
#: A column's position, or the ascending positions of a set of columns.
Candidate = int | tuple[int, ...]


class Engine(Protocol):
    """What a CI test prepares once per table: it answers queries by column position.

    An engine with an attribute `takes_arrays` is asked for all features at once by an array of positions, else by a
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


class ResampledEngine(Engine, Protocol):
    """The engine of a test that judges one risk difference per repeat; more repeats only append differences."""

    def marginal_differences(
        self, candidates: Sequence[int] | np.ndarray, target: int, first_repeat: int = 0
    ) -> np.ndarray:
        """Return the marginal differences of each candidate for the repeats from `first_repeat` on.

        Shape (m, B - first_repeat). The differences of a repeat depend only on the seed and the number of the repeat,
        not on how many repeats there are.
        """
        ...

    def judge(self, differences: np.ndarray) -> CIResults:
        """Return the results for the differences of all repeats, shape (m, B).

        ``judge(marginal_differences(candidates, target))`` equals `evaluate` with an empty conditioning set.
        """
        ...


class MemberTests(Protocol):
    """Tests of each member of a set given the others, while members are dropped."""

    def test(self, column: int) -> CIResult:
        """Test a member (position) given the others."""
        ...

    def drop(self, column: int) -> None:
        """Remove a member."""
        ...


class EliminationEngine(Engine, Protocol):
    """The engine of a test that keeps facts about a set, so that testing each member given the others is cheap."""

    def backward_elimination(self, members: Sequence[int], target: int) -> MemberTests:
        """Return the tests of the members of a set (ascending positions)."""
        ...


class InformationEngine(Engine, Protocol):
    """The engine of a test that computes mutual information without p-values."""

    def information(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        """Return I(X;Y|Z) in nats for each candidate (positions), shape (m,)."""
        ...

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return H(X, Z) in nats for each candidate, shape (m,)."""
        ...


class SetEngine(Engine, Protocol):
    """The engine of a test whose card has `column_sets`."""

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of two or more columns (ascending positions) as one joint variable."""
        ...


class CheckedEngine:
    """An engine that passes on the results of another engine if they are valid; else it raises `WrongAnswerError`."""

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
