"""What the filters by mutual information share: a criterion of one line, ranked by one greedy search."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...search.greedy_ranking import Known, Pick, rank_greedily
from ...search.steps import Step
from ..base import Problem
from ..ranking import RankingMethod


@dataclass
class InformationRanking(RankingMethod):
    """Ranks by mutual informations, measured by the CI test."""

    default_test: ClassVar[str | None] = "g2"
    needs: ClassVar[str] = "mutual-information"

    @abstractmethod
    def picks(self, problem: Problem, n_features: int) -> Iterable[Pick]:
        """Give `n_features` features in the order of their ranking."""

    def rank(self, problem: Problem, n_features: int) -> Iterator[Step]:
        """Rank `n_features` features; the statistic is the criterion at that step."""
        for rank, pick in enumerate(self.picks(problem, n_features)):
            p_value = float(problem.marginal.p_value[pick.index])
            yield Step(problem.features[pick.index], pick.score, p_value, float(n_features - rank))


@dataclass
class InformationFilter(InformationRanking):
    """Ranks greedily by a criterion of mutual informations with the target and with the features ranked before."""

    @abstractmethod
    def criterion(self, known: Known) -> np.ndarray:
        """Return the scores of the features left, of which the highest is ranked next."""

    def picks(self, problem: Problem, n_features: int) -> Iterable[Pick]:
        """Rank the features one after the other."""
        return rank_greedily(known_of(problem), n_features, self.criterion)


def known_of(problem: Problem) -> Known:
    """Return what is known before anything is ranked: the relevance of each feature."""
    positions = problem.test.table.positions(problem.features)
    return Known(problem.test, problem.target, positions, relevance_of(problem))


def relevance_of(problem: Problem) -> np.ndarray:
    """Return I(X;T) of each feature, from the ci_test stage."""
    return problem.test.test_config.mutual_information(problem.marginal)
