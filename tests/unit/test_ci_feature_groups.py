"""Tests of groups of columns, against what the tests say of one joint column, and against literal formulas."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f as f_distribution

from blanketflow.ci import get_ci_test
from blanketflow.ci.feature_groups import bind_groups
from blanketflow.ci.predictive.ppi import PPI
from blanketflow.core.convert import as_table
from blanketflow.core.table import Design
from literal_hsic import full_hsic

GROUPS = {"site": ("site_a", "site_b"), "scale": ("q1", "q2", "q3")}


def discrete(n=600, seed=0):
    """Return two groups, of two and three columns, and three more columns, all discrete and related."""
    rng = np.random.default_rng(seed)
    site, mood = rng.integers(0, 3, n), rng.integers(0, 2, n)
    X = pd.DataFrame({"site_a": site == 0, "age": rng.integers(0, 3, n), "site_b": site == 1})
    for name in ("q1", "q2", "q3"):
        X[name] = np.where(rng.random(n) < 0.7, mood, rng.integers(0, 2, n))
    return X.assign(y=(site + mood + rng.integers(0, 2, n)) % 3).astype(str)


def numeric(n=120, seed=0):
    X = discrete(n, seed).replace({"True": "1", "False": "0"}).astype(float)
    return X + np.random.default_rng(seed).normal(size=X.shape)


QUERIES = [("site", "y", ()), ("age", "site", ()), ("site", "scale", ()), ("scale", "site", ("age",)),
           ("age", "y", ("site", "scale")), ("site", "scale", ("y",))]  # fmt: skip


@pytest.mark.parametrize("name", ["g2", "chi2", "mi-permutation"])
def test_a_group_is_a_column_of_its_joint_levels(name):
    X, test = discrete(), get_ci_test(name, **({"n_permutations": 50} if name == "mi-permutation" else {}))
    by_hand = pd.DataFrame(
        {"site": X["site_a"] + X["site_b"], "age": X["age"], "scale": X["q1"] + X["q2"] + X["q3"], "y": X["y"]}
    )
    ours, joint = bind_groups(test, as_table(X), GROUPS), test.bind(by_hand)
    assert ours.table.names == joint.table.names
    for x, y, given in QUERIES:
        assert ours.test(x, y, given) == joint.test(x, y, given)


@pytest.mark.parametrize("name", ["mi-permutation", "hsic"])
def test_whole_clusters_of_rows_change_places_with_groups_too(name):
    X, clusters = discrete(60), Design(clusters=np.arange(60) // 6)
    options = {"permute": "clusters", "n_permutations": 50, **({"null": "permutation"} if name == "hsic" else {})}
    test, table = get_ci_test(name, **options), as_table(X).with_design(clusters)
    ours, plain = bind_groups(test, table, GROUPS), test.bind(table)
    assert ours.test("site", "y") == plain.test(["site_a", "site_b"], "y")
    assert ours.test("age", "y") == plain.test("age", "y")


DESIGNS = {
    "strata": Design(within=np.arange(600) % 3),
    "strata and clusters": Design(clusters=np.arange(600) // 6, within=np.arange(600) % 3),
}


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", ["g2", "chi2", "mi-permutation", "fisher-z", "lr-mixed", "hsic", "gcm", "ppi", "cpi"])
def test_within_strata_a_group_is_what_its_columns_are_there(name, design):
    options = {"mi-permutation": {"n_permutations": 50}, "ppi": {"n_repeats": 5}, "cpi": {"model": "ridge"}}
    test, X = (
        get_ci_test(name, **options.get(name, {})),
        discrete() if name not in ("fisher-z", "hsic", "cpi") else numeric(600),
    )
    if design != "strata" and not test.card.design_based:
        pytest.skip("knows clusters by permute only")
    joined = test.joins_columns and name != "hsic"
    by_hand = X.assign(site=X["site_a"].astype(str) + X["site_b"].astype(str)) if joined else X
    plain, ours = (
        bind(as_table(frame.assign(y=X["y"])).with_design(DESIGNS[design]))
        for bind, frame in ((test.bind, by_hand), (lambda table: bind_groups(test, table, GROUPS), X))
    )
    site = "site" if joined else ["site_a", "site_b"]
    assert ours.test("site", "y", ["age"]) == plain.test(site, "y", ["age"])
    assert ours.test("age", "y", ["site"]) == plain.test("age", "y", [site] if joined else site)
    without = bind_groups(test, as_table(X), GROUPS)
    assert ours.test("site", "y", ["age"]) != without.test("site", "y", ["age"])


def test_numbers_are_binned_before_they_are_joined():
    X = numeric(400)
    halves = (X[["q1", "q2", "q3"]] > X[["q1", "q2", "q3"]].median()).astype(str).agg("".join, axis=1)
    test = get_ci_test("g2", bins=2)
    ours = bind_groups(test, as_table(X), GROUPS).test("scale", "y")
    assert ours == test.bind(pd.DataFrame({"scale": halves, "y": X["y"]})).test("scale", "y")


def residuals(X, given):
    """Return the residuals of columns regressed on others and a constant."""
    Z = np.column_stack([np.ones(len(X)), X[given]])
    return X - Z @ np.linalg.lstsq(Z, X, rcond=None)[0]


def wilks(X, x, y, given):
    """Wilks' lambda by its definition: the determinant of the error over that of error and hypothesis."""
    whole, rest = residuals(X, list(given)), residuals(X, [*given, *x])
    return np.linalg.det(rest[y].T @ rest[y]) / np.linalg.det(whole[y].T @ whole[y])


@pytest.mark.parametrize("name", ["fisher-z", "lr-mixed"])
@pytest.mark.parametrize("given", [(), ("age", "y")])
def test_two_groups_of_numbers_are_compared_by_wilks_lambda(name, given):
    X = numeric()
    x, y = map(list, GROUPS.values())
    known = wilks(X, x, y, given)
    # With two columns in a set Rao's F is exact: (1 - sqrt(lambda)) / sqrt(lambda) with 2 q and 2 (m - q - 1) degrees
    # of freedom, for q columns in the other set and m rows beyond the given ones and the constant.
    root, m = math.sqrt(known), len(X) - 1 - len(given)
    p_value = f_distribution.sf((1 - root) / root * (2 * (m - 3 - 1)) / 6, 6, 2 * (m - 3 - 1))
    found = bind_groups(get_ci_test(name), as_table(X), GROUPS).test("site", "scale", given)
    assert found.dof == 6 and found.reliable
    assert found.p_value == pytest.approx(p_value, rel=1e-9)
    if name == "lr-mixed":
        assert found.statistic == pytest.approx(-len(X) * math.log(known), rel=1e-9)


def test_large_groups_of_independent_numbers_are_rejected_as_often_as_alpha():
    rng, rejected = np.random.default_rng(0), 0
    names = [f"x{i}" for i in range(8)]
    for _ in range(400):
        table = as_table(rng.normal(size=(30, 8)))
        bound = bind_groups(get_ci_test("fisher-z"), table, {"a": names[:4], "b": names[4:7]})
        rejected += bound.test("a", "b", ["x7"]).p_value <= 0.1
    assert abs(rejected - 400 * 0.1) <= 3 * math.sqrt(400 * 0.1 * 0.9)


@pytest.mark.parametrize("name", ["fisher-z", "lr-mixed", "hsic", "gcm", "ppi", "cpi"])
def test_a_group_and_a_column_are_tested_as_a_set_of_columns(name):
    X, options = numeric(), {"ppi": {"n_repeats": 5}, "cpi": {"model": "ridge"}}
    test = get_ci_test(name, **options.get(name, {}))
    ours, plain = (bind(test, X) for bind in (grouped, lambda test, X: test.bind(X)))
    expected = plain.test(["site_a", "site_b"], "y", ["age", "q1", "q2", "q3"])
    assert ours.test("site", "y", ["age", "scale"]) == expected
    assert not test.is_symmetric or ours.test("y", "site", ["scale", "age"]) == expected


def grouped(test, X):
    return bind_groups(test, as_table(X), GROUPS)


def test_two_groups_have_one_kernel_each():
    X = numeric(40).assign(site_a=discrete(40)["site_a"])
    table = as_table(X)
    ours = bind_groups(get_ci_test("hsic"), table, GROUPS)
    site, scale = ([table[name] for name in members] for members in GROUPS.values())
    assert ours.test("site", "scale").statistic == pytest.approx(full_hsic(site, scale), abs=1e-9)
    both = [*site, table["age"]]
    assert ours.statistics([["site", "age"]], "scale")[0] == pytest.approx(full_hsic(both, scale), abs=1e-9)
    without = ours.statistics_without_each(["site", "age", "scale"], "y")
    sets = [[table["age"], *scale], [*site, *scale], both]
    assert without == pytest.approx([full_hsic(columns, [table["y"]]) for columns in sets], abs=1e-9)
    found = ours.test("site", "scale", ["age"])
    assert found == ours.test("scale", "site", ["age"]) and 0 < found.p_value < 1


def test_groups_of_labels_are_compared_by_a_chain_of_likelihood_ratios():
    X = discrete().assign(age=numeric(600)["age"])
    ours, plain = grouped(get_ci_test("lr-mixed"), X), get_ci_test("lr-mixed", directions="target").bind(X)
    earlier = {"q1": [], "q2": ["q1"], "q3": ["q1", "q2"]}
    links = [plain.test(["site_a", "site_b"], q, ["age", *given]) for q, given in earlier.items()]
    found = ours.test("scale", "site", ["age"])
    assert found == ours.test("site", "scale", ["age"])
    assert found.statistic == pytest.approx(sum(link.statistic for link in links))
    assert found.dof == sum(link.dof for link in links)


class OneByOne(PPI):
    """A test that takes no sets of columns."""

    card = replace(PPI.card, column_sets=False)


def test_a_test_of_single_columns_takes_the_best_of_a_group_with_bonferronis_correction():
    X = numeric()
    test = OneByOne(n_repeats=8, significance="corrected-t")
    ours, plain = grouped(test, X), test.bind(X)
    singles = [plain.test(q, "y", ["age", "site_a", "site_b"]) for q in GROUPS["scale"]]
    found = ours.test("scale", "y", ["age", "site"])
    assert found.p_value == pytest.approx(min(1.0, 3 * min(single.p_value for single in singles)))
    assert ours.test("age", "y") == plain.test("age", "y")
    # The target is no single column here: age against site_a, and against site_b given site_a.
    links = [plain.test("age", "site_a"), plain.test("age", "site_b", ["site_a"])]
    assert ours.test("age", "site").p_value == pytest.approx(min(1.0, 2 * min(link.p_value for link in links)))


def test_the_rows_that_a_group_needs_are_those_of_its_columns():
    X = discrete(60)
    ours, plain = grouped(get_ci_test("lr-mixed"), X), get_ci_test("lr-mixed").bind(X)
    at, position = ours.table.position, plain.table.position
    columns = tuple(map(position, GROUPS["scale"]))
    assert ours.rows_needed(at("scale"), at("y"), ()) == plain.rows_needed(columns, position("y"), ())
    assert not hasattr(grouped(get_ci_test("hsic"), X).engine, "rows_needed")
