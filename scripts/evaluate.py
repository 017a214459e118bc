"""Rule evaluate: how well models do with each evaluation split's blanket, on its test rows."""

from pathlib import Path

from blanketflow.workflow.stages.evaluation import evaluate_blankets


def main(table: Path, splits: Path, blankets: list[Path], scores: Path, dataset: str, spec: str, threads: int) -> None:
    """Write the scores of every split and model; a split without a blanket is a row with its reason."""
    evaluate_blankets(table, splits, blankets, scores, dataset, spec, threads)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
