"""What it flatters a score that the blanket was found on all rows, those among them that it is then judged on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data.artefact_columns import Column, rows_of
from .result_table import frame

if TYPE_CHECKING:
    import pandas as pd


OPTIMISM = rows_of(
    "data set, selector, model and metric: how much the score gains if selection sees the test rows",
    "dataset selector model metric honest optimistic difference n_splits",
    honest=Column("double", "mean score of blankets of the training rows, over the splits that both kinds have"),
    optimistic=Column("double", "mean score of the final blanket, which has seen the test rows"),
    difference=Column("double", "optimistic less honest"),
    n_splits=Column("int64", "number of splits that both kinds have"),
)


def optimism(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Set the scores of the final blanket beside those of the blankets of the training rows.

    Parameters
    ----------
    evaluations : DataFrame
        Columns dataset, selector, split, model, metric, value and selected_on.

    Returns
    -------
    DataFrame
        One row a data set, selector, model and metric that was scored both ways: the means over the splits that both
        have, and optimistic less honest; none without optimistic scores.
    """
    import pandas as pd

    keys = ["dataset", "selector", "model", "metric"]
    scored = evaluations.dropna(subset=["model", "metric"]).assign(value=lambda rows: pd.to_numeric(rows["value"]))
    wide = scored.pivot_table("value", [*keys, "split"], "selected_on", sort=False)
    if wide.shape[1] < 2:
        return frame(OPTIMISM, [])
    rows = [
        dict(zip(keys, key, strict=True))
        | {"honest": part.iloc[:, 0].mean(), "optimistic": part.iloc[:, 1].mean(), "n_splits": len(part)}
        | {"difference": (part.iloc[:, 1] - part.iloc[:, 0]).mean()}
        for key, part in wide.dropna().groupby(keys, sort=False)
    ]
    return frame(OPTIMISM, rows)
