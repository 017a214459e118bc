"""IPSS: the authors' package on recorded selections, a literal rendering, and what the method does with both."""

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso, LinearRegression

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ParameterError, UnknownNameError, UnreliableWarning
from blanketflow.core.table import column_from_array
from blanketflow.search.run_fold import run_problem
from blanketflow.selectors.base import Problem
from blanketflow.selectors.wrappers.halves import complementary_halves
from blanketflow.selectors.wrappers.ipss import IPSS, expected_false, moments, q_values, weights
from ipss_recorded import CASES, selections

RECORDED = json.loads((Path(__file__).parent / "ipss_recorded.json").read_text(encoding="utf-8"))


#: Cases in which the package ends before the paths have settled.
ENDS_EARLY = (2,)


@pytest.mark.parametrize(("case", "recorded"), zip(CASES, RECORDED, strict=True))
def test_expected_numbers_and_q_values_are_the_packages(case, recorded):
    """The package is named in ipss_recorded.py."""
    seed, d, n_relevant, n_pairs, n_strengths, power, delta, cutoff = case
    chosen, strengths = selections(seed, d, n_relevant, n_pairs, n_strengths)
    halves = chosen.transpose(1, 0, 2, 3).reshape(n_strengths, 2 * n_pairs, d)
    shares, sizes = halves.mean(axis=1), halves.sum(axis=2).mean(axis=1)
    # The package ends where no path has changed for two strengths, even if paths change again.
    still = [i for i in range(2, n_strengths) if (shares[i] == shares[i - 2]).all() and shares[i].mean() > 0.01]
    for_good = [i for i in still if (shares[i - 2 :] == shares[[i, i - 1] * n_strengths][: n_strengths - i + 2]).all()]
    n = still[0] if still and still[0] not in for_good else n_strengths
    assert (n < n_strengths) == (seed in ENDS_EARLY)
    shares, sizes, strengths = shares[:n], sizes[:n], strengths[:n]
    expected, _ = expected_false(shares, sizes, strengths, n_pairs, power, cutoff, delta)
    np.testing.assert_allclose(expected, recorded["efp_scores"], rtol=1e-12)
    np.testing.assert_allclose(q_values(expected), recorded["q_values"], rtol=1e-12)


@pytest.mark.skipif(importlib.util.find_spec("ipss") is None, reason="the package ipss is not installed")
def test_the_record_is_what_the_package_says():
    from ipss.processing import postprocess_ipss

    for case, recorded in zip(CASES, RECORDED, strict=True):
        seed, d, n_relevant, n_pairs, n_strengths, power, delta, cutoff = case
        chosen, strengths = selections(seed, d, n_relevant, n_pairs, n_strengths)
        asked = n_strengths, d, d, np.arange(d), n_pairs, cutoff, delta, f"h{power}", None, None
        found = postprocess_ipss(chosen, strengths, *asked)
        assert [found["efp_scores"][j] for j in range(d)] == recorded["efp_scores"]


@pytest.mark.parametrize("power", [1, 2, 3])
def test_moments_of_a_binomial_share(power):
    for n, chance in ((1, 0.3), (4, 0.3), (9, 0.05)):
        sums = sum(math.comb(n, k) * chance**k * (1 - chance) ** (n - k) * (k / n) ** power for k in range(n + 1))
        assert moments(np.array([chance]), n, power)[0] == pytest.approx(sums)


def test_weights_are_a_measure():
    """The sum over strengths of equal ratios becomes the integral of strength^-delta, of mass 1."""
    for delta in (0.0, 0.5, 1.0, 1.25):
        strengths = np.geomspace(2.0, 0.01, 20_000)
        assert weights(strengths, delta).sum() == pytest.approx(1.0, abs=1e-3)
        above = weights(strengths, delta)[strengths[1:] > 0.5].sum()
        integral = np.log if delta == 1 else lambda x, e=1 - delta: x**e / e
        part = (integral(2.0) - integral(0.5)) / (integral(2.0) - integral(0.01))
        assert above == pytest.approx(part, abs=1e-3)


def literal(X, y, pairs, seed, power=2, cutoff=0.05):
    """Return E(FP) of each column by loops over penalties and features, with scikit-learn's lasso at each penalty."""

    def standard(values):
        return (values - values.mean(axis=0)) / values.std(axis=0)

    n, d = X.shape
    highest = max(abs(standard(X).T @ standard(y))) / n
    coefficients = {}
    for penalty in np.geomspace(highest, highest / 1000, 100):
        coefficients[penalty] = Lasso(alpha=penalty, fit_intercept=False, tol=1e-8).fit(standard(X), standard(y)).coef_
    last = next((p for p, of in coefficients.items() if sum(of != 0) >= 0.75 * d), highest / 1000)
    penalties = [2 * highest * (last / (2 * highest)) ** (i / 24) for i in range(25)]
    counts, sizes = np.zeros((25, d)), np.zeros(25)
    for pair in complementary_halves(n, None, pairs, seed):
        for rows in pair:
            for i, penalty in enumerate(penalties):
                lasso = Lasso(alpha=penalty, fit_intercept=False, tol=1e-8)
                chosen = lasso.fit(standard(X[rows]), standard(y[rows])).coef_ != 0
                counts[i] += chosen
                sizes[i] += chosen.sum()
    shares, sizes = counts / (2 * pairs), sizes / (2 * pairs)
    step = (1 - (last / (2 * highest)) ** (1 / 25)) / math.log(2 * highest / last)
    bound, end = 0.0, 25
    for i in range(24):
        s = (sizes[i] / d) ** 2
        of_one = {1: s, 2: s / pairs + (pairs - 1) / pairs * s**2}[power]
        if bound + step * d * of_one > cutoff:
            end = i + 1
            break
        bound += step * d * of_one
    first, last = penalties[0], penalties[end - 1]
    step = (1 - (last / first) ** (1 / end)) / math.log(first / last)
    scores = [sum(step * max(0.0, 2 * shares[i, j] - 1) ** power for i in range(end - 1)) for j in range(d)]
    return [min(d, bound / score) if score else d for score in scores]


NAMES = [f"x{j:02}" for j in range(15)]


@pytest.mark.parametrize("power", [1, 2])
def test_the_method_is_its_definition(power):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 15))
    y = X[:, 2] - 0.8 * X[:, 5] + 0.4 * X[:, 9] + rng.normal(size=90)
    known = as_table(pd.DataFrame(X, columns=NAMES)).with_column(column_from_array("y", y))
    found = run_problem(IPSS(pairs=8, power=power), Problem(NAMES, "y", None, 7, lambda: known, None))
    grown = {step.feature: step.statistic for step in found.grown}
    expected = literal(X, y, 8, 7, power)
    told = [grown.get(name, 15.0) for name in NAMES]
    # A coefficient near 0 depends on where the coordinate descent ends.
    np.testing.assert_allclose(told, expected, rtol=1e-3)
    # The q-value: of all sets {E(FP) <= t} with the feature, the least ratio of t to the size of the set.
    levels = found.verdict["discoveries"]
    assert levels["feature"]
    for name, q in zip(levels["feature"], levels["q"], strict=True):
        own = told[NAMES.index(name)]
        assert q == pytest.approx(min(t / sum(e <= t for e in told) for t in told if t >= own))


def table(n=200, d=30, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"f{j:02}" for j in range(d)])
    return X, X["f03"] - X["f07"] + 0.7 * X["f11"] + rng.normal(size=n)


RIGHT = {"f03", "f07", "f11"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"power": 3},
        {"base": "model", "model": LinearRegression(), "pairs": 20},
        {"base": "model", "model": {"type": "forest", "n_estimators": 20}, "pairs": 10},
        {"base": "fisher-markov", "pairs": 20},
        {"base": "relief", "pairs": 10},
        {"base": "mim", "pairs": 20, "q": 0.3},
        {"max_false": 0.5},
    ],
)
def test_true_features_are_found(options):
    X, y = table()
    found = bf.IPSS(**options).fit(X, y)
    assert len(set(found.selected_features_) & RIGHT) >= 2 and len(found.selected_features_) <= 4
    assert len(bf.IPSS(**options).fit(X, np.random.default_rng(9).normal(size=len(X))).selected_features_) <= 1


def test_classes_and_what_the_verdict_says():
    X, y = table()
    found = bf.IPSS(q=0.2).fit(X, np.where(y > 0, "high", "low"))
    assert set(found.selected_features_) >= {"f03", "f07"}
    n_kept = len(found.selected_features_)
    assert found.verdict_["sentence"].startswith(f"{n_kept} of 30 features are discoveries at q = 0.2")
    levels = found.discoveries_.set_index("feature")["q"]
    assert set(levels.index[levels <= 0.2]) == set(found.selected_features_)
    assert found.plot(paths=True).to_dict()["layer"]
    few = bf.IPSS(max_false=0.5).fit(X, y)
    n = len(few.selected_features_)
    assert n >= 3 and few.verdict_["sentence"] == f"{n} features are kept with at most 0.5 false in expectation."
    assert set(few.selected_features_) == set(few.discoveries_.query("expected_false <= 0.5")["feature"])


def test_of_near_copies_one_is_kept():
    X, y = table()
    copies = {f"f03_{c}": X["f03"] + 1e-3 * np.random.default_rng(c).normal(size=len(X)) for c in range(4)}
    found = bf.IPSS(base="model", model=LinearRegression(), pairs=20, q=0.2).fit(X.assign(**copies), y)
    assert sum(name.startswith("f03") for name in found.selected_features_) >= 1


@pytest.mark.parametrize("base", ["lasso", "model", "mrmr"])
def test_nothing_is_found_where_nothing_varies(base):
    assert bf.IPSS(base=base, pairs=2).fit(np.ones((30, 4)), np.arange(30.0)).selected_features_ == []
    X = np.random.default_rng(0).normal(size=(30, 4))
    assert bf.IPSS(base=base, pairs=2).fit(X, np.r_[np.zeros(29), 1.0]).selected_features_ == []


def test_one_strong_feature_does_not_end_the_paths():
    """It enters long before all others, so that all paths stay equal for some penalties."""
    X, y = table()
    found = bf.IPSS(q=0.2).fit(X, y + 20 * X["f20"])
    assert set(found.selected_features_) >= {"f20", "f03", "f07"}


def test_few_features_say_so():
    X, y = table(d=14)
    with pytest.warns(UnreliableWarning, match="hardly lets anything be found among 4 features: raise q, or take dcrt"):
        bf.IPSS(q=0.01).fit(X.iloc[:, :4], y)
    assert bf.DCRT().fit(X.iloc[:, :4], y).selected_features_


def test_options_that_cannot_be():
    X, y = table()
    with pytest.raises(ParameterError, match="power is 4, but must be 1, 2 or 3, or null"):
        bf.IPSS(power=4).fit(X, y)
    with pytest.raises(UnknownNameError, match="unknown model"):
        bf.IPSS(base="model", model="nothing").fit(X, y)
    with pytest.raises(ParameterError, match="neither feature_importances_ nor coef_"):
        bf.IPSS(base="model", model="knn").fit(X, y)
