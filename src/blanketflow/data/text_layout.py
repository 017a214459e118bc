"""Where a table stands in a text or sheet: what separates its cells, what is above it, whether it has names and units.

All is told by the first rows. What is taken for plain is reported to the `Dialect`, whose keys override it.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from .dialect import Dialect
from .missing_markers import MissingMarkers

DELIMITERS = ",;\t|"
#: How much of a file is looked at, and the most if it begins with comments.
SAMPLE_BYTES, _SAMPLE_ROWS, _MOST_SAMPLE = 64_000, 100, 64_000_000
#: How many rows may stand above the header.
_MOST_ABOVE = 30
#: The fewest rows that tell what a column holds, and the share of them that must be numbers.
_FEWEST_ROWS, _MOST_NUMBERS = 3, 0.8
#: So many numbers that only ascend or descend are names, such as wavelengths.
_ORDERED = 5
_MISSING = MissingMarkers().texts()
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?").fullmatch
_SEPARATOR_LINE = re.compile(r"\"?sep=(?P<sep>[^\w\"'\r\n.+-])\"?[,;\t|]*\s*", re.IGNORECASE).fullmatch
_LIST_COMMA = re.compile(r"(?<![0-9]),|,(?![0-9])").search
_NO_UNIT = re.compile(r"\W*(units?)?\W*|[\[(].*[\])]", re.IGNORECASE).fullmatch
_OF_SAMPLES = re.compile(r"!Sample_.", re.IGNORECASE).match
_SERIES_MATRIX = re.compile(r"^!series_matrix_table_begin\b", re.IGNORECASE | re.MULTILINE).search


class Layout(NamedTuple):
    """What the first bytes of a text show."""

    delimiter: str
    #: Lines above the header that are left out.
    n_above: int = 0
    #: What lines begin with that are left out anywhere.
    comment: str | None = None
    has_header: bool = True
    #: The number of the line of units, from 1; 0 for none.
    units: int = 0
    #: The sign around cells; None if quotes are signs like others.
    quote: str | None = '"'
    #: The number of the line of the second row of names, from 1; 0 for none.
    second: int = 0


def sample_of(raw: BinaryIO) -> bytes:
    """Return the beginning of a text of UTF-8: more of it where it begins with comments, up to the lines below them."""
    sample = raw.read(SAMPLE_BYTES)
    mark = sample.removeprefix(b"\xef\xbb\xbf")[:1]
    while mark in (b"!", b"#") and len(sample) < _MOST_SAMPLE:
        lines = sample.split(b"\n")
        if not all(line.startswith(mark) or not line.strip() for line in lines[-3:-1]) or not (
            more := raw.read(len(sample))
        ):
            break
        sample += more
    return sample


def layout_of(sample: bytes, dialect: Dialect) -> Layout:
    """Return the layout of a text that begins with these bytes of UTF-8; what is unusual is reported."""
    text = sample.decode("utf-8-sig", errors="ignore")
    lines = _lines(text)
    comment, n_above, separator = dialect.comment, 0, dialect.sep
    quote = {"none": None, None: '"'}.get(dialect.quote, dialect.quote)
    if said := lines and _SEPARATOR_LINE(lines[0]):
        n_above = 1
        if separator is None:
            separator = said["sep"]
            dialect.say(f"a first line sep={separator}", "sep")
    if not comment and text.startswith("!") and _SERIES_MATRIX(text):
        comment = "!"
        dialect.say("the table of a series matrix, below lines with !", "comment")
    if comment == "!" and _SERIES_MATRIX(text):
        dialect.of_samples = said_of_samples(lines)
    skipped = dialect.n_above
    if skipped is not None:
        n_above = skipped
    elif not comment and not n_above and (n_above := _comments_above(lines, dialect, separator)):
        dialect.say(f"{n_above} line{'s' if n_above > 1 else ''} above the table that begin with #", "comment")
    kept = ["\n" if comment and line.startswith(comment) else line for line in lines[n_above:]]
    if skipped is None and not n_above:
        kept = kept or [""]
    rest = "".join(kept)
    delimiter = separator or find_delimiter(rest.lstrip("\r\n"), dialect)
    places, rows = _rows(kept, delimiter, quote, cut=len(sample) >= SAMPLE_BYTES)
    numbers = [n_above + place for place in places]
    second = dialect.second_row
    if skipped is None and dialect.header:
        starts = [end - sum(map(_line_breaks, row)) for end, row in zip(numbers, rows, strict=True)]
        titles, second = find_names(rows, starts, dialect)
        n_above = numbers[titles - 1] if titles else n_above
        numbers, rows = numbers[titles:], rows[titles:]
    has_header = dialect.header and (skipped is not None or second > 0 or not lacks_names(rows, dialect))
    units = dialect.units_row or 0
    names = next((at for at, number in enumerate(numbers) if number >= second), 0)
    if dialect.units_row is None and has_header and are_units(rows[names:]):
        units = numbers[names + 1]
        say_units(dialect, rows[names + 1], units)
    return Layout(delimiter, n_above, comment, has_header, units, quote, second)


def _line_breaks(cell: str) -> int:
    return cell.count("\n")


def find_names(rows: Sequence[Sequence[str]], numbers: Sequence[int], dialect: Dialect) -> tuple[int, int]:
    """Return how many rows stand above the header, and the number of a second row of names, or 0; both are reported.

    `numbers` are those of the rows in their file.
    """
    titles = titles_above(rows)
    two = two_rows_of_names(rows)
    upper, lower = rows[two : two + 2] if two is not None else ((), ())
    if two is not None and (not _are_whole(lower, upper) or _repeats(upper)):
        if two:
            say_titles(dialect, two, numbers[two - 1])
        name = next(name for name, below in zip(joined_names(upper, lower), lower, strict=False) if below.strip())
        both = f"header_row: [{numbers[two]}, {numbers[two + 1]}]"
        dialect.say(f"names in two rows, joined as in {name!r} by {both}", "header_row")
        return two, numbers[two + 1]
    if titles:
        is_joined = two == titles - 1
        join = f" (header_row: [{numbers[titles - 1]}, {numbers[titles]}] joins its names to those below)"
        say_titles(dialect, titles, numbers[titles - 1], join if is_joined else "")
    return titles, 0


def said_of_samples(lines: Sequence[str]) -> list[list[str]]:
    r"""Return the lines of a series matrix on its samples: what each is called, and a cell for each sample.

    >>> said_of_samples(['!Sample_title\t"a"\t"b"\n', "!Series_title\tc\n"])
    [['title', 'a', 'b']]
    """
    rows = [next(csv.reader([line], delimiter="\t"), []) for line in lines if _OF_SAMPLES(line)]
    return [[row[0][len("!Sample_") :], *map(str.strip, row[1:])] for row in rows]


def say_titles(dialect: Dialect, n_titles: int, n_above: int, more: str = "") -> None:
    """Report rows above the header."""
    what = f"{n_titles} rows above the header" if n_titles > 1 else "a row above the header"
    dialect.say(f"{what}, left out by skip_rows: {n_above}{more}", "skip_rows")


def say_units(dialect: Dialect, row: Sequence[str], number: int) -> None:
    """Report a row of units."""
    shown = ", ".join([cell.strip() for cell in row if cell.strip()][:3])
    dialect.say(f"a row of units ({shown}), left out by units_row: {number}", "units_row")


def _comments_above(lines: list[str], dialect: Dialect, separator: str | None) -> int:
    """Return how many lines at the beginning are comments: the last one that begins with # may be the header."""
    n = next((at for at, line in enumerate(lines) if not line.startswith("#")), 0)
    if not n or not dialect.header:
        return n
    rest = "".join(lines[n - 1 :])
    splits, same, _ = _fit(rest, separator or find_delimiter(rest, dialect))
    return n - 1 if splits and same > 0.5 else n


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends, as a reader of CSV sees them: a form feed ends none."""
    return list(io.StringIO(text, newline=""))


def _rows(lines: list[str], delimiter: str, quote: str | None, cut: bool) -> tuple[list[int], list[list[str]]]:
    """Return the first rows with cells, and the number of the line that each ends with; the last one may be `cut`."""
    places: list[int] = []
    rows: list[list[str]] = []
    is_blank = delimiter == " "
    reader = csv.reader(
        map(str.strip, lines) if is_blank else lines,
        delimiter=delimiter,
        skipinitialspace=is_blank,
        quotechar=quote,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    with suppress(csv.Error):  # reading the file reports it
        for row in reader:
            if any(map(str.strip, row)):
                places.append(reader.line_num)
                rows.append(row)
            if len(rows) > _SAMPLE_ROWS + _MOST_ABOVE:
                break
    if cut and len(rows) > 1 and reader.line_num >= len(lines):
        del places[-1], rows[-1]
    return places, rows


def find_delimiter(text: str, dialect: Dialect) -> str:
    """Return the delimiter in the first line that splits the first rows best; a blank if no other one is there."""
    if dialect.sep:
        return dialect.sep
    header = text.partition("\n")[0] if dialect.header else text.lstrip().partition("\n")[0].rstrip()
    allowed = [delimiter for delimiter in DELIMITERS if delimiter != dialect.decimal]
    found = [delimiter for delimiter in allowed if delimiter in header]
    best = found[0] if len(found) == 1 else max(found, key=lambda one: _fit(text, one), default=None)
    if best == "," and len(found) > 1 and not _LIST_COMMA(text):  # all commas may stand before decimals
        best = max(found[1:], key=lambda one: _fit(text, one))
    if best is None and " " in header and (not dialect.header or _fits_blank(text)):
        return " "
    if dialect.header and (best is None or _fit(text, best)[1] <= 0.5):  # a title may stand above the header
        shares = {one: _usual_width(text, one) for one in allowed}
        best, (share, width) = max(shares.items(), key=lambda one: one[1])
        return best if width > 1 and share > 0.5 else (found or DELIMITERS)[0]
    return best or DELIMITERS[0]


def _fits_blank(text: str) -> bool:
    """Whether blanks split all rows of a text into as many cells as its header, or into one more."""
    widths: list[int] = []
    lines = _lines(text)[: _SAMPLE_ROWS + 1]
    with suppress(csv.Error):
        reader = csv.reader(map(str.strip, lines), delimiter=" ", skipinitialspace=True, strict=True)
        widths.extend(len(row) for row in reader if row)
    others = set(widths[1:])
    return len(others) == 1 and widths[0] > 1 and others <= {widths[0], widths[0] + 1}


def _widths(text: str, delimiter: str, width: Callable[[list[str]], int] = len) -> list[int]:
    widths: list[int] = []
    with suppress(csv.Error):  # reading the file reports it
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        widths.extend(itertools.islice((width(row) for row in reader if row), _SAMPLE_ROWS))
    return widths


def _fit(text: str, delimiter: str) -> tuple[bool, float, int]:
    """Return how well a delimiter splits a text: whether it does, the share of rows as long as the first, its cells.

    csv.Sniffer would do, but its regular expressions take minutes for files with many quotes.
    """
    widths = _widths(text, delimiter)
    first = widths[0] if widths else 0
    return first > 1, widths.count(first) / max(len(widths), 1), first


def _usual_width(text: str, delimiter: str) -> tuple[float, int]:
    """Return the share of the rows that have the most frequent number of cells above one, and this number."""
    widths = _widths(text, delimiter, _width)
    width, n = max(Counter(n for n in widths if n > 1).items(), key=lambda one: one[1], default=(0, 0))
    return n / max(len(widths), 1), width


# --- what the first rows are: titles above the header, a header or values, units --------------------------------------


def _is_number(cell: str) -> bool:
    return _NUMBER(cell.strip()) is not None


def _cells(rows: Sequence[Sequence[str]], at: int) -> list[str]:
    """Return the cells of a column that are not missing."""
    return [cell for row in rows if at < len(row) and (cell := row[at].strip()) not in _MISSING]


def _width(row: Sequence[str]) -> int:
    """Return how many cells a row has up to its last one with a text."""
    return next((at for at in range(len(row), 0, -1) if row[at - 1].strip()), 0)


def titles_above(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows stand above the header, if the first one that names all columns is not the first row.

    >>> titles_above([["Report", "", ""], ["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"]])
    1
    """
    widths = Counter(_width(row) for row in rows[1:])
    width = max(widths, key=lambda n: (widths[n], n), default=0)
    if width < 2 or not _is_title(rows[0], width):
        return 0
    for at, row in enumerate(rows[1 : _MOST_ABOVE + 1], 1):
        if all(cell.strip() for cell in row[1:width]) and len(row) >= width and not any(map(_is_number, row)):
            below = rows[at + 1 :]
            are_values = [j for j in range(width) if any(map(_is_number, _cells(below, j)))]
            return at if below and are_values and len(set(row[:width])) > width / 2 else 0
    return 0


def _is_title(row: Sequence[str], width: int) -> bool:
    """Whether a row above a table has far fewer cells with a text than the table."""
    n = sum(1 for cell in row if cell.strip())
    return (n <= width // 2 and n < width - 1) or (n == 1 and width == 2 and len(row) == 1)


def joined_names(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """Return names in two rows, joined: a merged cell of the upper row reaches to the right while the lower has names.

    >>> joined_names(["id", "Pressure", "", "sex"], ["", "sys", "dia", ""])
    ['id', 'Pressure_sys', 'Pressure_dia', 'sex']
    """
    names, above = [], ""
    for top, name in itertools.zip_longest(map(str.strip, upper), map(str.strip, lower), fillvalue=""):
        above = top or above
        names.append("_".join(filter(None, (above if name else top, name))))
        above = above if name else ""
    return names


def two_rows_of_names(rows: Sequence[Sequence[str]]) -> int | None:
    """Return how many rows stand above two that plainly hold the names together; None if none do.

    That is: merged or repeated cells above texts, of which some stand above numbers; together they name all columns.

    >>> two_rows_of_names([["Before", "", "After", ""], ["a", "b", "a", "b"], *[["1", "2", "3", "4"]] * 3])
    0
    """
    width = Counter(map(_width, rows[2:])).most_common(1)[0][0] if len(rows) > 2 else 0
    for at in range(min(len(rows) - 2, _MOST_ABOVE)):
        if _name_together(rows[at], rows[at + 1], rows[at + 2 :], width):
            return at
        if not _is_title(rows[at], width):
            return None
    return None


def _name_together(upper: Sequence[str], lower: Sequence[str], below: Sequence[Sequence[str]], width: int) -> bool:
    names = joined_names(upper, lower)
    tops, texts = [cell.strip() for cell in upper], [cell.strip() for cell in lower]
    given = [cell for cell in tops if cell]
    is_title = len(given) == 1 and tops[0] != ""
    is_merged = any(text and not top for top, text in itertools.zip_longest(tops, texts)) or len({*given}) < len(given)
    if not given or is_title or not is_merged or not _are_whole(names) or len(names) < max(width, 2):
        return False
    n_numbers = 0
    for at, text in enumerate(texts):
        others = _cells(below, at)
        if text and (_is_number(text) or text in _MISSING or text in others):
            return False
        n_numbers += bool(text) and sum(map(_is_number, others)) >= max(_FEWEST_ROWS, _MOST_NUMBERS * len(others))
    return n_numbers > 0


def _repeats(upper: Sequence[str]) -> bool:
    """Whether a row has a text in each column but for the first one, and one of them twice, as for merged cells."""
    return all(map(str.strip, upper[1:])) and len({*upper}) < len(upper)


def _are_whole(names: Sequence[str], beside: Sequence[str] = ()) -> bool:
    """Whether all columns have names, but for the first one, and they differ; `beside` is a row as long as theirs."""
    names = [name.strip() for name in names]
    return all(names[1:]) and len({*names}) == len(names) and len(names) >= _width(beside)


def lacks_names(rows: Sequence[Sequence[str]], dialect: Dialect) -> bool:
    """Return whether the first row plainly holds values, and report it.

    That is: numbers above numbers, and texts that occur again below them, or look as those below them do.
    """
    if not rows or dialect.has_names or not dialect.named.isdisjoint(map(str.strip, rows[0])):
        return False
    first, below = [cell.strip() for cell in rows[0]], rows[1:]
    if len(below) < _FEWEST_ROWS or len(first) < 2 or not any(first):
        return False
    numbers = [cell for cell in first if _is_number(cell)]
    if _are_ordered(numbers) or not (numbers or len(set(first)) < len(first)):
        return False
    for at, cell in enumerate(first):
        others = _cells(below, at)
        if cell in _MISSING or not others:
            continue
        if _is_number(cell):
            if sum(map(_is_number, others)) < _MOST_NUMBERS * len(others):
                return False
        elif cell not in others and (not numbers or _form(cell) not in {*map(_form, others)} - {None}):
            return False
    dialect.say(
        f"no names of columns: the first row holds values, such as {', '.join(first[:3])}, as the rows below it do, so "
        "columns are x0, x1, ... (header: numbers takes it for names)",
        "header",
    )
    return True


def _are_ordered(numbers: Sequence[str]) -> bool:
    """Whether numbers may be names: counted up, in equal steps, or many that only ascend or descend."""
    values = [float(text.replace(",", ".")) for text in numbers]
    steps = [b - a for a, b in itertools.pairwise(values)]
    if not steps:
        return False
    is_even = len(steps) > 1 and max(steps) - min(steps) <= 1e-6 * max(map(abs, values)) and steps[0] != 0
    is_monotone = all(step > 0 for step in steps) or all(step < 0 for step in steps)
    return is_even or steps == [1] or (is_monotone and len(values) >= _ORDERED)


def _form(cell: str) -> str | None:
    """Return a text with 9 for each digit; None without digits."""
    return re.sub("[0-9]", "9", cell) if re.search("[0-9]", cell) else None


def are_units(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the second row plainly holds units: texts above numbers that occur in no row below.

    >>> are_units([["a", "b"], ["kg", "cm"], ["1", "2"], ["4", "5"], ["7", "8"]])
    True
    """
    if len(rows) < 2 + _FEWEST_ROWS:
        return False
    row, below = [cell.strip() for cell in rows[1]], rows[2:]
    n_units = n_numbers = 0
    for at, cell in enumerate(row):
        others = _cells(below, at)
        if _is_number(cell) or (cell and (cell in _MISSING or cell in others)):
            return False
        if sum(map(_is_number, others)) >= max(_FEWEST_ROWS, _MOST_NUMBERS * len(others)):
            n_numbers += 1
            n_units += bool(cell)
        elif cell and not _NO_UNIT(cell):
            return False
    return n_units >= 2 and n_units >= n_numbers / 2
