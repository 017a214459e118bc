"""What the screen by cross products found, confirmed on rows: robustly, given more functions where these tell more."""

from __future__ import annotations

from functools import partial

import numpy as np

from .spline_given import ROUNDING, GivenFunctions, State, of_length_1, orthonormal, without
from .spline_screen import SplineScreen, whitening
from .tails import f_greater

#: 1 - leverage is at least this, and a variance that is less than its share of the largest is rounding.
LEAST_FREE, LEAST_VARIANCE = 1e-3, 1e-18


class Confirmation:
    """Tests of columns with one target given some columns, on rows."""

    def __init__(self, screen: SplineScreen, target: int, given: GivenFunctions) -> None:
        self._screen, self._target, self._given, self._has_given = screen, target, given, len(given.basis) > 0
        functions, n_y = screen.side(target), screen.n_straight[target]
        self._y = given.left(functions)
        self._first, self._powers = (
            State.first(self._y[:n_y]),
            given.powers(functions[:n_y] - self._y[:n_y], lasts=True),
        )

    def of(self, column: int) -> np.ndarray:
        """Return statistic, degrees of freedom and log p, (3, 3), of the parts of the test of a column."""
        screen, given = self._screen, self._given
        functions = screen.side(column)
        before, n_x, state = given.left(functions), int(screen.n_straight[column]), self._first
        if self._has_given:
            powers = given.powers(functions[:n_x] - before[:n_x]) + self._powers
            state = given.more(self._first, before[:n_x], powers)
        x = without(before, state.added)
        if state.of_target is None:  # the same for all columns of which nothing more is added
            y, n_y = without(self._y, state.added), int(screen.n_straight[self._target])
            is_nothing = bool(self._has_given and given.is_nothing(self._y[:n_y], y[:n_y]))
            state.of_target = Side(y, n_y), given.leverage + leverages(state.added), is_nothing
        of_y, leverage, is_nothing = state.of_target
        if is_nothing or (self._has_given and given.is_nothing(before[:n_x], x[:n_x])):
            return np.zeros((3, 3))
        of_x, rest = Side(x, n_x), screen.n_rows - 1.0 - len(given.basis) - len(state.added)
        has_bends = len(of_x.bends) > 0 or len(of_y.bends) > 0
        found = [robust(of_x.straight, of_y.straight, leverage, rest, spares_power=has_bends)]
        for one, other in ((of_x, of_y), (of_y, of_x)):
            straight = without(other.straight, one.first)
            found.append(robust(one.bends, straight, leverage + one.leverage, rest - len(one.first)))
        statistic, f, dof, rests = np.transpose(found)
        return np.array([statistic, dof, f_greater(f, dof, rests)[1]])


class Side:
    """What is left of a column: its straight functions, an orthonormal basis of these, `first`, and bends beside it."""

    def __init__(self, left: np.ndarray, n_straight: int) -> None:
        self.straight = left[:n_straight]
        self.first = orthonormal(self.straight)
        self.bends, self.leverage = without(left[n_straight:], self.first), leverages(self.first)


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
    from ..kernels.splines import variance_of_products

    n, variance = len(leverage), np.zeros((dof, dof))
    variance_of_products(x, y, leverage, LEAST_FREE, covariance, spares_power, variance)
    if covariance.size == 1:
        squared = float(covariance.item() ** 2 / variance.item()) if variance.item() > LEAST_VARIANCE**2 else 0.0
        dof = int(variance.item() > LEAST_VARIANCE**2)
    else:
        lengths = np.sqrt(np.diagonal(variance))
        lengths = np.where(lengths > LEAST_VARIANCE, lengths, np.inf)
        along = whitening(variance / np.outer(lengths, lengths)) @ (covariance.ravel() / lengths)
        squared, dof = float(along @ along), len(along)
    if not dof:
        return 0.0, 0.0, 0.0, 1.0
    # The squares of products are at least those of their means, so that their ratio is below n (Hotelling's T^2).
    f = squared / dof if spares_power else squared * (rest - dof) / (dof * max(n - squared, 1e-9 * n))
    return squared, f, float(dof), rest - dof


def leverages(basis: np.ndarray) -> np.ndarray:
    """Return how much of each row is in orthonormal functions, (rank, n): the diagonal of their projection, (n,)."""
    return np.sum(basis * basis, axis=0)
