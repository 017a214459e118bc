"""Metrics worked by hand, scikit-learn's values, and the cases without a value."""

import warnings

import numpy as np
import pytest

from blanketflow.core.cards import TARGET_KINDS
from blanketflow.core.errors import ConfigError
from blanketflow.core.metrics import METRICS, in_order_of_place
from blanketflow.models.metrics import COMPUTED_BY, Predictions, resolve_metrics, score


def compute(metrics, task, y_true, y_pred, probabilities=None, classes=None):
    predictions = Predictions(y_true, y_pred, probabilities, classes)
    return {name: score(name, predictions).value for name in resolve_metrics(metrics, task)}


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_binary_by_hand():
    y = np.array([0, 0, 0, 1])
    predicted = np.array([0, 0, 1, 1])
    p1 = np.array([0.1, 0.2, 0.8, 0.6])
    values = compute("auto", "classification", y, predicted, np.column_stack([1 - p1, p1]), np.array([0, 1]))
    assert list(values) == ["accuracy", "error", "balanced-accuracy", "kappa", "roc-auc", "log-loss"]
    assert values["accuracy"] == 0.75
    assert values["error"] == 0.25
    assert values["balanced-accuracy"] == pytest.approx((2 / 3 + 1) / 2)
    # chance agreement: 3/4 * 2/4 + 1/4 * 2/4 = 1/2, so kappa = (3/4 - 1/2) / (1 - 1/2)
    assert values["kappa"] == pytest.approx(0.5)
    # the positive row beats 2 of 3 negatives
    assert values["roc-auc"] == pytest.approx(2 / 3)
    assert values["log-loss"] == pytest.approx(-(np.log(0.9) + np.log(0.8) + np.log(0.2) + np.log(0.6)) / 4)


def test_regression_by_hand():
    values = compute("auto", "regression", np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0]))
    # squared error 4 in total; total sum of squares 2
    assert values == {"mse": pytest.approx(4 / 3), "mae": pytest.approx(2 / 3), "r2": pytest.approx(-1.0)}


def test_multiclass_equals_scikit_learn_when_all_classes_are_there():
    from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, log_loss, roc_auc_score

    rng = np.random.default_rng(0)
    y = np.arange(60) % 4
    probability = rng.dirichlet(np.ones(4), size=60)
    predicted = probability.argmax(axis=1)
    values = compute("auto", "classification", y, predicted, probability, np.arange(4))
    assert values["roc-auc"] == pytest.approx(roc_auc_score(y, probability, multi_class="ovr", average="macro"))
    assert values["log-loss"] == pytest.approx(log_loss(y, probability))
    assert values["kappa"] == pytest.approx(cohen_kappa_score(y, predicted))
    assert values["balanced-accuracy"] == pytest.approx(balanced_accuracy_score(y, predicted))


def test_a_class_missing_from_the_test_part_is_left_out_of_the_auc():
    y = np.array([0, 0, 1, 1])
    # class 0 is ranked perfectly; of class 1's four pairs three are in order; class 2 has no test rows
    probability = np.array([[0.8, 0.1, 0.1], [0.6, 0.35, 0.05], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])
    values = compute(["roc-auc"], "classification", y, y, probability, np.arange(3))
    assert values["roc-auc"] == pytest.approx((1.0 + 0.75) / 2)


def test_a_class_missing_from_the_training_part_has_probability_zero():
    y = np.array([0, 1, 2])
    probability = np.array([[0.5, 0.5], [0.5, 0.5], [0.25, 0.75]])
    values = compute(["log-loss", "roc-auc"], "classification", y, np.array([0, 1, 1]), probability, np.array([0, 1]))
    assert values["log-loss"] == pytest.approx((2 * np.log(2) + 15 * np.log(10)) / 3)
    # class 0: beats 0.25, ties 0.5: 3/4. class 1: ties 0.5, loses to 0.75: 1/4. class 2: ties only: 1/2
    assert values["roc-auc"] == pytest.approx(0.5)


def test_log_loss_of_a_certain_and_wrong_row_is_clipped():
    certain = np.array([[1.0, 0.0]])
    values = compute(["log-loss"], "classification", np.array([1]), np.array([0]), certain, np.array([0, 1]))
    assert values["log-loss"] == pytest.approx(15 * np.log(10))


def test_predicted_classes_without_test_rows_do_not_count_in_balanced_accuracy():
    values = compute(["balanced-accuracy"], "classification", np.array([0, 0, 1]), np.array([0, 2, 1]))
    assert values["balanced-accuracy"] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("metric", "predictions", "reason"),
    [
        ("roc-auc", Predictions(np.zeros(3), np.zeros(3), np.full((3, 2), 0.5), np.arange(2)), "single class"),
        ("roc-auc", Predictions(np.array([0, 1]), np.array([0, 1])), "no probabilities"),
        ("log-loss", Predictions(np.array([0, 1]), np.array([0, 1])), "no probabilities"),
        ("kappa", Predictions(np.zeros(3), np.zeros(3)), "same class"),
        ("r2", Predictions(np.ones(3), np.zeros(3)), "constant"),
        ("r2", Predictions(np.ones(1), np.zeros(1)), "constant"),
    ],
)
def test_undefined_is_none_with_a_reason(metric, predictions, reason):
    found = score(metric, predictions)
    assert found.value is None
    assert reason in found.reason


def test_resolve():
    assert resolve_metrics("auto", "regression") == ["mse", "mae", "r2"]
    assert resolve_metrics(["r2", "kappa", "kappa"], "classification") == ["kappa"]
    assert resolve_metrics("accuracy", "classification") == ["accuracy"]
    with pytest.raises(ConfigError, match="Did you mean 'accuracy'"):
        resolve_metrics(["acuracy"], "classification")


def test_directions():
    lower = {name for name, metric in METRICS.items() if not metric.higher_is_better}
    deviances = {"poisson-deviance", "gamma-deviance", "share-deviance"}
    assert lower == {"error", "log-loss", "mse", "mae", "integrated-brier", "ranked-probability-score", *deviances}


LEADING = {
    "classification": "accuracy",
    "regression": "r2",
    "survival": "uno-concordance",
    "count": "poisson-deviance",
    "ordered": "quadratic-kappa",
    "share": "share-deviance",
    "positive": "gamma-deviance",
}


@pytest.mark.parametrize("task", TARGET_KINDS)
def test_of_each_target_one_metric_leads(task):
    of_task = [name for name in in_order_of_place() if task in METRICS[name].tasks]
    assert of_task[0] == LEADING[task]
    places = [METRICS[name].place for name in of_task]
    assert len({*places}) == len(places)


def test_each_declared_metric_is_computed_and_no_other():
    assert {*COMPUTED_BY} == {*METRICS}
