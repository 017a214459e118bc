"""Which features could stand in for the members of an answer, and how sure that is."""

from functools import partial
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.ci import get_ci_test
from blanketflow.cli import main
from blanketflow.core.column_checks import clusters_of_copies
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ParameterError
from blanketflow.core.results import StandIn
from blanketflow.moves.steps import Step
from blanketflow.search.aggregate import aggregate
from blanketflow.selectors.stand_ins import _informations, share_kept, stand_ins_of


def true_share(correlation):
    """The share of X's information about T = 0.8 X + e, Var(e) = 0.5, that F of this correlation with X keeps."""
    covariance = np.array([[1, correlation, 0.8], [correlation, 1, 0.8 * correlation], [0.8, 0.8 * correlation, 1.14]])
    alone = covariance[0, 2] ** 2 / covariance[2, 2]
    precision = np.linalg.inv(covariance)
    left = precision[0, 2] ** 2 / (precision[0, 0] * precision[2, 2])
    return 1 - np.log(1 - left) / np.log(1 - alone)


def drawn(rng, n, correlation):
    x, other, e = rng.normal(size=(3, n))
    return np.column_stack([x, correlation * x + np.sqrt(1 - correlation**2) * other, 0.8 * x + np.sqrt(0.5) * e])


@pytest.mark.parametrize("n", [100, pytest.param(1000, marks=pytest.mark.extended)])
@pytest.mark.parametrize("correlation", [0.9, 0.99])
def test_the_interval_holds_the_true_share(correlation, n):
    rng, held, shares = np.random.default_rng(n), 0, []
    for _ in range(200):
        bound = get_ci_test("fisher-z").bind(drawn(rng, n, correlation))
        share, low, high = share_kept(*_informations(bound, [bound.test(0, 2, given) for given in ([1], [])]))
        assert 0 <= low <= share <= high <= 1
        held += low <= true_share(correlation) <= high
        shares.append(share)
    assert held >= 182  # at a coverage of 95 % it is fewer in one of 500
    assert np.mean(shares) == pytest.approx(true_share(correlation), abs=0.02)


def literal_share(frame, x, f, y, given=()):
    """1 - I(X;T|C,F) / I(X;T|C) from the frequencies of labels, each information less its degrees of freedom / 2n."""

    def corrected(columns):
        total, dof = 0.0, 0
        for _, part in frame.groupby(list(columns)) if columns else [((), frame)]:
            counts = pd.crosstab(part[x], part[y]).to_numpy()
            expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
            total += np.sum(counts[counts > 0] * np.log(counts[counts > 0] / expected[counts > 0]))
            dof += (counts.shape[0] - 1) * (counts.shape[1] - 1)
        return max(total - dof / 2, 0.0)

    return 1 - corrected([*given, f]) / corrected(list(given))


def test_shares_of_labels_are_those_of_their_frequencies():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, 2000), rng.integers(0, 2, 2000)
    near = np.where(rng.random(2000) < 0.97, a, rng.integers(0, 3, 2000))
    y = (rng.random(2000) < 1 / (1 + np.exp(-(2.5 * (a == 2) + b - 1.2)))).astype(int)
    frame = pd.DataFrame({"a": a, "near": near, "b": b, "y": y}).astype(str)
    bound = get_ci_test("g2").bind(frame)
    found = stand_ins_of(bound, "y", ["a", "near", "b"], [Step("a", importance=2.0), Step("b", importance=1.0)])
    ((row,),) = found.values()
    assert row.feature == "near"
    assert row.share == pytest.approx(literal_share(frame, "a", "near", "y", ["b"]), abs=1e-9)
    assert 0.85 < row.share < 0.99


@pytest.fixture
def copies():
    rng = np.random.default_rng(0)
    celsius, wind, noise, e = rng.normal(size=(4, 300))
    X = pd.DataFrame({"zeta": celsius, "fahrenheit": 1.8 * celsius + 32, "wind": wind, "noise": noise})
    return X, celsius + wind + 0.3 * e


SELECTORS = [
    *(bf.HITONMB(), bf.STMB(), bf.FastIAMB(), bf.GS(), bf.PPFS(n_repeats=10), bf.MMPC()),
    *(bf.MRMR(n_features=2), bf.JMI(n_features=2), bf.Relief(n_features=3), bf.FisherMarkov(), bf.Stepwise()),
    *(bf.HSMB(), bf.Knockoffs(q=0.5), bf.KollerSahami(n_features=2)),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
def test_every_method_names_the_copy(copies, selector):
    X, y = copies
    y = np.where(y > 0, "high", "low") if isinstance(selector, bf.FisherMarkov) else y
    selector.fit(X, y)
    kept = set(selector.selected_features_) & {"zeta", "fahrenheit"}
    for name in kept:
        (row,) = selector.stand_ins_[name]
        assert {name, row.feature} == {"zeta", "fahrenheit"}
        assert (row.share, row.low, row.high) == (1.0, 1.0, 1.0)
    assert all(not rows for name, rows in selector.stand_ins_.items() if name not in kept)
    assert selector.stand_ins_.keys() == set(selector.selected_features_)


@pytest.mark.parametrize("selector", [bf.HITONMB(), bf.FastIAMB(), bf.Stepwise()], ids=lambda s: type(s).__name__)
def test_of_equals_the_first_by_name_is_kept(copies, selector):
    X, y = copies
    for names in (list(X), list(X)[::-1]):
        assert set(selector.fit(X[names], y).selected_features_) == {"fahrenheit", "wind"}
    assert set(selector.fit(X.rename(columns={"zeta": "celsius"}), y).selected_features_) == {"celsius", "wind"}
    assert "zeta" in selector.set_params(include=["zeta"]).fit(X, y).selected_features_


def test_stand_ins_cost_no_tests_that_count(copies):
    X, y = copies
    alone = bf.HITONMB().fit(X.drop(columns="fahrenheit"), y)
    assert alone.stand_ins_ == {"wind": [], "zeta": []}
    assert bf.HITONMB(max_tests=alone.n_tests_).fit(X.drop(columns="fahrenheit"), y).status_ == "ok"


def copy(member, of, low=0.9):
    return Step(member, importance=1.0, stand_ins=(StandIn(of, 0.99, low, 1.0),))


def test_a_fold_that_holds_one_of_two_copies_votes_for_both():
    folds = [[copy("a", "a2"), Step("b")], [copy("a2", "a")], [copy("a", "a2"), Step("c")], [copy("a2", "a")]]
    combined = aggregate(folds, {"frequency": 0.75})
    by_name = {row["feature"]: row for row in combined.features}
    assert [name for name, row in by_name.items() if row["chosen"]] == ["a"]  # as often as a2, and first by name
    assert by_name["a"]["frequency"] == by_name["a2"]["frequency"] == 1.0
    assert by_name["a"]["stand_ins"] == (StandIn("a2", 0.99, 0.9, 1.0),)
    assert combined.z == [2.5, 4.0, 2.5, 4.0]


def test_votes_that_are_not_sure_do_not_count_for_another():
    folds = [[copy("a", "a2", low=0.5)], [copy("a2", "a", low=0.5)]]
    assert {row["feature"]: row["frequency"] for row in aggregate(folds).features} == {"a": 0.5, "a2": 0.5}


def test_copies_that_a_fold_holds_together_stay_together():
    folds = [[copy("a", "a2"), copy("a2", "a")], [copy("a", "a2"), copy("a2", "a")]]
    chosen = [row["feature"] for row in aggregate(folds, {"frequency": 1.0}).features if row["chosen"]]
    assert chosen == ["a", "a2"]
    assert [row["feature"] for row in aggregate(folds, "union").features if row["chosen"]] == ["a", "a2"]


def test_with_folds_two_copies_do_not_split_the_votes(copies):
    X, y = copies
    near = X.assign(fahrenheit=X["fahrenheit"] + 0.05 * np.random.default_rng(1).normal(size=len(X)))
    found = bf.IAMB(n_folds=5, fold_rows="part", aggregate={"frequency": 0.8}).fit(near, y)
    assert set(found.selected_features_) & {"zeta", "fahrenheit"}
    assert len({"zeta", "fahrenheit"} & set(found.selected_features_)) == 1
    assert found.frequencies_["wind"] == 1.0


def near_copies(seed, n_copies, n, d):
    rng = np.random.default_rng(seed)
    a, b, e = rng.normal(size=(3, n))
    near = {f"near{i}": 2 * a + 0.1 * rng.normal(size=n) for i in range(n_copies)}
    return pd.DataFrame({**near, "b": b, **{f"noise{i}": rng.normal(size=n) for i in range(d)}}), a + b + 0.3 * e


@pytest.mark.parametrize("ranking", ["lasso", "mrmr"])
def test_stability_selection_counts_near_copies_together(ranking):
    for seed in range(3):  # mrmr has each copy among the first of a third of the halves
        X, y = near_copies(seed, 3, 300, 27)
        found = bf.StabilitySelection(ranking=ranking, pairs=25).fit(X, y)
        (kept,) = set(found.selected_features_) - {"b"}
        assert kept.startswith("near") and len(found.selected_features_) == 2
        assert {row.feature for row in found.stand_ins_[kept]} == {f"near{i}" for i in range(3)} - {kept}


def test_permutation_importance_takes_near_copies_as_one_feature():
    for seed in range(3):  # permuting one of six copies costs little, since a model has the others
        X, y = near_copies(seed, 6, 150, 3)
        found = bf.PermutationImportance(importance="permutation").fit(X, y)
        assert "b" in found.selected_features_
        assert any(name.startswith("near") for name in found.selected_features_)


def test_permutation_importance_keeps_a_copy_where_it_keeps_the_only_one():
    kept = []
    for seed in range(8):  # most splits of a forest are of the copies, whatever the target is
        a, b, noise, e = np.random.default_rng(seed).normal(size=(4, 100))
        X = pd.DataFrame({**{f"near{i}": 1.8 * a + 32 for i in range(10)}, "b": b, "noise": noise})
        alone, found = (bf.PermutationImportance().fit(X[names], a + b + 0.3 * e) for names in (X.columns[9:], list(X)))
        kept.append("near9" in alone.selected_features_)
        assert any(name.startswith("near") for name in found.selected_features_) >= kept[-1]
    assert sum(kept) >= 4


def test_near_copies_are_found_among_numbers_and_labels():
    rng = np.random.default_rng(0)
    a, code = rng.normal(size=100), rng.integers(0, 4, 100)
    names = {"code": code.astype(str), "name": np.array(["z", "y", "x", "w"])[code]}
    X = pd.DataFrame({"a": a, "b": rng.normal(size=100), "near": -a + 1e-3 * rng.normal(size=100), **names})
    X["other"] = rng.permutation(X["code"])
    assert clusters_of_copies(as_table(X), list(X)) == [[0, 2], [3, 4]]


@pytest.fixture(scope="module")
def units():
    rng = np.random.default_rng(3)
    celsius, wind, noise, blur = rng.normal(size=(4, 400))
    units = {"celsius": celsius, "fahrenheit": 1.8 * celsius + 32, "near": celsius + 0.05 * blur}
    X = pd.DataFrame({**units, "wind": wind})
    return X, pd.Series(celsius + wind + 0.3 * noise, name="ice")


METHODS_WITH_EQUALS = [bf.HITONMB, bf.IAMB, bf.GS, bf.STMB, bf.Stepwise, partial(bf.MRMR, n_features=2)]


@pytest.mark.parametrize("selector", METHODS_WITH_EQUALS)
def test_of_stand_ins_the_cheapest_is_kept(units, selector):
    X, y = units
    chosen = selector(costs={"celsius": 40, "fahr*": 5.5}).fit(X, y).selected_features_
    assert "near" in chosen and "celsius" not in chosen
    assert "fahrenheit" in selector(costs={"celsius": 40, "near": 41, "fahr*": 5}).fit(X, y).selected_features_


@pytest.mark.parametrize("selector", METHODS_WITH_EQUALS)
def test_the_stand_ins_of_what_is_taken_instead_are_its_own(units, selector):
    X, y = units
    found = selector(costs={"celsius": 40, "fahrenheit": 5}).fit(X, y)
    (share,) = (row.share for row in found.stand_ins_["near"] if row.feature == "celsius")
    assert 0.9 < share <= 1
    alone = selector(exclude=["celsius", "fahrenheit"]).fit(X, y)
    assert set(found.selected_features_) == set(alone.selected_features_)


@pytest.mark.parametrize("missing", ["impute", "drop"])
@pytest.mark.parametrize("selector", [bf.HITONMB, bf.IAMB, bf.GS, bf.STMB])
def test_of_equals_the_one_with_fewer_missing_cells_is_kept(units, selector, missing):
    X, y = units
    X = X.drop(columns="near").copy()
    X.loc[:3, "celsius"] = np.nan
    asked = {"missing": missing, "costs": {"fahrenheit": 40}}
    assert "fahrenheit" in selector(**asked).fit(X, y).selected_features_
    X.loc[:30, "fahrenheit"] = np.nan
    assert "celsius" in selector(missing=missing).fit(X, y).selected_features_


def test_every_way_in_takes_costs_and_counts_missing_cells(units, tmp_path, capsys):
    X, y = units
    X, costs = X.drop(columns="near"), {"celsius": 40}
    path = tmp_path / "ice.csv"
    X.assign(ice=y).to_csv(path, index=False)
    assert main(["select", str(path), "--target", "ice", "--method", "hiton-mb", "--set", "costs={celsius: 40}"]) == 0
    assert "One of fahrenheit and celsius is enough." in capsys.readouterr().out
    found = bf.select(X, y, costs=costs)
    assert "fahrenheit" in found.features and "Keep these 2 of 3 features: wind, fahrenheit." in found.verdict
    assert [row.feature for row in found.stand_ins["fahrenheit"]] == ["celsius"]
    compared = bf.compare(X, y, ["hiton-mb"], models=["tree"], evaluation=2, folds=0, costs=costs)
    assert set(compared.blanket("hiton-mb")) == {"fahrenheit", "wind"}
    X.loc[:3, "celsius"] = np.nan
    for missing in ("impute", "drop"):
        compared = bf.compare(X, y, ["hiton-mb"], models=["tree"], evaluation=2, folds=0, missing=missing)
        assert set(compared.blanket("hiton-mb")) == {"fahrenheit", "wind"}
    X.assign(ice=y).to_csv(path, index=False)
    assert main(["select", str(path), "--target", "ice", "--method", "hiton-mb", "--data-set", "missing=drop"]) == 0
    assert "One of fahrenheit and celsius is enough." in capsys.readouterr().out


@pytest.mark.parametrize(
    "costs, message",
    [
        ({"celcius": 3}, "costs names 'celcius', which is not a feature. Did you mean 'celsius'"),
        ({"celsius": -1}, "must be a mapping of names to numbers of at least 0"),
        ({"celsius": float("inf")}, "must be a mapping of names to numbers of at least 0"),
        (["celsius"], "must be a mapping of names to numbers of at least 0"),
    ],
)
def test_wrong_costs_are_refused(units, costs, message):
    with pytest.raises(ParameterError, match=message):
        bf.HITONMB(costs=costs).fit(*units)


@pytest.mark.parametrize("selector", [bf.HITONMB, bf.Auto, partial(bf.StabilitySelection, n_features=2)])
def test_a_time_limit_changes_no_stand_ins(copies, selector):
    free, limited = (selector(time_limit=limit).fit(*copies).stand_ins_ for limit in (None, 60))
    assert free == limited and any(free.values())


@pytest.mark.parametrize("method", ["hiton-mb", "auto", "stability-selection"])
def test_the_command_line_says_once_of_which_features_one_is_enough(copies, method, tmp_path, capsys):
    path = tmp_path / "copies.csv"
    copies[0].assign(y=copies[1]).to_csv(path, index=False)
    own = ["--set", "n_features=2"] if method == "stability-selection" else []
    assert main(["select", str(path), "--target", "y", "--method", method, *own]) == 0
    assert capsys.readouterr().out.count("One of fahrenheit and zeta is enough.") == 1


def test_auto_looks_for_them_once(units):
    X, y = units
    with mock.patch("blanketflow.search.stages.with_stand_ins", side_effect=AssertionError):
        found = bf.select(X.drop(columns="near"), y)
    assert [row.feature for row in found.stand_ins["celsius"]] == ["fahrenheit"]
