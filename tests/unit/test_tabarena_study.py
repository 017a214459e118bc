"""The study of TabArena's protocol: its selectors and what its page counts."""

import numpy as np
import pandas as pd
import pytest

from studies.tabarena import page, theirs
from studies.tabarena.data import CLASSES, NUMBERS, halves, in_turn

#: Those that do not read the target, or, of each class, only its first and last row.
BLIND = {"Random", "LaplacianScore", "Impurity"}


@pytest.fixture(scope="module")
def table():
    """Return four columns of noise, one number and one label that matter, and the classes."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 5)), columns=["u", "v", "number", "w", "x"])
    X["label"] = pd.Categorical(rng.choice(list("ab"), 300))
    X.loc[:9, "u"] = np.nan
    return X, 2 * X["number"] + 2 * (X["label"] == "a")


@pytest.mark.parametrize("is_class", [True, False])
@pytest.mark.parametrize("name", sorted(set(theirs.WAYS) - BLIND))
def test_selectors_find_what_matters(table, name, is_class):
    X, y = table
    y = pd.Series(np.digitize(y, [0, 2])) if is_class else y
    found = theirs.kept(name, theirs.Given(X, y, is_class, 0, [2, 5], seconds=60))
    assert set(found[2][0]) == {"number", "label"} and found[2][1] == 0
    assert len(set(found[5][0])) == 5


def test_what_is_not_decided_in_time_is_drawn(table):
    X, y = table
    columns, n_drawn = theirs.kept("SFS", theirs.Given(X, y, False, 0, [3], seconds=-1))[3]
    assert len(set(columns)) == 3 and n_drawn == 3


def test_consistency_keeps_a_consistent_set_of_at_most_the_limit():
    codes = np.random.default_rng(0).integers(0, 2, (200, 5)).astype(float)
    X, y = pd.DataFrame(codes, columns=list("abcde")), pd.Series(codes[:, 1].astype(int))
    found = theirs.consistency(theirs.Given(X, y, True, 0, [3], 60), 3)
    assert 1 in found and len(found) <= 3


def test_halves_are_halves_of_both_kinds():
    half = halves()
    for names in (CLASSES, NUMBERS):
        n = [sum(half[name] == one for name in names) for one in ("tuning", "held back")]
        assert 0 <= n[0] - n[1] <= 1
    assert sorted(in_turn()) == sorted(half)


def test_the_place_is_among_the_others_alone():
    columns = [*page.THEIRS, *page.OURS]
    scores = pd.DataFrame([np.linspace(0.9, 0.1, len(columns))] * 2, columns=columns)
    for method in page.OURS:
        assert page.place(scores, method)[0] == len(page.THEIRS) + 1
    scores["auto"] = 1.0
    assert page.place(scores, "auto") == (1, 1.0)


def test_noise_of_what_is_selected_is_counted_at_the_largest_number():
    shared = {"round": "noise", "set": "a", "of": 100, "method": "iamb"}
    rows = [
        {**shared, "budget": 0, "features": "noise_1", "selected": 1},
        {**shared, "budget": 4, "features": "x noise_1 y z noise_0", "selected": 4},
        {**shared, "budget": 4, "features": "noise_0 y", "selected": 0, "method": "stmb"},
    ]
    found = page.own_noise(pd.DataFrame(rows))
    assert found.loc[("iamb", "a", 100)].tolist() == [4, 0.25] and found.loc[("stmb", "a", 100)].tolist() == [0, 0]
