"""AnnData's .h5ad files: a matrix of cells by genes, dense or sparse, and a table of facts about the cells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...core.convert import as_table
from ...core.errors import ConfigError, DataError, did_you_mean
from ...core.table import Column
from ..arrays import checked_csc
from ..column_roles import columns_of_rows
from ..input_file import Unpacking
from .loaded import Loaded, matrix_columns


def read_h5ad(name: str, path: Path, spec: Mapping[str, Any]) -> Loaded:
    """Return the features of ``X``, named by ``var_names``, and then the columns of ``obs`` that the spec names.

    Raises `ConfigError` if the spec names no target or anndata is not installed; `DataError` if the file cannot be read
    or a name is both a feature's and a column's.
    """
    try:
        import anndata
    except ImportError as error:
        raise ConfigError(
            f'{name}: {path} is read by anndata, which is not installed. pip install "blanketflow[h5ad]"'
        ) from error
    try:
        _check_held(name, path)
        found = anndata.read_h5ad(path)
        X = checked_csc(found.X) if hasattr(found.X, "tocsc") else found.X
    except DataError:
        raise
    except Exception as error:  # whatever the HDF5 library and the versions of the format raise
        raise DataError(f"{name}: {path} is not a readable .h5ad file ({_first_line(error)}).") from error
    known = [str(column) for column in found.obs.columns]
    if not spec.get("target"):
        raise ConfigError(f"{name}: set target to a column of obs in {path}. {did_you_mean('', known)}")
    if X is None:
        raise DataError(f"{name}: {path} has no matrix X. Save a layer as X.")
    genes = [str(gene) for gene in found.var_names]
    both = set(genes) & set(known)
    if both:
        raise DataError(f"{name}: {sorted(both)[0]!r} is both a feature and a column of obs in {path}. Rename one.")
    more: tuple[Column, ...] = ()
    if known:
        named = {
            spec.get("target"),
            *columns_of_rows(spec),
            *(spec.get("drop") or ()),
            *(spec.get("categorical") or ()),
        }
        asked = [column for column in known if column in named]
        more = tuple(as_table(found.obs[[column]]).columns[0] for column in asked)
    if spec["target"] not in known and spec["target"] not in genes:
        hint = did_you_mean(spec["target"], known)
        raise DataError(f"{name}: target names {spec['target']!r}, which is not a column of obs in {path}. {hint}")
    X = X if hasattr(X, "tocsc") else np.asarray(X)
    X = X.astype(np.float64) if X.dtype == np.float16 else X
    return Loaded(matrix_columns(X, genes, more))


def _check_held(name: str, path: Path) -> None:
    """Raise `DataError` if the arrays of an HDF5 file are too large in full, or lie in other files."""
    import h5py

    unpacking = Unpacking(name, path)

    def look(at: str, held: h5py.Group | h5py.Dataset) -> None:
        is_array = isinstance(held, h5py.Dataset)
        if is_array:
            unpacking.add(held.size * held.dtype.itemsize if held.shape is not None else 0)
        links = () if is_array else [held.get(key, getlink=True) for key in held]
        if (is_array and (held.external or held.is_virtual)) or any(isinstance(x, h5py.ExternalLink) for x in links):
            raise DataError(f"{name}: {at!r} of {path} lies in another file, which is not read. Save all in one file.")

    with h5py.File(path, "r") as file:
        look("/", file)
        file.visititems(look)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
