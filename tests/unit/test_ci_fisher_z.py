"""Fisher's z against recorded bnlearn results, partial correlations by regression, and degenerate columns."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from literal import golden
from scipy import stats

import blanketflow as bf


def bind(X):
    return bf.get_ci_test("fisher-z").bind(X)


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
    assert bind(X).test(0, 1, [2, 3, 4]).p_value == 1.0
    assert bind(X).test(0, 1, [2, 3]).dof == 1.0


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
