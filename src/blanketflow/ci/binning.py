"""From columns to level codes: how discrete tests see numeric columns. Fitted on the rows of the table at hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.cards import INTEGER
from ..core.errors import ParameterError
from ..core.table import Column, Table

#: Whole-number columns with at most this many distinct values are discrete as they are.
FEW_VALUES = 10
#: Whole numbers of a smaller range are counted, which is faster than sorting them.
COUNTED = 2**12
BINNINGS = ("quantile", "uniform", "kmeans", "mdlp")


def cut_points(values: np.ndarray, bins: int, binning: str, classes: np.ndarray | None = None) -> np.ndarray:
    """Return the inner borders of the bins, ascending and distinct.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Training values.
    bins : int
        Number of bins wanted, at least 2; fewer come out where values are tied. Not used by ``mdlp``.
    binning : {"quantile", "uniform", "kmeans", "mdlp"}
        Equal counts, equal widths, nearest centre of one-dimensional k-means (from equal widths on), or minimal
        description length of the classes.
    classes : int ndarray of shape (n,), optional
        The target's codes, for ``mdlp``.

    Examples
    --------
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
        from .mdlp import mdlp_cut_points

        if classes is None:
            raise ParameterError(
                "binning 'mdlp' needs to know the target: name it in bind(..., target=...), or choose another binning."
            )
        borders = mdlp_cut_points(values, classes)
    else:
        raise ParameterError(f"binning is {binning!r}, but must be one of {', '.join(map(repr, BINNINGS))}.")
    return np.unique(borders)


def cut_points_of_rows(values: np.ndarray, bins: int, binning: str) -> np.ndarray:
    """Return borders with which the codes of many columns are those of `level_codes`.

    Parameters
    ----------
    values : float64 ndarray of shape (k, n)
        One column a row.
    bins, binning
        As for `cut_points`; ``quantile`` or ``uniform``.

    Returns
    -------
    ndarray of shape (k, bins - 1)
        Ascending in each row, with repetitions: a value's code counts the borders below it.
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
    """Return the borders of many columns by the few of their values that these depend on.

    Parameters
    ----------
    order_statistics : callable
        Returns what stands at some places of each column in ascending order, shape (k, number of places).
    n_rows : int
        Rows of the table.
    bins, binning
        As for `cut_points`; ``quantile`` or ``uniform``.

    Returns
    -------
    ndarray of shape (k, bins - 1)
        Ascending in each row, with repetitions; to the last bit those of `cut_points`.
    """
    if binning == "uniform":
        low, high = order_statistics(np.array([0, n_rows - 1])).T
        return np.ascontiguousarray(_equal_widths(low, high, bins))
    at = (n_rows - 1) * (np.arange(1, bins) / bins)
    before = np.floor(at).astype(np.int64)
    found = order_statistics(np.concatenate([before, np.minimum(before + 1, n_rows - 1)]))
    pairs = found.reshape(len(found), 2, bins - 1)
    # A quantile of two values is what numpy puts between two neighbours, to the last bit.
    between = [np.quantile(pairs[:, :, j], share, axis=1) for j, share in enumerate(at - before)]
    return np.ascontiguousarray(np.transpose(between))


def _equal_widths(low: np.ndarray, high: np.ndarray, bins: int) -> np.ndarray:
    """Return the inner borders of bins of equal widths, shape (k, bins - 1)."""
    # Where a width underflows numpy computes otherwise, and if that is so in one column then in all of a call.
    regular = (high - low) / bins != 0
    borders = np.empty((len(low), bins - 1))
    borders[regular] = np.linspace(low[regular], high[regular], bins + 1, axis=1)[:, 1:-1]
    for i in np.flatnonzero(~regular):
        borders[i] = np.linspace(low[i], high[i], bins + 1)[1:-1]
    return borders


def _between_centres(values: np.ndarray, bins: int) -> np.ndarray:
    """Return the midpoints between the centres of one-dimensional k-means."""
    if values.min() == values.max():
        return values[:1]
    from scipy.cluster.vq import kmeans

    borders = np.linspace(values.min(), values.max(), bins + 1)
    first_centres = 0.5 * (borders[1:] + borders[:-1])
    centres, _ = kmeans(values[:, None], first_centres[:, None], thresh=1e-12 * float(np.ptp(values)))
    centres = np.sort(centres.ravel())
    return 0.5 * (centres[1:] + centres[:-1])


def level_codes(column: Column, bins: int, binning: str, classes: np.ndarray | None = None) -> tuple[np.ndarray, int]:
    """Return the codes 0 .. r - 1 of a column's levels that are present, and r.

    Discrete columns, whole-number columns of few values, and numbers of no more values than bins keep their levels; all
    others are binned, as `cut_points` says. Only ``mdlp`` may join levels of numbers.
    """
    if column.is_discrete or column.kind == INTEGER:
        codes, n_levels = ranks(whole_numbers(column))
        if column.is_discrete or n_levels <= FEW_VALUES:
            return codes, n_levels
    values = column.numbers()
    if binning != "mdlp":
        distinct = np.unique(values)
        if len(distinct) <= bins:
            return np.searchsorted(distinct, values).astype(np.int32), len(distinct)
    return ranks(np.searchsorted(cut_points(values, bins, binning, classes), values, side="left"))


def whole_numbers(column: Column) -> np.ndarray:
    """Return the values of a discrete or whole-number column as they are held, shape (n,)."""
    held = column.values
    return held if isinstance(held, np.ndarray) else held.dense(held.values.dtype)


def ranks(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the ranks of whole numbers among those that occur, and how many occur."""
    low = values.min()
    if float(values.max()) - float(low) < COUNTED:
        # Differences of small signed types overflow, and large unsigned numbers have no place among the signed ones.
        codes = (values - low if values.dtype.kind == "u" else values.astype(np.int64) - int(low)).astype(np.int64)
        is_present = np.bincount(codes) > 0
        n_levels = int(np.count_nonzero(is_present))
        if n_levels < len(is_present):
            codes = (np.cumsum(is_present) - 1)[codes]
        return codes.astype(np.int32), n_levels
    levels, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int32), len(levels)


class Coder:
    """Codes the columns of one table.

    Parameters
    ----------
    table : Table
        The rows on which bins are fitted.
    bins, binning
        As for `cut_points`.
    target : int or None
        The column whose classes ``mdlp`` describes; a numeric one is binned by quantiles.
    """

    def __init__(self, table: Table, bins: int, binning: str, target: int | None) -> None:
        self.table, self.bins, self.binning, self.target = table, bins, binning, target
        self._classes: np.ndarray | None = None
        if binning == "mdlp" and target is not None:
            self._classes = level_codes(table[target], bins, "quantile")[0]

    def codes(self, position: int) -> tuple[np.ndarray, int]:
        """Return the codes of a column and its number of levels."""
        is_target = position == self.target and self.binning == "mdlp"
        return level_codes(self.table[position], self.bins, "quantile" if is_target else self.binning, self._classes)
