"""A table on a sparse matrix is the table of its columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from blanketflow.core.column import SparseColumns
from blanketflow.core.convert import as_table
from blanketflow.core.table import Column, Table, column_from_array

TARGET = Column("y", "categorical", np.array([0, 1, 0, 1, 1, 0, 0]), ("no", "yes"))


def matrix(dtype):
    rng = np.random.default_rng(1)
    return (rng.integers(1, 9, (7, 5)) * (rng.random((7, 5)) < 0.4)).astype(dtype)


@pytest.mark.parametrize("dtype", [float, np.int16, bool])
@pytest.mark.parametrize("make", [sparse.csc_matrix, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize("rows", [[4, 0, 3], [0, 2, 6], [], [6, 5, 4, 3, 2, 1, 0]])
def test_is_the_table_of_its_columns(dtype, make, rows):
    dense = matrix(dtype)
    table = as_table(make(dense)).with_column(TARGET)
    columns = [*(column_from_array(f"x{j}", dense[:, j]) for j in range(5)), TARGET]
    assert isinstance(table.columns, SparseColumns)
    rows = np.array(rows, dtype=int)
    for found, wanted in ((table, columns), (table.take(rows), [column.take(rows) for column in columns])):
        assert (found.names, found.n_rows, len(found)) == (
            [c.name for c in wanted],
            wanted[0].n_rows,
            6,
        )
        for j, column in enumerate(wanted):
            assert (found[j].name, found[j].kind, found[j].levels) == (column.name, column.kind, column.levels)
            assert np.array_equal(found[j].numbers(), column.numbers())
        assert np.array_equal(found.matrix(), Table(wanted).matrix())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 200), st.data())
def test_blocks_cover_all_columns_and_rows_are_taken_in_any_order(seed, n, d, data):
    rng = np.random.default_rng(seed)
    dense = (rng.integers(-3, 4, (n, d)) * (rng.random((n, d)) < rng.random(d) ** 3)).astype(np.int8)
    columns = as_table(sparse.csc_matrix(dense)).columns
    most = data.draw(st.integers(1, 3 * n))
    blocks = list(columns.blocks(most))
    assert [at for start, stop in blocks for at in range(start, stop)] == list(range(d))
    held = np.diff(columns.starts)
    assert all(stop == start + 1 or held[start:stop].sum() <= most for start, stop in blocks)
    rows = rng.permutation(n)[: rng.integers(1, n + 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("blanketflow.core.column.SPARSE_CELLS", most)  # several blocks, as in a table of many cells
        taken = columns.take(rows)
    assert np.array_equal(Table(taken).matrix(), dense[rows])
    for at in range(d):
        assert np.all(np.diff(taken.column(at).values.rows) > 0)


def test_rows_of_a_wide_table_are_taken_with_its_names_and_its_target():
    table = as_table(sparse.csc_matrix(matrix(float))).with_column(TARGET)
    taken = table.take(np.array([5, 1]))
    assert (taken.position("x2"), taken.position("y"), taken.n_rows) == (2, 5, 2)
    assert taken["y"].values.tolist() == [0, 1]
    assert table.n_rows == 7 and table["y"].n_rows == 7


def test_a_matrix_with_cells_out_of_order_or_twice_is_read_right_and_left_alone():
    given = sparse.csc_matrix((np.array([1.0, 2.0, 4.0]), np.array([3, 0, 3]), np.array([0, 3, 3])), shape=(4, 2))
    table = as_table(given)
    assert table.matrix().tolist() == [[2, 0], [0, 0], [0, 0], [5, 0]]
    assert given.indices.tolist() == [3, 0, 3]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_first_incomplete_column_is_found(bad):
    dense = matrix(float)
    dense[2, 3] = dense[5, 4] = bad
    assert as_table(sparse.csc_matrix(dense)).first_incomplete().name == "x3"
    assert as_table(sparse.csc_matrix(matrix(float))).with_column(TARGET).first_incomplete() is None
