"""Rare classes and heavy tails: what is planted is kept, noise is not, and what would have been seen is said truly."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ParameterError
from blanketflow.core.limits import LimitReached
from blanketflow.core.table import column_from_array
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.judged import yardstick as of_scores
from blanketflow.selectors.judged.gate import gate
from blanketflow.selectors.judged.held_out import MOST_ROWS, judge
from blanketflow.selectors.judged.pace import Pace
from blanketflow.selectors.judged.portfolio import Rows
from blanketflow.selectors.judged.yardstick import yardstick

TRUE = {"x0", "x1", "x2"}


def rare(n, n_events, seed, slope=0.7, d=12):
    """Three columns that together tell the events with a ROC AUC of about 0.8, among noise."""
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, d))
    chance = slope * (X[:, 0] + X[:, 1] - X[:, 2]) + rng.logistic(size=n)
    y = np.where(np.argsort(np.argsort(-chance)) < n_events, "yes", "no")
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]), y


def as_rows(X, y, **known):
    return Rows(as_table(X), column_from_array("y", y), 0, search=run_fold, **known)


def tails(n, seed, slope=0.5):
    """A target with a standard deviation that is mostly that of its largest number."""
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, 12))
    y = np.exp(2 * (slope * (X[:, 0] + X[:, 1] - X[:, 2]) + rng.normal(size=n)))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(12)]), y


@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.extended) for s in (2, 3))])
def test_what_tells_80_events_in_2000_rows_is_kept(seed):
    X, y = rare(2000, 80, seed)
    found = bf.select(X, y, time_limit=None)
    assert set(found.features) >= TRUE and len(found.features) <= 4
    assert "ROC AUC 0." in found.verdict and "log-loss 0." in found.verdict
    assert set(found.scores["metric"]) == {"roc_auc"} and found.alternatives["log_loss"].idxmin() > 0


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.extended) for s in (1, 2, 3))])
def test_what_tells_a_target_of_heavy_tails_is_kept(seed):
    X, y = tails(300, seed)
    found = bf.select(X, y, time_limit=None)
    assert set(found.features) >= TRUE and len(found.features) <= 5
    assert "R² of the target's normal scores" in found.verdict


def test_of_noise_nothing_is_kept_and_what_would_have_been_seen_is_said():
    X, y = rare(420, 44, 0, slope=0)
    found = bf.select(X, y, time_limit=None)
    assert found.features == []
    said = "with these 420 rows, 44 of them yes, one of the 12 would have been seen by itself at a ROC AUC of 0.7"
    assert found.verdict.startswith(f"No feature was found to help: {said}")


@pytest.mark.parametrize(("n", "n_events"), [(2000, 80), (300, 150)])
def test_something_is_seen_in_few_tables_of_noise(n, n_events):
    seen = [gate(as_rows(*rare(n, n_events, seed, slope=0)), seed).is_open for seed in range(20)]
    assert sum(seen) <= 2


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_what_is_said_to_be_visible_is_seen_in_most_tables(task):
    rng, n, seen, tried = np.random.default_rng(0), 300, 0, 60
    noise = rng.normal(size=(n, 8))
    is_event = np.arange(n) < 40
    y = np.where(is_event, "yes", "no") if task == "classes" else rng.normal(size=n)
    visible = gate(as_rows(pd.DataFrame(noise), y), 0).visible
    for seed in range(tried):
        X = noise.copy()
        if task == "classes":
            X[:, 3] = np.sqrt(2) * norm.ppf(visible) * is_event + rng.normal(size=n)
        else:
            X[:, 3] = visible * y + np.sqrt(1 - visible**2) * rng.normal(size=n)
        seen += gate(as_rows(pd.DataFrame(X), y), seed).is_open
    assert 0.85 * tried <= seen


def test_trees_see_what_no_single_column_tells():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 5))
    y = np.where((X[:, 1] > 0) ^ (X[:, 3] > 0), "yes", "no")
    assert gate(as_rows(pd.DataFrame(X), y), 0).is_open
    assert not gate(as_rows(pd.DataFrame(X), rng.permutation(y)), 0).is_open


@pytest.mark.parametrize("sizes", [np.full(12, 20), np.arange(2, 32)])
def test_whole_groups_exchange_their_targets(sizes):
    """A column that tells patients apart tells their outcomes by chance, however many rows each has."""
    seen, patients = {"rows": 0, "groups": 0}, np.repeat(np.arange(len(sizes)), sizes)
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        X = rng.normal(size=(len(sizes), 4))[patients] + 0.1 * rng.normal(size=(len(patients), 4))
        y = np.array(["no", "yes"])[rng.permutation(np.arange(len(sizes)) % 2)][patients]
        rows = as_rows(pd.DataFrame(X), y)
        seen["rows"] += gate(rows, seed).is_open
        seen["groups"] += gate(rows, seed, patients).is_open
    assert seen["rows"] >= 10 and seen["groups"] <= 2


def test_all_events_are_kept_where_rows_are_drawn():
    X, y = rare(6000, 130, 0, d=3)
    judged = judge(as_table(X), column_from_array("y", y), 0, 2, 1, Pace(), search=run_fold)
    assert np.bincount(judged.truth.astype(int)).tolist() == [MOST_ROWS - 130, 130]
    assert judged.losses[judged.candidates.index(("none", 0)), 0].mean() == pytest.approx(
        log_loss(judged.truth, np.full((MOST_ROWS, 2), [1 - 130 / MOST_ROWS, 130 / MOST_ROWS]))
    )


def test_calibration_is_logistic_regression_on_the_other_parts():
    rng = np.random.default_rng(0)
    truth, parts = (rng.random(500) < 0.2).astype(float), rng.integers(0, 3, 500)
    of_yes = 1 / (1 + np.exp(-(3 * truth + rng.normal(size=500))))
    said = np.stack([1 - of_yes, of_yes])
    found = of_scores.calibrated(said[np.newaxis], truth, parts)[0]
    for part in range(3):
        others = parts != part
        scores, n_yes = np.log(of_yes / (1 - of_yes))[:, None], truth[others].sum()
        high, low = (n_yes + 1) / (n_yes + 2), 1 / (others.sum() - n_yes + 2)
        share = np.where(truth[others] > 0, high, low)  # each row once as an event, and once as none
        model = LogisticRegression(C=1e9, tol=1e-9, max_iter=1000).fit(
            np.vstack([scores[others]] * 2), np.repeat([1, 0], others.sum()), np.concatenate([share, 1 - share])
        )
        np.testing.assert_allclose(found[1, ~others], model.predict_proba(scores[~others])[:, 1], atol=1e-4)
    assert of_scores.log_loss(found, truth).mean() == pytest.approx(log_loss(truth, found[1]))
    backwards = of_scores.calibrated(said[np.newaxis, ::-1], truth, parts)[0, 1]
    assert all(np.ptp(backwards[parts == part]) < 1e-12 for part in range(3))


def test_roc_auc_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth, said = np.arange(90) % 3, rng.dirichlet(np.ones(3), 90)
    assert of_scores.roc_auc(said.T, truth) == pytest.approx(roc_auc_score(truth, said, multi_class="ovr"))
    of_yes = rng.random(90).round(1)  # with ties
    assert of_scores.roc_auc(np.stack([1 - of_yes, of_yes]), truth > 0) == pytest.approx(
        roc_auc_score(truth > 0, of_yes)
    )


@pytest.mark.parametrize(
    ("y", "metric"),
    [
        (np.repeat(["a", "b"], [35, 65]), "error"),
        (np.repeat(["a", "b"], [34, 66]), "log-loss"),
        (np.repeat(["a", "b", "c"], [24, 38, 38]), "error"),
        (np.repeat(["a", "b", "c"], [10, 45, 45]), "log-loss"),
        (np.random.default_rng(0).normal(size=200), "r2"),
        (np.random.default_rng(0).exponential(size=200), "r2"),
        (np.exp(1.5 * np.random.default_rng(0).normal(size=200)), "normal-scores"),
    ],
)
def test_what_decides_is_what_suits_the_target(y, metric):
    assert yardstick(column_from_array("y", y)) == metric


def test_another_metric_can_be_asked_for():
    X, y = rare(300, 60, 0, slope=2, d=4)
    assert "accuracy 0." in bf.select(X, y, metric="error", time_limit=None).verdict
    with pytest.raises(ParameterError, match="metric is r2, but of this target it must be auto or error or log-loss"):
        bf.Auto(metric="r2").fit(X, y)


def test_one_column_without_any_error_is_enough():
    rng = np.random.default_rng(3)
    code = rng.integers(0, 4, 300)
    X = pd.DataFrame({"code": np.array(list("abcd"))[code], "name": np.array(list("wxyz"))[code]})
    X = X.assign(dose=rng.normal(size=300), site=rng.choice(["p", "q", "r"], 300))
    for y in (np.where(code < 2, "no", "yes"), np.where(code < 1, "yes", "no")):  # the second is rare
        found = bf.Auto(max_candidates=20).fit(X, y)
        assert len(found.selected_features_) == 1 and set(found.selected_features_) <= {"code", "name"}


def test_names_of_rows_and_constants_are_not_among_all():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    y = X.sum(axis=1)
    X = X.assign(patient=[f"p{i}" for i in range(300)], site="Ulm")
    found = bf.Auto(max_candidates=20).fit(X, y)
    said = found.verdict_["sentence"]
    assert sorted(found.selected_features_) == list("abcd") and said.startswith("Keep all 4 features: ")
    assert said.endswith(" patient was not judged: its labels hardly repeat.")
    included = bf.Auto(max_candidates=2, include=["patient"]).fit(X, y)
    assert "patient" in included.selected_features_ and "hardly" not in included.verdict_["sentence"]


def test_what_may_number_the_rows_is_said_where_it_is_kept():
    """It may be a feature as well: here the rows come in the order of their target."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"number": np.arange(200), "dose": rng.normal(size=200)})
    found = bf.Auto(max_candidates=4).fit(X, X["number"] + 100 * X["dose"])
    assert sorted(found.selected_features_) == ["dose", "number"]
    said = found.verdict_["sentence"]
    assert said.startswith("Keep all 2 features: ")
    assert "Look at number: if it only numbers or names the rows, exclude that." in said and "dose:" not in said


def test_what_time_left_untested_is_not_denied(monkeypatch):
    def late(*_):
        raise LimitReached("the time is over")

    monkeypatch.setattr("blanketflow.selectors.judged.held_out.of_trees", late)
    X, y = rare(300, 40, 0, slope=0, d=3)
    found = bf.Auto(max_candidates=4).fit(X, y)
    assert found.status_ == "timeout" and "before it was known whether any feature helps" in found.reason_
    assert "whether any helps was not tested" in found.verdict_["sentence"]
