"""Rule tables: one table a question, over all data sets and selectors."""

import json
from pathlib import Path

from blanketflow.data.artefacts import Provenance
from blanketflow.workflow import collect
from blanketflow.workflow.tabulate import tabulate


def main(
    cards: list[Path],
    blankets: list[Path],
    by_fold: list[Path],
    evaluations: list[Path],
    optimistic: list[Path],
    parquet: list[Path],
    spec: str,
) -> None:
    """Write every table of `result_tables.TABLES`, as Parquet and CSV."""
    frames = tabulate(spec, cards, blankets, by_fold, evaluations, optimistic)
    for path in parquet:
        collect.write_table(path, frames[path.stem], Provenance(spec=spec, seed=json.loads(spec)["seed"]))


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
