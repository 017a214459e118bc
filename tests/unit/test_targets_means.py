"""Counts, positive numbers and shares: regressions against literal likelihoods, and what is refused."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from blanketflow.core.column import Column
from blanketflow.core.errors import DataError
from blanketflow.targets import get_target_kind
from blanketflow.targets.count import dispersion_z

COUNT, POSITIVE, SHARE = map(get_target_kind, ("count", "positive", "share"))


def numbers(values, name="y", kind="numeric"):
    return Column(name, kind, np.asarray(values, dtype=float))


def predictors_of(seed, n=80, q=3):
    X = np.random.default_rng(seed).normal(size=(q, n))
    return (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)


def maximum(log_likelihood, n_parameters):
    best = np.zeros(n_parameters)
    for _ in range(3):
        best = minimize(lambda b: -log_likelihood(b), best, method="BFGS", jac="3-point", options={"gtol": 1e-9}).x
    return log_likelihood(best), best


def of_counts(y, X, exposure, family):
    design = np.vstack([np.ones(len(y)), X])

    def log_likelihood(b):
        mean = exposure * np.exp(np.clip(b[: len(design)] @ design, -300, 300))
        if family == "poisson":
            return stats.poisson.logpmf(y, mean).sum()
        r = np.exp(-b[-1])
        return stats.nbinom.logpmf(y, r, r / (r + mean)).sum()

    if family == "poisson":
        return maximum(log_likelihood, len(design))
    limit, coefficients = of_counts(y, X, exposure, "poisson")  # where the dispersion is 0
    found, b = maximum(log_likelihood, len(design) + 1)
    return max((found, b), (limit, np.append(coefficients, -40.0)), key=lambda pair: pair[0])


def counts(seed, overdispersed, n=80, size=1.0):
    rng, X = np.random.default_rng(seed), predictors_of(seed, n)
    exposure = rng.uniform(0.5, 2.0, n)
    mean = size * exposure * np.exp(0.5 + 0.5 * X[0])
    return rng.poisson(mean * (rng.gamma(1.0, 1.0, n) if overdispersed else 1.0)), X, exposure


@pytest.mark.parametrize("given", [0, 1, 2])
@pytest.mark.parametrize("overdispersed", [False, True])
@pytest.mark.parametrize("size", [1.0, 40.0])
def test_counts_equal_the_literal_likelihood(given, overdispersed, size):
    for seed in range(3):
        y, X, exposure = counts(seed, overdispersed, size=size)
        target = COUNT.column("claims", numbers(y), {"exposure": numbers(exposure, "years")})
        model = COUNT.null_model(target, X[:given])
        family = "negative" if model.is_overdispersed else "poisson"
        (null, b), (larger, _) = of_counts(y, X[:given], exposure, family), of_counts(y, X, exposure, family)
        assert model.gain(X[given:])[0] == pytest.approx(2 * (larger - null), rel=1e-8, abs=1e-8)
        mean = exposure * np.exp(b[: given + 1] @ np.vstack([np.ones(len(y)), X[:given]]))
        wanted = (y - mean) / (1 + np.exp(b[-1]) * mean) if model.is_overdispersed else y - mean
        assert model.residuals() == pytest.approx(wanted, abs=1e-4 * size)
        assert model.residuals().sum() == pytest.approx(0, abs=1e-6 * y.sum())
        assert (model.size, model.n_own) == (min(80, y.sum()), 1 + model.is_overdispersed)


def test_ratios_are_divided_by_a_dispersion_above_that_of_the_family():
    rng, X = np.random.default_rng(9), predictors_of(10, 400)
    heavy, light = np.exp(2 * rng.normal(size=400)), rng.gamma(5.0, 0.2, 400)
    for kind, y, is_divided in (
        (POSITIVE, heavy, True),
        (COUNT, np.round(20 * heavy), True),
        (COUNT, rng.binomial(4, 0.5, 400), False),
        (POSITIVE, rng.uniform(0.9, 1.1, 400), None),
        (POSITIVE, light, None),
    ):
        model = kind.null_model(kind.column("study", numbers(y), {}), X[:1])
        gained, dispersion = model.gain(X[1:])
        assert is_divided in (None, dispersion > 1)
        assert model.likelihood_ratio(X[1:]) == gained / max(dispersion, 1)
        if kind is POSITIVE:
            design = np.vstack([np.ones(400), X])
            fitted = np.exp(model._regression.with_more(X[1:]).coefficients @ design)
            shape = 1 / np.mean((y / fitted - 1) ** 2)  # by moments
            assert dispersion == pytest.approx(_shape(y / fitted) / shape * 400 / 396, rel=1e-6)


def _shape(ratios):
    return stats.gamma.fit(ratios, floc=0)[0]


def test_the_dispersion_decides_on_the_family():
    found = [COUNT.null_model(target, X[:1]).is_overdispersed for target, X in map(_of_seed, range(40))]
    assert np.mean(found[:20]) == 1.0
    assert np.mean(found[20:]) <= 0.25


def _of_seed(seed):
    y, X, exposure = counts(seed, seed < 20, n=300, size=3.0)
    return COUNT.column("claims", numbers(y), {"exposure": numbers(exposure)}), X


def test_the_dispersion_statistic_is_that_of_the_regression_on_the_mean():
    y, X, _ = counts(1, True)
    mean = np.exp(0.3 + 0.4 * X[0])
    z = ((y - mean) ** 2 - y) / mean
    slope = np.linalg.lstsq(mean[:, np.newaxis], z, rcond=None)[0][0]
    error = np.sqrt(np.sum((z - slope * mean) ** 2) / (len(y) - 1) / np.sum(mean**2))
    assert dispersion_z(y.astype(float), mean) == pytest.approx(slope / error, rel=1e-10)


@pytest.mark.parametrize("scale", [2_000, 60_000])
def test_large_counts_equal_the_literal_likelihood(scale):
    rng, X = np.random.default_rng(3), predictors_of(3, 60)
    y = rng.poisson(scale * rng.gamma(3.0, 1 / 3.0, 60))
    model = COUNT.null_model(COUNT.column("claims", numbers(y), {}), X[:1])
    exposure = np.full(60, float(scale))
    assert model.is_overdispersed
    null, larger = of_counts(y, X[:1], exposure, "negative")[0], of_counts(y, X, exposure, "negative")[0]
    assert model.gain(X[1:])[0] == pytest.approx(2 * (larger - null), abs=1e-6)  # digits of gamma functions


def test_a_group_of_zeros_ends_at_the_limit():
    """The likelihood of the limit is that of the other rows alone."""
    for overdispersed in (False, True):
        y, _, exposure = counts(4, overdispersed)
        group = np.arange(80) % 3 == 0
        y[group] = 0
        target = COUNT.column("claims", numbers(y), {"exposure": numbers(exposure)})
        model = COUNT.null_model(target, np.zeros((0, 80)))
        family = "negative" if model.is_overdispersed else "poisson"
        none = np.zeros((0, 80))
        null = of_counts(y, none, exposure, family)[0]
        rest = of_counts(y[~group], none[:, ~group], exposure[~group], family)[0]
        assert model.gain(group[np.newaxis].astype(float))[0] == pytest.approx(2 * (rest - null), abs=1e-8)


def test_a_dispersion_that_a_predictor_explains_ends_at_poisson():
    rng = np.random.default_rng(5)
    group = np.arange(200) % 2
    y = rng.binomial(8, np.where(group, 0.6, 0.05))  # less varied than Poisson within groups
    model = COUNT.null_model(COUNT.column("claims", numbers(y), {}), np.zeros((0, 200)))
    assert model.is_overdispersed
    null = of_counts(y, np.zeros((0, 200)), np.ones(200), "negative")[0]
    larger = of_counts(y, group[np.newaxis] * 2.0 - 1, np.ones(200), "poisson")[0]
    assert model.gain(group[np.newaxis] * 2.0 - 1)[0] == pytest.approx(2 * (larger - null), abs=1e-7)


@pytest.mark.parametrize("given", [0, 1, 2])
@pytest.mark.parametrize("shape", [0.3, 1.0, 20.0, 4_000.0])
def test_positive_numbers_equal_the_literal_likelihood(given, shape):
    rng, X = np.random.default_rng(6), predictors_of(6)
    y = np.exp(1.0 + 0.5 * X[0]) * rng.gamma(shape, 1 / shape, 80)

    def literal(rows):
        design = np.vstack([np.ones(80), rows])

        def log_likelihood(b):
            k = np.exp(b[-1])
            return stats.gamma.logpdf(y, k, scale=np.exp(b[:-1] @ design) / k).sum()

        start, *_ = np.linalg.lstsq(design.T, np.log(y), rcond=None)
        best = np.append(start, np.log(shape))
        for _ in range(4):
            best = minimize(lambda b: -log_likelihood(b), best, method="BFGS", jac="3-point", options={"gtol": 1e-9}).x
        return log_likelihood(best), best

    model = POSITIVE.null_model(POSITIVE.column("costs", numbers(y), {}), X[:given])
    (null, b), (larger, _) = literal(X[:given]), literal(X)
    assert model.gain(X[given:])[0] == pytest.approx(2 * (larger - null), rel=1e-7, abs=1e-8)
    mean = np.exp(b[:-1] @ np.vstack([np.ones(80), X[:given]]))
    assert model.residuals() == pytest.approx(np.exp(b[-1]) * (y / mean - 1), rel=1e-3, abs=1e-3)
    assert model.residuals().sum() == pytest.approx(0, abs=1e-6 * shape)


@pytest.mark.parametrize("given", [0, 1, 2])
def test_shares_equal_the_literal_quasi_likelihood(given):
    rng, X = np.random.default_rng(7), predictors_of(7)
    mean = 1 / (1 + np.exp(0.5 - X[0]))
    y = rng.beta(3 * mean, 3 * (1 - mean))
    y[:5], y[5:9] = 0.0, 1.0

    def literal(rows):
        design = np.vstack([np.ones(80), rows])

        def log_likelihood(b):
            eta = b @ design
            return np.sum(y * eta - np.logaddexp(0, eta))

        return *maximum(log_likelihood, len(design)), design

    null, b, design = literal(X[:given])
    larger, c, full = literal(X)
    m = 1 / (1 + np.exp(-c @ full))
    wanted = 2 * (larger - null) / (np.sum((y - m) ** 2 / (m * (1 - m))) / (80 - 4))
    model = SHARE.null_model(SHARE.column("cover", numbers(y), {}), X[:given])
    assert model.likelihood_ratio(X[given:]) == pytest.approx(wanted, rel=1e-8)
    assert model.residuals() == pytest.approx(y - 1 / (1 + np.exp(-b @ design)), abs=1e-8)
    assert (model.size, model.n_own) == (80, 1)


def test_separated_shares_are_finite():
    y = np.array([0.0] * 20 + [1.0] * 20 + [0.5])
    x = np.append(np.repeat([-1.0, 1.0], 20), 0.0)
    model = SHARE.null_model(SHARE.column("cover", numbers(y), {}), np.zeros((0, 41)))
    assert np.isfinite(model.likelihood_ratio(x[np.newaxis]))
    x[0] = 1.0  # one row on the wrong side, of a share of 0 where 1 is almost certain
    assert np.isfinite(model.likelihood_ratio(x[np.newaxis]))


@pytest.mark.parametrize("identifier", ["survival", "count", "ordered", "share", "positive"])
def test_rows_of_a_fold_that_tell_nothing_add_nothing(identifier):
    """A whole target passes the checks; some of its rows may all be censored, 0, or of one class."""
    kind, parts = get_target_kind(identifier), {}
    values = {
        "survival": [1.0, 2, 3, 4, 5, 6, 7, 8],
        "share": [0.0] * 5 + [0.5, 0.2, 1],
        "positive": [2.0] * 5 + [1, 3, 4],
    }
    if identifier == "survival":
        parts = {"event": numbers([0] * 5 + [1] * 3), "entry": numbers([0, 0, 0, 1, 1, 0, 0, 0])}
    target = kind.column("study", numbers(values.get(identifier, [0] * 5 + [1, 2, 3])), parts).take(np.arange(5))
    X = np.array([[-2.0, -1, 0, 1, 2], [2, -1, -2, -1, 2]]) / np.sqrt(2)
    for given in (0, 1):
        model = kind.null_model(target, X[:given])
        assert model.likelihood_ratio(X[1:]) == pytest.approx(0, abs=1e-9)
        assert model.residuals() == pytest.approx(0, abs=1e-9)
    assert all(np.isfinite(column.numbers()).all() for column in kind.covariates(target))


def refused(kind, values, column_kind="numeric", levels=(), **parts):
    column = Column("y", column_kind, np.asarray(values), levels)
    with pytest.raises(DataError) as caught:
        kind.column("claims", column, {name: numbers(part, name) for name, part in parts.items()})
    assert str(caught.value).startswith("claims: column ")
    return str(caught.value)


def test_bad_counts_are_refused():
    text = refused(COUNT, [1.0, -2.0])
    assert "'y' holds negative numbers in 1 row, first -2 in row 2." in text
    assert "target_kind: regression" in text
    text = refused(COUNT, [1.0, 2.5, 0.5])
    assert "'y' holds decimals in 2 rows, first 2.5 in row 2." in text
    assert "'y' holds zeros only" in refused(COUNT, [0.0, 0.0])
    assert "'y' is missing in 1 row" in refused(COUNT, [np.nan, 0.0])
    assert "'y' is infinite in 1 row" in refused(COUNT, [np.inf, 0.0])
    assert "'y' holds text, but counts are numbers" in refused(COUNT, [0, 1], "categorical", ("a", "b"))
    text = refused(COUNT, [1.0, 2.0], exposure=[1.0, 0.0])
    assert "'exposure' holds exposures that are not positive in 1 row, first 0 in row 2." in text


def test_bad_positive_numbers_and_shares_are_refused():
    assert "'y' holds numbers that are not positive in 1 row, first 0 in row 2." in refused(POSITIVE, [1.0, 0.0])
    assert "'y' holds truth values, but positive numbers are numbers" in refused(POSITIVE, [1, 0], "boolean")
    text = refused(SHARE, [0.5, 50.0])
    assert "'y' holds numbers outside 0 to 1 in 1 row, first 50 in row 2." in text
    assert "Divide percentages by 100" in text
    text = refused(SHARE, [0.0, 1.0])
    assert "'y' holds no number between 0 and 1. Choose target_kind: classification." in text


def test_covariates():
    target = COUNT.column("claims", numbers([3, 0, 1]), {"exposure": numbers([1.5, 1, 1])})
    (rate,) = COUNT.covariates(target)
    assert (rate.kind, rate.values.tolist()) == ("numeric", np.log([3.0, 1.0, 2.0]).tolist())
    (log,) = POSITIVE.covariates(POSITIVE.column("costs", numbers([1, 2]), {}))
    assert log.values.tolist() == np.log([1.0, 2.0]).tolist()
    (share,) = SHARE.covariates(SHARE.column("cover", numbers([0.5, 1]), {}))
    assert share.values.tolist() == [0.5, 1.0]


def test_likely_kinds():
    rng = np.random.default_rng(8)
    visits, costs, cover = rng.poisson(1.0, 500), rng.gamma(0.5, 10.0, 500), rng.random(500)
    ages, years, scores = rng.normal(50, 10, 500).round(), rng.integers(1990, 2020, 500), rng.normal(size=500)
    likely = {"count": COUNT, "positive": POSITIVE, "share": SHARE}
    for values, wanted in (
        (visits, "count"),
        (costs, "positive"),
        (cover, "share"),
        (ages, ""),
        (years, ""),
        (scores, ""),
    ):
        found = [name for name, kind in likely.items() if kind.why_likely(numbers(values))]
        assert found == ([wanted] if wanted else [])
    labels = Column("y", "categorical", np.arange(500) % 3, ("a", "b", "c"))
    assert not any(kind.why_likely(labels) for kind in likely.values())
