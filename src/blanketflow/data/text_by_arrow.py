"""Text tables by pyarrow, in a fifteenth of the time of the csv module, where both give the same.

Columns of plain numbers and missing cells are converted block by block; of others the distinct texts are kept. Each
step is only taken where the csv module and `column_of_texts` certainly give the same columns.
"""

from __future__ import annotations

import re
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..core.cards import INTEGER, NUMERIC
from ..core.errors import DataError
from ..core.table import Column
from .arrow import joined, numbers_from_arrow
from .columns_of_text import CELL_BYTES, CodedTexts, TextRules, is_number, joined_columns, texts_by_column
from .dialect import number_format
from .input_file import MOST_CHARACTERS, MOST_COLUMNS
from .missing_markers import MissingMarkers

#: Bytes that are parsed at once, at least and at most, and those for each column: few rows at once are slow.
_BLOCK, _MOST_BLOCK, _BLOCK_OF_COLUMN = 2**20, 2**25, 2**11
#: Of a table with fewer bytes for each column, pyarrow's steps for a column take longer than the csv module.
COLUMN_BYTES = 5_000
#: A whole number of 64 bits has no more characters, other than with blanks and zeros before it.
_WHOLE_BYTES = 19


class _UnlikeError(Exception):
    """The csv module may read this in another way."""


class Rows(NamedTuple):
    """The rows of a table of text, which may be read more than once."""

    opened: Callable[[], AbstractContextManager[BinaryIO]]
    delimiter: str
    #: What lines begin with that are left out.
    comment: str | None
    #: Is told how many bytes the numbers of each block take in memory, and may raise.
    count: Callable[[int], None] | None
    #: Lines above the first row, and cells of each row.
    n_above: int
    width: int

    def blocks(self, places: Sequence[int]) -> Iterator[list[Any]]:
        """Yield the texts of the columns in some places, as Arrow arrays of a block of rows."""
        import pyarrow as pa
        from pyarrow import csv

        names = [str(place) for place in range(self.width)]
        texts = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), include_columns=[names[place] for place in places]
        )
        written = csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True)
        n_above = self.n_above
        # Not by its reader of streams, whose threads wait for each other for ever after an error.
        for block in self._whole_rows():
            n_lines = block.count(b"\n") + (not block.endswith(b"\n"))
            if not block.strip(b"\r\n") or n_above >= n_lines:  # nothing else, as above a long table of comments
                if n_above and b"\r" in block.replace(b"\r\n", b""):
                    raise _UnlikeError  # which ends a line as well
                n_above = max(n_above - n_lines, 0)
                continue
            at_once = {"use_threads": False, "block_size": len(block) + 1}
            options = csv.ReadOptions(column_names=names, skip_rows=n_above, **at_once)
            found = csv.read_csv(pa.BufferReader(block), options, written, texts)
            n_above = 0
            if self.count is not None:
                self.count(CELL_BYTES * self.width * found.num_rows)
            if found.num_rows:
                yield [joined(column) for column in found.columns]

    def _whole_rows(self) -> Iterator[bytes]:
        """Yield blocks that begin and end with a row."""
        size = min(max(_BLOCK, _BLOCK_OF_COLUMN * self.width), _MOST_BLOCK)
        with self.opened() as raw:
            rest, is_first = b"", True
            mark = self.comment and re.compile(rb"^%b[^\r\n]*" % re.escape(self.comment.encode()), re.MULTILINE)
            while more := raw.read(max(size, len(rest))):
                rest += more
                if end := _end_of_rows(rest):
                    yield self._checked(mark.sub(b"", rest[:end]) if mark else rest[:end], is_first)
                    rest, is_first = rest[end:], False
                elif len(rest) > _MOST_BLOCK:
                    raise _UnlikeError
            if rest:
                yield self._checked(mark.sub(b"", rest) if mark else rest, is_first)

    def _checked(self, block: bytes, is_first: bool) -> bytes:
        """Return whole rows; raises if they may be read otherwise.

        Every other quote begins a cell, or is the second of two in it. Those between them end it, or are the first.
        """
        bare = block.removeprefix(BOM_UTF8) if is_first else block
        if bare.startswith(BOM_UTF8):
            raise _UnlikeError  # pyarrow leaves it out of any block
        if b'"' in bare:
            near = np.frombuffer(b"\n%b\n" % bare, dtype=np.uint8)
            quotes = np.flatnonzero(near == ord('"'))
            if len(quotes) % 2:
                raise _UnlikeError
            beside = np.concatenate([near[quotes[::2] - 1], near[quotes[1::2] + 1]])
            if not np.isin(beside, [*f'{self.delimiter}\r\n"'.encode()]).all():
                raise _UnlikeError
        return block


def _end_of_rows(block: bytes) -> int:
    """Return where the last line ends that has no quote open, 0 if none does; the block begins with a row."""
    end, n_quotes = len(block), block.count(b'"')
    while last := block.rfind(b"\n", 0, end) + 1:
        n_quotes -= block.count(b'"', last, end)
        if n_quotes % 2 == 0:
            return last
        end = last - 1
    return 0


class _Marks:
    """Which texts stand for missing cells, as pyarrow needs it."""

    def __init__(self, markers: MissingMarkers) -> None:
        import pyarrow as pa

        # In others `number_format` looks at commas, and a NUL is refused.
        texts = [text for text in markers.texts() if "," not in text and "\0" not in text]
        self.texts = pa.array(sorted(texts), type=pa.string())
        self.have_numbers = any(map(is_number, texts))


class _Texts(CodedTexts):
    def add_cells(self, cells: Any, longest: int) -> bool:
        """Add the cells of some rows; return that this can be done."""
        coded = cells.dictionary_encode()
        self.add(coded.dictionary.to_pylist(), numbers_from_arrow(coded.indices))
        return True

    def is_certain(self) -> bool:
        """Return that texts are what they are."""
        return True


class PlainNumbers:
    """The cells of one column while all are plain numbers or missing."""

    def __init__(self, marks: _Marks) -> None:
        self._marks = marks
        self._parts: list[np.ndarray] = []
        self._missing: Counter[str] = Counter()
        #: Whether all are whole numbers of 64 bits, and whether some are known to have decimals.
        self._are_whole, self._have_decimals = True, False

    def add_cells(self, cells: Any, longest: int) -> bool:
        """Add the cells of some rows, the longest of so many bytes; return False if some are nothing of the kind."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = None if self._marks.have_numbers else self._numbers(cells, longest)
        if values is None:
            trimmed = pc.ascii_trim_whitespace(cells)
            are_missing = pc.is_in(trimmed, value_set=self._marks.texts)
            values = self._numbers(pc.if_else(are_missing, pa.scalar(None, pa.string()), trimmed), longest)
            if values is None:
                return False
            counts = pc.value_counts(trimmed.filter(are_missing)).to_pylist()
            self._missing.update({one["values"]: one["counts"] for one in counts})
        self._parts.append(values)
        return True

    def _numbers(self, cells: Any, longest: int) -> np.ndarray | None:
        """Return the numbers of some cells, NaN where they are null; None if one may be no number."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self._are_whole and longest <= _WHOLE_BYTES:
            held = cells.buffers()[2]
            said = b"" if held is None else held.to_pybytes()
            # pyarrow knows hexadecimal numbers, and minus zero is one of its own if another block has decimals.
            if not any(sign in said for sign in (b"x", b"X", b"-0")):
                with suppress(pa.ArrowInvalid):
                    return numbers_from_arrow(cells.cast(pa.int64()))
        try:
            values = numbers_from_arrow(cells.cast(pa.float64()))
        except pa.ArrowInvalid:
            return None
        are_nan = np.isnan(values)
        if np.count_nonzero(are_nan) > cells.null_count:
            return None  # which has many spellings
        self._are_whole = False
        if not self._have_decimals:  # else all may be whole, with signs or too many digits
            known = values[~are_nan]
            has_point = pc.any(pc.match_substring(cells, ".")).as_py()
            self._have_decimals = bool(has_point) or not np.array_equal(known, np.rint(known))
        return values

    def is_certain(self) -> bool:
        """Join the cells; return whether they are known to make the column that their texts would make."""
        import pyarrow as pa

        values = np.concatenate(self._parts)
        self._parts = [values]
        if values.nbytes > _BLOCK:
            pa.default_memory_pool().release_unused()
        return self._are_whole or self._have_decimals

    def column(self, rules: TextRules, column: str, numbers: None) -> Column:
        """Make the column, as `column_of_texts` does; it is not to be text, and its numbers are plain."""
        values = self._parts.pop()
        rules.markers.note(column, self._missing)
        is_unknown = values.dtype.kind == "f" and np.isnan(values).all()
        return Column(column, INTEGER if self._are_whole and not is_unknown else NUMERIC, values)


def columns_by_arrow(
    rules: TextRules,
    opened: Callable[[], AbstractContextManager[BinaryIO]],
    n_bytes: int,
    delimiter: str,
    comment: str | None,
    count: Callable[[int], None] | None,
    n_above: int,
    header: Sequence[str],
) -> list[Column] | None:
    """Return what `columns_of_rows` returns for a file; None if only that can tell, or can name the error.

    `opened` opens the file, of about `n_bytes`, with `n_above` lines above the rows. With None, markers and dialect are
    unchanged. Raises `DataError` as `column_of_texts` does.
    """
    import pyarrow as pa

    if n_bytes < COLUMN_BYTES * len(header):
        return None
    rows = Rows(opened, delimiter, comment, count, n_above, len(header))
    marks = _Marks(rules.markers)
    try:
        as_text = [at for at, column in enumerate(header) if column in rules.as_text]
        parts = _read(rows, range(len(header)), as_text, marks)
        numbers = [at for at, part in parts.items() if isinstance(part, PlainNumbers)]
        texts = texts_by_column(header, [parts[at] for at in range(len(header))], rules.no_numbers)
        if numbers and not _are_plain(rules, texts):
            parts |= _read(rows._replace(count=None), numbers, numbers, marks)
    except (pa.ArrowException, DataError, OSError, EOFError, ValueError, zlib.error, _UnlikeError):
        return None
    return joined_columns(rules, header, [parts.pop(at) for at in range(len(header))])


def _are_plain(rules: TextRules, texts: dict[str, Collection[str]]) -> bool:
    """Return whether numbers are written plainly, as far as the columns of texts tell; the others have no commas."""
    try:
        return number_format(rules.name, texts, rules.markers.texts(), replace(rules.dialect, found=[])) is None
    except DataError:
        return False


def _read(
    rows: Rows, places: Sequence[int], texts: Collection[int], marks: _Marks
) -> dict[int, CodedTexts | PlainNumbers]:
    """Return the cells of the columns in some places, `texts` or numbers; those that are no numbers are read again."""
    done: dict[int, CodedTexts | PlainNumbers] = {}
    while places:
        parts = {at: _Texts() if at in texts else PlainNumbers(marks) for at in places}
        again: set[int] = set()
        is_first = True
        for block in rows.blocks(places):
            for at, cells in zip(places, block, strict=True):
                longest = _longest(cells, rows.width)
                if at not in again and not parts[at].add_cells(cells, longest):
                    parts[at] = _Texts()
                    if is_first:
                        parts[at].add_cells(cells, longest)
                    else:
                        again.add(at)
            is_first = False
        if is_first:
            raise _UnlikeError
        again |= {at for at, part in parts.items() if not part.is_certain()}
        done |= {at: part for at, part in parts.items() if at not in again}
        places = texts = sorted(again)
        rows = rows._replace(count=None)
    return done


def _longest(cells: Any, width: int) -> int:
    """Return how many bytes the longest text has; raises if cells, or separators in those of a row, may be too many."""
    bounds = np.frombuffer(cells.buffers()[1], dtype=np.int32, count=len(cells) + 1, offset=4 * cells.offset)
    longest = int(np.diff(bounds).max())
    if longest > MOST_CHARACTERS or longest * width > MOST_COLUMNS:
        raise _UnlikeError
    return longest
