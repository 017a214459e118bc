"""Rule gather_splits: the splits of every number of folds in one file, for people."""

import json
from pathlib import Path

import pyarrow as pa

from blanketflow.data.artefacts import Provenance, read_arrow, write_arrow


def main(parts: list[Path], splits: Path, spec: str) -> None:
    """Write splits.parquet."""
    table = pa.concat_tables([read_arrow(path)[0] for path in parts])
    write_arrow(splits, table, Provenance(spec=spec, seed=json.loads(spec)["seed"]))


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
