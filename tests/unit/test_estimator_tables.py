"""Selectors on sparse matrices and on tables of ours: what they say of columns is said as scikit-learn does."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.errors import DataError
from blanketflow.core.table import Table, column_from_array

NAMES = [f"gene {j}" for j in range(40)]


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.integers(1, 5, (120, 40)) * (rng.random((120, 40)) < 0.2)).astype(np.int16)
    return X, ((X[:, 3] > 0) | (X[:, 30] > 1)).astype(int)


@pytest.mark.parametrize("name", ["mim", "cmim", "ppfs", "hiton-mb", "relief"])
def test_a_table_is_fitted_as_the_frame_of_its_columns(name):
    X, y = data()
    options = {"n_repeats": 5} if name == "ppfs" else {}
    of_frame = bf.get_selector(name, **options).fit(pd.DataFrame(X, columns=NAMES), y)
    named_sparse = as_table(sparse.csc_matrix(X), NAMES)
    for table in (named_sparse, Table([column_from_array(NAMES[j], X[:, j]) for j in range(40)])):
        fitted = bf.get_selector(name, **options).fit(table, y)
        assert fitted.selected_features_ == of_frame.selected_features_
        assert fitted.trace_.equals(of_frame.trace_)
        assert fitted.n_features_in_ == 40
        assert fitted.feature_names_in_.tolist() == NAMES
        assert fitted.get_feature_names_out().tolist() == of_frame.get_feature_names_out().tolist()
        frame = pd.DataFrame(X, columns=NAMES)
        assert np.array_equal(fitted.transform(frame), of_frame.transform(frame))


def test_a_sparse_matrix_is_transformed_to_a_sparse_one():
    X, y = data()
    for form in (sparse.csc_matrix, sparse.csr_matrix, sparse.csc_array):
        fitted = bf.MIM(n_features=3).fit(form(X), y)
        found = fitted.transform(form(X))
        assert sparse.issparse(found) and found.dtype == X.dtype
        assert np.array_equal(found.toarray(), X[:, fitted.get_support()])
        assert fitted.get_feature_names_out().tolist() == [f"x{j}" for j in np.flatnonzero(fitted.get_support())]


def test_what_no_fit_can_take_is_refused():
    X, y = data()
    table = as_table(sparse.csc_matrix(X), NAMES)
    for rows, says in ((y[:7], "120 rows and 40 columns, y has 7 rows"), (np.append(y, 0), "y has 121 rows")):
        with pytest.raises(DataError, match=says):
            bf.MIM().fit(table, rows)
    with pytest.raises(DataError, match="and 0 columns"):
        bf.MIM().fit(Table([]), y)
    gaps = X.astype(float)
    gaps[4, 9] = np.nan
    with pytest.raises(DataError, match="'gene 9'"):
        bf.MIM().fit(as_table(sparse.csc_matrix(gaps), NAMES), y)


@pytest.mark.parametrize("name", ["mim", "mrmr", "cmim"])
@pytest.mark.parametrize("dtype", [np.int8, float])
def test_a_wide_sparse_matrix_is_never_made_dense(name, dtype):
    rng, n, d = np.random.default_rng(0), 2000, 30_000
    X = sparse.random(n, d, 0.0025, "csc", random_state=rng, data_rvs=lambda k: rng.integers(1, 12, k)).astype(dtype)
    y = np.asarray(X[:, :300].sum(axis=1)).ravel() > 8
    bf.get_selector(name, n_features=3).fit(X[:, :300], y)  # imports and compiled kernels
    tracemalloc.start()
    bf.get_selector(name, n_features=3).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * d  # bytes: that of a dense matrix of bytes
