"""A permutation test of dependence between target and features, and the effect that it detects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.cards import CLASSIFICATION
from ...core.numerics import standardised
from ...core.rows import balanced_parts
from ...core.seeds import derive_rng, seed_32
from ...core.table import Column
from ...models.base import class_probabilities, predicted
from ...targets.normal_scores import scores_of
from ..learning import estimator_for, task_of
from .pace import Pace
from .portfolio import Rows, boosted_model

#: Levels of the tests of single columns and of trees on all columns; together 5 % false positives.
LEVEL, LEVEL_OF_TREES = 0.03, 0.02
#: Permutations of the target: p-values are whole multiples of the inverse of one more.
N_PERMUTATIONS, N_OF_TREES = 399, 49
#: Power of the effect reported as detectable, 0.95, as a standard Gaussian quantile.
POWER = 1.645
#: Columns and permutations per block, to limit memory.
BLOCK, BLOCK_OF_ORDERS = 1000, 50
#: Parts of the rows that trees predict, and maximum number of columns, the best by rank correlation.
N_PARTS, MOST_OF_TREES = 5, 2000


@dataclass(frozen=True)
class Gate:
    """Result of the test (`is_open`: dependent), and the effect that the test of single columns detects.

    `visible` is the ROC AUC of the smallest class against the rest, or the rank correlation, that a column needs to be
    detected with probability 0.95; 1 if there are too few rows.
    """

    is_open: bool
    visible: float


def gate(rows: Rows, seed: int, groups: np.ndarray | None = None, pace: Pace | None = None) -> Gate:
    """Test whether the target depends on any feature, or on several together.

    First, the largest rank correlation of a column with a class, with the normal scores of a numeric target, or with
    residuals, is compared with those of permuted targets. If it is not significant, boosted trees on all columns
    predict held-out rows, and are refitted to permuted targets until one of these is predicted as well. Rows of one
    group in `groups`, (n,), are permuted together; targets are repeated or cut to the size of the other group. The test
    is exact without groups and for groups of equal size. Raises `LimitReached` if the rows or the `pace` are out of
    time.
    """
    return of_trees(of_columns(rows, seed, groups), rows, seed, groups, pace or Pace())


def of_columns(rows: Rows, seed: int, groups: np.ndarray | None) -> Gate:
    """Test single columns."""
    as_it_is = np.arange(len(rows.y))
    order = _permutations(len(as_it_is), derive_rng(seed, "auto", "permutations"), groups)
    largest = _largest(rows, [as_it_is, *(next(order) for _ in range(N_PERMUTATIONS))])
    needed = np.sort(largest[1:])[-round(LEVEL * (N_PERMUTATIONS + 1))]
    return Gate(bool(largest[0] > needed), _visible(float(needed), rows.target))


def of_trees(found: Gate, rows: Rows, seed: int, groups: np.ndarray | None, pace: Pace) -> Gate:
    """Test all columns together, unless a single one was significant."""
    if found.is_open:
        return found
    as_it_is, trees = np.arange(len(rows.y)), _Trees(rows, seed, groups, pace)
    order, seen = _permutations(len(as_it_is), derive_rng(seed, "auto", "trees"), groups), trees.score(as_it_is)
    return replace(found, is_open=seen > 0 and all(trees.score(next(order)) < seen for _ in range(N_OF_TREES)))


def _permutations(n: int, rng: np.random.Generator, groups: np.ndarray | None) -> Iterator[np.ndarray]:
    if groups is None:
        while True:
            yield rng.permutation(n)
    places = np.argsort(groups, kind="stable")
    blocks = np.split(places, np.flatnonzero(np.diff(groups[places])) + 1)
    while True:
        found = np.empty(n, dtype=np.int64)
        for own, at in zip(blocks, rng.permutation(len(blocks)).tolist(), strict=True):
            found[own] = np.resize(blocks[at], len(own))
        yield found


def _outcomes(target: Column, ranks_target: bool) -> np.ndarray:
    """Return the standardised outcomes, (outcomes, n): each class, the normal scores, or residuals as they are."""
    y = target.numbers()
    if task_of(target) != CLASSIFICATION:
        return standardised((scores_of(y) if ranks_target else y)[np.newaxis])
    labels = np.unique(y)
    return standardised((y == labels[1 if len(labels) == 2 else 0 :, np.newaxis]).astype(float))


def _largest(rows: Rows, orders: Sequence[np.ndarray]) -> np.ndarray:
    """Return the largest absolute rank correlation of any column with each permuted target, (orders,)."""
    outcomes, largest = _outcomes(rows.target, rows.ranks_target), np.zeros(len(orders))
    for columns in _ranked(rows):
        for start in range(0, len(orders), BLOCK_OF_ORDERS):
            rows.check_time()
            some = np.stack(orders[start : start + BLOCK_OF_ORDERS])
            found = np.abs(columns @ standardised(outcomes[:, some].reshape(-1, some.shape[1])).T).max(axis=0)
            here = slice(start, start + len(some))
            largest[here] = np.maximum(largest[here], found.reshape(len(outcomes), -1).max(axis=0))
    return np.round(largest, 12)


def _ranked(rows: Rows) -> Iterator[np.ndarray]:
    """Yield the standardised ranks of some columns at a time, (columns, n)."""
    from scipy.stats import rankdata

    for start in range(0, rows.design.matrix.shape[1], BLOCK):
        yield standardised(rankdata(rows.design.matrix[:, start : start + BLOCK], axis=0).T)


class _Trees:
    """Accuracy of boosted trees on all columns on held-out rows, for any permutation of the target."""

    def __init__(self, rows: Rows, seed: int, groups: np.ndarray | None, pace: Pace) -> None:
        self._rows, self._seed, self._groups, self._pace = rows, seed, groups, pace
        self._model, self._is_class = boosted_model(rows.target), task_of(rows.target) == CLASSIFICATION

    def score(self, order: np.ndarray) -> float:
        """Return the mean rank correlation of predictions with the outcome, within parts of the rows."""
        from scipy.stats import rankdata

        target = replace(self._rows.target, values=self._rows.target.cells()[order])
        y, outcomes, X = self._rows.y[order], _outcomes(target, self._rows.ranks_target), self._columns(target)
        parts = balanced_parts(y, min(N_PARTS, len(y) // 2), derive_rng(self._seed, "auto", "gate"), self._groups)
        labels, total = np.unique(y), 0.0
        for part in range(parts.max() + 1):
            train, held_out = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
            with self._pace.fit("gate", len(train) * X.shape[1]):
                fitted = estimator_for(self._model, target, seed_32(self._seed, "auto", "gate"), X, train)
                fitted.fit(X[train], y[train])
            if self._is_class:
                said = class_probabilities(fitted, X[held_out], labels).T[-len(outcomes) :]
            else:
                said = predicted(fitted, X[held_out])[np.newaxis]
            ranks = standardised(rankdata(np.round(said, 12), axis=1))
            total += len(held_out) * np.vecdot(ranks, standardised(outcomes[:, held_out])).mean()
        return round(float(total / len(y)), 12)

    def _columns(self, target: Column) -> np.ndarray:
        """Return all columns, or those with the largest rank correlations with this target."""
        X = self._rows.design.matrix
        if X.shape[1] <= MOST_OF_TREES:
            return X
        outcomes = _outcomes(target, self._rows.ranks_target).T
        strength = np.concatenate([np.abs(columns @ outcomes).max(axis=1) for columns in _ranked(self._rows)])
        return X[:, np.sort(np.argsort(-np.round(strength, 12), kind="stable")[:MOST_OF_TREES])]


def _visible(needed: float, target: Column) -> float:
    """Return the AUC or correlation whose estimate exceeds the needed one with probability `POWER`.

    The standard error of an AUC is that of Hanley and McNeil (1982), doi:10.1148/radiology.143.1.7063747.
    """
    n = target.n_rows
    if task_of(target) != CLASSIFICATION:
        return float(np.tanh(np.arctanh(min(needed, 1 - 1e-12)) + POWER / np.sqrt(max(1, n - 3))))
    counts = np.bincount(target.numbers().astype(np.int64))
    few = int(counts[counts > 0].min())
    many = n - few
    from_half = needed * np.sqrt((n**2 - 1) / (12 * few * many))
    auc = np.linspace(0.5, 1, 1001)
    one, two = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = (auc * (1 - auc) + (few - 1) * (one - auc**2) + (many - 1) * (two - auc**2)) / (few * many)
    is_seen = auc - 0.5 - from_half >= POWER * np.sqrt(np.maximum(variance, 0))
    return float(auc[is_seen.argmax()]) if is_seen[:-1].any() else 1.0
