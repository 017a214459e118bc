"""What to know about a data set: findings such as constant columns, and the data card."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.cards import CATEGORICAL, CLASSIFICATION
from ..core.column import SparseColumns, TargetColumn, WideColumns
from ..core.table import Column, SparseValues
from ..targets.facts import facts_of
from .column_roles import RawTable
from .columns import CELLS, blocks_of, content_keys, missing_by_column
from .findings import findings
from .findings.quality import class_counts
from .missing_markers import markers_told
from .secrets import redacted_spec

_MOST_COLUMNS = 50


def with_findings(raw: RawTable, number_texts: Sequence[tuple[str, str]] = ()) -> RawTable:
    """Return a raw table with its constant and duplicate columns, and with `number_texts`; the findings say them."""
    features = raw.features
    varies = features.varying()  # constants are reported as such, not as copies of each other
    constant = tuple(features.names[at] for at in np.flatnonzero(~varies).tolist())
    duplicates = tuple(_duplicates(features.columns, varies))
    return replace(raw, constant=constant, duplicates=duplicates, number_texts=tuple(number_texts))


def content_digest(column: Column) -> bytes:
    """Return a hash of a column's values, whatever its name and number type; sparse and dense columns differ."""
    digest = hashlib.blake2b(digest_size=16)
    if column.kind == CATEGORICAL:
        digest.update("\x1f".join(column.levels).encode())
    values = column.values
    if isinstance(values, SparseValues):
        digest.update(np.asarray(values.rows, dtype=np.int64).tobytes())
        values = values.values
    for start in range(0, len(values), CELLS):
        digest.update(np.asarray(values[start : start + CELLS], dtype=np.float64) + 0.0)  # which makes -0.0 equal 0.0
    return digest.digest()


def make_card(name: str, raw: RawTable, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of ``card.json``. Its `content_hash` depends on names, order and values only."""
    features, spec = raw.features, redacted_spec(spec)
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
        "target": {"name": raw.target.name, **_distribution(raw, spec)},
        "n_groups": None if raw.groups is None or spec.get("groups") is None else len(np.unique(raw.groups)),
        "missing": {
            "policy": raw.missing,
            **({"imputations": spec["imputations"]} if spec.get("imputations") else {}),
            "cells": sum(gaps.values()),
            "columns": len(gaps),
            "markers": markers_told(raw.markers),
            "by_column": dict(sorted(gaps.items(), key=lambda gap: -gap[1])[:_MOST_COLUMNS]),
        },
        "constant": list(raw.constant),
        "duplicates": [{"kept": kept, "duplicate": duplicate} for kept, duplicate in raw.duplicates],
        "findings": [finding.as_dict() for finding in findings(raw)],
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
    for part, values in getattr(raw.target, "parts", {}).items():
        digest.update(part.encode() + np.asarray(values, dtype=np.float64).tobytes())
    if raw.groups is not None:
        digest.update(np.asarray(raw.groups, dtype=np.int64).tobytes())
    if raw.times is not None:
        digest.update(b"time" + raw.times.tobytes())
    design = raw.features.design
    if design is not None and design.within is not None:
        digest.update(b"within" + design.within.tobytes())
    if design is not None and design.weights is not None:
        digest.update(design.weights.tobytes())
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


def _distribution(raw: RawTable, spec: Mapping[str, Any]) -> dict[str, Any]:
    if raw.task.name == CLASSIFICATION:
        return {"classes": class_counts(raw)}
    if isinstance(raw.target, TargetColumn):
        return facts_of(raw.target, spec.get("target_parts") or {})
    values = raw.target.numbers()
    return {
        "min": float(values.min()),
        "mean": float(values.mean()),
        "max": float(values.max()),
        "sd": float(values.std(ddof=1)) if len(values) > 1 else 0.0,
    }


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
