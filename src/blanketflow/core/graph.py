"""Directed acyclic graphs: topological order and Markov blankets. See `kernels/reachability.py` for d-separation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from .errors import DataError, UnknownNameError, did_you_mean


class DAG:
    """A directed acyclic graph of arcs (parent, child).

    `nodes` defaults to those of the arcs, in order of appearance. Raises `DataError` for a cycle or a repeated node,
    and `UnknownNameError` for an arc with an unlisted node.

    Examples
    --------
    >>> dag = DAG([("cause", "target"), ("target", "effect"), ("other", "effect")])
    >>> dag.markov_blanket("target")["blanket"]
    ['cause', 'effect', 'other']
    """

    def __init__(self, arcs: Iterable[tuple[str, str]], nodes: Iterable[str] | None = None) -> None:
        self.arcs = [(str(parent), str(child)) for parent, child in arcs]
        self.nodes = list(nodes) if nodes is not None else list(dict.fromkeys(n for arc in self.arcs for n in arc))
        self._known_nodes = frozenset(self.nodes)
        if len(self._known_nodes) < len(self.nodes):
            twice = sorted(node for node, times in Counter(self.nodes).items() if times > 1)[:10]
            raise DataError(f"the graph lists these nodes more than once: {', '.join(twice)}. Remove or rename them.")
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

    def parents_and_children(self, node: str) -> list[str]:
        """Return a node's parents, then its children."""
        return self.parents(node) + self.children(node)

    def spouses(self, node: str) -> list[str]:
        """Return the other parents of a node's children, without its own parents and children."""
        near = {node, *self.parents_and_children(node)}
        others = (parent for child in self.children(node) for parent in self.parents(child))
        return [parent for parent in dict.fromkeys(others) if parent not in near]

    def markov_blanket(self, node: str) -> dict[str, list[str]]:
        """Return the parents, children, spouses and their union, each sorted."""
        parts = {"parents": self.parents(node), "children": self.children(node), "spouses": self.spouses(node)}
        parts["blanket"] = [member for members in parts.values() for member in members]
        return {part: sorted(members) for part, members in parts.items()}

    def topological_order(self) -> list[str]:
        """Return the nodes, parents first, otherwise in their order; raises `DataError` with the nodes of a cycle."""
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
        if node not in self._known_nodes:
            raise UnknownNameError(f"the graph has no node {node!r}. {did_you_mean(node, self.nodes)}")
        return node
