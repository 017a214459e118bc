"""SGAI: alpha-investing by hand and against a literal rendering, and the sets visited in order."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

import blanketflow as bf
from blanketflow.core.table import Column, Table
from blanketflow.selectors.causal.res import alpha_investing
from literal import KnownTest


def bind(answer, names):
    table = Table([Column(name, "numeric", np.zeros(2)) for name in [*names, "t"]])
    return KnownTest(answer=answer).bind(table)


def test_by_hand():
    # W: 1/2, tests at 1/4; a at 0.2 enters: W = 1/2 - 1/4 + 1/2 = 3/4, tests at 3/16 = 0.1875;
    # b at 0.19 does not: W = 9/16, tests at 9/96 = 0.09375; c at 0.09 does: W = 31/32, tests at 31/256 = 0.121...;
    # d at 0.13 does not.
    p = {"a": 0.2, "b": 0.19, "c": 0.09, "d": 0.13}
    decisions = list(alpha_investing(bind(lambda x, y, z: p[x], "abcd"), "t", list("abcd")))
    assert [(d.feature, d.kept, d.given) for d in decisions] == [
        ("a", True, ()),
        ("b", False, ("a",)),
        ("c", True, ("a",)),
        ("d", False, ("a", "c")),
    ]


def test_an_unreliable_test_never_admits_where_that_is_the_rule():
    test = KnownTest(answer=lambda x, y, z: 1e-9, unreliable="undecided", is_reliable=lambda x, y, z: x != "a")
    bound = test.bind(Table([Column(name, "numeric", np.zeros(2)) for name in "abt"]))
    assert [d.kept for d in alpha_investing(bound, "t", list("ab"))] == [False, True]


@given(
    st.lists(st.sampled_from([0.001, 0.01, 0.04, 0.0625, 0.1, 0.125, 0.1875, 0.25, 0.3, 0.9]), min_size=1, max_size=12),
    st.sampled_from([0.5, 0.25, 1.0]),
    st.sampled_from([0.5, 0.25, 0.05]),
)
def test_against_exact_fractions(p_values, wealth, payout):
    names = [f"f{i}" for i in range(len(p_values))]
    bound = bind(lambda x, y, z: p_values[int(x[1:])], names)
    found = [d.kept for d in alpha_investing(bound, "t", names, wealth, payout)]
    w, wanted = Fraction(wealth), []
    for i, p in enumerate(p_values, start=1):
        alpha = w / (2 * i)
        wanted.append(Fraction(p) < alpha)
        w += Fraction(payout) - alpha if wanted[-1] else -alpha
        assert w > 0
    assert found == wanted
    assert bound.n_tests == len(names)


def gaussian(n=300, seed=0):
    """Return two causes of y with two correlated columns each, a child, and noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    for name in ("a1", "a2", "b1", "b2"):
        X[name] = X[name[0]] + rng.normal(size=n)
    y = X["a"] + 0.6 * X["b"] + rng.normal(size=n)
    X["child"] = y + 2 * rng.normal(size=n)
    X["noise"] = rng.normal(size=n)
    return X, y.rename("y")


@pytest.mark.parametrize("seed", range(6))
def test_equals_a_literal_rendering_with_regressions(seed):
    X, y = gaussian(seed=seed)
    fitted = bf.SGAI(alpha=0.01).fit(X, y)
    trace = fitted.trace_

    def p_given(feature, admitted):
        small = sm.OLS(y.to_numpy(), sm.add_constant(X[admitted].to_numpy(), has_constant="add")).fit()
        large = sm.OLS(y.to_numpy(), sm.add_constant(X[[*admitted, feature]].to_numpy(), has_constant="add")).fit()
        return large.compare_f_test(small)[1] if admitted else large.pvalues[1]

    alone = {name: p_given(name, []) for name in X}
    grown = trace[trace["stage"] == "grow"]
    members = sorted(grown[grown["role"] == "parent_or_child"]["feature"], key=alone.get)
    assert set(members) >= {"a", "b"}
    res = bf.RES(ci_test="lr-mixed", alpha=0.01).fit(X, y)
    assert set(grown["feature"]) == set(res.selected_features_)
    # The groups stand side by side in grow, each led by its member.
    order, group = [], []
    for feature, role in zip(grown["feature"], grown["role"], strict=True):
        if role == "parent_or_child" and group:
            order += sorted(group, key=alone.get)
            group = []
        group.append(feature)
    order += sorted(group, key=alone.get)
    assert [name for name in order if name in members] == members
    wealth, admitted = 0.5, []
    for i, feature in enumerate(order, start=1):
        level, p = wealth / (2 * i), p_given(feature, admitted)
        row = trace[(trace["stage"] == "shrink") & (trace["feature"] == feature)].iloc[0]
        assert row["p_value"] == pytest.approx(p, rel=1e-6)
        assert row["kept"] == (p < level)
        assert row["given"] == admitted
        wealth += (0.5 if p < level else 0.0) - level
        admitted = [*admitted, feature] if p < level else admitted
    assert set(fitted.selected_features_) == set(admitted) >= {"a", "b"}


def test_wealth_decides_how_much_is_admitted():
    X, y = gaussian(n=60, seed=1)
    counts = [
        len(bf.SGAI(wealth=w, payout=w, ci_test="fisher-z").fit(X, y).selected_features_) for w in (1e-6, 0.1, 1.0)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
