"""The lasso of a target on features at many penalties, and the features that enter its path first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.numerics import standardised
from ...core.table import Column, Table
from ...models.encode import design, moderate
from ..base import Problem
from ..filters.linear_similarity import target_columns

#: Number of penalties, and the last as a share of the first, at which no column enters.
N_PENALTIES, LAST = 100, 1e-3
#: Penalties of the first stretch of the path; each further stretch doubles it.
FIRST_STRETCH = 25
#: Sizes are compared to this many decimals, so that float noise does not decide ties.
DECIMALS = 12


def first_to_enter(features: Table, target: Column, most: int, column_counts: Sequence[int] | None = None) -> list[int]:
    """Return the positions of the `most` features that enter the lasso path first, in order of entry.

    Ties go by the size of the coefficients, then by name. Fewer are returned if no more enter. Least squares with an L1
    penalty (Tibshirani, 1996, doi:10.1111/j.2517-6161.1996.tb02080.x); classes are regressed as indicators, and more
    than two share the penalty of a column. A feature of several columns (levels, or `column_counts` of a group) enters
    with the first.
    """
    path = LassoPath(features, target, column_counts)
    if not path.highest:
        return []
    penalties, stretch = np.geomspace(path.highest, LAST * path.highest, N_PENALTIES), FIRST_STRETCH
    while True:
        sizes = path.sizes(penalties[:stretch])
        entered = np.flatnonzero(sizes.any(axis=1))
        if len(entered) >= most or stretch >= N_PENALTIES:
            break
        stretch *= 2
    at = (sizes[entered] > 0).argmax(axis=1)
    order = np.lexsort((-np.round(sizes[entered, at] / path.highest, DECIMALS), at))
    return entered[order][:most].tolist()


class LassoPath:
    """The lasso of a target on features, all of variance 1, at any penalties.

    `highest` is the smallest penalty at which no column enters; 0 if no feature is related to the target. Classes are
    regressed as indicators. `column_counts` are of features that are groups of columns.
    """

    def __init__(self, features: Table, target: Column, column_counts: Sequence[int] | None = None) -> None:
        encoded, n = design(moderate(features)), target.n_rows
        self._X = np.asfortranarray(standardised(encoded.matrix.T).T * np.sqrt(n))  # columns of variance 1
        Y = target_columns(target) * np.sqrt(n)
        Y = Y - Y.mean(axis=0)
        is_binary = target.is_discrete and len(target.levels) == 2
        self._Y = Y[:, :1] if is_binary else Y
        self.highest = float(np.sqrt(((self._X.T @ self._Y) ** 2).sum(axis=1)).max(initial=0.0)) / n
        blocks = encoded.blocks if column_counts is None else encoded.joined(column_counts).blocks
        self._starts = [block.start for block in blocks]

    def sizes(self, penalties: np.ndarray) -> np.ndarray:
        """Return the size of each feature's coefficients at penalties in descending order, (features, penalties)."""
        from sklearn.linear_model import enet_path

        y = self._Y[:, 0] if self._Y.shape[1] == 1 else self._Y
        path = enet_path(self._X, y, l1_ratio=1.0, alphas=penalties, tol=1e-4)[1]
        sizes = np.abs(path.reshape(-1, self._X.shape[1], path.shape[-1])).sum(axis=0)  # columns, penalties
        return np.add.reduceat(sizes, self._starts, axis=0)


def lasso_path(problem: Problem) -> LassoPath:
    """Return the lasso of a problem's target on its features."""
    columns = problem.table.select(problem.columns(problem.features))
    return LassoPath(columns, problem.table[problem.target], problem.column_counts)
