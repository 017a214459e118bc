"""The bound test: what it remembers and counts, and how thin its tables are."""

import math

import numpy as np
import pandas as pd
import pytest

from blanketflow.ci import get_ci_test
from blanketflow.ci.tests_made import REMEMBERED
from blanketflow.core.results import CIResults
from blanketflow.core.table import Column, Table
from literal import KnownTest


def bind(answer):
    return KnownTest(answer=answer).bind(Table([Column(name, "numeric", np.zeros(2)) for name in "abcdy"]))


def known_results(*p):
    p = np.array(p)
    ones = np.ones(len(p))
    return CIResults(ones, p, np.log(p), ones, ones, ones.astype(bool))


def test_results_that_are_remembered_are_not_computed_and_not_counted():
    bound = bind(lambda *_: 0.5)
    bound.remember(["a", "c"], "y", known_results(0.01, 0.02))
    assert bound.test("a", "y").p_value == 0.01
    assert bound.test_many(["c", "b", "a"], "y").p_value.tolist() == [0.02, 0.5, 0.01]
    assert bound.n_tests == 1 and bound.engine.asked == [("b", "y", frozenset())]
    assert bound.test("a", "y", given=["c"]).p_value == 0.5


def test_a_remembered_direction_is_one_of_its_own_where_the_test_has_one():
    bound = bind(lambda *_: 0.5)
    bound.remember(["a"], "y", known_results(0.01))
    assert bound.test("y", "a").p_value == 0.5


def test_remembered_results_cannot_be_written_to():
    results = known_results(0.01, 0.02)
    bind(lambda *_: 0.5).remember(["a", "b"], "y", results)
    with pytest.raises(ValueError, match="read-only"):
        results.p_value[0] = 1.0


def test_a_full_memory_begins_anew_and_changes_no_answer(monkeypatch):
    assert REMEMBERED > 1000
    monkeypatch.setattr("blanketflow.ci.tests_made.REMEMBERED", 3)
    bound = bind(lambda x, y, given: {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}[x])
    for _ in range(3):
        assert bound.test_many(list("abcd"), "y").p_value.tolist() == [0.1, 0.2, 0.3, 0.4]
        assert bound.test("a", "y", given=["b"]).p_value == 0.1


def test_samples_per_cell_are_rows_over_the_cells_of_the_joint_table():
    n = 120
    levels = {"two": 2, "three": 3, "five": 5}
    columns = [Column(name, "categorical", np.arange(n) % m, tuple("abcde"[:m])) for name, m in levels.items()]
    table = Table([*columns, Column("number", "numeric", np.arange(n) / 7)])
    bound = get_ci_test("g2", bins=4).bind(table)
    assert bound.samples_per_cell("two", "three") == n / 6
    assert bound.samples_per_cell("two", "three", given=["five"]) == n / 30
    assert bound.samples_per_cell("two", "number", given=["five", "three"]) == n / 120
    assert bound.samples_per_cell(0, 1, [2]) == n / 30
    assert bound.n_tests == 0


def test_tests_without_cells_have_any_number_of_rows_for_each():
    assert bind(lambda *_: 0.5).samples_per_cell("a", "y", given=["b"]) == math.inf


def test_many_columns_may_be_given_as_an_array_of_positions_or_names():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 4)), columns=list("abcd"))
    wanted = list(get_ci_test("fisher-z").bind(X).test_many(["b", "d", "b"], "a"))
    for xs in (np.array([1, 3, 1]), np.array(["b", "d", "b"]), np.array(["b", "d", "b"], dtype=object)):
        bound = get_ci_test("fisher-z").bind(X)
        assert list(bound.test_many(xs, "a")) == list(bound.test_many(xs, "a")) == wanted  # computed, then remembered
    assert list(get_ci_test("fisher-z").bind(X).test_many(np.array([1, 3, 1], dtype=np.uint8), 0)) == wanted


def test_a_bound_test_says_what_it_is():
    bound = get_ci_test("fisher-z").bind(np.random.default_rng(0).normal(size=(50, 3)))
    bound.test("x0", "x1")
    assert repr(bound) == "<fisher-z bound to 50 rows, 3 columns, n_tests=1>"
