"""Banded and factor laws of wide tables: their covariances cell by cell, and exchangeable exactly under all swaps."""

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.core.errors import ParameterError
from blanketflow.core.table import Column
from blanketflow.selectors.base import Problem
from blanketflow.selectors.knockoff import gaussian_knockoffs
from blanketflow.selectors.knockoff.gaussian_knockoffs import (
    FactorLaw,
    Regressions,
    banded_law,
    components_of,
    loadings_of,
    reconstructing_least,
    regressions_of,
)
from blanketflow.selectors.knockoff.knockoff_importances import (
    N_PARTS,
    Beside,
    by_lasso,
    outcomes_of,
    weights_by_products,
)


class OnesOfEach:
    """A source of noise that is the rows of an identity, so that what a law draws is its root, row by row."""

    def __init__(self, n):
        self.n, self.at = n, 0

    def standard_normal(self, shape):
        found = np.zeros(shape)
        at = np.arange(self.at, self.at + shape[1])
        found[at, np.arange(shape[1])] = 1.0
        self.at += shape[1]
        return found


def covariance(law, of_columns, n_noise):
    """The covariance of columns and their knockoffs: draws are linear in columns and noise, which is found by units."""
    m = len(of_columns)
    to_knockoffs = law.draw(np.vstack([np.eye(m), np.zeros((n_noise, m))]), Silent())[:m]
    root = law.draw(np.zeros((n_noise, m)), OnesOfEach(n_noise))
    across, own = of_columns @ to_knockoffs, to_knockoffs.T @ of_columns @ to_knockoffs + root.T @ root
    return np.block([[of_columns, across], [across.T, own]])


class Silent:
    def standard_normal(self, shape):
        return np.zeros(shape)


def assert_exchangeable(joint, m):
    for subset in range(2**m):
        swapped = np.arange(2 * m)
        for j in range(m):
            if subset >> j & 1:
                swapped[[j, j + m]] = j + m, j
        np.testing.assert_allclose(joint[np.ix_(swapped, swapped)], joint, atol=1e-8)


def rows(n, m, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, m))
    for j in range(2, m):
        X[:, j] += 0.6 * X[:, j - 1] - 0.3 * X[:, j - 2]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def covariance_of(law):
    """The covariance of columns that are regressed on those before, one column after another."""
    m, b = law.coefficients.shape
    root = np.zeros((m, m))
    for j in range(m):
        for k in range(1, min(b, j) + 1):
            root[j] += law.coefficients[j, k - 1] * root[j - k]
        root[j, j] += np.sqrt(law.variances[j])
    return root @ root.T


@pytest.mark.parametrize("bandwidth", [1, 2, 4])
def test_a_banded_law_is_that_of_the_regressions(bandwidth):
    X = rows(60, 9)
    law = regressions_of(X, bandwidth)
    for j in range(1, 9):
        before = X[:, max(0, j - bandwidth) : j][:, ::-1]
        fitted = np.linalg.lstsq(before, X[:, j], rcond=None)[0]
        np.testing.assert_allclose(law.coefficients[j, : before.shape[1]], fitted, atol=1e-4)
        assert law.variances[j] == pytest.approx(np.mean((X[:, j] - before @ fitted) ** 2), abs=1e-4)
    whole = covariance_of(law)
    np.testing.assert_allclose(np.diag(whole), 1, atol=1e-9)
    inverse, diagonals = np.linalg.inv(whole), law.precision()
    for k in range(9):
        expected = diagonals[k, : 9 - k] if k <= bandwidth else 0.0
        np.testing.assert_allclose(np.diagonal(inverse, k), expected, atol=1e-8)
    near = law.correlations(5)
    for j in range(9):
        for k in range(6):
            assert near[j, k] == pytest.approx(whole[j, j - k] if k <= j else 0.0, abs=1e-9)


@pytest.mark.parametrize("block", [3, 256])
def test_columns_and_banded_knockoffs_may_be_exchanged(monkeypatch, block):
    monkeypatch.setattr(gaussian_knockoffs, "BLOCK", block)
    X = rows(60, 8)
    law = banded_law(X, 2)
    joint = covariance(law, covariance_of(regressions_of(X, 2)), 8)
    assert_exchangeable(joint, 8)
    assert (np.diag(joint[:8, 8:]) < 0.95).all()


def test_columns_and_factor_knockoffs_may_be_exchanged():
    loadings = np.random.default_rng(1).uniform(-0.6, 0.6, (7, 2))
    own = 1 - (loadings**2).sum(axis=1)
    law = FactorLaw(loadings, own, gaussian_knockoffs.factor_distances(loadings))
    joint = covariance(law, loadings @ loadings.T + np.diag(own), 9)
    assert_exchangeable(joint, 7)


def test_distances_are_those_of_the_whole_matrix(monkeypatch):
    """In windows, and by factors: the same as by the search that needs the whole matrix."""
    law = regressions_of(rows(400, 120), 2)
    monkeypatch.setattr(gaussian_knockoffs, "CORE", 20)
    monkeypatch.setattr(gaussian_knockoffs, "MARGIN", 20)
    np.testing.assert_allclose(
        gaussian_knockoffs.banded_distances(law)[0], reconstructing_least(covariance_of(law)), rtol=0.03
    )
    loadings = np.random.default_rng(1).uniform(-0.4, 0.6, (80, 2))
    whole = loadings @ loadings.T + np.diag(1 - (loadings**2).sum(axis=1))
    np.testing.assert_allclose(gaussian_knockoffs.factor_distances(loadings), reconstructing_least(whole), rtol=0.03)


def test_distances_that_windows_make_too_large_are_made_smaller(monkeypatch):
    """Windows without margins overlook neighbours; the law of all columns has the last word."""
    monkeypatch.setattr(gaussian_knockoffs, "CORE", 1)
    monkeypatch.setattr(gaussian_knockoffs, "MARGIN", -1)
    law = Regressions(np.full((6, 1), 0.9) * (np.arange(6) > 0)[:, np.newaxis], np.append(1.0, np.full(5, 0.19)))
    s = gaussian_knockoffs.banded_distances(law)[0]
    least = np.linalg.eigvalsh(2 * covariance_of(law) - np.diag(s))[0]
    assert 0 < s.max() < 0.9 and 0 <= least < 0.01


def test_bandwidth_and_factors_are_found():
    assert regressions_of(rows(500, 40)).coefficients.shape == (40, 2)
    rng = np.random.default_rng(0)
    loadings = rng.choice([-0.57, 0.57], (60, 3)) * rng.random((60, 3))
    for n in (400, 40):  # more rows than columns, and fewer
        X = rng.normal(size=(n, 3)) @ loadings.T + rng.normal(size=(n, 60)) * np.sqrt(1 - (loadings**2).sum(axis=1))
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        found = loadings_of(X, 3)
        assert np.abs(found @ found.T - loadings @ loadings.T).mean() < (0.05 if n == 400 else 0.12)
        assert loadings_of(X).shape == (60, 3)
    independent = rng.normal(size=(200, 30))
    assert loadings_of((independent - independent.mean(axis=0)) / independent.std(axis=0)).shape == (30, 0)


@pytest.mark.parametrize("covariance", ["banded", "factor"])
def test_true_features_are_found_of_more_columns_than_rows(covariance):
    X = rows(100, 120)
    y = X[:, :60:4].sum(axis=1)
    found = bf.Knockoffs(covariance=covariance, q=0.2).fit(X, y).get_support(indices=True)
    assert len(set(found) & set(range(0, 60, 4))) >= 12 and len(found) < 25


def test_an_unknown_estimate_is_refused():
    with pytest.raises(
        ParameterError, match="covariance is 'toeplitz', but must be a matrix, a mapping, banded, factor"
    ):
        bf.Knockoffs(covariance="toeplitz").fit(rows(30, 4), np.arange(30.0))
    with pytest.raises(ParameterError, match="equicorrelated is not for covariance: banded"):
        bf.Knockoffs(covariance="banded", construction="equicorrelated").fit(rows(30, 4), np.arange(30.0))


@pytest.mark.parametrize("n_rows", [300, 40])
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_a_lasso_by_products_is_that_of_the_rows(n_classes, n_rows):
    X, rng = rows(n_rows, 60), np.random.default_rng(3)
    X[:, 7] = X[:, 6]  # of two copies either may come in, but the same as on rows
    y = X[:, :3].sum(axis=1) + rng.normal(size=n_rows)
    cells = y if n_classes == 1 else np.digitize(y, [-1, 1][: n_classes - 1])
    kind = "numeric" if n_classes == 1 else "categorical"
    column = Column("y", kind, cells, tuple("abc")[:n_classes] if n_classes > 1 else ())
    problem = Problem([f"x{j}" for j in range(60)], "y", None, 0, lambda: None, lambda table: None)
    parts = problem.parts(column.numbers(), N_PARTS, "knockoffs")
    is_swapped = rng.random(30) < 0.5
    first, second = X[:, 0::2], X[:, 1::2]
    both = np.empty_like(X)
    both[:, 0::2], both[:, 1::2] = np.where(is_swapped, second, first), np.where(is_swapped, first, second)
    of_rows = by_lasso(both, column, problem)
    beside = Beside(np.asfortranarray(first), second, is_swapped)
    np.testing.assert_allclose(beside.columns(np.arange(60)), (both - both.mean(axis=0)) / both.std(axis=0))
    of_products = weights_by_products(beside, outcomes_of(column), parts, lambda: None)
    assert np.count_nonzero(of_rows) > 3
    np.testing.assert_allclose(of_products, of_rows, atol=2e-3 * of_rows.max())


def test_components_by_iteration_are_those_by_products(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 3)) @ rng.normal(size=(3, 70)) + 0.1 * rng.normal(size=(90, 70))
    values, vectors = components_of(X, 3)
    monkeypatch.setattr(gaussian_knockoffs, "MOST_BY_PRODUCTS", 10)
    found, axes = components_of(X, 3)
    np.testing.assert_allclose(found, values, rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(axes * vectors, axis=0)), 1.0, rtol=1e-9)
    assert components_of(X.T, 3)[1].shape == (90, 3)
