"""Rankings of features by what models fitted to them say: a forest, the path of the lasso, recursive elimination."""

from __future__ import annotations

import numpy as np

from ...core.cards import CLASSIFICATION
from ...core.numerics import standardised
from ...core.seeds import seed_32
from ...core.table import Column
from ...models.base import Model
from ...models.forest import Forest
from ...models.lightgbm import LightGBM
from ...models.logistic import Logistic
from ...models.ridge import Ridge
from ..importances import own_weights
from ..learning import estimator_for, task_of
from .rows import Rows

#: Strengths of the penalty on the path of the lasso, and the last as a share of the first, which lets nothing in.
N_PENALTIES, LAST = 30, 1e-3


def linear_model(target: Column) -> Model:
    """Return the linear model of a target."""
    return Logistic(max_iter=100) if task_of(target) == CLASSIFICATION else Ridge()


def boosted_model(target: Column) -> Model:
    """Return boosted trees of a target: fewer rounds for many classes, each of which needs a tree in every round.

    Few bins, few rounds and small trees: a fit takes a fifth of the usual time.
    """
    n_classes = len(target.levels) if task_of(target) == CLASSIFICATION else 2
    return LightGBM(n_estimators=max(10, 60 // max(2, n_classes)), learning_rate=0.2, num_leaves=8, max_bin=63)


def by_forest(rows: Rows) -> np.ndarray:
    """Rank by the importances of a random forest."""
    weights = _weights(rows, Forest(n_estimators=50, min_samples_leaf=3), rows.design.blocks)
    return np.argsort(-np.round(weights, 12), kind="stable")


def by_boosted_elimination(rows: Rows) -> np.ndarray:
    """Rank by recursive elimination: the features that matter least to boosted trees leave, and they are fitted again.

    A quarter leaves at a time, and of more than 200 features half. Guyon, Weston, Barnhill and Vapnik (2002),
    doi:10.1023/A:1012487302797.
    """
    model, left, last = boosted_model(rows.target), np.arange(len(rows.names)), []
    while len(left) > 1:
        weights = _weights(rows, model, [rows.design.blocks[j] for j in left])
        n_leaving = max(1, int(len(left) * (0.5 if len(left) > 200 else 0.25)))
        worst = np.argsort(np.round(weights, 12), kind="stable")[:n_leaving]
        last += left[worst].tolist()
        left = np.delete(left, worst)
    return np.array([*left.tolist(), *reversed(last)], dtype=np.int64)


def by_lasso(rows: Rows) -> np.ndarray:
    """Rank by the penalty under which a feature's coefficients first are not zero, then by their size at the end.

    The path of least squares with an L1 penalty; several classes share one path, with a group for each column
    (Tibshirani, 1996, doi:10.1111/j.2517-6161.1996.tb02080.x).
    """
    from sklearn.linear_model import enet_path

    y, is_class = rows.y, task_of(rows.target) == CLASSIFICATION
    outcomes = (y[:, np.newaxis] == np.unique(y)).T if is_class else y[np.newaxis]
    scale = np.sqrt(len(y))  # columns of variance 1
    X = np.asfortranarray(scale * standardised(rows.design.matrix.T).T)
    Y = scale * standardised(outcomes[:1] if len(outcomes) == 2 else outcomes).T
    rows.check_time()
    first = float(np.sqrt(((X.T @ Y) ** 2).sum(axis=1)).max()) / len(X)
    if not first:
        return np.arange(len(rows.names))
    penalties = np.geomspace(first, LAST * first, N_PENALTIES)
    _, path, _ = enet_path(X, Y[:, 0] if Y.shape[1] == 1 else Y, l1_ratio=1.0, alphas=penalties, tol=1e-3)
    sizes = np.abs(path.reshape(-1, X.shape[1], path.shape[-1])).sum(axis=0)  # columns, penalties
    of_features = np.add.reduceat(sizes, [block.start for block in rows.design.blocks], axis=0)
    is_in = of_features > 0
    enters = np.where(is_in.any(axis=1), is_in.argmax(axis=1), N_PENALTIES)
    return np.lexsort((-np.round(of_features[:, -1], 12), enters))


def _weights(rows: Rows, model: Model, blocks: list[slice]) -> np.ndarray:
    """Return what a model fitted to some features says of each, shape (number of blocks,)."""
    rows.check_time()
    widths = [block.stop - block.start for block in blocks]
    X = rows.design.matrix[:, np.concatenate([np.arange(block.start, block.stop) for block in blocks])]
    fitted = estimator_for(model, rows.target, seed_32(rows.seed, "portfolio"), X, np.arange(len(X))).fit(X, rows.y)
    weights = own_weights(fitted)
    if weights is None or len(weights) != X.shape[1]:  # a single class: the prior says nothing
        return np.zeros(len(blocks))
    return np.add.reduceat(weights, np.cumsum([0, *widths[:-1]]))
