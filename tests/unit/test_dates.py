"""The key `dates`, on the same days in CSV, Excel, Parquet, Arrow and a database; days and weekdays are pandas' own."""

import numpy as np
import pandas as pd
import pytest

from blanketflow.core.errors import DataError
from blanketflow.data.sources import read_columns, read_source
from blanketflow.workflow.peek import peek

DAYS = pd.to_datetime(["1969-12-31", "2024-02-29", "2000-01-01", None, "2024-05-31", "1999-12-31"])
TIMES = pd.to_datetime(
    ["2024-01-01 06:00", "2024-01-01 18:30", None, "1970-01-01", "2000-02-29 12:00", "2001-01-01"], format="mixed"
)
PANDAS_NAMES = {"weekday": "day_of_week"}
FRAME = pd.DataFrame({"day": DAYS, "at": TIMES, "a": range(6), "y": list("pqpqpq")})


def written(folder, form):
    path = folder / f"t.{form}"
    if form == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(path)) as database:
            database.register("frame", FRAME)
            database.execute("CREATE TABLE t AS SELECT * FROM frame")
        return {"source": f"duckdb:{path}", "query": "SELECT * FROM t", "target": "y"}
    writers = {"csv": FRAME.to_csv, "parquet": FRAME.to_parquet, "xlsx": FRAME.to_excel, "feather": FRAME.to_feather}
    writers[form](path, **({"index": False} if form in ("csv", "xlsx") else {}))
    return {"path": str(path), "target": "y"}


def columns_of(spec, dates):
    return {column.name: column for column in read_columns("demo", {**spec, "dates": dates}).columns}


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "feather", "duckdb"])
def test_every_way_on_every_format(tmp_path, form):
    spec = written(tmp_path, form)
    assert [*columns_of(spec, "drop")] == ["a", "y"]
    ordinal = columns_of(spec, "ordinal")
    for name, cells in (("day", DAYS), ("at", TIMES)):
        expected = (cells - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
        assert np.allclose(ordinal[name].numbers(), expected, equal_nan=True, rtol=0, atol=1e-9)
    assert [ordinal[name].kind for name in ("day", "at")] == ["integer", "numeric"]
    parts = columns_of(spec, "parts")
    of_a_day = ["year", "month", "day", "weekday"]
    expected = [*(f"day_{part}" for part in of_a_day), *(f"at_{part}" for part in [*of_a_day, "hour"]), "a", "y"]
    assert [*parts] == expected
    for name, cells in (("day", DAYS), ("at", TIMES)):
        for part in of_a_day:
            assert np.array_equal(
                parts[f"{name}_{part}"].numbers(), getattr(cells, PANDAS_NAMES.get(part, part)), equal_nan=True
            )
    assert np.array_equal(parts["at_hour"].numbers(), TIMES.hour, equal_nan=True)
    raw, facts = read_source("demo", {**spec, "dates": "parts"}, 0), peek("demo", {**spec, "dates": "parts"})
    assert list(facts.feature_names) == raw.features.names == expected[:-1]
    assert "dates in 'day', 'at' were made year, month, day and so on" in raw.notes


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["31/05/2024", "01/06/2024"], [19874, 19875]),
        (["05/31/2024", "06/01/2024"], [19874, 19875]),
        (["01.06.2024", "02.06.2024"], [19875, 19876]),  # with points the day stands first
        (["2024/5/31", "2024/6/1"], [19874, 19875]),
        (["2024-05-31T00:30:00+02:00", "2024-05-31 23:30 -0100"], [19873 + 22.5 / 24, 19875 + 0.5 / 24]),
    ],
)
def test_ways_to_write_a_date(tmp_path, cells, days):
    path = tmp_path / "t.csv"
    path.write_text("d,y\n" + "".join(f"{cell},{at}\n" for at, cell in enumerate(cells)), encoding="utf-8")
    assert np.allclose(columns_of({"path": str(path), "target": "y"}, "ordinal")["d"].numbers(), days, atol=1e-9)


def test_times_of_a_zone_are_those_of_greenwich(tmp_path):
    day = pd.DataFrame({"d": DAYS.tz_localize("Asia/Tokyo"), "y": list("pqpqpq")})
    day.to_parquet(tmp_path / "t.parquet")
    found = columns_of({"path": str(tmp_path / "t.parquet"), "target": "y"}, "ordinal")["d"].values
    assert np.allclose(found, (DAYS - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1) - 9 / 24, equal_nan=True)


def test_what_is_no_date_stays_as_it_is(tmp_path):
    path = tmp_path / "t.csv"
    rows = "d,almost,no_day,site,time,y\n2024-05-31,2024-05-31,2024-02-30,2024-01-01,12:30,2024-01-01\n"
    path.write_text(rows + "2024-06-01,soon,2024-02-28,2024-01-02,12:40,2024-01-02\n", encoding="utf-8")
    spec = {"path": str(path), "target": "y", "categorical": ["site"]}
    kinds = {name: column.kind for name, column in columns_of(spec, "ordinal").items()}
    assert kinds == {"d": "integer", **dict.fromkeys(("almost", "no_day", "site", "time", "y"), "categorical")}


def test_without_the_key_dates_are_labels_in_text_and_refused_elsewhere(tmp_path):
    assert columns_of(written(tmp_path, "csv"), None)["day"].kind == "categorical"
    for form in ("parquet", "feather", "duckdb"):
        with pytest.raises(DataError, match=r"'day' has the type timestamp.*Set dates to ordinal, parts or drop"):
            columns_of(written(tmp_path, form), None)
