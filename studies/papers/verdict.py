"""The verdict on a printed number and ours: a test of equivalence first, then one of difference."""

from __future__ import annotations

from collections.abc import Collection

REPRODUCED, DIFFERENT, UNDECIDED, VACUOUS = "reproduced", "different", "undecided", "vacuous"


def margin(methods: Collection[float]) -> float:
    """Return half the distance between the best and the worst number that a row prints for its methods.

    A number that is off by less is nearer to what was printed for its method than the methods are to each other. With
    fewer than two numbers there is no such distance, and the margin is 0.

    >>> margin([0.75, 1.0, 0.5])
    0.25
    """
    return (max(methods) - min(methods)) / 2 if methods else 0.0


def verdict(printed: float, ours: float, noise: float, methods: Collection[float]) -> str:
    """Return what our number says of a printed one.

    Parameters
    ----------
    printed, ours : float
        The two numbers, in one unit.
    noise : float
        Half the width of the 95 % interval of their difference; at least 0.
    methods : collection of float
        The numbers that the paper prints for all methods in this row.

    Returns
    -------
    {"reproduced", "different", "undecided", "vacuous"}
        ``reproduced`` if the whole interval lies within the margin of the row (a test of equivalence); ``different`` if
        it excludes zero; otherwise ``vacuous`` if another number of the row is as near, so that the comparison would
        not tell the methods apart; and ``undecided`` if not.

    Examples
    --------
    >>> row = [0.70, 0.80, 0.90]
    >>> verdict(0.80, 0.81, 0.05, row), verdict(0.80, 0.95, 0.05, row)
    ('reproduced', 'different')
    >>> verdict(0.80, 0.80, 0.06, [0.70, 0.80]), verdict(0.80, 0.81, 0.2, row)
    ('undecided', 'vacuous')
    """
    off = abs(ours - printed)
    if off + noise <= margin(methods):
        return REPRODUCED
    if off > noise:
        return DIFFERENT
    others = (number for number in methods if number != printed)
    return VACUOUS if any(abs(ours - other) <= noise for other in others) else UNDECIDED
