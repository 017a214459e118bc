"""The Hilbert-Schmidt independence criterion (HSIC), and the kernel conditional independence test (KCI) given Z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.cards import ASYMPTOTIC, Card
from ..core.parameters import choice, integer, number
from ..core.results import CIResult, CIResults
from ..core.seeds import derive_rng
from ..core.table import Table
from . import hsic_null as null
from .base import CITest
from .kernel_features import kernel_features, residual_of

#: Bytes of features that an engine keeps.
KEPT_BYTES = 2**28
#: Share of k(x, x) = 1 below which a variance is rounding, and of a statistic below which a difference is.
CONSTANT, SAME = 1e-12, 1e-9
#: Fewest rows of a test, which the variance over permutations needs; most rows whose pairs give the one given Z.
FEWEST_ROWS, PAIRED_ROWS = 4, 2000


@dataclass
class HSIC(CITest):
    """Kernel test of (conditional) independence: detects any kind of dependence, for any kind of column.

    The statistic is the biased HSIC, tr(K H L H) / (m - 1)^2, for m rows, kernel matrices K of X and L of the target,
    and H = I - 11'/m. A kernel is exp(-d^2 / (2 sigma^2)) on standardised numeric columns, with sigma the median
    non-zero distance, and the delta kernel on categorical and boolean ones. A set of columns has one kernel on its
    joint vector: one Gaussian on all its numeric columns, times a delta on all its discrete ones.

    Given Z the statistic is tr(Kr Lr) / (m - 1)^2, where Kr = R H K H R and Lr are what kernel ridge regression on Z
    leaves, R = ridge (H M H + ridge I)^-1 with the kernel matrix M of Z; K is then the kernel of (X, Z), L of (T, Z).

    Tables of more than `n_landmarks` different rows are approximated (Nystroem), so that no m x m matrix is held.

    Notes
    -----
    ``null: gamma`` has the exact mean and variance over all permutations of the rows (Kazi-Aoual et al. 1995): at ten
    rows the moments of Gretton et al. reject 8 % of true nulls at alpha 0.05, these 5 %. Given Z it has those of Zhang
    et al. ``permutation`` permutes rows; given Z it multiplies residuals by normal numbers (a wild bootstrap), because
    permuted residuals lose their relation to Z, and reject 16 % of true nulls at 50 rows and three columns in Z.
    docs/ci-tests.md has the rates of both.

    Zhang et al. join Z to X only. Joined to both sides the test is symmetric, and better at dependence that changes
    its sign with Z: T = 0.6 sign(Z) X + noise is found in 23 % of samples of 50 rows, with Z at X only in 15 %.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=200)
    >>> X = np.column_stack([a**2 + 0.1 * rng.normal(size=200), a, a + rng.normal(size=200)])
    >>> test = HSIC().bind(X)
    >>> bool(test.test(0, 1).p_value < 1e-6), bool(test.test(0, 2, given=[1]).p_value > 0.05)
    (True, True)
    """

    card: ClassVar[Card] = Card(
        id="hsic",
        name="Hilbert-Schmidt independence criterion (HSIC)",
        family="ci-test",
        summary="Compares kernel matrices, given Z those of residuals (KCI): finds dependence of any form.",
        reference="Gretton, Fukumizu, Teo, Song, Schoelkopf, Smola (2007) A kernel statistical test of independence, "
        "NIPS 20; given Z: Zhang, Peters, Janzing, Schoelkopf (2011) Kernel-based conditional independence test, "
        "arXiv:1202.3775.",
        p_values=ASYMPTOTIC,
        guarantee="asymptotic (gamma), or exact by permutation given nothing; given Z right in large samples if the "
        "kernel regression on Z is",
        cost="O(n^2 + n r^2) a column, O(n r^2) a test, with r <= n_landmarks features",
        symmetric=True,
        measures=("p-value",),
        column_sets=True,
    )

    null: str = choice(
        "gamma",
        "gamma (moments), or permutation (of rows; given Z residuals times normal numbers).",
        ("gamma", "permutation"),
    )
    n_permutations: int = integer(999, "Draws of null: permutation.", at_least=1)
    ridge: float = number(0.03, "Ridge of the kernel regression on Z (the paper's epsilon).", above=0)
    n_landmarks: int = integer(1000, "Kernels of up to so many different rows are exact.", at_least=2)

    def prepare(self, table: Table, seed: int, target: int | None) -> _HSICEngine:
        """Return the engine; `seed` fixes landmarks and permutations."""
        return _HSICEngine(self, table, seed)


class _HSICEngine:
    def __init__(self, test: HSIC, table: Table, seed: int) -> None:
        self.test, self.table, self.seed = test, table, seed
        self._features: dict[tuple[int, ...], np.ndarray] = {}

    def features(self, columns: tuple[int, ...]) -> np.ndarray:
        """Return the centred features of the joint kernel of some columns, shape (n, r)."""
        if columns not in self._features:
            if sum(kept.nbytes for kept in self._features.values()) > KEPT_BYTES:
                self._features = {}
            members = self._names(columns)
            rng = derive_rng(self.seed, "landmarks", *members)
            self._features[columns] = kernel_features(self.table.select(members).columns, self.test.n_landmarks, rng)
        return self._features[columns]

    def _names(self, columns: tuple[int, ...]) -> list[str]:
        """Return the names of columns, sorted, so that the table's order of columns does not matter."""
        return sorted(self.table.names[position] for position in columns)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate by itself."""
        return self.evaluate_sets([(candidate,) for candidate in candidates], target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set as one joint variable; the regression on Z and the target's side are shared."""
        residual = residual_of(self.features(given), self.test.ridge) if given else None

        def side(columns: tuple[int, ...]) -> np.ndarray:
            if all(np.ptp(self.table[position].numbers()) == 0 for position in columns):
                return np.zeros((self.table.n_rows, 1))  # a ridge regression leaves something even of a constant and Z
            return residual(self.features(tuple(sorted(columns + given)))) if residual else self.features(columns)

        targets = side((target,))
        answers = []
        for candidate in candidates:
            # Only the second of the two is permuted: one order of them, so that swapping them changes nothing.
            is_first = self._names(candidate) < self._names((target,))
            pair = (side(candidate), targets) if is_first else (targets, side(candidate))
            answers.append(self._answer(*pair, is_given=bool(given)))
        return CIResults.from_rows(answers)

    def _answer(self, a: np.ndarray, b: np.ndarray, is_given: bool) -> CIResult:
        n = len(a)
        if n < FEWEST_ROWS or min(np.sum(a * a), np.sum(b * b)) <= CONSTANT * n:
            return CIResult(0.0, 1.0, 0.0, 1.0, n, n >= FEWEST_ROWS)
        statistic = null.cross(a, b)
        tail = self._drawn_tail if self.test.null == "permutation" else self._gamma_tail
        return CIResult(statistic / (n - 1) ** 2, *tail(a, b, statistic, is_given), 1.0, n, True)

    def _gamma_tail(self, a: np.ndarray, b: np.ndarray, statistic: float, is_given: bool) -> tuple[float, float]:
        n = len(a)
        if not is_given:
            return null.gamma_tail(statistic, *null.permutation_moments(null.traces(a), null.traces(b), n))
        pairs = derive_rng(self.seed, "pairs").permutation(n)[:PAIRED_ROWS]
        return null.gamma_tail(statistic, *null.residual_moments(a, b, pairs))

    def _drawn_tail(self, a: np.ndarray, b: np.ndarray, statistic: float, is_given: bool) -> tuple[float, float]:
        draw = null.multiplied if is_given else null.permuted
        drawn = draw(a, b, self.test.n_permutations, derive_rng(self.seed, "permutations"))  # the same for every pair
        exceeding = np.count_nonzero(drawn >= statistic * (1.0 - SAME))
        p_value = (1.0 + exceeding) / (1.0 + len(drawn))
        return p_value, float(np.log(p_value))
