"""Baselines that a ranking should beat: the variance of a feature, and how well it predicts by a single rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...ci.contingency.binning import level_codes
from ...core.cards import CATEGORICAL, Card
from ...core.errors import DataError
from ...core.parameters import integer
from ...moves.steps import Steps
from ..base import Problem
from ..ranking import RankingMethod, heaviest_first
from .linear_similarity import feature_columns, over_features


@dataclass
class Variance(RankingMethod):
    """Rank features by their variance, whatever the target is.

    Columns must have a common unit, such as genes on one scale. A label counts with half the probability that two rows
    differ in it. With two levels, this is the variance of a column of 0 and 1.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.Variance(n_features=1).fit(X, y).selected_features_
    ['petal length (cm)']
    """

    card: ClassVar[Card] = Card(
        id="variance",
        name="variance filter",
        family="reference",
        summary="Ranks features by their variance. It never reads the target: a baseline for other rankings.",
        reference="Bommert, Welchowski, Schmid, Rahnenführer (2022) Benchmark of filter methods for feature selection "
        "in high-dimensional gene expression survival data, Briefings in Bioinformatics 23(1), bbab354, "
        "doi:10.1093/bib/bbab354.",
        guarantee="none",
        work="sums",
        cost="no tests; n d sums",
        formula="(1/n) sum over rows of (x - mean of X)^2",
        importance="its variance",
    )
    draws_rows: ClassVar[bool] = False
    default_test: ClassVar[str | None] = None

    def reads_rows(self) -> str:
        """Return what reads the rows besides the CI test."""
        return "ranks by sums over rows"

    def rank(self, problem: Problem, n_features: int) -> Steps:
        """Rank by the variances."""
        columns, starts = feature_columns(problem, unit=False)
        with np.errstate(over="ignore"):
            variances = over_features(columns**2, starts) / len(columns)
        if not np.isfinite(variances).all():
            raise DataError("variance: the variance of a column is too large. Divide this column by a constant.")
        return heaviest_first(problem.features, variances, n_features, unit=float(np.max(variances)) or 1.0)


@dataclass
class OneRule(RankingMethod):
    """Rank features by how well a single rule predicts the target: for each level of a feature, the usual value.

    For classes, a rule predicts the most frequent class of each level, and the criterion is the share of rows that it
    predicts correctly. For numbers, which the publication does not cover, it predicts the mean, and the criterion is
    the explained share of the variance. Numeric features are cut into `bins` of equally many rows. The publication
    instead makes bins with enough rows of one class. A feature of nearly as many levels as rows, such as a name,
    predicts its own rows perfectly.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> sorted(bf.OneRule(n_features=2).fit(X, y).selected_features_)
    ['petal length (cm)', 'petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="one-rule",
        name="one-rule filter",
        family="reference",
        summary="Ranks features by how well the usual target of each level predicts: a baseline for other rankings.",
        reference="Holte (1993) Very simple classification rules perform well on most commonly used datasets, Machine "
        "Learning 11, 63-91, doi:10.1023/A:1022631118932.",
        guarantee="none",
        work="sums",
        cost="no tests; n d counts",
        formula="share of rows in the most frequent class of their level of X; of numbers, R² of the levels' means",
        importance="the accuracy of its rule, or R²",
    )
    draws_rows: ClassVar[bool] = False
    default_test: ClassVar[str | None] = None

    bins: int = integer(5, "Bins of a numeric feature, of equally many rows.", at_least=2)

    def reads_rows(self) -> str:
        """Return what reads the rows besides the CI test."""
        return "ranks by counts of rows"

    def rank(self, problem: Problem, n_features: int) -> Steps:
        """Rank by the accuracy of the rules."""
        target, n_rows = problem.table[problem.target], problem.table.n_rows
        y = target.numbers()
        if target.kind == CATEGORICAL:
            classes = np.unique(y, return_inverse=True)[1]
        else:
            y = y / (np.abs(y).max() or 1.0)
            y = y - y.mean()
        weights = np.zeros(len(problem.features))
        for i, name in enumerate(problem.features):
            codes, n_levels = level_codes(problem.table[name], self.bins, "quantile")
            if target.kind == CATEGORICAL:
                counts = np.zeros((n_levels, classes.max() + 1), dtype=np.int64)
                np.add.at(counts, (codes, classes), 1)
                weights[i] = counts.max(axis=1).sum() / n_rows
            elif y.any():
                weights[i] = (np.bincount(codes, y) ** 2 / np.bincount(codes)).sum() / (y @ y)
            problem.check_time()
        return heaviest_first(problem.features, weights, n_features)
