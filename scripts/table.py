"""Rule table: read a source once and store it typed, with its card."""

import json
from pathlib import Path

from blanketflow.data.artefacts import Provenance, write_json
from blanketflow.data.card import make_card
from blanketflow.data.remote import with_copies
from blanketflow.data.sources import read_source
from blanketflow.data.storage import write_table


def main(source: list[Path], table: Path, card: Path, dataset: str, spec: str) -> None:
    """Write table.parquet and card.json."""
    asked = json.loads(spec)
    copies = dict(zip((asked["path"], asked["target_path"]), source, strict=False))
    raw = read_source(dataset, with_copies(asked, copies.get), asked["seed"])
    described = make_card(dataset, raw, asked)
    extra = {"content_hash": described["content_hash"]}
    write_table(table, raw, Provenance(spec=spec, seed=asked["seed"], extra=extra))
    write_json(card, described)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
