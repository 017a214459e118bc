"""Columns from the texts of their cells: the distinct texts decide the kind, and cells are places among them."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, INTEGER, NUMERIC
from ..core.errors import DataError
from ..core.table import Column, column_of_codes
from .columns import UNNAMED
from .dialect import Dialect, NumberFormat, number_format
from .missing_markers import MissingMarkers

#: Bytes of a cell of numbers in memory.
CELL_BYTES = 8
_BATCH_ROWS, _BATCH_CELLS = 4096, 4_000_000
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}").fullmatch
is_number = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf|infinity)", re.IGNORECASE).fullmatch
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+(,[0-9]+)?").fullmatch


@dataclass(frozen=True)
class TextRules:
    """How the texts of a table become columns; `name` is the data set's, for messages.

    With a `dialect`, the form of numbers is given or detected, except in columns of `as_text`, which are categorical,
    and of `drop`.
    """

    name: str
    as_text: Collection[str] = ()
    drop: Collection[str] = ()
    markers: MissingMarkers = field(default_factory=MissingMarkers)
    dialect: Dialect | None = None

    @property
    def no_numbers(self) -> set[str]:
        """The columns that do not tell how numbers are written."""
        return {*self.as_text, *self.drop}


class CodedTexts:
    """The texts of one column: the distinct ones as they come first, and the place among them of each row's text."""

    def __init__(self) -> None:
        self._places: defaultdict[str, int] = defaultdict()
        self._places.default_factory = self._places.__len__  # a new text gets the next place
        self._codes: list[np.ndarray] = []

    def add(self, texts: Sequence[str], codes: np.ndarray | None = None) -> None:
        """Add the texts of some rows; with `codes` these say which of the texts each row has."""
        places = np.fromiter(map(self._places.__getitem__, texts), dtype=np.int32, count=len(texts))
        self._codes.append(places if codes is None else places[codes])

    def texts(self) -> Collection[str]:
        """Return the distinct texts."""
        return self._places.keys()

    def column(self, rules: TextRules, column: str, numbers: NumberFormat | None = None) -> Column:
        """Make the column, as `column_of_texts` does."""
        codes, texts = np.concatenate(self._codes), list(self._places)
        return column_of_texts(rules.name, column, codes, texts, column in rules.as_text, rules.markers, numbers)


def columns_of_rows(
    rules: TextRules,
    header: Sequence[str],
    rows: Iterator[Sequence[str]],
    count: Callable[[int], None] | None = None,
) -> list[Column]:
    """Return the columns of rows of texts; the cells decide the kinds.

    `count` gets the bytes that each batch of rows takes in memory, and may raise. Raises `DataError` if there are no
    rows.
    """
    parts = [CodedTexts() for _ in header]
    n_rows = max(1, min(_BATCH_ROWS, _BATCH_CELLS // max(1, len(header))))
    is_empty = True
    while batch := list(itertools.islice(rows, n_rows)):
        is_empty = False
        if count is not None:
            count(CELL_BYTES * len(header) * len(batch))
        for part, cells in zip(parts, zip(*batch, strict=True), strict=True):
            part.add(cells)
    if is_empty:
        raise DataError(f"{rules.name}: the file has a header but no rows.")
    return joined_columns(rules, header, parts)


def joined_columns(rules: TextRules, header: Sequence[str], parts: list[Any]) -> list[Column]:
    """Make columns of their parts, such as `CodedTexts`, which are let go: many take more memory than the columns."""
    numbers = None
    if rules.dialect is not None:
        texts = texts_by_column(header, parts, rules.no_numbers)
        numbers = number_format(rules.name, texts, rules.markers.texts(), rules.dialect)
        del texts
    parts.reverse()
    return [parts.pop().column(rules, column, numbers) for column in header]


def texts_by_column(header: Sequence[str], parts: Sequence[Any], apart: Collection[str]) -> dict[str, Collection[str]]:
    """Return the distinct texts of the columns that tell how numbers are written, which those `apart` do not."""
    pairs = zip(header, parts, strict=True)
    return {c: part.texts() for c, part in pairs if isinstance(part, CodedTexts) and c not in apart and c != UNNAMED}


def column_of_texts(
    name: str,
    column: str,
    codes: np.ndarray,
    texts: list[str],
    as_text: bool = False,
    markers: MissingMarkers | None = None,
    numbers: NumberFormat | None = None,
) -> Column:
    """Make a column of distinct texts and each row's position among them; surrounding blanks are ignored.

    With `as_text` it is categorical. Else, without `numbers`, numbers with decimal commas raise `DataError`.

    >>> column_of_texts("demo", "a", np.array([0, 1, 2]), ["3", " 4", "?"]).values
    array([ 3.,  4., nan])
    """
    texts = [text.strip() for text in texts]
    if "\0" in "".join(texts):
        raise DataError(
            f"{name}: column {column!r} holds NUL bytes: the file is damaged or is not UTF-8 text. Write it again."
        )
    markers = markers or MissingMarkers()
    missing = markers.texts()
    present = [text for text in texts if text not in missing]
    if len(present) < len(texts):
        markers.note_codes(column, codes, texts, missing)
    plain = {text: numbers.plain(text) for text in present} if numbers and not as_text else None
    kind = CATEGORICAL if as_text else _kind_of_texts(present if plain is None else [*plain.values()])
    if kind == CATEGORICAL:
        if not as_text and numbers is None and all(map(_DECIMAL_COMMA, present)):
            raise DataError(
                f"{name}: column {column!r} holds numbers with decimal commas, or commas between thousands. Write them "
                "with decimal points and nothing between thousands, or list the column under categorical."
            )
        return column_of_codes(column, codes, [None if text in missing else text for text in texts])
    gaps = len(present) < len(texts)
    number, dtype = {BOOLEAN: (_is_true, np.int8), INTEGER: (int, np.int64)}.get(kind, (float, np.float64))
    cells = [np.nan if text in missing else number(text if plain is None else plain[text]) for text in texts]
    return Column(column, kind, np.array(cells, dtype=np.float64 if gaps else dtype)[codes])


def column_of_cells(name: str, column: str, texts: Sequence[str], markers: MissingMarkers) -> Column:
    """Make a column of the texts of its cells, as `column_of_texts` does."""
    coded = CodedTexts()
    coded.add(texts)
    return coded.column(TextRules(name, markers=markers), column)


def _is_true(text: str) -> bool:
    return text.lower() == "true"


def _kind_of_texts(present: list[str]) -> str:
    if not present:
        return NUMERIC
    if all(map(_WHOLE, present)) and all(len(text) < 19 or -(2**63) <= int(text) < 2**63 for text in present):
        return INTEGER
    if all(map(is_number, present)):
        return NUMERIC
    return BOOLEAN if all(t in ("True", "False", "true", "false", "TRUE", "FALSE") for t in present) else CATEGORICAL
