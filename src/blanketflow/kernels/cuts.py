"""What all trees agree on: where a cut lies between two values, and how small a probability may be."""

from __future__ import annotations

from numba import njit

#: Probabilities are clipped here before the logarithm of the log-loss.
SMALLEST_PROBABILITY = 1e-15


@njit
def between(low, high):
    """Return the threshold halfway between two values: rows at most this go left, those of `high` never do."""
    middle = 0.5 * low + 0.5 * high
    return low if middle >= high else middle
