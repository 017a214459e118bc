"""Stability selection: halves by what they must be, shares by a literal count, and the bound where it is attained."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import lars_path, lasso_path

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.errors import DataError, ParameterError, UnreliableWarning, UnsupportedError
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import column_from_array
from blanketflow.search.run_fold import run_problem
from blanketflow.selectors.base import Problem
from blanketflow.selectors.wrappers import stability_selection
from blanketflow.selectors.wrappers.halves import RANKINGS, complementary_halves, needs_test
from blanketflow.selectors.wrappers.lasso_path import first_to_enter
from blanketflow.selectors.wrappers.stability_selection import StabilitySelection, most_selected, worst_case_bound


def table(n=120, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d))).add_prefix("f")
    return X, 2 * X["f1"] - X["f4"] + rng.normal(size=n)


def outcome(X, y, groups=None, seed=7, **options):
    known = as_table(X).with_column(column_from_array("y", np.asarray(y)))
    problem = Problem(list(X.columns), "y", None, seed, lambda: known, None, read_groups=lambda: groups)
    return run_problem(StabilitySelection(**options), problem)


def shares(found):
    return {step.feature: step.importance for step in found.grown}


def test_halves_are_disjoint_and_of_all_rows():
    for n, half in ((20, 10), (21, 10)):
        for first, second in complementary_halves(n, None, 5, seed=1):
            assert len(first) == len(second) == half
            assert not set(first) & set(second)
            assert list(first) == sorted(first)
    drawn = [tuple(first) for first, _ in complementary_halves(20, None, 50, seed=1)]
    assert len(set(drawn)) == 50
    assert drawn[:3] == [tuple(first) for first, _ in complementary_halves(20, None, 3, seed=1)]


def test_every_half_is_equally_likely():
    """Of four rows there are six halves; those balanced by a target are drawn no more often than others."""
    drawn = [tuple(first.tolist()) for first, _ in complementary_halves(4, None, 3000, seed=3)]
    counts = np.array([drawn.count(half) for half in sorted(set(drawn))])
    assert len(counts) == 6
    # Chi-square of 5 degrees of freedom: above 20.5 once in a thousand times.
    assert ((counts - 500) ** 2 / 500).sum() < 20.5


def test_groups_stay_together():
    groups = np.repeat(np.arange(9), [1, 2, 3, 4, 5, 6, 7, 8, 9])
    for first, second in complementary_halves(len(groups), groups, 10, seed=1):
        assert len(set(groups[first])) == len(set(groups[second])) == 4
        assert not set(groups[first]) & set(groups[second])
        for half in (first, second):
            assert np.isin(groups, groups[half]).sum() == len(half)


@pytest.mark.parametrize(
    ("n", "groups", "said"),
    [
        (3, None, "at least 4 rows, but there are 3"),
        (9, np.arange(9) % 3, "at least 4 groups of rows, but there are 3"),
        (9, np.zeros(9), "all are of one group"),
    ],
)
def test_too_few_rows_or_groups_are_refused(n, groups, said):
    with pytest.raises(DataError, match=said):
        next(complementary_halves(n, groups, 1, seed=0))


def test_the_shares_are_a_literal_count():
    """Of standardised numbers the Fisher-Markov selector ranks by the squared correlation."""
    X, y = table()
    counts = dict.fromkeys(X, 0)
    for pair in complementary_halves(len(X), None, 6, seed=7):
        for rows in pair:
            strength = {name: abs(np.corrcoef(X[name].iloc[rows], y.iloc[rows])[0, 1]) for name in X}
            for name in sorted(X, key=lambda name: -strength[name])[:3]:
                counts[name] += 1
    found = outcome(X, y, ranking="fisher-markov", n_features=3, pairs=6, threshold=0.75)
    assert shares(found) == {name: count / 12 for name, count in counts.items() if count}
    assert {d.feature for d in found.decisions if d.kept} == {name for name in X if counts[name] >= 9}
    assert [d.importance for d in found.decisions] == sorted((d.importance for d in found.decisions), reverse=True)


@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_half_selects_what_the_ranking_does_on_these_rows_alone(ranking):
    X, y = table()
    y = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
    options = {"ci_test": "g2"} if needs_test(ranking) else {}
    halves = [rows for pair in complementary_halves(len(X), None, 2, seed=7) for rows in pair]
    fitted = [bf.get_selector(ranking, n_features=3, **options).fit(X.iloc[rows], y[rows]) for rows in halves]
    chosen = [one.selected_features_ for one in fitted]
    found = outcome(X, y, ranking=ranking, n_features=3, pairs=2)
    counted = {name: sum(name in names for names in chosen) / 4 for name in X}
    assert shares(found) == {name: share for name, share in counted.items() if share}
    assert found.n_tests == sum(one.n_tests_ for one in fitted)


def test_features_enter_the_lassos_path_in_the_order_of_least_angle_regression():
    rng = np.random.default_rng(2)
    for n, d in ((80, 6), (30, 60)):
        X = rng.normal(size=(n, d))
        y = X[:, :5] @ [3, 2.5, 2, -1.5, 1] + 0.5 * rng.normal(size=n)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        _, _, path = lars_path(Z, y - y.mean(), method="lasso")
        enters = [int(np.argmax(row != 0)) if row.any() else path.shape[1] for row in path]
        expected = np.argsort(enters, kind="stable")[:4].tolist()
        target = column_from_array("y", y)
        assert first_to_enter(as_table(X), target, 4) == expected
        assert first_to_enter(as_table(X), target, 2) == expected[:2]


def test_classes_and_levels_enter_too_and_constants_never():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"constant": 1.0, "noise": rng.normal(size=90), "site": np.array(list("abc"))[np.arange(90) % 3]})
    for labels in (["yes", "no", "no"], ["yes", "no", "maybe"]):
        target = column_from_array("y", np.array(labels)[np.arange(90) % 3])
        assert first_to_enter(as_table(X), target, 1) == [2]
        assert 0 not in first_to_enter(as_table(X), target, 3)
    assert first_to_enter(as_table(X), column_from_array("y", np.zeros(90)), 3) == []


def test_the_bound_is_attained_by_one_pair_that_must_agree():
    """Of 20 exchangeable features that say nothing each half selects 4: both do with probability 1/25, so 0.8 stay."""
    kept = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(24, 20))).add_prefix("f")
        options = {"ranking": "fisher-markov", "n_features": 4, "pairs": 1, "threshold": 1.0}
        found = outcome(X, rng.normal(size=24), seed=seed, **options)
        kept.append(sum(step.kept for step in found.decisions))
    assert found.verdict["bound"] == worst_case_bound(4, 20, 1.0) == pytest.approx(0.8)
    margin = 4 * np.std(kept) / np.sqrt(len(kept))
    assert margin < 0.25
    assert abs(np.mean(kept) - 0.8) < margin


@pytest.mark.extended
@pytest.mark.parametrize(("threshold", "ranking"), [(0.6, "fisher-markov"), (0.75, "fisher-markov"), (0.75, "lasso")])
def test_with_many_pairs_the_bound_holds(threshold, ranking):
    kept = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(60, 30))).add_prefix("f")
        options = {"ranking": ranking, "n_features": 6, "pairs": 20, "threshold": threshold}
        found = outcome(X, rng.normal(size=60), seed=seed, **options)
        kept.append(sum(step.kept for step in found.decisions))
    bound = found.verdict["bound"]
    assert bound == pytest.approx(36 / ((2 * threshold - 1) * 30))
    assert np.mean(kept) + 3 * np.std(kept) / np.sqrt(40) < bound


def test_the_number_of_features_is_the_largest_that_keeps_the_bound():
    for n in (7, 50, 1000):
        for threshold in (0.6, 0.75, 1.0):
            for bound in (0.001, 0.5, 1.0, 5.0, 1e6):
                fits = [q for q in range(1, n + 1) if q * q / ((2 * threshold - 1) * n) <= bound + 1e-12]
                assert most_selected(bound, n, threshold) == max(fits, default=0)


def test_a_wanted_bound_chooses_the_number_of_features():
    X, y = table(d=50)
    said = bf.StabilitySelection(bound=0.7, pairs=5, ranking="fisher-markov").fit(X, y).verdict_
    assert said["n_features"] == 4 and said["bound"] == pytest.approx(16 / 25)
    assert "at most 0.64 features are kept in expectation" in said["sentence"] and "at most 4/50" in said["sentence"]
    with pytest.raises(
        ParameterError, match=r"bound is 0\.01, but one feature selected on each half of 50 gives 0\.04"
    ):
        bf.StabilitySelection(bound=0.01).fit(X, y)


def test_a_bound_that_limits_nothing_says_so():
    X, y = table()
    with pytest.warns(UnreliableWarning, match="proves nothing here: at most 8 features are kept"):
        bf.StabilitySelection(n_features=4, threshold=0.625, pairs=5).fit(X, y)


def stabl(X, y, pairs=50, seed=7):
    """The literal rule: the largest shares over penalties, and the threshold of the least estimate."""
    n = len(X)
    copies = X.iloc[derive_rng(seed, "shuffled").permutation(n)].add_suffix(" (shuffled)").reset_index(drop=True)
    both = X.join(copies)
    scaled, centred = ((of - of.mean()) / of.std(ddof=0) for of in (both, y))
    penalties = np.geomspace(1, 0.1, 30) * np.abs(scaled.to_numpy().T @ centred.to_numpy()).max() / n
    counts = np.zeros((30, both.shape[1]), dtype=int)
    for halves in complementary_halves(n, None, pairs, seed):
        for half in halves:
            Z, of_y = both.iloc[half], y.iloc[half]
            Z, of_y = (Z - Z.mean()) / Z.std(ddof=0), (of_y - of_y.mean()) / of_y.std(ddof=0)
            counts += (lasso_path(Z.to_numpy(), of_y.to_numpy(), alphas=penalties, tol=1e-4)[1] != 0).T
    most = dict(zip(both, counts.max(axis=0) / (2 * pairs), strict=True))
    best, kept = np.inf, []
    for threshold in sorted({*most.values()} - {0.0}, reverse=True):
        real = [name for name in X if most[name] >= threshold]
        n_copies = sum(most[name] >= threshold for name in copies)
        if real and (1 + n_copies) / len(real) <= best:
            best, kept = (1 + n_copies) / len(real), real
    return {name: most[name] for name in X if most[name]}, kept, best


@pytest.mark.parametrize("seed", range(4))
def test_the_threshold_by_noise_is_that_of_the_literal_rule(seed):
    X, y = table(80, 12, seed)
    expected, kept, estimate = stabl(X, y)
    found = outcome(X, y, threshold=None)
    assert shares(found) == pytest.approx(expected)
    assert {step.feature for step in found.members} == set(kept) >= {"f1", "f4"}
    assert found.verdict["estimate"] == pytest.approx(min(1.0, estimate))
    assert found.status == "ok" if estimate <= 0.5 else "unreliable"


def test_no_more_than_noise_is_unreliable():
    X, _ = table(60, 10)
    found = outcome(X, np.random.default_rng(3).normal(size=60), threshold=None)
    assert found.status == "unreliable" and "hardly more features than shuffled copies" in found.reason


def test_near_copies_are_joined_and_so_are_their_shuffled_copies(monkeypatch):
    """By hand: two copies are selected on half of the halves each, and so are their shuffled copies."""
    X, y = table(100, 5)
    X = X.assign(twin=X["f1"] + 1e-3 * np.random.default_rng(1).normal(size=100))
    halves = itertools.cycle([["f3", "f4", "f1", "f1 (shuffled)"], ["f3", "f4", "twin", "twin (shuffled)"]])
    monkeypatch.setattr(stability_selection, "first_of", lambda *_: next(halves))
    found = outcome(X, y, threshold=None, ranking="jmi", pairs=2)
    # Apart, two features and no copy are on all halves: 1 / 2. Joined, three and one: 2 / 3.
    assert shares(found) == {"f1": 1.0, "f3": 1.0, "f4": 1.0, "twin": 0.5}
    assert {step.feature: step.statistic for step in found.grown} == pytest.approx(
        {"f1": 2 / 3, "f3": 2 / 3, "f4": 2 / 3, "twin": 3 / 4}
    )


def test_an_included_feature_is_selected_at_every_penalty():
    X, y = table(80, 6)
    found = bf.StabilitySelection(threshold=None, include=["f2"]).fit(X, y)
    assert "f2" in found.selected_features_ and found.importances_["f2"] == 1.0


def test_a_number_of_features_is_refused_where_the_lasso_selects_at_penalties():
    X, y = table()
    with pytest.raises(ParameterError, match=r"n_features is 5, but with threshold null .* name another ranking"):
        bf.StabilitySelection(threshold=None, n_features=5).fit(X, y)
    assert bf.StabilitySelection(threshold=None, n_features=5, ranking="jmi").fit(X, y).selected_features_


def test_names_and_groups_of_copies_do_not_clash():
    X, y = table(80, 6)
    X = X.rename(columns={"f0": "f1 (shuffled)"})
    found = bf.StabilitySelection(threshold=None, ranking="jmi").fit(X, y)
    assert {"f1", "f4"} <= set(found.selected_features_) <= set(X)
    grouped = bf.StabilitySelection(threshold=None, feature_groups={"pair": ["f1", "f2"]}).fit(X, y)
    assert {"f1", "f2", "f4"} <= set(grouped.selected_features_) <= set(X)


def test_one_row_twice_is_not_one_row_with_a_weight():
    X, y = table()
    with pytest.raises(UnsupportedError, match="stability-selection draws, permutes or compares single rows"):
        bf.StabilitySelection(n_features=2).fit(X, y, sample_weight=np.full(len(X), 2))


@pytest.mark.parametrize("ranking", ["lasso", "relief", "mim"])
def test_an_included_feature_is_among_the_first_of_every_half(ranking):
    X, y = table()
    found = bf.StabilitySelection(ranking=ranking, n_features=2, pairs=5, include=["f7"]).fit(X, y)
    assert set(found.selected_features_) == {"f1", "f7"}
    assert found.roles_["f7"] == "included" and found.importances_["f7"] == 1.0
    # It takes one of the two places: all halves together select 20.
    assert found.trace_.query("stage == 'grow'")["importance"].sum() == pytest.approx(2)
