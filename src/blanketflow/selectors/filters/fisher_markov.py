"""The Fisher-Markov selector with a linear kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.errors import DataError
from ...core.parameters import choice, number
from ...moves.steps import Step
from ..base import Problem
from ..ranking import RankingMethod, heaviest_first
from .linear_similarity import feature_columns, over_features, target_columns

#: Scales of the columns.
STANDARD, RAW = "standard", "raw"


@dataclass
class FisherMarkov(RankingMethod):
    """Rank features by the variance between classes minus gamma times the variance.

    With a linear kernel the Markov random field has no arcs, and its exact optimum keeps each feature whose coefficient
    theta exceeds the threshold: theta_j = (1/n) sum over classes c of n_c (m_cj - m_j)^2 - gamma (1/n) sum over rows i
    of (x_ij - m_j)^2. On standardised columns the variance is 1, the first term is the share of it between classes, and
    gamma moves all coefficients alike, so that it only shifts the threshold; constant columns have the share 0.

    A feature of more than two levels has one column per level, and theta is summed over them. For regression, which the
    publication does not treat, the least-squares line stands for the class means: with two classes that is the same.
    Features at the threshold are cut too.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.FisherMarkov(n_features=1).fit(X, y).selected_features_
    ['petal length (cm)']
    """

    card: ClassVar[Card] = Card(
        id="fisher-markov",
        name="Fisher-Markov selector",
        family="filter",
        summary="Ranks features by their variance between classes minus gamma times their variance.",
        reference="Cheng, Zhou, Cheng (2011) The Fisher-Markov selector: fast selecting maximally separable feature "
        "subset for multiclass classification with applications to high-dimensional data, IEEE TPAMI 33(6), "
        "1217-1233, doi:10.1109/TPAMI.2010.195.",
        guarantee="none",
        work="sums",
        cost="no tests; n d sums per class, whatever psi is",
        formula="(1/n) sum over classes c of n_c (mean of X in c - mean of X)^2 - gamma var(X)",
        importance="its coefficient: the spread of the class means less gamma times its variance",
    )
    draws_rows: ClassVar[bool] = False
    default_test: ClassVar[str | None] = None
    takes_feature_groups: ClassVar[bool] = True

    gamma: float = number(0.0, "Weight of the variance; a negative weight favours features of large variance.")
    scale: str = choice(
        STANDARD, "Whether columns are standardised first (standard) or taken as they are (raw).", (STANDARD, RAW)
    )
    threshold: float | None = number(
        None, "Coefficient that a feature must exceed; null for no threshold.", nullable=True
    )

    def reads_rows(self) -> str:
        """Return in words what reads the rows beside the CI test."""
        return "ranks by sums over rows"

    def rank(self, problem: Problem, n_features: int) -> list[Step]:
        """Rank by the coefficients, which are statistic and importance."""
        is_standard = self.scale == STANDARD
        columns, starts = feature_columns(problem, unit=is_standard)
        between = over_features((target_columns(problem.table[problem.target]).T @ columns) ** 2, starts)
        variance: np.ndarray | float = 1.0
        if not is_standard:
            between, variance = between / len(columns), over_features(columns**2, starts) / len(columns)
        coefficients = between - self.gamma * variance
        if not np.isfinite(coefficients).all():
            raise DataError("fisher-markov: the variance of a column is too large for scale: raw. Use scale: standard.")
        unit = float(np.max(variance)) or 1.0
        return heaviest_first(problem.features, coefficients, n_features, self.threshold, unit)
