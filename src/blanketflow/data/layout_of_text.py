"""What the beginning of a text table tells: what separates its cells, and which lines above it are comments."""

from __future__ import annotations

import csv
import io
import itertools
from contextlib import suppress
from typing import NamedTuple

from .dialect import Dialect

DELIMITERS = ",;\t|"
#: How much of a file is looked at.
SAMPLE_BYTES, _SAMPLE_ROWS = 64_000, 100


class Layout(NamedTuple):
    """What the beginning of a text tells: what separates cells, and how many lines above the header are comments."""

    delimiter: str
    n_comments: int = 0


def layout_of(sample: bytes, dialect: Dialect) -> Layout:
    """Return the layout of a text that begins with these bytes of UTF-8; comments that were found are said."""
    text = sample.decode("utf-8-sig", errors="ignore")
    n_comments = 0 if dialect.comment else _comments_above(text, dialect)
    if n_comments:
        dialect.say(f"{n_comments} line{'s' if n_comments > 1 else ''} above the table that begin with #", "comment")
    lines = _lines(text)[n_comments:]
    text = "".join(line for line in lines if not dialect.comment or not line.startswith(dialect.comment))
    return Layout(_find_delimiter(text.lstrip("\r\n"), dialect), n_comments)


def _comments_above(text: str, dialect: Dialect) -> int:
    """Return how many lines at the beginning are comments: the last one that begins with # may be the header."""
    lines = _lines(text)
    n = next((at for at, line in enumerate(lines) if not line.startswith("#")), 0)
    if not n or not dialect.header:
        return n
    rest = "".join(lines[n - 1 :])
    splits, same, _ = _fit(rest, _find_delimiter(rest, dialect))
    return n - 1 if splits and same > 0.5 else n


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends, as a reader of CSV sees them: a form feed ends none."""
    return list(io.StringIO(text, newline=""))


def _find_delimiter(text: str, dialect: Dialect) -> str:
    """Return the delimiter in the first line that splits the first rows best; a blank if no other one is there."""
    if dialect.sep:
        return dialect.sep
    header = text.partition("\n")[0] if dialect.header else text.lstrip().partition("\n")[0].rstrip()
    found = [delimiter for delimiter in DELIMITERS if delimiter in header and delimiter != dialect.decimal]
    if not found:
        return " " if " " in header and (not dialect.header or _fits_blank(text)) else DELIMITERS[0]
    return found[0] if len(found) == 1 else max(found, key=lambda delimiter: _fit(text, delimiter))


def _fits_blank(text: str) -> bool:
    """Whether blanks split all rows of a text into as many cells as its header, or into one more."""
    widths: list[int] = []
    lines = _lines(text)[: _SAMPLE_ROWS + 1]
    with suppress(csv.Error):
        reader = csv.reader(map(str.strip, lines), delimiter=" ", skipinitialspace=True, strict=True)
        widths.extend(len(row) for row in reader if row)
    others = set(widths[1:])
    return len(others) == 1 and widths[0] > 1 and others <= {widths[0], widths[0] + 1}


def _fit(text: str, delimiter: str) -> tuple[bool, float, int]:
    """Return how well a delimiter splits a text: whether at all, the share of rows as long as the first, its cells.

    csv.Sniffer knows more, but its regular expressions take minutes for a file with many quotes.
    """
    widths: list[int] = []
    with suppress(csv.Error):  # reading the file reports it
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        widths.extend(itertools.islice((len(row) for row in reader if row), _SAMPLE_ROWS))
    first = widths[0] if widths else 0
    return first > 1, widths.count(first) / max(len(widths), 1), first
