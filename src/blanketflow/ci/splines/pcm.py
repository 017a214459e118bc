"""The projected covariance measure: does a function of X and Z, learned on other rows, predict Y better than Z does?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...core.cards import IMPUTATIONS, PAIRWISE, RESAMPLED, Card
from ...core.parameters import integer
from ...core.results import CIResult, CIResults
from ...core.seeds import derive_rng
from ...core.table import Table
from ..base import CITest
from ..joint_engine import JointEngine
from ..linear.regressions import rounded_away
from ..pooling import pooled_p_values
from ..tails import student_t_greater
from .spline import LEAST_FREE, leverages
from .spline_given import IN_PRODUCTS, ROUNDING, GivenFunctions, without
from .spline_screen import SampledRows, SplineScreen, rows_needed

#: Ridge penalties that are tried, as multiples of the mean squared length of the functions.
PENALTIES = np.logspace(-3, 2, 16)
#: Estimated variances below this share of their mean are raised to it, and those above its inverse lowered.
LEAST_VARIANCE = 0.25


@dataclass
class PCM(CITest):
    """Projected covariance measure: does a function of X and Z, learned on half of the rows, tell of Y on the others?

    On one half of the rows, what splines of Z leave of Y is regressed on functions of X, and on products of these with
    functions of each given column, by ridge regression with the penalty of generalised cross-validation. Divided by the
    estimated variance of Y given X and Z, this is the function f. On the other half, f and Y are regressed on splines
    of Z as in ``gcm``, and the products of their leave-one-out residuals are averaged: T = sqrt(n) mean / sd, which is
    large if X helps to predict Y, in whatever form f has found. The test is one-sided.

    `n_splits` random halves are drawn, and `statistic` is the mean of T over them. Compared with Student's t, it is
    conservative, and varies less. A target of r levels has r - 1 residuals and as many functions, whose products are
    added up, and so are those of several columns as Y.

    Two flags with a small cell, given nothing, are tested by Fisher's exact test. A column that is a function of Z is
    independent. A test is unreliable if the splines leave at most eight rows of a half, or if rounding has destroyed a
    column.

    Notes
    -----
    Unlike ``gcm`` it finds what makes no covariance, such as Y = X² + noise, and X XOR Z. For this it gives up half of
    the rows, so linear relations need twice as many. Dependence of the variance of Y on X is not found.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> z, x = rng.normal(size=(2, 500))
    >>> X = pd.DataFrame({"y": z**2 + x**2 + rng.normal(size=500), "z": z, "x": x, "w": z**2 + rng.normal(size=500)})
    >>> test = PCM().bind(X)
    >>> bool(test.test("x", "y", ["z"]).p_value < 1e-3), bool(test.test("w", "y", ["z"]).p_value > 0.05)
    (True, True)
    """

    card: ClassVar[Card] = Card(
        id="pcm",
        name="projected covariance measure (PCM)",
        family="ci-test",
        summary="Covariance, given Z, of Y with a function of X and Z that is learned on other rows.",
        reference="Lundborg, Kim, Shah, Samworth (2024) The projected covariance measure for assumption-lean variable "
        "significance testing, Annals of Statistics 52(6), 2851-2878, doi:10.1214/24-AOS2447.",
        guarantee="p-values right in large samples if the product of the errors of both regressions on Z vanishes "
        "faster than 1 / sqrt(n), and too large on average over several splits; finds what changes the mean of Y",
        p_values=RESAMPLED,
        cost="per split a regression of each candidate's function on Z, and one of Y: O(n |Z|^2)",
        takes_max_rows=True,
        measures=("p-value",),
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
    )

    n_splits: int = integer(6, "Random halves of the rows over which T is averaged.", at_least=1)

    def prepare(self, table: Table, seed: int, target: int | None) -> _PCMEngine:
        """Return the engine; `seed` fixes the halves."""
        return _PCMEngine(self, table, seed)

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return results pooled by their p-values."""
        return pooled_p_values(copies)

    def doubts(self, table: Table, target: str, results: CIResults) -> str:
        """Return which columns rounding has destroyed."""
        return rounded_away(table, target, results)


class _PCMEngine(JointEngine):
    def __init__(self, test: PCM, table: Table, seed: int) -> None:
        super().__init__(table)
        self._test, self._seed = test, seed

    @cached_property
    def _screen(self) -> SplineScreen:
        return SplineScreen(self._table, straight_share=1.0)

    @cached_property
    def _halves(self) -> list[tuple[SampledRows, SampledRows]]:
        n, rng = self._table.n_rows, derive_rng(self._seed, "halves")
        orders = [rng.permutation(n) for _ in range(self._test.n_splits)]
        parts = [(np.sort(order[: n // 2]), np.sort(order[n // 2 :])) for order in orders]
        return [(SampledRows(self._screen, learn), SampledRows(self._screen, rest)) for learn, rest in parts]

    def each(
        self, candidates: Sequence[tuple[int, ...]], targets: tuple[int, ...], given: tuple[int, ...]
    ) -> CIResults:
        """Test each set of columns with the targets, as one joint variable."""
        n = self._table.n_rows
        given = tuple(sorted(given, key=lambda at: self._table.names[at]))  # cuts are tried column by column
        halves = [_Half(self._screen, learn, rest, targets, given) for learn, rest in self._halves]
        n_left = n - n // 2 - 1 - max(half.rank for half in halves)
        answers = []
        for columns in candidates:
            if n_left <= rows_needed(1) or any(map(self._is_rounded, (*columns, *targets, *given))):
                answers.append(CIResult(0.0, 1.0, 0.0, 0.0, n, False))
                continue
            design, scales = self._design(columns, given), self._functions((*columns, *given))
            found = [half.t(design, scales) for half in halves] if len(design) else [None]
            t = np.array([one for one in found if one is not None])
            if not len(t):  # X or Y is a function of Z
                answers.append(CIResult(0.0, 1.0, 0.0, 0.0, n, True))
                continue
            p_value, log_p = student_t_greater(t.mean(keepdims=True), n - n // 2 - 1.0)
            answers.append(CIResult(float(t.mean()), float(p_value[0]), float(log_p[0]), 1.0, n, True))
        return CIResults.from_rows(answers)

    def _design(self, columns: tuple[int, ...], given: tuple[int, ...]) -> np.ndarray:
        """Return functions of X, and their products with those of each given column, (p, n), the roughest smallest."""
        found = []
        for column in columns:
            side = self._screen.side(column)
            found += [one / (1 + (0 if self._screen.is_label[column] else order)) for order, one in enumerate(side)]
            for other in given:
                few = self._screen.functions(other, self._few(other))
                for order, one in enumerate(side[: self._few(column)]):
                    both = one * few * np.sqrt(self._table.n_rows)
                    of_other = 0 if self._screen.is_label[other] else np.arange(len(few))[:, np.newaxis]
                    of_column = 0 if self._screen.is_label[column] else order
                    found += list(both / (2 + of_column + of_other))
        return np.array(found)

    def _functions(self, columns: Sequence[int]) -> np.ndarray:
        return np.vstack([self._screen.functions(column, self._few(column)) for column in columns])

    def _few(self, column: int) -> int:
        n_functions = int(self._screen.n_functions[column])
        return n_functions if self._screen.is_label[column] else min(n_functions, IN_PRODUCTS)


class _Half:
    """Rows on which functions are learned, and the rest, on which they are tested with targets given columns."""

    def __init__(
        self,
        screen: SplineScreen,
        learn: SampledRows,
        rest: SampledRows,
        targets: tuple[int, ...],
        given: tuple[int, ...],
    ) -> None:
        self._learn, self._rest, self._has_given = learn, rest, bool(given)
        self._to_learn, self._to_test = (GivenFunctions(screen, given, rows) for rows in (learn, rest))
        self.rank = max(len(self._to_learn.basis), len(self._to_test.basis))
        sizes = [int(screen.n_straight[target]) for target in targets]
        y_to_learn, y_to_test = (
            np.vstack([rows.functions(*of) for of in zip(targets, sizes, strict=True)]) for rows in (learn, rest)
        )
        self._y = _left(self._to_learn, y_to_learn, self._has_given)
        self._y_to_test = _left(self._to_test, y_to_test, self._has_given)

    def t(self, design: np.ndarray, scales: np.ndarray) -> float | None:
        """Return the statistic of the function that is learned on functions of X and Z, (p, n); None without one.

        `scales`, (q, n), are functions on which the variance of what is left is regressed.
        """
        if self._y is None or self._y_to_test is None:
            return None
        of_variance = self._learn.picked(scales), self._rest.picked(scales)
        both = self._learn.picked(design), self._rest.picked(design)
        told = _learned(both[0], self._to_learn.basis, self._y[0], both[1], of_variance)
        told -= told.mean(axis=1, keepdims=True)
        size = np.sqrt((told * told).sum(axis=1).max(initial=0.0))
        if not size > 0.0:
            return None
        found = _left(self._to_test, told / size, self._has_given)
        if found is None:
            return None
        left, (of_y, without_row) = found[0], self._y_to_test
        spread = float(np.sum(np.sum(left * without_row, axis=0) ** 2))
        return float(np.sum(left * of_y)) / np.sqrt(spread) if spread > 0.0 else None


def _left(given: GivenFunctions, functions: np.ndarray, has_given: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the residuals of functions on given columns, (m, n), and leave-one-out ones; None for functions of Z."""
    before = left = given.left(functions)
    more = left[:0]
    if has_given:
        more = given.more(given.first(left), more, given.powers(functions)).added
        left = without(left, more)
    if np.vecdot(left, left).max(initial=0.0) <= ROUNDING or given.is_nothing(before, left):
        return None
    return left, left / np.maximum(1.0 - given.leverage - leverages(more), LEAST_FREE)


def _learned(
    design: np.ndarray, basis: np.ndarray, y: np.ndarray, elsewhere: np.ndarray, scales: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return on other rows, (m, n'), what a design, (p, n), tells of y, (m, n), over the variance that it leaves.

    The design is also adjusted for the given columns' basis, (rank, n). `scales` are functions, on these rows and on
    the others, that the variance is regressed on.
    """
    left = without(design, basis)
    slopes = _ridge(left, y)
    squares = np.sum((y - slopes.T @ left) ** 2, axis=0)
    mean, (here, there) = squares.mean(), scales
    variances = mean + (_ridge(here, (squares - mean)[np.newaxis]).T @ there)[0]
    known = slopes.T @ design
    told = np.clip(slopes.T @ elsewhere, known.min(axis=1, keepdims=True), known.max(axis=1, keepdims=True))
    return told / np.clip(variances / (mean or 1.0), LEAST_VARIANCE, 1.0 / LEAST_VARIANCE)


def _ridge(design: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the slopes, (p, m), of y, (m, n), on a design, (p, n), with the penalty that GCV prefers."""
    n = design.shape[1]
    variances, axes = np.linalg.eigh(design @ design.T)
    variances = np.maximum(variances, 0.0)
    shared = axes.T @ (design @ y.T)
    penalties = PENALTIES * (variances.mean() or 1.0)
    inverses = 1.0 / (variances[:, np.newaxis] + penalties)
    kept, told = variances[:, np.newaxis] * inverses, (shared * shared).sum(axis=1)
    losses = np.sum(y * y) - told @ (inverses * (2.0 - kept))
    best = int(np.argmin(losses / (1.0 - kept.sum(axis=0) / n) ** 2))
    return axes @ (inverses[:, best : best + 1] * shared)
