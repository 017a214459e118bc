"""The data card: what a data set is, in JSON."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.cards import CLASSIFICATION
from ..core.sparse_columns import SparseColumns
from ..core.table import Column
from ..core.wide_columns import WideColumns
from .columns import blocks_of, missing_by_column
from .quality import content_digest
from .raw import RawTable

_MOST_COLUMNS = 50


def make_card(name: str, raw: RawTable, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a data set.

    Parameters
    ----------
    name : str
        The data set.
    raw : RawTable
        It, as `read_source` returns it.
    spec : mapping
        Its spec.

    Returns
    -------
    dict
        Content of ``card.json``, JSON types only. `content_hash` depends on names, order and values alone.
    """
    features = raw.features
    missing = missing_by_column(features.columns)
    gaps = {features.names[at]: int(missing[at]) for at in np.flatnonzero(missing).tolist()}
    return {
        "name": name,
        "source": str(spec.get("source") or spec.get("path")),
        "content_hash": content_hash(raw),
        "n_rows": features.n_rows,
        "n_features": len(features),
        "kinds": _kinds(features.columns),
        "task": raw.task.name,
        "task_reason": raw.task.reason,
        "target": {"name": raw.target.name, **_distribution(raw)},
        "n_groups": None if raw.groups is None else len(np.unique(raw.groups)),
        "missing": {
            "policy": raw.missing,
            "cells": sum(gaps.values()),
            "columns": len(gaps),
            "by_column": dict(sorted(gaps.items(), key=lambda gap: -gap[1])[:_MOST_COLUMNS]),
        },
        "constant": list(raw.constant),
        "duplicates": [{"kept": kept, "duplicate": duplicate} for kept, duplicate in raw.duplicates],
        "notes": list(raw.notes),
        "truth": raw.truth,
    }


def content_hash(raw: RawTable) -> str:
    """Return a hash of names, kinds, order and values of a data set, as hexadecimal text."""
    digest = hashlib.blake2b(digest_size=16)
    columns = raw.features.columns
    if isinstance(columns, WideColumns):
        digest.update("\x1f".join([*columns.names, columns.kind]).encode())
        for part in _arrays(columns):
            digest.update(part)
        columns = columns.more
    for column in (*columns, raw.target):
        digest.update(f"{column.name}\x1f{column.kind}\x1e".encode())
        digest.update(content_digest(column))
    if raw.groups is not None:
        digest.update(np.asarray(raw.groups, dtype=np.int64).tobytes())
    return digest.hexdigest()


def _arrays(columns: WideColumns) -> Iterator[np.ndarray]:
    """Yield the content of the columns that are held together, whatever its number type."""
    if isinstance(columns, SparseColumns):
        yield np.ascontiguousarray(columns.starts, dtype=np.int64)
        yield np.ascontiguousarray(columns.rows, dtype=np.int64)
    for block in blocks_of(columns):
        if isinstance(columns, SparseColumns):
            cells = columns.values[columns.starts[block.start] : columns.starts[block.stop]]
        else:
            cells = columns.matrix[:, block].T
        yield np.ascontiguousarray(cells, dtype=np.float64) + 0.0  # which makes -0.0 equal 0.0


def _kinds(columns: Sequence[Column]) -> dict[str, int]:
    """Return how many columns there are of each kind."""
    if not isinstance(columns, WideColumns):
        return dict(sorted(Counter(column.kind for column in columns).items()))
    return _kinds(columns.more) | {columns.kind: len(columns.names)}


def _distribution(raw: RawTable) -> dict[str, Any]:
    if raw.task.name == CLASSIFICATION:
        counts = np.bincount(raw.target.values, minlength=len(raw.target.levels)).tolist()
        return {"classes": dict(zip(raw.target.levels, counts, strict=True))}
    values = raw.target.numbers()
    return {
        "min": float(values.min()),
        "mean": float(values.mean()),
        "max": float(values.max()),
        "sd": float(values.std(ddof=1)) if len(values) > 1 else 0.0,
    }
