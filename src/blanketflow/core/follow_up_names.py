"""Names and cells by which follow-up times, and the events that end them, are known."""

from __future__ import annotations

import re

import numpy as np

from .cards import BOOLEAN, CATEGORICAL
from .column import Column
from .column_checks import tokens

#: Words in the names of events, and of what may stand beside them.
EVENT_WORDS = {"event", "events", "status", "died", "dead", "death", "deaths", "deceased", "alive", "vital"}
EVENT_WORDS |= {"mortality", "cens", "censor", "censored", "censoring"}
EVENT_WORDS |= {"relapse", "relapsed", "recur", "recurrence", "recurred"}
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
#: The fewest rows of a time, and the fewest values.
_FEWEST_ROWS, _FEWEST_TIMES = 20, 10


def is_time(column: Column) -> bool:
    """Return whether a column holds numbers of at least 0, of many values."""
    if column.kind in (BOOLEAN, CATEGORICAL):
        return False
    present = column.numbers()
    present = present[np.isfinite(present)]
    return len(present) >= _FEWEST_ROWS and present.min() >= 0 and len(np.unique(present)) >= _FEWEST_TIMES


def has_event_name(name: str) -> bool:
    """Return whether a name is that of an event.

    >>> has_event_name("died_in_hospital"), has_event_name("age")
    (True, False)
    """
    return bool(tokens(name) & EVENT_WORDS) or name in _LETTERS


def says_follow_up(name: str) -> bool:
    """Return whether a name is that of a follow-up time, whatever stands beside it.

    >>> says_follow_up("survival_days"), says_follow_up("days")
    (True, False)
    """
    words = tokens(name)
    rest = words - _UNITS - _TIMES - _LINKS - EVENT_WORDS
    is_joined = any(_EVENT_TIME.fullmatch(word) for word in words)
    return (bool(words & _FOLLOW_UP) and rest <= _FOLLOW_UP) or is_joined or _is_until_event(words, rest)


def _is_until_event(words: set[str], rest: set[str]) -> bool:
    return not rest and bool(words & EVENT_WORDS) and bool(words & (_UNITS | _TIMES))


def says_time(name: str) -> bool:
    """Return whether a name is nothing but a time, such as ``days`` or ``time``."""
    words = {word for word in tokens(name) if not word.isdigit()}
    return bool(words & (_UNITS | _TIMES)) and words <= _UNITS | _TIMES | _LINKS
