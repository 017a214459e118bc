"""From columns to level codes: how discrete tests see numeric columns. Fitted on the rows of the table at hand."""

from __future__ import annotations

import numpy as np

from ..core.cards import INTEGER
from ..core.errors import ParameterError
from ..core.table import Column, Table

#: Whole-number columns with at most this many distinct values are discrete as they are.
FEW_VALUES = 10
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

    Discrete columns and whole-number columns of few values keep their levels; all others are binned, as `cut_points`
    says.
    """
    values = column.numbers()
    if not column.is_discrete:
        few = column.kind == INTEGER and _few(values)
        if not few:
            values = np.searchsorted(cut_points(values, bins, binning, classes), values, side="left")
    low = values.min()
    if values.max() - low < 2**12:  # counting is faster than sorting
        codes = (values - low).astype(np.intp)
        place = np.cumsum(np.bincount(codes) > 0) - 1
        return place[codes].astype(np.int32), int(place[-1]) + 1
    levels, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int32), len(levels)


def _few(values: np.ndarray) -> bool:
    return len(np.unique(values[:1000])) <= FEW_VALUES and len(np.unique(values)) <= FEW_VALUES


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
