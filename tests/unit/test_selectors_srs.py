"""SRS: its sparse group lasso meets the optimality conditions, its choice of penalties is a literal loop's."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import blanketflow as bf
from blanketflow.selectors.causal import res
from blanketflow.selectors.causal.res import SRS, Rows, choose_penalties

GRID = [0.001, 0.03, 0.09]


def standardised(columns):
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def soft(values, threshold):
    return np.sign(values) * np.maximum(np.abs(values) - threshold, 0.0)


def largest_penalties(X, y, groups):
    """Return the smallest lambda1, and lambda2, that alone keeps all coefficients at 0, by the gradient there."""
    gradient = X.T @ y / len(y)
    return max(np.linalg.norm(gradient[groups == g]) for g in set(groups)), np.abs(gradient).max()


def violation(X, y, groups, lambda1, lambda2, b):
    """Return by how much b misses the optimality conditions of |y - X b|^2 / 2n + lambda1 sum |b_g| + lambda2 |b|_1.

    For a group at 0: |soft(g, lambda2)| <= lambda1 where g = X_g'(y - X b) / n. Else g_j = lambda1 b_j / |b_g| +
    lambda2 sign(b_j) for each b_j not 0, and |g_j| <= lambda2 for the others.
    """
    gradient, worst = X.T @ (y - X @ b) / len(y), 0.0
    for group in set(groups):
        g, own = gradient[groups == group], b[groups == group]
        if not own.any():
            worst = max(worst, np.linalg.norm(soft(g, lambda2)) - lambda1)
            continue
        at_zero = own == 0
        missed = np.abs(g - lambda1 * own / np.linalg.norm(own) - lambda2 * np.sign(own))[~at_zero]
        worst = max(worst, missed.max(), (np.abs(g[at_zero]) - lambda2).max(initial=0.0))
    return worst


def grouped(seed, n, sizes, n_targets=1):
    """Return correlated columns, some of them constant or copies, and targets that depend on a few."""
    rng = np.random.default_rng(seed)
    p = sum(sizes)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1)) * rng.uniform(0, 2)
    X[:, rng.random(p) < 0.1] = 3.0
    if p > 2:
        X[:, 2] = X[:, 0]
    Y = X[:, rng.integers(0, p, (3, n_targets))].sum(axis=1) + rng.normal(size=(n, n_targets))
    return X * rng.uniform(0.01, 100, p), Y


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(6, 60),
    st.lists(st.integers(1, 7), min_size=1, max_size=6),
    st.sampled_from([0.001, 0.02, 0.1, 0.5, 1.0]),
    st.sampled_from([0.001, 0.02, 0.1, 0.5, 1.0]),
    st.integers(1, 3),
)
@example(192120, 6, [1, 2], 0.02, 0.02, 1)  # copies in two groups: 100,000 sweeps of equal small steps were too few
def test_meets_the_optimality_conditions(seed, n, sizes, share1, share2, n_targets):
    X, Y = grouped(seed, n, sizes, n_targets)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    fit = Rows(X, Y, sizes).fit(share1, share2)
    assert fit.converged
    X, Y = standardised(X), standardised(Y)
    for c, y in enumerate(Y.T):
        largest1, largest2 = largest_penalties(X, y, groups)
        b = fit.coefficients[:, c]
        assert violation(X, y, groups, share1 * largest1, share2 * largest2, b) < 1e-7
        assert not b[X.std(axis=0) == 0].any()


def test_orthogonal_columns_have_a_closed_form():
    # With X'X / n = 1 the coefficients of a group are soft(g, lambda2), shortened by lambda1, where g = X'y / n.
    rng = np.random.default_rng(0)
    X = np.linalg.qr(np.hstack([np.ones((50, 1)), rng.normal(size=(50, 5))]))[0][:, 1:] * np.sqrt(50)
    y = standardised(X @ [3, 2, 0.5, 0.4, 0.1] + rng.normal(size=50))
    g, sizes = X.T @ y / 50, [2, 3]
    largest1, largest2 = largest_penalties(X, y, np.array([0, 0, 1, 1, 1]))
    for share1, share2 in [(0.1, 0.1), (0.2, 0.05), (0.05, 0.3)]:
        wanted = []
        for own in (g[:2], g[2:]):
            left = soft(own, share2 * largest2)
            wanted += list(left * max(1 - share1 * largest1 / np.linalg.norm(left), 0) if left.any() else left)
        found = Rows(X, y[:, np.newaxis], sizes).fit(share1, share2).coefficients[:, 0]
        np.testing.assert_allclose(found, wanted, atol=1e-8)


def test_a_share_of_one_is_the_smallest_penalty_that_selects_nothing():
    X, Y = grouped(3, 40, [3, 4, 2])
    rows = Rows(X, Y, [3, 4, 2])
    for at, below in [((1.0, 1e-9), (0.98, 1e-9)), ((1e-9, 1.0), (1e-9, 0.98))]:
        assert not rows.fit(*at).coefficients.any()
        assert rows.fit(*below).coefficients.any()


def test_a_path_changes_how_long_it_takes_only():
    sizes = [3, 40, 1, 30, 2, 20, 5, 4, 3, 2, 1, 1, 1, 1]  # more groups and columns than a first working set has
    X, Y = grouped(4, 150, sizes, 2)
    rows = Rows(X[:90], Y[:90], sizes)
    pairs = [(0.5, 0.4), (0.03, 0.02), (0.001, 0.001), (0.03, 0.02), (0.9, 0.001)]
    errors = rows.errors(pairs, X[90:], Y[90:])
    here = X[:90].std(axis=0) > 0
    Z = np.where(here, (X[90:] - X[:90].mean(axis=0)) / np.where(here, X[:90].std(axis=0), 1), 0)
    T = (Y[90:] - Y[:90].mean(axis=0)) / Y[:90].std(axis=0)
    X, Y = standardised(X[:90]), standardised(Y[:90])
    groups, varies = np.repeat(np.arange(len(sizes)), sizes), X.std(axis=0) > 0
    for c, y in enumerate(Y.T):
        largest1, largest2 = largest_penalties(X, y, groups)
        for (share1, share2), b in zip(pairs, rows.path(c, pairs)[0], strict=True):
            penalties = share1 * largest1, share2 * largest2
            assert violation(X[:, varies], y, groups[varies], *penalties, b) < 1e-8 * max(sizes)
    for pair, error in zip(pairs, errors, strict=True):
        alone = rows.fit(*pair)
        assert alone.converged
        # With small penalties and more columns than rows the optimum is flat.
        assert error == pytest.approx(np.sum((T - Z @ alone.coefficients) ** 2), rel=1e-4)
    assert errors[1] == pytest.approx(errors[3], rel=1e-4) and errors[1] != errors[2]


@pytest.mark.parametrize("n", [30, 400])
def test_columns_that_are_nearly_alike_are_no_obstacle(n):
    rng = np.random.default_rng(n)
    sizes = [12, 12, 60, 1]
    X = rng.normal(size=(n, len(sizes)))[:, np.repeat(np.arange(len(sizes)), sizes)]
    X = X + 1e-3 * rng.normal(size=X.shape)
    Y = (X[:, 3] - X[:, 20] + rng.normal(size=n))[:, np.newaxis]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    Xs, y = standardised(X), standardised(Y)[:, 0]
    largest1, largest2 = largest_penalties(Xs, y, groups)
    for shares in [(0.001, 0.001), (0.05, 0.001), (0.001, 0.05)]:
        fit = Rows(X, Y, sizes).fit(*shares)
        assert fit.converged
        missed = violation(Xs, y, groups, shares[0] * largest1, shares[1] * largest2, fit.coefficients[:, 0])
        assert missed < 1e-8 * max(sizes)  # a step is 1 / 60 of the gradient at least


@pytest.mark.parametrize("seed", range(6))
def test_penalties_are_those_of_a_literal_cross_validation(seed):
    n, sizes = 40, [3, 4]
    X, Y = grouped(seed, n, sizes, 1 + seed % 2)
    parts = np.random.default_rng(seed).permutation(n) % 4
    errors = {}
    for a in GRID:
        for b in GRID:
            errors[a, b] = 0.0
            for part in range(4):
                here, out = parts != part, parts == part
                spread, centre = X[here].std(axis=0), X[here].mean(axis=0)
                Z = (X[out] - centre) / np.where(spread > 0, spread, 1.0)
                T = (Y[out] - Y[here].mean(axis=0)) / Y[here].std(axis=0)
                b_here = Rows(X[here], Y[here], sizes).fit(a, b).coefficients
                errors[a, b] += np.sum((T - Z @ b_here) ** 2)
    assert choose_penalties(X, Y, sizes, GRID, GRID, parts) == min(errors, key=errors.get)


def test_larger_penalties_win_ties():
    # A constant target has no coefficients whatever the penalties are.
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert choose_penalties(X, np.ones((20, 1)), [1, 2], GRID, GRID, np.arange(20) % 4) == (0.09, 0.09)


def genes(n=80, seed=0):
    """Return causes of a class, each with correlated columns, and noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    for name in ("a1", "a2", "a3", "b1", "b2"):
        X[name] = X[name[0]] + 0.7 * rng.normal(size=n)
    for j in range(6):
        X[f"noise{j}"] = rng.normal(size=n)
    return X, X["a"] + 0.8 * X["b"] + 0.6 * rng.normal(size=n)


FAST = {"ci_test": "fisher-z", "alpha": 0.01, "lambda_step": 0.03}


@pytest.mark.parametrize("task", ["regression", "two classes", "three classes"])
def test_keeps_the_features_with_a_coefficient(task):
    X, score = genes()
    y = score if task == "regression" else pd.cut(score, 2 if task == "two classes" else 3, labels=False).astype(str)
    options = FAST if task != "three classes" else {**FAST, "ci_test": "lr-mixed", "alpha": 0.05}
    fitted = bf.SRS(**options, lambda1=0.05, lambda2=0.3).fit(X, y)
    grown = fitted.trace_[fitted.trace_["stage"] == "grow"]
    assert set(grown["feature"]) == set(
        bf.RES(ci_test=options["ci_test"], alpha=options["alpha"]).fit(X, y).selected_features_
    )
    # Groups by hand: grow gives them side by side, each led by its member.
    starts = [i for i, role in enumerate(grown["role"]) if role == "parent_or_child"]
    sizes = np.diff([*starts, len(grown)]).tolist()
    names = list(grown["feature"])
    Y = score.to_numpy()[:, None] if task == "regression" else pd.get_dummies(y).to_numpy(float)
    Y = Y[:, 1:] if task == "two classes" else Y
    lengths = np.linalg.norm(Rows(X[names].to_numpy(), Y, sizes).fit(0.05, 0.3).coefficients, axis=1)
    assert set(fitted.selected_features_) == {name for name, size in zip(names, lengths, strict=True) if size > 0}
    assert fitted.selected_features_
    for name, size in zip(names, lengths, strict=True):
        assert not size or fitted.importances_[name] == pytest.approx(size, abs=1e-5)


def test_selects_within_and_between_sets():
    X, y = genes()
    fitted = bf.SRS(**FAST).fit(X, y)
    assert {"a", "b"} <= set(fitted.selected_features_) < set(fitted.candidates_)


def test_scales_and_the_order_of_labels_do_not_matter():
    X, score = genes()
    X["site"] = np.random.default_rng(1).choice(["x", "y", "z"], len(X))
    score = score + 2 * (X["site"] == "x")
    options = {"alpha": 0.05, "lambda_step": 0.03, "ci_test": "lr-mixed"}
    wanted = bf.SRS(**options).fit(X, score)
    assert "site" in wanted.selected_features_
    scaled = X.assign(a=-1e5 * X["a"] + 7, site=X["site"].map({"x": "3", "y": "1", "z": "2"}))
    found = bf.SRS(**options).fit(scaled, 1e4 * score)
    assert found.selected_features_ == wanted.selected_features_
    for name, importance in wanted.importances_.items():
        assert found.importances_[name] == pytest.approx(importance, abs=1e-3)


def test_a_level_that_a_part_lacks_and_a_single_candidate():
    rng = np.random.default_rng(0)
    kind = np.array(["rare", *rng.choice(["x", "y"], 59)])
    y = (kind == "x") + 0.3 * rng.normal(size=60)
    fitted = bf.SRS(ci_test="lr-mixed", lambda_step=0.05).fit(pd.DataFrame({"kind": kind}), y)
    assert fitted.selected_features_ == ["kind"]


def test_nothing_is_selected_where_nothing_depends_on_the_target():
    X, _ = genes()
    rng = np.random.default_rng(5)
    fitted = bf.SRS(ci_test="fisher-z", alpha=1e-6).fit(X, rng.normal(size=len(X)))
    assert fitted.selected_features_ == fitted.candidates_ == []


def test_fixed_penalties_are_not_cross_validated():
    X, y = genes()
    fitted = [
        bf.SRS(**FAST, lambda1=0.1, lambda2=0.1, random_state=seed, n_splits=2 + seed).fit(X, y) for seed in (0, 1)
    ]
    assert fitted[0].importances_ == fitted[1].importances_
    harder = bf.SRS(**FAST, lambda1=0.1, lambda2=0.9).fit(X, y)
    assert set(harder.selected_features_) < set(fitted[0].selected_features_)


def test_says_so_when_the_solver_does_not_get_there(monkeypatch):
    from blanketflow.core.table import Column, Table
    from blanketflow.search.run_fold import run_fold

    monkeypatch.setattr(res, "TOLERANCE", -1.0)  # out of reach
    X, y = genes(n=30)
    table = Table([Column(name, "numeric", X[name].to_numpy()) for name in X])
    method = SRS(alpha=0.01, lambda1=0.9, lambda2=0.9)
    outcome = run_fold(method, bf.get_ci_test("fisher-z"), table, Column("y", "numeric", y.to_numpy()), 0)
    assert outcome.status == "unreliable"
    assert "did not converge" in outcome.reason
