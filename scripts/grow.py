"""Rule grow: which features enter the candidate set, in which order, on one fold."""

from pathlib import Path

from blanketflow.workflow.stages.decisions import grow_fold
from blanketflow.workflow.stages.fold import Fold


def main(
    table: Path,
    splits: Path,
    marginal: list[Path],
    grow: Path,
    dataset: str,
    split: str,
    fold: str,
    spec: str,
    code: str,
) -> None:
    """Write grow.parquet; `marginal` is empty for methods without a CI test."""
    grow_fold(Fold(table, splits, dataset, split, fold, spec, code), next(iter(marginal), None), grow)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
