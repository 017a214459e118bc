"""What single cells mean is read alike in every format, and each message names a key that reads the table."""

import re

import numpy as np
import pandas as pd
import pytest
import yaml

from blanketflow.api.inspection import inspect_table
from blanketflow.api.starting_config import starting_config
from blanketflow.cli import main
from blanketflow.core.errors import ConfigError, DataError
from blanketflow.core.table import categorical
from blanketflow.data.findings import findings
from blanketflow.data.findings.quality import looks_like
from blanketflow.data.sources import read_columns, read_source
from blanketflow.workflow.peek import peek

N = 200
RNG = np.random.default_rng(0)
LEVEL = RNG.lognormal(2, 0.5, N).round(2)
OTHER = RNG.normal(size=N).round(3)
ILL = ["ill", "well"] * (N // 2)


def marked(cells, text, rows):
    return [text if at in rows else cell for at, cell in enumerate(cells)]


def write(path, columns):
    frame = pd.DataFrame(columns)
    if path.suffix == ".parquet":
        mixed = [name for name in frame if frame[name].dtype == object]
        frame.assign(**{name: frame[name].astype(str) for name in mixed}).to_parquet(path)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return {"path": str(path), "target": "y"}


def cells(spec, name, **keys):
    found = {column.name: column for column in read_columns("demo", spec | keys).columns}
    return found[name].numbers()


def as_advised(spec, message):
    """Return a spec with the key that a message names, written as it says."""
    written = re.search(r"[Ss]et (\w+: (\[.*?\]|\{.*?\}|\w+))", message)
    return spec | yaml.safe_load(written[1])


def said(raw):
    """What inspect, select and run say of how a table was read."""
    assert all(
        found.what in finding.message for finding in findings(raw) if finding.kind == "reading" for found in raw.found
    )
    return [found.what for found in raw.found]


FORMATS = [".csv", ".csv.gz", ".parquet", ".xlsx"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_numbers_that_mean_missing_cells_are_compared_by_value(tmp_path, suffix):
    rows = {3, 50, 51, 120}
    spec = write(
        tmp_path / f"t{suffix}", {"a": marked(LEVEL, -200.0, rows), "b": marked(range(N), -200, rows), "y": ILL}
    )
    raw = read_source("demo", spec, 0)
    (found,) = [one for one in findings(raw) if one.kind == "suspected-marker"]
    assert set(found.columns) == {"a", "b"} and found.message.count("'-200'") == 1  # one line groups columns
    advised = as_advised(spec, found.advice)
    for asked in (advised, spec | {"missing_values": ["-200,0"]}, spec | {"more_missing_values": {"a": ["-2e2"]}}):
        assert set(np.flatnonzero(np.isnan(cells(asked, "a")))) == rows
    assert peek("demo", advised).n_missing == 8
    assert not np.isnan(cells(spec, "a", more_missing_values={"b": ["-200"]})).any()
    assert read_source("demo", spec | {"more_missing_values": []}, 0).suspected.cells == {}


def test_a_code_that_other_columns_hold_is_proposed_by_column(tmp_path):
    answers = marked(RNG.integers(1, 6, N), 9, range(0, 60, 4))
    spec = write(tmp_path / "t.csv", {"q": answers, "age": RNG.integers(5, 15, N), "y": ILL})
    (found,) = [one for one in findings(read_source("demo", spec, 0)) if one.kind == "suspected-marker"]
    advised = as_advised(spec, found.advice)
    assert advised["more_missing_values"] == {"q": ["9"]}
    assert np.isnan(cells(advised, "q")).sum() == 15 and not np.isnan(cells(advised, "age")).any()


def test_a_large_file_is_read_as_a_small_one(tmp_path):
    """pyarrow reads files of more than a megabyte."""
    n = 60_000
    number = RNG.normal(50, 9, n).round(3)
    columns = {
        "code": marked(number, "-200.0", {1, 40_000, n - 1}),
        "word": marked(number, "nd", {2, n - 2}),
        "low": marked(number, "<20", {5, 59_000}),
        "share": [f"{cell}%" for cell in number],
        "y": ["p", "q"] * (n // 2),
    }
    spec = write(tmp_path / "t.csv", columns) | {"below_detection": "limit", "more_missing_values": ["-200"]}
    expected = {
        "code": np.where(np.isin(np.arange(n), [1, 40_000, n - 1]), np.nan, number),
        "word": np.where(np.isin(np.arange(n), [2, n - 2]), np.nan, number),
        "low": np.where(np.isin(np.arange(n), [5, 59_000]), 20, number),
        "share": number,
    }
    for name, values in expected.items():
        assert np.array_equal(cells(spec, name), values, equal_nan=True)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("text", ["nd", "N.D.", ".", "unknown", "#VALUE!", "Not available"])
def test_words_among_numbers_are_missing_and_said(tmp_path, suffix, text):
    spec = write(tmp_path / f"t{suffix}", {"a": marked(LEVEL, text, {0, 9}), "b": OTHER, "y": ILL})
    raw = read_source("demo", spec, 0)
    assert raw.features["a"].kind == "numeric" and set(np.flatnonzero(raw.features["a"].missing())) == {0, 9}
    assert any(text in finding.message for finding in findings(raw) if finding.kind == "missing-marker") or (
        suffix == ".xlsx" and text == "#VALUE!"
    )
    assert "identifier" not in {finding.kind for finding in findings(raw)}
    if not (suffix == ".xlsx" and text == "#VALUE!"):
        assert read_source("demo", spec | {"missing_values": []}, 0).features["a"].kind == "categorical"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_any_other_text_among_numbers_is_read_as_the_message_says(tmp_path, suffix):
    spec = write(tmp_path / f"t{suffix}", {"a": marked(LEVEL, "broken", {0, 9}), "b": OTHER, "y": ILL})
    (found,) = [one for one in findings(read_source("demo", spec, 0)) if one.kind == "number"]
    values = cells(as_advised(spec, found.advice), "a")
    assert set(np.flatnonzero(np.isnan(values))) == {0, 9} and np.nanmax(values) == LEVEL[10:].max()


PUT = {"half": 0.3, "limit": 0.6, "zero": 0.0, "missing": np.nan, "indicator": 0.6}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("text", ["<0.6", "< 0.6", "≤0.6", "<=0.60"])
def test_cells_below_detection(tmp_path, suffix, text):
    spec = write(tmp_path / f"t{suffix}", {"a": marked(LEVEL, text, {4, 5}), "b": OTHER, "y": ILL})
    with pytest.raises(DataError, match=r"column 'a' holds numbers, and .* in 2 of 200 cells, below") as caught:
        read_source("demo", spec, 0)
    assert as_advised(spec, str(caught.value))["below_detection"] == "half"
    with pytest.raises(DataError, match="below_detection"):
        peek("demo", spec)
    for rule, value in PUT.items():
        for asked in (rule, {"a": rule}):
            raw = read_source("demo", spec | {"below_detection": asked}, 0)
            found = raw.features["a"].numbers()
            assert np.array_equal(found[[4, 5]], [value] * 2, equal_nan=True)
            assert np.array_equal(np.delete(found, [4, 5]), np.delete(LEVEL, [4, 5]))
            assert any("2 of 200 cells, below detection" in told for told in said(raw))
    assert raw.features.names == ["a", "a_below_detection", "b"]
    assert set(np.flatnonzero(raw.features["a_below_detection"].values)) == {4, 5}
    assert list(peek("demo", spec | {"below_detection": "indicator"}).feature_names) == raw.features.names
    assert read_source("demo", spec | {"categorical": ["a"]}, 0).features["a"].kind == "categorical"
    assert read_source("demo", spec | {"drop": ["a"]}, 0).features.names == ["b"]
    with pytest.raises(ConfigError, match="below_detection names the column 'c'"):
        read_source("demo", spec | {"below_detection": {"c": "half"}}, 0)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_cells_at_limits_are_described_and_their_keys_are_to_be_settled(tmp_path, suffix):
    columns = {"lead": marked(LEVEL, "<0.6", {4, 5}), "zinc": marked(OTHER + 9, ">12", {7}), "tin": LEVEL[::-1].copy()}
    columns["tin"] = marked(columns["tin"], "<LOD", {1, 2, 3})
    spec = write(tmp_path / f"t{suffix}", columns | {"b": OTHER, "y": ILL})
    with pytest.raises(DataError, match=r"'lead' holds numbers.*measured; also 'tin'\. Set"):
        read_source("demo", spec, 0)
    seen = inspect_table(spec)
    assert {one.kind: (one.columns, one.key) for one in seen.to_settle if one.kind.endswith("detection")} == {
        "below-detection": (("lead", "tin"), "below_detection: half"),
        "above-detection": (("zinc",), "above_detection: limit"),
    }
    assert {one.name: one.kind for one in seen.columns} == dict.fromkeys(["lead", "zinc", "tin", "b"], "numeric")
    assert not any("detection" in one.message for one in seen.findings if one.kind == "reading")
    decided = spec | {"below_detection": {"lead": "zero"}}
    proposed = [one.key for one in inspect_table(decided).to_settle if one.kind.endswith("detection")]
    assert proposed == ["below_detection: {lead: zero, tin: half}", "above_detection: limit"]
    for key in proposed:
        decided |= yaml.safe_load(key)
    assert read_source("demo", decided, 0).features.names == ["lead", "zinc", "tin", "b"]
    text = starting_config(spec, seen).text
    kept = yaml.safe_load(text)["datasets"]["t"]
    assert kept["below_detection"] == "half" and kept["above_detection"] == "limit"


def test_without_a_target_too_inspect_describes_cells_at_limits(tmp_path, capsys):
    spec = write(tmp_path / "t.csv", {"lead": marked(LEVEL, "<0.6", {4, 5}), "b": OTHER, "y": ILL})
    assert main(["inspect", spec["path"]]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "column 'lead' holds numbers, and '<0.6' in 2 of 200 cells, below what was measured" in said
    assert "--target y --data-set below_detection=half" in said
    assert main(["inspect", spec["path"], "--target", "y"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--data-set below_detection=half" in said
    assert main(["select", spec["path"], "--target", "y"]) == 1
    assert "Set below_detection: half" in capsys.readouterr().err


def test_limits_that_are_not_stated_above_and_with_decimal_commas(tmp_path):
    path = tmp_path / "t.csv"
    rows = zip(LEVEL, OTHER, ILL, strict=True)
    lines = ["a;b;y", *(f"{a};{b};{y}".replace(".", ",") for a, b, y in rows)]
    lines[1], lines[2], lines[3] = "< 0,6;0,5;ill", ">1000;0,5;ill", "<LOD;0,5;ill"
    path.write_text("\n".join(lines), encoding="utf-8")
    spec = {"path": str(path), "target": "y", "below_detection": "half"}
    with pytest.raises(DataError, match="Set above_detection: limit") as caught:
        read_source("demo", spec, 0)
    found = cells(as_advised(spec, str(caught.value)), "a")
    assert found[:3].tolist() == [0.3, 1000, LEVEL[3:].min() / 2] and np.array_equal(found[3:], LEVEL[3:])


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["63%", "7%", "12.5%"], [63, 7, 12.5]),
        (["$1,009.25", "$9.50", "-$3.00"], [1009.25, 9.5, -3]),
        (["€ 1.009,25", "€ 9,50", "€ 3,00"], [1009.25, 9.5, 3]),
        (["12 mg", "3 mg", "0.5 mg"], [12, 3, 0.5]),
        (["1 234,5", "12,5", "7"], [1234.5, 12.5, 7]),
        (["1\u202f234", "12\u202f000", "7"], [1234, 12000, 7]),
        (["1'234.5", "12.5", "7"], [1234.5, 12.5, 7]),
        (["(1,200.50)", "3,000.00", "12.25"], [-1200.5, 3000, 12.25]),
        (["\u22123.5", "2.5", "1"], [-3.5, 2.5, 1]),
        (["10 %", "nd", "20 %", "7 %"], [10, np.nan, 20, 7]),
        (["1.234,50 EUR", "nd", "7,25 EUR", "0,50 EUR"], [1234.5, np.nan, 7.25, 0.5]),
    ],
)
def test_numbers_with_something_beside_them(tmp_path, suffix, texts, values):
    filled = [*texts, *[f"{at}".join(re.split(r"\d[\d.,' \u202f]*", texts[0], maxsplit=1)) for at in range(20, 32)]]
    spec = write(tmp_path / f"t{suffix}", {"a": filled, "b": "u", "y": (ILL * 2)[: len(filled)]})
    loaded = read_columns("demo", spec)
    assert loaded.columns[0].kind in ("numeric", "integer")
    assert np.array_equal(loaded.columns[0].numbers()[: len(texts)], values, equal_nan=True)
    assert any("in a" in found.what for found in loaded.found)  # it is said
    assert read_source("demo", spec | {"categorical": ["a"]}, 0).features["a"].kind == "categorical"


@pytest.mark.parametrize(
    "texts",
    [
        ["12 mg", "3 g", "5 mg"],
        ["C10", "C20", "C30"],
        ["2024-05-31", "2024-06-01", "2024-06-02"],
        ["<30", "30-50", ">50"],
        ["10-20", "20-30", "30-40"],
        ["1/2", "1/3", "1/4"],
        ["12:30", "12:40", "13:00"],
        ["1.2.3", "1.2.4", "1.3.0"],
        ["$5", "5%", "7"],
        ["low", "5%", "7%"],
        ["neg", "1+", "2+", "3+"],
        ["0-4", "5-9", "90+"],
    ],
)
def test_labels_stay_labels(tmp_path, texts):
    spec = write(tmp_path / "t.csv", {"a": texts * 10, "y": ILL[: 10 * len(texts)]})
    assert read_columns("demo", spec).columns[0].kind == "categorical"


def test_a_column_that_is_measured_is_no_identifier():
    measured = [f"{cell:.3f}" for cell in RNG.normal(size=80)]
    named = [f"S{at}" for at in range(80)]
    for texts, look in ((measured, ""), (named, "identifier"), ([str(at) for at in range(80)], "identifier")):
        column = categorical("a", np.array([*texts, "broken", "lost", "torn"], dtype=object))
        assert looks_like(column) == look


def test_ages_of_90_and_more(tmp_path):
    spec = write(tmp_path / "t.csv", {"age": marked(range(30, 90), "90+", {3, 4}), "y": ILL[:60]})
    told = r"'90\+' in 2 of 60 cells, above what was measured. Set above_detection: limit"
    with pytest.raises(DataError, match=told):
        read_columns("demo", spec)
    assert cells(spec, "age", above_detection="limit")[[3, 4]].tolist() == [90, 90]


def test_a_comma_of_two_meanings_is_asked_about(tmp_path):
    spec = write(tmp_path / "t.csv", {"a": ["1,250 kg", "2,500 kg", "3,125 kg"] * 10, "y": ILL[:30]})
    with pytest.raises(DataError, match="whose comma may stand before decimals"):
        read_columns("demo", spec)
    assert cells(spec, "a", decimal=",")[0] == 1.25 and cells(spec, "a", thousands=",")[0] == 1250


@pytest.mark.parametrize("suffix", FORMATS)
def test_infinite_cells(tmp_path, suffix):
    spec = write(tmp_path / f"t{suffix}", {"a": marked(LEVEL, "inf" if "x" in suffix else np.inf, {7, 8}), "y": ILL})
    with pytest.raises(DataError, match="column 'a' holds infinite values") as caught:
        read_source("demo", spec, 0)
    raw = read_source("demo", as_advised(spec, str(caught.value)), 0)
    assert set(np.flatnonzero(raw.features["a"].missing())) == {7, 8}
    assert "2 infinite cells in 'a' are missing" in said(raw)
    with pytest.raises(DataError, match="infinite"):
        read_source("demo", spec | {"infinite": "error"}, 0)


@pytest.mark.parametrize("sparse", [False, True])
def test_numbers_and_infinite_cells_of_a_matrix(tmp_path, sparse):
    X = RNG.integers(1, 9, size=(60, 5)).astype(float)
    X[3, 1], X[4, 2], X[5, 2] = -9, np.inf, -9
    y = np.arange(60) % 2
    if sparse:
        import scipy.sparse

        scipy.sparse.save_npz(tmp_path / "t.npz", scipy.sparse.csc_array(X))
        np.savetxt(tmp_path / "y.csv", y, header="y", comments="", fmt="%d")
        spec = {"path": str(tmp_path / "t.npz"), "target_path": str(tmp_path / "y.csv"), "target": "y"}
    else:
        np.savez(tmp_path / "t.npz", X=X, y=y)
        spec = {"path": str(tmp_path / "t.npz"), "target": "y"}
    spec |= {"infinite": "missing", "more_missing_values": {"x1": ["-9"]}}
    found = read_source("demo", spec, 0).features
    assert [column.n_missing() for column in found.columns] == [0, 1, 1, 0, 0]
    assert found["x2"].numbers()[5] == -9
    both = read_source("demo", spec | {"more_missing_values": ["-9"]}, 0).features
    assert [column.n_missing() for column in both.columns] == [0, 1, 2, 0, 0]
    assert peek("demo", spec).n_missing == 2


@pytest.mark.parametrize(
    ("labels", "default"),
    [
        (("caf\u00e9", "cafe\u0301"), "refused"),
        (("north", "no\u200brth"), "refused"),
        (("new town", "new\u00a0town"), "refused"),
        (("North", "north"), "said"),
        (("new town", "new  town"), "said"),
    ],
)
def test_labels_that_look_alike(tmp_path, labels, default):
    one, other = labels
    spec = write(tmp_path / "t.csv", {"a": [one, one, other, "tea"] * 50, "y": ILL})
    if default == "refused":
        with pytest.raises(DataError, match="look alike") as caught:
            read_source("demo", spec, 0)
        advised = as_advised(spec, str(caught.value))
    else:
        (found,) = [one for one in findings(read_source("demo", spec, 0)) if one.kind == "spelling"]
        advised = as_advised(spec, found.advice)
    assert advised["similar_labels"] == "merge"
    raw = read_source("demo", advised, 0)
    assert set(raw.features["a"].levels) == {one, "tea"}
    assert any("were made one" in told for told in said(raw))
    assert len(read_source("demo", spec | {"similar_labels": "keep"}, 0).features["a"].levels) == 3
    with pytest.raises(DataError, match="look alike"):
        read_source("demo", spec | {"similar_labels": "error"}, 0)


DAYS = pd.Series(pd.date_range("2019-04-20", periods=N, freq="D"))


@pytest.mark.parametrize(
    ("form", "odd"),
    [
        ("%Y-%m-%d", "9999-12-31"),
        ("%Y-%m-%d", "0000-00-00"),
        ("%d.%m.%Y", "31.02.2020"),
        ("%d/%m/%Y", "05/31/2020"),
        ("%m/%d/%Y", "31/05/2020"),
        ("%Y-%m-%d", "soon"),
    ],
)
@pytest.mark.parametrize("dates", ["ordinal", "parts"])
def test_one_odd_date_is_missing_and_said(tmp_path, form, odd, dates):
    texts = marked(DAYS.dt.strftime(form), odd, {7})
    spec = write(tmp_path / "t.csv", {"day": texts, "b": OTHER, "y": ILL}) | {"dates": dates}
    raw = read_source("demo", spec, 0)
    found = raw.features["day" if dates == "ordinal" else "day_month"].numbers()
    expected = (DAYS - pd.Timestamp("1970-01-01")).dt.days if dates == "ordinal" else DAYS.dt.month
    assert np.array_equal(found, marked(expected, np.nan, {7}), equal_nan=True)
    assert f"day holds '{odd}' in 1 of 200 cells, no date: missing" in said(raw)
    assert raw.suspected.cells == {}


def test_a_usual_date_far_from_the_others_is_suspected(tmp_path):
    texts = marked(DAYS.dt.strftime("%Y-%m-%d"), "1900-01-01", {7, 9})
    spec = write(tmp_path / "t.csv", {"day": texts, "b": OTHER, "y": ILL}) | {"dates": "ordinal"}
    (found,) = [one for one in findings(read_source("demo", spec, 0)) if one.kind == "suspected-marker"]
    assert set(np.flatnonzero(np.isnan(cells(as_advised(spec, found.advice), "day")))) == {7, 9}


def test_dates_of_two_orders_are_refused(tmp_path):
    texts = [f"{day:02d}/05/2020" if day % 2 else f"05/{day:02d}/2020" for day in range(13, 29)]
    spec = write(tmp_path / "t.csv", {"day": texts, "y": ILL[: len(texts)]}) | {"dates": "ordinal"}
    with pytest.raises(DataError, match="one has the day first and the other the month"):
        read_source("demo", spec, 0)
