"""Supervised binning by the minimum description length principle of Fayyad and Irani."""

from __future__ import annotations

import numpy as np


def mdlp_cut_points(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the cut points of a column with the minimum description length of the classes, ascending.

    The rows are split at the cut with the least class entropy if its information gain pays for the cut; then both parts
    are split in the same way. Cuts lie halfway between two values.

    Parameters
    ----------
    values : float ndarray of shape (n,)
        Training values.
    classes : int ndarray of shape (n,)
        Class codes, at least 0.

    References
    ----------
    Fayyad, Irani (1993) Multi-interval discretization of continuous-valued attributes for classification learning,
    IJCAI 13, 1022-1027.

    Examples
    --------
    >>> mdlp_cut_points(np.arange(20.0), (np.arange(20) >= 10).astype(int))
    array([9.5])
    """
    order = np.argsort(values, kind="stable")
    values, classes = values[order], classes[order]
    above = np.zeros((len(classes) + 1, int(classes.max()) + 1))
    np.cumsum(np.eye(above.shape[1])[classes], axis=0, out=above[1:])
    cuts: list[float] = []
    parts = [(0, len(values))]
    while parts:
        start, stop = parts.pop()
        cut = _best_cut(values, above, start, stop)
        if cut is not None:
            cuts.append(0.5 * values[cut - 1] + 0.5 * values[cut])
            parts += [(start, cut), (cut, stop)]
    return np.sort(np.array(cuts))


def _best_cut(values: np.ndarray, above: np.ndarray, start: int, stop: int) -> int | None:
    """Return the first row above the best cut, or None if no cut pays for itself."""
    cuts = start + 1 + np.flatnonzero(values[start + 1 : stop] > values[start : stop - 1])
    if not len(cuts):
        return None
    n, lower, upper, whole = (
        stop - start,
        above[cuts] - above[start],
        above[stop] - above[cuts],
        above[stop] - above[start],
    )
    n_lower = (cuts - start)[:, None]
    mean_entropy = (n_lower[:, 0] * _entropy(lower) + (n - n_lower[:, 0]) * _entropy(upper)) / n
    best = int(np.argmin(mean_entropy))
    gain = _entropy(whole[None])[0] - mean_entropy[best]
    k, k_lower, k_upper = (np.count_nonzero(counts) for counts in (whole, lower[best], upper[best]))
    entropies = (
        k * _entropy(whole[None])[0] - k_lower * _entropy(lower[[best]])[0] - k_upper * _entropy(upper[[best]])[0]
    )
    price = np.log2(n - 1.0) + np.log2(3.0**k - 2.0) - entropies
    return int(cuts[best]) if gain > price / n else None


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Return the entropy in bits of each row of class counts."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    return -np.sum(shares * np.log2(np.where(shares > 0, shares, 1.0)), axis=1)
