"""Rule gather_splits: the splits of every number of folds in one file, for people."""

from pathlib import Path

import pyarrow as pa

from blanketflow.artefacts import Provenance, read_arrow, write_arrow


def main(parts: list[Path], splits: Path) -> None:
    """Write splits.parquet."""
    read = [read_arrow(path) for path in parts]
    write_arrow(splits, pa.concat_tables([table for table, _ in read]), Provenance(seed=read[0][1].seed))


if "snakemake" in globals():
    from blanketflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
