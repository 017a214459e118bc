"""Rows of text are bounded before they are held: by bytes, by cells, and in gzip files by the memory of all cells."""

import csv
import gzip
import subprocess
import sys

import pytest

from blanketflow.core.errors import DataError
from blanketflow.data import input_file
from blanketflow.data.input_file import VARIABLE
from blanketflow.data.text import read_head, read_text

MEASURED = """
import resource, sys
from pathlib import Path
from blanketflow.core.errors import DataError
from blanketflow.data.text import read_head, read_text
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for read in (read_text, read_head):
    try:
        read("study", Path(sys.argv[1]))
    except DataError as error:
        assert "2,000,000 cells" in str(error), error
    else:
        raise AssertionError("it was read")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak is in other units")
@pytest.mark.parametrize("row", [b"," * 1_000_000, b'\n","' * 250_000], ids=["one line", "quoted line breaks"])
def test_a_small_file_of_a_huge_row_takes_little_memory(tmp_path, row):
    path = tmp_path / "study.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"" if row[:1] == b"," else b'a,"')
        for _ in range(50):
            file.write(row)
    if row[:1] != b",":  # a head ends after some lines
        with pytest.raises(DataError, match="first row does not end"):
            read_head("study", path)
        with pytest.raises(DataError, match="begins in line 1 has more than 2,000,000 cells"):
            read_text("study", path)
        return
    done = subprocess.run([sys.executable, "-c", MEASURED, path], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 30_000  # kilobytes; all cells would take 400 MB


def test_a_wide_table_and_many_rows_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(input_file, "_LONG", 1_000)
    monkeypatch.setattr(input_file, "_BLOCK", 64)
    monkeypatch.setattr(input_file, "MOST_COLUMNS", 6_000)
    monkeypatch.setattr(input_file, "MOST_ROW_BYTES", 30_000)
    path = tmp_path / "study.csv"
    header = ",".join(f"g{j}" for j in range(500))
    path.write_text("\n".join([header, *[",".join(["1.5"] * 500)] * 40]) + "\n")
    assert len(read_text("study", path)) == len(read_head("study", path).columns) == 500
    path.write_text("\n".join(["a,b", *["1,2"] * 20_000]) + "\n" + "\n" * 20_000 + "3,4\n")
    assert read_text("study", path)[0].n_rows == 20_001


def test_the_cells_of_a_packed_file_are_counted(tmp_path, monkeypatch):
    path = tmp_path / "study.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"0,1\n" * 200_000))  # 0.8 MB unpacked, 3.2 MB as numbers
    monkeypatch.setenv(VARIABLE, "0.002")
    with pytest.raises(DataError, match=r"more than 0\.002 GB"):
        read_text("study", path)
    monkeypatch.setenv(VARIABLE, "0.004")
    assert read_text("study", path)[1].n_rows == 200_000


def test_the_limit_of_the_csv_module_is_as_before(tmp_path):
    before = csv.field_size_limit()
    path = tmp_path / "study.csv"
    path.write_text("a,b\n1," + "z" * 200_000 + "\n")
    with pytest.raises(DataError, match="line 2: the cell of column 'b' has 200,000 characters"):
        read_text("study", path)
    assert read_text("study", path, drop=["b"])[0].values.tolist() == [1]
    assert csv.field_size_limit() == before


def test_a_quote_that_closes_far_below_is_named(tmp_path):
    path = tmp_path / "study.csv"
    path.write_text('a,b\n1,"x\n' + "2,y\n" * 50_000 + '3,z"\n')
    with pytest.raises(DataError, match="a quote before them may not be closed"):
        read_text("study", path)
