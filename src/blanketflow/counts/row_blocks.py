"""A table as blocks of rows of one size, read one after the other: only one block is in memory at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..core.cards import REGRESSION
from ..core.errors import DataError
from ..core.table import Column, Table, used_levels
from ..core.task import MAX_NUMERIC_CLASSES, ROWS_PER_NUMERIC_CLASS
from ..data.arrow import cell_bytes, columns_from_arrow
from ..data.column_roles import check_settings, feature_names, prepare_target, setting

#: Rows of a block. Cross products are merged block by block, so that their last digits depend on it.
BLOCK_ROWS = 2**16
#: Keys of a data set under which a Parquet file is read in blocks; with others the table is read whole.
STREAMED = {"path", "target", "task", "drop", "format", "max_memory"}


class RowBlocks:
    """A table's features, then its target, block by block.

    `names` are the columns, the target last; `n_rows` is the number of all rows.
    """

    names: list[str]
    n_rows: int

    @abstractmethod
    def column(self, name: str) -> Column:
        """Return a whole column; the target as methods use it."""

    @abstractmethod
    def blocks(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """Yield some columns, or all, of `BLOCK_ROWS` rows at a time; of fewer at the end."""


class TableBlocks(RowBlocks):
    """The blocks of a table that is in memory; its last column is the target."""

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
    """The blocks of a Parquet file, by the keys of a data set: `path`, `target`, `task` and `drop`."""

    def __init__(self, name: str, spec: Mapping[str, Any]) -> None:
        import pyarrow.parquet as pq

        check_settings(name, spec)
        self._name, self._spec, self._path, self._target = name, spec, Path(spec["path"]), spec["target"]
        try:
            with pq.ParquetFile(self._path) as file:
                self.n_rows, schema = file.metadata.num_rows, file.schema_arrow
        except OSError as error:
            raise DataError(
                f"{name}: {self._path} is not a readable Parquet file ({error}). Write it again."
            ) from error
        if not self.n_rows:
            raise DataError(f"{name}: {self._path} has no rows.")
        self.names = [*feature_names(name, spec, schema.names, self._target), self._target]
        widths = dict(zip(schema.names, cell_bytes(schema), strict=True))
        #: How many bytes a cell of each of these columns takes in memory.
        self.cell_bytes = [widths[column] for column in self.names]

    def column(self, name: str) -> Column:
        """Return a whole column."""
        found = self._whole(name)
        if name != self._target:
            return used_levels(found)
        if n_missing := found.n_missing():
            raise DataError(f"{self._name}: the target {name!r} has {n_missing} missing cells. Drop these rows first.")
        return prepare_target(self._name, self._spec, self._few_of_each(found))[0]

    def has_missing_target(self) -> bool:
        """Return whether a cell of the target is missing."""
        return self._whole(self._target).n_missing() > 0

    def _whole(self, name: str) -> Column:
        import pyarrow as pa

        return columns_from_arrow(self._name, pa.Table.from_batches([*self._batches([name])]))[0]

    def _few_of_each(self, target: Column) -> Column:
        """Return a target with each class as often as the rules of tasks and classes can tell, which saves memory."""
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

    def _batches(self, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            # Else whole columns of the file are in memory at once.
            one_page = {"pre_buffer": False, "buffer_size": 2**20}
            with pq.ParquetFile(self._path, page_checksum_verification=True, **one_page) as file:
                yield from file.iter_batches(BLOCK_ROWS, columns=list(names))
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"{self._name}: {self._path} is not a readable Parquet file ({error}). Write it again."
            ) from error

    def _table(self, names: Sequence[str], rows: Any) -> Table:
        columns = {column.name: column for column in columns_from_arrow(self._name, rows)}
        return Table([columns[name] for name in names])
