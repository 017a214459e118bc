"""Rules by which ``auto`` chooses a CI test: the fastest that is calibrated for a table's columns and rows.

The choice depends on the kinds of the columns, their levels, the target's classes and the rows of the smallest fold,
never on a p-value. The reason says where the measured error rates (``rates``) show the test to be invalid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..core.cards import BOOLEAN, CATEGORICAL, INTEGER
from ..core.column import MatrixColumns, SparseColumns, TargetColumn, WideColumns
from ..core.column_checks import bends_seen, has_flags, is_flag
from ..core.table import FEW_VALUES, Column, Table
from ..targets import get_target_kind, size_of
from . import get_ci_test
from .base import CITest
from .rates import families_of, invalid_in, of_test
from .unbound import AUTO, INSTEAD

__all__ = [
    "AUTO",
    "INSTEAD",
    "OF_FOLD",
    "OF_FURTHER_KINDS",
    "Choice",
    "Description",
    "choose_test",
    "described",
    "range_as_levels",
    "takes_fisher_z",
    "usual_levels",
    "why_no_spline",
]

#: Tests of targets of further kinds, such as survival, by regressions that suit them.
OF_FURTHER_KINDS = ("lr-mixed", "spline", "gcm")
#: Number of given features for which a test should still be possible, the largest of the subset searches.
GIVEN = 3
TESTS_GIVEN, REGRESSIONS = f"tests given {GIVEN} features", "regressions"
#: Name of the rows in the reason, unless the search is on all rows.
OF_FOLD = " of the smallest fold"
#: Rows that g2 needs per cell, and lr-mixed per parameter (their defaults).
ROWS_PER_CELL, ROWS_PER_PARAMETER = 5, 10
#: Options of g2 if `auto` chooses it.
CORRECTED_G2 = {"small_counts": "corrected"}
NOT_PERMUTED = ", and rows with weights cannot be permuted"
#: Most cells for which splines are fast enough, times (classes - 1) and (usual labels - 1).
MOST_CELLS = 100_000
#: Fewest rows with splines, and what they are to follow, whether it is seen in a table or not.
FEWEST_ROWS, OF_SPLINES = 80, ("linear", "bends", "noise", "functions")
#: Seconds per permutation test, fixed and per row, and the most seconds for all features.
PERMUTATION, PERMUTATION_ROW, MOST_SECONDS = 1e-4, 7e-7, 60.0


class Described(Protocol):
    """Properties of a table on which the choice depends, besides the number of rows.

    `n_classes` is None for regression, and `max_levels` None without a categorical feature. `usual_levels` is the upper
    quartile of the features' numbers of levels, if all have levels: categories, truth values, and whole numbers in a
    range of at most `FEW_VALUES`; otherwise None. `usual_labels` is the same of categories and truth values, at least
    2; numbers count as 2, since they take one parameter too. `has_flags` means that two columns have two values each,
    whatever their type: two features, or one and a target of two classes. `bends` names the nonlinear relations found
    by `bends_seen`. `target_kind` is that of a target of a further kind, such as survival, else empty; `size_per_row`
    is then how many events a row tells on average, or 1 where rows count.
    """

    @property
    def kinds(self) -> Sequence[str]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_classes(self) -> int | None: ...
    @property
    def max_levels(self) -> int | None: ...
    @property
    def usual_levels(self) -> int | None: ...
    @property
    def usual_labels(self) -> int: ...
    @property
    def has_flags(self) -> bool: ...
    @property
    def bends(self) -> str: ...
    @property
    def target_kind(self) -> str: ...
    @property
    def size_per_row(self) -> float: ...


@dataclass(frozen=True)
class Description:
    """Properties of a table in memory: `Described`."""

    kinds: Sequence[str]
    n_features: int
    n_classes: int | None
    max_levels: int | None
    usual_levels: int | None
    usual_labels: int
    has_flags: bool = False
    bends: str = ""
    target_kind: str = ""
    size_per_row: float = 1.0


@dataclass(frozen=True)
class Choice:
    """A chosen CI test: its id, its options and the reason in words.

    >>> Choice("mi-permutation", "there are few rows", {"asymptotic_from": 5}).test_id
    'mi-permutation-5'
    """

    test: str
    reason: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def configured(self) -> CITest:
        """Return the configured test."""
        return get_ci_test(self.test, **self.options)

    @property
    def test_id(self) -> str:
        """An id made of test and options, for paths."""
        return "-".join([self.test, *map(str, self.options.values())])


def choose_test(
    table: Described,
    n_rows: int,
    of: str = "",
    are_weighted: bool = False,
    has_design: bool = False,
    no_spline: str = "",
) -> Choice:
    """Return the CI test for the features and target described by `table`, and `n_rows` of the smallest fold.

    `of` names those rows in the reason; default `OF_FOLD`. Weighted rows cannot be permuted, and permutations ignore a
    design. `no_spline` is the reason against ``spline``, from `why_no_spline`.

    >>> from blanketflow.workflow.peek import peek
    >>> digits, wine = (peek(name, {"source": f"sklearn:{name}"}) for name in ("digits", "wine"))
    >>> choose_test(digits, 1797).test_id, choose_test(wine, 178).test_id
    ('lr-mixed-linear', 'spline')
    """
    if table.target_kind:
        return _of_further_kind(table, n_rows, no_spline or ("spline knows no groups or weights" if has_design else ""))
    choice = _by_rules(table, n_rows, of, are_weighted, has_design, no_spline)
    wrong = invalid_in(of_test(choice.configured()), families_claimed(choice, table), n_rows)
    return replace(choice, reason=f"{choice.reason}. I{wrong[1:]}") if wrong else choice


def families_claimed(choice: Choice, table: Described) -> list[str]:
    """Return the families of relations for which `auto` takes a test: those seen, and what splines are to follow.

    Tests of tables of counts are for levels, also if numbers with few values are binned.
    """
    if choice.test in ("g2", "mi-permutation"):
        return ["levels"]
    seen = families_of(table.kinds, table.bends, table.has_flags)
    return list(dict.fromkeys([*seen, *(OF_SPLINES if choice.test == "spline" else ())]))


def _by_rules(table: Described, n_rows: int, of: str, are_weighted: bool, has_design: bool, no_spline: str) -> Choice:
    n_classes, has_cells = table.n_classes, table.usual_levels is not None and table.n_classes is not None
    are_labels = has_cells and ({CATEGORICAL, BOOLEAN}.issuperset(table.kinds) or table.usual_levels == 2)
    of_cells, of_regressions = _rows_of_cells(table, GIVEN), _rows_of_regressions(table)
    rows = f"{n_rows:,} rows{of}"
    if has_cells and n_rows >= of_cells:
        # g2 finds relations of any form, in 15 us per test. With five rows per cell it is calibrated if small expected
        # counts are corrected; with chi-square everywhere it rejects up to 15 % at 0.05.
        return Choice("g2", f"all columns have levels, and {_enough(rows, of_cells, TESTS_GIVEN)}", CORRECTED_G2)
    open_question = ""
    if not are_labels:
        # Splines take 0.2 to 5 ms per test, with nearly the power of linear tests for linear relations. Given two
        # columns with the same nonlinear relation, linear tests reject up to all true nulls, which cannot be detected
        # with few rows.
        is_small = n_rows * table.n_features * ((n_classes or 2) - 1) * (table.usual_labels - 1) <= MOST_CELLS
        if is_small and n_rows >= max(FEWEST_ROWS, of_regressions) and not (has_design or no_spline):
            seen = f"relations bend: {table.bends}" if table.bends else "relations of numbers may bend"
            return Choice("spline", f"{seen}, and the table is small enough for splines")
        if table.bends:
            slow = no_spline or "spline follows them, but is slow here"
            why = "no test for groups or weights follows them" if has_design else slow
            open_question = f". It takes relations as linear, but some bend ({table.bends}); {why}"
    if not are_labels and takes_fisher_z(table):
        # One parameter per given feature, 20 us, and calibrated from 50 rows on, also for two classes. Bins do not
        # condition on a number fully: given one, g2 rejects 15 % instead of 5 % of true nulls at 1,000 rows, with two
        # bins 89 %.
        target = "a number" if n_classes is None else "one of two classes"
        return Choice("fisher-z", f"the features are numbers and the target is {target}{open_question}")
    if not are_labels and n_rows >= of_regressions:
        # Mixed columns. The linear regression of a number on labels is exact with few rows and takes 0.3 ms; logistic
        # regressions are only for pairs of labels, and need ten rows per parameter.
        what = "some features have labels" if (table.max_levels or 0) > 2 else "some columns have two values"
        what = f"the target has {n_classes} classes" if (n_classes or 0) > 2 else what
        why = f"{what}, and {_enough(rows, of_regressions, REGRESSIONS)}{open_question}"
        return Choice("lr-mixed", why, {"directions": "linear"})
    seconds = table.n_features * (PERMUTATION + PERMUTATION_ROW * n_rows)
    if are_labels and seconds > MOST_SECONDS and n_rows >= _rows_of_cells(table, 1):
        long = f"permutations of {table.n_features:,} features would take long"
        return Choice("g2", f"all columns have levels, and {long}", CORRECTED_G2)
    # Exact for any sample size, and as fast as g2 with five rows per cell. With numbers it is used for few rows only,
    # where bins are less harmful: 7 % instead of 5 % at 50 rows (8 to 11 % with fewer bins).
    what, needed = (TESTS_GIVEN, of_cells) if are_labels else (REGRESSIONS, of_regressions)
    why = f"{rows} are too few for {what} ({needed:,} are needed)"
    if are_weighted or has_design:
        why += ", and permutations take rows as equal and independent" if has_design else NOT_PERMUTED
        return Choice("g2", why, CORRECTED_G2) if are_labels else Choice("lr-mixed", why, {"directions": "linear"})
    return Choice("mi-permutation", why, {"asymptotic_from": ROWS_PER_CELL})


def _of_further_kind(table: Described, n_rows: int, no_spline: str) -> Choice:
    """Return the test of a target of a further kind: splines for a small table, else linear regressions."""
    target, is_few = f"the target is {table.target_kind}", n_rows * table.size_per_row < FEWEST_ROWS
    if n_rows * table.n_features <= MOST_CELLS and not is_few and not no_spline:
        return Choice("spline", f"{target}, and the table is small enough for splines")
    few = f"there are few {'rows' if table.size_per_row == 1.0 else get_target_kind(table.target_kind).counted}"
    why = no_spline or (few if is_few else "splines would take long")
    return Choice("lr-mixed", f"{target}, and its regressions are linear: {why}", {"directions": "linear"})


def why_no_spline(tests_sets: bool, min_effect: float | None) -> str:
    """Return the reason why ``spline`` does not suit a search; empty if it does.

    >>> why_no_spline(False, None), why_no_spline(True, None)
    ('', 'spline tests no sets of columns')
    """
    if tests_sets:
        return "spline tests no sets of columns"
    return "spline knows no size of an effect, which min_effect is compared with" if min_effect else ""


def takes_fisher_z(table: Described) -> bool:
    """Return whether all features and the target are numbers, with at most one column of two values.

    Two flags are not linearly related. If they depend on a number, fisher-z rejects 11 % to 50 % of true nulls at 0.05
    given it, the most for rare flags.
    """
    has_few = CATEGORICAL not in table.kinds or (table.max_levels is not None and table.max_levels <= 2)
    return has_few and (table.n_classes or 0) <= 2 and not table.has_flags


def _rows_of_cells(table: Described, n_given: int) -> int:
    """Return how many rows g2 needs to test most features given others."""
    return ROWS_PER_CELL * (table.n_classes or 1) * (table.usual_levels or 1) ** (1 + n_given)


def _rows_of_regressions(table: Described) -> int:
    """Return the rows lr-mixed needs, by level or logistic parameter, for most tests of the target given `GIVEN`
    features.
    """
    n_classes, per_feature = table.n_classes or 1, table.usual_labels - 1
    needed = max(n_classes, table.usual_labels)
    if (table.max_levels or 0) > 2 or (table.has_flags and n_classes == 2):
        needed = max(needed, (n_classes - 1) * (1 + (1 + GIVEN) * per_feature))
        needed = max(needed, per_feature * (2 + per_feature) if per_feature > 1 else 0)
    return ROWS_PER_PARAMETER * needed


def _enough(rows: str, needed: int, asked: str) -> str:
    return f"{rows} are enough for {asked} ({needed:,} are needed)"


def described(features: Table, target: Column | None) -> Description:
    """Return the properties of features and `target_column`; a target of None means each column in turn.

    >>> import numpy as np
    >>> from blanketflow.core.convert import as_table
    >>> features = as_table(np.random.default_rng(0).normal(size=(50, 3)))
    >>> choose_test(described(features, None), 50).test
    'fisher-z'
    """
    some = list(features.one_of_each())
    levels, labels = usual_levels(features)
    most = max((len(column.levels) for column in some if column.kind == CATEGORICAL), default=None)
    if target is not None:
        n_classes = len(target.levels) if target.kind == CATEGORICAL else None
    else:
        n_classes = levels if levels is not None else most
    kinds, flags = sorted({column.kind for column in some}), has_flags(features, 1 if n_classes == 2 else 2)
    kind, seen = target.target_kind if isinstance(target, TargetColumn) else "", bends_seen(features, target)
    size = 1.0 if target is None else size_of(target) / max(target.n_rows, 1)
    return Description(kinds, len(features), n_classes, most, levels, labels, flags, seen, kind, size)


def usual_levels(table: Table) -> tuple[int | None, int]:
    """Return `usual_levels` and `usual_labels` of a table's features, see `Described`.

    >>> import numpy as np
    >>> from blanketflow.core.convert import as_table
    >>> usual_levels(as_table(np.array([[0, 0, 1], [1, 1, 1]]))), usual_levels(as_table(np.array([[0.5], [1.5]])))
    ((2, 2), (None, 2))
    """
    columns = table.columns
    if isinstance(columns, WideColumns):
        found = [*[_levels_held_together(columns)] * len(columns.names), *map(_levels, columns.more)]
    else:
        found = [_levels(column) for column in columns]
    labels = [max(n, 2) if kind != INTEGER and n else 2 for n, kind in found]
    known = [n for n, _ in found if n is not None]
    return (_upper_quartile(known) if len(known) == len(found) else None), _upper_quartile(labels)


def range_as_levels(low: float, high: float) -> int | None:
    """Return the largest number of levels of whole numbers in a range; None if there are too many for levels."""
    return int(high - low) + 1 if high - low < FEW_VALUES else None


def _levels(column: Column) -> tuple[int | None, str]:
    """Return a column's number of levels, or None for numbers, and its kind."""
    if column.kind in (CATEGORICAL, BOOLEAN):
        return max(len(column.levels), 1) if column.kind == CATEGORICAL else 2, column.kind
    if is_flag(column):
        return 2, column.kind
    values = column.cells()
    if column.kind != INTEGER or not len(values) or column.n_missing():
        return None, column.kind
    return range_as_levels(float(values.min()), float(values.max())), column.kind


def _levels_held_together(columns: WideColumns) -> tuple[int | None, str]:
    if columns.kind == BOOLEAN:
        return 2, BOOLEAN
    values = columns.matrix if isinstance(columns, MatrixColumns) else columns.values
    if columns.kind != INTEGER or not values.size:
        return None, columns.kind
    low, high = float(values.min()), float(values.max())
    if isinstance(columns, SparseColumns):
        low, high = min(low, 0.0), max(high, 0.0)
    return range_as_levels(low, high), columns.kind


def _upper_quartile(levels: Sequence[int]) -> int:
    """Return the smallest number that at least three in four do not exceed."""
    return sorted(levels)[math.ceil(0.75 * len(levels)) - 1] if levels else 2
