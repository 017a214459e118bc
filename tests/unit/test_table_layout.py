"""Where a table stands in its file: titles, units, names, separators at line ends; each as a CSV file and a workbook.

Every message is followed literally: the key that it names, written as it says, ends with the table read.
"""

import gzip
import re

import numpy as np
import openpyxl
import pytest
import yaml

from blanketflow.config.reading import checked_dataset
from blanketflow.core.errors import ConfigError, DataError
from blanketflow.data import text as text_reader
from blanketflow.data import text_by_arrow
from blanketflow.data.dialect import found_line
from blanketflow.data.sources import read_columns

RNG = np.random.default_rng(3)
ROWS = [[f"{v:.3f}" for v in row] + [str(i % 2)] for i, row in enumerate(RNG.normal(size=(40, 2)))]
HEADER = ["a", "b", "y"]
VALUES = np.array(ROWS, dtype=float)


def as_csv(path, lines, delimiter=","):
    path.write_text("".join(delimiter.join(line) + "\n" for line in lines), encoding="utf-8")
    return path


def as_xlsx(path, lines):
    book = openpyxl.Workbook()
    for line in lines:
        book.active.append([float(cell) if re.fullmatch(r"-?\d+\.?\d*", cell) else cell or None for cell in line])
    book.save(path)
    return path


KINDS = pytest.mark.parametrize("write", [as_csv, as_xlsx])


def read(path, **keys):
    """Return the columns and what is said of them."""
    loaded = read_columns("t", checked_dataset("t", {"path": str(path), **keys}))
    return list(loaded.columns), found_line(loaded.found)


def holds(columns, names=("a", "b", "y"), values=VALUES):
    assert [column.name for column in columns] == list(names)
    assert np.array_equal(np.column_stack([column.numbers() for column in columns]), values)


def key_named(told, key):
    """Return the value that a message names for a key, as YAML reads it."""
    return yaml.safe_load(re.search(rf"\b{key}: (\{{[^}}]*\}}|\[[^]]*\]|[\w-]+)", told)[1])


@KINDS
def test_title_rows_are_left_out_and_the_key_that_is_named_does_the_same(tmp_path, write):
    titles = [["Report of the ward"], ["", "", ""], ["spring", "", ""]]
    path = write(tmp_path / f"t.{write.__name__[3:]}", [*titles, HEADER, *ROWS])
    columns, told = read(path)
    holds(columns)
    assert told.endswith("2 rows above the header, left out by skip_rows: 3. If that is wrong, set skip_rows.")
    for keys in ({"skip_rows": key_named(told, "skip_rows")}, {"header_row": 4}):
        columns, told = read(path, **keys)
        holds(columns)
        assert told is None


def test_a_footer_and_names_in_another_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([*(",".join(row) for row in [HEADER, *ROWS]), "", "Source: the ward", ""]), "utf-8")
    with pytest.raises(DataError, match="line 43 has 1 cells") as caught:
        read(path)
    holds(read(path, comment=re.search('comment: "(.*?)"', str(caught.value))[1])[0])
    as_csv(path, [["Device", "", ""], ["Serial", "123", ""], HEADER, *ROWS])
    holds(read(path)[0])
    as_csv(path, [["Device", "1", ""], HEADER, *ROWS])
    with pytest.raises(DataError, match="set header_row to its number"):
        read(path)
    holds(read(path, header_row=2)[0])


def test_semicolons_and_decimal_commas_without_a_header(tmp_path):
    lines = [[cell.replace(".", ",") for cell in row[:2]] + ["ab"[i % 2]] for i, row in enumerate(ROWS)]
    columns, told = read(as_csv(tmp_path / "t.csv", lines, ";"))
    holds(columns[:2], ("x0", "x1"), VALUES[:, :2])
    assert "decimal commas in x0, x1" in told


def test_titles_without_separators_and_with_others(tmp_path):
    semicolons = [["Report, of the ward, in spring"], [""], HEADER, *ROWS]
    holds(read(as_csv(tmp_path / "t.csv", semicolons, ";"))[0])
    tabs = gzip.compress(("Report\n" + "".join("\t".join(row) + "\n" for row in [HEADER, *ROWS])).encode())
    (tmp_path / "t.tsv.gz").write_bytes(tabs)
    holds(read(tmp_path / "t.tsv.gz")[0])


@KINDS
def test_a_row_of_units_is_left_out_and_said(tmp_path, write):
    path = write(tmp_path / f"t.{write.__name__[3:]}", [HEADER, ["kg", "mg/l", ""], *ROWS])
    columns, told = read(path)
    holds(columns)
    assert "a row of units (kg, mg/l), left out by units_row: 2" in told
    columns, told = read(path, units_row=key_named(told, "units_row"))
    holds(columns)
    assert told is None
    assert read(path, units_row=0)[0][0].kind == "categorical"


def test_a_row_of_labels_is_no_row_of_units(tmp_path):
    lines = [["gene", "s1", "s2", "s3"], ["sex", "m", "f", "f"], *[[f"g{i}", *row] for i, row in enumerate(ROWS)]]
    assert read(as_csv(tmp_path / "t.csv", lines))[0][0].n_rows == 41
    lines = [HEADER, ["high", "high", ""], ["high", "2", "0"], *ROWS]
    assert read(as_csv(tmp_path / "t.csv", lines))[0][0].n_rows == 42


@KINDS
def test_a_first_row_of_values_is_no_header(tmp_path, write):
    path = write(tmp_path / f"t.{write.__name__[3:]}", ROWS)
    columns, told = read(path)
    holds(columns, ("x0", "x1", "x2"))
    assert "no names of columns: the first row holds values" in told
    columns, told = read(path, header="none")
    holds(columns, ("x0", "x1", "x2"))
    assert told is None
    holds(
        read(path, header="numbers")[0],
        [f"{float(cell):g}" if write is as_xlsx else cell for cell in ROWS[0]],
        VALUES[1:],
    )
    holds(read(path, target=ROWS[0][0])[0], ROWS[0], VALUES[1:]) if write is as_csv else None


@pytest.mark.parametrize(
    "first",
    [
        "5.1,3.5,1.4,0.2,setosa",  # the label occurs again below
        "842302,17.99,10.38,3,setosa",
        "P-0041,1.5,3,2020-01-05,setosa",  # an identifier and a date, as those below them are written
        "3,3,?,4,virginica",  # a number twice, and a missing cell
        "virginica,virginica,setosa",  # labels only, some twice
    ],
)
def test_values_of_other_kinds(tmp_path, first):
    cells = first.split(",")
    more = []
    for i in range(20):
        row = [re.sub(r"\d", lambda _, i=i: str(i % 7), cell) if re.search(r"\d", cell) else cell for cell in cells]
        more.append([*row[:-1], "setosa" if i % 2 else "virginica"])
    columns, told = read(as_csv(tmp_path / "t.csv", [cells, *more]))
    assert columns[0].name == "x0" and columns[0].n_rows == 21 and "header" in told


@pytest.mark.parametrize(
    "names",
    [
        ["0", "1", "2"],  # a frame without names
        ["400.5", "402.5", "404.5"],  # wavelengths
        ["1", "2", "outcome"],
        ["2019", "2020", "class"],
        ["7.5", "3.2", "name"],  # a text that no row holds
    ],
)
def test_numbers_that_are_names(tmp_path, names):
    holds(read(as_csv(tmp_path / "t.csv", [names, *ROWS]))[0], names)


@pytest.mark.parametrize("ends", [("", ""), (",,", ",,"), (",,", ""), ("", ",,")])
def test_separators_at_line_ends(tmp_path, ends):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join(HEADER) + ends[0], *(",".join(row) + ends[1] for row in ROWS)]), "utf-8")
    columns, told = read(path)
    holds(columns)
    assert told is None or "2 columns without a name and without cells, left out" in told


@KINDS
def test_a_column_without_a_name_is_left_out_if_it_is_empty_and_else_named_by_a_key(tmp_path, write):
    path = write(tmp_path / f"t.{write.__name__[3:]}", [["a", "", "b", "y"], *[[r[0], "", r[1], r[2]] for r in ROWS]])
    columns, told = read(path)
    holds(columns)
    assert "1 column without a name and without cells, left out" in told
    write(path, [["a", "", "y"], *ROWS])
    with pytest.raises(DataError, match=r"column 2 has no name.*, or by rename: \{2: NAME\}") as caught:
        read(path)
    holds(read(path, rename=key_named(str(caught.value), "rename"))[0], ("a", "NAME", "y"))


@KINDS
def test_names_that_occur_more_than_once(tmp_path, write):
    path = write(tmp_path / f"t.{write.__name__[3:]}", [["a", "a", "a_2"], *ROWS])
    with pytest.raises(DataError, match="occurs more than once") as caught:
        read(path)
    told = str(caught.value)
    holds(read(path, rename=key_named(told, "rename"))[0], ("a", "NAME", "a_2"))
    columns, said = read(path, duplicate_names=key_named(told, "duplicate_names"))
    holds(columns, ("a", "a_3", "a_2"))
    assert "numbered: a_3 (column 2)" in said


def test_a_line_sep(tmp_path):
    path = tmp_path / "t.csv"
    for line in ("sep=;", '"sep=;"', "SEP=;"):
        path.write_text(f"{line}\n" + "\n".join(";".join(row) for row in [HEADER, *ROWS]), "utf-8")
        columns, told = read(path)
        holds(columns)
        assert told.startswith("found out how the file is written: a first line sep=;")


def test_lone_quotes(tmp_path):
    path = as_csv(
        tmp_path / "t.tsv", [["y", "said", "n"], *[["ab"[i % 2], f'"he said {i}', str(i)] for i in range(20)]], "\t"
    )
    with pytest.raises(DataError, match="set quote: none") as caught:
        read(path)
    columns, _ = read(path, quote=key_named(str(caught.value), "quote"))
    assert columns[1].levels[0] == '"he said 0' and columns[2].values.tolist() == list(range(20))
    as_csv(path, [["y", "n"], *[["'a, b'", str(i)] for i in range(20)]])
    assert read(path, quote="'")[0][0].levels == ("a, b",)


def test_a_series_matrix_beyond_what_is_looked_at(tmp_path, monkeypatch):
    by_arrow = []
    spied = text_by_arrow.columns_by_arrow
    monkeypatch.setattr(
        text_by_arrow, "columns_by_arrow", lambda *given: by_arrow.append(found := spied(*given)) or found
    )
    path = tmp_path / "t.txt"
    above = "".join(f'!Sample_characteristics_ch1\t"{"x" * 900}"\n' for _ in range(400))
    rows = "".join(f'"p{i}_at"\t' + "\t".join(row) + "\n" for i, row in enumerate(ROWS))
    end = "!series_matrix_table_end\n"
    path.write_text(f'{above}!series_matrix_table_begin\n"ID_REF"\t"M1"\t"M2"\t"M3"\n{rows}{end}', "utf-8")
    for most in (10**9, 1):  # by the csv module, and by pyarrow
        monkeypatch.setattr(text_reader, "ARROW_BYTES", most)
        monkeypatch.setattr(text_by_arrow, "COLUMN_BYTES", 1)
        columns, told = read(path)
        holds(columns[1:], ("M1", "M2", "M3"))
        assert "the table of a series matrix" in told
        holds(read(path, comment="!")[0][1:], ("M1", "M2", "M3"))
    assert len(by_arrow) == 2 and None not in by_arrow


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"skip_rows": 2, "header_row": 3}, "either header_row or skip_rows"),
        ({"header_row": 3, "header": "none"}, "header_row is where the header stands"),
        ({"header_row": 3, "units_row": 2}, "units stands below"),
        ({"header_row": [3, 4], "units_row": 4}, "units stands below"),
        ({"header_row": [4, 3]}, "name both rows, the upper one first"),
        ({"header_row": [1, 2, 3]}, "must be a whole number of at least 1, or a list of two different ones"),
        ({"rename": {"a": "b"}}, r"Write the number of a column and its new name"),
        ({"rename": {9: "b"}}, "rename names column 9, and the table has 3"),
    ],
)
def test_keys_that_cannot_be(tmp_path, keys, told):
    path = as_csv(tmp_path / "t.csv", [HEADER, *ROWS])
    with pytest.raises(ConfigError, match=told):
        read(path, **keys)


def test_empty_cells_at_the_ends_of_some_rows_are_left_out_and_said(tmp_path):
    ragged = [row + [""] * (at % 3) for at, row in enumerate(ROWS)]
    columns, told = read(as_csv(tmp_path / "t.csv", [HEADER, *ragged]))
    holds(columns)
    assert "empty cells beyond the header's 3, such as in line 3, left out" in told
    with pytest.raises(DataError, match="line 3 has 4 cells"):
        read(as_csv(tmp_path / "t.csv", [HEADER, ROWS[0], [*ROWS[1], "x"]]))


GROUPED = [["id", "Treated", "", "Control", ""], ["", "sys", "dia", "sys", "dia"]]
JOINED = ["id", "Treated_sys", "Treated_dia", "Control_sys", "Control_dia"]
NUMBERS = [[f"{v:.1f}" for v in row] for row in RNG.normal(100, 9, size=(30, 5))]


@KINDS
@pytest.mark.parametrize("above", [[], [["Report of the ward", "", "", "", ""], [""] * 5]])
def test_names_in_two_rows_are_joined_and_the_key_that_is_named_does_the_same(tmp_path, write, above):
    path = write(tmp_path / f"t.{write.__name__[3:]}", [*above, *GROUPED, *NUMBERS])
    columns, told = read(path)
    holds(columns, JOINED, np.array(NUMBERS, dtype=float))
    first = len(above) + 1
    assert f"names in two rows, joined as in 'Treated_sys' by header_row: [{first}, {first + 1}]" in told
    columns, told = read(path, header_row=key_named(told, "header_row"))
    holds(columns, JOINED, np.array(NUMBERS, dtype=float))
    assert told is None


@KINDS
@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([["Treated", "Treated", "Control", "Control"], ["sys", "dia", "sys", "dia"]], None),
        ([["", "2019", "", "2020"], ["age", "cost", "sales", "cost"]], ["age", "2019_cost", "2019_sales", "2020_cost"]),
        ([["id", "Pressure", "", "sex"], ["", "sys", "dia", ""]], ["id", "Pressure_sys", "Pressure_dia", "sex"]),
    ],
)
def test_forms_of_names_in_two_rows(tmp_path, write, rows, names):
    upper = [rows[0][0], rows[0][1], rows[0][2] or rows[0][1], rows[0][3]]
    names = names or [f"{a}_{b}" for a, b in zip(upper, rows[1], strict=True)]
    values = [row[:4] for row in NUMBERS]
    columns, told = read(write(tmp_path / f"t.{write.__name__[3:]}", [*rows, *values]))
    holds(columns, names, np.array(values, dtype=float))
    assert "header_row: [1, 2]" in told


@KINDS
def test_a_row_of_groups_above_whole_names_is_left_out_and_can_be_joined(tmp_path, write):
    rows = [["", "Pressure", "", "Lipids", ""], ["id", "sys", "dia", "hdl", "ldl"]]
    path = write(tmp_path / f"t.{write.__name__[3:]}", [*rows, *NUMBERS])
    columns, told = read(path)
    holds(columns, rows[1], np.array(NUMBERS, dtype=float))
    columns, _ = read(path, header_row=key_named(told, "header_row"))
    names = ["id", "Pressure_sys", "Pressure_dia", "Lipids_hdl", "Lipids_ldl"]
    holds(columns, names, np.array(NUMBERS, dtype=float))


@KINDS
def test_names_in_two_rows_that_are_not_plain_are_refused_with_the_key(tmp_path, write):
    patients = [["Patient", "Pressure", "", "Age"], ["no", "sys", "dia", "years"]]
    values = [row[:4] for row in NUMBERS]
    path = write(tmp_path / f"t.{write.__name__[3:]}", [*patients, *values])
    with pytest.raises(DataError, match="column 3 has no name") as refused:
        read(path)
    columns, _ = read(path, header_row=key_named(str(refused.value), "header_row"))
    holds(columns, ["Patient_no", "Pressure_sys", "Pressure_dia", "Age_years"], np.array(values, dtype=float))
    rows = [["id", "Which do you drink?", "", "", "Age"], ["", "Tea", "Coffee", "Milk", "Response"]]
    cells = [
        [str(i), *(name if i % k else "" for k, name in ((2, "Tea"), (3, "Coffee"), (5, "Milk"))), str(20 + i % 30)]
        for i in range(30)
    ]
    path = write(tmp_path / f"t.{write.__name__[3:]}", [*rows, *cells])
    with pytest.raises(DataError, match="column 3 has no name") as refused:
        read(path)
    columns, _ = read(path, header_row=key_named(str(refused.value), "header_row"))
    asks = "Which do you drink?"
    assert [column.name for column in columns] == [
        "id",
        f"{asks}_Tea",
        f"{asks}_Coffee",
        f"{asks}_Milk",
        "Age_Response",
    ]
    assert columns[0].n_rows == 30


def test_units_below_two_rows_of_names_and_pyarrow(tmp_path, monkeypatch):
    path = as_csv(tmp_path / "t.csv", [["Study"], *GROUPED, ["", "mmHg", "mmHg", "mmHg", "mmHg"], *NUMBERS])
    for most in (10**9, 1):
        monkeypatch.setattr(text_reader, "ARROW_BYTES", most)
        monkeypatch.setattr(text_by_arrow, "COLUMN_BYTES", 1)
        columns, told = read(path)
        holds(columns, JOINED, np.array(NUMBERS, dtype=float))
        assert "units_row: 4" in told
        holds(read(path, header_row=[2, 3], units_row=4)[0], JOINED, np.array(NUMBERS, dtype=float))


def test_tables_whose_names_stand_in_one_row_stay_so(tmp_path):
    nameless = [["name", "", "score"], ["ann", "x", ""], *[[f"n{i}", "xyz"[i % 3], str(i % 7)] for i in range(30)]]
    with pytest.raises(DataError, match="column 2 has no name"):
        read(as_csv(tmp_path / "t.csv", nameless))
    twice = [["a", "a", "b"], ["kg", "kg", "cm"], *[row[:3] for row in NUMBERS]]
    with pytest.raises(DataError, match="'a' occurs more than once"):
        read(as_csv(tmp_path / "t.csv", twice))
