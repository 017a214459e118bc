"""Likelihood-ratio tests of targets of further kinds, such as survival; other columns have the ordinary tests."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, NamedTuple, cast

import numpy as np

from ..core.column import Column, MatrixColumns, TargetColumn, WideColumns
from ..core.errors import UnsupportedError
from ..core.numerics import COLLINEAR, is_rounded_away, orthonormal_basis, residuals, standardised
from ..core.results import CIResult, CIResults
from ..core.table import Table
from ..targets import PER_PARAMETER, NullModel, get_target_kind
from .engines import Candidate, Engine, columns_of, constant_results
from .tails import chi2_tail

#: Events or rows per parameter of a reliable regression, unless a test has an option for it.
ROWS_PER_PARAMETER = float(PER_PARAMETER)
#: Numbers that are tested together.
TOGETHER = 500
#: Null models kept, of the most recent sets of given columns.
KEPT = 16


class Part(NamedTuple):
    """Functions of a tested column, (q, n), and their share of alpha."""

    functions: np.ndarray
    share: float


class Null(NamedTuple):
    """The null model given some columns, and an orthonormal basis, (rank, n), of their functions."""

    model: NullModel
    basis: np.ndarray


def ratios_of_each(model: NullModel, added: np.ndarray) -> np.ndarray:
    """Return twice the log likelihood gained by each row of `added`, (m, n), by itself."""
    at_once = getattr(model, "likelihood_ratios", None)
    if at_once is not None:
        return at_once(added)
    return np.array([max(model.likelihood_ratio(row[np.newaxis]), 0.0) for row in added])


def target_of_kind(table: Table) -> int | None:
    """Return the position of a target of a further kind, or None. There is at most one."""
    if not table.has_rows:
        return None
    columns, n = table.columns, len(table)
    singles = columns.more if isinstance(columns, WideColumns) else columns
    return next((n - len(singles) + i for i, c in enumerate(singles) if isinstance(c, TargetColumn)), None)


class TargetRegressions(ABC):
    """Tests a target of a further kind by adding functions of a column to its regression on functions of others.

    The regression is that of the kind of the target (`targets/`): Cox for survival, Poisson or negative binomial for
    counts, and so on; the statistic is twice the gain of the log likelihood, compared with chi-square. The target is
    always the response, so that tests are symmetric. Given other columns' tests, the target is replaced by its
    covariates.

    Parameters
    ----------
    table : Table
        The columns, of which the one at position `at` is a `TargetColumn`.
    prepare : callable
        Returns the ordinary engine of a table.
    rows_per_parameter : float
        A test with a smaller size (events of survival, else rows) per parameter is unreliable.
    unreliable : str
        Rule for unreliable tests: ``use`` fits them too.
    """

    #: Whether a number enters regressions as itself, so that many are tested at once.
    has_plain_numbers: ClassVar[bool] = False

    def __init__(
        self,
        table: Table,
        at: int,
        prepare: Callable[[Table], Engine],
        rows_per_parameter: float,
        unreliable: str,
    ) -> None:
        self.table, self.at, self.n_rows = table, at, table.n_rows
        self._rows_per_parameter, self._uses_unreliable = rows_per_parameter, unreliable == "use"
        if table.design is not None and table.design.weights is not None:
            raise UnsupportedError(
                f"tests of {cast(TargetColumn, table[at]).target_kind} targets take rows as equal, and know no "
                "sampling weights. Remove the weights, or repeat rows by their counts."
            )
        self.target = cast(TargetColumn, table[at])
        self.kind = get_target_kind(self.target.target_kind)
        self._prepare = prepare
        self._nulls: dict[tuple[int, ...], Null] = {}

    @property
    def size(self) -> float:
        """What bounds the number of parameters: events of a survival target, else rows."""
        return self._null(()).model.size

    @abstractmethod
    def functions_of_each(self, given: tuple[int, ...]) -> list[np.ndarray]:
        """Return the functions of each given column, (k, n), with mean 0 and length 1; those of a part come first."""

    def given_functions(self, given: tuple[int, ...]) -> np.ndarray:
        """Return the functions of all given columns, (k, n)."""
        return np.vstack([np.zeros((0, self.n_rows)), *self.functions_of_each(given)])

    def doubts(self, members: Sequence[int], beside: Sequence[int] = ()) -> list[str]:
        """Return in words which assumptions on members fail in their regression; none without enough rows.

        Columns `beside` them, such as strata, are in the regression, too.
        """
        functions = self.functions_of_each((*members, *beside))
        ends = np.cumsum([0, *map(len, functions)])
        tested = {
            self.table[column].name: np.arange(start, start + len(self.parts((column,))[0].functions))
            for column, start in zip(members, ends, strict=False)
        }
        model = self._null(()).model
        if not members or model.size < ROWS_PER_PARAMETER * (model.n_own + int(ends[-1]) + 1):
            return []
        return self.kind.doubts(self.target, np.sqrt(self.n_rows) * np.vstack(functions), tested)

    @abstractmethod
    def parts(self, columns: tuple[int, ...]) -> list[Part]:
        """Return the parts of a test of some columns, functions with mean 0 and length 1."""

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate with the target given some columns."""
        return self._each([(int(candidate),) for candidate in candidates], target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test sets of columns."""
        return self._each(list(candidates), target, given)

    def evaluate_pair(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        """Test two sets of columns with each other."""
        if self.at in (*x, *y):
            one, other = (y, x) if y == (self.at,) else (x, y)
            return self._each([other], one[0], given)
        return self._ordinary.evaluate_pair(x, y, self._covariates_for(given))  # type: ignore[attr-defined]

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int | None:
        """Return how many rows make a test reliable, if as many of them have an event."""
        columns = (*columns_of(x), target)
        if self.at not in columns:
            needed = getattr(self._ordinary, "rows_needed", None)
            return None if needed is None else needed(x, target, self._covariates_for(given))
        null = self._null(given)
        tested = tuple(column for column in columns if column != self.at)
        n = null.model.n_own + len(null.basis) + sum(len(part.functions) for part in self.parts(tested))
        return math.ceil(self._rows_per_parameter * n * self.n_rows / max(null.model.size, 1.0))

    def _each(self, candidates: list[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        if target == self.at:
            return self._of_target(candidates, given)
        own = [i for i, columns in enumerate(candidates) if self.at in columns]
        others = [i for i in range(len(candidates)) if i not in set(own)]
        found = [self._tested((target,), given) for _ in own]
        results = CIResults.from_rows(found) if found else constant_results(0, self.n_rows)
        if not others:
            return results
        asked = [candidates[i] for i in others]
        conditions = self._covariates_for(given)
        if all(len(columns) == 1 for columns in asked):
            ordinary = self._ordinary.evaluate([columns[0] for columns in asked], target, conditions)
        else:
            ordinary = self._ordinary.evaluate_sets(asked, target, conditions)  # type: ignore[attr-defined]
        return CIResults.joined([results, ordinary]).take(np.argsort([*own, *others])) if own else ordinary

    def _of_target(self, candidates: list[tuple[int, ...]], given: tuple[int, ...]) -> CIResults:
        """Return the tests of the target with some columns each: single numbers together, where that is faster."""
        plain, others = [], list(range(len(candidates)))
        if self.has_plain_numbers and len(candidates) > 1:
            is_plain = [len(columns) == 1 and not self.table[columns[0]].is_discrete for columns in candidates]
            plain, others = (np.flatnonzero(np.equal(is_plain, each)).tolist() for each in (True, False))
        found = [CIResults.from_rows([self._tested(candidates[i], given) for i in others])]
        for start in range(0, len(plain), TOGETHER):
            found.append(self._tested_numbers([candidates[i][0] for i in plain[start : start + TOGETHER]], given))
        return CIResults.joined(found).take(np.argsort([*others, *plain]))

    def _tested_numbers(self, columns: list[int], given: tuple[int, ...]) -> CIResults:
        """Return what `_tested` does for each of some numbers."""
        null, m = self._null(given), len(columns)
        numbers = self._numbers(columns)
        functions = standardised(numbers)
        is_lost = ~functions.any(axis=1) & (numbers.min(axis=1) < numbers.max(axis=1))
        functions = residuals(functions, null.basis)
        lengths = np.vecdot(functions, functions)
        adds = (lengths > COLLINEAR) & ~is_lost
        reliable, fitted = (enough & ~is_lost for enough in self._enough(null, adds))
        fitted &= adds
        statistic, dof = np.zeros(m), fitted.astype(np.float64)
        p_value, log_p = np.ones(m), np.zeros(m)
        added = functions[fitted] * np.sqrt(self.n_rows / lengths[fitted])[:, np.newaxis]
        statistic[fitted] = ratios_of_each(null.model, added)
        p_value[fitted], log_p[fitted] = self._tails(null, added[:, np.newaxis], statistic[fitted], dof[fitted])
        return CIResults(statistic, p_value, log_p, dof, np.full(m, self.n_rows), reliable)

    def _enough(self, null: Null, n_added: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return whether tests of `n_added` functions each are reliable, and whether they are made."""
        size, n_parameters = null.model.size, null.model.n_own + len(null.basis) + n_added
        is_possible = size > n_parameters
        reliable = is_possible & (size >= self._rows_per_parameter * n_parameters)
        return reliable, reliable | (is_possible & self._uses_unreliable)

    def _tails(
        self, null: Null, added: Sequence[np.ndarray], statistic: np.ndarray, dof: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return p and log p, (m,) both, of tests of `added` functions, (q, n) each, with variance 1."""
        return chi2_tail(statistic, dof)

    def _numbers(self, columns: list[int]) -> np.ndarray:
        """Return the numbers of some columns, (m, n)."""
        held = self.table.columns
        if isinstance(held, MatrixColumns) and max(columns) < len(held.names):
            return np.ascontiguousarray(held.matrix[:, columns].T, dtype=np.float64)
        return np.array([self.table[column].numbers() for column in columns])

    def _tested(self, columns: tuple[int, ...], given: tuple[int, ...]) -> CIResult:
        """Return the test of the target with some columns: the most significant part, corrected for their number."""
        if any(is_rounded_away(self.table[column]) for column in columns):
            return CIResult(0.0, 1.0, 0.0, 0.0, self.n_rows, False)
        null = self._null(given)
        parts, known = [], null.basis
        for functions, share in self.parts(columns):
            added = orthonormal_basis(residuals(functions, known))
            if len(added):
                parts.append(Part(added, share))
                known = np.vstack([known, added])
        is_reliable, is_made = map(bool, self._enough(null, np.array(len(known) - len(null.basis))))
        if not parts or not is_made:
            return CIResult(0.0, 1.0, 0.0, 0.0, self.n_rows, is_reliable)
        return self._combined(parts, null, is_reliable)

    def _combined(self, parts: Sequence[Part], null: Null, is_reliable: bool) -> CIResult:
        """Return one result of nested parts: with t the least p / share, p = 1 - product of (1 - share t)."""
        gained, before = [], 0.0
        added = [np.sqrt(self.n_rows) * part.functions for part in parts]
        for n_parts in range(1, len(parts) + 1):
            so_far = max(null.model.likelihood_ratio(np.vstack(added[:n_parts])), before)
            gained.append(so_far - before)
            before = so_far
        statistic, dof = np.array(gained), np.array([float(len(part.functions)) for part in parts])
        p_value, log_p = self._tails(null, added, statistic, dof)
        if len(parts) == 1:
            return CIResult(statistic[0], p_value[0], log_p[0], dof[0], self.n_rows, is_reliable)
        shares = np.array([part.share for part in parts]) / sum(part.share for part in parts)
        decides = int(np.argmin(log_p - np.log(shares)))
        log_t = min(float((log_p - np.log(shares))[decides]), -math.log(float(shares.max())))
        # 1 - (1 - a t)(1 - b t) = t (a + b - a b t), so that t may underflow
        t = math.exp(log_t)
        first, second = shares
        log_p_of_all = min(log_t + math.log(first + second - first * second * t), 0.0)
        return CIResult(
            statistic[decides], math.exp(log_p_of_all), log_p_of_all, dof[decides], self.n_rows, is_reliable
        )

    def _null(self, given: tuple[int, ...]) -> Null:
        found = self._nulls.pop(given, None)
        if found is None:
            basis = orthonormal_basis(self.given_functions(given)) if given else np.empty((0, self.n_rows))
            found = Null(self.kind.null_model(self.target, np.sqrt(self.n_rows) * basis), basis)
        self._nulls[given] = found
        if len(self._nulls) > KEPT:
            del self._nulls[next(iter(self._nulls))]
        return found

    @cached_property
    def _covariates(self) -> list[Column]:
        """The target's covariates, the first one with its name."""
        found, taken = [], {*self.table.names}
        for number, column in enumerate(self.kind.covariates(self.target)):
            name = f"{self.target.name} ({number})" if number else self.target.name
            while number and name in taken:
                name += "_"
            found.append(replace(column, name=name))
        return found

    @cached_property
    def _ordinary(self) -> Engine:
        """The ordinary engine of a table with the covariates: the first at the target's position, others at the end."""
        columns, (first, *others) = self.table.columns, self._covariates
        if isinstance(columns, WideColumns):
            more = [first if isinstance(column, TargetColumn) else column for column in columns.more]
            return self._prepare(Table(replace(columns, more=(*more, *others)), self.table.design))
        singles = [first if isinstance(column, TargetColumn) else column for column in columns]
        return self._prepare(Table([*singles, *others], self.table.design))

    def _covariates_for(self, given: tuple[int, ...]) -> tuple[int, ...]:
        if self.at not in given:
            return given
        return (*given, *range(len(self.table), len(self.table) + len(self._covariates) - 1))
