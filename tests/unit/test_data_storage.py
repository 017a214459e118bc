"""Storage: what is written comes back; and imputation learns from training rows only."""

import subprocess
import sys

import numpy as np
import pytest

from blanketflow.core.column import TargetColumn
from blanketflow.core.errors import DataError
from blanketflow.core.table import Column, SparseValues, Table, categorical
from blanketflow.core.task import Task
from blanketflow.data.artefacts import write_columns
from blanketflow.data.column_roles import RawTable
from blanketflow.data.impute import impute
from blanketflow.data.provenance import Provenance
from blanketflow.data.storage import WIDE, read_table, write_table


def raw_table(**changes):
    nan = np.nan
    features = Table(
        [
            Column("a.b", "numeric", np.array([0.5, nan, 2.5])),
            Column("whole", "integer", np.array([1, 2, 3])),
            Column("gaps", "integer", np.array([1.0, nan, 3.0])),
            Column("flag", "boolean", np.array([1, 0, 1], dtype=np.int8)),
            Column("maybe", "boolean", np.array([1.0, nan, 0.0])),
            categorical("size", np.array(["10", None, "9"], dtype=object)),
            Column("sparse", "integer", SparseValues(np.array([1]), np.array([4], dtype=np.int8), 3)),
            Column("empty", "numeric", np.full(3, nan)),
            categorical("__groups__", np.array(["x", "y", "x"], dtype=object)),
        ]
    )
    target = categorical("y", np.array(["no", "yes", "no"], dtype=object))
    return RawTable(features, target, Task("classification", "as asked"), **changes)


def assert_equal_columns(stored, column):
    assert (stored.name, stored.kind, stored.levels) == (column.name, column.kind, column.levels)
    assert np.array_equal(stored.numbers(), column.numbers(), equal_nan=True)


def test_round_trip(tmp_path):
    raw = raw_table(groups=np.array([0, 1, 0]), truth={"blanket": ["size"]})
    write_table(tmp_path / "t.parquet", raw, Provenance(extra={"more": 1}))
    stored = read_table(tmp_path / "t.parquet")
    assert stored.features.names == raw.features.names
    for a, b in zip(stored.features.columns, raw.features.columns, strict=True):
        assert_equal_columns(a, b)
    assert stored.features["sparse"].values.dtype == np.int8
    assert_equal_columns(stored.target, raw.target)
    assert stored.groups.tolist() == [0, 1, 0]
    assert stored.extra["groups"] == "__groups___" and stored.extra["truth"] == {"blanket": ["size"]}
    assert stored.extra["task"] == "classification" and stored.extra["more"] == 1


@pytest.mark.parametrize("groups", [None, np.array([0, 1, 0])])
def test_some_columns_in_the_order_asked(tmp_path, groups):
    write_table(tmp_path / "t.parquet", raw_table(groups=groups), Provenance())
    stored = read_table(tmp_path / "t.parquet", ["size", "a.b"])
    assert stored.features.names == ["size", "a.b"] and stored.target.levels == ("no", "yes")
    assert (stored.groups is None) == (groups is None)
    with pytest.raises(DataError, match=r"no column 'sise'. Did you mean 'size'"):
        read_table(tmp_path / "t.parquet", ["sise"])


def test_a_numeric_target(tmp_path):
    target = Column("y", "numeric", np.array([1.0, 2.5, 3.0]))
    features = Table([Column("x", "integer", np.arange(3))])
    write_table(tmp_path / "t.parquet", RawTable(features, target, Task("regression", "as asked")), Provenance())
    assert_equal_columns(read_table(tmp_path / "t.parquet").target, target)


@pytest.mark.parametrize("n_features", [3, WIDE + 1])
def test_labels_of_an_ordered_target_keep_their_order(tmp_path, n_features):
    levels, codes = ("mild", "none", "bad"), np.array([2, 0, 1, 0, 2, 1], dtype=np.int32)
    features = Table([Column(f"x{i}", "numeric", np.arange(6.0) + i) for i in range(n_features)])
    target = TargetColumn("pain", "categorical", codes, levels, "ordered")
    raw = RawTable(features, target, Task("ordered", "as asked"))
    write_table(tmp_path / "t.parquet", raw, Provenance())
    stored = read_table(tmp_path / "t.parquet").target
    assert stored.levels == levels and stored.values.tolist() == codes.tolist()


def test_more_shards_than_rows_and_shards_of_wide_tables_are_refused(tmp_path):
    said = Provenance(what={"dataset": "study"})
    with pytest.raises(DataError, match="study: 3 rows are fewer than 4 shards"):
        write_table(tmp_path / "t.parquet", raw_table(), said, 4)
    wide = RawTable(
        Table([Column(f"x{i}", "integer", np.arange(3)) for i in range(2_001)]), raw_table().target, raw_table().task
    )
    with pytest.raises(DataError, match="study: a table of more than 2,000 features has no shards"):
        write_table(tmp_path / "t.parquet", wide, said, 2)


def test_wrong_files_are_refused(tmp_path):
    path = tmp_path / "t.parquet"
    write_columns(path, {"a": [1]}, {"a": "int64"}, Provenance())
    with pytest.raises(DataError, match="not of a data set"):
        read_table(path)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(DataError, match="not a readable"):
        read_table(path)


def test_reading_needs_neither_scipy_nor_scikit_learn(tmp_path):
    write_table(tmp_path / "t.parquet", raw_table(), Provenance())
    code = (
        "import sys; from blanketflow.data.storage import read_table; from blanketflow.data.splits import fold_rows\n"
        f"read_table({str(tmp_path / 't.parquet')!r})\n"
        "print([m for m in ('scipy', 'sklearn', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def one(kind, values, levels=()):
    return Table([Column("c", kind, np.array(values), tuple(levels))])


@pytest.mark.parametrize("kind", ["numeric", "integer"])
def test_numbers_get_the_lower_median_of_the_training_rows(kind):
    train = one(kind, [4.0, 1.0, np.nan, 3.0, 9.0])
    filled = impute(train, one(kind, [np.nan, 100.0, np.nan]))["c"]
    assert filled.values.tolist() == [3, 100, 3]
    assert filled.values.dtype == (np.int64 if kind == "integer" else np.float64)


def test_booleans_and_categories():
    assert impute(one("boolean", [1.0, np.nan, 0.0]), one("boolean", [np.nan]))["c"].values.tolist() == [0]
    train = one("categorical", [2, 1, 1, 2, -1], "abc")
    assert impute(train, one("categorical", [-1, 0], "abc"))["c"].values.tolist() == [1, 0]
    with pytest.raises(DataError, match=r"column 'c': .*one table"):
        impute(train, one("categorical", [-1], "ab"))


def test_nothing_observed_in_training():
    assert impute(one("numeric", [np.nan]), one("numeric", [np.nan, 5.0]))["c"].values.tolist() == [0, 5]
    assert impute(one("categorical", [-1], "ab"), one("categorical", [-1], "ab"))["c"].values.tolist() == [0]
    empty = impute(one("categorical", [-1]), one("categorical", [-1]))["c"]
    assert empty.values.tolist() == [0] and len(empty.levels) == 1


def test_sparse_columns_count_their_zeros():
    sparse = SparseValues(np.array([0, 2]), np.array([7.0, np.nan]), 5)
    table = Table([Column("c", "numeric", sparse)])
    assert impute(table, table)["c"].values.tolist() == [7, 0, 0, 0, 0]
    whole = Table([Column("c", "integer", SparseValues(np.array([0]), np.array([1]), 5))])
    assert isinstance(impute(whole, whole)["c"].values, SparseValues)
