"""Discoveries at a false discovery rate: the procedure, its levels, the effect that is named, and every way in."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import blanketflow as bf
from blanketflow.ci.multiple_testing import BH, BY, rejected, smallest_levels
from blanketflow.cli import main
from blanketflow.core.errors import ParameterError
from blanketflow.selectors.wrappers.discover import effect_found


def table(n, d, n_relevant=4, seed=0):
    """Return independent columns and the sum of the first few with noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d))).add_prefix("x")
    return X, X.iloc[:, :n_relevant].sum(axis=1) * 0.5 + rng.normal(size=n)


@pytest.mark.parametrize(
    ("procedure", "same"),
    [("dcrt", bf.DCRT(alpha=0.1, squares=0.1, weighting=3.0)), ("knockoffs", bf.Knockoffs(q=0.1))],
)
def test_it_is_the_procedure_that_was_asked_for(procedure, same):
    X, y = table(80, 90, n_relevant=15)
    found = bf.Discover(q=0.1, procedure=procedure, random_state=3).fit(X, y)
    expected = same.set_params(random_state=3).fit(X, y)
    assert (found.selected_features_, found.stand_ins_) == (expected.selected_features_, expected.stand_ins_)
    pd.testing.assert_frame_equal(found.discoveries_, expected.discoveries_)
    with pytest.raises(ParameterError, match="procedure"):
        bf.discover(X, y, procedure="lasso")


@pytest.mark.parametrize("correction", [BH, BY])
def test_each_level_of_dcrt_keeps_what_a_search_at_this_level_keeps(correction):
    X, y = table(80, 12, seed=5)
    levels = bf.DCRT(alpha=0.1, correction=correction).fit(X, y).discoveries_
    assert len(levels) > 4
    for level in levels.loc[levels["q"] < 0.99, "q"]:
        at, below = (set(levels.loc[which, "feature"]) for which in (levels["q"] <= level, levels["q"] < level))
        for alpha, kept in ((level * 1.0001, at), (level * 0.9999, below)):
            found = bf.DCRT(alpha=alpha, correction=correction).fit(X, y)
            assert set(found.selected_features_) == kept


@pytest.mark.parametrize("correction", [BH, BY, "bonferroni", "none"])
def test_smallest_levels_are_those_at_which_a_hypothesis_begins_to_be_rejected(correction):
    rng = np.random.default_rng(0)
    for _ in range(50):
        log_p = np.log(rng.random(rng.integers(1, 30)) ** rng.integers(1, 5))
        levels = smallest_levels(log_p, correction)
        for alpha in (0.01, 0.05, 0.2, 0.5, 0.9):
            np.testing.assert_array_equal(levels <= alpha, rejected(log_p, alpha, correction))


@pytest.mark.parametrize(("n", "level"), [(60, 0.05), (400, 0.001)])
def test_the_effect_that_is_named_is_found_four_times_in_five(n, level):
    rho, rng = effect_found(n, level), np.random.default_rng(0)
    x = rng.normal(size=(4000, n))
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=(4000, n))
    x, y = (v - v.mean(axis=1, keepdims=True) for v in (x, y))
    r = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    found = 2 * norm.sf(np.abs(np.arctanh(r)) * np.sqrt(n)) <= level
    assert found.mean() == pytest.approx(0.8, abs=0.025)


def test_an_effect_of_the_square_is_found():
    X, _ = table(400, 20)
    y = X["x3"] ** 2 - X["x8"] + np.random.default_rng(1).normal(size=400)
    assert set(bf.discover(X, y).features) == {"x3", "x8"}


def test_near_copies_are_one_discovery():
    X, y = table(200, 10, n_relevant=2)
    X["copy of x0"] = X["x0"] * 2 + 1
    found = bf.discover(X, y)
    assert len({"x0", "copy of x0"} & set(found.features)) == 1 and "x1" in found.features


def test_times_to_an_event():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 15))).add_prefix("x")
    times, ends = rng.exponential(np.exp(-X["x3"])), rng.exponential(3.0, 300)
    y = pd.DataFrame({"time": np.minimum(times, ends), "event": times <= ends})
    found = bf.discover(X, y, q=0.5, target_kind="survival")
    expected = bf.DCRT(alpha=0.5, squares=0.1, weighting=3.0, target_kind="survival").fit(X, y)
    assert "x3" in found.features and found.features == expected.selected_features_
    pd.testing.assert_frame_equal(found.discoveries, expected.discoveries_)


def test_nothing_is_said_with_the_effect_that_would_have_been_seen():
    X, _ = table(100, 10)
    found = bf.discover(X, np.random.default_rng(9).normal(size=100), q=0.01)
    assert found.features == [] and found.verdict.startswith("No feature is a discovery at q = 0.01.")
    assert f"A partial correlation of {effect_found(100, 0.9 * 0.001):.2f} would have been found" in found.verdict


def test_the_command_says_what_python_says(tmp_path, capsys):
    X, y = table(120, 8, n_relevant=2, seed=4)
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    main(["discover", str(tmp_path / "t.csv"), "--target", "y", "--q", "0.05"])
    said, expected = capsys.readouterr().out, bf.discover(X, y, q=0.05)
    assert expected.verdict in said and all(feature in said for feature in expected.features)
    levels = expected.discoveries
    for feature in levels.loc[(levels["q"] > 0.05) & (levels["q"] <= 0.5), "feature"]:
        assert feature in said.partition("at higher levels")[2]
    main(["discover", str(tmp_path / "t.csv"), "--target", "y", "--q", "0.05", "--json"])
    assert json.loads(capsys.readouterr().out)["verdict"]["discoveries"]["feature"] == [*levels["feature"]]
