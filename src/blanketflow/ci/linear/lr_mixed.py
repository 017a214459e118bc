"""Likelihood-ratio test of nested linear and logistic regressions, for numeric and categorical columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from ...core.cards import ASYMPTOTIC, CROSS_PRODUCTS, IMPUTATIONS, PAIRWISE, TARGET_KINDS, Card
from ...core.column import TargetColumn
from ...core.column_checks import with_flags
from ...core.numerics import efficient_scores, is_rounded_away
from ...core.parameters import choice, number
from ...core.results import CIResults
from ...core.table import Design, Table, is_complex
from ...targets import knows_clusters
from ..base import CITest, constant_results, unreliable_rule
from ..clusters import Clusters
from ..effect import NATS, nats_per_row
from ..engines import Candidate, Engine, columns_of
from ..feature_groups import smallest_of
from ..pooling import pooled_p_values
from ..tails import chi2_tail, f_greater, rao_f
from ..target_regressions import Null, Part, TargetRegressions, target_of_kind
from .fisher_z import FisherZEngine
from .regressions import (
    Regressed,
    Variable,
    basis_of,
    by_weights,
    predictors,
    present_levels,
    rounded_away,
    with_exact_tests,
)


@dataclass
class RegressionTest(CITest):
    """Options of tests that compare regressions."""

    linear: str = choice(
        "f",
        "p-value of a linear regression: f is exact for Gaussian noise, chi2 holds in large samples only.",
        ("f", "chi2"),
    )
    directions: str = choice(
        "both",
        "Regressions in both directions, which makes the test symmetric; of the target only; or (linear) of the number "
        "only, where one of the two is a number.",
        ("both", "target", "linear"),
    )
    min_samples_per_parameter: float = number(
        10.0,
        "A chi-square approximation with fewer rows per estimated parameter than this is not reliable.",
        at_least=0,
    )
    unreliable: str = unreliable_rule()

    @property
    def is_symmetric(self) -> bool:
        """Whether the regressions do not depend on which column is the target."""
        return self.directions != "target"


class Direction(NamedTuple):
    """The result of one direction; `rest` are residual degrees of freedom, 0 for chi-square; `tail` may give p and log
    p.
    """

    statistic: float
    dof: float
    rest: float
    tail: tuple[float, float] = (1.0, 0.0)


#: The result without anything to compare.
NOTHING = Direction(0.0, 0.0, 0.0)


class LRMixedEngine:
    """Fits regressions, or partial correlations for single linear predictors, and combines both directions."""

    #: Whether linear regressions may be partial correlations.
    correlates: ClassVar[bool] = True

    def __init__(self, test: RegressionTest, table: Table) -> None:
        self.test, self.table, self.n_rows = test, table, table.n_rows
        self.shares = None if table.design is None else table.design.shares()
        self._rounded: dict[int, bool] = {}

    @cached_property
    def _correlations(self) -> FisherZEngine:
        return FisherZEngine(self.table)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Regress the target on each candidate and, unless ``directions`` is ``target``, vice versa."""
        results = self._regressed(np.asarray(candidates), target, given)
        return results if given else with_exact_tests(results, self.table, candidates, target)

    def _regressed(self, columns: np.ndarray, target: int, given: tuple[int, ...]) -> CIResults:
        partial, log_unexplained, rank = np.zeros(len(columns)), np.zeros(len(columns)), 0
        if len(asked := self._correlated(columns, target, given)):
            correlations = self._correlations.partial_correlations(columns[asked], target, given)
            partial[asked], log_unexplained[asked], rank = correlations
        # Columns of correlation 0 may be explained by the given ones; the rows decide.
        others = np.flatnonzero(partial == 0.0)
        singles = [(candidate,) for candidate in columns[others].tolist()]
        found = self._test_each(singles, target, given, is_symmetric=self.test.is_symmetric)
        if len(others) == len(columns):
            return found
        rest, dof = np.full(len(columns), self.n_rows - rank - 2.0), np.ones(len(columns))
        tails = f_greater(np.expm1(-log_unexplained) * rest, dof, rest)
        n, is_rounded = np.full(len(columns), self.n_rows), self._any_rounded((target, *given))
        reliable = np.array([not (is_rounded or self._any_rounded((column,))) for column in columns.tolist()])
        results = CIResults(-self.n_rows * log_unexplained, *tails, dof, n, reliable)
        for name, values in found.columns().items():
            getattr(results, name)[others] = values
        return results

    def _correlated(self, columns: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        """Return which columns' tests are partial correlations: numbers and flags, with exact p-values."""
        nothing, of_target = np.arange(0), self._n_levels(target)
        if not self.correlates or self.test.linear != "f" or not self._is_reliable(2) or self.n_rows < len(given) + 5:
            return nothing
        if not {of_target, *map(self._n_levels, given)} <= {0, 2}:
            return nothing
        levels = {0} if of_target == 0 or self.test.directions == "linear" else set()
        levels |= {2} if of_target == 0 and self.test.directions != "both" else set()
        return np.flatnonzero([self._n_levels(column) in levels for column in columns.tolist()])

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Regress the target on each set of columns."""
        return self._test_each(candidates, target, given, is_symmetric=False)

    def evaluate_pair(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        """Regress each column of Y on those before it and Z, with and without X, and add up the statistics.

        For numeric columns of Y the sum is -n log of Wilks' lambda.
        """
        links, results = self._links(x, y, given), constant_results(1, self.n_rows)
        results.reliable[:] = links.reliable.all()
        ranks_added = links.dof[links.dof > 0]
        if len(ranks_added) and (results.reliable[0] or self.test.unreliable == "use"):
            results.statistic[:], results.dof[:] = links.statistic.sum(), links.dof.sum()
            results.p_value[:], results.log_p[:] = chi2_tail(results.statistic, results.dof)
            is_exact = self.test.linear == "f" and not any(map(self._n_levels, y)) and np.ptp(ranks_added) == 0
            rest = self.n_rows - 1.0 - len(self._basis(given))
            log_lambda, p, q = -results.statistic[0] / self.n_rows, len(ranks_added), int(ranks_added[0])
            if is_exact and (found := rao_f(log_lambda, p, q, rest)) is not None:
                _, results.p_value[:], results.log_p[:] = found
        return results

    def _links(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        """Return the tests of X with each column of Y given those before it and Z."""
        earlier = [tuple(sorted((*given, *y[:i]))) for i in range(len(y))]
        return CIResults.joined([self.evaluate_sets([x], *link) for link in zip(y, earlier, strict=True)])

    def _test_each(
        self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...], is_symmetric: bool
    ) -> CIResults:
        shared_levels = max(map(self._n_levels, (target, *given)))
        found = [(NOTHING, NOTHING, False)] * len(candidates)
        if self._is_fitted(shared_levels):
            basis = self._basis(given)
            y = self._variable((target,), basis)
            for i, columns in enumerate(candidates):
                n_levels = max(shared_levels, *map(self._n_levels, columns))
                if self._is_fitted(n_levels):
                    x = self._variable(columns, basis)
                    found[i] = self._compare(self._pairs(x, y, is_symmetric), len(basis), n_levels)
        results = self._results(found)
        if self._any_rounded((target, *given)):
            results.reliable[:] = False
        for i, columns in enumerate(candidates):
            if self._any_rounded(columns):
                results.reliable[i] = False
        return results

    def _basis(self, given: tuple[int, ...]) -> Any:
        """Return an orthonormal basis of the predictors of the given columns; its length is their rank."""
        return basis_of(self.table, given, self.shares)

    def _variable(self, columns: tuple[int, ...], basis: Any) -> Regressed:
        return Variable(self.table, columns, basis, self.shares)

    def _pairs(self, x: Regressed, y: Regressed, is_symmetric: bool) -> list[tuple[Regressed, Regressed]]:
        """Return the regressions to fit, as pairs of response and predictor."""
        if not is_symmetric or (x.is_numeric and y.is_numeric):
            return [(y, x)]
        if self.test.directions == "linear" and (x.is_numeric or y.is_numeric):
            return [(x, y) if x.is_numeric else (y, x)]
        return [(y, x), (x, y)]

    def _any_rounded(self, positions: Sequence[int]) -> bool:
        for position in positions:
            if position not in self._rounded:
                self._rounded[position] = self._is_rounded(position)
        return any(self._rounded[position] for position in positions)

    def _is_rounded(self, position: int) -> bool:
        return is_rounded_away(self.table[position])

    def _compare(
        self, pairs: list[tuple[Regressed, Regressed]], rank: int, n_levels: int
    ) -> tuple[Direction, Direction, bool]:
        """Regress the first of each pair on the second, given `rank` predictors; also return whether it is reliable."""
        if self.n_rows <= 1 + rank:
            return NOTHING, NOTHING, False  # the given columns explain anything
        if not all(len(variable.added) for variable in pairs[0]):
            return NOTHING, NOTHING, self._is_reliable(n_levels)  # explained by the given columns
        is_exact = [self.test.linear == "f" and response.is_numeric for response, _ in pairs]
        n_parameters = [response.n_equations * (1 + rank + len(predictor.added)) for response, predictor in pairs]
        needed = max([n_levels, *(k for k, exact in zip(n_parameters, is_exact, strict=True) if not exact)])
        if not self._is_fitted(needed):
            return NOTHING, NOTHING, False
        if any(exact and self.n_rows <= k for k, exact in zip(n_parameters, is_exact, strict=True)):
            return NOTHING, NOTHING, False  # the F test has no degrees of freedom left
        directions = []
        for (response, predictor), exact, k in zip(pairs, is_exact, n_parameters, strict=True):
            dof, rest = response.n_equations * len(predictor.added), self.n_rows - k if exact else 0
            directions.append(self._direction(response, predictor.added, dof, rest))
        return directions[0], directions[-1], self._is_reliable(needed)

    def _direction(self, response: Regressed, added: np.ndarray, dof: int, rest: int) -> Direction:
        return Direction(response.likelihood_ratio(added), dof, rest)

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int:
        """Return how many rows are enough if no predictor is collinear with others."""
        asked = columns_of(x)
        pairs = [(target, asked)]
        if self.test.is_symmetric and not isinstance(x, tuple):
            pairs.append((x, (target,)))
            numbers = [pair for pair in pairs if not self._n_levels(pair[0])]
            pairs = numbers[:1] or pairs if self.test.directions == "linear" else pairs
        needed = self.test.min_samples_per_parameter * max(map(self._n_levels, (*asked, target, *given)))
        for response, added in pairs:
            n_levels = self._n_levels(response)
            n_columns = 1 + sum(max(self._n_levels(j) - 1, 1) for j in (*given, *added))
            is_exact = self.test.linear == "f" and not n_levels
            own = n_columns + 1 if is_exact else self.test.min_samples_per_parameter * max(n_levels - 1, 1) * n_columns
            needed = max(needed, own)
        return math.ceil(needed)

    def _n_levels(self, position: int) -> int:
        """Return the number of levels of a discrete column, 0 for numbers; only present levels if that matters."""
        column = self.table[position]
        if not column.is_discrete:
            return 0
        n_declared = len(column.levels) or 2
        return n_declared if self._is_reliable(n_declared) else present_levels(column)[1]

    def _is_reliable(self, n_parameters: int) -> bool:
        return self.n_rows > n_parameters and self.n_rows >= self.test.min_samples_per_parameter * n_parameters

    def _is_fitted(self, n_parameters: int) -> bool:
        return self.n_rows > n_parameters and (self.test.unreliable == "use" or self._is_reliable(n_parameters))

    def _results(self, found: list[tuple[Direction, Direction, bool]]) -> CIResults:
        """Combine both directions of each test: p = min(2 min(p1, p2), max(p1, p2))."""
        n, m = self.n_rows, len(found)
        directions = [direction for there, back, _ in found for direction in (there, back)]
        statistic, dof = np.array([direction[:2] for direction in directions], dtype=np.float64).reshape(-1, 2).T
        p_value, log_p = self._tails(directions, statistic, dof)
        # Ties in p are broken by statistic and degrees of freedom, not by the order of X and Y.
        keys = [values.reshape(m, 2) for values in (dof, statistic, log_p)]
        smaller, larger = np.lexsort(keys, axis=1).T + 2 * np.arange(m)
        is_doubled = np.log(2.0) + log_p[smaller] < log_p[larger]
        decides = np.where(is_doubled, smaller, larger)
        p_value = np.where(is_doubled, 2.0 * p_value[smaller], p_value[larger])
        log_p = np.where(is_doubled, np.log(2.0) + log_p[smaller], log_p[larger])
        reliable = np.array([is_reliable for _, _, is_reliable in found])
        return CIResults(statistic[decides], p_value, log_p, dof[decides], np.full(m, n), reliable)

    def _tails(
        self, directions: Sequence[Direction], statistic: np.ndarray, dof: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        p_value, log_p = chi2_tail(statistic, dof)
        rest = np.array([direction.rest for direction in directions], dtype=np.float64)
        is_f = np.flatnonzero((rest > 0) & (dof > 0))
        if len(is_f):
            f = np.expm1(statistic[is_f] / self.n_rows) * rest[is_f] / dof[is_f]
            p_value[is_f], log_p[is_f] = f_greater(f, dof[is_f], rest[is_f])
        return p_value, log_p


def regressions_by_clusters(test: RegressionTest, table: Table, design: Design) -> Any:
    """Return the engine of a table with a design."""
    return by_weights(partial(LRMixedByClusters, test), table, design)


class LRMixedByClusters(LRMixedEngine):
    """The engine for a sample design; `statistic`, `dof` and `reliable` are those of as many independent rows.

    A row's score is the derivative of its log likelihood by the added coefficients, at the fit without them, scaled to
    variance 1 for independent rows.
    """

    correlates: ClassVar[bool] = False

    def __init__(self, test: RegressionTest, table: Table, design: Design) -> None:
        super().__init__(test, table)
        self._clusters = Clusters(design, table.n_rows)

    def evaluate_pair(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        """Regress each column of Y on X, Z and those before it; the smallest p-value times their number counts."""
        return CIResults.from_rows([smallest_of(self._links(x, y, given))])

    def _compare(
        self, pairs: list[tuple[Regressed, Regressed]], rank: int, n_levels: int
    ) -> tuple[Direction, Direction, bool]:
        if self._clusters.n - 1 <= self._clusters.n_costly(rank):
            return NOTHING, NOTHING, False
        return super()._compare(pairs, rank, n_levels)

    def _direction(self, response: Any, added: np.ndarray, dof: int, rest: int) -> Direction:
        tail = self._clusters.p_of_scores(scores(response, added), response.rank_given)
        return Direction(response.likelihood_ratio(added), dof, rest, tail)

    def _tails(
        self, directions: Sequence[Direction], statistic: np.ndarray, dof: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        p_value, log_p = np.array([direction.tail for direction in directions]).reshape(-1, 2).T
        return p_value.copy(), log_p.copy()


def scores(response: Variable, added: np.ndarray) -> np.ndarray:
    """Return the scores of rows, (q, n), for predictors `added`, orthonormal and orthogonal to the given basis."""
    if response.is_numeric:
        return added * response.added[0]
    _, coefficients, design = response.null_model()
    n_others, weights = response.n_equations, response.weights
    exponents = np.vstack([np.zeros(design.shape[1]), coefficients @ design])
    probabilities = np.exp(exponents - exponents.max(axis=0))
    probabilities = (probabilities / probabilities.sum(axis=0))[1:]
    rests = (response.classes == np.arange(1, n_others + 1)[:, np.newaxis]) - probabilities
    more = response.of_variance_1(added)
    of_columns = np.vstack([_by_equation(weights * rests, columns) for columns in (design, more)])
    blocks = [[_information(a, b, weights, probabilities) for b in (design, more)] for a in (design, more)]
    return efficient_scores(of_columns, np.block(blocks), n_others * len(more))


def _by_equation(rests: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the products of each equation's residuals, (r - 1, n), with each column, (k, n): shape ((r - 1) k, n)."""
    return (rests[:, np.newaxis] * columns).reshape(-1, columns.shape[1])


def _information(a: np.ndarray, b: np.ndarray, weights: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return the information matrix between the coefficients of columns a and b of all equations."""
    rows = []
    for i, p in enumerate(probabilities):
        variances = [weights * p * ((i == j) - q) for j, q in enumerate(probabilities)]
        rows.append(np.hstack([(a * variance) @ b.T for variance in variances]))
    return np.vstack(rows)


class LinearTargetRegressions(TargetRegressions):
    """Numbers enter regressions of a target unchanged, labels as indicators of their levels."""

    has_plain_numbers: ClassVar[bool] = True

    def functions_of_each(self, given: tuple[int, ...]) -> list[np.ndarray]:
        """Return the predictors of given columns."""
        return [predictors(self.table[column]) for column in given]

    def parts(self, columns: tuple[int, ...]) -> list[Part]:
        """Return the predictors of columns as one part."""
        return [Part(np.vstack([predictors(self.table[column]) for column in columns]), 1.0)]


class LinearTargetRegressionsByClusters(LinearTargetRegressions):
    """The same for clustered rows: p-values are those of score tests from totals of clusters, as in
    `LRMixedByClusters`.
    """

    def __init__(self, table: Table, at: int, prepare: Callable[[Table], Engine], *rule: Any) -> None:
        super().__init__(table, at, prepare, *rule)
        self._clusters = Clusters(cast(Design, table.design), table.n_rows)

    def _enough(self, null: Null, n_added: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        reliable, made = super()._enough(null, n_added)
        has_rest = self._clusters.n - 1 > self._clusters.n_costly(len(null.basis))
        return reliable & has_rest, made & has_rest

    def _tails(
        self, null: Null, added: Sequence[np.ndarray], statistic: np.ndarray, dof: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        of_rows = [efficient_scores(*null.model.scores(functions), len(functions)) for functions in added]
        return np.array([self._clusters.p_of_scores(scores, len(null.basis)) for scores in of_rows]).reshape(-1, 2).T


@dataclass
class LRMixed(RegressionTest):
    """Likelihood-ratio test of nested regressions of X and of Y, for any mixture of columns.

    A numeric response has linear regressions. The statistic is n log(RSS0 / RSS1), and the degrees of freedom are the
    rank q that the tested column adds to the given ones. A categorical or boolean response with r levels has
    multinomial logistic regressions, the statistic is the decrease of the deviance, and the degrees of freedom are (r -
    1) q. Numbers enter unchanged, categorical columns as indicators of their levels. A column of two values is
    categorical, whatever its type. Collinear predictors count once; a column that Z explains is independent.

    The regressions of X on Y and Z and of Y on X and Z are both fitted and give p1 and p2. The result is p = min(2
    min(p1, p2), max(p1, p2)), with the statistic and degrees of freedom of that direction; if p1 = p2, of the larger
    statistic. For two numeric columns both directions are the same. ``directions: target`` fits only Y on X and Z: half
    the cost, but not symmetric. ``directions: linear`` tests a number and a label by the linear regression of the
    number on the label and Z alone. It needs no rows per parameter, since F is exact, and takes a hundredth of the time
    with many classes; only pairs of labels use logistic regressions.

    A numeric response has by default the exact p-value of the F test, a function of n log(RSS0 / RSS1). At 50 rows and
    three given columns, F rejected true independence at 0.05 in 5.0 % of 10,000 samples, the chi-square in 6.6 %.
    Logistic regressions have only the chi-square: 6 % with ten rows per parameter, up to 9 % with five.

    A test is unreliable if a chi-square approximation has fewer rows per estimated parameter than
    ``min_samples_per_parameter`` or not more rows than parameters, or if a column has fewer rows per level. It is then
    fitted only with ``unreliable: use``, and never without more rows than parameters and levels; otherwise its
    statistic is 0 and p = 1, as without degrees of freedom for the F test. A test is also unreliable if rounding has
    destroyed a numeric column: its standard deviation is below about 90 times the spacing of floats of its size, as in
    1e15 + noise. Such a column counts as constant.

    Linear regressions can use sums of products of numbers and level indicators in place of rows (`bf.count` with
    ``tables="cross-products"``): for a numeric target with ``directions: linear`` or ``target``, or if all columns are
    numbers. Two labels, or a target that is a label, raise `RowsNeeded`.

    A set of columns as X is tested in one direction only: Y on Z and all columns of the set. Two columns of two values,
    given nothing, have Fisher's exact test if fewer than five rows are expected in a cell.

    A target of a further kind, such as survival, is always the response, of its own regression: Cox for survival,
    Poisson or negative binomial for counts, proportional odds for ordered classes, fractional logit for shares, gamma
    for positive numbers. The statistic is twice the gain of log likelihood, divided by the dispersion where the kind
    has one, and is compared with chi-square. Given other tests, the target enters by covariates: the event and the
    cumulative hazard, log(1 + rate), the classes, the share, or the logarithm. What counts per parameter, in place of
    rows, are the events of survival, the sum of counts if that is smaller than the rows, and the rows of ordered
    classes, fewer the more of them are in one class. Sampling weights are refused; clusters are known as below.

    With sampling weights or clusters the regressions are weighted, and p-values are those of score tests from the
    totals of clusters (`clusters.py`); `statistic`, `dof` and `reliable` are those of as many independent rows.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=300)
    >>> b = np.where(a + rng.normal(size=300) > 0, "yes", "no")
    >>> test = LRMixed().bind(pd.DataFrame({"a": a, "b": b, "c": a + rng.normal(size=300)}))
    >>> bool(test.test("b", "c").p_value < 1e-6), bool(test.test("b", "c", given=["a"]).p_value > 0.05)
    (True, True)
    """

    card: ClassVar[Card] = Card(
        id="lr-mixed",
        name="Likelihood-ratio test between nested regressions",
        family="ci-test",
        summary="Linear and multinomial logistic regressions of X and of Y, for any mixture of columns.",
        reference="Tsagris, Borboudakis, Lagani, Tsamardinos (2018) Constraint-based causal discovery with mixed data, "
        "International Journal of Data Science and Analytics 6, 19-30, doi:10.1007/s41060-018-0097-y",
        guarantee="p-values right in large samples where the regressions hold",
        p_values=ASYMPTOTIC,
        design_based=True,
        effect=f"{NATS}: the log likelihood that a regression gains",
        cost="a few times O(n p^2) per regression on p predictors, times r^2 for r classes",
        symmetric=True,
        measures=("p-value",),
        tasks=TARGET_KINDS,
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
    )

    def prepare(self, table: Table, seed: int, target: int | None) -> Any:
        """Return the engine; neither `seed` nor `target` is used."""
        table = with_flags(table)
        if (at := target_of_kind(table)) is not None:
            by_clusters = is_complex(table.design) and knows_clusters(cast(TargetColumn, table[at]).target_kind)
            regressions = LinearTargetRegressionsByClusters if by_clusters else LinearTargetRegressions
            return regressions(table, at, self._of_ordinary, self.min_samples_per_parameter, self.unreliable)
        return self._of_ordinary(table)

    def _of_ordinary(self, table: Table) -> Any:
        """Return the engine of a table whose columns are all numbers and labels."""
        if is_complex(table.design):
            return regressions_by_clusters(self, table, table.design)
        return LRMixedEngine(self, table)

    @property
    def sums(self) -> str:
        """What replaces rows in linear regressions: sums of products."""
        return CROSS_PRODUCTS

    @property
    def sums_by_kinds(self) -> bool:
        """Whether sums are enough depends on which columns are labels."""
        return True

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return results pooled by their p-values."""
        return pooled_p_values(copies)

    def effects(self, results: CIResults) -> np.ndarray:
        """Return the log likelihood gained per row, in nats."""
        return nats_per_row(results)

    def doubts(self, table: Table, target: str, results: CIResults) -> str:
        """Return which columns rounding has destroyed."""
        if not table.has_rows:  # no cells to look at: such tests are not reliable, one by one
            return ""
        return rounded_away(table, target, results)
