"""``regression``: a number that depends on two features by a smooth, not monotone function, among others.

``regression-22`` adds irrelevant features, ``regression-38`` copies of the two, ``regression-138`` more of the first.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.errors import ParameterError
from .network import GaussianNode, Network, Node

#: The node that is the target, and its parents, which are its blanket.
TARGET, PARENTS = "y", ("x1", "x2")
#: How often the copies of a feature match it in `regression-38` and `regression-138`.
COPIES = tuple(sixteenths / 16 for sixteenths in range(9, 17))


@dataclass(frozen=True)
class NumericNode(Node):
    """A node of numbers that `draw` computes; its parameters are checked where it is made."""

    parents: tuple[str, ...]

    def check(self, where: str, nodes: Mapping[str, Node]) -> None:
        """Accept any parents: `regression` gives it numeric ones."""


@dataclass(frozen=True)
class Response(NumericNode):
    """``x1 exp(-x1^2 - x2^2) + Normal(0, noise)``."""

    noise: float

    def draw(self, rng: np.random.Generator, rows: int, given: Sequence[np.ndarray]) -> np.ndarray:
        """Draw the response to the two parents."""
        x1, x2 = given
        return x1 * np.exp(-(x1**2) - x2**2) + rng.normal(0.0, self.noise, rows)


@dataclass(frozen=True)
class PartialCopy(NumericNode):
    """The parent's value at a rate, elsewhere a number drawn anew from the parent's distribution, Normal(0, 1)."""

    rate: float

    def draw(self, rng: np.random.Generator, rows: int, given: Sequence[np.ndarray]) -> np.ndarray:
        """Draw which rows are copied, and numbers for the others."""
        other = rng.normal(size=rows)
        return np.where(rng.random(rows) < self.rate, given[0], other)


def regression(
    n_irrelevant: int = 20, copies: Sequence[float] = (), noise: float = 0.075, name: str = "regression"
) -> Network:
    """Return the network of y = x1 exp(-x1^2 - x2^2) + noise and of its features.

    The blanket of y is x1 and x2. A copy that matches at 1 can replace its original in a Markov boundary; the graph
    shows the originals.

    Parameters
    ----------
    n_irrelevant : int
        Number of independent standard normal features I1, I2, ...
    copies : sequence of float
        Probabilities, in each row independently, that x1_1, x1_2, ... equal x1, and so on for x2; else the cell is
        standard normal.
    noise : float
        Standard deviation of the normal noise of y, at least 0.
    name : str
        Networks of the same name have the same x1, x2 and y at the same seed.

    Raises
    ------
    ParameterError
        If a number is out of its range.

    Notes
    -----
    Published are the function, the numbers of features and how often copies match, but neither the distribution of the
    features nor the noise. With standard normal features x1 exp(-x1^2 - x2^2) has variance 1/25, and x1 and x2 can
    explain 1 / (1 + 25 noise^2) of the variance of y: 0.88 at the noise of 0.075, of which a support vector machine
    reaches about the printed 0.86 from some hundred rows on.

    References
    ----------
    Lou, Obradovic (2010) Feature selection by approximating the Markov blanket in a kernel-induced space, ECAI,
    797-802, section 5.1.2, 10.3233/978-1-60750-606-5-797; the function is that of Song, Smola, Gretton, Borgwardt, Bedo
    (2007) Supervised feature selection via dependence estimation, ICML, 823-830, 10.1145/1273496.1273600.

    Examples
    --------
    >>> network = regression(n_irrelevant=2, copies=[0.5, 1])
    >>> list(network.nodes)
    ['x1', 'x2', 'x1_1', 'x1_2', 'x2_1', 'x2_2', 'I1', 'I2', 'y']
    >>> table = network.sample(100, seed=0)
    >>> bool((table["x1"].values == table["x1_2"].values).all())
    True
    """
    if n_irrelevant < 0:
        raise ParameterError(f"regression: n_irrelevant is {n_irrelevant}, but must be at least 0.")
    if not 0 <= noise < np.inf:
        raise ParameterError(f"regression: noise is {noise!r}, but must be a number at least 0.")
    for i, rate in enumerate(copies):
        if not 0 <= rate <= 1:
            raise ParameterError(f"regression: copies[{i}] is {rate!r}, but must be a number at least 0 and at most 1.")
    repeated = itertools.product(PARENTS, enumerate(copies, start=1))
    return Network(
        name,
        {
            **{parent: GaussianNode(0.0, 1.0) for parent in PARENTS},
            **{f"{parent}_{i}": PartialCopy((parent,), rate) for parent, (i, rate) in repeated},
            **{f"I{i}": GaussianNode(0.0, 1.0) for i in range(1, n_irrelevant + 1)},
            TARGET: Response(PARENTS, noise),
        },
    )
