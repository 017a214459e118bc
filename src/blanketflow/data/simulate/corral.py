"""Corral: a Boolean class of two pairs of features, among copies of these features and irrelevant ones.

``corral-7`` has a feature that follows the class, ``corral-46`` noisy copies of the four relevant features; in the
``corral-rel`` ones the two features of a pair depend on each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ...core.errors import ParameterError
from .network import DiscreteNetwork, DiscreteNode, node

#: The node that is the target, and its parents, which are its blanket.
TARGET, PARENTS = "Y", ("A0", "A1", "B0", "B1")
#: How often the copies of a feature match it in `corral-46`.
COPIES = tuple(sixteenths / 16 for sixteenths in range(15, 8, -1))
#: How often A0 matches A1, and B0 matches B1, in the ``corral-rel`` networks.
RELATED = 0.6
BITS = ("0", "1")


def corral(
    n_irrelevant: int = 1,
    class_match: float | None = 0.75,
    copies: Sequence[float] = (),
    pair_match: float = 0.5,
    name: str = "corral",
) -> DiscreteNetwork:
    """Return the network of the class Y = (A0 and A1) or (B0 and B1) and of its features.

    The blanket of Y is A0, A1, B0 and B1: Y is a function of them. The feature R, which follows the class, is drawn
    from the four and not from Y. That is the same distribution, but an arc from Y would put R into the blanket by
    d-separation.

    Parameters
    ----------
    n_irrelevant : int
        Number of independent fair bits I1, I2, ...; a single one is I.
    class_match : float or None
        Probability that R equals Y; None for no R.
    copies : sequence of float
        Probabilities that A0_1, A0_2, ... equal A0, and so on for the others. At 1 there are several Markov boundaries,
        of which the graph shows one.
    pair_match : float
        Probability that A0 equals A1, and B0 equals B1. Each is a fair bit; the pairs are independent.
    name : str
        Networks of the same name have the same A0, A1, B0, B1 and Y at the same seed.

    Raises
    ------
    ParameterError
        If a number is out of its range.

    Notes
    -----
    Published are the class, the match of R, the numbers of features and the match within pairs; that the four are fair
    bits is the usual reading. How closely the 28 copies of Corral-46 match is stated neither by Lou and Obradovic nor
    by Yu and Liu, to whom they refer. Here they match at 15/16, 14/16, ..., 9/16, the steps of Lou and Obradovic for
    regression; the closest is the first, since their table 1 has A0_1 beside A0.

    References
    ----------
    John, Kohavi, Pfleger (1994) Irrelevant features and the subset selection problem, ICML, 121-129.
    Yu, Liu (2004) Efficient feature selection via analysis of relevance and redundancy, JMLR 5, 1205-1224.
    Lou, Obradovic (2010) Feature selection by approximating the Markov blanket in a kernel-induced space, ECAI,
    797-802, section 5.1.1, 10.3233/978-1-60750-606-5-797.

    Examples
    --------
    >>> network = corral(copies=[0.9], class_match=None)
    >>> list(network.nodes)
    ['A0', 'A1', 'B0', 'B1', 'A0_1', 'A1_1', 'B0_1', 'B1_1', 'I', 'Y']
    >>> network.dag().markov_blanket(TARGET)["blanket"]
    ['A0', 'A1', 'B0', 'B1']
    """
    if n_irrelevant < 0:
        raise ParameterError(f"corral: n_irrelevant is {n_irrelevant}, but must be at least 0.")
    rates = {"class_match": class_match, "pair_match": pair_match, **{f"copies[{i}]": p for i, p in enumerate(copies)}}
    for key, rate in rates.items():
        if not (rate is None and key == "class_match") and not 0 <= rate <= 1:
            raise ParameterError(f"corral: {key} is {rate!r}, but must be a number at least 0 and at most 1.")
    nodes: dict[str, DiscreteNode] = {}
    for first, second in (PARENTS[:2], PARENTS[2:]):
        nodes[first], nodes[second] = _fair(), _matching(first, pair_match)
    if class_match is not None:
        nodes["R"] = _of_parents(class_match)
    for parent, (i, rate) in itertools.product(PARENTS, enumerate(copies, start=1)):
        nodes[f"{parent}_{i}"] = _matching(parent, rate)
    for i in range(1, n_irrelevant + 1):
        nodes["I" if n_irrelevant == 1 else f"I{i}"] = _fair()
    nodes[TARGET] = _of_parents(1.0)
    return DiscreteNetwork(name, nodes)


def _fair() -> DiscreteNode:
    return node(BITS, table=[0.5, 0.5])


def _matching(parent: str, rate: float) -> DiscreteNode:
    return node(BITS, [parent], table=[[rate, 1 - rate], [1 - rate, rate]])


def _of_parents(rate: float) -> DiscreteNode:
    """Return a node that has the value of (A0 and A1) or (B0 and B1) at this rate."""
    a0, a1, b0, b1 = np.indices((2, 2, 2, 2))
    is_one = np.where((a0 & a1) | (b0 & b1), rate, 1 - rate)
    return node(BITS, PARENTS, table=np.stack([1 - is_one, is_one], axis=-1))
