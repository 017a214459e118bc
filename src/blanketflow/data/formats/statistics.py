"""Files of Stata, SPSS and SAS, read by pyreadstat: value labels become categories."""

from __future__ import annotations

import codecs
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.cards import NUMERIC
from ...core.printable import printable
from ...core.table import Column, categorical
from ..columns import number_column
from ..input_file import Unpacking
from .loaded import Loaded, TableFile, columns_of

#: The functions of pyreadstat that read each format.
_READERS = {"stata": "read_dta", "spss": "read_sav", "sas": "read_sas7bdat", "xport": "read_xport"}


def read_statistics(file: TableFile) -> Loaded:
    """Return the columns of a file of Stata, SPSS or SAS.

    A column is categorical if all of its values have labels. Values that SPSS declares as missing are missing, and so
    are empty texts. Raises `DataError` if the file states more cells than fit into memory, or has dates and the spec
    does not say what to do; and what pyreadstat raises.
    """
    import pyreadstat

    name, path, spec = file.name, file.path, file.spec
    read, encoding = getattr(pyreadstat, _READERS[file.kind]), spec.get("encoding")
    encoding = encoding and codecs.lookup(encoding).name.upper()  # iconv does not know all of Python's names
    _, stated = read(str(path), metadataonly=True, encoding=encoding)
    widths = (stated.variable_storage_width or {}).values()
    Unpacking(name, path).add((stated.number_rows or 0) * max(sum(widths), 8 * stated.number_columns))
    frame, _ = read(str(path), encoding=encoding)
    notes: list[str] = []
    labels = stated.variable_value_labels
    columns = [labelled(column, labels.get(column.name, {}), notes) for column in columns_of(file, frame)]
    return Loaded(columns, notes=tuple(notes))


def labelled(column: Column, labels: Mapping[Any, str], notes: list[str]) -> Column:
    """Return a column with labels for its values, if all have one; and whole numbers as such."""
    if column.levels:
        cells = [column.levels[code] if code >= 0 else None for code in column.values.tolist()]
        return categorical(column.name, np.array([labels.get(cell, cell) or None for cell in cells], dtype=object))
    values = column.numbers()
    known = [value for value in np.unique(values).tolist() if not math.isnan(value)]
    named = {float(value): str(label).strip() for value, label in labels.items() if isinstance(value, int | float)}
    if known and all(named.get(value) for value in known) and len({named[value] for value in known}) == len(known):
        return categorical(column.name, np.array([named.get(value) for value in values.tolist()], dtype=object))
    some = [value for value in known if named.get(value)]
    if some:
        such = f"{some[0]:g} is {printable(named[some[0]])!r}"
        notes.append(f"{column.name!r} is read as numbers, since only some of its values have labels: {such}")
    return number_column(column.name, values) if column.kind == NUMERIC else column
