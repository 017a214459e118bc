"""The permutation test of the mutual information against all permutations there are."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from blanketflow.ci.contingency.g2_and_chi2 import G2
from blanketflow.ci.contingency.mi_permutation import MIPermutation
from blanketflow.core.errors import DataError
from literal import g2_by_hand


def p_of_all_permutations(x, y, z):
    """Return the share of permutations of y within the strata of z whose G2 is at least the one observed."""
    observed = g2_by_hand(x, y, [z])
    strata = [np.flatnonzero(z == s) for s in np.unique(z)]
    exceed, total = 0, 0
    for orders in itertools.product(*(itertools.permutations(rows) for rows in strata)):
        permuted = y.copy()
        for rows, order in zip(strata, orders, strict=True):
            permuted[rows] = y[list(order)]
        total += 1
        exceed += g2_by_hand(x, permuted, [z]) >= observed - 1e-9
    return exceed / total


@pytest.mark.parametrize("seed", range(4))
def test_p_is_the_share_of_all_permutations(seed):
    rng = np.random.default_rng(seed)
    z = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    x, y = rng.integers(0, 3, 8), rng.integers(0, 2, 8)
    y[:2], y[4:6] = x[:2] > 0, x[4:6] > 0
    wanted, draws = p_of_all_permutations(x, y, z), 40_000
    test = MIPermutation(n_permutations=draws, enough_exceedances=10**9).bind(np.column_stack([x, y, z]))
    error = math.sqrt(wanted * (1 - wanted) / draws)
    assert test.test(0, 1, [2]).p_value == pytest.approx(wanted, abs=5 * error + 2 / draws)


def test_statistic_dof_and_information_are_those_of_g2():
    X = np.random.default_rng(0).integers(0, 3, (100, 5))
    ours, theirs = MIPermutation().bind(X), G2(min_samples_per_cell=0).bind(X)
    for given in ([], [3], [3, 4]):
        one, other = ours.test_many([0, (1, 4) if 4 not in given else 1], 2, given), theirs.test(0, 2, given)
        assert (one.statistic[0], one.dof[0], one.n[0]) == (other.statistic, other.dof, 100)
        assert MIPermutation().mutual_information(one)[0] == other.statistic / 200


def test_a_test_stops_at_its_last_exceedance():
    X = np.random.default_rng(1).integers(0, 2, (60, 2))
    p = {}
    for enough in (1, 5, 20, 10**6):
        p[enough] = MIPermutation(n_permutations=999, enough_exceedances=enough).bind(X).test(0, 1).p_value
    assert round(p[10**6] * 1000) == pytest.approx(p[10**6] * 1000)  # (1 + b) / 1000
    # The same permutations come in the same order: h / l for the l at which the h-th came.
    for enough in (1, 5, 20):
        assert enough / p[enough] == pytest.approx(round(enough / p[enough]))
    assert abs(p[20] - p[10**6]) < 5 * math.sqrt(p[10**6] / 20)


def test_the_smallest_p_is_one_of_all_draws():
    X = np.repeat(np.eye(2, dtype=int), 40, axis=0)
    result = MIPermutation(n_permutations=99).bind(X).test(0, 1)
    assert (result.p_value, result.log_p) == (0.01, pytest.approx(math.log(0.01)))


def test_one_value_within_each_stratum_leaves_nothing_to_permute():
    z = np.arange(40) % 4
    X = np.column_stack([np.random.default_rng(2).integers(0, 2, 40), z > 1, z])
    assert MIPermutation().bind(X).test(0, 1, [2])[:4] == (0.0, 1.0, 0.0, 0.0)


@pytest.mark.parametrize("k", [0, 1])
def test_false_positives_are_as_many_as_alpha_says_in_a_sample_of_30(k):
    rng = np.random.default_rng(3)
    rejected, n_samples = 0, 400
    for seed in range(n_samples):
        z = rng.integers(0, 2, 30)
        x, y = (z + rng.integers(0, 3, 30)) % 3, (z + rng.integers(0, 2, 30)) % 4
        if not k:
            x, y = rng.permutation(x), rng.permutation(y)
        bound = MIPermutation(n_permutations=199).bind(np.column_stack([x, y, z]), seed=seed)
        rejected += bound.test(0, 1, [2] if k else []).p_value <= 0.05
    # Exact up to the discreteness of the statistic: at most 5 %, and never far below.
    assert 0.02 * n_samples < rejected < 0.05 * n_samples + 3 * math.sqrt(0.05 * 0.95 * n_samples)


def test_strata_of_one_row_say_nothing():
    rng = np.random.default_rng(4)
    x, strata = rng.integers(0, 2, 40), np.arange(40)
    for rows_per_stratum, is_reliable in ((1, False), (2, True)):
        bound = MIPermutation().bind(pd.DataFrame({"x": x, "y": x, "z": (strata // rows_per_stratum).astype(str)}))
        assert bound.test(0, 1, [2]).reliable == is_reliable
        assert bound.rows_needed(0, 1, (2,)) == 2 * 40 // rows_per_stratum
    assert bound.test(0, 1).reliable


def test_tables_with_rows_enough_take_the_p_value_of_g2():
    rng = np.random.default_rng(5)
    z = rng.integers(0, 2, (100, 3))
    X = np.column_stack([z[:, 0] ^ (rng.random(100) < 0.2), z[:, 0], z[:, 1], z[:, 2], rng.integers(0, 9, 100)])
    permuted, mixed = MIPermutation().bind(X), MIPermutation(asymptotic_from=5).bind(X)
    g2 = G2(small_counts="corrected").bind(X)
    for given in ([], [2], [2, 3]):  # 4, 8 and 16 cells, of which 16 have 6.25 rows each; 5 * 9 times more have not
        found, large, small = mixed.test_many([0, 4], 1, given), g2.test(0, 1, given), permuted.test(4, 1, given)
        assert found.reliable.all()
        assert found.p_value.tolist() == [large.p_value, small.p_value if given else g2.test(4, 1).p_value]
        assert found.log_p[0] == large.log_p < math.log(1 / 1001)
    assert mixed.test((0, 4), 1, [2]).p_value == permuted.test((0, 4), 1, [2]).p_value


def test_tables_beyond_any_memory_are_refused():
    names = np.arange(20_000).astype(str)
    X = pd.DataFrame({"x": names, "y": names[::-1]})
    with pytest.raises(DataError, match="too many levels"):
        MIPermutation().bind(X).test("x", "y")
