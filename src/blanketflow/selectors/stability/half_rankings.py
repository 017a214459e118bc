"""The rankings that stability selection can repeat on halves of the rows, each with its default options."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ci.contingency.g2_and_chi2 import G2
from ...core.numerics import standardised
from ...core.table import Column, Table
from ...models.encode import design, moderate
from ..base import Problem
from ..filters.fisher_markov import FisherMarkov
from ..filters.information import InformationRanking
from ..filters.information_criteria import CIFE, CMIM, DISR, JMI, MIFS, MIM, MRMR
from ..filters.linear_similarity import target_columns
from ..filters.relief import Relief
from ..filters.spfs_lar import SPFSLAR
from ..ranking import RankingMethod

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


#: Penalties on the whole path, and the last as a share of the first, which lets nothing in.
N_PENALTIES, LAST = 100, 1e-3
#: Penalties of the first stretch of the path; each further stretch doubles it.
FIRST_STRETCH = 25
#: Sizes are compared to this many decimals, so that float noise does not decide ties.
DECIMALS = 12


def first_to_enter(features: Table, target: Column, most: int, column_counts: Sequence[int] | None = None) -> list[int]:
    """Return the positions of the `most` features that enter the lasso's path first, in the order of entry.

    Those that enter between two penalties go by the size of their coefficients there, then by name. Fewer are
    returned if no more enter. Least squares with an L1 penalty (Tibshirani, 1996,
    doi:10.1111/j.2517-6161.1996.tb02080.x); classes are regressed as indicators, and more than two share the penalty
    of a column. A feature of more than two levels has a column for each, and enters with the first. So does a group,
    where `column_counts` says how many columns each feature has, one behind the other.
    """
    from sklearn.linear_model import enet_path

    encoded, n = design(moderate(features)), target.n_rows
    X = np.asfortranarray(standardised(encoded.matrix.T).T * np.sqrt(n))  # columns of variance 1
    Y = target_columns(target) * np.sqrt(n)
    Y = Y - Y.mean(axis=0)
    if target.is_discrete and len(target.levels) == 2:
        Y = Y[:, :1]
    highest = float(np.sqrt(((X.T @ Y) ** 2).sum(axis=1)).max(initial=0.0)) / n
    if not highest:
        return []
    penalties = np.geomspace(highest, LAST * highest, N_PENALTIES)
    blocks = encoded.blocks if column_counts is None else encoded.joined(column_counts).blocks
    stretch, starts = FIRST_STRETCH, [block.start for block in blocks]
    while True:
        y = Y[:, 0] if Y.shape[1] == 1 else Y
        path = enet_path(X, y, l1_ratio=1.0, alphas=penalties[:stretch], tol=1e-4)[1]
        sizes = np.abs(path.reshape(-1, X.shape[1], path.shape[-1])).sum(axis=0)  # columns, penalties
        of_features = np.add.reduceat(sizes, starts, axis=0)
        entered = np.flatnonzero(of_features.any(axis=1))
        if len(entered) >= most or stretch >= N_PENALTIES:
            break
        stretch *= 2
    at = (of_features[entered] > 0).argmax(axis=1)
    order = np.lexsort((-np.round(of_features[entered, at] / highest, DECIMALS), at))
    return entered[order][:most].tolist()
