"""SPFS-LAR: the path by hand, by solving each step slowly, and beside scikit-learn's least-angle regression."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from sklearn.linear_model import lars_path

import blanketflow as bf


def path_of(X, y, n_features=100, **options):
    fitted = bf.SPFSLAR(n_features=n_features, **options).fit(X, y)
    return fitted.selected_features_, list(fitted.importances_.values())


def unit_columns(X):
    values = np.asarray(X, dtype=float)
    centred = values - values.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    return centred / np.where(norms > 1e-12, norms, np.inf)


def class_columns(y):
    return np.column_stack([(y == c) / np.sqrt((y == c).sum()) for c in sorted(set(y))])


def literal(X, Y, most):
    """Return positions and correlations along the path; steps are found by bisection, projections by solving."""
    R, active, path = Y.copy(), [], []

    def strength(j, residual):
        return np.linalg.norm(X[:, j] @ residual)

    chosen, level = max(((j, strength(j, R)) for j in range(X.shape[1])), key=lambda found: found[1])
    while level > 1e-9 and len(path) < most:
        active.append(chosen)
        path.append((chosen, level))
        A = X[:, active]
        towards = A @ np.linalg.solve(A.T @ A, A.T @ R)
        steps = {}
        for j in set(range(X.shape[1])) - set(active):

            def gap(s, j=j, R=R, level=level, towards=towards):
                return (1 - s) * level - strength(j, R - s * towards)

            if gap(1 - 1e-9) < 0:
                # Along the way the gap is concave or falls to a single root; look for the first change of sign.
                grid = np.linspace(0, 1 - 1e-9, 400)
                first = next(i for i, s in enumerate(grid) if gap(s) < 0)
                steps[j] = brentq(gap, grid[first - 1], grid[first], xtol=1e-14)
        if not steps:
            break
        chosen = min(steps, key=steps.get)
        R = R - steps[chosen] * towards
        # What makes it a least-angle path: all active features keep one correlation.
        level *= 1 - steps[chosen]
        assert [strength(j, R) for j in active] == pytest.approx([level] * len(active), abs=1e-8)
    return path


def test_by_hand_with_orthogonal_features():
    # Orthogonal features have no say in each other: they come by their correlation with the target.
    X = pd.DataFrame({"half": [1, 1, -1, -1] * 2, "none": [1, -1] * 4, "full": [1] * 4 + [-1] * 4})
    names, correlations = path_of(X, list("ppppqqqq"))
    # full: 4 and -4 over sqrt(8) sqrt(4), which has the norm 1; the others: 0.
    assert names == ["full"]
    assert correlations == pytest.approx([1.0])
    y = np.array([3.0, 3, 1, 1, -1, -1, -3, -3])
    # y = 2 full + half, orthogonal and of equal norms: correlations 2/sqrt(5) and 1/sqrt(5).
    names, correlations = path_of(X, y)
    assert names == ["full", "half"]
    assert correlations == pytest.approx([2 / 5**0.5, 1 / 5**0.5])


def test_by_hand_where_the_second_feature_must_wait():
    # y = (4, 3, 0) in an orthonormal basis of centred columns; a = (1, 0, 0), b = (3/5, 4/5, 0), c = (0, 3/5, 4/5).
    basis = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]) / 2
    y = np.array([4.0, 3, 0]) @ basis
    X = pd.DataFrame(
        {"a": basis[0], "b": np.array([3, 4, 0]) @ basis / 5, "c": np.array([0, 3, 4]) @ basis / 5}, columns=list("cab")
    )
    # a: 4/5, b: (12 + 12) / 25, c: 9/25: b is first. R = (4, 3, 0) / 5 - s 24/25 (3/5, 4/5, 0). a: 4/5 - s 72/125
    # equals 24/25 (1 - s) at s = 5/12; then the level is 14/25. R then moves to 0 within the span of a and b, and c
    # goes down with it.
    names, correlations = path_of(X, y)
    assert names == ["b", "a"]
    assert correlations == pytest.approx([24 / 25, 14 / 25])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 4, "regression"]))
def test_equals_a_path_of_slow_steps(seed, task):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 30)), int(rng.integers(1, 12))
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.4 * rng.normal(size=(d, d)))
    if task == "regression":
        y = X[:, 0] + rng.normal(size=n)
        Y = unit_columns(y[:, None])
    else:
        y = rng.permutation(np.arange(n) % task).astype(str)
        X[:, 0] += np.arange(n) % 2
        Y = class_columns(y)
    # The last ones of a table with as many columns as rows are float noise.
    most = min(d, n - 3)
    wanted = literal(unit_columns(X), Y, most)
    names, correlations = path_of(pd.DataFrame(X).add_prefix("x"), y, most)
    assert names == [f"x{j}" for j, _ in wanted]
    assert correlations == pytest.approx([level for _, level in wanted], abs=1e-7)


@pytest.mark.parametrize("two_classes", [False, True])
@pytest.mark.parametrize("shape", [(60, 20), (30, 100), (200, 50)])
def test_with_one_target_column_it_is_least_angle_regression(shape, two_classes):
    rng = np.random.default_rng(shape[1])
    X = rng.normal(size=shape) @ (np.eye(shape[1]) + 0.1 * rng.normal(size=(shape[1], shape[1])))
    y = X[:, 0] - X[:, 3] + X[:, 5] + rng.normal(size=shape[0])
    target = (y > 0) if two_classes else y
    # Two columns of classes, centred, are multiples of one; together they have the norm 1, however large the classes.
    # The lasso's path is the same until a coefficient crosses 0 and leaves, which scikit-learn's "lar" gets wrong.
    levels, _, coefficients = lars_path(unit_columns(X), unit_columns(target[:, None])[:, 0], method="lasso")
    entered = []
    for before, after in itertools.pairwise((coefficients != 0).T):
        if (before & ~after).any():
            break
        entered += np.flatnonzero(after & ~before).tolist()
    assert len(entered) >= 6
    y = target.astype(str) if two_classes else y
    names, correlations = path_of(pd.DataFrame(X).add_prefix("x"), y, len(entered))
    assert names == [f"x{j}" for j in entered]
    assert correlations == pytest.approx(levels[: len(entered)] * shape[0], abs=1e-9)


def test_ends_when_nothing_is_left_to_explain():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(12, 30))).add_prefix("x")
    for y in (rng.normal(size=12), list("pqr" * 4)):
        names, correlations = path_of(X, y)
        # 12 centred rows have 11 dimensions.
        assert len(names) == 11
        assert correlations == sorted(correlations, reverse=True)
    X["target"] = np.arange(12) // 6
    assert path_of(X, X["target"].astype(str))[0] == ["target"]


def test_copies_and_combinations_are_passed_over():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(50, 5)), columns=list("abcde"))
    y = X["a"] + 0.7 * X["b"] + 0.3 * X["c"] + rng.normal(size=50)
    wanted = path_of(X, y)
    for name in "abc":
        doubled = X.assign(copy=X[name], turned=-3 * X[name] + 0.1, constant=0.1)
        assert path_of(doubled, y) == (wanted[0], pytest.approx(wanted[1]))
        # A copy whose name comes before takes its place, wherever it stands.
        assert path_of(X.assign(A=X[name]), y)[0] == ["A" if n == name else n for n in wanted[0]]
    total = X.assign(total=X["a"] + X["b"] + X["c"] + X["d"] + X["e"])
    names, _ = path_of(total, y)
    assert len(names) == 5


def test_redundant_features_wait():
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 300))
    y = np.digitize(first, [-0.5, 0.5]) * 3 + np.digitize(second, [-0.5, 0.5])
    X = pd.DataFrame({f"near{j}": first + 0.05 * rng.normal(size=300) for j in range(5)})
    X["second"] = second + rng.normal(size=300)
    marginal = bf.FisherMarkov(n_features=6).fit(X, y.astype(str)).selected_features_
    names, _ = path_of(X, y.astype(str))
    assert marginal[-1] == "second"
    assert names[0] == marginal[0]
    assert names[1] == "second"


def test_the_first_is_that_of_the_largest_share_between_classes():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 40).astype(str)
        X = pd.DataFrame(rng.normal(size=(40, 6))).add_prefix("x")
        X["level"] = rng.choice(list("uvw"), 40)
        X["flag"] = rng.random(40) < 0.5
        assert path_of(X, y, 1)[0] == bf.FisherMarkov(n_features=1).fit(X, y).selected_features_


def test_levels_are_taken_up_together():
    # Two levels are one column whatever they are called; three span what two indicators do.
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 90)
    level = np.where(rng.random(90) < 0.8, y, rng.integers(0, 3, 90))
    X = pd.DataFrame({"noise": rng.normal(size=90), "level": np.array(list("uvw"))[level], "late": rng.normal(size=90)})
    names, correlations = path_of(X, y.astype(str))
    assert names[0] == "level"
    assert path_of(X.assign(level=np.array(list("wuv"))[level]), y.astype(str)) == (names, pytest.approx(correlations))
    Z = class_columns(level)
    Z = Z * np.sqrt((Z > 0).sum(axis=0))
    Z = (Z - Z.mean(axis=0)) / np.linalg.norm(Z - Z.mean(axis=0))
    assert correlations[0] == pytest.approx(np.linalg.norm(Z.T @ class_columns(y)))
    two = pd.DataFrame({"text": np.where(y > 0, "far", "near"), "number": rng.normal(size=90)})
    assert path_of(two, y.astype(str)) == path_of(two.assign(text=(y > 0).astype(int)), y.astype(str))


def test_units_do_not_matter():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.integers(0, 9, size=(60, 6)), columns=list("abcdef"))
    y = X["a"] + X["b"] + rng.integers(0, 5, 60)
    scaled = X.assign(a=X["a"] * 2.0**1019, b=-X["b"] * 2.0**-1000)
    names, correlations = path_of(X, y * 2.0**1016, task="regression")
    assert path_of(scaled, y, task="regression") == (names, pytest.approx(correlations))
