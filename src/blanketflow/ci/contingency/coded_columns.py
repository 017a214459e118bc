"""Level codes of columns for the contingency kernels, coded on first use: lists of rows per level, or bit sets.

Bit sets of all columns serve queries for many. A group becomes one column, whose levels are the occurring combinations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from ...core.cards import BOOLEAN, CATEGORICAL, INTEGER
from ...core.column import MatrixColumns, SparseColumns
from ...core.mapped_file import MappedFile
from ...core.table import FEW_VALUES, Column, Table
from .binning import Coder, borders_by_order, cut_points_of_rows

#: Columns with more levels have no bit sets, to save memory.
MOST_BIT_SETS = 64
#: Returns the codes 0 .. r - 1 of the column at a position, and r.
Code = Callable[[int], tuple[np.ndarray, int]]


class CodedColumns:
    """Coded columns in the layout of kernels/strata.py; memory-mapped if the table is."""

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
        """Code the columns at these positions if they are not coded yet."""
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
    """One coded column per set of columns, with the occurring combinations as levels; `sets` holds positions in
    `columns`.
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
    """Return the array if long enough, else one an eighth longer, in place if possible, to save memory, with zeros."""
    if length > len(array):
        array.resize((max(length, len(array) + len(array) // 8), *array.shape[1:]), refcheck=False)
    return array


def with_joint_levels(table: Table, groups: Mapping[str, Sequence[str]], coder: Coder) -> Table:
    """Return a table with one categorical column per group, in place of its first column.

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
        # Renumbered after each column, to keep the numbers small.
        occurring, joint = np.unique(joint * n_own + codes, return_inverse=True)
        n_levels = len(occurring)
    return Column(name, CATEGORICAL, joint.astype(np.int32), tuple(map(str, range(n_levels))))


#: Columns with more levels are not packed. Tables with more cells are not counted from packed columns.
MOST_LEVELS, MOST_CELLS = 64, 4096
#: Whole numbers are packed without coding where the largest exceeds the least by less.
MOST_NEAR = 32
#: The number of cells coded at once, in a dense matrix and among the stored cells of a sparse one.
CHUNK, HELD = 2**22, 2**20
#: Value in `n_levels` for a column of zeros and ones packed without coding.
BIT = -1


class PackedColumns:
    """Columns in the layout of kernels/packed_columns.py; `n_levels`, (d,), counts their occurring levels.

    Memory is at most twice the size of the bit sets, plus a chunk of the table.
    """

    def __init__(self, coder: Coder) -> None:
        from ...kernels import packed_columns, packed_information

        self._kernels, self._packed_sums = packed_columns, packed_information.packed_sums
        self._coder, self._table = coder, coder.table
        d, self._block = len(self._table), packed_columns.BLOCK
        self.n_levels = np.zeros(d, dtype=np.int64)
        self._first = np.full(d, -1, dtype=np.int64)
        self._n_bit_sets = 0
        self._bits = np.zeros((-(-d // self._block), (self._table.n_rows + 63) // 64, self._block), dtype=np.uint64)
        self._pack()
        self._bits = self._bits[: -(-self._n_bit_sets // self._block)]
        self._n_set = np.empty(len(self._bits) * self._block, dtype=np.int32)
        packed_columns.count_set_bits(self._bits, self._n_set)
        self.all_packed = bool((self._first >= 0).all())
        is_bit = self.n_levels == BIT
        n_ones = self._n_set[self._first[is_bit]]
        self.n_levels[is_bit] = 1 + ((n_ones > 0) & (n_ones < self._table.n_rows))
        self._own_levels = np.maximum(self.n_levels, 2).astype(np.int32)  # a constant column has an empty bit set

    def is_packed(self, columns: np.ndarray) -> np.ndarray:
        """Return which columns are packed, shape (m,)."""
        return self._first[columns] >= 0

    def cells(self, columns: tuple[int, ...]) -> tuple[np.ndarray, int] | None:
        """Return each row's cell in the joint table of some columns, and the number of cells; None if too many."""
        at, cells = np.array(columns, dtype=np.int64), np.zeros(self._table.n_rows, dtype=np.uint32)
        if not (self.all_packed or self.is_packed(at).all()) or math.prod(self._own_levels[at].tolist()) > MOST_CELLS:
            return None
        return cells, self._kernels.cells_of(at, self._bits, self._first, self._own_levels, cells)

    def n_cell_levels(self, column: int) -> int:
        """Return the number of levels of a column in `cells`."""
        return int(self._own_levels[column])

    def level_counts(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the concatenated row counts of the levels of packed columns, and where each column's start."""
        sizes = self._own_levels[columns].astype(np.int64)
        start = np.concatenate([[0], np.cumsum(sizes)])
        of_bit_set = np.repeat(self._first[columns] - start[:-1], sizes) + np.arange(start[-1])
        is_rest = np.zeros(start[-1], dtype=bool)  # the level without a bit set
        is_rest[start[1:] - 1] = True
        counts = np.where(is_rest, 0, self._n_set[np.where(is_rest, 0, of_bit_set)]).astype(np.int64)
        counts[is_rest] = self._table.n_rows - np.add.reduceat(counts, start[:-1])
        return counts, start

    def sums(
        self, candidates: np.ndarray, cells: np.ndarray, n_strata: int, n_y: int, terms: np.ndarray, scale: float,
        is_entropy: bool = False, factorials: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Return the results of `kernels.packed_information.packed_sums`, (m,); the last two are empty without
        `factorials`.
        """
        sums = np.empty(len(candidates))
        n_asked = 0 if factorials is None else len(candidates)
        expected, dofs = np.empty(n_asked, dtype=np.int64), np.empty(n_asked, dtype=np.int64)
        asked = np.ascontiguousarray(candidates, dtype=np.int64)
        self._packed_sums(
            self._bits, self._n_set, self._first, self._own_levels, asked, cells, n_strata, n_y, is_entropy, terms,
            scale, np.empty(0) if factorials is None else factorials, sums, expected, dofs,
        )  # fmt: skip
        return sums, expected, dofs

    def _pack(self) -> None:
        columns, n_in_bulk = self._table.columns, 0
        if isinstance(columns, MatrixColumns):
            n_in_bulk = len(columns.names)
            self._pack_matrix(columns)
        elif isinstance(columns, SparseColumns):
            n_in_bulk = len(columns.names)
            self._pack_sparse(columns)
        self._pack_singly(np.arange(n_in_bulk, len(columns)))

    def _pack_matrix(self, columns: MatrixColumns) -> None:
        coder, width = self._coder, max(1, CHUNK // max(1, self._table.n_rows) // self._block) * self._block
        in_bulk = coder.binning in ("quantile", "uniform") and coder.bins <= MOST_LEVELS
        for start in range(0, len(columns.names), width):
            stop = min(start + width, len(columns.names))
            if columns.kind in (BOOLEAN, INTEGER) and self._pack_bits(columns.matrix, start, stop):
                continue
            if in_bulk:
                self._pack_numbers(columns.matrix[:, start:stop], start, columns.kind == INTEGER)
            else:
                self._pack_singly(np.arange(start, stop))

    def _pack_bits(self, matrix: np.ndarray, start: int, stop: int) -> bool:
        """Pack columns of zeros and ones without coding; return False, and do nothing, if there are other values."""
        columns, k = slice(start, stop), stop - start
        if matrix[:1, columns].max(initial=0) > 1:
            return False
        if not (matrix.dtype.itemsize == 1 and matrix.flags.c_contiguous):
            matrix, start = matrix[:, columns], 0
            if matrix.min() < 0 or matrix.max() > 1:
                return False
            matrix = np.ascontiguousarray(matrix, dtype=np.uint8)
        block = -(-self._n_bit_sets // self._block)
        first = block * self._block
        self._make_room(first + k)
        bits, seen = self._bits[block : block - (-k // self._block)], np.zeros(k, dtype=np.uint8)
        self._kernels.pack_bytes(matrix.view(np.uint8), start, bits, seen)
        if seen.max() > 1:
            bits[:] = 0
            return False
        self.n_levels[columns], self._first[columns] = BIT, np.arange(first, first + k)
        self._n_bit_sets = first + k
        return True

    def _pack_numbers(self, values: np.ndarray, start: int, are_whole: bool) -> None:
        """Pack columns of numbers together, with few calls."""
        left = np.arange(values.shape[1])
        if are_whole:
            left = self._pack_few_values(values, start + left, FEW_VALUES)
            values = values[:, left]
        k, n = values.shape[1], len(values)
        codes, n_levels = np.empty((k, n), dtype=np.uint8), np.zeros(k, dtype=np.int32)
        if are_whole:
            whole = np.array(values.T, dtype=np.int64, order="C")
            self._kernels.rank_integers(whole, FEW_VALUES, codes, n_levels)
        binned = n_levels == 0
        if binned.any():
            numbers = np.ascontiguousarray(values.T[binned], dtype=np.float64)
            borders = cut_points_of_rows(numbers, self._coder.bins, self._coder.binning)
            own_codes, own_levels = np.empty(numbers.shape, dtype=np.uint8), np.empty(len(numbers), dtype=np.int32)
            self._kernels.code_by_borders(numbers, borders, own_codes, own_levels)
            codes[binned], n_levels[binned] = own_codes, own_levels
        self._add(start + left, codes, n_levels)

    def _pack_few_values(self, values: np.ndarray, columns: np.ndarray, most_levels: int) -> np.ndarray:
        """Pack whole numbers of few values that are near; return the positions of the others in `values`, (n, k)."""
        low = values.min(axis=0)
        spans = (values.max(axis=0).astype(np.int64) - low.astype(np.int64)).view(np.uint64)  # which holds any span
        near = np.flatnonzero(spans < MOST_NEAR)
        some = values if len(near) == len(low) else values[:, near]
        shifted = np.subtract(some, low[near], dtype=np.uint8, casting="unsafe", order="C")  # exact modulo 256
        seen, n_levels, first = np.empty(len(near), np.uint32), np.empty(len(near), np.int32), np.full(len(near), -1)
        self._kernels.pack_values(shifted, seen, n_levels, first[:0], self._bits)
        fits = np.flatnonzero(n_levels <= most_levels)
        first[fits] = self._places(n_levels[fits])
        if len(near):
            self._kernels.pack_values(shifted, seen, n_levels, first, self._bits)
        packed, is_left = columns[near[fits]], np.ones(len(low), dtype=bool)
        self.n_levels[packed], self._first[packed] = n_levels[fits], first[fits]
        is_left[near[fits]] = False
        return np.flatnonzero(is_left)

    def _pack_sparse(self, columns: SparseColumns) -> None:
        from ...kernels.packed_cells import pack_cells

        d, (bins, binning) = len(columns.names), (self._coder.bins, self._coder.binning)
        codes, n_levels = np.empty(len(columns.values), dtype=np.uint8), np.empty(d, dtype=np.int32)
        for start, stop in columns.blocks(HELD):
            cells = slice(columns.starts[start], columns.starts[stop])
            codes[cells], n_levels[start:stop] = code_cells(columns, start, stop, bins, binning, MOST_LEVELS)
        # Memory is allocated once, because the bit sets of many levels may need most of it.
        is_coded, first = n_levels > 0, np.full(d, -1, dtype=np.int64)
        first[is_coded] = self._places(n_levels[is_coded])
        self.n_levels[:d], self._first[:d] = n_levels, first
        pack_cells(columns.starts, columns.rows, codes, first, self._bits)
        self._pack_singly(np.flatnonzero(~is_coded))

    def _pack_singly(self, positions: np.ndarray) -> None:
        """Pack columns that are coded one by one, except those with too many levels."""
        width = max(1, CHUNK // max(1, self._table.n_rows))
        for at in range(0, len(positions), width):
            asked = self._pack_labels(positions[at : at + width])
            if not len(asked):
                continue
            coded = [self._coder.codes(position) for position in asked.tolist()]
            n_levels = np.array([count for _, count in coded], dtype=np.int32)
            self.n_levels[asked] = n_levels
            fits = np.flatnonzero(n_levels <= MOST_LEVELS)
            codes = np.empty((len(fits), self._table.n_rows), dtype=np.uint8)
            for i, fit in enumerate(fits):
                codes[i] = coded[fit][0]
            self._add(asked[fits], codes, n_levels[fits])

    def _pack_labels(self, positions: np.ndarray) -> np.ndarray:
        """Pack the labels of few levels among some columns together; return the positions of the others."""
        columns = [self._table.columns[at] for at in positions.tolist()]
        are_few = np.array([column.kind == CATEGORICAL and len(column.levels) < MOST_NEAR for column in columns])
        codes = np.empty((np.count_nonzero(are_few), self._table.n_rows), dtype=np.int8)
        for line, at in zip(codes, np.flatnonzero(are_few).tolist(), strict=True):
            line[:] = columns[at].values
        if len(codes):
            self._pack_few_values(codes.T, positions[are_few], MOST_NEAR)
        return positions[~are_few]

    def _add(self, positions: np.ndarray, codes: np.ndarray, n_levels: np.ndarray) -> None:
        first = self._places(n_levels)
        self._kernels.pack_codes(codes, n_levels, first, self._bits)
        self.n_levels[positions], self._first[positions] = n_levels, first

    def _places(self, n_levels: np.ndarray) -> np.ndarray:
        """Return where the bit sets of more columns start, and allocate memory for them."""
        first = np.empty(len(n_levels), dtype=np.int64)
        n_bit_sets = self._kernels.place_bit_sets(n_levels, self._n_bit_sets, first)
        self._make_room(n_bit_sets)
        self._n_bit_sets = n_bit_sets
        return first

    def _make_room(self, n_bit_sets: int) -> None:
        blocks = -(-n_bit_sets // self._block)
        if blocks > len(self._bits):
            # Untouched memory costs nothing. The additional block is for a target.
            larger = np.zeros((max(blocks + 1, 2 * len(self._bits)), *self._bits.shape[1:]), dtype=np.uint64)
            used = -(-self._n_bit_sets // self._block)
            larger[:used] = self._bits[:used]
            self._bits = larger


def code_cells(
    columns: SparseColumns, start: int, stop: int, bins: int, binning: str, most_levels: int
) -> tuple[np.ndarray, np.ndarray]:
    """Code the cells of sparse columns like `level_codes` but with zero first; return uint8 codes and level counts.

    The count is 0 for columns that must be coded singly: `binning` needs more than a few order statistics, or `bins`
    exceeds `most_levels`, at most 255.
    """
    from ...kernels import packed_cells

    cells = slice(int(columns.starts[start]), int(columns.starts[stop]))
    starts, values, n_rows = columns.starts[start : stop + 1] - cells.start, columns.values[cells], columns.height
    codes, n_levels = np.zeros(len(values), dtype=np.uint8), np.zeros(stop - start, dtype=np.int32)
    left = np.arange(stop - start)
    if columns.kind in (BOOLEAN, INTEGER):
        packed_cells.code_keys(starts, left, _keys(values), n_rows, FEW_VALUES, codes, n_levels)
        left = np.flatnonzero(n_levels == 0)
    if len(left) and binning in ("quantile", "uniform") and bins <= most_levels:
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        packed_cells.code_keys(starts, left, _keys(numbers), n_rows, bins, codes, n_levels)
        left = left[n_levels[left] == 0]

        def order_statistics(places: np.ndarray) -> np.ndarray:
            found = np.empty((len(left), len(places)))
            packed_cells.order_statistics(starts, left, numbers, n_rows, places, found)
            return found

        if len(left):
            borders = borders_by_order(order_statistics, n_rows, bins, binning)
            packed_cells.code_cells(starts, left, numbers, n_rows, borders, codes, n_levels)
    return codes, n_levels


def _keys(values: np.ndarray) -> np.ndarray:
    """Return integers that are equal for equal values, and 0 for zero."""
    if values.dtype.kind == "f":
        return (values.astype(np.float64, copy=False) + 0.0).view(np.int64)  # the sum turns -0.0 into 0.0
    return values.astype(np.int64, copy=False)
