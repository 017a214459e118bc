"""BIOM tables of counts, versions 1.0 (JSON) and 2.1 (HDF5), read by biom-format: samples become rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ...core.errors import DataError
from ...core.table import categorical
from ..columns_of_text import column_of_cells
from ..input_file import Unpacking
from .anndata import check_held
from .gct import SAMPLE
from .loaded import Loaded, TableFile, matrix_columns


def read_biom(file: TableFile) -> Loaded:
    """Return a row for each sample: its counts of the observations, and what the file says of the sample.

    The latter are its name, ``sample``, and its metadata; they are no features. Metadata of observations, such as their
    taxonomy, are left out. Raises `DataError` if the file unpacks to too much, and what biom raises.
    """
    from biom import Table

    name, path = file.name, file.path
    with open(path, "rb") as stored:
        is_hdf5 = stored.read(4) == b"\x89HDF"
    if is_hdf5:
        import h5py

        check_held(name, path)
        with h5py.File(path, "r") as held:
            _check_shape(file, held.attrs["shape"])
            table = Table.from_hdf5(held)
    else:
        with open(path, encoding="utf-8-sig") as text:
            stated = json.load(text)
        _check_shape(file, stated["shape"])
        table = Table.from_json(stated)
    if not all(table.shape):
        raise DataError(f"{name}: {path} has no rows or no columns.")
    more = [categorical(SAMPLE, np.array([str(sample) for sample in table.ids("sample")], dtype=object))]
    about = table.metadata(axis="sample") or ()
    keys = dict.fromkeys(str(key) for of in about for key in of or ())
    for key in keys:
        texts = [_text((of or {}).get(key)) for of in about]
        more.append(column_of_cells(name, key, texts, file.markers))
    features = [str(feature) for feature in table.ids("observation")]
    file.dialect.say("features in rows, which were turned")
    return Loaded(matrix_columns(table.matrix_data.T, features, more), None, frozenset(column.name for column in more))


def _check_shape(file: TableFile, shape: Any) -> None:
    """Raise `DataError` if the numbers of rows and columns, which a file can only state, are too large."""
    Unpacking(file.name, file.path).add(8 * sum(int(n) for n in shape))


def _text(value: Any) -> str:
    return "" if value is None else json.dumps(value) if isinstance(value, list | dict) else str(value)
