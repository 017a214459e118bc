"""GCT files of GenePattern and the Connectivity Map: a row for each feature, a column for each sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError
from ...core.table import categorical
from ..columns_of_text import column_of_cells
from ..input_file import Unpacking, opened_text
from ..missing_markers import MissingMarkers
from .loaded import Loaded, TableFile, matrix_columns

#: Names of the columns with the samples' names and with their classes.
SAMPLE, CLASS = "sample", "class"
_CELL_BYTES = 8


def class_file(path: Path) -> Path:
    """Return the file with the classes of a file's samples."""
    return path.with_name(path.name.removesuffix(".gct") + ".cls")


def companions(path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the file with the classes."""
    return [class_file(path)]


def read_gct(file: TableFile) -> Loaded:
    """Return a row for each sample: its features, named by the first column, and what is known of the sample.

    The latter are its name, ``sample``; the annotations of samples of version 1.3; and its ``class``, if a .cls file
    with the same name is there. They are no features. Annotations of features are left out, which is said.

    Raises `DataError`, with the line, if the file is malformed.
    """
    name, path = file.name, file.path
    with opened_text(name, path, "\t") as text:
        lines = (line.rstrip("\r\n").split("\t") for line in text)
        version = next(lines)[0].strip()
        stated = [cell for cell in next(lines, []) if cell.strip()]
        wanted = 2 if version == "#1.2" else 4
        if len(stated) != wanted or not all(cell.strip().isdigit() for cell in stated):
            raise DataError(
                f"{name}: {path}, line 2 must be {wanted} numbers: of rows, of columns, .... Mend that line."
            )
        n_rows, n_samples, n_of_rows, n_of_samples = [*map(int, stated), 1, 0][:4]
        Unpacking(name, path).add(n_rows * n_samples * _CELL_BYTES)
        before = 1 + n_of_rows
        header = _row(file, 3, next(lines, []), before + n_samples)
        number, about = 4, {}
        for row in islice(lines, n_of_samples):
            row = _row(file, number, row, before + n_samples)
            about[row[0]], number = row[before:], number + 1
        features, cells = [], []
        for row in lines:
            if any(map(str.strip, row)):
                row = _row(file, number, row, before + n_samples)
                features.append(row[0])
                cells.append(_numbers(file, number, row[before:]))
            number += 1
    if len(features) != n_rows:
        raise DataError(f"{name}: {path} states {n_rows} rows, but has {len(features)}. Fetch or write it again.")
    if not features or not n_samples:
        raise DataError(f"{name}: {path} has no rows.")
    if n_of_rows:
        file.dialect.say(f"features in rows, which were turned; what is said of them ({header[1]!r}, ...) is left out")
    more = [categorical(SAMPLE, np.array(header[before:], dtype=object))]
    more += [column_of_cells(name, column, texts, file.markers) for column, texts in about.items()]
    if (classes := class_file(file.beside)).is_file():
        more.append(categorical(CLASS, np.array(_classes(name, classes, n_samples), dtype=object)))
    aside = frozenset(column.name for column in more if column.name != CLASS)
    target = CLASS if more[-1].name == CLASS else None
    return Loaded(matrix_columns(np.array(cells).T, features, more), target, aside)


def _row(file: TableFile, number: int, row: Sequence[str], width: int) -> list[str]:
    row = [cell.strip() for cell in row]
    while len(row) > width and not row[-1]:
        row = row[:-1]
    if len(row) != width:
        raise DataError(
            f"{file.name}: {file.path}, line {number} has {len(row)} cells, but line 2 states {width}. Mend that line."
        )
    return row


def _numbers(file: TableFile, number: int, texts: Sequence[str]) -> np.ndarray:
    missing = MissingMarkers().texts()
    try:
        return np.array([np.nan if text in missing else float(text) for text in texts])
    except ValueError as error:
        raise DataError(f"{file.name}: {file.path}, line {number}: {error}. Mend that line.") from error


def _classes(name: str, path: Path, n_samples: int) -> list[str]:
    """Return the classes of a .cls file: names in its second line, and for each sample one or its number."""
    with opened_text(name, path, " ") as text:
        lines = [line.split() for line in text if line.strip()]
    if len(lines) != 3:
        raise DataError(f"{name}: {path} has {len(lines)} lines, but must have 3: counts, names of classes, classes.")
    names, codes = " ".join(lines[1]).removeprefix("#").split(), lines[2]
    if len(codes) != n_samples:
        raise DataError(f"{name}: {path} has classes of {len(codes)} samples, but the table has {n_samples} of them.")
    are_numbers = all(code.isdigit() and int(code) < len(names) for code in codes)
    return [names[int(code)] for code in codes] if are_numbers else codes
