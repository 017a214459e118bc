"""Bayesian networks: nodes that know their distribution given their parents, and samples drawn in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.cards import NUMERIC
from ...core.errors import DataError
from ...core.graph import DAG
from ...core.seeds import derive_rng
from ...core.table import Column, Table

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
    """A Bayesian network: its name, which is part of the seeds, and its nodes in table order.

    Raises `DataError` if a node is of a kind that the network does not take, its parameters are wrong, or the graph has
    a cycle; `UnknownNameError` if a parent is not among the nodes.
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

        Every node has random numbers of its own, derived from the seed, the network's name and the node's.
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
