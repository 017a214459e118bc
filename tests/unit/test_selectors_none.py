"""No feature: what is kept, and what models score with it, worked out by hand."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import blanketflow as bf
from blanketflow.core.table import Column, Table
from blanketflow.models.evaluation import evaluate_split

IDENTITY = (2026, "toy", "cv-1", "evaluate")


def evaluated(train_y, test_y, task, model="tree"):
    rng = np.random.default_rng(0)
    columns = [Table([Column("x", "numeric", rng.normal(size=y.n_rows))]) for y in (train_y, test_y)]
    rows = evaluate_split(columns[0], train_y, columns[1], test_y, [model], "auto", task, IDENTITY)
    return {row["metric"]: row for row in rows}


def test_it_keeps_nothing():
    found = bf.NoFeatures().fit(*load_iris(return_X_y=True))
    assert found.selected_features_ == [] and not found.get_support().any() and found.n_tests_ == 0


def test_the_prior_of_classes_is_scored_beside_each_model():
    levels = ("ill", "well")
    train = Column("y", "categorical", np.array([0] * 30 + [1] * 70), levels)
    test = Column("y", "categorical", np.array([0] * 3 + [1] * 7), levels)
    prior = {metric: row["prior"] for metric, row in evaluated(train, test, "classification").items()}
    assert prior == pytest.approx(
        {
            "accuracy": 0.7,
            "error": 0.3,
            "balanced-accuracy": 0.5,  # all of one class and none of the other
            "kappa": 0.0,
            "roc-auc": 0.5,
            "log-loss": -(0.3 * np.log(0.3) + 0.7 * np.log(0.7)),  # the entropy of the classes
        }
    )


def test_the_mean_of_numbers_is_scored_beside_each_model():
    train, test = (Column("y", "numeric", np.array(values)) for values in ([1.0, 2.0, 3.0, 6.0], [2.0, 4.0]))
    prior = {metric: row["prior"] for metric, row in evaluated(train, test, "regression").items()}
    # The mean of the training rows is 3; the test rows have mean 3, so R² is 0.
    assert prior == pytest.approx({"mse": 1.0, "mae": 1.0, "r2": 0.0})


def test_a_prior_without_a_value_has_none():
    train, test = (Column("y", "categorical", np.array(codes), ("a", "b")) for codes in ([0, 0, 1, 1], [1, 1]))
    assert evaluated(train, test, "classification")["roc-auc"]["prior"] is None
