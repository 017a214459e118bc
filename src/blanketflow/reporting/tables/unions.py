"""The unions of the final blankets of a data set's targets, where it has several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...data.artefact_columns import Column, rows_of
from .blankets import blankets_table
from .references import is_reference
from .result_table import frame

if TYPE_CHECKING:
    import pandas as pd

UNIONS = rows_of(
    "data set with several targets, selector, and feature of the final blanket of at least one of them",
    "dataset selector feature targets n_targets",
    dataset=Column("string", "id of the data set that has several targets"),
    targets=Column("string", "those whose blanket has the feature, separated by commas"),
    n_targets=Column("int64", "how many of the targets these are"),
)


def unions_table(
    blankets: pd.DataFrame,
    folds: pd.DataFrame,
    targets: Mapping[str, Mapping[str, str]],
    selectors: Mapping[str, Mapping[str, object]],
) -> pd.DataFrame:
    """List the features of each union: those of the first target first, and most important first within a target.

    `targets` has the data set of each target, by the id of the data set that has several.
    """
    final = blankets_table(blankets, folds) if targets else None
    rows = []
    for dataset, of_targets in targets.items():
        for selector in [name for name in selectors if not is_reference(name, selectors)]:
            found: dict[str, list[str]] = {}
            for target, part in of_targets.items():
                own = final[(final["dataset"] == part) & (final["selector"] == selector)]
                for feature in own["feature"]:
                    found.setdefault(feature, []).append(target)
            rows += [
                {"dataset": dataset, "selector": selector, "feature": feature}
                | {"targets": ", ".join(names), "n_targets": len(names)}
                for feature, names in found.items()
            ]
    return frame(UNIONS, rows)
