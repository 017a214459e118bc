"""The columns of which knockoffs are made: centred, of variance 1, and uncorrelated within a feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import ParameterError
from ...core.numerics import standardised
from ...core.table import Table
from ...models.encode import design, moderate

#: A direction of a feature's levels with less than this share of the variance is a combination of others.
SMALLEST_DIRECTION = 1e-9


def columns_of(features: Table, counts: Sequence[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return columns, (n, m), and the position of the feature that each belongs to, (m,); a constant one has none.

    A number, a boolean and a feature of two levels are one column. A feature of k levels is up to k - 1 columns that
    span its indicators. As these are uncorrelated, exchanging all of them with their knockoffs is allowed whenever it
    is for each: features are groups of columns. With `counts` a feature is so many columns of the table, one behind the
    other, and the same holds of a group: knockoffs of its uncorrelated columns are those of the group.
    """
    encoded = design(moderate(features))
    encoded = encoded if counts is None else encoded.joined(counts)
    n, found, owners = features.n_rows, np.empty((encoded.matrix.shape[1], features.n_rows)), []
    for at, block in enumerate(encoded.blocks):
        columns = standardised(encoded.matrix[:, block].T)
        if len(columns) > 1:
            _, singular, axes = np.linalg.svd(columns, full_matrices=False)
            columns = axes[singular**2 > SMALLEST_DIRECTION * max(singular[0] ** 2, 1e-300)]
        columns = columns[columns.any(axis=1)]
        np.multiply(columns, np.sqrt(n), out=found[len(owners) : len(owners) + len(columns)])
        owners += [at] * len(columns)
    return found[: len(owners)].T, np.array(owners, dtype=np.int64)


def known_columns(
    features: Table, covariance: Any, where: str, counts: Sequence[int] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns and owners as `columns_of` does, by a known covariance, and the correlations that it means.

    Columns are centred on the rows at hand: a shift changes no importance. Raises `ParameterError`, beginning with
    `where`, unless each column of the table is one number, and the matrix is one of covariances of these columns.
    """
    if wide := [column.name for column in features.columns if len(column.levels) > 2]:
        raise ParameterError(
            f"{where}: covariance cannot say how the levels of {wide[0]!r} vary. Exclude it, or leave covariance out."
        )
    known = _matrix(covariance, features.names, where)
    deviations = np.sqrt(np.diag(known))
    columns = design(features).matrix
    columns = (columns - columns.mean(axis=0)) / deviations
    correlations = known / np.outer(deviations, deviations)
    if counts is None or max(counts, default=1) == 1:
        return columns, np.arange(len(features.names)), correlations
    return _uncorrelated(columns, correlations, np.repeat(np.arange(len(counts)), counts))


def _uncorrelated(
    columns: np.ndarray, correlations: np.ndarray, owners: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns of features that are uncorrelated within each by the known law, and their correlations."""
    change = np.zeros_like(correlations)
    for owner in np.unique(owners):
        own = np.flatnonzero(owners == owner)
        values, vectors = np.linalg.eigh(correlations[np.ix_(own, own)])
        change[np.ix_(own, own)] = vectors / np.sqrt(values) if len(own) > 1 else 1.0
    return columns @ change, owners, change.T @ correlations @ change


def _matrix(covariance: Any, names: list[str], where: str) -> np.ndarray:
    """Return the covariance of some features as an array; a mapping or a frame is read by its names."""
    d = len(names)
    if isinstance(covariance, str):
        raise ParameterError(f"{where}: covariance is {covariance!r}, but must be a matrix or a mapping of names.")
    if hasattr(covariance, "keys"):
        missing = [name for name in names if name not in covariance]
        if missing:
            raise ParameterError(f"{where}: covariance does not name the feature {missing[0]!r}. Add it.")
        covariance = [[covariance[one][other] for other in names] for one in names]
    known = np.asarray(covariance, dtype=np.float64)
    if known.shape != (d, d):
        raise ParameterError(
            f"{where}: covariance has the shape {known.shape}, but {d} features are searched. Give one row and one "
            "column for each in table order, or name them: {a: {a: 1.0, b: 0.5}, b: ...}."
        )
    if not np.isfinite(known).all() or not np.allclose(known, known.T):
        raise ParameterError(f"{where}: covariance must be finite and symmetric. Correct it.")
    if np.linalg.eigvalsh(known)[0] <= 0:
        raise ParameterError(f"{where}: covariance must be positive definite, and has an eigenvalue of 0 or less.")
    return known
