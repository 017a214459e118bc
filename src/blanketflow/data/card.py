"""The data card: what a data set is, in JSON."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.cards import CLASSIFICATION
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
    gaps = {column.name: column.n_missing() for column in raw.features.columns}
    gaps = {column: count for column, count in gaps.items() if count}
    return {
        "name": name,
        "source": str(spec.get("source") or spec.get("path")),
        "content_hash": content_hash(raw),
        "n_rows": raw.features.n_rows,
        "n_features": len(raw.features),
        "kinds": dict(sorted(Counter(column.kind for column in raw.features.columns).items())),
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
    for column in (*raw.features.columns, raw.target):
        digest.update(f"{column.name}\x1f{column.kind}\x1e".encode())
        digest.update(content_digest(column))
    if raw.groups is not None:
        digest.update(np.asarray(raw.groups, dtype=np.int64).tobytes())
    return digest.hexdigest()


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
