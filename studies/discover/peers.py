"""Procedures of other packages with their defaults, and an estimated covariance; they take numbers only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: What a procedure of another package keeps, (d,), of a table, (n, d), and a target, (n,), at a level.
Peer = Callable[[np.ndarray, np.ndarray, float, int], np.ndarray]


def knockpy(X: np.ndarray, y: np.ndarray, q: float, seed: int) -> np.ndarray:
    """Knockpy's filter: Ledoit-Wolf's covariance, mvr, and a cross-validated lasso."""
    from knockpy.knockoff_filter import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002 - knockpy takes its random numbers from there
    found = KnockoffFilter(ksampler="gaussian", fstat="lasso")
    return found.forward(X, y, fdr=q, shrinkage="ledoitwolf").astype(bool)


def hidimstat_knockoffs(X: np.ndarray, y: np.ndarray, q: float, seed: int) -> np.ndarray:
    """Hidimstat's filter: equicorrelated knockoffs and a lasso."""
    from hidimstat import ModelXKnockoff

    found = ModelXKnockoff(random_state=seed)
    found.fit_importance(X, y)
    return np.asarray(found.fdr_selection(fdr=q)).astype(bool)


def hidimstat_dcrt(X: np.ndarray, y: np.ndarray, q: float, seed: int) -> np.ndarray:
    """Hidimstat's D0CRT, with the correction of Benjamini and Hochberg."""
    from hidimstat import D0CRT
    from sklearn.linear_model import LassoCV

    from blanketflow.ci.multiple_testing import BH, rejected

    found = D0CRT(LassoCV(), screening_threshold=100, random_state=seed)
    found.fit_importance(X, y)
    return rejected(np.log(np.maximum(found.pvalues_, 1e-300)), q, BH)


def ipss(X: np.ndarray, y: np.ndarray, q: float, seed: int) -> np.ndarray:
    """The package of the authors of IPSS, which takes no seed, with boosted trees, its default."""
    from ipss import ipss as select

    np.random.seed(seed)  # noqa: NPY002
    found = select(X, y, selector="gb")
    return np.array([found["q_values"][at] <= q for at in range(X.shape[1])])


#: The package of each procedure, and the procedure.
PEERS: dict[str, tuple[str, Peer]] = {
    "knockpy": ("knockpy", knockpy),
    "hidimstat knockoffs": ("hidimstat", hidimstat_knockoffs),
    "hidimstat dCRT": ("hidimstat", hidimstat_dcrt),
    "ipss of its authors": ("ipss", ipss),
}
