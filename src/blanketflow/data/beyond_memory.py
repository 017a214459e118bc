"""When a table is kept in a mapped file: above `max_memory`, by default half of the free memory.

Jobs get `max_memory` beside their spec, as threads, since results do not depend on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..core.errors import ConfigError
from ..core.mapped_file import WIDEST, MappedFile
from ..core.parameters import size_in_bytes

#: Says the limit of a process, as a size such as 2GB.
VARIABLE = "BLANKETFLOW_MAX_MEMORY"

#: Bytes of the row lists that tests make of a cell, which are in memory besides the cell.
LISTED = 4


def file_beyond(n_rows: int, cell_bytes: Sequence[int], max_memory: int | None) -> MappedFile | None:
    """Return a file for columns that, with their row lists, take more than `max_memory` bytes; None if they do not.

    `cell_bytes` are the bytes of a cell of each column. None is the limit of the process.
    """
    if not is_beyond(n_rows, cell_bytes, max_memory):
        return None
    return MappedFile((n_rows * WIDEST + 64) * len(cell_bytes))


def is_beyond(n_rows: int, cell_bytes: Sequence[int], max_memory: int | None) -> bool:
    """Return whether columns take more memory than `max_memory`, with their row lists."""
    n_bytes = n_rows * sum(one + LISTED for one in cell_bytes)
    return n_bytes > (_most_of_process() if max_memory is None else max_memory)


@contextmanager
def limited_memory(max_memory: int | None) -> Iterator[None]:
    """Let `max_memory` be the limit of this process meanwhile; None and 0 leave it as it is."""
    before = os.environ.get(VARIABLE)
    if max_memory:
        os.environ[VARIABLE] = str(max_memory)
    try:
        yield
    finally:
        if before is not None:
            os.environ[VARIABLE] = before
        elif max_memory:
            del os.environ[VARIABLE]


def _most_of_process() -> int:
    said = os.environ.get(VARIABLE)
    if not said:
        return free_memory() // 2
    size = size_in_bytes(said)
    if size is None:
        raise ConfigError(f"{VARIABLE} is {said!r}, but must be a size such as 2GB, or a number of bytes.")
    return size


def free_memory() -> int:
    """Return how many bytes of memory are free, in the machine."""
    import psutil

    return psutil.virtual_memory().available
