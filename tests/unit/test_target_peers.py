"""Likelihood ratios of kinds of targets equal those of R and statsmodels (studies/target_peers)."""

import json
from pathlib import Path

import numpy as np
import pytest

from blanketflow.ci.clusters import Clusters
from blanketflow.core.column import Column
from blanketflow.core.numerics import efficient_scores
from blanketflow.core.table import Design, Table
from blanketflow.search.confirmation import ratios
from blanketflow.targets import get_target_kind
from blanketflow.targets.count import dispersion_z
from blanketflow.targets.survival import proportional_hazards

STUDY = Path(__file__).parents[2] / "studies/target_peers"
RECORD = json.loads((STUDY / "regressions_recorded.json").read_text(encoding="utf-8"))
KINDS = {
    "survival": ("survival", "time"),
    "tied": ("survival", "time"),
    "late": ("survival", "time"),
    "late-tied": ("survival", "time"),
    "strata": ("survival", "time"),
    "strata-late": ("survival", "time"),
    "poisson": ("count", "y"),
    "negative-binomial": ("count", "y"),
    "large-counts": ("count", "y"),
    "gamma": ("positive", "y"),
    "share": ("share", "y"),
    "ordered": ("ordered", "y"),
}


def null_model(name):
    identifier, own = KINDS[name]
    kind = get_target_kind(identifier)
    columns = {key: Column(key, "numeric", np.array(cells)) for key, cells in RECORD["tables"][name].items()}
    X = np.array([columns.pop(f"x{j}").values for j in (1, 2, 3)])
    X = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
    target = kind.column(name, columns.pop(own), columns)
    return target, kind.null_model(target, X[:1]), X


@pytest.mark.parametrize("fit", RECORD["fits"], ids=lambda fit: f"{fit['table']}-{fit['peer']}")
def test_ratios_equal_those_of_peers(fit):
    target, model, X = null_model(fit["table"])
    found = model.gain(X[1:])[0] if hasattr(model, "gain") else model.likelihood_ratio(X[1:])
    assert found == pytest.approx(fit["ratio"], rel=1e-6, abs=1e-6)
    if fit["dispersion_z"] is not None:
        means = np.exp(model._poisson.linear_predictor())
        assert dispersion_z(target.numbers(), means) == pytest.approx(fit["dispersion_z"], rel=1e-6)


@pytest.mark.parametrize("name", RECORD["martingale_residuals"])
def test_martingale_residuals_equal_those_of_r(name):
    _, model, _ = null_model(name)
    assert model.residuals() == pytest.approx(np.array(RECORD["martingale_residuals"][name]), abs=1e-6)


@pytest.mark.parametrize("name", RECORD["slopes"])
def test_ratios_of_confirmed_members_equal_those_of_r(name):
    target, _, _ = null_model(name)
    columns = RECORD["tables"][name]
    table = Table([Column(x, "numeric", np.array(columns[x])) for x in ("x1", "x2", "x3")])
    found = ratios(table, target, ["x3", "x1", "x2"])
    for x, (slope, error) in RECORD["slopes"][name].items():
        width = 1.959963984540054 * error  # the 97.5 % point of the normal distribution
        ends = np.std(columns[x], ddof=1) * np.array([slope, slope - width, slope + width])
        assert found[x] == pytest.approx(np.exp(ends), rel=1e-5)


@pytest.mark.parametrize("name", RECORD["robust_errors"])
def test_ratios_of_clustered_rows_have_the_errors_of_peers(name):
    """By the covariance of the totals of clusters; the peers do not divide by the clusters less the slopes."""
    target, _, _ = null_model(name)
    columns, clusters = RECORD["tables"][name], np.array(RECORD["clusters"])
    table = Table([Column(x, "numeric", np.array(columns[x])) for x in ("x1", "x2", "x3")])
    found, plain = ratios(table, target, ["x1", "x2", "x3"], clusters), ratios(table, target, ["x1", "x2", "x3"])
    n = len(set(RECORD["clusters"]))
    for x, error in zip(("x1", "x2", "x3"), RECORD["robust_errors"][name], strict=True):
        width = 1.959963984540054 * error * np.sqrt(n / (n - 3)) * np.std(columns[x], ddof=1)
        assert found[x][0] == plain[x][0]
        assert found[x][1:] == pytest.approx(found[x][0] * np.exp([-width, width]), rel=1e-5)


@pytest.mark.parametrize("name", RECORD["proportional_hazards"])
def test_tests_of_proportional_hazards_equal_those_of_r(name):
    target, _, X = null_model(name)
    found = proportional_hazards(target, X, {"x1": [0], "x2": [1], "x3": [2], "GLOBAL": [0, 1, 2]})
    assert {term: statistic for term, (statistic, _) in found.items()} == pytest.approx(
        RECORD["proportional_hazards"][name], rel=1e-5
    )


@pytest.mark.parametrize("one", RECORD["robust"], ids=lambda one: f"{one['table']}-{one['peer']}")
def test_scores_of_clusters_give_the_robust_score_tests_of_peers(one):
    """The sums of the scores over the covariance of their totals in clusters, which are not centred there."""
    target, model, X = null_model(one["table"])
    if one["peer"].endswith("rscore"):
        model = get_target_kind(target.target_kind).null_model(target, X[:0])
    scores = efficient_scores(*model.scores(X[1:]), 2)
    totals = Clusters(Design(clusters=np.array(RECORD["clusters"])), len(X[0])).totals(scores)
    sums = totals.sum(axis=1)
    assert sums @ np.linalg.solve(totals @ totals.T, sums) == pytest.approx(one["statistic"], rel=1e-6)


def test_every_table_has_a_peer():
    assert {fit["table"] for fit in RECORD["fits"]} == set(RECORD["tables"]) == set(RECORD["slopes"]) == set(KINDS)


def test_the_page_has_every_ratio():
    page = (STUDY / "README.md").read_text(encoding="utf-8")
    for fit in RECORD["fits"]:
        assert f"{fit['peer']}: {fit['ratio']:.9g}" in page
    for one in RECORD["robust"]:
        assert f"{one['peer']}: {one['statistic']:.9g}" in page
    for name in RECORD["versions"]:
        assert RECORD["versions"][name].removeprefix("R version ").split(" ")[0] in page
