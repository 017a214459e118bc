"""What the mutual information of independent columns is by chance, and what an estimate has beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Chance(NamedTuple):
    """Mutual information of independent columns with the same counts, in nats: mean and standard deviation, (m,).

    The mean is exact: that over all permutations of one column within the strata of the conditioning set. The standard
    deviation is that of a chi-square distribution with this mean, which G2 has in large samples.
    """

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, mean: np.ndarray, dof: np.ndarray) -> Chance:
        """Return it from the mean and the degrees of freedom.

        Examples
        --------
        >>> Chance.of(np.array([0.1, 0.0]), np.array([8, 0])).deviation
        array([0.05, 0.  ])
        """
        return cls(mean, mean * np.sqrt(2.0 / np.maximum(dof, 1.0)))

    @classmethod
    def none(cls, m: int) -> Chance:
        """Return that of an estimate that is not made from counts, where it is the same for all columns."""
        return cls(np.zeros(m), np.zeros(m))

    @classmethod
    def joined(cls, parts: Sequence[Chance]) -> Chance:
        """Put those of neighbouring columns one behind the other."""
        return cls(*map(np.concatenate, zip(*parts, strict=True))) if parts else cls.none(0)

    def taken_from(self, information: np.ndarray, deviations: float) -> np.ndarray:
        """Return estimates less the mean and some standard deviations."""
        return information - self.mean - deviations * self.deviation
