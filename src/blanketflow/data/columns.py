"""All columns of a source, and their names. Of a wide source facts are computed on whole arrays."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, pairwise
from typing import NamedTuple

import numpy as np

from ..core.cards import CATEGORICAL, INTEGER, NUMERIC
from ..core.column import MatrixColumns, SparseColumns, WideColumns
from ..core.convert import MOST_WHOLE
from ..core.errors import ConfigError, DataError, did_you_mean
from ..core.printable import listed
from ..core.table import Column, Table
from .dialect import Dialect

#: Number of cells processed at a time.
CELLS = 2**22


def names_of(columns: Sequence[Column]) -> list[str]:
    """Return the names of some columns, without making the columns of a wide table."""
    if isinstance(columns, WideColumns):
        return [*columns.names, *(column.name for column in columns.more)]
    return [column.name for column in columns]


def only(columns: Sequence[Column], wanted: Collection[str]) -> Sequence[Column]:
    """Return the columns of some names, in their order."""
    if not isinstance(columns, WideColumns):
        return [column for column in columns if column.name in wanted]
    more = tuple(column for column in columns.more if column.name in wanted)
    kept = np.fromiter((name in wanted for name in columns.names), dtype=bool, count=len(columns.names))
    return replace(columns if kept.all() else columns.at(np.flatnonzero(kept)), more=more)


def with_more(columns: Sequence[Column], more: Sequence[Column]) -> Sequence[Column]:
    """Return columns and further ones; those of a wide table stay held together."""
    if isinstance(columns, WideColumns):
        return replace(columns, more=(*columns.more, *more))
    return [*columns, *more]


def blocks_of(columns: WideColumns) -> Iterator[slice]:
    """Yield slices of the columns held together, each of about `CELLS` cells."""
    d = len(columns.names)
    if isinstance(columns, SparseColumns):
        ends = np.searchsorted(columns.starts, np.arange(CELLS, columns.starts[-1] + CELLS, CELLS), side="right") - 1
        bounds = np.unique([0, *ends.tolist(), d])
    else:
        bounds = np.unique([*range(0, d, max(1, CELLS // max(1, columns.n_rows))), d])
    yield from (slice(int(a), int(b)) for a, b in pairwise(bounds))


def gaps(table: Table) -> dict[str, int]:
    """Return the number of missing cells of each column that has any.

    >>> from ..core.table import Column
    >>> gaps(Table([Column("a", "numeric", np.array([1.0, np.nan])), Column("b", "integer", np.array([3, 4]))]))
    {'a': 1}
    """
    counts = missing_by_column(table.columns)
    return {table.names[at]: int(counts[at]) for at in np.flatnonzero(counts).tolist()}


def missing_by_column(columns: Sequence[Column]) -> np.ndarray:
    """Return the number of missing cells of each column, shape (d,)."""
    if not isinstance(columns, WideColumns):
        return np.fromiter((column.n_missing() for column in columns), dtype=np.int64, count=len(columns))
    missing, more = np.zeros(len(columns), dtype=np.int64), len(columns.names)
    missing[more:] = [column.n_missing() for column in columns.more]
    if isinstance(columns, SparseColumns):
        if columns.values.dtype.kind == "f":
            gaps = np.flatnonzero(np.isnan(columns.values))
            missing[:more] = np.bincount(np.searchsorted(columns.starts, gaps, side="right") - 1, minlength=more)
    elif columns.kind == NUMERIC:
        for block in blocks_of(columns):
            missing[block] = np.count_nonzero(np.isnan(columns.matrix[:, block]), axis=0)
    return missing


def first_infinite(columns: Sequence[Column]) -> Column | None:
    """Return the first column with an infinite cell."""
    if not isinstance(columns, WideColumns):
        return next((column for column in columns if column.n_infinite()), None)
    if isinstance(columns, SparseColumns):
        if columns.values.dtype.kind == "f" and (is_infinite := np.isinf(columns.values)).any():
            return columns[int(np.searchsorted(columns.starts, np.argmax(is_infinite), side="right")) - 1]
    elif columns.kind == NUMERIC:
        for block in blocks_of(columns):
            has_infinite = np.isinf(columns.matrix[:, block]).any(axis=0)
            if has_infinite.any():
                return columns[block.start + int(np.argmax(has_infinite))]
    return first_infinite(columns.more)


def content_keys(columns: WideColumns) -> np.ndarray:
    """Return a 64-bit hash of each column, shape (d,).

    Two of 1,000,000 different columns share one with a probability of 3e-8.
    """
    of_row = np.random.default_rng(0).integers(2**64, size=columns.n_rows, dtype=np.uint64)
    keys = np.zeros(len(columns.names), dtype=np.uint64)
    for block in blocks_of(columns):
        if isinstance(columns, MatrixColumns):
            keys[block] = _mixed(columns.matrix[:, block], of_row[:, None]).sum(axis=0, dtype=np.uint64)
            continue
        cells = slice(columns.starts[block.start], columns.starts[block.stop])
        filled = block.start + np.flatnonzero(np.diff(columns.starts)[block])
        if len(filled):
            mixed = _mixed(columns.values[cells], of_row[columns.rows[cells]])
            keys[filled] = np.add.reduceat(mixed, columns.starts[filled] - cells.start)
    return keys


def _mixed(values: np.ndarray, of_row: np.ndarray) -> np.ndarray:
    """Return 64 well-mixed bits for each cell; the finalizer of MurmurHash3."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64) ^ of_row  # + 0.0 makes -0.0 equal 0.0
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        bits ^= bits >> np.uint64(33)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(33)
    return bits


def as_whole(values: np.ndarray) -> np.ndarray:
    """Return whole numbers in a small integer type, and other numbers unchanged.

    >>> as_whole(np.array([3.0, -1.0])), as_whole(np.array([0.5, 1.0]))
    (array([ 3, -1], dtype=int8), array([0.5, 1. ]))
    """
    if values.dtype.kind != "f" or not values.size:
        return values
    low, high = values.min(), values.max()
    if not max(-low, high) < MOST_WHOLE or not np.array_equal(values, np.rint(values)):
        return values
    return values.astype(np.result_type(np.min_scalar_type(int(low)), np.min_scalar_type(-1 - abs(int(high)))))


def number_column(column: str, values: np.ndarray) -> Column:
    """Make a column of floats, NaN where missing; whole numbers make an integer column, as in CSV files.

    >>> number_column("a", np.array([1.0, np.nan, 3.0])).kind
    'integer'
    """
    known = values[~np.isnan(values)]
    whole = as_whole(known)
    if whole.dtype.kind == "f":
        return Column(column, NUMERIC, values)
    return Column(column, INTEGER, whole.astype(np.int64) if len(known) == len(values) else values)


# --- which column names a table can have, and which column an unknown name probably means -----------------------------

_EDGES = re.compile(r"(^|\n) | (\n|$)")
#: A longer name comes from a header without separators, and does not fit into a chart.
LONGEST_NAME = 1_000


def check_names(name: str, names: Sequence[str], first: int | None = None) -> None:
    """Raise `DataError` if column names are blank, repeated, longer than a chart can hold, or look the same.

    If the key `rename` can change them, `first` is the number of the first one.
    """
    if all(map(str.strip, names)) and len(set(names)) == len(names) and max(map(len, names), default=0) <= LONGEST_NAME:
        _check_alike(name, names, first)
        return
    seen: set[str] = set()
    for position, column in enumerate(names, first or 1):
        if not column.strip():
            what = ""
            if position == 1:
                what = " If it numbers the rows, save the table without it (in pandas: to_csv(path, index=False))."
            elif position == len(names):
                what = " If all lines end with a separator, remove those."
            raise DataError(f"{name}: {without_name(position, bool(first))}{what}")
        if len(column) > LONGEST_NAME:
            raise DataError(
                f"{name}: the name of column {position} has {len(column):,} characters and begins with "
                f"{column[:40]!r}. Shorten it to {LONGEST_NAME:,}, or look whether a separator is missing."
            )
        if column in seen:
            what = f", as by rename: {{{position}: NAME}}, or set duplicate_names: number" if first else ""
            raise DataError(f"{name}: column name {column!r} occurs more than once. Rename one of them{what}.")
        seen.add(column)


def without_name(position: int, can_rename: bool) -> str:
    """Return what to do about a column without a name."""
    how = (
        f", or by rename: {{{position}: NAME}}; if another row has them, set header_row to its number, and if two rows "
        "have them together, to both, such as header_row: [1, 2]"
        if can_rename
        else ""
    )
    return f"column {position} has no name. Give every column a name in the header{how}."


def _check_alike(name: str, names: Sequence[str], first: int | None) -> None:
    """Raise `DataError` if two column names look the same and are not: nobody could tell them apart in a result."""
    seen: dict[str, str] = {}
    has_space = " " in "".join(names)
    for column in names:
        if not column.isascii() or not column.isprintable() or (has_space and column != " ".join(column.split())):
            seen[look(column)] = column
    for position, column in enumerate(names if seen else (), first or 1):
        other = seen.get(look(column), column)
        if other != column:
            raise DataError(
                f"{name}: the column names {column!a} and {other!a} look the same, but are of different characters. "
                f"Rename one of them{f', as by rename: {{{position}: NAME}}' if first else ''}."
            )


def look(column: str) -> str:
    """Return a name as it looks: composed, and without invisible characters."""
    shown = "".join(c for c in column if unicodedata.category(c) not in ("Cf", "Cc"))
    return unicodedata.normalize("NFKC", " ".join(shown.split()))


def by_look(levels: Sequence[str], with_case: bool = False) -> dict[str, list[str]]:
    """Return labels by how they look, `with_case` whatever their case and blanks; empty if all are plain."""
    text = "\n".join(levels)
    is_plain = text.isascii() and text.replace("\n", "").isprintable() and not _EDGES.search(text)
    if is_plain and not with_case:
        return {}
    found: dict[str, list[str]] = {}
    for level in levels:
        shown = level if level.isascii() and level.isprintable() and level == level.strip() else look(level)
        key = "".join(shown.split()).casefold() if with_case else shown
        found.setdefault(key, []).append(level)
    return found


def which_column(column: str, known: Collection[str]) -> str:
    """Return a sentence that says which column was probably meant."""
    alike = [other for other in known if look(other) == look(column)]
    if alike:
        return f"Column {alike[0]!a} looks the same, but is of different characters: copy its name from the file."
    return did_you_mean(column, known)


# --- the names in a header: changed by keys; columns without names and cells are left out ----------------------------


class Names(NamedTuple):
    """The names of the columns of a table of text, as its keys change them, and the places of columns without one."""

    names: list[str]
    nameless: list[int]

    def named(self, name: str, columns: Sequence[Column], dialect: Dialect) -> list[Column]:
        """Return the columns that have names; `DataError` if another one has cells."""
        for at in self.nameless:
            if columns[at].n_missing() < columns[at].n_rows:
                raise DataError(f"{name}: {without_name(at + 1, can_rename=True)}")
        if n := len(self.nameless):
            dialect.say(f"{n} column{'s' if n > 1 else ''} without a name and without cells, left out")
        return [column for at, column in enumerate(columns) if at not in self.nameless]


def names_in_header(name: str, header: Sequence[str], dialect: Dialect) -> Names:
    """Return the names in a header, whose first cell may be `UNNAMED`; raises as `check_names` does.

    Columns without names get one for the time of reading.
    """
    names = list(header)
    renamed = {int(place): column.strip() for place, column in (dialect.rename or {}).items()}
    for place, column in renamed.items():
        if place > len(names):
            raise ConfigError(f"{name}: rename names column {place}, and the table has {len(names)}.")
        names[place - 1] = column
    first = 1 if names[0] == UNNAMED and len(names) > 1 else 0
    if dialect.duplicate_names == "number":
        number_repeated(names, dialect)
    nameless = [at for at in range(first, len(names)) if not names[at]]
    taken = {*names}
    for at in nameless:
        names[at] = next(one for n in count() if (one := f"column {at + 1}{'_' * n}") not in taken)
        taken.add(names[at])
    check_names(name, names[first:], first + 1)
    return Names(names, nameless)


def number_repeated(names: list[str], dialect: Dialect) -> None:
    """Number names that occur more than once, and report it."""
    times, taken, made = Counter[str](), {*names}, []
    for at, column in enumerate(names):
        times[column] += 1
        if column and times[column] > 1:
            numbers = count(times[column])
            names[at] = next(one for n in numbers if (one := f"{column}_{n}") not in taken)
            taken.add(names[at])
            made.append(f"{names[at]} (column {at + 1})")
    if made:
        dialect.say(f"names that occur more than once, numbered: {listed(made)}", "duplicate_names")


# --- a first column without a name, which numbers or names the rows, as R and pandas write it -------------------------

#: What such a column is called until it is left out.
UNNAMED = ""


def with_row_names(header: list[str], rows: Iterator[list[str]]) -> tuple[list[str], Iterator[list[str]]]:
    """Return a header as long as the rows, and the rows: in files of R's write.table it lacks a cell for the row names.

    >>> with_row_names(["a", "b"], iter([["1", "3", "4"]]))[0]
    ['', 'a', 'b']
    """
    first = next(filter(None, rows), None)
    if first is None:
        return header, rows
    more = len(first) - len(header)
    if more == 1 and first[0].strip() and first[-1].strip() and len(header) > 1:
        header = [UNNAMED, *header]
    elif more > 0 and not any(map(str.strip, first[-more:])):  # separators at the ends of rows
        header = [*header, *[UNNAMED] * more]
    elif more < 0 and not any(header[more:]):  # or of the header
        header = header[:more]
    return header, chain([first], rows)


def name_rows(column: Column, by_number: bool = False) -> bool:
    """Return whether all cells differ, without missing cells or decimals; `by_number`: or are 1 .. n.

    >>> ids = Column("", INTEGER, np.array([7, 9]))
    >>> name_rows(ids), name_rows(ids, by_number=True)
    (True, False)
    """
    if column.kind not in (INTEGER, CATEGORICAL) or column.n_missing():
        return False
    if by_number and column.kind == INTEGER:
        return np.array_equal(column.values, np.arange(1, column.n_rows + 1))
    return len(np.unique(column.values)) == column.n_rows


def named_column(where: str, key: str, columns: Sequence[Column], wanted: str) -> Column:
    """Return a column by its name; `DataError` if it is not there."""
    names = names_of(columns)
    if wanted not in names:
        raise DataError(
            f"{where}: {key} names the column {wanted!r}, which is not there. {which_column(wanted, names)}"
        )
    return columns[names.index(wanted)]
