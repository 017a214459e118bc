"""Every result table of a run: artefacts in, frames out. The tables job and `compare` share it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ..reporting import tables as result_tables
from . import collect


def tabulate(
    spec: str,
    cards: Sequence[Path],
    blankets: Sequence[Path],
    by_fold: Sequence[Path],
    evaluations: Sequence[Path],
    optimistic: Sequence[Path] = (),
) -> dict[str, pd.DataFrame]:
    """Return every table of `result_tables.TABLES` by name.

    Parameters
    ----------
    spec : str
        `Plan.report_spec`.
    cards, blankets, by_fold, evaluations, optimistic : sequences of paths
        card.json of each data set; blanket.parquet and folds.parquet of each pair and split; the scores of each pair,
        and those of its final blanket.
    """
    known = collect.cards(cards)
    found, folds = collect.blankets(blankets), collect.folds(by_fold)
    scored = collect.evaluations(evaluations)
    scores, asked = result_tables.scores(scored), json.loads(spec)
    compared = result_tables.comparable(asked["selectors"])
    return {
        "scores": scores,
        "blankets": result_tables.blankets_table(found, folds),
        "stability": result_tables.stability(found, folds, known),
        "agreement": result_tables.agreement(found, folds),
        "ranks": result_tables.ranks(scores),
        "wins": result_tables.wins(scores),
        "optimism": result_tables.optimism(collect.both_selections(evaluations, optimistic)),
        "friedman": result_tables.friedman(scores, compared),
        "friedman_ranks": result_tables.friedman_ranks(scores, compared),
        "runtime": result_tables.runtime(folds, scored),
        "truth": result_tables.truth(found, folds, known),
        "statuses": result_tables.statuses(collect.outcomes(blankets, evaluations), asked["skipped"]),
    }
