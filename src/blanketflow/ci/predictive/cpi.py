"""The conditional predictive impact (CPI): does a model's loss increase when X is replaced by a knockoff?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...core.cards import NUMERIC, RESAMPLED, Card
from ...core.numerics import COLLINEAR, orthonormal_basis, standardised
from ...core.parameters import anything, choice, integer
from ...core.results import CIResults
from ...core.seeds import derive_rng, seed_32
from ...core.table import Column, Table
from ..base import CITest, constant_results
from ..clusters import Exchange, clusters_of, strata_of
from ..unbound import more_permutations, permute_option
from .risk_differences import DECIMALS, corrected_t

if TYPE_CHECKING:
    from .model_losses import Learner

#: Two sums of differences that differ by less than this share are equal except for rounding.
SAME = 1e-9
#: The largest number of cells of a matrix of signs, 32 MB.
BLOCK = 2**22


@dataclass
class CPI(CITest):
    """CPI test: a model learns the target from X and Z; does its loss increase when X is replaced by a knockoff?

    Each row is held out once, in `n_splits` parts, stratified for classes. A row's difference is its loss (log-loss or
    squared error) with the knockoff minus its loss with X. A one-sided test asks whether the mean difference is above
    0. The statistic is the mean difference, rounded to 1e-12. Squared errors are divided by the target's variance, so
    the statistic has no unit.

    Unlike a permuted column, the knockoff keeps the relation of X to Z: it is second-order Gaussian, from the
    least-squares regression of X on Z over all rows, which does not use the target.

    Two things are not in the paper. A boolean or categorical X is drawn from P(level | Z), the least-squares regression
    of each level's indicator on Z. With an empty conditioning set the knockoff is a permutation of X, which is valid
    for any distribution. Categorical members of Z enter as indicators.

    The columns of a set are replaced together: the parts that Z does not explain come from the same other row, so that
    copies keep their relations to each other.

    With `permute` whole clusters are held out, the copy keeps the dependence of X within them, and mean differences of
    clusters are compared. The test is unreliable if fewer than half of the clusters, or rows, can be exchanged.

    Notes
    -----
    docs/ci-tests.md has the measured error rates. They are right for Gaussian columns, even if X is nearly a function
    of Z. There are too many false positives for levels that do not depend on Z linearly, and for other non-linear
    relations: X = Z^2 + noise is rejected in 95 % of samples of 100 rows if T depends on Z^2 too.

    The default model has the most power: a linear effect on two classes, given eight columns, at 200 rows, is found in
    75 % of samples, with lightgbm in 65 %, knn 22 %, tree 20 %. ``model: tree`` is thirty times as fast for classes.
    The cost of svm is quadratic in the rows: for classes lightgbm is faster from 1000 rows on.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> X[:, 1] += X[:, 0]
    >>> X[:, 2] += X[:, 0]
    >>> test = CPI().bind(X)
    >>> bool(test.test(1, 2).p_value < 0.01), bool(test.test(1, 2, given=[0]).p_value > 0.05)
    (True, True)
    """

    card: ClassVar[Card] = Card(
        id="cpi",
        name="conditional predictive impact (CPI)",
        family="ci-test",
        summary="Puts a knockoff in the place of X in held-out rows and compares the losses of any model.",
        reference="Watson, Wright (2021) Testing conditional independence in supervised learning algorithms, "
        "Machine Learning 110, 2107-2129, 10.1007/s10994-021-06030-6.",
        p_values=RESAMPLED,
        guarantee="right in large samples if X depends on Z linearly with Gaussian noise",
        misleads="a feature that depends on the given ones in a bent way, and says nothing beyond them, is found "
        "dependent too often: X = Z² + noise in 95 % of samples of 100 rows at 0.05, if T depends on Z²",
        cost="n_splits model fits per test",
        measures=("p-value",),
        takes_max_rows=True,
        column_sets=True,
    )

    n_splits: int = integer(5, "Number of parts, each held out once.", at_least=2)
    model: Any = anything("svm", "The model: a model id, 'module:Class', or a scikit-learn estimator.")
    significance: str = choice("t", "t (paired t-test) or fisher (signs flipped at random).", ("t", "fisher"))
    n_permutations: int = integer(1999, "Sign flips of significance: fisher.", at_least=1)
    permute: str = permute_option()
    exchanges_within_strata: ClassVar[bool] = True

    def prepare(self, table: Table, seed: int, target: int | None) -> _CPIEngine:
        """Return the engine; `seed` fixes parts, knockoffs, models and sign flips."""
        return _CPIEngine(self, table, seed)

    def smallest_p(self) -> float:
        """Return the smallest p-value of `n_permutations` sign flips; 0 for ``t``."""
        return 1.0 / (1.0 + self.n_permutations) if self.significance == "fisher" else 0.0

    def to_reach(self, level: float) -> str:
        """Return in words how many sign flips are needed, and which option has no limit."""
        return f"{more_permutations(level, self.n_permutations)}, or significance: t"


class _CPIEngine:
    def __init__(self, test: CPI, table: Table, seed: int) -> None:
        self.test, self.table, self.seed = test, table, seed
        self._clusters, strata = clusters_of(test.card.id, table, test.permute), strata_of(table)
        is_free = self._clusters is None and strata is None
        self._is_free, self._exchange = is_free, Exchange.of(test.permute, table.n_rows, self._clusters, strata)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate; all candidates share the held-out parts."""
        return self.evaluate_sets([(candidate,) for candidate in candidates], target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        from .model_losses import Learner

        n, m, column = self.table.n_rows, len(candidates), self.table[target]
        n_units = n if self._clusters is None else int(self._clusters.max()) + 1
        if n_units < self.test.n_splits or column.is_constant():
            return replace(constant_results(m, n), reliable=np.zeros(m, dtype=bool))
        learner = Learner(column, self.test.model)
        rng = derive_rng(self.seed, "parts", column.name)
        if self._clusters is None:
            parts = draw_parts(column, self.test.n_splits, rng)
        else:
            parts = (rng.permutation(n_units) % self.test.n_splits)[self._clusters]
        differences = np.array([self.differences(x, column.name, given, learner, parts) for x in candidates])
        if self._clusters is not None:
            sums = np.array([np.bincount(self._clusters, weights=one) for one in differences])
            differences = sums / np.bincount(self._clusters)
        if self.test.significance == "t":
            p_value, log_p = corrected_t(differences, test_share=0.0)  # no correction: no row is held out twice
            dof = n_units - 1.0
        else:
            rng = derive_rng(self.seed, "signs", column.name)
            p_value, dof = sign_flip_test(differences, self.test.n_permutations, rng), 1.0
            log_p = np.log(p_value)
        means = np.round(differences.mean(axis=1), DECIMALS)
        reliable = np.full(m, self._is_free or self._exchange.has_some)
        return CIResults(means, p_value, log_p, np.full(m, dof), np.full(m, n), reliable)

    def differences(
        self, x: tuple[int, ...], target: str, given: tuple[int, ...], learner: Learner, parts: np.ndarray
    ) -> np.ndarray:
        """Return each held-out row's loss with the copies minus its loss with the columns of X, shape (n,)."""
        from ...models.encode import design, moderate

        differences = np.zeros(len(parts))
        if all(self.table[at].is_constant() for at in x):
            return differences
        tested, names = (sorted(self.table.names[at] for at in columns) for columns in (x, given))
        members = sorted([*tested, *names])  # so that the table's order of columns does not matter
        moderated = moderate(self.table.select(members))
        encoded = design(moderated)
        blocks = dict(zip(members, encoded.blocks, strict=True))
        rng = derive_rng(self.seed, "knockoff", target, *tested, *names)
        replaced = encoded.matrix.copy()
        Z = np.delete(encoded.matrix, np.r_[*(blocks[name] for name in tested)], axis=1)
        columns = [moderated[name] for name in tested]
        is_knockoff = self._is_free and len(columns) == 1
        copies = [knockoff(columns[0], Z, rng)] if is_knockoff else exchanged(columns, Z, self._exchange, rng)
        for copy in copies:
            replaced[:, blocks[copy.name]] = design(Table([copy])).matrix
        for part in range(self.test.n_splits):
            rows = np.flatnonzero(parts == part)
            fitted = learner.fit(encoded.matrix, parts != part, seed_32(self.seed, "part", part, "model"))
            losses = (learner.losses(fitted, matrix[rows], rows) for matrix in (replaced, encoded.matrix))
            differences[rows] = next(losses) - next(losses)
        return differences


def draw_parts(target: Column, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """Return the part, 0 .. n_splits - 1, in which each row is held out, shape (n,); stratified for classes.

    >>> target = Column("t", "boolean", np.array([1, 0, 0, 1, 1, 0]))
    >>> parts = draw_parts(target, 3, np.random.default_rng(0))
    >>> sorted(parts[[0, 3, 4]].tolist()), sorted(parts[[1, 2, 5]].tolist())
    ([0, 1, 2], [0, 1, 2])
    """
    values = target.numbers()
    order = rng.permutation(len(values))
    if target.is_discrete:
        order = order[np.argsort(values[order], kind="stable")]
    parts = np.empty(len(values), dtype=np.int64)
    parts[order] = np.arange(len(values)) % n_splits
    return parts


def sign_flip_test(differences: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return the p-value of each row of differences, (m, n), by random sign flips: p = (1 + exceedances) / (1 +
    n_draws).
    """
    total = differences.sum(axis=1)
    reached = total - SAME * np.abs(differences).sum(axis=1)
    exceeding = np.zeros(len(differences))
    part = max(1, BLOCK // differences.shape[1])
    for start in range(0, n_draws, part):
        size = (min(part, n_draws - start), differences.shape[1])
        signs = rng.integers(0, 2, size=size, dtype=np.int8) * 2.0 - 1.0
        exceeding += np.count_nonzero(differences @ signs.T >= reached[:, None], axis=1)
    return (1.0 + exceeding) / (1.0 + n_draws)


def knockoff(column: Column, Z: np.ndarray, rng: np.random.Generator) -> Column:
    """Return a knockoff of a column given Z, (n, q): Gaussian, sampled levels, or a permutation if Z has no columns."""
    if not Z.shape[1]:
        return column.take(rng.permutation(len(Z)))
    if column.is_discrete:
        n_levels = max(len(column.levels), 2)
        return replace(column, values=sampled_levels(column.numbers().astype(np.int64), n_levels, Z, rng))
    return replace(column, kind=NUMERIC, values=gaussian_knockoff(column.numbers(), Z, rng))


def exchanged(columns: Sequence[Column], Z: np.ndarray, exchange: Exchange, rng: np.random.Generator) -> list[Column]:
    """Return copies of columns with the same relation to Z, (n, q), to each other, and among rows of a cluster.

    The part that Z does not explain is exchanged, for all columns alike: a number's residual from the regression on Z
    with block intercepts; a level's rank within P(level | Z), drawn uniformly within the level.
    """
    moved = exchange.permutation(rng)
    if not Z.shape[1]:
        return [column.take(moved) for column in columns]
    return [_moved(column, Z, exchange, moved, rng) for column in columns]


def _moved(column: Column, Z: np.ndarray, exchange: Exchange, moved: np.ndarray, rng: np.random.Generator) -> Column:
    if not column.is_discrete:
        x = column.numbers()
        expected = _within_blocks(x, Z, exchange)
        return replace(column, kind=NUMERIC, values=expected + (x - expected)[moved])
    codes = column.numbers().astype(np.int64)
    probability = _within_blocks(np.eye(max(len(column.levels), 2))[codes], Z, exchange)
    return replace(column, values=exchanged_levels(codes, probability, moved, rng))


def exchanged_levels(
    codes: np.ndarray, probability: np.ndarray, moved: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return codes, (n,), with the same relation to Z: ranks within P(level | Z), (n, r), come from the rows `moved`.

    A rank is drawn uniformly within a row's level. Negative probabilities count as 0; those of a row need not sum to 1.
    """
    probability = np.maximum(probability, 0.0)
    upper = np.cumsum(probability, axis=1) / probability.sum(axis=1, keepdims=True)
    at = np.arange(len(codes))
    below = np.where(codes > 0, upper[at, codes - 1], 0.0)
    places = (below + rng.random(len(codes)) * (upper[at, codes] - below))[moved]
    return np.sum(places[:, np.newaxis] >= upper[:, :-1], axis=1)


def _within_blocks(y: np.ndarray, Z: np.ndarray, exchange: Exchange) -> np.ndarray:
    """Return the least-squares fit of y, one or more columns, on Z and block indicators."""
    block = np.empty(len(Z), dtype=np.int64)
    block[exchange.members] = exchange.blocks[:, np.newaxis]
    sizes = np.bincount(block)

    def means(columns: np.ndarray) -> np.ndarray:
        flat = columns.reshape(len(columns), -1)
        sums = np.array([np.bincount(block, weights=column) for column in flat.T]).T
        return (sums / sizes[:, np.newaxis])[block].reshape(columns.shape)

    of_y = means(y)
    return of_y + regression(y - of_y, Z - means(Z))[0]


def gaussian_knockoff(x: np.ndarray, Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a second-order Gaussian knockoff of numbers, shape (n,) (Candes et al. 2018, 10.1111/rssb.12265).

    It has the mean, the variance and the covariance with Z of x. With E[x|Z] and lambda = Var(x|Z) from least squares,
    and the largest possible s = min(Var(x), 2 lambda), it is

        x - (s / lambda) (x - E[x|Z]) + sqrt(2 s - s^2 / lambda) noise,     where Cov(x, knockoff) = Var(x) - s.

    If x is a linear function of Z, the knockoff is x itself.
    """
    noise = rng.normal(size=len(x))
    expected, rank = regression(x, Z)
    residual = x - expected
    total = np.var(x, ddof=1)
    left = residual @ residual / max(len(x) - rank, 1)
    if left <= COLLINEAR * total:
        return x.copy()
    s = min(total, 2.0 * left)
    return x - (s / left) * residual + np.sqrt(s * (2.0 - s / left)) * noise


def sampled_levels(codes: np.ndarray, n_levels: int, Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return levels drawn from P(level | Z), for codes 0 .. n_levels - 1 of shape (n,).

    P is the least-squares regression of each level's indicator on Z, clipped at 0 and normalised. The copy depends only
    on Z and randomness, so it is independent of the column given Z.
    """
    draws = rng.random(len(codes))
    probability = np.maximum(regression(np.eye(n_levels)[codes], Z)[0], 0.0)
    cumulative = np.cumsum(probability, axis=1)
    return np.sum(draws[:, None] * cumulative[:, -1:] >= cumulative[:, :-1], axis=1)


def regression(y: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the least-squares fit of y (one or more columns) on Z with an intercept, and its rank."""
    basis = orthonormal_basis(standardised(Z.T))
    mean = y.mean(axis=0)
    return mean + basis.T @ (basis @ (y - mean)), len(basis) + 1
