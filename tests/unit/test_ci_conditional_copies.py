"""Copies that keep the relation of X to Z, in the PPI test: against a literal rendering, and its error rates."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import blanketflow as bf
from blanketflow.ci.predictive.conditional_copies import ConditionalCopies
from blanketflow.ci.predictive.risk_differences import draw_repeats
from blanketflow.ci.spline_functions import functions_of
from blanketflow.core.errors import UnsupportedError
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import Column, Table
from blanketflow.moves.backward import BackwardElimination
from literal import LiteralCart, LiteralRegression, ppi, ppi_risks
from studies.calibration.designs import sample

SEED, B, TEST_SIZE, N = 7, 6, 0.25, 60


def columns_of(kind, n=N, n_given=2):
    """Return a column X that depends on others, and those."""
    rng = np.random.default_rng((len(kind), n, n_given))
    Z = rng.normal(size=(n, n_given))
    shift = Z[:, 0] ** 2 + Z[:, -1]
    if kind == "number":
        return np.column_stack([shift + np.exp(Z[:, 0] / 2) * rng.normal(size=n), Z])
    if kind == "count":
        return np.column_stack([rng.poisson(np.exp(np.clip(shift / 2, -2, 2))), Z]).astype(float)
    if kind == "function":
        return np.column_stack([shift, Z])
    return np.column_stack([np.digitize(shift + rng.normal(size=n), [0, 1.5]), Z]).astype(float)


def table_of(X, y, is_label):
    x = Column("x0", "categorical", X[:, 0].astype(np.int32), ("a", "b", "c")) if is_label else None
    numbers = [Column(f"x{j}", "numeric", X[:, j]) for j in range(X.shape[1])]
    if y.dtype.kind == "f":
        target = Column("y", "numeric", y)
    else:
        target = Column("y", "categorical", y, tuple(str(c) for c in range(y.max() + 1)))
    return Table([x or numbers[0], *numbers[1:], target])


def literal_fit(functions, y):
    """Return the ridge regression with the least generalised cross-validation error, penalty by penalty."""
    n, best = len(y), (np.inf, None)
    products = functions @ functions.T
    fits = []
    for penalty in np.geomspace(1e-4, 1e2, 13):
        hat = functions.T @ np.linalg.solve(products + penalty * np.eye(len(functions)), functions)
        fits.append((np.trace(hat), y.mean() + hat @ (y - y.mean())))
    most = max(n / 2, min(freedom for freedom, _ in fits) * (1 + 1e-9))
    for freedom, fit in fits:
        error = np.sum((y - fit) ** 2) / (n - 1 - freedom) ** 2
        if freedom <= most and error < best[0]:
            best = error, fit
    return best[1]


def literal_sources(X, is_label, repeats, seed):
    """Return the row whose value of the first column each test row gets, given all others, row by row."""
    n, n_given = len(X), X.shape[1] - 1
    most = min(max(n // (4 * n_given), 1), 8)
    given = [functions_of(Column("z", "numeric", X[:, j]), most) for j in range(1, n_given + 1)]
    functions, x = np.vstack(given), X[:, 0]
    found = []
    if is_label:
        levels = range(int(x.max()) + 1)
        shares = np.maximum([literal_fit(functions, (x == level).astype(float)) for level in levels], 0.0).T
        upper = np.cumsum(shares, axis=1) / shares.sum(axis=1)[:, np.newaxis]
        for b, (rows, moved) in enumerate(zip(repeats.test_rows, repeats.permuted_rows, strict=True)):
            draws = derive_rng(seed, "repeat", b, "level", "x0").random(len(rows))
            rank = {}
            for row, draw in zip(rows, draws, strict=True):
                level = int(x[row])
                below = upper[row, level - 1] if level else 0.0
                rank[row] = below + draw * (upper[row, level] - below)
            of_repeat = []
            for row, source in zip(rows, moved, strict=True):
                level = next(k for k in levels if rank[source] < upper[row, k] or k == levels[-1])
                same = [other for other in rows if x[other] == level]
                of_repeat.append(same[0] if same else row)
            found.append(of_repeat)
        return np.array(found)
    expected = literal_fit(functions, x)
    left = x - expected
    size = np.abs(left)
    spread = np.exp(literal_fit(functions, np.log(size + 0.05 * size.mean())))
    for rows, moved in zip(repeats.test_rows, repeats.permuted_rows, strict=True):
        of_repeat = []
        for row, source in zip(rows, moved, strict=True):
            wanted = expected[row] + spread[row] * left[source] / spread[source]
            of_repeat.append(min(rows, key=lambda other: (abs(x[other] - wanted), x[other])))
        found.append(of_repeat)
    return np.array(found)


def target(X, n_classes):
    signal = X[:, 0] + X[:, 1] + np.random.default_rng(5).normal(size=len(X))
    return np.digitize(signal, np.quantile(signal, [1 / 3, 2 / 3])) if n_classes else signal


@pytest.mark.parametrize("kind", ["number", "count", "label"])
@pytest.mark.parametrize("model", ["tree", GaussianNB()])
@pytest.mark.parametrize("n_given", [1, 2, 70])
def test_p_equals_a_literal_rendering(kind, model, n_given):
    X, is_label = columns_of(kind, n_given=n_given), kind == "label"
    y, repeats, given = target(X, 3), draw_repeats(N, B, TEST_SIZE, SEED), list(range(1, n_given + 1))
    sources = literal_sources(X, is_label, repeats, SEED)
    copied = ConditionalCopies(table_of(X, y, is_label), repeats, SEED).sources(0, given)
    rows = np.take_along_axis(repeats.test_rows, copied, axis=1)
    assert np.array_equal(X[rows, 0], X[sources, 0])
    if is_label and model != "tree":
        return  # other models learn labels by indicators
    literal = LiteralCart if model == "tree" else GaussianNB
    wanted, mean = ppi(X, y, 0, given, replace(repeats, permuted_rows=sources), literal, "classification")
    options = {"n_repeats": B, "test_size": TEST_SIZE, "copies": "conditional", "model": model}
    found = bf.get_ci_test("ppi", **options).bind(table_of(X, y, is_label), seed=SEED).test(0, "y", given)
    assert (found.p_value, found.statistic) == pytest.approx((wanted, mean), abs=1e-11)


def test_a_numeric_target_equals_the_literal_rendering():
    X, repeats = columns_of("number"), draw_repeats(N, B, TEST_SIZE, SEED)
    y = target(X, 0)
    moved = replace(repeats, permuted_rows=literal_sources(X, False, repeats, SEED))
    risks, replaced = ppi_risks(X, y, 0, [1, 2], moved, LiteralRegression, "regression")
    options = {"n_repeats": B, "test_size": TEST_SIZE, "copies": "conditional"}
    found = bf.get_ci_test("ppi", **options).bind(table_of(X, y, False), seed=SEED).test(0, "y", [1, 2])
    assert found.statistic == pytest.approx(np.mean(np.subtract(replaced, risks)), rel=1e-9)


@pytest.mark.parametrize("model", ["tree", "binned-tree", "logistic"])
def test_the_copy_given_nothing_is_the_permuted_column(model):
    X = columns_of("number")
    table = table_of(X, target(X, 3), False)
    tests = [bf.get_ci_test("ppi", n_repeats=B, model=model, copies=c) for c in ("permuted", "conditional")]
    one, other = (test.bind(table, seed=SEED).test_many([0, 1, 2], "y") for test in tests)
    assert np.array_equal(one.p_value, other.p_value)


@pytest.mark.parametrize("model", ["tree", "binned-tree", "logistic"])
def test_a_function_of_the_given_columns_is_its_own_copy(model):
    X = columns_of("function", n=200)
    bound = bf.get_ci_test("ppi", n_repeats=B, model=model, copies="conditional").bind(table_of(X, target(X, 3), False))
    assert bound.test(0, "y", [1, 2]).p_value > 0.1
    assert bf.get_ci_test("ppi", n_repeats=30, model=model).bind(bound.table).test(0, "y", [1, 2]).p_value < 0.01


@pytest.mark.parametrize("model", ["tree", "binned-tree", "logistic"])
def test_backward_elimination_makes_the_tests_of_each_set(model):
    X = columns_of("number", n_given=4)
    table, members = table_of(X, target(X, 3), False), [f"x{j}" for j in range(5)]
    test = bf.get_ci_test("ppi", n_repeats=B, model=model, copies="conditional")
    together = BackwardElimination(test.bind(table, seed=SEED), members, "y")
    for dropped in ("x3", "x1", "x4"):
        for x in members:
            alone = test.bind(table, seed=SEED).test(x, "y", [other for other in members if other != x])
            assert together.test(x) == alone
        together.drop(dropped)
        members.remove(dropped)


@pytest.mark.parametrize("design", ["correlated", "squares", "near_function", "functions", "copied", "variances"])
def test_a_true_null_is_kept_where_permuting_rejects_it(design):
    rejected = {"permuted": 0, "conditional": 0}
    for number in range(20):
        frame = sample(design, 200, 3, number)
        for copies in rejected:
            test = bf.get_ci_test("ppi", copies=copies, significance="corrected-t").bind(frame, seed=number)
            rejected[copies] += test.test("x", "t", given=["z1", "z2", "z3"]).p_value <= 0.05
    # 4 of 20 or more have probability 0.016 at a rate of 0.05.
    assert rejected["conditional"] < 4
    if design in ("correlated", "near_function", "functions", "copied"):
        assert rejected["permuted"] > 15


@pytest.mark.parametrize("asked", ["groups", "sets"])
def test_what_it_cannot_take_is_refused(asked):
    X = columns_of("number")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=target(X, 3).astype(str))
    test = bf.get_ci_test("ppi", copies="conditional")
    with pytest.raises(UnsupportedError, match="Use the test cpi, or leave copies out"):
        if asked == "sets":
            test.bind(frame).test(("a", "b"), "y", given=["c"])
        else:
            bf.PPFS(ci_test=bf.get_ci_test("ppi", copies="conditional", permute="within-clusters")).fit(
                frame.drop(columns="y"), frame["y"], groups=np.arange(N) // 4
            )
