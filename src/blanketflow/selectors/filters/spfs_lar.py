"""Similarity-preserving feature selection along a least-angle path (SPFS-LAR)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...moves.steps import Step
from ..base import Problem
from ..ranking import RankingMethod
from .linear_similarity import feature_columns, over_features, target_columns

#: Shares of correlations are compared to this many decimals, so that float noise does not decide ties.
DECIMALS = 12
#: Correlations with the residual at or below it are none.
SMALLEST = 1e-10
#: What a column of unit norm must have outside the span of others not to be one of their combinations.
SMALLEST_OUTSIDE = 1e-8


@dataclass
class SPFSLAR(RankingMethod):
    """Admit features in the order in which a least-angle path towards the target's similarity of rows takes them up.

    The target makes rows alike by YY': Y has one column per class, 1 / sqrt(n_c) in its n_c rows; for regression it is
    the target, centred and of unit norm. Features are centred and of unit norm. The residual starts as R = Y. The
    feature with the largest ||x' R|| becomes active; then R moves towards its projection on the active features, which
    lowers their common ||x' R||, until another feature's equals it. That feature becomes active, and so on.

    A feature that is a combination of active ones, such as a copy, has nothing to add and is passed over; so is a
    constant one. The path ends when no feature is correlated with the residual: then fewer than `n_features` are
    ranked. A feature of more than two levels has one column per level and ||X' R|| over all of them; together they have
    unit norm.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.SPFSLAR(n_features=2).fit(X, y).selected_features_
    ['petal length (cm)', 'petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="spfs-lar",
        name="SPFS-LAR",
        family="filter",
        summary="Takes up features along a least-angle regression path towards the target's similarity of rows.",
        reference="Zhao, Wang, Liu, Ye (2013) On similarity preserving feature selection, IEEE TKDE 25(3), 619-632, "
        "doi:10.1109/TKDE.2011.222.",
        guarantee="none",
        work="sums",
        cost="no tests; psi n (d + psi) c sums for psi features and c classes",
        formula="||x' R||, R the residual of the target's similarity factor Y along the least-angle path when X is "
        "taken up",
        importance="its correlation with what was left of the target's similarities when it was ranked",
    )
    draws_rows: ClassVar[bool] = False
    default_test: ClassVar[str | None] = None
    takes_feature_groups: ClassVar[bool] = True

    def reads_rows(self) -> str:
        """Return in words what reads the rows beside the CI test."""
        return "ranks by a path of regressions on rows"

    def rank(self, problem: Problem, n_features: int) -> Iterator[Step]:
        """Rank along the path; statistic and importance are ||x' R|| when a feature is taken up."""
        columns, starts = feature_columns(problem, unit=True)
        path = _path(columns, starts, target_columns(problem.table[problem.target]))
        for _, (feature, correlation) in zip(range(n_features), path, strict=False):
            problem.check_time()
            yield Step(problem.features[feature], correlation, importance=correlation)


def _path(columns: np.ndarray, starts: np.ndarray, residual: np.ndarray) -> Iterator[tuple[int, float]]:
    """Yield features as they are taken up, with the correlation at which they are.

    The features have unit norm, as `feature_columns` returns them; `residual`, (n, c), is the target.
    """
    stops = np.append(starts[1:], columns.shape[1])
    products = residual.T @ columns
    squares = over_features(products**2, starts)
    is_out = squares > 0
    active = float(np.sqrt(squares.max(initial=0.0)))
    chosen = int(np.argmax(np.round(squares / (active**2 or 1.0), DECIMALS)))
    basis = np.empty((len(columns), 0))
    while active > SMALLEST:
        is_out[chosen] = False
        added = _outside(basis, columns[:, starts[chosen] : stops[chosen]])
        if added.shape[1]:
            yield chosen, active
            basis = np.hstack([basis, added])
        if not is_out.any():
            return
        # The active features' products with the residual shrink in proportion, whatever the others' do.
        towards = basis @ (basis.T @ residual)
        change = towards.T @ columns
        left = np.where(is_out, np.round(_shares_left(active, products, change, starts), DECIMALS), -1.0)
        chosen = int(np.argmax(left))
        residual = residual - (1.0 - left[chosen]) * towards
        products -= (1.0 - left[chosen]) * change
        active *= float(left[chosen])


def _shares_left(active: float, products: np.ndarray, change: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return, for each feature, to which share of their correlation the active ones fall until its equals theirs.

    That is the largest u in 0 .. 1 with ||E + u G|| = u active, E being its products at the end of the way, where the
    active ones have none, and G their change: the largest root of (active^2 - G^2) u^2 - 2 EG u - E^2.
    """
    end = products - change
    a = active**2 - over_features(change**2, starts)
    b = over_features(end * change, starts)
    c = over_features(end**2, starts)
    root = np.sqrt(np.maximum(b * b + a * c, 0.0))
    # Of the two forms of the root, the one that adds numbers of one sign; where b is positive, a is too.
    is_positive = b > 0
    top, bottom = np.where(is_positive, b + root, c), np.where(is_positive, a, root - b)
    left = np.clip(top / np.where(bottom > 0, bottom, 1.0), 0.0, 1.0)
    is_level = over_features(products**2, starts) >= active**2 * (1.0 - 10.0**-DECIMALS)
    return np.where(is_level, 1.0, left)


def _outside(basis: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of what columns have outside the span of a basis, shape (n, number added)."""
    n_before = basis.shape[1]
    for column in columns.T:
        norm = np.linalg.norm(column)
        left = column
        for _ in range(2):  # twice is enough for orthogonality to machine precision
            left = left - basis @ (basis.T @ left)
        if (outside := np.linalg.norm(left)) > SMALLEST_OUTSIDE * norm:
            basis = np.column_stack([basis, left / outside])
    return basis[:, n_before:]
