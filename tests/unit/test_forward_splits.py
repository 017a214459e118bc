"""Forward splits: cuts of time, the gap, the drift of features by period, and what does not go with them."""

import json
import re
from math import log

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.api.compare import compare_config
from blanketflow.core.column import SparseValues, TargetColumn
from blanketflow.core.errors import ConfigError, DataError
from blanketflow.core.table import Column, Table, categorical
from blanketflow.data import splits as sp
from blanketflow.data.periods import described_periods, periods_of
from blanketflow.models.drift import binned, feature_drift, sign, stability_index
from blanketflow.reporting.export.notebook import _reading
from blanketflow.targets import as_numbers
from blanketflow.workflow.plan import make_plan

SPEC = {"evaluation": "forward", "parts": 4, "gap": 0, "repeats": 1, "final": True, "stratify": True}


def literal_periods(times, parts):
    """Rows in the order of time; a block of equal times goes where its first row goes."""
    ordered, n = sorted(times), len(times)
    return [next(k for k in range(parts, 0, -1) if ordered.index(time) >= (k - 1) * n / parts) for time in times]


@pytest.mark.parametrize("n_times", [7, 23, 1000])
@pytest.mark.parametrize("parts", [2, 3, 5])
def test_periods_are_cut_by_rows_and_never_through_equal_times(n_times, parts):
    times = np.random.default_rng(n_times).integers(0, n_times, 61).astype(float) * 0.5
    period = periods_of(times, parts)
    assert period.tolist() == literal_periods(times.tolist(), parts)
    assert all(times[period == k].max() < times[period == k + 1].min() for k in range(1, parts))


def test_different_times_give_periods_of_equal_size():
    period = periods_of(np.random.default_rng(0).permutation(103), 5)
    assert np.bincount(period)[1:].tolist() == [21, 21, 20, 21, 20]


@pytest.mark.parametrize("gap", [0, 3, 9.5])
def test_each_split_trains_on_the_past_and_tests_on_the_next_period(gap):
    times = np.random.default_rng(1).integers(0, 60, 80).astype(float)
    y = categorical("y", np.array(["a", "b"] * 40, dtype=object))
    found = sp.make_splits(y, SPEC | {"gap": gap}, [0, 2], 1, "loans", times=times)
    period = literal_periods(times.tolist(), 4)
    for k in (1, 2, 3):
        test = [at for at in range(80) if period[at] == k + 1]
        start = min(times[at] for at in test)
        train = [at for at in range(80) if times[at] < start and not start - gap <= times[at]]
        assert sp.test_rows(found, f"cv-{k}").tolist() == test and sp.train_rows(found, f"cv-{k}").tolist() == train
        folds = [sp.fold_rows(found, f"cv-{k}", f"{at}of2", "part").tolist() for at in (1, 2)]
        assert sorted(folds[0] + folds[1]) == train
    assert sp.train_rows(found, "full").tolist() == list(range(80)) and not len(sp.test_rows(found, "full"))
    assert set(found["part"]) == {"train", "test", "neither"}


@pytest.mark.parametrize(
    ("times", "labels", "more", "message"),
    [
        ([1] * 6 + [2] * 6, "ab" * 6, {}, "2 different times leave one of 4 periods empty. Set splits.parts to 2"),
        ([1] * 12, "ab" * 6, {}, "1 different times leave one of 4 periods empty. Choose a time column with"),
        (range(12), "ab" * 6, {"gap": 3}, "cv-1: the gap of 3 leaves no row to train on. Set splits.gap below 3"),
        (range(12), "aaa" + "ab" * 4 + "b", {}, "cv-1: the 3 training rows have one class only, 'a'. Set splits.parts"),
    ],
)
def test_what_cannot_be_cut_is_refused_with_a_way_out(times, labels, more, message):
    times, y = np.array(times, dtype=float), categorical("y", np.array(list(labels), dtype=object))
    with pytest.raises(DataError, match=re.escape(message)):
        sp.make_splits(y, SPEC | more, [0], 1, "loans", times=times)
    ways_out = {"Set splits.parts to 2": {"parts": 2}, "below 3": {"gap": 1.5}, "Set splits.parts": {"parts": 2}}
    for said, way_out in ways_out.items():
        if said in message:
            assert len(sp.make_splits(y, SPEC | more | way_out, [0], 1, "loans", times=times)["row"])
            break


# --- drift ------------------------------------------------------------------------------------------------------------


def test_psi_worked_by_hand():
    # 100 rows before, 50 after, in three bins: shares 0.5, 0.3, 0.2 and 0.2, 0.3, 0.5
    before, after = np.repeat([0, 1, 2], [50, 30, 20]), np.repeat([0, 1, 2], [10, 15, 25])
    by_hand = -0.3 * log(0.2 / 0.5) + 0 + 0.3 * log(0.5 / 0.2)  # 0.54977...
    psi, by_chance = stability_index(before, after)
    assert psi == pytest.approx(by_hand) and round(psi, 4) == 0.5498
    assert by_chance == pytest.approx((1 / 100 + 1 / 50) * 5.991465)  # chi-squared, 2 degrees of freedom, 0.95
    # a bin that only later rows have counts as half a row of the 100
    assert stability_index(np.zeros(100), np.repeat([0, 1], 5))[0] == pytest.approx(
        (0.5 - 1) * log(0.5 / 1) + (0.5 - 0.005) * log(0.5 / 0.005)
    )
    assert stability_index(before, before)[0] == 0


def literal_bins(column, reference):
    """The number of deciles of the reference rows that a cell exceeds, each the smallest value of enough rows."""
    known = sorted(value for value in column[reference] if value == value)
    deciles = {next(v for at, v in enumerate(known, 1) if at * 10 >= d * len(known)) for d in range(1, 10)}
    return [-1 if value != value else sum(value > decile for decile in deciles) for value in column]


@pytest.mark.parametrize("decimals", [0, 3])
def test_bins_are_deciles_of_the_first_period_and_missing_cells_are_one(decimals):
    rng = np.random.default_rng(3)
    values = np.round(rng.normal(size=300), decimals)
    values[rng.random(300) < 0.1] = np.nan
    reference = np.arange(101)
    assert binned(Column("x", "numeric", values), reference).tolist() == literal_bins(values, reference)
    labels = Column("x", "categorical", np.array([0, 2, -1, 1]), ("u", "v", "w"))
    assert binned(labels, np.arange(2)).tolist() == [0, 2, -1, 1]
    sparse = Column("x", "integer", SparseValues(np.array([1]), np.array([3]), 4))
    assert binned(sparse, np.arange(4)).tolist() == [0, 1, 0, 0]


def test_stable_features_exceed_what_chance_explains_once_in_twenty_times():
    rng, above = np.random.default_rng(4), 0
    for _ in range(1000):
        x = Column("x", "numeric", rng.normal(size=600))
        cells = binned(x, np.arange(300))
        psi, by_chance = stability_index(cells[:300], cells[300:])
        above += psi > by_chance
    assert 25 < above < 90  # 50 expected, standard deviation 7; PSI is somewhat above its limit


def test_signs_are_those_of_correlations_that_are_not_zero():
    rng = np.random.default_rng(5)
    x, noise = rng.normal(size=200), rng.normal(size=200)
    assert (sign(x, x + noise), sign(-x, x + noise), sign(noise, np.roll(x, 7))) == (1.0, -1.0, 0.0)
    assert sign(np.ones(9), np.arange(9.0)) is None
    x[0] = np.nan
    assert sign(x, x) == 1.0
    three = categorical("y", np.array(list("abc") * 40, dtype=object))
    table = Table([Column("x", "numeric", rng.normal(size=120))])
    period = np.repeat([1, 2], 60)
    told = feature_drift(table, three, period, described_periods(np.arange(120.0), 2, False))
    assert told["sign"]["x"] == [None, None] and told["by_chance"]["x"][0] is None and json.dumps(told)
    assert told["periods"] == [{"start": "0", "end": "59", "n_rows": 60}, {"start": "60", "end": "119", "n_rows": 60}]


def test_the_sign_of_times_to_an_event_is_that_of_the_risk():
    rng = np.random.default_rng(6)
    x = rng.normal(size=300)
    days, ended = rng.exponential(np.exp(-x)), rng.exponential(2.0, size=300)
    parts = {"event": (days <= ended).astype(int)}
    target = TargetColumn("days", "numeric", np.minimum(days, ended), (), "survival", parts)
    assert sign(x, as_numbers(target).numbers()) == 1.0 and sign(x, np.minimum(days, ended)) == -1.0


# --- a whole comparison -----------------------------------------------------------------------------------------------


def loans(n=600, seed=0):
    """Income drifts in the last of five years; age turns its sign after the second; rows are not in order."""
    rng = np.random.default_rng(seed)
    day = np.arange(n) * 1825 // n
    age, income = rng.normal(size=n), rng.normal(size=n) + 1.5 * (day >= 1460)
    risk = 1.5 * np.where(day < 730, -age, age) - 2 * income + rng.logistic(size=n)
    opened = pd.Timestamp("2019-01-01") + pd.to_timedelta(day, unit="D")
    frame = pd.DataFrame({"opened": opened, "income": income, "age": age, "noise": rng.normal(size=n)})
    order = rng.permutation(n)
    return frame.iloc[order].reset_index(drop=True), np.where(risk > 0, "unpaid", "paid")[order]


ASKED = {"folds": 0, "models": ["naive-bayes"], "metrics": ["accuracy"]}
SELECTORS = {"mrmr": {"method": "mrmr", "n_features": 2}}
FORWARD = {"evaluation": "forward", "parts": 5, "time": "opened", "gap": 30}


@pytest.fixture(scope="module")
def found():
    X, y = loans()
    forward = {"evaluation": "forward", "parts": 5, "gap": 30, "time": "opened"}
    return bf.compare(X, y, SELECTORS, name="loans", **ASKED, **forward)


def test_the_table_has_each_feature_in_each_period(found):
    X, y = loans()
    rows = found.drift.query("selector == 'all'")
    assert set(rows["feature"]) == {"income", "age", "noise"} and len(rows) == 15
    assert rows.query("period == 5")[["start", "end", "n_rows", "split"]].drop_duplicates().values.tolist() == [
        ["2022-12-31", "2023-12-27", 120, "full"]
    ]
    year = (X["opened"] - pd.Timestamp("2019-01-01")).dt.days // 365 + 1
    for name, own in rows.groupby("feature"):
        cells = np.array(literal_bins(X[name].to_numpy(), (year == 1).to_numpy()))
        for row in own.itertuples():
            psi, _ = stability_index(cells[year == 1], cells[year == row.period])
            r = np.corrcoef(X[name][year == row.period], y[year == row.period] == "unpaid")[0, 1]
            assert row.psi == pytest.approx(psi, abs=1e-12)
            assert row.sign == (np.sign(r) if abs(r) >= 1.959964 / np.sqrt(120) else 0)
    signs = rows.pivot(index="feature", columns="period", values="sign")
    assert signs.loc["age"].tolist() == [-1, -1, 1, 1, 1] and signs.loc["income"].tolist() == [-1] * 5


def test_searches_up_to_a_period_are_those_of_its_rows(found):
    X, y = loans()
    rows, days = found.drift.query("selector == 'mrmr'"), (X["opened"] - pd.Timestamp("2019-01-01")).dt.days
    for k in range(1, 5):
        train = (days < 365 * k - 30).to_numpy()
        chosen = bf.MRMR(n_features=2).fit(X[train].drop(columns="opened"), y[train]).selected_features_
        own = rows.query(f"period == {k} and selected").sort_values("rank")
        assert set(own["feature"]) == set(chosen) and own["rank"].tolist() == [1, 2]
        assert set(own["split"]) == {f"cv-{k}"}
    assert set(rows.query("period == 5 and selected")["feature"]) == set(found.blanket("mrmr"))
    assert rows["rank"].isna().equals(~rows["selected"])


def test_intervals_count_that_training_rows_grow(found):
    half = found.scores.eval("mean - low").iloc[0]
    # the t quantile of 3 degrees of freedom; one period is tested for each of 1, 2, 3 and 4 to learn from
    ratio = np.mean([1, 1 / 2, 1 / 3, 1 / 4])
    assert half == pytest.approx(3.18245 * found.scores["sd"].iloc[0] * np.sqrt(1 / 4 + ratio), rel=1e-4)


def test_the_report_says_what_drifted(found, tmp_path):
    page = found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    section = page[page.index("<h3>Over time</h3>") :]
    psi = found.drift.query("selector == 'mrmr' and feature == 'income' and period == 5")["psi"].item()
    said = f"income drifted: PSI {psi:.2f} in period 5. The sign of age changes."
    assert said in section
    assert f"<li>{said}</li>" in page[page.index('aria-label="Warnings"') :][:2000]
    assert f">{psi:.2f} large<" in section and "the share of unpaid rises" in section


def test_files_of_every_kind_give_the_same_drift(found, tmp_path):
    X, y = loans()
    frame = X.assign(outcome=y)
    frame.to_parquet(tmp_path / "loans.parquet")
    for write in ("parquet", "csv"):
        if write == "csv":
            frame.assign(opened=frame["opened"].dt.strftime("%Y-%m-%d")).to_csv(tmp_path / "loans.csv", index=False)
        data = {"path": str(tmp_path / f"loans.{write}"), "target": "outcome"}
        raw = {"datasets": {"loans": data}, "selectors": SELECTORS, "splits": FORWARD, **ASKED}
        own = compare_config(raw)
        pd.testing.assert_frame_equal(own.drift, found.drift)


@pytest.mark.parametrize(
    ("splits", "data", "message"),
    [
        ({"time": None}, {}, "'loans' has no time, by which splits.evaluation: forward cuts its rows. Set splits.time"),
        ({"time": "month"}, {}, "time names the column 'month', which is not there"),
        ({"time": "state"}, {}, "the time column 'state' holds labels such as 'N', neither numbers nor dates"),
        ({"time": "late"}, {}, "the time column 'late' is missing in 1 rows. Fill these cells"),
        ({"time": "outcome"}, {}, "column 'outcome' is time and cannot also be target, groups"),
        ({}, {"drop": ["opened"]}, "column 'opened' is time and cannot also be target"),
        ({"parts": 1}, {}, "parts"),
        ({"gap": -1}, {}, "gap"),
        ({"repeats": 2}, {}, "evaluation: forward has the same test rows each time. Remove splits.repeats"),
        ({"evaluation": 5}, {}, "splits.time is for evaluation: forward. Set this, or remove time"),
        ({"evaluation": 5, "time": None, "gap": 0}, {"time": "opened"}, "has a time, but splits.evaluation is 5"),
        ({"evaluation": "forwards"}, {}, "Did you mean 'forward'"),
    ],
)
def test_what_does_not_go_with_it(tmp_path, splits, data, message):
    X, y = loans(60)
    late = np.where(np.arange(60) == 7, np.nan, np.arange(60))
    X.assign(outcome=y, state=["N", "S", "W"] * 20, late=late).to_csv(tmp_path / "loans.csv", index=False)
    data = {"path": str(tmp_path / "loans.csv"), "target": "outcome", **data}
    raw = {"datasets": {"loans": data}, "selectors": SELECTORS, "splits": FORWARD | splits, "folds": 0}
    with pytest.raises((ConfigError, DataError), match=re.escape(message)):
        make_plan(raw, lambda name: name)


def test_a_data_set_may_have_a_time_of_its_own_and_specs_of_others_stay_as_they_are(tmp_path):
    X, y = loans(60)
    X.assign(outcome=y, day=range(60)).to_csv(tmp_path / "loans.csv", index=False)
    data = {"path": str(tmp_path / "loans.csv"), "target": "outcome"}
    raw = {"datasets": {"a": data, "b": data | {"time": "day"}}, "selectors": SELECTORS, "folds": 0}
    plan = make_plan(raw | {"splits": FORWARD}, lambda name: name)
    assert json.loads(plan.table_spec("a"))["time"] == "opened" and json.loads(plan.table_spec("b"))["time"] == "day"
    assert plan.splits("a") == ["full", "cv-1", "cv-2", "cv-3", "cv-4"]
    assert "opened" not in plan.facts["a"].feature_names and "day" in plan.facts["a"].feature_names
    spec = plan.config.datasets["a"]
    reading, _ = _reading("loans.csv", spec, {"target": {"name": "outcome"}, "task": "classification"})
    assert "drop=['opened']" in reading and "time=" not in reading
    plain = make_plan({**raw, "datasets": {"a": data}}, lambda name: name)
    assert not {"parts", "time", "gap"} & json.loads(plain.splits_spec([0])).keys()
    assert "time" not in json.loads(plain.table_spec("a"))
