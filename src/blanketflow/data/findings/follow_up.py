"""Follow-up times beside events: how long the outcome was waited for, which is known only with the outcome."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ...core.cards import BOOLEAN, CATEGORICAL
from ...core.column_checks import tokens
from ...core.printable import listed
from ...core.table import Column
from ..column_roles import RawTable
from .finding import Finding, some_rows

#: Words in the names of events, and of what may stand beside them.
EVENT_WORDS = {"event", "events", "status", "died", "dead", "death", "deaths", "deceased", "alive", "vital"}
EVENT_WORDS |= {
    "mortality",
    "cens",
    "censor",
    "censored",
    "censoring",
    "relapse",
    "relapsed",
    "recur",
    "recurrence",
    "recurred",
}
EVENT_WORDS |= {"progression", "progressed", "failure", "failed", "fail", "fustat", "fstat", "survived", "survival"}
EVENT_WORDS |= {"observed", "censors", "arrest", "arrested", "rearrest", "rearrested", "readmission", "readmitted"}
#: Units and words of times, and words that make a time one of follow-up whatever the target is called.
_UNITS = {"day", "days", "week", "weeks", "month", "months", "year", "years", "yrs", "hours", "d", "w", "m", "y", "mo"}
_TIMES = {"time", "times", "duration", "durat", "t", "length", "interval", "obs", "observation", "observed", "lived"}
_TIMES |= {"stop", "exit"}
_FOLLOW_UP = {"followup", "futime", "survival", "surv", "survtime", "survdays", "tte", "os", "pfs", "dfs", "rfs", "efs"}
_FOLLOW_UP |= {"follow", "fu", "lifetime", "lenfol"}
_LINKS = {"to", "until", "till", "of", "in", "since", "the", "last", "up", "overall", "free", "total", "diff", "from"}
_EVENT_TIME = re.compile(
    r"(r|d|f|s|p|c|rf|os|pfs|dfs|rfs|efs|rec|event|death|stop|exit|fail|censor)(time|days)"
    r"|(time|days)(dth|death|event|fail|cens|relapse)"
)
#: Single letters by which tables of survival call events; the time beside them is T.
_LETTERS = ("E", "D")
#: Most values of an event, such as alive, dead and moved away; the fewest of a time, and of rows.
_MOST_EVENTS, _FEWEST_TIMES, _FEWEST_ROWS = 4, 10, 20
#: Rows that are looked at, and how many standard errors the times of rows with and without the event differ.
_MOST_ROWS, _APART = 10_000, 3.0


def follow_up_times(raw: RawTable, columns: Sequence[Column]) -> list[Finding]:
    """Return the columns that may be follow-up times of a target that is an event, and events beside a target time."""
    rows = some_rows(raw.target.n_rows, _MOST_ROWS)
    target = raw.target.take(rows)
    if len(rows) < _FEWEST_ROWS:
        return []
    if _is_event(target):
        names = [c.name for c in columns if _is_follow_up(c.take(rows), target)]
        if names:
            message = f"{listed(names)} may be how long {listed([target.name])} was waited for"
            return [Finding("follow-up", tuple(names), message, _advice(names))]
    elif _is_time(target) and _says_follow_up(target.name):
        names = [c.name for c in columns if _has_event_name(c.name) and _is_event(c.take(rows))]
        if names:
            message = f"{listed([target.name])} may be a follow-up time, and {listed(names)} say how it ended"
            return [Finding("follow-up", tuple(names), message, _advice(names))]
    return []


def _advice(names: Sequence[str]) -> str:
    it = "It is" if len(names) == 1 else "They are"
    return (
        f"{it} known only with the outcome: list under drop. Rows that were not followed to the end count as free of "
        "the event, so leave out those followed too briefly, or choose a target such as the event within a year."
    )


def _is_event(column: Column) -> bool:
    cells = column.cells()
    n_values = len(np.unique(cells[~column.missing()]))
    return 2 <= n_values <= _MOST_EVENTS


def _is_time(column: Column) -> bool:
    if column.kind in (BOOLEAN, CATEGORICAL):
        return False
    present = column.numbers()
    present = present[np.isfinite(present)]
    return len(present) >= _FEWEST_ROWS and present.min() >= 0 and len(np.unique(present)) >= _FEWEST_TIMES


def _has_event_name(name: str) -> bool:
    return bool(tokens(name) & EVENT_WORDS) or name in _LETTERS


def _says_follow_up(name: str) -> bool:
    """Return whether a name is that of a follow-up time, whatever stands beside it."""
    words = tokens(name)
    rest = words - _UNITS - _TIMES - _LINKS - EVENT_WORDS
    is_joined = any(_EVENT_TIME.fullmatch(word) for word in words)
    return (bool(words & _FOLLOW_UP) and rest <= _FOLLOW_UP) or is_joined or _is_until_event(words, rest)


def _is_until_event(words: set[str], rest: set[str]) -> bool:
    return not rest and bool(words & EVENT_WORDS) and bool(words & (_UNITS | _TIMES))


def _says_time(name: str) -> bool:
    """Return whether a name is nothing but a time, such as ``days`` or ``time``."""
    words = {word for word in tokens(name) if not word.isdigit()}
    return bool(words & (_UNITS | _TIMES)) and words <= _UNITS | _TIMES | _LINKS


def _is_follow_up(column: Column, target: Column) -> bool:
    if not _is_time(column):
        return False
    if _says_follow_up(column.name):
        return True
    return _says_time(column.name) and _has_event_name(target.name) and _differs(column, target)


def _differs(column: Column, target: Column) -> bool:
    """Return whether times are longer or shorter in some class, by rank sums."""
    values, classes = column.numbers(), target.cells()
    known = np.isfinite(values) & ~target.missing()
    values, classes = values[known], classes[known]
    ranks = np.unique(values, return_inverse=True)[1].astype(float)  # ties share a rank: order is all that counts
    spread = ranks.std()
    for one in np.unique(classes):
        own = ranks[classes == one]
        n, m = len(own), len(ranks) - len(own)
        if n and m and spread > 0:
            error = spread * np.sqrt(1 / n + 1 / m)
            if abs(own.mean() - ranks[classes != one].mean()) > _APART * error:
                return True
    return False
