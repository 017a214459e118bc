"""Columns that say the same tie, whatever sums rounded to: the first in table order goes first."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import blanketflow as bf
from blanketflow.core.numerics import BITS, comparable, comparable_number
from blanketflow.core.results import CIResults
from blanketflow.moves.steps import strongest_first

NUMBERS = st.floats(allow_nan=False)


@given(st.lists(NUMBERS, min_size=1))
def test_one_by_one_is_all_at_once(values):
    with np.errstate(over="ignore"):
        together = comparable(np.array(values)).tolist()
    assert together == [comparable_number(v) if abs(v) < 1e308 else t for v, t in zip(values, together, strict=True)]


@given(st.floats(1e-290, 1e290), st.floats(-1, 1))
def test_a_number_moves_by_less_than_the_bits_that_are_not_compared(value, sign):
    value = float(np.copysign(value, sign))
    assert abs(comparable_number(value) - value) <= abs(value) * 2.0**-BITS
    assert comparable_number(comparable_number(value)) == comparable_number(value)


@given(st.tuples(NUMBERS, NUMBERS).map(sorted))
def test_order_is_kept_but_for_ties(pair):
    with np.errstate(over="ignore"):
        low, high = comparable(np.array(pair))
    assert low <= high


def test_noise_does_not_decide_what_is_strongest():
    one = np.ones(4)
    log_p = np.array([-3.0, -208.123456789 * (1 - 1e-14), -208.123456789, -208.2])
    results = CIResults(np.array([1.0, 7.0, 7.0, 7.0]), np.exp(log_p), log_p, one, one, one)
    assert strongest_first(results).tolist() == [3, 1, 2, 0]


def mixed_tables(rng):
    """Yield tables that say the same: numbers and categories, each with a copy of another scale or other labels."""
    n = 300
    codes, numbers = rng.integers(0, 4, (n, 3)), rng.normal(size=(n, 2))
    score = (codes[:, 0] == 1) * 1.5 + (codes[:, 1] > 1) * 1.2 + numbers.sum(axis=1) + rng.normal(size=n)
    target = np.where(score > np.median(score), "yes", "no")
    once = {f"c{j}": np.array(list("pqrs"))[codes[:, j]] for j in range(3)} | {f"x{j}": numbers[:, j] for j in range(2)}
    for labels, factor in (("pqrs", 1.0), ("wvut", -3.7), ("usvt", 1e-5), ("tvsu", 77.0)):
        again = {f"c{j} again": np.array(list(labels))[codes[:, j]] for j in range(3)}
        again |= {f"x{j} again": numbers[:, j] * factor for j in range(2)}
        yield pd.DataFrame(once | again), target


#: Methods that ask many tests, each of which is a regression.
SLOW = ("mmpc", "hiton-pc", "res", "sgai")


@pytest.mark.parametrize(
    "method",
    ["mixed-mb", "iamb", "fast-iamb", "gs", *(pytest.param(name, marks=pytest.mark.extended) for name in SLOW)],
)
def test_how_a_copy_is_written_changes_nothing(method):
    options = {} if method == "mixed-mb" else {"ci_test": "lr-mixed"}
    if method in ("mmpc", "hiton-pc"):  # seen from a feature its copy separates it from the target
        options["symmetry"] = "none"
    for seed in range(6):
        tables = mixed_tables(np.random.default_rng(seed))
        kept = [bf.get_selector(method, **options).fit(X, y).selected_features_ for X, y in tables]
        assert kept[0] and kept[1:] == kept[:-1], seed


def test_the_nearest_of_koller_and_sahami_are_the_first_of_those_as_near():
    nearest = bf.get_selector("koller-sahami", k=1, ci_test="fisher-z")
    for seed in range(6):
        kept = []
        for X, y in mixed_tables(np.random.default_rng(seed)):
            numbers = X.filter(like="x")
            kept.append(nearest.fit(numbers, numbers["x0"] + numbers["x1"] * (y == "yes")).selected_features_)
        assert kept[1:] == kept[:-1], seed
