"""Columns of dates and times: left out, made one number, or made parts, as the data set's key ``dates`` asks for."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ..core.cards import CATEGORICAL
from ..core.column import WideColumns
from ..core.errors import DataError
from ..core.printable import listed
from ..core.table import Column
from .columns import number_column

DROP, ORDINAL, PARTS = "drop", "ordinal", "parts"
#: The day from which `ORDINAL` counts.
EPOCH = datetime.datetime(1970, 1, 1)
#: Years that stand for no date.
_NO_YEARS = frozenset({1, 9999})
#: A column of dates has at least so many, and at most this share of its levels is odd.
_FEWEST_DATES, _MOST_ODD = 3, 0.2
#: The parts, and whether they are made only where some cell has a time of day.
_PARTS = (("year", False), ("month", False), ("day", False), ("weekday", False), ("hour", True))
_TIME = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})?)?"
_ISO = re.compile(rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}{_TIME}").fullmatch
_OTHER = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}").fullmatch


def with_dates(
    name: str,
    columns: Sequence[Column],
    how: str | None,
    exempt: Collection[str | None],
    notes: list[str],
    odd: list[str],
) -> Sequence[Column]:
    """Return columns with dates left out or converted to numbers, as the key ``dates`` says; `notes` and
    `odd`, which says what is no date, are extended.

    A column is converted if nearly all of its cells are dates, the others being missing; `exempt` ones, such as the
    target, are not. ``ordinal`` is days since 1970-01-01, the time of day as their fraction. ``parts`` makes
    ``x_year``, ``x_month``, ``x_day``, ``x_weekday`` (0 is Monday) and, if there are times, ``x_hour``. Raises
    `DataError` if day and month cannot be told apart.

    >>> day = Column("d", "categorical", np.array([1, 0, -1]), ("1970-01-02", "1970-02-01T12:00"))
    >>> with_dates("demo", [day], "ordinal", {"y"}, [], [])[0].values.tolist()
    [31.5, 1.0, nan]
    """
    if how is None or isinstance(columns, WideColumns):
        return columns
    found, dated = [], []
    for column in columns:
        moments = None if column.name in exempt else moments_of(name, column, odd)
        if moments is None:
            found.append(column)
            continue
        dated.append(column.name)
        if how == ORDINAL:
            found.append(_number(column.name, column, [days_of(moment) for moment in moments]))
        elif how == PARTS:
            found.extend(_parts(column, moments))
    if dated:
        done = {DROP: "left out", ORDINAL: "made days since 1970-01-01", PARTS: "made year, month, day and so on"}[how]
        notes.append(f"dates in {listed(map(repr, dated))} were {done}")
    return found


def moments_of(name: str, column: Column, told: list[str]) -> list[datetime.datetime | None] | None:
    """Return the date of each level of a column, None for an odd one, which is noted; None if the levels are no dates.

    Nearly all levels must be dates. An odd one is no date at all, of a year that stands for none such as 9999, or
    written in an order of day and month that few have.
    """
    if column.kind != CATEGORICAL or not column.levels:
        return None
    levels = column.levels
    others = {level: match for level in levels if not _ISO(level) and (match := _OTHER(level))}
    n_odd = sum(not _ISO(level) and level not in others for level in levels)
    if not _are_few(n_odd, len(levels)):
        return None
    day_first = _day_first(name, column.name, [*others.values()]) if others else True
    read = [
        _of_match(others[level], day_first) if level in others else _of_iso(level) if _ISO(level) else None
        for level in levels
    ]
    read = [moment if moment and moment.year not in _NO_YEARS else None for moment in read]
    odd = [at for at, moment in enumerate(read) if moment is None]
    if not _are_few(len(odd), len(levels)):
        return None
    if odd:
        n_cells = np.count_nonzero(np.isin(column.values, odd))
        shown = listed([repr(levels[at]) for at in odd])
        told.append(f"{column.name} holds {shown} in {n_cells:,} of {column.n_rows:,} cells, no date: missing")
    return read


def _are_few(n_odd: int, n_levels: int) -> bool:
    """Whether so few levels are odd that the others make a column of dates."""
    return not n_odd or (n_levels - n_odd >= _FEWEST_DATES and n_odd <= _MOST_ODD * n_levels)


def is_no_date(text: str) -> bool:
    """Return whether a text is a date of a year that stands for none.

    >>> is_no_date("9999-12-31"), is_no_date("1999-12-31")
    (True, False)
    """
    moment = _of_iso(text) if _ISO(text) else None
    return moment is not None and moment.year in _NO_YEARS


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


def _day_first(name: str, column: str, matches: Sequence[re.Match[str]]) -> bool:
    """Return whether the day comes before the month: always with points, else numbers above 12 decide."""
    n_day, n_month = (sum(int(match[place]) > 12 for match in matches) for place in (1, 3))
    if all(match[2] == "." for match in matches):
        return True
    if n_day and n_month and not _are_few(min(n_day, n_month), n_day + n_month):
        one, other = (next(m.string for m in matches if int(m[place]) > 12) for place in (1, 3))
        raise DataError(
            f"{name}: column {column!r} holds dates such as {one!r} and {other!r}, of which one has the day first and "
            "the other the month. Write them as 2024-05-31, or list the column under drop or categorical."
        )
    if n_day or n_month:
        return n_day > n_month
    raise DataError(
        f"{name}: column {column!r} holds dates such as {matches[0].string!r}, of which either number may be the "
        "month. Write them as 2024-05-31, or list the column under drop."
    )


def days_of(moment: datetime.datetime | None) -> float:
    """Return the days since 1970-01-01, NaN for no date."""
    return np.nan if moment is None else (moment - EPOCH) / datetime.timedelta(1)


def _parts(column: Column, moments: Sequence[datetime.datetime | None]) -> Iterator[Column]:
    has_times = any(moment and moment.time() != datetime.time() for moment in moments)
    for part, is_of_time in _PARTS:
        if has_times or not is_of_time:
            yield _number(f"{column.name}_{part}", column, [_part(moment, part) for moment in moments])


def _part(moment: datetime.datetime | None, part: str) -> float:
    if moment is None:
        return np.nan
    return moment.weekday() if part == "weekday" else getattr(moment, part)


def _number(name: str, column: Column, of_level: Sequence[float]) -> Column:
    """Return a column of the numbers of another one's levels."""
    return number_column(name, np.array([*of_level, np.nan], dtype=np.float64)[column.values])
