"""Sets of columns, each coded as one column, for the contingency kernels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from .coded_columns import CodedColumns


class JointColumns(CodedColumns):
    """One coded column for each set, whose levels are the combinations that occur. All are coded at once.

    Parameters
    ----------
    columns : CodedColumns
        The columns that the sets are made of.
    sets : sequence of tuple of int
        Positions in `columns`.
    """

    def __init__(self, columns: CodedColumns, sets: Sequence[tuple[int, ...]]) -> None:
        from ..kernels.joint_columns import join_columns

        super().__init__(columns.n_rows, len(sets), lambda i: (self.codes(i), int(self.n_levels[i])))
        members = np.fromiter(chain.from_iterable(sets), dtype=np.int32)
        set_start = np.zeros(len(sets) + 1, dtype=np.int64)
        np.cumsum([len(one) for one in sets], out=set_start[1:])
        columns.ensure(np.unique(members).tolist())
        self.rows, self.level_start, self.first_level, self.n_levels = join_columns(
            members, set_start, columns.rows, columns.level_start, columns.first_level, columns.n_levels, self.n_rows
        )
        self._coded.update(range(len(sets)))
