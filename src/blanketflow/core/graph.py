"""Directed acyclic graphs: d-separation, and the neighbourhood of a node."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set

from .errors import DataError, UnknownNameError, did_you_mean

#: From which side a trail enters a node.
_FROM_CHILD, _FROM_PARENT = False, True


class DAG:
    """A directed acyclic graph of arcs (parent, child).

    `nodes` are all nodes in their order; by default the nodes of the arcs, in order of appearance. Raises `DataError`
    if the arcs hold a cycle or a node is listed twice, and `UnknownNameError` if an arc names a node that is not
    listed.

    Examples
    --------
    >>> dag = DAG([("cause", "target"), ("target", "effect"), ("other", "effect")])
    >>> dag.markov_blanket("target")["blanket"]
    ['cause', 'effect', 'other']
    >>> dag.separated("target", "other"), dag.separated("target", "other", ["effect"])
    (True, False)
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
        """Return the parents, children, spouses and their union, the blanket; each list is sorted."""
        parts = {"parents": self.parents(node), "children": self.children(node), "spouses": self.spouses(node)}
        parts["blanket"] = [member for members in parts.values() for member in members]
        return {part: sorted(members) for part, members in parts.items()}

    def connected(self, x: str | Iterable[str], given: str | Iterable[str] = ()) -> set[str]:
        """Return the nodes that are d-connected to a node, or to any of several, given others.

        Nodes of `x` and of `given` are not among them. Takes time linear in the arcs. Raises `DataError` if a node is
        in both, and `UnknownNameError` if a node is not in the graph.

        Examples
        --------
        >>> dag = DAG([("season", "rain"), ("rain", "wet"), ("hose", "wet")])
        >>> sorted(dag.connected("rain")), sorted(dag.connected("rain", {"wet"}))
        (['season', 'wet'], ['hose', 'season'])
        """
        sources, fixed = self._all_known(x), self._all_known(given)
        _apart("x", sources, "given", fixed)
        return reachable(self._parents, self._children, sources, fixed) - sources

    def separated(self, x: str | Iterable[str], y: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
        """Return whether every node of `x` is d-separated from every node of `y`, given others.

        Raises `DataError` if a node is in two of the three, and `UnknownNameError` if a node is not in the graph.
        """
        sources, goals = self._all_known(x), self._all_known(y)
        _apart("x", sources, "y", goals)
        _apart("y", goals, "given", self._all_known(given))
        return goals.isdisjoint(self.connected(sources, given))

    def topological_order(self) -> list[str]:
        """Return the nodes, parents before children, otherwise in their given order.

        Raises `DataError` if there is a cycle; the message names its nodes.
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
        if node not in self._known_nodes:
            raise UnknownNameError(f"the graph has no node {node!r}. {did_you_mean(node, self.nodes)}")
        return node

    def _all_known(self, nodes: str | Iterable[str]) -> set[str]:
        return {self._known(node) for node in ([nodes] if isinstance(nodes, str) else nodes)}


def _apart(one: str, nodes: set[str], other: str, others: set[str]) -> None:
    both = nodes & others
    if both:
        raise DataError(f"d-separation: {', '.join(sorted(both)[:10])} cannot be in both {one} and {other}.")


def reachable(
    parents: Mapping[str, Sequence[str]], children: Mapping[str, Sequence[str]], sources: Set[str], given: Set[str]
) -> set[str]:
    """Return the nodes that an active trail joins to any of the sources.

    A trail is followed node by node with the way by which it came: a chain or a fork passes where its middle is not
    given, a collider where it, or a node below it, is given. Each node is entered at most once from each side.

    Nodes without parents or children may be left out of the mappings; `sources` and `given` are disjoint. The sources
    are among the result, the given nodes are not.

    This is Bayes-ball (Shachter 1998); see also Koller and Friedman (2009), Algorithm 3.1.

    Examples
    --------
    >>> parents = {"c": ["a", "b"]}
    >>> children = {"a": ["c"], "b": ["c"]}
    >>> sorted(reachable(parents, children, {"a"}, set())), sorted(reachable(parents, children, {"a"}, {"c"}))
    (['a', 'c'], ['a', 'b'])
    """
    opening = _with_ancestors(parents, given)
    reached: set[str] = set()
    entered: set[tuple[str, bool]] = set()
    waiting = [(node, _FROM_CHILD) for node in sources]  # a source passes on both ways, like a node entered from below
    while waiting:
        step = waiting.pop()
        if step in entered:
            continue
        entered.add(step)
        node, way = step
        is_given = node in given
        if not is_given:
            reached.add(node)
            waiting.extend((child, _FROM_PARENT) for child in children.get(node, ()))
        if (way is _FROM_CHILD and not is_given) or (way is _FROM_PARENT and node in opening):
            waiting.extend((parent, _FROM_CHILD) for parent in parents.get(node, ()))
    return reached


def _with_ancestors(parents: Mapping[str, Sequence[str]], nodes: Set[str]) -> set[str]:
    found, waiting = set(nodes), list(nodes)
    while waiting:
        new = [parent for parent in parents.get(waiting.pop(), ()) if parent not in found]
        found.update(new)
        waiting.extend(new)
    return found
