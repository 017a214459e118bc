"""How many features of a ranking to keep, by cross-validation on the rows at hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..core.cards import CLASSIFICATION
from ..core.errors import DataError
from ..core.seeds import derive_seed, seed_32
from .base import Problem
from .learning import task_of

if TYPE_CHECKING:
    from .ranking import RankingMethod

#: Parts of the cross-validation, and most features that it considers.
N_PARTS, MOST_FEATURES = 5, 50


def best_number(method: RankingMethod, problem: Problem, most: int) -> int:
    """Return the number of features, 1 .. most, whose models predict held-out rows best, the smallest on ties.

    Each part of the rows is held out once. Features are ranked on the other rows, as if the part did not exist; a model
    learns there from the first 1, 2, ... of them and predicts the part. What counts is the share of rows predicted
    right, over all parts together, or for a regression target the squared error. Returns 0 if `most` is 0. Raises
    `DataError` if there is only one row, and `LimitReached` if the stage's limits are reached.
    """
    if most == 0:
        return 0
    losses = held_out_losses(method, problem, most).mean(axis=1)
    # In units of the target's variance and rounded, so that float noise does not decide ties.
    return int(np.argmin(np.round(losses / (np.var(problem.table[problem.target].numbers()) or 1.0), 12))) + 1


def held_out_losses(method: RankingMethod, problem: Problem, most: int) -> np.ndarray:
    """Return the loss of each row, when it is held out, with the first 1 .. most features, shape (most, n).

    0 or 1 for classes, the squared error for numbers.
    """
    n_rows = problem.table.n_rows
    if n_rows < 2:
        raise DataError("n_features: auto needs at least 2 rows to hold some out. Set n_features to a number.")
    target = problem.table[problem.target].numbers()
    parts = problem.parts(target, N_PARTS, "psi")
    losses = np.empty((most, n_rows))
    for part in range(parts.max() + 1):
        losses[:, parts == part] = _losses(method, problem, parts, part, most)
    return losses


def _losses(method: RankingMethod, problem: Problem, parts: np.ndarray, part: int, most: int) -> np.ndarray:
    """Return the loss of each row of a part with the first 1 .. most features, shape (most, rows of the part)."""
    train, held_out = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
    seed = derive_seed(problem.seed, "psi", part)
    inner = problem.on_rows(train, seed, tests_marginally=method.reads_marginal)
    try:
        ranked = [step.feature for step in method.beginning(inner, most)]
    finally:
        problem.n_inner_tests += inner.n_tests
    target = problem.table[problem.target]
    y, losses = target.numbers(), np.empty((most, len(held_out)))
    is_class = task_of(target) == CLASSIFICATION
    for n, predicted in enumerate(_predictions(method, problem, ranked, (train, held_out), part)):
        # A ranking may end early: models of more features then use all of them.
        losses[n:] = predicted != y[held_out] if is_class else (predicted - y[held_out]) ** 2
    return losses


def _predictions(
    method: RankingMethod, problem: Problem, ranked: list[str], rows: tuple[np.ndarray, np.ndarray], part: int
) -> Iterator[np.ndarray]:
    """Yield what a model of the first 1, 2, ... features predicts for the rows held out."""
    from ..models import build_prior, get_model
    from ..models.encode import design, moderate

    target, (train, held_out) = problem.table[problem.target], rows
    y, seed = target.numbers()[train], seed_32(problem.seed, "psi", part)
    task = task_of(target)
    if not ranked or (task == CLASSIFICATION and not np.ptp(y)):
        problem.check_time()
        yield build_prior(task).fit(np.empty((len(train), 0)), y).predict(np.empty((len(held_out), 0)))
        return
    encoded = design(moderate(problem.table.select(problem.columns(ranked))))
    known, asked = (encoded.matrix[some] for some in rows)
    blocks = encoded.joined([len(problem.columns([name])) for name in ranked]).blocks
    beginnings, model = [range(block.stop) for block in blocks], get_model(method.model)
    yield from model.predict_by_sets(task, seed, (known, y), asked, beginnings, problem.check_time)
