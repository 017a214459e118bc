"""Cells that may be missing are told in one line for all columns, stay values until the key says so, and are few."""

import numpy as np
import pandas as pd
import pytest

from blanketflow.api.select_command import select
from blanketflow.core.column import MatrixColumns
from blanketflow.core.convert import as_table
from blanketflow.core.table import Column
from blanketflow.data.findings import findings
from blanketflow.data.sources import read_source
from blanketflow.data.suspected_cells import suspected_cells, suspects_of
from blanketflow.workflow.peek import peek

N = 60
RNG = np.random.default_rng(0)
AGE = RNG.integers(20, 80, N)


def write(path, columns):
    frame = pd.DataFrame({**columns, "y": ["ill", "well"] * (N // 2)})
    frame.to_excel(path, index=False) if path.suffix == ".xlsx" else frame.to_csv(path, index=False)
    return {"path": str(path), "target": "y"}


def marked(cells, text, n=3):
    return [text if at < n else cell for at, cell in enumerate(cells)]


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_one_line_for_all_columns_and_the_key_that_answers_it(tmp_path, suffix):
    columns = {
        "age": marked(AGE, -999),
        "dose": marked(AGE / 4, "-", 2),
        "level": marked(AGE / 4, "n.d.", 2),
        "site": marked(["Bonn", "Koeln"] * (N // 2), "-", 1),
        "gap": marked(AGE, "?", 4),
    }
    spec = write(tmp_path / f"t{suffix}", columns)
    told = "cells may be missing: '-999' 3 times in age, '-' 3 times in dose, site"
    way_out = 'If they are, set more_missing_values: ["-", "-999"]; if they are values, set more_missing_values: [].'
    raw = read_source("demo", spec, 0)
    found = [finding for finding in findings(raw) if finding.kind in ("suspected-marker", "number")]
    assert [(one.message, one.advice) for one in found] == [(told, way_out)]
    assert peek("demo", spec).suspected == f"{told}. {way_out}"
    assert raw.features["age"].values.min() == -999 and raw.features["dose"].kind == "categorical"

    answered = read_source("demo", {**spec, "more_missing_values": ["-", "-999"]}, 0)
    assert [answered.features[name].n_missing() for name in columns] == [3, 2, 2, 1, 4]
    assert answered.features["dose"].kind == "numeric" and answered.suspected.cells == {}
    values = read_source("demo", {**spec, "more_missing_values": []}, 0)
    assert values.suspected.cells == {} and values.features["age"].values.min() == -999


def test_select_says_it(tmp_path):
    spec = write(tmp_path / "t.csv", {"age": marked(AGE, -999), "other": RNG.normal(size=N)})
    notes = select(spec, {"method": "mim", "n_features": 1}, {}, 0).notes
    assert "cells that may be missing (age)" in " ".join(notes)


@pytest.mark.parametrize(
    ("cells", "suspects"),
    [
        (marked(AGE, -99), True),
        (marked(AGE, "-9999.0"), True),
        (marked(AGE, 999), True),
        (marked(AGE * 10.0, 9999), True),
        (marked(AGE - 200, -999), True),
        (marked(AGE, -999, 1), False),  # one cell is any value
        (marked(AGE * 20, 999), False),  # among the others
        (marked(AGE - 120, -99), False),
        (marked(AGE * 100, 9999), False),  # not far from the others
        (marked([0, 1] * (N // 2), 999), False),  # too few others to tell
        (marked(AGE, "x"), True),
        (marked(AGE, "high"), False),
        (marked(["a", "b"] * (N // 2), "unknown"), False),  # a label
        (marked(["a", "b"] * (N // 2), "."), True),
        (marked(AGE, "*"), True),
    ],
)
def test_what_is_asked_about(tmp_path, cells, suspects):
    assert bool(read_source("demo", write(tmp_path / "t.csv", {"a": cells}), 0).suspected.cells) == suspects


def ages(seed):
    """Ages of 18 to 89 years, and which rows have none: 1 to 10 % of them, at least two."""
    rng = np.random.default_rng(seed)
    n, share = int(rng.choice([100, 200, 300, 500, 1000, 2000])), [0.01, 0.03, 0.05, 0.1][seed % 4]
    drawn = [rng.integers(18, 90, n), rng.normal(50, 16, n), 18 + rng.gamma(2, 14, n)][seed % 3]
    return np.clip(np.round(drawn), 18, 89), rng.random(n) < share


def test_99_among_ages_is_found_and_the_oldest_are_none():
    found = false = 0
    for seed in range(30):
        values, are_missing = ages(seed)
        are_missing[:2] = True
        found += suspected_cells([Column("age", "numeric", np.where(are_missing, 99, values))]).cells != {}
        false += suspected_cells([Column("age", "numeric", values)]).cells != {}
    assert found >= 25 and false == 0


@pytest.mark.parametrize("top", [97, 98, 99])
def test_a_long_tail_and_scores_with_a_top_have_no_codes(top):
    rng = np.random.default_rng(top)
    for draw in (
        lambda: np.minimum(np.round(rng.normal(75, 12, 1000)), top),
        lambda: 5 * np.round(rng.normal(50, 15, 300) / 5),
        lambda: np.round(rng.lognormal(3, 0.5, 1000)),
        lambda: rng.integers(0, top + 1, 2000),
    ):
        for _ in range(20):
            assert suspected_cells([Column("a", "numeric", draw().astype(float))]).cells == {}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("more", [[1e308, 1.7e308], [np.inf, -np.inf], [np.nan], []])
def test_huge_infinite_and_missing_numbers_do_not_hide_codes(more):
    values = np.array([*np.arange(0.5, 10, 0.5), -200.0, -200.0, -200.0, *more])
    found = suspected_cells([Column("a", "numeric", values)]).cells
    assert found == {"a": {"-200": 3}} or 1e308 in more  # beside which -200 is near 0


@pytest.mark.parametrize("seed", range(12))
def test_a_matrix_is_looked_through_as_its_columns_are(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(-3 if seed % 3 else 0, 40, size=(300, 12)).astype(np.int64 if seed % 2 else float)
    for at, code in ((1, -999), (4, 99), (5, 9), (7, -9), (8, -1)):
        values[rng.random(300) < 0.1, at] = code
    if values.dtype.kind == "f" and seed % 4:
        values[3, 2], values[:, 6] = np.nan, rng.normal(size=300)
    columns = as_table(values).columns
    assert isinstance(columns, MatrixColumns)
    found = suspects_of(columns)
    assert found == suspected_cells([*columns])
    assert "-999" in found.cells[columns[1].name]
