"""Rule ci_test: every feature against the target given nothing, on the rows of one or several folds."""

from pathlib import Path

from blanketflow.jobs import recorded
from blanketflow.selectors.run import marginal_pass
from blanketflow.stages import Fold, configured_test, write_marginal


def main(
    table: Path, splits: Path, marginal: list[Path], dataset: str, split: str, folds: list[str], spec: str
) -> None:
    """Write one ci_test artefact a fold."""
    for path, name in zip(marginal, folds, strict=True):
        fold = Fold(table, splits, dataset, split, name, spec)
        provenance, features, results = fold.provenance(), [], None
        with recorded(provenance):
            test = configured_test(fold.asked)
            rows = fold.read()
            *features, target = rows.names
            results = marginal_pass(test, rows, target, fold.seed)
            provenance.n_tests, provenance.extra = len(features), {"target": target}
        write_marginal(path, features, results, provenance)


if "snakemake" in globals():
    from blanketflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
