"""How well a model predicts rows that it has not seen, from some columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.seeds import derive_rng, seed_32
from ..core.table import Table
from ..models.encode import design
from ..models.magnitudes import moderate
from .learner import Learner


def held_out_losses(
    table: Table, columns: Sequence[str], target: str, model: Any, n_folds: int, seed: int
) -> np.ndarray:
    """Return the loss of each row by a model fitted on the other folds, shape (n,): log-loss or squared error.

    Folds depend on `seed` and the number of rows alone, so that the losses of two sets of columns are pairs. Without
    columns the prediction is the share of each class, or the mean.
    """
    learner = Learner(table[target], model)
    part = derive_rng(seed, "held-out", "folds").permutation(table.n_rows) % n_folds
    # One constant column stands for none, from which a model learns just the classes' shares or the mean.
    matrix = design(moderate(table.select(columns))).matrix if columns else np.zeros((table.n_rows, 1))
    losses = np.empty(table.n_rows)
    for fold in range(n_folds):
        rows = np.flatnonzero(part == fold)
        fitted = learner.fit(matrix, part != fold, seed_32(seed, "held-out", fold))
        losses[rows] = learner.losses(fitted, matrix[rows], rows)
    return losses
