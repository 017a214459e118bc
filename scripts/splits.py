"""Rule splits: draw every outer split of a data set and its inner folds, for one number of folds."""

import json
from pathlib import Path

from blanketflow.data.artefacts import Provenance, write_columns
from blanketflow.data.splits import TYPES, make_splits
from blanketflow.data.storage import read_table


def main(table: Path, splits: Path, dataset: str, spec: str) -> None:
    """Write splits-{folds}.parquet."""
    asked = json.loads(spec)
    stored = read_table(table, columns=[])
    n_test = stored.extra["n_test"]
    columns = make_splits(stored.target, asked, asked["folds"], asked["seed"], dataset, stored.groups, n_test)
    write_columns(splits, columns, TYPES, Provenance(spec=spec, seed=asked["seed"]))


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
