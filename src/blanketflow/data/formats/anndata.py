"""AnnData's .h5ad files: a matrix of cells by genes, dense or sparse, and a table of facts about the cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...core.convert import as_table
from ...core.errors import ConfigError, DataError, did_you_mean
from ...core.table import Column
from ..arrays import checked_csc
from ..column_roles import columns_of_rows
from ..input_file import Unpacking
from .loaded import Loaded, TableFile, matrix_columns


def read_h5ad(file: TableFile) -> Loaded:
    """Return the features of ``X``, named by ``var_names``, and the columns of ``obs`` that the spec names.

    Raises `ConfigError` if the spec names no target; `DataError` if a feature and a column have the same name.
    """
    import anndata

    name, path, spec = file.name, file.path, file.spec
    _check_held(name, path)
    found = anndata.read_h5ad(path)
    X = checked_csc(found.X) if hasattr(found.X, "tocsc") else found.X
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
