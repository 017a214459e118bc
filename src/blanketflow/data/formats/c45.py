"""C4.5: cells in ``name.data``, without a header; their columns are declared in ``name.names``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...core.errors import DataError
from ...core.table import Column
from ..input_file import opened_text
from .loaded import Loaded, TableFile, continuous_column, label_column

#: The last column, which C4.5 does not name.
CLASS = "class"
#: What an attribute may be, other than a list of labels.
_CONTINUOUS, _DISCRETE, _IGNORE, _LABEL = "continuous", "discrete", "ignore", "label"
_ENTRY_END = re.compile(r"(?<!\\)\.(?=\s|$)|\n")
_COLON, _COMMA = re.compile(r"(?<!\\):(?!=)"), re.compile(r"(?<!\\),")
_ESCAPED = re.compile(r"\\(.)")
_COMMENT = re.compile(r"(?<!\\)\|.*", re.DOTALL)
#: A name of more words than this is a sentence: the file is prose.
_MOST_WORDS = 8
_SHOWN = 8


def companions(path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the .names file of a .data file."""
    return [path.with_suffix(".names")]


def read_c45(file: TableFile) -> Loaded:
    """Return the columns of a .data file with its .names file.

    The target is the last column, ``class``, or the attribute that .names gives instead of classes (C5.0). Attributes
    to ignore are left out unless they are named. Raises `DataError`, with the line, if .names is prose or the files
    disagree.
    """
    name, path, names = file.name, file.path, file.beside.with_suffix(".names")
    if not names.is_file():
        raise DataError(f"{name}: {path} needs {names} beside it, which declares its columns.")
    classes, attributes = read_names(name, names)
    target = CLASS
    if len(classes) == 1 and classes[0] in attributes:
        target = classes[0]
    else:
        if CLASS in attributes:
            raise DataError(f"{name}: {names} has an attribute 'class' beside the classes. Rename it.")
        attributes = {**attributes, CLASS: classes}
    rows = list(_rows(name, path, len(attributes), names.name))
    if not rows:
        raise DataError(f"{name}: {path} has no rows.")
    cells = zip(*(row for _, row in rows), strict=True)
    lines = [line for line, _ in rows]
    columns = [
        _column(file, names.name, lines, column, declared, texts)
        for (column, declared), texts in zip(attributes.items(), cells, strict=True)
    ]
    return Loaded(columns, target, frozenset(c for c, declared in attributes.items() if declared in (_IGNORE, _LABEL)))


def read_names(name: str, path: Path) -> tuple[list[str], dict[str, str | list[str]]]:
    """Return the classes, and for each attribute ``continuous``, ``discrete``, ``ignore``, ``label`` or its labels.

    Raises `DataError` if the file is not in C4.5's format.
    """
    entries, where = list(_entries(name, path)), f"{name}: {path}"
    if not entries or _COLON.search(entries[0][1]):
        raise _prose(where, entries[0][0] if entries else 1)
    classes, attributes = _labels(entries[0][1]), {}
    for line, entry in entries[1:]:
        head, *kind = _COLON.split(entry, maxsplit=1)
        column = _plain(head)
        if not kind or not column or len(column.split()) > _MOST_WORDS:
            raise _prose(where, line)
        if column in attributes:
            raise DataError(f"{where}, line {line}: attribute {column!r} occurs twice. Rename one of them.")
        attributes[column] = _kind(where, line, kind[0].strip())
    if not attributes or any(len(label.split()) > _MOST_WORDS for label in classes):
        raise _prose(where, entries[0][0])
    return classes, attributes


def _kind(where: str, line: int, text: str) -> str | list[str]:
    word, *rest = text.split() or [""]
    if word.startswith("=") or word in ("date", "time", "timestamp"):
        raise DataError(f"{where}, line {line}: {text!r} is not supported. Declare it as ignore.")
    if word == _DISCRETE and len(rest) == 1 and rest[0].isdecimal():
        return _DISCRETE
    if word in (_CONTINUOUS, _IGNORE, _LABEL) and not rest:
        return word
    labels = _labels(text.removeprefix("[ordered]"))
    if len(labels) < 2:
        raise _prose(where, line)
    return labels


def _entries(name: str, path: Path) -> Iterator[tuple[int, str]]:
    """Yield the entries of a .names file with the numbers of their lines; a full stop or a line ends an entry."""
    with opened_text(name, path) as lines:
        pending, since = "", 1
        for number, line in enumerate(lines, 1):
            text = _COMMENT.sub("", line).rstrip()
            if not text:
                continue
            since = since if pending else number
            pending = f"{pending} {text}".strip()
            if pending.endswith((",", ":")):
                continue  # a list goes on in the next line
            for part in filter(str.strip, _ENTRY_END.split(pending)):
                yield since, part.strip()
            pending = ""
        if pending:
            yield since, pending


def _labels(text: str) -> list[str]:
    return [label for label in map(_plain, _COMMA.split(text)) if label]


def _plain(text: str) -> str:
    """Return a name without escapes, its blanks single."""
    return _ESCAPED.sub(r"\1", " ".join(text.split()))


def _prose(where: str, line: int) -> DataError:
    return DataError(
        f"{where} is not in C4.5's format (line {line}): the classes, then a line 'attribute: continuous', "
        "'discrete <n>', 'ignore' or its labels for each column. If it is prose, as many of UCI's, set header: none; "
        "the columns are then x0, x1, ..."
    )


def _rows(name: str, path: Path, width: int, declaring: str) -> Iterator[tuple[int, list[str]]]:
    with opened_text(name, path) as lines:
        for number, line in enumerate(lines, 1):
            text = _COMMENT.sub("", line).strip()
            if not text:
                continue
            cells = _COMMA.split(text)
            cells[-1] = cells[-1].removesuffix(".") if cells[-1].strip() != "." else cells[-1]
            if len(cells) != width:
                raise DataError(
                    f"{name}: {path}, line {number} has {len(cells)} cells, but {declaring} declares {width} "
                    "columns, the class included. Mend one of the two."
                )
            yield number, [_plain(cell) for cell in cells]


def _column(
    file: TableFile, declaring: str, lines: list[int], column: str, declared: str | list[str], texts: tuple[str, ...]
) -> Column:
    where, missing = f"{file.name}: {file.path}", file.markers.texts(("?",))
    if declared == _CONTINUOUS:
        return continuous_column(where, column, lines, texts, file.markers)
    if isinstance(declared, str):
        return label_column(where, column, lines, texts, missing=missing)
    listed = ", ".join(declared[:_SHOWN]) + (", ..." if len(declared) > _SHOWN else "")
    as_declared = f"{declaring} declares {listed}"
    return label_column(where, column, lines, texts, {*declared}, as_declared, missing)
