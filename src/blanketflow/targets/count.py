"""Counts, with or without an exposure. Null model: Poisson or negative binomial regression."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.cards import COUNT, NUMERIC, Card
from ..core.column import Column, TargetColumn
from ..core.column_checks import identifier_kind
from ..core.errors import DataError
from .base import NullModel, TargetKind
from .checks import LEVEL, finite_numbers, refuse_where, rows
from .means import MeanRegression, inverse, mean_of_squares, scores_of_means

#: Above this quantile of the standard normal distribution, the test of dispersion rejects Poisson counts: 0.05.
OVERDISPERSED = 1.6448536269514722
#: Least share of the variance of the number of zeros that estimation leaves.
LEAST_VARIANCE = 0.1
#: Fewest different values of what looks like counts.
FEWEST_VALUES = 5


class CountModel:
    """Poisson regression on given predictors, or negative binomial regression if the counts vary more. See `NullModel`.

    Ratios are divided by the Pearson dispersion of the larger model if that is above 1: the marginal distribution of
    counts is rarely of either family, even where the conditional one is.

    Attributes
    ----------
    is_overdispersed : bool
        Whether the test of Cameron and Trivedi rejects Poisson counts at 0.05, given the predictors.
    """

    def __init__(self, target: TargetColumn, predictors: np.ndarray) -> None:
        from ..kernels.generalised_linear import POISSON

        counts, exposure = target.numbers(), target.parts.get("exposure", np.ones(target.n_rows))
        self.size = size_of_counts(counts)
        rate = float(max(counts.sum(), 0.5) / exposure.sum())  # rows of a fold may have no count
        self._poisson = MeanRegression(POISSON, counts, predictors, math.log(rate), np.log(exposure))
        means = np.exp(self._poisson.linear_predictor())
        self.is_overdispersed = dispersion_z(counts, means) > OVERDISPERSED
        self._loss, self._coefficients, self._scores = self._poisson.loss, self._poisson.coefficients, None
        self.n_own = 1
        if self.is_overdispersed:
            self.n_own = 2
            excess = max(float(((counts - means) ** 2 - counts).sum() / (means**2).sum()), 1e-3)
            start = np.append(self._coefficients, math.log(excess))
            self._loss, self._coefficients, self._scores = self._negative_binomial(self._poisson.design, start)

    def _negative_binomial(self, design: np.ndarray, start: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        from ..kernels.generalised_linear import ONE_BY_ONE, fit_negative_binomial

        y, scores = self._poisson.y, np.empty(design.shape[1])
        small = np.bincount(np.minimum(y, ONE_BY_ONE).astype(np.int64))
        above = np.ascontiguousarray(len(y) - np.cumsum(small)[:-1], dtype=np.float64)
        design = np.ascontiguousarray(design)
        return fit_negative_binomial(design, y, self._poisson.offset, above, start, scores), start, scores

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the log likelihood gained by predictors `added`, (q, n), divided by a dispersion above 1."""
        gained, dispersion = self.gain(added)
        return gained / max(dispersion, 1.0)

    def gain(self, added: np.ndarray) -> tuple[float, float]:
        """Return twice the log likelihood gained, with a dispersion for each model, and the Pearson dispersion.

        The second number is the mean squared residual of the larger model over its variance: 1 for Poisson or
        negative binomial counts, larger for others, whose plain ratios reject too often.
        """
        counts = self._poisson.y
        if self.is_overdispersed:
            *slopes, log_dispersion = self._coefficients
            start = np.array([*slopes, *np.zeros(len(added)), log_dispersion])
            design = np.vstack([self._poisson.design, added])
            loss, coefficients, _ = self._negative_binomial(design, start)
        else:
            more = self._poisson.with_more(added)
            loss, design, coefficients = more.loss, more.design, more.coefficients
        means, variances = self._moments(design, coefficients)
        return max(2.0 * (self._loss - loss), 0.0), mean_of_squares(counts - means, variances, len(design))

    def _moments(self, design: np.ndarray, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and the variance of each row, (n,) both."""
        slopes, log_dispersion = coefficients[: len(design)], coefficients[len(design) :]
        means = np.exp(slopes @ design + self._poisson.offset)
        return means, means + np.exp(log_dispersion).sum() * means**2

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of the predictors, (k,), and their covariance, (k, k)."""
        design, counts = self._poisson.design, self._poisson.y
        means, variances = self._moments(design, self._coefficients)
        dispersion = max(mean_of_squares(counts - means, variances, len(design)), 1.0)
        information = (means**2 / variances * design) @ design.T
        return self._coefficients[1 : len(design)], dispersion * inverse(information)[1:, 1:]

    def scores(self, added: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of rows by all coefficients, of predictors `added` last, and their information."""
        means, variances = self._moments(self._poisson.design, self._coefficients)
        columns = np.vstack([self._poisson.design, added])
        return scores_of_means(columns, self.residuals(), means**2 / variances)

    def excess_of_zeros(self) -> tuple[int, float, float]:
        """Return the number of zeros, how many are expected, and the p-value of so many.

        The variance of the difference is that of a score: what the scores of coefficients and dispersion explain is
        taken out. References: van den Broek (1995), doi:10.2307/2532959.
        """
        design, y = self._poisson.design, self._poisson.y
        if self.is_overdispersed:
            *slopes, log_dispersion = self._coefficients
            a = math.exp(log_dispersion)
            means = np.exp(np.array(slopes) @ design + self._poisson.offset)
            inner = np.log1p(a * means) / a
            expected, weights = np.exp(-inner), means / (1.0 + a * means)
            # The scores of log a: their covariance with zeros is their value at 0, times the probability of 0.
            of_zeros = expected * (inner - weights)
            by_log_a = self._scores_of_log_dispersion(means, a)
            of_dispersion = float(of_zeros.sum()) ** 2 / float((by_log_a**2).sum())
        else:
            weights = np.exp(self._poisson.linear_predictor())
            expected, of_dispersion = np.exp(-weights), 0.0
        covariance = design @ (expected * weights)
        information = (design * weights) @ design.T
        of_slopes = float(covariance @ np.linalg.lstsq(information, covariance, rcond=None)[0])
        zeros = int(np.count_nonzero(y == 0))
        return zeros, float(expected.sum()), p_of_zeros(zeros, expected, of_slopes + of_dispersion)

    def _scores_of_log_dispersion(self, means: np.ndarray, a: float) -> np.ndarray:
        """Return the derivative of each row's log likelihood by the logarithm of the dispersion, (n,)."""
        from scipy.special import digamma

        y, inverse = self._poisson.y, 1.0 / a
        return inverse * (digamma(inverse) - digamma(y + inverse) + np.log1p(a * means)) + (y - means) / (1 + a * means)

    def residuals(self) -> np.ndarray:
        """Return y - m, (n,), of negative binomial counts divided by 1 + dispersion x m."""
        return self._poisson.scores if self._scores is None else self._scores


def size_of_counts(counts: np.ndarray) -> float:
    """Return the number of rows, or of events counted if these are fewer."""
    return float(min(len(counts), counts.sum()))


def p_of_zeros(zeros: int, expected: np.ndarray, estimated: float) -> float:
    """Return the p-value of at least so many zeros, if rows are zero with the probabilities `expected`, (n,).

    `estimated` is by how much estimation lowers the variance of their number. That number plus a constant is taken as
    Poisson, so that mean and variance are right, and the skewness where zeros are rare (Barbour and Xia 1999,
    doi:10.1051/ps:1999106). A variance that estimation nearly cancels is not known well enough, and gets a bound.

    >>> p_of_zeros(9, np.full(90, 0.1), 0.0) > 0.5, p_of_zeros(30, np.full(90, 0.1), 0.0) < 1e-5
    (True, True)
    """
    from scipy.special import gammainc

    mean, variance = float(expected.sum()), float((expected * (1.0 - expected)).sum())
    variance = max(variance - estimated, LEAST_VARIANCE * variance)
    if variance <= 0 or zeros <= mean:
        return 1.0
    return float(gammainc(zeros - mean + variance, variance))


def dispersion_z(counts: np.ndarray, means: np.ndarray) -> float:
    """Return the statistic of the test of Poisson counts, normal under them and large for a variance of m + a m^2.

    The regression of ((y - m)^2 - y) / m on m without intercept (Cameron and Trivedi 1990,
    doi:10.1016/0304-4076(90)90014-K). Rows whose mean has vanished tell nothing.

    >>> round(dispersion_z(np.array([0.0, 0.0, 0.0, 12.0]), np.full(4, 3.0)), 3)
    1.6
    """
    told = means > 1e-10
    if not told.any():
        return 0.0
    counts, means = counts[told], means[told]
    excess, squares = ((counts - means) ** 2 - counts) / means, float((means**2).sum())
    slope = float((excess * means).sum()) / squares
    variance = float(((excess - slope * means) ** 2).sum()) / max(len(means) - 1, 1)
    return slope / math.sqrt(variance / squares) if variance > 0 else 0.0


@dataclass
class Count(TargetKind):
    """Whole numbers of at least 0, per exposure if there is one."""

    card: ClassVar[Card] = Card(
        id="count",
        name="count",
        family="target",
        summary="Whole numbers of at least 0, with or without an exposure; likelihood ratios of Poisson regressions, "
        "or negative binomial ones if a test of dispersion asks for them.",
        reference="Cameron, Trivedi (1990) Regression-based tests for overdispersion in the Poisson model, Journal of "
        "Econometrics 46(3), 347-364, doi:10.1016/0304-4076(90)90014-K",
        tasks=(COUNT,),
        effect="rate ratio",
        design_based=True,
    )
    own: ClassVar[str] = "count"
    models: ClassVar[tuple[str, ...]] = ("poisson", "lightgbm")
    regression: ClassVar[Callable[[TargetColumn, np.ndarray], NullModel]] = CountModel
    optional: ClassVar[tuple[str, ...]] = ("exposure",)
    counted: ClassVar[str] = "counted events"

    def column(self, where: str, column: Column, parts: Mapping[str, Column]) -> TargetColumn:
        """Return the counts with their exposure, checked."""
        counts = finite_numbers(where, column, "counts")
        refuse_where(
            where, column, counts < 0, "negative numbers", "Counts start at 0: choose target_kind: regression."
        )
        refuse_where(
            where,
            column,
            counts != np.round(counts),
            "decimals",
            "Counts are whole: choose target_kind: positive or regression, or give a rate's counts and its exposure.",
        )
        if not counts.any():
            raise DataError(f"{where}: column {column.name!r} holds zeros only. Choose another target.")
        checked = {}
        if "exposure" in parts:
            exposure = parts["exposure"]
            checked["exposure"] = finite_numbers(where, exposure, "exposures")
            refuse_where(
                where,
                exposure,
                checked["exposure"] <= 0,
                "exposures that are not positive",
                "Nothing can be counted without time, area or persons: correct or drop these rows.",
            )
        return TargetColumn(column.name, column.kind, column.cells(), (), COUNT, checked)

    def size(self, target: TargetColumn) -> float:
        """Return the number of rows, or of events counted if these are fewer."""
        return size_of_counts(target.numbers())

    def covariates(self, target: TargetColumn) -> list[Column]:
        """Return log(1 + rate), where the rate is the count per exposure."""
        rate = target.numbers() / target.parts.get("exposure", 1.0)
        return [Column(target.name, NUMERIC, np.log1p(rate))]

    def doubts(self, target: TargetColumn, predictors: np.ndarray, tested: Mapping[str, np.ndarray]) -> list[str]:
        """Return a note if there are more zeros than the regression explains."""
        model = CountModel(target, predictors)
        zeros, expected, p_value = model.excess_of_zeros()
        if p_value > LEVEL:
            return []
        family = "negative binomial" if model.is_overdispersed else "Poisson"
        return [
            f"{target.name!r} is 0 in {rows(zeros)}, but {expected:,.0f} are expected of {family} counts: what acts on "
            "whether there are any may differ from what acts on how many. Search also for the classes 0 and above 0, "
            "and among the rows above 0"
        ]

    def why_likely(self, column: Column) -> str:
        """Return a reason for whole numbers that start at 0 and mostly are small."""
        if column.is_discrete or identifier_kind(column):
            return ""
        cells = column.numbers()
        if not (np.isfinite(cells).all() and (cells >= 0).all() and (cells == np.round(cells)).all()):
            return ""
        values, times = np.unique(cells, return_counts=True)
        if (
            len(values) < FEWEST_VALUES
            or values[0] > 0
            or values[np.argmax(times)] > 1
            or cells.mean() > values[-1] / 3
        ):
            return ""
        return f"{column.name!r} holds whole numbers from 0, mostly small ones"
