"""Features beside their knockoffs: from the law that a method names, once, pairs are drawn as often as wanted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.cards import NUMERIC
from ...core.table import Column, Table
from ...models.encode import design
from ..base import Problem
from .conditional_pairs import drawn_pairs
from .discrete_columns import codes_of, levels_of, table_of
from .discrete_law import DiscreteLaw, chain_arcs, estimated_law, network_law
from .gaussian_knockoffs import KnockoffLaw

#: What is known of the features, in the words of the parameter.
GAUSSIAN, MARKOV_CHAIN, NETWORK = "gaussian", "markov-chain", "network"


@dataclass(frozen=True)
class Pair:
    """Features and their knockoffs, as numbers for models and as columns for CI tests.

    Parameters
    ----------
    columns, knockoffs : ndarray of shape (n, m)
        Column by column.
    owners : ndarray of shape (m,)
        The position of the feature that each belongs to.
    tables : tuple of two Table, optional
        The same as columns of their kinds, whose owners are `table_owners`; else columns are numbers.
    by_products : bool
        Whether a lasso works on products of the columns that it lets in, which takes less time and memory.
    """

    columns: np.ndarray
    knockoffs: np.ndarray
    owners: np.ndarray
    tables: tuple[Table, Table] | None = None
    table_owners: np.ndarray | None = None
    by_products: bool = False

    def as_columns(self) -> tuple[list[Column], list[Column], np.ndarray]:
        """Return the columns of features, those of knockoffs, and their owners."""
        if self.tables is not None and self.table_owners is not None:
            return list(self.tables[0].columns), list(self.tables[1].columns), self.table_owners
        both = ([Column("", NUMERIC, values) for values in matrix.T] for matrix in (self.columns, self.knockoffs))
        return (*both, self.owners)


class Pairs(ABC):
    """Draws knockoffs."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Pair:
        """Return features and fresh knockoffs."""


@dataclass(frozen=True)
class GaussianPairs(Pairs):
    """Centred columns of variance 1, their owners, and their Gaussian law, of each row given its spread.

    `spreads`, (n,), are those of rows. They multiply the columns for which `is_spread`, (m,), holds, and their
    knockoffs.
    """

    columns: np.ndarray
    owners: np.ndarray
    law: KnockoffLaw
    by_products: bool = False
    spreads: np.ndarray | None = None
    is_spread: np.ndarray | None = None

    def draw(self, rng: np.random.Generator) -> Pair:
        """Return the columns and fresh knockoffs."""
        both = self.columns, self.law.draw(self.columns, rng)
        if self.spreads is not None:
            both = tuple(np.where(self.is_spread, one * self.spreads[:, np.newaxis], one) for one in both)
        return Pair(*both, self.owners, by_products=self.by_products)


@dataclass(frozen=True)
class DiscretePairs(Pairs):
    """Columns of levels, the law of these, and the groups of columns that are exchanged together."""

    features: Table
    law: DiscreteLaw
    codes: np.ndarray
    groups: list[tuple[int, ...]]

    def draw(self, rng: np.random.Generator) -> Pair:
        """Return indicators of levels, or numbers, and those of fresh knockoffs."""
        drawn = drawn_pairs(self.law, self.groups, self.codes, rng)
        tables = (table_of(self.features, self.law.levels, codes) for codes in (self.codes, drawn))
        first, second = tables
        own = np.empty(len(self.features), dtype=np.int64)
        for at, members in enumerate(self.groups):
            own[list(members)] = at
        encoded = design(first)
        widths = [block.stop - block.start for block in encoded.blocks]
        return Pair(encoded.matrix, design(second).matrix, np.repeat(own, widths), (first, second), own)


def discrete_pairs(
    problem: Problem, law: str, network: Any, arcs: Iterable[tuple[str, str]] | None, where: str
) -> DiscretePairs:
    """Return pairs of the features of a problem by the law of a chain, a graph or a network.

    Raises `ParameterError` or `DataError`, beginning with `where`, if a column is not discrete or the law not of these.
    """
    names = problem.columns(problem.features)
    features = problem.table.select(names)
    stops = np.cumsum(problem.column_counts).tolist()
    groups = [tuple(range(stop - n, stop)) for stop, n in zip(stops, problem.column_counts, strict=True)]
    if law == NETWORK and arcs is None:
        known = network_law(network, names, where)
        codes = [codes_of(column, of, where) for column, of in zip(features.columns, known.levels, strict=True)]
        return DiscretePairs(features, known, np.column_stack(codes), groups)
    levels = [levels_of(column, where) for column in features.columns]
    coded = np.column_stack([codes_of(c, of, where) for c, of in zip(features.columns, levels, strict=True)])
    # In table order: columns of groups stand side by side in `names`.
    arcs = chain_arcs(sorted(names, key=problem.table.position)) if arcs is None else arcs
    return DiscretePairs(features, estimated_law(names, levels, coded, arcs, where), coded, groups)
