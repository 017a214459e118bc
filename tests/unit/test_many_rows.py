"""Tables of many rows: read a few columns at a time, at the width of their types, and equal to those read at once."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blanketflow.ci.contingency import binning
from blanketflow.core.errors import DataError
from blanketflow.core.table import Column, categorical, labelled
from blanketflow.core.task import target_column
from blanketflow.data import arrow, card
from blanketflow.data.arrow import read_parquet
from blanketflow.data.artefacts import arrow_array
from blanketflow.data.column_roles import as_categorical
from blanketflow.data.input_file import VARIABLE


def written(path, columns):
    pq.write_table(pa.table(columns), path)
    return path


def mixed(n=200):
    rng = np.random.default_rng(1)
    return {
        "byte": pa.array(rng.integers(0, 4, n).astype(np.int8)),
        "text": pa.array(rng.choice(["b", "a", None], n).tolist()),
        "truth": pa.array(rng.random(n) < 0.5),
        "gaps": pa.array([None if i % 7 == 0 else i for i in range(n)], pa.int16()),
        "real": pa.array(rng.normal(size=n)),
        "half": pa.array(rng.normal(size=n).astype(np.float32)),
    }


def test_columns_read_a_few_at_a_time_equal_those_read_at_once(tmp_path, monkeypatch):
    path = written(tmp_path / "t.parquet", mixed())
    at_once = read_parquet("t", path)
    for cells in (1, 200, 500):
        monkeypatch.setattr(arrow, "READ_CELLS", cells)
        found = read_parquet("t", path)
        assert [(c.name, c.kind, c.levels) for c in found] == [(c.name, c.kind, c.levels) for c in at_once]
        for ours, theirs in zip(found, at_once, strict=True):
            assert ours.values.dtype == theirs.values.dtype
            np.testing.assert_array_equal(ours.values, theirs.values)


def test_a_cell_of_one_byte_is_held_and_counted_as_one_byte(tmp_path, monkeypatch):
    n, d = 50_000, 8
    cells = np.random.default_rng(2).integers(0, 3, (d, n)).astype(np.int8)
    path = written(tmp_path / "t.parquet", {f"x{j}": pa.array(one) for j, one in enumerate(cells)})
    monkeypatch.setenv(VARIABLE, str(1.01 * n * d / 1e9))
    assert sum(column.values.nbytes for column in read_parquet("t", path)) == n * d
    monkeypatch.setenv(VARIABLE, str(0.99 * n * d / 1e9))
    with pytest.raises(DataError, match=f"unpacks to more than.*{VARIABLE}"):
        read_parquet("t", path)


@pytest.mark.parametrize("kind", ["byte", "gaps", "real"])
def test_labels_of_distinct_values_equal_a_label_of_each_row(tmp_path, kind):
    column = next(c for c in read_parquet("t", written(tmp_path / "t.parquet", mixed())) if c.name == kind)
    values = column.values.tolist()
    literal = [None if v != v else str(int(v)) if v == int(v) else repr(v) for v in values]
    expected = categorical(kind, np.array(literal, dtype=object))
    found = [as_categorical(column)]
    found += [] if column.n_missing() else [target_column(column, "classification")]
    for one in found:
        assert (one.kind, one.levels, one.values.dtype) == (expected.kind, expected.levels, expected.values.dtype)
        np.testing.assert_array_equal(one.values, expected.values)


def test_labels_in_blocks_equal_labels_at_once(monkeypatch):
    column = Column("a", "numeric", np.array([-0.0, 3.5, np.nan, 0.0, 10.0, 9.0, np.nan]))
    monkeypatch.setattr("blanketflow.core.table.LABELLED", 2)
    found = labelled(column, lambda value: f"{value + 0.0:g}")
    assert found.levels == ("0", "3.5", "9", "10")
    assert found.values.tolist() == [0, 1, -1, 0, 3, 2, -1]


def test_the_hash_of_a_column_does_not_depend_on_how_many_cells_are_hashed_at_once(monkeypatch):
    column = Column("a", "integer", np.arange(-50, 50, dtype=np.int8))
    whole = card.content_digest(column)
    monkeypatch.setattr(card, "CELLS", 7)
    assert card.content_digest(column) == whole
    assert card.content_digest(Column("a", "integer", column.values[::-1])) != whole


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float64, np.bool_])
def test_ranks_in_blocks_equal_those_among_sorted_values(dtype, monkeypatch):
    monkeypatch.setattr(binning, "BLOCK", 7)
    lowest = {"i": -128, "f": -128, "u": 0, "b": 0}[np.dtype(dtype).kind]
    few = [0, 1] if dtype is np.bool_ else [lowest, lowest + 255 if lowest == 0 else 127, 5]
    for shift in (0, 2**62 if dtype is np.int64 else 0):
        values = np.random.default_rng(3).choice(few, 100).astype(dtype) + np.array(shift, dtype=dtype)
        levels, expected = np.unique(values, return_inverse=True)
        codes, n_levels = binning.ranks(values)
        assert (codes.dtype, n_levels) == (np.int32, len(levels))
        np.testing.assert_array_equal(codes, expected)


@pytest.mark.parametrize("texts", [["train", "test", "", "train"], ["a"], ["caf\u00e9", "b"], [""]])
def test_an_array_of_texts_is_written_as_a_list_of_them(texts):
    found = arrow_array(np.array(texts), "string")
    found.validate(full=True)
    assert found.to_pylist() == arrow_array(texts, "string").to_pylist() == texts
