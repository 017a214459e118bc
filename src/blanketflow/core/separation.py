"""d-separation by reachability: which nodes an active trail joins to others, in time linear in the arcs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

_FROM_CHILD, _FROM_PARENT = False, True


def reachable(
    parents: Mapping[str, Sequence[str]], children: Mapping[str, Sequence[str]], sources: Set[str], given: Set[str]
) -> set[str]:
    """Return the nodes that an active trail joins to any of the sources.

    A trail is followed node by node with the way by which it came: a chain or a fork passes where its middle is not
    given, a collider where it, or a node below it, is given. Each node is entered at most once from each side.

    Parameters
    ----------
    parents, children : mapping of str to sequence of str
        The graph; nodes without any may be left out.
    sources, given : set of str
        Nodes, disjoint.

    Returns
    -------
    set of str
        The nodes, the sources among them, the given ones not.

    References
    ----------
    Shachter (1998), Bayes-ball: the rational pastime, UAI; Koller and Friedman (2009), Probabilistic Graphical Models,
    Algorithm 3.1.

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
