"""Filters by linear similarity, on centred columns of features and target: Fisher-Markov and SPFS-LAR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import CATEGORICAL, Card
from ...core.errors import DataError
from ...core.parameters import choice, number
from ...core.table import Column
from ...models.encode import design
from ...moves.steps import Step, Steps
from ..base import Problem
from ..ranking import RankingMethod, heaviest_first


def feature_columns(problem: Problem, unit: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return features as centred columns, (n, m), and the first column of each, (d,); a group has those of its members.

    A feature of more than two levels has a column per level, scaled so that rows of different levels are at distance 1.
    With `unit`, the columns of a feature that varies are divided by the root of their sum of squares.
    """
    encoded = design(problem.table.select(problem.columns(problem.features)))
    widths = np.array([block.stop - block.start for block in encoded.blocks])
    starts = np.array([block.start for block in encoded.joined(problem.column_counts).blocks], dtype=np.int64)
    columns = encoded.matrix
    columns *= 0.5 if unit else 1.0  # so that the range of any two finite numbers is finite
    low = columns.min(axis=0)
    spread = columns.max(axis=0) - low
    columns -= low
    columns /= np.where(spread > 0, spread, 1.0) if unit else np.where(np.repeat(widths, widths) > 1, np.sqrt(2), 1.0)
    columns -= columns.mean(axis=0)
    columns[:, spread == 0] = 0.0
    if unit:
        norms = np.sqrt(over_features(columns**2, starts))
        columns /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(np.append(starts, columns.shape[1])))
    return columns, starts


def target_columns(target: Column) -> np.ndarray:
    """Return the target as centred columns Y, (n, c); all 0 if it is constant.

    A class has a column, 1 / sqrt(n_c) in its n_c rows before centring. A numeric target is one column of unit norm.
    """
    y = target.numbers()
    if target.kind == CATEGORICAL:
        classes, counts = np.unique(y, return_counts=True)
        columns = (y[:, None] == classes) / np.sqrt(counts)
    else:
        columns = (y * 0.5)[:, None]
        columns -= columns.min()
        columns /= columns.max() or 1.0
    if (columns == columns[0]).all():
        return np.zeros_like(columns)
    columns -= columns.mean(axis=0)
    return columns if target.kind == CATEGORICAL else columns / np.linalg.norm(columns)


def over_features(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the sums of values, (n, m), over each feature's columns, (d,)."""
    return np.add.reduceat(values.sum(axis=0), starts)


#: Scales of the columns.
STANDARD, RAW = "standard", "raw"


@dataclass
class FisherMarkov(RankingMethod):
    """Rank features by the variance between classes minus gamma times the variance.

    With a linear kernel the Markov random field has no arcs, and its optimum keeps features with a coefficient theta
    above the threshold: theta_j = (1/n) sum over classes c of n_c (m_cj - m_j)^2 - gamma (1/n) sum over rows i of (x_ij
    - m_j)^2. On standardised columns the first term is the share of variance between classes, 0 for constant columns,
    and gamma only shifts the threshold. Features at the threshold are removed too.

    A feature of more than two levels has one column per level, and theta is their sum. For regression, which the
    publication does not cover, fitted values of a least-squares line replace the class means; with two classes both are
    the same.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.FisherMarkov(n_features=1).fit(X, y).selected_features_
    ['petal length (cm)']
    """

    card: ClassVar[Card] = Card(
        id="fisher-markov",
        name="Fisher-Markov selector",
        family="filter",
        summary="Ranks features by their variance between classes minus gamma times their variance.",
        reference="Cheng, Zhou, Cheng (2011) The Fisher-Markov selector: fast selecting maximally separable feature "
        "subset for multiclass classification with applications to high-dimensional data, IEEE TPAMI 33(6), "
        "1217-1233, doi:10.1109/TPAMI.2010.195.",
        guarantee="none",
        work="sums",
        cost="no tests; n d sums per class, whatever psi is",
        formula="(1/n) sum over classes c of n_c (mean of X in c - mean of X)^2 - gamma var(X)",
        importance="its coefficient: the spread of the class means less gamma times its variance",
    )
    draws_rows: ClassVar[bool] = False
    default_test: ClassVar[str | None] = None
    takes_feature_groups: ClassVar[bool] = True

    gamma: float = number(0.0, "Weight of the variance; a negative weight favours features of large variance.")
    scale: str = choice(
        STANDARD, "Whether columns are standardised first (standard) or taken as they are (raw).", (STANDARD, RAW)
    )
    threshold: float | None = number(
        None, "Coefficient that a feature must exceed; null for no threshold.", nullable=True
    )

    def reads_rows(self) -> str:
        """Return what reads the rows besides the CI test."""
        return "ranks by sums over rows"

    def rank(self, problem: Problem, n_features: int) -> Steps:
        """Rank by the coefficients."""
        is_standard = self.scale == STANDARD
        columns, starts = feature_columns(problem, unit=is_standard)
        between = over_features((target_columns(problem.table[problem.target]).T @ columns) ** 2, starts)
        variance: np.ndarray | float = 1.0
        if not is_standard:
            between, variance = between / len(columns), over_features(columns**2, starts) / len(columns)
        coefficients = between - self.gamma * variance
        if not np.isfinite(coefficients).all():
            raise DataError("fisher-markov: the variance of a column is too large for scale: raw. Use scale: standard.")
        unit = float(np.max(variance)) or 1.0
        return heaviest_first(problem.features, coefficients, n_features, self.threshold, unit)


#: Shares of correlations are compared to this many decimals, so that float noise does not decide ties.
DECIMALS = 12
#: Correlations with the residual at or below it are none.
SMALLEST = 1e-10
#: Minimum length outside the span of others of a column that is no combination of them.
SMALLEST_OUTSIDE = 1e-8


@dataclass
class SPFSLAR(RankingMethod):
    """Rank features by their order of entry into a least-angle path towards the target's similarity of rows.

    The similarity is YY': Y has one column per class, 1 / sqrt(n_c) in its n_c rows; for regression it is the target,
    centred and of unit norm, as features are. The residual starts as R = Y. The feature with the largest ||x' R||
    becomes active. R then moves towards its projection on the active features, which lowers their common ||x' R||,
    until another feature's equals it and becomes active, and so on.

    Constant features and linear combinations of active ones, such as copies, are skipped. The path ends when no feature
    is correlated with the residual, possibly before `n_features` are ranked. A feature of more than two levels has one
    column per level, of unit norm together, and ||X' R|| over all of them.

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
        """Return what reads the rows besides the CI test."""
        return "ranks by a path of regressions on rows"

    def rank(self, problem: Problem, n_features: int) -> Iterator[Step]:
        """Rank along the path; statistic and importance are ||x' R|| at entry."""
        columns, starts = feature_columns(problem, unit=True)
        path = _path(columns, starts, target_columns(problem.table[problem.target]))
        for _, (feature, correlation) in zip(range(n_features), path, strict=False):
            problem.check_time()
            yield Step(problem.features[feature], correlation, importance=correlation)


def _path(columns: np.ndarray, starts: np.ndarray, residual: np.ndarray) -> Iterator[tuple[int, float]]:
    """Yield features of unit norm at entry, with their correlation; `residual`, (n, c), is the target."""
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
        # The active features' products with the residual shrink in proportion.
        towards = basis @ (basis.T @ residual)
        change = towards.T @ columns
        left = np.where(is_out, np.round(_shares_left(active, products, change, starts), DECIMALS), -1.0)
        chosen = int(np.argmax(left))
        residual = residual - (1.0 - left[chosen]) * towards
        products -= (1.0 - left[chosen]) * change
        active *= float(left[chosen])


def _shares_left(active: float, products: np.ndarray, change: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return, by feature, the share of the active correlation at which its own equals that of the active ones.

    It is the largest u in 0 .. 1 with ||E + u G|| = u active, where E are the feature's products at the end of the step
    and G their change: the largest root of (active^2 - G^2) u^2 - 2 EG u - E^2.
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
    """Return an orthonormal basis of the part of columns outside the span of a basis, (n, number added)."""
    n_before = basis.shape[1]
    for column in columns.T:
        norm = np.linalg.norm(column)
        left = column
        for _ in range(2):  # twice is enough for orthogonality to machine precision
            left = left - basis @ (basis.T @ left)
        if (outside := np.linalg.norm(left)) > SMALLEST_OUTSIDE * norm:
            basis = np.column_stack([basis, left / outside])
    return basis[:, n_before:]
