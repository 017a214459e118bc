"""What every registered model must do."""

import warnings

import numpy as np
import pytest

from blanketflow.core.cards import TARGET_KINDS, TASKS
from blanketflow.core.registry import discover
from blanketflow.core.table import Column, Table
from blanketflow.models import build_estimator
from blanketflow.models.encode import design

MODELS = discover("blanketflow.models")
CLASSIFIERS = [name for name, model in MODELS.items() if "classification" in model.card.tasks]
PAIRS = [(name, task) for name, model in MODELS.items() for task in model.card.tasks]


@pytest.fixture(autouse=True)
def _our_use_raises_no_deprecation():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def problem(n_classes, n=90, seed=0):
    """Return class centres 4 apart on the first of two columns."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return np.column_stack([4.0 * y + rng.normal(size=n), rng.normal(size=n)]), y


def target_for(task, X, y):
    """Return a target of the task that grows with the first column of X."""
    if task in ("classification", "ordered"):
        return y
    if task == "survival":
        target = np.empty(len(X), dtype=[("event", bool), ("time", float)])
        target["event"], target["time"] = np.arange(len(X)) % 3 > 0, np.exp(-X[:, 0] / 4)
        return target
    if task == "count":
        target = np.empty(len(X), dtype=[("count", float), ("exposure", float)])
        target["exposure"] = 1.0 + np.arange(len(X)) % 2
        target["count"] = np.round(target["exposure"] * np.exp(X[:, 0] / 4))
        return target
    if task == "share":
        return 1 / (1 + np.exp(2 - X[:, 0]))
    return 3.0 * X[:, 0] + 1000.0


def answer(fitted, task, X):
    """Return all that a model predicts."""
    if task == "survival":
        return np.column_stack([fitted.predict(X), fitted.predict_survival(X, np.array([0.1, 0.5, 0.9]))])
    return fitted.predict_proba(X) if task in ("classification", "ordered") else fitted.predict(X)


def test_all_are_there():
    assert {"tree", "svm", "knn", "naive-bayes", "lightgbm", "logistic"} <= set(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_card(name):
    card = MODELS[name].card
    assert card.id == name
    assert card.family == "model"
    assert card.summary
    assert card.reference
    assert set(card.tasks) <= set(TARGET_KINDS)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_learns_classes(name, n_classes):
    X, y = problem(n_classes)
    X_new, y_new = problem(n_classes, seed=1)
    fitted = build_estimator(name, "classification", 0).fit(X, y)
    assert np.mean(fitted.predict(X_new) == y_new) > 0.85
    probability = fitted.predict_proba(X_new)
    assert fitted.classes_.tolist() == list(range(n_classes))
    assert probability.shape == (len(X_new), n_classes)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert np.mean(probability.argmax(axis=1) == y_new) > 0.85


@pytest.mark.parametrize("name", [name for name, task in PAIRS if task == "regression"])
def test_learns_numbers_whatever_their_unit(name):
    X, X_new = problem(3)[0], problem(3, seed=1)[0]
    for unit in (1.0, 1e4):
        truth = unit * X_new[:, 0]
        predicted = build_estimator(name, "regression", 0).fit(X, unit * X[:, 0]).predict(X_new)
        assert np.mean((predicted - truth) ** 2) < 0.2 * np.var(truth)


@pytest.mark.parametrize(("name", "task"), PAIRS)
def test_same_seed_same_predictions_on_any_number_of_cores(name, task):
    X, y = problem(3)
    target = target_for(task, X, y)
    first, second = (answer(build_estimator(name, task, 7, n_jobs).fit(X, target), task, X) for n_jobs in (1, 2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("name", "task"), [(name, task) for name, task in PAIRS if task not in TASKS])
def test_learns_the_order_of_targets_of_other_kinds(name, task):
    X, y = problem(3)
    X_new, y_new = problem(3, seed=1)
    fitted = build_estimator(name, task, 0).fit(X, target_for(task, X, y))
    predicted = fitted.predict(X_new)
    truth = y_new if task == "ordered" else X_new[:, 0]
    assert np.corrcoef(predicted, truth)[0, 1] > 0.8
    assert np.all(np.isfinite(answer(fitted, task, X_new)))
    if task in ("count", "share", "positive"):
        assert np.all(predicted > 0)
    if task == "share":
        assert np.all(predicted < 1)


@pytest.mark.parametrize(("name", "task"), PAIRS)
def test_a_row_is_predicted_without_the_others(name, task):
    X, y = problem(3, n=30)
    fitted = build_estimator(name, task, 0).fit(X, target_for(task, X, y))
    alone = np.concatenate([answer(fitted, task, X[at : at + 1]) for at in range(5)])
    np.testing.assert_allclose(answer(fitted, task, X)[:5], alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [name for name, task in PAIRS if task == "count"])
def test_counts_without_exposure_are_those_of_one_unit(name):
    X, _ = problem(3)
    counts = np.round(np.exp(X[:, 0] / 4))
    of_one = np.array([(count, 1.0) for count in counts], dtype=[("count", float), ("exposure", float)])
    bare, exposed = (build_estimator(name, "count", 0).fit(X, y).predict(X) for y in (counts, of_one))
    np.testing.assert_allclose(bare, exposed, rtol=1e-6)


@pytest.mark.parametrize(("name", "task"), PAIRS)
def test_one_feature_and_a_categorical_feature(name, task):
    X, y = problem(3)
    table = Table([Column("site [a]:{}", "categorical", y.astype(np.int32), ("a", "b", "c"))])
    encoded = design(table).matrix
    assert encoded.shape[1] == 3
    if task == "classification":
        assert np.mean(build_estimator(name, task, 0).fit(encoded, y).predict(encoded) == y) == 1.0
    one = X[:, :1]
    predicted = build_estimator(name, task, 0).fit(one, target_for(task, X, y)).predict(one)
    assert np.all(np.isfinite(predicted))


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_rare", [1, 2])
def test_a_class_of_few_rows(name, n_rare):
    X, _ = problem(2, n=30)
    y = np.zeros(30, dtype=int)
    y[1:12:2] = 1
    y[-n_rare:] = 4
    fitted = build_estimator(name, "classification", 0).fit(X, y)
    probability = fitted.predict_proba(X)
    assert fitted.classes_.tolist() == [0, 1, 4]
    assert np.all(np.isfinite(probability))
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert set(fitted.predict(X)) <= {0, 1, 4}


@pytest.mark.parametrize(("name", "task"), PAIRS)
def test_four_training_rows(name, task):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 0, 1, 1])
    assert build_estimator(name, task, 0).fit(X, target_for(task, X, y)).predict(X).shape == (4,)


@pytest.mark.parametrize(("name", "task"), PAIRS)
def test_silent(name, task, capfd):
    X, y = problem(2, n=12)
    build_estimator(name, task, 0).fit(X, target_for(task, X, y)).predict(X)
    assert capfd.readouterr() == ("", "")


def test_svm_predicts_by_its_own_decision():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + rng.normal(size=80) > 0.8).astype(int)
    plain = make_pipeline(StandardScaler(), SVC(C=1.0)).fit(X, y)
    fitted = build_estimator("svm", "classification", 0).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), plain.predict(X))
    # calibration keeps the order of the decision values, so AUC is the machine's own too
    order = np.argsort(plain.decision_function(X))
    assert np.all(np.diff(fitted.predict_proba(X)[order, 1]) >= 0)
