"""ARFF files of Weka and OpenML, dense or sparse.

scipy's reader takes neither sparse rows, nor text, nor labels beyond ASCII; scikit-learn's is private.
"""

from __future__ import annotations

import datetime
import math
import re
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import DataError
from ...core.table import Column, categorical, column_of_codes
from ..columns import number_column
from ..input_file import opened_text
from .loaded import Loaded, TableFile, matrix_columns, shown

_NUMBERS, _TEXT = ("numeric", "real", "integer"), "string"
#: The usual texts for missing cells.
_MISSING = ("", "?")
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PLAIN = r"""[^,\s"'{}]"""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s,{{}}%]+)\s*(.+)", re.IGNORECASE)
#: What is declared, before a comment behind it.
_DECLARED = re.compile(rf"((?:{_QUOTED}|[^%'\"])*)(%.*)?")
_DATE = re.compile(rf"date(?:\s+({_QUOTED}|\S+))?", re.IGNORECASE).fullmatch
#: How Weka writes dates unless the attribute says otherwise, and what the letters of a format are in Python.
_ISO = "yyyy-MM-dd'T'HH:mm:ss"
_LETTERS = {"yyyy": "%Y", "yy": "%y", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d", "HH": "%H", "H": "%H"}
_LETTERS |= {"mm": "%M", "m": "%M", "ss": "%S", "s": "%S", "Z": "%z"}
_LETTER = re.compile(r"'([^']*)'|([A-Za-z])\2*")
_CELL = re.compile(rf"\s*({_QUOTED}|{_PLAIN}*)\s*(,|\Z)")
#: A label may have blanks without quotes, as Weka's users write them.
_LABEL = re.compile(rf"\s*({_QUOTED}|[^,\"'{{}}]*)\s*(,|\Z)")
_INDEXED_CELL = re.compile(rf"\s*(\d+)\s+({_QUOTED}|{_PLAIN}+)\s*(,|\Z)")
_NOT_PLAIN = re.compile(r"""[\s"'{}]""")
_ESCAPE, _ESCAPED = (
    re.compile(r"\\(u[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL),
    {"t": "\t", "n": "\n", "r": "\r", "b": "\b"},
)


class _Attribute(NamedTuple):
    name: str
    #: One of the types, or the declared labels, where an empty one or ? is None.
    declared: str | list[str | None]
    #: Makes a number, or a label's position, of a cell; None for texts.
    number: Callable[[str], float] | None
    #: Makes the text of a date as other readers have it; None for others.
    text: Callable[[str], str] | None = None


def read_arff(file: TableFile) -> Loaded:
    """Return the columns of an ARFF file, gzipped or not.

    Nominal attributes are categorical, with the labels that occur. In sparse files numeric attributes stay sparse and
    come first, and a nominal one left out has its first label, as ARFF says. Markers count as missing only without
    quotes.

    Raises `DataError`, with the line, if the file is malformed.
    """
    where = f"{file.name}: {file.path}"
    with opened_text(file.name, file.path) as text:
        lines = ((at, line.strip()) for at, line in enumerate(text, 1))
        lines = ((at, line) for at, line in lines if line and not line.startswith("%"))
        missing = file.markers.texts(_MISSING)
        attributes = _header(where, lines, missing)
        first = next(lines, None)
        if first is None:
            raise DataError(f"{where} has no rows. They stand below @data.")
        rows = chain([first], lines)
        return Loaded((_sparse if first[1].startswith("{") else _dense)(where, attributes, rows, missing))


def _header(where: str, lines: Iterator[tuple[int, str]], missing: Collection[str]) -> list[_Attribute]:
    found: dict[str, _Attribute] = {}
    for at, line in lines:
        word = line.split(maxsplit=1)[0].lower()
        if word == "@data" and found:
            return [*found.values()]
        parts = _ATTRIBUTE.fullmatch(line)
        if parts is None and word != "@relation":
            raise _malformed(where, at, f"{shown(line)} is neither @relation, @attribute and its type, nor @data")
        if parts is not None:
            attribute = _attribute(where, at, _unquoted(parts[1], _MISSING) or "?", parts[2].strip(), missing)
            if attribute.name in found:
                raise _malformed(where, at, f"attribute {attribute.name!r} is declared twice")
            found[attribute.name] = attribute
    raise DataError(f"{where} has no line @data below its attributes. Fetch the file again, or add the line.")


def _attribute(where: str, at: int, attribute: str, declared: str, missing: Collection[str]) -> _Attribute:
    if found := _DECLARED.fullmatch(declared):
        declared = found[1].strip()
    kind = declared.lower()
    if date := _DATE(declared):
        return _Attribute(attribute, "date", None, _date_text(_unquoted(date[1] or "", ()) or _ISO))
    if kind == "relational":
        raise DataError(
            f"{where}, line {at}: attribute {attribute!r} is relational, a table in each cell, which is not "
            "read. Save what is needed of it as columns, in Weka by the filter MultiInstanceToPropositional."
        )
    if kind == _TEXT:
        return _Attribute(attribute, kind, None)
    if kind in _NUMBERS:
        return _Attribute(attribute, kind, _whole if kind == "integer" else float)
    labels = _labels(declared[1:-1], missing) if declared.startswith("{") and declared.endswith("}") else None
    if labels is None:
        raise DataError(
            f"{where}, line {at}: attribute {attribute!r} has the type {shown(declared)}. Known types are "
            "numeric, real, integer, string, date and {labels}: remove the attribute or declare it so."
        )
    places = {label: float(place) for place, label in enumerate(labels)}
    return _Attribute(attribute, labels, places.__getitem__)


def _labels(declared: str, missing: Collection[str]) -> list[str | None] | None:
    """Return declared labels, which may have blanks without quotes; None if they are malformed."""
    found = _matches(_LABEL, declared)
    return None if found is None else [_unquoted(one[1].strip(), missing) for one in found]


def _date_text(pattern: str) -> Callable[[str], str]:
    """Return what makes ISO's form of a date that is written in a pattern of Java."""
    form = _LETTER.sub(lambda one: one[1] if one[2] is None else _LETTERS.get(one[0], one[0]), pattern)

    def text(cell: str) -> str:
        date = datetime.datetime.strptime(cell, form)
        is_day = not date.time() and "%H" not in form
        return date.date().isoformat() if is_day else date.isoformat()

    return text


def _dense(
    where: str, attributes: Sequence[_Attribute], rows: Iterator[tuple[int, str]], missing: Collection[str]
) -> list[Column]:
    has_blanks = any(
        " " in (label or "") for one in attributes if isinstance(one.declared, list) for label in one.declared
    )
    held: list[Any] = [[] if attribute.number is None else array("d") for attribute in attributes]
    for at, line in rows:
        cells = _cells(line, missing)
        if cells is None and has_blanks:
            cells = _labels(line, missing)
        if cells is None:
            raise _malformed(where, at, f"{shown(line)} is not a row of cells between commas")
        if len(cells) != len(attributes):
            raise _malformed(where, at, f"it has {len(cells)} cells, but {len(attributes)} attributes are declared")
        for attribute, cell, column in zip(attributes, cells, held, strict=True):
            column.append(_value(where, at, attribute, cell))
    return [_column(attribute, column) for attribute, column in zip(attributes, held, strict=True)]


def _sparse(
    where: str, attributes: Sequence[_Attribute], rows: Iterator[tuple[int, str]], missing: Collection[str]
) -> Sequence[Column]:
    from scipy.sparse import csc_matrix

    at_row, at_column, values = array("q"), array("q"), array("d")
    texts: dict[int, dict[int, str | None]] = {j: {} for j, one in enumerate(attributes) if one.number is None}
    n_rows = 0
    for at, line in rows:
        cells = _indexed_cells(line, missing)
        if cells is None or len({j for j, _ in cells}) < len(cells):
            raise _malformed(where, at, f"{shown(line)} is not a row of {{index value, ...}}, each index once")
        for j, cell in cells:
            if j >= len(attributes):
                raise _malformed(where, at, f"index {j} is not below the {len(attributes)} declared attributes")
            value = _value(where, at, attributes[j], cell)
            if j in texts:
                texts[j][n_rows] = value
            else:
                at_row.append(n_rows)
                at_column.append(j)
                values.append(value)
        n_rows += 1
    shape = (n_rows, len(attributes))
    X = csc_matrix((np.array(values), (np.array(at_row, dtype=int), np.array(at_column, dtype=int))), shape=shape)
    is_number = np.array([attribute.declared in _NUMBERS for attribute in attributes])
    more = []
    for j in np.flatnonzero(~is_number).tolist():
        cells = [texts[j].get(i) for i in range(n_rows)] if j in texts else X[:, [j]].toarray().ravel()
        more.append(_column(attributes[j], cells))
    if not is_number.any():
        return more
    names = [attribute.name for attribute, is_one in zip(attributes, is_number, strict=True) if is_one]
    return matrix_columns(X[:, np.flatnonzero(is_number)], names, more)


def _value(where: str, at: int, attribute: _Attribute, cell: str | None) -> Any:
    """Return a cell as a number, the position of its label, or a text; NaN or None where it is missing."""
    if attribute.number is None and (attribute.text is None or cell is None):
        return cell
    if cell is None:
        return math.nan
    try:
        return attribute.text(cell) if attribute.text else attribute.number(cell)  # type: ignore[misc]
    except KeyError:
        what = f"{shown(cell)} is not among the labels that are declared for {attribute.name!r}"
    except (ValueError, OverflowError):  # a whole number may not be infinite
        kind = "date of its form" if attribute.text else "number"
        what = f"{shown(cell)} is not a {kind}, but {attribute.name!r} is declared {attribute.declared}"
    raise _malformed(where, at, what)


def _column(attribute: _Attribute, cells: Any) -> Column:
    if attribute.number is None:
        return categorical(attribute.name, np.array(cells, dtype=object))
    values = np.array(cells)
    if isinstance(attribute.declared, str):
        return number_column(attribute.name, values)
    codes = np.where(np.isnan(values), -1, values).astype(np.int32)
    occurring = set(np.unique(codes).tolist())
    labels = [label if code in occurring else None for code, label in enumerate(attribute.declared)]
    return column_of_codes(attribute.name, codes, labels)


def _cells(line: str, missing: Collection[str] = _MISSING) -> list[str | None] | None:
    r"""Return the cells between commas, None where missing; None altogether if the line is malformed.

    >>> _cells("1, 'a \\'b\\'', ?"), _cells("new york")
    (['1', "a 'b'", None], None)
    """
    if not _NOT_PLAIN.search(line):
        return [None if cell in missing else cell for cell in line.split(",")]
    found = _matches(_CELL, line)
    return None if found is None else [_unquoted(cell[1], missing) for cell in found]


def _indexed_cells(line: str, missing: Collection[str] = _MISSING) -> list[tuple[int, str | None]] | None:
    """Return the cells of a sparse row with their positions; None if the line is malformed.

    >>> _indexed_cells("{0 5, 3 'a b'}"), _indexed_cells("{ }"), _indexed_cells("{0}")
    ([(0, '5'), (3, 'a b')], [], None)
    """
    if not line.startswith("{") or not line.endswith("}"):
        return None
    inner = line[1:-1].strip()
    found = _matches(_INDEXED_CELL, inner) if inner else []
    return None if found is None else [(int(cell[1]), _unquoted(cell[2], missing)) for cell in found]


def _matches(cell: re.Pattern[str], line: str) -> list[re.Match[str]] | None:
    """Return the cells of a line, each ending with its comma as the last group; None if the line is malformed."""
    found, at, more = [], 0, ","
    while more:
        match = cell.match(line, at)
        if match is None:
            return None
        at, more = match.end(), match[cell.groups]
        found.append(match)
    return found


def _unquoted(cell: str, missing: Collection[str]) -> str | None:
    """Return a cell without quotes and escapes; None for a missing one."""
    if cell[:1] in ("'", '"'):
        return _ESCAPE.sub(_character, cell[1:-1])
    return None if cell in missing else cell


def _character(escape: re.Match[str]) -> str:
    sign = escape[1]
    if len(sign) == 5:
        return chr(int(sign[1:], 16))
    return chr(int(sign, 8)) if sign.isdecimal() and sign.isascii() and sign < "8" else _ESCAPED.get(sign, sign)


def _whole(cell: str) -> float:
    return float(int(float(cell)))


def _malformed(where: str, at: int, what: str) -> DataError:
    return DataError(f"{where}, line {at}: {what}. Mend that line, or save the file as CSV.")
