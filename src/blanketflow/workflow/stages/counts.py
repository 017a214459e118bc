"""Counts of one fold's rows in shards: agree on levels, count each block of rows, and add up the counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import numpy as np

from ...core.errors import DataError
from ...counts.agreement import Agreement
from ...counts.counting import TableBlocks, agreed_coding, count_rows
from ...counts.sufficient_statistics import SufficientStatistics, read_statistics_of, write_statistics
from ...data.storage import read_features, read_shard
from .fold import Fold


def agree(fold: Fold, agreement: Path) -> None:
    """Write levels and borders of a fold's rows, as the CI test codes them, as statistics of zero rows.

    Raises `DataError` if cells are missing: imputing them needs all rows.
    """
    provenance, test, stored = fold.provenance("agreement", agreement), fold.test(), read_features(fold.table)
    table = stored.features.with_column(stored.target).take(fold.rows())
    incomplete = table.first_incomplete()
    if incomplete is not None:
        raise DataError(
            f"{fold.dataset}: column {incomplete.name!r} has {incomplete.n_missing()} missing cells, which shards "
            "cannot fill. Set missing: drop, or remove shards."
        )
    options = test.options()
    bins, binning = options.get("bins", 2), options.get("binning")  # fisher-z has neither
    codings = tuple(agreed_coding(column, bins, binning) for column in table.columns)
    agreed = Agreement(stored.target.name, codings, test.sums)
    write_statistics(agreement, SufficientStatistics(agreed, 0), provenance)


def count_shard(fold: Fold, agreement: Path, shard: str, counts: Path) -> None:
    """Count the fold's rows in one block of the table, ``3of16`` for the third of 16."""
    at, agreed = int(shard.split("of")[0]), read_statistics_of(agreement).agreement
    provenance = fold.provenance("count_shard", counts, [agreement])
    table, first = read_shard(fold.table, at)
    rows = fold.rows()
    own = rows[(rows >= first) & (rows < first + table.n_rows)] - first
    write_statistics(counts, count_rows(TableBlocks(table.take(np.sort(own))), agreed), provenance)


def merge_shards(fold: Fold, agreement: Path, shards: Sequence[Path], counts: Path) -> None:
    """Add up the counts of all shards, in order."""
    provenance = fold.provenance("counts", counts, [agreement])
    write_statistics(counts, reduce(SufficientStatistics.merged, map(read_statistics_of, shards)), provenance)
