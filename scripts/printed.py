"""Rule printed: our results beside those that a paper printed, and its claims judged by them."""

import json
from pathlib import Path

from blanketflow.reporting.printed import compare_with_printed, judge, read_claims, read_printed
from blanketflow.workflow import collect
from blanketflow.workflow.identity import content_of, made


def main(
    printed: Path,
    evaluations: list[Path],
    optimistic: list[Path],
    tables: list[Path],
    parquet: Path,
    claims: Path,
    spec: str,
    code: str,
) -> None:
    """Write both tables as Parquet and CSV."""
    asked = json.loads(spec)
    made_of = list(map(content_of, [printed, *evaluations, *optimistic, *tables]))
    of_scores, of_claims = (made("result_table", p, made_of, spec, code, asked["seed"]) for p in (parquet, claims))
    run = collect.both_selections(evaluations, optimistic)
    collect.write_table(parquet, compare_with_printed(read_printed(printed), run, asked["n_folds"]), of_scores)
    judged = judge(read_claims(printed), run[run["selected_on"] == collect.HONEST], collect.tables(tables))
    collect.write_table(claims, judged, of_claims)


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
