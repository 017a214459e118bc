"""Procedures of other packages with their defaults, and an estimated covariance; they take numbers only.

No package controls a false discovery rate for times to an event by itself. So the filters of knockpy and hidimstat get
the lasso of Cox's regression by skglm, through the arguments that they have for a statistic or an estimator of one's
own, and the p-values of statsmodels' Cox regression on all features get the correction of Benjamini and Hochberg.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

#: What a procedure of another package keeps, (d,), of a table, (n, d), and a target, (n,), or (n, 2) of a time and
#: whether it is that of the event, at a level.
Peer = Callable[[np.ndarray, np.ndarray, float, int], np.ndarray]
#: Penalties of the lasso of Cox's regression, of which cross-validation takes one.
PENALTIES = np.logspace(-0.3, -2.3, 15)


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


def log_partial_likelihood(fitted: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return how well a Cox regression foretells the order of events, as a mean over rows."""
    risks = fitted.predict(X)
    at_risk = y[:, 0][None, :] >= y[:, 0][:, None]
    return float(np.mean(y[:, 1] * (risks - np.log(at_risk @ np.exp(risks)))))


@cache
def compile_cox_lasso() -> None:
    """Let skglm compile its solver in this process, not in that of each table, where it would take 20 seconds."""
    rng = np.random.default_rng(0)
    cox_lasso(0).fit(rng.standard_normal((50, 3)), np.column_stack([rng.random(50), np.ones(50)]))


def cox_lasso(seed: int) -> Any:
    """Return a search of the penalty by five folds, as in the lassos that both filters have for numbers."""
    from skglm import CoxEstimator
    from sklearn.model_selection import GridSearchCV, KFold

    folds = KFold(5, shuffle=True, random_state=seed)
    grid = {"alpha": PENALTIES}
    return GridSearchCV(CoxEstimator(l1_ratio=1.0, method="breslow"), grid, scoring=log_partial_likelihood, cv=folds)


def knockpy_cox(X: np.ndarray, y: np.ndarray, q: float, seed: int) -> np.ndarray:
    """Knockpy's filter as above, with Cox's lasso as its statistic."""
    from knockpy.knockoff_filter import KnockoffFilter
    from knockpy.knockoff_stats import FeatureStatistic, combine_Z_stats

    class CoxStatistic(FeatureStatistic):  # type: ignore[misc]
        def fit(self, X: np.ndarray, Xk: np.ndarray, y: np.ndarray, groups: Any = None, **_: Any) -> np.ndarray:
            order = np.random.default_rng(seed).permutation(2 * X.shape[1])
            both = np.column_stack([X, Xk])
            found = cox_lasso(seed).fit((both / both.std(axis=0))[:, order], y)
            self.Z, self.groups = found.best_estimator_.coef_[np.argsort(order)], groups
            self.W = combine_Z_stats(self.Z, groups, antisym="cd", group_agg="avg")
            return self.W

    np.random.seed(seed)  # noqa: NPY002
    found = KnockoffFilter(ksampler="gaussian", fstat=CoxStatistic())
    return found.forward(X, y, fdr=q, shrinkage="ledoitwolf").astype(bool)


def hidimstat_cox(X: np.ndarray, y: np.ndarray, q: float, seed: int) -> np.ndarray:
    """Hidimstat's filter as above, with Cox's lasso as its estimator."""
    from hidimstat import ModelXKnockoff

    found = ModelXKnockoff(cox_lasso(seed), preconfigure_lasso_path=False, random_state=seed)
    found.fit_importance(X, y)
    return np.asarray(found.fdr_selection(fdr=q)).astype(bool)


def cox_p_values(X: np.ndarray, y: np.ndarray, q: float, seed: int) -> np.ndarray:
    """The Wald tests of statsmodels' Cox regression on all features, with the correction of Benjamini and Hochberg."""
    from statsmodels.duration.hazard_regression import PHReg
    from statsmodels.stats.multitest import fdrcorrection

    p_values = PHReg(y[:, 0], X, status=y[:, 1]).fit().pvalues
    return np.asarray(fdrcorrection(np.nan_to_num(p_values, nan=1.0), q)[0])


#: The package of each procedure, and the procedure.
PEERS: dict[str, tuple[str, Peer]] = {
    "knockpy": ("knockpy", knockpy),
    "hidimstat knockoffs": ("hidimstat", hidimstat_knockoffs),
    "hidimstat dCRT": ("hidimstat", hidimstat_dcrt),
    "ipss of its authors": ("ipss", ipss),
}
#: The same for times to an event.
SURVIVAL_PEERS: dict[str, tuple[str, Peer]] = {
    "knockpy, Cox lasso": ("knockpy", knockpy_cox),
    "hidimstat knockoffs, Cox lasso": ("hidimstat", hidimstat_cox),
    "statsmodels Cox, bh": ("statsmodels", cox_p_values),
}
