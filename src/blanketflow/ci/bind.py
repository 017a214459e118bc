"""What a test is bound to: a table that it can answer on, with the rows that count, and with columns of the strata."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL
from ..core.column_checks import warn_of_number_texts
from ..core.convert import SAMPLE_WEIGHTS, as_design, as_table, counted_from_least, labels_as_numbers, weighted_rows
from ..core.errors import DataError, UnsupportedError
from ..core.table import Column, Table, with_used_levels
from .unbound import AUTO, INSTEAD, UnboundTest


def checked_table(
    test: UnboundTest,
    X: Any,
    sample_weight: Any = None,
    groups: Any = None,
    within: Any = None,
    weights_are: str = "counts",
) -> Table:
    """Return the rows that count of a table that a test accepts, with their design; as `CITest.bind` takes and raises.

    Rows that stand for several equal ones are repeated.
    """
    test.check(f"CI test {test.card.id!r}")
    table = counted_from_least(as_table(X))
    warn_of_number_texts(test.card.id, X, table, stacklevel=4)  # of who calls `CITest.bind`
    if sample_weight is not None or groups is not None or within is not None:
        table = _of_rows(test, table, sample_weight, groups, within, weights_are)
    for column in table.one_of_each():
        reason = test.supports(column)
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
    """Return the rows of a table that count, as often as they do, with their design."""
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
    of_rows = {"groups": groups, "within": within}
    numbers = [
        None if one is None else labels_as_numbers(where, what, one, table.n_rows) for what, one in of_rows.items()
    ]
    table = table.with_design(as_design(shares, *numbers))
    return table if rows is None else with_used_levels(table.take(rows))


def with_strata(test: UnboundTest, table: Table) -> tuple[Table, tuple[int, ...]]:
    """Return the table that a test prepares, and the positions of the columns that are in each conditioning set.

    The strata are those of the table's design. They are one column of labels, or one of 0 and 1 for each stratum but
    the first where the test takes no such labels: then a linear test compares within strata. Without strata, or for a
    test that changes rows only within them, there are no such columns.

    Raises
    ------
    UnsupportedError
        If the test knows the truth, and so no rows.
    DataError
        If no two rows are of one stratum.
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
