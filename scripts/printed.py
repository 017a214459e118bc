"""Rule printed: our results beside those that a paper printed."""

import json
from pathlib import Path

from blanketflow import collect
from blanketflow.artefacts import Provenance
from blanketflow.printed import beside, read_printed


def main(printed: Path, evaluations: list[Path], optimistic: list[Path], parquet: Path, spec: str) -> None:
    """Write the table as Parquet and CSV."""
    asked = json.loads(spec)
    run = collect.both_selections(evaluations, optimistic)
    frame = beside(read_printed(printed), run, asked["n_folds"])
    collect.write_table(parquet, frame, Provenance(spec=spec, seed=asked["seed"]))


if "snakemake" in globals():
    from blanketflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
