"""A test of nonlinear conditional independence: cross products of splines screen, and rows confirm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from ...core.cards import ASYMPTOTIC, IMPUTATIONS, PAIRWISE, TARGET_KINDS, Card
from ...core.parameters import number
from ...core.results import CIResults
from ...core.table import Table
from ..base import CITest
from ..engines import Engine
from ..linear.regressions import rounded_away, with_exact_tests
from ..pooling import pooled_p_values
from ..spline_functions import functions_of
from ..tails import f_greater
from ..target_regressions import ROWS_PER_PARAMETER, Part, TargetRegressions, target_of_kind
from .spline_given import ROUNDING, GivenFunctions, orthonormal_of, without
from .spline_screen import (
    CLEAR,
    KEPT_CELLS,
    OF_GIVEN,
    OF_SIDE,
    ROWS_PER_FUNCTION,
    Parts,
    Rows,
    SplineScreen,
    keep,
    rows_that_confirm,
    whitening,
)


@dataclass
class Spline(CITest):
    """Nested regressions on splines: conditional independence with nonlinear relations, for any mixture of columns.

    Each number is four functions as X or Y, itself and three nonlinear ones ("bends"), and up to eight as a given
    column (`spline_functions.py`); a label is the indicators of its levels. Given the functions of Z three parts are
    tested: the linear one, X with Y; whether bends of X predict Y further; and whether bends of Y predict X further.
    The linear part has a share of alpha, ``straight_share``, and the bends the rest, so that little power is lost for
    linear relations: with t the least p / share of the parts, p = 1 - product of (1 - share t). A label has no bends,
    and two labels, or two flags, have one part.

    *The screen* tests these parts by the F tests of nested regressions (of labels by Rao's F of Wilks' lambda), from
    cross products of all functions, summed once. It has false positives if a column's variance varies with Z, if X is a
    function of Z, and if Z acts by steps or by products. So *rows confirm* its findings: a p-value up to
    ``confirm_below`` is replaced by that of a heteroscedasticity-robust score test, given further functions of Z while
    these predict X or Y: finer splines, up to three cuts of a column, products of two columns, and powers of the fit.
    If their residuals of X or Y are only what splines cannot follow, the columns are independent.

    With at least twice as many rows, samples of 2,000 and 12,000 are tested first. A rejection at 1e-9 by a sample is
    final, with the p-value extrapolated to all rows. All rows test the rest.

    Statistic and degrees of freedom are those of the part that decides. A test is unreliable if the functions of Z
    leave at most eight rows, for two labels of r and s levels ten for each of (r - 1) (s - 1), or if rounding has
    destroyed a numeric column. A flag is one function whatever its type: 0 and 1, false and true, or no and yes. Two
    flags, given nothing, have Fisher's exact test if fewer than five rows are expected in a cell.

    A target of a further kind, such as survival, is always the response, of the same regressions as in `lr-mixed`, and
    there is no screen. The statistic is twice the gain of log likelihood. Two parts are tested, the number itself and
    its bends, with the same shares of alpha; the given numbers share one function per 40 events or rows, at least one
    each. Given other tests, the target enters by its covariates, as in `lr-mixed`. A test with fewer than ten events
    per parameter is unreliable; of other kinds, rows or counts take the place of events.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=500)
    >>> X = pd.DataFrame({"y": z**2 + rng.normal(size=500), "z": z, "x": z**2 + rng.normal(size=500)})
    >>> test = Spline().bind(X)
    >>> bool(test.test("y", "z").p_value < 1e-6), bool(test.test("y", "x", given=["z"]).p_value > 0.05)
    (True, True)
    """

    card: ClassVar[Card] = Card(
        id="spline",
        name="Nested regressions on splines",
        family="ci-test",
        summary="Regressions on splines for relations that bend, screened by cross products, confirmed on rows.",
        reference="robust scores: MacKinnon, White (1985) Some heteroskedasticity-consistent covariance matrix "
        "estimators with improved finite sample properties, Journal of Econometrics 29, 305-325, "
        "doi:10.1016/0304-4076(85)90158-7; functions: Demmler, Reinsch (1975) Oscillation matrices with spline "
        "smoothing, Numerische Mathematik 24, 375-382, doi:10.1007/BF01437407",
        guarantee="p-values right in large samples where sums of splines, cuts and products of pairs of Z hold",
        p_values=ASYMPTOTIC,
        cost="O(n) for each new pair of columns, then O(|Z|^3 + m |Z|) for m candidates given Z, with up to 8 "
        "functions of each column; O(n |Z|^2) for each one confirmed",
        symmetric=True,
        measures=("p-value",),
        tasks=TARGET_KINDS,
        incomplete=(PAIRWISE, IMPUTATIONS),
        takes_max_rows=True,
    )

    straight_share: float = number(
        0.85,
        "Share of alpha of straight relations; the rest is for bends, of X and of Y in equal parts.",
        above=0,
        below=1,
    )
    confirm_below: float = number(
        0.2,
        "Screened p-values up to this are confirmed on rows; 0 for none, which rejects too often where variances move "
        "with Z, and 1 for all.",
        at_least=0,
        at_most=1,
    )

    def prepare(self, table: Table, seed: int, target: int | None) -> SplineEngine | SplineTargetRegressions:
        """Return the engine; neither `seed` nor `target` is used."""
        if (at := target_of_kind(table)) is None:
            return SplineEngine(self, table)
        return SplineTargetRegressions(table, at, partial(SplineEngine, self), self.straight_share)

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return results pooled by their p-values."""
        return pooled_p_values(copies)

    def doubts(self, table: Table, target: str, results: CIResults) -> str:
        """Return which columns rounding has destroyed."""
        return rounded_away(table, target, results)


class SplineTargetRegressions(TargetRegressions):
    """Numbers enter regressions of a target as splines, and are tested first as they are, then by their bends."""

    def __init__(self, table: Table, at: int, prepare: Callable[[Table], Engine], straight_share: float) -> None:
        super().__init__(table, at, prepare, ROWS_PER_PARAMETER, "auto")
        self._straight_share = straight_share
        self._found: dict[int, np.ndarray] = {}

    def functions_of_each(self, given: tuple[int, ...]) -> list[np.ndarray]:
        """Return splines of given numbers, more of them for more events or rows, and indicators of labels."""
        size = int(self.size) // max(len(given), 1)
        most = min(max(size // ROWS_PER_FUNCTION, 1), OF_GIVEN)
        found = [self._functions(column) for column in given]
        return [one if self.table[at].is_discrete else one[:most] for at, one in zip(given, found, strict=True)]

    def _functions(self, column: int) -> np.ndarray:
        """Return the functions of a column, cached for the most recent ones."""
        if column not in self._found:
            functions = functions_of(self.table[column], OF_GIVEN)
            keep(self._found, column, functions, functions.size)
        return self._found[column]

    def parts(self, columns: tuple[int, ...]) -> list[Part]:
        """Return the number itself and its bends as two parts; a label, or a set of columns, is one."""
        found = [self._functions(column) for column in columns]
        found = [f if self.table[at].is_discrete else f[:OF_SIDE] for at, f in zip(columns, found, strict=True)]
        column, functions = self.table[columns[0]], found[0]
        if len(columns) > 1 or column.is_discrete or len(functions) < 2:
            return [Part(np.vstack(found), 1.0)]
        return [Part(functions[:1], self._straight_share), Part(functions[1:], 1.0 - self._straight_share)]


class SplineEngine:
    """Screens candidates by cross products, and confirms findings on rows."""

    def __init__(self, test: Spline, table: Table) -> None:
        self._test, self._table = test, table
        self._given: dict[tuple[int, tuple[int, ...]], GivenFunctions] = {}

    @cached_property
    def screen(self) -> SplineScreen:
        """The functions of all columns."""
        return SplineScreen(self._table, self._test.straight_share)

    @cached_property
    def _rows(self) -> list[Rows]:
        return rows_that_confirm(self.screen)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate with the target."""
        parts = self.screen.evaluate(candidates, target, given)
        results = parts.combined(self._table.n_rows)
        if not self._test.confirm_below:
            return results
        found = np.flatnonzero((parts.dof > 0).any(axis=0) & (results.p_value <= self._test.confirm_below))
        if not len(found):
            return results
        self._confirm(parts, found.tolist(), candidates, target, given)
        results = parts.combined(self._table.n_rows)
        return results if given else with_exact_tests(results, self._table, candidates, target)

    def _confirm(
        self, parts: Parts, found: list[int], candidates: Sequence[int], target: int, given: tuple[int, ...]
    ) -> None:
        """Replace findings of the screen by tests on rows: on a sample if it decides clearly, else on more."""
        for step in range(len(self._rows)):
            confirmation = Confirmation(self.screen, target, self._functions_of(given, step))
            unclear = []
            for at in found:
                said = confirmation.of(candidates[at], parts.shares[:, at])
                if said is None:
                    unclear.append(at)
                else:
                    parts.statistic[:, at], parts.dof[:, at], parts.log_p[:, at] = said
            found = unclear

    def _functions_of(self, given: tuple[int, ...], at_rows: int) -> GivenFunctions:
        """Return the functions of given columns on some of the confirming rows, cached for the most recent ones."""
        key = at_rows, given
        found = self._given.pop(key, None) or GivenFunctions(self.screen, given, self._rows[at_rows])
        self._given[key] = found
        while sum(one.n_cells for one in self._given.values()) > KEPT_CELLS and len(self._given) > 1:
            del self._given[next(iter(self._given))]
        return found


#: Lower bound of 1 - leverage; a variance below its share of the largest is rounding.
LEAST_FREE, LEAST_VARIANCE = 1e-3, 1e-18


class Confirmation:
    """Tests on rows of columns with one target given some columns."""

    def __init__(self, screen: SplineScreen, target: int, given: GivenFunctions) -> None:
        self._screen, self._target, self._given, self._has_given = screen, target, given, len(given.basis) > 0
        functions, self._n_y = given.side(target), int(screen.n_straight[target])
        self._y = given.left(functions)
        self._first, self._powers = given.first(self._y[: self._n_y]), given.powers(functions[: self._n_y])

    def of(self, column: int, shares: np.ndarray) -> np.ndarray | None:
        """Return statistic, degrees of freedom and log p, (3, 3), of the parts of the test of a column.

        None if these rows are a sample that does not decide clearly; `shares` are those of alpha, (3,).
        """
        left, n_rows = self._left(column), self._screen.n_rows
        are_all = self._given.n_rows == n_rows
        if left is None:
            return np.zeros((3, 3)) if are_all else None
        tests = left.tests()
        return tests.of(n_rows) if are_all or tests.are_clear(shares) else None

    def _left(self, column: int) -> Left | None:
        """Return the residuals of a column and of the target; None if either is zero."""
        given, n_x, n_y = self._given, int(self._screen.n_straight[column]), self._n_y
        functions = given.side(column)
        before, state = given.left(functions), self._first
        if self._has_given:
            powers = given.powers(functions[:n_x]) + self._powers
            state = given.more(self._first, before[:n_x], powers)
        x = without(before, state.added)
        if state.of_target is None:  # the same for all columns of which nothing more is added
            y = without(self._y, state.added)
            is_nothing = bool(self._has_given and given.is_nothing(self._y[:n_y], y[:n_y]))
            state.of_target = y, given.leverage + leverages(state.added), is_nothing
        y, leverage, is_nothing = state.of_target
        if is_nothing or (self._has_given and given.is_nothing(before[:n_x], x[:n_x])):
            return None
        n_given = len(given.basis) + len(state.added)
        return Left(np.vstack([x, y]), len(x), (n_x, n_y), leverage, n_given)


@dataclass
class Left:
    """Residuals on m rows of functions of X, then of Y, on given functions.

    `functions` is (a + b, m), with `n_x` = a of X; `n_straight` counts the linear ones of X and of Y. `leverage`, (m,),
    is the diagonal of the projection on the given functions, of rank `n_given`, and the constant.
    """

    functions: np.ndarray
    n_x: int
    n_straight: tuple[int, int]
    leverage: np.ndarray
    n_given: int

    def tests(self) -> Tests:
        """Return the tests of all parts."""
        products = self.functions @ self.functions.T
        every, n_x = np.eye(len(products)), self.n_x
        x, y = every[: self.n_straight[0]], every[n_x : n_x + self.n_straight[1]]
        bends_x, bends_y = every[self.n_straight[0] : n_x], every[n_x + self.n_straight[1] :]
        first_x, first_y = _orthonormal(x, products), _orthonormal(y, products)
        has_bends = len(bends_x) > 0 or len(bends_y) > 0
        pairs = [(first_x, first_y) if has_bends else (_of_length_1(x, products), _of_length_1(y, products))]
        for bends, first, other in ((bends_x, first_x, y), (bends_y, first_y, x)):
            by_first = first @ products
            beside, of_other = (_of_length_1(one - (one @ by_first.T) @ first, products) for one in (bends, other))
            pairs.append((beside, of_other))
        given = [first_x[:0], first_x, first_y]
        found = [
            self._robust(one, other, products, first, has_bends and not at)
            for at, ((one, other), first) in enumerate(zip(pairs, given, strict=True))
        ]
        n_given = self.n_given + np.array([*map(len, given)], dtype=float)
        squared, dof = np.transpose(found)
        return Tests(squared, dof, n_given, len(self.leverage), has_bends)

    def _robust(
        self,
        x: np.ndarray,
        y: np.ndarray,
        products: np.ndarray,
        first: np.ndarray,
        spares_power: bool,
    ) -> tuple[float, float]:
        """Return the squared score over its variance, and degrees of freedom, of combinations x, (p, a + b), and y, (q,
        a + b).

        Combinations are orthogonal to `first`, (r, a + b). The score sums products over rows; its variance is that of
        the products (HC2: MacKinnon and White 1985, doi:10.1016/0304-4076(85)90158-7), robust to heteroscedasticity.
        With `spares_power`, for the linear part unless both columns are labels or flags, it is the mean of that and of
        the variance of estimated correlations: the former counts the effect as noise, and the latter alone rejects too
        often if the given columns explain nearly all.
        """
        dof = len(x) * len(y)
        if not dof or len(self.leverage) - 1.0 - self.n_given - len(first) <= dof:
            return 0.0, 0.0
        from ...kernels.splines import variance_of_products

        covariance, variance, leverage = x @ products @ y.T, np.zeros((dof, dof)), self.leverage
        if len(first):
            leverage = leverage + leverages(first @ self.functions)
        of_rows = x @ self.functions, y @ self.functions
        variance_of_products(*of_rows, leverage, LEAST_FREE, covariance, spares_power, variance)
        if dof == 1:
            is_more = variance.item() > LEAST_VARIANCE**2
            return (float(covariance.item() ** 2 / variance.item()), 1.0) if is_more else (0.0, 0.0)
        lengths = np.sqrt(np.diagonal(variance))
        lengths = np.where(lengths > LEAST_VARIANCE, lengths, np.inf)
        along = whitening(variance / np.outer(lengths, lengths)) @ (covariance.ravel() / lengths)
        return float(along @ along), float(len(along))


@dataclass
class Tests:
    """Squared scores over their variances on m rows, of the three parts, and their degrees of freedom, (3,).

    Each part has `n_given` given functions; `spares_power` is that of the linear part.
    """

    squared: np.ndarray
    dof: np.ndarray
    n_given: np.ndarray
    n_rows: int
    spares_power: bool

    def are_clear(self, shares: np.ndarray) -> bool:
        """Whether a part rejects at `CLEAR` of its share of alpha, (3,), on these rows alone."""
        log_p = self.of(self.n_rows)[2]
        return bool(np.any(log_p[shares > 0] <= np.log(CLEAR * shares[shares > 0])))

    def of(self, n_rows: int) -> np.ndarray:
        """Return statistic, degrees of freedom and log p, (3, 3), extrapolated to a number of rows with the same
        shares.
        """
        rest, share = n_rows - 1.0 - self.n_given - self.dof, self.squared / self.n_rows
        dof = np.where(rest > 0, self.dof, 0.0)
        # Squares of products are at least those of their means, so shares are below 1 (Hotelling's T^2).
        f = share / np.maximum(1.0 - share, 1e-9) * rest / np.maximum(dof, 1.0)
        if self.spares_power:
            f[0] = share[0] * n_rows / max(dof[0], 1.0)
        return np.array([share * n_rows, dof, f_greater(f, dof, np.maximum(rest, 1.0))[1]])


def _orthonormal(combinations: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Return combinations with the same span, (p, D), orthonormal by products of functions, (D, D)."""
    return orthonormal_of(combinations @ products @ combinations.T) @ combinations


def _of_length_1(combinations: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Return combinations, (p, D), scaled to length 1 by products of functions, without those that are rounding."""
    squares = np.vecdot(combinations @ products, combinations)
    is_long = squares > ROUNDING
    return combinations[is_long] / np.sqrt(squares[is_long])[:, np.newaxis]


def leverages(basis: np.ndarray) -> np.ndarray:
    """Return each row's leverage, (n,), in orthonormal functions, (rank, n): the diagonal of their projection."""
    return np.sum(basis * basis, axis=0)
