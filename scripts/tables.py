"""Rule tables: write the result tables over all data sets and selectors."""

import json
from pathlib import Path

from blanketflow.workflow import collect
from blanketflow.workflow.identity import content_of, made


def main(
    cards: list[Path],
    blankets: list[Path],
    by_fold: list[Path],
    evaluations: list[Path],
    optimistic: list[Path],
    confirmed: list[Path],
    parquet: list[Path],
    spec: str,
    code: str,
) -> None:
    """Write every table of `result_tables.TABLES`, as Parquet and CSV."""
    frames = collect.tabulate(spec, cards, blankets, by_fold, evaluations, optimistic, confirmed)
    seed, made_of = (
        json.loads(spec)["seed"],
        list(map(content_of, [*cards, *blankets, *by_fold, *evaluations, *optimistic, *confirmed])),
    )
    for path in parquet:
        collect.write_table(path, frames[path.stem], made("result_table", path, made_of, spec, code, seed))


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
