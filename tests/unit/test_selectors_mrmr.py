"""mRMR against eq. 33 evaluated from scratch at every step, and against FEAST's recorded order."""

import json

import numpy as np
import pandas as pd
import pytest
from literal import golden, mutual_information

import blanketflow as bf
from blanketflow.core.errors import UnsupportedError


def rank(X, y, n_features, **options):
    return bf.MRMR(n_features=n_features, **options).fit(X, y).selected_features_


def literal_ranking(X, y, n_features):
    """Return positions by eq. 33; scores within 1e-9 of the best are ties, which go by column order."""
    ranked = []
    while len(ranked) < n_features:
        scores = {}
        for j in set(range(X.shape[1])) - set(ranked):
            redundancy = [mutual_information(X[:, j], X[:, f]) for f in ranked]
            scores[j] = mutual_information(X[:, j], y) - (sum(redundancy) / len(ranked) if ranked else 0.0)
        best = max(scores.values())
        ranked.append(min(j for j, score in scores.items() if score > best - 1e-9))
    return ranked


def test_a_hand_worked_ranking():
    # y has two bits; a is the first bit, b its copy, c the second bit, d noise-free nothing.
    # Step 1: a, b, c all have I = log 2; a is first. Step 2: b: log 2 - log 2 = 0, c: log 2 - 0, d: 0. Step 3: b:
    # log 2 - (log 2 + 0) / 2 > d: 0 - 0.
    first, second = np.repeat([0, 0, 1, 1], 5), np.repeat([0, 1, 0, 1], 5)
    X = pd.DataFrame({"a": first, "b": first, "c": second, "d": np.tile(np.arange(5), 4)})
    selector = bf.MRMR(n_features=4).fit(X, 2 * first + second)
    assert selector.selected_features_ == ["a", "c", "b", "d"]
    statistic = selector.trace_.query("stage == 'grow'")["statistic"]
    np.testing.assert_allclose(statistic, [np.log(2), np.log(2), np.log(2) / 2, 0], atol=1e-12)


def test_equals_eq_33_on_random_tables():
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, rng.integers(2, 5, 7), size=(60, 7))
        X[:, 3] = X[:, 0] if seed % 2 else X[:, 1].max() - X[:, 1]  # a copy, or a relabelled copy
        y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, 60)) % 3
        wanted = [f"x{j}" for j in literal_ranking(X, y, 7)]
        assert rank(X, y, 7) == wanted
        assert rank(X, y, 3) == wanted[:3]


def test_ties_go_by_column_order_whatever_the_arithmetic():
    # Few rows of binary columns: many scores are equal, though their terms are not.
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, size=(12, 8)), rng.integers(0, 2, 12)
        assert rank(X, y, 8) == [f"x{j}" for j in literal_ranking(X, y, 8)]


def test_equals_feast_on_a_wide_table():
    table = np.load(golden("wide_1000.npz"))
    wanted = json.loads(golden("filters.json").read_text())["wide_1000"]["mrmr"]
    assert rank(table["X"], table["y"], 20) == [f"x{j}" for j in wanted]


def test_keeps_all_features_when_there_are_fewer():
    X = np.random.default_rng(0).integers(0, 2, size=(30, 3))
    assert sorted(rank(X, X[:, 0], 10)) == ["x0", "x1", "x2"]


def test_a_test_without_mutual_information_is_refused():
    with pytest.raises(UnsupportedError, match="mrmr needs a test that measures mutual-information, which ppi"):
        bf.MRMR(ci_test="ppi").fit(np.eye(10), np.arange(10) % 2)


def test_gaussian_columns_are_ranked_by_their_correlations():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 300))
    X = np.column_stack([a, a + 0.2 * rng.normal(size=300), b, c])
    y = 2 * a + b + 0.5 * rng.normal(size=300)

    def information(u, v):
        return -np.log(1 - np.corrcoef(u, v)[0, 1] ** 2) / 2

    first = max(range(4), key=lambda j: information(X[:, j], y))
    second = max(set(range(4)) - {first}, key=lambda j: information(X[:, j], y) - information(X[:, j], X[:, first]))
    assert rank(X, y, 2, ci_test="fisher-z") == [f"x{first}", f"x{second}"]
