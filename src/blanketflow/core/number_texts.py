"""Text columns that seem to hold numbers: a stray mark or a unit turns a whole column into labels."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Sequence

import numpy as np

from .cards import CATEGORICAL
from .errors import NumbersAsTextWarning
from .printable import printable
from .table import Column, Table
from .wide_columns import WideColumns

_PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?").fullmatch
_BARE = r"[+\u2212-]?(\d{1,3}([.,'\u2019_\s]\d{3})+([.,]\d+)?|\d*[.,]?\d+)([eEdD][+-]?\d+)?"
_UNIT = r"(\s?(%|[kmµ]?[glms]|cm|[€$£¥]|°C?)|\s[^\W\d_]{1,4})?"
#: Such as ``$ 1,234.50``, ``12 kg``, ``< 5`` and ``0x1f``.
_DRESSED = re.compile(rf"[^\w\s.,+\u2212-]{{0,2}}\s?{_BARE}{_UNIT}'?|0[xX][0-9a-fA-F]+").fullmatch
#: Fewer different numbers may be labels.
_FEWEST = 3
#: Plain numbers that a format declares to be labels, or holds as text, are labels if there are at most this many.
_MOST_LABELS = 10
#: A text column with a larger share of numbers than this seems to hold numbers.
_SHARE = 0.5
_SHOWN = 2


def number_texts(columns: Sequence[Column], labels: Collection[str] = ()) -> list[tuple[str, str]]:
    """Return the text columns that seem to hold numbers, and what each holds; those declared as `labels` are skipped.

    All rows must be there.

    >>> dose = Column("dose", "categorical", np.array([0, 1, 2, 3]), ("1", "2", "4", "-"))
    >>> number_texts([dose])
    [('dose', "holds numbers, but also '-' in 1 of 4 cells, and is read as labels")]
    """
    columns = columns.more if isinstance(columns, WideColumns) else columns
    told = ((column.name, what_is_held(column)) for column in columns if column.name not in labels)
    return [(name, what) for name, what in told if what]


def warn_of_number_texts(where: str, X: object, table: Table, stacklevel: int = 3) -> None:
    """Warn of text columns of a table that seem to hold numbers, but for those that `X` declares to be categories.

    Parameters
    ----------
    where : str
        Whose table it is, for the message.
    X : object
        What the table was made of, such as a DataFrame; nothing is said of a `Table`, whose kinds are declared.
    table : Table
        The table.
    stacklevel : int, default=3
        The caller that the warning is attributed to.
    """
    if isinstance(X, Table):
        return
    dtypes = zip(table.names, X.dtypes, strict=True) if hasattr(X, "iloc") and hasattr(X, "dtypes") else ()
    found = number_texts(table.columns, {name for name, dtype in dtypes if hasattr(dtype, "categories")})
    if found:
        (name, what), more = found[0], f"; so do {len(found) - 1} more" if found[1:] else ""
        as_labels = "" if what.endswith("as labels") else ", and is read as labels"
        warnings.warn(
            f"{where}: column {name!r} {what}{as_labels}{more}. Make numbers of it, as pandas.to_numeric does, or a "
            "categorical column of pandas, if it holds labels.",
            NumbersAsTextWarning,
            stacklevel=stacklevel,
        )


def what_is_held(column: Column) -> str | None:
    """Say what a text column that seems to hold numbers holds; None for any other column."""
    if column.kind != CATEGORICAL:
        return None
    codes = column.values[column.values >= 0]
    counts = np.bincount(codes, minlength=len(column.levels))
    levels = [level for level, count in zip(column.levels, counts.tolist(), strict=True) if count]
    counts = counts[counts > 0]
    plain = np.array([bool(_PLAIN(level)) for level in levels], dtype=bool)
    if plain.all():
        is_text = len(levels) > _MOST_LABELS
        return f"holds numbers as text, such as {_quoted(levels[:1])}" if is_text else None
    if len(levels) >= _FEWEST and all(map(_DRESSED, levels)):
        return f"holds numbers written as text, such as {_quoted([levels[int(np.argmin(plain))]])}"
    n_others = int(counts[~plain].sum())
    if plain.sum() < _FEWEST or n_others >= _SHARE * len(codes):
        return None
    others = [levels[at] for at in np.argsort(-counts, kind="stable").tolist() if not plain[at]]
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    where = f"{_quoted(others[:_SHOWN])}{more} in {n_others} of {len(codes)} cells"
    return f"holds numbers, but also {where}, and is read as labels"


def _quoted(texts: Sequence[str], most: int = 30) -> str:
    return ", ".join(repr(printable(text if len(text) <= most else f"{text[:most]}...")) for text in texts)
