"""AnnData's .h5ad files: a matrix of cells by genes, dense or sparse, and a table of facts about the cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...core.convert import as_table
from ...core.errors import ConfigError, DataError, MemberNeeded, did_you_mean, shown
from ...core.printable import listed
from ...core.table import Column
from ..arrays import checked_csc
from ..column_roles import named_columns
from ..input_file import Unpacking
from .loaded import Loaded, TableFile, matrix_columns


def read_h5ad(file: TableFile) -> Loaded:
    """Return the features of ``X`` or of a layer, named by ``var_names``, and the columns of ``obs`` the spec names.

    Raises `ConfigError` if the spec names no target, or no layer that is there; `DataError` if a feature and a column
    have the same name.
    """
    import anndata

    name, path, spec = file.name, file.path, file.spec
    check_held(name, path)
    found = anndata.read_h5ad(path)
    X = _matrix(file, found)
    known = [str(column) for column in found.obs.columns]
    if not spec.get("target"):
        raise ConfigError(f"{name}: set target to a column of obs in {path}. {did_you_mean('', known)}")
    genes = [str(gene) for gene in found.var_names]
    both = set(genes) & set(known)
    if both:
        raise DataError(f"{name}: {sorted(both)[0]!r} is both a feature and a column of obs in {path}. Rename one.")
    more: tuple[Column, ...] = ()
    if known:
        named = named_columns(spec)
        asked = [column for column in known if column in named]
        more = tuple(as_table(found.obs[[column]]).columns[0] for column in asked)
    if spec["target"] not in known and spec["target"] not in genes:
        hint = did_you_mean(spec["target"], known)
        raise DataError(f"{name}: target names {spec['target']!r}, which is not a column of obs in {path}. {hint}")
    X = X if hasattr(X, "tocsc") else np.asarray(X)
    X = X.astype(np.float64) if X.dtype == np.float16 else X
    return Loaded(matrix_columns(X, genes, more))


def _matrix(file: TableFile, found: Any) -> Any:
    """Return ``X``, or the layer that `member` names; several layers beside it are said."""
    name, path, member = file.name, file.path, file.spec.get("member")
    layers = [str(layer) for layer in found.layers]
    if member not in (None, "X", *layers):
        raise ConfigError(f"{name}: {path} has no layer {shown(member)}. {did_you_mean(member, ['X', *layers])}")
    if member in (None, "X") and found.X is None:
        if not layers:
            raise DataError(f"{name}: {path} has no matrix X. Save one.")
        way_out = f"Name a layer by the key member, such as member: {layers[0]}."
        raise MemberNeeded(f"{name}: {path} has no matrix X. {way_out}")
    if member is None and layers:
        file.dialect.say(f"the matrix X, and none of its layers ({listed(layers)})", "member")
    matrix = found.X if member in (None, "X") else found.layers[member]
    return checked_csc(matrix) if hasattr(matrix, "tocsc") else matrix


def check_held(name: str, path: Path) -> None:
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
