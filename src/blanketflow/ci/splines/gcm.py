"""The generalised covariance measure as a test: are residuals of X and Y, regressed on Z, uncorrelated?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, cast

import numpy as np

from ...core.cards import ASYMPTOTIC, IMPUTATIONS, PAIRWISE, TARGET_KINDS, Card
from ...core.column import TargetColumn
from ...core.errors import UnsupportedError
from ...core.numerics import is_rounded_away
from ...core.parameters import anything, integer
from ...core.results import CIResult, CIResults
from ...core.seeds import derive_rng, seed_32
from ...core.table import Column, Table
from ..base import CITest
from ..joint_engine import JointEngine
from ..linear.regressions import FunctionsOf, rounded_away
from ..pooling import pooled_p_values
from ..predictive.cpi import draw_parts
from ..predictive.model_losses import Learner, cross_fitted
from ..tails import f_greater
from ..target_regressions import ROWS_PER_PARAMETER, Part, TargetRegressions, target_of_kind
from .generalised_covariance import Hotelling, no_covariance, whitened
from .spline import LEAST_FREE, leverages
from .spline_given import ROUNDING, GivenFunctions, orthonormal, without
from .spline_screen import SplineScreen, rows_needed

#: The value of `model` for our own regressions on splines.
SPLINES = "splines"
#: The most entries of residuals that are computed at once.
BLOCK = 2**15
#: Products with a smaller share of variance may be constant.
LEAST_SPREAD = 1e-9


@dataclass
class GCM(CITest):
    """Generalised covariance measure: are the residuals of X and of Y, each regressed on Z, uncorrelated?

    Each column is regressed on Z, and each row is predicted by a regression on other rows. With the residuals e of X
    and f of Y, and R = e f in each row, the paper's T is sqrt(n) mean(R) / sd(R). `statistic` is T², compared with F of
    1 and n - 1 degrees of freedom, so that T is compared with Student's t.

    A label of r levels has r - 1 residuals, and a set of columns has those of all of them: then `statistic` is
    Hotelling's T² of all products of one of X with one of Y, and `dof` is their number. The paper uses the largest T
    with simulated multipliers. Both are calibrated on labels; T² needs no simulation, has no smallest p-value, and does
    not depend on the coding of levels.

    ``model: splines`` regresses on splines of each given column, to which cuts, products of two columns and finer
    splines are added while they predict the regressed column, as in ``spline``. Residuals are leave-one-out: e / (1 -
    leverage). Any other model is fitted on all parts of the rows but one, in turn, for labels on the probabilities of
    their levels.

    `weights` above 0 is the weighted measure of Scheidegger and others: the products are also tested multiplied by each
    of this many functions of each given column, the signs of the column minus its quantiles, or by indicators of its
    levels. The least of the w + 1 p-values, p, gives 1 - (1 - p)^(w + 1), an upper bound for any correlation of the
    tests, where the paper simulates. So effects are found whose sign depends on Z, such as X XOR Z. Labels of three or
    more levels, and sets of columns, are tested without weights.

    Two flags with a small cell, given nothing, are tested by Fisher's exact test.

    A column that is a function of Z has no residuals and is independent. A test is unreliable if the splines leave at
    most eight rows, or ten for each of several products, or if rounding has destroyed a numeric column.

    Notes
    -----
    Only the mean of the products is tested: Y = X² + noise is found in 4 % of samples at 0.05, where ``spline`` and
    ``hsic`` find it. With splines the level holds for nonlinear relations to Z, and the power for linear relations is
    about that of ``fisher-z``. Untuned models do not fit Z well enough, and their errors at X and at Y are correlated:
    ``lightgbm`` rejects all true nulls of 1,000 rows where X and Y depend on three squares (docs/ci-tests.md).

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=500)
    >>> X = pd.DataFrame({"y": z**2 + rng.normal(size=500), "z": z, "x": z**2 + rng.normal(size=500)})
    >>> test = GCM().bind(X)
    >>> bool(test.test("y", "x").p_value < 1e-3), bool(test.test("y", "x", given=["z"]).p_value > 0.05)
    (True, True)
    """

    card: ClassVar[Card] = Card(
        id="gcm",
        name="generalised covariance measure (GCM)",
        family="ci-test",
        summary="Covariance of what regressions on Z leave of X and of Y, by splines or by any model.",
        reference="Shah, Peters (2020) The hardness of conditional independence testing and the generalised covariance "
        "measure, Annals of Statistics 48(3), 1514-1538, doi:10.1214/19-AOS1857; weights: Scheidegger, Hörrmann, "
        "Bühlmann (2022) The weighted generalised covariance measure, JMLR 23(273), 1-68.",
        guarantee="p-values right in large samples if the product of the errors of both regressions vanishes faster "
        "than 1 / sqrt(n); finds only what makes a covariance, and so not Y = X²",
        misleads="with another model than splines, columns that depend on the same given ones are found dependent too "
        "often where the model does not follow these closely: of samples of 1,000 rows at 0.05, each of both a sum of "
        "three squares plus noise, lightgbm and knn reject all, svm 92 %, splines 5 %",
        p_values=ASYMPTOTIC,
        cost="a regression of each candidate, and one of Y, on Z: O(n |Z|^2) by splines, n_splits fits by a model",
        symmetric=True,
        takes_max_rows=True,
        measures=("p-value",),
        tasks=TARGET_KINDS,
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
    )

    own_models: ClassVar[tuple[str, ...]] = (SPLINES,)

    model: Any = anything(
        SPLINES,
        "What regresses X and Y on Z: splines (our own), a model id, 'module:Class', or a scikit-learn estimator.",
    )
    n_splits: int = integer(5, "Parts of the rows, each held out once by a model; splines need none.", at_least=2)
    weights: int = integer(
        0, "Functions of each given column that weight the products of residuals; 0 for none.", at_least=0
    )

    def prepare(self, table: Table, seed: int, target: int | None) -> _GCMEngine | _GCMOfTarget:
        """Return the engine; `seed` fixes parts and models, and is not used by splines."""
        if (at := target_of_kind(table)) is None:
            return _GCMEngine(self, table, seed)
        if self.model != SPLINES:
            kind = cast(TargetColumn, table[at]).target_kind
            raise UnsupportedError(f"gcm tests {kind} targets with model: {SPLINES} only. Leave model out.")
        return _GCMOfTarget(table, at, lambda ordinary: _GCMEngine(self, ordinary, seed), ROWS_PER_PARAMETER, "auto")

    @property
    def misleads(self) -> str:
        """The card's warning on models other than splines."""
        return "" if self.model == SPLINES else self.card.misleads

    @property
    def draws_rows(self) -> bool:
        """Whether rows are divided into parts, as for all models but splines."""
        return self.model != SPLINES

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return results pooled by their p-values."""
        return pooled_p_values(copies)

    def doubts(self, table: Table, target: str, results: CIResults) -> str:
        """Return which columns rounding has destroyed."""
        return rounded_away(table, target, results)


class _GCMEngine(JointEngine):
    def __init__(self, test: GCM, table: Table, seed: int) -> None:
        super().__init__(table)
        self._test, self._seed = test, seed

    @cached_property
    def _screen(self) -> SplineScreen:
        return SplineScreen(self._table, straight_share=1.0)

    def each(
        self, candidates: Sequence[tuple[int, ...]], targets: tuple[int, ...], given: tuple[int, ...]
    ) -> CIResults:
        """Test each set of columns with the targets, as one joint variable."""
        n, by = self._table.n_rows, self.regression(given)
        weights = self.weights(given)
        # Single columns differ between queries, so caching all residuals would waste memory.
        left = cache(by.left) if any(len(columns) > 1 for columns in candidates) else by.left
        y, is_rounded = _together(left, targets), any(map(self._is_rounded, (*targets, *given)))
        answers: dict[int, CIResult] = {}
        if isinstance(by, _BySplines) and y.shape[1] == 1 and not is_rounded and n - 1 - by.rank > rows_needed(1):
            answers = self._at_once(candidates, y[:, 0], by, weights)
        for at, columns in enumerate(candidates):
            if at in answers:
                continue
            x = _together(left, columns)
            enough = n - 1 - by.rank > rows_needed(x.shape[1] * y.shape[1])
            if not enough or is_rounded or any(map(self._is_rounded, columns)):
                answers[at] = CIResult(0.0, 1.0, 0.0, 0.0, n, False)
                continue
            found = least_of_weighted(x, y, weights)
            answers[at] = CIResult(found.squared, found.p_value, found.log_p, float(found.dof), n, True)
        return CIResults.from_rows(answers[at] for at in range(len(candidates)))

    def _at_once(
        self, candidates: Sequence[tuple[int, ...]], y: np.ndarray, by: _BySplines, weights: list[np.ndarray]
    ) -> dict[int, CIResult]:
        """Return the results of the candidates whose regressions need no further functions, by their places."""
        n_straight, n = self._screen.n_straight, len(y)
        alone = [at for at, columns in enumerate(candidates) if len(columns) == 1 and n_straight[columns[0]] == 1]
        answers = {}
        for start in range(0, len(alone), step := max(1, BLOCK // n)):
            block = np.array(alone[start : start + step])
            is_enough, x = by.left_at_once([candidates[at][0] for at in block])
            places, found = block[is_enough].tolist(), no_covariances(x * y, weights)
            for at, squared, p_value, log_p, varies in zip(places, *map(np.ndarray.tolist, found), strict=True):
                if varies:
                    answers[at] = CIResult(squared, p_value, log_p, 1.0, n, True)
        return answers

    def weights(self, given: tuple[int, ...]) -> list[np.ndarray]:
        """Return the weight functions of given columns, each (n,)."""
        return weights_of([self._table[at] for at in given], self._test.weights)

    def regression(self, given: tuple[int, ...]) -> _BySplines | _ByModel:
        """Return what regresses columns on given ones."""
        if self._test.model == SPLINES:
            return _BySplines(self._screen, given)
        return _ByModel(self._test, self._table, self._seed, given)


class _GCMOfTarget(TargetRegressions):
    """Tests whether score residuals of the target's null model given Z covary with the residuals of X.

    For the Cox model these are martingale residuals. The test then holds also where hazards are not proportional in X,
    and where the relation of X and Z bends (Kook and others 2024, doi:10.1080/01621459.2024.2395588).
    """

    def functions_of_each(self, given: tuple[int, ...]) -> list[np.ndarray]:
        """Return the functions of given columns by which X is regressed too, together."""
        return [self._regression(given).basis]

    def doubts(self, members: Sequence[int], beside: Sequence[int] = ()) -> list[str]:
        """Return nothing: what the regressions of other tests assume of a feature is not assumed."""
        return []

    def parts(self, columns: tuple[int, ...]) -> list[Part]:
        """Return nothing: columns are tested by their residuals."""
        return []

    def _regression(self, given: tuple[int, ...]) -> _BySplines:
        return cast(_BySplines, cast(_GCMEngine, self._ordinary).regression(given))

    def _tested(self, columns: tuple[int, ...], given: tuple[int, ...]) -> CIResult:
        null, by, n = self._null(given), self._regression(given), self.n_rows
        n_parameters = null.model.n_own + len(null.basis) + 1
        x = _together(by.left, columns)
        is_enough = null.model.size >= ROWS_PER_PARAMETER * n_parameters and n - 1 - by.rank > rows_needed(x.shape[1])
        if not is_enough or any(is_rounded_away(self.table[column]) for column in columns):
            return CIResult(0.0, 1.0, 0.0, 0.0, n, False)
        weights = cast(_GCMEngine, self._ordinary).weights(given)
        found = least_of_weighted(x, whitened(null.model.residuals()[:, np.newaxis]), weights)
        return CIResult(found.squared, found.p_value, found.log_p, float(found.dof), n, True)


def weights_of(given: Sequence[Column], n_weights: int) -> list[np.ndarray]:
    """Return weight functions of given columns, each (n,): signs on either side of quantiles, and indicators of levels.

    >>> weights_of([Column("z", "numeric", np.arange(4.0))], 1)
    [array([-1., -1.,  1.,  1.])]
    """
    found: list[np.ndarray] = []
    for column in given if n_weights else ():
        values = column.numbers()
        if column.is_discrete:
            found += [(values == level).astype(float) for level in np.unique(values)[1:]]
        else:
            cuts = np.quantile(values, np.arange(1, n_weights + 1) / (n_weights + 1))
            found += [np.where(values > cut, 1.0, -1.0) for cut in np.unique(cuts)]
    return found


def least_of_weighted(x: np.ndarray, y: np.ndarray, weights: list[np.ndarray]) -> Hotelling:
    """Return the test of the products of residuals, or of those times a weight, with the least p, corrected for all.

    By the Gaussian correlation inequality (Royen 2014, arXiv:1408.1028) independent tests are the worst case.
    """
    # Few rows of a level have another one in a part of Z, and T² of several such products rejects too often.
    used = weights if x.shape[1] * y.shape[1] == 1 else []
    found = [no_covariance(x, y), *(no_covariance(x * weight[:, np.newaxis], y) for weight in used)]
    least = min(found, key=lambda one: one.log_p)
    if len(found) == 1:
        return least
    p_value, log_p = _of_least(np.array([least.p_value]), np.array([least.log_p]), len(found))
    return least._replace(p_value=float(p_value[0]), log_p=float(log_p[0]))


def no_covariances(products: np.ndarray, weights: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return T², p and log p of rows of products of two residuals, (m, n), as `least_of_weighted`, and which vary."""
    m, n = products.shape
    found = np.empty((1 + len(weights), 3, m))
    varies = np.ones(m, dtype=bool)
    for one, weight in zip(found, [None, *weights], strict=True):
        weighted = products if weight is None else products * weight
        mean, size = weighted.mean(axis=1), np.vecdot(weighted, weighted)
        spread = np.vecdot(centred := weighted - mean[:, np.newaxis], centred)
        varies &= spread > LEAST_SPREAD * size
        one[0] = n * (n - 1) * mean**2 / np.where(varies, spread, np.inf)
        one[1:] = f_greater(one[0], np.ones(m), np.full(m, n - 1.0))
    squared, p_value, log_p = found[found[:, 2].argmin(axis=0), :, np.arange(m)].T
    if weights:
        p_value, log_p = _of_least(p_value, log_p, len(found))
    return squared, p_value, log_p, varies


def _of_least(p_value: np.ndarray, log_p: np.ndarray, n_tests: int) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of the least of several p-values."""
    corrected = -np.expm1(n_tests * np.log1p(-np.minimum(p_value, 1.0 - 1e-16)))
    with np.errstate(divide="ignore"):
        logarithms = np.where(p_value > 1e-200, np.log(corrected), np.minimum(log_p + np.log(n_tests), 0.0))
    return corrected, logarithms


def _together(left: Callable[[int], np.ndarray], columns: tuple[int, ...]) -> np.ndarray:
    """Return the residuals of a column, or of several in whitened directions, (n, a)."""
    return left(columns[0]) if len(columns) == 1 else whitened(np.hstack([left(column) for column in columns]))


class _BySplines:
    """Regressions on splines of given columns, with leave-one-out residuals."""

    def __init__(self, screen: SplineScreen, given: tuple[int, ...]) -> None:
        self._screen, self._given, self._has_given = screen, GivenFunctions(screen, given), bool(given)
        self.basis, self.rank = self._given.basis, len(self._given.basis)

    def left_at_once(self, columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return which of some columns with one function need no others but cuts, and these columns' residuals."""
        functions, leverage = self._screen.firsts(columns), self._given.leverage
        left, is_enough = functions, np.ones(len(functions), dtype=bool)
        if self._has_given:
            left, leverage, is_enough = self._given.left_at_once(functions)
        left = left / np.maximum(1.0 - leverage, LEAST_FREE)
        return is_enough, (left - left.mean(axis=1, keepdims=True))[is_enough]

    def left(self, column: int) -> np.ndarray:
        """Return the whitened residuals of a column's number or levels, (n, a); empty for a function of Z."""
        given, functions = self._given, self._screen.side(column)[: self._screen.n_straight[column]]
        before = left = given.left(functions)
        more = left[:0]
        if self._has_given:
            more = given.more(given.first(left), more, given.powers(functions)).added
            left = without(left, more)
        if given.is_nothing(before, left):
            return np.zeros((given.n_rows, 0))
        free = 1.0 - given.leverage - leverages(more)
        return whitened((orthonormal(left) / np.maximum(free, LEAST_FREE)).T)


class _ByModel:
    """Regressions by any model on all parts of the rows but one, in turn."""

    rank = 0

    def __init__(self, test: GCM, table: Table, seed: int, given: tuple[int, ...]) -> None:
        from ...models.encode import design, moderate

        self._test, self._table, self._seed = test, table, seed
        self._given = [table[name] for name in sorted(table.names[at] for at in given)]
        self._matrix = design(moderate(Table(self._given))).matrix if given else None
        self._functions_of_given = FunctionsOf(self._given)

    def left(self, position: int) -> np.ndarray:
        """Return the whitened residuals of a column's number or levels, (n, a); empty for a function of Z."""
        column, n = self._table[position], self._table.n_rows
        if column.is_constant() or (self._given and self._functions_of_given.include([column])):
            return np.zeros((n, 0))
        learner = Learner(column, self._test.model)
        if self._matrix is None:
            return whitened(learner.outcomes)
        matrix, n_splits = self._matrix, min(self._test.n_splits, n)
        parts = draw_parts(column, n_splits, derive_rng(self._seed, "parts", column.name))

        def expected(train: np.ndarray, out: np.ndarray, part: int) -> np.ndarray:
            fitted = learner.fit(matrix, train, seed_32(self._seed, "model", column.name, part))
            return learner.expected(fitted, matrix[out])

        left = cross_fitted(learner.outcomes, parts, expected)
        is_left = left.var(axis=0) > ROUNDING * learner.outcomes.var(axis=0)
        return whitened(left[:, is_left])
