"""Factors of a discrete law: tables over a few variables, multiplied, and summed over the variables that are not asked.

A law is the product of its factors. A variable leaves it by a table over its neighbours, so the cost is that of the
largest set of neighbours: small where the graph has a small treewidth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.errors import DataError

#: Cells of the largest table, of one row.
MOST_CELLS = 2**18


@dataclass(frozen=True)
class Factor:
    """A table over the variables of `scope`, shape (1 or n, levels of each): one for all rows, or one for each."""

    scope: tuple[int, ...]
    table: np.ndarray


class Factors:
    """The factors of a law, found by their variables. `sizes` are the numbers of levels of all variables."""

    def __init__(self, sizes: Sequence[int], factors: Iterable[Factor] = ()) -> None:
        self.sizes = tuple(sizes)
        self._of: list[dict[int, Factor]] = [{} for _ in self.sizes]
        self._n_added = 0
        for factor in factors:
            self.add(factor)

    def add(self, factor: Factor) -> None:
        """Add a factor; one without variables says nothing and is left out."""
        for variable in factor.scope:
            self._of[variable][self._n_added] = factor
        self._n_added += 1

    def all(self) -> list[Factor]:
        """Return all factors."""
        return list({at: factor for of_one in self._of for at, factor in of_one.items()}.values())

    def neighbours(self, members: Iterable[int]) -> set[int]:
        """Return the variables that share a factor with some of the members, which are not among them."""
        members = set(members)
        return {v for member in members for factor in self._of[member].values() for v in factor.scope} - members

    def pop(self, members: Sequence[int]) -> tuple[np.ndarray, tuple[int, ...]]:
        """Take out the factors of some members, and return their product and the other variables in it.

        The product has the shape (1 or n, combinations of the members, levels of each other variable): the last member
        varies fastest. Raises `DataError` if that is too large.
        """
        others = tuple(sorted(self.neighbours(members)))
        shape = [self.sizes[v] for v in (*members, *others)]
        if math.prod(shape) > MOST_CELLS:
            raise DataError(
                f"knockoffs: the graph ties {len(others) + len(members)} features together, whose table has "
                f"{math.prod(shape):,} cells, more than {MOST_CELLS:,}. Give a graph of smaller treewidth, or merge "
                "levels."
            )
        axis = {v: at for at, v in enumerate((*members, *others), start=1)}
        taken = {at: factor for member in members for at, factor in self._of[member].items()}
        product = np.ones((1, *shape))
        for at, factor in taken.items():
            order = sorted(range(len(factor.scope)), key=lambda k: axis[factor.scope[k]])
            table = factor.table.transpose(0, *(k + 1 for k in order))
            spread = [1] * len(axis)
            for k in order:
                spread[axis[factor.scope[k]] - 1] = self.sizes[factor.scope[k]]
            product = product * table.reshape(len(table), *spread)
            for variable in factor.scope:
                del self._of[variable][at]
        return product.reshape(len(product), math.prod(shape[: len(members)]), *shape[len(members) :]), others


def without(factors: Factors, hidden: Iterable[int]) -> Factors:
    """Sum some variables out of a law, in place, those of the smallest tables first, and return it."""
    for (variable,) in elimination_order(factors, [(variable,) for variable in hidden])[0]:
        product, others = factors.pop((variable,))
        factors.add(Factor(others, product.sum(axis=1)))
    return factors


def elimination_order(factors: Factors, groups: Sequence[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], int]:
    """Return an order in which groups of variables leave a law, and the cells of the largest table on the way.

    Each time it is a group whose table is smallest, the first of equals: a chain leaves from its first variable on.
    Finding the best order is hard; this one is greedy.

    Examples
    --------
    >>> chain = Factors([2, 2, 2], [Factor((0, 1), np.ones((1, 2, 2))), Factor((1, 2), np.ones((1, 2, 2)))])
    >>> elimination_order(chain, [(0,), (1,), (2,)])
    ([(0,), (1,), (2,)], 4)
    """
    group_of = {v: at for at, group in enumerate(groups) for v in group}
    near = [factors.neighbours(group) for group in groups]

    def cells(at: int) -> float:
        return float(math.prod(factors.sizes[v] for v in (*groups[at], *near[at])))

    weights = np.array([cells(at) for at in range(len(groups))])
    order, largest = [], 1.0
    for _ in groups:
        at = int(np.argmin(weights))
        order.append(groups[at])
        largest, weights[at] = max(largest, weights[at]), np.inf
        gone = set(groups[at])
        for other in {group_of[v] for v in near[at] if v in group_of}:
            near[other] = (near[other] | near[at]) - gone - set(groups[other])
            weights[other] = cells(other)
    return order, int(min(largest, 1e18))
