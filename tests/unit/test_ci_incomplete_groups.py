"""Missing cells together with groups of features, and imputed copies of rows with a design: against the plain tests."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

import blanketflow as bf
from blanketflow.ci.feature_groups import bind_groups
from blanketflow.ci.missing import imputed_copies, with_incomplete
from blanketflow.ci.pooling import pooled_p_values
from blanketflow.ci.unbound import with_strata
from blanketflow.core.convert import as_table
from blanketflow.core.registry import discover
from blanketflow.core.results import CIResults
from blanketflow.core.table import Design

TESTS = {
    name: test
    for name, test in discover("blanketflow.ci").items()
    if "pairwise" in test.card.incomplete and test.card.column_sets
}
DESIGN_BASED = [name for name, test in TESTS.items() if test.card.design_based]
GROUPS = {"site": ("a", "c"), "scale": ("b", "e")}
SITE = np.arange(150) % 2
#: X, Y and what is given: columns and groups in each part.
QUERIES = [
    ("site", "y", ()),
    ("site", "y", ("scale",)),
    ("d", "y", ("site",)),
    ("site", "scale", ()),
    ("d", "site", ()),
]


def study(n=150, missing=0.08):
    rng = np.random.default_rng(0)
    a, d = rng.normal(size=(2, n))
    X = pd.DataFrame({"a": a, "b": a + rng.normal(size=n), "c": rng.normal(size=n), "d": d, "e": rng.normal(size=n)})
    X = X.mask(rng.random(X.shape) < missing)
    return as_table(X.assign(y=a + d + rng.normal(size=n)))


def configured(name):
    return bf.get_ci_test(name, **({"bins": 2} if "bins" in TESTS[name].parameters() else {}))


def columns_of(*variables):
    return [column for variable in variables for column in GROUPS.get(variable, (variable,))]


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("within", [None, SITE])
@pytest.mark.parametrize(("x", "y", "given"), QUERIES)
def test_pairwise_a_group_is_tested_on_the_rows_complete_for_all_its_columns(name, x, y, given, within):
    table, test = study().with_design(Design(within=within)), configured(name)
    found = bind_groups(with_incomplete(test, "pairwise"), table, GROUPS).test(x, y, given=given)
    asked = columns_of(x, y, *given)
    rows = np.flatnonzero(~np.any([table[column].missing() for column in asked], axis=0))
    groups = {name: members for name, members in GROUPS.items() if set(members) <= set(asked)}
    expected = bind_groups(test, table.select(asked).take(rows), groups).test(x, y, given=given)
    assert found == expected and found.n == len(rows) < table.n_rows


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("within", [None, SITE])
@pytest.mark.parametrize(("x", "y", "given"), QUERIES)
def test_a_group_is_pooled_over_its_imputed_copies(name, x, y, given, within):
    table, test = study().with_design(Design(within=within)), configured(name)
    whole, _ = with_strata(test, table)  # the strata tell of the missing cells, too
    copies = [copy.select(table.names) for copy in imputed_copies(whole, 3, seed=5, target=table.position("y"))]
    each = [bind_groups(test, copy, GROUPS, 5, "y").test(x, y, given=given) for copy in copies]
    stacked = None
    if test.stacks_copies:
        rows = as_table(pd.DataFrame({c: np.concatenate([k[c].numbers() for k in copies]) for c in table.names}))
        rows = rows.with_design(Design(within=None if within is None else np.tile(within, 3)))
        stacked = CIResults.from_rows([bind_groups(test, rows, GROUPS, 5, "y").test(x, y, given=given)])
    is_set = not test.joins_columns and (x in GROUPS or y in GROUPS)
    pool = test.pooled_sets if is_set else test.pooled
    (expected,) = pool([CIResults.from_rows([one]) for one in each], stacked)
    found = bind_groups(with_incomplete(test, 3), table, GROUPS, 5, "y").test(x, y, given=given)
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-12) and found.dof == pytest.approx(expected.dof)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("rule", ["pairwise", 3])
def test_without_missing_cells_a_group_is_tested_as_ever(name, rule):
    table = study(missing=0)
    for x, y, given in QUERIES:
        plain = bind_groups(configured(name), table, GROUPS).test(x, y, given=given)
        assert bind_groups(with_incomplete(configured(name), rule), table, GROUPS).test(x, y, given=given) == plain


def designs(n=150):
    clusters = np.arange(n) // 5
    return {"clusters": Design(clusters=clusters), "weights": Design(np.random.default_rng(1).uniform(0.2, 3, n))}


@pytest.mark.parametrize("name", DESIGN_BASED)
@pytest.mark.parametrize("design", designs())
def test_copies_of_rows_with_a_design_are_pooled_by_the_p_values_that_know_it(name, design):
    table, test = study().with_design(designs()[design]), configured(name)
    copies = imputed_copies(table, 4, seed=5)
    each = [test.bind(copy).test("a", "y", given=["b"]) for copy in copies]
    found = with_incomplete(test, 4).bind(table, seed=5).test("a", "y", given=["b"])
    if name == "fisher-z":  # Rubin's rules, literally
        z = [math.copysign(norm.isf(one.p_value / 2), one.statistic) for one in each]
        r = (1 + 1 / 4) * np.var(z, ddof=1)
        expected = 2 * t.sf(abs(np.mean(z)) / math.sqrt(1 + r), 3 * (1 + 1 / r) ** 2)
    else:
        expected = pooled_p_values([CIResults.from_rows([one]) for one in each]).p_value[0]
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    plain = with_incomplete(test, 4).bind(study(), seed=5).test("a", "y", given=["b"])
    assert found.p_value != plain.p_value
    complete = study(missing=0).with_design(designs()[design])
    assert with_incomplete(test, 4).bind(complete).test("a", "y") == test.bind(complete).test("a", "y")


def test_signs_are_pooled_too():
    """Copies that contradict each other say less than copies that agree."""
    one = np.ones(1)
    found = [
        bf.get_ci_test("fisher-z").pooled_by_design(
            [CIResults(sign * one, 0.01 * one, np.log(0.01) * one, 97 * one, 100 * one, one > 0) for sign in signs]
        )
        for signs in ((1, 1, 1), (1, -1, 1))
    ]
    assert found[0].p_value[0] == pytest.approx(0.01) and found[1].p_value[0] > 0.5
