"""The order in which features are searched: that of their names, so that the order of the table decides nothing.

What draws random numbers, takes the first of equals, or sums in turn goes through the features one after the other.
Methods and models therefore see them in one order, whatever the order of the table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from operator import eq

import numpy as np

_DIGITS = re.compile("([0-9]+)")


def by_names(names: Sequence[str]) -> np.ndarray | None:
    """Return the positions of names in natural order, shape (d,); None if they are in this order already.

    Texts go by their characters and numbers in them by their value, so that the columns of an array, ``x0, x1, ...``,
    are in order.

    Parameters
    ----------
    names : sequence of str
        The names, d different ones.

    Returns
    -------
    ndarray of int64, or None
        Where the first name of the order stands in `names`, then the second, and so on.

    Examples
    --------
    >>> by_names(["x0", "x2", "x10"]) is None
    True
    >>> by_names(["size", "x10", "age", "x9"]).tolist()
    [2, 0, 3, 1]
    """
    # The names of an array's columns, of which there may be a million, are compared without making keys.
    if all(map(eq, names, map("x{}".format, range(len(names))))) or all(
        one < other for one, other in pairwise(map(natural_key, names))
    ):
        return None
    return np.array(sorted(range(len(names)), key=[*map(natural_key, names)].__getitem__), dtype=np.int64)


def natural_key(name: str) -> tuple[list[str | tuple[int, str]], str]:
    """Return what a name is sorted by: texts and numbers in turn, then the name, for ``01`` and ``1``.

    Examples
    --------
    >>> natural_key("x10") > natural_key("x9"), natural_key("x09") < natural_key("x9")
    (True, True)
    """
    parts: list[str | tuple[int, str]] = list(_DIGITS.split(name))
    # A number without leading zeros is greater if it is longer, or as long and greater as text: of any length.
    parts[1::2] = [(len(digits), digits) for digits in (str(part).lstrip("0") for part in parts[1::2])]
    return parts, name
