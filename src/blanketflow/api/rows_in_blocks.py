"""Reads a large Parquet file in blocks of rows and stores only counts, products or codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ci.choice import Description, described
from ..ci.contingency.packed_codes import MOST_CODES, PackedCodes
from ..core.cards import CATEGORICAL, CLASSIFICATION, REGRESSION
from ..core.column import TargetColumn
from ..core.column_checks import bends_seen, rows_looked_at
from ..core.errors import DataError, RowsNeeded
from ..core.prior import KEYS
from ..core.rows import sampled
from ..core.table import FEW_VALUES, Column, Table
from ..core.task import target_column
from ..counts.agreement import CROSS_PRODUCTS, Agreement, Coding
from ..counts.counting import (
    STREAMED,
    PackedRows,
    ParquetBlocks,
    RowBlocks,
    agreed_coding,
    check_columns,
    coded_blocks,
    count_rows,
)
from ..counts.summed_table import SummedTable
from ..counts.without_rows import why_rows
from ..data.beyond_memory import is_beyond
from ..data.cell_meanings import with_meanings
from ..data.column_roles import RawTable, max_memory, prepare_target
from ..data.formats.loaded import Loaded
from ..data.sources import locate, table_of
from ..selectors.stand_ins import measures_information

if TYPE_CHECKING:
    from ..ci.base import CITest
    from ..search.search import Search
    from ..selectors.base import Method

#: Tables of more rows are packed if the file states the levels of all features: that takes less time and memory.
PACKED_ROWS = 2**19


def blocks_of_file(name: str, asked: Mapping[str, Any], spec: Mapping[str, Any]) -> tuple[ParquetBlocks, bool] | None:
    """Return the blocks of a large data set, and whether it exceeds `max_memory`; None if it is small.

    `asked` has the keys that the user wrote, `spec` also the defaults. This and what follows raise `RowsNeeded` with
    the reason and a way out if all rows have to be read.
    """
    keys = [key for key, value in asked.items() if value is not None]
    if others := [key for key in keys if key not in STREAMED | {"max_rows", *KEYS} - {"feature_groups"}]:
        raise RowsNeeded(f"tables with the key {others[0]} are not read in blocks")
    if (source := locate(name, spec)).kind != "parquet":
        raise RowsNeeded("only Parquet is read in blocks. Store large tables as Parquet")
    with source.user_file.named():
        blocks = ParquetBlocks(name, {**spec, "path": str(source.path)})  # of the web, its copy here
    beyond = is_beyond(blocks.n_rows, blocks.cell_bytes, max_memory(name, spec))
    return (blocks, beyond) if beyond or blocks.n_rows > PACKED_ROWS else None


def sample_of_blocks(name: str, spec: Mapping[str, Any], blocks: ParquetBlocks, max_rows: int, seed: int) -> RawTable:
    """Return the sample of rows that a search takes, if no cell is missing or infinite, and a text target has labels.

    Other rows are never in memory. What cells mean is told by the sample.
    """
    target = blocks.whole(blocks.names[-1])
    if target.n_missing() or (target.kind == CATEGORICAL and not blocks.are_labels(target)):
        raise RowsNeeded(_of_target(target.name))
    y, task = prepare_target(name, spec, target)
    rows = sampled(np.arange(blocks.n_rows), y.balanced_by, max_rows, seed)
    spec = {**spec, "drop": [], "task": task.name}
    raw = table_of(name, spec, with_meanings(name, Loaded(blocks.take(rows)), spec, "parquet"), whole=False)
    return replace(raw, target=y.take(rows), task=task)


def kept_of_blocks(
    blocks: ParquetBlocks, method: Method, test: CITest | None, most_bytes: int | None, beyond: bool = True
) -> SummedTable:
    """Return the statistics that a search needs, if these are enough and no cell is missing.

    Codes above `most_bytes` are in a mapped file. Sums of products differ in the last digits: only with a memory limit,
    or of many rows. Unless the table is `beyond` memory, the test has to find stand-ins, and codes are packed only if
    the file states the levels of all features.
    """
    _check_method(method)
    if test is None or not test.sums or test.incomplete is not None:
        reads = f"{method.card.id} reads rows" if test is None else f"{test.card.id} reads rows"
        raise RowsNeeded(f"{reads}. The tests g2, chi2, fisher-z and lr-mixed do not")
    are_products = test.sums == CROSS_PRODUCTS
    if are_products and most_bytes is None and blocks.n_rows <= PACKED_ROWS:
        raise RowsNeeded("products are summed only with max_memory, since they change last digits. Set it")
    if not (beyond or measures_information(test)):
        raise RowsNeeded(f"stand-ins are found by another test than {test.card.id}. Take g2")
    stated = _numbers(blocks, test) if are_products else _stated(blocks, test)
    if not (are_products or beyond) and (others := [name for name in blocks.names[:-1] if name not in stated]):
        raise RowsNeeded(f"the file does not state the few values of {others[0]!r}. {_LESS_MEMORY}")
    if blocks.has_missing_target():
        raise RowsNeeded(_of_target(blocks.names[-1]))
    while True:
        codings = _codings(blocks, test, are_products, stated)
        agreement = Agreement(blocks.names[-1], tuple(codings), test.sums)
        if reason := why_rows(test, agreement):
            raise RowsNeeded(reason)
        if not (beyond or are_products or codings[-1].levels):
            raise RowsNeeded(f"the target {blocks.names[-1]!r} has many values. {_LESS_MEMORY}")
        try:
            if are_products:
                return SummedTable(count_rows(blocks, agreement), rows_at_hand=not beyond)
            return SummedTable(packed_rows(blocks, agreement, most_bytes, rows_at_hand=not beyond))
        except DataError:
            if not stated:
                raise
            stated = {}  # the file states too few values, or cells are missing: each column is looked at


#: What makes a search pack a table whose columns have to be looked at first.
_LESS_MEMORY = "Set max_memory to less than the table takes, and it is packed"


def _of_target(name: str) -> str:
    return f"the target {name!r} has missing cells, or numbers as text. Drop such rows, or write it as numbers"


def _check_method(method: Method) -> None:
    if method.needs_complete_rows():
        raise RowsNeeded(f"{method.card.id} {method.reads_rows() or 'reads rows'}")


def with_chosen_test(search: Search, blocks: ParquetBlocks) -> Search:
    """Return a search with the test that ``auto`` chooses for all rows of a file, if no cell is missing.

    A table whose file states all levels is described by these; `rechosen` is by those that occur. Other tables are
    described by some rows, and by the columns of which these show few values.
    """
    name, n_rows = blocks.names[-1], blocks.n_rows
    _check_method(search.method)
    if blocks.has_missing_target():
        raise RowsNeeded(_of_target(name))
    if isinstance(target := blocks.column(name), TargetColumn):
        raise RowsNeeded(f"searches for a target of the kind {target.target_kind} read rows")
    stated = [blocks.stated_coding(one, FEW_VALUES) for one in blocks.names[:-1]]
    known = [coding for coding in stated if coding is not None]
    if len(known) == len(stated):
        found = search.with_test_for(_described(known, target), n_rows)
        if found.test_id and found.test_id.startswith("g2"):  # its reason says nothing of relations
            return found
    *columns, of_target = blocks.take(rows_looked_at(n_rows))
    codings = []
    for column, coding in zip(columns, stated, strict=True):
        n_seen = len(np.unique(column.cells()))
        if coding is not None and coding.n_levels == n_seen:
            codings.append(coding)
        elif n_seen > FEW_VALUES and column.kind != CATEGORICAL:
            codings.append(_some_values(column))
        else:
            codings.append(_some_values(blocks.column(column.name)))
    task = CLASSIFICATION if target.kind == CATEGORICAL else REGRESSION
    bends = bends_seen(Table(columns), target_column(of_target, task), n_rows)
    return search.with_test_for(replace(_described(codings, target), bends=bends), n_rows)


def rechosen(search: Search, table: SummedTable) -> Search:
    """Return the search with the test that ``auto`` chooses for the levels that occur, if it is of the same options."""
    if table.statistics.cross_products is not None:  # rows or whole columns were looked at
        return search
    counts = table.statistics.counted_each([(name,) for name in table.names])
    codings = [
        replace(one, levels=tuple(compress(one.levels, [] if n is None else n.tolist())))
        for one, n in zip(table.statistics.agreement.codings, counts, strict=True)
    ]
    found = search.with_test_for(_described(codings[:-1], table[table.names[-1]]), table.n_rows)
    if found.test != search.test:
        raise RowsNeeded(f"{found.test_id} suits the levels that occur. Remove the others")
    return found


def _some_values(column: Column) -> Coding:
    """Return labels, or a few values of a number, all if they are few, with the smallest and largest."""
    if column.kind == CATEGORICAL:
        return Coding(column.name, column.kind, column.levels)
    values = np.unique(column.cells()).tolist()
    return Coding(column.name, column.kind, (*values[:FEW_VALUES], *values[FEW_VALUES:][-1:]))


def _described(codings: Sequence[Coding], target: Column) -> Description:
    """Return what `choose_test` asks of features of these levels, but for bends."""
    rows, columns = np.arange(max(coding.n_levels for coding in codings)), []
    for one in codings:
        at = np.minimum(rows, one.n_levels - 1)
        is_label = one.kind == CATEGORICAL
        columns.append(Column(one.name, one.kind, at if is_label else np.array(one.levels)[at], one.levels * is_label))
    target = replace(target, values=np.zeros(len(rows), dtype=np.int32))
    return replace(described(Table(columns), target), bends="")


def _stated(blocks: ParquetBlocks, test: CITest) -> dict[str, Coding]:
    """Return the codings of the features whose levels the file states."""
    found = {name: blocks.stated_coding(name, test.options()["bins"]) for name in blocks.names[:-1]}
    return {name: coding for name, coding in found.items() if coding is not None}


def _numbers(blocks: ParquetBlocks, test: CITest) -> dict[str, Coding]:
    """Return the codings of the features that are numbers; a pass that sums them finds their missing cells."""
    found = next(blocks.blocks(blocks.names[:-1])).columns
    are_numbers = (column for column in found if column.kind != CATEGORICAL and not test.supports(column))
    return {column.name: Coding(column.name, column.kind) for column in are_numbers}


def _codings(blocks: ParquetBlocks, test: CITest, are_products: bool, stated: Mapping[str, Coding]) -> list[Coding]:
    """Return the codings of all columns."""
    bins, binning = (1, None) if are_products else (test.options()["bins"], test.options()["binning"])
    found = []
    for name in blocks.names:
        if name in stated:
            found.append(stated[name])
            continue
        column = blocks.column(name)
        # What reads the rows imputes, or says what is wrong.
        if column.kind == CATEGORICAL and not blocks.are_labels(column):
            raise RowsNeeded(f"{name!r} has numbers as text. Write it as numbers")
        if column.n_missing() or column.n_infinite():
            raise RowsNeeded(f"{name!r} has missing or infinite cells. Impute or drop them before")
        if reason := test.supports(column):
            raise RowsNeeded(f"{test.card.id} does not take it: {reason}")
        found.append(agreed_coding(column, bins, binning))
        if found[-1].n_levels > MOST_CODES:
            raise RowsNeeded(f"{name!r} has more than {MOST_CODES:,} levels. Drop it")
    return found


def packed_rows(
    blocks: RowBlocks, agreement: Agreement, most_bytes: int | None = None, rows_at_hand: bool = False
) -> PackedRows:
    """Return the codes of all rows, read once; in a mapped file if they exceed `most_bytes`."""
    check_columns(blocks, agreement)
    n_levels, at = [coding.n_levels for coding in agreement.codings], 0
    in_file = most_bytes is not None and PackedCodes.n_bytes(blocks.n_rows, n_levels) > most_bytes
    packed = PackedCodes(blocks.n_rows, len(n_levels), in_file)
    packed.add(*enumerate(n_levels))
    for codes in coded_blocks(blocks, agreement, agreement.names):
        for place, name in enumerate(agreement.names):
            packed.put(place, at, codes[name])
        at += len(codes[agreement.target])
    return PackedRows(agreement, packed, rows_at_hand)
