"""dCRT against a literal conditional randomisation test, and against one lasso for each feature."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blanketflow as bf
from blanketflow.core.errors import ParameterError
from blanketflow.selectors.knockoff.gaussian_knockoffs import shrinkage
from blanketflow.selectors.wrappers import dcrt
from blanketflow.selectors.wrappers.dcrt import (
    PENALTIES,
    SHARES,
    dcrt_p_values,
    left_of_features,
    likeliest_share,
    scaled_lasso,
)

PENALTY = 0.35
CORRELATIONS = 0.6 ** np.abs(np.subtract.outer(range(6), range(6)))


def made(seed, n=120, effects=(0.4, 0, 0, 0.3, 0, 0)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) @ np.linalg.cholesky(CORRELATIONS).T
    y = X @ np.array(effects) + rng.normal(size=n)
    return X, y - y.mean()


def test_p_values_are_those_of_drawing_the_feature_anew():
    X, y = made(0)
    found = dcrt_p_values(X, np.arange(6), y[:, np.newaxis], 6, CORRELATIONS, penalty=PENALTY)[1]
    for j in range(6):
        others = np.delete(np.arange(6), j)
        weights = np.linalg.solve(CORRELATIONS[np.ix_(others, others)], CORRELATIONS[others, j])
        expected = X[:, others] @ weights
        spread = np.sqrt(1 - CORRELATIONS[j, others] @ weights)
        left = scaled_lasso(X[:, others], y, len(X[0]), PENALTY)[1]
        drawn = expected + spread * np.random.default_rng(j).normal(size=(5_000, len(X)))
        larger = np.abs((drawn - expected) @ left) >= abs((X[:, j] - expected) @ left)
        assert larger.mean() == pytest.approx(found[j], abs=4 * np.sqrt(found[j] / 5_000) + 1e-4)


def test_one_lasso_serves_all_features_that_it_does_not_keep():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 30))
    X[:, 1:] += 0.5 * X[:, :-1]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, [2, 9, 20]].sum(axis=1) + rng.normal(size=100)
    y -= y.mean()
    coefficients, left = scaled_lasso(X, y, 30, PENALTY)
    kept = np.flatnonzero(coefficients)
    assert 3 <= len(kept) < 30
    for j in np.setdiff1d(np.arange(30), kept):
        own = scaled_lasso(np.delete(X, j, axis=1), y, 30, PENALTY)
        assert np.insert(own[0], j, 0.0) == pytest.approx(coefficients, abs=1e-3)
        assert own[1] == pytest.approx(left, abs=1e-2)
    for j in kept:  # begun from the lasso on all, it ends where it ends without that
        others = np.delete(np.arange(30), j)
        start = coefficients[others], float(np.sqrt(np.mean(left**2)))
        begun = [scaled_lasso(X[:, others], y, 30, PENALTY, one)[1] for one in (None, start)]
        assert begun[0] == pytest.approx(begun[1], abs=1e-2)


def test_the_scaled_lasso_solves_its_own_conditions():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 12))
    y = X[:, 0] - 0.5 * X[:, 5] + rng.normal(size=80)
    coefficients, left = scaled_lasso(X, y, 12, 0.5)
    slopes, noise = X.T @ left / 80, np.sqrt(np.mean(left**2))
    most = 0.5 * np.sqrt(2 * np.log(12) / 80) * noise
    kept = coefficients != 0
    assert 2 <= kept.sum() < 12
    assert slopes[kept] == pytest.approx(most * np.sign(coefficients[kept]), rel=1e-2)
    assert np.abs(slopes[~kept]).max() <= most * 1.001
    assert left == pytest.approx(y - X @ coefficients)


def test_each_feature_has_the_penalty_that_is_best_without_it():
    rng, n, d = np.random.default_rng(11), 90, 25
    X = rng.normal(size=(n, d))
    X[:, 1:] += 0.4 * X[:, :-1]
    X -= X.mean(axis=0)
    y = X[:, ::3] @ np.linspace(0.1, 0.8, 9) + rng.normal(size=n)
    y -= y.mean()
    found, chosen = dcrt_p_values(X, np.arange(d), y[:, np.newaxis], d, np.eye(d))[0], []
    for j in range(d):
        others, errors, statistics = np.delete(X, j, axis=1), [], []
        for penalty in PENALTIES:
            coefficients, left = scaled_lasso(others, y, d, penalty)
            errors.append(np.mean(left**2) / (1 - np.count_nonzero(coefficients) / n) ** 2)
            statistics.append((X[:, j] @ left) ** 2 / (left @ left))
        rises = np.flatnonzero(np.diff(errors) >= 0)
        chosen.append(rises[0] if len(rises) else len(PENALTIES) - 1)
        assert found[j] == pytest.approx(statistics[chosen[-1]], rel=0.02, abs=1e-3)
    assert len({*chosen}) > 1, "the case does not tell penalties apart"


def test_where_the_law_is_estimated_no_lasso_keeps_more_than_a_quarter_of_the_rows(monkeypatch):
    rng, n, d = np.random.default_rng(12), 120, 400
    X = rng.normal(size=(n, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, :6] @ np.full(6, 0.8) + rng.normal(size=n)
    y -= y.mean()
    kept = [np.count_nonzero(scaled_lasso(X, y, d, penalty)[0]) for penalty in PENALTIES]
    few = [penalty for penalty, many in zip(PENALTIES, kept, strict=True) if many <= n / 4]
    assert 0 < len(few) < len(PENALTIES), "the case tells nothing"
    found = dcrt_p_values(X, np.arange(d), y[:, np.newaxis], d)
    monkeypatch.setattr(dcrt, "PENALTIES", tuple(few))
    assert np.array_equal(found[1], dcrt_p_values(X, np.arange(d), y[:, np.newaxis], d)[1])
    monkeypatch.setattr(dcrt, "PENALTIES", PENALTIES)
    monkeypatch.setattr(dcrt, "MOST_KEPT", 1.0)
    assert not np.array_equal(found[1], dcrt_p_values(X, np.arange(d), y[:, np.newaxis], d)[1])
    assert (found[1][:6] < 1e-3).sum() >= 5


@pytest.mark.parametrize("n", [40, 10], ids=["more rows", "more columns"])
def test_the_linear_law_is_that_of_the_shrunken_correlations(n):
    X = np.random.default_rng(2).normal(size=(n, 15))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    share = shrinkage(X)
    correlations = (1 - share) * X.T @ X / n + share * np.eye(15)
    owners = np.array([0, 0, 0, *range(1, 13)])
    left, covariances, residual = left_of_features(X, owners)
    for owner in range(13):
        own, others = np.flatnonzero(owners == owner), np.flatnonzero(owners != owner)
        weights = np.linalg.solve(correlations[np.ix_(others, others)], correlations[np.ix_(others, own)])
        assert left[:, own] == pytest.approx(X[:, own] - X[:, others] @ weights)
        assert covariances[owner] == pytest.approx(left[:, own].T @ left[:, own] / n)
    y = np.random.default_rng(3).normal(size=(n, 2))
    weights = np.linalg.solve(correlations, (1 - share) * X.T @ y / n)
    assert residual(y) == pytest.approx(y - X @ weights)


def test_with_an_estimated_law_products_count_as_those_of_fewer_rows():
    rng, n, d = np.random.default_rng(4), 80, 12
    X = rng.normal(size=(n, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, :4] @ np.full(4, 0.6) + rng.normal(size=n)
    y -= y.mean()
    left, found = left_of_features(X, np.arange(d))[0], dcrt_p_values(X, np.arange(d), y[:, np.newaxis], d, penalty=0.7)
    for j in range(d):
        coefficients, rest = scaled_lasso(np.delete(X, j, axis=1), y, d, 0.7)
        n_kept, cosine = np.count_nonzero(coefficients), left[:, j] @ rest / np.linalg.norm(left[:, j])
        statistic = (n - n_kept / 2 - 1) * (cosine / np.linalg.norm(rest)) ** 2
        assert n_kept > 1 and found[1][j] == pytest.approx(stats.chi2.sf(statistic, 1), rel=0.02)


def test_the_estimated_law_rejects_a_true_null_about_as_often_as_it_says():
    n_rejected = n_tested = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 40))
        X[:, 1:] = 0.5 * X[:, :-1] + np.sqrt(0.75) * X[:, 1:]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        y = X[:, ::4] @ np.full(10, 0.4) + rng.normal(size=150)
        p = dcrt_p_values(X, np.arange(40), (y - y.mean())[:, np.newaxis], 40)[1]
        null = np.arange(40) % 4 != 0
        n_rejected, n_tested = n_rejected + (p[null] <= 0.05).sum(), n_tested + null.sum()
    assert 0.04 < n_rejected / n_tested < 0.07


def test_no_memory_of_all_pairs_of_columns_is_taken():
    X = np.random.default_rng(3).normal(size=(10, 2000))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    tracemalloc.start()
    left_of_features(X, np.arange(2000))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * 2000**2 / 4


def test_p_values_are_uniform_under_the_known_law_whatever_the_target_is():
    found = []
    for seed in range(100):
        X, y = made(seed, n=40, effects=(2, 0, 0, 0, 0, 0))
        classes = np.stack([y > 1, np.abs(y) <= 1], axis=1) - [np.mean(y > 1), np.mean(np.abs(y) <= 1)]
        found.append(dcrt_p_values(X, np.arange(6), classes, 6, CORRELATIONS)[1][2])
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_labels_and_classes():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    X["site"] = rng.choice(["north", "south", "west"], 300)
    score = X["a"] + 1.5 * (X["site"] == "west") + 0.5 * rng.normal(size=300)
    y = np.digitize(score, [-0.3, 1.0])
    found = bf.DCRT(alpha=0.01).fit(X, y)
    assert set(found.selected_features_) == {"a", "site"}
    assert found.trace_.loc[found.trace_["feature"] == "site", "p_value"].max() < 1e-6


def test_corrections_are_nested_and_admissions_are_those_of_none():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 40))
    y = X[:, :12] @ np.linspace(0.02, 0.3, 12) + rng.normal(size=200)
    kept = {how: set(bf.DCRT(correction=how, alpha=0.1).fit(X, y).selected_features_) for how in ("by", "bh", "none")}
    assert kept["by"] <= kept["bh"] <= kept["none"]
    assert len(kept["by"]) < len(kept["none"])
    assert set(bf.DCRT(correction="by", alpha=0.1).fit(X, y).candidates_) == kept["none"]


def test_a_constant_target_feature_or_copy_says_nothing():
    X, y = made(3)
    X = np.column_stack([X, np.ones(120), X[:, 0]])
    found = bf.DCRT(correction="none").fit(X, y)
    assert not {"x6"} & set(found.selected_features_)
    assert np.isfinite(found.trace_["p_value"]).all()


def bent(seed=0, n=300):
    """Numbers, a flag and a label; a target that follows the square of x0, and the number x1."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 5))).add_prefix("x")
    X["x2"] += 0.6 * X["x0"]
    X["flag"], X["label"] = rng.random(n) < 0.3, rng.choice(["north", "south", "west"], n)
    return X, X["x0"] ** 2 + 0.7 * X["x1"] + rng.normal(size=n)


def test_squares_are_tested_by_themselves_at_their_share_of_the_level():
    X, y = bent()
    linear = bf.DCRT(alpha=0.999, correction="none").fit(X, y).trace_.groupby("feature")["p_value"].max()
    both = bf.DCRT(alpha=0.999, correction="none", squares=0.2).fit(X, y).trace_.groupby("feature")["p_value"].max()
    assert linear["x0"] > 1e-3 > 1e-6 > both["x0"] and both["x1"] == pytest.approx(linear["x1"] / 0.8)
    assert (both[["flag", "label"]] == linear[["flag", "label"]]).all()
    # The literal second test: the square's residual on all other columns, times the target's residual by the lasso.
    numbers = X[[f"x{j}" for j in range(5)]].to_numpy()
    numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    scores = np.column_stack([stats.norm.ppf(stats.rankdata(of) / (len(X) + 1)) for of in numbers.T])
    squares = scores**2 - (scores**2).mean(axis=0)
    squares -= numbers * (numbers * squares).mean(axis=0)
    squares /= squares.std(axis=0)
    flag = X["flag"].to_numpy(float)
    label = pd.get_dummies(X["label"]).to_numpy(float)
    label = np.linalg.svd(label - label.mean(axis=0), full_matrices=False)[0][:, :2] * np.sqrt(len(X))
    columns = np.column_stack([numbers, (flag - flag.mean()) / flag.std(), label, squares])
    outcome = np.asarray((y - y.mean()) / y.std())[:, np.newaxis]
    owners = np.array([0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11])
    p_values = dcrt_p_values(columns, owners, outcome, 12)[1]
    assert both["x0"] == pytest.approx(p_values[7] / 0.2, rel=1e-6)


def test_squares_leave_the_level_of_a_true_null():
    found = []
    for seed in range(150):
        X, y = bent(seed, 150)
        trace = bf.DCRT(alpha=0.999, correction="none", squares=0.5).fit(X, y).trace_
        found.append(trace.groupby("feature")["p_value"].max().get("x2", 1.0))
    rejected = (np.array(found) <= 0.1).sum()
    assert rejected <= stats.binom.ppf(0.999, len(found), 0.1), "x2 follows x0 only"


def correlated(seed, n, d):
    """Return rows in which three features share a half of their variance, and a target that follows two features."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n, d // 3)), 3, axis=1) + rng.normal(size=(n, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (X[:, 0] + X[:, 3]) * 5 / np.sqrt(n) + rng.normal(size=n)
    return X, (y - y.mean()) / y.std()


@pytest.mark.parametrize(("n", "d"), [(60, 12), (30, 36)], ids=["more rows", "more columns"])
def test_the_share_is_that_under_which_columns_are_likeliest_given_all_others(n, d):
    X, _ = correlated(0, n, d)
    found = []
    for share in SHARES:
        likelihood = 0.0
        for j in range(d):
            others = np.delete(X, j, axis=1)
            law = np.eye(n) + (1 - share) / (share * n) * others @ others.T
            scale = X[:, j] @ np.linalg.solve(law, X[:, j]) / n
            likelihood += stats.multivariate_normal.logpdf(X[:, j], np.zeros(n), scale * law)
        found.append(likelihood)
    _, singular, axes = np.linalg.svd(X, full_matrices=False)
    assert likeliest_share(singular**2 / n, axes, n) == SHARES[np.argmax(found)] not in (SHARES[0], SHARES[-1])


@pytest.mark.parametrize(("n", "d"), [(60, 12), (30, 36)], ids=["more rows", "more columns"])
def test_weighted_tests_are_those_of_the_law_of_a_feature_given_all_others(n, d):
    X, y = correlated(1, n, d)
    _, singular, axes = np.linalg.svd(X, full_matrices=False)
    share = likeliest_share(singular**2 / n, axes, n)
    log_p, agreed = np.zeros((2, d))
    for j in range(d):
        x, others = X[:, j], np.delete(X, j, axis=1)
        r = scaled_lasso(others, y, d, 0.5)[1]
        law = np.eye(n) + (1 - share) / (share * n) * others @ others.T
        e = np.linalg.solve(law, r)
        rest = r - e * (r @ r) / (r @ e)
        assert e @ law @ rest == pytest.approx(0, abs=1e-9), "the covariance of both products under the law"
        agreed[j] = np.clip(np.sign(x @ e) * (x @ rest) / np.linalg.norm(r), -1, 1)
        scale = x @ np.linalg.solve(law, x) / (n - 1)
        log_p[j] = stats.chi2.logsf((x @ e) ** 2 / (scale * (e @ law @ e)), 1)
    weights = np.exp(3 * agreed) / np.mean((np.exp(3 * agreed) + np.exp(-3 * agreed)) / 2)
    found = dcrt_p_values(X, np.arange(d), y[:, np.newaxis], d, penalty=0.5, weighting=3.0)
    assert found[2] == pytest.approx(np.minimum(log_p - np.log(weights), 0), abs=0.1)
    assert np.ptp(weights) > 1, "the case tells nothing"


def test_weights_find_more_and_leave_the_level_of_true_nulls():
    n_rejected = n_tested = 0
    n_found = np.zeros(2)
    for seed in range(80):
        X, y = correlated(seed, 100, 30)
        for at, weighting in enumerate((0.0, 3.0)):
            p = dcrt_p_values(X, np.arange(30), y[:, np.newaxis], 30, weighting=weighting)[1]
            n_found[at] += (p[[0, 3]] <= 0.001).sum()
        null = np.delete(p, [0, 3])
        n_rejected, n_tested = n_rejected + (null <= 0.05).sum(), n_tested + len(null)
    assert n_found[1] > 1.1 * n_found[0]
    assert 0.04 < n_rejected / n_tested < 0.07


def test_labels_are_tested_beside_weights():
    X, y = bent()
    y = y + 1.0 * (X["label"] == "west")
    found = bf.DCRT(alpha=0.05, weighting=3.0).fit(X, y).selected_features_
    assert "label" in found and "x1" in found


def test_weights_with_a_known_covariance_are_refused():
    X, y, covariance = with_copies(0, 0.05)
    with pytest.raises(ParameterError, match=r"weighting is 3, but the covariance .* Leave one of them out"):
        bf.DCRT(weighting=3.0, covariance=covariance).fit(X, y)


def test_squares_of_a_known_covariance_are_refused():
    X, y, covariance = with_copies(0, 0.05)
    with pytest.raises(ParameterError, match=r"squares is 0\.1, but the covariance .* Leave one of them out"):
        bf.DCRT(squares=0.1, covariance=covariance).fit(X, y)


def with_copies(seed, blur, effect=1.0):
    """Numbers a, a near-copy of it, b and noise, their covariance, and a target that follows a and b."""
    rng = np.random.default_rng(seed)
    a, b, noise, e = rng.normal(size=(4, 300))
    X = pd.DataFrame({"noise": noise, "b": b, "near": a + blur * rng.normal(size=300), "a": a})
    covariance = np.eye(4)
    covariance[2, 3] = covariance[3, 2] = 1.0
    covariance[2, 2] += blur**2
    return X, effect * (a + b) + 0.5 * e, covariance


@pytest.mark.parametrize("correction", ["bh", "by", "none"])
@pytest.mark.parametrize("blur", [0.0, 0.01, 0.05])
def test_one_of_two_copies_is_kept(blur, correction):
    for seed in range(5):
        X, y, covariance = with_copies(seed, blur)
        for known in (None, covariance)[: 1 + (blur > 0)]:
            found = bf.DCRT(alpha=0.01, correction=correction, covariance=known).fit(X, y)
            assert set(found.selected_features_) in ({"a", "b"}, {"b", "near"})
            (kept,) = {"a", "near"} & set(found.selected_features_)
            assert [row.feature for row in found.stand_ins_[kept]] == [{"a": "near", "near": "a"}[kept]]


def test_a_copy_that_says_more_is_kept_alone():
    X, y, _ = with_copies(0, 0.2)
    assert set(bf.DCRT(alpha=0.01).fit(X, y).selected_features_) == {"a", "b"}


@pytest.mark.parametrize("known", [False, True])
def test_near_copies_of_noise_are_admitted_as_seldom_as_other_features(known):
    admitted = 0
    for seed in range(150):
        X, y, covariance = with_copies(seed, 0.1, effect=0.0)
        found = bf.DCRT(correction="none", covariance=covariance if known else None)
        admitted += len({"a", "near"} & set(found.fit(X, y).selected_features_))
    assert admitted <= stats.binom.ppf(0.999, 2 * 150, 0.05)  # as two features without copies


def test_a_covariance_that_is_none_is_refused():
    X, y = made(4)
    with pytest.raises(ParameterError, match="dcrt: covariance must be positive definite"):
        bf.DCRT(covariance=np.ones((6, 6))).fit(X, y)
