"""CSV and TSV files, whole or their head. One parser serves both, so that plan and jobs see the same columns."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from ..core.errors import DataError
from ..core.table import Column
from .columns import UNNAMED, check_names, name_rows, names_in_header, with_row_names
from .columns_of_text import TextRules, columns_of_rows
from .dialect import (
    ROW_NAMES,
    SINGLE_BYTE,
    Dialect,
    Head,
    Recoded,
    is_single_byte,
    marked_encoding,
)
from .input_file import (
    A_LINE,
    GZIP_MAGIC,
    MOST_CHARACTERS,
    NotUtf8,
    RowGuard,
    RowTooLong,
    Unpacking,
    check_cells,
    decompressed,
    guarded,
    is_packed,
    long_cells,
    opened,
    readable,
)
from .missing_markers import MissingMarkers
from .text_layout import Layout, joined_names, layout_of, sample_of

#: How much of a text file `read_head` looks at.
HEAD_BYTES = 1_000_000
#: Larger files are read by pyarrow where it can: importing what it needs takes as long as reading fewer bytes.
ARROW_BYTES = 1_000_000
UTF_8 = "utf-8"

#: What to do if the rows have one cell more than the header.
ONE_MORE = (
    "If all rows have one more, they begin with row names (in R: write.csv(..., row.names = FALSE)), end with a "
    "separator, or have decimal commas; else mend that line."
)
_MIN_HEAD_LINES = 20
#: A head is no longer than this if it has so many lines.
_MOST_HEAD_BYTES, _FEWEST_HEAD_LINES = 200_000_000, 3


def read_text(
    name: str,
    path: Path,
    as_text: Collection[str] = (),
    dialect: Dialect | None = None,
    markers: MissingMarkers | None = None,
    drop: Collection[str] = (),
) -> list[Column]:
    """Return the columns of a CSV or TSV file, gzipped or not; those in `as_text` are categorical.

    Compression and what the `dialect` leaves open are detected from the content; the dialect then lists what is
    unusual. Without a header, columns are ``x0``, ``x1``, ..., and cells may be separated by blanks. In columns to
    `drop`, too long cells are missing. Raises `DataError` if the file has another encoding, is damaged, takes too much
    memory, or its rows differ in length.
    """
    dialect = dialect or Dialect()
    rules = TextRules(name, as_text, drop, markers or MissingMarkers(), dialect)

    def read(encoding: str) -> list[Column]:
        with _text_opened(name, path, encoding) as raw:
            layout = layout_of(sample_of(raw), dialect)
        with _text_opened(name, path, encoding) as raw:
            guard = RowGuard(name, path, raw, layout.delimiter)
            with io.TextIOWrapper(guarded(guard), encoding="utf-8-sig", newline="") as lines:
                count = Unpacking(name, path).add if is_packed(path) else None
                by_arrow = _by_arrow(rules, path, encoding, layout)
                return _parse(rules, lines, layout, guard, count, by_arrow=by_arrow)

    return _in_its_encoding(name, path, dialect, read)


def read_head(
    name: str,
    path: Path,
    as_text: Collection[str] = (),
    dialect: Dialect | None = None,
    markers: MissingMarkers | None = None,
    drop: Collection[str] = (),
) -> Head:
    """Return the columns of the first rows, of about `HEAD_BYTES`; raises as `read_text` does."""
    dialect = dialect or Dialect()
    rules = TextRules(name, as_text, drop, markers or MissingMarkers(), dialect)

    def read(encoding: str) -> Head:
        with readable(name, path), open(path, "rb") as stored, decompressed(name, path, stored) as packed:
            raw = packed if encoding == UTF_8 else io.BufferedReader(recoded := Recoded(packed, encoding))
            head, ended = _read_head(name, path, raw, dialect)
            lines = head if ended else head[: head.rfind(b"\n") + 1]
            text = io.StringIO(lines.decode("utf-8-sig"), newline="")
            layout = layout_of(sample_of(io.BytesIO(head)), dialect)
            columns = _parse(rules, text, layout, cut=not ended)
            n_bytes = _size(stored) if encoding == UTF_8 else _size(stored) * recoded.n_made / recoded.n_read
            return Head(columns, 1.0 if ended else max(n_bytes, len(head)) / len(lines), dialect.found)

    return _in_its_encoding(name, path, dialect, read, HEAD_BYTES)


def _in_its_encoding(
    name: str, path: Path, dialect: Dialect, read: Callable[[str], Any], most: float = float("inf")
) -> Any:
    """Return what `read` makes of a file in the encoding that is given, marked, or detected from the first bytes."""
    with opened(name, path) as raw:
        marked = marked_encoding(raw.read(4))
    encoding = dialect.encoding or marked or UTF_8
    if marked and not dialect.encoding:
        dialect.say(f"{marked.upper()} text", "encoding")
    try:
        return read(encoding)
    except NotUtf8 as error:
        if encoding != UTF_8 or dialect.encoding:
            raise
        with opened(name, path) as raw:
            if not is_single_byte(raw, most):
                raise
        dialect.found.clear()
        such = f", such as {error.near!r}" if error.near else ""
        dialect.say(f"no UTF-8, so Windows-1252 (Latin-1) text{such}", "encoding")
        return read(SINGLE_BYTE)


@contextmanager
def _text_opened(name: str, path: Path, encoding: str) -> Iterator[BinaryIO]:
    """Open a file of an encoding, gzipped or not, for reading bytes of UTF-8."""
    with opened(name, path) as raw:
        yield raw if encoding == UTF_8 else io.BufferedReader(Recoded(raw, encoding))


def _by_arrow(rules: TextRules, path: Path, encoding: str, layout: Layout) -> Callable[..., list[Column] | None] | None:
    """Return what reads a file by pyarrow; None if it cannot read the layout, or takes as long to import and begin."""
    with open(path, "rb") as stored:
        n_bytes = _size(stored)
    is_plain = layout.delimiter.isascii() and layout.delimiter != " " and layout.quote == '"'
    if n_bytes < ARROW_BYTES or not is_plain or not (layout.comment or "").isascii():
        return None
    from .text_by_arrow import columns_by_arrow

    rows = partial(_text_opened, rules.name, path, encoding)
    count = Unpacking(rules.name, path).add if is_packed(path) else None
    return partial(columns_by_arrow, rules, rows, n_bytes, layout.delimiter, layout.comment, count)


def _read_head(name: str, path: Path, raw: BinaryIO, dialect: Dialect) -> tuple[bytes, bool]:
    """Return the first bytes of a file, some lines of it if they are long, and whether these are all."""
    head = raw.read(HEAD_BYTES)
    parts, n_lines, n_bytes, ended = [head], head.count(b"\n"), len(head), len(head) < HEAD_BYTES
    if ended or n_lines >= _MIN_HEAD_LINES:
        return head, ended
    delimiter = layout_of(sample_of(io.BytesIO(head)), replace(dialect, found=[])).delimiter
    rest = guarded(RowGuard(name, path, raw, delimiter, by_line=True))
    while not ended and n_lines < _MIN_HEAD_LINES and (n_bytes < _MOST_HEAD_BYTES or n_lines < _FEWEST_HEAD_LINES):
        more = rest.read(HEAD_BYTES)
        parts.append(more)
        n_lines, n_bytes, ended = n_lines + more.count(b"\n"), n_bytes + len(more), len(more) < HEAD_BYTES
    return b"".join(parts), ended


def _size(stored: BinaryIO) -> int:
    """Return the size of a file in bytes; of a gzip file the size unpacked, which its last four bytes state."""
    stored.seek(0)
    is_packed = stored.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    size = stored.seek(-4 if is_packed else 0, io.SEEK_END)
    return int.from_bytes(stored.read(4), "little") if is_packed else size


def _parse(
    rules: TextRules,
    lines: Iterable[str],
    layout: Layout,
    guard: RowGuard | None = None,
    count: Callable[[int], None] | None = None,
    cut: bool = False,
    by_arrow: Callable[..., list[Column] | None] | None = None,
) -> list[Column]:
    name, dialect, is_blank = rules.name, rules.dialect, layout.delimiter == " "
    lines = _without_comments(lines, layout)
    lines = map(str.strip, lines) if is_blank else lines
    # Strict, because otherwise a quote that is not closed makes one cell of all rows up to the next quote.
    reader = csv.reader(
        lines,
        delimiter=layout.delimiter,
        skipinitialspace=is_blank,
        strict=True,
        quotechar=layout.quote,
        quoting=csv.QUOTE_MINIMAL if layout.quote else csv.QUOTE_NONE,
    )
    quoted = _well_quoted(name, reader, cut)
    with long_cells():
        n_above, first = 0, next(quoted, None)
        while first is not None and not any(map(str.strip, first)):  # blank lines may come first
            n_above, first = reader.line_num, next(quoted, None)
        if not first and cut:
            raise DataError(f"{name}: the first row does not end. Look whether a quote in it is not closed.")
        if not first:
            raise DataError(f"{name}: the file is empty. It needs a header with column names and rows below it.")
        if guard is not None:
            guard.row_ended()
        lower = first
        while reader.line_num < layout.second and (row := next(quoted, None)) is not None:
            lower = row
        first = first if lower is first else joined_names(first, lower)
        header = [cell.strip() for cell in first] if layout.has_header else [f"x{j}" for j in range(len(first))]
        n_names = len(header)
        n_above = reader.line_num if layout.has_header else n_above
        if layout.has_header:
            header, quoted = with_row_names(header, quoted)
        names = names_in_header(name, header, dialect)
        header = names.names
        names_rows = header[0] == UNNAMED and len(header) > 1
        columns = None
        if by_arrow and layout.units <= n_above + 1:
            columns = by_arrow(max(n_above, layout.units), header)
        if columns is None:
            rows = quoted if layout.has_header else itertools.chain([first], quoted)
            rows = _checked_rows(rules, rows, reader, header, cut, guard)
            columns = columns_of_rows(rules, header, rows, count)
    columns = names.named(name, columns, dialect)
    if not names_rows:
        return columns
    is_short = len(header) > n_names
    if not name_rows(columns[0], by_number=is_short and layout.delimiter == ","):
        if is_short:
            raise DataError(f"{name}: line 2 has {len(header)} cells, but the header has {n_names}. {ONE_MORE}")
        check_names(name, header)
    dialect.say(ROW_NAMES)
    dialect.row_names = columns[0]
    return columns[1:]


def _without_comments(lines: Iterable[str], layout: Layout) -> Iterator[str]:
    """Yield lines, with blank ones in place of those above the header, of comments and of units."""
    mark = layout.comment
    for number, line in enumerate(lines, 1):
        is_left_out = number <= layout.n_above or number == layout.units or (mark is not None and line.startswith(mark))
        yield "\n" if is_left_out else line


def _well_quoted(name: str, reader: Any, cut: bool) -> Iterator[list[str]]:
    """Yield the rows of a CSV reader; an error about wrong quotes names the line where the row begins."""
    line = 1
    try:
        for row in reader:
            yield row
            line = reader.line_num + 1
    except RowTooLong as error:
        raise DataError(str(error).replace(A_LINE, f"the row that begins in line {line}")) from error
    except csv.Error as error:
        if cut and next(reader, None) is None:
            return  # the head ends within a quoted cell
        raise DataError(
            f"{name}: line {line}: a quote is not closed, or text follows a closing one ({error}). Write quotes "
            "within a cell twice, or set quote: none if they are signs like others."
        ) from error


def _checked_rows(
    rules: TextRules, rows: Iterable[list[str]], reader: Any, header: list[str], cut: bool, guard: RowGuard | None
) -> Iterator[list[str]]:
    name, dialect = rules.name, rules.dialect
    width, is_first, rows, is_trimmed = len(header), True, iter(rows), False
    fresh = [True] if guard is None else guard.fresh
    for row in rows:
        if fresh:  # a cell that is too long is never read in one block
            if guard is not None:
                guard.row_ended()
            if len(row) == width and max(map(len, row)) > MOST_CHARACTERS:
                row = check_cells(name, reader.line_num, header, row, set(rules.drop))
        if len(row) == width:
            yield row
        elif len(row) > width and not any(map(str.strip, row[width:])):  # separators at its end
            if not is_trimmed:
                dialect.say(f"empty cells beyond the header's {width}, such as in line {reader.line_num}, left out")
            is_trimmed = True
            yield row[:width]
        elif row:
            line = reader.line_num
            if cut and next(rows, None) is None:
                return  # the head ends within a quoted cell
            hint = _way_out(len(row), width) if is_first or width == 1 else "Mend that line."
            if len(row) == 1 < width and (words := row[0].split()) and not is_first:
                hint = f"Mend that line, or set comment: {json.dumps(words[0])} to leave out lines that begin so."
            raise DataError(f"{name}: line {line} has {len(row)} cells, but the header has {width}. {hint}")
        is_first = is_first and not row


def _way_out(n_cells: int, width: int) -> str:
    """Return what to do if the first row does not fit the header: then the others seldom do."""
    if width == 1:
        return "If the names stand in another line, set header_row to its number."
    if n_cells == width + 1:
        return ONE_MORE
    return "Mend that line, or the header if all rows are so."
