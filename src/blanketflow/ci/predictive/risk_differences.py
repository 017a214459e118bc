"""The random train/test repeats of the PPI test, shared by all features of a fold, and the p-value of their risks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.errors import DataError
from ...core.seeds import derive_rng
from ..clusters import Exchange
from ..tails import student_t_greater
from ..unbound import ROWS

#: Computes the place among a repeat's test rows whose value each of them gets, (B, m), where a model needs it.
Sources = Callable[[], np.ndarray]


@dataclass(frozen=True)
class Repeats:
    """B random splits of n rows, and one permutation of each split's test rows.

    `is_train` is (B, n); `test_rows`, (B, m), ascend; row i of the permuted column has the value at ``permuted_rows[b,
    i]``. Seeds are derived from the repeat's number; `first` is the first one's.
    """

    is_train: np.ndarray
    test_rows: np.ndarray
    permuted_rows: np.ndarray
    first: int = 0

    def __getitem__(self, which: slice) -> Repeats:
        """Return a range of repeats."""
        first = self.first + range(len(self.is_train))[which].start
        return Repeats(self.is_train[which], self.test_rows[which], self.permuted_rows[which], first)

    @cached_property
    def sources(self) -> np.ndarray:
        """The place among the test rows whose value each of them gets, (B, m)."""
        found = [np.searchsorted(rows, moved) for rows, moved in zip(self.test_rows, self.permuted_rows, strict=True)]
        return np.array(found)

    def receivers(self) -> np.ndarray:
        """Return the test row that gets each row's value, int64 (B, n); training rows keep theirs."""
        n_repeats, n_rows = self.is_train.shape
        receivers = np.tile(np.arange(n_rows), (n_repeats, 1))
        np.put_along_axis(receivers, self.permuted_rows, self.test_rows, axis=1)
        return receivers

    @property
    def test_share(self) -> float:
        """Number of test rows over number of training rows, for the corrected t-test."""
        n_test = self.test_rows.shape[1]
        return n_test / (self.is_train.shape[1] - n_test)


def draw_repeats(
    n_rows: int,
    n_repeats: int,
    test_size: float,
    seed: int,
    permute: str = ROWS,
    clusters: np.ndarray | None = None,
    strata: np.ndarray | None = None,
) -> Repeats:
    """Draw the repeats of a fold; raises `DataError` if the training or test part would be empty.

    Repeat b depends only on the seed and b, so more repeats append to fewer. With `clusters`, numbers of shape
    (n_rows,), the test part has whole ones, except the last if sizes differ, and rows are exchanged as `permute` says,
    within `strata`, (n_rows,).
    """
    n_test = math.ceil(test_size * n_rows)
    if not 0 < n_test < n_rows:
        raise DataError(f"{n_rows} rows cannot be split with test_size {test_size}. Use fewer folds or more rows.")
    if clusters is not None:
        return _by_clusters(n_repeats, test_size, seed, permute, clusters, strata)
    is_train = np.ones((n_repeats, n_rows), dtype=bool)
    test_rows = np.empty((n_repeats, n_test), dtype=np.int64)
    permuted_rows = np.empty_like(test_rows)
    for b in range(n_repeats):
        test_rows[b] = np.sort(derive_rng(seed, "repeat", b, "split").permutation(n_rows)[:n_test])
        rng = derive_rng(seed, "repeat", b, "permutation")
        if strata is None:
            permuted_rows[b] = rng.permutation(test_rows[b])
        else:
            moved = Exchange.of(permute, n_test, strata=strata[test_rows[b]]).permutation(rng)
            permuted_rows[b] = test_rows[b, moved]
        is_train[b, test_rows[b]] = False
    return Repeats(is_train, test_rows, permuted_rows)


def _by_clusters(
    n_repeats: int, test_size: float, seed: int, permute: str, clusters: np.ndarray, strata: np.ndarray | None
) -> Repeats:
    """Return repeats whose test part is made of whole clusters."""
    n_rows, sizes = len(clusters), np.bincount(clusters)
    n_clusters, n_test = len(sizes), math.ceil(test_size * n_rows)
    if sizes.min() == sizes.max():
        n_test = max(math.ceil(test_size * n_clusters), 2) * sizes[0]
    if n_test >= n_rows:
        raise DataError(
            f"{n_clusters} groups cannot be split with test_size {test_size}: at least 2 are to be test rows, and one "
            "is to learn from. Use fewer folds or more groups."
        )
    test_rows = np.empty((n_repeats, n_test), dtype=np.int64)
    permuted_rows, is_train = np.empty_like(test_rows), np.ones((n_repeats, n_rows), dtype=bool)
    for b in range(n_repeats):
        place = derive_rng(seed, "repeat", b, "split").permutation(n_clusters)[clusters]
        test_rows[b] = np.sort(np.argsort(place, kind="stable")[:n_test])
        own = np.unique(clusters[test_rows[b]], return_inverse=True)[1]
        among = None if strata is None else strata[test_rows[b]]
        moved = Exchange.of(permute, n_test, own, among).permutation(derive_rng(seed, "repeat", b, "permutation"))
        permuted_rows[b] = test_rows[b, moved]
        is_train[b, test_rows[b]] = False
    return Repeats(is_train, test_rows, permuted_rows)


#: Pure leaves make risk differences multiples of one constant; rounding keeps float noise from deciding ties.
DECIMALS = 12
#: Most repeats for which `wilcoxon` counts all sign flips. Equals MAX_EXACT_PAIRS in kernels/signed_rank.py, which
#: planning must not import.
MAX_EXACT_REPEATS = 13


def risk_differences(risks: np.ndarray, permuted_risks: np.ndarray) -> np.ndarray:
    """Return permuted minus original risks, shape (m, B), rounded to 1e-12."""
    return np.round(permuted_risks - risks, DECIMALS)


def wilcoxon(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p, both of shape (m,), of the one-sided Wilcoxon signed-rank test of differences, shape (m, B).

    Up to 13 repeats all sign flips are counted, otherwise the normal approximation without continuity correction is
    used. Zero differences are split; p = 1 if all are zero.

    >>> p, _ = wilcoxon(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]))
    >>> float(p[0]) == 2.0**-5
    True
    """
    from ...kernels.signed_rank import signed_rank_greater

    p_value, log_p = np.empty(len(differences)), np.empty(len(differences))
    signed_rank_greater(np.require(differences, np.float64, ["C", "W"]), p_value, log_p)
    return p_value, log_p


def smallest_p(n_repeats: int, significance: str = "wilcoxon") -> float:
    """Return the smallest possible p-value of a test with `n_repeats` repeats; 0 for ``corrected-t``.

    For ``wilcoxon`` it is 2^-B for up to 13 repeats, else the normal tail above sqrt(B), reached by equal positive
    differences: z is at most the sum of the ranks over the root of their sum of squares, largest for equal ranks by the
    Cauchy-Schwarz inequality.

    >>> smallest_p(5), smallest_p(5, "corrected-t")
    (0.03125, 0.0)
    >>> round(smallest_p(30), 10)
    2.16e-08
    """
    if significance == "corrected-t":
        return 0.0
    if n_repeats <= MAX_EXACT_REPEATS:
        return 2.0**-n_repeats
    return 0.5 * math.erfc(math.sqrt(n_repeats / 2.0))


def corrected_t(differences: np.ndarray, test_share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of the one-sided corrected resampled t-test (Nadeau, Bengio 2003, 10.1023/A:1024068626366).

    Differences are (m, B); `test_share` is the test rows per training row. If all differences are equal, only the sign
    is known: p is that of `wilcoxon` if they are positive, else 1.
    """
    n_repeats = differences.shape[1]
    mean = differences.mean(axis=1)
    variance = differences.var(axis=1, ddof=1)
    no_spread = variance <= np.finfo(float).eps * mean**2
    scale = np.sqrt((1.0 / n_repeats + test_share) * np.where(no_spread, 1.0, variance))
    p_value, log_p = student_t_greater(mean / scale, n_repeats - 1)
    p_value[no_spread] = np.where(mean[no_spread] > 0, smallest_p(n_repeats), 1.0)
    log_p[no_spread] = np.log(p_value[no_spread])
    return p_value, log_p
