"""Representative sets: their union (RES), alpha-investing (SGAI) and a sparse group lasso (SRS) on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import ClassVar

import numpy as np

from ...ci.base import BoundTest
from ...core.cards import Card
from ...core.parameters import choice, integer, number
from ...core.table import Column
from ...models.encode import moderated
from ...moves.parents_and_children import interleaved_neighbours
from ...moves.steps import MEMBER, Step, is_dependent, step, strongest_first
from ..base import Method, Problem, members
from .neighbours_and_spouses import SYMMETRIES, Neighbourhoods, neighbourhoods


@dataclass
class RES(Method):
    """Keep the parents and children that HITON-PC finds, and the parents and children of each of these.

    Without faithfulness several sets can be Markov blankets, because neighbours of a feature can replace it. The
    representative set of a parent or child of the target is that feature with its own parents and children, except the
    target; steps have its name as `group`. A feature in several sets belongs to that of the strongest member.
    Importance is the marginal dependence on the target.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> found = set(bf.RES(ci_test="fisher-z", alpha=0.01).fit(X, y).selected_features_)
    >>> found >= set(bf.HITONPC(ci_test="fisher-z", alpha=0.01).fit(X, y).selected_features_)
    True
    """

    card: ClassVar[Card] = Card(
        id="res",
        name="representative sets (RES)",
        family="causal",
        summary="Parents and children, and their own parents and children.",
        reference="Yu, Wu, Zhang, Mu, Wang, Ding (2013) Markov blanket feature selection with non-faithful data "
        "distributions, IEEE ICDM, doi:10.1109/ICDM.2013.154.",
        guarantee="superset of the Markov blanket with exact tests, faithful data and no limit on conditioning sets",
        work="neighbours",
        cost="|PC| + 1 searches for parents and children: each d tests, then at most d 2^|PC| given up to max_k",
        importance="ln(1/p) of its test with the target given nothing, in nats: 3.0 for p = 0.05",
    )
    why_no_correction: ClassVar[str] = (
        "it decides on sets of features that represent each other, and no p-value of one feature decides"
    )
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "tests"
    forms_groups: ClassVar[bool] = True

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    max_k: int | None = integer(3, "Largest conditioning set; null for no limit.", at_least=0, nullable=True)
    symmetry: str = choice(
        "none",
        "Symmetry check of neighbours: found from both sides (and), from either side (or), or no check (none).",
        SYMMETRIES,
    )

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Admit the representative sets one after the other, that of the strongest member first."""
        near = neighbourhoods(problem, interleaved_neighbours, self.alpha, self.max_k, self.symmetry)
        return representative_sets(near, problem.target)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step]:
        """Remove nothing."""
        return candidates


def representative_sets(near: Neighbourhoods, target: str) -> Iterator[Step]:
    """Yield the features of all representative sets, the set of the strongest member of PC(T) first.

    Each feature is in one group, named after a member of PC(T): its own, or of the member with the strongest marginal
    dependence among its neighbours. Importance is the marginal dependence; the test is the one that admitted it, with
    the target for a member, else with the member.
    """
    members = {member.feature: member for member in near.parents_and_children(target)}
    if not members:
        return
    marginal = near.test.test_many(list(members), target)
    taken = {target, *members}
    for name in [list(members)[i] for i in strongest_first(marginal)]:
        others = [other for other in near.parents_and_children(name) if other.feature not in taken]
        taken.update(other.feature for other in others)
        for found in (members[name], *(replace(other, role=MEMBER) for other in others)):
            dependence = step(found.feature, near.test.test(found.feature, target)).importance
            yield replace(found, group=name, importance=dependence)


#: The initial wealth, and the payout of an admission (Zhou et al. 2006).
WEALTH, PAYOUT = 0.5, 0.5


@dataclass
class SGAI(RES):
    """Visit the representative sets one at a time, and admit features by alpha-investing.

    The sets are those of RES, in the same order; within a set, features are ordered by their dependence on the target.
    Each is tested once given all admitted features, at level alpha_i = W / 2i. The wealth W carries over from set to
    set.

    Notes
    -----
    Conditioning sets contain all admitted features. The default test is therefore a regression, since contingency
    tables would need too many rows. `max_k` limits only the search for the sets.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.SGAI(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="sgai",
        name="selection via group alpha-investing (SGAI)",
        family="causal",
        summary="Alpha-investing through the representative sets, one set at a time.",
        reference="Yu, Wu, Ding, Mu, Wang (2017) Markov blanket feature selection using representative sets, IEEE "
        "TNNLS 28(11), 2775-2788, doi:10.1109/TNNLS.2016.2602365; alpha-investing: Zhou, Foster, Stine, "
        "Ungar (2006) Streamwise feature selection, JMLR 7, 1861-1885.",
        guarantee="none",
        cost="the tests of res, and one for each feature of a representative set",
    )
    default_test: ClassVar[str | None] = "lr-mixed"

    wealth: float = number(WEALTH, "Initial wealth W; the first test is at level W / 2.", above=0, at_most=1)
    payout: float = number(PAYOUT, "What an admission adds to the wealth.", above=0, at_most=1)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step]:
        """Test each candidate once given the admitted ones."""
        ordered: list[Step] = []
        for group in dict.fromkeys(candidate.group for candidate in candidates):
            ordered += members([candidate for candidate in candidates if candidate.group == group])
        decisions = alpha_investing(
            problem.test, problem.target, [c.feature for c in ordered], self.wealth, self.payout
        )
        for candidate, decision in zip(ordered, decisions, strict=True):
            yield replace(decision, role=candidate.role, group=candidate.group)


def alpha_investing(
    test: BoundTest, target: str, ordered: Sequence[str], wealth: float = WEALTH, payout: float = PAYOUT
) -> Iterator[Step]:
    """Test each feature once, in order, given the admitted ones, at the level that the wealth allows.

    Feature i is tested at alpha_i = W / 2i, which is subtracted from the wealth W; an admission (p < alpha_i) adds the
    payout.
    """
    admitted: list[str] = []
    for i, feature in enumerate(ordered, start=1):
        alpha = wealth / (2 * i)
        result = test.test(feature, target, given=admitted)
        kept = is_dependent(test, result, alpha) and result.log_p < math.log(alpha)
        yield step(feature, result, admitted, kept=kept)
        wealth -= alpha
        if kept:
            wealth += payout
            admitted = [*admitted, feature]


#: Largest violation of the optimality conditions, in coefficients of columns and targets of unit variance.
TOLERANCE = 1e-8
#: Errors are compared to this many decimals.
DECIMALS = 9


@dataclass(frozen=True)
class Fit:
    """Coefficients, (p, c), and whether the solver met the optimality conditions."""

    coefficients: np.ndarray
    converged: bool


class Rows:
    """Standardised predictors and targets, and their sparse group lasso.

    For each target c it minimises ``|y_c - X b|^2 / 2n + lambda1 sum over groups of |b_g| + lambda2 sum over columns of
    |b_j|``, with X and y of mean 0 and variance 1. lambda1 and lambda2 are shares, above 0 and at most 1, of the
    smallest value at which that penalty alone makes all coefficients 0. Groups are adjacent columns; `sizes` has their
    numbers.
    """

    def __init__(self, X: np.ndarray, Y: np.ndarray, sizes: Sequence[int]) -> None:
        self._X, self._Y = _Scale(X), _Scale(Y)
        # The solver divides by the length of a group's columns, so constant columns are left out with coefficient 0.
        self._columns = np.flatnonzero(self._X.varies)
        counts = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[self._columns])
        self._starts = np.concatenate([[0], np.cumsum(counts[counts > 0])])

    @cached_property
    def _problem(self) -> tuple[np.ndarray, np.ndarray]:
        """Predictors and targets of length 1, transposed; for many rows the QR triangle, with the same products."""
        X, Y = self._X.standardised[:, self._columns], self._Y.standardised
        scale = np.sqrt(len(X))
        if len(X) > X.shape[1] + Y.shape[1]:
            triangle = np.linalg.qr(np.hstack([X, Y]), mode="r")
            X, Y = triangle[:, : X.shape[1]], triangle[:, X.shape[1] :]
        return np.ascontiguousarray(X.T / scale), np.ascontiguousarray(Y.T / scale)

    def fit(self, lambda1: float, lambda2: float) -> Fit:
        """Return the coefficients at two shares."""
        coefficients, converged = np.zeros((len(self._X.varies), len(self._Y.varies))), True
        for c in range(coefficients.shape[1]):
            found, violations = self.path(c, [(lambda1, lambda2)])
            coefficients[self._columns, c] = found[0]
            converged = converged and violations[0] <= TOLERANCE
        return Fit(coefficients, converged)

    def errors(self, shares: Sequence[tuple[float, float]], X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Return the squared errors on other rows for each pair of shares, in units of the targets' variances here."""
        X, Y = self._X.of(X)[:, self._columns], self._Y.of(Y)
        missed = (y[:, np.newaxis] - X @ self.path(c, shares)[0].T for c, y in enumerate(Y.T))
        return sum((np.sum(by**2, axis=0) for by in missed), start=np.zeros(len(shares)))

    def path(self, c: int, shares: Sequence[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
        """Return a target's coefficients by pair of shares, (pairs, varying columns), and optimality gaps, (pairs,).

        The gap is how far a proximal gradient step still moves them. Each pair starts from the previous solution.
        """
        from ...kernels.sparse_group_lasso import descend_path

        rows, y = self._problem[0], self._problem[1][c]
        coefficients, violations = np.zeros((len(shares), len(rows))), np.zeros(len(shares))
        products = np.abs(rows @ y)
        if products.any():
            largest = np.sqrt(np.add.reduceat(products**2, self._starts[:-1]).max()), products.max()
            lambda1, lambda2 = np.ascontiguousarray(np.multiply(shares, largest).T)
            descend_path(rows, y, self._starts, lambda1, lambda2, TOLERANCE, coefficients, violations)
        return coefficients, violations


def choose_penalties(
    X: np.ndarray,
    Y: np.ndarray,
    sizes: Sequence[int],
    lambda1: Sequence[float],
    lambda2: Sequence[float],
    parts: np.ndarray,
) -> tuple[float, float]:
    """Return the pair of shares with the least cross-validated squared error; the larger on ties.

    `parts`, (n,), has the part, 0 .. k - 1, in which each row is held out.
    """
    pairs = [(a, b) for a in sorted(lambda1, reverse=True) for b in sorted(lambda2, reverse=True)]
    if len(pairs) == 1:
        return pairs[0]
    errors = np.zeros(len(pairs))
    for part in range(parts.max() + 1):
        out = parts == part
        errors += Rows(X[~out], Y[~out], sizes).errors(pairs, X[out], Y[out])
    return pairs[int(np.argmin(np.round(errors / len(Y), DECIMALS)))]


class _Scale:
    """Columns with mean 0 and variance 1; constant ones are 0."""

    def __init__(self, columns: np.ndarray) -> None:
        self._centre, spread = columns.mean(axis=0), columns.std(axis=0)
        self.varies = spread > 1e-12 * np.abs(columns).max(axis=0, initial=0.0)
        self._factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=self.varies)
        self.standardised = self.of(columns)

    def of(self, columns: np.ndarray) -> np.ndarray:
        """Return other rows on this scale."""
        return (columns - self._centre) * self._factor


#: Range of shares of the largest penalties.
SMALLEST, LARGEST = 0.001, 0.1


@dataclass
class SRS(RES):
    """Keep the features of the representative sets that have a coefficient in a sparse group lasso.

    The groups are the sets of RES. Eq. 3 of the paper, least squares with a penalty on groups (lambda1) and one on
    features (lambda2), is fitted with both as shares of the smallest value that selects nothing. They are chosen by
    cross-validated squared error, from 0.001 to 0.1 in steps of `lambda_step`.

    Notes
    -----
    All columns are standardised. A categorical feature enters as indicators of its levels, a group of `feature_groups`
    as all of its columns, in the same lasso group; it is kept if one has a coefficient. A binary target is a number, as
    in the paper. With more classes, an indicator is fitted per class with the same shares, and features kept for any
    class are kept. Importance is the length of a feature's coefficients.

    Shrink fits a model to the values, so it reads the table. Grow uses the CI test only.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> sorted(bf.SRS(ci_test="fisher-z", alpha=0.01, lambda_step=0.05).fit(X, y).selected_features_[:3])
    ['bmi', 'bp', 's5']
    """

    card: ClassVar[Card] = Card(
        id="srs",
        name="selection via representative sets (SRS)",
        family="causal",
        summary="Sparse group lasso on the representative sets, its penalties chosen by cross-validation.",
        reference="Yu, Wu, Zhang, Mu, Wang, Ding (2013) Markov blanket feature selection with non-faithful data "
        "distributions, IEEE ICDM, doi:10.1109/ICDM.2013.154.",
        guarantee="none",
        work="neighbours",
        cost="the tests of res; one fit for each part and pair of penalties, 2,000 by default, for each class",
        importance="the length of its coefficients in the sparse group lasso",
    )

    lambda1: float | None = number(
        None, "Penalty on groups, as a share of the largest; null for the best by cross-validation.",
        above=0, at_most=1, nullable=True,
    )  # fmt: skip
    lambda2: float | None = number(
        None, "Penalty on features, as a share of the largest; null for the best by cross-validation.",
        above=0, at_most=1, nullable=True,
    )  # fmt: skip
    lambda_step: float = number(0.005, "Step between the shares that cross-validation tries.", above=0, at_most=0.1)
    n_splits: int = integer(5, "Number of parts of the cross-validation.", at_least=2)

    def reads_rows(self) -> str:
        """Return what reads the rows besides the CI test."""
        return "fits a sparse group lasso to rows"

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Keep the candidates with a coefficient, each with the test of its admission."""
        if not candidates:
            return
        groups = dict.fromkeys(candidate.group for candidate in candidates)
        sets = [[candidate for candidate in candidates if candidate.group == group] for group in groups]
        for candidate, weight in zip(chain(*sets), self._weights(problem, sets), strict=True):
            yield replace(candidate, importance=float(weight), kept=bool(weight > 0))

    def _weights(self, problem: Problem, sets: list[list[Step]]) -> np.ndarray:
        """Return the length of each feature's coefficients."""
        designs = [[_design(problem, candidate.feature) for candidate in members] for members in sets]
        sizes = [sum(block.shape[1] for block in design) for design in designs]
        blocks = list(chain(*designs))
        X, Y = np.hstack(blocks), indicators(problem.table[problem.target])
        tried = np.arange(SMALLEST, LARGEST, self.lambda_step).tolist()
        shares = [tried if share is None else [share] for share in (self.lambda1, self.lambda2)]
        parts = problem.parts(Y, self.n_splits, "srs")
        fit = Rows(X, Y, sizes).fit(*choose_penalties(X, Y, sizes, *shares, parts))
        if not fit.converged:
            problem.say("unreliable", "the sparse group lasso did not converge: raise lambda1 or lambda2.")
        starts = np.cumsum([0, *(block.shape[1] for block in blocks[:-1])])
        return np.sqrt(np.add.reduceat(np.sum(fit.coefficients**2, axis=1), starts))


def _design(problem: Problem, feature: str) -> np.ndarray:
    """Return the columns of a feature, (n, m)."""
    return np.hstack([indicators(problem.table[column]) for column in problem.columns([feature])])


def indicators(column: Column) -> np.ndarray:
    """Return numbers unchanged, two levels as one indicator, more as an indicator per level present; (n, m).

    >>> indicators(Column("colour", "categorical", np.array([0, 2, 1, 2]), ("blue", "green", "red"))).T
    array([[1., 0., 0., 0.],
           [0., 0., 1., 0.],
           [0., 1., 0., 1.]])
    """
    if not column.is_discrete:
        return moderated(column)[:, np.newaxis]  # the lasso standardises, and the squares of huge numbers are infinite
    values = column.numbers()
    levels = np.unique(values)
    return (values[:, np.newaxis] == (levels[1:] if len(levels) == 2 else levels)).astype(np.float64)
