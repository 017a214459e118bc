"""Tables of which a cell has few rows: flags are tested exactly, others by the mean of G2 over all permutations."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, fisher_exact, hypergeom

import blanketflow as bf
from blanketflow.counts.summed_table import SummedTable
from blanketflow.kernels.small_counts import STEPS

CORRECTED = {"small_counts": "corrected"}


def flags(seed, n=1000, share=0.04):
    one, two = np.random.default_rng(seed).random((2, n)) < share
    return pd.DataFrame({"x": one, "t": np.where(two, "ill", "well"), "z": np.random.default_rng(seed).normal(size=n)})


@pytest.mark.parametrize("name", ["spline", "lr-mixed"])
def test_true_nulls_of_rare_flags_are_not_rejected_too_often(name):
    found = [bf.get_ci_test(name).bind(flags(seed)).test("x", "t") for seed in range(200)]
    assert sum(one.p_value <= 0.05 for one in found) <= 18  # more is one in 100 at a rate of 5 %; it was one in five


@pytest.mark.parametrize("name", ["spline", "lr-mixed"])
def test_only_flags_with_few_rows_in_a_cell_are_tested_exactly(name):
    exact = {"rare": 0.04, "even": 0.5}
    for kind, share in exact.items():
        X = flags(3, share=share)
        counts = pd.crosstab(X["x"], X["t"])
        p, found = fisher_exact(counts).pvalue, bf.get_ci_test(name).bind(X)
        assert (found.test("x", "t").p_value == pytest.approx(p, rel=1e-9)) == (kind == "rare")
        assert found.test("x", "t", ["z"]).p_value != pytest.approx(p, rel=1e-9)
        assert found.test("t", "x").p_value == found.test("x", "t").p_value


def in_rows(tables):
    """Return the rows of contingency tables, one a stratum: columns x, t and z."""
    cells = [
        (x, t, z) for z, table in enumerate(tables) for (x, t), count in np.ndenumerate(table) for _ in range(count)
    ]
    return np.array(cells)


def of_g2(X, given=(), **options):
    return bf.get_ci_test("g2", **options).bind(X).test(0, 1, given=list(given))


def expected(table):
    return np.outer(table.sum(axis=1), table.sum(axis=0)).min() / table.sum()


def test_flags_have_fishers_p_value_where_a_cell_expects_fewer_than_ten_rows_and_mid_p_below_twenty():
    rng, seen = np.random.default_rng(0), {"exact": 0, "mid": 0, "chi-square": 0}
    for _ in range(400):
        table = rng.integers(1, 60, size=(2, 2))
        plain, found = of_g2(in_rows([table])), of_g2(in_rows([table]), **CORRECTED)
        if not (found.reliable and 1e-10 < plain.p_value < 0.1):
            assert found == plain
            continue
        p, own = fisher_exact(table).pvalue, hypergeom.pmf(table[0, 0], table.sum(), table[0].sum(), table[:, 0].sum())
        kind = "exact" if expected(table) < 10 else "mid" if expected(table) < 20 else "chi-square"
        wanted = {"exact": p, "mid": p - own / 2, "chi-square": plain.p_value}[kind]
        assert found.p_value == pytest.approx(wanted, rel=1e-6)
        assert (found.statistic, found.dof, math.exp(found.log_p)) == (plain.statistic, plain.dof, found.p_value)
        seen[kind] += 1
    assert min(seen.values()) > 20


def likelihoods(table):
    """Return how likely each table with the margins of this one is, and the place of this one."""
    n, a, b = table.sum(), table[0].sum(), table[:, 0].sum()
    counts = np.arange(max(0, a + b - n), min(a, b) + 1)
    return hypergeom.pmf(counts, n, a, b), table[0, 0] - counts[0]


def by_all_tables(tables):
    """Return p, and how likely each p-value is, of several strata: over all combinations of tables.

    How unlikely a combination is, is the sum of the strata's -log of the likelihood over that of the likeliest table,
    each in steps of the sum that was seen.
    """
    shares, seen = zip(*map(likelihoods, tables), strict=True)
    unlikely = [-np.log(one / one.max()) for one in shares]
    own = sum(one[at] for one, at in zip(unlikely, seen, strict=True))
    steps = [np.floor(one * STEPS / own + 1e-7) for one in unlikely]
    chances = np.array([math.prod(one) for one in itertools.product(*shares)])
    totals = np.array([sum(one) for one in itertools.product(*steps)])
    return chances[totals >= sum(one[at] for one, at in zip(steps, seen, strict=True))].sum()


def strata_of_flags(rng, n_strata, n):
    return [rng.multinomial(n, np.outer(*rng.dirichlet([4, 1], size=2)).ravel()).reshape(2, 2) for _ in range(n_strata)]


@pytest.mark.parametrize(("n_strata", "n"), [(2, 60), (3, 40)])
def test_flags_in_strata_have_the_p_value_of_all_tables_with_their_margins(n_strata, n):
    rng, n_exact = np.random.default_rng(1), 0
    for _ in range(400):
        tables = strata_of_flags(rng, n_strata, n)
        if min(table.sum(axis=axis).min() for table in tables for axis in (0, 1)) == 0:
            continue
        plain, found = (of_g2(in_rows(tables), [2], **options) for options in ({}, CORRECTED))
        if plain.p_value < 0.1 and min(map(expected, tables)) < 20:
            assert found.p_value == pytest.approx(by_all_tables(tables), rel=1e-6)
            n_exact += 1
    assert n_exact > 20


def test_a_stratum_in_which_a_flag_does_not_vary_says_nothing():
    tables = strata_of_flags(np.random.default_rng(0), 2, 60)
    tables[0] = np.array([[20, 3], [9, 7]])
    first = in_rows(tables[:1]), in_rows([tables[0], np.array([[30, 20], [0, 0]]), np.array([[0, 30], [0, 20]])])
    alone, among = (of_g2(X, [2], **CORRECTED, min_samples_per_cell=1) for X in first)
    assert alone.p_value == among.p_value == pytest.approx(fisher_exact(tables[0]).pvalue)


@pytest.mark.parametrize("n", [300, 3000])
def test_other_tables_have_the_mean_of_g2_in_place_of_the_degrees_of_freedom(n):
    rng, n_corrected = np.random.default_rng(2), 0
    for _ in range(100):
        z = rng.integers(0, 3, n)
        x, t = (rng.choice(4, n, p=[0.7, 0.15, 0.1, 0.05]) * (rng.random(n) < 0.8) for _ in range(2))
        X = np.column_stack([np.where(rng.random(n) < 0.1, t, x), t, z])
        bound = bf.get_ci_test("g2").bind(X)
        plain, found = bound.test(0, 1, [2]), of_g2(X, [2], **CORRECTED)
        tables = [pd.crosstab(X[z == s, 0], X[z == s, 1]).to_numpy() for s in range(3)]
        if not (1e-10 < plain.p_value < 0.1 and min(map(expected, tables)) < 5):
            assert found == plain
            continue
        mean = 2 * n * bound.chance(np.array([0]), 1, [2]).mean[0]  # over all permutations
        assert found.p_value == pytest.approx(chi2.sf(plain.statistic, max(mean, plain.dof)), rel=0.02)
        n_corrected += 1
    assert n_corrected > 20


def sparse_columns(rng, n, share):
    z = rng.random((n, 3)) < 0.5
    x, t = (z.sum(axis=1) + rng.normal(size=n) for _ in range(2))
    return np.column_stack([x > np.quantile(x, 1 - share), t > np.quantile(t, 1 - share), z]).astype(int)


@pytest.mark.parametrize(("k", "share"), [(0, 0.1), (1, 0.1), (1, 0.3), (3, 0.3)])
def test_true_nulls_of_flags_are_not_rejected_too_often(k, share):
    # Given fewer than three columns x and t are exchanged for independent ones, so that the null is true.
    rng, rejected, n_samples = np.random.default_rng(3), 0, 600
    for _ in range(n_samples):
        X = sparse_columns(rng, 200, share)
        for s in np.unique(X[:, 2 : 2 + k], axis=0):
            rows = np.flatnonzero((X[:, 2 : 2 + k] == s).all(axis=1))
            X[rows, 0] = X[rng.permutation(rows), 0]
        rejected += of_g2(X, range(2, 2 + k), **CORRECTED, min_samples_per_cell=2).p_value <= 0.05
    assert rejected <= 42  # more is one in 100 at a rate of 5 %


def of_many_levels(rng, n=400):
    levels = rng.integers(2, 5, 300)
    X = rng.integers(0, levels, (n, 300)) * (rng.random((n, 300)) < rng.uniform(0.05, 0.9, 300))
    X[:, 1] = rng.random(n) < 0.06
    X[:, 2:60] = np.where(rng.random((n, 58)) < 0.1, X[:, [1]], X[:, 2:60])
    return X


@pytest.mark.parametrize("target", [0, 1])
def test_every_way_to_count_gives_the_same_p_values(target):
    X = pd.DataFrame(of_many_levels(np.random.default_rng(4))).add_prefix("c")
    test, others = bf.get_ci_test("g2", **CORRECTED), [f"c{i}" for i in range(300) if i != target]
    bound, name = test.bind(X), f"c{target}"
    many = bound.test_many(others, name)
    singly = [bound.test(x, name) for x in others]
    assert [*many.p_value] == [one.p_value for one in singly] and [*many.log_p] == [one.log_p for one in singly]
    assert (many.p_value != bf.get_ci_test("g2").bind(X).test_many(others, name).p_value).sum() > 10
    counted = X.iloc[:, :40].astype("category")
    sums = bf.count(counted, bf.agree(counted, name, tables="triples"))
    on_counts = test.bind(SummedTable(sums))
    for given in ([], ["c35"]):
        few = [x for x in counted if x not in (name, *given)]
        on_rows = test.bind(counted).test_many(few, name, given=given)
        assert [*on_counts.test_many(few, name, given=given).log_p] == [*on_rows.log_p]
    wide = test.bind(SummedTable(bf.pack(X, bf.agree(X, name)))).test_many(others, name)
    assert [*wide.log_p] == [*many.log_p]


def test_names_of_levels_and_columns_change_nothing():
    rng, n_corrected = np.random.default_rng(5), 0
    for _ in range(50):
        X = sparse_columns(rng, 200, 0.2)
        flipped = 1 - X
        for given in ([2], [2, 3, 4]):
            found, plain = of_g2(X, given, **CORRECTED), of_g2(X, given)
            assert found == of_g2(flipped, given, **CORRECTED) == of_g2(X[:, [1, 0, 2, 3, 4]], given, **CORRECTED)
            assert found == of_g2(X[:, [0, 1, 4, 3, 2]], [6 - z for z in given], **CORRECTED)
            n_corrected += found != plain
    assert n_corrected > 10


def test_mi_permutation_takes_corrected_p_values_where_there_are_rows_enough():
    X = np.column_stack([np.repeat([1, 0, 1, 0], [6, 14, 14, 166]), np.repeat([1, 0], [20, 180])])
    found = bf.get_ci_test("mi-permutation", asymptotic_from=5).bind(X).test(0, 1)
    assert found == of_g2(X, **CORRECTED) != of_g2(X)
    assert found.p_value == pytest.approx(fisher_exact(pd.crosstab(X[:, 0], X[:, 1])).pvalue)
