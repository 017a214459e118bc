"""Shares between 0 and 1. Null model: fractional logistic regression by quasi-likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.cards import NUMERIC, SHARE, Card
from ..core.column import Column, TargetColumn
from ..core.errors import DataError
from .base import NullModel, TargetKind
from .checks import finite_numbers, refuse_where, rows
from .means import MeanRegression, mean_of_squares, scores_of_means

#: Fewest different values of what looks like shares.
FEWEST_VALUES = 10
#: Share of rows with exactly 0, or 1, that is said.
MASS = 0.1


class ShareModel:
    """Fractional logistic regression on given predictors. See `NullModel`.

    The likelihood is that of a Bernoulli variable, which shares vary less than. Ratios are divided by the Pearson
    dispersion of the larger model, and so compare with chi-square, where the variance is proportional to m (1 - m).
    """

    n_own = 1

    def __init__(self, target: TargetColumn, predictors: np.ndarray) -> None:
        from ..kernels.generalised_linear import FRACTIONAL

        shares = target.numbers()
        self.size = float(len(shares))
        mean = float((shares.sum() + 0.5) / (len(shares) + 1.0))  # rows of a fold may all have a share of 0
        self._regression = MeanRegression(FRACTIONAL, shares, predictors, math.log(mean / (1.0 - mean)))

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the quasi-likelihood gained by predictors `added`, (q, n), divided by the dispersion."""
        more = self._regression.with_more(added)
        gained = max(2.0 * (self._regression.loss - more.loss), 0.0)
        return gained / mean_of_squares(more.scores, variances(more), len(more.design)) if gained else 0.0

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of the predictors, (k,), and their covariance, (k, k)."""
        own, of_rows = self._regression, variances(self._regression)
        return own.slopes(of_rows, mean_of_squares(own.scores, of_rows, len(own.design)))

    def scores(self, added: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of rows by all coefficients, of predictors `added` last, and their information."""
        columns = np.vstack([self._regression.design, added])
        return scores_of_means(columns, self.residuals(), variances(self._regression))

    def residuals(self) -> np.ndarray:
        """Return y - m, (n,)."""
        return self._regression.scores


def variances(regression: MeanRegression) -> np.ndarray:
    """Return m (1 - m) of each row's mean m, (n,)."""
    return (0.5 / np.cosh(np.minimum(np.abs(regression.linear_predictor()) / 2.0, 150.0))) ** 2


@dataclass
class Share(TargetKind):
    """Numbers from 0 to 1, such as shares of an area or a budget."""

    card: ClassVar[Card] = Card(
        id="share",
        name="share",
        family="target",
        summary="Numbers from 0 to 1; quasi-likelihood ratios of fractional logistic regressions.",
        reference="Papke, Wooldridge (1996), Journal of Applied Econometrics 11, 619-632, "
        "doi:10.1002/(SICI)1099-1255(199611)11:6<619::AID-JAE418>3.0.CO;2-1",
        tasks=(SHARE,),
        effect="odds ratio",
        design_based=True,
    )
    models: ClassVar[tuple[str, ...]] = ("fractional-logit", "lightgbm")
    regression: ClassVar[Callable[[TargetColumn, np.ndarray], NullModel]] = ShareModel

    def column(self, where: str, column: Column, parts: Mapping[str, Column]) -> TargetColumn:
        """Return the shares, checked."""
        shares = finite_numbers(where, column, "shares")
        refuse_where(
            where,
            column,
            (shares < 0) | (shares > 1),
            "numbers outside 0 to 1",
            "Divide percentages by 100, or choose target_kind: regression.",
        )
        if not ((shares > 0) & (shares < 1)).any():
            raise DataError(
                f"{where}: column {column.name!r} holds no number between 0 and 1. Choose target_kind: classification."
            )
        return TargetColumn(column.name, column.kind, column.cells(), (), SHARE)

    def covariates(self, target: TargetColumn) -> list[Column]:
        """Return the share as a number."""
        return [Column(target.name, NUMERIC, target.numbers())]

    def doubts(self, target: TargetColumn, predictors: np.ndarray, tested: Mapping[str, np.ndarray]) -> list[str]:
        """Return a note if many shares are exactly 0 or 1."""
        shares = target.numbers()
        found = [(end, int((shares == end).sum())) for end in (0, 1)]
        masses = [f"{end} in {rows(n)}" for end, n in found if n >= MASS * len(shares)]
        if not masses:
            return []
        return [
            f"{target.name!r} is exactly {' and '.join(masses)} of {len(shares):,}: what acts on this may differ from "
            "what acts on the other shares. Search also for the classes of exact and other shares, and among the other "
            "rows"
        ]

    def why_likely(self, column: Column) -> str:
        """Return a reason for decimals from 0 to 1 of many values."""
        if column.is_discrete:
            return ""
        cells = column.numbers()
        if not ((cells >= 0) & (cells <= 1)).all() or len(np.unique(cells)) < FEWEST_VALUES:
            return ""
        return f"all numbers of {column.name!r} are between 0 and 1"
