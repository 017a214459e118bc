"""Distances, nearest rows and weighted differences against their definitions, across the borders of tiles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blanketflow.kernels.differences import TILE_OTHERS, TILE_ROWS, add_differences, nearest_rows, row_distances


def columns(seed, d, n):
    rng = np.random.default_rng(seed)
    is_level = rng.random(d) < 0.5
    values = np.where(is_level[:, None], rng.integers(0, 4, (d, n)), rng.random((d, n)))
    return rng, values, is_level


def difference(values, is_level, i, j):
    return np.where(is_level, values[:, i] != values[:, j], np.abs(values[:, i] - values[:, j]))


@pytest.mark.parametrize("n", [1, 7, TILE_OTHERS - 1, TILE_OTHERS, TILE_OTHERS + 1])
@pytest.mark.parametrize("b", [1, TILE_ROWS - 1, TILE_ROWS, TILE_ROWS + 1, 3 * TILE_ROWS + 2])
def test_distances_are_sums_of_differences(n, b):
    rng, values, is_level = columns(n + b, 5, n)
    rows = rng.integers(0, n, b)
    distances = np.full((b, n), np.nan)
    row_distances(values, is_level, rows, distances)
    wanted = [[difference(values, is_level, i, j).sum() for j in range(n)] for i in rows]
    np.testing.assert_allclose(distances, wanted, atol=1e-12)
    own = distances[np.arange(b), rows]
    assert not own.any()


def test_there_may_be_no_columns():
    distances = np.full((2, 3), np.nan)
    row_distances(np.empty((0, 3)), np.empty(0, dtype=bool), np.array([0, 2]), distances)
    assert not distances.any()


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 15), st.integers(1, 3), st.integers(1, 6))
def test_nearest_rows_are_the_first_of_a_stable_sort(seed, n, n_groups, k):
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 4, (3, n)).astype(float)
    distances[rng.random((3, n)) < 0.2] = np.inf
    group = rng.integers(0, n_groups, n)
    nearest = np.empty((3, n_groups, k), dtype=np.int64)
    nearest_rows(distances, group, nearest)
    for i in range(3):
        for g in range(n_groups):
            there = [j for j in range(n) if group[j] == g and np.isfinite(distances[i, j])]
            wanted = sorted(there, key=lambda j: distances[i, j])[:k]
            assert nearest[i, g].tolist() == wanted + [-1] * (k - len(wanted))


def test_differences_are_added_with_their_weights():
    rng, values, is_level = columns(3, 6, 20)
    first, second, weight = rng.integers(0, 20, 50), rng.integers(0, 20, 50), rng.normal(size=50)
    sums = np.ones(6)
    add_differences(values, is_level, first, second, weight, sums)
    wanted = 1 + sum(w * difference(values, is_level, i, j) for i, j, w in zip(first, second, weight, strict=True))
    np.testing.assert_allclose(sums, wanted, atol=1e-12)
