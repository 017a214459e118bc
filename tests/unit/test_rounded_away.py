"""Columns of which rounding has left nothing: tests say so, searches are `unreliable`, and inspect finds them."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.api.inspection import inspect_table
from blanketflow.core.convert import as_table
from blanketflow.core.numerics import is_rounded_away
from blanketflow.core.table import Column

TESTS = ("fisher-z", "lr-mixed")
N = 300
#: The largest offset at which p-values are still those of exact numbers, and the smallest at which they are not.
FINE, DESTROYED = 1e13, 1e15


def data():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, N))
    return pd.DataFrame({"a": a, "b": b, "c": c}), a + b + rng.normal(size=N)


@pytest.mark.parametrize("test", TESTS)
def test_an_offset_changes_nothing_while_floats_hold_the_numbers(test):
    X, y = data()
    exact = bf.get_ci_test(test).bind(X.assign(y=y)).test_many(list("abc"), "y")
    moved = bf.get_ci_test(test).bind((X + FINE).assign(y=y - FINE)).test_many(list("abc"), "y")
    assert np.allclose(moved.log_p, exact.log_p, rtol=0.02)
    assert moved.reliable.all()


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("is_target", [False, True])
def test_a_test_of_a_destroyed_column_is_not_reliable(test, is_target):
    X, y = data()
    table = X.assign(a=X["a"] + DESTROYED, y=y)
    found = bf.get_ci_test(test).bind(table)
    assert found.test_many(list("abc"), "y").reliable.tolist() == [False, True, True]
    assert found.test_many(list("bc"), "y", ["a"]).reliable.tolist() == [False, False]
    assert not found.test("b", "a").reliable
    assert [found.test(s, "y").reliable for s in (("a", "b"), ("b", "c"))] == [False, True]
    assert found.test("a", "y").p_value == 1


@pytest.mark.parametrize("test", TESTS)
def test_a_constant_column_is_reliably_independent(test):
    X, y = data()
    for constant in (0.1, 1e300, 0.0):
        assert bf.get_ci_test(test).bind(X.assign(a=constant, y=y)).test("a", "y").reliable
    for selector in (bf.IAMB(ci_test=test), bf.HITONMB(ci_test=test)):
        assert selector.fit(X.assign(a=0.1), y).status_ == "ok"


@pytest.mark.parametrize("test", TESTS)
def test_a_search_says_unreliable_and_names_the_columns(test):
    X, y = data()
    fitted = bf.IAMB(ci_test=test).fit(X.assign(a=X["a"] + DESTROYED), y)
    assert (fitted.selected_features_, fitted.status_) == (["b"], "unreliable")
    assert fitted.reason_.startswith("rounding has destroyed 'a': ")
    fitted = bf.IAMB(ci_test=test, n_folds=3).fit(X, y + DESTROYED)
    assert (fitted.selected_features_, fitted.status_) == ([], "unreliable")
    assert "'target'" in fitted.reason_
    many = bf.IAMB(ci_test=test).fit(pd.DataFrame({f"x{j}": X["b"] + DESTROYED for j in range(7)}).assign(b=X["b"]), y)
    assert "'x3', 'x4' and 2 more" in many.reason_
    found = bf.blankets(X.assign(y=y, a=X["a"] + DESTROYED), "iamb", ci_test=test)
    assert {status for status, _ in found.statuses.values()} == {"unreliable"}


@pytest.mark.parametrize("test", TESTS)
def test_the_stages_of_a_workflow_pass_it_on(test):
    X, y = data()
    X = X.assign(a=X["a"] + DESTROYED)
    mine = {"mine": {"method": "iamb", "ci_test": test}}
    found = bf.compare(X, y, mine, evaluation=0, folds=0)
    row = found.outcomes.query("selector == 'mine'")
    assert row["status"].tolist() == ["unreliable"]
    assert "rounding has destroyed 'a'" in row["reason"].item()


def test_a_column_of_large_whole_numbers_that_floats_cannot_tell_apart():
    cells = 2**60 + np.arange(50)
    assert is_rounded_away(Column("a", "integer", cells))
    assert not is_rounded_away(Column("a", "integer", cells - 2**60))
    bound = bf.get_ci_test("fisher-z").bind(as_table(np.column_stack([cells, np.arange(50)])))
    assert bound.test("x0", "x1").reliable and bound.test("x0", "x1").p_value < 1e-9  # as it counts from the least


def test_inspect_finds_it(tmp_path, monkeypatch):
    X, y = data()
    monkeypatch.chdir(tmp_path)
    X.assign(a=X["a"] + DESTROYED, y=y).to_csv("t.csv", index=False)
    found = inspect_table({"path": "t.csv", "target": "y"})
    assert found.columns_found("rounding") == ["a"]
    X.assign(a=0.1, y=y).to_csv("t.csv", index=False)
    assert inspect_table({"path": "t.csv", "target": "y"}).columns_found("rounding") == []
