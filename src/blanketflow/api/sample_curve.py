"""How the result of a search depends on the size of its sample."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import ParameterError
from ..core.rows import MAX_ROWS

if TYPE_CHECKING:
    import pandas as pd

    from .estimator import MarkovBlanketSelector

#: Default sizes of a curve: the largest, halved this often.
N_HALVED = 4


def sample_curve(selector: MarkovBlanketSelector, X: Any, y: Any, sizes: Sequence[int] | None = None) -> pd.DataFrame:
    """Return the results of a search on samples of increasing size.

    If the last results agree, more rows would hardly change them; if not, raise `max_rows`.

    Parameters
    ----------
    selector : MarkovBlanketSelector
        A selector whose search takes a sample beyond `max_rows`. It is not changed.
    X : DataFrame, ndarray, sparse matrix or Table of shape (n, d)
        The features, as in `fit`.
    y : array-like of shape (n,)
        The target.
    sizes : sequence of int, optional
        Numbers of rows, each at least 10; larger ones than the table mean all rows. The default is the selector's
        `max_rows` (all rows without it) and its half, quarter, eighth and sixteenth, if at least 10.

    Returns
    -------
    DataFrame
        One row per size, ascending: `n_rows` and `n_features`; `jaccard`, the Jaccard index with the set of the largest
        size (0 to 1; 1 if both are empty); `features`, the set as a list, most important first; `status`; `n_tests`;
        `seconds`, wall time.

    Raises
    ------
    ParameterError
        If the search never takes a sample, or a size is out of range.

    Notes
    -----
    Cost: one search per size. Samples are stratified by the target, as with `max_rows`, and not nested.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> curve = bf.sample_curve(bf.Relief(n_features=5, max_rows=400), X, y)
    >>> curve[["n_rows", "n_features"]].values.tolist()
    [[25, 5], [50, 5], [100, 5], [200, 5], [400, 5]]
    >>> curve["jaccard"].tolist()[-1]
    1.0
    """
    import pandas as pd
    from sklearn.base import clone

    from ..reporting.tables.blankets import jaccard

    if sizes is None:
        largest = min(selector.max_rows or len(y), len(y))
        sizes = [size for size in (largest // 2**i for i in range(N_HALVED + 1)) if size >= (MAX_ROWS.at_least or 0)]
    if not sizes:
        raise ParameterError("sample_curve: sizes is empty. Give numbers of rows, such as [1000, 5000].")
    rows = []
    for size in sorted({min(size, len(y)) for size in sizes}):
        begin = time.perf_counter()
        found = clone(selector).set_params(max_rows=size).fit(X, y)
        rows.append(
            {
                "n_rows": size,
                "n_features": len(found.selected_features_),
                "features": found.selected_features_,
                "status": found.status_,
                "n_tests": found.n_tests_,
                "seconds": time.perf_counter() - begin,
            }
        )
    last = rows[-1]["features"]
    curve = pd.DataFrame(rows)
    curve.insert(2, "jaccard", [jaccard({*row["features"]}, {*last}) for row in rows])
    return curve
