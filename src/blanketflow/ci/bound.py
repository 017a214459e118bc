"""A CI test bound to one table. Tests are counted and cached only here."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..core.errors import ParameterError, UnsupportedError
from ..core.limits import Allowance
from ..core.registry import is_foreign
from ..core.results import CIResult, CIResults
from ..core.table import Table
from .effect import without_small
from .engines import (
    Candidate,
    Chance,
    CheckedEngine,
    Columns,
    Engine,
    are_positions,
    candidate_of,
    candidates_of,
    in_range,
)
from .missing import engine_for
from .tests_made import ResultCache, Tally, in_order
from .unbound import UnboundTest, with_strata


class BoundTest:
    """A test bound to one table, which computes results, counts the tests and caches the results.

    The cache belongs to this object, so it never mixes tests, options or tables. See `ResultCache`.

    Parameters
    ----------
    test : CITest
        The configured test.
    table : Table
        The table.
    seed : int, default=0
        Seed of the random numbers of a resampling test.
    target : int, optional
        Position of the target, for supervised binning.
    engine : Engine, optional
        Computes the results; by default what `test` prepares for the table.

    Attributes
    ----------
    n_tests : int
        Number of tests computed so far, without cached results.
    allowance : Allowance or None
        The time and number of tests left; None means no limit.
    min_effect : float
        Smaller effects count as independent; see `require`.
    enough_rows : EnoughRows or None
        Tells which tests have enough rows; None if all have.
    tally : Tally
        Number of conditional tests made, and of those skipped because of too few rows.
    engine, strata : Engine, tuple of int
        The prepared engine, and the positions of strata after the table's columns.

    Examples
    --------
    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> bound = get_ci_test("fisher-z").bind(np.random.default_rng(0).normal(size=(50, 3)))
    >>> first, again = bound.test(0, 1), bound.test(1, 0)
    >>> first == again, bound.n_tests
    (True, 1)
    """

    def __init__(
        self, test: UnboundTest, table: Table, seed: int = 0, target: int | None = None, engine: Engine | None = None
    ) -> None:
        self.test_config = test
        self.card = test.card
        self.table = table
        self.unreliable = getattr(test, "unreliable", "auto")
        self.n_tests = 0
        self.allowance: Allowance | None = None
        self.min_effect = 0.0
        self.tally = Tally()
        whole, self.strata = with_strata(test, table)
        prepared = engine_for(test, whole, seed, target) if engine is None else engine
        self.engine = CheckedEngine(prepared, test.card.id) if is_foreign(test) else prepared
        is_limited = self.unreliable in ("auto", "undecided") and hasattr(prepared, "most_reliable_cells")
        self.enough_rows = EnoughRows(prepared, whole, self.strata) if is_limited else None
        self._cache = ResultCache(test.is_symmetric)

    def __repr__(self) -> str:
        shape = f"{self.table.n_rows:,} rows, {len(self.table):,} columns"
        return f"<{self.card.id} bound to {shape}, n_tests={self.n_tests}>"

    def test(self, x: str | int | Columns, y: str | int, given: Iterable[str | int] = ()) -> CIResult:
        """Test whether X is independent of Y given a conditioning set.

        Parameters
        ----------
        x : str, int, or a list, tuple or set of these
            A column, by name or position; or a set of columns, tested as one joint variable.
        y : str or int
            A column. If the test is not symmetric, `y` is the target that is predicted.
        given : iterable of str or int, default=()
            The conditioning set.

        Returns
        -------
        CIResult
            Statistic, p-value, log p, degrees of freedom, number of rows, reliable. Costs one test unless cached.

        Raises
        ------
        ParameterError
            If a column occurs twice in one query, or a set of columns is empty.
        UnsupportedError
            If `x` is a set and the test's card does not have `column_sets`.

        Examples
        --------
        >>> import numpy as np
        >>> from blanketflow.ci import get_ci_test
        >>> a = np.random.default_rng(0).normal(size=(100, 3))
        >>> bound = get_ci_test("fisher-z").bind(np.column_stack([a[:, 0], a[:, 0] + a[:, 1], a[:, 2]]))
        >>> bool(bound.test("x0", "x1", given=["x2"]).p_value < 0.05)
        True
        """
        candidate = candidate_of(self.table, x, self.card)
        target, conditions = self.table.position(y), self._conditions(given)
        place = self._cache.place(candidate, target, conditions)
        if place is None:
            result = one_result(self, candidate, target, conditions)
            self._cache.add_one(candidate, target, conditions, result)
        else:
            result = self._cache.result(place)
        self.tally.count(int(result.reliable), () if result.reliable else (candidate,), (target, *conditions))
        return result

    def test_many(self, xs: Iterable[str | int | Columns], y: str | int, given: Iterable[str | int] = ()) -> CIResults:
        """Test many candidates against one target given one conditioning set.

        Parameters
        ----------
        xs : iterable of str, int, or sets of these
            The m candidates, each as in `test`.
        y : str or int
            The target column.
        given : iterable of str or int, default=()
            The conditioning set.

        Returns
        -------
        CIResults
            Read-only arrays of shape (m,) in the order of `xs`. Costs one test per candidate that is not cached;
            results of queries with only sets are not cached.

        Raises
        ------
        ParameterError, UnsupportedError
            As in `test`.

        Examples
        --------
        >>> import numpy as np
        >>> from blanketflow.ci import get_ci_test
        >>> bound = get_ci_test("fisher-z").bind(np.random.default_rng(0).normal(size=(50, 3)))
        >>> bound.test_many([0, 1], 2).p_value.shape
        (2,)
        """
        if are_positions(xs) and self._cache.is_empty:
            return self._test_all(xs, self.table.position(y), self._conditions(given))
        candidates = candidates_of(self.table, xs, self.card)
        target, conditions = self.table.position(y), self._conditions(given)
        results = self._known_or_computed(candidates, target, conditions)
        self.tally.see(candidates, results.reliable.tolist(), (target, *conditions))
        return results

    def _known_or_computed(self, candidates: list[Candidate], target: int, conditions: tuple[int, ...]) -> CIResults:
        if set(map(type, candidates)) == {tuple}:  # searches test millions of sets, each once
            return self._compute(candidates, target, conditions).locked()
        places = self._cache.places(candidates, target, conditions)
        n_unknown = places.count(None)
        if not n_unknown:
            return self._cache.results(places)
        known = self._cache.results([place for place in places if place is not None])  # before the others need room
        asked = zip(candidates, places, strict=True) if n_unknown < len(places) else ()
        unknown = list(dict.fromkeys([c for c, place in asked if place is None] if asked else candidates))
        fresh = self._compute(unknown, target, conditions)
        self._cache.add(unknown, target, conditions, fresh)
        return in_order(candidates, places, known, unknown, fresh)

    def _test_all(self, positions: np.ndarray, target: int, conditions: tuple[int, ...]) -> CIResults:
        """Test different columns while the cache is empty. The first query is for all features, which may be many."""
        self._spend_on(positions, (target, *conditions))
        asked = positions if getattr(self.engine, "takes_arrays", False) else positions.tolist()
        results = self._singles(asked, target, conditions)
        self._cache.add(positions, target, conditions, results)
        return results.locked()

    def require(self, min_effect: float) -> None:
        """Count effects below `min_effect`, in the unit of the card, as independent in all later tests."""
        if min_effect != self.min_effect:
            self.min_effect = min_effect
            self._cache.clear()

    def remember(self, xs: Iterable[str | int] | np.ndarray, y: str | int, results: CIResults) -> None:
        """Cache marginal results on the same rows, such as those of the ci_test stage; they cost no tests."""
        candidates = in_range(self.table, xs) if are_positions(xs) else candidates_of(self.table, xs, self.card)
        self._cache.add(candidates, self.table.position(y), self.strata, results.locked(), is_given=True)

    def asked(self) -> tuple[int, np.ndarray]:
        """Return how many tests have no cached result, and the sorted keys of those that have."""
        return self.n_tests - self._cache.n_made, self._cache.keys()

    def _spend_on(self, xs: np.ndarray, others: tuple[int, ...]) -> None:
        if len(set(others)) < len(others) or any((xs == other).any() for other in others):
            raise ParameterError(SAME_COLUMN)
        self.spend(len(xs))

    def spend(self, n_tests: int) -> None:
        """Count tests and subtract them from the allowance. Raises `LimitReached` if it is used up."""
        if self.allowance is not None:
            self.allowance.spend(n_tests)
        self.n_tests += n_tests

    def samples_per_cell(self, x: str | int, y: str | int, given: Iterable[str | int] = ()) -> float:
        """Return the rows per cell of the joint table of X, Y and the conditioning set; infinite without cells."""
        columns = (self.table.position(x), self.table.position(y), *self._conditions(given))
        if hasattr(self.engine, "samples_per_cell"):
            return self.engine.samples_per_cell(columns)
        count = getattr(self.engine, "n_cells", None)
        return math.inf if count is None else self.table.n_rows / count(columns)

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int | None:
        """Return how many rows a reliable test of columns, by position, needs; None if unknown."""
        needed = getattr(self.engine, "rows_needed", None)
        return None if needed is None else needed(x, target, given)

    def answerable(self, xs: Sequence[str], y: str, given: Sequence[str] = ()) -> list[str]:
        """Return the columns in `xs` whose tests with `y` have enough rows in a search; no test is computed.

        The other tests are unreliable and, by the rules ``auto`` and ``undecided``, neither admit nor separate. A test
        that is not answerable given a set is not answerable given a larger set, which has fewer rows per cell. The
        result is all of `xs` unless the test counts cells (``g2``, ``chi2``) and leaves unreliable results undecided.
        Raises `UnknownNameError` if a column is not in the table, and `LimitReached` if the stage's time is used up.

        Examples
        --------
        >>> import numpy as np
        >>> from blanketflow.ci import get_ci_test
        >>> bound = get_ci_test("g2").bind(np.array([[0, 0, 0], [1, 1, 1]] * 10))
        >>> bound.answerable(["x0"], "x1"), bound.answerable(["x0"], "x1", ["x2"])
        (['x0'], [])
        """
        if self.enough_rows is None:
            return list(xs)
        room, n_levels = self.enough_rows.room((y, *given)), self.enough_rows.levels(xs)
        if max(n_levels, default=0) <= room:
            found = list(xs)
        else:
            found = [x for x, n in zip(xs, n_levels, strict=True) if n <= room]
            too_many = [x for x, n in zip(xs, n_levels, strict=True) if n > room]
            self.tally.count(0, self.table.places(too_many), (*self.table.places((y, *given)), *self.strata))
        if not found:
            self.spend(0)  # checks the time limit, since searching on takes time too
        return found

    def mutual_information(self, xs: np.ndarray, y: str | int, given: Iterable[str | int] = ()) -> np.ndarray:
        """Return the mutual information of many candidates with one target given one conditioning set.

        Each candidate counts as a test. Results are not cached and no p-values are computed.

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
        """Return `mutual_information` minus its mean under independence and some standard deviations, see `chance`.

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
        """Return the mean and deviation of the mutual information of independent columns in nats; arguments as there.

        Costs no test: only level counts in the strata are needed. Estimates from counts are above 0 for independent
        columns, and grow with the number of levels and with fewer rows. Both are 0 for tests that count no levels, such
        as ``fisher-z``, where the bias is the same for all columns.

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

    def _compute(self, candidates: list[Candidate], target: int, conditions: tuple[int, ...]) -> CIResults:
        if self.allowance is not None:
            self.allowance.spend(len(candidates))
        results = self._evaluate(candidates, target, conditions)
        self.n_tests += len(candidates)
        return results

    def _evaluate(self, candidates: list[Candidate], target: int, conditions: tuple[int, ...]) -> CIResults:
        sets = [c for c in candidates if isinstance(c, tuple)] if tuple in set(map(type, candidates)) else []
        taken, members = {target, *conditions}, chain(candidates, *sets)
        if len(taken) == len(conditions) or not taken.isdisjoint(members):
            raise ParameterError(SAME_COLUMN)
        if not sets:
            return self._singles(candidates, target, conditions)
        of_sets = self.engine.evaluate_sets(sets, target, conditions)
        if self.min_effect:
            effects = self.test_config.effects_of_sets(of_sets, len(conditions))
            of_sets = without_small(of_sets, effects, self.min_effect)
        if len(sets) == len(candidates):  # the usual case: candidates are different
            return of_sets
        found = dict(zip(sets, of_sets, strict=True))
        singles = [c for c in candidates if not isinstance(c, tuple)]
        if singles:
            found.update(zip(singles, self._singles(singles, target, conditions), strict=True))
        return CIResults.from_rows(found[c] for c in candidates)

    def _singles(self, candidates: Sequence[int] | np.ndarray, target: int, conditions: tuple[int, ...]) -> CIResults:
        results = self.engine.evaluate(candidates, target, conditions)
        if not self.min_effect:
            return results
        return without_small(results, self.test_config.effects(results), self.min_effect)

    def _conditions(self, given: Iterable[str | int]) -> tuple[int, ...]:
        return tuple(sorted({*self.table.places([*given])})) + self.strata


#: Message for a query that names a column twice.
SAME_COLUMN = "a test needs X, Y and the conditioning set to be different columns."


def one_result(bound: BoundTest, candidate: Candidate, target: int, given: tuple[int, ...]) -> CIResult:
    """Return the result for one column, which counts as a test. Uses the engine's `evaluate_one` if it has one.

    Raises `ParameterError` if a column occurs twice, and `LimitReached` if the allowance is used up.
    """
    evaluate = getattr(bound.engine, "evaluate_one", None)
    if evaluate is None or type(candidate) is not int or bound.min_effect:
        return bound._compute([candidate], target, given)[0]
    if candidate == target or candidate in given or target in given:
        raise ParameterError(SAME_COLUMN)
    bound.spend(1)
    return evaluate(candidate, target, given)


#: Slightly above the cells with just enough rows, so that rounding does not decide.
SLACK = 1 + 1e-9


class EnoughRows:
    """Limits the number of levels of a test's columns, so that there are enough rows per cell."""

    def __init__(self, engine: Any, table: Table, strata: tuple[int, ...]) -> None:
        self._n_levels, self._table, self._widths = engine.n_levels, table, dict[str, float]()
        self._seen, self._fewest = set[str](), math.inf
        self._most_cells = engine.most_reliable_cells * SLACK / math.prod(map(engine.n_levels, strata))

    def levels(self, columns: Collection[str]) -> list[float]:
        """Return the number of levels of each column."""
        try:
            return [*map(self._widths.__getitem__, columns)]
        except KeyError:
            widths = [*map(self._n_levels, self._table.places(columns))]
            self._widths.update(zip(columns, widths, strict=True))
            return widths

    def room(self, columns: Collection[str]) -> float:
        """Return how many levels the other columns of a test may have together."""
        return self._most_cells / math.prod(self.levels(columns))

    def fewest(self, columns: Collection[str]) -> float:
        """Return a lower bound on the columns' numbers of levels: the fewest of all columns queried so far.

        A search queries ever smaller subsets of its first columns, so each column is read once.
        """
        if not self._seen.issuperset(columns):
            fresh = [column for column in columns if column not in self._seen]
            self._seen.update(fresh)
            self._fewest = min(self._fewest, *self.levels(fresh))
        return self._fewest
