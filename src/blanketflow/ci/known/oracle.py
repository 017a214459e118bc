"""The d-separation oracle: answers from the graph instead of data, for proving that methods are correct."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.cards import EXACT, Card
from ...core.errors import DataError, ParameterError, shown
from ...core.graph import DAG
from ...core.parameters import anything
from ...core.results import CIResults
from ...core.table import Table
from ..base import CITest

#: Replaces a p-value of 0, so that its logarithm is finite.
CERTAIN = 1e-300
LOG_CERTAIN = float(np.log(CERTAIN))


@dataclass
class Oracle(CITest):
    """The d-separation oracle: X and Y are independent given Z if and only if Z d-separates them in a known graph.

    Only the names of the table's columns are read. Nodes that are not columns are hidden; columns without an arc are
    isolated nodes. Give either `arcs` or `network`; in the workflow simulated data supply their own. The statistic is 1
    over the number of arcs of the shortest active trail, so that near nodes rank first, and 0 if there is no trail.

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
    )

    arcs: Any = anything(None, "Pairs (parent, child) of names.")
    network: Any = anything(None, "A network with a graph, instead of arcs; filled in for simulated data.")

    def check(self, where: str | None = None) -> None:
        """Check the options; also raise `ParameterError` if arcs are not pairs of names or network is not a network."""
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
        """Return the arcs as a list; raise `ParameterError` if they are not pairs of names."""
        are_listed = isinstance(self.arcs, Sequence | Set) and not isinstance(self.arcs, str)
        if not are_listed or not all(_is_pair(arc) for arc in self.arcs):
            raise ParameterError(f"oracle: arcs is {shown(self.arcs)}, but must be a list of pairs (parent, child).")
        return list(self.arcs)


def _is_pair(arc: Any) -> bool:
    return isinstance(arc, list | tuple) and len(arc) == 2 and all(isinstance(name, str | int) for name in arc)


class _OracleEngine:
    """The graph as arrays. A column's node has the column's position; hidden nodes come last."""

    def __init__(self, dag: DAG, table: Table) -> None:
        from ...kernels.reachability import trail_lengths

        self._trail_lengths, self.n_rows = trail_lengths, table.n_rows
        order = dict.fromkeys([*table.names, *dag.nodes])
        place = {name: i for i, name in enumerate(order)}
        self._n_nodes = len(order)
        self._graph = (
            *_listed([[place[parent] for parent in dag.parents(name)] for name in order]),
            *_listed([[place[child] for child in dag.children(name)] for name in order]),
        )

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Compute the distance of every node to the target once for all candidates."""
        return self._results(self._nearness(target, given)[np.asarray(candidates, dtype=np.intp)])

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of columns, which is as near as its nearest member."""
        nearness = self._nearness(target, given)
        return self._results(np.array([nearness[list(members)].max() for members in candidates]))

    def _results(self, nearness: np.ndarray) -> CIResults:
        return certain_results(nearness, nearness > 0.0, self.n_rows)

    def _nearness(self, target: int, given: tuple[int, ...]) -> np.ndarray:
        lengths = np.zeros(self._n_nodes, dtype=np.int32)
        self._trail_lengths(*self._graph, target, np.array(given, dtype=np.int32), lengths)
        return np.divide(1.0, lengths, out=np.zeros(self._n_nodes), where=lengths > 0)


def _listed(neighbours: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return where each node's neighbours start, and the neighbours of all nodes in one array."""
    start = np.cumsum([0, *map(len, neighbours)], dtype=np.int64)
    return start, np.array([other for near in neighbours for other in near], dtype=np.int32)


def certain_results(statistic: np.ndarray, is_dependent: np.ndarray, n_rows: int) -> CIResults:
    """Return the results of a test that knows the truth: p = 1 if independent, p = 1e-300 if dependent."""
    m = len(is_dependent)
    p_value, log_p = np.where(is_dependent, CERTAIN, 1.0), np.where(is_dependent, LOG_CERTAIN, 0.0)
    return CIResults(statistic, p_value, log_p, np.ones(m), np.full(m, n_rows), np.ones(m, dtype=bool))
