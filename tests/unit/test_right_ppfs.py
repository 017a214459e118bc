"""The study of PPFS's tests: what it measures, and what follows from it."""

import numpy as np
import pandas as pd
import pytest
import yaml

import blanketflow as bf
from studies.right_ppfs import __main__ as page
from studies.right_ppfs import simulated
from workflow_runs import PROJECT

HAND = pd.DataFrame(
    [
        # data set, selector, score, features kept, seconds of each of 5 searches
        ("a", "all", 0.8, 10, 0.0),
        ("a", "none", 0.5, 0, 0.0),
        ("a", "paper", 0.8, 5, 1.0),
        ("a", "auto", 0.8, 2, 1.0),
        ("b", "all", 0.6, 10, 0.0),
        ("b", "none", 0.5, 0, 0.0),
        ("b", "paper", 0.6, 5, 1.0),
        ("b", "auto", 0.65, 2, 3.0),
        ("c", "paper", 0.1, 5, 9.0),  # not run with all
    ],
    columns=["dataset", "selector", "mean", "n_features", "seconds"],
).assign(metric="accuracy", model="tree", n=100, d=10, n_searches=5, answered=1.0, status="ok")


def test_what_the_config_runs_is_what_is_simulated():
    config = yaml.safe_load((PROJECT / "studies/right_ppfs/tests.yaml").read_text("utf-8"))
    every = yaml.safe_load((PROJECT / "studies/all_methods/all.yaml").read_text("utf-8"))
    assert set(config["selectors"]) == {*simulated.SEARCHES, "all", "none", page.PEER}
    assert config["datasets"] == every["datasets"]
    for name, (kind, options) in simulated.TESTS.items():
        asked = config["selectors"][name]["ci_test"]
        assert config["ci_tests"].get(asked, {"type": asked}) == {"type": kind, **options}
    for name, (of, most_given) in simulated.FEW.items():
        asked = config["selectors"][name]
        assert (asked["ci_test"], asked["most_given"]) == (simulated.TESTS[of][0], most_given)


def table(n: int = 300, d: int = 12) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(n, d))).add_prefix("x")
    for at in range(1, d):
        X[f"x{at}"] += 0.8 * X[f"x{at - 1}"]
    return X, X["x2"] - X["x6"] + X["x9"] + rng.normal(size=n)


@pytest.mark.parametrize("most_given", [1, 2, 3, 50])
def test_ppfs_given_few_tests_each_feature_given_the_strongest_others(most_given):
    X, y = table()
    ppfs = bf.get_selector("studies.right_ppfs.limited:LimitedPPFS", ci_test="fisher-z", most_given=most_given)
    test = bf.get_ci_test("fisher-z").bind(X.assign(y=y))
    standing = list(ppfs.fit(X, y).candidates_)
    for name in standing[::-1]:  # literally
        given = [other for other in standing if other != name][:most_given]
        if given and test.test(name, "y", given=given).p_value > 0.05:
            standing.remove(name)
    assert sorted(ppfs.selected_features_) == sorted(standing)
    assert len(standing) < len(ppfs.candidates_)
    if most_given == 50:
        assert ppfs.selected_features_ == bf.PPFS(ci_test="fisher-z").fit(X, y).selected_features_


def test_nulls_are_measured_once(monkeypatch):
    monkeypatch.setattr(simulated, "SAMPLES", {80: 2})
    monkeypatch.setattr(simulated, "NULLS", {"correlated": None})
    monkeypatch.setattr(simulated, "ALTERNATIVES", {})
    found = pd.DataFrame(simulated.nulls(pd.DataFrame()))
    assert set(found["test"]) == set(simulated.TESTS) - set(simulated.CALIBRATED)
    assert found.set_index("test")["rejected"]["paper"] == 2
    assert not list(simulated.nulls(found))


def test_verdicts_follow_from_the_numbers(monkeypatch):
    monkeypatch.setattr(page, "SEARCHES", ("paper", "auto"))
    rates = pd.DataFrame({"design": "gaussian", "test": ["paper", "auto"], "is_high": [True, False]})
    one = page.verdicts(rates, HAND).loc["auto"]
    assert one["right"] and not one["fast"] and not one["accurate"]  # of two data sets the interval is wide
    assert (one["difference"], one["total"], one["ratio"]) == pytest.approx((0.025, 2.0, 2.0))
    assert (one["better"], one["worse"], one["data sets"]) == (1, 0, 2)
    assert not page.verdicts(rates, HAND).loc["paper", "right"]
