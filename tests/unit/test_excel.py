"""Workbooks of Excel: what openpyxl and pandas write is read as the same table in a CSV file."""

import datetime
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest

from blanketflow.core.errors import DataError
from blanketflow.data.formats import workbooks
from blanketflow.data.sources import read_columns, read_source
from blanketflow.workflow.peek import peek

FRAME = pd.DataFrame(
    {
        "age": [31, 40, 27, 55],
        "dose": [0.5, np.nan, 2.25, 1.0],
        "smokes": [True, False, True, True],
        "site": ["Köln", "Bonn", None, "Köln"],
        "y": ["ill", "well", "ill", "well"],
    }
)


def write(path, sheets, **options):
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        for title, frame in sheets.items():
            frame.to_excel(writer, sheet_name=title, **{"index": False, **options})
    return {"path": str(path), "target": "y"}


def by_name(spec):
    return {column.name: column for column in read_columns("demo", spec).columns}


@pytest.mark.parametrize("options", [{}, {"index": True}, {"startrow": 3, "startcol": 2}])
def test_a_workbook_is_read_as_the_same_csv_file(tmp_path, options):
    spec = write(tmp_path / "t.xlsx", {"Data": FRAME}, **options)
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    found, expected = by_name(spec), by_name({**spec, "path": str(tmp_path / "t.csv")})
    assert [*found] == [*FRAME]
    for name, column in expected.items():
        assert (found[name].kind, found[name].levels) == (column.kind, column.levels)
        assert np.array_equal(found[name].numbers(), column.numbers(), equal_nan=True)
    assert peek("demo", spec).n_rows == read_source("demo", spec, 0).features.n_rows == 4


def test_sheets_by_name_and_the_first_with_cells(tmp_path):
    other = FRAME.assign(age=FRAME["age"] + 1)
    spec = write(tmp_path / "t.xlsx", {"Empty": pd.DataFrame(), "First": FRAME, "Second": other})
    assert by_name({**spec, "sheet": "Second"})["age"].values.tolist() == [32, 41, 28, 56]
    raw = read_source("demo", spec, 0)
    assert raw.features["age"].values.tolist() == [31, 40, 27, 55]
    assert [one.what for one in raw.found] == ["sheet 'First', the first of 2 (the others: 'Second')"]


def test_what_is_wrong_with_the_first_sheet_names_the_others(tmp_path):
    spec = write(tmp_path / "t.xlsx", {"Notes": FRAME[:0], "Patients": FRAME})
    with pytest.raises(
        DataError, match=r"no rows\. That is sheet 'Notes'\. Name another by the key sheet: 'Patients'\.$"
    ):
        read_source("demo", spec, 0)
    with pytest.raises(DataError, match=r"no rows\.$"):
        read_source("demo", {**spec, "sheet": "Notes"}, 0)
    spec = write(tmp_path / "t.xlsx", {"Cover": pd.DataFrame({"read me": ["first"]}), "Patients": FRAME})
    with pytest.raises(
        DataError, match=r"no column '.*', which target names\. That is sheet 'Cover'\. .*: 'Patients'\.$"
    ):
        read_source("demo", spec, 0)


def test_cells_of_all_kinds(tmp_path):
    book = openpyxl.Workbook()
    rows = [
        ["day", "at", "euro", "mixed", "failed", "y"],
        [datetime.date(2024, 5, 1), datetime.datetime(2024, 5, 1, 12, 30), "1,5", 1, 0.5, 1],
        [datetime.date(2024, 6, 1), datetime.datetime(2024, 6, 1), "2", "low", "#DIV/0!", 2],
        [None, None, None, None, None, None],
        [datetime.date(2024, 7, 1), datetime.datetime(2024, 7, 1), "0,25", 2.5, 1.5, 3],
    ]
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    found = by_name({"path": str(tmp_path / "t.xlsx")})
    assert found["day"].levels == ("2024-05-01", "2024-06-01", "2024-07-01")
    assert found["at"].levels == ("2024-05-01T12:30:00", "2024-06-01", "2024-07-01")
    assert found["euro"].values.tolist() == [1.5, 2.0, 0.25]
    assert found["mixed"].levels == ("1", "2.5", "low") and found["y"].values.tolist() == [1, 2, 3]
    assert np.array_equal(found["failed"].values, [0.5, np.nan, 1.5], equal_nan=True)


def test_calculated_formulas_have_values(tmp_path):
    write(tmp_path / "t.xlsx", {"Data": FRAME})
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"].replace("<v>40</v>", "<f>20*2</f><v>40</v>")
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert by_name({"path": str(tmp_path / "t.xlsx")})["age"].values.tolist() == [31, 40, 27, 55]


def test_what_unpacks_to_too_much_is_refused_before_it_is_read(tmp_path, monkeypatch):
    spec = write(tmp_path / "t.xlsx", {"Data": FRAME})
    with zipfile.ZipFile(tmp_path / "t.xlsx", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros", bytes(20_000_000))
    monkeypatch.setenv("BLANKETFLOW_MAX_GB", "0.01")
    with pytest.raises(DataError, match=r"unpacks to more than 0\.01 GB"):
        read_columns("demo", spec)


@pytest.mark.parametrize(
    ("part", "inside", "says"),
    [
        (
            "xl/worksheets/sheet1.xml",
            "<row>" + "<c/>" * 21_000 + "</row></sheetData>",
            "has a row of more cells than",
        ),
        ("xl/worksheets/sheet1.xml", "<row/>" * 60_000 + "</sheetData>", r"unpacks to more than 0\.01 GB"),
        ("xl/sharedStrings.xml", "<si/>" * 60_000 + "</sst>", r"unpacks to more than 0\.01 GB"),
    ],
)
def test_xml_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch, part, inside, says):
    spec = write(tmp_path / "t.xlsx", {"Data": FRAME})
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        parts = {"xl/sharedStrings.xml": "<sst></sst>"} | {n: archive.read(n).decode() for n in archive.namelist()}
    end = inside[inside.rindex("</") :]
    parts[part] = parts[part].replace(end, inside)
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert (tmp_path / "t.xlsx").stat().st_size < 50_000
    monkeypatch.setenv("BLANKETFLOW_MAX_GB", "0.01")
    monkeypatch.setattr(workbooks, "_MOST_NODES", 20_000)
    with pytest.raises(DataError, match=says):
        read_columns("demo", spec)


def test_cells_in_far_corners_take_no_room_and_entities_are_not_expanded(tmp_path):
    book = openpyxl.Workbook()
    for at, value in (("A1", "a"), ("B1", "y"), ("A2", 1), ("B2", 1), ("A20000", 2), ("B20000", 2)):
        book.active[at] = value
    book.save(tmp_path / "t.xlsx")
    assert by_name({"path": str(tmp_path / "t.xlsx")})["a"].values.tolist() == [1, 2]
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    doctype = f'<!DOCTYPE w [<!ENTITY l0 "ha">{laughs}]>'
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    part = "xl/worksheets/sheet1.xml"
    parts[part] = doctype + parts[part].replace("<v>1</v>", "<v>&l9;</v>")
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    # In the words of expat; of lxml, which openpyxl prefers where it is installed, those of openpyxl stand before them.
    refused = r"not a readable \.xlsx file \((limit on input amplification|Unable to read workbook)"
    with pytest.raises(DataError, match=refused):
        read_columns("demo", {"path": str(tmp_path / "t.xlsx")})
