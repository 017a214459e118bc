"""`.npz` files: a dense matrix `X` (numpy) or a sparse one (scipy), with the target inside or in a file beside it."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..core.cards import BOOLEAN, INTEGER, NUMERIC
from ..core.column import WideColumns
from ..core.convert import as_table
from ..core.errors import DataError, did_you_mean
from ..core.table import Column, check_unicode, column_from_array
from .column_roles import check_width, setting
from .input_file import Unpacking
from .missing_markers import MissingMarkers
from .text import read_text

#: Cells of a matrix that the plan reads to see their range: a tenth of a second.
MOST_RANGED = 20_000_000
#: What numpy and zipfile raise for a damaged or foreign archive, and RuntimeError for an encrypted one.
_DAMAGED = (OSError, ValueError, KeyError, EOFError, MemoryError, RuntimeError, zipfile.BadZipFile, zlib.error)
#: The arrays of a scipy sparse matrix besides data, shape and format: of CSR, CSC and BSR, then of COO and DIA.
_SPARSE_KEYS = ({"indices", "indptr"}, {"row", "col"}, {"coords"}, {"offsets"})


@dataclass(frozen=True)
class NumberedNames(Sequence[str]):
    """The names ``x0``, ``x1``, ... of columns without names, computed on demand: millions of them take no memory.

    >>> names = NumberedNames(3)
    >>> list(names), "x2" in names, "x3" in names, "x02" in names
    (['x0', 'x1', 'x2'], True, False, False)
    """

    n: int
    prefix: str = "x"
    first: int = 0

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [f"{self.prefix}{self.first + j}" for j in range(self.n)[position]]
        return f"{self.prefix}{self.first + range(self.n)[position]}"

    def __contains__(self, name: object) -> bool:
        number = str(name).removeprefix(self.prefix)
        is_one = number.isdecimal() and name == f"{self.prefix}{int(number)}"
        return is_one and 0 <= int(number) - self.first < self.n


def numbered(names: Sequence[str]) -> Sequence[str]:
    """Return names as `NumberedNames` if they are numbered so, else as a tuple.

    >>> numbered(["f1", "f2"]), numbered(["f2", "f1"])
    (NumberedNames(n=2, prefix='f', first=1), ('f2', 'f1'))
    """
    names = tuple(names)
    prefix = names[0].rstrip("0123456789") if names else ""
    first = names[0].removeprefix(prefix) if names else ""
    if not prefix or not first:
        return names
    found = NumberedNames(len(names), prefix, int(first))
    return found if all(map(str.__eq__, found, names)) else names


@dataclass(frozen=True)
class ArrayHeader:
    """What the headers of an `.npz` file tell: names, kind and stored cells of the columns; and the target."""

    n_rows: int
    names: Sequence[str]
    kind: str
    target: Column
    n_stored: int | None


def read_npz(name: str, path: Path, spec: Mapping[str, Any], markers: MissingMarkers | None = None) -> Sequence[Column]:
    """Return the columns of an `.npz` file, then the target.

    Raises `DataError` if arrays are missing or their shapes differ.
    """
    header = read_npz_header(name, path, spec, markers)
    with _opened(name, path) as archive:
        # Only columns are read from now on.
        X = np.asfortranarray(archive["X"]) if "X" in archive else _sparse(path)
    columns = as_table(X, list(header.names)).columns
    if isinstance(columns, WideColumns):
        return replace(columns, more=(header.target,))
    return [*columns, header.target]


def read_npz_header(
    name: str, path: Path, spec: Mapping[str, Any], markers: MissingMarkers | None = None
) -> ArrayHeader:
    """Return shape, names, kind and target without loading the matrix; raises as `read_npz` does."""
    with _opened(name, path) as archive:
        if "X" in archive:
            shape, dtype = _array_header(path, "X.npy")
            n_stored = None
        elif {"data", "shape", "format"} <= set(archive) and any(keys <= set(archive) for keys in _SPARSE_KEYS):
            stated = archive["shape"]
            shape = tuple(stated.tolist()) if stated.ndim == 1 and stated.dtype.kind in "iu" else ()
            stored, dtype = _array_header(path, "data.npy")
            n_stored = math.prod(stored)  # BSR holds blocks and DIA diagonals, with zeros in them
        else:
            raise DataError(
                f"{name}: {path} has no array 'X' and is not a scipy sparse matrix (it holds {sorted(archive)}). "
                "Save it with numpy.savez(path, X=..., y=...) or scipy.sparse.save_npz."
            )
        if len(shape) != 2:
            raise DataError(f"{name}: 'X' in {path} has shape {shape}, but must have rows and columns.")
        if dtype.kind not in "biuf":
            raise DataError(f"{name}: 'X' in {path} has dtype {dtype}, but must hold numbers.")
        if n_stored is not None:
            check_width(f"{name}: {path}", shape[1], n_stored)
        names: Sequence[str] = NumberedNames(shape[1])
        if "feature_names" in archive:
            names = [str(feature) for feature in archive["feature_names"].tolist()]
            check_unicode(f"{name}: {path} has the feature name", names)
        if len(names) != shape[1]:
            raise DataError(f"{name}: {path} has {shape[1]} columns but {len(names)} feature_names.")
        y = archive.get("y")
    target = _target(name, path, spec, y, markers)
    if len(target.values) != shape[0]:
        raise DataError(
            f"{name}: {path} has {shape[0]} rows, but its target {target.name!r} has {len(target.values)}. "
            "Give one for each row."
        )
    kind = {"b": BOOLEAN, "f": NUMERIC}.get(dtype.kind, INTEGER)
    return ArrayHeader(shape[0], names, kind, target, n_stored)


def read_npz_range(name: str, path: Path) -> tuple[float, float] | None:
    """Return the least and the largest value of a matrix; None if it has no cells, or more than `MOST_RANGED`."""
    with _opened(name, path) as archive:
        member = "X" if "X" in archive else "data"
        if not 0 < math.prod(_array_header(path, f"{member}.npy")[0]) <= MOST_RANGED:
            return None
        values = archive[member]
    low, high = float(values.min()), float(values.max())
    return (low, high) if member == "X" else (min(low, 0.0), max(high, 0.0))


def _target(
    name: str, path: Path, spec: Mapping[str, Any], y: np.ndarray | None, markers: MissingMarkers | None
) -> Column:
    wanted = spec.get("target") or "target"
    if y is not None:
        if y.ndim != 1:
            raise DataError(f"{name}: 'y' in {path} has shape {y.shape}, but must have one dimension.")
        try:
            return column_from_array(wanted, y)
        except DataError as error:
            raise DataError(f"{name}: {path}: {error}") from error
    (companion,) = companions(path, spec)
    if not companion.is_file():
        raise DataError(
            f"{name}: {path} has no array 'y' and there is no target file {companion}. Set target_path to a CSV file "
            f"with a column {wanted!r}."
        )
    columns = {c.name: c for c in read_text(name, companion, setting(spec, "categorical"), markers=markers)}
    if wanted not in columns:
        raise DataError(
            f"{name}: target names the column {wanted!r}, which is not in {companion}. {did_you_mean(wanted, columns)}"
        )
    return columns[wanted]


def companions(path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the file with the target of an `.npz` file that does not hold it itself."""
    return [Path(spec.get("target_path") or path.with_suffix(".y.csv"))]


def _array_header(path: Path, member: str) -> tuple[tuple[int, ...], np.dtype]:
    with zipfile.ZipFile(path) as archive, archive.open(member) as handle:
        version = np.lib.format.read_magic(handle)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(handle)
        held = archive.getinfo(member).file_size - handle.tell()
    if math.prod(shape) * dtype.itemsize > held:
        raise ValueError(f"{member} states the shape {shape}, but holds {held} bytes")
    return shape, dtype


def _sparse(path: Path) -> Any:
    from scipy.sparse import load_npz

    try:
        return checked_csc(load_npz(path))
    except (AttributeError, TypeError, ZeroDivisionError) as error:  # a format that is not text, blocks without cells
        raise ValueError("its arrays are not a sparse matrix") from error


@contextmanager
def _opened(name: str, path: Path) -> Iterator[Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            Unpacking(name, path).add(sum(member.file_size for member in archive.infolist()))
        with np.load(path, allow_pickle=False) as archive:
            yield archive
    except DataError:
        raise
    except _DAMAGED as error:
        what = "Save text as numpy.array(y, dtype=str)" if "pickle" in str(error) else "Fetch or save it again"
        said = str(error).rstrip(".")
        raise DataError(f"{name}: {path} is not a readable .npz file of plain arrays ({said}). {what}.") from error


def checked_csc(X: Any) -> Any:
    """Return a scipy sparse matrix as CSC, with duplicate cells summed and without stored zeros.

    scipy does not check the indices of a matrix that is made from its parts; wrong ones read and write beyond its
    arrays. Raises `ValueError` if an index lies outside the matrix.
    """
    if hasattr(X, "check_format"):  # the others keep no pointers
        X.check_format(full_check=True)
    X = X.tocsc()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X
