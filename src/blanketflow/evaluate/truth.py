"""Agreement of a selection with the true Markov blanket of simulated data."""

from __future__ import annotations

from collections.abc import Set as AbstractSet


def recovery(chosen: AbstractSet[str], truth: AbstractSet[str]) -> dict[str, float]:
    """Return precision, recall and F1 of a chosen set.

    Where a set is empty: all three are 1.0 if both are (nothing to find, nothing claimed), and 0.0 if only one is.

    Examples
    --------
    >>> recovery({"a", "b", "c", "d"}, {"a", "b", "e"})["precision"]
    0.5
    >>> recovery(set(), {"a"})
    {'precision': 0.0, 'recall': 0.0, 'f1': 0.0}
    """
    if not chosen and not truth:
        return {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    hits = len(chosen & truth)
    return {
        "precision": hits / len(chosen) if chosen else 0.0,
        "recall": hits / len(truth) if truth else 0.0,
        "f1": 2 * hits / (len(chosen) + len(truth)),
    }
