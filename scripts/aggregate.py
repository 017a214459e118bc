"""Rule aggregate: which of the folds' sets is the blanket of a split, and which others a method found."""

from pathlib import Path

from blanketflow.workflow.stages.aggregation import Blanket, aggregate_split


def main(
    marginal: list[Path],
    grow: list[Path],
    shrink: list[Path],
    blanket: list[Path],
    by_fold: list[Path],
    answers: list[Path],
    folds: list[str],
    spec: str,
) -> None:
    """Write blanket.parquet, folds.parquet and blankets.parquet of each split; its folds follow each other."""
    for i, to in enumerate(map(Blanket, blanket, by_fold, answers)):
        own = slice(i * len(folds), (i + 1) * len(folds))
        aggregate_split(folds, marginal[own], grow[own], shrink[own], to, spec)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
