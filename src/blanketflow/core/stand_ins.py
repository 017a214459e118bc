"""A feature that could take the place of a member of an answer, and how a person is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .printable import printable

#: The share of a feature's information about the target from which another one that keeps it stands in for it.
STANDS_IN = 0.95
#: The lower end of the interval from which it is told, and its votes in folds count, that it does.
SURE = 0.8
#: Sets of which one is enough that are named, and features that are named of each.
MOST_SETS, MOST_NAMED = 3, 5


class StandIn(NamedTuple):
    """A feature that keeps most of what another one says about the target.

    Attributes
    ----------
    feature : str
        Its name.
    share : float
        The share, 0 to 1, of the other's information that is kept if this one is known instead. From 0.95 on this one
        can stand in for the other.
    low, high : float
        The 95 % interval of the share.

    Examples
    --------
    >>> StandIn("temp_f", 0.97, 0.93, 1.0).is_sure, StandIn("near", 1.0, 0.3, 1.0).is_sure
    (True, False)
    """

    feature: str
    share: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether it can stand in for the other, and the interval leaves little doubt."""
        return self.share >= STANDS_IN and self.low >= SURE


def in_words(rows: Sequence[StandIn], most: int = MOST_NAMED) -> str:
    """Return stand-ins as a text: their shares and intervals, and how many more there are.

    Examples
    --------
    >>> in_words([StandIn("temp_f", 0.97, 0.93, 1.0), StandIn("near", 0.9, 0.8, 0.95)], 1)
    'temp_f 0.97 (0.93 to 1.00) and 1 more'
    """
    shown = [f"{printable(row.feature)} {row.share:.2f} ({row.low:.2f} to {row.high:.2f})" for row in rows[:most]]
    return ", ".join(shown) + (f" and {len(rows) - most} more" if len(rows) > most else "")


def one_is_enough(stand_ins: Mapping[str, Sequence[StandIn]]) -> str:
    """Return in words of which features one is enough, by member of an answer; empty if there are none.

    Examples
    --------
    >>> copies = {"temp_c": [StandIn("temp_f", 1.0, 1.0, 1.0)], "b": [StandIn("c", 0.9, 0.8, 0.94)]}
    >>> one_is_enough(copies)
    'One of temp_c and temp_f is enough.'
    >>> more = {"a": [StandIn(f"a{i}", 1.0, 1.0, 1.0) for i in range(9)], **copies}
    >>> one_is_enough(more)
    'One of a, a0, a1, a2, a3 and 5 more is enough. One of temp_c and temp_f is enough.'
    """
    sets: list[list[str]] = []
    for member, rows in stand_ins.items():
        names = [member, *(row.feature for row in rows if row.is_sure)]
        if len(names) > 1 and not any(set(names) <= set(others) for others in sets):
            sets.append(names)
    said = [f"One of {_listed(names)} is enough." for names in sets[:MOST_SETS]]
    more = len(sets) - MOST_SETS
    return " ".join([*said, *([f"So it is with {more} more of the features kept."] if more > 0 else [])])


def _listed(names: Sequence[str]) -> str:
    shown = list(map(printable, names[:MOST_NAMED]))
    *first, last = [*shown, *([f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else [])]
    return f"{', '.join(first)} and {last}"
