"""MATLAB's .mat files of version 4 to 7: a matrix, dense or sparse, and the variable to predict.

scipy reads version 4. Its reader of later versions (1.17.1) does not check what a file states: of 600 files with one to
four wrong bytes, 31 ended the process. A child process would be no way out: macOS and Windows have none, numbers come
back as text, and sizes and what is unpacked must be checked before. So these versions are read here with numpy, and a
damaged file is a `ValueError`.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import ConfigError, DataError, MemberNeeded, did_you_mean, shown
from ...core.table import Column, categorical, column_from_array
from ..columns import as_whole, number_column
from ..input_file import Unpacking
from .loaded import Loaded, TableFile, matrix_columns

#: Where the features' names are looked for.
NAMES = "feature_names"
_HDF = 7
_HEADER_BYTES = 128
#: Types of elements: variables, and what holds one packed by zlib; numbers; and texts, by how they are encoded (MATLAB
#: itself writes 16-bit numbers).
_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
#: Classes of variables, and a flag beside them.
_CELL, _CHAR, _SPARSE, _NUMERIC, _COMPLEX = 1, 4, 5, range(6, 16), 0x800


def read_matlab(file: TableFile) -> Loaded:
    """Return the columns of a .mat file.

    The target is the variable that the spec names, else ``Y`` or ``y``; else it is a column of the matrix. The matrix
    is the variable that `member` names, else ``X``, else the only one with the same number of rows. ``feature_names``
    has the names, else they are ``x0``, ``x1``, ...

    Raises `DataError` if the file is damaged or of version 7.3, or the variables are ambiguous.
    """
    name, path, target = file.name, file.path, file.spec.get("target")
    found = _variables(name, path)
    y = target if target in found else None
    if not target:
        y = next((variable for variable in ("Y", "y") if variable in found), None)
    matrix = _matrix(name, path, found, y, file.spec.get("member"))
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
                f"{name}: target names {target!r}, which is neither a variable of {path} nor a column of {matrix!r}; "
                f"it holds {_held(found)}. {did_you_mean(target, known)}"
            )
        return Loaded(matrix_columns(X, names, []))  # the target is one of them
    n_rows = math.prod(found[y].shape)
    if n_rows != X.shape[0]:
        raise DataError(f"{name}: {path} has {X.shape[0]} rows in {matrix!r} but {n_rows} in {y!r}.")
    return Loaded(matrix_columns(X, names, [_target(y, found[y])]), y)


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
    """Return 4, 5 (to 7) or `_HDF`; raises ValueError for any other file."""
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


def read_mat5(content: bytes, inflate: Callable[[memoryview], bytes] = zlib.decompress) -> dict[str, Any]:
    """Return the variables of a file of version 5 to 7: arrays of numbers or texts, and sparse matrices.

    Numbers keep the type in which they are stored. Each row of a character matrix is a text; cell arrays are of dtype
    object. Structures, objects, functions and other cells are left out. Raises `ValueError` if the file is damaged, and
    what `inflate` raises.
    """
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise ValueError("the header is damaged")
    variables = {}
    for kind, data in _elements(memoryview(content)[_HEADER_BYTES:], order):
        if kind == _COMPRESSED:
            kind, data = next(_elements(memoryview(inflate(data)), order), (kind, data))
        if kind != _MATRIX:
            raise ValueError(f"an element of type {kind} stands where a variable should")
        name, value = _variable(data, order)
        if value is not None:
            variables[name] = value
    return variables


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield type and content of the elements that lie one after the other in a part of the file."""
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            raise ValueError("it is cut off")
        kind, size = (int(number) for number in np.frombuffer(data[at : at + 8], f"{order}u4"))
        start = at + 8
        if kind >> 16:  # a small one: its size and type in 4 bytes, its data in the next 4
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
            if size > 4:
                raise ValueError(f"a small element has {size} bytes")
        if start + size > len(data):
            raise ValueError("it is cut off")
        yield kind, data[start : start + size]
        at = start + size if kind == _COMPRESSED else at - (at - start - size) // 8 * 8


def _variable(data: memoryview, order: str, within_cell: bool = False) -> tuple[str, Any]:
    """Return a variable's name and value; None for what is not read."""
    parts = _elements(data, order)

    def part() -> tuple[int, memoryview]:
        return next(parts, (0, data[:0]))

    def numbers(kinds: str = "iuf") -> np.ndarray:
        kind, stored = part()
        dtype = _NUMBERS.get(kind, "-")
        if dtype[0] not in kinds:
            raise ValueError(f"an element of type {kind} stands where {'' if 'f' in kinds else 'whole '}numbers should")
        return np.frombuffer(stored, np.dtype(dtype).newbyteorder(order)).astype(dtype)

    flags = numbers("iu")
    if not len(flags):  # an empty cell
        return "", None
    shape = tuple(numbers("iu").tolist())
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"a variable has the shape {shape}")
    name, kind = bytes(part()[1]).decode("latin-1"), int(flags[0]) & 0xFF
    if kind in _NUMERIC:
        values = numbers().reshape(shape, order="F")
        if int(flags[0]) & _COMPLEX:
            values = values.astype(np.complex128)
            values.imag = numbers().reshape(shape, order="F")
        return name, values
    if kind == _SPARSE:
        return name, _sparse(shape, numbers("iu"), numbers("iu"), numbers())
    if kind == _CHAR:
        return name, _characters(*part(), order, shape)
    if kind == _CELL and not within_cell:
        cells = [_variable(cell, order, within_cell=True)[1] for _, cell in parts]
        if len(cells) != math.prod(shape):
            raise ValueError(f"a cell array of shape {shape} holds {len(cells)} cells")
        if all(cell is not None for cell in cells):
            held = np.empty(len(cells), dtype=object)
            held[:] = cells
            return name, held.reshape(shape, order="F")
    return name, None


def _sparse(shape: tuple[int, ...], rows: np.ndarray, starts: np.ndarray, values: np.ndarray) -> Any:
    from scipy.sparse import csc_matrix

    n_stored = int(starts[-1]) if len(starts) else 0
    matrix = csc_matrix((values[:n_stored], rows[:n_stored], starts), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _characters(kind: int, stored: memoryview, order: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the rows of a matrix of characters as texts."""
    if not len(stored):
        kind = 4
    if kind not in _ENCODINGS:
        raise ValueError(f"an element of type {kind} stands where characters should")
    encoding = _ENCODINGS[kind]
    encoding += {"<": "-le", ">": "-be"}[order] if encoding in ("utf-16", "utf-32") else ""
    characters = list(bytes(stored).decode(encoding))
    if len(characters) != math.prod(shape):
        raise ValueError(f"a text of shape {shape} holds {len(characters)} characters")
    rows = np.array(characters, dtype="U1").reshape(shape, order="F").reshape(math.prod(shape[:-1]), shape[-1])
    return np.array(["".join(row) for row in rows.tolist()], dtype="U").reshape(shape[:-1])


def _matrix(name: str, path: Path, found: Mapping[str, Any], y: str | None, member: str | None = None) -> str:
    """Return the name of the variable with the features."""
    if member is not None:
        if member not in found or found[member].ndim != 2:
            what = "is not a matrix" if member in found else "is not there"
            raise ConfigError(f"{name}: member names {shown(member)}, which {what}. {path} holds {_held(found)}.")
        return member
    if "X" in found and found["X"].ndim == 2:
        return "X"
    n_rows = None if y is None else math.prod(found[y].shape)
    fitting = [
        variable
        for variable, value in found.items()
        if variable not in (y, NAMES) and value.ndim == 2 and value.dtype.kind in "biuf" and min(value.shape) > 1
        if n_rows in (None, value.shape[0])
    ]
    if len(fitting) == 1:
        return fitting[0]
    held, hint = _held(found), "Name the one with the features by the key member"
    if fitting:
        raise MemberNeeded(
            f"{name}: {path} has several matrices, none of them X; it holds {held}. {hint}, such as member: "
            f"{fitting[0]}, and the variable with the target by target."
        )
    raise MemberNeeded(
        f"{name}: {path} has no matrix X; it holds {held}. {hint}, or save them as X and the target as Y."
    )


def _held(found: Mapping[str, Any]) -> str:
    """Return in words which variables a file holds, and their shapes."""
    return ", ".join(f"{variable} {'x'.join(map(str, value.shape))}" for variable, value in found.items()) or "nothing"


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
