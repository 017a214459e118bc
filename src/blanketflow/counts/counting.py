"""Counts tables, or sums cross products, over the blocks of rows of one place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np

from ..ci.contingency.binning import BLOCK, cut_points
from ..ci.contingency.packed_codes import PackedCodes, PackedTables
from ..core.cards import CATEGORICAL, CLASSIFICATION, INTEGER
from ..core.errors import DataError
from ..core.table import FEW_VALUES, Column
from ..core.task import target_column
from .agreement import CROSS_PRODUCTS, PAIRS, TRIPLES, Agreement, Coding
from .row_blocks import RowBlocks
from .sufficient_statistics import Columns, CrossProducts, SufficientStatistics

#: Most cells of all tables together that are counted at once (8 bytes each), and of one table that is asked for.
MOST_CELLS, MOST_CELLS_OF_ONE = 2**27, 2**24


def count_rows(rows: RowBlocks, agreement: Agreement) -> SufficientStatistics:
    """Count the rows of one place as was agreed, reading them once.

    Parameters
    ----------
    rows : RowBlocks
        The rows. Columns that the agreement does not name are not read.
    agreement : Agreement
        What is counted, by which levels and borders.

    Returns
    -------
    SufficientStatistics
        Without the tables that have a cell of 1 .. min_cell - 1 rows, which are listed as refused. In place of a
        refused table its smaller ones are told, as far as their cells are large enough.

    Raises
    ------
    DataError
        If a column is missing or of another kind, a cell is missing or of a level that was not agreed on, or the tables
        would have too many cells.
    """
    from threadpoolctl import threadpool_limits

    check_columns(rows, agreement)
    with threadpool_limits(1):  # more threads wait for each other at such sizes, and change the last digits of sums
        return _counted_or_summed(rows, agreement)


def check_columns(rows: RowBlocks, agreement: Agreement) -> None:
    """Raise `DataError` if rows lack a column that was agreed on."""
    missing = [name for name in agreement.names if name not in rows.names]
    if missing:
        raise DataError(f"the table lacks columns that were agreed on: {missing[:5]}. Name them as elsewhere.")


def coded_blocks(rows: RowBlocks, agreement: Agreement, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
    """Yield the codes of some columns, block by block; raises `DataError` as `Coding.codes` does."""
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
    """Yield each table, counted in one pass: those of the agreement's kind by products, those asked for one by one."""
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
    """Counts all pairs of levels at once: the products of their indicators, summed over rows, by the target's class.

    Sums of a block's zeros and ones are exact in single precision, and matrix products are what computers do best.
    """

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
        """Count a block of rows."""
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
        """Return the table of two columns, or of them and the target, with its axes in the order asked."""
        others = [name for name in columns if name != self._target]
        first, last = self._levels[others[0]], self._levels[others[-1]]
        by_class = self._sums[:, first, last]
        if len(others) == 1:
            by_class = np.diagonal(by_class, axis1=1, axis2=2)
        table = by_class if self._target in columns else by_class.sum(axis=0)
        place = [*([self._target] if self._target in columns else []), *others]
        return np.ascontiguousarray(table.transpose([place.index(name) for name in columns]))


def _told(counts: dict[Columns, np.ndarray], min_cell: int) -> tuple[dict[Columns, np.ndarray], tuple[Columns, ...]]:
    """Return the tables without a small cell, and the others' columns; smaller tables stand in for these."""
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
    """Sum the products block by block, merged along a tree of pairs, so that errors grow with its height only."""
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
    """Return of how many numbers and indicators products are summed; raises `DataError` if these are too many."""
    d = sum(coding.n_parts for coding in agreement.codings)
    if d**2 > MOST_CELLS:
        most = max(agreement.codings, key=lambda coding: coding.n_parts)
        raise DataError(
            f"numbers and indicators of labels are {d:,} columns with {d**2:,} products, more than {MOST_CELLS:,}; "
            f"{most.name!r} has {most.n_levels:,} levels. Drop such columns."
        )
    return d


def _refused_products(rows: RowBlocks, agreement: Agreement) -> list[Columns]:
    """Return the columns of few levels, one or two, whose table has a small cell, which a product could tell."""
    few = [coding for coding in agreement.codings if coding.levels]
    if not few:
        return []
    inner = Agreement(few[0].name, tuple(few), PAIRS) if len(few) > 1 else None
    sets = inner.column_sets() if inner else []
    asked = Agreement(agreement.target, agreement.codings, CROSS_PRODUCTS, 0, tuple(sets) or ((few[0].name,),))
    counts = dict(_counted(rows, asked, asked.column_sets()))
    return [*_told(counts, agreement.min_cell)[1]]


def _as_agreed(column: Column, coding: Coding) -> Column:
    """Return a target of numbers as the labels that were agreed on."""
    is_class = coding.kind == CATEGORICAL and column.kind != CATEGORICAL
    return target_column(column, CLASSIFICATION) if is_class else column


class PackedRows(PackedTables):
    """The packed codes of a table by an agreement: any table of its columns is counted when it is asked for.

    Parameters
    ----------
    agreement : Agreement
        Levels and borders; what it says of `tables` and `min_cell` is of no account, since nothing is told to others.
    packed : PackedCodes
        The codes of its columns, in its order.

    Examples
    --------
    >>> import blanketflow as bf
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [0, 0, 1, 1] * 10, "b": [0, 1] * 20, "y": [0, 0, 1, 1] * 10})
    >>> bf.pack(X, bf.agree(X, "y")).counted_each([("a", "b", "y")])[0].tolist()
    [[[10, 0], [10, 0]], [[0, 10], [0, 10]]]
    """

    def __init__(self, agreement: Agreement, packed: PackedCodes) -> None:
        super().__init__(agreement.names, packed)
        self.agreement = agreement
        self._of_one: list[np.ndarray | None] = []

    def counted_each(self, sets: Sequence[Columns]) -> list[np.ndarray | None]:
        """Return the tables of columns; those of single columns are counted all at the first time, and kept."""
        if all(len(one) == 1 for one in sets):
            self._of_one = self._of_one or self._packed.count([(at,) for at in range(len(self._place))], ())
            return [self._of_one[self._place[one]] for (one,) in sets]
        return super().counted_each(sets)


def agreed_coding(column: Column, bins: int, binning: str | None) -> Coding:
    """Return the levels or borders by which `level_codes` codes a column, for rows that are counted elsewhere.

    Without `binning` numbers have no borders, for sums of products.

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
