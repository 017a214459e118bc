"""The drift of features over the periods of forward splits, and what was selected in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data.artefact_columns import Column, rows_of
from ...data.splits import FINAL
from .blankets import chosen_sets
from .result_table import Found, by_importance, frame, rows_where

if TYPE_CHECKING:
    import pandas as pd

#: Population stability indices from which a shift is called moderate, and large: the usual rule of thumb.
MODERATE, LARGE = 0.1, 0.25

DRIFT = rows_of(
    "data set, selector, period and feature that any search selects, with forward splits",
    "dataset selector feature period start end n_rows psi by_chance sign split selected rank",
    period=Column("int64", "period, from 1, the reference"),
    start=Column("string", "its first time"),
    end=Column("string", "its last time"),
    n_rows=Column("int64", "its rows"),
    psi=Column(
        "double",
        f"population stability index against period 1; from {MODERATE} on moderate, from {LARGE} on large",
    ),
    by_chance=Column("double", "what PSI exceeds once in 20 times if nothing changed; null for period 1"),
    sign=Column(
        "double",
        "sign of the correlation with the target within the period: 1, -1, or 0 if it may be zero; null for more than "
        "two labels, and for constants",
    ),
    split=Column("string", "split whose search saw the rows up to this period; empty if it has no result"),
    selected=Column("bool", "whether this search selects the feature"),
    rank=Column("double", "rank of its importance in that selection, from 1; null if it is not selected"),
)


def drift(found: Found) -> pd.DataFrame:
    """Return a row for each feature and period, final features first; none without forward splits.

    The search up to period k is that of split ``cv-k``, and up to the last period that of ``full``.
    """
    sets, rows = chosen_sets(found.blankets, found.folds), []
    for (dataset, selector), told in found.drift.items():
        periods = told["periods"]
        splits = [*(f"cv-{at}" for at in range(1, len(periods))), FINAL]
        own = rows_where(found.blankets, dataset=dataset, selector=selector)
        own = own[own["chosen"].astype(bool)]
        ranks = {
            split: {name: at for at, name in enumerate(by_importance(rows_where(own, split=split))["feature"], 1)}
            for split in splits
        }
        names = sorted(told["psi"], key=lambda name: ranks[FINAL].get(name, len(own) + 1))
        rows += [
            {
                "dataset": dataset,
                "selector": selector,
                "feature": name,
                "period": at + 1,
                **periods[at],
                **{key: told[key][name][at] for key in ("psi", "by_chance", "sign")},
                "split": split if (dataset, selector, split) in sets else "",
                "selected": name in ranks[split],
                "rank": ranks[split].get(name),
            }
            for name in names
            for at, split in enumerate(splits)
        ]
    return frame(DRIFT, rows)
