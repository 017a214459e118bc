"""Work that is shared by threads: compiled kernels and NumPy, which work at the same time in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


def in_threads(work: Callable[[Item], Found], items: Sequence[Item], n_threads: int) -> list[Found]:
    """Return what the work finds for each item, in order; one thread is none beside the caller's.

    The work may not change what another item's work reads. Raises what the work raises.

    Examples
    --------
    >>> in_threads(abs, [-3, 2, -1], n_threads=2)
    [3, 2, 1]
    """
    if min(n_threads, len(items)) <= 1:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(n_threads, len(items))) as pool:
        return list(pool.map(work, items))


def shares(n_items: int, n_shares: int) -> list[slice]:
    """Return slices of about the same length that hold all items, none of them empty.

    Examples
    --------
    >>> shares(5, 2), shares(1, 4)
    ([slice(0, 2, None), slice(2, 5, None)], [slice(0, 1, None)])
    """
    n_shares = max(1, min(n_shares, n_items))
    borders = [i * n_items // n_shares for i in range(n_shares + 1)]
    return [slice(start, stop) for start, stop in pairwise(borders)]
