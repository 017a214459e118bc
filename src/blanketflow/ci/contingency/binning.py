"""Level codes of columns for discrete tests. Bins are fitted on the rows of the table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.cards import INTEGER
from ...core.errors import ParameterError
from ...core.table import FEW_VALUES, Column, Table

#: Integers with a smaller range are counted, which is faster than sorting.
COUNTED = 2**12
#: Up to this many borders are compared with all values in turn, which is faster than a search per value.
FEW_BORDERS = 16
#: Rows processed in one step, with eight bytes each.
BLOCK = 2**20
BINNINGS = ("quantile", "uniform", "kmeans", "mdlp")


def cut_points(values: np.ndarray, bins: int, binning: str, classes: np.ndarray | None = None) -> np.ndarray:
    """Return the inner borders of the bins of training values, shape (n,), ascending and distinct.

    Ties may give fewer than `bins` bins. ``quantile`` makes equal counts, ``uniform`` equal widths, ``kmeans``
    one-dimensional k-means clusters, started from equal widths; ``mdlp`` ignores `bins` and uses `classes`, the
    target's codes.

    >>> cut_points(np.array([1.0, 2.0, 3.0, 4.0]), 2, "quantile")
    array([2.5])
    >>> cut_points(np.array([1.0, 2.0, 3.0, 40.0]), 2, "kmeans")
    array([21.])
    """
    if binning == "quantile":
        borders = np.quantile(values, np.arange(1, bins) / bins)
    elif binning == "uniform":
        borders = np.linspace(values.min(), values.max(), bins + 1)[1:-1]
    elif binning == "kmeans":
        borders = _between_centres(values, bins)
    elif binning == "mdlp":
        if classes is None:
            raise ParameterError(
                "binning 'mdlp' needs to know the target: name it in bind(..., target=...), or choose another binning."
            )
        borders = mdlp_cut_points(values, classes)
    else:
        raise ParameterError(f"binning is {binning!r}, but must be one of {', '.join(map(repr, BINNINGS))}.")
    return np.unique(borders)


def cut_points_of_rows(values: np.ndarray, bins: int, binning: str) -> np.ndarray:
    """Return borders, (k, bins - 1), for columns in the rows of a (k, n) matrix; codes are equal to `level_codes`.

    Only for ``quantile`` and ``uniform``. Borders ascend with repetitions: a code is the number of borders below a
    value.
    """
    ordered = np.sort(values, axis=1)
    borders = borders_by_order(lambda places: ordered[:, places], values.shape[1], bins, binning)
    n_distinct = 1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
    for i in np.flatnonzero(n_distinct <= bins):
        distinct = np.unique(ordered[i])
        borders[i] = distinct[-1]
        borders[i, : len(distinct) - 1] = distinct[:-1]
    return borders


def borders_by_order(
    order_statistics: Callable[[np.ndarray], np.ndarray], n_rows: int, bins: int, binning: str
) -> np.ndarray:
    """Return the borders of k columns like `cut_points_of_rows`, (k, bins - 1), equal to `cut_points` to the last bit.

    `order_statistics` returns the values at given positions of each sorted column, shape (k, positions).
    """
    if binning == "uniform":
        low, high = order_statistics(np.array([0, n_rows - 1])).T
        return np.ascontiguousarray(_equal_widths(low, high, bins))
    at = (n_rows - 1) * (np.arange(1, bins) / bins)
    before = np.floor(at).astype(np.int64)
    found = order_statistics(np.concatenate([before, np.minimum(before + 1, n_rows - 1)]))
    pairs = found.reshape(len(found), 2, bins - 1)
    # The quantile of two neighbours equals numpy's quantile of all values, to the last bit.
    between = [np.quantile(pairs[:, :, j], share, axis=1) for j, share in enumerate(at - before)]
    return np.ascontiguousarray(np.transpose(between))


def _equal_widths(low: np.ndarray, high: np.ndarray, bins: int) -> np.ndarray:
    """Return the inner borders of bins of equal widths, shape (k, bins - 1)."""
    # If a width underflows in one column, numpy uses another formula for all columns of the call.
    regular = (high - low) / bins != 0
    borders = np.empty((len(low), bins - 1))
    borders[regular] = np.linspace(low[regular], high[regular], bins + 1, axis=1)[:, 1:-1]
    for i in np.flatnonzero(~regular):
        borders[i] = np.linspace(low[i], high[i], bins + 1)[1:-1]
    return borders


def _between_centres(values: np.ndarray, bins: int) -> np.ndarray:
    if values.min() == values.max():
        return values[:1]
    from scipy.cluster.vq import kmeans

    borders = np.linspace(values.min(), values.max(), bins + 1)
    first_centres = 0.5 * (borders[1:] + borders[:-1])
    centres, _ = kmeans(values[:, None], first_centres[:, None], thresh=1e-12 * float(np.ptp(values)))
    centres = np.sort(centres.ravel())
    return 0.5 * (centres[1:] + centres[:-1])


def level_codes(column: Column, bins: int, binning: str, classes: np.ndarray | None = None) -> tuple[np.ndarray, int]:
    """Return the codes 0 .. r - 1 of the occurring levels of a column, shape (n,), and r.

    Discrete columns, integer columns with few values, and numbers with at most `bins` values keep their levels; others
    are binned by `cut_points`. Only ``mdlp`` may merge levels of numbers.
    """
    if column.is_discrete or column.kind == INTEGER:
        codes, n_levels = ranks(whole_numbers(column))
        if column.is_discrete or n_levels <= FEW_VALUES:
            return codes, n_levels
    values = column.numbers()
    if binning == "mdlp":
        return ranks(np.searchsorted(cut_points(values, bins, binning, classes), values))
    ordered = np.sort(values)
    if 1 + np.count_nonzero(ordered[1:] != ordered[:-1]) <= bins:
        borders = np.unique(ordered)[:-1]
    else:  # quantiles are found sooner where the values are in order; k-means adds them up in theirs
        borders = cut_points(ordered if binning == "quantile" else values, bins, binning)
    if len(borders) > FEW_BORDERS:
        return ranks(np.searchsorted(borders, values))
    codes = np.zeros(len(values), dtype=np.uint8)
    for border in borders:
        codes += values > border
    return ranks(codes)


def whole_numbers(column: Column) -> np.ndarray:
    """Return the values of a discrete or integer column with their own type, shape (n,)."""
    held = column.values
    return held if isinstance(held, np.ndarray) else held.dense(held.values.dtype)


def ranks(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the ranks of integers among the distinct values, shape (n,), and the number of distinct values."""
    low = values.min()
    if float(values.max()) - float(low) < COUNTED:
        is_whole = values.dtype.kind in "iu"
        # Differences of unsigned numbers of the same width are right even where signed ones overflow.
        codes = (values - low).view(f"u{values.itemsize}") if is_whole else values.astype(np.int64) - int(low)
        is_present = np.zeros(int(codes.max()) + 1, dtype=bool)
        for start in range(0, len(codes), BLOCK):
            is_present[codes[start : start + BLOCK]] = True
        n_levels = int(np.count_nonzero(is_present))
        if n_levels == len(is_present):
            return codes.astype(np.int32), n_levels
        return (np.cumsum(is_present, dtype=np.int32) - 1)[codes], n_levels
    levels, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int32), len(levels)


class Coder:
    """Codes the columns of one table; ``mdlp`` uses the classes of `target`, binned by quantiles if numeric."""

    def __init__(self, table: Table, bins: int, binning: str, target: int | None) -> None:
        self.table, self.bins, self.binning, self.target = table, bins, binning, target
        self._classes: np.ndarray | None = None
        if binning == "mdlp" and target is not None:
            self._classes = level_codes(table[target], bins, "quantile")[0]

    def codes(self, position: int) -> tuple[np.ndarray, int]:
        """Return the codes of a column and its number of levels."""
        is_target = position == self.target and self.binning == "mdlp"
        return level_codes(self.table[position], self.bins, "quantile" if is_target else self.binning, self._classes)


def mdlp_cut_points(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the cut points of a column with the minimum description length of the classes (codes from 0), ascending.

    Rows are split recursively, halfway between two values, at the cut with the least class entropy, if its information
    gain pays for the cut. Fayyad, Irani (1993) Multi-interval discretization of continuous-valued attributes for
    classification learning, IJCAI 13, 1022-1027.

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
