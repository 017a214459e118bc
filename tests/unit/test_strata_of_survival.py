"""Strata of times to an event: each has its own baseline hazard, in tests, models and scores."""

import json

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.cli import main
from blanketflow.core.column import Column
from blanketflow.core.errors import DataError
from blanketflow.models import get_model
from blanketflow.models.responses import response
from blanketflow.models.risk_sets import RiskSets
from blanketflow.models.survival_scores import concordance
from blanketflow.reporting.formatting import distribution
from blanketflow.targets import get_target_kind
from blanketflow.targets.facts import facts_of
from blanketflow.targets.survival import cumulative_hazard
from literal_survival import concordance as literal_concordance
from literal_survival import partial_likelihood, survival
from test_targets_survival import cohort, literal_maximum, literal_score_residuals

KIND = get_target_kind("survival")


def target_of(time, event, strata, entry=None, kind="integer"):
    parts = {
        "event": Column("died", "boolean", np.asarray(event, dtype=np.int8)),
        "strata": Column("centre", kind, np.asarray(strata)),
    }
    if entry is not None:
        parts["entry"] = Column("since", "numeric", entry)
    return KIND.column("cohort", Column("days", "numeric", time), parts)


def pooled(strata, of_stratum, *columns):
    """Return the sum over strata of what a function makes of their rows."""
    return sum(of_stratum(*(column[strata == stratum] for column in columns)) for stratum in np.unique(strata))


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("decimals", [0, 5])
def test_equals_loops_over_the_risk_sets_of_each_stratum(late, decimals, monkeypatch):
    import test_targets_survival as literal

    of_rows, residuals_of_rows = literal.literal_log_likelihood, literal_score_residuals
    for seed in range(3):
        time, event, entry, X = cohort(seed, decimals=decimals, late=late)
        strata = np.random.default_rng(seed).integers(0, 4, len(time))
        event = event & (strata != 3)  # a stratum without events says nothing

        def of_all(beta, time, event, entry, X, strata=strata):
            return pooled(strata, lambda *rows: of_rows(beta, *rows), time, event, entry, X)

        def residuals_of_all(beta, time, event, entry, X, strata=strata):
            found = np.zeros(len(time))
            for stratum in np.unique(strata):
                rows = strata == stratum
                found[rows] = residuals_of_rows(beta, time[rows], event[rows], entry[rows], X[rows])
            return found

        monkeypatch.setattr(literal, "literal_log_likelihood", of_all)
        monkeypatch.setattr(literal, "literal_score_residuals", residuals_of_all)
        target = target_of(time, event, strata, entry if late else None)
        for given in (0, 1):
            model = KIND.null_model(target, X[:, :given].T)
            null, beta = literal_maximum(time, event, entry, X[:, :given])
            larger, _ = literal_maximum(time, event, entry, X)
            assert model.likelihood_ratio(X[:, given:].T) == pytest.approx(2 * (larger - null), rel=1e-8, abs=1e-8)
            wanted = residuals_of_all(beta, time, event, entry, X[:, :given])
            assert model.residuals() == pytest.approx(wanted, abs=1e-6)
        kept = strata != 3
        alone = target_of(time[kept], event[kept], strata[kept], entry[kept] if late else None)
        fewer = KIND.null_model(alone, X[kept, :1].T)
        assert fewer.likelihood_ratio(X[kept, 1:].T) == pytest.approx(model.likelihood_ratio(X[:, 1:].T), rel=1e-9)


def test_one_stratum_is_as_none():
    time, event, entry, X = cohort(3, late=True)
    plain = {"event": Column("died", "boolean", event.astype(np.int8)), "entry": Column("since", "numeric", entry)}
    none = KIND.null_model(KIND.column("c", Column("days", "numeric", time), plain), X[:, :1].T)
    one = KIND.null_model(target_of(time, event, np.zeros(len(time)), entry), X[:, :1].T)
    assert one.likelihood_ratio(X[:, 1:].T) == none.likelihood_ratio(X[:, 1:].T)


def test_what_is_the_same_in_each_stratum_adds_nothing():
    time, event, _, X = cohort(4)
    strata = np.arange(len(time)) % 3
    model = KIND.null_model(target_of(time, event, strata), X[:, :1].T)
    assert model.likelihood_ratio((strata == 1).astype(float)[None]) == pytest.approx(0, abs=1e-9)


def test_the_cumulative_hazard_is_that_of_the_stratum():
    time, event, _, _ = cohort(5, decimals=0)
    strata = np.arange(len(time)) % 3
    found = cumulative_hazard(target_of(time, event, strata))
    for stratum in range(3):
        rows = strata == stratum
        wanted = [
            sum(
                np.sum(event[rows] & (time[rows] == t)) / np.sum(time[rows] >= t)
                for t in np.unique(time[rows & event])
                if t <= own
            )
            for own in time[rows]
        ]
        assert found[rows] == pytest.approx(wanted, rel=1e-12)


def test_only_events_with_another_row_at_risk_count():
    """In matched pairs a control that is no longer observed leaves its case with nothing to compare."""
    rng = np.random.default_rng(0)
    strata = np.repeat(np.arange(60), 2)
    time, event = rng.exponential(size=120), np.arange(120) % 2 == 0
    target = target_of(time, event, strata)
    compared = int(sum(time[at] <= time[at + 1] for at in range(0, 120, 2)))
    assert KIND.null_model(target, np.empty((0, 120))).size == compared < event.sum()
    facts = facts_of(target, {"event": "died", "strata": "centre"})
    assert (facts["strata"], facts["n_strata"], facts["compared_events"]) == ("centre", 60, compared)
    words = f"60 events (died) in 120 rows (50%) in 60 strata of centre, {60 - compared} of which have no other row"
    assert words in distribution(facts, 120)


def test_strata_that_leave_nothing_to_compare_are_refused():
    time, event, _, _ = cohort(6)
    told = r"in the strata of column 'centre', 0 of \d+ events have another row at risk, .* fewer, larger strata"
    with pytest.raises(DataError, match=told):
        target_of(time, event, np.arange(len(time)))
    with pytest.raises(
        DataError, match=r"'centre' holds decimals, but strata are labels, such as sites. Make bins of it"
    ):
        target_of(time, event, np.linspace(0, 1, len(time)), kind="numeric")
    missing = {"event": Column("died", "boolean", event.astype(np.int8))}
    missing["strata"] = Column("centre", "categorical", np.full(len(time), -1), ("a",))
    with pytest.raises(DataError, match=r"'centre' is missing in 60 rows"):
        KIND.column("cohort", Column("days", "numeric", time), missing)


# --- models and scores ------------------------------------------------------------------------------------------------


def with_strata(y, strata):
    found = np.empty(len(y), dtype=[*y.dtype.descr, ("strata", np.int64)])
    for name in y.dtype.names:
        found[name] = y[name]
    found["strata"] = strata
    return found


@pytest.mark.parametrize("late", [False, True])
def test_models_maximise_the_likelihood_within_strata_and_concordance_compares_there(late):
    time, event, entry, X = cohort(7, late=late)
    strata = np.arange(len(time)) % 4
    plain = survival(event, time, np.maximum(entry, 0.0) if late else None)
    y, scores = with_strata(plain, strata), X @ [0.5, -0.2, 0.1]
    value, gradient, _ = RiskSets(y).likelihood(X, np.array([0.5, -0.2, 0.1]))
    assert value == pytest.approx(pooled(strata, partial_likelihood, plain, scores), rel=1e-10)
    assert X.T @ -RiskSets(y).derivatives(scores)[0] == pytest.approx(gradient, rel=1e-9)
    pairs = [(rows, plain[rows]) for rows in (np.flatnonzero(strata == k) for k in range(4))]
    good, total = 0.0, 0
    for rows, own in pairs:
        n = sum(
            (other["time"] > row["time"] or (other["time"] == row["time"] and not other["event"]))
            and (not late or other["entry"] < row["time"])
            for row in own
            if row["event"]
            for other in own
        )
        good, total = good + n * literal_concordance(own, scores[rows]), total + n
    assert concordance(y, scores) == pytest.approx(good / total, rel=1e-12)


def test_the_estimator_leaves_out_what_differs_between_strata():
    rng = np.random.default_rng(1)
    centre = rng.integers(0, 8, 600)
    x, severe = rng.normal(size=600), centre + 0.3 * rng.normal(size=600)
    time = rng.exponential(np.exp(-0.7 * x - 0.6 * centre))
    X = np.column_stack([x, severe])
    y = survival(np.ones(600, dtype=bool), time)
    of_all = get_model({"type": "cox", "alpha": 0}).build("survival", seed=0).fit(X, y)
    within = get_model({"type": "cox", "alpha": 0}).build("survival", seed=0).fit(X, with_strata(y, centre))
    effect = np.eye(2)
    assert (of_all.predict(effect) - of_all.predict(0 * effect))[1] > 0.4
    assert (within.predict(effect) - within.predict(0 * effect)) == pytest.approx([0.7, 0.0], abs=0.2)
    curve = within.predict_survival(X, np.quantile(time, [0.2, 0.5, 0.8]))
    assert ((curve >= 0) & (curve <= 1)).all() and (np.diff(curve) <= 0).all()


# --- ways in ----------------------------------------------------------------------------------------------------------


def centres(n=800, seed=2):
    """Return a cohort whose centres differ in hazard and in the feature `severe`, which matters within none."""
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, 6, n)
    age, noise = rng.normal(size=(2, n))
    severe = 0.8 * centre + rng.normal(size=n)
    time, end = rng.exponential(np.exp(-0.8 * age - 0.7 * centre)), rng.exponential(0.5, n)
    frame = pd.DataFrame({"age": age, "severe": severe, "noise": noise, "centre": [f"c{k}" for k in centre]})
    return frame.assign(days=np.minimum(time, end), died=(time <= end).astype(int))


TABLE = centres()
X = TABLE[["age", "severe", "noise"]]
Y = {"time": TABLE["days"], "event": TABLE["died"], "strata": TABLE["centre"]}
ASKED = {"time": "days", "event": "died", "strata": "centre"}


def test_every_way_in_leaves_out_what_only_differs_between_strata(tmp_path, capsys):
    without = bf.IAMB(alpha=0.001, target_kind="survival").fit(X, (TABLE["days"], TABLE["died"]))
    assert set(without.selected_features_) == {"age", "severe"}
    found = bf.IAMB(alpha=0.001, target_kind="survival").fit(X, Y)
    assert found.selected_features_ == ["age"] and found.task_ == "survival"
    selectors = {"iamb": {"method": "iamb", "alpha": 0.001}}
    within = bf.compare(TABLE, ASKED, selectors, folds=0, evaluation=2, models=["cox", "lightgbm"])
    assert within.blanket("iamb") == ["age"]
    beside = bf.compare(X, Y, selectors, folds=0, evaluation=2, models=["cox", "lightgbm"], target_kind="survival")
    pd.testing.assert_frame_equal(within.scores, beside.scores)
    assert within.run.cards["table"]["target"]["strata"] == "centre"
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    written = "target={time: days, event: died, strata: centre}"
    arguments = ["select", str(tmp_path / "t.csv"), "--data-set", written, "--method", "iamb", "--set", "alpha=0.001"]
    assert main([*arguments, "--json"]) == 0
    assert [row["feature"] for row in json.loads(capsys.readouterr().out)["blanket"]] == ["age"]
    assert main(["inspect", str(tmp_path / "t.csv"), "--data-set", written]) == 0
    assert "in 6 strata of centre" in capsys.readouterr().out
    assert bf.select(X, Y, target_kind="survival").features == ["age"]


def test_models_are_taught_the_strata_as_they_are_stored():
    target = target_of(TABLE["days"].to_numpy(), TABLE["died"], np.unique(TABLE["centre"], return_inverse=True)[1])
    assert response(target, "survival").dtype.names == ("event", "time", "strata")
