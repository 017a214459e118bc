"""Tests that know the network, for proving methods correct: by d-separation, or by its joint distribution."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..core.cards import EXACT, TARGET_KINDS, Card
from ..core.errors import DataError, ParameterError, UnknownNameError, did_you_mean, shown
from ..core.graph import DAG
from ..core.parameters import anything, number
from ..core.results import CIResults
from ..core.table import Table
from .base import CITest
from .effect import NATS

#: Replaces a p-value of 0, so that its logarithm is finite.
CERTAIN = 1e-300
LOG_CERTAIN = float(np.log(CERTAIN))


@dataclass
class Oracle(CITest):
    """The d-separation oracle: X and Y are independent given Z if and only if Z d-separates them in a known graph.

    Only the names of the table's columns are read. Nodes without a column are hidden; columns without an arc are
    isolated nodes. Give either `arcs` or `network`; the workflow passes the arcs of simulated data. The statistic is 1
    / (arcs of the shortest active trail), so that near nodes rank first, and 0 without a trail.

    Examples
    --------
    >>> import numpy as np
    >>> test = Oracle(arcs=[("x0", "x2"), ("x1", "x2")]).bind(np.zeros((1, 3)))
    >>> test.test("x0", "x1").p_value, test.test("x0", "x1", given=["x2"]).p_value
    (1.0, 1e-300)
    """

    card: ClassVar[Card] = Card(
        id="oracle",
        name="d-separation oracle",
        family="ci-test",
        summary="Answers by d-separation in a known graph: what a test would say if there were no error.",
        reference="Pearl (1988) Probabilistic Reasoning in Intelligent Systems, 10.1016/C2009-0-27609-4; "
        "Shachter (1998) Bayes-Ball: The Rational Pastime, UAI 14, 480-487.",
        guarantee="no error, for distributions that are faithful to the graph",
        cost="O(nodes + arcs) for all candidates given Z",
        symmetric=True,
        measures=("p-value",),
        p_values=EXACT,
        column_sets=True,
        tasks=TARGET_KINDS,
    )

    arcs: Any = anything(None, "Pairs (parent, child) of names.")
    network: Any = anything(None, "A network with a graph, instead of arcs; filled in for simulated data.")

    def check(self, where: str | None = None) -> None:
        """Check the options; raises `ParameterError` if arcs are not pairs of names or network is not a network."""
        super().check(where)
        if self.arcs is not None:
            DAG(self._pairs()).topological_order()
        if self.network is not None and not isinstance(self.network, str) and not hasattr(self.network, "dag"):
            raise ParameterError(f"oracle: network is {shown(self.network)}, but must be a network with a graph.")

    def prepare(self, table: Table, seed: int, target: int | None) -> _OracleEngine:
        """Return the engine; `seed` is not used."""
        return _OracleEngine(self._dag(table.names), table)

    def _dag(self, names: Sequence[str]) -> DAG:
        if (self.arcs is None) == (self.network is None):
            raise ParameterError("oracle: give either arcs (pairs of parent and child) or network, but not both.")
        arcs = self.network.dag().arcs if self.arcs is None else self._pairs()
        nodes = dict.fromkeys(str(node) for arc in arcs for node in arc)
        if nodes and nodes.keys().isdisjoint(names):
            raise DataError(
                f"oracle: no column is a node of the graph. Columns: {', '.join(names[:10])}; nodes: "
                f"{', '.join([*nodes][:10])}. Give the columns of X, and y, the names of the nodes."
            )
        return DAG(arcs, dict.fromkeys([*names, *nodes]))

    def _pairs(self) -> Sequence[tuple[str, str]]:
        """Return the arcs as a list; raises `ParameterError` if they are not pairs of names."""
        are_listed = isinstance(self.arcs, Sequence | Set) and not isinstance(self.arcs, str)
        if not are_listed or not all(_is_pair(arc) for arc in self.arcs):
            raise ParameterError(f"oracle: arcs is {shown(self.arcs)}, but must be a list of pairs (parent, child).")
        return list(self.arcs)


def _is_pair(arc: Any) -> bool:
    return isinstance(arc, list | tuple) and len(arc) == 2 and all(isinstance(name, str | int) for name in arc)


class _OracleEngine:
    """The graph as arrays. A column's node has the column's position; hidden nodes come last."""

    def __init__(self, dag: DAG, table: Table) -> None:
        from ..kernels.reachability import trail_lengths

        self._trail_lengths, self.n_rows = trail_lengths, table.n_rows
        order = dict.fromkeys([*table.names, *dag.nodes])
        place = {name: i for i, name in enumerate(order)}
        self._n_nodes = len(order)
        self._graph = (
            *_listed([[place[parent] for parent in dag.parents(name)] for name in order]),
            *_listed([[place[child] for child in dag.children(name)] for name in order]),
        )

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Compute the distances of all nodes to the target once for all candidates."""
        return self._results(self._nearness(target, given)[np.asarray(candidates, dtype=np.intp)])

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of columns; its distance is that of its nearest member."""
        nearness = self._nearness(target, given)
        return self._results(np.array([nearness[list(members)].max() for members in candidates]))

    def _results(self, nearness: np.ndarray) -> CIResults:
        return certain_results(nearness, nearness > 0.0, self.n_rows)

    def _nearness(self, target: int, given: tuple[int, ...]) -> np.ndarray:
        lengths = np.zeros(self._n_nodes, dtype=np.int32)
        self._trail_lengths(*self._graph, target, np.array(given, dtype=np.int32), lengths)
        return np.divide(1.0, lengths, out=np.zeros(self._n_nodes), where=lengths > 0)


def _listed(neighbours: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the start of each node's neighbours, and the neighbours of all nodes in one array."""
    start = np.cumsum([0, *map(len, neighbours)], dtype=np.int64)
    return start, np.array([other for near in neighbours for other in near], dtype=np.int32)


def certain_results(statistic: np.ndarray, is_dependent: np.ndarray, n_rows: int) -> CIResults:
    """Return results with p = 1 if independent, p = 1e-300 if dependent."""
    m = len(is_dependent)
    p_value, log_p = np.where(is_dependent, CERTAIN, 1.0), np.where(is_dependent, LOG_CERTAIN, 0.0)
    return CIResults(statistic, p_value, log_p, np.ones(m), np.full(m, n_rows), np.ones(m, dtype=bool))


#: The largest number of cells of the joint distribution, 8 bytes each.
MOST_CELLS = 2**24


@dataclass
class Population(CITest):
    """X and Y are independent given Z if and only if I(X;Y|Z) = 0 in the joint distribution of a network.

    Unlike d-separation, this is also right for distributions that are not faithful to their graph: duplicated
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
