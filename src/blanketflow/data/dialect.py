"""How a table of text is written: keys of the data set and findings of the reader, encoding, separators, numbers."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

from ..core.errors import ConfigError, DataError, shown
from ..core.printable import listed
from ..core.table import Column

#: The keys of a data set that say where its table stands in a text or sheet, and what its columns are called.
LAYOUT_KEYS = ("skip_rows", "header_row", "units_row", "duplicate_names", "rename")
#: The keys of a data set that say how its text is written.
KEYS = ("encoding", "sep", "quote", "decimal", "thousands", "comment", *LAYOUT_KEYS)
#: Those that name a column.
_NAMING = ("target", "groups", "weights", "within", "time")
#: What is said of a column that names the rows.
ROW_NAMES = "a first column without a name, which numbers or names the rows and is left out"
#: Words for a separator that YAML or a shell would change.
_SEPARATORS = {"\\t": "\t", "tab": "\t"}


class FoundOut(NamedTuple):
    """One property that was detected, and the key that overrides it, if any.

    With `proposed`, what was detected changes nothing until the keys are set as this says.
    """

    what: str
    key: str | None
    proposed: str = ""


@dataclass
class Dialect:
    r"""The dialect of a text file, None for what is to be detected; and what was detected that is unusual.

    >>> Dialect.of({"sep": "tab", "decimal": ","}).sep
    '\t'
    """

    encoding: str | None = None
    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    comment: str | None = None
    quote: str | None = None
    skip_rows: int | None = None
    header_row: int | Sequence[int] | None = None
    units_row: int | None = None
    duplicate_names: str | None = None
    rename: Mapping[Any, str] | None = None
    header: bool = True
    #: Columns that the spec names: a first line that holds one is a header.
    named: frozenset[str] = frozenset()
    #: Whether the first line is a header even if it holds numbers only.
    has_names: bool = False
    #: Whether cells that are numbers come as Python writes them, as from a workbook, whatever its texts look like.
    has_numbers: bool = False
    #: The column without a name that was left out, since it names the rows.
    row_names: Column | None = None
    #: The lines of a series matrix on its samples: what each is called, and a cell for each sample.
    of_samples: Sequence[Sequence[str]] = ()
    found: list[FoundOut] = field(default_factory=list)

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Dialect:
        """Return the dialect that a data set's spec sets."""
        asked = {key: spec.get(key) for key in KEYS}
        asked["sep"] = _SEPARATORS.get(asked["sep"] or "", asked["sep"])
        named = frozenset(spec[key] for key in _NAMING if isinstance(spec.get(key), str))
        header = spec.get("header")
        return cls(**asked, header=header != "none", named=named, has_names=header == "numbers")

    @property
    def n_above(self) -> int | None:
        """How many rows above the header the keys leave out; None if they do not say."""
        rows = self.names_rows
        return rows[0] - 1 if rows else self.skip_rows

    @property
    def names_rows(self) -> tuple[int, ...]:
        """The numbers of the one or two rows with the names, if `header_row` says them."""
        rows = self.header_row
        return () if rows is None else (rows,) if isinstance(rows, int) else tuple(rows)

    @property
    def second_row(self) -> int:
        """The number of the second row of names; 0 without one."""
        return self.names_rows[1] if len(self.names_rows) == 2 else 0

    def say(self, what: str, key: str | None = None, proposed: str = "") -> None:
        """Add a property that was detected."""
        self.found.append(FoundOut(what, key, proposed))


def check_dialect(where: str, spec: Mapping[str, Any]) -> None:
    """Raise `ConfigError` if a key that says how a text is written has a value that cannot be."""
    asked = Dialect.of(spec)
    if asked.encoding is not None and not is_encoding(asked.encoding):
        raise ConfigError(
            f"{where}: encoding is {shown(asked.encoding)}, which Python does not know. Write utf-8, latin-1, "
            "windows-1252, utf-16 or another of its names."
        )
    if asked.sep is not None and not re.fullmatch(r"[^\w\"'\r\n.+-]", asked.sep):
        raise ConfigError(
            f'{where}: sep is {shown(asked.sep)}, but must be one sign, such as ";" or "|", "tab" or " " for blanks.'
        )
    if asked.thousands is not None and not re.fullmatch(r"[^\w\"\r\n+-]", asked.thousands):
        raise ConfigError(f'{where}: thousands is {shown(asked.thousands)}, but must be one sign, such as "." or " ".')
    if asked.comment is not None and not asked.comment.strip():
        raise ConfigError(f'{where}: comment is {shown(asked.comment)}, but must be what such lines begin with: "#".')
    if asked.header_row is not None and asked.skip_rows is not None:
        raise ConfigError(
            f"{where}: set either header_row or skip_rows: the header is the first row that is not skipped."
        )
    if asked.header_row is not None and not asked.header:
        raise ConfigError(f"{where}: header_row is where the header stands, and header: none says there is none.")
    if list(asked.names_rows) != sorted(asked.names_rows):
        raise ConfigError(f"{where}: header_row is {list(asked.names_rows)}: name both rows, the upper one first.")
    if asked.units_row is not None and 0 < asked.units_row <= max(*asked.names_rows, asked.skip_rows or 0, 0):
        raise ConfigError(f"{where}: units_row is {asked.units_row}, but the row of units stands below the header.")
    for place, column in (asked.rename or {}).items():
        if not re.fullmatch("[1-9][0-9]*", str(place)) or not isinstance(column, str) or not column.strip():
            raise ConfigError(
                f"{where}: rename has {shown(place)}: {shown(column)}. Write the number of a column and its new name, "
                "such as rename: {4: weight}."
            )
    if asked.thousands is not None and asked.thousands == (asked.decimal or "."):
        raise ConfigError(
            f"{where}: {shown(asked.thousands)} cannot stand both before decimals and between thousands. Set decimal "
            "and thousands to different signs."
        )


def found_told(found: Sequence[FoundOut]) -> str | None:
    """Return what was detected, in words; None for nothing.

    >>> found_told([FoundOut("decimal commas in a", "decimal"), FoundOut("blanks between cells", "sep")])
    'found out how the file is written: decimal commas in a; blanks between cells'
    """
    taken, proposed = _parted(found)
    told = [f"found out how the file is written: {'; '.join(one.what for one in taken)}"] if taken else []
    return "; ".join([*told, *(one.what for one in proposed)]) or None


def _parted(found: Sequence[FoundOut]) -> tuple[list[FoundOut], list[FoundOut]]:
    """Return what was found out and counts, and what is only proposed."""
    return [one for one in found if not one.proposed], [one for one in found if one.proposed]


def found_way_out(found: Sequence[FoundOut]) -> str:
    """Return in words which keys override what was detected.

    >>> found_way_out([FoundOut("decimal commas in a", "decimal"), FoundOut("blanks between cells", "sep")])
    'If that is wrong, set decimal and sep.'
    """
    taken, proposed = _parted(found)
    keys = list(dict.fromkeys(one.key for one in taken if one.key))
    to_set = [key for key in keys if key != "categorical"]
    named = [f"set {' and '.join(to_set)}"] if to_set else []
    named += ["list the column under categorical"] if to_set != keys else []
    if len(taken) > sum(one.key is not None for one in taken):  # row names, which no key speaks of
        named.append("name it in the header")
    told = [f"If that is wrong, {', or '.join(named)}."] if taken else []
    return " ".join([*told, *(one.proposed for one in proposed)])


def found_line(found: Sequence[FoundOut]) -> str | None:
    """Return in one line what was detected and which keys override it; None for nothing."""
    return f"{found_told(found)}. {found_way_out(found)}" if found else None


class Head(NamedTuple):
    """The columns of a file's first rows, and how many rows the file has for each of them (1.0: these are all)."""

    columns: list[Column]
    rows_per_row: float
    #: What was found out about how the file is written.
    found: Sequence[FoundOut] = ()


# --- the encoding: told by the first bytes, asked for by a key, or found where the text is not UTF-8 ------------------

#: Those of UTF-32 come first, because one of them begins with one of UTF-16.
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
#: What Latin-1 is in practice: the same letters, and signs in place of control characters.
SINGLE_BYTE = "windows-1252"
_BLOCK = 2**15
_OF_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH = re.compile(rb"[\x80-\xff]")
#: Control characters, and bytes that Windows-1252 does not define: no table has them.
_NOT_TEXT = re.compile(rb"[\0-\x08\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]")


def is_encoding(name: str) -> bool:
    """Return whether Python has a text encoding of this name.

    >>> is_encoding("latin-1"), is_encoding("latin-99"), is_encoding("zlib")
    (True, False, False)
    """
    try:
        return bool(getattr(codecs.lookup(name), "_is_text_encoding", True))
    except (LookupError, ValueError):  # a name with a NUL
        return False


def marked_encoding(head: bytes) -> str | None:
    """Return the encoding that a byte order mark states; None for UTF-8 or without a mark.

    >>> marked_encoding("a".encode("utf-16")), marked_encoding(b"a,b")
    ('utf-16', None)
    """
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)


def is_single_byte(raw: BinaryIO, most: float = float("inf")) -> bool:
    """Return whether bytes that are not UTF-8 may be Windows-1252 (Latin-1), by at most `most` bytes.

    In damaged UTF-8, in contrast, most of the characters beyond ASCII are intact.
    """
    n_whole = n_others = n_read = 0
    while (n_read < most or not n_others + n_whole) and (block := raw.read(2**20)):
        if _NOT_TEXT.search(block):
            return False
        n_read += len(block)
        whole = _OF_UTF_8.findall(block)
        n_whole += len(whole)
        n_others += len(_HIGH.findall(block)) - sum(map(len, whole))
    return n_others > n_whole


class Recoded(io.RawIOBase):
    """Reads a text of another encoding as UTF-8."""

    def __init__(self, raw: BinaryIO, encoding: str) -> None:
        self._raw, self._left = raw, b""
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ended = False
        #: Bytes read from the other file, and bytes of UTF-8 that they make.
        self.n_read = self.n_made = 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and return how many bytes."""
        while not self._left and not self._ended:
            block = self._raw.read(_BLOCK)
            self._ended = not block
            self._left = self._decoder.decode(block, final=self._ended).encode()
            self.n_read, self.n_made = self.n_read + len(block), self.n_made + len(self._left)
        n = min(len(buffer), len(self._left))
        buffer[:n], self._left = self._left[:n], self._left[n:]
        return n


# --- numbers of a text table with decimal commas or signs between thousands: found out over all columns, and read -----

_COMMA_BEFORE_DECIMALS = re.compile(
    r"[+-]?([0-9]+|[1-9][0-9]{0,2}(?P<mark>[. \u00a0\u202f'\u2019])[0-9]{3}((?P=mark)[0-9]{3})*)"
    r"(,[0-9]+)?([eE][+-]?[0-9]+)?"
).fullmatch
_COMMA_BETWEEN_THOUSANDS = re.compile(r"[+-]?([0-9]+|[1-9][0-9]{0,2}(,[0-9]{3})+)(\.[0-9]*)?").fullmatch
_WITH_POINT = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?").fullmatch
_HAS_DIGIT = re.compile(r"[0-9]").search


class NumberFormat:
    """The decimal sign and the thousands separator, if any; with `also_plain`, plain numbers may occur as well.

    >>> numbers = NumberFormat(",", ".")
    >>> numbers.plain("1.234,5"), numbers.plain("3.5"), numbers.plain("low")
    ('1234.5', "'3.5'", 'low')
    """

    def __init__(self, decimal: str, thousands: str | None, also_plain: bool = False) -> None:
        self._decimal, self._thousands, self._also_plain = decimal, thousands, also_plain
        grouped = rf"|[0-9]{{1,3}}({re.escape(thousands)}[0-9]{{3}})+" if thousands else ""
        whole, part = rf"([0-9]+{grouped})", rf"{re.escape(decimal)}[0-9]"
        self._is_number = re.compile(rf"[+-]?({whole}({part}*)?|{part}+)([eE][+-]?[0-9]+)?").fullmatch

    def reads(self, text: str) -> bool:
        """Return whether a text is a number."""
        return self._is_number(text) is not None

    def plain(self, text: str) -> str:
        """Return a number as Python writes it, and any other text so that it is not taken for a number."""
        if self._is_number(text):
            return text.replace(self._thousands or "", "").replace(self._decimal, ".")
        if self._also_plain and _WITH_POINT(text):
            return text
        return repr(text) if _HAS_DIGIT(text) else text


def number_format(
    name: str, columns: Mapping[str, Collection[str]], missing: Collection[str], dialect: Dialect
) -> NumberFormat | None:
    """Return how numbers are written, None for plainly, given the distinct texts of each column.

    Raises `DataError` if columns contradict each other, or all commas may be decimal or thousands signs.
    """
    if dialect.decimal or dialect.thousands:
        decimal = dialect.decimal or "."
        is_plain = (decimal, dialect.thousands) == (".", None)
        return None if is_plain else NumberFormat(decimal, dialect.thousands, dialect.has_numbers)
    before, between, either = [], [], []
    thousands = ""
    for column, texts in columns.items():
        if "," not in "\0".join(texts):
            continue
        present = [text.strip() for text in texts if text.strip() not in missing]
        found = [_COMMA_BEFORE_DECIMALS(text) for text in present]
        are_before, are_between = all(found), all(map(_COMMA_BETWEEN_THOUSANDS, present))
        if are_before and are_between:
            either.append(column)
        elif are_before:
            before.append(column)
            thousands = thousands or next((match["mark"] for match in found if match and match["mark"]), "")
        elif are_between:
            between.append(column)
    if before and between:
        raise DataError(
            f"{name}: commas stand before decimals in column {before[0]!r}, and between thousands in {between[0]!r}. "
            "Write the numbers of both in one way, or list one of the columns under categorical."
        )
    if before:
        if not dialect.has_numbers:
            _check_points(name, columns, missing, before[0], thousands)
        what = f"decimal commas in {listed([*before, *either])}"
        dialect.say(f"{what}, and {thousands!r} between thousands" if thousands else what, "decimal")
        return NumberFormat(",", thousands or None, dialect.has_numbers)
    if between:
        dialect.say(f"commas between thousands in {listed([*between, *either])}", "thousands")
        return NumberFormat(".", ",")
    if either:
        shown = next(text for text in columns[either[0]] if "," in text).strip()
        raise DataError(
            f"{name}: column {either[0]!r} holds numbers such as {shown!r}, whose comma may stand before decimals or "
            'between thousands. Set decimal: "," or thousands: ",", or list the column under categorical.'
        )
    return None


def _check_points(
    name: str, columns: Mapping[str, Collection[str]], missing: Collection[str], with_commas: str, thousands: str
) -> None:
    """Raise `DataError` if another column has decimal points."""
    for column, texts in columns.items():
        if "." not in "\0".join(texts):
            continue
        present = [text.strip() for text in texts if text.strip() not in missing]
        plain = NumberFormat(".", None)
        are_points = any(map(_WITH_POINT, present)) and all(map(plain.reads, present))
        is_grouped = thousands == "." and all(map(NumberFormat(",", ".").reads, present))
        if are_points and not is_grouped:
            raise DataError(
                f"{name}: column {with_commas!r} has decimal commas, but {column!r} decimal points. Write both in one "
                "way, or list one of them under categorical."
            )
