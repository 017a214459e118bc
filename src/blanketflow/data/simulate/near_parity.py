"""Near-parity: a target that is the parity of three bits, up to noise, among irrelevant bits.

Each of the three is almost independent of the target unless the other two are known, which hides them from methods
that look at one feature at a time.
"""

from __future__ import annotations

import numpy as np

from ...core.errors import ParameterError
from ...core.seeds import derive_rng
from .network import DiscreteNetwork, node

#: The node that is the target, and its parents, which are its blanket.
TARGET, PARENTS = "x1", ("x2", "x3", "x4")
BITS = ("0", "1")


def near_parity(
    n_variables: int = 50, noise: float = 0.1, bit_probability: float = 0.6, seed: int = 0
) -> DiscreteNetwork:
    """Return the network of `n_variables` bits, at least 4; x1 is the parity of x2, x3 and x4, flipped with some noise.

    `noise` is the probability of a flip. x2 to x4 are 1 with `bit_probability`; at 0.5 any two of them are independent
    of the target exactly. The other bits are independent; their probabilities are uniform in 0..1, drawn by the seed.
    Raises `ParameterError` if a number is out of its range.

    References
    ----------
    Margaritis (2009) Toward provably correct feature selection in arbitrary domains, NIPS 22, 1240-1248, section 6.

    Examples
    --------
    >>> near_parity(10).dag().markov_blanket(TARGET)["blanket"]
    ['x2', 'x3', 'x4']
    """
    if n_variables < 4:
        raise ParameterError(f"near_parity: n_variables is {n_variables}, but must be at least 4.")
    for name, share in (("noise", noise), ("bit_probability", bit_probability)):
        if not 0 <= share <= 1:
            raise ParameterError(f"near_parity: {name} is {share!r}, but must be a number at least 0 and at most 1.")
    parity = np.indices((2, 2, 2)).sum(axis=0) % 2
    is_one = np.where(parity == 1, 1 - noise, noise)
    others = derive_rng(seed, "near-parity").random(n_variables - 4)
    return DiscreteNetwork(
        "near-parity",
        {
            TARGET: node(BITS, PARENTS, table=np.stack([1 - is_one, is_one], axis=-1)),
            **{name: node(BITS, table=[1 - bit_probability, bit_probability]) for name in PARENTS},
            **{f"x{i}": node(BITS, table=[1 - p, p]) for i, p in enumerate(others.tolist(), start=5)},
        },
    )
