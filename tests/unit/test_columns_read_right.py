"""Columns that are easily misread: tiny and huge numbers, masked cells, numbers held as text."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import blanketflow as bf
from blanketflow.core.convert import as_table, counted_from_least
from blanketflow.core.errors import (
    DataError,
    NumbersAsTextWarning,
    RowOrderWarning,
    SimilarLabelsWarning,
    SuspectedCellsWarning,
)
from blanketflow.core.table import Column, Table
from blanketflow.data.provenance import Provenance
from blanketflow.data.sources import read_source
from blanketflow.data.storage import read_table, write_table

N = 200
RNG = np.random.default_rng(0)
OFFSETS = RNG.integers(0, 40, N)
NOISE = RNG.normal(size=N)
Y = OFFSETS + 3 * RNG.normal(size=N)
TESTS = ["fisher-z", "lr-mixed", "g2", "hsic", "mi-permutation", "ppi"]


def objects(base):
    return np.array([base + int(v) for v in OFFSETS], dtype=object)


#: The same numbers from 0 on, and from where floats are 256, 131,072 and 2^147 apart.
BEYOND = {
    "int64": objects(2**60).astype(np.int64),
    "negative int64": objects(-(2**63)).astype(np.int64),
    "uint64": objects(2**64 - 50).astype(np.uint64),
    "objects": objects(2**60),
    "objects beyond 64 bits": objects(2**70),
    "objects beyond floats": objects(-(10**400)),  # whose differences are small
}


@pytest.mark.parametrize("values", BEYOND.values(), ids=BEYOND)
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
def test_whole_numbers_that_floats_would_round_say_what_small_ones_say(values, test):
    for beside in ({"c": NOISE}, {"c": (NOISE > 0).astype(np.int64)}):  # single columns, or one matrix where it can be
        small, large = (pd.DataFrame({"a": a, **beside}) for a in (OFFSETS, values))
        bound = [bf.get_ci_test(test).bind(X.assign(y=Y)).test("a", "y") for X in (small, large)]
        assert bound[0] == bound[1] and bound[0].p_value < 0.01
        found = [bf.IAMB(ci_test=test).fit(X, Y).trace_.to_dict("list") for X in (small, large)]
        assert str(found[0]) == str(found[1])


@pytest.mark.parametrize(
    "method", ["mrmr", "relief", "permutation-importance", "stability-selection", "dcrt", "stepwise"]
)
def test_so_do_they_to_methods_that_read_rows(method):
    options = {"n_features": 1} if method in ("mrmr", "relief", "stability-selection") else {}
    options |= {"ci_test": "fisher-z"} if method == "mrmr" else {}
    options |= {"model": "tree"} if method in ("permutation-importance", "stepwise") else {}
    found = [
        bf.get_selector(method, **options).fit(pd.DataFrame({"a": a, "c": NOISE}), Y).importances_
        for a in (OFFSETS, BEYOND["int64"], BEYOND["objects beyond 64 bits"])
    ]
    assert found[0] == found[1] == found[2] and "a" in found[0]


def test_such_targets_and_gaps():
    X = pd.DataFrame({"a": OFFSETS + 0.1 * NOISE, "c": NOISE})
    for y in (BEYOND["int64"], BEYOND["objects beyond 64 bits"]):
        assert bf.IAMB(ci_test="fisher-z").fit(X, y).n_tests_ == bf.IAMB(ci_test="fisher-z").fit(X, OFFSETS).n_tests_
        trace = [bf.IAMB(ci_test="fisher-z").fit(X, one).trace_ for one in (y, OFFSETS)]
        pd.testing.assert_frame_equal(*trace)
    gaps = objects(2**60)
    gaps[::7] = None
    small = np.where(np.arange(N) % 7 == 0, np.nan, OFFSETS - OFFSETS[np.arange(N) % 7 != 0].min())
    for cells in (gaps, pd.array(gaps, dtype="Int64"), np.ma.masked_array(BEYOND["int64"], mask=np.isnan(small))):
        X = cells.reshape(-1, 1) if isinstance(cells, np.ma.MaskedArray) else pd.DataFrame({"a": cells})
        assert np.array_equal(as_table(X).columns[0].values, small, equal_nan=True)


def test_a_table_without_such_numbers_is_left_as_it_is():
    usual = as_table(pd.DataFrame({"a": [2**53, -(2**53)], "b": [0.5, 1e300], "c": ["x", "y"]}))
    assert counted_from_least(usual) is usual
    matrix = as_table(np.array([[2**53, 1], [5, 2]]))
    assert counted_from_least(matrix) is matrix
    wide = as_table(np.array([[2**62 + 1, -5], [2**62, -(2**62)]]))
    found = counted_from_least(wide.with_column(Column("y", "integer", np.array([2**61 + 7, 2**61]))))
    assert [column.values.tolist() for column in found.columns] == [[1, 0], [2**62 - 5, 0], [7, 0]]


def test_the_workflow_stores_them_counted_from_the_least(tmp_path):
    pd.DataFrame({"a": BEYOND["int64"], "c": NOISE, "y": Y}).to_csv(tmp_path / "t.csv", index=False)
    raw = read_source("t", {"path": str(tmp_path / "t.csv"), "target": "y"}, 0)
    write_table(tmp_path / "t.parquet", raw, Provenance(extra={"content_hash": "of t"}))
    stored = read_table(tmp_path / "t.parquet").features["a"]
    assert stored.kind == "integer"
    assert np.array_equal(stored.values, OFFSETS - OFFSETS.min())


@pytest.mark.parametrize("test", TESTS)
def test_denormal_numbers_say_what_their_multiples_say(test):
    rng = np.random.default_rng(1)
    cells = rng.integers(-400, 400, (N, 2)) * 1.0
    y = np.round(cells[:, 0] + 80 * rng.normal(size=N))
    # The smallest floats are multiples of 2^-1074: a product with it is exact, and leaves no bit for rounding.
    found = [bf.get_ci_test(test).bind(np.column_stack([X, y])) for X in (cells, cells * 2.0**-1074)]
    # The mean of a leaf is rounded to such a multiple, too, which the target is a few hundred of.
    within = {"abs": 0.01} if test == "ppi" else {"rel": 1e-9}
    for x, given in ((0, []), (1, [0])):
        assert found[0].test(x, 2, given)[:2] == pytest.approx(found[1].test(x, 2, given)[:2], **within)
    assert found[1].test(0, 2).p_value < 0.01


# Masked cells.


def masked(dtype=float, share=0.1):
    rng = np.random.default_rng(2)
    cells = np.column_stack([OFFSETS, rng.integers(0, 3, N), NOISE > 0]).astype(dtype)
    mask = rng.random(cells.shape) < share
    wild = np.where(mask, np.array(1).astype(dtype), cells)  # what lies under the mask
    return np.ma.masked_array(wild, mask=mask)


@pytest.mark.parametrize("dtype", [float, np.float32, np.int64, np.uint8, bool])
@pytest.mark.parametrize("missing", ["drop", "impute", "pairwise"])
@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
def test_masked_cells_are_missing(dtype, missing):
    X = masked(dtype)
    named = ["x0", "x1", "x2"]
    gaps = pd.DataFrame(X.data, columns=named).astype(
        {n: {"b": "boolean", "i": "Int64", "u": "UInt8"}.get(X.dtype.kind, X.dtype) for n in named}
    )
    gaps = gaps.mask(pd.DataFrame(X.mask, columns=named))
    test = "g2" if X.dtype.kind in "biu" else "fisher-z"
    found, wanted = (bf.IAMB(ci_test=test, missing=missing).fit(one, Y) for one in (X, gaps))
    pd.testing.assert_frame_equal(found.trace_, wanted.trace_)
    assert found.selected_features_


def test_what_is_masked_is_refused_where_cells_may_not_be_missing():
    X, rows = masked(), np.arange(N) % 9 == 0
    with pytest.raises(DataError, match="NaN or infinity in column 'x0'"):
        bf.IAMB().fit(X, Y)
    with pytest.raises(DataError, match="missing cells"):
        bf.get_ci_test("fisher-z").bind(X)
    with pytest.raises(DataError, match="NaN or infinity"):
        bf.blankets(X, "iamb")
    with pytest.raises(ValueError, match="Input y contains NaN"):
        bf.IAMB().fit(X.data, np.ma.masked_array(Y, mask=rows))
    with pytest.raises(DataError, match="groups are missing in 23 rows"):
        bf.IAMB().fit(X.data, Y, groups=np.ma.masked_array(np.arange(N) // 2, mask=rows))
    with pytest.raises(DataError, match="row 1 has nan"):
        bf.IAMB().fit(X.data, Y, sample_weight=np.ma.masked_array(np.ones(N), mask=rows))
    nothing = np.ma.masked_array(X.data, mask=False)
    assert bf.IAMB().fit(nothing, Y).selected_features_ == bf.IAMB().fit(X.data, Y).selected_features_


def test_masked_cells_are_missing_in_what_is_transformed_and_compared():
    X = masked()
    kept = bf.IAMB(ci_test="fisher-z", missing="impute").fit(X, Y)
    assert np.array_equal(np.isnan(kept.transform(X)), X.mask[:, kept.get_support()])
    found, wanted = (
        bf.compare(one, Y, ["iamb"], models=["tree"], evaluation=2, folds=0).scores["mean"]
        for one in (X, pd.DataFrame(X.filled(np.nan)).add_prefix("x"))
    )
    assert found.tolist() == wanted.tolist()


# Numbers held as text.

TEXT = pd.DataFrame({"a": Y.round(3).astype(str), "b": np.array(list("uvw"))[OFFSETS % 3]})
WAYS_IN = {
    "fit": lambda X: bf.IAMB().fit(X, NOISE),
    "bind": lambda X: bf.get_ci_test("lr-mixed").bind(X),
    "blankets": lambda X: bf.blankets(X, "iamb"),
    "select": lambda X: bf.select(X, NOISE, time_limit=20),
}


@pytest.mark.parametrize("enter", WAYS_IN.values(), ids=WAYS_IN)
def test_numbers_held_as_text_are_named(enter):
    with pytest.warns(
        NumbersAsTextWarning, match="column 'a' holds numbers as text, such as '.*', and is read as labels"
    ) as told:
        enter(TEXT)
    assert sum(issubclass(one.category, NumbersAsTextWarning) for one in told) == 1
    where = {one.filename for one in told if one.category is NumbersAsTextWarning}
    assert where == {__file__} or enter is WAYS_IN["select"]  # which calls fit


@pytest.mark.parametrize("enter", WAYS_IN.values(), ids=WAYS_IN)
@pytest.mark.filterwarnings("error::blanketflow.core.errors.NumbersAsTextWarning")
@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
def test_nothing_is_said_of_numbers_labels_and_what_is_declared(enter):
    enter(TEXT.astype({"a": "category"}))
    enter(TEXT.assign(a=pd.to_numeric(TEXT["a"])))
    enter(Table([*as_table(TEXT).columns]))


# Cells that may be missing, and cells below detection.

ENTER = WAYS_IN | {"compare": lambda X: bf.compare(X, NOISE, ["mrmr"], models=["tree"], evaluation=2, folds=2)}
ENTER.pop("bind")
SENSOR = pd.DataFrame({"co": np.where(np.arange(N) % 9 == 0, -200.0, np.abs(Y).round(3) + 1), "b": NOISE[::-1]})


@pytest.mark.parametrize("enter", ENTER.values(), ids=ENTER)
def test_cells_that_may_be_missing_are_told_once(enter):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        enter(SENSOR)
    (one,) = [one for one in told if issubclass(one.category, SuspectedCellsWarning)]
    assert re.search(
        r": cells may be missing: '-200' in co\. If they are, put numpy\.nan in their place", str(one.message)
    )
    assert one.filename == __file__ or enter is ENTER["select"]  # which calls fit
    with warnings.catch_warnings():
        warnings.simplefilter("error", SuspectedCellsWarning)
        enter(SENSOR.assign(co=SENSOR["co"].replace(-200.0, 1.5)))


@pytest.mark.parametrize("enter", ENTER.values(), ids=ENTER)
def test_cells_below_detection_are_told_once(enter):
    lead = SENSOR["co"].replace(-200.0, 1.5)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        enter(SENSOR.assign(co=lead.astype(str).where(np.arange(N) % 9 > 0, "<0.6")))
    kinds = (SuspectedCellsWarning, NumbersAsTextWarning)
    (one,) = [one for one in told if issubclass(one.category, kinds)]
    said = "column 'co' holds numbers, and '<0.6', below what was measured, and is read as labels. Put numbers in their"
    assert said in str(one.message) and one.category is SuspectedCellsWarning


def test_the_folds_of_a_cross_validation_warn_once_as_python_shows_warnings():
    y = np.median(NOISE) < NOISE
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        pipeline = make_pipeline(bf.IAMB(include=["b"]), DecisionTreeClassifier(random_state=0))
        cross_val_score(pipeline, SENSOR, y, cv=4, error_score="raise")
    assert len([one for one in told if issubclass(one.category, SuspectedCellsWarning)]) == 1


def test_a_target_with_codes_of_missing_cells_is_told():
    y = np.where(np.arange(N) % 9 == 0, -999.0, np.abs(Y) + 1)
    with pytest.warns(SuspectedCellsWarning, match="cells may be missing: '-999' in target"):
        bf.IAMB().fit(SENSOR[["b"]], y)


@pytest.mark.parametrize("way", ["fit", "select"])
def test_labels_that_look_alike_are_named(way):
    y = ["caf\u00e9", "cafe\u0301", "tea", "tea"] * (N // 4)
    X = pd.DataFrame({"a": NOISE, "b": NOISE[::-1]})
    with pytest.warns(SimilarLabelsWarning, match="column 'target' holds the labels .* look alike, as two"):
        bf.IAMB().fit(X, y) if way == "fit" else bf.select(X, y, time_limit=20)
    labels = pd.Series(y).str.normalize("NFC")
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarLabelsWarning)
        bf.IAMB().fit(X, labels) if way == "fit" else bf.select(X, labels, time_limit=20)


# Indexes of features and target in different orders.

ORDERED = {
    "fit": lambda X, y: bf.IAMB().fit(X, y),
    "run": lambda X, y: bf.IAMB().search().run(X, y),
    "select": lambda X, y: bf.select(X, y, time_limit=20),
    "compare": lambda X, y: bf.compare(X, y, ["mrmr"], models=["tree"], evaluation=0, folds=0),
}


@pytest.mark.parametrize("enter", ORDERED.values(), ids=ORDERED)
def test_row_labels_in_another_order_are_told(enter):
    X = TEXT.assign(a=pd.to_numeric(TEXT["a"]))
    y = pd.Series(NOISE, X.index, name="y")
    with pytest.warns(RowOrderWarning, match=r"the indexes of X and y .* different orders, .* give y.loc\[X.index\]"):
        enter(X, y.iloc[::-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowOrderWarning)
        enter(X, y)
        enter(X, y.iloc[::-1].loc[X.index])
        enter(X, y.set_axis(y.index + len(y)))  # other labels: nothing says that rows were meant by label
        enter(X, y.to_numpy()[::-1])


@pytest.mark.parametrize("what", ["groups", "sample_weight"])
def test_groups_and_weights_in_another_order_are_told(what):
    X = pd.DataFrame({"a": NOISE, "b": NOISE[::-1]})
    values = pd.Series(np.arange(len(X)) // 2 + 1, X.index).iloc[::-1]
    with pytest.warns(RowOrderWarning, match=f"the indexes of X and {what} hold"):
        bf.IAMB(ci_test="fisher-z").fit(X, NOISE, **{what: values})
