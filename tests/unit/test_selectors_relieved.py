"""Relieved: by hand, by loops over instances in exact fractions, and on near-parity, where paper 2 uses it."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blanketflow as bf
from blanketflow.core.table import Column, Table
from blanketflow.data.simulate.near_parity import PARENTS, TARGET, near_parity
from blanketflow.selectors.filters.relief import Relief, Relieved
from literal_relief import literal_weights, random_table, ranking, weights_found

TASKS = [2, 3, "regression"]


def all_nearest(near):
    chosen = [j for distance, j in near if distance == min(near)[0]]
    return [(j, Fraction(1, len(chosen))) for j in chosen]


def as_levels(frame):
    return Table([Column(name, "categorical", frame[name].to_numpy(), ("0", "1")) for name in frame])


def test_tied_neighbours_are_averaged_by_hand():
    X, y = pd.DataFrame({"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 1]}), list("pppqq")
    # Row 0: hits 1 and 2 at 1: a 1/2, b 1/2; misses 3 and 4 at 2: a 1, b 1. Row 1: hit 0: a 0, b 1; misses 3, 4: a 1,
    # b 0. Row 2: hit 0: a 1, b 0; misses: a 0, b 1. Rows 3 and 4: hits at 0; misses 1 and 2 at 1: a 1/2, b 1/2.
    a = ((1 - 1 / 2) + (1 - 0) + (0 - 1) + 2 * (1 / 2 - 0)) / 5
    fitted = bf.Relieved().fit(X, y)
    assert fitted.importances_ == pytest.approx({"a": a, "b": a})
    assert fitted.selected_features_ == ["a", "b"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(TASKS))
def test_equals_loops_over_instances(seed, task):
    table, target = random_table(seed, task)
    wanted = literal_weights(table, target, list(range(table.n_rows)), all_nearest)
    names, found = weights_found(Relieved(n_features=100), table, target)
    order, weights = ranking(table, wanted)
    assert names == order and found == pytest.approx(weights, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(TASKS))
def test_the_order_of_rows_does_not_matter(seed, task):
    table, target = random_table(seed, task)
    order = np.random.default_rng(seed).permutation(table.n_rows)
    _, found = weights_found(Relieved(n_features=100), table, target)
    _, again = weights_found(Relieved(n_features=100), table.take(order), target.take(order))
    assert again == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_without_ties_it_is_relief_of_all_instances(task):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 6)), columns=list("abcdef"))
    total = X["a"] + X["b"]
    y = total if task == "regression" else pd.cut(total, task, labels=list("pqr")[:task])
    relieved, relief = bf.Relieved().fit(X, y), bf.Relief(n_neighbors=1).fit(X, y)
    assert relieved.importances_ == pytest.approx(relief.importances_, abs=1e-12)


def test_it_is_where_relief_goes_as_rows_are_shuffled():
    # Relief takes the first of tied rows: over random orders of the rows that is any of them, as in the long run.
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(0, 2, size=(40, 5)), columns=list("abcde"))
    features = as_levels(table)
    target = features["a"]
    features = features.select("bcde")
    _, wanted = weights_found(Relieved(), features, target)
    sums = dict.fromkeys("bcde", 0.0)
    for _ in range(1000):
        order = rng.permutation(40)
        for name, weight in weights_found(Relief(n_neighbors=1), features.take(order), target.take(order))[1].items():
            sums[name] += weight / 1000
    assert sums == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize(("n_variables", "noise"), [(10, 0.0), (10, 0.05), (50, 0.0), (50, 0.05), (50, 0.1)])
def test_finds_the_bits_of_a_near_parity(n_variables, noise):
    for seed in range(3):
        table = near_parity(n_variables, noise, seed=seed).sample(1000, seed=seed)
        features = table.select([name for name in table.names if name != TARGET])
        ranked, weights = weights_found(Relieved(n_features=100), features, table[TARGET])
        assert set(ranked[:3]) == set(PARENTS)
        # The paper's thresholds: the larger finds the blanket, the smaller lets irrelevant bits in.
        above = {
            tau: weights_found(Relieved(n_features=100, threshold=tau), features, table[TARGET])[0]
            for tau in (0.01, 0.03)
        }
        assert set(above[0.03]) == set(PARENTS)
        assert set(above[0.01]) == {name for name, weight in weights.items() if weight > 0.01} >= set(PARENTS)
        assert n_variables < 50 or len(above[0.01]) > 3
