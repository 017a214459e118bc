"""The design matrix: one block of columns a feature, the same for train and test."""

import numpy as np
import pytest

from blanketflow.core.errors import DataError
from blanketflow.core.table import Column, SparseValues, Table
from blanketflow.models.encode import design, moderate


def table():
    return Table(
        [
            Column("yes", "categorical", np.array([1, 0, 1]), ("n", "y")),
            Column("site", "categorical", np.array([2, 0, 2]), ("a", "b", "c")),
            Column("flag", "boolean", np.array([1, 0, 1], dtype=np.int8)),
            Column("count", "integer", SparseValues(np.array([1]), np.array([7]), 3)),
            Column("size", "numeric", np.array([0.5, 1.5, 2.5])),
        ]
    )


def test_blocks_follow_table_order():
    encoded = design(table())
    assert encoded.blocks == [slice(0, 1), slice(1, 4), slice(4, 5), slice(5, 6), slice(6, 7)]
    assert encoded.matrix.tolist() == [[1, 0, 0, 1, 1, 0, 0.5], [0, 1, 0, 0, 0, 7, 1.5], [1, 0, 0, 1, 1, 0, 2.5]]
    assert encoded.matrix.dtype == np.float64
    assert encoded.matrix.flags.c_contiguous


def test_parts_of_a_table_have_the_same_columns():
    part = design(table().take(np.array([1])))
    assert part.blocks == design(table()).blocks
    assert part.matrix.tolist() == design(table()).matrix[[1]].tolist()


@pytest.mark.parametrize(
    "column",
    [
        Column("site", "categorical", np.array([0, -1]), ("a", "b", "c")),
        Column("site", "numeric", np.array([0.0, np.nan])),
    ],
)
def test_a_missing_cell_is_refused_by_name(column):
    with pytest.raises(DataError, match="'site' has missing cells"):
        design(Table([column]))


def test_numbers_far_from_all_others_are_clipped_in_rows_to_learn_from_and_to_predict():
    # Of -10 .. 10 and 9,999 the upper median is 1, and nine tenths of the 21 others are within 10 of it: 1 + 10 * 10.
    numbers = np.array([*range(-10, 11), 9999.0])
    rare = np.repeat([0.0, 1.0], [21, 1])
    taught = Table([Column("size", "numeric", numbers), Column("rare", "numeric", rare)])
    size, flag = moderate(taught).columns
    assert size.values.tolist() == [*range(-10, 11), 101.0]
    assert flag is taught["rare"]
    asked = Table([Column("size", "numeric", np.array([-1e9, 50.0])), Column("rare", "numeric", np.array([1.0, 1e9]))])
    size, flag = moderate(asked, fitted_on=taught).columns
    assert size.values.tolist() == [-99.0, 50.0]
    assert flag.values.tolist() == [1.0, 10.0]


def test_no_columns():
    assert design(Table([])).blocks == []
