"""Cells that may stand for missing ones though they are read as values: numbers apart, marks, and dates that are none.

A number is suspected where it stands at an end of its column, is repeated, and is apart from the others; a known code
such as 99 is also where other columns have it, where it is far more frequent than its neighbours, or where the numbers
before it lie much closer to each other than to it.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL
from ..core.column import MatrixColumns, SparseColumns, WideColumns
from ..core.column_checks import declared_labels
from ..core.convert import MOST_WHOLE
from ..core.errors import SuspectedCellsWarning
from ..core.table import Column, SparseValues, Table
from .columns_of_text import is_number as is_plain_number
from .dressed_numbers import at_limits
from .missing_markers import Suspects, by_text

#: Texts that no label is.
SIGNS = frozenset({"-", "--", "---", ".", "..", "*", "#DIV/0!", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#NAME?"})
#: Words that among numbers may be missing cells, or a number.
WORDS = frozenset({"nil", "none", "x"})
#: Texts, in lower case, that among numbers are missing cells.
SURE = frozenset(
    {".", "..", "#div/0!", "#null!", "#num!", "#ref!", "#value!", "#name?", "#n/a", "na", "n.a.", "n.a", "n/a", "nan"}
    | {"nd", "n.d.", "n.d", "n/d", "null", "missing", "unknown", "unk", "not available", "not applicable", "not done"}
    | {
        "not determined",
        "not measured",
        "not recorded",
        "not known",
        "k.a.",
        "k. a.",
        "s.d.",
        "n.v.t.",
        "1.#ind",
        "-1.#ind",
        "1.#qnan",
        "-1.#qnan",
    }
)
#: Columns that are looked at, and rows of each.
_MOST_COLUMNS, _MOST_ROWS = 1_000, 1_000_000
#: The fewest cells with such a number, and of other numbers in a column.
_FEWEST_CELLS, _FEWEST_OTHERS = 2, 3
#: The same of a number that is no usual code.
_OWN_CELLS, _OWN_OTHERS = 3, 10
#: A column has no more codes at one end.
_MOST_CODES = 5
#: A code that is not far from the others has so many times the cells of the next number, and is so far of their range.
_SPIKE, _NEAR = 5, 0.1
#: Or the gap is so many times as wide as those among so many of the nearest whole numbers, half of all at most.
_LONE, _NEXT = 5, 10
#: Whole numbers in such a range are counted rather than sorted.
_MOST_COUNTED = 2**16
#: Answers with so many cells are not the thin end of counts.
_NO_TAIL = 10
_ODD_DATE = re.compile(
    r"(0001-01-01|1753-01-01|1899-12-3[01]|190[01]-01-01|1970-01-01|2099-12-31|2999-12-31|9999-(12-31|01-01))"
    r"([T ]00:00(:00(\.0*)?)?)?"
    r"|0?1[-./]0?1[-./](1900|1901|1753)|(31[-./]12|12[-./]31)[-./](9999|2999|2099)|30[-./]12[-./]1899"
).fullmatch
_YEAR = re.compile(r"(?:\d{1,2}[-/.]\d{1,2}[-/.](\d{4})|(\d{4})[-/.]\d{1,2}[-/.]\d{1,2})(?:[T ]\d.*)?").fullmatch


def is_sure(text: str) -> bool:
    """Return whether a text among numbers means a missing cell."""
    return text.lower() in SURE


def suspects_of(columns: Sequence[Column], apart: Collection[str] = (), most_rows: int = _MOST_ROWS) -> Suspects:
    """Return which cells of a table may be missing, as `suspected_cells` does, but for some columns."""
    if isinstance(columns, SparseColumns):
        columns = columns.more
    elif isinstance(columns, MatrixColumns) and not (apart or columns.more) and len(columns) <= _MOST_COLUMNS:
        return _suspected_in_matrix(columns, most_rows)
    return suspected_cells([one for one in columns[:_MOST_COLUMNS] if one.name not in apart], most_rows)


def _suspected_in_matrix(columns: MatrixColumns, most_rows: int) -> Suspects:
    """Return the same of a matrix of numbers, of which most columns end in no code."""
    rows = columns.matrix[:: -(-len(columns.matrix) // most_rows) or 1]
    if columns.kind == BOOLEAN or not rows.size:
        return Suspects()
    low, high = rows.min(axis=0), rows.max(axis=0)
    if not np.isfinite(low).all() or not np.isfinite(high).all():
        return suspected_cells(columns, most_rows)
    ends = [*zip(low.tolist(), high.tolist(), strict=True)]
    codes = {value for value in {*chain(*ends)} if _is_code(value)}  # the columns of most matrices share their ends
    end_in_code = [at for at, (least, most) in enumerate(ends) if most in codes or (least < 0 and least in codes)]
    others = np.delete(low, end_in_code)
    seen = [columns[at] for at in end_in_code]
    return suspected_cells(seen, most_rows, len(others), int(np.count_nonzero(others < 0)), columns)


def suspected_cells(
    columns: Sequence[Column],
    most_rows: int = _MOST_ROWS,
    n_others: int = 0,
    n_negative: int = 0,
    whole: Iterable[Column] | None = None,
) -> Suspects:
    """Return which cells may be missing. In more than `most_rows` rows codes are looked for in equally spaced ones.

    Beside these `columns` of a `whole` table there may be `n_others` of numbers, `n_negative` of them with some below
    zero, that are known to end in no code.

    >>> co = Column("co", "numeric", np.array([*np.arange(0.5, 10, 0.5), -200.0, -200.0, -200.0]))
    >>> suspected_cells([co]).cells
    {'co': {'-200': 3}}
    """
    cells: dict[str, dict[str, int]] = {}
    seen: dict[str, _Codes] = {}
    n_numbers = n_others
    for column in columns:
        if column.kind == CATEGORICAL:
            cells |= {column.name: held} if (held := _among_labels(column)) else {}
        elif column.kind != BOOLEAN and not isinstance(column.values, SparseValues):
            found, is_negative = _codes_of(column, most_rows)
            seen |= {column.name: found} if found else {}
            n_negative += is_negative
            n_numbers += 1
    small = [code for found in seen.values() for code in found.apart if -10 < code < 0]
    if 3 * (n_negative - len(small)) > n_numbers:  # numbers below zero are usual in this table
        for found in seen.values():
            found.apart.difference_update(small)
    n_apart = Counter(code for found in seen.values() for code in found.apart)
    n_digits = Counter(code for found in seen.values() for code in found.near if abs(code) < 10)
    for name, found in seen.items():
        codes = [c for c in found.counts if c in found.apart or (c in found.near and (n_apart[c] or n_digits[c] > 2))]
        if codes:
            cells[name] = {f"{code:.0f}": found.counts[code] for code in codes}
    return Suspects(cells, _held_elsewhere(cells, columns if whole is None else whole))


def _held_elsewhere(cells: Mapping[str, Mapping[str, int]], columns: Iterable[Column]) -> frozenset[str]:
    """Return the suspected numbers that are values of other columns."""
    numbers = {text for held in cells.values() for text in held if text.lstrip("-").isdigit()}
    found: set[str] = set()
    for column in columns if numbers else ():
        if column.kind in (BOOLEAN, CATEGORICAL) or isinstance(column.values, SparseValues):
            continue
        left = np.array(sorted(map(float, numbers - found - cells.get(column.name, {}).keys())))
        if len(left):
            found |= {f"{value:.0f}" for value in left[np.isin(left, column.values)].tolist()}
    return frozenset(found)


def _among_labels(column: Column) -> dict[str, int]:
    """Return the labels that may mean missing cells: marks, words if all others are numbers, and odd dates."""
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels)).tolist()
    levels = [level for level, n in zip(column.levels, counts, strict=True) if n]
    some = levels[:_FEWEST_OTHERS]
    suspects = [level for level in levels if level in SIGNS and (level != "-" or "+" not in levels)]
    if any(map(is_plain_number, some)):
        others = [level for level in levels if not is_plain_number(level)]
        if len(levels) - len(others) >= _FEWEST_OTHERS:
            are_words = all(level in SIGNS or level.lower() in WORDS | SURE for level in others)
            suspects = others if are_words else suspects
    elif sum(_YEAR(level) is not None for level in some) >= min(len(some), 2):
        suspects += _odd_dates(levels)
    if len(suspects) == len(levels):
        return {}
    of_level = dict(zip(column.levels, counts, strict=True))
    return {level: of_level[level] for level in suspects}


def _odd_dates(levels: Sequence[str]) -> list[str]:
    """Return the usual dates of no event that lie far from the others."""
    odd = [level for level in levels if _ODD_DATE(level)]
    years = {level: int(match[1] or match[2]) for level in levels if (match := _YEAR(level))} if odd else {}
    others = [year for level, year in years.items() if level not in odd]
    if len(others) < _FEWEST_OTHERS:
        return []
    low, high = min(others), max(others)
    far = max(high - low, 1)
    return [level for level in odd if level in years and (low - years[level] > far or years[level] - high > far)]


class _Codes(NamedTuple):
    """The numbers at the ends of a column that may be codes: their cells, those apart from all others, and others."""

    counts: dict[float, int]
    apart: set[float]
    near: set[float]


def _codes_of(column: Column, most_rows: int) -> tuple[_Codes | None, bool]:
    """Return the possible codes of a column of numbers, None without any; and whether some are below zero."""
    values = np.asarray(column.values)
    values = values[:: -(-len(values) // most_rows) or 1]
    with np.errstate(over="ignore", invalid="ignore"):
        has_gaps = values.dtype.kind == "f" and not np.isfinite(values.sum())
    values = values[np.isfinite(values)] if has_gaps else values
    if not len(values):
        return None, False
    low, high = values.min().item(), values.max().item()
    if not (_is_code(high) or (low < 0 and _is_code(low))):
        return None, low < 0
    distinct, counts = _counted(values, low, high)
    apart, near = set(), set()
    for is_low in (True, False):
        u, c = (distinct, counts) if is_low else (-distinct[::-1].astype(np.float64), counts[::-1])
        most = min(_MOST_CODES, len(u) - _FEWEST_OTHERS)
        sign = 1 if is_low else -1
        ends = [float(sign * v) for v in u[: max(most, 0)].tolist()]
        best = 0
        for n in range(1, len(ends) + 1):
            codes = ends[:n]
            if not all(map(_is_code, codes)) or min(c[:n]) < _FEWEST_CELLS or is_low != (codes[0] < 0):
                break
            if (far := _how_far(codes, u[n:] * sign, c[:n].tolist(), int(c[n]))) >= max(best, 1):
                best = far
                (apart if far > 1 else near).update(codes)
    found = {code: int(np.count_nonzero(column.values == code)) for code in sorted(apart | near)}
    return (_Codes(found, apart, near) if found else None), low < 0


def _counted(values: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values and their counts, of whole numbers in a small range without sorting them."""
    is_wide = high - low > _MOST_COUNTED or max(-low, high) >= MOST_WHOLE
    if is_wide or (values.dtype.kind == "f" and not np.array_equal(values, np.rint(values))):
        return np.unique(values, return_counts=True)
    counts = np.bincount(values.astype(np.int64) - int(low))
    distinct = np.flatnonzero(counts)
    return distinct + int(low), counts[distinct]


def _how_far(codes: list[float], others: np.ndarray, counts: list[int], n_next: int) -> int:
    """Return 2 if codes at one end of a column are apart from the `others`, 1 if only their names tell, else 0.

    `others` come from the one next to the codes on, which has `n_next` cells.
    """
    low, high = float(others.min()), float(others.max())
    spread, gap = high - low, abs(codes[-1] - float(others[0]))
    are_whole = bool((others == np.rint(others)).all())
    if not all(map(_is_usual, codes)):
        if len(codes) > 1 or counts[0] < _OWN_CELLS or len(others) < _OWN_OTHERS:
            return 0
        is_apart = (low >= 0 and codes[0] <= -10 and gap > _NEAR * spread) if codes[0] < 0 else gap > 3 * spread
        return 2 if is_apart else 0
    if codes[0] < 0:
        small = [code for code in codes if code > -10]
        if not small:
            return 2 if low >= 0 or gap > spread else int(gap > _NEAR * spread)
        has_room = low >= 0 and len(others) >= 5 and (high >= 5 or (not are_whole and len(others) >= _OWN_OTHERS))
        if has_room and (len(codes) == 1 or set(small) <= {-1, -7, -8, -9}):
            return 2
        return int(low >= 0 and codes in ([-1], [-9]))
    if codes[0] < 10:  # beside the answers 1 to 5, say
        if not are_whole or low not in (0, 1) or len(others) != spread + 1 or min(counts) < _OWN_CELLS:
            return 0
        return 2 if gap >= 3 and (sum(counts) >= n_next or n_next >= _NO_TAIL) else int(gap >= 2)
    if gap <= _NEAR * spread:
        return 0
    is_dense = are_whole and len(others) > 2 * _NEXT
    spacing = abs(float(others[_NEXT] - others[0])) / _NEXT if is_dense else np.inf
    is_plain = gap >= _LONE * spacing or min(counts) >= _SPIKE * n_next
    return 2 if gap > spread or (min(counts) >= _SPIKE and is_plain) else 1


def _is_code(value: float) -> bool:
    """Whether a number may be a code at all: a whole one, below zero, usual, or round."""
    if value != round(value):
        return False
    return value < 0 or _is_usual(value) or (value >= 100 and len(f"{value:.0f}".strip("0")) == 1)


def _is_usual(value: float) -> bool:
    """Whether a number is one of the usual codes, such as 9, 99, 997, 7777 and -1, -9, -999."""
    text = f"{abs(value):.0f}"
    if value < 0 and text == "1":
        return True
    return text[0] in "789" and (
        len(set(text)) == 1 or (len(text) > 1 and text[-1] in "78" and set(text[:-1]) == {"9"})
    )


# --- warnings of cells of tables in memory that may mean something else than they hold: what is found in files, too ---

#: Rows in which codes of missing cells are looked for, so that a search takes hardly longer.
_MOST_LOOKED_AT = 10_000
#: What was said of fits by scikit-learn, which Python would say again, since filters of warnings change meanwhile.
_TOLD: set[str] = set()
_MOST_TOLD = 1_000


def warn_of_cells(where: str, X: object, table: Table, target: Column | None = None, stacklevel: int = 2) -> set[str]:
    """Warn of cells that may be missing, and of those below and above detection; return their columns.

    Columns that the frame `X` declares as categories hold labels, and those of a `Table` are declared. `stacklevel` is
    as in `warnings.warn`, from the caller on. Of fits that scikit-learn makes, as in a cross-validation, each text is
    said once, which is why texts have no numbers of cells.
    """
    if isinstance(X, Table):
        return set()
    declared = declared_labels(X, table)
    suspected = suspects_of(table.columns, declared, _MOST_LOOKED_AT).cells
    if target is not None:
        suspected = {**suspected, **suspects_of([target], (), _MOST_LOOKED_AT).cells}
    said = []
    if suspected:
        said.append(
            f"cells may be missing: {', '.join(by_text(suspected, counted=False))}. If they are, put numpy.nan in "
            "their place; if they are values, ignore SuspectedCellsWarning."
        )
    singles = table.columns.more if isinstance(table.columns, WideColumns) else table.columns
    labels = [one for one in singles if one.kind == CATEGORICAL and one.name not in declared]
    limits = [*chain.from_iterable(at_limits(one, {*filter(is_sure, one.levels)}) for one in labels)]
    if limits:
        first, names = limits[0], {one.column for one in limits}
        more = f"; so do {len(names) - 1} more" if len(names) > 1 else ""
        said.append(
            f"column {first.column!r} holds numbers, and {first.texts}, {first.side} what was measured, and is read as "
            f"labels{more}. Put numbers in their place, such as {first.proposed_in_words}, and make the column "
            "numeric, as pandas.to_numeric does."
        )
    is_repeated = sys._getframe(stacklevel).f_globals.get("__name__", "").partition(".")[0] == "sklearn"
    for text in (f"{where}: {one}" for one in said):
        if not (is_repeated and text in _TOLD):
            warnings.warn(text, SuspectedCellsWarning, stacklevel=stacklevel + 1)
        if is_repeated and len(_TOLD) < _MOST_TOLD:
            _TOLD.add(text)
    return {*suspected, *(one.column for one in limits)}
