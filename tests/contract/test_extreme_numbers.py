"""Every CI test on numbers near the ends of what floats hold: no overflow, no NaN, and no unit that shows."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from sklearn.linear_model import LinearRegression
from test_ci_tests import TESTS, configured, frame, valid

TINY, SMALL, LARGE, HUGE = 2.0**-1000, 2.0**-500, 2.0**500, 2.0**1000
#: Scales of the columns a, b and c.
SCALES = {
    "tiny": (TINY, TINY, TINY),
    "small": (SMALL, SMALL, SMALL),
    "large": (LARGE, LARGE, LARGE),
    "huge": (HUGE, HUGE, HUGE),
    "mixed": (HUGE, TINY, LARGE),
    "mixed the other way": (TINY, HUGE, SMALL),
}
PAIRS = [("a", "b", []), ("b", "a", []), ("c", "b", ["a"]), ("b", "c", ["a", "d"]), ("d", "a", ["b", "c"])]
every_test = pytest.mark.parametrize("name", TESTS)


def answers(name, X):
    """Return the answers to some queries, with all warnings and all that numpy says of floats as errors."""
    with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
        warnings.simplefilter("error")
        bound = configured(name).bind(X, seed=0)
        queries = [*PAIRS, *([("b", "f", ["a"]), ("f", "b", [])] if "f" in X else [])]
        found = [bound.test(*query) for query in queries]
    for result in found:
        assert valid(result) and np.isfinite(result.statistic), result
    return found


def rescaled(X, scales):
    return X.assign(**{column: X[column] * scale for column, scale in zip("abc", scales, strict=True)})


@every_test
@pytest.mark.parametrize("scales", SCALES)
def test_powers_of_two_change_no_bit(name, scales):
    X = frame(name)
    assert answers(name, rescaled(X, SCALES[scales])) == answers(name, X)


@every_test
def test_units_change_rounding_errors_only(name):
    X = frame(name)
    # scikit-learn's tree decides between equal cuts by rounding errors, and its svm ends where it is near enough
    options = {"model": LinearRegression()} if name == "cpi" else {}
    plain, other = (
        configured(name, **options).bind(rescaled(X, s), seed=0) for s in ((1,) * 3, (1e-300, 1e300, 39.37))
    )
    for query in PAIRS:
        wanted, found = plain.test(*query), other.test(*query)
        np.testing.assert_allclose(found[:4], wanted[:4], rtol=1e-6, atol=1e-9)


def near_singular(X, rng):
    return X.assign(b=X["a"] + 1e-12 * rng.normal(size=len(X)))


SHAPES = {
    "offset": lambda X, _: X.assign(a=X["a"] + 1e15, b=X["b"] + 1e15),
    "nearly singular": near_singular,
    "nearly singular and huge": lambda X, rng: rescaled(near_singular(X, rng), (1e300, 1e300, 1e-300)),
    "duplicates": lambda X, _: X.assign(b=X["a"], c=2.0 * X["a"]),
    "a sum": lambda X, _: X.assign(c=X["a"] + X["b"]),
    "tied": lambda X, _: X.assign(a=1e300, b=0.0),
    "tied but for one": lambda X, _: X.assign(a=np.where(np.arange(len(X)) == 7, 1e300, X["a"]), b=[5.0] * 79 + [6.0]),
    "both ends": lambda X, _: X.assign(a=np.where(X["a"] > 0, 1.7e308, -1.7e308)),
    "largest whole numbers": lambda X, _: X.assign(d=np.where(X["d"] > 0, 2**63 - 1, -(2**63))),
    **{f"{n} rows": lambda X, _, n=n: X[:n] for n in (2, 3, 5)},
}


@every_test
@pytest.mark.parametrize("shape", SHAPES)
def test_degenerate_columns_give_finite_numbers(name, shape):
    X = SHAPES[shape](frame(name), np.random.default_rng(1))
    answers(name, X)


#: As many levels as rows: the combinations of nine such columns are beyond 64 bits.
MANY_LEVELS = {f"c{j}": [f"v{k}" for k in np.random.default_rng(j).permutation(300)] for j in range(10)}


@pytest.mark.parametrize(
    ("name", "dof"),
    [*itertools.product(["g2", "chi2"], ["adjusted", "nominal", "observed"]), ("mi-permutation", "observed")],
)
def test_more_combinations_of_levels_than_64_bits_count(name, dof):
    options = {"dof": dof, "min_samples_per_cell": 0} if name != "mi-permutation" else {"n_permutations": 9}
    bound = configured(name, **options).bind(pd.DataFrame(MANY_LEVELS))
    for given in ([], ["c2"], [f"c{j}" for j in range(2, 10)]):
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            result = bound.test("c0", "c1", given)
        assert valid(result) and np.isfinite(result.statistic)
        assert result.p_value > 0.05 or dof != "nominal"


@pytest.mark.parametrize("name", ["g2", "chi2"])
def test_counts_of_millions_are_exact(name):
    counts = np.array([[1_500_000, 250_000], [1_000_000, 166_001]])
    x, y = np.repeat(np.array([0, 0, 1, 1], dtype=bool), counts.ravel()), np.repeat([False, True] * 2, counts.ravel())
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    terms = 2 * counts * np.log(counts / expected) if name == "g2" else (counts - expected) ** 2 / expected
    found = configured(name).bind(pd.DataFrame({"x": x, "y": y})).test("x", "y")
    np.testing.assert_allclose([found.statistic, found.log_p], [terms.sum(), chi2.logsf(terms.sum(), 1)], rtol=1e-6)
