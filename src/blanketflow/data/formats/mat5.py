"""MATLAB's files of version 5 to 7: numeric, sparse and text variables.

scipy's reader of these files looks types up in a table without checking them: a damaged file ends the process. This one
reads with numpy alone, so that whatever the file holds is an array or a `ValueError`.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
#: How the characters of a text are encoded; MATLAB itself writes 16-bit numbers.
_ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _CHAR, _SPARSE, _NUMBERS = 1, 4, 5, range(6, 16)
_COMPLEX = 0x800
_HEADER_BYTES = 128


class _Element(NamedTuple):
    kind: int
    data: memoryview


def read_mat5(content: bytes, inflate: Callable[[memoryview], bytes] = zlib.decompress) -> dict[str, Any]:
    """Return the variables by name: arrays of numbers, sparse matrices, and arrays of texts.

    Structures, objects, functions and cells of anything but texts and numbers are left out.

    Parameters
    ----------
    content : bytes
        The whole file.
    inflate : function
        Returns what zlib unpacks of a variable.

    Returns
    -------
    dict of str to ndarray or scipy csc matrix
        Numbers as they are stored, which may be a smaller type than MATLAB's. Of a matrix of characters each row is one
        text; a cell array is of dtype object.

    Raises
    ------
    ValueError
        If the file is damaged.
    """
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise ValueError("the header is damaged")
    variables = {}
    for element in _elements(memoryview(content)[_HEADER_BYTES:], order):
        if element.kind == _COMPRESSED:
            element = next(_elements(memoryview(inflate(element.data)), order), element)
        if element.kind != _MATRIX:
            raise ValueError(f"an element of type {element.kind} stands where a variable should")
        name, value = _variable(element.data, order)
        if value is not None:
            variables[name] = value
    return variables


def _elements(data: memoryview, order: str) -> Iterator[_Element]:
    """Yield the elements that lie one after the other in a part of the file."""
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
        yield _Element(kind, data[start : start + size])
        at = start + size if kind == _COMPRESSED else start + -(-size // 8) * 8 if start == at + 8 else at + 8


def _variable(data: memoryview, order: str, within_cell: bool = False) -> tuple[str, Any]:
    """Return a variable's name and value; None for what is not read."""
    parts = _elements(data, order)

    def numbers() -> np.ndarray:
        return _numbers(next(parts, _Element(0, data[:0])), order)

    def integers() -> np.ndarray:
        found = numbers()
        if found.dtype.kind == "f":
            raise ValueError("floats stand where whole numbers should")
        return found

    flags = integers()
    if not len(flags):  # an empty cell
        return "", None
    shape = tuple(integers().tolist())
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"a variable has the shape {shape}")
    name = bytes(next(parts, _Element(0, data[:0])).data).decode("latin-1")
    kind, is_complex = int(flags[0]) & 0xFF, bool(int(flags[0]) & _COMPLEX)
    if kind in _NUMBERS:
        values = numbers().reshape(shape, order="F")
        if is_complex:
            values = values.astype(np.complex128)
            values.imag = numbers().reshape(shape, order="F")
        return name, values
    if kind == _SPARSE:
        return name, _sparse(shape, integers(), integers(), numbers())
    if kind == _CHAR:
        return name, _texts(next(parts, _Element(4, data[:0])), order, shape)
    if kind == _CELL and not within_cell:
        cells = [_variable(part.data, order, within_cell=True)[1] for part in parts]
        if len(cells) != math.prod(shape):
            raise ValueError(f"a cell array of shape {shape} holds {len(cells)} cells")
        if all(cell is not None for cell in cells):
            held = np.empty(len(cells), dtype=object)
            held[:] = cells
            return name, held.reshape(shape, order="F")
    return name, None


def _numbers(element: _Element, order: str) -> np.ndarray:
    if element.kind not in _TYPES:
        raise ValueError(f"an element of type {element.kind} stands where numbers should")
    stored = np.frombuffer(element.data, np.dtype(_TYPES[element.kind]).newbyteorder(order))
    return stored.astype(_TYPES[element.kind])


def _sparse(shape: tuple[int, ...], rows: np.ndarray, starts: np.ndarray, values: np.ndarray) -> Any:
    from scipy.sparse import csc_matrix

    n_stored = int(starts[-1]) if len(starts) else 0
    matrix = csc_matrix((values[:n_stored], rows[:n_stored], starts), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _texts(element: _Element, order: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the rows of a matrix of characters."""
    if element.kind not in _ENCODINGS:
        raise ValueError(f"an element of type {element.kind} stands where characters should")
    encoding = _ENCODINGS[element.kind]
    encoding += {"<": "-le", ">": "-be"}[order] if encoding in ("utf-16", "utf-32") else ""
    characters = list(bytes(element.data).decode(encoding))
    if len(characters) != math.prod(shape):
        raise ValueError(f"a text of shape {shape} holds {len(characters)} characters")
    rows = np.array(characters, dtype="U1").reshape(shape, order="F").reshape(math.prod(shape[:-1]), shape[-1])
    return np.array(["".join(row) for row in rows.tolist()], dtype="U").reshape(shape[:-1])
