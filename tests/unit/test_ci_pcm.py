"""The PCM test against a literal version given levels, and what it finds."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import Ridge

import blanketflow as bf
from blanketflow.ci.spline_functions import functions_of
from blanketflow.core.convert import as_table
from blanketflow.core.errors import UnsupportedError
from blanketflow.core.seeds import derive_rng
from levels import Level

N = 120


def bent(n=N, seed=0):
    """Return x, a label g (3), y by the square of x and by g, and noise."""
    rng = np.random.default_rng(seed)
    g, x, noise = rng.integers(0, 3, n), rng.normal(size=n), rng.normal(size=n)
    y = 0.4 * x**2 + g + rng.normal(size=n)
    return pd.DataFrame({"x": x, "g": np.array(["a", "b", "c"])[g], "y": y, "noise": noise})


def bind(X, seed=0, **options):
    return bf.get_ci_test("pcm", **options).bind(X, seed=seed)


def by_ridge(D, y):
    """Return the slopes of y, (n,), on D, (n, p), with the penalty of least generalised cross-validation."""
    n, mean = len(y), np.trace(D.T @ D) / D.shape[1]
    fits = []
    for penalty in np.logspace(-3, 2, 16) * mean:
        fitted = Ridge(penalty, fit_intercept=False).fit(D, y)
        hat = D @ np.linalg.inv(D.T @ D + penalty * np.eye(D.shape[1])) @ D.T
        fits.append((np.sum((y - fitted.predict(D)) ** 2) / (1 - np.trace(hat) / n) ** 2, fitted.coef_))
    return min(fits, key=lambda fit: fit[0])[1]


def literal(X, seed):
    """Return T of x and y given g for the first random half of `seed`."""
    n, rng = len(X), derive_rng(seed, "halves")
    order = rng.permutation(n)
    learn, rest = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
    of_x, of_g = (functions_of(as_table(X)[name], 8)[:4].T for name in "xg")
    # Rough functions are smaller; products with levels have the mean square of a function.
    columns = [of_x[:, j] / (1 + j) for j in range(4)]
    columns += [of_x[:, j] * of_g[:, k] * np.sqrt(n) / (2 + j) for j in range(3) for k in range(2)]
    D, S = np.column_stack(columns), np.column_stack([of_x[:, :3], of_g])
    y = functions_of(as_table(X)["y"], 1)[0]
    of_rows = {}
    for name, rows in (("learn", learn), ("rest", rest)):
        scale = np.sqrt(n / len(rows))
        of_rows[name] = [(A[rows] - A[rows].mean(axis=0)) * scale for A in (D, S, y)]

    def left(values, rows):
        """Return values less the means of their levels on other rows, and on all rows."""
        means, others = np.empty_like(values), np.empty_like(values)
        for i in range(len(rows)):
            same = X["g"].to_numpy()[rows] == X["g"].to_numpy()[rows[i]]
            means[i] = values[same].mean(axis=0)
            same[i] = False
            others[i] = values[same].mean(axis=0)
        return values - means, values - others

    (D_learn, S_learn, y_learn), (D_rest, S_rest, y_rest) = of_rows["learn"], of_rows["rest"]
    y_left, D_left = left(y_learn, learn)[0], left(D_learn, learn)[0]
    slopes = by_ridge(D_left, y_left)
    squares = (y_left - D_left @ slopes) ** 2
    variances = squares.mean() + S_rest @ by_ridge(S_learn, squares - squares.mean())
    known = D_learn @ slopes
    f = np.clip(D_rest @ slopes, known.min(), known.max()) / np.clip(variances / squares.mean(), 0.25, 4.0)
    f_left = left(f, rest)[0]
    y_left, y_without = left(y_rest, rest)
    return np.sum(f_left * y_left) / np.sqrt(np.sum((f_left * y_without) ** 2))


def test_it_is_the_literal_measure_given_levels():
    X = bent()
    for seed in range(3):
        found, t = bind(X, seed, n_splits=1).test("x", "y", ["g"]), literal(X, seed)
        assert found.statistic == pytest.approx(t, rel=1e-6)
        assert found.p_value == pytest.approx(stats.t.sf(t, N // 2 - 1), rel=1e-6)
    several = bind(X, n_splits=5).test("x", "y", ["g"])
    assert several.statistic != bind(X, n_splits=1).test("x", "y", ["g"]).statistic
    assert several.p_value == pytest.approx(stats.t.sf(several.statistic, N // 2 - 1))


def test_it_finds_what_makes_no_covariance():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 300))
    flags = rng.random((2, 300)) < 0.5
    X = pd.DataFrame({"x": x, "z": z, "square": x**2 + rng.normal(size=300), "turned": np.sign(z) * x})
    X["one"], X["other"], X["xor"] = *flags, flags[0] ^ flags[1] ^ (rng.random(300) < 0.2)
    X["three"] = np.digitize(np.abs(x) + 0.5 * rng.normal(size=300), [0.5, 1.2]).astype(str)
    bound = bind(X)
    for asked in (("x", "square", ["z"]), ("x", "turned", ["z"]), ("one", "xor", ["other"]), ("x", "three", ["z"])):
        assert bound.test(*asked).p_value < 1e-3, asked
    assert bound.test(["x", "one"], "square", ["z"]).p_value < 1e-3
    assert bound.test("x", "one", ["z"]).p_value > 0.05


def test_functions_of_z_too_few_rows_and_rounding():
    X = bent(200)
    X["copy"], X["bend"], X["rounded"] = X["g"], X["x"] ** 3, 1e15 + X["x"].round(0)
    bound = bind(X)
    for asked in (("copy", "y", ["g"]), ("bend", "y", ["x"]), ("y", "bend", ["x"])):
        found = bound.test(*asked)
        assert (found.p_value, found.reliable) == (1.0, True), asked
    for asked in (("rounded", "y", []), ("x", "rounded", ["g"]), ("x", "y", ["rounded"])):
        found = bound.test(*asked)
        assert (found.p_value, found.reliable) == (1.0, False), asked
    assert not bind(X[:18]).test("x", "y").reliable and bind(X[:20]).test("x", "y").reliable


def test_rows_are_drawn_so_they_have_no_weights_or_groups():
    X = bent()
    with pytest.raises(UnsupportedError, match="pcm draws, permutes or compares single rows"):
        bf.get_ci_test("pcm").bind(X, sample_weight=np.tile([1, 2], N // 2))
    with pytest.raises(UnsupportedError, match="pcm takes rows as independent and equal"):
        bf.get_ci_test("pcm").bind(X, groups=np.arange(N) // 2)


def test_two_rare_flags_are_tested_exactly():
    flags = np.zeros((2, 400), dtype=bool)
    flags[0, :8] = flags[1, 200:208] = True
    X = pd.DataFrame({"a": flags[0], "b": flags[1]})
    assert bind(X).test("a", "b").p_value == pytest.approx(stats.fisher_exact([[384, 8], [8, 0]])[1])


@pytest.mark.extended
@pytest.mark.parametrize("bend", [np.square, np.exp, np.sign])
def test_level(bend):
    def is_rejected(seed):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=400)
        X = pd.DataFrame({"x": bend(z) + rng.normal(size=400), "y": bend(z) + rng.normal(size=400), "z": z})
        return bind(X, seed, n_splits=1).test("x", "y", ["z"]).p_value <= 0.05

    assert not Level(200, 1e-4).is_exceeded(map(is_rejected, range(200)))
