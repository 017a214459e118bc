"""How much the final blankets of different selectors have in common."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from ...data.artefact_columns import Column, rows_of
from ...data.splits import FINAL
from .final_blankets import chosen_sets, jaccard
from .result_table import frame

if TYPE_CHECKING:
    import pandas as pd


AGREEMENT = rows_of(
    "data set and pair of selectors: what their final blankets have in common",
    "dataset selector other jaccard n_common n_either",
    other=Column("string", "id of the selector that it is compared with"),
    jaccard=Column("double", "`n_common` over `n_either`; 1 for two empty blankets"),
    n_common=Column("int64", "features in both"),
    n_either=Column("int64", "features in at least one of them"),
)


def agreement(blankets: pd.DataFrame, folds: pd.DataFrame) -> pd.DataFrame:
    """Compare the final blankets of every two selectors of a data set, in both orders.

    `folds` tells which selectors have a result on the split ``full``, also an empty one; the others are left out.
    """
    final: dict[str, dict[str, frozenset[str]]] = {}
    for (dataset, selector, split), chosen in chosen_sets(blankets, folds).items():
        if split == FINAL:
            final.setdefault(dataset, {})[selector] = chosen
    rows = [
        {"dataset": dataset, "selector": selector, "other": other, "jaccard": jaccard(sets[selector], sets[other])}
        | {"n_common": len(sets[selector] & sets[other]), "n_either": len(sets[selector] | sets[other])}
        for dataset, sets in final.items()
        for selector, other in permutations(sets, 2)
    ]
    return frame(AGREEMENT, rows)
