"""What was observed on unseen rows by parts of the predictions, against literal estimates."""

import json

import numpy as np
import pandas as pd
import pytest

from blanketflow.api.inspection import inspect_table
from blanketflow.core.column import TargetColumn
from blanketflow.data.artefact_columns import ARTEFACTS
from blanketflow.data.artefacts import read_columns, read_provenance, write_columns
from blanketflow.data.card import make_card
from blanketflow.data.provenance import Provenance
from blanketflow.data.sources import read_source
from blanketflow.data.splits import make_splits
from blanketflow.data.storage import write_table
from blanketflow.models.observed import UnseenRows
from blanketflow.models.predictions import Predictions
from blanketflow.models.responses import counts_of, response
from blanketflow.reporting.formatting import distribution
from blanketflow.reporting.tables import observed
from blanketflow.reporting.tables.answers import in_words_of_the_target
from blanketflow.targets.facts import facts_of
from blanketflow.workflow import collect
from blanketflow.workflow.stages.evaluation import evaluate_blankets


def survival_target(n, seed, has_entry=False):
    rng = np.random.default_rng(seed)
    time = np.ceil(rng.exponential(20, n)) + 2  # with ties
    parts = {"event": rng.random(n) < 0.6}
    if has_entry:
        parts["entry"] = np.floor(rng.random(n) * (time - 1))
    return TargetColumn("days", "numeric", time, (), "survival", parts)


def literal_kaplan_meier(time, event, entry, at):
    """The product over times of events up to `at` of 1 - events / at risk, one row at a time."""
    share = 1.0
    for t in sorted({t for t, died in zip(time, event, strict=True) if died and t <= at}):
        risk = sum(e < t <= own for own, e in zip(time, entry, strict=True))
        dead = sum(own == t and died for own, died in zip(time, event, strict=True))
        share *= 1 - dead / risk
    return share


def rows_of(parts):
    """The rows of the table ``observed``."""
    return pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)


@pytest.mark.parametrize("has_entry", [False, True])
def test_curves_are_kaplan_meier_of_thirds_of_each_split(has_entry):
    target, risk = survival_target(240, 0, has_entry), np.random.default_rng(1).permutation(240) * 1.0
    y = response(target, "survival")
    pool, thirds = UnseenRows("survival"), np.zeros(240, dtype=int)
    for rows in np.split(np.arange(240), 2):
        scale = 1.0 + rows[0]  # predictions of several splits have no common scale
        pool.add(rows, target.take(rows), {"cox": Predictions(y[rows], scale * risk[rows])})
        for row in rows:
            thirds[row] = 1 + 3 * sum(risk[rows] < risk[row]) // 120
    found = rows_of(pool.summary()["cox"])
    time, event = target.values, target.parts["event"]
    entry = target.parts.get("entry", np.full(240, -1.0))
    assert {*found["part"]} == {1, 2, 3} and {*found["rows"]} == {80}
    assert found.groupby("part").size().max() <= 101
    for row in found.itertuples():
        own = thirds == row.part
        if row.at <= time[own].max():
            assert row.observed == pytest.approx(literal_kaplan_meier(time[own], event[own], entry[own], row.at), 1e-5)
        else:
            assert np.isnan(row.observed)
        if row.at_risk == row.at_risk:
            assert row.at_risk == sum(
                e < row.at <= t or row.at == 0 >= e for t, e in zip(time[own], entry[own], strict=True)
            )
            assert row.events == sum(event[own] & (time[own] <= row.at))
    ticks = found.loc[found["at_risk"].notna() & (found["part"] == 1), "at"]
    assert len(ticks) >= 4 and len({*np.diff(ticks)}) == 1
    assert np.mean(time >= found["at"].max()) >= 0.1  # no curve rests on the last rows


def test_a_row_counts_once_though_repetitions_test_it_again():
    target, once = survival_target(60, 2), UnseenRows("survival")
    rows, risk = np.arange(60), np.random.default_rng(3).normal(size=60)
    y = response(target, "survival")
    once.add(rows, target, {"cox": Predictions(y, risk)})
    first = once.summary()
    once.add(rows[::-1], target.take(rows[::-1]), {"cox": Predictions(y[::-1], -risk)})
    assert once.summary() == first


def test_equal_predictions_are_one_part():
    target, pool = survival_target(50, 4), UnseenRows("survival")
    pool.add(np.arange(50), target, {"cox": Predictions(response(target, "survival"), np.zeros(50))})
    assert {row["part"] for row in pool.summary()["cox"]} == {2}


@pytest.mark.parametrize("has_exposure", [False, True])
def test_means_are_per_exposure_with_a_normal_interval(has_exposure):
    rng = np.random.default_rng(5)
    exposure = rng.uniform(0.5, 3, 200)
    rate = np.exp(rng.normal(size=200))
    parts = {"exposure": exposure} if has_exposure else {}
    weight = exposure if has_exposure else np.ones(200)
    target = TargetColumn("visits", "integer", rng.poisson(rate * weight), (), "count", parts)
    y, pool = response(target, "count"), UnseenRows("count")
    pool.add(np.arange(200), target, {"poisson": Predictions(counts_of(y), rate * weight)})
    rows = rows_of(pool.summary()["poisson"]).to_dict("records")
    assert [row["part"] for row in rows] == list(range(1, 11))
    tenths = np.array_split(np.argsort(rate), 10)
    for row, own in zip(rows, tenths, strict=True):
        counts = target.values[own]
        assert row["rows"] == 20
        assert row["observed"] == pytest.approx(counts.sum() / weight[own].sum(), 1e-5)
        assert row["predicted"] == pytest.approx((rate * weight)[own].sum() / weight[own].sum(), 1e-5)
        assert row["low"] < row["observed"] < row["high"]
        if not has_exposure:
            half = 1.959964 * counts.std(ddof=1) / np.sqrt(20)
            assert row["high"] - row["observed"] == pytest.approx(half, 1e-4)


@pytest.mark.parametrize("has_probabilities", [True, False])
def test_shares_of_ordered_classes_by_thirds(has_probabilities):
    rng = np.random.default_rng(6)
    levels, chances = ("mild", "moderate", "severe"), rng.dirichlet([1, 1, 1], 90)
    codes = np.array([rng.choice(3, p=p) for p in chances])
    expected = chances @ np.arange(3) if has_probabilities else chances.argmax(1)
    target = TargetColumn("grade", "categorical", codes, levels, "ordered")
    more = (chances, np.arange(3)) if has_probabilities else ()
    pool = UnseenRows("ordered")
    pool.add(np.arange(90), target, {"odds": Predictions(codes, chances.argmax(1), *more)})
    rows = rows_of(pool.summary()["odds"])
    assert [*rows["label"][:3]] == [*levels]
    assert rows.groupby("part")["observed"].sum().round(4).eq(1).all()
    if has_probabilities:
        for part, own in enumerate(np.array_split(np.argsort(expected), 3), start=1):
            found = rows[rows["part"] == part]
            assert [*found["observed"]] == pytest.approx([np.mean(codes[own] == code) for code in range(3)], 1e-5)
            assert [*found["predicted"]] == pytest.approx([*chances[own].mean(0)], 1e-5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of a cohort, its splits and a blanket."""
    folder, rng = tmp_path_factory.mktemp("observed"), np.random.default_rng(7)
    a = rng.normal(size=150)
    time = rng.exponential(np.exp(-a)) + 0.01
    frame = pd.DataFrame({"a": a, "days": time.round(4), "died": (rng.random(150) < 0.7).astype(int)})
    frame.to_csv(folder / "t.csv", index=False)
    return folder


def evaluated(folder, **spec):
    raw = read_source("t", {"path": str(folder / "t.csv"), **spec}, 0)
    write_table(folder / "table.parquet", raw, Provenance(extra={"content_hash": "of t"}))
    asked = {"evaluation": 2, "repeats": 1, "final": True, "stratify": True}
    columns = make_splits(raw.target, asked, [0], 1, "t", None, 0)
    write_columns(folder / "splits.parquet", columns, ARTEFACTS["splits"].types(), Provenance())
    blanket = {"feature": ["a"], "chosen": [True], "frequency": [1.0], "importance": [2.0]}
    blanket |= {"role": ["member"], "stand_ins": [[]]}
    write_columns(folder / "blanket.parquet", blanket, ARTEFACTS["blanket"].types(), Provenance())
    scores = folder / "evaluate" / "t" / "mine.parquet"
    asked = {"models": ["cox", "tree"], "metrics": "auto", "splits": ["cv-1", "cv-2"], "seed": 5}
    blankets = [folder / "blanket.parquet"] * 2
    evaluate_blankets(folder / "table.parquet", folder / "splits.parquet", blankets, scores, "t", json.dumps(asked))
    return scores


def test_an_evaluation_keeps_curves_of_its_test_rows(folder):
    scores = evaluated(folder, target="days", target_kind="survival", target_parts={"event": "died"})
    table = observed(collect.observed([scores]))
    assert {*table["model"]} == {"cox"} and {*table["selector"]} == {"mine"}
    assert table.drop_duplicates("part")["rows"].sum() == 150
    tick = table.loc[table["at_risk"].notna() & (table["at"] > 0), "at"].min()
    left = table[table["at"] == tick].set_index("part")["observed"]
    assert left[1] > left[2] > left[3]  # the highest risk has its events first
    times = pd.read_csv(folder / "t.csv")["days"]
    assert not {*table["at"]} & {*times}  # nothing of single rows


def test_an_evaluation_of_numbers_keeps_nothing_new(folder):
    scores = evaluated(folder, target="days", drop=["died"])
    assert "observed" not in read_provenance(scores).extra
    assert {*read_columns(scores)[0]["model"]} == {"tree"}
    assert observed(collect.observed([scores])).empty


def test_the_card_and_the_report_say_what_a_cohort_is(folder):
    spec = {"path": str(folder / "t.csv"), "target": "days", "target_kind": "survival"}
    spec["target_parts"] = {"event": "died"}
    raw = read_source("t", spec, 0)
    target = make_card("t", raw, spec)["target"]
    frame = pd.read_csv(folder / "t.csv")
    died = frame["died"] == 1
    ends = (t for t in sorted(frame["days"]) if literal_kaplan_meier(frame["days"], ~died, [-1] * 150, t) <= 0.5)
    assert target == {
        "name": "days",
        "event": "died",
        "events": died.sum(),
        "median_follow_up": next(ends),
        "max": frame["days"].max(),
    }
    text = distribution(target, 150)
    assert text.startswith(f"{died.sum()} events (died) in 150 rows ({died.mean():.0%}), median follow-up ")
    assert "not reached" in distribution(target | {"median_follow_up": None}, 150)


def test_the_facts_of_counts_and_ordered_classes():
    visits = TargetColumn(
        "visits", "integer", np.array([1, 0, 5]), (), "count", {"exposure": np.array([1.0, 2.0, 1.0])}
    )
    facts = facts_of(visits, {"exposure": "years"})
    assert facts["rate"] == 1.5 and facts["total_exposure"] == 4.0
    assert (
        distribution({"name": "visits", **facts}, 3)
        == "rate 1.500 per unit of the exposure years (4 in all rows); mean 2"
    )
    plain = facts_of(TargetColumn("visits", "integer", visits.values, (), "count"), {})
    assert plain["mean"] == 2.0 and "rate" not in plain
    grade = TargetColumn("grade", "categorical", np.array([2, 0, 2]), ("mild", "moderate", "severe"), "ordered")
    facts = facts_of(grade, {})
    assert facts == {"levels": {"mild": 1, "severe": 2}}
    assert distribution({"name": "grade", **facts}, 3) == "mild 1 (33%), severe 2 (67%)"


def scored(metric, mean, gain):
    return pd.Series({"metric": metric, "mean": mean, "gain": gain})


def test_leading_scores_are_said_in_words_of_the_target():
    assert "first in 73% of pairs" in in_words_of_the_target(scored("uno-concordance", 0.732, 0.232))
    assert "take away 25% of the deviance" in in_words_of_the_target(scored("poisson-deviance", 0.9, 0.3))
    assert in_words_of_the_target(scored("gamma-deviance", 0.9, -0.1)) == ""
    assert "1 is perfect" in in_words_of_the_target(scored("quadratic-kappa", 0.5, 0.5))
    assert in_words_of_the_target(scored("accuracy", 0.9, 0.1)) == ""


def test_a_table_with_times_to_an_event_is_described_by_its_events(folder):
    found = inspect_table({"path": str(folder / "t.csv"), "target": {"time": "days", "event": "died"}})
    died = pd.read_csv(folder / "t.csv")["died"]
    assert f"{died.sum()} events (died) in 150 rows" in repr(found)
    assert f"{died.sum()} events (died) in 150 rows" in found._repr_html_()
    assert 0.8 * died.sum() <= sum(found.distributions[0].events) <= died.sum()  # but those far outside
    assert inspect_table({"path": str(folder / "t.csv"), "target": "days"}).target_words == ""
