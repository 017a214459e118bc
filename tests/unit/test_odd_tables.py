"""Tables in memory that hold what no test can use are refused in our own words; odd numbers are read as numbers."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.cards import CATEGORICAL, INTEGER, NUMERIC
from blanketflow.core.convert import as_table, column_of_objects
from blanketflow.core.errors import DataError

ROWS = 12
DAYS = pd.date_range("2020-01-01", periods=ROWS)
DATES = "column 'd' holds dates or times. Make numbers of them, such as days since a start, or drop it."
Y = np.arange(ROWS) % 2


def frame(**columns):
    return pd.DataFrame({"a": np.arange(ROWS) * 0.7 % 1.3}).assign(**columns)


def objects(cells):
    return pd.Series((list(cells) * ROWS)[:ROWS], dtype=object)


def taken_by(X, y=Y):
    """Every function that takes a table."""
    return {
        "fit": lambda: bf.MRMR(n_features=1).fit(X, y),
        "compare": lambda: bf.compare(X, y, ["mrmr"], evaluation=0, folds=0),
        "bind": lambda: bf.get_ci_test("g2").bind(X),
        "blankets": lambda: bf.blankets(X),
    }


BAD = {
    "dates": (frame(d=DAYS), DATES),
    "dates with a zone": (frame(d=DAYS.tz_localize("Europe/Berlin")), DATES),
    "durations": (frame(d=DAYS - DAYS[0]), DATES),
    "periods": (frame(d=DAYS.to_period("D")), DATES),
    "complex numbers as objects": (frame(d=objects([1j])), "column 'd': Complex data not supported"),
    "arrays as cells": (frame(d=objects([np.zeros(2)])), "column 'd' holds 'ndarray' objects"),
    "a lone surrogate in a name": (
        pd.DataFrame(np.eye(ROWS)[:, :2], columns=pd.Index(["a", "gr\udcf6"], dtype=object)),
        r"a column has the name 'gr\udcf6', which is not valid Unicode text",
    ),
    "a lone surrogate in a cell": (frame(d=objects(["x", "y\udcf6"])), r"column 'd' holds 'y\udcf6', which is not"),
    "a name twice": (
        pd.DataFrame(np.eye(ROWS)[:, :2], columns=["a", "a"]),
        "column names must differ, but these occur more than once: ['a']. Rename them.",
    ),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("function", taken_by(None))
def test_a_bad_table_is_refused_by_every_function_in_our_words(case, function):
    X, said = BAD[case]
    with pytest.raises(DataError) as caught:
        taken_by(X)[function]()
    assert said in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("function", ["fit", "compare"])
@pytest.mark.parametrize(
    ("y", "said"),
    [
        (pd.Series(DAYS), "column 'target' holds dates or times"),
        (np.array(["x", "y\udcf6"] * (ROWS // 2), dtype=object), r"column 'target' holds 'y\udcf6'"),
        (pd.Series(Y, name="\udcf6"), r"has the name '\udcf6', which is not valid Unicode text"),
    ],
    ids=["dates", "surrogate in a class", "surrogate in the name"],
)
def test_a_bad_target_is_refused_in_our_words(function, y, said):
    with pytest.raises(DataError) as caught:
        taken_by(frame(), y)[function]()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("y", "options", "said"),
    [
        (np.array(["1", 1] * (ROWS // 2), dtype=object), {}, "y holds text and other values, such as 1. Make all"),
        (np.arange(ROWS) / 7, {"task": "classification"}, "Unknown label type: continuous"),
    ],
)
def test_labels_that_no_classifier_takes_are_refused_in_our_words(y, options, said):
    with pytest.raises(DataError, match=said):
        bf.MRMR(**options).fit(frame(), y)


def test_names_of_text_and_numbers_are_refused_by_fit():
    with pytest.raises(DataError, match=r"column name 1 is not text, but other names are. Make all of them text"):
        bf.MRMR().fit(pd.DataFrame(np.eye(ROWS)[:, :2], columns=["a", 1]), Y)


@pytest.mark.parametrize(
    ("cells", "kind", "numbers"),
    [
        ([2**63, 2**63 + 2**12], INTEGER, [2.0**63, 2.0**63 + 2**12]),
        ([2**63, -1], INTEGER, [2.0**63, -1.0]),
        ([2**70, 3], INTEGER, [2.0**70, 3.0]),
        ([10**400, -(10**400)], INTEGER, [np.inf, -np.inf]),
        ([Fraction(1, 4), 3], NUMERIC, [0.25, 3.0]),
        ([Fraction(10**400), 3], NUMERIC, [np.inf, 3.0]),
        ([Decimal("0.1"), Decimal(3)], NUMERIC, [0.1, 3.0]),
        ([Decimal("NaN"), Decimal("sNaN"), 1], NUMERIC, [np.nan, np.nan, 1.0]),
        ([Fraction(1, 2), None, pd.NA, np.nan], NUMERIC, [0.5, np.nan, np.nan, np.nan]),
        ([2**70, None], NUMERIC, [2.0**70, np.nan]),
        ([np.float32(0.5), np.int8(3)], NUMERIC, [0.5, 3.0]),
        ([1, True], CATEGORICAL, [0, 1]),
        ([1, "a"], CATEGORICAL, [0, 1]),
        ([None, None], CATEGORICAL, [-1, -1]),
    ],
    ids=str,
)
def test_objects_that_are_numbers_are_read_as_numbers(cells, kind, numbers):
    column = column_of_objects("d", np.array(cells, dtype=object))
    assert (column.kind, column.numbers().tolist()) == (kind, pytest.approx(numbers, nan_ok=True, rel=0))
    of_frame = as_table(pd.DataFrame({"d": pd.Series(cells, dtype=object), "text": "x"}))["d"]
    of_array = as_table(np.array([cells], dtype=object).T)["x0"]
    for other in (of_frame, of_array):
        assert other.kind == kind and np.array_equal(other.numbers(), column.numbers(), equal_nan=True)


def test_a_target_of_objects_is_what_its_numbers_are():
    exact = bf.MRMR(n_features=1).fit(frame(), np.arange(ROWS) / 4)
    assert exact.task_ == "regression"
    for cells in ([Fraction(i, 4) for i in range(ROWS)], [Decimal(i) / 4 for i in range(ROWS)]):
        fitted = bf.MRMR(n_features=1).fit(frame(), np.array(cells, dtype=object))
        assert fitted.task_ == "regression"
        assert fitted.trace_.equals(exact.trace_)
    assert bf.MRMR(n_features=1).fit(frame(), np.array([2**70, 2**71] * 6, dtype=object)).task_ == "classification"
