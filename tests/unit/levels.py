"""Whether a test rejects true nulls too often, by no more samples than it takes to say."""

from collections.abc import Iterable

import numpy as np
from scipy.stats import beta, binom

#: Drawing ends where a test that all samples would find with this probability would be found with no more than that.
POWER, LAG = 0.98, 0.3


class Level:
    """A number of samples, of which `limit` are rejected with a probability of about `doubt` at a level.

    The limit is one less than that of a binomial test of all samples, for what is not found since the drawing ends
    early. test_levels.py compares both exactly: no rate of rejections is found less often.
    """

    def __init__(self, n_samples: int, doubt: float, level: float = 0.05) -> None:
        self.n_samples, self.limit = n_samples, int(binom.isf(doubt, n_samples, level))
        self.high = beta.ppf(POWER, self.limit + 1, n_samples - self.limit)

    def is_hopeless(self, count: int | np.ndarray, left: int) -> bool | np.ndarray:
        """Whether the limit is far, with so many rejections up to now and so many samples left."""
        return binom.sf(self.limit - count - 1, left, self.high) < LAG

    def is_exceeded(self, rejected: Iterable[bool]) -> bool:
        """Draw samples one after the other, each rejected or not, until it is clear whether too many are."""
        count = 0
        for drawn, is_rejected in enumerate(rejected, 1):
            count += bool(is_rejected)
            if count == self.limit or self.is_hopeless(count, self.n_samples - drawn):
                return count == self.limit
        raise ValueError(f"fewer than {self.n_samples} samples")
