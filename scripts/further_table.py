"""Rule further_table: a result table by a class named in the config."""

import json
from pathlib import Path

from blanketflow.core.registry import RunResults, further_table
from blanketflow.workflow import collect
from blanketflow.workflow.identity import content_of, made


def main(
    files: list[Path],
    evaluations: list[Path],
    optimistic: list[Path],
    tables: list[Path],
    parquet: Path,
    further: str,
    spec: str,
    code: str,
) -> None:
    """Write the table as Parquet and CSV."""
    asked = json.loads(spec)
    made_of = list(map(content_of, [*files, *evaluations, *optimistic, *tables]))
    run = RunResults(collect.both_selections(evaluations, optimistic), collect.tables(tables), asked["n_folds"])
    table = further_table(further, asked["table"]).make(run)
    collect.write_table(parquet, table, made("result_table", parquet, made_of, spec, code, asked["seed"]))


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
