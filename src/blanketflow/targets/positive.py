"""Positive numbers, such as costs and durations. Null model: gamma regression with a log link."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.cards import NUMERIC, POSITIVE, Card
from ..core.column import Column, TargetColumn
from .base import NullModel, TargetKind
from .checks import finite_numbers, refuse_where
from .means import MeanRegression, mean_of_squares, scores_of_means

#: Numbers that look skewed span at least this factor, and their skewness is above this one.
SPAN, SKEWED = 10.0, 1.0
#: Mean loss of a perfect fit, to keep statistics finite.
SMALLEST_LOSS = 1e-15


class GammaModel:
    """Gamma regression with a log link on given predictors, its shape by maximum likelihood. See `NullModel`.

    Ratios are divided by the Pearson dispersion of the larger model if that is larger than its shape says: of numbers
    with heavier tails, such as those with a normal logarithm, plain ratios reject three times too often.
    """

    n_own = 2

    def __init__(self, target: TargetColumn, predictors: np.ndarray) -> None:
        from ..kernels.generalised_linear import GAMMA

        numbers = target.numbers()
        self.size = float(len(numbers))
        logs = np.log(numbers)
        largest = float(logs.max())
        intercept = largest + math.log(float(np.exp(logs - largest).mean()))
        self._regression = MeanRegression(GAMMA, logs, predictors, intercept)
        self.shape, self._log_likelihood = fitted_shape(self._regression.loss / len(numbers))

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the log likelihood gained by predictors `added`, (q, n), divided by a dispersion above 1."""
        gained, dispersion = self.gain(added)
        return gained / max(dispersion, 1.0)

    def gain(self, added: np.ndarray) -> tuple[float, float]:
        """Return twice the log likelihood gained, each model with its shape, and the larger one's dispersion x shape.

        The second number is the mean squared residual of the larger model over its variance: 1 for gamma
        variables, larger for those with heavier tails, whose plain ratios reject too often.
        """
        more = self._regression.with_more(added)
        shape, reached = fitted_shape(more.loss / self.size)
        return max(2.0 * self.size * (reached - self._log_likelihood), 0.0), shape * _pearson(more)

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of the predictors, (k,), and their covariance, (k, k)."""
        own = self._regression
        return own.slopes(np.ones(len(own.y)), max(1.0 / self.shape, _pearson(own)))

    def scores(self, added: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of rows by all coefficients, of predictors `added` last, and their information."""
        columns = np.vstack([self._regression.design, added])
        return scores_of_means(columns, self.residuals(), np.full(columns.shape[1], self.shape))

    def residuals(self) -> np.ndarray:
        """Return shape x (y / m - 1), (n,)."""
        return self.shape * self._regression.scores


def _pearson(regression: MeanRegression) -> float:
    return mean_of_squares(regression.scores, np.ones(1), len(regression.design))


def fitted_shape(loss: float) -> tuple[float, float]:
    """Return the shape of gamma variables by maximum likelihood, and their mean log likelihood but for a constant.

    `loss` is the mean of y / m - 1 - log(y / m). The shape solves log(shape) - digamma(shape) = loss; the start is at
    most 1.5 % off (Minka 2002), and Newton's method for 1 / shape converges from there.

    >>> shape, _ = fitted_shape(0.5772156649015329)  # exponential variables
    >>> round(shape, 12)
    1.0
    """
    from scipy.special import digamma, gammaln, polygamma

    loss = max(loss, SMALLEST_LOSS)
    shape = (3.0 - loss + math.sqrt((loss - 3.0) ** 2 + 24.0 * loss)) / (12.0 * loss)
    for _ in range(20 if shape < 1e6 else 0):  # the start is exact to rounding beyond
        wrong = math.log(shape) - float(digamma(shape)) - loss
        inverse = 1.0 / shape + wrong / (shape**2 * (1.0 / shape - float(polygamma(1, shape))))
        change, shape = abs(inverse * shape - 1.0), 1.0 / inverse
        if change < 1e-12:
            break
    if shape < 50.0:
        own = shape * math.log(shape) - shape - float(gammaln(shape))
    else:  # Stirling's series, in which nothing cancels
        series = 1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / shape**2) / shape**2
        own = 0.5 * math.log(shape / (2.0 * math.pi)) - series / shape
    return shape, own - shape * loss


@dataclass
class Positive(TargetKind):
    """Numbers above 0 whose spread grows with their mean."""

    card: ClassVar[Card] = Card(
        id="positive",
        name="positive number",
        family="target",
        summary="Numbers above 0 whose spread grows with their mean, such as costs; likelihood ratios of gamma "
        "regressions with a log link.",
        reference="McCullagh, Nelder (1989), Generalized Linear Models, chapter 8, doi:10.1007/978-1-4899-3242-6",
        tasks=(POSITIVE,),
        effect="ratio of means",
        design_based=True,
    )
    models: ClassVar[tuple[str, ...]] = ("gamma", "lightgbm")
    regression: ClassVar[Callable[[TargetColumn, np.ndarray], NullModel]] = GammaModel

    def column(self, where: str, column: Column, parts: Mapping[str, Column]) -> TargetColumn:
        """Return the numbers, checked."""
        numbers = finite_numbers(where, column, "positive numbers")
        refuse_where(
            where,
            column,
            numbers <= 0,
            "numbers that are not positive",
            "Choose target_kind: regression, or count for whole numbers from 0.",
        )
        return TargetColumn(column.name, column.kind, column.cells(), (), POSITIVE)

    def covariates(self, target: TargetColumn) -> list[Column]:
        """Return the logarithm."""
        return [Column(target.name, NUMERIC, np.log(target.numbers()))]

    def why_likely(self, column: Column) -> str:
        """Return a reason for positive numbers that are skewed, and less so on a log scale."""
        if column.is_discrete:
            return ""
        cells = column.numbers()
        if not (np.isfinite(cells).all() and (cells > 0).all()) or cells.max() < SPAN * cells.min():
            return ""
        skewness = skewness_of(cells)
        if skewness <= SKEWED or abs(skewness_of(np.log(cells))) >= skewness:
            return ""
        return f"{column.name!r} holds positive numbers whose spread grows with their size"


def skewness_of(values: np.ndarray) -> float:
    """Return the third moment of standardised values.

    >>> round(skewness_of(np.array([0.0, 0.0, 3.0])), 3)
    0.707
    """
    centred = values - values.mean()
    return float((centred**3).mean() / (centred**2).mean() ** 1.5)
