"""Rule merge_shards: the counts of all shards of one fold, added up."""

from pathlib import Path

from blanketflow.workflow.stages.counts import merge_shards
from blanketflow.workflow.stages.fold import Fold


def main(
    table: Path,
    splits: Path,
    agreement: Path,
    shards: list[Path],
    counts: Path,
    dataset: str,
    split: str,
    fold: str,
    spec: str,
    code: str,
) -> None:
    """Write the counts of the fold."""
    merge_shards(Fold(table, splits, dataset, split, fold, spec, code), agreement, shards, counts)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
