"""Survival analysis as its formulas say it, row by row: what the fast code must equal."""

import numpy as np


def survival(event, time, entry=None):
    """Return a structured target."""
    fields = {"event": (bool, event), "time": (float, time)} | ({} if entry is None else {"entry": (float, entry)})
    y = np.empty(len(time), dtype=[(name, dtype) for name, (dtype, _) in fields.items()])
    for name, (_, cells) in fields.items():
        y[name] = cells
    return y


def at_risk(row, t):
    return row["time"] >= t and ("entry" not in row.dtype.names or row["entry"] < t)


def partial_likelihood(y, scores):
    """Return Efron's log partial likelihood."""
    total = 0.0
    for t in sorted({row["time"] for row in y if row["event"]}):
        tied = [i for i, row in enumerate(y) if row["event"] and row["time"] == t]
        everyone = sum(np.exp(scores[i]) for i, row in enumerate(y) if at_risk(row, t))
        own = sum(np.exp(scores[i]) for i in tied)
        for k, i in enumerate(tied):
            total += scores[i] - np.log(everyone - k / len(tied) * own)
    return total


def breslow(y, scores, time):
    """Return the cumulative baseline hazard at a time."""
    return sum(
        1 / sum(np.exp(scores[i]) for i, other in enumerate(y) if at_risk(other, row["time"]))
        for row in y
        if row["event"] and row["time"] <= time
    )


def kaplan_meier(y, time, of_censoring=False, before=False):
    """Return the probability of neither event (or censoring) up to, or before, a time."""
    probability = 1.0
    for t in sorted({row["time"] for row in y if row["event"] != of_censoring}):
        if t > time or (before and t == time):
            break
        ends = sum(row["time"] == t and row["event"] != of_censoring for row in y)
        candidates = sum(at_risk(row, t) and not (of_censoring and row["event"] and row["time"] == t) for row in y)
        probability *= 1 - ends / candidates
    return probability


def concordance(y, risk, weight=lambda row: 1.0):
    """Return the weighted share of comparable pairs in order, over all pairs."""
    good = pairs = 0.0
    for i, row in enumerate(y):
        if not row["event"]:
            continue
        for j, other in enumerate(y):
            ends_later = other["time"] > row["time"] or (other["time"] == row["time"] and not other["event"])
            if ends_later and at_risk(other, row["time"]):
                pairs += weight(row)
                good += weight(row) * (risk[i] > risk[j]) + weight(row) * 0.5 * (risk[i] == risk[j])
    return good / pairs


def brier(y, survival_at, time, taught):
    """Return the censoring-weighted Brier score at a time, for each row's probability of surviving it."""
    total = 0.0
    for row, probability in zip(y, survival_at, strict=True):
        if row["event"] and row["time"] <= time:
            total += probability**2 / kaplan_meier(taught, row["time"], of_censoring=True, before=True)
        elif row["time"] > time:
            total += (1 - probability) ** 2 / kaplan_meier(taught, time, of_censoring=True)
    return total / len(y)


def auc(y, risk, time, taught):
    """Return the cumulative/dynamic AUC at a time, over all pairs."""
    good = pairs = 0.0
    for i, row in enumerate(y):
        if not (row["event"] and row["time"] <= time):
            continue
        weight = 1 / kaplan_meier(taught, row["time"], of_censoring=True, before=True)
        for j, other in enumerate(y):
            if other["time"] > time:
                pairs += weight
                good += weight * (risk[i] > risk[j]) + weight * 0.5 * (risk[i] == risk[j])
    return good / pairs
