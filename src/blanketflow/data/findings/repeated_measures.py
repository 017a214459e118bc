"""Columns that may say which rows belong together, by names and by how alike the rows of one value are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...core.cards import BOOLEAN, CATEGORICAL, INTEGER
from ...core.column_checks import ID_WORDS, tokens
from ...core.table import Column

#: Words of names that tell who or where rows come from. One row in ten at most has a place of its own.
WHO = {"patient", "subject", "participant", "person", "individual", "donor", "animal", "mouse", "family", "household"}
WHERE = {"batch", "centre", "center", "site", "hospital", "clinic", "plate", "cluster", "school", "group", "ward"}
#: Words of measures and attributes, such as `family_size`, `mouse_strain` and `schooling years`.
_MEASURES = {"age", "ages", "year", "years", "month", "months", "day", "days", "count", "counts", "number", "num", "n"}
_MEASURES |= {"size", "length", "score", "rate", "ratio", "share", "percent", "total", "mean", "weight", "height"}
_MEASURES |= {"history", "type", "kind", "class", "strain", "status", "sex", "blood", "ethnic", "income", "distance"}
#: Words of occasions: a column of them may number the rows of one patient.
_OCCASIONS = {"year", "years", "visit", "wave", "time", "date", "month", "week", "day", "session", "round", "timepoint"}
_OCCASIONS |= {"quarter", "period", "occasion", "followup", "hour", "hours", "hr", "hrs", "minute", "minutes"}
#: Words of numbers that stand for something.
_CODES = ID_WORDS | WHO | WHERE | {"code", "nr"}
#: The fewest values of a group that is found by its rows, rows of each on average, and columns that are alike in it.
_FEWEST_VALUES, _FEWEST_ROWS, _FEWEST_ALIKE = 10, 2, 2
#: A word such as `group` is also the name of a treatment, which has few values.
_MOST_TREATMENTS = 9
#: Rows and measures that are looked at.
_MOST_ROWS, _MOST_MEASURES = 20_000, 20
#: Pairs of a group and an occasion that would be equal by chance, of which there is none where rows are occasions.
_EQUAL_BY_CHANCE = 10.0


def named_group(name: str, n_distinct: int, n_present: int) -> bool:
    """Return whether a column of labels or whole numbers is named as one that says which rows belong together.

    Examples
    --------
    >>> named_group("patient id", 190, 333), named_group("family_size", 5, 333), named_group("blood group", 4, 333)
    (True, False, False)
    """
    words = tokens(name)
    if n_distinct <= 2 or words & _MEASURES:
        return False
    if words & (ID_WORDS | WHO):
        return n_distinct <= 0.9 * n_present
    fewest = _MOST_TREATMENTS if "group" in words else 2
    return bool(words & WHERE) and fewest < n_distinct <= n_present / 2


def groups_by_rows(columns: Sequence[Column]) -> list[str]:
    """Return the columns within whose values rows are alike, or that have one row for each year, visit and so on.

    At least `_FEWEST_ALIKE` and half of the numbers with many values are constant within the values of such a column.
    Of columns that divide the rows alike, such as a town and its number of inhabitants, numbers are left out after the
    first column unless they are named as codes.
    """
    columns = [column.take(np.arange(min(column.n_rows, _MOST_ROWS))) for column in columns]
    measures = [column.numbers() for column in columns if column.kind != CATEGORICAL]
    measures = [values for values in measures if len(np.unique(values)) >= _FEWEST_VALUES][:_MOST_MEASURES]
    occasions = [column for column in columns if tokens(column.name) & _OCCASIONS]
    found, divisions = [], set[bytes]()
    for column, codes, n_values in _candidates(columns):
        division = np.unique(codes, return_index=True)[1][codes].tobytes()
        is_number = column.kind != CATEGORICAL and not tokens(column.name) & _CODES
        if is_number and division in divisions:
            continue
        divisions.add(division)
        others = [values for values in measures if not _is_same(values, column)]
        if _are_alike(others, codes) or any(_is_panel(codes, n_values, other) for other in occasions):
            found.append(column.name)
    return found


def _candidates(columns: Sequence[Column]) -> Iterator[tuple[Column, np.ndarray, int]]:
    """Yield columns of labels or whole numbers whose values have several rows each, with their codes."""
    for column in columns:
        is_whole = column.kind == INTEGER or (column.kind not in (BOOLEAN, CATEGORICAL) and _is_whole(column.numbers()))
        if (column.kind == CATEGORICAL or is_whole) and not column.n_missing() and not tokens(column.name) & _OCCASIONS:
            values, codes = np.unique(column.cells(), return_inverse=True)
            if _FEWEST_VALUES <= len(values) <= column.n_rows / _FEWEST_ROWS:
                yield column, codes, len(values)


def _is_whole(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (values == np.round(values)).all())


def _is_same(values: np.ndarray, column: Column) -> bool:
    return column.kind != CATEGORICAL and np.array_equal(values, column.numbers(), equal_nan=True)


def _are_alike(others: Sequence[np.ndarray], codes: np.ndarray) -> bool:
    """Return whether enough of the measures are constant within the values of a column; ends as early as it can."""
    wanted, n_alike = max(_FEWEST_ALIKE, (len(others) + 1) // 2), 0
    for at, values in enumerate(others):
        if n_alike + len(others) - at < wanted:
            return False
        n_alike += _is_constant_within(values, codes)
    return n_alike >= wanted


def _is_constant_within(values: np.ndarray, codes: np.ndarray) -> bool:
    first = np.zeros(codes.max() + 1)
    first[codes] = values  # any one of each
    return bool(np.array_equal(first[codes], values))


def _is_panel(codes: np.ndarray, n_values: int, occasion: Column) -> bool:
    """Return whether no value has two rows of one occasion, though chance would give some."""
    _, when = np.unique(occasion.cells(), return_inverse=True)
    n_occasions = int(when.max()) + 1
    if n_occasions < 2 or len(codes) ** 2 < 2 * _EQUAL_BY_CHANCE * n_values * n_occasions:
        return False
    return len(np.unique(codes.astype(np.int64) * n_occasions + when)) == len(codes)
