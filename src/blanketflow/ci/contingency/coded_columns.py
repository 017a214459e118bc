"""The columns of a table as lists of rows per level, coded when first needed, for the contingency kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np

from ...core.mapped_file import MappedFile

#: Columns with more levels have no bit sets, which would need too much memory.
MOST_BIT_SETS = 64
#: Returns the codes 0 .. r - 1 of the column at a position, and r.
Code = Callable[[int], tuple[np.ndarray, int]]


class CodedColumns:
    """Coded columns, in the layout described in kernels/strata.py; in a file if those of the table are in one."""

    def __init__(self, n_rows: int, n_columns: int, code: Code, in_file: bool = False) -> None:
        from ...kernels.strata import list_levels, stratify  # numba takes half a second to import: only if needed

        self._list_levels, self._stratify = list_levels, stratify
        self._code = code
        self._coded: set[int] = set()
        self._n_listed = self._n_lists = self._n_bits = 0
        self.n_rows = n_rows
        self._file = None
        if in_file:  # arrays of the largest length, of which only what is written takes room
            words = (n_rows + 63) // 64
            longest, most_bits = n_columns * n_rows, n_columns * (MOST_BIT_SETS - 1)
            self._file = MappedFile(4 * longest + 8 * most_bits * words + 128)
            self.rows = self._file.empty(longest, np.int32)
            self.level_bits = self._file.empty(most_bits * words, np.uint64).reshape(most_bits, words)
        else:
            self.rows = np.empty(n_rows, dtype=np.int32)
            self.level_bits = np.zeros((64, (n_rows + 63) // 64), dtype=np.uint64)
        self.level_start = np.zeros(65, dtype=np.int64)
        self.first_bits = np.full(n_columns, -1, dtype=np.int64)
        self.first_level = np.zeros(n_columns, dtype=np.int64)
        self.n_levels = np.zeros(n_columns, dtype=np.int64)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The kernels' arrays: rows, start of each level, first level and number of levels per column, bit sets."""
        return self.rows, self.level_start, self.first_level, self.n_levels, self.level_bits, self.first_bits

    def ensure(self, positions: Iterable[int]) -> None:
        """Code the columns at these positions, unless they are coded already."""
        if not self._coded.issuperset(positions):
            for position in positions:
                if position not in self._coded:
                    self._add(position, *self._code(position))

    def stratify(self, positions: Sequence[int], target: int = -1) -> tuple[np.ndarray, int, float]:
        """Return each row's stratum by some columns, the number of strata, and the number of combinations of levels.

        With a target, return its cells in the strata instead; see `kernels.strata.stratify`.
        """
        self.ensure(positions if target < 0 else (*positions, target))
        columns = np.array(positions, dtype=np.int32)
        return self._stratify(
            columns, target, self.rows, self.level_start, self.first_level, self.n_levels, self.n_rows
        )

    def codes(self, position: int) -> np.ndarray:
        """Return a column's codes, int64 of shape (n,); the most frequent level is 0."""
        return self.stratify((position,))[0].astype(np.int64)

    def _add(self, position: int, codes: np.ndarray, n_levels: int) -> None:
        lists = slice(self._n_lists, self._n_lists + n_levels - 1)
        self.rows = _with_room(self.rows, self._n_listed + self.n_rows)
        self.level_start = _with_room(self.level_start, lists.stop + 1)
        bits = slice(self._n_bits, self._n_bits + (n_levels - 1 if n_levels <= MOST_BIT_SETS else 0))
        self.level_bits = _with_room(self.level_bits, bits.stop)
        stops = self.level_start[lists.start + 1 : lists.stop + 1]
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        if self._file:
            self._file.claim(self.rows[self._n_listed : self._n_listed + self.n_rows])
            self._file.claim(self.level_bits[bits])
        self._list_levels(codes, n_levels, self.rows[self._n_listed :], stops, self.level_bits[bits])
        stops += self._n_listed
        self.first_level[position], self.n_levels[position] = lists.start, n_levels
        if n_levels <= MOST_BIT_SETS:
            self.first_bits[position], self._n_bits = bits.start, bits.stop
        self._n_listed, self._n_lists = int(self.level_start[lists.stop]), lists.stop
        self._coded.add(position)


class JointColumns(CodedColumns):
    """One coded column per set of columns, whose levels are the combinations that occur. All sets are coded at once.

    `sets` holds positions in `columns`.
    """

    def __init__(self, columns: CodedColumns, sets: Sequence[tuple[int, ...]]) -> None:
        from ...kernels.joint_columns import join_columns

        # A closure over self would be a cycle: searches that test millions of sets would wait for its collection.
        super().__init__(columns.n_rows, len(sets), _nothing_to_code)
        members = np.fromiter(chain.from_iterable(sets), dtype=np.int32)
        set_start = np.zeros(len(sets) + 1, dtype=np.int64)
        np.cumsum([len(one) for one in sets], out=set_start[1:])
        columns.ensure(np.unique(members).tolist())
        self.rows, self.level_start, self.first_level, self.n_levels = join_columns(
            members, set_start, columns.rows, columns.level_start, columns.first_level, columns.n_levels, self.n_rows
        )
        self._coded.update(range(len(sets)))


def _nothing_to_code(position: int) -> tuple[np.ndarray, int]:
    raise IndexError(f"there is no set at {position}: all sets are coded")


def _with_room(array: np.ndarray, length: int) -> np.ndarray:
    """Return an array of at least some length: the same one, or one that took its place, padded with zeros.

    It grows by an eighth, in place where the system can: a copy of all columns would take their memory once more.
    """
    if length > len(array):
        array.resize((max(length, len(array) + len(array) // 8), *array.shape[1:]), refcheck=False)
    return array
