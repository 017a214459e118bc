"""Relief, ReliefF and RReliefF: by hand, by loops over instances in exact fractions, and beside skrebate."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import blanketflow as bf
from blanketflow.core.limits import LimitReached
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import Column, Table
from blanketflow.selectors.filters import relief as shared
from blanketflow.selectors.filters.relief import Relief
from literal_relief import literal_weights, random_table, ranking, weights_found

TASKS = [2, 3, "regression"]


def equal_shares(k):
    def share(near):
        chosen = sorted(near)[:k]
        return [(j, Fraction(1, len(chosen))) for _, j in chosen]

    return share


def weights_of(X, y, **options):
    fitted = bf.Relief(n_features=X.shape[1], **options).fit(X, y)
    return [fitted.importances_[name] for name in fitted.feature_names_in_]


def test_relief_by_hand():
    # Scaled, a is 0, 1/4, 3/4, 1 and b is 0, 1, 1, 0, so rows 0 .. 3 have the distances
    # 01: 5/4, 02: 7/4, 03: 1, 12: 1/2, 13: 7/4, 23: 5/4.
    X, y = pd.DataFrame({"a": [0.0, 1.0, 3.0, 4.0], "b": [5.0, 7.0, 7.0, 5.0]}), list("ppqq")
    # Hits are 1, 0, 3, 2 and misses 3, 2, 1, 0. For a: misses 1, 1/2, 1/2, 1, hits 1/4 each. For b: misses 0, hits 1.
    assert weights_of(X, y, n_neighbors=1) == pytest.approx([3 / 4 - 1 / 4, -1.0])
    # Of two misses each, a has the differences 3/4, 1; 1/2, 3/4; 3/4, 1/2; 1, 3/4; and b 1, 0; 0, 1; 1, 0; 0, 1.
    assert weights_of(X, y, n_neighbors=2) == pytest.approx([3 / 4 - 1 / 4, 1 / 2 - 1.0])


def test_misses_of_three_classes_count_by_their_shares_by_hand():
    X, y = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0, 4.0]}), list("ppqqr")
    # Differences in fourths. Row 0: hit 1, misses 2 (q, 2/3 of the others) and 4 (r, 1/3): 8/3. Row 1: 1; 1, 3: 5/3.
    # Row 2: hit 1; misses 1 (p, 2/3) and 2: 4/3. Row 3: 1; 2, 1: 5/3. Row 4: no hit; misses 3 and 1, half each: 2.
    wanted = (8 / 3 + 5 / 3 + 4 / 3 + 5 / 3 + 2 - 4 * 1) / 4 / 5
    assert weights_of(X, y, n_neighbors=1) == pytest.approx([wanted])


def test_rrelieff_by_hand():
    X = pd.DataFrame({"a": [0.0, 1.0, 4.0], "b": [0.0, 2.0, 1.0]})
    y = np.array([0.0, 0.5, 1.0])
    # Distances 01: 1/4 + 1, 02: 1 + 1/2, 12: 3/4 + 1/2. Nearest: 0 -> 1; 1 -> 0, the first of equals; 2 -> 1.
    # N_dC = 3 / 2; a: N_dA = 1/4 + 1/4 + 3/4 = 5/4, b: 5/2; every target differs by 1/2, which halves them.
    a, b = (5 / 8) / (3 / 2) - (5 / 8) / (3 / 2), (5 / 4) / (3 / 2) - (5 / 4) / (3 / 2)
    assert weights_of(X, y, n_neighbors=1) == pytest.approx([a, b], abs=1e-12)
    # With both neighbours, each half: 01 counts twice over 2 with 1/2, 12 likewise, 02 with 1. N_dC = 2.
    a = (1 / 4 / 2 + 3 / 4 / 2 + 1) / 2 - (1 / 4 / 2 + 3 / 4 / 2) / 1
    b = (1 / 2 + 1 / 4 + 1 / 2) / 2 - (1 / 2 + 1 / 4) / 1
    assert weights_of(X, y, n_neighbors=2) == pytest.approx([a, b])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(TASKS), st.integers(1, 5), st.none() | st.integers(1, 20))
def test_equals_loops_over_instances(seed, task, k, n_iterations):
    table, target = random_table(seed, task)
    instances = list(range(table.n_rows))
    if n_iterations:
        instances = derive_rng(seed, "instances").integers(table.n_rows, size=n_iterations).tolist()
    wanted = literal_weights(table, target, instances, equal_shares(k))
    method = Relief(n_features=100, n_neighbors=k, n_iterations=n_iterations)
    names, found = weights_found(method, table, target, seed)
    order, weights = ranking(table, wanted)
    assert names == order and found == pytest.approx(weights, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(TASKS), st.integers(1, 5), st.floats(0.5, 30))
def test_far_neighbours_count_less_by_their_rank(seed, task, k, sigma):
    def share(near):
        chosen = sorted(near)[:k]
        # A factor that all have in common, so that none of the floats is 0 for all.
        parts = [math.exp(-((rank / sigma) ** 2 - (1 / sigma) ** 2)) for rank in range(1, len(chosen) + 1)]
        return [(j, part / sum(parts)) for (_, j), part in zip(chosen, parts, strict=True)]

    table, target = random_table(seed, task)
    wanted = literal_weights(table, target, list(range(table.n_rows)), share)
    _, found = weights_found(Relief(n_features=100, n_neighbors=k, sigma=sigma), table, target)
    assert found == pytest.approx(ranking(table, wanted)[1], abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_skrebate_where_definitions_coincide(n_classes):
    # Classes of equal size, for it weighs misses by another rule else; columns of many values and of one kind, for it
    # takes others as levels and mixes them by a rule of its own; no ties, which it takes in any order.
    skrebate = pytest.importorskip("skrebate")
    rng = np.random.default_rng(n_classes)
    y = np.arange(90) % n_classes
    X = rng.normal(size=(90, 12)) + np.outer(y, [1.0, 0.5] + [0.0] * 10)
    for k in (1, 5, 10):
        peer = skrebate.ReliefF(n_neighbors=k).fit(X.copy(), y)
        assert weights_of(pd.DataFrame(X).add_prefix("x"), y.astype(str), n_neighbors=k) == pytest.approx(
            peer.feature_importances_, abs=1e-12
        )


def test_comes_close_to_what_a_manual_prints_for_iris():
    # MathWorks, relieff: "Find the important predictors using 10 nearest neighbors". Copies of rows make ties there.
    X, y = load_iris(return_X_y=True, as_frame=True)
    assert weights_of(X, y, n_neighbors=10) == pytest.approx([0.1399, 0.1226, 0.3590, 0.3754], abs=2e-4)


def test_units_and_copies_of_levels_do_not_matter():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 5, size=(60, 4)), columns=list("abcd"))
    y = (X["a"] + X["b"] > 4).astype(str)
    scaled = X.assign(a=X["a"] * 2.0**40 + 7, c=-X["c"] * 2.0**-1000, d=X["d"] * 2.0**1020)
    assert weights_of(scaled, y) == weights_of(X, y)
    levels = X.assign(d=X["d"].map(lambda v: "vwxyz"[v]))
    relabelled = X.assign(d=X["d"].map(lambda v: "zxvyw"[v]))
    assert weights_of(levels, y) == weights_of(relabelled, y)


def test_the_threshold_cuts_what_does_not_exceed_it():
    # Of the two nearest hits of each row one differs in the noise, of its two nearest misses none.
    y = np.arange(8) // 4
    X = pd.DataFrame({"signal": y + np.arange(8) / 100, "noise": [0, 1, 0, 1] * 2})
    weights = dict(zip(X, weights_of(X, y, n_neighbors=2), strict=True))
    assert weights["signal"] > 0 > weights["noise"]
    assert bf.Relief(n_neighbors=2, threshold=0.0).fit(X, y).selected_features_ == ["signal"]
    assert bf.Relief(n_neighbors=2, threshold=weights["signal"]).fit(X, y).selected_features_ == []
    assert bf.Relief(n_neighbors=2, threshold=-1, n_features=2).fit(X, y).selected_features_ == ["signal", "noise"]
    several = bf.Relief(n_neighbors=2, threshold=0.0, n_features=[1, 3]).fit(X, y)
    assert several.blankets_ == [["signal"], ["signal"]]


def test_interacting_levels_are_found_where_each_alone_tells_nothing():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 3, size=(400, 8)), columns=[f"x{j}" for j in range(8)]).astype(str)
    y = (X["x2"].astype(int) + X["x5"].astype(int)) % 3
    for target in (y.astype(str), y.astype(float) + 0.5):
        assert set(bf.Relief(n_features=2).fit(X, target).selected_features_) == {"x2", "x5"}


def test_drawn_instances_come_close_to_all_of_them():
    X, y = load_iris(return_X_y=True, as_frame=True)
    drawn = weights_of(X, y, n_iterations=20000)
    assert drawn == pytest.approx(weights_of(X, y), abs=0.01)
    assert drawn != weights_of(X, y, n_iterations=20000, random_state=1)


@pytest.mark.parametrize("kind", ["categorical", "numeric"])
def test_a_target_of_one_value_gives_finite_weights(kind):
    two = np.array([0.0, 1.0, 3.0]), np.array([0.0, 0.0, 1.0])
    table = Table([Column(name, "numeric", values) for name, values in zip("ab", two, strict=True)])
    target = Column("y", kind, np.zeros(3), ("only",) if kind == "categorical" else ())
    # Three hits, or neighbours of the same target: 1/3, 1/3 and 2/3 of the range of a; in b only the last differs.
    names, weights = weights_found(Relief(n_neighbors=1), table, target)
    assert names == ["b", "a"]
    assert weights == pytest.approx({"a": -(1 / 3 + 1 / 3 + 2 / 3) / 3, "b": -1 / 3})


@pytest.mark.parametrize("task", TASKS)
def test_blocks_of_rows_change_nothing(monkeypatch, task):
    rng = np.random.default_rng(4)
    table = Table([Column(f"f{j}", "numeric", rng.random(50)) for j in range(5)])
    y = rng.random(50) if task == "regression" else rng.integers(0, task, 50)
    target = Column("y", "numeric" if task == "regression" else "categorical", y, tuple("pqr"))
    whole = weights_found(Relief(n_neighbors=4), table, target)[1]
    for cells in (1, 333):
        monkeypatch.setattr(shared, "CELLS", cells)
        assert weights_found(Relief(n_neighbors=4), table, target)[1] == pytest.approx(whole, abs=1e-12)


def test_a_time_limit_strikes_between_blocks(monkeypatch):
    monkeypatch.setattr(shared, "CELLS", 1)
    X, y = np.random.default_rng(5).random((400, 20)), np.arange(400) % 2
    with pytest.raises(LimitReached):
        bf.Relief(time_limit=1e-6).fit(X, y)
