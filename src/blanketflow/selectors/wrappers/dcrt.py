"""Distilled conditional randomisation tests: a p-value for each feature given all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...ci.multiple_testing import BH, BY, NONE, rejected, smallest_levels
from ...ci.tails import chi2_tail
from ...core.cards import Card
from ...core.column_checks import clusters_of_copies
from ...core.errors import ParameterError
from ...core.numerics import standardised
from ...core.parameters import choice, number
from ...moves.steps import Step, Steps
from ..base import Method, Problem
from ..discoveries import by_level, in_words
from ..filters.linear_similarity import target_columns
from ..knockoff.columns_for_knockoffs import (
    TakesCovariance,
    columns_of,
    covariance_option,
    known_columns,
    normal_scores,
)
from ..knockoff.gaussian_knockoffs import SMALLEST_EIGENVALUE, shrinkage


@dataclass
class DCRT(TakesCovariance, Method):
    """Keep the features whose distilled conditional randomisation test rejects independence given all others.

    Each feature is regressed on all others by a linear model, and the target by a lasso. If the feature is independent
    of the target given all others, the product of the two residuals has a known distribution, which gives the p-value
    without drawing features. A kept feature is in the Markov boundary, up to false rejections.

    Grow admits features with p at most alpha, smallest first; shrink keeps those that the correction for all features
    rejects. A near-copy has little information given the others, so if no near-copy of a cluster is kept, the first one
    is tested again given all features but its near-copies.

    Notes
    -----
    P-values are exact if features are Gaussian with known `covariance` and rows are independent, whatever the
    distribution of the target. By default the covariance is estimated. `by` then controls the false discovery rate at
    alpha under any dependence of the p-values; this is not proved for `bh`. docs/error-control.md has the measured
    rates. P-values of features that may be tested twice are doubled, so the guarantee still holds.

    The target is distilled by a scaled lasso on the other features, with the best of six penalties; classes are
    regressed as indicators. A poor distillation costs power, not validity.

    These tests find linear effects. With `squares`, each number has a second test: of the square of its normal scores
    given the number and all others with their squares, where the lasso has all these columns too. The two p-values are
    combined by weighted Bonferroni, p = min(p1 / (1 - squares), p2 / squares), which keeps the level.

    With `weighting`, levels are shared out by what the other features say. Where a feature has an effect, features that
    correlate with it show it too, with its sign. What they show does not depend on the test of an irrelevant feature.
    So p-values are divided by weights exp(weighting * score), where the score, -1 to 1, says how far the others agree
    with the sign that the test finds, and the mean weight is 1 (Genovese, Roeder and Wasserman, 2006,
    doi:10.1093/biomet/93.3.509). Each feature is then regressed on the others by the ridge that is most likely for all
    of them, and the variance of a test is that under the ridge's prior. The false discovery rate is measured, not
    proved.

    Unlike knockoffs, it needs no minimum number of features.

    Examples
    --------
    >>> import numpy as np
    >>> import blanketflow as bf
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> y = X[:, 3] + 0.5 * X[:, 7] + np.random.default_rng(1).normal(size=300)
    >>> bf.DCRT(alpha=0.01).fit(X, y).selected_features_
    ['x3', 'x7']
    """

    card: ClassVar[Card] = Card(
        id="dcrt",
        name="distilled conditional randomisation test (dCRT)",
        family="wrapper",
        summary="Tests what a linear law leaves of each feature against what a lasso leaves of the target.",
        reference="Liu, Katsevich, Janson, Ramdas (2022) Fast and powerful conditional randomization testing via "
        "distillation, Biometrika 109(2), 277-293, doi:10.1093/biomet/asab039.",
        guarantee="exact p-values if the features are Gaussian with the covariance given and rows are independent, "
        "and then a false discovery rate of at most alpha with correction: by; with bh that is unproved, since the "
        "p-values are dependent; nothing is proved for an estimated covariance or other laws",
        work="knockoffs",
        cost="no tests; d^3 for the law; for each of up to six penalties one lasso of d columns, and one more for each "
        "feature that it keeps; twice as much where near-copies are lost; the same once more of twice the columns "
        "with squares",
        importance="minus the natural logarithm of its p-value",
    )
    default_test: ClassVar[str | None] = None

    alpha: float = number(0.05, "Level of the correction; without one, of each p-value.", above=0, below=1)
    correction: str = choice(
        BH,
        "How p-values of all features are corrected: by the false discovery rate at alpha (bh, Benjamini and Hochberg, "
        "unproved where features are dependent; by, Benjamini and Yekutieli, under any dependence), or not (none).",
        (BH, BY, NONE),
    )
    covariance: Any = covariance_option()
    squares: float = number(
        0.0,
        "Share of each test's level that is spent on effects of the squares of numbers, which are tested by "
        "themselves; 0: linear effects only.",
        at_least=0,
        below=1,
    )
    weighting: float = number(
        0.0,
        "Size, in standard errors, of the effect that the other features are asked about, in order to give a test more "
        "of the level if they agree with it; 0: all tests have the same level.",
        at_least=0,
        below=10,
    )
    penalty: float | None = number(
        None,
        "Penalty of the lasso that distils the target, as a multiple of the one under which noise alone lets nothing "
        "in; null for the best of six by generalised cross-validation, for each feature without itself.",
        above=0,
        nullable=True,
    )

    def check(self, where: str | None = None) -> None:
        """Raise `ParameterError` for squares or weights of features whose covariance is given."""
        super().check(where)
        if self.covariance is not None and (self.squares or self.weighting):
            squares = f"squares is {self.squares:g}, but the covariance that is given says nothing of squares"
            weights = f"weighting is {self.weighting:g}, but the covariance that is given is for exact p-values"
            raise ParameterError(
                f"{where or self.card.id}: {squares if self.squares else weights}. Leave one of them out."
            )

    def proves_one_search(self) -> bool:
        """Whether the guarantee holds for one search only: yes."""
        return True

    def grow(self, problem: Problem) -> Steps:
        """Admit features with p at most alpha, the smallest first."""
        features, target = problem.table.select(problem.features), problem.table[problem.target]
        outcomes = target_columns(target) * np.sqrt(target.n_rows)
        outcomes = outcomes[:, : max(1, outcomes.shape[1] - 1)]  # the last class is what no other is
        correlations = None
        if self.covariance is None:
            columns, owners = columns_of(features)
        else:
            columns, owners, correlations = known_columns(features, self.options()["covariance"], self.card.id)
        if not len(owners):
            return []
        statistics, p_values, log_p = self._tested(problem, columns, owners, outcomes, correlations)
        clusters = clusters_of_copies(problem.table, problem.features)
        firsts = [cluster[0] for cluster in clusters]
        _double(p_values, log_p, firsts)
        kept = rejected(log_p, self.alpha, self.correction)
        lost = [cluster for cluster in clusters if not kept[cluster].any()]
        if lost:
            use = ~np.isin(owners, [j for cluster in lost for j in cluster[1:]])
            law = None if correlations is None else correlations[np.ix_(use, use)]
            again = self._tested(problem, columns[:, use], owners[use], outcomes, law)
            firsts = [cluster[0] for cluster in lost]
            for values, repeated in zip((statistics, p_values, log_p), again, strict=True):
                values[firsts] = repeated[firsts]
            _double(p_values, log_p, firsts)
        if self.correction != NONE:
            smallest = smallest_levels(log_p, self.correction)
            problem.verdict.update(
                q=self.alpha,
                discoveries=by_level(problem.features, smallest, p_value=p_values),
                sentence=in_words(problem.features, smallest, self.alpha, self.alpha),
            )
        order = np.argsort(log_p, kind="stable")
        order = order[p_values[order] <= self.alpha]
        names, numbers = [problem.features[j] for j in order.tolist()], (statistics, p_values, -log_p)
        statistic, p_value, importance = (values[order] for values in numbers)
        return Steps(names, statistic=statistic, p_value=p_value, importance=importance)

    def _tested(
        self,
        problem: Problem,
        columns: np.ndarray,
        owners: np.ndarray,
        outcomes: np.ndarray,
        correlations: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        d = len(problem.features)
        how = problem.check_time, self.penalty
        found = dcrt_p_values(columns, owners, outcomes, d, correlations, *how, weighting=self.weighting)
        added, numbers = squares_of(columns, owners) if self.squares else (columns[:, :0], owners[:0])
        if len(numbers):
            joined, of = np.hstack([columns, added]), np.concatenate([owners, d + numbers])
            again = dcrt_p_values(joined, of, outcomes, 2 * d, None, *how, tested=d + numbers, weighting=self.weighting)
            linear, bent = found[2][numbers] - np.log1p(-self.squares), again[2][d + numbers] - np.log(self.squares)
            at = numbers[bent < linear]
            found[0][at] = again[0][d + at]
            found[2][numbers] = np.minimum(np.minimum(linear, bent), 0.0)
            found[1][numbers] = np.exp(found[2][numbers])
        return found

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Steps:
        """Keep the features that the correction for all of them rejects."""
        log_p = np.zeros(len(problem.features))  # those above alpha are rejected by no correction
        steps = Steps.of(candidates)
        log_p[: len(steps)] = -steps.importance
        return steps.with_columns(kept=rejected(log_p, self.alpha, self.correction)[: len(steps)])


def _double(p_values: np.ndarray, log_p: np.ndarray, at: list[int]) -> None:
    """Double the p-values of features that are tested twice."""
    log_p[at] = np.minimum(log_p[at] + np.log(2), 0.0)
    p_values[at] = np.minimum(2 * p_values[at], 1.0)


#: Maximum rounds of the scaled lasso, and the change of the noise level that ends them.
ROUNDS, CLOSE = 30, 1e-4
#: Lasso penalties, in multiples of the one at which no column enters by noise.
PENALTIES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18)
#: With an estimated law, penalties end where a lasso keeps this share of the rows as
#: columns: the residual then no longer reflects the noise of the target.
MOST_KEPT = 0.25
#: More degrees of freedom than this share of the rows count as this share.
MOST_FREEDOM = 0.999
#: A square with less than this share of its variance given its number is left out.
LEAST_OF_SQUARE = 0.1
#: Shares among which the likeliest is chosen, of equal steps of the logarithm of s / (1 - s).
SHARES = 1.0 / (1.0 + np.geomspace(1e4, 1e-2, 41))
#: A column with less than this residual share of variance given the others is a copy of them.
SMALLEST_SHARE = 1e-8


def squares_of(columns: np.ndarray, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the squares of numbers, (n, k), without their linear part, and the positions of their features, (k,).

    Normal scores are squared, so that a few large numbers do not decide. A column of two values has no square, and of
    features with several columns, which are labels, none is made. `columns`, (n, m), are centred and of variance 1.
    """
    alone = np.flatnonzero(np.bincount(owners)[owners] == 1)
    numbers, size = columns[:, alone].T, len(columns) ** 0.5
    scores = np.array([normal_scores(values) for values in numbers]).reshape(numbers.shape)
    found = standardised(scores**2) * size
    found -= numbers * (found * numbers).mean(axis=1, keepdims=True)
    varies = np.flatnonzero((found * found).mean(axis=1) > LEAST_OF_SQUARE)
    return standardised(found[varies]).T * size, owners[alone[varies]]


def left_of_features(
    columns: np.ndarray, owners: np.ndarray, correlations: np.ndarray | None = None, by_prior: bool = False
) -> tuple[np.ndarray, dict[int, np.ndarray], Callable[[np.ndarray], np.ndarray]]:
    """Return the residual of each column given all other features, (n, m), and its covariances by feature, (k, k).

    `columns` are centred and of variance 1, (n, m), and those of one feature (`owners`) do not explain each other. The
    covariances of a feature's k columns given all others come from the known `correlations`, (m, m), or from the rows,
    with correlations estimated by Ledoit-Wolf shrinkage.

    The third value is a function that returns the residuals of further columns, (n, c), given all features. `by_prior`
    shrinks by `likeliest_share` instead, and covariances are those of its prior.
    """
    precision, products, residual = _precision(columns, correlations, by_prior)
    left, covariances = np.empty_like(columns), {}
    for owner in np.unique(owners).tolist():
        own = np.flatnonzero(owners == owner)
        inverse = np.linalg.inv(precision(own))
        left[:, own] = products[:, own] @ inverse
        rows = left[:, own]
        beside = columns[:, own] if by_prior else rows
        covariances[owner] = beside.T @ rows / len(rows) if correlations is None else inverse
    return left, covariances, residual


def _precision(
    columns: np.ndarray, correlations: np.ndarray | None, by_prior: bool
) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Return a function of blocks of the inverse correlations, the columns times that inverse, and the residual."""
    if correlations is not None:
        inverse = np.linalg.inv(correlations)
        return lambda own: inverse[np.ix_(own, own)], columns @ inverse, lambda y: y
    # By the singular values of the rows, so that more columns than rows cost n^2 m, and not m^3.
    left, singular, axes = np.linalg.svd(columns, full_matrices=False)
    share = likeliest_share(singular**2 / len(columns), axes, len(columns)) if by_prior else shrinkage(columns)
    outside = 1.0 / max(share, SMALLEST_EIGENVALUE)
    along = 1.0 / np.maximum((1.0 - share) * singular**2 / len(columns) + share, SMALLEST_EIGENVALUE)

    def block(own: np.ndarray) -> np.ndarray:
        return (axes[:, own].T * (along - outside)) @ axes[:, own] + outside * np.eye(len(own))

    kept = (1.0 - share) * singular**2 / len(columns) * along
    return block, (left * (singular * along)) @ axes, lambda y: y - (left * kept) @ (left.T @ y)


def likeliest_share(values: np.ndarray, axes: np.ndarray, n_rows: int) -> float:
    """Return the share of the identity in the correlations under which columns are most likely given all others.

    `values`, (k,), and `axes`, (k, m), are the eigenvalues above 0 of the correlations of m columns and their vectors.
    With a share s, the regression of a column on the others is a ridge. Its coefficients are the mean of their law
    given the rows, if they are independent Gaussian with the variance (1 - s) / (s n) times that of the residual. The
    product over all columns of the likelihoods under this prior is compared for the values of `SHARES`.
    """
    lengths = []
    for share in SHARES:
        along = (1.0 - share) * values + share
        explained = ((1.0 - share) * values / along) @ axes**2
        explained = np.clip(explained, SMALLEST_SHARE, 1.0 - SMALLEST_SHARE)
        determinant = np.log(along).sum() + (n_rows - len(values)) * np.log(share)
        fits = n_rows * np.log(explained / ((1.0 - share) * (1.0 - explained))) + np.log1p(-explained)
        lengths.append(float(fits.sum()) + axes.shape[1] * determinant)
    return float(SHARES[int(np.argmin(lengths))])


def scaled_lasso(
    columns: np.ndarray, y: np.ndarray, of_columns: int, penalty: float, start: tuple[np.ndarray, float] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of a scaled lasso, (m,), and its residual, (n,).

    The penalty is `penalty` times sqrt(2 log m / n) times the noise level (Sun and Zhang, 2012,
    doi:10.1093/biomet/ass043). m is `of_columns`, the number of all columns, also if one feature's are left out:
    leaving out a feature with coefficient 0 then changes nothing, and one lasso serves all such features.

    The residual is that of the shrunken coefficients, since refitting by least squares loses power
    (docs/error-control.md). `start` has coefficients and a noise level to start from, which only saves time.
    """
    from sklearn.linear_model import Lasso

    share = penalty * np.sqrt(2.0 * np.log(max(of_columns, 2)) / len(columns))
    lasso = Lasso(fit_intercept=False, warm_start=True, max_iter=10_000)
    coefficients, noise = start or (np.zeros(columns.shape[1]), float(y.std()))
    lasso.coef_, left = coefficients.copy(), y - columns @ coefficients
    for _ in range(ROUNDS):
        if noise <= 0 or not columns.size:
            break
        lasso.set_params(alpha=share * noise).fit(columns, y)
        left = y - columns @ lasso.coef_
        before, noise = noise, _noise(left)
        if abs(noise - before) <= CLOSE * before:
            break
    return lasso.coef_, left


def dcrt_p_values(
    columns: np.ndarray,
    owners: np.ndarray,
    outcomes: np.ndarray,
    n_features: int,
    correlations: np.ndarray | None = None,
    check_time: Callable[[], None] = lambda: None,
    penalty: float | None = None,
    tested: np.ndarray | None = None,
    weighting: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the statistic, p and log p of each feature's independence from the target given all others, each (d,).

    If the columns are Gaussian with the known `correlations`, the products of residuals are Gaussian with known
    variance given all others and the target. P-values are then exact, whatever the target and its distillation. The
    statistic is chi-square with a degree of freedom for each column and outcome. A feature without columns has p = 1.

    `columns`, `owners` and `correlations` are as for `left_of_features`; `outcomes`, (n, c), are centred: the target,
    or an indicator for each class but one. `penalty` is a multiple of the lasso's penalty; by default each feature has
    that of `PENALTIES` at which the generalised cross-validation error (Golub, Heath and Wahba, 1979,
    doi:10.1080/00401706.1979.10489751) of the lasso on the other features has its first minimum, from the largest on.
    This depends on the feature no more than the lasso does, so p-values stay exact. Without known `correlations` the
    lassos end at `MOST_KEPT`, and products count as those of n - kept / 2 - 1 rows: both residuals are fitted, but not
    orthogonal to the columns that the lasso keeps, so their degrees of freedom lie between n - kept and n. Half is
    measured (studies/discover), not derived. `tested` are the features that are tested, by default all; others have
    p = 1.

    `weighting` is for estimated laws. Let X be a feature, r the residual of the target, and e what the ridge on the
    other features leaves of r. Under the prior of `likeliest_share` the covariance of X is proportional to the inverse
    of the map from r to e. So X'e, which is the product of the residuals, has a variance proportional to r'e, and is
    independent of X'(r - e r'r / r'e), if X is irrelevant. The latter, divided by the length of r, is the score. The
    likelihood of an effect of b standard errors is about exp(b * score), but for a factor without its sign.
    """
    n = len(columns)
    left, covariances, residual = left_of_features(columns, owners, correlations, weighting > 0)
    check_time()
    statistics, dof, least = np.zeros(n_features), np.zeros(n_features), np.full(n_features, np.inf)
    tested = np.unique(owners if tested is None else tested)
    agreed, waiting = np.zeros(n_features), tested.tolist()
    begin: list[tuple[np.ndarray, float] | None] = [None] * outcomes.shape[1]
    for strength in PENALTIES if penalty is None else (penalty,):
        of_all = [scaled_lasso(columns, y, len(owners), strength, at) for y, at in zip(outcomes.T, begin, strict=True)]
        n_kept = max(np.count_nonzero(coefficients) for coefficients, _ in of_all)
        if correlations is None and begin[0] is not None and n_kept > MOST_KEPT * n:
            break
        begin = [(coefficients, _noise(rest)) for coefficients, rest in of_all]
        left_of_all = residual(np.column_stack([rest for _, rest in of_all]))
        for feature in waiting.copy():
            own = np.flatnonzero(owners == feature)
            r, n_kept, error = _distilled(columns, owners, own, outcomes, of_all, strength, check_time)
            if error >= least[feature]:
                waiting.remove(feature)
                continue
            least[feature] = error
            covariance, of_target = covariances[feature], r.T @ r
            if np.diag(covariance).min() < SMALLEST_SHARE or np.diag(of_target).min() <= SMALLEST_SHARE * n:
                continue
            products, n_rows = left[:, own].T @ r, n if correlations is not None else max(n - n_kept / 2 - 1, 1)
            if weighting:
                x, shares = columns[:, own], any(coefficients[own].any() for coefficients, _ in of_all)
                e, length = residual(r) if shares else left_of_all, of_target
                # What the ridge on the other features leaves of r: its product with x is that of r and what is left.
                e = e + left[:, own] @ np.linalg.solve(x.T @ left[:, own], products - x.T @ e)
                of_target, n_rows = r.T @ e, n - 1
                if products.size == 1:
                    # Under the prior this is independent of the product, if the feature is irrelevant.
                    score = (x.T @ r - products * length / of_target) / np.sqrt(length)
                    agreed[feature] = np.clip(np.sign(products) * score, -1.0, 1.0).item()
            found = np.trace(np.linalg.solve(covariance, products) @ np.linalg.solve(of_target, products.T))
            statistics[feature] = found * n_rows / n
            dof[feature] = products.size
    p_values, log_p = chi2_tail(statistics, dof)
    if weighting:
        # Both signs of each tested feature have a weight, and their mean is 1.
        log_p = np.minimum(log_p - weighting * agreed + np.log(np.cosh(weighting * agreed[tested]).mean()), 0.0)
        p_values = np.exp(log_p)
    return statistics, p_values, log_p


def _distilled(
    columns: np.ndarray,
    owners: np.ndarray,
    own: np.ndarray,
    outcomes: np.ndarray,
    of_all: Sequence[tuple[np.ndarray, np.ndarray]],
    penalty: float,
    check_time: Callable[[], None],
) -> tuple[np.ndarray, int, float]:
    """Return the residual of the outcomes on all columns but a feature's own, (n, c), the number kept, and the error.

    The error is half the logarithm of the generalised cross-validation error, summed over outcomes. `of_all` are the
    lassos on all columns.
    """
    distilled, n_kept, error = [], 0, 0.0
    for y, (coefficients, rest) in zip(outcomes.T, of_all, strict=True):
        if coefficients[own].any():
            check_time()
            others = np.setdiff1d(np.arange(len(owners)), own)
            at = coefficients[others], _noise(rest)
            coefficients, rest = scaled_lasso(columns[:, others], y, len(owners), penalty, at)
        distilled.append(rest)
        kept = np.count_nonzero(coefficients)
        n_kept = max(n_kept, int(kept))
        error += np.log(max(_noise(rest), SMALLEST_SHARE)) - np.log1p(-min(kept / len(columns), MOST_FREEDOM))
    return np.column_stack(distilled), n_kept, float(error)


def _noise(rest: np.ndarray) -> float:
    return float(np.sqrt(np.mean(rest**2)))
