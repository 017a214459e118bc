"""The measured error rates that the package has: equal to the study's counts, and what readers say of them."""

from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.ci import get_ci_test, rates
from blanketflow.core.errors import UnknownNameError
from blanketflow.workflow.plan import make_plan
from generate.ci_tests import ci_tests_text
from generate.rates import rates_chart
from studies.calibration import page, study
from studies.calibration.__main__ import RATES
from studies.calibration.designs import FAMILIES

REPO = Path(__file__).parents[2]
SCRIPTS = (REPO / "scripts").joinpath
COUNTS = Path(study.__file__).parent / "ci-tests.parquet"


def test_the_table_of_the_package_is_what_the_counts_give(tmp_path):
    page.by_family(*page.rates(COUNTS)).to_csv(tmp_path / "rates.csv", index=False)
    assert (tmp_path / "rates.csv").read_text() == RATES.read_text()  # python -m studies.calibration --budget-minutes 0


def test_the_page_has_the_same_verdicts():
    present = (REPO / "docs" / "ci-tests.md").read_text(encoding="utf-8")
    assert ci_tests_text(present) == present, "run `make docs` and commit the result"


def test_the_chart_is_valid_and_has_all_rates_of_options_that_are_used():
    alt.FacetChart.from_dict(rates_chart())  # raises SchemaValidationError
    drawn = {(row["label"], row["family"], row["rows"], row["given"]) for row in rates_chart()["data"]["values"]}
    of_gcm = [rate for rate in rates.of_test(get_ci_test("gcm", weights=3)) if rate.family != "power"]
    assert {("gcm weights=3", rate.family, rate.rows, rate.given) for rate in of_gcm} < drawn


def test_a_named_test_warns_from_the_table_in_searches_and_in_runs():
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 300))
    X = pd.DataFrame({"a": a, "b": b, "c": a**2 + noise})
    y = a**2 + b + rng.normal(size=300)
    told = f"fisher-z: {rates.invalid_in(rates.of_test(get_ci_test('fisher-z')), ['bends'], 300)}"
    assert "100 %" in told and bf.IAMB(ci_test="fisher-z").fit(X, y).caution_ == told
    assert bf.IAMB(ci_test="fisher-z").fit(X[["b"]], b + noise).caution_ == ""
    assert bf.IAMB().fit(X, y).caution_ == ""  # the reason of auto's choice says it


def test_a_plan_warns_of_a_named_test_too(tmp_path):
    rng = np.random.default_rng(0)
    a, noise = rng.normal(size=(2, 400))
    pd.DataFrame({"a": a, "b": noise, "y": a**2 + noise}).to_csv(tmp_path / "bent.csv", index=False)
    raw = {
        "datasets": {"bent": {"path": str(tmp_path / "bent.csv"), "target": "y"}},
        "selectors": {"named": {"method": "iamb", "ci_test": "fisher-z"}, "auto": {"method": "iamb"}},
    }
    notes = make_plan(raw, SCRIPTS).notes()
    (told,) = [note for note in notes if note.startswith("bent: fisher-z: it rejects 100 % of true nulls")]
    assert "bent functions" in told


def test_families_are_those_of_the_study():
    assert list(rates.FAMILIES) == list(FAMILIES)


@pytest.mark.parametrize("test", ["auto", "g2", "lr-mixed"])
def test_a_family_has_the_worst_verdict_of_its_designs(test):
    cells, _ = page.rates(COUNTS)
    cells = cells[cells["is_null"] & (cells["test"] == test) & (cells["options"] == "") & (cells["verdict"] != "")]
    found = bf.ci.error_rates(test)
    found = found[(found["options"] == "") & (found["family"] != "power")].set_index(["family", "rows", "given"])
    seen = set()
    for family, designs in FAMILIES.items():
        of_family = cells[cells["design"].isin([name.replace("_", " ") for name in designs])]
        for (n, k), part in of_family.groupby(["n", "k"]):
            worst = max(part["verdict"], key=rates.VERDICTS.index)
            row = found.loc[(family, n, k)]
            assert row["verdict"] == worst
            of_design = part[part["design"] == row["design"]].iloc[0]
            assert (row["samples"], row["rejected"]) == (of_design["samples"], round(of_design["rate_05"], 4))
            assert row["microseconds"] == pytest.approx(1e6 * part["seconds"].max(), rel=0.01)
            seen.add((family, n, k))
    assert seen == {*found.index}


def test_options_are_those_of_a_variant_that_was_measured():
    def options(test):
        return {rate.options for rate in rates.of_test(test)}

    assert options(get_ci_test("lr-mixed")) == options(type(get_ci_test("lr-mixed"))) == {""}
    assert options(get_ci_test("lr-mixed", directions="linear")) == {"directions=linear"}
    assert options(get_ci_test("g2", small_counts="corrected")) == {"small_counts=corrected"}
    assert options(get_ci_test("g2", bins=4)) == set() and options(get_ci_test("gcm", weights=3)) == {"weights=3"}


def rate(family, rows, verdict, rejected=0.2):
    return rates.Rate("t", "", family, rows, 1, "d", 1000, rejected, rejected + 0.02, verdict, 1.0)


def test_rates_are_those_of_the_rows_below():
    known = [rate("bends", 80, "invalid"), rate("bends", 80, "invalid", 0.1), rate("bends", 200, "not shown", 0.3)]
    for n_rows, is_told in ((10, True), (80, True), (199, True), (200, False), (5000, False)):
        told = rates.invalid_in(known, ["linear", "bends"], n_rows)
        assert told.startswith("it rejects 20 % of true nulls at alpha 0.05 where") == is_told and bool(told) == is_told
    assert rates.invalid_in(known, ["linear"], 80) == ""


def test_a_frame_has_all_that_was_measured_and_an_unknown_test_is_named():
    frame = bf.ci.error_rates()
    assert isinstance(frame, pd.DataFrame) and len(frame) == len(rates.measured())
    assert {"auto", "spline", "g2"} <= {*frame["test"]}
    with pytest.raises(UnknownNameError, match=r"no error rates were measured of a CI test 'gmc'\. Did you mean 'gcm'"):
        bf.ci.error_rates("gmc")


def test_a_run_says_of_a_named_test_what_fit_says():
    """The note stands in the tables and the report of a run, and a chosen test has its own reason instead."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    X = pd.DataFrame({"z": z, "x": z**2 + rng.normal(size=300), "w": rng.normal(size=300)})
    y = z**2 + rng.normal(size=300)
    run = bf.compare(X, y, [bf.GS(ci_test="fisher-z")], models=["tree"], evaluation=0, folds=0)
    (note,) = [one for one in run.notes() if "rejects" in one]
    assert note == f"table: {bf.GS(ci_test='fisher-z').fit(X, y).caution_}"
    chosen = bf.compare(X, y, [bf.GS(ci_test="auto")], models=["tree"], evaluation=0, folds=0)
    assert [one for one in chosen.notes() if one.startswith("table: fisher-z")] == []
