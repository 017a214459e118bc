"""What the screen by cross products found, confirmed on rows: robustly, given more functions where these tell more."""

from __future__ import annotations

from functools import partial

import numpy as np

from .spline_given import ROUNDING, GivenFunctions, of_length_1, orthonormal, without
from .spline_screen import SplineScreen, whitening
from .tails import f_greater

#: 1 - leverage is at least this, and a variance that is less than its share of the largest is rounding.
LEAST_FREE, LEAST_VARIANCE = 1e-3, 1e-18


class Confirmation:
    """Tests of columns with one target given some columns, on rows."""

    def __init__(self, screen: SplineScreen, target: int, given: tuple[int, ...]) -> None:
        self._screen, self._target, self._has_given = screen, target, bool(given)
        self._given = GivenFunctions(screen, given)
        self._leverage = 1.0 / screen.n_rows + leverages(self._given.basis)
        self._y = self._given.left(screen.side(target))

    def of(self, column: int) -> np.ndarray:
        """Return statistic, degrees of freedom and log p, (3, 3), of the parts of the test of a column."""
        screen, given = self._screen, self._given
        functions = screen.side(column)
        x, y, leverage, rest = given.left(functions), self._y, self._leverage, screen.n_rows - 1.0 - len(given.basis)
        n_x, n_y = int(screen.n_straight[column]), int(screen.n_straight[self._target])
        if self._has_given:
            of_target = screen.side(self._target)
            more = given.more(np.vstack([functions[:n_x], of_target[:n_y]]))
            x, y, leverage, rest = without(x, more), without(y, more), leverage + leverages(more), rest - len(more)
            if given.is_nothing(x[:n_x]) or given.is_nothing(y[:n_y]):
                return np.zeros((3, 3))
        bends = len(x) > n_x or len(y) > n_y
        found = [robust(x[:n_x], y[:n_y], leverage, rest, spares_power=bends)]
        for one, other, n_one, n_other in ((x, y, n_x, n_y), (y, x, n_y, n_x)):
            first = orthonormal(one[:n_one])
            more, straight = without(one[n_one:], first), without(other[:n_other], first)
            found.append(robust(more, straight, leverage + leverages(first), rest - len(first)))
        statistic, f, dof, rests = np.transpose(found)
        return np.array([statistic, dof, f_greater(f, dof, rests)[1]])


def robust(
    x: np.ndarray, y: np.ndarray, leverage: np.ndarray, rest: float, spares_power: bool = False
) -> tuple[float, float, float, float]:
    """Return statistic, F and its degrees of freedom for no covariance of what is left of functions of X and of Y.

    The score is the sum of products of both over the rows, and its variance that of these products (HC2: MacKinnon and
    White 1985, doi:10.1016/0304-4076(85)90158-7), so that it may change with the given columns. Of the straight part,
    unless both are labels or flags, it is the mean of that and of the variance of estimated correlations: the first
    counts the effect as noise and costs power, and the second alone rejects too often where the given columns explain
    nearly all.

    Parameters
    ----------
    x, y : ndarray of shape (a, n) and (b, n)
        What regressions on the same functions leave.
    leverage : ndarray of shape (n,)
        The diagonal of the projection on these functions and the constant.
    rest : float
        Rows less their number.
    spares_power : bool
        Whether the variance is the mean of both.
    """
    # Correlations take orthonormal functions; products of any functions with the same span say the same.
    prepared = orthonormal if spares_power else partial(of_length_1, least=ROUNDING)
    x, y = prepared(x), prepared(y)
    covariance = x @ y.T
    dof = covariance.size
    if not dof or rest <= dof:
        return 0.0, 0.0, 0.0, 1.0
    n, free = len(leverage), np.maximum(1.0 - leverage, LEAST_FREE)
    products = x[:, np.newaxis] * y
    variance = _products(products, free)
    if spares_power:
        # How each row changes correlations r: x y - r (x^2 + y^2) / 2 for two columns.
        influence = products - (x[:, np.newaxis] * (covariance.T @ x) + (covariance @ y)[:, np.newaxis] * y) / 2.0
        variance = (variance + _products(influence, free)) / 2.0
    lengths = np.sqrt(np.diagonal(variance))
    lengths = np.where(lengths > LEAST_VARIANCE, lengths, np.inf)
    along = whitening(variance / np.outer(lengths, lengths)) @ (covariance.ravel() / lengths)
    squared, dof = float(along @ along), len(along)
    if not dof:
        return 0.0, 0.0, 0.0, 1.0
    # The squares of products are at least those of their means, so that their ratio is below n (Hotelling's T^2).
    f = squared / dof if spares_power else squared * (rest - dof) / (dof * max(n - squared, 1e-9 * n))
    return squared, f, float(dof), rest - dof


def _products(values: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the sums over rows of products of values, (a, b, n), each divided by what is free of the row."""
    values = values.reshape(-1, values.shape[-1])
    return (values / free) @ values.T


def leverages(basis: np.ndarray) -> np.ndarray:
    """Return how much of each row is in orthonormal functions, (rank, n): the diagonal of their projection, (n,)."""
    return np.sum(basis * basis, axis=0)
