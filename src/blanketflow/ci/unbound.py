"""Configured CI tests before binding, and the checks of the table."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..core.cards import ASYMPTOTIC, BOOLEAN, CATEGORICAL, EXACT
from ..core.column import TargetColumn
from ..core.column_checks import warn_of_number_texts
from ..core.convert import SAMPLE_WEIGHTS, as_design, as_table, counted_from_least, labels_as_numbers, weighted_rows
from ..core.errors import DataError, UnsupportedError
from ..core.parameters import Configurable, choice
from ..core.results import CIResults
from ..core.table import Column, Table, with_used_levels
from ..targets import knows_clusters
from .engines import Engine
from .multiple_testing import NONE, ROUNDING, fewest_rejected, log_level

#: Units of a permutation; see `permute_option`.
ROWS, CLUSTERS, WITHIN_CLUSTERS = ("rows", "clusters", "within-clusters")
#: Option of a selector by which its test is chosen.
AUTO = "auto"
#: Tests recommended if a test does not accept a column: these accept every kind.
INSTEAD = ("lr-mixed", "g2")


@dataclass
class UnboundTest(Configurable):
    """The base of `CITest`: everything except `bind`, so that bound tests need not import `CITest`."""

    own_models: ClassVar[tuple[str, ...]] = ()
    joins_columns: ClassVar[bool] = False
    exchanges_within_strata: ClassVar[bool] = False
    stacks_copies: ClassVar[bool] = False
    incomplete: str | int | None = field(default=None, init=False, repr=False)

    @abstractmethod
    def prepare(self, table: Table, seed: int, target: int | None) -> Engine:
        """Return the engine for this table.

        Parameters
        ----------
        table : Table
            Columns of the kinds that the card allows, without missing cells.
        seed : int
            Seed of the random numbers.
        target : int or None
            Position of the target, if it is known.
        """

    @property
    def sums(self) -> str:
        """What can replace rows: ``triples`` or ``cross-products``; empty if the test needs rows.

        Your own test that needs no rows has `prepare_summed(table)`, which returns its engine.
        """
        return ""

    @property
    def sums_by_kinds(self) -> bool:
        """Whether `sums` are enough only for some kinds of columns, which are unknown when planning."""
        return False

    @property
    def is_symmetric(self) -> bool:
        """Whether X and Y can be swapped, with the options of this test (the card describes the defaults)."""
        return self.card.symmetric

    def smallest_p(self) -> float:
        """Return the smallest possible p-value with these options; 0 without a limit."""
        return 0.0

    def saturated_p(self) -> float:
        """Return the smallest p-value that strong effects usually reach, at least `smallest_p`."""
        return self.smallest_p()

    def doubts(self, table: Table, target: str, results: CIResults) -> str:
        """Return why the marginal results on all other columns are not to be trusted; empty if they are.

        For problems that results do not show: a column is unsuitable, though of an accepted kind.
        """
        return ""

    def to_reach(self, level: float) -> str:
        """Return in words how to get p-values as low as `level`; called only if `smallest_p` is above `level`."""
        return "choose another test"

    @property
    def draws_rows(self) -> bool:
        """Whether rows are sampled or permuted; then weights are not supported, since equal rows would be separated."""
        return self.card.p_values not in (ASYMPTOTIC, EXACT)

    @property
    def knows_clusters(self) -> bool:
        """Whether p-values account for clusters; then groups are required."""
        return getattr(self, "permute", ROWS) != ROWS

    def why_not(self, method: Configurable, n_features: int) -> str | None:
        """Return why a method can never admit a feature because no p-value is small enough; None if it can.

        No test is computed. Uses the test's `smallest_p` and the method's options `alpha` (without it any p-value is
        small enough), `correction`, and `m` and `max_k`, whose correction counts all sets of a scan.
        """
        options = method.options()
        alpha, correction = options.get("alpha"), options.get("correction", NONE)
        n_tests = _n_tests(method, n_features)
        if alpha is None or n_tests == 0:
            return None

        def largest_p(correction: str) -> float:
            """Return the largest p-value that is rejected if all p-values are equal."""
            return math.exp(log_level(n_features, n_tests, alpha, correction) + ROUNDING)

        smallest = self.smallest_p()
        if smallest <= largest_p(correction):
            return None
        asked, ways = f"at alpha {alpha:g} admits no feature", self.to_reach(largest_p(correction))
        if correction != NONE:
            what = "features" if n_tests == n_features else "sets of features"
            asked = f"with correction: {correction} at alpha {alpha:g} admits none of {n_tests:,} {what}"
            others = [other for other in method.parameters()["correction"].choices if smallest <= largest_p(other)]
            ways += "".join(f", or correction: {other}" for other in others)
        return (
            f"{self.card.id} gives no p-value below {smallest:.2g}, so {method.card.id} {asked}, which needs "
            f"{largest_p(correction):.2g} or less. {ways[0].upper()}{ways[1:]}"
        )

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the mutual information of results in nats, if the card lists this measure."""
        raise UnsupportedError(f"{self.card.id} does not measure mutual information. Use g2 or fisher-z.")

    def effects(self, results: CIResults) -> np.ndarray:
        """Return effect sizes of single columns, in the unit of the card's `effect`, shape (m,)."""
        raise UnsupportedError(f"{self.card.id} knows no size of an effect. See effect in blanketflow.list_ci_tests().")

    def effects_of_sets(self, results: CIResults, n_given: int) -> np.ndarray:
        """Return effect sizes of sets of columns as X, given `n_given` columns."""
        return self.effects(results)

    def supports(self, column: Column) -> str | None:
        """Return why this test does not accept a column, or None if it does."""
        limit = self.card.max_classes
        if isinstance(column, TargetColumn):
            return (
                None if self.card.accepts(column.target_kind) else f"{column.name!r} is a {column.target_kind} target"
            )
        if column.kind in self.card.kinds or (column.kind == CATEGORICAL and limit and len(column.levels) <= limit):
            return None
        levels = f" with {len(column.levels)} levels" if column.levels else ""
        return f"column {column.name!r} is {column.kind}{levels}"

    def joined(self, table: Table, groups: Mapping[str, Sequence[str]], target: str | None) -> Table:
        """Return the table with one column in place of each group, if `joins_columns` by levels."""
        raise UnsupportedError(f"{self.card.id} does not join the levels of columns.")

    @property
    def misleads(self) -> str:
        """Where p-values are not error rates with these options (the card covers all options); empty if nowhere."""
        return self.card.misleads

    @property
    def column_by_column(self) -> bool:
        """Whether a marginal result depends only on the column and the target; false if other columns impute it."""
        return self.card.column_by_column and not isinstance(self.incomplete, int)

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return one result per test of single columns, pooled over imputed copies; `UnsupportedError` by default.

        `stacked` are results on all copies as one table, if the test `stacks_copies`.
        """
        raise UnsupportedError(f"{self.card.id} does not say how results on imputed copies are pooled.")

    def pooled_sets(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return pooled results of sets of columns as X."""
        return self.pooled(copies, stacked)

    def pooled_by_design(self, copies: Sequence[CIResults]) -> CIResults:
        """Return pooled results of single columns with clusters or sampling weights."""
        return self.pooled_sets(copies, None)

    def accepted(self) -> str:
        """Return in words the accepted kinds of columns."""
        limit = self.card.max_classes
        return ", ".join([*self.card.kinds, *([f"categorical (up to {limit} levels)"] if limit else [])])


def permute_option() -> Any:
    """Declare the option `permute` of tests that permute rows."""
    return choice(
        ROWS,
        "What a permutation exchanges, of data sets with groups: rows, as if each were by itself; clusters, whole "
        "groups, which must be of equal size; within-clusters, rows of one group among themselves.",
        (ROWS, CLUSTERS, WITHIN_CLUSTERS),
    )


def unreliable_rule() -> Any:
    """Declare the option `unreliable` of tests that have a sample-size rule."""
    return choice(
        "auto",
        "What an unreliable test says: independent (p = 1); auto (p = 1, but it separates no feature in a search over "
        "conditioning sets); undecided (neither admits nor removes); use (as it is).",
        ("auto", "independent", "undecided", "use"),
    )


def why_a_correction_admits_none(test: UnboundTest, log_p: np.ndarray, alpha: float, correction: str) -> str | None:
    """Return a message if a correction rejected nothing since too few p-values reach saturation, else None."""
    least, n_tests = test.saturated_p(), len(log_p)
    n_least = int(np.count_nonzero(log_p <= math.log(least) + ROUNDING)) if least > 0 else 0
    if n_least == 0:
        return None
    fewest = fewest_rejected(least, n_tests, alpha, correction)
    level = math.exp(log_level(n_least, n_tests, alpha, correction) + ROUNDING)
    return (
        f"nothing was admitted: with correction: {correction} at alpha {alpha:g} "
        f"{f'{fewest:,}' if fewest else 'more than all'} of {n_tests:,} features would have to be as clear as "
        f"{test.card.id} can show, p = {least:.2g}, and {n_least:,} were. To admit these, {test.to_reach(level)}"
    )


def more_permutations(level: float, n_permutations: int) -> str:
    """Return in words how many permutations make 1 / (1 + n_permutations) at most `level`.

    >>> more_permutations(0.001, 199)
    'set n_permutations to at least 999 (it is 199)'
    """
    if level < 1e-9:
        return "choose another test, since no number of permutations will do"
    return f"set n_permutations to at least {math.ceil(1.0 / level - 1e-9) - 1} (it is {n_permutations})"


def _n_tests(method: Configurable, n_features: int) -> int:
    """Return the number of hypotheses corrected for: the features, or all sets of up to m features."""
    options = method.options()
    largest = options.get("m", 1)
    if "m" in options and options.get("max_k") is not None:
        largest = min(largest, options["max_k"] + 1)
    return sum(math.comb(n_features, size) for size in range(1, min(largest, n_features) + 1))


def checked_table(
    test: UnboundTest,
    X: Any,
    sample_weight: Any = None,
    groups: Any = None,
    within: Any = None,
    weights_are: str = "counts",
) -> Table:
    """Return the checked table with its design, see `CITest.bind`; rows with counts are repeated."""
    test.check(f"CI test {test.card.id!r}")
    table = counted_from_least(as_table(X))
    warn_of_number_texts(test.card.id, X, table, stacklevel=4)  # of who calls `CITest.bind`
    if sample_weight is not None or groups is not None or within is not None:
        table = _of_rows(test, table, sample_weight, groups, within, weights_are)
    for column in table.one_of_each():
        reason = test.supports(column)
        if reason and isinstance(column, TargetColumn):
            raise UnsupportedError(
                f"{test.card.id} does not test a target of this kind: {reason}. Set ci_test to {AUTO}."
            )
        if reason:
            raise UnsupportedError(
                f"{test.card.id} takes {test.accepted()} columns, but {reason}. Set ci_test to "
                f"{' or '.join(INSTEAD)}, which take it, or to {AUTO}, which chooses a test for the table."
            )
    column = table.first_incomplete()
    if column is not None and test.incomplete is not None:
        column = next((one for one in table.columns if one.n_infinite()), None)
    elif column is not None and column.n_missing():
        raise DataError(f"column {column.name!r} has {column.n_missing()} missing cells. Impute or drop them first.")
    if column is not None:
        raise DataError(f"column {column.name!r} has {column.n_infinite()} infinite cells. Replace them first.")
    return table


def _of_rows(test: UnboundTest, table: Table, weights: Any, groups: Any, within: Any, weights_are: str) -> Table:
    """Return the rows with positive weight, repeated by their counts, with their design."""
    where = test.card.id
    SAMPLE_WEIGHTS.check(where, "weights_are", weights_are)
    rows, shares = None, None
    if weights is not None:
        rows, shares = weighted_rows(f"{where}: sample_weight", weights, weights_are, table.n_rows)
    if rows is not None and shares is None and test.draws_rows:
        raise UnsupportedError(
            f"{where} draws, permutes or compares single rows, so that rows cannot have weights. Repeat the rows, "
            "or choose another test."
        )
    if (shares is not None or (groups is not None and not test.knows_clusters)) and not test.card.design_based:
        raise UnsupportedError(
            f"{where} takes rows as independent and equal. See design_based in blanketflow.list_ci_tests()."
        )
    kinds = {column.target_kind for column in table.one_of_each() if isinstance(column, TargetColumn)}
    if groups is not None and (unknowing := next((kind for kind in kinds if not knows_clusters(kind)), None)):
        raise UnsupportedError(
            f"{where} takes rows of {unknowing} targets as independent. Remove groups, or give the null model of this "
            "kind scores, and its card design_based."
        )
    of_rows = {"groups": groups, "within": within}
    numbers = [
        None if one is None else labels_as_numbers(where, what, one, table.n_rows) for what, one in of_rows.items()
    ]
    table = table.with_design(as_design(shares, *numbers))
    return table if rows is None else with_used_levels(table.take(rows))


def with_strata(test: UnboundTest, table: Table) -> tuple[Table, tuple[int, ...]]:
    """Return the table to prepare, and the positions of the columns that join each conditioning set.

    Strata become one column of labels, or indicators of all strata but the first if the test does not accept labels.
    There are no such columns without strata, or if the test exchanges rows only within them. Raises `UnsupportedError`
    for a test that knows the network, and `DataError` if no two rows share a stratum.
    """
    if table.design is None or table.design.within is None:
        return table, ()
    if "network" in test.parameters():
        raise UnsupportedError(f"{test.card.id} asks a known network, not rows. Remove within, or choose another test.")
    codes = np.unique(table.design.within, return_inverse=True)[1]
    n_strata = int(codes.max()) + 1
    if n_strata == len(codes) > 1:
        raise DataError(f"{test.card.id}: each row has a value of within of its own. Name a column with fewer.")
    if n_strata == 1 or test.exchanges_within_strata:
        return table, ()
    name = "within"
    while any(name == known[: len(name)] for known in table.names):
        name += "_"
    labels = Column(name, CATEGORICAL, codes.astype(np.int32), tuple(map(str, range(n_strata))))
    columns = [labels]
    if test.supports(labels) is not None:
        columns = [Column(f"{name}{k}", BOOLEAN, codes == k) for k in range(1, n_strata)]
    whole = table
    for column in columns:
        whole = whole.with_column(column)
    return whole, tuple(range(len(table), len(whole)))
