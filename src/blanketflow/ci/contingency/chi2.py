"""Pearson's chi-square test of conditional independence on contingency tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import ASYMPTOTIC, IMPUTATIONS, PAIRWISE, Card
from .contingency import ContingencyTest


@dataclass
class Chi2(ContingencyTest):
    """Pearson's X2, summed over the strata of the conditioning set; options, sets of columns and designs as in `G2`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> Chi2(min_samples_per_cell=0).bind(X).test(0, 1).statistic  # n for a perfect relation of two levels
    4.0
    """

    card: ClassVar[Card] = Card(
        id="chi2",
        name="Pearson's chi-square test",
        family="ci-test",
        summary="Compares observed with expected counts of contingency tables; gentler than G2 if cells have few rows.",
        reference="Pearson (1900) On the criterion that a given system of deviations from the probable in the case of "
        "a correlated system of variables is such that it can be reasonably supposed to have arisen from random "
        "sampling, 10.1080/14786440009463897.",
        guarantee="p-values right in large samples",
        cost="O(n) per test",
        symmetric=True,
        measures=("p-value",),
        p_values=ASYMPTOTIC,
        effect="X2 / 2n: about the conditional mutual information in nats per row, where it is small",
        design_based=True,
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
    )
    is_pearson: ClassVar[bool] = True
