"""The exact conditional mutual information in the joint distribution of a small discrete network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.cards import EXACT, Card
from ...core.errors import DataError, ParameterError, UnknownNameError, did_you_mean
from ...core.parameters import anything, number
from ...core.results import CIResults
from ...core.table import Table
from ..base import CITest
from ..effect import NATS
from .oracle import certain_results

#: The largest number of cells of the joint distribution, 8 bytes each.
MOST_CELLS = 2**24


@dataclass
class Population(CITest):
    """X and Y are independent given Z if and only if I(X;Y|Z) = 0 in the joint distribution of a network.

    Unlike d-separation this is also right for distributions that are not faithful to their graph: duplicated
    information, deterministic nodes, cancelling paths. Only the names of the table's columns are read.

    Examples
    --------
    >>> from blanketflow.data.simulate import NETWORKS
    >>> clinic = NETWORKS["clinic"].network
    >>> test = Population(network=clinic).bind(clinic.sample(1, seed=0).select(["fever", "pneumonia", "cough"]))
    >>> test.test("fever", "cough").p_value, test.test("fever", "cough", given=["pneumonia"]).p_value
    (1e-300, 1.0)
    """

    card: ClassVar[Card] = Card(
        id="population",
        name="exact conditional mutual information",
        family="ci-test",
        summary="Answers by the joint distribution of a known network, where d-separation would not see determinism.",
        reference="Statnikov, Lytkin, Lemeire, Aliferis (2013) Algorithms for discovery of multiple Markov boundaries, "
        "JMLR 14, 499-566.",
        guarantee="no error",
        cost="O(cells of the joint distribution) per test",
        symmetric=True,
        measures=("p-value", "mutual-information"),
        p_values=EXACT,
        effect=NATS,
        column_sets=True,
    )

    network: Any = anything(None, "A discrete network; filled in for simulated data.")
    tolerance: float = number(1e-9, "Mutual information in nats up to which it counts as 0.", at_least=0)

    def prepare(self, table: Table, seed: int, target: int | None) -> _PopulationEngine:
        """Return the engine; `seed` is not used."""
        nodes = getattr(self.network, "nodes", None)
        if nodes is None or not all(hasattr(node, "cpt") for node in nodes.values()):
            raise ParameterError(
                "population: network must be a discrete network, such as one from simulate.read_network."
            )
        for name in table.names:
            if name not in nodes:
                raise UnknownNameError(f"population: the network has no node {name!r}. {did_you_mean(name, nodes)}")
        return _PopulationEngine(self, table)

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the mutual information in nats, which is the statistic."""
        return results.statistic

    effects = mutual_information


class _PopulationEngine:
    def __init__(self, test: Population, table: Table) -> None:
        self.tolerance, self.n_rows = test.tolerance, table.n_rows
        self.joint = joint_distribution(test.network, table.names)
        self._entropies: dict[frozenset[int], float] = {}

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Compute I(X;Y|Z) from four entropies."""
        return self.evaluate_sets([(candidate,) for candidate in candidates], target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Compute I(X;Y|Z) for sets of columns as X."""
        entropy = self._entropy
        y, z = {target}, set(given)
        found = [entropy(z | set(x)) + entropy(z | y) - entropy(z | y | set(x)) - entropy(z) for x in candidates]
        information = np.maximum(np.array(found), 0.0)
        is_dependent = information > self.tolerance
        return certain_results(np.where(is_dependent, information, 0.0), is_dependent, self.n_rows)

    def _entropy(self, members: set[int]) -> float:
        key = frozenset(members)
        if key not in self._entropies:
            marginal = self.joint.sum(axis=tuple(axis for axis in range(self.joint.ndim) if axis not in key))
            positive = marginal[marginal > 0]
            self._entropies[key] = -float(np.sum(positive * np.log(positive)))
        return self._entropies[key]


def joint_distribution(network: Any, names: Sequence[str]) -> np.ndarray:
    """Return the joint distribution of some nodes of a discrete network, with one axis per name.

    Raises `DataError` if it, or an intermediate table, has more than `MOST_CELLS` cells.
    """
    nodes = network.nodes
    wanted = set(names)
    relevant = set(names)
    for name in reversed(network.dag().topological_order()):  # children first
        if name in relevant:
            relevant.update(nodes[name].parents)
    order = [name for name in network.dag().topological_order() if name in relevant]
    last_use = {
        name: max([i, *(j for j, other in enumerate(order) if name in nodes[other].parents)])
        for i, name in enumerate(order)
    }
    axes: list[str] = []
    joint = np.ones(())
    for i, name in enumerate(order):
        if joint.size * len(nodes[name].levels) > MOST_CELLS:
            raise DataError(
                f"population: the joint distribution of {len(names)} columns has too many cells. Keep fewer columns, "
                "or use the oracle test."
            )
        place = {axis: k for k, axis in enumerate([*axes, name])}
        joint = np.einsum(
            joint, [place[a] for a in axes], nodes[name].cpt, [place[p] for p in nodes[name].parents] + [place[name]],
            list(range(len(place))),
        )  # fmt: skip
        axes.append(name)
        done = [a for a in axes if last_use[a] <= i and a not in wanted]
        joint = joint.sum(axis=tuple(axes.index(a) for a in done))
        axes = [a for a in axes if a not in done]
    return joint.transpose([axes.index(name) for name in names])
