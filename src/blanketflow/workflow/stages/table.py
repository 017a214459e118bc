"""The table stage: reads a source once and stores it typed, with its card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...data.artefacts import write_json
from ...data.card import make_card
from ...data.column_roles import RawTable
from ...data.findings import in_lines
from ...data.sources import read_source
from ...data.storage import write_table
from ..identity import contents_beside, made, source_digests, without_places
from ..jobs import say


def read_and_store(source: Sequence[Path], table: Path, card: Path, dataset: str, spec: str, code: str) -> None:
    """Read a data set from its files or from the places in its spec, and store it."""
    asked = json.loads(spec)
    raw = read_source(dataset, asked, asked["seed"], source)
    described = store(raw, table, card, dataset, spec, code, source_digests(source))
    for line in in_lines(described["findings"]):
        say(f"{dataset}: {line}")


def store(
    raw: RawTable, table: Path, card: Path, dataset: str, spec: str, code: str = "", sources: Sequence[str] = ()
) -> dict[str, Any]:
    """Write a data set's table and card, given the digests of its files; return the card."""
    asked = json.loads(spec)
    described = make_card(dataset, raw, asked)
    write_json(card, described)
    provenance = made("table", table, sources, without_places(spec), code, asked["seed"])
    provenance.extra, provenance.beside = {"content_hash": described["content_hash"]}, contents_beside(table, [card])
    if raw.groups is not None and asked.get("groups") is None and asked.get("weights") is None:
        provenance.extra["has_repeats"] = True
    if asked.get("group_labels"):
        provenance.extra["group_labels"] = raw.group_labels
    write_table(table, raw, provenance, asked.get("shards") or 1)
    return described
