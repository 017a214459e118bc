"""HSMB: by hand on tables of counts, and as Algorithm 1 is printed, with full kernel matrices."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blanketflow as bf
from blanketflow.core.errors import UnsupportedError
from blanketflow.core.limits import Limits
from blanketflow.core.table import Column, Table
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.filters.hsic_filters import HSMB
from literal import that_vary
from literal_hsic import full_hsic, random_table


def run(features, target, limits=None, n_landmarks=1000, **options):
    test = bf.get_ci_test("hsic", n_landmarks=n_landmarks)
    return run_fold(HSMB(**options), test, features, target, 0, *([limits] if limits else []))


def kept(outcome):
    return [decision.feature for decision in outcome.decisions if decision.kept]


def algorithm_1(features, target, k):
    """Return what is left of the list S, and of each screen test which comparisons held."""
    columns = {column.name: column for column in features.columns}

    def hsic(names, column):
        return full_hsic([columns[name] for name in names], [column])

    relevance = {name: hsic([name], target) for name in columns}
    S = sorted(columns, key=lambda name: (-relevance[name], name))
    screens = []
    for feature in list(S):
        candidates, blanket = S[: S.index(feature)], []
        for _ in range(k):
            if candidates:
                nearest = [hsic([other], columns[feature]) for other in candidates]
                blanket.append(candidates.pop(nearest.index(max(nearest))))
        if not blanket:
            continue
        screen = (
            hsic(blanket, target) > hsic([*blanket, feature], target),
            hsic(blanket, target) > relevance[feature],
            hsic(blanket, columns[feature]) > relevance[feature],
        )
        screens.append(screen)
        if all(screen):
            S.remove(feature)
    return S, screens


# By hand: between columns of levels, HSIC (n - 1)^2 is the sum of squares of counts less expected counts.

TARGET = [0, 0, 0, 0, 1, 1, 1, 1]


def levels(name, values):
    return Column(name, "categorical", np.array(values, dtype=np.int32), tuple("abcdefgh"[: max(values) + 1]))


def by_hand(target=TARGET, **columns):
    table = Table([levels(name, values) for name, values in columns.items()])
    return run(table, levels("t", target))


def test_both_conditions_hold():
    # Counts of a at t: 3 1 / 1 3, expected 2: 4 squares of 1, so 4; of b: 2 2 / 2 2, so 0. a and b: 3 1 / 1 3, so 4.
    # The pairs 00, 01, 10, 11 occur 2 1 / 1 0 / 0 1 / 1 2, expected 1.5 or .5: 8 squares of .25, so 2.
    # 1. 4 > 2; 2. 4 > 0 and 4 > 0: b leaves.
    outcome = by_hand(a=[0, 0, 0, 1, 1, 1, 1, 0], b=[0, 0, 1, 1, 1, 1, 0, 0])
    assert [d.statistic * 49 for d in outcome.candidates] == pytest.approx([4, 0])
    assert kept(outcome) == ["a"]
    assert outcome.decisions[1].given == ("a",)


def test_condition_1_alone_fails():
    # a at t: 0 2 / 4 2, expected 1 1 / 3 3, so 4; b at t: 3 2 / 1 2, expected 2.5 / 1.5, so 1. a and b: 2 0 / 3 3,
    # expected 1.25 .75 / 3.75 2.25: 4 squares of .75, so 2.25. The pairs 00, 10, 11: 0 2 / 3 0 / 1 2, expected 1, 1.5,
    # 1.5: 2 + 4.5 + .5 = 7. 2. 4 > 1 and 2.25 > 1, but 1. 4 > 7 fails: with a, b tells when t is 1.
    assert kept(by_hand(a=[1, 1, 1, 1, 0, 0, 1, 1], b=[0, 0, 0, 1, 0, 0, 1, 1])) == ["a", "b"]


def test_a_tie_in_condition_1_keeps():
    # a at t: 4 1 / 0 3, expected 2.5 / 1.5, so 9; b at t: 3 3 / 1 1, so 0; a and b: 3 2 / 3 0, expected 3.75 1.25 /
    # 2.25 .75: 4 squares of .75, so 2.25. The pairs 00, 01, 10: 3 0 / 1 1 / 0 3: 4.5 + 0 + 4.5 = 9, no less than 9.
    assert kept(by_hand(a=[0, 0, 0, 0, 0, 1, 1, 1], b=[0, 0, 0, 1, 1, 0, 0, 0])) == ["a", "b"]
    # By the conditions a constant stays, too, which tells nothing and is told by nothing; so it is left out before.
    assert kept(by_hand(a=[0, 0, 0, 0, 0, 1, 1, 1], b=[0] * 8)) == ["a"]


def test_condition_2_alone_fails():
    # Each row of the first test twice, with b = 0 and b = 1. a at t: 16; the pairs have half of its counts, so 8:
    # 1. 16 > 8. b tells nothing of t and of a: 2. 16 > 0, but 0 > 0 fails. It stays: nothing stands for it.
    doubled = {"a": [0, 0, 0, 1, 1, 1, 1, 0] * 2, "b": [0] * 8 + [1] * 8}
    assert kept(by_hand(TARGET * 2, **doubled)) == ["a", "b"]


def test_what_left_is_in_no_later_blanket():
    # b, with b at t made 2 2 / 2 2, leaves as above. c is nearer to b than to a; but only a stands before it.
    a, b = [0, 0, 0, 1, 1, 1, 1, 0], [0, 0, 1, 1, 1, 1, 0, 0]
    table = Table([levels("a", a), levels("b", b), levels("c", [0, 0, 1, 1, 1, 1, 0, 0])])
    outcome = run(table, levels("t", TARGET), k=1)
    assert [(d.feature, d.given, d.kept) for d in outcome.decisions] == [
        ("a", (), True),
        ("b", ("a",), False),
        ("c", ("a",), False),
    ]


# Algorithm 1, literally.


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_equals_algorithm_1(seed, k):
    features, target = random_table(seed)
    varying = that_vary(features)
    assert kept(run(features, target, k=k)) == (algorithm_1(varying, target, k)[0] if varying else [])


def test_comparisons_decide():
    screens = Counter()
    for seed in range(100):
        screens.update(algorithm_1(*random_table(seed, (20, 40), (4, 8)), k=2)[1])
    assert screens[True, True, True] > 20
    # That the blanket tells more than the feature never decides alone: where it does not, adding the feature helps.
    assert min(screens[False, True, True], screens[True, True, False], screens[False, False, True]) > 20
    assert screens[True, False, True] == 0


def test_decisions_say_what_they_were_made_of():
    features, target = random_table(11, (30, 31), (7, 8))
    outcome = run(features, target, k=2)
    relevance = {column.name: full_hsic([column], [target]) for column in features.columns}
    found = [decision.importance for decision in outcome.candidates]
    assert found == pytest.approx([relevance[d.feature] for d in outcome.candidates], abs=1e-9)
    assert found == sorted(found, reverse=True)
    standing = []
    for decision in outcome.decisions:
        assert set(decision.given) <= set(standing)
        assert len(decision.given) == min(2, len(standing))
        standing += [decision.feature] * decision.kept


# Many rows, limits, and tests that cannot.


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_few_landmarks_decide_as_all_rows(task):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(600, 6))
    x[:, 3] = x[:, 0] + 0.2 * rng.normal(size=600)
    x[:, 4] = x[:, 1] + 0.2 * rng.normal(size=600)
    told = x[:, 0] + np.sin(2 * x[:, 1]) + 0.1 * rng.normal(size=600)
    y = Column("t", "numeric", told)
    if task == "classification":
        y = Column("t", "categorical", (told > 0).astype(np.int32), ("no", "yes"))
    features = Table([Column(f"x{j}", "numeric", x[:, j]) for j in range(6)])
    for k in range(1, 6):
        exact, near = run(features, y, k=k), run(features, y, k=k, n_landmarks=150)
        assert kept(near) == kept(exact)
        for a, b in zip(near.candidates, exact.candidates, strict=True):
            assert a.importance == pytest.approx(b.importance, rel=0.01)


def test_what_was_not_screened_when_time_is_up_stays():
    features, target = random_table(11, (30, 31), (7, 8))
    whole = run(features, target, k=1)
    stopped = run(features, target, limits=Limits(max_tests=9), k=1)
    assert (whole.status, stopped.status) == ("ok", "timeout")
    assert set(kept(whole)) < set(kept(stopped))


def test_a_test_of_something_else_is_refused():
    X, y = pd.DataFrame({"a": [0, 1, 0, 1]}), [0, 1, 0, 1]
    with pytest.raises(UnsupportedError, match="hsmb needs a test that measures hsic, which g2 does not"):
        bf.HSMB(ci_test="g2").fit(X, y)
