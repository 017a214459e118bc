"""Rule grow_shrink: both phases on several folds in one job, for tables too small to pay a job a fold."""

from pathlib import Path

from blanketflow.workflow.stages.decisions import grow_fold, shrink_fold
from blanketflow.workflow.stages.fold import Fold


def main(
    table: Path,
    splits: Path,
    marginal: list[Path],
    grow: list[Path],
    shrink: list[Path],
    dataset: str,
    folds: list[str],
    spec: str,
) -> None:
    """Write grow.parquet and shrink.parquet of each fold (split/fold); `marginal` may be empty."""
    for i, name in enumerate(folds):
        fold = Fold(table, splits, dataset, *name.split("/"), spec)
        tested = marginal[i] if marginal else None
        problem = grow_fold(fold, tested, grow[i])
        shrink_fold(fold, tested, grow[i], shrink[i], problem)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
