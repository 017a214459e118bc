"""Wrong tables in memory: `fit` and `compare` refuse each with a message of ours or scikit-learn's; none is used.

scikit-learn checks shapes and lengths, and its words are kept: people know them from every estimator.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import blanketflow as bf
from blanketflow.core.errors import DataError

N = 24
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 3))
Y = np.array(["no", "yes"] * (N // 2))
WITH_NAN = np.where(np.arange(3 * N).reshape(N, 3) == 7, np.nan, X)
WITH_INF = np.where(np.arange(3 * N).reshape(N, 3) == 7, np.inf, X)
TWINS = pd.DataFrame(X[:, :2], columns=["a", "a"])
MIXED = pd.DataFrame({"a": X[:, 0], "b": [{"x": 1}, *["p", "q"] * ((N - 1) // 2), "p"]})


def filter_selector():
    return bf.get_selector("mrmr", n_features=1)


@pytest.mark.parametrize(
    ("features", "target", "said"),
    [
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, r"0 feature\(s\)"),
        (X[:1], Y[:1], "minimum of 2 is required"),
        (X[:, 0], Y, "1D array instead"),
        (X[None], Y, "dim 3"),
        (3.0, Y, "scalar array instead"),
        (X, Y[:5], "inconsistent numbers of samples"),
        (X, None, "y"),
        (X, np.column_stack([Y, Y]), "takes one target"),
        (X, np.where(np.arange(N) == 3, np.nan, np.arange(N) / 7), "y contains NaN"),
        (X, np.where(np.arange(N) == 3, np.inf, np.arange(N) / 7), "infinity"),
        (X, np.array([None, *Y[1:]], dtype=object), "y contains NaN or None in 1 rows"),
        (X, np.array(["same"] * N), "one class"),
        (X, np.arange(N) * 1j, "[Cc]omplex"),
        (X * 1j, Y, "Complex data not supported"),
        (WITH_NAN, Y, r"NaN or infinity in column 'x1'"),
        (WITH_INF, Y, r"NaN or infinity in column 'x1'"),
        (pd.DataFrame(WITH_NAN, columns=list("abc")), Y, "NaN or infinity in column 'b'"),
        (csr_matrix(WITH_NAN), Y, "NaN or infinity in column 'x1'"),
        (pd.DataFrame({"a": X[:, 0], "b": [None, *Y[1:]]}), Y, "NaN or infinity in column 'b'"),
        (pd.DataFrame({"a": pd.array([None, *range(1, N)], dtype="Int64")}), Y, "NaN or infinity in column 'a'"),
        (pd.DataFrame({"a": pd.Categorical([None, *Y[1:]])}), Y, "NaN or infinity in column 'a'"),
        (TWINS, Y, "column names must differ"),
        (pd.DataFrame({"a": pd.date_range("2024-01-01", periods=N)}), Y, "column 'a' holds dates"),
        (pd.DataFrame({"a": pd.to_timedelta(np.arange(N), unit="h")}), Y, "column 'a' holds dates or times"),
        (np.arange(N).astype("datetime64[D]").reshape(-1, 1), Y, "holds dates or times"),
        (MIXED, Y, "column 'b' holds 'dict'"),
        (pd.DataFrame({"a": [[1, 2]] * N}), Y, "column 'a' holds 'list'"),
    ],
)
def test_fit_refuses(features, target, said):
    with pytest.raises((ValueError, TypeError), match=said):
        filter_selector().fit(features, target)


@pytest.mark.parametrize(
    ("features", "target", "said"),
    [
        (X, Y[:5], "X has 24 rows, but the target has 5"),
        (X, None, "there is no target"),
        (X[:, 0], Y, "1 dimension"),
        (X[:0], Y[:0], "no rows"),
        (X[:, :0], Y, "X has no columns"),
        (WITH_INF, Y, "column 'x1' holds infinite values"),
        (X * 1j, Y, "Complex data not supported"),
        (TWINS, Y, "more than once"),
        (pd.DataFrame({"a": X[:, 0]}), "b", "no column 'b'"),
        (pd.DataFrame({"a": X[:, 0], "b": pd.date_range("2024-01-01", periods=N)}), Y, "column 'b' holds dates"),
        (pd.DataFrame({"a": X[:, 0]}), pd.Series(Y, name="a"), "X has a column 'a'"),
        (X, np.array([f"p{i}" for i in range(N)]), "24 classes in 24 rows"),
        (pd.DataFrame({"a": [[1, 2]] * N}), Y, "column 'a' holds 'list'"),
    ],
)
def test_compare_refuses(features, target, said):
    with pytest.raises(DataError, match=said):
        bf.compare(features, target, [filter_selector()], evaluation=0, folds=0)


def test_a_frame_of_objects_is_read_by_its_values():
    frame = pd.DataFrame({"noise": X[:, 0], "copy": Y.astype(object)}).astype(object)
    assert filter_selector().fit(frame, Y).selected_features_ == ["copy"]


def test_what_is_given_is_left_as_it_was():
    frame, before = pd.DataFrame(X, columns=list("abc")), X.copy()
    filter_selector().fit(frame, Y)
    filter_selector().fit(X, Y)
    assert np.array_equal(X, before) and np.array_equal(frame.to_numpy(), before)
