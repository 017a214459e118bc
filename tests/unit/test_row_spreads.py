"""Rows that differ in spread in all their numbers: what tells them, their spreads, and what knockoffs do about them."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.errors import UnreliableWarning
from blanketflow.selectors.knockoff import columns_for_knockoffs as of_rows
from blanketflow.selectors.knockoff.columns_for_knockoffs import SHARED, row_spreads, shared_spread


def chain(rng, n, d):
    """Gaussian rows whose neighbours correlate by a half."""
    covariance = 0.5 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    return rng.standard_normal((n, d)) @ np.linalg.cholesky(covariance).T


def factors_of_t(rng, n, degrees=2):
    return 1 / np.sqrt(rng.chisquare(degrees, (n, 1)) / degrees)


@pytest.mark.parametrize("seed", range(3))
def test_the_shared_spread_is_the_mean_excess_over_pairs(seed):
    rng = np.random.default_rng(seed)
    X = (chain(rng, 60, 7) * factors_of_t(rng, 60)).round(1)  # with ties
    scores = stats.norm.ppf(stats.rankdata(X, axis=0) / 61)
    scores -= scores.mean(axis=0)
    excess = [
        np.corrcoef(scores[:, j] ** 2, scores[:, k] ** 2)[0, 1] - np.corrcoef(scores[:, j], scores[:, k])[0, 1] ** 2
        for j in range(7)
        for k in range(7)
        if j != k
    ]
    assert shared_spread(X) == pytest.approx(np.mean(excess), abs=1e-9)


def test_gaussian_rows_share_no_spread_and_those_from_t_do():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for d in (10, 60):
            rows = chain(rng, 300, d)
            assert shared_spread(rows) < SHARED < shared_spread(rows * factors_of_t(rng, 300, 5))
            own = rows * np.hstack([factors_of_t(rng, 300) for _ in range(d)])
            assert max(shared_spread(own), shared_spread(np.exp(rows))) < SHARED  # tails of a column by itself
    assert shared_spread(np.ones((5, 1))) == shared_spread(np.ones((5, 0))) == 0


def test_spreads_are_found_in_any_unit_and_of_wild_cells():
    rng = np.random.default_rng(0)
    spreads = factors_of_t(rng, 200)
    X = chain(rng, 200, 80) * spreads * np.geomspace(1e-6, 1e6, 80) + np.linspace(-5, 5, 80)
    found, wanted = row_spreads(X), np.ravel(spreads / np.median(spreads))
    assert np.abs(np.log(found / wanted)).mean() < 0.12
    wild = X.copy()
    wild[rng.random(X.shape) < 0.01] *= 1e6
    assert np.abs(np.log(row_spreads(wild) / found)).max() < 0.25


def test_each_row_and_column_has_the_mean_of_cut_squares_of_a_standard_gaussian():
    rng = np.random.default_rng(1)
    X = chain(rng, 90, 40) * factors_of_t(rng, 90)
    rows = row_spreads(X)
    z = np.random.default_rng(2).normal(size=2_000_000)
    wanted = np.minimum(z**2, 4).mean()
    centred = X - np.median(X, axis=0)
    columns = np.ones(40)
    for _ in range(200):  # column by column, by bisection: the mean falls with the scale
        scaled = centred / rows[:, np.newaxis] / columns
        columns *= np.sqrt(np.minimum(scaled**2, 4).mean(axis=0) / wanted)
    means = np.minimum((centred / rows[:, np.newaxis] / columns) ** 2, 4).mean(axis=1)
    assert means == pytest.approx(np.full(90, wanted), rel=0.01)


def shares(seed, spread_of, n=300, d=60):
    """The share of false features of one search at q = 0.1, and whether it said ok."""
    rng = np.random.default_rng(seed)
    X = chain(rng, n, d) * spread_of(rng, n)
    true = rng.permutation(d)[: d // 3]
    y = X[:, true] @ rng.choice([-0.25, 0.25], len(true)) + rng.standard_normal(n)
    fitted = bf.Knockoffs(q=0.1, random_state=seed).fit(X, y)
    kept = fitted.get_support(indices=True)
    return len(set(kept) - set(true.tolist())) / max(len(kept), 1), fitted.status_ == "ok"


def test_the_false_discovery_rate_of_rows_from_t_is_not_above_q(monkeypatch):
    found = np.array([shares(seed, factors_of_t) for seed in range(60)])
    error = found[:, 0].std(ddof=1) / np.sqrt(60)
    assert found[:, 0].mean() - 2 * error <= 0.1
    assert found[:, 1].all()
    monkeypatch.setattr("blanketflow.selectors.wrappers.knockoffs.SHARED", np.inf)
    as_gaussian = np.array([shares(seed, factors_of_t)[0] for seed in range(60)])
    assert as_gaussian.mean() - 2 * as_gaussian.std(ddof=1) / np.sqrt(60) > 0.1


def test_knockoffs_of_gaussian_rows_are_what_they_are_without_a_look_at_spreads(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = chain(rng, 200, 30), rng.standard_normal(200)
    y += X[:, :12].sum(axis=1)
    found = bf.Knockoffs(q=0.2).fit(X, y).importances_
    monkeypatch.setattr("blanketflow.selectors.wrappers.knockoffs.SHARED", np.inf)
    assert bf.Knockoffs(q=0.2).fit(X, y).importances_ == found and found


def test_a_feature_and_its_knockoff_are_multiplied_by_the_spread_of_the_row(monkeypatch):
    rng = np.random.default_rng(3)
    numbers = chain(rng, 250, 12) * factors_of_t(rng, 250)
    X = pd.DataFrame(numbers).add_prefix("x").assign(label=rng.choice(["a", "b"], 250))
    seen = []

    def looked_at(problem, how, model, test, pair, rng):
        seen.append(pair)
        return np.zeros(len(problem.features))

    monkeypatch.setattr("blanketflow.selectors.wrappers.knockoffs.excess", looked_at)
    bf.Knockoffs(q=0.5).fit(X, rng.standard_normal(250))
    [pair] = seen
    spreads, features = row_spreads(numbers), [*X[["label"]], *X.columns[:-1]]  # in the order of names
    for at, owner in enumerate(pair.owners.tolist()):
        name, column, knockoff = features[owner], pair.columns[:, at], pair.knockoffs[:, at]
        if name == "label":
            assert len(np.unique(column)) == 2
            continue
        values = X[name].to_numpy()
        inside = (values - np.median(values)) / spreads
        assert column == pytest.approx((inside - inside.mean()) / inside.std() * spreads)
        assert (knockoff / spreads).std() == pytest.approx(1, abs=0.2)
        assert stats.spearmanr(np.abs(knockoff), spreads).pvalue < 1e-6


KNOWN = {f"x{j}": {f"x{k}": float(j == k) for k in range(12)} for j in range(12)}


@pytest.mark.parametrize(("d", "options"), [(9, {}), (12, {"covariance": KNOWN})])
def test_what_cannot_be_mended_is_unreliable(d, options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, d)) * factors_of_t(rng, 300)
    with pytest.warns(UnreliableWarning, match="rows differ in spread"):
        fitted = bf.Knockoffs(q=0.5, **options).fit(X, X.sum(axis=1))
    assert fitted.status_ == "unreliable"
    assert ("covariance" in fitted.reason_) == bool(options)


def test_columns_of_few_values_are_no_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"few": rng.integers(0, of_rows.FEWEST_VALUES - 1, 200), "many": rng.normal(size=200)})
    assert of_rows.numbers_of(as_table(X.assign(flag=True))) == [1]
