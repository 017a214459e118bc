"""The rankings that stability selection can repeat on halves of the rows, each with its default options."""

from __future__ import annotations

import numpy as np

from ...ci.g2 import G2
from ..base import Problem
from ..filters.cife import CIFE
from ..filters.cmim import CMIM
from ..filters.disr import DISR
from ..filters.fisher_markov import FisherMarkov
from ..filters.information import InformationRanking
from ..filters.jmi import JMI
from ..filters.mifs import MIFS
from ..filters.mim import MIM
from ..filters.mrmr import MRMR
from ..filters.relief import Relief
from ..filters.spfs_lar import SPFSLAR
from ..ranking import RankingMethod
from .lasso_entries import first_to_enter

#: The ranking by the order in which features enter the lasso's path; it is no method by itself.
LASSO = "lasso"
RANKINGS: dict[str, type[RankingMethod]] = {
    ranking.card.id: ranking for ranking in (CIFE, CMIM, DISR, FisherMarkov, JMI, MIFS, MIM, MRMR, Relief, SPFSLAR)
}


def needs_test(ranking: str) -> bool:
    """Return whether a ranking asks a CI test, which is g2, with numbers in five bins."""
    return ranking != LASSO and issubclass(RANKINGS[ranking], InformationRanking)


def first_of(problem: Problem, ranking: str, n_features: int) -> list[str]:
    """Return the included features and those that a ranking has first of the others, `n_features` together.

    If more are included, these alone.
    """
    if not problem.features:
        return []
    if ranking == LASSO:
        target = problem.table[problem.target]
        columns = problem.table.select(problem.columns(problem.features))
        entered = first_to_enter(columns, target, n_features, problem.column_counts)
        names = [problem.features[j] for j in entered]
    else:
        names = [step.feature for step in RANKINGS[ranking](n_features=n_features).beginning(problem, n_features)]
    others = [name for name in names if name not in problem.included]
    return [*problem.included, *others[: max(0, n_features - len(problem.included))]]


def halved(problem: Problem, rows: np.ndarray, seed: int, ranking: str) -> Problem:
    """Return the question on a half of the rows, with marginal tests of it if the ranking needs them."""
    return problem.on_rows(rows, seed, G2() if needs_test(ranking) else None)
