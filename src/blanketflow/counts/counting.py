"""Counts tables, or sums cross products, in blocks of rows, one of which is in memory at a time."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..ci.contingency.binning import BLOCK, cut_points
from ..ci.contingency.packed_codes import PackedCodes, PackedTables
from ..core.cards import BOOLEAN, CATEGORICAL, CLASSIFICATION, INTEGER, REGRESSION
from ..core.errors import DataError, RowsNeeded
from ..core.table import FEW_VALUES, Column, Table, column_of_codes, used_levels
from ..core.task import MAX_NUMERIC_CLASSES, ROWS_PER_NUMERIC_CLASS, target_column
from ..data.arrow import cell_bytes, columns_from_arrow, is_text, numbers_from_arrow
from ..data.cell_meanings import with_meanings
from ..data.column_roles import check_settings, feature_names, prepare_target, setting
from ..data.formats.loaded import Loaded
from .agreement import CROSS_PRODUCTS, PAIRS, TRIPLES, Agreement, Coding
from .sufficient_statistics import Columns, CrossProducts, SufficientStatistics

#: Most cells of all tables counted at once (8 bytes each), and of one requested table.
MOST_CELLS, MOST_CELLS_OF_ONE = 2**27, 2**24


def count_rows(rows: RowBlocks, agreement: Agreement) -> SufficientStatistics:
    """Count the rows of one site by an agreement in one pass; other columns are not read.

    Tables with a cell of 1 .. min_cell - 1 rows are left out and listed as refused; their margins are included if their
    cells are large enough. Raises `DataError` if a column is missing or of another kind, a cell is missing or of an
    unknown level, or tables have too many cells.
    """
    from threadpoolctl import threadpool_limits

    check_columns(rows, agreement)
    with threadpool_limits(1):  # more threads wait for each other at such sizes, and change the last digits of sums
        return _counted_or_summed(rows, agreement)


def check_columns(rows: RowBlocks, agreement: Agreement) -> None:
    """Raise `DataError` if rows lack a column of the agreement."""
    missing = [name for name in agreement.names if name not in rows.names]
    if missing:
        raise DataError(f"the table lacks columns that were agreed on: {missing[:5]}. Name them as elsewhere.")


def coded_blocks(rows: RowBlocks, agreement: Agreement, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
    """Yield the codes of some columns, block by block; raises `DataError` like `Coding.codes`."""
    codings = {coding.name: coding for coding in agreement.codings}
    for block in rows.blocks(names):
        yield {name: codings[name].codes(_as_agreed(block[name], codings[name])) for name in names}


def _counted_or_summed(rows: RowBlocks, agreement: Agreement) -> SufficientStatistics:
    sets = agreement.column_sets()
    if agreement.tables != CROSS_PRODUCTS:
        counts = dict(_counted(rows, agreement, sets))
        told, refused = _told(counts, agreement.min_cell)
        return SufficientStatistics(agreement, rows.n_rows, told, refused=refused)
    products = _cross_products(rows, agreement)
    refused = _refused_products(rows, agreement) if agreement.min_cell > 1 else []
    place = agreement.places()
    for columns in refused:
        first, last = place[columns[0]], place[columns[-1]]
        products.products[first, last] = products.products[last, first] = np.nan
        if len(columns) == 1:  # the mean is the share of a level, and products with numbers are theirs in few rows
            products.means[first] = products.products[first] = products.products[:, first] = np.nan
    return SufficientStatistics(agreement, rows.n_rows, cross_products=products, refused=tuple(refused))


def _counted(rows: RowBlocks, agreement: Agreement, sets: Sequence[Columns]) -> Iterator[tuple[Columns, np.ndarray]]:
    """Yield each table, counted in one pass: those of the agreement's kind by products, requested ones one by one."""
    by_product = [one for one in sets if one not in agreement.asked] if agreement.tables in (PAIRS, TRIPLES) else []
    singly = [one for one in sets if one not in set(by_product)]
    codings = {coding.name: coding for coding in agreement.codings}
    shapes = [tuple(codings[name].n_levels for name in one) for one in singly]
    for one, shape in zip(singly, shapes, strict=True):
        if math.prod(shape) > MOST_CELLS_OF_ONE:
            raise DataError(f"the table of {', '.join(one)} has {math.prod(shape):,} cells. Agree on fewer bins.")
    found = [np.zeros(shape, dtype=np.int64) for shape in shapes]
    products = _IndicatorProducts(agreement) if by_product else None
    needed = agreement.names if products else list(dict.fromkeys(name for one in singly for name in one))
    for codes in coded_blocks(rows, agreement, needed):
        if products:
            products.add(codes)
        for total, one in zip(found, singly, strict=True):
            cells = np.ravel_multi_index([codes[name] for name in one], total.shape)
            total += np.bincount(cells, minlength=total.size).reshape(total.shape)
    if products:
        yield from ((one, products.table(one)) for one in by_product)
    yield from zip(singly, found, strict=True)


class _IndicatorProducts:
    """Counts all pairs of levels by class as matrix products of indicators, exact in single precision for a block."""

    def __init__(self, agreement: Agreement) -> None:
        by_class = agreement.tables == TRIPLES
        self._target = agreement.target if by_class else None
        self._codings = [coding for coding in agreement.codings if coding.name != self._target]
        ends = [0, *accumulate(coding.n_levels for coding in self._codings)]
        self._levels = {c.name: slice(*of) for c, of in zip(self._codings, pairwise(ends), strict=True)}
        n_classes = agreement.codings[agreement.names.index(agreement.target)].n_levels if by_class else 1
        if n_classes * ends[-1] ** 2 > MOST_CELLS:
            raise DataError(
                f"{agreement.tables} of {len(agreement.names)} columns have {n_classes * ends[-1] ** 2:,} cells, more "
                f"than {MOST_CELLS:,}. Agree on fewer bins, or on relevance only, or drop columns."
            )
        self._sums = np.zeros((n_classes, ends[-1], ends[-1]), dtype=np.int64)

    def add(self, codes: dict[str, np.ndarray]) -> None:
        n_rows = len(next(iter(codes.values())))
        classes = codes[self._target] if self._target else np.zeros(n_rows, dtype=np.int8)
        order = np.argsort(classes, kind="stable") if self._target else slice(None)
        ends = np.cumsum(np.bincount(classes, minlength=len(self._sums))).tolist()
        indicators = np.empty((self._sums.shape[1], n_rows), dtype=np.float32)
        for coding in self._codings:
            of_column, levels = codes[coding.name][order], self._levels[coding.name]
            for level, row in enumerate(indicators[levels]):
                np.equal(of_column, level, out=row, casting="unsafe")
        for sums, start, stop in zip(self._sums, [0, *ends], ends, strict=False):
            part = indicators[:, start:stop]
            sums += (part @ part.T).astype(np.int64)

    def table(self, columns: Columns) -> np.ndarray:
        """Return the table of two columns, or of them and the target, with axes in the order of the query."""
        others = [name for name in columns if name != self._target]
        first, last = self._levels[others[0]], self._levels[others[-1]]
        by_class = self._sums[:, first, last]
        if len(others) == 1:
            by_class = np.diagonal(by_class, axis1=1, axis2=2)
        table = by_class if self._target in columns else by_class.sum(axis=0)
        place = [*([self._target] if self._target in columns else []), *others]
        return np.ascontiguousarray(table.transpose([place.index(name) for name in columns]))


def _told(counts: dict[Columns, np.ndarray], min_cell: int) -> tuple[dict[Columns, np.ndarray], tuple[Columns, ...]]:
    """Return the tables without a small cell, and the others' columns, which smaller tables replace."""
    told: dict[Columns, np.ndarray] = {}
    refused: set[Columns] = set()
    left = dict(counts)
    while left:
        columns, table = left.popitem()
        if columns in told or columns in refused:
            continue
        if not ((table > 0) & (table < min_cell)).any():
            told[columns] = table
            continue
        refused.add(columns)
        for at in range(len(columns) if len(columns) > 1 else 0):
            left[columns[:at] + columns[at + 1 :]] = table.sum(axis=at)
    return {columns: told[columns] for columns in sorted(told)}, tuple(sorted(refused))


def _cross_products(rows: RowBlocks, agreement: Agreement) -> CrossProducts:
    """Sum the products block by block, merged pairwise in a tree, so that errors grow only with its height."""
    d, waiting = check_n_parts(agreement), list[CrossProducts]()
    for n, block in enumerate(rows.blocks(agreement.names), start=1):
        parts = [coding.parts(_as_agreed(block[coding.name], coding)) for coding in agreement.codings]
        waiting.append(CrossProducts.of(np.hstack(parts)))
        while n % 2 == 0:
            last = waiting.pop()
            waiting[-1] = waiting[-1].merged(last)
            n //= 2
    if not waiting:
        return CrossProducts(0, np.zeros(d), np.zeros((d, d)))
    while len(waiting) > 1:
        last = waiting.pop()
        waiting[-1] = waiting[-1].merged(last)
    return waiting[0]


def check_n_parts(agreement: Agreement) -> int:
    """Return the number of summed numbers and indicators; raises `DataError` if there are too many."""
    d = sum(coding.n_parts for coding in agreement.codings)
    if d**2 > MOST_CELLS:
        most = max(agreement.codings, key=lambda coding: coding.n_parts)
        raise DataError(
            f"numbers and indicators of labels are {d:,} columns with {d**2:,} products, more than {MOST_CELLS:,}; "
            f"{most.name!r} has {most.n_levels:,} levels. Drop such columns."
        )
    return d


def _refused_products(rows: RowBlocks, agreement: Agreement) -> list[Columns]:
    """Return the sets of one or two columns of few levels with a small cell, which a product would reveal."""
    few = [coding for coding in agreement.codings if coding.levels]
    if not few:
        return []
    inner = Agreement(few[0].name, tuple(few), PAIRS) if len(few) > 1 else None
    sets = inner.column_sets() if inner else []
    asked = Agreement(agreement.target, agreement.codings, CROSS_PRODUCTS, 0, tuple(sets) or ((few[0].name,),))
    counts = dict(_counted(rows, asked, asked.column_sets()))
    return [*_told(counts, agreement.min_cell)[1]]


def _as_agreed(column: Column, coding: Coding) -> Column:
    """Return a numeric target as the labels of the agreement."""
    is_class = coding.kind == CATEGORICAL and column.kind != CATEGORICAL
    return target_column(column, CLASSIFICATION) if is_class else column


class PackedRows(PackedTables):
    """The packed codes of a table by an agreement, from which any table of its columns is counted on demand.

    Parameters
    ----------
    agreement : Agreement
        Levels and borders; `tables` and `min_cell` do not apply, because no table is sent.
    packed : PackedCodes
        The codes of its columns, in its order.
    rows_at_hand : bool
        Whether the rows can be read instead: tables of too many cells then raise `RowsNeeded`.

    Examples
    --------
    >>> import blanketflow as bf
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [0, 0, 1, 1] * 10, "b": [0, 1] * 20, "y": [0, 0, 1, 1] * 10})
    >>> bf.pack(X, bf.agree(X, "y")).counted_each([("a", "b", "y")])[0].tolist()
    [[[10, 0], [10, 0]], [[0, 10], [0, 10]]]
    """

    def __init__(self, agreement: Agreement, packed: PackedCodes, rows_at_hand: bool = False) -> None:
        super().__init__(agreement.names, packed)
        self.agreement, self.rows_at_hand = agreement, rows_at_hand
        self._of_one: list[np.ndarray | None] = []

    def counted_each(self, sets: Sequence[Columns]) -> list[np.ndarray | None]:
        """Return the tables of columns; those of all single columns are counted on first use and cached."""
        if all(len(one) == 1 for one in sets):
            self._of_one = self._of_one or self._packed.count([(at,) for at in range(len(self._place))], ())
            return [self._of_one[self._place[one]] for (one,) in sets]
        found = super().counted_each(sets)
        if self.rows_at_hand and any(table is None for table in found):
            raise RowsNeeded(f"a table of {', '.join(max(sets, key=len))} has too many cells")
        return found

    def some_rows(self, n_wanted: int) -> list[Column]:
        """Return evenly spaced rows of the columns, all of which must have levels."""
        codes = self._packed.codes_of(spread(self.n_rows, n_wanted))
        return [
            Column(one.name, one.kind, cells.astype(np.int32), one.levels)
            if one.kind == CATEGORICAL
            else Column(one.name, one.kind, np.array(one.levels)[cells])
            for one, cells in zip(self.agreement.codings, codes, strict=True)
        ]


def spread(n_rows: int, n_wanted: int) -> np.ndarray:
    """Return the positions of at most so many rows, evenly spaced."""
    return np.linspace(0, n_rows - 1, min(n_rows, n_wanted)).astype(np.int64)


def agreed_coding(column: Column, bins: int, binning: str | None) -> Coding:
    """Return the levels or borders by which `level_codes` codes a column; without `binning` numbers have no borders.

    Raises `DataError` if cells are missing or infinite, and `ParameterError` for ``mdlp``, which needs the target's
    classes row by row.
    """
    Coding(column.name, column.kind).check(column)
    if column.kind == CATEGORICAL:
        return Coding(column.name, column.kind, column.levels)
    most = max(FEW_VALUES, bins) if column.kind == INTEGER else 2 if column.is_discrete else bins
    cells = column.cells()
    if len(np.unique(cells[:BLOCK])) <= most and len(distinct := np.unique(cells)) <= most:
        return Coding(column.name, column.kind, tuple(distinct.tolist()))
    if binning is None:
        return Coding(column.name, column.kind)
    return Coding(column.name, column.kind, borders=tuple(cut_points(column.numbers(), bins, binning).tolist()))


#: Rows of a block. Cross products are merged by block, which affects their last digits.
BLOCK_ROWS = 2**16
#: Most labels of a feature of which a file states all, in its dictionaries, which have room for no more than many.
MOST_STATED = 2**10
#: Keys of a data set whose Parquet file is read in blocks; with others the whole table is read.
STREAMED = {"path", "target", "task", "drop", "format", "max_memory"}


class RowBlocks:
    """A table's features, then its target, block by block; `names` are the columns, `n_rows` counts all rows."""

    names: list[str]
    n_rows: int

    @abstractmethod
    def column(self, name: str) -> Column:
        """Return a whole column; the target as methods use it."""

    @abstractmethod
    def blocks(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """Yield some or all columns in blocks of `BLOCK_ROWS` rows, the last one shorter."""


class TableBlocks(RowBlocks):
    """The blocks of a table in memory; its last column is the target."""

    def __init__(self, table: Table) -> None:
        self._table, self.names, self.n_rows = table, table.names, table.n_rows

    def column(self, name: str) -> Column:
        """Return a whole column."""
        return self._table[name]

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """Yield rows in order."""
        table = self._table if names is None else self._table.select(names)
        for start in range(0, self.n_rows, BLOCK_ROWS):
            yield table.take(np.arange(start, min(start + BLOCK_ROWS, self.n_rows)))


class ParquetBlocks(RowBlocks):
    """The blocks of a Parquet file, by a data set's keys `path`, `target`, `task` and `drop`."""

    def __init__(self, name: str, spec: Mapping[str, Any]) -> None:
        import pyarrow.parquet as pq

        check_settings(name, spec)
        self._name, self._spec, self._path, self._target = name, spec, Path(spec["path"]), spec["target"]
        try:
            with pq.ParquetFile(self._path) as file:
                self._stated, schema = file.metadata, file.schema_arrow
        except OSError as error:
            raise DataError(
                f"{name}: {self._path} is not a readable Parquet file ({error}). Write it again."
            ) from error
        self.n_rows, self._schema = self._stated.num_rows, schema
        if not self.n_rows:
            raise DataError(f"{name}: {self._path} has no rows.")
        self.names = [*feature_names(name, spec, schema.names, self._target), self._target]
        widths = dict(zip(schema.names, cell_bytes(schema), strict=True))
        #: Bytes per cell of these columns in memory.
        self.cell_bytes = [widths[column] for column in self.names]

    def column(self, name: str) -> Column:
        """Return a whole column."""
        found = self.whole(name)
        if name != self._target:
            return used_levels(found)
        if n_missing := found.n_missing():
            raise DataError(f"{self._name}: the target {name!r} has {n_missing} missing cells. Drop these rows first.")
        return prepare_target(self._name, self._spec, self._few_of_each(found))[0]

    def stated_coding(self, name: str, bins: int) -> Coding | None:
        """Return the coding of a feature of labels or few whole numbers by what the file states, without its cells.

        None if the file does not state that no cell is missing and that few values are possible, or if the labels are
        not read as they are. Levels may be more than those that occur.
        """
        import pyarrow as pa

        at = self._schema.get_field_index(name)
        kind = self._schema.field(at).type if at >= 0 and self._stated.num_columns == len(self._schema) else pa.null()
        is_flag, is_label = pa.types.is_boolean(kind), is_text(kind, coded=True)
        if not (is_flag or is_label or pa.types.is_integer(kind)):  # or the name is not that of one column
            return None
        groups = range(self._stated.num_row_groups)
        stated = [self._stated.row_group(group).column(at).statistics for group in groups]
        if not all(one is not None and (is_label or one.has_min_max) and one.null_count == 0 for one in stated):
            return None
        if is_label:
            return self._stated_labels.get(name)
        low, high = int(min(one.min for one in stated)), int(max(one.max for one in stated))
        if high - low >= (2 if is_flag else max(FEW_VALUES, bins)):
            return None
        return Coding(name, BOOLEAN if is_flag else INTEGER, tuple(range(low, high + 1)))

    @cached_property
    def _stated_labels(self) -> dict[str, Coding]:
        """The codings of features of few labels, by the dictionaries of the row groups."""
        import pyarrow as pa

        groups = [self._stated.row_group(group) for group in range(self._stated.num_row_groups)]
        texts = [at for at, field in enumerate(self._schema) if is_text(field.type, coded=True)]
        are_coded = [at for at in texts if all(group.column(at).has_dictionary_page for group in groups)]
        held = {name: {*()} for name in (self._schema.names[at] for at in are_coded) if name in self.names[:-1]}
        for group in range(len(groups)):
            names = [name for name, labels in held.items() if len(labels) <= MOST_STATED]
            for batch in islice(self._batches(names, 1, [group]), 1) if names else ():
                for column in self._table(names, pa.Table.from_batches([batch])).columns:
                    held[column.name].update(column.levels)
        few = {name: [*labels] for name, labels in held.items() if len(labels) <= MOST_STATED}
        columns = [column_of_codes(name, np.arange(len(labels)), labels) for name, labels in few.items()]
        return {one.name: Coding(one.name, CATEGORICAL, one.levels) for one in columns if self.are_labels(one)}

    def are_labels(self, column: Column) -> bool:
        """Return whether a column of labels is read as such: not as numbers, nor refused for labels that look alike."""
        try:
            return with_meanings(self._name, Loaded([column]), self._spec, "parquet").columns[0] is column
        except DataError:
            return False

    def has_missing_target(self) -> bool:
        """Return whether any cell of the target is missing."""
        return self.whole(self._target).n_missing() > 0

    def take(self, rows: np.ndarray) -> list[Column]:
        """Return all columns at some rows, ascending; `RowsNeeded` if any cell of the table is missing or infinite."""
        import pyarrow as pa

        taken, start = [], 0
        for batch in self._batches(self.names):
            for cells, column in zip(batch.columns, self.names, strict=True):
                if cells.null_count or _has_infinite(cells):
                    raise RowsNeeded(f"{column!r} has missing or infinite cells. Impute or drop them before")
            own = slice(*np.searchsorted(rows, [start, start + batch.num_rows]))
            taken.append(batch.take(pa.array(rows[own] - start)))
            start += batch.num_rows
        return list(self._table(self.names, pa.Table.from_batches(taken)).columns)

    def whole(self, name: str) -> Column:
        """Return a whole column as it is read."""
        import pyarrow as pa

        return columns_from_arrow(self._name, pa.Table.from_batches([*self._batches([name])]))[0]

    def _few_of_each(self, target: Column) -> Column:
        """Return a target with each class as often as the rules for tasks and classes need, to save memory."""
        values, counts = np.unique(target.cells(), return_counts=True)
        are_classes = setting(self._spec, "task") != REGRESSION and np.array_equal(values, np.round(values))
        if not are_classes or len(values) > MAX_NUMERIC_CLASSES:
            return target
        most = MAX_NUMERIC_CLASSES * ROWS_PER_NUMERIC_CLASS
        return replace(target, values=np.repeat(values, np.minimum(counts, most)))

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """Yield rows in order."""
        import pyarrow as pa

        names = self.names if names is None else list(names)
        held: list[Any] = []
        for batch in self._batches(names):
            held.append(batch)
            if sum(one.num_rows for one in held) >= BLOCK_ROWS:
                rows = pa.Table.from_batches(held)
                whole = rows.num_rows // BLOCK_ROWS * BLOCK_ROWS
                for start in range(0, whole, BLOCK_ROWS):
                    yield self._table(names, rows.slice(start, BLOCK_ROWS))
                held = rows.slice(whole).to_batches()
        if held:
            yield self._table(names, pa.Table.from_batches(held))

    def _batches(
        self, names: Sequence[str], n_rows: int = BLOCK_ROWS, groups: Sequence[int] | None = None
    ) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            # Otherwise whole columns of the file are in memory at once.
            one_page = {"pre_buffer": False, "buffer_size": 2**20}
            coded = [field.name for field in self._schema if is_text(field.type)]
            with pq.ParquetFile(self._path, read_dictionary=coded, page_checksum_verification=True, **one_page) as file:
                yield from file.iter_batches(n_rows, row_groups=groups, columns=list(names))
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"{self._name}: {self._path} is not a readable Parquet file ({error}). Write it again."
            ) from error

    def _table(self, names: Sequence[str], rows: Any) -> Table:
        columns = {column.name: column for column in columns_from_arrow(self._name, rows)}
        return Table([columns[name] for name in names])


def _has_infinite(cells: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_floating(cells.type) and not np.isfinite(numbers_from_arrow(cells)).all()
