"""Risk sets of a survival target, sorted once: the partial likelihood, baseline hazards and product-limit estimates.

A target is a structured array with the fields ``event``, ``time`` and, if any, ``entry`` for late entry and ``strata``.
A row is at risk at a time t if it entered before t and its own time is not before t; with strata, at event times of its
own stratum. Efron's likelihood takes the k-th of m tied events
(k = 0 .. m - 1) with k / m of the weight of all m removed. References: Efron (1977),
doi:10.1080/01621459.1977.10480613; Breslow (1974), Biometrics 30, 89-99.
"""

from __future__ import annotations

import numpy as np

from ..core.column import EVENT
from .penalised import Point

#: Smallest sum of a risk set, relative to the largest weight; its square must not vanish.
SMALLEST = 1e-150
TIME, ENTRY, STRATA = "time", "entry", "strata"


def places_at_risk(
    event: np.ndarray, time: np.ndarray, entry: np.ndarray | None = None, strata: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return one row for each distinct event time, (m,), and between which of them each row is at risk, both (n,).

    Event times ascend within a stratum, and strata follow each other; a row is at risk at those from the first place to
    before the second one. So each stratum has risk sets of its own.

    >>> event, time = np.array([True, True, False]), np.array([1.0, 2.0, 3.0])
    >>> [found.tolist() for found in places_at_risk(event, time)]
    [[0, 1], [0, 0, 0], [1, 2, 2]]
    >>> [found.tolist() for found in places_at_risk(event, time, strata=np.array([1, 0, 1]))]
    [[1, 0], [1, 0, 1], [2, 1, 2]]
    """
    known = np.unique(time if entry is None else np.concatenate([time, entry]))
    before = 0 if strata is None else (len(known) + 1) * strata.astype(np.int64)
    ends = before + 1 + np.searchsorted(known, time)
    starts = before + (np.zeros(len(time), dtype=np.int64) if entry is None else 1 + np.searchsorted(known, entry))
    times, rows = np.unique(ends[event], return_index=True)
    first, stop = (np.searchsorted(times, places, side="right").astype(np.int64) for places in (starts, ends))
    return np.flatnonzero(event)[rows], first, stop


class RiskSets:
    """Risk sets at the events of a target.

    Attributes
    ----------
    times : ndarray of shape (m,)
        Distinct times of events, ascending within each stratum.
    n_events : ndarray of shape (m,)
        Events at each.
    first, last : ndarray of shape (n,)
        A row is at risk at the times ``first .. last - 1``, none if these are not in order.
    """

    def __init__(self, y: np.ndarray) -> None:
        self.event = np.asarray(y[EVENT], dtype=bool)
        time = np.asarray(y[TIME], dtype=float)
        rows, self.first, self.last = places_at_risk(self.event, time, *(part_of(y, part) for part in (ENTRY, STRATA)))
        self.times = time[rows]
        self.n_events = np.bincount(self.last[self.event] - 1, minlength=len(rows))
        self._by_last = np.argsort(self.last, kind="stable")
        self._is_late = bool(self.first.any())
        if self._is_late:
            self._by_first = np.argsort(self.first, kind="stable")
        self._of_event = np.repeat(np.arange(len(self.times)), self.n_events)
        starts = np.repeat(np.cumsum(self.n_events) - self.n_events, self.n_events)
        #: The share of the weight of tied events that is removed, for each event.
        self._removed = (np.arange(len(starts)) - starts) / self.n_events[self._of_event]

    def at_risk(self, values: np.ndarray) -> np.ndarray:
        """Return sums of values, (n,) or (n, d), over the risk set at each time of `times`."""
        sums = self._after(values, self.last, self._by_last)
        return sums - self._after(values, self.first, self._by_first) if self._is_late else sums

    def _after(self, values: np.ndarray, places: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return sums of the values of rows whose place is above 0, 1, ..."""
        found = np.concatenate([np.cumsum(values[order][::-1], axis=0)[::-1], np.zeros_like(values[:1])])
        return found[np.searchsorted(places[order], np.arange(len(self.times)), side="right")]

    def _at_event(self, values: np.ndarray) -> np.ndarray:
        """Return sums of the values of events at each time."""
        rows = np.flatnonzero(self.event)
        found = np.zeros((len(self.times), *values.shape[1:]))
        np.add.at(found, self.last[rows] - 1, values[rows])
        return found

    def _by_event(self, values: np.ndarray) -> np.ndarray:
        """Return sums of values, (n,) or (n, d), over the risk set of each event by Efron's rule."""
        removed = self._removed if values.ndim == 1 else self._removed[:, None]
        return self.at_risk(values)[self._of_event] - removed * self._at_event(values)[self._of_event]

    def _weights(self, weights: np.ndarray) -> np.ndarray:
        """Return sums of weights as `_by_event`, above 0."""
        sums = self._by_event(weights)
        if self._is_late:  # differences of large sums may lose the row of the event itself
            sums = np.maximum(sums, self._at_event(weights)[self._of_event] * (1 - self._removed))
        return np.maximum(sums, SMALLEST)

    def _to_rows(self, of_event: np.ndarray) -> np.ndarray:
        """Return, for each row, the sum of a number of events over those at which it was at risk."""
        kept = 1.0 - self._removed
        whole = np.concatenate([[0.0], np.cumsum(self._by_time(of_event))])
        found = whole[self.last] - whole[self.first]
        # a row with an event counts for the remaining share only, among the events at its own time
        own = self._by_time(of_event) - self._by_time(of_event * kept)
        found[self.event] -= own[self.last[self.event] - 1]
        return found

    def _by_time(self, of_event: np.ndarray) -> np.ndarray:
        return np.bincount(self._of_event, weights=of_event, minlength=len(self.times))

    def derivatives(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and second derivative of minus the log partial likelihood by each row's score, (n,) both.

        >>> y = np.array([(True, 1.0), (True, 2.0), (False, 3.0)], dtype=[("event", bool), ("time", float)])
        >>> first, second = RiskSets(y).derivatives(np.zeros(3))
        >>> first.round(3).tolist()  # 1/3 - 1, 1/3 + 1/2 - 1, 1/3 + 1/2
        [-0.667, -0.167, 0.833]
        """
        weights = relative(scores)
        sums = self._weights(weights)
        expected = weights * self._to_rows(1.0 / sums)
        # the square of a row's share of a risk set; of tied events the squared remaining share
        squares = self._to_rows(1.0 / sums**2)
        if (self.n_events > 1).any():
            kept = 1.0 - self._removed
            excess = self._by_time(kept * (1.0 - kept) / sums**2)  # _to_rows counts kept, not kept squared
            squares[self.event] -= excess[self.last[self.event] - 1]
        return expected - self.event, np.maximum(expected - weights**2 * squares, 0.0)

    def likelihood(self, X: np.ndarray, coefficients: np.ndarray) -> Point:
        """Return the log partial likelihood of a linear score, as a function of its coefficients, (d,)."""
        scores = X @ coefficients
        highest = scores.max(initial=-np.inf)
        weights = np.exp(scores - highest)
        sums = self._weights(weights)
        value = float(np.sum(scores[self.event] - highest) - np.sum(np.log(sums)))
        if (sums == SMALLEST).any():  # scores so far apart that weights vanish are no step forward
            value = -np.inf
        expected = weights * self._to_rows(1.0 / sums)
        means = self._by_event(weights[:, None] * X) / sums[:, None]
        return Point(value, X.T @ (self.event - expected), X.T @ (expected[:, None] * X) - means.T @ means)

    def score_residuals(self, X: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return each row's share, (n, d), of the gradient of `likelihood` (Lin and Wei 1989, JASA 84, 1074-1078).

        A row gets what it is above the mean of the risk set at its event, less the same times the hazard at each time
        that it is at risk. So the shares of independent rows are independent in large samples. Tied events have the
        average of Efron's means.

        >>> y = np.array([(True, 1.0), (True, 2.0), (False, 3.0)], dtype=[("event", bool), ("time", float)])
        >>> RiskSets(y).score_residuals(np.array([[0.0], [1.0], [5.0]]), np.zeros(1)).round(3).ravel().tolist()
        [-1.333, -0.667, -2.0]
        """
        weights = relative(X @ coefficients)
        sums = self._weights(weights)
        means = self._by_event(weights[:, None] * X) / sums[:, None]
        expected = weights * self._to_rows(1.0 / sums)
        found = (self.event - expected)[:, None] * X
        for column, of_event in zip(found.T, means.T, strict=True):
            column += weights * self._to_rows(of_event / sums)
            column[self.event] -= (self._by_time(of_event) / self.n_events)[self.last[self.event] - 1]
        return found

    def baseline(self, scores: np.ndarray) -> np.ndarray:
        """Return the logarithm of Breslow's cumulative baseline hazard at each of `times`, for given log hazards."""
        highest = scores.max(initial=-np.inf)
        sums = self.at_risk(np.exp(scores - highest))
        if self._is_late:
            sums = np.maximum(sums, self._at_event(np.exp(scores - highest)))
        return np.log(np.cumsum(self.n_events / np.maximum(sums, SMALLEST))) - highest


def relative(scores: np.ndarray) -> np.ndarray:
    """Return exp(scores), divided by the largest."""
    return np.exp(scores - scores.max(initial=-np.inf))


def part_of(y: np.ndarray, part: str) -> np.ndarray | None:
    """Return a field of a survival target that may be absent."""
    return y[part] if part in (y.dtype.names or ()) else None


def has_entries(y: np.ndarray) -> bool:
    """Return whether rows of a survival target enter late."""
    return part_of(y, ENTRY) is not None


def without_strata(y: np.ndarray) -> np.ndarray:
    """Return a survival target without its strata."""
    return y[[name for name in y.dtype.names if name != STRATA]]


class ProportionalHazards:
    """Breslow's baseline hazard of fitted log hazards, (n,), and the survival that follows from it.

    It is that of all strata together: rows to predict have no stratum.
    """

    def __init__(self, y: np.ndarray, scores: np.ndarray) -> None:
        sets = RiskSets(without_strata(y))
        self.times, self.log_hazard = sets.times, sets.baseline(scores)

    def survival(self, scores: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Return the probability of no event up to each of `times`, (len(scores), len(times))."""
        hazard = np.concatenate([[-np.inf], self.log_hazard])[np.searchsorted(self.times, times, side="right")]
        with np.errstate(over="ignore"):
            return np.exp(-np.exp(hazard[None, :] + scores[:, None]))


class ProductLimit:
    """The Kaplan-Meier estimate of the probability of no event up to a time, with late entry.

    With ``of_censoring=True``, that of not being censored; a row with an event at t is not at risk of censoring at t.

    >>> y = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype=[("event", bool), ("time", float)])
    >>> ProductLimit(y).at(np.array([0.5, 1.0, 3.0])).round(3).tolist()
    [1.0, 0.667, 0.0]
    """

    def __init__(self, y: np.ndarray, of_censoring: bool = False) -> None:
        event, time = np.asarray(y[EVENT], dtype=bool), np.asarray(y[TIME], dtype=float)
        ends = ~event if of_censoring else event
        self.times, n_ends = np.unique(time[ends], return_counts=True)
        n_at_risk = len(time) - np.searchsorted(np.sort(time), self.times, side="left")
        if has_entries(y):
            n_at_risk = n_at_risk - (len(time) - np.searchsorted(np.sort(y[ENTRY]), self.times, side="left"))
        if of_censoring:
            at = np.sort(time[event])
            n_at_risk = n_at_risk - (
                np.searchsorted(at, self.times, side="right") - np.searchsorted(at, self.times, side="left")
            )
        self.probability = np.concatenate([[1.0], np.cumprod(1.0 - n_ends / n_at_risk)])

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return the estimate at each time, (len(times),)."""
        return self.probability[np.searchsorted(self.times, times, side="right")]

    def before(self, times: np.ndarray) -> np.ndarray:
        """Return the estimate just before each time, (len(times),)."""
        return self.probability[np.searchsorted(self.times, times, side="left")]
