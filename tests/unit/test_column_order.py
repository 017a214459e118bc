"""The order of names, and tables put into it."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from blanketflow.core.convert import as_table
from blanketflow.core.table import Column, Design, by_names

NAMES = st.lists(st.text("aB01 9_\u0663", max_size=6), unique=True)


def literal(names):
    """Sort by texts and the values of numbers in turn, then by the whole name."""

    def key(name):
        parts = re.split("([0-9]+)", name)
        return [int(part) if at % 2 else part for at, part in enumerate(parts)], name

    return sorted(names, key=key)


@given(NAMES)
def test_is_the_order_of_texts_and_values(names):
    order = by_names(names)
    assert (names if order is None else [names[at] for at in order]) == literal(names)
    assert (order is None) == (names == literal(names))


def test_numbers_of_any_length_and_the_names_of_an_array():
    many = "9" * 10_000
    assert by_names([f"x{many}", "x1" + "0" * 10_000, "x7"]).tolist() == [2, 0, 1]
    assert by_names([f"x{j}" for j in range(1000)]) is None


TABLES = {
    "by row": as_table(np.arange(12.0).reshape(3, 4), ["d", "b", "a", "c"]),
    "by column": as_table(np.asfortranarray(np.arange(12.0).reshape(3, 4)), ["d", "b", "a", "c"]),
    "sparse": as_table(sp.csc_matrix([[1.0, 0, 2, 0], [0, 0, 3, 4], [5, 0, 0, 0]]), ["d", "b", "a", "c"]),
    "single": as_table(np.array([[1, "u", 2.5, True]] * 3, dtype=object), ["d", "b", "a", "c"]),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_in_order_has_the_same_columns(table):
    table = table.with_design(Design(weights=np.array([1.0, 2.0, 3.0])))
    whole = table.with_column(Column("Y", "integer", np.arange(3)))
    found = whole.in_order_of_names(n_last=1)
    assert found.names == [*"abcd", "Y"]
    assert found.design is whole.design
    for name in whole.names:
        one, other = found[name], whole[name]
        assert (one.kind, one.levels) == (other.kind, other.levels)
        assert np.array_equal(one.cells(), other.cells())
    assert found.in_order_of_names(n_last=1) is found
    assert whole.in_order_of_names().names[0] == "Y" or len(getattr(whole.columns, "more", ())) == 1


def test_a_matrix_keeps_its_layout():
    for order in "CF":
        table = as_table(np.asarray(np.arange(12.0).reshape(3, 4), order=order), ["d", "b", "a", "c"])
        flags = table.in_order_of_names().columns.matrix.flags
        assert flags.c_contiguous if order == "C" else flags.f_contiguous


def test_single_columns_beside_a_matrix_stay_behind_it():
    table = as_table(np.zeros((2, 2)), ["m", "k"])
    for name in ("z", "a", "y"):
        table = table.with_column(Column(name, "integer", np.arange(2)))
    assert table.in_order_of_names(n_last=1).names == ["k", "m", "a", "z", "y"]
