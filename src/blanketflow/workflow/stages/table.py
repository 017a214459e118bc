"""The table stage: a source is read once and stored typed, with its card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ...data.artefacts import Provenance, write_json
from ...data.card import make_card
from ...data.raw import RawTable
from ...data.remote import with_copies
from ...data.sources import read_source
from ...data.storage import write_table


def read_and_store(source: Sequence[Path], table: Path, card: Path, dataset: str, spec: str) -> None:
    """Read a data set from its files, or from where its spec says, and store it."""
    asked = json.loads(spec)
    copies = dict(zip((asked["path"], asked["target_path"]), source, strict=False))
    store(read_source(dataset, with_copies(asked, copies.get), asked["seed"]), table, card, dataset, spec)


def store(raw: RawTable, table: Path, card: Path, dataset: str, spec: str) -> None:
    """Write a data set's table and card."""
    asked = json.loads(spec)
    described = make_card(dataset, raw, asked)
    extra = {"content_hash": described["content_hash"]}
    write_table(table, raw, Provenance(spec=spec, seed=asked["seed"], extra=extra))
    write_json(card, described)
