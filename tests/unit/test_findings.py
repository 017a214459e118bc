"""What is found in tables whose flaws were put there: near-copies, relations, leaks among many columns; its limits."""

import numpy as np
import pytest

from blanketflow.core.column import MatrixColumns, SparseColumns
from blanketflow.core.table import Column, Table
from blanketflow.core.task import Task
from blanketflow.data.card import make_card, with_findings
from blanketflow.data.column_roles import RawTable
from blanketflow.data.findings import Finding, findings, in_lines
from blanketflow.data.findings.finding import MOST_COLUMNS, n_rows_examined

N = 200


def raw(columns, y=None, task="classification"):
    """Return a table of named arrays, a list of columns or wide columns, with a target."""
    if isinstance(columns, dict):
        columns = [Column(name, "numeric", np.asarray(values, dtype=float)) for name, values in columns.items()]
    table = Table(columns)
    y = np.random.default_rng(99).integers(0, 2, table.n_rows) if y is None else y
    target = Column("y", "numeric", y) if task == "regression" else Column("y", "categorical", y, ("no", "yes"))
    return with_findings(RawTable(table, target, Task(task, "made up")))


def told(table, kind):
    return [finding for finding in findings(table) if finding.kind == kind]


@pytest.fixture
def noise():
    return np.random.default_rng(0).normal(size=(N, 6))


def test_a_near_copy_is_told_with_the_column_that_it_repeats(noise):
    a, b, more = noise[:, 0], noise[:, 1], noise[:, 2]
    table = raw({"metres": a, "age": b, "feet": -3.28 * a + 0.01 * more})
    (found,) = told(table, "near-copy")
    assert (
        found.columns == ("feet",) and found.message == "one column nearly repeats an earlier one: feet (like metres)"
    )
    # A correlation of 0.98 is no near-copy.
    loose = a + 0.2 * more
    assert 0.97 < np.corrcoef(a, loose)[0, 1] < 0.99
    assert told(raw({"metres": a, "age": b, "feet": loose}), "near-copy") == []


def test_a_linear_combination_is_told_with_its_terms_and_no_others(noise):
    a, b, c, d, e, _ = noise.T
    table = raw({"a": a, "b": b, "c": c, "d": d, "total": 2 * a - b + 0.5 * d, "free": e})
    (found,) = told(table, "near-copy")
    assert found.columns == ("total",)
    assert found.message.endswith("total (of a, b, d)")
    noisy = raw({"a": a, "b": b, "d": d, "total": 2 * a - b + 0.5 * d + 0.2 * e})  # 99 % explained
    assert told(noisy, "near-copy") == []


def test_a_total_before_its_parts_makes_the_last_part_redundant(noise):
    a, b, c, *_ = noise.T
    (found,) = told(raw({"total": a + b + c, "a": a, "b": b, "c": c}), "near-copy")
    assert found.columns == ("c",)


def test_more_columns_than_half_of_the_rows_have_no_relations():
    rng = np.random.default_rng(1)
    few = rng.normal(size=(40, 30))
    few[:, 29] = few[:, :3].sum(axis=1)
    assert told(raw({f"x{j}": few[:, j] for j in range(30)}), "near-copy") == []


def test_labels_under_other_names_are_a_near_copy_and_identifiers_are_not():
    code = np.random.default_rng(2).integers(0, 3, N)
    colours = Column("colour", "categorical", code, ("blue", "green", "red"))
    numbers = Column("paint", "integer", np.array([7, 3, 5])[code])
    letters = Column("letter", "categorical", (code + 1) % 3, ("x", "y", "z"))
    names = [Column(name, "integer", np.random.default_rng(3).permutation(N)) for name in ("first", "second")]
    (found,) = told(raw([colours, numbers, letters, *names]), "near-copy")
    assert found.columns == ("paint", "letter") and "paint (like colour), letter (like colour)" in found.message


def test_missing_cells_do_not_hide_a_relation_of_the_complete_rows(noise):
    a, b, c, *_ = noise.T
    gaps = np.where(np.arange(N) % 10 == 0, np.nan, a)
    (found,) = told(raw({"a": gaps, "b": b, "sum": gaps + b, "c": c}), "near-copy")
    assert found.columns == ("sum",)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_leak_among_many_columns_is_found_by_its_correlation(is_sparse, task):
    rng = np.random.default_rng(4)
    d, at = 3 * MOST_COLUMNS, 2 * MOST_COLUMNS + 17
    y = rng.integers(0, 2, 60) if task == "classification" else rng.normal(size=60)
    X = (rng.random((60, d)) < 0.05) * rng.normal(size=(60, d)) if is_sparse else rng.normal(size=(60, d))
    X[:, at] = 3.0 * y + (1.0 if is_sparse else 0.0)
    names = [f"x{j}" for j in range(d)]
    if is_sparse:
        columns, rows = np.nonzero(X.T)
        starts = np.searchsorted(columns, np.arange(d + 1))
        wide = SparseColumns(names, starts, rows.astype(np.int32), X.T[columns, rows], 60, "numeric")
    else:
        wide = MatrixColumns(names, X)
    table = raw(wide, y, task)
    assert [finding.columns for finding in told(table, "leakage")] == [(f"x{at}",)]
    (note,) = told(table, "note")
    assert note.message == "columns were examined one by one in 2,000 of 6,000 columns only"


def test_a_leak_in_a_list_of_many_columns_is_found_too():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 60)
    columns = {f"x{j}": rng.normal(size=60) for j in range(MOST_COLUMNS + 50)} | {"told": y - 0.5}
    assert [finding.columns for finding in told(raw(columns, y), "leakage")] == [("told",)]


def test_relations_that_bend_are_told_and_straight_ones_are_not(noise):
    a, b, c = noise.T[:3]
    (found,) = told(raw({"a": a, "b": b, "c": np.sin(3 * a) + 0.1 * c}, 2 * a + b, "regression"), "bent")
    assert found.message.startswith("relations bend: ") and "c with a" in found.message
    assert told(raw({"a": a, "b": b}, 2 * a + b + c, "regression"), "bent") == []


def test_what_is_examined_is_bounded_whatever_the_table():
    for n_rows, n_columns in ((10**7, 3), (10**6, 500), (50, 10**6), (10**5, 10**5)):
        cells = n_rows_examined(n_rows, n_columns) * min(n_columns, MOST_COLUMNS)
        assert cells <= 10**7 and n_rows_examined(n_rows, n_columns) >= min(n_rows, 1_000)


def test_a_long_table_is_examined_in_part_and_a_finding_says_so(monkeypatch):
    monkeypatch.setattr("blanketflow.data.findings.finding.MOST_CELLS", 4_000)
    monkeypatch.setattr("blanketflow.data.findings.finding.FEWEST_ROWS", 100)
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 5_000)
    table = raw({"told": y + rng.normal(0, 0.01, 5_000), "free": rng.normal(size=5_000), "row": np.arange(5_000)}, y)
    found = {finding.kind: finding for finding in findings(table)}
    assert found["leakage"].columns == ("told",) and found["identifier"].columns == ("row",)
    assert found["note"].message == "columns were examined one by one in 1,333 of 5,000 rows only"


def test_the_card_has_them_and_a_line_each_says_the_serious_ones(noise):
    y = (noise[:, 0] > 0).astype(int)
    table = raw({"told": y + 0.01 * noise[:, 1], "a": noise[:, 2], "again": 2 * noise[:, 2], "flat": [1.0] * N}, y)
    card = make_card("study", table, {"source": "made up"})
    assert [finding["kind"] for finding in card["findings"]] == ["leakage", "near-copy", "constant"]
    leak, copy = in_lines(card["findings"])
    assert leak == (
        "look at the table first: suspected leakage (told): if known only with or after the target, set drop: [told]"
    )
    assert copy == (
        "near-copies of other columns (again): if you would not measure them, set drop: [again]. "
        "blanketflow inspect says why"
    )
    assert in_lines([]) == []


def test_many_columns_in_one_finding_are_counted_in_the_card_and_in_the_line():
    table = raw({f"x{j}": np.arange(N) * 1.0 + j for j in range(70)})
    (card,) = (f for f in make_card("study", table, {"source": "made up"})["findings"] if f["kind"] == "identifier")
    assert card["n_columns"] == 70 and len(card["columns"]) == 50
    assert "(x0, x1, x2, x3, x4 and 65 more)" in in_lines([card])[0]


def study(rng, n_units=40, n_each=6):
    """A table of units with several rows each: a constant of the unit, and a number that varies within it."""
    unit = np.repeat(np.arange(n_units), n_each)
    born, dose = rng.normal(size=n_units)[unit], rng.normal(size=n_units)[unit]
    return unit, {"born": born, "dose": dose, "free": rng.normal(size=len(unit))}


@pytest.mark.parametrize("name", ["individual id", "PatientID", "site", "donor", "who"])
def test_columns_that_say_which_rows_belong_together_are_told(name):
    """By their names; or, of any name, by measures that are constant within their values."""
    rng = np.random.default_rng(8)
    unit, measures = study(rng)
    columns = [Column(name, "categorical", unit, tuple(f"N{i}A" for i in range(40)))]
    columns += [Column(key, "numeric", values) for key, values in measures.items()]
    (found,) = told(raw(columns), "group")
    assert found.columns == (name,)


def test_places_are_told_but_not_before_all_else():
    rng = np.random.default_rng(8)
    columns = [Column("ward", "categorical", rng.integers(0, 5, 200), tuple("abcde"))]
    columns += [Column("patient id", "categorical", np.arange(200) // 2, tuple(f"N{i}A" for i in range(100)))]
    table = raw([*columns, Column("x", "numeric", rng.normal(size=200))])
    assert [told(table, kind)[0].columns for kind in ("place", "group")] == [("ward",), ("patient id",)]
    (line,) = in_lines(map(Finding.as_dict, findings(table)))
    assert "patient id" in line and "ward" not in line


def test_ids_of_which_most_have_one_row_are_told():
    rng = np.random.default_rng(9)
    who = np.r_[np.arange(190), rng.integers(0, 190, 143)]
    ids = Column("individual id", "categorical", who, tuple(f"N{i}A" for i in range(190)))
    years = Column("schooling_years", "integer", rng.integers(6, 18, 333))
    (found,) = told(raw([ids, years, Column("marker", "numeric", rng.normal(size=333))]), "group")
    assert found.columns == ("individual id",)


def test_units_with_one_row_a_year_are_told():
    rng = np.random.default_rng(10)
    firm, year = np.divmod(rng.permutation(300), 10)
    columns = [Column("firm", "integer", firm), Column("year", "integer", 2000 + year)]
    columns.append(Column("sales", "numeric", rng.normal(size=300)))
    (found,) = told(raw(columns), "group")
    assert found.columns == ("firm",)
    shuffled = [Column("firm", "integer", rng.permutation(firm)), *columns[1:]]
    assert told(raw(shuffled), "group") == []


def test_hours_of_days_are_no_group():
    hour, day = np.divmod(np.random.default_rng(10).permutation(480), 20)
    sales = Column("sales", "numeric", np.random.default_rng(11).normal(size=480))
    columns = [Column("hr", "integer", hour), Column("day", "integer", day), sales]
    assert told(raw(columns), "group") == []


def test_a_town_is_a_group_and_its_number_of_inhabitants_is_none():
    rng = np.random.default_rng(14)
    town = rng.integers(0, 18, 216)
    of_towns = {name: rng.choice(10**6, 18, replace=False)[town] for name in ("code", "inhabitants", "voters")}
    columns = [Column("town", "categorical", town, tuple(f"town {i}" for i in range(18)))]
    columns += [Column(name, "integer", values) for name, values in of_towns.items()]
    (found,) = told(raw([*columns, Column("votes", "numeric", rng.normal(size=216))]), "group")
    assert found.columns == ("town", "code")


@pytest.mark.parametrize("name", ["schooling_years", "ring_count", "family_size", "age group", "blood group", "group"])
def test_measures_attributes_and_treatments_say_not_which_rows_belong_together(name):
    rng = np.random.default_rng(11)
    columns = [Column(name, "integer", rng.integers(0, 7, 210)), Column("x", "numeric", rng.normal(size=210))]
    assert told(raw(columns), "group") == []


def test_classes_of_equal_size_are_balanced_however_many_they_are():
    rng = np.random.default_rng(12)
    X = Table([Column("x", "numeric", rng.normal(size=500))])
    digits = np.r_[np.arange(490) % 10, 0, 1, 2, 0, 1, 2, 0, 1, 2, 9]
    rare = np.where(np.arange(500) < 20, 7, 2)
    for y, shown in ((digits, []), (rare, ["class 7 has 4.0% of the rows"])):
        target = Column("digit", "categorical", y, tuple("0123456789"))
        table = with_findings(RawTable(X, target, Task("classification", "made up")))
        assert [finding.message for finding in told(table, "imbalance")] == shown


def test_equal_rows_are_counted():
    rng = np.random.default_rng(13)
    x, y = rng.normal(size=(2, 100))
    again = np.r_[np.arange(100), 3, 3, 17]
    (found,) = told(raw({"x": x[again], "z": (x**2)[again]}, y[again], "regression"), "equal-rows")
    assert found.message.startswith("3 rows equal an earlier one")
    other = y[again] + np.r_[np.zeros(100), 1, 2, 3]  # the same features with another outcome
    assert told(raw({"x": x[again], "z": (x**2)[again]}, other, "regression"), "equal-rows") == []


def test_numbers_far_from_all_others_are_named():
    rng = np.random.default_rng(14)
    x, y = rng.normal(size=(2, 200))
    columns = {"x": np.r_[x[:-1], 1e6], "even": x, "flag": np.r_[np.zeros(198), 1, 1], "tails": x**3}
    table = raw(columns, y, "regression")
    (found,) = told(table, "outlier")
    assert (found.columns, found.message) == (("x",), "x (1e+06) has numbers far from all others")


def test_gaps_that_depend_on_the_target_are_told_from_gaps_by_chance():
    rng = np.random.default_rng(15)
    y, draws = rng.normal(size=600), rng.random((2, 600))
    columns = {"told": np.where((y > 1) & (draws[0] < 0.8), np.nan, draws[0]), "chance": draws[1]}
    columns["chance"][:120] = np.nan
    for target, task in ((y, "regression"), ((y > 1).astype(int), "classification")):
        found = told(raw(columns, target, task), "missing")
        assert [one.columns for one in found if "depends on the target" in one.message] == [("told",)]


def test_rows_that_follow_each_other_are_told_from_sorted_rows():
    rng = np.random.default_rng(16)
    x, walk = rng.normal(size=400), np.cumsum(rng.normal(size=400))
    patches = np.repeat(rng.random(100) < 0.5, 4).astype(int)
    for y, task, is_told in (
        (walk, "regression", True),
        (np.sort(walk), "regression", False),
        (rng.permutation(walk), "regression", False),
        (np.repeat([0, 1], 200), "classification", False),
        (patches, "classification", False),
        ((np.sin(np.arange(400) / 4) > 0).astype(int), "classification", True),
    ):
        found = told(raw({"x": x}, y, task), "row-order")
        assert bool(found) == is_told, (y[:5], found)
    assert in_lines([one.as_dict() for one in told(raw({"x": x}, walk, "regression"), "row-order")]) == [
        "look at the table first: neighbouring rows that are alike (y). blanketflow inspect says why"
    ]
