"""What a person should know about a table's columns: constants, duplicates, identifiers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..core.cards import CATEGORICAL
from ..core.table import Column, SparseValues
from ..core.wide_columns import WideColumns
from .columns import content_keys, is_constant
from .raw import RawTable

#: A text column with at least this many levels, most of them seen once, looks like an identifier.
_MIN_IDENTIFIER_LEVELS = 50
_SHOWN = 5


def with_findings(raw: RawTable, number_texts: Sequence[tuple[str, str]] = ()) -> RawTable:
    """Return a raw table with its constant and duplicate columns listed, and notes on them and on `number_texts`."""
    features = raw.features
    varies = ~is_constant(features.columns)  # constants are reported as such, not as copies of each other
    constant = tuple(features.names[at] for at in np.flatnonzero(~varies).tolist())
    duplicates = tuple(_duplicates(features.columns, varies))
    meant, n_rows = {name for name, _ in number_texts}, features.n_rows
    identifiers = [c.name for c in features.one_of_each() if c.name not in meant and _is_identifier(c, n_rows)]
    notes = [*raw.notes, *(f"column {name!r} {what}" for name, what in number_texts[:_SHOWN])]
    if constant:
        notes.append(f"{len(constant)} constant columns: {_some(constant)}")
    if duplicates:
        pairs = [f"{later} (= {first})" for first, later in duplicates]
        notes.append(f"{len(duplicates)} columns repeat an earlier one: {_some(pairs)}")
    if identifiers:
        notes.append(f"{_some(identifiers)}: nearly every row has its own text; an identifier belongs under drop")
    return replace(raw, constant=constant, duplicates=duplicates, notes=notes, number_texts=tuple(number_texts))


def content_digest(column: Column) -> bytes:
    """Return a hash of a column's values, whatever its name and number type; sparse and dense columns differ."""
    digest = hashlib.blake2b(digest_size=16)
    if column.kind == CATEGORICAL:
        digest.update("\x1f".join(column.levels).encode())
    values = column.values
    if isinstance(values, SparseValues):
        digest.update(np.asarray(values.rows, dtype=np.int64).tobytes())
        values = values.values
    digest.update((np.asarray(values, dtype=np.float64) + 0.0).tobytes())  # + 0.0 makes -0.0 equal 0.0
    return digest.digest()


def _duplicates(columns: Sequence[Column], of_these: np.ndarray) -> Iterator[tuple[str, str]]:
    """Yield pairs of equal columns among those of a mask of shape (d,)."""
    positions = np.flatnonzero(of_these)
    if isinstance(columns, WideColumns):
        at = positions[positions < len(columns.names)]
        _, first, group = np.unique(content_keys(columns)[at], return_index=True, return_inverse=True)
        later = np.flatnonzero(first[group] != np.arange(len(at)))
        yield from ((columns.names[at[first[group[i]]]], columns.names[at[i]]) for i in later.tolist())
        return
    seen: dict[bytes, str] = {}
    for column in (columns[at] for at in positions.tolist()):
        kept = seen.setdefault(content_digest(column), column.name)
        if kept != column.name:
            yield kept, column.name


def _is_identifier(column: Column, n_rows: int) -> bool:
    return column.kind == CATEGORICAL and len(column.levels) >= max(_MIN_IDENTIFIER_LEVELS, 0.9 * n_rows)


def _some(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
