"""What the reader of a format gets and returns, and the steps that several readers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ...core.cards import INTEGER, NUMERIC
from ...core.convert import as_table
from ...core.errors import BlanketflowError, ConfigError, DataError
from ...core.formats import FORMATS, find_format
from ...core.table import Column, categorical
from ..arrays import checked_csc
from ..arrow import columns_from_arrow
from ..column_roles import dates_as_text, setting
from ..columns import as_whole, with_more
from ..columns_of_text import column_of_cells
from ..dialect import Dialect, FoundOut
from ..missing_markers import Found, MissingMarkers, Suspects


@dataclass(frozen=True)
class TableFile:
    """A file to read: its data set's name, for messages, and spec; its format; and what its reader notes."""

    name: str
    path: Path
    spec: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    markers: MissingMarkers = field(default_factory=MissingMarkers)
    dialect: Dialect = field(default_factory=Dialect)
    #: Where its companion files lie beside it, if that is not where it is read.
    unpacked: Path | None = None

    @property
    def beside(self) -> Path:
        """The path beside which companion files lie: of a packed file, its path if it were unpacked in place."""
        return self.unpacked or self.path

    @property
    def drop(self) -> Collection[str]:
        """Columns that are dropped, whose cells need not be readable."""
        return setting(self.spec, "drop")

    @property
    def has_dates(self) -> bool | str:
        """Whether the spec says what becomes of dates, as `dates_as_text`."""
        return dates_as_text(self.spec)


class Loaded(NamedTuple):
    """All columns of a source, the target among them, and what the source says about them."""

    columns: Sequence[Column]
    #: The target, where the source says which it is.
    target: str | None = None
    #: Columns that are not features, such as identifiers. They are left out unless the spec names them.
    aside: frozenset[str] = frozenset()
    #: What to know about the source.
    notes: tuple[str, ...] = ()
    #: Which texts of which columns were read as missing cells.
    markers: Found = MappingProxyType({})
    #: Cells that may be missing, but were not read so.
    suspected: Suspects = Suspects()
    #: What was detected about how the file is written.
    found: Sequence[FoundOut] = ()
    #: The names of the rows, of a table whose first column has no name.
    row_names: Column | None = None
    #: What a series matrix says of its samples: as of the `Dialect`.
    of_samples: Sequence[Sequence[str]] = ()


def read_file(name: str, kind: str, path: Path, spec: Mapping[str, Any], unpacked: Path | None = None) -> Loaded:
    """Return all columns of a file by its format's reader; `unpacked` is its path if it were unpacked in place.

    Raises `ConfigError` if the reader or its library is not installed. Errors of readers that use a library, or are not
    of this package, become a `DataError`.
    """
    form = find_format(kind)
    markers = MissingMarkers.of(spec, form.missing)
    file = TableFile(name, path, spec, kind, markers, Dialect.of(spec), unpacked)
    try:
        found = form.reader()(file)
        if not isinstance(found, Loaded):
            found = Loaded(columns_of(file, found))
    except Exception as error:
        if isinstance(error, ImportError) and form.library:
            said = f"is read by {form.library}, which is not installed. pip install"
            raise ConfigError(f'{name}: {path} {said} "{form.install or form.library}"') from error
        if isinstance(error, BlanketflowError) or (kind in FORMATS and not form.library):
            raise
        said = next(iter(str(error).splitlines()), "") or type(error).__name__
        called = form.called or kind
        raise DataError(
            f"{name}: {path} is not a readable {called} file ({said.rstrip('.')}). Save it again."
        ) from error
    dialect = file.dialect
    found = found._replace(row_names=dialect.row_names, of_samples=dialect.of_samples)
    return found._replace(markers=markers.found, found=dialect.found)


def columns_of(file: TableFile, table: Any) -> Sequence[Column]:
    """Return the columns of a table of Arrow or pandas, as of a Parquet file."""
    import pyarrow as pa

    if not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(table, preserve_index=False)
    if not table.column_names:
        raise DataError(f"{file.name}: {file.path} has no columns.")
    return columns_from_arrow(file.name, table, file.drop, file.has_dates)


def matrix_columns(X: Any, names: Sequence[str], more: Sequence[Column]) -> Sequence[Column]:
    """Return the columns of a matrix, dense or scipy sparse, held together, and then the others."""
    if hasattr(X, "tocsc"):
        X = checked_csc(X)
        X.data = as_whole(X.data)
    else:
        X = np.asfortranarray(as_whole(X))  # only columns are read from now on
    return with_more(as_table(X, list(names)).columns, more)


def continuous_column(
    where: str, column: str, lines: Sequence[int], texts: Sequence[str], markers: MissingMarkers | None = None
) -> Column:
    """Make a column of texts that must be numbers, or one of the `markers` where missing.

    Raises `DataError`, with the text's line of `lines`, for another text.
    """
    markers = markers or MissingMarkers()
    found = column_of_cells(where, column, texts, markers)
    if found.kind in (INTEGER, NUMERIC):
        return found
    missing = markers.texts()
    line, text = next((i, t) for i, t in zip(lines, texts, strict=True) if t not in missing and not is_number(t))
    raise DataError(f"{where}, line {line}: {text!r} is not a number, but column {column!r} is declared continuous.")


def label_column(
    where: str,
    column: str,
    lines: Sequence[int],
    texts: Sequence[str],
    declared: Collection[str] | None = None,
    as_declared: str = "",
    missing: Collection[str] = ("?",),
    markers: MissingMarkers | None = None,
) -> Column:
    """Make a categorical column of texts; where `declared` is given, they must be in it or in `missing`.

    Missing cells are noted in `markers`. Raises `DataError`, with the line, for another text; `as_declared` says what
    is declared.
    """
    for line, text in zip(lines, texts, strict=True) if declared is not None else ():
        if text not in declared and text not in missing:
            raise DataError(f"{where}, line {line}: {column!r} is {text!r}, but {as_declared}. Mend one of the two.")
    if markers is not None:
        markers.note(column, Counter(text for text in texts if text in missing))
    return categorical(column, np.array([None if text in missing else text for text in texts], dtype=object))


def is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def shown(line: str, most: int = 40) -> str:
    """Return the beginning of a line, quoted."""
    text = line.strip()
    return repr(text if len(text) <= most else f"{text[:most]}...")
