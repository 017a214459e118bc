"""Rule tables: one table a question, over all data sets and selectors."""

import json
from pathlib import Path

from blanketflow import collect, result_tables
from blanketflow.artefacts import Provenance


def main(
    cards: list[Path],
    blankets: list[Path],
    by_fold: list[Path],
    evaluations: list[Path],
    parquet: list[Path],
    spec: str,
) -> None:
    """Write every table of `result_tables.TABLES`, as Parquet and CSV."""
    stated = json.loads(spec)
    known = collect.cards(cards)
    found, folds = collect.blankets(blankets), collect.folds(by_fold)
    scored = collect.evaluations(evaluations)
    scores = result_tables.scores(scored)
    compared = result_tables.comparable(stated["selectors"])
    frames = {
        "scores": scores,
        "blankets": result_tables.blankets_table(found, folds),
        "stability": result_tables.stability(found, folds, known),
        "agreement": result_tables.agreement(found, folds),
        "ranks": result_tables.ranks(scores),
        "wins": result_tables.wins(scores),
        "friedman": result_tables.friedman(scores, compared),
        "friedman_ranks": result_tables.friedman_ranks(scores, compared),
        "runtime": result_tables.runtime(folds, scored),
        "truth": result_tables.truth(found, folds, known),
    }
    for path in parquet:
        collect.write_table(path, frames[path.stem], Provenance(spec=spec, seed=stated["seed"]))


if "snakemake" in globals():
    from blanketflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
