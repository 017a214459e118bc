"""Rule splits: draw every partition once, for all selectors."""

import json
from pathlib import Path

from blanketflow.artefacts import Provenance, write_columns
from blanketflow.data.splits import make_splits
from blanketflow.data.storage import read_table

TYPES = {"row": "int64", "split": "string", "part": "string", "folds": "int64", "fold": "int64"}


def main(table: Path, splits: Path, dataset: str, spec: str) -> None:
    """Write splits.parquet."""
    asked = json.loads(spec)
    stored = read_table(table)
    columns = make_splits(stored.target, asked, asked["folds"], asked["seed"], dataset, stored.groups)
    write_columns(splits, columns, TYPES, Provenance(spec=spec, seed=asked["seed"]))


if "snakemake" in globals():
    from blanketflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
