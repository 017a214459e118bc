"""Models of survival, counts, orders, shares and positive numbers: their likelihoods maximised by scipy, and peers."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, gammaln

import literal_survival as literal
from blanketflow.core.errors import UnsupportedError
from blanketflow.models import build_estimator, build_prior, get_model
from blanketflow.models.metrics_of_kinds import DEVIANCES
from blanketflow.models.survival_scores import brier_times, integrated_brier
from literal_survival import survival

RECORDED = json.loads((Path(__file__).parents[2] / "studies" / "target_peers" / "models_recorded.json").read_text())
TABLES = {name: np.array(values[: RECORDED["n_train"]]) for name, values in RECORDED["tables"].items()}
ANSWERS = RECORDED["answers"]
X = TABLES["X"]
Z = (X - X.mean(axis=0)) / X.std(axis=0)


def fitted(model, task, y, **options):
    return build_estimator({"type": model, **options}, task, 0).fit(X, y)


def maximised(objective, n):
    """Return the parameters of the largest value."""
    return minimize(lambda at: -objective(at), np.zeros(n), method="BFGS", options={"gtol": 1e-7}).x


@pytest.mark.parametrize("is_late", [False, True])
def test_cox_maximises_the_penalised_partial_likelihood(is_late):
    y = survival(TABLES["event"], TABLES["tied"], TABLES["entry"] if is_late else None)
    found = fitted("cox", "survival", y, alpha=3.0).estimator_.coef_
    expected = maximised(lambda b: literal.partial_likelihood(y, Z @ b) - 1.5 * b @ b, 3)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(("key", "alpha"), [("penalised", RECORDED["penalty"]), ("plain", 0.0)])
def test_cox_equals_scikit_survival(key, alpha):
    model = fitted("cox", "survival", survival(TABLES["event"], TABLES["tied"]), alpha=alpha)
    known = ANSWERS["cox"][key]
    np.testing.assert_allclose(model.estimator_.coef_, known["coefficients"], atol=1e-7)
    curves = model.predict_survival(X[:5], np.array(known["times"]))
    np.testing.assert_allclose(curves, known["survival"], atol=1e-7)


def test_cox_with_late_entry_equals_statsmodels():
    y = survival(TABLES["event"], TABLES["tied"], TABLES["entry"])
    found = fitted("cox", "survival", y, alpha=0).estimator_.coef_
    np.testing.assert_allclose(found, ANSWERS["cox_late_entry"], atol=1e-6)


def test_cox_of_more_columns_than_rows_is_that_of_the_unrotated_columns():
    rng = np.random.default_rng(0)
    wide, y = rng.normal(size=(12, 20)), survival(np.arange(12) % 3 > 0, rng.exponential(size=12))
    scaled = (wide - wide.mean(axis=0)) / wide.std(axis=0)
    found = build_estimator("cox", "survival", 0).fit(wide, y).estimator_.coef_
    expected = maximised(lambda b: literal.partial_likelihood(y, scaled @ b) - b @ b / 2, 20)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_cox_of_very_many_columns_keeps_to_finite_steps():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(150, 1000))
    y = survival(rng.random(150) < 0.7, rng.exponential(size=150))
    fitted = build_estimator("cox", "survival", 0).fit(wide, y)
    curves = fitted.predict_survival(10 * wide, np.unique(y["time"]))
    assert np.all(np.isfinite(fitted.predict(wide)))
    assert np.all(np.diff(curves, axis=1) <= 0)


def test_cox_without_a_penalty_stands_a_perfect_order_and_a_column_twice():
    x = np.arange(8.0)
    y = survival(np.ones(8, dtype=bool), 9 - x)
    risk = build_estimator({"type": "cox", "alpha": 0}, "survival", 0).fit(np.column_stack([x, x]), y).predict
    assert np.all(np.diff(risk(np.column_stack([x, x]))) > 0)


def test_boosted_cox_orders_rows_by_a_bent_risk():
    rng = np.random.default_rng(0)
    columns = rng.uniform(-2, 2, size=(600, 2))
    truth = 2 * np.abs(columns[:, 0])  # without a linear trend
    y = survival(rng.random(600) < 0.8, rng.exponential(np.exp(-truth)))
    scored = {
        name: build_estimator(name, "survival", 0).fit(columns[:400], y[:400]).score(columns[400:], y[400:])
        for name in ("cox", "lightgbm")
    }
    assert scored["lightgbm"] > 0.68
    assert scored["cox"] < 0.56


def test_one_round_of_boosted_cox_is_a_limited_newton_step_in_each_leaf():
    y = survival(np.ones(12, dtype=bool), np.array([1.0, 2, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10]))
    x = np.repeat([[0.0], [1.0]], 6, axis=0)
    options = {"n_estimators": 1, "learning_rate": 0.1, "min_child_samples": 1}
    found = build_estimator({"type": "lightgbm", **options}, "survival", 0).fit(x, y)
    steps = []
    step = 1e-4
    for leaf in (0, 1):
        low, high = (literal.partial_likelihood(y, k * step * (np.arange(12) // 6 == leaf)) for k in (-1, 1))
        first = (high - low) / (2 * step)
        # of the Hessian only the diagonal counts
        each = [
            [literal.partial_likelihood(y, k * step * (np.arange(12) == i)) for k in (-1, 0, 1)]
            for i in np.flatnonzero(np.arange(12) // 6 == leaf)
        ]
        second = -sum(a - 2 * b + c for a, b, c in each) / step**2
        steps.append(first / second)
        assert found.predict(np.array([[float(leaf)]]))[0] == pytest.approx(0.1 * min(first / second, 1), abs=1e-4)
    assert steps[0] > 1 > 0 > steps[1] > -1  # the first is limited


def test_poisson_regression_with_exposure():
    y = np.empty(len(X), dtype=[("count", float), ("exposure", float)])
    y["count"], y["exposure"] = TABLES["count"], TABLES["exposure"]
    plain = np.log(fitted("poisson", "count", y, alpha=0).predict(X))
    known = np.array(ANSWERS["poisson"])
    np.testing.assert_allclose(plain, known[0] + Z @ known[1:], atol=1e-6)

    def objective(at):
        score = at[0] + Z @ at[1:]
        of_rows = y["count"] * score - y["exposure"] * np.exp(score)
        return of_rows.sum() - 5 * at[1:] @ at[1:]

    penalised = maximised(objective, 4)
    found = np.log(fitted("poisson", "count", y, alpha=10).predict(X))
    np.testing.assert_allclose(found, penalised[0] + Z @ penalised[1:], atol=1e-5)


def test_gamma_regression():
    known = np.array(ANSWERS["gamma"])
    plain = np.log(fitted("gamma", "positive", TABLES["positive"], alpha=0).predict(X))
    np.testing.assert_allclose(plain, known[0] + Z @ known[1:], atol=1e-6)

    def objective(at):
        score = at[0] + Z @ at[1:]
        return np.sum(-score - TABLES["positive"] * np.exp(-score)) - 5 * at[1:] @ at[1:]

    penalised = maximised(objective, 4)
    found = np.log(fitted("gamma", "positive", TABLES["positive"], alpha=10).predict(X))
    np.testing.assert_allclose(found, penalised[0] + Z @ penalised[1:], atol=1e-5)


def test_fractional_logit():
    y, known = TABLES["share"], np.array(ANSWERS["share"])
    plain = fitted("fractional-logit", "share", y, alpha=0).predict(X)
    np.testing.assert_allclose(plain, expit(known[0] + Z @ known[1:]), atol=1e-6)

    def objective(at):
        mean = expit(at[0] + Z @ at[1:])
        return np.sum(y * np.log(mean) + (1 - y) * np.log(1 - mean)) - 5 * at[1:] @ at[1:]

    penalised = maximised(objective, 4)
    found = fitted("fractional-logit", "share", y, alpha=10).predict(X)
    np.testing.assert_allclose(found, expit(penalised[0] + Z @ penalised[1:]), atol=1e-5)


def test_proportional_odds():
    y, known = TABLES["ordered"], ANSWERS["ordered"]
    plain = fitted("proportional-odds", "ordered", y, alpha=0)
    np.testing.assert_allclose(plain.estimator_.coef_, known["coefficients"], atol=1e-6)
    np.testing.assert_allclose(plain.predict_proba(X[:5]), known["probabilities"], atol=1e-6)

    def objective(at):
        thresholds = np.concatenate([[-np.inf], np.cumsum([at[0], *np.exp(at[1:3])]), [np.inf]])
        score = Z @ at[3:]
        inside = expit(thresholds[y + 1] - score) - expit(thresholds[y] - score)
        return np.sum(np.log(inside)) - 5 * at[3:] @ at[3:]

    found = fitted("proportional-odds", "ordered", y, alpha=10)
    np.testing.assert_allclose(found.estimator_.coef_, maximised(objective, 6)[3:], atol=1e-5)
    assert found.predict(X).tolist() == found.predict_proba(X).argmax(axis=1).tolist()


def test_proportional_odds_of_two_classes_is_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    y = (TABLES["ordered"] > 1).astype(int)
    logistic = LogisticRegression(C=1 / 3, tol=1e-10, max_iter=10_000).fit(Z, y)
    found = fitted("proportional-odds", "ordered", y, alpha=3).predict_proba(X)
    np.testing.assert_allclose(found, logistic.predict_proba(Z), atol=1e-6)


def test_proportional_odds_of_separated_classes():
    x, y = np.arange(12.0)[:, None], np.repeat([0, 3, 4], 4)
    found = build_estimator({"type": "proportional-odds", "alpha": 0}, "ordered", 0).fit(x, y)
    assert found.predict(x).tolist() == y.tolist()
    assert found.classes_.tolist() == [0, 3, 4]


def test_priors():
    nothing = np.zeros((4, 1))
    y = np.array([(2, 1.0), (0, 3.0), (1, 2.0), (3, 2.0)], dtype=[("count", float), ("exposure", float)])
    assert build_prior("count").fit(nothing, y).predict(nothing) == pytest.approx([6 / 8] * 4)
    assert build_prior("count").fit(nothing, y["count"]).predict(nothing) == pytest.approx([1.5] * 4)
    assert build_prior("ordered").fit(nothing, np.array([0, 2, 2, 2])).predict_proba(nothing)[0] == pytest.approx(
        [0.25, 0.75]
    )
    assert build_prior("share").fit(nothing, np.array([0, 0.5, 1, 1])).predict(nothing)[0] == pytest.approx(0.625)
    of_time = build_prior("survival").fit(nothing, survival([True, False, True, True], [1.0, 2.0, 3.0, 4.0]))
    assert of_time.predict_survival(nothing[:1], np.array([0.5, 1.0, 3.0]))[0] == pytest.approx([1, 3 / 4, 3 / 8])


def test_boosted_means_have_the_loss_of_their_kind():
    rng = np.random.default_rng(1)
    columns = rng.uniform(-1, 1, size=(500, 2))
    mean = np.exp(1 + 2 * columns[:, 0])
    counts = rng.poisson(mean).astype(float)
    found = build_estimator("lightgbm", "count", 0).fit(columns[:300], counts[:300]).predict(columns[300:])

    def likelihood(at):
        return np.mean(counts[300:] * np.log(at) - at - gammaln(counts[300:] + 1))

    flat = np.full(200, counts[:300].mean())
    assert likelihood(found) > likelihood(flat) + 0.7 * (likelihood(mean[300:]) - likelihood(flat))


def test_a_model_says_which_kinds_it_does():
    with pytest.raises(UnsupportedError, match="'cox' does not do regression, only survival"):
        build_estimator("cox", "regression", 0)
    with pytest.raises(UnsupportedError, match="'tree' does not do survival"):
        build_estimator("tree", "survival", 0)
    assert get_model("sklearn.linear_model:PoissonRegressor").card.tasks == ("regression", "count", "share", "positive")


def test_a_regressor_of_scikit_learn_fits_rates_weighted_by_exposure():
    y = np.array([(2, 1.0), (0, 3.0), (1, 2.0), (3, 2.0)], dtype=[("count", float), ("exposure", float)])
    model = build_estimator("sklearn.linear_model:LinearRegression", "count", 0)
    assert model.fit(np.zeros((4, 1)), y).predict(np.zeros((1, 1))) == pytest.approx([6 / 8])


def test_boosted_gamma_takes_no_step_beyond_what_small_numbers_say():
    """A Newton step for a leaf of numbers near 0 goes far below them, where the deviance is without bound."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 4))
    y = np.exp(X[:, 0] - X[:, 1]) * rng.exponential(size=500)
    said = get_model("lightgbm").build("positive", 0).fit(X[:400], y[:400]).predict(X[400:])
    nothing = np.full(100, y[:400].mean())
    deviance, of_nothing = (np.mean(DEVIANCES["positive"](y[400:], means)) for means in (said, nothing))
    assert deviance < 0.8 * of_nothing


def test_curves_of_boosted_trees_are_as_far_apart_as_unseen_rows_say():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 8))
    score = X[:, 0] - 0.5 * X[:, 1]
    for of_kind, share in ((score, 0.8), (np.zeros(400), 1.02)):  # of the score of the Kaplan-Meier curve
        died, left = rng.exponential(np.exp(-of_kind)), rng.exponential(2.0, 400)
        y = survival(died <= left, np.minimum(died, left))
        times = brier_times(y[200:])

        def of(estimator, y=y, times=times):
            said = estimator.fit(X[:200], y[:200]).predict_survival(X[200:], times)
            return integrated_brier(y[200:], said, times, y[:200])

        calibrated = of(build_estimator("lightgbm", "survival", 0))
        plain = of(build_estimator({"type": "lightgbm", "parts": 1}, "survival", 0))
        assert calibrated < share * of(build_prior("survival")) < plain
