"""How every search and every model ended, so that a failure differs from an answer without features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...data import provenance
from ...data.artefact_columns import Column, rows_of
from .result_table import frame

if TYPE_CHECKING:
    import pandas as pd


STATUSES = rows_of(
    "search on a split, and model there: how it ended; and pair that was skipped",
    "dataset selector split stage status reason verdict",
    stage=Column(
        "string", "`select`, `confirm`, `evaluate` with the id of a model, or `plan` for pairs that were skipped"
    ),
    status=Column(
        "string",
        f"one of {', '.join(provenance.STATUSES)}; undefined: the metric has no value; skipped: the pair was not run",
    ),
    verdict=Column("string", "what the method says of its answer; empty for most"),
)


def statuses(ended: pd.DataFrame, skipped: Iterable[Sequence[str]]) -> pd.DataFrame:
    """List every search and every model that was requested, with how it ended; skipped pairs last, without a split."""
    not_run = [
        {"dataset": d, "selector": s, "split": "", "stage": "plan", "status": "skipped", "reason": why, "verdict": ""}
        for d, s, why in skipped
    ]
    return frame(STATUSES, [*ended[list(STATUSES.columns)].to_dict("records"), *not_run])


def unclean(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `statuses` that ran and did not end well."""
    return table[~table["status"].isin(("ok", "skipped"))].reset_index(drop=True)
