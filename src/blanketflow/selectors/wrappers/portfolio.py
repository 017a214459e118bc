"""Rankings of different kinds of all features, from whose beginnings the answer is taken."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...ci.g2 import G2
from ...core.cards import CLASSIFICATION
from ...core.seeds import seed_32
from ...core.table import Column, Table
from ...models.base import Model
from ...models.encode import Design, design, moderate, moderated
from ...models.forest import Forest
from ...models.lightgbm import LightGBM
from ...models.logistic import Logistic
from ...models.ridge import Ridge
from ..filters.jmi import JMI
from ..filters.mim import MIM
from ..learning import estimator_for, task_of
from ..ranking import RankingMethod
from ..run_fold import run_fold
from .importances import own_weights

#: Features that a table is cut to before it is ranked, by mutual information; those that are cut follow in that order.
MOST_RANKED = 2000
#: Features that an information criterion ranks; the others follow by mutual information.
MOST_BY_CRITERION = 100
#: The name of the ranking by the mean of the logarithms of the others' ranks.
CONSENSUS = "consensus"


@dataclass
class Rows:
    """Some rows of a question: features and target, and what rankings of them share.

    Parameters
    ----------
    features : Table
        The features, without missing cells.
    target : Column
        The target.
    seed : int
        Seed of the models.
    check_time : function
        Called between models; raises if the time is over.
    """

    features: Table
    target: Column
    seed: int
    check_time: Callable[[], None] = field(default=lambda: None)

    @cached_property
    def design(self) -> Design:
        """What models read."""
        return design(moderate(self.features))

    @cached_property
    def y(self) -> np.ndarray:
        """The target as numbers or codes, (n,)."""
        return moderated(self.target)


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
    {'mim': 1, 'jmi': 1, 'forest': 1, 'linear': 1, 'boosted': 1, 'consensus': 1}
    """
    asked = {*RANKINGS} if not wanted or CONSENSUS in wanted else {*wanted}
    by_information = _by_criterion(rows, MIM, len(rows.features))
    first = np.sort(by_information[:MOST_RANKED])
    few = Rows(rows.features.select([rows.features.names[j] for j in first]), rows.target, rows.seed, rows.check_time)
    found = {}
    for name, rank in RANKINGS.items():
        if name in asked:
            found[name] = by_information if rank is None else _followed(first[rank(few)], by_information)
    if asked == {*RANKINGS}:
        ranks = np.mean([np.log1p(np.argsort(order)) for order in found.values()], axis=0)
        found[CONSENSUS] = np.argsort(np.round(ranks, 12), kind="stable")
    return found


def _by_criterion(rows: Rows, method: type[RankingMethod], n_features: int) -> np.ndarray:
    """Return the first features of an information ranking, on numbers in five bins."""
    outcome = run_fold(
        method(n_features=min(n_features, len(rows.features))), G2(), rows.features, rows.target, rows.seed
    )
    rows.check_time()
    return np.array([rows.features.position(step.feature) for step in outcome.candidates], dtype=np.int64)


def _followed(first: np.ndarray, by_information: np.ndarray) -> np.ndarray:
    """Return a ranking of all features that begins with some."""
    return np.concatenate([first, by_information[~np.isin(by_information, first)]])


def _by_forest(rows: Rows) -> np.ndarray:
    weights = _weights(rows, Forest(n_estimators=50, min_samples_leaf=3), rows.design.blocks)
    return np.argsort(-np.round(weights, 12), kind="stable")


def _by_elimination(rows: Rows, model: Model, share: float) -> np.ndarray:
    """Rank by recursive elimination: the features that matter least to the model leave, and it is fitted again.

    Of more than 200 features half leave at a time. Guyon, Weston, Barnhill and Vapnik (2002),
    doi:10.1023/A:1012487302797.
    """
    left, last = np.arange(len(rows.features)), []
    while len(left) > 1:
        weights = _weights(rows, model, [rows.design.blocks[j] for j in left])
        n_leaving = max(1, int(len(left) * (0.5 if len(left) > 200 else share)))
        worst = np.argsort(np.round(weights, 12), kind="stable")[:n_leaving]
        last += left[worst].tolist()
        left = np.delete(left, worst)
    return np.array([*left.tolist(), *reversed(last)], dtype=np.int64)


def _weights(rows: Rows, model: Model, blocks: list[slice]) -> np.ndarray:
    """Return what a model fitted to some features says of each, shape (number of blocks,)."""
    rows.check_time()
    widths = [block.stop - block.start for block in blocks]
    X = rows.design.matrix[:, np.concatenate([np.arange(block.start, block.stop) for block in blocks])]
    fitted = estimator_for(model, rows.target, seed_32(rows.seed, "portfolio"), X, np.arange(len(X))).fit(X, rows.y)
    weights = own_weights(fitted)
    if weights is None or len(weights) != X.shape[1]:  # a single class: the prior says nothing
        return np.zeros(len(blocks))
    return np.add.reduceat(weights, np.cumsum([0, *widths[:-1]]))


def linear_model(target: Column) -> Model:
    """Return the linear model of a target."""
    return Logistic(max_iter=100) if task_of(target) == CLASSIFICATION else Ridge()


def boosted_model(target: Column) -> Model:
    """Return boosted trees of a target: fewer rounds for many classes, each of which needs a tree in every round."""
    n_classes = len(target.levels) if task_of(target) == CLASSIFICATION else 2
    return LightGBM(n_estimators=max(10, 100 // max(2, n_classes)), num_leaves=15)


#: The rankings, without the consensus of all; that by mutual information is where each of the others begins.
RANKINGS: dict[str, Callable[[Rows], np.ndarray] | None] = {
    "mim": None,
    "jmi": lambda rows: _by_criterion(rows, JMI, MOST_BY_CRITERION),
    "forest": _by_forest,
    "linear": lambda rows: _by_elimination(rows, linear_model(rows.target), 0.1),
    "boosted": lambda rows: _by_elimination(rows, boosted_model(rows.target), 0.25),
}
