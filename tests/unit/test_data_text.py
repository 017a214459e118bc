"""CSV and TSV: delimiters, compression, kinds of columns, and errors that name the place."""

import gzip

import numpy as np
import pytest

from blanketflow.core.errors import DataError
from blanketflow.data import text
from blanketflow.data.missing_markers import MISSING_MARKERS
from blanketflow.data.text import read_head, read_text


def write(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(tmp_path, content, as_text=()):
    return {c.name: c for c in read_text("demo", write(tmp_path, content), as_text)}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("packed", [False, True])
def test_delimiter_gzip_and_bom_are_found_out(tmp_path, delimiter, packed):
    rows = [["age", "name", "y"], ["31", "Zoé", "1.5"], ["40", "Ann", "2"]]
    content = ("\ufeff" + "\r\n".join(delimiter.join(row) for row in rows)).encode()
    path = write(tmp_path, gzip.compress(content) if packed else content, "no_extension")
    for columns in (read_text("demo", path), read_head("demo", path).columns):
        assert [(c.name, c.kind) for c in columns] == [("age", "integer"), ("name", "categorical"), ("y", "numeric")]
        assert columns[0].values.tolist() == [31, 40]
        assert columns[1].levels == ("Ann", "Zoé") and columns[1].values.tolist() == [1, 0]


def test_kinds_of_cells(tmp_path):
    columns = read(tmp_path, "i,f,b,t,big,e,inf\n1,1.0,True,a,123456789012345678901,1e3,inf\n-2,.5,false,1,2,-2E-1,1\n")
    kinds = {name: c.kind for name, c in columns.items()}
    assert kinds == {
        "i": "integer", "f": "numeric", "b": "boolean", "t": "categorical", "big": "numeric", "e": "numeric",
        "inf": "numeric",
    }  # fmt: skip
    assert columns["i"].values.dtype == np.int64 and columns["b"].values.tolist() == [1, 0]
    assert columns["e"].values.tolist() == [1000.0, -0.2] and np.isinf(columns["inf"].values[0])


@pytest.mark.parametrize("marker", MISSING_MARKERS)
def test_every_missing_marker_counts_in_every_kind(tmp_path, marker):
    columns = read(tmp_path, f"i,f,b,t,z\n1,0.5,True,x,1\n{marker},{marker},{marker}, {marker},2\n")
    assert {n: c.kind for n, c in columns.items() if n != "z"} == {
        "i": "integer", "f": "numeric", "b": "boolean", "t": "categorical"
    }  # fmt: skip
    assert [c.n_missing() for c in columns.values()] == [1, 1, 1, 1, 0]
    assert columns["i"].values.dtype == np.float64 and columns["t"].values.tolist() == [0, -1]


def test_numbers_as_text_keep_their_writing_and_sort_by_value(tmp_path):
    column = read(tmp_path, "zip,y\n010,1\n9,2\n,3\n", as_text={"zip"})["zip"]
    assert (column.kind, column.levels, column.values.tolist()) == ("categorical", ("9", "010"), [1, 0, -1])


def test_quoted_cells_and_single_columns(tmp_path):
    columns = read(tmp_path, 'a,b\n"x, ""y""\nz",1\n\nw,2\n')
    assert columns["a"].levels == ("w", 'x, "y"\nz') and columns["b"].values.tolist() == [1, 2]
    assert read(tmp_path, "target\n1\n2\n")["target"].values.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, but the header has 2"),
        ("a,a\n1,2\n", "'a' occurs more than once"),
        ("a,,c\n1,2,3\n", "column 2 has no name"),
        ("a,b\n", "no rows"),
        ("a;b\n1,500;2\n2,500;3\n", "column 'a' holds numbers such as '1,500'"),
        ("a,b\nzoë,2\n".encode() + b"caf\xe9,1\n", "not UTF-8"),
        (gzip.compress(b"a,b\n" + b"1,2\n" * 1000, mtime=0)[:-20], "damaged gzip"),
    ],
)
def test_errors_name_the_place(tmp_path, content, message):
    path = write(tmp_path, content)
    for reader in (read_text, read_head):
        with pytest.raises(DataError, match=r"^demo: ") as caught:
            reader("demo", path)
        assert message in str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
def test_head_estimates_the_rows_of_a_long_file(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(text, "HEAD_BYTES", 40_000)
    rng = np.random.default_rng(0)
    lines = "".join(f"{x:.6f},{x > 0}\n" for x in rng.normal(size=20_000))
    content = ("x,y\n" + lines).encode()
    head = read_head("demo", write(tmp_path, gzip.compress(content) if packed else content))
    n_seen = len(head.columns[0].values)
    assert n_seen < 4000
    assert n_seen * head.rows_per_row == pytest.approx(20_000, rel=0.02)
    assert [c.kind for c in head.columns] == ["numeric", "boolean"]


def test_head_of_a_very_wide_file_holds_some_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "HEAD_BYTES", 100)
    header = ",".join(f"column{i}" for i in range(100))
    row = ",".join("1" for _ in range(100))
    head = read_head("demo", write(tmp_path, header + "\n" + (row + "\n") * 500))
    assert len(head.columns) == 100 and len(head.columns[0].values) >= 10


def test_head_may_end_within_a_quoted_cell(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "HEAD_BYTES", 1000)
    head = read_head("demo", write(tmp_path, "a,b\n" + '1,"first\nsecond\nthird"\n' * 200))
    assert head.columns[1].levels == ("first\nsecond\nthird",) or len(head.columns[1].levels) == 2
    assert head.columns[0].kind == "integer"
