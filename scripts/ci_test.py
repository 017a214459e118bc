"""Rule ci_test: every feature against the target given nothing, on the rows of one or several folds."""

from pathlib import Path

from blanketflow.workflow.stages.fold import Fold
from blanketflow.workflow.stages.marginal import ci_test_fold


def main(
    table: Path,
    splits: Path,
    marginal: list[Path],
    dataset: str,
    folds: list[str],
    test: str,
    spec: str,
    code: str,
    chunk: str = "1of1",
) -> None:
    """Write one ci_test artefact a fold (split/fold), of all features or of those of a chunk."""
    at, chunks = map(int, chunk.split("of"))
    for path, name in zip(marginal, folds, strict=True):
        fold = Fold(table, splits, dataset, *name.split("/"), spec)
        ci_test_fold(fold, path, path.with_name(f"{test}.parquet"), code, (at, chunks))


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
