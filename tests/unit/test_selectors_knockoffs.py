"""Knockoffs: their law by exact covariances, the filter by literal definitions, and what the method does with both."""

import numpy as np
import pandas as pd
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.linear_model import LinearRegression

import blanketflow as bf
from blanketflow.core.errors import ParameterError, UnreliableWarning
from blanketflow.selectors.wrappers.gaussian_knockoffs import law_of, shrinkage, wide_law
from blanketflow.selectors.wrappers.knockoff_distances import reconstructing_least
from blanketflow.selectors.wrappers.knockoff_filter import e_values, passing, threshold

CHAIN = 0.6 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))


def rows(n, m, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, m))
    X[:, 1] += X[:, 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("construction", ["mvr", "equicorrelated"])
def test_columns_and_knockoffs_may_be_exchanged(construction):
    """For Gaussian columns this is a statement about the joint covariance, which is computed here exactly."""
    law = law_of(np.zeros((10, 6)), construction, CHAIN)
    to_knockoffs = np.eye(6) - law.change
    across, own = CHAIN @ to_knockoffs, to_knockoffs.T @ CHAIN @ to_knockoffs + law.noise.T @ law.noise
    joint = np.block([[CHAIN, across], [across.T, own]])
    for subset in range(2**6):
        swapped = np.arange(12)
        for j in range(6):
            if subset >> j & 1:
                swapped[[j, j + 6]] = j + 6, j
        np.testing.assert_allclose(joint[np.ix_(swapped, swapped)], joint, atol=1e-8)
    assert (np.diag(across) < 0.95).all()


def test_the_distances_are_where_the_sum_of_reconstructabilities_is_flat():
    s = reconstructing_least(CHAIN)
    inverse = np.linalg.inv(2 * CHAIN - np.diag(s))
    np.testing.assert_allclose(1 / s**2, (inverse**2).sum(axis=0), rtol=0.05)

    def literal(s):
        return np.sum(1 / s) + np.trace(np.linalg.inv(2 * CHAIN - np.diag(s)))

    for j in range(6):
        for step in (-0.03, 0.03):
            assert literal(s + step * np.eye(6)[j]) > literal(s)


def test_steps_taken_together_equal_steps_one_by_one():
    correlations = np.corrcoef(rows(400, 90).T)
    s = np.full(90, 0.5 * min(1, 2 * np.linalg.eigvalsh(correlations)[0]))
    for _ in range(12):
        for j in range(90):
            inverse = np.linalg.inv(2 * correlations - np.diag(s))
            a, c = inverse[j, j], inverse[j] @ inverse[j]
            s[j] = (1 + a * s[j]) / (a + np.sqrt(c))
    np.testing.assert_allclose(reconstructing_least(correlations), s, rtol=0.02)


def test_the_law_of_a_wide_table_is_that_of_its_whole_matrix():
    X = rows(12, 30)
    share = shrinkage(X)
    dense = law_of(X, "equicorrelated", (1 - share) * X.T @ X / 12 + share * np.eye(30))
    wide = wide_law(X, share)
    # The mean is what no noise leaves, and the noise has the same covariance.
    along = X - (X @ wide.axes.T * wide.change) @ wide.axes
    np.testing.assert_allclose(along, X - X @ dense.change, atol=1e-7)
    root = (wide.axes.T * wide.noise) @ wide.axes + wide.outside * np.eye(30)
    np.testing.assert_allclose(root @ root, dense.noise.T @ dense.noise, atol=1e-7)


@pytest.mark.parametrize("shape", [(50, 8), (10, 30)])
def test_the_shrinkage_is_scikit_learns(shape):
    X = rows(*shape)
    assert shrinkage(X) == pytest.approx(ledoit_wolf(X, assume_centered=True)[1])


def test_the_filter_is_its_definition():
    rng = np.random.default_rng(3)
    for _ in range(200):
        W, q = np.round(rng.normal(0.7, 1, 15), 1), rng.choice([0.1, 0.2, 0.5])
        fits = [t for t in np.abs(W) if t > 0 and (1 + np.sum(-t >= W)) / max(np.sum(t <= W), 1) <= q + 1e-9]
        assert threshold(W, q) == min(fits, default=np.inf)
        # One draw: e-BH selects what the filter does.
        np.testing.assert_array_equal(passing(e_values(W, q), 15, q), threshold(W, q) <= W)


def test_several_draws_by_hand():
    # Of 4 features at q = 0.5: three e-values of 4 need 4 / (0.5 * 3) = 2.67; with a fourth of 1 they would need 2.
    assert passing(np.array([4.0, 4.0, 4.0, 1.0]), 4, 0.5).tolist() == [True, True, True, False]
    assert passing(np.array([4.0, 1.0, 1.0, 1.0]), 4, 0.5).tolist() == [False] * 4


def table(n=300, d=30, true=14):
    X = pd.DataFrame(np.random.default_rng(5).normal(size=(n, d))).add_prefix("f")
    return X, X.iloc[:, :true].sum(axis=1)


OPTIONS = [
    {},
    {"draws": 3, "q": 0.2},
    {"importance": "model", "model": LinearRegression()},
    {"importance": "correlation"},
    {"construction": "equicorrelated"},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_true_features_are_found(options):
    X, y = table()
    found = set(bf.Knockoffs(**options).fit(X, y).selected_features_)
    assert len(found & set(X.columns[:14])) >= 13 and len(found) < 20


def test_a_known_covariance_by_position_and_by_name():
    X, y = table()
    plain = bf.Knockoffs(covariance=np.eye(30)).fit(X, y).selected_features_
    frame = pd.DataFrame(np.eye(30), index=X.columns, columns=X.columns)
    assert bf.Knockoffs(covariance=frame).fit(X, y).selected_features_ == plain
    assert "f29" not in bf.Knockoffs(covariance=frame, exclude=["f29"]).fit(X, y).selected_features_


@pytest.mark.parametrize(
    ("covariance", "said"),
    [
        (np.eye(3), r"has the shape \(3, 3\), but 30 features are searched"),
        (np.ones((30, 30)), "must be positive definite"),
        (np.triu(np.ones((30, 30))), "must be finite and symmetric"),
        ({"f0": {"f0": 1.0}}, "does not name the feature 'f1'"),
    ],
)
def test_a_covariance_that_is_none_is_refused(covariance, said):
    with pytest.raises(ParameterError, match=said):
        bf.Knockoffs(covariance=covariance).fit(*table())


def test_levels_have_no_known_covariance_and_a_silent_model_is_refused():
    X, y = table(d=12, true=3)
    with pytest.raises(ParameterError, match="levels of 'site'"):
        bf.Knockoffs(covariance=np.eye(13)).fit(X.assign(site=list("abc") * 100), y)
    with pytest.raises(ParameterError, match="neither feature_importances_ nor coef_"):
        bf.Knockoffs(importance="model", model="knn").fit(X, y)


def test_too_few_features_for_q_say_so():
    X, y = table(d=5, true=3)
    with pytest.warns(UnreliableWarning, match="select at least 10 features or none, and there are 5: raise q"):
        assert bf.Knockoffs(q=0.1).fit(X, y).selected_features_ == []


def test_copies_and_constants_are_no_discoveries():
    X, y = table()
    found = bf.Knockoffs().fit(X.assign(constant=1.0, copy=X["f29"]), y)
    assert not {"constant", "copy", "f29"} & set(found.selected_features_)
