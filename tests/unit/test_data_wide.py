"""Wide tables: all columns at once are described as each of them, and any part of a file reads as it was written."""

import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blanketflow.core.column import MatrixColumns, SparseColumns
from blanketflow.core.errors import DataError
from blanketflow.core.table import Column, SparseValues, Table, categorical
from blanketflow.core.task import Task
from blanketflow.data import columns as all_columns
from blanketflow.data import storage
from blanketflow.data.card import make_card, with_findings
from blanketflow.data.column_roles import RawTable, assemble
from blanketflow.data.impute import impute
from blanketflow.data.provenance import Provenance
from blanketflow.data.storage import feature_names, read_features, read_table, write_table

N = 7


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Thresholds at which a few columns are a wide table of many row groups."""
    monkeypatch.setattr(storage, "WIDE", 0)
    monkeypatch.setattr(storage, "WIDE_SPARSE", 0)
    monkeypatch.setattr(storage, "GROUP_CELLS", 2 * N)
    monkeypatch.setattr(storage, "GROUP_FEATURES", N)
    monkeypatch.setattr(all_columns, "CELLS", 3 * N)


def sparse_columns(matrix, kind="numeric"):
    """The columns of a matrix with its zeros left out."""
    at, rows = np.nonzero(matrix.T)
    starts = np.searchsorted(at, np.arange(matrix.shape[1] + 1))
    names = [f"s{j}" for j in range(matrix.shape[1])]
    return SparseColumns(names, starts, rows.astype(np.int32), matrix.T[at, rows], len(matrix), kind)


def dense_columns(matrix):
    return MatrixColumns([f"d{j}" for j in range(matrix.shape[1])], np.asfortranarray(matrix))


def single(columns):
    """The same columns, one by one."""
    return Table(list(columns))


@st.composite
def wide_columns(draw, gaps=True):
    """Columns of few values, among them constants, copies, and cells that are missing."""
    d = draw(st.integers(1, 12))
    seed, is_sparse = draw(st.integers(0, 10**6)), draw(st.booleans())
    kind = draw(st.sampled_from(["numeric", "integer", "boolean"]))
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 3, (N, d)) * (rng.random((N, d)) < rng.random(d))
    matrix[:, rng.random(d) < 0.2] = rng.integers(0, 2)
    matrix[:, rng.integers(d)] = matrix[:, 0]
    if kind == "numeric":
        matrix = matrix * 0.5
        if gaps:
            matrix[rng.random((N, d)) < 0.05] = np.nan
    elif kind == "integer":
        matrix = (matrix - 1 if not is_sparse else matrix).astype(rng.choice(["i1", "u1", "i2", "i8"]))
    else:
        matrix = matrix > 0
    return sparse_columns(matrix, kind) if is_sparse else dense_columns(matrix)


def raw_of(features, **changes):
    target = categorical("y", np.array(["no", "yes", "no", "yes", "yes", "no", "no"], dtype=object))
    return RawTable(Table(features), target, Task("classification", "as asked"), **changes)


def assert_equal_tables(found, expected):
    assert found.names == expected.names
    for a, b in zip(found.columns, expected.columns, strict=True):
        assert (a.name, a.kind, a.levels) == (b.name, b.kind, b.levels)
        assert np.array_equal(a.numbers(), b.numbers(), equal_nan=True)


@settings(deadline=None)
@given(wide_columns())
def test_all_columns_at_once_are_described_as_each_of_them(columns):
    one_by_one = single(columns)
    assert all_columns.missing_by_column(columns).tolist() == [c.n_missing() for c in one_by_one.columns]
    values = [c.numbers() for c in one_by_one.columns]
    constant = [len(np.unique(v[~np.isnan(v)])) <= 1 for v in values]
    assert (~Table(columns).varying()).tolist() == (~one_by_one.varying()).tolist() == constant
    keys = all_columns.content_keys(columns)
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            assert (keys[i] == keys[j]) == np.array_equal(a, b, equal_nan=True)


@settings(deadline=None)
@given(wide_columns())
def test_card_and_findings_do_not_depend_on_how_columns_are_held(columns):
    dense = Table([Column(c.name, c.kind, c.numbers()) for c in columns])
    held, alone = (with_findings(raw_of(features)) for features in (columns, dense.columns))
    a, b = (make_card("t", raw, {"path": "t.csv"}) for raw in (held, alone))
    assert a | {"content_hash": ""} == b | {"content_hash": ""}


def test_equal_content_hash_means_equal_content():
    matrix = np.arange(3 * N, dtype=float).reshape(N, 3)
    hashes = set()
    for changed in (matrix, matrix + 1, matrix[:, ::-1], matrix[:, :2]):
        for columns in (sparse_columns(changed), dense_columns(changed)):
            hashes.add(make_card("t", raw_of(columns), {"path": ""})["content_hash"])
    assert len(hashes) == 8
    as_floats, as_bytes = (dense_columns(matrix[:, :1].astype(dtype)) for dtype in ("i8", "i1"))
    assert len({make_card("t", raw_of(c), {"path": ""})["content_hash"] for c in (as_floats, as_bytes)}) == 1


@pytest.mark.extended
@settings(deadline=None)
@given(wide_columns(), st.data())
def test_a_wide_file_reads_as_it_was_written(tmp_path_factory, columns, data):
    path = tmp_path_factory.mktemp("wide") / "t.parquet"
    groups = np.arange(N) % 3 if data.draw(st.booleans()) else None
    write_table(path, raw_of(columns, groups=groups), Provenance(extra={"more": 1}))
    assert pq.ParquetFile(path).metadata.num_columns < 10
    stored = read_table(path)
    assert isinstance(stored.features.columns, type(columns))
    assert_equal_tables(stored.features, single(columns))
    assert stored.target.values.tolist() == [0, 1, 0, 1, 1, 0, 0] and stored.target.levels == ("no", "yes")
    assert (stored.groups is None) if groups is None else stored.groups.tolist() == groups.tolist()
    assert stored.extra["more"] == 1 and feature_names(path) == list(columns.names)
    parts = data.draw(st.integers(1, len(columns)))
    read = [read_features(path, (at, parts)).features for at in range(1, parts + 1)]
    assert_equal_tables(Table([c for part in read for c in part.columns]), single(columns))
    asked = data.draw(st.lists(st.sampled_from(columns.names), unique=True))
    assert_equal_tables(read_table(path, asked).features, single(columns).select(asked) if asked else Table([]))


def test_a_wide_table_of_mixed_columns_reads_as_it_was_written(tmp_path):
    nan = np.nan
    columns = [
        Column("number", "numeric", np.array([0.5, nan, 2.5, 1, 1, 1, 1])),
        Column("whole", "integer", np.arange(N)),
        Column("gaps", "integer", np.array([1.0, nan, 3.0, 1, 1, 1, 1])),
        Column("flag", "boolean", np.array([1, 0, 1, 1, 1, 1, 0], dtype=np.int8)),
        categorical("size", np.array(["10", None, "9", "é", "9", "9", "9"], dtype=object)),
        Column("sparse", "integer", SparseValues(np.array([1]), np.array([4], dtype=np.int8), N)),
        Column("empty", "boolean", SparseValues(np.empty(0, np.int32), np.empty(0, np.int8), N)),
    ]
    path = tmp_path / "t.parquet"
    write_table(path, raw_of(columns), Provenance())
    assert_equal_tables(read_table(path).features, Table(columns))
    assert isinstance(read_table(path).features["sparse"].values, SparseValues)
    assert_equal_tables(read_features(path, (2, 2)).features, Table(columns[3:]))
    assert_equal_tables(read_table(path, ["size", "number"]).features, Table([columns[4], columns[0]]))
    with pytest.raises(DataError, match=r"'sizes'.*size"):
        read_table(path, ["sizes"])


def test_single_columns_of_one_kind_come_back_as_one_matrix(tmp_path):
    columns = [Column(f"x{j}", "numeric", np.arange(N) * 0.5 + j) for j in range(5)]
    target = Column("y", "numeric", np.linspace(0, 1, N))
    write_table(tmp_path / "t.parquet", RawTable(Table(columns), target, Task("regression", "")), Provenance())
    stored = read_table(tmp_path / "t.parquet")
    assert isinstance(stored.features.columns, MatrixColumns) and stored.features.columns.matrix.flags.f_contiguous
    assert_equal_tables(stored.features, Table(columns))
    assert stored.target.values.tolist() == target.values.tolist()


def test_a_part_reads_only_the_row_groups_that_hold_it(tmp_path):
    columns = dense_columns(np.arange(40.0 * N).reshape(N, 40))
    path = tmp_path / "t.parquet"
    write_table(path, raw_of(columns), Provenance())
    group = pq.ParquetFile(path).metadata.row_group(0)
    cells = next(c for c in map(group.column, range(group.num_columns)) if c.path_in_schema.startswith("numbers"))
    with open(path, "r+b") as file:  # the first features' cells are damaged
        file.seek(cells.data_page_offset)
        file.write(b"\xff" * cells.total_compressed_size)
    with pytest.raises(DataError, match=r"t\.parquet"):
        read_table(path)
    assert_equal_tables(read_features(path, (2, 2)).features, single(columns).select(columns.names[20:]))


@settings(deadline=None)
@given(wide_columns())
def test_cells_are_filled_as_in_single_columns(columns):
    train, test = np.array([0, 2, 3, 5]), np.array([1, 4, 6])
    held, alone = Table(columns), single(columns)
    for rows in (train, test):
        filled = impute(held.take(train), held.take(rows))
        assert_equal_tables(filled, impute(alone.take(train), alone.take(rows)))
    if not all_columns.missing_by_column(columns).any():
        assert impute(held, held) is held


@pytest.mark.parametrize("make", [dense_columns, sparse_columns])
@pytest.mark.parametrize("missing", ["impute", "drop"])
def test_a_wide_source_is_assembled_as_single_columns_are(make, missing):
    matrix = np.arange(4.0 * N).reshape(N, 4)
    matrix[2, 1] = np.nan
    names = make(matrix).names
    target = categorical("y", np.array(["no", "yes", None, "yes", "yes", "no", "no"], dtype=object))
    held = make(matrix)
    spec = {"drop": [names[0]], "groups": names[3], "missing": missing}
    for more in ({}, {"categorical": [names[2]]}, {"categorical": ["y"]}):
        whole = type(held)(**{f: getattr(held, f) for f in held.__dataclass_fields__} | {"more": (target,)})
        a, b = (assemble("t", spec | more, columns, "y") for columns in (whole, [*held, target]))
        assert_equal_tables(a.features, b.features)
        assert a.target.values.tolist() == b.target.values.tolist() and a.notes == b.notes
        assert a.groups.tolist() == b.groups.tolist()
    matrix[5, 2] = np.inf
    with pytest.raises(DataError, match=f"'{names[2]}' holds infinite"):
        assemble("t", spec, [*make(matrix), target], "y")


def test_a_wide_table_is_read_without_pandas(tmp_path):
    path = tmp_path / "t.parquet"
    write_table(path, raw_of(sparse_columns(np.eye(N))), Provenance())
    code = f"""
import sys
from blanketflow.data.storage import read_features, read_table
assert len(read_table({str(path)!r}).features) == {N}
assert len(read_table({str(path)!r}, ["s1"]).features) == 1
print(sorted({{"pandas", "scipy", "pyarrow.dataset"}} & set(sys.modules)))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
