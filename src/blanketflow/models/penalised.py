"""Likelihoods of standardised columns with an L2 penalty, maximised by Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

#: The iteration ends if a step is expected to raise the objective by at most half of this share of its size.
CONVERGED = 1e-14
MAX_HALVINGS = 40


class Point(NamedTuple):
    """A concave objective at some parameters: its value, gradient, (k,), and minus its Hessian, (k, k)."""

    value: float
    gradient: np.ndarray
    curvature: np.ndarray

    def less(self, penalty: np.ndarray | float, at: np.ndarray) -> Point:
        """Return the objective less half of the penalties, (k,) or one for all, times squared parameters `at`, (k,)."""
        penalties = np.broadcast_to(penalty, at.shape)
        return Point(
            self.value - float(penalties @ at**2) / 2,
            self.gradient - penalties * at,
            self.curvature + np.diag(penalties),
        )


def maximum(objective: Callable[[np.ndarray], Point], start: np.ndarray, max_iter: int) -> np.ndarray:
    """Return the parameters that maximise a concave objective, whose value is -inf outside its domain.

    >>> square = lambda at: Point(-float((at[0] - 2) ** 2), -2 * (at - 2), 2 * np.eye(1))
    >>> maximum(square, np.zeros(1), 10).round(6).tolist()
    [2.0]
    """
    here, point = start, objective(start)
    for _ in range(max_iter):
        step = _solved(point)
        gain = float(step @ point.gradient)
        if gain <= CONVERGED * (1.0 + abs(point.value)):
            break
        for _ in range(MAX_HALVINGS):
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                further = objective(here + step)
            if further.value > point.value:
                break
            step = step / 2
        else:
            break
        here, point = here + step, further
    return here


def _solved(point: Point) -> np.ndarray:
    """Return Newton's step; of least norm if the Hessian is singular."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        return cho_solve(cho_factor(point.curvature), point.gradient)
    except LinAlgError:
        return np.linalg.lstsq(point.curvature, point.gradient, rcond=1e-10)[0]


class PenalisedColumns:
    """Standardised columns, rotated into the space of their rows if they outnumber the rows.

    A penalty on the sum of squares is the same before and after a rotation.
    """

    def __init__(self, X: np.ndarray) -> None:
        from sklearn.preprocessing import StandardScaler

        self.scaler = StandardScaler().fit(X)
        self.rows = self.scaler.transform(X)
        self._back = None
        if self.rows.shape[1] > self.rows.shape[0]:
            left, sizes, self._back = np.linalg.svd(self.rows, full_matrices=False)
            self.rows = left * sizes

    def of_columns(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the coefficients of the standardised columns, (d,)."""
        return coefficients if self._back is None else coefficients @ self._back
