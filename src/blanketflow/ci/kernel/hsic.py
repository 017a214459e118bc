"""The Hilbert-Schmidt independence criterion (HSIC) and, given Z, the kernel conditional independence test (KCI)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...core.cards import ASYMPTOTIC, Card
from ...core.errors import ParameterError, UnsupportedError
from ...core.parameters import choice, integer, number
from ...core.results import CIResult, CIResults
from ...core.seeds import derive_rng
from ...core.table import Column, Table
from ..base import BoundTest, CITest
from ..clusters import Exchange, clusters_of
from ..engines import Candidate, Columns, candidates_of
from ..feature_groups import table_of_variables
from ..linear.regressions import FunctionsOf
from ..unbound import CLUSTERS, ROWS, WITHIN_CLUSTERS, checked_table, more_permutations, permute_option, with_strata
from . import hsic_null as null
from .hsic_null import FEWEST_ROWS
from .kernel_features import cross_of_joint, cross_without_each, kernel_features, low_rank_features, residual_of

#: Largest size in bytes of an engine's cached features.
KEPT_BYTES = 2**28
#: A variance below this share of k(x, x) = 1, or a difference below this share of a statistic, is rounding.
CONSTANT, SAME = 1e-12, 1e-9
#: The most rows for the variance given Z.
PAIRED_ROWS = 2000
#: With a trace error: rows for the median distance, and for the variance given Z.
FEW_MEDIAN_ROWS, FEW_PAIRED_ROWS = 300, 400


@dataclass
class HSIC(CITest):
    """Kernel test of (conditional) independence: detects any kind of dependence between any kinds of columns.

    The statistic is the biased HSIC, tr(K H L H) / (m - 1)^2, for m rows, kernel matrices K of X and L of the target,
    and H = I - 11'/m. The kernel is exp(-d^2 / (2 sigma^2)) on standardised numeric columns, with sigma the median
    non-zero distance, and the delta kernel on categorical and boolean ones. A set of columns has one joint kernel: a
    Gaussian on its numeric columns, times a delta on its discrete ones.

    Given Z the statistic is tr(Kr Lr) / (m - 1)^2, where Kr = R H K H R and Lr are residuals of kernel ridge regression
    on Z, R = ridge (H M H + ridge I)^-1, and M is the kernel matrix of Z. Then K is the kernel of (X, Z), and L the
    kernel of (T, Z).

    Tables with more than `n_landmarks` distinct rows are approximated (Nystroem), so no m x m matrix is stored. The
    landmarks of all columns are the first distinct rows in the same random order.

    ``trace_error`` above 0 replaces exact computation by a fast one: an incomplete Cholesky decomposition of each
    kernel omits at most this share of its trace, for any number of rows and `n_landmarks`. The median distance is that
    of 300 rows, and the variance given Z is estimated from the pairs of 400. docs/ci-tests.md has the error rates. In
    ``bahsic`` only the target is approximated this way, not the sets without each column.

    Notes
    -----
    ``null: gamma`` uses the exact mean and variance over all permutations of the rows (Kazi-Aoual et al. 1995). At ten
    rows the moments of Gretton et al. reject 8 % of true nulls at alpha 0.05, the exact ones 5 %. Given Z it uses the
    moments of Zhang et al. ``permutation`` permutes rows. Given Z it multiplies residuals by normal numbers (a wild
    bootstrap), because permuted residuals lose their relation to Z and reject 16 % of true nulls at 50 rows with three
    columns in Z. docs/ci-tests.md has the rates of both.

    Zhang et al. join Z to X only. Joining Z to both sides makes the test symmetric, with more power for dependence that
    changes its sign with Z: T = 0.6 sign(Z) X + noise is found in 23 % of samples of 50 rows, with Z joined to X only
    in 15 %.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=200)
    >>> X = np.column_stack([a**2 + 0.1 * rng.normal(size=200), a, a + rng.normal(size=200)])
    >>> test = HSIC().bind(X)
    >>> bool(test.test(0, 1).p_value < 1e-6), bool(test.test(0, 2, given=[1]).p_value > 0.05)
    (True, True)
    """

    card: ClassVar[Card] = Card(
        id="hsic",
        name="Hilbert-Schmidt independence criterion (HSIC)",
        family="ci-test",
        summary="Compares kernel matrices (given Z, matrices of residuals: KCI) and finds dependence of any form.",
        reference="Gretton, Fukumizu, Teo, Song, Schoelkopf, Smola (2007) A kernel statistical test of independence, "
        "NIPS 20; given Z: Zhang, Peters, Janzing, Schoelkopf (2011) Kernel-based conditional independence test, "
        "arXiv:1202.3775.",
        p_values=ASYMPTOTIC,
        guarantee="asymptotic (gamma), or exact by permutation given nothing; given Z right in large samples if the "
        "kernel regression on Z is",
        cost="O(n^2 + n r^2) per column, O(n r^2) per test, with r <= n_landmarks features",
        symmetric=True,
        measures=("p-value", "hsic"),
        column_sets=True,
        takes_max_rows=True,
    )
    joins_columns: ClassVar[bool] = True
    draws_rows: ClassVar[bool] = True  # type: ignore[misc] # as landmarks, and where null is permutation

    null: str = choice(
        "gamma",
        "gamma (moments), or permutation (of rows; given Z residuals times normal numbers).",
        ("gamma", "permutation"),
    )
    n_permutations: int = integer(999, "Draws of null: permutation.", at_least=1)
    permute: str = permute_option()
    ridge: float = number(0.03, "Ridge of the kernel regression on Z (the paper's epsilon).", above=0)
    n_landmarks: int = integer(1000, "Kernels of up to this many different rows are exact.", at_least=2)
    trace_error: float = number(
        0.0,
        "Share of its trace that a kernel's low-rank approximation may leave out; 0 for kernels as n_landmarks says.",
        at_least=0,
        below=1,
    )

    def prepare(self, table: Table, seed: int, target: int | None) -> _HSICEngine:
        """Return the engine; `seed` fixes landmarks and permutations."""
        return _HSICEngine(self, table, seed)

    def check(self, where: str | None = None) -> None:
        """Raise `ParameterError` if an option is out of range, or `permute` is set but nothing is permuted."""
        super().check(where)
        if self.permute != ROWS and self.null != "permutation":
            raise ParameterError(
                f"{where or self.card.id}: permute is {self.permute}, but null: {self.null} permutes nothing. Set null "
                "to permutation."
            )

    def smallest_p(self) -> float:
        """Return the smallest p-value of `n_permutations` draws; 0 for ``gamma``."""
        return 1.0 / (1.0 + self.n_permutations) if self.null == "permutation" else 0.0

    def to_reach(self, level: float) -> str:
        """Return in words how many draws are needed, and which option has no limit."""
        return f"{more_permutations(level, self.n_permutations)}, or null: gamma"

    def bound(self, table: Table, seed: int, target: int | None) -> BoundHSIC:
        """Return the bound test, which can also measure without p-values."""
        return BoundHSIC(self, table, seed)

    def bind_joined(
        self, table: Table, groups: Mapping[str, Sequence[str]], seed: int, target: str | None
    ) -> BoundHSIC:
        """Bind the test to a table in which each group has one joint kernel."""
        named = table_of_variables(table, groups)
        whole, strata = with_strata(self, checked_table(self, table))
        members = [*(tuple(groups.get(name, (name,))) for name in named.names), *((whole.names[at],) for at in strata)]
        return BoundHSIC(self, named, seed, _HSICEngine(self, whole, seed, members))


class BoundHSIC(BoundTest):
    """A bound test that can return statistics without p-values, which are the most expensive part for sets."""

    engine: _HSICEngine

    def __init__(self, test: HSIC, table: Table, seed: int = 0, engine: _HSICEngine | None = None) -> None:
        super().__init__(test, table, seed, engine=engine)
        self._measured: dict[tuple[Candidate, int], float] = {}

    def statistics(self, xs: Iterable[str | int | Columns], y: str | int) -> np.ndarray:
        """Return the HSIC of many candidates with one column: the statistics of `test_many`, without p-values.

        Each candidate that is not cached counts as a test. Raises like `test_many`.
        """
        candidates, target = candidates_of(self.table, xs, self.card), self.table.position(y)
        _check_differ(candidates, target)
        self._check_no_strata()
        places = zip(candidates, self._cache.places(candidates, target, ()), strict=True)
        known = {c: self._cache.result(place).statistic for c, place in places if place is not None}
        known.update({c: self._measured[c, target] for c in candidates if (c, target) in self._measured})
        unknown = [c for c in dict.fromkeys(candidates) if c not in known]
        self.spend(len(unknown))
        fresh = {c: self.engine.statistic(c, target) for c in unknown}
        self._measured.update({(c, target): value for c, value in fresh.items() if isinstance(c, tuple)})
        known.update(fresh)
        return np.array([known[c] for c in candidates])

    def growing(self) -> GrowingColumns:
        """Return an object that computes the `statistics` of columns added one by one at lower cost."""
        self._check_no_strata()
        return GrowingColumns(self)

    def _check_no_strata(self) -> None:
        if self.strata:
            raise UnsupportedError(
                "statistics of hsic are not measured within strata. Remove within from the data set."
            )

    def statistics_without_each(self, xs: Sequence[str | int], y: str | int) -> np.ndarray:
        """Return the HSIC of two or more columns without each in turn with `y`, in the order of `xs`; each counts as a
        test.
        """
        self._check_no_strata()
        columns, target = [self.table.position(x) for x in xs], self.table.position(y)
        if len(set(columns)) < max(2, len(columns)):
            raise ParameterError("leaving out one column at a time needs at least two different columns.")
        _check_differ([tuple(columns)], target)
        self.spend(len(columns))
        return self.engine.statistics_without_each(columns, target)


def _check_differ(candidates: Iterable[Candidate], target: int) -> None:
    if any(target in c if isinstance(c, tuple) else target == c for c in candidates):
        raise ParameterError("a test needs X and Y to be different columns.")


@dataclass
class _Side:
    """Centred features of one side, shape (n, r)."""

    features: np.ndarray

    @cached_property
    def traces(self) -> tuple[float, float, float]:
        return null.traces(self.features)

    @cached_property
    def is_constant(self) -> bool:
        return bool(np.sum(self.features * self.features) <= CONSTANT * len(self.features))


class _HSICEngine:
    """Kernels of the table's columns, or of groups of them (`members`, by name)."""

    def __init__(self, test: HSIC, table: Table, seed: int, members: Sequence[tuple[str, ...]] | None = None) -> None:
        self.test, self.table, self.seed, self._members = test, table, seed, members
        self._order = derive_rng(seed, "rows").permutation(table.n_rows)
        found = clusters_of(test.card.id, table, test.permute)
        self._clusters = None if found is None else found[self._order]
        self._exchange = None if found is None else Exchange.of(test.permute, table.n_rows, self._clusters)
        self._sides: dict[tuple[int, ...], _Side] = {}
        self._kept_bytes = 0

    def side(self, columns: tuple[int, ...]) -> _Side:
        """Return the cached features of the joint kernel of some columns."""
        if columns not in self._sides:
            if self._kept_bytes > KEPT_BYTES:
                self._sides, self._kept_bytes = {}, 0
            self._sides[columns] = _Side(self._features(self._columns(columns)))
            self._kept_bytes += self._sides[columns].features.nbytes
        return self._sides[columns]

    def _features(self, columns: list[Column]) -> np.ndarray:
        if self.test.trace_error:
            return low_rank_features(columns, self.test.trace_error, FEW_MEDIAN_ROWS)
        return kernel_features(columns, self.test.n_landmarks)

    def statistic(self, candidate: Candidate, target: int) -> float:
        """Return the HSIC of a column or a set with the target; features of sets are not computed."""
        if self.table.n_rows < null.FEWEST_ROWS:
            return 0.0
        target_side = self.side((target,))
        if isinstance(candidate, tuple):
            if self.test.trace_error:  # few features, which are kept for the next target
                return self.scaled(null.cross(self.side(candidate).features, target_side.features))
            columns = self._columns(candidate)
            return self.scaled(cross_of_joint(columns, self.test.n_landmarks, target_side.features))
        side = self.side((candidate,))
        are_varying = not (side.is_constant or target_side.is_constant)
        return self.scaled(null.cross(side.features, target_side.features)) if are_varying else 0.0

    def statistics_without_each(self, columns: Sequence[int], target: int) -> np.ndarray:
        """Return the HSIC of all columns but one with the target, leaving out each in turn."""
        if self.table.n_rows < null.FEWEST_ROWS:
            return np.zeros(len(columns))
        if self._members is not None:
            rests = [tuple(columns[:i]) + tuple(columns[i + 1 :]) for i in range(len(columns))]
            return np.array([self.statistic(rest, target) for rest in rests])
        crosses = cross_without_each(self._columns(columns), self.test.n_landmarks, self.side((target,)).features)
        found = dict(zip(self._names(columns), self.scaled(crosses).tolist(), strict=True))
        return np.array([found[self.table.names[position]] for position in columns])

    def scaled(self, cross: float | np.ndarray) -> Any:
        return cross / (self.table.n_rows - 1) ** 2

    def _columns(self, columns: Sequence[int]) -> list[Column]:
        """Return columns with rows in random order, sorted by name so that table order does not matter."""
        return [self.table[name].take(self._order) for name in self._names(columns)]

    def _names(self, columns: Sequence[int]) -> list[str]:
        if self._members is None:
            return sorted(self.table.names[position] for position in columns)
        return sorted(name for position in columns for name in self._members[position])

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        return self.evaluate_sets([(candidate,) for candidate in candidates], target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set as one joint variable; the regression on Z and the target's features are shared."""
        residual = residual_of(self.side(given).features, self.test.ridge) if given else None
        functions = FunctionsOf(self._columns(given) if given else [])

        def side(columns: tuple[int, ...]) -> _Side:
            is_constant = all(self.table[name].is_constant() for name in self._names(columns))
            if is_constant or (given and functions.include(self._columns(columns))):
                # The residuals of a ridge regression are not zero, even for a constant, or a function of Z.
                return _Side(np.zeros((self.table.n_rows, 1)))
            whole = self.side(tuple(sorted(columns + given)))
            return _Side(residual(whole.features)) if residual else whole

        targets = side((target,))
        answers = []
        for candidate in candidates:
            # Only the second one is permuted, so the order is fixed by name, which makes the test symmetric.
            is_first = self._names(candidate) < self._names((target,))
            pair = (side(candidate), targets) if is_first else (targets, side(candidate))
            answers.append(self._answer(*pair, is_given=bool(given)))
        return CIResults.from_rows(answers)

    def _answer(self, a: _Side, b: _Side, is_given: bool) -> CIResult:
        n = self.table.n_rows
        if n < null.FEWEST_ROWS or a.is_constant or b.is_constant:
            return CIResult(0.0, 1.0, 0.0, 1.0, n, n >= null.FEWEST_ROWS)
        cross = null.cross(a.features, b.features)
        tail = self._drawn_tail if self.test.null == "permutation" else self._gamma_tail
        is_reliable = is_given or self._exchange is None or self._exchange.has_some
        return CIResult(self.scaled(cross), *tail(a, b, cross, is_given), 1.0, n, is_reliable)

    def _gamma_tail(self, a: _Side, b: _Side, cross: float, is_given: bool) -> tuple[float, float]:
        n = self.table.n_rows
        if not is_given:
            return null.gamma_tail(cross, *null.permutation_moments(a.traces, b.traces, n))
        pairs = derive_rng(self.seed, "pairs").permutation(n)
        pairs = pairs[: FEW_PAIRED_ROWS if self.test.trace_error else PAIRED_ROWS]
        return null.gamma_tail(cross, *null.residual_moments(a.features, b.features, pairs))

    def _drawn_tail(self, a: _Side, b: _Side, cross: float, is_given: bool) -> tuple[float, float]:
        rng = derive_rng(self.seed, "permutations")  # the same for every pair
        asked = a.features, b.features, self.test.n_permutations, rng
        if is_given and self.test.permute == WITHIN_CLUSTERS:
            raise UnsupportedError(
                f"hsic: permute: {WITHIN_CLUSTERS} is for tests given nothing: residuals are not permuted. Set permute "
                f"to {CLUSTERS}, or choose mi-permutation."
            )
        drawn = null.multiplied(*asked, self._clusters) if is_given else null.permuted(*asked, self._exchange)
        exceeding = np.count_nonzero(drawn >= cross * (1.0 - SAME))
        p_value = (1.0 + exceeding) / (1.0 + len(drawn))
        return p_value, float(np.log(p_value))


#: Largest size in bytes of concatenated features; later columns are multiplied one by one.
BESIDE_BYTES = 2**26


class GrowingColumns:
    """Columns added one by one, and the `statistics` of all of them with another column.

    Candidates are multiplied together; with 80 rows and 1,000 columns this takes a tenth of the time of single ones.

    >>> from blanketflow.ci import get_ci_test
    >>> bound = get_ci_test("hsic").bind(np.random.default_rng(0).normal(size=(50, 3)))
    >>> columns = bound.growing()
    >>> columns.add("x0"), columns.add("x1")
    (None, None)
    >>> np.allclose(columns.statistics("x2"), bound.statistics(["x0", "x1"], "x2"))
    True
    """

    def __init__(self, bound: BoundHSIC) -> None:
        self._bound = bound
        self._rows = np.empty((0, bound.table.n_rows))  # the features, one below the other
        self._starts, self._end, self._others = list[int](), 0, list[int]()

    def __len__(self) -> int:
        return len(self._starts) + len(self._others)

    def add(self, column: str | int) -> None:
        """Add a column."""
        position = self._bound.table.position(column)
        side = self._bound.engine.side((position,))
        features = side.features.T[:1] * 0.0 if side.is_constant else side.features.T
        start, end = self._end, self._end + len(features)
        if self._others or 8 * end * self._rows.shape[1] > BESIDE_BYTES:
            self._others.append(position)
            return
        if end > len(self._rows):
            grown = np.empty((2 * end, self._rows.shape[1]))
            grown[:start] = self._rows[:start]
            self._rows = grown
        self._rows[start:end] = features
        self._starts.append(start)
        self._end = end

    def statistics(self, y: str | int) -> np.ndarray:
        """Return the HSIC of each column with another one, in the order of addition; each counts as a test."""
        bound, target = self._bound, self._bound.table.position(y)
        bound.spend(len(self))
        side = bound.engine.side((target,))
        if side.is_constant or bound.table.n_rows < FEWEST_ROWS:
            return np.zeros(len(self))
        products = self._rows[: self._end] @ side.features
        crosses = np.add.reduceat(np.einsum("ij,ij->i", products, products), np.array(self._starts, dtype=np.intp))
        others = [bound.engine.statistic(column, target) for column in self._others]
        return np.concatenate([bound.engine.scaled(crosses), others])
