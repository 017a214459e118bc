"""The lasso of many rows by the products of its columns: rows are read once for all penalties."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: What is added to the products of a column with itself, as a share of it, so that copies have a root.
ADDED = 1e-10


def weights_by_products(
    X: np.ndarray,
    Y: np.ndarray,
    parts: np.ndarray,
    penalties: np.ndarray,
    best_of: Callable[[np.ndarray], int],
    check_time: Callable[[], None],
) -> np.ndarray:
    """Return the absolute coefficient of each column, shape (m,), under the penalty that predicts held-out parts best.

    A triangle of m + c rows with the same products as n rows has the same lasso.

    Parameters
    ----------
    X, Y : ndarray of shape (n, m) and (n, c)
        Centred columns, those of the target in `Y`.
    parts : ndarray of int, shape (n,)
        The part of each row, from 0.
    penalties : ndarray
        From strong to weak.
    best_of : callable
        Chooses a penalty by the sums of squared errors.
    check_time : callable
        Called before each path.
    """
    from sklearn.linear_model import enet_path

    m, c = X.shape[1], Y.shape[1]
    of_parts = []
    for part in range(parts.max() + 1):
        rows = np.flatnonzero(parts == part)
        whole = np.column_stack([X[rows], Y[rows], np.ones(len(rows))])
        of_parts.append(whole.T @ whole)

    def path(products: np.ndarray, strengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients, (c, m, penalties), and the means of all columns."""
        check_time()
        n, means = products[-1, -1], products[-1, :-1] / products[-1, -1]
        centred = products[:-1, :-1] / n - np.outer(means, means)
        centred[np.diag_indices(m + c)] *= 1.0 + ADDED
        centred[np.diag_indices(m + c)] += ADDED
        root = np.linalg.cholesky(centred).T * np.sqrt(m + c)
        y = root[:, m] if c == 1 else root[:, m:]
        return enet_path(np.asfortranarray(root[:, :m]), y, l1_ratio=1.0, alphas=strengths, tol=1e-3)[1].reshape(
            c, m, -1
        ), means

    everything, errors = np.sum(of_parts, axis=0), np.zeros(len(penalties))
    for held_out in of_parts:
        coefficients, means = path(everything - held_out, penalties)
        for at, of_outcome in enumerate(coefficients):
            left = np.vstack([-of_outcome, np.zeros((c, len(penalties))), means[:m] @ of_outcome - means[m + at]])
            left[m + at] = 1.0
            errors += np.vecdot(held_out @ left, left, axis=0)
    best = best_of(errors)
    return np.abs(path(everything, penalties[: best + 1])[0][..., -1]).sum(axis=0)
