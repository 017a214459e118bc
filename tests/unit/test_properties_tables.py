"""Tables of any cells come back cell by cell: written by csv and by pandas, and as the plan sees them."""

import csv
import io
import itertools
import math
import string

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from blanketflow.core.errors import DataError
from blanketflow.core.table import sort_labels
from blanketflow.data.columns import look
from blanketflow.data.missing_markers import MISSING_MARKERS
from blanketflow.data.sources import read_source
from blanketflow.data.text import read_head, read_text
from test_data_sources import assert_agree

# Unicode of all planes, quotes, delimiters and line breaks; no lone surrogates, which UTF-8 cannot hold.
TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    [
        'a"b',
        "a,b;c\td|e",
        "two\nlines",
        "\r\n",
        "{wildcard}",
        "$(true)",
        "<script>",
        "\u202eabc",
        "''",
        '"',
        "1e",
        "0x1",
        "+",
    ]
)
NAME = TEXT.map(str.strip).filter(lambda name: name and "\0" not in name)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
CELLS = {
    "integer": st.integers(-(10**18) + 1, 10**18 - 1).map(str),
    "numeric": FLOAT.map(repr) | st.integers().map(str) | st.sampled_from(["5e-324", "-0.0", ".5", "1E5", "+3."]),
    "boolean": st.sampled_from(["True", "False", "true", "FALSE"]),
    "text": TEXT.filter(lambda text: "\0" not in text),
}
#: What the tests themselves know of kinds, written without the package's regular expressions.
DIGITS = set(string.digits)


def literal_kind(texts):
    present = [text for text in texts if text not in MISSING_MARKERS]
    if not present:
        return "numeric"
    if all(text.lstrip("+-") and set(text[text[0] in "+-" :]) <= DIGITS for text in present):
        return "integer" if all(len(text.lstrip("+-")) <= 18 for text in present) else "numeric"
    if all(is_number(text) for text in present):
        return "numeric"
    return "boolean" if {text.lower() for text in present} <= {"true", "false"} else "categorical"


def is_number(text):
    """As Python, but ASCII only, without underscores and without the many spellings of NaN."""
    try:
        return text.isascii() and "_" not in text and not math.isnan(float(text))
    except ValueError:
        return False


def literal_cell(text, kind):
    if text in MISSING_MARKERS:
        return None
    if kind == "categorical":
        return text
    return float(text.lower() == "true") if kind == "boolean" else float(text)


def cells_of(column):
    values = column.values.tolist()
    if column.kind == "categorical":
        return [column.levels[code] if code >= 0 else None for code in values]
    return [None if math.isnan(value) else float(value) for value in values]


@st.composite
def tables(draw):
    # Two names that look the same, such as control characters, are refused.
    names = draw(st.lists(NAME, min_size=1, max_size=4, unique_by=look))
    n = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=len(names), max_size=len(names)))
    missing = st.sampled_from(MISSING_MARKERS)
    columns = [draw(st.lists(CELLS[kind] | missing, min_size=n, max_size=n)) for kind in kinds]
    return names, columns


@given(
    tables(),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
@example((["a", "b"], [["-0.0", "5e-324"], ["9007199254740993", "-9007199254740993"]]), ",", "\n", csv.QUOTE_MINIMAL)
@settings(deadline=None, max_examples=100)
def test_a_csv_file_comes_back_cell_by_cell(tmp_path_factory, table, delimiter, end, quoting):
    names, columns = table
    # Of one column, or with other delimiters within names, no reader can know which is the delimiter.
    assume(len(names) > 1 and not any(other in "".join(names) for other in ",;\t|\r\n"))
    assume(not all(map(is_number, names)))  # which may be a row of values above which there are no names
    if "\r" in "".join(itertools.chain(*columns)):
        quoting = csv.QUOTE_ALL  # Python's writer does not see that a lone carriage return needs quotes
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(written.getvalue().encode())
    known = [[cell.strip() for cell in column] for column in columns]
    kinds = list(map(literal_kind, known))
    if any(set("".join(c for c in cells if c not in MISSING_MARKERS)) <= DIGITS | set("+-,") and k == "categorical"
           for cells, k in zip(known, kinds, strict=True)):  # fmt: skip
        return  # decimal commas are refused; test_data_text has them
    found = read_text("demo", path)
    assert [column.name for column in found] == names
    assert [column.kind for column in found] == kinds
    for column, kind, cells in zip(found, kinds, known, strict=True):
        wanted = [literal_cell(cell, kind) for cell in cells]
        assert list(map(repr, cells_of(column))) == list(map(repr, wanted))  # repr tells -0.0 from 0.0
        if column.values.dtype.kind == "i" and kind == "integer":
            assert column.values.tolist() == list(map(int, cells))  # exact beyond 2^53 too
    head = read_head("demo", path)
    assert head.rows_per_row == 1 and [c.kind for c in head.columns] == kinds


@given(
    st.lists(
        st.tuples(
            FLOAT | st.none(),
            st.integers(-(2**63), 2**63 - 1),
            st.booleans(),
            st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).map(lambda t: f"t{t}"),
        ),
        min_size=1,
        max_size=8,
    )
)
@settings(deadline=None, max_examples=50)
def test_what_pandas_writes_is_read_as_pandas_reads_it(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("pandas")
    frame = pd.DataFrame(rows, columns=["f", "i", "b", "t"]).astype({"f": float})
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    again = pd.read_csv(folder / "t.csv", keep_default_na=False, na_values=list(MISSING_MARKERS))
    if frame.b.nunique() < 2:
        return
    for path in (folder / "t.csv", folder / "t.parquet"):
        raw = read_source("demo", {"path": str(path), "target": "b", "task": "classification"}, 0)
        found = {c.name: c for c in raw.features.columns}
        for name in found:
            column = found[name]
            if column.kind == "categorical":
                assert cells_of(column) == again[name].astype(str).tolist()
            else:
                assert np.array_equal(column.numbers(), again[name].to_numpy(dtype=float), equal_nan=True)
                assert np.array_equal(np.signbit(column.numbers()), np.signbit(frame[name].to_numpy(dtype=float)))


@given(tables(), st.sampled_from(["impute", "drop"]), st.booleans())
@settings(deadline=None, max_examples=100)
def test_the_plan_sees_what_is_read_or_refuses_it_in_the_same_words(tmp_path_factory, table, policy, as_labels):
    names, columns = table
    path = tmp_path_factory.mktemp("peek") / "t.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *zip(*columns, strict=True)])
    spec = {"path": str(path), "target": names[-1], "missing": policy, "categorical": names[:1] if as_labels else []}
    try:
        read_source("demo", spec, 0)
    except DataError as error:
        with pytest.raises(DataError) as caught:
            assert_agree("demo", spec)
        assert str(caught.value) == str(error) and str(error).isprintable()
        return
    assert_agree("demo", spec)


IDENTIFIERS = [2**53, 2**53 + 1, -(2**53) - 1, 2**58, 2**58 + 1, 5]


@pytest.mark.parametrize("packed", ["csv", "parquet"])
def test_whole_numbers_beyond_2_to_53_are_told_apart_as_groups_labels_and_classes(tmp_path, packed):
    """A float holds no odd number there: neighbours would become one group, one label, one class."""
    table = pa.table({"id": IDENTIFIERS * 2, "x": list(range(12)), "y": IDENTIFIERS * 2})
    path = tmp_path / f"t.{packed}"
    if packed == "csv":
        table.to_pandas().to_csv(path, index=False)
    else:
        pq.write_table(table, path)
    spec = {"path": str(path), "target": "y", "task": "classification"}
    assert len(set(read_source("t", spec | {"groups": "id"}, 0).groups.tolist())) == len(IDENTIFIERS)
    raw, _ = assert_agree("t", spec | {"categorical": ["id"]})
    wanted = set(map(str, IDENTIFIERS))
    assert set(raw.features["id"].levels) == set(raw.target.levels) == wanted
    spec |= {"categorical": ["y"]}
    assert set(read_source("t", spec, 0).target.levels) == wanted


def test_larger_numbers_than_fit_are_not_taken_for_groups_or_classes(tmp_path):
    """Beyond 64 bits a CSV file's numbers are floats: which are equal cannot be told."""
    path = tmp_path / "t.csv"
    path.write_text("id,x,y\n" + "".join(f"{10**20 + i},{i % 3},{i % 2}\n" for i in range(6)))
    with pytest.raises(DataError, match=r"t: .*'id'.* list it under categorical"):
        read_source("t", {"path": str(path), "target": "y", "groups": "id"}, 0)
    with pytest.raises(DataError, match=r"t: .*'id'.* list it under categorical"):
        read_source("t", {"path": str(path), "target": "id", "task": "classification"}, 0)
    spec = {"path": str(path), "target": "y", "groups": "id", "categorical": ["id"]}
    assert len(set(read_source("t", spec, 0).groups.tolist())) == 6


@given(st.sets(st.sampled_from(["1", "2", "10", "NAN", "nAn", "-1", "inf", "x", "1.0"]), min_size=1))
def test_labels_have_one_order(labels):
    ordered = list(labels)
    assert sort_labels(ordered) == sort_labels(ordered[::-1]) == sort_labels(sorted(ordered))
