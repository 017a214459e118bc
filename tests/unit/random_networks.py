"""Random graphs and random networks on them, for experiments in which the truth must vary."""

from __future__ import annotations

import math

from blanketflow.core.errors import ParameterError
from blanketflow.core.graph import DAG
from blanketflow.core.seeds import derive_rng
from blanketflow.data.simulate.network import (
    MOST_CELLS,
    DiscreteNetwork,
    DiscreteNode,
    GaussianNode,
    LinearGaussianNetwork,
)


def random_dag(n_nodes: int, seed: int, *, degree: float = 2.0, max_degree: int | None = None) -> DAG:
    """Draw a random directed acyclic graph.

    The nodes get a random order; pairs are drawn one after the other, all being equally likely, and joined by an arc
    from the earlier to the later, until there are ``n_nodes * degree / 2`` arcs.

    Parameters
    ----------
    n_nodes : int
        At least 1. The nodes are ``x1 .. xn``, which says nothing of their order in the graph.
    seed : int
        Graphs of other sizes, degrees and seeds are unrelated.
    degree : float
        Average number of parents and children of a node, 0 to ``n_nodes - 1``.
    max_degree : int, optional
        Most parents and children of a node; pairs with a node that is full are passed over, so that the average may
        fall below `degree`.

    Raises
    ------
    ParameterError
        If a number is out of its range.

    Examples
    --------
    >>> dag = random_dag(20, seed=1, degree=3, max_degree=5)
    >>> len(dag.arcs), max(len(dag.parents_and_children(node)) for node in dag.nodes) <= 5
    (30, True)
    """
    if n_nodes < 1:
        raise ParameterError(f"random_dag: n_nodes is {n_nodes}, but must be at least 1.")
    if not 0 <= degree <= n_nodes - 1:
        raise ParameterError(f"random_dag: degree is {degree}, but must be 0 to {n_nodes - 1} for {n_nodes} nodes.")
    if max_degree is not None and max_degree < 0:
        raise ParameterError(f"random_dag: max_degree is {max_degree}, but must not be negative.")
    rng = derive_rng(seed, "random-dag", n_nodes, f"{degree:.17g}", str(max_degree))
    names = [f"x{i}" for i in range(1, n_nodes + 1)]
    order = [names[i] for i in rng.permutation(n_nodes)]
    wanted, degrees, arcs = round(n_nodes * degree / 2), dict.fromkeys(names, 0), []
    for pair in rng.permutation(n_nodes * (n_nodes - 1) // 2).tolist():
        if len(arcs) == wanted:
            break
        later = (1 + math.isqrt(1 + 8 * pair)) // 2  # pairs are numbered (1, 0), (2, 0), (2, 1), (3, 0), ...
        arc = order[pair - later * (later - 1) // 2], order[later]
        if max_degree is None or max(degrees[node] for node in arc) < max_degree:
            arcs.append(arc)
            for node in arc:
                degrees[node] += 1
    return DAG(arcs, names)


def random_discrete(
    dag: DAG, seed: int, *, arity: tuple[int, int] = (2, 4), concentration: float = 1.0, name: str = "random"
) -> DiscreteNetwork:
    """Draw a discrete network on a graph.

    Parameters
    ----------
    dag : DAG
        The graph.
    seed : int
        Every node has random numbers of its own, derived from it, the network's name and the node's.
    arity : (int, int)
        Least and most levels of a node, both at least 1; each number is equally likely. Levels are ``0, 1, ...``.
    concentration : float
        Of the symmetric Dirichlet distribution that every row of a table is drawn from, above 0: below 1 a level
        tends to dominate, and dependence is strong; far above 1 all levels are nearly equally likely.
    name : str
        The network's name.

    Raises
    ------
    ParameterError
        If a number is out of its range, or a node's table would be larger than half a gigabyte.

    Examples
    --------
    >>> random_discrete(DAG([("a", "b")]), seed=1, arity=(3, 3)).nodes["b"].cpt.shape
    (3, 3)
    """
    if not 1 <= arity[0] <= arity[1]:
        raise ParameterError(f"random_discrete: arity is {arity}, but must be the least and the most levels.")
    if not 0 < concentration < math.inf:
        raise ParameterError(f"random_discrete: concentration is {concentration}, but must be above 0.")
    rngs = {node: derive_rng(seed, "random-discrete", name, node) for node in dag.nodes}
    sizes = {node: int(rng.integers(arity[0], arity[1], endpoint=True)) for node, rng in rngs.items()}
    nodes = {}
    for node, rng in rngs.items():
        parents = tuple(dag.parents(node))
        shape = tuple(sizes[parent] for parent in parents)
        if sizes[node] * math.prod(shape) > MOST_CELLS:
            raise ParameterError(
                f"random_discrete: the table of {node!r} with its {len(parents)} parents would have more than "
                f"{MOST_CELLS:,} cells. Draw a graph with a max_degree, or lower arity."
            )
        levels = tuple(str(level) for level in range(sizes[node]))
        nodes[node] = DiscreteNode(levels, parents, rng.dirichlet([concentration] * sizes[node], shape))
    return DiscreteNetwork(name, nodes)


def random_gaussian(
    dag: DAG,
    seed: int,
    *,
    coefficients: tuple[float, float] = (0.3, 1.0),
    sd: tuple[float, float] = (0.5, 1.5),
    name: str = "random",
) -> LinearGaussianNetwork:
    """Draw a linear Gaussian network on a graph.

    Parameters
    ----------
    dag : DAG
        The graph.
    seed : int
        Every node has random numbers of its own, derived from it, the network's name and the node's.
    coefficients : (float, float)
        Least and greatest size of a coefficient, not negative; sizes are uniform in between, and both signs equally
        likely.
    sd : (float, float)
        Least and greatest standard deviation of a residual, not negative; uniform in between. Intercepts are 0.
    name : str
        The network's name.

    Raises
    ------
    ParameterError
        If a range is wrong.

    Examples
    --------
    >>> network = random_gaussian(DAG([("a", "b")]), seed=1, coefficients=(2, 2), sd=(1, 1))
    >>> abs(network.nodes["b"].coefficients["a"]), network.nodes["b"].sd
    (2.0, 1.0)
    """
    for key, (least, greatest) in (("coefficients", coefficients), ("sd", sd)):
        if not 0 <= least <= greatest < math.inf:
            raise ParameterError(f"random_gaussian: {key} is {(least, greatest)}, but must be a range from at least 0.")
    nodes = {}
    for node in dag.nodes:
        rng = derive_rng(seed, "random-gaussian", name, node)
        residual = float(rng.uniform(*sd))
        weights = {parent: float(rng.uniform(*coefficients) * rng.choice([-1, 1])) for parent in dag.parents(node)}
        nodes[node] = GaussianNode(0.0, residual, weights)
    return LinearGaussianNetwork(name, nodes)
