"""Tables of polars and pyarrow, pandas' Arrow types and whole numbers as names give what the pandas frame gives."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.errors import DataError
from blanketflow.data.arrow_frames import as_frame
from blanketflow.data.in_memory import columns_in_memory

N = 200
RNG = np.random.default_rng(0)
CELLS = {
    "a": RNG.normal(size=N).tolist(),
    "i": RNG.integers(0, 5, N).tolist(),
    "c": RNG.choice(["x", "y", "z"], N).tolist(),
    "b": (RNG.random(N) < 0.4).tolist(),
}
NOISE = RNG.normal(size=N) * 0.2
Y = [("p" if a + (c == "x") + e > 0.3 else "q") for a, c, e in zip(CELLS["a"], CELLS["c"], NOISE, strict=True)]
PANDAS = pd.DataFrame(CELLS)
FRAMES = {
    "polars": pl.DataFrame(CELLS),
    "polars categories": pl.DataFrame(CELLS).with_columns(pl.col("c").cast(pl.Categorical)),
    "polars enum": pl.DataFrame(CELLS).with_columns(pl.col("c").cast(pl.Enum(["z", "y", "x"]))),
    "pyarrow": pa.table(CELLS),
    "pyarrow batch": pa.RecordBatch.from_pydict(CELLS),
    "pyarrow dictionary": pa.table({**CELLS, "c": pa.array(CELLS["c"]).dictionary_encode()}),
    "pandas categories": PANDAS.astype({"c": "category"}),
    "pandas of Arrow": PANDAS.convert_dtypes(dtype_backend="pyarrow"),
    "pandas nullable": PANDAS.convert_dtypes(dtype_backend="numpy_nullable"),
    "pandas text of Arrow": PANDAS.astype({"c": pd.StringDtype("pyarrow")}),
}
every_frame = pytest.mark.parametrize("X", FRAMES.values(), ids=FRAMES)


def same(table, other):
    assert table.names == other.names
    for one, two in zip(table.columns, other.columns, strict=True):
        assert (one.kind, one.levels) == (two.kind, two.levels)
        assert np.array_equal(one.numbers(), two.numbers(), equal_nan=True)


@every_frame
def test_every_frame_is_the_table_of_the_pandas_frame(X):
    same(as_table(as_frame(X)), as_table(PANDAS))


@pytest.mark.parametrize("of", ["polars", "pyarrow", "pandas"])
def test_missing_cells_keep_the_kind_of_their_column(of):
    gaps = {name: [None, *cells[1:]] for name, cells in CELLS.items()}
    made = {"polars": pl.DataFrame, "pyarrow": pa.table, "pandas": lambda held: pd.DataFrame(held).convert_dtypes()}
    table = as_table(as_frame(made[of](gaps)))
    assert [column.kind for column in table.columns] == ["numeric", "integer", "categorical", "boolean"]
    assert [column.n_missing() for column in table.columns] == [1, 1, 1, 1]


@every_frame
def test_fit_blankets_and_names_are_those_of_the_pandas_frame(X):
    expected = bf.IAMB(ci_test="lr-mixed").fit(PANDAS, Y)
    fitted = bf.IAMB(ci_test="lr-mixed").fit(X, Y)
    assert fitted.selected_features_ == expected.selected_features_ == ["a", "c"]
    assert fitted.trace_.equals(expected.trace_)
    assert fitted.feature_names_in_.tolist() == list(CELLS)
    assert fitted.get_feature_names_out().tolist() == ["a", "c"]
    assert (
        bf.blankets(X, "iamb", ci_test="lr-mixed").to_dict()
        == bf.blankets(PANDAS, "iamb", ci_test="lr-mixed").to_dict()
    )


@every_frame
def test_transform_keeps_cells_and_types(X):
    fitted = bf.IAMB(ci_test="lr-mixed").fit(X, Y)
    kept = fitted.transform(X)
    if isinstance(X, pd.DataFrame):
        assert isinstance(kept, np.ndarray) and kept[:, 1].tolist() == CELLS["c"]
    else:
        assert type(kept) is type(X) and kept.equals(X.select(["a", "c"]))
    of_polars = fitted.set_output(transform="polars").transform(X)
    assert isinstance(of_polars, pl.DataFrame) and of_polars.columns == ["a", "c"]
    assert of_polars["a"].dtype == pl.Float64 and of_polars["c"].cast(pl.String).to_list() == CELLS["c"]
    if isinstance(X, pl.DataFrame):
        assert of_polars.equals(X.select("a", "c"))
    of_pandas = fitted.set_output(transform="pandas").transform(X)
    assert isinstance(of_pandas, pd.DataFrame) and of_pandas["c"].astype(str).tolist() == CELLS["c"]
    of_array = bf.MIM(n_features=1).fit(PANDAS[["a", "i"]].to_numpy(), Y)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert of_array.transform(pl.DataFrame(CELLS).select("a", "i")).columns == ["a"]
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(pl.DataFrame(CELLS).rename({"a": "other"}))


@pytest.mark.parametrize(
    "y", [pl.Series("y", Y), pa.array(Y), pa.chunked_array([Y]), pd.Series(Y, dtype="string[pyarrow]")]
)
def test_targets_of_every_kind(y):
    assert bf.IAMB(ci_test="lr-mixed").fit(FRAMES["polars"], y).selected_features_ == ["a", "c"]
    columns, target, *_ = columns_in_memory("demo", FRAMES["polars"], y)
    assert columns[-1].levels == ("p", "q") and target == ("y" if isinstance(y, pl.Series) else "target")


@pytest.mark.extended
def test_select_predicts_on_polars():
    X = pl.DataFrame(CELLS)
    found = bf.select(X, Y, time_limit=None)
    assert set(found.features) >= {"a"}
    predicted = found.estimator.predict(X)
    assert np.mean(predicted == np.array(Y)) > 0.9


def test_whole_numbers_as_names_come_back_as_such():
    X = PANDAS.set_axis([10, 20, 30, 40], axis=1)
    fitted = bf.IAMB(ci_test="lr-mixed").fit(X, Y)
    named = bf.IAMB(ci_test="lr-mixed").fit(PANDAS, Y)
    back = dict(zip(PANDAS, X, strict=True))
    assert fitted.selected_features_ == [10, 30] and X[fitted.selected_features_].shape == (N, 2)
    assert fitted.importances_ == {back[name]: value for name, value in named.importances_.items()}
    assert fitted.trace_["feature"].tolist() == [back[name] for name in named.trace_["feature"]]
    assert fitted.get_support().tolist() == named.get_support().tolist()
    assert not hasattr(fitted, "feature_names_in_")  # as scikit-learn has it
    assert fitted.get_feature_names_out().tolist() == ["x0", "x2"]
    X, wanted = X.assign(**{"50": Y}).set_axis([10, 20, 30, 40, 50], axis=1), "hiton-mb"
    found = bf.blankets(X, wanted, ci_test="lr-mixed", targets=[50])
    letters = dict(zip("abcde", X, strict=True))
    lettered = bf.blankets(X.set_axis(list(letters), axis=1), wanted, ci_test="lr-mixed", targets=["e"])
    assert found[50] == [letters[name] for name in lettered["e"]]
    assert repr(found).splitlines()[1] == "  50: 10, 30" and "</span>30</span>" in found._repr_html_()
    assert set(found[50]) == {10, 30} and set(found.frame()["feature"]) == {10, 30} and found.statuses[50][0] == "ok"


def test_what_cannot_be_read_is_refused():
    day = datetime.date(2024, 5, 1)
    for X in (pl.DataFrame({"d": [day] * 3}), pa.table({"d": [day] * 3}), pd.DataFrame({"d": [day] * 3})):
        with pytest.raises(DataError, match=r"column 'd' holds dates or times. Make numbers of them, such as days"):
            bf.MIM().fit(X, [1, 2, 3])
    with pytest.raises(DataError, match=r"LazyFrame, which has no cells yet. Give its \.collect"):
        bf.MIM().fit(pl.LazyFrame(CELLS), Y)
