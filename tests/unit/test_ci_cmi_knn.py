"""CMI by nearest neighbours against a literal version, its permutations, and what it finds."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import digamma

import blanketflow as bf
from blanketflow.core.errors import UnsupportedError
from blanketflow.kernels.nearest_information import local_permutations
from levels import Level

N = 60


def table(n=N, seed=0):
    """Return numbers x, y, z, one with ties, and a label g of three levels, all dependent on z."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    g = np.digitize(z + rng.normal(size=n), [0, 1.2])
    columns = {"x": z + rng.normal(size=n), "y": z**2 + rng.normal(size=n), "z": z}
    return pd.DataFrame({**columns, "tied": np.round(z), "g": np.array(["a", "b", "c"])[g]})


def bind(X, seed=0, **options):
    return bf.get_ci_test("cmi-knn", **options).bind(X, seed=seed)


def literal(X, x, y, given, k, moved=range(N)):
    """Return the estimate of Mesner and Shalizi's algorithm 1, with distances of ranks, row by row; X is permuted."""
    places = {name: list(X[name]) if name == "g" else list(X[name].rank()) for name in X}
    places.update({name: [places[name][row] for row in moved] for name in x})

    def distance(names, i, j):
        found = [0.0]
        for name in names:
            one, other = places[name][i], places[name][j]
            found.append((np.inf if one != other else 0.0) if name == "g" else abs(one - other))
        return max(found)

    n, total = len(X), 0.0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        near = sorted(distance([*x, y, *given], i, j) for j in others)
        rho = near[k - 1]
        n_near = sum(one == 0 for one in near) if rho == 0 else k
        n_xz, n_yz, n_z = (
            sum(distance(names, i, j) <= rho for j in others) for names in ([*x, *given], [y, *given], given)
        )
        total += digamma(n_near) - digamma(n_xz) - digamma(n_yz) + digamma(n_z)
    return total / n


@pytest.mark.parametrize("k", [3, 8])
@pytest.mark.parametrize(
    "query",
    [
        (["x"], "y", []),
        (["x"], "y", ["z"]),
        (["g"], "y", ["z"]),
        (["x"], "tied", ["g"]),
        (["x", "g"], "y", ["z", "tied"]),
    ],
    ids=str,
)
def test_it_is_the_literal_estimate(query, k):
    X = table()
    bound = bind(X, n_neighbors=k, n_permutations=70)
    x, y, given = query
    of_x, of_y, of_given = (tuple(map(X.columns.get_loc, names)) for names in (x, [y], given))
    moved, found = bound.engine.permutations(of_given), bound.engine.statistics([of_x], of_y, of_given)[0]
    assert bound.test(*query).statistic == found[0]
    for at in (0, 1, 63, 64, 70):
        assert found[at] == pytest.approx(literal(X, *query, k, moved[at]), abs=1e-12)


def test_p_counts_the_permuted_tables_that_are_as_dependent():
    X = table()
    bound = bind(X, n_permutations=20)
    for given in ([], ["g"]):  # given numbers some rows are drawn twice, so ranks change
        moved = bound.engine.permutations(tuple(X.columns.get_loc(name) for name in given))
        permuted = [X.assign(x=X["x"].to_numpy()[rows]) for rows in moved]
        estimates = [bind(one, n_permutations=1).test("x", "y", given).statistic for one in permuted]
        exceeding = sum(one >= estimates[0] - 1e-9 for one in estimates[1:])
        found = bound.test("x", "y", given)
        assert found.statistic == pytest.approx(estimates[0])
        assert found.p_value == pytest.approx((1 + exceeding) / 21)


def test_permutations_keep_levels_and_neighbours():
    X = table(200)
    engine = bind(X, n_permutations=50).engine
    levels = X["g"].to_numpy()
    for rows in engine.permutations((4,)):
        assert sorted(rows) == list(range(200)) and (levels[rows] == levels).all()
    z = X["z"].rank().to_numpy()
    moved = engine.permutations((2,))
    assert (moved[0] == np.arange(200)).all()
    assert (np.abs(z[moved] - z) <= 4).all()  # the five nearest of one number, at the ends on one side
    assert (moved[1:] != moved[0]).mean() > 0.6


def test_a_row_takes_one_that_no_other_has_while_there_is_one():
    moved = np.empty((100, 4), dtype=np.int32)
    everyone = np.tile(np.arange(4, dtype=np.int32), (4, 1))
    local_permutations(everyone, np.arange(100, dtype=np.uint64), moved)
    assert (np.sort(moved, axis=1) == np.arange(4)).all()
    assert np.bincount(moved[:, 0]).min() > 10
    local_permutations(np.full((4, 1), 2, dtype=np.int32), np.arange(100, dtype=np.uint64), moved)
    assert (moved == 2).all()


def test_it_finds_any_form_of_dependence():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 300))
    flags = rng.random((2, 300)) < 0.5
    X = pd.DataFrame(
        {"x": x, "z": z, "square": x**2 + 0.5 * rng.normal(size=300), "scale": np.exp(x) * rng.normal(size=300)}
    )
    X["one"], X["other"], X["xor"] = *flags, flags[0] ^ flags[1] ^ (rng.random(300) < 0.2)
    bound = bind(X)
    for asked in (("x", "square", ["z"]), ("x", "scale", []), ("one", "xor", ["other"]), (["x", "z"], "square", [])):
        assert bound.test(*asked).p_value < 0.01, asked
    assert bound.test("x", "z", ["one"]).p_value > 0.01


def test_too_few_rows_rounding_weights_and_the_smallest_p():
    X = table(100)
    X["rounded"] = 1e15 + X["x"].round(0)
    assert not bind(X).test("x", "rounded").reliable
    assert not bind(X[:20]).test("x", "y").reliable and bind(X[:21]).test("x", "y").reliable
    test = bf.get_ci_test("cmi-knn", n_permutations=99)
    assert test.smallest_p() == 0.01 and "set n_permutations to at least 999" in test.to_reach(0.001)
    with pytest.raises(UnsupportedError, match="cmi-knn draws, permutes or compares single rows"):
        test.bind(X, sample_weight=np.tile([1, 2], 50))


@pytest.mark.extended
def test_level():
    def is_rejected(seed):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=200)
        X = pd.DataFrame({"x": z + rng.normal(size=200), "y": z + rng.normal(size=200), "z": z})
        return bind(X, seed, n_permutations=39).test("x", "y", ["z"]).p_value <= 0.05

    assert not Level(200, 1e-4, 0.1).is_exceeded(map(is_rejected, range(200)))
