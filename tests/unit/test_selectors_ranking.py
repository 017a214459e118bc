"""`n_features` of methods that rank: a number, a list of answers, and auto against cross-validation written out."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import blanketflow as bf
from blanketflow.api.get_selector import selector_class
from blanketflow.config.reading import read_config
from blanketflow.config.schema import json_schema
from blanketflow.core.cards import Card
from blanketflow.core.errors import ConfigError, DataError, ParameterError, UnknownNameError, UnsupportedError, shown
from blanketflow.core.limits import LimitReached, Limits
from blanketflow.core.parameters import Parameter
from blanketflow.core.rows import balanced_parts
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import Column, Table, column_from_array
from blanketflow.core.task import target_column
from blanketflow.moves.steps import Step
from blanketflow.search.run_fold import fold_seed, run_fold
from blanketflow.selectors.base import Problem
from blanketflow.selectors.ranking import RankingMethod, beginning, held_out_losses
from blanketflow.workflow.plan import make_plan


@dataclass
class ByCorrelation(RankingMethod):
    """Ranks by the absolute correlation with the target, ties by table order."""

    card: ClassVar[Card] = Card("by-correlation", "by correlation", "filter", "Ranks.", "none", cost="none")
    default_test: ClassVar[str | None] = None

    def rank(self, problem, n_features):
        """Rank features."""
        X, y = problem.table.matrix(problem.features), problem.table[problem.target].numbers()
        order = np.argsort(-correlations(X, y), kind="stable")[:n_features]
        return [Step(problem.features[j], importance=float(-i)) for i, j in enumerate(order)]


@dataclass
class ByTest(RankingMethod):
    """Ranks by the p-values given nothing, and asks of each feature but the first one more test."""

    card: ClassVar[Card] = Card("by-test", "by test", "filter", "Ranks.", "none", cost="none")

    def rank(self, problem, n_features):
        """Rank features."""
        order = np.argsort(problem.marginal.p_value, kind="stable")[:n_features].tolist()
        for i, j in enumerate(order):
            if i:
                problem.test.test(problem.features[j], problem.target, [problem.features[order[i - 1]]])
            yield Step(problem.features[j], importance=float(-i))


@dataclass
class Forgetful(ByCorrelation):
    """Ranks nothing on fewer than `n_wanted` rows, and two features at most on more."""

    card: ClassVar[Card] = Card("forgetful", "forgetful", "filter", "Ranks.", "none", cost="none")

    n_wanted: int = 0

    def rank(self, problem, n_features):
        """Rank features."""
        ranked = super().rank(problem, min(n_features, 2))
        return ranked if problem.table.n_rows >= self.n_wanted else []


def correlations(X, y):
    X, y = X - X.mean(axis=0), y - y.mean()
    return np.abs(X.T @ y) / np.sqrt((X**2).sum(axis=0) * (y**2).sum() + 1e-30)


def selector(**options):
    return selector_class(ByCorrelation)(**options)


def table_of(X, y, task):
    columns = [Column(f"x{j}", "numeric", X[:, j]) for j in range(X.shape[1])]
    return Table(columns), target_column(column_from_array("y", np.asarray(y)), task)


def regression(seed, n=60, d=8, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 1] + X[:, 3] - X[:, 4] + noise * rng.normal(size=n)


# --- a number, a list -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", [[2, 4], [4, 2], (1, 3, 8), [5]])
def test_each_number_of_a_list_gives_the_answer_of_a_fit_with_it(numbers):
    X, y = regression(0)
    fitted = selector(n_features=numbers).fit(X, y)
    alone = [selector(n_features=n).fit(X, y).selected_features_ for n in numbers]
    assert fitted.blankets_ == alone
    assert fitted.blanket_counts_ == [1] * len(numbers)
    assert fitted.selected_features_ == max(alone, key=len)
    for fewer in alone:
        assert all(fewer == more[: len(fewer)] for more in alone if len(more) >= len(fewer))


def test_more_features_than_there_are_are_all():
    X, y = regression(0, d=5)
    every = selector(n_features=5).fit(X, y).selected_features_
    assert len(every) == 5
    assert selector(n_features=50).fit(X, y).selected_features_ == every
    fitted = selector(n_features=[2, 7, 9]).fit(X, y)
    assert fitted.blankets_ == [every[:2], every, every]  # one a number, in its place


def test_with_folds_each_has_its_largest_answer():
    X, y = regression(1)
    fitted = selector(n_features=[2, 4], n_folds=3).fit(X, y)
    assert fitted.blankets_ == selector(n_features=4, n_folds=3).fit(X, y).blankets_
    assert [len(blanket) for blanket in fitted.blankets_] == [4, 4, 4]
    chosen = selector(n_features="auto", n_folds=3).fit(X, y)
    assert chosen.selected_features_ in chosen.blankets_ and len(chosen.blankets_) == 3


def test_a_number_and_a_list_read_no_rows_to_cut():
    X, y = regression(0)
    features, target = table_of(X, y, "regression")
    method = ByCorrelation(n_features=[1, 3])
    grown = run_fold(method, None, features, target, 0).candidates
    assert [s.feature for s in method.shrink(OnlyAnswers(), grown)] == [s.feature for s in grown]


class OnlyAnswers:
    """A problem that holds answers and has no rows to read."""

    def __init__(self):
        self.answers = []
        self.included = ()


# --- auto -----------------------------------------------------------------------------------------------------------


def literal_number(X, y, model, seed=0):
    """Return the number of features of the best score of all rows, each predicted when held out, and the scores."""
    is_class = y.dtype.kind == "U"
    codes = np.unique(y, return_inverse=True)[1].astype(float) if is_class else y
    # The parts are the one thing that is shared with the library.
    split = PredefinedSplit(balanced_parts(codes, 5, derive_rng(fold_seed(seed, "0"), "psi")))
    scores = []
    for n in range(1, X.shape[1] + 1):
        predicted = np.empty_like(y)
        for train, test in split.split():
            ranked = np.argsort(-correlations(X[train], codes[train]), kind="stable")[:n]
            predicted[test] = clone(model).fit(X[train][:, ranked], y[train]).predict(X[test][:, ranked])
        scores.append(accuracy_score(y, predicted) if is_class else r2_score(y, predicted))
    return 1 + next(i for i, score in enumerate(scores) if score >= max(scores) - 1e-12), scores


CLASSIFIERS = {
    "knn": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
    "naive-bayes": GaussianNB(),
}
REGRESSORS = {
    "knn": make_pipeline(StandardScaler(), KNeighborsRegressor(5)),
    "sklearn.linear_model:LinearRegression": LinearRegression(),
}


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.extended) for seed in range(2, 6))])
def test_auto_is_cross_validation_written_out_for_classes(model, seed):
    X, y = regression(seed, noise=2.0)
    y = np.array(["low", "mid", "up"])[np.digitize(y, [-1, 1])]
    wanted, scores = literal_number(X, y, CLASSIFIERS[model], seed)
    fitted = selector(n_features="auto", model=model, random_state=seed).fit(X, y)
    assert len(fitted.selected_features_) == wanted, scores
    assert fitted.selected_features_ == selector(n_features=wanted).fit(X, y).selected_features_


@pytest.mark.parametrize("model", REGRESSORS)
@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.extended) for seed in range(1, 4))])
def test_auto_is_cross_validation_written_out_for_numbers(model, unit, seed):
    X, y = regression(seed, noise=2.0)
    wanted, scores = literal_number(X, unit * y, REGRESSORS[model], seed)
    fitted = selector(n_features="auto", model=model, random_state=seed).fit(X, unit * y)
    assert len(fitted.selected_features_) == wanted, scores


def test_the_numbers_that_auto_chose_there_differ():
    numbers = {literal_number(*regression(seed, noise=2.0), REGRESSORS["knn"], seed)[0] for seed in range(4)}
    assert len(numbers) > 1


def test_an_estimator_object_is_a_model_too():
    X, y = regression(2)
    by_name = selector(n_features="auto", model="sklearn.linear_model:LinearRegression").fit(X, y)
    by_object = selector(n_features="auto", model=LinearRegression()).fit(X, y)
    assert by_object.selected_features_ == by_name.selected_features_
    assert selector(n_features="auto", model={"type": "knn", "n_neighbors": 3}).fit(X, y).selected_features_


@pytest.mark.parametrize("seed", range(4))
def test_of_three_columns_that_determine_the_target_auto_keeps_exactly_these(seed):
    # Exact on the training rows, so exact on those held out: 0 error from three columns on, and the fewest win.
    X, y = regression(seed, n=150, d=30, noise=0.0)
    fitted = selector(n_features="auto", model=LinearRegression()).fit(X, y)
    assert sorted(fitted.selected_features_) == ["x1", "x3", "x4"]
    decided = fitted.trace_.query("stage == 'shrink'")
    assert decided["kept"].tolist() == [True] * 3 + [False] * 27


@pytest.mark.parametrize("method", ["mrmr", "jmi", "mim"])
def test_of_three_bits_whose_majority_is_the_target_three_are_kept(method):
    if method not in bf.list_selectors()["id"].tolist():
        pytest.skip("the method is not there")
    # Any two of the bits leave a quarter of the rows undecided; a tree that knows all three is never wrong.
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (400, 12)), columns=[f"b{j}" for j in range(12)])
    y = (X["b2"] + X["b5"] + X["b9"] >= 2).astype(int)
    fitted = bf.get_selector(method, n_features="auto", model="tree").fit(X.astype(str), y)
    assert sorted(fitted.selected_features_) == ["b2", "b5", "b9"]


def test_at_most_fifty_are_considered():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 70))
    fitted = selector(n_features="auto", model=LinearRegression()).fit(X, X.sum(axis=1))
    assert len(fitted.candidates_) == 50
    assert 40 < len(fitted.selected_features_) <= 50


def test_the_ranking_knows_nothing_of_the_rows_held_out():
    # Noise: the 20 columns of 2000 that go best with 60 coin tosses predict them well, if they were chosen on them.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2000)), np.arange(60) % 2
    ranked = np.argsort(-correlations(X, y.astype(float)))[:20]
    leaky = np.mean(cross_val_predict(GaussianNB(), X[:, ranked], y, cv=5) == y)
    features, target = table_of(X, y, "classification")
    method = ByCorrelation(n_features="auto", model="naive-bayes")
    problem = problem_of(None, features, target)
    honest = 1 - held_out_losses(method, problem, 20)[-1].mean()
    assert leaky > 0.8
    assert honest < 0.65  # the 99th percentile of 60 tosses


def problem_of(test, features, target):
    table = features.with_column(target)
    bound = test.bind(table, seed=0, target=target.name) if test else None
    marginal = bound.test_many(features.names, target.name) if test else None
    return Problem(features.names, target.name, marginal, 0, lambda: table, lambda _: bound)


@pytest.mark.parametrize("method_class", [ByCorrelation, ByTest])
def test_each_ranking_is_made_on_the_rows_of_a_part_s_complement(method_class):
    seen = []

    class Watching(method_class):
        __module__ = "blanketflow.selectors"  # works in the process of the search, which sees what it notes

        def rank(self, problem, n_features):
            rows = problem.table["row"].numbers().astype(int)
            if problem.marginal is not None:
                assert problem.test.table.n_rows == len(rows) == problem.marginal.n[0]
            seen.append(set(rows.tolist()))
            return super().rank(problem, n_features)

    X, y = regression(0, n=43, d=5)
    features, target = table_of(X, y > 0, "classification")
    features = features.with_column(Column("row", "integer", np.arange(43)))
    test = bf.get_ci_test("g2") if method_class is ByTest else None
    run_fold(Watching(n_features="auto"), test, features, target, 0)
    whole, *rest = seen
    assert whole == set(range(43)) and len(rest) == 5
    held_out = [whole - rows for rows in rest]
    assert sorted(row for rows in held_out for row in rows) == list(range(43))
    for rows in held_out:  # parts of like size and class shares
        assert len(rows) in (8, 9)
        assert abs(np.mean(y[sorted(rows)] > 0) - np.mean(y > 0)) <= 1 / 8


def test_what_is_chosen_depends_on_the_seed_alone():
    X, y = regression(3, noise=4.0)
    fits = [selector(n_features="auto", random_state=seed).fit(X, y > 0).selected_features_ for seed in (5, 5, 6, 7, 8)]
    assert fits[0] == fits[1]
    assert len({len(fit) for fit in fits}) > 1


# --- at the edges ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_few_rows_are_held_out_one_at_a_time(n):
    X, y = regression(0, n=n)
    assert 1 <= len(selector(n_features="auto", task="regression").fit(X, y).selected_features_) <= 8
    assert 1 <= len(selector(n_features="auto").fit(X, np.arange(n) % 2).selected_features_) <= 8


def test_one_row_is_refused():
    features, target = table_of(np.zeros((1, 2)), [1.0], "regression")
    problem = Problem(features.names, "y", None, 0, lambda: features.with_column(target), lambda table: None)
    with pytest.raises(DataError, match="n_features: auto needs at least 2 rows"):
        ByCorrelation(n_features="auto").shrink(problem, [Step("x0")])


@pytest.mark.parametrize(
    "model", ["knn", "logistic", "lightgbm", {"type": "svm", "C": 2}, {"type": "forest", "n_estimators": 3}], ids=str
)
def test_a_class_of_one_row(model):
    X, _ = regression(0, n=20)
    rare = (np.arange(20) == 7).astype(int)
    assert 1 <= len(selector(n_features="auto", model=model).fit(X, rare).selected_features_) <= 8


def test_categorical_columns_enter_as_indicators():
    rng = np.random.default_rng(0)
    colour, noise = rng.integers(0, 3, 200), rng.normal(size=(200, 3))
    y = np.array([5.0, -4.0, 1.0])[colour]
    X = pd.DataFrame(noise, columns=list("abc")).assign(colour=np.array(["blue", "green", "red"])[colour])
    fitted = selector(n_features="auto", model=LinearRegression(), task="regression").fit(X, y)
    assert fitted.selected_features_ == ["colour"]


def test_a_ranking_may_end_early():
    X, y = regression(0, n=50)
    features, target = table_of(X, y, "regression")
    kept = [s.feature for s in run_fold(Forgetful("auto"), None, features, target, 0).decisions if s.kept]
    assert 1 <= len(kept) <= 2
    # The 40 training rows of a part rank nothing: the mean predicts the rest, whatever the number.
    problem = problem_of(None, features, target)
    losses = held_out_losses(Forgetful("auto", n_wanted=50), problem, 3)
    assert (losses == losses[0]).all() and abs(losses.mean() / np.var(y) - 1) < 0.1


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        ("knnn", UnknownNameError, r"unknown model 'knnn'. Did you mean 'knn'"),
        ({"type": "knn", "k": 3}, ParameterError, "knn has no option 'k'"),
        ("logistic", UnsupportedError, "'logistic' does not do regression"),
        (5, ConfigError, "a model is an id such as tree"),
    ],
)
def test_a_model_that_cannot_be_is_refused(model, error, message):
    X, y = regression(0)
    with pytest.raises(error, match=message):
        selector(n_features="auto", model=model).fit(X, y)


def test_a_grid_search_goes_over_numbers_lists_and_auto():
    X, y = regression(0)
    grid = {"bycorrelation__n_features": [1, [2, 3], "auto"]}
    found = GridSearchCV(make_pipeline(selector(), LinearRegression()), grid, cv=3, error_score="raise").fit(X, y)
    assert found.best_params_["bycorrelation__n_features"] in ([2, 3], "auto")
    assert clone(selector(n_features=[2, 3])).n_features == [2, 3]


# --- limits ---------------------------------------------------------------------------------------------------------


def classes():
    X, y = regression(0, n=100, d=6)
    return table_of(X, y > 0, "classification")


def test_the_tests_of_inner_rankings_count():
    features, target = classes()
    problem = problem_of(bf.get_ci_test("g2"), features, target)
    held_out_losses(ByTest("auto"), problem, 6)
    # Each of the five parts costs the six marginal tests, and five that rank.
    assert problem.n_inner_tests == problem.n_tests == 5 * (6 + 5)
    cut, auto = (run_fold(ByTest(n), bf.get_ci_test("g2"), features, target, 0).n_tests for n in (6, "auto"))
    assert auto - cut == 55


def test_limits_reach_into_the_cross_validation():
    features, target = classes()
    g2, auto = bf.get_ci_test("g2"), ByTest("auto")
    free = run_fold(auto, g2, features, target, 0)
    assert run_fold(auto, g2, features, target, 0, Limits(max_tests=55, time_limit=1e6)).decisions == free.decisions
    with pytest.raises(LimitReached, match="max_tests"):
        run_fold(auto, g2, features, target, 0, Limits(max_tests=54))
    with pytest.raises(LimitReached, match="time_limit"):
        run_fold(ByCorrelation("auto"), None, features, target, 0, Limits(time_limit=1e-9))


# --- as a parameter, in a config ------------------------------------------------------------------------------------

GOOD = [1, 5, np.int64(3), [5], [5, 10], (3, 1), [np.int32(2), 7], "auto"]
BAD = [0, -1, True, 2.5, 2.0, "many", "5", None, [], [0], [3, 3], [1, True], [2.0], [[1]], ["auto"], {"a": 1}, {1, 2}]
COUNTS = Parameter("feature-counts", "How many.")
WANTED = 'must be a whole number of at least 1, a list of different ones, or "auto".'


@pytest.mark.parametrize("value", GOOD, ids=str)
def test_good_numbers(value):
    COUNTS.check("here", "n_features", value)
    X, y = regression(0)
    selector(n_features=value).fit(X, y)


@pytest.mark.parametrize("value", BAD, ids=str)
def test_bad_numbers_are_refused_with_what_is_wanted(value):
    with pytest.raises(ParameterError) as error:
        COUNTS.check("here", "n_features", value)
    assert str(error.value) == f"here: n_features is {shown(value)}, but {WANTED}"
    X, y = regression(0)
    with pytest.raises(ParameterError, match=r"^ByCorrelation: n_features is "):
        selector(n_features=value).fit(X, y)


def config(**options):
    return {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "selectors": {"ranked": {"method": "mrmr", **options}},
    }


@pytest.mark.parametrize("value", [0, True, 2.5, "many", [], [3, 3], [0, 1], ["auto"]], ids=str)
def test_bad_numbers_in_a_config(value):
    with pytest.raises(ConfigError) as error:
        read_config(config(n_features=value))
    assert str(error.value) == f"config: selector 'ranked': n_features is {shown(value)}, but {WANTED}"


def test_a_bad_model_in_a_config():
    with pytest.raises(ConfigError, match=r"^config: selector 'ranked': unknown model 'tre'. Did you mean 'tree'"):
        read_config(config(model="tre"))


def test_the_schema_of_a_config_agrees():
    jsonschema = pytest.importorskip("jsonschema")
    schema = jsonschema.Draft202012Validator(json_schema())
    own = jsonschema.Draft202012Validator(COUNTS.schema())
    for value in [1, 5, [5], [5, 10], "auto"]:
        assert own.is_valid(value) and schema.is_valid(config(n_features=value))
        assert read_config(config(n_features=value)).selectors["ranked"].method.n_features == value
    # JSON does not tell 2.0 from 2.
    for value in [0, True, 2.5, "many", "5", None, [], [0], [3, 3], [2.5], ["auto"], {"a": 1}]:
        assert not own.is_valid(value) and not schema.is_valid(config(n_features=value)), value


def test_a_list_is_a_list_in_the_spec():
    specs = {
        str(value): make_plan(config(n_features=value), "scripts/{}".format).method_spec("wine", "ranked")
        for value in (2, [2, 4], (2, 4), [4, 2], "auto")
    }
    assert '"n_features":[2,4]' in specs["[2, 4]"] and '"n_features":"auto"' in specs["auto"]
    assert specs["[2, 4]"] == specs["(2, 4)"]
    assert len(set(specs.values())) == 4


def test_a_long_beginning_compares_no_pair_of_names():
    """`auto` ranks all features: of 100,000, comparing each with those that are kept took two minutes a round."""
    n_compared = 0

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal n_compared
            n_compared += 1
            return str.__eq__(self, other)

    names = [Name(f"x{j}") for j in range(1000)]
    assert beginning(names, 500, names[-2:]) == [*names[:498], *names[-2:]]
    assert n_compared < 5 * len(names)
