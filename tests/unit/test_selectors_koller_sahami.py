"""Koller-Sahami: what it removes is what the published criterion says, by hand and by an exhaustive rendering."""

import math
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
from blanketflow.selectors.causal import koller_sahami
from blanketflow.selectors.causal.koller_sahami import KollerSahami
from literal_information import chance

G2 = bf.get_ci_test("g2", min_samples_per_cell=0)


def expected_cross_entropy(target, feature, blanket):
    """Return the sum over m, f of P(m, f) D(P(T | m, f) || P(T | m)), as published."""
    n = len(target)
    of_m = Counter(blanket)
    of_mf = Counter(zip(blanket, feature, strict=True))
    of_tm = Counter(zip(target, blanket, strict=True))
    of_tmf = Counter(zip(target, blanket, feature, strict=True))
    total = 0.0
    for (m, f), count in of_mf.items():
        divergence = 0.0
        for t in set(target):
            p = of_tmf[t, m, f] / count
            q = of_tm[t, m] / of_m[m]
            divergence += p * math.log(p / q) if p else 0.0
        total += count / n * divergence
    return total


def literal(X, y, n_features, k, by, adjusted=False):
    """Return removals in order and what is left; all is computed anew in each round."""
    left, removed = [name for name in X if X[name].nunique() > 1], []

    def rows(names):
        return list(zip(*(X[name] for name in names), strict=True)) if names else [()] * len(y)

    def distance(i, j):
        if by == "gamma":
            return round(expected_cross_entropy(y, list(X[i]), rows([j])) - by_chance(y, i, [j]), 12)
        return -round(expected_cross_entropy(list(X[j]), list(X[i]), rows([])) - by_chance(list(X[j]), i, []), 12)

    def by_chance(of, i, given, deviations=0.0):
        mean, deviation = chance(list(X[i]), of, *(X[name] for name in given)) if adjusted else (0.0, 0.0)
        return mean + deviations * deviation

    while len(left) > n_features:
        lost = {}
        for i in left:
            nearest = sorted((j for j in left if j != i), key=lambda j: (distance(i, j), list(X).index(j)))[:k]
            lost[i] = round(expected_cross_entropy(y, list(X[i]), rows(nearest)) - by_chance(y, i, nearest, 2.33), 12)
        least = [i for i in left if lost[i] == min(lost.values())][-1]
        left.remove(least)
        removed.append(least)
    return removed, left


def run(X, y, limits=None, test=G2, **options):
    table = Table([Column(name, "integer", X[name].to_numpy()) for name in X])
    target = Column("y", "integer", np.asarray(y))
    options = {"information": "plug-in", **options}
    return run_fold(KollerSahami(**options), test, table, target, 0, *([limits] if limits else []))


def removals_and_rest(outcome):
    removed = [d.feature for d in outcome.decisions if not d.kept]
    return removed, [d.feature for d in outcome.decisions if d.kept]


def test_the_expected_cross_entropy_is_the_conditional_mutual_information_by_hand():
    # Given m = 0, half of the rows, f is t and tells log 2; given m = 1 it tells nothing.
    t, f, m = [0, 1, 0, 1, 0, 1, 0, 1], [0, 1, 0, 1, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]
    assert expected_cross_entropy(t, f, m) == pytest.approx(0.5 * math.log(2))
    result = G2.bind(pd.DataFrame({"t": t, "f": f, "m": m})).test("f", "t", ["m"])
    assert result.statistic / 16 == pytest.approx(0.5 * math.log(2))


def test_by_hand():
    # t = a or b, copy is a, and toss tells nothing of anything.
    a, b, toss = (np.tile(np.repeat([0, 1], n), 8 // n // 2) for n in (4, 2, 1))
    X, y = pd.DataFrame({"a": a, "b": b, "copy": a, "toss": toss}), a | b
    # Nearest with k = 1: a and copy are each other's, and given it each says nothing, as toss does given a, the first
    # of equals. b given a says log 2 in the half where a is 0. Of three that say nothing the last, toss, goes; then
    # copy. Then a, given b, says half of log 2, as b given a does: b goes, the last of the least.
    removed, rest = removals_and_rest(run(X, y, n_features=1, k=1))
    assert (removed, rest) == (["toss", "copy", "b"], ["a"])
    decisions = {d.feature: d for d in run(X, y, n_features=2, k=1).decisions}
    assert decisions["copy"].given == ("a",)
    assert decisions["b"].importance == pytest.approx(0.5 * math.log(2))
    assert decisions["copy"].importance == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(0, 3), st.sampled_from(["correlation", "gamma"]))
def test_equals_a_rendering_that_computes_all_anew(seed, n_features, k, by):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(6, 40), rng.integers(1, 6)
    X = pd.DataFrame({f"f{j}": rng.integers(0, rng.integers(2, 4), n) for j in range(d)})
    if d > 2:
        X["f2"] = X["f0"] ^ (rng.random(n) < 0.1)
    y = (X["f0"] + (rng.random(n) < 0.2)).to_numpy()
    assert removals_and_rest(run(X, y, n_features=n_features, k=k, by=by)) == literal(X, list(y), n_features, k, by)


def test_gaussian_features_are_near_by_their_correlation():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 6)), columns=list("abcdef"))
    X["b"] = -X["a"] + 0.3 * rng.normal(size=100)
    X["d"] = X["c"] + 0.5 * rng.normal(size=100)
    y = X["a"] + X["c"] + rng.normal(size=100)
    fitted = bf.KollerSahami(ci_test="fisher-z", n_features=3, k=2).fit(X, y)
    trace = fitted.trace_[fitted.trace_["stage"] == "shrink"]
    correlation = X.corr().abs()
    left = list(X)
    for feature, kept, given_ in zip(trace["feature"], trace["kept"], trace["given"], strict=True):
        assert given_ == list(correlation.loc[feature, left].drop(feature).nlargest(2).index)
        if not kept:
            left.remove(feature)
    assert sorted(fitted.selected_features_) == sorted(left)


def test_only_what_changed_is_computed_again():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 3, (200, 8)), columns=[f"f{j}" for j in range(8)])
    y = rng.integers(0, 2, 200)
    outcome = run(X, y, n_features=3, k=1)
    removed = {d.feature for d in outcome.decisions if not d.kept}
    # 8 marginal tests, 28 pairs, 8 conditional ones, and in each of 5 rounds those whose nearest had gone.
    assert len(removed) == 5
    assert 8 + 28 + 8 <= outcome.n_tests < 8 + 28 + 8 + 7 + 6 + 5 + 4 + 3


def test_what_is_left_when_time_is_up_is_an_answer():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.integers(0, 3, (200, 8)), columns=[f"f{j}" for j in range(8)])
    y = X["f0"] % 2
    whole = run(X, y, n_features=2, k=2)
    stopped = run(X, y, limits=Limits(max_tests=28 + 8 + 6), n_features=2, k=2)
    assert (whole.status, stopped.status) == ("ok", "timeout")
    removed, rest = removals_and_rest(stopped)
    assert 0 < len(removed) < 6
    assert removed == removals_and_rest(whole)[0][: len(removed)]
    assert sorted(removed + rest) == sorted(X)


@pytest.mark.parametrize("by", ["correlation", "gamma"])
def test_all_stay_when_there_are_no_more_than_wanted(by):
    X = pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]})
    assert removals_and_rest(run(X, [0, 1, 1, 0], n_features=2, by=by)) == ([], ["a", "b"])
    assert removals_and_rest(run(X[["a"]], [0, 1, 1, 0], by=by)) == ([], ["a"])


def test_more_features_than_pairs_can_be_kept_of_are_refused():
    X = np.zeros((4, koller_sahami.MOST_IN_PAIRS + 1), dtype=np.int8)
    X[:2] = 1
    with pytest.raises(UnsupportedError, match=r"of at most 32,000 features; there are 32,001. Choose some of them"):
        bf.KollerSahami().fit(X, [0, 0, 1, 1])
    for k in (0, 10**9):  # of which there are not so many
        assert bf.KollerSahami(k=k).fit(X[:, :50], [0, 0, 1, 1]).get_support().sum() == 10
