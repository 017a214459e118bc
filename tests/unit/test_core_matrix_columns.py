"""A table on a matrix is the table of its columns."""

import numpy as np
import pandas as pd
import pytest

from blanketflow.core.column import MatrixColumns
from blanketflow.core.convert import as_table
from blanketflow.core.errors import DataError, UnknownNameError
from blanketflow.core.table import Column, Table, column_from_array

MATRICES = {
    "floats": np.random.default_rng(0).normal(size=(6, 4)),
    "integers": np.arange(24, dtype=np.int16).reshape(6, 4),
    "booleans": np.eye(6, 4, dtype=bool),
    "by column": np.asfortranarray(np.arange(24.0).reshape(6, 4)),
}
TARGET = Column("y", "categorical", np.array([0, 1, 0, 1, 1, 0]), ("no", "yes"))


def same(table, columns):
    assert table.names == [column.name for column in columns]
    assert len(table) == len(table.columns) == len(columns)
    for i, column in enumerate(columns):
        for found in (table[i], table[column.name], table.columns[i], list(table.columns)[i]):
            assert (found.name, found.kind, found.levels) == (column.name, column.kind, column.levels)
            assert found.values.dtype == column.values.dtype
            np.testing.assert_array_equal(found.values, column.values)


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
@pytest.mark.parametrize("as_frame", [False, True])
def test_is_the_table_of_its_columns(matrix, as_frame):
    names = [f"x{j}" for j in range(4)]
    columns = [column_from_array(name, matrix[:, j]) for j, name in enumerate(names)]
    table = as_table(pd.DataFrame(matrix, columns=names) if as_frame else matrix)
    assert isinstance(table.columns, MatrixColumns)
    same(table, columns)
    same(table.with_column(TARGET), [*columns, TARGET])
    rows = np.array([4, 0, 3])
    same(table.with_column(TARGET).take(rows), [column.take(rows) for column in (*columns, TARGET)])
    same(table.with_column(TARGET).select(["x3", "y"]), [columns[3], TARGET])
    assert [column.name for column in table.columns[1:3]] == ["x1", "x2"]
    assert np.array_equal(table.matrix(), Table(columns).matrix())
    assert table.n_rows == 6
    assert table.take(np.arange(6)) is table


def test_a_frame_of_several_types_is_a_table_of_columns():
    assert isinstance(as_table(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})).columns, tuple)
    assert isinstance(as_table(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")})).columns, tuple)
    assert isinstance(as_table(pd.DataFrame({"a": ["x", "y"]})).columns, tuple)


def test_positions():
    table = as_table(MATRICES["floats"]).with_column(TARGET)
    assert table.positions(["x0", "x1"]).tolist() == [0, 1]
    assert table.positions(["y", "x2"]).tolist() == [4, 2]
    assert table.position(np.int64(3)) == 3
    for key in ("z", 5, -1):
        with pytest.raises(UnknownNameError):
            table.position(key)
    with pytest.raises(DataError, match="has a column 'y' already"):
        table.with_column(TARGET)
    with pytest.raises(DataError, match=r"occur more than once: \['y'\]"):
        Table([TARGET]).with_column(TARGET)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("shape", [(6, 4), (5000, 1200)])
def test_the_first_incomplete_column(bad, shape):
    matrix = np.zeros(shape)
    table = as_table(matrix)
    assert table.first_incomplete() is None
    matrix[3, shape[1] - 2] = matrix[1, shape[1] - 1] = bad
    assert table.first_incomplete().name == f"x{shape[1] - 2}"
    incomplete = Column("late", "numeric", np.full(shape[0], bad))
    assert as_table(np.zeros(shape)).with_column(incomplete).first_incomplete().name == "late"
    assert Table([TARGET, Column("late", "numeric", np.full(6, bad))]).first_incomplete().name == "late"


def test_one_of_each_kind():
    table = as_table(MATRICES["integers"]).with_column(TARGET)
    assert [column.name for column in table.one_of_each()] == ["x0", "y"]
    assert [column.name for column in Table([TARGET]).one_of_each()] == ["y"]
