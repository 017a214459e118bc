"""Rankings of different kinds of all features, from whose beginnings the answer is taken."""

from __future__ import annotations

from collections.abc import Callable, Collection

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
from .rows import Rows

#: Features that a table is cut to before it is ranked, by mutual information; those that are cut follow in that order.
MOST_RANKED = 2000
#: The name of the ranking by the mean of the logarithms of the others' ranks.
CONSENSUS = "consensus"

#: The rankings but for the consensus, each with the number of features that it takes: the first by information.
RANKINGS: dict[str, tuple[Callable[[Rows], np.ndarray], int]] = {
    "mim": (by_information, MOST_RANKED),
    "jmi": (by_joint_information, MOST_COMPARED),
    "f-test": (by_f_test, MOST_RANKED),
    "blanket": (by_blanket, MOST_COMPARED),
    "relief": (by_near_rows, MOST_RANKED),
    "lasso": (by_lasso, MOST_RANKED),
    "forest": (by_forest, MOST_RANKED),
    "boosted": (by_boosted_elimination, MOST_RANKED),
}


def rankings(rows: Rows, wanted: Collection[str] = ()) -> dict[str, np.ndarray]:
    """Return rankings of the features, each an array of their positions, best first, shape (d,).

    `wanted` are their names; by default all. The consensus needs all others.

    Examples
    --------
    >>> from blanketflow.core.convert import as_table
    >>> from blanketflow.core.table import column_from_array
    >>> x = np.random.default_rng(0).normal(size=(100, 3))
    >>> found = rankings(Rows(as_table(x), column_from_array("y", (x[:, 1] > 0).astype(str)), seed=0))
    >>> {name: int(order[0]) for name, order in found.items()}
    {'mim': 1, 'jmi': 1, 'f-test': 1, 'blanket': 1, 'relief': 1, 'lasso': 1, 'forest': 1, 'boosted': 1, 'consensus': 1}
    """
    needs_all = not wanted or CONSENSUS in wanted
    information = by_information(rows)
    found: dict[str, np.ndarray] = {}
    parts: dict[int, tuple[np.ndarray, Rows]] = {}
    for name, (rank, most) in RANKINGS.items():
        if needs_all or name in wanted:
            if most not in parts:
                first = np.sort(information[:most])
                parts[most] = first, rows.of(first) if len(first) < len(information) else rows
            first, few = parts[most]
            found[name] = information if rank is by_information else _followed(first[rank(few)], information)
    if needs_all:
        found[CONSENSUS] = by_mean_rank(np.mean([log_ranks(order) for order in found.values()], axis=0))
    return found


def log_ranks(order: np.ndarray) -> np.ndarray:
    """Return the logarithm of one and each feature's rank, from a ranking, (d,)."""
    return np.log1p(np.argsort(order))


def by_mean_rank(ranks: np.ndarray) -> np.ndarray:
    """Return the ranking by mean or summed logarithms of ranks, (d,)."""
    return np.argsort(np.round(ranks, 12), kind="stable")


def _followed(first: np.ndarray, information: np.ndarray) -> np.ndarray:
    """Return a ranking of all features that begins with some."""
    return np.concatenate([first, information[~np.isin(information, first)]])
