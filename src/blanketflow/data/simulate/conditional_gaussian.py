"""Conditional Gaussian networks: discrete nodes, and Gaussian ones that may depend on them."""

from __future__ import annotations

from .discrete import DiscreteNode
from .gaussian import GaussianNode
from .network import Network


class ConditionalGaussianNetwork(Network):
    """A Bayesian network of discrete and Gaussian nodes; parameters and errors as for `Network`.

    A discrete node has discrete parents only. Discrete networks and linear Gaussian ones are its two special cases.

    Examples
    --------
    >>> import numpy as np
    >>> from blanketflow.data.simulate.discrete import node
    >>> yield_ = GaussianNode(np.array([1.0, 5.0]), np.array([0.0, 0.0]), given=("watered",))
    >>> farm = ConditionalGaussianNetwork("farm", {"watered": node(["no", "yes"], table=[0, 1]), "yield": yield_})
    >>> farm.sample(2, seed=1)["yield"].values
    array([5., 5.])
    """

    kinds = (DiscreteNode, GaussianNode)
