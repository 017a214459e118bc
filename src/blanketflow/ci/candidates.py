"""What a query tests: columns or sets of columns, given by name or position, as positions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np

from ..core.cards import Card
from ..core.errors import ParameterError, UnsupportedError
from ..core.table import Table
from .engines import Candidate, Columns


def candidates_of(table: Table, xs: Iterable[str | int | Columns], card: Card) -> list[Candidate]:
    """Return the position of each column, and those of each set, ascending.

    Raises `ParameterError` if a set is empty, and `UnsupportedError` if a test takes no sets, by its card.
    """
    if are_positions(xs):
        return in_range(table, xs).tolist()
    xs = list(xs)
    kinds = set(map(type, xs))
    if kinds <= {int, str}:  # the usual case, and the fast one
        return table.places(xs)
    if kinds == {tuple} and card.column_sets and len(size := set(map(len, xs))) == 1 and min(size) > 1:
        positions = np.sort(np.reshape(table.places([*chain(*xs)]), (-1, *size)))
        if np.diff(positions).all():  # of columns that are different, as the many sets of a search are
            return [*map(tuple, positions.tolist())]
    return [candidate_of(table, x, card) for x in xs]


def candidate_of(table: Table, x: str | int | Columns, card: Card) -> Candidate:
    """Return the position of a column, or those of a set."""
    if type(x) is int or type(x) is str or not isinstance(x, list | tuple | set | frozenset):
        return table.position(x)
    positions = tuple(sorted({table.position(column) for column in x}))
    if not positions:
        raise ParameterError("a test needs at least one column as X, but the set is empty.")
    if len(positions) > 1 and not card.column_sets:
        raise UnsupportedError(
            f"{card.id} tests one column at a time, not a set. Tests for sets have column_sets in "
            "blanketflow.list_ci_tests()."
        )
    return positions if len(positions) > 1 else positions[0]


def are_positions(xs: object) -> bool:
    """Return whether columns are given by an array of positions."""
    return isinstance(xs, np.ndarray) and xs.dtype.kind == "i"


def in_range(table: Table, positions: np.ndarray) -> np.ndarray:
    """Return the positions if the table has all of them."""
    if len(positions) and not 0 <= positions.min() <= positions.max() < len(table):
        table.position(int(positions.min() if positions.min() < 0 else positions.max()))  # which raises
    return positions
