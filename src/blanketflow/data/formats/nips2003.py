"""The files of the NIPS 2003 challenge: rows in ``x_train.data``, labels in ``x_train.labels``, shape in ``x.param``.

A row lists its cells that are not zero, as indices from 1 or as ``index:value``, or all its cells.
"""

from __future__ import annotations

import re
from array import array
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError
from ..bundled import TARGET
from ..raw import check_width
from ..text_file import opened_text
from .loaded import Loaded, as_whole, matrix_columns, number_column, shown

_PART = re.compile(r"_(train|valid|test)$")
_FACT = re.compile(r"^\s*(Data type|Number of features)\s*:\s*(.+?)\s*$", re.IGNORECASE)


def param_file(path: Path) -> Path:
    """Return where the .param file of a .data file is: its name has no ``_train``, ``_valid`` or ``_test``."""
    return path.with_name(_PART.sub("", _stem(path)) + ".param")


def labels_file(path: Path) -> Path:
    """Return where the labels of a .data file are."""
    return path.with_name(_stem(path) + ".labels")


def read_nips2003(name: str, path: Path) -> Loaded:
    """Return the columns of a .data file: features ``f1``, ``f2``, ..., sparse unless all cells are listed.

    Raises
    ------
    DataError
        If a companion is missing, a line is malformed, or the files disagree; the message names the line.
    """
    labels, param = labels_file(path), param_file(path)
    y = _labels(name, path, labels)
    form, width = _param(name, param)
    rows = _Rows(name, path, param, form, width)
    X = rows.read()
    if X.shape[0] != len(y):
        raise DataError(f"{name}: {path} has {X.shape[0]} rows, but {labels} has {len(y)} labels.")
    names = [f"f{j}" for j in range(1, X.shape[1] + 1)]
    return Loaded(matrix_columns(X, names, [number_column(TARGET, y)]), TARGET)


class _Rows:
    """Reads the lines of a .data file, whose kind the first of them tells where no .param file does."""

    def __init__(self, name: str, path: Path, param: Path, form: str | None, width: int | None) -> None:
        self.name, self.path, self.param, self.form, self.width = name, path, param, form, width

    def read(self) -> Any:
        from scipy.sparse import csr_matrix

        indices, values, starts = array("q"), array("d"), array("q", [0])
        with opened_text(self.name, self.path) as lines:
            for number, line in enumerate(lines, 1):
                words = line.split()
                if self.form is None and words:
                    self.form = "pairs" if ":" in words[0] else None
                    if self.form is None:
                        raise DataError(
                            f"{self.name}: {self.path} does not tell its kind and there is no {self.param}. It states "
                            "'Data type:' and 'Number of features:'."
                        )
                try:
                    self._add(words, indices, values)
                except (ValueError, OverflowError) as error:
                    raise self._wrong(number, f"{shown(line)} holds no {self._wanted()}.") from error
                self._check(number, indices[starts[-1] :])
                starts.append(len(indices))
        if len(starts) == 1:
            raise DataError(f"{self.name}: {self.path} has no rows.")
        if self.form == "cells":
            return np.array(values).reshape(len(starts) - 1, -1)
        width = self.width or max(indices, default=0)
        check_width(f"{self.name}: {self.path}", width, len(indices))
        X = csr_matrix((np.array(values), np.array(indices) - 1, np.array(starts)), shape=(len(starts) - 1, width))
        X.data = as_whole(X.data)
        return X

    def _add(self, words: list[str], indices: array, values: array) -> None:
        if self.form == "pairs":
            for word in words:
                at, colon, value = word.partition(":")
                if not colon:
                    raise ValueError
                indices.append(int(at))
                values.append(float(value))
        elif self.form == "indices":
            indices.extend(map(int, words))
            values.extend([1.0] * len(words))
        else:
            indices.extend(range(1, len(words) + 1))
            values.extend(map(float, words))

    def _check(self, number: int, at: array) -> None:
        if self.form == "cells":
            self.width = self.width or len(at)
            if len(at) != self.width:
                raise self._wrong(number, f"it has {len(at)} cells instead of {self.width}.")
        elif len(at):
            ordered = np.array(at)
            if ordered.min() < 1:
                raise self._wrong(number, f"index {ordered.min()}. Indices count from 1.")
            if len(np.unique(ordered)) < len(ordered):
                raise self._wrong(number, "an index occurs twice.")
            if self.width and ordered.max() > self.width:
                raise self._wrong(number, f"index {ordered.max()}, but {self.param} states {self.width} features.")

    def _wanted(self) -> str:
        return {"pairs": "pairs index:value", "indices": "indices"}.get(str(self.form), "numbers")

    def _wrong(self, number: int, what: str) -> DataError:
        return DataError(f"{self.name}: {self.path}, line {number}: {what}")


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
    """Return the kind of the rows and the number of features; None for what is not known."""
    if not param.is_file():
        return None, None
    with opened_text(name, param) as lines:
        facts = {found[1].lower(): found[2].lower() for line in lines if (found := _FACT.match(line))}
    kind, width = facts.get("data type", ""), facts.get("number of features", "")
    form = {"sparse-integer": "pairs", "sparse-binary": "indices", "sparse-real": "pairs"}.get(kind)
    form = form or ("cells" if kind in ("non-sparse", "dense") else None)
    if form is None or not re.fullmatch("0*[1-9][0-9]{0,14}", width):
        raise DataError(
            f"{name}: {param} must state 'Data type: sparse-integer', 'sparse-binary' or 'non-sparse' and 'Number of "
            "features: <n>'."
        )
    return form, int(width)


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".data")
