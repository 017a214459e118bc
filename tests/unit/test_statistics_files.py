"""Files of Stata, SPSS and SAS that pyreadstat and pandas write are read as the same cells in a frame."""

import sys

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from blanketflow.core.errors import ConfigError, DataError
from blanketflow.data.sources import read_columns, read_source
from blanketflow.workflow.peek import peek

FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 1.0, np.nan],
        "pain": [0.0, 3.0, 9.0, 1.0],
        "dose": [0.5, 1.25, np.nan, 2.0],
        "site": ["Köln", "", "Bonn", "Köln"],
        "y": [1.0, 2.0, 1.0, 2.0],
    }
)
LABELS = {"sex": {1: "male", 2: "female"}, "pain": {9: "unbearable"}, "y": {1: "ill", 2: "well"}}
ASCII = FRAME.replace("Köln", "Koeln")
WRITERS = {
    "sav": lambda path: pyreadstat.write_sav(FRAME, path, variable_value_labels=LABELS),
    "zsav": lambda path: pyreadstat.write_sav(FRAME, path, variable_value_labels=LABELS, compress=True),
    "dta": lambda path: pyreadstat.write_dta(FRAME, path, variable_value_labels=LABELS),
    "old.dta": lambda path: pyreadstat.write_dta(
        FRAME.replace("Köln", "Koeln"), path, version=8, variable_value_labels=LABELS
    ),
    "xpt": lambda path: pyreadstat.write_xport(FRAME, path),
}


@pytest.mark.parametrize("form", WRITERS)
def test_cells_and_value_labels(tmp_path, form):
    path = tmp_path / f"t.{form}"
    WRITERS[form](path)
    spec = {"path": str(path), "target": "y"}
    found = {column.name: column for column in read_columns("demo", spec).columns}
    assert [*found] == [*FRAME]
    city = "Koeln" if form.startswith("old") else "Köln"
    assert found["site"].levels == ("Bonn", city) and found["site"].values.tolist() == [1, -1, 0, 1]
    assert found["dose"].kind == "numeric" and np.array_equal(found["dose"].values, FRAME["dose"], equal_nan=True)
    assert (found["pain"].kind, found["pain"].values.tolist()) == ("integer", [0, 3, 9, 1])
    if form == "xpt":  # which has no labels
        assert np.array_equal(found["sex"].numbers(), FRAME["sex"], equal_nan=True)
        return
    assert found["sex"].levels == ("female", "male") and found["sex"].values.tolist() == [1, 0, 1, -1]
    raw = read_source("demo", spec, 0)
    assert raw.target.levels == ("ill", "well") and peek("demo", spec).class_counts == {"ill": 2, "well": 2}
    assert "'pain' is read as numbers, since only some of its values have labels: 9 is 'unbearable'" in raw.notes


def test_what_spss_declares_to_be_missing_is_missing(tmp_path):
    pyreadstat.write_sav(FRAME, tmp_path / "t.sav", missing_ranges={"pain": [9]})
    found = {column.name: column for column in read_columns("demo", {"path": str(tmp_path / "t.sav")}).columns}
    assert np.array_equal(found["pain"].values, [0, 3, np.nan, 1], equal_nan=True)


def test_dates_need_the_key(tmp_path):
    frame = FRAME.assign(day=pd.to_datetime(["2024-05-31", "2024-06-01", None, "1970-01-01"]))
    for form, write in (("dta", pyreadstat.write_dta), ("sav", pyreadstat.write_sav)):
        path = tmp_path / f"t.{form}"
        write(frame, path)
        spec = {"path": str(path), "target": "y"}
        with pytest.raises(DataError, match="'day' has the type timestamp"):
            read_columns("demo", spec)
        columns = {column.name: column for column in read_columns("demo", {**spec, "dates": "ordinal"}).columns}
        assert np.array_equal(columns["day"].values, [19874, 19875, np.nan, 0], equal_nan=True)
        assert "day" not in read_source("demo", {**spec, "drop": ["day"]}, 0).features.names


def test_an_encoding_can_be_asked_for(tmp_path):
    path = tmp_path / "t.dta"
    FRAME[["site", "y"]].replace("", "x").to_stata(path, version=114, write_index=False)  # of Latin-1
    found = read_columns("demo", {"path": str(path), "encoding": "latin-1"}).columns[0]
    assert found.levels == ("Bonn", "Köln", "x")


def test_stated_sizes_are_checked_before_cells_are_read(tmp_path, monkeypatch):
    WRITERS["dta"](tmp_path / "t.dta")
    monkeypatch.setenv("BLANKETFLOW_MAX_GB", "1e-7")
    with pytest.raises(DataError, match="unpacks to more than"):
        read_columns("demo", {"path": str(tmp_path / "t.dta")})


def test_what_is_missing_or_damaged_is_named_with_the_way_out(tmp_path, monkeypatch):
    path = tmp_path / "t.sav"
    WRITERS["sav"](path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"t\.sav is not a readable SPSS file \(.*\)\. Save it again"):
        read_columns("demo", {"path": str(path)})
    path.write_bytes(whole)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(ConfigError, match=r'pip install "blanketflow\[statistics\]"'):
        read_columns("demo", {"path": str(path)})
