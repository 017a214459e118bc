"""Columns of dates and times: left out, made one number, or made parts, as the data set's key ``dates`` asks for."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.cards import CATEGORICAL, INTEGER, NUMERIC
from ..core.column import WideColumns
from ..core.errors import DataError
from ..core.printable import listed
from ..core.table import Column
from .column_roles import columns_of_rows, setting

DROP, ORDINAL, PARTS = "drop", "ordinal", "parts"
#: The day from which `ORDINAL` counts.
EPOCH = datetime.datetime(1970, 1, 1)
#: The parts, and whether they are made only where some cell has a time of day.
_PARTS = (("year", False), ("month", False), ("day", False), ("weekday", False), ("hour", True))
_TIME = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})?)?"
_ISO = re.compile(rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}{_TIME}").fullmatch
_OTHER = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}").fullmatch


def with_dates(
    name: str, columns: Sequence[Column], spec: Mapping[str, Any], target: str | None, notes: list[str]
) -> Sequence[Column]:
    """Return columns with dates left out or converted to numbers, as the spec's ``dates`` says; `notes` is extended.

    A column is converted if all of its cells are dates; the target and columns with another role are not. ``ordinal``
    is days since 1970-01-01, the time of day as their fraction. ``parts`` makes ``x_year``, ``x_month``, ``x_day``,
    ``x_weekday`` (0 is Monday) and, if there are times, ``x_hour``. Raises `DataError` if day and month cannot be told
    apart.

    >>> day = Column("d", "categorical", np.array([1, 0, -1]), ("1970-01-02", "1970-02-01T12:00"))
    >>> with_dates("demo", [day], {"dates": "ordinal"}, None, [])[0].values.tolist()
    [31.5, 1.0, nan]
    """
    how = spec.get("dates")
    if how is None or isinstance(columns, WideColumns):
        return columns
    exempt = {target, spec.get("target"), *columns_of_rows(spec), *setting(spec, "drop"), *setting(spec, "categorical")}
    found, dated = [], []
    for column in columns:
        moments = None if column.name in exempt else _moments(name, column)
        if moments is None:
            found.append(column)
            continue
        dated.append(column.name)
        if how == ORDINAL:
            found.append(_number(column.name, column, [(moment - EPOCH) / datetime.timedelta(1) for moment in moments]))
        elif how == PARTS:
            found.extend(_parts(column, moments))
    if dated:
        done = {DROP: "left out", ORDINAL: "made days since 1970-01-01", PARTS: "made year, month, day and so on"}[how]
        notes.append(f"dates in {listed(map(repr, dated))} were {done}")
    return found


def _moments(name: str, column: Column) -> list[datetime.datetime] | None:
    """Return the date of each level of a column; None if one is none."""
    if column.kind != CATEGORICAL or not column.levels:
        return None
    if all(map(_ISO, column.levels)):
        read = [_of_iso(level) for level in column.levels]
    else:
        matches = [_OTHER(level) for level in column.levels]
        if not all(matches):
            return None
        day_first = _day_first(name, column.name, matches)
        read = [_of_match(match, day_first) for match in matches if match]
    return None if any(moment is None for moment in read) else [moment for moment in read if moment]


def _of_iso(text: str) -> datetime.datetime | None:
    year, month, day = map(int, re.findall(r"\d+", text)[:3])
    return _with_time(year, month, day, text)


def _of_match(match: re.Match[str], day_first: bool) -> datetime.datetime | None:
    one, other = int(match[1]), int(match[3])
    day, month = (one, other) if day_first else (other, one)
    return _with_time(int(match[4]), month, day, match.string)


def _with_time(year: int, month: int, day: int, text: str) -> datetime.datetime | None:
    time = re.search(r"(\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})?$", text)
    try:
        moment = datetime.datetime(year, month, day)
        if not time:
            return moment
        seconds = float(time[3] or 0) + float(time[4] or 0)
        moment += datetime.timedelta(hours=int(time[1]), minutes=int(time[2]), seconds=seconds)
        if time[5] and time[5] != "Z":  # all times are those of Greenwich
            digits = time[5].replace(":", "")
            ahead = datetime.timedelta(hours=int(digits[1:3]), minutes=int(digits[3:]))
            moment += -ahead if digits[0] == "+" else ahead
    except (ValueError, OverflowError):
        return None
    return moment


def _day_first(name: str, column: str, matches: Sequence[re.Match[str] | None]) -> bool:
    """Return whether the day comes before the month: always with points, else a number above 12 decides."""
    known = [match for match in matches if match]
    if all(match[2] == "." for match in known) or any(int(match[1]) > 12 for match in known):
        return True
    if any(int(match[3]) > 12 for match in known):
        return False
    raise DataError(
        f"{name}: column {column!r} holds dates such as {known[0].string!r}, of which either number may be the month. "
        "Write them as 2024-05-31, or list the column under drop."
    )


def _parts(column: Column, moments: Sequence[datetime.datetime]) -> Iterator[Column]:
    has_times = any(moment.time() != datetime.time() for moment in moments)
    for part, is_of_time in _PARTS:
        if has_times or not is_of_time:
            values = [moment.weekday() if part == "weekday" else getattr(moment, part) for moment in moments]
            yield _number(f"{column.name}_{part}", column, values)


def _number(name: str, column: Column, of_level: Sequence[float]) -> Column:
    """Return a column of the numbers of another one's levels."""
    numbers = np.array([*of_level, np.nan], dtype=np.float64)[column.values]
    known = numbers[~np.isnan(numbers)]
    if not np.array_equal(known, np.rint(known)):
        return Column(name, NUMERIC, numbers)
    return Column(name, INTEGER, numbers if len(known) < len(numbers) else numbers.astype(np.int64))
