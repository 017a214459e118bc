"""Which part of an axis a chart of scores shows: the scores with the references, and intervals as far as they fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

#: An interval may make the axis longer than what it has to show by at most this share at each end.
_MOST = 0.5


def window(means: Sequence[float], references: Iterable[float], low: pd.Series, high: pd.Series) -> tuple[float, float]:
    """Return the ends of an axis of scores.

    It holds all means and the references, such as the scores of all features and of none, so that small differences are
    not magnified; and the intervals, unless one is so wide that the rest could not be told apart.

    Examples
    --------
    >>> window([0.8, 0.9], [0.5], pd.Series([0.7, -3.0]), pd.Series([0.9, 1.0])) == (0.5 - 0.2, 1.0)
    True
    """
    shown = [value for value in (*means, *references) if value == value]
    least, most = min(shown, default=0.0), max(shown, default=1.0)
    air = _MOST * (most - least)
    return max(min(least, *low.dropna(), least), least - air), min(max(most, *high.dropna(), most), most + air)
