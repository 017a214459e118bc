"""Scores of predicted risks and survival curves, from censored times.

Rows that were censored are replaced by the weights of others: a row with an event at T counts 1 / G(T-), one without
an event up to t counts 1 / G(t), where G is the Kaplan-Meier estimate of not being censored, from the training rows.
References: Harrell, Lee, Mark (1996), Statistics in Medicine 15, 361-387; Uno and others (2011), doi:10.1002/sim.4154;
Graf and others (1999), Statistics in Medicine 18, 2529-2545; Uno and others (2007), doi:10.1198/016214507000000149.
"""

from __future__ import annotations

import numpy as np

from .predictions import Undefined
from .risk_sets import ENTRY, EVENT, STRATA, TIME, ProductLimit, has_entries, part_of, without_strata

#: Share of the test rows whose times end the range of the Brier score, and its largest number of times.
BRIER_RANGE, MOST_TIMES = 0.8, 100
#: Quantiles of the times of events at which the AUC is computed.
AUC_QUANTILES = (0.25, 0.5, 0.75)


def concordance(y: np.ndarray, risk: np.ndarray) -> float:
    """Return Harrell's concordance: the share of comparable pairs whose row with the earlier event has more risk.

    A pair is comparable if one row has an event while the other is at risk, in the same stratum if there are strata;
    equal risks count half. Raises `Undefined` without such a pair.

    >>> y = np.array([(True, 1.0), (True, 2.0), (False, 3.0)], dtype=[("event", bool), ("time", float)])
    >>> round(concordance(y, np.array([2.0, 3.0, 1.0])), 3)  # two of three pairs
    0.667
    """
    return _weighted_concordance(y, risk, np.ones(int(y[EVENT].sum())))


def uno_concordance(y: np.ndarray, risk: np.ndarray, taught: np.ndarray) -> float:
    """Return Uno's concordance, whose limit does not depend on the censoring; `taught` are the training rows."""
    return _weighted_concordance(y, risk, _weights_of_events(y, taught))


def _weights_of_events(y: np.ndarray, taught: np.ndarray) -> np.ndarray:
    not_censored = _censoring(y, taught).before(y[TIME][y[EVENT]])
    return np.divide(1.0, not_censored**2, out=np.zeros_like(not_censored), where=not_censored > 0)


def concordance_losses(y: np.ndarray, risk: np.ndarray, taught: np.ndarray) -> np.ndarray:
    """Return a loss of each row, (n,), whose mean is 1 less Uno's concordance, or Harrell's if rows enter late.

    Pseudo-values: the mean, and twice what a row's own pairs lose more than the mean. Their variance over n estimates
    that of the concordance, so that they compare models as losses of independent rows do. 0.5 without a pair. In time
    and memory of the order of rows times events.

    >>> y = np.array([(True, 1.0), (True, 2.0), (False, 3.0)], dtype=[("event", bool), ("time", float)])
    >>> risk = np.array([2.0, 3.0, 1.0])
    >>> round(float(1 - concordance_losses(y, risk, y).mean()), 3)
    0.667
    """
    event, time = y[EVENT], y[TIME]
    weights = np.ones(int(event.sum())) if has_entries(y) else _weights_of_events(y, taught)
    later = (time > time[event, None]) | ((time == time[event, None]) & ~event)
    if has_entries(y):
        later &= y[ENTRY] < time[event, None]
    if (strata := part_of(y, STRATA)) is not None:
        later &= strata == strata[event, None]
    pairs = weights[:, None] * later
    lost = pairs * ((risk > risk[event, None]) + (risk == risk[event, None]) / 2)
    if not (total := float(pairs.sum())):
        return np.full(len(y), 0.5)
    mean = float(lost.sum()) / total
    beyond = lost - mean * pairs
    of_rows = beyond.sum(axis=0)
    of_rows[event] += beyond.sum(axis=1)
    return mean + of_rows * (len(y) / total)


def _weighted_concordance(y: np.ndarray, risk: np.ndarray, weights: np.ndarray) -> float:
    lower, tied, total = comparable(y, risk)
    pairs = float(weights @ total)
    if not pairs:
        if not y[EVENT].any():
            raise Undefined("no row of the test part has an event")
        raise Undefined("no pair of test rows is comparable: none is at risk when another has its event")
    return float(weights @ (lower + tied / 2)) / pairs


def comparable(y: np.ndarray, risk: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each row with an event, the comparable rows of lower and equal risk, and all, in O(n log(n)^2)."""
    if (strata := part_of(y, STRATA)) is not None:
        found = np.zeros((3, int(y[EVENT].sum())), dtype=np.int64)
        for stratum in np.unique(strata[y[EVENT]]):
            rows = strata == stratum
            found[:, rows[y[EVENT]]] = comparable(without_strata(y[rows]), risk[rows])
        return found[0], found[1], found[2]
    event, time = y[EVENT], y[TIME]
    ranks = np.unique(risk, return_inverse=True)[1]
    order = np.lexsort((~event, time))  # rows censored at the time of an event are still at risk
    starts = np.searchsorted(time[order], time[event], side="left")
    _, of_time = np.unique(time, return_inverse=True)
    starts += np.bincount(of_time, weights=event).astype(int)[of_time[event]]
    lower = counts_after(ranks[order], starts, ranks[event])
    equal = counts_after(ranks[order], starts, ranks[event] + 1) - lower
    total = len(time) - starts
    if has_entries(y):  # whoever enters at or after the event is not at risk
        order = np.argsort(y[ENTRY], kind="stable")
        starts = np.searchsorted(y[ENTRY][order], time[event], side="left")
        late = counts_after(ranks[order], starts, ranks[event])
        equal -= counts_after(ranks[order], starts, ranks[event] + 1) - late
        lower -= late
        total -= len(time) - starts
    return lower, equal, total


def counts_after(values: np.ndarray, starts: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return, for each start and limit, how many of the whole numbers from that place on are below the limit.

    Places from a start to the end are a union of few blocks of 1, 2, 4, ... places, in which numbers are sorted.

    >>> counts_after(np.array([0, 2, 1, 1]), np.array([0, 1, 3]), np.array([1, 2, 2])).tolist()
    [1, 2, 1]
    """
    places, width = np.arange(1, len(values) + 1), int(values.max(initial=0)) + 2
    left, found = starts + 1, np.zeros(len(starts), dtype=np.int64)
    for level in range(len(values).bit_length()):
        ends = np.flatnonzero((left >> level) & 1)
        keys = np.sort((places >> level) * width + values)
        block = (left[ends] >> level) * width
        found[ends] += np.searchsorted(keys, block + limits[ends]) - np.searchsorted(keys, block)
        left[ends] += 1 << level
    return found


def time_auc(y: np.ndarray, risk: np.ndarray, taught: np.ndarray) -> float:
    """Return the mean over `AUC_QUANTILES` of the cumulative/dynamic AUC.

    At t that is the probability that a row with an event up to t has more risk than one without an event up to t.
    """
    not_censored = _censoring(y, taught)
    if not y[EVENT].any():
        raise Undefined("no row of the test part has an event")
    times = np.unique(np.quantile(y[TIME][y[EVENT]], AUC_QUANTILES, method="inverted_cdf"))
    found = [auc_at(time, y, risk, not_censored) for time in times]
    known = [value for value in found if value is not None]
    if not known:
        raise Undefined("at no quartile of the times of events is a test row left without an event")
    return float(np.mean(known))


def auc_at(time: float, y: np.ndarray, risk: np.ndarray, not_censored: ProductLimit) -> float | None:
    """Return the cumulative/dynamic AUC at a time; None without a row on one side."""
    cases, controls = y[EVENT] & (y[TIME] <= time), np.sort(risk[y[TIME] > time])
    before = not_censored.before(y[TIME][cases])
    weights = np.divide(1.0, before, out=np.zeros_like(before), where=before > 0)
    if not len(controls) or not weights.any():
        return None
    lower, up_to = (np.searchsorted(controls, risk[cases], side=side) for side in ("left", "right"))
    return float(weights @ (lower + up_to)) / (2 * len(controls) * float(weights.sum()))


def brier_times(y: np.ndarray) -> np.ndarray:
    """Return the times of the integrated Brier score: those of test rows up to a quantile, at most `MOST_TIMES`.

    >>> y = np.array([(True, t) for t in (5.0, 1.0, 2.0, 4.0, 3.0)], dtype=[("event", bool), ("time", float)])
    >>> brier_times(y).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    times = np.unique(y[TIME][y[TIME] <= np.quantile(y[TIME], BRIER_RANGE, method="inverted_cdf")])
    return times[np.unique(np.linspace(0, len(times) - 1, MOST_TIMES).round().astype(int))]


def brier_scores(y: np.ndarray, survival: np.ndarray, times: np.ndarray, taught: np.ndarray) -> np.ndarray:
    """Return the Brier score at each time for survival probabilities, (n, len(times)), weighted by censoring."""
    not_censored = _censoring(y, taught)
    before = not_censored.before(y[TIME])
    has_had = y[EVENT][:, None] & (y[TIME][:, None] <= times)
    has_not = y[TIME][:, None] > times
    with np.errstate(divide="ignore", invalid="ignore"):
        of_event = np.where(has_had, survival**2 / before[:, None], 0.0)
        of_others = np.where(has_not, (1.0 - survival) ** 2 / not_censored.at(times), 0.0)
    return np.mean(of_event + of_others, axis=0)


def integrated_brier(y: np.ndarray, survival: np.ndarray | str | None, times: np.ndarray, taught: np.ndarray) -> float:
    """Return the mean of the Brier score over `times`, by the trapezoidal rule."""
    if not isinstance(survival, np.ndarray):
        raise Undefined(survival or "the model gives no survival probabilities")
    within = _censoring(y, taught).at(times) > 0
    if within.sum() < 2:
        raise Undefined("fewer than two times of test rows lie where the training rows are not all censored")
    found, times = brier_scores(y, survival[:, within], times[within], taught), times[within]
    return float(np.trapezoid(found, times) / (times[-1] - times[0]))


def _censoring(y: np.ndarray, taught: np.ndarray) -> ProductLimit:
    if has_entries(y):
        raise Undefined("rows enter late, for which its weights are not defined; concordance takes them into account")
    return ProductLimit(taught, of_censoring=True)
