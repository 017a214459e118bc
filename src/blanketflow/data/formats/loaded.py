"""What the reader of a format returns, and the steps that several readers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ...core.cards import INTEGER, NUMERIC
from ...core.convert import as_table
from ...core.errors import DataError
from ...core.table import Column, categorical
from ...core.whole_numbers import MOST_WHOLE
from ...core.wide_columns import WideColumns
from ..arrays import checked_csc
from ..columns_of_text import column_of_texts
from ..dialect import FoundOut
from ..missing_markers import Found, MissingMarkers


class Loaded(NamedTuple):
    """All columns of a source, the target among them, and what the source says about them."""

    columns: Sequence[Column]
    #: The target, where the source says which it is.
    target: str | None = None
    #: Columns that are not features, such as identifiers. They are left out unless the spec names them.
    aside: frozenset[str] = frozenset()
    #: What to know about the source.
    notes: tuple[str, ...] = ()
    #: Which texts of which columns were taken for missing cells.
    markers: Found = MappingProxyType({})
    #: Which texts of which columns may stand for missing cells, though they were not taken for it.
    suspected: Found = MappingProxyType({})
    #: What was found out about how the file is written.
    found: Sequence[FoundOut] = ()


def as_whole(values: np.ndarray) -> np.ndarray:
    """Return whole numbers as such, of a small type, and any other numbers as they are.

    >>> as_whole(np.array([3.0, -1.0])), as_whole(np.array([0.5, 1.0]))
    (array([ 3, -1], dtype=int8), array([0.5, 1. ]))
    """
    if values.dtype.kind != "f" or not values.size:
        return values
    low, high = values.min(), values.max()
    if not max(-low, high) < MOST_WHOLE or not np.array_equal(values, np.rint(values)):
        return values
    return values.astype(np.result_type(np.min_scalar_type(int(low)), np.min_scalar_type(-1 - abs(int(high)))))


def number_column(column: str, values: np.ndarray) -> Column:
    """Make a column of floats, NaN where missing; whole numbers make an integer one, as they do in a CSV file.

    >>> number_column("a", np.array([1.0, np.nan, 3.0])).kind
    'integer'
    """
    known = values[~np.isnan(values)]
    whole = as_whole(known)
    if whole.dtype.kind == "f":
        return Column(column, NUMERIC, values)
    return Column(column, INTEGER, whole.astype(np.int64) if len(known) == len(values) else values)


def matrix_columns(X: Any, names: Sequence[str], more: Sequence[Column]) -> Sequence[Column]:
    """Return the columns of a matrix, dense or scipy sparse, held together, and then the others."""
    if hasattr(X, "tocsc"):
        X = checked_csc(X)
        X.data = as_whole(X.data)
    else:
        X = np.asfortranarray(as_whole(X))  # only columns are read from now on
    columns = as_table(X, list(names)).columns
    if isinstance(columns, WideColumns):
        return replace(columns, more=tuple(more))
    return [*columns, *more]


def continuous_column(
    where: str, column: str, lines: Sequence[int], texts: Sequence[str], markers: MissingMarkers | None = None
) -> Column:
    """Make a column of texts that are declared to be numbers, or one of the `markers` where missing.

    Raises `DataError` with `where` and one of `lines`, which has the line of each text, if a text is not a number.
    """
    distinct = list(dict.fromkeys(texts))
    place = {text: code for code, text in enumerate(distinct)}
    markers = markers or MissingMarkers()
    codes = np.fromiter(map(place.get, texts), dtype=np.int32)
    found = column_of_texts(where, column, codes, distinct, markers=markers)
    if found.kind in (INTEGER, NUMERIC):
        return found
    missing = markers.texts()
    line, text = next((i, t) for i, t in zip(lines, texts, strict=True) if t not in missing and not is_number(t))
    raise DataError(f"{where}, line {line}: {text!r} is not a number, but column {column!r} is declared continuous.")


def label_column(
    where: str,
    column: str,
    lines: Sequence[int],
    texts: Sequence[str],
    declared: Collection[str] | None = None,
    as_declared: str = "",
    missing: Collection[str] = ("?",),
    markers: MissingMarkers | None = None,
) -> Column:
    """Make a categorical column of texts, which are those `declared` unless that is None, or `missing`.

    Where `markers` are given, the missing cells are noted in them.

    Raises `DataError` with the line of another text; `as_declared` says in the message what is declared.
    """
    for line, text in zip(lines, texts, strict=True) if declared is not None else ():
        if text not in declared and text not in missing:
            raise DataError(f"{where}, line {line}: {column!r} is {text!r}, but {as_declared}. Mend one of the two.")
    if markers is not None:
        markers.note(column, Counter(text for text in texts if text in missing))
    return categorical(column, np.array([None if text in missing else text for text in texts], dtype=object))


def is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def shown(line: str, most: int = 40) -> str:
    """Return the beginning of a line, quoted."""
    text = line.strip()
    return repr(text if len(text) <= most else f"{text[:most]}...")
