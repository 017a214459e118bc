"""The files of the NIPS 2003 challenge: rows in ``x_train.data``, labels in ``x_train.labels``, shape in ``x.param``.

A row lists its cells that are not zero, as indices from 1 or as ``index:value``, or all its cells.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError
from ..bundled import TARGET
from ..column_roles import check_width
from ..columns import as_whole, number_column
from ..input_file import opened_text
from .loaded import Loaded, TableFile, matrix_columns, shown

#: What a row lists, by the data type that the .param file states.
_FORMS = {
    **dict.fromkeys(("sparse-integer", "sparse-real"), "pairs index:value"),
    "sparse-binary": "indices",
    **dict.fromkeys(("non-sparse", "dense"), "numbers"),
}
_PART = re.compile(r"_(train|valid|test)$")
_FACT = re.compile(r"^\s*(Data type|Number of features)\s*:\s*(.+?)\s*$", re.IGNORECASE)


def param_file(path: Path) -> Path:
    """Return where the .param file of a .data file is: its name has no ``_train``, ``_valid`` or ``_test``."""
    return path.with_name(_PART.sub("", _stem(path)) + ".param")


def labels_file(path: Path) -> Path:
    """Return where the labels of a .data file are."""
    return path.with_name(_stem(path) + ".labels")


def companions(path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the files beside a .data file."""
    return [labels_file(path), param_file(path)]


def read_nips2003(file: TableFile) -> Loaded:
    """Return the columns of a .data file: features ``f1``, ``f2``, ..., sparse unless all cells are listed.

    Raises `DataError`, with the line, if a companion is missing, a line is malformed, or the files disagree.
    """
    name, path = file.name, file.path
    labels, param = companions(file.beside, file.spec)
    y = _labels(name, path, labels)
    form, width = _param(name, param)
    X = _rows(name, path, param, form, width)
    if X.shape[0] != len(y):
        raise DataError(f"{name}: {path} has {X.shape[0]} rows, but {labels} has {len(y)} labels.")
    names = [f"f{j}" for j in range(1, X.shape[1] + 1)]
    return Loaded(matrix_columns(X, names, [number_column(TARGET, y)]), TARGET)


def _rows(name: str, path: Path, param: Path, form: str | None, width: int | None) -> Any:
    """Return the matrix of a .data file, whose first row tells its kind where no .param file does."""
    from scipy.sparse import csr_matrix

    indices, values, starts = array("q"), array("d"), array("q", [0])
    with opened_text(name, path) as lines:
        for number, line in enumerate(lines, 1):
            words, where = line.split(), f"{name}: {path}, line {number}"
            if form is None and words:
                if ":" not in words[0]:
                    raise DataError(
                        f"{name}: {path} does not tell its kind and there is no {param}. It states 'Data type:' and "
                        "'Number of features:'."
                    )
                form = "pairs index:value"
            try:
                at, cells = _parsed(words, form)
                indices.extend(at)
            except (ValueError, OverflowError) as error:
                raise DataError(f"{where}: {shown(line)} holds no {form or 'numbers'}.") from error
            values.extend(cells)
            starts.append(len(values))
            if form == "numbers" and len(cells) != width:
                raise DataError(f"{where}: it has {len(cells)} cells instead of {width}.")
            if at:
                _check_indices(where, np.array(at), width, param)
    if len(starts) == 1:
        raise DataError(f"{name}: {path} has no rows.")
    if form == "numbers":
        return np.array(values).reshape(len(starts) - 1, -1)
    width = width or max(indices, default=0)
    check_width(f"{name}: {path}", width, len(indices))
    X = csr_matrix((np.array(values), np.array(indices) - 1, np.array(starts)), shape=(len(starts) - 1, width))
    X.data = as_whole(X.data)
    return X


def _parsed(words: list[str], form: str | None) -> tuple[list[int], list[float]]:
    """Return the indices, if there are any, and the values of a row, or raise ValueError."""
    if form == "indices":
        return [*map(int, words)], [1.0] * len(words)
    if form == "numbers":
        return [], [*map(float, words)]
    pairs = [word.partition(":") for word in words]
    return [int(at) for at, _, _ in pairs], [float(value) for _, _, value in pairs]


def _check_indices(where: str, at: np.ndarray, width: int | None, param: Path) -> None:
    if at.min() < 1:
        raise DataError(f"{where}: index {at.min()}. Indices count from 1.")
    if len(np.unique(at)) < len(at):
        raise DataError(f"{where}: an index occurs twice.")
    if width and at.max() > width:
        raise DataError(f"{where}: index {at.max()}, but {param} states {width} features.")


def _labels(name: str, path: Path, labels: Path) -> np.ndarray:
    if not labels.is_file():
        raise DataError(
            f"{name}: {path} has no labels: there is no file {labels}. Put it there; the unlabelled test parts of the "
            "challenge cannot be used."
        )
    found = []
    with opened_text(name, labels) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    found.append(float(line))
                except ValueError as error:
                    raise DataError(f"{name}: {labels}, line {number}: {shown(line)} is not a number.") from error
    return np.array(found)


def _param(name: str, param: Path) -> tuple[str | None, int | None]:
    """Return what a row lists and the number of features; None for what is not known."""
    if not param.is_file():
        return None, None
    with opened_text(name, param) as lines:
        facts = {found[1].lower(): found[2].lower() for line in lines if (found := _FACT.match(line))}
    kind, width = facts.get("data type", ""), facts.get("number of features", "")
    form = _FORMS.get(kind)
    if form is None or not re.fullmatch("0*[1-9][0-9]{0,14}", width):
        raise DataError(
            f"{name}: {param} must state 'Data type: sparse-integer', 'sparse-binary' or 'non-sparse' and 'Number of "
            "features: <n>'."
        )
    return form, int(width)


def _stem(path: Path) -> str:
    return path.name.removesuffix(".data")
