"""Stepwise: hand-worked scores, the loop written out, scikit-learn's and mlxtend's sequential selection."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import blanketflow as bf
from blanketflow.config.reading import read_config
from blanketflow.core.errors import ConfigError, DataError, ParameterError, UnknownNameError, UnsupportedError
from blanketflow.core.limits import NO_LIMITS, Limits
from blanketflow.core.rows import balanced_parts
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import Column, Table
from blanketflow.models import get_model
from blanketflow.moves.steps import Step
from blanketflow.search.run_fold import fold_seed, run_fold
from blanketflow.search.stages import run_shrink
from blanketflow.selectors.base import Problem
from blanketflow.selectors.wrappers.stepwise import Stepwise, Worth

LINEAR = "sklearn.linear_model:LinearRegression"
BAYES = "sklearn.naive_bayes:GaussianNB"


def stepwise(**options):
    return bf.get_selector("stepwise", **options)


def moves(fitted, stage):
    """Return the decisions of a stage: +feature or -feature."""
    rows = fitted.trace_.query("stage == @stage")
    return [("+" if kept else "-") + feature for feature, kept in zip(rows["feature"], rows["kept"], strict=True)]


def splits(y, n_splits=5, seed=0):
    """The parts of the cross-validation: the one thing that is shared with the library."""
    parts = balanced_parts(y, n_splits, derive_rng(fold_seed(seed, "0"), "stepwise"))
    return [(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in range(n_splits)]


def suppressed(seed, n=120, d=8):
    """Return columns of which x2 is a noisy sum of x0 and x1: the best alone, and of no use beside both."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 2] = X[:, 0] + X[:, 1] + rng.normal(size=n)
    return X, X[:, 0] + X[:, 1] + 0.4 * rng.normal(size=n)


# --- by hand --------------------------------------------------------------------------------------------------------


class Nameless(RegressorMixin, BaseEstimator):
    """A model that learns which columns it has: each begins with a power of two."""

    def fit(self, X, y):
        """Learn the names."""
        self.names_ = "".join("abcd"[int(np.log2(code))] for code in X[0])
        return self

    def predict(self, X):
        """Predict nothing."""
        return np.zeros(len(X))


def told(scores, features="abcd", **options):
    """Run grow and shrink where a model of a and b scores scores["ab"], and of columns that are not there 0."""
    table = Table([Column(name, "numeric", 2.0 ** "abcd".index(name) + np.arange(20) / 100) for name in features])

    def score(fitted, X, y):
        return scores.get(getattr(fitted, "names_", ""), 0.0)

    method = Stepwise(model=Nameless(), scoring=score, **options)
    return run_fold(method, None, table, Column("y", "numeric", np.arange(20.0)), 0, finds_stand_ins=False)


def signed(steps):
    return [("+" if s.kept else "-") + s.feature for s in steps]


#: c is the best alone; with a and b it is of no use.
SCORES = {"a": 0.3, "b": 0.3, "c": 0.5, "ac": 0.6, "bc": 0.6, "ab": 0.8, "abc": 0.8}


def test_by_hand():
    # c (0.5), then a, the first of two (0.6), then b (0.8); without c still 0.8, so c leaves; d never pays.
    outcome = told(SCORES, "abcd")
    assert signed(outcome.grown) == ["+c", "+a", "+b", "-c"]
    assert [s.statistic for s in outcome.grown] == pytest.approx([0.5, 0.6, 0.8, 0.8])
    assert [s.importance for s in outcome.grown] == pytest.approx([0.5, 0.1, 0.2, 0.0])
    assert [s.given for s in outcome.grown] == [(), ("c",), ("c", "a"), ("a", "b")]
    assert signed(outcome.decisions) == ["+a", "+b"]
    assert [s.importance for s in outcome.decisions] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    ("tolerance", "grown"),
    [
        (0.0, ["+c", "+a", "+b", "-c"]),
        (0.05, ["+c", "+a", "+b", "-c"]),
        (0.1, ["+c"]),  # a adds 0.1, and has to be worth more
        (0.45, ["+c"]),
        (0.5, []),
    ],
)
def test_a_feature_has_to_be_worth_more_than_the_tolerance(tolerance, grown):
    assert signed(told(SCORES, "abcd", tolerance=tolerance).grown) == grown


def test_a_feature_leaves_that_is_worth_no_more_than_the_tolerance():
    # b and c are worth 0.2 together with a, and 0.05 each beside the other two: c, the earlier one, may leave.
    scores = {"c": 0.5, "a": 0.2, "b": 0.2, "ac": 0.7, "bc": 0.6, "ab": 0.75, "abc": 0.8}
    assert signed(told(scores, "abc", tolerance=0.05).grown) == ["+c", "+a", "+b", "-c"]
    assert signed(told(scores, "abc", tolerance=0.04).grown) == ["+c", "+a", "+b"]


def test_most_features():
    assert signed(told(SCORES, "abcd", max_features=1).grown) == ["+c"]
    assert signed(told(SCORES, "abcd", max_features=2).grown) == ["+c", "+a"]
    # The third may come, as one leaves then; d, for which there is room, may come after it.
    assert signed(told(SCORES, "abcd", max_features=3).grown) == ["+c", "+a", "+b", "-c"]
    more = SCORES | {"abd": 0.9}
    assert signed(told(more, "abcd", max_features=3).grown) == ["+c", "+a", "+b", "-c", "+d"]


def problem_of(X, y, limits=NO_LIMITS):
    table = Table([Column(f"x{j}", "numeric", X[:, j]) for j in range(X.shape[1])])
    with_target = table.with_column(Column("y", "numeric", y))
    return Problem(table.names, "y", None, 0, lambda: with_target, lambda table: None, limits)


def test_the_last_check_removes_from_any_candidates():
    # As where a limit stopped grow: what has become superfluous is still there.
    X = np.random.default_rng(0).normal(size=(60, 3))
    decided = list(Stepwise(model=LINEAR).shrink(problem_of(X, X[:, 1]), [Step(f"x{j}") for j in range(3)]))
    assert sorted(signed(decided)[:2]) == ["-x0", "-x2"] and signed(decided)[2:] == ["+x1"]


@pytest.mark.parametrize("seed", range(12))
def test_no_set_is_met_twice(seed):
    # Any scores at all, and any tolerance: what a set is worth rises, or stays while the set shrinks.
    rng = np.random.default_rng(seed)
    sets = ["".join(c) for k in range(1, 5) for c in combinations("abcd", k)]
    scores = dict(zip(sets, rng.choice([0.0, 0.1, 0.2, 0.3, 0.35, 0.5], len(sets)), strict=True))
    tolerance = float(rng.choice([0.0, 0.05, 0.1, 0.2]))
    outcome = told(scores, "abcd", tolerance=tolerance)
    members, met, worth = frozenset(), [frozenset()], [0.0]
    for step in outcome.grown:
        members = members | {step.feature} if step.kept else members - {step.feature}
        score = next((s for names, s in scores.items() if frozenset(names) == members), 0.0)
        worth.append(round(score - tolerance * len(members), 12))
        assert step.statistic == pytest.approx(score)
        assert worth[-1] > worth[-2] if step.kept else worth[-1] >= worth[-2]
        met.append(members)
    assert len(set(met)) == len(met)
    # No one move pays any more, and so the final check finds nothing to remove.
    assert {s.feature for s in outcome.decisions if s.kept} == members
    assert all(s.kept for s in outcome.decisions)


# --- against other tools --------------------------------------------------------------------------------------------


def literal(X, y, model, prior, scoring, tolerance, max_features=None, seed=0):
    """Return the moves of grow by cross_val_score, each score computed anew."""
    cv = splits(y, seed=seed)

    def worth(members):
        columns = X[:, sorted(members)] if members else X[:, :1]
        scores = cross_val_score(clone(model if members else prior), columns, y, scoring=scoring, cv=cv)
        return round(scores.mean() - tolerance * len(members), 12)

    members, made = [], []
    while max_features is None or len(members) < max_features:
        gains = [(worth([*members, j]), -j) for j in range(X.shape[1]) if j not in members]
        if not gains or max(gains)[0] <= worth(members):
            break
        members.append(-max(gains)[1])
        made.append(f"+x{members[-1]}")
        while members:
            rests = [(worth([i for i in members if i != j]), -k, j) for k, j in enumerate(members)]
            if max(rests)[0] < worth(members):
                break
            members.remove(max(rests)[2])
            made.append(f"-x{max(rests)[2]}")
    return made, sorted(members)


@pytest.mark.parametrize(("seed", "tolerance"), [(0, 0.0), (1, 0.02)])
def test_the_loop_written_out_for_numbers(seed, tolerance):
    X, y = suppressed(seed)
    fitted = stepwise(model=LINEAR, tolerance=tolerance, random_state=seed).fit(X, y)
    made, members = literal(X, y, LinearRegression(), DummyRegressor(), "r2", tolerance, seed=seed)
    assert moves(fitted, "grow") == made
    assert fitted.get_support(indices=True).tolist() == members
    assert "-x2" in made


@pytest.mark.parametrize(
    "scoring",
    ["auto", "neg_log_loss", *(pytest.param(s, marks=pytest.mark.extended) for s in ("accuracy", "balanced_accuracy"))],
)
def test_the_loop_written_out_for_classes(scoring, seed=0):
    X, y = suppressed(seed)
    y = np.digitize(y, [-0.8, 0.8])
    fitted = stepwise(model=BAYES, scoring=scoring, random_state=seed).fit(X, y)
    named = "accuracy" if scoring == "auto" else scoring
    made, members = literal(X, y, GaussianNB(), DummyClassifier(), named, 0.01, seed=seed)
    assert moves(fitted, "grow") == made
    assert fitted.get_support(indices=True).tolist() == members


@pytest.mark.parametrize("kind", ["numbers", "ties", "classes"])
def test_the_loop_written_out_for_neighbours(kind, seed=3):
    X, y = suppressed(seed)
    X = np.round(X) if kind == "ties" else X
    y = np.digitize(y, [-0.8, 0.8]) if kind == "classes" else y
    fitted = stepwise(tolerance=0.0, random_state=seed).fit(X, y)
    task, prior, scoring = "regression", DummyRegressor(), "r2"
    if kind == "classes":
        task, prior, scoring = "classification", DummyClassifier(), "accuracy"
    made, members = literal(X, y, get_model("knn").build(task, 0), prior, scoring, 0.0, seed=seed)
    assert moves(fitted, "grow") == made and len(made) > 1
    assert fitted.get_support(indices=True).tolist() == members


def test_a_few_features_at_a_time_are_the_same(monkeypatch):
    X, y = suppressed(4)
    whole = stepwise(random_state=4).fit(X, y)
    monkeypatch.setattr("blanketflow.selectors.wrappers.stepwise.CELLS", 300)  # two sets of features
    assert moves(stepwise(random_state=4).fit(X, y), "grow") == moves(whole, "grow") != []


def test_features_of_many_levels_fill_no_larger_matrix(monkeypatch):
    rng, columns, cells = np.random.default_rng(0), Worth._columns, []
    X = pd.DataFrame({f"c{j}": [f"l{level}" for level in rng.integers(0, 10, 60)] for j in range(8)})

    def measured(worth, sets):
        found = columns(worth, sets)
        cells.append(found[0].size)
        return found

    monkeypatch.setattr("blanketflow.selectors.wrappers.stepwise.CELLS", 60 * 10 * 3)  # three features of ten levels
    monkeypatch.setattr(Worth, "_columns", measured)
    stepwise(max_features=1).fit(X, rng.integers(0, 2, 60))
    assert len(cells) >= 3 and max(cells) == 60 * 10 * 3


def test_constant_numbers_have_the_score_of_scikit_learn():
    X, y = suppressed(0, n=20)
    y = np.where(np.arange(20) < 17, 1.0, y)  # parts of one value are foretold or not
    fitted = stepwise(model=LINEAR, tolerance=0.0).fit(X, y)
    made, members = literal(X, y, LinearRegression(), DummyRegressor(), "r2", 0.0)
    assert moves(fitted, "grow") == made and fitted.get_support(indices=True).tolist() == members


@pytest.mark.parametrize(("seed", "max_features"), [(0, 1), (1, 2), (2, 3)])
def test_scikit_learn_selects_the_same_where_nothing_leaves(seed, max_features):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 7))
    y = (X @ [0, 2, 0, 1.5, 0, -1, 0] + 0.5 * rng.normal(size=150) > 0).astype(int)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(5))
    fitted = stepwise(model="knn", max_features=max_features, tolerance=0.0, random_state=seed).fit(X, y)
    assert all(move[0] == "+" for move in moves(fitted, "grow"))
    assert len(fitted.selected_features_) == max_features
    forward = SequentialFeatureSelector(
        model, n_features_to_select=max_features, scoring="accuracy", cv=splits(y, seed=seed)
    )
    assert fitted.get_support().tolist() == forward.fit(X, y).get_support().tolist()


@pytest.mark.extended
def test_mlxtend_s_floating_selection_makes_the_same_sets():
    # It admits up to k features whatever the score says, and removes where that raises the score: that is the same
    # while every admission pays, as it does wherever ours reaches k features.
    mlxtend = pytest.importorskip("mlxtend.feature_selection")
    compared = removed = 0
    for seed in range(2):
        X, y = suppressed(seed, d=6)
        y = y + 0.4 * X[:, 3] - 0.3 * X[:, 4]
        for k in range(2, 5):
            fitted = stepwise(model=LINEAR, tolerance=0.0, max_features=k, random_state=seed).fit(X, y)
            if len(fitted.selected_features_) < k:
                continue
            floating = mlxtend.SequentialFeatureSelector(
                LinearRegression(), k_features=k, floating=True, scoring="r2", cv=splits(y, seed=seed)
            ).fit(X, y)
            assert fitted.get_support(indices=True).tolist() == sorted(floating.k_feature_idx_)
            assert set(fitted.trace_.query("stage == 'shrink'")["statistic"].round(9)) == {round(floating.k_score_, 9)}
            compared += 1
            removed += "-x2" in moves(fitted, "grow")
    assert compared == 6 and removed >= 2


def test_importance_is_what_the_score_would_lose():
    X, y = suppressed(1)
    fitted = stepwise(model=LINEAR).fit(X, y)
    chosen = fitted.get_support(indices=True).tolist()

    def score(members):
        return cross_val_score(LinearRegression(), X[:, members], y, scoring="r2", cv=splits(y)).mean()

    for feature, importance in fitted.importances_.items():
        rest = [j for j in chosen if f"x{j}" != feature]
        assert importance == pytest.approx(score(chosen) - score(rest))
        assert importance > 0.01


# --- models and columns of all kinds --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    ["knn", "tree", "svm", "lightgbm", {"type": "knn", "n_neighbors": 3}, LINEAR, LinearRegression()],
    ids=str,
)
def test_any_model(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = 3 * X[:, 1] + 2 * X[:, 2] + 0.1 * rng.normal(size=120)
    fitted = stepwise(model=model, max_features=2).fit(X, y)
    assert sorted(fitted.selected_features_) == ["x1", "x2"]


def test_a_classifier_without_probabilities():
    X, y = suppressed(0, n=80)
    assert stepwise(model=LinearSVC(random_state=0), scoring="roc_auc").fit(X, y > 0).selected_features_
    with pytest.raises(DataError, match=r"neg_log_loss of a model of \['x0'\] failed.*predict_proba"):
        stepwise(model=LinearSVC(random_state=0), scoring="neg_log_loss").fit(X, y > 0)


def test_a_categorical_feature_enters_as_a_whole():
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 4, 200)
    X = pd.DataFrame({"noise": rng.normal(size=200), "colour": np.array(["r", "g", "b", "k"])[colour]})
    y = np.array([3.0, -1.0, 0.0, 8.0])[colour] + 0.1 * rng.normal(size=200)
    fitted = stepwise(model=LINEAR).fit(X, y)
    assert fitted.selected_features_ == ["colour"]
    assert fitted.importances_["colour"] > 0.98


def test_noise_alone_is_not_selected():
    rng = np.random.default_rng(0)
    fitted = stepwise(model=LINEAR).fit(rng.normal(size=(300, 5)), rng.normal(size=300))
    assert fitted.selected_features_ == [] and fitted.trace_.empty


@pytest.mark.parametrize("model", ["knn", "logistic", "svm", "lightgbm"])
def test_a_class_of_one_row_selects_nothing(model):
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[7] = 9.0  # the one row is easily told from the others, but not when it is held out
    assert stepwise(model=model).fit(X, (np.arange(20) == 7).astype(int)).selected_features_ == []


def test_parts_have_two_rows_at_least():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    for n in (4, 5):
        fitted = stepwise(model=LINEAR, task="regression").fit(X[:n], 2 * X[:n, 0])
        assert fitted.selected_features_ == ["x0"]
    with pytest.raises(DataError, match="stepwise needs at least 4 rows to hold some out, but there are 3"):
        stepwise(model=LINEAR, task="regression").fit(X[:3], X[:3, 0])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"model": "tre"}, UnknownNameError, r"unknown model 'tre'. Did you mean 'tree'"),
        ({"model": "logistic"}, UnsupportedError, "'logistic' does not do regression"),
        ({"scoring": "acuracy"}, ParameterError, r"Stepwise: scikit-learn has no scorer 'acuracy'. Did you mean 'acc"),
        ({"scoring": 5}, ParameterError, "no scorer 5"),
        ({"scoring": "roc_auc"}, DataError, r"stepwise: roc_auc of a model of \['x0'\] failed"),
        ({"tolerance": -0.1}, ParameterError, "tolerance is -0.1"),
    ],
)
def test_what_cannot_be_is_refused(options, error, message):
    X, y = suppressed(0, n=40)
    with pytest.raises(error, match=message):
        stepwise(**options).fit(X, y)


def test_what_cannot_be_is_refused_in_a_config():
    config = {"datasets": {"wine": {"source": "sklearn:wine"}}, "selectors": {"s": {"method": "stepwise"}}}
    read_config(config)
    config["selectors"]["s"]["scoring"] = "accurracy"
    with pytest.raises(ConfigError, match=r"^config: selector 's': scikit-learn has no scorer 'accurracy'. Did you"):
        read_config(config)


def test_what_stood_when_time_was_up_is_an_answer():
    X, y = suppressed(0)
    stopped = stepwise(model=LINEAR, time_limit=1e-9).fit(X, y)
    assert stopped.status_ == "timeout" and "time_limit" in stopped.reason_
    assert stopped.selected_features_ == []
    free, same = (stepwise(model=LINEAR, **limit).fit(X, y) for limit in ({}, {"time_limit": 1e6, "max_tests": 1}))
    assert same.status_ == "ok" and same.selected_features_ == free.selected_features_


def test_candidates_stay_that_time_did_not_suffice_for():
    X, y = suppressed(0)
    late = problem_of(X, y, Limits(time_limit=1e-9))
    decided = run_shrink(Stepwise(model=LINEAR), late, [Step("x0"), Step("x2"), Step("x5")])
    assert signed(decided) == ["+x0", "+x2", "+x5"]
    assert late.status == "timeout" and late.reason.startswith("shrink stopped: the time limit")
