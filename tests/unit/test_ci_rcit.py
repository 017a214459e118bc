"""RCIT against a literal version with the kernel's random functions, the tail of its null, and what it finds."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from scipy.spatial.distance import pdist

import blanketflow as bf
from blanketflow.ci.tails import weighted_chi2_tail
from blanketflow.core.errors import UnsupportedError
from blanketflow.core.seeds import derive_rng
from levels import Level

N = 150


def table(n=N, seed=0):
    """Return numbers x, y, z that depend on each other, and a label g of three levels."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    g = np.digitize(z + rng.normal(size=n), [0, 1.2])
    return pd.DataFrame(
        {"x": z + rng.normal(size=n), "y": z**2 + rng.normal(size=n), "z": z, "g": np.array(["a", "b", "c"])[g]}
    )


def bind(X, seed=0, **options):
    return bf.get_ci_test("rcit", **options).bind(X, seed=seed)


def features(X, names, role, n_features, seed):
    """Return sqrt(2) cos(w'v / s + b) of the joint vector of columns, standardised, drawn as the test draws them."""
    vectors, frequencies = [], []
    for name in names:
        if name == "g":
            levels = X["g"].value_counts(sort=True).index
            vectors.append(np.column_stack([X["g"] == level for level in levels]).astype(float))
        else:
            vectors.append(((X[name] - X[name].mean()) / X[name].std(ddof=0)).to_numpy()[:, np.newaxis])
        frequencies.append(derive_rng(seed, role, name).normal(size=(vectors[-1].shape[1], n_features)))
    v, w = np.hstack(vectors), np.vstack(frequencies)
    b = derive_rng(seed, role, "phases", *names).uniform(0, 2 * np.pi, n_features)
    distances = pdist(v)
    s = np.median(distances[distances > 0])
    found = np.array([[np.sqrt(2) * np.cos(row @ w[:, j] / s + b[j]) for j in range(n_features)] for row in v])
    return (found - found.mean(axis=0)) / found.std(axis=0)


def literal(X, x, y, given, seed, n_features=8, n_given_features=100, ridge=0.001):
    """Return the statistic, and the weights of the chi-squares of its null distribution."""
    n = len(X)
    f, g = (features(X, sorted([one, *given]), "side", n_features, seed) for one in (x, y))
    free = np.ones(n)
    if given:
        h = features(X, sorted(given), "given", min(n_given_features, n // 4), seed)
        hat = h @ np.linalg.inv(h.T @ h + ridge * n * np.eye(h.shape[1])) @ h.T
        f, g, free = f - hat @ f, g - hat @ g, 1 - 1 / n - np.diagonal(hat)
    statistic = n * sum((f[:, i] @ g[:, j] / n) ** 2 for i in range(n_features) for j in range(n_features))
    products = np.array([f[:, i] * g[:, j] / free for i in range(n_features) for j in range(n_features)])
    return statistic, np.linalg.eigvalsh(products @ products.T / n)


def tail(statistic, weights):
    return weighted_chi2_tail(statistic, tuple((weights**power).sum() for power in (1, 2, 3)))


@pytest.mark.parametrize(
    "query", [("x", "y", []), ("g", "x", []), ("x", "y", ["z"]), ("g", "y", ["z"]), ("x", "y", ["g", "z"])]
)
def test_it_is_the_literal_one(query):
    X = table()
    statistic, weights = literal(X, *query, seed=3)
    found = bind(X, 3).test(*query)
    assert found.statistic == pytest.approx(statistic, rel=1e-8)
    assert found.p_value == pytest.approx(tail(statistic, weights)[0], rel=1e-6)


@pytest.mark.parametrize("query", [("x", "y", []), ("x", "y", ["z"])])
def test_causal_learn_finds_the_same_with_the_same_functions(query, monkeypatch):
    """Its RCoT, on our functions: as many of Z as we take, and next to no ridge; Z joins each side beforehand."""
    peer = pytest.importorskip("causallearn.utils.RCIT.RCIT", reason="causal-learn and momentchi2 are not installed")
    X, seed, (x, y, given) = table(), 3, query
    sides = [features(X, sorted([one, *given]), "side", 5, seed) for one in (x, y)]
    drawn = iter([features(X, given, "given", N // 4, seed), *sides] if given else sides)
    test = peer.RCIT("hbe", num_f=N // 4, rcit=False) if given else peer.RIT("hbe")
    monkeypatch.setattr(test, "random_fourier_features", lambda *_, **__: next(drawn))
    arrays = [X[[one]].to_numpy() for one in (x, y, *given)]
    p_value, statistic = test.compute_pvalue(*arrays)
    found = bind(X, seed, ridge=1e-10, n_features=5).test(*query)
    assert found.statistic == pytest.approx(statistic, rel=0.02)  # it divides by n - 1 here and by n there
    if not given:  # its residuals are not those without a row
        assert found.p_value == pytest.approx(p_value, rel=0.1, abs=1e-6)


def imhof(statistic, weights):
    """Return the exact tail by Imhof's integral (1961)."""

    def integrand(u):
        theta = 0.5 * np.sum(np.arctan(weights * u)) - 0.5 * statistic * u
        return np.sin(theta) / (u * np.prod((1 + (weights * u) ** 2) ** 0.25))

    return 0.5 + integrate.quad(integrand, 0, np.inf, limit=500)[0] / np.pi


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [4.0, 2.0, 1.0, 0.5, 0.1], np.linspace(0.01, 2.0, 25)], ids=len)
def test_the_tail_is_near_the_exact_one(weights):
    weights = np.array(weights)
    for statistic in weights.sum() + np.sqrt(2 * (weights**2).sum()) * np.array([0.5, 1.5, 2.5]):
        p, log_p = tail(statistic, weights)
        assert p == pytest.approx(imhof(statistic, weights), rel=0.06)
        assert log_p == pytest.approx(np.log(p))
    assert tail(3.0, np.ones(3))[0] == pytest.approx(stats.chi2.sf(3.0, 3))
    assert tail(1.0, np.zeros(2)) == (1.0, 0.0)
    assert tail(1e6, weights)[1] < -1e4


def test_it_finds_any_form_of_dependence():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 400))
    flags = rng.random((2, 400)) < 0.5
    X = pd.DataFrame({"x": x, "z": z, "square": x**2 + rng.normal(size=400), "scale": np.exp(x) * rng.normal(size=400)})
    X["one"], X["other"], X["xor"] = *flags, flags[0] ^ flags[1] ^ (rng.random(400) < 0.2)
    bound = bind(X)
    for asked in (("x", "square", ["z"]), ("x", "scale", ["z"]), ("one", "xor", ["other"]), (["x", "z"], "square", [])):
        assert bound.test(*asked).p_value < 0.01, asked
    assert bound.test("x", "z", ["one"]).p_value > 0.01


def test_functions_of_z_too_few_rows_rounding_and_weights():
    X = table()
    X["copy"], X["bend"], X["rounded"] = X["g"], X["x"] ** 3, 1e15 + X["x"].round(0)
    bound = bind(X)
    for asked in (("copy", "y", ["g"]), ("bend", "y", ["x"])):
        found = bound.test(*asked)
        assert (found.p_value, found.reliable) == (1.0, True), asked
    found = bound.test("x", "rounded", ["g"])
    assert (found.p_value, found.reliable) == (1.0, False)
    assert not bind(X[:19]).test("x", "y").reliable and bind(X[:20]).test("x", "y").reliable
    with pytest.raises(UnsupportedError, match="rcit draws, permutes or compares single rows"):
        bf.get_ci_test("rcit").bind(X, sample_weight=np.tile([1, 2], N // 2))


def test_two_rare_flags_are_tested_exactly():
    flags = np.zeros((2, 400), dtype=bool)
    flags[0, :8] = flags[1, 200:208] = True
    X = pd.DataFrame({"a": flags[0], "b": flags[1]})
    assert bind(X).test("a", "b").p_value == pytest.approx(stats.fisher_exact([[384, 8], [8, 0]])[1])


@pytest.mark.extended
@pytest.mark.parametrize("bend", [np.square, np.exp])
def test_level(bend):
    def is_rejected(seed):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=300)
        X = pd.DataFrame({"x": bend(z) + rng.normal(size=300), "y": bend(z) + rng.normal(size=300), "z": z})
        return bind(X, seed).test("x", "y", ["z"]).p_value <= 0.05

    assert not Level(300, 1e-4).is_exceeded(map(is_rejected, range(300)))
