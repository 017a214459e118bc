"""Records what scikit-survival and statsmodels answer on small tables, for tests/unit/test_models_of_kinds.py.

Needs scikit-survival and statsmodels, which blanketflow does not. Run it from the repository:
``python studies/target_peers/models_recorded.py``. It writes models_recorded.json beside itself.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

N_TRAIN, N_TEST, COLUMNS = 90, 60, 3
PENALTY = 2.0


def main() -> None:
    """Write the tables and the answers."""
    import statsmodels.api as sm
    from statsmodels.duration.hazard_regression import PHReg

    rng = np.random.default_rng(56)
    X = rng.normal(size=(N_TRAIN + N_TEST, COLUMNS)).round(3)
    score = X @ np.array([0.8, -0.5, 0.0])
    events_at, censored_at = rng.exponential(np.exp(-score)), rng.exponential(2.0, size=len(X))
    time, event = np.minimum(events_at, censored_at).round(6) + 1e-6, events_at <= censored_at
    tied = np.ceil(4 * time)
    entry = np.floor(tied * rng.random(len(X)) * 0.7) + 0.5  # statsmodels has rows at risk at their entry, others not
    exposure = rng.uniform(0.5, 3.0, size=len(X)).round(3)
    count = rng.poisson(exposure * np.exp(0.5 * score))
    ordered = np.digitize(score + rng.logistic(size=len(X)), [-1.0, 0.3, 1.5])
    share = np.round(1 / (1 + np.exp(-score - rng.normal(size=len(X)))), 2)
    share[:3] = [0.0, 1.0, 0.0]
    positive = rng.gamma(2.0, np.exp(0.6 * score)).round(4) + 0.001
    tables = {
        "X": X,
        "time": time,
        "event": event,
        "tied": tied,
        "entry": entry,
        "exposure": exposure,
        "count": count,
        "ordered": ordered,
        "share": share,
        "positive": positive,
    }
    first = slice(0, N_TRAIN)
    Z = (X[first] - X[first].mean(axis=0)) / X[first].std(axis=0)
    design = sm.add_constant(Z)
    answers: dict[str, Any] = {
        "cox": cox(Z, event[first], tied[first]),
        "cox_late_entry": PHReg(tied[first], Z, status=event[first], entry=entry[first], ties="efron").fit().params,
        "poisson": glm(count[first], design, sm.families.Poisson(), exposure=exposure[first]),
        "gamma": glm(positive[first], design, sm.families.Gamma(sm.families.links.Log())),
        "share": glm(share[first], design, sm.families.Binomial()),
        "ordered": proportional_odds(Z, ordered[first]),
        "scores": scores(tables, score),
    }
    packages = {name: version(name) for name in ("scikit-survival", "statsmodels", "scikit-learn", "numpy", "scipy")}
    whole = {"packages": packages, "n_train": N_TRAIN, "penalty": PENALTY, "tables": tables, "answers": answers}
    path = Path(__file__).with_name("models_recorded.json")
    path.write_text(json.dumps(whole, default=lambda array: array.tolist()) + "\n", encoding="utf-8")


def cox(Z: np.ndarray, event: np.ndarray, time: np.ndarray) -> dict[str, Any]:
    """Return coefficients by Efron's ties, penalised and not, and survival curves of five rows."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis
    from sksurv.util import Surv

    y, found = Surv.from_arrays(event, time), {}
    for key, alpha in (("penalised", PENALTY), ("plain", 0.0)):
        fitted = CoxPHSurvivalAnalysis(alpha=alpha, ties="efron", tol=1e-14, n_iter=1000).fit(Z, y)
        curves = fitted.predict_survival_function(Z[:5], return_array=True)
        found[key] = {"coefficients": fitted.coef_, "times": fitted.unique_times_, "survival": curves}
    return found


def glm(y: np.ndarray, design: np.ndarray, family: Any, **offset: Any) -> np.ndarray:
    """Return intercept and coefficients of a generalised linear model."""
    import statsmodels.api as sm

    return sm.GLM(y, design, family=family, **offset).fit(tol=1e-14, maxiter=1000).params


def proportional_odds(Z: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
    """Return coefficients and class probabilities of a proportional-odds regression."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    fitted = OrderedModel(codes, Z, distr="logit").fit(method="bfgs", disp=False, gtol=1e-9, maxiter=10000)
    return {"coefficients": fitted.params[: Z.shape[1]], "probabilities": fitted.predict(Z[:5])}


def scores(tables: dict[str, np.ndarray], risk: np.ndarray) -> dict[str, Any]:
    """Return scores of a risk and of curves on the test rows, with censoring from the training rows."""
    from sksurv.metrics import (
        brier_score,
        concordance_index_censored,
        concordance_index_ipcw,
        cumulative_dynamic_auc,
        integrated_brier_score,
    )
    from sksurv.nonparametric import kaplan_meier_estimator
    from sksurv.util import Surv

    y = Surv.from_arrays(tables["event"], tables["time"])
    train, test, risk = y[:N_TRAIN], y[N_TRAIN:], risk[N_TRAIN:].round(2)
    test, risk = test[test["time"] < train["time"].max()], risk[test["time"] < train["time"].max()]
    times = np.unique(test["time"][test["time"] <= np.quantile(test["time"], 0.8, method="inverted_cdf")])
    curves = np.exp(-times[None, :] * np.exp(risk)[:, None])
    quartiles = np.quantile(test["time"][test["event"]], [0.25, 0.5, 0.75], method="inverted_cdf")
    marginal_times, marginal = kaplan_meier_estimator(train["event"], train["time"])
    return {
        "risk": risk,
        "kept": tables["time"][N_TRAIN:] < train["time"].max(),
        "concordance": concordance_index_censored(test["event"], test["time"], risk)[0],
        "uno": concordance_index_ipcw(train, test, risk)[0],
        "times": times,
        "curves": curves,
        "brier": brier_score(train, test, curves, times)[1],
        "integrated_brier": integrated_brier_score(train, test, curves, times),
        "quartiles": quartiles,
        "auc": cumulative_dynamic_auc(train, test, risk, quartiles)[0],
        "kaplan_meier": {"times": marginal_times, "survival": marginal},
    }


if __name__ == "__main__":
    main()
