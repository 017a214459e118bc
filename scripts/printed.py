"""Rule printed: our results beside those that a paper printed, and its claims judged by them."""

import json
from pathlib import Path

from blanketflow.data.artefacts import Provenance
from blanketflow.reporting.printed import compare_with_printed, judge, read_claims, read_printed
from blanketflow.workflow import collect


def main(
    printed: Path,
    evaluations: list[Path],
    optimistic: list[Path],
    tables: list[Path],
    parquet: Path,
    claims: Path,
    spec: str,
) -> None:
    """Write both tables as Parquet and CSV."""
    asked = json.loads(spec)
    provenance = Provenance(spec=spec, seed=asked["seed"])
    run = collect.both_selections(evaluations, optimistic)
    collect.write_table(parquet, compare_with_printed(read_printed(printed), run, asked["n_folds"]), provenance)
    judged = judge(read_claims(printed), run[run["selected_on"] == collect.HONEST], collect.tables(tables))
    collect.write_table(claims, judged, provenance)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
