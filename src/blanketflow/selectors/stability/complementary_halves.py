"""Complementary pairs of halves of the rows, drawn at random: disjoint, so that what they select is independent.

The halves are not balanced by the target, as the parts of `core.parts` are: then they would depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.errors import DataError
from ...core.parts import numbers_of
from ...core.seeds import derive_rng

#: Rows or groups with which both halves have two.
FEWEST = 4


def complementary_halves(
    n_rows: int, groups: np.ndarray | None, n_pairs: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield pairs of halves, each the positions of its rows in table order; of an odd number one row is in neither.

    With `groups`, (n_rows,), half the groups are drawn, each with all its rows. Raises `DataError` if there are fewer
    than 4 rows, or 4 groups.

    Examples
    --------
    >>> first, second = next(complementary_halves(7, None, 1, seed=0))
    >>> len(first), len(second), len(set(first) | set(second))
    (3, 3, 6)
    """
    units = np.arange(n_rows) if groups is None else numbers_of(groups)
    n_units = int(units.max(initial=-1)) + 1
    if n_units < FEWEST:
        what = "rows" if groups is None else "groups of rows"
        raise DataError(
            f"stability selection draws halves and needs at least {FEWEST} {what}, but there are {n_units}."
        )
    half = n_units // 2
    for pair in range(n_pairs):
        order = derive_rng(seed, "stability-selection", pair).permutation(n_units)
        first, second = (np.flatnonzero(np.isin(units, drawn)) for drawn in (order[:half], order[half : 2 * half]))
        yield first, second
