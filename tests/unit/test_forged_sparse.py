"""Sparse files whose positions lie outside of their matrix: scipy follows them, which ends the process or worse."""

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix, save_npz

from blanketflow.core.errors import DataError
from blanketflow.data.sources import read_source

N, WIDTH = 6, 4
#: What is wrong, and the array and the place of it, and the value that stands there.
FORGED = {
    "a column too far": ("indices", 2, WIDTH),
    "a column before the first": ("indices", 2, -1),
    "rows that go back": ("indptr", 2, 20),
    "rows that begin late": ("indptr", 0, 1),
    "more rows than cells": ("indptr", N, 10**6),
}


@pytest.mark.parametrize("wrong", FORGED)
def test_npz(wrong, tmp_path):
    array, place, value = FORGED[wrong]
    path = tmp_path / "m.npz"
    save_npz(path, csr_matrix(np.ones((N, WIDTH))))
    with np.load(path) as archive:
        arrays = {key: archive[key].copy() for key in archive}
    arrays[array][place] = value
    np.savez(path, y=np.array(["x", "y"] * (N // 2)), **arrays)
    with pytest.raises(DataError, match=rf"study: {path} is not a readable \.npz file"):
        read_source("study", {"path": str(path)}, 0)


@pytest.mark.parametrize("wrong", FORGED)
def test_h5ad(wrong, tmp_path):
    array, place, value = FORGED[wrong]
    path = tmp_path / "m.h5ad"
    rows, columns = (pd.Index([f"{kind}{i}" for i in range(n)], dtype=object) for kind, n in (("r", N), ("c", WIDTH)))
    obs = pd.DataFrame({"outcome": np.arange(N) % 2}, rows)
    anndata.AnnData(csr_matrix(np.ones((N, WIDTH))), obs=obs, var=pd.DataFrame(index=columns)).write_h5ad(path)
    with h5py.File(path, "a") as file:
        file["X"][array][place] = value
    with pytest.raises(DataError, match=rf"study: {path} is not a readable \.h5ad file"):
        read_source("study", {"path": str(path), "target": "outcome"}, 0)


@pytest.mark.parametrize("form", [np.array(3), np.array([1.5, 2]), np.array("xyz")])
def test_a_format_that_is_none(form, tmp_path):
    path = tmp_path / "m.npz"
    save_npz(path, csr_matrix(np.ones((N, WIDTH))))
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive}
    np.savez(path, y=np.array(["x", "y"] * (N // 2)), **arrays | {"format": form})
    with pytest.raises(DataError, match=rf"study: {path} is not a readable \.npz file"):
        read_source("study", {"path": str(path)}, 0)


#: Of the other forms: what is wrong, the form, and the arrays that replace its own.
FORGED_FORMS = {
    "a row too far": ("coo", {"row": np.full(N * WIDTH, N)}),
    "a row before the first": ("coo", {"row": np.full(N * WIDTH, -1)}),
    "a column too far": ("coo", {"col": np.full(N * WIDTH, WIDTH)}),
    "fewer rows than cells": ("coo", {"row": np.zeros(3, dtype=int)}),
    "a diagonal twice": ("dia", {"data": np.ones((2, WIDTH)), "offsets": np.zeros(2, dtype=int)}),
    "fewer offsets than diagonals": ("dia", {"offsets": np.zeros(1, dtype=int)}),
    "a block too far": ("bsr", {"indices": np.full(N * WIDTH, WIDTH)}),
    "blocks without cells": ("bsr", {"data": np.ones((3, 0, 2))}),
    "blocks that do not fit": ("bsr", {"data": np.ones((3, 4, 3))}),
    "a shape of fractions": ("coo", {"shape": np.array([6.5, 4.5])}),
    "a shape in columns": ("dia", {"shape": np.array([[N], [WIDTH]])}),
    "three dimensions": ("bsr", {"shape": np.array([N, WIDTH, 1])}),
    "many columns without cells": ("coo", {"shape": np.array([N, 10**9])}),
}


@pytest.mark.parametrize("wrong", FORGED_FORMS)
def test_npz_of_other_forms(wrong, tmp_path):
    form, arrays = FORGED_FORMS[wrong]
    path = tmp_path / "m.npz"
    save_npz(path, csr_matrix(np.ones((N, WIDTH))).asformat(form))
    with np.load(path) as archive:
        arrays = dict(archive) | arrays
    np.savez(path, y=np.array(["x", "y"] * (N // 2)), **arrays)
    with pytest.raises(DataError, match=f"study: .*{path}"):
        read_source("study", {"path": str(path)}, 0)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
def test_every_form_is_read_as_the_same_columns(form, tmp_path):
    dense = np.arange(N * WIDTH).reshape(N, WIDTH) % 3
    path = tmp_path / "m.npz"
    save_npz(path, csr_matrix(dense).asformat(form))
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, y=np.array(["x", "y"] * (N // 2)), **arrays)
    features = read_source("study", {"path": str(path)}, 0).features
    assert np.array_equal(features.matrix(), dense)
    assert np.array_equal(features.columns.values, dense.T[dense.T > 0])  # no zeros are stored
