"""Reads a Parquet file beyond `max_memory` in blocks of rows and stores only counts, products or codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..ci.contingency.packed_codes import MOST_CODES, PackedCodes
from ..core.prior import KEYS
from ..counts.agreement import CROSS_PRODUCTS, Agreement
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
from ..data.column_roles import max_memory
from ..data.sources import locate

if TYPE_CHECKING:
    from ..ci.base import CITest
    from ..counts.agreement import Coding
    from ..selectors.base import Method


def blocks_beyond_memory(name: str, asked: Mapping[str, Any], spec: Mapping[str, Any]) -> ParquetBlocks | None:
    """Return the blocks of a data set that exceeds `max_memory`; None if it is read whole.

    `asked` has the keys that the user wrote, `spec` also the defaults.
    """
    keys = {key for key, value in asked.items() if value is not None}
    if not keys <= STREAMED | ({*KEYS} - {"feature_groups"}) or (source := locate(name, spec)).kind != "parquet":
        return None
    with source.user_file.named():
        blocks = ParquetBlocks(name, {**spec, "path": str(source.path)})  # of the web, its copy here
    return blocks if is_beyond(blocks.n_rows, blocks.cell_bytes, max_memory(name, spec)) else None


def kept_of_blocks(
    blocks: ParquetBlocks, method: Method, test: CITest | None, most_bytes: int | None
) -> SummedTable | None:
    """Return the statistics that a search needs; None if it needs the rows, or a cell is missing.

    Codes above `most_bytes` are in a mapped file. Sums of products differ in the last digits: only with a memory limit.
    """
    if test is None or method.needs_complete_rows() or not test.sums or test.incomplete is not None:
        return None
    are_products = test.sums == CROSS_PRODUCTS
    if (are_products and most_bytes is None) or blocks.has_missing_target():
        return None
    codings = [*_codings(blocks, test, are_products)]
    if len(codings) < len(blocks.names):
        return None
    agreement = Agreement(blocks.names[-1], tuple(codings), test.sums)
    if why_rows(test, agreement):
        return None
    if are_products:
        return SummedTable(count_rows(blocks, agreement))
    return SummedTable(packed_rows(blocks, agreement, most_bytes))


def _codings(blocks: RowBlocks, test: CITest, are_products: bool) -> Iterator[Coding]:
    """Yield the coding of each column until one cannot be coded."""
    bins, binning = (1, None) if are_products else (test.options()["bins"], test.options()["binning"])
    for name in blocks.names:
        column = blocks.column(name)
        if column.n_missing() or column.n_infinite() or test.supports(column):
            return  # what reads the rows imputes, or says what is wrong
        coding = agreed_coding(column, bins, binning)
        if coding.n_levels > MOST_CODES:
            return
        yield coding


def packed_rows(blocks: RowBlocks, agreement: Agreement, most_bytes: int | None = None) -> PackedRows:
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
    return PackedRows(agreement, packed)
