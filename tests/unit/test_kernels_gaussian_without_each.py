"""Gaussian kernels without each column, beside sums over the columns that are left; and middle order statistics."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from blanketflow.kernels.gaussian_without_each import squared_distances, sums_without_each, widths_without_each
from blanketflow.kernels.middle_values import middle_of_positive, middle_of_squared_differences, order_statistics


def literally(values, weights):
    """Return the median positive distance without each column, and the weighted sums of kernels of this width."""
    widths, sums = [], []
    upper = np.triu_indices(values.shape[1], 1)
    for column in range(len(values)):
        rest = np.delete(values, column, axis=0)
        squares = ((rest[:, :, None] - rest[:, None, :]) ** 2).sum(axis=0)[upper]
        distances = np.sqrt(squares[squares > 0])
        widths.append(np.median(distances) if len(distances) else 1.0)
        sums.append(weights[upper] @ np.exp(-squares / (2 * widths[-1] ** 2)))
    return widths, sums


def tables():
    rng = np.random.default_rng(0)
    yield "one column", rng.normal(size=(1, 40))
    yield "two rows", rng.normal(size=(5, 2))
    yield "few columns", rng.normal(size=(2, 300))
    yield "many columns", rng.normal(size=(70, 90))
    yield "so many columns that one changes little", rng.normal(size=(600, 60))
    yield "counts with equal rows", rng.integers(0, 2, size=(4, 120)).astype(float)
    yield "one column is nearly all", np.vstack([1e8 * rng.normal(size=50), rng.normal(size=(3, 50))])
    yield "far rows", rng.standard_cauchy(size=(6, 150))
    yield "constant", np.zeros((3, 20))


@pytest.mark.parametrize(("name", "values"), [pytest.param(*case, id=case[0]) for case in tables()])
def test_without_each(name, values):
    d, m = values.shape
    weights = np.random.default_rng(1).normal(size=(m, m))
    squares, widths, sums = np.empty((m, m)), np.empty(d), np.empty(d)
    squared_distances(values, squares)
    widths_without_each(values, squares, widths)
    sums_without_each(values, squares, widths, weights, sums)
    wanted_widths, wanted_sums = literally(values, weights)
    np.testing.assert_allclose(widths, wanted_widths, rtol=1e-12)
    np.testing.assert_allclose(sums, wanted_sums, rtol=0, atol=1e-12 * np.abs(weights).sum())


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 70_000, 70_001])
@pytest.mark.parametrize("kind", ["numbers", "zeros", "ties", "ascending"])
def test_middle(n, kind):
    rng = np.random.default_rng(n)
    values = rng.chisquare(2, size=n) + 1e-3
    if kind == "zeros":
        values[rng.random(n) < 0.3] = 0.0
        values[0] = 1.0
    elif kind == "ties":
        values = np.ceil(values)
    elif kind == "ascending":
        values.sort()
    positive = np.sort(values[values > 0])
    middle = (len(positive) - 1) // 2, len(positive) // 2
    assert middle_of_positive(values) == (positive[middle[0]], positive[middle[1]])


@pytest.mark.parametrize("n", [2, 3, 4, 9, 50, 333])
@pytest.mark.parametrize("kind", ["numbers", "equal steps", "two values", "far apart"])
def test_middle_of_squared_differences(n, kind):
    rng = np.random.default_rng(n)
    numbers = {
        "numbers": rng.normal(size=n),
        "equal steps": 0.1 * np.arange(n),
        "two values": np.arange(n) % 2 + 0.1,
        "far apart": rng.standard_cauchy(size=n) ** 5,
    }[kind]
    squares = pdist(numbers[:, None], "sqeuclidean")
    assert middle_of_squared_differences(np.sort(numbers)) == middle_of_positive(squares)


@pytest.mark.parametrize("values", ["ties", "ascending", "descending", "any"])
def test_order_statistics(values):
    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 10, 301):
        numbers = np.floor(rng.exponential(2, n)) if values == "ties" else rng.normal(size=n)
        if values in ("ascending", "descending"):
            numbers = np.sort(numbers)[:: 1 if values == "ascending" else -1]
        ordered, before = np.sort(numbers), numbers.copy()
        for second in range(n):
            for first in {max(second - 1, 0), second}:
                assert order_statistics.py_func(numbers, first, second) == (ordered[first], ordered[second])
        assert (numbers == before).all()
