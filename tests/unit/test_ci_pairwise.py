"""Test-wise deletion: each test is the plain test on the rows that are complete for its columns."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.ci.missing import with_incomplete
from blanketflow.core.convert import as_table
from blanketflow.core.errors import DataError, ParameterError, UnsupportedError
from blanketflow.core.registry import discover

TESTS = {name: test for name, test in discover("blanketflow.ci").items() if "pairwise" in test.card.incomplete}
every_test = pytest.mark.parametrize("name", TESTS)


def frame(name, n=120, seed=0):
    """Return columns that the test takes; of all but `e` some cells are missing, in different rows."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    X = pd.DataFrame({"a": a, "b": a + rng.normal(size=n), "c": rng.normal(size=n)})
    X["d"] = np.where(a + rng.normal(size=n) > 0, "yes", "no")
    X["e"] = (a + rng.normal(size=n) > 0).astype(int)
    if name != "fisher-z":
        X["f"] = rng.choice(["u", "v", "w"], n)
    for at, column in enumerate(X.columns.drop("e")):
        X.loc[rng.random(n) < 0.1 * (at + 1), column] = np.nan
    return as_table(X)


def literal(test, table, x, y, given=()):
    """Return the plain test on the rows and columns at hand."""
    columns = list(dict.fromkeys([*([x] if isinstance(x, str) else x), y, *given]))
    rows = np.flatnonzero(~np.any([table[column].missing() for column in columns], axis=0))
    return test.bind(table.select(columns).take(rows)).test(x, y, given=given), len(rows)


def assert_same(name, found, expected):
    """Products of matrices, as splines have them, are rounded by how many columns they have."""
    if name not in ("spline", "gcm", "pcm"):
        assert found == expected
        return
    assert (found.dof, found.n, found.reliable) == (expected.dof, expected.n, expected.reliable)
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-9)


def pairwise(name, table, **options):
    return with_incomplete(bf.get_ci_test(name, **options), "pairwise").bind(table)


@every_test
def test_each_result_is_that_of_its_complete_rows(name):
    table, test = frame(name), bf.get_ci_test(name)
    for x, y in itertools.permutations(table.names, 2):
        others = [z for z in table.names if z not in (x, y)]
        for given in ([], others[:1], others[-2:]):
            found = with_incomplete(test, "pairwise").bind(table).test(x, y, given=given)
            expected, n_rows = literal(test, table, x, y, given)
            assert_same(name, found, expected)
            assert found.n == n_rows


@every_test
def test_many_candidates_are_each_tested_on_their_own_rows(name):
    table, test = frame(name), bf.get_ci_test(name)
    candidates = [c for c in table.names if c not in ("b", "e")]
    found = pairwise(name, table).test_many(candidates, "b", given=["e"])
    for result, x in zip(found, candidates, strict=True):
        assert_same(name, result, literal(test, table, x, "b", ["e"])[0])
    assert len(set(found.n)) == len(candidates)


@pytest.mark.parametrize("name", [name for name in TESTS if discover("blanketflow.ci")[name].card.column_sets])
def test_sets_are_tested_on_the_rows_complete_for_all(name):
    table, test = frame(name), bf.get_ci_test(name)
    assert pairwise(name, table).test(["a", "c"], "e", given=["b"]) == literal(test, table, ["a", "c"], "e", ["b"])[0]


@pytest.mark.parametrize("name", [name for name in TESTS if "mutual-information" in TESTS[name].card.measures])
def test_information_is_that_of_the_complete_rows(name):
    table, test = frame(name), bf.get_ci_test(name)
    bound, positions = pairwise(name, table), np.array([0, 2, 3])
    found = bound.mutual_information(positions, "e", ["b"])
    for information, at in zip(found, positions, strict=True):
        result, n_rows = literal(test, table, table.names[at], "e", ["b"])
        expected = result.statistic / (2 * n_rows)
        if name == "fisher-z":
            expected = -0.5 * math.log(1 - math.tanh(result.statistic / math.sqrt(n_rows - 4)) ** 2)
        assert information == pytest.approx(expected, rel=1e-9)


def test_entropy_and_cells_are_those_of_the_complete_rows():
    table = frame("g2")
    bound = pairwise("g2", table)
    rows = np.flatnonzero(~(table["d"].missing() | table["f"].missing()))
    shares = np.unique(table.take(rows).matrix(["d", "f"]), axis=0, return_counts=True)[1] / len(rows)
    assert bound.entropy(np.array([3]), ["f"])[0] == pytest.approx(-np.sum(shares * np.log(shares)))
    assert bound.samples_per_cell("d", "f") == len(rows) / 6
    assert bound.engine.n_complete([3, 5]) == len(rows)
    assert bound.rows_needed(3, 5, ()) == 5 * 6


def test_complete_columns_share_one_engine_and_rows_are_prepared_once_a_pattern(monkeypatch):
    table, shapes = frame("g2"), []
    test = type(bf.get_ci_test("g2"))
    prepare = test.prepare
    monkeypatch.setattr(test, "prepare", lambda *a: shapes.append(a[1].n_rows) or prepare(*a))
    bound = pairwise("g2", table)
    bound.test_many(["a", "b"], "e")
    assert shapes == [120, 120 - table["a"].n_missing(), 120 - table["b"].n_missing()]


@every_test
def test_no_rows_in_common_say_nothing(name):
    X = pd.DataFrame({"a": [1.0, 2, 3] * 20, "b": [3.0, 1, 2, 5] * 15, "c": [0.5, 1.5] * 30})
    X.loc[:29, "a"] = np.nan
    X.loc[30:, "b"] = np.nan
    found = pairwise(name, X).test("a", "b", given=["c"])
    assert (found.p_value, found.n, found.reliable) == (1.0, 0, False)


@every_test
def test_a_complete_table_is_tested_as_ever(name):
    table = frame(name)
    complete = table.take(np.flatnonzero(~np.any([c.missing() for c in table.columns], axis=0)))
    assert pairwise(name, complete).test("a", "b", ["c"]) == bf.get_ci_test(name).bind(complete).test("a", "b", ["c"])


def test_supervised_bins_are_those_of_the_complete_rows():
    table = frame("g2")
    test = bf.get_ci_test("g2", binning="mdlp")
    rows = np.flatnonzero(~(table["a"].missing() | table["b"].missing()))
    expected = test.bind(table.select(["a", "b", "e"]).take(rows), target="e").test("a", "b")
    assert with_incomplete(test, "pairwise").bind(table, target="e").test("a", "b") == expected
    with pytest.raises(DataError, match=r"target 'd' has missing cells. Drop those rows"):
        with_incomplete(test, "pairwise").bind(table, target="d")


def test_infinite_cells_are_still_refused():
    X = pd.DataFrame({"a": [1.0, np.nan, 3], "b": [np.inf, 1.0, 2]})
    with pytest.raises(DataError, match="column 'b' has 1 infinite"):
        pairwise("fisher-z", X)


@pytest.mark.parametrize("name", sorted(set(discover("blanketflow.ci")) - set(TESTS)))
def test_other_tests_refuse_in_words(name):
    for rule, asked in (("pairwise", "pairwise"), (5, "imputations")):
        with pytest.raises(UnsupportedError, match=rf"{name} .*so that {asked} is refused: set missing to impute"):
            with_incomplete(discover("blanketflow.ci")[name](), rule)


def test_copies_without_imputing_are_refused():
    with pytest.raises(ParameterError, match=r"GS: imputations is 5, but missing is error. Set missing to impute"):
        bf.GS(imputations=5).fit([[0.0], [1], [2]], [0.0, 1, 3])
