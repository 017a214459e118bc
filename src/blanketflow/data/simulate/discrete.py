"""Discrete Bayesian networks: tables of conditional probabilities, and samples from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NoReturn

import numpy as np

from ...core.cards import CATEGORICAL
from ...core.errors import DataError
from ...core.levels import column_of_codes
from ...core.table import Column
from .network import Network, Node

#: How far the probabilities of a row may be from 1 in total; more than this is not a rounding error of float64.
EXACT = 1e-9
#: How far they may be in a file: the bnlearn repository rounds to 7 digits, which leaves up to 3e-7.
ROUNDED = 1e-6
#: Cells of all tables that are made of a file, half a gigabyte.
MOST_CELLS = 2**26


@dataclass(frozen=True)
class DiscreteNode(Node):
    """One node with discrete parents."""

    levels: tuple[str, ...]
    parents: tuple[str, ...]
    #: Probabilities given each combination of the parents' values, shape (levels of parent 1, levels of parent 2, ...,
    #: len(levels)); each last axis sums to 1.
    cpt: np.ndarray
    kind: ClassVar[str] = CATEGORICAL

    def check(self, where: str, nodes: Mapping[str, Node]) -> None:
        """Raise `DataError` if a parent is not discrete, a level occurs twice or the table is not a distribution."""
        shape = (*level_counts(where, self.parents, nodes), len(self.levels))
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise DataError(f"{where}: the levels {list(self.levels)} must be at least one, and distinct.")
        if self.cpt.shape != shape:
            raise DataError(f"{where}: the table has shape {self.cpt.shape}, not {shape}.")
        if not (self.cpt >= 0).all() or not (abs(self.cpt.sum(axis=-1) - 1) <= EXACT).all():
            raise DataError(f"{where}: a row of the table is not a distribution.")

    def draw(self, rng: np.random.Generator, rows: int, given: Sequence[np.ndarray]) -> np.ndarray:
        """Draw codes of levels: how many of the row's cumulative probabilities a uniform number has passed."""
        drawn = rng.random(rows)
        at = configurations(given, self.cpt.shape[:-1])
        codes = np.zeros(rows, dtype=np.intp)
        if at is not None:
            at *= self._bounds.shape[1]
        step = (self._bounds.shape[1] + 1) // 2
        while step:  # a binary search in all rows at once; the bounds of a row never fall
            ahead = codes + (step - 1)
            codes += step * (drawn >= self._bounds.take(ahead if at is None else ahead + at))
            step //= 2
        return codes

    @cached_property
    def _bounds(self) -> np.ndarray:
        """Cumulative probabilities without the last, shape (configurations, 2**m - 1), filled up with infinity."""
        n = len(self.levels)
        bounds = np.full((math.prod(self.cpt.shape[:-1]), (1 << (n - 1).bit_length()) - 1), np.inf)
        bounds[:, : n - 1] = np.cumsum(self.cpt, axis=-1)[..., :-1].reshape(len(bounds), n - 1)
        return bounds

    def empty(self, rows: int) -> np.ndarray:
        """Return an array for codes of levels."""
        return np.empty(rows, dtype=np.min_scalar_type(len(self.levels) - 1))

    def column(self, name: str, values: np.ndarray) -> Column:
        """Return the codes as a categorical column with sorted levels."""
        return column_of_codes(name, values, self.levels)


class DiscreteNetwork(Network):
    """A Bayesian network of discrete nodes; parameters and errors as for `Network`."""

    kinds = (DiscreteNode,)


def node(levels: Sequence[str], parents: Sequence[str] = (), *, table: Sequence) -> DiscreteNode:
    """Make a node from nested lists, first parent outermost.

    >>> node(["no", "yes"], ["rain"], table=[[0.9, 0.1], [0.2, 0.8]]).cpt.shape
    (2, 2)
    """
    return DiscreteNode(tuple(levels), tuple(parents), np.array(table, dtype=np.float64))


def normalised(table: np.ndarray, fail: Callable[[str], NoReturn]) -> np.ndarray:
    """Return a table from a file with each last axis divided by its total, which is 1 except for rounding.

    `fail` is called with what is wrong, to raise an error that names the place: a negative probability, one that is not
    a number, or a total that is further from 1 than `ROUNDED`.

    >>> normalised(np.array([0.3333333, 0.3333333, 0.3333333]), print).round(12)
    array([0.33333333, 0.33333333, 0.33333333])
    """
    total = table.sum(axis=-1, keepdims=True)
    wrong = total[~(abs(total - 1) <= ROUNDED)]
    if len(wrong):
        fail(f"probabilities that add up to {wrong[0]:.9g}, not to 1,")
    if (table < 0).any():
        fail("a negative probability")
    return table / total


def level_counts(where: str, parents: Iterable[str], nodes: Mapping[str, Node]) -> tuple[int, ...]:
    """Return how many levels each parent has, or raise `DataError` if one is not discrete."""
    for parent in parents:
        if not isinstance(nodes[parent], DiscreteNode):
            raise DataError(f"{where}: the parent {parent!r} is not discrete.")
    return tuple(len(nodes[parent].levels) for parent in parents)


def configurations(codes: Sequence[np.ndarray], shape: Sequence[int]) -> np.ndarray | None:
    """Return the number of each row's combination of levels, the last one varying fastest; None without parents.

    >>> configurations([np.array([0, 1]), np.array([2, 0])], (2, 3))
    array([2, 3])
    """
    if not codes:
        return None
    at = codes[0].astype(np.intp)
    for more, n in zip(codes[1:], shape[1:], strict=True):
        at *= n
        at += more
    return at
