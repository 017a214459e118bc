"""The levels of categorical columns: a column of codes and labels, and the levels that occur."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .cards import CATEGORICAL
from .table import Column, Table, sort_labels
from .wide_columns import WideColumns

#: Numbers with at most this many different values are taken as levels: they are not binned, nor imputed by residuals.
FEW_VALUES = 10


def column_of_codes(name: str, codes: np.ndarray, labels: Sequence[str | None]) -> Column:
    """Make a categorical column from positions in `labels`, which may repeat and need not all occur.

    A cell is missing where its code is -1 or its label None.

    >>> column_of_codes("a", np.array([0, 1, 2, -1]), ["b", None, "a"]).values
    array([ 1, -1,  0, -1], dtype=int32)
    """
    levels = sort_labels({label for label in labels if label is not None})
    place = {level: code for code, level in enumerate(levels)}
    lookup = np.array([place.get(label, -1) for label in labels] + [-1], dtype=np.int32)
    return Column(name, CATEGORICAL, lookup[codes], tuple(levels))  # code -1 finds the last entry


def used_levels(column: Column) -> Column:
    """Return a categorical column with the levels that occur, sorted; any other column as it is."""
    if column.kind != CATEGORICAL:
        return column
    present = np.flatnonzero(np.bincount(column.values[column.values >= 0], minlength=len(column.levels)))
    if sort_labels([column.levels[code] for code in present]) == [*column.levels]:
        return column
    occurring = set(present.tolist())
    labels = [level if code in occurring else None for code, level in enumerate(column.levels)]
    return column_of_codes(column.name, column.values, labels)


def with_used_levels(table: Table) -> Table:
    """Return a table with only those levels of its categorical columns that occur."""
    if isinstance(table.columns, WideColumns):
        return table
    return Table([used_levels(column) for column in table.columns], table.design)
