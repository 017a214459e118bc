"""Columns packed into bit sets, one per level, side by side, so that one instruction counts for many columns.

A column with r levels has r - 1 bit sets; the rows of code 0 are the remainder. ``bits[block, word, place]`` holds 64
rows of one bit set, in blocks of `BLOCK` bit sets; those of a column are in one block and start at `first`, (k,),
counted through all blocks.

Before packing, k columns are coded together, in the rows of `values` or `codes`, (k, n). Codes are 0 .. n_levels - 1;
`n_levels`, (k,), counts the occurring values.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from .contingency import _popcount

#: Number of bit sets in a block. At 800 rows a block has 26 kB, which fits the first-level cache.
BLOCK = 256


#: A user's own matrix may be read-only.
_BYTES = types.Array(types.uint8, 2, "C", readonly=True)


@njit(
    types.void(_BYTES, types.int64, types.Array(types.uint64, 3, "C"), types.Array(types.uint8, 1, "C")),
    cache=True,
    nogil=True,
)
def pack_bytes(values, first_column, bits, seen):
    """Pack k columns of zeros and ones of `values`, (n, d), from `first_column` on, into one bit set each, in the
    lowest bits.

    Writes `bits`, (ceil(k / BLOCK), ceil(n / 64), BLOCK), and `seen`, (k,), each column's bytes combined by "or", which
    is above 1 for other values.
    """
    n = len(values)
    words = np.empty(BLOCK, dtype=np.uint64)
    eight, or_ed = np.empty(BLOCK, dtype=np.uint8), np.empty(BLOCK, dtype=np.uint8)
    for block in range(len(bits)):
        start = block * BLOCK
        width = min(BLOCK, len(seen) - start)
        column = first_column + start
        or_ed[:] = 0
        for w in range(bits.shape[1]):
            words[:] = 0
            for part in range(8):  # eight rows as bytes first: the processor handles eight times as many bytes as words
                first_row = w * 64 + part * 8
                if first_row >= n:
                    break
                eight[:] = 0
                for row in range(min(n, first_row + 8) - 1, first_row - 1, -1):
                    line = values[row, column : column + width]
                    for j in range(width):
                        or_ed[j] |= line[j]
                        eight[j] = np.uint8((eight[j] << 1) | (line[j] & 1))
                shift = np.uint64(part * 8)
                for j in range(width):
                    words[j] |= np.uint64(eight[j]) << shift
            for j in range(BLOCK):
                bits[block, w, j] = words[j]
        for j in range(width):
            seen[start + j] = or_ed[j]


@njit("void(uint8[:, ::1], uint32[::1], int32[::1], int64[::1], uint64[:, :, ::1])", cache=True, nogil=True)
def pack_values(values, seen, n_levels, first, bits):
    """Pack columns of values 0 .. 31 in `values`, (n, k), into zeroed `bits`, from `first`, (k,), on, unless -1.

    With an empty `first`, write the set of each column's values as bits of `seen`, and their number; these are needed
    to pack. The value 0 must occur. A row's columns are compared with one value side by side.
    """
    if not len(first):
        seen[:] = 0
        for row in range(len(values)):
            for j in range(len(seen)):
                seen[j] |= np.uint32(1) << np.uint32(values[row, j])
        for j in range(len(seen)):
            n_levels[j] = np.int32(_popcount(np.uint64(seen[j])))
        return
    n, k = values.shape
    eight, words = np.empty(BLOCK, dtype=np.uint8), np.empty((32, BLOCK), dtype=np.uint64)
    for start in range(0, k, BLOCK):
        width = min(BLOCK, k - start)
        any_seen = np.uint32(0)
        for j in range(start, start + width):
            any_seen |= seen[j] if first[j] >= 0 else np.uint32(0)
        for w in range(bits.shape[1]):
            for value in range(1, 32):
                if not any_seen >> np.uint32(value) & np.uint32(1):
                    continue
                word, wanted = words[value], np.uint8(value)
                word[:] = 0
                for first_row in range(w * 64, min(n, w * 64 + 64), 8):  # bytes first, as in `pack_bytes`
                    eight[:] = 0
                    shift = np.uint64(first_row & 63)
                    for row in range(min(n, first_row + 8) - 1, first_row - 1, -1):
                        line = values[row, start : start + width]
                        for j in range(width):
                            eight[j] = np.uint8((eight[j] << 1) | np.uint8(line[j] == wanted))
                    for j in range(width):
                        word[j] |= np.uint64(eight[j]) << shift
            for j in range(width):
                if first[start + j] >= 0:
                    block, place = bits[first[start + j] // BLOCK, w], first[start + j] % BLOCK
                    for value in range(1, 32):
                        if seen[start + j] >> np.uint32(value) & np.uint32(1):
                            block[place] = words[value, j]
                            place += 1


@njit("void(int64[:, ::1], int64, uint8[:, ::1], int32[::1])", cache=True, nogil=True)
def rank_integers(values, most_levels, codes, n_levels):
    """Rank the integers of each row of `values`; no codes and 0 levels for more than `most_levels`, at most 255,
    values.
    """
    n = values.shape[1]
    found = np.empty(most_levels + 1, dtype=np.int64)
    for i in range(len(values)):
        line, count = values[i], 0
        for row in range(n):
            value = line[row]
            if row and value == line[row - 1]:
                continue
            k = 0
            while k < count and found[k] < value:
                k += 1
            if k < count and found[k] == value:
                continue
            if count == most_levels:
                count = -1
                break
            for later in range(count, k, -1):
                found[later] = found[later - 1]
            found[k] = value
            count += 1
        n_levels[i] = max(count, 0)
        if count > 0:
            for row in range(n):
                code = np.uint8(0)
                for k in range(count - 1):
                    code += np.uint8(found[k] < line[row])
                codes[i, row] = code


@njit("void(float64[:, ::1], float64[:, ::1], uint8[:, ::1], int32[::1])", cache=True, nogil=True)
def code_by_borders(values, borders, codes, n_levels):
    """Code each row of `values` by the number of borders below a value, renumbered to the codes that occur.

    `borders`, (k, b), ascend with repetitions in each row, b at most 254.
    """
    b = borders.shape[1]
    new = np.empty(b + 1, dtype=np.uint8)
    for i in range(len(values)):
        new[:] = 0
        for row in range(values.shape[1]):
            code = np.uint8(0)
            for k in range(b):
                code += np.uint8(borders[i, k] < values[i, row])
            codes[i, row] = code
            new[code] = 1
        count = 0
        for code in range(b + 1):
            present = new[code]
            new[code] = count
            count += present
        n_levels[i] = count
        if count < b + 1:
            for row in range(values.shape[1]):
                codes[i, row] = new[codes[i, row]]


@njit("int64(int32[::1], int64, int64[::1])", cache=True, nogil=True)
def place_bit_sets(n_levels, at, first):
    """Write `first`, the places of bit sets from `at` on, each column within one block; return the next free place."""
    for i in range(len(n_levels)):
        needed = max(np.int64(n_levels[i]) - 1, 1)
        if at % BLOCK + needed > BLOCK:
            at += BLOCK - at % BLOCK
        first[i] = at
        at += needed
    return at


@njit("void(uint8[:, ::1], int32[::1], int64[::1], uint64[:, :, ::1])", cache=True, nogil=True)
def pack_codes(codes, n_levels, first, bits):
    """Pack coded columns of at most 65 levels into `bits`, (blocks, ceil(n / 64), BLOCK), initially zero."""
    n = codes.shape[1]
    words = np.empty(65, dtype=np.uint64)
    for i in range(len(codes)):
        block, place, r = first[i] // BLOCK, first[i] % BLOCK, n_levels[i]
        for w in range(bits.shape[1]):
            words[:r] = 0
            for row in range(w * 64, min(n, w * 64 + 64)):
                words[codes[i, row]] |= np.uint64(1) << np.uint64(row & 63)
            for level in range(1, r):
                bits[block, w, place + level - 1] = words[level]


@njit("void(uint64[:, :, ::1], int32[::1])", cache=True, nogil=True)
def count_set_bits(bits, n_set):
    """Count each bit set; writes `n_set`, (blocks * BLOCK,)."""
    for block in range(len(bits)):
        counts = n_set[block * BLOCK : (block + 1) * BLOCK]
        counts[:] = 0
        for w in range(bits.shape[1]):
            for place in range(BLOCK):
                counts[place] += np.int32(_popcount(bits[block, w, place]))


@njit("int64(int64[::1], uint64[:, :, ::1], int64[::1], int32[::1], uint32[::1])", cache=True, nogil=True)
def cells_of(columns, bits, first, n_levels, cells):
    """Write `cells`, (n,), initially zero: each row's combination of levels of packed columns, the last varying
    fastest.

    Returns the number of possible combinations. `bits`, `first` and `n_levels` are as in `packed_sums`.
    """
    size = np.int64(1)
    for column in columns:
        r = n_levels[column]
        for row in range(len(cells)):
            cells[row] *= np.uint32(r)
        block, place = bits[first[column] // BLOCK], first[column] % BLOCK
        for level in range(1, r):
            for w in range(len(block)):
                word = block[w, place + level - 1]
                while word:
                    lowest = word & (~word + np.uint64(1))
                    cells[w * 64 + np.int64(_popcount(lowest - np.uint64(1)))] += np.uint32(level)
                    word ^= lowest
        size *= r
    return size
