"""Fisher's z against recorded bnlearn results, partial correlations by regression, degenerate columns; sets by F."""

import json
import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import sparse, special, stats

import blanketflow as bf
from blanketflow.ci.linear import fisher_z
from blanketflow.ci.tails import f_greater
from blanketflow.core.convert import as_table
from blanketflow.core.table import Column, Table
from literal import golden


def bind(X):
    return bf.get_ci_test("fisher-z").bind(X)


def literal_z(X, x, y, given):
    """Return z from residuals by Gram and Schmidt in extended precision."""
    X = X.astype(np.longdouble)
    X = X - X.mean(axis=0)
    X = X / np.sqrt((X * X).sum(axis=0))
    basis = []

    def residual(column):
        for _ in range(3):
            for direction in basis:
                column = column - (direction @ column) * direction
        return column

    for j in given:
        rest = residual(X[:, j])
        if rest @ rest > 1e-10:
            basis.append(rest / np.sqrt(rest @ rest))
    a, b = (residual(X[:, j]) for j in (x, y))
    a, b = a / np.sqrt(a @ a), b / np.sqrt(b @ b)
    r = a @ b
    gap = (a - np.sign(r) * b) @ (a - np.sign(r) * b) / 2
    return float(np.sign(r) * np.log((2 - gap) / gap) / 2 * np.sqrt(len(X) - len(basis) - 3))


def test_equals_bnlearn():
    queries = json.loads(golden("ci_gaussian.json").read_text())
    bound = bind(pd.read_parquet(golden("ecoli70_500.parquet")))
    for query in queries:
        ours, theirs = bound.test(query["x"], query["y"], query["given"]), query["zf"]
        assert ours.statistic == pytest.approx(theirs["statistic"], abs=1e-6)
        assert ours.dof == theirs["dof"]
        assert ours.p_value == pytest.approx(theirs["p_value"], abs=1e-6)
    assert len(queries) > 200


def test_equals_the_correlation_of_regression_residuals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
    bound = bind(X)
    for given in ([], [2], [2, 3], [2, 3, 4, 5]):
        Z = np.column_stack([np.ones(60), X[:, given]])
        a, b = (X[:, j] - Z @ np.linalg.lstsq(Z, X[:, j], rcond=None)[0] for j in (0, 1))
        r = np.corrcoef(a, b)[0, 1]
        z = math.atanh(r) * math.sqrt(60 - len(given) - 3)
        result = bound.test(0, 1, given)
        assert result.statistic == pytest.approx(z, rel=1e-9)
        assert result.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-8)


def test_is_symmetric():
    X = np.random.default_rng(1).normal(size=(40, 5)).cumsum(axis=1)
    for given in ([], [2], [3, 4]):
        there, back = bind(X).test(0, 1, given), bind(X).test(1, 0, given)
        np.testing.assert_allclose(there[:4], back[:4], rtol=1e-9)


def test_collinear_and_constant_members_of_the_conditioning_set_count_once():
    rng = np.random.default_rng(2)
    a, b, c = rng.normal(size=(3, 50))
    X = np.column_stack([a + c, b + c, c, -3 * c, np.ones(50), c + 1e6])
    bound = bind(X)
    wanted = bound.test(0, 1, [2])
    for given in ([2, 3], [2, 4], [2, 3, 4, 5], [3]):
        np.testing.assert_allclose(bound.test(0, 1, given)[:4], wanted[:4], rtol=1e-6)


def test_what_the_conditioning_set_explains_is_independent():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 50))
    X = np.column_stack([a, 2 * a + 1, b, np.full(50, 4.2), a + b])
    bound = bind(X)
    for x, y, given in [(0, 2, [1]), (2, 0, [1]), (3, 0, []), (0, 3, [2]), (4, 2, [0, 2 - 1]), (0, 4, [1, 2])]:
        if (x, y) == (4, 2):  # a + b against b given a: a perfect relation
            assert bound.test(x, y, given).p_value < 1e-30
        else:
            assert bound.test(x, y, given).p_value == 1.0


def test_a_perfect_relation_is_finite_and_the_strongest():
    a = np.random.default_rng(4).normal(size=50)
    result = bind(np.column_stack([a, -a])).test(0, 1)
    assert np.isfinite(result).all()
    assert result.statistic < -100
    assert result.log_p < -1000


def test_too_few_rows_for_the_conditioning_set_say_nothing():
    X = np.random.default_rng(5).normal(size=(6, 6))
    nothing = bind(X).test(0, 1, [2, 3, 4])
    assert nothing.p_value == 1.0 and not nothing.reliable
    enough = bind(X).test(0, 1, [2, 3])
    assert enough.dof == 1.0 and enough.reliable


def test_scale_and_offset_do_not_matter():
    X = np.random.default_rng(6).normal(size=(40, 4)).cumsum(axis=1)
    moved = X * [1e150, 1e-150, 3.0, -1.0] + [0, 0, 1e5, -7]
    np.testing.assert_allclose(bind(moved).test(0, 1, [2])[:4], bind(X).test(0, 1, [2])[:4], rtol=1e-6)
    assert bind(moved).test(0, 1, [3]).statistic == pytest.approx(bind(X).test(0, 1, [3]).statistic, rel=1e-6)


def test_two_levels_enter_as_zero_and_one():
    rng = np.random.default_rng(7)
    a = rng.normal(size=60)
    as_text = pd.DataFrame({"a": a, "b": np.where(a + rng.normal(size=60) > 0, "yes", "no")})
    as_number = as_text.assign(b=(as_text["b"] == "yes").astype(int))
    assert bind(as_text).test("a", "b") == bind(as_number).test("a", "b")


def test_mutual_information_is_that_of_gaussian_columns():
    X = np.random.default_rng(8).normal(size=(50, 2)).cumsum(axis=1)
    test = bf.get_ci_test("fisher-z")
    r = np.corrcoef(X.T)[0, 1]
    assert test.mutual_information(bind(X).test_many([0], 1))[0] == pytest.approx(-math.log(1 - r * r) / 2)


@pytest.mark.parametrize("n", [20, 500, 3000])
def test_ill_conditioned_columns_keep_nine_digits(n):
    rng = np.random.default_rng(n)
    for _ in range(40):
        noise = 10.0 ** rng.uniform(-4, 0, size=7)
        X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 7)) + rng.normal(size=(n, 7)) * noise
        X = X * 10.0 ** rng.uniform(-3, 3, size=7) + 10.0 ** rng.uniform(-3, 3, size=7)
        given = list(range(2, 2 + rng.integers(0, 6)))
        z = bind(X).test(0, 1, given).statistic
        assert z == pytest.approx(literal_z(X, 0, 1, given), rel=1e-9, abs=1e-9), (given, noise)


def test_correlations_and_rows_give_the_same(monkeypatch):
    X = np.random.default_rng(9).normal(size=(200, 12)).cumsum(axis=1)
    asked = [(x, y, given) for x in (0, 1) for y in (10, 11) for given in ([], [5], [2, 5, 8], [2, 3, 4, 5])]
    from_correlations = [bind(X).test(*query) for query in asked]
    monkeypatch.setattr(fisher_z.FisherZEngine, "well_conditioned", 2.0)
    for query, wanted in zip(asked, from_correlations, strict=True):
        np.testing.assert_allclose(bind(X).test(*query)[:4], wanted[:4], rtol=1e-10, atol=1e-13)


def test_what_is_kept_of_a_wide_table_changes_nothing(monkeypatch):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(60, 30)).cumsum(axis=1)
    drawn = [rng.permutation(30)[: rng.integers(2, 7)].tolist() for _ in range(60)]
    queries = [(x, y, given) for x, y, *given in drawn]
    queries.append((3, 4, [5]))
    wanted = [bind(X).test(*query) for query in queries]
    monkeypatch.setattr(fisher_z, "WHOLE_MATRIX", 0)
    monkeypatch.setattr(fisher_z, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(fisher_z, "BLOCK_CELLS", 7 * 60)
    for kept in (0, 300, 10**6):
        monkeypatch.setattr(fisher_z, "KEPT_CELLS", kept)
        bound = bind(X)
        assert [bound.test(*query) for query in queries] == wanted
        assert len(bound.engine.correlations._pivots) <= max(1, kept // 90)
        together = bind(X).test_many([x for x in range(30) if x not in (4, 5)], 4, [5])
        assert together[3] == wanted[-1]


@pytest.mark.parametrize("block_cells", [40, 7 * 30, 10**6])
def test_a_table_too_long_for_its_pivots_is_summed_in_two_readings(block_cells, monkeypatch):
    rng = np.random.default_rng(12)
    X = rng.normal(size=(500, 12)).cumsum(axis=1)
    more = [np.full(500, 7.0), 1e15 + X[:, 0], 1e8 + 1e-4 * X[:, 1], 1e-310 * X[:, 2], 1e300 * X[:, 3], X[:, 0] > 0]
    table = Table([*as_table(np.column_stack([X, *more])).columns])
    pivotwise = fisher_z.Correlations(table)
    pivotwise._is_narrow = False
    monkeypatch.setattr(fisher_z, "KEPT_CELLS", 1000)
    monkeypatch.setattr(fisher_z, "BLOCK_CELLS", block_cells)
    read = []
    monkeypatch.setattr(Column, "numbers", lambda self, of=Column.numbers: read.append(self.n_rows) or of(self))
    summed = fisher_z.Correlations(table)
    found = [summed.between([at], np.arange(18)) for at in range(18)]
    assert 2 * 500 * 18 <= sum(read) <= 2 * 500 * 18 + 2 * 500 * 3  # of three columns it is asked whether they vary
    for at, (correlations, variances) in enumerate(found):
        wanted, vary = pivotwise.between([at], np.arange(18))
        np.testing.assert_allclose(correlations, wanted, rtol=0, atol=1e-13)
        assert variances.tolist() == vary.tolist()
    assert summed.rounded == pivotwise.rounded == {13}


def test_many_columns_of_a_sparse_table():
    n, d = 120, 20_000
    X = sparse.random(n, d, density=0.02, format="csc", random_state=0)
    dense = X[:, [3, 10_000, 19_999]].toarray()
    results = bind(X).test_many([j for j in range(d) if j not in (3, 10_000)], 3, [10_000])
    assert len(results) == d - 2
    assert not np.isnan(results.p_value).any()
    assert results[len(results) - 1].statistic == pytest.approx(bind(dense).test(2, 0, [1]).statistic, rel=1e-12)
    r = np.corrcoef(dense.T)
    partial = (r[0, 2] - r[0, 1] * r[1, 2]) / math.sqrt((1 - r[0, 1] ** 2) * (1 - r[1, 2] ** 2))
    assert results[len(results) - 1].statistic == pytest.approx(math.atanh(partial) * math.sqrt(n - 4), rel=1e-9)


def test_swapping_x_and_y_changes_no_bit():
    X = np.random.default_rng(11).normal(size=(90, 8)).cumsum(axis=1)
    X = np.column_stack([X, X[:, 0], X[:, 1] + 1e-5 * X[:, 7], np.ones(90)])
    for given in ([], [2], [2, 8], [3, 9], [4, 10, 5]):
        others = [j for j in range(11) if j not in given]
        there = {(x, y): bind(X).test(x, y, given) for x in others for y in others if x != y}
        assert all(there[x, y] == there[y, x] for x, y in there)


def test_a_set_of_columns_is_the_f_test_of_nested_regressions():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(70, 7)) @ rng.normal(size=(7, 7)) + [0, 1, 10, 100, 0, 0, 0]
    for columns, given in [([1, 2], []), ([1, 2, 3], [4]), ([1, 3], [2, 4, 5]), ([1, 2, 3, 4, 5], [6])]:
        small = sm.OLS(X[:, 0], sm.add_constant(X[:, given]) if given else np.ones(70)).fit()
        f, p, dof = sm.OLS(X[:, 0], sm.add_constant(X[:, [*given, *columns]])).fit().compare_f_test(small)
        result = bind(X).test(columns, 0, given)
        assert result.statistic == pytest.approx(f, rel=1e-9)
        assert result.p_value == pytest.approx(p, rel=1e-8)
        assert result.dof == dof == len(columns)
        assert bind(X).test_many([columns, 6 if 6 not in given else columns], 0, given)[0] == result


def test_collinear_members_of_a_set_count_once():
    rng = np.random.default_rng(13)
    a, b, c, y = rng.normal(size=(4, 40))
    X = np.column_stack([y + a, a, b, a - 2 * b, 3 * a, np.ones(40), c, a + c])
    bound = bind(X)
    wanted = bound.test([1, 2], 0, [6])
    for columns in ([1, 2, 3], [1, 3, 4, 5], [2, 3, 7], [1, 2, 3, 4, 5, 7]):
        np.testing.assert_allclose(bound.test(columns, 0, [6])[:4], wanted[:4], rtol=1e-9)
    # One column left: F is the square of Student's t.
    t = math.sqrt(bound.test([1, 4], 0, [6]).statistic)
    r = math.tanh(bound.test(1, 0, [6]).statistic / math.sqrt(40 - 4))
    assert t == pytest.approx(abs(r) * math.sqrt((40 - 3) / (1 - r * r)))


def test_sets_that_cannot_be_compared_have_p_one():
    rng = np.random.default_rng(14)
    a, b = rng.normal(size=(2, 8))
    X = np.column_stack([a, b, 2 * a, np.ones(8), rng.normal(size=(8, 6))])
    bound = bind(X)
    for columns, y, given in [([0, 3], 1, [2]), ([1, 4], 3, []), ([1, 4], 0, [2]), ([4, 5, 6, 7], 0, [1, 8, 9])]:
        result = bound.test(columns, y, given)
        assert result.p_value == 1.0 and result.log_p == 0.0 and result.statistic == 0.0
    perfect = bound.test([1, 2], 0)
    assert np.isfinite(perfect).all()
    assert perfect.log_p < -30


def test_the_set_test_holds_its_level():
    rng = np.random.default_rng(15)
    p = np.array([bind(rng.normal(size=(15, 6))).test([0, 1, 2], 3, [4, 5]).p_value for _ in range(1000)])
    assert stats.kstest(p, "uniform").pvalue > 0.001


def test_f_tail_equals_scipy():
    f = np.array([0.0, 0.01, 0.5, 1.0, 4.0, 50.0, 1e4])
    for dof1 in (1.0, 2.0, 7.0, 300.0):
        for dof2 in (1.0, 3.0, 40.0, 1e5):
            p, log_p = f_greater(f, np.full(7, dof1), np.full(7, dof2))
            wanted = stats.f.sf(f, dof1, dof2)
            usable = wanted > 1e-280
            np.testing.assert_allclose(p, wanted, rtol=1e-9, atol=1e-280)
            np.testing.assert_allclose(log_p[usable], np.log(wanted[usable]), rtol=1e-9, atol=1e-12)
    assert f_greater(np.array([5.0]), np.array([0.0]), np.array([3.0])) == (1.0, 0.0)


@pytest.mark.parametrize("dof2", [30.0, 1000.0, 1e6])
def test_log_of_the_f_tail_keeps_counting_where_p_underflows(dof2):
    a = dof2 / 2
    for ratio in np.exp(np.array([700.0, 2000.0, 1e4, 1e5]) / a) - 1 if dof2 > 30 else [1e23, 1e40, 1e100]:
        log_x, log_rest = -np.log1p(ratio), np.log(ratio / (1 + ratio))
        terms = [0.0] + [i * log_rest - np.log(i) - special.betaln(a, i) for i in range(1, 40)]
        closed = {  # I_x(a, b) of whole b
            2: a * log_x,
            4: a * log_x + np.log1p(a * ratio / (1 + ratio)),
            80: a * log_x + special.logsumexp(terms),
        }
        for dof1, wanted in closed.items():
            p, log_p = f_greater(np.array([ratio * dof2 / dof1]), np.array([float(dof1)]), np.array([dof2]))
            assert log_p[0] == pytest.approx(wanted, rel=1e-9)
            assert p[0] == pytest.approx(np.exp(wanted), rel=1e-8, abs=1e-290)
