"""The logistic kernel against statsmodels, against saturated tables, and where the maximum lies at infinity."""

import numpy as np
import pytest
import statsmodels.api as sm

from blanketflow.kernels.logistic import fit_logistic


def fit(X, y, start=0.0, weights=None):
    """Return the deviance of classes on the columns of X, shape (n, d), and a constant."""
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    design = np.vstack([np.ones(len(y)), np.asarray(X, dtype=float).reshape(len(y), -1).T])
    coefficients = np.full((int(y.max()), len(design)), float(start))
    deviance = fit_logistic(np.ascontiguousarray(design), np.asarray(y, dtype=np.int64), coefficients, weights)
    assert np.isfinite(coefficients).all()
    return deviance


def saturated(x, y):
    """Return the deviance of y on the levels of x: -2 sum O log(O / row total)."""
    counts = np.array([[np.sum((x == a) & (y == b)) for b in np.unique(y)] for a in np.unique(x)])
    positive = counts > 0
    shares = counts / counts.sum(axis=1, keepdims=True)
    return -2 * np.sum(counts[positive] * np.log(shares[positive]))


@pytest.mark.parametrize("n", [60, 300, 4000])
@pytest.mark.parametrize(("d", "r"), [(1, 2), (3, 2), (1, 3), (4, 3), (2, 6)])
def test_equals_statsmodels(n, d, r):
    rng = np.random.default_rng(100 * d + r)
    X = rng.normal(size=(n, d))
    y = np.argmax(0.7 * X @ rng.normal(size=(d, r)) + rng.gumbel(size=(n, r)), axis=1)
    peer = sm.MNLogit(y, sm.add_constant(X)).fit(method="newton", disp=0, maxiter=100, tol=1e-13)
    assert fit(X, y) == pytest.approx(-2 * peer.llf, rel=1e-11)
    assert fit(X, y, start=1.0) == pytest.approx(-2 * peer.llf, rel=1e-11)


def test_tables_are_fitted_exactly_even_with_empty_cells():
    rng = np.random.default_rng(1)
    for levels, r, n in [(2, 2, 20), (3, 3, 40), (5, 4, 60), (4, 6, 30)]:
        for _ in range(20):
            x, y = rng.integers(0, levels, n), np.unique(rng.integers(0, r, n), return_inverse=True)[1]
            indicators = (x[:, None] == np.unique(x)[1:]).astype(float)
            assert fit(indicators, y) == pytest.approx(saturated(x, y), rel=1e-10, abs=1e-10)


def test_a_row_of_weight_3_is_three_rows():
    rng = np.random.default_rng(5)
    X, y, counts = rng.normal(size=(90, 2)), rng.integers(0, 3, 90), rng.integers(0, 4, 90)
    assert fit(X, y, weights=counts) == pytest.approx(
        fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)), rel=1e-11
    )


def test_separated_classes_have_deviance_zero():
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    assert 0 <= fit(x, (x > 0.1).astype(int)) < 1e-10
    assert 0 <= fit(x, np.searchsorted([-0.5, 0.5], x)) < 1e-10
    assert 0 <= fit(1e-3 * x, (x > np.max(x) - 1e-9).astype(int)) < 1e-10
    assert fit(x, np.zeros(200, dtype=int)) == 0.0


def test_a_class_that_is_separated_leaves_the_others_as_they_are():
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 400))
    among_others = (0.5 * z + rng.logistic(size=400) > 0).astype(int)
    y = np.where(x > 1, 2, among_others)
    rest = y < 2
    alone = fit(np.column_stack([x, z])[rest], y[rest])
    assert fit(np.column_stack([x, z]), y) == pytest.approx(alone, rel=1e-9)


def test_a_singular_design_changes_nothing():
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(2, 150))
    y = (x + rng.logistic(size=150) > 0).astype(int)
    wanted = fit(np.column_stack([x, z]), y)
    assert fit(np.column_stack([x, z, x]), y) == pytest.approx(wanted, rel=1e-9)
    assert fit(np.column_stack([x, z, np.ones(150), x - z, np.zeros(150)]), y) == pytest.approx(wanted, rel=1e-9)


def test_a_bad_start_is_found_back_from():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 3))
    y = np.argmax(X + rng.gumbel(size=(80, 3)), axis=1)
    for start in (5.0, -30.0, 300.0):
        assert fit(X, y, start) == pytest.approx(fit(X, y), rel=1e-10)
