"""How a text is written: found out or asked for, the same in the plan's head and in the whole table, and said."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest

from blanketflow.config.reading import checked_dataset
from blanketflow.core.errors import ConfigError, DataError
from blanketflow.data import text
from blanketflow.data.dialect import Dialect, Recoded
from blanketflow.data.sources import read_source
from blanketflow.data.text import read_head, read_text

FRAME = pd.DataFrame(
    {
        "Größe": [1650.5, 1702.25, 1803.75],
        "Kinder": [0, 2, 1],
        "Ort": ["Köln", "Łódź", "Bonn"],
        "y": ["ja", "nein", "ja"],
    }
)
WESTERN = FRAME.replace("Łódź", "Fürth")


def both(path, **asked):
    """What the whole file and its head hold, which must be equal, and what was found out."""
    whole, head = Dialect(**asked), Dialect(**asked)
    columns, first = read_text("demo", path, dialect=whole), read_head("demo", path, dialect=head)
    assert first.rows_per_row == 1.0
    for one, other in zip(columns, first.columns, strict=True):
        assert (one.name, one.kind, one.levels) == (other.name, other.kind, other.levels)
        assert np.array_equal(one.numbers(), other.numbers(), equal_nan=True)
    assert whole.found == head.found == list(first.found)
    return columns, [one.what for one in whole.found]


def holds(columns, frame):
    assert [column.name for column in columns] == list(frame)
    for column in columns:
        cells = [column.levels[code] for code in column.values] if column.levels else column.values.tolist()
        assert cells == frame[column.name].tolist()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("frame", "options", "found"),
    [
        (FRAME, {"encoding": "utf-16"}, ["UTF-16 text"]),
        (FRAME, {"encoding": "utf-32", "sep": "\t"}, ["UTF-32 text"]),
        (FRAME, {"sep": ";", "decimal": ","}, ["decimal commas in Größe"]),
        (FRAME, {"decimal": ","}, ["decimal commas in Größe"]),  # in quotes
        (FRAME, {"sep": " "}, []),
        (WESTERN, {"encoding": "latin-1"}, ["no UTF-8, so Windows-1252 (Latin-1) text, such as 'Größe,Kinder,Ort,y'"]),
        (FRAME, {"index": True}, ["a first column without a name, which numbers or names the rows and is left out"]),
    ],
)
def test_what_pandas_writes_is_found_out(tmp_path, frame, options, found, packed):
    path, written = tmp_path / "t.csv", io.BytesIO()
    frame.to_csv(written, **{"index": False, **options})
    path.write_bytes(gzip.compress(written.getvalue()) if packed else written.getvalue())
    columns, told = both(path)
    holds(columns, frame)
    assert told == found


def test_encodings_that_cannot_be_found_out_are_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    for encoding in ("iso8859-2", "utf-16-be", "cp852"):
        FRAME.to_csv(path, index=False, encoding=encoding)
        columns, told = both(path, encoding=encoding)
        holds(columns, FRAME)
        assert told == []


def test_long_text_of_another_encoding_estimates_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "HEAD_BYTES", 40_000)
    path = tmp_path / "t.csv"
    rows = "".join(f"{i % 7}{i % 11},é{i % 3}\n" for i in range(20_000))
    for encoding in ("utf-16", "latin-1"):
        path.write_bytes(f"a,b\n{rows}".encode(encoding))
        head = read_head("demo", path)
        assert len(head.columns[0].values) * head.rows_per_row == pytest.approx(20_000, rel=0.05)


def test_recoded_bytes_are_the_same_in_blocks_of_any_size():
    told = "aé€\U0001f600" * 20_000
    for encoding in ("utf-16", "utf-8", "utf-32-le"):
        recoded = Recoded(io.BytesIO(told.encode(encoding)), encoding)
        assert io.BufferedReader(recoded, 7).read() == told.encode()


@pytest.mark.parametrize(
    "content", [b"\xff\x00\x01", bytes(range(128, 256)) * 40, "zoë,größe\n".encode() * 9 + b"\xff"]
)
def test_bytes_that_are_no_text_stay_refused(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + content)
    for reader in (read_text, read_head):
        with pytest.raises(DataError, match="is not UTF-8 text"):
            reader("demo", path)


@pytest.mark.parametrize(
    ("cells", "asked", "wanted"),
    [
        (["1,5", "2", "-0,25"], {}, [1.5, 2, -0.25]),
        (["1.200,5", "2", "1.000.000"], {}, [1200.5, 2, 1e6]),
        (["1 200,5", "2", "3,0e2"], {}, [1200.5, 2, 300]),
        (["1,200.5", "2", "7"], {}, [1200.5, 2, 7]),
        (["1,000,000", "2", "7"], {}, [1_000_000, 2, 7]),
        (["0,125", "0,250", "NA"], {}, [0.125, 0.25, np.nan]),
        (["1,500", "2,500", "NA"], {"decimal": ","}, [1.5, 2.5, np.nan]),
        (["1,500", "2,500", "NA"], {"thousands": ","}, [1500, 2500, np.nan]),
        (["1'500", "2'500.5", "?"], {"thousands": "'"}, [1500, 2500.5, np.nan]),
        (["1 500,5", "2", "3"], {"decimal": ",", "thousands": " "}, [1500.5, 2, 3]),
    ],
)
def test_signs_in_numbers(tmp_path, cells, asked, wanted):
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{a};{b}\n" for a, b in zip(["a", *cells], "yxyx", strict=True)), encoding="utf-8")
    columns, _ = both(path, **asked)
    assert columns[0].kind in ("integer", "numeric")
    assert np.array_equal(columns[0].numbers(), wanted, equal_nan=True)


def test_a_point_number_is_no_number_where_decimals_have_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n3.5;1\n4.5;2\n", encoding="utf-8")
    assert both(path, decimal=",")[0][0].levels == ("3.5", "4.5")


def test_ambiguous_commas_are_decided_by_another_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n1,500;0,5;x,y\n2,750;1,5;z\n", encoding="utf-8")
    columns, told = both(path)
    assert columns[0].values.tolist() == [1.5, 2.75] and columns[2].levels == ("x,y", "z")
    assert told == ["decimal commas in b, a"]


def test_labels_with_commas_are_no_evidence(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,5;1\n2,5;2\n", encoding="utf-8")
    columns = read_text("demo", path, as_text=["a"], dialect=(dialect := Dialect()))
    assert columns[0].levels == ("1,5", "2,5") and not dialect.found


def test_row_names_are_left_out_and_other_columns_never(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text('"a" "y"\n"Mazda RX4" 1.5 "x"\n"Datsun 710" 2.5 "z"\n', encoding="utf-8")  # R's write.table
    assert [column.name for column in both(path)[0]] == ["a", "y"]
    path.write_text('"","a","y"\n"5",1.5,"x"\n"9",2.5,"z"\n', encoding="utf-8")  # R's write.csv of some rows
    assert [column.name for column in both(path)[0]] == ["a", "y"]
    for content in (",a\n0.5,1\n1.5,2\n", ",a\nx,1\nx,2\n", ",a\n1,1\n,2\n", "a,b\n3,5,1\n2,5,2\n"):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match=r"has no name|has 3 cells, but the header has 2"):
            read_text("demo", path)


def test_lines_of_comments(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("##made in 2024, by us\n##\n#a,b\n1,2\n#3,4\n", encoding="utf-8")
    columns, told = both(path)
    assert [column.name for column in columns] == ["#a", "b"] and columns[0].levels == ("#3", "1")
    assert told == ["2 lines above the table that begin with #"]
    path.write_text("# a form feed \f ends no line\na,b\n1,2\n", encoding="utf-8")
    assert both(path)[0][1].values.tolist() == [2]
    path.write_text("a,b\n# note\n1,2\n#3,4\n1,2,3\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 5 has 3 cells"):  # lines keep their numbers
        both(path, comment="#")


def test_what_was_found_out_is_a_finding_and_keys_that_are_not_set_are_no_part_of_a_spec(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, sep=";", decimal=",", index=False)
    spec = checked_dataset("demo", {"path": str(path), "target": "y"})
    assert not {"encoding", "sep", "decimal", "thousands", "comment"} & set(spec)
    assert read_source("demo", spec, 0).found[0].what == "decimal commas in Größe"
    asked = checked_dataset("demo", {"path": str(path), "target": "y", "decimal": ","})
    assert asked["decimal"] == "," and read_source("demo", asked, 0).found == ()


@pytest.mark.parametrize("key", ["encoding", "sep", "decimal", "thousands", "comment"])
def test_the_keys_are_for_files_of_text(tmp_path, key):
    value = {"encoding": "latin-1", "sep": ";", "decimal": ",", "thousands": "'", "comment": "#"}[key]
    with pytest.raises(ConfigError, match=f"{key} is for files"):
        checked_dataset("demo", {"source": "sklearn:wine", key: value})
    FRAME.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ConfigError, match=f"{key} is for tables of text"):
        read_source("demo", {"path": str(tmp_path / "t.parquet"), "target": "y", key: value}, 0)
