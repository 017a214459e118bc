"""Counting kernels against counts made one row at a time, on every way that they have of counting."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy import special, stats

import blanketflow as bf
from blanketflow.ci.contingency import contingency
from blanketflow.ci.contingency.coded_columns import CodedColumns
from blanketflow.ci.tails import chi2_tail


def by_hand(x, y, strata, kind):
    """Return the statistic and the adjusted degrees of freedom, stratum by stratum."""
    total, dof = [], 0
    for stratum in set(strata):
        pairs = [(a, b) for a, b, s in zip(x, y, strata, strict=True) if s == stratum]
        of_x, of_y, n = Counter(a for a, _ in pairs), Counter(b for _, b in pairs), len(pairs)
        observed = Counter(pairs)
        for a, b in itertools.product(of_x, of_y):
            o, e = observed[a, b], of_x[a] * of_y[b] / n
            total.append((o - e) ** 2 / e if kind == "chi2" else 2 * o * math.log(o / e) if o else 0.0)
        dof += (len(of_x) - 1) * (len(of_y) - 1)
    return math.fsum(total), dof


def random_table(rng, n, levels):
    shares = [rng.dirichlet(np.full(r, rng.uniform(0.3, 3))) for r in levels]
    return np.column_stack([rng.choice(len(p), size=n, p=p) for p in shares])


def counting(monkeypatch, way):
    """Force one way of counting: lists of rows, bit sets, or sorting."""
    monkeypatch.setattr(contingency, "MOST_CELLS", 0 if way == "sorting" else 2**40)
    monkeypatch.setattr(contingency, "CELLS_PER_ROW", 0 if way == "sorting" else 16)


@pytest.mark.parametrize("kind", ["g2", "chi2"])
@pytest.mark.parametrize("way", ["counting", "sorting"])
@pytest.mark.parametrize("n", [1, 2, 7, 64, 65, 300, 5000])
def test_statistics_equal_those_by_hand(monkeypatch, kind, way, n):
    counting(monkeypatch, way)
    rng = np.random.default_rng(n)
    for levels in ([2, 2, 2, 2, 2], [3, 5, 4, 1, 7], [9, 2, 3, 3, 2]):
        X = random_table(rng, n, levels)
        bound = bf.get_ci_test(kind, min_samples_per_cell=0).bind(X)
        for k in range(4):
            given = list(range(2, 2 + min(k, 3)))
            others = [x for x in range(5) if x not in (1, *given)]
            results = bound.test_many(others, 1, given)
            strata = list(map(tuple, X[:, given].tolist()))
            for x, result in zip(others, results, strict=True):
                statistic, dof = by_hand(X[:, x].tolist(), X[:, 1].tolist(), strata, kind)
                assert result.statistic == pytest.approx(statistic, rel=1e-10, abs=1e-9)
                assert result.dof == dof
                p = stats.chi2.sf(statistic, dof) if dof else 1.0
                assert result.p_value == pytest.approx(p, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", ["g2", "chi2"])
def test_bit_sets_and_lists_count_the_same(kind):
    # With one candidate filling bit sets never pays; with many of two levels it does.
    X = (np.random.default_rng(1).random((700, 60)) < 0.5).astype(int)
    bound, alone = (bf.get_ci_test(kind).bind(X) for _ in range(2))
    for given in ([], [1], [2, 1]):
        many = bound.test_many(range(3, 60), 0, given)
        assert list(many) == [alone.test(x, 0, given) for x in range(3, 60)]


@pytest.mark.parametrize("kind", ["g2", "chi2"])
def test_sorting_and_counting_agree_in_every_digit(monkeypatch, kind):
    X = random_table(np.random.default_rng(2), 400, [4, 3, 5, 2, 6])
    answers = []
    for way in ("counting", "sorting"):
        counting(monkeypatch, way)
        for dof in ("adjusted", "nominal", "observed"):
            bound = bf.get_ci_test(kind, dof=dof, unreliable="use").bind(X)
            answers.append([bound.test(x, 1, given) for x in (0, 2) for given in ([], [3], [3, 4])])
    assert answers[:3] == answers[3:]


def test_more_combinations_than_any_table_holds():
    # 20 columns of 8 levels: 8^20 combinations, at most 500 strata. Every stratum of one row says nothing.
    rng = np.random.default_rng(3)
    X = rng.integers(0, 8, (500, 22))
    bound = bf.get_ci_test("g2", min_samples_per_cell=0).bind(X)
    result = bound.test(0, 1, range(2, 22))
    assert result[:4] == (0.0, 1.0, 0.0, 0.0)
    X[:, 2:] = np.repeat(X[:2, 2:], 250, axis=0)  # two strata among them
    wanted = by_hand(X[:, 0].tolist(), X[:, 1].tolist(), (np.arange(500) < 250).tolist(), "g2")
    result = bf.get_ci_test("g2", min_samples_per_cell=0).bind(X).test(0, 1, range(2, 22))
    assert (result.statistic, result.dof) == (pytest.approx(wanted[0], rel=1e-10), wanted[1])


def test_columns_with_a_level_for_every_row():
    n = 70_000  # beyond 16 bits, and with two such columns beyond 31
    rows = np.arange(n)
    labels = np.array([f"row {i}" for i in rows], dtype=object)
    import pandas as pd

    X = pd.DataFrame({"a": rows % 3, "b": rows % 2, "id": labels, "other id": labels[::-1], "c": rows // 7 % 5})
    bound = bf.get_ci_test("g2", min_samples_per_cell=0).bind(X)
    assert bound.test("a", "b", ["id"])[:4] == (0.0, 1.0, 0.0, 0.0)
    assert bound.test("a", "b", ["id", "other id"])[:4] == (0.0, 1.0, 0.0, 0.0)
    assert bound.test("a", "b", ["c", "id", "other id"])[:4] == (0.0, 1.0, 0.0, 0.0)
    result = bound.test("id", "other id")
    assert result.statistic == pytest.approx(2 * n * math.log(n))
    assert result.dof == (n - 1.0) ** 2


def test_sparse_and_dense_columns_are_coded_alike():
    from scipy import sparse

    X = (np.random.default_rng(4).random((300, 6)) < 0.1).astype(bool)
    dense, thin = (bf.get_ci_test("g2", min_samples_per_cell=0).bind(M) for M in (X, sparse.csc_array(X)))
    for given in ([], [2], [2, 3]):
        assert list(dense.test_many([0, 4, 5], 1, given)) == list(thin.test_many([0, 4, 5], 1, given))


def test_lists_and_bits_hold_every_row_but_those_of_the_most_frequent_level():
    codes = np.array([2, 0, 2, 1, 2, 0] + [2] * 70)
    columns = CodedColumns(len(codes), 1, lambda _: (codes, 3))
    columns.ensure([0])
    assert columns.rows[:3].tolist() == [1, 5, 3]
    assert columns.level_start[:3].tolist() == [0, 2, 3]
    assert columns.level_bits[:2].tolist() == [[0b100010, 0], [0b1000, 0]]
    assert columns.codes(0)[:6].tolist() == [0, 1, 0, 2, 0, 1]


# Chi-square tails.


def test_tails_equal_scipys_where_that_does_not_underflow():
    dof = np.concatenate([np.arange(1, 60), [75, 100, 333, 1000, 12_345, 1e6], np.linspace(0.1, 9, 40)])
    for share in (1e-8, 0.01, 0.3, 0.8, 0.99, 1.0, 1.01, 1.3, 2.0, 5.0, 20.0):
        statistic = dof * share
        p, log_p = chi2_tail(statistic, dof)
        wanted = special.gammaincc(dof / 2, statistic / 2)
        inner = wanted > 1e-290
        np.testing.assert_allclose(p[inner], wanted[inner], rtol=1e-10)
        np.testing.assert_allclose(log_p[inner], np.log(wanted[inner]), rtol=1e-9, atol=1e-15)


def test_far_tails_follow_their_asymptotic_series():
    # Q(a, x) = x^(a-1) e^-x / Gamma(a) (1 + (a-1)/x + (a-1)(a-2)/x^2 + ...), which ends for whole a.
    for a in (1, 2, 5):
        for x in (800.0, 5e3, 1e6):
            series = math.fsum(math.prod((a - 1 - j) / x for j in range(k)) for k in range(a))
            wanted = (a - 1) * math.log(x) - x - math.lgamma(a) + math.log(series)
            p, log_p = chi2_tail(np.array([2 * x]), np.array([2.0 * a]))
            assert log_p[0] == pytest.approx(wanted, rel=1e-12)
            assert p[0] == 0.0 or x < 800.1


def test_tails_at_their_ends():
    p, log_p = chi2_tail(np.array([0.0, 3.0, np.inf, 5.0]), np.array([2.0, 0.0, 3.0, 1.0]))
    assert p[:3].tolist() == [1.0, 1.0, 0.0]
    assert log_p[:3].tolist() == [0.0, 0.0, -np.inf]
