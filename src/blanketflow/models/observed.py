"""What was observed on unseen rows, by parts of what was predicted for them: survival curves, means and shares.

The test rows of each evaluation split are divided by rank of their predictions, since predictions of models of several
splits have no common scale. Equal parts of all splits are then pooled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from ..core.cards import ORDERED, SURVIVAL
from ..core.column import Column
from .predictions import Predictions
from .responses import exposure_of, response
from .risk_sets import ENTRY, EVENT, TIME, ProductLimit

#: Parts of the rows: thirds for survival and ordered classes, else tenths.
THIRDS, TENTHS = 3, 10
#: Survival curves are given at this many steps at most, up to where this share of the rows is still observed.
MOST_STEPS, STILL_OBSERVED = 100, 0.1
#: Times with numbers at risk, at least, and into how many steps the time between two of them may be divided.
FEWEST_TICKS = 3
_STEPS = (1, 2, 5, 10, 20, 25)
#: Significant digits of what is kept.
_DIGITS = 6
#: Half the width of a 95 % interval in standard errors.
_NORMAL = 1.959964


class UnseenRows:
    """Test rows of evaluation splits with their predictions. Each row counts once, in the first split that tests it."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.n_parts = THIRDS if task in (SURVIVAL, ORDERED) else TENTHS
        self._known: set[int] = set()
        self._found: dict[str, list[dict[str, np.ndarray]]] = {}
        self._levels: tuple[str, ...] = ()

    def add(self, rows: np.ndarray, target: Column, predictions: Mapping[str, Predictions]) -> None:
        """Add the test rows of a split, the target of these rows, and the predictions of each model."""
        y, self._levels = response(target, self.task), target.levels
        exposure = exposure_of(y)
        is_new = np.array([row not in self._known for row in rows.tolist()], dtype=bool)
        for model, predicted in predictions.items():
            order = _order(predicted) if self.task == ORDERED else predicted.y_pred / exposure
            kept = {
                "part": parts_by_rank(order, self.n_parts),
                "y": predicted.y_true if self.task != SURVIVAL else y,
                "predicted": predicted.y_pred,
                "exposure": exposure,
            }
            if self.task == ORDERED and predicted.probabilities is not None:
                kept["probabilities"] = predicted.probabilities
            self._found.setdefault(model, []).append({key: values[is_new] for key, values in kept.items()})
        self._known.update(rows.tolist())

    def summary(self) -> dict[str, list[dict[str, Any]]]:
        """Return the parts by model, from the lowest predictions to the highest.

        Of a part: its number, the number of parts, its rows, and lists of equal length, columns of the table
        ``observed``; others have no value.
        """
        found = {}
        for model, splits in self._found.items():
            keys = [key for key in splits[0] if all(key in split for split in splits)]
            pooled = {key: np.concatenate([split[key] for split in splits]) for key in keys}
            found[model] = list(self._parts(pooled)) if len(pooled["part"]) else []
        return found

    def _parts(self, pooled: Mapping[str, np.ndarray]) -> Iterable[dict[str, Any]]:
        grid = curve_times(pooled["y"]) if self.task == SURVIVAL else (np.zeros(0), 1)
        for part in np.unique(pooled["part"]).tolist():
            own = {key: values[pooled["part"] == part] for key, values in pooled.items()}
            if self.task == SURVIVAL:
                found = _curve(own["y"], *grid)
            elif self.task == ORDERED:
                found = self._shares(own)
            else:
                found = [_mean(own["y"], own["predicted"], own["exposure"])]
            rows = list(found)
            columns = {key: [_short(row.get(key)) for row in rows] for key in dict.fromkeys(chain.from_iterable(rows))}
            yield {"part": part + 1, "n_parts": self.n_parts, "rows": len(own["y"]), **columns}

    def _shares(self, own: Mapping[str, np.ndarray]) -> Iterable[dict[str, Any]]:
        n_classes = max(len(self._levels), 1 + int(max(own["y"].max(), own["predicted"].max())))
        for code in range(n_classes):
            label = self._levels[code] if code < len(self._levels) else str(code)
            chance = own["probabilities"][:, code] if "probabilities" in own else own["predicted"] == code
            yield {
                "at": float(code),
                "label": label,
                "observed": float(np.mean(own["y"] == code)),
                "predicted": float(np.mean(chance)),
            }


def parts_by_rank(values: np.ndarray, n_parts: int) -> np.ndarray:
    """Return the part of each value, 0 .. n_parts - 1 by rank; equal values are in the same part.

    >>> parts_by_rank(np.array([5.0, 1.0, 3.0]), 3).tolist(), parts_by_rank(np.zeros(4), 3).tolist()
    ([2, 0, 1], [1, 1, 1, 1])
    """
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2  # rank, less half, of the middle of equal values
    return np.minimum((n_parts * middle / len(values)).astype(int), n_parts - 1)[which.ravel()]


def curve_times(y: np.ndarray) -> tuple[np.ndarray, int]:
    """Return times from 0 in equal steps, and after how many steps a round number comes.

    They end where `STILL_OBSERVED` of the rows are, so that no curve rests on a few rows, and otherwise do not depend
    on the times of single rows.

    >>> y = np.array([(True, t) for t in range(1, 101)], dtype=[("event", bool), ("time", float)])
    >>> times, steps = curve_times(y)
    >>> len(times), steps, times[:: steps].tolist()
    (91, 20, [0.0, 20.0, 40.0, 60.0, 80.0])
    """
    last = float(np.quantile(y[TIME], 1 - STILL_OBSERVED, method="inverted_cdf"))
    tick = round_step(last)
    steps = max(step for step in _STEPS if step * last <= MOST_STEPS * tick)
    return np.arange(int(np.floor(last / tick * steps + 1e-9)) + 1) * tick / steps, steps


def round_step(last: float) -> float:
    """Return the largest of 1, 2 and 5 times powers of ten that is in `last` at least `FEWEST_TICKS` times.

    >>> round_step(90.0), round_step(1.3), round_step(4000.0)
    (20.0, 0.2, 1000.0)
    """
    power = 10.0 ** np.floor(np.log10(last / FEWEST_TICKS))
    return float(max(step * power for step in (1, 2, 5) if step * power * FEWEST_TICKS <= last))


def _curve(y: np.ndarray, times: np.ndarray, steps: int) -> Iterable[dict[str, Any]]:
    """Return the Kaplan-Meier estimate of a part at some times, up to the last of its own rows.

    Every `steps` times it comes with numbers: at risk just before, and events up to then.
    """
    curve = ProductLimit(y)
    ended, entered = np.sort(y[TIME]), np.sort(y[ENTRY]) if ENTRY in y.dtype.names else np.zeros(len(y))
    for at, time in enumerate(times.tolist()):
        found: dict[str, Any] = {"at": time}
        if time <= ended[-1]:
            found["observed"] = float(curve.at(np.array([time]))[0])
        if at % steps == 0:
            begun = int(np.searchsorted(entered, time, side="left" if time > 0 else "right"))
            found["at_risk"] = begun - int(np.searchsorted(ended, time, side="left"))
            found["events"] = int(np.sum(y[EVENT] & (y[TIME] <= time)))
        if len(found) > 1:
            yield found


def _mean(y: np.ndarray, predicted: np.ndarray, exposure: np.ndarray) -> dict[str, float | None]:
    """Return observed and predicted mean per exposure, and the 95 % interval of the former."""
    mean, n = float(y.sum() / exposure.sum()), len(y)
    error = np.sqrt(np.sum((y - mean * exposure) ** 2) / (n - 1) * n) / exposure.sum() if n > 1 else None
    return {
        "observed": mean,
        "predicted": float(predicted.sum() / exposure.sum()),
        "low": None if error is None else mean - _NORMAL * float(error),
        "high": None if error is None else mean + _NORMAL * float(error),
    }


def _order(predicted: Predictions) -> np.ndarray:
    """Return the expected class of each row; the predicted one of models without probabilities."""
    if predicted.probabilities is None or predicted.classes is None:
        return predicted.y_pred
    return np.round(predicted.probabilities @ predicted.classes, 12)


def _short(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
