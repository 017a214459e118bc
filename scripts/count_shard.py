"""Rule count_shard: counts of one fold's rows in one block of the table."""

from pathlib import Path

from blanketflow.workflow.stages.counts import count_shard
from blanketflow.workflow.stages.fold import Fold


def main(
    table: Path,
    splits: Path,
    agreement: Path,
    counts: Path,
    dataset: str,
    split: str,
    fold: str,
    shard: str,
    spec: str,
    code: str,
) -> None:
    """Write the counts of a shard."""
    count_shard(Fold(table, splits, dataset, split, fold, spec, code), agreement, shard, counts)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
