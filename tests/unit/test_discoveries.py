"""Discoveries at a level that is chosen afterwards: literal definitions, tables by hand, and the guarantee exactly."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.errors import ParameterError, UnreliableWarning
from blanketflow.selectors.discoveries import levels
from blanketflow.selectors.wrappers.knockoffs import e_values, passing, threshold


def literal_e_values(W, q):
    """Go through the thresholds from small to large, and stop by what was counted so far."""
    for t in sorted({abs(w) for w in W if w != 0}):
        above, below = sum(w >= t for w in W), sum(w <= -t for w in W)
        if (above and (1 + below) / above <= q + 1e-12) or below == 0:
            return [len(W) / (1 + below) if w >= t else 0.0 for w in W]
    return [0.0] * len(W)


def literal_level(values, at, d):
    """Return the smallest level at which e-BH selects a feature, out of all at which its answer can change."""
    for q in sorted(d / (k * e) for k in range(1, len(values) + 1) for e in values if e > 0):
        enough = [k for k in range(1, len(values) + 1) if sorted(values)[-k] >= d / (q * k) - 1e-9]
        if enough and values[at] >= sorted(values)[-max(enough)]:
            return q
    return math.inf


@pytest.mark.parametrize("seed", range(100))
def test_e_values_and_levels_are_their_definitions(seed):
    rng = np.random.default_rng(seed)
    W, q = np.round(rng.normal(0.8, 1, (3, 12)), 1), float(rng.choice([0.1, 0.2, 0.4]))
    draws = [literal_e_values(w.tolist(), q) for w in W]
    np.testing.assert_allclose([e_values(w, q) for w in W], draws)
    mean = np.mean(draws, axis=0)
    np.testing.assert_allclose(levels(mean, 12), [literal_level(mean.tolist(), j, 12) for j in range(12)])
    for w in W:  # one draw at its own level is the filter of knockoffs
        np.testing.assert_array_equal(passing(e_values(w, q), 12, q), threshold(w, q) <= w)


def test_levels_by_hand():
    # Four stand above the largest knockoff, so that each is a discovery at 1 / 4. At 0.1 there is none.
    W = np.array([9.0, 8, 7, 6, -5, 4, 3, 2, -1, 0])
    assert e_values(W, 0.1).tolist() == [10.0] * 4 + [0.0] * 6
    assert levels(e_values(W, 0.1), 10).tolist() == [0.25] * 4 + [math.inf] * 6
    # At 0.3 the filter stops at 2: one knockoff, (1 + 1) / 7 = 0.286.
    assert levels(e_values(W, 0.3), 10).tolist() == [2 / 7] * 4 + [math.inf] + [2 / 7] * 3 + [math.inf] * 2
    # Means over draws: 10 / (2 * 10) = 1 / 2 for two; three need 10 / (3 * 5) = 2 / 3; four 10 / (4 * 4) = 5 / 8.
    assert levels(np.array([10.0, 5, 10, 4]), 10).tolist() == [0.5, 0.625, 0.5, 0.625]


RELEVANT, PLUS, MINUS = "relevant", 1, -1


@pytest.mark.parametrize("q", [0.15, 0.25, 0.4, 0.6])
@pytest.mark.parametrize("n", [1, 4, 6])
def test_the_guarantee_is_exact_over_all_signs(n, q):
    """Over the fair signs of any irrelevant features, the mean of FDP / Q is at most 1 for the worst choice of Q."""
    for irrelevant in itertools.product([False, True], repeat=n):
        at = np.flatnonzero(irrelevant)
        for relevant_sign in (1, -1):  # relevant features may have any sign
            sums, worst = Fraction(0), Fraction(0)
            for signs in itertools.product([1, -1], repeat=len(at)):
                W = relevant_sign * np.arange(1.0, n + 1)
                W[at] = np.array(signs) * (at + 1.0)
                values = e_values(W, q)
                sums += Fraction(float(values[at].sum())).limit_denominator(10**6)
                smallest = levels(values, n)
                shares = [
                    np.isfinite(smallest[at][smallest[at] <= level]).sum() / (smallest <= level).sum() / level
                    for level in smallest[np.isfinite(smallest)]
                ]
                worst += Fraction(max(shares, default=0.0)).limit_denominator(10**6)
            assert sums / 2 ** len(at) <= n + Fraction(1, 1000)
            assert worst / 2 ** len(at) <= 1 + Fraction(1, 1000)


def table(n_true, noise=0.0, n=300, d=40):
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, X[:, :n_true].sum(axis=1) + noise * np.random.default_rng(1).normal(size=n)


def test_five_are_found_where_ten_or_none_was_the_answer():
    X, y = table(5)
    plain = bf.Knockoffs(q=0.1).fit(X, y)
    assert plain.selected_features_ == []
    assert set(plain.discoveries_["feature"]) == {f"x{j}" for j in range(5)}
    assert (plain.discoveries_[["q", "n_features", "e_value"]] == (0.2, 5, 40.0)).all().all()
    assert plain.verdict_["sentence"] == "No feature is a discovery at q = 0.1. At higher levels also: 5 more at 0.2."
    raised = bf.Knockoffs(q=0.1, max_q=0.3).fit(X, y)
    assert set(raised.selected_features_) == {f"x{j}" for j in range(5)} and raised.verdict_["q"] == 0.2
    assert bf.Knockoffs(q=0.1, max_q=0.19).fit(X, y).selected_features_ == []


def test_max_q_changes_nothing_where_q_finds_something():
    X, y = table(12, 0.5)
    plain, raised = (bf.Knockoffs(q=0.1, max_q=q).fit(X, y) for q in (None, 0.5))
    assert plain.selected_features_ == raised.selected_features_ and len(plain.selected_features_) >= 12
    assert raised.verdict_["q"] == 0.1
    with pytest.raises(ParameterError, match=r"max_q is 0\.05, but must be at least q, which is 0\.1"):
        bf.Knockoffs(q=0.1, max_q=0.05).fit(X, y)


def test_few_features_are_enough_for_a_level_that_may_be_raised():
    X, y = table(4, d=6)
    with pytest.warns(UnreliableWarning, match=r"at q = 0\.1 select at least 10 features or none, and there are 6"):
        assert bf.Knockoffs(q=0.1).fit(X, y).selected_features_ == []
    raised = bf.Knockoffs(q=0.1, max_q=0.3).fit(X, y)
    assert raised.status_ == "ok" and set(raised.selected_features_) == {f"x{j}" for j in range(4)}


def test_draws_have_a_table_of_several_levels():
    X, y = table(8, 1.5)
    found = bf.Knockoffs(draws=4).fit(X, y).discoveries_
    assert found["q"].is_monotonic_increasing and found["q"].nunique() > 1
    for row in found.itertuples():
        assert row.n_features == (found["q"] <= row.q * (1 + 1e-9)).sum()
        assert row.e_value >= 40 / (row.q * row.n_features) - 1e-9


def test_own_names_and_methods_without_levels():
    X, y = table(5)
    assert set(bf.Knockoffs().fit(pd.DataFrame(X), y).discoveries_["feature"]) == set(range(5))
    assert bf.MIM(n_features=2).fit(X, y).discoveries_.empty


def test_a_run_has_the_table():
    X, y = table(5)
    found = bf.compare(pd.DataFrame(X).add_prefix("x"), y, [{"few": {"method": "knockoffs", "folds": 0}}], evaluation=0)
    assert found.blankets[found.blankets["selector"] == "few"].empty
    assert set(found.discoveries["feature"]) == {f"x{j}" for j in range(5)}
    assert (found.discoveries[["q", "n_features"]] == (0.2, 5)).all().all()
