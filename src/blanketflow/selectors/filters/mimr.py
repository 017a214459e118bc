"""Min-interaction max-relevance (mIMR)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.parameters import choice, number
from ...moves.greedy_ranking import DECIMALS, Known, Pick, rank_greedily
from ..base import Problem
from .information import InformationFilter


@dataclass
class MIMR(InformationFilter):
    """Rank features by (1 - balance) I(X;T) + balance times the mean of I(X;F|T) - I(X;F).

    F are the features ranked before. I(X;F) - I(X;F|T) is the interaction of X, F and the target; it is negative for
    two causes of the target. With ``balance = 0.5`` (the paper's lambda) and ``start: single`` the ranking is JMI's.
    ``start: pair`` begins with the pair of the best (1 - balance) (I(X;T) + I(F;T)) + balance (I(X;F|T) - I(X;F)), the
    more relevant one first. Ties go by name. Mutual information comes from the CI test: counted on level codes
    with ``g2`` (numbers are binned on the rows at hand, a numeric target too), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.MIMR(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="mimr",
        name="min-interaction max-relevance (mIMR)",
        family="filter",
        summary="Greedy ranking by relevance and by interaction, which tells causes of the target from effects.",
        reference="Bontempi, Meyer (2010) Causal filter selection in microarray data, ICML 27, 95-102.",
        formula="(1 - balance) I(X;T) + balance mean_F [I(X;F|T) - I(X;F)]",
        cost="d + 2 (psi - 1) d mutual informations; d (d - 1) more with start: pair",
    )

    balance: float = number(0.5, "Weight of the interaction (lambda).", at_least=0, at_most=1)
    start: str = choice("single", "Begin with the most relevant feature, or with the best pair.", ("single", "pair"))

    def criterion(self, known: Known) -> np.ndarray:
        """Return relevance and mean interaction, weighted."""
        interaction = known.mean(known.class_redundancy - known.redundancy)
        return (1 - self.balance) * known.relevance + self.balance * interaction

    def picks(self, problem: Problem, n_features: int) -> Iterable[Pick]:
        """Rank the features one after the other, after the best pair if asked for."""
        known = self.known_of(problem)
        first = self._best_pair(known) if self.start == "pair" and len(known.left) > 1 else ()
        return rank_greedily(known, n_features, self.criterion, first)

    def _best_pair(self, known: Known) -> tuple[int, int]:
        """Return the pair of the best score, the first in table order on ties; the more relevant of the two first."""
        best, pair = -np.inf, (0, 1)
        for i in range(len(known.left) - 1):
            others = known.left[i + 1 :]
            interaction = known.gain(others, known.left[i], [known.target])
            interaction -= known.loss(others, known.left[i])
            relevance = known.relevance[i] + known.relevance[i + 1 :]
            scores = np.round((1 - self.balance) * relevance + self.balance * interaction, DECIMALS)
            if scores.max() > best:
                best, pair = float(scores.max()), (i, i + 1 + int(np.argmax(scores)))
        return pair if known.relevance[pair[0]] >= known.relevance[pair[1]] else pair[::-1]
