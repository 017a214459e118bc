"""The smallest set that loses nothing: what is planted is found, no feature and all are answers, and nothing leaks."""

import math
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import f_classif, f_regression
from sklearn.linear_model import enet_path

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.errors import DataError, ParameterError
from blanketflow.core.limits import LimitReached
from blanketflow.core.table import column_from_array
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.judged.held_out import ALL, NONE, judge, sizes_of
from blanketflow.selectors.judged.pace import Pace
from blanketflow.selectors.judged.portfolio import (
    CONSENSUS,
    MOST_ENTERED,
    N_PENALTIES,
    RANKINGS,
    Rows,
    by_blanket,
    by_lasso,
    rankings,
)
from blanketflow.selectors.wrappers.auto import roles_of


def planted(n=240, d=10, seed=0):
    """Noise, but for two columns of which the target is made."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"noise{j}" for j in range(d)])
    X = X.rename(columns={"noise3": "strong", f"noise{d - 3}": "other"})
    return X, 2 * X["strong"] - 1.5 * X["other"] + 0.3 * rng.normal(size=n)


def test_what_is_planted_is_kept():
    X, y = planted(n=300, d=5)
    for target in (y, np.where(y > 0, "yes", "no")):
        found = bf.Auto().fit(X, target)
        assert {"strong", "other"} <= set(found.selected_features_) and len(found.selected_features_) <= 3
        assert found.verdict_["sentence"].startswith(f"Keep these {len(found.selected_features_)} of 5 features: ")
        assert not found.verdict_["left_out"]


def with_a_slip(at):
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.normal(size=(300, 8)), columns=[f"x{j}" for j in range(8)])
    rows["y"] = rows.x0 + rows.x1 + rng.normal(size=300)
    rows.loc[5, at] = 1e6
    return rows.drop(columns="y"), rows.y


@pytest.mark.parametrize("at", ["x0", "x5", "y"])
@pytest.mark.parametrize("method", ["discover", "ipss", "stability-selection", "hiton-mb"])
def test_one_slip_hides_no_feature_from_other_methods(method, at):
    X, y = with_a_slip(at)
    found = bf.get_selector(method).fit(X, y)
    assert {"x0", "x1"} <= set(found.selected_features_)
    assert ("1 number of y far from all others is clipped" in " ".join(found.notes_)) == (at == "y")


@pytest.mark.parametrize("at", ["x0", "x5", "y"])
def test_one_slip_hides_no_feature_and_spoils_no_score(at):
    answer = bf.select(*with_a_slip(at))
    assert set(answer.features) == {"x0", "x1"}
    assert (answer.scores[["chosen", "all"]] > 0.2).all(axis=None)


def test_no_feature_is_an_answer():
    """Whether a feature is 1 does not depend on the target: in every one of its four combinations half is 1."""
    rows = np.arange(240)
    X = pd.DataFrame({"first": rows // 2 % 2, "second": rows // 4 % 2})
    found = bf.Auto(max_candidates=20).fit(X, np.where(rows % 2, "yes", "no"))
    assert found.selected_features_ == []
    said = found.verdict_["sentence"]
    assert (
        said.startswith("No feature was found to help: with these 240 rows, ")
        and "Without any against all: accuracy 0." in said
    )


@pytest.mark.extended
def test_no_feature_is_the_answer_where_one_has_fewer_errors_by_chance():
    rng = np.random.default_rng([1, 80])
    X, y = rng.normal(size=(80, 15)), np.where(rng.random(80) < 0.5, "yes", "no")
    found = bf.Auto(random_state=1).fit(X, y)
    assert found.selected_features_ == []
    errors = 1 - pd.DataFrame(found.verdict_["alternatives"]).set_index("n_features")["accuracy"]
    assert errors.min() < errors[0] - 0.02


def test_all_features_is_an_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    found = bf.Auto().fit(X, X.sum(axis=1))
    assert len(found.selected_features_) == 4
    assert found.verdict_["sentence"].startswith("Keep all 4 features: ")


def test_held_out_rows_take_no_part_in_the_ranking():
    """Of 150 columns of noise the best on 40 rows look informative; held-out rows say that they are not."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 150)), np.repeat(["a", "b"], 20)
    judged = judge(as_table(X), column_from_array("y", y), 0, 2, 1, Pace(), search=run_fold)
    accuracy = 1 - judged.losses[:, 0].mean(axis=1)
    assert accuracy[judged.sizes > 0].mean() < 0.6
    # Ranked on all rows, the same models find far more than there is.
    order = rankings(Rows(as_table(X), column_from_array("y", y), 0, search=run_fold), ["f-test"])
    order = dict(order)["f-test"][:10]
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    assert cross_val_score(LogisticRegression(), X[:, order], y).mean() > 0.75


def test_the_losses_are_those_of_models_fitted_by_hand():
    X, y = planted(n=210, d=5)
    target = (y > 0).map({True: "yes", False: "no"}).to_numpy()
    judged = judge(as_table(X), column_from_array("y", target), 1, 5, 1, Pace(), search=run_fold)
    whole, none = judged.candidates.index((ALL, 5)), judged.candidates.index((NONE, 0))
    share = np.mean(target == "yes")
    assert judged.losses[none, 0].mean() == pytest.approx(min(share, 1 - share), abs=1e-9)
    assert judged.losses[none, 1].mean() == pytest.approx(share * (1 - share), abs=0.002)
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    by_hand = cross_val_score(LogisticRegression(), X, target).mean()
    assert judged.by_model["linear"][whole] == pytest.approx(by_hand, abs=0.03)


def test_rankings_hold_every_feature_once_and_only_what_is_asked():
    X, y = planted(d=9)
    rows = Rows(as_table(X), column_from_array("y", (y > 0).to_numpy().astype(str)), 0, search=run_fold)
    found = dict(rankings(rows))
    assert set(found) == {*RANKINGS, CONSENSUS}
    assert all(sorted(order) == list(range(9)) for order in found.values())
    assert all({3, 6} == set(order[:2]) for order in found.values())
    for name in RANKINGS:
        (alone,) = rankings(rows, [name])
        assert alone[0] == name and (alone[1] == found[name]).all()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_ranking_by_f_tests_is_that_of_scikit_learn(task):
    X, score = planted(d=12)
    y = np.digitize(score, [-2, 1]).astype(str) if task == "classification" else score.to_numpy()
    found = dict(rankings(Rows(as_table(X), column_from_array("y", y), 0, search=run_fold), ["f-test"]))["f-test"]
    statistics, _ = (f_classif if task == "classification" else f_regression)(X, y)
    assert found.tolist() == np.argsort(-statistics).tolist()


@pytest.mark.parametrize("is_class", [False, True])
def test_the_lasso_ranks_by_the_penalty_at_which_a_feature_enters_and_ends_when_many_have(is_class):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 500))
    y = X[:, :9] @ np.linspace(3, 1, 9) + rng.normal(size=300)
    y = np.digitize(y, [-2, 2]).astype(str) if is_class else y
    order = by_lasso(Rows(as_table(X), column_from_array("y", y), 0))
    unit = X - X.mean(axis=0)
    unit *= np.sqrt(300) / np.linalg.norm(unit, axis=0)
    outcomes = (y[:, None] == np.unique(y)).astype(float) if is_class else y[:, None]
    outcomes = outcomes - outcomes.mean(axis=0)
    outcomes *= np.sqrt(300) / np.linalg.norm(outcomes, axis=0)
    first = np.sqrt(((unit.T @ outcomes) ** 2).sum(axis=1)).max() / 300
    penalties = first * 10.0 ** np.linspace(0, -3, N_PENALTIES)
    _, path, _ = enet_path(unit, outcomes if is_class else outcomes[:, 0], l1_ratio=1.0, alphas=penalties, tol=1e-3)
    seen, ends = set(), 0
    for at in range(N_PENALTIES):
        sizes = np.abs(path[..., at].reshape(-1, 500)).sum(axis=0)
        seen |= set(np.flatnonzero(sizes))
        assert set(order[: len(seen)]) == seen
        ends += 1
        if (sizes > 0).sum() >= MOST_ENTERED:
            break
    assert is_class or ends < N_PENALTIES  # the path did end early
    assert sorted(order) == list(range(500))


def test_large_sets_are_judged_only_where_the_first_rounds_speak_for_them():
    rng = np.random.default_rng(0)
    few, many = rng.normal(size=(240, 70)), rng.normal(size=(400, 70))
    targets = 2 * few[:, :3].sum(axis=1) + rng.normal(size=240), many[:, :60].sum(axis=1) + rng.normal(size=400)
    most = []
    for X, y in zip((few, many), targets, strict=True):
        judged = judge(as_table(X), column_from_array("y", y), 0, 3, 30, Pace(), search=run_fold)
        most.append(max(size for name, size in judged.candidates if name != ALL))
    assert most == [32, 64]


def test_the_features_kept_are_those_that_the_sets_hold_most_often():
    """Each set counts by its chance, in each round with the features that it had there."""
    X, y = planted(n=60, d=7)
    y += 4 * np.random.default_rng(1).normal(size=60)
    features, target, seen = as_table(X), column_from_array("y", y.to_numpy()), []

    def watched(*asked):
        seen.append(dict(rankings(*asked)))
        return list(seen[-1].items())

    with mock.patch("blanketflow.selectors.judged.judged_round.rankings", watched):
        judged = judge(features, target, 0, 4, 1000, Pace(), search=run_fold)
    counts = np.random.default_rng(0).random(len(judged.candidates))
    often, ranks = [0.0] * 7, [0.0] * 7
    for one in seen:
        for (name, size), count in zip(judged.candidates, counts, strict=True):
            for j in range(7) if name == ALL else [] if name == NONE else one[name][:size]:
                often[j] += count / len(seen)
        for order in one.values():
            for j in range(7):
                ranks[j] += math.log(1 + list(order).index(j))
    assert len(seen) == 12 and len({round(value, 9) for value in often}) == 7
    kept, frequency = judged.kept(counts, 3)
    assert kept.tolist() == sorted(range(7), key=lambda j: -often[j])[:3]
    assert frequency == pytest.approx([often[j] for j in kept])
    equal, _ = judged.kept(np.zeros(len(counts)), 7)
    assert [round(ranks[j], 9) for j in equal] == sorted(round(value, 9) for value in ranks)


def test_the_tests_of_its_searches_are_counted():
    X, y = planted(n=200, d=8)
    n_tests, ranked = (
        [],
        Rows(
            as_table(X),
            column_from_array("y", y.to_numpy()),
            0,
            search=run_fold,
            count_tests=lambda n: n_tests.append(n),
        ),
    )
    by_blanket(ranked)
    assert n_tests[0] >= 8  # at least each feature alone
    roles_of(ranked)
    assert len(n_tests) == 2 and n_tests[1] >= 8


def test_its_searches_end_when_its_time_is_over():
    """They stop at their next test: a whole search among many features may take longer than all else."""
    X, y = planted(n=200, d=40)
    calls = []

    def late():
        calls.append(1)
        if len(calls) > 2:
            raise LimitReached("the time is over")

    rows = Rows(as_table(X), column_from_array("y", y.to_numpy()), 0, check_time=late, search=run_fold)
    with pytest.raises(LimitReached, match="the time is over"):
        by_blanket(rows)
    with pytest.raises(LimitReached, match="the time is over"):
        roles_of(rows)
    assert len(calls) < 10


@pytest.mark.parametrize(("d", "most"), [(1, 0), (2, 1), (200, 128), (201, 100), (7129, 3200)])
def test_sizes_stay_below_all_features(d, most):
    assert max(sizes_of(d), default=0) == most


def test_processes_that_share_the_rounds_change_nothing():
    X, y = planted(n=120, d=4)
    alone, shared = (bf.Auto(max_candidates=8, n_jobs=n).fit(X, y) for n in (1, 2))
    assert shared.verdict_ == alone.verdict_ and shared.n_tests_ == alone.n_tests_
    assert shared.trace_.equals(alone.trace_)


def test_fewer_candidates_leave_rankings_out():
    X, y = planted()
    assert len(bf.Auto(max_candidates=8).fit(X, y).verdict_["left_out"]) == len(RANKINGS)


def test_exactly_as_many_as_asked_are_kept_and_they_are_the_best_of_their_number():
    X, y = planted()
    three = bf.Auto(n_features=3).fit(X, y)
    assert len(three.selected_features_) == 3 and {"strong", "other"} < {*three.selected_features_}
    assert "Exactly 3 were to be kept, as asked." in three.verdict_["sentence"]
    assert {*bf.Auto(n_features=40).fit(X, y).selected_features_} == {*X}
    assert len(bf.Auto(n_features=9, time_limit=0.01).fit(X, y).selected_features_) == 9
    noise = np.random.default_rng(3).normal(size=240)
    for asked in ({"n_features": 2}, {"include": ["strong", "other"]}):
        found = bf.Auto(**asked).fit(X, noise)
        assert len(found.selected_features_) == 2 and "No feature was found to help" in found.verdict_["sentence"]
    assert bf.select(X, y, n_features=4).features[:2] == three.selected_features_[:2]
    with pytest.raises(ParameterError, match="Give one of them"):
        bf.Auto(n_features=3, max_features=3).fit(X, y)
    with pytest.raises(ParameterError, match="Give max_features instead"):
        bf.Auto(n_features=3, feature_groups={"pair": ["noise0", "noise1"]}).fit(X, y)


@pytest.mark.extended
def test_roles_are_those_of_a_reliable_search_for_a_blanket():
    """The spouse says nothing of the target alone, and much beside the child."""
    rng = np.random.default_rng(0)
    y, spouse, noise = rng.normal(size=(3, 300))
    X = pd.DataFrame({"noise": noise, "spouse": spouse, "child": y + spouse + 0.2 * rng.normal(size=300)})
    found = bf.Auto(max_candidates=20).fit(X, y)
    assert found.roles_ == {"child": "parent_or_child", "spouse": "spouse"} and found.n_tests_ > 0
    unsure = bf.Auto(max_candidates=20).fit(X[:12], y[:12])  # too few rows for any test given others
    assert set(unsure.roles_.values()) <= {"member"}


@pytest.mark.extended
def test_fewer_features_that_may_do_as_well_are_said():
    X, y = planted(n=60, d=8)
    said = bf.Auto(max_candidates=20).fit(X, y + 3 * np.random.default_rng(1).normal(size=60)).verdict_["sentence"]
    assert "cannot be decided with these 60 rows, so more were kept." in said


def test_of_which_features_one_is_enough_is_said():
    X, y = planted()
    X["strong copy"] = -3 * X["strong"] + 1e-3 * X["noise0"]
    found = bf.select(X, y, time_limit=None)
    assert "One of strong and strong copy is enough." in found.verdict
    assert {row.feature for row in found.stand_ins["strong"]} == {"strong copy"}


def test_too_few_rows_are_refused():
    with pytest.raises(DataError, match="at least 4 rows"):
        bf.Auto().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0])


def test_the_answer_says_why_roles_were_not_found():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=[*"abc"])
    budget = {"rows": 120, "fits": 400}
    y = X["a"] + rng.normal(size=120) > 0
    found = bf.Auto(budget=budget, random_state=0).fit(X, y)
    assert "Roles were not" not in found.verdict_["sentence"]
    short = budget | {"fits": found.verdict_["budget"]["fits"] - 1}
    again = bf.Auto(budget=short, random_state=0).fit(X, y)
    assert again.status_ == "ok" and set(again.roles_.values()) == {"member"}
    assert "Roles were not found: the budget of" in again.verdict_["sentence"]


def test_roles_are_of_a_search_that_follows_bends():
    for seed in range(3):
        z, u, v, w = np.random.default_rng(seed).normal(size=(4, 400))
        found = bf.Auto(max_candidates=20).fit(pd.DataFrame({"x": z**2 + u, "z": z, "w": w}), z**2 + v)
        assert found.roles_["z"] == "parent_or_child"  # z is the cause of both, and no correlation sees it
        assert found.roles_.get("x") != "parent_or_child"


def test_importances_are_inverse_mean_ranks():
    X, y = planted(n=200, d=8)
    features, target = as_table(X), column_from_array("y", y.to_numpy())
    judged = judge(features, target, 0, 4, 1000, Pace(), search=run_fold)
    found = bf.Auto(n_parts=4, max_candidates=1000).fit(X, y)
    assert list(found.importances_) == found.selected_features_ == ["strong", "other"]
    assert found.importances_["strong"] == 1.0  # always the first
    assert found.importances_["other"] == pytest.approx(0.5)
    assert {*np.argsort(judged.log_ranks.mean(axis=0))[:2]} == {3, 5}
