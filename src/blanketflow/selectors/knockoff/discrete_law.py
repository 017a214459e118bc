"""Laws of discrete features: of a known network, of a known graph, or of a Markov chain in column order.

The tables of a graph and of a chain are estimated from the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...core.errors import DataError, ParameterError, UnknownNameError, did_you_mean
from ...core.graph import DAG
from .table_factors import MOST_CELLS, Factor, Factors, without


@dataclass(frozen=True)
class DiscreteLaw:
    """The joint law of discrete features: a product of tables over a few of them each.

    Parameters
    ----------
    names : tuple of str
        Of the features.
    levels : tuple of tuple of str
        Of each feature.
    factors : tuple of Factor
        Over positions of features.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    factors: tuple[Factor, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of levels."""
        return tuple(map(len, self.levels))

    def whole(self) -> Factors:
        """Return the factors, to work on."""
        return Factors(self.sizes, self.factors)


def network_law(network: Any, names: Sequence[str], where: str) -> DiscreteLaw:
    """Return the law of some nodes of a discrete Bayesian network; all other nodes, the target too, are summed out.

    Raises `ParameterError`, beginning with `where`, if it is no discrete network, and `UnknownNameError` if it has no
    such node.
    """
    nodes = getattr(network, "nodes", None)
    if not isinstance(nodes, Mapping) or not all(hasattr(node, "cpt") for node in nodes.values()):
        raise ParameterError(
            f"{where}: network must be a discrete network, such as one from simulate.read_network, for law: network."
        )
    for name in names:
        if name not in nodes:
            raise UnknownNameError(f"{where}: the network has no node {name!r}. {did_you_mean(name, nodes)}")
    order, relevant = network.dag().topological_order(), set(names)
    for name in reversed(order):  # children first: what has no descendant among the features says nothing of them
        if name in relevant:
            relevant.update(nodes[name].parents)
    kept = [*names, *(name for name in order if name in relevant and name not in set(names))]
    place = {name: at for at, name in enumerate(kept)}
    factors = [
        Factor(tuple(place[v] for v in (*nodes[name].parents, name)), nodes[name].cpt[np.newaxis]) for name in kept
    ]
    whole = without(Factors([len(nodes[name].levels) for name in kept], factors), range(len(names), len(kept)))
    return DiscreteLaw(tuple(names), tuple(nodes[name].levels for name in names), tuple(whole.all()))


def chain_arcs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the arcs of a chain.

    Examples
    --------
    >>> chain_arcs(["a", "b", "c"])
    [('a', 'b'), ('b', 'c')]
    """
    return list(pairwise(names))


def estimated_law(
    names: Sequence[str],
    levels: Sequence[tuple[str, ...]],
    codes: np.ndarray,
    arcs: Iterable[tuple[str, str]],
    where: str,
) -> DiscreteLaw:
    """Return the law of a graph whose tables are shares of the rows, `codes` of shape (n, features).

    Each combination of the parents' levels has one row more, spread over the levels, so that no level is impossible.
    Raises `ParameterError`, beginning with `where`, if an arc names something else, and `DataError` for a cycle or a
    table that is too large.
    """
    arcs = [(str(parent), str(child)) for parent, child in arcs]
    for name in dict.fromkeys(name for arc in arcs for name in arc):
        if name not in names:
            raise ParameterError(f"{where}: arcs name {name!r}, which is no feature. {did_you_mean(name, names)}")
    dag, place, factors = DAG(arcs, names), {name: at for at, name in enumerate(names)}, []
    for name in names:
        scope = tuple(place[v] for v in (*dag.parents(name), name))
        shape = tuple(len(levels[v]) for v in scope)
        if np.prod(shape, dtype=np.float64) > MOST_CELLS:
            raise DataError(
                f"{where}: the table of {name!r} given {len(scope) - 1} parents has more than {MOST_CELLS:,} cells. "
                "Leave out arcs, or merge levels."
            )
        cells = np.ravel_multi_index(tuple(codes[:, list(scope)].T), shape)
        counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape) + 1.0 / shape[-1]
        factors.append(Factor(scope, (counts / counts.sum(axis=-1, keepdims=True))[np.newaxis]))
    return DiscreteLaw(tuple(names), tuple(levels), tuple(factors))
