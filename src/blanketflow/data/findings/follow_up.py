"""Follow-up times beside events: how long the outcome was waited for, which is known only with the outcome."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.follow_up_names import has_event_name, is_time, says_follow_up, says_time
from ...core.in_yaml import in_yaml
from ...core.printable import listed
from ...core.table import Column
from ..column_roles import RawTable
from .finding import Finding, some_rows

#: Most values of an event, such as alive, dead and moved away; and the fewest rows.
_MOST_EVENTS, _FEWEST_ROWS = 4, 20
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
            return [Finding("follow-up", tuple(names), message, _advice(names, names[0], target.name))]
    elif is_time(target) and says_follow_up(target.name):
        names = [c.name for c in columns if has_event_name(c.name) and _is_event(c.take(rows))]
        if names:
            message = f"{listed([target.name])} may be a follow-up time, and {listed(names)} say how it ended"
            return [Finding("follow-up", tuple(names), message, _advice(names, target.name, names[0]))]
    return []


def _advice(names: Sequence[str], time: str, event: str) -> str:
    it = "It is" if len(names) == 1 else "They are"
    return (
        f"{it} known only with the outcome. To search the time to the event, write {survival_key(time, event)} in "
        "place of both. To keep classes, list under drop: rows that were not followed to the end then count as free "
        "of the event."
    )


def survival_key(time: str, event: str) -> str:
    """Return the key that makes a target of a time and an event.

    >>> survival_key("days", "died")
    'target: {time: days, event: died}'
    """
    return f"target: {in_yaml({'time': time, 'event': event})}"


def _is_event(column: Column) -> bool:
    cells = column.cells()
    n_values = len(np.unique(cells[~column.missing()]))
    return 2 <= n_values <= _MOST_EVENTS


def _is_follow_up(column: Column, target: Column) -> bool:
    if not is_time(column):
        return False
    if says_follow_up(column.name):
        return True
    return says_time(column.name) and has_event_name(target.name) and _differs(column, target)


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
