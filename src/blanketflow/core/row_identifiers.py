"""Whether whole numbers number or name the rows of a table, such as an id: they tell nothing of other rows."""

from __future__ import annotations

import re

import numpy as np

from .cards import BOOLEAN, CATEGORICAL
from .table import Column

#: Words in names: ``patient_id`` and ``PatientID`` contain the word `id`, ``humid`` does not.
ID_WORDS = {"id", "ids", "uid", "uuid", "guid", "key", "index", "idx", "row", "rowid", "rownames", "identifier"}
ROW_NUMBER, IDENTIFIER = "row-number", "identifier"
#: The fewest values from which anything is concluded.
FEWEST = 10
_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def tokens(name: str) -> set[str]:
    """Return the words of a name, in lower case.

    Examples
    --------
    >>> sorted(tokens("PatientID_2"))
    ['2', 'id', 'patient']
    """
    return {token.lower() for token in _TOKEN.findall(name)}


def identifier_kind(column: Column) -> str:
    """Return ``row-number`` or ``identifier`` where a column of numbers may be one; else nothing.

    Examples
    --------
    >>> identifier_kind(Column("row", "integer", np.arange(1, 31)))
    'row-number'
    """
    if column.kind in (BOOLEAN, CATEGORICAL):
        return ""
    present = column.numbers()
    present = present[~np.isnan(present)]
    n = len(present)
    if n < FEWEST or not np.array_equal(present, np.round(present)):
        return ""
    steps, values = np.diff(present), np.unique(present)
    if abs(steps[0]) == 1 and (steps == steps[0]).all():
        return ROW_NUMBER
    is_dense_or_ascends = values[-1] - values[0] < 3 * n or bool(np.all(steps > 0))
    if len(values) == n >= 2 * FEWEST and is_dense_or_ascends:
        return IDENTIFIER
    is_named_so = len(values) >= max(2 * FEWEST, 0.9 * n) and bool(tokens(column.name) & ID_WORDS)
    return IDENTIFIER if is_named_so else ""
