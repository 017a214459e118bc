"""Status of every search and model, to tell a failure from an empty answer, and their cost."""

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
    """List the status of every requested search and model; skipped pairs are last, without a split."""
    not_run = [
        {"dataset": d, "selector": s, "split": "", "stage": "plan", "status": "skipped", "reason": why, "verdict": ""}
        for d, s, why in skipped
    ]
    return frame(STATUSES, [*ended[list(STATUSES.columns)].to_dict("records"), *not_run])


def unclean(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `statuses` that ran without a clean result."""
    return table[~table["status"].isin(("ok", "skipped"))].reset_index(drop=True)


# --- cost of each selector --------------------------------------------------------------------------------------------

RUNTIME = rows_of(
    "data set and selector: what the search and the models took",
    "dataset selector n_tests selection_seconds evaluation_seconds",
    selection_seconds=Column("double", "time of the search, all splits", "s"),
    evaluation_seconds=Column("double", "time of the models, all splits", "s"),
)


def runtime(folds: pd.DataFrame, evaluations: pd.DataFrame) -> pd.DataFrame:
    """Sum tests and seconds over splits and folds; seconds of a fitted model count once for all its metrics."""
    pair = ["dataset", "selector"]
    selection = folds.groupby(pair, sort=False, observed=True)[["n_tests", "seconds"]].sum()
    fitted = evaluations.drop_duplicates([*pair, "split", "model"])
    evaluation = fitted.groupby(pair, sort=False, observed=True)["seconds"].sum()
    rows = [
        {
            "dataset": dataset,
            "selector": selector,
            "n_tests": int(cost.n_tests),
            "selection_seconds": float(cost.seconds),
            "evaluation_seconds": float(evaluation.get((dataset, selector), 0.0)),
        }
        for (dataset, selector), cost in zip(selection.index, selection.itertuples(index=False), strict=True)
    ]
    return frame(RUNTIME, rows)
