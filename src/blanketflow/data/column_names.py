"""Which column names a table can have, and which column an unknown name probably means."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence

from ..core.errors import DataError, did_you_mean

#: A longer name comes from a header without separators, and does not fit into a chart.
LONGEST_NAME = 1_000


def check_names(name: str, names: Sequence[str]) -> None:
    """Raise `DataError` if column names are blank, repeated, longer than a chart can hold, or look the same."""
    if all(map(str.strip, names)) and len(set(names)) == len(names) and max(map(len, names), default=0) <= LONGEST_NAME:
        _check_alike(name, names)
        return
    seen: set[str] = set()
    for position, column in enumerate(names, 1):
        if not column.strip():
            what = ""
            if position == 1:
                what = " If it numbers the rows, save the table without it (in pandas: to_csv(path, index=False))."
            elif position == len(names):
                what = " If all lines end with a separator, remove those."
            raise DataError(f"{name}: column {position} has no name. Give every column a name in the header.{what}")
        if len(column) > LONGEST_NAME:
            raise DataError(
                f"{name}: the name of column {position} has {len(column):,} characters and begins with "
                f"{column[:40]!r}. Shorten it to {LONGEST_NAME:,}, or look whether a separator is missing."
            )
        if column in seen:
            raise DataError(f"{name}: column name {column!r} occurs more than once. Rename one of them.")
        seen.add(column)


def _check_alike(name: str, names: Sequence[str]) -> None:
    """Raise `DataError` if two column names look the same and are not: nobody could tell them apart in a result."""
    seen: dict[str, str] = {}
    has_space = " " in "".join(names)
    for column in names:
        if not column.isascii() or not column.isprintable() or (has_space and column != " ".join(column.split())):
            seen[look(column)] = column
    for column in names if seen else ():
        other = seen.get(look(column), column)
        if other != column:
            raise DataError(
                f"{name}: the column names {column!a} and {other!a} look the same, but are of different characters. "
                "Rename one of them."
            )


def look(column: str) -> str:
    """Return a name as it looks: composed, and without invisible characters."""
    shown = "".join(c for c in column if unicodedata.category(c) not in ("Cf", "Cc"))
    return unicodedata.normalize("NFKC", " ".join(shown.split()))


def which_column(column: str, known: Collection[str]) -> str:
    """Return a sentence that says which column was probably meant."""
    alike = [other for other in known if look(other) == look(column)]
    if alike:
        return f"Column {alike[0]!a} looks the same, but is of different characters: copy its name from the file."
    return did_you_mean(column, known)
