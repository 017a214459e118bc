"""Guesses from a column's values and name what it is: identifier, date, text, label, group."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...core.cards import BOOLEAN, CATEGORICAL, INTEGER
from ...core.number_texts import what_is_held
from ...core.row_identifiers import FEWEST, ID_WORDS, identifier_kind, tokens
from ...core.table import Column
from ...core.whole_numbers import MOST_WHOLE

GROUP_WORDS = {"patient", "subject", "participant", "person", "individual", "donor", "animal", "mouse", "family"}
GROUP_WORDS |= {"household", "group", "batch", "centre", "center", "site", "hospital", "plate", "cluster", "school"}
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ]\d{1,2}:\d{2}(:\d{2})?\S*)?"
    r"|\d{1,2}:\d{2}(:\d{2})?\S*"
)
#: The number of values examined to recognise dates and free text.
_SAMPLE = 100
#: Integers with at most this many distinct values may be codes of labels.
MOST_CODES = 10


@dataclass(frozen=True)
class ColumnSummary:
    """One column of a table.

    `values` is the range of the numbers, or the first labels. `looks_like` is ``row-number``, ``identifier``, ``date``,
    ``text``, ``number`` (text that is meant as numbers), ``large`` (integers whose last digits are lost), ``group``,
    ``code`` (integers that may be labels) or empty.
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    values: str
    looks_like: str = ""


def summarise(column: Column) -> ColumnSummary:
    """Return the summary of a column."""
    if column.kind == CATEGORICAL:
        levels = _levels(column)
        shown = ", ".join(levels[:4]) + (", ..." if len(levels) > 4 else "")
        missing, distinct = column.n_missing(), len(levels)
    else:
        present = column.numbers()
        present = present[~np.isnan(present)]
        values = np.unique(present)
        missing, distinct = column.n_rows - len(present), len(values)
        shown = f"{values[0]:.6g} .. {values[-1]:.6g}" if distinct else ""
    like = "number" if what_is_held(column) else looks_like(column)
    return ColumnSummary(column.name, column.kind, missing, distinct, shown, like)


def looks_like(column: Column) -> str:
    """Return what a column looks like, as `ColumnSummary` says it, but for text that is meant as numbers.

    Examples
    --------
    >>> looks_like(Column("row", "integer", np.arange(1, 31)))
    'row-number'
    """
    if column.kind == CATEGORICAL:
        return _text_looks_like(column.name, _levels(column), column.n_rows - column.n_missing())
    present = column.numbers()
    present = present[~np.isnan(present)]
    if column.kind == BOOLEAN or not len(present) or not np.array_equal(present, np.round(present)):
        return ""
    return _whole_looks_like(column, present, np.unique(present))


def _levels(column: Column) -> list[str]:
    """Return the labels that occur."""
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    return [column.levels[code] for code in np.flatnonzero(counts).tolist()]


def _text_looks_like(name: str, levels: list[str], n_present: int) -> str:
    sample = levels[:_SAMPLE]
    if len(levels) >= 3 and all(map(_DATE.fullmatch, sample)):
        return "date"
    if len(levels) >= FEWEST and np.mean([text.count(" ") >= 4 or len(text) > 60 for text in sample]) > 0.5:
        return "text"
    if len(levels) >= max(2 * FEWEST, 0.9 * n_present):
        return "identifier"
    return _group(name, len(levels), n_present)


def _whole_looks_like(column: Column, present: np.ndarray, values: np.ndarray) -> str:
    n = len(present)
    if max(-values[0], values[-1]) >= MOST_WHOLE:
        return "large"
    if told := identifier_kind(column):
        return told
    is_code = column.kind == INTEGER and 3 <= len(values) <= MOST_CODES and n >= 5 * len(values)
    return _group(column.name, len(values), n) or ("code" if is_code else "")


def _group(name: str, n_distinct: int, n_present: int) -> str:
    return "group" if tokens(name) & (ID_WORDS | GROUP_WORDS) and 2 < n_distinct <= n_present / 2 else ""
