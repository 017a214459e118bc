"""What mutual information is by chance: by all permutations, by the formula, by every engine, and of large tables."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blanketflow as bf
import literal_information as literal
from blanketflow.ci.contingency.contingency import fixed_point_terms
from blanketflow.counts.agreement import Agreement
from blanketflow.counts.summed_table import SummedTable
from blanketflow.kernels.expected_information import expected_cells


def frame(n=90):
    """Return columns of 2 to 45 levels, one of them constant, and numbers as labels."""
    rng = np.random.default_rng(3)
    levels = {"two": 2, "three": 3, "rare": 2, "many": 70, "names": n, "one": 1, "y": 3}
    found = {name: rng.integers(0, most, n) for name, most in levels.items()}
    found["rare"] = (np.arange(n) < 4).astype(int)
    return pd.DataFrame(found).astype("category")


def test_the_mean_is_that_over_all_permutations_within_strata():
    x, y, z = np.array([0, 0, 1, 1, 2, 0, 1]), np.array([0, 1, 1, 0, 1, 1, 0]), np.array([0, 0, 0, 0, 0, 1, 1])
    strata = [np.flatnonzero(z == s) for s in (0, 1)]
    found = []
    for orders in itertools.product(*(itertools.permutations(rows) for rows in strata)):
        permuted = y.copy()
        for rows, order in zip(strata, orders, strict=True):
            permuted[rows] = y[list(order)]
        found.append(literal.information(x, permuted, z))
    assert literal.chance(x, y, z)[0] == pytest.approx(np.mean(found), abs=1e-12)
    assert bf.get_ci_test("g2").bind(np.column_stack([x, y, z])).chance(np.array([0]), 1, [2]).mean == pytest.approx(
        np.mean(found), abs=1e-12
    )


@pytest.mark.parametrize("given", [[], ["three"], ["three", "rare"], ["many"], ["names"]])
def test_every_engine_gives_the_formula(given):
    table = frame()
    xs = [name for name in table if name not in ("y", *given)]
    cells = {name: table[name].to_numpy() for name in table}
    wanted = np.array([literal.chance(cells[x], cells["y"], *(cells[z] for z in given)) for x in xs]).T
    agreement = bf.agree(table, "y")
    every = Agreement("y", agreement.codings, "asked", asked=(tuple(table.columns),))
    at = np.array([table.columns.get_loc(x) for x in xs])
    plain = bf.get_ci_test("g2").bind(table)
    bound = [plain, bf.get_ci_test("mi-permutation").bind(table)]
    bound += [bf.get_ci_test("g2").bind(SummedTable(bf.pack(table, agreement)))]
    if table[given].nunique().prod() * 70 * 90 * 12 < 10**7:
        bound.append(bf.get_ci_test("g2").bind(SummedTable(bf.count(table, every))))
    for one in bound:
        n_tests = one.n_tests
        found = one.chance(at, "y", given)
        assert one.n_tests == n_tests
        np.testing.assert_allclose(found, wanted, atol=1e-12)
        information = one.mutual_information(at, "y", given)
        adjusted = one.adjusted_information(at, "y", given, 1.5)
        np.testing.assert_allclose(adjusted, information - wanted[0] - 1.5 * wanted[1], atol=1e-12)
        assert one.n_tests == n_tests + 2 * len(xs)


@pytest.mark.parametrize("n_levels", [2, 3, 5])
def test_few_levels_are_counted_in_blocks(n_levels):
    rng = np.random.default_rng(n_levels)
    X = rng.integers(0, n_levels, (61, 300))
    X[:, 7], X[:, 8] = 1, np.arange(61) == 5
    bound = bf.get_ci_test("g2").bind(X)
    for given in ([], [1], [1, 2]):
        xs = np.arange(3, 300)
        information, found = bound.engine.information_and_chance(xs, 0, tuple(given))
        wanted = [literal.chance(X[:, x], X[:, 0], *(X[:, z] for z in given)) for x in xs]
        np.testing.assert_allclose(np.transpose(found), wanted, atol=1e-12)
        np.testing.assert_allclose(bound.chance(xs, 0, given), found, atol=1e-12)
        np.testing.assert_allclose(information, bound.mutual_information(xs, 0, given), atol=0)


def test_a_column_that_names_the_rows_has_nothing_beyond_chance():
    y = np.repeat(["p", "q"], 40)
    names = pd.DataFrame({"name": [f"i{i}" for i in range(80)], "y": y})
    bound = bf.get_ci_test("g2").bind(names)
    assert bound.mutual_information(np.array([0]), 1) == pytest.approx(math.log(2))
    assert bound.adjusted_information(np.array([0]), 1) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("t", [1, 2, 7, 60, 800, 30_000, 1_000_000])
def test_terms_of_large_tables_equal_the_whole_sum(t):
    """Every h-th count stands for all where there are many; the whole sum has up to a million terms here."""
    rng = np.random.default_rng(t)
    terms, scale = fixed_point_terms(t)
    factorials = np.array([math.lgamma(k + 1.0) for k in range(min(t, 1000) + 1)])  # the others are computed
    for share in (0.0, 1.0, 0.5, *rng.random(8)):
        a, b = round(share * t), int(rng.integers(0, t + 1))
        count = np.arange(max(0, a + b - t), min(a, b) + 1)
        chances = stats.hypergeom.pmf(count, t, a, b)
        cells = [count, a - count, b - count, t - a - b + count]
        sums = [np.sum(chances * c * np.log(np.maximum(c, 1))) for c in cells]
        for n_cells in (1, 2, 4):
            found = expected_cells(a, b, t, n_cells, terms, scale, factorials) / scale
            assert found / t == pytest.approx(sum(sums[:n_cells]) / t, abs=3e-9)


def test_of_independent_columns_the_mean_is_taken_away():
    rng = np.random.default_rng(0)
    found, limits = [], []
    for _ in range(300):
        x, y, z = rng.integers(0, 20, 120), rng.integers(0, 3, 120), rng.integers(0, 2, 120)
        bound = bf.get_ci_test("g2").bind(pd.DataFrame({"x": x, "y": y, "z": z}).astype("category"))
        found.append(bound.adjusted_information(np.array([0]), 1, [2])[0])
        limits.append(bound.adjusted_information(np.array([0]), 1, [2], 2.33)[0])
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(300)
    assert np.mean(np.array(limits) > 0) < 0.03


def test_clusters_multiply_chance_by_their_design_effect():
    """Every row five times, as a cluster: by chance there is five times as much as in as many independent rows."""
    rng = np.random.default_rng(1)
    once = pd.DataFrame({"x": rng.integers(0, 4, 150), "y": rng.integers(0, 3, 150)}).astype("category")
    rows = np.repeat(np.arange(150), 5)
    plain = bf.get_ci_test("g2").bind(once.iloc[rows].reset_index(drop=True))
    clustered = bf.get_ci_test("g2").bind(once.iloc[rows].reset_index(drop=True), groups=rows)
    ratio = clustered.chance(np.array([0]), 1).mean / plain.chance(np.array([0]), 1).mean
    assert ratio == pytest.approx(5.0, rel=0.15)


def test_missing_cells_leave_the_chance_of_what_is_there():
    rng = np.random.default_rng(2)
    holes = pd.DataFrame({"x": rng.integers(0, 8, 80).astype(float), "y": rng.integers(0, 2, 80)})
    holes.loc[rng.random(80) < 0.3, "x"] = np.nan
    y = holes.pop("y").astype(str)
    alone = bf.MIM().fit(holes.dropna(), y[holes["x"].notna()])
    assert bf.MIM(missing="pairwise").fit(holes, y).importances_ == alone.importances_
    wanted = alone.trace_["statistic"].iloc[0]
    assert bf.MIM(missing="pairwise").fit(holes, y).trace_["statistic"].iloc[0] == pytest.approx(wanted)


def test_a_test_that_counts_no_levels_has_no_chance_to_take_away():
    X = np.random.default_rng(0).normal(size=(60, 3))
    bound = bf.get_ci_test("fisher-z").bind(X)
    information = bound.mutual_information(np.array([0, 1]), 2)
    assert np.array_equal(bound.adjusted_information(np.array([0, 1]), 2, [], 2.33), information)
