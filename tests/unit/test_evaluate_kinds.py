"""Splits of survival, counts, orders, shares and positive numbers: every metric, the prior, foreign models."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from blanketflow.core.cards import TARGET_KINDS, TASKS
from blanketflow.core.column import TargetColumn
from blanketflow.core.table import Column, Table
from blanketflow.models.evaluation import evaluate_split
from blanketflow.models.metrics import METRICS, Predictions, resolve_metrics, score

N_TRAIN, N = 200, 320
TRAIN, TEST = np.arange(N_TRAIN), np.arange(N_TRAIN, N)
KINDS = [kind for kind in TARGET_KINDS if kind not in TASKS]
MODELS = ["cox", "poisson", "gamma", "fractional-logit", "proportional-odds", "lightgbm", "logistic", "ridge", "svm"]
OWN = {
    "survival": ["cox", "lightgbm"],
    "count": ["poisson", "lightgbm"],
    "ordered": ["proportional-odds", "lightgbm", "logistic"],
    "share": ["fractional-logit", "lightgbm"],
    "positive": ["gamma", "lightgbm"],
}


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def problem(kind, seed=0, is_late=False, exposed=True):
    """Return a feature, a column of noise, and a target that grows with the feature."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=N)
    features = [Column("x", "numeric", x), Column("noise", "numeric", rng.normal(size=N))]
    parts, levels, column_kind = {}, (), "numeric"
    if kind == "survival":
        event_at, censored_at = rng.exponential(np.exp(-1.5 * x)), rng.exponential(2.0, size=N)
        values = np.minimum(event_at, censored_at)
        parts["event"] = event_at <= censored_at
        if is_late:
            parts["entry"] = values * rng.random(N) * 0.5
    elif kind == "count":
        exposure = rng.uniform(0.5, 3.0, size=N) if exposed else np.ones(N)
        values, parts = rng.poisson(exposure * np.exp(x)).astype(float), {"exposure": exposure} if exposed else {}
    elif kind == "ordered":
        values = np.digitize(2 * x + rng.logistic(size=N), [-2.0, 0.0, 2.0]).astype(np.int32)
        levels, column_kind = ("none", "mild", "severe", "worst"), "categorical"
    elif kind == "share":
        values = np.round(1 / (1 + np.exp(-2 * x - rng.normal(size=N))), 1)
    else:
        values = rng.gamma(2.0, np.exp(x))
    return features, TargetColumn("y", column_kind, values, levels, kind, parts)


def evaluate(features, y, models, metrics="auto", train=TRAIN, test=TEST, n_jobs=1):
    def rows(part):
        return Table([column.take(part) for column in features])

    own = rows(train), y.take(train), rows(test), y.take(test)
    return evaluate_split(*own, models, metrics, y.target_kind, (2026, "toy", "cv-1", "evaluate"), n_jobs)


def without_seconds(rows):
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_of_the_kind_beats_the_prior_by_every_metric(kind):
    features, y = problem(kind)
    rows = evaluate(features, y, MODELS)
    assert [(row["model"], row["metric"]) for row in rows] == [
        (model, metric) for model in OWN[kind] for metric in resolve_metrics("auto", kind)
    ]
    for row in rows:
        assert (row["status"], row["reason"]) == ("ok", "")
        sign = 1 if METRICS[row["metric"]].higher_is_better else -1
        assert sign * row["value"] > sign * row["prior"], row
    assert without_seconds(rows) == without_seconds(evaluate(features, y, MODELS, n_jobs=2))


@pytest.mark.parametrize("kind", KINDS)
def test_without_features_models_are_the_prior(kind):
    _, y = problem(kind)
    rows = evaluate([], y, ["lightgbm"])
    assert [row["value"] for row in rows] == [row["prior"] for row in rows]
    assert all(row["status"] == "ok" for row in rows)


def test_metrics_of_each_kind():
    of_survival = {"uno-concordance", "concordance", "integrated-brier", "time-auc"}
    assert set(resolve_metrics("auto", "survival")) == of_survival
    assert resolve_metrics("auto", "count") == ["poisson-deviance", "mae"]
    assert resolve_metrics("auto", "ordered") == ["quadratic-kappa", "ranked-probability-score"]
    assert resolve_metrics("auto", "share") == ["share-deviance", "mae"]
    assert resolve_metrics("auto", "positive") == ["gamma-deviance", "mae"]
    assert resolve_metrics(["r2", "mae", "accuracy"], "count") == ["mae"]


def test_what_the_prior_of_each_kind_scores():
    _, y = problem("survival")
    values = {row["metric"]: row["prior"] for row in evaluate([], y, ["cox"])}
    assert values["concordance"] == values["uno-concordance"] == values["time-auc"] == 0.5
    assert 0.1 < values["integrated-brier"] < 0.25  # 1/4 for who says 1/2 at all times
    _, counts = problem("count")
    (row,) = evaluate([], counts, ["poisson"], ["mae"])
    rate = counts.values[TRAIN].sum() / counts.parts["exposure"][TRAIN].sum()
    assert row["prior"] == pytest.approx(np.mean(np.abs(counts.values[TEST] - rate * counts.parts["exposure"][TEST])))


def test_deviances_by_hand():
    y, mean = np.array([0.0, 2.0]), np.array([0.5, 1.0])
    counted = score("poisson-deviance", Predictions(y, mean)).value
    assert counted == pytest.approx((2 * 0.5 + 2 * (2 * np.log(2) - 1)) / 2)
    of_gamma = score("gamma-deviance", Predictions(np.array([1.0, 2.0]), np.array([2.0, 2.0]))).value
    assert of_gamma == pytest.approx(2 * (0.5 - 1 + np.log(2)) / 2)
    shares = score("share-deviance", Predictions(np.array([0.0, 0.5, 1.0]), np.array([0.5, 0.5, 0.25]))).value
    assert shares == pytest.approx(2 * (np.log(2) + 0 + np.log(4)) / 3)


def test_deviances_and_kappa_equal_scikit_learn():
    from sklearn.metrics import cohen_kappa_score, mean_gamma_deviance, mean_poisson_deviance

    rng = np.random.default_rng(0)
    mean = rng.gamma(2.0, size=50)
    counts, positive, codes = rng.poisson(mean).astype(float), rng.gamma(1.0, mean), rng.integers(0, 4, size=(2, 50))
    found = score("poisson-deviance", Predictions(counts, mean)).value
    assert found == pytest.approx(mean_poisson_deviance(counts, mean))
    found = score("gamma-deviance", Predictions(positive, mean)).value
    assert found == pytest.approx(mean_gamma_deviance(positive, mean))
    found = score("quadratic-kappa", Predictions(*codes)).value
    assert found == pytest.approx(cohen_kappa_score(*codes, weights="quadratic"))


def test_ranked_probability_score_by_hand():
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    found = score("ranked-probability-score", Predictions(np.array([0, 1]), np.zeros(2), probabilities, np.arange(3)))
    # row 1: (0.5 - 1)^2 + (0.8 - 1)^2; row 2: (0.1 - 0)^2 + (0.2 - 1)^2; two thresholds each
    assert found.value == pytest.approx((0.25 + 0.04 + 0.01 + 0.64) / 4)


@pytest.mark.parametrize(
    ("metric", "predictions", "reason"),
    [
        ("poisson-deviance", Predictions(np.ones(2), np.array([0.0, 1.0])), "a mean that is not above 0"),
        ("gamma-deviance", Predictions(np.ones(2), np.array([-1.0, 1.0])), "a mean that is not above 0"),
        ("share-deviance", Predictions(np.ones(2) / 2, np.array([0.5, 1.2])), "shares outside 0 to 1"),
        ("quadratic-kappa", Predictions(np.ones(2), np.ones(2)), "one and the same class"),
        ("ranked-probability-score", Predictions(np.ones(2), np.ones(2)), "no probabilities"),
    ],
)
def test_undefined_is_none_with_a_reason(metric, predictions, reason):
    found = score(metric, predictions)
    assert found.value is None
    assert reason in found.reason


def test_training_rows_that_teach_nothing_leave_the_prior():
    features, y = problem("survival")
    calm = np.flatnonzero(~y.parts["event"])
    rows = evaluate(features, y, ["cox", "lightgbm"], train=calm[:40])
    assert [row["value"] for row in rows] == [row["prior"] for row in rows]
    features, counts = problem("count", exposed=False)
    zeros = np.flatnonzero(counts.values == 0)
    rows = evaluate(features, counts, ["poisson", "lightgbm"], train=zeros[:40], test=TEST)
    assert {(row["metric"], row["status"]) for row in rows} == {("poisson-deviance", "undefined"), ("mae", "ok")}
    features, shares = problem("share")
    ones = np.flatnonzero(shares.values == 1)
    rows = evaluate(features, shares, ["fractional-logit"], ["mae"], train=ones, test=TEST)
    assert rows[0]["value"] == pytest.approx(np.mean(1 - shares.values[TEST]))


def test_a_test_part_without_events_says_so():
    features, y = problem("survival")
    calm = np.flatnonzero(~y.parts["event"])
    rows = evaluate(features, y, ["cox"], train=TRAIN, test=calm)
    found = {row["metric"]: (row["status"], row["reason"]) for row in rows}
    for metric in ("concordance", "uno-concordance", "time-auc"):
        assert found[metric] == ("undefined", "no row of the test part has an event")
    assert found["integrated-brier"][0] == "ok"


def test_late_entry():
    features, y = problem("survival", is_late=True)
    rows = {row["metric"]: row for row in evaluate(features, y, ["cox"])}
    assert rows["concordance"]["value"] > 0.7
    assert {rows[metric]["status"] for metric in rows if metric != "concordance"} == {"undefined"}
    assert "concordance takes them into account" in rows["uno-concordance"]["reason"]


def test_an_ordered_class_without_training_rows_has_probability_0():
    features, y = problem("ordered")
    train = np.flatnonzero(y.values < 3)
    test = np.flatnonzero(y.values == 3)
    rows = evaluate(features, y, ["proportional-odds", "lightgbm"], train=train, test=test)
    assert all(row["status"] == "ok" for row in rows)
    assert all(1 / 3 <= row["value"] <= 1 for row in rows if row["metric"] == "ranked-probability-score")


class Steps:
    """A step function with a domain, as those of scikit-survival."""

    def __init__(self, x, y):
        self.x, self.y, self.domain = x, y, (0.1, x[-1])

    def __call__(self, times):
        assert times.min() >= self.domain[0]
        assert times.max() <= self.domain[1]
        return self.y[np.searchsorted(self.x, times, side="right") - 1]


class Exponential(BaseEstimator):
    """A foreign survival model with the interface of scikit-survival: hazards by halves of the first column."""

    def fit(self, X, y):
        assert y.dtype.names == ("event", "time")
        high = X[:, -1] > 0
        self.rates_ = [y["event"][rows].sum() / y["time"][rows].sum() for rows in (~high, high)]
        return self

    def predict(self, X):
        return np.take(self.rates_, X[:, -1] > 0)

    def predict_survival_function(self, X):
        times = np.linspace(0, 2, 50)
        return np.array([Steps(times, np.exp(-rate * times)) for rate in self.predict(X)])


def test_a_foreign_survival_model_gives_risks_and_curves():
    features, y = problem("survival")
    rows = evaluate(features, y, [f"{__name__}:Exponential"])
    assert all(row["status"] == "ok" for row in rows)
    values = {row["metric"]: (row["value"], row["prior"]) for row in rows}
    assert values["concordance"][0] > 0.65
    assert values["integrated-brier"][0] < values["integrated-brier"][1]


class WithoutCurves(Exponential):
    """A foreign model that refuses curves, as some of scikit-survival without options do."""

    def predict_survival_function(self, X):
        raise ValueError("set fit_baseline_model")


def test_a_foreign_survival_model_that_refuses_curves_is_scored_by_its_risks():
    features, y = problem("survival")
    rows = {row["metric"]: row for row in evaluate(features, y, [f"{__name__}:WithoutCurves"])}
    assert rows["concordance"]["value"] > 0.65
    assert rows["integrated-brier"]["status"] == "undefined"
    assert "no survival probabilities (ValueError: set fit_baseline_model)" in rows["integrated-brier"]["reason"]


def test_foreign_regressors_and_classifiers_do_means_and_orders():
    features, counts = problem("count")
    rows = evaluate(features, counts, ["sklearn.linear_model:PoissonRegressor"])
    assert all(row["value"] < row["prior"] for row in rows)
    rows = evaluate(features, counts, ["sklearn.neighbors:KNeighborsRegressor"])
    assert {row["status"] for row in rows} == {"error"}
    assert "sample_weight" in rows[0]["reason"]
    features, ordered = problem("ordered")
    rows = evaluate(features, ordered, ["sklearn.naive_bayes:GaussianNB"])
    assert all(row["status"] == "ok" for row in rows)
    assert evaluate(features, ordered, ["sklearn.linear_model:Ridge"]) == []


@pytest.mark.parametrize(
    ("name", "brier"),
    [
        ("sksurv.linear_model:CoxPHSurvivalAnalysis", "ok"),
        ("sksurv.linear_model:CoxnetSurvivalAnalysis", "undefined"),  # curves need an option
        ("sksurv.linear_model:IPCRidge", "undefined"),  # predicts times, and no curves
        ("sksurv.svm:FastSurvivalSVM", "undefined"),
    ],
)
def test_estimators_of_scikit_survival(name, brier):
    pytest.importorskip("sksurv")
    features, y = problem("survival")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package's own
        rows = evaluate(features, y, [name, "cox"])
    values = {(row["model"], row["metric"]): row["value"] for row in rows}
    assert [row["status"] for row in rows if row["metric"] == "integrated-brier"] == [brier, "ok"]
    assert values[name, "concordance"] == pytest.approx(values["cox", "concordance"], abs=0.03)
    if brier == "ok":
        assert values[name, "integrated-brier"] == pytest.approx(values["cox", "integrated-brier"], abs=0.01)
    _, late = problem("survival", is_late=True)
    rows = evaluate(features, late, [name])
    assert {row["status"] for row in rows} == {"error"}
