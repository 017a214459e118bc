"""One split's evaluation: rows, priors without features, failures that stay in the table."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from blanketflow.core.errors import DataError, UnknownNameError
from blanketflow.core.table import Column, Table
from blanketflow.models.evaluation import evaluate_split

TRAIN, TEST = np.arange(60), np.arange(60, 90)
IDENTITY = (2026, "toy", "cv-1", "evaluate")


class Broken(BaseEstimator):
    """An estimator that fails at `fit`."""

    def fit(self, X, y):
        raise RuntimeError("out of luck")

    def predict(self, X):
        return X


class Confused(Broken):
    """An estimator that predicts NaN."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), np.nan)


def evaluate(features, y, models, task, metrics="auto", train=TRAIN, test=TEST):
    def rows(part):
        return Table([column.take(part) for column in features])

    return evaluate_split(rows(train), y.take(train), rows(test), y.take(test), models, metrics, task, IDENTITY)


def toy():
    rng = np.random.default_rng(0)
    codes = (np.arange(90) % 3).astype(np.int32)
    signal = Column("signal", "numeric", 4.0 * codes + rng.normal(size=90))
    site = Column("site", "categorical", codes, ("a", "b", "c"))
    return signal, site, Column("y", "categorical", codes, ("u", "v", "w"))


def without_seconds(rows):
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


def test_rows():
    signal, site, y = toy()
    rows = evaluate([signal, site], y, ["tree", "svm"], "classification", ["accuracy", "mse", "log-loss"])
    assert [(row["model"], row["metric"]) for row in rows] == [
        (model, metric) for model in ("tree", "svm") for metric in ("accuracy", "log-loss")
    ]
    assert all(row["n_features"] == 2 and row["status"] == "ok" and row["reason"] == "" for row in rows)
    assert all(row["seconds"] > 0 for row in rows)
    assert all(row["value"] > 0.9 for row in rows if row["metric"] == "accuracy")
    again = evaluate([signal, site], y, ["svm", "tree"], "classification", ["accuracy", "log-loss"])
    assert without_seconds(rows) == without_seconds(again[2:] + again[:2])


def test_without_features_every_model_predicts_the_prior():
    _, _, y = toy()
    rows = evaluate([], y, ["tree", "knn"], "classification", ["log-loss", "roc-auc"])
    assert [row["n_features"] for row in rows] == [0] * 4
    assert [row["value"] for row in rows] == pytest.approx([np.log(3), 0.5] * 2)
    number = Column("y", "numeric", np.arange(90.0))
    (row,) = evaluate([], number, ["tree"], "regression", ["mae"])
    assert row["value"] == pytest.approx(np.mean(np.arange(60, 90) - 29.5))


def test_a_single_training_class_is_predicted():
    signal, _, y = toy()
    rows = evaluate([signal], y, ["svm", "lightgbm"], "classification", ["accuracy"], train=np.arange(0, 60, 3))
    assert [row["value"] for row in rows] == pytest.approx([1 / 3, 1 / 3])


def test_a_model_without_the_task_is_left_out():
    signal, _, _ = toy()
    number = Column("y", "numeric", signal.values * 2.0)
    rows = evaluate([signal], number, ["naive-bayes", "knn"], "regression")
    assert {row["model"] for row in rows} == {"knn"}
    assert {row["metric"] for row in rows} == {"mse", "mae", "r2"}


def test_a_failing_model_keeps_its_rows_and_spares_the_others(caplog):
    signal, _, y = toy()
    broken = f"{__name__}:Broken"
    rows = evaluate([signal], y, [broken, "tree"], "classification", ["accuracy"])
    assert rows[0]["value"] is None
    assert (rows[0]["status"], rows[0]["reason"]) == ("error", "RuntimeError: out of luck")
    assert rows[1]["status"] == "ok"
    assert "failed" in caplog.text


def test_predictions_that_are_no_numbers_are_a_failure():
    signal, _, _ = toy()
    (row,) = evaluate([signal], signal, [f"{__name__}:Confused"], "regression", ["mse"])
    assert row["status"] == "error"
    assert "not finite" in row["reason"]


def test_undefined_metric():
    signal, _, y = toy()
    rows = evaluate([signal], y, ["tree"], "classification", ["accuracy", "roc-auc"], test=np.arange(60, 90, 3))
    assert [row["status"] for row in rows] == ["ok", "undefined"]
    assert "single class" in rows[1]["reason"]


def test_wrong_use_is_refused():
    signal, site, y = toy()
    with pytest.raises(DataError, match="no test rows"):
        evaluate([signal], y, ["tree"], "classification", test=np.array([], dtype=int))
    with pytest.raises(DataError, match="differ in columns"):
        evaluate_split(Table([signal]), y, Table([site]), y, ["tree"], "auto", "classification", IDENTITY)
    with pytest.raises(UnknownNameError, match="unknown model"):
        evaluate([signal], y, ["oak"], "classification")
