"""ARFF files of Weka and OpenML, dense or sparse.

Read by the reader that scikit-learn carries for `fetch_openml`: scipy's knows neither sparse rows, nor text, nor labels
beyond ASCII.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core.cards import CATEGORICAL
from ...core.errors import DataError
from ...core.table import Column, categorical, sort_labels
from ..text_file import opened_text
from .loaded import Loaded, matrix_columns, number_column

#: Types whose cells are numbers; the others are texts, and lists of declared labels.
_NUMBERS = ("NUMERIC", "REAL", "INTEGER")


def read_arff(name: str, path: Path) -> Loaded:
    """Return the columns of an ARFF file, gzipped or not.

    A nominal attribute is categorical, with the declared labels that occur. Of a sparse file the numeric attributes
    stay sparse and come first; a nominal one that a row leaves out has its first declared label, as ARFF says.

    Raises
    ------
    DataError
        If the file is malformed; the message names the line.
    """
    from sklearn.externals import _arff

    decoder = _arff.ArffDecoder()
    try:
        with opened_text(name, path) as lines:
            first, lines = _is_sparse(lines)
            kind = _arff.LOD_GEN if first else _arff.DENSE_GEN
            found = decoder.decode(lines, encode_nominal=True, return_type=kind)
            attributes = [(str(attribute), declared) for attribute, declared in found["attributes"]]
            read = _sparse if first else _dense
            return Loaded(read(name, path, attributes, found["data"]))
    except _arff.ArffException as error:
        said = error.message.replace("%d", str(decoder._current_line), 1)  # str(error) fails where a line holds a %
        raise DataError(f"{name}: {path}: {_cut(said)}.{_way_out(error)}") from error
    except (ValueError, IndexError, OverflowError) as error:  # int("inf")
        if isinstance(error, (DataError, UnicodeDecodeError)):
            raise
        line = decoder._current_line
        raise DataError(f"{name}: {path}, line {line}: {error}. Mend that line, or save the file as CSV.") from error


def _way_out(error: Exception) -> str:
    if type(error).__name__ == "BadAttributeType":
        return " Known types are numeric, real, integer, string and {labels}: remove the attribute or declare it so."
    return " Mend that line, or save the file as CSV."


def _cut(said: str, most: int = 200) -> str:
    """Return what the reader says without its full stop and, where it repeats a long line, without most of that."""
    return said.rstrip(".") if len(said) <= most else f"{said[:most]}..."


def _is_sparse(lines: Iterable[str]) -> tuple[bool, Iterator[str]]:
    """Tell by the first row whether a file is sparse, and return its lines again."""
    seen: list[str] = []
    lines, in_data = iter(lines), False
    for line in lines:
        seen.append(line)
        text = line.strip()
        if in_data and text and not text.startswith("%"):
            break
        in_data = in_data or text.upper().startswith("@DATA")
    is_sparse = in_data and bool(seen) and seen[-1].strip().startswith("{")

    def again() -> Iterator[str]:
        yield from seen
        yield from lines

    return is_sparse, again()


def _dense(name: str, path: Path, attributes: Sequence[tuple[str, Any]], rows: Iterable[list[Any]]) -> list[Column]:
    numbers = [None if declared == "STRING" else array("d") for _, declared in attributes]
    texts: list[list[str | None]] = [[] for _ in attributes]
    for row in rows:
        for cell, held, text in zip(row, numbers, texts, strict=True):
            if held is None:
                text.append(cell)
            else:
                held.append(np.nan if cell is None else cell)
    if not any(len(text if held is None else held) for held, text in zip(numbers, texts, strict=True)):
        raise DataError(f"{name}: {path} has no rows. They stand below @data.")
    return [
        categorical(attribute, np.array(text, dtype=object))
        if held is None
        else _column(attribute, declared, np.array(held))
        for (attribute, declared), held, text in zip(attributes, numbers, texts, strict=True)
    ]


def _sparse(
    name: str, path: Path, attributes: Sequence[tuple[str, Any]], rows: Iterable[dict[int, Any]]
) -> Sequence[Column]:
    from scipy.sparse import csc_matrix

    at_row, at_column, values = array("q"), array("q"), array("d")
    texts: dict[int, dict[int, str | None]] = {j: {} for j, (_, kind) in enumerate(attributes) if kind == "STRING"}
    n_rows = 0
    for row in rows:
        for j, cell in row.items():
            if j in texts:
                texts[j][n_rows] = cell
            else:
                at_row.append(n_rows)
                at_column.append(j)
                values.append(np.nan if cell is None else cell)
        n_rows += 1
    shape = (n_rows, len(attributes))
    X = csc_matrix((np.array(values), (np.array(at_row, dtype=int), np.array(at_column, dtype=int))), shape=shape)
    is_number = np.array([declared in _NUMBERS for _, declared in attributes])
    more = []
    for j in np.flatnonzero(~is_number).tolist():
        attribute, declared = attributes[j]
        if j in texts:
            more.append(categorical(attribute, np.array([texts[j].get(i) for i in range(n_rows)], dtype=object)))
        else:
            more.append(_column(attribute, declared, X[:, [j]].toarray().ravel()))
    if not is_number.any():
        return more
    names = [attribute for (attribute, _), is_one in zip(attributes, is_number, strict=True) if is_one]
    return matrix_columns(X[:, np.flatnonzero(is_number)], names, more)


def _column(attribute: str, declared: Any, values: np.ndarray) -> Column:
    """Make a column of numbers, or of positions in the declared labels; NaN is missing."""
    if declared in _NUMBERS:
        return number_column(attribute, values)
    codes = np.where(np.isnan(values), -1, values).astype(np.int32)
    # An empty label, or ?, in the declaration is None: cells that have it, by being left out of a row, are missing.
    levels = sort_labels({declared[code] for code in np.unique(codes[codes >= 0])} - {None})
    place = {level: code for code, level in enumerate(levels)}
    lookup = np.array([place.get(label, -1) for label in declared] + [-1], dtype=np.int32)
    return Column(attribute, CATEGORICAL, lookup[codes], tuple(levels))  # code -1 finds the last entry
