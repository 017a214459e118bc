"""BAHSIC: by hand on tables of counts, and as its backward elimination is published, with full kernel matrices."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blanketflow as bf
from blanketflow.core.errors import ParameterError, UnsupportedError
from blanketflow.core.table import Column, Table
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.filters.hsic_filters import BAHSIC
from literal import that_vary
from literal_hsic import full_hsic, random_table


def run(features, target, n_landmarks=1000, **options):
    return run_fold(BAHSIC(**options), bf.get_ci_test("hsic", n_landmarks=n_landmarks), features, target, 0)


def ranking(outcome):
    return [step.feature for step in outcome.candidates]


def backward_elimination(features, target, share):
    """Return features, the last to leave first, and the HSIC of the rest when each left."""
    left, removed = sorted(features.columns, key=lambda column: column.name), []
    while len(left) > 1:
        scores = [full_hsic([c for c in left if c is not column], [target]) for column in left]
        count = max(1, round(share * len(left)))
        leaving = sorted(range(len(left)), key=lambda i: (-scores[i], -i))[:count]
        removed += [(left[i].name, scores[i]) for i in leaving]
        left = [column for i, column in enumerate(left) if i not in leaving]
    removed += [(column.name, 0.0) for column in left]
    return removed[::-1]


def test_by_hand():
    # t is 1 where a and b are. HSIC times 49 is the sum of squares of counts less expected counts. c: copy of a.
    a, b = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]
    t = [0, 0, 0, 0, 0, 0, 1, 1]
    # Each of a, b, c alone: 4 0 / 2 2, expected 3 1 / 3 1, so 4. {a, b} and {b, c}: cells 2 0, 2 0, 2 0, 0 2, expected
    # 1.5 .5: 3 * .5 + 4.5 = 6; {a, c} as a: 4. d: none, as 01010101, of which a set has each cell in two: {a, b} with d
    # has half of 6, {a, c} with d half of 4, and {a, b, c} as {a, b}.
    # Round 1: without d 6, without a or c 3, without b 2: d leaves. Round 2: without c or a 6, without b 4: c leaves,
    # the last of the largest. Round 3: 4 without a, 4 without b: b leaves, and a is left.
    table = Table([Column(n, "boolean", np.array(x)) for n, x in zip("abcd", (a, b, a, [0, 1] * 4), strict=True)])
    outcome = run(table, Column("t", "boolean", np.array(t)))
    assert ranking(outcome) == ["a", "b", "c", "d"]
    assert [step.statistic * 49 for step in outcome.candidates] == pytest.approx([0, 4, 6, 6], abs=1e-7)
    assert [step.importance for step in outcome.candidates] == [3, 2, 1, 0]


def test_a_share_leaves_at_once():
    # Half of the four leave in the first round, d and then c; and one of two in the second, b.
    a, b = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]
    table = Table([Column(n, "boolean", np.array(x)) for n, x in zip("abcd", (a, b, a, [0, 1] * 4), strict=True)])
    outcome = run(table, Column("t", "boolean", np.array([0] * 6 + [1] * 2)), share=0.5)
    assert ranking(outcome) == ["a", "b", "c", "d"]
    assert [step.statistic * 49 for step in outcome.candidates] == pytest.approx([0, 4, 3, 6], abs=1e-7)
    assert outcome.n_tests == 4 + 4 + 2


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.3, 0.5, 0.9]))
def test_equals_backward_elimination(seed, share):
    features, target = random_table(seed)
    varying = that_vary(features)
    wanted = backward_elimination(varying, target, share) if varying else []
    found = run(features, target, share=share).candidates
    assert [step.feature for step in found] == [name for name, _ in wanted]
    assert [step.statistic for step in found] == pytest.approx([value for _, value in wanted], abs=1e-9)


def test_parts_of_the_rows_are_not_tested_marginally(monkeypatch):
    features, target = random_table(3, (40, 41), (6, 7))
    found = run(features, target, n_features="auto", share=0.5)
    assert found.n_tests == 6 + (6 + 3) * 6  # the marginal tests, and rounds of all rows and of five parts
    monkeypatch.setattr(BAHSIC, "reads_marginal", True)
    tested = run(features, target, n_features="auto", share=0.5)
    assert tested.n_tests == found.n_tests + 5 * 6 and signed(tested) == signed(found)


def signed(outcome):
    return [(step.feature, step.kept) for step in outcome.decisions]


def test_one_ranking_serves_every_number():
    features, target = random_table(11, (30, 31), (7, 8))
    whole = ranking(run(features, target, n_features=7))
    for n in range(1, 7):
        assert ranking(run(features, target, n_features=n)) == whole[:n]
    outcome = run(features, target, n_features=[2, 5])
    assert [answer.features for answer in outcome.answers] == [tuple(whole[:2]), tuple(whole[:5])]
    assert 1 <= sum(step.kept for step in run(features, target, n_features="auto").decisions) <= 7


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_few_landmarks_rank_as_all_rows(task):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(500, 7))
    told = x[:, 2] + 0.7 * np.sin(2 * x[:, 4]) + 0.4 * np.abs(x[:, 6]) + 0.1 * rng.normal(size=500)
    y = Column("t", "numeric", told)
    if task == "classification":
        y = Column("t", "categorical", np.digitize(told, [-0.5, 0.5]).astype(np.int32), ("low", "middle", "high"))
    features = Table([Column(f"x{j}", "numeric", x[:, j]) for j in range(7)])
    exact, near = run(features, y), run(features, y, n_landmarks=200)
    assert set(ranking(near)[:3]) == set(ranking(exact)[:3]) == {"x2", "x4", "x6"}
    assert ranking(near)[:3] == ranking(exact)[:3]


def test_what_cannot_be_is_refused():
    X, y = pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]}), [0, 1, 0, 1]
    with pytest.raises(UnsupportedError, match="bahsic needs a test that measures hsic, which fisher-z does not"):
        bf.BAHSIC(ci_test="fisher-z").fit(X, y)
    with pytest.raises(ParameterError, match="share is 1"):
        bf.BAHSIC(share=1).fit(X, y)
