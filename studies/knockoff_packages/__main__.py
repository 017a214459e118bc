"""Our error control beside `hidimstat` and `knockpy`, on the same tables: `make error-control-packages`.

Draws are kept in results/knockoff_packages.parquet, so that a run goes on where the last one ended.
README.md shows the false discovery rate and the power by q.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.ci.multiple_testing import BH, rejected
from blanketflow.core.seeds import derive_rng, seed_32
from blanketflow.core.table import Column, Table
from blanketflow.selectors.base import Problem
from blanketflow.selectors.knockoff.gaussian_knockoffs import AUTO, law_of
from blanketflow.selectors.knockoff.knockoff_importances import LASSO, excess
from blanketflow.selectors.knockoff.knockoff_pairs import Pair
from blanketflow.selectors.wrappers.dcrt import dcrt_p_values
from blanketflow.selectors.wrappers.knockoffs import threshold
from studies.knockoff_packages import page

LEVELS = (0.05, 0.1, 0.2)
N_SIGNALS = 40


@dataclass(frozen=True)
class Design:
    """Rows of a Gaussian law that is known, and a target that depends on 40 of the columns."""

    n: int
    covariance: np.ndarray
    effect: float

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.covariance)

    @cached_property
    def root(self) -> np.ndarray:
        """What independent columns are multiplied with."""
        return np.linalg.cholesky(self.covariance).T

    @cached_property
    def law(self) -> object:
        """Our law of knockoffs."""
        return law_of(np.empty((self.n, self.d)), AUTO, self.covariance)

    @cached_property
    def s_matrix(self) -> np.ndarray:
        """The distances of knockoffs by knockpy, in its default construction."""
        from knockpy.smatrix import compute_smatrix

        return compute_smatrix(self.covariance, method="mvr")

    def table(self, *identity: str | int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return features (n, d), a target (n,), and which features matter (d,)."""
        rng = derive_rng("knockoff-packages", *identity)
        X, is_true = rng.standard_normal((self.n, self.d)) @ self.root, np.zeros(self.d, dtype=bool)
        is_true[rng.permutation(self.d)[:N_SIGNALS]] = True
        y = X[:, is_true] @ rng.choice([-self.effect, self.effect], N_SIGNALS) + rng.standard_normal(self.n)
        return X, y, is_true


def chain(d: int) -> np.ndarray:
    """Return the correlations of a chain, in which they fall by half from neighbour to neighbour."""
    return 0.5 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))


def blocks(d: int) -> np.ndarray:
    """Return correlations of 0.5 within blocks of five columns."""
    return np.kron(np.eye(d // 5), np.full((5, 5), 0.5)) + 0.5 * np.eye(d)


def factors(d: int) -> np.ndarray:
    """Return the correlations of columns that share three factors, which explain half of each."""
    loadings = derive_rng("knockoff-packages", "factors", d).standard_normal((d, 3))
    loadings *= np.sqrt(0.5 / (loadings**2).sum(axis=1))[:, np.newaxis]
    return loadings @ loadings.T + 0.5 * np.eye(d)


DESIGNS = {
    "chain, 400 x 120": Design(400, chain(120), 0.25),
    "blocks, 400 x 120": Design(400, blocks(120), 0.25),
    "factors, 400 x 120": Design(400, factors(120), 0.25),
    "chain, 200 x 250": Design(200, chain(250), 0.5),
}

Selected = Iterator[tuple[float, np.ndarray]]


def our_knockoffs(design: Design, X: np.ndarray, y: np.ndarray, seed: int) -> Selected:
    """Knockoffs of this package: what `bf.Knockoffs(q, covariance=...)` does, for all q by one lasso."""
    table = Table([Column(f"x{j}", "numeric", x) for j, x in enumerate(X.T)] + [Column("y", "numeric", y)])
    problem = Problem(table.names[:-1], "y", None, seed, lambda: table, _no_test)
    columns, rng = X - X.mean(axis=0), derive_rng(seed, "knockoffs", 0)
    pair = Pair(columns, design.law.draw(columns, rng), np.arange(design.d))
    found = excess(problem, LASSO, None, "", pair, rng)
    for q in LEVELS:
        yield q, found >= threshold(found, q)


def our_dcrt(design: Design, X: np.ndarray, y: np.ndarray, seed: int) -> Selected:
    """What `bf.DCRT(alpha=q, covariance=...)` does, with its default bh."""
    columns, outcome = X - X.mean(axis=0), (y - y.mean())[:, np.newaxis]
    owners, correlations = np.arange(design.d), design.covariance
    log_p = dcrt_p_values(columns, owners, outcome, design.d, correlations)[2]
    for q in LEVELS:
        yield q, rejected(log_p, q, BH)


def our_stability(design: Design, X: np.ndarray, y: np.ndarray, seed: int) -> Selected:
    """`bf.StabilitySelection()`, which knows no q: at most one false feature of low probability is expected."""
    kept = bf.StabilitySelection(random_state=seed).fit(X, y).get_support()
    for q in LEVELS:
        yield q, kept


def knockpy_knockoffs(design: Design, X: np.ndarray, y: np.ndarray, seed: int) -> Selected:
    """Knockpy's filter with its defaults: mvr, and coefficients of a cross-validated lasso."""
    from knockpy.knockoff_filter import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002 - knockpy takes its random numbers from there
    found = KnockoffFilter(ksampler="gaussian", fstat="lasso", knockoff_kwargs={"S": design.s_matrix})
    found.forward(X, y, mu=np.zeros(design.d), Sigma=design.covariance, fdr=LEVELS[0])
    for q in LEVELS:
        yield q, found.make_selections(found.W, q).astype(bool)


def hidimstat_knockoffs(design: Design, X: np.ndarray, y: np.ndarray, seed: int) -> Selected:
    """Hidimstat's filter with its defaults, equicorrelated knockoffs and a lasso, but for the covariance."""
    from hidimstat import ModelXKnockoff
    from hidimstat.samplers import GaussianKnockoffs

    generator = GaussianKnockoffs(cov_estimator=_known(design.covariance))
    found = ModelXKnockoff(ko_generator=generator, centered=False, random_state=seed)
    found.fit_importance(X - X.mean(axis=0), y - y.mean())
    for q in LEVELS:
        yield q, found.fdr_selection(fdr=q)


def hidimstat_dcrt(design: Design, X: np.ndarray, y: np.ndarray, seed: int, is_fitted: bool = True) -> Selected:
    """Hidimstat's D0CRT with its defaults, but for the covariance, and no screening: it would keep a tenth."""
    from hidimstat import D0CRT
    from sklearn.linear_model import LassoCV

    model = LassoCV(alphas=10)
    found = D0CRT(model, sigma_X=design.covariance, screening_threshold=100, fit_y=is_fitted, random_state=seed)
    found.fit_importance(X, y)
    log_p = np.log(np.maximum(found.pvalues_, 1e-300))
    for q in LEVELS:
        yield q, rejected(log_p, q, BH)


METHODS: dict[str, Callable[[Design, np.ndarray, np.ndarray, int], Selected]] = {
    "knockoffs": our_knockoffs,
    "knockpy": knockpy_knockoffs,
    "hidimstat knockoffs": hidimstat_knockoffs,
    "dcrt": our_dcrt,
    "hidimstat dCRT": hidimstat_dcrt,
    "hidimstat dCRT, fit_y=False": partial(hidimstat_dcrt, is_fitted=False),
    "stability-selection": our_stability,
}


#: At most so many tables of what takes seconds for each.
MOST_TABLES = {
    "hidimstat knockoffs": 40,
    "hidimstat dCRT": 40,
    "hidimstat dCRT, fit_y=False": 100,
    "stability-selection": 200,
}


def measured(name: str, number: int, method: str) -> list[dict[str, object]]:
    """Return the share of false features, and of true ones that were found, of one table by a method at each q."""
    design, rows = DESIGNS[name], []
    X, y, is_true = design.table(name, number)
    start = time.process_time()
    for q, kept in METHODS[method](design, X, y, seed_32("knockoff-packages", name, number, method)):
        right = int((kept & is_true).sum())
        shares = {"false": (kept.sum() - right) / max(kept.sum(), 1), "power": right / N_SIGNALS}
        seconds = time.process_time() - start
        rows.append({"design": name, "draw": number, "method": method, "q": q, **shares, "seconds": seconds})
    return rows


def _known(covariance: np.ndarray) -> object:
    """Return what hidimstat takes for an estimator of the covariance."""
    from sklearn.base import BaseEstimator

    class Known(BaseEstimator):
        def __init__(self, covariance: np.ndarray | None = None) -> None:
            self.covariance = covariance

        def fit(self, X: np.ndarray) -> Known:
            self.covariance_, self.n_features_in_ = self.covariance, X.shape[1]
            return self

    return Known(covariance)


def _no_test(table: Table) -> object:
    raise RuntimeError("knockoffs make no tests")


def main() -> None:
    """Measure until the time or the tables are used up, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget-minutes", type=float, default=10.0, help="of CPU time; 0 only writes the page")
    parser.add_argument("--tables", type=int, default=1000, help="tables of each design")
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS), help="those to measure")
    arguments = parser.parse_args()
    kept = page.RESULTS
    known = pd.read_parquet(kept) if kept.exists() else pd.DataFrame(columns=["design", "draw", "method"])
    done, rows = set(zip(known["design"], known["draw"], known["method"], strict=True)), known.to_dict("records")
    asked = (
        (design, number, method)
        for number in range(arguments.tables)
        for design in DESIGNS
        for method in arguments.methods
        if number < MOST_TABLES.get(method, arguments.tables)
    )
    stop = time.process_time() + 60 * arguments.budget_minutes
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the packages, on lassos that did not converge
            for one in asked:
                if one not in done and time.process_time() < stop:
                    rows += measured(*one)
    finally:  # also of a run that is stopped
        pd.DataFrame(rows).to_parquet(kept, index=False)
    page.write(pd.DataFrame(rows))


if __name__ == "__main__":
    main()
