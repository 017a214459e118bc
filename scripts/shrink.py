"""Rule shrink: which candidates are false positives, on one fold."""

from pathlib import Path

from blanketflow.workflow.stages.decisions import shrink_fold
from blanketflow.workflow.stages.fold import Fold


def main(
    table: Path,
    splits: Path,
    marginal: list[Path],
    grow: Path,
    shrink: Path,
    dataset: str,
    split: str,
    fold: str,
    spec: str,
    code: str,
) -> None:
    """Write shrink.parquet; `marginal` is empty for methods without a CI test."""
    shrink_fold(Fold(table, splits, dataset, split, fold, spec, code), next(iter(marginal), None), grow, shrink)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
