"""Nearest neighbours with ties: against a literal rendering, scikit-learn's without ties, and any order of rows."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from blanketflow.models import knn
from blanketflow.models.knn import KNN


def literal(X, target, X_new, k):
    """The mean target of all rows that are no farther than the k-th nearest, row by row."""
    scaler = StandardScaler().fit(X)
    rows, means = scaler.transform(X), []
    for new in scaler.transform(X_new):
        distance = np.array([np.sqrt(sum((new[j] - row[j]) ** 2 for j in range(len(new)))) for row in rows])
        means.append(target[distance <= np.sort(distance)[k - 1] * (1 + 1e-9)].mean(axis=0))
    return np.array(means)


def lattice(n, d, levels=2, seed=0):
    """Rows of few different values, so that nearly all have ties."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (n, d)).astype(float)
    return X, (X[:, 0] + rng.random(n) > 0.9).astype(int) + (rng.random(n) > 0.8)


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize(("d", "levels"), [(1, 2), (3, 3), (20, 2)])
def test_all_rows_as_near_as_the_last_count(k, d, levels):
    X, y = lattice(120, d, levels)
    X_new, _ = lattice(40, d, levels, seed=1)
    fitted = KNN(n_neighbors=k).build("classification", seed=0).fit(X, y)
    membership = (y[:, None] == np.unique(y)).astype(float)
    expected = literal(X, membership, X_new, k)
    np.testing.assert_allclose(fitted.predict_proba(X_new), expected, rtol=0, atol=1e-12)
    assert fitted.predict(X_new).tolist() == np.unique(y)[expected.argmax(axis=1)].tolist()
    numbers = KNN(n_neighbors=k).build("regression", seed=0).fit(X, y.astype(float)).predict(X_new)
    np.testing.assert_allclose(numbers, literal(X, y.astype(float), X_new, k), rtol=0, atol=1e-12)


def test_the_order_of_the_rows_does_not_matter(monkeypatch):
    X, y = lattice(300, 4)
    X_new, _ = lattice(50, 4, seed=1)
    first = KNN().build("classification", seed=0).fit(X, y).predict_proba(X_new)
    by_class = np.argsort(y, kind="stable")  # as many a file is sorted
    monkeypatch.setattr(knn, "MOST_DISTANCES", 1_000)  # nor does the size of the blocks
    second = KNN().build("classification", seed=0).fit(X[by_class], y[by_class]).predict_proba(X_new)
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-12)
    # The five that scikit-learn takes are the first ones of as near rows.
    orders = (by_class, by_class[::-1])
    plain = [KNeighborsClassifier().fit(X[order], y[order]).predict_proba(X_new) for order in orders]
    assert np.abs(plain[0] - plain[1]).max() > 0.5


@pytest.mark.parametrize("n", [4, 5, 6, 200])
def test_without_ties_it_is_scikit_learns(n):
    rng = np.random.default_rng(2)
    X, X_new = rng.normal(size=(n, 3)) * [1, 100, 1e-3], rng.normal(size=(30, 3)) * [1, 100, 1e-3]
    y = (X[:, 0] > 0).astype(int)
    scaler = StandardScaler().fit(X)
    k = min(5, n)
    plain = KNeighborsClassifier(k).fit(scaler.transform(X), y).predict_proba(scaler.transform(X_new))
    np.testing.assert_array_equal(KNN().build("classification", seed=0).fit(X, y).predict_proba(X_new), plain)
    plain = KNeighborsRegressor(k).fit(scaler.transform(X), X[:, 0]).predict(scaler.transform(X_new))
    np.testing.assert_allclose(KNN().build("regression", seed=0).fit(X, X[:, 0]).predict(X_new), plain, rtol=1e-14)
