"""Gaussian nodes, linear functions of their parents plus normal noise, and networks with such nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...core.errors import DataError
from .discrete import DiscreteNode, configurations, level_counts
from .network import Network, Node


@dataclass(frozen=True)
class GaussianNode(Node):
    """One node: ``intercept + sum of coefficient * parent + Normal(0, sd)``.

    The discrete parents are `given`, the Gaussian ones the keys of `coefficients`; `sd` is at least 0. With discrete
    parents, intercept, sd and each coefficient are arrays of shape (levels of discrete parent 1, levels of discrete
    parent 2, ...): this is the conditional Gaussian node, of which the linear Gaussian one is the case without them.
    """

    intercept: float | np.ndarray
    sd: float | np.ndarray
    coefficients: Mapping[str, float | np.ndarray] = field(default_factory=dict)
    given: tuple[str, ...] = ()

    @property
    def parents(self) -> tuple[str, ...]:
        """The discrete parents, then the Gaussian ones."""
        return (*self.given, *self.coefficients)

    def check(self, where: str, nodes: Mapping[str, Node]) -> None:
        """Raise `DataError` if an array has the wrong shape, a number is not finite or an sd is negative."""
        shape = level_counts(where, self.given, nodes)
        for parent in self.coefficients:
            if not isinstance(nodes[parent], GaussianNode):
                raise DataError(f"{where}: the parent {parent!r} has a coefficient, but is not Gaussian.")
        for part, value in (("intercept", self.intercept), ("sd", self.sd), *self.coefficients.items()):
            if np.shape(value) != shape:
                raise DataError(f"{where}: {part} has shape {np.shape(value)}, not {shape}.")
            if not np.isfinite(value).all():
                raise DataError(f"{where}: {part} holds a value that is not finite.")
        if np.min(self.sd) < 0:
            raise DataError(f"{where}: sd is {np.min(self.sd)}, but must not be negative.")

    def draw(self, rng: np.random.Generator, rows: int, given: Sequence[np.ndarray]) -> np.ndarray:
        """Draw numbers given the codes of the discrete parents and the numbers of the Gaussian ones."""
        at = configurations(given[: len(self.given)], np.shape(self.sd))

        def of_row(value: float | np.ndarray) -> float | np.ndarray:
            return value if at is None else value.take(at)

        noise = rng.normal(of_row(self.intercept), of_row(self.sd), rows)
        numbers = given[len(self.given) :]
        terms = (of_row(value) * x for value, x in zip(self.coefficients.values(), numbers, strict=True))
        return sum(terms, noise)


class LinearGaussianNetwork(Network):
    """A Bayesian network of linear Gaussian nodes; parameters and errors as for `Network`."""

    kinds = (GaussianNode,)


class ConditionalGaussianNetwork(Network):
    """A Bayesian network of discrete and Gaussian nodes; parameters and errors as for `Network`.

    A discrete node has discrete parents only. Discrete networks and linear Gaussian ones are its two special cases.

    >>> import numpy as np
    >>> from blanketflow.data.simulate.discrete import node
    >>> yield_ = GaussianNode(np.array([1.0, 5.0]), np.array([0.0, 0.0]), given=("watered",))
    >>> farm = ConditionalGaussianNetwork("farm", {"watered": node(["no", "yes"], table=[0, 1]), "yield": yield_})
    >>> farm.sample(2, seed=1)["yield"].values
    array([5., 5.])
    """

    kinds = (DiscreteNode, GaussianNode)
