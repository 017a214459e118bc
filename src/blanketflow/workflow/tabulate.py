"""Every result table of a run: artefacts in, frames out. The tables job and `compare` share it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ..core.rows import LEAVE_GROUP_OUT
from ..reporting.tables import TABLES, Found, scores
from . import collect


def tabulate(
    spec: str,
    cards: Sequence[Path],
    blankets: Sequence[Path],
    by_fold: Sequence[Path],
    evaluations: Sequence[Path],
    optimistic: Sequence[Path] = (),
    confirmed: Sequence[Path] = (),
) -> dict[str, pd.DataFrame]:
    """Return every table of `reporting.tables.TABLES` by name.

    Parameters
    ----------
    spec : str
        `Plan.report_spec`.
    cards, blankets, by_fold, evaluations, optimistic, confirmed : sequences of paths
        card.json of each data set; blanket.parquet and folds.parquet of each pair and split; the scores of each pair,
        and those of its final blanket; confirm.parquet where it is asked for.
    """
    asked = json.loads(spec)
    scored, n_parts = collect.evaluations(evaluations), asked["splits"]["evaluation"]
    n_parts = 0 if n_parts == LEAVE_GROUP_OUT else n_parts
    found = Found(
        cards=collect.cards(cards),
        blankets=collect.selections(blankets),
        folds=collect.selections(by_fold),
        evaluations=scored,
        both_selections=collect.both_selections(evaluations, optimistic),
        confirmed=collect.selections(confirmed),
        ended=collect.outcomes(blankets, evaluations, confirmed),
        skipped=asked["skipped"],
        selectors=asked["selectors"],
        n_parts=n_parts,
        scores=scores(scored, asked["selectors"], n_parts),
        targets=asked.get("targets", {}),
    )
    return {name: table.make(found) for name, table in TABLES.items()}
