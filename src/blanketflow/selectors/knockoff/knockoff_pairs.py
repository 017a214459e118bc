"""Pairs of features and knockoffs, drawn from a Gaussian law or a discrete law (a chain, a graph or a network)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...core.cards import BOOLEAN, CATEGORICAL, NUMERIC
from ...core.errors import DataError, ParameterError, UnknownNameError, did_you_mean
from ...core.graph import DAG
from ...core.table import Column, Table
from ...models.encode import design
from ..base import Problem
from .gaussian_knockoffs import KnockoffLaw

#: Values of the parameter `law`.
GAUSSIAN, MARKOV_CHAIN, NETWORK = "gaussian", "markov-chain", "network"


@dataclass(frozen=True)
class Pair:
    """Features and their knockoffs, (n, m), as numbers for models and as columns for CI tests.

    `owners`, (m,), are the positions of each column's feature. `tables` has both as typed columns, with owners
    `table_owners`; by default columns are numbers. With `by_products` a lasso uses products of columns, which saves
    time and memory.
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
        """Return features and new knockoffs."""


@dataclass(frozen=True)
class GaussianPairs(Pairs):
    """Centred columns of variance 1, their owners, and their Gaussian law given the spread of each row.

    `spreads`, (n,), multiply the columns with `is_spread`, (m,), and their knockoffs.
    """

    columns: np.ndarray
    owners: np.ndarray
    law: KnockoffLaw
    by_products: bool = False
    spreads: np.ndarray | None = None
    is_spread: np.ndarray | None = None

    def draw(self, rng: np.random.Generator) -> Pair:
        """Return the columns and new knockoffs."""
        both = self.columns, self.law.draw(self.columns, rng)
        if self.spreads is not None:
            both = tuple(np.where(self.is_spread, one * self.spreads[:, np.newaxis], one) for one in both)
        return Pair(*both, self.owners, by_products=self.by_products)


@dataclass(frozen=True)
class DiscretePairs(Pairs):
    """Discrete columns, their law, and the groups of columns that are exchanged together."""

    features: Table
    law: DiscreteLaw
    codes: np.ndarray
    groups: list[tuple[int, ...]]

    def draw(self, rng: np.random.Generator) -> Pair:
        """Return indicators of levels, or numbers, and those of new knockoffs."""
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
    """Return pairs from the law of a chain, graph or network; errors, as for numeric columns, start with `where`."""
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
    # In table order; columns of a group are adjacent in `names`.
    arcs = chain_arcs(sorted(names, key=problem.table.position)) if arcs is None else arcs
    return DiscretePairs(features, estimated_law(names, levels, coded, arcs, where), coded, groups)


#: Chooses one combination of levels for each row, shape (n,), by its probabilities, shape (n, combinations).
Choose = Callable[[tuple[int, ...], np.ndarray], np.ndarray]
#: Cells of the tables of all rows of a block.
BLOCK_CELLS = 2**22


def conditional_pairs(
    law: DiscreteLaw, groups: Sequence[tuple[int, ...]], codes: np.ndarray, choose: Choose
) -> np.ndarray:
    """Return knockoffs of rows of codes, both (n, features); features of one group are drawn together.

    Each feature's knockoff is drawn from the law of the feature given all other features and all knockoffs so far:
    without the latter the two would not remain exchangeable (Candes, Fan, Janson and Lv 2018, doi:10.1111/rssb.12265,
    algorithm 1). For a Markov chain this is the algorithm of Sesia, Sabatti and Candes (2019),
    doi:10.1093/biomet/asy033. For a graph of small treewidth, tables over the remaining neighbours contain all that is
    needed of earlier features and knockoffs (Bates, Candes, Janson and Wang 2021, doi:10.1080/01621459.2020.1729163).

    `groups` has each feature in one group, mostly alone; `codes` are positions of levels; `choose` draws the knockoffs
    of a group. Raises `DataError` if a row has probability 0.
    """
    factors, sizes, knockoffs = law.whole(), law.sizes, np.empty_like(codes)
    for members in elimination_order(factors, groups)[0]:
        product, others = factors.pop(members)
        of_members = [sizes[v] for v in members]
        own = np.ravel_multi_index(tuple(codes[:, list(members)].T), of_members)
        # The law of the members given the values of the other features.
        flat = product.reshape(*product.shape[:2], -1)
        at = np.ravel_multi_index(tuple(codes[:, list(others)].T), [sizes[v] for v in others]) if others else 0 * own
        held = flat[np.arange(len(own)) if len(flat) > 1 else 0, :, at]
        if not (held[np.arange(len(own)), own] > 0).all():
            raise DataError(
                f"knockoffs: a row has a level of {law.names[members[0]]!r} whose probability under the law is 0, "
                "given its other levels. Correct the network, or the rows."
            )
        drawn = choose(members, held / held.sum(axis=1, keepdims=True))
        knockoffs[:, list(members)] = np.stack(np.unravel_index(drawn, of_members), axis=1)
        # The factor of a pair is unchanged when it is exchanged; the sum is the knockoff's denominator.
        both, total = _picked(product, own) * _picked(product, drawn), product.sum(axis=1)
        message = np.divide(both, total, out=np.zeros(both.shape), where=total > 0)
        if others:
            largest = message.reshape(len(message), -1).max(axis=1)
            factors.add(Factor(others, message / largest.reshape(-1, *[1] * len(others))))
    return knockoffs


def _picked(product: np.ndarray, combination: np.ndarray) -> np.ndarray:
    """Return each row's table at a combination of the members."""
    return product[np.arange(len(combination)) if len(product) > 1 else 0, combination]


def drawn_pairs(
    law: DiscreteLaw, groups: Sequence[tuple[int, ...]], codes: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return random knockoffs of rows, a block of rows at a time; parameters and errors as for `conditional_pairs`."""

    def choose(members: tuple[int, ...], probabilities: np.ndarray) -> np.ndarray:
        passed = rng.random((len(probabilities), 1)) * probabilities.sum(axis=1, keepdims=True)
        # By rounding, the last sum may be below the number drawn: take the last possible combination.
        last = probabilities.shape[1] - 1 - np.argmax(probabilities[:, ::-1] > 0, axis=1)
        return np.minimum((np.cumsum(probabilities, axis=1) <= passed).sum(axis=1), last)

    n_rows = max(1, BLOCK_CELLS // elimination_order(law.whole(), groups)[1])
    blocks = [codes[start : start + n_rows] for start in range(0, len(codes), n_rows)]
    return np.concatenate([conditional_pairs(law, groups, block, choose) for block in blocks])


#: A column of numbers with more distinct values is not discrete.
MOST_VALUES = 64


def levels_of(column: Column, where: str) -> tuple[str, ...]:
    """Return the levels, or at most `MOST_VALUES` numbers, of a column as texts; else `ParameterError` with `where`.

    >>> levels_of(Column("a", "integer", np.array([2, 0, 2])), "here")
    ('0', '2')
    """
    found = np.unique(column.cells())
    if column.kind == CATEGORICAL:
        return tuple(column.levels[code] for code in found.tolist())
    if len(found) > MOST_VALUES:
        raise ParameterError(
            f"{where}: {column.name!r} has {len(found)} distinct numbers, but a law of discrete features takes at most "
            f"{MOST_VALUES}. Bin it, exclude it, or set law: gaussian."
        )
    return tuple(f"{value:.17g}" for value in found.tolist())


def codes_of(column: Column, levels: Sequence[str], where: str) -> np.ndarray:
    """Return the position of each cell among some levels, (n,); `DataError`, starting with `where`, for an unknown one.

    Labels are compared as texts, numbers by value, and booleans with 0, 1, true and false.

    >>> codes_of(Column("a", "integer", np.array([2, 0, 2])), ["0.0", "1.0", "2.0"], "here").tolist()
    [2, 0, 2]
    """
    own = np.unique(column.cells())
    if column.kind == CATEGORICAL:
        place = {level: at for at, level in enumerate(levels)}
        at = [place.get(column.levels[code], -1) for code in own.tolist()]
    else:
        numbers = {number: at for at, number in enumerate(_number(level, column.kind) for level in levels)}
        at = [numbers.get(float(value), -1) for value in own.tolist()]
    if -1 in at:
        value = own[at.index(-1)]
        level = column.levels[value] if column.kind == CATEGORICAL else f"{value:g}"
        raise DataError(f"{where}: {column.name!r} has the level {level!r}, but the law has {list(levels)[:10]} only.")
    return np.array(at)[np.searchsorted(own, column.cells())]


def _number(level: str, kind: str) -> float | None:
    if kind == BOOLEAN and level.lower() in ("false", "true"):
        return float(level.lower() == "true")
    try:
        return float(level)
    except ValueError:
        return None


def table_of(features: Table, levels: Sequence[Sequence[str]], codes: np.ndarray) -> Table:
    """Return columns of the types of some features with other cells, given as codes, (n, features)."""
    columns = []
    for column, of_column, coded in zip(features.columns, levels, codes.T, strict=True):
        if column.kind == CATEGORICAL:
            columns.append(Column(column.name, CATEGORICAL, coded.astype(np.int32), tuple(of_column)))
        else:
            numbers = np.array([_number(level, column.kind) for level in of_column], dtype=np.float64)
            columns.append(Column(column.name, column.kind, numbers[coded]))
    return Table(columns)


#: Cells of the largest table, of one row.
MOST_CELLS = 2**18


@dataclass(frozen=True)
class Factor:
    """A table over the variables of `scope`, (1 or n, levels of each): one for all rows, or one per row."""

    scope: tuple[int, ...]
    table: np.ndarray


class Factors:
    """The factors of a law, indexed by their variables. `sizes` has the numbers of levels."""

    def __init__(self, sizes: Sequence[int], factors: Iterable[Factor] = ()) -> None:
        self.sizes = tuple(sizes)
        self._of: list[dict[int, Factor]] = [{} for _ in self.sizes]
        self._n_added = 0
        for factor in factors:
            self.add(factor)

    def add(self, factor: Factor) -> None:
        """Add a factor, unless it has no variables."""
        for variable in factor.scope:
            self._of[variable][self._n_added] = factor
        self._n_added += 1

    def all(self) -> list[Factor]:
        """Return all factors."""
        return list({at: factor for of_one in self._of for at, factor in of_one.items()}.values())

    def neighbours(self, members: Iterable[int]) -> set[int]:
        """Return the variables outside that share a factor with some of the members."""
        members = set(members)
        return {v for member in members for factor in self._of[member].values() for v in factor.scope} - members

    def pop(self, members: Sequence[int]) -> tuple[np.ndarray, tuple[int, ...]]:
        """Remove the factors of some members, and return their product and its other variables.

        The product has shape (1 or n, combinations of the members, levels of each other variable); the last member
        varies fastest. Raises `DataError` if it is too large.
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
    """Sum variables out of a law, in place, smallest tables first."""
    for (variable,) in elimination_order(factors, [(variable,) for variable in hidden])[0]:
        product, others = factors.pop((variable,))
        factors.add(Factor(others, product.sum(axis=1)))
    return factors


def elimination_order(factors: Factors, groups: Sequence[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], int]:
    """Return an order in which to eliminate groups of variables, and the cells of the largest table.

    Greedy, since the optimal order is NP-hard: the group with the smallest table comes next, the first on ties, so a
    chain is eliminated from its start.

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


@dataclass(frozen=True)
class DiscreteLaw:
    """The joint distribution of discrete features as a product of `factors`, tables over a few features each."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    factors: tuple[Factor, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of levels."""
        return tuple(map(len, self.levels))

    def whole(self) -> Factors:
        """Return a copy of the factors to work on."""
        return Factors(self.sizes, self.factors)


def network_law(network: Any, names: Sequence[str], where: str) -> DiscreteLaw:
    """Return the law of some nodes of a discrete network, with others summed out; errors start with `where`."""
    nodes = getattr(network, "nodes", None)
    if not isinstance(nodes, Mapping) or not all(hasattr(node, "cpt") for node in nodes.values()):
        raise ParameterError(
            f"{where}: network must be a discrete network, such as one from simulate.read_network, for law: network."
        )
    for name in names:
        if name not in nodes:
            raise UnknownNameError(f"{where}: the network has no node {name!r}. {did_you_mean(name, nodes)}")
    order, relevant = network.dag().topological_order(), set(names)
    for name in reversed(order):  # children first: what has no descendant among the features says nothing of them
        if name in relevant:
            relevant.update(nodes[name].parents)
    kept = [*names, *(name for name in order if name in relevant and name not in set(names))]
    place = {name: at for at, name in enumerate(kept)}
    factors = [
        Factor(tuple(place[v] for v in (*nodes[name].parents, name)), nodes[name].cpt[np.newaxis]) for name in kept
    ]
    whole = without(Factors([len(nodes[name].levels) for name in kept], factors), range(len(names), len(kept)))
    return DiscreteLaw(tuple(names), tuple(nodes[name].levels for name in names), tuple(whole.all()))


def chain_arcs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the arcs of a chain.

    >>> chain_arcs(["a", "b", "c"])
    [('a', 'b'), ('b', 'c')]
    """
    return list(pairwise(names))


def estimated_law(
    names: Sequence[str],
    levels: Sequence[tuple[str, ...]],
    codes: np.ndarray,
    arcs: Iterable[tuple[str, str]],
    where: str,
) -> DiscreteLaw:
    """Return the law of a graph with tables estimated from the rows, `codes`, (n, features).

    Each combination of the parents' levels has one additional row, spread over the levels, so that no level is
    impossible. Raises `ParameterError`, starting with `where`, for an arc with an unknown feature, and `DataError` for
    a cycle or a table that is too large.
    """
    arcs = [(str(parent), str(child)) for parent, child in arcs]
    for name in dict.fromkeys(name for arc in arcs for name in arc):
        if name not in names:
            raise ParameterError(f"{where}: arcs name {name!r}, which is no feature. {did_you_mean(name, names)}")
    dag, place, factors = DAG(arcs, names), {name: at for at, name in enumerate(names)}, []
    for name in names:
        scope = tuple(place[v] for v in (*dag.parents(name), name))
        shape = tuple(len(levels[v]) for v in scope)
        if np.prod(shape, dtype=np.float64) > MOST_CELLS:
            raise DataError(
                f"{where}: the table of {name!r} given {len(scope) - 1} parents has more than {MOST_CELLS:,} cells. "
                "Leave out arcs, or merge levels."
            )
        cells = np.ravel_multi_index(tuple(codes[:, list(scope)].T), shape)
        counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape) + 1.0 / shape[-1]
        factors.append(Factor(scope, (counts / counts.sum(axis=-1, keepdims=True))[np.newaxis]))
    return DiscreteLaw(tuple(names), tuple(levels), tuple(factors))
