"""HSIC against its definition in plain loops, exhaustive permutations, hand-worked tables and simulations."""

import itertools
import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blanketflow as bf
from blanketflow.ci.kernel import hsic_null as null
from blanketflow.ci.kernel import kernel_features as kernel_features_module
from blanketflow.ci.kernel.kernel_features import JointKernel, kernel_features
from blanketflow.core.errors import ParameterError
from blanketflow.core.limits import LimitReached, Limits
from blanketflow.core.table import Column, Table


def table(n, seed=0):
    """Return a table of every kind of column, named so that their order by name is not that of the table."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    return Table(
        [
            Column("f", "numeric", a),
            Column("e", "numeric", np.exp(a) + rng.normal(size=n)),
            Column("d", "integer", rng.integers(0, 5, n)),
            Column("c", "boolean", (a + rng.normal(size=n) > 0).astype(np.int8)),
            Column("b", "categorical", (rng.integers(0, 2, n) + (a > 0)).astype(np.int32), ("u", "v", "w")),
            Column("a", "numeric", rng.standard_cauchy(n)),
        ]
    )


def bind(table, seed=0, **options):
    return bf.get_ci_test("hsic", **options).bind(table, seed=seed)


def numeric(*columns):
    return Table([Column(f"x{j}", "numeric", column) for j, column in enumerate(columns)])


# The definition, literally.


def literal_kernel(columns):
    """Return K of the joint vector of some columns, one cell at a time."""
    n = len(columns[0].values)
    numbers = [column.numbers() for column in columns if not column.is_discrete]
    numbers = [(x - np.mean(x)) / (np.std(x) or 1.0) for x in numbers]
    discrete = [column.values for column in columns if column.is_discrete]
    distance = [[math.sqrt(sum((x[i] - x[j]) ** 2 for x in numbers)) for j in range(n)] for i in range(n)]
    positive = [distance[i][j] for i in range(n) for j in range(i) if distance[i][j] > 0]
    sigma = np.median(positive) if positive else 1.0
    K = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            K[i, j] = math.exp(-(distance[i][j] ** 2) / (2 * sigma**2)) * all(x[i] == x[j] for x in discrete)
    return K


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def literal_residual(K, Kz, ridge):
    R = ridge * np.linalg.inv(centred(Kz) + ridge * np.eye(len(K)))
    return R @ centred(K) @ R


SETS = [("f",), ("d",), ("c",), ("b",), ("a",), ("f", "e"), ("b", "c"), ("f", "b"), ("a", "c", "d", "e")]


@pytest.mark.parametrize("x", SETS)
@pytest.mark.parametrize("y", ["e", "b"])
def test_equals_the_definition(x, y):
    if y in x:
        pytest.skip("X and T are different columns")
    data = table(30)
    K, L = centred(literal_kernel([data[name] for name in x])), centred(literal_kernel([data[y]]))
    statistic = sum(K[i, j] * L[j, i] for i in range(30) for j in range(30))
    moments = null.permutation_moments(literal_traces(K), literal_traces(L), 30)
    found = bind(data).test(list(x), y)
    assert found.statistic == pytest.approx(statistic / 29**2, rel=1e-9)
    assert found.p_value == pytest.approx(gamma_sf(statistic, *moments), rel=1e-6, abs=1e-12)
    assert (found.dof, found.n, found.reliable) == (1.0, 30, True)


@pytest.mark.parametrize("x", [("f",), ("c",), ("a",), ("f", "c"), ("a", "c")])
@pytest.mark.parametrize("given", [("d",), ("b",), ("d", "b")])
def test_given_z_equals_the_definition(x, given):
    data, n, ridge = table(30), 30, 0.05
    Kz, K, L = (literal_kernel([data[name] for name in (*side, *given)]) for side in ((), x, ("e",)))
    K, L = literal_residual(K, Kz, ridge), literal_residual(L, Kz, ridge)
    statistic = np.trace(K @ L)
    mean = sum(K[i, i] * L[i, i] for i in range(n))
    variance = 2 * sum((K[i, j] * L[i, j]) ** 2 for i in range(n) for j in range(n))
    found = bind(data, ridge=ridge).test(list(x), "e", given)
    assert found.statistic == pytest.approx(statistic / (n - 1) ** 2, rel=1e-7)
    assert found.p_value == pytest.approx(gamma_sf(statistic, mean, variance), rel=1e-6)


def literal_traces(K):
    return np.trace(K), np.trace(K @ K), np.sum(np.diag(K) ** 2)


def gamma_sf(statistic, mean, variance):
    return stats.gamma.sf(statistic, mean**2 / variance, scale=variance / mean)


@pytest.mark.parametrize("pair", [("f", "e"), ("f", "b"), ("c", "d"), ("a", "f")])
def test_moments_are_those_of_all_permutations(pair):
    K, L = (centred(literal_kernel([table(6)[name]])) for name in pair)
    every = [np.sum(K * L[np.ix_(order, order)]) for order in itertools.permutations(range(6))]
    found = null.permutation_moments(literal_traces(K), literal_traces(L), 6)
    np.testing.assert_allclose(found, (np.mean(every), np.var(every)), rtol=1e-9)


def test_moments_of_residuals_are_those_of_all_signs():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    every = [np.sum((a.T @ np.diag(signs) @ b) ** 2) for signs in itertools.product((-1, 1), repeat=8)]
    mean, variance = null.residual_moments(a, b, np.arange(8))
    fixed = 2 * np.sum(np.sum(a * a, axis=1) ** 2 * np.sum(b * b, axis=1) ** 2)  # squared signs do not vary
    np.testing.assert_allclose((mean, variance - fixed), (np.mean(every), np.var(every)), rtol=1e-9)
    drawn = null.multiplied(a, b, 200_000, np.random.default_rng(1))
    np.testing.assert_allclose((np.mean(drawn), np.var(drawn)), (mean, variance), rtol=0.05)


def test_multipliers_are_drawn_as_they_are_said_to_be(monkeypatch):
    a, b = np.random.default_rng(2).normal(size=(2, 9, 2))
    wanted = [np.sum((a.T @ np.diag(g) @ b) ** 2) for g in np.random.default_rng(3).normal(size=(20, 9))]
    for block in (2**22, 30):  # at once, and three rows at a time
        monkeypatch.setattr(null, "BLOCK", block)
        np.testing.assert_allclose(null.multiplied(a, b, 20, np.random.default_rng(3)), wanted, rtol=1e-9)


# By hand.


def test_levels_give_the_squared_distances_of_counts_from_expected_counts():
    # Counts 2 1 / 0 2 / 1 0, expected 1.5 1.5 / 1 1 / .5 .5: 6 squares of sum 3, over (6 - 1)^2.
    x, y = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 0])
    data = Table([Column("x", "categorical", x, ("r", "s", "t")), Column("y", "boolean", y.astype(np.int8))])
    assert bind(data).test("x", "y").statistic == pytest.approx(3 / 25, rel=1e-12)


@pytest.mark.parametrize("pair", [("f", "e"), ("c", "b"), ("d", "e")])
def test_drawn_permutations_come_near_to_all(pair):
    data = table(7, seed=3)
    K, L = (centred(literal_kernel([data[name]])) for name in pair)
    observed = np.sum(K * L) * (1 - 1e-9)
    every = [np.sum(K * L[np.ix_(order, order)]) >= observed for order in itertools.permutations(range(7))]
    p = np.mean(every)
    found = bind(data, null="permutation", n_permutations=4000).test(*pair)
    assert found.p_value == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 4000) + 1 / 4000)
    assert found.log_p == pytest.approx(math.log(found.p_value))


# Many rows.


def test_all_rows_as_landmarks_are_exact_and_few_are_near():
    data = table(300)
    for names in (("f",), ("f", "d"), ("e", "b")):
        columns = [data[name] for name in names]
        exact = centred(literal_kernel(columns))
        phi = kernel_features(columns, 300)
        np.testing.assert_allclose(phi @ phi.T, exact, atol=1e-6)
        few = kernel_features(columns, 60)
        assert few.shape[1] <= 60
        assert np.linalg.norm(few @ few.T - exact) < 0.05 * np.linalg.norm(exact)
    near, exact = bind(data, n_landmarks=60).test("f", "e", ["d"]), bind(data).test("f", "e", ["d"])
    assert near.statistic == pytest.approx(exact.statistic, rel=0.05)
    assert near.log_p == pytest.approx(exact.log_p, rel=0.05)


@pytest.mark.parametrize(("n", "options"), [(20_000, {}), (8_000, {"null": "permutation", "n_permutations": 20})])
def test_no_matrix_of_all_rows_is_held(n, options):
    bound = bind(numeric(*np.random.default_rng(0).normal(size=(3, n))), n_landmarks=50, **options)
    tracemalloc.start()
    bound.test("x0", "x1")
    bound.test("x0", "x1", ["x2"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n**2 / 4


# What must not matter.


@pytest.mark.parametrize("options", [{}, {"null": "permutation", "n_permutations": 99}])
def test_x_and_t_can_be_swapped(options):
    for given in ([], ["d"], ["b", "a"]):
        there, back = (bind(table(40), **options).test(*pair, given) for pair in (("f", "c"), ("c", "f")))
        np.testing.assert_allclose(there[:4], back[:4], rtol=1e-9)


@pytest.mark.parametrize("given", [[], ["d"]])
def test_order_of_rows_units_and_names_of_levels_do_not_matter(given):
    data = table(60)
    wanted = bind(data).test_many(["e", "b", ["a", "c"]], "f", given)
    shuffled = data.take(np.random.default_rng(1).permutation(60))
    recoded = Table(
        [
            Column(c.name, c.kind, (2 - c.values).astype(np.int32), ("w", "v", "u"))
            if c.name == "b"
            else Column(c.name, "numeric", 1e9 - 3e7 * c.numbers())
            if c.kind == "numeric"
            else c
            for c in data.columns
        ]
    )
    for other in (shuffled, recoded):
        found = bind(other).test_many(["e", "b", ["a", "c"]], "f", given)
        np.testing.assert_allclose(found.statistic, wanted.statistic, rtol=1e-6)
        np.testing.assert_allclose(found.log_p, wanted.log_p, rtol=1e-5)


def test_a_constant_adds_nothing_to_a_set():
    data = Table([*table(40).columns, Column("one", "numeric", np.ones(40)), Column("yes", "boolean", np.ones(40))])
    bound = bind(data)
    for given in ([], ["d"]):
        assert bound.test(["e", "one", "yes"], "f", given)[:3] == pytest.approx(bound.test("e", "f", given)[:3])
        assert bound.test("one", "f", given)[:3] == (0.0, 1.0, 0.0)
        assert bound.test("f", "yes", given)[:3] == (0.0, 1.0, 0.0)


def test_a_column_of_different_levels_says_nothing():
    levels = tuple(f"id {i:02d}" for i in range(40))
    data = Table([*table(40).columns, Column("id", "categorical", np.arange(40, dtype=np.int32), levels)])
    for options in ({}, {"null": "permutation", "n_permutations": 99}):
        assert bind(data, **options).test("id", "f").p_value == 1.0


def test_too_few_rows_are_not_reliable():
    for n in (1, 2, 3):
        assert bind(table(n)).test("f", "e")[:3] == (0.0, 1.0, 0.0)
        assert not bind(table(n)).test("f", "e", ["d"]).reliable
    assert bind(table(4)).test("f", "e").reliable


def test_strong_dependence_keeps_its_order_where_p_underflows():
    rng = np.random.default_rng(0)
    a = rng.normal(size=2000)
    bound = bind(numeric(a, a + 0.01 * rng.normal(size=2000), a + 0.1 * rng.normal(size=2000)))
    nearest, near = bound.test("x0", "x1"), bound.test("x0", "x2")
    assert nearest.p_value == near.p_value == 0.0
    assert -math.inf < nearest.log_p < near.log_p < -745


# What it finds, and how often it errs.


def rejections(draw, n_samples, given, **options):
    """Return the share of samples in which x0 and x1 are dependent at alpha 0.05."""
    rng = np.random.default_rng(0)
    p = [bind(numeric(*draw(rng)), seed=i, **options).test("x0", "x1", given).p_value for i in range(n_samples)]
    return np.mean(np.array(p) <= 0.05)


def through(rng, n, coefficient=0.0):
    """Return X <- Z -> T, and X -> T by a coefficient."""
    z, x, t = rng.normal(size=(3, n))
    return z + x, z + coefficient * x + t, z


@pytest.mark.extended
@pytest.mark.parametrize("options", [{}, {"null": "permutation", "n_permutations": 99}])
def test_true_nulls_are_rejected_at_about_the_level(options):
    # 200 samples at 0.05: between 0.01 and 0.11 but for one time in a thousand.
    assert 0.01 <= rejections(lambda rng: rng.normal(size=(2, 50)), 200, [], **options) <= 0.11
    assert 0.01 <= rejections(lambda rng: through(rng, 100), 200, ["x2"], **options) <= 0.11
    assert rejections(lambda rng: through(rng, 100), 20, [], **options) > 0.9


def test_finds_what_a_linear_test_cannot():
    def square(rng):
        x = rng.normal(size=100)
        return x, x**2 + 0.5 * rng.normal(size=100)

    def sign(rng):
        x, z, noise = rng.normal(size=(3, 200))
        return x, np.sign(z) * x + noise, z

    assert rejections(square, 20, []) == 1.0
    assert rejections(sign, 20, ["x2"]) == 1.0
    assert rejections(lambda rng: through(rng, 100, 0.7), 20, ["x2"]) > 0.9
    a, b = np.tile([0, 0, 1, 1], 20), np.tile([0, 1, 0, 1], 20)
    xor = bind(Table([Column(name, "boolean", x) for name, x in (("a", a), ("b", b), ("t", a ^ b))]))
    assert xor.test("a", "t").p_value > 0.5
    assert xor.test("a", "t", ["b"]).p_value < 1e-6
    assert xor.test(["a", "b"], "t").p_value < 1e-6


def test_a_copy_of_z_is_rarely_rejected():
    def copy(rng):
        z, t = rng.normal(size=(2, 100))
        return z, z + t, z.copy()

    assert rejections(copy, 50, ["x2"]) <= 0.1


# Statistics alone.


def mixed(n, seed=0):
    """Return columns of which some are equal in many rows, more of them without `g`."""
    rng = np.random.default_rng(seed)
    return Table(
        [
            *table(n, seed).columns,
            Column("g", "numeric", rng.normal(size=n)),
            Column("i", "integer", rng.integers(0, 3, n)),
            Column("h", "boolean", rng.integers(0, 2, n).astype(np.int8)),
        ]
    )


@pytest.mark.parametrize("n_landmarks", [500, 40])
@pytest.mark.parametrize("y", ["e", "b"])
def test_statistics_are_those_of_tests(n_landmarks, y):
    data = mixed(120)
    bound, other = bind(data, n_landmarks=n_landmarks), bind(data, n_landmarks=n_landmarks)
    asked = ["f", ["f", "c"], ["g"], ["i", "h"], ["a", "d", "h"], "c", ["c", "f"]]
    wanted = other.test_many(asked, y).statistic
    np.testing.assert_allclose(bound.statistics(asked, y), wanted, rtol=1e-6)
    assert bound.n_tests == other.n_tests == 6  # one is asked for twice
    bound.statistics([["f", "c"], ["a", "d", "h"]], y)
    assert bound.n_tests == 6
    other.statistics(asked, y)
    assert other.n_tests == 6


SETS_TO_LEAVE = [
    ["f", "g"],
    ["d", "i", "h"],
    ["g", "i", "h", "d"],
    ["a", "b", "c", "d", "f", "g", "h"],
    ["c", "h", "b"],
]


@pytest.mark.parametrize("columns", SETS_TO_LEAVE, ids="".join)
@pytest.mark.parametrize("n_landmarks", [500, 40])
@pytest.mark.parametrize("blocks", [{}, {"BLOCK": 900, "LANDMARK_BLOCK": 900, "HELD_BYTES": 1, "MEDIAN_ROWS": 50}])
def test_leaving_each_out_is_testing_each_rest(columns, n_landmarks, blocks, monkeypatch):
    for name, value in blocks.items():  # many blocks of rows, one column at a time
        monkeypatch.setattr(kernel_features_module, name, value)
    bound = bind(mixed(150), n_landmarks=n_landmarks)
    found = bound.statistics_without_each(columns, "e")
    assert bound.n_tests == len(columns)
    rests = [[other for other in columns if other != left_out] for left_out in columns]
    np.testing.assert_allclose(found, bound.statistics(rests, "e"), rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(found, bound.test_many(rests, "e").statistic, rtol=1e-6, atol=1e-15)


def test_statistics_refuse_what_tests_refuse():
    bound = bind(table(20))
    for ask in (lambda: bound.statistics(["f", ["e", "b"]], "e"), lambda: bound.statistics_without_each("fe", "e")):
        with pytest.raises(ParameterError, match="different columns"):
            ask()
    for columns in ("f", "ff"):
        with pytest.raises(ParameterError, match="at least two different columns"):
            bound.statistics_without_each(list(columns), "e")
    few = bind(table(3))
    assert few.statistics(["f", ["f", "c"]], "e").tolist() == [0, 0]
    assert few.statistics_without_each(["f", "c"], "e").tolist() == [0, 0]


def test_statistics_of_constants_are_zero():
    data = Table([*table(40).columns, Column("one", "numeric", np.ones(40)), Column("yes", "boolean", np.ones(40))])
    bound = bind(data)
    np.testing.assert_allclose(bound.statistics(["one", "yes", ["one", "yes"]], "f"), 0, atol=1e-15)
    np.testing.assert_allclose(bound.statistics_without_each(["one", "yes", "f"], "e")[2], 0, atol=1e-15)
    np.testing.assert_allclose(bound.statistics(["f", ["f", "e"]], "one"), 0, atol=1e-15)


def test_statistics_spend_the_allowance():
    bound = bind(table(30))
    bound.allowance = Limits(max_tests=3).start()
    bound.statistics(["f", "c"], "e")
    with pytest.raises(LimitReached):
        bound.statistics_without_each(["f", "c"], "e")
    bound.statistics([["f", "c"]], "e")
    with pytest.raises(LimitReached):
        bound.statistics([["f", "b"]], "e")
    assert bound.n_tests == 3


def test_kernels_of_sets_are_never_held_whole():
    n, n_landmarks = 20_000, 1000
    bound = bind(numeric(*np.random.default_rng(0).normal(size=(4, n))), n_landmarks=n_landmarks)
    bound.statistics(["x1"], "x0")
    tracemalloc.start()
    for ask in (
        lambda: bound.statistics([["x1", "x2", "x3"]], "x0"),
        lambda: bound.statistics_without_each(["x1", "x2", "x3"], "x0"),
    ):
        tracemalloc.reset_peak()
        ask()
        assert tracemalloc.get_traced_memory()[1] < 8 * n * n_landmarks * 0.75
    tracemalloc.stop()


def test_a_triangle_of_the_kernel_holds_what_is_read_and_nothing_else(monkeypatch):
    step = kernel_features_module.STEP
    rows = np.arange(2 * step + 37)
    kernel = JointKernel([Column("x", "numeric", np.random.default_rng(4).normal(size=len(rows)))])
    whole = kernel(rows, rows)
    monkeypatch.setattr(np, "empty", lambda shape, *rest, **options: np.full(shape, np.nan))  # as memory may be
    found = kernel.lower(rows)
    assert np.array_equal(np.tril(found), np.tril(whole))
    assert not found[rows[:, np.newaxis] // step < rows // step].any()


FUNCTIONS = [np.square, np.sin, np.exp, np.round, lambda z: np.where(z > 0.3, 2.0, -1.0)]


@pytest.mark.parametrize("null", ["gamma", "permutation"])
@pytest.mark.parametrize("x, y", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
def test_nothing_is_left_of_functions_of_the_given_column(x, y, null):
    rng = np.random.default_rng(x)
    z, noise = rng.normal(size=(2, 200))
    columns = np.column_stack([FUNCTIONS[x](z), FUNCTIONS[y](z), z, z + 0.3 * noise])
    bound = bf.get_ci_test("hsic", null=null).bind(columns)
    for first, second in ((0, 1), (1, 0), (0, 3)):
        found = bound.test(first, second, given=[2])
        assert (found.statistic, found.p_value, found.reliable) == (0.0, 1.0, True)
    assert bound.test(0, 1).p_value < 0.01


def test_a_label_of_which_the_given_one_is_a_finer_one_has_nothing_left():
    rng = np.random.default_rng(0)
    code, noise = rng.integers(0, 6, 300), rng.integers(0, 3, 300)
    frame = pd.DataFrame({"code": code, "part": code // 2, "y": (code + noise) // 3, "other": noise}).astype(str)
    bound = bf.get_ci_test("hsic").bind(frame)
    assert bound.test("part", "y", given=["code"]).p_value == 1.0
    assert bound.test("other", "y", given=["code"]).p_value < 1e-4
    assert bound.test("code", "y", given=["part"]).p_value < 1e-4


def test_noise_beside_a_function_of_the_given_column_is_tested():
    rng = np.random.default_rng(1)
    z, u, e = rng.normal(size=(3, 300))
    bound = bf.get_ci_test("hsic").bind(np.column_stack([np.sin(z) + 0.3 * u, z**2 + 0.3 * u + 0.1 * e, z]))
    assert bound.test(0, 1, given=[2]).p_value < 1e-6
