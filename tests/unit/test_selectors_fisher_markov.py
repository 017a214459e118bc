"""The Fisher-Markov selector against its coefficients written out, and what gamma and scale change."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif, r_regression

import blanketflow as bf
from blanketflow.core.errors import DataError


def coefficients_of(X, y, **options):
    fitted = bf.FisherMarkov(n_features=X.shape[1], **options).fit(X, y)
    return [fitted.importances_[name] for name in X]


def literal(values, classes, gamma):
    """Return theta of one column, sum by sum."""
    n, mean, theta = len(values), sum(values) / len(values), 0.0
    for c in set(classes):
        own = [v for v, d in zip(values, classes, strict=True) if d == c]
        theta += len(own) * (sum(own) / len(own) - mean) ** 2 / n
    return theta - gamma * sum((v - mean) ** 2 for v in values) / n


def published(values, classes, gamma):
    """Return theta of one column as the publication sums products of pairs of rows."""
    n, values = len(values), np.asarray(values, dtype=float)
    within = sum(
        np.outer(values[classes == c], values[classes == c]).sum() / (classes == c).sum() for c in set(classes)
    )
    return (within - gamma * (values**2).sum() + (gamma - 1) / n * np.outer(values, values).sum()) / n


def random_frame(seed, n_classes):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n) * 10 + 3,
            "b": rng.permutation(np.arange(n) % 5),
            "c": rng.permutation(np.arange(n) % 3 == 0),
            "d": rng.integers(0, 2, n) + np.arange(n) // 2,
            "e": rng.normal(size=n) / 100,
        }
    )
    return X, rng.permutation(np.arange(n) % n_classes).astype(str)


def test_by_hand():
    # Means of a: 1 and 5, of all 3; of b: 2 and 2. Variances: a 1/4 (4 + 4 + 0 + 16), b 1.
    X, y = pd.DataFrame({"a": [1, 1, 3, 7], "b": [1, 3, 3, 1]}), list("ppqq")
    assert coefficients_of(X, y, scale="raw", gamma=0.5) == pytest.approx([4 - 6 / 2, -1 / 2])
    assert coefficients_of(X, y) == pytest.approx([2 / 3, 0])
    # Three levels, equally far apart: one class has u, u, v and the other w. Shares of u, v, w: 1/2, 1/4, 1/4.
    X = pd.DataFrame({"level": list("uuvw")})
    between = (3 * (2 / 3 - 1 / 2) ** 2 + 1 / 4 + 3 * (1 / 3 - 1 / 4) ** 2 + 1 / 16 + 3 / 16 + 9 / 16) / 4 / 2
    variance = (1 / 4 + 3 / 16 + 3 / 16) / 2
    assert coefficients_of(X, list("pppq"), scale="raw", gamma=2.0) == pytest.approx([between - 2 * variance])
    assert coefficients_of(X, list("pppq")) == pytest.approx([between / variance])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.sampled_from([-0.5, 0.0, 0.3, 2.0]))
def test_equals_the_coefficients_written_out(seed, n_classes, gamma):
    X, y = random_frame(seed, n_classes)
    assume((X.nunique() > 1).all())  # columns of one value are left out
    found = coefficients_of(X, y, scale="raw", gamma=gamma)
    assert found == pytest.approx([literal(X[name].tolist(), y, gamma) for name in X], abs=1e-9)
    assert found == pytest.approx([published(X[name], y, gamma) for name in X], abs=1e-9)
    standard = (X - X.mean()) / X.astype(float).std(ddof=0)
    wanted = [literal(standard[name].tolist(), y, gamma) for name in X]
    assert coefficients_of(X, y, gamma=gamma) == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.floats(-5, 5), st.floats(-0.2, 1.2))
def test_on_standardised_columns_gamma_only_shifts_the_threshold(seed, n_classes, gamma, threshold):
    X, y = random_frame(seed, n_classes)
    plain, shifted = bf.FisherMarkov(n_features=5).fit(X, y), bf.FisherMarkov(n_features=5, gamma=gamma).fit(X, y)
    assert shifted.selected_features_ == plain.selected_features_
    assert shifted.importances_ == pytest.approx({k: v - gamma for k, v in plain.importances_.items()}, abs=1e-9)
    assume(min(abs(v - threshold) for v in plain.importances_.values()) > 1e-9)  # the difference is rounded
    cut = bf.FisherMarkov(threshold=threshold).fit(X, y).selected_features_
    assert bf.FisherMarkov(gamma=gamma, threshold=threshold - gamma).fit(X, y).selected_features_ == cut


def test_on_raw_columns_gamma_changes_the_ranking():
    X, y = pd.DataFrame({"wide": [0, 90, 10, 100], "clear": [0, 1, 8, 9]}), list("ppqq")
    # Between classes: 25 and 16; variances: 2050 and 16.25.
    assert bf.FisherMarkov(scale="raw").fit(X, y).selected_features_ == ["wide", "clear"]
    assert bf.FisherMarkov(scale="raw", gamma=0.5).fit(X, y).selected_features_ == ["clear", "wide"]


def test_ranks_as_the_f_test_of_the_analysis_of_variance_does():
    X, y = random_frame(5, 3)
    X = X.drop(columns="d")
    share = np.array(coefficients_of(X, y))
    n = len(y)
    assert share / (1 - share) * (n - 3) / 2 == pytest.approx(f_classif(X, y)[0])


def test_for_regression_it_is_the_squared_correlation_which_two_classes_have_too():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 4)), columns=list("abcd"))
    y = X["a"] - 2 * X["b"] + rng.normal(size=50)
    assert coefficients_of(X, y) == pytest.approx(r_regression(X, y) ** 2)
    raw = coefficients_of(X, y, scale="raw", gamma=0.25)
    assert raw == pytest.approx((r_regression(X, y) ** 2 - 0.25) * X.var(ddof=0))
    two = (y > 0).astype(int)
    by_class = coefficients_of(X, two, task="classification", scale="raw", gamma=0.25)
    assert by_class == pytest.approx(coefficients_of(X, two * 3.0 + 1, task="regression", scale="raw", gamma=0.25))


@pytest.mark.parametrize("scale", ["standard", "raw"])
def test_copies_tie_by_table_order_and_thresholds_cut(scale):
    rng = np.random.default_rng(1)
    y = np.arange(30) % 3
    signal = y + 0.1 * rng.random(30)
    X = pd.DataFrame({"noise": rng.random(30), "one": signal, "constant": 0.1, "two": signal})
    fitted = bf.FisherMarkov(scale=scale).fit(X, y.astype(str))
    assert fitted.selected_features_ == ["one", "two", "noise"]
    cut = bf.FisherMarkov(scale=scale, threshold=0.0).fit(X, y.astype(str)).selected_features_
    assert cut == ["one", "two", "noise"]
    at = fitted.importances_["two"]
    assert bf.FisherMarkov(scale=scale, threshold=at).fit(X, y.astype(str)).selected_features_ == []
    assert bf.FisherMarkov(scale=scale, threshold=0.0, n_features=1).fit(X, y.astype(str)).selected_features_ == ["one"]


def test_small_and_large_units_are_no_matter_unless_columns_are_raw():
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    X = pd.DataFrame({"a": y + rng.random(40), "b": rng.random(40), "c": 2 * y + rng.random(40)})
    X[["a", "b", "c"]] = X[["a", "b", "c"]].round(3)
    scaled = X.assign(a=X["a"] * 2.0**1020, b=X["b"] * 2.0**-1000)
    assert coefficients_of(scaled, y.astype(str)) == pytest.approx(coefficients_of(X, y.astype(str)))
    with pytest.raises(DataError, match="too large for scale: raw"), np.errstate(all="ignore"):
        bf.FisherMarkov(scale="raw").fit(scaled, y.astype(str))
