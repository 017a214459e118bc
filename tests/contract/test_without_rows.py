"""Every method that says it learns of rows by its CI test alone finds on sums of rows what it finds on the rows."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.ci.linear.lr_mixed import LRMixed
from blanketflow.core.errors import RowsNeeded
from blanketflow.core.registry import discover
from blanketflow.counts.sufficient_statistics import TablesNotCounted

METHODS = discover("blanketflow.selectors")
BY_TESTS = sorted(
    name for name, method in METHODS.items() if method.default_test and not method().needs_complete_rows()
)
BY_P_VALUES = [name for name in BY_TESTS if METHODS[name].needs == "p-value"]
#: Methods that never test two features, or no two labels here, as the error says of these.
OF_TARGET = {"iamb", "inter-iamb", "fast-iamb", "gs", "mixed-mb"}
BY_TRIPLES = sorted(name for name, method in METHODS.items() if method.learns_from == "triples")
pytestmark = pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 7))
    x[:, 3] += x[:, 0]
    x[:, 4] += x[:, 1] - x[:, 3]
    frame = pd.DataFrame(x, columns=list("abcdefg")).assign(t=x[:, 0] + x[:, 4] + rng.normal(size=400))
    agreement = bf.agree(frame, "t", tables="cross-products")
    return frame, bf.merge([bf.count(frame[:150], agreement), bf.count(frame[150:], agreement)])


@pytest.fixture(scope="module")
def mixed():
    """Numbers, and three labels of which two depend on each other."""
    rng = np.random.default_rng(0)
    x, (c, d) = rng.normal(size=(600, 6)), rng.integers(0, 3, (2, 600))
    x[:, 3] += x[:, 0]
    x[:, 4] += x[:, 1] - x[:, 3] + (d == 1)
    frame = pd.DataFrame(x, columns=list("abcdef")).assign(p=np.array(list("uvw"))[c], r=rng.random(600) < 0.3)
    frame["q"] = np.array(list("xyz"))[np.where(rng.random(600) < 0.3, c, d)]
    frame["t"] = x[:, 0] + x[:, 4] + (c == 1) + rng.normal(size=600)
    agreement = bf.agree(frame, "t", tables="cross-products")
    return frame, bf.merge([bf.count(frame[:150], agreement), bf.count(frame[150:], agreement)])


@pytest.fixture(scope="module")
def levels():
    rng = np.random.default_rng(1)
    a, b, c, d, e = rng.integers(0, 3, (5, 500))
    frame = pd.DataFrame({"a": a, "b": b, "c": (a + c) % 3, "d": d, "e": e * (a > 0), "t": a * (b < 2)})
    agreement = bf.agree(frame, "t")
    return frame, bf.merge([bf.count(frame[:200], agreement), bf.count(frame[200:], agreement)])


def fitted(name, rows, statistics, **options):
    frame = rows
    on_rows = bf.get_selector(name, **options).fit(frame.drop(columns="t"), frame["t"])
    return on_rows, bf.fit_statistics(bf.get_selector(name, **options), statistics)


@pytest.mark.parametrize(
    "name", [name for name in BY_TESTS if METHODS[name].needs in ("p-value", "mutual-information")]
)
def test_cross_products_are_enough_with_fisher_z(numbers, name):
    check_traces(*fitted(name, *numbers, ci_test="fisher-z"))


def check_traces(on_rows, on_sums):
    assert on_sums.selected_features_ == on_rows.selected_features_ and on_sums.roles_ == on_rows.roles_
    assert on_sums.n_tests_ == on_rows.n_tests_
    columns = ["stage", "feature", "kept", "role"]
    assert on_sums.trace_[columns].equals(on_rows.trace_[columns])
    for column in ("statistic", "p_value"):
        assert np.allclose(on_sums.trace_[column], on_rows.trace_[column], rtol=1e-8, atol=1e-10, equal_nan=True)


@pytest.mark.parametrize("name", BY_P_VALUES)
def test_cross_products_are_enough_with_lr_mixed_and_one_label(mixed, name):
    frame = mixed[0].drop(columns=["q", "r"])
    counted = bf.count(frame, bf.agree(frame, "t", tables="cross-products"))
    check_traces(*fitted(name, frame, counted, ci_test=LRMixed(directions="linear")))


@pytest.mark.parametrize("name", BY_P_VALUES)
def test_a_search_that_comes_to_two_labels_says_so_and_others_are_as_on_the_rows(mixed, name):
    frame, statistics = mixed
    test = LRMixed(directions="linear")
    try:
        on_sums = bf.fit_statistics(bf.get_selector(name, ci_test=test), statistics)
    except RowsNeeded as error:
        assert name not in OF_TARGET and "on another label" in str(error) and "such as iamb" in str(error)
        return
    assert name != "hiton-mb"
    check_traces(bf.get_selector(name, ci_test=test).fit(frame.drop(columns="t"), frame["t"]), on_sums)


@pytest.mark.parametrize("name", BY_TRIPLES)
def test_triples_are_enough_with_g2(levels, name):
    on_rows, on_sums = fitted(name, *levels, ci_test="g2")
    assert on_sums.trace_.equals(on_rows.trace_) and on_sums.n_tests_ == on_rows.n_tests_


@pytest.mark.parametrize("name", BY_TESTS)
def test_packed_rows_are_enough_with_g2(levels, name):
    frame, statistics = levels
    on_rows, on_codes = fitted(name, frame, bf.pack(frame, statistics.agreement), ci_test="g2")
    assert on_codes.trace_.equals(on_rows.trace_) and on_codes.n_tests_ == on_rows.n_tests_


@pytest.mark.parametrize("name", ["iamb", "mmpc"])
def test_more_exchanges_find_what_the_rows_have(levels, name):
    """The merge side asks for tables until it has an answer, in which every number is that of the rows."""
    frame, statistics = levels
    expected = bf.get_selector(name, ci_test="g2").fit(frame.drop(columns="t"), frame["t"])
    n_exchanges = 0
    while True:
        try:
            found = bf.fit_statistics(bf.get_selector(name, ci_test="g2"), statistics)
            break
        except TablesNotCounted as error:
            agreement = statistics.agreement.asking(error.column_sets)
            more = bf.merge([bf.count(frame[:200], agreement), bf.count(frame[200:], agreement)])
            statistics, n_exchanges = statistics.joined(more), n_exchanges + 1
    assert n_exchanges > 0 and found.trace_.equals(expected.trace_)
