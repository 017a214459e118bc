"""The mixed likelihood-ratio test against statsmodels, contingency tables, and what must not change it."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import blanketflow as bf
from literal import g2_by_hand


def bind(X, **options):
    return bf.get_ci_test("lr-mixed", **options).bind(X)


def mixed(n=300, seed=0):
    """Return numbers a, b, i, classes u (2), v, w (3) and a boolean t that all depend on each other, and noise e, f."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)

    def classes(labels):
        borders = np.linspace(-0.8, 0.8, len(labels) - 1) if len(labels) > 2 else [0.2]
        return np.array(labels)[np.searchsorted(borders, 0.6 * s + rng.normal(size=n))]

    return pd.DataFrame(
        {
            "a": s + rng.normal(size=n),
            "b": 0.3 * s + rng.normal(size=n),
            "i": np.round(s + 2 * rng.normal(size=n)).astype(int),
            "u": classes(["yes", "no"]),
            "v": classes(["red", "green", "blue"]),
            "w": classes(["x", "y", "z"]),
            "t": 0.5 * s + rng.normal(size=n) > 0.4,
            "e": rng.normal(size=n),
            "f": np.array(["p", "q"])[rng.integers(0, 2, n)],
        }
    )


def is_classes(column):
    return column.dtype.kind not in "if"


def design(X, names):
    """Return a constant, numbers as they are, and indicators of all levels but the first."""
    parts = [pd.Series(1.0, X.index, name="constant")]
    for name in names:
        column = X[name]
        parts.append(pd.get_dummies(column, drop_first=True, dtype=float) if is_classes(column) else column)
    return pd.concat(parts, axis=1).to_numpy(dtype=float)


def one_direction(X, x, y, given, linear="f"):
    """Return statistic, degrees of freedom and p of y on the given columns, without and with the columns x."""
    small, large = design(X, given), design(X, [*given, *x])
    if is_classes(X[y]):
        codes = np.unique(X[y], return_inverse=True)[1]

        def log_likelihood(columns):
            return sm.MNLogit(codes, columns).fit(method="newton", disp=0, maxiter=200, tol=1e-13).llf

        statistic = 2 * (log_likelihood(large) - log_likelihood(small))
        dof = codes.max() * (large.shape[1] - small.shape[1])
        return statistic, dof, stats.chi2.sf(statistic, dof)
    small, large = sm.OLS(X[y].to_numpy(float), small).fit(), sm.OLS(X[y].to_numpy(float), large).fit()
    statistic, p, dof = large.compare_lr_test(small)
    return statistic, dof, p if linear == "chi2" else large.compare_f_test(small)[1]


def literal(X, x, y, given, linear="f"):
    """Return statistic, p and degrees of freedom of both directions combined."""
    smaller, larger = sorted(
        (one_direction(X, [x], y, given, linear), one_direction(X, [y], x, given, linear)), key=lambda d: d[2]
    )
    if 2 * smaller[2] < larger[2]:
        return smaller[0], 2 * smaller[2], smaller[1]
    return larger[0], larger[2], larger[1]


PAIRS = [("a", "b"), ("a", "i"), ("a", "u"), ("b", "v"), ("u", "t"), ("u", "v"), ("v", "w"), ("e", "v"), ("f", "w")]


@pytest.mark.parametrize("given", [[], ["b"], ["w"], ["i", "t"], ["e", "w", "f"]])
@pytest.mark.parametrize("linear", ["f", "chi2"])
def test_equals_statsmodels(given, linear):
    X = mixed()
    for x, y in PAIRS:
        if x in given or y in given:
            continue
        result, (statistic, p, dof) = bind(X, linear=linear).test(x, y, given), literal(X, x, y, given, linear)
        assert result.reliable
        assert result.dof == dof, (x, y)
        assert result.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-9), (x, y)
        assert result.p_value == pytest.approx(p, rel=1e-8), (x, y)


def test_a_table_of_two_classes_is_g2():
    # 2 (16 log(16 / 11) + 4 log(4 / 9) + 6 log(6 / 11) + 14 log(14 / 9))
    x = np.repeat(["a", "b"], 20)
    y = np.array(["c"] * 16 + ["d"] * 4 + ["c"] * 6 + ["d"] * 14)
    by_hand = 2 * (16 * math.log(16 / 11) + 4 * math.log(4 / 9) + 6 * math.log(6 / 11) + 14 * math.log(14 / 9))
    result = bind(pd.DataFrame({"x": x, "y": y})).test("x", "y")
    assert result.statistic == pytest.approx(by_hand, rel=1e-9)
    assert result.dof == 1
    assert result.p_value == pytest.approx(stats.chi2.sf(by_hand, 1), rel=1e-9)


def test_classes_given_nothing_are_the_g2_test():
    for seed in range(4):
        X = mixed(120, seed).assign(h=np.random.default_rng(seed).choice(list("hijk"), 120))
        for x, y in [("u", "v"), ("v", "w"), ("h", "v"), ("t", "h")]:
            result = bind(X).test(x, y)
            assert result.statistic == pytest.approx(g2_by_hand(X[x], X[y]), rel=1e-9)
            assert result.dof == (X[x].nunique() - 1) * (X[y].nunique() - 1)


def test_two_numbers_are_the_test_of_their_partial_correlation():
    X = mixed(80)
    for given in ([], ["i"], ["i", "v"]):
        result = bind(X).test("a", "b", given)
        Z = design(X, given)
        a, b = (X[c] - Z @ np.linalg.lstsq(Z, X[c], rcond=None)[0] for c in ("a", "b"))
        r, dof = np.corrcoef(a, b)[0, 1], 80 - Z.shape[1] - 1
        assert result.statistic == pytest.approx(-80 * math.log(1 - r * r), rel=1e-9)
        assert result.p_value == pytest.approx(2 * stats.t.sf(abs(r) * math.sqrt(dof / (1 - r * r)), dof), rel=1e-9)


def test_the_smaller_p_value_counts_twice_and_the_larger_is_the_limit():
    X = mixed(300, 7)
    X = X.assign(skew=np.exp(2 * X["a"]))
    doubled = limited = 0
    for x, y in [("skew", "u"), ("skew", "v"), ("b", "w"), ("i", "w"), ("v", "u"), ("e", "w"), ("i", "t")]:
        for given in ([], ["f"], ["f", "e"] if "e" not in (x, y) else ["b"]):
            p1, p2 = one_direction(X, [x], y, given)[2], one_direction(X, [y], x, given)[2]
            assert bind(X).test(x, y, given).p_value == pytest.approx(min(2 * min(p1, p2), max(p1, p2)), rel=1e-7)
            doubled += 2 * min(p1, p2) < max(p1, p2)
            limited += 2 * min(p1, p2) >= max(p1, p2)
    assert doubled and limited


def test_swapping_x_and_y_changes_no_bit():
    X = mixed(200, 3)
    X = X.assign(copy=X["v"], near=X["a"] + 1e-6 * X["e"], constant=2.0, separated=np.where(X["a"] > 0, "m", "n"))
    for given in ([], ["w", "i"]):
        others = [c for c in X if c not in given]
        there = {(x, y): bind(X).test(x, y, given) for x in others for y in others if x != y}
        assert all(there[x, y] == there[y, x] for x, y in there)


def test_candidates_asked_together_change_no_bit():
    X = mixed(200, 4)
    for y, given in [("v", ["a", "w"]), ("a", ["u", "b"]), ("t", [])]:
        xs = [c for c in X if c != y and c not in given]
        together = bind(X).test_many(xs, y, given)
        assert list(together) == [bind(X).test(x, y, given) for x in xs]


def test_order_labels_and_scale_do_not_matter():
    X = mixed(200, 5)
    rng = np.random.default_rng(0)
    relabelled = X.assign(
        v=X["v"].map({"red": "1", "green": "9", "blue": "5"}),
        u=X["u"].map({"yes": "a", "no": "b"}),
        t=~X["t"],
        a=-1e6 * X["a"] + 3e7,
        b=1e-9 * X["b"],
    )
    others = [
        X.iloc[rng.permutation(200)],
        X[list(X)[::-1]],
        relabelled,
        X.assign(w=pd.Categorical(X["w"], list("qzyxr"))),
    ]
    for x, y in PAIRS:
        for given in (
            [],
            ["i", "w"] if "w" not in (x, y) and "i" not in (x, y) else ["b" if "b" not in (x, y) else "e"],
        ):
            wanted = bind(X).test(x, y, given)[:4]
            for other in others:
                np.testing.assert_allclose(bind(other).test(x, y, given)[:4], wanted, rtol=1e-8, atol=1e-10)


def test_separated_classes_are_the_strongest_and_finite():
    X = mixed(200, 6)
    X = X.assign(separated=np.where(X["a"] > 0, "m", "n"), copy=X["v"], three=np.digitize(X["a"], [-1, 1]).astype(str))
    for x, y in [("separated", "a"), ("copy", "v"), ("three", "a"), ("three", "separated")]:
        for given in ([], ["b"], ["w", "i"]):
            result = bind(X).test(x, y, given)
            assert np.isfinite(result).all()
            assert result.log_p < -50
    # A table with an empty cell: the deviance has its limit, G2.
    assert bind(X).test("three", "separated").statistic == pytest.approx(
        g2_by_hand(X["three"], X["separated"]), rel=1e-9
    )
    copies = bind(X).test("copy", "v")
    assert copies.statistic == pytest.approx(g2_by_hand(X["v"], X["v"]), rel=1e-9)
    assert bind(X).test("a", "w", ["separated"]).statistic > 0


def test_collinear_predictors_count_once():
    X = mixed(150, 8)
    X = X.assign(twice=2 * X["a"], constant=1.0, one="only", same=X["v"], is_red=(X["v"] == "red"), sum=X["a"] + X["e"])
    for x, y in [("b", "i"), ("b", "w"), ("u", "w")]:
        for given, reduced in [(["a", "twice", "constant", "one"], ["a"]), (["v", "same", "is_red"], ["v"])]:
            found, wanted = bind(X).test(x, y, given), bind(X).test(x, y, reduced)
            np.testing.assert_allclose(found[:4], wanted[:4], rtol=1e-9)
    for x, y, given in [
        ("twice", "w", ["a"]),
        ("is_red", "a", ["v"]),
        ("same", "a", ["v"]),
        ("one", "v", []),
        ("constant", "a", []),
    ]:
        for query in ((x, y, given), (y, x, given)):
            result = bind(X).test(*query)
            assert (result.statistic, result.p_value, result.dof) == (0.0, 1.0, 0.0)
    # What is left of a level counts: given is_red only green against blue remains.
    assert bind(X).test("v", "a", ["is_red"]).dof == 1
    assert bind(X).test("sum", "w", ["a"]).p_value == pytest.approx(bind(X).test("e", "w", ["a"]).p_value, rel=1e-8)


def test_a_set_of_columns_is_one_direction():
    X = mixed(250, 9)
    for columns, y, given in [
        (["a", "b"], "v", []),
        (["a", "u"], "v", ["i"]),
        (["v", "w", "e"], "t", ["a"]),
        (["v", "b"], "a", ["w", "i"]),
    ]:
        statistic, dof, p = one_direction(X, columns, y, given)
        result = bind(X).test(columns, y, given)
        assert result.statistic == pytest.approx(statistic, rel=1e-9)
        assert result.dof == dof
        assert result.p_value == pytest.approx(p, rel=1e-8)
        assert bind(X).test_many([columns, "f"], y, given)[0] == result
    doubled = X.assign(again=3 * X["a"])
    assert bind(doubled).test(["a", "again", "b"], "v")[:4] == pytest.approx(
        bind(X).test(["a", "b"], "v")[:4], rel=1e-9
    )


def test_too_few_rows_a_parameter_are_not_reliable():
    X = mixed(55, 10)
    # v on w and b: 2 (1 + 2 + 1) = 8 parameters of the null model and w; 55 rows are enough for 11 of five rows each.
    assert bind(X, min_samples_per_parameter=5).test("v", "b", ["w"]).reliable
    assert not bind(X).test("v", "b", ["w"]).reliable  # ten rows each by default
    rules = ("independent", "undecided", "use")
    results = {u: bind(X, unreliable=u, min_samples_per_parameter=5).test("v", "b", ["w", "a", "i"]) for u in rules}
    assert not any(r.reliable for r in results.values())
    for rule in ("independent", "undecided"):
        assert results[rule][:4] == (0.0, 1.0, 0.0, 0.0)
    assert results["use"].p_value == pytest.approx(literal(X, "v", "b", ["w", "a", "i"])[1], rel=1e-8)
    assert bind(X, min_samples_per_parameter=4).test("v", "b", ["w", "a", "i"]) == results["use"]._replace(
        reliable=True
    )
    assert bind(X, min_samples_per_parameter=5.5).test("a", "b", ["w", "i", "e"]).reliable  # F is exact
    assert not bind(X, linear="chi2", min_samples_per_parameter=10).test("a", "b", ["w", "i", "e"]).reliable


def test_columns_with_a_level_for_each_row_are_never_fitted():
    X = mixed(400, 11).assign(key=[f"row {i}" for i in range(400)])
    for options in ({}, {"unreliable": "use"}, {"min_samples_per_parameter": 0}):
        for x, y, given in [("key", "a", []), ("a", "key", []), ("a", "b", ["key"]), ("u", "v", ["key"])]:
            result = bind(X, **options).test(x, y, given)
            assert (result.p_value, result.reliable) == (1.0, False)


def test_no_rows_left_to_compare_say_nothing():
    X = pd.DataFrame(np.random.default_rng(12).normal(size=(6, 7)))
    for given in (["2", "3", "4", "5"], ["2", "3", "4", "5", "6"]):  # 1 + 4 + 1 parameters; the 5 explain anything
        result = bind(X).test("0", "1", given)
        assert (result.p_value, result.dof, result.reliable) == (1.0, 0.0, False)
    enough = bind(X).test("0", "1", ["2", "3", "4"])
    assert enough.dof == 1.0 and enough.reliable


@pytest.mark.parametrize(
    ("x", "y", "given"), [("a", "b", ["w", "i"]), ("v", "b", ["w"]), ("v", "u", []), ("b", "w", ["v", "u"])]
)
def test_the_rows_that_a_test_needs_are_the_fewest_with_which_it_is_reliable(x, y, given):
    X = mixed(2000, 10)
    position = {name: i for i, name in enumerate(X.columns)}
    needed = bind(X).rows_needed(position[x], position[y], tuple(position[z] for z in given))
    for n, is_enough in ((needed, True), (needed - 1, False)):
        assert bind(X[:n]).test(x, y, given).reliable == is_enough


@pytest.mark.extended
@pytest.mark.parametrize(("x", "y"), [("e", "b"), ("e", "v"), ("f", "v")])
@pytest.mark.parametrize("given", [[], ["a", "w"]])
def test_independent_columns_are_rejected_at_the_level(x, y, given):
    p = np.array([bind(mixed(100, seed)).test(x, y, given).p_value for seed in range(400)])
    # 99.99 % of a binomial of 400 draws at 0.05 lie between 6 and 38; logistic regression is a little liberal.
    assert 5 <= np.sum(p < 0.05) <= 42


@pytest.mark.parametrize("given", [[], ["b"], ["w", "i"]])
@pytest.mark.parametrize("linear", ["f", "chi2"])
def test_of_the_target_only_is_one_direction_against_statsmodels(given, linear):
    X = mixed()
    for x, y in [pair for pair in PAIRS if not set(pair) & set(given)]:
        for predictor, target in ((x, y), (y, x)):
            result = bind(X, linear=linear, directions="target").test(predictor, target, given)
            statistic, dof, p = one_direction(X, [predictor], target, given, linear)
            assert result.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-9)
            assert (result.dof, result.p_value) == (dof, pytest.approx(p, rel=1e-8))


@pytest.mark.parametrize("given", [[], ["b"], ["w", "i"]])
@pytest.mark.parametrize("linear", ["f", "chi2"])
def test_a_number_and_a_label_by_the_regression_of_the_number_against_statsmodels(given, linear):
    X = mixed()
    bound = bind(X, linear=linear, directions="linear")
    for x, y in [pair for pair in PAIRS if not set(pair) & set(given)]:
        result = bound.test(x, y, given)
        assert bound.test(y, x, given) == result
        if is_classes(X[x]) == is_classes(X[y]):
            assert result == bind(X, linear=linear).test(x, y, given)
            continue
        number, label = (y, x) if is_classes(X[x]) else (x, y)
        statistic, dof, p = one_direction(X, [label], number, given, linear)
        assert result.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-9)
        assert (result.dof, result.p_value) == (dof, pytest.approx(p, rel=1e-8))


def test_the_linear_regression_needs_rows_for_levels_only():
    X = mixed(90, 14).assign(many=[f"level {i % 9}" for i in range(90)])
    both, linear = bind(X), bind(X, directions="linear")
    position = {name: i for i, name in enumerate(X.columns)}
    asked = position["a"], position["many"], (position["w"], position["b"])
    assert not both.test("a", "many", ["w", "b"]).reliable  # 8 (1 + 2 + 1 + 1) parameters
    assert linear.test("a", "many", ["w", "b"]).reliable
    assert (both.rows_needed(*asked), linear.rows_needed(*asked)) == (400, 90)
    assert not bind(X[:89], directions="linear").test("a", "many", ["w", "b"]).reliable


def test_of_the_target_only_is_remembered_one_way_round():
    both, target = bind(mixed()), bind(mixed(), directions="target")
    for bound in (both, target):
        bound.test("a", "v", ["w"])
        bound.test("v", "a", ["w"])
    assert both.n_tests == 1
    assert target.n_tests == 2
    assert target.test("a", "v", ["w"]).p_value != target.test("v", "a", ["w"]).p_value
    assert target.test_many(["v", "b"], "a", ["w"])[0] == target.test("v", "a", ["w"])


@pytest.mark.parametrize("directions", ["both", "target", "linear"])
def test_a_flag_is_one_thing_whatever_its_type(directions):
    rng = np.random.default_rng(4)
    z, noise = rng.normal(size=(2, 300))
    flag, case = (rng.random((2, 300)) < 1 / (1 + np.exp(2 - z))).astype(int)
    names = np.array(["no", "yes"])
    types = [(flag, case), (flag == 1, case == 1), (names[flag], names[case]), (flag * 2.5 - 1, 7.0 - case)]
    found = []
    for first, second in types:
        frame = pd.DataFrame({"flag": first, "case": second, "z": z, "noise": noise})
        bound = bf.get_ci_test("lr-mixed", directions=directions).bind(frame)
        asked = [("flag", "case", ["z"]), ("z", "noise", ["flag", "case"]), ("z", "case", ["flag"]), ("case", "z", [])]
        found.append([bound.test(x, y, given=given) for x, y, given in asked])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert (a.dof, a.n, a.reliable) == (b.dof, b.n, b.reliable)
            assert a.p_value == pytest.approx(b.p_value, rel=1e-7)


@pytest.mark.parametrize("directions", ["both", "target", "linear"])
@pytest.mark.parametrize("n", [30, 400])
def test_partial_correlations_are_regressions_on_rows(directions, n, monkeypatch):
    rng = np.random.default_rng(n)
    z, u, v = rng.normal(size=(3, n))
    frame = pd.DataFrame({"z": z, "x": z + u, "copy": 2 * (z + u) - 3, "near": z + u + 1e-9 * v, "sum": z + v})
    frame = frame.assign(flag=(z + v > 0) * 1, other=np.where(u + v > 0.3, "no", "yes"), fixed=1.0)
    frame["label"] = rng.choice(list("abc"), n)
    test, names = bf.get_ci_test("lr-mixed", directions=directions), list(frame)
    fast, slow = test.bind(frame), test.bind(frame)
    monkeypatch.setattr(type(slow.engine), "correlates", False)
    asked = [
        (y, given)
        for y in names
        for size in range(4)
        for given in itertools.combinations([name for name in names if name != y], size)
    ]
    by_rows = [slow.test_many([x for x in names if x not in (y, *given)], y, given=given) for y, given in asked]
    monkeypatch.setattr(type(slow.engine), "correlates", True)
    by_both = [fast.test_many([x for x in names if x not in (y, *given)], y, given=given) for y, given in asked]
    for rows, both in zip(by_rows, by_both, strict=True):
        for name in ("dof", "n", "reliable"):
            np.testing.assert_array_equal(getattr(rows, name), getattr(both, name))
        np.testing.assert_allclose(both.statistic, rows.statistic, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(both.log_p, rows.log_p, rtol=1e-6, atol=1e-9)
