"""Baselines rank as worked by hand, and as scikit-learn where it has them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.feature_selection import VarianceThreshold
from sklearn.tree import DecisionTreeClassifier

import blanketflow as bf
from blanketflow.core.errors import DataError


def importances(selector):
    return dict(zip(selector.trace_["feature"], selector.trace_["importance"], strict=True))


def test_variances_are_those_of_scikit_learn_and_do_not_depend_on_the_target():
    X, y = load_wine(return_X_y=True, as_frame=True)
    found = bf.Variance(n_features=13).fit(X, y)
    assert found.selected_features_ == list(X.columns[np.argsort(-VarianceThreshold().fit(X).variances_)])
    assert bf.Variance(n_features=13).fit(X, y.sample(frac=1, random_state=0).to_numpy()).selected_features_ == (
        found.selected_features_
    )


def test_a_label_has_the_probability_that_two_rows_differ_in_it_halved():
    X = pd.DataFrame({"three": list("aabbcc"), "flag": [0.0, 0, 0, 1, 1, 1], "small": [0.0, 0, 0, 0.1, 0.1, 0.1]})
    found = importances(bf.Variance(n_features=3).fit(X, [0, 1, 0, 1, 0, 1]))
    assert found == pytest.approx({"three": 1 / 3, "flag": 1 / 4, "small": 1 / 400})


def test_a_variance_that_is_no_number_is_an_error():
    with pytest.raises(DataError, match="Divide this column"):
        bf.Variance(n_features=1).fit(pd.DataFrame({"a": [0.0, 1e200, 2.0], "b": [1.0, 2, 4]}), [0.0, 1, 2])


def test_one_rule_by_hand():
    """Play by outlook of the weather table: sunny 2 of 5 play, overcast 4 of 4, rainy 3 of 5; 10 of 14 are right."""
    letters = {"s": "sunny", "o": "overcast", "r": "rainy"}
    outlook = [letters[letter] for letter in "ssorrrossrsoor"]
    windy = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1]
    play = [{"n": "no", "y": "yes"}[letter] for letter in "nnyyynynyyyyyn"]
    found = bf.OneRule(n_features=1).fit(pd.DataFrame({"outlook": outlook, "windy": windy}), play)
    assert found.selected_features_ == ["outlook"]
    assert importances(bf.OneRule(n_features=2).fit(pd.DataFrame({"outlook": outlook, "windy": windy}), play)) == (
        pytest.approx({"outlook": 10 / 14, "windy": 9 / 14})
    )


def test_one_rule_of_numbers_is_the_accuracy_or_r2_of_a_model_of_bins():
    X, y = load_wine(return_X_y=True, as_frame=True)
    bins = X.apply(lambda x: pd.qcut(x, 4, labels=False))
    found = importances(bf.OneRule(n_features=13, bins=4).fit(X, y.astype(str)))
    by_tree = {name: DecisionTreeClassifier(random_state=0).fit(bins[[name]], y).score(bins[[name]], y) for name in X}
    assert found == pytest.approx(by_tree)
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    bins = X.apply(lambda x: pd.qcut(x, 5, labels=False, duplicates="drop"))
    r2 = importances(bf.OneRule(n_features=10).fit(X, y))
    for name in ("bmi", "s5"):
        means = y.groupby(bins[name]).transform("mean")
        assert r2[name] == pytest.approx(1 - ((y - means) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    assert max(r2, key=r2.get) in ("bmi", "s5")
