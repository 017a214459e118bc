"""Sparse matrices as files hold them: their positions are checked before compiled code follows them."""

from __future__ import annotations

from typing import Any


def checked_csc(X: Any) -> Any:
    """Return a scipy sparse matrix by columns, cells at the same place summed and without stored zeros.

    scipy believes the positions of a matrix that was made of its parts: wrong ones read and write beyond its arrays.

    Raises
    ------
    ValueError
        If a position is none of the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> forged = csr_matrix((np.ones(2), np.array([0, 9]), np.array([0, 1, 2])), shape=(2, 2))
    >>> checked_csc(forged)
    Traceback (most recent call last):
    ...
    ValueError: indices must be < 2
    """
    if hasattr(X, "check_format"):  # the others keep no pointers
        X.check_format(full_check=True)
    X = X.tocsc()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X
