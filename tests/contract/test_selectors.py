"""What every registered method must do as a scikit-learn selector."""

import pickle
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

import blanketflow as bf
from blanketflow.core.errors import DataError, ParameterError, UnknownNameError, UnsupportedError
from blanketflow.core.registry import discover
from blanketflow.data.simulate.network import DiscreteNetwork, node

METHODS = discover("blanketflow.selectors")
WITH_TEST = [name for name, method in METHODS.items() if method.default_test is not None]
#: A test of each method: its default, or one of which auto chooses.
TEST_OF = {name: {"auto": "g2"}.get(METHODS[name].default_test, METHODS[name].default_test) for name in WITH_TEST}
#: What keeps a method cheap, or what it cannot do without.
OPTIONS = {
    "auto": {"max_candidates": 1, "n_parts": 2},
    "ppfs": {"n_repeats": 5},
    "mrmr": {"n_features": 2},
    "knockoffs": {"q": 0.5},
    "koller-sahami": {"n_features": 2},
    "ipss": {"pairs": 5, "q": 0.5},
    "kiamb": {"n_runs": 3},
    "srs": {"lambda_step": 0.05},
    "permutation-importance": {"model": "tree", "n_permutations": 19},
    "stability-selection": {"n_features": 2, "pairs": 5},
    "stepwise": {"model": "tree", "n_splits": 2, "max_features": 2},
    "true-blanket": {"blanket": ["signal", "code"]},
}
#: An option of each default test that a grid may reach, with two values.
TEST_GRIDS = {
    "ppi": ("n_repeats", [5, 6]),
    "g2": ("bins", [2, 4]),
    "lr-mixed": ("min_samples_per_parameter", [5.0, 10.0]),
    "hsic": ("n_landmarks", [50, 1000]),
}
#: Methods that hold out rows, together with their copies: repeated rows without weights are held out one by one.
KEEPING_TOGETHER = {"auto", "stepwise", "srs"}
#: Methods that say of themselves that they found several Markov blankets.
SEVERAL = {"tie-star", "kiamb"}
RULES = ["best-blanket", "union", "intersection", {"frequency": 0.6}]
#: All but the reference that keeps no feature.
CHOOSING = [name for name in METHODS if name != "none"]
every_method = pytest.mark.parametrize("name", METHODS)
every_choosing_method = pytest.mark.parametrize("name", CHOOSING)


def quick(names):
    """Methods where there are many fits: `auto` trains three models on each of many sets."""
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=pytest.mark.extended if name == "auto" else ()) for name in names]
    )


every_quick_method, every_quick_choosing_method = quick(METHODS), quick(CHOOSING)
#: One method of each family and default test: for what the selector class does, and no method.
ONE_OF_EACH_KIND = list({(METHODS[name].card.family, METHODS[name].default_test): name for name in CHOOSING}.values())


def one_of_each(names):
    return pytest.mark.parametrize(
        "name", [pytest.param(n, marks=() if n in ONE_OF_EACH_KIND else pytest.mark.extended) for n in names]
    )


one_of_each_kind = one_of_each(CHOOSING)


def selector(name, **options):
    return bf.get_selector(name, **{**OPTIONS.get(name, {}), **options})


#: Options that keep a test cheap, or the truth of the table below for those that know it.
COIN, EFFECT = node("01", table=[0.5, 0.5]), node("01", ["signal"], table=[[0.9, 0.1], [0.1, 0.9]])
TEST_OPTIONS = {
    "ppi": {"n_repeats": 5},
    "cpi": {"n_splits": 3, "model": "tree"},
    "oracle": {"arcs": [("signal", "target"), ("code", "target")]},
    "population": {
        "network": DiscreteNetwork(
            "table", {**dict.fromkeys(("noise", "signal", "code", "junk"), COIN), "target": EFFECT}
        )
    },
}


def table(n=200, seed=0):
    """Return numeric columns of which `signal` and, weaker, `code` tell three classes, and the classes."""
    rng = np.random.default_rng(seed)
    signal, code = rng.normal(size=n), rng.integers(0, 3, n)
    y = np.digitize(2 * signal + code - 1, [-0.8, 0.8])
    X = pd.DataFrame({"noise": rng.normal(size=n), "signal": signal, "code": code, "junk": rng.normal(size=n)})
    return X, np.array(["low", "middle", "high"])[y]


def mixed_table():
    X, y = table()
    X["colour"] = np.array(["red", "green", "blue"])[X.pop("code")]
    X["site"] = pd.Categorical(np.array(["x", "y"])[np.arange(len(X)) % 2])
    return X.assign(flag=X["signal"] > 0), y


def outcome(fitted):
    """Return everything that a fit learnt."""
    trace = fitted.trace_.astype({"given": str}).round(9).to_dict("list")
    return fitted.selected_features_, fitted.blankets_, fitted.roles_, fitted.n_tests_, fitted.candidates_, trace


#: What keeps the many small fits of scikit-learn's checks cheap; only plain numbers, as they are cloned.
CONFORMITY = {
    "true-blanket": {},
    "permutation-importance": {"model": "tree", "n_permutations": 3, "alpha": 0.5},
    "stepwise": {"model": "tree", "n_splits": 2, "max_features": 1},
}


def fails_checks(name, estimator):
    """Return the checks of scikit-learn that fail, and how many were made.

    Copies of a row stay in one part, and with weights ``auto`` chooses no test that permutes rows: such methods do with
    weights what repeated rows do not. What weights mean with one test is in test_row_weights.py.
    """
    differs = name in KEEPING_TOGETHER or METHODS[name].default_test == "auto"
    failed, n_checks = {}, 0
    for one, check in estimator_checks_generator(estimator):
        asked = check.func.__name__
        n_checks += 1
        if differs and asked.startswith("check_sample_weight_equivalence"):
            continue
        try:
            check(one)
        except SkipTest:
            continue
        except Exception as error:
            if not (isinstance(error, UnsupportedError) and "cannot have weights" in str(error)):
                failed[asked] = error
    return failed, n_checks


@one_of_each(METHODS)
def test_scikit_learn_conformity(name):
    failed, n_checks = fails_checks(name, bf.get_selector(name, **CONFORMITY.get(name, OPTIONS.get(name, {}))))
    assert failed == {}
    assert n_checks > 40


def test_all_are_there():
    assert {"ppfs", "gs", "mrmr", "all", "true-blanket"} <= set(METHODS)


@every_method
def test_card_and_listing(name):
    card = METHODS[name].card
    assert card.id == name
    assert card.summary and card.reference and card.guarantee and card.cost
    row = bf.list_selectors().set_index("id").loc[name]
    assert row["class"] == METHODS[name].__name__ == type(selector(name)).__name__
    assert row["summary"] == card.summary
    assert (row["ci_test"] if isinstance(row["ci_test"], str) else None) == METHODS[name].default_test
    assert getattr(bf, row["class"]) is type(selector(name))


@every_method
def test_the_docstring_names_every_parameter(name):
    for parameter in selector(name).get_params(deep=False):
        assert f"\n{parameter} : " in type(selector(name)).__doc__


@every_choosing_method
@pytest.mark.parametrize("n_folds", [0, 3])
def test_what_is_learnt_is_consistent(name, n_folds):
    X, y = table()
    fitted = selector(name, n_folds=n_folds).fit(X, y)
    chosen = fitted.selected_features_
    assert len(chosen) == len(set(chosen))
    in_table_order = [column for column in X if column in chosen]
    assert fitted.get_support().tolist() == [column in chosen for column in X]
    assert fitted.get_support(indices=True).tolist() == [X.columns.get_loc(column) for column in in_table_order]
    assert fitted.get_feature_names_out().tolist() == in_table_order
    assert np.array_equal(fitted.transform(X), X[in_table_order].to_numpy())
    assert fitted.feature_names_in_.tolist() == list(X)
    assert list(fitted.roles_) == list(fitted.importances_) == chosen
    assert set(fitted.roles_.values()) <= {"parent_or_child", "spouse", "member"}
    importances = list(fitted.importances_.values())
    assert importances == sorted(importances, reverse=True)
    is_several = name in SEVERAL and n_folds == 0
    assert len(fitted.blanket_counts_) == len(fitted.blankets_)
    assert len(fitted.blankets_) == max(n_folds, 1) or is_several
    assert fitted.status_ in ("ok", "unreliable") and bool(fitted.reason_) == (fitted.status_ != "ok")
    assert set(fitted.groups_) == (set(chosen) if METHODS[name].forms_groups else set())
    assert set(chosen) <= {feature for blanket in fitted.blankets_ for feature in blanket} <= set(X)
    assert fitted.task_ == "classification"
    makes_tests = name in WITH_TEST or name == "auto"  # which looks for roles
    assert fitted.n_tests_ > 0 if makes_tests else fitted.n_tests_ == 0
    trace = fitted.trace_
    assert set(trace["fold"]) == ({"0"} if n_folds == 0 else {"1of3", "2of3", "3of3"})
    assert set(trace["stage"]) <= {"grow", "shrink"}
    assert not trace[["p_value", "statistic", "importance"]].isna().any(axis=None)
    kept = trace.query("stage == 'shrink' and kept").groupby("fold")["feature"].agg(set)
    found = [set(blanket) for blanket in fitted.blankets_]
    assert [kept.get(fold, set()) for fold in trace["fold"].unique()] == (found[:1] if is_several else found)


@pytest.mark.parametrize("name", [name for name in WITH_TEST if not METHODS[name].card.importance])
def test_importance_is_what_the_card_says(name):
    X, y = table()
    trace = selector(name).fit(X, y).trace_.query("stage == 'grow' and role != 'spouse' and p_value > 0")
    said = METHODS[name].card.means_by_importance
    if said.startswith("ln(1/p)"):
        np.testing.assert_allclose(trace["importance"], -np.log(trace["p_value"]), rtol=1e-6)
    else:
        assert said == "its place in the ranking, counted from the last, which has 1"
        assert [*trace["importance"]] == [*range(len(trace), 0, -1)]


@every_choosing_method
def test_finds_what_determines_the_target(name):
    X, y = table(n=900)
    assert {"signal", "code"} <= set(selector(name).fit(X, y).selected_features_)


@every_quick_method
def test_folds_are_combined_by_the_best_blanket(name):
    folds_are_combined(name, RULES[0])


@one_of_each(name for name in CHOOSING if name != "auto")
def test_folds_are_combined_by_every_other_rule(name):
    for rule in RULES[1:]:
        folds_are_combined(name, rule)


def folds_are_combined(name, rule):
    X, y = table()
    fitted = selector(name, n_folds=3, aggregate=rule).fit(X, y)
    chosen, blankets = set(fitted.selected_features_), [set(b) for b in fitted.blankets_]
    count = {feature: sum(feature in b for b in blankets) for feature in X}
    if rule == "best-blanket":
        score = [sum(count[f] for f in b) / len(b) if b else 0 for b in blankets]
        assert chosen == blankets[score.index(max(score))]
    else:
        share = {"union": 1 / 3, "intersection": 1.0}.get(rule) if isinstance(rule, str) else 0.6
        assert chosen == {feature for feature in X if count[feature] >= share * 3 - 1e-9}
    assert fitted.frequencies_ == {f: pytest.approx(c / 3) for f, c in count.items() if c}


@pytest.mark.parametrize("name", WITH_TEST)
@pytest.mark.parametrize(("rows", "n_rows"), [("train", 134), ("part", 66)])
def test_a_fold_is_its_part_or_all_but_its_part(name, rows, n_rows):
    X, y = table()
    seen = []

    class Watching(discover("blanketflow.ci")[TEST_OF[name]]):
        __module__ = "blanketflow.ci"  # works in the process of the search, which sees what it notes

        def prepare(self, bound_table, seed, target):
            seen.append(bound_table.n_rows)
            return super().prepare(bound_table, seed, target)

    options = {key: value for key, value in OPTIONS.get(name, {}).items() if key not in METHODS[name].test_shorthands}
    bf.get_selector(name, ci_test=Watching(), n_folds=3, fold_rows=rows, **options).fit(X, y)
    assert {abs(count - n_rows) <= 1 for count in seen} == {True}


@one_of_each_kind
def test_more_jobs_change_nothing(name):
    X, y = table()
    parallel = selector(name, n_folds=3, n_jobs=2).fit(X, y)
    assert outcome(parallel) == outcome(selector(name, n_folds=3).fit(X, y))


@every_quick_method
def test_a_seed_fixes_the_result(name):
    X, y = table(n=60)
    for seed in (0, np.int64(5)):
        first, second = (selector(name, random_state=seed, n_folds=2).fit(X, y) for _ in range(2))
        assert outcome(first) == outcome(second)
    states = [selector(name, random_state=np.random.RandomState(3)).fit(X, y) for _ in range(2)]
    assert outcome(states[0]) == outcome(states[1])
    selector(name, random_state=None).fit(X, y)
    with pytest.raises(ParameterError, match="random_state is 'x'"):
        selector(name, random_state="x").fit(X, y)


@every_quick_method
def test_fitting_twice_is_fitting_once(name):
    X, y = table()
    other, other_y = table(seed=1)
    again = selector(name).fit(other, other_y).fit(X, y)
    assert outcome(again) == outcome(selector(name).fit(X, y))


@one_of_each_kind
def test_works_in_a_pipeline(name):
    X, y = table(n=240)
    pipeline = make_pipeline(selector(name), DecisionTreeClassifier(random_state=0)).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    assert set(pipeline[:-1].get_feature_names_out()) >= {"signal"}


@one_of_each_kind
def test_works_in_a_grid_search(name):
    X, y = table(n=1200 if name == "knockoffs" else 200)  # which may keep nothing of few rows
    parameters = selector(name).get_params()
    grids = {"alpha": [0.05, 0.2], "n_features": [1, 3], "q": [0.5, 0.6]}
    grid = {f"s__{key}": values for key, values in grids.items() if key in parameters} or {"s__n_folds": [0, 2]}
    pipeline = make_pipeline(selector(name), DecisionTreeClassifier(random_state=0))
    pipeline.steps[0] = ("s", pipeline.steps[0][1])
    found = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
    assert set(found.best_params_) == set(grid)


@one_of_each_kind
def test_a_grid_search_reaches_into_the_ci_test(name):
    if name not in WITH_TEST:
        pytest.skip("has no CI test")
    X, y = table()
    test = bf.get_ci_test(TEST_OF[name], **METHODS[name].default_test_options)
    if test.card.id not in TEST_GRIDS:
        pytest.skip("TEST_GRIDS names no option of its test")
    option, values = TEST_GRIDS[test.card.id]
    options = {key: value for key, value in OPTIONS.get(name, {}).items() if key not in test.options()}
    chosen = bf.get_selector(name, ci_test=test, **options)
    assert chosen.get_params()[f"ci_test__{option}"] == getattr(test, option)
    for value in values:
        copy = clone(chosen).set_params(**{f"ci_test__{option}": value})
        assert getattr(copy.ci_test, option) == value
        own = {**METHODS[name].default_test_options, option: value}
        alone = bf.get_selector(name, ci_test=bf.get_ci_test(test.card.id, **own), **options)
        assert outcome(copy.fit(X, y)) == outcome(alone.fit(X, y))
    assert getattr(test, option) == test.defaults()[option]
    pipeline = make_pipeline(chosen, DecisionTreeClassifier(random_state=0))
    key = f"{pipeline.steps[0][0]}__ci_test__{option}"
    assert GridSearchCV(pipeline, {key: values}, cv=2, error_score="raise").fit(X, y).best_params_[key] in values


@pytest.mark.parametrize("name", WITH_TEST)
def test_a_test_by_id_equals_the_same_test_as_an_object(name):
    X, y = table()
    test_id = TEST_OF[name]
    by_object = selector(name, ci_test=bf.get_ci_test(test_id, **METHODS[name].default_test_options)).fit(X, y)
    assert outcome(selector(name, ci_test=test_id).fit(X, y)) == outcome(by_object)
    with pytest.raises(UnknownNameError, match=r"unknown CI test 'g22'. Did you mean 'g2'"):
        selector(name, ci_test="g22").fit(X, y)
    with pytest.raises(ParameterError, match="ci_test is 5"):
        selector(name, ci_test=5).fit(X, y)


@pytest.mark.parametrize("name", WITH_TEST)
def test_every_test_either_works_or_is_refused_with_a_reason(name):
    for test_id in discover("blanketflow.ci"):
        works_or_is_refused(name, test_id)


def works_or_is_refused(name, test_id):
    X, y = table()
    options = {key: value for key, value in OPTIONS.get(name, {}).items() if key not in METHODS[name].test_shorthands}
    own = {key: value for key, value in options.items() if key in METHODS[name].parameters()}
    # The many sets of features divide alpha, below which a p-value must get.
    of_sets = {"ppi": {"n_repeats": 10}, "cmi-knn": {"n_permutations": 300}, "codec": {"n_permutations": 300}}
    more = of_sets.get(test_id, {}) if METHODS[name](**own).tests_sets() else {}
    test = bf.get_ci_test(test_id, **TEST_OPTIONS.get(test_id, {}) | more)
    fitted = bf.get_selector(name, ci_test=test, **options)
    if METHODS[name].needs not in test.card.measures:
        with pytest.raises(UnsupportedError, match=f"{name} needs a test that measures"):
            fitted.fit(X, y == "low")
    elif "categorical" not in test.card.kinds and test.card.max_classes is None:
        with pytest.raises(UnsupportedError, match=f"{test_id} takes"):
            fitted.fit(X, y == "low")
    elif METHODS[name](**own).tests_sets() and not test.card.column_sets:
        with pytest.raises(UnsupportedError, match=f"{name} needs a test of sets of columns"):
            fitted.fit(X, y == "low")
    else:
        assert "signal" in fitted.fit(X, y == "low").selected_features_


@every_quick_method
def test_clone_and_pickle_keep_everything(name):
    X, y = table()
    fitted = selector(name, n_folds=2).fit(X, y)
    thawed = pickle.loads(pickle.dumps(fitted))
    assert outcome(thawed) == outcome(fitted)
    assert np.array_equal(thawed.transform(X), fitted.transform(X))
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    assert not hasattr(fresh, "selected_features_")
    assert repr(fresh).startswith(type(fitted).__name__ + "(")


@every_choosing_method
def test_pandas_output_keeps_names_and_dtypes(name):
    X, y = mixed_table()
    options = {"blanket": ["colour", "signal"]} if name == "true-blanket" else {}
    out = selector(name, **options).set_output(transform="pandas").fit(X, y).transform(X)
    assert isinstance(out, pd.DataFrame)
    pd.testing.assert_frame_equal(out, X[list(out)])
    assert {"signal", "flag"} & set(out)  # flag is the sign of signal: hsmb keeps it alone


@every_quick_choosing_method
def test_mixed_frames_are_read_by_their_dtypes(name):
    X, y = mixed_table()
    options = {"blanket": {"colour": "spouse", "signal": "member"}} if name == "true-blanket" else {"n_folds": 2}
    fitted = selector(name, **options).fit(X, y)
    assert {"colour", "signal", "flag"} & set(fitted.selected_features_)
    assert fitted.n_features_in_ == X.shape[1]


@every_quick_choosing_method
def test_sparse_equals_dense(name):
    rng = np.random.default_rng(0)
    X = (rng.random((150, 6)) < 0.4).astype(float)
    X[:, 5] *= rng.integers(1, 4, 150)
    y = X[:, 1] + X[:, 4]
    options = {"blanket": ["x1"]} if name == "true-blanket" else {}
    dense = selector(name, n_folds=2, **options).fit(X, y)
    for form in (sp.csr_matrix, sp.csc_matrix, sp.csr_array) if name in ONE_OF_EACH_KIND else (sp.csc_matrix,):
        assert outcome(selector(name, n_folds=2, **options).fit(form(X), y)) == outcome(dense)
    assert (dense.transform(sp.csr_matrix(X)) != sp.csr_matrix(dense.transform(X))).nnz == 0
    assert dense.selected_features_


@every_choosing_method
def test_arrays_frames_and_unnamed_frames_agree(name):
    X, y = table()
    options = {"blanket": ["x1"]} if name == "true-blanket" else {}
    array = selector(name, **options).fit(X.to_numpy(), y)
    assert set(array.selected_features_) <= {"x0", "x1", "x2", "x3"}
    options = {"blanket": ["20"]} if name == "true-blanket" else {}
    numbered = selector(name, **options).fit(X.astype(float).set_axis([10, 20, 30, 40], axis=1), y)
    assert numbered.get_support().tolist() == array.get_support().tolist()
    assert array.get_support().any()


@every_method
def test_missing_cells_are_refused_by_name(name):
    X, y = table()
    X.loc[7, "junk"] = np.nan
    cells = X.to_numpy()
    for holds in (X, cells, sp.csr_matrix(cells), cells.astype(object)):
        with pytest.raises(DataError, match="'junk'" if holds is X else "'x3'"):
            selector(name).fit(holds, y)


@every_method
def test_missing_text_is_refused_by_name(name):
    X, y = mixed_table()
    X["colour"] = X["colour"].astype(object)
    for missing in (None, np.nan, pd.NA):
        X.loc[3, "colour"] = missing
        with pytest.raises(DataError, match="'colour'"):
            selector(name).fit(X, y)


@every_method
def test_a_missing_target_is_refused(name):
    X, y = table()
    for missing in (None, np.nan):
        labels = y.astype(object)
        labels[3] = missing
        with pytest.raises(ValueError, match="contains NaN"):
            selector(name).fit(X, labels)


@every_choosing_method
def test_regression_and_a_task_that_is_asked_for(name):
    X, _ = table()
    y = 3 * X["signal"] + X["code"] + 0.1 * X["junk"]
    fitted = selector(name).fit(X, y)
    assert fitted.task_ == "regression"
    assert "signal" in fitted.selected_features_
    assert selector(name, task="regression").fit(X, (y > 0).astype(int)).task_ == "regression"
    with pytest.raises(DataError, match="holds text, which regression cannot predict"):
        selector(name, task="regression").fit(X, table()[1])


@every_choosing_method
def test_a_feature_may_be_called_like_the_target(name):
    X, y = table()
    X = X.rename(columns={"noise": "target", "junk": "_target"})
    assert "signal" in selector(name).fit(X, y).selected_features_
    assert "signal" in selector(name).fit(X, pd.Series(y, name="signal")).selected_features_


@every_method
def test_the_target_goes_by_its_own_name(name):
    X, y = table()

    class Seen(Exception):
        pass

    test_class = discover("blanketflow.ci")[TEST_OF.get(name, "g2")]

    class Watching(test_class):
        __module__ = "blanketflow.ci"  # works in the process of the search, which passes on what it raises

        def prepare(self, bound_table, seed, target):
            raise Seen(bound_table.names[-1])

    if name not in WITH_TEST or METHODS[name].test_shorthands:
        pytest.skip("takes no test, or its options")
    with pytest.raises(Seen, match="outcome"):
        selector(name, ci_test=Watching()).fit(X, pd.Series(y, name="outcome"))


@every_method
def test_parameters_are_checked_in_fit_and_only_there(name):
    X, y = table()
    bad = {"n_folds": -1, "fold_rows": "half", "task": "ranking", "n_jobs": 1.5}
    for key, parameter in METHODS[name].parameters().items():
        if parameter.kind in ("number", "integer"):
            bad[key] = "much"
    for key, value in bad.items():
        chosen = selector(name, **{key: value})
        with pytest.raises(ParameterError, match=f"^{type(chosen).__name__}: {key} is {value!r}"):
            chosen.fit(X, y)
    with pytest.raises(ParameterError, match=r"unknown aggregate 'unoin'. Did you mean 'union'"):
        selector(name, aggregate="unoin").fit(X, y)
    with pytest.raises(DataError, match="1 folds are asked for"):
        selector(name, n_folds=1).fit(X, y)


@every_method
def test_an_unknown_parameter_offers_the_closest(name):
    with pytest.raises(TypeError, match=f"{type(selector(name)).__name__} has no parameter 'n_fold'. Did you mean"):
        selector(name, n_fold=3)


def test_an_unknown_id_offers_the_closest():
    with pytest.raises(UnknownNameError, match=r"unknown method 'mrm'. Did you mean 'mrmr'"):
        bf.get_selector("mrm")
