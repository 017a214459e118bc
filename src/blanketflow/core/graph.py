"""Directed acyclic graphs and what they say of a node's neighbourhood."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from .errors import DataError, UnknownNameError, did_you_mean


class DAG:
    """A directed acyclic graph.

    Parameters
    ----------
    arcs : iterable of (str, str)
        Pairs (parent, child).
    nodes : iterable of str, optional
        All nodes in their order; those of the arcs, in order of appearance, by default.

    Raises
    ------
    DataError
        If the arcs hold a cycle.
    UnknownNameError
        If an arc names a node that is not among `nodes`.

    Examples
    --------
    >>> dag = DAG([("cause", "target"), ("target", "effect"), ("other", "effect")])
    >>> dag.markov_blanket("target")["blanket"]
    ['cause', 'effect', 'other']
    """

    def __init__(self, arcs: Iterable[tuple[str, str]], nodes: Iterable[str] | None = None) -> None:
        self.arcs = [(str(parent), str(child)) for parent, child in arcs]
        self.nodes = list(nodes) if nodes is not None else list(dict.fromkeys(n for arc in self.arcs for n in arc))
        self._parents: dict[str, list[str]] = defaultdict(list)
        self._children: dict[str, list[str]] = defaultdict(list)
        for parent, child in dict.fromkeys(self.arcs):
            self._parents[self._known(child)].append(parent)
            self._children[self._known(parent)].append(child)
        self.topological_order()

    def parents(self, node: str) -> list[str]:
        """Return a node's parents, in the order of the arcs."""
        return list(self._parents.get(self._known(node), ()))

    def children(self, node: str) -> list[str]:
        """Return a node's children, in the order of the arcs."""
        return list(self._children.get(self._known(node), ()))

    def spouses(self, node: str) -> list[str]:
        """Return the other parents of a node's children, without its own parents and children."""
        near = {node, *self.parents(node), *self.children(node)}
        others = (parent for child in self.children(node) for parent in self.parents(child))
        return [parent for parent in dict.fromkeys(others) if parent not in near]

    def markov_blanket(self, node: str) -> dict[str, list[str]]:
        """Return the parents, children, spouses and their union, the blanket; each list is sorted."""
        parts = {"parents": self.parents(node), "children": self.children(node), "spouses": self.spouses(node)}
        parts["blanket"] = [member for members in parts.values() for member in members]
        return {part: sorted(members) for part, members in parts.items()}

    def topological_order(self) -> list[str]:
        """Return the nodes, parents before children, otherwise in their given order.

        Raises
        ------
        DataError
            If there is a cycle; the message names its nodes.
        """
        waiting = {node: len(self._parents.get(node, ())) for node in self.nodes}
        ready = [node for node in self.nodes if not waiting[node]]
        for node in ready:  # grows while it is read
            for child in self._children.get(node, ()):
                waiting[child] -= 1
                if not waiting[child]:
                    ready.append(child)
        if len(ready) < len(self.nodes):
            stuck = ", ".join(sorted(node for node in self.nodes if waiting[node])[:10])
            raise DataError(f"the graph has a cycle through or above the nodes {stuck}. Remove or turn an arc.")
        return ready

    def _known(self, node: str) -> str:
        if node not in self.nodes:
            raise UnknownNameError(f"the graph has no node {node!r}. {did_you_mean(node, self.nodes)}")
        return node
