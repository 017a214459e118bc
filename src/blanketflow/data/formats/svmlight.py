"""svmlight and LIBSVM files, read by scikit-learn; what is wrong in which line is found here, since it does not say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ...core.cards import INTEGER
from ...core.errors import DataError
from ...core.table import Column
from ..bundled import TARGET
from ..column_roles import check_width
from ..columns import number_column
from ..input_file import opened, opened_text
from .loaded import Loaded, TableFile, is_number, matrix_columns

#: The column of query numbers, where a file of rankings has them.
QUERY = "qid"
_PAIR = re.compile(r"(\d+):(\S+)").fullmatch


def read_svmlight(file: TableFile) -> Loaded:
    """Return the columns of an svmlight file, gzipped or not: sparse features, and the label as ``target``.

    Features are named by their indices, ``f1`` to the highest that occurs. Query numbers are the column ``qid``, which
    is no feature but can serve as `groups`. Raises `DataError` if a line is malformed, has several labels, or its
    indices do not ascend from 1.
    """
    from sklearn.datasets import load_svmlight_file

    name, path = file.name, file.path
    try:
        with opened(name, path) as raw:
            X, y, queries = load_svmlight_file(raw, zero_based=False, query_id=True)
    except (ValueError, OverflowError, MemoryError) as error:
        if isinstance(error, (DataError, UnicodeDecodeError)):
            raise
        raise DataError(f"{name}: {path}{_what_is_wrong(name, path) or f': {error}.'}") from error
    if not X.shape[0]:
        raise DataError(f"{name}: {path} has no rows.")
    check_width(f"{name}: {path}", X.shape[1], X.nnz)
    more = [number_column(TARGET, y)]
    if len(queries):
        if len(queries) != len(y):
            raise DataError(f"{name}: {path} has {len(y)} rows, of which {len(queries)} have a qid. Give it to all.")
        more.insert(0, Column(QUERY, INTEGER, np.asarray(queries, dtype=np.int64)))
    names = [f"f{j}" for j in range(1, X.shape[1] + 1)]
    return Loaded(matrix_columns(X, names, more), TARGET, frozenset([QUERY] if len(queries) else []))


def _what_is_wrong(name: str, path: Path) -> str | None:
    """Say what is wrong in which line, which scikit-learn does not; None if nothing is found."""
    with opened_text(name, path) as lines:
        for number, line in enumerate(lines, 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            where, last = f", line {number}: ", 0
            if "," in words[0] or _PAIR(words[0]):
                return f"{where}the labels {words[0]!r} are not one number. Several labels per row are not supported."
            if not is_number(words[0]):
                return f"{where}the label {words[0]!r} is not a number. Write a number for each class."
            for word in words[1:]:
                if word.startswith("qid:"):
                    continue
                pair = _PAIR(word)
                if pair is None or not is_number(pair[2]):
                    return f"{where}{word!r} is not a pair index:value."
                at = int(pair[1])
                if at == 0:
                    return f"{where}index 0. Indices count from 1: add 1 to all of them."
                if at <= last:
                    return f"{where}index {at} comes after {last}. Indices must ascend: sort the line."
                if at > np.iinfo(np.int32).max:
                    return f"{where}index {at} is too large."
                last = at
    return None
