"""What was observed on unseen rows, by parts of the predictions, for further kinds of targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...data.artefact_columns import Column, rows_of
from .result_table import frame

if TYPE_CHECKING:
    import pandas as pd

OBSERVED = rows_of(
    "part of the unseen rows by prediction, and time of a survival curve or class of ordered ones",
    "dataset selector model part n_parts rows at label at_risk events observed predicted low high",
    part=Column("int64", "part by rank of the prediction in its split, 1 for the lowest; equal ones are together"),
    n_parts=Column("int64", "number of parts: 3 for survival and ordered classes, else 10"),
    rows=Column("int64", "test rows of the part, each counted once"),
    at=Column("double", "survival: time; ordered classes: code of the class; else null", "the target's"),
    label=Column("string", "ordered classes: the class"),
    at_risk=Column("double", "survival: rows at risk just before the time; null between round times"),
    events=Column("double", "survival: events up to the time; null between round times"),
    observed=Column(
        "double",
        "survival: Kaplan-Meier estimate of the share without the event, null after the part's last row; ordered "
        "classes: share of the class; else the mean, for counts with exposure per unit of it",
    ),
    predicted=Column("double", "ordered classes: predicted share of the class; survival: null; else predicted mean"),
    low=Column("double", "lower end of the 95 % interval of an observed mean; null for others"),
    high=Column("double", "upper end of it"),
)


def observed(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the parts of all data sets, selectors and models; none for classification and regression."""
    return frame(OBSERVED, rows)
