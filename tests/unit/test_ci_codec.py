"""CODEC against a literal version of its paper's formula, its permutations, and what it finds."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blanketflow as bf
from blanketflow.core.errors import UnsupportedError
from levels import Level

N = 80


def table(n=N, seed=0):
    """Return numbers x, y, z, one with ties, and a label g of three levels, all dependent on z."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    g = np.digitize(z + rng.normal(size=n), [0, 1.2])
    columns = {"x": z + rng.normal(size=n), "y": z**2 + rng.normal(size=n), "z": z}
    return pd.DataFrame({**columns, "tied": np.round(columns["y"]), "g": np.array(["a", "b", "c"])[g]})


def bind(X, seed=0, **options):
    return bf.get_ci_test("codec", **options).bind(X, seed=seed)


def literal(X, y, near_xz, near_z, k=1):
    """Return T of Azadkia and Chatterjee, equations 2 and 3 of their section 2, with means over k neighbours."""
    n, values = len(X), X[y].to_numpy()
    R = [sum(values <= one) for one in values]
    L = [sum(values >= one) for one in values]
    of_xz = [np.mean([min(R[i], R[j]) for j in near_xz[i]]) for i in range(n)]
    if near_z is None:
        return sum(n * of_xz[i] - L[i] ** 2 for i in range(n)) / sum(L[i] * (n - L[i]) for i in range(n))
    of_z = [np.mean([min(R[i], R[j]) for j in near_z[i]]) for i in range(n)]
    return sum(of_xz[i] - of_z[i] for i in range(n)) / sum(R[i] - of_z[i] for i in range(n))


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("y", ["y", "tied"])
@pytest.mark.parametrize("given", [[], ["z"]])
def test_it_is_the_coefficient_of_the_paper(y, given, k):
    X = table()
    bound = bind(X, n_neighbors=k, n_permutations=1)
    # Ranks have many equal distances, so that which neighbours are nearest is the engine's choice among them.
    places = X[["x", "z"]].rank().to_numpy()
    columns = {"xz": [0, 1] if given else [0], "z": [1]}
    near = {}
    for name, use in columns.items():
        near[name] = bound.engine._others(tuple(2 * at for at in use))  # x and z are columns 0 and 2
        for i, rows in enumerate(near[name]):
            distances = np.abs(places[:, use] - places[i, use]).max(axis=1)
            assert i not in rows and len(set(rows)) == k
            assert sorted(distances[rows]) == sorted(np.delete(distances, i))[:k]
    expected = literal(X, y, near["xz"], near["z"] if given else None, k)
    assert bound.test("x", y, given).statistic == pytest.approx(expected, abs=1e-12)


def test_a_function_explains_everything_and_noise_nothing():
    rng = np.random.default_rng(0)
    x, noise, z = rng.normal(size=(3, 2000))
    X = pd.DataFrame({"x": x, "noise": noise, "z": z, "sum": x + z, "sign": np.where(x > 0, "+", "-")})
    bound = bind(X, n_neighbors=1, n_permutations=1)
    assert bound.test("x", "sum", ["z"]).statistic > 0.9
    assert bound.test("x", "sign").statistic > 0.95
    assert abs(bound.test("noise", "sum", ["z"]).statistic) < 0.1
    assert abs(bound.test("noise", "sum").statistic) < 0.1


@pytest.mark.parametrize(("y", "given"), [("y", []), ("y", ["g"]), ("g", []), ("tied", ["g"])])
def test_p_counts_the_permuted_tables_that_are_as_dependent(y, given):
    """Where permutations are exact, each is a table of its own."""
    X = table()
    bound = bind(X, n_permutations=20)
    moved = bound.engine.permutations(tuple(X.columns.get_loc(name) for name in given))
    permuted = [X.assign(**{y: X[y].to_numpy()[rows]}) for rows in moved]
    statistics = [bind(one, n_permutations=1).test("x", y, given).statistic for one in permuted]
    exceeding = sum(one >= statistics[0] - 1e-9 for one in statistics[1:])
    found = bound.test("x", y, given)
    assert found.statistic == pytest.approx(statistics[0])
    assert found.p_value == pytest.approx((1 + exceeding) / 21)


def test_rows_with_the_values_of_the_same_row_are_not_compared():
    from blanketflow.kernels.nearest_information import agreements

    y, near = np.array([[1.0], [2.0], [3.0]]), np.array([[1, 2], [0, 2], [0, 1]], dtype=np.int32)
    moved, totals = np.array([[0, 1, 2], [0, 0, 2]], dtype=np.int32), np.empty(2)
    agreements(y, np.zeros(1, dtype=bool), near, np.full(3, -1), moved, totals)
    assert totals.tolist() == [1.0 + (1.0 + 2.0) / 2 + (1.0 + 2.0) / 2, 1.0 + 1.0 + 1.0]


@pytest.mark.parametrize(
    ("y", "given"), [("y", ["g"]), ("tied", ["g"]), ("g", ["f"]), ("y", ["tied"]), ("g", ["tied"])]
)
def test_all_rows_that_are_equal_are_neighbours(y, given):
    """Labels, and numbers with many ties, against the means over all equal rows but those with the same row's Y."""
    X = table(120).drop(columns=["x", "z"])
    X["tied"] = np.where(X["tied"] > 0, 1.5, 0.25)
    X["f"], X["x"] = np.where(np.arange(120) % 3 == 0, "on", "off"), np.where(np.arange(120) % 2 == 0, "on", "off")
    bound, columns = bind(X, n_permutations=12), tuple(X.columns.get_loc(name) for name in ["x", *given])
    moved = bound.engine.permutations(columns[1:])
    values = X[y].tolist()
    shares = [np.mean(X[y] <= one) for one in values]

    def agreement(i, j):
        return float(values[i] == values[j]) if y == "g" else min(shares[i], shares[j])

    def mean_of(names, rows):
        groups = X.groupby(names, sort=False).indices
        of_row = {i: group for group in groups.values() for i in group}
        assert min(map(len, groups.values())) > (8 if "tied" in names else 1)
        near = [[j for j in of_row[i] if rows[j] != rows[i]] for i in range(len(X))]
        return sum(np.mean([agreement(rows[i], rows[j]) for j in near[i]]) for i in range(len(X)))

    found = bound.engine.statistics([columns[:1]], (X.columns.get_loc(y),), columns[1:])[0]
    for at in (0, 1, 12):
        rows = moved[at].tolist()
        of_xz, of_z, whole = mean_of(["x", *given], rows), mean_of(given, rows), sum(agreement(i, i) for i in rows)
        assert found[at] == pytest.approx((of_xz - of_z) / (whole - of_z), abs=1e-12)
    if given != ["tied"]:  # permutations only are drawn
        assert bind(X, 1).test("x", y, given).statistic == pytest.approx(found[0], abs=1e-12)


def test_labels_have_power_and_true_nulls_of_labels_are_rejected_as_often_as_they_should():
    def p_value(seed, effect):
        rng = np.random.default_rng(seed)
        z, x = rng.integers(3, size=100), rng.integers(4, size=100)
        y = effect * (x == 1) + z + rng.normal(size=100)
        X = pd.DataFrame({"x": x.astype(str), "y": y, "z": z.astype(str)})
        return bind(X, seed, n_permutations=19).test("x", "y", ["z"]).p_value

    rejected = [sum(p_value(seed, effect) <= 0.05 for seed in range(200)) for effect in (0.0, 1.5)]
    assert stats.binomtest(rejected[0], 200, 0.05).pvalue > 1e-3
    assert rejected[1] > 150


def test_it_finds_any_form_of_dependence():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 400))
    flags = rng.random((2, 400)) < 0.5
    X = pd.DataFrame(
        {"x": x, "z": z, "square": x**2 + 0.5 * rng.normal(size=400), "scale": np.exp(x) * rng.normal(size=400)}
    )
    X["wave"] = 2 * np.sin(5 * x) + rng.normal(size=400)
    X["one"], X["other"], X["xor"] = *flags, flags[0] ^ flags[1] ^ (rng.random(400) < 0.2)
    bound = bind(X)
    for asked in (
        ("x", "square", ["z"]),
        ("x", "wave", ["z"]),
        ("x", "scale", []),
        ("one", "xor", ["other"]),
        (["x", "z"], "square", []),
        (["one", "other"], "xor", []),
    ):
        assert bound.test(*asked).p_value < 0.01, asked
    assert bound.test("x", "z", ["one"]).p_value > 0.01


def test_sets_of_targets_are_one_variable():
    rng = np.random.default_rng(1)
    flags = rng.random((2, 300)) < 0.5
    X = pd.DataFrame({"one": flags[0], "other": flags[1], "xor": flags[0] ^ flags[1], "noise": rng.normal(size=300)})
    engine = bind(X).engine
    assert engine.evaluate_pair((2,), (0, 1), ()).p_value[0] < 0.01  # none of the two alone depends on it
    assert engine.evaluate_pair((3,), (0, 1), ()).p_value[0] > 0.01
    assert bind(X).test("xor", "one").p_value > 0.01


def test_the_order_of_columns_and_candidates_does_not_matter():
    X = table(150)
    found = bind(X, 3).test_many(["x", "z", "tied"], "y", ["g"]).p_value.tolist()
    turned = bind(X[X.columns[::-1]], 3)
    assert [turned.test(one, "y", ["g"]).p_value for one in ("x", "z", "tied")] == found


def test_too_few_rows_rounding_constants_weights_and_the_smallest_p():
    X = table(100)
    X["rounded"], X["constant"] = 1e15 + X["x"].round(0), 1.0
    assert not bind(X).test("x", "rounded").reliable
    assert bind(X).test("x", "constant").p_value == 1.0
    assert not bind(X[:20]).test("x", "y").reliable and bind(X[:21]).test("x", "y").reliable
    test = bf.get_ci_test("codec", n_permutations=99)
    assert test.smallest_p() == 0.01 and "set n_permutations to at least 999" in test.to_reach(0.001)
    with pytest.raises(UnsupportedError, match="codec draws, permutes or compares single rows"):
        test.bind(X, sample_weight=np.tile([1, 2], 50))


@pytest.mark.extended
@pytest.mark.parametrize("bend", [np.negative, np.square])
def test_level(bend):
    def is_rejected(seed):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=200)
        X = pd.DataFrame({"x": bend(z) + rng.normal(size=200), "y": bend(z) + rng.normal(size=200), "z": z})
        return bind(X, seed, n_permutations=39).test("x", "y", ["z"]).p_value <= 0.05

    assert not Level(400, 1e-4, 0.07).is_exceeded(map(is_rejected, range(400)))
