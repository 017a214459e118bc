"""What each selector cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data.artefact_columns import Column, rows_of
from .result_table import frame

if TYPE_CHECKING:
    import pandas as pd


RUNTIME = rows_of(
    "data set and selector: what the search and the models took",
    "dataset selector n_tests selection_seconds evaluation_seconds",
    selection_seconds=Column("double", "time of the search, all splits", "s"),
    evaluation_seconds=Column("double", "time of the models, all splits", "s"),
)


def runtime(folds: pd.DataFrame, evaluations: pd.DataFrame) -> pd.DataFrame:
    """Sum tests and seconds over all splits and folds; the metrics of one fitted model share its seconds."""
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
