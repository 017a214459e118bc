"""What a bound test measures in nats: mutual information, what of it is chance, and entropy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import UnsupportedError
from .candidates import in_range
from .contingency.chance import Chance

if TYPE_CHECKING:
    from ..core.results import CIResults
    from ..core.table import Table
    from .unbound import UnboundTest


class Measures:
    """The part of a bound test that measures information."""

    engine: Any
    table: Table
    test_config: UnboundTest
    card: Any
    strata: tuple[int, ...]

    if TYPE_CHECKING:

        def test_many(self, xs: Any, y: str | int, given: Iterable[str | int] = ()) -> CIResults: ...  # noqa: D102

        def _conditions(self, given: Iterable[str | int]) -> tuple[int, ...]: ...

        def _spend_on(self, xs: np.ndarray, others: tuple[int, ...]) -> None: ...

    def mutual_information(self, xs: np.ndarray, y: str | int, given: Iterable[str | int] = ()) -> np.ndarray:
        """Return the mutual information of many candidates with one target given one conditioning set.

        Each candidate counts as a test. The results are not cached, and no p-values are computed.

        Parameters
        ----------
        xs : int ndarray of shape (m,)
            Positions of columns.
        y : str or int
            The target column.
        given : iterable of str or int
            The conditioning set.

        Returns
        -------
        ndarray of shape (m,)
            I(X;Y|Z) in nats.

        Raises
        ------
        ParameterError
            If a column occurs twice in one query.
        UnsupportedError
            If the test's card does not list mutual information as a measure.

        Examples
        --------
        >>> import numpy as np
        >>> from blanketflow.ci import get_ci_test
        >>> bound = get_ci_test("g2").bind(np.array([[0, 0], [1, 1]] * 20))
        >>> bound.mutual_information(np.array([0]), 1).round(3)  # a fair coin and its copy: log 2
        array([0.693])
        """
        compute = getattr(self.engine, "information", None)
        if compute is None or "mutual-information" not in self.card.measures:
            return self.test_config.mutual_information(self.test_many(xs, y, given))
        target, conditions = self.table.position(y), self._conditions(given)
        self._spend_on(in_range(self.table, xs), (target, *conditions))
        return compute(xs, target, conditions)

    def adjusted_information(
        self, xs: np.ndarray, y: str | int, given: Iterable[str | int] = (), deviations: float = 0.0
    ) -> np.ndarray:
        """Return `mutual_information` less the mean and some standard deviations of what it is by `chance`.

        Counts and raises like `mutual_information`. It is 0 on average for independent columns if `deviations` is 0.

        Examples
        --------
        >>> import numpy as np
        >>> from blanketflow.ci import get_ci_test
        >>> names = np.array([[row, row % 2] for row in range(20)])  # a name of each row tells all, by chance
        >>> bound = get_ci_test("g2", bins=20).bind(names)
        >>> bound.mutual_information(np.array([0]), 1).round(3), bound.adjusted_information(np.array([0]), 1)
        (array([0.693]), array([0.]))
        """
        both = getattr(self.engine, "information_and_chance", None)
        if both is None:
            found, by_chance = self.mutual_information(xs, y, given), self.chance(xs, y, given)
        else:
            target, conditions = self.table.position(y), self._conditions(given)
            self._spend_on(in_range(self.table, xs), (target, *conditions))
            found, by_chance = both(xs, target, conditions)
        return by_chance.taken_from(found, deviations)

    def chance(self, xs: np.ndarray, y: str | int, given: Iterable[str | int] = ()) -> Chance:
        """Return what the mutual information of independent columns is by chance; no test.

        Estimates from counts are above 0 for independent columns, the more so the more levels there are and the fewer
        rows. Only the counts of the levels in the strata are needed.

        Parameters
        ----------
        xs, y, given
            As in `mutual_information`.

        Returns
        -------
        Chance
            Its `mean` and `deviation`, of shape (m,), in nats. Both are 0 by tests that count no levels, such as
            ``fisher-z``, where chance is the same for all columns.

        Examples
        --------
        >>> import numpy as np
        >>> from blanketflow.ci import get_ci_test
        >>> bound = get_ci_test("g2").bind(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
        >>> bound.chance(np.array([0]), 1).mean.round(3)  # of 6 permutations 2 make copies: log 2 / 3
        array([0.231])
        """
        compute = getattr(self.engine, "chance", None)
        if compute is None:
            return Chance.none(len(xs))
        return compute(in_range(self.table, xs), self.table.position(y), self._conditions(given))

    def entropy(self, xs: np.ndarray, given: Iterable[str | int] = ()) -> np.ndarray:
        """Return the joint entropy H(X, Z) of each candidate with some columns, in nats, shape (m,).

        Counts and raises like `mutual_information`; the card must list entropy as a measure.
        """
        if "entropy" not in self.card.measures:
            raise UnsupportedError(f"{self.card.id} does not measure entropy. Use g2.")
        if self.strata:
            raise UnsupportedError("entropies are not measured within strata. Remove within, or choose another method.")
        conditions = self._conditions(given)
        self._spend_on(in_range(self.table, xs), conditions)
        return self.engine.entropy(xs, conditions)
