"""PPFS against a literal Algorithm 2, with trees of whole-number arithmetic and with a scikit-learn model."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import blanketflow as bf
from blanketflow.ci.predictive.risk_differences import draw_repeats
from blanketflow.core.cards import NUMERIC
from blanketflow.core.results import CIResults
from blanketflow.core.table import Column, Table, categorical
from blanketflow.data.splits import fold_of_rows
from blanketflow.moves.steps import Step
from blanketflow.search.run_fold import fold_seed
from blanketflow.selectors.base import Problem
from blanketflow.selectors.causal.ppfs import PPFS
from literal import KnownTest, LiteralCart, LiteralRegression, best_of, ppfs_fold


def random_table(seed, task, n=45):
    """Return six columns (continuous, integer, binary, a copy, a mirror, noise) in random order and a target."""
    rng = np.random.default_rng(seed)
    integer, binary, number = rng.integers(0, 4, n), rng.integers(0, 2, n), rng.normal(size=n)
    columns = [number, integer, binary, integer if seed % 2 else number + rng.normal(size=n), 1 - binary]
    X = np.column_stack([*columns, rng.normal(size=n)]).astype(float)[:, rng.permutation(6)]
    signal = 1.5 * number + integer + 1.2 * binary + rng.normal(scale=0.4, size=n)
    if task == "regression":
        return X, signal
    return X, np.digitize(signal, np.quantile(signal, [0.5] if seed % 3 else [0.33, 0.66]))


def literal_ppfs(X, y, task, n_folds, seed, make_model, alpha, significance, n_repeats, test_size=0.2):
    """Algorithm 2 on the library's folds and repeats: return the blanket, all blankets, and all decisions."""
    labels = np.array([str(v) for v in y], dtype=object)
    target = Column("target", NUMERIC, y) if task == "regression" else categorical("target", labels)
    part = fold_of_rows(target, n_folds, seed) if n_folds else np.zeros(len(y))
    blankets, trace = [], []
    for k in range(1, max(n_folds, 1) + 1):
        rows = np.flatnonzero(part != k)
        name = f"{k}of{n_folds}" if n_folds else "0"
        repeats = draw_repeats(len(rows), n_repeats, test_size, fold_seed(seed, name))
        grown, decisions, blanket = ppfs_fold(X[rows], y[rows], repeats, make_model, task, alpha, significance)
        blankets.append(blanket)
        trace += [(name, "grow", f"x{i}", True, p) for i, p, _ in grown]
        trace += [(name, "shrink", f"x{i}", kept, p) for i, p, kept in decisions]
    return blankets[best_of(blankets)], blankets, trace


def assert_equals_algorithm_2(X, y, task, make_model, *, n_folds, seed, model, alpha, significance, n_repeats):
    options = {"n_folds": n_folds, "alpha": alpha, "significance": significance, "n_repeats": n_repeats}
    selector = bf.PPFS(random_state=seed, model=model, task=task, **options).fit(X, y)
    blanket, blankets, trace = literal_ppfs(X, y, task, n_folds, seed, make_model, alpha, significance, n_repeats)
    assert sorted(selector.selected_features_) == sorted(f"x{i}" for i in blanket)
    assert [set(found) for found in selector.blankets_] == [{f"x{i}" for i in b} for b in blankets]
    found = selector.trace_[["fold", "stage", "feature", "kept", "p_value"]].values.tolist()
    assert [tuple(row[:4]) for row in found] == [row[:4] for row in trace]
    np.testing.assert_allclose([row[4] for row in found], [row[4] for row in trace], rtol=1e-8, atol=1e-12)
    return trace


@pytest.mark.parametrize("significance", ["wilcoxon", "corrected-t"])
@pytest.mark.parametrize("n_folds", [0, pytest.param(3, marks=pytest.mark.extended)])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_selection_and_trace_equal_algorithm_2_with_trees(task, n_folds, significance):
    literal_tree = LiteralCart if task == "classification" else LiteralRegression
    options = {"n_folds": n_folds, "alpha": 0.25, "significance": significance, "n_repeats": 5}
    removed = 0
    for seed in range(4) if n_folds == 0 else range(8, 12):
        X, y = random_table(seed, task)
        trace = assert_equals_algorithm_2(X, y, task, literal_tree, seed=seed, model="tree", **options)
        removed += sum(not kept for *_, kept, _ in trace)
    assert removed >= 3  # the shrink phase had something to do


@pytest.mark.parametrize(
    ("significance", "n_folds"),
    [
        ("wilcoxon", 0),
        *(pytest.param(*case, marks=pytest.mark.extended) for case in (("corrected-t", 0), ("wilcoxon", 3))),
    ],
)
def test_selection_and_trace_equal_algorithm_2_with_a_scikit_learn_model(n_folds, significance):
    # 14 repeats: above the exact distribution
    options = {"n_folds": n_folds, "alpha": 0.05, "significance": significance, "n_repeats": 14}
    removed = 0
    for seed in range(100, 102) if n_folds == 0 else range(104, 105):
        X, y = random_table(seed, "regression")
        model = LinearRegression()
        trace = assert_equals_algorithm_2(X, y, "regression", LinearRegression, seed=seed, model=model, **options)
        removed += sum(not kept for *_, kept, _ in trace)
    assert removed >= 1


def test_shared_trees_select_as_refitted_ones_and_save_fits():
    saved = 0
    for seed in range(6):
        X, y = random_table(seed, "classification")
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(target=[f"c{v}" for v in y])
        given = [f"x{j}" for j in range(1, 6)]
        test = bf.get_ci_test("ppi", n_repeats=6)
        shared = test.bind(table, seed=seed)
        asked = 0
        for feature in given:  # as a shrink phase does: smaller and smaller sets
            rest = [other for other in given if other != feature]
            alone = test.bind(table, seed=seed).test(feature, "target", rest)
            assert shared.test(feature, "target", rest) == alone
            asked += 6
            if alone.p_value > 0.05 and len(rest) > 1:
                given = rest
        engine = shared.engine.risks(table.columns.get_loc("target"))
        assert 6 <= engine.n_fits <= asked
        saved += asked - engine.n_fits
    assert saved > 0


def problem(p_values, statistics):
    """Return a problem of which only the marginal pass is known."""
    p, s = np.array(p_values, dtype=float), np.array(statistics, dtype=float)
    one = np.ones(len(p))
    marginal = CIResults(s, p, np.log(p), one, one.astype(int), one.astype(bool))
    names = [f"x{j}" for j in range(len(p))]
    return Problem(names, "y", marginal, 0, lambda: None, lambda table: None)


def test_growth_orders_by_p_then_mean_difference_then_column():
    grown = PPFS(alpha=0.05).grow(problem([0.01, 0.2, 0.01, 0.001, 0.01, 0.05], [0.1, 9.0, 0.3, 0.0, 0.1, 0.0]))
    assert [s.feature for s in grown] == ["x3", "x2", "x0", "x4", "x5"]
    assert [s.importance for s in grown] == pytest.approx([-np.log(p) for p in (0.001, 0.01, 0.01, 0.01, 0.05)])


def test_growth_admits_p_equal_to_alpha_as_the_pseudo_code_does():
    for alpha in (2.0**-5, 0.05, 0.1, 1 / 3):
        assert [s.feature for s in PPFS(alpha=alpha).grow(problem([alpha, alpha * 1.0001], [1, 1]))] == ["x0"]


def shrink(p_values, order):
    """Shrink candidates, most important first, by a test whose p does not depend on what is given."""
    table = Table([Column(name, NUMERIC, np.zeros(2)) for name in [*sorted(order), "y"]])
    bound = KnownTest(answer=lambda x, y, given: p_values[x]).bind(table)
    asked = Problem(list(order), "y", None, 0, lambda: table, lambda table: bound)
    decisions = list(PPFS(alpha=0.05).shrink(asked, [Step(f, p_value=0.001, importance=7.0) for f in order]))
    return decisions, [(x, "".join(sorted(given))) for x, _, given in bound.engine.asked]


def test_shrink_visits_the_least_important_first_and_does_not_restart():
    decisions, asked = shrink({"a": 0.01, "b": 0.5, "c": 0.01, "d": 0.5}, "abcd")
    assert asked == [("d", "abc"), ("c", "ab"), ("b", "ac"), ("a", "c")]
    assert [(s.feature, s.kept) for s in decisions] == [("d", False), ("c", True), ("b", False), ("a", True)]


def test_several_removed_in_a_row_leave_the_last_one_untested():
    decisions, asked = shrink(dict.fromkeys("abc", 0.9), "abc")
    assert [x for x, _ in asked] == ["c", "b"]
    assert [(s.feature, s.kept) for s in decisions] == [("c", False), ("b", False), ("a", True)]
    assert decisions[-1].p_value == 0.001  # the test of its admission


def test_shrink_keeps_what_it_finds_at_alpha_exactly():
    decisions, _ = shrink({"a": 0.05, "b": 0.05}, "ab")
    assert all(s.kept for s in decisions)


def test_a_single_feature_stays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    selector = bf.PPFS(n_repeats=10, significance="corrected-t").fit(X, (X[:, 1] > 0).astype(int))
    assert selector.selected_features_ == ["x1"]
    assert selector.n_tests_ == 3  # growth alone


def test_nothing_admitted_is_an_empty_blanket():
    X = np.tile(np.arange(40.0)[:, None], (1, 2))
    with pytest.warns(UserWarning, match="No features were selected"):
        empty = bf.PPFS(n_repeats=5).fit(np.ones((40, 2)), np.arange(40) % 2).transform(X)
    assert empty.shape == (40, 0)
    selector = bf.PPFS(n_repeats=5, n_folds=3).fit(np.ones((40, 2)), np.arange(40) % 2)
    assert (selector.selected_features_, selector.blankets_, selector.candidates_) == ([], [[], [], []], [])


def test_equal_copies_leave_one_of_them():
    rng = np.random.default_rng(1)
    x = rng.normal(size=120)
    selector = bf.PPFS(n_repeats=10).fit(np.column_stack([x, x, x]), (x > 0).astype(int))
    # Trees take the first of equal columns, so the last two are removed in a row.
    assert selector.candidates_ == ["x0", "x1", "x2"]
    assert selector.selected_features_ == ["x0"]


def grown_with(correction, p_values, **test):
    """Return what is admitted where the marginal p-values are known, with the problem."""
    asked = problem(p_values, np.zeros(len(p_values)))
    table = Table([Column(name, NUMERIC, np.arange(9.0)) for name in [*asked.features, "y"]])
    asked.read_table, asked.bind = lambda: table, bf.get_ci_test("ppi", **test).bind
    return [s.feature for s in PPFS(correction=correction).grow(asked)], asked


def test_corrections_admit_what_their_levels_say():
    # Levels at n = 5: 0.05; 0.01; 0.01, 0.02, ..., 0.05; those divided by 1 + 1/2 + ... + 1/5 = 137/60.
    p_values = [0.03, 0.0095, 0.9, 0.0125, 0.004]
    for correction, wanted in [
        ("none", ["x4", "x1", "x3", "x0"]),
        ("bh", ["x4", "x1", "x3", "x0"]),
        ("by", ["x4", "x1", "x3"]),  # 0.0044, 0.0088, 0.0131, 0.0175, 0.0219: rank 2 alone would not do
        ("bonferroni", ["x4", "x1"]),
    ]:
        assert grown_with(correction, p_values)[0] == wanted
    assert grown_with("bh", [0.03, 0.04, 0.9, 0.6, 0.7])[0] == []


def test_shrink_keeps_alpha_whatever_the_correction():
    table = Table([Column(name, NUMERIC, np.zeros(2)) for name in "aby"])
    bound = KnownTest(answer=lambda x, y, given: 0.04).bind(table)
    asked = Problem(["a", "b"], "y", None, 0, lambda: table, lambda table: bound)
    for correction in ("none", "bonferroni"):
        assert all(s.kept for s in PPFS(correction=correction).shrink(asked, [Step("a"), Step("b")]))


@pytest.mark.parametrize(
    ("p_values", "correction", "n_repeats", "reason"),
    [
        (
            [2**-5, 2**-5, 0.4, 1, 1, 1, 1, 1],
            "bh",
            5,
            "5 of 8 features .* as ppi can show, p = 0.031, and 2 were",
        ),
        ([2**-5, 1, 1], "bh", 5, "bh at alpha 0.05 2 of 3 .* and 1 were. To admit these, set n_repeats to at least 6"),
        ([2**-6, 1, 1], "by", 6, "2 of 3 features would have .*p = 0.016, and 1 were. To admit these, set n_rep"),
        ([2**-5, 1], "bonferroni", 5, "more than all of 2 features"),
        ([1e-6] * 9, "bonferroni", 30, ""),
        ([9e-7] * 10 + [1] * 10**5, "bh", 30, ""),  # not all repeats agree: 30 different differences give 8.6e-7
        ([8.5e-7] * 1 + [1] * 10**5, "bh", 30, "2 of 100,001 .* p = 8.7e-07, and 1 were. .* to at least 32 .it is 30"),
        ([2**-4, 1, 1], "bh", 5, ""),  # nothing has the least p-value: the test had more to say, and did not
        ([2**-5, 1, 1], "none", 5, ""),
        ([2**-5, 2**-5, 1], "bh", 5, ""),
    ],
)
def test_an_empty_set_that_the_resolution_explains_is_unreliable(p_values, correction, n_repeats, reason):
    grown, asked = grown_with(correction, p_values, n_repeats=n_repeats)
    assert asked.status == ("unreliable" if reason else "ok")
    assert re.search(reason, asked.reason)
    assert not (reason and grown)


def test_corrections_keep_noise_out_of_a_wide_table_and_let_signal_in():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 400))
    y = (X[:, 17] + 0.3 * rng.normal(size=200) > 0).astype(int)
    options = {"alpha": 0.3, "n_repeats": 40, "significance": "corrected-t", "max_tests": 1}
    corrections = ("none", "bh", "by", "bonferroni")
    grown = {how: bf.PPFS(correction=how, random_state=1, **options).fit(X, y).candidates_ for how in corrections}
    assert grown["none"][0] == "x17" and len(grown["none"]) > 40
    assert grown["bh"] == grown["by"] == grown["bonferroni"] == ["x17"]


def test_a_fitted_selector_says_where_the_p_values_of_ppi_mislead():
    x, y = np.random.default_rng(0).normal(size=(2, 60, 1))
    said = "is found dependent in 18 %"
    fitted = bf.PPFS(n_repeats=10).fit(x, x[:, 0] + y[:, 0])
    assert said in fitted.caution_ and said in fitted._repr_html_()
    assert bf.PPFS(ci_test="fisher-z").fit(x, y[:, 0]).caution_ == ""
    assert bf.MRMR().fit(x, y[:, 0]).caution_ == ""
