"""MATLAB's .mat files of version 4 to 7: a matrix, dense or sparse, and the variable to predict."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError, did_you_mean
from ...core.table import Column, categorical, column_from_array
from ..unpacked import Unpacking
from .loaded import Loaded, as_whole, matrix_columns, number_column
from .mat5 import read_mat5

#: Where the features' names are looked for.
NAMES = "feature_names"
_HDF = 7


def read_matlab(name: str, path: Path, spec: Mapping[str, Any]) -> Loaded:
    """Return the columns of a .mat file.

    The target is the variable that the spec's `target` names, else ``Y`` or ``y``; else a column of the matrix. The
    matrix is ``X``, or the only one with a row for each target. Columns are ``x0``, ``x1``, ... unless a variable
    ``feature_names`` names them.

    Raises
    ------
    DataError
        If the file is damaged or of version 7.3, or the variables cannot be told apart.
    """
    found = _variables(name, path)
    target = spec.get("target")
    y = target if target in found else None
    if not target:
        y = next((variable for variable in ("Y", "y") if variable in found), None)
    matrix = _matrix(name, path, found, y)
    X = found[matrix]
    if X.dtype.kind not in "biuf":
        raise DataError(f"{name}: {matrix!r} in {path} has dtype {X.dtype}, but must hold numbers.")
    names = [f"x{j}" for j in range(X.shape[1])]
    if NAMES in found:
        names = _texts(found[NAMES])
        if len(names) != X.shape[1]:
            raise DataError(f"{name}: {path} has {X.shape[1]} columns in {matrix!r} but {len(names)} {NAMES}.")
    if y is None:
        if target and target not in names:
            known = [*found, *names] if len(names) < 1000 else [*found]
            raise DataError(
                f"{name}: target names {target!r}, which is neither a variable of {path} nor a column of {matrix!r}. "
                f"{did_you_mean(target, known)}"
            )
        return Loaded(matrix_columns(X, names, []))  # the target is one of them
    more = _target(y, found[y])
    if more.n_rows != X.shape[0]:
        raise DataError(f"{name}: {path} has {X.shape[0]} rows in {matrix!r} but {more.n_rows} in {y!r}.")
    return Loaded(matrix_columns(X, names, [more]), y)


def _variables(name: str, path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
        version = _version(content)
        if version == _HDF:
            raise DataError(
                f"{name}: {path} is a MATLAB file of version 7.3, which is not read. Save it again in MATLAB by "
                "save(file, '-v7')."
            )
        found = _read_mat4(content) if version == 4 else read_mat5(content, Unpacking(name, path).inflate)
    except DataError:
        raise
    except (ValueError, OSError, zlib.error, MemoryError) as error:
        raise DataError(f"{name}: {path} is not a readable MATLAB file ({error}). Fetch or save it again.") from error
    return {variable: value for variable, value in found.items() if variable and not variable.startswith("__")}


def _version(content: bytes) -> int:
    """Return 4, 5 (to 7) or `_HDF`; raises ValueError if the file is of none."""
    if 0 in content[:4]:
        return 4  # a number below 5,000 in four bytes, where the others begin with a text
    version = content[124:126][:: -1 if content[126:128] == b"MI" else 1]
    if version not in (b"\x00\x01", b"\x00\x02"):
        raise ValueError("its header states no known version")
    return 5 if version == b"\x00\x01" else _HDF


def _read_mat4(content: bytes) -> dict[str, Any]:
    from scipy.io import loadmat

    try:
        return loadmat(BytesIO(content))
    except Exception as error:  # it raises what a damaged file leads to: IndexError, KeyError, ...
        raise ValueError(str(error)) from error


def _matrix(name: str, path: Path, found: Mapping[str, Any], y: str | None) -> str:
    """Return the name of the variable that holds the features."""
    if "X" in found and found["X"].ndim == 2:
        return "X"
    n_rows = None if y is None else _length(found[y])
    fitting = [
        variable
        for variable, value in found.items()
        if variable not in (y, NAMES) and value.ndim == 2 and value.dtype.kind in "biuf" and min(value.shape) > 1
        if n_rows in (None, value.shape[0])
    ]
    if len(fitting) == 1:
        return fitting[0]
    held = ", ".join(f"{variable} {'x'.join(map(str, value.shape))}" for variable, value in found.items()) or "nothing"
    why = "has no matrix X" if not fitting else f"has several matrices ({', '.join(fitting)}), none of them X"
    raise DataError(f"{name}: {path} {why}; it holds {held}. Save the features as X and the target as Y.")


def _length(value: Any) -> int:
    return value.shape[0] if value.dtype.kind == "U" or value.shape[0] > 1 else value.size


def _target(variable: str, value: Any) -> Column:
    value = value.toarray() if hasattr(value, "tocsc") else value
    if value.dtype.kind in "OU":
        return categorical(variable, np.array(_texts(value), dtype=object))
    values = as_whole(value.ravel())
    return number_column(variable, values) if values.dtype.kind == "f" else column_from_array(variable, values)


def _texts(value: np.ndarray) -> list[str]:
    """Return the texts of a cell array or of the rows of a char array."""
    return [
        str(cell.item() if isinstance(cell, np.ndarray) and cell.size == 1 else cell).strip() for cell in value.flat
    ]
