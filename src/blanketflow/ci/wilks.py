"""The p-value of Wilks' lambda, which compares two sets of columns: Rao's F approximation."""

from __future__ import annotations

import math

import numpy as np

from .tails import f_greater


def rao_f(log_lambda: float, p: int, q: int, rest: float) -> tuple[float, float, float] | None:
    """Return Rao's F of Wilks' lambda with its p-value and log p; None if no degrees of freedom are left.

    With one column in a set, or two, F is exact for Gaussian columns; else it is right in large samples.

    Parameters
    ----------
    log_lambda : float
        log of lambda, the product of 1 - r^2 over the canonical correlations r of the two sets; at most 0.
    p, q : int
        Number of linearly independent columns in each set, at least 1.
    rest : float
        Rows less the number of linearly independent columns that are given, the constant among them.

    References
    ----------
    Rao (1973) Linear Statistical Inference and Its Applications, 2nd ed., Wiley, doi:10.1002/9780470316436, 8c.5.

    Examples
    --------
    >>> f, p_value, _ = rao_f(math.log(0.5), 1, 1, 20)  # one column in each: F = r^2 / (1 - r^2) (20 - 1)
    >>> round(f, 9), round(p_value, 5)
    (19.0, 0.00034)
    """
    squares = p * p + q * q - 5
    root = math.sqrt((p * p * q * q - 4) / squares) if squares > 0 else 1.0
    dof, left = float(p * q), (rest - (p + q + 1) / 2) * root - p * q / 2 + 1
    if left <= 0 or rest < p + q:
        return None
    f = math.expm1(-log_lambda / root) * left / dof
    p_value, log_p = f_greater(np.array([f]), np.array([dof]), np.array([left]))
    return f, float(p_value[0]), float(log_p[0])
