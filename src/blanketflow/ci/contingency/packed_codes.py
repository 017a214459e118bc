"""Contingency tests on packed codes of 1 to 16 bits per cell, as for mapped files, or on tables counted elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from ...core.errors import UnsupportedError
from ...core.mapped_file import MappedFile
from ...core.results import CIResults
from ..engines import Candidate, Chance
from .binning import Coder
from .contingency import ContingencyEngine

if TYPE_CHECKING:
    from ...core.table import Table
    from .contingency import ContingencyTest
from typing import TYPE_CHECKING, Any

from ...core.results import CIResult
from ..engines import Counts, columns_of

if TYPE_CHECKING:
    from .contingency import ContingencyTest


#: Most cells of one table (8 bytes each), and most cells with alternating counters, which are faster.
MOST_CELLS, TURNS_UP_TO = 2**25, 2**18
#: Most codes of a column.
MOST_CODES = 2**16


class PackedCodes:
    """Packed columns by position, in the layout of kernels/packed_codes.py; memory-mapped on request.

    >>> held = PackedCodes(3, 2)
    >>> held.add((0, 2), (1, 3))
    >>> held.put(0, 0, np.array([0, 1, 1])), held.put(1, 0, np.array([2, 0, 2]))
    (None, None)
    >>> held.count([(0,)], (1,))[0].tolist()
    [[0, 0, 1], [1, 0, 1]]
    """

    def __init__(self, n_rows: int, n_columns: int, in_file: bool = False) -> None:
        from ...kernels import packed_codes  # numba takes half a second to import: only if needed

        self._kernels, self.n_rows, self._used = packed_codes, n_rows, 0
        self._n_blocks = -(-n_rows // packed_codes.BLOCK)
        longest = 2 * n_columns * self._n_blocks * packed_codes.BLOCK
        self._file = MappedFile(longest) if in_file else None
        self._packed = self._file.empty(longest, np.uint8) if self._file else np.zeros(0, dtype=np.uint8)
        self._starts, self._bits = np.full(n_columns, -1, dtype=np.int64), np.zeros(n_columns, dtype=np.int64)
        self.n_levels = np.zeros(n_columns, dtype=np.int64)

    @staticmethod
    def n_bytes(n_rows: int, n_levels: Iterable[int]) -> int:
        """Return the size of the columns' codes in bytes, without the padding of the last block."""
        return sum(_bits(one) * n_rows // 8 for one in n_levels)

    def add(self, *columns: tuple[int, int]) -> None:
        """Allocate codes for pairs of position and number of codes; raises `UnsupportedError` for more than 65,536."""
        before = self._used
        for column, n_levels in columns:
            if n_levels > MOST_CODES:
                raise UnsupportedError(
                    f"a column has {n_levels:,} levels, and {MOST_CODES:,} can be packed. Drop it, or use fewer bins."
                )
            bits = _bits(n_levels)
            self.n_levels[column], self._bits[column], self._starts[column] = n_levels, bits, self._used
            self._used += self._n_blocks * self._kernels.BLOCK * bits // 8
        if self._file:
            self._file.claim(self._packed[before : self._used])
        else:
            self._packed.resize(self._used, refcheck=False)  # in place where the system can; new bytes are zeros

    def put(self, column: int, first_row: int, codes: np.ndarray) -> None:
        """Pack the codes of rows from `first_row` on, a multiple of the block size; each block once."""
        size, bits = self._kernels.BLOCK, int(self._bits[column])
        n_bytes, codes = size * bits // 8, codes.astype(np.uint16)
        at = int(self._starts[column]) + first_row // size * n_bytes
        for start in range(0, len(codes), size):
            self._kernels.pack_block(codes[start : start + size], bits, self._packed[at : at + n_bytes])
            at += n_bytes

    def codes_of(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return the codes of some rows, an array for each column.

        >>> held = PackedCodes(3, 1)
        >>> held.add((0, 3))
        >>> held.put(0, 0, np.array([2, 0, 1])), held.codes_of(np.array([0, 2]))
        (None, [array([2, 1])])
        """
        block, at = np.divmod(rows, self._kernels.BLOCK)
        found = []
        for start, bits in zip(self._starts.tolist(), self._bits.tolist(), strict=True):
            n_bytes, turn_bytes = self._kernels.BLOCK * bits // 8, self._kernels.BLOCK * min(bits, 8) // 8
            turn, byte = np.divmod(at, turn_bytes)
            first = self._packed[start + block * n_bytes + byte].astype(np.int64)
            upper = self._packed[start + block * n_bytes + turn_bytes + byte] if bits == 16 else 0
            found.append((first >> turn * bits) & (2 ** min(bits, 8) - 1) | np.int64(upper) << 8)
        return found

    def count(self, sets: Sequence[tuple[int, ...]], others: tuple[int, ...]) -> list[np.ndarray | None]:
        """Return the tables of sets of columns with some others, one axis per column; None for too many cells."""
        shapes = [tuple(self.n_levels[[*members, *others]].tolist()) for members in sets]
        found: list[np.ndarray | None] = [None] * len(sets)
        for asked in _passes([math.prod(shape) for shape in shapes]):
            ends = [*accumulate((math.prod(shapes[at]) for at in asked), initial=0)]
            counts = self._pass([sets[at] for at in asked], others, ends)
            for at, start, stop in zip(asked, ends, ends[1:], strict=False):
                found[at] = counts[start:stop].reshape(shapes[at])
        return found

    def _pass(self, sets: Sequence[tuple[int, ...]], others: tuple[int, ...], ends: Sequence[int]) -> np.ndarray:
        members = np.array([column for one in sets for column in one], dtype=np.int32)
        set_start = np.array([*accumulate(map(len, sets), initial=0)], dtype=np.int64)
        counts = np.zeros((4 if ends[-1] <= TURNS_UP_TO else 1, ends[-1]), dtype=np.int64)
        self._kernels.count_tables(
            self._packed, self._starts, self._bits, self.n_levels, 0, self.n_rows, np.array(others, dtype=np.int32),
            members, set_start, np.array(ends, dtype=np.int64), counts,
        )  # fmt: skip
        return counts.sum(axis=0)


def _bits(n_levels: int) -> int:
    return next(width for width in (1, 2, 4, 8, 16) if n_levels <= 2**width)


def _passes(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Yield which tables are counted together: as many as fit the alternating counters, or one large one."""
    held: list[int] = []
    for at, size in enumerate(sizes):
        if size > MOST_CELLS:
            continue
        if held and sum(sizes[one] for one in held) + size > TURNS_UP_TO:
            yield held
            held = []
        held.append(at)
    if held:
        yield held


class PackedTables:
    """Tables by column names, counted from packed codes; `cross_products` is None."""

    cross_products = None

    def __init__(self, names: Iterable[str], packed: PackedCodes) -> None:
        self.n_rows, self._packed = packed.n_rows, packed
        self._place = {name: at for at, name in enumerate(names)}

    def counted_each(self, sets: Sequence[Columns]) -> list[np.ndarray | None]:
        """Return tables with axes as queried, same last columns counted together; None for more than 2^25 cells."""
        if not sets:
            return []
        placed, shared = [tuple(self._place[name] for name in one) for one in sets], 0
        while shared + 1 < min(map(len, placed)) and len({one[-shared - 1] for one in placed}) == 1:
            shared += 1
        members = [one[: len(one) - shared] for one in placed]
        return self._packed.count(members, placed[0][len(placed[0]) - shared :])

    def in_order(self, names: Iterable[str]) -> Columns:
        """Return distinct columns in the order of the table."""
        return tuple(sorted(set(names), key=self._place.__getitem__))


class PackedTable(PackedTables):
    """The codes of a table's columns, packed in a memory-mapped file on first use."""

    def __init__(self, coder: Coder) -> None:
        names = coder.table.names
        super().__init__(names, PackedCodes(coder.table.n_rows, len(names), in_file=True))
        self._code: Callable[[int], tuple[np.ndarray, int]] = coder.codes

    def n_levels(self, column: int) -> int:
        """Return the number of occurring levels of a column, by position."""
        if not self._packed.n_levels[column]:
            codes, n_levels = self._code(column)
            if n_levels > MOST_CODES:
                return n_levels
            self._packed.add((column, n_levels))
            self._packed.put(column, 0, codes)
        return int(self._packed.n_levels[column])

    def counted_each(self, sets: Sequence[Columns]) -> list[np.ndarray | None]:
        """Return the tables of columns; None for all if a column has too many levels, or for one of too many cells."""
        if any(self.n_levels(self._place[name]) > MOST_CODES for name in {name for one in sets for name in one}):
            return [None] * len(sets)
        return super().counted_each(sets)


#: The columns of a table, by name.
Columns = tuple[str, ...]


def prepared(test: ContingencyTest, table: Any) -> CountedEngine:
    """Return the engine for a table without rows, from its sufficient statistics."""
    return CountedEngine(test, table.names, table.statistics)


class CountedEngine(ContingencyEngine):
    """Computes results from `SufficientStatistics`, or from tables counted on demand.

    A test whose table was refused (a cell is too small, or there are too many cells) is unreliable with p = 1; its
    columns are recorded in `refused`.
    """

    def __init__(self, test: ContingencyTest, names: Sequence[str], statistics: Counts) -> None:
        from ...kernels import counted_tables

        self._table_test, self._sum_of_terms = counted_tables.table_test, counted_tables.sum_of_terms
        self._names, self._statistics = names, statistics
        if statistics.cross_products is not None:
            raise UnsupportedError(
                f"{test.card.id} needs tables of counts, and cross products were added up. Set tables to relevance, "
                "pairs or triples in the agreement, or ci_test to fisher-z."
            )
        self.refused: set[tuple[str, ...]] = set()
        self._set_rules(test, statistics.n_rows)

    def evaluate_one(self, candidate: int, target: int, given: tuple[int, ...]) -> CIResult:
        """Test one candidate."""
        return self.evaluate([candidate], target, given)[0]

    def _tests(self, candidates: Sequence[Candidate], target: int, given: tuple[int, ...]) -> CIResults:
        results = self._empty_results(len(candidates))
        tables = self._tables(map(columns_of, candidates), (*given, target))
        most_levels = max((len(table) for table in tables if table is not None), default=1)
        n_combinations = self.n_cells(given)
        for i, table in enumerate(tables):
            if table is None:
                found = 0.0, 0.0, False, 0.0, 1.0
            else:
                n_y = table.shape[-1]
                cells = np.ascontiguousarray(table.reshape(len(table), -1))
                found = self._table_test(cells, n_y, self.n_rows, most_levels, n_combinations, *self._rules)
            arrays = results.statistic, results.dof, results.reliable, results.log_p, results.p_value
            for array, value in zip(arrays, found, strict=True):
                array[i] = value
        return results

    def _test_many_marginally(self, candidates: np.ndarray, target: int) -> CIResults:
        # A refused column counts as constant: no test of it is reliable.
        n_levels = np.array([self.n_levels(c) for c in (*candidates.tolist(), target)])
        n_levels[np.isinf(n_levels)] = 1.0
        n_x, n_y = n_levels[:-1], n_levels[-1]
        found = self._tests(candidates.tolist(), target, ())
        judged = self._judged(found.statistic, (n_x - 1.0) * (n_y - 1.0), self.test.min_samples_per_cell * n_x * n_y)
        judged.reliable &= found.reliable
        judged.p_value[:], judged.log_p[:] = found.p_value, found.log_p
        return judged

    def _g2(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        return self._tests(candidates.tolist(), target, given).statistic

    def information_and_chance(
        self, candidates: np.ndarray, target: int, given: tuple[int, ...]
    ) -> tuple[np.ndarray, Chance]:
        """Return `information` and `chance`."""
        return self.information(candidates, target, given), self.chance(candidates, target, given)

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return the `information` expected of independent columns; 0 if the table was refused."""
        tables = self._tables([(candidate,) for candidate in candidates.tolist()], (*given, target))
        return Chance.joined([Chance.none(1) if table is None else self._chance_in(table) for table in tables])

    def _chance_in(self, table: np.ndarray) -> Chance:
        """Return `chance` from the table of X, Z and Y."""
        cells = table.reshape(len(table), -1, table.shape[-1])
        by_stratum = cells.sum(axis=2).T, cells.sum(axis=0)
        of_x, of_y = ((c[c > 0], np.cumsum([0, *np.count_nonzero(c, axis=1)])) for c in by_stratum)
        return self._chance_of(of_x, of_y)

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return H(X, Z) of each candidate in nats; 0 if the table was refused."""
        tables = self._tables([(candidate,) for candidate in candidates.tolist()], given)
        terms = [None if table is None else self._sum_of_terms(table.ravel(), *self.fixed_point) for table in tables]
        of_all = self.n_rows * np.log(self.n_rows) * self.scale
        sums = np.array([of_all if one is None else one for one in terms], dtype=np.float64)
        return np.log(self.n_rows) - sums / self.scale / self.n_rows

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set as one variable, whose levels are the occurring combinations."""
        return self._tests(candidates, target, given)

    def n_levels(self, column: int) -> float:
        """Return the number of occurring levels of a column; infinity if its table was refused, so that no test is
        reliable.
        """
        if column not in self._levels:
            table = self._tables([(column,)], ())[0]
            self._levels[column] = math.inf if table is None else float(len(table))
        return self._levels[column]

    def _tables(self, sets: Iterable[tuple[int, ...]], others: tuple[int, ...]) -> list[np.ndarray | None]:
        """Return the tables of sets of columns with some others, restricted to occurring levels; None if refused.

        The levels of a set are joint. Raises `TablesNotCounted` with all that are missing.
        """
        asked, found = [(members, tuple(self._names[at] for at in (*members, *others))) for members in sets], []
        for (members, names), table in zip(
            asked, self._statistics.counted_each([names for _, names in asked]), strict=True
        ):
            if table is None:
                self.refused.add(self._statistics.in_order(names))
            else:
                table = table.reshape(-1, *table.shape[len(members) :])
                for axis in range(table.ndim):
                    occurs = table.sum(axis=tuple(at for at in range(table.ndim) if at != axis)) > 0
                    table = table if occurs.all() else table.compress(occurs, axis=axis)
            found.append(table)
        return found


class PackedTableEngine(CountedEngine):
    """Computes results from packed codes, and for tables of more than 2^25 cells from the lists of rows."""

    def __init__(self, test: ContingencyTest, table: Table, target: int | None) -> None:
        self._rows_of = test, table, target
        self._packed_table = PackedTable(Coder(table, test.bins, test.binning, target))
        super().__init__(test, table.names, self._packed_table)

    @cached_property
    def _on_rows(self) -> ContingencyEngine:
        return ContingencyEngine(*self._rows_of)

    def n_levels(self, column: int) -> float:
        """Return the number of occurring levels of a column."""
        return float(self._packed_table.n_levels(column))

    def _tests(self, candidates: Sequence[Candidate], target: int, given: tuple[int, ...]) -> CIResults:
        found = super()._tests(candidates, target, given)
        if not self._refused_one():
            return found
        sets = [one for one in candidates if isinstance(one, tuple)]
        return (
            self._on_rows.evaluate_sets(sets, target, given)
            if sets
            else self._on_rows._tests([int(one) for one in candidates], target, given)
        )

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return the `information` expected of independent columns."""
        found = super().chance(candidates, target, given)
        return self._on_rows.chance(candidates, target, given) if self._refused_one() else found

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return H(X, Z) of each candidate in nats."""
        found = super().entropy(candidates, given)
        return self._on_rows.entropy(candidates, given) if self._refused_one() else found

    def _refused_one(self) -> bool:
        """Return whether a table was refused since the last call."""
        refused, self.refused = bool(self.refused), set()
        return refused
