"""Tables counted from codes packed in 1, 2, 4, 8 or 16 bits per cell.

Rows are packed in blocks of `BLOCK`; a column's block takes ``BLOCK * bits / 8`` bytes. Each byte holds cells of
distant rows, so that loops over bytes vectorise. With 16 bits the lower bytes of a block come first, then the upper
ones.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: Rows of a block, such that a query's data of a block fits the second-level cache.
BLOCK = 2**13


@njit("void(uint16[::1], int64, uint8[::1])", cache=True, nogil=True)
def pack_block(codes, bits, packed):
    """Pack the codes of one block, of `BLOCK` rows or fewer at the end, over zeros."""
    if bits == 16:
        for i in range(len(codes)):
            packed[i] = np.uint8(codes[i] & 255)
            packed[BLOCK + i] = np.uint8(codes[i] >> 8)
        return
    n_bytes = BLOCK * bits // 8
    for i in range(len(codes)):
        packed[i % n_bytes] |= np.uint8(codes[i] << (i // n_bytes * bits))


@njit
def _append(keys, packed, start, bits, n_levels):
    """Multiply each key by a column's levels and add its code, for one block that starts at a byte."""
    r = np.uint32(n_levels)
    if bits == 16:
        for i in range(BLOCK):
            code = np.uint32(packed[start + i]) | (np.uint32(packed[start + BLOCK + i]) << np.uint32(8))
            keys[i] = keys[i] * r + code
        return
    n_bytes, mask = BLOCK * bits // 8, np.uint32((1 << bits) - 1)
    block = packed[start : start + n_bytes]
    for turn in range(8 // bits):
        shift, part = np.uint32(turn * bits), keys[turn * n_bytes : (turn + 1) * n_bytes]
        for j in range(n_bytes):
            part[j] = part[j] * r + ((np.uint32(block[j]) >> shift) & mask)


_PACKED = "uint8[::1], int64[::1], int64[::1], int64[::1]"


@njit(
    f"void({_PACKED}, int64, int64, int32[::1], int32[::1], int64[::1], int64[::1], int64[:, ::1])",
    cache=True,
    nogil=True,
)
def count_tables(packed, starts, bits, n_levels, first_row, last_row, others, members, set_start, table_start, counts):
    """Count the tables of sets of columns with some `others` in one pass over rows, adding to `counts`.

    `packed` are the blocks of columns with `starts`, `bits` per cell and `n_levels`, (d,). Rows are `first_row`, a
    multiple of `BLOCK`, up to `last_row`, excluded. Set i is ``members[set_start[i] : set_start[i + 1]]``; its columns
    come before `others`, whose last varies fastest, in the table that starts at ``table_start[i]`` of `counts`, (turns,
    cells). Rows take turns, since a count must be stored before it can be increased again; the table is the sum over
    turns.
    """
    cells, keys = np.empty(BLOCK, dtype=np.uint32), np.empty(BLOCK, dtype=np.uint32)
    n_cells, turns = np.uint32(1), len(counts)
    for column in others:
        n_cells *= np.uint32(n_levels[column])
    for first in range(first_row, last_row, BLOCK):
        at, length = first // BLOCK, min(BLOCK, last_row - first)
        cells[:] = 0
        for column in others:
            _append(cells, packed, starts[column] + at * (BLOCK * bits[column] // 8), bits[column], n_levels[column])
        for one in range(len(set_start) - 1):
            keys[:] = 0
            for column in members[set_start[one] : set_start[one + 1]]:
                start = starts[column] + at * (BLOCK * bits[column] // 8)
                _append(keys, packed, start, bits[column], n_levels[column])
            for i in range(BLOCK):
                keys[i] = keys[i] * n_cells + cells[i]
            begin, end = table_start[one], table_start[one + 1]
            whole = length - length % 4 if turns == 4 else 0
            if turns == 4:
                a, b, c, d = counts[0, begin:end], counts[1, begin:end], counts[2, begin:end], counts[3, begin:end]
                for i in range(0, whole, 4):
                    a[keys[i]] += 1
                    b[keys[i + 1]] += 1
                    c[keys[i + 2]] += 1
                    d[keys[i + 3]] += 1
            rest = counts[0, begin:end]
            for i in range(whole, length):
                rest[keys[i]] += 1
