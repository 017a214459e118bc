"""Random complementary halves of the rows, and what a ranking puts first on each of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...ci.contingency.g2_and_chi2 import G2
from ...core.errors import DataError
from ...core.rows import numbers_of
from ...core.seeds import derive_rng, derive_seed
from ..base import Problem
from ..filters.information_criteria import CIFE, CMIM, DISR, JMI, MIFS, MIM, MRMR, InformationRanking
from ..filters.linear_similarity import SPFSLAR, FisherMarkov
from ..filters.relief import Relief
from ..ranking import RankingMethod
from .lasso_path import first_to_enter

#: The ranking by order of entry into the lasso path, which is no method of its own.
LASSO = "lasso"
RANKINGS: dict[str, type[RankingMethod]] = {
    ranking.card.id: ranking for ranking in (CIFE, CMIM, DISR, FisherMarkov, JMI, MIFS, MIM, MRMR, Relief, SPFSLAR)
}


def needs_test(ranking: str) -> bool:
    """Return whether a ranking uses a CI test, which is g2, with numbers in five bins."""
    return ranking in RANKINGS and issubclass(RANKINGS[ranking], InformationRanking)


def first_of(problem: Problem, ranking: str, n_features: int) -> list[str]:
    """Return the included features and the first others of a ranking, `n_features` together, or all included ones.

    No others are returned if the target is constant, where a ranking would be the order of names.
    """
    if not problem.features:
        return []
    target = problem.table[problem.target]
    if target.is_constant():
        return list(problem.included)
    if ranking == LASSO:
        columns = problem.table.select(problem.columns(problem.features))
        entered = first_to_enter(columns, target, n_features, problem.column_counts)
        names = [problem.features[j] for j in entered]
    else:
        names = RANKINGS[ranking](n_features=n_features).beginning(problem, n_features).feature.tolist()
    others = [name for name in names if name not in problem.included]
    return [*problem.included, *others[: max(0, n_features - len(problem.included))]]


def on_halves(problem: Problem, n_pairs: int, ranking: str) -> Iterator[Problem]:
    """Yield the problem on each half of the complementary pairs, and count the tests made on it."""
    halves = complementary_halves(problem.table.n_rows, problem.groups, n_pairs, problem.seed)
    for pair, both in enumerate(halves):
        for half, rows in enumerate(both):
            problem.check_time()
            inner = halved(problem, rows, derive_seed(problem.seed, "stability-selection", pair, half), ranking)
            yield inner
            problem.n_inner_tests += inner.n_tests


def halved(problem: Problem, rows: np.ndarray, seed: int, ranking: str) -> Problem:
    """Return the problem on a half of the rows, with marginal tests if the ranking needs them."""
    return problem.on_rows(rows, seed, G2() if needs_test(ranking) else None)


#: Minimum rows or groups, two per half.
FEWEST = 4


def complementary_halves(
    n_rows: int, groups: np.ndarray | None, n_pairs: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield pairs of halves as row positions in table order; of an odd number one row is in neither.

    The halves are not stratified by the target, since they would then depend on each other. With `groups`, (n_rows,),
    half the groups are drawn, each with all its rows. Raises `DataError` for fewer than 4 rows, or 4 groups.

    >>> first, second = next(complementary_halves(7, None, 1, seed=0))
    >>> len(first), len(second), len(set(first) | set(second))
    (3, 3, 6)
    """
    units = np.arange(n_rows) if groups is None else numbers_of(groups)
    n_units = int(units.max(initial=-1)) + 1
    if n_units < FEWEST:
        what = "rows" if groups is None else "groups of rows"
        raise DataError(
            f"stability selection draws halves and needs at least {FEWEST} {what}, but there are {n_units}."
        )
    half = n_units // 2
    for pair in range(n_pairs):
        order = derive_rng(seed, "stability-selection", pair).permutation(n_units)
        first, second = (np.flatnonzero(np.isin(units, drawn)) for drawn in (order[:half], order[half : 2 * half]))
        yield first, second
