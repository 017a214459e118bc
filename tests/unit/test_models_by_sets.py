"""Neighbours by sets of columns are those that each model finds on its own, ties and few rows included."""

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from blanketflow.models.base import Model
from blanketflow.models.knn import KNN


def both(seed, n, task, k, has_ties, kind):
    """Return the predictions of the kernel and those of one model after the other."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n + 40, 6)).astype(float) if has_ties else rng.normal(size=(n + 40, 6))
    X[:, 2] = 1.0  # a constant column
    y = rng.normal(size=n) if task == "regression" else rng.integers(0, 3, n)
    asked = (KNN(n_neighbors=k), task, 0, (X[:n], y), X[n:], sets_of(kind, rng), lambda: None)
    return np.array([*KNN.predict_by_sets(*asked)]), np.array([*Model.predict_by_sets(*asked)])


def sets_of(kind, rng):
    """Return sets of some of six columns."""
    order = rng.permutation(6).tolist()
    some = [sorted(rng.choice(6, size=int(rng.integers(1, 7)), replace=False).tolist()) for _ in range(5)]
    return {
        "longer and longer": [order[:end] for end in range(1, 7)],
        "with each": [[*order[:3], column] for column in order[3:]],
        "without each": [[column for column in order if column != other] for other in order],
        "any": some + some[:2],
    }[kind]


@settings(deadline=None)  # the first one loads what is compiled
@examples(
    st.integers(0, 10_000), st.integers(1, 60), st.sampled_from(["classification", "regression"]), st.integers(1, 9),
    st.booleans(), st.sampled_from(["longer and longer", "with each", "without each", "any"]),
)  # fmt: skip
def test_they_are_those_of_one_model_after_the_other(seed, n, task, k, has_ties, kind):
    found, wanted = both(seed, n, task, k, has_ties, kind)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["longer and longer", "any"])
def test_a_tree_search_of_many_rows_by_few_columns_gives_the_same(kind, monkeypatch):
    wanted = both(1, 60, "classification", 5, True, kind)[1]
    monkeypatch.setattr("blanketflow.models.knn.MANY_ROWS", 10)
    monkeypatch.setattr("blanketflow.models.knn.FEW_COLUMNS", 2)
    np.testing.assert_array_equal(both(1, 60, "classification", 5, True, kind)[0], wanted)


@pytest.mark.parametrize("kind", ["longer and longer", "without each", "any"])
def test_a_few_at_a_time_give_the_same(kind, monkeypatch):
    found, wanted = both(2, 60, "classification", 5, False, kind)
    monkeypatch.setattr("blanketflow.models.knn.MOST_DISTANCES", 250)  # two sets and four rows
    np.testing.assert_array_equal(both(2, 60, "classification", 5, False, kind)[0], wanted)
    np.testing.assert_array_equal(found, wanted)


def test_the_time_is_looked_at():
    asked = []
    rows = np.arange(20.0).reshape(10, 2)
    given = ("regression", 0, (rows, rows[:, 0]), rows, [[0], [0, 1]])
    assert len([*KNN().predict_by_sets(*given, lambda: asked.append(1))]) == 2 and asked
    with pytest.raises(TimeoutError):
        [*KNN().predict_by_sets(*given, over)]


def over():
    """Say that the time is over."""
    raise TimeoutError
