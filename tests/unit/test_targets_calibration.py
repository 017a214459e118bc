"""P-values of nested regressions are uniform where the added predictor tells nothing of the target given the others."""

import numpy as np
import pytest
from scipy import stats

from blanketflow.core.column import Column
from blanketflow.core.table import Table
from blanketflow.search.confirmation import ratios
from blanketflow.targets import get_target_kind

#: Samples of each case; rejections at 0.05 and 0.2 outside these binomial bounds would be seen once in 10,000 cases.
SAMPLES, SURE = 1000, 1e-4


def survival(censored, late=False):
    def draw(rng, score):
        died = rng.exponential(np.exp(-score))
        rate = censored / (1 - censored)
        left = rng.exponential(1 / rate, size=len(score))
        time = np.minimum(died, left)
        entry = {"entry": np.where(rng.random(len(score)) < 0.3, 0.5 * time, 0.0)} if late else {}
        return time, {"event": died <= left, **entry}

    return draw


def count(shape):
    def draw(rng, score):
        exposure = rng.uniform(0.5, 2.0, len(score))
        spread = rng.gamma(shape, 1 / shape, len(score)) if shape else 1.0
        return rng.poisson(2.0 * exposure * np.exp(score) * spread), {"exposure": exposure}

    return draw


def ordered(rng, score):
    return np.searchsorted([-2.0, 0.0, 1.5], score + rng.logistic(size=len(score))), {}


def share(rng, score):
    mean = 1 / (1 + np.exp(-score))
    return rng.beta(3 * mean, 3 * (1 - mean)), {}


def positive(rng, score):
    return np.exp(score) * rng.gamma(0.8, 1.0, len(score)), {}


def of_normal_logarithm(rng, score):
    return np.exp(score + rng.normal(size=len(score))), {}


def counts_of_normal_logarithm(rng, score):
    return rng.poisson(np.exp(1 + score + rng.normal(size=len(score)))), {}


CASES = {
    "survival, 10 % censored": ("survival", survival(0.1)),
    "survival, 50 % censored": ("survival", survival(0.5)),
    "survival, late entry": ("survival", survival(0.5, late=True)),
    "survival, 90 % censored": ("survival", survival(0.9)),
    "Poisson": ("count", count(None)),
    "negative binomial": ("count", count(1.0)),
    "ordered": ("ordered", ordered),
    "share": ("share", share),
    "positive": ("positive", positive),
    "positive, of another family": ("positive", of_normal_logarithm),
    "counts of another family": ("count", counts_of_normal_logarithm),
}


def p_values(identifier, draw, n, given, samples=SAMPLES):
    kind, rng, found = get_target_kind(identifier), np.random.default_rng(n + given), []
    for _ in range(samples):
        X = rng.normal(size=(4, n))
        X[3] += X[0]
        X = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
        if not given:
            X[3] = rng.normal(size=n)
        values, parts = draw(rng, 0.5 * X[0] - 0.3 * X[1])
        columns = {name: Column(name, "numeric", np.asarray(cells, dtype=float)) for name, cells in parts.items()}
        target = kind.column("drawn", Column("y", "numeric", np.asarray(values, dtype=float)), columns)
        model = kind.null_model(target, X[:given])
        found.append(stats.chi2.sf(model.likelihood_ratio(X[3:]), 1))
    return np.array(found)


@pytest.mark.extended
@pytest.mark.parametrize("case", CASES)
def test_intervals_of_ratios_cover_the_true_ratio(case):
    identifier, draw = CASES[case]
    kind, rng, covered = get_target_kind(identifier), np.random.default_rng(7), []
    for _ in range(SAMPLES // 2):
        X = rng.normal(size=(2, 400))
        values, parts = draw(rng, 0.5 * X[0] - 0.3 * X[1])
        columns = {name: Column(name, "numeric", np.asarray(cells, dtype=float)) for name, cells in parts.items()}
        target = kind.column("drawn", Column("y", "numeric", np.asarray(values, dtype=float)), columns)
        found = ratios(Table([Column("a", "numeric", X[0]), Column("b", "numeric", X[1])]), target, ["a", "b"])
        true = {"a": np.exp(0.5 * X[0].std(ddof=1)), "b": np.exp(-0.3 * X[1].std(ddof=1))}
        covered += [found[x][1] <= true[x] <= found[x][2] for x in "ab"]
    assert stats.binomtest(sum(covered), len(covered), 0.95).pvalue > SURE, np.mean(covered)


@pytest.mark.extended
@pytest.mark.parametrize("given", [0, 3])
@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("case", CASES)
def test_p_values_are_uniform(case, n, given):
    p = p_values(*CASES[case], n, given, SAMPLES if n == 200 else SAMPLES // 2)
    for alpha in (0.05, 0.2):
        rejected = int((p <= alpha).sum())
        assert stats.binomtest(rejected, len(p), alpha).pvalue > SURE, f"{rejected / len(p):.3f} at {alpha}"


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["count", "positive"])  # whose marginal ratios are those given a random effect
def test_intervals_of_ratios_of_clustered_rows_cover_the_true_ratio(kind):
    rng, covered, ignoring = np.random.default_rng(9), [], []
    for _ in range(SAMPLES // 2):
        clusters = np.repeat(np.arange(80), rng.integers(2, 9, 80))
        x = rng.normal(size=80)[clusters]
        score = 0.3 * x + 0.5 * rng.normal(size=80)[clusters]
        y = rng.poisson(np.exp(1 + score)) if kind == "count" else rng.exponential(np.exp(score))
        target = get_target_kind(kind).column("drawn", Column("y", "numeric", y.astype(float)), {})
        table = Table([Column("x", "numeric", x), Column("z", "numeric", rng.normal(size=len(x)))])
        for found, groups in ((covered, clusters), (ignoring, None)):
            _, low, high = ratios(table, target, ["x", "z"], groups)["x"]
            found.append(low <= np.exp(0.3 * x.std(ddof=1)) <= high)
    assert np.mean(covered) > 0.88 and np.mean(ignoring) < np.mean(covered) - 0.05, (
        np.mean(covered),
        np.mean(ignoring),
    )
