"""Naive Bayes against arithmetic by hand and against scikit-learn's classifiers of one kind of column each."""

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

from blanketflow.core.table import Column, Table
from blanketflow.models import build_estimator
from blanketflow.models.encode import design
from blanketflow.models.naive_bayes import level_columns


def fitted(X, y):
    return build_estimator("naive-bayes", "classification", 0).fit(X, y)


def test_a_small_table_by_hand():
    # Level counts with one row more a level: class 0 has a, a, b -> 3/6, 2/6, 1/6; class 1 has c -> 1/4, 1/4, 2/4.
    site = np.eye(3)[[0, 0, 1, 2]]
    joint = np.array([[3 / 4 * 3 / 6, 1 / 4 * 1 / 4], [3 / 4 * 2 / 6, 1 / 4 * 1 / 4], [3 / 4 * 1 / 6, 1 / 4 * 2 / 4]])
    found = fitted(site, np.array([0, 0, 0, 1])).predict_proba(np.eye(3))
    np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True))


def sample(seed, n=300):
    """Three categorical features of 3, 4 and 5 levels that depend on a class of three values."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    codes = np.column_stack([(rng.integers(0, k, n) + y * (rng.random(n) < 0.6)) % k for k in (3, 4, 5)])
    columns = [
        Column(f"x{j}", "categorical", codes[:, j].astype(np.int32), tuple("abcde"[:k]))
        for j, k in enumerate((3, 4, 5))
    ]
    return design(Table(columns)).matrix, codes, y, rng.normal(size=(n, 2)) + y[:, None]


def test_categorical_columns_as_scikit_learn_counts_them():
    X, codes, y, _ = sample(0)
    expected = CategoricalNB(alpha=1.0).fit(codes[:200], y[:200]).predict_proba(codes[200:])
    np.testing.assert_allclose(fitted(X[:200], y[:200]).predict_proba(X[200:]), expected)


def test_columns_of_two_levels_as_scikit_learn_counts_them():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    X = (rng.random((200, 5)) < 0.3 + 0.3 * y[:, None]).astype(float)
    np.testing.assert_allclose(fitted(X, y).predict_proba(X), BernoulliNB(alpha=1.0).fit(X, y).predict_proba(X))


def test_numbers_as_scikit_learn_does():
    _, _, y, numbers = sample(2)
    np.testing.assert_array_equal(
        fitted(numbers, y).predict_proba(numbers), GaussianNB().fit(numbers, y).predict_proba(numbers)
    )


def test_mixed_columns_multiply():
    X, codes, y, numbers = sample(3)
    mixed = fitted(np.hstack([X, numbers]), y).predict_proba(np.hstack([X, numbers]))
    parts = CategoricalNB(alpha=1.0).fit(codes, y).predict_proba(codes) * GaussianNB().fit(numbers, y).predict_proba(
        numbers
    )
    joint = parts / (np.bincount(y) / len(y))  # both parts hold the prior
    np.testing.assert_allclose(mixed, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)


def test_a_level_that_no_training_row_has_is_possible():
    X, _, y, _ = sample(4)
    known = X[:, 2] == 0  # the third level of the first feature, then the first of the second
    for hidden in (known, X[:, 3] == 0):
        probability = fitted(X[hidden], y[hidden]).predict_proba(X)
        assert np.all(np.isfinite(probability)) and np.all(probability > 0)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[1, 0], [0, 1]], [slice(0, 2)]),
        ([[1, 1], [0, 1]], [slice(0, 1), slice(1, 2)]),
        ([[0, 1, 0], [0, 0, 1]], [slice(0, 1), slice(1, 3)]),
        ([[1, 0, 0], [0, 1, 0]], [slice(0, 2), slice(2, 3)]),
        ([[1, 0, 2.5], [0, 1, 1.0]], [slice(0, 2)]),
        ([[2, 3], [4, 5]], []),
    ],
    ids=["one feature", "two features", "first level unseen", "last level unseen", "a number behind", "numbers"],
)
def test_levels_are_found(rows, expected):
    assert level_columns(np.array(rows)) == expected
