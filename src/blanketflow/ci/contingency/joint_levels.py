"""One column in place of each group of columns, for tests of levels: its levels are the combinations that occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...core.cards import CATEGORICAL
from ...core.table import Column, Table
from .binning import Coder


def with_joint_levels(table: Table, groups: Mapping[str, Sequence[str]], coder: Coder) -> Table:
    """Return a table with one categorical column for each group, in the place of its first column.

    Examples
    --------
    >>> from blanketflow.core.convert import as_table
    >>> table = as_table(np.array([[0, 0, 5], [0, 1, 6], [1, 0, 7], [0, 1, 8]]))
    >>> joint = with_joint_levels(table, {"site": ("x0", "x1")}, Coder(table, 5, "quantile", None))
    >>> joint.names, joint["site"].values.tolist()
    (['site', 'x2'], [0, 1, 2, 1])
    """
    first = {members[0]: name for name, members in groups.items()}
    others = {column for members in groups.values() for column in members[1:]}
    columns = []
    for name in table.names:
        if name in first:
            columns.append(_joint(table, first[name], groups[first[name]], coder))
        elif name not in others:
            columns.append(table[name])
    return Table(columns, table.design)


def _joint(table: Table, name: str, members: Sequence[str], coder: Coder) -> Column:
    joint, n_levels = np.zeros(table.n_rows, dtype=np.int64), 1
    for member in members:
        codes, n_own = coder.codes(table.position(member))
        # Renumbered after each column, so that the numbers stay small whatever the number of columns.
        occurring, joint = np.unique(joint * n_own + codes, return_inverse=True)
        n_levels = len(occurring)
    return Column(name, CATEGORICAL, joint.astype(np.int32), tuple(map(str, range(n_levels))))
