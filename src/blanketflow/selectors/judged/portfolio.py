"""Rankings of different kinds of all features, from whose beginnings the answer is taken."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator

import numpy as np

from .dependence_rankings import (
    MOST_COMPARED,
    by_blanket,
    by_f_test,
    by_information,
    by_joint_information,
    by_near_rows,
)
from .model_rankings import by_boosted_elimination, by_forest, by_lasso
from .pace import Pace
from .rows import Rows

#: Features that a table is cut to before it is ranked, by mutual information; those that are cut follow in that order.
MOST_RANKED = 2000
#: The name of the ranking by the mean of the logarithms of the others' ranks.
CONSENSUS = "consensus"
#: The ranking that is made first: it takes the least time.
FIRST = "f-test"

#: The rankings but for the consensus, each with the number of features that it takes, of more the first by information.
RANKINGS: dict[str, tuple[Callable[[Rows], np.ndarray], int]] = {
    "mim": (by_information, sys.maxsize),
    "jmi": (by_joint_information, MOST_COMPARED),
    "f-test": (by_f_test, sys.maxsize),
    "blanket": (by_blanket, MOST_COMPARED),
    "relief": (by_near_rows, MOST_RANKED),
    "lasso": (by_lasso, MOST_RANKED),
    "forest": (by_forest, MOST_RANKED),
    "boosted": (by_boosted_elimination, MOST_RANKED),
}


def rankings(rows: Rows, wanted: Collection[str] = (), pace: Pace | None = None) -> Iterator[tuple[str, np.ndarray]]:
    """Yield rankings of the features with their names, each an array of their positions, best first, shape (d,).

    `wanted` are their names; by default all. The consensus needs all others. Each counts as a fit of the `pace`.

    Examples
    --------
    >>> from blanketflow.core.convert import as_table
    >>> from blanketflow.core.table import column_from_array
    >>> from blanketflow.search.run_fold import run_fold
    >>> x = np.random.default_rng(0).normal(size=(100, 3))
    >>> rows = Rows(as_table(x), column_from_array("y", (x[:, 1] > 0).astype(str)), seed=0, search=run_fold)
    >>> found = rankings(rows)
    >>> {name: int(order[0]) for name, order in found}
    {'f-test': 1, 'mim': 1, 'jmi': 1, 'blanket': 1, 'relief': 1, 'lasso': 1, 'forest': 1, 'boosted': 1, 'consensus': 1}
    """
    needs_all, pace = not wanted or CONSENSUS in wanted, pace or Pace()
    n, d = rows.features.n_rows, len(rows.names)
    found: dict[str, np.ndarray] = {}
    parts: dict[int, tuple[np.ndarray, Rows]] = {}
    known: list[np.ndarray] = []

    def information() -> np.ndarray:
        if not known:
            with pace.fit("mim", n * d):
                known.append(by_information(rows))
        return known[0]

    for name in sorted(RANKINGS, key=lambda name: name != FIRST):
        rank, most = RANKINGS[name]
        if not needs_all and name not in wanted:
            continue
        if rank is by_information:
            found[name] = information()
        else:
            if most < d and most not in parts:
                first = np.sort(information()[:most])
                parts[most] = first, rows.of(first)
            first, few = parts.get(most, (np.arange(d), rows))
            with pace.fit(name, n * len(first)):
                order = first[rank(few)]
            found[name] = order if len(order) == d else _followed(order, information())
        yield name, found[name]
    if needs_all:
        yield CONSENSUS, by_mean_rank(np.mean([log_ranks(found[name]) for name in RANKINGS], axis=0))


def log_ranks(order: np.ndarray) -> np.ndarray:
    """Return the logarithm of one and each feature's rank, from a ranking, (d,)."""
    return np.log1p(np.argsort(order))


def by_mean_rank(ranks: np.ndarray) -> np.ndarray:
    """Return the ranking by mean or summed logarithms of ranks, (d,)."""
    return np.argsort(np.round(ranks, 12), kind="stable")


def _followed(first: np.ndarray, information: np.ndarray) -> np.ndarray:
    """Return a ranking of all features that begins with some."""
    return np.concatenate([first, information[~np.isin(information, first)]])
