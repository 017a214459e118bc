"""The d-separation oracle: answers by the graph instead of by data, to prove methods with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..core.cards import EXACT, Card
from ..core.errors import DataError, ParameterError
from ..core.graph import DAG
from ..core.parameters import anything
from ..core.results import CIResults
from ..core.table import Table
from .base import CITest
from .truth import certain_results


@dataclass
class Oracle(CITest):
    """X and Y are independent given Z exactly where Z d-separates them in a known graph.

    Only the names of the table's columns are read. Nodes that are no columns are hidden ones; columns that no arc names
    stand alone. Give `arcs` or `network`; in the workflow simulated data bring their own.

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

    def prepare(self, table: Table, seed: int, target: int | None) -> _OracleEngine:
        """Return the engine; `seed` is not used."""
        return _OracleEngine(self._dag(table.names), table)

    def _dag(self, names: Sequence[str]) -> DAG:
        if (self.arcs is None) == (self.network is None):
            raise ParameterError("oracle: give either arcs (pairs of parent and child) or network, and not both.")
        arcs = self.network.dag().arcs if self.arcs is None else self.arcs
        if isinstance(arcs, str) or not all(not isinstance(arc, str) and len(arc) == 2 for arc in arcs):
            raise ParameterError(f"oracle: arcs is {arcs!r}, but must be a list of pairs (parent, child).")
        nodes = dict.fromkeys(str(node) for arc in arcs for node in arc)
        if nodes and nodes.keys().isdisjoint(names):
            raise DataError(
                f"oracle: no column is a node of the graph. Columns: {', '.join(names[:10])}; nodes: "
                f"{', '.join([*nodes][:10])}. Name the columns of X, and y, as the nodes."
            )
        return DAG(arcs, dict.fromkeys([*names, *nodes]))


class _OracleEngine:
    def __init__(self, dag: DAG, table: Table) -> None:
        self.dag, self.names, self.n_rows = dag, table.names, table.n_rows

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Find all nodes that are connected to the target, once for all candidates."""
        return self.evaluate_sets([(candidate,) for candidate in candidates], target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """A set is dependent if any of its members is."""
        connected = self.dag.connected(self.names[target], [self.names[z] for z in given])
        found = np.array([any(self.names[x] in connected for x in members) for members in candidates])
        return certain_results(found.astype(float), found, self.n_rows)
