"""Orange's .tab files: three lines above the rows with names, types and flags."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from ...core.errors import DataError
from ...core.table import Column
from ..columns import check_names
from ..columns_of_text import column_of_cells
from ..input_file import opened_text
from ..missing_markers import MISSING_MARKERS
from .loaded import Loaded, TableFile, continuous_column, label_column

_CONTINUOUS = ("c", "continuous", "n", "numeric")
_DISCRETE = ("d", "discrete", "categorical")
_TEXT = ("s", "string", "text")
_TIME = ("t", "time")
_TYPES = {*_CONTINUOUS, *_DISCRETE, *_TEXT, *_TIME}
_CLASS, _ASIDE = {"class", "c"}, {"meta", "m", "ignore", "i"}
_FLAG = re.compile(r"|class|c|meta|m|ignore|i|[-\w.]+=.*", re.DOTALL).fullmatch
#: Besides those of other text files.
_OWN_MARKERS = {".", "~", "*"}
_MISSING = {*MISSING_MARKERS, *_OWN_MARKERS}
_BLANK = re.compile(r"(?<!\\)\s+")


def is_orange(lines: Sequence[str], is_tab: bool) -> bool:
    """Return whether the second of a file's first three lines has types and the third flags.

    One-letter cells can be types and flags by chance: in a file that is not called .tab, a flag must be a word.
    """
    if len(lines) < 3:
        return False
    names, types, flags = ([cell.strip() for cell in line.rstrip("\r\n").split("\t")] for line in lines[:3])
    are_flags = all(_FLAG(word) for cell in flags for word in cell.split(" "))
    words = {word for cell in flags for word in cell.split()}
    is_said = is_tab or bool(words & {"class", "meta", "ignore"})
    return is_said and len(names) == len(types) and are_flags and any(cell.lower() in _TYPES for cell in types)


def read_orange(file: TableFile) -> Loaded:
    """Return the columns of a .tab file, whose flags mark the target (class) and other columns (meta, ignore).

    Raises `DataError`, with the line, if the header is malformed or a cell does not have the declared type.
    """
    name, path = file.name, file.path
    with opened_text(name, path, "\t") as text:
        rows = [(reader.line_num, row) for reader in [csv.reader(text, delimiter="\t")] for row in reader]
    if len(rows) < 3:
        raise DataError(f"{name}: {path} needs three lines above its rows: names, types and flags.")
    (_, names), (_, types), (_, flags), *body = rows
    names = [cell.strip() for cell in names]
    check_names(name, names)
    width = len(names)
    types, flags = ([cell.strip() for cell in row] + [""] * (width - len(row)) for row in (types, flags))
    if len(types) > width or len(flags) > width:
        raise DataError(f"{name}: {path} has {width} names, but more types or flags. Mend its first three lines.")
    body = [(line, [cell.strip() for cell in row]) for line, row in body if any(row)]
    if not body:
        raise DataError(f"{name}: {path} has three lines of header, but no rows.")
    for line, row in body:
        if len(row) != width:
            raise DataError(f"{name}: {path}, line {line} has {len(row)} cells, but the header has {width}.")
    words = [set(flag.split()) for flag in flags]
    for column, own in zip(names, words, strict=True):
        if not all(map(_FLAG, own)):
            raise DataError(
                f"{name}: {path}: column {column!r} has the flag {' '.join(own)!r}. Use class, meta or ignore."
            )
    targets = [column for column, own in zip(names, words, strict=True) if own & _CLASS]
    aside = {column for column, own in zip(names, words, strict=True) if own & _ASIDE}
    lines, cells = [line for line, _ in body], zip(*(row for _, row in body), strict=True)
    columns = []
    for column, kind, texts in zip(names, types, cells, strict=True):
        if kind.lower() in _TIME and column not in aside:
            raise DataError(f"{name}: {path}: column {column!r} holds times. Flag it meta, or make it a number.")
        columns.append(_column(file, lines, column, kind, texts))
    if len(targets) > 1:
        aside |= {*targets}
    return Loaded(columns, targets[0] if len(targets) == 1 else None, frozenset(aside))


def _column(file: TableFile, lines: list[int], column: str, kind: str, texts: Sequence[str]) -> Column:
    where, markers, word = f"{file.name}: {file.path}", file.markers, kind.lower()
    if not kind or word in _CONTINUOUS:
        own = markers.texts(_MISSING) - markers.texts()
        texts = ["" if text in own else text for text in texts]
        if kind:
            return continuous_column(where, column, lines, texts, markers)
        return column_of_cells(file.name, column, texts, markers)
    if word in _TYPES:
        return label_column(where, column, lines, texts, missing=markers.texts(_MISSING), markers=markers)
    declared = {part.replace("\\ ", " ") for part in _BLANK.split(kind)}
    as_declared = f"the second line declares {kind!r}, which is a list of labels and not one of the types c, d and s"
    missing = markers.texts(_MISSING - declared)
    return label_column(where, column, lines, texts, declared, as_declared, missing, markers)
