"""Discrete Bayesian networks: tables of conditional probabilities, and samples from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.cards import CATEGORICAL
from ...core.errors import DataError
from ...core.graph import DAG
from ...core.seeds import derive_rng
from ...core.table import Column, Table, sort_labels


@dataclass(frozen=True)
class DiscreteNode:
    """One node.

    Parameters
    ----------
    levels : tuple of str
        Its values.
    parents : tuple of str
        Its parents.
    cpt : ndarray of shape (levels of parent 1, levels of parent 2, ..., len(levels))
        Its probabilities given each combination of the parents' values; each last axis sums to 1.
    """

    levels: tuple[str, ...]
    parents: tuple[str, ...]
    cpt: np.ndarray


@dataclass(frozen=True)
class DiscreteNetwork:
    """A Bayesian network of discrete nodes.

    Parameters
    ----------
    name : str
        Its name, part of the seeds.
    nodes : mapping of str to DiscreteNode
        The nodes, in table order.

    Raises
    ------
    DataError
        If a table has the wrong shape or is no distribution, or the graph has a cycle.
    """

    name: str
    nodes: Mapping[str, DiscreteNode]

    def __post_init__(self) -> None:
        self.dag()
        for key, node in self.nodes.items():
            shape = (*(len(self.nodes[parent].levels) for parent in node.parents), len(node.levels))
            if node.cpt.shape != shape:
                raise DataError(
                    f"network {self.name}, node {key!r}: the table has shape {node.cpt.shape}, not {shape}."
                )
            if (node.cpt < 0).any() or not np.allclose(node.cpt.sum(axis=-1), 1):
                raise DataError(f"network {self.name}, node {key!r}: a row of the table is no distribution.")

    def dag(self) -> DAG:
        """Return the graph."""
        return DAG([(p, key) for key, node in self.nodes.items() for p in node.parents], self.nodes)

    def sample(self, rows: int, seed: int) -> Table:
        """Draw independent rows.

        Parameters
        ----------
        rows : int
            How many.
        seed : int
            Every node has random numbers of its own, derived from it.

        Returns
        -------
        Table
            One categorical column a node; levels sorted.
        """
        codes: dict[str, np.ndarray] = {}
        for key in self.dag().topological_order():
            node = self.nodes[key]
            # each row looks up its own cumulative distribution; the last bound, 1, needs no comparison
            bounds = np.cumsum(node.cpt, axis=-1)[tuple(codes[parent] for parent in node.parents)][..., :-1]
            drawn = derive_rng(seed, "simulate", self.name, key).random(rows)
            codes[key] = (drawn[:, None] >= bounds).sum(axis=-1, dtype=np.int32)
        return Table([_column(key, node.levels, codes[key]) for key, node in self.nodes.items()])


def node(levels: Sequence[str], parents: Sequence[str] = (), *, table: Sequence) -> DiscreteNode:
    """Make a node from nested lists, first parent outermost.

    Examples
    --------
    >>> node(["no", "yes"], ["rain"], table=[[0.9, 0.1], [0.2, 0.8]]).cpt.shape
    (2, 2)
    """
    return DiscreteNode(tuple(levels), tuple(parents), np.array(table, dtype=np.float64))


def _column(name: str, levels: tuple[str, ...], codes: np.ndarray) -> Column:
    ordered = sort_labels(levels)
    place = np.array([ordered.index(level) for level in levels], dtype=np.int32)
    return Column(name, CATEGORICAL, place[codes], tuple(ordered))
