"""Sums in twice the precision, in which no order of terms shows."""

from __future__ import annotations

from .value_groups import inlined


@inlined
def add_times(sums, k, count, term):
    """Add a whole number (below 2^26) times a float to sum `k` of `sums`, each of which is two floats."""
    shifted = 134217729.0 * term  # 2^27 + 1 parts a float into halves
    high = shifted - (shifted - term)
    product = count * high
    total = sums[k, 0] + product
    of_sum = total - sums[k, 0]
    sums[k, 1] += (sums[k, 0] - (total - of_sum)) + (product - of_sum) + count * (term - high)
    sums[k, 0] = total


@inlined
def difference_of_means(sums, n_terms):
    """Return the mean of the second sum's terms less that of the first one's."""
    return (sums[1, 0] + sums[1, 1]) / n_terms - (sums[0, 0] + sums[0, 1]) / n_terms
