"""Conventions of all trees: the place of a cut between two values, and the smallest probability."""

from __future__ import annotations

from numba import njit

#: Probabilities are clipped to this before taking the logarithm of the log-loss.
SMALLEST_PROBABILITY = 1e-15


@njit
def between(low, high):
    """Return the threshold halfway between two values: rows at most this go left, and rows of `high` never do."""
    middle = 0.5 * low + 0.5 * high
    return low if middle >= high else middle
