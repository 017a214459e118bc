"""MATLAB files: whatever scipy writes is read as scipy reads it."""

import io
import zlib
from contextlib import suppress

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from blanketflow.data.formats.loaded import TableFile
from blanketflow.data.formats.matlab import read_mat5, read_matlab

DTYPES = ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", "c16"]
NUMBERS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=4))
)
TEXT = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["C"]), min_size=1, max_size=8)
TEXTS = st.lists(TEXT, min_size=1, max_size=4)
VALUES = st.one_of(
    NUMBERS,
    NUMBERS.filter(lambda X: X.ndim == 2 and X.dtype == np.float64).map(np.nan_to_num).map(scipy.sparse.csc_matrix),
    TEXT,
    TEXTS.map(lambda texts: np.array(texts, dtype=object)),
)
NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,30}", fullmatch=True)


def equal(found, known):
    if hasattr(known, "tocsc"):
        return found.shape == known.shape and (found != known).nnz == 0
    if known.dtype == object:
        return found.shape == known.shape and all(map(equal, found.flat, known.flat))
    if found.shape != known.shape or found.dtype.kind != known.dtype.kind:
        return False
    return np.array_equal(found, known, equal_nan=known.dtype.kind in "fc")


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), st.booleans())
@settings(deadline=None, max_examples=40)
def test_equal_to_scipys_reader(variables, packed):
    written = io.BytesIO()
    scipy.io.savemat(written, variables, do_compression=packed)
    known = scipy.io.loadmat(io.BytesIO(written.getvalue()))
    found = read_mat5(written.getvalue())
    assert set(found) == set(variables)
    assert all(equal(found[name], known[name]) for name in variables)


def test_structures_are_left_out():
    written = io.BytesIO()
    scipy.io.savemat(written, {"X": np.eye(2), "about": {"year": 2003}, "nested": np.array([{"a": 1}], dtype=object)})
    assert set(read_mat5(written.getvalue())) == {"X"}


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_a_damaged_file_is_an_array_or_a_value_error(data):
    """scipy's reader ends the process of some of these."""
    written = io.BytesIO()
    scipy.io.savemat(written, {"X": np.eye(3), "s": scipy.sparse.csc_matrix(np.eye(2)), "t": "text"})
    content = bytearray(written.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(126, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ValueError, zlib.error):
        read_mat5(bytes(content))
    with pytest.raises(ValueError, match="cut off"):
        read_mat5(written.getvalue()[: -data.draw(st.integers(1, 40))])


def test_a_row_of_sparse_targets_counts_the_cells_that_are_not_stored(tmp_path):
    y = scipy.sparse.csc_matrix(np.array([[1.0, 0.0, 0.0, 2.0]]))
    scipy.io.savemat(tmp_path / "t.mat", {"A": np.arange(12.0).reshape(4, 3), "Y": y})
    loaded = read_matlab(TableFile("t", tmp_path / "t.mat"))
    assert loaded.target == "Y" and loaded.columns[-1].numbers().tolist() == [1, 0, 0, 2]
