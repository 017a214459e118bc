"""``bf.discover``: which features are discoveries at a false discovery rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..core.printable import printable

if TYPE_CHECKING:
    import pandas as pd

    from .selectors import Discover


@dataclass(frozen=True)
class Discovered:
    """Features that say something about the target that no other feature says, at a false discovery rate.

    Attributes
    ----------
    features : list of str
        The discoveries at `q`, most important first; none is a possible answer.
    verdict : str
        The answer in a few sentences: how many at `q`, how many at higher levels, and how large an effect had to be in
        order to be found.
    discoveries : DataFrame
        One row per feature, the smallest level first: feature, q (the smallest level at which it is a discovery, below
        1), n_features (number of discoveries at that level), and its p-value or e-value.
    selector : Discover
        The fitted selector.
    notes : list of str
        What to look at in the table first, such as a feature that may be known only after the target, and what was
        done with its rows.

    Examples
    --------
    >>> import numpy as np
    >>> import blanketflow as bf
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> bf.discover(X, X[:, 3] + np.random.default_rng(1).normal(size=300)).features
    ['x3']
    """

    features: list[str]
    verdict: str
    discoveries: pd.DataFrame
    selector: Discover
    notes: list[str]

    def __repr__(self) -> str:
        return "\n- ".join(map(printable, [f"Discovered({self.verdict})", *self.notes]))


def discover(
    X: Any,
    y: Any,
    q: float = 0.1,
    *,
    procedure: Literal["dcrt", "knockoffs"] = "dcrt",
    task: str = "auto",
    target_kind: str = "auto",
    exclude: Sequence[str] | None = None,
    missing: Literal["error", "impute", "drop"] = "error",
    time_limit: float | None = None,
    random_state: int = 0,
    verbose: int = 0,
) -> Discovered:
    """Find features that say something about the target that no other says, with few false ones among them.

    Parameters
    ----------
    X : DataFrame, ndarray or sparse matrix of shape (n, d)
        n rows, d features; missing cells only if `missing` says what becomes of them.
    y : array-like of shape (n,)
        The target; of further kinds also a structured array, a DataFrame, a pair of arrays or a mapping, as in
        `Discover.fit`.
    q : float, default=0.1
        False discovery rate: the expected share of false features among the discoveries. Fix it before you see the
        result.
    procedure : {"dcrt", "knockoffs"}, default="dcrt"
        How discoveries are made: by tests of each feature given all others, or by synthetic copies.
    task : {"auto", "classification", "regression"}
        What the target is.
    target_kind : {"auto", "classification", "regression", "survival", "count", "ordered", "share", "positive"}
        Kind of the target.
    exclude : list of str, optional
        Features that are left out; ``prefix*`` names all that begin so.
    missing : {"error", "impute", "drop"}, default="error"
        What becomes of missing cells of X: refused, imputed (median, or most frequent label), or their rows dropped.
    time_limit : float, optional
        Seconds after which the search ends without an answer.
    random_state : int
        Seed.
    verbose : int, default=0
        What is said on stderr: 0 nothing, 1 a line per stage, 2 one per step too.

    Returns
    -------
    Discovered
        Features, verdict, and the smallest level of each feature.

    Raises
    ------
    DataError, ParameterError, UnsupportedError
        As `Discover.fit`.

    Examples
    --------
    >>> import numpy as np
    >>> import blanketflow as bf
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> found = bf.discover(X, X[:, 3] + np.random.default_rng(1).normal(size=300), q=0.05)
    >>> found.discoveries["feature"].iloc[0]
    'x3'
    """
    from .selectors import Discover

    selector = Discover(
        q=q,
        procedure=procedure,
        task=task,
        target_kind=target_kind,
        exclude=exclude,
        missing=missing,
        time_limit=time_limit,
        random_state=random_state,
        verbose=verbose,
    ).fit(X, y)
    ended = f" ({selector.status_}: {selector.reason_})" if selector.status_ != "ok" else ""
    return Discovered(
        features=list(selector.selected_features_),
        verdict=selector.verdict_["sentence"] + ended,
        discoveries=selector.discoveries_,
        selector=selector,
        notes=list(selector.notes_),
    )
