"""What the filters by mutual information share: a criterion of one line, ranked by one greedy search."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.parameters import choice
from ...moves.greedy_ranking import DEVIATIONS, Known, Pick, rank_greedily
from ...moves.steps import INCLUDED, MEMBER, Step
from ..base import Problem
from ..ranking import RankingMethod

#: How mutual informations are estimated from counts.
ADJUSTED, PLUG_IN = "adjusted", "plug-in"


def information_option() -> Any:
    """Declare the option `information` of methods that compare mutual informations."""
    return choice(
        ADJUSTED,
        "Estimate of mutual informations from counts: adjusted for chance, which is less their mean over permutations "
        "(and, where they count for a feature, 2.33 standard deviations), or plug-in, as in the publication.",
        (ADJUSTED, PLUG_IN),
    )


@dataclass
class InformationRanking(RankingMethod):
    """Ranks by mutual informations, measured by the CI test.

    Estimates from counts favour columns of many levels: they are above 0 by chance, the more so the more levels there
    are and the fewer rows, and vary more. So they are adjusted for chance, each by its own.
    """

    information: str = information_option()

    default_test: ClassVar[str | None] = "g2"
    needs: ClassVar[str] = "mutual-information"
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "triples"

    @property
    def is_adjusted(self) -> bool:
        """Whether mutual informations are adjusted for chance."""
        return self.information == ADJUSTED

    @abstractmethod
    def picks(self, problem: Problem, n_features: int) -> Iterable[Pick]:
        """Give `n_features` features in the order of their ranking."""

    def rank(self, problem: Problem, n_features: int) -> Iterator[Step]:
        """Rank `n_features` features, those that are included first; the statistic is the criterion at that step."""
        for rank, pick in enumerate(self.picks(problem, n_features)):
            feature, p_value = problem.features[pick.index], float(problem.marginal.p_value[pick.index])
            role = INCLUDED if feature in problem.included else MEMBER
            yield Step(feature, pick.score, p_value, float(n_features - rank), role=role)


@dataclass
class InformationFilter(InformationRanking):
    """Ranks greedily by a criterion of mutual informations with the target and with the features ranked before."""

    @abstractmethod
    def criterion(self, known: Known) -> np.ndarray:
        """Return the scores of the features left, of which the highest is ranked next."""

    def picks(self, problem: Problem, n_features: int) -> Iterable[Pick]:
        """Rank the features one after the other."""
        return rank_greedily(self.known_of(problem), n_features, self.criterion, included_first(problem))

    def known_of(self, problem: Problem) -> Known:
        """Return what is known before anything is ranked: the relevance of each feature."""
        positions, relevance = problem.test.table.positions(problem.features), relevance_of(problem, self.is_adjusted)
        return Known(problem.test, problem.target, positions, relevance, self.is_adjusted)


def included_first(problem: Problem) -> list[int]:
    """Return the positions of the included features, which are ranked before all others."""
    return [problem.features.index(feature) for feature in problem.included]


def relevance_of(problem: Problem, adjusted: bool, deviations: float = DEVIATIONS) -> np.ndarray:
    """Return I(X;T) of each feature, from the ci_test stage; if `adjusted`, less what it is by chance."""
    found, test = problem.test.test_config.mutual_information(problem.marginal), problem.test
    if not adjusted:
        return found
    return test.chance(test.table.positions(problem.features), problem.target).taken_from(found, deviations)
