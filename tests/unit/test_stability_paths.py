"""Stability paths: counted literally, drawn, and on the page of a run."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.errors import ParameterError
from blanketflow.reporting.plots import stability_paths
from blanketflow.reporting.report.figures import charts
from blanketflow.selectors.wrappers.stability_paths import MOST_PATHS, MOST_POINTS, Places


@pytest.fixture(scope="module")
def table():
    X = pd.DataFrame(np.random.default_rng(5).normal(size=(80, 8)), columns=list("abcdefgh"))
    return X, X["b"] - X["f"] + 0.3 * np.random.default_rng(6).normal(size=80)


def test_paths_are_the_shares_of_fits_with_fewer_features(table):
    asked = {"pairs": 4, "ranking": "relief", "threshold": 0.75}
    paths = bf.StabilitySelection(n_features=4, **asked).fit(*table).verdict_["paths"]
    assert paths["n_features"] == [1, 2, 3, 4] and paths["threshold"] == 0.75
    for at, size in enumerate(paths["n_features"]):
        found = bf.StabilitySelection(n_features=size, **asked).fit(*table)
        shares = dict(zip(found.trace_["feature"], found.trace_["statistic"], strict=True))
        for feature, path in paths["shares"].items():
            assert path[at] == shares.get(feature, 0.0)


def test_paths_of_many_features_are_short():
    places, features = Places(200), [f"x{j}" for j in range(300)]
    for seed in range(3):
        places.add(np.random.default_rng(seed).permutation(300)[:200].tolist())
    paths = places.paths(3, features, list(range(300)), 0.6)
    assert len(paths["shares"]) == MOST_PATHS and len(paths["n_features"]) == MOST_POINTS
    assert paths["n_features"][0] == 1 and paths["n_features"][-1] == 200
    assert all(np.all(np.diff(path) >= 0) for path in paths["shares"].values())


def test_the_chart_has_a_line_a_feature_and_names_the_kept(table):
    found = bf.StabilitySelection(n_features=3, pairs=4).fit(*table)
    drawn = found.plot(paths=True).to_dict()
    rows = [row for data in drawn["datasets"].values() for row in data]
    lines = {row["feature"] for row in rows if "share" in row and "feature" in row}
    assert lines == set(found.verdict_["paths"]["shares"])
    assert {row["feature"] for row in rows if "place" in row} == set(found.selected_features_)
    with pytest.raises(ParameterError, match="only StabilitySelection and IPSS have paths"):
        bf.MIM(n_features=1).fit(*table).plot(paths=True)


def test_the_chart_of_ipss_names_the_kept(table):
    found = bf.IPSS(pairs=10, q=0.3).fit(*table)
    drawn = found.plot(paths=True).to_dict()
    rows = [row for data in drawn["datasets"].values() for row in data]
    assert {row["feature"] for row in rows if "place" in row} == set(found.selected_features_)
    assert {row["feature"] for row in rows if row.get("kind") == "not kept"}


def test_names_do_not_cover_each_other():
    shares = {"a": [0.0, 0.91], "b": [0.5, 1.0], "c": [0.7, 1.0]}  # as metadata have them, by name
    drawn = stability_paths({"n_features": [1, 2], "shares": shares, "threshold": 0.9}, list("abc")).to_dict()
    places = {row["feature"]: row["place"] for data in drawn["datasets"].values() for row in data if "place" in row}
    assert places == pytest.approx({"c": 1.0, "b": 1.0 - 14 / 300, "a": 1.0 - 28 / 300})


def test_the_report_of_a_run_draws_them(table):
    asked = {"method": "stability-selection", "n_features": 3, "pairs": 3, "folds": 0}
    run = bf.compare(*table, {"stable": asked, "all": {"method": "all"}}, models=["tree"], evaluation=2).run
    assert [ids for ids, told in run.told.items() if "paths" in told] == [("table", "stable")]
    assert "table/stability-paths/stable" in charts(run)
