"""Rule gather_ci_test: the results on the chunks of a wide table in one artefact."""

from pathlib import Path

from blanketflow.workflow.stages.fold import Fold
from blanketflow.workflow.stages.marginal import gather_parts


def main(
    table: Path,
    splits: Path,
    chunks: list[Path],
    marginal: Path,
    dataset: str,
    split: str,
    fold: str,
    spec: str,
    code: str,
) -> None:
    """Write the ci_test artefact."""
    of_fold = Fold(table, splits, dataset, split, fold, spec, code)
    gather_parts(chunks, marginal, of_fold.provenance("ci_test", marginal))


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
