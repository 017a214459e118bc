"""CI tests for the searches of causal-learn, pgmpy and tigramite, which are imported only here and only when asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.registry import look_up
from .base import BoundTest, CITest

#: How tigramite marks a column of labels.
LABELS = 1


def for_pgmpy(test: CITest | str, X: Any, *, seed: int = 0) -> BoundForPgmpy:
    """Return a CI test as pgmpy's searches call it.

    Parameters
    ----------
    test : CITest or str
        A configured test, or the id of one.
    X : DataFrame of shape (n, d)
        The table that the search reads. Text, boolean and categorical columns are labels.
    seed : int, default=0
        Seed of the random numbers of a resampling test.

    Returns
    -------
    BoundForPgmpy
        A function of two columns, a conditioning set and `significance_level`, which says whether they are independent.
        A call costs one test, unless it was made before.

    Raises
    ------
    UnknownNameError
        If there is no test with this id.
    UnsupportedError, DataError
        As `CITest.bind`.

    Examples
    --------
    >>> import pandas as pd
    >>> import blanketflow as bf
    >>> X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["a", "b", "c"])
    >>> is_independent = bf.ci.for_pgmpy("fisher-z", X)  # PC(ci_test=is_independent).fit(X)
    >>> is_independent("a", "b", ["c"], significance_level=0.001)
    True
    """
    return BoundForPgmpy(_configured(test).bind(X, seed=seed))


class BoundForPgmpy:
    """A bound test as a function for pgmpy.

    Parameters
    ----------
    bound : BoundTest
        The test of the table's columns.

    Attributes
    ----------
    bound : BoundTest
        The same, which counts the tests.
    statistic_, p_value_ : float
        Of the last call.
    """

    def __init__(self, bound: BoundTest) -> None:
        self.bound = bound

    def __call__(self, X: str, Y: str, Z: Iterable[str] = (), significance_level: float = 0.05) -> bool:
        """Return whether X is independent of Y given Z at a level."""
        found = self.bound.test(X, Y, list(Z))
        self.statistic_, self.p_value_ = found.statistic, found.p_value
        return found.p_value >= significance_level


def for_causal_learn(test: CITest | str, *, labels: Sequence[int] = (), seed: int = 0) -> str:
    """Register a CI test with causal-learn, and return the name by which its searches find it.

    Parameters
    ----------
    test : CITest or str
        A configured test, or the id of one.
    labels : sequence of int
        Positions of the columns whose numbers are codes of labels. By default all columns are numbers.
    seed : int, default=0
        Seed of the random numbers of a resampling test.

    Returns
    -------
    str
        The name, for ``pc(data, alpha, name)`` and the other searches by tests. A call costs one test, unless it was
        made before.

    Raises
    ------
    ImportError
        If causal-learn is not installed.
    UnknownNameError
        If there is no test with this id.
    UnsupportedError, DataError
        As `CITest.bind`, when a search begins.

    Examples
    --------
    >>> import blanketflow as bf
    >>> name = bf.ci.for_causal_learn("spline")  # doctest: +SKIP
    >>> pc(data, 0.05, name)  # doctest: +SKIP
    """
    from causallearn.utils.cit import CIT_Base, register_ci_test

    configured = _configured(test)
    name = f"blanketflow {configured} labels={[*labels]} seed={seed}"

    class Registered(CIT_Base):  # type: ignore[misc] # the package has no types
        method = name

        def __init__(self, data: np.ndarray, **options: Any) -> None:
            super().__init__(data, **options)
            self.bound = configured.bind(_table(data, labels), seed=seed)

        def __call__(self, X: int, Y: int, condition_set: Iterable[int] | None = None) -> float:
            return self.bound.test(int(X), int(Y), sorted({int(z) for z in condition_set or ()})).p_value

    register_ci_test(name, Registered)
    return name


def for_tigramite(test: CITest | str, *, seed: int = 0) -> Any:
    """Return a CI test for tigramite's searches in time series.

    Columns that the search's data frame calls discrete by its `data_type` are labels.

    Parameters
    ----------
    test : CITest or str
        A configured test, or the id of one. Its p-values are those of independent rows.
    seed : int, default=0
        Seed of the random numbers of a resampling test.

    Returns
    -------
    tigramite.independence_tests.independence_tests_base.CondIndTest
        For ``PCMCI(dataframe, test)`` and the other searches. Each test binds its lagged columns, so that no result is
        shared between tests, except by tigramite itself.

    Raises
    ------
    ImportError
        If tigramite is not installed.
    UnknownNameError
        If there is no test with this id.
    UnsupportedError, DataError
        As `CITest.bind`, when a test is made.

    Examples
    --------
    >>> import blanketflow as bf
    >>> PCMCI(dataframe, bf.ci.for_tigramite("spline")).run_pcmci(tau_max=2)  # doctest: +SKIP
    """
    from tigramite.independence_tests.independence_tests_base import CondIndTest

    configured = _configured(test)

    class ForTigramite(CondIndTest):  # type: ignore[misc] # the package has no types
        measure = f"blanketflow {configured.card.id}"
        two_sided = False

        def get_dependence_measure(
            self, array: np.ndarray, xyz: np.ndarray, data_type: np.ndarray | None = None
        ) -> float:
            """Return the statistic, and keep the p-value for `get_analytic_significance`, which is asked next."""
            labels = () if data_type is None else np.flatnonzero((data_type == LABELS).all(axis=1))
            bound = configured.bind(_table(array.T, labels), seed=seed)
            x, y, z = (np.flatnonzero(xyz == part).tolist() for part in range(3))
            found = bound.test(x if len(x) > 1 else x[0], y[0], z)
            self._p_value = found.p_value
            return found.statistic

        def get_analytic_significance(self, value: float, T: int, dim: int, xyz: np.ndarray) -> float:
            """Return the p-value of the last statistic."""
            return self._p_value

    return ForTigramite()


def _configured(test: CITest | str) -> CITest:
    return look_up("blanketflow.ci", test, "CI test")() if isinstance(test, str) else test


def _table(data: np.ndarray, labels: Iterable[int]) -> Any:
    """Return a matrix as a table in which some columns are labels."""
    import pandas as pd

    frame = pd.DataFrame(data, columns=[f"x{at}" for at in range(data.shape[1])])
    return frame.astype({f"x{at}": "category" for at in labels})
