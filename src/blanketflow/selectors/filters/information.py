"""What the filters by mutual information share: a criterion of one line, ranked by one greedy search."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...search.greedy_ranking import Known, Pick, rank_greedily
from ...search.steps import INCLUDED, MEMBER, Step
from ..base import Problem
from ..ranking import RankingMethod


@dataclass
class InformationRanking(RankingMethod):
    """Ranks by mutual informations, measured by the CI test."""

    default_test: ClassVar[str | None] = "g2"
    needs: ClassVar[str] = "mutual-information"
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "triples"

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
        return rank_greedily(known_of(problem), n_features, self.criterion, included_first(problem))


def known_of(problem: Problem) -> Known:
    """Return what is known before anything is ranked: the relevance of each feature."""
    positions = problem.test.table.positions(problem.features)
    return Known(problem.test, problem.target, positions, relevance_of(problem))


def included_first(problem: Problem) -> list[int]:
    """Return the positions of the included features, which are ranked before all others."""
    return [problem.features.index(feature) for feature in problem.included]


def relevance_of(problem: Problem) -> np.ndarray:
    """Return I(X;T) of each feature, from the ci_test stage."""
    return problem.test.test_config.mutual_information(problem.marginal)
