"""An answer within any time limit: first from few rows, then from as many as there is time for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from ...core.limits import LimitReached
from .held_out import MOST_ROWS, Judged
from .pace import Pace

#: Rows of the first look.
FEW_ROWS = 250
#: Approximate time of a complete evaluation of as many rows, in multiples of the look.
TIMES_THE_LOOK = 20

#: Modules for fits, which take seconds to import.
LOADED = ("lightgbm", "scipy.stats", "sklearn.ensemble", "sklearn.linear_model", "sklearn.neighbors", "sklearn.dummy")


def load_models() -> None:
    """Import what fits need before the time limit starts."""
    for module in LOADED:
        with suppress(ImportError, OSError):  # the first fit says what is wrong
            importlib.import_module(module)


def judged_in_time(judge: Callable[..., Judged], pace: Pace, n_rows: int, most_rows: int | None = None) -> Judged:
    """Evaluate as many rows, at most `most_rows`, as time allows, else return the result of a first look at few rows.

    Without a time limit all usual rows are evaluated, and the look is used only if that fails. `judge` is
    `held_out.judge` as a function of pace, number of rows, and whether it is a look.
    """
    look, most_rows = None, most_rows or MOST_ROWS
    if pace.has_clock:
        begin = pace.left()
        look = _look(judge, pace)
        took = max(begin - pace.left(), 1e-9)
        affordable = int(min(MOST_ROWS, FEW_ROWS * pace.left() / (TIMES_THE_LOOK * took)))
        most_rows = MOST_ROWS if affordable >= n_rows else max(FEW_ROWS, affordable)
    try:
        return judge(pace, most_rows)
    except LimitReached as limit:
        return replace(look or _look(judge, pace), stopped=str(limit))


def _look(judge: Callable[..., Judged], pace: Pace) -> Judged:
    free = replace(pace, is_free=True, n_fits=0)
    return judge(free, FEW_ROWS, True)
