"""Periods of time of nearly equal size, and outer splits that train on the past and test on the next period."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.cards import CATEGORICAL
from ..core.errors import DataError
from ..core.table import Column
from .dates import EPOCH


def periods_of(times: np.ndarray, parts: int) -> np.ndarray:
    """Return the period of each row, 1 .. `parts` in the order of time; equal times are in one period.

    A time with m earlier rows of n is in period 1 + m * parts // n, so that a period may be empty.

    >>> periods_of(np.array([3, 1, 2, 2, 4, 5]), 2).tolist()
    [2, 1, 1, 1, 2, 2]
    """
    _, numbers, counts = np.unique(times, return_inverse=True, return_counts=True)
    return (1 + (np.cumsum(counts) - counts) * parts // len(times))[numbers]


def forward_masks(
    times: np.ndarray, spec: Mapping[str, Any], y: Column, where: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test masks of each split: split k trains on periods 1 .. k and tests on period k + 1.

    The spec has `parts`, the number of periods, and `gap`: training rows are more than the gap earlier than the first
    test row. Raises `DataError` if a period is empty, or the training rows are none or of one class.
    """
    parts, gap = spec["parts"], spec["gap"]
    period = periods_of(times, parts)
    if len(np.unique(period)) < parts:
        n_times = len(np.unique(times))
        fewer = range(min(parts - 1, n_times), 1, -1)
        most = next((n for n in fewer if len(np.unique(periods_of(times, n))) == n), None)
        way_out = f"Set splits.parts to {most}" if most else "Choose a time column with more values"
        raise DataError(
            f"{where}: rows of equal time are never split, and the {n_times:,} different times leave one of {parts} "
            f"periods empty. {way_out}, or splits: {{evaluation: 5}} for a partition at random."
        )
    masks = []
    for k in range(1, parts):
        test = period == k + 1
        start = times[test].min()
        train = (period <= k) & (times < start - gap)
        if not train.any():
            most = start - times.min()
            raise DataError(
                f"{where}, split cv-{k}: the gap of {gap:g} leaves no row to train on. Set splits.gap below {most:g}."
            )
        if y.kind == CATEGORICAL and len(found := np.unique(np.asarray(y.values)[train])) < 2:
            raise DataError(
                f"{where}, split cv-{k}: the {np.count_nonzero(train):,} training rows have one class only, "
                f"{y.levels[found[0]]!r}. Set splits.parts or splits.gap lower, or splits: {{evaluation: 5}} for a "
                "partition at random."
            )
        masks.append((train, test))
    return masks


def described_periods(times: np.ndarray, parts: int, has_dates: bool) -> list[dict[str, Any]]:
    """Return the first and last time of each period, in words, and its number of rows.

    >>> described_periods(np.array([0.0, 1.0, 2.5, 9.0]), 2, has_dates=True)[1]
    {'start': '1970-01-03T12:00:00', 'end': '1970-01-10', 'n_rows': 2}
    """
    period = periods_of(times, parts)
    own = [times[period == at] for at in range(1, parts + 1)]
    said = _date if has_dates else lambda time: f"{time:.12g}"
    return [{"start": said(t.min()), "end": said(t.max()), "n_rows": len(t)} for t in own]


def _date(days: float) -> str:
    moment = EPOCH + datetime.timedelta(seconds=round(days * 86400))
    return moment.date().isoformat() if moment.time() == datetime.time() else moment.isoformat()
