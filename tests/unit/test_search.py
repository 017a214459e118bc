"""The moves that methods share, on tests whose answers are known."""

import numpy as np
import pytest
from literal import KnownTest

from blanketflow.core.results import CIResults
from blanketflow.core.table import Column, Table
from blanketflow.search.backward import remove_in_one_pass, remove_until_stable
from blanketflow.search.forward import scan_until_stable
from blanketflow.search.steps import Step, step
from blanketflow.search.strength import strongest_first

NAMES = list("abcdy")


def bind(answer, **options):
    return KnownTest(answer=answer, **options).bind(Table([Column(name, "numeric", np.zeros(2)) for name in NAMES]))


def when(*dependent):
    """Return p = 0.01 for the queries listed as "x|given", else 0.9."""
    return lambda x, y, given: 0.01 if f"{x}|{''.join(sorted(given))}" in dependent else 0.9


def queries(bound):
    return [f"{x}|{''.join(sorted(given))}" for x, _, given in bound._engine.asked]


def test_ranks_by_log_p_then_statistic_per_degree_then_column():
    log_p = np.array([-1.0, -900.0, -1.0, -800.0, -1.0])
    results = CIResults(
        np.array([4.0, 1.0, -9.0, 1.0, 2.0]), np.exp(log_p), log_p, np.array([2.0, 1, 3, 1, 1]), np.ones(5), np.ones(5)
    )
    # Both 1 and 3 have p = 0; 2 has 3 per degree, 0 and 4 have 2.
    assert strongest_first(results).tolist() == [1, 3, 2, 0, 4]


def test_scans_repeat_until_one_admits_none():
    # b depends only once c is there, and c comes after it: the second scan finds it.
    bound = bind(when("a|", "c|a", "b|ac"))
    admitted = scan_until_stable(bound, "y", list("abcd"), 0.05)
    assert [(s.feature, s.given) for s in admitted] == [("a", ()), ("c", ("a",)), ("b", ("a", "c"))]
    assert queries(bound) == ["a|", "b|a", "c|a", "d|ac", "b|ac", "d|abc"]


@pytest.mark.parametrize(("max_k", "wanted"), [(None, "abcd"), (3, "abcd"), (2, "abc"), (1, "ab"), (0, "a")])
def test_no_test_is_given_more_than_max_k_columns(max_k, wanted):
    bound = bind(lambda x, y, given: 0.01)
    admitted = scan_until_stable(bound, "y", list("abcd"), 0.05, max_k)
    assert "".join(s.feature for s in admitted) == wanted
    assert max(len(given) for _, _, given in bound._engine.asked) <= (3 if max_k is None else max_k)


def test_removal_begins_again_after_each():
    # a leaves only after b has left.
    bound = bind(when("a|bcd", "c|abd", "d|abc", "c|ad", "d|ac", "c|d", "d|c"))
    decisions = remove_until_stable(bound, "y", list("abcd"), 0.05)
    assert [(s.feature, s.kept, s.given) for s in decisions] == [
        ("b", False, ("a", "c", "d")),
        ("a", False, ("c", "d")),
        ("c", True, ("d",)),
        ("d", True, ("c",)),
    ]


def test_one_pass_does_not_look_back():
    bound = bind(when("d|abc", "c|abd"))
    decisions = remove_in_one_pass(bound, "y", [Step(f) for f in "dcba"], 0.05)
    assert [(s.feature, s.kept) for s in decisions] == [("d", True), ("c", True), ("b", False), ("a", False)]
    assert queries(bound) == ["d|abc", "c|abd", "b|acd", "a|cd"]


@pytest.mark.parametrize("rule", ["undecided", "use"])
def test_an_undecided_test_neither_admits_nor_removes(rule):
    admits = bind(lambda *_: 0.01, unreliable=rule, is_reliable=lambda *_: False)
    assert bool(scan_until_stable(admits, "y", ["a"], 0.05)) is (rule == "use")
    removes = bind(lambda *_: 0.9, unreliable=rule, is_reliable=lambda *_: False)
    kept = [s.feature for s in remove_until_stable(removes, "y", ["a", "b"], 0.05) if s.kept]
    assert kept == (["a", "b"] if rule == "undecided" else [])


def test_p_equal_to_alpha_admits_and_does_not_remove():
    bound = bind(lambda *_: 0.05)
    assert scan_until_stable(bound, "y", ["a"], 0.05)
    assert all(s.kept for s in remove_until_stable(bound, "y", ["a", "b"], 0.05))


def test_importance_is_minus_log_p_and_finite_at_zero():
    result = bind(lambda *_: 0.25).test("a", "y")
    assert step("a", result).importance == pytest.approx(np.log(4))
    assert step("a", result._replace(p_value=0.0, log_p=-np.inf)).importance == 1e300
