"""G2 and Pearson's X2 against hand-worked tables, recorded bnlearn results, and what it must not depend on."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blanketflow as bf
from blanketflow.ci.contingency.binning import cut_points, level_codes
from blanketflow.core.errors import ParameterError
from blanketflow.core.table import Column
from blanketflow.moves.steps import is_dependent, is_independent
from literal import g2_by_hand, golden


def g2(**options):
    return bf.get_ci_test("g2", **{"min_samples_per_cell": 0, "unreliable": "use", **options})


def rows_of(counts):
    """Return one row a unit of a table of counts, each cell's coordinates as levels."""
    cells = [cell for cell, count in np.ndenumerate(counts) for _ in range(count)]
    return np.array(cells, dtype=np.int64)


def test_a_hand_worked_two_by_two_table():
    # 10 2 / 3 9: row sums 12, column sums 13 and 11, expected 6.5 and 5.5.
    result = g2().bind(rows_of(np.array([[10, 2], [3, 9]]))).test(0, 1)
    by_hand = 2 * (10 * math.log(10 / 6.5) + 2 * math.log(2 / 5.5) + 3 * math.log(3 / 6.5) + 9 * math.log(9 / 5.5))
    assert result.statistic == pytest.approx(by_hand, rel=1e-12)
    assert (result.dof, result.n, result.reliable) == (1.0, 24, True)
    assert result.p_value == pytest.approx(math.erfc(math.sqrt(by_hand / 2)), rel=1e-12)
    assert result.log_p == pytest.approx(math.log(result.p_value))


@pytest.mark.parametrize(("dof", "wanted"), [("nominal", 2), ("observed", 2), ("adjusted", 1)])
def test_a_hand_worked_table_with_a_thin_stratum(dof, wanted):
    # Z = 0: 4 2 / 1 5; Z = 1: 3 0 / 4 0, whose second column is empty: no degree of freedom there.
    counts = np.array([[[4, 3], [2, 0]], [[1, 4], [5, 0]]])
    result = g2(dof=dof).bind(rows_of(counts)).test(0, 1, given=[2])
    first = 2 * (4 * math.log(4 / 2.5) + 2 * math.log(2 / 3.5) + 1 * math.log(1 / 2.5) + 5 * math.log(5 / 3.5))
    assert result.statistic == pytest.approx(first, rel=1e-12)
    assert result.dof == wanted
    assert result.p_value == pytest.approx(stats.chi2.sf(first, wanted), rel=1e-12)


@pytest.mark.parametrize(("dof", "wanted"), [("nominal", 6), ("observed", 3), ("adjusted", 2)])
def test_strata_that_never_occur_count_in_nominal_degrees_only(dof, wanted):
    # Z has levels (a, b) of 3 x 2; only (0,0), (1,0), (2,1) occur; in the last one X is constant.
    X = np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 2, 1], [0, 1, 2, 1]])
    assert g2(dof=dof).bind(X).test(0, 1, given=[2, 3]).dof == wanted


def test_random_tables_equal_the_sum_over_cells():
    rng = np.random.default_rng(0)
    for _ in range(30):
        X = rng.integers(0, rng.integers(2, 5, 5), size=(60, 5))
        bound = g2().bind(X)
        for k in range(4):
            given = list(range(2, 2 + min(k, 3)))
            wanted = g2_by_hand(X[:, 0], X[:, 1], [X[:, z] for z in given])
            assert bound.test(0, 1, given).statistic == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("table", ["alarm_500", "alarm_5000"])
@pytest.mark.parametrize(
    ("name", "dof", "peer"),
    [("g2", "nominal", "mi"), ("g2", "adjusted", "mi-adf"), ("chi2", "nominal", "x2"), ("chi2", "adjusted", "x2-adf")],
)
def test_equals_bnlearn(table, name, dof, peer):
    queries = json.loads(golden("ci_discrete.json").read_text())[table]
    frame = pd.read_parquet(golden(f"{table}.parquet"))
    bound = bf.get_ci_test(name, dof=dof, unreliable="use").bind(frame)
    with_rule = bf.get_ci_test(name, dof=dof).bind(bound.table)
    skipped = 0
    for query in queries:
        theirs, asked = query[peer], (query["x"], query["y"], query["given"])
        ours = bound.test(*asked)
        if dof == "adjusted" and theirs["statistic"] == 0 and theirs["p_value"] == 1 and ours.statistic > 0:
            # Too few rows for bnlearn: our rule of 5 rows a cell says the same, statistic aside.
            assert with_rule.test(*asked).p_value == 1.0
            skipped += 1
            continue
        assert ours.statistic == pytest.approx(theirs["statistic"], abs=1e-6)
        assert ours.dof == theirs["dof"]
        assert ours.p_value == pytest.approx(theirs["p_value"], abs=1e-6)
    # Counted once: thin strata of the recorded queries.
    assert skipped == {("alarm_500", "adjusted"): 110, ("alarm_5000", "adjusted"): 7}.get((table, dof), 0)
    assert len(queries) == 327


def test_a_set_of_columns_is_one_variable_of_the_combinations_that_occur():
    rng = np.random.default_rng(8)
    X = rng.integers(0, 3, size=(90, 5))
    X[:, 4] = (X[:, 0] + X[:, 1]) % 3  # dependent on both together, on none alone
    joint = np.column_stack([X[:, 0] * 3 + X[:, 1], X[:, 2:]])
    for name in ("g2", "chi2"):
        bound, wanted = (bf.get_ci_test(name, min_samples_per_cell=0).bind(M) for M in (X, joint))
        for given in ([], [2], [2, 3]):
            assert bound.test([1, 0], 4, given) == wanted.test(0, 3, [z - 1 for z in given])
        assert bound.test({0, 1}, 4).p_value < 1e-9 < 0.01 < min(bound.test(0, 4).p_value, bound.test(1, 4).p_value)
        mixed = bound.test_many([0, (0, 1), [1], 3, (1, 0)], 4, [2])
        assert mixed[1] == mixed[4] == bound.test((0, 1), 4, [2])
        assert (mixed[0], mixed[2], mixed[3]) == tuple(bound.test(x, 4, [2]) for x in (0, 1, 3))


def test_sets_count_once_and_must_be_sound():
    bound = g2().bind(np.random.default_rng(0).integers(0, 2, (40, 4)))
    bound.test_many([(0, 1), (1, 0), [0, 1, 1], {0}], 3)
    assert bound.n_tests == 2
    with pytest.raises(ParameterError, match="empty"):
        bound.test([], 3)
    for given in ([], [1]):
        with pytest.raises(ParameterError, match="different columns"):
            bound.test([0, 1], 1 if not given else 3, given)


@pytest.mark.parametrize(("n", "reliable"), [(20, True), (19, False)])
def test_five_rows_a_cell_is_reliable_four_point_nine_is_not(n, reliable):
    X = np.column_stack([np.arange(n) % 2, np.arange(n) // 2 % 2])
    assert bf.get_ci_test("g2").bind(X).test(0, 1).reliable is reliable
    conditional = np.column_stack([X, np.arange(n) // 4 % 2])
    assert bf.get_ci_test("g2").bind(conditional).test(0, 1, given=[2]).reliable is False


def test_what_an_unreliable_result_says():
    X = rows_of(np.array([[6, 0], [0, 6]]))
    outcomes = {}
    for rule in ("independent", "undecided", "use"):
        test = bf.get_ci_test("g2", unreliable=rule).bind(X)
        result = test.test(0, 1)
        assert not result.reliable
        assert result.statistic == pytest.approx(2 * 12 * math.log(2))
        outcomes[rule] = (is_dependent(test, result, 0.05), is_independent(test, result, 0.05))
        assert (result.p_value == 1.0) is (rule == "independent")
    assert outcomes == {"independent": (False, True), "undecided": (False, False), "use": (True, False)}


def test_a_constant_column_is_independent_without_degrees_of_freedom():
    X = np.column_stack([np.zeros(10, int), np.arange(10) % 2])
    assert tuple(g2().bind(X).test(0, 1))[:4] == (0.0, 1.0, 0.0, 0.0)


def answers(frame, *asked, **options):
    return np.array([g2(**options).bind(frame).test(*query)[:4] for query in asked])


def test_rows_columns_and_labels_do_not_matter():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(0, 3, size=(80, 4)), columns=list("abcd"))
    frame["b"] = (frame["a"] + rng.integers(0, 2, 80)) % 3
    asked = [("a", "b"), ("a", "b", ["c"]), ("c", "b", ["a", "d"]), ("a", "d", ["b", "c"])]
    wanted = answers(frame, *asked)
    shuffled = frame.sample(frac=1, random_state=0)
    relabelled = frame.apply(lambda column: column.map({0: "zebra", 1: "ape", 2: "mole"}))
    swapped = [(y, x, *given) for x, y, *given in asked]
    for other in (answers(shuffled, *asked), answers(frame[list("dcab")], *asked), answers(relabelled, *asked)):
        np.testing.assert_allclose(other, wanted, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(answers(frame, *swapped), wanted, rtol=1e-9, atol=1e-12)
    given_turned = [(x, y, list(reversed(given[0])) if given else []) for x, y, *given in asked]
    np.testing.assert_allclose(answers(frame, *given_turned), wanted, rtol=1e-9, atol=1e-12)


def test_relabelled_copies_tie_exactly():
    rng = np.random.default_rng(5)
    for _ in range(30):
        a, y, z = rng.integers(0, 4, 70), rng.integers(0, 3, 70), rng.integers(0, 3, 70)
        bound = g2().bind(np.column_stack([a, 3 - a, (a + 1) % 4, y, z]))
        for given in ([], [4]):
            results = bound.test_many([0, 1, 2], 3, given)
            assert len(set(results.statistic)) == len(set(results.log_p)) == 1


def test_mutual_information_is_g2_over_twice_the_rows():
    test = g2()
    results = test.bind(rows_of(np.array([[3, 0], [0, 3]]))).test_many([0], 1)
    assert test.mutual_information(results)[0] == pytest.approx(math.log(2))


# Binning.


def test_quantile_borders_by_hand():
    # 1..8 in four bins: positions 1.75, 3.5, 5.25 of 0..7.
    assert cut_points(np.arange(1.0, 9.0), 4, "quantile").tolist() == [2.75, 4.5, 6.25]
    assert cut_points(np.array([0.0, 0, 0, 0, 1]), 4, "quantile").tolist() == [0.0]


def test_uniform_borders_by_hand():
    assert cut_points(np.array([0.0, 1.0, 10.0]), 5, "uniform").tolist() == [2.0, 4.0, 6.0, 8.0]
    assert cut_points(np.full(3, 7.0), 3, "uniform").tolist() == [7.0]


def test_kmeans_borders_by_hand():
    # Centres 1.5 and 11 after one step from 1..13 in two: nothing moves any more.
    assert cut_points(np.array([1.0, 2.0, 9.0, 11.0, 13.0]), 2, "kmeans").tolist() == [6.25]
    assert cut_points(np.full(4, 3.0), 2, "kmeans").tolist() == [3.0]
    assert cut_points(np.array([1.0, 1.0, 9.0]), 5, "kmeans").tolist() == [5.0]


def test_mdlp_borders_by_hand():
    # Eight of one class, then eight of the other: gain 1 bit; price (log2 15 + log2 7 - 2) / 16 = 0.30 bits.
    values, classes = np.arange(16.0), np.arange(16) // 8
    assert cut_points(values, 5, "mdlp", classes).tolist() == [7.5]
    # The best cut, after two rows, gains 1 - 4/6 H(1/4) = 0.46 bits; price (log2 5 + log2 7 - 2 + 2 H(1/4)) / 6 = 0.79.
    assert cut_points(values[:6], 5, "mdlp", np.array([0, 0, 1, 0, 1, 1])).tolist() == []
    classes = np.array([0] * 8 + [1] * 8 + [0] * 16)
    assert cut_points(np.arange(32.0), 5, "mdlp", classes).tolist() == [7.5, 15.5]
    assert cut_points(np.arange(32.0), 5, "mdlp", np.arange(32) % 2).tolist() == []


def test_mdlp_equals_the_published_rule_worked_out_literally():
    def entropy(classes):
        counts = np.unique(classes, return_counts=True)[1] / len(classes)
        return -sum(p * math.log2(p) for p in counts)

    def cuts(values, classes):
        best = None
        for cut in sorted(set(values))[1:]:
            low, high = classes[values < cut], classes[values >= cut]
            mean = (len(low) * entropy(low) + len(high) * entropy(high)) / len(classes)
            if best is None or mean < best[0] - 1e-12:
                best = mean, cut, low, high
        if best is None:
            return []
        mean, cut, low, high = best
        k, k_low, k_high = (len(set(part)) for part in (classes, low, high))
        delta = math.log2(3**k - 2) - (k * entropy(classes) - k_low * entropy(low) - k_high * entropy(high))
        if entropy(classes) - mean <= (math.log2(len(classes) - 1) + delta) / len(classes):
            return []
        border = (values[values < cut].max() + cut) / 2
        parts = (values < cut), (values >= cut)
        return sorted([border] + [c for part in parts for c in cuts(values[part], classes[part])])

    rng = np.random.default_rng(6)
    found = 0
    for _ in range(60):
        n = int(rng.integers(2, 90))
        values = np.round(rng.normal(size=n), 1)
        classes = (values + rng.normal(0, 0.4, n) > 0).astype(int) + (values > 1.1)
        wanted = cuts(values, classes)
        found += len(wanted)
        assert cut_points(values, 5, "mdlp", classes) == pytest.approx(wanted)
    assert found > 40


def test_mdlp_describes_the_target_that_the_test_is_bound_with():
    rng = np.random.default_rng(7)
    a = rng.normal(size=300)
    X = pd.DataFrame({"a": a, "b": rng.normal(size=300), "c": np.where(a > 0.7, "high", "low")})
    bound = g2(binning="mdlp").bind(X, target="c")
    perfect = -2 * 300 * sum(p * math.log(p) for p in (np.mean(a > 0.7), np.mean(a <= 0.7)))
    assert bound.test("a", "c").statistic == pytest.approx(perfect)
    assert bound.test("b", "c")[:4] == (0.0, 1.0, 0.0, 0.0)  # one bin
    numeric = g2(binning="mdlp", bins=3).bind(X.drop(columns="c").assign(d=2 * a), target="d")
    assert numeric.test("a", "d").statistic == pytest.approx(2 * 300 * math.log(3))
    with pytest.raises(ParameterError, match="needs to know the target"):
        g2(binning="mdlp").bind(X).test("a", "c")


def test_an_unknown_binning_is_refused():
    with pytest.raises(ParameterError, match="binning is 'mdl'"):
        cut_points(np.arange(3.0), 2, "mdl")


def test_a_value_on_a_border_goes_to_the_lower_bin_and_empty_bins_vanish():
    codes, n_levels = level_codes(Column("a", "numeric", np.array([0.0, 0.5, 1.0, 1.5, 2.0, 10.0])), 5, "uniform")
    assert (codes.tolist(), n_levels) == ([0, 0, 0, 0, 0, 1], 2)


@pytest.mark.parametrize("binning", ["quantile", "uniform", "kmeans"])
def test_numbers_of_no_more_values_than_bins_keep_them(binning):
    mostly_ones = np.array([1.0] * 19 + [0.0])  # whose quantiles are all 1
    codes, n_levels = level_codes(Column("a", "numeric", mostly_ones), 5, binning)
    assert (codes.tolist(), n_levels) == ([1] * 19 + [0], 2)


def test_whole_numbers_of_few_values_and_discrete_columns_keep_their_levels():
    few, many = np.arange(40) % 10 * 3 - 7, np.arange(40) % 11
    assert level_codes(Column("a", "integer", few), 2, "quantile")[1] == 10
    assert level_codes(Column("a", "integer", many), 2, "quantile")[1] == 2
    assert level_codes(Column("a", "numeric", few.astype(float)), 2, "quantile")[1] == 2
    assert level_codes(Column("a", "boolean", np.array([1, 0, 1])), 5, "quantile")[0].tolist() == [1, 0, 1]
    # Only the levels present count.
    assert level_codes(Column("a", "categorical", np.array([3, 1, 3]), tuple("abcd")), 5, "quantile")[1] == 2


@pytest.mark.parametrize(
    "values",
    [
        np.array([-128, 127, 0], dtype=np.int8),
        np.array([0, 255, 7], dtype=np.uint8),
        np.array([2**64 - 3, 2**64 - 1, 2**64 - 2], dtype=np.uint64),
        np.array([0, 2**64 - 1, 2**63], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1, 0]),
    ],
)
def test_whole_numbers_at_the_ends_of_their_types_keep_their_order(values):
    codes, n_levels = level_codes(Column("a", "integer", values), 5, "quantile")
    assert (codes.tolist(), n_levels) == ([0, 2, 1], 3)


@pytest.mark.parametrize(
    "options", [{}, {"dof": "nominal"}, {"unreliable": "undecided"}, {"unreliable": "use"}], ids=str
)
def test_alone_as_in_a_batch(options):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, k, 60) for k in (2, 3, 4, 60, 60, 60)])  # tables of 60^4 cells, and of few
    test = bf.get_ci_test("g2", bins=60, **options)
    for given in ([], [1], [2, 1], [3, 4, 5]):
        alone, batch = test.bind(X), test.bind(X)
        assert (
            alone.test(0, 2 if 2 not in given else 4, given)
            == batch.test_many([0], 2 if 2 not in given else 4, given)[0]
        )
        assert alone.n_tests == batch.n_tests == 1 and alone.tally.all == batch.tally.all
    for asked in ((0, 0, []), (0, 1, [0]), (0, 1, [1])):
        with pytest.raises(ParameterError, match="different columns"):
            alone.test(*asked)
