"""Tables that pyarrow reads are those that the csv module reads: columns, what was found out, and what is refused."""

import gzip

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blanketflow.core.errors import DataError
from blanketflow.data import text, text_by_arrow
from blanketflow.data.dialect import Dialect
from blanketflow.data.input_file import VARIABLE
from blanketflow.data.missing_markers import MissingMarkers
from blanketflow.data.text import read_text

CELLS = {
    "whole": ["0", "1", "-1", "007", "+5", "-0", "999", "-99", "9223372036854775807", "9223372036854775808", "12", "3"],
    "odd whole": ["0x1F", "0X0a", "00000000000000000000012", " 4", "5 ", "\u00a06", "1_000", "\u0663"],
    "real": [
        "0.5",
        "1.",
        ".5",
        "-0.0",
        "1e5",
        "1E-3",
        "1e400",
        "inf",
        "-Infinity",
        "-99.0",
        "999.000",
        "+1.5",
        "5e-324",
    ],
    "missing": ["", "NA", " NA", "nan", "NAN", "-nan", "nan(1)", "?", "null", "-", "."],
    "truth": ["True", "false", "TRUE"],
    "text": ["a", "x", "\u00e9", "\ufeffq", "\x0c", "\x1f7", "e5", "2020-01-01", "12:30:00", "a\0b", "1.5f"],
    "comma": ['"1,5"', '"1,500"', '"1.234,5"', '"2"'],
    "quoted": ['"a ""b"""', '"l1\nl2"', '"l\r\n3"', '""', '" 5 "', '"NA"', '"#"'],
    "ill quoted": ['a"b', '"a"b', '"a" ', '"open', '""a', '5"'],
}
ASKED = [{}, {}, {}, {"header": False}, {"decimal": ","}, {"thousands": ","}, {"sep": ";"}, {"decimal": "."}]


@st.composite
def files(draw):
    """A few rows of mostly one kind of cells in each column, most of them written as they should be."""
    width = draw(st.integers(1, 3))
    kinds = draw(st.lists(st.sampled_from([*CELLS][:-1]), min_size=width, max_size=width))
    usual = [st.sampled_from(draw(st.lists(st.sampled_from(CELLS[kind]), min_size=1, max_size=5))) for kind in kinds]
    if draw(st.booleans()):
        usual = [one | st.sampled_from(CELLS["missing"]) for one in usual]
    if draw(st.integers(0, 9)) == 0:
        usual[0] |= st.sampled_from(CELLS["ill quoted"])
    sep = draw(st.sampled_from(",,;\t"))
    rows = draw(st.lists(st.tuples(*usual).map(sep.join), min_size=1, max_size=25))
    if draw(st.integers(0, 9)) == 0:
        rows.insert(draw(st.integers(0, len(rows))), draw(st.sampled_from(["", " ", "1", "1,2,3,4", "#", '"'])))
    header = draw(st.sampled_from(["a,b,c", "a,b,c", '"a",b,c', "a,a,c", ",b,c", "#\n\na,b,c"]))
    lines = [sep.join(header.split(",")[:width]), *rows]
    content = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])).join(lines).encode()
    content = draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"])) + content + draw(st.sampled_from([b"\n", b""]))
    return content.replace("\u00e9".encode(), b"\xe9") if draw(st.integers(0, 9)) == 0 else content


def told(path, asked=None, marks=None, as_text=(), drop=()):
    """All that reading a file says: columns bit by bit, and what was found out; or why it is refused."""
    dialect, markers = Dialect(**(asked or {})), MissingMarkers(marks)
    try:
        columns = read_text("demo", path, as_text, dialect, markers, drop)
    except DataError as error:
        return str(error), dialect.found
    held = [(c.name, c.kind, c.values.dtype, c.values.tobytes(), c.levels) for c in columns]
    noted = [(c, [*n.items()]) for c, n in markers.found.items()]
    return held, dialect.found, noted


@pytest.fixture
def by_arrow(monkeypatch):
    """Small files are read by pyarrow, too, in blocks of a few rows; returns which were."""
    used = []
    real = text_by_arrow.columns_by_arrow

    def noted(*args):
        used.append(True)  # also if a column is refused
        columns = real(*args)
        used[-1] = columns is not None
        return columns

    monkeypatch.setattr(text, "ARROW_BYTES", 0)
    monkeypatch.setattr(text_by_arrow, "COLUMN_BYTES", 0)
    monkeypatch.setattr(text_by_arrow, "_BLOCK_OF_COLUMN", 1)
    monkeypatch.setattr(text_by_arrow, "_BLOCK", 40)
    monkeypatch.setattr(text_by_arrow, "columns_by_arrow", noted)
    return used


def by_both(path, **asked):
    """What both say, which must be equal."""
    found = told(path, **asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "ARROW_BYTES", float("inf"))
        assert found == told(path, **asked)
    return found


@given(files(), st.sampled_from(ASKED), st.sampled_from([None, None, ["1", "-99", "x"], ["1,5", "a"]]), st.booleans())
@example(content=b"a\n0\n ", asked={}, marks=None, as_text=False)
@settings(deadline=None, max_examples=150)
def test_any_file_is_read_as_the_csv_module_reads_it(tmp_path_factory, content, asked, marks, as_text):
    path = tmp_path_factory.mktemp("arrow") / "t.csv"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "ARROW_BYTES", 0)
        patch.setattr(text_by_arrow, "COLUMN_BYTES", 0)
        patch.setattr(text_by_arrow, "_BLOCK_OF_COLUMN", 1)
        patch.setattr(text_by_arrow, "_BLOCK", 40)
        by_both(path, asked=asked, marks=marks, as_text=["a"] if as_text else [], drop=["b"])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", "3"] * 20, "integer"),
        (["1", "-0", ""] * 20 + [" 7"], "integer"),
        (["1", "2"] * 20 + ["0.5"], "numeric"),  # what a later block says of the first ones
        (["-0", "2"] * 20 + ["0.5"], "numeric"),
        (["1", "2"] * 20 + ["high"], "categorical"),
        (["0.5", "2"] * 20 + ["NAN"], "categorical"),
        (["7", "2"] * 20 + ["0x1F"], "categorical"),
        (["7", "0X1F"] * 20, "categorical"),
        (["+7", "+2"] * 20, "integer"),
        (["7.0", "2.0"] * 20, "numeric"),
        (["7e2", "2e2"] * 20, "numeric"),
        (["9223372036854775807", "1"] * 20, "integer"),
        (["9223372036854775808", "1"] * 20, "numeric"),
        (["00000000000000000000012", "1"] * 20, "numeric"),
        (["NA", "?", ""] * 20, "numeric"),
        ([*map(str, range(50)), "-999", "-999"], "integer"),
        ([*map(str, range(50)), *["-999"] * 3, *[" -999"] * 4], "integer"),
        (["1.0", "01", "1", "-999.0", "-999.0"] * 9, "numeric"),
        (["True", "false"] * 20, "boolean"),
        ([f'"{j % 7},5"' for j in range(40)], "numeric"),
        ([f'"x, {j % 7}"' for j in range(40)], "categorical"),
    ],
)
def test_columns_are_what_their_cells_make_them(tmp_path, by_arrow, cells, kind):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{cell},{at % 5}\n" for at, cell in enumerate(cells)), encoding="utf-8")
    columns, *_ = by_both(path)
    assert columns[0][1] == kind and by_arrow == [True]


@pytest.mark.parametrize(
    "rows",
    [
        'a"b,1\n',
        '5" pipe,1\n',
        '"a"b,1\n',
        '"a" ,1\n',
        '"never closed,1\n1,2\n',
        "1\n",
        "1,2,3\n",
        '"a\n\ufeffb",1\n',
        "\ufeff1,2\n" * 30,
        "z" * 140_000 + ",1\n",
        '"' + "z\n" * 70_000 + '",1\n',
        "a\0b,1\n",
        "\r1,2\r3,4\r",
        "",
    ],
)
def test_what_may_be_read_otherwise_is_left_to_the_csv_module(tmp_path, by_arrow, rows):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 60 * bool(rows) + rows.encode())
    by_both(path)
    assert by_arrow[0] == (rows.startswith(("a\0b", "\r", '"a\n')))
    path.write_bytes(b"a,b\n" + b"1,2\n" * 60 + b"caf\xe9,2\n")
    assert by_both(path)[0][0][1] == "categorical"


@pytest.mark.parametrize(
    ("content", "marks"),
    [
        ('"1,5",0.5\n', None),  # refused
        ('"1,5",inf\n', None),  # no number among decimal commas
        ('"1,500",1\n', None),
        ('3,x\n"n,a",y\n', ["n,a"]),
        ("1,0.5\n2,-9\n1.0,x\n", ["1", "-9", "x"]),
    ],
)
def test_numbers_are_what_other_columns_and_the_markers_make_them(tmp_path, by_arrow, content, marks):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + content * 30, encoding="utf-8")
    by_both(path, marks=marks)
    assert by_arrow == [True]


def test_other_layouts(tmp_path, by_arrow):
    path = tmp_path / "t.csv"
    for content, asked in [
        ("a b\n1  2\n", {}),
        ("a,b\n'1',2\n", {"quote": "'"}),
        ("a\u00a7b\n1\u00a72\n", {"sep": "\u00a7"}),
    ]:
        path.write_text(content * 1, encoding="utf-8")
        assert [column[0] for column in by_both(path, asked=asked)[0]] == ["a", "b"]
    assert not by_arrow
    for comments in ("#x,1\n\n#\na,b\n#", "a,b\n#1,2,3\n"):
        path.write_text(comments + "\n1,2\n# 3\n" * 30 + "#", encoding="utf-8")
        assert [column[0] for column in by_both(path, asked={"comment": "#"})[0]] == ["a", "b"]
    assert by_arrow == [True] * 2
    by_arrow.clear()
    with pytest.MonkeyPatch.context() as patch:  # comments fill some blocks, and the last row has no line end
        patch.setattr(text_by_arrow, "_BLOCK", 16)
        patch.setattr(text_by_arrow, "_BLOCK_OF_COLUMN", 0)
        path.write_text("# a long line\n" * 20 + "a,b\n" + "1,2\n" * 20 + "3,4", encoding="utf-8")
        assert len(by_both(path)[0]) == len(by_both(path, asked={"comment": "#"})[0]) == 2
    assert by_arrow == [True] * 2
    by_arrow.clear()
    path.write_text("# made, by us\n\n,a,b\n" + "".join(f"r{j},{j},x\n" for j in range(40)), encoding="utf-8")
    found = by_both(path)
    assert [column[0] for column in found[0]] == ["a", "b"] and len(found[1]) == 2
    path.write_bytes("a;b\n1;\u00e9\n".encode("utf-16"))
    assert by_both(path)[0][1][-1] == ("\u00e9",)
    path.write_text('"1\n2",3\n' * 30, encoding="utf-8")
    assert by_both(path, asked={"header": False})[0][0][-1] == ("1\n2",)
    assert by_arrow == [True] * 3


def test_the_cells_of_a_packed_file_are_counted_once(tmp_path, by_arrow, monkeypatch):
    path = tmp_path / "t.csv.gz"
    for last in ("1,2\n", 'a"b,1\n', "x,1\n"):  # read once, by the csv module after all, and twice
        path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2_000 + last.encode()))
        by_arrow.clear()
        monkeypatch.setenv(VARIABLE, str(1.01 * 2_001 * 16 / 1e9))
        assert np.frombuffer(by_both(path)[0][1][3], dtype=np.int64).sum() in (4_002, 4_001)
        assert by_arrow == [last != 'a"b,1\n']
        monkeypatch.setenv(VARIABLE, str(0.99 * 2_001 * 16 / 1e9))
        assert "unpacks to more than" in by_both(path)[0]


def test_small_files_and_few_rows_of_many_columns_are_not_worth_it(tmp_path, monkeypatch):
    monkeypatch.setattr(text_by_arrow, "Rows", None)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 1_000, encoding="utf-8")
    assert len(read_text("demo", path)) == 2
    wide = ",".join(["12.5"] * 1_000)
    path.write_text(f"{','.join(f'g{j}' for j in range(1_000))}\n" + f"{wide}\n" * 250, encoding="utf-8")
    assert path.stat().st_size > text.ARROW_BYTES and len(read_text("demo", path)) == 1_000
