"""Leave-group-out: scores at groups that neither search nor model has seen, beside literal renderings."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import blanketflow as bf
from blanketflow.core.errors import ConfigError
from blanketflow.core.rows import balanced_parts
from blanketflow.core.seeds import derive_rng
from blanketflow.workflow.plan import make_plan

SITES = ("Ulm", "Bern", "Graz", "Lyon")


def study(n=240, sites=SITES, seed=0):
    """A symptom that tells the illness everywhere, and a scanner that tells it at all sites but the last."""
    rng = np.random.default_rng(seed)
    site, ill = rng.integers(0, len(sites), n), rng.integers(0, 2, n)
    X = pd.DataFrame({"symptom": ill + rng.normal(size=n), "scanner": ill + rng.normal(0, 0.3, n)})
    X.loc[site == len(sites) - 1, "scanner"] = rng.normal(0.5, 0.6, np.sum(site == len(sites) - 1))
    return X.assign(noise=rng.normal(size=n), site=np.array(sites)[site]), np.where(ill, "ill", "well")


@pytest.fixture(scope="module")
def found():
    X, y = study()
    data = {"study": (X.drop(columns="site"), y, X["site"]), "other": (*study(90, (3, 10), 1)[0:2], "site")}
    asked = {"models": ["knn"], "metrics": ["accuracy"], "folds": 0, "evaluation": "leave-group-out"}
    return bf.compare(data, selectors={"mrmr": bf.MRMR(n_features=2)}, **asked)


def test_each_site_is_judged_by_a_model_that_has_not_seen_it(found):
    X, y = study()
    rows = found.held_out_groups.query("dataset == 'study' and selector == 'all'").set_index("group")
    values, sites = X[["symptom", "scanner", "noise"]].to_numpy(), X["site"].to_numpy()
    assert set(rows.index) == set(SITES)
    for place, site in enumerate(sorted(SITES), 1):
        train, test = np.flatnonzero(sites != site), np.flatnonzero(sites == site)
        model = make_pipeline(StandardScaler(), KNeighborsClassifier(5)).fit(values[train], y[train])
        assert rows.loc[site, "value"] == accuracy_score(y[test], model.predict(values[test]))
        assert rows.loc[site, "n_rows"] == len(test)
        part = balanced_parts(
            (y[train] == "well").astype(float), 5, derive_rng(2026, "study", f"cv-{place}", "seen", "parts")
        )
        seen = []
        for k in range(5):
            inside, held_out = train[part != k], train[part == k]
            model.fit(values[inside], y[inside])
            seen.append(accuracy_score(y[held_out], model.predict(values[held_out])))
        assert rows.loc[site, "seen"] == pytest.approx(np.mean(seen))
    assert rows["drop"].to_numpy() == pytest.approx((rows["seen"] - rows["value"]).to_numpy())


def test_the_site_where_the_set_does_not_hold_stands_out(found):
    rows = found.held_out_groups.query("dataset == 'study' and selector == 'mrmr'").set_index("group")
    assert {"scanner", "symptom"} <= set(found.blanket("mrmr", "study"))
    assert rows["drop"].idxmax() == "Lyon" and rows.loc["Lyon", "drop"] > 0.2 and rows.drop("Lyon")["drop"].max() < 0.1


def test_data_sets_have_as_many_splits_as_groups(found):
    n_splits = found.folds.groupby(["dataset", "selector"])["split"].nunique()
    assert n_splits["study"].tolist() == [5, 5] and n_splits["other"].tolist() == [3, 3]
    assert set(found.held_out_groups.query("dataset == 'other'")["group"]) == {"3", "10"}
    half = found.scores.eval("mean - low").groupby(found.scores["dataset"]).first()
    sd = found.scores.groupby("dataset")["sd"].first()
    # t quantiles of 3 and 1 degrees of freedom, and 1/n + 1/(n - 1): the splits of each data set by itself
    assert half["study"] == pytest.approx(3.18245 * sd["study"] * np.sqrt(1 / 4 + 1 / 3), rel=1e-4)
    assert half["other"] == pytest.approx(12.7062 * sd["other"] * np.sqrt(1 / 2 + 1), rel=1e-4)


def test_the_report_answers_the_question(found, tmp_path):
    page = found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    sections = page.split("Does the set hold at a group that it has not seen?")
    assert len(sections) == 1 + len(found.run.cards) and all(
        re.search(rf">\s*{site}\s*<", sections[1]) for site in SITES
    )


@pytest.mark.parametrize(
    ("dataset", "more", "message"),
    [
        ({}, {}, "has no groups, of which splits.evaluation: leave-group-out holds out"),
        ({"groups": "site"}, {"repeats": 2}, "leave-group-out has the same test rows each time. Remove splits.repeats"),
        ({"groups": "site"}, {"evaluation": "leave-groups-out"}, "Did you mean 'leave-group-out'"),
    ],
)
def test_what_does_not_go_with_it(tmp_path, dataset, more, message):
    study()[0].assign(y=study()[1]).to_csv(tmp_path / "study.csv", index=False)
    config = {"datasets": {"study": {"path": str(tmp_path / "study.csv"), "target": "y", **dataset}}}
    splits = {"evaluation": "leave-group-out", **more}
    with pytest.raises(ConfigError, match=message):
        make_plan({**config, "splits": splits, "selectors": {"all": {"method": "all"}}}, lambda name: name)


def test_the_plan_counts_the_groups_of_a_file_of_which_it_saw_the_head_only(tmp_path):
    rows = "".join(f"{at % 7},{at % 2},{min(at // 20_000, 11)}\n" for at in range(240_000))
    (tmp_path / "long.csv").write_text("x,y,site\n" + rows, encoding="utf-8")
    dataset = {"path": str(tmp_path / "long.csv"), "target": "y", "task": "classification", "groups": "site"}
    asked = {"datasets": {"long": dataset}, "selectors": {"all": {"method": "all"}}, "folds": 0}
    assert not make_plan(asked, lambda name: name).facts["long"].exact
    plan = make_plan(asked | {"splits": {"evaluation": "leave-group-out"}}, lambda name: name)
    assert plan.evaluation_splits("long") == [f"cv-{k}" for k in range(1, 13)]


def test_one_job_cannot_do_the_splits_of_data_sets_that_have_different_ones(tmp_path):
    datasets = {}
    for name, sites in (("four", SITES), ("two", (3, 10))):
        X, y = study(60, sites)
        X.assign(y=y).to_csv(tmp_path / f"{name}.csv", index=False)
        datasets[name] = {"path": str(tmp_path / f"{name}.csv"), "target": "y", "groups": "site"}
    asked = {"datasets": datasets, "splits": {"evaluation": "leave-group-out"}, "folds": 0}
    plan = make_plan({**asked, "selectors": {"all": {"method": "all"}}}, lambda name: name)
    assert plan.grains.n_splits == {"four": 5, "two": 3} and plan.grains.of_selector("four", "all") != "dataset"
    with pytest.raises(ConfigError, match=r"'all' has grain: dataset.*different numbers of splits. Set grain to auto"):
        make_plan({**asked, "selectors": {"all": {"method": "all", "grain": "dataset"}}}, lambda name: name)
