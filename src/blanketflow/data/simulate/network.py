"""Bayesian networks of discrete and Gaussian nodes, which know their distribution given their parents, and samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np

from ...core.cards import CATEGORICAL, NUMERIC
from ...core.errors import DataError
from ...core.graph import DAG
from ...core.seeds import derive_rng
from ...core.table import Column, Table, column_of_codes

#: Rows drawn at a time: what is needed beside the table stays small, and in the processor's cache.
BLOCK_ROWS = 32_768


class Node:
    """A node's distribution given its parents; what a kind of node has to know. By default it holds numbers."""

    kind: ClassVar[str] = NUMERIC
    parents: tuple[str, ...]

    def check(self, where: str, nodes: Mapping[str, Node]) -> None:
        """Raise `DataError` if the parameters do not fit each other or the parents; `where` names the node."""
        raise NotImplementedError

    def draw(self, rng: np.random.Generator, rows: int, given: Sequence[np.ndarray]) -> np.ndarray:
        """Draw values given those of the parents: numbers, or codes of levels; all arrays have shape (rows,)."""
        raise NotImplementedError

    def empty(self, rows: int) -> np.ndarray:
        """Return an array for drawn values, shape (rows,)."""
        return np.empty(rows, dtype=np.float64)

    def column(self, name: str, values: np.ndarray) -> Column:
        """Return drawn values as a column."""
        return Column(name, self.kind, values)


@dataclass(frozen=True)
class Network:
    """A Bayesian network: its nodes in table order, and its name, which is part of the seeds.

    Raises `DataError` if a node has the wrong kind or parameters, or the graph a cycle; `UnknownNameError` if a parent
    does not exist.
    """

    name: str
    nodes: Mapping[str, Any]
    kinds: ClassVar[tuple[type[Node], ...]] = (Node,)

    def __post_init__(self) -> None:
        self.dag()
        for key, node in self.nodes.items():
            where = f"network {self.name}, node {key!r}"
            if not isinstance(node, self.kinds):
                known = " or ".join(kind.__name__ for kind in self.kinds)
                raise DataError(f"{where}: a {type(node).__name__}, but a {type(self).__name__} takes {known} only.")
            node.check(where, self.nodes)

    def dag(self) -> DAG:
        """Return the graph."""
        return DAG([(parent, key) for key, node in self.nodes.items() for parent in node.parents], self.nodes)

    def sample(self, rows: int, seed: int) -> Table:
        """Draw independent rows: a categorical column for each discrete node, a numeric one for each Gaussian node.

        Each node has random numbers of its own, derived from the seed, the network's name and the node's.
        """
        order = self.dag().topological_order()
        rngs = {key: derive_rng(seed, "simulate", self.name, key) for key in order}
        values = {key: node.empty(rows) for key, node in self.nodes.items()}
        for start in range(0, rows, BLOCK_ROWS):
            block = slice(start, min(start + BLOCK_ROWS, rows))
            for key in order:
                given = [values[parent][block] for parent in self.nodes[key].parents]
                values[key][block] = self.nodes[key].draw(rngs[key], block.stop - block.start, given)
        return Table([node.column(key, values.pop(key)) for key, node in self.nodes.items()])


# --- discrete Bayesian networks: tables of conditional probabilities, and samples from them ---------------------------

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
    """Divide each last axis of a table from a file by its total, which is 1 up to rounding.

    `fail` is called with the error: a negative probability, one that is no number, or a total further from 1 than
    `ROUNDED`.

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
    """Return the number of each row's combination of levels, the last varying fastest; None without parents.

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


# --- Gaussian nodes, linear functions of their parents plus normal noise, and networks with such nodes ----------------


@dataclass(frozen=True)
class GaussianNode(Node):
    """A node ``intercept + sum of coefficient * parent + Normal(0, sd)``.

    `given` are the discrete parents, the keys of `coefficients` the Gaussian ones; `sd` is at least 0. With discrete
    parents, intercept, sd and coefficients are arrays of shape (levels of discrete parent 1, levels of discrete parent
    2, ...): a conditional Gaussian node.
    """

    intercept: float | np.ndarray
    sd: float | np.ndarray
    coefficients: Mapping[str, float | np.ndarray] = field(default_factory=dict)
    given: tuple[str, ...] = ()

    @property
    def parents(self) -> tuple[str, ...]:
        """The discrete parents, then the Gaussian ones."""
        return (*self.given, *self.coefficients)

    def check(self, where: str, nodes: Mapping[str, Node]) -> None:
        """Raise `DataError` if an array has the wrong shape, a number is not finite or an sd is negative."""
        shape = level_counts(where, self.given, nodes)
        for parent in self.coefficients:
            if not isinstance(nodes[parent], GaussianNode):
                raise DataError(f"{where}: the parent {parent!r} has a coefficient, but is not Gaussian.")
        for part, value in (("intercept", self.intercept), ("sd", self.sd), *self.coefficients.items()):
            if np.shape(value) != shape:
                raise DataError(f"{where}: {part} has shape {np.shape(value)}, not {shape}.")
            if not np.isfinite(value).all():
                raise DataError(f"{where}: {part} holds a value that is not finite.")
        if np.min(self.sd) < 0:
            raise DataError(f"{where}: sd is {np.min(self.sd)}, but must not be negative.")

    def draw(self, rng: np.random.Generator, rows: int, given: Sequence[np.ndarray]) -> np.ndarray:
        """Draw numbers given the codes of the discrete parents and the numbers of the Gaussian ones."""
        at = configurations(given[: len(self.given)], np.shape(self.sd))

        def of_row(value: float | np.ndarray) -> float | np.ndarray:
            return value if at is None else value.take(at)

        noise = rng.normal(of_row(self.intercept), of_row(self.sd), rows)
        numbers = given[len(self.given) :]
        terms = (of_row(value) * x for value, x in zip(self.coefficients.values(), numbers, strict=True))
        return sum(terms, noise)


class LinearGaussianNetwork(Network):
    """A Bayesian network of linear Gaussian nodes; parameters and errors as for `Network`."""

    kinds = (GaussianNode,)


class ConditionalGaussianNetwork(Network):
    """A Bayesian network of discrete and Gaussian nodes, where discrete nodes have discrete parents only.

    Discrete networks and linear Gaussian ones are special cases. Parameters and errors are those of `Network`.

    >>> import numpy as np
    >>> from blanketflow.data.simulate.network import node
    >>> yield_ = GaussianNode(np.array([1.0, 5.0]), np.array([0.0, 0.0]), given=("watered",))
    >>> farm = ConditionalGaussianNetwork("farm", {"watered": node(["no", "yes"], table=[0, 1]), "yield": yield_})
    >>> farm.sample(2, seed=1)["yield"].values
    array([5., 5.])
    """

    kinds = (DiscreteNode, GaussianNode)
