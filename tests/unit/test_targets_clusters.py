"""Targets of further kinds on clustered rows: scores and p-values against literal loops, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import approx_fprime
from scipy.special import expit

import blanketflow as bf
from blanketflow.core.column import Column
from blanketflow.core.convert import as_table
from blanketflow.core.numerics import efficient_scores
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import Design
from blanketflow.targets import get_target_kind
from literal_design import rao_scott_p, variance_of_sum
from studies.sample_design.__main__ import both_ways, of_kind

N, N_CLUSTERS = 150, 45
CLUSTERS = np.random.default_rng(5).integers(0, N_CLUSTERS, N)
FURTHER = ("survival", "count", "ordered", "share", "positive")


def columns_of(seed=0):
    """Return a number that is given, a number and a label that are tested, with something in common in a cluster."""
    rng = np.random.default_rng(seed)
    z, x = rng.normal(size=(2, N_CLUSTERS))[:, CLUSTERS] + rng.normal(size=(2, N))
    return z, x, np.digitize(rng.normal(size=N_CLUSTERS)[CLUSTERS] + rng.normal(size=N), [-0.7, 0.7])


Z, X, LABEL = columns_of()
LABELS = np.array([LABEL == 1, LABEL == 2], dtype=float)


def parts_of(name, seed=0):
    """Return the values and parts of a target whose rows of a cluster are alike."""
    rng = np.random.default_rng(seed)
    score = 0.5 * Z + rng.normal(size=N_CLUSTERS)[CLUSTERS]
    kind, _, variant = name.partition(", ")
    if kind == "survival":
        died, left = rng.exponential(np.exp(-score)), rng.exponential(2.0, N)
        time, parts = np.minimum(died, left), {"event": died <= left}
        if "tied" in variant:
            time = np.ceil(3 * time)
        if "late" in variant:
            parts["entry"] = np.floor(0.8 * time) if "tied" in variant else 0.7 * time * rng.random(N)
        if "strata" in variant:
            parts["strata"] = rng.integers(0, 4, N)
        return time, parts
    if kind == "count":
        years = rng.uniform(0.5, 2.0, N)
        return rng.poisson(years * np.exp(score if variant else 0.2 * Z)), {"exposure": years}
    if kind == "ordered":
        return np.searchsorted([-1.5, 0.0, 1.5], score + rng.logistic(size=N)), {}
    if kind == "share":
        return rng.beta(3 * expit(score), 3 * expit(-score)), {}
    return np.exp(score) * rng.gamma(0.8, 1.0, N), {}


def target_of(name):
    kind = get_target_kind(name.partition(",")[0])
    values, parts = parts_of(name)
    columns = {part: Column(part, "numeric", np.asarray(cells, dtype=float)) for part, cells in parts.items()}
    return kind.column("demo", Column("y", "numeric", np.asarray(values, dtype=float)), columns)


# --- scores of rows, by loops and numerical derivatives ---------------------------------------------------------------


def literal_cox(beta, target, design):
    """Return score residuals of Lin and Wei, (n, k), by Efron's terms, and the information, (k, k)."""
    time, event = target.numbers(), target.parts["event"].astype(bool)
    entry = target.parts.get("entry", np.full(N, -np.inf))
    strata = target.parts.get("strata", np.zeros(N))
    w, scores, information = np.exp(design @ beta), np.zeros(design.shape), 0.0
    for stratum in np.unique(strata):
        for t in np.unique(time[event & (strata == stratum)]):
            risk = (strata == stratum) & (entry < t) & (t <= time)
            dead = event & (time == t) & (strata == stratum)
            n_dead = dead.sum()
            for tied in range(n_dead):
                share = np.where(dead, 1 - tied / n_dead, 1.0) * risk * w
                mean = share @ design / share.sum()
                for i in np.flatnonzero(risk):
                    scores[i] += (dead[i] / n_dead - share[i] / share.sum()) * (design[i] - mean)
                information += (design - mean).T @ (share[:, None] * (design - mean)) / share.sum()
    return scores, information


def log_density(name, target, dispersion):
    """Return the log density of row i as a function of its mean's linear predictor."""
    y, kind = target.numbers(), name.partition(",")[0]
    if kind == "count":
        exposure, a = target.parts["exposure"], dispersion
        if a is None:
            return lambda i, eta: stats.poisson.logpmf(y[i], exposure[i] * np.exp(eta))
        return lambda i, eta: stats.nbinom.logpmf(y[i], 1 / a, 1 / (1 + a * exposure[i] * np.exp(eta)))
    if kind == "share":
        return lambda i, eta: y[i] * np.log(expit(eta)) + (1 - y[i]) * np.log(expit(-eta))
    return lambda i, eta: stats.gamma.logpdf(y[i], dispersion, scale=np.exp(eta) / dispersion)


def variance_by_mean(name, target, eta, dispersion):
    """Return (dm / d eta)^2 over the variance of each row."""
    kind = name.partition(",")[0]
    if kind == "count":
        m = target.parts["exposure"] * np.exp(eta)
        return m / (1 + (dispersion or 0.0) * m)
    return expit(eta) * expit(-eta) if kind == "share" else np.full(N, dispersion)


def literal_means(name, target, model, design):
    """Return numerical scores of rows, (n, k), and the expected information, (k, k), of a generalised linear model."""
    regression = getattr(model, "_poisson", None) or model._regression
    dispersion, beta = getattr(model, "shape", None), regression.coefficients
    if getattr(model, "is_overdispersed", False):
        *beta, log_a = model._coefficients
        dispersion = float(np.exp(log_a))
    beta = np.append(beta, np.zeros(design.shape[1] - len(beta)))
    density, eta = log_density(name, target, dispersion), design @ beta
    scores = np.array([approx_fprime(beta, lambda b, i=i: density(i, design[i] @ b), 1e-7) for i in range(N)])
    weights = variance_by_mean(name, target, eta, dispersion)
    return scores, design.T @ (weights[:, None] * design)


def literal_ordered(target, model, design):
    """Return numerical scores of rows, (n, thresholds + k), and the numerical information."""
    codes = target.numbers().astype(int)
    start = np.append(model.coefficients, np.zeros(model.n_own + design.shape[1] - len(model.coefficients)))

    def of_row(at, i):
        up_to = np.concatenate([[0.0], expit(at[: model.n_own] - design[i] @ at[model.n_own :]), [1.0]])
        return np.log(up_to[codes[i] + 1] - up_to[codes[i]])

    def by(at, i):
        steps = 1e-5 * np.eye(len(at))
        return np.array([(of_row(at + step, i) - of_row(at - step, i)) / 2e-5 for step in steps])

    scores = np.array([by(start, i) for i in range(N)])
    steps = 1e-4 * np.eye(len(start))
    information = -np.array([sum(by(start + step, i) - by(start - step, i) for i in range(N)) / 2e-4 for step in steps])
    return scores, (information + information.T) / 2


def literal_scores(name, given, added):
    """Return the null model, the scores of `added`, (n, q), less what null parameters explain, and their information.

    `given` and `added` are lists of columns.
    """
    target = target_of(name)
    scaled = [(c - c.mean()) / c.std() for c in (*given, *added)]
    design = np.array(scaled).T
    predictors = design[:, : len(given)].T
    model = get_target_kind(target.target_kind).null_model(target, predictors)
    if target.target_kind == "survival":
        beta = np.append(model._coefficients, np.zeros(len(added)))
        scores, information = literal_cox(beta, target, design)
    elif target.target_kind == "ordered":
        scores, information = literal_ordered(target, model, design)
    else:
        scores, information = literal_means(name, target, model, np.column_stack([np.ones(N), design]))
    old, new = np.arange(len(scores[0]) - len(added)), np.arange(-len(added), 0)
    slopes = np.linalg.solve(information[np.ix_(old, old)], information[np.ix_(old, new)])
    own = information[np.ix_(new, new)] - information[np.ix_(new, old)] @ slopes
    return model, np.array(scaled[len(given) :]), scores[:, new] - scores[:, old] @ slopes, own


VARIANTS = ["survival", *(f"survival, {v}" for v in ("tied", "late", "late tied", "strata", "strata late tied"))]
VARIANTS += ["count", "count, varied", "ordered", "share", "positive"]


TESTED = {"number": ([], [X]), "number given": ([Z], [X]), "label given": ([Z], list(LABELS))}
each_target = pytest.mark.parametrize("name", VARIANTS)
each_test = pytest.mark.parametrize("what", TESTED)


@each_test
@each_target
def test_scores_of_rows_are_those_of_literal_loops(name, what):
    model, added, scores, information = literal_scores(name, *TESTED[what])
    if name.startswith("count"):
        assert model.is_overdispersed == (name == "count, varied")
    wanted = scores @ np.linalg.inv(np.linalg.cholesky(information)).T  # the same but for a rotation
    found = efficient_scores(*model.scores(added), len(added)).T
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-5 * np.abs(wanted).max() ** 2)


# --- p-values ---------------------------------------------------------------------------------------------------------

TABLE = as_table(pd.DataFrame({"x": X, "label": np.array(["a", "b", "c"])[LABEL], "z": Z, "w": columns_of(1)[1]}))


def bound(name, design=None, **options):
    table = TABLE.with_column(target_of(name))
    return bf.get_ci_test("lr-mixed", **options).bind(table.with_design(design))


@each_test
@each_target
def test_p_values_are_rao_and_scotts_of_the_totals_of_clusters(name, what):
    given, added = TESTED[what]
    _, _, scores, information = literal_scores(name, given, added)
    scores = scores @ np.linalg.inv(np.linalg.cholesky(information)).T
    x, given = ("x" if len(added) == 1 else "label"), ["z"] * len(given)
    clusters = Design(clusters=CLUSTERS * 3)
    found, plain = bound(name, clusters).test(x, "y", given), bound(name).test(x, "y", given)
    rest = len(np.unique(CLUSTERS)) - 1 - len(given)
    covariance = variance_of_sum(scores, CLUSTERS, len(given))
    wanted = rao_scott_p(np.sum(scores.sum(axis=0) ** 2), covariance, rest)
    assert found.p_value == pytest.approx(wanted, rel=2e-4)
    assert np.exp(found.log_p) == pytest.approx(found.p_value, rel=1e-9)
    assert (found.statistic, found.dof, found.n, found.reliable) == (plain.statistic, plain.dof, N, plain.reliable)
    assert bound(name, clusters).test("y", x, given) == found


@pytest.mark.parametrize("name", FURTHER)
def test_numbers_are_tested_together_as_one_by_one(name):
    engine = bound(name, Design(clusters=CLUSTERS))
    found = engine.test_many(["x", "w", "label"], "y", ["z"])
    for at, x in enumerate(("x", "w", "label")):
        np.testing.assert_allclose(found[at][:5], engine.test(x, "y", ["z"])[:5], rtol=1e-7)
    together = engine.test(["x", "w"], "y", ["z"])
    assert together.dof == 2 and together.p_value >= min(found.p_value[:2]) / 2


@pytest.mark.parametrize("name", FURTHER)
def test_rows_that_are_clusters_have_nearly_the_p_value_of_independent_rows(name):
    rng = np.random.default_rng(8)
    n = 3000
    a, b = rng.normal(size=(2, n))
    score = 0.5 * b + 0.05 * a
    values, parts = {
        "survival": (rng.exponential(np.exp(-score)), {"event": rng.random(n) < 0.7}),
        "count": (rng.poisson(np.exp(score)), {}),
        "ordered": (np.searchsorted([-1.0, 1.0], score + rng.logistic(size=n)), {}),
        "share": (rng.beta(3 * expit(score), 3 * expit(-score)), {}),
        "positive": (np.exp(score) * rng.gamma(2.0, 1.0, n), {}),
    }[name]
    columns = {part: Column(part, "numeric", np.asarray(cells, dtype=float)) for part, cells in parts.items()}
    target = get_target_kind(name).column("demo", Column("y", "numeric", np.asarray(values, dtype=float)), columns)
    table = as_table(pd.DataFrame({"a": a, "b": b})).with_column(target)
    test = bf.get_ci_test("lr-mixed")
    plain = test.bind(table).test("a", "y", ["b"])
    rows = test.bind(table, groups=np.arange(n)).test("a", "y", ["b"])
    assert rows.log_p == pytest.approx(plain.log_p, rel=0.08, abs=0.03)
    # copies of a row tell nothing new if they are one cluster
    twice = np.repeat(np.arange(n), 2)
    copies = test.bind(table.take(twice), groups=twice).test("a", "y", ["b"])
    assert copies.log_p == pytest.approx(rows.log_p, rel=0.02 if name == "survival" else 1e-6)


@pytest.mark.parametrize("name", FURTHER)
def test_too_few_clusters_and_a_single_one(name):
    few = bound(name, Design(clusters=np.arange(N) % 3)).test_many(["x", "w"], "y", ["z", "label"])
    assert few.p_value.tolist() == [1, 1] and not few.reliable.any()
    assert not bound(name, Design(clusters=np.arange(N) % 3)).test("x", "y", ["z", "label"]).reliable
    alone = bound(name, Design(clusters=np.zeros(N, dtype=int)))
    assert alone.test("x", "y", ["z"]) == bound(name).test("x", "y", ["z"])


def test_tests_of_other_columns_know_the_clusters_too():
    """Given the target, two columns are tested as elsewhere, with its covariates."""
    found = bound("count", Design(clusters=CLUSTERS)).test("x", "w", ["y"])
    rates = np.log1p(target_of("count").numbers() / target_of("count").parts["exposure"])
    table = TABLE.with_column(Column("y", "numeric", rates)).with_design(Design(clusters=CLUSTERS))
    assert found == bf.get_ci_test("lr-mixed").bind(table).test("x", "w", ["y"])


@pytest.mark.parametrize("name", FURTHER)
def test_true_nulls_of_clustered_rows_are_rejected_as_often_as_allowed(name):
    """A number that does not vary in clusters, given another one; rows of a cluster have a random effect in common."""
    p, n_samples = {True: [], False: []}, 200
    for seed in range(n_samples):
        rng = derive_rng(seed, "calibration", name)
        clusters = np.repeat(np.arange(60), rng.integers(2, 9, 60))
        both_ways(bf.get_ci_test("lr-mixed"), of_kind(name, rng, clusters, 1), Design(clusters=clusters), [2], p)
    known, ignored = (sum(one < 0.05 for one in p[knows]) for knows in (True, False))
    assert stats.binomtest(known, n_samples, 0.05, alternative="greater").pvalue > 1e-3, known
    assert ignored > 0.2 * n_samples
