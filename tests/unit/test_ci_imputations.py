"""Multiple imputation: the pooling rules by hand, the copies, and bound tests that pool."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, f, norm, t

import blanketflow as bf
from blanketflow.ci.missing import imputed_copies, with_incomplete
from blanketflow.ci.pooling import pooled_likelihood_ratios, pooled_p_values, pooled_z
from blanketflow.core.convert import as_table
from blanketflow.core.registry import discover
from blanketflow.core.results import CIResults
from blanketflow.core.table import Column, Table

TESTS = [name for name, test in discover("blanketflow.ci").items() if "imputations" in test.card.incomplete]
every_test = pytest.mark.parametrize("name", TESTS)


def study(n=150, seed=0):
    """Return numbers, labels, flags and whole numbers with missing cells, and a complete target."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    X = pd.DataFrame({"a": a, "b": a + rng.normal(size=n), "site": rng.choice(["u", "v", "w"], n)})
    X["flag"] = pd.array(a + rng.normal(size=n) > 0, dtype="boolean")
    X["count"] = pd.array(rng.integers(0, 40, n), dtype="Int64")
    for column in X:
        X.loc[rng.random(n) < 0.15, column] = None
    return as_table(X.assign(y=a + rng.normal(size=n)))


def results(statistic, dof, log_p=None):
    statistic, dof = np.array(statistic, dtype=float), np.array(dof, dtype=float)
    log_p = chi2.logsf(statistic, dof) if log_p is None else np.array(log_p)
    reliable = np.ones(len(dof), dtype=bool)
    return CIResults(statistic, np.exp(log_p), log_p, dof, np.full(len(dof), 100), reliable)


def d2(w, k):
    """Return D2 and its degrees of freedom, literally as Li, Meng, Raghunathan and Rubin (1991) print it."""
    m = len(w)
    roots = [math.sqrt(one) for one in w]
    mean_root = sum(roots) / m
    r = (1 + 1 / m) * sum((root - mean_root) ** 2 for root in roots) / (m - 1)
    return (sum(w) / m / k - (m + 1) / (m - 1) * r) / (1 + r), (m - 1) * (1 + 1 / r) ** 2 / k ** (3 / m)


def test_p_values_are_pooled_by_d2():
    rng = np.random.default_rng(0)
    for m, k in ((2, 1), (5, 4), (10, 3)):
        w = rng.chisquare(k, size=(m, 6)) + rng.uniform(0, 20, 6)
        found = pooled_p_values([results(row, np.full(6, k)) for row in w])
        expected = [f.sf(max(d, 0), k, v) for d, v in (d2(column, k) for column in w.T)]
        np.testing.assert_allclose(found.p_value, expected, rtol=1e-9)
        np.testing.assert_allclose(found.statistic, w.mean(axis=0))


def test_f_tests_are_pooled_by_the_chi_square_of_their_p_values():
    log_p = [[-2.0], [-3.0], [-5.0]]
    found = pooled_p_values([results([9.0], [2], row) for row in log_p])
    d, v = d2(chi2.isf(np.exp(np.ravel(log_p)), 2), 2)
    assert found.p_value[0] == pytest.approx(f.sf(d, 2, v))


def test_likelihood_ratios_are_pooled_by_d3():
    for m, k in ((5, 4), (3, 1)):  # more and less than 4 = k (m - 1)
        w, of_stack = np.linspace(8, 12, m), 9.0
        found = pooled_likelihood_ratios([results([d], [k]) for d in w], results([m * of_stack], [k]))
        r, degrees = (m + 1) / (k * (m - 1)) * (10 - of_stack), k * (m - 1)
        v = 4 + (degrees - 4) * (1 + (1 - 2 / degrees) / r) ** 2
        if degrees <= 4:
            v = degrees * (1 + 1 / k) * (1 + 1 / r) ** 2 / 2
        assert found.p_value[0] == pytest.approx(f.sf(of_stack / (k * (1 + r)), k, v))


def test_z_is_pooled_by_rubin():
    z, n = np.array([0.1, 0.3, 0.2, 0.25]), 53
    found = pooled_z([results([one * math.sqrt(50)], [50], [-1.0]) for one in z])
    within, between = 1 / 50, np.var(z, ddof=1)
    total = within + (1 + 1 / 4) * between
    degrees = 3 * (1 + within / ((1 + 1 / 4) * between)) ** 2
    assert found.p_value[0] == pytest.approx(2 * t.sf(z.mean() / math.sqrt(total), degrees))
    assert found.dof[0] == pytest.approx(1 / total)
    assert bf.get_ci_test("fisher-z").effects(found)[0] == pytest.approx(math.tanh(z.mean()))
    assert n - 3 > found.dof[0]


@pytest.mark.parametrize("w", [0.0, 3.0, 40.0, 5000.0])
def test_copies_that_agree_have_the_p_value_of_each(w):
    same = [results([w], [2], [-w / 2])] * 4  # with two degrees of freedom p is exp(-w / 2)
    for found in (pooled_p_values(same), pooled_likelihood_ratios(same, results([4 * w], [2], [-2 * w]))):
        np.testing.assert_allclose(found.log_p, -w / 2, rtol=1e-9)
    same = [results([math.sqrt(w)], [97], [norm.logsf(math.sqrt(w)) + math.log(2)])] * 4
    np.testing.assert_allclose(pooled_z(same).log_p, same[0].log_p, rtol=1e-9)


def test_copies_that_agree_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pooled_likelihood_ratios([results([4.0], [1])] * 3, results([12.0], [1]))


def test_what_was_not_tested_on_one_copy_is_not_tested():
    missed = results([7.0], [2], [0.0])
    missed.reliable[:] = False
    found = pooled_p_values([results([9.0], [2]), missed])
    assert (found.p_value[0], found.reliable[0]) == (1.0, False)
    nothing = results([0.0], [0], [0.0])
    assert pooled_p_values([nothing] * 3).p_value[0] == pooled_z([nothing] * 3).p_value[0] == 1.0


def test_copies_share_what_is_known_and_fill_the_rest_by_kind():
    table = study()
    copies = imputed_copies(table, 4, seed=1)
    for copy in copies:
        assert copy.first_incomplete() is None
        for column, filled in zip(table.columns, copy.columns, strict=True):
            known = ~column.missing()
            np.testing.assert_array_equal(filled.cells()[known], column.cells()[known])
            assert (filled.kind, filled.levels) == (column.kind, column.levels)
        assert set(copy["flag"].values) == {0, 1} and copy["count"].values.dtype.kind == "i"
        assert copy["y"] is table["y"]
    drawn = {tuple(copy["a"].values) for copy in copies}
    assert len(drawn) == 4
    again = imputed_copies(table, 2, seed=1)
    assert [list(copy["a"].values) for copy in again] == [list(copy["a"].values) for copy in copies[:2]]
    assert list(imputed_copies(table, 1, seed=2)[0]["a"].values) != list(copies[0]["a"].values)


def test_columns_without_a_cell_or_with_one_value_are_filled():
    columns = [Column("none", "numeric", np.full(20, np.nan)), Column("level", "categorical", np.full(20, -1))]
    columns += [Column("one", "numeric", np.array([3.0] * 19 + [np.nan])), Column("y", "numeric", np.arange(20.0))]
    (copy,) = imputed_copies(Table(columns), 1, seed=0)
    assert (set(copy["none"].values), copy["level"].levels, set(copy["one"].values)) == ({0.0}, ("missing",), {3.0})


def test_draws_follow_the_regression_where_most_cells_are_missing():
    """Cells are missing for large x: what is known is far too low, and no value that occurs is high enough."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    z = 2 * x + rng.normal(size=2000)
    known = rng.random(2000) > 1 / (1 + np.exp(-4 * x))
    table = as_table(pd.DataFrame({"z": np.where(known, z, np.nan), "x": x}))
    slopes, spreads = [], []
    for copy in imputed_copies(table, 5, seed=0):
        slope, shift = np.polyfit(x, copy["z"].values, 1)
        slopes.append(slope)
        spreads.append(np.std((copy["z"].values - slope * x - shift)[~known]))
    assert np.nanmean(table["z"].values) < -0.8
    assert np.mean(slopes) == pytest.approx(2, abs=0.1) and np.mean(spreads) == pytest.approx(1, abs=0.1)
    assert np.std(slopes) > 0.01  # what the known rows leave open about the slope


def test_a_wide_table_takes_the_target_and_the_nearest_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 80))
    X[:, 3] = X[:, 70] + 0.1 * rng.normal(size=60)
    X[::3, 3] = np.nan
    filled = imputed_copies(as_table(X), 1, seed=0, target=79)[0]["x3"].values
    assert np.corrcoef(filled[::3], X[::3, 70])[0, 1] > 0.95


@every_test
def test_bound_tests_pool_and_complete_columns_are_tested_as_ever(name):
    table, plain = study(), bf.get_ci_test(name)
    table = table.select(["a", "b", "flag", "y"]) if name == "fisher-z" else table
    table = table.with_column(Column("w", "numeric", np.random.default_rng(1).normal(size=150)))
    bound = with_incomplete(plain, 3).bind(table, seed=5)
    copies = [plain.bind(copy, seed=5) for copy in imputed_copies(table, 3, 5)]
    found = bound.test_many(["w", "a", "b"], "y")
    each = [copy.test_many(["a", "b"], "y") for copy in copies]
    assert found[0] == plain.bind(table.select(["w", "y"]), seed=5).test("w", "y")
    if name == "fisher-z":
        expected = pooled_z(each)
    elif name in ("g2", "chi2"):
        rows = [copy.table[c].cells() for c in ("a", "b", "y") for copy in copies]
        long = [np.concatenate(rows[3 * i : 3 * i + 3]) for i in range(3)]
        stacked = as_table(pd.DataFrame(dict(zip("aby", long, strict=True))))
        expected = pooled_likelihood_ratios(each, plain.bind(stacked).test_many(["a", "b"], "y"))
    else:
        expected = pooled_p_values(each)
    np.testing.assert_allclose(found.log_p[1:], expected.log_p, rtol=1e-9)
    assert found.p_value[1] < 0.05 and bound.test("b", "y", ["a"]).n == 150


def test_information_and_entropy_are_means():
    table, g2 = study(), bf.get_ci_test("g2")
    bound = with_incomplete(g2, 3).bind(table, seed=5)
    copies = [g2.bind(copy) for copy in imputed_copies(table, 3, 5)]
    at = np.array([0, 2])
    expected = np.mean([copy.mutual_information(at, "y", ["b"]) for copy in copies], axis=0)
    np.testing.assert_allclose(bound.mutual_information(at, "y", ["b"]), expected)
    np.testing.assert_allclose(bound.entropy(at), np.mean([copy.entropy(at) for copy in copies], axis=0))
    assert bound.samples_per_cell("site", "flag") == 25 and bound.rows_needed(2, 3, ()) == 30


@pytest.mark.extended
def test_a_null_is_kept_where_deletion_loses_it():
    """Z separates X and Y, and is missing where X + Y is large: deletion selects on a common effect of X and Y."""
    rejected = {"pairwise": 0, 5: 0}
    for rep in range(150):
        rng = np.random.default_rng(rep)
        z = rng.normal(size=300)
        x, y = 0.8 * z + 0.6 * rng.normal(size=(2, 300))
        hidden = rng.random(300) < 1 / (1 + np.exp(-2 * (x + y)))
        table = as_table(pd.DataFrame({"x": x, "y": y, "z": np.where(hidden, np.nan, z)}))
        for rule in rejected:
            bound = with_incomplete(bf.get_ci_test("fisher-z"), rule).bind(table, seed=rep)
            rejected[rule] += bound.test("x", "y", ["z"]).p_value < 0.05
    assert rejected["pairwise"] > 17 > rejected[5]  # more than 17 of 150 at a level of 0.05: one chance in 2,000
