"""The columns by which a test conditions on strata, such as sites, beside all that it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL
from ..core.errors import DataError, UnsupportedError
from ..core.table import Column, Table

if TYPE_CHECKING:
    from .base import CITest


def with_strata(test: CITest, table: Table) -> tuple[Table, tuple[int, ...]]:
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
