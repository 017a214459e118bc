"""What a fitted selector says of its features on the rows that its search never saw, as a frame."""

from __future__ import annotations

from collections.abc import Sequence
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
    found: list[Confirmation] = []
    if selector.confirm is not None:
        rows = filled(features.take(left_out), selector.missing), target.take(left_out)
        together = None if groups is None else groups[left_out]
        members, where = selector.selected_features_, type(selector).__name__
        found = confirm_members(*rows, members, seed, together, where, selector.feature_groups_)
    return confirmation_frame(found)


def confirmation_frame(found: Sequence[Confirmation]) -> pd.DataFrame:
    """Return a row for each tested feature."""
    import pandas as pd

    return pd.DataFrame(map(asdict, found), columns=[field.name for field in fields(Confirmation)])
