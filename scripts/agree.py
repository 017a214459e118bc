"""Rule agree: levels and borders of bins of one fold's rows, by which all shards are counted."""

from pathlib import Path

from blanketflow.workflow.stages.counts import agree
from blanketflow.workflow.stages.fold import Fold


def main(table: Path, splits: Path, agreement: Path, dataset: str, split: str, fold: str, spec: str, code: str) -> None:
    """Write the agreement."""
    agree(Fold(table, splits, dataset, split, fold, spec, code), agreement)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
