"""The interface of every CI test: configure it, bind it to a table once, then ask the bound test (bound.py)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from ..core.agreement import Agreement
from ..core.cards import ASYMPTOTIC, CATEGORICAL, EXACT
from ..core.convert import as_table
from ..core.design_arguments import SAMPLE_WEIGHTS, as_design, labels_as_numbers, weighted_rows
from ..core.errors import DataError, RowsNeeded, UnsupportedError
from ..core.levels import with_used_levels
from ..core.number_texts import warn_of_number_texts
from ..core.parameters import Configurable, choice
from ..core.results import CIResults
from ..core.summed_table import SummedTable
from ..core.table import Column, Table
from ..core.whole_numbers import counted_from_least
from .bound import BoundTest
from .engines import Engine, constant_results
from .exchange import ROWS
from .resolution import why_nothing_is_admitted

__all__ = ["BoundTest", "CITest", "constant_results"]


@dataclass
class CITest(Configurable):
    """A configured CI test. A subclass defines a `card`, its options and `prepare`.

    Attributes
    ----------
    card : Card
        Describes the test, the columns that it accepts and the guarantee of its p-values.
    own_models : tuple of str
        Values of its option `model` that are not ids of models, but the test's own.
    joins_columns : bool
        Whether a group of columns is one column to it, by `bind_joined`.
    exchanges_within_strata : bool
        Whether it conditions on strata by exchanging rows only within them; else they are in each conditioning set.
    stacks_copies : bool
        Whether imputed copies are pooled by the results on all of them as one table, too.
    incomplete : str, int or None
        What a bound test does where cells are missing: ``pairwise``, or how many imputed copies it pools over; None
        refuses them. It is no option: `with_incomplete` sets it, as the data set or the caller asks.

    Examples
    --------
    >>> from blanketflow.ci import get_ci_test
    >>> test = get_ci_test("g2", bins=3)
    >>> test.card.symmetric, test.options()["bins"]
    (True, 3)
    """

    own_models: ClassVar[tuple[str, ...]] = ()
    joins_columns: ClassVar[bool] = False
    exchanges_within_strata: ClassVar[bool] = False
    stacks_copies: ClassVar[bool] = False
    incomplete: str | int | None = field(default=None, init=False, repr=False)

    @abstractmethod
    def prepare(self, table: Table, seed: int, target: int | None) -> Engine:
        """Return the engine that answers queries on this table.

        Parameters
        ----------
        table : Table
            Columns of the kinds that the card allows, without missing cells.
        seed : int
            Seed of the random numbers.
        target : int or None
            Position of the column that a method explains, if it is known.
        """

    def prepare_summed(self, table: SummedTable) -> Engine:
        """Return the engine for a table of which only counts or cross products are known, of tests that need no rows.

        Raises `RowsNeeded` if the test needs rows.
        """
        raise RowsNeeded(
            f"{self.card.id} needs rows, and only counts or cross products of them are known. Set ci_test to g2, chi2, "
            "fisher-z or lr-mixed."
        )

    def why_rows(self, agreement: Agreement) -> str:
        """Return why a test with `sums` needs rows for the columns of an agreement all the same; empty if not."""
        return ""

    @property
    def sums(self) -> str:
        """What `prepare_summed` needs: ``triples`` or ``cross-products``, tables of an agreement; empty for rows."""
        return ""

    @property
    def sums_by_kinds(self) -> bool:
        """Whether `why_rows` depends on the kinds of columns, which a plan does not know."""
        return False

    @property
    def is_symmetric(self) -> bool:
        """Whether swapping X and Y changes nothing, with the options of this test (the card describes the defaults)."""
        return self.card.symmetric

    def smallest_p(self) -> float:
        """Return the smallest p-value that this test can give with its options; 0 if there is no limit."""
        return 0.0

    def saturated_p(self) -> float:
        """Return the smallest p-value that strong effects usually have, at least `smallest_p`."""
        return self.smallest_p()

    def doubts(self, table: Table, target: str, results: CIResults) -> str:
        """Return in words why the marginal results on all other columns cannot be trusted; empty if they can.

        For what the results alone do not tell: that a column is not fit for this test, though it is of a kind that the
        test accepts.
        """
        return ""

    def to_reach(self, level: float) -> str:
        """Return in words how to get p-values as low as `level`. Called only if `smallest_p` is above `level`."""
        return "choose another test"

    @property
    def draws_rows(self) -> bool:
        """Whether rows are drawn or permuted, so that equal rows would not stay together: then they have no weights."""
        return self.card.p_values not in (ASYMPTOTIC, EXACT)

    @property
    def knows_clusters(self) -> bool:
        """Whether p-values take into account which rows are of one group; then there must be groups."""
        return getattr(self, "permute", ROWS) != ROWS

    def why_not(self, method: Configurable, n_features: int) -> str | None:
        """Return why a method can never admit a feature because no p-value is small enough; None if it can."""
        return why_nothing_is_admitted(self, method, n_features)

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the mutual information of some results in nats, if the test's card lists this measure."""
        raise UnsupportedError(f"{self.card.id} does not measure mutual information. Use g2 or fisher-z.")

    def effects(self, results: CIResults) -> np.ndarray:
        """Return the sizes of effects of single columns, in the unit of the card's `effect`, shape (m,)."""
        raise UnsupportedError(f"{self.card.id} knows no size of an effect. See effect in blanketflow.list_ci_tests().")

    def effects_of_sets(self, results: CIResults, n_given: int) -> np.ndarray:
        """Return the same of sets of columns as X, given `n_given` columns."""
        return self.effects(results)

    def supports(self, column: Column) -> str | None:
        """Return why this test does not accept a column, or None if it does."""
        limit = self.card.max_classes
        if column.kind in self.card.kinds or (column.kind == CATEGORICAL and limit and len(column.levels) <= limit):
            return None
        levels = f" with {len(column.levels)} levels" if column.levels else ""
        return f"column {column.name!r} is {column.kind}{levels}"

    def bind_joined(
        self, table: Table, groups: Mapping[str, Sequence[str]], seed: int, target: str | None
    ) -> BoundTest:
        """Return the test bound to a table of which each group of columns is one to its engine, if `joins_columns`."""
        raise UnsupportedError(f"{self.card.id} does not join columns into one.")

    def joined(self, table: Table, groups: Mapping[str, Sequence[str]], target: str | None) -> Table:
        """Return the table with one column in place of each group, if `joins_columns` by levels."""
        raise UnsupportedError(f"{self.card.id} does not join the levels of columns.")

    @property
    def misleads(self) -> str:
        """Where p-values are no error rates, with the options of this test (the card says of all); empty if nowhere."""
        return self.card.misleads

    @property
    def column_by_column(self) -> bool:
        """Whether the marginal result of a column depends on it and the target alone: not if others impute it."""
        return self.card.column_by_column and not isinstance(self.incomplete, int)

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return one result for each test of single columns from its results on several imputed copies of the rows.

        `stacked` are the results on all copies as one table, if the test `stacks_copies`. Raises `UnsupportedError`
        unless the test says how.
        """
        raise UnsupportedError(f"{self.card.id} does not say how results on imputed copies are pooled.")

    def pooled_sets(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return the same of sets of columns as X."""
        return self.pooled(copies, stacked)

    def pooled_by_design(self, copies: Sequence[CIResults]) -> CIResults:
        """Return the same of single columns where the p-values are of rows with clusters or sampling weights."""
        return self.pooled_sets(copies, None)

    def accepted(self) -> str:
        """Return in words which kinds of columns this test accepts."""
        limit = self.card.max_classes
        return ", ".join([*self.card.kinds, *([f"categorical (up to {limit} levels)"] if limit else [])])

    def bind(
        self,
        X: Any,
        *,
        seed: int = 0,
        target: str | int | None = None,
        sample_weight: Any = None,
        groups: Any = None,
        within: Any = None,
        weights_are: Literal["counts", "sampling"] = "counts",
    ) -> BoundTest:
        """Bind the test to a table.

        Parameters
        ----------
        X : Table, DataFrame, ndarray or scipy sparse matrix of shape (n, d)
            A table without missing cells. Text, boolean and categorical columns are discrete.
        seed : int, default=0
            Seed of the random numbers of a resampling test.
        target : str or int, optional
            The column to be explained; only supervised binning (``mdlp``) needs it.
        sample_weight : array-like of shape (n,), optional
            How many equal rows each row stands for, or sampling weights, as `weights_are` says. Rows of weight 0 are
            left out.
        groups : array-like of shape (n,), optional
            Labels of rows that were drawn together, such as the patient.
        within : array-like of shape (n,), optional
            Labels of strata, such as the site, within which tests are made.
        weights_are : {"counts", "sampling"}, default="counts"
            What `sample_weight` is: numbers of equal rows, whole ones from 0 on, or sampling weights, in proportion to
            how many members of the population a row stands for.

        Returns
        -------
        BoundTest
            The test of this table's columns.

        Raises
        ------
        UnsupportedError
            If the test does not accept a column, or does not know weights and groups; the message names which.
        DataError
            If cells are missing or infinite, or weights, groups or strata are not one of each row.
        ParameterError
            If an option is out of range.

        Examples
        --------
        >>> import numpy as np
        >>> from blanketflow.ci import get_ci_test
        >>> bound = get_ci_test("fisher-z").bind(np.random.default_rng(0).normal(size=(50, 3)))
        >>> bound.n_tests
        0
        """
        self.check(f"CI test {self.card.id!r}")
        table = counted_from_least(as_table(X))
        warn_of_number_texts(self.card.id, X, table)
        if sample_weight is not None or groups is not None or within is not None:
            table = self._of_rows(table, sample_weight, groups, within, weights_are)
        for column in table.one_of_each():
            reason = self.supports(column)
            if reason:
                from .choice import AUTO, INSTEAD

                raise UnsupportedError(
                    f"{self.card.id} takes {self.accepted()} columns, but {reason}. Set ci_test to "
                    f"{' or '.join(INSTEAD)}, which take it, or to {AUTO}, which chooses a test for the table."
                )
        column = table.first_incomplete()
        if column is not None and self.incomplete is not None:
            column = next((one for one in table.columns if one.n_infinite()), None)
        elif column is not None and column.n_missing():
            raise DataError(
                f"column {column.name!r} has {column.n_missing()} missing cells. Impute or drop them first."
            )
        if column is not None:
            raise DataError(f"column {column.name!r} has {column.n_infinite()} infinite cells. Replace them first.")
        return BoundTest(self, table, seed, None if target is None else table.position(target))

    def _of_rows(self, table: Table, weights: Any, groups: Any, within: Any, weights_are: str) -> Table:
        """Return the rows of a table that count, as often as they do, with their design."""
        where = self.card.id
        SAMPLE_WEIGHTS.check(where, "weights_are", weights_are)
        rows, shares = None, None
        if weights is not None:
            rows, shares = weighted_rows(f"{where}: sample_weight", weights, weights_are, table.n_rows)
        if rows is not None and shares is None and self.draws_rows:
            raise UnsupportedError(
                f"{where} draws, permutes or compares single rows, so that rows cannot have weights. Repeat the rows, "
                "or choose another test."
            )
        if (shares is not None or (groups is not None and not self.knows_clusters)) and not self.card.design_based:
            raise UnsupportedError(
                f"{where} takes rows as independent and equal. See design_based in blanketflow.list_ci_tests()."
            )
        of_rows = {"groups": groups, "within": within}
        numbers = [
            None if one is None else labels_as_numbers(where, what, one, table.n_rows) for what, one in of_rows.items()
        ]
        table = table.with_design(as_design(shares, *numbers))
        return table if rows is None else with_used_levels(table.take(rows))


def unreliable_rule() -> Any:
    """Declare the option `unreliable` of tests that have a sample-size rule."""
    return choice(
        "auto",
        "What an unreliable test says: independent (p = 1); auto (p = 1, but it separates no feature in a search over "
        "conditioning sets); undecided (neither admits nor removes); use (as it is).",
        ("auto", "independent", "undecided", "use"),
    )
