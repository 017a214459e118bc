"""When a table goes into a mapped file: beyond `max_memory`, by default half of the memory that is free."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.mapped_file import WIDEST, MappedFile

#: Bytes of the row lists that tests make of a cell, which are in memory besides the cell.
LISTED = 4


def file_beyond(n_rows: int, cell_bytes: Sequence[int], max_memory: int | None) -> MappedFile | None:
    """Return a file for columns that take more memory than `max_memory`, with their row lists; None if they do not.

    `cell_bytes` says how many bytes a cell of each column takes. None stands for half of the memory that is free.
    """
    if not is_beyond(n_rows, cell_bytes, max_memory):
        return None
    return MappedFile((n_rows * WIDEST + 64) * len(cell_bytes))


def is_beyond(n_rows: int, cell_bytes: Sequence[int], max_memory: int | None) -> bool:
    """Return whether columns take more memory than `max_memory`, with their row lists."""
    n_bytes = n_rows * sum(one + LISTED for one in cell_bytes)
    return n_bytes > (free_memory() // 2 if max_memory is None else max_memory)


def free_memory() -> int:
    """Return how many bytes of memory are free, in the machine."""
    import psutil

    return psutil.virtual_memory().available
