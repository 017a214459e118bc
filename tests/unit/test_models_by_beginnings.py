"""Neighbours by more and more columns are those that each model finds on its own, ties and few rows included."""

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from blanketflow.models.base import Model
from blanketflow.models.knn import KNN


def both(seed, n, task, k, has_ties):
    """Return the predictions of the kernel and those of one model after the other."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n + 40, 6)).astype(float) if has_ties else rng.normal(size=(n + 40, 6))
    X[:, 2] = 1.0  # a constant column
    y = rng.normal(size=n) if task == "regression" else rng.integers(0, 3, n)
    ends = sorted(rng.choice(np.arange(1, 7), size=int(rng.integers(1, 6)), replace=False).tolist())
    asked = (KNN(n_neighbors=k), task, 0, (X[:n], y), X[n:], ends, lambda: None)
    return np.array([*KNN.predict_by_beginnings(*asked)]), np.array([*Model.predict_by_beginnings(*asked)])


@settings(deadline=None)  # the first one loads what is compiled
@examples(
    st.integers(0, 10_000), st.integers(1, 60), st.sampled_from(["classification", "regression"]), st.integers(1, 9),
    st.booleans(),
)  # fmt: skip
def test_they_are_those_of_one_model_after_the_other(seed, n, task, k, has_ties):
    found, wanted = both(seed, n, task, k, has_ties)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_a_tree_search_of_many_rows_by_few_columns_gives_the_same(monkeypatch):
    wanted = both(1, 60, "classification", 5, True)[1]
    monkeypatch.setattr("blanketflow.models.knn.MANY_ROWS", 10)
    monkeypatch.setattr("blanketflow.models.knn.FEW_COLUMNS", 2)
    np.testing.assert_array_equal(both(1, 60, "classification", 5, True)[0], wanted)


def test_the_time_is_looked_at():
    asked = []
    rows = np.arange(20.0).reshape(10, 2)
    found = KNN().predict_by_beginnings("regression", 0, (rows, rows[:, 0]), rows, [1, 2], lambda: asked.append(1))
    assert len([*found]) == 2 and asked
    with pytest.raises(TimeoutError):
        [*KNN().predict_by_beginnings("regression", 0, (rows, rows[:, 0]), rows, [1], over)]


def over():
    """Say that the time is over."""
    raise TimeoutError
