"""Linear Gaussian networks: each node is a linear function of its parents plus normal noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...core.cards import NUMERIC
from ...core.errors import DataError
from ...core.graph import DAG
from ...core.seeds import derive_rng
from ...core.table import Column, Table


@dataclass(frozen=True)
class GaussianNode:
    """One node: ``intercept + sum of coefficient * parent + Normal(0, sd)``.

    Parameters
    ----------
    intercept : float
        Its mean where all parents are 0.
    sd : float
        Standard deviation of the residual.
    coefficients : mapping of str to float
        One for each parent.
    """

    intercept: float
    sd: float
    coefficients: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class LinearGaussianNetwork:
    """A Bayesian network of linear Gaussian nodes.

    Parameters
    ----------
    name : str
        Its name, part of the seeds.
    nodes : mapping of str to GaussianNode
        The nodes, in table order.

    Raises
    ------
    DataError
        If a standard deviation is negative or the graph has a cycle.
    """

    name: str
    nodes: Mapping[str, GaussianNode]

    def __post_init__(self) -> None:
        self.dag()
        for key, node in self.nodes.items():
            if node.sd < 0:
                raise DataError(f"network {self.name}, node {key!r}: sd is {node.sd}, but must not be negative.")

    def dag(self) -> DAG:
        """Return the graph."""
        return DAG([(p, key) for key, node in self.nodes.items() for p in node.coefficients], self.nodes)

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
            One numeric column a node.
        """
        values: dict[str, np.ndarray] = {}
        for key in self.dag().topological_order():
            node = self.nodes[key]
            noise = derive_rng(seed, "simulate", self.name, key).normal(node.intercept, node.sd, rows)
            values[key] = sum((weight * values[parent] for parent, weight in node.coefficients.items()), noise)
        return Table([Column(key, NUMERIC, values[key]) for key in self.nodes])
