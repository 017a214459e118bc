"""The selectors for TabArena, with a stand-in for its base class (studies/tabarena/interface.py)."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.registry import discover
from studies.tabarena import interface

interface.stand_in()

from studies.tabarena import blanketflow_selectors as adapter  # noqa: E402  (the stand-in must be there first)

CLASSES = {
    one.method: one
    for one in vars(adapter).values()
    if isinstance(one, type) and issubclass(one, adapter.BlanketflowFeatureSelector) and hasattr(one, "method")
}
REFERENCES = {"all", "none", "true-blanket"}
COLUMNS = ["a", "b", "label", "count", "copy", "noise"]


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def table(is_number, n=150):
    """Return numbers and labels with missing cells, of which `a`, `b` and `label` matter and `copy` is nearly `a`."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "noise"])
    X["label"] = pd.Categorical(rng.choice(list("xyz"), n))
    X["count"] = rng.integers(0, 4, n)
    y = 2 * X["a"] + X["b"] + 2 * (X["label"] == "x")
    X["copy"] = X["a"] + 0.02 * rng.normal(size=n)
    X.loc[rng.random(n) < 0.05, "b"] = np.nan
    X.loc[rng.random(n) < 0.05, "label"] = np.nan
    return X[COLUMNS], y if is_number else pd.Series(np.digitize(y, [0, 2]))


def fitted(method, max_features, is_number=False, time_limit=60, **options):
    selector = CLASSES[method](max_features, **options)
    X, y = table(is_number)
    kept = selector.fit_transform(X, y, time_limit=time_limit, problem_type="regression" if is_number else "multiclass")
    return selector, list(kept)


def test_every_method_has_a_class_that_can_be_stored():
    assert set(CLASSES) == set(discover("blanketflow.selectors")) - REFERENCES
    for one in CLASSES.values():
        assert pickle.loads(pickle.dumps(one)) is one and one.name == one.__name__


@pytest.mark.parametrize("fill", [True, False])
@pytest.mark.parametrize("is_number", [True, False])
@pytest.mark.parametrize("method", CLASSES)
def test_the_limit_is_the_most_that_is_kept(method, is_number, fill):
    selector, kept = fitted(method, 2, is_number, fill=fill)
    assert len(kept) == 2 if fill else len(kept) <= 2
    assert set(kept) <= set(COLUMNS) and selector.n_at_random == 0


@pytest.mark.parametrize(("limit", "number"), [(4, 4), (0.5, 3), (lambda d: d - 1, 5)])
@pytest.mark.parametrize("method", ["hiton-mb", "jmi"])
def test_the_limit_may_be_a_number_a_share_or_a_function(method, limit, number):
    assert len(fitted(method, limit)[1]) == number
    assert len(fitted(method, limit, fill=False)[1]) <= number


def test_stand_ins_come_before_the_ranking():
    X, y = table(is_number=False)
    found = bf.HITONMB(missing="impute", task="classification").fit(X, y)
    selected, kept = found.selected_features_, fitted("hiton-mb", 5)[1]
    others = [other.feature for name in selected for other in found.stand_ins_[name]]
    assert others, "the table is made so that one of `a` and `copy` is a stand-in"
    ranked = bf.JMI(missing="impute", task="classification", n_features=5).fit(X, y).selected_features_
    expected = list(dict.fromkeys([*selected, *others, *ranked]))[:5]
    assert kept == expected and fitted("hiton-mb", 5, fill=False)[1] == selected
    assert fitted("hiton-mb", 5)[0].n_selected == len(selected)


def test_of_a_method_without_a_limit_the_first_features_are_kept():
    whole = fitted("hiton-mb", 5, fill=False)[1]
    assert len(whole) == 3 and fitted("hiton-mb", 2, fill=False)[1] == whole[:2]


@pytest.mark.parametrize("is_number", [True, False])
@pytest.mark.parametrize("method", [name for name, one in CLASSES.items() if one.limited_by])
def test_methods_that_are_told_the_limit_keep_it_themselves(method, is_number):
    X, y = table(is_number)
    limit = {CLASSES[method].limited_by: 2}
    task = "regression" if is_number else "classification"
    found = bf.get_selector(method, missing="impute", task=task, time_limit=60, **limit).fit(X, y)
    assert len(found.selected_features_) <= 2


def test_no_more_than_the_limit_is_asked_of_columns():
    with pytest.raises(ValueError, match="nothing to select"):
        fitted("jmi", 6)


def test_an_answer_that_was_not_found_in_time_is_said():
    selector, kept = fitted("hiton-mb", 2, fill=False, time_limit=1e-9)
    assert kept == [] and "hiton-mb selected nothing" in selector.messages[0]
    selector, kept = fitted("hiton-mb", 2, time_limit=1e-9)
    assert len(kept) == 2 and "hiton-mb selected nothing" in selector.messages[0]


@pytest.mark.parametrize(
    ("d", "expected"), [(7, [2, 3, 4, 5, 6]), (100, [17, 34, 50, 67, 84]), (4096, [4, 16, 64, 256, 1024])]
)
def test_budgets_are_those_of_the_protocol(d, expected):
    assert interface.budgets(d) == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("share", [0.5, 0.75, 1.0])
def test_noise_has_the_values_of_columns_in_another_order(share):
    X, _ = table(is_number=True)
    noisy, copies = interface.with_noise(X, share, np.random.default_rng(0))
    assert len(copies) == int(6 * share) and set(noisy) == {*COLUMNS, *copies}
    pd.testing.assert_frame_equal(noisy[COLUMNS], X)
    for name in copies:
        values = [sorted(map(str, X[column])) for column in X]
        assert sorted(map(str, noisy[name])) in values
