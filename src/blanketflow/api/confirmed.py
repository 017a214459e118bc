"""What a fitted selector says of its features on the rows that its search never saw, as a frame."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.table import Column, Table
from ..selectors.confirmation.members import Confirmation, confirm_members
from .rows_at_hand import filled

if TYPE_CHECKING:
    import pandas as pd


def confirmed(
    selector: Any, features: Table, target: Column, left_out: np.ndarray, seed: int, groups: np.ndarray | None
) -> pd.DataFrame:
    """Return a row for each selected feature, tested on the rows that were left out; none without such rows."""
    import pandas as pd

    found = []
    if selector.confirm is not None:
        rows = filled(features.take(left_out), selector.missing), target.take(left_out)
        together = None if groups is None else groups[left_out]
        how = seed, together, type(selector).__name__, selector.feature_groups_
        found = confirm_members(*rows, selector.selected_features_, *how)
    return pd.DataFrame(map(asdict, found), columns=[field.name for field in fields(Confirmation)])
